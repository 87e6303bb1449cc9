/* Frames: when they are due, their files, and the series that lists them. */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/file.h"
#include "run.h"

#if TALUS_HAVE_HDF5 && TALUS_HAVE_YAML

bool tl_run_is_due(double every, double dt, uint64_t step) {
  /* Event k is at the step nearest k * every, so only the events next to this time can be here. */
  const double k = floor((double)step * dt / every);
  const uint64_t first = k > 1 ? (uint64_t)k - 1 : 0;
  for (uint64_t event = first; event < first + 4; ++event)
    if (tl_grid_event(event, every, dt, UINT64_MAX) == step)
      return true;
  return false;
}

static talus_status make_folder(tl_run *run, const char *name) {
  const char *path = tl_run_path(run, "%s", name);
  if (mkdirat(run->folder, name, 0777) != 0 && errno != EEXIST)
    return tl_file_fail(errno, path, "made");
  return TALUS_OK;
}

typedef talus_status write_fn(struct talus_world *world, const char *path, tl_file *keep);

static talus_status write_beside(tl_run *run, const char *folder, write_fn *write) {
  const unsigned long long number = run->frames.count;
  TL_TRY(make_folder(run, folder));
  tl_file file = tl_run_own_file(run);
  TL_TRY(write(run->world, tl_run_path(run, "%s/%06llu.hdf", folder, number), &file));
  return tl_file_end(&file, TALUS_OK);
}

static talus_status write_files(tl_run *run, uint32_t fields) {
  const unsigned long long number = run->frames.count;
  TL_TRY(make_folder(run, "frames"));
  tl_file file = tl_run_own_file(run);
  TL_TRY(tl_output_write_frame(run->world, tl_run_path(run, "frames/%06llu.hdf", number), &file,
                               fields));
  talus_status status = tl_file_end(&file, TALUS_OK);
  if (status == TALUS_OK && (fields & TL_FRAME_CONTACTS))
    status = write_beside(run, "contacts", tl_output_write_contacts);
  if (status == TALUS_OK && (fields & TL_FRAME_SURFACES))
    status = write_beside(run, "surfaces", tl_output_write_surfaces);
  const size_t skip = run->folder_bytes + 1;
  /* A frame that the series will not list is not left behind, nor what belongs to it. */
  if (status != TALUS_OK) {
    unlinkat(run->folder, tl_run_path(run, "frames/%06llu.hdf", number) + skip, 0);
    unlinkat(run->folder, tl_run_path(run, "contacts/%06llu.hdf", number) + skip, 0);
  }
  return status;
}

talus_status tl_run_frames_write(tl_run *run, uint32_t fields) {
  const tl_run_frame frame = {.step = talus_world_steps(run->world)};
  TL_TRY(tl_array_reserve(&run->frames, run->frames.count + 1));
  TL_TRY(write_files(run, fields));
  run->frames.data[run->frames.count++] = frame;
  return TALUS_OK;
}

/* Of surfaces those that are there: a run may have begun without them. */
static talus_status write_series(tl_run *run, const char *folder, bool only_there) {
  tl_text text = {0};
  bool first = true;
  tl_text_add(&text, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [");
  for (size_t i = 0; i < run->frames.count; ++i) {
    const tl_run_frame *frame = &run->frames.data[i];
    if (only_there ? access(tl_run_path(run, "%s/%06zu.hdf", folder, i), F_OK) != 0
                   : frame->is_gone)
      continue;
    tl_text_add(&text, "%s\n    {\"name\": \"%s/%06zu.hdf\", \"time\": ", first ? "" : ",", folder,
                i);
    tl_text_add_number(&text, (double)frame->step * run->dt);
    tl_text_add(&text, "}");
    first = false;
  }
  tl_text_add(&text, "\n  ]\n}\n");
  talus_status status = text.status;
  if (status == TALUS_OK)
    status = tl_file_write(tl_run_own_file(run), tl_run_path(run, "%s.hdf.series", folder),
                           text.data, text.count);
  tl_text_drop(&text);
  return status;
}

talus_status tl_run_frames_write_series(tl_run *run) {
  TL_TRY(write_series(run, "frames", false));
  const bool has_surfaces = (run->fields & TL_FRAME_SURFACES) ||
                            access(tl_run_path(run, "surfaces.hdf.series"), F_OK) == 0;
  return has_surfaces ? write_series(run, "surfaces", true) : TALUS_OK;
}

#endif
