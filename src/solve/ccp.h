/* The cone complementarity solver's own data, shared by its files.
 *
 *   ccp.c        the order of things, and results
 *   ccp_load.c   bodies and rows from the scope and the contacts
 *   ccp_sweep.c  visits of rows: packs of eight, one after the other
 *   ccp_sweep_avx512.c  the same, eight at a time
 *
 * The buffers are those of Tasora, Negrut and Anitescu 2011: bodies (4.1), contacts (rows), and no
 * reduction buffer, because rows of a colour share no body that they could both change. */
#ifndef TL_SOLVE_CCP_H
#define TL_SOLVE_CCP_H

#include "kernels/ccp.h"
#include "solve/solve.h"

#define TL_CCP_LANES       8
#define TL_CCP_BLOCK_PACKS 32

/* A vector for each of eight rows. */
typedef struct tl_ccp_lanes {
  talus_real x[TL_CCP_LANES], y[TL_CCP_LANES], z[TL_CCP_LANES];
} tl_ccp_lanes;

/* Eight rows side by side. Lanes beyond the pack's rows are empty: en = 0 and bodies that do not
 * move. */
typedef struct tl_ccp_pack {
  uint32_t a[TL_CCP_LANES], b[TL_CCP_LANES]; /* solver bodies */
  tl_ccp_lanes normal, arm_a, arm_b, impulse;
  talus_real bias[TL_CCP_LANES], friction[TL_CCP_LANES], en[TL_CCP_LANES], et[TL_CCP_LANES];
} tl_ccp_pack;

typedef struct tl_ccp {
  const tl_model *model;
  const tl_scope *scope;
  const talus_solve_def *settings;
  tl_contacts *contacts;
  const uint32_t *index_of; /* slot -> solver body; NULL: the same number */
  tl_ccp_body *bodies;      /* scope->count, and one more that is nobody's, for empty lanes */
  tl_ccp_tensor *tensors;   /* NULL: every body is isotropic */
  tl_ccp_pack *packs;
  uint32_t *pack_row; /* first row of each pack, in solving order; and one more */
  size_t pack_count, row_count;
  tl_colours colours;
  uint32_t *colour_block; /* first block of each colour, and one more */
  uint32_t *block_pack;   /* first pack of each block, and one more */
  size_t block_count;
  double *block_sum, *block_max;
  talus_real bounce_speed;
  talus_real ncp; /* 1 or 0 */
  tl_solve_report *report;
} tl_ccp;

/* Fills bodies (and tensors, where any is needed). */
talus_status tl_ccp_load_bodies(tl_ccp *job);

/* Colours the contacts and fills packs and blocks. */
talus_status tl_ccp_load_rows(tl_ccp *job);

/* Applies the impulses that packs start with. */
void tl_ccp_warm_packs(const tl_ccp *job, size_t begin, size_t end);

/* One visit of every row in packs [begin, end), which share no movable body unless `serial`: then
 * rows are visited one after the other. Returns the sum of squared changes in velocity units. */
double tl_ccp_sweep_packs(const tl_ccp *job, size_t begin, size_t end, bool serial);

/* Sum of squared residuals of the packs and their largest. */
double tl_ccp_residual_packs(const tl_ccp *job, size_t begin, size_t end, double *most);

/* The two ways of doing it, with the same bits; the calls above choose. */
double tl_ccp_sweep_packs_scalar(const tl_ccp *job, size_t begin, size_t end);
double tl_ccp_sweep_packs_avx512(const tl_ccp *job, size_t begin, size_t end);
double tl_ccp_residual_packs_scalar(const tl_ccp *job, size_t begin, size_t end, double *most);
double tl_ccp_residual_packs_avx512(const tl_ccp *job, size_t begin, size_t end, double *most);
bool tl_ccp_has_avx512(void);

/* One row of a pack: returns its squared change in velocity units. */
double tl_ccp_sweep_lane(const tl_ccp *job, tl_ccp_pack *pack, int lane);

/* Whether a row of the pack has a body that answers differently in different directions. */
bool tl_ccp_needs_tensor(const tl_ccp *job, const tl_ccp_pack *pack);

#endif
