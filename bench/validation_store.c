/* Results of talus bench validation that are kept: a file of lines, fields separated by tabs.
 *
 *   talus-validation 1 double
 *   run    CASE MODEL SEED CPU FAILED MESSAGE
 *   check  QUANTITY UNIT near|range EXPECTED TOLERANCE GOT KNOWN      of the run before it
 *   curve  PLOT TITLE X_LABEL Y_LABEL SERIES ROWS x y x y ...
 *   end
 *
 * Numbers have all their digits, so that a page made from the file is the one made from the runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "tools.h"
#include "student.h"
#include "validation.h"

#if TALUS_SINGLE
#define HEAD "talus-validation 1 single"
#else
#define HEAD "talus-validation 1 double"
#endif
#define FIELDS 16 /* the last one holds the rest of the line */

/* ---- writing --------------------------------------------------------------------------------- */

/* A message has one line; tabs separate fields. */
static void put_text(FILE *to, const char *text) {
  fputc('\t', to);
  for (; *text; ++text)
    fputc(*text == '\t' || *text == '\n' ? ' ' : *text, to);
}

void val_write_run(FILE *to, const val_run *run) {
  fprintf(to, "run\t%s\t%s\t%d\t%.6g\t%d", run->which->name, val_model_name(run->model),
          run->seed_index, run->cpu, run->failed);
  put_text(to, run->message);
  fputc('\n', to);
  for (int i = 0; i < run->count; ++i) {
    const val_check *check = &run->checks[i];
    fputs("check", to);
    put_text(to, check->quantity);
    put_text(to, check->unit);
    fprintf(to, "\t%s\t%.17g\t%.17g\t%.17g", check->is_range ? "range" : "near", check->expected,
            check->tolerance, check->got[0]);
    put_text(to, check->known);
    fputc('\n', to);
  }
  for (const val_plot *p = run->plots; p; p = p->next)
    for (int k = 0; k < p->count; ++k) {
      const char *texts[] = {p->name, p->title, p->x_label, p->y_label, p->series[k]};
      fputs("curve", to);
      for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        put_text(to, texts[i]);
      fprintf(to, "\t%zu\t", p->rows);
      for (size_t i = 0; i < p->rows; ++i)
        fprintf(to, "%s%.9g %.9g", i ? " " : "", p->x[i], p->y[k][i]);
      fputc('\n', to);
    }
  fputs("end\n", to);
}

bool val_store_save(const val_store *store, const char *path) {
  FILE *file = bench_open(path);
  if (!file)
    return false;
  fprintf(file, "%s\n", HEAD);
  for (size_t i = 0; i < store->count; ++i)
    val_write_run(file, &store->runs[i]);
  return bench_close(file);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int split(char *line, char *fields[FIELDS]) {
  int n = 0;
  line[strcspn(line, "\n")] = '\0';
  fields[n++] = line;
  for (char *at = line; n < FIELDS && (at = strchr(at, '\t')) != NULL; ++n) {
    *at++ = '\0';
    fields[n] = at;
  }
  return n;
}

static bool read_head(char *const *fields, int n, val_run *run) {
  if (n < 7)
    return false;
  *run = (val_run){.seed_index = atoi(fields[3]),
                   .cpu = strtod(fields[4], NULL),
                   .failed = atoi(fields[5]) != 0,
                   .model = VAL_MODELS,
                   .strictness = 1};
  run->seed = (uint64_t)run->seed_index + 1;
  snprintf(run->message, sizeof run->message, "%s", fields[6]);
  for (size_t i = 0; i < val_case_count; ++i)
    if (strcmp(val_cases[i].name, fields[1]) == 0)
      run->which = &val_cases[i];
  for (int i = 0; i < VAL_MODELS; ++i)
    if (strcmp(val_model_name((val_model)i), fields[2]) == 0)
      run->model = (val_model)i;
  return run->model != VAL_MODELS && run->seed_index >= 0 && run->seed_index < VAL_SEEDS_MOST;
}

static bool read_check(char *const *fields, int n, val_run *run) {
  if (n < 8 || run->count >= VAL_CHECKS)
    return false;
  val_check *check = &run->checks[run->count++];
  *check = (val_check){.is_range = strcmp(fields[3], "range") == 0,
                       .expected = strtod(fields[4], NULL),
                       .tolerance = strtod(fields[5], NULL),
                       .got = {strtod(fields[6], NULL)},
                       .seeds = 1};
  snprintf(check->quantity, sizeof check->quantity, "%s", fields[1]);
  snprintf(check->unit, sizeof check->unit, "%s", fields[2]);
  snprintf(check->known, sizeof check->known, "%s", fields[7]);
  check->low = check->expected - check->tolerance;
  check->high = check->expected + check->tolerance;
  return true;
}

static bool read_curve(char *const *fields, int n, val_run *run) {
  const long rows = n < 8 ? 0 : atol(fields[6]);
  if (rows < 1 || rows > 1000000)
    return false;
  double *x = malloc(2 * (size_t)rows * sizeof *x), *y = x ? x + rows : NULL;
  char *at = fields[7], *end = at;
  bool good = x != NULL;
  for (long i = 0; good && i < rows; ++i) {
    x[i] = strtod(at, &end);
    y[i] = strtod(end, &at);
    good = at != end;
  }
  good = good && val_plots_add(&run->plots, fields[1], fields[2], fields[3], fields[4], fields[5],
                               x, y, (size_t)rows);
  free(x);
  return good;
}

bool val_read_run(FILE *from, val_run *run) {
  char *line = NULL, *fields[FIELDS];
  size_t space = 0;
  bool begun = false, ended = false, good = true;
  while (good && !ended && getline(&line, &space, from) > 0) {
    const int n = split(line, fields);
    if (!begun)
      begun = good = strcmp(fields[0], "run") == 0 && read_head(fields, n, run);
    else if (strcmp(fields[0], "check") == 0)
      good = read_check(fields, n, run);
    else if (strcmp(fields[0], "curve") == 0)
      good = read_curve(fields, n, run);
    else
      ended = good = strcmp(fields[0], "end") == 0;
  }
  free(line);
  if (begun && !ended) {
    val_plots_free(run->plots);
    run->plots = NULL;
  }
  return ended;
}

bool val_store_load(val_store *store, const char *path) {
  char head[64] = "";
  *store = (val_store){0};
  FILE *file = fopen(path, "r");
  if (!file)
    return true;
  bool good = fgets(head, sizeof head, file) && strcmp(head, HEAD "\n") == 0;
  val_run run;
  while (good && val_read_run(file, &run)) {
    if (run.which) /* results of a case that does not exist any more are dropped */
      good = val_store_put(store, &run);
    else
      val_plots_free(run.plots);
  }
  good = good && feof(file);
  fclose(file);
  if (!good) {
    cli_error("%s: not results of this program ('%s'); remove it, or write elsewhere", path, HEAD);
    val_store_free(store);
  }
  return good;
}

/* ---- keeping --------------------------------------------------------------------------------- */

void val_store_free(val_store *store) {
  for (size_t i = 0; i < store->count; ++i)
    val_plots_free(store->runs[i].plots);
  free(store->runs);
  *store = (val_store){0};
}

static val_run *find(const val_store *store, const val_case *which, val_model model, int seed) {
  for (size_t i = 0; i < store->count; ++i)
    if (store->runs[i].which == which && store->runs[i].model == model &&
        store->runs[i].seed_index == seed)
      return &store->runs[i];
  return NULL;
}

const val_run *val_store_find(const val_store *store, const val_case *which, val_model model,
                              int seed_index) {
  return find(store, which, model, seed_index);
}

bool val_store_put(val_store *store, const val_run *run) {
  val_run *old = find(store, run->which, run->model, run->seed_index);
  if (old) {
    val_plots_free(old->plots);
    *old = *run;
    return true;
  }
  if (store->count == store->space) {
    const size_t space = 2 * store->space + 16;
    val_run *grown = realloc(store->runs, space * sizeof *grown);
    if (!grown) {
      cli_error("out of memory");
      return false;
    }
    store->runs = grown, store->space = space;
  }
  /* in the order of the table, so that the file does not depend on who was first */
  size_t at = store->count++;
  for (; at > 0; --at) {
    const val_run *before = &store->runs[at - 1];
    if (before->which < run->which ||
        (before->which == run->which &&
         (before->model < run->model ||
          (before->model == run->model && before->seed_index < run->seed_index))))
      break;
    store->runs[at] = *before;
  }
  store->runs[at] = *run;
  return true;
}

/* Keeps those for which the answer is false, in their order. */
typedef bool is_dropped_fn(const val_run *run, const val_run *like);

static void drop(val_store *store, is_dropped_fn *is_dropped, const val_run *like) {
  size_t left = 0;
  for (size_t i = 0; i < store->count; ++i) {
    if (is_dropped(&store->runs[i], like))
      val_plots_free(store->runs[i].plots);
    else
      store->runs[left++] = store->runs[i];
  }
  store->count = left;
}

static bool is_later(const val_run *run, const val_run *like) {
  return run->which == like->which && run->model == like->model &&
         run->seed_index >= like->seed_index;
}

static bool is_broken(const val_run *run, const val_run *like) {
  (void)like;
  return run->failed;
}

void val_store_drop(val_store *store, const val_case *which, val_model model, int from) {
  drop(store, is_later, &(val_run){.which = which, .model = model, .seed_index = from});
}

void val_store_drop_broken(val_store *store) { drop(store, is_broken, NULL); }

/* ---- putting together ------------------------------------------------------------------------ */

/* What is expected may depend on the seed (a fit): the mean is compared with the mean. */
static void join_check(val_check *to, const val_check *one) {
  const double share = 1.0 / (to->seeds + 1);
  to->expected += share * (one->expected - to->expected);
  to->tolerance += share * (one->tolerance - to->tolerance);
  to->low = to->expected - to->tolerance;
  to->high = to->expected + to->tolerance;
  to->got[to->seeds++] = one->got[0];
  if (!*to->known) /* of the seed that has one: others may have passed */
    memcpy(to->known, one->known, sizeof to->known);
}

static void join(val_run *to, const val_run *one) {
  for (int i = 0; i < one->count; ++i) {
    int at = 0;
    while (at < to->count && strcmp(to->checks[at].quantity, one->checks[i].quantity) != 0)
      ++at;
    if (at < to->count)
      join_check(&to->checks[at], &one->checks[i]);
    else if (to->count < VAL_CHECKS)
      to->checks[to->count++] = one->checks[i];
  }
  to->cpu += one->cpu;
  if (one->failed)
    to->failed = true;
  if (*one->message && !*to->message)
    snprintf(to->message, sizeof to->message, "%s", one->message);
}

bool val_store_gather(const val_store *store, const val_case *which, val_model model, val_run *to) {
  bool any = false;
  *to = (val_run){.which = which, .model = model};
  for (size_t i = 0; i < store->count; ++i)
    if (store->runs[i].which == which && store->runs[i].model == model) {
      join(to, &store->runs[i]);
      any = true;
    }
  return any;
}

/* The series of that name of the same plot of another seed, over the same x; NULL: it has none. */
static const double *same_series(const val_run *run, const val_plot *plot, const char *series) {
  for (const val_plot *p = run->plots; p; p = p->next)
    if (strcmp(p->name, plot->name) == 0 && p->rows == plot->rows &&
        memcmp(p->x, plot->x, p->rows * sizeof *p->x) == 0)
      for (int k = 0; k < p->count; ++k)
        if (strcmp(p->series[k], series) == 0)
          return p->y[k];
  return NULL;
}

/* Mean and half interval over all seeds that have the series at the same x (what is over a fitted
 * or measured x is drawn of the first seed alone). */
static void mean_series(const val_store *store, const val_run *of, const val_plot *plot, int k,
                        double *mean, double *half) {
  for (size_t row = 0; row < plot->rows; ++row) {
    double values[VAL_SEEDS_MOST];
    size_t n = 0;
    for (size_t i = 0; i < store->count && n < VAL_SEEDS_MOST; ++i) {
      const val_run *run = &store->runs[i];
      const double *y = run->which == of->which && run->model == of->model
                            ? same_series(run, plot, plot->series[k])
                            : NULL;
      if (y)
        values[n++] = y[row];
    }
    const student_mean found = student_of(values, n);
    mean[row] = found.mean;
    half[row] = found.half;
  }
}

/* Bars belong to the few points of a plot with marks; a dense curve would drown in them. The first
 * of a name is the one that was drawn. */
static void keep_half(val_plot *all, const val_plot *of, int k, const double *half) {
  while (all && strcmp(all->name, of->name) != 0)
    all = all->next;
  for (int i = 0; all && i < all->count && of->rows <= VAL_ROWS_MARKED; ++i) {
    if (strcmp(all->series[i], of->series[k]) != 0 || all->error[i])
      continue;
    all->error[i] = malloc(of->rows * sizeof *half);
    if (all->error[i])
      memcpy(all->error[i], half, of->rows * sizeof *half);
  }
}

val_plot *val_store_plots(const val_store *store) {
  val_plot *all = NULL;
  for (size_t i = 0; i < store->count; ++i)
    for (const val_plot *p = store->runs[i].plots; p; p = p->next) {
      double *mean = malloc(2 * (p->rows + 1) * sizeof *mean), *half = mean + p->rows;
      for (int k = 0; mean && k < p->count; ++k) {
        mean_series(store, &store->runs[i], p, k, mean, half);
        if (val_plots_add(&all, p->name, p->title, p->x_label, p->y_label, p->series[k], p->x, mean,
                          p->rows))
          keep_half(all, p, k, half);
      }
      free(mean);
    }
  return all;
}
