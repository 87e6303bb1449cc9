/* Finds and removes talus's own files in a folder, for a new run or one that continues from a
 * checkpoint.
 *
 * Without --force a file is removed only if its content shows that talus wrote it. If another file
 * has one of talus's names, the run is refused before anything is removed. With --force the name is
 * enough, except for scene.yaml, which may be the user's only copy. Linked folders are neither
 * cleared nor written to. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

/* ---- what is ours ---------------------------------------------------------------------------- */

#define HDF5_HEAD "\x89HDF\r\n\x1a\n"

typedef struct own_name {
  const char *name;
  const char *head; /* how such a file begins; NULL: with the time of day */
} own_name;

/* The checkpoint is removed first: if the process is killed here, a resumed run starts from the
 * beginning. */
static const own_name own_files[] = {
    {"checkpoint.hdf", "talus checkpoint\n"},
    {"frames.hdf.series", "{\n  \"file-series-version\""},
    {"surfaces.hdf.series", "{\n  \"file-series-version\""},
    {"scene.yaml", TL_SCENE_HEAD},
    {"history.csv", "time,steps,bodies,"},
    {"joints.csv", "time,joint,"},
    {"steps.csv", "length,steps,"},
    {"shapes.hdf", HDF5_HEAD},
};
#define OWN_FILES (sizeof own_files / sizeof *own_files)

typedef enum folder_kind { NUMBERED, PROBES, SINKS, SERIES } folder_kind;

typedef struct own_folder {
  const char *name;
  folder_kind kind;
} own_folder;

/* Folders within `fields` have names from the scene. They are found by listing `fields`. */
static const own_folder own_folders[] = {{"frames", NUMBERED},   {"contacts", NUMBERED},
                                         {"surfaces", NUMBERED}, {"probes", PROBES},
                                         {"sinks", SINKS},       {"fields", SERIES}};
#define OWN_FOLDERS (sizeof own_folders / sizeof *own_folders)

/* Cuts off ".part", which a killed run leaves; *length is the length of the remaining name. */
static bool is_partial(const char *name, size_t *length) {
  const size_t bytes = strlen(name), suffix = sizeof ".part" - 1;
  const bool partial = bytes > suffix && strcmp(name + bytes - suffix, ".part") == 0;
  *length = partial ? bytes - suffix : bytes;
  return partial;
}

/* Matches "000042.hdf" and "000042.hdf.part"; *number is 42. */
static bool is_numbered(const char *name, uint64_t *number, bool *partial) {
  size_t length, digits = 0;
  *partial = is_partial(name, &length);
  *number = 0;
  while (digits < length && digits < 18 && isdigit((unsigned char)name[digits]))
    *number = *number * 10 + (uint64_t)(name[digits++] - '0');
  return digits >= 6 && length == digits + 4 && strncmp(name + digits, ".hdf", 4) == 0;
}

static bool ends_with(const char *name, const char *end) {
  const size_t bytes = strlen(name), length = strlen(end);
  return bytes > length && strcmp(name + bytes - length, end) == 0;
}

/* Whether the name of a file in such a folder is one that talus uses: numbered files from `from`
 * on, and every half-written file. */
static bool is_own_name(folder_kind kind, const char *name, uint64_t from, bool *partial) {
  uint64_t number;
  *partial = false;
  if (kind == NUMBERED)
    return is_numbered(name, &number, partial) && (*partial || number >= from);
  *partial = kind == SERIES && ends_with(name, ".hdf.series.part");
  return *partial || ends_with(name, kind == SERIES ? ".hdf.series" : ".csv");
}

static const char *head_of(folder_kind kind) {
  return kind == NUMBERED ? HDF5_HEAD
         : kind == SERIES ? "{\n  \"file-series-version\""
         : kind == SINKS  ? TL_SINKS_HEAD
                          : "from,to,";
}

/* ---- proof ----------------------------------------------------------------------------------- */

#define HEAD_BYTES 4096

static bool begins_with_time(const char *text) {
  static const char form[] = "dddd-dd-ddTdd:dd:ddZ ";
  for (size_t i = 0; form[i]; ++i)
    if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
      return false;
  return true;
}

/* A run that is killed before it wrote its first line leaves an empty file, which is ours and may
 * go. */
static bool begins_as(const char *there, size_t n, const char *head) {
  if (n == 0 || there[0] == '\0') /* after a power cut, text that was not flushed may be zeros */
    return true;
  if (!head)
    return n >= sizeof "0000-00-00T00:00:00Z " - 1 && begins_with_time(there);
  const size_t length = strlen(head);
  return memcmp(there, head, n < length ? n : length) == 0;
}

/* Frames, contacts and surfaces have our mark after their first block (h5_write.c). Files that the
 * HDF5 library wrote have the name of the root group near their begin. */
static bool has_talus_word(const char *there, size_t n) {
  for (size_t i = 0; i + sizeof "talus" <= n; ++i)
    if (memcmp(there + i, "talus", sizeof "talus") == 0)
      return true;
  return false;
}

/* 0 or errno. Neither a link nor anything but a plain file is ours, and opening it does not wait.
 */
static int read_head(int at, const char *name, char *there, size_t *n, bool *plain) {
  struct stat info;
  *n = 0;
  *plain = false;
  if (fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno;
  if (!S_ISREG(info.st_mode))
    return 0;
  const int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return errno;
  *plain = true;
  int error = 0;
  while (error == 0 && *n < HEAD_BYTES) {
    const ssize_t got = read(fd, there + *n, HEAD_BYTES - *n);
    if (got == 0)
      break;
    if (got > 0)
      *n += (size_t)got;
    else if (errno != EINTR)
      error = errno;
  }
  close(fd);
  return error;
}

typedef struct own_file {
  int at;           /* the folder it is in */
  const char *name; /* there */
  const char *path; /* within the result folder */
  const char *head;
  bool partial, numbered;
} own_file;

/* *ours: the file exists, and its content shows that talus wrote it. */
static talus_status look_at(tl_run *run, const own_file *file, bool *is_there, bool *ours) {
  char there[HEAD_BYTES];
  size_t n;
  bool plain;
  const int error = read_head(file->at, file->name, there, &n, &plain);
  *is_there = error != ENOENT;
  *ours = false;
  if (error != 0)
    return *is_there ? tl_file_fail(error, tl_run_path(run, "%s", file->path), "read") : TALUS_OK;
  *ours = plain && begins_as(there, n, file->head) &&
          (!file->numbered || file->partial || has_talus_word(there, n));
  return TALUS_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef talus_status own_fn(tl_run *run, const own_file *file);

/* Calls `visit` for each file of one folder whose name is one of ours. */
static talus_status visit_open(tl_run *run, DIR *folder, const own_folder *which, uint64_t from,
                               own_fn *visit) {
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(folder);
    if (!entry)
      return errno == 0 ? TALUS_OK
                        : tl_file_fail(errno, tl_run_path(run, "%s", which->name), "read");
    bool partial;
    if (!is_own_name(which->kind, entry->d_name, from, &partial))
      continue;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", which->name, entry->d_name);
    TL_TRY(visit(run, &(own_file){.at = dirfd(folder),
                                  .name = entry->d_name,
                                  .path = path,
                                  .head = head_of(which->kind),
                                  .partial = partial,
                                  .numbered = which->kind == NUMBERED}));
  }
}

/* *folder is NULL where there is none. */
static talus_status open_folder(tl_run *run, const char *name, DIR **folder) {
  int fd;
  *folder = NULL;
  TL_TRY(tl_run_subfolder(run, name, &fd));
  if (fd < 0)
    return TALUS_OK;
  *folder = fdopendir(fd);
  if (*folder)
    return TALUS_OK;
  const int error = errno;
  close(fd);
  return tl_file_fail(error, tl_run_path(run, "%s", name), "read");
}

static talus_status visit_folder(tl_run *run, const own_folder *which, uint64_t from,
                                 own_fn *visit) {
  DIR *folder;
  TL_TRY(open_folder(run, which->name, &folder));
  if (!folder)
    return TALUS_OK;
  const talus_status status = visit_open(run, folder, which, from, visit);
  closedir(folder);
  return status;
}

/* Visits each folder within `fields`, and then removes it if it is empty and `removes` is set. */
static talus_status visit_within(tl_run *run, DIR *fields, bool removes, own_fn *visit) {
  for (;;) {
    struct stat info;
    char path[512];
    errno = 0;
    const struct dirent *entry = readdir(fields);
    if (!entry)
      return errno == 0 ? TALUS_OK : tl_file_fail(errno, tl_run_path(run, "fields"), "read");
    if (entry->d_name[0] == '.' ||
        fstatat(dirfd(fields), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISDIR(info.st_mode))
      continue;
    snprintf(path, sizeof path, "fields/%s", entry->d_name);
    TL_TRY(visit_folder(run, &(own_folder){path, NUMBERED}, 0, visit));
    if (removes)
      (void)unlinkat(dirfd(fields), entry->d_name,
                     AT_REMOVEDIR); /* it stays where it is not empty */
  }
}

static talus_status visit_fields(tl_run *run, bool removes, own_fn *visit) {
  DIR *fields;
  TL_TRY(open_folder(run, "fields", &fields));
  if (!fields)
    return TALUS_OK;
  /* Removes and flushes a series before the files that it lists, so that a power cut leaves no
   * series without its files. */
  talus_status status = TALUS_OK;
  if (removes)
    status = visit_open(run, fields, &(own_folder){"fields", SERIES}, 0, visit);
  if (status == TALUS_OK && removes)
    status = tl_folder_sync(dirfd(fields), tl_run_path(run, "fields"));
  rewinddir(fields);
  if (status == TALUS_OK)
    status = visit_within(run, fields, removes, visit);
  closedir(fields);
  return status;
}

static talus_status visit_files(tl_run *run, size_t first, bool partial, own_fn *visit) {
  for (size_t i = first; i < OWN_FILES; ++i) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", own_files[i].name, partial ? ".part" : "");
    TL_TRY(visit(run, &(own_file){.at = run->folder,
                                  .name = name,
                                  .path = name,
                                  .head = own_files[i].head,
                                  .partial = partial}));
  }
  return TALUS_OK;
}

talus_status tl_run_subfolder(tl_run *run, const char *name, int *fd) {
  *fd = openat(run->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (*fd >= 0 || errno == ENOENT)
    return TALUS_OK;
  const int error = errno;
  struct stat there;
  if ((error == ELOOP || error == ENOTDIR) &&
      fstatat(run->folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(there.st_mode))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s is a link; talus removes and writes nothing beyond links within a result "
                   "folder: remove it, or make the whole folder the link",
                   tl_run_path(run, "%s", name));
  return tl_file_fail(error, tl_run_path(run, "%s", name), "opened");
}

/* ---- proving and removing -------------------------------------------------------------------- */

static bool is_name_of(const char *csv, const char *name) {
  const size_t length = strlen(csv) - (sizeof ".csv" - 1);
  return strlen(name) == length && strncmp(name, csv, length) == 0;
}

/* path: within the result folder, "probes/floor.csv". */
static bool is_planned(const tl_run *run, const char *csv, const char *path) {
  const bool is_sink = strncmp(path, "sinks/", 6) == 0;
  const bool is_series = strncmp(path, "fields/", 7) == 0;
  for (size_t i = 0; is_series && i < run->averages.count; ++i) {
    const char *name = run->averages.data[i].name;
    if (strncmp(csv, name, strlen(name)) == 0 && strcmp(csv + strlen(name), ".hdf.series") == 0)
      return true;
  }
  for (size_t i = 0; is_sink && i < run->sinks.count; ++i) {
    char name[128];
    if (is_name_of(csv, tl_run_sink_name(run, i, name, sizeof name)))
      return true;
  }
  for (size_t i = 0; !is_sink && !is_series && i < run->probes.count; ++i)
    if (is_name_of(csv, run->probes.data[i].plan.name))
      return true;
  for (size_t i = 0; !is_sink && !is_series && i < run->zones.count; ++i)
    if (is_name_of(csv, run->zones.data[i].name))
      return true;
  return false;
}

/* A half-written file that is not ours stays; it does no harm. */
static talus_status prove(tl_run *run, const own_file *file) {
  bool is_there, ours;
  TL_TRY(look_at(run, file, &is_there, &ours));
  const bool scene = file->at == run->folder && strcmp(file->name, "scene.yaml") == 0;
  const bool probe = !file->numbered && file->at != run->folder;
  if (!is_there || ours || file->partial || (run->def->force && !scene && !probe))
    return TALUS_OK;
  if (probe && !is_planned(run, file->name, file->path))
    return TALUS_OK; /* any table may lie there */
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s was not written by talus, and a run would replace it; give the results a "
                 "folder of their own",
                 tl_run_path(run, "%s", file->path));
}

static talus_status remove_one(tl_run *run, const own_file *file) {
  bool is_there = true, ours = true;
  if (!run->def->force || (!file->numbered && file->at != run->folder))
    TL_TRY(look_at(run, file, &is_there, &ours));
  if (is_there && ours && unlinkat(file->at, file->name, 0) != 0 && errno != ENOENT)
    return tl_file_fail(errno, tl_run_path(run, "%s", file->path), "removed");
  return TALUS_OK;
}

/* Also where a run goes on: it writes scene.yaml and the series anew, and cuts tables. Its
 * checkpoint has been loaded, and may be a link. */
talus_status tl_run_own_prove(tl_run *run, uint64_t from) {
  TL_TRY(visit_files(run, from == 0 ? 0 : 1, false, prove));
  TL_TRY(prove(run, &(own_file){.at = run->folder, .name = "log.txt", .path = "log.txt"}));
  for (size_t i = 0; i < OWN_FOLDERS; ++i)
    TL_TRY(visit_folder(run, &own_folders[i], from, prove));
  return from == 0 ? visit_fields(run, false, prove) : TALUS_OK;
}

talus_status tl_run_own_clear(tl_run *run) {
  /* Flushes the removal of the checkpoint, so that it cannot reappear after a power cut without the
   * other files. */
  TL_TRY(remove_one(run, &(own_file){.at = run->folder,
                                     .name = own_files[0].name,
                                     .path = own_files[0].name,
                                     .head = own_files[0].head}));
  TL_TRY(tl_folder_sync(run->folder, tl_run_folder(run)));
  TL_TRY(visit_files(run, 0, false, remove_one));
  TL_TRY(visit_files(run, 0, true, remove_one));
  /* Does the same for a series, which must not reappear without its frames. */
  TL_TRY(tl_folder_sync(run->folder, tl_run_folder(run)));
  TL_TRY(visit_fields(run, true, remove_one));
  for (size_t i = 0; i < OWN_FOLDERS; ++i) {
    TL_TRY(visit_folder(run, &own_folders[i], 0, remove_one));
    const char *name = own_folders[i].name;
    /* It stays where it is not empty. */
    if (unlinkat(run->folder, name, AT_REMOVEDIR) != 0 && errno != ENOENT && errno != ENOTEMPTY &&
        errno != EEXIST)
      return tl_file_fail(errno, tl_run_path(run, "%s", name), "removed");
  }
  return TALUS_OK;
}

talus_status tl_run_own_cut(tl_run *run, uint64_t from) {
  TL_TRY(visit_files(run, 0, true, remove_one));
  for (size_t i = 0; i < OWN_FOLDERS; ++i)
    if (own_folders[i].kind == NUMBERED)
      TL_TRY(visit_folder(run, &own_folders[i], from, remove_one));
  return TALUS_OK;
}

talus_status tl_run_own_cut_folder(tl_run *run, const char *folder, uint64_t from) {
  return visit_folder(run, &(own_folder){folder, NUMBERED}, from, remove_one);
}

#endif
