/* Joints: they hold bodies together, drive them relative to each other, and may break.
 *
 *   joint.c     the table: checks, frames, names, removal, breaking
 *   rows.c      one joint at a time: rows of the step (kernels/joint.h) and their right-hand sides
 *   assemble.c  bodies moved together before the first step
 *   guard.c     steps that are too long for a joint
 *
 * link.h has the rows as solvers use them; solve/system/link*.c solves them with contacts;
 * docs/theory/joints.md has the formulas.
 */
#ifndef TL_JOINT_JOINT_H
#define TL_JOINT_JOINT_H

#include "base/cancel.h"
#include "kernels/joint.h"
#include "crowd/crowd.h"

#define TL_JOINT_MEMBER(name, type, columns, scalar, flags) type name;
typedef talus_real tl_joint_impulses[TL_JOINT_ROWS];

typedef struct tl_joint {
  char *name;
  uint64_t uid;
  uint32_t kind;
  uint32_t a, b;                  /* slots; TL_NONE: the ground */
  talus_dvec3 anchor_a, anchor_b; /* in the principal frame of the body; of the ground: the world */
  talus_quat frame_a, frame_b;    /* the joint's frame within it; z is the axis */
  talus_dvec3 start_b;            /* rack: anchor of b in the world when the joint was added */
  talus_quat start_frame_a, start_frame_b; /* gear, rack: frames in the world then */
  double length, ratio;
  double low, high, restitution;
  double stiffness, damping, rest;
  uint32_t motor;
  double motor_target, motor_max, motor_stiffness, motor_damping;
  double break_force, break_torque;
  bool rope, about, collide, assemble;
  uint8_t
      told; /* what the log has reported of the joint in this run (guard.c); a step may add to it */

  TL_JOINT_FIELDS(TL_JOINT_MEMBER) /* what time changes */
} tl_joint;

/* What time changes, by itself. */
typedef struct tl_joint_state {
  TL_JOINT_FIELDS(TL_JOINT_MEMBER)
  uint8_t told;
} tl_joint_state;
#undef TL_JOINT_MEMBER

#define TL_JOINT_FIELD_ONE(name, type, columns, scalar, flags) +1
enum { TL_JOINT_FIELD_COUNT = 0 TL_JOINT_FIELDS(TL_JOINT_FIELD_ONE) };
#undef TL_JOINT_FIELD_ONE

/* Offsets are those within tl_joint. */
extern const tl_field tl_joint_fields[TL_JOINT_FIELD_COUNT];

typedef struct tl_apart {
  uint32_t a, b; /* slots, a < b, of bodies that a joint keeps from touching */
} tl_apart;

typedef struct tl_joint_end {
  uint32_t slot, row; /* an entry of a body: a joint that holds it */
} tl_joint_end;

typedef struct tl_joints {
  TL_ARRAY(tl_joint) all; /* in the order of their uids, as the last step left them */
  TL_ARRAY(tl_joint_state)
  after; /* of the current step, by row; tl_joints_take makes them the present ones */
  TL_ARRAY(tl_apart) apart;    /* sorted, unique; derived */
  TL_ARRAY(tl_joint_end) ends; /* ascending by slot, then row; derived */
  bool apart_stale;  /* apart and ends are out of date: tl_joints_prepare finds them again */
  double dt;         /* s: of the step whose impulses they have; 0: not known */
  uint64_t next_uid; /* less one */
  bool must_assemble;
  int told; /* joints whose drift the log has told of */
} tl_joints;

static inline bool tl_joint_acts(const tl_joint *joint) { return !joint->broken; }

/* Whether the joint holds bodies of a crowd. A joint between a member and a body outside does not
 * count, as in a world of the members alone. */
static inline bool tl_joint_acts_within(const tl_joint *joint, const tl_crowd *crowd) {
  return tl_joint_acts(joint) &&
         (joint->a == TL_NONE || tl_crowd_find(crowd, joint->a) != SIZE_MAX) &&
         (joint->b == TL_NONE || tl_crowd_find(crowd, joint->b) != SIZE_MAX);
}

static inline bool tl_joint_has_spring(const tl_joint *joint) {
  return joint->stiffness > 0 || joint->damping > 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

const char *tl_joint_kind_name(uint32_t kind);

/* "joint 'hinge'" or "joint 3" for messages; valid until the next call on this thread. */
const char *tl_joint_describe(const tl_joint *joint);

/* Fills `joint` from a definition whose bodies are in slots a and b; checks everything but names.
 */
talus_status tl_joint_make(const tl_model *model, const tl_state *state, const talus_joint_def *def,
                           uint32_t a, uint32_t b, tl_joint *joint);

/* Checks the numbers and the kind of a joint that was loaded, as tl_joint_make does. */
talus_status tl_joint_check(const tl_model *model, const tl_joint *joint);

/* The anchor on b in the world. */
talus_dvec3 tl_joint_anchor_b(const tl_state *state, const tl_joint *joint);

/* How far the frames are apart: m, angles times the size of the bodies. */
double tl_joint_gap(const tl_model *model, const tl_state *state, const tl_joint *joint);

/* Before a step: makes room for the new states, and finds which pairs joints keep apart and which
 * joints hold each body. */
talus_status tl_joints_prepare(tl_joints *joints);

/* The ends of joints at the body in a slot, *count of them; must not be called while they are out
 * of date. */
const tl_joint_end *tl_joints_at(const tl_joints *joints, uint32_t slot, size_t *count);

/* Removes the candidate pairs that joints keep apart; pairs are sorted by (a, b). */
void tl_joints_keep_apart(const tl_joints *joints, tl_pairs *pairs);

/* After bodies were removed: renumbers slots; joints of bodies that are gone go too, each with a
 * line in the log. */
void tl_joints_renumber(tl_joints *joints, const tl_log *log, const uint32_t *new_slot);

/* Takes one out. */
void tl_joints_remove(tl_joints *joints, size_t row);
void tl_joints_free(tl_joints *joints);

/* A step of length dt goes from the present states of joints to the states after it, by row. The
 * new states begin as copies, with impulses scaled to the same forces over dt; solvers write
 * impulses and loads there, and tl_joints_settle everything else. The old states are only read.
 * tl_joints_take makes the new states the present ones, once the step has succeeded. */
void tl_joints_begin(const tl_joints *joints, double dt, tl_joint_state *after);
void tl_joints_settle(const tl_model *model, const tl_state *state, const tl_joints *joints,
                      tl_joint_state *after);
void tl_joints_take(tl_joints *joints, double dt);
void tl_joints_take_one(tl_joints *joints, size_t row, const tl_joint_state *from);

/* Row of a uid or a name, or SIZE_MAX. */
size_t tl_joints_row(const tl_joints *joints, uint64_t uid);
size_t tl_joints_named(const tl_joints *joints, const char *name);

/* Whether the joint broke in the last step; it keeps the force and torque that broke it until the
 * next step. */
bool tl_joint_just_broke(const tl_joint *joint);

/* After a step: writes a line to the log for each joint that broke. */
void tl_joints_tell_broken(const tl_joints *joints, const tl_log *log, double time);

/* The pairs of bodies of all joints that hold, in the arena; TL_NONE is the ground. */
talus_status tl_joints_pairs(const tl_joints *joints, tl_arena *arena, tl_pairs *pairs);

/* Largest drift of the joints that hold, and the number of those that do not. */
double tl_joints_drift(const tl_joints *joints, size_t *broken);

/* Largest force and torque of the joints in the last step, N and N m. */
void tl_joints_loads(const tl_joints *joints, double *force, double *torque);

/* ---- rows of a step -------------------------------------------------------------------------- */

/* Pose and twist of one of the bodies; the ground has none. */
typedef struct tl_joint_body {
  talus_dvec3 position;
  talus_quat rotation;
  talus_vec3 v, w;
  talus_vec3 inertia; /* principal; equal moments: turns at constant spin; zero: no body at all */
} tl_joint_body;

typedef struct tl_joint_rows {
  int hard;     /* rows that hold always, or with a compliance */
  bool has_law; /* row [hard] follows `law` */
  tl_joint_row row[TL_JOINT_ROWS];
  talus_real bias[TL_JOINT_ROWS]; /* u = J v + bias is what is wanted to be 0 (law: what it sees) */
  talus_real drift[TL_JOINT_ROWS]; /* what of the bias takes back drift of earlier steps */
  talus_real soft[TL_JOINT_ROWS];  /* compliance: u + soft * impulse = 0 */
  talus_real length;               /* m: what a rad counts in residuals and drift */
  talus_vec3 arm_b;
  tl_joint_law law;
} tl_joint_rows;

/* The body in a slot as the state has it. */
tl_joint_body tl_joint_body_at(const tl_model *model, const tl_state *state, uint32_t slot);

/* Advances a body by h at its twist, with the formulas of step/move.c. */
tl_joint_body tl_joint_body_moved(const tl_joint_body *body, double h);

/* Where the frames are. turn_a and turn_b are those nearest to the joint's. */
tl_joint_place tl_joint_find_place(const tl_model *model, const tl_joint *joint,
                                   const tl_joint_body *a, const tl_joint_body *b);

/* The rows at the poses of a and b. The twists in a and b are a guess of those at the end of the
 * step and give the second-order part that straight rows miss. `before`: the speed of the free
 * direction before the step, for restitution, comes from `old_a` and `old_b`. */
typedef struct tl_joint_step {
  double h;
  talus_real recovery_speed, bounce_speed;
  double answer; /* of the free direction: speed per impulse, the joint's other rows held; 0: not
                    known yet, and springs are taken as soft */
} tl_joint_step;
void tl_joint_make_rows(const tl_model *model, const tl_joint *joint, const tl_joint_step *step,
                        const tl_joint_body *a, const tl_joint_body *b, const tl_joint_body *old_a,
                        const tl_joint_body *old_b, tl_joint_rows *rows);

/* The most rows that tl_joint_make_rows makes of a joint. */
int tl_joint_row_room(const tl_joint *joint);

/* The rows that always hold, the rod's included. Returns how many. */
int tl_joint_hold(const tl_joint *joint, const tl_joint_place *place, tl_joint_row *rows);

/* Value of the free direction with whole turns counted; 0 where there is none. */
double tl_joint_value(const tl_joint *joint, const tl_joint_place *place);

/* J in its spring in the middle of the step of length dt that led to the state, where velocities
 * stand. */
double tl_joint_spring_energy(const tl_model *model, const tl_state *state, double dt,
                              const tl_joint *joint);

/* Largest |psi| of the rows that always hold, m (angles times length). */
double tl_joint_drift_of(const tl_joint *joint, const tl_joint_place *place, talus_real length);

/* What a radian counts: the largest bounding radius of the bodies that can move, m. */
talus_real tl_joint_length_of(const tl_model *model, const tl_joint *joint);

/* Sets turns, value and drift of a joint from the state, after it was changed by hand. */
void tl_joint_settle(const tl_model *model, const tl_state *state, tl_joint *joint);

/* ---- assembly -------------------------------------------------------------------------------- */

/* Moves the free bodies of `state` until the frames of all joints meet, as far as possible; on
 * failure nothing has moved. *worst: the row of the joint that is furthest from it; *apart: by how
 * much, m. cancel: may be NULL. */
talus_status tl_joints_assemble(const tl_model *model, tl_joints *joints, tl_state *state,
                                tl_arena *arena, tl_cancel *cancel, size_t *worst, double *apart);

#endif
