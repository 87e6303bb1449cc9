/* The test harness: one header, no dependency, so that the same test programs run on a bare GPU
 * node, under every sanitizer and in both precisions.
 *
 *   #include "check.h"
 *   TEST(resting_sphere_stays_at_rest) { CHECK_NEAR(height, 0.5, 1e-9); }
 *   TEST_MAIN()
 *
 * A failed CHECK prints where and what and ends that test; the others still run. The program
 * exits 1 if any failed. Arguments select tests whose name contains one of them; `--list` lists. */
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

/* For functions that return talus_status; talus_last_error must be declared. */
#define CHECK_OK(call) CHECK_MSG((call) == 0, "%s", talus_last_error())

/* Apart from the loop, so that setjmp clobbers nothing of it. */
static bool check_passes(const check_test *test) {
  if (setjmp(check_escape) != 0)
    return false;
  test->run();
  return true;
}

static inline int check_main(int argc, char **argv) {
  int passed = 0, failed = 0;
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
    if (check_passes(test))
      passed++;
    else
      failed++;
  }
  printf("%d passed, %d failed\n", passed, failed);
  fflush(stdout);
  return failed > 0;
}

#define TEST_MAIN()                                                                                \
  int main(int argc, char **argv) { return check_main(argc, argv); }

#endif
