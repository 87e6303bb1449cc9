/* Random packings under gravity: solid fraction, and number of neighbours that carry loads. */
#include <stdlib.h>
#include <string.h>

#include "validation_grains.h"

#define SIDE (12 * GRAIN) /* of the periodic floor */

/* ---- density --------------------------------------------------------------------------------- */

/* m: heights between which packings are measured, far from the floor and the surface */
typedef struct band {
  double low, high;
} band;

static band middle(const val_grains *grains) {
  double top = 0;
  for (size_t i = 0; i < grains->count; ++i)
    top += 2 * grains->x[3 * i + 2] / (double)grains->count;
  return (band){0.25 * top, 0.75 * top};
}

/* Share of space that bodies of this volume fill. A body counts where its centre is. The result is
 * the mean over slabs of half the thickness of the band, so that layers do not matter. */
static double density(const val_grains *grains, const band *within, double volume) {
  const int slabs = 40;
  const double low = within->low, thick = 0.5 * (within->high - low);
  double sum = 0;
  for (int k = 0; k < slabs; ++k) {
    const double from = low + thick * k / (slabs - 1);
    for (size_t i = 0; i < grains->count; ++i)
      sum += grains->x[3 * i + 2] >= from && grains->x[3 * i + 2] < from + thick;
  }
  return sum * volume / (slabs * thick * SIDE * SIDE);
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Normal impulse of a contact, N s. */
static double push(const talus_contact *c) {
  return (double)(c->impulse.x * c->normal.x + c->impulse.y * c->normal.y +
                  c->impulse.z * c->normal.z);
}

/* Removes bodies with fewer than `fewest` neighbours until there are none: they are rattlers, or
 * rest on others and support nothing. `neighbours` is 0 or -1 at first, and -1 for removed bodies.
 * Bodies before `skip` are fixed and are not removed. */
static void strike_rattlers(const talus_contact *contacts, size_t count, double carries,
                            size_t skip, int fewest, int *neighbours, int *next, size_t bodies) {
  for (bool again = true; again;) {
    again = false;
    memset(next, 0, bodies * sizeof *next);
    for (size_t i = 0; i < count; ++i) {
      const talus_contact *c = &contacts[i];
      /* uids count from 1 in the order of adding */
      const size_t a = c->body_a - 1, b = c->body_b - 1;
      if (push(c) <= carries || (a >= skip && neighbours[a - skip] < 0) ||
          (b >= skip && neighbours[b - skip] < 0))
        continue;
      if (a >= skip)
        ++next[a - skip];
      if (b >= skip)
        ++next[b - skip];
    }
    for (size_t i = 0; i < bodies; ++i) {
      if (neighbours[i] >= 0 && next[i] < fewest)
        next[i] = -1, again = true;
      neighbours[i] = neighbours[i] < 0 ? -1 : next[i];
    }
  }
}

/* Removes bodies that nothing rests on. They are recognised by the sum of the forces on them, which
 * is less than twice their weight (three supports at up to 60 degrees from below). Without gravity
 * they would be rattlers without a contact. With gravity and friction each of them has three
 * contacts, which would raise the mean by 0.02 to 0.04 at mu = 0.3. */
static void strike_unloaded(const talus_contact *contacts, size_t count, double weight, size_t skip,
                            int *neighbours, size_t bodies) {
  double *sum = calloc(bodies + 1, sizeof *sum);
  for (size_t i = 0; sum && i < count; ++i) {
    const size_t a = contacts[i].body_a - 1, b = contacts[i].body_b - 1;
    if (a >= skip)
      sum[a - skip] += push(&contacts[i]);
    if (b >= skip)
      sum[b - skip] += push(&contacts[i]);
  }
  for (size_t i = 0; sum && i < bodies; ++i)
    if (sum[i] < 2 * weight)
      neighbours[i] = -1;
  free(sum);
}

/* Mean number of contacts with a load of bodies that are held and have their centre between two
 * heights. A body has 3 equations of forces (with friction 6, because moments count), a contact has
 * one unknown (3 with friction), and each contact has two bodies. So a body has 6 contacts without
 * friction and at least 4 with it. Rattlers are left out: bodies with fewer than 4 contacts without
 * friction, or fewer than 3 with it. With friction, so are bodies that only rest on others. */
static double coordination(val_run *run, const val_grains *grains, size_t skip, double mu,
                           const band *within, double gravity) {
  const double weight = GRAIN_VOLUME * GRAIN_DENSITY * gravity * run->dt; /* N s in a step */
  size_t count;
  talus_contact *contacts = val_contacts(run, &count);
  int *neighbours = calloc(2 * grains->count + 1, sizeof *neighbours);
  double ends = 0, bodies = 0;
  if (neighbours && mu > 0)
    strike_unloaded(contacts, count, weight, skip, neighbours, grains->count);
  if (neighbours)
    strike_rattlers(contacts, count, 1e-3 * weight, skip, mu > 0 ? 3 : 4, neighbours,
                    neighbours + grains->count, grains->count);
  for (size_t i = 0; neighbours && i < grains->count; ++i)
    if (neighbours[i] >= 0 && grains->x[3 * i + 2] > within->low &&
        grains->x[3 * i + 2] < within->high)
      ++bodies, ends += neighbours[i];
  free(neighbours);
  free(contacts);
  return ends / bodies;
}

/* ---- packings -------------------------------------------------------------------------------- */

typedef struct packing {
  double density, coordination;
  double pressed; /* how much denser the packing is with springs under the whole weight */
} packing;

/* A periodic floor of glued grains; returns how many. */
static size_t make_floor(val_run *run, const talus_world_def *base, double mu, double high,
                         talus_body_def *grain) {
  talus_world_def def = *base;
  def.domain.enabled = true;
  def.domain.box = (talus_box){{0, 0, -1}, {SIDE, SIDE, high + 1}};
  def.domain.periodic[0] = def.domain.periodic[1] = true;
  def.solve.recovery_speed = 0.05; /* so that overlap of landing bodies does not throw them off */
  val_world_from(run, &def);
  *grain = val_grain(run, mu);
  size_t count = 0;
  for (int i = 0; i < 12; ++i)
    for (int k = 0; k < 12; ++k, ++count)
      val_body(run, TALUS_FIXED, grain->shape, grain->material, (i + 0.5) * GRAIN,
               (k + 0.5) * GRAIN, -GRAIN_RADIUS * (1 + 0.25 * ((7 * i + 3 * k + 5 * i * k) % 5)));
  return count;
}

static double mean_height(val_run *run, size_t skip) {
  val_grains grains = val_grains_read(run, skip);
  double height = 0;
  for (size_t i = 0; i < grains.count; ++i)
    height += grains.x[3 * i + 2] / (double)grains.count;
  val_grains_free(&grains);
  return height;
}

/* Runs until the grains are at rest: until their mean height falls by less than `creep` of a grain
 * in 0.2 s. Without friction this takes longer than the fall. Grains that still move are not held
 * and have fewer contacts than the law says: with one seed 5.62 per body after 1.2 s, when the heap
 * sank by 1e-3 of a grain in 0.1 s, and 6.03 at rest. */
static void come_to_rest(val_run *run, size_t skip, double creep) {
  const double least = 0.6, most = 8, look = 0.2;
  double before = INFINITY;
  for (double t = 0; t < val_seconds(run, most) && !run->failed; t += look) {
    val_step(run, val_steps(run, val_seconds(run, look)));
    const double height = mean_height(run, skip);
    if (t >= least && before - height < creep * GRAIN)
      return;
    before = height;
  }
}

/* Steps until the heap is still: until its mean height falls by less than 1e-5 of a grain in 80
 * steps. Without friction it may slide again after a pause. With a fixed time of 4 s, one of four
 * seeds of `impulse` sank by 2.6e-3 of a grain in the last 0.2 s, and had 5.53 contacts per body.
 */
static void come_to_equilibrium(val_run *run, size_t skip) {
  enum { ROUNDS = 20 };
  double before = mean_height(run, skip);
  for (int i = 0; i < ROUNDS && !run->failed; ++i) {
    val_step(run, 80);
    const double height = mean_height(run, skip);
    if (before - height < 1e-5 * GRAIN)
      return;
    before = height;
  }
}

/* Runs the same grains again with many more sweeps. With the few sweeps that are enough to settle,
 * bodies without friction tremble by about g dt, and at any moment some contacts are missing. The
 * result is a mean over the trembling that is left. */
static double count_contacts(val_run *run, const val_grains *settled, size_t skip, double mu,
                             const band *within, double gravity) {
  if (run->model != VAL_PENALTY) { /* springs need no sweeps, and would lose their friction */
    talus_world_def def = val_crowd_def(run, run->dt, 2000);
    def.solve.tolerance = 1e-7;
    talus_body_def grain;
    make_floor(run, &def, mu, 2 * within->high, &grain);
    val_grains_add(run, settled, &grain);
    come_to_equilibrium(run, skip);
  }
  double sum = 0;
  const int samples = 6;
  for (int i = 0; i < samples; ++i) {
    val_step(run, val_steps(run, 3e-3));
    sum += coordination(run, settled, skip, mu, within, gravity) / samples;
  }
  return sum;
}

/* With springs, grains overlap by 0.16 % of a diameter and therefore have half a contact more per
 * grain than rigid ones. Stiffer springs would need shorter steps. A sixteenth of the weight has
 * the same effect, so gravity is reduced slowly. Returns the gravity that is left, m/s2. */
static double unload(val_run *run) {
  enum { STAGES = 8 };
  double g = VAL_G;
  for (int i = 1; i <= STAGES; ++i) {
    g = VAL_G * pow(16, -(double)i / STAGES);
    if (!run->failed && talus_world_set_gravity(run->world, val_vec(0, 0, -g)) != TALUS_OK)
      val_fail(run, talus_last_error());
    val_step(run, val_steps(run, val_seconds(run, i < STAGES ? 0.02 : 0.15)));
  }
  return g;
}

/* Measures the density of grains at rest, and the contacts of spheres. Without friction contacts
 * are counted under the whole weight: with less weight grains would take long to come to rest
 * again, and the number of contacts that springs add is known (`pressed`). */
static packing measure(val_run *run, size_t skip, double mu, bool are_spheres) {
  packing got = {0};
  double gravity = VAL_G;
  val_grains grains = val_grains_read(run, skip);
  band within = middle(&grains);
  got.density = density(&grains, &within, GRAIN_VOLUME);
  if (mu == 0 && are_spheres)
    got.coordination = count_contacts(run, &grains, skip, mu, &within, gravity);
  if (run->model == VAL_PENALTY) {
    gravity = unload(run);
    val_grains_free(&grains);
    grains = val_grains_read(run, skip);
    within = middle(&grains);
    got.pressed = got.density;
    got.density = density(&grains, &within, GRAIN_VOLUME);
    got.pressed = fmax(got.pressed - got.density, 0);
  }
  if (mu > 0)
    got.coordination = count_contacts(run, &grains, skip, mu, &within, gravity);
  val_grains_free(&grains);
  return got;
}

/* Bodies rain onto the floor and come to rest. */
static packing pack(val_run *run, double mu, bool ellipsoids) {
  const talus_world_def def = val_crowd_def(run, val_dt(run, 5e-4), 100);
  const double count = 2200, high = count * GRAIN_VOLUME / (0.25 * SIDE * SIDE);
  talus_body_def grain;
  const size_t skip = make_floor(run, &def, mu, high, &grain);
  talus_fill_def fill = talus_fill_def_default();
  fill.body = grain;
  fill.body.velocity = val_vec(0, 0, -0.3);
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
  /* 1e-3 of 14 layers is less than 1e-4 of a density, and contacts of ellipsoids are not counted */
  come_to_rest(run, skip, ellipsoids ? 1e-3 : 1e-4);
  return measure(run, skip, mu, !ellipsoids);
}

void val_packing(val_run *run) {
  enum { POINTS = 3 };
  const double mu[POINTS] = {0, 0.3, 1};
  double share[POINTS], neighbours[POINTS], pressed[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    const packing got = pack(run, mu[i], false);
    pressed[i] = got.pressed;
    share[i] = got.density;
    neighbours[i] = got.coordination;
  }
  val_near(run, "density without friction", "", share[0], 0.639, 0.01);
  /* contacts that soft spheres add above the density at which spheres touch (O'Hern et al. 2003) */
  val_near(run, "coordination without friction", "", neighbours[0], 6 + 7.9 * sqrt(pressed[0]),
           0.15);
  val_near(run, "density at mu = 0.3", "", share[1], 0.593, 0.02);
  val_near(run, "coordination at mu = 0.3", "", neighbours[1], 4.5, 0.3);
  val_within(run, "density at mu = 1", "", share[2], 0.55, 0.58);
  val_within(run, "coordination at mu = 1", "", neighbours[2], 4, 4.5);
  val_curve(run, "packing.density", "Random packing of spheres", "friction",
            "share of space filled", val_model_name(run->model), mu, share, POINTS);
  val_curve(run, "packing.coordination", "Contacts that carry, per sphere", "friction", "contacts",
            val_model_name(run->model), mu, neighbours, POINTS);
}

void val_ellipsoid_packing(val_run *run) {
  const packing got = pack(run, 0, true);
  val_near(run, "density of 1.25 : 1 : 0.8, no friction", "", got.density, 0.735, 0.01);
}

/* A small heap with very high friction: bodies must not sink into each other. */
void val_strong_friction(val_run *run) {
  val_springs(run, 0);
  for (int k = 0; k < 3; ++k) {
    const double mu = (const double[]){1, 3, 10}[k], side = 4 * GRAIN;
    talus_world_def def = val_crowd_def(run, val_dt(run, 5e-4), 100);
    def.domain.enabled = true;
    def.domain.box = (talus_box){{0, 0, -1}, {side, side, 1}};
    def.domain.periodic[0] = def.domain.periodic[1] = true;
    val_world_from(run, &def);
    talus_body_def grain = val_grain(run, mu);
    val_floor(run, grain.material);
    val_fill(run, &grain, 100, (talus_box){{0, 0, 0}, {side, side, 0.12}});
    val_step(run, val_steps(run, 0.4));
    size_t count;
    talus_contact *contacts = val_contacts(run, &count);
    double deepest = 0;
    for (size_t i = 0; i < count; ++i)
      deepest = fmax(deepest, -(double)contacts[i].gap / GRAIN);
    free(contacts);
    char quantity[56];
    snprintf(quantity, sizeof quantity, "deepest overlap / diameter, mu = %g", mu);
    if (count < 100)
      deepest = NAN; /* there is no heap */
    val_near(run, quantity, "", deepest, 0, run->model == VAL_PENALTY ? 0.05 : 0.02);
  }
}
