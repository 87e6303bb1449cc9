/* What an entry of `averages` says, as a whole. */
#include "scene/check.h"

#include <stdio.h>

static void check_span(tl_checker *checker, tl_node_id node, const tl_scene_average *average,
                       const char *key, const double span[2], bool wanted, const char *path) {
  const bool has = tl_object_has(&tl_schema_grid, &average->grid, key);
  const tl_node_id grid = tl_check_value(checker, node, "grid");
  const tl_mark mark = tl_check_mark(checker, grid != 0 ? grid : node, key);
  if (has && !wanted)
    tl_problem_add(checker->problems, mark,
                   "%s.grid.%s is not of this grid; expected it with `plane`%s", path, key,
                   key[0] == 'z' ? " or `radius`" : "");
  else if (!has && wanted)
    tl_problem_add(checker->problems, mark, "%s.grid has no `%s`; expected %s: [from, to], in m",
                   path, key, key);
  else if (has && tl_object_good(&tl_schema_grid, &average->grid, key) && !(span[1] > span[0]))
    tl_problem_add(checker->problems, mark,
                   "%s.grid.%s goes from %g to %g; expected the lower end first", path, key,
                   span[0], span[1]);
}

static void check_grid(tl_checker *checker, tl_node_id node, const tl_scene_average *average,
                       const char *path) {
  const tl_map *map = &tl_schema_grid;
  const tl_scene_grid *grid = &average->grid;
  const tl_node_id at = tl_check_value(checker, node, "grid");
  const bool is_rings = tl_object_has(map, grid, "radius");
  const bool is_plane = tl_object_has(map, grid, "plane"), is_box = tl_object_has(map, grid, "box");
  if (at == 0 || is_rings + is_plane + is_box != 1)
    return; /* told of already */
  check_span(checker, node, average, "x", grid->x, is_plane, path);
  check_span(checker, node, average, "y", grid->y, is_plane, path);
  check_span(checker, node, average, "z", grid->z, is_plane || is_rings, path);
  if (tl_object_has(map, grid, "at") && !is_rings)
    tl_problem_add(checker->problems, tl_check_mark(checker, at, "at"),
                   "%s.grid.at is of rings; expected it with `radius`", path);
  const size_t cells = is_box ? 3 : 2;
  if (tl_object_good(map, grid, "cells") && grid->cells.count != cells)
    tl_problem_add(checker->problems, tl_check_mark(checker, at, "cells"),
                   "%s.grid.cells has %zu numbers; expected %zu", path, grid->cells.count, cells);
}

static void check_wall(tl_checker *checker, tl_node_id node, const tl_scene_average *average,
                       const char *path) {
  const bool wanted = (average->record & TALUS_AVERAGE_WALL) != 0;
  uint32_t row;
  if (tl_object_good(&tl_schema_average, average, "record") && wanted != (average->wall != NULL))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, wanted ? "record" : "wall"),
                   wanted ? "%s records wall-pressure; expected `wall: BODY` beside it"
                          : "%s.wall is of `record: [wall-pressure]`; expected that beside it",
                   path);
  if (average->wall && !checker->takes_from &&
      !tl_names_find(&checker->bodies, average->wall, &row)) {
    char full[80];
    snprintf(full, sizeof full, "%s.wall", path);
    tl_check_unknown(checker, tl_check_mark(checker, node, "wall"), full, average->wall,
                     "the name of a body", &checker->bodies);
  }
}

static void check_sample(tl_checker *checker, tl_node_id node, const tl_scene_average *average,
                         const char *path) {
  const tl_scene_solve *solve = &checker->scene->solve;
  if (average->sample != 0 &&
      (solve->kind != TALUS_SOLVE_ELASTIC || solve->shell == TALUS_SHELL_HARD))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "sample"),
                   "%s.sample is event, and there are no events here; expected solve: {kind: "
                   "elastic} with step: {kind: event} or `shell: soft`, or sample: step",
                   path);
}

void tl_check_averages(tl_checker *checker) {
  talus_scene *scene = checker->scene;
  tl_scene_average *averages = scene->averages.data;
  const tl_map *map = &tl_schema_average;
  tl_names names = {0};
  tl_node_id node = tl_check_first(checker, "averages");
  for (size_t i = 0; i < scene->averages.count;
       ++i, node = node != 0 ? tl_node_at(checker->document, node)->next : 0) {
    tl_scene_average *average = &averages[i];
    char path[64];
    snprintf(path, sizeof path, "averages.%zu", i);
    tl_check_new_name(checker, tl_check_mark(checker, node, "name"), "averages", average->name,
                      &names, (uint32_t)i);
    check_grid(checker, node, average, path);
    check_wall(checker, node, average, path);
    check_sample(checker, node, average, path);
    if (!tl_object_has(map, average, "every")) {
      average->every = scene->output.every;
      average->object.has |= UINT32_C(1) << tl_map_find(map, "every");
    } else if (tl_object_good(map, average, "every") && scene->step.dt > 0 &&
               average->every < scene->step.dt * (1 - 1e-9)) {
      tl_problem_add(checker->problems, tl_check_mark(checker, node, "every"),
                     "%s.every is %g, below the step of %g s; expected a step at least", path,
                     average->every, scene->step.dt);
    }
  }
  tl_names_free(&names);
}
