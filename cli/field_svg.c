/* Arrows over colours: hue by direction, length by speed. Written by hand. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "field.h"
#include "file_write.h"
#include "hue.h"
#include "ticks.h"

#define WIDE   900.0 /* pixels of the longer edge of the grid */
#define MARGIN 64.0
#define WHEEL  120.0

typedef struct page {
  FILE *to;
  const field *f;
  double pixels;  /* per m */
  double fastest; /* m/s: longest arrow */
  double wide, high;
} page;

static void print_hue(FILE *to, double angle) {
  unsigned char rgb[3];
  hue_bytes(angle, 1, rgb);
  fprintf(to, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

static double x_of(const page *p, double x) {
  return MARGIN + (x - p->f->origin[0] + 0.5 * p->f->cell[0]) * p->pixels;
}

static double y_of(const page *p, double y) {
  return MARGIN + p->high - (y - p->f->origin[1] + 0.5 * p->f->cell[1]) * p->pixels;
}

/* A line with a head; the longest is as long as a cell. */
static void print_arrow(const page *p, double x, double y, double right, double up) {
  const double speed = sqrt(right * right + up * up);
  const double edge = fmin(p->f->cell[0], p->f->cell[1]) * p->pixels;
  const double length = 0.95 * edge * speed / p->fastest;
  if (!(length > 0))
    return;
  const double a = right / speed, b = -up / speed, head = 0.35 * length;
  const double tip[2] = {x_of(p, x) + 0.5 * length * a, y_of(p, y) + 0.5 * length * b};
  fprintf(p->to, "M%.2f %.2f L%.2f %.2f M%.2f %.2f L%.2f %.2f L%.2f %.2f\n", tip[0] - length * a,
          tip[1] - length * b, tip[0], tip[1], tip[0] - head * (a - 0.5 * b),
          tip[1] - head * (b + 0.5 * a), tip[0], tip[1], tip[0] - head * (a + 0.5 * b),
          tip[1] - head * (b - 0.5 * a));
}

static void print_cells(const page *p) {
  const field *f = p->f;
  for (size_t i = 0; i < f->columns * f->rows; ++i) {
    if (!(f->count[i] > 0) || !(f->right[i] != 0 || f->up[i] != 0))
      continue;
    const double x = f->origin[0] + ((double)(i % f->columns) - 0.5) * f->cell[0];
    const double y = f->origin[1] + ((double)(i / f->columns) + 0.5) * f->cell[1];
    fprintf(p->to, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"", x_of(p, x),
            y_of(p, y), f->cell[0] * p->pixels, f->cell[1] * p->pixels);
    print_hue(p->to, atan2(f->up[i], f->right[i]));
    fputs("\"/>\n", p->to);
  }
}

static void print_arrows(const page *p) {
  const field *f = p->f;
  fputs("<path fill=\"none\" stroke=\"#000\" stroke-width=\"0.8\" d=\"\n", p->to);
  for (size_t i = 0; i < f->columns * f->rows; ++i)
    if (f->count[i] > 0)
      print_arrow(p, f->origin[0] + (double)(i % f->columns) * f->cell[0],
                  f->origin[1] + (double)(i / f->columns) * f->cell[1], f->right[i], f->up[i]);
  fputs("\"/>\n", p->to);
}

static void print_axis(const page *p, int k) {
  const field *f = p->f;
  const size_t n[2] = {f->columns, f->rows};
  const double low = f->origin[k] - 0.5 * f->cell[k], high = low + (double)n[k] * f->cell[k];
  const ticks marks = ticks_of(low, high, k == 0 ? 8 : 5);
  for (int i = 0; i < marks.count; ++i) {
    char text[48];
    const double at = ticks_at(&marks, i);
    const double x = k == 0 ? x_of(p, at) : MARGIN - 8;
    const double y = k == 0 ? MARGIN + p->high + 20 : y_of(p, at) + 5;
    fprintf(p->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y,
            k == 0 ? "middle" : "end", ticks_text(&marks, i, text, sizeof text));
  }
  const bool is_pixels = f->is_picture && !f->plane.has_bounds;
  fprintf(p->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s [%s]</text>\n",
          k == 0 ? MARGIN + 0.5 * p->wide : MARGIN - 30,
          k == 0 ? MARGIN + p->high + 44 : MARGIN - 14,
          field_axis_name(f, k == 0 ? f->plane.right : f->plane.up), is_pixels ? "pixels" : "m");
}

/* What the hues mean. */
static void print_wheel(const page *p) {
  const double x = MARGIN + p->wide + 0.5 * WHEEL + 20, y = MARGIN + 0.5 * p->high, r = 40;
  for (int i = 0; i < 72; ++i) {
    const double a = (i - 0.5) * 0.0872664625997165, b = (i + 0.55) * 0.0872664625997165;
    fprintf(p->to, "<path d=\"M%.2f %.2f L%.2f %.2f L%.2f %.2f Z\" fill=\"", x, y, x + r * cos(a),
            y - r * sin(a), x + r * cos(b), y - r * sin(b));
    print_hue(p->to, i * 0.0872664625997165);
    fputs("\"/>\n", p->to);
  }
  fprintf(p->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">direction</text>\n", x,
          y - r - 12);
  if (!p->f->is_picture)
    fprintf(p->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">longest: %.3g m/s</text>\n",
            x, y + r + 22, p->fastest);
}

static bool print_svg(FILE *to, const void *what) {
  const field *f = what;
  const double wide = (double)f->columns * f->cell[0], high = (double)f->rows * f->cell[1];
  page p = {.to = to, .f = f, .pixels = WIDE / fmax(wide, high)};
  p.wide = wide * p.pixels, p.high = high * p.pixels;
  for (size_t i = 0; i < f->columns * f->rows; ++i)
    if (f->count[i] > 0)
      p.fastest = fmax(p.fastest, sqrt(f->right[i] * f->right[i] + f->up[i] * f->up[i]));
  const double page_wide = p.wide + 2 * MARGIN + WHEEL, page_high = p.high + 2 * MARGIN;
  fprintf(to,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 "
          "%.0f %.0f\" font-family=\"sans-serif\" font-size=\"14\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
          page_wide, page_high, page_wide, page_high);
  print_cells(&p);
  print_arrows(&p);
  fprintf(to,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
          "stroke=\"#888\"/>\n",
          MARGIN, MARGIN, p.wide, p.high);
  print_axis(&p, 0);
  print_axis(&p, 1);
  print_wheel(&p);
  fputs("</svg>\n", to);
  return ferror(to) == 0;
}

int field_write_svg(const char *path, const field *from) {
  return cli_write_file(path, print_svg, from);
}
