/* Local time: every cluster of bodies has steps of its own length (docs/theory/local.md).
 *
 * One call takes the world from one time of the grid to the next; steps of bodies may end beyond
 * that time. Each body has three states: a final one at time o, a current one at time c, and a
 * tentative one. Between o and c the body follows its law, which is a stated path. Bodies that may
 * meet form a cluster. A cluster steps as a gathered crowd (step/gathered.h) from the smallest time
 * c of its bodies; bodies that are ahead come back along their laws to that time. Steps are taken
 * in rounds. A step counts only after it was compared with the laws of all bodies outside of the
 * cluster (Jefferson's virtual time with one past state; the thesis of Noble, chapter 4, with the
 * repairs of docs/theory/local.md).
 *
 *   local.c    rounds: which clusters step, and which steps count
 *   law.c      the state of a body at a time, and whether two bodies stay apart
 *   near.c     which bodies may meet within the interval: boxes, pairs, bodies that leave their box
 *   cluster.c  makes clusters, and steps them
 *   memory.c   contacts that clusters keep from step to step
 *   ahead.c    steps that end beyond the end of an interval
 *   given.c    impulses of contacts and joints within the interval, for probes
 *   pieces.c   the final paths, and whether they stay apart, for audits
 *
 * Every decision follows from the states, times and lists of a round, in an order that does not
 * depend on threads. */
#ifndef TL_STEP_LOCAL_LOCAL_H
#define TL_STEP_LOCAL_LOCAL_H

#include "kernels/path.h"
#include "step/gathered.h"

#include <stdatomic.h>

#define TL_LOCAL_STOP_AT 0.75 /* of a halo: the least gap of bodies of different clusters */
#define TL_LOCAL_TOUCH   1.0  /* of a halo: bodies that may come nearer are in one cluster */

/* The state of a body at a time. */
typedef struct tl_local_row {
  talus_dvec3 position;
  talus_quat rotation;
  talus_vec3 velocity, spin;
} tl_local_row;

/* The change of a body's motion by the impacts at the begin of a step. */
typedef struct tl_kick {
  talus_vec3 velocity; /* m/s */
  /* change of angular momentum, or of spin if locks or equal moments of inertia make the two
   * equivalent (law.c) */
  talus_vec3 turn;
} tl_kick;

typedef struct tl_local_body {
  tl_local_row final, current, tentative;
  double o, c;        /* s: times of `final` and `current` */
  double begun;       /* s: begin of the step that led to c; before o if that step began before this
                         interval */
  tl_path law, draft; /* law: from o to c; draft: the tentative step */
  tl_kick kick, draft_kick;
  bool flies;       /* the law is a parabola: loads are constant, contacts act at o only */
  bool draft_flies; /* the same for the draft */
  bool is_movable;
  bool has_strayed; /* left the box for which candidates were found first */
  double pace;      /* s: most length of its next step; 0: not known */
  double ahead;     /* s: its free path was compared with others up to this time */
  tl_path guess;    /* the free path, from c on */
  talus_box box;    /* its candidates are the bodies whose boxes overlap this one */
  uint32_t first;   /* its first meeting; TL_NONE: there is none */
  uint32_t cluster; /* the cluster of its tentative step; TL_NONE: it has none */
  uint32_t past;    /* cluster of its last step, which has its contacts; TL_NONE: the crowd has */
  uint32_t seen;    /* stamp of the last search that found it */
} tl_local_body;

/* A body whose law extends beyond the end of an interval. */
typedef struct tl_ahead {
  uint64_t uid;
  double c, begun;      /* s */
  talus_dvec3 position; /* at c, like the next three */
  talus_quat rotation;
  talus_vec3 velocity, spin;
  tl_path law; /* begins at the end of the interval */
  bool flies;
} tl_ahead;

/* Two bodies, one of them movable, whose boxes overlap. */
typedef struct tl_meeting {
  uint32_t a, b;           /* slots, a < b */
  uint32_t next_a, next_b; /* the next meeting of a, and of b; TL_NONE: there is none */
  bool is_wall;            /* one of them is fixed */
  bool is_edge;            /* they may meet, so they belong to one cluster */
  bool is_bound;           /* they pushed each other in their last step: likewise */
  bool is_late;            /* a joint connected them until it broke within the interval */
  bool is_tangled;         /* they overlapped at the begin of the interval (debug builds) */
  uint32_t seen;           /* stamp of the last search that found it */
} tl_meeting;

typedef struct tl_local_joint {
  uint32_t row;
  tl_joint_state after;
} tl_local_joint;

typedef struct tl_cluster {
  TL_ARRAY(uint32_t) members; /* slots of its movable bodies, ascending */
  TL_ARRAY(uint32_t) rows;    /* slots of members and of the walls that they may meet */
  double t0, t1, dt;          /* s: interval of its step, which may end early */
  double planned;             /* s: length that the step was to have */
  bool is_live;               /* it has a tentative step */
  bool is_new;                /* that step is not computed yet */
  bool is_held;               /* only the end of the interval kept its step from being longer */
  bool commits;               /* its step counts in this round */
  talus_status status;        /* of its step */
  double seconds;             /* that its step took to compute, if somebody observes */
  tl_contacts contacts;       /* after the step, by slot; impulses are those of the longest step */
  TL_ARRAY(tl_centres) centres; /* by contact: the centres of its bodies at t0 */
  TL_ARRAY(uint64_t) owned;     /* the owner of each contact and its index, sorted (given.c) */
  TL_ARRAY(tl_local_joint) joints;
  tl_step_report report;
  size_t refers; /* number of bodies whose `past` it is */
  size_t place;  /* its index in the list of live clusters */
} tl_cluster;

/* Statistics, summed over all intervals unless stated otherwise. */
typedef struct tl_local_counts {
  uint64_t body_steps;        /* steps of bodies that were computed */
  uint64_t body_steps_global; /* bodies x rounds: as many as with one step for all bodies */
  uint64_t clusters;          /* steps of clusters that count */
  uint64_t rounds;
  uint64_t rendezvous;            /* bodies that came back to an earlier time to meet others */
  uint64_t rollbacks;             /* steps of clusters that were computed and did not count */
  uint64_t histogram[TL_LENGTHS]; /* steps of bodies that count, by length */
  uint64_t steps[TL_LENGTHS];     /* steps of clusters that count, by length */
  uint64_t dropped[TL_LENGTHS];   /* steps of clusters that did not count, by length */
  double depth;                   /* s: the longest time by which a body came back */
  double window;                  /* s: the longest time by which a body was ahead of T* */
  double least;                   /* s: the shortest step that counts */
  size_t most_members;            /* bodies of the largest cluster */
  size_t most_contacts;
  uint64_t held;   /* steps of bodies that the end of an interval shortened; not saved */
  uint64_t looks;  /* gaps of pairs that were computed, outside of clusters */
  uint64_t visits; /* nodes and pairs that searches visited */
} tl_local_counts;

/* A part of a body's final path, for audits. */
typedef struct tl_piece {
  uint32_t slot;
  double from, to;     /* s: the path is final from here to here */
  double begun, until; /* s: begin and end of the step that made it */
  tl_path path;
} tl_piece;

/* A node of the tree of boxes (near.c). */
typedef struct tl_local_node {
  talus_box box;
} tl_local_node;

typedef struct tl_local {
  const tl_backend *backend;
  const tl_crowd *crowd; /* the whole interval */
  TL_ARRAY(tl_local_body) bodies;
  TL_ARRAY(tl_meeting) meetings;
  TL_ARRAY(tl_cluster) clusters; /* live, past and free */
  TL_ARRAY(uint32_t) free_clusters;
  TL_ARRAY(uint32_t) live;       /* clusters with a tentative step */
  TL_ARRAY(uint32_t) fresh;      /* bodies with a new law */
  TL_ARRAY(uint32_t) asked;      /* meetings to be tested */
  TL_ARRAY(uint8_t) answers;     /* the results of these tests */
  TL_ARRAY(uint32_t) queue;      /* scratch of searches */
  TL_ARRAY(uint32_t) work;       /* clusters to be stepped */
  TL_ARRAY(uint32_t) everywhere; /* walls of every cluster: unbounded or in motion */
  TL_ARRAY(uint32_t) strayed;    /* bodies that left their first box */
  TL_ARRAY(uint32_t) order;      /* bodies in the order of the tree's leaves */
  TL_ARRAY(tl_local_node) nodes;
  bool has_tree;
  TL_ARRAY(uint32_t) owned;    /* contacts of the crowd, grouped by owner (memory.c) */
  TL_ARRAY(uint32_t) owners;   /* by slot: first entry of `owned`; and one more */
  TL_ARRAY(uint64_t) sorted;   /* clusters by size */
  TL_ARRAY(tl_gathered) crews; /* by worker: the crowd in which it steps clusters */
  tl_joints joints;            /* joints after the steps so far; only all.data is not the crowd's */
  uint32_t stamp;
  _Atomic size_t next; /* the next cluster that a worker takes */
  double begin, end;   /* s: the interval; it ends earlier if a body leaves the world */
  double unit;         /* s: the longest step; stored impulses are scaled to it */
  double star;         /* s: T*, the earliest end of a tentative step of the round */
  double least;        /* s: step.min */
  double growth;
  bool holds;     /* all steps end at the end of the interval, because the world changes then */
  double hold_at; /* s: steps of clusters with pressing contacts end here at the latest */
  /* True if a body at this position leaves the world (sinks, domain). NULL: none does. */
  bool (*leaves)(const void *context, talus_dvec3 position);
  const void *leaves_context;
  TL_ARRAY(tl_ahead) ahead;      /* by uid: bodies ahead at the begin of the interval */
  TL_ARRAY(tl_ahead) ahead_next; /* at its end; replaces `ahead` once the interval counts */
  bool skips_check;              /* for tests: tentative steps count without a check */
  /* For measurements. Called when the steps of the clusters in `work` are computed, and when the
   * clusters that commit are known. */
  void (*observe)(void *context, const struct tl_local *local, bool commits);
  void *observe_context;
  bool wants_given;  /* probes or averages read contacts or joints */
  tl_contacts given; /* contacts of final steps in canonical order, with impulses */
  TL_ARRAY(tl_centres) given_centres;
  TL_ARRAY(tl_pull) pulls; /* by row of joints */
  bool records;            /* pieces are recorded, for an audit */
  TL_ARRAY(tl_piece) pieces;
  tl_local_counts counts;
} tl_local;

/* Steps from crowd->in at t0 to crowd->out at t1, by steps of clusters that are at most model->dt
 * and at least model->dt_min long. If a body leaves the world before t1 (local->leaves), t1 and dt
 * become smaller. crowd->in->pace has the most length of the next step of each body, and
 * crowd->out->pace receives the new one. If it fails, only `out` and contacts_after have changed.
 */
talus_status tl_step_local(const tl_backend *backend, tl_crowd *crowd, tl_local *local,
                           tl_step_report *report);
void tl_local_free(tl_local *local);

/* ahead.c. To be called when an interval counts; and when the world was changed after it. */
void tl_local_end_interval(tl_local *local);
void tl_local_forget_ahead(tl_local *local);
/* To be called before bodies are removed (remove: by slot; contacts and joints are those of the end
 * of the interval). Bodies that are connected to a removed one by contacts with impulses or by
 * joints, directly or through others, come back to the end of the interval. Returns the number of
 * bodies that stay ahead. scratch: one number by slot. */
size_t tl_local_let_go(tl_local *local, const tl_model *model, const tl_contacts *contacts,
                       const tl_joints *joints, const uint8_t *remove, uint32_t *scratch);

/* Checks that all final paths of the interval stay apart. Pieces must have been recorded. */
struct tl_paths_rule;
struct tl_paths_report;
talus_status tl_local_check_pieces(const tl_local *local, const struct tl_paths_rule *rule,
                                   struct tl_paths_report *report);

/* ---- within the folder ----------------------------------------------------------------------- */

/* law.c */
typedef struct tl_stretch {
  double from, to; /* s */
  tl_path path;    /* from `from` on */
} tl_stretch;
typedef struct tl_track {
  tl_stretch part[2];
  int count;
} tl_track;
/* The rest of a path after t, as a path of its own. */
tl_path tl_path_later(const tl_path *path, double t);
/* The path of a body after c if nothing touches it. */
tl_path tl_local_guess(const tl_local *local, uint32_t slot);
/* The state of a body at t, o <= t <= c. */
tl_local_row tl_local_at(const tl_local *local, uint32_t slot, double t);
/* Adds the effect of an impact to *kick; rotation: of the body; impulse: N s. */
void tl_local_kick(const tl_local *local, uint32_t slot, talus_quat rotation, talus_vec3 arm,
                   talus_vec3 impulse, tl_kick *kick);
/* The law and then the free path; the law and then, if the cluster commits, the tentative step. */
tl_track tl_local_expected(const tl_local *local, uint32_t slot);
tl_track tl_local_actual(const tl_local *local, uint32_t slot);
static inline double tl_track_end(const tl_track *track) {
  return track->count > 0 ? track->part[track->count - 1].to : -1;
}
/* True if the gap of two bodies stays above `halos` times their halos from s to u. *looks counts
 * the gaps that were computed. */
bool tl_local_keep_apart(const tl_model *model, uint32_t a, const tl_track *ta, uint32_t b,
                         const tl_track *tb, double s, double u, double halos, uint64_t *looks);
/* A box around all places of the body on the path within h, grown by its halo. */
talus_box tl_local_box(const tl_model *model, uint32_t slot, const tl_path *path, double h);

/* near.c */
talus_status tl_local_find_near(tl_local *local);
/* Enlarges the box of a body to hold `needed`, and finds its new candidates. Sets *has_walls if
 * there are walls among them. */
talus_status tl_local_stray(tl_local *local, uint32_t slot, talus_box needed, bool *has_walls);
/* Makes candidates of two bodies whose joint broke, unless another joint still lets them overlap.
 * Does nothing if one of them is TL_NONE. */
talus_status tl_local_let_meet(tl_local *local, uint32_t a, uint32_t b);
bool tl_local_is_inside(talus_box box, talus_box of);
static inline uint32_t tl_meeting_next(const tl_meeting *m, uint32_t slot) {
  return m->a == slot ? m->next_a : m->next_b;
}
static inline uint32_t tl_meeting_other(const tl_meeting *m, uint32_t slot) {
  return m->a == slot ? m->b : m->a;
}

/* cluster.c */
/* Makes clusters of the bodies of `fresh` and of all bodies connected to them. Their former
 * tentative clusters are dropped. */
talus_status tl_local_tie(tl_local *local);
/* Drops a tentative step. */
void tl_local_drop(tl_local *local, uint32_t cluster);
/* Takes a cluster off the list of live ones. */
void tl_local_end_tentative(tl_local *local, uint32_t cluster);
/* Steps all clusters that are new. */
talus_status tl_local_step_clusters(tl_local *local);
/* Repeats a step that failed, for its message. Sets the bodies to blame in *report. */
talus_status tl_local_step_again(tl_local *local, tl_cluster *cluster, tl_step_report *report);

/* memory.c */
talus_status tl_local_index_contacts(tl_local *local);
/* Copies the contacts among the rows of a cluster, from the last steps of its bodies, to the crew;
 * a and b become rows. */
talus_status tl_local_recall(const tl_local *local, const tl_cluster *cluster, tl_gathered *crew);
/* Moves contacts and joints after a step from the crew to the cluster. */
talus_status tl_local_keep(const tl_local *local, tl_gathered *crew, tl_cluster *cluster);
/* Collects the contacts of the last steps of all bodies, in canonical order. */
talus_status tl_local_collect(tl_local *local, tl_contacts *contacts);
/* The owner of a contact: the movable body with whose steps it is stored. */
static inline uint32_t tl_local_owner_of(const tl_local *local, const tl_contact *c) {
  return local->bodies.data[c->a].is_movable ? c->a : c->b;
}
/* Multiplies the impulses of a contact by ratio, for a step of another length. */
void tl_local_scale_impulses(tl_contacts *set, size_t i, talus_real ratio);
/* Sorts contacts into canonical order, and centres (or NULL) with them; contacts with equal keys
 * keep their order. */
talus_status tl_local_sort(tl_contacts *set, tl_centres *centres);

/* ahead.c */
/* To be called at the begin of an interval, and at its end. */
void tl_local_take_up_ahead(tl_local *local);
talus_status tl_local_keep_ahead(tl_local *local);

/* given.c */
talus_status tl_local_begin_giving(tl_local *local);
/* Stores what tl_local_give needs of a step that counts. */
talus_status tl_local_prepare_giving(const tl_local *local, tl_cluster *cluster);
/* Adds the impulses of the contacts and joints that a body owns, for the part of its last step that
 * is final: up to the time `to`. */
talus_status tl_local_give(tl_local *local, uint32_t slot, double to);

#endif
