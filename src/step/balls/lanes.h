/* Vectors of eight balls or contacts, for the files that are compiled for AVX-512. */
#ifndef TL_STEP_BALLS_LANES_H
#define TL_STEP_BALLS_LANES_H

#include "base/simd.h"
#include "kernels/real.h"
#include "step/balls/forces.h"

_Static_assert(W == TL_BALL_LANES && WIDE == W, "a group of balls is a vector");

INLINE wide widen(lanes x) { return __builtin_convertvector(x, wide); }

#endif
