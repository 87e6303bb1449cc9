/* Averaged fields: fields/NAME/NNNNNN.hdf, one for each interval, and fields/NAME.hdf.series.
 *
 * Each file is written aside, flushed and renamed; then the series is written anew, with every file
 * while they are few, later with every 64th, and at the end. It never lists what is not there. */
#include <unistd.h>

#include "base/clock.h"
#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

#define FEW 64

talus_status tl_run_fields_plan(tl_run *run) {
  const size_t n = tl_scene_average_count(run->scene);
  TL_TRY(tl_array_reserve(&run->averages, n));
  for (size_t i = 0; i < n; ++i) {
    tl_run_average average = {.last = -1};
    average.name = tl_scene_get_average(run->scene, i, &average.every);
    run->averages.data[run->averages.count++] = average;
  }
  return TALUS_OK;
}

static talus_status make_one(tl_run *run, const char *name) {
  char path[300];
  int fd;
  snprintf(path, sizeof path, "fields/%s", name);
  TL_TRY(tl_run_make_folder(run, path, &fd));
  close(fd);
  return TALUS_OK;
}

talus_status tl_run_fields_open(tl_run *run) {
  if (run->averages.count == 0)
    return TALUS_OK;
  int fd;
  TL_TRY(tl_run_make_folder(run, "fields", &fd));
  talus_status status = TALUS_OK;
  for (size_t i = 0; i < run->averages.count && status == TALUS_OK; ++i)
    status = make_one(run, run->averages.data[i].name);
  if (status == TALUS_OK)
    status = tl_folder_sync(fd, tl_run_path(run, "fields"));
  close(fd);
  return status;
}

/* ---- the series ------------------------------------------------------------------------------ */

/* All intervals but the last of a run end on the grid of outputs. */
static double end_of(const tl_run *run, const tl_run_average *average, uint64_t number) {
  if (number + 1 == average->count && average->last >= 0)
    return average->last;
  return (double)tl_grid_event(number + 1, average->every, run->dt, UINT64_MAX) * run->dt;
}

static talus_status write_series(tl_run *run, tl_run_average *average) {
  tl_text text = {0};
  tl_text_add(&text, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [");
  for (uint64_t i = 0; i < average->count; ++i) {
    tl_text_add(&text, "%s\n    {\"name\": \"%s/%06llu.hdf\", \"time\": ", i > 0 ? "," : "",
                average->name, (unsigned long long)i);
    tl_text_add_number(&text, end_of(run, average, i));
    tl_text_add(&text, "}");
  }
  tl_text_add(&text, "\n  ]\n}\n");
  talus_status status = text.status;
  if (status == TALUS_OK)
    status =
        tl_file_write(tl_run_own_file(run), tl_run_path(run, "fields/%s.hdf.series", average->name),
                      text.data, text.count);
  tl_text_drop(&text);
  average->listed = average->count;
  return status;
}

talus_status tl_run_fields_list(tl_run *run) {
  for (size_t i = 0; i < run->averages.count; ++i)
    if (run->averages.data[i].listed != run->averages.data[i].count)
      TL_TRY(write_series(run, &run->averages.data[i]));
  return TALUS_OK;
}

/* ---- one interval ---------------------------------------------------------------------------- */

static talus_status write_one(tl_run *run, size_t i) {
  tl_run_average *average = &run->averages.data[i];
  const char *path =
      tl_run_path(run, "fields/%s/%06llu.hdf", average->name, (unsigned long long)average->count);
  tl_file file = tl_run_own_file(run);
  TL_TRY(tl_output_write_average(run->world, (uint32_t)i, path, &file));
  TL_TRY(tl_file_end(&file, TALUS_OK));
  average->count++;
  average->last = talus_world_time(run->world);
  return average->count <= FEW || average->count % FEW == 0 ? write_series(run, average) : TALUS_OK;
}

talus_status tl_run_fields_add(tl_run *run, bool all) {
  const uint64_t step = talus_world_steps(run->world);
  const double begin = tl_clock();
  bool wrote = false;
  for (size_t i = 0; i < run->averages.count; ++i) {
    if (run->world->flow.averages.data[i].weight <= 0 ||
        !(all || tl_run_is_due(run->averages.data[i].every, run->dt, step)))
      continue;
    if (!wrote)
      TL_TRY(tl_run_folder_check(run));
    wrote = true;
    TL_TRY(write_one(run, i));
  }
  if (wrote)
    run->wall_output += tl_clock() - begin;
  return TALUS_OK;
}

/* ---- going on -------------------------------------------------------------------------------- */

talus_status tl_run_fields_go_on(tl_run *run) {
  TL_TRY(tl_run_fields_open(run));
  for (size_t i = 0; i < run->averages.count; ++i) {
    tl_run_average *average = &run->averages.data[i];
    average->last = -1;
    TL_TRY(write_series(run, average)); /* before what it listed is removed */
    char path[300];
    snprintf(path, sizeof path, "fields/%s", average->name);
    TL_TRY(tl_run_own_cut_folder(run, path, average->count));
  }
  return TALUS_OK;
}

#endif
