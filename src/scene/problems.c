#include "scene/problems.h"

#include <stdarg.h>
#include <stdio.h>

#define KEPT     4096 /* complaints kept for sorting */
#define REPORTED 50

void tl_problems_free(tl_problems *problems) {
  for (size_t i = 0; i < problems->list.count; ++i)
    tl_string_free(&problems->list.data[i].text);
  tl_array_free(&problems->list);
  tl_array_free(&problems->sources);
}

/* ---- characters and lines -------------------------------------------------------------------- */

/* Whether a line ends with this character, as libyaml counts lines: next line (U+0085), line and
 * paragraph separators (U+2028, U+2029) end one too, and CR LF ends one. */
static bool ends_line(uint32_t code, const unsigned char *after, const unsigned char *end) {
  if (code == '\r')
    return after == end || *after != '\n';
  return code == '\n' || code == 0x85 || code == 0x2028 || code == 0x2029;
}

bool tl_is_plain_text(const char *bytes, size_t n) {
  const unsigned char *p = (const unsigned char *)bytes, *end = p + n;
  while (p < end) {
    uint32_t code = 0;
    const size_t length = tl_character(p, end, &code);
    if (length == 0 || tl_is_control(code) || code == '\r' || code == 0x85 || code == 0x2028 ||
        code == 0x2029)
      return false;
    p += length;
  }
  return true;
}

void tl_problem_add(tl_problems *problems, tl_mark mark, const char *fmt, ...) {
  problems->count++;
  if (problems->list.count == KEPT || problems->status != TALUS_OK)
    return;
  char what[1024];
  va_list args;
  va_start(args, fmt);
  const int length = vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  if (length < 0)
    what[0] = '\0';
  else if ((size_t)length >= sizeof what)
    memcpy(what + sizeof what - 4, "...", 4);
  tl_mend_text(what);
  tl_problem problem = {.mark = mark, .order = (uint32_t)problems->list.count};
  problems->status = tl_string_copy(what, strlen(what), &problem.text);
  if (problems->status != TALUS_OK)
    return;
  problems->status = tl_array_push(&problems->list, problem);
  if (problems->status != TALUS_OK)
    tl_string_free(&problem.text);
}

void tl_problems_scan(tl_problems *problems, uint32_t origin) {
  const tl_source *source = &problems->sources.data[origin];
  const unsigned char *p = (const unsigned char *)source->text, *end = p + source->length;
  tl_mark mark = {.line = 1, .column = 1, .origin = origin};
  bool indentation = true;
  while (p < end) {
    uint32_t code = 0;
    const size_t n = tl_character(p, end, &code);
    if (n == 0) {
      tl_problem_add(problems, mark, "byte 0x%02x is not UTF-8; expected a text file in UTF-8", *p);
      return;
    }
    if (tl_is_control(code)) {
      tl_problem_add(problems, mark, "control character U+%04X; expected plain text", code);
      return;
    }
    if (code == '\t' && indentation) {
      tl_problem_add(problems, mark, "a tab at the start of a line; expected blanks");
      indentation = false;
    }
    if (code != ' ')
      indentation = false;
    p += n;
    mark.column++;
    if (ends_line(code, p, end)) {
      mark.line++;
      mark.column = 1;
      indentation = true;
    }
  }
}

/* Where a line starts; marks come in order, so the search goes on from the last one. */
typedef struct cursor {
  const unsigned char *at;
  uint32_t line;
} cursor;

static const unsigned char *find_line(cursor *from, const unsigned char *end, uint32_t line) {
  while (from->line < line && from->at < end) {
    uint32_t code = 0;
    const size_t n = tl_character(from->at, end, &code);
    from->at += n == 0 ? 1 : n;
    if (ends_line(code, from->at, end))
      from->line++;
  }
  return from->at;
}

/* The source line of a mark and a caret below it. */
static void quote_line(tl_text *text, const tl_source *source, cursor *from, tl_mark mark) {
  const unsigned char *end = (const unsigned char *)source->text + source->length;
  const unsigned char *line = find_line(from, end, mark.line), *last = line;
  while (last < end) {
    uint32_t code = 0;
    const size_t n = tl_character(last, end, &code), bytes = n == 0 ? 1 : n;
    if (code == '\r' || ends_line(code, last + bytes, end))
      break;
    last += bytes;
  }
  char quoted[TL_QUOTE_BYTES];
  const size_t n = tl_quote((const char *)line, (const char *)last, mark.column, quoted);
  tl_text_add_bytes(text, quoted, n);
}

/* ---- the report ------------------------------------------------------------------------------ */

static int compare_u32(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static int compare_problems(const void *left, const void *right) {
  const tl_problem *a = left, *b = right;
  if (a->mark.origin != b->mark.origin)
    return compare_u32(a->mark.origin, b->mark.origin);
  if (a->mark.line != b->mark.line)
    return compare_u32(a->mark.line, b->mark.line);
  if (a->mark.column != b->mark.column)
    return compare_u32(a->mark.column, b->mark.column);
  return compare_u32(a->order, b->order);
}

/* Removes duplicates at one place: a node with several aliases is read several times. */
static void drop_repeats(tl_problems *problems) {
  size_t kept = 0;
  for (size_t i = 0; i < problems->list.count; ++i) {
    tl_problem *problem = &problems->list.data[i];
    const tl_problem *last = kept > 0 ? &problems->list.data[kept - 1] : NULL;
    if (last && last->mark.origin == problem->mark.origin &&
        last->mark.line == problem->mark.line && last->mark.column == problem->mark.column &&
        strcmp(last->text, problem->text) == 0) {
      tl_string_free(&problem->text);
      problems->count--;
    } else {
      problems->list.data[kept++] = *problem;
    }
  }
  problems->list.count = kept;
}

void tl_problems_sort(tl_problems *problems) {
  if (problems->list.count > 1)
    qsort(problems->list.data, problems->list.count, sizeof *problems->list.data, compare_problems);
  drop_repeats(problems);
}

static void add_place(tl_text *text, const tl_problems *problems, tl_mark mark) {
  const tl_source *source = &problems->sources.data[mark.origin];
  if (source->is_setting)
    tl_text_add(text, "%s: ", source->name);
  else
    tl_text_add(text, "%s:%u:%u: ", source->name, mark.line, mark.column);
}

static void add_problem(tl_text *text, const tl_problems *problems, cursor *from, size_t i) {
  const tl_problem *problem = &problems->list.data[i];
  const tl_source *source = &problems->sources.data[problem->mark.origin];
  TL_ASSERT(source->is_setting || problem->mark.origin == 0);
  add_place(text, problems, problem->mark);
  tl_text_add(text, "%s\n", problem->text);
  if (!source->is_setting)
    quote_line(text, source, from, problem->mark);
}

static cursor first_line(const tl_problems *problems) {
  return (cursor){.at = (const unsigned char *)problems->sources.data[0].text, .line = 1};
}

talus_status tl_problem_text(const tl_problems *problems, size_t i, char **out) {
  tl_text text = {0};
  cursor from = first_line(problems);
  add_problem(&text, problems, &from, i);
  if (text.count > 0)
    text.data[--text.count] = '\0'; /* the newline */
  return tl_text_take(&text, out);
}

static talus_status write_report(const tl_problems *problems, char **report) {
  tl_text text = {0};
  cursor from = first_line(problems);
  for (size_t i = 0; i < problems->list.count && i < REPORTED; ++i)
    add_problem(&text, problems, &from, i);
  if (problems->count > REPORTED)
    tl_text_add(&text, "... and %zu more\n", problems->count - REPORTED);
  return tl_text_take(&text, report);
}

talus_status tl_problems_report(tl_problems *problems, char **report) {
  TL_TRY(problems->status);
  if (problems->count == 0)
    return TALUS_OK;
  tl_problems_sort(problems);
  if (report)
    TL_TRY(write_report(problems, report));
  tl_text first = {0};
  add_place(&first, problems, problems->list.data[0].mark);
  const size_t more = problems->count - 1;
  if (more > 0)
    tl_fail(TALUS_ERROR_FORMAT, "%s%s (and %zu more error%s)", first.count > 0 ? first.data : "",
            problems->list.data[0].text, more, more == 1 ? "" : "s");
  else
    tl_fail(TALUS_ERROR_FORMAT, "%s%s", first.count > 0 ? first.data : "",
            problems->list.data[0].text);
  tl_text_drop(&first);
  return TALUS_ERROR_FORMAT;
}
