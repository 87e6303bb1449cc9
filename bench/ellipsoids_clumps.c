/* Ellipsoids against clumps of spheres of the same shape, within a given error of the surface. */
#include "ellipsoids.h"

#include <math.h>
#include <stdlib.h>

#include <talus/detect.h>

#define SPHERES_MOST 512
#define SAMPLES      20000 /* of the surface */

static const double half[3] = {1, 0.8, 0.6};

/* Point i of a spiral over the surface. */
static void surface_point(int i, double p[3]) {
  const double z = 1 - (2.0 * i + 1) / SAMPLES, angle = 2.399963229728653 * i;
  const double r = sqrt(1 - z * z);
  p[0] = half[0] * r * cos(angle), p[1] = half[1] * r * sin(angle), p[2] = half[2] * z;
}

/* The largest sphere inside the ellipsoid that touches it at p: its centre is where the normal
 * meets the plane of the two longer axes, which contains the medial surface. */
static void inner_sphere(const double p[3], double sphere[4]) {
  const double c2 = half[2] * half[2];
  double square = 0;
  for (int k = 0; k < 3; ++k) {
    const double slope = p[k] / (half[k] * half[k]);
    sphere[k] = k == 2 ? 0 : p[k] - c2 * slope;
    square += slope * slope;
  }
  sphere[3] = c2 * sqrt(square);
}

static double outside(const double p[3], const double sphere[4]) {
  const double x = p[0] - sphere[0], y = p[1] - sphere[1], z = p[2] - sphere[2];
  return sqrt(x * x + y * y + z * z) - sphere[3];
}

/* Adds spheres that touch from inside, each where the surface is farthest from the others, until
 * half of the largest distance is at most `error`; then all grow by that half, so that the surface
 * of the clump is within `error` on both sides. Returns their number; 0: too many. */
static size_t make_clump(double error, double *spheres) {
  double *bare = malloc(SAMPLES * sizeof *bare);
  size_t n = 0;
  double left = HUGE_VAL, p[3] = {half[0], 0, 0};
  for (int i = 0; bare && i < SAMPLES; ++i)
    bare[i] = HUGE_VAL;
  while (bare && n < SPHERES_MOST && left > 2 * error) {
    inner_sphere(p, spheres + 4 * n);
    int barest = 0;
    for (int i = 0; i < SAMPLES; ++i) {
      double q[3];
      surface_point(i, q);
      bare[i] = fmin(bare[i], outside(q, spheres + 4 * n));
      barest = bare[i] > bare[barest] ? i : barest;
    }
    left = bare[barest];
    surface_point(barest, p);
    ++n;
  }
  free(bare);
  for (size_t i = 0; i < n; ++i)
    spheres[4 * i + 3] += 0.5 * left;
  return left <= 2 * error ? n : 0;
}

typedef struct row {
  double narrow_ms;
  size_t pairs, contacts; /* pairs of bodies that touch, and their points */
} row;

static size_t count_pairs(const talus_contacts *contacts) {
  size_t pairs = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    pairs += i == 0 || contacts->data[i].a != contacts->data[i - 1].a ||
             contacts->data[i].b != contacts->data[i - 1].b;
  return pairs;
}

static int measure(const ell_bench *bench, talus_detect_bodies *bodies,
                   const talus_shape_def *shape, row *out) {
  talus_detect_def how = talus_detect_def_default();
  talus_detector *detector;
  how.threads = 1;
  bodies->shapes = shape, bodies->shape_count = 1;
  talus_status status = talus_detector_create(&how, &detector);
  *out = (row){.narrow_ms = HUGE_VAL};
  for (int r = 0; status == TALUS_OK && r <= bench->options.repeat; ++r) {
    talus_contacts contacts;
    talus_detect_stats stats;
    status = talus_detector_find_contacts(detector, bodies, &contacts, &stats);
    if (status != TALUS_OK)
      break;
    out->narrow_ms = fmin(out->narrow_ms, stats.narrow_ms);
    out->pairs = count_pairs(&contacts), out->contacts = contacts.count;
  }
  if (status != TALUS_OK)
    fprintf(stderr, "talus bench ellipsoids: %s\n", talus_last_error());
  talus_detector_destroy(detector);
  return status == TALUS_OK ? 0 : 1;
}

static void print_row(const ell_bench *bench, const char *what, size_t spheres, size_t bodies,
                      const row *r, const row *first) {
  printf("  %-22s %8zu %9zu %9zu %10.3f %14.4g %9.1f\n", what, spheres, r->pairs, r->contacts,
         r->narrow_ms, 1e3 * (double)r->pairs / r->narrow_ms, r->narrow_ms / first->narrow_ms);
  if (bench->csv)
    fprintf(bench->csv, "clumps,%s,%zu,1,,%zu,,%.6g,,\n", what, bodies, r->pairs, r->narrow_ms);
}

int ell_bench_clumps(ell_bench *bench) {
  static const double errors[] = {0.05, 0.02};
  const size_t n = bench->options.max < 8192 ? bench->options.max : 8192;
  ell_scene s;
  double *spheres = malloc(4 * SPHERES_MOST * sizeof *spheres);
  int code = ell_scene_make(&s, n) && spheres ? 0 : 1;
  talus_detect_bodies bodies = {.count = n,
                                .position = s.position,
                                .shape = s.shape,
                                .scale = s.radius,
                                .rotation = s.rotation};
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_ELLIPSOID;
  for (int k = 0; k < 3; ++k)
    shape.size[k] = half[k];
  printf("\nellipsoids and clumps of spheres of the same shape, %zu bodies, one thread; error of "
         "the surface as a share of the shortest half axis\n"
         "  %-22s %8s %9s %9s %10s %14s %9s\n",
         n, "shape", "spheres", "pairs", "points", "narrow ms", "pairs/s", "x time");
  row first, r;
  if (code == 0)
    code = measure(bench, &bodies, &shape, &first);
  if (code == 0)
    print_row(bench, "ellipsoid", 0, n, &first, &first);
  for (size_t i = 0; code == 0 && i < sizeof errors / sizeof *errors; ++i) {
    char what[32];
    talus_shape_def clump = talus_shape_def_default();
    clump.kind = TALUS_CLUMP;
    clump.points = spheres, clump.point_count = make_clump(errors[i] * half[2], spheres);
    snprintf(what, sizeof what, "clump to %g %%", 100 * errors[i]);
    code = clump.point_count > 0 ? measure(bench, &bodies, &clump, &r) : 1;
    if (code == 0)
      print_row(bench, what, clump.point_count, n, &r, &first);
  }
  ell_scene_free(&s);
  free(spheres);
  return code;
}
