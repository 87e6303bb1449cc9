/* talus bench ellipsoids: shared by its files. */
#ifndef BENCH_ELLIPSOIDS_H
#define BENCH_ELLIPSOIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/collide_ellipsoid.h"

#define ELL_ROWS_MOST 256

typedef struct ell_options {
  size_t max; /* bodies */
  int threads[4];
  int thread_counts;
  int repeat;
  bool peers;
  const char *csv, *svg, *only; /* only: a section's name, or NULL */
} ell_options;

/* Random bodies. */
typedef struct ell_scene {
  size_t count;
  double *position, *radius, *rotation;
  uint32_t *shape;
} ell_scene;

/* One line of the table of methods. */
typedef struct ell_row {
  const char *method;
  size_t bodies, contacts;
  int threads;
  double broad_ms, narrow_ms;
} ell_row;

typedef struct ell_bench {
  ell_options options;
  char folder[512]; /* of this program and its peers; empty: not known */
  FILE *csv;
  ell_row row[ELL_ROWS_MOST];
  int rows;
} ell_bench;

/* Pairs to measure single calls with. */
typedef struct ell_pairs {
  size_t count;
  tl_ellipsoid *a, *b;
  talus_quat *qa, *qb;
  talus_dvec3 *d;
} ell_pairs;

/* Random numbers in [0, 1) that are the same on every machine. */
double ell_uniform(uint64_t *state);
/* overlap > 0: pairs that overlap by up to that part of their shortest half axis; 0: random pairs
 * whose boxes overlap. False without memory. */
bool ell_pairs_make(ell_pairs *pairs, size_t count, double aspect, double overlap, uint64_t seed);
void ell_pairs_free(ell_pairs *pairs);
bool ell_scene_make(ell_scene *scene, size_t n);
void ell_scene_free(ell_scene *scene);
double ell_cpu_now(void); /* s, of this thread */

int ell_bench_pairs(ell_bench *bench);   /* nanoseconds per pair, and peers */
int ell_bench_scenes(ell_bench *bench);  /* methods over the number of bodies */
int ell_bench_clumps(ell_bench *bench);  /* beside clumps of spheres */
int ell_bench_spheres(ell_bench *bench); /* equal radii, beside Bullet */
int ell_bench_errors(ell_bench *bench);  /* the paper's Figure 4 */
void ell_bench_peers(const ell_bench *bench, const ell_pairs *pairs, double aspect);
bool ell_plot(const ell_bench *bench, const char *path);

#endif
