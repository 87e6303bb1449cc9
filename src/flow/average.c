/* Averages: grids, and the quantities that may be recorded on them. */
#include "flow/average.h"

#define CELLS_MOST ((double)(1 << 24))

static const char axis_name[3] = {'x', 'y', 'z'};

talus_average_def talus_average_def_default(void) {
  return (talus_average_def){
      .grid = TALUS_GRID_BOX, .box = {{0, 0, 0}, {1, 1, 1}}, .cells = {1, 1, 1}};
}

/* ---- checks ---------------------------------------------------------------------------------- */

static talus_status check_axis(const talus_average_def *def, int k, const char *what) {
  const double lo = k == 0 ? def->box.lo.x : k == 1 ? def->box.lo.y : def->box.lo.z;
  const double hi = k == 0 ? def->box.hi.x : k == 1 ? def->box.hi.y : def->box.hi.z;
  if (!tl_is_finite_d(lo) || !tl_is_finite_d(hi) || !(hi > lo) || !tl_is_finite_d(hi - lo))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the grid goes from %g to %g m along %c; it must go up, by a finite length",
                   what, lo, hi, axis_name[k]);
  if (def->cells[k] == 0)
    return tl_fail(TALUS_ERROR_INVALID, "%s: the grid has no cells along %c", what, axis_name[k]);
  return TALUS_OK;
}

static talus_status check_kind(const talus_average_def *def, const char *what) {
  if (def->grid == TALUS_GRID_RZ) {
    if (def->cells[1] != 1 || def->box.lo.x != 0 || !tl_is_finite_d(def->axis[0]) ||
        !tl_is_finite_d(def->axis[1]))
      return tl_fail(
          TALUS_ERROR_INVALID,
          "%s: rings begin on their axis (box.lo.x = 0), whose place is finite, and have "
          "one cell around (cells[1] = 1)",
          what);
    return TALUS_OK;
  }
  if (def->grid == TALUS_GRID_PLANE && (def->across > 2 || def->cells[def->across] != 1))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: a plane has one cell across, along the axis `across` (0, 1 or 2)", what);
  return def->grid <= TALUS_GRID_BOX
             ? TALUS_OK
             : tl_fail(TALUS_ERROR_INVALID, "%s: unknown kind of grid %d", what, (int)def->grid);
}

talus_status tl_average_check(const talus_average_def *def, const char *what) {
  const uint32_t all = 2 * TALUS_AVERAGE_WALL - 1;
  if (def->record == 0 || (def->record & ~all) != 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: say what to record: density, velocity, angle, temperature, pressure, curl, "
                   "divergence, wall-pressure",
                   what);
  for (int k = 0; k < 3; ++k)
    if (k != 1 || def->grid != TALUS_GRID_RZ)
      TL_TRY(check_axis(def, k, what));
  TL_TRY(check_kind(def, what));
  const double cells = (double)def->cells[0] * def->cells[1] * def->cells[2];
  if (cells > CELLS_MOST)
    return tl_fail(TALUS_ERROR_INVALID, "%s: the grid has %.0f cells; it may have up to %.0f", what,
                   cells, CELLS_MOST);
  return TALUS_OK;
}

/* ---- adding ---------------------------------------------------------------------------------- */

size_t tl_average_sum_count(const tl_average *average) {
  return TL_SUMS * tl_average_cells(average) + average->segments;
}

talus_status tl_average_reserve(tl_average *average) {
  return tl_array_resize(&average->means,
                         TL_MEANS * tl_average_cells(average) + 6 * (size_t)average->segments);
}

static talus_status reserve(tl_average *average) {
  TL_TRY(tl_average_reserve(average));
  TL_TRY(tl_array_resize(&average->sums, tl_average_sum_count(average)));
  memset(average->sums.data, 0, average->sums.count * sizeof *average->sums.data);
  return TALUS_OK;
}

void tl_average_release(tl_average *average) {
  tl_flow_free_name(average->name);
  tl_array_free(&average->sums);
  tl_array_free(&average->means);
}

static talus_status find_segments(const talus_average_def *def, const tl_shape *shape,
                                  const char *what, uint32_t *segments) {
  *segments = 0;
  if (!(def->record & TALUS_AVERAGE_WALL))
    return TALUS_OK;
  if (!shape || shape->kind != TALUS_REVOLVED)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the pressure on a wall is recorded by segments, which a revolved shape has",
                   what);
  *segments = shape->point_count - 1;
  return TALUS_OK;
}

talus_status tl_flow_add_average(tl_flow *flow, const talus_average_def *def, uint64_t uid,
                                 const tl_shape *shape, double now, uint32_t *average) {
  const tl_flow_label what = tl_flow_describe("average", def->name, flow->averages.count);
  tl_average fresh = {.grid = (uint32_t)def->grid,
                      .across = def->grid == TALUS_GRID_PLANE ? def->across : 0,
                      .record = def->record,
                      .cells = {def->cells[0], def->cells[1], def->cells[2]},
                      .box = def->box,
                      .axis = {def->axis[0], def->axis[1]},
                      .by_flights = def->by_flights,
                      .wall = def->record & TALUS_AVERAGE_WALL ? uid : 0,
                      .from = now};
  TL_TRY(tl_average_check(def, what.text));
  if (def->grid == TALUS_GRID_RZ)
    fresh.box.lo.y = 0, fresh.box.hi.y = 1;
  TL_TRY(find_segments(def, shape, what.text, &fresh.segments));
  for (size_t i = 0; i < flow->averages.count && def->name; ++i)
    if (flow->averages.data[i].name && strcmp(flow->averages.data[i].name, def->name) == 0)
      return tl_fail(TALUS_ERROR_INVALID, "%s: there is an average of that name already",
                     what.text);
  TL_TRY(tl_array_reserve(&flow->averages, flow->averages.count + 1));
  talus_status status = tl_flow_copy_name(&fresh.name, def->name);
  if (status == TALUS_OK)
    status = reserve(&fresh);
  if (status != TALUS_OK) {
    tl_average_release(&fresh);
    return status;
  }
  if (average)
    *average = (uint32_t)flow->averages.count;
  flow->averages.data[flow->averages.count++] = fresh;
  return TALUS_OK;
}

/* ---- geometry -------------------------------------------------------------------------------- */

talus_dvec3 tl_average_edges(const tl_average *average) {
  const talus_dvec3 size = tl_dsub(average->box.hi, average->box.lo);
  return tl_dvec3(size.x / average->cells[0], size.y / average->cells[1],
                  size.z / average->cells[2]);
}

void tl_average_segment(const tl_shape *shape, double scale, uint32_t k, double ends[4],
                        double *area) {
  for (int i = 0; i < 4; ++i)
    ends[i] = scale * shape->points[2 * (size_t)k + (size_t)i];
  const double dz = ends[2] - ends[0], dr = ends[3] - ends[1];
  *area = TL_PI * (ends[1] + ends[3]) * sqrt(dz * dz + dr * dr);
}
