/* Packed bins, compiled for AVX2 (CMakeLists.txt). */
#include "broad/packed_loops.h"

const tl_packed_loops tl_packed_avx2 = {count, spread, search};
