/* sinks/NAME.csv: a line for each body that a sink took, and sinks/outside.csv for those that left
 * the domain. A sink whose name is no name of a file has sinks/sink-N.csv, N from 0 on. */
#include <unistd.h>

#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

#define TAKEN_AT_ONCE 256

static const char head[] = TL_SINKS_HEAD "radius,mass,x,y,z,vx,vy,vz\n";

static bool is_file_name(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return name[strspn(name, letters)] == '\0' && name[0] != '.' && name[0] != '-' &&
         strncmp(name, "sink-", 5) != 0;
}

const char *tl_run_sink_name(const tl_run *run, size_t i, char *text, size_t size) {
  const char *name = i < run->sink_count ? tl_scene_sink_name(run->scene, i) : TL_SINK_OUTSIDE;
  if (name && is_file_name(name))
    snprintf(text, size, "%s", name);
  else
    snprintf(text, size, "sink-%zu", i);
  return text;
}

talus_status tl_run_sinks_plan(tl_run *run) {
  talus_scene_info info;
  talus_scene_get_info(run->scene, &info);
  run->sink_count = info.sinks;
  const size_t n = info.sinks + tl_scene_removes_outside(run->scene);
  TL_TRY(tl_array_reserve(&run->sinks, n));
  const tl_lines none = {.fd = -1};
  for (size_t i = 0; i < n; ++i)
    run->sinks.data[run->sinks.count++] = none;
  return TALUS_OK;
}

talus_status tl_run_sinks_open(tl_run *run, const uint64_t *keep) {
  if (run->sinks.count == 0)
    return TALUS_OK;
  int folder;
  TL_TRY(tl_run_make_folder(run, "sinks", &folder));
  talus_status status = TALUS_OK;
  for (size_t i = 0; status == TALUS_OK && i < run->sinks.count; ++i) {
    char name[128];
    tl_lines *lines = &run->sinks.data[i];
    status =
        tl_lines_open(lines, run->folder, run->folder_bytes + 1,
                      tl_run_path(run, "sinks/%s.csv", tl_run_sink_name(run, i, name, sizeof name)),
                      keep ? keep[i] : 0);
    if (status == TALUS_OK && lines->count == 0)
      status = tl_lines_add(lines, head, sizeof head - 1);
  }
  if (status == TALUS_OK)
    status = tl_folder_sync(folder, tl_run_path(run, "sinks"));
  close(folder);
  return status == TALUS_OK ? talus_world_record_left(run->world, true) : status;
}

static void format_line(const talus_left *left, tl_text *text) {
  const talus_dvec3 v = tl_widen(left->velocity);
  const double values[] = {
      left->radius, left->mass, left->position.x, left->position.y, left->position.z, v.x,
      v.y,          v.z};
  tl_text_add_number(text, left->time);
  tl_text_add(text, ",%llu", (unsigned long long)left->uid);
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    tl_text_add(text, ",");
    tl_text_add_number(text, values[i]);
  }
  tl_text_add(text, "\n");
}

talus_status tl_run_sinks_add(tl_run *run) {
  talus_left left[TAKEN_AT_ONCE];
  size_t n = 0;
  if (run->sinks.count == 0)
    return TALUS_OK;
  do {
    TL_TRY(talus_world_take_left(run->world, left, TAKEN_AT_ONCE, &n));
    for (size_t i = 0; i < n; ++i) {
      const size_t sink = left[i].sink == UINT32_MAX ? run->sinks.count - 1 : left[i].sink;
      tl_text text = {0};
      format_line(&left[i], &text);
      talus_status status = text.status;
      if (status == TALUS_OK)
        status = tl_lines_add(&run->sinks.data[sink], text.data, text.count);
      tl_text_drop(&text);
      TL_TRY(status);
    }
  } while (n == TAKEN_AT_ONCE);
  return TALUS_OK;
}

talus_status tl_run_sinks_sync(tl_run *run) {
  for (size_t i = 0; i < run->sinks.count; ++i)
    TL_TRY(tl_lines_sync(&run->sinks.data[i]));
  return TALUS_OK;
}

void tl_run_sinks_close(tl_run *run) {
  for (size_t i = 0; i < run->sinks.count; ++i)
    tl_lines_close(&run->sinks.data[i]);
  tl_array_free(&run->sinks);
}

#endif
