/* Pairs of spheres over lanes, compiled for AVX2 (CMakeLists.txt). */
#include "narrow/spheres_loops.h"

const tl_sphere_loops tl_spheres_avx2 = {meet, write};
