/* Command lines: one table of options per command drives reading and --help. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- help ------------------------------------------------------------------------------------ */

static void show_option(const cli_option *option) {
  char left[64];
  char letter[5] = "";
  if (option->letter)
    snprintf(letter, sizeof letter, "-%c, ", option->letter);
  snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
           option->value ? option->value : "");
  printf("  %-22s %s\n", left, option->help);
}

static void show_help(const cli_usage *usage) {
  static const cli_option help = {.name = "help", .letter = 'h', .help = "this text"};
  printf("%s\n\n%s\n", usage->synopsis, usage->about);
  printf("\nOptions:\n");
  for (const cli_option *option = usage->options; option->name; ++option)
    show_option(option);
  show_option(&help);
  if (usage->more)
    printf("\n%s", usage->more);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A command line being read. */
typedef struct command_line {
  const cli_usage *usage;
  int argc, at; /* at: index of the current argument */
  char **argv;
} command_line;

/* "run" of "talus run SCENE", for messages. */
static const char *command_of(const command_line *line) { return line->argv[0]; }

/* True for the American spelling of an option; names are British. */
static bool is_other_spelling(const char *ours, const char *name, size_t length) {
  return strcmp(ours, "colour") == 0 && length == 5 && strncmp(name, "color", length) == 0;
}

static const cli_option *find(const command_line *line, const char *name, size_t length) {
  for (const cli_option *option = line->usage->options; option->name; ++option)
    if ((strlen(option->name) == length && strncmp(option->name, name, length) == 0) ||
        is_other_spelling(option->name, name, length))
      return option;
  return NULL;
}

static int refuse_unknown(const command_line *line, const char *name, size_t length) {
  const char *names[32];
  size_t n = 0;
  names[n++] = "help";
  for (const cli_option *option = line->usage->options; option->name && n < 32; ++option)
    names[n++] = option->name;
  char word[48];
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), name);
  const char *near = cli_suggest(word, names, n);
  cli_error("%s: unknown option '--%.*s'%s%s%s see talus %s --help", command_of(line), (int)length,
            name, near ? "; did you mean '--" : "", near ? near : "", near ? "'? If not," : ";",
            command_of(line));
  return CLI_REFUSED;
}

static bool store_number(const char *text, double *to) {
  char *end;
  errno = 0;
  *to = strtod(text, &end);
  return *text && *end == '\0' && isfinite(*to) && text[strspn(text, "0123456789+-.eE")] == '\0';
}

static bool store_count(const char *text, int *to) {
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (!*text || *end || text[0] < '0' || text[0] > '9' || errno || value > INT_MAX)
    return false;
  *to = (int)value;
  return true;
}

static bool store(const cli_option *option, const char *text) {
  switch (option->kind) {
  case CLI_FLAG:
    *(bool *)option->to = true;
    return true;
  case CLI_TEXT:
    *(const char **)option->to = text;
    return *text != '\0';
  case CLI_TEXTS: {
    cli_texts *texts = option->to;
    texts->data[texts->count++] = text;
    return true;
  }
  case CLI_NUMBER:
    return store_number(text, option->to);
  case CLI_COUNT:
    return store_count(text, option->to);
  }
  return false;
}

static const char *expected(const cli_option *option) {
  return option->kind == CLI_NUMBER  ? "a number"
         : option->kind == CLI_COUNT ? "a whole number, 0 or more"
                                     : "a value";
}

/* Takes an option; `value`: the text behind '=' in the same argument, or NULL. */
static int take(command_line *line, const cli_option *option, const char *value) {
  if (option->kind == CLI_FLAG && value) {
    cli_error("%s: option '--%s' takes no value", command_of(line), option->name);
    return CLI_REFUSED;
  }
  if (option->kind != CLI_FLAG && !value) {
    if (line->at + 1 >= line->argc) {
      cli_error("%s: option '--%s' needs %s: --%s %s", command_of(line), option->name,
                expected(option), option->name, option->value);
      return CLI_REFUSED;
    }
    value = line->argv[++line->at];
  }
  if (!store(option, value ? value : "")) {
    cli_error("%s: option '--%s': '%s' is not %s", command_of(line), option->name, value,
              expected(option));
    return CLI_REFUSED;
  }
  return 0;
}

static int take_long(command_line *line, const char *name) {
  const size_t length = strcspn(name, "=");
  if (strcmp(name, "help") == 0) {
    show_help(line->usage);
    return CLI_HELP_SHOWN;
  }
  const cli_option *option = find(line, name, length);
  if (!option)
    return refuse_unknown(line, name, length);
  return take(line, option, name[length] == '=' ? name + length + 1 : NULL);
}

static int take_short(command_line *line, const char *argument) {
  if (strcmp(argument, "h") == 0) {
    show_help(line->usage);
    return CLI_HELP_SHOWN;
  }
  for (const cli_option *option = line->usage->options; option->name; ++option)
    if (option->letter == argument[0]) /* the end of the list never matches: argument is not "" */
      return take(line, option, argument[1] ? argument + 1 : NULL);
  cli_error("%s: unknown option '-%s'; see talus %s --help", command_of(line), argument,
            command_of(line));
  return CLI_REFUSED;
}

int cli_parse(const cli_usage *usage, int argc, char **argv, const char **arguments) {
  command_line line = {usage, argc, 1, argv};
  int count = 0;
  bool only_arguments = false;
  for (; line.at < argc; ++line.at) {
    const char *argument = argv[line.at];
    int status = 0;
    if (!only_arguments && strcmp(argument, "--") == 0)
      only_arguments = true;
    else if (!only_arguments && strncmp(argument, "--", 2) == 0)
      status = take_long(&line, argument + 2);
    else if (!only_arguments && argument[0] == '-' && argument[1])
      status = take_short(&line, argument + 1);
    else if (count == usage->most) {
      cli_error("%s: '%s' is one argument too many; see talus %s --help", argv[0], argument,
                argv[0]);
      return CLI_REFUSED;
    } else
      arguments[count++] = argument;
    if (status != 0)
      return status;
  }
  if (count < usage->least) {
    cli_error("%s: %s is missing: %s", argv[0], usage->wants, usage->synopsis);
    return CLI_REFUSED;
  }
  return count;
}
