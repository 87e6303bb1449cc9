/* Averages over lanes, compiled for AVX-512 (CMakeLists.txt). */
#include "flow/average_lanes.h"

const tl_average_loops tl_average_avx512 = {add_rings, add_boxes};
