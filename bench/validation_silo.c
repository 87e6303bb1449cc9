/* Silos: the load on the floor, and the flow of grains through a hole. */
#include <stdlib.h>

#include "validation_grains.h"

/* ---- Janssen --------------------------------------------------------------------------------- */

#define TUBE 0.08 /* m, side of the square silo: eight grains */

/* Mass that the floor feels under `count` grains, kg, once walls that creep upwards have mobilised
 * their friction everywhere (Vanel and Clement 1999 let the floor creep down instead). */
static double apparent_mass(val_run *run, double count, double mu, double *mass) {
  const double high = count * GRAIN_VOLUME / (GRAINS_LOOSELY * TUBE * TUBE);
  const double settle = val_seconds(run, 0.6 + 0.6 * sqrt(high)), creep = val_seconds(run, 0.8);
  const talus_world_def def = val_crowd_def(run, val_dt(run, 1e-3), 60);
  val_world_from(run, &def);
  talus_body_def grain = val_grain(run, mu);
  grain.velocity = val_vec(0, 0, -1);
  const talus_body floor = val_floor(run, grain.material);
  talus_shape_def shape = talus_shape_def_default();
  talus_body_def walls = talus_body_def_default();
  shape.kind = TALUS_CONTAINER;
  shape.size[0] = shape.size[1] = TUBE, shape.size[2] = 6 + 2 * high;
  shape.open = TALUS_SIDE_TOP | TALUS_SIDE_BOTTOM;
  walls.kind = TALUS_KINEMATIC;
  walls.material = grain.material;
  walls.motion.velocity = val_vec(0, 0, 0.01);
  walls.motion.from_time = settle;
  if (!run->failed && talus_world_add_shape(run->world, &shape, &walls.shape) != TALUS_OK)
    val_fail(run, talus_last_error());
  val_add(run, &walls);
  val_fill(run, &grain, count,
           (talus_box){{-0.5 * TUBE, -0.5 * TUBE, 0}, {0.5 * TUBE, 0.5 * TUBE, high}});
  const talus_probe_def on_floor = {
      .name = "floor", .on_body = true, .body = floor, .record = TALUS_RECORD_FORCE};
  uint32_t probe = 0;
  talus_probe_values values = {0};
  if (!run->failed && talus_world_add_probe(run->world, &on_floor, &probe) != TALUS_OK)
    val_fail(run, talus_last_error());
  val_step(run, val_steps(run, settle + 0.6 * creep));
  if (!run->failed && talus_probe_read(run->world, probe, &values) != TALUS_OK)
    val_fail(run, talus_last_error());
  val_step(run, val_steps(run, 0.4 * creep));
  if (!run->failed && talus_probe_read(run->world, probe, &values) != TALUS_OK)
    val_fail(run, talus_last_error());
  val_grains grains = val_grains_read(run, 2);
  *mass = 0;
  for (size_t i = 0; i < grains.count; ++i)
    *mass += GRAIN_DENSITY * GRAIN_VOLUME * pow(grains.radius[i] / GRAIN_RADIUS, 3);
  val_grains_free(&grains);
  return -values.force[2] / VAL_G;
}

/* Sum of squares between Janssen's law with that saturation mass and what was measured. */
static double janssen_misfit(const double *mass, const double *felt, int n, double saturation) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += pow(saturation * (1 - exp(-mass[i] / saturation)) - felt[i], 2);
  return sum;
}

static double fit_janssen(const double *mass, const double *felt, int n) {
  double best = NAN, least = INFINITY;
  for (double s = 0.02 * mass[n - 1]; s < 4 * mass[n - 1]; s *= 1.005) {
    const double misfit = janssen_misfit(mass, felt, n, s);
    if (misfit < least)
      least = misfit, best = s;
  }
  return best;
}

/* The plot begins with an empty silo. The line of a liquid, all of whose weight is on the floor,
 * soon leaves the plot. */
static void draw_janssen(val_run *run, const double *mass, const double *felt, int n,
                         double saturation) {
  enum { FILLS_MOST = 16 };
  double x[FILLS_MOST + 1] = {0}, y[FILLS_MOST + 1] = {0}, law[FILLS_MOST + 1] = {0},
                        water[FILLS_MOST + 1] = {0};
  const char *title = "Janssen: what the floor of a silo feels";
  for (int i = 0; i < n && i < FILLS_MOST; ++i) {
    x[i + 1] = mass[i], y[i + 1] = felt[i];
    law[i + 1] = saturation * (1 - exp(-mass[i] / saturation));
    water[i + 1] = mass[i] < 1.5 * saturation ? mass[i] : NAN;
  }
  const size_t rows = (size_t)n + 1;
  val_curve(run, "janssen", title, "mass in the silo [kg]", "mass felt [kg]", "Janssen, fitted", x,
            law, rows);
  val_curve(run, "janssen", title, "", "", val_model_name(run->model), x, y, rows);
  val_curve(run, "janssen", title, "", "", "a liquid", x, water, rows);
}

void val_janssen(val_run *run) {
  enum { FILLS = 5 };
  const double mu = 0.5, share[FILLS] = {0.125, 0.25, 0.5, 0.75, 1};
  double mass[FILLS], felt[FILLS], law[FILLS];
  for (int i = 0; i < FILLS; ++i)
    felt[i] = apparent_mass(run, 4700 * share[i], mu, &mass[i]);
  const double saturation = fit_janssen(mass, felt, FILLS);
  for (int i = 0; i < FILLS; ++i)
    law[i] = saturation * (1 - exp(-mass[i] / saturation));
  /* saturation = bulk density * side^3 / (4 mu K) */
  const double bulk = 0.58 * GRAIN_DENSITY;
  const double k = bulk * TUBE * TUBE * TUBE / (4 * mu * saturation);
  /* active pressure 0.47 ... 1, times what grains slip at, 0.38, over mu */
  val_within(run, "ratio of stresses K of the fit", "", k, 0.36, 0.76);
  val_near(run, "rms misfit / saturation", "",
           sqrt(janssen_misfit(mass, felt, FILLS, saturation) / FILLS) / saturation, 0, 0.05);
  /* Twice as many grains above a silo that is full to eight times its width change nothing. */
  val_near(run, "floor: full / half full", "", felt[4] / felt[2], law[4] / law[2], 0.08);
  /* the saturation of those K, over what is in the silo */
  const double at_one = bulk * TUBE * TUBE * TUBE / (4 * mu * mass[4]);
  val_within(run, "floor / weight when full", "", felt[4] / mass[4], at_one / 0.76, at_one / 0.36);
  draw_janssen(run, mass, felt, FILLS, saturation);
}

/* ---- Beverloo -------------------------------------------------------------------------------- */

#define PARTS  6   /* bodies before the grains: walls, four boards, the plug */
#define ROUGH  0.5 /* friction */
#define SMOOTH 0.2

/* A square silo with a square hole in its floor, closed by a plug. */
static talus_body make_silo(val_run *run, double dt, double hole, double mu,
                            talus_body_def *grain) {
  const talus_world_def def = val_crowd_def(run, dt, 30);
  const double board = 0.5 * (SILO - hole), at = 0.5 * (SILO + hole) * 0.5;
  val_world_from(run, &def);
  *grain = val_grain(run, mu);
  const talus_material m = grain->material;
  talus_shape_def shape = talus_shape_def_default();
  talus_body_def walls = talus_body_def_default();
  shape.kind = TALUS_CONTAINER;
  shape.size[0] = shape.size[1] = SILO, shape.size[2] = 2;
  shape.open = TALUS_SIDE_TOP | TALUS_SIDE_BOTTOM;
  walls.kind = TALUS_FIXED;
  walls.material = m;
  walls.position.z = 1;
  if (!run->failed && talus_world_add_shape(run->world, &shape, &walls.shape) != TALUS_OK)
    val_fail(run, talus_last_error());
  val_add(run, &walls);
  val_board(run, m, board, SILO, 0.01, -at, 0, -0.005);
  val_board(run, m, board, SILO, 0.01, at, 0, -0.005);
  val_board(run, m, hole, board, 0.01, 0, -at, -0.005);
  val_board(run, m, hole, board, 0.01, 0, at, -0.005);
  return val_board(run, m, hole, hole, 0.01, 0, 0, -0.005);
}

/* Mass flow, kg/s, over an interval of the run as it goes on. */
static double flow(val_run *run, double seconds) {
  const uint64_t before = val_report(run).removed;
  val_step(run, val_steps(run, seconds));
  const uint64_t after = val_report(run).removed;
  const double mean_cube = 1.01; /* of a scale uniform in 0.9 ... 1.1 */
  return (double)(after - before) * mean_cube * GRAIN_VOLUME * GRAIN_DENSITY / seconds;
}

static val_grains settle_silo(val_run *run, double dt, double hole, double mu, double count) {
  const double high = count * GRAIN_VOLUME / (GRAINS_LOOSELY * SILO * SILO);
  talus_body_def grain;
  make_silo(run, dt, hole, mu, &grain);
  val_fill(run, &grain, count,
           (talus_box){{-0.5 * SILO, -0.5 * SILO, 0}, {0.5 * SILO, 0.5 * SILO, high}});
  val_step(run, val_steps(run, val_seconds(run, 1)));
  return val_grains_read(run, PARTS);
}

static void unplug(val_run *run, double dt, double hole, double mu, const val_grains *settled) {
  talus_body_def grain;
  const talus_body plug = make_silo(run, dt, hole, mu, &grain);
  val_grains_add(run, settled, &grain);
  val_sink_below(run, SILO_SINK);
  val_remove(run, plug);
}

#define STEADY 0.8 /* s, that a flow is measured for */

/* The plug goes; flow once it is steady. */
static double open_silo(val_run *run, double dt, double hole, double mu,
                        const val_grains *settled) {
  unplug(run, dt, hole, mu, settled);
  val_step(run, val_steps(run, val_seconds(run, 0.3)));
  return flow(run, val_seconds(run, STEADY));
}

val_grains val_silo_settle(val_run *run, double dt) {
  return settle_silo(run, dt, SILO_HOLE, ROUGH, 3700);
}

void val_silo_open(val_run *run, double dt, const val_grains *settled) {
  unplug(run, dt, SILO_HOLE, ROUGH, settled);
}

double val_silo_flow(val_run *run, double dt, const val_grains *settled) {
  return open_silo(run, dt, SILO_HOLE, ROUGH, settled);
}

/* Density of grains at rest in the silo, kg/m3, as a balance would have it: with the looser layers
 * along the walls, without the floor and the surface. */
static double bulk_density(const val_grains *settled) {
  double mean = 0, mass = 0;
  for (size_t i = 0; i < settled->count; ++i)
    mean += settled->x[3 * i + 2] / (double)settled->count;
  const double low = 0.2 * mean, high = 1.7 * mean; /* of 0 ... 2 */
  for (size_t i = 0; i < settled->count; ++i)
    if (settled->x[3 * i + 2] > low && settled->x[3 * i + 2] < high)
      mass += GRAIN_DENSITY * GRAIN_VOLUME * pow(settled->radius[i] / GRAIN_RADIUS, 3);
  return mass / (SILO * SILO * (high - low));
}

#define K 1.4 /* Beverloo, Leniger and van de Velde 1961 */

static double beverloo(double bulk, double width) {
  return bulk * sqrt(VAL_G) * pow(width - K * GRAIN, 2.5);
}

/* C of 0.55 to 0.65 for a round hole is 4 / pi of it for the area of a square one; and k may be
 * different by 0.1. */
static void check_factor(val_run *run, const char *quantity, double factor) {
  val_within(run, quantity, "", factor, 0.95 * 0.55 * 4 / VAL_PI, 1.05 * 0.65 * 4 / VAL_PI);
}

void val_beverloo(val_run *run) {
  enum { HOLES = 3 };
  const double width[HOLES] = {5 * GRAIN, 6.5 * GRAIN, 8.5 * GRAIN};
  const double dt = val_dt(run, 1e-3);
  double rate[HOLES], x[HOLES], y[HOLES], law[HOLES], factor = 0, late = NAN, early = NAN;
  val_grains settled = settle_silo(run, dt, width[0], ROUGH, 7400);
  const double bulk = bulk_density(&settled);
  for (int i = 0; i < HOLES; ++i) {
    rate[i] = open_silo(run, dt, width[i], ROUGH, &settled);
    if (i == 1) { /* it is half empty at the end */
      early = rate[i];
      val_step(run, val_steps(run, val_seconds(run, 0.5)));
      late = flow(run, val_seconds(run, STEADY));
    }
    x[i] = log(width[i] - K * GRAIN);
    y[i] = log(rate[i]);
    factor += rate[i] / beverloo(bulk, width[i]) / HOLES;
    law[i] = 0.58 * 4 / VAL_PI * beverloo(bulk, width[i]);
  }
  val_grains_free(&settled);
  settled = settle_silo(run, dt, width[1], SMOOTH, 7400);
  const double smooth = open_silo(run, dt, width[1], SMOOTH, &settled);
  const double smooth_factor = smooth / beverloo(bulk_density(&settled), width[1]);
  val_grains_free(&settled);
  double exponent, offset;
  val_line(x, y, HOLES, &exponent, &offset);
  val_near(run, "exponent of (hole - 1.4 d)", "", exponent, 2.5, 0.17);
  val_near(run, "flow half empty / full", "", late / early, 1, 0.08);
  check_factor(run, "factor for a square hole, mu = 0.2", smooth_factor);
  check_factor(run, "factor for a square hole, mu = 0.5", factor);
  if (factor <
      0.95 * 0.55 * 4 / VAL_PI) /* the known reason explains only a flow that is too small */
    val_known(run, "friction, of which C does not know: at 0.2 the same silo gives what the law "
                   "says. Steps of 0.25 to 1 ms, a floor 0.2 or 1 grain thick and YADE "
                   "(`peers-silo`) make less than 5 % of difference, the noise of one rate, and "
                   "neither is the reason.");
  val_within(run, "flow at mu = 0.2 / at 0.5", "", smooth / rate[1], 1, 1.5);
  const char *title = "Beverloo: discharge through a square hole";
  val_curve(run, "beverloo", title, "width of the hole [m]", "flow [kg/s]", "Beverloo 1961", width,
            law, HOLES);
  val_curve(run, "beverloo", title, "", "", val_model_name(run->model), width, rate, HOLES);
}
