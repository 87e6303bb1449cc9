/* talus bench machines: shared by its files.
 *
 * Joints alone and in machines: the time of a joint in an iteration, chains of N links, closed
 * loops solved joint by joint and all at once, and the scene `vehicle` by stage. With one thread
 * CPU time is measured, so that a busy machine does not spoil a table. */
#ifndef BENCH_MACHINES_H
#define BENCH_MACHINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <talus/talus.h>

#include "tools.h"

typedef struct machines_options {
  int max;     /* links of the longest chain */
  int pebbles; /* under the vehicle */
  int steps;   /* measured steps; 0: as the table says */
  int threads; /* of the vehicle and of long chains */
  bool quick;
} machines_options;

typedef struct machines_bench {
  machines_options options;
  const char *folder; /* of CSV files and plots; NULL: none */
} machines_bench;

typedef bool machines_section_fn(machines_bench *bench);
machines_section_fn machines_joints, machines_chains, machines_loops, machines_vehicle;

/* False, after a message. */
bool machines_fail(const char *doing);

/* s: CPU time of this thread; wall clock. */
double machines_cpu(void);
double machines_wall(void);

/* ---- worlds ---------------------------------------------------------------------------------- */

/* A world without contacts; bodies are bars of one kilogram. */
typedef struct machines_rig {
  talus_world *world;
  talus_material material;
  talus_shape bar;     /* of the length given to machines_make, along x */
  talus_shape upright; /* the same along z */
} machines_rig;

typedef struct machines_solve {
  talus_joints_solver joints;
  int iterations;
  double tolerance; /* m/s; 0: every iteration is made */
  int threads;      /* 0: one */
} machines_solve;

bool machines_rig_make(const machines_solve *solve, double length, machines_rig *rig);
void machines_rig_free(machines_rig *rig);

bool machines_add_bar(machines_rig *rig, talus_shape shape, double x, double z, talus_body *body);
/* A joint between two bodies (zero: the ground), about y. A distance joint has half a length along
 * x. */
bool machines_add_joint(machines_rig *rig, talus_joint_kind kind, talus_body a, talus_body b,
                        double x, double z);

/* A chain of n links along x, held at its near end. */
bool machines_chain_make(const machines_solve *solve, talus_joint_kind kind, int n,
                         machines_rig *rig);

#endif
