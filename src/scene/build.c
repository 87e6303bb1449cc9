/* From a scene to a world, by the calls of talus/talus.h. */
#include <math.h>
#include <stdio.h>

#include "scene/builder.h"
#include "scene/start.h"
#include "scene/warn.h"

talus_status tl_build_fail_at(const tl_builder *b, talus_status status, const tl_object *at,
                              const char *entry) {
  const char *gap = *entry ? ": " : "";
  if (at->origin == 0)
    return tl_fail_in(status, "%s:%u:%u%s%s", b->scene->name, at->line, at->column, gap, entry);
  return tl_fail_in(status, "%s%s%s", b->scene->name, gap, entry);
}

talus_status tl_build_gather(tl_builder *b, talus_status status, const tl_object *at,
                             const char *list, size_t row, const char *part) {
  char entry[64];
  snprintf(entry, sizeof entry, "%s.%zu%s", list, row, part);
  return status == TALUS_OK ? status
                            : tl_gather_add(&b->mistakes, tl_build_fail_at(b, status, at, entry));
}

static talus_world_def world_def(const talus_scene *scene) {
  talus_world_def def = talus_world_def_default();
  def.gravity = tl_scene_vec3(scene->gravity);
  def.dt = scene->step.dt;
  def.substeps = (int)scene->step.substeps;
  def.step = (talus_step_kind)scene->step.kind;
  def.broad = (talus_broad_kind)scene->broad.kind;
  def.skin = scene->broad.skin;
  def.narrow.ellipsoid = (talus_ellipsoid_method)scene->narrow.ellipsoid;
  def.narrow.tree = (talus_tree_kind)scene->narrow.tree;
  def.narrow.triangle = (talus_triangle_method)scene->narrow.triangle;
  def.narrow.fusion = (talus_fusion)scene->narrow.fusion;
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
  def.growth = scene->step.growth;
  def.implicit = (talus_implicit_def){.method = (talus_implicit_method)scene->step.method,
                                      .iterations = (int)scene->step.iterations,
                                      .tolerance = scene->step.tolerance,
                                      .damping = scene->step.damping};
  def.halo = scene->contact.halo;
  def.sweep = scene->contact.sweep;
  def.allow_overlap = scene->allow_overlap;
  def.strict = scene->strict;
  if (tl_object_has(&tl_schema_scene, scene, "sleep"))
    def.sleep = (talus_sleep_def){scene->sleep.speed, scene->sleep.time};
  if (tl_object_has(&tl_schema_scene, scene, "domain")) {
    def.domain.enabled = true;
    def.domain.box =
        (talus_box){tl_scene_dvec3(scene->domain.box), tl_scene_dvec3(scene->domain.box + 3)};
    for (unsigned k = 0; k < 3; ++k)
      def.domain.periodic[k] = (scene->domain.periodic >> k & 1u) != 0;
    def.domain.outside = (talus_outside)scene->domain.outside;
  }
  return def;
}

static talus_status add_materials(tl_builder *b) {
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

/* A material that is meant to replace one of another run must not be misspelt. */
static talus_status check_borrowed(tl_builder *b) {
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
      TL_TRY(tl_gather_add(&b->mistakes, tl_build_fail_at(b, status, &materials[i].object, entry)));
  }
  return TALUS_OK;
}

static talus_status add_joints(tl_builder *b) {
  const tl_scene_joint *joints = b->scene->joints.data;
  bool assemble = false;
  for (size_t i = 0; i < b->scene->joints.count; ++i) {
    const talus_status status = tl_scene_add_joint(b->scene, b->world, &joints[i]);
    TL_TRY(tl_build_gather(b, status, &joints[i].object, "joints", i, ""));
    assemble |= joints[i].assemble;
  }
  return assemble && b->mistakes.count == 0 ? talus_world_assemble(b->world, NULL) : TALUS_OK;
}

static talus_status add_all(tl_builder *b) {
  if (b->log)
    tl_build_tell_step(b);
  for (size_t i = 0; i < b->scene->warnings.count && b->log; ++i)
    b->log(b->log_context, 1, b->scene->warnings.data[i]);
  TL_TRY(add_materials(b));
  TL_TRY(tl_build_shapes(b));
  TL_TRY(tl_build_ignore(b));
  TL_TRY(tl_build_bodies(b));
  TL_TRY(check_borrowed(b));
  if (b->mistakes.count == 0)
    TL_TRY(add_joints(b)); /* they are between bodies, all of which are there */
  const bool all_there = b->mistakes.count == 0;
  if (all_there)
    tl_build_warn(b);
  return tl_build_flow(b, all_there);
}

static talus_status build(tl_builder *b, const talus_world_def *def,
                          talus_status (*fill_in)(tl_builder *b), talus_world **world) {
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
  tl_builder b = {.scene = scene};
  return build(&b, &def, add_materials, world);
}

talus_status talus_scene_build_shapes(const talus_scene *scene, talus_world **world) {
  TL_NEED(scene);
  TL_NEED(world);
  talus_world_def def = world_def(scene);
  def.threads = 1;
  tl_builder b = {.scene = scene};
  return build(&b, &def, tl_build_shapes_only, world);
}

/* The world of a start file. Its scene's warnings were told when it was made. */
static talus_status load_start(const talus_scene *scene, int threads, talus_log_fn *log,
                               void *log_context, talus_world **world) {
  TL_TRY(talus_world_load(scene->start, world));
  const talus_status status = tl_world_begin(*world, scene, threads, log, log_context);
  if (status == TALUS_OK)
    return TALUS_OK;
  talus_world_destroy(*world);
  *world = NULL;
  return status;
}

talus_status talus_scene_build(const talus_scene *scene, int threads, talus_log_fn *log,
                               void *log_context, talus_world **world) {
  TL_NEED(scene);
  TL_NEED(world);
  if (scene->start)
    return load_start(scene, threads, log, log_context, world);
  talus_world_def def = world_def(scene);
  def.threads = threads;
  def.log = log;
  def.log_context = log_context;
  tl_builder b = {.scene = scene, .log = log, .log_context = log_context};
  return build(&b, &def, add_all, world);
}
