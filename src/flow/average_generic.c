/* Averages over lanes, compiled for what every processor of the kind has (CMakeLists.txt). */
#include "flow/average_lanes.h"

const tl_average_loops tl_average_generic = {add_rings, add_boxes};
