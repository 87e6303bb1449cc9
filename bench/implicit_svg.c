/* Figure 6.3: bars of comparisons, a layer for each look of a step. */
#include <math.h>

#include "implicit.h"

enum { WIDTH = 960, HEIGHT = 420, TOP = 64, BOTTOM = 56, LEFT = 74, GAP = 84, RIGHT = 24 };
#define DOWN   (HEIGHT - TOP - BOTTOM)
#define ACROSS ((WIDTH - LEFT - GAP - RIGHT) / 2)

/* From the first look (dark) to late ones (light), every second one warmer, so that neighbours
 * differ. */
static void put_colour(FILE *to, int look) {
  const double t = fmin(look, 11) / 11.0;
  const bool is_warm = look % 2 == 1;
  fprintf(to, "#%02x%02x%02x", (unsigned)(30 + (is_warm ? 200 : 130) * t),
          (unsigned)(60 + 150 * t + (is_warm ? 24 : 0)),
          (unsigned)(120 + 110 * t - (is_warm ? 50 : 0)));
}

static double highest(const implicit_panel *p) {
  double most = 1;
  for (int i = 0; i < p->steps; ++i) {
    double sum = 0;
    for (int k = 0; k < p->looks[i]; ++k)
      sum += p->compared[i][k];
    most = fmax(most, sum);
  }
  return most;
}

static void draw_panel(FILE *to, const implicit_panel *p, double left) {
  const double high = highest(p), ten = pow(10, floor(log10(high)));
  const double unit = high > 4 * ten ? ten : ten / 2, ticks = ceil(high / unit);
  const double most = unit * ticks, wide = (double)ACROSS / p->steps;
  for (int k = 0; k <= (int)ticks; ++k) {
    const double y = TOP + DOWN * (1 - k / ticks);
    fprintf(to,
            "<path class=\"grid\" d=\"M%.1f %.1f h%d\"/>\n"
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
            left, y, ACROSS, left - 8, y + 4, unit * k);
  }
  for (int i = 0; i < p->steps; ++i) {
    double y = TOP + DOWN;
    for (int k = 0; k < p->looks[i]; ++k) {
      const double share = DOWN * p->compared[i][k] / most;
      y -= share;
      fprintf(to, "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"",
              left + wide * (i + 0.1), y, 0.8 * wide, share);
      put_colour(to, k);
      fprintf(to, "\"/>\n");
    }
    if (p->steps <= 10 || i % 2 == 0)
      fprintf(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
              left + wide * (i + 0.5), TOP + DOWN + 18, i + 1);
  }
  fprintf(to,
          "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">step of the collision</text>\n"
          "<text class=\"title\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
          left + ACROSS / 2.0, HEIGHT - 14, left + ACROSS / 2.0, TOP - 14, p->title);
}

bool implicit_plot_layers(const char *path, const implicit_panel panels[2]) {
  FILE *to = bench_open(path);
  if (!to)
    return false;
  fprintf(to,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\" role=\"img\">\n"
          "<style>\n"
          "text { font: 13px 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; fill: #2b2f36 }\n"
          ".title { font-size: 15px; font-weight: 600 }\n"
          ".grid { stroke: #dfe3e8; fill: none }\n"
          "</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
          "<text x=\"%d\" y=\"22\">Distances of triangles in a step of multires-picard; layers "
          "from below: the looks of the step, the first one dark</text>\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
  draw_panel(to, &panels[0], LEFT);
  draw_panel(to, &panels[1], LEFT + ACROSS + GAP);
  fprintf(to, "</svg>\n");
  return bench_close(to);
}
