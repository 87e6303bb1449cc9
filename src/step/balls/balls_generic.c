/* Kicks, drifts and sums of balls, compiled for what every processor of the kind has
 * (CMakeLists.txt). */
#include "step/balls/balls_lanes.h"

const tl_ball_kicks tl_ball_kicks_generic = {start_eight, finish_eight};
