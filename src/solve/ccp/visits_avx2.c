/* Loops over packs of rows, compiled for AVX2 (CMakeLists.txt). */
#include "solve/ccp/visits.h"

#include "solve/ccp/lift_lanes.h"
#include "solve/ccp/load_lanes.h"
#include "solve/ccp/refresh_lanes.h"
#include "solve/ccp/step_lanes.h"
#include "solve/ccp/sweep_lanes.h"

const tl_ccp_visits tl_ccp_visits_avx2 = {
    warm_packs,   sweep_packs,   residual_packs, tally_residuals, tally_work,
    tally_biases, tally_numbers, aim_packs,      lift_packs,      lift_residual,
    sweep_on,     step_packs,    finish_packs,   fill_packs,      refresh_packs};
