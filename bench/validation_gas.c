/* A gas of hard spheres in a periodic box, without gravity and with default settings. The largest
 * step is the one that `talus check` does not warn of: nobody moves more than a radius. */
#include "validation_cases.h"

#include <stdlib.h>

#define RADIUS 0.01
#define SIDE   8 /* spheres along each edge at the start, at most */

typedef struct gas {
  int count;
  double width, volume, mass; /* m, m3, kg of one */
  double dt;
  /* sums of run_gas() */
  double collisions, virial; /* contacts that carried an impulse; N m s */
  double heat, time;         /* J s: of the kinetic energy over time; s */
  double momentum;           /* largest sum, over the sum of |p| at the start */
  double energy_before, energy_after;
} gas;

static double uniform(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state) {
  return sqrt(-2 * log(uniform(state))) * cos(2 * VAL_PI * uniform(state));
}

/* side^3 spheres at rest as a whole, 1 m/s each way on average; the step is `share` of the
 * largest. */
static gas make_gas(val_run *run, int side, double filled, double e, double share) {
  gas g = {.count = side * side * side, .mass = 1000 * 4.18879020478639 * pow(RADIUS, 3)};
  const double apart = RADIUS * cbrt(4.18879020478639 / filled);
  static double v[SIDE * SIDE * SIDE][3];
  double mean[3] = {0}, fastest = 0;
  uint64_t state = 77 * run->seed;
  g.width = side * apart;
  g.volume = pow(g.width, 3);
  for (int i = 0; i < g.count; ++i)
    for (int k = 0; k < 3; ++k) {
      v[i][k] = normal(&state);
      mean[k] += v[i][k] / g.count;
    }
  for (int i = 0; i < g.count; ++i) {
    for (int k = 0; k < 3; ++k)
      v[i][k] -= mean[k];
    fastest = fmax(fastest, hypot(v[i][0], hypot(v[i][1], v[i][2])));
  }
  g.dt = share * RADIUS / fastest;
  talus_world_def def = val_default_def(run, g.dt);
  def.gravity = val_vec(0, 0, 0);
  def.domain.enabled = true;
  def.domain.box = (talus_box){{0, 0, 0}, {g.width, g.width, g.width}};
  def.domain.periodic[0] = def.domain.periodic[1] = def.domain.periodic[2] = true;
  val_world_from(run, &def);
  const talus_material m = val_material(run, 0, e);
  const talus_shape sphere = val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0);
  for (int i = 0; i < g.count; ++i) {
    const talus_body body =
        val_body(run, TALUS_FREE, sphere, m, apart * (i % side + 0.5),
                 apart * (i / side % side + 0.5), apart * (i / side / side + 0.5));
    val_set_velocity(run, body, v[i][0], v[i][1], v[i][2]);
  }
  return g;
}

/* Impacts of the last step: the virial of a pair that touches is diameter times impulse. */
static void look_at_impacts(val_run *run, gas *g) {
  size_t count;
  talus_contact *contacts = val_contacts(run, &count);
  for (size_t i = 0; i < count; ++i) {
    const talus_contact *c = &contacts[i];
    const double p = (double)(c->impulse.x * c->normal.x + c->impulse.y * c->normal.y +
                              c->impulse.z * c->normal.z);
    g->collisions += p > 1e-9 * g->mass; /* impacts of 1 nm/s do not count */
    g->virial += 2 * RADIUS * p;
  }
  free(contacts);
}

/* Steps until the number of collisions is reached, or the time is over. Sums begin at 0. */
static void run_gas(val_run *run, gas *g, double collisions, double seconds) {
  const double sum = g->count * g->mass; /* kg m/s: sum of |p| with 1 m/s each */
  g->collisions = g->virial = g->heat = g->time = g->momentum = 0;
  g->energy_before = g->energy_after = val_report(run).kinetic_energy;
  while (g->collisions < collisions && g->time < seconds && !run->failed) {
    val_step(run, 1);
    look_at_impacts(run, g);
    const talus_report now = val_report(run);
    g->energy_after = now.kinetic_energy;
    g->heat += now.kinetic_energy * g->dt;
    g->time += g->dt;
    for (int k = 0; k < 3; ++k)
      g->momentum = fmax(g->momentum, fabs(now.momentum[k]) / sum);
  }
}

/* Contacts per sphere and second in a gas of 1 m/s each way (Chapman and Cowling 1970, 5.2):
 * 4 n s^2 sqrt(pi) chi, with Carnahan and Starling's chi at contact. */
static double rate_of(double filled) {
  const double chi = (1 - 0.5 * filled) / pow(1 - filled, 3);
  return 12 * filled * chi / (sqrt(VAL_PI) * RADIUS);
}

/* ---- e = 1 ----------------------------------------------------------------------------------- */

static void check_energy(val_run *run, int side, double filled, double collisions) {
  for (int fine = 0; fine < 2; ++fine) {
    char quantity[56];
    gas g = make_gas(run, side, filled, 1, fine ? 0.1 : 1);
    /* Twice the time that theory predicts, so that a method that misses collisions ends as well. */
    run_gas(run, &g, collisions, 4 * collisions / g.count / rate_of(filled));
    const char *step = fine ? "a tenth of it" : "largest step";
    snprintf(quantity, sizeof quantity, "%s: energy after / before", step);
    val_near(run, quantity, "", g.energy_after / g.energy_before, 1, 1e-3);
    snprintf(quantity, sizeof quantity, "%s: momentum / sum of |p|", step);
    val_near(run, quantity, "", g.momentum, 0, VAL_BY_PRECISION(1e-12, 1e-4));
    snprintf(quantity, sizeof quantity, "%s: collisions / theory", step);
    val_near(run, quantity, "", g.collisions / (0.5 * g.count * rate_of(filled) * g.time), 1,
             collisions < 1e4 ? 0.08 : 0.05); /* 2,000: 2.2 %, and a lattice at first */
  }
}

void val_gas_short(val_run *run) { check_energy(run, 4, 0.1, 2000); }

void val_gas_energy(val_run *run) {
  check_energy(run, run->quick ? 4 : SIDE, 0.1, run->quick ? 500 : 1e5);
}

void val_gas_pressure(val_run *run) {
  for (int fine = 0; fine < 2; ++fine)
    for (int k = 0; k < 3; ++k) {
      const double filled = (const double[]){0.1, 0.2, 0.3}[k];
      const int side = run->quick ? 4 : SIDE;
      const double each =
          run->quick ? 10 : 100; /* collisions; during the first tenth the lattice melts */
      gas g = make_gas(run, side, filled, 1, fine ? 0.1 : 1);
      const double lasts = each / rate_of(filled);
      run_gas(run, &g, INFINITY, 0.1 * lasts);
      run_gas(run, &g, INFINITY, lasts);
      /* PV / NkT = 1 + virial / (2 K t): K = 3/2 N k T */
      const double got = 1 + g.virial / (2 * g.heat);
      const double theory = (1 + filled + filled * filled - pow(filled, 3)) / pow(1 - filled, 3);
      char quantity[56];
      snprintf(quantity, sizeof quantity, "PV / NkT, %g filled, %s", filled,
               fine ? "a tenth of it" : "largest step");
      val_near(run, quantity, "", got, theory, 0.02 * theory);
    }
}

/* ---- e = 0.9 --------------------------------------------------------------------------------- */

/* A collision takes (1 - e^2) k T on average, so that k T = k T0 / (1 + t/tau)^2 with
 * tau = 6 / ((1 - e^2) rate): Haff 1983. */
void val_gas_haff(val_run *run) {
  enum { ROWS = 28 };
  const double filled = 0.1, e = 0.9, tau = 6 / ((1 - e * e) * rate_of(filled));
  double t[ROWS], root[ROWS], theory[ROWS], slope;
  gas g = make_gas(run, run->quick ? 4 : SIDE, filled, e, 1);
  const double first = val_report(run).kinetic_energy;
  const double scale =
      sqrt(first / (1.5 * g.count * g.mass)); /* m/s: RMS speed along an axis, about 1 */
  double now = 0;
  for (int i = 0; i < ROWS; ++i) {
    t[i] = now * scale / tau;
    theory[i] = 1 + t[i];
    root[i] = sqrt(first / val_report(run).kinetic_energy);
    run_gas(run, &g, INFINITY, (run->quick ? 0.05 : 1.0 / 3) * tau);
    now += g.time;
  }
  val_line(t, root, ROWS, &slope, NULL);
  val_near(run, "e = 0.9: slope of sqrt(T0/T) over 1/tau", "", slope, 1, 0.05);
  val_near(run, "e = 0.9: sqrt(T0/T) after 9 tau", "", root[ROWS - 1], theory[ROWS - 1],
           0.05 * theory[ROWS - 1]);
  const char *title = "A gas cools, e = 0.9";
  val_curve(run, "gas-haff", title, "t / tau", "sqrt(T0 / T)", "Haff", t, theory, ROWS);
  val_curve(run, "gas-haff", title, "", "", val_model_name(run->model), t, root, ROWS);
}
