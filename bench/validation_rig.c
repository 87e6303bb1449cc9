/* Scenes of talus bench validation: short functions on the public header. After the first failure,
 * which is remembered, they do nothing. */
#include <stdlib.h>
#include <string.h>

#include "student.h"
#include "validation.h"

void val_fail(val_run *run, const char *what) {
  if (run->failed)
    return;
  run->failed = true;
  snprintf(run->message, sizeof run->message, "%s", what);
}

/* True if nothing has failed. */
static bool tried(val_run *run, talus_status status) {
  if (status != TALUS_OK)
    val_fail(run, talus_last_error());
  return !run->failed;
}

/* ---- worlds ---------------------------------------------------------------------------------- */

talus_world_def val_default_def(const val_run *run, double dt) {
  static const talus_solve_kind kinds[VAL_MODELS] = {[VAL_PENALTY] = TALUS_SOLVE_PENALTY,
                                                     [VAL_IMPULSE] = TALUS_SOLVE_IMPULSE,
                                                     [VAL_ELASTIC] = TALUS_SOLVE_ELASTIC,
                                                     [VAL_IMPLICIT] =
                                                         TALUS_SOLVE_PENALTY}; /* others: ccp */
  static const talus_ccp_method methods[VAL_MODELS] = {
      [VAL_APGD] = TALUS_APGD, [VAL_BB] = TALUS_BB, [VAL_JACOBI] = TALUS_JACOBI};
  talus_world_def def = talus_world_def_default();
  def.solve.kind = kinds[run->model];
  def.solve.method = methods[run->model]; /* other models use Gauss-Seidel */
  if (run->model == VAL_IMPLICIT) {
    def.step = TALUS_STEP_IMPLICIT;
    def.implicit.tolerance = VAL_BY_PRECISION(1e-8, 1e-4);
  }
  def.dt = dt;
  def.threads = run->threads;
  return def;
}

talus_world_def val_def(const val_run *run, double dt) {
  talus_world_def def = val_default_def(run, dt);
  def.solve.iterations = 5000;
  def.solve.tolerance = VAL_BY_PRECISION(1e-13, 1e-6);
  return def;
}

talus_world_def val_crowd_def(const val_run *run, double dt, int sweeps) {
  talus_world_def def = val_def(run, dt);
  def.solve.iterations = sweeps;
  def.solve.tolerance = 1e-5;
  return def;
}

void val_world_from(val_run *run, const talus_world_def *def) {
  talus_world_destroy(run->world);
  run->world = NULL;
  run->dt = def->dt;
  if (!run->failed)
    tried(run, talus_world_create(def, &run->world));
}

void val_world(val_run *run, double dt) {
  const talus_world_def def = val_def(run, dt);
  val_world_from(run, &def);
}

talus_material val_material(val_run *run, double friction, double restitution) {
  talus_material_def def = talus_material_def_default();
  talus_material material = {0};
  def.density = 1000;
  def.friction = friction;
  def.restitution = restitution;
  def.stiffness = run->stiffness;
  if (!run->failed)
    tried(run, talus_world_add_material(run->world, &def, &material));
  return material;
}

talus_shape val_shape(val_run *run, talus_shape_kind kind, double a, double b, double c, double d) {
  talus_shape_def def = talus_shape_def_default();
  talus_shape shape = {0};
  def.kind = kind;
  def.size[0] = a, def.size[1] = b, def.size[2] = c, def.size[3] = d;
  if (!run->failed)
    tried(run, talus_world_add_shape(run->world, &def, &shape));
  return shape;
}

talus_body val_add(val_run *run, const talus_body_def *def) {
  talus_body body = {0};
  if (!run->failed)
    tried(run, talus_world_add_body(run->world, def, &body));
  return body;
}

talus_body val_body(val_run *run, talus_body_kind kind, talus_shape shape, talus_material material,
                    double x, double y, double z) {
  talus_body_def def = talus_body_def_default();
  def.kind = kind;
  def.shape = shape;
  def.material = material;
  def.position = (talus_dvec3){x, y, z};
  return val_add(run, &def);
}

talus_body val_floor(val_run *run, talus_material material) {
  return val_body(run, TALUS_FIXED, val_shape(run, TALUS_PLANE, 0, 0, 1, 0), material, 0, 0, 0);
}

void val_set_velocity(val_run *run, talus_body body, double x, double y, double z) {
  if (!run->failed)
    tried(run, talus_body_set_velocity(run->world, body, val_vec(x, y, z), (talus_vec3){0, 0, 0}));
}

void val_step(val_run *run, long steps) {
  if (!run->failed && steps > 0)
    tried(run, talus_world_step(run->world, (uint64_t)steps));
}

long val_steps(const val_run *run, double seconds) { return lround(seconds / run->dt); }

/* ---- what is there --------------------------------------------------------------------------- */

talus_body_info val_info(val_run *run, talus_body body) {
  talus_body_info info = {0};
  if (!run->failed)
    tried(run, talus_world_get_body(run->world, body, &info));
  return info;
}

talus_report val_report(val_run *run) {
  talus_report report = {0};
  if (!run->failed)
    tried(run, talus_world_report(run->world, &report));
  return report;
}

talus_contact *val_contacts(val_run *run, size_t *count) {
  *count = 0;
  if (run->failed || !tried(run, talus_world_contacts(run->world, NULL, 0, count)) || *count == 0)
    return NULL;
  talus_contact *contacts = malloc(*count * sizeof *contacts);
  if (!contacts) {
    val_fail(run, "out of memory");
    *count = 0;
    return NULL;
  }
  tried(run, talus_world_contacts(run->world, contacts, *count, count));
  return contacts;
}

double val_impulse_z(val_run *run, talus_body body) {
  size_t count;
  talus_contact *contacts = val_contacts(run, &count);
  const uint64_t uid = val_info(run, body).uid;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    if (contacts[i].body_b == uid)
      sum += (double)contacts[i].impulse.z;
    if (contacts[i].body_a == uid)
      sum -= (double)contacts[i].impulse.z;
  }
  free(contacts);
  return sum;
}

/* ---- results --------------------------------------------------------------------------------- */

/* With the first seed the check is new; with others it is the one at the same place. */
static val_check *next_check(val_run *run, const char *quantity, const char *unit, double got) {
  if (run->failed)
    return NULL;
  if (run->at >= VAL_CHECKS) {
    val_fail(run, "more checks than VAL_CHECKS");
    return NULL;
  }
  val_check *check = &run->checks[run->at++];
  if (run->at > run->count) {
    run->count = run->at;
    *check = (val_check){0};
    snprintf(check->unit, sizeof check->unit, "%s", unit);
    snprintf(check->quantity, sizeof check->quantity, "%s", quantity);
  }
  check->got[check->seeds++] = got;
  return check;
}

void val_near(val_run *run, const char *quantity, const char *unit, double got, double expected,
              double tolerance) {
  val_check *check = next_check(run, quantity, unit, got);
  if (!check)
    return;
  /* The expected value may depend on the seed (a fit): means are compared with means. */
  const double share = 1.0 / fmax(1, check->seeds);
  check->expected += share * (expected - check->expected);
  check->tolerance += share * (tolerance * run->strictness - check->tolerance);
  check->low = check->expected - check->tolerance;
  check->high = check->expected + check->tolerance;
}

void val_within(val_run *run, const char *quantity, const char *unit, double got, double low,
                double high) {
  val_check *check = next_check(run, quantity, unit, got);
  if (!check)
    return;
  const double middle = 0.5 * (low + high), half = 0.5 * (high - low) * run->strictness;
  check->is_range = true;
  check->expected = middle;
  check->tolerance = half;
  check->low = middle - half;
  check->high = middle + half;
}

void val_is(val_run *run, const char *question, bool got, bool expected) {
  val_near(run, question, "yes=1", got, expected, 0);
}

void val_known(val_run *run, const char *reason) {
  if (!run->failed && run->at > 0)
    snprintf(run->checks[run->at - 1].known, sizeof run->checks[0].known, "%s", reason);
}

void val_skip(val_run *run, const char *why) {
  if (!run->failed)
    snprintf(run->message, sizeof run->message, "%s", why);
}

double val_mean(const val_check *check) {
  double sum = 0;
  for (int i = 0; i < check->seeds; ++i)
    sum += check->got[i];
  return sum / check->seeds;
}

double val_confidence(const val_check *check) {
  return student_of(check->got, (size_t)check->seeds).half;
}

bool val_is_inconclusive(const val_check *check) {
  return check->seeds > 1 && val_passes(check) &&
         val_confidence(check) > 0.5 * (check->high - check->low);
}

int val_seeds_needed(const val_check *check) {
  const size_t n = (size_t)check->seeds;
  const double half = 0.5 * (check->high - check->low);
  const double spread = val_confidence(check) / student_point(n - 1) * sqrt((double)n);
  size_t needed = 2;
  while (needed < 9999 && student_point(needed - 1) * spread / sqrt((double)needed) > half)
    needed++;
  return (int)needed;
}

double val_error(const val_check *check) {
  const double got = val_mean(check);
  if (!check->is_range)
    return got - check->expected;
  return got < check->low ? got - check->low : got > check->high ? got - check->high : 0;
}

bool val_passes(const val_check *check) {
  const double got = val_mean(check);
  return got >= check->low && got <= check->high; /* false also for a result that is not a number */
}

int val_failures(const val_run *run) {
  int failures = run->failed;
  for (int i = 0; i < run->count; ++i)
    failures += !val_passes(&run->checks[i]);
  return failures;
}

int val_inconclusive(const val_run *run) {
  int n = 0;
  for (int i = 0; i < run->count; ++i)
    n += val_is_inconclusive(&run->checks[i]) ? 1 : 0;
  return n;
}

int val_known_failures(const val_run *run) {
  int known = 0;
  for (int i = 0; i < run->count; ++i)
    known += *run->checks[i].known && !val_passes(&run->checks[i]);
  return known;
}

/* ---- curves ---------------------------------------------------------------------------------- */

static double *copy_of(const double *values, size_t n) {
  double *copy = malloc(n * sizeof *copy);
  if (copy)
    memcpy(copy, values, n * sizeof *copy);
  return copy;
}

static val_plot *new_plot(const char *name, const char *title, const char *x_label,
                          const char *y_label, const double *x, size_t rows) {
  val_plot *made = calloc(1, sizeof *made);
  double *copied = copy_of(x, rows);
  if (!made || !copied) {
    free(made);
    free(copied);
    return NULL;
  }
  snprintf(made->name, sizeof made->name, "%s", name);
  snprintf(made->title, sizeof made->title, "%s", title);
  snprintf(made->x_label, sizeof made->x_label, "%s", x_label);
  snprintf(made->y_label, sizeof made->y_label, "%s", y_label);
  made->rows = rows, made->x = copied;
  return made;
}

bool val_plots_add(val_plot **plots, const char *name, const char *title, const char *x_label,
                   const char *y_label, const char *series, const double *x, const double *y,
                   size_t rows) {
  val_plot **at = plots;
  while (*at && strcmp((*at)->name, name) != 0)
    at = &(*at)->next;
  if (!*at)
    *at = new_plot(name, title, x_label, y_label, x, rows);
  val_plot *plot = *at;
  for (int k = 0; plot && k < plot->count; ++k)
    if (strcmp(plot->series[k], series) == 0)
      return true; /* theory is the same for every model */
  if (!plot || plot->rows != rows || plot->count == VAL_SERIES)
    return false;
  plot->y[plot->count] = copy_of(y, rows);
  if (!plot->y[plot->count])
    return false;
  snprintf(plot->series[plot->count++], sizeof plot->series[0], "%s", series);
  return true;
}

void val_curve(val_run *run, const char *name, const char *title, const char *x_label,
               const char *y_label, const char *series, const double *x, const double *y,
               size_t rows) {
  if (run->failed || rows == 0)
    return;
  if (!val_plots_add(&run->plots, name, title, x_label, y_label, series, x, y, rows))
    val_fail(run, "a curve that does not fit its plot");
}

void val_plots_free(val_plot *first) {
  while (first) {
    val_plot *next = first->next;
    for (int k = 0; k < first->count; ++k) {
      free(first->y[k]);
      free(first->error[k]);
    }
    free(first->x);
    free(first);
    first = next;
  }
}

/* ---- numbers --------------------------------------------------------------------------------- */

double val_elliptic_k(double modulus) {
  double a = 1, b = sqrt(1 - modulus * modulus);
  for (int i = 0; i < 30 && fabs(a - b) > 1e-15 * a; ++i) {
    const double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return 0.5 * VAL_PI / a;
}

void val_line(const double *x, const double *y, size_t n, double *slope, double *intercept) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  for (size_t i = 0; i < n; ++i) {
    mx += x[i] / (double)n;
    my += y[i] / (double)n;
  }
  for (size_t i = 0; i < n; ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
  }
  *slope = xy / xx;
  if (intercept)
    *intercept = my - *slope * mx;
}
