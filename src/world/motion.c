/* Scripted motions of a world: checked and copied when a body is added, told about when a table
 * ends. What they mean is in kernels/motion.h. */
#include "world/world.h"

#include <math.h>

/* A longer chain must contain a cycle. */
#define MOST_TERMS 64

#define WRONG(...) return tl_fail(TALUS_ERROR_INVALID, __VA_ARGS__)

/* ---- checks ---------------------------------------------------------------------------------- */

static talus_status check_table(const talus_motion *m, const char *what) {
  if ((unsigned)m->table_kind > TALUS_TABLE_POSES)
    WRONG("%s: unknown kind of table %d in its motion", what, (int)m->table_kind);
  if (m->table_kind == TALUS_TABLE_NONE)
    return TALUS_OK;
  const size_t columns = tl_motion_columns(m->table_kind);
  if (!m->table || m->rows == 0 || m->rows > UINT32_MAX)
    WRONG("%s: the table of its motion has %zu rows; give one at least", what, m->rows);
  if ((m->table_kind == TALUS_TABLE_ALONG || m->table_kind == TALUS_TABLE_ABOUT) &&
      !(tl_length2(m->axis) > 0))
    WRONG("%s: its motion follows a table along or about an axis of length 0; give a direction",
          what);
  for (size_t i = 0; i < m->rows; ++i) {
    const double *row = m->table + i * columns;
    for (size_t k = 0; k < columns; ++k)
      if (!tl_is_finite_d(row[k]))
        WRONG("%s: row %zu of the table of its motion is not finite", what, i);
    if (i > 0 && !(row[0] > row[-(ptrdiff_t)columns]))
      WRONG("%s: row %zu of the table of its motion is at %g s, not after the row before it; the "
            "times must rise",
            what, i, row[0]);
    const double length2 =
        columns == 8 ? row[4] * row[4] + row[5] * row[5] + row[6] * row[6] + row[7] * row[7] : 1;
    if (!(length2 > 1e-200 && length2 < 1e200))
      WRONG("%s: row %zu of the table of its motion has no rotation; 1, 0, 0, 0 is none", what, i);
  }
  return TALUS_OK;
}

static talus_status check_term(const talus_motion *m, const char *what) {
  if (!tl_is_finite3(m->velocity) || !tl_is_finite3(m->spin) || !tl_is_finite3(m->amplitude) ||
      !tl_is_finite3(m->swing) || !tl_is_finite3(m->axis) || !tl_is_finite_d(m->frequency) ||
      !tl_is_finite_d(m->phase) || !tl_is_finite_d(m->through.x) || !tl_is_finite_d(m->through.y) ||
      !tl_is_finite_d(m->through.z))
    WRONG("%s: its motion is not finite", what);
  if (!(m->from_time >= 0) || !tl_is_finite_d(m->from_time) ||
      (m->until != 0 && !(m->until > m->from_time)))
    WRONG("%s: its motion is from %g s until %g s; give a time from 0 on and a later one, or 0 for "
          "no end",
          what, m->from_time, m->until);
  return check_table(m, what);
}

/* ---- surfaces -------------------------------------------------------------------------------- */

static bool is_along(talus_vec3 v, talus_vec3 axis) {
  return tl_length2(tl_cross(v, axis)) <= TL_R(1e-8) * tl_length2(v) * tl_length2(axis);
}

static bool turns(const talus_motion *m) {
  return tl_length2(m->spin) > 0 || tl_length2(m->swing) > 0 ||
         m->table_kind == TALUS_TABLE_ABOUT || m->table_kind == TALUS_TABLE_POSES;
}

/* Solvers know walls by velocity and spin alone. A surface velocity along the normal would make a
 * wall seem to approach or recede while it stays, and bodies would sink into it. */
talus_status tl_world_check_surface(const talus_motion *motion, const tl_shape *shape,
                                    talus_quat rotation, const char *what) {
  bool follows = false;
  for (const talus_motion *m = motion; m; m = m->next) {
    if (!m->is_surface && follows)
      WRONG("%s: a motion comes after that of its surface; the surface must come last", what);
    follows = follows || m->is_surface;
    if (!m->is_surface)
      continue;
    const bool is_plane = shape->kind == TALUS_PLANE, is_ball = shape->kind == TALUS_SPHERE;
    const bool is_round = shape->kind == TALUS_CYLINDER || shape->kind == TALUS_CAPSULE ||
                          shape->kind == TALUS_CONE || shape->kind == TALUS_REVOLVED;
    if (!is_plane && !is_ball && !is_round)
      WRONG("%s: a %s has no surface that can run; give it to a plane (a belt), or to a cylinder, "
            "capsule, cone, sphere or revolved wall (a roller)",
            what, tl_shape_kind_name(shape->kind));
    for (const talus_motion *other = motion; other && !is_ball; other = other->next)
      if (!other->is_surface && turns(other))
        WRONG("%s: its surface runs in axes of the world, so it must not turn by its motion", what);
    const talus_vec3 own =
        is_plane ? tl_vec3(TL_R(shape->size[0]), TL_R(shape->size[1]), TL_R(shape->size[2]))
                 : tl_vec3(0, 0, 1);
    const talus_vec3 axis = tl_quat_rotate(tl_quat_normalize(rotation), own);
    const talus_real out = tl_dot(m->velocity, axis);
    if (!is_plane && tl_length2(m->velocity) > 0)
      WRONG("%s: the surface of a %s can turn (spin), but not run along a straight line", what,
            tl_shape_kind_name(shape->kind));
    if (out * out > TL_R(1e-8) * tl_length2(m->velocity) * tl_length2(axis))
      WRONG("%s: the velocity of its surface leads out of the plane, by %g m/s", what,
            (double)(out / tl_length(axis)));
    if (!is_ball && tl_length2(m->spin) > 0 && !is_along(m->spin, axis))
      WRONG("%s: the spin of its surface must be about %s", what,
            is_plane ? "the normal of the plane" : "its own axis");
  }
  return TALUS_OK;
}

talus_status tl_world_check_motion(const talus_motion *motion, const char *what) {
  int terms = 0;
  for (const talus_motion *m = motion; m; m = m->next) {
    if (++terms > MOST_TERMS)
      WRONG("%s: its motion is a sum of more than %d; does one lead back to an earlier one?", what,
            MOST_TERMS);
    TL_TRY(check_term(m, what));
  }
  return TALUS_OK;
}

talus_status tl_world_reserve_motion(talus_world *world, const talus_motion *motion) {
  tl_model *model = &world->model;
  size_t terms = model->motion_terms.count, values = model->motion_values.count;
  for (const talus_motion *m = motion; m; m = m->next) {
    terms++;
    if (m->table_kind != TALUS_TABLE_NONE)
      values += m->rows * tl_motion_columns(m->table_kind);
  }
  TL_TRY(tl_array_reserve(&model->motions, model->motions.count + 1));
  TL_TRY(tl_array_reserve(&model->motion_terms, terms));
  return tl_array_reserve(&model->motion_values, values);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Normalises the quaternions and chooses the sign of each nearest to the one before it: q and -q
 * are one rotation, and interpolation must take the shorter way. */
static void copy_table(tl_model *model, const talus_motion *m, tl_motion_term *term) {
  const size_t columns = tl_motion_columns(m->table_kind), n = m->rows * columns;
  double *to = model->motion_values.data + model->motion_values.count;
  term->table = model->motion_values.count;
  term->rows = (uint32_t)m->rows;
  term->table_kind = (uint32_t)m->table_kind;
  term->is_smooth = m->is_smooth;
  memcpy(to, m->table, n * sizeof *to);
  model->motion_values.count += n;
  for (size_t i = 0; columns == 8 && i < m->rows; ++i) {
    double *q = to + 8 * i + 4;
    const double *last = q - 8;
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const bool is_far =
        i > 0 && q[0] * last[0] + q[1] * last[1] + q[2] * last[2] + q[3] * last[3] < 0;
    for (int k = 0; k < 4; ++k)
      q[k] /= is_far ? -length : length;
  }
}

static void copy_term(tl_model *model, const talus_motion *m) {
  tl_motion_term term = {.velocity = m->velocity,
                         .spin = m->spin,
                         .amplitude = m->amplitude,
                         .swing = m->swing,
                         .frequency = m->frequency,
                         .phase = m->phase,
                         .is_through = m->is_through,
                         .from = m->from_time,
                         .until = m->until == 0 ? INFINITY : m->until};
  if (m->is_surface) {
    term.amplitude = term.swing = tl_vec3(0, 0, 0);
    term.frequency = term.phase = 0;
    term.is_through = TL_MOTION_SURFACE;
    model->motion_terms.data[model->motion_terms.count++] = term;
    return;
  }
  if (m->is_through)
    term.through = m->through;
  if (m->table_kind != TALUS_TABLE_NONE) {
    const talus_dvec3 axis = tl_widen(m->axis);
    const double length = tl_dlength(axis);
    term.axis = length > 0 ? tl_dscale(axis, 1 / length) : axis;
    copy_table(model, m, &term);
  }
  model->motion_terms.data[model->motion_terms.count++] = term;
}

static void take_pose(talus_world *world, uint32_t slot) {
  const tl_moving m = tl_body_moving(&world->model, slot, talus_world_time(world));
  world->state.position[slot] = m.position;
  world->state.rotation[slot] = tl_dquat_narrow(m.rotation);
  world->state.velocity[slot] = tl_narrow(m.velocity);
  world->state.spin[slot] = tl_narrow(m.spin);
}

void tl_world_add_motion(talus_world *world, uint32_t slot, const talus_motion *motion) {
  tl_model *model = &world->model;
  tl_motion row = {.position = world->state.position[slot],
                   .rotation = world->state.rotation[slot],
                   .first = (uint32_t)model->motion_terms.count};
  for (const talus_motion *m = motion; m; m = m->next)
    copy_term(model, m);
  row.count = (uint32_t)model->motion_terms.count - row.first;
  model->property.motion[slot] = (uint32_t)model->motions.count;
  model->motions.data[model->motions.count++] = row;
  take_pose(world, slot);
}

talus_status tl_world_borrow_motion(talus_world *world, uint32_t slot, const talus_world *old,
                                    uint32_t old_slot) {
  tl_model *model = &world->model;
  const tl_model *from = &old->model;
  tl_motion row = from->motions.data[from->property.motion[old_slot]];
  const tl_motion_term *terms = from->motion_terms.data + row.first;
  row.clock = tl_clock_at(row.clock, from->dt, talus_world_time(old)) - talus_world_time(world);
  row.first = (uint32_t)model->motion_terms.count;
  for (uint32_t i = 0; i < row.count; ++i) {
    tl_motion_term term = terms[i];
    const size_t n = (size_t)term.rows * tl_motion_columns(term.table_kind);
    const size_t at = model->motion_values.count;
    TL_TRY(tl_array_reserve(&model->motion_values, at + n));
    if (term.rows > 0)
      memcpy(model->motion_values.data + at, from->motion_values.data + term.table,
             n * sizeof(double));
    model->motion_values.count += term.rows > 0 ? n : 0;
    term.table = at;
    TL_TRY(tl_array_push(&model->motion_terms, term));
  }
  model->motions.data[model->property.motion[slot]] = row;
  take_pose(world, slot);
  return TALUS_OK;
}

/* ---- the end of a table ---------------------------------------------------------------------- */

static void tell_end(const talus_world *world, uint32_t row, double end) {
  const tl_model *model = &world->model;
  if (tl_need(&world->where, TL_THE(motion), TL_READ) != TALUS_OK)
    return; /* nothing but the line is lost */
  for (size_t slot = 0; slot < model->bodies; ++slot)
    if (model->property.motion[slot] == row) {
      tl_log_write(&model->log, TL_LOG_INFO,
                   "%s: the table of its motion ended at t = %g s; it holds the last row",
                   tl_world_describe(world, (uint32_t)slot), end);
      return;
    }
}

void tl_world_tell_tables(const talus_world *world, double t0, double t1) {
  const tl_model *model = &world->model;
  if (model->motion_values.count == 0)
    return;
  for (size_t i = 0; i < model->motions.count; ++i) {
    const tl_motion *motion = &model->motions.data[i];
    for (uint32_t k = 0; k < motion->count; ++k) {
      const tl_motion_term *term = &model->motion_terms.data[motion->first + k];
      if (term->rows < 2)
        continue;
      const size_t last = (size_t)(term->rows - 1) * tl_motion_columns(term->table_kind);
      const double end = term->from + model->motion_values.data[term->table + last];
      if (end < term->until && t0 + motion->clock < end && end <= t1 + motion->clock)
        tell_end(world, (uint32_t)i, end - motion->clock);
    }
  }
}
