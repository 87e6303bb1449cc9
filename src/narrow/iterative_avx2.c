/* Pairs of triangles by iteration, compiled for AVX2 (CMakeLists.txt). */
#include "narrow/iterative_loops.h"

const tl_iterative_loops tl_iterative_avx2 = LOOPS;
