/* The result folder: creates it, checks what is in it, writes scene.yaml and compares it with the
 * present scene. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "output/file.h"
#include "run/run.h"
#include "scene/files.h"

#if TALUS_HAVE_HDF5

const char *tl_run_path(tl_run *run, const char *fmt, ...) {
  char *name = run->path + run->folder_bytes;
  *name++ = '/';
  va_list args;
  va_start(args, fmt);
  vsnprintf(name, run->path_bytes - run->folder_bytes - 1, fmt, args);
  va_end(args);
  return run->path;
}

tl_file tl_run_own_file(const tl_run *run) {
  return tl_file_own(run->folder, run->folder_bytes + 1);
}

const char *tl_run_folder(tl_run *run) {
  run->path[run->folder_bytes] = '\0';
  return run->path;
}

/* ---- before the run -------------------------------------------------------------------------- */

talus_status tl_run_folder_is_empty(tl_run *run, bool *is_empty) {
  const char *path = tl_run_folder(run);
  DIR *folder = opendir(path);
  if (!folder)
    return tl_file_fail(errno, path, "read");
  *is_empty = true;
  errno = 0;
  for (const struct dirent *entry; *is_empty && (entry = readdir(folder)) != NULL;)
    *is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  const int error = *is_empty ? errno : 0;
  closedir(folder);
  return error == 0 ? TALUS_OK : tl_file_fail(error, path, "read");
}

/* The checkpoint is missing only if its name does not exist. If it cannot be read, or is a link to
 * something that is not there at the moment, the run must not be overwritten. */
static talus_status find_checkpoint(tl_run *run, bool *is_there) {
  struct stat there;
  *is_there = fstatat(run->folder, "checkpoint.hdf", &there, AT_SYMLINK_NOFOLLOW) == 0;
  if (*is_there || errno == ENOENT)
    return TALUS_OK;
  return tl_file_fail(errno, tl_run_path(run, "checkpoint.hdf"), "looked at");
}

/* Beginning anew would remove what the scene takes its bodies from. */
static talus_status refuse_source(tl_run *run) {
  const tl_scene_body *bodies = run->scene->bodies.data;
  struct stat own, source;
  if (fstat(run->folder, &own) != 0)
    return tl_file_fail(errno, tl_run_folder(run), "looked at");
  for (size_t i = 0; i < run->scene->bodies.count; ++i) {
    tl_text path = {0};
    if (!bodies[i].from)
      continue;
    tl_scene_add_path(&path, run->scene, bodies[i].from->from);
    const talus_status status = path.status;
    const bool is_own = status == TALUS_OK && stat(path.data, &source) == 0 &&
                        source.st_dev == own.st_dev && source.st_ino == own.st_ino;
    tl_text_drop(&path);
    TL_TRY(status);
    if (is_own)
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s is the run that the scene takes its bodies `from`; give the results "
                     "another folder",
                     tl_run_folder(run));
  }
  return TALUS_OK;
}

talus_status tl_run_folder_look(tl_run *run, bool *has_checkpoint) {
  bool is_empty;
  TL_TRY(find_checkpoint(run, has_checkpoint));
  TL_TRY(tl_run_folder_is_empty(run, &is_empty));
  if (is_empty || (run->def->resume && *has_checkpoint))
    return TALUS_OK;
  if (!run->def->resume && !run->def->force)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s is not empty; --resume goes on with the run in it, --force begins anew (and "
                   "removes talus's own files there)",
                   tl_run_folder(run));
  TL_TRY(refuse_source(run));
  return tl_run_own_prove(run, 0);
}

/* Flushes the folder too. */
static talus_status make_one(const char *path) {
  if (mkdir(path, 0777) == 0)
    return tl_file_sync_name(path);
  return errno == EEXIST ? TALUS_OK : tl_file_fail(errno, path, "made");
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
  tl_text_add(text, TL_SCENE_HEAD "%s understood it (%s precision, backend %s).\n", talus_version(),
              TALUS_SINGLE ? "single" : "double", talus_backend_name(run->def->backend));
  tl_text_add_bytes(text, resolved, strlen(resolved));
  talus_text_free(resolved);
  return text->status;
}

talus_status tl_run_folder_write_scene(tl_run *run) {
  tl_text text = {0};
  talus_status status = scene_text(run, &text);
  if (status == TALUS_OK)
    status =
        tl_file_write(tl_run_own_file(run), tl_run_path(run, "scene.yaml"), text.data, text.count);
  tl_text_drop(&text);
  return status;
}

/* ---- what changed ---------------------------------------------------------------------------- */

#define SCENE_MOST ((size_t)64 << 20) /* bytes: none is larger (scene/document.h) */

static talus_status read_file(const char *path, tl_text *text) {
  char why[4400];
  FILE *file = tl_input_file(path, why, sizeof why);
  if (!file)
    return tl_fail(TALUS_ERROR_IO, "%s", why);
  char block[1 << 14];
  for (size_t n; text->count <= SCENE_MOST && (n = fread(block, 1, sizeof block, file)) > 0;)
    tl_text_add_bytes(text, block, n);
  fclose(file);
  return text->status;
}

/* Finds the next top-level key of a written scene: its begin, its name, and the begin of the key
 * after it. */
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

/* Adds to `text` the keys whose part differs between a and b; with only_missing, the keys that b
 * lacks. */
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
