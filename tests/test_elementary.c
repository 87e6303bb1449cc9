/* sin, exp and the like of base/trig.h and base/power.h: beside long double, in units of the last
 * bit, over random and hard arguments; and what they make of zeros, infinities and no numbers. */
#include "check.h"
#include "kernels/real.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#if LDBL_MANT_DIG >= 64
#define NEED_LONG_DOUBLE() ((void)0)
#else
#define NEED_LONG_DOUBLE() SKIP("long double is no longer than double here")
#endif

#define CASES 800000 /* of each kind; check_cases says how many of them */

static uint64_t state;

static uint64_t draw_bits(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
static double draw(double low, double high) {
  return low + (high - low) * ((double)(draw_bits() >> 11) * 0x1p-53);
}
/* Any bits at all: every exponent, no numbers too. */
static double draw_any(void) {
  const uint64_t bits = draw_bits();
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
/* Beside a multiple of pi/2, up to 2^50 of them. */
static double draw_near_pi(void) {
  const long double half_pi = 1.57079632679489661923132169163975144L;
  const double k = floor(ldexp(draw(0, 1), (int)(draw_bits() % 50)));
  double x = (double)((long double)k * half_pi);
  for (uint64_t steps = draw_bits() % 3; steps > 0; --steps)
    x = nextafter(x, draw_bits() % 2 ? INFINITY : -INFINITY);
  return x;
}

/* How far off, in last bits of what would be right, of which a number has `digits`. */
static double off_by(double got, long double want, int digits) {
  const double nearest = (double)want;
  if (isnan(nearest) || isinf(nearest) || isinf(got) || isnan(got)) {
    const bool same = isnan(nearest) ? isnan(got) : nearest == got;
    return same ? 0 : INFINITY;
  }
  int exponent;
  (void)frexpl(want, &exponent);
  const int least = digits == DBL_MANT_DIG ? DBL_MIN_EXP : FLT_MIN_EXP;
  exponent = want == 0 || exponent < least ? least : exponent;
  return (double)(fabsl((long double)got - want) / ldexpl(1, exponent - digits));
}

typedef double of_one(double x);
typedef long double of_one_l(long double x);
typedef double of_two(double x, double y);
typedef long double of_two_l(long double x, long double y);

/* ---- one argument ---------------------------------------------------------------------------- */

typedef enum kind { WITHIN, ANY, NEAR_PI } kind;

typedef struct one {
  const char *name;
  of_one *mine;
  of_one_l *want;
  kind kind;
  double low, high;
  double most; /* last bits */
} one;

static double draw_for(kind which, double low, double high) {
  return which == ANY ? draw_any() : which == NEAR_PI ? draw_near_pi() : draw(low, high);
}

static void check_one(const one *c) {
  double worst = 0, at = 0;
  state = 88172645463325252u;
  for (uint64_t i = check_cases(CASES); i > 0; --i) {
    const double x = draw_for(c->kind, c->low, c->high);
    const double off = off_by(c->mine(x), c->want((long double)x), DBL_MANT_DIG);
    if (!(off <= worst))
      worst = off, at = x;
  }
  CHECK_MSG(worst <= c->most, "%s(%a) is off by %g last bits", c->name, at, worst);
}

TEST(functions_of_one_number_are_right_to_a_last_bit) {
  NEED_LONG_DOUBLE();
  static const one all[] = {
      {"sin", tl_sin_d, sinl, WITHIN, -4, 4, 0.85},
      {"sin", tl_sin_d, sinl, WITHIN, -2e6, 2e6, 0.85},
      {"sin", tl_sin_d, sinl, ANY, 0, 0, 0.85},
      {"sin", tl_sin_d, sinl, NEAR_PI, 0, 0, 0.85},
      {"cos", tl_cos_d, cosl, WITHIN, -4, 4, 0.85},
      {"cos", tl_cos_d, cosl, WITHIN, -2e6, 2e6, 0.85},
      {"cos", tl_cos_d, cosl, ANY, 0, 0, 0.85},
      {"cos", tl_cos_d, cosl, NEAR_PI, 0, 0, 0.85},
      {"tan", tl_tan_d, tanl, WITHIN, -4, 4, 1},
      {"tan", tl_tan_d, tanl, ANY, 0, 0, 1},
      {"tan", tl_tan_d, tanl, NEAR_PI, 0, 0, 1},
      {"asin", tl_asin_d, asinl, WITHIN, -1, 1, 0.51},
      {"asin", tl_asin_d, asinl, ANY, 0, 0, 0.51},
      {"acos", tl_acos_d, acosl, WITHIN, -1, 1, 0.51},
      {"acos", tl_acos_d, acosl, WITHIN, 1 - 1e-9, 1, 0.51},
      {"atan", tl_atan_d, atanl, WITHIN, -4, 4, 0.51},
      {"atan", tl_atan_d, atanl, ANY, 0, 0, 0.51},
      {"exp", tl_exp_d, expl, WITHIN, -1, 1, 0.55},
      {"exp", tl_exp_d, expl, WITHIN, -750, 712,
       0.76}, /* below normal numbers it is rounded twice */
      {"exp", tl_exp_d, expl, ANY, 0, 0, 0.76},
      {"expm1", tl_expm1_d, expm1l, WITHIN, -1, 1, 0.6},
      {"expm1", tl_expm1_d, expm1l, WITHIN, -60, 712, 0.6},
      {"expm1", tl_expm1_d, expm1l, ANY, 0, 0, 0.6},
      {"log", tl_log_d, logl, WITHIN, 0.5, 2, 0.51},
      {"log", tl_log_d, logl, ANY, 0, 0, 0.51},
      {"asinh", tl_asinh_d, asinhl, WITHIN, -3, 3, 0.51},
      {"asinh", tl_asinh_d, asinhl, ANY, 0, 0, 0.51},
      {"cbrt", tl_cbrt_d, cbrtl, WITHIN, -30, 30, 0.55},
      {"cbrt", tl_cbrt_d, cbrtl, ANY, 0, 0, 0.55},
      {"gamma", tl_gamma_d, tgammal, WITHIN, 0.01, 8, 0.6},
      {"gamma", tl_gamma_d, tgammal, WITHIN, 1, 170, 0.6},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    check_one(&all[i]);
}

/* ---- two arguments --------------------------------------------------------------------------- */

typedef struct two {
  const char *name;
  of_two *mine;
  of_two_l *want;
  kind of_x, of_y;
  double low_x, high_x, low_y, high_y;
  double most;
} two;

static void check_two(const two *c) {
  double worst = 0, at[2] = {0, 0};
  state = 88172645463325252u;
  for (uint64_t i = check_cases(CASES); i > 0; --i) {
    const double x = draw_for(c->of_x, c->low_x, c->high_x);
    const double y = draw_for(c->of_y, c->low_y, c->high_y);
    const double off = off_by(c->mine(x, y), c->want((long double)x, (long double)y), DBL_MANT_DIG);
    if (!(off <= worst))
      worst = off, at[0] = x, at[1] = y;
  }
  CHECK_MSG(worst <= c->most, "%s(%a, %a) is off by %g last bits", c->name, at[0], at[1], worst);
}

TEST(functions_of_two_numbers_are_right_to_a_last_bit) {
  NEED_LONG_DOUBLE();
  static const two all[] = {
      {"atan2", tl_atan2_d, atan2l, WITHIN, WITHIN, -2, 2, -2, 2, 0.51},
      {"atan2", tl_atan2_d, atan2l, ANY, ANY, 0, 0, 0, 0, 0.51},
      {"hypot", tl_hypot_d, hypotl, WITHIN, WITHIN, -2, 2, -2, 2, 0.51},
      {"hypot", tl_hypot_d, hypotl, ANY, ANY, 0, 0, 0, 0, 0.76},
      {"pow", tl_pow_d, powl, WITHIN, WITHIN, 0, 10, -20, 20, 0.6},
      {"pow", tl_pow_d, powl, WITHIN, WITHIN, 0.999, 1.001, -7e5, 7e5, 0.76},
      {"pow", tl_pow_d, powl, WITHIN, WITHIN, 0.995, 1.005, -1.2e5, 1.2e5, 0.76},
      {"pow", tl_pow_d, powl, ANY, WITHIN, 0, 0, -2, 2, 0.76},
      {"pow", tl_pow_d, powl, ANY, ANY, 0, 0, 0, 0, 0.76},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    check_two(&all[i]);
}

/* ---- in the precision of this build ---------------------------------------------------------- */

typedef talus_real of_real(talus_real x);

TEST(functions_of_reals_are_right_to_a_last_bit_of_theirs) {
  NEED_LONG_DOUBLE();
  const struct {
    const char *name;
    of_real *mine;
    of_one_l *want;
    double low, high;
  } all[] = {{"sin", tl_sin, sinl, -1e5, 1e5},   {"cos", tl_cos, cosl, -1e5, 1e5},
             {"tan", tl_tan, tanl, -30, 30},     {"asin", tl_asin, asinl, -1, 1},
             {"acos", tl_acos, acosl, -1, 1},    {"atan", tl_atan, atanl, -9, 9},
             {"exp", tl_exp, expl, -87, 88},     {"ln", tl_ln, logl, 0, 1e6},
             {"cbrt", tl_cbrt, cbrtl, -1e6, 1e6}};
  const int digits = TALUS_SINGLE ? FLT_MANT_DIG : DBL_MANT_DIG;
  state = 4711;
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
    for (uint64_t i = check_cases(CASES / 4); i > 0; --i) {
      const talus_real x = (talus_real)draw(all[k].low, all[k].high);
      const double off = off_by((double)all[k].mine(x), all[k].want((long double)x), digits);
      CHECK_MSG(off <= (TALUS_SINGLE ? 0.51 : 1), "%s(%a) is off by %g", all[k].name, (double)x,
                off);
    }
  for (uint64_t i = check_cases(CASES / 4); i > 0; --i) {
    const talus_real x = (talus_real)draw(0, 9), y = (talus_real)draw(-9, 9);
    const long double lx = (long double)x, ly = (long double)y;
    CHECK(off_by((double)tl_pow(x, y), powl(lx, ly), digits) <= 1);
    CHECK(off_by((double)tl_atan2(y, x), atan2l(ly, lx), digits) <= 1);
    CHECK(off_by((double)tl_hypot(y, x), hypotl(ly, lx), digits) <= 1);
    CHECK(off_by((double)tl_hypot_quick(y, x), hypotl(ly, lx), digits) <= 2);
  }
}

/* ---- hard cases ------------------------------------------------------------------------------ */

/* The double that is nearest to a multiple of pi/2 of all, beside large and small ones of the same
 * kind: found by continued fractions of 2^e / pi. */
TEST(angles_next_to_multiples_of_half_pi_are_reduced_exactly) {
  NEED_LONG_DOUBLE();
  const double hard[] = {6381956970095103 * 0x1p797,
                         6381956970095103 * 0x1p798,
                         5319372648326541 * 0x1p-51,
                         0x1.921fb54442d18p0,
                         0x1.921fb54442d18p1,
                         0x1.2d97c7f3321d2p2,
                         0x1.fffffffffffffp1023,
                         0x1p20,
                         nextafter(0x1p20, 0),
                         0x1.6ac5b262ca1ffp849,
                         1e22};
  for (size_t i = 0; i < sizeof hard / sizeof *hard; ++i)
    for (int sign = -1; sign <= 1; sign += 2) {
      const double x = sign * hard[i];
      CHECK_MSG(off_by(tl_sin_d(x), sinl(x), DBL_MANT_DIG) <= 0.85, "sin(%a)", x);
      CHECK_MSG(off_by(tl_cos_d(x), cosl(x), DBL_MANT_DIG) <= 0.85, "cos(%a)", x);
      CHECK_MSG(off_by(tl_tan_d(x), tanl(x), DBL_MANT_DIG) <= 1, "tan(%a)", x);
    }
}

/* Zeros with their signs, numbers below normal ones, infinities and no numbers: as C17 (Annex F)
 * has it, which is what the C library does. */
static bool same_bits(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

TEST(edges_are_those_of_the_c_library) {
  static const struct {
    const char *name;
    of_one *mine, *want;
  } ones[] = {{"sin", tl_sin_d, sin},       {"cos", tl_cos_d, cos},      {"tan", tl_tan_d, tan},
              {"asin", tl_asin_d, asin},    {"acos", tl_acos_d, acos},   {"atan", tl_atan_d, atan},
              {"exp", tl_exp_d, exp},       {"log", tl_log_d, log},      {"cbrt", tl_cbrt_d, cbrt},
              {"expm1", tl_expm1_d, expm1}, {"asinh", tl_asinh_d, asinh}};
  static const struct {
    const char *name;
    of_two *mine, *want;
  } twos[] = {{"pow", tl_pow_d, pow}, {"atan2", tl_atan2_d, atan2}, {"hypot", tl_hypot_d, hypot}};
  const double edges[] = {0.0,     -0.0,       1,          -1,      INFINITY, -INFINITY,
                          NAN,     0x1p-1074,  -0x1p-1074, DBL_MAX, -DBL_MAX, 2,
                          -2,      3,          -3,         0.5,     -0.5,     0x1p53,
                          -0x1p53, 0x1p53 + 2, 1e300,      -1e300,  1e-300,   0x1p-1022};
  const size_t n = sizeof edges / sizeof *edges;
  for (size_t i = 0; i < n; ++i) {
    const double x = edges[i];
    for (size_t k = 0; k < sizeof ones / sizeof *ones; ++k) {
      const double a = ones[k].mine(x), b = ones[k].want(x);
      const bool is_edge = b == 0 || isnan(b) || isinf(b) || fabs(b) == 1 || b == x;
      CHECK_MSG(is_edge ? same_bits(a, b) : fabs(a - b) <= 2 * DBL_EPSILON * fabs(b),
                "%s(%a) is %a, not %a", ones[k].name, x, a, b);
    }
    for (size_t k = 0; k < sizeof twos / sizeof *twos; ++k)
      for (size_t j = 0; j < n; ++j) {
        const double a = twos[k].mine(x, edges[j]), b = twos[k].want(x, edges[j]);
        const bool is_edge = b == 0 || isnan(b) || isinf(b);
        CHECK_MSG(is_edge ? same_bits(a, b) : fabs(a - b) <= 2 * DBL_EPSILON * fabs(b) + 0x1p-1074,
                  "%s(%a, %a) is %a, not %a", twos[k].name, x, edges[j], a, b);
      }
  }
}

TEST(what_has_an_exact_answer_gets_it) {
  for (int k = 1; k <= 40; ++k) {
    const double x = k;
    CHECK(tl_cbrt_d(x * x * x) == x && tl_cbrt_d(-x * x * x) == -x);
    CHECK(tl_pow_d(x, 2) == x * x && tl_pow_d(x, 3) == x * x * x && tl_pow_d(x, 1) == x);
    CHECK(tl_pow_d(x * x, 0.5) == x && tl_pow_d(2, x) == ldexp(1, k));
    CHECK(tl_pow_d(-2, -x) == ldexp(k % 2 ? -1 : 1, -k));
    CHECK(tl_hypot_d(3 * x, -4 * x) == 5 * x);
    CHECK(tl_hypot_d(3 * x * 0x1p1000, 4 * x * 0x1p1000) == 5 * x * 0x1p1000);
    CHECK(tl_hypot_d(3 * x * 0x1p-1070, 4 * x * 0x1p-1070) == 5 * x * 0x1p-1070);
  }
  double factorial = 1;
  for (int k = 1; k <= 20; ++k, factorial *= k - 1)
    CHECK(tl_gamma_d(k) == factorial);
}

/* The table of logarithms is read at 128 m, rounded half up, for every m; halves are the hard ones.
 */
TEST(place_in_the_table_of_logarithms_is_the_nearest) {
  for (int k = 64; k < 256; ++k)
    for (int step = -3; step <= 3; ++step) {
      double m = (k + 0.5) / 128;
      for (int i = 0; i < abs(step); ++i)
        m = nextafter(m, step < 0 ? 0 : 2);
      if (m < 2)
        CHECK(tl_log_place(m) == (int)(128 * m + 0.5));
    }
  state = 3;
  for (uint64_t i = check_cases(CASES); i > 0; --i) {
    const double m = draw(0.5, 2);
    CHECK(tl_log_place(m) == (int)(128 * m + 0.5));
  }
}

/* Around the fraction at which a number counts as below twice its power of two. */
TEST(logarithms_are_right_beside_roots_of_two) {
  NEED_LONG_DOUBLE();
  for (int e = -1022; e < 1023; e += 31) {
    double x = ldexp(1.4142135623730951, e);
    for (int step = 0; step < 8; ++step)
      x = nextafter(x, 0);
    for (int step = 0; step < 16; ++step, x = nextafter(x, INFINITY))
      CHECK(off_by(tl_log_d(x), logl((long double)x), DBL_MANT_DIG) <= 1);
  }
}

TEST_MAIN()
