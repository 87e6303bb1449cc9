/* talus run: runs a scene and writes a result folder. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

typedef struct run_options {
  const char *folder, *backend;
  int threads;
  double until, every, checkpoint_every;
  bool resume, force, quiet, no_fallback;
  cli_texts settings;
} run_options;

/* ---- signals --------------------------------------------------------------------------------- */

static volatile int interrupt;                /* the library checks it after every step */
static volatile sig_atomic_t is_starting = 1; /* the scene is being read and built */

/* While there is nothing to save, a signal ends the process at once, even during a long fill. Only
 * functions allowed in a handler are called. */
static void on_signal(int signal) {
  static const char line[] = "talus: stopped before the first step; nothing was written or removed:"
                             " the same command begins again\n";
  (void)signal;
  if (is_starting) {
    const ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written; /* a closed terminal shows nothing */
    _exit(CLI_INTERRUPTED);
  }
  interrupt = 1;
}

static void on_started(void *context) {
  (void)context;
  is_starting = 0;
}

/* The first Ctrl-C saves and stops; the second meets the default handler, which kills the
 * process. */
static void catch_signals(void) {
  cli_catch_stops(on_signal, true);
  /* A closed pipe or a file size limit must make a write fail, not kill the process. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

/* ---- messages of the library ----------------------------------------------------------------- */

static void on_progress(void *context, const talus_progress *now) { progress_show(context, now); }

static void on_log(void *context, int level, const char *line) {
  if (level != 1)
    return; /* errors come back as a status; the rest goes to log.txt */
  progress_clear(context);
  cli_warning("%s", line);
}

/* ---- the folder ------------------------------------------------------------------------------ */

/* NAME.out in the current folder; NAME is that of the scene without path and .yaml or .hdf. */
static char *default_folder(const char *scene) {
  const char *slash = strrchr(scene, '/'), *name = slash ? slash + 1 : scene;
  size_t length = strlen(name);
  static const char *const suffixes[] = {".yaml", ".yml", ".hdf"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; ++i) {
    const size_t suffix = strlen(suffixes[i]);
    if (length > suffix && strcmp(name + length - suffix, suffixes[i]) == 0) {
      length -= suffix;
      break;
    }
  }
  char *folder = malloc(length + sizeof ".out");
  if (folder) {
    memcpy(folder, name, length);
    strcpy(folder + length, ".out");
  }
  return folder;
}

/* ---- messages at the end --------------------------------------------------------------------- */

static bool is_ascii(const char *word) {
  while ((unsigned char)*word >= 0x20 && (unsigned char)*word < 0x7F)
    word++;
  return *word == '\0';
}

/* Prints a word of a shell's command line; bytes that a terminal might interpret are written as
 * $'\x1b', which bash, zsh and POSIX of 2024 understand. */
static void print_quoted(const char *word) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-./=,:+@%";
  if (*word && word[strspn(word, safe)] == '\0') {
    fprintf(stderr, " %s", word);
    return;
  }
  const bool is_plain = is_ascii(word);
  fputs(is_plain ? " '" : " $'", stderr);
  for (; *word; ++word) {
    if (!is_plain && ((unsigned char)*word < 0x20 || (unsigned char)*word >= 0x7F))
      fprintf(stderr, "\\x%02x", (unsigned char)*word);
    else if (!is_plain && (*word == '\'' || *word == '\\'))
      fprintf(stderr, "\\%c", *word);
    else if (*word == '\'')
      fputs("'\\''", stderr);
    else
      fputc(*word, stderr);
  }
  fputc('\'', stderr);
}

/* Prints the command that continues this run. */
static void print_resume(const char *what, int argc, char **argv) {
  fprintf(stderr, "talus: %s:\n  talus", what);
  bool has_resume = false;
  for (int i = 0; i < argc; ++i) {
    if (strcmp(argv[i], "--force") == 0)
      continue;
    has_resume = has_resume || strcmp(argv[i], "--resume") == 0;
    print_quoted(argv[i]);
  }
  fputs(has_resume ? "\n" : " --resume\n", stderr);
}

static void print_result(const talus_run_result *result, const char *folder, bool quiet) {
  char wall[CLI_DURATION_BYTES];
  printf("hash %016llx  steps %llu  time %.10g s  bodies %zu  frames %llu  wall %s",
         (unsigned long long)result->hash, (unsigned long long)result->steps, result->time,
         result->bodies, (unsigned long long)result->frames, cli_duration(result->wall, wall));
  if (result->sunk > 0)
    printf("  sunk %llu", (unsigned long long)result->sunk);
  if (result->unconverged > 0)
    printf("  unconverged %llu", (unsigned long long)result->unconverged);
  putchar('\n');
  fflush(stdout);
  if (quiet)
    return;
  const size_t length = strlen(folder);
  const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
  if (result->frames == 0) {
    cli_note("plot %s%shistory.csv, or see talus info %s", folder, slash, folder);
    return;
  }
  cli_note("open %s%sframes.hdf.series in ParaView, plot %s%shistory.csv, or see talus info %s",
           folder, slash, folder, slash, folder);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int check_options(const run_options *options) {
  if (options->resume && options->force) {
    cli_error("run: --resume goes on with a run, --force begins it anew; choose one of the two");
    return CLI_INPUT;
  }
  talus_backend backend;
  if (talus_backend_by_name(options->backend, &backend) != TALUS_OK) {
    cli_error("run: option '--backend': %s", talus_last_error());
    return CLI_INPUT;
  }
  if (backend == TALUS_BACKEND_CUDA && !strstr(talus_backends(), "cuda")) {
    cli_error("run: this build has no backend cuda; build it where nvcc is, with "
              "-DTALUS_WITH_CUDA=ON");
    return CLI_INPUT;
  }
  if (!isnan(options->until) && !(options->until > 0)) {
    cli_error("run: option '--until': %g is not a positive time in seconds", options->until);
    return CLI_INPUT;
  }
  if (!isnan(options->every) && !(options->every > 0)) {
    cli_error("run: option '--every': %g is not a positive time in seconds", options->every);
    return CLI_INPUT;
  }
  if (options->checkpoint_every < 0) {
    cli_error("run: option '--checkpoint-every': %g is not a time in seconds, 0 or more",
              options->checkpoint_every);
    return CLI_INPUT;
  }
  if (options->threads > 4096) {
    cli_error("run: option '--threads': %d is more than 4096", options->threads);
    return CLI_INPUT;
  }
  return CLI_DONE;
}

static int run_scene(const talus_scene *scene, const run_options *options, const char *folder,
                     int argc, char **argv) {
  progress_bar bar = progress_begin(options->quiet);
  talus_run_def def = talus_run_def_default();
  def.folder = folder;
  def.resume = options->resume;
  def.force = options->force;
  def.until = isnan(options->until) ? -1 : options->until;
  def.threads = options->threads;
  (void)talus_backend_by_name(options->backend, &def.backend); /* the name was checked before */
  def.no_fallback = options->no_fallback;
  def.checkpoint_every = options->checkpoint_every;
  def.progress = on_progress;
  def.log = on_log;
  def.started = on_started;
  def.context = &bar;
  def.interrupt = &interrupt;
  talus_run_result result = {0};
  const talus_status status = talus_run(scene, &def, &result);
  progress_clear(&bar);
  if (status == TALUS_OK)
    print_result(&result, folder, options->quiet);
  else if (status == TALUS_INTERRUPTED)
    cli_note("%s", talus_last_error());
  else
    cli_error("%s", talus_last_error());
  if (status == TALUS_INTERRUPTED)
    print_resume("to go on", argc, argv);
  else if (status == TALUS_ERROR_IO && result.steps > 0)
    print_resume("what was written before is intact; once the cause is removed, continue with",
                 argc, argv);
  /* A pair of shapes that met without contact code is a failed run, not a wrong scene. */
  if (status == TALUS_ERROR_UNSUPPORTED && !options->no_fallback &&
      strstr(talus_features(), "hdf5"))
    return CLI_FAILED;
  return cli_exit_code(status);
}

static int run_with(run_options *options, int argc, char **argv) {
  const cli_option table[] = {
      {"output", 'o', CLI_TEXT, "DIR", "where results go (default: NAME.out)", &options->folder},
      {"resume", 0, CLI_FLAG, NULL, "continue from DIR's checkpoint, if there is one",
       &options->resume},
      {"force", 0, CLI_FLAG, NULL, "begin again: removes talus's own files in DIR",
       &options->force},
      {"until", 0, CLI_NUMBER, "T", "end at T seconds instead of the scene's `until`",
       &options->until},
      {"every", 0, CLI_NUMBER, "T", "write output every T seconds instead of `output.every`",
       &options->every},
      {"set", 0, CLI_TEXTS, "KEY=VALUE", "change the scene, e.g. step.dt=5e-4; may be repeated",
       &options->settings},
      {"threads", 0, CLI_COUNT, "N", "0: all cores (default); results do not depend on it",
       &options->threads},
      {"backend", 0, CLI_TEXT, "NAME", "where steps run: cpu (default), check or cuda",
       &options->backend},
      {"no-fallback", 0, CLI_FLAG, NULL, "refuses what the backend cannot do",
       &options->no_fallback},
      {"checkpoint-every", 0, CLI_NUMBER, "S", "save every S seconds of wall clock (default 60)",
       &options->checkpoint_every},
      {"quiet", 'q', CLI_FLAG, NULL, "no progress, only the last line", &options->quiet},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus run SCENE [options]",
      .about = "Runs a scene, a YAML file, the name of a built-in one, or a start file (talus\n"
               "check --save), into a result folder.\n"
               "The last line on standard output has the hash of the final state.",
      .options = table,
      .more = "Ctrl-C saves the state and exits with 130. The same command with --resume goes\n"
              "on, and the folder ends up as if it had never stopped. Meanwhile you may change\n"
              "the keys until, output and probes of the scene, and no others: frames then come\n"
              "at the new interval, and new probes measure from then on. (Before the first step\n"
              "Ctrl-C writes nothing.)\n"
              "`until: {time: T, at_rest: V}` ends a run before T once all bodies are at rest:\n"
              "no free body, rotation of its surface included, was faster than V m/s at any\n"
              "step since the last output time, and no emitter is still active.\n"
              "On a machine that is busy with other work, --threads 1 is faster for small\n"
              "scenes: threads wait for each other in every sweep.\n"
              "--backend cuda takes fixed steps of ccp without joints and sleep on a GPU (check:\n"
              "the same on the host); the CPU takes all others, and log.txt says why, as talus\n"
              "check SCENE --backend cuda does.\n"
              "\n"
              "DIR holds frames.hdf.series (open it in ParaView), frames/, history.csv,\n"
              "probes/, fields/, scene.yaml, log.txt and checkpoint.hdf.\n",
      .least = 1,
      .most = 1,
      .wants = "a scene"};
  const char *path = NULL;
  const int parsed = cli_parse(&usage, argc, argv, &path);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  int code = check_options(options);
  talus_scene *scene = NULL;
  char every[64];
  if (!isnan(options->every)) {
    snprintf(every, sizeof every, "output.every=%.17g", options->every);
    options->settings.data[options->settings.count++] = every;
  }
  catch_signals();
  if (code == CLI_DONE)
    code = cli_load_scene(path, &options->settings, &scene);
  if (code != CLI_DONE)
    return code;
  char *folder = options->folder ? NULL : default_folder(path);
  if (folder || options->folder)
    code = run_scene(scene, options, folder ? folder : options->folder, argc, argv);
  else {
    cli_error("out of memory");
    code = CLI_FAILED;
  }
  free(folder);
  talus_scene_free(scene);
  return code;
}

int cli_run(int argc, char **argv) {
  run_options options = {.backend = "cpu", .until = NAN, .every = NAN, .checkpoint_every = 60};
  options.settings.data = calloc((size_t)argc + 1, sizeof *options.settings.data);
  if (!options.settings.data) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  const int code = run_with(&options, argc, argv);
  free(options.settings.data);
  return code;
}
