/* The command `talus`: shared by its files. It uses only the public headers. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>

#include <talus/scene.h>

#if defined(__GNUC__)
#define CLI_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#else
#define CLI_PRINTF(fmt_at, args_at)
#endif

/* Exit codes of the process. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_INPUT = 2, CLI_INTERRUPTED = 130 };

/* The exit code for a status of the library: bad input, or a failed run. */
int cli_exit_code(talus_status status);
/* The exit code for a file that could not be read: bad input, unless memory was missing. */
int cli_exit_code_of(const char *why);

/* ---- commands -------------------------------------------------------------------------------- */

/* argv[0] is the command's own name. */
typedef int cli_command_fn(int argc, char **argv);
cli_command_fn cli_run, cli_check, cli_scenes, cli_info, cli_render, cli_field, cli_contacts,
    cli_shape, cli_sweep, cli_audit, cli_bench;

/* Calls `handler` for Ctrl-C, SIGTERM and SIGHUP, unless they are ignored (nohup). once: a second
 * signal meets the default handler, which kills the process. */
void cli_catch_stops(void (*handler)(int), bool once);

/* ---- messages, to stderr --------------------------------------------------------------------- */

void cli_error(const char *fmt, ...) CLI_PRINTF(1, 2);
void cli_warning(const char *fmt, ...) CLI_PRINTF(1, 2);
void cli_note(const char *fmt, ...) CLI_PRINTF(1, 2);

/* Text from a file or a name, in one line and without characters that control a terminal; valid
 * until the fourth call after this one. The three functions above apply this to what they print. */
const char *cli_shown(const char *text);

/* The candidate nearest to a word, if near enough to be a typing error; otherwise NULL. */
const char *cli_suggest(const char *word, const char *const *candidates, size_t n);

/* "850 ms", "12.3 s", "4 min 05 s", "3 h 20 min"; returns text. */
#define CLI_DURATION_BYTES 32
const char *cli_duration(double seconds, char text[CLI_DURATION_BYTES]);
/* "512 bytes", "3.4 MiB". */
const char *cli_bytes(double bytes, char text[CLI_DURATION_BYTES]);

/* ---- options --------------------------------------------------------------------------------- */

typedef enum cli_kind {
  CLI_FLAG,   /* bool *to */
  CLI_TEXT,   /* const char **to */
  CLI_TEXTS,  /* cli_texts *to: may be given again */
  CLI_NUMBER, /* double *to: finite */
  CLI_COUNT   /* int *to: 0 or more */
} cli_kind;

typedef struct cli_texts {
  const char **data;
  size_t count;
} cli_texts;

typedef struct cli_option {
  const char *name; /* "threads" for --threads; NULL ends the list */
  char letter;      /* 'o' for -o; 0: none */
  cli_kind kind;
  const char *value; /* what help calls it: "N" */
  const char *help;
  void *to;
} cli_option;

typedef struct cli_usage {
  const char *synopsis; /* "talus run SCENE [options]" */
  const char *about;    /* a few lines */
  const cli_option *options;
  const char *more;  /* printed below the options; may be NULL */
  int least, most;   /* number of arguments that are not options */
  const char *wants; /* what they are, for messages: "a scene" */
} cli_usage;

/* Reads argv[1...]. Returns the number of arguments, which are then in `arguments` (room for
 * usage->most), or CLI_HELP_SHOWN, or CLI_REFUSED after a message. */
enum { CLI_HELP_SHOWN = -1, CLI_REFUSED = -2 };
int cli_parse(const cli_usage *usage, int argc, char **argv, const char **arguments);

/* Exit code of a command if cli_parse did not return a number of arguments. */
static inline int cli_parse_exit(int parsed) {
  return parsed == CLI_HELP_SHOWN ? CLI_DONE : CLI_INPUT;
}

/* ---- scenes ---------------------------------------------------------------------------------- */

/* Loads scene.yaml of a result folder, without a message: on failure `why` has it. Does not wait
 * for a FIFO. */
bool cli_load_own_scene(const char *path, talus_scene **scene, char *why, size_t size);

/* Reads a scene; if that fails prints all errors and returns their exit code, otherwise
 * CLI_DONE. */
int cli_load_scene(const char *path, const cli_texts *settings, talus_scene **scene);

#endif
