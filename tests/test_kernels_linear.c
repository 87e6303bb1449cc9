/* Kernels: reals, vectors, quaternions, matrices, boxes and Morton codes. */
#include "kernels/aabb.h"
#include "kernels/morton.h"
#include "test_kernels.h"

/* ---- reals -------------------------------------------------------------------------------- */

TEST(finiteness_is_read_from_the_bits) {
  volatile double zero = 0;
  const double nan = zero / zero, inf = 1 / zero;
  CHECK(!tl_is_finite_d(nan) && !tl_is_finite_d(inf) && !tl_is_finite_d(-inf));
  CHECK(tl_is_finite_d(0) && tl_is_finite_d(-DBL_MAX) && tl_is_finite_d(DBL_MIN / 4));
  CHECK(!tl_is_finite(TL_R(nan)) && !tl_is_finite(TL_R(inf)) && !tl_is_finite(TL_R(-inf)));
  CHECK(tl_is_finite(TL_REAL_MAX) && tl_is_finite(-TL_REAL_MAX) && tl_is_finite(0));
  CHECK(!tl_is_finite3(tl_vec3(0, 0, TL_R(nan))) && !tl_is_finite3(tl_vec3(0, TL_R(inf), 0)));
  CHECK(tl_is_finite3(tl_vec3(1, 2, 3)));
}

TEST(real_wrappers_do_what_they_are_called) {
  CHECK(TL_R(1) + TL_REAL_EPS > 1);
  volatile talus_real sum = TL_R(1) + TL_REAL_EPS / 2;
  CHECK(sum == 1);
  CHECK(tl_sqrt(9) == 3 && tl_abs(-2) == 2 && tl_floor(TL_R(-1.5)) == -2);
  CHECK(tl_min(1, 2) == 1 && tl_max(1, 2) == 2);
  CHECK(tl_clamp(5, 0, 3) == 3 && tl_clamp(-5, 0, 3) == 0 && tl_clamp(1, 0, 3) == 1);
  CHECK_NEAR(tl_sin(TL_R(0.5)), sin(0.5), ULPS(1));
  CHECK_NEAR(tl_cos(TL_R(0.5)), cos(0.5), ULPS(1));
  CHECK_NEAR(tl_acos(TL_R(0.5)), acos(0.5), ULPS(2));
  CHECK(tl_hypot(0, 0) == 0 && tl_hypot(3, 4) == 5 && tl_hypot(-4, 3) == 5);
  const talus_real big = TL_REAL_MAX / 2;
  CHECK_NEAR(tl_hypot(big, big) / big, sqrt(2), ULPS(2));
}

/* ---- vectors ------------------------------------------------------------------------------ */

TEST(vector_algebra_holds) {
  dice d = {1};
  for (int i = 0; i < 1000; ++i) {
    const talus_vec3 a = dice_vec3(&d, 2), b = dice_vec3(&d, 2);
    const talus_real s = dice_real(&d, -2, 2);
    const talus_vec3 c = tl_cross(a, b);
    CHECK_NEAR(tl_dot(c, a), 0, ULPS(40));
    CHECK_NEAR(tl_dot(c, b), 0, ULPS(40));
    /* Lagrange: |a x b|^2 + (a.b)^2 = |a|^2 |b|^2. */
    CHECK_NEAR(tl_length2(c) + tl_dot(a, b) * tl_dot(a, b), tl_length2(a) * tl_length2(b),
               ULPS(400));
    CHECK(distance3(tl_madd(a, s, b), tl_add(a, tl_scale(b, s))) == 0);
    CHECK(distance3(tl_sub(a, b), tl_add(a, tl_neg(b))) == 0);
    CHECK_NEAR(tl_dot(tl_mul(a, b), tl_vec3(1, 1, 1)), tl_dot(a, b), ULPS(20));
    CHECK_NEAR(tl_length(a) * tl_length(a), tl_length2(a), ULPS(40));
  }
}

TEST(normalize_gives_unit_length_at_every_scale) {
  dice d = {2};
  /* Far inside and far outside the range where the squared length can be represented. */
  const double exponent = log10((double)TL_REAL_MAX) - 2;
  for (int i = 0; i < 1000; ++i) {
    const talus_vec3 u = dice_unit(&d);
    const talus_real size = TL_R(pow(10, (double)dice_real(&d, -exponent, exponent)));
    const talus_vec3 v = tl_normalize(tl_scale(u, size));
    CHECK_NEAR(tl_length(v), 1, ULPS(4));
    CHECK_NEAR(distance3(u, v), 0, ULPS(8));
  }
  CHECK(tl_length(tl_normalize(tl_vec3(0, 0, 0))) == 0);
  for (int k = 1; k < 200; ++k) {
    const talus_vec3 v = tl_normalize(tl_vec3(0, (talus_real)-k / 10, 0));
    CHECK(v.x == 0 && v.y == -1 && v.z == 0);
  }
}

TEST(any_orthogonal_is_unit_and_orthogonal_for_every_direction) {
  dice d = {3};
  talus_vec3 n[1006] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  for (int i = 6; i < 1006; ++i)
    n[i] = dice_unit(&d);
  /* Right beside the south pole, where the formula for the other half of the sphere blows up. */
  n[7] = tl_normalize(tl_vec3(TL_R(1e-7), TL_R(-1e-9), -1));
  n[8] = tl_normalize(tl_vec3(TL_REAL_MIN, TL_REAL_MIN, -1));
  for (int i = 0; i < 1006; ++i) {
    const talus_vec3 t = tl_any_orthogonal(n[i]);
    CHECK_NEAR(tl_dot(t, n[i]), 0, ULPS(4));
    CHECK_NEAR(tl_length(t), 1, ULPS(4));
  }
}

TEST(any_orthogonal_turns_little_when_the_normal_does) {
  dice d = {4};
  for (int i = 0; i < 1000; ++i) {
    const talus_vec3 n = dice_unit(&d);
    if (tl_abs(n.z) < TL_R(0.01))
      continue;
    const talus_vec3 m = tl_normalize(tl_madd(n, TL_R(1e-3), dice_unit(&d)));
    CHECK(distance3(tl_any_orthogonal(n), tl_any_orthogonal(m)) <= 4e-3);
  }
}

TEST(difference_of_far_places_is_taken_in_double) {
  const talus_dvec3 a = tl_dvec3(1e7, -1e7, 3e6), b = tl_dvec3(1e7 + 0.001, -1e7, 3e6 - 0.25);
  const talus_vec3 d = tl_between(a, b);
  CHECK_NEAR(d.x, b.x - a.x, 1e-3 * ULPS(1));
  CHECK(d.y == 0 && d.z == TL_R(-0.25));
  const talus_dvec3 c = tl_moved(a, d);
  CHECK_NEAR(c.x, b.x, 2e-9);
  CHECK(c.y == b.y && c.z == b.z);
  const talus_dvec3 e = tl_dmadd(a, 1e-3, tl_vec3(1, 2, 3));
  CHECK(e.x == 1e7 + 1e-3 && e.y == -1e7 + 2e-3 && e.z == 3e6 + 3e-3);
  CHECK(tl_dlength(tl_dvec3(3, 0, 4)) == 5);
  CHECK(tl_ddot(tl_dvec3(1, 2, 3), tl_dvec3(4, 5, 6)) == 32);
  CHECK(tl_dlength(tl_dsub(tl_dadd(a, b), tl_dadd(b, a))) == 0);
  CHECK(tl_dscale(tl_widen(tl_vec3(1, 2, 3)), 2).z == 6);
  CHECK(tl_narrow(tl_dvec3(1, 2, 3)).y == 2);
}

/* ---- quaternions -------------------------------------------------------------------------- */

TEST(quaternion_turns_as_its_axis_and_angle_say) {
  const talus_quat q = tl_quat_from_axis_angle(tl_vec3(0, 0, 1), TL_R(TL_PI / 2));
  CHECK_NEAR(distance3(tl_quat_rotate(q, tl_vec3(1, 0, 0)), tl_vec3(0, 1, 0)), 0, ULPS(2));
  CHECK_NEAR(distance3(tl_quat_rotate(q, tl_vec3(0, 1, 0)), tl_vec3(-1, 0, 0)), 0, ULPS(2));
  dice d = {5};
  for (int i = 0; i < 1000; ++i) {
    /* Rodrigues: v cos + (k x v) sin + k (k.v)(1 - cos). */
    const talus_vec3 k = dice_unit(&d), v = dice_vec3(&d, 2);
    const talus_real angle = dice_real(&d, -6, 6);
    const talus_vec3 expected =
        tl_madd(tl_madd(tl_scale(v, tl_cos(angle)), tl_sin(angle), tl_cross(k, v)),
                tl_dot(k, v) * (1 - tl_cos(angle)), k);
    const talus_quat r = tl_quat_from_axis_angle(k, angle);
    CHECK_NEAR(distance3(tl_quat_rotate(r, v), expected), 0, ULPS(40));
    CHECK_NEAR(quat_distance(r, tl_quat_from_rotation_vector(tl_scale(k, angle))), 0, ULPS(16));
  }
}

TEST(quaternion_identities_hold) {
  dice d = {6};
  for (int i = 0; i < 1000; ++i) {
    const talus_quat a = dice_quat(&d), b = dice_quat(&d);
    const talus_vec3 v = dice_vec3(&d, 1);
    CHECK_NEAR(quat_distance(tl_quat_mul(a, tl_quat_conj(a)), tl_quat_identity()), 0, ULPS(8));
    CHECK_NEAR(distance3(tl_quat_unrotate(a, tl_quat_rotate(a, v)), v), 0, ULPS(20));
    CHECK_NEAR(
        distance3(tl_quat_rotate(tl_quat_mul(a, b), v), tl_quat_rotate(a, tl_quat_rotate(b, v))), 0,
        ULPS(30));
    CHECK_NEAR(tl_length(tl_quat_rotate(a, v)), tl_length(v), ULPS(10));
    const talus_real s = dice_real(&d, 0.01, 100);
    const talus_quat scaled = tl_quat(a.w * s, a.x * s, a.y * s, a.z * s);
    CHECK_NEAR(quat_distance(tl_quat_normalize(scaled), a), 0, ULPS(6));
  }
  const talus_quat tiny = tl_quat(0, TL_REAL_MIN, TL_REAL_MIN, 0);
  CHECK_NEAR(tl_quat_dot(tl_quat_normalize(tiny), tl_quat_normalize(tiny)), 1, ULPS(4));
  CHECK(tl_quat_normalize(tl_quat(0, 0, 0, 0)).w == 1);
}

TEST(rotation_vector_keeps_its_digits_down_to_nothing) {
  /* exp(v) has vector part sin(|v|/2) v/|v|: relative error of every component, from denormal
   * angles through the join of series and library function at 0.2 rad up to several turns. */
  for (double angle = 1e-30; angle < 20; angle *= 1.37) {
    const double x = 0.6 * angle, z = -0.8 * angle;
    const talus_vec3 v = tl_vec3(TL_R(x), 0, TL_R(z));
    const double size = sqrt((double)v.x * (double)v.x + (double)v.z * (double)v.z);
    const talus_quat q = tl_quat_from_rotation_vector(v);
    const double s = sin(size / 2) / size, tol = ULPS(4) * (1 + angle);
    CHECK_NEAR((double)q.x / (double)v.x, s, tol);
    CHECK_NEAR((double)q.z / (double)v.z, s, tol);
    CHECK_NEAR(q.w, cos(size / 2), tol);
  }
  const talus_quat still = tl_quat_from_rotation_vector(tl_vec3(0, 0, 0));
  CHECK(still.w == 1 && still.x == 0 && still.y == 0 && still.z == 0);
  for (double angle = 0.1999; angle < 0.2001; angle += 1e-6) {
    const double a = (double)TL_R(angle);
    const talus_quat q = tl_quat_from_rotation_vector(tl_vec3(0, TL_R(a), 0));
    CHECK_NEAR(q.y, sin(a / 2), ULPS(0.25));
    CHECK_NEAR(q.w, cos(a / 2), ULPS(1.5));
  }
}

/* ---- matrices ----------------------------------------------------------------------------- */

TEST(rotation_matrix_agrees_with_its_quaternion) {
  dice d = {7};
  for (int i = 0; i < 500; ++i) {
    const talus_quat a = dice_quat(&d), b = dice_quat(&d);
    const tl_mat3 ra = tl_mat3_from_quat(a), rb = tl_mat3_from_quat(b);
    const talus_vec3 v = dice_vec3(&d, 1);
    CHECK_NEAR(distance3(tl_mat3_mul_vec(ra, v), tl_quat_rotate(a, v)), 0, ULPS(12));
    CHECK_NEAR(distance3(tl_mat3_tmul_vec(ra, v), tl_quat_unrotate(a, v)), 0, ULPS(12));
    CHECK_NEAR(distance3(tl_mat3_mul_vec(tl_mat3_transpose(ra), v), tl_mat3_tmul_vec(ra, v)), 0,
               ULPS(4));
    const talus_vec3 both = tl_quat_rotate(tl_quat_mul(a, b), v);
    CHECK_NEAR(distance3(tl_mat3_mul_vec(tl_mat3_mul(ra, rb), v), both), 0, ULPS(20));
  }
}

static tl_sym3 dice_sym3(dice *d) {
  tl_sym3 s;
  s.xx = dice_real(d, -1, 1), s.yy = dice_real(d, -1, 1), s.zz = dice_real(d, -1, 1);
  s.xy = dice_real(d, -1, 1), s.xz = dice_real(d, -1, 1), s.yz = dice_real(d, -1, 1);
  return s;
}

TEST(rotated_tensor_acts_as_rotate_scale_unrotate) {
  dice d = {8};
  for (int i = 0; i < 500; ++i) {
    const talus_quat q = dice_quat(&d);
    const talus_vec3 p = dice_vec3(&d, 1), v = dice_vec3(&d, 1);
    const tl_sym3 s = tl_sym3_rotated(q, p);
    const talus_vec3 expected = tl_quat_rotate(q, tl_mul(p, tl_quat_unrotate(q, v)));
    CHECK_NEAR(distance3(tl_sym3_mul_vec(s, v), expected), 0, ULPS(16));
    CHECK_NEAR(tl_sym3_trace(s), p.x + p.y + p.z, ULPS(12));
    CHECK(tl_sym3_norm_inf(s) >=
          tl_max(tl_max(tl_abs(p.x), tl_abs(p.y)), tl_abs(p.z)) * (1 - 16 * TL_REAL_EPS));
    const tl_sym3 ball = tl_sym3_rotated(q, tl_vec3(TL_R(0.3), TL_R(0.3), TL_R(0.3)));
    CHECK(ball.xx == TL_R(0.3) && ball.yy == TL_R(0.3) && ball.zz == TL_R(0.3));
    CHECK(ball.xy == 0 && ball.xz == 0 && ball.yz == 0);
  }
}

TEST(inverse_times_matrix_is_the_identity) {
  dice d = {9};
  for (int i = 0; i < 1000; ++i) {
    /* Moments of grains: far below the cube root of the smallest float. */
    const talus_real size = TL_R(pow(10, (double)dice_real(&d, -18, 6)));
    const tl_sym3 a = tl_sym3_rotated(dice_quat(&d), tl_scale(dice_inertia(&d), size));
    tl_sym3 b;
    CHECK(tl_sym3_inverse(a, &b));
    const talus_vec3 v = dice_unit(&d);
    CHECK_NEAR(distance3(tl_sym3_mul_vec(a, tl_sym3_mul_vec(b, v)), v), 0, ULPS(2000));
  }
}

TEST(inverse_refuses_singular_matrices_and_keeps_its_hands_off) {
  dice d = {10};
  tl_sym3 out;
  memset(&out, 0, sizeof out);
  const tl_sym3 untouched = out;
  const talus_vec3 flat[4] = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {0, -3, 1}};
  for (int i = 0; i < 400; ++i) {
    const tl_sym3 a = tl_sym3_rotated(i < 4 ? tl_quat_identity() : dice_quat(&d), flat[i % 4]);
    /* A singular matrix that was rounded may have become a regular one: entries are then those of
     * an inverse as large as 1/epsilon, never small and wrong. */
    if (tl_sym3_inverse(a, &out)) {
      CHECK(i >= 4 && tl_sym3_norm_inf(out) > TL_R(0.01) / TL_REAL_EPS);
      out = untouched;
    }
    CHECK(memcmp(&out, &untouched, sizeof out) == 0);
  }
  tl_sym3 bad = tl_sym3_diagonal(tl_vec3(opaque(1), 1, 1));
  bad.xy = opaque(0) / opaque(0);
  CHECK(!tl_sym3_inverse(bad, &out));
  /* Diagonal scaling is no loss of rank. */
  CHECK(tl_sym3_inverse(tl_sym3_diagonal(tl_vec3(opaque(TL_R(1e-20)), 1, 2)), &out));
  CHECK_NEAR((double)out.xx * 1e-20, 1, ULPS(4));
}

/* det(a - value I) in double, from the entries as this build holds them. */
static double characteristic(tl_sym3 a, double value) {
  const double xx = (double)a.xx - value, yy = (double)a.yy - value, zz = (double)a.zz - value;
  const double xy = (double)a.xy, xz = (double)a.xz, yz = (double)a.yz;
  return xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
}

TEST(eigen_reconstructs_the_matrix) {
  dice d = {11};
  for (int i = 0; i < 2000; ++i) {
    const talus_real size = TL_R(pow(10, (double)dice_real(&d, -15, 15)));
    const tl_sym3 a = tl_sym3_scale(dice_sym3(&d), size);
    talus_vec3 values;
    talus_quat q;
    tl_sym3_eigen(a, &values, &q);
    CHECK_NEAR(tl_quat_dot(q, q), 1, ULPS(4));
    CHECK(sym3_distance(a, tl_sym3_rotated(q, values)) <= ULPS(60) * (double)size);
    const tl_mat3 r = tl_mat3_from_quat(q);
    for (int k = 0; k < 3; ++k) {
      const talus_real value = k == 0 ? values.x : k == 1 ? values.y : values.z;
      const talus_vec3 axis = tl_vec3(r.m[0][k], r.m[1][k], r.m[2][k]);
      CHECK(distance3(tl_sym3_mul_vec(a, axis), tl_scale(axis, value)) <= ULPS(60) * (double)size);
    }
  }
}

TEST(eigen_of_a_diagonal_matrix_turns_nothing) {
  const talus_vec3 p = {3, 1, 2};
  talus_vec3 values;
  talus_quat q;
  tl_sym3_eigen(tl_sym3_diagonal(p), &values, &q);
  CHECK(values.x == 3 && values.y == 1 && values.z == 2);
  CHECK(q.w == 1 && q.x == 0 && q.y == 0 && q.z == 0);
  tl_sym3_eigen(tl_sym3_diagonal(tl_vec3(0, 0, 0)), &values, &q);
  CHECK(tl_length(values) == 0 && q.w == 1);
}

TEST(eigen_handles_multiple_eigenvalues) {
  dice d = {12};
  for (int i = 0; i < 500; ++i) {
    const talus_real a = dice_real(&d, 0.1, 2), b = dice_real(&d, 0.1, 2);
    const talus_vec3 p = i % 2 ? tl_vec3(a, b, a) : tl_vec3(a, a, a * (1 + 2 * TL_REAL_EPS));
    const tl_sym3 s = tl_sym3_rotated(dice_quat(&d), p);
    talus_vec3 values;
    talus_quat q;
    tl_sym3_eigen(s, &values, &q);
    CHECK_NEAR(sym3_distance(s, tl_sym3_rotated(q, values)), 0, ULPS(60));
    CHECK_NEAR(tl_max(tl_max(values.x, values.y), values.z), tl_max(tl_max(p.x, p.y), p.z),
               ULPS(30));
    CHECK_NEAR(tl_min(tl_min(values.x, values.y), values.z), tl_min(tl_min(p.x, p.y), p.z),
               ULPS(30));
  }
}

TEST(largest_eigenvalue_is_the_last_root_of_the_characteristic_polynomial) {
  dice d = {13};
  for (int i = 0; i < 2000; ++i) {
    const tl_sym3 a = dice_sym3(&d);
    const double largest = (double)tl_sym3_eigenvalue_max(a);
    /* The polynomial is negative beyond its last root and changes sign there; bisect in double. */
    double lo = -4, hi = 4;
    talus_vec3 values;
    talus_quat q;
    tl_sym3_eigen(a, &values, &q);
    const double next =
        (double)tl_max(tl_min(values.x, values.y), tl_min(tl_max(values.x, values.y), values.z));
    lo = 0.5 * (next + largest);
    for (int k = 0; k < 80; ++k) {
      const double middle = 0.5 * (lo + hi);
      if (characteristic(a, middle) > 0)
        lo = middle;
      else
        hi = middle;
    }
    /* The root itself is only as good as its distance from the next one. */
    const double gap = largest - next;
    CHECK_NEAR(largest, hi, ULPS(30) + 1e-14 / gap);
    CHECK_NEAR(largest, tl_max(tl_max(values.x, values.y), values.z), ULPS(30));
  }
}

TEST(largest_eigenvalue_keeps_all_digits_where_eigenvalues_meet) {
  dice d = {14};
  double worst = 0;
  for (int i = 0; i < 4000; ++i) {
    const double split = pow(10, (double)dice_real(&d, -17, -1));
    const talus_real a = dice_real(&d, 0.2, 2), b = dice_real(&d, 0.2, 2);
    talus_vec3 p = tl_vec3(a, TL_R((double)a * (1 + split)), b);
    if (i % 8 == 0)
      p.z = p.x;
    if (i % 16 == 0)
      p.y = p.x;
    const talus_real size = TL_R(pow(10, (double)dice_real(&d, -20, 20)));
    const talus_real largest = tl_max(tl_max(p.x, p.y), p.z);
    const tl_sym3 s = tl_sym3_scale(tl_sym3_rotated(dice_quat(&d), p), size);
    const double error = fabs((double)tl_sym3_eigenvalue_max(s) / (double)size - (double)largest);
    worst = fmax(worst, error);
    CHECK_MSG(error <= ULPS(40), "p = %g %g %g, error %g", (double)p.x, (double)p.y, (double)p.z,
              error);
  }
  const talus_real zero = opaque(0), one = opaque(1), seven = opaque(7);
  CHECK(tl_sym3_eigenvalue_max(tl_sym3_diagonal(tl_vec3(zero, zero, zero))) == 0);
  CHECK(tl_sym3_eigenvalue_max(tl_sym3_diagonal(tl_vec3(seven, seven, seven))) == 7);
  const talus_vec3 negative = tl_vec3(-3 * one, -2 * one, -one);
  CHECK_NEAR(tl_sym3_eigenvalue_max(tl_sym3_diagonal(negative)), -1, ULPS(8));
  tl_sym3 nearly = tl_sym3_diagonal(tl_vec3(one, one, one));
  nearly.xy = TL_R(1e-18); /* its square is below what float can hold */
  CHECK_NEAR(tl_sym3_eigenvalue_max(nearly), 1, ULPS(4));
}

TEST(plane_eigenvalue_is_the_largest_over_tangent_directions) {
  dice d = {15};
  for (int i = 0; i < 200; ++i) {
    const tl_sym3 a = dice_sym3(&d);
    const talus_vec3 n = dice_unit(&d), t = tl_any_orthogonal(n), s = tl_cross(n, t);
    double best = -10;
    for (int k = 0; k < 2000; ++k) {
      const double phi = TL_PI * k / 2000;
      const talus_vec3 x = tl_madd(tl_scale(t, TL_R(cos(phi))), TL_R(sin(phi)), s);
      best = fmax(best, (double)tl_dot(x, tl_sym3_mul_vec(a, x)));
    }
    CHECK_NEAR(tl_sym3_plane_eigenvalue_max(a, n), best, 1e-5);
  }
}

/* ---- boxes -------------------------------------------------------------------------------- */

static talus_box box_of(double x0, double x1, double y0, double y1, double z0, double z1) {
  talus_box box;
  box.lo = tl_dvec3(x0, y0, z0), box.hi = tl_dvec3(x1, y1, z1);
  return box;
}

TEST(boxes_that_touch_overlap_and_boxes_apart_on_one_axis_do_not) {
  const talus_box a = box_of(0, 1, 0, 1, 0, 1);
  CHECK(tl_box_overlap(a, a));
  for (int axis = 0; axis < 3; ++axis)
    for (int side = -1; side <= 1; side += 2) {
      const double gap[3] = {0, 1e-15, 0.5};
      for (int k = 0; k < 3; ++k) {
        const double lo = side > 0 ? 1 + gap[k] * 2 : -1 - gap[k], hi = lo + 1;
        const talus_box b =
            box_of(axis == 0 ? lo : 0.2, axis == 0 ? hi : 0.8, axis == 1 ? lo : 0.2,
                   axis == 1 ? hi : 0.8, axis == 2 ? lo : 0.2, axis == 2 ? hi : 0.8);
        CHECK(tl_box_overlap(a, b) == (k == 0));
        CHECK(tl_box_overlap(b, a) == (k == 0));
      }
    }
  CHECK(tl_box_overlap(a, box_of(1, 1, 1, 1, 1, 1)));
}

TEST(empty_box_is_neutral_and_overlaps_nothing) {
  const talus_box e = tl_box_empty(), a = box_of(-1, 2, 0, 1, 5, 6);
  const talus_box u = tl_box_union(e, a);
  CHECK(memcmp(&u, &a, sizeof a) == 0);
  CHECK(!tl_box_overlap(e, a) && !tl_box_overlap(e, e) && !tl_box_contains(e, a.lo));
  CHECK(!tl_box_is_finite(e) && tl_box_extent(e) == 0);
  CHECK(!tl_box_overlap(tl_box_grow(e, 1), a));
}

TEST(box_operations_do_what_they_say) {
  const talus_box a = box_of(-1, 2, 0, 1, 5, 6), b = box_of(0, 3, -4, 0.5, 5.5, 5.6);
  const talus_box u = tl_box_union(a, b), g = tl_box_grow(a, 0.25);
  CHECK(u.lo.x == -1 && u.lo.y == -4 && u.lo.z == 5 && u.hi.x == 3 && u.hi.y == 1 && u.hi.z == 6);
  CHECK(g.lo.x == -1.25 && g.hi.x == 2.25 && g.lo.z == 4.75 && g.hi.y == 1.25);
  CHECK(tl_box_extent(a) == 3 && tl_box_extent(b) == 4.5 && tl_box_extent(u) == 5);
  CHECK(tl_box_contains(a, tl_dvec3(2, 1, 6)) && tl_box_contains(a, tl_dvec3(0, 0.5, 5.5)));
  CHECK(!tl_box_contains(a, tl_dvec3(2.0001, 0.5, 5.5)));
  CHECK(!tl_box_contains(a, tl_dvec3(0, -1e-300, 5.5)));
  CHECK(!tl_box_contains(a, tl_dvec3(0, 0.5, 6.5)));
}

TEST(box_with_nan_is_found_and_overlaps_nothing) {
  volatile double zero = 0;
  const talus_box a = box_of(0, 1, 0, 1, 0, 1);
  CHECK(tl_box_is_finite(a));
  for (int k = 0; k < 6; ++k) {
    double v[6] = {0, 1, 0, 1, 0, 1};
    v[k] = zero / zero;
    const talus_box b = box_of(v[0], v[1], v[2], v[3], v[4], v[5]);
    CHECK(!tl_box_is_finite(b) && !tl_box_overlap(a, b) && !tl_box_overlap(b, a));
  }
}

/* ---- Morton codes ------------------------------------------------------------------------- */

/* Bit by bit, as the definition says. */
static uint64_t morton_reference(uint64_t x, uint64_t y, uint64_t z, int bits) {
  uint64_t code = 0;
  for (int i = 0; i < bits; ++i)
    code |=
        ((x >> i) & 1) << (3 * i) | ((y >> i) & 1) << (3 * i + 1) | ((z >> i) & 1) << (3 * i + 2);
  return code;
}

TEST(morton_codes_interleave_and_come_back) {
  dice d = {16};
  for (int i = 0; i < 20000; ++i) {
    uint32_t x = (uint32_t)dice_u64(&d), y = (uint32_t)dice_u64(&d), z = (uint32_t)dice_u64(&d);
    if (i < 8)
      x = i & 1 ? 0x1fffff : 0, y = i & 2 ? 0x1fffff : 0, z = i & 4 ? 0x1fffff : 0;
    const uint64_t code = tl_morton3(x, y, z);
    CHECK_EQ_U64(code, morton_reference(x, y, z, 21));
    CHECK(code >> 63 == 0);
    uint32_t rx, ry, rz;
    tl_morton_decode3(code, &rx, &ry, &rz);
    CHECK(rx == (x & 0x1fffff) && ry == (y & 0x1fffff) && rz == (z & 0x1fffff));
    CHECK_EQ_U64(tl_morton_compact21(tl_morton_spread21(x)), x & 0x1fffff);
    const uint32_t code32 = tl_morton3_u32(x, y, z);
    CHECK_EQ_U64(code32, morton_reference(x, y, z, 10));
    tl_morton_decode3_u32(code32, &rx, &ry, &rz);
    CHECK(rx == (x & 0x3ff) && ry == (y & 0x3ff) && rz == (z & 0x3ff));
    CHECK_EQ_U64(tl_morton_compact10(tl_morton_spread10(x)), x & 0x3ff);
  }
}

TEST(morton_order_is_that_of_the_octree) {
  dice d = {17};
  CHECK(tl_morton3(1, 0, 0) == 1 && tl_morton3(0, 1, 0) == 2 && tl_morton3(0, 0, 1) == 4);
  for (int i = 0; i < 5000; ++i) {
    const uint32_t x = dice_u64(&d) & 0xfffff, y = dice_u64(&d) & 0xfffff,
                   z = dice_u64(&d) & 0xfffff;
    /* Larger along one axis, the others equal: a larger code. */
    CHECK(tl_morton3(x, y, z) < tl_morton3(x + 1, y, z));
    CHECK(tl_morton3(x, y, z) < tl_morton3(x, y + 1, z));
    CHECK(tl_morton3(x, y, z) < tl_morton3(x, y, z + 1));
    /* Cells of one octant at level k share all but the last 3k bits. */
    const int k = (int)(dice_u64(&d) % 20);
    const uint32_t low = (UINT32_C(1) << k) - 1;
    const uint64_t first = tl_morton3(x & ~low, y & ~low, z & ~low);
    CHECK_EQ_U64(tl_morton3(x, y, z) >> (3 * k), first >> (3 * k));
    CHECK_EQ_U64(tl_morton3(x | low, y | low, z | low) - first, (UINT64_C(1) << (3 * k)) - 1);
  }
}

TEST_MAIN()
