/* Gases of hard spheres in a periodic box: diameter, mass and RMS speed per axis are 1. */
#include "validation_cases.h"

#include <stdlib.h>

typedef struct hard_gas {
  size_t count;
  double phi, width;
} hard_gas;

static double next(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double contact_value(double phi) { return (1 - phi / 2) / pow(1 - phi, 3); }

/* Collisions of one sphere per second, kT/m = 1. */
static double rate_of(double phi) {
  return 4 * (6 * phi / VAL_PI) * contact_value(phi) * sqrt(VAL_PI);
}

/* Equal speeds in random directions on a face-centred lattice of 4 side^3 spheres, at rest as a
 * whole but for rounding. */
static hard_gas make_gas(val_run *run, int side, double phi, talus_step_kind step,
                         talus_shell shell, double dt) {
  static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  hard_gas g = {.count = 4 * (size_t)(side * side * side), .phi = phi};
  g.width = cbrt((double)g.count * VAL_PI / 6 / phi);
  talus_world_def def = val_default_def(run, dt);
  def.gravity = val_vec(0, 0, 0);
  def.step = step;
  def.solve.shell = shell;
  def.domain.enabled = true;
  def.domain.box = (talus_box){{0, 0, 0}, {g.width, g.width, g.width}};
  def.domain.periodic[0] = def.domain.periodic[1] = def.domain.periodic[2] = true;
  val_world_from(run, &def);
  talus_body_def ball = talus_body_def_default();
  ball.material = val_material(run, 0, 1);
  ball.shape = val_shape(run, TALUS_SPHERE, 0.5, 0, 0, 0);
  ball.mass = 1;
  uint64_t state = 99 * run->seed;
  const double a = g.width / side;
  talus_vec3 v = {0};
  for (size_t i = 0; i < g.count; ++i) {
    const size_t cell = i / 4, n = (size_t)side;
    const double up = 2 * next(&state) - 1, turn = 2 * VAL_PI * next(&state);
    const double flat = sqrt(3) * sqrt(1 - up * up);
    v = i % 2 ? val_vec(-(double)v.x, -(double)v.y, -(double)v.z)
              : val_vec(flat * cos(turn), flat * sin(turn), sqrt(3) * up);
    ball.velocity = v;
    ball.position = (talus_dvec3){((double)(cell % n) + corner[i % 4][0]) * a,
                                  ((double)(cell / n % n) + corner[i % 4][1]) * a,
                                  ((double)(cell / n / n) + corner[i % 4][2]) * a};
    val_add(run, &ball);
  }
  return g;
}

/* Mean of |v|, <v^4> / <v^2>^2, and the components along x, sorted, into x (count of them). */
static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void look(val_run *run, double *mean, double *ratio, double *x) {
  talus_view v;
  double one = 0, two = 0, four = 0;
  if (run->failed)
    return;
  if (talus_view_map(run->world, TALUS_FIELD_VELOCITY, TALUS_READ, &v) != TALUS_OK) {
    val_fail(run, talus_last_error());
    return;
  }
  for (size_t i = 0; i < v.rows; ++i) {
    const talus_real *u = (const talus_real *)v.data + 3 * i;
    const double square = (double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    one += sqrt(square), two += square, four += square * square;
    if (x)
      x[i] = (double)u[0];
  }
  *mean = one / (double)v.rows;
  *ratio = four * (double)v.rows / (two * two);
  if (x)
    qsort(x, v.rows, sizeof *x, by_value);
  if (talus_view_unmap(run->world, &v) != TALUS_OK)
    val_fail(run, talus_last_error());
}

/* Probability that a sample of a normal distribution is as far from it (Marsaglia, Tsang and Wang
 * 2003 have better; this series is good to 1e-3 for n > 100). */
static double kolmogorov(const double *sorted, size_t n) {
  double most = 0, sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const double f = 0.5 * erfc(-sorted[i] / sqrt(2));
    most = fmax(most, fmax(fabs(f - (double)i / (double)n), fabs(f - (double)(i + 1) / (double)n)));
  }
  const double root = sqrt((double)n), k = (root + 0.12 + 0.11 / root) * most;
  for (int j = 1; j < 100; ++j)
    sum += (j % 2 ? 2 : -2) * exp(-2.0 * j * j * k * k);
  return fmin(1, fmax(0, sum));
}

/* ---- cases ----------------------------------------------------------------------------------- */

void val_hard_gas(val_run *run) {
  static const double filled[4] = {0.01, 0.1, 0.3, 0.45};
  for (int k = 0; k < 4; ++k) {
    const double phi = filled[k], each = run->quick ? 4 : 100;
    char quantity[56];
    const hard_gas g = make_gas(run, run->quick ? 3 : 10, phi, TALUS_STEP_EVENT, TALUS_SHELL_SOFT,
                                2 / rate_of(phi));
    val_step(run, lround(0.2 * each / 2));
    const talus_report from = val_report(run);
    double mean = 0, ratio;
    const int looks = 10;
    for (int i = 0; i < looks; ++i) {
      double one = 0;
      val_step(run, lround(each / 2 / looks) > 0 ? lround(each / 2 / looks) : 1);
      look(run, &one, &ratio, NULL);
      mean += one / looks;
    }
    const talus_report to = val_report(run);
    const double time = to.time - from.time, n = (double)g.count;
    const double z = 1 + (to.virial - from.virial) / (2 * to.kinetic_energy * time);
    const double theory = (1 + phi + phi * phi - pow(phi, 3)) / pow(1 - phi, 3);
    const double rate = 2 * (double)(to.collisions - from.collisions) / n / time;
    const double path = 1 / (sqrt(2) * VAL_PI * (6 * phi / VAL_PI) * contact_value(phi));
    const double share = run->quick ? 0.5 : phi > 0.4 ? 0.02 : 0.01;
    snprintf(quantity, sizeof quantity, "PV / NkT, %g filled", phi);
    val_near(run, quantity, "", z, theory, share * theory);
    snprintf(quantity, sizeof quantity, "collisions / theory, %g filled", phi);
    val_near(run, quantity, "", rate / rate_of(phi), 1, share);
    snprintf(quantity, sizeof quantity, "mean free path / theory, %g filled", phi);
    val_near(run, quantity, "", mean / rate / path, 1, share);
  }
}

void val_hard_relax(val_run *run) {
  const double phi = 0.1;
  const int looks = run->quick ? 4 : 100;
  const hard_gas g =
      make_gas(run, run->quick ? 4 : 10, phi, TALUS_STEP_EVENT, TALUS_SHELL_SOFT, 2 / rate_of(phi));
  double mean, ratio = 1, sum = 0, *x = malloc(g.count * sizeof *x);
  if (!x) {
    val_fail(run, "out of memory");
    return;
  }
  look(run, &mean, &ratio, NULL);
  val_near(run, "<v^4> / <v^2>^2 at the start", "", ratio, 1, 1e-6);
  val_step(run, 5); /* ten collisions of each */
  look(run, &mean, &ratio, x);
  val_within(run, "Kolmogorov-Smirnov p after 10 collisions", "",
             run->failed ? 0 : kolmogorov(x, g.count), 0.01, 1);
  for (int i = 0; i < looks; ++i) {
    val_step(run, 2);
    look(run, &mean, &ratio, NULL);
    sum += ratio / looks;
  }
  val_near(run, "<v^4> / <v^2>^2 then, mean of 100 times", "", sum, 5.0 / 3.0,
           5.0 / 3.0 * (run->quick ? 0.1 : 0.01));
  free(x);
}

/* PV / NkT less 1 over some collisions of each. */
static double pressure(val_run *run, talus_step_kind step, talus_shell shell, double dt,
                       double each) {
  const double phi = 0.1;
  (void)make_gas(run, run->quick ? 3 : 6, phi, step, shell, dt);
  val_step(run, lround(10 / rate_of(phi) / dt));
  const talus_report from = val_report(run);
  val_step(run, lround(each / rate_of(phi) / dt));
  const talus_report to = val_report(run);
  return (to.virial - from.virial) / (2 * to.kinetic_energy * (to.time - from.time));
}

void val_hard_shells(val_run *run) {
  /* The longest step that is let pass misses 1e-3: u dt / s = 0.055, u = sqrt 6. */
  const double dt = 0.02, each = run->quick ? 5 : 400;
  const double exact = pressure(run, TALUS_STEP_EVENT, TALUS_SHELL_SOFT, 0.1, each);
  const double soft = pressure(run, TALUS_STEP_FIXED, TALUS_SHELL_SOFT, 0.1, each);
  const double hard = pressure(run, TALUS_STEP_FIXED, TALUS_SHELL_HARD, dt, each);
  const double fine = pressure(run, TALUS_STEP_FIXED, TALUS_SHELL_HARD, 0.5 * dt, each);
  val_near(run, "soft shell / events: Z - 1", "", soft / exact, 1, run->quick ? 1 : 0.01);
  val_within(run, "hard shell / events: Z - 1", "", hard / exact, 0.8, run->quick ? 2 : 1.2);
  val_near(run, "order in dt of the hard shell's error", "", log2((hard - exact) / (fine - exact)),
           1, run->quick ? 100 : 0.4);
}
