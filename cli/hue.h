/* Directions as colours that can be read back: HSV with full value, as published by Bell.
 *
 * An angle in a plane is a hue with full saturation: one byte of three is 255, one is 0, and the
 * third resolves 1/255 of 60 degrees, so a picture determines the angle to 0.12 degrees. For a
 * direction in space the hue is the azimuth and the saturation the polar angle over pi. */
#ifndef CLI_HUE_H
#define CLI_HUE_H

#include <stdbool.h>

/* rad; 0 is red, then yellow, green, cyan, blue, magenta. saturation: 0 ... 1. */
void hue_bytes(double angle, double saturation, unsigned char rgb[3]);

/* True if the pixel is such a colour with full saturation; *angle in [0, 2 pi). */
bool hue_read(const unsigned char rgb[3], double *angle);

#endif
