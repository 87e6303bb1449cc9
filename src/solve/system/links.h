/* Joints within a system: rows of their own beside those of contacts (joint/link.h).
 *
 *   links.c       from joints to links and back
 *   link_sweep.c  Gauss-Seidel over links, by a team
 *   drift.c       warm start, and what of it must not be carried over
 *
 * A solver lists the joints that have work to do, loads them all, cuts them into parts that share
 * no movable body (or makes one part of all), and plans each part. */
#ifndef TL_SOLVE_SYSTEM_LINKS_H
#define TL_SOLVE_SYSTEM_LINKS_H

#include "joint/link.h"
#include "solve/system/system.h"

typedef struct tl_link_sums {
  double change, recovered; /* sums of squares in velocity units */
  double most;
} tl_link_sums;

/* The links of a part, divided into blocks. */
typedef struct tl_link_plan {
  size_t blocks; /* 1: one worker visits all links */
  /* by link: it has a body of another block and is visited later; NULL: one block */
  uint8_t *waits;
  uint32_t *waiting; /* indices of those links */
  size_t waiting_count;
  tl_link_sums *sums; /* by block, and one for their total */
  double *residual;   /* by link: squares, for the tally */
  bool has_laws;      /* some link has a law */
  bool is_recovered;  /* the drift is found to rounding */
  double drifted;     /* `recovered` of the first sweep */
} tl_link_plan;

/* All links, or those of a part. */
typedef struct tl_links {
  const tl_system *system;
  tl_ccp_body *bodies; /* bodies that visits change: the system's, or a part's own */
  tl_ccp_tensor *tensors;
  uint32_t *joint; /* by link: its row of the table */
  tl_link *data;
  size_t count, rows;
  size_t first;           /* index of the part's first link among all links */
  tl_link_system *direct; /* of a part; NULL: link by link */
  tl_link_plan *plan;     /* of a part */
  /* bodies with the velocities of `recovery` of link rows; NULL: it is not found */
  tl_ccp_body *recovering;
  uint8_t *held; /* by solver body: movable and held by a link; NULL: no links, or no warm start */
} tl_links;

/* ---- from joints to links and back (links.c) ------------------------------------------------- */

/* Lists the joints that have work to do (links->joint, in the order of the table) and the pairs of
 * slots that they join. */
talus_status tl_links_list(tl_links *links, const tl_system *system, tl_pairs *pairs);

/* Loads the rows of these joints, in the order of links->joint; bodies must be loaded. */
talus_status tl_links_load(tl_links *links);

/* Makes a part of the loaded links first ... first + count - 1. */
tl_links tl_links_cut(const tl_links *all, size_t first, size_t count);

/* Divides a part into blocks, and counts its rows. owner: scratch, by body. */
talus_status tl_links_plan(tl_links *part, uint32_t *owner);

/* Factors the hard rows of a part at once if the method is direct. First, once for all parts: which
 * links touch which body; then part by part. */
bool tl_links_are_direct(const tl_links *all);
talus_status tl_links_make_graph(const tl_links *all, tl_link_graph *graph);
talus_status tl_links_factor(const tl_links *all, const tl_link_graph *graph, tl_links *part);

/* Aims a link: its rows will hold at the poses to which the velocities of `bodies`, a guess of the
 * final ones, lead. */
void tl_links_aim_one(const tl_links *links, size_t link, const tl_ccp_body *bodies);
void tl_links_aim(const tl_links *links, const tl_par *par, const tl_ccp_body *bodies);

/* Adds the part of the objective that belongs to links to sum. */
void tl_links_objective(const tl_links *links, tl_tally *sum);

/* J: the work of links between t0 and t1. */
double tl_links_work(const tl_links *links);

/* Makes links that hold while bodies are shifted; their hard rows demand no motion. */
talus_status tl_links_hold_still(const tl_links *from, tl_ccp_body *bodies, tl_links *to);

/* Writes impulses and reactions into the table of joints. */
void tl_links_store(const tl_links *links);

/* ---- warm start (drift.c) -------------------------------------------------------------------- */

/* Takes memory for `recovering` and `held` of all links, before they are cut into parts. */
talus_status tl_links_warm(tl_links *all);

/* Makes a part start with a share of its last impulses; drift is then not recovered. */
void tl_links_ease(tl_links *part);

/* True if a contact of solver bodies a and b must start with the same share. */
bool tl_links_touch(const tl_links *links, uint32_t a, uint32_t b);
talus_vec3 tl_links_ease_push(const tl_links *links, uint32_t a, uint32_t b, talus_vec3 impulse);

/* Finds the part of the impulses that corrects drift and must not be carried over. Sweeps of single
 * links have found it already. */
void tl_links_recover(const tl_links *links);

/* ---- Gauss-Seidel (link_sweep.c): called by all workers of a team ---------------------------- */

#define TL_TEAM_LINKS 4096 /* least number of links that are cut into blocks, for a team */
#define TL_LINK_BLOCK 1024

/* True if all workers visit the links together. */
static inline bool tl_links_are_shared(const tl_links *links) {
  return links->plan && links->plan->blocks > 1;
}

/* Applies the starting impulses of links, and aims the links with the velocities that result. */
void tl_links_team_start(const tl_links *links, tl_team *team, int worker, int workers);
void tl_links_team_aim(const tl_links *links, tl_team *team, int worker, int workers);

/* Visits every link once; returns the sum of squared changes in velocity units. */
double tl_links_team_sweep(const tl_links *links, tl_team *team, int worker, int workers, int turn);

/* Sum of squared residuals of the links' own impulses; *most is raised to the largest. */
double tl_links_team_measure(const tl_links *links, tl_team *team, int worker, int workers,
                             double *most);

#endif
