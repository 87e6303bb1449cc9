/* `from`: what can be said of its choices and changes before the other run is looked at. */
#include <stdio.h>

#include "scene/check.h"

#define PATH 96

/* Choices and changes alike: one, or a list of them. */
typedef void check_one(tl_checker *checker, tl_node_id node, const tl_scene_choice *choice,
                       const char *path);

static void check_each(tl_checker *checker, tl_node_id parent, const char *key,
                       const tl_items *items, const char *path, check_one *check) {
  const tl_scene_choice *choices = items->data;
  tl_node_id node = tl_check_value(checker, parent, key);
  const bool is_list = node != 0 && tl_node_at(checker->document, node)->kind == TL_NODE_LIST;
  if (is_list)
    node = tl_node_at(checker->document, node)->first;
  for (size_t i = 0; i < items->count && node != 0; ++i) {
    char full[PATH];
    if (is_list)
      snprintf(full, sizeof full, "%s.%s.%zu", path, key, i);
    else
      snprintf(full, sizeof full, "%s.%s", path, key);
    if (choices[i].object.bad != UINT32_MAX)
      check(checker, node, &choices[i], full);
    node = tl_node_at(checker->document, node)->next;
  }
}

static void check_choice(tl_checker *checker, tl_node_id node, const tl_scene_choice *choice,
                         const char *path) {
  tl_check_region(checker, node, "region", &choice->region, path);
  if (choice->object.given == 0)
    tl_problem_add(checker->problems, tl_node_mark(checker->document, node),
                   "%s is empty; expected names, groups, materials or a region", path);
}

static void check_change(tl_checker *checker, tl_node_id node, const tl_scene_choice *change,
                         const char *path) {
  const tl_map *map = &tl_schema_change;
  uint32_t row;
  char full[PATH + 12];
  snprintf(full, sizeof full, "%s.material", path);
  tl_check_region(checker, node, "region", &change->region, path);
  if (change->material && !tl_names_find(&checker->materials, change->material, &row))
    tl_check_unknown(checker, tl_check_mark(checker, node, "material"), full, change->material,
                     "the name of a material", &checker->materials);
  if (change->fixed && tl_object_has(map, change, "motion"))
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "motion"),
                   "%s has `motion` and is fixed; expected one of the two", path);
  tl_check_motions(checker, node, &change->motion, path);
  static const char *const keys[] = {"material", "fixed", "motion", "force", "torque"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    if (tl_object_has(map, change, keys[i]))
      return;
  tl_problem_add(checker->problems, tl_node_mark(checker->document, node),
                 "%s changes nothing; expected material, fixed, motion, force or torque", path);
}

void tl_check_from(tl_checker *checker, tl_node_id node, const tl_scene_from *from, size_t row) {
  char path[PATH / 2];
  snprintf(path, sizeof path, "bodies.%zu", row);
  checker->takes_from = true;
  check_each(checker, node, "only", &from->only, path, check_choice);
  check_each(checker, node, "except", &from->except, path, check_choice);
  check_each(checker, node, "change", &from->change, path, check_change);
}
