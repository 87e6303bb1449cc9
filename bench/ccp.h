/* talus bench ccp: shared by its files.
 *
 * The tables of Tasora, Negrut and Anitescu (2011) measured again, convergence of every method, the
 * time of a sweep and of a product, and other programs on the same heap. Every time is shown with
 * the number of iterations and the residual: a solver that stops early is fast.
 *
 * A table ("section") is small enough to be run alone: --table, --max, --steps, --settle. */
#ifndef BENCH_CCP_H
#define BENCH_CCP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <talus/talus.h>

#include "tools.h"

#define CCP_RADIUS  0.005 /* m, of every sphere */
#define CCP_METHODS 4

typedef struct ccp_options {
  size_t max;         /* bodies */
  long settle, steps; /* of a section; 0: its own default */
  int iterations;
  int threads;
  bool method[CCP_METHODS]; /* by talus_ccp_method */
  bool quick;
  const char *peer; /* NULL: all */
} ccp_options;

typedef struct ccp_bench {
  ccp_options options;
  const char *folder;    /* of CSV files and plots; NULL: none */
  char peer_folder[512]; /* where programs of bench/peers are; "" where nowhere */
} ccp_bench;

typedef bool ccp_section_fn(ccp_bench *bench);
ccp_section_fn ccp_table_silo, ccp_table_tank, ccp_convergence, ccp_sweeps, ccp_peers;

const char *ccp_method_name(int method);
const char *ccp_peer_name(size_t i); /* talus is the first; NULL: no such peer */

/* False, after a message. */
bool ccp_fail(const char *doing);

double ccp_now(void); /* s */
double ccp_median(double *values, int n);

/* Bandwidth of a = b + s c over arrays that exceed all caches, bytes per second: two reads and a
 * write of 8 bytes; reads before writes are not counted. */
double ccp_triad(int threads, bool quick);

/* ---- worlds ---------------------------------------------------------------------------------- */

/* Spheres, solved with a recovery of 0.05, on a lattice in an open box with a square floor; side 0:
 * as wide as high when settled. */
typedef struct ccp_recipe {
  size_t bodies;
  double side, hole; /* m; hole 0: none */
  bool plugged;      /* a body closes the hole until ccp_unplug */
  double dt;         /* s */
  int iterations, threads;
  bool stops; /* stops at the automatic tolerance; otherwise every iteration is made */
} ccp_recipe;

typedef struct ccp_heap {
  talus_world *world;
  talus_body plug;
  uint32_t probe; /* measures the contact force on the box; not with a hole */
  size_t bodies;  /* spheres */
  double side;
} ccp_heap;

bool ccp_heap_make(const ccp_recipe *recipe, ccp_heap *heap);
bool ccp_heap_unplug(ccp_heap *heap);
void ccp_heap_free(ccp_heap *heap);

/* Sets the method of the next steps; tolerance 0, so that every iteration is made. */
void ccp_heap_solve_with(ccp_heap *heap, int method, int iterations, bool warm);

/* A state that can be restored: bodies, and contacts with their impulses. */
typedef struct ccp_snapshot {
  void *state[10];
  void *contacts;
  size_t bodies, count;
} ccp_snapshot;

bool ccp_snapshot_take(const ccp_heap *heap, ccp_snapshot *to);
bool ccp_snapshot_restore(ccp_heap *heap, const ccp_snapshot *from);
void ccp_snapshot_free(ccp_snapshot *snapshot);

/* Means over steps; the largest of the residuals. */
typedef struct ccp_times {
  double total, collision, solve, narrow, broad; /* s per step */
  double contacts;                               /* number given to the solver */
  double residual_rms, residual_max;             /* m/s */
  int iterations;
  size_t bodies;
} ccp_times;

bool ccp_measure(ccp_heap *heap, long steps, ccp_times *times);

/* ---- curves ---------------------------------------------------------------------------------- */

#define CCP_POINTS_MOST 16

typedef struct ccp_curve {
  char name[32];
  int colour;
  bool dashed;
  int points;
  double x[CCP_POINTS_MOST], y[CCP_POINTS_MOST];
} ccp_curve;

/* Both axes are logarithmic. False if the file cannot be written. */
bool ccp_plot(const char *path, const char *title, const char *x_label, const char *y_label,
              const ccp_curve *curves, int count);

#endif
