/* Pairs of ellipsoids over lanes, compiled for AVX-512 (CMakeLists.txt). */
#include "narrow/ellipsoid_loops.h"

const tl_ell_loops tl_ell_avx512 = {run_batch, double_run, float_run};
