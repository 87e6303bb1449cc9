/* Status and message: every function that can fail returns talus_status and, on failure, has
 * left a text for talus_last_error(): one line, or several where a file has several mistakes
 * (base/input.h). The text is thread-local, so it is set where the
 * failure is noticed, in serial code. Parallel loops record an index and report afterwards: a text
 * that a loop sets on its own thread is not seen, so the failure is found again in serial code. */
#ifndef TL_BASE_STATUS_H
#define TL_BASE_STATUS_H

#include <talus/types.h>

#if defined(__GNUC__)
#define TL_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#else
#define TL_PRINTF(fmt_at, args_at)
#endif

/* Stores the message and returns the status, so that `return tl_fail(...)` reads well. */
talus_status tl_fail(talus_status status, const char *fmt, ...) TL_PRINTF(2, 3);

/* Puts "context: " in front of the message that is already there; returns status unchanged. */
talus_status tl_fail_in(talus_status status, const char *fmt, ...) TL_PRINTF(2, 3);

/* The message of the last tl_fail on this thread ("" when there was none). */
const char *tl_last_message(void);

/* A pointer that a caller must give, of a public call that returns a status, is NULL: says so. */
talus_status tl_fail_null(const char *call, const char *argument);
#define TL_NEED(pointer)                                                                           \
  do {                                                                                             \
    if (!(pointer))                                                                                \
      return tl_fail_null(__func__, #pointer);                                                     \
  } while (0)
/* The same of an array, which may be NULL where it has no rows. */
#define TL_NEED_SOME(pointer, count)                                                               \
  do {                                                                                             \
    if (!(pointer) && (count) > 0)                                                                 \
      return tl_fail_null(__func__, #pointer);                                                     \
  } while (0)
/* The same where a call returns something else: `nothing` is what it then returns. */
#define TL_NEED_OR(pointer, nothing)                                                               \
  do {                                                                                             \
    if (!(pointer)) {                                                                              \
      (void)tl_fail_null(__func__, #pointer);                                                      \
      return nothing;                                                                              \
    }                                                                                              \
  } while (0)

#define TL_TRY(call)                                                                               \
  do {                                                                                             \
    const talus_status tl_try_status = (call);                                                     \
    if (tl_try_status != TALUS_OK)                                                                 \
      return tl_try_status;                                                                        \
  } while (0)

/* Our own mistakes, never the user's. On unless NDEBUG (CI and tests build with it on). */
#ifdef NDEBUG
#define TL_ASSERT(condition) ((void)0)
#else
#define TL_ASSERT(condition)                                                                       \
  ((condition) ? (void)0 : tl_assert_failed(#condition, __FILE__, __LINE__))
#endif
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void tl_assert_failed(const char *condition, const char *file, int line);

#endif
