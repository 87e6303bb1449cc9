#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quote.h"

/* ---- files ----------------------------------------------------------------------------------- */

static const char *kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a FIFO"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

FILE *tl_input_file(const char *path, char *why, size_t size) {
  struct stat there;
  /* Opening a FIFO would block until a writer opens it. */
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0 || fstat(fd, &there) != 0) {
    snprintf(why, size, "%s: cannot be opened: %s", path, strerror(errno));
  } else if (!S_ISREG(there.st_mode)) {
    snprintf(why, size, "%s: is %s; expected a plain file", path, kind_of(there.st_mode));
  } else {
    FILE *file = fdopen(fd, "rb");
    if (file)
      return file;
    snprintf(why, size, "%s: cannot be opened: %s", path, strerror(errno));
  }
  if (fd >= 0)
    close(fd);
  return NULL;
}

static talus_status is_too_large(const char *path) {
  return tl_fail(TALUS_ERROR_FORMAT, "%s: larger than %d MiB, which no mesh or table is", path,
                 (int)(TL_INPUT_MOST >> 20));
}

talus_status tl_input_load(const char *path, tl_bytes *bytes) {
  char why[4400];
  struct stat there;
  FILE *file = tl_input_file(path, why, sizeof why);
  if (!file)
    return tl_fail(TALUS_ERROR_IO, "%s", why);
  talus_status status = TALUS_OK;
  if (fstat(fileno(file), &there) == 0 && there.st_size > (off_t)TL_INPUT_MOST)
    status = is_too_large(path);
  for (size_t got = 1; status == TALUS_OK && got > 0;) {
    status = tl_array_reserve(bytes, bytes->count + 65536);
    if (status != TALUS_OK)
      break;
    got = fread(bytes->data + bytes->count, 1, 65536, file);
    bytes->count += got;
    if (bytes->count > TL_INPUT_MOST) /* it grows */
      status = is_too_large(path);
  }
  if (status == TALUS_OK && ferror(file))
    status = tl_fail(TALUS_ERROR_IO, "%s: cannot be read: %s", path, strerror(errno));
  (void)fclose(file);
  return status;
}

talus_status tl_input_open(tl_input *in, const char *path, const char *bytes, size_t n) {
  in->path = path;
  in->begin = in->at = in->line = bytes;
  in->end = bytes + n;
  in->number = 1;
  in->mistakes = in->shown = in->used = 0;
  in->report[0] = '\0';
  if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
    in->at = in->line = bytes + 3;
  in->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (in->own == (locale_t)0)
    return tl_fail(TALUS_ERROR_MEMORY, "no memory for a locale");
  in->before = uselocale(in->own);
  return TALUS_OK;
}

talus_status tl_input_close(tl_input *in, talus_status status) {
  (void)uselocale(in->before);
  freelocale(in->own);
  if (status != TALUS_OK || in->mistakes == 0)
    return status;
  const size_t more = in->mistakes - in->shown;
  if (in->used > 0)
    in->report[in->used - 1] = '\0'; /* the last newline */
  if (more > 0)
    return tl_fail(TALUS_ERROR_FORMAT, "%s\n... and %zu more in %s", in->report, more, in->path);
  return tl_fail(TALUS_ERROR_FORMAT, "%s", in->report);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static size_t column_of(const tl_input *in, const char *place) {
  const unsigned char *p = (const unsigned char *)in->line, *to = (const unsigned char *)place;
  size_t column = 1;
  for (; p < to; ++column) {
    uint32_t code;
    const size_t n = tl_character(p, to, &code);
    p += n == 0 ? 1 : n;
  }
  return column;
}

static const char *raw_line_end(const tl_input *in) {
  const char *end = memchr(in->line, '\n', (size_t)(in->end - in->line));
  return end ? end : in->end;
}

void tl_input_wrong(tl_input *in, const char *place, const char *fmt, ...) {
  in->mistakes++;
  if (in->shown == TL_INPUT_SHOWN || in->shown + 1 < in->mistakes)
    return; /* once a mistake is left out, all later ones are left out too */
  char what[400], where[48], quoted[TL_QUOTE_BYTES] = "";
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  tl_mend_text(what);
  snprintf(where, sizeof where, "%zu", in->number);
  if (place) {
    const char *end = raw_line_end(in);
    if (end > in->line && end[-1] == '\r')
      --end;
    const size_t column = column_of(in, place < end ? place : end);
    snprintf(where, sizeof where, "%zu:%zu", in->number, column);
    (void)tl_quote(in->line, end, column, quoted);
  }
  const size_t room = sizeof in->report - in->used;
  const int n =
      snprintf(in->report + in->used, room, "%s:%s: %s\n%s", in->path, where, what, quoted);
  /* The first mistake is always reported, cut off if its path is very long. */
  if (n > 0 && ((size_t)n < room || in->shown == 0)) {
    in->used += (size_t)n < room ? (size_t)n : room - 1;
    in->shown++;
  } else {
    in->report[in->used] = '\0';
  }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

const char *tl_input_line_end(const tl_input *in) {
  const char *end = raw_line_end(in);
  while (end > in->line && is_blank(end[-1]))
    --end;
  return end;
}

bool tl_input_next_line(tl_input *in) {
  const char *end = raw_line_end(in);
  in->at = in->line = end < in->end ? end + 1 : end;
  in->number += end < in->end;
  return in->at < in->end;
}

bool tl_input_find_line(tl_input *in, bool comments) {
  while (in->at < in->end) {
    const char *c = in->at;
    while (c < in->end && is_blank(*c))
      ++c;
    if (c < in->end && *c != '\n' && !(comments && *c == '#'))
      return true;
    (void)tl_input_next_line(in);
  }
  return false;
}

tl_span tl_input_word(tl_input *in) {
  const char *c = in->at;
  while (c < in->end && (is_blank(*c) || *c == ','))
    ++c;
  tl_span found = {c, 0};
  while (c < in->end && !is_blank(*c) && *c != ',' && *c != '\n' && *c != '\0')
    ++c;
  if (c < in->end && *c == '\0' && c == found.text)
    ++c;
  in->at = c;
  found.length = (size_t)(c - found.text);
  return found;
}

tl_span tl_input_cell(tl_input *in, bool *last) {
  const char *begin = in->at, *end = begin;
  while (end < in->end && *end != ',' && *end != '\n')
    ++end;
  *last = end == in->end || *end == '\n';
  in->at = *last ? end : end + 1;
  while (begin < end && is_blank(*begin))
    ++begin;
  while (end > begin && is_blank(end[-1]))
    --end;
  return (tl_span){begin, (size_t)(end - begin)};
}

/* ---- words ----------------------------------------------------------------------------------- */

bool tl_span_is(tl_span word, const char *text) {
  return word.length == strlen(text) && strncasecmp(word.text, text, word.length) == 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A decimal as its digits and an exponent of ten; the digits may be more than fit. */
typedef struct decimal {
  uint64_t digits;
  int count;    /* of digits without leading zeros */
  int exponent; /* of ten */
} decimal;

/* Reads digits, a point, digits; NULL where there is no digit. */
static const char *read_digits(const char *at, const char *end, decimal *found) {
  bool any = false, point = false;
  for (; at < end && (is_digit(*at) || (*at == '.' && !point)); ++at) {
    if (*at == '.') {
      point = true;
      continue;
    }
    any = true;
    if (found->count < 19) {
      found->digits = 10 * found->digits + (uint64_t)(*at - '0');
      found->count += found->digits != 0;
      found->exponent -= point;
    } else {
      found->count++;
      found->exponent += !point;
    }
  }
  return any ? at : NULL;
}

/* Reads "e-12", if there is one; NULL where its digits are missing. */
static const char *read_exponent(const char *at, const char *end, decimal *found) {
  if (at == end || (*at != 'e' && *at != 'E'))
    return at;
  int exponent = 0;
  const char *digits = ++at;
  if (at < end && (*at == '-' || *at == '+'))
    digits = ++at;
  for (; at < end && is_digit(*at); ++at)
    exponent = exponent < 100000 ? 10 * exponent + (*at - '0') : exponent;
  if (at == digits)
    return NULL;
  found->exponent += digits[-1] == '-' ? -exponent : exponent;
  return at;
}

/* A word longer than any double needs is not read as a number. */
static tl_number_kind read_slowly(tl_span word, double *value) {
  char text[1100];
  if (word.length >= sizeof text)
    return TL_NO_NUMBER;
  memcpy(text, word.text, word.length);
  text[word.length] = '\0';
  *value = strtod(text, NULL);
  return isfinite(*value) ? TL_NUMBER : TL_NOT_FINITE;
}

/* Up to 2^53 and 10^22 are exact as doubles, so that one rounding is all there is (Clinger 1990);
 * the rest is left to strtod. */
tl_number_kind tl_span_number(tl_span word, double *value) {
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *at = word.text, *end = at + word.length;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  const tl_span rest = {at, (size_t)(end - at)};
  if (tl_span_is(rest, "nan") || tl_span_is(rest, "inf") || tl_span_is(rest, "infinity"))
    return TL_NOT_FINITE;
  decimal found = {0};
  at = read_digits(at, end, &found);
  if (at)
    at = read_exponent(at, end, &found);
  if (at != end)
    return TL_NO_NUMBER;
  if (found.count <= 19 && found.digits <= (uint64_t)1 << 53 && found.exponent >= -22 &&
      found.exponent <= 22) {
    const double digits = (double)found.digits;
    const double size =
        found.exponent < 0 ? digits / power[-found.exponent] : digits * power[found.exponent];
    *value = negative ? -size : size;
    return TL_NUMBER;
  }
  return read_slowly(word, value);
}
