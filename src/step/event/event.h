/* Events: hard spheres that fly freely until two of them, or one and a wall, touch.
 *
 * Each flyer (a free sphere) has a position at its own time and is moved when an event happens to
 * it. Its plan holds its next event: the earliest known impact, or when it leaves its cell. The
 * queue (queue.c) has the first event of all. An impact of i with k is stored in the plan of i or
 * of k, whichever was updated last. If the other one has had an impact since, its count of impacts
 * shows that, and i makes a new plan. So an impact changes only two plans, even if others waited
 * for one of the two.
 *
 * Everything is built anew at every step of the world from the state alone: nothing has to be
 * saved, and a resumed run has the same bits. Plans reach to the end of the step. All threads make
 * the first ones; one thread processes the events.
 *
 * With step: fixed, `shell: soft` is the same with straight flights: velocities include the step's
 * gravity from the start, as in every solver. */
#ifndef TL_STEP_EVENT_H
#define TL_STEP_EVENT_H

#include "contact/contact.h"
#include "solve/solve.h"

#include <math.h>

/* One cache line: the data of a flyer that its neighbours need. */
typedef struct tl_flyer {
  talus_dvec3 x, v; /* at t */
  double t;         /* s since the begin of the step */
  double radius;
} tl_flyer;

typedef struct tl_flyer_body {
  double mass;
  uint32_t slot;
} tl_flyer_body;

#define TL_EVENT_WALL 0x80000000u

/* The place of a flyer in the queue. */
typedef struct tl_event_node {
  double when;
  uint32_t bucket; /* TL_NONE: not in the queue */
  uint32_t next,
      prev; /* in the bucket's list; in the current bucket prev is the place in the heap */
} tl_event_node;

/* One cache line as well. */
typedef struct tl_plan {
  double hit, cross;     /* s since the begin of the step; INFINITY: not within it */
  uint32_t partner;      /* flyer, or TL_EVENT_WALL | wall */
  uint32_t partner_hits; /* its number of impacts when the plan was made */
  uint32_t prev;         /* in the list of the cell; TL_NONE: first */
  uint32_t hits;         /* number of its impacts */
  uint16_t at[3];        /* cell */
  uint8_t side;          /* through which the flyer leaves: 2 axis + (upwards) */
  tl_event_node node;
} tl_plan;

_Static_assert(sizeof(tl_plan) == 64, "what an event does to a flyer is in one line of memory");

/* Walls that spheres can touch: a half-space, a rectangle from its front, a segment, a ball; and of
 * walls turned about axis[2] one side of a cone, and circles. */
typedef enum tl_event_wall_kind {
  TL_WALL_FACE, /* normal axis[0]; half[1], half[2]: its extents, INFINITY: no end */
  TL_WALL_EDGE, /* along axis[0]; half[0]: half of its length */
  TL_WALL_BALL,
  /* from (radius, height) `from` in direction `along`, half[0] long, on the side of `normal` */
  TL_WALL_CONE,
  TL_WALL_RING /* at `from` */
} tl_event_wall_kind;

typedef struct tl_event_wall {
  tl_event_wall_kind kind;
  uint32_t slot, feature;
  talus_dvec3 at, velocity; /* its middle at the begin of the step; m, m/s */
  talus_dvec3 axis[3];
  double half[3];
  double radius; /* of a ball */
  bool is_solid; /* a half-space: no centre may be behind it */
  /* faces and cones: a centre at most so many radii behind still counts as in front */
  double behind;
  double from[2], along[2], normal[2]; /* cones and rings, in the meridian plane */
} tl_event_wall;

/* Cells at least as wide as the largest flyer. On an axis that is not periodic the outer cells are
 * unbounded. Walls of cell c: wall_list[wall_start[c]] ... wall_list[wall_start[c + 1] - 1]. */
typedef struct tl_event_cells {
  int n[3];
  size_t count;
  double lo[3], width[3], length[3];
  bool periodic[3];
  ptrdiff_t offset[27]; /* of the neighbours of a cell that is not at the border (predict.c) */
  uint32_t *head;       /* by cell: first flyer of its list */
  uint64_t *used;       /* bits of cells that contain a flyer, so that empty ones are skipped */
  uint32_t *wall_start, *wall_list;
} tl_event_cells;

/* Flyers by the time of their next event: buckets of equal length over the step; the current bucket
 * is a heap. Events after the end of the step are not queued. */

typedef struct tl_event_queue {
  tl_plan *plans; /* by flyer */
  uint32_t *head; /* by bucket */
  uint32_t *heap; /* flyers of the current bucket */
  uint32_t buckets, current, waiting;
  double most, scale; /* s; buckets per second */
} tl_event_queue;

typedef struct tl_events {
  const tl_crowd *crowd;
  size_t count; /* of flyers, in the order of cells */
  tl_flyer *flyers;
  tl_flyer_body *bodies;
  tl_plan *plans;
  uint32_t *next;     /* in the list of the cell; TL_NONE: last */
  talus_dvec3 *start; /* by flyer: position at the begin of the step */
  tl_event_wall *walls;
  size_t wall_count;
  tl_event_cells cells;
  tl_event_queue queue;
  talus_dvec3 fall; /* m/s2: acceleration; 0 if flights are straight */
  bool is_falling, has_ignored;
  double span;      /* s: length of the step */
  double largest;   /* m: largest radius of a flyer */
  double slowest;   /* m/s: tl_elastic_rebound */
  double fall_time; /* s: tl_elastic_fall */
  tl_tally work;    /* J, by contacts */
  tl_tally load;    /* J, by constant loads */
  double virial;    /* J: impulse times distance of centres, over pairs */
  uint64_t impacts;
} tl_events;

/* load.c: makes flyers and cells from the crowd. */
talus_status tl_events_load(tl_events *events, bool is_straight);

/* walls.c, wall_cells.c: makes walls of the crowd, and lists of walls by cell. */
talus_status tl_events_load_walls(tl_events *events);
talus_status tl_events_place_walls(tl_events *events);

static inline bool tl_event_is_endless(const tl_event_wall *w) {
  return w->kind == TL_WALL_FACE && !(w->half[1] < INFINITY && w->half[2] < INFINITY);
}
static inline bool tl_event_is_revolved(const tl_event_wall *w) {
  return w->kind == TL_WALL_CONE || w->kind == TL_WALL_RING;
}

/* meet.c */
/* Time (s since the begin of the step) at which flyer i, which is at its position of `tau`, touches
 * the wall. */
double tl_events_meet_wall(const tl_events *events, uint32_t i, uint32_t wall, double tau);
/* True if they touch at tau; *normal: unit vector from the nearest point of the wall to the
 * centre. */
bool tl_events_off_wall(const tl_events *events, uint32_t i, uint32_t wall, double tau,
                        talus_dvec3 *normal);
/* Number of flyers whose centre is behind a wall. */
size_t tl_events_count_outside(const tl_events *events);

/* predict.c: plans. */
void tl_events_move(const tl_events *events, uint32_t i, double tau);
talus_status tl_events_plan_all(tl_events *events);
void tl_events_plan(const tl_events *events, uint32_t i, double tau);
/* Prefetch the data that i's next event needs: first cells, then, when these have arrived, the
 * flyers in them. */
void tl_events_prefetch_cells(const tl_events *events, uint32_t i);
void tl_events_prefetch_flyers(const tl_events *events, uint32_t i);
/* Moves the flyer into the next cell and makes a plan with the neighbours there. */
void tl_events_cross(const tl_events *events, uint32_t i, double tau);

/* impact.c: processes the impact at tau. */
talus_status tl_events_strike(tl_events *events, uint32_t i, double tau);
/* Sorts the contacts of the step; each pair occurs once. */
talus_status tl_events_sort_contacts(const tl_events *events);

/* queue.c */
talus_status tl_event_queue_make(tl_event_queue *queue, tl_arena *arena, tl_plan *plans,
                                 size_t count, double most);
void tl_event_queue_set(tl_event_queue *queue, uint32_t i, double when);
/* The first of all, or TL_NONE; it stays in the queue. */
uint32_t tl_event_queue_first(tl_event_queue *queue);

static inline size_t tl_event_cell(const tl_event_cells *cells, const uint16_t at[3]) {
  return ((size_t)at[2] * (size_t)cells->n[1] + at[1]) * (size_t)cells->n[0] + at[0];
}

/* d to the nearest periodic image. */
static inline double tl_event_nearest(const tl_event_cells *cells, int axis, double d) {
  return cells->periodic[axis] ? d - cells->length[axis] * floor(d / cells->length[axis] + 0.5) : d;
}

static inline double *tl_dvec3_axis(talus_dvec3 *v, int axis) {
  return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z;
}

#endif
