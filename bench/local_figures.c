/* Tables and drawings of `talus bench local`: time and steps of bodies against size, lengths of
 * steps and those computed in vain, phases, clusters, threads; the kinds of figures of Noble's
 * thesis, section 4.8 (4.7 to 4.26), for each of its setups. */
#include "local.h"

#include <math.h>
#include <string.h>

#include "plot.h"
#include "tools.h"

const char *const local_kind_names[] = {"fixed", "adaptive", "local"};
const char *const local_phase_names[] = {"broad", "narrow", "solve", "move", "rest"};

/* ---- tables ---------------------------------------------------------------------------------- */

bool local_tables_open(const char *folder, local_tables *tables) {
  *tables = (local_tables){0};
  return bench_csv_open(
             folder, "local",
             "setup,bodies,body_steps_adaptive,body_steps_local,seconds_adaptive,"
             "seconds_local,most_members,most_contacts,rollbacks,rendezvous,window,held,clusters,"
             "rounds,dt_fixed,overlap_fixed,body_steps_fixed,seconds_fixed",
             &tables->sizes) &&
         bench_csv_open(folder, "local-lengths",
                        "setup,bodies,step,length,steps,body_steps,dropped", &tables->lengths) &&
         bench_csv_open(folder, "local-phases", "setup,bodies,step,broad,narrow,solve,move,rest",
                        &tables->phases) &&
         bench_csv_open(folder, "local-threads", "setup,bodies,threads,wall", &tables->threads);
}

bool local_tables_close(local_tables *tables) {
  const bool good[] = {bench_csv_close(tables->sizes), bench_csv_close(tables->lengths),
                       bench_csv_close(tables->phases), bench_csv_close(tables->threads)};
  return good[0] && good[1] && good[2] && good[3];
}

static void add_kind(const local_tables *tables, const local_figures *f, int i, local_kind kind) {
  const local_outcome *o = &f->of[i][kind];
  if (!(o->body_steps > 0))
    return;
  for (int k = 0; k < TL_LENGTHS; ++k)
    if (o->steps[k] > 0 || o->dropped[k] > 0)
      fprintf(tables->lengths, "%s,%d,%s,%.6g,%llu,%llu,%llu\n", f->name, f->bodies[i],
              local_kind_names[kind], ldexp(f->max, -k), (unsigned long long)o->steps[k],
              (unsigned long long)o->lengths[k], (unsigned long long)o->dropped[k]);
  fprintf(tables->phases, "%s,%d,%s", f->name, f->bodies[i], local_kind_names[kind]);
  for (int k = 0; k < LOCAL_PHASES; ++k)
    fprintf(tables->phases, ",%.6f", o->phase[k]);
  fputc('\n', tables->phases);
}

bool local_tables_add(const local_tables *tables, const local_figures *f) {
  if (!tables->sizes)
    return true;
  for (int i = 0; i < f->count; ++i) {
    const local_outcome *x = &f->of[i][LOCAL_FIXED], *a = &f->of[i][LOCAL_ADAPTIVE],
                        *l = &f->of[i][LOCAL_LOCAL];
    fprintf(tables->sizes, "%s,%d,%.0f,%.0f,%.6f,%.6f,%zu,%zu,%llu,%llu,%.6g,%.6g,%llu,%llu",
            f->name, f->bodies[i], a->body_steps, l->body_steps, a->seconds, l->seconds, l->most,
            l->contacts, (unsigned long long)l->rollbacks, (unsigned long long)l->rendezvous,
            l->window, l->held, (unsigned long long)l->clusters, (unsigned long long)l->rounds);
    fprintf(tables->sizes, ",%.6g,%.6g,%.0f,%.6f\n", x->dt, x->overlap, x->body_steps, x->seconds);
    for (int kind = 0; kind < LOCAL_KINDS; ++kind)
      add_kind(tables, f, i, (local_kind)kind);
  }
  for (int k = 0; k < f->threads; ++k)
    fprintf(tables->threads, "%s,%d,%d,%.6f\n", f->name, f->bodies[f->count - 1], 1 << k,
            f->wall[k]);
  return true;
}

/* ---- drawings -------------------------------------------------------------------------------- */

enum { POINTS = 2 * TL_LENGTHS };

typedef struct drawing {
  plot plot;
  char title[128];
  double x[POINTS], y[PLOT_SERIES_MOST][POINTS];
} drawing;

static double *add_series(drawing *d, const char *name) {
  double *y = d->y[d->plot.count];
  d->plot.series[d->plot.count++] = (plot_series){.name = name, .y = y};
  return y;
}

static void begin(drawing *d, const local_figures *f, const char *what, const char *x_label,
                  const char *y_label, bool is_log) {
  memset(d, 0, sizeof *d);
  snprintf(d->title, sizeof d->title, "%s: %s", f->name, what);
  d->plot = (plot){
      .title = d->title, .x_label = x_label, .y_label = y_label, .is_log = is_log, .x = d->x};
}

static bool end(const char *folder, const local_figures *f, const char *what, const drawing *d) {
  char path[4096];
  const int n = snprintf(path, sizeof path, "%s/%s-%s.svg", folder, f->name, what);
  if (n <= 0 || (size_t)n >= sizeof path) {
    cli_error("bench local: the name of the folder is too long");
    return false;
  }
  return plot_svg(&d->plot, path) == CLI_DONE;
}

/* By number of contacts, and of bodies, the mean of each class. */
bool local_draw_costs(const char *folder, const char *name, int bodies,
                      const local_cost *by_contacts, const local_cost *by_bodies) {
  static drawing d;
  const local_figures f = {.name = name, .count = 1, .bodies = {bodies}};
  begin(&d, &f, "cost of a step by size", "log2 of the number (none: -1)", "time of a step [us]",
        true);
  double *contacts = add_series(&d, "by contacts"), *members = add_series(&d, "by bodies");
  for (int k = 0; k < LOCAL_SIZE_CLASSES; ++k) {
    const local_cost *c = &by_contacts[k], *b = &by_bodies[k];
    if (c->steps == 0 && b->steps == 0)
      continue;
    const size_t at = d.plot.rows++;
    d.x[at] = k - 1;
    contacts[at] = c->steps > 0 ? 1e6 * c->seconds / (double)c->steps : NAN;
    members[at] = b->steps > 0 ? 1e6 * b->seconds / (double)b->steps : NAN;
  }
  return end(folder, &f, "costs", &d);
}

static void put_sizes(drawing *d, const local_figures *f) {
  d->plot.rows = (size_t)f->count;
  for (int i = 0; i < f->count; ++i)
    d->x[i] = f->bodies[i];
}

static bool draw_sizes(const char *folder, const local_figures *f, drawing *d, bool is_time) {
  begin(d, f, is_time ? "processor time" : "steps of bodies", "bodies",
        is_time ? "processor time [s]" : "steps of bodies", true);
  put_sizes(d, f);
  for (int kind = 0; kind < LOCAL_KINDS; ++kind) {
    double *y = add_series(d, local_kind_names[kind]);
    for (int i = 0; i < f->count; ++i) {
      const local_outcome *o = &f->of[i][kind];
      y[i] = !(o->body_steps > 0) ? NAN : is_time ? o->seconds : o->body_steps;
    }
  }
  return end(folder, f, is_time ? "time" : "body-steps", d);
}

/* Each class is a horizontal line, half a power of two to either side. The shortest steps come
 * first. */
static bool draw_lengths(const char *folder, const local_figures *f, drawing *d) {
  const local_outcome *a = &f->of[f->count - 1][LOCAL_ADAPTIVE],
                      *l = &f->of[f->count - 1][LOCAL_LOCAL];
  int last = 0;
  for (int k = 0; k < TL_LENGTHS; ++k)
    if (a->steps[k] > 0 || l->steps[k] > 0 || l->dropped[k] > 0)
      last = k;
  begin(d, f, "lengths of steps at the largest size", "log10 of the length of the step [s]",
        "steps of that length", true);
  d->plot.rows = 2 * ((size_t)last + 1);
  double *bodies[] = {add_series(d, "adaptive: bodies"), add_series(d, "local: bodies"),
                      add_series(d, "local: clusters"), add_series(d, "local: in vain")};
  for (int k = 0; k <= last; ++k)
    for (int side = 0; side < 2; ++side) {
      const int at = 2 * (last - k) + side;
      d->x[at] = log10(ldexp(f->max, -k)) + (side == 0 ? -0.5 : 0.5) * log10(2);
      bodies[0][at] = (double)a->lengths[k], bodies[1][at] = (double)l->lengths[k];
      bodies[2][at] = (double)l->steps[k], bodies[3][at] = (double)l->dropped[k];
    }
  return end(folder, f, "lengths", d);
}

static bool draw_phases(const char *folder, const local_figures *f, drawing *d) {
  begin(d, f, "phases with local time", "bodies", "time of all steps [s]", true);
  put_sizes(d, f);
  for (int k = 0; k < LOCAL_PHASES; ++k) {
    double *y = add_series(d, local_phase_names[k]);
    for (int i = 0; i < f->count; ++i)
      y[i] = f->of[i][LOCAL_LOCAL].phase[k];
  }
  return end(folder, f, "phases", d);
}

static bool draw_clusters(const char *folder, const local_figures *f, drawing *d) {
  begin(d, f, "clusters and what was in vain", "bodies", "number", true);
  put_sizes(d, f);
  double *mean = add_series(d, "clusters a round"), *most = add_series(d, "most in one"),
         *vain = add_series(d, "steps in vain"), *meetings = add_series(d, "rendezvous");
  for (int i = 0; i < f->count; ++i) {
    const local_outcome *l = &f->of[i][LOCAL_LOCAL];
    mean[i] = l->rounds > 0 ? (double)l->clusters / (double)l->rounds : NAN;
    most[i] = (double)l->most;
    vain[i] = (double)l->rollbacks, meetings[i] = (double)l->rendezvous;
  }
  return end(folder, f, "clusters", d);
}

static bool draw_threads(const char *folder, const local_figures *f, drawing *d) {
  if (f->threads < 2)
    return true;
  begin(d, f, "threads, at the largest size", "threads", "wall time [s]", false);
  d->plot.rows = (size_t)f->threads;
  double *y = add_series(d, "local"), *ideal = add_series(d, "one thread, divided");
  for (int k = 0; k < f->threads; ++k) {
    d->x[k] = 1 << k;
    y[k] = f->wall[k], ideal[k] = f->wall[0] / (1 << k);
  }
  return end(folder, f, "threads", d);
}

bool local_draw(const char *folder, const local_figures *f) {
  static drawing d;
  return draw_sizes(folder, f, &d, true) && draw_sizes(folder, f, &d, false) &&
         draw_lengths(folder, f, &d) && draw_phases(folder, f, &d) &&
         draw_clusters(folder, f, &d) && draw_threads(folder, f, &d);
}
