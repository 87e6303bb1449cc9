/* The world: it owns all data of a simulation. Public calls are in world.c and the other files of
 * this folder; a checkpoint (output/checkpoint.c) holds every member that affects results. */
#ifndef TL_WORLD_H
#define TL_WORLD_H

#include "backend/backend.h"
#include "base/cancel.h"
#include "base/pace.h"
#include "contact/contact.h"
#include "contact/passing.h"
#include "crowd/flights.h"
#include "flow/flow.h"
#include "joint/joint.h"
#include "narrow/multires.h"
#include "step/local/local.h"
#include "crowd/model.h"
#include "crowd/residency.h"
#include "solve/penalty/penalty.h"
#include "step/step.h"

/* A row of the handle table. */
typedef struct tl_handle {
  uint32_t slot; /* TL_NONE: free */
  uint32_t generation;
} tl_handle;

/* Names are few beside bodies, so they are kept apart: ascending by uid. */
typedef struct tl_body_name {
  uint64_t uid;
  char *name;
} tl_body_name;

/* Laws told for a pair of materials, a <= b. */
typedef struct tl_pair_override {
  uint32_t a, b;
  tl_pair_law law;
} tl_pair_override;

/* A load that changes with time (world/course.c). */
enum {
  TL_COURSE_FORCE,  /* of a body */
  TL_COURSE_TORQUE, /* likewise */
  TL_COURSE_MOTOR,  /* target of a joint's motor */
  TL_COURSE_MAX,    /* what a joint's motor gives at most */
  TL_COURSE_PRESS,  /* of a body that presses by springs */
  TL_COURSES
};
typedef struct tl_course {
  uint64_t uid; /* of the body, or of the joint */
  uint32_t kind, rows;
  uint64_t first;   /* of its numbers in course_values */
  double clock;     /* s: what its clock reads at time 0 of the world */
  double axis[3];   /* press: unit */
  double max_speed; /* press: m/s */
} tl_course;

/* What is left to do of the last step after its bodies have moved: nothing, unless memory ran out.
 * The next call finishes it (world/step.c). */
typedef struct tl_unfinished_step {
  enum {
    TL_UNFINISHED_NONE,
    TL_UNFINISHED_ZONES,
    TL_UNFINISHED_WATCH,
    TL_UNFINISHED_REMOVE,
    TL_UNFINISHED_EMIT,
    TL_UNFINISHED_ADD
  } from;
  double t0, dt;   /* s: when the step began, and how long it was */
  double spring;   /* J, stored in springs of joints before it */
  size_t zone;     /* the next to act */
  size_t added;    /* of the fresh bodies */
  bool was_pushed; /* before they were */
} tl_unfinished_step;

/* Whom a zone binds to a body of this group is awake since then: nobody falls asleep between steps.
 * So moving many bodies by hand takes one pass over all, not one for each. */
typedef struct tl_roused {
  bool is_known;
  uint32_t group;
  double time;
} tl_roused;

/* Of adaptive steps (world/adaptive.c); saved, but for `stops`. */
typedef struct tl_adaptive {
  bool stops;          /* talus_world_step returns where an interval of a probe ends, too */
  double longest;      /* s: the next step is no longer; 0: as long as it likes */
  double least;        /* s: the shortest since a line of history.csv; 0: none */
  uint64_t swept, cut; /* pairs and steps: sums over all steps */
  uint64_t cut_by[2];  /* uids of the last pair that cut one short; 0: none */
  uint64_t steps[TL_LENGTHS], body_steps[TL_LENGTHS]; /* by length: sums; body_steps: of all that
                                                         may move */
} tl_adaptive;

/* Looks at a step that has been computed and does not count yet: crowd->in and crowd->out are its
 * two ends. */
typedef talus_status tl_watch_fn(void *context, const tl_crowd *crowd);

/* A view that is mapped. */
typedef struct tl_mapping {
  uint64_t ticket;
  talus_field field;
  int access;
} tl_mapping;

struct talus_world {
  tl_model model;      /* properties included */
  tl_state state;      /* at `time` */
  size_t capacity;     /* rows that every array has room for */
  tl_state next_state; /* fields that are TL_STEPPED: of the step before, where the next one goes */
  size_t next_capacity;
  uint64_t next_uid;
  uint64_t steps;
  double time; /* s: steps * dt to the bit as long as all steps were fixed ones */
  TL_ARRAY(tl_handle) handles;
  TL_ARRAY(uint32_t) free_handles; /* last in, first out */
  TL_ARRAY(tl_body_name) names;
  TL_ARRAY(uint64_t) name_index; /* hash table of uids by name; derived, not saved */
  TL_ARRAY(char *) groups;       /* group g is groups.data[g - 1] */
  TL_ARRAY(tl_pair_override) overrides;
  tl_contacts contacts; /* of the last step */
  tl_contacts next;     /* of the step under way; a step that goes well swaps the two */
  tl_joints joints;
  TL_ARRAY(tl_course) courses; /* in the order in which they were set */
  TL_ARRAY(double) course_values;
  tl_residency
      where; /* where the rows of bodies, contacts and joints are: code that uses them asks this */
  tl_penalty penalty;
  tl_local local; /* its counts are saved */
  tl_flow flow;
  tl_flights flights; /* of the last step, where averages go by them; not saved */
  tl_arena arena;
  tl_new_bodies fresh; /* emitted this step */
  tl_unfinished_step unfinished;
  const tl_backend *backend;
  talus_backend steps_on; /* where steps run (world/device.c); not saved */
  bool no_fallback;
  const char *fallback; /* why they do not run there; NULL: they do */
  talus_device_use device_use;
  talus_broad_kind broad_told; /* what the log last said of `auto` */
  bool guard_told;             /* that a solver shortened its step */
  bool threads_told;           /* that there are fewer threads than were asked for */
  uint32_t strict;             /* TALUS_STRICT_... */
  char offence[1024];          /* against it, in the step under way; "": none */
  tl_broad_cache broad_cache;  /* nothing depends on it but time */
  tl_kept_axes kept_axes;      /* nor on this */
  tl_multires multires;        /* of one implicit step */
  tl_widths widths;            /* of shapes; derived */
  tl_passings passings;        /* bodies that passed through walls in the step under way */
  bool has_rooms;              /* of passings: not all are 0 */

  /* What happened so far. */
  tl_step_report last;
  uint64_t emitted, removed;
  tl_wall_share walls;       /* sums over all steps */
  uint64_t sunk, sunk_first; /* bodies that sank (world/sink.c), and the uid of the first of them */
  double wall[4];            /* broad, narrow, solve, step */
  double contact_work, load_work, flow_energy; /* J, sums over all steps */
  double made_energy;                          /* J, likewise */
  uint64_t energy_corrections, unconverged;    /* islands and steps; steps */
  double worst_residual, worst_time;           /* m/s, s: of the worst of those steps */
  uint64_t worst_body;                         /* uid */
  double joint_work;                           /* J, likewise, without what springs store */
  double damping_work, friction_work;          /* likewise, penalty */
  double step_loss;                            /* likewise: what implicit steps took */
  tl_adaptive adaptive;
  uint64_t collisions, hasty;      /* elastic: sums over all steps */
  double virial;                   /* J, likewise */
  uint64_t comparisons, fallbacks; /* of triangles (narrow/counts.h): sums over all steps */
  double zone_energy, zone_work;   /* J: potential now; sum over all steps */

  TL_ARRAY(tl_mapping) mapped; /* views; not saved */
  bool records_left;           /* what leaves is remembered, until somebody takes it; not saved */
  TL_ARRAY(talus_left) left;
  talus_log_fn *log;
  void *log_context;
  bool is_telling; /* the log callback is being called */
  tl_roused roused;
  bool is_rearranged; /* bodies were added or moved since tl_world_check_crowding */

  tl_pace pace;  /* all threads or one; not saved: it changes time, never bits */
  bool has_pace; /* TALUS_PACE is not off */

  tl_watch_fn *watch; /* of audits; NULL: nobody looks; not saved */
  void *watch_context;

  const volatile int *interrupt; /* not 0: steps are given up; may be NULL */
  tl_cancel cancel;
};

/* "body 17 'ball'" or "body 17" for messages; valid until the next call but one on this thread. */
const char *tl_world_describe(const talus_world *world, uint32_t slot);

/* Name of a body by uid, or NULL. */
const char *tl_world_name_of(const talus_world *world, uint64_t uid);

/* Uid of the body of that name, or 0. */
uint64_t tl_world_uid_of(const talus_world *world, const char *name);

/* Appends a name (which the world then owns) of the newest body. */
talus_status tl_world_add_name(talus_world *world, uint64_t uid, char *name);

/* Takes out the names of bodies that are gone, and makes the index of names anew. */
talus_status tl_world_index_names(talus_world *world);

/* Kinetic and potential energy of a body, J; 0 if it is static. The caller has called tl_need. */
double tl_world_energy_of(const talus_world *world, size_t slot);

/* Slot of the body with that uid, or TL_NONE. */
uint32_t tl_world_slot_of(const talus_world *world, uint64_t uid);

/* Gives back the memory of the state that the next step goes to. */
void tl_world_free_next(talus_world *world);

/* Makes room for n bodies in all. */
talus_status tl_world_reserve(talus_world *world, size_t n);

/* Slot of a handle, or TALUS_ERROR_STALE. */
talus_status tl_world_slot(const talus_world *world, talus_body body, uint32_t *slot);

/* Whether a motion can be followed; `what` is whose it is. */
talus_status tl_world_check_motion(const talus_motion *motion, const char *what);
talus_status tl_world_check_surface(const talus_motion *motion, const tl_shape *shape,
                                    talus_quat rotation, const char *what);
/* Makes room for a motion, so that adding it cannot fail. */
talus_status tl_world_reserve_motion(talus_world *world, const talus_motion *motion);
/* The body in the slot moves from its present pose, that of time 0, and is put where it is now. */
void tl_world_add_motion(talus_world *world, uint32_t slot, const talus_motion *motion);
/* The newest body goes on with the motion of a body of another world where that was. */
talus_status tl_world_borrow_motion(talus_world *world, uint32_t slot, const talus_world *old,
                                    uint32_t old_slot);
/* A line in the log for every table that ends within the step. */
void tl_world_tell_tables(const talus_world *world, double t0, double t1);

/* Public calls that change a world begin with this check: the world is not NULL, and the call does
 * not come from its own log callback, which runs in the middle of a step. */
talus_status tl_world_may_change(const talus_world *world, const char *call);
#define TL_MAY_CHANGE(world) TL_TRY(tl_world_may_change((world), __func__))

/* Fails while a view is mapped; `what` is what the caller wanted to do. */
talus_status tl_world_not_mapped(const talus_world *world, const char *what);

/* Takes out every body with remove[slot] != 0; the others keep their order. Returns how many. */
talus_status tl_world_compact(talus_world *world, const uint8_t *remove, size_t *removed);

/* Removes the bodies from slot `before` on, so that a call that failed halfway has added nothing.
 * Returns `status`. */
talus_status tl_world_take_back(talus_world *world, size_t before, talus_status status);

/* Laws of every pair of materials: the smaller of the two, with overrides laid over. */
talus_status tl_world_make_laws(talus_world *world);

/* Whether the next step runs on a device (world/device.c): tells once why not, or refuses. */
talus_status tl_world_find_place(talus_world *world, bool *on_device);
/* Such a step. */
talus_status tl_world_step_on_device(talus_world *world, const tl_crowd *crowd);

/* Whether the numbers of a law are such as a contact can use. */
bool tl_law_is_valid(const tl_pair_law *law);

/* Says which laws the pairs have (model.law_kinds), from the table. */
void tl_world_find_law_kinds(talus_world *world);

/* The world was changed by a call (world/changed.c). Every call that changes it ends with this, and
 * begins with tl_need(fields it writes | TL_THE_AFTERMATH, TL_READ | TL_WRITE). Only this function
 * wakes bodies, marks forces as old and drops kept candidates. */
enum {
  TL_CHANGED_TABLES = 0,   /* tables have grown: nobody feels it yet */
  TL_CHANGED_FORCES = 1,   /* of the body: its velocity, loads, what holds it: it wakes */
  TL_CHANGED_PLACE = 2,    /* of the body, which may be new: it wakes, and a wall wakes others */
  TL_CHANGED_LAWS = 4,     /* for all: gravity, materials, groups, sleep: everybody wakes */
  TL_CHANGED_PAIRS = 8,    /* rows or who meets whom: candidates that are kept are of no use */
  TL_CHANGED_BY_ZONES = 16 /* places of bodies that zones have turned, and woken */
};
#define TL_EVERYBODY     TL_NONE /* with TL_CHANGED_FORCES: those that move */
#define TL_THE_AFTERMATH (TL_THE(sleep_flags) | TL_THE(spring_force) | TL_THE(spring_torque))
void tl_changed(talus_world *world, unsigned what, uint32_t slot);

/* How far bodies may go before they can reach a wall is not known any more (contact/passing.h). */
void tl_world_forget_rooms(talus_world *world);
/* Wakes bodies that touch, or are joined to, or feel the zone of, a body that is about to be
 * removed. */
void tl_world_wake_touching(talus_world *world, const uint8_t *remove);

/* Sleep (world/sleep.c). Whether the settings make sense; room for the field `sleep_flags` where
 * bodies may sleep; how many sleep. */
talus_status tl_sleep_check(const talus_sleep_def *sleep);
talus_status tl_strict_check(uint32_t strict);
talus_status tl_world_reserve_sleep(talus_world *world);
size_t tl_world_count_asleep(const talus_world *world);

/* After a step: says which joints drift, and which of them broke, whose bodies wake
 * (world/joints.c). */
void tl_world_tell_joints(talus_world *world);

/* talus_world_assemble, which a step does before it begins where a joint asks for it. */
talus_status tl_world_assemble(talus_world *world, tl_cancel *cancel, double *apart);

/* J in the springs of joints (tl_joint_spring_energy). */
double tl_world_spring_energy(const talus_world *world);

/* Penalty: room for the forces that it keeps. */
talus_status tl_world_reserve_push(talus_world *world);

/* Does what is left of the last step, where memory was missing for it. */
talus_status tl_world_finish_step(talus_world *world);

/* Refuses bodies that all lie at one place (world/crowding.c); where none was put anywhere since
 * the last call there is nothing to do. */
talus_status tl_world_check_crowding(talus_world *world);

/* Elastic (world/elastic.c). Whether the settings go together; whether bodies are such as it knows,
 * and the step short enough for the hard shell; what a step did is added up. */
talus_status tl_elastic_check(const talus_world_def *def);
talus_status tl_world_check_elastic(talus_world *world);
void tl_world_note_elastic(talus_world *world);

/* Something happened in this step that `strict` may forbid (world/strict.c): writes a warning to
 * the log or, if `strict` forbids it, ends the run after this step; the first such event counts. */
void tl_world_offend(talus_world *world, uint32_t kind, const char *fmt, ...) TL_PRINTF(3, 4);
/* TALUS_ERROR_STRICT if something forbidden happened in the step, whose state is kept all the same.
 */
talus_status tl_world_end_strictly(talus_world *world);

/* After a step, before bodies are added and removed: the largest overlap goes to the report, and a
 * body that sank is reported, once (world/sink.c). */
talus_status tl_world_watch(talus_world *world);

/* Whether some zone changes velocities or places. */
bool tl_world_has_acting_zones(const talus_world *world);
/* Before a step: what zones hold together, in the world's arena; none where nobody sleeps. */
talus_status tl_world_find_bonds(talus_world *world, tl_pairs *bonds);
/* Whether the zone goes with the world that it is in. */
talus_status tl_world_check_zone(const talus_world *world, const talus_zone_def *def);

/* After a step, before anything is measured: zones act (world/zones.c). */
talus_status tl_world_act_zones(talus_world *world);

/* Records the bodies with remove[slot] != 0, if that is wanted (world/left.c); there must be room
 * for them. The caller has called tl_need for the rows of bodies. */
talus_status tl_world_reserve_left(talus_world *world, size_t leaving);
void tl_world_note_left(talus_world *world, const uint8_t *remove);

/* Sets all loads that have a course to what they are in the step from the world's time on. */
talus_status tl_world_follow_courses(talus_world *world);

/* Whether a place is beyond the domain, where that is not periodic. */
bool tl_world_is_outside(const talus_domain_def *domain, talus_dvec3 x);

/* Adaptive steps (world/adaptive.c): whether the settings make sense; whether bodies overlap before
 * the first step, which names both; where the next step should
 * end, and how long it then is; what a step of length dt did is added up. */
talus_status tl_adaptive_check(const talus_world_def *def);
talus_status tl_implicit_check(const talus_world_def *def);
talus_status tl_world_check_start(talus_world *world, const tl_crowd *crowd);
void tl_world_plan_adaptive(const talus_world *world, double *t1, double *dt);
double
tl_world_next_end(const talus_world *world); /* s: the next time of the grid, or of the clock */
/* Whether the last step ended an interval of a probe; of one, whether one ended after `since`. */
bool tl_world_is_at_probe(const talus_world *world);
bool tl_world_probe_is_due(const talus_world *world, size_t probe, double since);
void tl_world_note_adaptive(talus_world *world, const tl_crowd *crowd, double planned);
/* Who cut the last step, if somebody did: 0 where nobody is to blame. */
void tl_world_note_cut(talus_world *world);
/* Local time (world/local.c): likewise; room for the field `pace`; what a step did is added up. */
talus_status tl_local_check(const talus_world_def *def);
talus_status tl_world_reserve_pace(talus_world *world);
void tl_world_note_local(talus_world *world);
void tl_world_plan_local(talus_world *world, double *t1, double *dt);
/* Before the first step: whether joints hold all that moves together, so that it is one cluster. */
talus_status tl_world_tell_bound(talus_world *world);
/* Numbers of a row; whether the rows of a course make sense (`what` is whose it is). */
size_t tl_course_columns(uint32_t kind);
talus_status tl_course_check(uint32_t kind, const double *rows, size_t count, const char *what);
/* A course of another world for a body or joint of this one. */
talus_status tl_world_borrow_course(talus_world *world, const talus_world *old,
                                    const tl_course *course, uint64_t uid);

/* A copy of a name; NULL stays NULL. */
talus_status tl_copy_text(const char *text, char **copy);

/* An empty world with default settings and no bodies: what a loader fills. */
talus_status tl_world_new(talus_world **world);

/* Checks that what was loaded or written makes a world: finite, in range, no dangling rows. */
talus_status tl_world_validate(const talus_world *world);

/* Tells springs what emitters will add, as long as that matters. In world/stiffness.c. */
talus_status tl_world_expect_bodies(talus_world *world);

#endif
