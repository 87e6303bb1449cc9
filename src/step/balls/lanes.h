/* Vectors of eight balls or contacts, for the files that are compiled for AVX-512. */
#ifndef TL_STEP_BALLS_LANES_H
#define TL_STEP_BALLS_LANES_H

#include "solve/lanes.h"
#include "step/balls/forces.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

_Static_assert(W == TL_BALL_LANES, "a group of balls is a vector");

#endif
#endif
