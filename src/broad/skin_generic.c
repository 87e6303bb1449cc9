/* The loops of the skin, compiled for what every processor of the kind has (CMakeLists.txt). */
#include "broad/skin_loops.h"

const tl_skin_lanes tl_skin_generic = {count_steady, mark, list_open, put};
