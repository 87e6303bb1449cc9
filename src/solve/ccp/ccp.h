/* The data of the cone complementarity solver, shared by its files. The problem is the system
 * (solve/system/system.h); rows.h has rows of contacts and their visits; a part is solved
 * separately.
 *
 *   ccp.c        the sequence of a solve, and results
 *   parts.c      islands: solved separately, and their results combined
 *   bundles.c    packs and blocks of a part
 *   renumber.c   bodies of a part, numbered anew for gradient methods
 *   load.c       rows from contacts; load_lanes.h makes several at a time
 *   refresh.h    the same between substeps, in place
 *   links.c      joints of the parts
 *   seidel.c     Gauss-Seidel: sweeps over colours
 *   momentum.c   what makes sweeps converge on stacks
 *   gradient.h   Jacobi, APGD and BB
 *   correct.c    position correction: removes overlap; lift.c its visits among spheres
 *   converge.c   which islands are far from their solution */
#ifndef TL_SOLVE_CCP_H
#define TL_SOLVE_CCP_H

#include "solve/ccp/rows.h"
#include "solve/system/links.h"

#define TL_CCP_BLOCK_PACKS 32

/* A part with fewer rows is solved by one thread: its sweeps are shorter than the barriers between
 * colours. */
#define TL_CCP_TEAM_ROWS 4096

/* A large island, or all islands together, and the state of its iteration. */
typedef struct tl_ccp_part {
  const tl_system *system;
  tl_par par; /* threads of the loops of gradient methods */
  tl_ccp_rows rows;
  tl_links links;
  size_t first_pack;      /* index among all packs */
  tl_colours colours;     /* each with its layers (bundles.c) */
  uint32_t *colour_block; /* first block of each colour, and one more */
  uint32_t *block_pack;   /* first pack of each block, and one more */
  size_t block_count;
  double *block_sum, *block_max;
  uint8_t *seen;                    /* by solver body; scratch of tl_ccp_take_momentum */
  struct tl_ccp_momentum *momentum; /* NULL: none */
  uint32_t *moved; /* solver bodies that contacts of the part can move, where a plan lists them; */
  size_t moved_count;
  bool has_bundles; /* many pairs have several contacts; set by a plan */
  size_t link_at;   /* gradient methods: index in a field at which impulses of links begin */
  /* this solve corrects positions, not velocities: links are not aimed, nothing is reported */
  bool correcting;
  bool lifting; /* correcting, by lengths along the normals (lift.c) */
  double rms;   /* correcting: m/s, RMS residual that the velocity solve left */
  tl_solve_report *report;
} tl_ccp_part;

/* All data of a solve. Rows of small islands come first: island i has rows small_start[i] ...
 * small_start[i + 1] - 1, in packs shared with its neighbours. Behind them each part has packs,
 * colours and blocks of its own. */
typedef struct tl_ccp {
  tl_system *system;
  tl_ccp_rows rows;
  tl_links links;
  tl_ccp_part *parts;
  size_t part_count;
  uint32_t *small_start; /* small_count + 1 */
  size_t small_count;
  float *small_rms;    /* m/s: final RMS residual of each small island */
  const uint8_t *deep; /* correcting: by row, TL_CCP_DEEP, TL_CCP_SINKING; NULL: not correcting */
  struct tl_ccp_kept *kept; /* rows from substep to substep (refresh.h); NULL: made anew */
} tl_ccp;

/* Number of rows over which residuals are averaged. */
static inline double tl_ccp_rows_of(const tl_ccp_rows *rows, const tl_links *links) {
  return (double)(rows->count + links->rows);
}

/* True if all workers solve the part (contacts or joints) together. */
static inline bool tl_ccp_is_shared(const tl_ccp_part *part) {
  return part->rows.count >= TL_CCP_TEAM_ROWS || tl_links_are_shared(&part->links);
}

/* ---- planning and loading (parts.c, load.c, links.c) ----------------------------------------- */

/* Cuts contacts and links into islands, colours the contacts, and assigns rows to them. pairs:
 * slots that joints hold together, or NULL: no links. links.joint is sorted by part. room:
 * room_bytes of memory that planning may use, or NULL. */
talus_status tl_ccp_plan_parts(tl_ccp *job, const tl_pairs *pairs, void *room, size_t room_bytes);

/* Cuts a part whose contacts are coloured into packs, blocks and colours; its rows begin at
 * first_row. The second function returns an upper bound of the number of packs (bundles.c). */
talus_status tl_ccp_cut_part(tl_ccp *job, tl_ccp_part *part, uint32_t first_row);
size_t tl_ccp_most_packs(const tl_ccp_part *part);

/* Fills the planned packs. */
talus_status tl_ccp_load_rows(tl_ccp *job);

/* Fills the rows of packs [begin, end) one by one; works for every scene. visits.h has a version in
 * lanes with the same bits, for scenes in which every body is isotropic and there are neither
 * periods nor cohesion. */
void tl_ccp_fill_packs(const tl_ccp *job, size_t begin, size_t end);
void tl_ccp_fill_packs_fast(const tl_ccp *job, size_t begin, size_t end);

/* Data of contacts and bodies that a pack needs but does not store. */
typedef struct tl_ccp_raw {
  tl_ccp_lanes arm_a, arm_b;
  talus_real inv_mass_a[TL_CCP_LANES], inv_mass_b[TL_CCP_LANES];
  talus_real inv_inertia_a[TL_CCP_LANES], inv_inertia_b[TL_CCP_LANES];
  talus_real gap[TL_CCP_LANES], friction[TL_CCP_LANES];
} tl_ccp_raw;

/* Fills rolls from packs and contacts (rolling.c). */
void tl_ccp_load_rolls(tl_ccp *job);

/* Loads the links of all parts, after the rows: plans them, and factors them if the method is
 * direct. With a warm start it also reduces the starting impulses that would make joints, or
 * contacts with jointed bodies, unstable. */
talus_status tl_ccp_load_links(tl_ccp *job);

/* ---- solving (parts.c, seidel.c) ------------------------------------------------------------- */

/* Solves every part and every small island to its tolerance, and combines the reports. */
talus_status tl_ccp_solve_parts(tl_ccp *job);

/* The methods. Packs hold the starting impulses before and the solution after; bodies hold its
 * velocities; the report is filled. */
talus_status tl_ccp_take_sums(tl_ccp_part *part); /* before tl_ccp_gauss_seidel */
void tl_ccp_gauss_seidel(tl_ccp_part *part);      /* by a team if the part is large */
talus_status tl_ccp_gradient(tl_ccp_part *part);

/* Applies the impulses (and torques) in the packs of a part to its bodies, colour by colour. */
void tl_ccp_push_all(const tl_ccp_part *part);

/* Copies the bodies of the part's rows and links into memory of its own, numbered from 0, and
 * copies them back (renumber.c). */
typedef struct tl_ccp_numbering {
  uint32_t *number; /* by body of all: its number in the part; TL_NONE between parts */
  uint32_t *whole;  /* by body of the part: its number among all */
  uint32_t count;
} tl_ccp_numbering;
talus_status tl_ccp_take_bodies(const tl_ccp *job, tl_ccp_part *part, tl_ccp_numbering *to);
void tl_ccp_give_back(const tl_ccp *job, tl_ccp_part *part, tl_ccp_numbering *from);

/* Finds velocities that, in addition to those of the solution, remove overlap in this step, and
 * writes them into `shifts`, which has the layout of the bodies. *corrected: whether any body is
 * shifted. Packs are overwritten: impulses were stored before. The work of lifting bodies is added
 * to the report's contact work. */
talus_status tl_ccp_correct(tl_ccp *job, tl_ccp_body *shifts, bool *corrected);

/* Counts in the report the islands that are far from their solution (converge.c). */
void tl_ccp_note_islands(const tl_ccp *job);

/* ---- momentum of sweeps (momentum.c) --------------------------------------------------------- */

/* State of an island's momentum; every worker has the same numbers. */
typedef struct tl_ccp_pace {
  double theta;  /* Nesterov's sequence; 1: no momentum */
  double change; /* of the last sweep; < 0: there was none */
  /* factor of the extrapolation before the next sweep, relative to the last change; < 0: there was
   * no sweep before */
  talus_real beta;
} tl_ccp_pace;
#define TL_CCP_AT_REST ((tl_ccp_pace){1, -1, -1})

/* Whether many rows of the part are of pairs that have several. */
bool tl_ccp_has_bundles(const tl_ccp_part *part);

/* Decides whether the part uses momentum, and takes memory for it. Packs must be filled. */
talus_status tl_ccp_take_momentum(tl_ccp_part *part);

/* Index of the sweep at which momentum begins. */
int tl_ccp_patience(const tl_ccp_part *part);

/* tl_ccp_set_off is called before that sweep; the other after it and after every later sweep but
 * the last. `change` is the change of the sweep just done (tl_ccp_sweep_block). */
void tl_ccp_set_off(const tl_ccp_part *part, tl_team *team, int worker, int workers,
                    tl_ccp_pace *pace);
double tl_ccp_sweep_block(const tl_ccp_part *part, size_t block, bool serial, talus_real beta);
void tl_ccp_move_on(const tl_ccp_part *part, tl_team *team, int worker, int workers, double change,
                    tl_ccp_pace *pace);

/* The same for a small island: rows [begin, end), at most TL_CCP_SMALL; tl_ccp_set_off_small
 * returns its patience. */
#define TL_CCP_SMALL 16
typedef struct tl_ccp_small_momentum {
  tl_ccp_pace pace;
  tl_ccp_course course[TL_CCP_SMALL], turning[TL_CCP_SMALL];
  uint32_t body[2 * TL_CCP_SMALL];
  tl_twist last[2 * TL_CCP_SMALL];
  uint32_t bodies; /* 0: no momentum */
} tl_ccp_small_momentum;
int tl_ccp_set_off_small(const tl_ccp *job, uint32_t begin, uint32_t end,
                         tl_ccp_small_momentum *momentum);
void tl_ccp_move_on_small(const tl_ccp *job, uint32_t begin, uint32_t end, double change,
                          tl_ccp_small_momentum *momentum);

#endif
