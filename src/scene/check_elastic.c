/* What does not go with hard spheres (solve: elastic) and with events. */
#include "scene/check.h"
#include "scene/warn.h"

#include <stdio.h>

static tl_mark mark_in(const tl_checker *checker, const char *part, const char *key) {
  const tl_node_id node = tl_check_value(checker, checker->root, part);
  return node != 0 && tl_node_at(checker->document, node)->kind == TL_NODE_MAP
             ? tl_check_mark(checker, node, key)
             : tl_check_mark(checker, checker->root, part);
}

static void check_settings(tl_checker *checker) {
  const talus_scene *scene = checker->scene;
  const tl_scene_solve *solve = &scene->solve;
  const bool is_event = scene->step.kind == TALUS_STEP_EVENT;
  if (tl_object_has(&tl_schema_scene, scene, "sleep"))
    tl_problem_add(checker->problems, tl_check_mark(checker, checker->root, "sleep"),
                   "sleep does not work with solve: {kind: elastic}, where no body comes to rest; "
                   "expected no `sleep`");
  if (scene->joints.count > 0)
    tl_problem_add(checker->problems, tl_check_mark(checker, checker->root, "joints"),
                   "solve: {kind: elastic} has no joints; expected solve: {kind: ccp}");
  if (is_event && solve->shell == TALUS_SHELL_HARD)
    tl_problem_add(checker->problems, mark_in(checker, "solve", "shell"),
                   "solve.shell is hard, but event-driven collisions happen when bodies touch; "
                   "expected `shell: soft`, or step: {kind: fixed}");
  else if (solve->response == TALUS_RESPONSE_PUBLISHED && solve->shell != TALUS_SHELL_HARD)
    tl_problem_add(
        checker->problems, mark_in(checker, "solve", "response"),
        "solve.response is published, which needs overlaps; expected `shell: hard` as well");
}

static bool is_wall(int kind) {
  return kind == TALUS_SPHERE || kind == TALUS_PLANE || kind == TALUS_CONTAINER ||
         kind == TALUS_BOX || kind == TALUS_REVOLVED;
}

static void check_shape(tl_checker *checker, tl_node_id node, const tl_scene_shape_use *use,
                        bool is_free, const char *path) {
  const tl_scene_shape *shape = tl_check_shape(checker, use);
  const int kind = shape ? tl_scene_shape_kind(shape) : -1;
  if (kind < 0 || (!is_free && checker->scene->solve.shell == TALUS_SHELL_HARD))
    return;
  const char *name = talus_shape_kind_name((talus_shape_kind)kind);
  if (is_free && kind != TALUS_SPHERE && (kind == TALUS_BOX || !is_wall(kind)))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "shape"),
                   "%s.shape is a %s, but solve: {kind: elastic} moves only spheres; expected a "
                   "sphere, or solve: {kind: ccp}",
                   path, name);
  else if (!is_free && !is_wall(kind))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "shape"),
                   "%s.shape is a %s, but walls of solve: {kind: elastic} are planes, containers, "
                   "boxes, spheres and revolved; expected one of them, or `shell: hard`",
                   path, name);
}

static void check_body(tl_checker *checker, tl_node_id node, const tl_scene_body *body,
                       const char *path) {
  const bool is_free = !body->fixed && body->motion.count == 0;
  check_shape(checker, node, &body->shape, is_free, path);
  if (is_free && body->lock != 0)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "lock"),
                   "%s.lock does not work with solve: {kind: elastic}, whose collisions would "
                   "break it; expected no `lock`",
                   path);
  const double *f = body->force.value;
  if (is_free && checker->scene->step.kind == TALUS_STEP_EVENT &&
      (f[0] != 0 || f[1] != 0 || f[2] != 0 || tl_scene_varies(&body->force)))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "force"),
                   "%s.force does not work with step: {kind: event}, which supports only gravity; "
                   "expected none, or step: {kind: fixed}",
                   path);
}

static void check_bodies(tl_checker *checker) {
  const tl_scene_body *bodies = checker->scene->bodies.data;
  tl_node_id node = tl_check_first(checker, "bodies");
  for (size_t i = 0; i < checker->scene->bodies.count && node != 0;
       ++i, node = tl_node_at(checker->document, node)->next) {
    char path[40];
    if (bodies[i].object.bad == UINT32_MAX)
      continue;
    if (tl_scene_is_one(&bodies[i])) {
      snprintf(path, sizeof path, "bodies.%zu", i);
      check_body(checker, node, &bodies[i], path);
    } else if (bodies[i].fill) {
      snprintf(path, sizeof path, "bodies.%zu.fill", i);
      check_shape(checker, tl_check_value(checker, node, "fill"), &bodies[i].fill->shape,
                  !bodies[i].fill->fixed, path);
    }
  }
  const tl_scene_emitter *emitters = checker->scene->emit.data;
  node = tl_check_first(checker, "emit");
  for (size_t i = 0; i < checker->scene->emit.count && node != 0;
       ++i, node = tl_node_at(checker->document, node)->next) {
    char path[40];
    snprintf(path, sizeof path, "emit.%zu", i);
    check_shape(checker, node, &emitters[i].shape, true, path);
  }
}

void tl_check_elastic(tl_checker *checker) {
  const talus_scene *scene = checker->scene;
  if (scene->solve.kind == TALUS_SOLVE_ELASTIC) {
    check_settings(checker);
    check_bodies(checker);
  } else if (scene->step.kind == TALUS_STEP_EVENT) {
    tl_problem_add(checker->problems, mark_in(checker, "step", "kind"),
                   "step.kind is event, which works only with solve: {kind: elastic}; expected "
                   "that, or `fixed`");
  }
  const bool is_local = scene->step.kind == TALUS_STEP_LOCAL;
  if ((scene->step.kind == TALUS_STEP_ADAPTIVE || is_local) &&
      (scene->solve.kind == TALUS_SOLVE_ELASTIC || scene->solve.kind == TALUS_SOLVE_PENALTY))
    tl_problem_add(checker->problems, mark_in(checker, "step", "kind"),
                   "step.kind is %s, which keeps rigid bodies apart; %s; expected solve: {kind: "
                   "ccp} or {kind: impulse}, or step: {kind: fixed}",
                   is_local ? "local" : "adaptive",
                   scene->solve.kind == TALUS_SOLVE_PENALTY
                       ? "springs (penalty) push only where bodies overlap"
                       : "hard spheres (elastic) have step: {kind: event}");
}

/* One warning for all materials that were given friction. */
void tl_warn_elastic(tl_warner *warner) {
  const tl_checker *checker = warner->checker;
  const tl_scene_material *materials = checker->scene->materials.data;
  const tl_map *map = tl_schema_scene.keys[tl_map_find(&tl_schema_scene, "materials")].map;
  const uint32_t bit = UINT32_C(1) << tl_map_find(map, "friction");
  const tl_node_id all = tl_check_value(checker, checker->root, "materials");
  for (size_t i = 0; i < checker->scene->materials.count; ++i)
    if (checker->scene->solve.kind == TALUS_SOLVE_ELASTIC && materials[i].name &&
        (materials[i].object.given & bit) && materials[i].friction > 0) {
      tl_warn(warner, TL_WARN_IDLE_KEY,
              tl_check_mark(checker, tl_check_value(checker, all, materials[i].name), "friction"),
              "materials.%s.friction does nothing here: solve: {kind: elastic} has no friction",
              materials[i].name);
      return;
    }
}
