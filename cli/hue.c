#include "hue.h"

#include <math.h>

#define PI 3.14159265358979323846

static double cut(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

void hue_bytes(double angle, double saturation, unsigned char rgb[3]) {
  const double turn = angle / (2 * PI), h = 6 * (turn - floor(turn)), s = cut(saturation);
  const double pure[3] = {cut(fabs(h - 3) - 1), cut(2 - fabs(h - 2)), cut(2 - fabs(h - 4))};
  for (int k = 0; k < 3; ++k)
    rgb[k] = (unsigned char)lround(255 * (1 - s + s * pure[k]));
}

bool hue_read(const unsigned char rgb[3], double *angle) {
  const int r = rgb[0], g = rgb[1], b = rgb[2];
  const int most = r > g ? (r > b ? r : b) : (g > b ? g : b);
  const int least = r < g ? (r < b ? r : b) : (g < b ? g : b);
  if (most != 255 || least != 0)
    return false;
  double sixth = r == 255 ? (g - b) / 255.0 : g == 255 ? 2 + (b - r) / 255.0 : 4 + (r - g) / 255.0;
  if (sixth < 0)
    sixth += 6;
  *angle = sixth * PI / 3;
  return true;
}
