/* Bodies that stand or fall: stacks, cards, arches. */
#include "validation_cases.h"

/* How far a body is from where it was put, m. */
static double moved(val_run *run, talus_body body, double x, double z) {
  const talus_dvec3 p = val_info(run, body).position;
  return fabs(p.x - x) + fabs(p.y) + fabs(p.z - z);
}

/* Default settings except for the step, or a method that converges for stacks. */
static void stack_world(val_run *run, bool by_default) {
  const double dt = val_dt(run, 5e-3);
  talus_world_def def = val_def(run, dt);
  const talus_solve_def usual = talus_world_def_default().solve;
  if (by_default)
    def.solve.iterations = usual.iterations, def.solve.tolerance = usual.tolerance;
  else
    def.solve.method = TALUS_APGD, def.solve.iterations = 1000,
    def.solve.tolerance = VAL_BY_PRECISION(1e-9, 1e-6);
  val_world_from(run, &def);
}

/* Ten boxes after 5 s: the largest displacement and rotation, and the load on the floor. */
static void stack_after(val_run *run, bool by_default, double *creep, double *turn, double *force) {
  enum { BOXES = 10 };
  const double side = 0.2;
  stack_world(run, by_default);
  const talus_material m = val_material(run, 0.5, 0);
  const talus_body floor = val_floor(run, m);
  const talus_shape cube = val_shape(run, TALUS_BOX, side, side, side, 0);
  talus_body body[BOXES];
  for (int i = 0; i < BOXES; ++i)
    body[i] = val_body(run, TALUS_FREE, cube, m, 0, 0, side * (0.5 + i));
  val_step(run, val_steps(run, 5));
  *creep = *turn = 0;
  for (int i = 0; i < BOXES; ++i) {
    const talus_quat q = val_info(run, body[i]).rotation;
    *creep = fmax(*creep, moved(run, body[i], 0, side * (0.5 + i)));
    *turn = fmax(*turn, 2 * sqrt((double)(q.x * q.x + q.y * q.y + q.z * q.z)));
  }
  const double weight = BOXES * (double)val_info(run, body[0]).mass * VAL_G;
  *force = -val_impulse_z(run, floor) / (weight * run->dt);
}

void val_stack(val_run *run) {
  double creep, turn, force;
  stack_after(run, false, &creep, &turn, &force);
  val_near(run, "10 boxes after 5 s: largest way", "m", creep, 0,
           VAL_BY_PRECISION(1e-6, 2e-3) + 1.2 * val_sag(run, 55 * 8));
  val_near(run, "10 boxes after 5 s: largest turn", "rad", turn, 0, VAL_BY_PRECISION(1e-6, 2e-2));
  val_near(run, "force on the floor / weight", "", force, 1, VAL_BY_PRECISION(1e-6, 1e-2));
  if (val_has_springs(run))
    return; /* it has no sweeps */
  stack_after(run, true, &creep, &turn, &force);
  val_near(run, "the same with default settings", "m", creep, 0, 2e-3); /* 1 % of an edge */
}

/* A box 100 times as heavy as the one below it, for which sweeps converge slowly. */
static void ratio_after(val_run *run, bool by_default, double *sinks, double *force) {
  stack_world(run, by_default);
  const talus_material m = val_material(run, 0.5, 0);
  const talus_body floor = val_floor(run, m);
  const talus_shape cube = val_shape(run, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  talus_body_def top = talus_body_def_default();
  const talus_body light = val_body(run, TALUS_FREE, cube, m, 0, 0, 0.1);
  const double mass = (double)val_info(run, light).mass;
  top.shape = cube, top.material = m, top.position.z = 0.3, top.mass = 100 * mass;
  const talus_body heavy = val_add(run, &top);
  val_step(run, val_steps(run, 5));
  *sinks = moved(run, heavy, 0, 0.3);
  *force = -val_impulse_z(run, floor) / (101 * mass * VAL_G * run->dt);
}

void val_mass_ratio(val_run *run) {
  double sinks, force;
  ratio_after(run, false, &sinks, &force);
  val_near(run, "the upper box moves in 5 s", "m", sinks, 0,
           VAL_BY_PRECISION(1e-5, 2e-3) + 1.2 * val_sag(run, 201 * 8));
  val_near(run, "force on the floor / weight", "", force, 1, VAL_BY_PRECISION(1e-4, 1e-2));
  if (val_has_springs(run))
    return;
  ratio_after(run, true, &sinks, &force);
  val_near(run, "the same with default settings", "m", sinks, 0, 2e-3); /* 1 % of an edge */
}

/* ---- cards ----------------------------------------------------------------------------------- */

/* A shape of the convex hull of points given as x, y, z. */
static talus_shape add_hull(val_run *run, const double *points, size_t count) {
  talus_shape_def def = talus_shape_def_default();
  talus_shape shape = {0};
  def.kind = TALUS_HULL;
  def.points = points;
  def.point_count = count;
  if (!run->failed && talus_world_add_shape(run->world, &def, &shape) != TALUS_OK)
    val_fail(run, talus_last_error());
  return shape;
}

/* Two cards lean against each other, theta from the vertical. Each is cut upright at the top, so
 * that they meet face to face: between two sharp edges there would be no one normal. A card of
 * mass m presses the other with H = m g d / h, d how far its centre is from its foot and h how high
 * they meet, and its foot holds where H <= mu m g: mu = tan(theta) / 2 for a thin one. */
static bool cards_stand(val_run *run, double theta, double factor) {
  const double length = 0.1, half = 0.03, thin = 1e-4;
  const double foot = length * sin(theta), high = length * cos(theta), cut = thin / sin(theta);
  /* foot and top of the inner face, then of the outer one */
  const double profile[4][2] = {
      {-foot, 0}, {0, high}, {-foot - thin * cos(theta), thin * sin(theta)}, {0, high + cut}};
  const double expected = 0.5 * tan(theta);
  talus_world_def def = val_def(run, val_dt(run, 1e-3));
  def.solve.tolerance = VAL_BY_PRECISION(1e-9, 1e-6);
  val_world_from(run, &def);
  const talus_material m = val_material(run, factor * expected, 0);
  val_floor(run, m);
  talus_body body[2];
  for (int k = 0; k < 2; ++k) {
    double points[24];
    for (int i = 0; i < 8; ++i) {
      points[3 * i] = (k == 0 ? 1 : -1) * profile[i % 4][0];
      points[3 * i + 1] = i < 4 ? -half : half;
      points[3 * i + 2] = profile[i % 4][1];
    }
    body[k] = val_body(run, TALUS_FREE, add_hull(run, points, 8), m, 0, 0, 0);
  }
  const double start = val_info(run, body[0]).position.z;
  for (long n = val_steps(run, 2); n > 0 && !run->failed; n -= 10) {
    val_step(run, 10);
    if (val_info(run, body[0]).position.z < 0.9 * start ||
        val_info(run, body[1]).position.z < 0.9 * start)
      return false;
  }
  return true;
}

void val_cards(val_run *run) {
  for (int k = 0; k < 3; ++k) {
    const int degrees = (const int[]){15, 25, 35}[k];
    char question[56];
    for (int falls = 0; falls < 2; ++falls) {
      const double factor = falls ? 0.95 : 1.05;
      snprintf(question, sizeof question, "stands at %d degrees, mu = %.2f * 0.5 tan", degrees,
               factor);
      val_is(run, question, cards_stand(run, degrees * VAL_PI / 180, factor), !falls);
    }
  }
}

/* ---- arch ------------------------------------------------------------------------------------ */

/* A semicircular arch of wedges on two fixed ones that continue it below the springings. True where
 * it stands after a while. */
static bool arch_stands(val_run *run, double thickness, int wedges) {
  const double r0 = 1 - 0.5 * thickness, r1 = 1 + 0.5 * thickness, wide = 0.3;
  const double step = VAL_PI / wedges, half = 0.5 * step;
  talus_world_def def = val_def(run, val_dt(run, 1e-3));
  def.solve.iterations = 500;
  def.solve.tolerance = 1e-6;
  val_world_from(run, &def);
  const talus_material m = val_material(run, 1, 0);
  double points[24];
  for (int i = 0; i < 8; ++i) {
    const double r = i & 1 ? r1 : r0, a = i & 2 ? half : -half;
    points[3 * i] = r * sin(a);
    points[3 * i + 1] = i & 4 ? 0.5 * wide : -0.5 * wide;
    points[3 * i + 2] = r * cos(a);
  }
  talus_body_def body = talus_body_def_default();
  body.material = m;
  body.shape = add_hull(run, points, 8);
  talus_body key = {0};
  for (int i = -1; i <= wedges; ++i) {
    body.kind = i < 0 || i == wedges ? TALUS_FIXED : TALUS_FREE;
    body.rotation = val_turn(0, 1, 0, -0.5 * VAL_PI + (i + 0.5) * step);
    const talus_body made = val_add(run, &body);
    if (i == wedges / 2)
      key = made;
  }
  const double high = val_info(run, key).position.z;
  for (long n = val_steps(run, 1); n > 0 && !run->failed; n -= 10) {
    val_step(run, 10);
    if (val_info(run, key).position.z < high - 0.02)
      return false;
  }
  return true;
}

void val_arch(val_run *run) {
  enum { WEDGES = 27 };
  val_is(run, "27 voussoirs stand at thickness / radius 0.115", arch_stands(run, 0.115, WEDGES),
         true);
  val_is(run, "27 voussoirs stand at thickness / radius 0.100", arch_stands(run, 0.100, WEDGES),
         false);
}
