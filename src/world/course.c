/* Loads that change with time: forces and torques on bodies, targets of motors, presses.
 *
 * A course is a table. Before each step its present value is stored as if it were a constant load,
 * so that solvers need not know of courses. */
#include "joint/guard.h"
#include "world/world.h"

#include <float.h>
#include <math.h>

/* ---- tables ---------------------------------------------------------------------------------- */

size_t tl_course_columns(uint32_t kind) {
  return kind == TL_COURSE_FORCE || kind == TL_COURSE_TORQUE ? 4 : 2;
}

talus_status tl_course_check(uint32_t kind, const double *rows, size_t count, const char *what) {
  const size_t columns = tl_course_columns(kind);
  if (!rows || count == 0 || count > UINT32_MAX)
    return tl_fail(TALUS_ERROR_INVALID, "%s: the course of its load has %zu rows", what, count);
  for (size_t i = 0; i < count; ++i) {
    const double *row = rows + i * columns;
    for (size_t k = 0; k < columns; ++k)
      if (!tl_is_finite_d(row[k]))
        return tl_fail(TALUS_ERROR_INVALID, "%s: row %zu of the course of its load is not finite",
                       what, i);
    if (i > 0 && !(row[0] > row[-(ptrdiff_t)columns]))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: row %zu of the course of its load is at %g s, not after the row before "
                     "it; the times must rise",
                     what, i, row[0]);
    if ((kind == TL_COURSE_MAX || kind == TL_COURSE_PRESS) && !(row[1] >= 0))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: row %zu of the course of its force is %g N; a press pushes, along its "
                     "axis: give 0 or more",
                     what, i, row[1]);
  }
  return TALUS_OK;
}

/* Straight between rows, held beyond both ends. */
static void look_up(const talus_world *world, const tl_course *course, double time,
                    double value[3]) {
  const size_t columns = tl_course_columns(course->kind);
  const double *rows = world->course_values.data + course->first;
  size_t lo = 0, hi = course->rows; /* the first row that is later */
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (rows[middle * columns] <= time)
      lo = middle + 1;
    else
      hi = middle;
  }
  const double *after = rows + (lo < course->rows ? lo : course->rows - 1) * columns;
  const double *before = lo > 0 ? rows + (lo - 1) * columns : after;
  const double share = after[0] > before[0] ? (time - before[0]) / (after[0] - before[0]) : 0;
  for (size_t k = 1; k < columns; ++k)
    value[k - 1] = before[k] + share * (after[k] - before[k]);
}

/* ---- setting --------------------------------------------------------------------------------- */

static size_t find(const talus_world *world, uint64_t uid, uint32_t kind) {
  for (size_t i = 0; i < world->courses.count; ++i)
    if (world->courses.data[i].uid == uid && world->courses.data[i].kind == kind)
      return i;
  return SIZE_MAX;
}

static void drop(talus_world *world, size_t row) {
  const tl_course gone = world->courses.data[row];
  const size_t n = gone.rows * tl_course_columns(gone.kind), end = (size_t)gone.first + n;
  double *values = world->course_values.data;
  memmove(values + gone.first, values + end, (world->course_values.count - end) * sizeof *values);
  world->course_values.count -= n;
  world->courses.count--;
  for (size_t i = row; i < world->courses.count; ++i)
    world->courses.data[i] = world->courses.data[i + 1];
  for (size_t i = 0; i < world->courses.count; ++i)
    if (world->courses.data[i].first > gone.first)
      world->courses.data[i].first -= n;
}

/* Replaces the course of the same kind. Everything that can fail comes first. */
static talus_status add(talus_world *world, tl_course course, const double *rows, size_t count) {
  const size_t n = count * tl_course_columns(course.kind),
               old = find(world, course.uid, course.kind);
  TL_TRY(tl_array_reserve(&world->courses, world->courses.count + 1));
  TL_TRY(tl_array_reserve(&world->course_values, world->course_values.count + n));
  if (old != SIZE_MAX)
    drop(world, old);
  course.first = world->course_values.count;
  course.rows = (uint32_t)count;
  memcpy(world->course_values.data + course.first, rows, n * sizeof *rows);
  world->course_values.count += n;
  world->courses.data[world->courses.count++] = course;
  return TALUS_OK;
}

static talus_status wake_field(talus_world *world, size_t offset) {
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i)
    if (tl_property_fields[i].offset == offset)
      return tl_field_wake(&world->model.property, &tl_property_fields[i], world->capacity);
  return TALUS_OK;
}

/* Both are looked at in every step. */
static talus_status reserve_loads(talus_world *world) {
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ | TL_WRITE));
  TL_TRY(wake_field(world, offsetof(tl_properties, force)));
  return wake_field(world, offsetof(tl_properties, torque));
}

talus_status talus_body_set_course(talus_world *world, talus_body body, talus_load load,
                                   const double *rows, size_t count) {
  TL_MAY_CHANGE(world);
  uint32_t slot;
  TL_TRY(tl_world_not_mapped(world, "set a course"));
  TL_TRY(tl_world_slot(world, body, &slot));
  if ((unsigned)load > TALUS_LOAD_TORQUE)
    return tl_fail(TALUS_ERROR_INVALID, "unknown kind of load %d", (int)load);
  if (count > 0 && world->model.step == TALUS_STEP_EVENT)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "events know gravity alone, no loads over time");
  const uint32_t kind = load == TALUS_LOAD_FORCE ? TL_COURSE_FORCE : TL_COURSE_TORQUE;
  TL_TRY(tl_need(&world->where, TL_THE(uid), TL_READ));
  TL_TRY(reserve_loads(world));
  const uint64_t uid = world->model.property.uid[slot];
  if (count > 0) {
    TL_TRY(tl_course_check(kind, rows, count, tl_world_describe(world, slot)));
    return add(world, (tl_course){.uid = uid, .kind = kind}, rows, count);
  }
  const size_t old = find(world, uid, kind);
  if (old != SIZE_MAX)
    drop(world, old);
  return TALUS_OK;
}

talus_status talus_joint_set_course(talus_world *world, talus_joint joint, const double *rows,
                                    size_t count) {
  TL_MAY_CHANGE(world);
  TL_TRY(tl_need(&world->where, TL_THE(joints), TL_READ));
  const size_t row = tl_joints_row(&world->joints, joint.uid);
  if (row == SIZE_MAX)
    return tl_fail(TALUS_ERROR_STALE, "there is no joint %llu, or no longer",
                   (unsigned long long)joint.uid);
  tl_joint set = world->joints.all.data[row];
  if (set.motor == TALUS_MOTOR_NONE)
    return tl_fail(TALUS_ERROR_INVALID, "%s has no motor", tl_joint_describe(&set));
  const size_t old = find(world, joint.uid, TL_COURSE_MOTOR);
  if (count == 0 && old != SIZE_MAX)
    drop(world, old);
  if (count == 0)
    return TALUS_OK;
  TL_TRY(tl_course_check(TL_COURSE_MOTOR, rows, count, tl_joint_describe(&set)));
  for (size_t i = 0; i < count; ++i) {
    set.motor_target = rows[2 * i + 1];
    TL_TRY(tl_joint_check_motor_speed(&set, tl_model_substep(&world->model, world->model.dt)));
  }
  return add(world, (tl_course){.uid = joint.uid, .kind = TL_COURSE_MOTOR}, rows, count);
}

talus_status tl_world_borrow_course(talus_world *world, const talus_world *old,
                                    const tl_course *course, uint64_t uid) {
  tl_course copy = *course;
  copy.uid = uid;
  copy.clock =
      tl_clock_at(course->clock, old->model.dt, talus_world_time(old)) - talus_world_time(world);
  TL_TRY(reserve_loads(world));
  return add(world, copy, old->course_values.data + course->first, course->rows);
}

/* ---- presses --------------------------------------------------------------------------------- */

/* The world axis that it is along, or -1. */
static int find_axis(const double axis[3]) {
  for (int k = 0; k < 3; ++k)
    if (fabs(axis[k]) > 1 - 1e-9)
      return k;
  return -1;
}

static talus_status check_press(const talus_world *world, const talus_press_def *def, uint32_t slot,
                                double axis[3]) {
  const char *what = tl_world_describe(world, slot);
  const talus_dvec3 a = tl_widen(def->axis);
  const double length = tl_dlength(a);
  if (tl_body_is_static(&world->model, slot))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: it presses and is not free; leave out `fixed` and `motion`", what);
  if (!(length > 0) || !tl_is_finite_d(length))
    return tl_fail(TALUS_ERROR_INVALID, "%s: it presses along an axis of length %g", what, length);
  if (!(def->max_speed > 0) || !tl_is_finite_d(def->max_speed))
    return tl_fail(TALUS_ERROR_INVALID, "%s: max_speed is %g m/s; it must be positive", what,
                   def->max_speed);
  if (def->rows > 0)
    TL_TRY(tl_course_check(TL_COURSE_PRESS, def->course, def->rows, what));
  else if (!(def->force > 0) || !tl_is_finite_d(def->force))
    return tl_fail(TALUS_ERROR_INVALID, "%s: it presses with %g N; it must be positive", what,
                   def->force);
  axis[0] = a.x / length, axis[1] = a.y / length, axis[2] = a.z / length;
  if (world->model.solve.kind == TALUS_SOLVE_PENALTY && find_axis(axis) < 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: with springs (penalty) a plate presses along x, y or z, not along (%g, %g, "
                   "%g)",
                   what, axis[0], axis[1], axis[2]);
  return TALUS_OK;
}

/* A press is a slider with a motor as strong as the press: the force is the motor's unless the
 * plate moves freely, and the solver decides that within the step. */
static talus_status press_by_joint(talus_world *world, talus_body body, const talus_press_def *def,
                                   uint32_t slot) {
  const tl_model *model = &world->model;
  talus_joint_def joint = talus_joint_def_default();
  talus_joint made;
  joint.kind = TALUS_JOINT_PRISMATIC;
  joint.b = body;
  joint.at = joint.to = world->state.position[slot];
  joint.axis = def->axis;
  joint.motor = TALUS_MOTOR_SPEED;
  joint.motor_target = def->max_speed;
  joint.motor_max = def->rows > 0 ? fmax(def->course[1], DBL_MIN) : def->force;
  TL_TRY(talus_world_add_joint(world, &joint, &made));
  TL_TRY(talus_body_set_force(world, body, tl_scale(model->gravity, -model->property.mass[slot]),
                              tl_vec3(0, 0, 0)));
  if (def->rows == 0)
    return TALUS_OK;
  return add(world, (tl_course){.uid = made.uid, .kind = TL_COURSE_MAX}, def->course, def->rows);
}

static talus_status press_by_springs(talus_world *world, const talus_press_def *def, uint32_t slot,
                                     const double axis[3]) {
  const double constant[2] = {0, def->force};
  tl_course course = {
      .uid = world->model.property.uid[slot], .kind = TL_COURSE_PRESS, .max_speed = def->max_speed};
  memcpy(course.axis, axis, sizeof course.axis);
  TL_TRY(add(world, course, def->rows > 0 ? def->course : constant, def->rows > 0 ? def->rows : 1));
  world->model.property.flags[slot] |= TL_FLAG_LOCKS & ~(1u << find_axis(axis));
  tl_changed(world, TL_CHANGED_FORCES, slot);
  return TALUS_OK;
}

talus_status talus_body_press(talus_world *world, talus_body body, const talus_press_def *def) {
  TL_MAY_CHANGE(world);
  TL_NEED(def);
  uint32_t slot;
  double axis[3];
  TL_TRY(tl_world_not_mapped(world, "press"));
  TL_TRY(tl_world_slot(world, body, &slot));
  TL_TRY(reserve_loads(world));
  TL_TRY(check_press(world, def, slot, axis));
  return world->model.solve.kind == TALUS_SOLVE_PENALTY ? press_by_springs(world, def, slot, axis)
                                                        : press_by_joint(world, body, def, slot);
}

/* N along the axis. Springs push back with their force at the end of the last step; the press may
 * not accelerate the plate beyond its speed. */
static double press_now(const talus_world *world, const tl_course *course, uint32_t slot,
                        double wanted) {
  const tl_state *state = &world->state;
  const talus_dvec3 axis = {course->axis[0], course->axis[1], course->axis[2]};
  const double speed = tl_ddot(tl_widen(state->velocity[slot]), axis);
  const double push = state->spring_force && world->penalty.is_pushed
                          ? tl_ddot(tl_widen(state->spring_force[slot]), axis)
                          : 0;
  const double per_speed = (double)world->model.property.mass[slot] / world->model.dt;
  const double most = per_speed * (course->max_speed - speed) - push,
               least = per_speed * (-course->max_speed - speed) - push;
  return fmax(fmin(wanted, most), least);
}

/* ---- every step ------------------------------------------------------------------------------ */

static bool is_same(talus_vec3 a, talus_vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static void wake_slot(talus_world *world, uint32_t slot) {
  if (slot != TL_NONE && world->state.sleep_flags)
    world->state.sleep_flags[slot] = 0, world->state.slow_since[slot] = 0;
}

static talus_status load_body(talus_world *world, uint32_t slot, uint32_t kind, talus_vec3 load) {
  const bool is_torque = kind == TL_COURSE_TORQUE;
  const tl_field_set field = is_torque ? TL_THE(torque) : TL_THE(force);
  TL_TRY(tl_need(&world->where, field, TL_READ));
  if (is_same(is_torque ? world->model.property.torque[slot] : world->model.property.force[slot],
              load))
    return TALUS_OK;
  TL_TRY(
      tl_need(&world->where, field | TL_THE(sleep_flags) | TL_THE(slow_since), TL_READ | TL_WRITE));
  if (is_torque)
    world->model.property.torque[slot] = load;
  else
    world->model.property.force[slot] = load;
  wake_slot(world, slot);
  return TALUS_OK;
}

static talus_status follow_body(talus_world *world, const tl_course *course, uint32_t slot,
                                const double value[3]) {
  if (course->kind != TL_COURSE_PRESS)
    return load_body(world, slot, course->kind,
                     tl_vec3((talus_real)value[0], (talus_real)value[1], (talus_real)value[2]));
  TL_TRY(tl_need(&world->where, TL_THE(velocity) | TL_THE(spring_force) | TL_THE(mass), TL_READ));
  const double force = press_now(world, course, slot, value[0]);
  const talus_vec3 weight = tl_scale(world->model.gravity, world->model.property.mass[slot]);
  const talus_vec3 push =
      tl_vec3((talus_real)(force * course->axis[0]), (talus_real)(force * course->axis[1]),
              (talus_real)(force * course->axis[2]));
  return load_body(world, slot, TL_COURSE_FORCE, tl_sub(push, weight));
}

static talus_status follow_joint(talus_world *world, const tl_course *course, size_t row,
                                 double value) {
  TL_TRY(tl_need(&world->where, TL_THE(joints) | TL_THE(sleep_flags) | TL_THE(slow_since),
                 TL_READ | TL_WRITE));
  tl_joint *joint = &world->joints.all.data[row];
  double *load = course->kind == TL_COURSE_MOTOR ? &joint->motor_target : &joint->motor_max;
  const double wanted = course->kind == TL_COURSE_MOTOR ? value : fmax(value, DBL_MIN);
  if (*load == wanted)
    return TALUS_OK;
  *load = wanted;
  wake_slot(world, joint->a);
  wake_slot(world, joint->b);
  return TALUS_OK;
}

/* Whether the course sets a speed, which is reached at the end of the step. */
static bool is_speed(const talus_world *world, const tl_course *course, size_t row) {
  return course->kind == TL_COURSE_MOTOR && world->joints.all.data[row].motor != TALUS_MOTOR_FORCE;
}

talus_status tl_world_follow_courses(talus_world *world) {
  const double dt = world->model.dt;
  for (size_t i = 0; i < world->courses.count;) {
    const tl_course *course = &world->courses.data[i];
    const bool on_joint = course->kind == TL_COURSE_MOTOR || course->kind == TL_COURSE_MAX;
    TL_TRY(tl_need(&world->where, TL_THE(uid) | TL_THE(joints), TL_READ));
    const uint32_t slot = on_joint ? TL_NONE : tl_world_slot_of(world, course->uid);
    const size_t row = on_joint ? tl_joints_row(&world->joints, course->uid) : SIZE_MAX;
    if (on_joint ? row == SIZE_MAX : slot == TL_NONE) {
      drop(world, i); /* whose it was has gone */
      continue;
    }
    double value[3];
    const double begin = tl_clock_at(course->clock, dt, world->time);
    /* The length of an adaptive step is not known yet, so the value at its begin is used. */
    const double share = tl_step_is_free(&world->model)             ? 0
                         : on_joint && is_speed(world, course, row) ? 1
                                                                    : 0.5;
    look_up(world, course, begin + share * dt, value);
    TL_TRY(on_joint ? follow_joint(world, course, row, value[0])
                    : follow_body(world, course, slot, value));
    i++;
  }
  return TALUS_OK;
}
