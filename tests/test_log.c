#include "base/log.h"

#include "base/memory.h"
#include "check.h"

typedef struct seen {
  int lines;
  tl_log_level level;
  char text[8192];
} seen;

static void collect(void *context, tl_log_level level, const char *line) {
  seen *s = context;
  s->lines++;
  s->level = level;
  snprintf(s->text, sizeof s->text, "%s", line);
}

TEST(a_line_reaches_the_sink_with_its_level) {
  seen s = {0};
  const tl_log log = {collect, &s, TL_LOG_INFO};
  tl_log_write(&log, TL_LOG_WARN, "%d bodies, %s", 3, "no contacts");
  CHECK_EQ_U64(s.lines, 1);
  CHECK(s.level == TL_LOG_WARN);
  CHECK_STR(s.text, "3 bodies, no contacts");
}

TEST(lines_above_the_level_are_dropped) {
  for (tl_log_level limit = TL_LOG_ERROR; limit <= TL_LOG_DEBUG; ++limit) {
    for (tl_log_level level = TL_LOG_ERROR; level <= TL_LOG_DEBUG; ++level) {
      seen s = {0};
      const tl_log log = {collect, &s, limit};
      tl_log_write(&log, level, "x");
      CHECK_EQ_U64(s.lines, level <= limit);
    }
  }
}

/* %n-free proof that nothing is formatted: a dropped line, however long, allocates nothing. */
TEST(a_dropped_line_is_not_formatted) {
  seen s = {0};
  const tl_log log = {collect, &s, TL_LOG_ERROR};
  const uint64_t before = tl_memory_count().allocations;
  tl_log_write(&log, TL_LOG_DEBUG, "%5000d", 1);
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  CHECK_EQ_U64(s.lines, 0);
}

TEST(no_sink_and_no_log_are_silent) {
  tl_log_write(NULL, TL_LOG_ERROR, "x");
  tl_log_write(&(tl_log){0}, TL_LOG_ERROR, "x");
}

TEST(long_lines_arrive_whole_and_short_ones_need_no_heap) {
  seen s = {0};
  const tl_log log = {collect, &s, TL_LOG_DEBUG};
  static char text[5001];
  const size_t held = tl_memory_count().bytes;
  for (size_t length = 0; length < sizeof text;
       length += length < 1000 || length > 1050 ? 125 : 1) {
    for (size_t i = 0; i < length; ++i)
      text[i] = (char)('a' + i % 26);
    text[length] = '\0';
    const uint64_t before = tl_memory_count().allocations;
    tl_log_write(&log, TL_LOG_INFO, "%s", text);
    CHECK_STR(s.text, text);
    CHECK_EQ_U64(tl_memory_count().allocations - before, length >= 1024);
  }
  CHECK_EQ_U64(tl_memory_count().bytes, held);
}

TEST(levels_have_names) {
  CHECK_STR(tl_log_level_name(TL_LOG_ERROR), "error");
  CHECK_STR(tl_log_level_name(TL_LOG_WARN), "warning");
  CHECK_STR(tl_log_level_name(TL_LOG_INFO), "info");
  CHECK_STR(tl_log_level_name(TL_LOG_DEBUG), "debug");
}

TEST_MAIN()
