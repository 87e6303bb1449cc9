/* Pairs of spheres over lanes, compiled for what every processor of the kind has (CMakeLists.txt).
 */
#include "narrow/spheres_loops.h"

const tl_sphere_loops tl_spheres_generic = {meet, write};
