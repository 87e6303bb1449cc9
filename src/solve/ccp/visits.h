/* Loops over packs of rows, eight rows at a time or as many as the machine has: written once
 * (sweep_lanes.h, lift_lanes.h, roll_lanes.h, step_lanes.h, load_lanes.h, refresh_lanes.h),
 * compiled for each instruction set (visits_*.c). The bits are those of the scalar code (rows.h:
 * tl_ccp_..._scalar, tl_ccp_fill_packs). */
#ifndef TL_SOLVE_CCP_VISITS_H
#define TL_SOLVE_CCP_VISITS_H

#include "base/isa.h"
#include "solve/ccp/rows.h"

struct tl_ccp;
struct tl_ccp_raw;
struct tl_ccp_step_def;
struct tl_system;

typedef struct tl_ccp_visits {
  /* These have the meaning of the functions of rows.h with the same names. */
  double (*warm)(const tl_ccp_rows *rows, size_t begin, size_t end, talus_real share);
  double (*sweep)(const tl_ccp_rows *rows, size_t begin, size_t end);
  double (*residual)(const tl_ccp_rows *rows, size_t begin, size_t end, double *most);
  void (*tally_residuals)(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum,
                          double *most);
  void (*tally_work)(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum);
  void (*tally_biases)(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum);
  void (*tally_numbers)(const double *numbers, size_t eights, tl_tally *sum);
  void (*aim)(const tl_ccp_rows *rows, const tl_ccp_aim *aim, size_t begin, size_t end,
              uint8_t *deep);
  double (*lift)(const tl_ccp_rows *rows, size_t begin, size_t end);
  double (*lift_residual)(const tl_ccp_rows *rows, size_t begin, size_t end);
  double (*sweep_on)(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta, size_t begin,
                     size_t end, double *pull);
  /* tl_ccp_step_packs of gradient.h. */
  void (*step)(const tl_ccp_rows *rows, const struct tl_ccp_step_def *def, size_t begin, size_t end,
               tl_tally *sums);
  /* Makes rows of packs from the data that load.c gathered. */
  void (*finish)(const struct tl_system *system, const struct tl_ccp_raw *raws, tl_ccp_pack *packs,
                 size_t count);
  /* tl_ccp_fill_packs in lanes, if scene and impacts allow it. NULL: not with this instruction set
   * or precision. */
  void (*fill)(const struct tl_ccp *job, size_t begin, size_t end);
  /* Packs that a plan keeps (refresh.h); NULL: not here. */
  void (*refresh)(const struct tl_ccp *job, size_t begin, size_t end);
} tl_ccp_visits;

extern const tl_ccp_visits tl_ccp_visits_generic, tl_ccp_visits_avx2, tl_ccp_visits_avx512;

static inline const tl_ccp_visits *tl_ccp_visits_of(tl_isa isa) {
  static const tl_ccp_visits *const all[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = &tl_ccp_visits_generic,
                                                         [TL_ISA_AVX2] = &tl_ccp_visits_avx2,
                                                         [TL_ISA_AVX512] = &tl_ccp_visits_avx512};
  return all[isa];
}

/* The table for the instruction set of this run. */
static inline const tl_ccp_visits *tl_ccp_visits_now(void) {
  return tl_ccp_visits_of(tl_isa_now());
}

#endif
