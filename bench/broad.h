/* talus bench broad: shared by its files.
 *
 * A scene is a list of spheres. A group is one scene, number of threads and question, answered by
 * every method in the same run: times are medians, and methods take turns, so that changes of the
 * machine's load affect all of them. Sections combine groups to the published tables (Poirrier
 * 2009) and to those of our own goals. */
#ifndef BENCH_BROAD_H
#define BENCH_BROAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <talus/detect.h>

/* ---- scenes ---------------------------------------------------------------------------------- */

typedef struct broad_scene {
  size_t count;
  double *record;   /* 4: x, y, z, r */
  double *velocity; /* 3, of a settling scene; NULL otherwise */
  double drop;      /* of a settling scene: what gravity adds to a velocity in each step */
} broad_scene;

enum { BROAD_EVEN, BROAD_LINE, BROAD_SHEET, BROAD_CLOUDS };

typedef struct broad_recipe {
  size_t count;
  int layout;
  double fraction; /* volume of all spheres over that of the region of their centres */
  double smallest; /* radius; the largest is 1, logarithms are uniform between */
  double highest;  /* of an even region; 0: as high as it is wide */
  bool ordered;    /* along a Morton curve; otherwise in random order */
  uint64_t seed;
} broad_recipe;

bool broad_scene_make(const broad_recipe *recipe, broad_scene *scene);
void broad_scene_free(broad_scene *scene);
void broad_scene_boxes(const broad_scene *scene, talus_box *boxes);
/* Writes the format that peers (and talus contacts) read. */
bool broad_scene_write(const broad_scene *scene, const char *path);

/* Height in radii. The paper states neither its region ("some cuboid") nor its gravity. In its
 * tables the pairs per sphere hardly depend on N, so the height did not either; with this height,
 * and the gravity of broad_settle_begin, steps 50 to 60 have as many pairs as printed, within 5 %
 * (50000 spheres: 471048 pairs of boxes, the paper 471044). */
#define BROAD_SETTLE_HEIGHT 100.0

/* Starts to settle an even scene: it falls on a floor, and overlaps are pushed apart pair by pair,
 * once per step (Poirrier 2009, section 6). */
bool broad_settle_begin(broad_scene *scene);
bool broad_settle_step(broad_scene *scene, talus_detector *detector);

/* ---- results --------------------------------------------------------------------------------- */

#define BROAD_METHODS_MOST 24

typedef struct broad_row {
  char method[24];
  double ms;                  /* median; NAN: not measured */
  uint64_t pairs;             /* unique pairs whose boxes overlap */
  uint64_t candidates;        /* 0: not counted by the method */
  double bytes;               /* largest memory besides the boxes; peers: resident memory */
  bool is_peer, is_reference; /* reference: not one of the choices of `broad:` */
  bool has_pairs;             /* its pairs must be those of the other methods */
} broad_row;

typedef struct broad_group {
  const char *section;
  char scene[48];
  size_t count; /* bodies */
  int threads;
  broad_row row[BROAD_METHODS_MOST];
  int rows;
} broad_group;

typedef struct broad_options {
  size_t min, max; /* bodies */
  int repeat;
  int threads[8], thread_counts;
  bool quick, peers;
  const char *only;
  double patience; /* s: methods that would take longer for one call are omitted */
} broad_options;

typedef struct broad_bench {
  broad_options options;
  FILE *csv;           /* may be NULL */
  double bandwidth[8]; /* bytes/s read and written, by options.threads */
  broad_group *group;  /* all that were measured */
  size_t groups, capacity;
  int mismatches;
  char folder[512]; /* of peers; "" where there is none */
} broad_bench;

/* Appends an empty group; NULL without memory. */
broad_group *broad_group_begin(broad_bench *bench, const char *section, const char *scene,
                               size_t count, int threads);
broad_row *broad_group_add(broad_group *group, const char *method);
/* Checks that all methods found the same pairs; prints the table and its lines of the CSV. */
void broad_group_end(broad_bench *bench, broad_group *group);
const broad_row *broad_group_find(const broad_group *group, const char *method);
/* The fastest choice except auto; NULL if nothing was measured. */
const broad_row *broad_group_best(const broad_group *group);

/* Bandwidth of reading and writing memory with that number of threads, bytes per second. */
double broad_bandwidth(int threads, bool quick);

/* ---- measuring ------------------------------------------------------------------------------- */

enum { BROAD_WITH_BRUTE = 1, BROAD_WITH_SWEEP = 2, BROAD_WITH_PEERS = 4, BROAD_WITH_DELAUNAY = 8 };

/* Measures every method on the scene; brute, sweep and peers unless earlier groups of the section
 * show that they take too long. False after a message. */
bool broad_measure(broad_bench *bench, broad_group *group, const broad_scene *scene, int with);
/* Measures only the peers; they are slow, so with fewer repeats. */
bool broad_measure_peers(broad_bench *bench, broad_group *group, const broad_scene *scene,
                         bool delaunay);
/* Predicted time of a call (s) from the largest group of the section that has the method; 0 if
 * there is none. power: exponent of the number of bodies in the time. */
double broad_predict(const broad_bench *bench, const broad_group *group, const char *method,
                     double power);
double broad_median(double *values, int n);
double broad_now_ms(void);

/* ---- sections -------------------------------------------------------------------------------- */

typedef bool broad_section_fn(broad_bench *bench);
broad_section_fn broad_table_1, broad_tables_2_3, broad_figures, broad_uniform, broad_sizes,
    broad_order, broad_skin, broad_auto;

/* Summary of the time of `auto` over that of the best fixed choice, over all groups. */
void broad_sum_up(const broad_bench *bench);

/* Plots time over number of bodies, for the uniform scenes with most threads. */
bool broad_plot(const broad_bench *bench, const char *path);

#endif
