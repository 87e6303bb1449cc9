/* Results of talus bench validation: a table in the terminal, CSV, plots, and a page of
 * documentation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plot.h"
#include "tools.h"
#include "validation.h"

#define CELL 48

_Static_assert(VAL_ROWS_MARKED == PLOT_FEW, "bars stand where there are marks");

static const char *verdict(const val_check *check, const char *fail, char text[CELL]) {
  if (val_is_inconclusive(check))
    snprintf(text, CELL, "inconclusive (%d seeds would do)", val_seeds_needed(check));
  else
    snprintf(text, CELL, "%s", val_passes(check) ? "pass" : fail);
  return text;
}

static const char *expected_text(const val_check *check, char text[CELL]) {
  if (check->is_range)
    snprintf(text, CELL, "%.4g ... %.4g", check->low, check->high);
  else
    snprintf(text, CELL, "%.6g", check->expected);
  return text;
}

static const char *got_text(const val_check *check, const char *sign, char text[CELL]) {
  if (check->seeds > 1)
    snprintf(text, CELL, "%.4g %s %.2g", val_mean(check), sign, val_confidence(check));
  else
    snprintf(text, CELL, "%.6g", val_mean(check));
  return text;
}

static const char *tolerance_text(const val_check *check, char text[CELL]) {
  if (check->is_range)
    snprintf(text, CELL, "range");
  else
    snprintf(text, CELL, "%.2g", check->tolerance);
  return text;
}

/* ---- terminal -------------------------------------------------------------------------------- */

void val_print_head(FILE *to) {
  fprintf(to, "%-17s %-8s %-46s %-6s %16s %16s %10s %9s  %s\n", "case", "model", "quantity", "unit",
          "expected", "got", "error", "tolerance", "");
}

void val_print_run(FILE *to, const val_run *run) {
  char a[CELL], b[CELL], c[CELL], d[CELL];
  for (int i = 0; i < run->count; ++i) {
    const val_check *check = &run->checks[i];
    fprintf(to, "%-17s %-8s %-46s %-6s %16s %16s %10.2e %9s  %s\n", run->which->name,
            val_model_name(run->model), check->quantity, check->unit, expected_text(check, a),
            got_text(check, "+-", b), val_error(check), tolerance_text(check, c),
            verdict(check, *check->known ? "FAIL (known)" : "FAIL", d));
  }
  if (*run->message)
    fprintf(to, "%-17s %-8s %s: %s\n", run->which->name, val_model_name(run->model),
            run->failed ? "FAIL" : "left out", run->message);
  fflush(to);
}

/* ---- files ----------------------------------------------------------------------------------- */

bool val_write_csv(const char *path, const val_run *runs, size_t n) {
  FILE *file = bench_open(path);
  if (!file)
    return false;
  fprintf(file, "case,model,quantity,unit,expected,low,high,got,confidence_95,seeds,error,"
                "tolerance,pass,cpu_s\n");
  for (size_t r = 0; r < n; ++r) {
    const val_run *run = &runs[r];
    for (int i = 0; i < run->count; ++i) {
      const val_check *check = &run->checks[i];
      fprintf(file, "%s,%s,\"%s\",%s,%.10g,%.10g,%.10g,%.10g,", run->which->name,
              val_model_name(run->model), check->quantity, check->unit, check->expected, check->low,
              check->high, val_mean(check));
      if (check->seeds > 1)
        fprintf(file, "%.3g", val_confidence(check));
      fprintf(file, ",%d,%.3g,%.3g,%d,%.3g\n", check->seeds, val_error(check), check->tolerance,
              val_passes(check), run->cpu);
    }
    if (run->failed)
      fprintf(file, "%s,%s,broke off,,,,,,,,,,0,%.3g\n", run->which->name,
              val_model_name(run->model), run->cpu);
  }
  return bench_close(file);
}

bool val_write_plots(const char *folder, const char *prefix, const val_plot *plots) {
  bool good = true;
  for (const val_plot *p = plots; p; p = p->next) {
    char path[1024];
    plot drawn = {.title = p->title,
                  .x_label = p->x_label,
                  .y_label = p->y_label,
                  .rows = p->rows,
                  .count = (size_t)p->count,
                  .x = p->x};
    for (int k = 0; k < p->count; ++k)
      drawn.series[k] = (plot_series){.name = p->series[k], .y = p->y[k], .error = p->error[k]};
    snprintf(path, sizeof path, "%s/%s%s.svg", folder, prefix, p->name);
    good = plot_svg(&drawn, path) == CLI_DONE && good;
  }
  return good;
}

/* ---- documentation --------------------------------------------------------------------------- */

static const val_run *find_run(const val_run *runs, size_t n, const val_case *which, int model) {
  for (size_t r = 0; r < n; ++r)
    if (runs[r].which == which && (int)runs[r].model == model)
      return &runs[r];
  return NULL;
}

static bool was_run(const val_run *runs, size_t n, const val_case *which) {
  for (int model = 0; model < VAL_MODELS; ++model)
    if (find_run(runs, n, which, model))
      return true;
  return false;
}

static void write_cell(FILE *to, const val_run *run) {
  if (!run) {
    fprintf(to, " |");
    return;
  }
  const int failures = val_failures(run), all = run->count + run->failed;
  if (all == 0)
    fprintf(to, " left out |");
  else if (failures > 0)
    fprintf(to, " **FAIL** %d of %d |", failures, all);
  else if (val_inconclusive(run) > 0)
    fprintf(to, " pass %d, inconclusive %d |", all - val_inconclusive(run), val_inconclusive(run));
  else
    fprintf(to, " pass %d |", all);
}

/* Also writes the CPU time of slow cases: the only number here that changes from run to run. */
static void write_scoreboard(FILE *to, const val_run *runs, size_t n) {
  double all = 0;
  fprintf(to, "| case | tier |");
  for (int model = 0; model < VAL_MODELS; ++model)
    fprintf(to, " %s |", val_model_name((val_model)model));
  fprintf(to, " CPU [s] |\n|---|---|---|");
  for (int model = 0; model < VAL_MODELS; ++model)
    fprintf(to, "---|");
  fprintf(to, "\n");
  for (size_t i = 0; i < val_case_count; ++i) {
    const val_case *which = &val_cases[i];
    double cpu = 0;
    if (!was_run(runs, n, which))
      continue;
    fprintf(to, "| [%s](#%s) | %s |", which->name, which->name, which->seeds ? "slow" : "fast");
    for (int model = 0; model < VAL_MODELS; ++model) {
      const val_run *run = find_run(runs, n, which, model);
      write_cell(to, run);
      cpu += run ? run->cpu : 0;
    }
    if (which->seeds > 0)
      fprintf(to, " %.0f |\n", cpu), all += cpu;
    else
      fprintf(to, " |\n");
  }
  if (all > 0)
    fprintf(to, "| all slow ones | | | | | | | | | %.0f |\n", all);
}

static void write_rows(FILE *to, const val_run *run) {
  char a[CELL], b[CELL], c[CELL], d[CELL];
  for (int i = 0; i < run->count; ++i) {
    const val_check *check = &run->checks[i];
    fprintf(to, "| %s | %s | %s | %s | %s | %.2g | %s | %s |\n", val_model_name(run->model),
            check->quantity, check->unit, expected_text(check, a), got_text(check, "±", b),
            val_error(check), tolerance_text(check, c), verdict(check, "**FAIL**", d));
  }
  if (*run->message)
    fprintf(to, "| %s | %s: %s | | | | | | %s |\n", val_model_name(run->model),
            run->failed ? "broke off" : "left out", run->message, run->failed ? "**FAIL**" : "");
}

/* The name of a plot is the name of its case, or begins with it and a dash. */
static bool is_plot_of(const val_plot *curves, const val_case *which) {
  const size_t length = strlen(which->name);
  return strncmp(curves->name, which->name, length) == 0 &&
         (curves->name[length] == '\0' || curves->name[length] == '.');
}

static int seeds_run(const val_run *run) {
  return run && run->count > 0 ? run->checks[0].seeds : 0;
}

/* Writes "; 3 seeds, mean ± 95 % confidence", or a number for each model where they differ. */
static void write_seeds(FILE *to, const val_case *which, const val_run *runs, size_t n) {
  int least = VAL_SEEDS_MOST, most = 0;
  for (int model = 0; model < VAL_MODELS; ++model) {
    const int seeds = seeds_run(find_run(runs, n, which, model));
    if (seeds > 0)
      least = seeds < least ? seeds : least, most = seeds > most ? seeds : most;
  }
  if (which->seeds == 0 || most == 0)
    return;
  if (least == most)
    fprintf(to, "; %d seed%s", most, most > 1 ? "s" : "");
  else
    for (int model = 0; model < VAL_MODELS; ++model) {
      const val_run *run = find_run(runs, n, which, model);
      if (seeds_run(run) > 0)
        fprintf(to, "; %s: %d seed%s", val_model_name(run->model), seeds_run(run),
                seeds_run(run) > 1 ? "s" : "");
    }
  if (most > 1)
    fprintf(to, ", mean ± 95 %% confidence");
}

static void write_case(FILE *to, const val_case *which, const val_run *runs, size_t n,
                       const val_plot *plots) {
  fprintf(to, "\n### %s\n\n%s *(%s", which->name, which->about, which->source);
  write_seeds(to, which, runs, n);
  fprintf(to, ")*\n\n");
  if (which->basis)
    fprintf(to, "Expected value and tolerance: %s\n\n", which->basis);
  fprintf(to, "| model | quantity | unit | expected | got | error | tolerance | |\n"
              "|---|---|---|---|---|---|---|---|\n");
  for (int model = 0; model < VAL_MODELS; ++model) {
    const val_run *run = find_run(runs, n, which, model);
    if (run)
      write_rows(to, run);
  }
  for (int model = 0; model < VAL_MODELS; ++model) {
    const val_run *run = find_run(runs, n, which, model);
    for (int i = 0; run && i < run->count; ++i)
      if (*run->checks[i].known && !val_passes(&run->checks[i]))
        fprintf(to, "\n%s, %s: %s\n", val_model_name(run->model), run->checks[i].quantity,
                run->checks[i].known);
  }
  for (const val_plot *curves = plots; curves; curves = curves->next)
    if (is_plot_of(curves, which))
      fprintf(to, "\n![%s](images/validation-%s.svg)\n", curves->title, curves->name);
}

static void write_preface(FILE *to, const val_run *runs, size_t n) {
  int checks = 0, failures = 0, inconclusive = 0;
  for (size_t r = 0; r < n; ++r) {
    inconclusive += val_inconclusive(&runs[r]);
    checks += runs[r].count + runs[r].failed;
    failures += val_failures(&runs[r]);
  }
  fprintf(
      to,
      "# Validation\n\n"
      "Published and analytic cases: the expected value, and the result of each contact model. "
      "`make validate`\n(`talus bench validation --slow --write docs/validation.md`) writes this "
      "page from the results in\n[validation.data](validation.data). A case that is run again "
      "(`--case NAME`) replaces its old result, and\n`make validate RESUME=1` continues after an "
      "interruption. Results depend neither on the machine nor on its number\nof threads.\n\n"
      "The tolerance is the known error of the method or of the experiment. A number outside it "
      "stays here, as **FAIL**. If half of the\n95 %% interval of a mean over seeds is wider than "
      "the tolerance, the verdict is *inconclusive*, with the number of seeds\nthat would decide. "
      "A column is empty where a model does not apply. Fast cases run in every `make test`.\n\n"
      "The springs of `penalty` have 1e6 N/m in fast cases unless stated otherwise. In slow cases "
      "they have 0.8 of the largest\nstiffness that the step allows: 1,200 N/m at 0.1 ms in "
      "silos, where grains at the bottom overlap by 2 %% of their diameter,\nand 4,800 N/m at "
      "0.05 ms in packings, where they overlap by 0.4 %%. `agreement-silo` shows the effect of "
      "stiffness.\n`implicit` has the springs of fast cases with implicit steps (`newton`) that "
      "are as long as those of `ccp`.\n\n"
      "talus %s (%s): %d numbers, %d of them FAIL, %d inconclusive.\n\n",
      talus_version(), TALUS_SINGLE ? "single" : "double", checks, failures, inconclusive);
}

/* Names slow cases with missing seeds, so that nobody takes a part for the whole. */
static void write_missing(FILE *to, const val_run *runs, size_t n) {
  bool any = false;
  for (size_t i = 0; i < val_case_count; ++i)
    for (int model = 0; model < VAL_MODELS; ++model) {
      const val_case *which = &val_cases[i];
      const val_run *run = find_run(runs, n, which, model);
      const int there = seeds_run(run);
      if (!(which->models & (1u << model)) || which->seeds == 0 || there >= which->seeds ||
          (run && *run->message))
        continue;
      fprintf(to, "%s%s %s: %d of %d seeds", any ? ", " : "\nNot complete: ", which->name,
              val_model_name((val_model)model), there, which->seeds);
      any = true;
    }
  if (any)
    fprintf(to, ". `make validate RESUME=1` goes on.\n");
}

bool val_write_document(const char *path, const val_run *runs, size_t n, const val_plot *plots) {
  char folder[900];
  const char *slash = strrchr(path, '/');
  if (snprintf(folder, sizeof folder, "%.*s%s", slash ? (int)(slash - path) : 0, path,
               slash ? "/images" : "images") >= (int)sizeof folder) {
    cli_error("%s: the path is too long", path);
    return false;
  }
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    cli_error("%s: %s", folder, strerror(errno));
    return false;
  }
  FILE *file = bench_open(path);
  if (!file)
    return false;
  write_preface(file, runs, n);
  write_scoreboard(file, runs, n);
  bool has_slow = false;
  for (int slow = 0; slow < 2; ++slow) {
    bool any = false;
    for (size_t i = 0; i < val_case_count; ++i) {
      const val_case *which = &val_cases[i];
      if ((which->seeds > 0) != (slow != 0) || !was_run(runs, n, which))
        continue;
      if (!any)
        fprintf(file, "\n## %s\n", slow ? "Slow cases" : "Fast cases");
      any = true;
      has_slow = has_slow || slow;
      write_case(file, which, runs, n, plots);
    }
  }
  if (!has_slow)
    fprintf(file,
            "\n## Slow cases\n\nNot run when this page was written: `make validate` adds them.\n");
  else
    write_missing(file, runs, n);
  val_write_sources(file);
  return bench_close(file) && val_write_plots(folder, "validation-", plots);
}
