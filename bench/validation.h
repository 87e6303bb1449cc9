/* talus bench validation: shared by its files.
 *
 * A case is a small scene, built through the public header, and the result of theory or of a
 * published experiment. It lists the contact models to which it applies, is run once for each of
 * them (and for each seed, if the result is statistical), and reports numbers:
 *
 *   void val_case_bounce(val_run *run) {
 *     val_world(run, 1e-4);
 *     ...
 *     val_near(run, "height of the first bounce", "m", got, expected, tolerance);
 *   }
 *
 * The calls below do nothing once one of them has failed, so that a case reads like a recipe; the
 * failure is then the case's result. A number that is wrong stays in the table as FAIL: a tolerance
 * is the known error of the method (its order in dt, the spread of an experiment), and the comment
 * beside it says which. */
#ifndef BENCH_VALIDATION_H
#define BENCH_VALIDATION_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <talus/talus.h>

#define VAL_G           9.81
#define VAL_PI          3.14159265358979323846
#define VAL_SEEDS_MOST  32
#define VAL_CHECKS      24 /* of one case and model */
#define VAL_SERIES      8  /* of one plot */
#define VAL_ROWS_MARKED 24 /* rows of a plot that has marks and bars: PLOT_FEW of plot.h */

/* Tolerances that depend on the build's precision: double's, float's. */
#if TALUS_SINGLE
#define VAL_BY_PRECISION(in_double, in_single) (in_single)
#else
#define VAL_BY_PRECISION(in_double, in_single) (in_double)
#endif

/* Cone complementarity (by Gauss-Seidel, the default), springs, sequential impulses; and the other
 * iterations of cone complementarity; hard spheres; springs with implicit steps, by newton. */
typedef enum val_model {
  VAL_CCP,
  VAL_PENALTY,
  VAL_IMPULSE,
  VAL_APGD,
  VAL_BB,
  VAL_JACOBI,
  VAL_ELASTIC,
  VAL_IMPLICIT,
  VAL_MODELS
} val_model;
enum {
  VAL_ON_CCP = 1,
  VAL_ON_PENALTY = 2,
  VAL_ON_IMPULSE = 4,
  VAL_ON_APGD = 8,
  VAL_ON_BB = 16,
  VAL_ON_JACOBI = 32,
  VAL_ON_ELASTIC = 64,
  VAL_ON_IMPLICIT = 128
};

/* One number of a case: expected within a tolerance, or anywhere in a range. */
typedef struct val_check {
  char quantity[56];
  char unit[8];
  bool is_range;
  double expected, tolerance; /* both absolute, in `unit` */
  double low, high;           /* of a range; otherwise expected -/+ tolerance */
  double got[VAL_SEEDS_MOST];
  int seeds;
  char known[320]; /* why it fails, if known; otherwise empty */
} val_check;

typedef struct val_plot {
  char name[40];
  char title[80], x_label[48], y_label[48];
  size_t rows;
  double *x;
  int count;
  char series[VAL_SERIES][40];
  double *y[VAL_SERIES];
  double *error[VAL_SERIES]; /* half of the 95 % interval over seeds; NULL: one seed only */
  struct val_plot *next;
} val_plot;

struct val_case;

/* One case under one model, with one seed or with several combined; also the rig that builds its
 * scene. */
typedef struct val_run {
  const struct val_case *which;
  val_model model;
  int seed_index;
  uint64_t seed;
  int threads;
  double stiffness;  /* penalty: N/m; 0: as stiff as the step allows */
  bool quick;        /* few bodies and short runs, to see that it works */
  double strictness; /* multiplies tolerances */
  /* the scene being built */
  talus_world *world;
  double dt;
  bool failed;
  char message[400]; /* why it failed, or was skipped */
  /* what came of it */
  val_check checks[VAL_CHECKS];
  int count, at;
  double cpu;      /* s, over all seeds */
  val_plot *plots; /* its own curves */
} val_run;

typedef void val_case_fn(val_run *run);

typedef struct val_case {
  const char *name;
  const char *about;  /* what happens, and the formula or the published number */
  const char *source; /* author and year, or "analytic" */
  val_case_fn *run;
  unsigned models; /* models to which it applies: VAL_ON_... */
  int seeds;       /* 0: a fast case with one result; otherwise slow, with that number of seeds */
  /* of a slow case: published values, their spread, and the tolerance that follows */
  const char *basis;
} val_case;

extern const val_case val_cases[];
extern const size_t val_case_count;
const char *val_model_name(val_model model);

/* Springs, with velocity Verlet or with implicit steps. */
bool val_has_springs(const val_run *run);

/* ---- results --------------------------------------------------------------------------------- */

void val_near(val_run *run, const char *quantity, const char *unit, double got, double expected,
              double tolerance);
void val_within(val_run *run, const char *quantity, const char *unit, double got, double low,
                double high);
/* A question with the result yes (1) or no (0). */
void val_is(val_run *run, const char *question, bool got, bool expected);

/* Marks the last number as known to be wrong: it remains FAIL in every table, with the reason, but
 * does not make the command fail. */
void val_known(val_run *run, const char *reason);

/* The same for every number of a case of a family that the engine does not support yet. */
void val_mark_pending(val_run *run);

/* The case cannot continue, for another reason than a failed call of the library. */
void val_fail(val_run *run, const char *what);

/* Skips the case because there is nothing to compare with: tables show the reason instead of
 * numbers. */
void val_skip(val_run *run, const char *why);

double val_mean(const val_check *check);
/* Half of the 95 % confidence interval of the mean (Student); NAN for one seed. */
double val_confidence(const val_check *check);
/* Result minus expected value; for a range: distance from it. */
double val_error(const val_check *check);
bool val_passes(const val_check *check);
/* True if it passes, but half of its confidence interval is wider than the tolerance, so that other
 * seeds might fail; and the number of seeds with the same spread that would decide. */
bool val_is_inconclusive(const val_check *check);
int val_seeds_needed(const val_check *check);

/* A curve of the plot with that name; all curves of a plot have the x of the first call. With
 * several seeds the page shows the mean. */
void val_curve(val_run *run, const char *name, const char *title, const char *x_label,
               const char *y_label, const char *series, const double *x, const double *y,
               size_t rows);
/* Adds to a list; an existing series is not changed. False: it does not fit. */
bool val_plots_add(val_plot **plots, const char *name, const char *title, const char *x_label,
                   const char *y_label, const char *series, const double *x, const double *y,
                   size_t rows);
void val_plots_free(val_plot *first);

/* ---- the store ------------------------------------------------------------------------------- */

/* Results of single seeds as they finish: a file of lines with fields separated by tabs, which the
 * next call reads. So a page can be written again after only one case was run, and an interrupted
 * tier can be continued. */
typedef struct val_store {
  val_run *runs;
  size_t count, space;
} val_store;

/* A missing file is an empty store. False after a message: not our file, or of the other
 * precision. */
bool val_store_load(val_store *store, const char *path);
bool val_store_save(const val_store *store, const char *path); /* written aside and renamed */
void val_store_free(val_store *store);
/* Stores a run with its curves, replacing one of the same case, model and seed. */
bool val_store_put(val_store *store, const val_run *run);
const val_run *val_store_find(const val_store *store, const val_case *which, val_model model,
                              int seed_index);
/* Removes seeds from `from` on. */
void val_store_drop(val_store *store, const val_case *which, val_model model, int from);
/* Removes runs that broke off, so that they are repeated. */
void val_store_drop_broken(val_store *store);
/* Combines all seeds of a case and model, without curves; false if there are none. */
bool val_store_gather(const val_store *store, const val_case *which, val_model model, val_run *to);
/* Curves of all runs, means over seeds; free with val_plots_free(). */
val_plot *val_store_plots(const val_store *store);

/* Writes one run in the store's format, and reads it; false if it is invalid. */
void val_write_run(FILE *to, const val_run *run);
bool val_read_run(FILE *from, val_run *run);

/* ---- jobs ------------------------------------------------------------------------------------ */

typedef struct val_job {
  const val_case *which;
  val_model model;
  int seed_index;
} val_job;

/* Runs each job in a process of its own, `side_by_side` at a time: if it crashes or never ends,
 * that is the result of this job only. Calls `done` as they end. */
typedef void val_done_fn(void *context, const val_run *run);
bool val_run_jobs(const val_job *jobs, size_t n, const val_run *like, int side_by_side,
                  val_done_fn *done, void *context);

/* ---- scenes ---------------------------------------------------------------------------------- */

/* Default settings except for the step and the method. */
talus_world_def val_default_def(const val_run *run, double dt);
/* Sweeps until converged, with any number of iterations: for cases with an exact result. */
talus_world_def val_def(const val_run *run, double dt);
/* That number of sweeps, as accurate as a crowd of grains needs. */
talus_world_def val_crowd_def(const val_run *run, double dt, int sweeps);

void val_world_from(val_run *run, const talus_world_def *def);
void val_world(val_run *run, double dt); /* from val_def */
talus_material val_material(val_run *run, double friction, double restitution);
talus_shape val_shape(val_run *run, talus_shape_kind kind, double a, double b, double c, double d);
talus_body val_body(val_run *run, talus_body_kind kind, talus_shape shape, talus_material material,
                    double x, double y, double z);
talus_body val_add(val_run *run, const talus_body_def *def);
talus_body val_floor(val_run *run, talus_material material); /* the half-space z < 0 */
void val_set_velocity(val_run *run, talus_body body, double x, double y, double z);
void val_step(val_run *run, long steps);
long val_steps(const val_run *run, double seconds);

talus_body_info val_info(val_run *run, talus_body body);
talus_report val_report(val_run *run);
/* Sum over the contacts of the last step of the impulse on a body, along z, N s. */
double val_impulse_z(val_run *run, talus_body body);
/* All contacts of the last step; the caller frees them. NULL and count 0 if there are none. */
talus_contact *val_contacts(val_run *run, size_t *count);

static inline talus_vec3 val_vec(double x, double y, double z) {
  return (talus_vec3){(talus_real)x, (talus_real)y, (talus_real)z};
}
static inline talus_quat val_turn(double x, double y, double z, double angle) {
  const double s = sin(0.5 * angle) / sqrt(x * x + y * y + z * z);
  return (talus_quat){(talus_real)cos(0.5 * angle), (talus_real)(x * s), (talus_real)(y * s),
                      (talus_real)(z * s)};
}

/* Complete elliptic integral of the first kind K(k), by the arithmetic-geometric mean. */
double val_elliptic_k(double modulus);
/* Slope and intercept of a straight line through points, least squares. */
void val_line(const double *x, const double *y, size_t n, double *slope, double *intercept);

/* ---- reports --------------------------------------------------------------------------------- */

void val_print_head(FILE *to);
void val_print_run(FILE *to, const val_run *run);
bool val_write_csv(const char *path, const val_run *runs, size_t n);
bool val_write_plots(const char *folder, const char *prefix, const val_plot *plots);
/* Markdown, plots beside it in images/. */
bool val_write_document(const char *path, const val_run *runs, size_t n, const val_plot *plots);
/* The literature of the slow cases, for the same page. */
void val_write_sources(FILE *to);
/* Number of failed checks of a run; a run that broke off counts one. Number of these that are
 * known. */
int val_failures(const val_run *run);
int val_known_failures(const val_run *run);
int val_inconclusive(const val_run *run);

#endif
