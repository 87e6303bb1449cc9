/* Flat maps: a plane of two axes, a slab across it, and their place on a picture or a grid.
 *
 * For `yz`, z points to the right and y up, as in the published pictures of the nozzle; for `xy`
 * and `xz`, x points to the right. Angles in the plane are counter-clockwise from the right. */
#ifndef CLI_FLAT_H
#define CLI_FLAT_H

#include <stdbool.h>
#include <stddef.h>

#include "frame_read.h"

typedef struct flat_plane {
  int right, up, across; /* axes: 0, 1, 2 */
  double toward;         /* 1 or -1: side along `across` from which the plane is seen */
  bool has_slab, has_bounds;
  double slab[2];   /* m: of centres along `across` */
  double bounds[4]; /* m: left, right, bottom, top */
} flat_plane;

/* Reads "yz", "0:1", "0:65,-11:11" (to the right, up); false if it is something else. */
bool flat_read_plane(const char *text, flat_plane *plane);
bool flat_read_range(const char *text, double range[2]);
bool flat_read_bounds(const char *text, flat_plane *plane);
/* Texts for their messages. */
extern const char flat_plane_wanted[], flat_slab_wanted[], flat_bounds_wanted[];

/* True for a body that is not a plane, container or wall and has its centre in the slab. */
bool flat_is_body(const flat_plane *plane, const frame *bodies, size_t i);

/* Angle of a velocity in the plane [rad], in [0, 2 pi). */
double flat_angle(double right, double up);

#endif
