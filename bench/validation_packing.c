/* Random packings under gravity: how much of space they fill, and how many neighbours carry. */
#include <stdlib.h>
#include <string.h>

#include "validation_grains.h"

#define SIDE (12 * GRAIN) /* of the periodic floor */

/* ---- density --------------------------------------------------------------------------------- */

/* Share of space filled by bodies of that volume between two heights, by centres; the mean over
 * slabs of half that thickness, so that layers do not matter. */
static double density(const val_grains *grains, double low, double high, double volume) {
  const int slabs = 40;
  const double thick = 0.5 * (high - low);
  double sum = 0;
  for (int k = 0; k < slabs; ++k) {
    const double from = low + thick * k / (slabs - 1);
    for (size_t i = 0; i < grains->count; ++i)
      sum += grains->x[3 * i + 2] >= from && grains->x[3 * i + 2] < from + thick;
  }
  return sum * volume / (slabs * thick * SIDE * SIDE);
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Contacts that carry, per body that is carried: those with fewer than `least` are rattlers, and
 * what rests on rattlers alone is one, too. Bodies with their centre between two heights count. */
static double coordination(val_run *run, const val_grains *grains, size_t skip, double low,
                           double high, int least) {
  size_t count, n = grains->count;
  talus_contact *contacts = val_contacts(run, &count);
  int *degree = calloc(n + 1, sizeof *degree);
  bool *out = calloc(n + 1, sizeof *out);
  double sum = 0, bodies = 0;
  const double carries = 1e-3 * GRAIN_VOLUME * GRAIN_DENSITY * VAL_G * run->dt;
  bool changed = degree && out && contacts;
  while (changed) {
    memset(degree, 0, n * sizeof *degree);
    changed = false;
    for (size_t i = 0; i < count; ++i) {
      const talus_contact *c = &contacts[i];
      /* uids count from 1 in the order of adding */
      const size_t a = (size_t)c->body_a - 1, b = (size_t)c->body_b - 1;
      const double push = (double)(c->impulse.x * c->normal.x + c->impulse.y * c->normal.y +
                                   c->impulse.z * c->normal.z);
      const bool is_a = a >= skip, is_b = b >= skip;
      if (push < carries || (is_a && out[a - skip]) || (is_b && out[b - skip]))
        continue;
      if (is_a)
        degree[a - skip]++;
      if (is_b)
        degree[b - skip]++;
    }
    for (size_t i = 0; i < n; ++i)
      if (!out[i] && degree[i] < least)
        out[i] = changed = true;
  }
  for (size_t i = 0; degree && out && i < n; ++i)
    if (!out[i] && grains->x[3 * i + 2] > low && grains->x[3 * i + 2] < high)
      sum += degree[i], bodies++;
  free(contacts);
  free(degree);
  free(out);
  return bodies > 0 ? sum / bodies : NAN;
}

/* ---- packings -------------------------------------------------------------------------------- */

typedef struct packing {
  double density, coordination;
} packing;

/* Bodies rain onto glued grains, on a periodic floor, and come to rest. */
static packing pack(val_run *run, double mu, bool ellipsoids) {
  talus_world_def def = val_crowd_def(run, val_dt(run, 5e-4), 100);
  const double count = 2200, high = count * GRAIN_VOLUME / (0.25 * SIDE * SIDE);
  def.domain.enabled = true;
  def.domain.box = (talus_box){{0, 0, -1}, {SIDE, SIDE, high + 1}};
  def.domain.periodic[0] = def.domain.periodic[1] = true;
  def.solve.recovery_speed = 0.05; /* overlap from landing is not thrown out */
  val_world_from(run, &def);
  talus_body_def grain = val_grain(run, mu);
  grain.velocity = val_vec(0, 0, -0.3);
  size_t skip = 0;
  for (int i = 0; i < 12; ++i)
    for (int k = 0; k < 12; ++k, ++skip)
      val_body(run, TALUS_FIXED, grain.shape, grain.material, (i + 0.5) * GRAIN, (k + 0.5) * GRAIN,
               -GRAIN_RADIUS * (1 + 0.25 * ((7 * i + 3 * k + 5 * i * k) % 5)));
  talus_fill_def fill = talus_fill_def_default();
  fill.body = grain;
  if (ellipsoids) {
    fill.body.shape =
        val_shape(run, TALUS_ELLIPSOID, 1.25 * GRAIN_RADIUS, GRAIN_RADIUS, 0.8 * GRAIN_RADIUS, 0);
    fill.random_rotation = true;
  }
  fill.in.kind = TALUS_REGION_BOX;
  fill.in.box = (talus_box){{0, 0, GRAIN}, {SIDE, SIDE, high + GRAIN}};
  fill.count = (uint64_t)val_share(run, count);
  fill.seed = run->seed;
  if (!run->failed && talus_world_fill(run->world, &fill, NULL) != TALUS_OK)
    val_fail(run, talus_last_error());
  val_step(run, val_steps(run, val_seconds(run, 1.2)));
  val_grains grains = val_grains_read(run, skip);
  double top = 0;
  for (size_t i = 0; i < grains.count; ++i)
    top += 2 * grains.x[3 * i + 2] / (double)grains.count;
  const double low = 0.25 * top, end = 0.75 * top;
  packing got = {density(&grains, low, end, GRAIN_VOLUME),
                 coordination(run, &grains, skip, low, end, mu > 0 ? 2 : 4)};
  val_grains_free(&grains);
  return got;
}

void val_packing(val_run *run) {
  enum { POINTS = 5 };
  const double mu[POINTS] = {0, 0.1, 0.3, 1, 10};
  double share[POINTS], neighbours[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    const packing got = pack(run, mu[i], false);
    share[i] = got.density;
    neighbours[i] = got.coordination;
  }
  val_near(run, "density without friction", "", share[0], 0.64, 0.01);
  val_near(run, "coordination without friction", "", neighbours[0], 6, 0.25);
  val_within(run, "density at mu = 10", "", share[4], 0.55, 0.58);
  val_near(run, "coordination at mu = 10", "", neighbours[4], 4, 0.4);
  val_curve(run, "packing.density", "Random packing of spheres", "friction",
            "share of space filled", val_model_name(run->model), mu, share, POINTS);
  val_curve(run, "packing.coordination", "Contacts that carry, per sphere", "friction", "contacts",
            val_model_name(run->model), mu, neighbours, POINTS);
}

void val_ellipsoid_packing(val_run *run) {
  const packing got = pack(run, 0, true);
  val_near(run, "density of 1.25 : 1 : 0.8, no friction", "", got.density, 0.735, 0.015);
}
