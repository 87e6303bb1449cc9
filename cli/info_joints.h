/* Joints of a result folder, summed up for talus info. */
#ifndef CLI_INFO_JOINTS_H
#define CLI_INFO_JOINTS_H

#include <stddef.h>

#include "json.h"
#include <talus/talus.h>

typedef struct info_joints {
  size_t count, broken, by_kind[TALUS_JOINT_KINDS];
  double drift, force, torque;            /* largest of any joint: m, N, N m */
  char drifts[64], pulls[64], twists[64]; /* names (or numbers) of these joints */
} info_joints;

/* Sums up the joints of a world. */
void info_joints_gather(const talus_world *world, info_joints *found);

/* Prints nothing without joints. */
void info_joints_show(const info_joints *found);
void info_joints_show_json(json *out, const info_joints *found);

#endif
