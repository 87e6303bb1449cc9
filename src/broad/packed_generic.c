/* Packed bins, compiled for what every processor of the kind has (CMakeLists.txt). */
#include "broad/packed_loops.h"

const tl_packed_loops tl_packed_generic = {count, spread, search};
