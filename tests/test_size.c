/* Sizes: the distributions that come out are those that were asked for, by number and by mass. */
#include "base/random.h"
#include "flow_fixture.h"

enum { DRAWS = 200000 };
static const uint64_t seed = 5;

static double draw(const talus_size_def *size, uint64_t serial) {
  return tl_size_draw(size, seed, TL_STREAM_FILL_SIZE, serial);
}

/* Mean of s over bodies, or over mass (each body counts with s^3). */
static double mean(const talus_size_def *size, bool over_mass) {
  double sum = 0, weight = 0;
  for (uint64_t i = 0; i < DRAWS; ++i) {
    const double s = draw(size, i), w = over_mass ? s * s * s : 1;
    sum += w * s;
    weight += w;
  }
  return sum / weight;
}

TEST(one_is_one) {
  const talus_size_def size = {.kind = TALUS_SIZE_ONE};
  CHECK_OK(tl_size_check(&size, "fill"));
  CHECK(draw(&size, 3) == 1);
}

TEST(uniform_by_number_is_flat) {
  const talus_size_def size = {.kind = TALUS_SIZE_UNIFORM, .low = 0.5, .high = 2.5};
  double chi2 = 0, count[20] = {0};
  for (uint64_t i = 0; i < DRAWS; ++i) {
    const double s = draw(&size, i);
    CHECK(s >= 0.5 && s <= 2.5);
    count[(int)fmin((s - 0.5) * 10, 19)]++;
  }
  for (int i = 0; i < 20; ++i)
    chi2 += (count[i] - DRAWS / 20) * (count[i] - DRAWS / 20) / (DRAWS / 20);
  CHECK_NEAR(chi2, 19, 4 * 6.2);
  CHECK_NEAR(mean(&size, false), 1.5, 4 * 0.58 / sqrt(DRAWS));
}

TEST(uniform_by_mass_has_the_same_mass_in_every_class) {
  const talus_size_def size = {.kind = TALUS_SIZE_UNIFORM, .low = 1, .high = 3, .by_mass = true};
  double mass[4] = {0}, total = 0;
  for (uint64_t i = 0; i < DRAWS; ++i) {
    const double s = draw(&size, i);
    CHECK(s >= 1 && s <= 3);
    mass[(int)fmin((s - 1) * 2, 3)] += s * s * s;
    total += s * s * s;
  }
  for (int i = 0; i < 4; ++i)
    CHECK_NEAR(mass[i] / total, 0.25, 0.01);
  CHECK_NEAR(mean(&size, true), 2, 0.01);
  /* By number: n ~ s^-3 on [1, 3] has the mean (1 - 1/3)/((1 - 1/9)/2) = 1.5. */
  CHECK_NEAR(mean(&size, false), 1.5, 0.005);
}

TEST(lognormal_has_its_median_and_mean) {
  const talus_size_def size = {.kind = TALUS_SIZE_LOGNORMAL, .median = 2, .sigma = 0.3};
  size_t below = 0;
  double log_mean = 0, log_square = 0;
  for (uint64_t i = 0; i < DRAWS; ++i) {
    const double s = draw(&size, i), l = log(s / 2);
    below += s < 2;
    log_mean += l / DRAWS;
    log_square += l * l / DRAWS;
  }
  CHECK_NEAR((double)below / DRAWS, 0.5, 4 * 0.5 / sqrt(DRAWS));
  CHECK_NEAR(log_mean, 0, 4 * 0.3 / sqrt(DRAWS));
  CHECK_NEAR(sqrt(log_square), 0.3, 0.003);
  CHECK_NEAR(mean(&size, false), 2 * exp(0.5 * 0.09), 0.01);
}

TEST(lognormal_by_mass_has_its_median_by_mass) {
  const talus_size_def size = {
      .kind = TALUS_SIZE_LOGNORMAL, .median = 2, .sigma = 0.3, .by_mass = true};
  double below = 0, total = 0;
  for (uint64_t i = 0; i < DRAWS; ++i) {
    const double s = draw(&size, i), m = s * s * s;
    below += s < 2 ? m : 0;
    total += m;
  }
  CHECK_NEAR(below / total, 0.5, 0.01);
  CHECK_NEAR(mean(&size, true), 2 * exp(0.5 * 0.09), 0.01);
}

TEST(table_shares_are_met_by_number_and_by_mass) {
  const double table[] = {1, 0.5, 7, 0, 2, 0.3, 4, 0.2};
  for (int by_mass = 0; by_mass < 2; ++by_mass) {
    const talus_size_def size = {
        .kind = TALUS_SIZE_TABLE, .table = table, .rows = 4, .by_mass = by_mass == 1};
    CHECK_OK(tl_size_check(&size, "fill"));
    double share[5] = {0}, total = 0;
    for (uint64_t i = 0; i < DRAWS; ++i) {
      const double s = draw(&size, i), w = by_mass ? s * s * s : 1;
      CHECK(s == 1 || s == 2 || s == 4);
      share[(int)s] += w;
      total += w;
    }
    CHECK_NEAR(share[1] / total, 0.5, 0.01);
    CHECK_NEAR(share[2] / total, 0.3, 0.01);
    CHECK_NEAR(share[4] / total, 0.2, 0.015);
  }
}

TEST(a_draw_depends_on_seed_stream_and_serial_alone) {
  const talus_size_def size = {.kind = TALUS_SIZE_UNIFORM, .low = 1, .high = 2};
  const double s = tl_size_draw(&size, 1, 2, 3);
  CHECK(s == tl_size_draw(&size, 1, 2, 3));
  CHECK(s != tl_size_draw(&size, 2, 2, 3));
  CHECK(s != tl_size_draw(&size, 1, 3, 3));
  CHECK(s != tl_size_draw(&size, 1, 2, 4));
}

TEST(a_copy_outlives_its_table) {
  double table[] = {1, 0.25, 2, 0.75};
  const talus_size_def size = {.kind = TALUS_SIZE_TABLE, .table = table, .rows = 2};
  const double before = draw(&size, 9);
  const size_t held = tl_memory_count().bytes;
  talus_size_def copy;
  CHECK_OK(tl_size_copy(&copy, &size));
  table[0] = table[2] = 1e9;
  CHECK(draw(&copy, 9) == before);
  tl_size_release(&copy);
  CHECK(copy.table == NULL && copy.rows == 0);
  CHECK_EQ_U64(tl_memory_count().bytes, held);
}

TEST(impossible_sizes_are_refused_by_name) {
  talus_size_def size = {.kind = TALUS_SIZE_UNIFORM, .low = 2, .high = 1};
  CHECK_FAILS(tl_size_check(&size, "emitter 'top'"), "emitter 'top': sizes from 2 to 1");
  size.low = 0;
  CHECK_FAILS(tl_size_check(&size, "fill"), "must be positive");
  size = (talus_size_def){.kind = TALUS_SIZE_LOGNORMAL, .median = NAN, .sigma = 1};
  CHECK_FAILS(tl_size_check(&size, "fill"), "median size");
  size = (talus_size_def){.kind = TALUS_SIZE_LOGNORMAL, .median = 1, .sigma = -1};
  CHECK_FAILS(tl_size_check(&size, "fill"), "sigma of the sizes is -1");
  size.sigma = 50;
  CHECK_FAILS(tl_size_check(&size, "fill"), "deviation of ln(size)");
  const double negative[] = {1, 0.5, 2, -0.5}, none[] = {1, 0}, flat[] = {0, 1};
  size = (talus_size_def){.kind = TALUS_SIZE_TABLE, .table = negative, .rows = 2};
  CHECK_FAILS(tl_size_check(&size, "fill"), "row 1 of the table of sizes has the share -0.5");
  size = (talus_size_def){.kind = TALUS_SIZE_TABLE, .table = none, .rows = 1};
  CHECK_FAILS(tl_size_check(&size, "fill"), "add up to 0");
  size.table = flat;
  CHECK_FAILS(tl_size_check(&size, "fill"), "row 0 of the table of sizes has the size 0");
  size.rows = 0;
  CHECK_FAILS(tl_size_check(&size, "fill"), "is empty");
}

TEST_MAIN()
