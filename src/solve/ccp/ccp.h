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

/* Parts with fewer rows are solved by one thread each: not worth the barriers between colours. */
#define TL_CCP_TEAM_ROWS 4096

/* A large island, or everything, and the state of its iteration. */
typedef struct tl_ccp_part {
  const tl_system *system;
  tl_par par; /* that gradient methods loop with */
  tl_ccp_rows rows;
  tl_links links;
  size_t first_pack;      /* within all packs */
  tl_colours colours;     /* each with its layers (bundles.c) */
  uint32_t *colour_block; /* first block of each colour, and one more */
  uint32_t *block_pack;   /* first pack of each block, and one more */
  size_t block_count;
  double *block_sum, *block_max;
  uint8_t *seen;                    /* by solver body, for tl_ccp_take_momentum */
  struct tl_ccp_momentum *momentum; /* NULL: none */
  uint32_t *moved; /* solver bodies that contacts of the part can move, where a plan lists them; */
  size_t moved_count;
  bool has_bundles; /* many pairs have several contacts: found then as well */
  size_t link_at;   /* gradient methods: entry of a field at which impulses of links begin */
  bool correcting;  /* positions, not velocities: no aiming of links, no report */
  bool lifting;     /* correcting, by lengths along the normals (lift.c) */
  double rms;       /* correcting: m/s, what velocities were left with */
  tl_solve_report *report;
} tl_ccp_part;

/* All of it. Rows of small islands come first: rows small_start[i] ... of the packs are island i's,
 * one after the other. Parts have packs, colours and blocks of their own behind them. */
typedef struct tl_ccp {
  tl_system *system;
  tl_ccp_rows rows;
  tl_links links;
  tl_ccp_part *parts;
  size_t part_count;
  uint32_t *small_start; /* small_count + 1 */
  size_t small_count;
  float *small_rms;    /* m/s: of each, at the end */
  const uint8_t *deep; /* correcting: by row, TL_CCP_DEEP, TL_CCP_SINKING; NULL: not correcting */
  struct tl_ccp_kept *kept; /* rows from substep to substep (refresh.h); NULL: made anew */
} tl_ccp;

/* Rows that residuals are averaged over. */
static inline double tl_ccp_rows_of(const tl_ccp_rows *rows, const tl_links *links) {
  return (double)(rows->count + links->rows);
}

/* Whether the workers share a part, contacts or joints. */
static inline bool tl_ccp_is_shared(const tl_ccp_part *part) {
  return part->rows.count >= TL_CCP_TEAM_ROWS || tl_links_are_shared(&part->links);
}

/* ---- planning and loading (parts.c, load.c, links.c) ----------------------------------------- */

/* Cuts contacts and links (slots that joints hold together; links.joint is put into the order of
 * the parts) into islands, colours the contacts, and says where their rows go. pairs may be NULL:
 * no links. room: of room_bytes, that planning may use; or NULL. */
talus_status tl_ccp_plan_parts(tl_ccp *job, const tl_pairs *pairs, void *room, size_t room_bytes);

/* Packs, blocks and colours of a part, whose contacts are coloured; its rows begin at first_row;
 * and how many packs there are at most (bundles.c). */
talus_status tl_ccp_cut_part(tl_ccp *job, tl_ccp_part *part, uint32_t first_row);
size_t tl_ccp_most_packs(const tl_ccp_part *part);

/* Fills the packs that were planned. */
talus_status tl_ccp_load_rows(tl_ccp *job);

/* Rows of packs [begin, end) one by one, which does for all; and in lanes (visits.h), the same
 * bits, where every body is isotropic and there are neither periods nor cohesion. */
void tl_ccp_fill_packs(const tl_ccp *job, size_t begin, size_t end);
void tl_ccp_fill_packs_fast(const tl_ccp *job, size_t begin, size_t end);

/* What is gathered of contacts and bodies for a pack, beside what goes right into it. */
typedef struct tl_ccp_raw {
  tl_ccp_lanes arm_a, arm_b;
  talus_real inv_mass_a[TL_CCP_LANES], inv_mass_b[TL_CCP_LANES];
  talus_real inv_inertia_a[TL_CCP_LANES], inv_inertia_b[TL_CCP_LANES];
  talus_real gap[TL_CCP_LANES], friction[TL_CCP_LANES];
} tl_ccp_raw;

/* Fills rolls from packs and contacts (rolling.c). */
void tl_ccp_load_rolls(tl_ccp *job);

/* Links of all parts, after the rows: planned, and factored at once where asked for; with a warm
 * start, what would make it unstable taken from joints, and from contacts with their bodies. */
talus_status tl_ccp_load_links(tl_ccp *job);

/* ---- solving (parts.c, seidel.c) ------------------------------------------------------------- */

/* Solves every part and every small island to the tolerance, and puts the reports together. */
talus_status tl_ccp_solve_parts(tl_ccp *job);

/* The methods: from packs with the impulses to start from, to packs with the solution, bodies with
 * its velocities, and the report. */
talus_status tl_ccp_take_sums(tl_ccp_part *part); /* before tl_ccp_gauss_seidel */
void tl_ccp_gauss_seidel(tl_ccp_part *part);      /* with a team where the part is large */
talus_status tl_ccp_gradient(tl_ccp_part *part);

/* Applies the impulses (and torques) in the packs of a part to its bodies, colour by colour. */
void tl_ccp_push_all(const tl_ccp_part *part);

/* Bodies of the part's rows and links, numbered from 0, copied into room of its own; and back
 * (renumber.c). */
typedef struct tl_ccp_numbering {
  uint32_t *number; /* by body of the whole: of the part; TL_NONE throughout between parts */
  uint32_t *whole;  /* the way back */
  uint32_t count;
} tl_ccp_numbering;
talus_status tl_ccp_take_bodies(const tl_ccp *job, tl_ccp_part *part, tl_ccp_numbering *to);
void tl_ccp_give_back(const tl_ccp *job, tl_ccp_part *part, tl_ccp_numbering *from);

/* Velocities, beside those of the solution, that take overlap out of positions in this step, into
 * `shifts`, which has the layout of the bodies; *corrected: whether there are any. Packs are used
 * up: impulses are stored before. The report's contact work learns of what was lifted. */
talus_status tl_ccp_correct(tl_ccp *job, tl_ccp_body *shifts, bool *corrected);

/* Tells in the report which islands are far from their solution (converge.c). */
void tl_ccp_note_islands(const tl_ccp *job);

/* ---- momentum of sweeps (momentum.c) --------------------------------------------------------- */

/* How fast an island goes: the same numbers on every worker. */
typedef struct tl_ccp_pace {
  double theta;    /* Nesterov's sequence; 1: no momentum */
  double change;   /* of the last sweep; < 0: there was none */
  talus_real beta; /* how far the next sweep goes on, in ways of the last; < 0: there was none */
} tl_ccp_pace;
#define TL_CCP_AT_REST ((tl_ccp_pace){1, -1, -1})

/* Whether many rows of the part are of pairs that have several. */
bool tl_ccp_has_bundles(const tl_ccp_part *part);

/* Finds whether the part wants momentum, and takes memory for it; packs are filled. */
talus_status tl_ccp_take_momentum(tl_ccp_part *part);

/* The sweep that momentum begins with. */
int tl_ccp_patience(const tl_ccp_part *part);

/* Before that sweep, and after it and those that follow but the last: `change` is that sweep's.
 * The sweeps are those of tl_ccp_sweep_block. */
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
