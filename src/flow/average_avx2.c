/* Averages over lanes, compiled for AVX2 (CMakeLists.txt). */
#include "flow/average_lanes.h"

const tl_average_loops tl_average_avx2 = {add_rings, add_boxes};
