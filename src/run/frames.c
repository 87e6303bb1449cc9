/* Frames: when they are due, and their files. A frame and its contacts and surfaces need two
 * flushes: one for the bytes of all files and, after renaming, one for their names. Then the series
 * lists it. A single file is flushed by itself; several files are flushed with one call for the
 * whole file system, if that is as safe there. */
#include <errno.h>
#include <math.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/disk.h"
#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

bool tl_run_is_due(double every, double dt, uint64_t step) {
  /* Event k is at the step nearest to k * every, so only the two events next to this time can be at
   * this step. */
  const double k = floor((double)step * dt / every);
  const uint64_t first = k > 1 ? (uint64_t)k - 1 : 0;
  for (uint64_t event = first; event < first + 4; ++event)
    if (tl_grid_event(event, every, dt, UINT64_MAX) == step)
      return true;
  return false;
}

/* ---- folders --------------------------------------------------------------------------------- */

static const char *const names[TL_RUN_FOLDERS] = {"frames", "contacts", "surfaces"};
static const uint32_t needs[TL_RUN_FOLDERS] = {0, TL_FRAME_CONTACTS, TL_FRAME_SURFACES};

static bool is_wanted(uint32_t fields, size_t which) {
  return needs[which] == 0 || (fields & needs[which]) != 0;
}

talus_status tl_run_make_folder(tl_run *run, const char *name, int *fd) {
  if (mkdirat(run->folder, name, 0777) != 0 && errno != EEXIST)
    return tl_file_fail(errno, tl_run_path(run, "%s", name), "made");
  TL_TRY(tl_run_subfolder(run, name, fd));
  return *fd >= 0 ? TALUS_OK : tl_file_fail(ENOENT, tl_run_path(run, "%s", name), "opened");
}

/* Triangles do not change, and may be most of what there is to write: they are written once. A
 * resumed run writes them again, from the checkpoint. */
static talus_status write_shapes(tl_run *run) {
  run->has_meshes = false;
  for (size_t i = 0; i < run->world->model.shapes.count; ++i)
    run->has_meshes = run->has_meshes || run->world->model.shapes.data[i].kind == TALUS_MESH;
  if (!run->has_meshes || run->no_frames)
    return TALUS_OK;
  tl_file file = tl_run_own_file(run);
  TL_TRY(tl_output_write_shapes(run->world, tl_run_path(run, "shapes.hdf"), &file));
  return tl_file_end(&file, TALUS_OK);
}

talus_status tl_run_frames_open(tl_run *run) {
  struct stat folder, within;
  if (fstat(run->folder, &folder) != 0)
    return tl_file_fail(errno, tl_run_folder(run), "looked at");
  run->syncs_all = tl_disk_syncs_all(run->folder);
  for (size_t i = 0; i < TL_RUN_FOLDERS && !run->no_frames; ++i) {
    if (!is_wanted(run->fields, i))
      continue;
    TL_TRY(tl_run_make_folder(run, names[i], &run->within[i]));
    if (fstat(run->within[i], &within) != 0)
      return tl_file_fail(errno, tl_run_path(run, "%s", names[i]), "looked at");
    run->syncs_all = run->syncs_all && within.st_dev == folder.st_dev;
  }
  return write_shapes(run);
}

void tl_run_frames_close(tl_run *run) {
  for (size_t i = 0; i < TL_RUN_FOLDERS; ++i)
    if (run->within[i] >= 0)
      close(run->within[i]);
}

/* ---- one frame ------------------------------------------------------------------------------- */

#define STAGED_MOST (TL_RUN_FOLDERS + TL_SERIES)

/* Files that share their flushes: of the frame, and a series that needs more room. */
typedef struct frame_files {
  tl_file file[STAGED_MOST];
  int folder[STAGED_MOST]; /* the name of each is in */
  size_t count;
} frame_files;

static const char *frame_path(tl_run *run, size_t which) {
  return tl_run_path(run, "%s/%06zu.hdf", names[which], run->frames.count);
}

static talus_status stage(tl_run *run, size_t which, uint32_t fields, frame_files *staged) {
  tl_file *file = &staged->file[staged->count];
  const char *path = frame_path(run, which);
  *file = tl_file_own(run->within[which], run->folder_bytes + 1 + strlen(names[which]) + 1);
  const uint32_t apart = run->has_meshes ? TL_FRAME_SHAPES : 0;
  TL_TRY(which == 0   ? tl_output_write_frame(run->world, path, file, fields | apart)
         : which == 1 ? tl_output_write_contacts(run->world, path, file)
                      : tl_output_write_surfaces(run->world, path, file));
  staged->folder[staged->count++] = run->within[which];
  return TALUS_OK;
}

static talus_status sync_all(tl_run *run) {
  const int error = tl_disk_sync_all(run->folder);
  return error == 0 ? TALUS_OK : tl_file_fail(error, tl_run_folder(run), "written");
}

static talus_status sync_bytes(tl_run *run, frame_files *staged) {
  if (run->syncs_all && staged->count > 1)
    return sync_all(run);
  for (size_t i = 0; i < staged->count; ++i)
    TL_TRY(tl_file_sync(&staged->file[i]));
  return TALUS_OK;
}

static talus_status sync_names(tl_run *run, const frame_files *staged) {
  if (run->syncs_all && staged->count > 1)
    return sync_all(run);
  for (size_t i = 0; i < staged->count; ++i)
    TL_TRY(tl_folder_sync(staged->folder[i], tl_run_folder(run)));
  return TALUS_OK;
}

/* A full series is enlarged together with the next frame; it lists earlier frames. */
static talus_status stage_series(tl_run *run, frame_files *staged, tl_run_series *made,
                                 bool *grows) {
  for (tl_run_list list = 0; list < TL_SERIES; ++list) {
    grows[list] = tl_run_series_is_full(run, list);
    if (!grows[list])
      continue;
    TL_TRY(tl_run_series_stage(run, list, true, &staged->file[staged->count], &made[list]));
    staged->folder[staged->count++] = run->folder;
  }
  return TALUS_OK;
}

static talus_status place_all(tl_run *run, frame_files *staged) {
  TL_TRY(sync_bytes(run, staged));
  for (size_t i = 0; i < staged->count; ++i)
    TL_TRY(tl_file_place(&staged->file[i]));
  return sync_names(run, staged);
}

static talus_status write_files(tl_run *run, uint32_t fields, frame_files *staged) {
  tl_run_series made[TL_SERIES];
  bool grows[TL_SERIES];
  for (size_t i = 0; i < TL_RUN_FOLDERS; ++i)
    if (is_wanted(fields, i))
      TL_TRY(stage(run, i, fields, staged));
  TL_TRY(stage_series(run, staged, made, grows));
  TL_TRY(place_all(run, staged));
  for (tl_run_list list = 0; list < TL_SERIES; ++list)
    if (grows[list])
      TL_TRY(tl_run_series_adopt(run, list, &made[list]));
  return TALUS_OK;
}

talus_status tl_run_frames_write(tl_run *run, uint32_t fields) {
  const tl_run_frame frame = {.step = talus_world_steps(run->world),
                              .time = talus_world_time(run->world),
                              .is_gone = run->no_frames,
                              .has_surface = (fields & TL_FRAME_SURFACES) != 0};
  TL_TRY(tl_array_reserve(&run->frames, run->frames.count + 1));
  frame_files staged = {.count = 0};
  const talus_status status = run->no_frames ? TALUS_OK : write_files(run, fields, &staged);
  if (status == TALUS_OK) {
    run->frames.data[run->frames.count++] = frame;
    return TALUS_OK;
  }
  /* Removes a frame that the series will not list, with its contacts and surfaces. */
  for (size_t i = 0; i < staged.count; ++i)
    if (staged.file[i].name)
      tl_file_drop(&staged.file[i]);
  for (size_t i = 0; i < TL_RUN_FOLDERS; ++i)
    if (is_wanted(fields, i))
      unlinkat(run->within[i], strrchr(frame_path(run, i), '/') + 1, 0);
  return status;
}

talus_status tl_run_frames_list(tl_run *run) {
  if (run->no_frames)
    return TALUS_OK;
  TL_TRY(tl_run_series_add(run, TL_SERIES_FRAMES));
  return run->frames.data[run->frames.count - 1].has_surface
             ? tl_run_series_add(run, TL_SERIES_SURFACES)
             : TALUS_OK;
}

/* ---- going on -------------------------------------------------------------------------------- */

/* Only a name that does not exist is a removed file. */
static talus_status is_there(tl_run *run, const char *folder, size_t number, bool *there) {
  struct stat info;
  const char *path = tl_run_path(run, "%s/%06zu.hdf", folder, number);
  *there = fstatat(run->folder, path + run->folder_bytes + 1, &info, 0) == 0;
  return *there || errno == ENOENT ? TALUS_OK : tl_file_fail(errno, path, "looked at");
}

talus_status tl_run_frames_go_on(tl_run *run, size_t *gone) {
  bool has_surfaces = false;
  *gone = 0;
  for (size_t i = 0; i < run->frames.count; ++i) {
    tl_run_frame *frame = &run->frames.data[i];
    bool there;
    TL_TRY(is_there(run, "frames", i, &there));
    TL_TRY(is_there(run, "surfaces", i, &frame->has_surface));
    frame->is_gone = !there;
    *gone += frame->is_gone;
    has_surfaces = has_surfaces || frame->has_surface;
  }
  if (run->no_frames && *gone == run->frames.count) {
    *gone = 0;
    return TALUS_OK;
  }
  TL_TRY(tl_run_series_write(run, TL_SERIES_FRAMES, true));
  return has_surfaces ? tl_run_series_write(run, TL_SERIES_SURFACES, true) : TALUS_OK;
}

#endif
