/* The part of the skin's check that is done with AVX-512, where the processor has it. */
#ifndef TL_BROAD_SKIN_H
#define TL_BROAD_SKIN_H

#include "kernels/aabb.h"

bool tl_skin_has_avx512(void);

/* How many boxes from the first on are steady for sure: between the sides they were found with and
 * the same moved inwards by the skin. The rest is for the caller to look at. */
size_t tl_skin_count_steady(const talus_box *boxes, const talus_box *grown, size_t count,
                            double skin);

#endif
