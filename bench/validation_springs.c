/* Springs: their closed forms, and convergence to complementarity. */
#include "validation_grains.h"

#define RADIUS  0.1
#define POISSON 0.25

typedef struct impact {
  double deepest, lasts, after; /* m, s, m/s */
} impact;

/* Two balls without gravity meet at relative speed v; steps until they part. */
static impact collide(val_run *run, talus_spring_law law, double dt, double v, double young,
                      double stiffness, double restitution) {
  talus_world_def def = val_def(run, dt);
  talus_material_def kind = talus_material_def_default();
  talus_material material = {0};
  def.solve.law = law;
  def.gravity = val_vec(0, 0, 0);
  val_world_from(run, &def);
  kind.density = 1000, kind.friction = 0, kind.restitution = restitution;
  kind.young = young, kind.poisson = POISSON, kind.stiffness = stiffness;
  if (!run->failed && talus_world_add_material(run->world, &kind, &material) != TALUS_OK)
    val_fail(run, talus_last_error());
  const talus_shape sphere = val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0);
  const talus_body a = val_body(run, TALUS_FREE, sphere, material, -RADIUS - 1e-9, 0, 0);
  const talus_body b = val_body(run, TALUS_FREE, sphere, material, RADIUS + 1e-9, 0, 0);
  val_set_velocity(run, a, 0.5 * v, 0, 0);
  val_set_velocity(run, b, -0.5 * v, 0, 0);
  impact got = {0};
  double began = NAN;
  for (long n = 1; n < 100000 && !run->failed; ++n) {
    val_step(run, 1);
    const talus_body_info x = val_info(run, a), y = val_info(run, b);
    const double overlap = 2 * RADIUS - (y.position.x - x.position.x);
    got.after = (double)(y.velocity.x - x.velocity.x);
    got.deepest = fmax(got.deepest, overlap);
    if (isnan(began) && overlap > 0)
      began = (double)n * dt;
    if (!isnan(began) && overlap <= 0) {
      got.lasts = (double)n * dt - began;
      return got;
    }
  }
  val_fail(run, "the two balls never parted");
  return got;
}

static double reduced_mass(void) { return 0.5 * 1000 * 4.18879020478639 * pow(RADIUS, 3); }

void val_hertz(val_run *run) {
  const double young = 1e7, m = reduced_mass(), r = 0.5 * RADIUS;
  const double e_star = 0.5 * young / (1 - POISSON * POISSON);
  for (int k = 0; k < 2; ++k) {
    const double v = k == 0 ? 0.1 : 1;
    const double deep = pow(15 * m * v * v / (16 * e_star * sqrt(r)), 0.4);
    /* 2.94 deep / v with three digits of its integral: 2.9432 (15/16)^(2/5) = 2.868. */
    const double lasts = 2.868 * pow(m * m / (r * e_star * e_star * v), 0.2);
    const impact got = collide(run, TALUS_HERTZ, lasts / 1000, v, young, 0, 1);
    char quantity[56];
    snprintf(quantity, sizeof quantity, "largest overlap at %g m/s", v);
    val_near(run, quantity, "m", got.deepest, deep, VAL_BY_PRECISION(1e-4, 1e-3) * deep);
    snprintf(quantity, sizeof quantity, "duration at %g m/s", v);
    val_near(run, quantity, "s", got.lasts, lasts, 3e-3 * lasts); /* a step is 1e-3 of it */
    snprintf(quantity, sizeof quantity, "restitution at %g m/s", v);
    val_near(run, quantity, "", got.after / v, 1, VAL_BY_PRECISION(1e-5, 1e-3));
  }
}

void val_dashpot(val_run *run) {
  const double k = 1e6, lasts = VAL_PI / sqrt(k / reduced_mass());
  for (int i = 0; i < 4; ++i) {
    const double e = (const double[]){0.9, 0.7, 0.5, 0.2}[i];
    char quantity[56];
    snprintf(quantity, sizeof quantity, "linear, e = %g asked for", e);
    val_near(run, quantity, "", collide(run, TALUS_LINEAR, lasts / 1000, 1, 1e7, k, e).after, e,
             2e-3);
  }
  for (int i = 0; i < 2; ++i) {
    const double v = (const double[]){0.1, 2}[i];
    char quantity[56];
    snprintf(quantity, sizeof quantity, "Hertz, e = 0.6 asked for at %g m/s", v);
    val_near(run, quantity, "", collide(run, TALUS_HERTZ, 5e-6, v, 1e7, 0, 0.6).after / v, 0.6,
             5e-3);
  }
}

/* ---- rising stiffness ------------------------------------------------------------------------ */

/* Height of a ball dropped from 0.5 m, e = 0.5, 0.6 s later: on its way up or down. */
static double bounced(val_run *run, double dt) {
  val_world(run, dt);
  const talus_material m = val_material(run, 0.3, 0.5);
  val_floor(run, m);
  const talus_body ball = val_body(run, TALUS_FREE, val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0),
                                   m, 0, 0, RADIUS + 0.5);
  val_step(run, val_steps(run, 0.6));
  return val_info(run, ball).position.z;
}

/* Distance that a sticking box moves down a slope in half a second. */
static double stuck(val_run *run, double dt) {
  talus_world_def def = val_def(run, dt);
  def.gravity = val_vec(VAL_G * sin(0.3), 0, -VAL_G * cos(0.3));
  val_world_from(run, &def);
  const talus_material m = val_material(run, 0.5, 0);
  val_floor(run, m);
  const talus_body box =
      val_body(run, TALUS_FREE, val_shape(run, TALUS_BOX, 0.4, 0.4, 0.2, 0), m, 0, 0, 0.1);
  val_step(run, val_steps(run, 0.5));
  return val_info(run, box).position.x;
}

/* Height of the uppermost of three boxes after half a second. */
static double stacked(val_run *run, double dt) {
  val_world(run, dt);
  const talus_material m = val_material(run, 0.5, 0);
  val_floor(run, m);
  const talus_shape cube = val_shape(run, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  talus_body top = {0};
  for (int i = 0; i < 3; ++i)
    top = val_body(run, TALUS_FREE, cube, m, 0, 0, 0.1 + 0.2 * i);
  val_step(run, val_steps(run, 0.5));
  return val_info(run, top).position.z;
}

void val_agreement(val_run *run) {
  enum { STIFFNESSES = 4, THINGS = 3 };
  static const struct {
    const char *name;
    double (*measure)(val_run *run, double dt);
    double most; /* m, at the largest stiffness */
    double fall; /* of the difference for 100 times the stiffness, at least */
  } things[THINGS] = {
      {"bounce", bounced, 2e-3, 5}, {"slope", stuck, 8e-5, 50}, {"stack", stacked, 8e-5, 50}};
  double stiffness[STIFFNESSES], log_k[STIFFNESSES], off[THINGS][STIFFNESSES];
  for (int t = 0; t < THINGS; ++t) {
    run->model = VAL_CCP;
    val_springs(run, 0);
    const double rigid = things[t].measure(run, 5e-5);
    run->model = VAL_PENALTY;
    for (int i = 0; i < STIFFNESSES; ++i) {
      stiffness[i] = 1e4 * pow(10, i), log_k[i] = log10(stiffness[i]);
      val_springs(run, stiffness[i]);
      off[t][i] = fabs(things[t].measure(run, val_dt(run, 1e-3)) - rigid);
    }
    char quantity[56];
    snprintf(quantity, sizeof quantity, "%s: off at k = 1e7 N/m", things[t].name);
    val_near(run, quantity, "m", off[t][STIFFNESSES - 1], 0, things[t].most);
    snprintf(quantity, sizeof quantity, "%s: falls by, for 100 times k", things[t].name);
    val_within(run, quantity, "", off[t][0] / off[t][2], things[t].fall, 1e6);
  }
  for (int t = 0; t < THINGS; ++t) {
    double y[STIFFNESSES];
    for (int i = 0; i < STIFFNESSES; ++i)
      y[i] = log10(fmax(off[t][i], 1e-12));
    val_curve(run, "agreement", "Springs come near complementarity", "log10 of the stiffness [N/m]",
              "log10 of the difference [m]", things[t].name, log_k, y, STIFFNESSES);
  }
}

void val_agreement_silo(val_run *run) {
  enum { STIFFNESSES = 3 };
  const double dt[STIFFNESSES] = {2e-4, 1e-4, 5e-5};
  double ratio[STIFFNESSES], one[STIFFNESSES] = {1, 1, 1}, log_k[STIFFNESSES];
  run->model = VAL_CCP;
  val_grains settled = val_silo_settle(run, 1e-3);
  const double rigid = val_silo_flow(run, 1e-3, &settled);
  run->model = VAL_PENALTY;
  val_springs(run, 0);
  for (int i = 0; i < STIFFNESSES; ++i) {
    char quantity[56];
    ratio[i] = val_silo_flow(run, dt[i], &settled) / rigid;
    const double k = val_crowd_stiffness(run);
    log_k[i] = log10(k);
    snprintf(quantity, sizeof quantity, "flow / that of ccp, k about %.0f N/m", k);
    /* 900 grains are counted: 3 % of noise each */
    val_near(run, quantity, "", ratio[i], 1, i == STIFFNESSES - 1 ? 0.09 : 0.18);
  }
  val_grains_free(&settled);
  const char *title = "Flow out of a silo: springs over complementarity";
  val_curve(run, "agreement-silo", title, "log10 of the stiffness [N/m]", "flow / that of ccp",
            "ccp", log_k, one, STIFFNESSES);
  val_curve(run, "agreement-silo", title, "", "", "penalty", log_k, ratio, STIFFNESSES);
}
