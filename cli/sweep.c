/* talus sweep: runs a scene many times and writes one table of measured values. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- before anything runs -------------------------------------------------------------------- */

/* Checks the scene with each single value, so that a wrong key or value is reported before any
 * run. */
static int check_values(const sweep *study) {
  const size_t n = study->settings.count;
  cli_texts settings = {calloc(n + 1, sizeof *settings.data), n + 1};
  int code = settings.data ? CLI_DONE : CLI_FAILED;
  if (!settings.data)
    cli_error("out of memory");
  for (size_t i = 0; settings.data && i < n; ++i)
    settings.data[i] = study->settings.data[i];
  for (size_t k = 0; k < study->axis_count; ++k)
    for (size_t i = 0; i < study->axes[k].count && code == CLI_DONE; ++i) {
      const sweep_axis *axis = &study->axes[k];
      const size_t room = strlen(axis->key) + strlen(axis->values[i]) + 2;
      char *text = malloc(room);
      talus_scene *scene = NULL;
      if (!text) {
        cli_error("out of memory");
        code = CLI_FAILED;
        continue;
      }
      snprintf(text, room, "%s=%s", axis->key, axis->values[i]);
      settings.data[n] = text;
      code = cli_load_scene(study->scene, &settings, &scene);
      talus_scene_free(scene);
      free(text);
    }
  free(settings.data);
  return code;
}

static int set_jobs(sweep *study) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (study->jobs == 0) {
    cli_error("sweep: option '--jobs': at least one run has to go at a time");
    return CLI_INPUT;
  }
  if (study->jobs > 4096 || study->threads > 4096) {
    cli_error("sweep: more than 4096 %s", study->jobs > 4096 ? "jobs" : "threads");
    return CLI_INPUT;
  }
  if (study->jobs < 0) /* not given */
    study->jobs = cores > 0 && cores < 4096 ? (int)cores : 1;
  if (study->threads < 0)
    study->threads = cores > study->jobs ? (int)(cores / study->jobs) : 1;
  return CLI_DONE;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void print_plan(const sweep *study) {
  size_t finished = 0;
  for (size_t i = 0; i < study->run_count; ++i)
    finished += study->runs[i].state == SWEEP_DONE;
  printf("%zu runs, %zu finished already; %d at a time, %d thread%s each; into %s\n",
         study->run_count, finished, study->jobs, study->threads, study->threads == 1 ? "" : "s",
         cli_shown(study->folder));
  for (size_t i = 0; i < study->run_count; ++i)
    printf("  %s%s\n", cli_shown(study->runs[i].name),
           study->runs[i].state == SWEEP_DONE ? "  (finished)" : "");
}

static void print_table(const sweep *study) {
  for (size_t g = 0; g < study->group_count; ++g) {
    const size_t run = sweep_first_of(study, g);
    for (size_t k = 0; k < study->axis_count; ++k)
      if (!study->axes[k].is_seed)
        printf("%s %s  ", cli_shown(study->axes[k].key),
               cli_shown(study->axes[k].values[sweep_choice(study, run, k)]));
    printf("runs %zu", sweep_group_count(study, g, SWEEP_DONE));
    if (sweep_group_count(study, g, SWEEP_FAILED) > 0)
      printf("  failed %zu", sweep_group_count(study, g, SWEEP_FAILED));
    for (size_t k = 0; k < study->measure_count; ++k) {
      const student_mean found = sweep_group_mean(study, g, k);
      printf("  %s: %.6g", cli_shown(study->measures[k].text), found.mean);
      if (!isnan(found.half))
        printf(" +- %.2g", found.half);
    }
    putchar('\n');
  }
}

static void say_end(const sweep *study, int code) {
  char path[4096];
  size_t left = 0, failed = 0;
  for (size_t i = 0; i < study->run_count; ++i) {
    left += study->runs[i].state == SWEEP_WAITS;
    failed += study->runs[i].state == SWEEP_FAILED;
  }
  sweep_path(study, "table.csv", "", path, sizeof path);
  if (code == CLI_INTERRUPTED)
    cli_note("stopped; %zu of %zu runs are left. The same command goes on with them", left,
             study->run_count);
  if (failed > 0)
    cli_error("%zu of %zu runs failed; %s says why, and the same command tries them again", failed,
              study->run_count, path);
  if (!study->is_quiet)
    cli_note("see %s", path);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int work_through(sweep *study, const talus_scene *base) {
  int code = study->is_dry ? CLI_DONE : sweep_open_folder(study, base);
  if (code != CLI_DONE)
    return code;
  sweep_find_finished(study);
  if (study->is_dry) {
    if (study->is_json)
      sweep_print_json(study, stdout);
    else
      print_plan(study);
    return CLI_DONE;
  }
  code = sweep_work(study);
  if (code == CLI_INPUT)
    return code;
  int written = sweep_write_tables(study);
  if (written == CLI_DONE)
    written = sweep_draw(study);
  if (study->is_json)
    sweep_print_json(study, stdout);
  else
    print_table(study);
  say_end(study, code);
  return code != CLI_DONE ? code : written;
}

static int prepare(sweep *study, const cli_texts *vary, const cli_texts *measures) {
  talus_scene *base = NULL;
  int code = set_jobs(study);
  if (code == CLI_DONE && vary->count == 0) {
    cli_error("sweep: nothing is varied: --vary key=a,b,c is missing");
    code = CLI_INPUT;
  }
  if (code == CLI_DONE && !study->folder) {
    cli_error("sweep: where results go is missing: -o DIR");
    code = CLI_INPUT;
  }
  if (code == CLI_DONE)
    code = cli_load_scene(study->scene, &study->settings, &base);
  for (size_t i = 0; i < vary->count && code == CLI_DONE; ++i)
    code = sweep_add_axis(study, vary->data[i]);
  for (size_t i = 0; i < measures->count && code == CLI_DONE; ++i)
    code = sweep_add_measure(study, measures->data[i], base);
  if (code == CLI_DONE)
    code = check_values(study);
  if (code == CLI_DONE)
    code = sweep_make_runs(study);
  if (code == CLI_DONE)
    code = work_through(study, base);
  talus_scene_free(base);
  return code;
}

static int sweep_with(sweep *study, cli_texts *vary, cli_texts *measures, int argc, char **argv) {
  const cli_option table[] = {
      {"vary", 0, CLI_TEXTS, "KEY=A,B,C", "values of a key of the scene, or FIRST:LAST[:STEP]",
       vary},
      {"measure", 0, CLI_TEXTS, "WHAT", "'PROBE.COLUMN mean T0:T1'; may be repeated", measures},
      {"output", 'o', CLI_TEXT, "DIR", "the folder of the study", &study->folder},
      {"set", 0, CLI_TEXTS, "KEY=VALUE", "change the scene for all runs; may be repeated",
       &study->settings},
      {"jobs", 'j', CLI_COUNT, "N", "runs at a time (default: as many as there are cores)",
       &study->jobs},
      {"threads", 0, CLI_COUNT, "N", "threads of each run (default: cores / jobs)",
       &study->threads},
      {"force", 0, CLI_FLAG, NULL, "begin anew, finished runs too", &study->force},
      {"dry-run", 0, CLI_FLAG, NULL, "only list the runs", &study->is_dry},
      {"json", 0, CLI_FLAG, NULL, "print the table as JSON", &study->is_json},
      {"quiet", 'q', CLI_FLAG, NULL, "no progress", &study->is_quiet},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus sweep SCENE --vary KEY=A,B,C [--vary seed=1:5] [--measure WHAT] -o DIR",
      .about = "Runs a scene with every combination of the given values, each run in a folder of\n"
               "its own in DIR, and puts what was measured in one table.",
      .options = table,
      .more = "Runs that differ in their seed alone are one line of DIR/table.csv: their mean\n"
              "and half of its 95 % interval (Student's t). DIR/runs.csv has a line for every\n"
              "run, DIR/plot.svg the means over the first key that is varied. The key `seed`\n"
              "changes the random numbers of every fill and emitter.\n"
              "\n"
              "WHAT is a column of a probe (outlet.mass_flow_z) or of history.csv\n"
              "(kinetic_energy), then mean, min, max, last or std, then the time from T0 to T1\n"
              "in seconds; T0, T1 or both may be left out.\n"
              "\n"
              "The same command again keeps runs that are finished and goes on with those that\n"
              "were stopped; with more values it adds runs. A run that fails is a line with its\n"
              "reason, the others go on, and the exit code is 1.\n"
              "\n"
              "Example:\n"
              "  talus sweep hopper --vary materials.glass.friction=0.2,0.4,0.6 \\\n"
              "    --vary seed=1:5 --measure 'outlet.mass_flow_z mean 0.5:1.5' -o study\n",
      .least = 1,
      .most = 1,
      .wants = "a scene"};
  const int parsed = cli_parse(&usage, argc, argv, &study->scene);
  return parsed < 0 ? cli_parse_exit(parsed) : prepare(study, vary, measures);
}

int cli_sweep(int argc, char **argv) {
  const size_t room = (size_t)argc + 1;
  sweep *study = calloc(1, sizeof *study);
  const char **texts = calloc(3 * room, sizeof *texts);
  if (!study || !texts) {
    free(study);
    free(texts);
    cli_error("out of memory");
    return CLI_FAILED;
  }
  cli_texts vary = {texts, 0}, measures = {texts + room, 0};
  study->settings.data = texts + 2 * room;
  study->jobs = study->threads = study->lock = -1;
  const int code = sweep_with(study, &vary, &measures, argc, argv);
  if (study->lock >= 0)
    close(study->lock);
  sweep_free(study);
  free(texts);
  free(study);
  return code;
}
