/* Text on a picture: a stroke font of our own, drawn smooth at any size. */
#ifndef CLI_RENDER_TEXT_H
#define CLI_RENDER_TEXT_H

#include <stdbool.h>

/* 8-bit sRGB, rows from the top, no padding. */
typedef struct canvas {
  int width, height;
  unsigned char *rgb;
} canvas;

typedef struct text_style {
  float size;             /* of a capital letter, pixels */
  unsigned char ink[3];   /* sRGB */
  unsigned char paper[3]; /* colour of the halo that keeps it legible on anything */
} text_style;

/* Pixels that the text advances. UTF-8; what the font does not have is drawn as a box. */
float text_width(const char *text, float size);

/* x, y: left end of the baseline, pixels from the upper left corner; anything outside is cut. */
void text_draw(canvas *to, float x, float y, const text_style *style, const char *text);

/* A stroke between two points with the same smoothness, for frames and ticks. */
void text_line(canvas *to, const float from[2], const float end[2], float width,
               const unsigned char ink[3]);

/* Lays a colour over a pixel; alpha 0 ... 1. Outside the canvas nothing happens. */
void canvas_blend(canvas *to, int x, int y, const unsigned char ink[3], float alpha);

#endif
