/* The cost of averaged fields: two worlds, one with a grid of 20 x 127 cells in r and z that
 * records density, velocity, temperature and pressure in every step, run in turn, a few steps each,
 * so that other work of the machine affects both equally. Times are CPU times. */
#include "nozzle.h"
#include "tools.h"

#include <stdio.h>

#include <talus/average.h>

#define TURN 5 /* steps */

static talus_status add_fields(talus_world *world) {
  talus_average_def def = talus_average_def_default();
  def.grid = TALUS_GRID_RZ;
  def.box = (talus_box){{0, 0, 1}, {10, 0, 64.4}};
  def.cells[0] = 20, def.cells[2] = 127;
  def.record = TALUS_AVERAGE_DENSITY | TALUS_AVERAGE_VELOCITY | TALUS_AVERAGE_TEMPERATURE |
               TALUS_AVERAGE_PRESSURE;
  return talus_world_add_average(world, &def, NULL);
}

/* s of each world, in turn. */
static talus_status run_both(talus_world *const worlds[2], int steps, double spent[2]) {
  spent[0] = spent[1] = 0;
  for (int done = 0; done < steps; done += TURN)
    for (int k = 0; k < 2; ++k) {
      const double begun = bench_cpu();
      const talus_status status = talus_world_step(worlds[k], TURN);
      spent[k] += bench_cpu() - begun;
      if (status != TALUS_OK)
        return status;
    }
  return TALUS_OK;
}

static talus_status measure(const nozzle_way *how, long bodies, int threads, int steps, FILE *csv) {
  talus_world *worlds[2] = {NULL, NULL};
  double spent[2];
  talus_status status = TALUS_OK;
  for (int k = 0; k < 2 && status == TALUS_OK; ++k)
    status = nozzle_make(how, bodies, threads, &worlds[k]);
  if (status == TALUS_OK)
    status = add_fields(worlds[1]);
  if (status == TALUS_OK)
    status = run_both(worlds, TURN, spent); /* to warm up */
  if (status == TALUS_OK)
    status = run_both(worlds, steps, spent);
  if (status == TALUS_OK) {
    const int done = (steps + TURN - 1) / TURN * TURN;
    const double without = 1e3 * spent[0] / done, with = 1e3 * spent[1] / done;
    printf("%8ld  %-31s %8.2f %8.2f %9.1f%%\n", bodies, how->name, without, with,
           100 * (with / without - 1));
    fflush(stdout);
    if (csv)
      fprintf(csv, "%ld,\"%s\",%.6g,%.6g\n", bodies, how->name, without, with);
  }
  talus_world_destroy(worlds[0]);
  talus_world_destroy(worlds[1]);
  return status;
}

talus_status nozzle_fields(long bodies, int threads, int steps, const char *csv) {
  static const nozzle_way ways[] = {
      {"hard, neighbours kept", TALUS_STEP_FIXED, TALUS_SHELL_HARD, 0, TALUS_BROAD_BINS, -1, false},
      {"hard, bins", TALUS_STEP_FIXED, TALUS_SHELL_HARD, 0, TALUS_BROAD_BINS, 0, false},
      {"soft", TALUS_STEP_FIXED, TALUS_SHELL_SOFT, 0, TALUS_BROAD_AUTO, 0, false}};
  FILE *file;
  talus_status status = TALUS_OK;
  if (!bench_csv_open(csv, "nozzle-fields", "bodies,way,without_ms,with_ms", &file))
    return TALUS_ERROR_IO;
  printf("Averaged fields, %d threads (0: all), %d steps; ms of processor time a step\n", threads,
         steps);
  printf("%8s  %-31s %8s %8s %10s\n", "bodies", "way", "without", "with", "more");
  for (size_t i = 0; i < sizeof ways / sizeof *ways && status == TALUS_OK; ++i)
    status = measure(&ways[i], bodies, threads, steps, file);
  return bench_csv_close(file) ? status : TALUS_ERROR_IO;
}
