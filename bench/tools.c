#include "tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output/file.h"

#define MOST_WORDS 64
#define MOST_FILES 4

double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

int bench_list(const char *text, double *out, int most) {
  int n = 0;
  char *end;
  for (const char *at = text; *at; at = *end == ',' ? end + 1 : end) {
    if (n == most)
      return 0;
    out[n] = strtod(at, &end);
    if (end == at || !(out[n] > 0) || (*end && *end != ','))
      return 0;
    n++;
  }
  return n;
}

int bench_parse(const cli_usage *usage, const char *name, int argc, char **argv) {
  char own[64], *arguments[MOST_WORDS] = {own};
  snprintf(own, sizeof own, "%s", name);
  if (argc >= MOST_WORDS)
    argc = MOST_WORDS - 1;
  for (int i = 1; i < argc; ++i)
    arguments[i] = argv[i];
  return cli_parse(usage, argc, arguments, NULL);
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct {
  FILE *stream; /* NULL: free */
  tl_file file;
} files[MOST_FILES];

FILE *bench_open(const char *path) {
  int i = 0;
  while (i < MOST_FILES && files[i].stream)
    i++;
  if (i == MOST_FILES) {
    cli_error("bench: %s: too many files are open", path);
    return NULL;
  }
  files[i].file = tl_file_given();
  talus_status status = tl_file_begin(&files[i].file, path);
  if (status == TALUS_OK) {
    status = tl_file_stream(&files[i].file, &files[i].stream);
    if (status != TALUS_OK)
      tl_file_drop(&files[i].file);
  }
  if (status != TALUS_OK)
    cli_error("%s", talus_last_error());
  return files[i].stream;
}

bool bench_close(FILE *file) {
  int i = 0;
  while (i < MOST_FILES && files[i].stream != file)
    i++;
  if (i == MOST_FILES)
    return fclose(file) == 0;
  tl_file *whole = &files[i].file;
  files[i].stream = NULL;
  const bool good = !ferror(file);
  talus_status status = fclose(file) == 0 && good
                            ? TALUS_OK
                            : tl_file_fail(errno != 0 ? errno : EIO, whole->name, "written");
  status = tl_file_end(whole, status);
  if (status != TALUS_OK)
    cli_error("%s", talus_last_error());
  return status == TALUS_OK;
}

bool bench_csv_open(const char *folder, const char *name, const char *header, FILE **file) {
  *file = NULL;
  if (!folder)
    return true;
  char path[600];
  snprintf(path, sizeof path, "%s/%s.csv", folder, name);
  *file = bench_open(path);
  if (!*file)
    return false;
  fprintf(*file, "%s\n", header);
  return true;
}

bool bench_csv_close(FILE *file) { return !file || bench_close(file); }

bool bench_has_table(const char *bench, const char *table, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!table || strcmp(table, names[i]) == 0)
      return true;
  const char *near = cli_suggest(table, names, n);
  cli_error("bench %s: there is no table '%s'%s%s%s", bench, table, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
  return false;
}

void bench_peer_folder(char *folder, size_t bytes) {
  const char *told = getenv("TALUS_PEERS");
  if (told && *told) {
    snprintf(folder, bytes, "%s", told);
    return;
  }
  const ssize_t n = readlink("/proc/self/exe", folder, bytes - 1);
  folder[n > 0 ? n : 0] = 0;
  char *slash = strrchr(folder, '/');
  if (slash)
    *slash = 0;
}
