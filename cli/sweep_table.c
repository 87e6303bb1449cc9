/* table.csv has a line for every point of a study, runs.csv a line for every run; and both as
 * JSON. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file_write.h"
#include "json.h"

student_mean sweep_group_mean(const sweep *study, size_t group, size_t measure) {
  double *values = malloc((study->run_count + 1) * sizeof *values);
  size_t n = 0;
  for (size_t i = 0; values && i < study->run_count; ++i)
    if (study->runs[i].group == group && study->runs[i].state == SWEEP_DONE)
      values[n++] = study->runs[i].values[measure];
  const student_mean found = student_of(values, n);
  free(values);
  return found;
}

size_t sweep_group_count(const sweep *study, size_t group, sweep_state state) {
  size_t n = 0;
  for (size_t i = 0; i < study->run_count; ++i)
    n += study->runs[i].group == group && study->runs[i].state == state;
  return n;
}

/* The first reason among the runs of a group that failed. */
static const char *reason_of(const sweep *study, size_t group) {
  for (size_t i = 0; i < study->run_count; ++i)
    if (study->runs[i].group == group && study->runs[i].state == SWEEP_FAILED)
      return study->runs[i].reason;
  return "";
}

static const char *state_text(const sweep_run *run) {
  return run->state == SWEEP_DONE ? "done" : run->state == SWEEP_FAILED ? "failed" : "waits";
}

/* ---- comma-separated ------------------------------------------------------------------------- */

/* Quotes a text that has a comma, a quote or a line end (RFC 4180). */
static void put_cell(FILE *to, const char *text) {
  if (!strpbrk(text, ",\"\r\n")) {
    fputs(text, to);
    return;
  }
  fputc('"', to);
  for (; *text; ++text)
    if (*text == '"')
      fputs("\"\"", to);
    else
      fputc(*text, to);
  fputc('"', to);
}

static void put_number(FILE *to, double value) {
  char digits[40] = "";
  if (isfinite(value))
    snprintf(digits, sizeof digits, "%.10g", value);
  fprintf(to, ",%s", digits);
}

static void put_axes(FILE *to, const sweep *study, size_t run, bool seeds) {
  for (size_t k = 0, n = 0; k < study->axis_count; ++k)
    if (seeds || !study->axes[k].is_seed) {
      if (n++ > 0)
        fputc(',', to);
      put_cell(to, run < study->run_count ? study->axes[k].values[sweep_choice(study, run, k)]
                                          : study->axes[k].key);
    }
}

static bool has_points(const sweep *study) {
  for (size_t k = 0; k < study->axis_count; ++k)
    if (!study->axes[k].is_seed)
      return true;
  return false;
}

static bool print_table(FILE *to, const void *what) {
  const sweep *study = what;
  const char *comma = has_points(study) ? "," : "";
  put_axes(to, study, study->run_count, false);
  fprintf(to, "%sruns,failed", comma);
  for (size_t k = 0; k < study->measure_count; ++k) {
    char half[600];
    snprintf(half, sizeof half, "%s +-95%%", study->measures[k].text);
    fputc(',', to);
    put_cell(to, study->measures[k].text);
    fputc(',', to);
    put_cell(to, half);
  }
  fputs(",reason\n", to);
  for (size_t g = 0; g < study->group_count; ++g) {
    put_axes(to, study, sweep_first_of(study, g), false);
    fprintf(to, "%s%zu,%zu", comma, sweep_group_count(study, g, SWEEP_DONE),
            sweep_group_count(study, g, SWEEP_FAILED));
    for (size_t k = 0; k < study->measure_count; ++k) {
      const student_mean found = sweep_group_mean(study, g, k);
      put_number(to, found.mean);
      put_number(to, found.half);
    }
    fputc(',', to);
    put_cell(to, reason_of(study, g));
    fputc('\n', to);
  }
  return !ferror(to);
}

static bool print_runs(FILE *to, const void *what) {
  const sweep *study = what;
  put_axes(to, study, study->run_count, true);
  fputs(",state", to);
  for (size_t k = 0; k < study->measure_count; ++k) {
    fputc(',', to);
    put_cell(to, study->measures[k].text);
  }
  fputs(",folder,reason\n", to);
  for (size_t i = 0; i < study->run_count; ++i) {
    const sweep_run *run = &study->runs[i];
    put_axes(to, study, i, true);
    fprintf(to, ",%s", state_text(run));
    for (size_t k = 0; k < study->measure_count; ++k)
      put_number(to, run->state == SWEEP_DONE ? run->values[k] : NAN);
    fputc(',', to);
    put_cell(to, run->name);
    fputc(',', to);
    put_cell(to, run->state == SWEEP_FAILED ? run->reason : "");
    fputc('\n', to);
  }
  return !ferror(to);
}

int sweep_write_tables(const sweep *study) {
  char path[4096];
  sweep_path(study, "table.csv", "", path, sizeof path);
  const int code = cli_write_file(path, print_table, study);
  sweep_path(study, "runs.csv", "", path, sizeof path);
  const int other = cli_write_file(path, print_runs, study);
  return code != CLI_DONE ? code : other;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_settings(json *out, const sweep *study, size_t run, bool seeds) {
  json_open(out, "settings", '{');
  for (size_t k = 0; k < study->axis_count; ++k)
    if (seeds || !study->axes[k].is_seed)
      json_text(out, study->axes[k].key, study->axes[k].values[sweep_choice(study, run, k)]);
  json_close(out, '}');
}

static void put_point(json *out, const sweep *study, size_t group) {
  json_open(out, NULL, '{');
  put_settings(out, study, sweep_first_of(study, group), false);
  json_number(out, "runs", (double)sweep_group_count(study, group, SWEEP_DONE));
  json_number(out, "failed", (double)sweep_group_count(study, group, SWEEP_FAILED));
  json_open(out, "measures", '{');
  for (size_t k = 0; k < study->measure_count; ++k) {
    const student_mean found = sweep_group_mean(study, group, k);
    json_open(out, study->measures[k].text, '{');
    json_number(out, "mean", found.mean);
    json_number(out, "half_95", found.half);
    json_close(out, '}');
  }
  json_close(out, '}');
  json_close(out, '}');
}

static void put_run(json *out, const sweep *study, size_t i) {
  const sweep_run *run = &study->runs[i];
  json_open(out, NULL, '{');
  put_settings(out, study, i, true);
  json_text(out, "folder", run->name);
  json_text(out, "state", state_text(run));
  if (run->state == SWEEP_FAILED)
    json_text(out, "reason", run->reason);
  json_open(out, "measures", '{');
  for (size_t k = 0; k < study->measure_count; ++k)
    json_number(out, study->measures[k].text, run->state == SWEEP_DONE ? run->values[k] : NAN);
  json_close(out, '}');
  json_close(out, '}');
}

void sweep_print_json(const sweep *study, FILE *to) {
  json out = json_begin(to);
  json_open(&out, NULL, '{');
  json_text(&out, "scene", study->scene);
  json_text(&out, "folder", study->folder);
  json_open(&out, "table", '[');
  for (size_t g = 0; g < study->group_count; ++g)
    put_point(&out, study, g);
  json_close(&out, ']');
  json_open(&out, "runs", '[');
  for (size_t i = 0; i < study->run_count; ++i)
    put_run(&out, study, i);
  json_close(&out, ']');
  json_close(&out, '}');
  json_end(&out);
}
