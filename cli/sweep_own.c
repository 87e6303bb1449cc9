/* What of a study's folder the study wrote itself, shown by how each file begins: only that is
 * replaced or removed, with --force too. */
#include "sweep.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"

#define WHY_BYTES 4400

/* As much of it as there is room for; false, and why, if it cannot be read. */
static bool read_head(const char *path, char *head, size_t size, char why[WHY_BYTES]) {
  FILE *file = tl_input_file(path, why, WHY_BYTES);
  if (!file)
    return false;
  errno = 0;
  head[fread(head, 1, size - 1, file)] = '\0';
  const bool good = !ferror(file);
  if (!good)
    snprintf(why, WHY_BYTES, "%s: cannot be read: %s", path, strerror(errno));
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

typedef enum verdict { OURS, FOREIGN, UNREAD } verdict;

/* Ours is also what is not there or empty. A link is foreign, whatever it points to: it would be
 * followed. */
static verdict judge(const char *path, bool (*is_ours)(const char *), char why[WHY_BYTES]) {
  char head[4096];
  struct stat there;
  if (lstat(path, &there) != 0) {
    snprintf(why, WHY_BYTES, "%s: cannot be looked at: %s", path, strerror(errno));
    return errno == ENOENT ? OURS : UNREAD;
  }
  if (!S_ISREG(there.st_mode))
    return FOREIGN;
  if (there.st_size == 0)
    return OURS;
  if (!read_head(path, head, sizeof head, why))
    return UNREAD;
  return is_ours(head) ? OURS : FOREIGN;
}

bool sweep_is_log(const char *path) {
  char why[WHY_BYTES];
  return judge(path, is_log, why) == OURS;
}

bool sweep_is_begun_scene(const char *path) {
  char why[WHY_BYTES];
  struct stat there;
  return lstat(path, &there) == 0 && judge(path, is_scene, why) == OURS;
}

/* A log that is no plain file is left alone: its run fails, and the others go on. */
static bool is_left_alone(const char *path) {
  struct stat there;
  return lstat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

static int prove(const sweep *study, const char *name, const char *suffix,
                 bool (*is_ours)(const char *)) {
  char path[4096], why[WHY_BYTES];
  sweep_path(study, name, suffix, path, sizeof path);
  const verdict seen = judge(path, is_ours, why);
  if (seen == OURS || (is_ours == is_log && is_left_alone(path)))
    return CLI_DONE;
  if (seen == UNREAD) {
    cli_error("%s; talus sweep replaces only what it sees to be its own", why);
    return CLI_FAILED;
  }
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
