/* talus bench blocks: shared by its files.
 *
 * Boxes, hulls and machines at the step lengths of games: the time of a step by stage, creep and
 * sag of stacks, and the time of a pair in the narrow phase by its two kinds. */
#ifndef BENCH_BLOCKS_H
#define BENCH_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include <talus/talus.h>

#include "tools.h"

typedef struct blocks_options {
  int bodies; /* of every scene; 0: those of the table */
  int steps;  /* 0: those of the table */
  int threads, substeps, iterations;
  const char *solve; /* ccp or impulse */
  bool quick;
} blocks_options;

typedef struct blocks_bench {
  blocks_options options;
  const char *folder;  /* folder of CSV files; NULL: none */
  const char *against; /* another talus, which runs every table after this one; NULL: none */
} blocks_bench;

typedef bool blocks_section_fn(const blocks_bench *bench);
blocks_section_fn blocks_pyramid, blocks_hulls, blocks_rubble, blocks_wall, blocks_jointed,
    blocks_vehicle, blocks_pairs;

/* False, after a message. */
bool blocks_fail(const char *doing);

/* ---- worlds ---------------------------------------------------------------------------------- */

/* A world with the options' settings, and a material of friction 0.6. */
typedef struct blocks_rig {
  talus_world *world;
  talus_material material;
  talus_shape box, hull; /* a box of 1 m; a hull of 32 vertices within a ball of 0.5 m */
} blocks_rig;

bool blocks_rig_make(const blocks_options *options, bool floored, blocks_rig *rig);
bool blocks_add_shape(blocks_rig *rig, talus_shape_kind kind, double a, double b, double c,
                      talus_shape *shape);
bool blocks_add_body(blocks_rig *rig, talus_body_kind kind, talus_shape shape, talus_dvec3 at,
                     talus_quat rotation, talus_body *body);
/* A rotation that depends on i only. */
talus_quat blocks_rotation(uint64_t i);

/* ---- measuring ------------------------------------------------------------------------------- */

/* Prints the heading of scenes, and opens NAME.csv. */
bool blocks_begin(const blocks_bench *bench, const char *name, FILE **csv);
/* Steps the world and prints a line: ms by stage over all steps and over the last quarter; creep
 * and sag of free bodies. */
bool blocks_measure(const blocks_bench *bench, const char *name, talus_world *world, int steps,
                    FILE *csv);

#endif
