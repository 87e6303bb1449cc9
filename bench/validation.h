/* talus bench validation: what its files share.
 *
 * A case is a small scene, built through the public header, and what theory or a published
 * experiment says of it. It lists the contact models that claim it, is run once for each of them
 * (and for each seed, where the answer is a statistical one), and hands over numbers:
 *
 *   void val_case_bounce(val_run *run) {
 *     val_world(run, 1e-4);
 *     ...
 *     val_near(run, "height of the first bounce", "m", got, expected, tolerance);
 *   }
 *
 * The calls below do nothing once one of them has failed, so that a case reads like a recipe; the
 * failure is then the case's result. A number that is wrong stays in the table as FAIL: a tolerance
 * is what the method is known to err by (its order in dt, the spread of an experiment), and the
 * comment beside it says which. */
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
 * iterations of cone complementarity; hard spheres. */
typedef enum val_model {
  VAL_CCP,
  VAL_PENALTY,
  VAL_IMPULSE,
  VAL_APGD,
  VAL_BB,
  VAL_JACOBI,
  VAL_ELASTIC,
  VAL_MODELS
} val_model;
enum {
  VAL_ON_CCP = 1,
  VAL_ON_PENALTY = 2,
  VAL_ON_IMPULSE = 4,
  VAL_ON_APGD = 8,
  VAL_ON_BB = 16,
  VAL_ON_JACOBI = 32,
  VAL_ON_ELASTIC = 64
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
  char known[320]; /* why it fails, where that is known; empty otherwise */
} val_check;

typedef struct val_plot {
  char name[40];
  char title[80], x_label[48], y_label[48];
  size_t rows;
  double *x;
  int count;
  char series[VAL_SERIES][40];
  double *y[VAL_SERIES];
  double *error[VAL_SERIES]; /* half of the 95 % interval over seeds; NULL: of one seed */
  struct val_plot *next;
} val_plot;

struct val_case;

/* One case under one model, with one seed or what came of several put together: also the rig that
 * its scene is built with. */
typedef struct val_run {
  const struct val_case *which;
  val_model model;
  int seed_index;
  uint64_t seed;
  int threads;
  double stiffness;  /* penalty: N/m; 0: as stiff as the step allows */
  bool quick;        /* few bodies, short: to see that it works */
  double strictness; /* multiplies tolerances */
  /* the scene being built */
  talus_world *world;
  double dt;
  bool failed;
  char message[400]; /* why it failed, or was left out */
  /* what came of it */
  val_check checks[VAL_CHECKS];
  int count, at;
  double cpu;      /* s, over all seeds */
  val_plot *plots; /* curves of its own */
} val_run;

typedef void val_case_fn(val_run *run);

typedef struct val_case {
  const char *name;
  const char *about;  /* what happens, and the formula or the published number */
  const char *source; /* author and year, or "analytic" */
  val_case_fn *run;
  unsigned models;   /* VAL_ON_... that claim it */
  int seeds;         /* 0: a fast case with one answer; otherwise slow, repeated so many times */
  const char *basis; /* of a slow case: published values, their spread, and the tolerance of that */
} val_case;

extern const val_case val_cases[];
extern const size_t val_case_count;
const char *val_model_name(val_model model);

/* ---- results --------------------------------------------------------------------------------- */

void val_near(val_run *run, const char *quantity, const char *unit, double got, double expected,
              double tolerance);
void val_within(val_run *run, const char *quantity, const char *unit, double got, double low,
                double high);
/* A question whose answer is yes (1) or no (0). */
void val_is(val_run *run, const char *question, bool got, bool expected);

/* The number just given is known to be wrong: it stays FAIL in every table, with the reason, and
 * does not make the command fail. */
void val_known(val_run *run, const char *reason);

/* The same of every number of a case whose family the engine is not ready for yet. */
void val_mark_pending(val_run *run);

/* The case cannot go on, for another reason than a failed call of the library. */
void val_fail(val_run *run, const char *what);

/* Nothing to compare with: the reason stands in the tables instead of numbers. */
void val_skip(val_run *run, const char *why);

double val_mean(const val_check *check);
/* Half of the 95 % confidence interval of the mean (Student); NAN for one seed. */
double val_confidence(const val_check *check);
/* got less what was expected; of a range: by how much it is missed. */
double val_error(const val_check *check);
bool val_passes(const val_check *check);
/* It passes, but half of its confidence interval is wider than the tolerance: other seeds might
 * not. How many seeds of the same spread would decide. */
bool val_is_inconclusive(const val_check *check);
int val_seeds_needed(const val_check *check);

/* A curve of the plot of that name; all curves of a plot have the same x, those of the first call.
 * Of several seeds the page has the mean. */
void val_curve(val_run *run, const char *name, const char *title, const char *x_label,
               const char *y_label, const char *series, const double *x, const double *y,
               size_t rows);
/* The same into a list; a series that is there already is left alone. False: it does not fit. */
bool val_plots_add(val_plot **plots, const char *name, const char *title, const char *x_label,
                   const char *y_label, const char *series, const double *x, const double *y,
                   size_t rows);
void val_plots_free(val_plot *first);

/* ---- what is kept ---------------------------------------------------------------------------- */

/* Results of single seeds, as they come: a file of lines, fields separated by tabs, that the next
 * call reads again. So a page can be written anew after one case alone was run, and a tier that
 * was interrupted goes on where it was. */
typedef struct val_store {
  val_run *runs;
  size_t count, space;
} val_store;

/* A file that is not there is an empty store. False, after a message: it is not ours, or of the
 * other precision. */
bool val_store_load(val_store *store, const char *path);
bool val_store_save(const val_store *store, const char *path); /* written aside and renamed */
void val_store_free(val_store *store);
/* Takes over its curves; in the place of the one of the same case, model and seed. */
bool val_store_put(val_store *store, const val_run *run);
const val_run *val_store_find(const val_store *store, const val_case *which, val_model model,
                              int seed_index);
/* Forgets seeds from `from` on. */
void val_store_drop(val_store *store, const val_case *which, val_model model, int from);
/* Forgets what broke off, so that it is run again. */
void val_store_drop_broken(val_store *store);
/* All seeds of a case and model put together; false where there are none. No curves. */
bool val_store_gather(const val_store *store, const val_case *which, val_model model, val_run *to);
/* Curves of all that is kept, means over seeds; val_plots_free() them. */
val_plot *val_store_plots(const val_store *store);

/* One run as the store writes it, and back; false where it is not one. */
void val_write_run(FILE *to, const val_run *run);
bool val_read_run(FILE *from, val_run *run);

/* ---- jobs ------------------------------------------------------------------------------------ */

typedef struct val_job {
  const val_case *which;
  val_model model;
  int seed_index;
} val_job;

/* Each job in a process of its own, `side_by_side` of them at a time: what crashes or never ends
 * is the result of that job alone. `done` is called as they end. */
typedef void val_done_fn(void *context, const val_run *run);
bool val_run_jobs(const val_job *jobs, size_t n, const val_run *like, int side_by_side,
                  val_done_fn *done, void *context);

/* ---- scenes ---------------------------------------------------------------------------------- */

/* What a user gets who sets nothing but the step and the method. */
talus_world_def val_default_def(const val_run *run, double dt);
/* Sweeps until converged, whatever it takes: for cases with an exact answer. */
talus_world_def val_def(const val_run *run, double dt);
/* So many sweeps, and no more precise than a crowd of grains needs. */
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
/* All contacts of the last step; free() it. NULL, count 0 where there are none. */
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
/* Checks of a run that fail; a run that broke off counts one. Of these, the known ones. */
int val_failures(const val_run *run);
int val_known_failures(const val_run *run);
int val_inconclusive(const val_run *run);

#endif
