/* Averages: from sums to means.
 *
 * Let n be the number of bodies, M their mass, P their momentum, K the sum of m v^2, all summed
 * over time, and u = P/M. Relative to u, the sum of m v^2 is K - P.P/M = 3 n kT. Pressure is (K -
 * P.P/M)/(3 V t) by motion plus virial/(3 V t) by contacts (Hansen and McDonald 2013). */
#include "base/trig.h"
#include "flow/average.h"

/* ---- one cell -------------------------------------------------------------------------------- */

static double volume_of(const tl_average *average, talus_dvec3 edges, size_t cell) {
  if (average->grid != TALUS_GRID_RZ)
    return edges.x * edges.y * edges.z;
  const double i = (double)(cell % average->cells[0]);
  return TL_PI * (2 * i + 1) * edges.x * edges.x * edges.z;
}

static double full_turn(double y, double x) {
  const double angle = tl_atan2_d(y, x);
  return angle < 0 ? angle + 2 * TL_PI : angle;
}

/* Angles as in maps (talus render --flat): for yz, z points right and y up; for xz x and z; for xy
 * x and y; on rings z and r. */
static void find_angles(const tl_average *average, const double v[3], double angle[2]) {
  const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  const bool is_rings = average->grid == TALUS_GRID_RZ;
  const int first = is_rings || average->across == 0 ? 2 : 0;
  const int second = is_rings ? 0 : average->across == 1 ? 2 : 1;
  angle[0] = angle[1] = NAN;
  if (average->grid != TALUS_GRID_BOX && (v[first] != 0 || v[second] != 0))
    angle[0] = full_turn(v[second], v[first]);
  if (average->grid != TALUS_GRID_BOX || !(speed > 0))
    return;
  angle[0] = full_turn(v[1], v[0]);
  angle[1] = tl_acos_d(v[2] / speed);
}

static void find_means(const tl_average *average, talus_dvec3 edges, size_t cell, size_t cells,
                       double *means) {
  const double *sum = average->sums.data + TL_SUMS * cell, *p = sum + TL_SUM_MOMENTUM;
  const double volume = volume_of(average, edges, cell), time = average->weight;
  const double per_time = time > 0 ? 1 / time : 0, mass = sum[TL_SUM_MASS];
  const double motion =
      mass > 0 ? fmax(0, sum[TL_SUM_SQUARE] - (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / mass) : 0;
  double *velocity = means + TL_MEAN_VELOCITY * cells + 3 * cell, angle[2];
  for (int k = 0; k < 3; ++k)
    velocity[k] = mass > 0 ? p[k] / mass : NAN;
  find_angles(average, velocity, angle);
  means[TL_MEAN_COUNT * cells + cell] = sum[TL_SUM_COUNT] * per_time;
  means[TL_MEAN_DENSITY * cells + cell] = mass * per_time / volume;
  means[TL_MEAN_NUMBER * cells + cell] = sum[TL_SUM_COUNT] * per_time / volume;
  const size_t columns = average->grid == TALUS_GRID_BOX ? 2 : 1;
  for (size_t k = 0; k < columns; ++k)
    means[TL_MEAN_ANGLE * cells + columns * cell + k] = angle[k];
  means[TL_MEAN_TEMPERATURE * cells + cell] = mass > 0 ? motion / (3 * sum[TL_SUM_COUNT]) : NAN;
  const double kinetic = motion * per_time / (3 * volume);
  const double contact = sum[TL_SUM_VIRIAL] * per_time / (3 * volume);
  means[TL_MEAN_KINETIC * cells + cell] = kinetic;
  means[TL_MEAN_CONTACT * cells + cell] = contact;
  means[TL_MEAN_PRESSURE * cells + cell] = kinetic + contact;
}

/* ---- the wall -------------------------------------------------------------------------------- */

/* Pressure, force and ends of each segment, stored behind the cells. */
static void find_wall(const tl_average *average, const tl_model *model, double *wall) {
  const double *sums = average->sums.data + TL_SUMS * tl_average_cells(average);
  const size_t n = average->segments;
  const tl_shape *shape = NULL;
  double scale = 1;
  for (size_t i = 0; i < model->bodies && !shape; ++i)
    if (model->property.uid[i] == average->wall) {
      shape = tl_body_shape(model, i);
      scale = (double)model->property.scale[i];
    }
  for (uint32_t k = 0; k < n; ++k) {
    double *ends = wall + 2 * n + 4 * (size_t)k, area = 0;
    for (int i = 0; i < 4; ++i)
      ends[i] = NAN;
    if (shape)
      tl_average_segment(shape, scale, k, ends, &area);
    const double force = average->weight > 0 ? sums[k] / average->weight : 0;
    wall[k] = area > 0 ? force / area : NAN;
    wall[n + k] = force;
  }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void point_to(const tl_average *average, size_t cells, talus_average_values *values) {
  const double *means = average->means.data, *wall = means + TL_MEANS * cells;
  const uint32_t record = average->record;
#define MEAN(bit, name) (record & TALUS_AVERAGE_##bit ? means + TL_MEAN_##name * cells : NULL)
  values->count = means;
  values->density = MEAN(DENSITY, DENSITY);
  values->number_density = MEAN(DENSITY, NUMBER);
  values->velocity = MEAN(VELOCITY, VELOCITY);
  values->angle = MEAN(ANGLE, ANGLE);
  values->temperature = MEAN(TEMPERATURE, TEMPERATURE);
  values->pressure = MEAN(PRESSURE, PRESSURE);
  values->kinetic_pressure = MEAN(PRESSURE, KINETIC);
  values->contact_pressure = MEAN(PRESSURE, CONTACT);
  values->curl = MEAN(CURL, CURL);
  values->divergence = MEAN(DIVERGENCE, DIVERGENCE);
#undef MEAN
  if (!(record & TALUS_AVERAGE_WALL))
    return;
  values->segments = average->segments;
  values->wall_pressure = wall;
  values->wall_force = wall + average->segments;
  values->wall_profile = wall + 2 * (size_t)average->segments;
}

void tl_average_finish(tl_average *average, const tl_model *model, double now,
                       talus_average_values *values) {
  const talus_dvec3 edges = tl_average_edges(average);
  const size_t cells = tl_average_cells(average);
  double *means = average->means.data;
  *values = (talus_average_values){.from = average->from, .to = now};
  memcpy(values->cells, average->cells, sizeof values->cells);
  for (size_t i = 0; i < cells; ++i)
    find_means(average, edges, i, cells, means);
  if (tl_average_has_slope(average))
    tl_average_find_slopes(average, means + TL_MEAN_VELOCITY * cells, means + TL_MEAN_CURL * cells,
                           means + TL_MEAN_DIVERGENCE * cells);
  if (average->record & TALUS_AVERAGE_WALL)
    find_wall(average, model, means + TL_MEANS * cells);
  point_to(average, cells, values);
  memset(average->sums.data, 0, average->sums.count * sizeof *average->sums.data);
  average->weight = 0;
  average->from = now;
}
