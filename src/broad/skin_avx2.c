/* The loops of the skin, compiled for AVX2 (CMakeLists.txt). */
#include "broad/skin_loops.h"

const tl_skin_lanes tl_skin_avx2 = {count_steady, mark, list_open, put};
