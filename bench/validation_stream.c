/* Streams of hard spheres, event by event: what their cases share. */
#include "validation_stream.h"

#define LEFT_MOST 4096

/* ---- worlds ---------------------------------------------------------------------------------- */

bool stream_did(val_run *run, talus_status status) {
  if (status != TALUS_OK)
    val_fail(run, talus_last_error());
  return !run->failed;
}

/* An empty world with a wall; *ball is what fills and emitters are to copy. */
void stream_world(val_run *run, double dt, const double *profile, size_t points, double radius,
                  talus_body_def *ball) {
  talus_world_def def = val_default_def(run, dt);
  def.gravity = val_vec(0, 0, 0);
  def.step = TALUS_STEP_EVENT;
  val_world_from(run, &def);
  const talus_material glass = val_material(run, 0, 1);
  talus_shape_def wall = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  wall.kind = TALUS_REVOLVED;
  wall.points = profile;
  wall.point_count = points;
  body.kind = TALUS_FIXED;
  body.material = glass;
  if (!run->failed)
    stream_did(run, talus_world_add_shape(run->world, &wall, &body.shape));
  val_add(run, &body);
  *ball = talus_body_def_default();
  ball->shape = val_shape(run, TALUS_SPHERE, radius, 0, 0, 0);
  ball->material = glass;
  ball->mass = 1;
}

void stream_fill(val_run *run, const talus_body_def *ball, double radius, double low, double high,
                 uint64_t count, double thermal) {
  talus_fill_def def = talus_fill_def_default();
  def.body = *ball;
  def.in = (talus_region){.kind = TALUS_REGION_CYLINDER,
                          .at = {0, 0, 0.5 * (low + high)},
                          .axis = val_vec(0, 0, 1),
                          .radius = radius,
                          .length = high - low};
  def.count = count;
  def.thermal = thermal;
  def.seed = 1000 * run->seed + val_report(run).bodies; /* a different seed for each fill */
  if (!run->failed)
    stream_did(run, talus_world_fill(run->world, &def, NULL));
}

static void add_inlet(val_run *run, const talus_body_def *ball, const talus_region *from,
                      talus_emitter_def def) {
  def.name = "inlet";
  def.body = *ball;
  def.from = *from;
  def.seed = 1000 + run->seed;
  if (!run->failed)
    stream_did(run, talus_world_add_emitter(run->world, &def));
}

void stream_inlet(val_run *run, const talus_body_def *ball, double z, double radius, double rate,
                  double until, double thermal) {
  talus_emitter_def def = talus_emitter_def_default();
  const talus_region disc = {
      .kind = TALUS_REGION_CYLINDER, .at = {0, 0, z}, .axis = val_vec(0, 0, 1), .radius = radius};
  def.rate = rate;
  def.until = until;
  def.thermal = thermal;
  def.inflow = TALUS_INFLOW_FLUX;
  add_inlet(run, ball, &disc, def);
}

void stream_source(val_run *run, const talus_body_def *ball, double radius, double low, double high,
                   double thermal) {
  talus_emitter_def def = talus_emitter_def_default();
  const talus_region within = {.kind = TALUS_REGION_CYLINDER,
                               .at = {0, 0, 0.5 * (low + high)},
                               .axis = val_vec(0, 0, 1),
                               .radius = radius,
                               .length = high - low};
  def.rate = 0;
  def.until = INFINITY;
  def.thermal = thermal;
  add_inlet(run, ball, &within, def);
}

void stream_sink(val_run *run, const char *name, double low, double high, bool recycle) {
  const talus_region in = {.kind = TALUS_REGION_BOX, .box = {{-99, -99, low}, {99, 99, high}}};
  if (!run->failed && stream_did(run, talus_world_add_sink(run->world, name, &in)) && recycle)
    stream_did(run, talus_world_recycle(run->world, name, "inlet"));
  if (!run->failed)
    stream_did(run, talus_world_record_left(run->world, true));
}

/* Those that left since the last call, through one sink if it is not STREAM_ANY: how many, and the
 * sum of their energies. */
size_t stream_take_through(val_run *run, uint32_t sink, double *energy) {
  static talus_left left[LEFT_MOST];
  size_t all = 0, n = LEFT_MOST;
  while (!run->failed && n == LEFT_MOST) {
    stream_did(run, talus_world_take_left(run->world, left, LEFT_MOST, &n));
    for (size_t i = 0; !run->failed && i < n; ++i) {
      const talus_vec3 v = left[i].velocity;
      if (sink != STREAM_ANY && left[i].sink != sink)
        continue;
      *energy += 0.5 * (double)(v.x * v.x + v.y * v.y + v.z * v.z);
      all++;
    }
  }
  return all;
}

size_t stream_take_left(val_run *run, double *energy) {
  return stream_take_through(run, STREAM_ANY, energy);
}

void stream_look(val_run *run, stream_gauge *gauges, int n) {
  talus_view x, v;
  if (run->failed ||
      !stream_did(run, talus_view_map(run->world, TALUS_FIELD_POSITION, TALUS_READ, &x)))
    return;
  if (stream_did(run, talus_view_map(run->world, TALUS_FIELD_VELOCITY, TALUS_READ, &v))) {
    for (size_t i = 1; i < x.rows; ++i) { /* the first is the wall */
      const double *p = (const double *)x.data + 3 * i;
      const talus_real *u = (const talus_real *)v.data + 3 * i;
      const double rho2 = p[0] * p[0] + p[1] * p[1];
      for (int k = 0; k < n; ++k)
        if (p[2] > gauges[k].low && p[2] < gauges[k].high &&
            rho2 < gauges[k].radius * gauges[k].radius) {
          gauges[k].count++;
          gauges[k].speed += (double)u[2];
          gauges[k].square += (double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        }
    }
    stream_did(run, talus_view_unmap(run->world, &v));
  }
  stream_did(run, talus_view_unmap(run->world, &x));
  for (int k = 0; k < n; ++k)
    gauges[k].looks++;
}

double gauge_density(const stream_gauge *g) {
  return g->count / (g->looks * VAL_PI * g->radius * g->radius * (g->high - g->low));
}
double gauge_speed(const stream_gauge *g) { return g->speed / g->count; }
double gauge_heat(const stream_gauge *g) {
  return (g->square / g->count - gauge_speed(g) * gauge_speed(g)) / 3;
}
