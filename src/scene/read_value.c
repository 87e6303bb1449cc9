/* Single values: numbers, words, names, vectors, boxes, rotations. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/power.h"
#include "base/trig.h"
#include "scene/read.h"

#define PI 3.14159265358979323846

/* ---- numbers --------------------------------------------------------------------------------- */

static size_t count_digits(const char *text) { return strspn(text, "0123456789"); }

/* [+-] digits [. digits] [e [+-] digits]. strtod alone would take 0x10, nan, inf and "0.1x". */
static bool looks_like_number(const char *text) {
  text += *text == '+' || *text == '-';
  size_t digits = count_digits(text);
  text += digits;
  if (*text == '.') {
    const size_t more = count_digits(text + 1);
    digits += more;
    text += 1 + more;
  }
  if (digits == 0)
    return false;
  if (*text == 'e' || *text == 'E') {
    text += text[1] == '+' || text[1] == '-' ? 2 : 1;
    const size_t exponent = count_digits(text);
    if (exponent == 0)
      return false;
    text += exponent;
  }
  return *text == '\0';
}

/* a/b, as in `dt: 1/60`. */
static bool parse_ratio(const char *text, double *value) {
  char above[64];
  const char *slash = strchr(text, '/');
  const size_t length = slash ? (size_t)(slash - text) : 0;
  if (length == 0 || length >= sizeof above || !looks_like_number(slash + 1))
    return false;
  memcpy(above, text, length);
  above[length] = '\0';
  if (!looks_like_number(above))
    return false;
  *value = strtod(above, NULL) / strtod(slash + 1, NULL);
  return true;
}

bool tl_parse_number(const char *text, double *value) {
  if (!looks_like_number(text))
    return parse_ratio(text, value);
  *value = strtod(text, NULL);
  return true;
}

static bool is_special(const char *text) {
  text += *text == '+' || *text == '-';
  return tl_edit_distance(text, ".inf", 0) == 0 || tl_edit_distance(text, ".nan", 0) == 0 ||
         tl_edit_distance(text, "inf", 0) == 0 || tl_edit_distance(text, "nan", 0) == 0;
}

static bool in_range(const tl_range *range, double value) {
  return value <= range->high && (range->is_open ? value > range->low : value >= range->low);
}

/* "0,5" and "2500 kg/m3" are numbers to whoever wrote them. */
static void refuse_number(tl_reader *reader, tl_node_id node, const tl_key *key, const char *text) {
  const size_t sign = *text == '+' || *text == '-', digits = count_digits(text + sign);
  const char *after = text + sign + digits;
  if (digits > 0 && *after == ',' && count_digits(after + 1) > 0)
    tl_refuse(reader, node, key, "is `%.60s`, and a decimal has a point", text);
  else if (digits > 0)
    tl_refuse(reader, node, key, "is `%.60s`, a number with something behind it", text);
  else
    tl_refuse_value(reader, node, key);
}

static bool read_number(tl_reader *reader, tl_node_id node, const tl_key *key, double *value) {
  const tl_node *at = tl_node_at(reader->document, node);
  const char *text = tl_node_text(reader->document, node);
  const int word = at->kind == TL_NODE_SCALAR ? tl_words_find(key->words, text) : -1;
  if (word >= 0) { /* in quotes too: in JSON a word has no other form */
    *value = key->words->list[word].value;
    return true;
  }
  if (at->kind != TL_NODE_SCALAR || at->is_quoted) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  if (is_special(text)) {
    tl_refuse(reader, node, key, "is `%.60s`, which is not finite", text);
    return false;
  }
  if (!tl_parse_number(text, value)) {
    refuse_number(reader, node, key, text);
    return false;
  }
  if (!(fabs(*value) <= 1e30)) {
    tl_refuse(reader, node, key, "is %.60s, too large for talus (1e30)", text);
    return false;
  }
  if (!in_range(&key->range, *value)) {
    tl_refuse(reader, node, key, "is %.60s", text);
    return false;
  }
  /* The single build would round it to 0 and then divide by it. */
  if (key->range.is_open && key->range.low == 0 && *value < 1e-30) {
    tl_refuse(reader, node, key, "is %.60s, too small for talus (1e-30)", text);
    return false;
  }
  return true;
}

static bool read_integer(tl_reader *reader, tl_node_id node, const tl_key *key, uint64_t *value) {
  const tl_node *at = tl_node_at(reader->document, node);
  const char *text = tl_node_text(reader->document, node);
  const bool is_scalar = at->kind == TL_NODE_SCALAR && !at->is_quoted;
  double number = 0;
  bool is_whole = true;
  if (is_scalar && at->length > 0 && count_digits(text) == at->length) {
    /* Not by way of a double, which would round a long seed. */
    errno = 0;
    *value = strtoull(text, NULL, 10);
    is_whole = errno == 0;
    number = (double)*value;
  } else {
    if (!read_number(reader, node, key, &number))
      return false;
    is_whole = number == floor(number) && number < 18446744073709551616.0;
    *value = is_whole ? (uint64_t)number : 0;
  }
  if (!is_whole || !in_range(&key->range, number)) {
    tl_refuse(reader, node, key, "is %.60s", text);
    return false;
  }
  return true;
}

static bool read_flag(tl_reader *reader, tl_node_id node, const tl_key *key, bool *value) {
  const tl_node *at = tl_node_at(reader->document, node);
  const char *text = tl_node_text(reader->document, node);
  if (at->kind == TL_NODE_SCALAR && !at->is_quoted) {
    *value = strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "TRUE") == 0;
    if (*value || strcmp(text, "false") == 0 || strcmp(text, "False") == 0 ||
        strcmp(text, "FALSE") == 0)
      return true;
  }
  tl_refuse_value(reader, node, key);
  return false;
}

/* ---- texts and words ------------------------------------------------------------------------- */

static bool is_folder(const tl_key *key) {
  return (key->flags & TL_KEY_PATH) != 0 || key->type == TL_TYPE_POINTS;
}

/* A folder may become twice as long when it is written from the root on. */
static size_t most_bytes(const tl_key *key, const char *text) {
  return !is_folder(key) ? 1000 : text[0] == '/' ? 8191 : 4095;
}

static bool read_text(tl_reader *reader, tl_node_id node, const tl_key *key, char **value) {
  const tl_node *at = tl_node_at(reader->document, node);
  const char *text = tl_node_text(reader->document, node);
  if (at->kind != TL_NODE_SCALAR || tl_node_is_null(reader->document, node)) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  size_t length = at->length;
  while (length > 0 && text[length - 1] == '\n') /* of a block of text */
    length--;
  if (memchr(text, '\n', length) || memchr(text, '\t', length)) {
    tl_refuse(reader, node, key, "has a line break or a tab");
    return false;
  }
  if (length > most_bytes(key, text) || (length == 0 && is_folder(key))) {
    tl_refuse(reader, node, key, "has %zu bytes", length);
    return false;
  }
  if (reader->status == TALUS_OK)
    reader->status = tl_string_copy(text, length, value);
  return reader->status == TALUS_OK;
}

static bool is_file_name(const char *name) {
  return name[0] != '.' && name[0] != '-' &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
             strlen(name);
}

static bool read_name(tl_reader *reader, tl_node_id node, const tl_key *key, char **value) {
  const tl_node *at = tl_node_at(reader->document, node);
  const char *text = tl_node_text(reader->document, node);
  if (at->kind != TL_NODE_SCALAR || tl_node_is_null(reader->document, node)) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  if (at->length == 0 || at->length > 100 || text[0] == ' ' || text[at->length - 1] == ' ') {
    tl_problem_add(reader->problems, tl_node_mark(reader->document, node),
                   "%s is \"%.120s\"; expected a name of 1 to 100 bytes without blanks at its ends",
                   tl_reader_path(reader), text);
    return false;
  }
  if ((key->flags & TL_KEY_FILE) && !is_file_name(text)) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  return read_text(reader, node, key, value);
}

/* Row of a word, or -1 with the complaint made. */
static int read_word(tl_reader *reader, tl_node_id node, const tl_key *key) {
  const char *text = tl_node_text(reader->document, node);
  if (tl_node_at(reader->document, node)->kind != TL_NODE_SCALAR ||
      tl_node_is_null(reader->document, node)) {
    tl_refuse_value(reader, node, key);
    return -1;
  }
  const int row = tl_words_find(key->words, text);
  if (row >= 0)
    return row;
  tl_suggestion nearest = {.word = text};
  for (const tl_word *word = key->words->list; word->word; ++word)
    tl_suggest(&nearest, word->word);
  tl_text expected = {0};
  tl_expect_words(&expected, key->words, " or ");
  const char *words = expected.count > 0 ? expected.data : "";
  const tl_mark mark = tl_node_mark(reader->document, node);
  const char *path = tl_reader_path(reader);
  if (tl_is_listed(key->words->later, text))
    tl_problem_add(reader->problems, mark, "%s: `%s` is not in this version of talus; expected %s",
                   path, text, words);
  else if (nearest.best)
    tl_problem_add(reader->problems, mark, "%s is `%.60s`; expected %s; did you mean `%s`?", path,
                   text, words, nearest.best);
  else
    tl_problem_add(reader->problems, mark, "%s is `%.60s`; expected %s", path, text, words);
  tl_text_drop(&expected);
  return -1;
}

static bool read_words(tl_reader *reader, tl_node_id node, const tl_key *key, uint32_t *bits) {
  const tl_document *document = reader->document;
  const tl_node *at = tl_node_at(document, node);
  if (at->kind != TL_NODE_LIST || (at->count == 0 && (key->flags & TL_KEY_FULL))) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  bool is_good = true;
  size_t row = 0;
  for (tl_node_id id = at->first; id != 0; id = tl_node_at(document, id)->next) {
    const size_t before = tl_path_push_row(reader, row++);
    const int word = read_word(reader, id, key);
    const uint32_t bit = word >= 0 ? (uint32_t)key->words->list[word].value : 0;
    if (*bits & bit) {
      tl_problem_add(reader->problems, tl_node_mark(document, id),
                     "%s is `%s` again; expected each word once", tl_reader_path(reader),
                     tl_node_text(document, id));
      is_good = false;
    }
    tl_path_pop(reader, before);
    is_good = is_good && word >= 0;
    *bits |= bit;
  }
  return is_good;
}

/* ---- lists of values ------------------------------------------------------------------------- */

/* A list of exactly n entries; complains otherwise. */
static bool is_list_of(tl_reader *reader, tl_node_id node, const tl_key *key, uint32_t n) {
  const tl_node *at = tl_node_at(reader->document, node);
  if (at->kind == TL_NODE_LIST && at->count == n)
    return true;
  if (at->kind == TL_NODE_LIST && at->count > 0)
    tl_refuse(reader, node, key, "is a list of %u", at->count);
  else
    tl_refuse_value(reader, node, key);
  return false;
}

static bool read_numbers(tl_reader *reader, tl_node_id node, const tl_key *key, uint32_t n,
                         double *values) {
  if (!is_list_of(reader, node, key, n))
    return false;
  const tl_key each = {.type = TL_TYPE_NUMBER, .range = key->range, .unit = key->unit};
  bool is_good = true;
  tl_node_id id = tl_node_at(reader->document, node)->first;
  for (size_t i = 0; i < n; ++i, id = tl_node_at(reader->document, id)->next) {
    const size_t before = tl_path_push_row(reader, i);
    is_good = read_number(reader, id, &each, &values[i]) && is_good;
    tl_path_pop(reader, before);
  }
  return is_good;
}

/* What is left out at the end is 0; a single number stands for a list of it. */
static bool read_fewer(tl_reader *reader, tl_node_id node, const tl_key *key, double *values) {
  const tl_node *at = tl_node_at(reader->document, node);
  const uint32_t most = (uint32_t)key->count, given = at->kind == TL_NODE_LIST ? at->count : 0;
  for (uint32_t i = 0; i < most; ++i)
    values[i] = 0;
  if (at->kind == TL_NODE_SCALAR) {
    const tl_key each = {.type = TL_TYPE_NUMBER, .range = key->range, .unit = key->unit};
    return read_number(reader, node, &each, values);
  }
  return read_numbers(reader, node, key, given > 0 && given < most ? given : most, values);
}

static bool read_names(tl_reader *reader, tl_node_id node, const tl_key *key, char **names) {
  if (!is_list_of(reader, node, key, 2))
    return false;
  const tl_node_id first = tl_node_at(reader->document, node)->first;
  const tl_node_id second = tl_node_at(reader->document, first)->next;
  const bool is_good = read_name(reader, first, key, &names[0]);
  return read_name(reader, second, key, &names[1]) && is_good;
}

/* A single name stands for a list of it. */
static bool read_labels(tl_reader *reader, tl_node_id node, const tl_key *key, tl_items *labels) {
  const tl_node *at = tl_node_at(reader->document, node);
  const bool is_list = at->kind == TL_NODE_LIST;
  if (at->kind == TL_NODE_MAP || (is_list && at->count == 0)) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  bool is_good = true;
  for (tl_node_id id = is_list ? at->first : node; id != 0 && reader->status == TALUS_OK;
       id = is_list ? tl_node_at(reader->document, id)->next : 0) {
    reader->status =
        tl_array_grow(&labels->data, &labels->capacity, labels->count + 1, sizeof(char *));
    if (reader->status != TALUS_OK)
      return false;
    char **label = (char **)labels->data + labels->count++;
    *label = NULL;
    is_good = read_name(reader, id, key, label) && is_good;
  }
  return is_good;
}

static bool read_few(tl_reader *reader, tl_node_id node, const tl_key *key, tl_items *numbers) {
  const tl_node *at = tl_node_at(reader->document, node);
  if (at->kind != TL_NODE_LIST || at->count == 0 || at->count > (uint32_t)key->count) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  if (reader->status == TALUS_OK)
    reader->status = tl_array_grow(&numbers->data, &numbers->capacity, at->count, sizeof(double));
  if (reader->status != TALUS_OK)
    return false;
  double *values = numbers->data;
  if (!read_numbers(reader, node, key, at->count, values))
    return false;
  numbers->count = tl_node_at(reader->document, node)->count;
  return true;
}

static bool read_counts(tl_reader *reader, tl_node_id node, const tl_key *key, tl_items *numbers) {
  if (!read_few(reader, node, key, numbers))
    return false;
  const double *values = numbers->data;
  for (size_t i = 0; i < numbers->count; ++i)
    if (floor(values[i]) != values[i]) {
      tl_refuse(reader, node, key, "has %g", values[i]);
      return false;
    }
  return true;
}

static bool read_rising(tl_reader *reader, tl_node_id node, const tl_key *key, tl_items *numbers) {
  if (!read_few(reader, node, key, numbers))
    return false;
  const double *values = numbers->data;
  for (size_t i = 1; i < numbers->count; ++i)
    if (!(values[i] > values[i - 1])) {
      tl_refuse(reader, node, key, "goes from %g to %g", values[i - 1], values[i]);
      return false;
    }
  return true;
}

/* Rows of a time and `count` numbers, times rising. */
static bool read_ramp(tl_reader *reader, tl_node_id node, const tl_key *key, tl_items *ramp) {
  const tl_node *at = tl_node_at(reader->document, node);
  const uint32_t width = (uint32_t)key->count + 1;
  if (at->kind != TL_NODE_LIST || at->count == 0) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  if (reader->status == TALUS_OK)
    reader->status = tl_array_grow(&ramp->data, &ramp->capacity, at->count, width * sizeof(double));
  bool is_good = reader->status == TALUS_OK;
  for (tl_node_id id = at->first; id != 0 && is_good; id = tl_node_at(reader->document, id)->next) {
    double *row = (double *)ramp->data + width * ramp->count;
    const size_t before = tl_path_push_row(reader, ramp->count);
    is_good = read_numbers(reader, id, key, width, row);
    if (is_good && ramp->count > 0 && !(row[0] > row[-(ptrdiff_t)width])) {
      tl_refuse(reader, id, key, "is at %g s, not after the row before", row[0]);
      is_good = false;
    }
    ramp->count++;
    tl_path_pop(reader, before);
  }
  return is_good;
}

/* A constant, or a map of one key. */
static bool read_course(tl_reader *reader, tl_node_id node, const tl_key *key,
                        tl_scene_course *course) {
  const tl_node *at = tl_node_at(reader->document, node);
  if (at->kind != TL_NODE_MAP)
    return key->count == 1 ? read_number(reader, node, key, &course->value[0])
                           : read_numbers(reader, node, key, (uint32_t)key->count, course->value);
  const char *name = at->count == 1 ? tl_node_text(reader->document, at->first) : "";
  const bool is_table = strcmp(name, "table") == 0;
  if (!is_table && strcmp(name, "ramp") != 0) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  static const tl_key file = {
      .type = TL_TYPE_TEXT, .flags = TL_KEY_PATH, .expected = "the name of a CSV file"};
  const tl_node_id value = tl_node_at(reader->document, at->first)->first;
  const tl_key any = {.type = TL_TYPE_COURSE,
                      .count = key->count,
                      .range = {-1e30, 1e30, false},
                      .expected = key->count == 1 ? "rows [time, value], times rising"
                                                  : "rows [time, x, y, z], times rising"};
  const size_t before = tl_path_push(reader, name);
  const bool is_good = is_table ? read_text(reader, value, &file, &course->table)
                                : read_ramp(reader, value, &any, &course->ramp);
  tl_path_pop(reader, before);
  return is_good;
}

static bool read_box(tl_reader *reader, tl_node_id node, const tl_key *key, double *box) {
  if (!is_list_of(reader, node, key, 2))
    return false;
  tl_key corner = *key;
  corner.type = TL_TYPE_NUMBERS;
  corner.count = 3;
  bool is_good = true;
  tl_node_id id = tl_node_at(reader->document, node)->first;
  for (size_t i = 0; i < 2; ++i, id = tl_node_at(reader->document, id)->next) {
    const size_t before = tl_path_push_row(reader, i);
    is_good = read_numbers(reader, id, &corner, 3, box + 3 * i) && is_good;
    tl_path_pop(reader, before);
  }
  for (size_t k = 0; k < 3 && is_good; ++k) {
    const bool is_flat = box[k] == box[3 + k];
    if (box[k] > box[3 + k] || (is_flat && !(key->flags & TL_KEY_FLAT))) {
      tl_refuse(reader, node, key, "is %s along %c (from %g to %g)",
                is_flat ? "empty" : "inside out", "xyz"[k], box[k], box[3 + k]);
      is_good = false;
    }
  }
  return is_good;
}

static bool read_table(tl_reader *reader, tl_node_id node, const tl_key *key, tl_items *table) {
  const tl_node *at = tl_node_at(reader->document, node);
  if (at->kind != TL_NODE_LIST || at->count == 0) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  static const tl_key size = {.type = TL_TYPE_NUMBER, .range = {1e-12, 1e12, false}};
  static const tl_key share = {.type = TL_TYPE_NUMBER, .range = {0, 1e30, false}};
  reader->status = tl_array_grow(&table->data, &table->capacity, at->count, sizeof(double[2]));
  if (reader->status != TALUS_OK)
    return false;
  bool is_good = true;
  double total = 0;
  for (tl_node_id id = at->first; id != 0; id = tl_node_at(reader->document, id)->next) {
    double *row = (double *)table->data + 2 * table->count++;
    row[0] = row[1] = 0;
    const size_t before = tl_path_push_row(reader, table->count - 1);
    if (is_list_of(reader, id, key, 2)) {
      const tl_node_id first = tl_node_at(reader->document, id)->first;
      is_good = read_number(reader, first, &size, &row[0]) && is_good;
      is_good = read_number(reader, tl_node_at(reader->document, first)->next, &share, &row[1]) &&
                is_good;
    } else {
      is_good = false;
    }
    tl_path_pop(reader, before);
    total += row[1];
  }
  if (is_good && !(total > 0)) {
    tl_refuse(reader, node, key, "has shares that add up to 0");
    is_good = false;
  }
  return is_good;
}

static bool read_rows(tl_reader *reader, tl_node_id node, const tl_key *key, tl_items *rows) {
  const tl_node *at = tl_node_at(reader->document, node);
  const size_t width = (size_t)key->count;
  reader->status = tl_array_grow(&rows->data, &rows->capacity, at->count, width * sizeof(double));
  if (reader->status != TALUS_OK)
    return false;
  tl_key numbers = {
      .type = TL_TYPE_NUMBERS, .count = key->count, .range = key->range, .unit = key->unit};
  bool is_good = true;
  for (tl_node_id id = at->first; id != 0; id = tl_node_at(reader->document, id)->next) {
    double *row = (double *)rows->data + width * rows->count++;
    memset(row, 0, width * sizeof *row);
    const size_t before = tl_path_push_row(reader, rows->count - 1);
    is_good = read_numbers(reader, id, &numbers, (uint32_t)width, row) && is_good;
    if (is_good && width == 4 && !(row[3] > 0)) {
      tl_problem_add(
          reader->problems, tl_node_mark(reader->document, id),
          "%s has the radius %g; expected [x, y, z, radius] with a radius greater than 0",
          tl_reader_path(reader), row[3]);
      is_good = false;
    }
    tl_path_pop(reader, before);
  }
  return is_good;
}

/* Points in place or, where points are x, y, z and the key does not ask for a list, the name of a
 * file. */
static bool read_points(tl_reader *reader, tl_node_id node, const tl_key *key,
                        tl_scene_points *points) {
  const tl_node *at = tl_node_at(reader->document, node);
  if (at->kind == TL_NODE_LIST && at->count > 0)
    return read_rows(reader, node, key, &points->rows);
  if (key->count != 3 || (key->flags & TL_KEY_FULL) || at->kind != TL_NODE_SCALAR ||
      at->length == 0) {
    tl_refuse_value(reader, node, key);
    return false;
  }
  return read_text(reader, node, key, &points->file);
}

/* ---- rotations ------------------------------------------------------------------------------- */

static bool read_axis_angle(tl_reader *reader, tl_node_id node, const tl_key *key, double *q) {
  static const tl_key axis_key = {
      .type = TL_TYPE_NUMBERS, .count = 3, .range = {-1e30, 1e30, false}};
  static const tl_key degrees_key = {.type = TL_TYPE_NUMBER, .range = {-1e30, 1e30, false}};
  const tl_document *document = reader->document;
  const tl_node_id axis_node = tl_node_find_key(document, node, "axis");
  const tl_node_id degrees_node = tl_node_find_key(document, node, "degrees");
  if (!axis_node || !degrees_node || tl_node_at(document, node)->count != 2) {
    tl_refuse(reader, node, key, "is a map of other keys");
    return false;
  }
  double axis[3] = {0}, degrees = 0;
  size_t before = tl_path_push(reader, "axis");
  bool is_good = read_numbers(reader, tl_node_at(document, axis_node)->first, &axis_key, 3, axis);
  tl_path_pop(reader, before);
  before = tl_path_push(reader, "degrees");
  is_good =
      read_number(reader, tl_node_at(document, degrees_node)->first, &degrees_key, &degrees) &&
      is_good;
  tl_path_pop(reader, before);
  if (!is_good)
    return false;
  const double length = tl_hypot_d(tl_hypot_d(axis[0], axis[1]), axis[2]);
  if (!(length > 1e-30)) {
    tl_refuse(reader, node, key, "has an axis of length 0");
    return false;
  }
  /* Whole turns go first, so that 360 degrees are none to the last bit. */
  const double half = remainder(degrees, 360) * (PI / 360);
  q[0] = tl_cos_d(half);
  for (int i = 0; i < 3; ++i)
    q[1 + i] = tl_sin_d(half) * (axis[i] / length);
  return true;
}

static bool read_rotation(tl_reader *reader, tl_node_id node, const tl_key *key,
                          tl_scene_rotation *rotation) {
  const tl_node *at = tl_node_at(reader->document, node);
  double *q = rotation->quaternion;
  if (at->kind == TL_NODE_MAP)
    return read_axis_angle(reader, node, key, q);
  if (at->kind == TL_NODE_SCALAR &&
      tl_words_find(key->words, tl_node_text(reader->document, node)) >= 0) {
    *rotation = (tl_scene_rotation){.quaternion = {1, 0, 0, 0}, .is_random = true};
    return true;
  }
  tl_key each = *key;
  each.range = (tl_range){-1e15, 1e15, false};
  if (!read_numbers(reader, node, &each, 4, q))
    return false;
  if (!(tl_hypot_d(tl_hypot_d(q[0], q[1]), tl_hypot_d(q[2], q[3])) > 1e-15)) {
    tl_refuse(reader, node, key, "has length 0");
    return false;
  }
  return true;
}

bool tl_read_value(tl_reader *reader, tl_node_id node, const tl_key *key, void *member) {
  switch (key->type) {
  case TL_TYPE_NUMBER:
    return read_number(reader, node, key, member);
  case TL_TYPE_INTEGER:
    return read_integer(reader, node, key, member);
  case TL_TYPE_FLAG:
    return read_flag(reader, node, key, member);
  case TL_TYPE_TEXT:
    return read_text(reader, node, key, member);
  case TL_TYPE_NAME:
    return read_name(reader, node, key, member);
  case TL_TYPE_NAMES:
    return read_names(reader, node, key, member);
  case TL_TYPE_LABELS:
    return read_labels(reader, node, key, member);
  case TL_TYPE_WORD: {
    const int row = read_word(reader, node, key);
    *(int *)member = row < 0 ? 0 : key->words->list[row].value;
    return row >= 0;
  }
  case TL_TYPE_WORDS:
    return read_words(reader, node, key, member);
  case TL_TYPE_NUMBERS:
    return key->flags & TL_KEY_FEWER
               ? read_fewer(reader, node, key, member)
               : read_numbers(reader, node, key, (uint32_t)key->count, member);
  case TL_TYPE_COURSE:
    return read_course(reader, node, key, member);
  case TL_TYPE_RISING:
    return read_rising(reader, node, key, member);
  case TL_TYPE_COUNTS:
    return read_counts(reader, node, key, member);
  case TL_TYPE_BOX:
    return read_box(reader, node, key, member);
  case TL_TYPE_ROTATION:
    return read_rotation(reader, node, key, member);
  case TL_TYPE_TABLE:
    return read_table(reader, node, key, member);
  case TL_TYPE_POINTS:
    return read_points(reader, node, key, member);
  case TL_TYPE_SHAPE:
    return read_name(reader, node, key, &((tl_scene_shape_use *)member)->name);
  case TL_TYPE_MAP:
  case TL_TYPE_BOXED:
  case TL_TYPE_LIST:
  case TL_TYPE_NAMED:
    break;
  }
  TL_ASSERT(false);
  return false;
}
