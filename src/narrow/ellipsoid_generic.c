/* Pairs of ellipsoids over lanes, compiled for what every processor of the kind has
 * (CMakeLists.txt). */
#include "narrow/ellipsoid_loops.h"

const tl_ell_loops tl_ell_generic = {run_batch, double_run, float_run};
