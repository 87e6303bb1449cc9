/* talus info: describes a result folder from its files, for people and (--json) for programs. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "history.h"
#include "info_joints.h"
#include "json.h"
#include "plot.h"

/* ---- data ------------------------------------------------------------------------------------ */

typedef struct checkpoint_info {
  bool is_there, is_readable;
  double time;
  uint64_t steps, hash;
  size_t bodies;
  uint64_t wall_pairs, wall_tests;
  uint64_t cut_by[2]; /* uids: the last pair that cut an adaptive step short; 0: none */
  info_joints joints;
  char why[512]; /* why the scene or checkpoint cannot be read */
} checkpoint_info;

typedef struct folder_info {
  const char *folder;
  talus_scene *scene; /* NULL if scene.yaml does not load */
  talus_scene_info plan;
  history history;
  checkpoint_info checkpoint;
  size_t frames, contacts, probes; /* files */
  double bytes;                    /* of all files */
  bool is_finished;
  char failure[2048]; /* last line of the log if it is an error */
} folder_info;

static void path_in(const folder_info *info, const char *name, char *path, size_t size) {
  snprintf(path, size, "%s/%s", info->folder, name);
}

/* What cannot be looked at for another reason than that it is not there must not count as missing:
 * then the whole answer would be wrong. */
static int cannot_look(const char *path, int error) {
  cli_error("%s: cannot be looked at: %s", path, strerror(error));
  return cli_exit_code_of(strerror(error));
}

static bool is_absence(int error) { return error == ENOENT || error == ENOTDIR; }

/* Counts the files with this ending in a folder of the result folder; adds their sizes to
 * info->bytes. */
static int count_files(folder_info *info, const char *name, const char *suffix, size_t *n) {
  char path[4096];
  int error = 0;
  path_in(info, name, path, sizeof path);
  DIR *folder = opendir(path);
  if (!folder)
    return is_absence(errno) ? CLI_DONE : cannot_look(path, errno);
  for (const struct dirent *entry; (errno = 0, entry = readdir(folder)) != NULL;) {
    const size_t length = strlen(entry->d_name), end = strlen(suffix);
    char file[4096 + 300];
    struct stat stats;
    if (length <= end || strcmp(entry->d_name + length - end, suffix) != 0)
      continue;
    snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    const int looked = stat(file, &stats);
    if (looked != 0 && !is_absence(errno) && errno != ELOOP) /* links may lead nowhere */
      break;
    if (looked != 0 || !S_ISREG(stats.st_mode))
      continue;
    info->bytes += (double)stats.st_size;
    ++*n;
  }
  error = errno;
  closedir(folder);
  return error ? cannot_look(path, error) : CLI_DONE;
}

static int look_at_files(folder_info *info) {
  static const char *const files[] = {"scene.yaml", "frames.hdf.series", "history.csv",
                                      "checkpoint.hdf", "log.txt"};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    char path[4096];
    struct stat stats;
    path_in(info, files[i], path, sizeof path);
    if (stat(path, &stats) == 0)
      info->bytes += (double)stats.st_size;
  }
  int code = count_files(info, "frames", ".hdf", &info->frames);
  if (code == CLI_DONE)
    code = count_files(info, "contacts", ".hdf", &info->contacts);
  if (code == CLI_DONE)
    code = count_files(info, "probes", ".csv", &info->probes);
  return code;
}

static int look_at_checkpoint(folder_info *info) {
  char path[4096];
  struct stat stats;
  checkpoint_info *found = &info->checkpoint;
  path_in(info, "checkpoint.hdf", path, sizeof path);
  found->is_there = lstat(path, &stats) == 0 || errno != ENOENT;
  if (!found->is_there)
    return CLI_DONE;
  talus_world *world = NULL;
  const talus_status status = talus_world_load(path, &world);
  found->is_readable = status == TALUS_OK;
  if (!found->is_readable) {
    snprintf(found->why, sizeof found->why, "%s", talus_last_error());
    if (status == TALUS_ERROR_MEMORY)
      cli_error("%s", found->why);
    return status == TALUS_ERROR_MEMORY ? CLI_FAILED : CLI_DONE;
  }
  found->time = talus_world_time(world);
  found->steps = talus_world_steps(world);
  found->hash = talus_world_hash(world);
  found->bodies = talus_world_body_count(world);
  talus_report report;
  if (talus_world_report(world, &report) == TALUS_OK)
    found->wall_pairs = report.wall_pairs, found->wall_tests = report.wall_tests,
    found->cut_by[0] = report.short_a, found->cut_by[1] = report.short_b;
  info_joints_gather(world, &found->joints);
  talus_world_destroy(world);
  return CLI_DONE;
}

/* Lines of the log, one by one; a log that is not there, or is no plain file, has none. */
static FILE *open_log(const folder_info *info, char *path, size_t size) {
  char why[4096 + 256];
  path_in(info, "log.txt", path, size);
  return tl_input_file(path, why, sizeof why);
}

static int close_log(FILE *file, const char *path) {
  const int error = !file || !ferror(file) ? 0 : errno ? errno : EIO;
  if (file)
    fclose(file);
  return error ? cannot_look(path, error) : CLI_DONE;
}

/* *done: the last "done at step" of the log is that of the history's last line. */
static int look_whether_log_is_done(const folder_info *info, unsigned long long steps, bool *done) {
  char path[4096], line[4096], mark[64];
  snprintf(mark, sizeof mark, " done at step %llu,", steps);
  FILE *file = open_log(info, path, sizeof path);
  while (file && fgets(line, sizeof line, file))
    *done = *done || strstr(line, mark) != NULL;
  return close_log(file, path);
}

/* The last line of the log says why a run failed: date, level, message. */
static int look_for_failure(folder_info *info) {
  static const char level[] = " error ";
  char path[4096], line[sizeof info->failure];
  FILE *file = open_log(info, path, sizeof path);
  while (file && fgets(line, sizeof line, file)) {
    const char *at = strchr(line, ' ');
    info->failure[0] = '\0';
    if (at && strncmp(at, level, sizeof level - 1) == 0) {
      at += sizeof level - 1;
      at += strspn(at, " ");
      snprintf(info->failure, sizeof info->failure, "%.*s", (int)strcspn(at, "\n"), at);
    }
  }
  return close_log(file, path);
}

static int look_at_end(folder_info *info) {
  const double steps = history_of(&info->history, "steps").last;
  int code = CLI_DONE;
  if (!(steps >= 0))
    return code;
  info->is_finished = info->scene && steps >= (double)info->plan.steps;
  /* A run that came to rest ended before its planned time. */
  if (info->scene && info->plan.at_rest > 0 && !info->is_finished)
    code = look_whether_log_is_done(info, (unsigned long long)steps, &info->is_finished);
  if (code == CLI_DONE && !info->is_finished)
    code = look_for_failure(info);
  return code;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static int refuse_folder(const char *folder) {
  struct stat stats;
  if (stat(folder, &stats) != 0) {
    cli_error("%s: %s; give the folder that `talus run` wrote (NAME.out, or that of its -o)",
              folder, strerror(errno));
    return CLI_INPUT;
  }
  if (!S_ISDIR(stats.st_mode)) {
    cli_error("%s is a file; give the result folder of a run", folder);
    return CLI_INPUT;
  }
  return CLI_DONE;
}

static int gather(folder_info *info) {
  char path[4096], why[4096 + 256];
  if (strlen(info->folder) > sizeof path - 300) {
    cli_error("the folder's name is too long");
    return CLI_INPUT;
  }
  int code = refuse_folder(info->folder);
  if (code != CLI_DONE)
    return code;
  path_in(info, "history.csv", path, sizeof path);
  if (!history_read(path, &info->history, why, sizeof why)) {
    cli_error("%s is not a result folder of talus (%s); talus run SCENE -o %s makes one",
              info->folder, why, info->folder);
    return cli_exit_code_of(why);
  }
  path_in(info, "scene.yaml", path, sizeof path);
  if (cli_load_own_scene(path, &info->scene, why, sizeof why))
    talus_scene_get_info(info->scene, &info->plan);
  else if (cli_exit_code_of(why) == CLI_FAILED) {
    cli_error("%s", why);
    return CLI_FAILED;
  } else
    cli_warning("%s", why);
  code = look_at_files(info);
  if (code == CLI_DONE)
    code = look_at_checkpoint(info);
  return code == CLI_DONE ? look_at_end(info) : code;
}

/* ---- for people ------------------------------------------------------------------------------ */

static const struct {
  const char *label, *column, *other; /* other: a column that is added; may be NULL */
} spans[] = {
    {"bodies", "bodies", NULL},
    {"pairs", "pairs", NULL},
    {"contacts", "contacts", NULL},
    {"kinetic energy, J", "kinetic_energy", NULL},
    {"potential energy, J", "potential_energy", NULL},
    {"total energy, J", "kinetic_energy", "potential_energy"},
    {"residual max, m/s", "residual_max", NULL},
    {"residual rms, m/s", "residual_rms", NULL},
    {"iterations", "iterations", NULL},
    {"objective, J", "objective", NULL},
    {"rotational energy, J", "rotational_energy", NULL},
    {"work of contacts, J", "contact_work", NULL},
    {"work of loads, J", "load_work", NULL},
    {"energy of flow, J", "flow_energy", NULL},
    {"asleep", "asleep", NULL},
    {"joint drift, m", "joint_drift", NULL},
    {"joints broken", "joints_broken", NULL},
    {"joint force, N", "joint_force", NULL},
    {"joint torque, N m", "joint_torque", NULL},
    {"overlap, m", "overlap_max", NULL},
    {"overlap over radius", "overlap_share", NULL},
    {"bodies that sank", "sunk", NULL},
    {"energy made by contacts, J", "made_energy", NULL},
    {"energy corrections", "energy_corrections", NULL},
    {"steps not converged", "unconverged", NULL},
    {"energy of springs, J", "spring_energy", NULL},
    {"work of joints, J", "joint_work", NULL},
};
#define SPANS (sizeof spans / sizeof *spans)

static const struct {
  const char *label, *column;
} stages[] = {
    {"broad", "wall_broad"}, {"narrow", "wall_narrow"}, {"solve", "wall_solve"},
    {"step", "wall_step"},   {"output", "wall_output"},
};
#define STAGES (sizeof stages / sizeof *stages)

static const char *state_of(const folder_info *info) {
  return info->is_finished              ? "finished"
         : !info->scene                 ? "unknown: scene.yaml cannot be read"
         : info->checkpoint.is_readable ? "not finished; --resume goes on from the checkpoint"
         : info->checkpoint.is_there    ? "not finished; the checkpoint cannot be read"
                                        : "not finished; no checkpoint, --resume begins at 0";
}

static void show_spans(const folder_info *info) {
  /* The last joints may have been removed with their bodies. */
  const bool had_joints = info->checkpoint.joints.count > 0 ||
                          history_of(&info->history, "joint_force").high > 0 ||
                          history_of(&info->history, "joints_broken").high > 0;
  printf("\n  %-26s %14s %14s %14s %14s\n", "", "first", "last", "least", "most");
  for (size_t i = 0; i < SPANS; ++i) {
    const history_span span = history_of_sum(&info->history, spans[i].column, spans[i].other);
    if (strncmp(spans[i].column, "joint", 5) == 0 && !had_joints)
      continue;
    printf("  %-26s %14.7g %14.7g %14.7g %14.7g\n", spans[i].label, span.first, span.last, span.low,
           span.high);
  }
}

static void show_stages(const folder_info *info) {
  char text[CLI_DURATION_BYTES];
  const double total = history_of(&info->history, "wall_total").last;
  const double steps = history_of(&info->history, "steps").last;
  double rest = total;
  printf("\n  %-20s %14s %9s\n", "wall clock", "", "share");
  for (size_t i = 0; i < STAGES; ++i) {
    const double wall = history_of(&info->history, stages[i].column).last;
    rest -= wall;
    printf("  %-20s %14s %8.1f%%\n", stages[i].label, cli_duration(wall, text),
           total > 0 ? 100 * wall / total : 0);
  }
  rest = rest > 0 ? rest : 0;
  printf("  %-20s %14s %8.1f%%\n", "other", cli_duration(rest, text),
         total > 0 ? 100 * rest / total : 0);
  printf("  %-20s %14s   %.4g steps/s\n", "total", cli_duration(total, text),
         total > 0 ? steps / total : 0);
}

/* Smallest nonzero value of a column; 0 if all are 0. */
static double least_of(const history *past, const char *name) {
  double least = 0;
  for (size_t column = 0; column < past->columns; ++column)
    for (size_t i = 0; strcmp(past->names[column], name) == 0 && i < past->rows; ++i) {
      const double value = past->values[i * past->columns + column];
      least = value > 0 && (!(least > 0) || value < least) ? value : least;
    }
  return least;
}

#define PLOT_WIDE 60
#define PLOT_HIGH 5

/* The shortest step of each part of the run, over time, on a logarithmic scale. */
static void plot_steps(const history *past, double least) {
  double shortest[PLOT_WIDE] = {0}, most = 0;
  size_t column = 0;
  while (column < past->columns && strcmp(past->names[column], "dt_least") != 0)
    ++column;
  for (size_t i = 0; column < past->columns && i < past->rows; ++i) {
    const double value = past->values[i * past->columns + column];
    double *at = &shortest[i * PLOT_WIDE / past->rows];
    if (value > 0 && (!(*at > 0) || value < *at))
      *at = value;
    most = fmax(most, value);
  }
  if (!(most > least))
    return;
  const double lo = log10(least), step = (log10(most) - lo) / (PLOT_HIGH - 1);
  for (int line = PLOT_HIGH - 1; line >= 0; --line) {
    char text[PLOT_WIDE + 1];
    for (int i = 0; i < PLOT_WIDE; ++i)
      text[i] =
          shortest[i] > 0 && (int)((log10(shortest[i]) - lo) / step + 0.5) >= line ? '#' : ' ';
    text[PLOT_WIDE] = '\0';
    printf("  %16.1e s |%s|\n", pow(10, lo + line * step), text);
  }
}

/* Adaptive steps: how short they became, how often, and the last pair that caused it. */
static void show_short_steps(const folder_info *info) {
  const double least = least_of(&info->history, "dt_least");
  if (!(least > 0))
    return;
  printf("  %-20s %.3g s; %.0f steps were cut short", "shortest step", least,
         history_of(&info->history, "short_steps").last);
  if (info->checkpoint.cut_by[0] != 0)
    printf(", the last by bodies %llu and %llu", (unsigned long long)info->checkpoint.cut_by[0],
           (unsigned long long)info->checkpoint.cut_by[1]);
  printf("\n");
  plot_steps(&info->history, least);
}

static void show(const folder_info *info) {
  char size[CLI_DURATION_BYTES];
  const history *past = &info->history;
  printf("%s: %s\n\n", cli_shown(info->folder),
         cli_shown(info->scene && info->plan.title && *info->plan.title ? info->plan.title
                                                                        : "a talus run"));
  printf("  %-20s %s\n", "state", state_of(info));
  if (info->failure[0])
    printf("  %-20s %s\n", "failed", cli_shown(info->failure));
  printf("  %-20s %.10g s", "time", history_of(past, "time").last);
  if (info->scene)
    printf(" of %.10g s", info->plan.until);
  printf("\n  %-20s %.0f", "steps", history_of(past, "steps").last);
  if (info->scene)
    printf(" of %llu", (unsigned long long)info->plan.steps);
  printf("\n  %-20s %.10g s\n", "step size", history_of(past, "dt").last);
  show_short_steps(info);
  printf("  %-20s %s\n", "state hash", past->hash);
  printf("  %-20s %zu frames, %zu contact files, %zu probes, %s\n", "files", info->frames,
         info->contacts, info->probes, cli_bytes(info->bytes, size));
  if (info->checkpoint.is_readable)
    printf("  %-20s step %llu, t = %.10g s, state %016llx\n", "checkpoint",
           (unsigned long long)info->checkpoint.steps, info->checkpoint.time,
           (unsigned long long)info->checkpoint.hash);
  else
    printf("  %-20s %s\n", "checkpoint",
           info->checkpoint.is_there ? cli_shown(info->checkpoint.why) : "none");
  info_joints_show(&info->checkpoint.joints);
  show_spans(info);
  show_stages(info);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void show_json_scene(json *out, const folder_info *info) {
  const talus_scene_info *plan = &info->plan;
  json_open(out, "scene", '{');
  json_text(out, "title", plan->title ? plan->title : "");
  json_number(out, "until", plan->until);
  json_number(out, "at_rest", plan->at_rest);
  json_number(out, "dt", plan->dt);
  json_number(out, "output_every", plan->output_every);
  json_number(out, "steps", (double)plan->steps);
  json_number(out, "frames", (double)plan->frames);
  json_number(out, "shapes", (double)plan->shapes);
  json_number(out, "materials", (double)plan->materials);
  json_number(out, "emitters", (double)plan->emitters);
  json_number(out, "sinks", (double)plan->sinks);
  json_number(out, "probes", (double)plan->probes);
  json_close(out, '}');
}

static void show_json_checkpoint(json *out, const checkpoint_info *found) {
  char hash[HISTORY_HASH_BYTES];
  json_open(out, "checkpoint", '{');
  json_flag(out, "present", found->is_there);
  json_flag(out, "readable", found->is_readable);
  if (found->is_readable) {
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)found->hash);
    json_number(out, "time", found->time);
    json_number(out, "steps", (double)found->steps);
    json_number(out, "bodies", (double)found->bodies);
    json_text(out, "state_hash", hash);
    json_number(out, "wall_pairs", (double)found->wall_pairs);
    json_number(out, "wall_tests", (double)found->wall_tests);
  } else if (found->is_there)
    json_text(out, "error", found->why);
  json_close(out, '}');
}

static void show_json_history(json *out, const history *past) {
  json_open(out, "history", '{');
  for (size_t i = 0; i < SPANS; ++i) {
    const history_span span = history_of_sum(past, spans[i].column, spans[i].other);
    json_open(out, spans[i].other ? "total_energy" : spans[i].column, '{');
    json_number(out, "first", span.first);
    json_number(out, "last", span.last);
    json_number(out, "min", span.low);
    json_number(out, "max", span.high);
    json_close(out, '}');
  }
  json_close(out, '}');
}

static void show_json_walls(json *out, const history *past) {
  const double total = history_of(past, "wall_total").last;
  const double steps = history_of(past, "steps").last;
  json_open(out, "wall", '{');
  json_number(out, "total", total);
  for (size_t i = 0; i < STAGES; ++i)
    json_number(out, stages[i].label, history_of(past, stages[i].column).last);
  json_number(out, "steps_per_second", total > 0 ? steps / total : 0);
  json_open(out, "share", '{');
  for (size_t i = 0; i < STAGES; ++i)
    json_number(out, stages[i].label,
                total > 0 ? history_of(past, stages[i].column).last / total : 0);
  json_close(out, '}');
  json_close(out, '}');
}

static void show_json(const folder_info *info) {
  const history *past = &info->history;
  json out = json_begin(stdout);
  json_open(&out, NULL, '{');
  json_text(&out, "folder", info->folder);
  json_text(&out, "talus", talus_version());
  json_flag(&out, "finished", info->is_finished);
  json_flag(&out, "resumable", info->checkpoint.is_readable);
  if (info->failure[0])
    json_text(&out, "failure", info->failure);
  json_number(&out, "time", history_of(past, "time").last);
  json_number(&out, "steps", history_of(past, "steps").last);
  json_number(&out, "dt", history_of(past, "dt").last);
  json_text(&out, "state_hash", past->hash);
  json_number(&out, "lines", (double)past->rows);
  json_number(&out, "frames", (double)info->frames);
  json_number(&out, "contact_files", (double)info->contacts);
  json_number(&out, "probes", (double)info->probes);
  json_number(&out, "bytes", info->bytes);
  show_json_checkpoint(&out, &info->checkpoint);
  info_joints_show_json(&out, &info->checkpoint.joints);
  if (info->scene)
    show_json_scene(&out, info);
  show_json_history(&out, past);
  show_json_walls(&out, past);
  json_close(&out, '}');
  json_end(&out);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Writes one of the curves of history.csv to a file or to the terminal. */
static int show_plot(const folder_info *info, const char *name, const char *path) {
  char title[256];
  plot drawn;
  snprintf(title, sizeof title, "%s",
           cli_shown(info->scene && info->plan.title && *info->plan.title ? info->plan.title
                                                                          : info->folder));
  int code = strcmp(name, "steps") == 0 ? plot_make_steps(info->folder, title, &drawn)
             : plot_is_probe(info->folder, name)
                 ? plot_make_probe(info->folder, name, title, &drawn)
                 : plot_make(&info->history, name, title, &drawn);
  if (code != CLI_DONE)
    return code;
  if (path)
    code = plot_svg(&drawn, path);
  else
    plot_terminal(&drawn, stdout);
  plot_free(&drawn);
  return code;
}

int cli_info(int argc, char **argv) {
  bool as_json = false;
  const char *plotted = NULL, *path = NULL;
  const cli_option options[] = {
      {"json", 0, CLI_FLAG, NULL, "everything as JSON, for programs", &as_json},
      {"plot", 0, CLI_TEXT, "NAME", "energy, contacts, time, ... (below), or a probe", &plotted},
      {"output", 'o', CLI_TEXT, "FILE", "writes the plot as FILE.svg instead of showing it here",
       &path},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus info FOLDER [options]",
      .about = "Sums up a result folder, finished or not: how far the run is and whether it can\n"
               "go on, counts, energies and residuals over time, wall clock by stage, the hash\n"
               "of the last state; joints by kind, what they carry and how far they drifted.",
      .options = options,
      .more = "The numbers are those of history.csv: one line per output time. Plots: energy\n"
              "and work [J]; contacts, pairs and bodies; residual of the solver [m/s]; time of\n"
              "each stage per step by wall clock [ms]; largest force and torque of the\n"
              "joints [N, N m]; inner: most iterations of an implicit step; triangles:\n"
              "distances of triangles that meshes took; steps: how many had which length, with\n"
              "adaptive steps and local time; of a probe its first quantity, another one by its\n"
              "name (outlet.count, middle.stress), or one column (outlet.mass_flow_z).\n",
      .least = 1,
      .most = 1,
      .wants = "a result folder"};
  folder_info info = {0};
  const int parsed = cli_parse(&usage, argc, argv, &info.folder);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if ((path && !plotted) || (plotted && as_json)) {
    cli_error("info: %s", path && !plotted ? "-o is for plots; say which: --plot energy"
                                           : "--json and --plot are one or the other");
    return CLI_INPUT;
  }
  int code = gather(&info);
  if (code == CLI_DONE && plotted)
    code = show_plot(&info, plotted, path);
  else if (code == CLI_DONE) {
    if (as_json)
      show_json(&info);
    else
      show(&info);
  }
  history_free(&info.history);
  talus_scene_free(info.scene);
  return code;
}
