/* Averages of many bodies in few cells: runs of bodies, each with rows of its own, which are
 * added to the sums in the order of runs. The number of runs depends on bodies and cells, not on
 * threads. */
#include "base/isa.h"
#include "flow/average_rows.h"

#define RUNS_MOST 16
#define SHARE     8 /* least bodies of a run per cell, so that the cost of its rows is small */

bool tl_average_runs_of_tests = true;

typedef struct runs_job {
  tl_average *average;
  tl_average_view view;
  tl_average_add_fn *add;
  size_t bodies, runs, cells;
  double (*rows)[TL_ROW]; /* by run and cell */
} runs_job;

static void add_runs(void *context, size_t begin, size_t end) {
  const runs_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    double(*rows)[TL_ROW] = job->rows + i * job->cells;
    memset(rows, 0, job->cells * sizeof *rows);
    job->add(&job->view, i * job->bodies / job->runs, (i + 1) * job->bodies / job->runs, rows);
  }
}

static void add_rows(void *context, size_t begin, size_t end) {
  const runs_job *job = context;
  for (size_t cell = begin; cell < end; ++cell) {
    double *sum = job->average->sums.data + TL_SUMS * cell;
    for (size_t i = 0; i < job->runs; ++i)
      for (int k = 0; k <= TL_SUM_SQUARE; ++k)
        sum[k] += job->rows[i * job->cells + cell][k];
  }
}

bool tl_average_has_runs(const tl_average *average, const tl_crowd *crowd) {
  return tl_average_runs_of_tests && !tl_average_has_slope(average) &&
         crowd->count >= SHARE * tl_average_cells(average) && crowd->count >= 1024;
}

talus_status tl_average_add_runs(tl_average *average, const tl_crowd *crowd, talus_dvec3 edges) {
  static const tl_average_loops *const all[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = &tl_average_generic,
                                                            [TL_ISA_AVX2] = &tl_average_avx2,
                                                            [TL_ISA_AVX512] = &tl_average_avx512};
  const bool is_ring = average->grid == TALUS_GRID_RZ;
  const talus_dvec3 lo = average->box.lo;
  const tl_par *par = &crowd->model->par;
  runs_job job = {.average = average,
                  .add = is_ring ? all[tl_isa_now()]->rings : all[tl_isa_now()]->boxes,
                  .bodies = crowd->count,
                  .cells = tl_average_cells(average)};
  for (job.runs = 1; 2 * job.runs * SHARE * job.cells <= job.bodies && job.runs < RUNS_MOST;)
    job.runs *= 2; /* usual numbers of threads are 2, 4, 8, ... */
  job.view = (tl_average_view){
      .position = crowd->out->position,
      .velocity = crowd->out->velocity,
      .mass = crowd->model->property.mass,
      .flags = crowd->model->property.flags,
      .from = {is_ring ? average->axis[0] : lo.x, is_ring ? average->axis[1] : lo.y, lo.z},
      .per_edge = {1 / edges.x, 1 / edges.y, 1 / edges.z},
      .cells = {average->cells[0], average->cells[1], average->cells[2]},
      .dt = crowd->dt};
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TAKE(crowd->arena, job.runs * job.cells, &job.rows);
  tl_deal(par, job.runs, add_runs, &job);
  tl_for(par, job.cells, 1024, add_rows, &job);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
