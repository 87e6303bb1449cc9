/* Crowds of grains: filling, reading and measuring them. */
#include <stdlib.h>
#include <string.h>

#include "validation_grains.h"

/* ---- copies ---------------------------------------------------------------------------------- */

void val_grains_free(val_grains *grains) {
  free(grains->x);
  free(grains->radius);
  *grains = (val_grains){0};
}

static bool read_field(val_run *run, talus_field field, talus_view *view) {
  if (run->failed)
    return false;
  if (talus_view_map(run->world, field, TALUS_READ, view) == TALUS_OK)
    return true;
  val_fail(run, talus_last_error());
  return false;
}

val_grains val_grains_read(val_run *run, size_t skip) {
  val_grains grains = {0};
  talus_view view;
  if (!read_field(run, TALUS_FIELD_POSITION, &view))
    return grains;
  const size_t n = view.rows > skip ? view.rows - skip : 0;
  grains.x = malloc((3 * n + 1) * sizeof *grains.x);
  grains.radius = malloc((n + 1) * sizeof *grains.radius);
  if (grains.x && grains.radius) {
    grains.count = n;
    memcpy(grains.x, (const double *)view.data + 3 * skip, 3 * n * sizeof *grains.x);
  } else {
    val_fail(run, "out of memory");
  }
  talus_view_unmap(run->world, &view);
  if (read_field(run, TALUS_FIELD_SCALE, &view)) {
    for (size_t i = 0; i < grains.count; ++i)
      grains.radius[i] = GRAIN_RADIUS * (double)((const talus_real *)view.data)[skip + i];
    talus_view_unmap(run->world, &view);
  }
  return grains;
}

void val_grains_add(val_run *run, const val_grains *grains, const talus_body_def *like) {
  talus_body_def body = *like;
  for (size_t i = 0; i < grains->count && !run->failed; ++i) {
    body.position = (talus_dvec3){grains->x[3 * i], grains->x[3 * i + 1], grains->x[3 * i + 2]};
    body.scale = grains->radius[i] / GRAIN_RADIUS;
    val_add(run, &body);
  }
}

/* ---- scenes ---------------------------------------------------------------------------------- */

double val_share(const val_run *run, double count) { return run->quick ? 0.1 * count : count; }

double val_seconds(const val_run *run, double seconds) {
  return run->quick ? fmin(seconds, 0.05) : seconds;
}

double val_crowd_stiffness(const val_run *run) {
  if (run->model != VAL_PENALTY || run->which->seeds == 0)
    return run->stiffness;
  return 1.2e-5 / (run->dt * run->dt);
}

talus_body_def val_grain(val_run *run, double friction) {
  talus_body_def body = talus_body_def_default();
  talus_material_def material = talus_material_def_default();
  material.density = GRAIN_DENSITY;
  material.friction = friction;
  material.restitution = 0.1;
  material.stiffness = val_crowd_stiffness(run);
  if (!run->failed && talus_world_add_material(run->world, &material, &body.material) != TALUS_OK)
    val_fail(run, talus_last_error());
  body.shape = val_shape(run, TALUS_SPHERE, GRAIN_RADIUS, 0, 0, 0);
  return body;
}

void val_fill_region(val_run *run, const talus_body_def *like, double count,
                     const talus_region *in) {
  talus_fill_def fill = talus_fill_def_default();
  fill.body = *like;
  fill.in = *in;
  fill.count = (uint64_t)val_share(run, count);
  fill.seed = run->seed;
  fill.size.kind = TALUS_SIZE_UNIFORM;
  fill.size.low = 0.9, fill.size.high = 1.1;
  if (!run->failed && talus_world_fill(run->world, &fill, NULL) != TALUS_OK)
    val_fail(run, talus_last_error());
}

void val_fill(val_run *run, const talus_body_def *like, double count, talus_box box) {
  val_fill_region(run, like, count, &(talus_region){.kind = TALUS_REGION_BOX, .box = box});
}

talus_body val_board(val_run *run, talus_material material, double lx, double ly, double lz,
                     double x, double y, double z) {
  return val_body(run, TALUS_FIXED, val_shape(run, TALUS_BOX, lx, ly, lz, 0), material, x, y, z);
}

void val_ring(val_run *run, talus_material material, int staves, double r, double length, double z,
              bool lies, const talus_motion *motion) {
  const double thick = 2 * GRAIN, step = 2 * VAL_PI / staves;
  const double wide = 2 * (r + thick) * tan(0.5 * step);
  talus_body_def stave = talus_body_def_default();
  /* long along z, or along y where the ring lies; its inner face is at distance r */
  stave.shape = lies ? val_shape(run, TALUS_BOX, wide, length, thick, 0)
                     : val_shape(run, TALUS_BOX, thick, wide, length, 0);
  stave.material = material;
  stave.kind = TALUS_KINEMATIC;
  stave.motion = *motion;
  for (int i = 0; i < staves; ++i) {
    const double angle = i * step, from = r + 0.5 * thick;
    stave.position = lies ? (talus_dvec3){from * sin(angle), 0, z + from * cos(angle)}
                          : (talus_dvec3){from * cos(angle), from * sin(angle), z};
    stave.rotation = lies ? val_turn(0, 1, 0, angle) : val_turn(0, 0, 1, angle);
    val_add(run, &stave);
  }
}

void val_sink_below(val_run *run, double z) {
  const talus_region below = {.kind = TALUS_REGION_BOX, .box = {{-10, -10, -10}, {10, 10, z}}};
  if (!run->failed && talus_world_add_sink(run->world, "below", &below) != TALUS_OK)
    val_fail(run, talus_last_error());
}

void val_remove(val_run *run, talus_body body) {
  if (!run->failed && talus_world_remove_body(run->world, body) != TALUS_OK)
    val_fail(run, talus_last_error());
}

/* ---- surfaces -------------------------------------------------------------------------------- */

double val_slope(const val_grains *grains, double from, double to, double strip) {
  enum { MOST = 128 };
  double top[MOST], x[MOST], z[MOST];
  int strips = (int)((to - from) / strip), used = 0;
  strips = strips > MOST ? MOST : strips;
  for (int i = 0; i < strips; ++i)
    top[i] = -INFINITY;
  for (size_t i = 0; i < grains->count; ++i) {
    const double at = floor((grains->x[3 * i] - from) / strip);
    if (at >= 0 && at < strips)
      top[(int)at] = fmax(top[(int)at], grains->x[3 * i + 2]);
  }
  for (int i = 0; i < strips; ++i)
    if (isfinite(top[i])) {
      x[used] = from + (i + 0.5) * strip;
      z[used++] = top[i];
    }
  if (used < 3)
    return NAN;
  double slope;
  val_line(x, z, (size_t)used, &slope, NULL);
  return atan(slope) * 180 / VAL_PI;
}
