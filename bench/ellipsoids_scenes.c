/* Methods over the number of bodies: the paper's Figures 5 to 10 without its GPU, and the same
 * scene as spheres. */
#include "ellipsoids.h"
#include "tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <talus/detect.h>

/* Density and radii of the paper; half axes are 1, 0.8 and 0.6 of them, in random directions. */
bool ell_scene_make(ell_scene *s, size_t n) {
  uint64_t state = 20111 + n;
  const double side = cbrt((double)n / 1.25e-7);
  *s = (ell_scene){n, malloc(3 * n * sizeof(double)), malloc(n * sizeof(double)),
                   malloc(4 * n * sizeof(double)), calloc(n, sizeof(uint32_t))};
  if (!s->position || !s->radius || !s->rotation || !s->shape)
    return false;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < 3; ++k)
      s->position[3 * i + k] = side * ell_uniform(&state);
    for (size_t k = 0; k < 4; ++k)
      s->rotation[4 * i + k] = 2 * ell_uniform(&state) - 1;
    s->radius[i] = 101 * (1 - ell_uniform(&state));
  }
  return true;
}

void ell_scene_free(ell_scene *s) {
  free(s->position);
  free(s->radius);
  free(s->rotation);
  free(s->shape);
}

static const char *const names[4] = {"spheres", "method 1: opm", "method 2: chm+opm", "newton"};

/* The minimum of the repeats: the machine may have other work. */
static int measure(ell_bench *bench, const ell_scene *s, int which, int threads, ell_row *row) {
  talus_shape_def def = talus_shape_def_default();
  def.kind = TALUS_ELLIPSOID;
  def.size[0] = 1, def.size[1] = 0.8, def.size[2] = 0.6;
  talus_detect_bodies bodies = {.count = s->count, .position = s->position};
  if (which == 0) {
    bodies.radius = s->radius;
  } else {
    bodies.shapes = &def, bodies.shape_count = 1, bodies.shape = s->shape;
    bodies.scale = s->radius, bodies.rotation = s->rotation;
  }
  talus_detect_def how = talus_detect_def_default();
  how.threads = threads;
  how.narrow.ellipsoid = which == 1   ? TALUS_ELLIPSOID_OPM
                         : which == 2 ? TALUS_ELLIPSOID_CHM_OPM
                                      : TALUS_ELLIPSOID_NEWTON;
  talus_detector *detector;
  talus_status status = talus_detector_create(&how, &detector);
  *row = (ell_row){names[which], s->count, 0, threads, HUGE_VAL, HUGE_VAL};
  for (int r = 0; status == TALUS_OK && r <= bench->options.repeat; ++r) {
    talus_contacts contacts;
    talus_detect_stats stats;
    status = talus_detector_find_contacts(detector, &bodies, &contacts, &stats);
    row->contacts = (size_t)stats.contacts;
    row->broad_ms = fmin(row->broad_ms, stats.bounds_ms + stats.broad_ms + stats.sort_ms);
    row->narrow_ms = fmin(row->narrow_ms, stats.narrow_ms);
  }
  if (status != TALUS_OK)
    fprintf(stderr, "talus bench ellipsoids: %s\n", talus_last_error());
  talus_detector_destroy(detector);
  return status == TALUS_OK ? 0 : 1;
}

static void print_rows(ell_bench *bench, const ell_row row[4]) {
  const double spheres = row[0].broad_ms + row[0].narrow_ms;
  const double first = row[1].broad_ms + row[1].narrow_ms;
  for (int i = 0; i < 4; ++i) {
    const double all = row[i].broad_ms + row[i].narrow_ms;
    printf("  %9zu %7d  %-18s %9zu %10.3f %10.3f %10.1f %9.2f %9.2f\n", row[i].bodies,
           row[i].threads, row[i].method, row[i].contacts, row[i].broad_ms, row[i].narrow_ms,
           row[i].contacts > 0 ? 1e6 * row[i].narrow_ms / (double)row[i].contacts : 0, first / all,
           all / spheres);
    if (bench->csv)
      fprintf(bench->csv, "scene,%s,%zu,%d,,%zu,%.6g,%.6g,,\n", row[i].method, row[i].bodies,
              row[i].threads, row[i].contacts, row[i].broad_ms, row[i].narrow_ms);
    if (bench->rows < ELL_ROWS_MOST)
      bench->row[bench->rows++] = row[i];
  }
  fflush(stdout);
}

int ell_bench_scenes(ell_bench *bench) {
  static const size_t counts[] = {128,    1024,   8192,    32768,   131072,
                                  262144, 524288, 1048576, 1677696, 2097152};
  printf(
      "\nrandom ellipsoids, half axes 1 : 0.8 : 0.6 of radii in [0, 101], 1.25e-7 per unit volume; "
      "wall clock, best of %d\n",
      bench->options.repeat + 1);
  printf("  %9s %7s  %-18s %9s %10s %10s %10s %9s %9s\n", "bodies", "threads", "method", "contacts",
         "boxes+broad", "narrow ms", "ns/contact", "x meth. 1", "/ spheres");
  for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i] <= bench->options.max; ++i) {
    ell_scene s;
    int code = ell_scene_make(&s, counts[i]) ? 0 : 1;
    for (int t = 0; code == 0 && t < bench->options.thread_counts; ++t) {
      ell_row row[4];
      for (int which = 0; which < 4 && code == 0; ++which)
        code = measure(bench, &s, which, bench->options.threads[t], &row[which]);
      if (code == 0)
        print_rows(bench, row);
    }
    ell_scene_free(&s);
    if (code != 0)
      return code;
  }
  return 0;
}

/* ---- plot ------------------------------------------------------------------------------------ */

enum { WIDTH = 900, HEIGHT = 520, LEFT = 80, RIGHT = 200, TOP = 56, BOTTOM = 60 };
#define ACROSS (WIDTH - LEFT - RIGHT)
#define DOWN   (HEIGHT - TOP - BOTTOM)

static double x_of(double contacts, double high) {
  return LEFT + ACROSS * (log10(contacts) - 1) / (high - 1);
}
static double y_of(double ms) { return TOP + DOWN * (1 - (log10(ms) + 3) / 7); }

static void draw_grid(FILE *to, double high) {
  for (double p = 1; p <= high; ++p)
    fprintf(to,
            "<path class=\"grid\" d=\"M%.1f %d v%d\"/>\n<text x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\">1e%.0f</text>\n",
            x_of(pow(10, p), high), TOP, DOWN, x_of(pow(10, p), high), TOP + DOWN + 20, p);
  for (int p = -3; p <= 4; ++p)
    fprintf(to,
            "<path class=\"grid\" d=\"M%d %.1f h%d\"/>\n<text x=\"%d\" y=\"%.1f\" "
            "text-anchor=\"end\">%g</text>\n",
            LEFT, y_of(pow(10, p)), ACROSS, LEFT - 8, y_of(pow(10, p)) + 4, pow(10, p));
  fprintf(to,
          "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">contacts</text>\n"
          "<text transform=\"rotate(-90 20 %d)\" x=\"20\" y=\"%d\" text-anchor=\"middle\">"
          "ms, boxes to contacts, one thread</text>\n",
          LEFT + ACROSS / 2, HEIGHT - 16, TOP + DOWN / 2, TOP + DOWN / 2);
}

/* Time over contacts, both logarithmic: linear in the paper, and here. */
bool ell_plot(const ell_bench *bench, const char *path) {
  static const char *const colours[4] = {"#5b6470", "#d1495b", "#e08a1e", "#1f5fbf"};
  FILE *to = bench_open(path);
  if (!to)
    return false;
  double most = 100;
  for (int i = 0; i < bench->rows; ++i)
    most = fmax(most, (double)bench->row[i].contacts);
  const double high = ceil(log10(most));
  fprintf(to,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
          "%d\" role=\"img\">\n<style>\ntext { font: 13px 'Helvetica Neue', Arial, 'DejaVu Sans', "
          "sans-serif; fill: #2b2f36 }\n.title { font-size: 17px; font-weight: 600 }\n.grid { "
          "stroke: #dfe3e8; fill: none }\n.curve { fill: none; stroke-width: 2.2 }\n</style>\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
          "<text class=\"title\" x=\"%d\" y=\"30\">Contacts of random ellipsoids</text>\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
  draw_grid(to, high);
  for (int m = 0; m < 4; ++m) {
    bool open = false;
    fprintf(to, "<path class=\"curve\" stroke=\"%s\" d=\"", colours[m]);
    for (int i = 0; i < bench->rows; ++i) {
      const ell_row *row = &bench->row[i];
      if (strcmp(row->method, names[m]) != 0 || row->threads != bench->options.threads[0] ||
          row->contacts < 10)
        continue;
      fprintf(to, "%s%.1f %.1f", open ? " L" : "M", x_of((double)row->contacts, high),
              y_of(row->broad_ms + row->narrow_ms));
      open = true;
    }
    fprintf(to, "%s\"/>\n<path class=\"curve\" stroke=\"%s\" d=\"M%d %d h24\"/>\n",
            open ? "" : "M0 0", colours[m], LEFT + ACROSS + 14, TOP + 14 + 22 * m);
    fprintf(to, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT + ACROSS + 44, TOP + 18 + 22 * m,
            names[m]);
  }
  fputs("</svg>\n", to);
  return bench_close(to);
}
