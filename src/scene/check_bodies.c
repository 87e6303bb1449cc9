/* Bodies, fills and emitters: what their shape, kind and place allow. */
#include <math.h>
#include <stdio.h>

#include "base/power.h"
#include "scene/check.h"
#include "scene/shapes.h"

#define PATH   96
#define COPIES 2e9 /* bodies of one entry, as of a fill */

static bool is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Volume, centre and inertia of a clump or a mesh: all or none. */
static void check_given_mass(tl_checker *checker, tl_node_id node, const tl_scene_shape *shape,
                             const char *path) {
  static const char *const keys[3] = {"volume", "centre", "inertia"};
  int first = -1, missing = -1;
  for (int i = 0; i < 3; ++i)
    if (tl_object_has(&tl_schema_shape, shape, keys[i]))
      first = first < 0 ? i : first;
    else
      missing = i;
  if (first < 0)
    return;
  if (!tl_object_has(&tl_schema_shape, shape, "clump") &&
      !tl_object_has(&tl_schema_shape, shape, "mesh"))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, keys[first]),
                   "%s.%s is for a clump or a mesh; expected it with `clump` or `mesh`", path,
                   keys[first]);
  else if (missing >= 0)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, keys[first]),
                   "%s has `%s` and no `%s`; expected volume, centre and inertia, or none of them",
                   path, keys[first], keys[missing]);
}

static bool is_wall(int shape) {
  return shape == TALUS_PLANE || shape == TALUS_CONTAINER || shape == TALUS_REVOLVED;
}

static const char *wall_name(int shape) {
  return shape == TALUS_REVOLVED ? "revolved wall" : talus_shape_kind_name((talus_shape_kind)shape);
}

/* The code that makes the wall reports what is wrong with a profile. */
static void check_profile(tl_checker *checker, tl_node_id node, const tl_scene_shape *shape,
                          const char *path) {
  static const char *const keys[3] = {"revolved", "tube", "funnel"};
  const char *given = NULL;
  for (int i = 0; i < 3; ++i)
    if (tl_object_has(&tl_schema_shape, shape, keys[i]))
      given = keys[i];
  if (!given && tl_object_has(&tl_schema_shape, shape, "sides") &&
      !tl_object_has(&tl_schema_shape, shape, "mesh"))
    tl_problem_add(
        checker->problems, tl_check_mark(checker, node, "sides"),
        "%s.sides is for a revolved wall or a mesh; expected it with `revolved`, `tube`, "
        "`funnel` or `mesh`",
        path);
  if (tl_scene_shape_kind(shape) != TALUS_REVOLVED || checker->status != TALUS_OK)
    return;
  const char *fault;
  checker->status = tl_scene_shape_fault(shape, &fault);
  if (fault)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, given), "%s.%s: %s", path, given,
                   fault);
}

static void check_shape(tl_checker *checker, tl_node_id node, const tl_scene_shape *shape,
                        const char *path) {
  if (tl_scene_shape_kind(shape) == TALUS_PLANE && is_zero(shape->plane))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "plane"),
                   "%s.plane has a normal of length 0; expected [nx, ny, nz, d] with a normal",
                   path);
  if (tl_object_has(&tl_schema_shape, shape, "open") &&
      !tl_object_has(&tl_schema_shape, shape, "container"))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "open"),
                   "%s.open is for a container; expected it with `container`", path);
  const bool is_mesh = tl_object_has(&tl_schema_shape, shape, "mesh");
  if (tl_object_has(&tl_schema_shape, shape, "scale") && !shape->hull.file && !is_mesh)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "scale"),
                   "%s.scale is for a file; expected it with `hull: FILE` or `mesh`", path);
  static const char *const of_mesh[] = {"thickness", "rounding"};
  for (int i = 0; i < 2; ++i)
    if (tl_object_has(&tl_schema_shape, shape, of_mesh[i]) && !is_mesh)
      tl_problem_add(checker->problems, tl_check_mark(checker, node, of_mesh[i]),
                     "%s.%s is for a mesh; expected it with `mesh`", path, of_mesh[i]);
  check_given_mass(checker, node, shape, path);
  check_profile(checker, node, shape, path);
}

static void check_named_shapes(tl_checker *checker) {
  const tl_scene_shape *shapes = checker->scene->shapes.data;
  tl_node_id key = tl_check_first(checker, "shapes");
  for (size_t i = 0; i < checker->scene->shapes.count; ++i) {
    char path[PATH];
    snprintf(path, sizeof path, "shapes.%.40s", shapes[i].name ? shapes[i].name : "");
    check_shape(checker, tl_node_at(checker->document, key)->first, &shapes[i], path);
    key = tl_node_at(checker->document, key)->next;
  }
}

/* The kind of the shape that is used, or -1; complains about an unknown name. */
static int check_shape_use(tl_checker *checker, tl_node_id node, const tl_scene_shape_use *use,
                           const char *path) {
  char full[PATH + 8];
  snprintf(full, sizeof full, "%s.shape", path);
  const tl_scene_shape *shape = tl_check_shape(checker, use);
  if (!shape && use->name)
    tl_check_unknown(checker, tl_check_mark(checker, node, "shape"), full, use->name,
                     "the name of a shape", &checker->shapes);
  if (use->own)
    check_shape(checker, tl_check_value(checker, node, "shape"), use->own, full);
  return shape ? tl_scene_shape_kind(shape) : -1;
}

/* ---- materials and groups -------------------------------------------------------------------- */

/* A body may leave its material out where the scene has one only. */
static void check_material(tl_checker *checker, tl_node_id node, const tl_map *map, void *object,
                           char **material, const char *path) {
  uint32_t row;
  const tl_items *materials = &checker->scene->materials;
  if (*material) {
    char full[PATH + 12];
    snprintf(full, sizeof full, "%s.material", path);
    if (!tl_names_find(&checker->materials, *material, &row))
      tl_check_unknown(checker, tl_check_mark(checker, node, "material"), full, *material,
                       "the name of a material", &checker->materials);
    return;
  }
  if (tl_object_has(map, object, "material"))
    return; /* refused before */
  const tl_mark mark = tl_node_mark(checker->document, node);
  if (materials->count == 0) {
    tl_problem_add(checker->problems, mark,
                   "%s has no material; expected `materials` with at least one", path);
  } else if (materials->count > 1) {
    tl_problem_add(checker->problems, mark,
                   "%s has no `material`; expected the name of one, since the scene has %zu", path,
                   materials->count);
  } else {
    const char *only = *tl_item_name(materials->data);
    if (only && checker->status == TALUS_OK)
      checker->status = tl_string_copy(only, strlen(only), material);
    ((tl_object *)object)->has |= UINT32_C(1) << tl_map_find(map, "material");
  }
}

static void note_group(tl_checker *checker, const char *group) {
  uint32_t first;
  if (group && checker->status == TALUS_OK)
    checker->status = tl_names_add(&checker->groups, group, 0, &first);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The plane's normal in the world: q n q*, by the rotation matrix's columns. */
static void turned_normal(const double n[3], const double q[4], double out[3]) {
  const double length = tl_hypot_d(tl_hypot_d(q[0], q[1]), tl_hypot_d(q[2], q[3]));
  const double w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
  const double tx = 2 * (y * n[2] - z * n[1]), ty = 2 * (z * n[0] - x * n[2]),
               tz = 2 * (x * n[1] - y * n[0]);
  out[0] = n[0] + w * tx + y * tz - z * ty;
  out[1] = n[1] + w * ty + z * tx - x * tz;
  out[2] = n[2] + w * tz + x * ty - y * tx;
}

/* A plane across a periodic axis would cut through every image of the domain but its own. */
static void check_plane(tl_checker *checker, tl_node_id node, const tl_scene_body *body,
                        const char *path) {
  const tl_scene_shape *shape = tl_check_shape(checker, &body->shape);
  const talus_scene *scene = checker->scene;
  if (!tl_object_good(&tl_schema_scene, scene, "domain") ||
      !tl_object_good(&tl_schema_body, body, "rotation") || is_zero(shape->plane))
    return;
  double normal[3];
  turned_normal(shape->plane, body->rotation.quaternion, normal);
  const double length = tl_hypot_d(tl_hypot_d(normal[0], normal[1]), normal[2]);
  for (int k = 0; k < 3; ++k)
    if ((scene->domain.periodic & (1u << k)) && fabs(normal[k]) > 1e-12 * length)
      tl_problem_add(checker->problems, tl_check_mark(checker, node, "shape"),
                     "%s is a plane across the periodic axis %c; expected a plane along it", path,
                     "xyz"[k]);
}

static void check_kind(tl_checker *checker, tl_node_id node, const tl_scene_body *body, int shape,
                       const char *path) {
  const tl_map *map = &tl_schema_body;
  const bool moves = tl_object_has(map, body, "motion");
  const bool is_known = tl_object_good(map, body, "fixed");
  if (body->fixed && moves)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "motion"),
                   "%s has `motion` and is fixed; expected one of the two", path);
  static const char *const state[] = {"velocity", "spin"};
  const double *const values[] = {body->velocity, body->spin};
  for (int i = 0; i < 2; ++i)
    if ((body->fixed || moves) && tl_object_good(map, body, state[i]) && !is_zero(values[i]))
      tl_problem_add(checker->problems, tl_check_mark(checker, node, state[i]),
                     "%s.%s is given for a body that %s; expected %s", path, state[i],
                     body->fixed ? "is fixed" : "has `motion`",
                     body->fixed ? "none" : "it within `motion`");
  static const char *const surface[] = {"surface_velocity", "surface_spin"};
  for (int i = 0; i < 2 && is_known && !body->fixed && !moves; ++i)
    if (tl_object_has(map, body, surface[i]))
      tl_problem_add(checker->problems, tl_check_mark(checker, node, surface[i]),
                     "%s.%s is given for a free body; expected `fixed: true` or `motion` as well",
                     path, surface[i]);
  if (is_wall(shape) && is_known && !body->fixed && !moves)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "shape"),
                   "%s is a %s, which is never free; expected `fixed: true` or `motion`", path,
                   wall_name(shape));
}

static void check_motion(tl_checker *checker, tl_node_id node, const tl_scene_motion *motion,
                         const char *path) {
  const tl_map *map = &tl_schema_motion;
  const bool has_table = tl_object_has(map, motion, "table");
  static const char *const keys[] = {"along", "about"};
  const double *const axes[] = {motion->along, motion->about};
  for (int i = 0; i < 2; ++i) {
    if (!tl_object_good(map, motion, keys[i]))
      continue;
    if (!has_table)
      tl_problem_add(checker->problems, tl_check_mark(checker, node, keys[i]),
                     "%s.%s is for a table; expected `table: FILE` as well", path, keys[i]);
    else if (is_zero(axes[i]))
      tl_problem_add(checker->problems, tl_check_mark(checker, node, keys[i]),
                     "%s.%s has length 0; expected a direction", path, keys[i]);
  }
  if (tl_object_has(map, motion, "along") && tl_object_has(map, motion, "about"))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "about"),
                   "%s has both `along` and `about`; expected one of them, for one table", path);
  if (tl_object_good(map, motion, "until") && tl_object_good(map, motion, "from_time") &&
      motion->until <= motion->from_time)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "until"),
                   "%s.until is %g, not after its beginning at %g s; expected a later time", path,
                   motion->until, motion->from_time);
}

/* One motion, or a list of them. */
void tl_check_motions(tl_checker *checker, tl_node_id body_node, const tl_items *all,
                      const char *path) {
  const tl_scene_motion *motions = all->data;
  tl_node_id node = tl_check_value(checker, body_node, "motion");
  const bool is_list = node != 0 && tl_node_at(checker->document, node)->kind == TL_NODE_LIST;
  if (is_list)
    node = tl_node_at(checker->document, node)->first;
  for (size_t i = 0; i < all->count && node != 0; ++i) {
    char full[PATH + 32];
    if (is_list)
      snprintf(full, sizeof full, "%s.motion.%zu", path, i);
    else
      snprintf(full, sizeof full, "%s.motion", path);
    if (motions[i].object.bad != UINT32_MAX)
      check_motion(checker, node, &motions[i], full);
    node = tl_node_at(checker->document, node)->next;
  }
}

static void check_press(tl_checker *checker, tl_node_id node, const tl_scene_body *body,
                        const char *path) {
  const tl_map *map = &tl_schema_body;
  const tl_scene_press *press = body->press;
  const tl_node_id at = tl_check_value(checker, node, "press");
  if (press->object.bad == UINT32_MAX)
    return;
  if (body->fixed || tl_object_has(map, body, "motion"))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "press"),
                   "%s has `press` and %s; expected a body that is free", path,
                   body->fixed ? "is fixed" : "has `motion`");
  static const char *const loads[] = {"force", "torque", "lock"};
  const bool acts[] = {tl_scene_varies(&body->force) || !is_zero(body->force.value),
                       tl_scene_varies(&body->torque) || !is_zero(body->torque.value),
                       body->lock != 0};
  for (int i = 0; i < 3; ++i) /* a resolved scene gives all keys: their defaults are fine */
    if ((body->object.given >> tl_map_find(map, loads[i]) & 1u) &&
        (acts[i] || !tl_object_good(map, body, loads[i])))
      tl_problem_add(checker->problems, tl_check_mark(checker, node, loads[i]),
                     "%s.%s is given together with `press`, which loads and guides the body; "
                     "expected one of the two",
                     path, loads[i]);
  if (tl_object_good(&tl_schema_press, press, "axis") && is_zero(press->axis))
    tl_problem_add(checker->problems, tl_check_mark(checker, at, "axis"),
                   "%s.press.axis has length 0; expected a direction", path);
  if (tl_object_has(&tl_schema_press, press, "area") &&
      !tl_object_has(&tl_schema_press, press, "pressure"))
    tl_problem_add(checker->problems, tl_check_mark(checker, at, "area"),
                   "%s.press.area is for `pressure`; expected that as well", path);
}

/* Checks the name of an entry. Probes and joints may refer to names of single bodies. */
static void check_name(tl_checker *checker, tl_node_id node, const char *name, size_t row,
                       bool is_body) {
  uint32_t first;
  tl_check_new_name(checker, tl_check_mark(checker, node, "name"), "bodies", name,
                    &checker->entries, (uint32_t)row);
  if (is_body && name && checker->status == TALUS_OK)
    checker->status = tl_names_add(&checker->bodies, name, (uint32_t)row, &first);
}

/* Nothing but their motion moves these bodies. */
static void check_spread(tl_checker *checker, tl_node_id node, const tl_scene_body *body,
                         const char *path) {
  static const char *const keys[] = {"velocity", "spin"};
  const double *const values[] = {body->spread->velocity, body->spread->spin};
  const tl_node_id at = tl_check_value(checker, node, "spread");
  if (!body->fixed && !tl_object_has(&tl_schema_body, body, "motion"))
    return;
  for (int i = 0; i < 2; ++i)
    if (tl_object_good(&tl_schema_spread, body->spread, keys[i]) && !is_zero(values[i]))
      tl_problem_add(checker->problems, tl_check_mark(checker, at, keys[i]),
                     "%s.spread.%s is given for bodies that %s; expected none", path, keys[i],
                     body->fixed ? "are fixed" : "have `motion`");
}

static void check_copies(tl_checker *checker, tl_node_id node, const tl_scene_body *body,
                         const char *path) {
  const bool is_refused = tl_object_has(&tl_schema_body, body, "repeat") &&
                          !tl_object_good(&tl_schema_body, body, "repeat");
  if (body->spread && body->spread->object.bad != UINT32_MAX)
    check_spread(checker, node, body, path);
  if (body->spread && body->repeat.count == 0 && !is_refused)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "spread"),
                   "%s.spread is for copies; expected `repeat` as well", path);
  if (tl_object_good(&tl_schema_body, body, "repeat") && tl_repeat_count(body) > COPIES)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "repeat"),
                   "%s.repeat makes %.3g bodies; expected at most %.0g", path,
                   tl_repeat_count(body), COPIES);
}

static void check_body(tl_checker *checker, tl_node_id node, tl_scene_body *body, size_t row) {
  char path[PATH];
  snprintf(path, sizeof path, "bodies.%zu", row);
  check_name(checker, node, body->name, row, body->repeat.count == 0);
  if (body->repeat.count > 0 && !body->group)
    note_group(checker, body->name);
  check_copies(checker, node, body, path);
  const int shape = check_shape_use(checker, node, &body->shape, path);
  check_material(checker, node, &tl_schema_body, body, &body->material, path);
  note_group(checker, body->group);
  check_kind(checker, node, body, shape, path);
  tl_check_motions(checker, node, &body->motion, path);
  if (body->press)
    check_press(checker, node, body, path);
  if (shape == TALUS_PLANE)
    check_plane(checker, node, body, path);
}

/* ---- many bodies ----------------------------------------------------------------------------- */

static void check_free_shape(tl_checker *checker, tl_node_id node, const tl_scene_shape_use *use,
                             const char *path) {
  const int shape = check_shape_use(checker, node, use, path);
  if (is_wall(shape))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "shape"),
                   "%s.shape is a %s; expected a shape that can be free, such as a sphere", path,
                   wall_name(shape));
}

static void check_axis(tl_checker *checker, tl_node_id node, const tl_scene_round *round,
                       const char *path) {
  if (is_zero(round->axis) && round->object.bad == 0)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "axis"),
                   "%s.axis has length 0; expected a direction", path);
}

void tl_check_region(tl_checker *checker, tl_node_id parent, const char *key,
                     const tl_scene_region *region, const char *path) {
  const tl_node_id node = tl_check_value(checker, parent, key);
  static const char *const names[] = {"cylinder", "disc"};
  const tl_scene_round *const rounds[] = {&region->cylinder, &region->disc};
  for (int i = 0; i < 2; ++i) {
    const tl_node_id round = node == 0 ? 0 : tl_check_value(checker, node, names[i]);
    char full[PATH + 32];
    snprintf(full, sizeof full, "%s.%s.%s", path, key, names[i]);
    if (round != 0 && rounds[i]->object.line != 0)
      check_axis(checker, round, rounds[i], full);
  }
}

static void check_size(tl_checker *checker, tl_node_id parent, const tl_scene_size *size,
                       const char *path) {
  const tl_node_id node = tl_check_value(checker, parent, "size");
  if (node != 0 && size->object.bad == 0 && size->uniform[0] > size->uniform[1])
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "uniform"),
                   "%s.size.uniform goes from %g down to %g; expected the smaller size first", path,
                   size->uniform[0], size->uniform[1]);
}

static void check_fill(tl_checker *checker, tl_node_id node, tl_scene_fill *fill, size_t row) {
  char path[PATH];
  snprintf(path, sizeof path, "bodies.%zu.fill", row);
  if (fill->object.bad == UINT32_MAX)
    return; /* no map at all */
  check_free_shape(checker, node, &fill->shape, path);
  check_material(checker, node, &tl_schema_fill, fill, &fill->material, path);
  note_group(checker, fill->group);
  tl_check_region(checker, node, "in", &fill->in, path);
  check_size(checker, node, &fill->size, path);
  static const char *const state[] = {"velocity", "spin", "thermal"};
  const double heat[3] = {fill->thermal, 0, 0};
  const double *const values[] = {fill->velocity, fill->spin, heat};
  for (int i = 0; i < 3; ++i)
    if (fill->fixed && tl_object_good(&tl_schema_fill, fill, state[i]) && !is_zero(values[i]))
      tl_problem_add(checker->problems, tl_check_mark(checker, node, state[i]),
                     "%s.%s is given for bodies that are fixed; expected none", path, state[i]);
}

static void check_table(tl_checker *checker, tl_node_id node, tl_scene_table *table, size_t row) {
  char path[PATH];
  snprintf(path, sizeof path, "bodies.%zu", row);
  check_material(checker, node, &tl_schema_table, table, &table->material, path);
  note_group(checker, table->group);
}

void tl_check_bodies(tl_checker *checker) {
  check_named_shapes(checker);
  tl_scene_body *bodies = checker->scene->bodies.data;
  tl_node_id node = tl_check_first(checker, "bodies");
  for (size_t i = 0; i < checker->scene->bodies.count; ++i) {
    const char *name = bodies[i].table  ? bodies[i].table->name
                       : bodies[i].from ? bodies[i].from->name
                                        : bodies[i].name;
    const char *group = bodies[i].table  ? bodies[i].table->group
                        : bodies[i].fill ? bodies[i].fill->group
                                         : NULL;
    if (!tl_scene_is_one(&bodies[i])) {
      check_name(checker, node, name, i, false);
      note_group(checker, bodies[i].from || group ? NULL : name);
    }
    if (bodies[i].fill)
      check_fill(checker, tl_check_value(checker, node, "fill"), bodies[i].fill, i);
    else if (bodies[i].table)
      check_table(checker, node, bodies[i].table, i);
    else if (bodies[i].from)
      tl_check_from(checker, node, bodies[i].from, i);
    else if (bodies[i].object.bad != UINT32_MAX)
      check_body(checker, node, &bodies[i], i);
    node = tl_node_at(checker->document, node)->next;
  }
}

static bool is_recycled(const talus_scene *scene, const char *name) {
  const tl_scene_sink *sinks = scene->sinks.data;
  for (size_t i = 0; name && i < scene->sinks.count; ++i)
    if (sinks[i].recycle && strcmp(sinks[i].recycle, name) == 0)
      return true;
  return false;
}

static void check_source(tl_checker *checker, tl_node_id node, const tl_scene_emitter *emitter,
                         const char *path) {
  tl_check_region(checker, node, "from", &emitter->from, path);
  if (emitter->from.points.rows.count > TALUS_EMITTER_POINTS)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "from"),
                   "%s.from.points are %zu; expected %d at most, or several emitters", path,
                   emitter->from.points.rows.count, TALUS_EMITTER_POINTS);
  if (tl_object_good(&tl_schema_emitter, emitter, "rate") && emitter->rate == 0 &&
      !is_recycled(checker->scene, emitter->name))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "rate"),
                   "%s.rate is 0, and no sink recycles to it; expected more than 0, or a sink with "
                   "`recycle` and its name",
                   path);
}

void tl_check_emitters(tl_checker *checker) {
  tl_scene_emitter *emitters = checker->scene->emit.data;
  const tl_map *map = &tl_schema_emitter;
  tl_names names = {0};
  tl_node_id node = tl_check_first(checker, "emit");
  for (size_t i = 0; i < checker->scene->emit.count; ++i) {
    tl_scene_emitter *emitter = &emitters[i];
    char path[PATH];
    snprintf(path, sizeof path, "emit.%zu", i);
    if (emitter->object.bad != UINT32_MAX) {
      tl_check_new_name(checker, tl_check_mark(checker, node, "name"), "emit", emitter->name,
                        &names, (uint32_t)i);
      check_free_shape(checker, node, &emitter->shape, path);
      check_material(checker, node, map, emitter, &emitter->material, path);
      note_group(checker, emitter->group);
      check_source(checker, node, emitter, path);
      check_size(checker, node, &emitter->size, path);
      if (tl_object_good(map, emitter, "until") && tl_object_good(map, emitter, "from_time") &&
          emitter->until <= emitter->from_time)
        tl_problem_add(checker->problems, tl_check_mark(checker, node, "until"),
                       "%s.until is %g, not after its beginning at %g s; expected a later time",
                       path, emitter->until, emitter->from_time);
    }
    node = tl_node_at(checker->document, node)->next;
  }
  tl_names_free(&names);
}
