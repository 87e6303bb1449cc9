#include "info_joints.h"
#include "cli.h"

#include <math.h>
#include <stdio.h>

static void note_most(double *most, double value, char *who, const talus_joint_info *joint) {
  if (!(value > *most))
    return;
  *most = value;
  if (joint->name)
    snprintf(who, 64, "'%.60s'", cli_shown(joint->name));
  else
    snprintf(who, 64, "%llu", (unsigned long long)joint->uid);
}

static double length_of(talus_vec3 v) {
  return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

void info_joints_gather(const talus_world *world, info_joints *found) {
  *found = (info_joints){.count = talus_world_joint_count(world)};
  for (size_t i = 0; i < found->count; ++i) {
    talus_joint joint;
    talus_joint_info info;
    if (talus_world_joint_at(world, i, &joint) != TALUS_OK ||
        talus_world_get_joint(world, joint, &info) != TALUS_OK)
      return;
    found->by_kind[info.kind]++;
    if (info.broken) {
      found->broken++;
      continue;
    }
    note_most(&found->drift, info.drift, found->drifts, &info);
    note_most(&found->force, length_of(info.force), found->pulls, &info);
    note_most(&found->torque, length_of(info.torque), found->twists, &info);
  }
}

static void show_most(const char *label, double value, const char *unit, const char *who) {
  printf("  %-20s %.4g %s", label, value, unit);
  if (*who)
    printf(" (joint %s)", who);
  putchar('\n');
}

void info_joints_show(const info_joints *found) {
  if (found->count == 0)
    return;
  printf("  %-20s %zu:", "joints", found->count);
  const char *between = "";
  for (int kind = 0; kind < TALUS_JOINT_KINDS; ++kind)
    if (found->by_kind[kind] > 0) {
      printf("%s %zu %s", between, found->by_kind[kind],
             talus_joint_kind_name((talus_joint_kind)kind));
      between = ",";
    }
  printf("; %zu broken\n", found->broken);
  show_most("  largest drift", found->drift, "m", found->drifts);
  show_most("  largest force", found->force, "N", found->pulls);
  show_most("  largest torque", found->torque, "N m", found->twists);
}

void info_joints_show_json(json *out, const info_joints *found) {
  if (found->count == 0)
    return;
  json_open(out, "joints", '{');
  json_number(out, "count", (double)found->count);
  json_number(out, "broken", (double)found->broken);
  json_open(out, "kinds", '{');
  for (int kind = 0; kind < TALUS_JOINT_KINDS; ++kind)
    if (found->by_kind[kind] > 0)
      json_number(out, talus_joint_kind_name((talus_joint_kind)kind), (double)found->by_kind[kind]);
  json_close(out, '}');
  json_number(out, "drift_max", found->drift);
  json_number(out, "force_max", found->force);
  json_number(out, "torque_max", found->torque);
  json_close(out, '}');
}
