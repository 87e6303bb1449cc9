/* talus bench implicit: shared by its files. The tables of chapter 6 of Noble's thesis, beside ours
 * on the same geometry (docs/theory/surrogates.md, docs/theory/implicit.md).
 *
 *   implicit.c          the command, and the list of tables
 *   implicit_meshes.c   its spheres, and the two scenes of 6.2 to 6.8
 *   implicit_halos.c    6.1: halos of surrogate triangles
 *   implicit_pairs.c    6.2, 6.3: kernels alone
 *   implicit_trees.c    6.4: flat and surrogate trees
 *   implicit_picard.c   6.5, 6.6, Figure 6.3, 6.7 to 6.9: implicit steps
 *   implicit_svg.c      Figure 6.3 as a drawing
 *   implicit_error.c    error against time as springs get stiffer
 *   implicit_heap.c     the same for a heap of stones
 *
 * A new table is a function and a line of the list. */
#ifndef BENCH_IMPLICIT_H
#define BENCH_IMPLICIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench.h"
#include "shape/shape.h"
#include "tools.h"

typedef struct implicit_bench {
  int steps;  /* poses of a scene that are averaged */
  int repeat; /* minimum of that number of times */
  bool quick; /* small sizes, to see that it works */
  bool full;  /* the sheet of 6.9 as large as in the thesis */
  FILE *csv;
  const char *folder; /* of files; NULL: none */
} implicit_bench;

/* Prints its table, with the thesis' number beside each of ours. False after a message: it
 * failed. */
typedef bool implicit_table_fn(const implicit_bench *bench);
implicit_table_fn implicit_halos, implicit_two, implicit_plane, implicit_trees, implicit_picards,
    implicit_layers, implicit_sizes, implicit_scales, implicit_sheet, implicit_errors,
    implicit_heap;

/* Adds a number of a table to the CSV file; thesis NAN: the thesis has none. */
void implicit_put(const implicit_bench *bench, const char *table, const char *row,
                  const char *column, double thesis, double ours);

/* Figure 6.3: a scene; comparisons by step and look. */
#define IMPLICIT_LAYERS 24
typedef struct implicit_panel {
  const char *title;
  int steps, looks[IMPLICIT_LAYERS];
  double compared[IMPLICIT_LAYERS][IMPLICIT_LAYERS];
} implicit_panel;
bool implicit_plot_layers(const char *path, const implicit_panel panels[2]);

/* s: CPU time of this thread. */
double implicit_cpu(void);

bool implicit_fail(const char *doing);

/* ---- meshes and scenes (implicit_meshes.c) --------------------------------------------------- */

/* A sphere of diameter 1 by circles of latitude: 12, 36, 140 or 1224 triangles, as in the
 * thesis. */
bool implicit_make_sphere(size_t triangles, tl_shape *shape);

/* A sphere of diameter 1 from an icosahedron: 80, 320, 1,280 or 5,120 triangles. */
bool implicit_make_icosphere(size_t triangles, tl_shape *shape);

/* A square plate of 4 by 4 and 512 triangles, facing up: 1224 times 512 are the 6.27e5 comparisons
 * of Table 6.4. */
bool implicit_make_plate(tl_shape *shape);

/* The halo of the thesis, 1e-2 of the diameter, of both bodies: smaller gaps are contacts. */
#define IMPLICIT_REACH 0.02

/* Pose `step` of `steps`: two spheres that approach and bounce; or a sphere that falls on a tilted
 * plate, bounces and rolls down. position and rotation are those of the second body in the frame of
 * the first. There are no forces: every method sees the same poses. */
typedef struct implicit_pose {
  talus_dvec3 position;
  talus_quat rotation;
} implicit_pose;
implicit_pose implicit_pose_two(int step, int steps);
implicit_pose implicit_pose_plane(int step, int steps);

#endif
