/* Free and jointed bodies; conservation of momentum, and the balance of energy. */
#include "validation_cases.h"

/* The box of 1 x 2 x 3 m turns about its middle axis, nearly. Torque-free motion is periodic
 * (Landau and Lifshitz, Mechanics, section 37): with I1 < I2 < I3 and L^2 > 2 E I2 the spin about
 * axis 2 changes sign every 2 K(k) / rate, where
 *   rate^2 = (I3 - I2) (L^2 - 2 E I1) / (I1 I2 I3)
 *   k^2 = (I2 - I1) (2 E I3 - L^2) / ((I3 - I2) (L^2 - 2 E I1)). */
void val_dzhanibekov(val_run *run) {
  const double dt = 2e-3, w[3] = {0.05, 5, 0.02};
  talus_world_def def = val_def(run, dt);
  def.gravity = val_vec(0, 0, 0);
  val_world_from(run, &def);
  const talus_material m = val_material(run, 0, 0);
  const talus_body box =
      val_body(run, TALUS_FREE, val_shape(run, TALUS_BOX, 1, 2, 3, 0), m, 0, 0, 0);
  if (!run->failed && talus_body_set_velocity(run->world, box, (talus_vec3){0, 0, 0},
                                              val_vec(w[0], w[1], w[2])) != TALUS_OK)
    val_fail(run, talus_last_error());
  /* A box of edges 1, 2, 3: moments (13, 10, 5) m/12, so the axes are turned round here. */
  const double i1 = 5.0 / 12, i2 = 10.0 / 12, i3 = 13.0 / 12;
  const double w1 = w[2], w2 = w[1], w3 = w[0];
  const double energy2 = i1 * w1 * w1 + i2 * w2 * w2 + i3 * w3 * w3;
  const double l2 = i1 * i1 * w1 * w1 + i2 * i2 * w2 * w2 + i3 * i3 * w3 * w3;
  double lo = i1, hi = i3;
  if (l2 < energy2 * i2)
    lo = i3, hi = i1; /* the same formulas with axes 1 and 3 exchanged */
  const double rate = sqrt((hi - i2) * (l2 - energy2 * lo) / (i1 * i2 * i3));
  const double k = sqrt((i2 - lo) * (energy2 * hi - l2) / ((hi - i2) * (l2 - energy2 * lo)));
  const double expected = 2 * val_elliptic_k(k) / rate;

  double crossing[4], last = w2;
  int seen = 0;
  const talus_report start = val_report(run);
  for (long n = 1; seen < 4 && n < val_steps(run, 6 * expected) && !run->failed; ++n) {
    val_step(run, 1);
    const talus_body_info now = val_info(run, box);
    const double q[4] = {(double)now.rotation.w, (double)now.rotation.x, (double)now.rotation.y,
                         (double)now.rotation.z};
    /* the body's y axis in the world */
    const double axis[3] = {2 * (q[1] * q[2] - q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]),
                            2 * (q[2] * q[3] + q[0] * q[1])};
    const double spin =
        axis[0] * (double)now.spin.x + axis[1] * (double)now.spin.y + axis[2] * (double)now.spin.z;
    if (last * spin < 0)
      crossing[seen++] = dt * ((double)n - fabs(spin) / (fabs(spin) + fabs(last)));
    last = spin;
  }
  const talus_report end = val_report(run);
  double drift = 0, length = 0;
  for (int i = 0; i < 3; ++i) {
    drift += pow(end.angular_momentum[i] - start.angular_momentum[i], 2);
    length += pow(start.angular_momentum[i], 2);
  }
  /* Second order in dt; a flip from a small tilt magnifies every error, in float at once. */
  val_near(run, "time between flips: 2 K(k) / rate", "s",
           seen == 4 ? (crossing[3] - crossing[0]) / 3 : NAN, expected,
           VAL_BY_PRECISION(2e-3, 2e-2) * expected);
  val_near(run, "drift of the angular momentum", "", sqrt(drift / length), 0,
           VAL_BY_PRECISION(1e-12, 1e-3));
  val_near(run, "energy after / before", "", end.kinetic_energy / start.kinetic_energy, 1,
           VAL_BY_PRECISION(1e-4, 1e-3));
}

/* A disc on an axle that is held at its other end, leaning by theta: steady precession W where
 * I3 w3 W - (I1 + m l^2) W^2 cos(theta) = m g l (Goldstein 1980, 5-7), started as such. */
void val_heavy_top(val_run *run) {
  const double l = 0.2, radius = 0.1, thick = 0.02, theta = 1, rate = 1.5, dt = 5e-4;
  const double i3 = 0.5 * radius * radius;
  const double i1 = 0.25 * radius * radius + thick * thick / 12 + l * l; /* per kilogram */
  const double w3 = (VAL_G * l + i1 * rate * rate * cos(theta)) / (i3 * rate);
  const double axle[3] = {sin(theta), 0, cos(theta)};
  val_world(run, dt);
  talus_body_def body = talus_body_def_default();
  body.material = val_material(run, 0, 0);
  body.shape = val_shape(run, TALUS_CYLINDER, radius, thick, 0, 0);
  body.mass = 1;
  body.position = (talus_dvec3){l * axle[0], 0, l * axle[2]};
  body.rotation = val_turn(0, 1, 0, theta);
  /* W about the vertical, and what is missing to w3 about the axle */
  const double about = w3 - rate * cos(theta);
  body.spin = val_vec(about * axle[0], 0, rate + about * axle[2]);
  body.velocity = val_vec(0, rate * l * axle[0], 0);
  const talus_body disc = val_add(run, &body);
  talus_joint_def joint = talus_joint_def_default();
  joint.b = disc;
  if (!run->failed && talus_world_add_joint(run->world, &joint, NULL) != TALUS_OK)
    val_fail(run, talus_last_error());
  double low = theta, high = theta, turned = 0, last = 0;
  const double seconds = 4;
  for (long n = 0; n < val_steps(run, seconds) && !run->failed; ++n) {
    val_step(run, 1);
    const talus_dvec3 x = val_info(run, disc).position;
    const double lean = atan2(hypot(x.x, x.y), x.z), angle = atan2(x.y, x.x);
    turned += remainder(angle - last, 2 * VAL_PI);
    last = angle;
    low = fmin(low, lean), high = fmax(high, lean);
  }
  val_near(run, "rate of precession", "rad/s", turned / seconds, rate,
           VAL_BY_PRECISION(2e-3, 1e-2) * rate);
  val_near(run, "nutation, top to bottom", "rad", high - low, 0, VAL_BY_PRECISION(2e-3, 2e-2));
}

/* A rod hung at its end: T = 4 sqrt(I / (m g d)) K(sin(a/2)) from an angle a. */
void val_pendulum(val_run *run) {
  const double inertia = (1 + 0.02 * 0.02) / 12 + 0.25, dt = 1e-3;
  for (int k = 0; k < 3; ++k) {
    const double start = (const double[]){0.1, 1, 2.5}[k];
    val_world(run, dt);
    talus_body_def body = talus_body_def_default();
    body.material = val_material(run, 0, 0);
    body.shape = val_shape(run, TALUS_BOX, 0.02, 0.02, 1, 0);
    body.position = (talus_dvec3){0.5 * sin(start), 0, -0.5 * cos(start)};
    body.rotation = val_turn(0, 1, 0, -start);
    talus_joint_def joint = talus_joint_def_default();
    joint.kind = TALUS_JOINT_REVOLUTE;
    joint.axis = val_vec(0, 1, 0);
    joint.b = val_add(run, &body);
    if (!run->failed && talus_world_add_joint(run->world, &joint, NULL) != TALUS_OK)
      val_fail(run, talus_last_error());
    const double expected = 4 * sqrt(inertia / (VAL_G * 0.5)) * val_elliptic_k(sin(0.5 * start));
    double crossing[5], last = 1;
    int seen = 0;
    for (long n = 1; seen < 5 && n < val_steps(run, 4 * expected) && !run->failed; ++n) {
      val_step(run, 1);
      const double x = val_info(run, joint.b).position.x;
      if (last * x < 0 && n > 1)
        crossing[seen++] = dt * ((double)n - fabs(x) / (fabs(x) + fabs(last)));
      last = x;
    }
    char quantity[56];
    snprintf(quantity, sizeof quantity, "period from %g rad", start);
    val_near(run, quantity, "s", seen == 5 ? 0.5 * (crossing[4] - crossing[0]) : NAN, expected,
             VAL_BY_PRECISION(2e-4, 2e-3) * expected);
  }
}

/* ---- books ----------------------------------------------------------------------------------- */

/* 4 x 4 x 4 balls fly together in free space, spinning. */
static void add_cloud(val_run *run, double friction, double restitution) {
  const talus_material m = val_material(run, friction, restitution);
  const talus_shape sphere = val_shape(run, TALUS_SPHERE, 0.1, 0, 0, 0);
  for (int i = 0; i < 64; ++i) {
    const int x = i % 4, y = i / 4 % 4, z = i / 16;
    talus_body_def body = talus_body_def_default();
    body.shape = sphere;
    body.material = m;
    body.position = (talus_dvec3){0.3 * x + 0.02 * ((7 * i) % 5), 0.3 * y + 0.02 * ((3 * i) % 7),
                                  0.3 * z + 0.02 * ((5 * i) % 6)};
    body.velocity = val_vec(1.5 - x, 1.5 - y, 1.5 - z);
    body.spin = val_vec((11 * i) % 7 - 3, (13 * i) % 7 - 3, (17 * i) % 7 - 3);
    val_add(run, &body);
  }
}

void val_momentum(val_run *run) {
  talus_world_def def = val_def(run, val_dt(run, 1e-3));
  def.gravity = val_vec(0, 0, 0);
  def.solve.iterations = 7; /* far from converged: pairs of impulses cancel all the same */
  val_world_from(run, &def);
  add_cloud(run, 0.5, 0.5);
  const talus_report start = val_report(run);
  val_step(run, val_steps(run, 0.5));
  const talus_report end = val_report(run);
  double linear = 0, angular = 0;
  const double mass = 64 * 4.18879020478639; /* kg; speeds about 2 m/s, distances about 1 m */
  for (int i = 0; i < 3; ++i) {
    linear = fmax(linear, fabs(end.momentum[i] - start.momentum[i]));
    angular = fmax(angular, fabs(end.angular_momentum[i] - start.angular_momentum[i]));
  }
  val_near(run, "64 balls collide: drift of momentum", "m/s", linear / mass, 0,
           VAL_BY_PRECISION(1e-13, 1e-5));
  val_near(run, "drift of angular momentum", "m2/s", angular / mass, 0,
           VAL_BY_PRECISION(1e-13, 1e-4));
  val_within(run, "energy after / before", "", end.kinetic_energy / start.kinetic_energy, 0, 0.9);
}

/* The error of the energy balance, as a share of the initial energy. */
static double missing(val_run *run, double dt, double seconds, double *lost) {
  talus_world_def def = val_def(run, dt);
  def.solve.tolerance = VAL_BY_PRECISION(1e-10, 1e-6);
  val_world_from(run, &def);
  const talus_material m = val_material(run, 0.5, 0.5);
  val_floor(run, m);
  const talus_shape sphere = val_shape(run, TALUS_SPHERE, 0.1, 0, 0, 0);
  for (int i = 0; i < 27; ++i)
    val_body(run, TALUS_FREE, sphere, m, 0.25 * (i % 3) + 0.01 * ((7 * i) % 5),
             0.25 * (i / 3 % 3) + 0.01 * ((3 * i) % 4), 0.2 + 0.25 * (i / 9));
  const talus_report start = val_report(run);
  val_step(run, val_steps(run, seconds));
  const talus_report end = val_report(run);
  const double before = start.kinetic_energy + start.potential_energy;
  const double after = end.kinetic_energy + end.potential_energy;
  const double taken = run->model == VAL_PENALTY
                           ? -end.elastic_energy - end.damping_work - end.friction_work
                           : end.contact_work;
  *lost = (before - after) / before;
  return (after - before - taken - end.load_work) / before;
}

void val_energy(val_run *run) {
  double lost;
  if (run->model == VAL_PENALTY) {
    /* Verlet is of second order: a sixteenth of the step, 1/256 of what is missing. */
    const double dt = val_dt(run, 1e-3), coarse = fabs(missing(run, dt, 0.4, &lost));
    val_within(run, "27 balls fall: energy lost / had", "", lost, 0.1, 1);
    val_near(run, "not in the books at 40 us / had", "", coarse, 0, 256e-6);
    val_near(run, "not in the books at 2.5 us / had", "", fabs(missing(run, dt / 16, 0.4, &lost)),
             0, VAL_BY_PRECISION(1e-6, 1e-3));
    return;
  }
  const double coarse = fabs(missing(run, 1e-3, 1, &lost));
  val_within(run, "27 balls fall: energy lost / had", "", lost, 0.1, 1);
  /* Stepping leaves about m g dt |v - v0| / 2 for each body: (g dt)^2 here is 2e-5 of g x. */
  val_near(run, "not in the books at 1 ms / had", "", coarse, 0, 1e-3);
  val_near(run, "not in the books at 0.25 ms / had", "", fabs(missing(run, 2.5e-4, 1, &lost)), 0,
           2.5e-4);
}
