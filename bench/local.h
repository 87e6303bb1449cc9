/* Parts of `talus bench local` (local.c). */
#ifndef BENCH_LOCAL_H
#define BENCH_LOCAL_H

#include "step/step.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum local_kind { LOCAL_FIXED, LOCAL_ADAPTIVE, LOCAL_LOCAL, LOCAL_KINDS } local_kind;
enum { LOCAL_PHASES = 5, LOCAL_SIZES = 3, LOCAL_THREADS = 8 };
extern const char *const local_kind_names[LOCAL_KINDS];
extern const char *const local_phase_names[LOCAL_PHASES];

/* What one run did. */
typedef struct local_outcome {
  double body_steps, seconds, wall, window, held;
  double dt;      /* s: fixed: the longest step that is good enough; 0: none is */
  double overlap; /* of a halo: fixed: the deepest one with it */
  uint64_t rollbacks, rendezvous, clusters, rounds;
  uint64_t lengths[TL_LENGTHS]; /* steps of bodies by length: of the grid, half of it, ... */
  uint64_t steps[TL_LENGTHS];   /* steps of clusters, of everybody, by length */
  uint64_t dropped[TL_LENGTHS]; /* of clusters, computed in vain */
  double phase[LOCAL_PHASES];   /* s */
  size_t most, contacts;        /* bodies, and contacts, of the largest cluster */
  uint64_t hash;                /* of the state at the end */
} local_outcome;

/* All that was measured of a setup. */
typedef struct local_figures {
  const char *name;
  double max; /* s: the grid */
  int count;  /* sizes that were measured */
  int bodies[LOCAL_SIZES];
  local_outcome of[LOCAL_SIZES][LOCAL_KINDS];
  int threads; /* numbers of threads that were tried at the largest size: 1, 2, 4, ... */
  double wall[LOCAL_THREADS];
} local_figures;

/* Tables (CSV) and drawings (SVG) of a setup in the folder, which is there; false after an error
 * message. */
typedef struct local_tables {
  FILE *sizes, *lengths, *phases, *threads;
} local_tables;
bool local_tables_open(const char *folder, local_tables *tables);
bool local_tables_add(const local_tables *tables, const local_figures *figures);
bool local_tables_close(local_tables *tables);
bool local_draw(const char *folder, const local_figures *figures);

/* Clusters of a graph by sweeps of least labels (the thesis' Algorithm 2) and by union-find. */
bool bench_local_clusters(bool quick);

/* What a loop without rounds could gain: one thread records which step of a cluster needs which
 * others, and how long each took. */
typedef struct local_loop local_loop;
local_loop *local_loop_begin(talus_world *world);
/* What steps of clusters of a size cost; sizes are classes 0, 1, 2, 3 to 4, 5 to 8, ... */
enum { LOCAL_SIZE_CLASSES = 16 };
typedef struct local_cost {
  uint64_t steps;
  double seconds; /* s: of all of them */
} local_cost;
/* The largest number in a class. */
unsigned local_class_most(int k);

/* The tables of a loop, and the folder of its drawings; or NULL. */
typedef struct local_loop_files {
  const char *folder;
  FILE *ways, *costs;
} local_loop_files;

/* Prints a row, adds it to the tables, and frees all. seconds: of the whole run. */
bool local_loop_end(local_loop *loop, const char *name, int bodies, double seconds,
                    const local_loop_files *files);
void local_loop_head(void);
bool local_draw_costs(const char *folder, const char *name, int bodies,
                      const local_cost *by_contacts, const local_cost *by_bodies);

/* What sweeps would save that leave out contacts which hardly change, in dense clusters. */
bool bench_local_sweeps(bool quick);

/* Rings of bricks on each other: one cluster. */
bool local_fill_tower(talus_world *world, talus_material m, int bodies);

#endif
