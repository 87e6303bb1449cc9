/* Gears as they are drawn: a body of kind cylinder that a joint of kind gear turns has teeth. They
 * are for the eye alone; the joint does what teeth do. */
#ifndef CLI_RENDER_GEARS_H
#define CLI_RENDER_GEARS_H

#include "cli.h"

typedef struct render_gear {
  uint64_t uid;
  int teeth;
  double phase; /* rad: where one tooth is, about the body's own z */
} render_gear;

#define RENDER_GEARS 256 /* more are drawn as plain discs */

/* Fills in up to RENDER_GEARS of them; returns how many. Wheels of one world have teeth of one
 * size, and those of two that touch mesh, at all times where the ratio is that of their radii. */
size_t render_gears_find(const talus_world *world, render_gear *gears);
const render_gear *render_gears_of(const render_gear *gears, size_t n, uint64_t uid);

#endif
