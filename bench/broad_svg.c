/* Time per body over the number of bodies, both logarithmic: a curve per method. */
#include <math.h>
#include <string.h>

#include "broad.h"
#include "tools.h"

enum { WIDTH = 900, HEIGHT = 520, LEFT = 80, RIGHT = 190, TOP = 56, BOTTOM = 60 };
#define ACROSS  (WIDTH - LEFT - RIGHT)
#define DOWN    (HEIGHT - TOP - BOTTOM)
#define SECTION "uniform"

typedef struct chart {
  const broad_bench *bench;
  FILE *to;
  int threads;
  double low[2], high[2]; /* powers of ten: bodies, ns/body */
  const char *names[BROAD_METHODS_MOST];
  int count;
} chart;

static bool is_shown(const chart *drawn, const broad_group *group, const broad_row *row) {
  return strcmp(group->section, SECTION) == 0 && group->threads == drawn->threads &&
         !isnan(row->ms) && row->ms > 0;
}

static double x_of(const chart *drawn, double bodies) {
  return LEFT + ACROSS * (log10(bodies) - drawn->low[0]) / (drawn->high[0] - drawn->low[0]);
}

static double y_of(const chart *drawn, double ns) {
  return TOP + DOWN * (1 - (log10(ns) - drawn->low[1]) / (drawn->high[1] - drawn->low[1]));
}

static void add_name(chart *drawn, const char *name) {
  for (int i = 0; i < drawn->count; ++i)
    if (strcmp(drawn->names[i], name) == 0)
      return;
  if (drawn->count < BROAD_METHODS_MOST)
    drawn->names[drawn->count++] = name;
}

/* Methods and ranges; false where there is nothing to draw. */
static bool find_range(chart *drawn) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
  for (size_t i = 0; i < drawn->bench->groups; ++i)
    for (int k = 0; k < drawn->bench->group[i].rows; ++k) {
      const broad_group *group = &drawn->bench->group[i];
      if (!is_shown(drawn, group, &group->row[k]))
        continue;
      const double at[2] = {(double)group->count, 1e6 * group->row[k].ms / (double)group->count};
      for (int axis = 0; axis < 2; ++axis) {
        low[axis] = fmin(low[axis], at[axis]);
        high[axis] = fmax(high[axis], at[axis]);
      }
      add_name(drawn, group->row[k].method);
    }
  for (int axis = 0; axis < 2; ++axis) {
    drawn->low[axis] = floor(log10(low[axis]) + 1e-9);
    drawn->high[axis] = fmax(ceil(log10(high[axis]) - 1e-9), drawn->low[axis] + 1);
  }
  return drawn->count > 0;
}

static void draw_axes(const chart *drawn) {
  for (double p = drawn->low[0]; p <= drawn->high[0]; ++p) {
    const double x = x_of(drawn, pow(10, p));
    fprintf(drawn->to, "<path class=\"grid\" d=\"M%.1f %d V%d\"/>\n", x, TOP, TOP + DOWN);
    fprintf(drawn->to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n", x,
            TOP + DOWN + 20, pow(10, p));
  }
  for (double p = drawn->low[1]; p <= drawn->high[1]; ++p) {
    const double y = y_of(drawn, pow(10, p));
    fprintf(drawn->to, "<path class=\"grid\" d=\"M%d %.1f H%d\"/>\n", LEFT, y, LEFT + ACROSS);
    fprintf(drawn->to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>\n", LEFT - 8,
            y + 4, pow(10, p));
  }
  fprintf(drawn->to,
          "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">bodies</text>\n"
          "<text transform=\"rotate(-90 20 %d)\" x=\"20\" y=\"%d\" text-anchor=\"middle\">"
          "ns per body</text>\n",
          LEFT + ACROSS / 2, HEIGHT - 16, TOP + DOWN / 2, TOP + DOWN / 2);
}

/* Our methods are solid lines, peers are dashed. */
static void draw_method(const chart *drawn, int which) {
  static const char *const colours[] = {"#1f5fbf", "#d1495b", "#2a9d5c", "#8f5bc0",
                                        "#e08a1e", "#5b6470", "#15a3b8", "#b5366f",
                                        "#7a7a1f", "#9b5a2c", "#3c7a6b", "#404040"};
  const char *colour = colours[(size_t)which % (sizeof colours / sizeof *colours)];
  bool is_peer = false, is_open = false;
  fprintf(drawn->to, "<path class=\"curve\" stroke=\"%s\" d=\"", colour);
  for (size_t i = 0; i < drawn->bench->groups; ++i) {
    const broad_group *group = &drawn->bench->group[i];
    const broad_row *row = broad_group_find(group, drawn->names[which]);
    if (!row || !is_shown(drawn, group, row))
      continue;
    is_peer = row->is_peer;
    fprintf(drawn->to, "%s%.1f %.1f", is_open ? " L" : "M", x_of(drawn, (double)group->count),
            y_of(drawn, 1e6 * row->ms / (double)group->count));
    is_open = true;
  }
  const int y = TOP + 14 + 22 * which;
  fprintf(drawn->to,
          " h0\"%s/>\n<path class=\"curve\" stroke=\"%s\"%s d=\"M%d %d h24\"/>\n"
          "<text x=\"%d\" y=\"%d\">%s</text>\n",
          is_peer ? " stroke-dasharray=\"7 5\"" : "", colour,
          is_peer ? " stroke-dasharray=\"7 5\"" : "", LEFT + ACROSS + 18, y, LEFT + ACROSS + 50,
          y + 4, drawn->names[which]);
}

bool broad_plot(const broad_bench *bench, const char *path) {
  chart drawn = {.bench = bench};
  for (int i = 0; i < bench->options.thread_counts; ++i)
    if (bench->options.threads[i] > drawn.threads)
      drawn.threads = bench->options.threads[i];
  if (!find_range(&drawn)) {
    fprintf(stderr, "talus bench broad: nothing to plot: --svg shows the section uniform\n");
    return false;
  }
  drawn.to = bench_open(path);
  if (!drawn.to)
    return false;
  fprintf(
      drawn.to,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\" role=\"img\">\n"
      "<style>\n"
      "text { font: 13px 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; fill: #2b2f36 }\n"
      ".title { font-size: 17px; font-weight: 600 }\n"
      ".grid { stroke: #dfe3e8; fill: none }\n"
      ".curve { stroke-width: 2.2; fill: none; stroke-linejoin: round; stroke-linecap: round }\n"
      "</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
      "<text class=\"title\" x=\"%d\" y=\"34\">Overlapping boxes of equal spheres, volume "
      "fraction 0.1, %d thread%s</text>\n",
      WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, drawn.threads,
      drawn.threads == 1 ? "" : "s");
  draw_axes(&drawn);
  for (int i = drawn.count; i-- > 0;) /* the first one on top */
    draw_method(&drawn, i);
  fprintf(drawn.to,
          "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
          "stroke=\"#6b7280\"/>\n</svg>\n",
          LEFT, TOP, ACROSS, DOWN);
  return bench_close(drawn.to);
}
