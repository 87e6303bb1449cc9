#include "render_colour.h"

#include <math.h>

#define PI 3.14159265f

/* Ottosson (2020), "A perceptual color space for image processing": OKLab to linear sRGB. */
static rgb from_oklab(float lightness, float a, float b) {
  const float l = lightness + 0.3963377774f * a + 0.2158037573f * b;
  const float m = lightness - 0.1055613458f * a - 0.0638541728f * b;
  const float s = lightness - 0.0894841775f * a - 1.2914855480f * b;
  const float l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
  return (rgb){4.0767416621f * l3 - 3.3077115913f * m3 + 0.2309699292f * s3,
               -1.2684380046f * l3 + 2.6097574011f * m3 - 0.3413193965f * s3,
               -0.0041960863f * l3 - 0.7034186147f * m3 + 1.7076147010f * s3};
}

static int is_shown(rgb c) {
  const float slack = 1e-4f;
  return c.r >= -slack && c.g >= -slack && c.b >= -slack && c.r <= 1 + slack && c.g <= 1 + slack &&
         c.b <= 1 + slack;
}

static float cut(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* The nearest colour with that lightness and hue (degrees) that a screen can show. */
static rgb from_oklch(float lightness, float chroma, float hue) {
  const float a = cosf(hue * PI / 180), b = sinf(hue * PI / 180);
  float low = 0, high = chroma;
  for (int i = 0; i < 12 && !is_shown(from_oklab(lightness, high * a, high * b)); ++i) {
    const float middle = 0.5f * (low + high);
    if (is_shown(from_oklab(lightness, middle * a, middle * b)))
      low = middle;
    else
      high = middle;
  }
  const rgb found = from_oklab(lightness, high * a, high * b);
  return (rgb){cut(found.r), cut(found.g), cut(found.b)};
}

rgb colour_of(colour_map map, float t) {
  t = cut(t);
  if (map == COLOUR_WARM)
    return from_oklch(0.90f - 0.58f * t, 0.12f + 0.07f * t, 92 - 92 * t);
  return from_oklch(0.42f + 0.48f * t, 0.155f, 268 - 172 * t);
}

rgb colour_of_number(uint64_t number) {
  /* Steps by the golden angle separate neighbours; lightness has a period of its own. */
  const float hue = 360 * (float)(0.61803398875 * (double)(number % 1000003) -
                                  floor(0.61803398875 * (double)(number % 1000003)));
  return from_oklch(0.58f + 0.07f * (float)(number % 4), 0.135f, hue);
}

rgb colour_of_row(unsigned row) {
  /* Lightness, chroma, hue: neighbours in the list differ in hue and in lightness. */
  static const float rows[][3] = {
      {0.60f, 0.13f, 250}, {0.74f, 0.14f, 65},  {0.62f, 0.13f, 150}, {0.62f, 0.17f, 25},
      {0.62f, 0.14f, 305}, {0.80f, 0.12f, 200}, {0.55f, 0.07f, 50},  {0.76f, 0.12f, 350},
      {0.84f, 0.15f, 100}, {0.48f, 0.12f, 275}, {0.52f, 0.10f, 130}, {0.68f, 0.02f, 250},
  };
  const float *c = rows[row % (sizeof rows / sizeof *rows)];
  return from_oklch(c[0], c[1], c[2]);
}

rgb colour_of_angle(float angle, float strength) {
  /* HSV: red to the right, then yellow, green, cyan, blue, magenta. */
  const float h = 6 * (angle / (2 * PI) - floorf(angle / (2 * PI)));
  const float s = 0.88f * cut(strength), value = 0.9f;
  const float r = cut(fabsf(h - 3) - 1), g = cut(2 - fabsf(h - 2)), b = cut(2 - fabsf(h - 4));
  const float srgb[3] = {value * (1 - s + s * r), value * (1 - s + s * g), value * (1 - s + s * b)};
  float linear[3];
  for (int k = 0; k < 3; ++k)
    linear[k] = powf(srgb[k], 2.2f);
  return (rgb){linear[0], linear[1], linear[2]};
}

unsigned char colour_byte(float linear) {
  const float x = cut(linear);
  const float coded = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
  return (unsigned char)(255 * coded + 0.5f);
}
