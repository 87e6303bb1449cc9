/* Zones: probes/NAME.csv, one line per interval. */
#include "output/file.h"
#include "run/run.h"

#include <unistd.h>

#if TALUS_HAVE_HDF5

#define HEADER                                                                                     \
  "from,to,inside,neighbours,entered,left,mass_in,mass_out,energy_in,energy_out,dwell,energy\n"

talus_status tl_run_zones_plan(tl_run *run) {
  const size_t n = tl_scene_zone_count(run->scene);
  TL_TRY(tl_array_reserve(&run->zones, n));
  for (size_t i = 0; i < n; ++i) {
    tl_run_zone zone = {.lines = {.fd = -1}};
    zone.name = tl_scene_get_zone(run->scene, i, &zone.every);
    run->zones.data[run->zones.count++] = zone;
  }
  return TALUS_OK;
}

static talus_status open_one(tl_run *run, tl_run_zone *zone) {
  TL_TRY(tl_lines_open(&zone->lines, run->folder, run->folder_bytes + 1,
                       tl_run_path(run, "probes/%s.csv", zone->name), zone->keep));
  return zone->keep > 0 ? TALUS_OK : tl_lines_add(&zone->lines, HEADER, sizeof HEADER - 1);
}

talus_status tl_run_zones_open(tl_run *run) {
  if (run->zones.count == 0)
    return TALUS_OK;
  int folder;
  TL_TRY(tl_run_make_folder(run, "probes", &folder));
  talus_status status = TALUS_OK;
  for (size_t i = 0; status == TALUS_OK && i < run->zones.count; ++i)
    status = open_one(run, &run->zones.data[i]);
  if (status == TALUS_OK)
    status = tl_folder_sync(folder, tl_run_path(run, "probes"));
  close(folder);
  return status;
}

static void format_line(const talus_zone_values *v, tl_text *text) {
  const double first[] = {v->inside, v->neighbours};
  const double last[] = {v->mass_in, v->mass_out, v->energy_in, v->energy_out, v->dwell, v->energy};
  tl_run_probe_edges(text, v->from, v->to);
  for (size_t i = 0; i < sizeof first / sizeof *first; ++i) {
    tl_text_add(text, ",");
    tl_text_add_number(text, first[i]);
  }
  tl_text_add(text, ",%llu,%llu", (unsigned long long)v->entered, (unsigned long long)v->left);
  for (size_t i = 0; i < sizeof last / sizeof *last; ++i) {
    tl_text_add(text, ",");
    tl_text_add_number(text, last[i]);
  }
  tl_text_add(text, "\n");
}

talus_status tl_run_zones_add(tl_run *run, bool all) {
  const uint64_t step = talus_world_steps(run->world);
  for (size_t i = 0; i < run->zones.count; ++i) {
    tl_run_zone *zone = &run->zones.data[i];
    if (run->world->flow.zones.data[i].weight <= 0 ||
        !(all || tl_run_is_due(zone->every, run->dt, step)))
      continue;
    talus_zone_values values;
    TL_TRY(talus_zone_read(run->world, (uint32_t)i, &values));
    tl_text text = {0};
    format_line(&values, &text);
    talus_status status = text.status;
    if (status == TALUS_OK)
      status = tl_lines_add(&zone->lines, text.data, text.count);
    tl_text_drop(&text);
    TL_TRY(status);
  }
  return TALUS_OK;
}

talus_status tl_run_zones_sync(tl_run *run) {
  for (size_t i = 0; i < run->zones.count; ++i)
    TL_TRY(tl_lines_sync(&run->zones.data[i].lines));
  return TALUS_OK;
}

void tl_run_zones_close(tl_run *run) {
  for (size_t i = 0; i < run->zones.count; ++i)
    tl_lines_close(&run->zones.data[i].lines);
  tl_array_free(&run->zones);
}

#endif
