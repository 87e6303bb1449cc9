/* Pairs of spheres over lanes, compiled for AVX-512 (CMakeLists.txt). */
#include "narrow/spheres_loops.h"

const tl_sphere_loops tl_spheres_avx512 = {meet, write};
