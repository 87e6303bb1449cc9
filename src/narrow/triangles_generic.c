/* Pairs of triangles over lanes, compiled for what every processor of the kind has
 * (CMakeLists.txt). */
#include "narrow/triangles_loops.h"

const tl_triangle_loops tl_triangle_generic = {screen,       shadow_pairs, shadow_leaves,
                                               screen_pairs, compare,      near_children};
