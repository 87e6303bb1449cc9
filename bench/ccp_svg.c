/* Curves, both axes logarithmic. */
#include <math.h>

#include "ccp.h"
#include "tools.h"

enum { WIDTH = 900, HEIGHT = 520, LEFT = 80, RIGHT = 210, TOP = 56, BOTTOM = 60 };
#define ACROSS (WIDTH - LEFT - RIGHT)
#define DOWN   (HEIGHT - TOP - BOTTOM)

typedef struct chart {
  FILE *to;
  double low[2], high[2]; /* powers of ten */
} chart;

static double x_of(const chart *c, double x) {
  return LEFT + ACROSS * (log10(x) - c->low[0]) / (c->high[0] - c->low[0]);
}

static double y_of(const chart *c, double y) {
  return TOP + DOWN * (1 - (log10(y) - c->low[1]) / (c->high[1] - c->low[1]));
}

static bool is_shown(const ccp_curve *curve, int i) {
  return curve->x[i] > 0 && curve->y[i] > 0 && isfinite(curve->x[i]) && isfinite(curve->y[i]);
}

static void find_range(chart *c, const ccp_curve *curves, int count) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < curves[k].points; ++i) {
      if (!is_shown(&curves[k], i))
        continue;
      low[0] = fmin(low[0], curves[k].x[i]);
      high[0] = fmax(high[0], curves[k].x[i]);
      low[1] = fmin(low[1], curves[k].y[i]);
      high[1] = fmax(high[1], curves[k].y[i]);
    }
  for (int axis = 0; axis < 2; ++axis) {
    c->low[axis] = isfinite(low[axis]) ? floor(log10(low[axis]) + 1e-9) : 0;
    c->high[axis] =
        high[axis] > 0 ? fmax(ceil(log10(high[axis]) - 1e-9), c->low[axis] + 1) : c->low[axis] + 1;
  }
}

static void draw_axes(const chart *c, const char *x_label, const char *y_label) {
  for (double p = c->low[0]; p <= c->high[0]; ++p) {
    const double x = x_of(c, pow(10, p));
    fprintf(c->to,
            "<path class=\"grid\" d=\"M%.1f %d V%d\"/>\n"
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
            x, TOP, TOP + DOWN, x, TOP + DOWN + 20, pow(10, p));
  }
  for (double p = c->low[1]; p <= c->high[1]; ++p) {
    const double y = y_of(c, pow(10, p));
    fprintf(c->to,
            "<path class=\"grid\" d=\"M%d %.1f H%d\"/>\n"
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
            LEFT, y, LEFT + ACROSS, LEFT - 8, y + 4, pow(10, p));
  }
  fprintf(c->to,
          "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n"
          "<text transform=\"rotate(-90 20 %d)\" x=\"20\" y=\"%d\" text-anchor=\"middle\">"
          "%s</text>\n",
          LEFT + ACROSS / 2, HEIGHT - 16, x_label, TOP + DOWN / 2, TOP + DOWN / 2, y_label);
}

static void draw_curve(const chart *c, const ccp_curve *curve, int which) {
  static const char *const colours[] = {"#1f5fbf", "#d1495b", "#2a9d5c", "#8f5bc0",
                                        "#e08a1e", "#5b6470", "#15a3b8", "#b5366f"};
  const char *colour = colours[(size_t)curve->colour % (sizeof colours / sizeof *colours)];
  const char *dashes = curve->dashed ? " stroke-dasharray=\"7 5\"" : "";
  bool is_open = false;
  fprintf(c->to, "<path class=\"curve\" stroke=\"%s\"%s d=\"", colour, dashes);
  for (int i = 0; i < curve->points; ++i)
    if (is_shown(curve, i)) {
      fprintf(c->to, "%s%.1f %.1f", is_open ? " L" : "M", x_of(c, curve->x[i]),
              y_of(c, curve->y[i]));
      is_open = true;
    }
  const int y = TOP + 14 + 22 * which;
  fprintf(c->to,
          "%s\"/>\n<path class=\"curve\" stroke=\"%s\"%s d=\"M%d %d h24\"/>\n"
          "<text x=\"%d\" y=\"%d\">%s</text>\n",
          is_open ? " h0" : "M0 0", colour, dashes, LEFT + ACROSS + 18, y, LEFT + ACROSS + 50,
          y + 4, curve->name);
}

bool ccp_plot(const char *path, const char *title, const char *x_label, const char *y_label,
              const ccp_curve *curves, int count) {
  chart c = {.to = bench_open(path)};
  if (!c.to)
    return false;
  find_range(&c, curves, count);
  fprintf(
      c.to,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\" role=\"img\">\n"
      "<style>\n"
      "text { font: 13px 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; fill: #2b2f36 }\n"
      ".title { font-size: 17px; font-weight: 600 }\n"
      ".grid { stroke: #dfe3e8; fill: none }\n"
      ".curve { stroke-width: 2.2; fill: none; stroke-linejoin: round; stroke-linecap: round }\n"
      "</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
      "<text class=\"title\" x=\"%d\" y=\"34\">%s</text>\n",
      WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, title);
  draw_axes(&c, x_label, y_label);
  for (int i = count; i-- > 0;) /* the first one on top */
    draw_curve(&c, &curves[i], i);
  fprintf(c.to,
          "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
          "stroke=\"#6b7280\"/>\n</svg>\n",
          LEFT, TOP, ACROSS, DOWN);
  return bench_close(c.to);
}
