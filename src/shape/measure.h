/* Mass properties and bounding radii of shapes. Callers have checked the lengths. */
#ifndef TL_SHAPE_MEASURE_H
#define TL_SHAPE_MEASURE_H

#include "crowd/model.h"

/* Fills volume, gyration, radius, centre and axes from kind and size: every kind but hulls and
 * clumps. Exact up to rounding. */
void tl_measure_analytic(tl_shape *shape);

/* A body of volume V with the first moments s = integral of x and the second moments
 * m = integral of x x^T (xx, yy, zz, xy, xz, yz) about the origin. */
typedef struct tl_moments {
  double volume;
  double first[3];
  double second[6];
} tl_moments;

/* Centre, principal axes and squared radii of gyration from the moments. The axes are a proper
 * rotation, near the identity where the axes given are principal already, so that a box stays a
 * box and symmetric shapes are not turned for nothing. */
void tl_measure_moments(tl_shape *shape, const tl_moments *moments);

/* The same from an inertia tensor per mass about the centre: xx, yy, zz, xy, xz, yz. */
void tl_measure_inertia(tl_shape *shape, const double inertia[6]);

#endif
