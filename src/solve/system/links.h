/* Joints within a system: rows of their own beside those of contacts (joint/link.h).
 *
 *   links.c       from joints to links and back
 *   link_sweep.c  Gauss-Seidel over links, by a team
 *   drift.c       warm start, and what of it must not be carried over
 *
 * A solver lists the joints that have work to do, loads them all, cuts them into parts that share
 * no body that could move (or has one part that is all), and plans each. */
#ifndef TL_SOLVE_SYSTEM_LINKS_H
#define TL_SOLVE_SYSTEM_LINKS_H

#include "joint/link.h"
#include "solve/system/system.h"

typedef struct tl_link_sums {
  double change, recovered; /* squares in velocity units */
  double most;
} tl_link_sums;

/* The links of a part in blocks. */
typedef struct tl_link_plan {
  size_t blocks;     /* one: they are visited by one worker */
  uint8_t *waits;    /* by link: has a body of another block; NULL: one block */
  uint32_t *waiting; /* those links */
  size_t waiting_count;
  tl_link_sums *sums; /* by block, and their total */
  double *residual;   /* by link: squares, to be tallied */
  bool has_laws;      /* some link has a law */
  bool is_recovered;  /* nothing of the drift is left */
  double drifted;     /* `recovered` of the first sweep */
} tl_link_plan;

/* All links, or those of a part. */
typedef struct tl_links {
  const tl_system *system;
  tl_ccp_body *bodies; /* that visits move: the system's, or a part's own */
  tl_ccp_tensor *tensors;
  uint32_t *joint; /* by link: its row of the table */
  tl_link *data;
  size_t count, rows;
  size_t first;            /* of this part within all links */
  tl_link_system *direct;  /* of a part; NULL: link by link */
  tl_link_plan *plan;      /* of a part */
  tl_ccp_body *recovering; /* with the velocities of `recovery` of link rows; NULL: none is found */
  uint8_t *held; /* by solver body: links hold it, it can move; NULL: no links, or no warm start */
} tl_links;

/* ---- from joints to links and back (links.c) ------------------------------------------------- */

/* The joints that have work to do: links->joint, in the order of the table, and the slots they
 * join. */
talus_status tl_links_list(tl_links *links, const tl_system *system, tl_pairs *pairs);

/* Rows of these joints, in the order of links->joint, after the bodies are known. */
talus_status tl_links_load(tl_links *links);

/* Links first ... first + count - 1 of all, which were loaded. */
tl_links tl_links_cut(const tl_links *all, size_t first, size_t count);

/* Blocks of a part, and how many rows it has. owner: room by body. */
talus_status tl_links_plan(tl_links *part, uint32_t *owner);

/* The hard rows of a part factored at once, where asked for: which links touch which body, once for
 * all parts; then part by part. */
bool tl_links_are_direct(const tl_links *all);
talus_status tl_links_make_graph(const tl_links *all, tl_link_graph *graph);
talus_status tl_links_factor(const tl_links *all, const tl_link_graph *graph, tl_links *part);

/* Makes rows meet where the velocities of `bodies`, a guess of those at the end, lead. */
void tl_links_aim_one(const tl_links *links, size_t link, const tl_ccp_body *bodies);
void tl_links_aim(const tl_links *links, const tl_par *par, const tl_ccp_body *bodies);

/* What links have of the objective, added to sum. */
void tl_links_objective(const tl_links *links, tl_tally *sum);

/* J: the work of links between t0 and t1. */
double tl_links_work(const tl_links *links);

/* Links that hold while bodies are shifted, their hard rows wanting no motion of their own. */
talus_status tl_links_hold_still(const tl_links *from, tl_ccp_body *bodies, tl_links *to);

/* Impulses and reactions into the table of joints. */
void tl_links_store(const tl_links *links);

/* ---- warm start (drift.c) -------------------------------------------------------------------- */

/* Takes `recovering` and `held` for all links. Parts that are cut afterwards find them. */
talus_status tl_links_warm(tl_links *all);

/* A part that starts with a share of its last impulses, and finds no recovery. */
void tl_links_ease(tl_links *part);

/* The impulse, or torque, that a contact of solver bodies a and b then starts with. */
bool tl_links_touch(const tl_links *links, uint32_t a, uint32_t b);
talus_vec3 tl_links_ease_push(const tl_links *links, uint32_t a, uint32_t b, talus_vec3 impulse);

/* Finds what of the impulses takes back drift, and is not carried over; sweeps of single links have
 * found it already. */
void tl_links_recover(const tl_links *links);

/* ---- Gauss-Seidel (link_sweep.c): called by all workers of a team ---------------------------- */

#define TL_TEAM_LINKS 4096 /* from here on links are cut into blocks, for a team */
#define TL_LINK_BLOCK 1024

/* Whether the workers share the links. */
static inline bool tl_links_are_shared(const tl_links *links) {
  return links->plan && links->plan->blocks > 1;
}

/* Applies the impulses that links start with, and aims them at where those lead. */
void tl_links_team_start(const tl_links *links, tl_team *team, int worker, int workers);
void tl_links_team_aim(const tl_links *links, tl_team *team, int worker, int workers);

/* One visit of every link: sum of squared changes in velocity units. */
double tl_links_team_sweep(const tl_links *links, tl_team *team, int worker, int workers, int turn);

/* Sum of squared residuals of the links' own impulses; *most is raised. */
double tl_links_team_measure(const tl_links *links, tl_team *team, int worker, int workers,
                             double *most);

#endif
