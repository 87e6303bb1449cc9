/* Local time: every cluster of bodies at its own pace (docs/theory/local.md).
 *
 * One call brings the world from one time of the grid to the next; bodies may be ahead of it then.
 * Each body has three states: final at o, current at c, and tentative. Between o and c it follows
 * its law, a stated path. Bodies that may meet are a cluster, which steps as a gathered crowd
 * (step/gathered.h) from the least of their times c; who is ahead comes back to it along its law.
 * Steps are taken in rounds, and count only after they were compared with the laws of all others
 * (Jefferson's virtual time with one past state; the thesis of Noble, chapter 4, with the repairs
 * of docs/theory/local.md).
 *
 *   local.c    rounds: what is stepped, what counts
 *   law.c      where a body is at a time, and whether two keep apart
 *   near.c     who may meet whom within the interval: boxes, pairs, those who leave their box
 *   cluster.c  clusters: who belongs together, and the step of one
 *   memory.c   contacts that clusters keep from step to step
 *   ahead.c    steps that go on beyond the end of an interval
 *   given.c    what contacts and joints gave within the interval, for probes
 *   pieces.c   what an audit asks for: the final paths, and whether they keep apart
 *
 * Every decision follows from the states, times and lists of a round, in an order that does not
 * depend on threads. */
#ifndef TL_STEP_LOCAL_LOCAL_H
#define TL_STEP_LOCAL_LOCAL_H

#include "kernels/path.h"
#include "step/gathered.h"

#include <stdatomic.h>

#define TL_LOCAL_STOP_AT 0.75 /* of a halo: bodies of different clusters keep this distance */
#define TL_LOCAL_TOUCH   1.0  /* of a halo: who may come nearer is of one cluster */

/* The state of a body at a time. */
typedef struct tl_local_row {
  talus_dvec3 position;
  talus_quat rotation;
  talus_vec3 velocity, spin;
} tl_local_row;

/* What impacts at the begin of a step gave to a body. */
typedef struct tl_kick {
  talus_vec3 velocity; /* m/s */
  talus_vec3 turn;     /* as tl_local_at has angular momentum */
} tl_kick;

typedef struct tl_local_body {
  tl_local_row final, current, tentative;
  double o, c;  /* s: times of `final` and `current` */
  double begun; /* s: when the step that led to c began; before o, if that was cut by the grid */
  tl_path law, draft; /* from o to c; from the begin of the cluster's step to its end */
  tl_kick kick, draft_kick;
  bool flies;       /* the law is a parabola: loads act evenly, contacts at o alone */
  bool draft_flies; /* the same of the draft */
  bool is_movable;
  bool has_strayed; /* left the box that candidates were first looked for with */
  double pace;      /* s: its next step is no longer */
  double ahead;     /* s: until then its free path was looked at */
  tl_path guess;    /* that free path, from c on */
  talus_box box;    /* candidates are all that may come into it */
  uint32_t first;   /* of its meetings; TL_NONE */
  uint32_t cluster; /* whose tentative step it takes; TL_NONE: none */
  uint32_t past;    /* cluster of its last step, with its contacts; TL_NONE: the crowd's */
  uint32_t seen;    /* stamp of searches */
} tl_local_body;

/* A body whose law goes on beyond the end of an interval, from the state that it left there. */
typedef struct tl_ahead {
  uint64_t uid;
  double c, begun;      /* s */
  talus_dvec3 position; /* at c, like the next three */
  talus_quat rotation;
  talus_vec3 velocity, spin;
  tl_path law; /* from the end of the interval on */
  bool flies;
} tl_ahead;

/* Two bodies, one of them movable, whose boxes overlap. */
typedef struct tl_meeting {
  uint32_t a, b;           /* slots, a < b */
  uint32_t next_a, next_b; /* of the same body; TL_NONE */
  bool is_wall;            /* one of them is fixed */
  bool is_edge;            /* they may meet: they are of one cluster */
  bool is_bound;           /* one pushed the other in the last step of both: likewise */
  bool is_late;            /* a joint held them until it broke within the interval */
  bool is_tangled;         /* they overlapped when it began: put so by hand; debug builds */
  uint32_t seen;           /* stamp of searches */
} tl_meeting;

typedef struct tl_local_joint {
  uint32_t row;
  tl_joint_state after;
} tl_local_joint;

typedef struct tl_cluster {
  TL_ARRAY(uint32_t) members;   /* movable, ascending */
  TL_ARRAY(uint32_t) rows;      /* with the walls that they may meet */
  double t0, t1, dt;            /* s: of its step, as far as it came */
  double planned;               /* s: length that it tried first */
  bool is_live;                 /* tentative */
  bool is_new;                  /* and not stepped yet */
  bool is_held;                 /* its step could be longer, but for the end of the interval */
  bool commits;                 /* in this round */
  talus_status status;          /* of its step */
  tl_contacts contacts;         /* after the step, by slot, impulses for the grid's length */
  TL_ARRAY(tl_centres) centres; /* of them, when it began, and ... */
  TL_ARRAY(uint64_t) owned;     /* ... each with who has it in front, ascending: for given.c */
  TL_ARRAY(tl_local_joint) joints;
  tl_step_report report;
  size_t refers; /* bodies whose past it is */
  size_t place;  /* in the list of live ones */
} tl_cluster;

/* What happened; sums over all intervals unless it says otherwise. */
typedef struct tl_local_counts {
  uint64_t body_steps;        /* steps of bodies that were computed */
  uint64_t body_steps_global; /* bodies x rounds: those of one step for all */
  uint64_t clusters;          /* steps of clusters that count */
  uint64_t rounds;
  uint64_t rendezvous;            /* bodies that came back to meet others */
  uint64_t rollbacks;             /* steps of clusters that were computed and do not count */
  uint64_t histogram[TL_LENGTHS]; /* steps of bodies that count, by length */
  uint64_t steps[TL_LENGTHS];     /* of clusters, that count */
  uint64_t dropped[TL_LENGTHS];   /* of clusters, that were computed and do not */
  double depth;                   /* s: furthest that a body came back */
  double window;                  /* s: most that one body was ahead of another */
  double least;                   /* s: the shortest step that counts */
  size_t most_members;            /* bodies of the largest cluster */
  size_t most_contacts;
  uint64_t held;   /* steps of bodies that the end of an interval made shorter; not saved */
  uint64_t looks;  /* at a pair at a moment, outside of clusters */
  uint64_t visits; /* of nodes and pairs in searches */
} tl_local_counts;

/* A final path, for audits. */
typedef struct tl_piece {
  uint32_t slot;
  double from, to;     /* s: it is final so long */
  double begun, until; /* s: the step that it comes from went from here to here */
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
  TL_ARRAY(uint32_t) asked;      /* meetings to look at */
  TL_ARRAY(uint8_t) answers;     /* of them */
  TL_ARRAY(uint32_t) queue;      /* scratch of searches */
  TL_ARRAY(uint32_t) work;       /* clusters to be stepped */
  TL_ARRAY(uint32_t) everywhere; /* walls that are in every cluster: unbounded, or in motion */
  TL_ARRAY(uint32_t) strayed;    /* bodies */
  TL_ARRAY(uint32_t) order;      /* of the tree's leaves */
  TL_ARRAY(tl_local_node) nodes;
  bool has_tree;
  TL_ARRAY(uint32_t) owned;    /* contacts of the crowd by the movable body that has them ... */
  TL_ARRAY(uint32_t) owners;   /* ... whose part begins here, by slot and one more */
  TL_ARRAY(uint64_t) sorted;   /* clusters by size */
  TL_ARRAY(tl_gathered) crews; /* by worker */
  tl_joints joints;            /* as clusters left them; all.data is ours, the rest the crowd's */
  uint32_t stamp;
  _Atomic size_t next; /* cluster that a worker takes */
  double begin, end;   /* s: of the interval; `end` comes nearer when somebody leaves */
  double unit;         /* s: the longest step; kept impulses are those of one so long */
  double star;         /* s: T*, the least end of the round */
  double least;        /* s: step.min */
  double growth;
  bool holds;     /* steps end at the end of the interval: the world changes by the clock then */
  double hold_at; /* s: steps of those who press end there: the next time of the grid */
  /* Whether a body that is there leaves (sinks, domain); NULL: nobody does. */
  bool (*leaves)(const void *context, talus_dvec3 position);
  const void *leaves_context;
  TL_ARRAY(tl_ahead) ahead;      /* by uid: of the interval to come, and ... */
  TL_ARRAY(tl_ahead) ahead_next; /* ... of the one after, until this one counts */
  bool skips_check;              /* tests alone: tentative steps count unseen */
  bool wants_given;              /* somebody probes contacts or joints: */
  tl_contacts given; /* all that final steps had, in canonical order, with what each gave */
  TL_ARRAY(tl_centres) given_centres;
  TL_ARRAY(tl_pull) pulls; /* by row of joints */
  bool records;            /* pieces, for an audit */
  TL_ARRAY(tl_piece) pieces;
  tl_local_counts counts;
} tl_local;

/* From crowd->in at t0 to crowd->out at t1, with steps of clusters in between: at most model->dt
 * long, at least model->dt_min. If somebody leaves before t1 (local->leaves), t1 and dt become
 * less. crowd->in->pace holds how long the next step of each body may be, and crowd->out->pace gets
 * it. On failure nothing but `out` and *after has changed. */
talus_status tl_step_local(const tl_backend *backend, tl_crowd *crowd, tl_local *local,
                           tl_step_report *report);
void tl_local_free(tl_local *local);

/* ahead.c. The interval counts; the world was changed by somebody else since then. */
void tl_local_end_interval(tl_local *local);
void tl_local_forget_ahead(tl_local *local);
/* These bodies are taken away (by slot; contacts and joints are as the interval left them). They,
 * and all who press on them or are held by them, hand in hand, come back to its end. Returns how
 * many stay ahead; scratch: room for one number by slot. */
size_t tl_local_let_go(tl_local *local, const tl_model *model, const tl_contacts *contacts,
                       const tl_joints *joints, const uint8_t *remove, uint32_t *scratch);

/* Whether all final paths of the interval keep apart (pieces must have been recorded). */
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
/* The path as it goes on after t. */
tl_path tl_path_later(const tl_path *path, double t);
/* What a body would do after c, if nothing touched it. */
tl_path tl_local_guess(const tl_local *local, uint32_t slot);
/* Where the body is at t, o <= t <= c. */
tl_local_row tl_local_at(const tl_local *local, uint32_t slot, double t);
/* Adds what an impact gave to a body that is turned so, in N s. */
void tl_local_kick(const tl_local *local, uint32_t slot, talus_quat rotation, talus_vec3 arm,
                   talus_vec3 impulse, tl_kick *kick);
/* Its law and what it would do then; its law and, where its cluster commits, its tentative step. */
tl_track tl_local_expected(const tl_local *local, uint32_t slot);
tl_track tl_local_actual(const tl_local *local, uint32_t slot);
static inline double tl_track_end(const tl_track *track) {
  return track->count > 0 ? track->part[track->count - 1].to : -1;
}
/* Whether the gap of two bodies stays above so many halos from s to u, along their tracks. */
bool tl_local_keep_apart(const tl_model *model, uint32_t a, const tl_track *ta, uint32_t b,
                         const tl_track *tb, double s, double u, double halos, uint64_t *looks);
/* What a path covers within h, grown by the body's halo. */
talus_box tl_local_box(const tl_model *model, uint32_t slot, const tl_path *path, double h);

/* near.c */
talus_status tl_local_find_near(tl_local *local);
/* Candidates of a body that needs more than its box; *has_walls: there are more walls among them.
 */
talus_status tl_local_stray(tl_local *local, uint32_t slot, talus_box needed, bool *has_walls);
/* Two bodies whose joint broke, unless another one still keeps them from touching; or TL_NONE. */
talus_status tl_local_let_meet(tl_local *local, uint32_t a, uint32_t b);
bool tl_local_is_inside(talus_box box, talus_box of);
static inline uint32_t tl_meeting_next(const tl_meeting *m, uint32_t slot) {
  return m->a == slot ? m->next_a : m->next_b;
}
static inline uint32_t tl_meeting_other(const tl_meeting *m, uint32_t slot) {
  return m->a == slot ? m->b : m->a;
}

/* cluster.c */
/* Makes clusters of the bodies of `fresh` and all they are tied to; those that were tied otherwise
 * before are taken apart. */
talus_status tl_local_tie(tl_local *local);
/* Gives up a tentative step. */
void tl_local_drop(tl_local *local, uint32_t cluster);
/* It is tentative no longer. */
void tl_local_end_tentative(tl_local *local, uint32_t cluster);
/* Steps all clusters that are new. */
talus_status tl_local_step_clusters(tl_local *local);
/* Once more, for its message; *row: of the body to blame, and the other one. */
talus_status tl_local_step_again(tl_local *local, tl_cluster *cluster, tl_step_report *report);

/* memory.c */
talus_status tl_local_index_contacts(tl_local *local);
/* Contacts among the rows of a cluster as its bodies' last steps left them, by row. */
talus_status tl_local_recall(const tl_local *local, const tl_cluster *cluster, tl_gathered *crew);
/* What a step left becomes the cluster's. */
talus_status tl_local_keep(const tl_local *local, tl_gathered *crew, tl_cluster *cluster);
/* All of them, in canonical order. */
talus_status tl_local_collect(tl_local *local, tl_contacts *contacts);
/* The movable body with whose steps a contact is remembered. */
static inline uint32_t tl_local_owner_of(const tl_local *local, const tl_contact *c) {
  return local->bodies.data[c->a].is_movable ? c->a : c->b;
}
/* Impulses of a step of one length as those of another. */
void tl_local_scale_impulses(tl_contacts *set, size_t i, talus_real ratio);
/* Canonical order; centres (NULL: none) go along, and what has one key keeps its order. */
talus_status tl_local_sort(tl_contacts *set, tl_centres *centres);

/* ahead.c */
/* At the begin of an interval, and at its end. */
void tl_local_take_up_ahead(tl_local *local);
talus_status tl_local_keep_ahead(tl_local *local);

/* given.c */
talus_status tl_local_begin_giving(tl_local *local);
/* Of a step that counts from now on. */
talus_status tl_local_prepare_giving(const tl_local *local, tl_cluster *cluster);
/* The law of a body is final until then: what its contacts and joints gave is added. */
talus_status tl_local_give(tl_local *local, uint32_t slot, double to);

#endif
