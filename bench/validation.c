/* talus bench validation: published and analytic cases, and the results of each contact model. */
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

static const char *const model_names[VAL_MODELS] = {"ccp", "penalty", "impulse", "apgd",
                                                    "bb",  "jacobi",  "elastic", "implicit"};

const char *val_model_name(val_model model) { return model_names[model]; }

typedef struct wishes {
  const char *only, *model, *output, *write;
  bool slow, list, quick, resume;
  int seeds, jobs;
  double strictness;
} wishes;

/* ---- choosing -------------------------------------------------------------------------------- */

static int unknown(const char *what, const char *word, const char *const *names, size_t n) {
  const char *near = cli_suggest(word, names, n);
  cli_error("bench validation: there is no %s '%s'%s%s%s; --list names them", what, word,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return CLI_INPUT;
}

static bool is_case(const char *word, size_t length) {
  for (size_t i = 0; i < val_case_count; ++i)
    if (strncmp(word, val_cases[i].name, length) == 0 && val_cases[i].name[length] == '\0')
      return true;
  return false;
}

/* True if a word names a case or, if it is no case itself, a family of cases that begin with it and
 * a dash: "impact" names impact-sizes, impact-columns and so on. */
static bool is_named(const char *word, size_t length, const char *name) {
  return length > 0 && strncmp(word, name, length) == 0 &&
         name[length] == (is_case(word, length) ? '\0' : '-');
}

/* The same of any word of a list separated by commas. */
static bool is_in_list(const char *list, const char *name) {
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (is_named(at, strcspn(at, ","), name))
      return true;
  return false;
}

static int check_names(const char *list) {
  const char *names[128];
  for (size_t i = 0; i < val_case_count && i < 128; ++i)
    names[i] = val_cases[i].name;
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    char word[64];
    bool known = false;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
    for (size_t i = 0; i < val_case_count; ++i)
      known = known || is_named(word, strlen(word), names[i]);
    if (!known)
      return unknown("case", word, names, val_case_count);
  }
  return CLI_DONE;
}

static int check_wishes(const wishes *wanted) {
  const char *kinds[VAL_MODELS];
  bool known_model = !wanted->model;
  for (int i = 0; i < VAL_MODELS; ++i) {
    kinds[i] = model_names[i];
    known_model = known_model || strcmp(wanted->model, kinds[i]) == 0;
  }
  if (check_names(wanted->only) != CLI_DONE)
    return CLI_INPUT;
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
    return is_in_list(wanted->only, which->name);
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

typedef struct session {
  const wishes *wanted;
  val_store store;
  const char *path; /* of the store; NULL: nothing is kept */
  char path_space[1024];
  size_t done, all;
  double began;
  bool written;
} session;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int seeds_of(const wishes *wanted, const val_case *which) {
  return which->seeds == 0 ? 1 : wanted->seeds > 0 ? wanted->seeds : which->seeds;
}

/* Beside the page, with the same name; without a page in the folder of results. */
static bool place_store(session *s) {
  const wishes *wanted = s->wanted;
  const char *page = wanted->write;
  if (wanted->output && mkdir(wanted->output, 0777) != 0 && errno != EEXIST) {
    cli_error("%s: %s", wanted->output, strerror(errno));
    return false;
  }
  if (page) {
    const size_t length = strlen(page),
                 stem = length > 3 && strcmp(page + length - 3, ".md") == 0 ? length - 3 : length;
    snprintf(s->path_space, sizeof s->path_space, "%.*s.data", (int)stem, page);
  } else if (wanted->output) {
    snprintf(s->path_space, sizeof s->path_space, "%s/validation.data", wanted->output);
  } else {
    return true;
  }
  s->path = s->path_space;
  if (!val_store_load(&s->store, s->path))
    return false;
  if (wanted->resume)
    val_store_drop_broken(&s->store);
  return true;
}

/* First seeds come first, so that an interrupted run has results for all cases. */
static val_job *make_jobs(session *s, size_t *n) {
  val_job *jobs = calloc(val_case_count * VAL_MODELS * VAL_SEEDS_MOST, sizeof *jobs);
  *n = 0;
  for (int seed = 0; jobs && seed < VAL_SEEDS_MOST; ++seed)
    for (size_t i = 0; i < val_case_count; ++i)
      for (int model = 0; model < VAL_MODELS; ++model) {
        const val_case *which = &val_cases[i];
        if (seed >= seeds_of(s->wanted, which) || !is_wanted(s->wanted, which, model))
          continue;
        if (seed == 0) /* of another number of seeds, or of an earlier run */
          val_store_drop(&s->store, which, (val_model)model,
                         s->wanted->resume ? seeds_of(s->wanted, which) : 0);
        if (!val_store_find(&s->store, which, (val_model)model, seed))
          jobs[(*n)++] = (val_job){which, (val_model)model, seed};
      }
  return jobs;
}

/* Combines the kept seeds of every case and model; only of the chosen ones if only_wanted. The
 * caller frees the result. */
static val_run *gather(const session *s, bool only_wanted, size_t *n) {
  val_run *runs = calloc(val_case_count * VAL_MODELS, sizeof *runs);
  *n = 0;
  for (size_t i = 0; runs && i < val_case_count; ++i)
    for (int model = 0; model < VAL_MODELS; ++model)
      if ((!only_wanted || is_wanted(s->wanted, &val_cases[i], model)) &&
          val_store_gather(&s->store, &val_cases[i], (val_model)model, &runs[*n]))
        ++*n;
  return runs;
}

static bool write_all(const session *s) {
  const wishes *wanted = s->wanted;
  bool good = !s->path || val_store_save(&s->store, s->path);
  size_t n;
  val_run *runs = gather(s, false, &n);
  val_plot *plots = val_store_plots(&s->store);
  if (wanted->output) {
    char path[1024];
    snprintf(path, sizeof path, "%s/validation.csv", wanted->output);
    good = val_write_csv(path, runs, n) && val_write_plots(wanted->output, "", plots) && good;
  }
  if (wanted->write)
    good = val_write_document(wanted->write, runs, n, plots) && good;
  val_plots_free(plots);
  free(runs);
  return good;
}

/* A seed has finished: keeps it at once, and shows it if it was the last of its case. */
static void take(void *context, const val_run *run) {
  static val_run together;
  session *s = context;
  const wishes *wanted = s->wanted;
  const int seeds = seeds_of(wanted, run->which);
  const bool fast = run->which->seeds == 0;
  char text[CLI_DURATION_BYTES];
  int there = 0;
  ++s->done;
  if (!val_store_put(&s->store, run)) {
    s->written = false;
    return;
  }
  for (int seed = 0; seed < seeds; ++seed)
    there += val_store_find(&s->store, run->which, run->model, seed) != NULL;
  if (!fast)
    cli_note("%zu of %zu: %s, %s, seed %d of %d: %.1f s of CPU time; %s since the start", s->done,
             s->all, run->which->name, val_model_name(run->model), run->seed_index + 1, seeds,
             run->cpu, cli_duration(now() - s->began, text));
  if (there == seeds && val_store_gather(&s->store, run->which, run->model, &together))
    val_print_run(stdout, &together);
  if (!fast || s->done == s->all)
    s->written = write_all(s) && s->written;
}

static int conclude(const session *s) {
  size_t n;
  val_run *runs = gather(s, true, &n);
  int checks = 0, failures = 0, known = 0, broken = 0, inconclusive = 0;
  double cpu = 0;
  for (size_t i = 0; i < n; ++i) {
    checks += runs[i].count + runs[i].failed;
    failures += val_failures(&runs[i]);
    known += val_known_failures(&runs[i]);
    inconclusive += val_inconclusive(&runs[i]);
    broken += runs[i].failed;
    cpu += runs[i].cpu;
  }
  free(runs);
  printf("%d numbers, %d FAIL (%d of them known), %d inconclusive, %.1f s of CPU time\n", checks,
         failures, known, inconclusive, cpu);
  if (n == 0)
    cli_warning("bench validation: that model does not claim this case; --list says who does");
  const bool good = s->wanted->quick ? broken == 0 : failures == known;
  return good ? CLI_DONE : CLI_FAILED;
}

static int run_all(const wishes *wanted) {
  static session s;
  s = (session){.wanted = wanted, .written = true, .began = now()};
  if (!place_store(&s))
    return CLI_FAILED;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const int side_by_side = wanted->jobs > 0 ? wanted->jobs : cores > 1 ? (int)cores : 1;
  const val_run like = {.quick = wanted->quick, .strictness = wanted->strictness};
  val_job *jobs = make_jobs(&s, &s.all);
  if (!jobs) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  val_print_head(stdout);
  const bool ran = val_run_jobs(jobs, s.all, &like, side_by_side, take, &s);
  if (s.all == 0) /* all were kept already */
    s.written = write_all(&s);
  const int code = conclude(&s);
  free(jobs);
  val_store_free(&s.store);
  return ran && s.written ? code : CLI_FAILED;
}

int bench_validation(int argc, char **argv) {
  wishes wanted = {.strictness = 1};
  const cli_option list[] = {
      {"case", 0, CLI_TEXT, "NAME,...",
       "these cases alone, or families of them: impact, gas, invariance, bond, spring",
       &wanted.only},
      {"list", 0, CLI_FLAG, NULL, "the cases, what they show and where they come from",
       &wanted.list},
      {"model", 0, CLI_TEXT, "NAME",
       "one model alone: ccp, penalty, impulse, apgd, bb, jacobi, elastic, implicit",
       &wanted.model},
      {"slow", 0, CLI_FLAG, NULL,
       "the statistical cases as well: one and a half hours on two cores", &wanted.slow},
      {"seeds", 0, CLI_COUNT, "N", "repetitions of each slow case; 0 (default): its own",
       &wanted.seeds},
      {"jobs", 'j', CLI_COUNT, "N", "cases side by side; 0 (default): as many as cores",
       &wanted.jobs},
      {"resume", 0, CLI_FLAG, NULL, "run only cases without a result: after an interruption",
       &wanted.resume},
      {"quick", 0, CLI_FLAG, NULL, "slow cases with few bodies: only to see that they run",
       &wanted.quick},
      {"tolerance", 0, CLI_NUMBER, "X", "multiply every tolerance (default 1)", &wanted.strictness},
      {"output", 'o', CLI_TEXT, "FOLDER", "validation.csv, and plots as SVG", &wanted.output},
      {"write", 0, CLI_TEXT, "FILE.md",
       "a page of documentation; plots in images/ and results in FILE.data beside it",
       &wanted.write},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench validation [options]",
      .about = "Published and analytic cases: expected value, result, error and pass for each\n"
               "model. Exits with 1 if a number is outside its tolerance for no known reason.\n"
               "Results are kept as they come (FILE.data or FOLDER/validation.data); a case that\n"
               "is run again, with --case and --model, replaces its old result.",
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
