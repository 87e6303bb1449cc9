/* The result folder: which files are talus's own, and how a folder is begun, cut back and told
 * apart. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/file.h"
#include "run.h"

#if TALUS_HAVE_HDF5 && TALUS_HAVE_YAML

const char *tl_run_path(tl_run *run, const char *fmt, ...) {
  char *name = run->path + run->folder_bytes;
  *name++ = '/';
  va_list args;
  va_start(args, fmt);
  vsnprintf(name, run->path_bytes - run->folder_bytes - 1, fmt, args);
  va_end(args);
  return run->path;
}

const char *tl_run_folder(tl_run *run) {
  run->path[run->folder_bytes] = '\0';
  return run->path;
}

/* ---- our own files --------------------------------------------------------------------------- */

/* Without ".part", which a killed run leaves; *length is that of the name before it. */
static bool is_partial(const char *name, size_t *length) {
  const size_t bytes = strlen(name), suffix = sizeof ".part" - 1;
  const bool partial = bytes > suffix && strcmp(name + bytes - suffix, ".part") == 0;
  *length = partial ? bytes - suffix : bytes;
  return partial;
}

/* "000042.hdf", or the same half written; *number is 42. */
static bool is_numbered(const char *name, uint64_t *number, bool *partial) {
  size_t length, digits = 0;
  *partial = is_partial(name, &length);
  *number = 0;
  while (digits < length && digits < 18 && isdigit((unsigned char)name[digits]))
    *number = *number * 10 + (uint64_t)(name[digits++] - '0');
  return digits >= 6 && length == digits + 4 && strncmp(name + digits, ".hdf", 4) == 0;
}

/* A probe's file can have any name: it is told by how it begins. */
static bool is_probe(int folder, const char *name) {
  static const char head[] = "from,to,";
  char there[sizeof head - 1];
  const size_t bytes = strlen(name);
  if (bytes < 5 || strcmp(name + bytes - 4, ".csv") != 0)
    return false;
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return false;
  const ssize_t n = read(fd, there, sizeof there);
  close(fd);
  /* Killed before its first line: empty. */
  return n == 0 || (n == (ssize_t)sizeof there && memcmp(there, head, sizeof there) == 0);
}

typedef enum folder_kind { NUMBERED, PROBES } folder_kind;

/* Removes files of one of our own folders: numbered ones from `from` on and half written ones, or
 * probes. What is not ours stays, and so does then the folder. */
static talus_status clear_folder(tl_run *run, const char *name, folder_kind kind, uint64_t from) {
  const char *path = tl_run_path(run, "%s", name);
  DIR *folder = opendir(path);
  if (!folder)
    return errno == ENOENT ? TALUS_OK : tl_file_fail(errno, path, "read");
  int error = 0;
  for (const struct dirent *entry; error == 0 && (entry = readdir(folder)) != NULL;) {
    uint64_t number;
    bool partial;
    const bool ours = kind == PROBES ? is_probe(dirfd(folder), entry->d_name)
                                     : is_numbered(entry->d_name, &number, &partial) &&
                                           (partial || number >= from);
    if (ours && unlinkat(dirfd(folder), entry->d_name, 0) != 0 && errno != ENOENT)
      error = errno;
  }
  closedir(folder);
  return error == 0 ? TALUS_OK : tl_file_fail(error, path, "cleared");
}

static talus_status remove_file(tl_run *run, const char *name, const char *suffix) {
  const char *path = tl_run_path(run, "%s%s", name, suffix);
  if (unlink(path) != 0 && errno != ENOENT)
    return tl_file_fail(errno, path, "removed");
  return TALUS_OK;
}

static const char *const own_files[] = {"checkpoint.hdf",      "frames.hdf.series",
                                        "surfaces.hdf.series", "scene.yaml",
                                        "history.csv",         "joints.csv"};
static const char *const own_folders[] = {"frames", "contacts", "surfaces", "probes"};

/* The checkpoint goes first: whoever is killed in here and resumes begins anew. */
talus_status tl_run_folder_clear(tl_run *run) {
  for (size_t i = 0; i < sizeof own_files / sizeof *own_files; ++i) {
    TL_TRY(remove_file(run, own_files[i], ""));
    TL_TRY(remove_file(run, own_files[i], ".part"));
  }
  for (size_t i = 0; i < sizeof own_folders / sizeof *own_folders; ++i) {
    TL_TRY(clear_folder(run, own_folders[i], i == 3 ? PROBES : NUMBERED, 0));
    (void)rmdir(tl_run_path(run, "%s", own_folders[i])); /* stays where it is not empty */
  }
  return TALUS_OK;
}

talus_status tl_run_folder_cut(tl_run *run, uint64_t from) {
  for (size_t i = 0; i < sizeof own_files / sizeof *own_files; ++i)
    TL_TRY(remove_file(run, own_files[i], ".part"));
  TL_TRY(clear_folder(run, "frames", NUMBERED, from));
  TL_TRY(clear_folder(run, "surfaces", NUMBERED, from));
  return clear_folder(run, "contacts", NUMBERED, from);
}

/* ---- before the run -------------------------------------------------------------------------- */

#define SCENE_HEAD "# The scene of this folder as talus "

/* Not there, empty, or one that we wrote: it may go. What somebody wrote may not, least of all the
 * scene that is about to run (-o .). */
static bool is_own_scene(const char *path) {
  char there[sizeof SCENE_HEAD - 1];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT;
  const ssize_t n = read(fd, there, sizeof there);
  close(fd);
  return n == 0 || (n == (ssize_t)sizeof there && memcmp(there, SCENE_HEAD, sizeof there) == 0);
}

talus_status tl_run_folder_look(tl_run *run, bool *has_checkpoint) {
  *has_checkpoint = access(tl_run_path(run, "checkpoint.hdf"), F_OK) == 0;
  const char *path = tl_run_folder(run);
  DIR *folder = opendir(path);
  if (!folder) {
    if (errno == ENOENT)
      return TALUS_OK;
    if (errno == ENOTDIR)
      return tl_fail(TALUS_ERROR_INVALID, "%s is a file; the results need a folder", path);
    return tl_file_fail(errno, path, "read");
  }
  bool empty = true;
  for (const struct dirent *entry; empty && (entry = readdir(folder)) != NULL;)
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  closedir(folder);
  if (empty || (run->def->resume && *has_checkpoint))
    return TALUS_OK;
  if ((run->def->resume || run->def->force) && !is_own_scene(tl_run_path(run, "scene.yaml")))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s was not written by talus, and a run would replace it; give the results a "
                   "folder of their own",
                   tl_run_path(run, "scene.yaml"));
  if (run->def->resume || run->def->force)
    return TALUS_OK;
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s is not empty; --resume goes on with the run in it, --force begins anew (and "
                 "removes talus's own files there)",
                 tl_run_folder(run));
}

static talus_status make_one(const char *path) {
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return tl_file_fail(errno, path, "made");
  return TALUS_OK;
}

talus_status tl_run_folder_make(tl_run *run) {
  (void)tl_run_folder(run);
  char *path = run->path;
  for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; ++slash) {
    struct stat there;
    *slash = '\0';
    const talus_status status = stat(path, &there) == 0 ? TALUS_OK : make_one(path);
    *slash = '/';
    TL_TRY(status);
  }
  return make_one(path);
}

/* ---- scene.yaml ------------------------------------------------------------------------------ */

static talus_status scene_text(const tl_run *run, tl_text *text) {
  talus_scene scene = *run->scene; /* shallow: only to be written */
  scene.until.time = run->until;
  char *resolved;
  TL_TRY(talus_scene_write(&scene, &resolved));
  tl_text_add(text, SCENE_HEAD "%s understood it (%s precision, backend %s).\n", talus_version(),
              TALUS_SINGLE ? "single" : "double", "cpu");
  tl_text_add_bytes(text, resolved, strlen(resolved));
  talus_text_free(resolved);
  return text->status;
}

talus_status tl_run_folder_write_scene(tl_run *run) {
  tl_text text = {0};
  talus_status status = scene_text(run, &text);
  if (status == TALUS_OK)
    status = tl_file_write(tl_run_path(run, "scene.yaml"), text.data, text.count);
  tl_text_drop(&text);
  return status;
}

/* ---- what changed ---------------------------------------------------------------------------- */

static talus_status read_file(const char *path, tl_text *text) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return tl_file_fail(errno, path, "read");
  char block[1 << 14];
  for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
    tl_text_add_bytes(text, block, n);
  fclose(file);
  return text->status;
}

/* The next top-level key of a written scene: where it begins, its name, and where the next does. */
static const char *next_key(const char *at, size_t *name, const char **end) {
  while (*at && !isalpha((unsigned char)*at)) {
    at = strchr(at, '\n');
    if (!at)
      return NULL;
    at++;
  }
  if (!*at)
    return NULL;
  *name = strcspn(at, ":\n");
  *end = at;
  do {
    const char *line = strchr(*end, '\n');
    *end = line ? line + 1 : *end + strlen(*end);
  } while (**end && !isalpha((unsigned char)**end));
  return at;
}

static bool find_key(const char *text, const char *key, size_t length, const char **from,
                     const char **to) {
  size_t name;
  for (const char *at = text, *end; (at = next_key(at, &name, &end)) != NULL; at = end)
    if (name == length && strncmp(at, key, length) == 0) {
      *from = at;
      *to = end;
      return true;
    }
  return false;
}

static bool may_change(const char *key, size_t length) {
  static const char *const keys[] = {"until", "output", "probes", "quiet", "strict"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    if (strlen(keys[i]) == length && strncmp(keys[i], key, length) == 0)
      return true;
  return false;
}

/* Adds to `text` the keys of a whose part differs from b's; with only_missing, those b lacks. */
static void list_changes(const char *a, const char *b, bool only_missing, char *text, size_t size) {
  size_t name;
  for (const char *at = a, *end; (at = next_key(at, &name, &end)) != NULL; at = end) {
    const char *from, *to;
    const bool there = find_key(b, at, name, &from, &to);
    if (may_change(at, name) || (there && only_missing) ||
        (there && to - from == end - at && memcmp(from, at, (size_t)(end - at)) == 0))
      continue;
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", (int)name, at);
  }
}

void tl_run_folder_compare(tl_run *run, char *text, size_t size) {
  tl_text now = {0}, then = {0};
  *text = '\0';
  if (scene_text(run, &now) == TALUS_OK &&
      read_file(tl_run_path(run, "scene.yaml"), &then) == TALUS_OK && then.data) {
    list_changes(now.data, then.data, false, text, size);
    list_changes(then.data, now.data, true, text, size);
  }
  tl_text_drop(&now);
  tl_text_drop(&then);
}

#endif
