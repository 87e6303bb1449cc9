/* Flat maps: a plane of two axes, a slab across it, and where they are on a picture or a grid.
 *
 * Of `yz` z points to the right and y up, as in the published pictures of the nozzle; of `xy` and
 * `xz` x points to the right. Angles in the plane are from the right, counter-clockwise. */
#ifndef CLI_FLAT_H
#define CLI_FLAT_H

#include <stdbool.h>
#include <stddef.h>

#include "frame_read.h"

typedef struct flat_plane {
  int right, up, across; /* axes: 0, 1, 2 */
  double toward;         /* 1 or -1: which way along `across` the one who looks stands */
  bool has_slab, has_bounds;
  double slab[2];   /* m: of centres along `across` */
  double bounds[4]; /* m: left, right, bottom, top */
} flat_plane;

/* "yz", "0:1", "0:65,-11:11" (to the right, up); false: they are something else. */
bool flat_read_plane(const char *text, flat_plane *plane);
bool flat_read_range(const char *text, double range[2]);
bool flat_read_bounds(const char *text, flat_plane *plane);
/* Texts for messages on them. */
extern const char flat_plane_wanted[], flat_slab_wanted[], flat_bounds_wanted[];

/* A body that is matter of its own and has its centre in the slab: no plane, container or wall. */
bool flat_is_body(const flat_plane *plane, const frame *bodies, size_t i);

/* Angle of a velocity in the plane [rad], in [0, 2 pi). */
double flat_angle(double right, double up);

#endif
