/* The table of joints. */
#include "joint/guard.h"

#include <math.h>
#include <stdio.h>

_Static_assert((int)TL_JOINT_KINDS == (int)TALUS_JOINT_KINDS &&
                   (int)TL_JOINT_RACK == (int)TALUS_JOINT_RACK &&
                   (int)TL_JOINT_SPRING == (int)TALUS_JOINT_SPRING,
               "kernels/joint.h numbers the kinds as talus.h does");

#define FIELD(name, type, columns, scalar, flags)                                                  \
  {#name, sizeof(type), columns, scalar, flags, offsetof(tl_joint, name)},
const tl_field tl_joint_fields[TL_JOINT_FIELD_COUNT] = {TL_JOINT_FIELDS(FIELD)};
#undef FIELD

#define MEET_LENGTH 1e-6 /* of the bodies' size: frames that are nearer than this meet */

static const char *const kind_names[TALUS_JOINT_KINDS] = {
    "spherical", "revolute", "prismatic",     "cylindrical",    "universal", "fixed",
    "distance",  "spring",   "point-on-line", "point-on-plane", "gear",      "rack"};

const char *tl_joint_kind_name(uint32_t kind) {
  return kind < TALUS_JOINT_KINDS ? kind_names[kind] : NULL;
}

const char *tl_joint_describe(const tl_joint *joint) {
  static _Thread_local char text[128];
  if (joint->name)
    snprintf(text, sizeof text, "joint '%.80s'", joint->name);
  else
    snprintf(text, sizeof text, "joint %llu", (unsigned long long)joint->uid);
  return text;
}

#define WRONG(...) return tl_fail(TALUS_ERROR_INVALID, __VA_ARGS__)

/* ---- checks ---------------------------------------------------------------------------------- */

static bool has_free_direction(uint32_t kind) {
  return kind == TALUS_JOINT_REVOLUTE || kind == TALUS_JOINT_PRISMATIC ||
         kind == TALUS_JOINT_CYLINDRICAL || kind == TALUS_JOINT_DISTANCE ||
         kind == TALUS_JOINT_SPRING || kind == TALUS_JOINT_POINT_ON_LINE;
}

static talus_status check_spring(const tl_joint *joint, const char *what) {
  if (!(joint->stiffness >= 0) || !tl_is_finite_d(joint->stiffness) || !(joint->damping >= 0) ||
      !tl_is_finite_d(joint->damping) || !tl_is_finite_d(joint->rest))
    WRONG("%s: its spring has stiffness %g, damping %g and rest %g; expected finite numbers, the "
          "first two >= 0",
          what, joint->stiffness, joint->damping, joint->rest);
  if (joint->kind == TALUS_JOINT_SPRING && !(joint->stiffness > 0 || joint->damping > 0))
    WRONG("%s: a spring without stiffness and damping does nothing; give one of them", what);
  return TALUS_OK;
}

static talus_status check_motor(const tl_joint *joint, const char *what) {
  if (joint->motor > TALUS_MOTOR_FORCE)
    WRONG("%s: unknown kind of motor", what);
  if (joint->motor == TALUS_MOTOR_NONE)
    return TALUS_OK;
  if (!tl_is_finite_d(joint->motor_target) || !(joint->motor_max > 0))
    WRONG("%s: its motor aims at %g with at most %g; expected a finite number, and a positive one",
          what, joint->motor_target, joint->motor_max);
  if (joint->motor == TALUS_MOTOR_POSITION &&
      (!(joint->motor_stiffness > 0) || !tl_is_finite_d(joint->motor_stiffness) ||
       !(joint->motor_damping >= 0) || !tl_is_finite_d(joint->motor_damping)))
    WRONG("%s: a position motor needs a stiffness > 0 and a damping >= 0; it has %g and %g", what,
          joint->motor_stiffness, joint->motor_damping);
  return TALUS_OK;
}

/* Limits, springs and motors need a direction that the joint leaves free. */
static talus_status check_drive(const tl_joint *joint, const char *what) {
  const bool limited = tl_is_finite_d(joint->low) || tl_is_finite_d(joint->high);
  if (isnan(joint->low) || isnan(joint->high) || joint->low > joint->high)
    WRONG("%s: its limits %g ... %g contradict each other; give the lower one first", what,
          joint->low, joint->high);
  if (!(joint->restitution >= 0 && joint->restitution <= 1))
    WRONG("%s: restitution is %g; it must be between 0 and 1", what, joint->restitution);
  TL_TRY(check_spring(joint, what));
  TL_TRY(check_motor(joint, what));
  const char *first = limited                                 ? "limits"
                      : joint->motor != TALUS_MOTOR_NONE      ? "a motor"
                      : joint->stiffness + joint->damping > 0 ? "a spring"
                                                              : NULL;
  if (first && !has_free_direction(joint->kind))
    WRONG("%s: a %s joint has no one direction for %s to act along; put a revolute, prismatic or "
          "cylindrical joint there",
          what, kind_names[joint->kind], first);
  if (first && joint->kind == TALUS_JOINT_DISTANCE && !joint->rope)
    WRONG("%s: a rod leaves no distance free for %s; say rope, or use a spring joint", what, first);
  if (joint->kind == TALUS_JOINT_DISTANCE && joint->rope && limited)
    WRONG("%s: a rope's only limit is its length", what);
  return TALUS_OK;
}

talus_status tl_joint_check(const tl_model *model, const tl_joint *joint) {
  const char *what = tl_joint_describe(joint);
  if (joint->kind >= TALUS_JOINT_KINDS)
    WRONG("%s: unknown kind %u", what, joint->kind);
  if ((joint->a != TL_NONE && joint->a >= model->bodies) ||
      (joint->b != TL_NONE && joint->b >= model->bodies))
    WRONG("%s: there is no such body", what);
  if (joint->a == joint->b)
    WRONG(joint->a == TL_NONE
              ? "%s: it joins the ground to the ground; give it a body"
              : "%s: it joins a body to itself; give it another body, or the ground",
          what);
  const bool a_moves = joint->a != TL_NONE && !tl_body_is_static(model, joint->a);
  const bool b_moves = joint->b != TL_NONE && !tl_body_is_static(model, joint->b);
  if (!a_moves && !b_moves)
    WRONG("%s: neither of its bodies can move; one must be free", what);
  if (!(joint->length >= 0) || !tl_is_finite_d(joint->length))
    WRONG("%s: its length is %g m; it must be >= 0", what, joint->length);
  if (joint->kind == TALUS_JOINT_DISTANCE && joint->length == 0)
    WRONG("%s: its length is 0 m, which leaves no direction to hold; use a spherical joint", what);
  if (!tl_is_finite_d(joint->ratio) || !tl_is_finite_d(joint->motor_stiffness) ||
      !tl_is_finite_d(joint->motor_damping))
    WRONG("%s: its ratio is %g, its motor's stiffness %g and damping %g; they must be finite", what,
          joint->ratio, joint->motor_stiffness, joint->motor_damping);
  if ((joint->kind == TALUS_JOINT_GEAR || joint->kind == TALUS_JOINT_RACK) &&
      (!tl_is_finite_d(joint->ratio) || joint->ratio == 0))
    WRONG("%s: its ratio is %g; it must be finite and not 0", what, joint->ratio);
  if (!(joint->break_force > 0) || !(joint->break_torque > 0))
    WRONG("%s: it breaks at %g N or %g N m; expected positive numbers", what, joint->break_force,
          joint->break_torque);
  return check_drive(joint, what);
}

/* ---- making one ------------------------------------------------------------------------------ */

/* The frame with z along `axis`. */
static talus_quat frame_along(talus_vec3 z) {
  const talus_vec3 up = tl_vec3(0, 0, 1);
  const talus_real c = z.z;
  if (c < TL_R(-0.999999))
    return tl_quat(0, 1, 0, 0); /* half a turn about x */
  const talus_vec3 v = tl_cross(up, z);
  return tl_quat_normalize(tl_quat(1 + c, v.x, v.y, v.z));
}

/* The shortest turn from unit vector s to t. */
static talus_quat turn_between(talus_vec3 s, talus_vec3 t) {
  const talus_real c = tl_dot(s, t);
  if (c < TL_R(-0.999999)) {
    const talus_vec3 n = tl_any_orthogonal(s);
    return tl_quat(0, n.x, n.y, n.z);
  }
  const talus_vec3 v = tl_cross(s, t);
  return tl_quat_normalize(tl_quat(1 + c, v.x, v.y, v.z));
}

static bool needs_axis(uint32_t kind) {
  return kind != TALUS_JOINT_SPHERICAL && kind != TALUS_JOINT_FIXED &&
         kind != TALUS_JOINT_DISTANCE && kind != TALUS_JOINT_SPRING;
}

static talus_status find_frames(const talus_joint_def *def, const char *what, talus_quat *frame_a,
                                talus_quat *frame_b) {
  talus_vec3 a = def->axis, b = def->axis_b;
  if (!tl_is_finite3(a) || !tl_is_finite3(b))
    WRONG("%s: its axis is not finite", what);
  if (!(tl_length2(a) > 0)) {
    if (needs_axis(def->kind))
      WRONG("%s: its axis is zero; a %s joint needs a direction", what, kind_names[def->kind]);
    a = tl_vec3(0, 0, 1);
  }
  a = tl_normalize(a);
  b = tl_length2(b) > 0 ? tl_normalize(b) : a;
  *frame_a = frame_along(a);
  if (def->kind == TALUS_JOINT_UNIVERSAL) {
    /* The cross: z of a is its axis, x of b the other one. */
    if (!(tl_length2(def->axis_b) > 0) || tl_abs(tl_dot(a, b)) > TL_R(0.999))
      WRONG("%s: a universal joint needs two axes at right angles", what);
    const talus_vec3 z = tl_normalize(tl_cross(b, tl_cross(a, b)));
    const talus_quat up = frame_along(z);
    *frame_b = tl_quat_mul(turn_between(tl_quat_rotate(up, tl_vec3(1, 0, 0)), b), up);
    return TALUS_OK;
  }
  *frame_b = tl_quat_mul(turn_between(a, b), *frame_a);
  return TALUS_OK;
}

static void put_on_body(const tl_model *model, const tl_state *state, uint32_t slot, talus_dvec3 at,
                        talus_quat frame, talus_dvec3 *anchor, talus_quat *own_frame) {
  *anchor = at;
  *own_frame = frame;
  if (slot == TL_NONE)
    return;
  const talus_quat back = tl_quat_conj(state->rotation[slot]);
  *anchor =
      tl_widen(tl_quat_rotate(back, tl_narrow(tl_model_offset(model, state->position[slot], at))));
  *own_frame = tl_quat_normalize(tl_quat_mul(back, frame));
}

talus_dvec3 tl_joint_anchor_b(const tl_state *state, const tl_joint *joint) {
  if (joint->b == TL_NONE)
    return joint->anchor_b;
  return tl_moved(state->position[joint->b],
                  tl_quat_rotate(state->rotation[joint->b], tl_narrow(joint->anchor_b)));
}

double tl_joint_gap(const tl_model *model, const tl_state *state, const tl_joint *joint) {
  const tl_joint_body a = tl_joint_body_at(model, state, joint->a);
  const tl_joint_body b = tl_joint_body_at(model, state, joint->b);
  const tl_joint_place place = tl_joint_find_place(model, joint, &a, &b);
  return tl_joint_drift_of(joint, &place, tl_joint_length_of(model, joint));
}

static void copy_numbers(const talus_joint_def *def, tl_joint *joint) {
  joint->kind = (uint32_t)def->kind;
  joint->ratio = def->ratio;
  joint->low = def->low, joint->high = def->high, joint->restitution = def->restitution;
  joint->stiffness = def->stiffness, joint->damping = def->damping;
  joint->motor = (uint32_t)def->motor;
  joint->motor_target = def->motor_target, joint->motor_max = def->motor_max;
  joint->motor_stiffness = def->motor_stiffness, joint->motor_damping = def->motor_damping;
  joint->break_force = def->break_force, joint->break_torque = def->break_torque;
  joint->rope = def->rope && def->kind == TALUS_JOINT_DISTANCE;
  joint->about = def->about, joint->collide = def->collide, joint->assemble = def->assemble;
}

static bool is_finite_place(talus_dvec3 x) {
  return tl_is_finite_d(x.x) && tl_is_finite_d(x.y) && tl_is_finite_d(x.z);
}

talus_status tl_joint_make(const tl_model *model, const tl_state *state, const talus_joint_def *def,
                           uint32_t a, uint32_t b, tl_joint *joint) {
  const char *what = tl_joint_describe(joint);
  if ((unsigned)def->kind >= TALUS_JOINT_KINDS)
    WRONG("%s: unknown kind %d", what, (int)def->kind);
  if (!is_finite_place(def->at) || !is_finite_place(def->to))
    WRONG("%s: its anchors are not finite", what);
  talus_quat frame_a, frame_b;
  TL_TRY(find_frames(def, what, &frame_a, &frame_b));
  copy_numbers(def, joint);
  joint->a = a, joint->b = b;
  put_on_body(model, state, a, def->at, frame_a, &joint->anchor_a, &joint->frame_a);
  put_on_body(model, state, b, def->to, frame_b, &joint->anchor_b, &joint->frame_b);
  joint->start_b = def->to;
  joint->start_frame_a = frame_a, joint->start_frame_b = frame_b;
  const double apart = tl_dlength(tl_model_offset(model, def->at, def->to));
  const bool two_points = def->kind == TALUS_JOINT_DISTANCE || def->kind == TALUS_JOINT_SPRING;
  joint->length = two_points ? (def->length < 0 ? apart : def->length) : 0;
  joint->rest = def->rest;
  if (isnan(def->rest))
    joint->rest = two_points ? apart : 0;
  TL_TRY(tl_joint_check(model, joint));
  TL_TRY(tl_joint_check_motor_speed(joint, tl_model_substep(model, model->dt)));
  const double gap = tl_joint_gap(model, state, joint);
  const double size = (double)tl_joint_length_of(model, joint);
  const double least = (sizeof(talus_real) == 4 ? 100 : 1) * MEET_LENGTH * size;
  if (gap > least && !def->assemble)
    WRONG("%s: its frames are %.6g m apart (angles count as %.3g m per rad); put the bodies where "
          "they meet, or say assemble: true",
          what, gap, size);
  tl_joint_settle(model, state, joint);
  return TALUS_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define COPY(name, type, columns, scalar, flags) memcpy(&to->name, &from->name, sizeof to->name);

void tl_joints_begin(const tl_joints *joints, double dt, tl_joint_state *after) {
  const talus_real ratio = tl_step_ratio(joints->dt, dt);
  for (size_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *from = &joints->all.data[i];
    tl_joint_state *to = &after[i];
    TL_JOINT_FIELDS(COPY)
    to->told = from->told;
    if (ratio != 1)
      tl_scale_reals(to->impulse, TL_JOINT_ROWS, ratio);
  }
}

void tl_joints_take_one(tl_joints *joints, size_t row, const tl_joint_state *from) {
  tl_joint *to = &joints->all.data[row];
  joints->apart_stale |= from->broken != to->broken;
  TL_JOINT_FIELDS(COPY)
  to->told = from->told;
}

void tl_joints_take(tl_joints *joints, double dt) {
  joints->dt = dt;
  for (size_t i = 0; i < joints->all.count; ++i)
    tl_joints_take_one(joints, i, &joints->after.data[i]);
}

#undef COPY

size_t tl_joints_row(const tl_joints *joints, uint64_t uid) {
  size_t lo = 0, hi = joints->all.count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (joints->all.data[mid].uid < uid)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < joints->all.count && joints->all.data[lo].uid == uid ? lo : SIZE_MAX;
}

size_t tl_joints_named(const tl_joints *joints, const char *name) {
  for (size_t i = 0; i < joints->all.count; ++i)
    if (joints->all.data[i].name && strcmp(joints->all.data[i].name, name) == 0)
      return i;
  return SIZE_MAX;
}

static void free_name(tl_joint *joint) {
  void *name = joint->name;
  if (name)
    (void)tl_resize(&name, strlen(joint->name) + 1, 0);
  joint->name = NULL;
}

void tl_joints_remove(tl_joints *joints, size_t row) {
  tl_joint *all = joints->all.data;
  free_name(&all[row]);
  memmove(&all[row], &all[row + 1], (joints->all.count - row - 1) * sizeof *all);
  joints->all.count--;
  joints->apart_stale = true;
}

void tl_joints_free(tl_joints *joints) {
  for (size_t i = 0; i < joints->all.count; ++i)
    free_name(&joints->all.data[i]);
  tl_array_free(&joints->all);
  tl_array_free(&joints->after);
  tl_array_free(&joints->apart);
  tl_array_free(&joints->ends);
}

void tl_joints_renumber(tl_joints *joints, const tl_log *log, const uint32_t *new_slot) {
  size_t kept = 0;
  for (size_t i = 0; i < joints->all.count; ++i) {
    tl_joint *joint = &joints->all.data[i];
    const uint32_t a = joint->a == TL_NONE ? TL_NONE : new_slot[joint->a];
    const uint32_t b = joint->b == TL_NONE ? TL_NONE : new_slot[joint->b];
    if ((a == TL_NONE && joint->a != TL_NONE) || (b == TL_NONE && joint->b != TL_NONE)) {
      tl_log_write(log, TL_LOG_INFO, "%s went with its body", tl_joint_describe(joint));
      free_name(joint);
      continue;
    }
    joint->a = a, joint->b = b;
    if (kept != i)
      joints->all.data[kept] = *joint;
    kept++;
  }
  joints->all.count = kept;
  joints->apart_stale = true;
}

static bool is_too_much(const tl_joint *joint, talus_vec3 force, talus_vec3 torque) {
  return (double)tl_length(force) > joint->break_force ||
         (double)tl_length(torque) > joint->break_torque;
}

bool tl_joint_just_broke(const tl_joint *joint) {
  return joint->broken && is_too_much(joint, joint->force, joint->torque);
}

/* Breaks joints that carried too much. A broken joint shows the force and torque that broke it for
 * one step. */
static void settle_load(const tl_joint *joint, tl_joint_state *after) {
  if (joint->broken)
    after->force = after->torque = tl_vec3(0, 0, 0);
  else if (is_too_much(joint, after->force, after->torque)) {
    after->broken = true;
    memset(after->impulse, 0, sizeof after->impulse);
  }
}

typedef struct settle_job {
  const tl_model *model;
  const tl_state *state;
  const tl_joints *joints;
  tl_joint_state *after;
} settle_job;

static void settle_some(void *context, size_t begin, size_t end) {
  const settle_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    tl_joint place = job->joints->all.data[i];
    tl_joint_state *after = &job->after[i];
    tl_joint_settle(job->model, job->state, &place);
    after->turn_a = place.turn_a, after->turn_b = place.turn_b;
    after->drift = place.drift;
    after->value = place.value;
    settle_load(&place, after);
  }
}

void tl_joints_settle(const tl_model *model, const tl_state *state, const tl_joints *joints,
                      tl_joint_state *after) {
  settle_job job = {model, state, joints, after};
  tl_for(&model->par, joints->all.count, 256, settle_some, &job);
}

void tl_joints_tell_broken(const tl_joints *joints, const tl_log *log, double time) {
  for (size_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (tl_joint_just_broke(joint))
      tl_log_write(log, TL_LOG_WARN, "event: %s broke at t = %g s, with %g N and %g N m",
                   tl_joint_describe(joint), time, (double)tl_length(joint->force),
                   (double)tl_length(joint->torque));
  }
}

talus_status tl_joints_pairs(const tl_joints *joints, tl_arena *arena, tl_pairs *pairs) {
  *pairs = (tl_pairs){0};
  TL_TAKE(arena, joints->all.count, &pairs->data);
  for (size_t i = 0; i < joints->all.count; ++i)
    if (tl_joint_acts(&joints->all.data[i]))
      pairs->data[pairs->count++] = (tl_pair){joints->all.data[i].a, joints->all.data[i].b};
  return TALUS_OK;
}

double tl_joints_drift(const tl_joints *joints, size_t *broken) {
  double most = 0;
  *broken = 0;
  for (size_t i = 0; i < joints->all.count; ++i) {
    if (joints->all.data[i].broken)
      ++*broken;
    else
      most = fmax(most, joints->all.data[i].drift);
  }
  return most;
}

void tl_joints_loads(const tl_joints *joints, double *force, double *torque) {
  *force = *torque = 0;
  for (size_t i = 0; i < joints->all.count; ++i) {
    *force = fmax(*force, (double)tl_length(joints->all.data[i].force));
    *torque = fmax(*torque, (double)tl_length(joints->all.data[i].torque));
  }
}

/* ---- pairs that do not collide --------------------------------------------------------------- */

static int compare_apart(const void *x, const void *y) {
  const tl_apart *p = x, *q = y;
  if (p->a != q->a)
    return p->a < q->a ? -1 : 1;
  return p->b < q->b ? -1 : p->b > q->b;
}

/* Not called while joints are added one by one, because a chain would then cost the square of its
 * links. */
static talus_status find_apart(tl_joints *joints) {
  TL_TRY(tl_array_reserve(&joints->apart, joints->all.count));
  size_t n = 0, kept = 0;
  tl_apart *apart = joints->apart.data;
  for (size_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (joint->broken || joint->collide || joint->a == TL_NONE || joint->b == TL_NONE)
      continue;
    apart[n].a = joint->a < joint->b ? joint->a : joint->b;
    apart[n++].b = joint->a < joint->b ? joint->b : joint->a;
  }
  if (n > 1)
    qsort(apart, n, sizeof *apart, compare_apart);
  for (size_t i = 0; i < n; ++i)
    if (kept == 0 || compare_apart(&apart[kept - 1], &apart[i]) != 0)
      apart[kept++] = apart[i];
  joints->apart.count = kept;
  joints->apart_stale = false;
  return TALUS_OK;
}

/* First pair not before (a, b). */
static size_t lower_bound(const tl_pairs *pairs, size_t lo, const tl_apart *key) {
  size_t hi = pairs->count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    const tl_pair *p = &pairs->data[mid];
    if (p->a < key->a || (p->a == key->a && p->b < key->b))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static int compare_ends(const void *x, const void *y) {
  const tl_joint_end *p = x, *q = y;
  if (p->slot != q->slot)
    return p->slot < q->slot ? -1 : 1;
  return p->row < q->row ? -1 : p->row > q->row;
}

static talus_status find_ends(tl_joints *joints) {
  TL_TRY(tl_array_reserve(&joints->ends, 2 * joints->all.count));
  size_t n = 0;
  for (uint32_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (joint->a != TL_NONE)
      joints->ends.data[n++] = (tl_joint_end){joint->a, i};
    if (joint->b != TL_NONE)
      joints->ends.data[n++] = (tl_joint_end){joint->b, i};
  }
  if (n > 1)
    qsort(joints->ends.data, n, sizeof *joints->ends.data, compare_ends);
  joints->ends.count = n;
  return TALUS_OK;
}

const tl_joint_end *tl_joints_at(const tl_joints *joints, uint32_t slot, size_t *count) {
  const tl_joint_end *ends = joints->ends.data;
  size_t lo = 0, hi = joints->ends.count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (ends[middle].slot < slot)
      lo = middle + 1;
    else
      hi = middle;
  }
  *count = 0;
  while (lo + *count < joints->ends.count && ends[lo + *count].slot == slot)
    ++*count;
  return *count > 0 ? ends + lo : NULL;
}

talus_status tl_joints_prepare(tl_joints *joints) {
  TL_TRY(tl_array_resize(&joints->after, joints->all.count));
  if (!joints->apart_stale)
    return TALUS_OK;
  TL_TRY(find_ends(joints));
  return find_apart(joints);
}

/* There are few joints and many pairs: each joint is looked up, and the pairs between two that are
 * found move together. */
void tl_joints_keep_apart(const tl_joints *joints, tl_pairs *pairs) {
  size_t from = 0, to = 0;
  TL_ASSERT(!joints->apart_stale);
  for (size_t i = 0; i < joints->apart.count; ++i) {
    const tl_apart *key = &joints->apart.data[i];
    const size_t at = lower_bound(pairs, from, key);
    if (at == pairs->count || pairs->data[at].a != key->a || pairs->data[at].b != key->b)
      continue;
    if (to != from)
      memmove(&pairs->data[to], &pairs->data[from], (at - from) * sizeof *pairs->data);
    to += at - from;
    from = at + 1;
  }
  if (from == to)
    return;
  memmove(&pairs->data[to], &pairs->data[from], (pairs->count - from) * sizeof *pairs->data);
  pairs->count = to + pairs->count - from;
}
