/* Pairs of triangles over lanes, compiled for AVX-512 (CMakeLists.txt). */
#include "narrow/triangles_loops.h"

const tl_triangle_loops tl_triangle_avx512 = {screen,       shadow_pairs, shadow_leaves,
                                              screen_pairs, compare,      near_children};
