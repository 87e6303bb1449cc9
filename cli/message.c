/* Messages to the person at the terminal. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quote.h"

/* https://no-color.org: set and not empty means no colour. */
static bool has_colour(void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(STDERR_FILENO);
}

static CLI_PRINTF(3, 0) void say(const char *word, const char *colour, const char *fmt,
                                 va_list args) {
  fflush(stdout); /* earlier output must come first */
  const bool coloured = colour && has_colour();
  fprintf(stderr, "talus: %s%s%s", coloured ? colour : "", word, coloured ? "\033[0m" : "");
  char text[8192], shown[4 * sizeof text]; /* longer than any message of the library */
  vsnprintf(text, sizeof text, fmt, args);
  tl_escape(text, shown, sizeof shown);
  fprintf(stderr, "%s\n", shown);
}

const char *cli_shown(const char *text) {
  static char shown[4][1024];
  static int turn;
  turn = (turn + 1) % 4;
  tl_escape(text, shown[turn], sizeof shown[turn]);
  for (char *c = shown[turn]; *c; ++c)
    *c = *c == '\n' ? ' ' : *c;
  return shown[turn];
}

void cli_error(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say("error: ", "\033[1;31m", fmt, args);
  va_end(args);
}

void cli_warning(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say("warning: ", "\033[1;33m", fmt, args);
  va_end(args);
}

void cli_note(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say("", NULL, fmt, args);
  va_end(args);
}

int cli_exit_code(talus_status status) {
  switch (status) {
  case TALUS_OK:
    return CLI_DONE;
  case TALUS_INTERRUPTED:
    return CLI_INTERRUPTED;
  case TALUS_ERROR_INVALID:
  case TALUS_ERROR_FORMAT:
  case TALUS_ERROR_UNSUPPORTED:
    return CLI_INPUT;
  default:
    return CLI_FAILED;
  }
}

int cli_exit_code_of(const char *why) {
  return strstr(why, "out of memory") || strstr(why, strerror(ENOMEM)) ? CLI_FAILED : CLI_INPUT;
}

/* ---- near misses ----------------------------------------------------------------------------- */

#define WORD_MOST 40

/* Number of letters to change, add, remove or swap to turn a into b (optimal string alignment);
 * capitals do not matter. */
static size_t distance(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  size_t rows[3][WORD_MOST + 1]; /* of a's letters i-2, i-1 and i */
  for (size_t i = 0; i <= n; ++i) {
    size_t *row = rows[i % 3];
    const size_t *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    for (size_t j = 0; j <= m; ++j) {
      if (i == 0 || j == 0) {
        row[j] = i + j;
        continue;
      }
      const int p = tolower((unsigned char)a[i - 1]), q = tolower((unsigned char)b[j - 1]);
      size_t best = above[j - 1] + (p == q ? 0 : 1);
      best = above[j] + 1 < best ? above[j] + 1 : best;
      best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
      if (i > 1 && j > 1 && p == tolower((unsigned char)b[j - 2]) &&
          q == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[n % 3][m];
}

const char *cli_suggest(const char *word, const char *const *candidates, size_t n) {
  const size_t length = strlen(word);
  const char *best = NULL;
  size_t least = length < 4 ? 2 : length < 8 ? 3 : 4; /* larger distances are no typing errors */
  for (size_t i = 0; i < n && length <= WORD_MOST; ++i) {
    const bool begins = length >= 3 && strncmp(candidates[i], word, length) == 0;
    const size_t d = strlen(candidates[i]) > WORD_MOST ? WORD_MOST
                     : begins                          ? 1
                                                       : distance(word, candidates[i]);
    if (d < least) {
      least = d;
      best = candidates[i];
    }
  }
  return best;
}

/* ---- numbers for people ---------------------------------------------------------------------- */

const char *cli_duration(double seconds, char text[CLI_DURATION_BYTES]) {
  const size_t size = CLI_DURATION_BYTES;
  const unsigned long long whole = seconds < 1e15 ? (unsigned long long)(seconds + 0.5) : 0;
  if (!(seconds < 1e15))
    snprintf(text, size, "a long time");
  else if (seconds < 0.9995)
    snprintf(text, size, "%.3g ms", 1e3 * seconds);
  else if (seconds < 99.95)
    snprintf(text, size, "%.1f s", seconds);
  else if (whole < 3600)
    snprintf(text, size, "%llu min %02llu s", whole / 60, whole % 60);
  else if (whole < 86400)
    snprintf(text, size, "%llu h %02llu min", whole / 3600, whole % 3600 / 60);
  else
    snprintf(text, size, "%llu d %02llu h", whole / 86400, whole % 86400 / 3600);
  return text;
}

const char *cli_bytes(double bytes, char text[CLI_DURATION_BYTES]) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit)
    bytes /= 1024;
  snprintf(text, CLI_DURATION_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}
