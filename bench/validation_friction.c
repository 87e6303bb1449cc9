/* Sticking, sliding and rolling on a plane. */
#include "validation_cases.h"

#define RADIUS 0.1

/* Gravity leans by theta instead of the floor, so that the slope is the plane z = 0 and runs down
 * along x. */
static talus_body on_slope(val_run *run, double theta, double mu, bool is_ball) {
  talus_world_def def = val_def(run, val_dt(run, 1e-3));
  def.gravity = val_vec(VAL_G * sin(theta), 0, -VAL_G * cos(theta));
  val_world_from(run, &def);
  const talus_material m = val_material(run, mu, 0);
  val_floor(run, m);
  return is_ball
             ? val_body(run, TALUS_FREE, val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0), m, 0, 0,
                        RADIUS)
             : val_body(run, TALUS_FREE, val_shape(run, TALUS_BOX, 0.4, 0.4, 0.2, 0), m, 0, 0, 0.1);
}

/* Acceleration down the slope, over a second from rest. */
static double acceleration(val_run *run, talus_body body) {
  val_step(run, val_steps(run, 1));
  return (double)val_info(run, body).velocity.x;
}

void val_incline(val_run *run) {
  enum { POINTS = 11 };
  const double theta = 0.4, critical = 2.0 / 7 * tan(theta);
  const double exact = VAL_BY_PRECISION(1e-6, 1e-2) + val_spring_error(run);
  talus_body body = on_slope(run, theta, 1.05 * tan(theta), false);
  val_step(run, val_steps(run, 1));
  val_near(run, "box at mu = 1.05 tan: moves", "m", val_info(run, body).position.x, 0,
           VAL_BY_PRECISION(1e-8, 2e-4) + 3.5 * val_sag(run, 32));
  double mu = 0.7 * tan(theta), a = VAL_G * (sin(theta) - mu * cos(theta));
  val_near(run, "box at mu = 0.7 tan: g (sin - mu cos)", "m/s2",
           acceleration(run, on_slope(run, theta, mu, false)), a, exact * a);
  a = 5.0 / 7 * VAL_G * sin(theta);
  val_near(run, "ball at mu = 1.05 * 2/7 tan: 5/7 g sin", "m/s2",
           acceleration(run, on_slope(run, theta, 1.05 * critical, true)), a, exact * a);
  mu = 0.6 * critical, a = VAL_G * (sin(theta) - mu * cos(theta));
  val_near(run, "ball at mu = 0.6 * 2/7 tan: g (sin - mu cos)", "m/s2",
           acceleration(run, on_slope(run, theta, mu, true)), a, exact * a);

  double x[POINTS], box[POINTS], box_theory[POINTS], ball[POINTS], ball_theory[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    mu = 0.06 * i, x[i] = mu;
    box[i] = acceleration(run, on_slope(run, theta, mu, false));
    ball[i] = acceleration(run, on_slope(run, theta, mu, true));
    const double slides = VAL_G * (sin(theta) - mu * cos(theta));
    box_theory[i] = fmax(slides, 0);
    ball_theory[i] = fmax(slides, 5.0 / 7 * VAL_G * sin(theta));
  }
  char series[40];
  const char *title = "On a slope of 0.4 rad: slide, roll, stick";
  val_curve(run, "incline", title, "friction", "acceleration [m/s2]", "box, exact", x, box_theory,
            POINTS);
  val_curve(run, "incline", title, "", "", "ball, exact", x, ball_theory, POINTS);
  snprintf(series, sizeof series, "box, %s", val_model_name(run->model));
  val_curve(run, "incline", title, "", "", series, x, box, POINTS);
  snprintf(series, sizeof series, "ball, %s", val_model_name(run->model));
  val_curve(run, "incline", title, "", "", series, x, ball, POINTS);
}

void val_rolling(val_run *run) {
  const double v0 = 2, mu = 0.3, dt = val_dt(run, 1e-4);
  val_world(run, dt);
  const talus_material m = val_material(run, mu, 0);
  val_floor(run, m);
  const talus_body ball =
      val_body(run, TALUS_FREE, val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0), m, 0, 0, RADIUS);
  val_set_velocity(run, ball, v0, 0, 0);
  const double expected = 2 * v0 / (7 * mu * VAL_G);
  double rolls = NAN;
  for (long n = 1; n <= val_steps(run, 2 * expected) && !run->failed; ++n) {
    val_step(run, 1);
    const talus_body_info now = val_info(run, ball);
    const double slip = (double)now.velocity.x - RADIUS * (double)now.spin.y;
    if (isnan(rolls) && slip < 1e-3 * v0)
      rolls = (double)n * dt;
  }
  const talus_body_info now = val_info(run, ball);
  const double exact = VAL_BY_PRECISION(1e-6, 1e-4) + val_spring_error(run);
  val_near(run, "begins to roll: 2 v0 / (7 mu g)", "s", rolls, expected,
           2 * dt + 2e-3 * expected + val_spring_error(run) * expected);
  val_near(run, "speed then: 5/7 v0", "m/s", (double)now.velocity.x, 5.0 / 7 * v0, exact * v0);
  val_near(run, "spin then: 5/7 v0 / R", "rad/s", (double)now.spin.y, 5.0 / 7 * v0 / RADIUS,
           exact * v0 / RADIUS);
}

void val_stopping(val_run *run) {
  for (int k = 0; k < 3; ++k) {
    const double mu = (const double[]){0.1, 0.5, 1}[k], v0 = 2, dt = val_dt(run, 1e-3);
    val_world(run, dt);
    const talus_material m = val_material(run, mu, 0);
    char quantity[56];
    val_floor(run, m);
    const talus_body box =
        val_body(run, TALUS_FREE, val_shape(run, TALUS_BOX, 0.4, 0.4, 0.05, 0), m, 0, 0, 0.025);
    val_set_velocity(run, box, v0, 0, 0);
    val_step(run, val_steps(run, 1.2 * v0 / (mu * VAL_G)));
    const double distance = v0 * v0 / (2 * mu * VAL_G);
    snprintf(quantity, sizeof quantity, "v^2 / (2 mu g), mu = %g", mu);
    /* Symplectic Euler takes dt v/2 less. */
    val_near(run, quantity, "m", val_info(run, box).position.x, distance,
             0.6 * dt * v0 + VAL_BY_PRECISION(0, 1e-3) + val_spring_error(run) * distance);
  }
}

/* How high a sliding box floats, in units of dt mu v, once sliding is established. */
static double floats(val_run *run, talus_friction_model friction) {
  const double dt = 1e-3, mu = 0.5, v0 = 2;
  talus_world_def def = val_def(run, dt);
  def.solve.friction = friction;
  val_world_from(run, &def);
  const talus_material m = val_material(run, mu, 0);
  val_floor(run, m);
  const double gap = friction == TALUS_FRICTION_CCP ? dt * mu * v0 : 0;
  const talus_body box =
      val_body(run, TALUS_FREE, val_shape(run, TALUS_BOX, 0.4, 0.4, 0.1, 0), m, 0, 0, 0.05 + gap);
  val_set_velocity(run, box, v0, 0, 0);
  val_step(run, 200);
  const talus_body_info now = val_info(run, box);
  return (now.position.z - 0.05) / (dt * mu * (double)now.velocity.x);
}

void val_ccp_gap(val_run *run) {
  val_near(run, "friction ccp: gap / (dt mu v)", "", floats(run, TALUS_FRICTION_CCP), 1, 0.05);
  val_near(run, "friction ncp: gap / (dt mu v)", "", floats(run, TALUS_FRICTION_NCP), 0,
           VAL_BY_PRECISION(1e-3, 0.05));
}
