/* Pairs of ellipsoids over lanes, compiled for AVX2 (CMakeLists.txt). */
#include "narrow/ellipsoid_loops.h"

const tl_ell_loops tl_ell_avx2 = {run_batch, double_run, float_run};
