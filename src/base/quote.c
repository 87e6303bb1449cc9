#include "base/quote.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 100 /* characters of a line that are shown */

/* A line, three dots at each end, a caret: all of it has room. */
_Static_assert(4 * WIDTH + WIDTH + 32 < TL_QUOTE_BYTES, "a quoted line fits");

size_t tl_character(const unsigned char *p, const unsigned char *end, uint32_t *code) {
  const unsigned char first = *p;
  if (first < 0x80) {
    *code = first;
    return 1;
  }
  const size_t n = first >= 0xC2 && first <= 0xDF   ? 2
                   : first >= 0xE0 && first <= 0xEF ? 3
                   : first >= 0xF0 && first <= 0xF4 ? 4
                                                    : 0;
  if (n == 0 || (size_t)(end - p) < n)
    return 0;
  uint32_t value = first & (0x7Fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((p[i] & 0xC0) != 0x80)
      return 0;
    value = value << 6 | (p[i] & 0x3Fu);
  }
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[n] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
    return 0;
  *code = value;
  return n;
}

bool tl_is_control(uint32_t code) {
  return (code < 0x20 && code != '\t' && code != '\n' && code != '\r') ||
         (code >= 0x7F && code < 0xA0 && code != 0x85) || code == 0xFEFF ||
         (code >= 0xFFFE && code <= 0xFFFF);
}

bool tl_is_hidden(uint32_t code) {
  return tl_is_control(code) || code == 0x85 || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/* Longest of what is put in the place of a character: \\u202e. */
#define ESCAPED 7

size_t tl_escape(const char *text, char *to, size_t size) {
  const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);
  size_t used = 0;
  while (p < end && used + ESCAPED < size) {
    uint32_t code = *p;
    const size_t n = tl_character(p, end, &code);
    if (n > 0 && !tl_is_hidden(code) && code != '\r') {
      memcpy(to + used, p, n);
      used += n;
    } else {
      used += (size_t)snprintf(to + used, size - used, n > 1 ? "\\u%04x" : "\\x%02x",
                               (unsigned)(n > 0 ? code : *p));
    }
    p += n == 0 ? 1 : n;
  }
  to[used] = '\0';
  return used;
}

/* Words that were cut to fit may end in half a character. */
void tl_mend_text(char *text) {
  unsigned char *p = (unsigned char *)text, *end = p + strlen(text);
  while (p < end) {
    uint32_t code = 0;
    const size_t n = tl_character(p, end, &code);
    if (n == 0 || tl_is_hidden(code) || code == '\n' || code == '\t' || code == '\r')
      *p = '?';
    p += n == 0 ? 1 : n;
  }
}

/* The text under way. */
typedef struct quote {
  char *to;
  size_t count;
} quote;

static void put(quote *q, const void *bytes, size_t n) {
  memcpy(q->to + q->count, bytes, n);
  q->count += n;
}

size_t tl_quote(const char *line, const char *end, size_t column, char to[TL_QUOTE_BYTES]) {
  const unsigned char *p = (const unsigned char *)line, *last = (const unsigned char *)end;
  to[0] = '\0';
  if (p == last)
    return 0;
  const size_t first = column > WIDTH - 20 ? column - WIDTH / 2 : 1;
  quote q = {.to = to};
  char below[WIDTH + 1]; /* what stands above the caret's blanks: tabs are kept */
  size_t blanks = 0;
  put(&q, "  ...", first > 1 ? 5 : 2);
  size_t at = 1;
  for (; p < last && at < first + WIDTH; ++at) {
    uint32_t code = 0;
    const size_t n = tl_character(p, last, &code);
    const bool shown = n > 0 && !tl_is_hidden(code) && code != '\r' && code != '\n';
    if (at >= first)
      put(&q, shown ? (const void *)p : "?", shown ? n : 1);
    if (at >= first && at < column)
      below[blanks++] = shown && code == '\t' ? '\t' : ' ';
    p += n == 0 ? 1 : n;
  }
  for (; at < column && at >= first && blanks < WIDTH; ++at) /* the end of a text can lie beyond */
    below[blanks++] = ' ';
  put(&q, "...\n", p < last ? 3 : 0);
  put(&q, "\n     ", first > 1 ? 6 : 3);
  put(&q, below, blanks);
  put(&q, "^\n", 3); /* and its zero */
  return q.count - 1;
}
