#include "scene/warn.h"

#include <math.h>
#include <stdio.h>

#define SHOWN     8    /* names that a message lists */
#define MATERIALS 1000 /* every pair of them has a row in a table */

typedef TL_ARRAY(uint64_t) pair_keys;

/* ---- helpers --------------------------------------------------------------------------------- */

tl_node_id tl_check_value(const tl_checker *checker, tl_node_id node, const char *key) {
  const tl_node_id id = tl_node_find_key(checker->document, node, key);
  return id == 0 ? 0 : tl_node_at(checker->document, id)->first;
}

tl_mark tl_check_mark(const tl_checker *checker, tl_node_id node, const char *key) {
  const tl_node_id id = tl_check_value(checker, node, key);
  return tl_node_mark(checker->document, id == 0 ? node : id);
}

tl_node_id tl_check_first(const tl_checker *checker, const char *key) {
  const tl_node_id id = tl_check_value(checker, checker->root, key);
  return id == 0 ? 0 : tl_node_at(checker->document, id)->first;
}

/* Mark of entry k of a list. */
static tl_mark entry_mark(const tl_checker *checker, tl_node_id list, int k) {
  tl_node_id entry = tl_node_at(checker->document, list)->first;
  for (int n = 0; n < k; ++n)
    entry = tl_node_at(checker->document, entry)->next;
  return tl_node_mark(checker->document, entry);
}

static tl_node_id next_of(const tl_checker *checker, tl_node_id id) {
  return tl_node_at(checker->document, id)->next;
}

static bool takes_bodies(const talus_scene *scene) {
  const tl_scene_body *bodies = scene->bodies.data;
  for (size_t i = 0; i < scene->bodies.count; ++i)
    if (bodies[i].from)
      return true;
  return false;
}

void tl_check_unknown(tl_checker *checker, tl_mark mark, const char *path, const char *name,
                      const char *kind, const tl_names *names) {
  tl_text list = {0};
  const size_t n = names->list.count < SHOWN ? names->list.count : SHOWN;
  for (size_t i = 0; i < n; ++i) {
    const bool is_last = i == names->list.count - 1;
    tl_text_add(&list, "%s%s", i == 0 ? ": " : is_last ? " or " : ", ", names->list.data[i]);
  }
  if (names->list.count > SHOWN)
    tl_text_add(&list, ", ...");
  const char *nearest = tl_names_suggest(names, name);
  const char *known = list.count > 0 ? list.data : "; the scene has none";
  /* A run may have it, but a name of another scene may not be used before it is declared. */
  const bool is_material = names == &checker->materials && takes_bodies(checker->scene);
  const char *more =
      is_material ? "; declare one of the run that bodies come `from` in `materials`, too" : "";
  if (nearest)
    tl_problem_add(checker->problems, mark, "%s is `%s`; expected %s%s; did you mean `%s`?", path,
                   name, kind, known, nearest);
  else
    tl_problem_add(checker->problems, mark, "%s is `%s`; expected %s%s%s", path, name, kind, known,
                   more);
  tl_text_drop(&list);
}

void tl_check_new_name(tl_checker *checker, tl_mark mark, const char *path, const char *name,
                       tl_names *names, uint32_t row) {
  uint32_t first = row;
  if (checker->status != TALUS_OK || !name)
    return;
  checker->status = tl_names_add(names, name, row, &first);
  if (first != row)
    tl_problem_add(checker->problems, mark,
                   "%s.%u.name is `%s`, as is %s.%u.name; expected a name of its own", path, row,
                   name, path, first);
}

/* ---- materials and shapes -------------------------------------------------------------------- */

static void collect_names(tl_checker *checker, const tl_items *items, size_t size,
                          tl_names *names) {
  for (size_t i = 0; i < items->count && checker->status == TALUS_OK; ++i) {
    const char *name = *tl_item_name((char *)items->data + i * size);
    uint32_t first;
    if (name)
      checker->status = tl_names_add(names, name, (uint32_t)i, &first);
  }
}

static void check_pair_once(tl_checker *checker, pair_keys *seen, const uint32_t rows[2],
                            tl_mark mark, size_t row) {
  const uint32_t low = rows[0] < rows[1] ? rows[0] : rows[1];
  const uint32_t high = rows[0] < rows[1] ? rows[1] : rows[0];
  const uint64_t key = (uint64_t)high << 32 | low;
  for (size_t i = 0; i < seen->count; ++i)
    if (seen->data[i] == key) {
      tl_problem_add(checker->problems, mark,
                     "pairs.%zu.materials are listed twice; expected each pair once", row);
      return;
    }
  if (checker->status == TALUS_OK)
    checker->status = tl_array_push(seen, key);
}

static void check_pairs(tl_checker *checker) {
  tl_scene_pair *pairs = checker->scene->pairs.data;
  pair_keys seen = {0};
  tl_node_id node = tl_check_first(checker, "pairs");
  for (size_t i = 0; i < checker->scene->pairs.count; ++i, node = next_of(checker, node)) {
    uint32_t rows[2] = {0};
    char path[64];
    snprintf(path, sizeof path, "pairs.%zu.materials", i);
    const tl_node_id list = tl_check_value(checker, node, "materials");
    bool is_known = true;
    for (int k = 0; k < 2; ++k) {
      const char *name = pairs[i].materials[k];
      const bool is_found = name && tl_names_find(&checker->materials, name, &rows[k]);
      if (name && !is_found)
        tl_check_unknown(checker, entry_mark(checker, list, k), path, name, "two materials",
                         &checker->materials);
      is_known = is_known && is_found;
    }
    if (is_known) {
      tl_check_complete_pair(checker, node, &pairs[i], rows, i);
      check_pair_once(checker, &seen, rows, tl_node_mark(checker->document, list), i);
    }
  }
  tl_array_free(&seen);
}

int tl_scene_shape_kind(const tl_scene_shape *shape) {
  static const struct {
    const char *key;
    talus_shape_kind kind;
  } kinds[] = {{"sphere", TALUS_SPHERE},
               {"box", TALUS_BOX},
               {"plane", TALUS_PLANE},
               {"container", TALUS_CONTAINER},
               {"ellipsoid", TALUS_ELLIPSOID},
               {"capsule", TALUS_CAPSULE},
               {"cylinder", TALUS_CYLINDER},
               {"cone", TALUS_CONE},
               {"superellipsoid", TALUS_SUPERELLIPSOID},
               {"hull", TALUS_HULL},
               {"clump", TALUS_CLUMP},
               {"revolved", TALUS_REVOLVED},
               {"tube", TALUS_REVOLVED},
               {"funnel", TALUS_REVOLVED},
               {"mesh", TALUS_MESH}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (tl_object_good(&tl_schema_shape, shape, kinds[i].key))
      return (int)kinds[i].kind;
  return -1;
}

const tl_scene_shape *tl_check_shape(const tl_checker *checker, const tl_scene_shape_use *use) {
  uint32_t row;
  if (use->own)
    return use->own;
  if (use->name && tl_names_find(&checker->shapes, use->name, &row))
    return (const tl_scene_shape *)checker->scene->shapes.data + row;
  return NULL;
}

/* ---- groups, sinks, probes ------------------------------------------------------------------- */

static void check_ignore(tl_checker *checker) {
  const tl_scene_ignore *ignore = checker->scene->ignore.data;
  tl_node_id node = tl_check_first(checker, "ignore");
  for (size_t i = 0; i < checker->scene->ignore.count; ++i, node = next_of(checker, node))
    for (int k = 0; k < 2; ++k) {
      uint32_t row;
      char path[64];
      snprintf(path, sizeof path, "ignore.%zu", i);
      const char *group = ignore[i].groups[k];
      if (group && !checker->takes_from && !tl_names_find(&checker->groups, group, &row)) {
        tl_check_unknown(checker, entry_mark(checker, node, k), path, group,
                         "two groups that bodies have", &checker->groups);
      }
    }
}

static void check_recycle(tl_checker *checker, tl_node_id node, const tl_scene_sink *sink,
                          const char *path) {
  const tl_scene_emitter *emitters = checker->scene->emit.data;
  tl_names names = {0};
  uint32_t row;
  if (!sink->recycle)
    return;
  for (size_t i = 0; i < checker->scene->emit.count && checker->status == TALUS_OK; ++i)
    if (emitters[i].name)
      checker->status = tl_names_add(&names, emitters[i].name, (uint32_t)i, &row);
  char full[80];
  snprintf(full, sizeof full, "%s.recycle", path);
  if (!tl_names_find(&names, sink->recycle, &row))
    tl_check_unknown(checker, tl_check_mark(checker, node, "recycle"), full, sink->recycle,
                     "the name of an emitter", &names);
  if (!sink->name)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "recycle"),
                   "%s has `recycle` and no `name`; expected a name", path);
  tl_names_free(&names);
}

static void check_sinks(tl_checker *checker) {
  const tl_scene_sink *sinks = checker->scene->sinks.data;
  tl_names names = {0};
  tl_node_id node = tl_check_first(checker, "sinks");
  for (size_t i = 0; i < checker->scene->sinks.count; ++i, node = next_of(checker, node)) {
    char path[64];
    snprintf(path, sizeof path, "sinks.%zu", i);
    tl_check_new_name(checker, tl_check_mark(checker, node, "name"), "sinks", sinks[i].name, &names,
                      (uint32_t)i);
    tl_check_region(checker, node, "in", &sinks[i].in, path);
    if (sinks[i].name && strcmp(sinks[i].name, TL_SINK_OUTSIDE) == 0 &&
        tl_scene_removes_outside(checker->scene))
      tl_problem_add(checker->problems, tl_check_mark(checker, node, "name"),
                     "%s.name is `" TL_SINK_OUTSIDE
                     "`, which is what leaves the domain; expected another name",
                     path);
    check_recycle(checker, node, &sinks[i], path);
  }
  tl_names_free(&names);
}

static void check_records(tl_checker *checker, tl_node_id node, const tl_scene_probe *probe,
                          const char *path) {
  const tl_map *map = &tl_schema_probe;
  const tl_map *region = map->keys[tl_map_find(map, "region")].map;
  const uint32_t of_body = TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE | TALUS_RECORD_ENERGY |
                           TALUS_RECORD_POSITION | TALUS_RECORD_ROTATION | TALUS_RECORD_VELOCITY |
                           TALUS_RECORD_SPIN;
  const uint32_t of_region = TALUS_RECORD_MASS_FLOW | TALUS_RECORD_COUNT | TALUS_RECORD_ENERGY |
                             TALUS_RECORD_STRESS | TALUS_RECORD_SOLID_FRACTION |
                             TALUS_RECORD_COORDINATION | TALUS_RECORD_SIZES;
  const tl_mark mark = tl_check_mark(checker, node, "record");
  if (!tl_object_good(map, probe, "record"))
    return;
  if (tl_object_good(map, probe, "body") && (probe->record & ~of_body))
    tl_problem_add(checker->problems, mark,
                   "%s.record is for a region, not for a body; expected force, torque, energy, "
                   "position, rotation, velocity or spin",
                   path);
  if (tl_object_good(map, probe, "joint") &&
      (probe->record & ~(uint32_t)(TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE)))
    tl_problem_add(checker->problems, mark,
                   "%s.record is not for a joint; expected force or torque", path);
  if (!tl_object_good(map, probe, "region"))
    return;
  if (probe->record & ~of_region)
    tl_problem_add(checker->problems, mark,
                   "%s.record is for a body, not for a region; expected mass-flow, count, energy, "
                   "stress, solid-fraction, coordination or sizes",
                   path);
  else if ((probe->record & TALUS_RECORD_MASS_FLOW) &&
           !tl_object_has(region, &probe->region, "box"))
    tl_problem_add(checker->problems, mark,
                   "%s.record has mass-flow, which needs the length of a box; expected a region "
                   "{box: ...}, or count or energy",
                   path);
}

static void check_probe_sizes(tl_checker *checker, tl_node_id node, const tl_scene_probe *probe,
                              const char *path) {
  const tl_map *map = &tl_schema_probe;
  const bool wanted = (probe->record & TALUS_RECORD_SIZES) != 0;
  if (tl_object_good(map, probe, "record") && wanted != tl_object_has(map, probe, "sizes"))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, wanted ? "record" : "sizes"),
                   wanted ? "%s records sizes; expected `sizes: [radius, ...]` as well"
                          : "%s.sizes is for `record: [sizes]`; expected that as well",
                   path);
}

static void check_probes(tl_checker *checker) {
  talus_scene *scene = checker->scene;
  tl_scene_probe *probes = scene->probes.data;
  const tl_map *map = &tl_schema_probe;
  tl_names names = {0};
  tl_node_id node = tl_check_first(checker, "probes");
  for (size_t i = 0; i < scene->probes.count; ++i, node = next_of(checker, node)) {
    tl_scene_probe *probe = &probes[i];
    char path[64];
    uint32_t row;
    snprintf(path, sizeof path, "probes.%zu", i);
    tl_check_new_name(checker, tl_check_mark(checker, node, "name"), "probes", probe->name, &names,
                      (uint32_t)i);
    check_records(checker, node, probe, path);
    check_probe_sizes(checker, node, probe, path);
    tl_check_region(checker, node, "region", &probe->region, path);
    if (probe->body && !checker->takes_from &&
        !tl_names_find(&checker->bodies, probe->body, &row)) {
      snprintf(path, sizeof path, "probes.%zu.body", i);
      tl_check_unknown(checker, tl_check_mark(checker, node, "body"), path, probe->body,
                       "the name of a body", &checker->bodies);
    }
    if (probe->joint && !checker->takes_from &&
        !tl_names_find(&checker->joints, probe->joint, &row)) {
      snprintf(path, sizeof path, "probes.%zu.joint", i);
      tl_check_unknown(checker, tl_check_mark(checker, node, "joint"), path, probe->joint,
                       "the name of a joint", &checker->joints);
    }
    if (!tl_object_has(map, probe, "every")) {
      probe->every = scene->output.every;
      probe->object.has |= UINT32_C(1) << tl_map_find(map, "every");
    } else if (tl_object_good(map, probe, "every") && scene->step.dt > 0 &&
               probe->every < scene->step.dt * (1 - 1e-9)) {
      tl_problem_add(checker->problems, tl_check_mark(checker, node, "every"),
                     "probes.%zu.every is %g, below the step of %g s; expected at least one step",
                     i, probe->every, scene->step.dt);
    }
  }
  tl_names_free(&names);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* The grid that adaptive steps end on: `max`, or a little less, so that frames are at k * every. */
static void choose_grid(tl_checker *checker) {
  talus_scene *scene = checker->scene;
  const tl_map *step = &tl_schema_step, *output = &tl_schema_output;
  if ((scene->step.kind != TALUS_STEP_ADAPTIVE && scene->step.kind != TALUS_STEP_LOCAL) ||
      !tl_object_good(step, &scene->step, "max"))
    return;
  const double longest = scene->step.max;
  const bool has_every = tl_object_has(output, &scene->output, "every");
  const double every =
      has_every ? scene->output.every : fmax(scene->until.time / 100, longest); /* as below */
  scene->step.dt = longest;
  if ((!has_every && tl_object_good(&tl_schema_until, &scene->until, "time")) ||
      (has_every && tl_object_good(output, &scene->output, "every")))
    scene->step.dt = every / fmax(ceil(every / longest * (1 - 1e-9)), 1);
  if (tl_object_good(step, &scene->step, "min") && scene->step.min > scene->step.max)
    tl_problem_add(checker->problems,
                   tl_check_mark(checker, tl_check_value(checker, checker->root, "step"), "min"),
                   "step.min is %g s, above step.max, %g s; expected at most that", scene->step.min,
                   scene->step.max);
}

static void check_times(tl_checker *checker) {
  talus_scene *scene = checker->scene;
  const tl_map *output = &tl_schema_output;
  const double time = scene->until.time, dt = scene->step.dt;
  const tl_node_id until = tl_check_value(checker, checker->root, "until");
  const bool knows_dt = tl_object_good(&tl_schema_step, &scene->step, "dt");
  const bool knows_time = tl_object_good(&tl_schema_until, &scene->until, "time");
  if (knows_time && knows_dt && time / dt > 0x1p53)
    tl_problem_add(checker->problems, tl_check_mark(checker, until, "time"),
                   "until is %g, more than 2^53 steps of %g s; expected fewer", time, dt);
  else if (knows_time && knows_dt && tl_grid_steps(time, dt) == 0) /* as in run.c */
    tl_problem_add(checker->problems, tl_check_mark(checker, until, "time"),
                   "until is %g, less than half a step of %g s; expected at least one step", time,
                   dt);
  if (!tl_object_has(output, &scene->output, "every")) {
    if (knows_time && knows_dt)
      scene->output.every = fmax(time / 100, dt);
    scene->output.object.has |= UINT32_C(1) << tl_map_find(output, "every");
  } else if (knows_dt && tl_object_good(output, &scene->output, "every") &&
             scene->output.every < dt * (1 - 1e-9)) {
    const tl_node_id node = tl_check_value(checker, checker->root, "output");
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "every"),
                   "output.every is %g, below the step of %g s; expected at least one step",
                   scene->output.every, dt);
  }
}

talus_status tl_scene_check(talus_scene *scene, const tl_document *document, tl_node_id root,
                            tl_problems *problems) {
  tl_checker checker = {.scene = scene, .document = document, .problems = problems, .root = root};
  choose_grid(&checker);
  collect_names(&checker, &scene->materials, sizeof(tl_scene_material), &checker.materials);
  collect_names(&checker, &scene->shapes, sizeof(tl_scene_shape), &checker.shapes);
  if (scene->materials.count > MATERIALS)
    tl_problem_add(problems, tl_check_mark(&checker, root, "materials"),
                   "%zu materials; expected at most %d", scene->materials.count, MATERIALS);
  if (checker.status == TALUS_OK) {
    check_times(&checker);
    tl_check_solve(&checker);
    tl_check_materials(&checker);
    tl_check_springs(&checker);
    tl_check_elastic(&checker);
    check_pairs(&checker);
    tl_check_bodies(&checker);
    tl_check_emitters(&checker);
    tl_check_joints(&checker, &checker.joints);
    check_ignore(&checker);
    check_sinks(&checker);
    check_probes(&checker);
    tl_check_zones(&checker);
    tl_check_averages(&checker);
  }
  if (checker.status == TALUS_OK && problems->count == 0)
    tl_check_overlaps(&checker);
  if (checker.status == TALUS_OK && problems->count == 0)
    tl_check_warn(&checker);
  tl_names_free(&checker.materials);
  tl_names_free(&checker.shapes);
  tl_names_free(&checker.bodies);
  tl_names_free(&checker.entries);
  tl_names_free(&checker.groups);
  tl_names_free(&checker.joints);
  return checker.status;
}
