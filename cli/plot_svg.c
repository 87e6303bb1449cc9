/* A plot as an SVG file, written by hand: sizes in pixels, text in the reader's sans-serif font. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file_write.h"
#include "plot.h"
#include "render_colour.h"
#include "ticks.h"

enum { WIDTH = 860, HEIGHT = 480, LEFT = 92, RIGHT = 178, TOP = 58, BOTTOM = 64 };
#define ACROSS  (WIDTH - LEFT - RIGHT)
#define DOWN    (HEIGHT - TOP - BOTTOM)
#define BUCKETS (2 * ACROSS) /* more points than this cannot be resolved */

static void write_escaped(FILE *to, const char *text) {
  for (; *text; ++text)
    switch (*text) {
    case '<':
      fputs("&lt;", to);
      break;
    case '>':
      fputs("&gt;", to);
      break;
    case '&':
      fputs("&amp;", to);
      break;
    default:
      if ((unsigned char)*text >= 32) /* XML does not allow control characters */
        fputc(*text, to);
    }
}

static void write_text(FILE *to, double x, double y, const char *how, const char *text) {
  fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
  write_escaped(to, text);
  fputs("</text>\n", to);
}

static void write_colour(FILE *to, unsigned row) {
  const rgb c = colour_of_row(row);
  fprintf(to, "#%02x%02x%02x", colour_byte(c.r), colour_byte(c.g), colour_byte(c.b));
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void write_x_tick(FILE *to, double share, const char *text) {
  const double x = LEFT + ACROSS * share;
  fprintf(to, "<path class=\"grid\" d=\"M%.1f %d V%d\"/>\n", x, TOP, TOP + DOWN);
  write_text(to, x, TOP + DOWN + 20, "text-anchor=\"middle\"", text);
}

static void write_x_axis(FILE *to, const plot *drawn, plot_range range) {
  const double span = range.high - range.low;
  for (size_t i = 0; drawn->x_names && i < drawn->rows; ++i)
    write_x_tick(to, ((double)i - range.low) / span, drawn->x_names[i]);
  const ticks marks = ticks_of(range.low, range.high, 8);
  for (int i = 0; !drawn->x_names && i < marks.count; ++i) {
    char text[48];
    write_x_tick(to, (ticks_at(&marks, i) - range.low) / span,
                 ticks_text(&marks, i, text, sizeof text));
  }
  write_text(to, LEFT + 0.5 * ACROSS, HEIGHT - 18, "text-anchor=\"middle\" class=\"label\"",
             drawn->x_label);
}

static void write_y_tick(FILE *to, double share, const char *text) {
  const double y = TOP + DOWN * (1 - share);
  fprintf(to, "<path class=\"grid\" d=\"M%d %.1f H%d\"/>\n", LEFT, y, LEFT + ACROSS);
  write_text(to, LEFT - 10, y + 4.5, "text-anchor=\"end\"", text);
}

/* "10" with an exponent of raised digits. */
static const char *power_text(int exponent, char *text, size_t size) {
  static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char plain[16];
  int at = snprintf(text, size, "10%s", exponent < 0 ? "⁻" : "");
  snprintf(plain, sizeof plain, "%d", abs(exponent));
  for (const char *digit = plain; *digit; ++digit)
    at += snprintf(text + at, size - (size_t)at, "%s", digits[*digit - '0']);
  return text;
}

static void write_y_axis(FILE *to, const plot *drawn, plot_range range) {
  char text[48], how[96];
  const double span = range.high - range.low;
  if (drawn->is_log) {
    const int step = span > 8 ? 2 : 1;
    for (int i = 0; i <= (int)(span + 0.5); i += step) {
      write_y_tick(to, i / span, power_text((int)lround(range.low) + i, text, sizeof text));
    }
  } else {
    const ticks marks = ticks_of(range.low, range.high, 5);
    for (int i = 0; i < marks.count; ++i)
      write_y_tick(to, (ticks_at(&marks, i) - range.low) / span,
                   ticks_text(&marks, i, text, sizeof text));
  }
  const double middle = TOP + 0.5 * DOWN;
  snprintf(how, sizeof how,
           "text-anchor=\"middle\" class=\"label\" transform=\"rotate(-90 22 %.1f)\"", middle);
  write_text(to, 22, middle, how, drawn->y_label);
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* A path being written; where points are too dense, the lowest and highest of each bucket are
 * drawn. */
typedef struct trail {
  FILE *to;
  bool is_open;
  int bucket;
  double low, high; /* y, pixels */
} trail;

static void put(trail *t, double x, double y) {
  fprintf(t->to, "%s%.1f %.1f", t->is_open ? " L" : "M", x, y);
  t->is_open = true;
}

static void flush(trail *t) {
  const double x = LEFT + (t->bucket + 0.5) / 2;
  if (t->bucket < 0)
    return;
  put(t, x, t->low);
  if (t->high > t->low)
    put(t, x, t->high);
  t->bucket = -1;
}

static void add_dense(trail *t, double x, double y) {
  const int bucket = (int)(2 * (x - LEFT));
  if (bucket != t->bucket) {
    flush(t);
    t->bucket = bucket;
    t->low = t->high = y;
  }
  t->low = fmin(t->low, y);
  t->high = fmax(t->high, y);
}

/* True if most of a curve is within a line's width of another. */
static bool lies_on(const plot *drawn, size_t a, size_t b, plot_range down) {
  size_t both = 0, near = 0;
  for (size_t i = 0; i < drawn->rows; ++i) {
    const double apart = plot_y_share(drawn, down, drawn->series[a].y[i]) -
                         plot_y_share(drawn, down, drawn->series[b].y[i]);
    both += isnan(apart) ? 0 : 1;
    near += fabs(apart) * DOWN < 1.5;
  }
  return both > 1 && 2 * near > both;
}

/* A curve that would hide one beneath it is dashed, so that both are visible. */
static const char *dashes_of(const plot *drawn, size_t k, plot_range down) {
  static const char *const dashes[] = {"9 7", "3 6", "12 5 2 5", "6 10"};
  for (size_t below = k + 1; below < drawn->count; ++below)
    if (lies_on(drawn, k, below, down))
      return dashes[k % 4];
  return NULL;
}

static void write_stroke(FILE *to, const plot *drawn, size_t k, plot_range down) {
  const char *dashes = dashes_of(drawn, k, down);
  fputs("<path class=\"curve\" stroke=\"", to);
  write_colour(to, (unsigned)k);
  if (dashes)
    fprintf(to, "\" stroke-dasharray=\"%s", dashes);
  fputs("\" d=\"", to);
}

static void write_series(FILE *to, const plot *drawn, size_t k, plot_range across,
                         plot_range down) {
  trail t = {.to = to, .bucket = -1};
  write_stroke(to, drawn, k, down);
  for (size_t i = 0; i < drawn->rows; ++i) {
    const double share = plot_y_share(drawn, down, drawn->series[k].y[i]);
    if (isnan(share) || !isfinite(drawn->x[i])) {
      flush(&t);
      t.is_open = false;
      continue;
    }
    const double x = LEFT + ACROSS * (drawn->x[i] - across.low) / (across.high - across.low);
    const double y = TOP + DOWN * (1 - share);
    if (drawn->rows > BUCKETS) {
      add_dense(&t, x, y);
      continue;
    }
    const bool alone = !t.is_open;
    put(&t, x, y);
    if (alone) /* a round cap makes a dot of a curve with one point */
      fputs(" h0", to);
  }
  flush(&t);
  fputs("\"/>\n", to);
}

/* ---- measured points ------------------------------------------------------------------------- */

/* Circle, square, triangle, diamond, repeated. */
static void write_mark(FILE *to, size_t k, double x, double y) {
  static const char *const paths[] = {"m-4 0 a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0 z",
                                      "m-3.6 -3.6 h7.2 v7.2 h-7.2 z", "m0 -4.8 l4.6 8 h-9.2 z",
                                      "m0 -5 l5 5 l-5 5 l-5 -5 z"};
  fputs("<path class=\"mark\" fill=\"", to);
  write_colour(to, (unsigned)k);
  fprintf(to, "\" d=\"M%.1f %.1f %s\"/>\n", x, y, paths[k % 4]);
}

/* From y - error to y + error, with caps. */
static void write_bar(FILE *to, const plot *drawn, size_t k, size_t i, double x, plot_range down) {
  const double y = drawn->series[k].y[i], error = drawn->series[k].error[i];
  double low = plot_y_share(drawn, down, y - error);
  const double high = plot_y_share(drawn, down, y + error);
  low = isnan(low) ? 0 : low;     /* below the range of a logarithm */
  if (!((high - low) * DOWN > 1)) /* not known, or smaller than its mark */
    return;
  fputs("<path class=\"bar\" stroke=\"", to);
  write_colour(to, (unsigned)k);
  fprintf(to, "\" d=\"M%.1f %.1f V%.1f m-4 0 h8 M%.1f %.1f h8\"/>\n", x, TOP + DOWN * (1 - low),
          TOP + DOWN * (1 - high), x - 4, TOP + DOWN * (1 - low));
}

static void write_points(FILE *to, const plot *drawn, size_t k, plot_range across,
                         plot_range down) {
  for (size_t i = 0; i < drawn->rows; ++i) {
    const double share = plot_y_share(drawn, down, drawn->series[k].y[i]);
    const double x = LEFT + ACROSS * (drawn->x[i] - across.low) / (across.high - across.low);
    if (isnan(share) || !isfinite(x))
      continue;
    if (drawn->series[k].error)
      write_bar(to, drawn, k, i, x, down);
    write_mark(to, k, x, TOP + DOWN * (1 - share));
  }
}

static void write_legend(FILE *to, const plot *drawn, plot_range down) {
  for (size_t k = 0; k < drawn->count; ++k) {
    const double y = TOP + 14 + 24 * (double)k, x = LEFT + ACROSS + 20;
    if (!*drawn->series[k].name)
      continue;
    write_stroke(to, drawn, k, down);
    fprintf(to, "M%.1f %.1f h24\"/>\n", x, y);
    if (plot_has_marks(drawn))
      write_mark(to, k, x + 12, y);
    write_text(to, x + 32, y + 4.5, "", drawn->series[k].name);
  }
}

static void write_all(FILE *to, const plot *drawn) {
  const plot_range across = plot_x_range(drawn), down = plot_y_range(drawn);
  fprintf(to,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
  write_escaped(to, drawn->title);
  fputs("</title>\n<style>\n"
        "text { font: 13px 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; fill: #2b2f36 }\n"
        ".label { font-size: 14px }\n"
        ".title { font-size: 17px; font-weight: 600 }\n"
        ".grid { stroke: #dfe3e8; stroke-width: 1; fill: none }\n"
        ".frame { stroke: #6b7280; stroke-width: 1.2; fill: none }\n"
        ".bar { stroke-width: 1.4; fill: none }\n"
        ".mark { stroke: #ffffff; stroke-width: 0.8 }\n"
        ".curve { stroke-width: 2; fill: none; stroke-linejoin: round; stroke-linecap: round }\n"
        "</style>\n",
        to);
  fprintf(to, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, HEIGHT);
  write_text(to, LEFT, 34, "class=\"title\"", drawn->title);
  write_x_axis(to, drawn, across);
  write_y_axis(to, drawn, down);
  fprintf(to, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, TOP,
          ACROSS, DOWN);
  for (size_t k = drawn->count; k-- > 0;) /* draws the first one on top */
    write_series(to, drawn, k, across, down);
  for (size_t k = drawn->count; plot_has_marks(drawn) && k-- > 0;)
    write_points(to, drawn, k, across, down);
  write_legend(to, drawn, down);
  fputs("</svg>\n", to);
}

static bool print_svg(FILE *to, const void *drawn) {
  write_all(to, drawn);
  return !ferror(to);
}

int plot_svg(const plot *drawn, const char *path) {
  const size_t length = strlen(path);
  if (length < 5 || strcmp(path + length - 4, ".svg") != 0) {
    cli_error("plots are written as SVG: -o plot.svg, not '%s'", path);
    return CLI_INPUT;
  }
  return cli_write_file(path, print_svg, drawn);
}
