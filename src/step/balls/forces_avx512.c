/* Forces of balls on springs, compiled for AVX-512 (CMakeLists.txt). */
#include "step/balls/forces_lanes.h"

void tl_ball_push_block_avx512(const tl_ball_job *job, size_t block, tl_ball_sums *sums) {
  push_lanes(job, block, sums);
}
