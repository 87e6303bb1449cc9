/* Impacts: how high, how fast, with how much spin, and in which order. */
#include "validation_cases.h"

#define RADIUS 0.1

/* A ball above a floor, its lowest point `drop` high. */
static talus_body drop_ball(val_run *run, double dt, double drop, double friction,
                            double restitution) {
  val_world(run, dt);
  const talus_material m = val_material(run, friction, restitution);
  val_floor(run, m);
  return val_body(run, TALUS_FREE, val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0), m, 0, 0,
                  RADIUS + drop);
}

/* Steps until the ball is at the top of its next bounce; its height there, NAN after `patience`. */
static double next_top(val_run *run, talus_body ball, double patience) {
  bool rises = false;
  double top = 0;
  for (long n = val_steps(run, patience); n > 0 && !run->failed; --n) {
    val_step(run, 1);
    const talus_body_info now = val_info(run, ball);
    rises = rises || (double)now.velocity.z > 0;
    if (rises)
      top = fmax(top, now.position.z - RADIUS);
    if (rises && (double)now.velocity.z <= 0)
      return top;
  }
  return NAN;
}

#define STIFF 1e8 /* N/m: springs so stiff that a bounce is short */

void val_bounce(val_run *run) {
  val_springs(run, STIFF);
  const double drop = 1, dt = val_dt(run, 1e-4), speed = sqrt(2 * VAL_G * drop);
  for (int k = 0; k < 4; ++k) {
    const double e = (const double[]){1, 0.9, 0.7, 0.4}[k];
    char quantity[56];
    const talus_body ball = drop_ball(run, dt, drop, 0.3, e);
    snprintf(quantity, sizeof quantity, "height of the first bounce, e = %g", e);
    /* A bounce begins where the step finds the ball, up to dt v from the floor. */
    val_near(run, quantity, "m", next_top(run, ball, 3), e * e * drop,
             2 * dt * speed + val_bounce_error(run, e) * e * e * drop);
  }
}

double val_train_height(double t, double drop, double e) {
  double rest = t - sqrt(2 * drop / VAL_G), speed = e * sqrt(2 * VAL_G * drop);
  if (rest < 0)
    return drop - 0.5 * VAL_G * t * t;
  while (rest > 2 * speed / VAL_G) {
    rest -= 2 * speed / VAL_G;
    speed *= e;
    if (speed < 1e-3)
      return 0;
  }
  return speed * rest - 0.5 * VAL_G * rest * rest;
}

void val_bounce_train(val_run *run) {
  enum { ROWS = 301, BOUNCES = 5 };
  val_springs(run, 0.1 * STIFF);
  const double drop = 1, e = 0.8, dt = val_dt(run, 1e-4), every = 0.01;
  const double end = (1 + e) / (1 - e) * sqrt(2 * drop / VAL_G);
  double t[ROWS], exact[ROWS], got[ROWS];
  talus_body ball = drop_ball(run, dt, drop, 0.3, e);
  for (int i = 0; i < ROWS; ++i) {
    t[i] = i * every;
    exact[i] = val_train_height(t[i], drop, e);
    got[i] = val_info(run, ball).position.z - RADIUS;
    val_step(run, val_steps(run, every));
  }
  val_curve(run, "bounce-train", "A ball bounces, e = 0.8", "time [s]", "height [m]", "exact", t,
            exact, ROWS);
  val_curve(run, "bounce-train", "", "", "", val_model_name(run->model), t, got, ROWS);
  ball = drop_ball(run, dt, drop, 0.3, e);
  for (int k = 1; k <= BOUNCES; ++k) {
    char quantity[56];
    const double top = drop * pow(e, 2 * k);
    snprintf(quantity, sizeof quantity, "height of bounce %d", k);
    val_near(run, quantity, "m", next_top(run, ball, 3), top,
             2 * k * dt * sqrt(2 * VAL_G * drop) + k * val_bounce_error(run, e) * top);
  }
  /* The last bounces are lower than a step sees: what is compared is when it has last been higher
   * than 1e-4 of the drop. Each bounce may come a step late. */
  double stopped = NAN, expected = end;
  ball = drop_ball(run, dt, drop, 0.3, e);
  for (long n = 0; n < val_steps(run, 1.2 * end) && !run->failed; ++n) {
    if (val_info(run, ball).position.z > RADIUS + 1e-4 * drop)
      stopped = (double)n * dt;
    if (val_train_height((double)n * dt, drop, e) > 1e-4 * drop)
      expected = (double)n * dt;
    val_step(run, 1);
  }
  val_near(run, "last time higher than 0.1 mm", "s", stopped, expected,
           40 * dt + 3 * val_bounce_error(run, e) * end);
}

/* A ball without spin hits a floor at speeds vn and vt; how it leaves. */
static talus_body_info oblique(val_run *run, double vn, double vt, double mu, double e) {
  talus_world_def def = val_def(run, val_dt(run, 1e-4));
  def.gravity = val_vec(0, 0, 0);
  val_world_from(run, &def);
  const talus_material m = val_material(run, mu, e);
  val_floor(run, m);
  const talus_body ball = val_body(run, TALUS_FREE, val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0),
                                   m, 0, 0, RADIUS + 0.01);
  val_set_velocity(run, ball, vt, 0, -vn);
  val_step(run, val_steps(run, 0.05));
  return val_info(run, ball);
}

void val_oblique(val_run *run) {
  enum { ANGLES = 13 };
  val_springs(run, STIFF);
  const double vn = 1, mu = 0.2, e = 0.7, impulse = mu * (1 + e) * vn;
  const double exact = VAL_BY_PRECISION(1e-9, 1e-5) + val_bounce_error(run, e) * vn;
  const double sliding = 1.5 * 3.5 * impulse, sticking = 0.5 * 3.5 * impulse;
  /* The contact acts midway across the gap that is left when the step finds it, up to dt vn wide:
   * its arm is that much longer than R. */
  const double arm = run->model == VAL_PENALTY ? 0 : 0.5 * val_dt(run, 1e-4) * vn / RADIUS;
  talus_body_info now = oblique(run, vn, sliding, mu, e);
  val_near(run, "slides: normal speed e vn", "m/s", (double)now.velocity.z, e * vn, exact);
  val_near(run, "slides: vt - mu (1+e) vn", "m/s", (double)now.velocity.x, sliding - impulse,
           exact);
  val_near(run, "slides: spin 5 mu (1+e) vn / 2R", "rad/s", (double)now.spin.y,
           2.5 * impulse / RADIUS, (2.5 * exact + 2.6 * impulse * arm) / RADIUS);
  if (run->model != VAL_PENALTY) {
    /* It rolls away, because no tangential spring returns energy. */
    now = oblique(run, vn, sticking, mu, e);
    val_near(run, "sticks: 5/7 vt", "m/s", (double)now.velocity.x, 5.0 / 7 * sticking,
             exact + arm * sticking);
    val_near(run, "sticks: rolls, spin 5/7 vt / R", "rad/s", (double)now.spin.y,
             5.0 / 7 * sticking / RADIUS, (exact + arm * sticking) / RADIUS);
  }
  double x[ANGLES], y[ANGLES], theory[ANGLES];
  for (int i = 0; i < ANGLES; ++i) {
    x[i] = 0.5 * i;
    const double vt = x[i] * impulse;
    y[i] = (double)oblique(run, vn, vt, mu, e).velocity.x / impulse;
    theory[i] = x[i] >= 3.5 ? x[i] - 1 : 5.0 / 7 * x[i];
  }
  const char *title = "Oblique impact of a sphere, mu = 0.2, e = 0.7";
  val_curve(run, "oblique-impact", title, "vt before / (mu (1+e) vn)", "vt after / (mu (1+e) vn)",
            "rigid-body theory", x, theory, ANGLES);
  val_curve(run, "oblique-impact", title, "", "", val_model_name(run->model), x, y, ANGLES);
}

void val_cradle(val_run *run) {
  enum { BALLS = 5 };
  val_springs(run, STIFF);
  const double gap = 0.01, speed = 1;
  talus_world_def def = val_def(run, val_dt(run, 1e-4));
  def.gravity = val_vec(0, 0, 0);
  val_world_from(run, &def);
  const talus_material m = val_material(run, 0, 1);
  const talus_shape sphere = val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0);
  talus_body ball[BALLS];
  for (int i = 0; i < BALLS; ++i)
    ball[i] = val_body(run, TALUS_FREE, sphere, m, (2 * RADIUS + gap) * i, 0, 0);
  val_set_velocity(run, ball[0], speed, 0, 0);
  const double energy = val_report(run).kinetic_energy;
  val_step(run, val_steps(run, 0.1));
  const double exact = VAL_BY_PRECISION(1e-9, 1e-5) + val_bounce_error(run, 1);
  double left = 0;
  for (int i = 0; i < BALLS - 1; ++i)
    left = fmax(left, fabs((double)val_info(run, ball[i]).velocity.x));
  val_near(run, "speed of the last of 5 balls", "m/s",
           (double)val_info(run, ball[BALLS - 1]).velocity.x, speed, exact);
  val_near(run, "largest speed of the others", "m/s", left, 0, exact);
  val_near(run, "energy after / before", "", val_report(run).kinetic_energy / energy, 1, 2 * exact);
}
