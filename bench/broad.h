/* talus bench broad: what its files share.
 *
 * A scene is a list of spheres; a group is one scene, thread count and question, answered by every
 * method in the same run: times are medians, methods take turns, so that a change of the machine's
 * mood meets all of them. Sections make the published tables (Poirrier 2009) and those
 * of our own goals out of groups. */
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
/* In the format that peers (and talus contacts) read. */
bool broad_scene_write(const broad_scene *scene, const char *path);

/* Radii. The paper gives neither its region ("some cuboid") nor its gravity. That pairs per sphere
 * hardly depend on N in its tables says that the height did not either; with this one, and the
 * gravity of broad_settle_begin, steps 50 to 60 have as many pairs as it printed, to 5 % (50000
 * spheres: 471048 pairs of boxes, the paper 471044). */
#define BROAD_SETTLE_HEIGHT 100.0

/* Makes an even scene one that settles: it falls on a floor and overlaps are pushed apart pair by
 * pair, once per step (Poirrier 2009, section 6). */
bool broad_settle_begin(broad_scene *scene);
bool broad_settle_step(broad_scene *scene, talus_detector *detector);

/* ---- results --------------------------------------------------------------------------------- */

#define BROAD_METHODS_MOST 24

typedef struct broad_row {
  char method[24];
  double ms;                  /* median; NAN: not measured */
  uint64_t pairs;             /* unique ones whose boxes overlap */
  uint64_t candidates;        /* of methods that count them; 0: not */
  double bytes;               /* most held beside the boxes; peers: resident */
  bool is_peer, is_reference; /* reference: not one of the choices of `broad:` */
  bool has_pairs;             /* its pairs must be those of the others */
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
  double patience; /* s: methods that would take longer for one call are left out */
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

/* A new group, empty; NULL where memory is out. */
broad_group *broad_group_begin(broad_bench *bench, const char *section, const char *scene,
                               size_t count, int threads);
broad_row *broad_group_add(broad_group *group, const char *method);
/* Checks that all pairs are the same; prints the table and its lines of the CSV. */
void broad_group_end(broad_bench *bench, broad_group *group);
const broad_row *broad_group_find(const broad_group *group, const char *method);
/* The fastest choice but auto; NULL where nothing was measured. */
const broad_row *broad_group_best(const broad_group *group);

/* Reads and writes memory with so many threads; bytes per second. */
double broad_bandwidth(int threads, bool quick);

/* ---- measuring ------------------------------------------------------------------------------- */

enum { BROAD_WITH_BRUTE = 1, BROAD_WITH_SWEEP = 2, BROAD_WITH_PEERS = 4, BROAD_WITH_DELAUNAY = 8 };

/* Every method on the scene as it is; brute, sweep and peers as long as they do not take too long,
 * which earlier groups of the section tell. False after a message. */
bool broad_measure(broad_bench *bench, broad_group *group, const broad_scene *scene, int with);
/* The peers alone; they are few and slow, so with fewer repeats. */
bool broad_measure_peers(broad_bench *bench, broad_group *group, const broad_scene *scene,
                         bool delaunay);
/* What a call would take [s], from the largest group of the section that has the method; 0 where
 * there is none. power: of the number of bodies that its time goes with. */
double broad_predict(const broad_bench *bench, const broad_group *group, const char *method,
                     double power);
double broad_median(double *values, int n);
double broad_now_ms(void);

/* ---- sections -------------------------------------------------------------------------------- */

typedef bool broad_section_fn(broad_bench *bench);
broad_section_fn broad_table_1, broad_tables_2_3, broad_figures, broad_uniform, broad_sizes,
    broad_order, broad_skin, broad_auto;

/* What `auto` costs over the best fixed choice, over all groups. */
void broad_sum_up(const broad_bench *bench);

/* Time over number of bodies, of the uniform scenes with most threads. */
bool broad_plot(const broad_bench *bench, const char *path);

#endif
