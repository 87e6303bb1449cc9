/* What a fuzz target is: one function that takes any bytes. libFuzzer and AFL++ call it with what
 * they think up; replay.c calls it with files. A target aborts where a promise of the library is
 * broken. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise: shows what was broken and dies, so that the fuzzer keeps the input. */
#define PROMISE(condition, ...)                                                                    \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: broken: %s: ", __FILE__, __LINE__, #condition);                      \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fputc('\n', stderr);                                                                         \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

/* What is said of a file begins with its name and can be shown by a terminal; every mistake has a
 * line and, below it, what the file has there. */
static inline void promise_message(const char *why, const char *name) {
  PROMISE(strncmp(why, name, strlen(name)) == 0, "the message does not name the file: %s", why);
  for (const unsigned char *c = (const unsigned char *)why; *c; ++c)
    PROMISE(*c >= ' ' || *c == '\n' || *c == '\t', "not for a terminal: byte %u", *c);
}

#endif
