/* Many bodies at once: those of a table. */
#include <math.h>

#include <talus/detect.h>

#include "world/world.h"

typedef TL_ARRAY(talus_shape) made_shapes;

static talus_status add_shapes(talus_world *world, const talus_detect_bodies *bodies,
                               made_shapes *made) {
  talus_shape_def unit = talus_shape_def_default();
  unit.size[0] = 1;
  const size_t n = bodies->shapes ? bodies->shape_count : 1;
  TL_TRY(tl_array_resize(made, n));
  for (size_t i = 0; i < n; ++i)
    TL_TRY(
        talus_world_add_shape(world, bodies->shapes ? &bodies->shapes[i] : &unit, &made->data[i]));
  return TALUS_OK;
}

static talus_vec3 scaled(const double *v, double scale) {
  return (talus_vec3){(talus_real)(scale * v[0]), (talus_real)(scale * v[1]),
                      (talus_real)(scale * v[2])};
}

/* Normalised in double, before it is narrowed, as a scene's are. */
static talus_quat turned(const double *q) {
  const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return (talus_quat){(talus_real)(q[0] / length), (talus_real)(q[1] / length),
                      (talus_real)(q[2] / length), (talus_real)(q[3] / length)};
}

static bool never_moves(const talus_detect_bodies *bodies, size_t i) {
  const talus_shape_kind kind = bodies->shapes ? bodies->shapes[bodies->shape[i]].kind : 0;
  return bodies->shapes && tl_kind_is_wall(kind);
}

static void describe(const talus_body_table *table, size_t i, double scale,
                     const talus_body_def *like, talus_body_def *def) {
  const talus_detect_bodies *bodies = &table->bodies;
  const double *at = bodies->position + i * bodies->position_stride;
  *def = *like;
  def->name = NULL;
  def->position = (talus_dvec3){like->position.x + scale * at[0], like->position.y + scale * at[1],
                                like->position.z + scale * at[2]};
  def->scale =
      scale * (bodies->shapes ? bodies->scale[i] : bodies->radius[i * bodies->radius_stride]);
  if (bodies->rotation)
    def->rotation = turned(bodies->rotation + 4 * i);
  if (never_moves(bodies, i))
    def->kind = TALUS_FIXED;
  if (table->velocity)
    def->velocity = scaled(table->velocity + 3 * i, scale);
  if (table->spin)
    def->spin = scaled(table->spin + 3 * i, 1);
}

/* Counts bodies in the table that never move and have a velocity or spin. */
static size_t count_idle(const talus_body_table *table, const talus_body_def *like) {
  size_t idle = 0;
  for (size_t i = 0; i < table->bodies.count && (table->velocity || table->spin); ++i) {
    const bool fixed = like->kind != TALUS_FREE || never_moves(&table->bodies, i);
    double sum = 0;
    for (size_t k = 0; k < 3 && fixed; ++k)
      sum += (table->velocity ? fabs(table->velocity[3 * i + k]) : 0) +
             (table->spin ? fabs(table->spin[3 * i + k]) : 0);
    idle += sum > 0;
  }
  return idle;
}

talus_status talus_world_add_table(talus_world *world, const talus_body_table *table,
                                   const talus_body_def *like, double scale) {
  TL_NEED(world);
  TL_NEED(table);
  TL_NEED(like);
  if (!(scale > 0) || !tl_is_finite_d(scale))
    return tl_fail(TALUS_ERROR_INVALID, "the scale of a table is %g; it must be positive", scale);
  if (!table->own)
    return tl_fail(TALUS_ERROR_INVALID,
                   "the table was not read by talus_body_table_read or talus_body_table_parse");
  const talus_detect_bodies *bodies = &table->bodies;
  made_shapes shapes = {0};
  talus_status status = add_shapes(world, bodies, &shapes);
  for (size_t i = 0; i < bodies->count && status == TALUS_OK; ++i) {
    talus_body_def def;
    describe(table, i, scale, like, &def);
    def.shape = shapes.data[bodies->shapes ? bodies->shape[i] : 0];
    if (!bodies->shapes && def.scale == 0)
      status = tl_fail(TALUS_ERROR_INVALID, "its radius is 0; expected a radius above 0");
    else
      status = talus_world_add_body(world, &def, NULL);
    if (status != TALUS_OK)
      status = tl_fail_in(status, "row %zu of the table", i + 1);
  }
  tl_array_free(&shapes);
  const size_t idle = status == TALUS_OK ? count_idle(table, like) : 0;
  if (idle > 0)
    tl_log_write(
        &world->model.log, TL_LOG_WARN,
        "a table gives a velocity or spin to %zu bod%s that never move%s; the velocit%s ignored",
        idle, idle == 1 ? "y" : "ies", idle == 1 ? "s" : "", idle == 1 ? "y is" : "ies are");
  return status;
}
