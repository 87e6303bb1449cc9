/* The command `talus`. Each subcommand has its own file; this one selects it. */
#include "cli.h"

#include <talus/detect.h>
#include "render_scene.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  cli_command_fn *run;
  const char *about;
} commands[] = {
    {"run", cli_run, "runs a scene into a result folder"},
    {"check", cli_check, "validates a scene; says what it holds and costs"},
    {"scenes", cli_scenes, "lists the built-in scenes, prints one, or the keys of the format"},
    {"info", cli_info, "what is in a result folder: counts, energies, residuals, times"},
    {"render", cli_render, "draws a result folder: pictures and films"},
    {"field", cli_field, "velocities on a grid, from a result folder or from a picture of one"},
    {"contacts", cli_contacts, "finds the contacts of the bodies in a table, without a simulation"},
    {"shape", cli_shape, "volume, inertia and bounds of a mesh file or of a scene's shapes"},
    {"sweep", cli_sweep, "many runs of a scene with varied keys, into one table"},
    {"audit", cli_audit, "proves that no bodies of a run passed through each other"},
    {"bench", cli_bench, "repeats the published measurements on this machine"},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static int show_help(FILE *to) {
  fprintf(to, "talus: rigid bodies and grains in contact\n\n"
              "  talus COMMAND [arguments]\n\n"
              "Commands:\n");
  for (size_t i = 0; i < COMMANDS; ++i)
    fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].about);
  fprintf(to, "\n"
              "  talus COMMAND --help   its arguments and options\n"
              "  talus --version        version and what is built in\n\n"
              "First steps:\n"
              "  talus scenes                        what there is to try\n"
              "  talus run pour                      a built-in scene, into pour.out/\n"
              "  talus render pour.out -o pour.mp4   a film of it\n"
              "  talus scenes pour > my.yaml         a start for a scene of your own\n"
              "  talus run my.yaml -o out            open out/frames.hdf.series in ParaView\n"
              "  talus run my.yaml -o out --resume   continues a run that was stopped\n\n"
              "Exit codes: 0 done, 1 failed, 2 the input is wrong, 130 stopped by a signal.\n");
  return CLI_DONE;
}

static int show_version(void) {
  printf("talus %s\nfeatures: %s%s%s\nbackends: %s\ninstructions: %s\n", talus_version(),
         talus_features(), TALUS_HAVE_PNG ? " png" : "", render_is_available() ? " embree" : "",
         talus_backends(), talus_instruction_set());
  return CLI_DONE;
}

static int refuse(const char *word) {
  const char *names[COMMANDS];
  for (size_t i = 0; i < COMMANDS; ++i)
    names[i] = commands[i].name;
  const char *near = cli_suggest(word[0] == '-' ? word + strspn(word, "-") : word, names, COMMANDS);
  cli_error("unknown %s '%s'%s%s%s see talus --help", word[0] == '-' ? "option" : "command", word,
            near ? "; did you mean 'talus " : "", near ? near : "", near ? "'? If not," : ";");
  return CLI_INPUT;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    show_help(stderr);
    return CLI_INPUT;
  }
  const char *word = argv[1];
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
    return show_version();
  const bool help = strcmp(word, "help") == 0;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (help && argc == 2))
    return show_help(stdout);
  if (help)
    word = argv[2];
  for (size_t i = 0; i < COMMANDS; ++i)
    if (strcmp(word, commands[i].name) == 0) {
      char name[16], option[] = "--help";
      snprintf(name, sizeof name, "%s", commands[i].name);
      char *asked[] = {name, option, NULL};
      return help ? commands[i].run(2, asked) : commands[i].run(argc - 1, argv + 1);
    }
  return refuse(word);
}

/* With GNU's OpenMP, waiting threads spin for milliseconds; on a machine with other work this takes
 * the core from the thread that they wait for: a run beside four busy programs was five times
 * slower because of it. OpenMP reads its settings before main, so the command restarts itself with
 * a short spin, unless the user has set these variables. */
static void shorten_spinning(char **argv) {
  if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY"))
    return;
  if (setenv("GOMP_SPINCOUNT", "2000", 1) == 0)
    execv("/proc/self/exe", argv); /* if it cannot, this process goes on as it is */
}

/* Embree's threads end the process if they cannot be created. */
static void say_abort(int sig) {
  static const char text[] =
      "talus: error: the renderer could not go on: it got no memory, or no thread\n";
  (void)sig;
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
    _exit(CLI_FAILED);
  _exit(CLI_FAILED);
}

/* A user who sets an instruction set does not want another one. */
static bool refuse_instructions(void) {
  const char *word = getenv("TALUS_ISA");
  if (!word || !*word || strcmp(word, talus_instruction_set()) == 0)
    return false;
  static const char *const known[] = {"avx512", "avx2", "generic"};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (strcmp(word, known[i]) == 0) {
      cli_error("TALUS_ISA=%s: this processor does not have it; the best it has is %s", word,
                talus_instruction_set());
      return true;
    }
  cli_error("TALUS_ISA=%s: unknown instruction set; there are avx512, avx2 and generic", word);
  return true;
}

int main(int argc, char **argv) {
  shorten_spinning(argv);
  if (refuse_instructions())
    return CLI_INPUT;
  if (argc > 1 && strcmp(argv[1], "render") == 0)
    signal(SIGABRT, say_abort);
  int code = dispatch(argc, argv);
  /* A full disk or a closed pipe behind stdout is only seen here. */
  if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_DONE) {
    cli_error("could not write to the standard output: %s", strerror(errno));
    code = CLI_FAILED;
  }
  return code;
}
