/* Colours of bodies: even steps of a number look like even steps of lightness.
 *
 * Maps are paths in OKLCh (lightness, chroma, hue), the polar form of the OKLab space of Ottosson
 * (2020), with the largest chroma that a screen can show. Values are linear sRGB, 0 ... 1. */
#ifndef CLI_RENDER_COLOUR_H
#define CLI_RENDER_COLOUR_H

#include <stdint.h>

typedef struct rgb {
  float r, g, b;
} rgb;

typedef enum colour_map {
  COLOUR_COOL, /* deep blue, teal, green, yellow */
  COLOUR_WARM  /* pale yellow, orange, red, dark wine */
} colour_map;

/* t is cut to 0 ... 1. */
rgb colour_of(colour_map map, float t);

/* A colour per serial number; neighbours differ. */
rgb colour_of_number(uint64_t number);

/* One of a dozen clearly different colours, by row; then they repeat. */
rgb colour_of_row(unsigned row);

/* Hue by an angle [rad], from grey to full by strength 0 ... 1. */
rgb colour_of_angle(float angle, float strength);

/* Converts to the bytes of a screen: 0 ... 255, gamma of sRGB. */
unsigned char colour_byte(float linear);

#endif
