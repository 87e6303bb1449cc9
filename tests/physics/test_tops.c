/* Tops: free ones and one on a ball joint, against closed forms. */
#include "rig.h"

#define PI 3.14159265358979323846

/* ---- a free top ------------------------------------------------------------------------------ */

/* The complete elliptic integral K(k), k2 = k^2, by the arithmetic-geometric mean (Gauss 1799). */
static double elliptic(double k2) {
  double a = 1, b = sqrt(1 - k2);
  while (fabs(a - b) > 1e-15 * a) {
    const double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return PI / (2 * a);
}

/* Landau and Lifshitz 1976, section 37: the period of the spin in body axes of a free top with
 * moments i[0] < i[1] < i[2], spinning at w[] about them. */
static double period_of(const double i[3], const double w[3]) {
  double twice_energy = 0, momentum2 = 0;
  for (int k = 0; k < 3; ++k) {
    twice_energy += i[k] * w[k] * w[k];
    momentum2 += i[k] * i[k] * w[k] * w[k];
  }
  double low = i[0], high = i[2];
  if (momentum2 < twice_energy * i[1]) { /* circles the axis of the least moment instead */
    low = i[2];
    high = i[0];
  }
  const double rest = momentum2 - twice_energy * low;
  const double k2 = (i[1] - low) * (twice_energy * high - momentum2) / ((high - i[1]) * rest);
  return 4 * elliptic(k2) * sqrt(i[0] * i[1] * i[2] / ((high - i[1]) * rest));
}

/* v in the axes of a body turned by q: q^-1 v q, written out for its middle axis, y. */
static double along_y(talus_quat q, talus_vec3 v) {
  const double w = (double)q.w, x = (double)q.x, y = (double)q.y, z = (double)q.z;
  return 2 * (x * y - w * z) * (double)v.x + (1 - 2 * (x * x + z * z)) * (double)v.y +
         2 * (y * z + w * x) * (double)v.z;
}

/* From one upward passage of the spin about the middle axis to the third after it, over 3. */
static double flip_period(double dt, const double spin[3], double *want) {
  talus_world_def def = rig_def(dt);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  const talus_body box =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 3, 2, 1, 0), m, 0, 0, 0);
  CHECK_OK(
      talus_body_set_velocity(world, box, rig_vec(0, 0, 0), rig_vec(spin[0], spin[1], spin[2])));
  const talus_vec3 inertia = rig_info(world, box).inertia;
  const double moments[3] = {(double)inertia.x, (double)inertia.y, (double)inertia.z};
  CHECK(moments[0] < moments[1] && moments[1] < moments[2]);
  *want = period_of(moments, spin);
  double first = 0, last = spin[1], at = 0;
  int passed = 0;
  for (int n = 1; passed < 4; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    const talus_body_info info = rig_info(world, box);
    const double now = along_y(info.rotation, info.spin);
    if (last < 0 && now >= 0) {
      at = dt * (n - now / (now - last));
      if (passed++ == 0)
        first = at;
    }
    last = now;
    CHECK_MSG(n * dt < 10 * *want, "only %d flips", passed);
  }
  talus_world_destroy(world);
  return (at - first) / 3;
}

/* Dzhanibekov's wing nut: spun about its middle axis it turns over again and again. */
TEST(middle_axis_flips_with_the_period_of_the_elliptic_integral) {
  const double spins[2][3] = {{0.05, 5, 0}, {0, 5, 0.4}}; /* about either of the other two axes */
  for (int k = 0; k < 2; ++k) {
    double want;
    const double coarse = fabs(flip_period(0.01, spins[k], &want) / want - 1);
    const double fine = fabs(flip_period(0.005, spins[k], &want) / want - 1);
    CHECK_MSG(want > 2 && want < 20, "%g s", want);
    CHECK_MSG(coarse < 4e-3, "off by %g of %g s at 10 ms", coarse, want);
    CHECK_MSG(fine < 1e-3, "off by %g of %g s at 5 ms", fine, want);
#if !TALUS_SINGLE
    CHECK_MSG(coarse / fine > 3.5 && coarse / fine < 4.5, "halving dt divides the error by %g",
              coarse / fine);
#endif
  }
}

/* ---- a heavy top ----------------------------------------------------------------------------- */

typedef struct top {
  double height;     /* m, of the centre of mass above the tip, along its axis */
  double spin;       /* rad/s, about its own axis, w3 */
  double lean;       /* rad, from upright */
  double i1, i3;     /* kg m2, about the tip */
  double precession; /* rad/s */
} top;

#define MASS 1.0

/* Steady precession (Goldstein, Poole and Safko 2002, section 5.7): cos(lean) i1 p^2 - i3 w3 p +
 * m g l = 0; the slow root. A fast top forgets the first term: p = m g l / (i3 w3). */
static top make_top(double spin, double lean) {
  const double radius = 0.1, thick = 0.02;
  top t = {.height = 0.15, .spin = spin, .lean = lean};
  t.i3 = 0.5 * MASS * radius * radius;
  t.i1 = MASS * (radius * radius / 4 + thick * thick / 12 + t.height * t.height);
  const double a = t.i1 * cos(lean), b = t.i3 * spin, c = MASS * G * t.height;
  t.precession = 2 * c / (b + sqrt(b * b - 4 * a * c));
  return t;
}

/* Puts it on a ball joint at the origin, leaning towards x, in steady precession. */
static talus_body put_top(talus_world *world, const top *t) {
  talus_body_def body = talus_body_def_default();
  body.shape = rig_shape(world, TALUS_CYLINDER, 0.1, 0.02, 0, 0);
  body.material = rig_material(world, 0, 0);
  body.mass = MASS;
  const double s = sin(t->lean), c = cos(t->lean);
  body.position = (talus_dvec3){t->height * s, 0, t->height * c};
  body.rotation = (talus_quat){(talus_real)cos(t->lean / 2), 0, (talus_real)sin(t->lean / 2), 0};
  /* w3 counts the precession's share along the axis: spin = w3 axis + precession across it. */
  const double across = t->precession * s;
  body.spin = rig_vec(t->spin * s - across * c, 0, t->spin * c + across * s);
  body.velocity = rig_vec(0, t->precession * body.position.x, 0);
  talus_body made;
  CHECK_OK(talus_world_add_body(world, &body, &made));
  talus_joint_def def = talus_joint_def_default();
  def.kind = TALUS_JOINT_SPHERICAL;
  def.b = made;
  CHECK_OK(talus_world_add_joint(world, &def, NULL));
  return made;
}

TEST(heavy_top_precesses_steadily_at_any_lean) {
  for (int k = check_is_short(); k < 2; ++k) {
    const top t = make_top(k == 0 ? 250 : 120, k == 0 ? 0.5 : 1.0);
    talus_world_def def = rig_def(2e-4);
    talus_world *world = rig_world(&def);
    const talus_body body = put_top(world, &t);
    double angle = 0, last = 0, least = t.lean, most = t.lean;
    for (int i = 0; i < 100; ++i) {
      CHECK_OK(talus_world_step(world, 50));
      const talus_dvec3 x = rig_info(world, body).position;
      const double now = atan2(x.y, x.x), lean = atan2(hypot(x.x, x.y), x.z);
      angle += remainder(now - last, 2 * PI);
      last = now;
      least = fmin(least, lean);
      most = fmax(most, lean);
    }
    CHECK_NEAR(angle / t.precession, 1, BY_PRECISION(2e-3, 2e-2)); /* after 1 s */
    CHECK_MSG(most - least < BY_PRECISION(2e-3, 2e-2), "nods by %g rad", most - least);
    const double fast = MASS * G * t.height / (t.i3 * t.spin);
    CHECK_NEAR(angle / fast, 1, k == 0 ? 0.2 : 0.4); /* the formula of fast tops is that good */
    CHECK(rig_report(world).joint_drift < BY_PRECISION(1e-7, 1e-4));
    talus_world_destroy(world);
  }
}

/* At right angles the first term is nothing: the formula of fast tops is exact. */
TEST(level_top_precesses_at_the_rate_of_fast_tops) {
  SKIP_IF_SHORT();
  const top t = make_top(150, PI / 2);
  talus_world_def def = rig_def(2e-4);
  talus_world *world = rig_world(&def);
  const talus_body body = put_top(world, &t);
  CHECK_NEAR(t.precession, MASS * G * t.height / (t.i3 * t.spin), 1e-9);
  CHECK_OK(talus_world_step(world, 5000));
  const talus_dvec3 x = rig_info(world, body).position;
  CHECK_NEAR(atan2(x.y, x.x), t.precession, BY_PRECISION(4e-3, 4e-2));
  CHECK_NEAR(x.z, 0, BY_PRECISION(1e-3, 1e-2));
  talus_world_destroy(world);
}

TEST(tops_are_the_same_for_any_number_of_threads) {
  uint64_t hash[3];
  for (int k = 0; k < 3; ++k) {
    const top t = make_top(200, 0.7);
    talus_world_def def = rig_def(1e-3);
    def.threads = 1 << k;
    talus_world *world = rig_world(&def);
    put_top(world, &t);
    CHECK_OK(talus_world_step(world, 500));
    hash[k] = talus_world_hash(world);
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_EQ_U64(hash[2], hash[0]);
}

TEST_MAIN()
