/* The folder of a study: its lock, its identity, and results of earlier calls.
 *
 * study/scene.yaml is the scene before any variation; study/NAME/ the result folder of a run, and
 * study/NAME.log its output, whose last line shows that it finished. */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "file_write.h"

void sweep_path(const sweep *study, const char *name, const char *suffix, char *path, size_t size) {
  const size_t length = strlen(study->folder);
  const char *slash = length > 0 && study->folder[length - 1] == '/' ? "" : "/";
  snprintf(path, size, "%s%s%s%s", study->folder, slash, name, suffix);
}

/* ---- whose folder it is ---------------------------------------------------------------------- */

static bool print_scene(FILE *to, const void *text) {
  return fprintf(to, SWEEP_SCENE_HEAD "%s understood it, before anything was varied.\n",
                 talus_version()) > 0 &&
         fputs(text, to) >= 0;
}

/* True if a file has exactly that text, after a comment line that older studies do not have.
 * why: empty if the file could be read. */
static bool has_text(const char *path, const char *text, char *why, size_t size) {
  FILE *file = tl_input_file(path, why, size);
  if (!file)
    return false;
  *why = '\0';
  int first = fgetc(file);
  while (first == '#') {
    int c;
    do
      c = fgetc(file);
    while (c != EOF && c != '\n');
    first = fgetc(file);
  }
  bool same = first == (unsigned char)*text;
  text += same;
  for (; *text && same; ++text)
    same = fgetc(file) == (unsigned char)*text;
  same = same && fgetc(file) == EOF;
  if (ferror(file)) {
    same = false;
    snprintf(why, size, "%s: cannot be read: %s", path, strerror(errno));
  }
  fclose(file);
  return same;
}

static int lock_folder(sweep *study) {
  if (mkdir(study->folder, 0777) != 0 && errno != EEXIST) {
    cli_error("%s: could not be made: %s", study->folder, strerror(errno));
    return CLI_FAILED;
  }
  study->lock = open(study->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (study->lock < 0) {
    cli_error("%s: could not be opened as a folder: %s", study->folder, strerror(errno));
    return CLI_INPUT;
  }
  if (flock(study->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    cli_error("%s: another sweep is at work in this folder", study->folder);
    return CLI_INPUT;
  }
  return CLI_DONE;
}

/* True for the result folder of a run, which cannot be the folder of a study. */
static bool is_result_folder(const sweep *study) {
  char path[4096];
  struct stat there;
  sweep_path(study, "history.csv", "", path, sizeof path);
  return stat(path, &there) == 0;
}

/* Calls fn for the name of every entry of the folder; false, with errno set, if it cannot be read.
 */
static bool each_entry(const sweep *study, void (*fn)(const sweep *, const char *, void *),
                       void *context) {
  DIR *folder = opendir(study->folder);
  if (!folder)
    return false;
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(folder);
    if (!entry)
      break;
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      fn(study, entry->d_name, context);
  }
  const int error = errno;
  closedir(folder);
  errno = error;
  return error == 0;
}

static void count_entry(const sweep *study, const char *name, void *context) {
  char path[4096];
  sweep_path(study, name, "", path, sizeof path);
  if (strcmp(name, "scene.yaml.part") != 0 || !sweep_is_begun_scene(path))
    ++*(size_t *)context;
}

/* Removes the log of a run whose scene has changed: its last line would say that the run is
 * finished. Runs have names like `friction=0.3,seed=2`. */
static void forget_run(const sweep *study, const char *name, void *context) {
  char path[4096], run[256];
  struct stat there;
  const size_t length = strlen(name);
  (void)context;
  if (length < 5 || length >= sizeof run || strcmp(name + length - 4, ".log") != 0 ||
      !strchr(name, '='))
    return;
  snprintf(run, sizeof run, "%.*s", (int)(length - 4), name);
  sweep_path(study, run, "/history.csv", path, sizeof path);
  if (stat(path, &there) != 0)
    return;
  sweep_path(study, name, "", path, sizeof path);
  if (sweep_is_log(path))
    unlink(path);
}

static int cannot_be_read(const sweep *study) {
  cli_error("%s: could not be read: %s", study->folder, strerror(errno));
  return CLI_FAILED;
}

/* Takes a folder that is not yet that of a study. */
static int claim_new(const sweep *study) {
  size_t entries = 0;
  if (!each_entry(study, count_entry, &entries))
    return cannot_be_read(study);
  if (entries == 0 || study->force)
    return CLI_DONE;
  cli_error("%s: this folder is not empty and holds no study; choose another folder with -o, or "
            "--force to write into it",
            study->folder);
  return CLI_INPUT;
}

static int claim(const sweep *study, const char *text) {
  char path[4096];
  struct stat there, scene;
  sweep_path(study, "scene.yaml", "", path, sizeof path);
  const bool is_there = lstat(path, &there) == 0;
  if (!is_there && errno != ENOENT) {
    cli_error("%s: could not be looked at: %s", path, strerror(errno));
    return CLI_FAILED;
  }
  if (is_result_folder(study)) {
    cli_error("%s: this is the result folder of a run; choose another folder with -o",
              study->folder);
    return CLI_INPUT;
  }
  if (is_there && stat(study->scene, &scene) == 0 && scene.st_dev == there.st_dev &&
      scene.st_ino == there.st_ino) {
    cli_error("%s: the study would replace the scene itself; choose another folder with -o", path);
    return CLI_INPUT;
  }
  char why[4400] = "";
  if (is_there && has_text(path, text, why, sizeof why))
    return sweep_prove(study, false);
  if (*why && S_ISREG(there.st_mode)) {
    cli_error("%s; talus sweep must see whether this study is the one that is there", why);
    return CLI_FAILED;
  }
  if (is_there && !study->force) {
    cli_error("%s: this folder is of another study: its scene.yaml differs from %s; choose another "
              "folder with -o, or --force to begin anew here",
              study->folder, study->scene);
    return CLI_INPUT;
  }
  if (!is_there) {
    const int code = claim_new(study);
    if (code != CLI_DONE)
      return code;
  }
  const int code = sweep_prove(study, is_there);
  if (code != CLI_DONE)
    return code;
  if (!each_entry(study, forget_run, NULL))
    return cannot_be_read(study);
  return cli_write_file(path, print_scene, text);
}

int sweep_open_folder(sweep *study, const talus_scene *base) {
  char *text = NULL;
  int code = lock_folder(study);
  if (code != CLI_DONE)
    return code;
  if (talus_scene_write(base, &text) != TALUS_OK) {
    cli_error("%s", talus_last_error());
    return CLI_FAILED;
  }
  code = claim(study, text);
  talus_text_free(text);
  return code;
}

/* ---- what runs printed ----------------------------------------------------------------------- */

typedef bool line_fn(const char *line, void *context);

/* Calls fn for every line until it returns true. */
static bool any_line(const sweep *study, const sweep_run *run, line_fn *is_it, void *context) {
  char path[4096], why[256], line[2048];
  sweep_path(study, run->name, ".log", path, sizeof path);
  FILE *file = tl_input_file(path, why, sizeof why);
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    found = is_it(line, context);
  }
  if (file)
    fclose(file);
  return found;
}

static bool is_last(const char *line, void *context) {
  (void)context;
  return strncmp(line, "hash ", 5) == 0;
}

void sweep_find_finished(sweep *study) {
  for (size_t i = 0; i < study->run_count && !study->force; ++i) {
    sweep_run *run = &study->runs[i];
    run->was_there = any_line(study, run, is_last, NULL);
    if (!run->was_there)
      continue;
    run->state = SWEEP_DONE;
    sweep_measure_run(study, run);
  }
}

static bool is_error(const char *line, void *context) {
  static const char start[] = "talus: error: ";
  sweep_run *run = context;
  if (strncmp(line, start, sizeof start - 1) != 0)
    return false;
  snprintf(run->reason, sizeof run->reason, "%s", line + sizeof start - 1);
  return true;
}

void sweep_read_reason(const sweep *study, sweep_run *run) { any_line(study, run, is_error, run); }
