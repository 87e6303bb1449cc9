/* Clumps: one rigid body of spheres that may overlap. */
#ifndef TL_SHAPE_CLUMP_H
#define TL_SHAPE_CLUMP_H

#include "shape/measure.h"

/* Moments of the union of n spheres x, y, z, r about the origin: each place counts once however
 * many spheres hold it. *error is the estimated relative error (of the volume, and of second
 * moments against the largest), below 1e-9 unless the spheres are very many. */
talus_status tl_clump_moments(const double *spheres, size_t n, tl_moments *moments, double *error);

/* Fills the shape from the definition: checks, mass properties, spheres in the principal frame. */
talus_status tl_clump_make(const char *who, const talus_shape_def *def, tl_shape *shape);

#endif
