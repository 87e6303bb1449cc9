/* Vectors of eight balls or contacts, for the files that are compiled for AVX-512. */
#ifndef TL_SOLVE_PENALTY_LANES_H
#define TL_SOLVE_PENALTY_LANES_H

#include "solve/lanes.h"
#include "solve/penalty/list.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

_Static_assert(W == TL_BALL_LANES, "a group of balls is a vector");

#endif
#endif
