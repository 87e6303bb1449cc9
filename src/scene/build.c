/* From a scene to a world, by the calls of talus/talus.h. */
#include <math.h>
#include <stdio.h>

#include <talus/detect.h>

#include "base/power.h"
#include "base/log.h"
#include "scene/build.h"
#include "scene/files.h"
#include "scene/from.h"
#include "scene/gather.h"
#include "scene/shapes.h"
#include "scene/warn.h"

typedef struct builder {
  const talus_scene *scene;
  talus_world *world;
  talus_log_fn *log;
  void *log_context;
  tl_names materials, shapes; /* name to row of the world */
  /* Shapes written in place, so that a thousand equal ones make one shape of the world. */
  tl_names own_shapes;
  TL_ARRAY(char *) own_keys;
  TL_ARRAY(size_t) first; /* of each entry of `bodies`: how many bodies there were before it */
  tl_from_names borrowed; /* materials of other runs */
  tl_from_names left;     /* emitters and sinks of those */
  tl_gather mistakes;     /* of entries; the next one has its turn all the same */
} builder;

/* Puts the place of an entry in front of the message. */
static talus_status fail_at(const builder *b, talus_status status, const tl_object *at,
                            const char *entry) {
  const char *gap = *entry ? ": " : "";
  if (at->origin == 0)
    return tl_fail_in(status, "%s:%u:%u%s%s", b->scene->name, at->line, at->column, gap, entry);
  return tl_fail_in(status, "%s%s%s", b->scene->name, gap, entry);
}

/* The same for an entry of a list, put down. */
static talus_status gather_at(builder *b, talus_status status, const tl_object *at,
                              const char *list, size_t row, const char *part) {
  char entry[64];
  snprintf(entry, sizeof entry, "%s.%zu%s", list, row, part);
  return status == TALUS_OK ? status : tl_gather_add(&b->mistakes, fail_at(b, status, at, entry));
}

static talus_vec3 vec3(const double v[3]) {
  return (talus_vec3){(talus_real)v[0], (talus_real)v[1], (talus_real)v[2]};
}

static talus_dvec3 dvec3(const double v[3]) { return (talus_dvec3){v[0], v[1], v[2]}; }

static talus_box box_of(const double v[6]) { return (talus_box){dvec3(v), dvec3(v + 3)}; }

/* Normalised here, in double, before it is narrowed. */
static talus_quat quat_of(const tl_scene_rotation *rotation) {
  const double *q = rotation->quaternion;
  const double length = tl_hypot_d(tl_hypot_d(q[0], q[1]), tl_hypot_d(q[2], q[3]));
  return (talus_quat){(talus_real)(q[0] / length), (talus_real)(q[1] / length),
                      (talus_real)(q[2] / length), (talus_real)(q[3] / length)};
}

/* ---- the world ------------------------------------------------------------------------------- */

static talus_world_def world_def(const talus_scene *scene) {
  talus_world_def def = talus_world_def_default();
  def.gravity = vec3(scene->gravity);
  def.dt = scene->step.dt;
  def.substeps = (int)scene->step.substeps;
  def.step = (talus_step_kind)scene->step.kind;
  def.broad = (talus_broad_kind)scene->broad.kind;
  def.skin = scene->broad.skin;
  def.narrow.ellipsoid = (talus_ellipsoid_method)scene->narrow.ellipsoid;
  def.narrow.tree = (talus_tree_kind)scene->narrow.tree;
  def.solve = (talus_solve_def){.kind = (talus_solve_kind)scene->solve.kind,
                                .law = (talus_spring_law)scene->solve.law,
                                .reach = scene->solve.reach,
                                .tangential = scene->solve.tangential,
                                .method = (talus_ccp_method)scene->solve.method,
                                .friction = (talus_friction_model)scene->solve.friction,
                                .iterations = (int)scene->solve.iterations,
                                .iterations_max = (int)scene->solve.iterations_max,
                                .tolerance = scene->solve.tolerance,
                                .warm_start = scene->solve.warm_start,
                                .recovery = scene->solve.recovery,
                                .recovery_speed = scene->solve.recovery_speed,
                                .bounce_speed = scene->solve.bounce_speed,
                                .joints = (talus_joints_solver)scene->solve.joints,
                                .omega = scene->solve.omega,
                                .lambda = scene->solve.lambda,
                                .reduction = (talus_reduction)scene->solve.reduction,
                                .islands = scene->solve.islands,
                                .slop = scene->solve.slop,
                                .correction = scene->solve.correction,
                                .shell = (talus_shell)scene->solve.shell,
                                .response = (talus_response)scene->solve.response};
  def.margin = scene->contact.margin;
  def.dt_min = scene->step.min;
  def.halo = scene->contact.halo;
  def.strict = scene->strict;
  if (tl_object_has(&tl_schema_scene, scene, "sleep"))
    def.sleep = (talus_sleep_def){scene->sleep.speed, scene->sleep.time};
  if (tl_object_has(&tl_schema_scene, scene, "domain")) {
    def.domain.enabled = true;
    def.domain.box = box_of(scene->domain.box);
    for (unsigned k = 0; k < 3; ++k)
      def.domain.periodic[k] = (scene->domain.periodic >> k & 1u) != 0;
    def.domain.outside = (talus_outside)scene->domain.outside;
  }
  return def;
}

static talus_status add_materials(builder *b) {
  const tl_scene_material *materials = b->scene->materials.data;
  for (size_t i = 0; i < b->scene->materials.count; ++i) {
    const talus_material_def def = {.name = materials[i].name,
                                    .density = materials[i].density,
                                    .friction = materials[i].friction,
                                    .restitution = materials[i].restitution,
                                    .static_friction = fmax(materials[i].static_friction, 0),
                                    .rolling = materials[i].rolling,
                                    .spinning = materials[i].spinning,
                                    .cohesion = materials[i].cohesion,
                                    .rolling_coefficient = materials[i].rolling_coefficient,
                                    .surface_energy = materials[i].surface_energy,
                                    .stiffness = fmax(materials[i].stiffness, 0),
                                    .young = materials[i].young,
                                    .poisson = materials[i].poisson};
    talus_material material;
    uint32_t first;
    TL_TRY(talus_world_add_material(b->world, &def, &material));
    TL_TRY(tl_names_add(&b->materials, materials[i].name, material.index, &first));
  }
  const tl_scene_pair *pairs = b->scene->pairs.data;
  for (size_t i = 0; i < b->scene->pairs.count; ++i) {
    talus_material one = {0}, other = {0};
    tl_names_find(&b->materials, pairs[i].materials[0], &one.index);
    tl_names_find(&b->materials, pairs[i].materials[1], &other.index);
    const talus_material_law law = {.friction = pairs[i].friction,
                                    .restitution = pairs[i].restitution,
                                    .static_friction = pairs[i].static_friction,
                                    .rolling = pairs[i].rolling,
                                    .spinning = pairs[i].spinning,
                                    .cohesion = pairs[i].cohesion,
                                    .rolling_coefficient = pairs[i].rolling_coefficient,
                                    .surface_energy = pairs[i].surface_energy,
                                    .stiffness = fmax(pairs[i].stiffness, 0)};
    TL_TRY(talus_world_set_material_law(b->world, one, other, &law));
  }
  return TALUS_OK;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static talus_status add_shapes(builder *b) {
  const tl_scene_shape *shapes = b->scene->shapes.data;
  for (size_t i = 0; i < b->scene->shapes.count; ++i) {
    talus_shape shape;
    uint32_t first;
    const talus_status status = tl_scene_add_shape(b->scene, &shapes[i], b->world, &shape);
    if (status == TALUS_OK)
      TL_TRY(tl_names_add(&b->shapes, shapes[i].name, shape.index, &first));
    else
      TL_TRY(tl_gather_add(&b->mistakes, fail_at(b, status, &shapes[i].object, "")));
  }
  return TALUS_OK;
}

/* False of a shape that the world refused, which has been told. */
static bool has_shape(const builder *b, const tl_scene_shape_use *use) {
  uint32_t row;
  return !use->name || tl_names_find(&b->shapes, use->name, &row);
}

static talus_status use_shape(builder *b, const tl_scene_shape_use *use, talus_shape *shape) {
  if (use->name) {
    tl_names_find(&b->shapes, use->name, &shape->index);
    return TALUS_OK;
  }
  tl_text key = {0};
  TL_TRY(tl_scene_write_shape(b->scene, use->own, &key));
  if (tl_names_find(&b->own_shapes, key.data, &shape->index)) {
    tl_text_drop(&key);
    return TALUS_OK;
  }
  talus_status status = tl_scene_add_shape(b->scene, use->own, b->world, shape);
  if (status == TALUS_OK)
    status = tl_array_reserve(&b->own_keys, b->own_keys.count + 1);
  char *copy = NULL;
  uint32_t first;
  if (status == TALUS_OK)
    status = tl_string_copy(key.data, key.count, &copy);
  tl_text_drop(&key);
  TL_TRY(status);
  b->own_keys.data[b->own_keys.count++] = copy;
  return tl_names_add(&b->own_shapes, copy, shape->index, &first);
}

/* What bodies, fills and emitters have in common. */
static talus_status use_names(builder *b, const tl_scene_shape_use *shape, const char *material,
                              const char *group, talus_body_def *def) {
  TL_TRY(use_shape(b, shape, &def->shape));
  tl_names_find(&b->materials, material, &def->material.index);
  return group ? talus_world_group(b->world, group, &def->group) : TALUS_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static bool has_surface(const tl_scene_body *body) {
  return tl_object_has(&tl_schema_body, body, "surface_velocity") ||
         tl_object_has(&tl_schema_body, body, "surface_spin");
}

/* Puts the motions of a body together and adds it. */
static talus_status add_moving(builder *b, const tl_scene_body *body, talus_body_def *def) {
  tl_scene_motions motions;
  talus_status status = tl_scene_make_motions(b->scene, &body->motion, &motions);
  if (status == TALUS_OK && has_surface(body)) {
    const size_t n = motions.count;
    if (n == TL_MOTIONS_MOST)
      status = tl_fail(TALUS_ERROR_INVALID,
                       "its motion is a sum of %zu, and that of its surface is one more; %d are "
                       "the most in all",
                       n, TL_MOTIONS_MOST);
    motions.parts[n] = (talus_motion){.velocity = vec3(body->surface_velocity),
                                      .spin = vec3(body->surface_spin),
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

/* The first step would say that the last body added leaves the domain, which it was never in. */
static talus_status check_inside(const builder *b) {
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

static talus_status add_body(builder *b, const tl_scene_body *body) {
  talus_body_def def = talus_body_def_default();
  TL_TRY(use_names(b, &body->shape, body->material, body->group, &def));
  def.name = body->name;
  def.kind = body->fixed ? TALUS_FIXED : body->motion.count > 0 ? TALUS_KINEMATIC : TALUS_FREE;
  def.position = dvec3(body->at);
  def.rotation = quat_of(&body->rotation);
  def.velocity = vec3(body->velocity);
  def.spin = vec3(body->spin);
  def.scale = body->scale;
  def.mass = body->mass;
  def.lock = body->lock;
  def.force = vec3(body->force.value);
  def.torque = vec3(body->torque.value);
  if (has_surface(body) && body->fixed)
    def.kind = TALUS_KINEMATIC; /* that stays where it is */
  if (body->motion.count > 0 || has_surface(body))
    return add_moving(b, body, &def);
  TL_TRY(talus_world_add_body(b->world, &def, NULL));
  TL_TRY(tl_scene_load_body(b->scene, b->world, body));
  return body->fixed ? TALUS_OK : check_inside(b);
}

static const tl_map *map_of(const tl_map *map, const char *key) {
  return map->keys[tl_map_find(map, key)].map;
}

static talus_size_def size_of(const tl_scene_size *size, const tl_map *map) {
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

/* A fill's or emitter's own seed, moved by the scene's: an odd multiplier, so that no two seeds of
 * the scene give the same, and one far from small numbers, so that one fill does not get what its
 * neighbour had. */
static uint64_t seed_of(const talus_scene *scene, uint64_t own) {
  return own + scene->seed * 0x9E3779B97F4A7C15u;
}

static talus_status add_fill(builder *b, const tl_scene_fill *fill, const char *name) {
  const tl_map *map = &tl_schema_fill;
  talus_fill_def def = talus_fill_def_default();
  TL_TRY(use_names(b, &fill->shape, fill->material, fill->group ? fill->group : name, &def.body));
  def.body.rotation = quat_of(&fill->rotation);
  def.body.velocity = vec3(fill->velocity);
  def.body.spin = vec3(fill->spin);
  def.body.kind = fill->fixed ? TALUS_FIXED : TALUS_FREE;
  def.in = tl_scene_region_of(&fill->in, map_of(map, "in"));
  def.count = fill->count;
  def.fraction = fill->fraction;
  def.size = size_of(&fill->size, map_of(map, "size"));
  def.random_rotation = fill->rotation.is_random;
  def.seed = seed_of(b->scene, fill->seed);
  def.allow_fewer = fill->allow_fewer;
  def.thermal = fill->thermal;
  return talus_world_fill(b->world, &def, NULL);
}

static talus_status add_table(builder *b, const tl_scene_table *table) {
  talus_body_def like = talus_body_def_default();
  talus_body_table rows = {0};
  tl_text path = {0};
  tl_names_find(&b->materials, table->material, &like.material.index);
  const char *group = table->group ? table->group : table->name;
  if (group)
    TL_TRY(talus_world_group(b->world, group, &like.group));
  like.kind = table->fixed ? TALUS_FIXED : TALUS_FREE;
  like.position = dvec3(table->at);
  tl_scene_add_path(&path, b->scene, table->table);
  TL_TRY(path.status);
  talus_status status = tl_scene_told_path(talus_body_table_read(path.data, &rows));
  if (status == TALUS_OK) {
    status = talus_world_add_table(b->world, &rows, &like, table->scale);
    if (status != TALUS_OK)
      status = tl_fail_in(status, "%s", path.data);
  }
  talus_body_table_free(&rows);
  tl_text_drop(&path);
  return status;
}

/* Before any body: a fill looks at who ignores whom. */
static talus_status ignore_groups(builder *b) {
  const tl_scene_ignore *ignore = b->scene->ignore.data;
  for (size_t i = 0; i < b->scene->ignore.count; ++i) {
    uint32_t one, other;
    TL_TRY(talus_world_group(b->world, ignore[i].groups[0], &one));
    TL_TRY(talus_world_group(b->world, ignore[i].groups[1], &other));
    TL_TRY(talus_world_ignore_groups(b->world, one, other));
  }
  return TALUS_OK;
}

static talus_status add_bodies(builder *b) {
  const tl_scene_body *bodies = b->scene->bodies.data;
  for (size_t i = 0; i < b->scene->bodies.count; ++i) {
    const tl_scene_body *body = &bodies[i];
    TL_TRY(tl_array_push(&b->first, talus_world_body_count(b->world)));
    if (!body->from && !body->table &&
        !has_shape(b, body->fill ? &body->fill->shape : &body->shape))
      continue;
    const talus_status status = body->fill    ? add_fill(b, body->fill, body->name)
                                : body->from  ? tl_scene_add_from(b->scene, b->world, &b->materials,
                                                                  body->from, &b->borrowed, &b->left)
                                : body->table ? add_table(b, body->table)
                                              : add_body(b, body);
    /* The messages of a fill begin with the word. */
    const char *part = body->from ? ".from" : body->table ? ".table" : "";
    TL_TRY(gather_at(b, status, &body->object, "bodies", i, part));
  }
  return TALUS_OK;
}

/* A material that was to change what bodies of another run are of must not be misspelt. */
static talus_status check_borrowed(builder *b) {
  const tl_scene_material *materials = b->scene->materials.data;
  const tl_scene_body *bodies = b->scene->bodies.data;
  bool borrows = false;
  for (size_t i = 0; i < b->scene->bodies.count; ++i)
    borrows = borrows || bodies[i].from;
  if (!borrows || b->mistakes.count > 0 || (b->scene->quiet & TL_WARN_UNUSED_MATERIAL))
    return TALUS_OK;
  for (size_t i = 0; i < b->scene->materials.count; ++i) {
    char entry[96];
    snprintf(entry, sizeof entry, "materials.%.60s", materials[i].name);
    const talus_status status = tl_from_check_material(b->scene, materials[i].name, &b->borrowed);
    if (status != TALUS_OK)
      TL_TRY(tl_gather_add(&b->mistakes, fail_at(b, status, &materials[i].object, entry)));
  }
  return TALUS_OK;
}

static talus_status add_joints(builder *b) {
  const tl_scene_joint *joints = b->scene->joints.data;
  bool assemble = false;
  for (size_t i = 0; i < b->scene->joints.count; ++i) {
    const talus_status status = tl_scene_add_joint(b->scene, b->world, &joints[i]);
    TL_TRY(gather_at(b, status, &joints[i].object, "joints", i, ""));
    assemble |= joints[i].assemble;
  }
  return assemble && b->mistakes.count == 0 ? talus_world_assemble(b->world, NULL) : TALUS_OK;
}

/* ---- flow ------------------------------------------------------------------------------------ */

static talus_status add_emitter(builder *b, const tl_scene_emitter *emitter) {
  const tl_map *map = &tl_schema_emitter;
  talus_emitter_def def = talus_emitter_def_default();
  TL_TRY(use_names(b, &emitter->shape, emitter->material, emitter->group, &def.body));
  def.name = emitter->name;
  def.body.rotation = quat_of(&emitter->rotation);
  def.body.velocity = vec3(emitter->velocity);
  def.body.spin = vec3(emitter->spin);
  def.from = tl_scene_region_of(&emitter->from, map_of(map, "from"));
  def.rate = emitter->rate;
  def.from_time = emitter->from_time;
  def.until = tl_object_has(map, emitter, "until") ? emitter->until : INFINITY;
  def.size = size_of(&emitter->size, map_of(map, "size"));
  def.random_rotation = emitter->rotation.is_random;
  def.seed = seed_of(b->scene, emitter->seed);
  def.thermal = emitter->thermal;
  def.inflow = (talus_inflow)emitter->inflow;
  def.arrival = (talus_arrival)emitter->arrival;
  def.burst = emitter->burst;
  def.point_count = (uint32_t)emitter->from.points.rows.count;
  if (def.point_count > 0)
    memcpy(def.points, emitter->from.points.rows.data, def.point_count * sizeof *def.points);
  return talus_world_add_emitter(b->world, &def);
}

static talus_status add_probe(builder *b, const tl_scene_probe *probe) {
  const tl_map *map = map_of(&tl_schema_scene, "probes");
  talus_probe_def def = {.name = probe->name,
                         .on_body = probe->body != NULL,
                         .record = probe->record,
                         .sizes = probe->sizes.data,
                         .size_count = probe->sizes.count};
  uint32_t row;
  def.on_joint = probe->joint != NULL;
  if (probe->body)
    TL_TRY(talus_world_find_body(b->world, probe->body, &def.body));
  else if (probe->joint)
    TL_TRY(talus_world_find_joint(b->world, probe->joint, &def.joint));
  else
    def.region = tl_scene_region_of(&probe->region, map_of(map, "region"));
  return talus_world_add_probe(b->world, &def, &row);
}

/* all_there: no body or joint was refused, so that a probe finds the one it is on. */
static talus_status add_flow(builder *b, bool all_there) {
  const talus_scene *scene = b->scene;
  const tl_scene_emitter *emitters = scene->emit.data;
  const tl_scene_sink *sinks = scene->sinks.data;
  const tl_scene_probe *probes = scene->probes.data;
  for (size_t i = 0; i < scene->emit.count; ++i) {
    if (!has_shape(b, &emitters[i].shape))
      continue;
    const talus_status status = add_emitter(b, &emitters[i]);
    TL_TRY(gather_at(b, status, &emitters[i].object, "emit", i, ""));
  }
  for (size_t i = 0; i < scene->sinks.count; ++i) {
    const tl_map *map = map_of(map_of(&tl_schema_scene, "sinks"), "in");
    const talus_region region = tl_scene_region_of(&sinks[i].in, map);
    talus_status status = talus_world_add_sink(b->world, sinks[i].name, &region);
    if (status == TALUS_OK && sinks[i].recycle)
      status = talus_world_recycle(b->world, sinks[i].name, sinks[i].recycle);
    TL_TRY(gather_at(b, status, &sinks[i].object, "sinks", i, ""));
  }
  for (size_t i = 0; i < scene->probes.count && all_there; ++i)
    TL_TRY(gather_at(b, add_probe(b, &probes[i]), &probes[i].object, "probes", i, ""));
  const tl_scene_zone *zones = scene->zones.data;
  for (size_t i = 0; i < scene->zones.count && all_there; ++i)
    TL_TRY(gather_at(b, tl_scene_add_zone(b->world, &zones[i]), &zones[i].object, "zones", i, ""));
  const tl_scene_average *averages = scene->averages.data;
  for (size_t i = 0; i < scene->averages.count && all_there; ++i)
    TL_TRY(gather_at(b, tl_scene_add_average(b->world, &averages[i]), &averages[i].object,
                     "averages", i, ""));
  return TALUS_OK;
}

/* ---- warnings -------------------------------------------------------------------------------- */

/* The entry of `bodies` that made the body in a slot of the new world. */
static size_t entry_of(const builder *b, size_t slot) {
  size_t entry = b->first.count - 1;
  while (b->first.data[entry] > slot)
    entry--;
  return entry;
}

static void add_entry(const builder *b, tl_text *text, size_t entry) {
  const tl_scene_body *body = (const tl_scene_body *)b->scene->bodies.data + entry;
  tl_text_add(text, "%sbodies.%zu%s", tl_scene_is_one(body) ? "" : "a body of ", entry,
              body->fill    ? ".fill"
              : body->from  ? ".from"
              : body->table ? ".table"
                            : "");
  if (body->name)
    tl_text_add(text, " (`%s`)", body->name);
}

/* "scene.yaml:7:5: " of an entry of `bodies`. */
static void add_place(const builder *b, tl_text *text, size_t entry) {
  const tl_object *at = &((const tl_scene_body *)b->scene->bodies.data)[entry].object;
  tl_text_add(text, "%s:", b->scene->name);
  if (at->origin == 0)
    tl_text_add(text, "%u:%u:", at->line, at->column);
  tl_text_add(text, " ");
}

/* Sizes of a table that look like millimetres; those that a scene says itself: warn_size.c. */
static void warn_heavy_rows(const builder *b, size_t entry) {
  const size_t end =
      entry + 1 < b->first.count ? b->first.data[entry + 1] : talus_world_body_count(b->world);
  double most = TL_WARN_HEAVIEST;
  for (size_t slot = b->first.data[entry]; slot < end; ++slot) {
    talus_body body;
    talus_body_info info;
    if (talus_world_body_at(b->world, slot, &body) == TALUS_OK &&
        talus_world_get_body(b->world, body, &info) == TALUS_OK && info.kind == TALUS_FREE)
      most = fmax(most, (double)info.mass);
  }
  if (!(most > TL_WARN_HEAVIEST))
    return;
  tl_text text = {0};
  add_place(b, &text, entry);
  add_entry(b, &text, entry);
  tl_text_add(&text, " has %.2g kg; sizes are in metres: a table in mm needs `scale: 0.001`", most);
  tl_warn_add_way_out(&text, TL_WARN_HEAVY_BODY);
  if (text.status == TALUS_OK)
    b->log(b->log_context, 1, text.data);
  tl_text_drop(&text);
}

static void warn_heavy(const builder *b) {
  const tl_scene_body *bodies = b->scene->bodies.data;
  for (size_t i = 0; i < b->scene->bodies.count; ++i)
    if (bodies[i].table && !bodies[i].table->fixed)
      warn_heavy_rows(b, i);
}

static void warn_overlap(const builder *b) {
  tl_overlap deep;
  /* A pair that cannot be handled is for the first step to tell. */
  if (tl_world_find_overlap(b->world, &deep) != TALUS_OK || deep.count == 0)
    return;
  /* The later entry is the one that was put into the other. */
  const size_t one = entry_of(b, deep.slot_a), other = entry_of(b, deep.slot_b);
  const size_t late = one > other ? one : other, early = one > other ? other : one;
  tl_text text = {0};
  add_place(b, &text, late);
  add_entry(b, &text, late);
  tl_text_add(&text, " and ");
  add_entry(b, &text, early);
  tl_text_add(&text, " overlap by %.2g m at the start, %.2g of the smaller one's radius %.2g m",
              deep.depth, deep.depth / deep.radius, deep.radius);
  if (deep.count > 1)
    tl_text_add(&text, " (and %zu more pair%s overlap%s)", deep.count - 1,
                deep.count == 2 ? "" : "s", deep.count == 2 ? "s" : "");
  tl_text_add(&text, "; they are pushed apart; expected bodies that touch at most");
  tl_warn_add_way_out(&text, TL_WARN_OVERLAP);
  if (text.status == TALUS_OK)
    b->log(b->log_context, 1, text.data);
  tl_text_drop(&text);
}

/* A branch goes on without what came in and went out, unless the scene has its own. */
static void warn_left_behind(const builder *b) {
  const talus_scene *scene = b->scene;
  const tl_scene_body *bodies = scene->bodies.data;
  size_t entry = 0;
  if (b->left.count == 0 || scene->emit.count > 0 || scene->sinks.count > 0)
    return;
  while (!bodies[entry].from)
    entry++;
  tl_text text = {0};
  add_place(b, &text, entry);
  tl_text_add(&text, "bodies.%zu.from: ", entry);
  for (size_t i = 0; i < b->left.count; ++i)
    tl_text_add(&text, "%s%s",
                i == 0                   ? ""
                : i + 1 == b->left.count ? " and "
                                         : ", ",
                b->left.data[i]);
  tl_text_add(&text,
              " of that run do%s not come along: copy `emit` and `sinks` from its scene.yaml",
              b->left.count == 1 ? "es" : "");
  tl_warn_add_way_out(&text, TL_WARN_LEFT_BEHIND);
  if (text.status == TALUS_OK)
    b->log(b->log_context, 1, text.data);
  tl_text_drop(&text);
}

/* A step that springs asked for may be a thousand times shorter than the usual one. */
static void tell_chosen_step(const builder *b) {
  const talus_scene *scene = b->scene;
  const bool is_given = scene->step.object.given >> tl_map_find(&tl_schema_step, "dt") & 1u;
  char text[256];
  if (is_given || scene->solve.kind != TALUS_SOLVE_PENALTY || scene->solve.law != TALUS_LINEAR)
    return;
  snprintf(text, sizeof text,
           "step.dt is not given: %g s, for which `stiffness: auto` lets nobody sink deeper than a "
           "hundredth of the smallest radius; with a stiffness of the materials it may be longer",
           scene->step.dt);
  b->log(b->log_context, TL_LOG_INFO, text);
}

static talus_status add_all(builder *b) {
  if (b->log)
    tell_chosen_step(b);
  for (size_t i = 0; i < b->scene->warnings.count && b->log; ++i)
    b->log(b->log_context, 1, b->scene->warnings.data[i]);
  TL_TRY(add_materials(b));
  TL_TRY(add_shapes(b));
  TL_TRY(ignore_groups(b));
  TL_TRY(add_bodies(b));
  TL_TRY(check_borrowed(b));
  if (b->mistakes.count == 0)
    TL_TRY(add_joints(b)); /* they are between bodies, all of which are there */
  const bool all_there = b->mistakes.count == 0;
  if (all_there && b->log && !(b->scene->quiet & TL_WARN_OVERLAP))
    warn_overlap(b);
  if (all_there && b->log && !(b->scene->quiet & TL_WARN_HEAVY_BODY))
    warn_heavy(b);
  if (all_there && b->log && !(b->scene->quiet & TL_WARN_LEFT_BEHIND))
    warn_left_behind(b);
  return add_flow(b, all_there);
}

/* Named shapes first, then those written in place. */
static talus_status add_shapes_only(builder *b) {
  const tl_scene_body *bodies = b->scene->bodies.data;
  const tl_scene_emitter *emitters = b->scene->emit.data;
  talus_shape unused;
  TL_TRY(add_shapes(b));
  for (size_t i = 0; i < b->scene->bodies.count; ++i)
    if (!bodies[i].from && !bodies[i].table)
      TL_TRY(gather_at(
          b, use_shape(b, bodies[i].fill ? &bodies[i].fill->shape : &bodies[i].shape, &unused),
          &bodies[i].object, "bodies", i, ""));
  for (size_t i = 0; i < b->scene->emit.count; ++i)
    TL_TRY(gather_at(b, use_shape(b, &emitters[i].shape, &unused), &emitters[i].object, "emit", i,
                     ""));
  return TALUS_OK;
}

static talus_status build(builder *b, const talus_world_def *def,
                          talus_status (*fill_in)(builder *b), talus_world **world) {
  *world = NULL;
  TL_TRY(talus_world_create(def, &b->world));
  const talus_status status = tl_gather_end(&b->mistakes, fill_in(b));
  tl_names_free(&b->materials);
  tl_names_free(&b->shapes);
  tl_names_free(&b->own_shapes);
  for (size_t i = 0; i < b->own_keys.count; ++i)
    tl_string_free(&b->own_keys.data[i]);
  tl_array_free(&b->own_keys);
  tl_array_free(&b->first);
  tl_from_names_free(&b->borrowed);
  tl_from_names_free(&b->left);
  if (status == TALUS_OK)
    *world = b->world;
  else
    talus_world_destroy(b->world);
  return status;
}

talus_status tl_scene_build_materials(const talus_scene *scene, talus_world **world) {
  talus_world_def def = world_def(scene);
  def.threads = 1;
  builder b = {.scene = scene};
  return build(&b, &def, add_materials, world);
}

talus_status talus_scene_build_shapes(const talus_scene *scene, talus_world **world) {
  TL_NEED(scene);
  TL_NEED(world);
  talus_world_def def = world_def(scene);
  def.threads = 1;
  builder b = {.scene = scene};
  return build(&b, &def, add_shapes_only, world);
}

talus_status talus_scene_build(const talus_scene *scene, int threads, talus_log_fn *log,
                               void *log_context, talus_world **world) {
  TL_NEED(scene);
  TL_NEED(world);
  talus_world_def def = world_def(scene);
  def.threads = threads;
  def.log = log;
  def.log_context = log_context;
  builder b = {.scene = scene, .log = log, .log_context = log_context};
  return build(&b, &def, add_all, world);
}
