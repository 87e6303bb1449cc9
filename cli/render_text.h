/* Text on a picture: a stroke font of our own, drawn smoothly at any size. */
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
  unsigned char paper[3]; /* sRGB of the halo that keeps text legible on any background */
} text_style;

/* Width of the text in pixels. UTF-8; unknown characters are drawn as a box. */
float text_width(const char *text, float size);

/* x, y: left end of the baseline, pixels from the upper left corner; clipped to the canvas. */
void text_draw(canvas *to, float x, float y, const text_style *style, const char *text);

/* A stroke between two points with the same smoothness, for frames and ticks. */
void text_line(canvas *to, const float from[2], const float end[2], float width,
               const unsigned char ink[3]);

/* Blends a colour into a pixel; alpha 0 ... 1. Pixels outside the canvas are ignored. */
void canvas_blend(canvas *to, int x, int y, const unsigned char ink[3], float alpha);

#endif
