/* What of a study's folder the study wrote itself, shown by how each file begins: only that is
 * replaced or removed, with --force too. */
#include "sweep.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"

/* As much of it as there is room for. */
static bool read_head(const char *path, char *head, size_t size) {
  char why[4400];
  FILE *file = tl_input_file(path, why, sizeof why);
  if (!file)
    return false;
  head[fread(head, 1, size - 1, file)] = '\0';
  const bool good = !ferror(file);
  fclose(file);
  return good;
}

static bool begins(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static bool is_scene(const char *head) { return begins(head, SWEEP_SCENE_HEAD); }

/* A line of columns of which the last are these. */
static bool has_columns(const char *head, const char *some, const char *last) {
  const size_t length = strcspn(head, "\n"), end = strlen(last);
  const char *there = strstr(head, some);
  return there && there < head + length && length > end &&
         strncmp(head + length - end, last, end) == 0;
}

static bool is_table(const char *head) { return has_columns(head, "runs,failed", ",reason"); }
static bool is_runs(const char *head) { return has_columns(head, ",state", ",folder,reason"); }
static bool is_plot(const char *head) { return begins(head, "<svg xmlns="); }

/* What `talus run --quiet` prints: messages, then the line of its end; or OpenMP's last words. */
static bool is_log(const char *head) {
  return begins(head, "talus: ") || begins(head, "hash ") ||
         begins(head + strspn(head, "\n"), "libgomp: ") || begins(head, "OMP: ");
}

/* Whether it is not there, empty, or ours. A link is not, whatever it points to: it would be
 * followed. */
static bool may_go(const char *path, bool (*is_ours)(const char *)) {
  char head[4096];
  struct stat there;
  if (lstat(path, &there) != 0)
    return errno == ENOENT;
  if (!S_ISREG(there.st_mode))
    return false;
  return there.st_size == 0 || (read_head(path, head, sizeof head) && is_ours(head));
}

bool sweep_is_log(const char *path) { return may_go(path, is_log); }

bool sweep_is_begun_scene(const char *path) {
  struct stat there;
  return lstat(path, &there) == 0 && may_go(path, is_scene);
}

/* A log that is no plain file is left alone: its run fails, and the others go on. */
static bool is_left_alone(const char *path) {
  struct stat there;
  return lstat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

static int prove(const sweep *study, const char *name, const char *suffix,
                 bool (*is_ours)(const char *)) {
  char path[4096];
  sweep_path(study, name, suffix, path, sizeof path);
  if (may_go(path, is_ours) || (is_ours == is_log && is_left_alone(path)))
    return CLI_DONE;
  cli_error("%s was not written by talus sweep, and this study would replace it; move it away, or "
            "choose another folder with -o",
            path);
  return CLI_INPUT;
}

int sweep_prove(const sweep *study, bool scene) {
  int code = scene ? prove(study, "scene", ".yaml", is_scene) : CLI_DONE;
  if (code == CLI_DONE)
    code = prove(study, "table", ".csv", is_table);
  if (code == CLI_DONE)
    code = prove(study, "runs", ".csv", is_runs);
  for (size_t k = 0; k < study->measure_count && code == CLI_DONE; ++k) {
    char name[32] = "plot";
    if (k > 0)
      snprintf(name, sizeof name, "plot-%zu", k + 1);
    code = prove(study, name, ".svg", is_plot);
  }
  for (size_t i = 0; i < study->run_count && code == CLI_DONE; ++i)
    code = prove(study, study->runs[i].name, ".log", is_log);
  return code;
}
