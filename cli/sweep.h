/* talus sweep: shared by its files. A sweep is a study of many runs of one scene: axes say what is
 * varied, measures what is taken from every run. Runs that differ only in their seed are a group,
 * which is one point of the study with an interval. */
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
  bool was_there; /* an earlier call finished it */
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
  int lock; /* on the study's folder; -1: none */
} sweep;

/* ---- axes and runs (sweep_vary.c): exit codes, after a message unless CLI_DONE --------------- */

int sweep_add_axis(sweep *study, const char *text);
/* Makes all combinations; the last axis changes fastest. */
int sweep_make_runs(sweep *study);
/* Index of the value of an axis in a run. */
size_t sweep_choice(const sweep *study, size_t run, size_t axis);
/* Index of a run of the group, for data common to its runs. */
size_t sweep_first_of(const sweep *study, size_t group);
void sweep_free(sweep *study);

/* ---- measures (sweep_measure.c) -------------------------------------------------------------- */

int sweep_add_measure(sweep *study, const char *text, const talus_scene *scene);
/* Checks whether the files of a run in progress have the columns: CLI_DONE, CLI_INPUT after a
 * message, or CLI_FAILED without a message: not there yet. */
int sweep_check_columns(const sweep *study, const sweep_run *run);
/* Takes all measures of a finished run; if one fails, the run counts as failed. */
void sweep_measure_run(const sweep *study, sweep_run *run);

/* ---- the folder (sweep_folder.c) ------------------------------------------------------------- */

/* Makes and locks the folder; refuses the folder of another study. base: the scene that is
 * varied. */
int sweep_open_folder(sweep *study, const talus_scene *base);
/* Path in the folder, truncated if too long: name, then suffix. */
void sweep_path(const sweep *study, const char *name, const char *suffix, char *path, size_t size);
/* Finds runs that an earlier call finished. */
void sweep_find_finished(sweep *study);
/* Finds the reason why a run failed in its log. */
void sweep_read_reason(const sweep *study, sweep_run *run);

/* How scene.yaml of a study begins. */
#define SWEEP_SCENE_HEAD "# The scene of this study as talus "

/* Exit code, after a message unless CLI_DONE: whether all that the study would replace is its own
 * (sweep_own.c); `scene`: scene.yaml too. */
int sweep_prove(const sweep *study, bool scene);
/* Whether a file is the log of a run, or empty, or not there. */
bool sweep_is_log(const char *path);
/* True for a scene.yaml.part that a sweep began and did not finish, because it was killed. */
bool sweep_is_begun_scene(const char *path);

/* ---- child processes (sweep_jobs.c) ---------------------------------------------------------- */

/* Runs everything that is not finished. CLI_DONE; CLI_FAILED if a run failed; CLI_INTERRUPTED;
 * CLI_INPUT if a measure needs a column that does not exist. */
int sweep_work(sweep *study);

/* ---- results --------------------------------------------------------------------------------- */

/* Mean and interval of a measure over a group's runs (sweep_table.c). */
student_mean sweep_group_mean(const sweep *study, size_t group, size_t measure);
/* Number of runs of a group in that state. */
size_t sweep_group_count(const sweep *study, size_t group, sweep_state state);
/* Writes table.csv and runs.csv. */
int sweep_write_tables(const sweep *study);
void sweep_print_json(const sweep *study, FILE *to);
/* Draws a picture for each measure (sweep_plot.c). */
int sweep_draw(const sweep *study);

#endif
