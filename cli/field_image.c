/* A field from a picture: the mean direction of the coloured pixels of each square. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "field.h"

#if TALUS_HAVE_PNG

#include <png.h>

#include "base/input.h"
#include "hue.h"

#define PIXELS_MOST (UINT64_C(1) << 30)

static bool read_head(FILE *file, const char *path, png_image *head) {
  *head = (png_image){.version = PNG_IMAGE_VERSION};
  if (png_image_begin_read_from_stdio(head, file))
    return true;
  cli_error("%s is no PNG picture: %s; give one that talus render --flat drew", path,
            head->message);
  return false;
}

/* The pixels as bytes of RGB, to be freed; NULL after a message. */
static unsigned char *read_pixels(const char *path, png_image *head) {
  head->format = PNG_FORMAT_RGB;
  unsigned char *pixels =
      (uint64_t)head->width * head->height <= PIXELS_MOST ? malloc(PNG_IMAGE_SIZE(*head)) : NULL;
  if (!pixels) {
    cli_error("%s: a picture of %u x %u pixels is too large", path, head->width, head->height);
    png_image_free(head);
    return NULL;
  }
  const png_color white = {255, 255, 255};
  if (!png_image_finish_read(head, &white, pixels, 0, NULL)) {
    cli_error("%s is no whole PNG picture: %s; draw it again", path, head->message);
    free(pixels);
    return NULL;
  }
  return pixels;
}

/* Squares begin at the lower left corner of the picture. */
static bool lay_grid(field *made, const png_image *head, int pixels) {
  const uint32_t n[2] = {head->width, head->height};
  const double *b = made->plane.bounds;
  made->columns = (n[0] + (uint32_t)pixels - 1) / (uint32_t)pixels;
  made->rows = (n[1] + (uint32_t)pixels - 1) / (uint32_t)pixels;
  for (int k = 0; k < 2; ++k) {
    const double pixel = made->plane.has_bounds ? (b[2 * k + 1] - b[2 * k]) / n[k] : 1;
    made->cell[k] = pixels * pixel;
    made->origin[k] = (made->plane.has_bounds ? b[2 * k] : 0) + 0.5 * made->cell[k];
  }
  return field_make(made, true);
}

static uint64_t add_pixels(field *made, const unsigned char *rgb, const png_image *head,
                           int pixels) {
  uint64_t coloured = 0;
  for (uint32_t y = 0; y < head->height; ++y)
    for (uint32_t x = 0; x < head->width; ++x) {
      double angle;
      const uint32_t row = (head->height - 1 - y) / (uint32_t)pixels;
      const size_t at = row * made->columns + x / (uint32_t)pixels;
      if (!hue_read(rgb + 3 * ((size_t)y * head->width + x), &angle))
        continue;
      coloured++;
      made->count[at] += 1;
      made->right[at] += cos(angle);
      made->up[at] += sin(angle);
    }
  return coloured;
}

/* The grid is made from the picture's head: one that has too many cells is not unpacked. */
static int read_image(FILE *file, const char *path, int pixels, field *made, png_image *head,
                      unsigned char **rgb) {
  if (!read_head(file, path, head))
    return CLI_INPUT;
  if (!lay_grid(made, head, pixels)) {
    png_image_free(head);
    return field_refuse(made);
  }
  *rgb = read_pixels(path, head);
  return *rgb ? CLI_DONE : CLI_INPUT;
}

int field_of_image(const char *path, int pixels, field *made) {
  png_image head;
  unsigned char *rgb = NULL;
  char why[4400];
  FILE *file = tl_input_file(path, why, sizeof why);
  if (!file) {
    cli_error("%s", why);
    return CLI_INPUT;
  }
  const int code = read_image(file, path, pixels, made, &head, &rgb);
  fclose(file);
  if (code != CLI_DONE)
    return code;
  const uint64_t coloured = add_pixels(made, rgb, &head, pixels);
  free(rgb);
  if (coloured == 0) {
    cli_error("%s has no pixel of full colour, so no direction; draw it with talus render --flat "
              "yz --colour angle",
              path);
    return CLI_INPUT;
  }
  for (size_t i = 0; i < made->columns * made->rows; ++i) {
    const double length = sqrt(made->right[i] * made->right[i] + made->up[i] * made->up[i]);
    made->right[i] /= length, made->up[i] /= length; /* NAN where nobody is, or none prevails */
  }
  return CLI_DONE;
}

#else

int field_of_image(const char *path, int pixels, field *made) {
  (void)pixels, (void)made;
  cli_error("%s: this talus was built without libpng; install libpng-dev and build it again", path);
  return CLI_INPUT;
}

#endif
