/* Sizes: the scale of a new body, drawn from a distribution by number or by mass.
 *
 * The mass of a body is proportional to the cube of its scale, so parts of mass w(s) correspond to
 * numbers n(s) ~ w(s)/s^3; drawing from n gives w without weights. */
#include "base/power.h"
#include "base/random.h"
#include "flow/flow.h"

/* Scales outside these limits are mistakes, and their cubes would overflow a float. */
#define LEAST 1e-12
#define MOST  1e12

/* The largest normal deviate that 53 bits can give is sqrt(2 * 53 ln 2) = 8.57. */
#define FARTHEST_DEVIATE 8.6

static bool in_range(double size) { return size >= LEAST && size <= MOST; }

static talus_status check_table(const talus_size_def *size, const char *what) {
  if (size->rows == 0 || !size->table)
    return tl_fail(TALUS_ERROR_INVALID, "%s: the table of sizes is empty", what);
  double total = 0;
  for (size_t i = 0; i < size->rows; ++i) {
    const double value = size->table[2 * i], share = size->table[2 * i + 1];
    if (!in_range(value))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: row %zu of the table of sizes has the size %g; it must be positive "
                     "(between %g and %g)",
                     what, i, value, LEAST, MOST);
    if (!(share >= 0) || !tl_is_finite_d(share))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: row %zu of the table of sizes has the share %g; it must not be negative",
                     what, i, share);
    total += share;
  }
  if (!(total > 0) || !tl_is_finite_d(total))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the shares of the table of sizes add up to %g; they must add up to "
                   "something positive",
                   what, total);
  return TALUS_OK;
}

/* Median of the distribution by number. Weighting a lognormal with s^-3 keeps sigma and multiplies
 * the median by exp(-3 sigma^2) (Hatch and Choate 1929). */
static double number_median(const talus_size_def *size) {
  return size->by_mass ? size->median * tl_exp_d(-3 * size->sigma * size->sigma) : size->median;
}

static talus_status check_lognormal(const talus_size_def *size, const char *what) {
  if (!in_range(size->median))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the median size is %g; it must be positive (between %g and %g)", what,
                   size->median, LEAST, MOST);
  if (!(size->sigma >= 0) || !tl_is_finite_d(size->sigma))
    return tl_fail(TALUS_ERROR_INVALID, "%s: sigma of the sizes is %g; it must not be negative",
                   what, size->sigma);
  const double reach = tl_exp_d(FARTHEST_DEVIATE * size->sigma), median = number_median(size);
  if (!in_range(median * reach) || !in_range(median / reach))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: sigma of the sizes is %g; that is the deviation of ln(size), and sizes "
                   "would go beyond %g ... %g",
                   what, size->sigma, LEAST, MOST);
  return TALUS_OK;
}

talus_status tl_size_check(const talus_size_def *size, const char *what) {
  switch (size->kind) {
  case TALUS_SIZE_ONE:
    return TALUS_OK;
  case TALUS_SIZE_UNIFORM:
    if (!in_range(size->low) || !in_range(size->high))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: sizes from %g to %g: both must be positive (between %g and %g)", what,
                     size->low, size->high, LEAST, MOST);
    if (size->low > size->high)
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: sizes from %g to %g: the first must not be the larger", what, size->low,
                     size->high);
    return TALUS_OK;
  case TALUS_SIZE_LOGNORMAL:
    return check_lognormal(size, what);
  case TALUS_SIZE_TABLE:
    return check_table(size, what);
  }
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s: unknown kind of size distribution %d; use uniform, lognormal or table", what,
                 (int)size->kind);
}

double tl_size_largest(const talus_size_def *size) {
  double most = 0;
  switch (size->kind) {
  case TALUS_SIZE_ONE:
    return 1;
  case TALUS_SIZE_UNIFORM:
    return size->high;
  case TALUS_SIZE_LOGNORMAL:
    return number_median(size) * tl_exp_d(FARTHEST_DEVIATE * size->sigma);
  case TALUS_SIZE_TABLE:
    for (size_t i = 0; i < size->rows; ++i)
      if (size->table[2 * i + 1] > 0)
        most = fmax(most, size->table[2 * i]);
  }
  return most;
}

double tl_size_usual(const talus_size_def *size) {
  return size->kind == TALUS_SIZE_LOGNORMAL ? number_median(size) : tl_size_largest(size);
}

double tl_size_least(const talus_size_def *size) {
  double least = INFINITY;
  switch (size->kind) {
  case TALUS_SIZE_ONE:
    return 1;
  case TALUS_SIZE_UNIFORM:
    return size->low;
  case TALUS_SIZE_LOGNORMAL:
    return number_median(size) * tl_exp_d(-2 * size->sigma);
  case TALUS_SIZE_TABLE:
    for (size_t i = 0; i < size->rows; ++i)
      if (size->table[2 * i + 1] > 0)
        least = fmin(least, size->table[2 * i]);
  }
  return least;
}

/* Uniform by number, or uniform by mass: n ~ s^-3, whose distribution function is linear in
 * s^-2. */
static double draw_uniform(const talus_size_def *size, double u) {
  if (!size->by_mass)
    return size->low + u * (size->high - size->low);
  const double from = 1 / (size->low * size->low), to = 1 / (size->high * size->high);
  const double value = 1 / sqrt(from + u * (to - from));
  return fmin(fmax(value, size->low), size->high);
}

static double row_weight(const talus_size_def *size, size_t row) {
  const double value = size->table[2 * row], share = size->table[2 * row + 1];
  return size->by_mass ? share / (value * value * value) : share;
}

static double draw_table(const talus_size_def *size, double u) {
  double total = 0;
  for (size_t i = 0; i < size->rows; ++i)
    total += row_weight(size, i);
  double left = u * total, chosen = 0;
  for (size_t i = 0; i < size->rows; ++i) {
    const double weight = row_weight(size, i);
    if (!(weight > 0))
      continue;
    chosen = size->table[2 * i];
    if (left < weight)
      break;
    left -= weight; /* rounding may pass the end: then the last row with a share is drawn */
  }
  return chosen;
}

double tl_size_draw(const talus_size_def *size, uint64_t seed, uint32_t stream, uint64_t serial) {
  tl_random random = tl_random_start(seed, stream, serial);
  switch (size->kind) {
  case TALUS_SIZE_ONE:
    break;
  case TALUS_SIZE_UNIFORM:
    return draw_uniform(size, tl_random_unit(&random));
  case TALUS_SIZE_LOGNORMAL:
    return number_median(size) * tl_exp_d(size->sigma * tl_random_normal(&random));
  case TALUS_SIZE_TABLE:
    return draw_table(size, tl_random_unit(&random));
  }
  return 1;
}

talus_status tl_size_copy(talus_size_def *to, const talus_size_def *from) {
  talus_size_def copy = *from;
  copy.table = NULL;
  copy.rows = 0;
  if (from->kind == TALUS_SIZE_TABLE && from->rows > 0) {
    const size_t bytes = from->rows * 2 * sizeof(double);
    void *block = NULL;
    TL_TRY(tl_resize(&block, 0, bytes));
    memcpy(block, from->table, bytes);
    copy.table = block;
    copy.rows = from->rows;
  }
  *to = copy;
  return TALUS_OK;
}

void tl_size_release(talus_size_def *size) {
  void *block = (void *)size->table; /* made by tl_size_copy */
  if (block)
    (void)tl_resize(&block, size->rows * 2 * sizeof(double), 0);
  size->table = NULL;
  size->rows = 0;
}
