/* Refuses steps that are too long for a joint.
 *
 * Rows describe a joint at the start of a step and at the pose that a guess of the velocities leads
 * to. That fails if too much happens in between:
 *   - an angle that changes by half a turn cannot be told from one that changes the other way;
 *   - if a body turns by phi while its axis is held, a push at the start of the step has
 *     (e^(i phi) - 1)/(i phi) of its effect on the tilt at the end, phi times the ratio of the
 *     moments about the axis and across it. From phi = 2.33 on each guess is worse than the one
 *     before, and the result may be a body that turned over in between;
 *   - a rod whose ends pass each other by more than its length has no valid position at the end;
 *   - frames that jump apart in a step were not held by it, and frames that are further apart than
 *     the bodies are large are not held any more.
 * Such a step is refused before it is made. Mere drift is reported once. */
#include "joint/guard.h"

#include <math.h>

#define PI        3.14159265358979323846
#define LEAP      0.5  /* of its size: what a joint may come apart in one step */
#define COARSE    0.5  /* of a rod's length: how far its ends may pass each other without a word */
#define DRIFT     1e-3 /* of its size: what is told */
#define MOST_TOLD 5    /* joints that are told of by name */
#define SAFE_TURN 0.5  /* rad in a step that is suggested */
#define MOTOR_TURN                                                                                 \
  1.0                   /* rad in a step, below what any body's axis can be held at (a disc: 1.17) \
                         */
#define HELD_TURN   1.0 /* rad in a step, of what a joint does not let turn */
#define TOLD_DRIFT  1u
#define TOLD_COARSE 2u

/* What drift is measured by: of a rod its length, if that is less. */
static double size_of(const tl_model *model, const tl_joint *joint) {
  const double size = (double)tl_joint_length_of(model, joint);
  return joint->kind == TALUS_JOINT_DISTANCE ? fmin(size, joint->length) : size;
}

static tl_joint_body body_after(const tl_crowd *crowd, tl_twists twists, uint32_t slot) {
  const tl_model *model = crowd->model;
  tl_joint_body body = tl_joint_body_at(model, crowd->in, slot);
  if (slot != TL_NONE && !tl_body_is_static(model, slot)) {
    const tl_twist twist = tl_twist_of(twists, tl_crowd_find(crowd, slot));
    body.v = twist.velocity;
    body.w = twist.spin;
  }
  return body;
}

/* rad/s; the rate of an angle that is counted with whole turns. */
static double turning_of(const tl_joint *joint, const tl_joint_place *place, const tl_joint_body *a,
                         const tl_joint_body *b) {
  switch (joint->kind) {
  case TALUS_JOINT_GEAR:
    return fmax(fabs((double)tl_dot(place->az, a->w)), fabs((double)tl_dot(place->bz, b->w)));
  case TALUS_JOINT_RACK:
    return fabs((double)tl_dot(place->az, a->w));
  case TALUS_JOINT_CYLINDRICAL:
    if (!joint->about)
      return 0;
    return fabs((double)tl_dot(place->az, tl_sub(b->w, a->w)));
  case TALUS_JOINT_REVOLUTE:
    return fabs((double)tl_dot(place->az, tl_sub(b->w, a->w)));
  default:
    return 0;
  }
}

/* rad/s; how fast the bodies turn relative to each other about axes that the joint locks. */
static double held_turning(const tl_joint *joint, const tl_joint_place *place,
                           const tl_joint_body *a, const tl_joint_body *b) {
  const talus_vec3 w = tl_sub(b->w, a->w);
  switch (joint->kind) {
  case TALUS_JOINT_REVOLUTE:
  case TALUS_JOINT_CYLINDRICAL:
    return (double)tl_length(tl_madd(w, -tl_dot(w, place->az), place->az));
  case TALUS_JOINT_PRISMATIC:
  case TALUS_JOINT_FIXED:
    return (double)tl_length(w);
  default:
    return 0;
  }
}

/* rad/s; spin of the faster of two bodies that are held at a point or an axis. */
static double spin_of(const tl_joint *joint, const tl_joint_body *a, const tl_joint_body *b) {
  if (joint->kind > TALUS_JOINT_FIXED)
    return 0;
  return fmax((double)tl_length(a->w), (double)tl_length(b->w));
}

/* How fast the ends of a rod move relative to each other, across the rod. */
static double passing(const tl_joint_place *place, const tl_joint_body *a, const tl_joint_body *b) {
  const talus_vec3 u = tl_sub(tl_add(b->v, tl_cross(b->w, place->arm_b)),
                              tl_add(a->v, tl_cross(a->w, place->arm_a)));
  const talus_vec3 n = tl_length2(place->d) > 0 ? tl_normalize(place->d) : place->az;
  return (double)tl_length(tl_madd(u, -tl_dot(u, n), n));
}

static bool is_rod(const tl_joint *joint) {
  return joint->kind == TALUS_JOINT_DISTANCE && !joint->rope;
}

static talus_status guard_rod(const tl_crowd *crowd, size_t row, double speed, const tl_log *log) {
  const tl_joint *joint = &crowd->joints->all.data[row];
  tl_joint_state *after = &crowd->joints_after[row];
  const double h = crowd->dt;
  if (speed * h > joint->length)
    return tl_fail(TALUS_ERROR_DIVERGED,
                   "%s: its ends pass each other by %.3g m within a step, but it is only %.3g m "
                   "long; take a dt below %.2g s",
                   tl_joint_describe(joint), speed * h, joint->length,
                   SAFE_TURN * joint->length / speed);
  if (speed * h > COARSE * joint->length && !(after->told & TOLD_COARSE)) {
    after->told |= TOLD_COARSE;
    tl_log_write(log, TL_LOG_WARN,
                 "%s: at t = %g s its ends pass each other by %.3g m within a step, and it is "
                 "%.3g m long: how it moves is coarse; a dt of %.2g s would do (said once)",
                 tl_joint_describe(joint), crowd->t0, speed * h, joint->length,
                 SAFE_TURN * joint->length / speed);
  }
  return TALUS_OK;
}

/* The faster body's spin before the step, which may be why the step failed. */
static double spin_before(const tl_state *state, const tl_joint *joint) {
  const double a = joint->a == TL_NONE ? 0 : (double)tl_length(state->spin[joint->a]);
  const double b = joint->b == TL_NONE ? 0 : (double)tl_length(state->spin[joint->b]);
  return fmax(a, b);
}

static talus_status guard_one(const tl_crowd *crowd, tl_twists twists, size_t row) {
  const tl_model *model = crowd->model;
  const tl_joint *joint = &crowd->joints->all.data[row];
  const double h = crowd->dt;
  const double last = spin_before(crowd->in, joint);
  const tl_joint_body a = body_after(crowd, twists, joint->a);
  const tl_joint_body b = body_after(crowd, twists, joint->b);
  const tl_joint_place now = tl_joint_find_place(model, joint, &a, &b);
  const double held = held_turning(joint, &now, &a, &b);
  if (held * h >= HELD_TURN)
    return tl_fail(TALUS_ERROR_DIVERGED,
                   "%s: its axis, which is held, would turn by %.3g rad within a step, because its "
                   "bodies turn by %.3g rad; take a dt below %.2g s, or let them turn more slowly",
                   tl_joint_describe(joint), held * h, last * h, MOTOR_TURN / fmax(last, 1e-300));
  const double turning = fmax(turning_of(joint, &now, &a, &b), spin_of(joint, &a, &b));
  if (turning * h >= PI)
    return tl_fail(TALUS_ERROR_DIVERGED,
                   "%s turns by %.3g rad within a step of %g s; from half a turn on its direction "
                   "cannot be told; take a dt below %.2g s, or let it turn more slowly",
                   tl_joint_describe(joint), turning * h, h, MOTOR_TURN / turning);
  if (is_rod(joint))
    TL_TRY(guard_rod(crowd, row, passing(&now, &a, &b), &model->log));
  const tl_joint_body next_a = tl_joint_body_moved(&a, h), next_b = tl_joint_body_moved(&b, h);
  const tl_joint_place then = tl_joint_find_place(model, joint, &next_a, &next_b);
  const talus_real length = tl_joint_length_of(model, joint);
  const double drift = tl_joint_drift_of(joint, &then, length);
  const double leap = drift - tl_joint_drift_of(joint, &now, length);
  if (leap > LEAP * size_of(model, joint))
    return tl_fail(TALUS_ERROR_DIVERGED,
                   "%s comes apart by %.3g m within a step, more than half its size of %.3g m; "
                   "take a smaller dt, or more solver iterations",
                   tl_joint_describe(joint), leap, size_of(model, joint));
  if (leap > 0 && drift > size_of(model, joint))
    return tl_fail(
        TALUS_ERROR_DIVERGED,
        "%s has come apart by %.3g m, more than its size of %.3g m, and holds nothing any "
        "more; take a smaller dt, more solver iterations or `joints: direct`",
        tl_joint_describe(joint), drift, size_of(model, joint));
  return TALUS_OK;
}

talus_status tl_joints_guard_start(const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  const tl_joints *joints = crowd->joints;
  for (size_t i = 0; joints && i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (!is_rod(joint) || !tl_joint_acts_within(joint, crowd))
      continue;
    const tl_joint_body a = tl_joint_body_at(model, crowd->in, joint->a);
    const tl_joint_body b = tl_joint_body_at(model, crowd->in, joint->b);
    const tl_joint_place place = tl_joint_find_place(model, joint, &a, &b);
    TL_TRY(guard_rod(crowd, i, passing(&place, &a, &b), &model->log));
  }
  return TALUS_OK;
}

typedef struct guard_job {
  const tl_model *model;
  const tl_crowd *crowd;
  tl_twists twists;
} guard_job;

/* Rods are not reported here: their reports come in the order of the table. */
static bool is_refused(void *context, size_t i) {
  const guard_job *job = context;
  const tl_joint *joint = &job->crowd->joints->all.data[i];
  return !is_rod(joint) && tl_joint_acts_within(joint, job->crowd) &&
         guard_one(job->crowd, job->twists, i) != TALUS_OK;
}

talus_status tl_joints_guard(const tl_crowd *crowd, tl_twists twists) {
  const tl_model *model = crowd->model;
  const tl_joints *joints = crowd->joints;
  guard_job job = {model, crowd, twists};
  if (!joints)
    return TALUS_OK;
  const size_t refused = tl_find_first(&model->par, joints->all.count, is_refused, &job);
  for (size_t i = 0; i < joints->all.count && i <= refused; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (i == refused || (is_rod(joint) && tl_joint_acts_within(joint, crowd)))
      TL_TRY(guard_one(crowd, twists, i)); /* with its message here */
  }
  return TALUS_OK;
}

void tl_joints_tell_coarse(const tl_model *model, const tl_joints *joints,
                           const tl_joint_state *after, double time) {
  for (size_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if ((after[i].told & TOLD_COARSE) && !(joint->told & TOLD_COARSE))
      tl_log_write(&model->log, TL_LOG_WARN,
                   "%s: before t = %g s its ends pass each other by more than half its length of "
                   "%.3g m within a step: how it moves is coarse; a smaller step.max would do "
                   "(said once)",
                   tl_joint_describe(joint), time, joint->length);
  }
}

void tl_joints_tell_drift(const tl_model *model, tl_joints *joints, double time) {
  for (size_t i = 0; joints->told <= MOST_TOLD && i < joints->all.count; ++i) {
    tl_joint *joint = &joints->all.data[i];
    const bool held = tl_joint_acts(joint) || tl_joint_just_broke(joint);
    if (!held || (joint->told & TOLD_DRIFT) || !(joint->drift > DRIFT * size_of(model, joint)))
      continue;
    joint->told |= TOLD_DRIFT;
    if (joints->told++ == MOST_TOLD)
      tl_log_write(&model->log, TL_LOG_WARN,
                   "more joints drift; joint_drift of the history has the largest");
    else
      tl_log_write(&model->log, TL_LOG_WARN,
                   "%s has come apart by %.3g m at t = %g s, more than a thousandth of its size; "
                   "a smaller dt, more iterations or `joints: direct` would hold it (said once)",
                   tl_joint_describe(joint), joint->drift, time);
  }
}

talus_status tl_joint_check_motor_speed(const tl_joint *joint, double dt) {
  const bool turns = joint->kind == TALUS_JOINT_REVOLUTE || joint->about;
  if (joint->motor != TALUS_MOTOR_SPEED || !turns || tl_is_finite_d(joint->motor_max) ||
      fabs(joint->motor_target) * dt <= MOTOR_TURN)
    return TALUS_OK;
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s: its motor turns at %g rad/s, %.3g rad in a step of %g s, and it can be held "
                 "up to 1 rad; take a dt below %.2g s, a lower speed, or a motor with a cap",
                 tl_joint_describe(joint), joint->motor_target, fabs(joint->motor_target) * dt, dt,
                 MOTOR_TURN / fabs(joint->motor_target));
}
