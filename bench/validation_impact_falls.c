/* Impacts without restitution: a body that falls on another one on a floor does not rebound. With
 * default settings; the energy of a rebound comes from nowhere. */
#include "validation_cases.h"

#include <stdlib.h>

#define SPEED  1.0  /* m/s, of every impact */
#define DT     1e-3 /* s */
#define GAP    1.5e-3
#define REST   0.01 /* 1 % of the speed may be left */
#define BODIES 512

/* Bodies of a scene, and the worst that happened to them. */
typedef struct fall {
  talus_body body[BODIES];
  double radius[BODIES];
  int count;
  double rebound; /* m/s: fastest upwards */
  double overlap; /* deepest, over the smaller radius; a fixed body has none of its own */
} fall;

static void begin(val_run *run, fall *f, double friction) {
  const talus_world_def def = val_default_def(run, DT);
  val_world_from(run, &def);
  f->count = 0;
  f->rebound = f->overlap = 0;
  val_floor(run, val_material(run, friction, 0));
}

static void add_ball(val_run *run, fall *f, talus_material m, double radius, double z, double vz) {
  const talus_shape sphere = val_shape(run, TALUS_SPHERE, radius, 0, 0, 0);
  f->radius[f->count] = radius;
  f->body[f->count] = val_body(run, TALUS_FREE, sphere, m, 0, 0, z);
  val_set_velocity(run, f->body[f->count], 0, 0, vz);
  ++f->count;
}

/* Of contacts between bodies whose uids rise from that of the first one on. */
static void look_at_overlap(val_run *run, fall *f) {
  size_t count;
  talus_contact *contacts = val_contacts(run, &count);
  const uint64_t first = val_info(run, f->body[0]).uid;
  for (size_t i = 0; i < count; ++i) {
    double least = INFINITY;
    for (int side = 0; side < 2; ++side) {
      const uint64_t uid = side ? contacts[i].body_b : contacts[i].body_a;
      if (uid >= first && uid - first < (uint64_t)f->count)
        least = fmin(least, f->radius[uid - first]);
    }
    f->overlap = fmax(f->overlap, -(double)contacts[i].gap / least);
  }
  free(contacts);
}

static void watch(val_run *run, fall *f, long steps) {
  for (; steps > 0 && !run->failed; --steps) {
    val_step(run, 1);
    for (int i = 0; i < f->count; ++i)
      f->rebound = fmax(f->rebound, (double)val_info(run, f->body[i]).velocity.z);
    look_at_overlap(run, f);
  }
}

/* A ball of the upper radius falls on one of the lower that lies on the floor. */
static void one_on_one(val_run *run, fall *f, double lower, double upper) {
  begin(run, f, 0.5);
  const talus_material m = val_material(run, 0.5, 0);
  add_ball(run, f, m, lower, lower, 0);
  add_ball(run, f, m, upper, 2 * lower + upper + GAP, -SPEED);
  watch(run, f, 60);
}

void val_impact_sizes(val_run *run) {
  static fall f;
  char quantity[56];
  double overlap = 0;
  for (int light = 0; light < 2; ++light)
    for (int k = light; k < 5; ++k) { /* a ratio of 1:1 has only one order */
      const int ratio = (const int[]){1, 2, 5, 10, 20}[k];
      one_on_one(run, &f, light ? 0.1 : 0.1 / ratio, light ? 0.1 / ratio : 0.1);
      snprintf(quantity, sizeof quantity,
               light ? "rebound of %d:1, light on heavy" : "rebound of 1:%d, heavy on light",
               ratio);
      val_near(run, quantity, "m/s", f.rebound, 0, REST * SPEED);
      overlap = fmax(overlap, f.overlap);
    }
  val_within(run, "deepest overlap / smaller radius", "", overlap, 0, 0.01);
}

void val_impact_columns(val_run *run) {
  static fall f;
  const double radius = 0.05;
  char quantity[56];
  double overlap = 0;
  for (int k = 0; k < 6; ++k) {
    const int n = (const int[]){2, 5, 10, 20, 40, 100}[k];
    begin(run, &f, 0.5);
    const talus_material m = val_material(run, 0.5, 0);
    for (int i = 0; i < n; ++i)
      add_ball(run, &f, m, radius, GAP + radius * (1 + 2 * i), -SPEED);
    watch(run, &f, 40);
    snprintf(quantity, sizeof quantity, "rebound of a column of %d", n);
    val_near(run, quantity, "m/s", f.rebound, 0, REST * SPEED);
    overlap = fmax(overlap, f.overlap);
  }
  val_within(run, "deepest overlap / radius", "", overlap, 0, 0.01);
}

/* ---- beds ------------------------------------------------------------------------------------ */

#define SIDE   3 /* balls along x and y, periodic */
#define LAYERS 30

/* Square layers, each in the hollows of the one below; neighbours of a layer do not touch, so that
 * every ball stands on four. */
static void add_bed(val_run *run, fall *f, double floor_speed, double from, double until, double z0,
                    double vz) {
  const double radius = 0.05, apart = 2.02 * radius, width = SIDE * apart;
  const double rise = sqrt(4 * radius * radius - 0.5 * apart * apart);
  talus_world_def def = val_default_def(run, DT);
  def.domain.enabled = true;
  def.domain.periodic[0] = def.domain.periodic[1] = true;
  def.domain.box = (talus_box){{0, 0, -1}, {width, width, 10}};
  val_world_from(run, &def);
  const talus_material m = val_material(run, 0.3, 0);
  talus_body_def floor = talus_body_def_default();
  floor.kind = TALUS_KINEMATIC;
  floor.shape = val_shape(run, TALUS_PLANE, 0, 0, 1, 0);
  floor.material = m;
  floor.motion.velocity = val_vec(0, 0, floor_speed);
  floor.motion.from_time = from, floor.motion.until = until;
  val_add(run, &floor);
  const talus_shape sphere = val_shape(run, TALUS_SPHERE, radius, 0, 0, 0);
  f->count = 0;
  f->rebound = f->overlap = 0;
  for (int i = 0; i < SIDE * SIDE * LAYERS; ++i) {
    const int layer = i / (SIDE * SIDE);
    const double shift = 0.25 + 0.5 * (layer % 2);
    f->radius[i] = radius;
    f->body[i] = val_body(run, TALUS_FREE, sphere, m, apart * (i % SIDE + shift),
                          apart * (i / SIDE % SIDE + shift), z0 + radius + layer * rise);
    val_set_velocity(run, f->body[i], 0, 0, vz);
    ++f->count;
  }
}

static double mean_speed(val_run *run, const fall *f) {
  double sum = 0;
  for (int i = 0; i < f->count; ++i)
    sum += (double)val_info(run, f->body[i]).velocity.z;
  return sum / f->count;
}

void val_impact_beds(val_run *run) {
  static fall f;
  add_bed(run, &f, 0, 0, 0, GAP, -SPEED);
  watch(run, &f, 60);
  val_near(run, "30 layers dropped: fastest upwards", "m/s", f.rebound, 0, REST * SPEED);
  double overlap = f.overlap;
  /* The floor rises from 0.01 to 0.05 s and stops: the bed goes on, and only gravity slows it. */
  add_bed(run, &f, SPEED, 0.01, 0.05, 0, 0);
  watch(run, &f, 45);
  const double ridden = mean_speed(run, &f);
  watch(run, &f, 15);
  const double left = mean_speed(run, &f) + VAL_G * 0.01;
  val_near(run, "30 layers on a rising floor: mean speed", "m/s", ridden, SPEED, REST * SPEED);
  val_near(run, "fastest of them, until they have left", "m/s", f.rebound, SPEED, REST * SPEED);
  val_near(run, "mean speed that they leave with", "m/s", left, SPEED, REST * SPEED);
  val_within(run, "deepest overlap / radius", "", fmax(overlap, f.overlap), 0, 0.01);
}
