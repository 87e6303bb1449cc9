#include "scene/text.h"

#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "base/hash.h"

/* ---- a growing text -------------------------------------------------------------------------- */

static bool make_room(tl_text *text, size_t n) {
  if (text->status != TALUS_OK)
    return false;
  const size_t wanted = text->count + n + 1;
  if (wanted > text->capacity) {
    const size_t capacity = wanted < 2 * text->capacity ? 2 * text->capacity : wanted + 64;
    void *data = text->data;
    text->status = tl_resize(&data, text->capacity, capacity);
    if (text->status != TALUS_OK)
      return false;
    text->data = data;
    text->capacity = capacity;
  }
  return true;
}

void tl_text_add_bytes(tl_text *text, const char *bytes, size_t n) {
  if (!make_room(text, n))
    return;
  if (n > 0)
    memcpy(text->data + text->count, bytes, n);
  text->count += n;
  text->data[text->count] = '\0';
}

void tl_text_add(tl_text *text, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (length >= 0 && make_room(text, (size_t)length)) {
    vsnprintf(text->data + text->count, (size_t)length + 1, fmt, again);
    text->count += (size_t)length;
  }
  va_end(again);
}

void tl_text_add_number(tl_text *text, double value) {
  char digits[40];
  for (int precision = 15; precision <= 17; ++precision) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value)
      break;
  }
  tl_text_add_bytes(text, digits, strlen(digits));
}

/* Words that YAML readers take for something else than text. */
static bool is_reserved(const char *string) {
  static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    if (strcasecmp(string, words[i]) == 0)
      return true;
  return false;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_plain(const char *string) {
  if (!is_letter(string[0]) || is_reserved(string))
    return false;
  for (const char *c = string; *c; ++c)
    if (!is_letter(*c) && !(*c >= '0' && *c <= '9') && *c != '-')
      return false;
  return true;
}

void tl_text_add_quoted(tl_text *text, const char *string) {
  if (is_plain(string)) {
    tl_text_add_bytes(text, string, strlen(string));
    return;
  }
  tl_text_add_bytes(text, "\"", 1);
  for (const char *c = string; *c; ++c) {
    if (*c == '"' || *c == '\\')
      tl_text_add_bytes(text, "\\", 1);
    tl_text_add_bytes(text, c, 1);
  }
  tl_text_add_bytes(text, "\"", 1);
}

talus_status tl_text_take(tl_text *text, char **out) {
  *out = NULL;
  tl_text_add_bytes(text, "", 0);
  void *data = text->data;
  talus_status status = text->status;
  if (status == TALUS_OK)
    status = tl_resize(&data, text->capacity, text->count + 1);
  if (status != TALUS_OK) {
    tl_text_drop(text);
    return status;
  }
  *out = data;
  *text = (tl_text){0};
  return TALUS_OK;
}

void tl_text_drop(tl_text *text) {
  void *data = text->data;
  (void)tl_resize(&data, text->capacity, 0); /* freeing cannot fail */
  *text = (tl_text){0};
}

talus_status tl_string_copy(const char *bytes, size_t n, char **copy) {
  void *data = NULL;
  TL_TRY(tl_resize(&data, 0, n + 1));
  if (n > 0)
    memcpy(data, bytes, n);
  *copy = data;
  (*copy)[n] = '\0';
  return TALUS_OK;
}

void tl_string_free(char **string) {
  if (!*string)
    return;
  void *data = *string;
  (void)tl_resize(&data, strlen(*string) + 1, 0); /* freeing cannot fail */
  *string = NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

#define LONGEST                                                                                    \
  48 /* longer words are not compared: a slip of two letters is not likely in them                 \
      */

static size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

/* Optimal string alignment: Levenshtein's distance with swaps of neighbours. */
size_t tl_edit_distance(const char *a, const char *b, size_t most) {
  const size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST || n > m + most || m > n + most)
    return most + 1;
  size_t rows[3][LONGEST + 1];
  size_t *two_ago = rows[0], *before = rows[1], *now = rows[2];
  for (size_t j = 0; j <= m; ++j)
    before[j] = j;
  for (size_t i = 1; i <= n; ++i) {
    now[0] = i;
    const int x = tolower((unsigned char)a[i - 1]);
    for (size_t j = 1; j <= m; ++j) {
      const int y = tolower((unsigned char)b[j - 1]);
      now[j] = min_size(min_size(before[j], now[j - 1]) + 1, before[j - 1] + (x == y ? 0u : 1u));
      if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
          tolower((unsigned char)a[i - 2]) == y)
        now[j] = min_size(now[j], two_ago[j - 2] + 1);
    }
    size_t *old = two_ago;
    two_ago = before, before = now, now = old;
  }
  return before[m] <= most ? before[m] : most + 1;
}

/* Words of other programs, and of everyday life, for ours. */
static const char *const other_words[][2] = {
    {"hinge", "revolute"},
    {"ball", "spherical"},
    {"slider", "prismatic"},
    {"weld", "fixed"},
    {"rod", "distance"},
    {"rope", "distance"},
    {"static", "fixed"},
    {"kinematic", "motion"},
    {"bodys", "bodies"},
    {"body", "bodies"},
    {"particles", "bodies"},
    {"grains", "bodies"},
    {"objects", "bodies"},
    {"walls", "bodies"},
    {"mu", "friction"},
    {"coulomb", "friction"},
    {"cor", "restitution"},
    {"bounce", "restitution"},
    {"rho", "density"},
    {"kn", "stiffness"},
    {"youngs_modulus", "young"},
    {"nu", "poisson"},
    {"adhesion", "cohesion"},
    {"cube", "box"},
    {"cuboid", "box"},
    {"block", "box"},
    {"radius", "sphere"},
    {"multisphere", "clump"},
    {"convex", "hull"},
    {"triangles", "mesh"},
    {"stl", "mesh"},
    {"position", "at"},
    {"pos", "at"},
    {"orientation", "rotation"},
    {"quaternion", "rotation"},
    {"angular_velocity", "spin"},
    {"omega", "spin"},
    {"timestep", "dt"},
    {"time_step", "dt"},
    {"duration", "until"},
    {"end_time", "until"},
    {"g", "gravity"},
    {"dem", "penalty"},
    {"smc", "penalty"},
    {"nsc", "ccp"},
    {"nscd", "ccp"},
    {"solver", "solve"},
    {"insert", "emit"},
    {"inlet", "emit"},
    {"outlet", "sinks"},
    {"measure", "probes"},
    {"dt", "step"},
    {"timestep", "step"},
    {"time_step", "step"},
    {"e", "restitution"},
    {"E", "young"},
    {"center", "at"},
    {"centre", "at"},
    {"height", "length"},
    {"rolling_friction", "rolling_coefficient"},
    {"mu_r", "rolling_coefficient"},
    {"hertzian", "hertz"},
    {"hertz-mindlin", "hertz"},
    {"hooke", "linear"},
};

/* How far the candidate is from what was written, as far as a slip would be; SIZE_MAX: farther. */
static size_t slip(const char *word, const char *candidate) {
  for (size_t i = 0; i < sizeof other_words / sizeof *other_words; ++i) {
    const char *other = other_words[i][0];
    const bool is_same = other[1] ? strcasecmp(word, other) == 0 : strcmp(word, other) == 0;
    if (is_same && strcmp(candidate, other_words[i][1]) == 0)
      return 0; /* of one letter, the capital is another quantity: e and E */
  }
  /* One slip in four letters; a word of one or two letters is never a slip of another. */
  const size_t length = strlen(word);
  const size_t most = length < 3 ? 0 : length < 6 ? 1 : 2 + (length - 6) / 4;
  const size_t distance = tl_edit_distance(word, candidate, most);
  if (distance <= most)
    return distance;
  const bool begins = length >= 3 && strncasecmp(word, candidate, length) == 0;
  return begins ? most + 1 : SIZE_MAX;
}

void tl_suggest(tl_suggestion *suggestion, const char *candidate) {
  const size_t distance = slip(suggestion->word, candidate);
  if (distance < SIZE_MAX && (!suggestion->best || distance < suggestion->distance)) {
    suggestion->best = candidate;
    suggestion->distance = distance;
  }
}

static size_t slot_of(const tl_names *names, const char *name) {
  const size_t mask = names->table.count - 1;
  size_t slot = (size_t)tl_xxh64(name, strlen(name), 0) & mask;
  while (names->table.data[slot] != 0 &&
         strcmp(names->list.data[names->table.data[slot] - 1], name) != 0)
    slot = (slot + 1) & mask;
  return slot;
}

bool tl_names_find(const tl_names *names, const char *name, uint32_t *row) {
  if (names->table.count == 0)
    return false;
  const uint32_t found = names->table.data[slot_of(names, name)];
  if (found != 0)
    *row = names->rows.data[found - 1];
  return found != 0;
}

/* Twice as many slots, so that at most half of them are taken. */
static talus_status grow_table(tl_names *names) {
  const size_t slots = names->table.count == 0 ? 32 : 2 * names->table.count;
  TL_TRY(tl_array_resize(&names->table, slots));
  memset(names->table.data, 0, slots * sizeof *names->table.data);
  for (size_t i = 0; i < names->list.count; ++i)
    names->table.data[slot_of(names, names->list.data[i])] = (uint32_t)(i + 1);
  return TALUS_OK;
}

talus_status tl_names_add(tl_names *names, const char *name, uint32_t row, uint32_t *first) {
  if (2 * (names->list.count + 1) > names->table.count)
    TL_TRY(grow_table(names));
  *first = row;
  if (tl_names_find(names, name, first))
    return TALUS_OK;
  const size_t slot = slot_of(names, name);
  TL_TRY(tl_array_push(&names->rows, row));
  TL_TRY(tl_array_push(&names->list, name));
  names->table.data[slot] = (uint32_t)names->list.count;
  return TALUS_OK;
}

const char *tl_names_suggest(const tl_names *names, const char *name) {
  tl_suggestion suggestion = {.word = name};
  for (size_t i = 0; i < names->list.count; ++i)
    tl_suggest(&suggestion, names->list.data[i]);
  return suggestion.best;
}

void tl_names_free(tl_names *names) {
  tl_array_free(&names->list);
  tl_array_free(&names->rows);
  tl_array_free(&names->table);
}

/* ---- the decimal point ----------------------------------------------------------------------- */

talus_status tl_c_locale_enter(tl_c_locale *locale) {
  const locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (own == (locale_t)0)
    return tl_fail(TALUS_ERROR_MEMORY, "out of memory: the C locale could not be set up");
  locale->own = own;
  locale->before = uselocale(own);
  return TALUS_OK;
}

void tl_c_locale_leave(tl_c_locale *locale) {
  uselocale(locale->before);
  freelocale(locale->own);
}
