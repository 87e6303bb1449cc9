/* Pairs of triangles by iteration, compiled for any machine (CMakeLists.txt). */
#include "narrow/iterative_loops.h"

const tl_iterative_loops tl_iterative_generic = LOOPS;
