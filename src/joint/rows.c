/* From joints and poses to rows.
 *
 * A row is the tangent of Psi, and a step along a tangent leaves a curve by h^2: a pendulum would
 * be longer by (h w)^2 / 2 after every step. So rows are made to meet Psi = 0 at the END of the
 * step: with a guess of the velocities there, Psi is looked at in the pose that the guess leads to,
 * by the same formulas as step/move.c, and only the difference to the guess is taken along the
 * tangent:
 *
 *   J (v' - v_guess) h + Psi(pose of v_guess) = 0
 *
 * With exact impulses this is the step of Ryckaert, Ciccotti and Berendsen 1977 (SHAKE):
 * symplectic, of second order. */
#include "base/trig.h"
#include "joint/joint.h"
#include "kernels/bias.h"
#include "kernels/rotation.h"

#include <math.h>

#define PI 3.14159265358979323846

/* ---- places ---------------------------------------------------------------------------------- */

tl_joint_body tl_joint_body_at(const tl_model *model, const tl_state *state, uint32_t slot) {
  tl_joint_body body = {.rotation = {1, 0, 0, 0}};
  if (slot == TL_NONE)
    return body;
  const uint32_t turns = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
  body.position = state->position[slot];
  body.rotation = state->rotation[slot];
  body.v = state->velocity[slot];
  body.w = state->spin[slot];
  body.inertia = tl_body_inertia(model, slot);
  if ((model->property.flags[slot] & (TL_FLAG_STATIC | turns)) != 0)
    body.inertia = tl_vec3(1, 1, 1);
  return body;
}

tl_joint_body tl_joint_body_moved(const tl_joint_body *body, double h) {
  tl_joint_body there = *body;
  if (body->inertia.x > 0 || body->inertia.y > 0) {
    there.position = tl_dmadd(body->position, h, body->v);
    tl_free_rotation(&there.rotation, &there.w, body->inertia, (talus_real)h);
  }
  return there;
}

/* The angle that differs from `angle` by whole turns and is nearest to `last`. */
static double unwrapped(double angle, double last) {
  return angle + 2 * PI * floor((last - angle) / (2 * PI) + 0.5);
}

/* The angle by which x has turned about the axis of `start`; in `start`, x was the first axis. */
static double turned(talus_quat start, talus_vec3 x) {
  const talus_vec3 x0 = tl_quat_rotate(start, tl_vec3(1, 0, 0));
  const talus_vec3 z0 = tl_quat_rotate(start, tl_vec3(0, 0, 1));
  return tl_atan2_d((double)tl_dot(z0, tl_cross(x0, x)), (double)tl_dot(x0, x));
}

tl_joint_place tl_joint_find_place(const tl_model *model, const tl_joint *joint,
                                   const tl_joint_body *a, const tl_joint_body *b) {
  tl_joint_place p = {0};
  p.arm_a = tl_quat_rotate(a->rotation, tl_narrow(joint->anchor_a));
  p.arm_b = tl_quat_rotate(b->rotation, tl_narrow(joint->anchor_b));
  const talus_dvec3 at_a = joint->a == TL_NONE ? joint->anchor_a : tl_moved(a->position, p.arm_a);
  const talus_dvec3 at_b = joint->b == TL_NONE ? joint->anchor_b : tl_moved(b->position, p.arm_b);
  p.d = tl_narrow(tl_model_offset(model, at_a, at_b));
  const talus_quat frame_a = tl_quat_mul(a->rotation, joint->frame_a);
  const talus_quat frame_b = tl_quat_mul(b->rotation, joint->frame_b);
  p.ax = tl_quat_rotate(frame_a, tl_vec3(1, 0, 0));
  p.ay = tl_quat_rotate(frame_a, tl_vec3(0, 1, 0));
  p.az = tl_quat_rotate(frame_a, tl_vec3(0, 0, 1));
  p.bx = tl_quat_rotate(frame_b, tl_vec3(1, 0, 0));
  p.by = tl_quat_rotate(frame_b, tl_vec3(0, 1, 0));
  p.bz = tl_quat_rotate(frame_b, tl_vec3(0, 0, 1));
  if (joint->kind == TALUS_JOINT_GEAR || joint->kind == TALUS_JOINT_RACK) {
    p.turn_a = unwrapped(turned(joint->start_frame_a, p.ax), joint->turn_a);
    p.turn_b = unwrapped(turned(joint->start_frame_b, p.bx), joint->turn_b);
    p.rail = tl_quat_rotate(joint->start_frame_b, tl_vec3(0, 0, 1));
    p.way_b = tl_dot(tl_narrow(tl_model_offset(model, joint->start_b, at_b)), p.rail);
  }
  return p;
}

double tl_joint_value(const tl_joint *joint, const tl_joint_place *place) {
  tl_joint_row row;
  if (!tl_joint_free_row((int)joint->kind, joint->about, place, &row))
    return 0;
  return row.turning ? unwrapped((double)row.psi, joint->turn_a) : (double)row.psi;
}

/* ---- rows ------------------------------------------------------------------------------------ */

int tl_joint_hold(const tl_joint *joint, const tl_joint_place *place, tl_joint_row *rows) {
  int n = tl_joint_hard_rows((int)joint->kind, place, (talus_real)joint->ratio, rows);
  if (joint->kind == TALUS_JOINT_DISTANCE && !joint->rope) {
    rows[n] = tl_joint_length(place);
    rows[n++].psi -= (talus_real)joint->length;
  }
  return n;
}

static talus_real speed_of(const tl_joint_row *row, const tl_joint_body *a,
                           const tl_joint_body *b) {
  return tl_dot(row->la, a->v) + tl_dot(row->aa, a->w) + tl_dot(row->lb, b->v) +
         tl_dot(row->ab, b->w);
}

talus_real tl_joint_length_of(const tl_model *model, const tl_joint *joint) {
  talus_real length = 0;
  const uint32_t slots[2] = {joint->a, joint->b};
  for (int k = 0; k < 2; ++k)
    if (slots[k] != TL_NONE && !tl_body_is_static(model, slots[k]))
      length =
          tl_max(length, tl_body_shape(model, slots[k])->radius * model->property.scale[slots[k]]);
  return length > 0 ? length : 1;
}

double tl_joint_drift_of(const tl_joint *joint, const tl_joint_place *place, talus_real length) {
  tl_joint_row rows[TL_JOINT_HARD];
  const int n = tl_joint_hold(joint, place, rows);
  talus_real most = 0;
  for (int i = 0; i < n; ++i)
    most = tl_max(most, tl_abs(rows[i].psi) * (rows[i].turning ? length : 1));
  if (joint->kind == TALUS_JOINT_DISTANCE && joint->rope)
    most = tl_max(0, tl_length(place->d) - (talus_real)joint->length);
  return (double)most;
}

/* The motor at value x; a prescribed impulse is limited by its cap. */
static tl_joint_law find_law(const tl_joint *joint, double x, double h) {
  tl_joint_law law = {.cap = TL_REAL_MAX, .low = -TL_REAL_MAX, .high = TL_REAL_MAX};
  if (joint->motor != TALUS_MOTOR_NONE)
    law.cap = (talus_real)fmin(h * joint->motor_max, (double)TL_REAL_MAX);
  const double pd = h * joint->motor_stiffness + joint->motor_damping;
  switch (joint->motor) {
  case TALUS_MOTOR_SPEED:
    law.motor_rigid = true;
    law.motor_offset = (talus_real)-joint->motor_target;
    break;
  case TALUS_MOTOR_POSITION:
    law.motor_slope = (talus_real)(h * pd);
    law.motor_offset = (talus_real)(joint->motor_stiffness * (x - joint->motor_target) / pd);
    break;
  case TALUS_MOTOR_FORCE:
    law.push = tl_clamp((talus_real)(h * joint->motor_target), -law.cap, law.cap);
    break;
  default:
    break;
  }
  return law;
}

/* Limits as speeds, with the same bias as a contact (kernels/bias.h). */
static void find_limits(const tl_joint *joint, const tl_joint_step *step, double x,
                        talus_real before, talus_real unit, tl_joint_law *law) {
  const talus_real h = (talus_real)step->h, e = (talus_real)joint->restitution;
  const talus_real recovery = step->recovery_speed / unit, bounce = step->bounce_speed / unit;
  const double high = joint->rope ? joint->length : joint->high;
  if (tl_is_finite_d(joint->low))
    law->low = -tl_limit_bias((talus_real)(x - joint->low), h, before, e, recovery, bounce);
  if (tl_is_finite_d(high))
    law->high = tl_limit_bias((talus_real)(high - x), h, -before, e, recovery, bounce);
  if (law->low > law->high) /* the two limits coincide, with a bounce or a recovery */
    law->low = law->high = (law->low + law->high) / 2;
}

static bool is_limited(const tl_joint *joint) {
  return tl_is_finite_d(joint->low) || tl_is_finite_d(joint->high) || joint->rope;
}

/* Whether the free direction has a limit, spring or motor that acts. */
static bool is_driven(const tl_joint *joint) {
  return tl_joint_has_spring(joint) || joint->motor != TALUS_MOTOR_NONE || is_limited(joint);
}

int tl_joint_row_room(const tl_joint *joint) {
  static const tl_joint_place nowhere;
  tl_joint_row rows[TL_JOINT_HARD];
  return tl_joint_hold(joint, &nowhere, rows) + (is_driven(joint) ? 1 : 0);
}

/* A linear law makes a row with a compliance, which the joint's own block and the direct solver
 * include. */
static void straighten(const tl_joint *joint, tl_joint_rows *rows) {
  const tl_joint_law *law = &rows->law;
  const int i = rows->hard;
  if (is_limited(joint) || law->push != 0 || law->cap < TL_REAL_MAX)
    return;
  if (law->motor_rigid) {
    rows->soft[i] = 0;
    rows->bias[i] += law->motor_offset;
  } else {
    const talus_real slope = law->slope + law->motor_slope;
    if (!(slope > 0))
      return;
    rows->soft[i] = 1 / slope;
    rows->bias[i] += (law->slope * law->offset + law->motor_slope * law->motor_offset) / slope;
  }
  rows->has_law = false;
  rows->hard++;
}

/* The speed of the free direction in the step before, (x - x_before)/h, where x_before belongs to
 * the pose of a step backwards at the state's twists. x and row: those of now. */
static double speed_before(const tl_model *model, const tl_joint *joint, double h, double x,
                           const tl_joint_row *row, const tl_joint_body *old_a,
                           const tl_joint_body *old_b) {
  const tl_joint_body a = tl_joint_body_moved(old_a, -h), b = tl_joint_body_moved(old_b, -h);
  const tl_joint_place place = tl_joint_find_place(model, joint, &a, &b);
  tl_joint_row before;
  tl_joint_free_row((int)joint->kind, joint->about, &place, &before);
  const double guess = x - h * (double)speed_of(row, old_a, old_b);
  return (x - (row->turning ? unwrapped((double)before.psi, guess) : (double)before.psi)) / h;
}

/* Adds the spring to the law: see tl_spring_weights. */
static void lay_spring(const tl_joint *joint, const tl_joint_step *step, double x, double before,
                       tl_joint_law *law) {
  const double h = step->h, k = joint->stiffness, c = joint->damping;
  const tl_spring_weights w =
      tl_find_spring_weights(h * h * k * step->answer, h * c * step->answer);
  const double stiff = h * k * w.ahead + c * w.damping;
  law->slope = (talus_real)(h * stiff);
  law->offset =
      (talus_real)((k * (x - joint->rest) + (c * (1 - w.damping) - h * k * w.behind) * before) /
                   stiff);
}

double tl_joint_spring_energy(const tl_model *model, const tl_state *state, double dt,
                              const tl_joint *joint) {
  if (!tl_joint_acts(joint) || !(joint->stiffness > 0))
    return 0;
  const tl_joint_body a = tl_joint_body_at(model, state, joint->a);
  const tl_joint_body b = tl_joint_body_at(model, state, joint->b);
  const tl_joint_place place = tl_joint_find_place(model, joint, &a, &b);
  tl_joint_row row;
  tl_joint_free_row((int)joint->kind, joint->about, &place, &row);
  const double x = tl_joint_value(joint, &place);
  const double middle = x - dt / 2 * speed_before(model, joint, dt, x, &row, &a, &b) - joint->rest;
  return 0.5 * joint->stiffness * middle * middle;
}

/* The value at the guessed pose. Angles are counted from where the guessed spins lead, because a
 * guess may overshoot by more than half a turn though the solution does not. */
static tl_joint_place find_place_ahead(const tl_model *model, const tl_joint *joint, double h,
                                       const tl_joint_place *now, const tl_joint_body *a,
                                       const tl_joint_body *b) {
  if (joint->kind != TALUS_JOINT_GEAR && joint->kind != TALUS_JOINT_RACK)
    return tl_joint_find_place(model, joint, a, b);
  tl_joint ahead = *joint;
  ahead.turn_a += h * (double)tl_dot(now->az, a->w);
  ahead.turn_b += h * (double)tl_dot(now->bz, b->w);
  return tl_joint_find_place(model, &ahead, a, b);
}

void tl_joint_make_rows(const tl_model *model, const tl_joint *joint, const tl_joint_step *step,
                        const tl_joint_body *a, const tl_joint_body *b, const tl_joint_body *old_a,
                        const tl_joint_body *old_b, tl_joint_rows *rows) {
  const tl_joint_body next_a = tl_joint_body_moved(a, step->h);
  const tl_joint_body next_b = tl_joint_body_moved(b, step->h);
  const tl_joint_place now = tl_joint_find_place(model, joint, a, b);
  const tl_joint_place then = find_place_ahead(model, joint, step->h, &now, &next_a, &next_b);
  const talus_real h = (talus_real)step->h;
  tl_joint_row ahead[TL_JOINT_HARD];
  memset(rows, 0, sizeof *rows);
  rows->length = tl_joint_length_of(model, joint);
  rows->arm_b = now.arm_b;
  rows->hard = tl_joint_hold(joint, &now, rows->row);
  tl_joint_hold(joint, &then, ahead);
  for (int i = 0; i < rows->hard; ++i) {
    const tl_joint_row *row = &rows->row[i];
    const talus_real recovery = step->recovery_speed / (row->turning ? rows->length : 1);
    rows->drift[i] = tl_clamp(row->psi / h, -recovery, recovery);
    rows->bias[i] = (ahead[i].psi - row->psi) / h - speed_of(row, a, b) + rows->drift[i];
  }
  tl_joint_row *row = &rows->row[rows->hard], next;
  if (!is_driven(joint) || !tl_joint_free_row((int)joint->kind, joint->about, &now, row))
    return;
  tl_joint_free_row((int)joint->kind, joint->about, &then, &next);
  const double x = tl_joint_value(joint, &now);
  const double guess = x + step->h * (double)speed_of(row, a, b);
  const double x_then = row->turning ? unwrapped((double)next.psi, guess) : (double)next.psi;
  rows->has_law = true;
  rows->bias[rows->hard] = (talus_real)((x_then - x) / step->h) - speed_of(row, a, b);
  rows->law = find_law(joint, x, step->h);
  if (tl_joint_has_spring(joint))
    lay_spring(joint, step, x, speed_before(model, joint, step->h, x, row, old_a, old_b),
               &rows->law);
  find_limits(joint, step, x, speed_of(row, old_a, old_b), row->turning ? rows->length : 1,
              &rows->law);
  straighten(joint, rows);
}

/* ---- afterwards ------------------------------------------------------------------------------ */

void tl_joint_settle(const tl_model *model, const tl_state *state, tl_joint *joint) {
  const tl_joint_body a = tl_joint_body_at(model, state, joint->a);
  const tl_joint_body b = tl_joint_body_at(model, state, joint->b);
  const tl_joint_place place = tl_joint_find_place(model, joint, &a, &b);
  joint->drift = tl_joint_drift_of(joint, &place, tl_joint_length_of(model, joint));
  joint->value = tl_joint_value(joint, &place);
  const bool geared = joint->kind == TALUS_JOINT_GEAR || joint->kind == TALUS_JOINT_RACK;
  joint->turn_a = geared ? place.turn_a : joint->value;
  joint->turn_b = geared ? place.turn_b : 0;
}
