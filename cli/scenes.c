/* talus scenes: lists built-in scenes and the format; and reads scenes for every command. */
#include "cli.h"

#include "base/input.h"
#include "base/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints all lines, which may contain file names with any characters. */
static void put_problems(const char *problems) {
  const size_t room = 8 * strlen(problems) + 8;
  char *shown = malloc(room);
  if (shown)
    tl_escape(problems, shown, room);
  fputs(shown ? shown : "out of memory", stderr);
  if (problems[strlen(problems) - 1] != '\n')
    fputc('\n', stderr);
  free(shown);
}

bool cli_load_own_scene(const char *path, talus_scene **scene, char *why, size_t size) {
  FILE *file = tl_input_file(path, why, size);
  *scene = NULL;
  if (!file)
    return false;
  fclose(file);
  if (talus_scene_load(path, NULL, 0, scene, NULL) == TALUS_OK)
    return true;
  snprintf(why, size, "%s", talus_last_error());
  return false;
}

int cli_load_scene(const char *path, const cli_texts *settings, talus_scene **scene) {
  char *problems = NULL;
  const talus_status status =
      talus_scene_load(path, settings->data, settings->count, scene, &problems);
  if (status == TALUS_OK)
    return CLI_DONE;
  if (problems && *problems) {
    put_problems(problems);
    cli_error("%s is not a valid scene; nothing was run", path);
  } else
    cli_error("%s", talus_last_error());
  talus_text_free(problems);
  return status == TALUS_ERROR_MEMORY ? CLI_FAILED : cli_exit_code_of(talus_last_error());
}

static int list(void) {
  const size_t n = talus_builtin_count();
  for (size_t i = 0; i < n; ++i) {
    const char *name, *about, *text;
    talus_builtin_get(i, &name, &about, &text);
    printf("%-16s %s\n", name, about);
  }
  return CLI_DONE;
}

static int show(const char *wanted) {
  const size_t n = talus_builtin_count();
  const char **names = calloc(n + 1, sizeof *names);
  if (!names) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  const char *near = NULL;
  for (size_t i = 0; i < n; ++i) {
    const char *about, *text;
    talus_builtin_get(i, &names[i], &about, &text);
    if (strcmp(names[i], wanted) == 0) {
      fputs(text, stdout);
      free(names);
      return CLI_DONE;
    }
  }
  near = cli_suggest(wanted, names, n);
  cli_error("there is no built-in scene '%s'%s%s%s; talus scenes lists them", wanted,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  free(names);
  return CLI_INPUT;
}

static int show_schema(void) {
  char *text;
  const talus_status status = talus_scene_schema(&text);
  if (status != TALUS_OK) {
    cli_error("%s", talus_last_error());
    return cli_exit_code(status);
  }
  fputs(text, stdout);
  talus_text_free(text);
  return CLI_DONE;
}

int cli_scenes(int argc, char **argv) {
  bool schema = false;
  const cli_option options[] = {
      {"schema", 0, CLI_FLAG, NULL, "print every key of the scene format, as Markdown", &schema},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus scenes [NAME] [options]",
      .about = "Lists the built-in scenes, one line each. With NAME prints that scene as YAML,\n"
               "a start for one of your own.",
      .options = options,
      .most = 1};
  const char *name = NULL;
  const int parsed = cli_parse(&usage, argc, argv, &name);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if (schema && name) {
    cli_error("scenes: --schema prints the whole format; leave '%s' out", name);
    return CLI_INPUT;
  }
  return schema ? show_schema() : name ? show(name) : list();
}
