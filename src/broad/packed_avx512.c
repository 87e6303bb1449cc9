/* Packed bins, compiled for AVX-512 (CMakeLists.txt). */
#include "broad/packed_loops.h"

const tl_packed_loops tl_packed_avx512 = {count, spread, search};
