/* Cohesion: a pair holds at 0.95 of its pull-off force and separates at 1.05, in several motions.
 * Default settings. */
#include "validation_cases.h"

#define RADIUS 0.01
#define FORCE  0.05 /* N, pull-off; a ball weighs 4.19 g */
#define DT     1e-3
#define PULLS  2

static const double pulls[PULLS] = {0.95, 1.05}; /* of FORCE */

/* The pair touches at the origin, one ball on the left and one on the right, without gravity. */
typedef struct pair {
  talus_body a, b;
  double mass;
} pair;

static talus_material sticky(val_run *run, double friction) {
  talus_material_def def = talus_material_def_default();
  talus_material material = {0};
  def.density = 1000, def.friction = friction, def.cohesion = FORCE;
  def.stiffness = run->model == VAL_PENALTY ? 1e3 : 0; /* sinks 0.5 % of a radius under FORCE */
  if (!run->failed && talus_world_add_material(run->world, &def, &material) != TALUS_OK)
    val_fail(run, talus_last_error());
  return material;
}

static double step_of(const val_run *run) { return run->model == VAL_PENALTY ? 0.01 * DT : DT; }

static pair make_pair(val_run *run, double friction, bool a_is_fixed) {
  talus_world_def def = val_default_def(run, step_of(run));
  def.gravity = val_vec(0, 0, 0);
  val_world_from(run, &def);
  const talus_material m = sticky(run, friction);
  const talus_shape ball = val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0);
  /* Springs start at the overlap given by the pull itself, so nothing oscillates. */
  const double press = run->model == VAL_PENALTY ? 0.5 * FORCE / 1e3 : 0;
  pair p = {.mass = 1000 * 4.18879020478639 * RADIUS * RADIUS * RADIUS};
  p.a = val_body(run, a_is_fixed ? TALUS_FIXED : TALUS_FREE, ball, m, press - RADIUS, 0, 0);
  p.b = val_body(run, TALUS_FREE, ball, m, RADIUS - press, 0, 0);
  return p;
}

/* Gap of the surfaces, m. */
static double apart(val_run *run, const pair *p) {
  const talus_dvec3 a = val_info(run, p->a).position, b = val_info(run, p->b).position;
  return hypot(b.x - a.x, hypot(b.y - a.y, b.z - a.z)) - 2 * RADIUS;
}

static void load(val_run *run, talus_body body, double x, double y, double z) {
  if (!run->failed &&
      talus_body_set_force(run->world, body, val_vec(x, y, z), val_vec(0, 0, 0)) != TALUS_OK)
    val_fail(run, talus_last_error());
}

/* At 0.95 surfaces stay together within 1 % of a radius; at 1.05 they separate further. */
static void check_bond(val_run *run, const char *what, double pull, double gap) {
  char quantity[56];
  const bool holds = pull < 1;
  snprintf(quantity, sizeof quantity, "%s at %g: holds", what, pull);
  val_is(run, quantity, gap < 0.01 * RADIUS, holds);
  if (!holds)
    return;
  snprintf(quantity, sizeof quantity, "%s at %g: gap / radius", what, pull);
  val_near(run, quantity, "", gap / RADIUS, 0, 0.01);
}

void val_bond_pull(val_run *run) {
  for (int k = 0; k < PULLS; ++k) {
    const pair p = make_pair(run, 0.5, false);
    /* slowly, so that springs do not swing */
    for (int n = 1; n <= 50 && !run->failed; ++n) {
      const double f = pulls[k] * FORCE * n / 50;
      load(run, p.a, -f, 0, 0);
      load(run, p.b, f, 0, 0);
      val_step(run, val_steps(run, 2 * DT));
    }
    val_step(run, val_steps(run, 0.4));
    check_bond(run, "pulled", pulls[k], apart(run, &p));
  }
}

/* Both rotate about the point of contact: m w^2 R each. Surfaces pulled apart by 0.05 of the force
 * during a turn are far apart. */
void val_bond_spin(val_run *run) {
  for (int k = 0; k < PULLS; ++k) {
    const pair p = make_pair(run, 0.5, false);
    const double w = sqrt(pulls[k] * FORCE / (p.mass * RADIUS));
    const double v = w * RADIUS;
    for (int side = 0; side < 2 && !run->failed; ++side)
      if (talus_body_set_velocity(run->world, side ? p.b : p.a, val_vec(0, side ? v : -v, 0),
                                  val_vec(0, 0, w)) != TALUS_OK)
        val_fail(run, talus_last_error());
    val_step(run, val_steps(run, 0.5)); /* some three turns */
    check_bond(run, "spun", pulls[k], apart(run, &p));
    if (pulls[k] < 1)
      val_near(run, "spun at 0.95: spin after / before", "", (double)val_info(run, p.b).spin.z / w,
               1, 0.01);
  }
}

/* Pulled apart with half of the force, and sideways with 0.95 and 1.05 of mu times the other half:
 * a shifted Coulomb cone. The balls cannot turn. */
void val_bond_shear(val_run *run) {
  const double mu = 0.5;
  for (int k = 0; k < PULLS; ++k) {
    talus_world_def def = val_default_def(run, step_of(run));
    def.gravity = val_vec(0, 0, 0);
    val_world_from(run, &def);
    const talus_material m = sticky(run, mu);
    const double press = run->model == VAL_PENALTY ? 0.5 * FORCE / 1e3 : 0;
    val_floor(run, m);
    talus_body_def body = talus_body_def_default();
    body.shape = val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0);
    body.material = m;
    body.position.z = RADIUS - press;
    body.lock = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
    const talus_body ball = val_add(run, &body);
    const double mass = 1000 * 4.18879020478639 * RADIUS * RADIUS * RADIUS, most = mu * 0.5 * FORCE;
    for (int n = 1; n <= 50 && !run->failed; ++n) {
      load(run, ball, pulls[k] * most * n / 50, 0, 0.5 * FORCE * n / 50);
      val_step(run, val_steps(run, 2 * DT));
    }
    const double begun = val_info(run, ball).position.x;
    const double v = (double)val_info(run, ball).velocity.x;
    val_step(run, val_steps(run, 0.2));
    const talus_body_info end = val_info(run, ball);
    if (pulls[k] < 1) {
      val_near(run, "sheared at 0.95: way / radius", "", (end.position.x - begun) / RADIUS, 0,
               0.01);
    } else { /* 0.05 mu F/2 of m */
      const double expected = 0.05 * most / mass;
      val_near(run, "sheared at 1.05: acceleration", "m/s2", ((double)end.velocity.x - v) / 0.2,
               expected, 0.02 * expected);
    }
    val_near(run, pulls[k] < 1 ? "sheared at 0.95: gap / radius" : "sheared at 1.05: gap / radius",
             "", (end.position.z - RADIUS) / RADIUS, 0, 0.01);
  }
}

/* One rolls around the other, which is held: m v^2 / 2R on its orbit. */
void val_bond_roll(val_run *run) {
  for (int k = 0; k < PULLS; ++k) {
    const pair p = make_pair(run, 0.5, true);
    const double v = sqrt(pulls[k] * FORCE * 2 * RADIUS / p.mass);
    if (!run->failed && talus_body_set_velocity(run->world, p.b, val_vec(0, v, 0),
                                                val_vec(0, 0, v / RADIUS)) != TALUS_OK)
      val_fail(run, talus_last_error());
    val_step(run, val_steps(run, 2 * VAL_PI * 2 * RADIUS / v)); /* once round */
    check_bond(run, "rolled", pulls[k], apart(run, &p));
    if (pulls[k] < 1) {
      const talus_vec3 u = val_info(run, p.b).velocity;
      val_near(run, "rolled at 0.95: speed after / before", "", hypot((double)u.x, (double)u.y) / v,
               1, 0.02);
    }
  }
}
