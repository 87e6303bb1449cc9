/* Measures of runs: "probe.column mean t0:t1", or a column of history.csv. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

static const char *const hows[] = {"mean", "min", "max", "last", "std"};

/* ---- reading what is asked for --------------------------------------------------------------- */

static int refuse(const char *text, const char *why, const char *word, const char *near) {
  cli_error("sweep: option '--measure': '%s': %s%s%s%s%s", text, why, word,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return CLI_INPUT;
}

/* "0.5:1", "0.5:", ":1". */
static bool read_interval(const char *text, double *from, double *to) {
  const char *colon = strchr(text, ':');
  char *end = NULL;
  if (!colon)
    return false;
  *from = colon == text ? -INFINITY : strtod(text, &end);
  if (colon > text && end != colon)
    return false;
  *to = colon[1] ? strtod(colon + 1, &end) : INFINITY;
  if (colon[1] && *end)
    return false;
  return !isnan(*from) && !isnan(*to) && *from <= *to;
}

static int read_how(sweep_measure *measure, const char *word) {
  size_t i = 0;
  while (i < SWEEP_HOWS && strcmp(hows[i], word) != 0)
    i++;
  if (i == SWEEP_HOWS)
    return refuse(measure->text, "expected mean, min, max, last or std, not ", word,
                  cli_suggest(word, hows, SWEEP_HOWS));
  measure->how = (sweep_how)i;
  return CLI_DONE;
}

/* Names of probes may contain dots: the last one separates. */
static int read_column(sweep_measure *measure, const char *word) {
  const char *dot = strrchr(word, '.');
  const size_t probe = dot ? (size_t)(dot - word) : 0;
  const char *column = dot ? dot + 1 : word;
  if (probe >= sizeof measure->probe || strlen(column) >= sizeof measure->column || !*column ||
      dot == word)
    return refuse(measure->text, "expected probe.column or a column of history.csv, not ", word,
                  NULL);
  memcpy(measure->probe, word, probe);
  measure->probe[probe] = '\0';
  snprintf(measure->column, sizeof measure->column, "%s", column);
  return CLI_DONE;
}

static int find_probe(const sweep_measure *measure, const talus_scene *scene) {
  const char *names[64];
  char known[512] = "";
  size_t n = 0;
  for (const char *name; (name = talus_scene_probe_name(scene, n)) != NULL; ++n) {
    if (strcmp(name, measure->probe) == 0)
      return CLI_DONE;
    if (n < 64)
      names[n] = name;
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", n ? ", " : "", name);
  }
  const char *near = cli_suggest(measure->probe, names, n < 64 ? n : 64);
  cli_error("sweep: option '--measure': '%s': the scene has no probe '%s'%s%s%s%s%s", measure->text,
            measure->probe, n ? "; it has " : ", and no other", known,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return CLI_INPUT;
}

int sweep_add_measure(sweep *study, const char *text, const talus_scene *scene) {
  char words[512], *rest = NULL, *word[4] = {NULL};
  if (study->measure_count == SWEEP_MEASURES) {
    cli_error("sweep: more than %d of --measure", SWEEP_MEASURES);
    return CLI_INPUT;
  }
  sweep_measure *measure = &study->measures[study->measure_count++];
  *measure = (sweep_measure){.text = text, .from = -INFINITY, .to = INFINITY};
  if (strlen(text) >= sizeof words)
    return refuse("...", "that is too long", "", NULL);
  snprintf(words, sizeof words, "%s", text);
  int n = 0;
  for (char *at = strtok_r(words, " ", &rest); at && n < 4; at = strtok_r(NULL, " ", &rest))
    word[n++] = at;
  if (n < 2 || n > 3)
    return refuse(text,
                  "expected a column and what to take of it, as in 'PROBE.COLUMN mean 0.5:1' or "
                  "'kinetic_energy last'",
                  "", NULL);
  int code = read_column(measure, word[0]);
  if (code == CLI_DONE)
    code = read_how(measure, word[1]);
  if (code == CLI_DONE && n == 3 && !read_interval(word[2], &measure->from, &measure->to))
    code = refuse(text, "expected an interval of time t0:t1 in seconds, not ", word[2], NULL);
  if (code == CLI_DONE && *measure->probe)
    code = find_probe(measure, scene);
  return code;
}

/* ---- reading what a run wrote ---------------------------------------------------------------- */

static bool read_table(const sweep *study, const sweep_run *run, const sweep_measure *measure,
                       history *found, char *why, size_t size) {
  char path[4096], suffix[160];
  if (!*measure->probe) {
    sweep_path(study, run->name, "/history.csv", path, sizeof path);
    return history_read(path, found, why, size);
  }
  snprintf(suffix, sizeof suffix, "/probes/%s.csv", measure->probe);
  sweep_path(study, run->name, suffix, path, sizeof path);
  return history_read_probe(path, found, why, size);
}

static size_t column_of(const history *from, const char *name) {
  size_t i = 0;
  while (i < from->columns && strcmp(from->names[i], name) != 0)
    i++;
  return i;
}

static void refuse_column(const sweep_measure *measure, const history *found) {
  const char *near =
      cli_suggest(measure->column, (const char *const *)found->names, found->columns);
  char known[1024] = "";
  for (size_t i = 0; i < found->columns; ++i) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", found->names[i]);
  }
  cli_error("sweep: option '--measure': '%s': there is no column '%s'%s%s%s; there are %s",
            measure->text, measure->column, near ? "; did you mean '" : "", near ? near : "",
            near ? "'?" : "", known);
}

int sweep_check_columns(const sweep *study, const sweep_run *run) {
  for (size_t k = 0; k < study->measure_count; ++k) {
    history found;
    char why[256];
    if (!read_table(study, run, &study->measures[k], &found, why, sizeof why))
      return CLI_FAILED;
    const bool is_there = column_of(&found, study->measures[k].column) < found.columns;
    if (!is_there)
      refuse_column(&study->measures[k], &found);
    history_free(&found);
    if (!is_there)
      return CLI_INPUT;
  }
  return CLI_DONE;
}

/* Statistics of values between two times. Lines of a probe are means over an interval: they count
 * if its middle is between, weighted by its length. Lines of history.csv count equally. */
typedef struct summary {
  /* squares: sum of squared distances from the mean */
  double weight, mean, squares, low, high, last;
} summary;

static void add_up(summary *of, double value, double weight) {
  /* Welford's method: accurate for a small spread about a large mean */
  const double off = value - of->mean;
  of->weight += weight;
  of->mean += off * weight / of->weight;
  of->squares += weight * off * (value - of->mean);
  of->low = fmin(of->low, value);
  of->high = fmax(of->high, value);
  of->last = value;
}

static double result_of(const summary *of, sweep_how how) {
  switch (how) {
  case SWEEP_MEAN:
    return of->mean;
  case SWEEP_MIN:
    return of->low;
  case SWEEP_MAX:
    return of->high;
  case SWEEP_LAST:
    return of->last;
  case SWEEP_STD:
  case SWEEP_HOWS:
    break;
  }
  return sqrt(of->squares / of->weight);
}

static double take(const sweep_measure *measure, const history *found) {
  const size_t column = column_of(found, measure->column);
  summary of = {.low = INFINITY, .high = -INFINITY};
  for (size_t i = 0; i < found->rows && column < found->columns; ++i) {
    const double *row = found->values + i * found->columns;
    const double time = *measure->probe ? 0.5 * (row[0] + row[1]) : row[0];
    const double slack = 1e-9 * fmax(fabs(time), 1e-9);
    if (isfinite(row[column]) && time >= measure->from - slack && time <= measure->to + slack)
      add_up(&of, row[column], *measure->probe ? fmax(row[1] - row[0], 1e-300) : 1);
  }
  return of.weight > 0 ? result_of(&of, measure->how) : NAN;
}

void sweep_measure_run(const sweep *study, sweep_run *run) {
  for (size_t k = 0; k < study->measure_count && run->state == SWEEP_DONE; ++k) {
    const sweep_measure *measure = &study->measures[k];
    history found;
    if (!read_table(study, run, measure, &found, run->reason, sizeof run->reason)) {
      run->state = SWEEP_FAILED;
      return;
    }
    run->values[k] = take(measure, &found);
    if (column_of(&found, measure->column) == found.columns) {
      snprintf(run->reason, sizeof run->reason, "no column '%s'", measure->column);
      run->state = SWEEP_FAILED;
    } else if (isnan(run->values[k])) {
      snprintf(run->reason, sizeof run->reason, "nothing was measured of '%s'", measure->text);
      run->state = SWEEP_FAILED;
    }
    history_free(&found);
  }
}
