/* Joints of a result folder, summed up for talus info. */
#ifndef CLI_INFO_JOINTS_H
#define CLI_INFO_JOINTS_H

#include <stddef.h>

#include "json.h"
#include <talus/talus.h>

typedef struct info_joints {
  size_t count, broken, by_kind[TALUS_JOINT_KINDS];
  double drift, force, torque;            /* the most that any has: m, N, N m */
  char drifts[64], pulls[64], twists[64]; /* which: its name, or its number */
} info_joints;

/* Of the joints as they are in a world. */
void info_joints_gather(const talus_world *world, info_joints *found);

/* Nothing where there are none. */
void info_joints_show(const info_joints *found);
void info_joints_show_json(json *out, const info_joints *found);

#endif
