#include "tools.h"

#include <errno.h>
#include <string.h>

#define MOST_WORDS 64

int bench_parse(const cli_usage *usage, const char *name, int argc, char **argv) {
  char own[64], *arguments[MOST_WORDS] = {own};
  snprintf(own, sizeof own, "%s", name);
  if (argc >= MOST_WORDS)
    argc = MOST_WORDS - 1;
  for (int i = 1; i < argc; ++i)
    arguments[i] = argv[i];
  return cli_parse(usage, argc, arguments, NULL);
}

bool bench_csv_open(const char *folder, const char *name, const char *header, FILE **file) {
  *file = NULL;
  if (!folder)
    return true;
  char path[600];
  snprintf(path, sizeof path, "%s/%s.csv", folder, name);
  *file = fopen(path, "w");
  if (!*file) {
    cli_error("%s: %s", path, strerror(errno));
    return false;
  }
  fprintf(*file, "%s\n", header);
  return true;
}

bool bench_csv_close(FILE *file) {
  if (!file || fclose(file) == 0)
    return true;
  cli_error("bench: a table could not be written: %s", strerror(errno));
  return false;
}
