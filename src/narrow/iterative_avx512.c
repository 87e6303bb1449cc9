/* Pairs of triangles by iteration, compiled for AVX-512 (CMakeLists.txt). */
#include "narrow/iterative_loops.h"

const tl_iterative_loops tl_iterative_avx512 = LOOPS;
