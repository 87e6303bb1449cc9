/* talus bench validation: published and analytic cases, and what each contact model makes of them.
 */
#include "validation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"
#include "tools.h"

static const char *const model_names[VAL_MODELS] = {"ccp", "penalty", "impulse"};

const char *val_model_name(val_model model) { return model_names[model]; }

typedef struct wishes {
  const char *only, *model, *output, *write;
  bool slow, list, quick;
  int seeds, threads;
  double strictness;
} wishes;

/* ---- choosing -------------------------------------------------------------------------------- */

static int unknown(const char *what, const char *word, const char *const *names, size_t n) {
  const char *near = cli_suggest(word, names, n);
  cli_error("bench validation: there is no %s '%s'%s%s%s; --list names them", what, word,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return CLI_INPUT;
}

static int check_wishes(const wishes *wanted) {
  const char *names[128], *kinds[VAL_MODELS];
  bool known = !wanted->only, known_model = !wanted->model;
  for (size_t i = 0; i < val_case_count && i < 128; ++i) {
    names[i] = val_cases[i].name;
    known = known || strcmp(wanted->only, names[i]) == 0;
  }
  for (int i = 0; i < VAL_MODELS; ++i) {
    kinds[i] = model_names[i];
    known_model = known_model || strcmp(wanted->model, kinds[i]) == 0;
  }
  if (!known)
    return unknown("case", wanted->only, names, val_case_count);
  if (!known_model)
    return unknown("model", wanted->model, kinds, VAL_MODELS);
  if (wanted->seeds > VAL_SEEDS_MOST) {
    cli_error("bench validation: --seeds is at most %d", VAL_SEEDS_MOST);
    return CLI_INPUT;
  }
  if (!(wanted->strictness > 0)) {
    cli_error("bench validation: --tolerance is more than 0: what tolerances are multiplied by");
    return CLI_INPUT;
  }
  return CLI_DONE;
}

static bool is_wanted(const wishes *wanted, const val_case *which, int model) {
  if (!(which->models & (1u << model)) ||
      (wanted->model && strcmp(wanted->model, model_names[model]) != 0))
    return false;
  if (wanted->only)
    return strcmp(wanted->only, which->name) == 0;
  return wanted->slow || which->seeds == 0;
}

static int list_cases(void) {
  for (size_t i = 0; i < val_case_count; ++i) {
    printf("%-17s %-4s ", val_cases[i].name, val_cases[i].seeds ? "slow" : "fast");
    for (int model = 0; model < VAL_MODELS; ++model)
      printf(" %-8s", val_cases[i].models & (1u << model) ? model_names[model] : "");
    printf("\n    %s (%s)\n", val_cases[i].about, val_cases[i].source);
  }
  return CLI_DONE;
}

/* ---- running --------------------------------------------------------------------------------- */

static void run_case(const wishes *wanted, const val_case *which, val_model model, val_plot **plots,
                     val_run *run) {
  const int seeds = which->seeds == 0 ? 1 : wanted->seeds > 0 ? wanted->seeds : which->seeds;
  *run = (val_run){.which = which,
                   .model = model,
                   .threads = which->seeds == 0 ? 1 : wanted->threads,
                   .stiffness = model == VAL_PENALTY && which->seeds == 0 ? 1e6 : 0,
                   .quick = wanted->quick,
                   .strictness = wanted->strictness,
                   .plots = plots};
  const clock_t begun = clock();
  for (int i = 0; i < seeds && !run->failed; ++i) {
    run->seed_index = i;
    run->seed = (uint64_t)i + 1;
    run->at = 0;
    which->run(run);
    talus_world_destroy(run->world);
    run->world = NULL;
  }
  run->cpu = (double)(clock() - begun) / CLOCKS_PER_SEC;
}

static bool write_all(const wishes *wanted, const val_run *runs, size_t n, const val_plot *plots) {
  bool good = true;
  if (wanted->output) {
    char path[1024];
    if (mkdir(wanted->output, 0777) != 0 && errno != EEXIST) {
      cli_error("%s: %s", wanted->output, strerror(errno));
      return false;
    }
    snprintf(path, sizeof path, "%s/validation.csv", wanted->output);
    good = val_write_csv(path, runs, n) && val_write_plots(wanted->output, "", plots);
  }
  if (wanted->write)
    good = val_write_document(wanted->write, runs, n, plots) && good;
  return good;
}

static int run_all(const wishes *wanted) {
  val_run *runs = calloc(val_case_count * VAL_MODELS, sizeof *runs);
  val_plot *plots = NULL;
  size_t n = 0;
  int checks = 0, failures = 0, known = 0, broken = 0;
  double cpu = 0;
  if (!runs) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  val_print_head(stdout);
  for (size_t i = 0; i < val_case_count; ++i)
    for (int model = 0; model < VAL_MODELS; ++model) {
      if (!is_wanted(wanted, &val_cases[i], model))
        continue;
      val_run *run = &runs[n++];
      run_case(wanted, &val_cases[i], (val_model)model, &plots, run);
      val_print_run(stdout, run);
      checks += run->count + run->failed;
      failures += val_failures(run);
      known += val_known_failures(run);
      broken += run->failed;
      cpu += run->cpu;
    }
  printf("%d numbers, %d FAIL (%d of them known), %.1f s of CPU time\n", checks, failures, known,
         cpu);
  if (n == 0)
    cli_warning("bench validation: that model does not claim this case; --list says who does");
  const bool written = write_all(wanted, runs, n, plots);
  val_plots_free(plots);
  free(runs);
  const bool good = wanted->quick ? broken == 0 : failures == known;
  return written && good ? CLI_DONE : CLI_FAILED;
}

int bench_validation(int argc, char **argv) {
  wishes wanted = {.strictness = 1};
  const cli_option list[] = {
      {"case", 0, CLI_TEXT, "NAME", "one case alone", &wanted.only},
      {"list", 0, CLI_FLAG, NULL, "the cases, what they are about and who claims them",
       &wanted.list},
      {"model", 0, CLI_TEXT, "NAME", "one model alone: ccp, penalty or impulse", &wanted.model},
      {"slow", 0, CLI_FLAG, NULL, "the statistical cases as well: up to an hour", &wanted.slow},
      {"seeds", 0, CLI_COUNT, "N", "repeat each slow case so often; 0 (default): its own number",
       &wanted.seeds},
      {"threads", 0, CLI_COUNT, "N", "of slow cases; 0 (default): all cores", &wanted.threads},
      {"quick", 0, CLI_FLAG, NULL,
       "slow cases with few bodies: to see that they run, whatever they give", &wanted.quick},
      {"tolerance", 0, CLI_NUMBER, "X", "multiply every tolerance (default 1)", &wanted.strictness},
      {"output", 'o', CLI_TEXT, "FOLDER", "validation.csv, and plots as SVG", &wanted.output},
      {"write", 0, CLI_TEXT, "FILE", "a page of documentation; plots in images/ beside it",
       &wanted.write},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench validation [options]",
      .about = "Published and analytic cases: expected, got, error and pass for each model.\n"
               "Exits with 1 where a number is outside of its tolerance and no reason is known.",
      .options = list,
      .most = 0};
  const int parsed = bench_parse(&usage, "bench validation", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if (wanted.list)
    return list_cases();
  const int code = check_wishes(&wanted);
  return code == CLI_DONE ? run_all(&wanted) : code;
}
