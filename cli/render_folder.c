/* The frames of a result folder, and further data of the folder. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "render.h"

static char *joined(const char *a, const char *b, const char *c) {
  const size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
  char *text = malloc(size);
  if (text)
    snprintf(text, size, "%s%s%s", a, b, c);
  return text;
}

static bool add_frame(render_folder *folder, size_t *capacity, const char *path, const char *name) {
  char *end;
  errno = 0;
  const unsigned long number = strtoul(name, &end, 10);
  if (name[0] < '0' || name[0] > '9' || strcmp(end, ".hdf") != 0 || errno)
    return true; /* not a frame */
  if (folder->count == *capacity) {
    const size_t wanted = *capacity ? 2 * *capacity : 64;
    render_frame *frames = realloc(folder->frames, wanted * sizeof *frames);
    if (!frames)
      return false;
    folder->frames = frames;
    *capacity = wanted;
  }
  render_frame *to = &folder->frames[folder->count++];
  to->number = number;
  to->path = joined(path, "/frames/", name);
  to->contacts = joined(path, "/contacts/", name);
  return to->path && to->contacts;
}

static int by_number(const void *a, const void *b) {
  const unsigned long x = ((const render_frame *)a)->number, y = ((const render_frame *)b)->number;
  return (x > y) - (x < y);
}

static int out_of_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

static int find_frames(const char *path, render_folder *folder) {
  char *frames = joined(path, "/frames", "");
  if (!frames)
    return out_of_memory();
  DIR *open = opendir(frames);
  const int error = errno;
  free(frames);
  struct stat stats;
  if (!open && error != ENOENT && error != ENOTDIR) {
    cli_error("%s/frames: cannot be looked at: %s", path, strerror(error));
    return cli_exit_code_of(strerror(error));
  }
  if (!open && stat(path, &stats) != 0)
    cli_error("%s: %s; give the folder that `talus run` wrote (NAME.out, or that of its -o)", path,
              strerror(errno));
  else if (!open && !S_ISDIR(stats.st_mode))
    cli_error("%s is a file; give the result folder of a run", path);
  else if (!open)
    cli_error("%s has no frames: not a result folder of talus; talus run SCENE -o %s makes one",
              path, path);
  if (!open)
    return CLI_INPUT;
  bool good = true;
  size_t capacity = 0;
  for (const struct dirent *entry; good && (errno = 0, entry = readdir(open)) != NULL;)
    good = add_frame(folder, &capacity, path, entry->d_name);
  const int broken = good ? errno : 0;
  closedir(open);
  if (!good)
    return out_of_memory();
  if (broken) { /* a film would lack pictures */
    cli_error("%s/frames: cannot be looked at: %s", path, strerror(broken));
    return cli_exit_code_of(strerror(broken));
  }
  if (folder->count == 0) {
    cli_error("%s/frames holds no frame yet; let the run go on, or start it again", path);
    return CLI_INPUT;
  }
  qsort(folder->frames, folder->count, sizeof *folder->frames, by_number);
  return CLI_DONE;
}

/* ---- beyond the frames ----------------------------------------------------------------------- */

/* False if memory ran out: the picture would be another one. */
static bool find_title(const char *path, render_folder *folder) {
  char *scene_path = joined(path, "/scene.yaml", ""), why[1024];
  talus_scene *scene = NULL;
  bool good = scene_path != NULL;
  if (good && cli_load_own_scene(scene_path, &scene, why, sizeof why)) {
    talus_scene_info info;
    talus_scene_get_info(scene, &info);
    folder->title = joined(info.title ? info.title : "", "", "");
    good = folder->title != NULL;
    talus_scene_free(scene);
  } else
    good = good && cli_exit_code_of(why) != CLI_FAILED;
  free(scene_path);
  return good;
}

static int by_uid(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Frames do not say which bodies are fixed; the checkpoint does. Without one (or with one of the
 * other precision) every body counts as free: this affects only colours and the fitted view.
 * False if memory ran out. */
static bool find_fixed(const char *path, render_folder *folder) {
  char *checkpoint = joined(path, "/checkpoint.hdf", "");
  talus_world *world = NULL;
  const talus_status status =
      checkpoint ? talus_world_load(checkpoint, &world) : TALUS_ERROR_MEMORY;
  bool good = status != TALUS_ERROR_MEMORY;
  if (status == TALUS_OK) {
    const size_t n = talus_world_body_count(world);
    folder->fixed = malloc((n + 1) * sizeof *folder->fixed);
    good = folder->fixed != NULL;
    for (size_t i = 0; folder->fixed && i < n; ++i) {
      talus_body body;
      talus_body_info info;
      if (talus_world_body_at(world, i, &body) == TALUS_OK &&
          talus_world_get_body(world, body, &info) == TALUS_OK && info.kind != TALUS_FREE)
        folder->fixed[folder->fixed_count++] = info.uid;
    }
    if (folder->fixed)
      qsort(folder->fixed, folder->fixed_count, sizeof *folder->fixed, by_uid);
    folder->gear_count = render_gears_find(world, folder->gears);
    talus_world_destroy(world);
  }
  free(checkpoint);
  return good;
}

bool render_folder_is_fixed(const render_folder *folder, uint64_t uid) {
  return folder->fixed_count > 0 &&
         bsearch(&uid, folder->fixed, folder->fixed_count, sizeof *folder->fixed, by_uid) != NULL;
}

int render_folder_open(const char *path, render_folder *folder) {
  *folder = (render_folder){0};
  const int code = find_frames(path, folder);
  if (code != CLI_DONE)
    return code;
  return find_title(path, folder) && find_fixed(path, folder) ? CLI_DONE : out_of_memory();
}

void render_folder_close(render_folder *folder) {
  for (size_t i = 0; i < folder->count; ++i) {
    free(folder->frames[i].path);
    free(folder->frames[i].contacts);
  }
  free(folder->frames);
  free(folder->title);
  free(folder->fixed);
  *folder = (render_folder){0};
}

/* ---- choosing one ---------------------------------------------------------------------------- */

size_t render_folder_find_frame(const render_folder *folder, const char *text) {
  char *end;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (end == text || *end || errno) {
    cli_error("render: option '--frame': '%s' is not a whole number; -1 is the last frame", text);
    return folder->count;
  }
  if (number < 0 && (unsigned long)-number <= folder->count)
    return folder->count - (size_t)-number;
  for (size_t i = 0; number >= 0 && i < folder->count; ++i)
    if (folder->frames[i].number == (unsigned long)number)
      return i;
  cli_error("there is no frame %ld: the folder has %zu, from %lu to %lu", number, folder->count,
            folder->frames[0].number, folder->frames[folder->count - 1].number);
  return folder->count;
}

/* Times grow with the numbers, so only a few of many files are opened. */
size_t render_folder_find_time(const render_folder *folder, double time) {
  char why[1024];
  size_t low = 0, high = folder->count - 1;
  double before = -INFINITY, after = INFINITY;
  if (!frame_read_time(folder->frames[low].path, &before, why, sizeof why) ||
      !frame_read_time(folder->frames[high].path, &after, why, sizeof why)) {
    cli_error("%s", why);
    return folder->count;
  }
  if (time < before - 1e-9 || time > after + 1e-9) {
    cli_error("there is no frame at t = %.10g s: the folder goes from %.10g s to %.10g s", time,
              before, after);
    return folder->count;
  }
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    double now;
    if (!frame_read_time(folder->frames[middle].path, &now, why, sizeof why)) {
      cli_error("%s", why);
      return folder->count;
    }
    if (now <= time) {
      low = middle;
      before = now;
    } else {
      high = middle;
      after = now;
    }
  }
  return time - before <= after - time ? low : high;
}
