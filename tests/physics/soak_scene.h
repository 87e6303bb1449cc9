/* Random scenes for the energy law: 2 to 200 bodies of all kinds, dropped, thrown or stacked, on a
 * floor, in a box, on something that moves, or in free space. A seed names the scene; how it is
 * solved is the caller's choice. Everything goes through the public header. */
#ifndef TESTS_PHYSICS_SOAK_SCENE_H
#define TESTS_PHYSICS_SOAK_SCENE_H

#include "base/random.h"
#include "rig.h"

#define SOAK_STREAM 77 /* of random numbers, which no part of the library uses */
#define SOAK_KINDS  9

typedef struct soak_scene {
  talus_world *world;
  tl_random random;
  uint64_t seed;
  talus_material material[2];
  talus_shape shape[SOAK_KINDS];
  talus_body wall;               /* the floor, the box, ... */
  bool has_wall, bounces, pulls; /* some material has restitution, cohesion */
  talus_vec3 gravity;
  double dt;
} soak_scene;

static inline double soak_between(soak_scene *s, double low, double high) {
  return low + (high - low) * tl_random_unit(&s->random);
}

static inline int soak_pick(soak_scene *s, int n) {
  return (int)(tl_random_u32(&s->random) % (uint32_t)n);
}

/* A value of a list. */
#define SOAK_ONE_OF(s, ...)                                                                        \
  ((const double[]){                                                                               \
      __VA_ARGS__})[soak_pick(s, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))]

/* Every law a contact has, each in some scenes; a wall that turns has none that acts by torque,
 * whose work on the wall contacts do not tell. */
static inline void soak_materials(soak_scene *s, bool without_torque) {
  for (int i = 0; i < 2; ++i) {
    talus_material_def def = talus_material_def_default();
    def.density = SOAK_ONE_OF(s, 100, 1000, 8000);
    def.friction = SOAK_ONE_OF(s, 0, 0.1, 0.5, 1.5);
    def.restitution = SOAK_ONE_OF(s, 0, 0, 0.5, 0.9, 1);
    s->bounces |= def.restitution > 0;
    if (soak_pick(s, 4) == 0)
      def.static_friction = 1.5 * def.friction;
    if (soak_pick(s, 4) == 0 && !without_torque)
      def.rolling = 0.005, def.spinning = 0.002;
    if (soak_pick(s, 6) == 0)
      def.cohesion = 5, s->pulls = true;
    CHECK_OK(talus_world_add_material(s->world, &def, &s->material[i]));
  }
}

/* Of about 0.1 m each. */
static inline void soak_shapes(soak_scene *s) {
  static const struct {
    talus_shape_kind kind;
    double size[5];
  } plain[] = {{TALUS_SPHERE, {0.1}},
               {TALUS_BOX, {0.2, 0.15, 0.1}},
               {TALUS_ELLIPSOID, {0.1, 0.08, 0.05}},
               {TALUS_CAPSULE, {0.05, 0.15}},
               {TALUS_CYLINDER, {0.08, 0.15}},
               {TALUS_CONE, {0.1, 0.2}},
               {TALUS_SUPERELLIPSOID, {0.1, 0.08, 0.06, 4, 3}}};
  const int count = (int)(sizeof plain / sizeof *plain);
  double hull[12 * 3], clump[3 * 4];
  for (int i = 0; i < count; ++i) {
    talus_shape_def def = talus_shape_def_default();
    def.kind = plain[i].kind;
    memcpy(def.size, plain[i].size, sizeof def.size);
    CHECK_OK(talus_world_add_shape(s->world, &def, &s->shape[i]));
  }
  for (int i = 0; i < 12; ++i) { /* on an ellipsoid */
    const double z = soak_between(s, -1, 1), a = soak_between(s, 0, 6.28), r = sqrt(1 - z * z);
    hull[3 * i] = 0.1 * r * cos(a), hull[3 * i + 1] = 0.07 * r * sin(a), hull[3 * i + 2] = 0.09 * z;
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k)
      clump[4 * i + k] = soak_between(s, -0.04, 0.04);
    clump[4 * i + 3] = soak_between(s, 0.04, 0.07);
  }
  talus_shape_def def = talus_shape_def_default();
  def.kind = TALUS_HULL, def.points = hull, def.point_count = 12;
  CHECK_OK(talus_world_add_shape(s->world, &def, &s->shape[count]));
  def.kind = TALUS_CLUMP, def.points = clump, def.point_count = 3;
  CHECK_OK(talus_world_add_shape(s->world, &def, &s->shape[count + 1]));
}

/* What bodies meet: 0 nothing, 1 a floor, 2 a box, 3 a floor that rises, 4 a belt, 5 a floor that
 * sinks away, 6 a box that turns. Walls that move do so at one speed from the start. */
static inline void soak_wall(soak_scene *s, int which) {
  if (which == 0)
    return;
  const bool is_box = which == 2 || which == 6;
  talus_body_def def = talus_body_def_default();
  def.kind = which <= 2 ? TALUS_FIXED : TALUS_KINEMATIC;
  def.material = s->material[0];
  def.shape = is_box ? rig_shape(s->world, TALUS_CONTAINER, 3, 3, 6, 0)
                     : rig_shape(s->world, TALUS_PLANE, 0, 0, 1, 0);
  def.position.z = is_box ? 3 : 0;
  if (which == 3)
    def.motion.velocity = rig_vec(0, 0, soak_between(s, 0.1, 3));
  if (which == 4)
    def.motion.velocity = rig_vec(soak_between(s, -3, 3), soak_between(s, -3, 3), 0);
  if (which == 5)
    def.motion.velocity = rig_vec(0.5, 0, -soak_between(s, 0.1, 1));
  if (which == 6)
    def.motion.spin = rig_vec(0, 0, soak_between(s, -3, 3));
  CHECK_OK(talus_world_add_body(s->world, &def, &s->wall));
  s->has_wall = true;
}

/* At random above the floor, touching nothing. */
static inline void soak_scatter(soak_scene *s, int count, bool thrown) {
  const int kinds = count < SOAK_KINDS ? count : SOAK_KINDS, first = soak_pick(s, SOAK_KINDS);
  for (int k = 0; k < kinds; ++k) {
    talus_fill_def fill = talus_fill_def_default();
    const double high = 0.4 + 0.02 * count;
    fill.body.shape = s->shape[(first + k) % SOAK_KINDS];
    fill.body.material = s->material[k % 2];
    fill.in.kind = TALUS_REGION_BOX;
    fill.in.box = (talus_box){{-0.8, -0.8, 0.02}, {0.8, 0.8, high}};
    fill.count = (uint64_t)(count / kinds + (k < count % kinds));
    fill.size = (talus_size_def){
        .kind = TALUS_SIZE_UNIFORM, .low = SOAK_ONE_OF(s, 0.2, 0.6, 1), .high = 1.2};
    fill.random_rotation = true;
    fill.seed = s->seed + (uint64_t)k;
    fill.allow_fewer = true;
    if (thrown) {
      fill.body.velocity =
          rig_vec(soak_between(s, -8, 8), soak_between(s, -8, 8), soak_between(s, -8, 4));
      fill.body.spin =
          rig_vec(soak_between(s, -20, 20), soak_between(s, -20, 20), soak_between(s, -20, 20));
    } else {
      fill.body.velocity = rig_vec(0, 0, -SOAK_ONE_OF(s, 0, 1, 4));
    }
    CHECK_OK(talus_world_fill(s->world, &fill, NULL));
  }
}

/* Towers of spheres or boxes of many sizes that touch exactly, some of them falling as a whole. */
static inline void soak_stack(soak_scene *s, int count) {
  const int towers = 1 + count / 12;
  int left = count;
  for (int t = 0; t < towers; ++t) {
    const int own = left / (towers - t), kind = soak_pick(s, 2); /* sphere, box */
    const double down = SOAK_ONE_OF(s, 0, 0, 1, 3), gap = down > 0 ? 1.5e-3 : 0;
    double z = gap;
    left -= own;
    for (int i = 0; i < own; ++i) {
      talus_body_def def = talus_body_def_default();
      def.shape = s->shape[kind];
      def.material = s->material[i % 2];
      def.scale = SOAK_ONE_OF(s, 0.1, 0.5, 1, 1);
      const double half = def.scale * (kind ? 0.05 : 0.1);
      def.position = (talus_dvec3){0.45 * (t % 4 - 1.5), 0.45 * (t / 4 - 1.5), z + half};
      def.velocity = rig_vec(0, 0, -down);
      z += 2 * half;
      CHECK_OK(talus_world_add_body(s->world, &def, NULL));
    }
  }
}

/* The scene of a seed; `def` says how it is solved, gravity and dt are the scene's own. */
static inline soak_scene soak_make(uint64_t seed, const talus_world_def *def) {
  soak_scene s = {.seed = seed, .random = tl_random_start(seed, SOAK_STREAM, 0)};
  talus_world_def own = *def;
  const int wall = soak_pick(&s, 7), way = wall == 0 ? 1 : soak_pick(&s, 3);
  const int count = (int)(2 * pow(100, tl_random_unit(&s.random)));
  own.dt = SOAK_ONE_OF(&s, 2e-4, 1e-3, 1e-3, 5e-3);
  if (wall == 0)
    own.gravity = rig_vec(0, 0, 0);
  s.gravity = own.gravity, s.dt = own.dt;
  CHECK_OK(talus_world_create(&own, &s.world));
  soak_materials(&s, wall == 6);
  soak_shapes(&s);
  soak_wall(&s, wall);
  if (way == 2)
    soak_stack(&s, count);
  else
    soak_scatter(&s, count, way == 1);
  return s;
}

#endif
