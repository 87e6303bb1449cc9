/* Gears in pictures: a cylinder that a joint of kind gear turns gets teeth. They are only drawn;
 * the joint does the work of teeth. */
#ifndef CLI_RENDER_GEARS_H
#define CLI_RENDER_GEARS_H

#include "cli.h"

typedef struct render_gear {
  uint64_t uid;
  int teeth;
  double phase; /* rad: angle of one tooth about the body's own z */
} render_gear;

#define RENDER_GEARS 256 /* more are drawn as plain discs */

/* Fills up to RENDER_GEARS gears; returns their number. Wheels of one world have teeth of one
 * size, and those of touching wheels mesh at all times if the ratio of the joint is that of
 * their radii. */
size_t render_gears_find(const talus_world *world, render_gear *gears);
const render_gear *render_gears_of(const render_gear *gears, size_t n, uint64_t uid);

#endif
