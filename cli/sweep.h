/* talus sweep: what its files share. A sweep is a study of many runs of one scene: its axes say
 * what is varied, its measures what is taken from every run. Runs that differ in their seed alone
 * are a group, one point of the study with an interval. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include <stdio.h>
#include <sys/types.h>

#include "cli.h"
#include "student.h"

#define SWEEP_AXES     16
#define SWEEP_MEASURES 16
#define SWEEP_RUNS     10000
#define SWEEP_REASON   512

typedef struct sweep_axis {
  char *key; /* dotted, as for --set */
  char **values;
  size_t count;
  bool is_seed; /* repeats of one experiment */
} sweep_axis;

typedef enum sweep_how {
  SWEEP_MEAN,
  SWEEP_MIN,
  SWEEP_MAX,
  SWEEP_LAST,
  SWEEP_STD,
  SWEEP_HOWS
} sweep_how;

typedef struct sweep_measure {
  const char *text; /* as given */
  char probe[128];  /* "": a column of history.csv */
  char column[64];
  sweep_how how;
  double from, to; /* s; infinite: open */
} sweep_measure;

typedef enum sweep_state { SWEEP_WAITS, SWEEP_WORKS, SWEEP_DONE, SWEEP_FAILED } sweep_state;

typedef struct sweep_run {
  char *name; /* of its folder within the study's: "friction=0.3,seed=2" */
  size_t group;
  sweep_state state;
  bool was_there; /* finished by an earlier call */
  pid_t child;
  double began;              /* s, of the monotonic clock */
  char reason[SWEEP_REASON]; /* why it failed */
  double values[SWEEP_MEASURES];
} sweep_run;

typedef struct sweep {
  const char *scene, *folder;
  cli_texts settings;
  int jobs, threads;
  bool force, is_dry, is_json, is_quiet;
  sweep_axis axes[SWEEP_AXES];
  size_t axis_count;
  sweep_measure measures[SWEEP_MEASURES];
  size_t measure_count;
  sweep_run *runs;
  size_t run_count, group_count;
  int lock; /* of the study's folder; -1: none */
} sweep;

/* ---- axes and runs (sweep_vary.c): exit codes, after a message unless CLI_DONE --------------- */

int sweep_add_axis(sweep *study, const char *text);
/* All combinations; the axis that was given last changes fastest. */
int sweep_make_runs(sweep *study);
/* Which value of an axis a run has. */
size_t sweep_choice(const sweep *study, size_t run, size_t axis);
/* A run of the group, for what all runs of it share. */
size_t sweep_first_of(const sweep *study, size_t group);
void sweep_free(sweep *study);

/* ---- measures (sweep_measure.c) -------------------------------------------------------------- */

int sweep_add_measure(sweep *study, const char *text, const talus_scene *scene);
/* Whether the files of a run that has begun have the columns: CLI_DONE, CLI_INPUT after a message,
 * or CLI_FAILED, silently: they are not there yet. */
int sweep_check_columns(const sweep *study, const sweep_run *run);
/* All measures of a finished run; one that cannot be taken makes it a failed one. */
void sweep_measure_run(const sweep *study, sweep_run *run);

/* ---- the folder (sweep_folder.c) ------------------------------------------------------------- */

/* Makes and locks it; refuses one of another study. `base` is the scene that is varied. */
int sweep_open_folder(sweep *study, const talus_scene *base);
/* Path of a thing in it, cut where it is too long: name, then what follows it. */
void sweep_path(const sweep *study, const char *name, const char *suffix, char *path, size_t size);
/* Finds runs that an earlier call finished. */
void sweep_find_finished(sweep *study);
/* Why a run failed, from what it printed. */
void sweep_read_reason(const sweep *study, sweep_run *run);

/* How scene.yaml of a study begins. */
#define SWEEP_SCENE_HEAD "# The scene of this study as talus "

/* Exit code, after a message unless CLI_DONE: whether all that the study would replace is its own
 * (sweep_own.c); `scene`: scene.yaml too. */
int sweep_prove(const sweep *study, bool scene);
/* Whether a file is the log of a run, or empty, or not there. */
bool sweep_is_log(const char *path);

/* ---- child processes (sweep_jobs.c) ---------------------------------------------------------- */

/* Runs what is not finished. CLI_DONE, CLI_FAILED where a run failed, CLI_INTERRUPTED, CLI_INPUT
 * where a measure asks for a column that is not there. */
int sweep_work(sweep *study);

/* ---- results --------------------------------------------------------------------------------- */

/* What a group's runs say of a measure (sweep_table.c). */
student_mean sweep_group_mean(const sweep *study, size_t group, size_t measure);
/* Runs of a group in that state. */
size_t sweep_group_count(const sweep *study, size_t group, sweep_state state);
/* table.csv and runs.csv. */
int sweep_write_tables(const sweep *study);
void sweep_print_json(const sweep *study, FILE *to);
/* A picture for each measure (sweep_plot.c). */
int sweep_draw(const sweep *study);

#endif
