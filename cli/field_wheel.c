/* The colour wheel with a direction on it and the colour of that direction; one for each angle. */
#include "cli.h"
#include "field.h"
#include "file_write.h"
#include "hue.h"

#include <math.h>
#include <stdlib.h>

#define RADIUS  90.0  /* pixels */
#define EDGE    240.0 /* width and height of one wheel */
#define HIGH    300.0
#define SECTORS 180
#define TURN    6.283185307179586

typedef struct wheels {
  double degrees[FIELD_RANGES];
  size_t count;
} wheels;

static bool read_degrees(const char *text, wheels *w) {
  for (const char *at = text; w->count < FIELD_RANGES; ++at) {
    char *end;
    const double angle = strtod(at, &end);
    if (end == at || !(angle >= 0 && angle <= 360) || (*end && *end != ','))
      return false;
    w->degrees[w->count++] = angle;
    at = end;
    if (*end == '\0')
      return true;
  }
  return false;
}

static void print_colour(FILE *to, double angle) {
  unsigned char rgb[3];
  hue_bytes(angle, 1, rgb);
  fprintf(to, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

static void print_sectors(FILE *to, double x, double y) {
  for (int i = 0; i < SECTORS; ++i) {
    const double a = (i - 0.5) * TURN / SECTORS, b = (i + 0.6) * TURN / SECTORS;
    fprintf(to, "<path d=\"M%.2f %.2f L%.2f %.2f L%.2f %.2f Z\" fill=\"", x, y, x + RADIUS * cos(a),
            y - RADIUS * sin(a), x + RADIUS * cos(b), y - RADIUS * sin(b));
    print_colour(to, i * TURN / SECTORS);
    fputs("\"/>\n", to);
  }
}

static void print_pointer(FILE *to, double x, double y, double angle) {
  const double c = cos(angle), s = -sin(angle), head = 14;
  const double tip[2] = {x + RADIUS * c, y + RADIUS * s};
  fprintf(to,
          "<path fill=\"none\" stroke=\"#000\" stroke-width=\"2.5\" d=\"M%.2f %.2f L%.2f %.2f "
          "M%.2f %.2f L%.2f %.2f L%.2f %.2f\"/>\n",
          x, y, tip[0], tip[1], tip[0] - head * (c - 0.5 * s), tip[1] - head * (s + 0.5 * c),
          tip[0], tip[1], tip[0] - head * (c + 0.5 * s), tip[1] - head * (s - 0.5 * c));
}

static bool print_wheels(FILE *to, const void *what) {
  const wheels *w = what;
  const double wide = EDGE * (double)w->count;
  fprintf(to,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
          "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"16\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
          wide, HIGH, wide, HIGH);
  for (size_t i = 0; i < w->count; ++i) {
    const double x = EDGE * ((double)i + 0.5), y = 20 + RADIUS;
    print_sectors(to, x, y);
    print_pointer(to, x, y, w->degrees[i] * TURN / 360);
    fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"100\" height=\"36\" fill=\"", x - 50,
            y + RADIUS + 16);
    print_colour(to, w->degrees[i] * TURN / 360);
    fprintf(to, "\"/>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g degrees</text>\n", x,
            y + RADIUS + 76, w->degrees[i]);
  }
  fputs("</svg>\n", to);
  return ferror(to) == 0;
}

int field_write_wheels(const char *path, const char *angles) {
  wheels w = {.count = 0};
  if (!read_degrees(angles, &w)) {
    cli_error("field: option '--wheel': '%s' is not a list of up to %d angles from 0 to 360 "
              "degrees, such as 30,330",
              angles, FIELD_RANGES);
    return CLI_INPUT;
  }
  return cli_write_file(path, print_wheels, &w);
}
