/* All threads or one (base/pace.h), on machines that are made up. */
#include "base/pace.h"
#include "check.h"

#include "base/random.h"

/* Steps of a machine on which a step takes `all` seconds with all threads and `one` with one;
 * returns the seconds that they took. */
static double run(tl_pace *pace, int steps, double all, double one, double work) {
  double spent = 0;
  for (int i = 0; i < steps; ++i) {
    const double took = tl_pace_is_alone(pace) ? one : all;
    tl_pace_tell(pace, work, took);
    spent += took;
  }
  return spent;
}

TEST(the_faster_way_is_found_and_nearly_nothing_lost) {
  static const double ratios[] = {0.02, 0.13, 0.55, 0.9, 1, 1.1, 2, 40};
  for (size_t i = 0; i < sizeof ratios / sizeof *ratios; ++i) {
    const double all = 1e-3 * ratios[i], one = 1e-3;
    tl_pace pace = {0};
    run(&pace, 100, all, one, 1000);
    const double spent = run(&pace, 20000, all, one, 1000);
    CHECK_MSG(spent <= 20000 * fmin(all, one) * 1.06, "ratio %g: %g of the best", ratios[i],
              spent / (20000 * fmin(all, one)));
  }
}

TEST(a_load_that_comes_and_goes_is_followed) {
  tl_pace pace = {0};
  run(&pace, 2000, 0.55e-3, 1e-3, 1000);
  CHECK(!tl_pace_is_alone(&pace));
  /* Somebody takes half of the machine: threads now wait for each other. */
  const double loaded = run(&pace, 2000, 20e-3, 1.3e-3, 1000);
  CHECK_MSG(loaded <= 1.3 * 2000 * 1.3e-3, "%g of the best", loaded / (2000 * 1.3e-3));
  CHECK(pace.is_alone);
  /* And leaves again. */
  run(&pace, 6000, 0.55e-3, 1e-3, 1000);
  CHECK(!pace.is_alone);
}

TEST(work_that_grows_does_not_count_as_slowness) {
  tl_pace pace = {0};
  int alone = 0;
  for (int i = 0; i < 20000; ++i) {
    const double work = 100 + i;
    alone += tl_pace_is_alone(&pace);
    tl_pace_tell(&pace, work, (tl_pace_is_alone(&pace) ? 1.0 : 0.6) * 1e-6 * work);
  }
  CHECK_MSG(alone < 1000, "alone in %d steps", alone);
}

/* Grains that fall have no contacts; when they have landed, there is four times the work. */
TEST(what_was_true_of_little_work_is_tried_again) {
  tl_pace pace = {0};
  double spent = 0, best = 0;
  for (int i = 0; i < 600; ++i) {
    const double work = i < 60 ? 2000 : i < 120 ? 2000 + 100 * (i - 60) : 8000;
    const double all = 3e-3 + 0.5e-6 * work, one = 1e-6 * work;
    const double took = tl_pace_is_alone(&pace) ? one : all;
    tl_pace_tell(&pace, work, took);
    if (i >= 200) {
      spent += took;
      best += fmin(all, one);
    }
  }
  CHECK(!pace.is_alone);
  CHECK_MSG(spent <= 1.02 * best, "%g of the best", spent / best);
}

/* Memory grows in the first steps, which then take ten to two times their time, whichever way. */
TEST(cold_steps_do_not_count) {
  tl_pace pace = {0};
  for (int i = 0; i < 100; ++i) {
    const double cold = i < 5 ? 10 - 2 * i : 1;
    tl_pace_tell(&pace, 10000, (tl_pace_is_alone(&pace) ? 6e-3 : 3.6e-3) * cold);
  }
  CHECK(!tl_pace_is_alone(&pace));
}

/* Grains that touch cost more for a unit of work, and it begins while the first trial runs. */
TEST(work_that_becomes_dearer_is_tried_again) {
  tl_pace pace = {0};
  double spent = 0, best = 0;
  for (int i = 0; i < 10000; ++i) {
    const double dear = i < 20 ? 1 : 3, one = 0.06e-3 * dear, all = 0.07e-3 * dear;
    const double took = tl_pace_is_alone(&pace) ? one : all;
    tl_pace_tell(&pace, 700, took);
    spent += i >= 5000 ? took : 0;
    best += i >= 5000 ? one : 0;
  }
  CHECK_MSG(spent <= 1.05 * best, "%g of the best", spent / best);
}

/* Work that jumps between two sizes in every step must not make it try for ever. */
TEST(work_that_jumps_costs_little) {
  tl_pace pace = {0};
  double spent = 0, best = 0;
  for (int i = 0; i < 20000; ++i) {
    const double work = i / 100 % 2 ? 1000 : 8000;
    const double all = 6e-6 * work, one = 1e-6 * work;
    const double took = tl_pace_is_alone(&pace) ? one : all;
    tl_pace_tell(&pace, work, took);
    spent += took;
    best += one;
  }
  CHECK_MSG(spent <= 1.06 * best, "%g of the best", spent / best);
}

/* The first step of a trial takes forty times its time, because of another program. */
TEST(one_slow_step_does_not_end_a_trial) {
  tl_pace pace = {.is_alone = true};
  bool was_trial = false;
  for (int i = 0; i < 400; ++i) {
    const bool is_first = pace.is_trial && !was_trial;
    was_trial = pace.is_trial;
    tl_pace_tell(&pace, 1000, (tl_pace_is_alone(&pace) ? 1e-3 : 0.55e-3) * (is_first ? 40 : 1));
  }
  CHECK(!pace.is_alone);
}

/* Every step takes 0.5 to 1.5 times its time, one in fifty ten times. */
TEST(noise_is_not_followed) {
  tl_random random = tl_random_start(7, 1, 0);
  tl_pace pace = {0};
  double spent = 0;
  for (int i = 0; i < 20000; ++i) {
    const double noise = 0.5 + tl_random_unit(&random) + (i % 50 == 7 ? 9 : 0);
    const double took = (tl_pace_is_alone(&pace) ? 1e-3 : 0.55e-3) * noise;
    tl_pace_tell(&pace, 1000, took);
    spent += took / noise;
  }
  CHECK_MSG(spent <= 1.1 * 20000 * 0.55e-3, "%g of the best", spent / (20000 * 0.55e-3));
}

TEST_MAIN()
