/* Kicks, drifts and sums of balls, compiled for AVX2 (CMakeLists.txt). */
#include "step/balls/balls_lanes.h"

const tl_ball_kicks tl_ball_kicks_avx2 = {start_eight, finish_eight};
