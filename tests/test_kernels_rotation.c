/* Kernels: the free rotation of one body. */
#include "kernels/rotation.h"
#include "test_kernels.h"

/* After 2500 steps. The momentum walks at random by rounding errors, to some 250 eps; a bound of
 * 900 eps in double (far below the 1e-12 that is promised) and 420 in float still catches a drift
 * of half an eps a step. The energy error in double is that of the method, in float that of
 * rounding. */
#if TALUS_SINGLE
static const double momentum_tolerance = 5e-5;
static const double energy_tolerance = 1e-4;
#else
static const double momentum_tolerance = 2e-13;
static const double energy_tolerance = 2e-5;
#endif

static const talus_vec3 top = {1, 2, 3}; /* kg m2 */

static talus_vec3 world_momentum(talus_quat q, talus_vec3 spin, talus_vec3 inertia) {
  return tl_quat_rotate(q, tl_mul(inertia, tl_quat_unrotate(q, spin)));
}

/* Twice the kinetic energy, in double. */
static double energy(talus_quat q, talus_vec3 spin, talus_vec3 inertia) {
  const talus_vec3 w = tl_quat_unrotate(q, spin);
  return (double)inertia.x * (double)w.x * (double)w.x +
         (double)inertia.y * (double)w.y * (double)w.y +
         (double)inertia.z * (double)w.z * (double)w.z;
}

TEST(torque_free_top_keeps_momentum_and_energy) {
  dice d = {21};
  for (int run = 0; run < 4; ++run) {
    talus_quat q = run ? dice_quat(&d) : tl_quat_identity();
    /* A tumbling body: run 0 near the unstable axis, the others anywhere. */
    talus_vec3 spin = run ? dice_unit(&d) : tl_vec3(TL_R(0.1), 1, TL_R(0.1));
    const talus_vec3 l0 = world_momentum(q, spin, top);
    const double e0 = energy(q, spin, top);
    double worst_l = 0, worst_e = 0;
    for (int i = 0; i < 2500; ++i) { /* T = 50 s, h = 0.02 s */
      tl_free_rotation(&q, &spin, top, TL_R(0.02));
      worst_l = fmax(worst_l, distance3(world_momentum(q, spin, top), l0) / (double)tl_length(l0));
      worst_e = fmax(worst_e, fabs(energy(q, spin, top) / e0 - 1));
      CHECK_NEAR(tl_quat_dot(q, q), 1, ULPS(4));
    }
    CHECK_MSG(worst_l <= momentum_tolerance, "run %d: |dL/L| = %g", run, worst_l);
    CHECK_MSG(worst_e <= energy_tolerance, "run %d: |dE/E| = %g", run, worst_e);
  }
}

TEST(momentum_is_kept_to_rounding_in_every_step) {
  dice d = {22};
  for (int i = 0; i < 5000; ++i) {
    const talus_vec3 inertia = dice_inertia(&d);
    talus_quat q = dice_quat(&d);
    talus_vec3 spin = dice_vec3(&d, 10);
    const talus_vec3 l0 = world_momentum(q, spin, inertia);
    tl_free_rotation(&q, &spin, inertia, dice_real(&d, 0.001, 0.3));
    CHECK(distance3(world_momentum(q, spin, inertia), l0) <= ULPS(60) * (double)tl_length(l0));
  }
}

static talus_quat turn_for(double time, int steps, talus_vec3 inertia, talus_vec3 spin,
                           talus_vec3 *spin_out) {
  talus_quat q = tl_quat_from_axis_angle(tl_normalize(tl_vec3(1, 2, -1)), 1);
  for (int i = 0; i < steps; ++i)
    tl_free_rotation(&q, &spin, inertia, TL_R(time / steps));
  if (spin_out)
    *spin_out = spin;
  return q;
}

/* Euler's equations by classical Runge-Kutta of order 4 in double, with steps so small that it can
 * serve as the truth; shares nothing with the kernel. */
static void rates(const double s[7], const double inertia[3], double r[7]) {
  const double *q = s, *w = s + 4;
  r[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]);
  r[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
  r[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
  r[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
  r[4] = (inertia[1] - inertia[2]) * w[1] * w[2] / inertia[0];
  r[5] = (inertia[2] - inertia[0]) * w[2] * w[0] / inertia[1];
  r[6] = (inertia[0] - inertia[1]) * w[0] * w[1] / inertia[2];
}

static talus_quat reference(double time, int steps, talus_vec3 inertia, talus_vec3 spin) {
  const talus_quat q0 = tl_quat_from_axis_angle(tl_normalize(tl_vec3(1, 2, -1)), 1);
  const talus_vec3 w = tl_quat_unrotate(q0, spin);
  const double moments[3] = {(double)inertia.x, (double)inertia.y, (double)inertia.z};
  double s[7] = {(double)q0.w, (double)q0.x, (double)q0.y, (double)q0.z,
                 (double)w.x,  (double)w.y,  (double)w.z};
  const double h = time / steps, at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  for (int i = 0; i < steps; ++i) {
    double slope[7] = {0}, sum[7] = {0};
    for (int stage = 0; stage < 4; ++stage) {
      double middle[7];
      for (int k = 0; k < 7; ++k)
        middle[k] = s[k] + h * at[stage] * slope[k];
      rates(middle, moments, slope);
      for (int k = 0; k < 7; ++k)
        sum[k] += weight[stage] * slope[k];
    }
    for (int k = 0; k < 7; ++k)
      s[k] += h / 6 * sum[k];
  }
  return tl_quat_normalize(tl_quat(TL_R(s[0]), TL_R(s[1]), TL_R(s[2]), TL_R(s[3])));
}

/* Back by the same time is back to the start, however large the step: the method is symmetric. */
TEST(backwards_undoes_forwards) {
  dice d = {24};
  for (int i = 0; i < 5000; ++i) {
    const talus_vec3 inertia = i % 2 ? dice_inertia(&d) : tl_vec3(1, 1, dice_real(&d, 0.1, 1.9));
    const talus_quat q0 = dice_quat(&d);
    const talus_vec3 spin0 = dice_vec3(&d, 10);
    const talus_real h = dice_real(&d, 0.001, 0.3);
    talus_quat q = q0;
    talus_vec3 spin = spin0;
    tl_free_rotation(&q, &spin, inertia, h);
    tl_free_rotation(&q, &spin, inertia, -h);
    const double e0 = energy(q0, spin0, inertia);
    CHECK(fabs(energy(q, spin, inertia) - e0) <= ULPS(2000) * e0);
    CHECK(1 - fabs((double)tl_quat_dot(q, q0)) <= ULPS(2000));
  }
}

TEST(free_rotation_is_of_order_two) {
  const talus_vec3 spin = {TL_R(0.7), TL_R(-0.9), TL_R(0.4)};
  const talus_quat truth = reference(4, 20000, top, spin);
  /* Steps long enough for the method's error to stand above the rounding of float. */
  double last = 0;
  for (int steps = 20, level = 0; level < 4; steps *= 2, ++level) {
    const double error = quat_distance(turn_for(4, steps, top, spin, NULL), truth);
    if (level > 0)
      CHECK_MSG(last / error > 3.7 && last / error < 4.3, "%d steps: error %g, ratio %g", steps,
                error, last / error);
    last = error;
  }
  CHECK(last < 1e-3);
}

TEST(energy_error_shrinks_with_the_square_of_the_step) {
  const talus_vec3 spin = {TL_R(0.7), TL_R(-0.9), TL_R(0.4)};
  double worst[2] = {0, 0};
  for (int fine = 0; fine < 2; ++fine) {
    talus_quat q = tl_quat_identity();
    talus_vec3 w = spin;
    const double e0 = energy(q, w, top);
    for (int i = 0; i < (fine ? 200 : 100); ++i) {
      tl_free_rotation(&q, &w, top, TL_R(fine ? 0.1 : 0.2));
      worst[fine] = fmax(worst[fine], fabs(energy(q, w, top) / e0 - 1));
    }
  }
  CHECK_MSG(worst[0] / worst[1] > 3.5 && worst[0] / worst[1] < 4.5, "%g, %g", worst[0], worst[1]);
}

TEST(top_spun_about_its_middle_axis_flips_over_and_back) {
  /* Dzhanibekov: the intermediate axis is unstable, so the spin in body axes changes sign again and
   * again; about the other two it stays. */
  for (int axis = 0; axis < 3; ++axis) {
    talus_quat q = tl_quat_identity();
    talus_vec3 spin =
        tl_vec3(axis == 0 ? 1 : TL_R(1e-3), axis == 1 ? 1 : TL_R(1e-3), axis == 2 ? 1 : TL_R(1e-3));
    int flips = 0, side = 1;
    double first = 0, second = 0;
    for (int i = 1; i <= 10000; ++i) { /* 100 s */
      tl_free_rotation(&q, &spin, top, TL_R(0.01));
      const talus_vec3 w = tl_quat_unrotate(q, spin);
      const double along = (double)(axis == 0 ? w.x : axis == 1 ? w.y : w.z);
      if (along * side < -0.5) {
        side = -side;
        flips++;
        second = first;
        first = i * 0.01;
      }
    }
    CHECK_MSG(axis == 1 ? flips >= 3 : flips == 0, "axis %d: %d flips", axis, flips);
    /* Growth rate sqrt((I2-I1)(I3-I2)/(I1 I3)) = 0.577/s from 1e-3: one flip per 2 ln(4/eps')/0.577
     * or so, some 27 s; the period must be of that size. */
    if (axis == 1)
      CHECK_MSG(first - second > 20 && first - second < 35, "%g s", first - second);
  }
}

TEST(spin_of_a_ball_is_not_touched_by_a_bit) {
  dice d = {23};
  for (int i = 0; i < 500; ++i) {
    const talus_real moment = dice_real(&d, 1e-9, 1);
    const talus_quat q0 = dice_quat(&d);
    const talus_vec3 spin0 = dice_vec3(&d, 30);
    const talus_real h = dice_real(&d, 1e-4, 0.1);
    talus_quat q = q0;
    talus_vec3 spin = spin0;
    tl_free_rotation(&q, &spin, tl_vec3(moment, moment, moment), h);
    CHECK(memcmp(&spin, &spin0, sizeof spin) == 0);
    const talus_real rate = tl_length(spin0);
    const talus_quat turn = tl_quat_from_axis_angle(tl_normalize(spin0), rate * h);
    CHECK_NEAR(quat_distance(q, tl_quat_mul(turn, q0)), 0, ULPS(20));
  }
}

TEST(symmetric_top_moves_exactly_whatever_the_step) {
  /* The body turns about L at |L|/I and about its own axis at (1/I_k - 1/I) L_k: compared with
   * Runge-Kutta, in one step that is far too long for a splitting. */
  dice d = {24};
  for (int i = 0; i < 30; ++i) {
    const talus_real a = dice_real(&d, 0.5, 2), k = dice_real(&d, 0.2, 2);
    const talus_vec3 inertia = i % 3 == 0   ? tl_vec3(k, a, a)
                               : i % 3 == 1 ? tl_vec3(a, k, a)
                                            : tl_vec3(a, a, k);
    const talus_vec3 spin = dice_vec3(&d, 1);
    const talus_quat truth = reference(3, 3000, inertia, spin);
    talus_vec3 end;
    const talus_quat one = turn_for(3, 1, inertia, spin, &end);
    CHECK_NEAR(quat_distance(one, truth), 0, 1e-12 + ULPS(200));
    CHECK_NEAR(quat_distance(turn_for(3, 10, inertia, spin, NULL), truth), 0, 1e-12 + ULPS(200));
    const double e0 =
        energy(tl_quat_from_axis_angle(tl_normalize(tl_vec3(1, 2, -1)), 1), spin, inertia);
    CHECK_NEAR(energy(one, end, inertia) / e0, 1, ULPS(60));
  }
}

TEST(rod_without_thickness_turns_at_constant_rate_and_drops_spin_about_itself) {
  for (int axis = 0; axis < 3; ++axis) {
    const talus_vec3 rod = tl_vec3(axis == 0 ? 0 : 2, axis == 1 ? 0 : 2, axis == 2 ? 0 : 2);
    talus_quat q = tl_quat_identity();
    talus_vec3 spin = tl_vec3(3, 4, 5);
    const talus_vec3 across =
        tl_vec3(axis == 0 ? 0 : spin.x, axis == 1 ? 0 : spin.y, axis == 2 ? 0 : spin.z);
    for (int i = 0; i < 100; ++i)
      tl_free_rotation(&q, &spin, rod, TL_R(0.01));
    CHECK_NEAR(distance3(spin, across), 0, ULPS(600));
    const talus_quat turn = tl_quat_from_rotation_vector(across);
    CHECK_NEAR(quat_distance(q, turn), 0, ULPS(600));
  }
  /* Moments that no body has must still give numbers. */
  const talus_vec3 odd[4] = {{0, 1, 2}, {1, 0, 0}, {0, 0, 0}, {2, 0, 1}};
  for (int i = 0; i < 4; ++i) {
    talus_quat q = tl_quat_identity();
    talus_vec3 spin = tl_vec3(3, 4, 5);
    for (int k = 0; k < 100; ++k)
      tl_free_rotation(&q, &spin, odd[i], TL_R(0.01));
    CHECK(tl_is_finite3(spin) && tl_is_finite(q.w) && tl_is_finite(q.x) && tl_is_finite(q.y) &&
          tl_is_finite(q.z));
    CHECK_NEAR(tl_quat_dot(q, q), 1, ULPS(4));
  }
}

TEST(body_at_rest_stays_at_rest) {
  talus_quat q = tl_quat_from_axis_angle(tl_normalize(tl_vec3(1, 2, 3)), 1);
  const talus_quat q0 = q;
  talus_vec3 spin = tl_vec3(0, 0, 0);
  for (int i = 0; i < 1000; ++i)
    tl_free_rotation(&q, &spin, top, TL_R(0.01));
  CHECK(tl_length(spin) == 0);
  CHECK_NEAR(quat_distance(q, q0), 0, ULPS(4));
}

TEST_MAIN()
