/* Laws of the contact model, of materials and of their pairs. */
#include "scene/check.h"

#include <math.h>

void tl_check_materials(tl_checker *checker) {
  const tl_scene_material *materials = checker->scene->materials.data;
  const tl_map *map = &tl_schema_material;
  const tl_node_id all = tl_check_value(checker, checker->root, "materials");
  for (size_t i = 0; i < checker->scene->materials.count; ++i) {
    const tl_scene_material *m = &materials[i];
    if (m->name && tl_object_good(map, m, "static_friction") &&
        tl_object_good(map, m, "friction") && m->static_friction >= 0 &&
        m->static_friction < m->friction)
      tl_problem_add(
          checker->problems,
          tl_check_mark(checker, tl_check_value(checker, all, m->name), "static_friction"),
          "materials.%s.static_friction is %g, less than its friction of %g; expected at least "
          "that",
          m->name, m->static_friction, m->friction);
  }
}

/* Static friction as it counts: `auto` is the friction. */
static double static_of(const tl_scene_material *material) {
  return fmax(material->static_friction, material->friction);
}

/* `auto`, which is negative, gives way to a number. */
static double stiffness_of(double a, double b) { return a < 0 ? b : b < 0 ? a : fmin(a, b); }

typedef struct completion {
  const char *key;
  size_t offset;
  double value; /* where the pair does not say */
} completion;

void tl_check_complete_pair(tl_checker *checker, tl_node_id node, tl_scene_pair *pair,
                            const uint32_t rows[2], size_t i) {
  const tl_scene_material *materials = checker->scene->materials.data;
  const tl_scene_material *a = &materials[rows[0]], *b = &materials[rows[1]];
  const tl_map *map = &tl_schema_pair;
#define LAW(name, value)                                                                           \
  { #name, offsetof(tl_scene_pair, name), value }
  const completion laws[] = {LAW(friction, fmin(a->friction, b->friction)),
                             LAW(restitution, fmin(a->restitution, b->restitution)),
                             LAW(static_friction, fmin(static_of(a), static_of(b))),
                             LAW(rolling, fmin(a->rolling, b->rolling)),
                             LAW(spinning, fmin(a->spinning, b->spinning)),
                             LAW(cohesion, fmin(a->cohesion, b->cohesion)),
                             LAW(stiffness, stiffness_of(a->stiffness, b->stiffness))};
#undef LAW
  const bool tells_static = tl_object_has(map, pair, "static_friction");
  /* Not written unless given, so that older scenes keep their identity. */
  if (!tl_object_has(map, pair, "rolling_coefficient"))
    pair->rolling_coefficient = fmin(a->rolling_coefficient, b->rolling_coefficient);
  if (!tl_object_has(map, pair, "surface_energy"))
    pair->surface_energy = fmin(a->surface_energy, b->surface_energy);
  for (size_t k = 0; k < sizeof laws / sizeof *laws; ++k) {
    if (!tl_object_has(map, pair, laws[k].key))
      *(double *)(void *)((char *)pair + laws[k].offset) = laws[k].value;
    pair->object.has |= UINT32_C(1) << tl_map_find(map, laws[k].key);
  }
  /* Materials without a static friction of their own do not hand one down. */
  if (!tells_static)
    pair->static_friction = pair->static_friction > fmin(a->friction, b->friction)
                                ? fmax(pair->static_friction, pair->friction)
                                : pair->friction;
  else if (pair->static_friction < pair->friction && tl_object_good(map, pair, "friction") &&
           tl_object_good(map, pair, "static_friction"))
    tl_problem_add(
        checker->problems, tl_check_mark(checker, node, "static_friction"),
        "pairs.%zu.static_friction is %g, less than the friction of %g; expected at least that", i,
        pair->static_friction, pair->friction);
}

/* Springs find their forces anew in every step, and events know no step. */
static void check_substeps(tl_checker *checker) {
  const talus_scene *scene = checker->scene;
  const bool is_rigid =
      scene->solve.kind == TALUS_SOLVE_CCP || scene->solve.kind == TALUS_SOLVE_IMPULSE;
  if (scene->step.substeps <= 1 || !tl_object_good(&tl_schema_step, &scene->step, "substeps") ||
      (is_rigid && scene->step.kind == TALUS_STEP_FIXED))
    return;
  tl_problem_add(checker->problems,
                 tl_check_mark(checker, tl_check_value(checker, checker->root, "step"), "substeps"),
                 "step.substeps is %llu; expected none, or fixed steps with solve: ccp or impulse",
                 (unsigned long long)scene->step.substeps);
}

/* Only springs have forces that a step could solve for. */
static void check_implicit(tl_checker *checker) {
  const talus_scene *scene = checker->scene;
  if (scene->step.kind != TALUS_STEP_IMPLICIT || scene->solve.kind == TALUS_SOLVE_PENALTY)
    return;
  tl_problem_add(checker->problems,
                 tl_check_mark(checker, tl_check_value(checker, checker->root, "step"), "kind"),
                 "step.kind is implicit, which is for springs; %s; expected step: {kind: %s}, or "
                 "solve: {kind: penalty}",
                 scene->solve.kind == TALUS_SOLVE_ELASTIC
                     ? "hard spheres have none"
                     : "ccp and impulse are implicit in their impulses already",
                 scene->solve.kind == TALUS_SOLVE_ELASTIC ? "event" : "fixed");
}

void tl_check_springs(tl_checker *checker) {
  const talus_scene *scene = checker->scene;
  check_substeps(checker);
  check_implicit(checker);
  if (scene->solve.kind != TALUS_SOLVE_PENALTY)
    return;
  if (tl_object_has(&tl_schema_scene, scene, "sleep"))
    tl_problem_add(checker->problems, tl_check_mark(checker, checker->root, "sleep"),
                   "sleep does not work with springs, whose bodies never stop moving entirely; "
                   "expected no `sleep`, or solve: {kind: ccp}");
  if (scene->joints.count > 0)
    tl_problem_add(checker->problems, tl_check_mark(checker, checker->root, "joints"),
                   "solve: {kind: penalty} has no joints; expected solve: {kind: ccp}");
  const tl_scene_material *materials = scene->materials.data;
  const tl_node_id all = tl_check_value(checker, checker->root, "materials");
  for (size_t i = 0; scene->solve.law == TALUS_NOBLE && i < scene->materials.count; ++i)
    if (materials[i].name && materials[i].stiffness < 0)
      tl_problem_add(checker->problems, tl_check_mark(checker, all, materials[i].name),
                     "materials.%s has no stiffness, which solve.law noble needs; expected a "
                     "number, in N/sqrt(kg)",
                     materials[i].name);
}

/* Keys of another contact model's iteration do no harm, so that one word changes the model: they
 * are warned about (warn_keys.c). A law that is asked for and not there would do harm. */
void tl_check_solve(tl_checker *checker) {
  const tl_scene_solve *solve = &checker->scene->solve;
  const tl_map *map = &tl_schema_solve;
  if (!tl_object_good(map, solve, "kind") || !tl_object_good(map, solve, "friction"))
    return;
  if (solve->kind == TALUS_SOLVE_IMPULSE && solve->friction == TALUS_FRICTION_CCP)
    tl_problem_add(
        checker->problems,
        tl_check_mark(checker, tl_check_value(checker, checker->root, "solve"), "friction"),
        "solve.friction is ccp, which solve.kind impulse does not have; expected ncp, or `kind: "
        "ccp`");
}
