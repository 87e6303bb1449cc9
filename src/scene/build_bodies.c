/* The bodies of a world: single ones, fills and tables. */
#include <talus/detect.h>

#include "base/power.h"
#include "scene/builder.h"
#include "scene/files.h"

talus_quat tl_scene_quat(const tl_scene_rotation *rotation) {
  const double *q = rotation->quaternion;
  const double length = tl_hypot_d(tl_hypot_d(q[0], q[1]), tl_hypot_d(q[2], q[3]));
  return (talus_quat){(talus_real)(q[0] / length), (talus_real)(q[1] / length),
                      (talus_real)(q[2] / length), (talus_real)(q[3] / length)};
}

static bool has_surface(const tl_scene_body *body) {
  return tl_object_has(&tl_schema_body, body, "surface_velocity") ||
         tl_object_has(&tl_schema_body, body, "surface_spin");
}

/* Puts the motions of a body together and adds it. */
static talus_status add_moving(tl_builder *b, const tl_scene_body *body, talus_body_def *def) {
  tl_scene_motions motions;
  talus_status status = tl_scene_make_motions(b->scene, &body->motion, &motions);
  if (status == TALUS_OK && has_surface(body)) {
    const size_t n = motions.count;
    if (n == TL_MOTIONS_MOST)
      status = tl_fail(TALUS_ERROR_INVALID,
                       "its motion is a sum of %zu, and that of its surface is one more; %d are "
                       "the most in all",
                       n, TL_MOTIONS_MOST);
    motions.parts[n] = (talus_motion){.velocity = tl_scene_vec3(body->surface_velocity),
                                      .spin = tl_scene_vec3(body->surface_spin),
                                      .is_surface = true};
    if (n > 0)
      motions.parts[n - 1].next = &motions.parts[n];
  }
  if (status == TALUS_OK) {
    def->motion = motions.parts[0];
    status = talus_world_add_body(b->world, def, NULL);
  }
  tl_scene_free_motions(&motions);
  return status;
}

/* Checks that the last body added is inside the domain. Otherwise the first step would report that
 * it leaves the domain, in which it never was. */
static talus_status check_inside(const tl_builder *b) {
  static const char axes[] = "xyz";
  const double *box = b->scene->domain.box;
  talus_body body;
  talus_body_info info;
  if (!tl_object_has(&tl_schema_scene, b->scene, "domain") ||
      b->scene->domain.outside != TALUS_OUTSIDE_STOP)
    return TALUS_OK;
  TL_TRY(talus_world_body_at(b->world, talus_world_body_count(b->world) - 1, &body));
  TL_TRY(talus_world_get_body(b->world, body, &info));
  const double at[3] = {info.position.x, info.position.y, info.position.z};
  for (int k = 0; k < 3; ++k)
    if ((b->scene->domain.periodic >> k & 1u) == 0 && !(at[k] >= box[k] && at[k] <= box[3 + k]))
      return tl_fail(TALUS_ERROR_INVALID,
                     "its centre is at %c = %g m, outside the domain, which goes from %g to %g m; "
                     "move it, make the domain larger or say `outside: remove`",
                     axes[k], at[k], box[k], box[3 + k]);
  return TALUS_OK;
}

static talus_status add_body(tl_builder *b, const tl_scene_body *body, const talus_body_def *like,
                             uint64_t copy) {
  talus_body_def def = *like;
  tl_repeat_place(b->scene, body, copy, &def);
  if (body->motion.count > 0 || has_surface(body))
    return add_moving(b, body, &def);
  TL_TRY(talus_world_add_body(b->world, &def, NULL));
  TL_TRY(tl_scene_load_body(b->scene, b->world, body));
  return body->fixed ? TALUS_OK : check_inside(b);
}

/* A body and its copies. */
static talus_status add_bodies(tl_builder *b, const tl_scene_body *body) {
  talus_body_def def = talus_body_def_default();
  const bool is_one = body->repeat.count == 0;
  TL_TRY(tl_build_use_names(b, &body->shape, body->material,
                            body->group || is_one ? body->group : body->name, &def));
  def.name = is_one ? body->name : NULL;
  def.kind = body->fixed ? TALUS_FIXED : body->motion.count > 0 ? TALUS_KINEMATIC : TALUS_FREE;
  def.scale = body->scale;
  def.mass = body->mass;
  def.lock = body->lock;
  def.force = tl_scene_vec3(body->force.value);
  def.torque = tl_scene_vec3(body->torque.value);
  if (has_surface(body) && body->fixed)
    def.kind = TALUS_KINEMATIC; /* that stays where it is */
  const uint64_t count = (uint64_t)tl_repeat_count(body);
  if (!is_one)
    TL_TRY(tl_world_expect(b->world, count));
  for (uint64_t i = 0; i < count; ++i) {
    const talus_status status = add_body(b, body, &def, i);
    if (status != TALUS_OK)
      return is_one ? status : tl_fail_in(status, "copy %llu", (unsigned long long)i);
  }
  return TALUS_OK;
}

talus_size_def tl_scene_sizes(const tl_scene_size *size) {
  const tl_map *map = &tl_schema_size;
  talus_size_def def = {.kind = TALUS_SIZE_ONE, .by_mass = size->by == 1};
  if (tl_object_has(map, size, "uniform")) {
    def.kind = TALUS_SIZE_UNIFORM;
    def.low = size->uniform[0], def.high = size->uniform[1];
  } else if (tl_object_has(map, size, "lognormal")) {
    def.kind = TALUS_SIZE_LOGNORMAL;
    def.median = size->lognormal.median, def.sigma = size->lognormal.sigma;
  } else if (tl_object_has(map, size, "table")) {
    def.kind = TALUS_SIZE_TABLE;
    def.table = size->table.data, def.rows = size->table.count;
  }
  return def;
}

/* Adds a multiple of the scene's seed to the seed of a fill or emitter. The multiplier is odd, so
 * that two seeds of the scene never give the same result, and large, so that a fill does not get
 * the seed of its neighbour. */
uint64_t tl_scene_seed_of(const talus_scene *scene, uint64_t own) {
  return own + scene->seed * 0x9E3779B97F4A7C15u;
}

static talus_status add_fill(tl_builder *b, const tl_scene_fill *fill, const char *name) {
  talus_fill_def def = talus_fill_def_default();
  TL_TRY(tl_build_use_names(b, &fill->shape, fill->material, fill->group ? fill->group : name,
                            &def.body));
  def.body.rotation = tl_scene_quat(&fill->rotation);
  def.body.velocity = tl_scene_vec3(fill->velocity);
  def.body.spin = tl_scene_vec3(fill->spin);
  def.body.kind = fill->fixed ? TALUS_FIXED : TALUS_FREE;
  def.in = tl_scene_region_of(&fill->in, &tl_schema_region);
  def.count = fill->count;
  def.fraction = fill->fraction;
  def.size = tl_scene_sizes(&fill->size);
  def.random_rotation = fill->rotation.is_random;
  def.seed = tl_scene_seed_of(b->scene, fill->seed);
  def.allow_fewer = fill->allow_fewer;
  def.thermal = fill->thermal;
  return talus_world_fill(b->world, &def, NULL);
}

static talus_status add_table(tl_builder *b, const tl_scene_table *table) {
  talus_body_def like = talus_body_def_default();
  talus_body_table rows = {0};
  tl_text path = {0};
  tl_names_find(&b->materials, table->material, &like.material.index);
  const char *group = table->group ? table->group : table->name;
  if (group)
    TL_TRY(talus_world_group(b->world, group, &like.group));
  like.kind = table->fixed ? TALUS_FIXED : TALUS_FREE;
  like.position = tl_scene_dvec3(table->at);
  tl_scene_add_path(&path, b->scene, table->table);
  TL_TRY(path.status);
  talus_status status = tl_scene_told_path(talus_body_table_read(path.data, &rows));
  if (status == TALUS_OK && rows.bodies.count == 0)
    status =
        tl_fail(TALUS_ERROR_FORMAT, "%s: the table has no rows, so it gives no bodies", path.data);
  if (status == TALUS_OK) {
    status = talus_world_add_table(b->world, &rows, &like, table->scale);
    if (status != TALUS_OK)
      status = tl_fail_in(status, "%s", path.data);
  }
  talus_body_table_free(&rows);
  tl_text_drop(&path);
  return status;
}

talus_status tl_build_ignore(tl_builder *b) {
  const tl_scene_ignore *ignore = b->scene->ignore.data;
  for (size_t i = 0; i < b->scene->ignore.count; ++i) {
    uint32_t one, other;
    TL_TRY(talus_world_group(b->world, ignore[i].groups[0], &one));
    TL_TRY(talus_world_group(b->world, ignore[i].groups[1], &other));
    TL_TRY(talus_world_ignore_groups(b->world, one, other));
  }
  return TALUS_OK;
}

talus_status tl_build_bodies(tl_builder *b) {
  const tl_scene_body *bodies = b->scene->bodies.data;
  for (size_t i = 0; i < b->scene->bodies.count; ++i) {
    const tl_scene_body *body = &bodies[i];
    TL_TRY(tl_array_push(&b->first, talus_world_body_count(b->world)));
    if (!body->from && !body->table &&
        !tl_build_has_shape(b, body->fill ? &body->fill->shape : &body->shape))
      continue;
    const talus_status status = body->fill    ? add_fill(b, body->fill, body->name)
                                : body->from  ? tl_scene_add_from(b->scene, b->world, &b->materials,
                                                                  body->from, &b->borrowed, &b->left)
                                : body->table ? add_table(b, body->table)
                                              : add_bodies(b, body);
    /* The messages of a fill begin with the word. */
    const char *part = body->from ? ".from" : body->table ? ".table" : "";
    TL_TRY(tl_build_gather(b, status, &body->object, "bodies", i, part));
  }
  return TALUS_OK;
}
