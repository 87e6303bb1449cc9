/* Kernels: friction cone, contact response, step, residual and bias. */
#include "kernels/bias.h"
#include "kernels/cone.h"
#include "kernels/impact.h"
#include "test_kernels.h"

static const double friction[5] = {0, 1e-6, 0.3, 1, 10};

/* ---- the slow reference: minimise over the cone by search --------------------------------- */

typedef struct target {
  double n, t;   /* g_n and |g_t|; the angle of g_t is 0 */
  double mu;     /* of the cone */
  double en, et; /* the metric */
} target;

static double golden(double (*f)(const target *, const double *, double), const target *g,
                     const double *outer, double lo, double hi, double *where) {
  const double ratio = 0.6180339887498949;
  double a = hi - ratio * (hi - lo), b = lo + ratio * (hi - lo);
  double fa = f(g, outer, a), fb = f(g, outer, b);
  for (int i = 0; i < 48; ++i) {
    if (fa <= fb) {
      hi = b, b = a, fb = fa;
      a = hi - ratio * (hi - lo), fa = f(g, outer, a);
    } else {
      lo = a, a = b, fa = fb;
      b = lo + ratio * (hi - lo), fb = f(g, outer, b);
    }
  }
  /* The ends themselves: minima of a constrained problem love to sit there. */
  const double middle = 0.5 * (lo + hi), ends[3] = {lo, middle, hi};
  double best = f(g, outer, middle);
  *where = middle;
  for (int i = 0; i < 3; ++i)
    if (f(g, outer, ends[i]) < best)
      best = f(g, outer, ends[i]), *where = ends[i];
  return best;
}

/* outer = {angle, p_n}; r = |p_t| */
static double cost_of_radius(const target *g, const double *outer, double r) {
  const double dn = outer[1] - g->n, dx = r * cos(outer[0]) - g->t, dy = r * sin(outer[0]);
  return 0.5 * (dn * dn / g->en + (dx * dx + dy * dy) / g->et);
}

static double cost_of_normal(const target *g, const double *outer, double pn) {
  const double at[2] = {outer[0], pn};
  double r;
  return golden(cost_of_radius, g, at, 0, g->mu * pn, &r);
}

static double cost_of_angle(const target *g, const double *outer, double angle) {
  (void)outer;
  double pn;
  const double size = sqrt(g->en * (g->n * g->n / g->en + g->t * g->t / g->et));
  return golden(cost_of_normal, g, &angle, 0, size * (1 + 1e-9), &pn);
}

/* Least cost over the whole cone: a grid of directions, then golden section about the best. */
static double least_cost(const target *g) {
  double best = HUGE_VAL, at = 0, angle;
  for (int i = 0; i < 12; ++i) {
    const double cost = cost_of_angle(g, NULL, 0.1 + TL_PI * i / 6);
    if (cost < best)
      best = cost, at = 0.1 + TL_PI * i / 6;
  }
  return fmin(best, golden(cost_of_angle, g, NULL, at - TL_PI / 6, at + TL_PI / 6, &angle));
}

/* Cost of the point p of the kernel, in double. */
static double cost_of(talus_vec3 g, talus_vec3 n, talus_vec3 p, double en, double et) {
  const talus_vec3 d = tl_sub(p, g);
  const double dn = (double)tl_dot(d, n), square = (double)tl_length2(d) - dn * dn;
  return 0.5 * (dn * dn / en + fmax(square, 0) / et);
}

static double tangent_length(talus_vec3 v, talus_vec3 n) {
  return (double)tl_length(tl_madd(v, -tl_dot(v, n), n));
}

/* Random impulse that visits the inside, the side and the polar cone about equally. */
static talus_vec3 dice_impulse(dice *d, talus_vec3 n, double mu) {
  const talus_vec3 t = tl_normalize(tl_cross(n, dice_unit(d)));
  const double size = pow(10, (double)dice_real(d, -2, 2));
  double gn, gt;
  switch (dice_u64(d) % 4) {
  case 0: /* anywhere */
    gn = (double)dice_real(d, -1, 1), gt = (double)dice_real(d, 0, 1);
    break;
  case 1: /* near the side of the cone */
    gn = 1, gt = mu * (double)dice_real(d, 0.5, 1.5);
    break;
  case 2: /* near the polar cone */
    gn = -mu * (double)dice_real(d, 0.5, 1.5), gt = 1;
    break;
  default: /* straight along the normal */
    gn = (double)dice_real(d, -1, 1), gt = 0;
  }
  return tl_scale(tl_madd(tl_scale(n, TL_R(gn)), TL_R(gt), t), TL_R(size));
}

/* ---- projection --------------------------------------------------------------------------- */

TEST(projection_is_the_nearest_point_of_the_cone_by_search) {
  dice d = {31};
  for (int k = 0; k < 5; ++k)
    for (int scaled = 0; scaled < 2; ++scaled)
      for (int i = 0; i < 10; ++i) {
        const double mu = (double)TL_R(friction[k]);
        const talus_vec3 n = dice_unit(&d), g = dice_impulse(&d, n, mu);
        const talus_real en = scaled ? dice_real(&d, 0.1, 2) : 1;
        const talus_real et = scaled ? dice_real(&d, 0.1, 2) : 1;
        const talus_vec3 p = scaled ? tl_cone_project_scaled(g, n, TL_R(mu), en, et)
                                    : tl_cone_project(g, n, TL_R(mu));
        const target at = {(double)tl_dot(g, n), tangent_length(g, n), mu, (double)en, (double)et};
        const double least = least_cost(&at), got = cost_of(g, n, p, (double)en, (double)et);
        const double size = (double)tl_length(g), unit = size * size / (double)tl_min(en, et);
        CHECK_MSG(got <= least + (1e-9 + ULPS(20)) * unit, "mu %g: cost %.12g, least %.12g", mu,
                  got, least);
        CHECK(got >= least - (1e-9 + ULPS(20)) * unit);
        CHECK(tangent_length(p, n) <= mu * (double)tl_dot(p, n) + ULPS(8) * size * (1 + mu));
      }
}

TEST(projection_satisfies_its_optimality_conditions) {
  /* Moreau: p in K, E^-1 (g - p) in the polar cone, and the two orthogonal: necessary and
   * sufficient, so this is exact where the search above is not. */
  dice d = {32};
  for (int i = 0; i < 20000; ++i) {
    const talus_real mu = TL_R(friction[i % 5]);
    const talus_vec3 n = dice_unit(&d), g = dice_impulse(&d, n, (double)mu);
    const talus_real en = dice_real(&d, 0.1, 2), et = dice_real(&d, 0.1, 2);
    const talus_vec3 p = tl_cone_project_scaled(g, n, mu, en, et);
    const talus_vec3 gap = tl_sub(g, p);
    const talus_real gap_n = tl_dot(gap, n);
    const talus_vec3 gap_t = tl_madd(gap, -gap_n, n);
    const talus_vec3 dual = tl_madd(tl_scale(n, gap_n / en), 1 / et, gap_t);
    const double size = (double)tl_length(g), tol = ULPS(60) * size * (1 + (double)mu);
    CHECK(tangent_length(p, n) <= (double)(mu * tl_dot(p, n)) + tol);
    CHECK((double)tl_dot(p, n) >= -tol);
    CHECK((double)tl_dot(dual, n) + (double)mu * tangent_length(dual, n) <= 20 * tol);
    CHECK_NEAR(tl_dot(p, dual), 0, 20 * tol * size);
    const talus_vec3 prepared = tl_cone_project_with(g, n, tl_cone_make(mu, en, et));
    CHECK_NEAR(distance3(p, prepared), 0, tol);
  }
}

TEST(projection_is_idempotent) {
  dice d = {33};
  for (int i = 0; i < 10000; ++i) {
    const talus_real mu = TL_R(friction[i % 5]);
    const talus_vec3 n = dice_unit(&d), g = dice_impulse(&d, n, (double)mu);
    const talus_real en = dice_real(&d, 0.1, 2), et = dice_real(&d, 0.1, 2);
    const talus_vec3 p = tl_cone_project_scaled(g, n, mu, en, et);
    const talus_vec3 again = tl_cone_project_scaled(p, n, mu, en, et);
    CHECK(distance3(p, again) <= ULPS(16) * (double)tl_length(g) * (1 + (double)mu));
  }
}

TEST(projection_brings_points_no_further_apart) {
  dice d = {34};
  for (int i = 0; i < 20000; ++i) {
    const talus_real mu = TL_R(friction[i % 5]);
    const talus_vec3 n = dice_unit(&d);
    const talus_vec3 a = dice_impulse(&d, n, (double)mu);
    const talus_vec3 b =
        i % 2 ? dice_impulse(&d, n, (double)mu) : tl_madd(a, TL_R(0.01), dice_unit(&d));
    const double en = (double)dice_real(&d, 0.1, 2), et = (double)dice_real(&d, 0.1, 2);
    const talus_vec3 pa = tl_cone_project_scaled(a, n, mu, TL_R(en), TL_R(et));
    const talus_vec3 pb = tl_cone_project_scaled(b, n, mu, TL_R(en), TL_R(et));
    const double before = cost_of(a, n, b, en, et), after = cost_of(pa, n, pb, en, et);
    const double size = (double)tl_length(a) + (double)tl_length(b);
    CHECK_MSG(sqrt(after) <= sqrt(before) + ULPS(100) * size * (1 + (double)mu), "%g > %g", after,
              before);
  }
}

TEST(scaled_projection_is_the_euclidean_one_in_scaled_coordinates) {
  /* y = g/sqrt(E) on the cone of mu sqrt(en/et): the other way to write the matched metric. */
  dice d = {35};
  for (int i = 0; i < 10000; ++i) {
    const talus_real mu = TL_R(friction[i % 5]);
    const talus_vec3 n = dice_unit(&d), g = dice_impulse(&d, n, (double)mu);
    const talus_real en = dice_real(&d, 0.1, 2), et = dice_real(&d, 0.1, 2);
    const talus_real sn = tl_sqrt(en), st = tl_sqrt(et), gn = tl_dot(g, n);
    const talus_vec3 y = tl_madd(tl_scale(n, gn / sn), 1 / st, tl_madd(g, -gn, n));
    const talus_vec3 z = tl_cone_project(y, n, mu * sn / st);
    const talus_real zn = tl_dot(z, n);
    const talus_vec3 expected = tl_madd(tl_scale(n, zn * sn), st, tl_madd(z, -zn, n));
    const talus_vec3 p = tl_cone_project_scaled(g, n, mu, en, et);
    CHECK_NEAR(distance3(p, expected), 0, ULPS(200) * (double)tl_length(g) * (1 + (double)mu));
  }
}

TEST(projection_handles_the_corners) {
  const talus_vec3 n = {0, 0, 1}, zero = {0, 0, 0};
  const talus_vec3 up = {0, 0, 2}, down = {0, 0, -2}, side = {3, 0, 0}, slant = {3, 4, 2};
  for (int k = 0; k < 5; ++k) {
    const talus_real mu = TL_R(friction[k]);
    CHECK(distance3(tl_cone_project(zero, n, mu), zero) == 0);
    CHECK(distance3(tl_cone_project(up, n, mu), up) == 0);
    CHECK(distance3(tl_cone_project(down, n, mu), zero) == 0);
  }
  CHECK(distance3(tl_cone_project(side, n, 0), zero) == 0);
  CHECK(distance3(tl_cone_project(slant, n, 0), up) == 0);
  /* Inside: not a bit may change. */
  const talus_vec3 inside = tl_cone_project(slant, n, 10);
  CHECK(memcmp(&inside, &slant, sizeof inside) == 0);
  /* By hand: mu = 1, g = (3, 0, 0) -> (1.5, 0, 1.5). */
  CHECK_NEAR(distance3(tl_cone_project(side, n, 1), tl_vec3(TL_R(1.5), 0, TL_R(1.5))), 0, ULPS(4));
}

TEST(projection_with_a_locked_direction_moves_only_the_other) {
  dice d = {36};
  for (int i = 0; i < 1000; ++i) {
    const talus_vec3 n = dice_unit(&d), g = dice_impulse(&d, n, 0.5);
    const talus_real gn = tl_dot(g, n), t = TL_R(tangent_length(g, n));
    const double tol = ULPS(20) * (double)tl_length(g);
    if (gn <= TL_R(tol) || t <= TL_R(0.5) * gn)
      continue;
    /* en = 0: the normal impulse stands, friction is cut. et = 0: the other way round. */
    const talus_vec3 a = tl_cone_project_scaled(g, n, TL_R(0.5), 0, 1);
    CHECK_NEAR(tl_dot(a, n), gn, tol);
    CHECK_NEAR(tangent_length(a, n), TL_R(0.5) * gn, tol);
    const talus_vec3 b = tl_cone_project_scaled(g, n, TL_R(0.5), 1, 0);
    CHECK_NEAR(tl_dot(b, n), 2 * t, 2 * tol);
    CHECK_NEAR(tangent_length(b, n), t, tol);
    /* Frictionless with a locked tangent, and everything locked: 0/0 in the formulas. */
    CHECK_NEAR(distance3(tl_cone_project_scaled(g, n, 0, 1, 0), tl_scale(n, gn)), 0, tol);
    const talus_vec3 c = tl_cone_project_scaled(g, n, TL_R(0.5), 0, 0);
    CHECK_NEAR(distance3(c, a), 0, tol);
    for (int k = 0; k < 4; ++k) {
      const talus_real mu = k == 2 ? TL_R(0) : TL_R(0.5), en = k % 2 ? TL_R(1) : TL_R(0);
      const talus_real et = k == 0 ? TL_R(1) : TL_R(0);
      const talus_vec3 p = tl_cone_project_scaled(g, n, mu, en, et);
      const talus_vec3 q = tl_cone_project_with(g, n, tl_cone_make(mu, en, et));
      CHECK_NEAR(distance3(p, q), 0, 2 * tol);
    }
  }
}

TEST(what_is_not_a_number_is_not_projected_away) {
  volatile talus_real zero = 0;
  const talus_vec3 n = {0, 0, 1}, bad = {0, zero / zero, 1};
  CHECK(!tl_is_finite3(tl_cone_project(bad, n, 1)));
  CHECK(!tl_is_finite3(tl_cone_project_with(bad, n, tl_cone_make(1, 1, 2))));
}

/* ---- response ----------------------------------------------------------------------------- */

typedef struct solid {
  talus_vec3 inv_mass;
  tl_sym3 inv_inertia;
  talus_vec3 arm;
} solid;

static solid dice_solid(dice *d) {
  solid s;
  const talus_real m = dice_real(d, 0.1, 3);
  const talus_vec3 moments = tl_scale(dice_inertia(d), 1 / m);
  s.inv_mass = tl_vec3(1 / m, 1 / m, 1 / m);
  s.inv_inertia =
      tl_sym3_rotated(dice_quat(d), tl_vec3(1 / moments.x, 1 / moments.y, 1 / moments.z));
  s.arm = dice_vec3(d, 2);
  return s;
}

static tl_sym3 dice_response(dice *d) {
  const solid a = dice_solid(d), b = dice_solid(d);
  return tl_sym3_add(tl_point_response(a.inv_mass, a.inv_inertia, a.arm),
                     tl_point_response(b.inv_mass, b.inv_inertia, b.arm));
}

TEST(point_response_is_the_six_by_six_product) {
  dice d = {37};
  for (int i = 0; i < 500; ++i) {
    solid s = dice_solid(&d);
    s.inv_mass = tl_vec3(dice_real(&d, 0, 2), 0, dice_real(&d, 0, 2)); /* y is locked */
    const double w[3][3] = {
        {(double)s.inv_inertia.xx, (double)s.inv_inertia.xy, (double)s.inv_inertia.xz},
        {(double)s.inv_inertia.xy, (double)s.inv_inertia.yy, (double)s.inv_inertia.yz},
        {(double)s.inv_inertia.xz, (double)s.inv_inertia.yz, (double)s.inv_inertia.zz}};
    const double x = (double)s.arm.x, y = (double)s.arm.y, z = (double)s.arm.z;
    /* D^T = [I, -[arm]x]: point velocity from (v, omega). */
    const double dt[3][6] = {{1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}, {0, 0, 1, y, -x, 0}};
    double inverse[6][6] = {{0}}, n[3][3];
    inverse[0][0] = (double)s.inv_mass.x, inverse[1][1] = (double)s.inv_mass.y;
    inverse[2][2] = (double)s.inv_mass.z;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        inverse[3 + a][3 + b] = w[a][b];
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        n[a][b] = 0;
        for (int j = 0; j < 6; ++j)
          for (int k = 0; k < 6; ++k)
            n[a][b] += dt[a][j] * inverse[j][k] * dt[b][k];
      }
    const tl_sym3 r = tl_point_response(s.inv_mass, s.inv_inertia, s.arm);
    const double tol = ULPS(20) * (double)(tl_sym3_norm_inf(s.inv_inertia) * 12 + 2);
    CHECK_NEAR(r.xx, n[0][0], tol);
    CHECK_NEAR(r.yy, n[1][1], tol);
    CHECK_NEAR(r.zz, n[2][2], tol);
    CHECK_NEAR(r.xy, n[0][1], tol);
    CHECK_NEAR(r.xz, n[0][2], tol);
    CHECK_NEAR(r.yz, n[1][2], tol);
    CHECK_NEAR(n[1][0], n[0][1], 1e-12 * (1 + fabs(n[0][1])));
  }
}

TEST(point_response_predicts_the_velocity_change_of_an_impulse) {
  dice d = {38};
  for (int i = 0; i < 500; ++i) {
    const solid s = dice_solid(&d);
    const talus_vec3 p = dice_vec3(&d, 1);
    const talus_vec3 v = tl_mul(s.inv_mass, p);
    const talus_vec3 w = tl_sym3_mul_vec(s.inv_inertia, tl_cross(s.arm, p));
    const talus_vec3 expected = tl_add(v, tl_cross(w, s.arm));
    const talus_vec3 got = tl_sym3_mul_vec(tl_point_response(s.inv_mass, s.inv_inertia, s.arm), p);
    CHECK_NEAR(distance3(got, expected), 0,
               ULPS(30) * (double)(tl_sym3_norm_inf(s.inv_inertia) * 12 + 2));
  }
}

/* ---- step --------------------------------------------------------------------------------- */

TEST(scalar_step_is_stable_and_positive) {
  dice d = {39};
  int beyond = 0;
  for (int i = 0; i < 2000; ++i) {
    const tl_sym3 n = dice_response(&d);
    const double eta = (double)tl_step_eta(n), largest = (double)tl_sym3_eigenvalue_max(n);
    CHECK(eta > 0);
    CHECK_NEAR(eta * largest, 1, ULPS(4));
    CHECK(eta <= 3 / (double)tl_sym3_trace(n));
    beyond += 3 / (double)tl_sym3_trace(n) > 1.3 / largest;
  }
  CHECK(beyond > 0); /* 3/trace alone is longer, so that the minimum has something to do */
  const talus_real four = opaque(4), zero = opaque(0);
  CHECK(tl_step_eta(tl_sym3_diagonal(tl_vec3(four, four, four))) == TL_R(0.25));
  CHECK(tl_step_eta(tl_sym3_diagonal(tl_vec3(zero, zero, zero))) == 0);
}

TEST(step_metric_majorises_half_the_response) {
  /* 2 E^-1 - N must have no negative eigenvalue: that is what makes the step safe. */
  dice d = {40};
  double closest = HUGE_VAL;
  for (int i = 0; i < 5000; ++i) {
    const talus_vec3 n = dice_unit(&d);
    tl_sym3 N = dice_response(&d);
    if (i % 4 == 0) { /* all but the lever arm locked: coupling as strong as it gets */
      const solid s = dice_solid(&d);
      N = tl_point_response(tl_vec3(0, 0, 0), s.inv_inertia, s.arm);
    }
    talus_real en, et;
    tl_step_metric(N, n, &en, &et);
    CHECK(en > 0 && et > 0);
    CHECK_NEAR(1 / en, tl_dot(n, tl_sym3_mul_vec(N, n)), ULPS(8) * (double)tl_sym3_norm_inf(N));
    /* 2 E^-1 = (2/et) I + (2/en - 2/et) n n^T */
    const talus_real f = 2 / en - 2 / et;
    tl_sym3 rest = tl_sym3_diagonal(tl_vec3(2 / et, 2 / et, 2 / et));
    rest.xx += f * n.x * n.x, rest.yy += f * n.y * n.y, rest.zz += f * n.z * n.z;
    rest.xy += f * n.x * n.y, rest.xz += f * n.x * n.z, rest.yz += f * n.y * n.z;
    rest = tl_sym3_add(rest, tl_sym3_scale(N, -1));
    const double least = -(double)tl_sym3_eigenvalue_max(tl_sym3_scale(rest, -1));
    const double size = (double)tl_sym3_norm_inf(rest) + (double)tl_sym3_norm_inf(N);
    CHECK_MSG(least >= -ULPS(60) * size, "least eigenvalue %g of size %g", least, size);
    closest = fmin(closest, least / size);
  }
  CHECK_MSG(closest < 0.01, "the test never came near the bound: %g", closest);
}

TEST(step_metric_is_zero_where_nothing_moves) {
  const talus_vec3 n = {0, 0, 1};
  talus_real en = 7, et = 7;
  tl_step_metric(tl_sym3_diagonal(tl_vec3(2, opaque(1), 0)), n, &en, &et);
  CHECK(en == 0 && et == TL_R(0.5));
  tl_step_metric(tl_sym3_diagonal(tl_vec3(0, opaque(0), 4)), n, &en, &et);
  CHECK(en == TL_R(0.25) && et == 0);
}

static double objective(tl_sym3 N, talus_vec3 b, talus_vec3 p) {
  return (double)tl_dot(p, tl_sym3_mul_vec(N, p)) / 2 + (double)tl_dot(p, b);
}

TEST(projected_step_in_the_metric_never_raises_the_objective_and_finds_the_solution) {
  dice d = {41};
  for (int i = 0; i < 300; ++i) {
    const talus_vec3 n = dice_unit(&d), b = dice_vec3(&d, 1);
    const tl_sym3 N = dice_response(&d);
    const talus_real mu = TL_R(friction[i % 5]), eta = tl_step_eta(N);
    talus_real en, et;
    tl_step_metric(N, n, &en, &et);
    talus_vec3 p = tl_cone_project(dice_vec3(&d, 1), n, mu), q = p;
    double residual = 0;
    for (int k = 0; k < 4000; ++k) {
      const talus_vec3 u = tl_add(tl_sym3_mul_vec(N, p), b);
      const talus_real un = tl_dot(u, n);
      const talus_vec3 g = tl_madd(tl_madd(p, -en * un, n), -et, tl_madd(u, -un, n));
      const talus_vec3 next = tl_cone_project_scaled(g, n, mu, en, et);
      const double scale =
          (double)tl_sym3_norm_inf(N) * (double)tl_length2(p) + (double)tl_length(p);
      CHECK(objective(N, b, next) <= objective(N, b, p) + ULPS(60) * scale);
      residual = (double)tl_contact_residual(p, u, n, mu, eta);
      p = next;
      if (residual < 1e-3 * sqrt((double)TL_REAL_EPS))
        break;
      /* The scalar step with the Euclidean projection must end at the same place. */
      q = tl_cone_project(tl_madd(q, -eta, tl_add(tl_sym3_mul_vec(N, q), b)), n, mu);
    }
    CHECK_MSG(residual < sqrt((double)TL_REAL_EPS), "residual %g, mu %g", residual, (double)mu);
    for (int k = 0; k < 20000; ++k)
      q = tl_cone_project(tl_madd(q, -eta, tl_add(tl_sym3_mul_vec(N, q), b)), n, mu);
    CHECK_NEAR(objective(N, b, p), objective(N, b, q), 1e-9 + ULPS(200));
  }
}

/* ---- residual ----------------------------------------------------------------------------- */

TEST(residual_is_the_violation_as_a_velocity) {
  const talus_vec3 n = {0, 0, 1}, none = {0, 0, 0};
  const talus_real eta = TL_R(0.01), mu = TL_R(0.5);
  /* Separating without impulse, resting with one, sliding on the side of the cone: solved. */
  CHECK(tl_contact_residual(none, tl_vec3(0, 0, 3), n, mu, eta) == 0);
  CHECK(tl_contact_residual(tl_vec3(0, 0, 2), none, n, mu, eta) == 0);
  /* Approaching at 3 m/s without impulse: off by 3 m/s, whatever eta. */
  CHECK_NEAR(tl_contact_residual(none, tl_vec3(0, 0, -3), n, mu, eta), 3, ULPS(8));
  CHECK_NEAR(tl_contact_residual(none, tl_vec3(0, 0, -3), n, mu, TL_R(1e3)), 3, ULPS(8));
  /* Separating although pressed: off by the speed of separation. */
  CHECK_NEAR(tl_contact_residual(tl_vec3(0, 0, 2), tl_vec3(0, 0, 3), n, mu, eta), 3, ULPS(400));
  /* Sliding at -x with full friction along +x and u_n = mu |u_t|: the solution of the relaxed
   * problem; the same with u_n = 0 is not. */
  const talus_vec3 press = tl_vec3(TL_R(0.5), 0, 1);
  CHECK_NEAR(tl_contact_residual(press, tl_vec3(-2, 0, 1), n, mu, eta), 0, ULPS(400));
  CHECK(tl_contact_residual(press, tl_vec3(-2, 0, 0), n, mu, eta) > TL_R(0.5));
  CHECK(tl_contact_residual(press, tl_vec3(0, 0, -9), n, mu, 0) == 0);
}

/* ---- bias --------------------------------------------------------------------------------- */

TEST(bias_of_a_limit_follows_each_branch_of_its_rule) {
  /* gap, h, speed before, restitution, recovery, bounce -> b_n */
  static const struct {
    double gap, h, speed, restitution, recovery, bounce, expected;
    const char *why;
  } row[] = {
      {0.001, 0.01, 0, 0, 0.6, 0.2, 0.1, "apart: may close the gap"},
      {0, 0.01, 0, 0, 0.6, 0.2, 0, "touching"},
      {0, 0.01, -5, 0, 0.6, 0.2, 0, "touching and coming, inelastic"},
      {-0.001, 0.01, 0, 0, 0.6, 0.2, -0.1, "small overlap: out within the step"},
      {-0.1, 0.01, 0, 0, 0.6, 0.2, -0.6, "deep overlap: bounded"},
      {-0.1, 0.01, 0, 0, 0, 0.2, 0, "no recovery wanted"},
      {0.001, 0.01, -5, 0.5, 0.6, 0.2, -2.5, "bounces through the speculative gap"},
      {0.001, 0.01, -0.05, 0.5, 0.6, 0.01, 0.1, "does not arrive within the step"},
      {0.125, 0.0625, -2, 0.5, 0.6, 0.01, 2, "touches just at the end: no bounce"},
      {0, 0.01, -0.1, 0.5, 0.6, 0.2, 0, "too slow to bounce"},
      {0, 0.01, -0.2, 0.5, 0.6, 0.2, 0, "exactly the bounce speed: does not bounce"},
      {0, 0.01, -0.3, 0.5, 0.6, 0.2, -0.15, "just fast enough"},
      {0, 0.01, 5, 0.5, 0.6, 0.2, 0, "leaving"},
      {-0.001, 0.01, -5, 0.5, 0.6, 0.2, -2.5, "overlapping and fast: the bounce wins"},
      {-0.1, 0.01, -0.5, 0.5, 0.6, 0.2, -0.6, "overlapping and slow: recovery wins"},
      {-0.1, 0.01, 2, 0.5, 0.6, 0.2, -0.6, "overlapping and leaving: recovery"},
      {0.02, 0.01, -5, 1, 0.6, 0.2, -5, "elastic: the speed is turned round"},
      {0.2, 0.01, -5, 1, 0.6, 0.2, 20, "far: no contact in this step"},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
    const talus_real got =
        tl_limit_bias(TL_R(row[i].gap), TL_R(row[i].h), TL_R(row[i].speed),
                      TL_R(row[i].restitution), TL_R(row[i].recovery), TL_R(row[i].bounce));
    CHECK_MSG(fabs((double)got - row[i].expected) <= ULPS(4) * (1 + fabs(row[i].expected)),
              "%s: got %g, expected %g", row[i].why, (double)got, row[i].expected);
    if (row[i].restitution == 0)
      CHECK(got == tl_contact_bias(TL_R(row[i].gap), TL_R(row[i].h), TL_R(row[i].recovery)));
  }
}

TEST(bias_of_a_bounce_is_never_above_the_bias_without) {
  dice d = {42};
  for (int i = 0; i < 5000; ++i) {
    const talus_real gap = dice_real(&d, -0.05, 0.05), speed = dice_real(&d, -6, 2);
    const talus_real e = dice_real(&d, 0, 1);
    const talus_real with = tl_limit_bias(gap, TL_R(0.01), speed, e, TL_R(0.6), TL_R(0.1));
    const talus_real without = tl_limit_bias(gap, TL_R(0.01), speed, 0, TL_R(0.6), TL_R(0.1));
    CHECK(with <= without);
    if (with < without) /* a bounce: leaves with e times the speed of approach */
      CHECK(with == e * speed && gap + TL_R(0.01) * speed < 0);
  }
}

TEST(friction_of_an_impact_that_let_go_is_zero) {
  tl_ccp_body a = {.inv_mass = 0}, b = {.inv_mass = 1, .inv_inertia = 2};
  const tl_impact_pair pair = {&a, &b, NULL, NULL};
  tl_impact_row row = {.normal = tl_vec3(0, 0, 1), .friction = TL_R(1.5), .en = 1, .et = 1};
  row.impulse = tl_vec3(0, 0, TL_R(-1e-20)); /* what rounding leaves of a normal impulse */
  CHECK(tl_impact_rub(&pair, &row) == 0);
  CHECK(row.impulse.x == 0 && row.impulse.y == 0 && b.v.x == 0 && b.v.y == 0 && b.v.z == 0);
}

TEST_MAIN()
