/* The test harness: one header, no dependency, so that the same test programs run on a bare GPU
 * node, under every sanitizer and in both precisions.
 *
 *   #include "check.h"
 *   TEST(resting_sphere_stays_at_rest) { CHECK_NEAR(height, 0.5, 1e-9); }
 *   TEST_MAIN()
 *
 * A failed CHECK prints where and what and ends that test; the others still run. SKIP ends a test
 * that cannot run in this build or on this machine, and says why. The program exits 1 if any
 * failed, 77 if all were skipped. Arguments select tests whose name contains one of them; `--list`
 * lists. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct check_test {
  const char *name;
  void (*run)(void);
  struct check_test *next;
} check_test;

static check_test *check_first, **check_last = &check_first;
static jmp_buf check_escape;

#define TEST(test_name)                                                                            \
  static void test_##test_name(void);                                                              \
  static check_test check_entry_##test_name = {#test_name, test_##test_name, NULL};                \
  __attribute__((constructor)) static void check_register_##test_name(void) {                      \
    *check_last = &check_entry_##test_name;                                                        \
    check_last = &check_entry_##test_name.next;                                                    \
  }                                                                                                \
  static void test_##test_name(void)

#define CHECK_MSG(condition, ...)                                                                  \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("  %s:%d: failed: %s: ", __FILE__, __LINE__, #condition);                             \
      printf(__VA_ARGS__);                                                                         \
      printf("\n");                                                                                \
      fflush(stdout);                                                                              \
      longjmp(check_escape, 1);                                                                    \
    }                                                                                              \
  } while (0)

#define CHECK(condition) CHECK_MSG(condition, "is false")

#define CHECK_NEAR(got, expected, tolerance)                                                       \
  do {                                                                                             \
    const double check_got = (double)(got), check_want = (double)(expected);                       \
    CHECK_MSG(fabs(check_got - check_want) <= (double)(tolerance),                                 \
              "got %.17g, expected %.17g +- %g (off by %g)", check_got, check_want,                \
              (double)(tolerance), check_got - check_want);                                        \
  } while (0)

#define CHECK_EQ_U64(got, expected)                                                                \
  do {                                                                                             \
    const uint64_t check_got = (uint64_t)(got), check_want = (uint64_t)(expected);                 \
    CHECK_MSG(check_got == check_want,                                                             \
              "got %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")", check_got,  \
              check_got, check_want, check_want);                                                  \
  } while (0)

#define CHECK_STR(got, expected)                                                                   \
  CHECK_MSG(strcmp((got), (expected)) == 0, "got \"%s\", expected \"%s\"", (got), (expected))

/* Ends this test, which counts as skipped. */
#define SKIP(...)                                                                                  \
  do {                                                                                             \
    printf("  skipped: ");                                                                         \
    printf(__VA_ARGS__);                                                                           \
    printf("\n");                                                                                  \
    longjmp(check_escape, 2);                                                                      \
  } while (0)

/* Whether loops should be short: sanitizers and the bare build look for other faults than those
 * that a thousand random cases find (tests/CMakeLists.txt). */
static inline bool check_is_short(void) { return getenv("TALUS_TEST_SHORT") != NULL; }

/* How many of so many random cases: all with TALUS_SOAK in the environment, a quarter in release,
 * a fortieth where loops should be short. */
static inline uint64_t check_cases(uint64_t many) {
  if (getenv("TALUS_SOAK"))
    return many;
  const uint64_t few = many / (check_is_short() ? 40 : 4);
  return few > 2 ? few : 2;
}

/* What takes long and finds what neither a sanitizer nor a bare build is for. */
#define SKIP_IF_SHORT()                                                                            \
  do {                                                                                             \
    if (check_is_short())                                                                          \
      SKIP("too long for this build; release runs it");                                            \
  } while (0)

/* The same of results that do not depend on threads: the thread sanitizer runs them all. */
#define SKIP_IF_SHORT_UNLESS_RACES_COUNT()                                                         \
  do {                                                                                             \
    if (!getenv("TSAN_OPTIONS"))                                                                   \
      SKIP_IF_SHORT();                                                                             \
  } while (0)

/* For functions that return talus_status; talus_last_error must be declared. */
#define CHECK_OK(call) CHECK_MSG((call) == 0, "%s", talus_last_error())

enum { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED, CHECK_RESULTS };

/* Apart from the loop, so that setjmp clobbers nothing of it. */
static int check_run(const check_test *test) {
  switch (setjmp(check_escape)) {
  case 0:
    test->run();
    return CHECK_PASSED;
  case 1:
    return CHECK_FAILED;
  default:
    return CHECK_SKIPPED;
  }
}

static inline int check_main(int argc, char **argv) {
  int count[CHECK_RESULTS] = {0};
  for (const check_test *test = check_first; test; test = test->next) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; ++i) {
      if (strcmp(argv[i], "--list") == 0)
        puts(test->name);
      else if (strstr(test->name, argv[i]))
        wanted = true;
    }
    if (!wanted)
      continue;
    printf("- %s\n", test->name);
    fflush(stdout);
    const clock_t start = clock();
    count[check_run(test)]++;
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds >= 1)
      printf("  %.1f s of CPU time\n", seconds);
  }
  printf("%d passed, %d failed, %d skipped\n", count[CHECK_PASSED], count[CHECK_FAILED],
         count[CHECK_SKIPPED]);
  fflush(stdout);
  if (count[CHECK_FAILED] > 0)
    return 1;
  return count[CHECK_SKIPPED] > 0 && count[CHECK_PASSED] == 0 ? 77 : 0;
}

/* Whether TALUS_ISA asks for an instruction set that this machine does not have: the library would
 * take another. */
static inline bool check_lacks_isa(void) {
  const char *isa = getenv("TALUS_ISA");
  if (!isa || strcmp(isa, "generic") == 0)
    return false;
#if defined(__x86_64__) && defined(__GNUC__)
  return !(strcmp(isa, "avx2") == 0 ? __builtin_cpu_supports("avx2")
                                    : __builtin_cpu_supports("avx512f"));
#else
  return true;
#endif
}

#define TEST_MAIN()                                                                                \
  int main(int argc, char **argv) {                                                                \
    if (check_lacks_isa()) {                                                                       \
      printf("skipped: this machine lacks %s\n", getenv("TALUS_ISA"));                             \
      return 77;                                                                                   \
    }                                                                                              \
    setenv("TALUS_PACE", "off", 0); /* tests with threads are to have them */                      \
    return check_main(argc, argv);                                                                 \
  }

#endif
