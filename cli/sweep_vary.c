/* Axes from the command line, and the runs that their values make. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 150 /* bytes of a folder's name; file systems have 255 */

/* ---- values ---------------------------------------------------------------------------------- */

static char *copy(const char *text, size_t length) {
  char *made = malloc(length + 1);
  if (made) {
    memcpy(made, text, length);
    made[length] = '\0';
  }
  return made;
}

static int no_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

static int add_value(sweep_axis *axis, const char *text, size_t length) {
  char **grown = realloc(axis->values, (axis->count + 1) * sizeof *grown);
  if (!grown)
    return no_memory();
  axis->values = grown;
  grown[axis->count] = copy(text, length);
  if (!grown[axis->count])
    return no_memory();
  axis->count++;
  return CLI_DONE;
}

/* Length up to the next comma outside of brackets and quotes. */
static size_t value_length(const char *text) {
  int depth = 0;
  char quote = '\0';
  size_t i = 0;
  for (; text[i] && (text[i] != ',' || depth > 0 || quote); ++i) {
    if (quote)
      quote = text[i] == quote ? '\0' : quote;
    else if (text[i] == '"' || text[i] == '\'')
      quote = text[i];
    else if (strchr("[{", text[i]))
      depth++;
    else if (strchr("]}", text[i]))
      depth--;
  }
  return i;
}

/* Reads "1:5" or "0.1:0.5:0.1"; returns the number of numbers, 0 if it is no range. */
static int read_range(const char *text, double of[3]) {
  int n = 0;
  for (const char *at = text; n < 3; ++at) {
    char *end;
    of[n] = strtod(at, &end);
    if (end == at || !isfinite(of[n]))
      return 0;
    n++;
    at = end;
    if (*at == '\0')
      return n > 1 ? n : 0;
    if (*at != ':')
      return 0;
  }
  return 0;
}

static int add_range(sweep_axis *axis, const char *text, const double of[3], int n) {
  if (n == 2 && (of[0] != floor(of[0]) || of[1] != floor(of[1]))) {
    cli_error("sweep: option '--vary': '%s' has no step; expected first:last:step, or whole "
              "numbers first:last",
              text);
    return CLI_INPUT;
  }
  const double step = n == 3 ? of[2] : 1, count = floor((of[1] - of[0]) / step + 1e-9) + 1;
  if (!(count >= 1 && count <= SWEEP_RUNS)) {
    cli_error("sweep: option '--vary': the range '%s' has no values, or more than %d", text,
              SWEEP_RUNS);
    return CLI_INPUT;
  }
  int code = CLI_DONE;
  for (size_t i = 0; code == CLI_DONE && i < (size_t)count; ++i) {
    char digits[40];
    const int length = snprintf(digits, sizeof digits, "%.12g", of[0] + (double)i * step);
    code = add_value(axis, digits, (size_t)length);
  }
  return code;
}

static int add_values(sweep_axis *axis, const char *text) {
  double of[3];
  const int n = read_range(text, of);
  if (n > 0)
    return add_range(axis, text, of, n);
  int code = CLI_DONE;
  for (const char *at = text; code == CLI_DONE; ++at) {
    const size_t length = value_length(at);
    if (length == 0) {
      cli_error("sweep: option '--vary %s=%s': a value is missing; expected key=a,b,c or key=1:5",
                axis->key, text);
      return CLI_INPUT;
    }
    code = add_value(axis, at, length);
    at += length;
    if (*at == '\0')
      break;
  }
  return code;
}

/* Refuses equal values: one run would count for two. */
static int check_twice(const sweep_axis *axis) {
  for (size_t i = 0; i < axis->count; ++i)
    for (size_t k = 0; k < i; ++k)
      if (strcmp(axis->values[i], axis->values[k]) == 0) {
        cli_error("sweep: '%s' has the value %s twice; give each once", axis->key, axis->values[i]);
        return CLI_INPUT;
      }
  return CLI_DONE;
}

int sweep_add_axis(sweep *study, const char *text) {
  const size_t length = strcspn(text, "=");
  if (length == 0 || text[length] == '\0') {
    cli_error("sweep: option '--vary': '%s' is not key=a,b,c or key=1:5", text);
    return CLI_INPUT;
  }
  if (study->axis_count == SWEEP_AXES) {
    cli_error("sweep: more than %d of --vary", SWEEP_AXES);
    return CLI_INPUT;
  }
  sweep_axis *axis = &study->axes[study->axis_count++];
  axis->key = copy(text, length);
  if (!axis->key)
    return no_memory();
  const char *dot = strrchr(axis->key, '.');
  axis->is_seed = strcmp(dot ? dot + 1 : axis->key, "seed") == 0;
  for (size_t i = 0; i + 1 < study->axis_count; ++i)
    if (strcmp(study->axes[i].key, axis->key) == 0) {
      cli_error("sweep: '%s' is varied twice; give all its values in one --vary", axis->key);
      return CLI_INPUT;
    }
  const int code = add_values(axis, text + length + 1);
  return code == CLI_DONE ? check_twice(axis) : code;
}

/* ---- runs ------------------------------------------------------------------------------------ */

size_t sweep_choice(const sweep *study, size_t run, size_t axis) {
  for (size_t k = study->axis_count; k-- > axis + 1;)
    run /= study->axes[k].count;
  return run % study->axes[axis].count;
}

size_t sweep_first_of(const sweep *study, size_t group) {
  size_t run = 0;
  while (run + 1 < study->run_count && study->runs[run].group != group)
    run++;
  return run;
}

/* FNV-1a, to distinguish names that were truncated or changed. */
static unsigned digest(const char *text) {
  unsigned hash = 2166136261u;
  for (; *text; ++text)
    hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

static char *name_of(const sweep *study, size_t run) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-.=,+";
  size_t room = 1;
  for (size_t k = 0; k < study->axis_count; ++k)
    room +=
        strlen(study->axes[k].key) + strlen(study->axes[k].values[sweep_choice(study, run, k)]) + 2;
  char *name = malloc(room + 16);
  if (!name)
    return NULL;
  size_t used = 0;
  for (size_t k = 0; k < study->axis_count; ++k)
    used += (size_t)snprintf(name + used, room - used, "%s%s=%s", k ? "," : "", study->axes[k].key,
                             study->axes[k].values[sweep_choice(study, run, k)]);
  const unsigned hash = digest(name);
  const bool is_plain = name[strspn(name, safe)] == '\0' && name[0] != '.';
  for (char *c = name; *c; ++c)
    *c = strchr(safe, *c) && (c > name || *c != '.') ? *c : '_';
  if (used > NAME_MOST || !is_plain)
    snprintf(name + (used > NAME_MOST ? NAME_MOST : used), 16, "-%08x", hash);
  return name;
}

static size_t group_of(const sweep *study, size_t run) {
  size_t group = 0;
  for (size_t k = 0; k < study->axis_count; ++k)
    if (!study->axes[k].is_seed)
      group = group * study->axes[k].count + sweep_choice(study, run, k);
  return group;
}

int sweep_make_runs(sweep *study) {
  double count = 1, groups = 1;
  for (size_t k = 0; k < study->axis_count; ++k) {
    count *= (double)study->axes[k].count;
    groups *= study->axes[k].is_seed ? 1 : (double)study->axes[k].count;
  }
  if (count > SWEEP_RUNS) {
    cli_error("sweep: that makes %.0f runs; at most %d fit in a study", count, SWEEP_RUNS);
    return CLI_INPUT;
  }
  study->runs = calloc((size_t)count, sizeof *study->runs);
  if (!study->runs)
    return no_memory();
  study->group_count = (size_t)groups;
  for (size_t i = 0; i < (size_t)count; ++i) {
    sweep_run *run = &study->runs[i];
    study->run_count = i + 1;
    run->group = group_of(study, i);
    run->name = name_of(study, i);
    if (!run->name)
      return no_memory();
    for (size_t k = 0; k < SWEEP_MEASURES; ++k)
      run->values[k] = NAN;
  }
  return CLI_DONE;
}

void sweep_free(sweep *study) {
  for (size_t i = 0; i < study->run_count; ++i)
    free(study->runs[i].name);
  free(study->runs);
  for (size_t k = 0; k < study->axis_count; ++k) {
    for (size_t i = 0; i < study->axes[k].count; ++i)
      free(study->axes[k].values[i]);
    free(study->axes[k].values);
    free(study->axes[k].key);
  }
}
