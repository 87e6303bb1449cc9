/* What an entry of `zones` says, as a whole. */
#include "scene/check.h"

#include <stdio.h>

static void check_name(tl_checker *checker, tl_mark mark, const char *path, const char *key,
                       const char *name, const char *kind, const tl_names *names) {
  uint32_t row;
  char full[80];
  if (!name || checker->takes_from || tl_names_find(names, name, &row))
    return;
  snprintf(full, sizeof full, "%s.%s", path, key);
  tl_check_unknown(checker, mark, full, name, kind, names);
}

/* Both write probes/NAME.csv. */
static void check_file(tl_checker *checker, tl_node_id node, const tl_scene_zone *zone,
                       const char *path) {
  const tl_scene_probe *probes = checker->scene->probes.data;
  for (size_t i = 0; i < checker->scene->probes.count && zone->name; ++i)
    if (probes[i].name && strcmp(probes[i].name, zone->name) == 0)
      tl_problem_add(checker->problems, tl_check_mark(checker, node, "name"),
                     "%s.name is `%s`, as is probes.%zu.name, and both write a file of that name; "
                     "expected another name",
                     path, zone->name, i);
}

static void check_reach(tl_checker *checker, tl_node_id node, const tl_scene_zone *zone,
                        const char *path) {
  const bool has_force = tl_object_has(&tl_schema_zone, zone, "force");
  if (tl_object_has(&tl_schema_zone, zone, "radius"))
    return;
  if (has_force)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "force"),
                   "%s.force has no cut-off; expected `radius: R` of the zone, where it ends",
                   path);
  else
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "radius"),
                   "%s has no `radius`; expected a number greater than 0, in m", path);
}

/* Bodies are seen by their nearest image. */
static void check_period(tl_checker *checker, tl_node_id node, const tl_scene_zone *zone,
                         const char *path) {
  const tl_scene_domain *domain = &checker->scene->domain;
  if (!tl_object_good(&tl_schema_zone, zone, "radius") ||
      !tl_object_good(&tl_schema_scene, checker->scene, "domain"))
    return;
  for (int k = 0; k < 3; ++k) {
    const double period = domain->box[k + 3] - domain->box[k];
    if ((domain->periodic >> k & 1u) && period > 0 && zone->radius > 0.5 * period)
      tl_problem_add(checker->problems, tl_check_mark(checker, node, "radius"),
                     "%s.radius is %g, and the domain has a period of %g m along %c; expected up "
                     "to half of it, %g",
                     path, zone->radius, period, "xyz"[k], 0.5 * period);
  }
}

static void check_kind(tl_checker *checker, tl_node_id node, const tl_scene_zone *zone,
                       const char *path) {
  const bool is_group = tl_object_has(&tl_schema_zone_of, &zone->of, "group");
  if (zone->boundary && is_group)
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "boundary"),
                   "%s.boundary is about a group; expected of: {at: [x, y, z]} or of: {body: NAME}",
                   path);
  if (zone->boundary && zone->shell != TALUS_ZONE_OPEN)
    tl_problem_add(
        checker->problems, tl_check_mark(checker, node, "boundary"),
        "%s has both a shell, which keeps bodies out, and a boundary, which keeps them in; "
        "expected one of them",
        path);
}

static void check_zone(tl_checker *checker, tl_node_id node, tl_scene_zone *zone,
                       const char *path) {
  const tl_map *map = &tl_schema_zone;
  const tl_node_id of = tl_check_value(checker, node, "of");
  check_file(checker, node, zone, path);
  check_reach(checker, node, zone, path);
  check_period(checker, node, zone, path);
  check_kind(checker, node, zone, path);
  if (of != 0) {
    check_name(checker, tl_check_mark(checker, of, "group"), path, "of.group", zone->of.group,
               "a group that bodies have", &checker->groups);
    check_name(checker, tl_check_mark(checker, of, "body"), path, "of.body", zone->of.body,
               "the name of a body", &checker->bodies);
  }
  check_name(checker, tl_check_mark(checker, node, "with"), path, "with", zone->with,
             "a group that bodies have", &checker->groups);
  if (!tl_object_has(map, zone, "every")) {
    zone->every = checker->scene->output.every;
    zone->object.has |= UINT32_C(1) << tl_map_find(map, "every");
  } else if (tl_object_good(map, zone, "every") && checker->scene->step.dt > 0 &&
             zone->every < checker->scene->step.dt * (1 - 1e-9)) {
    tl_problem_add(checker->problems, tl_check_mark(checker, node, "every"),
                   "%s.every is %g, below the step of %g s; expected a step at least", path,
                   zone->every, checker->scene->step.dt);
  }
}

void tl_check_zones(tl_checker *checker) {
  tl_scene_zone *zones = checker->scene->zones.data;
  tl_names names = {0};
  tl_node_id node = tl_check_first(checker, "zones");
  for (size_t i = 0; i < checker->scene->zones.count && node != 0;
       ++i, node = tl_node_at(checker->document, node)->next) {
    char path[64];
    snprintf(path, sizeof path, "zones.%zu", i);
    tl_check_new_name(checker, tl_check_mark(checker, node, "name"), "zones", zones[i].name, &names,
                      (uint32_t)i);
    check_zone(checker, node, &zones[i], path);
  }
  tl_names_free(&names);
}
