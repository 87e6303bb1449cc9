/* A world with one of everything that a file can hold, and whole files in memory. */
#ifndef TESTS_OUTPUT_FIXTURE_H
#define TESTS_OUTPUT_FIXTURE_H

#include "check.h"
#include "output/output.h"
#include "world/world.h"

/* Fewer warnings for tests that do not use every helper. */
#define HELPER __attribute__((unused)) static

#if !TALUS_HAVE_HDF5
#define OUTPUT_TEST_MAIN()                                                                         \
  TEST(needs_hdf5) {}                                                                              \
  int main(void) {                                                                                 \
    puts("skipped: this talus was built without HDF5");                                            \
    return 77;                                                                                     \
  }
#else
#define OUTPUT_TEST_MAIN() TEST_MAIN()
#endif

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct bytes {
  unsigned char *data;
  size_t size;
} bytes;

HELPER bytes read_bytes(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK_MSG(file != NULL, "%s is not there", path);
  fseek(file, 0, SEEK_END);
  bytes all = {.size = (size_t)ftell(file)};
  all.data = malloc(all.size + 1);
  rewind(file);
  const size_t got = fread(all.data, 1, all.size, file);
  fclose(file);
  CHECK_EQ_U64(got, all.size);
  return all;
}

HELPER void write_bytes(const char *path, const unsigned char *data, size_t size) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL);
  const size_t put = fwrite(data, 1, size, file);
  CHECK(fclose(file) == 0);
  CHECK_EQ_U64(put, size);
}

HELPER bool exists(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file)
    fclose(file);
  return file != NULL;
}

/* ---- a world with one of everything ---------------------------------------------------------- */

typedef struct rich {
  talus_world *world;
  talus_shape ball, brick, floor, tank;
  talus_material rock, steel;
  uint32_t hard, soft; /* groups that ignore each other */
  talus_body paddle, pushed, locked;
} rich;

HELPER talus_shape add_shape(talus_world *world, const char *name, talus_shape_kind kind, double a,
                             double b, double c, double d, uint32_t open) {
  talus_shape_def def = {.name = name, .kind = kind, .size = {a, b, c, d}, .open = open};
  talus_shape shape;
  CHECK_OK(talus_world_add_shape(world, &def, &shape));
  return shape;
}

/* Kinds with lists of their own. */
HELPER talus_shape add_points(talus_world *world, const char *name, talus_shape_kind kind,
                              size_t count) {
  static const double points[] = {0.1, 0,   0,   0.2, 0.3, 0,   0,    0.1, 0,   0.3,
                                  0,   0.2, 0.1, 0.2, 0.3, 0.3, 0.05, 0.1, 0.2, 0.4};
  talus_shape_def def = {.name = name, .kind = kind, .points = points, .point_count = count};
  talus_shape shape;
  CHECK_OK(talus_world_add_shape(world, &def, &shape));
  return shape;
}

HELPER talus_material add_material(talus_world *world, const char *name, double friction,
                                   double restitution) {
  talus_material_def def = talus_material_def_default();
  def.name = name, def.friction = friction, def.restitution = restitution;
  talus_material material;
  CHECK_OK(talus_world_add_material(world, &def, &material));
  return material;
}

HELPER talus_body_def place(talus_body_kind kind, talus_shape shape, talus_material material,
                            double x, double y, double z) {
  talus_body_def def = talus_body_def_default();
  def.kind = kind, def.shape = shape, def.material = material;
  def.position = (talus_dvec3){x, y, z};
  return def;
}

HELPER void add_tables(rich *r) {
  talus_world *world = r->world;
  r->ball = add_shape(world, "ball", TALUS_SPHERE, 0.05, 0, 0, 0, 0);
  r->brick = add_shape(world, NULL, TALUS_BOX, 0.3, 0.2, 0.1, 0, 0);
  r->floor = add_shape(world, "floor", TALUS_PLANE, 0.02, 0, 1, 0, 0);
  r->tank = add_shape(world, "tank \xc3\xa9", TALUS_CONTAINER, 1, 1, 2, 0, TALUS_SIDE_TOP);
  add_points(world, "stone", TALUS_HULL, 5);
  add_points(world, NULL, TALUS_CLUMP, 4);
  r->rock = add_material(world, "rock", 0.6, 0.1);
  r->steel = add_material(world, NULL, 0.3, 0.4);
  CHECK_OK(talus_world_set_material_pair(world, r->rock, r->steel, 0.45, 0.25));
  CHECK_OK(talus_world_group(world, "hard", &r->hard));
  CHECK_OK(talus_world_group(world, "soft", &r->soft));
  CHECK_OK(talus_world_ignore_groups(world, r->soft, r->hard));
  CHECK_OK(talus_world_ignore_groups(world, r->soft, r->soft));
}

HELPER void add_statics(rich *r) {
  talus_body_def def = place(TALUS_FIXED, r->floor, r->steel, 0, 0, -1);
  def.name = "ground";
  CHECK_OK(talus_world_add_body(r->world, &def, NULL));
  def = place(TALUS_FIXED, r->tank, r->steel, 0, 0, 1);
  CHECK_OK(talus_world_add_body(r->world, &def, NULL));
  def = place(TALUS_KINEMATIC, r->ball, r->steel, 0.1, 0, 0.2);
  def.name = "paddle", def.scale = 2;
  def.motion = (talus_motion){.velocity = {(talus_real)0.01, 0, 0},
                              .spin = {0, 1, 0},
                              .amplitude = {0, (talus_real)0.1, 0},
                              .frequency = 2,
                              .phase = 0.3};
  static const double poses[3][8] = {
      {0, 0, 0, 0, 1, 0, 0, 0}, {0.05, 0, 0, 0.01, 1, 0.1, 0, 0}, {0.3, 0.02, 0, 0, -1, 0, 0.2, 0}};
  const talus_motion table = {.table_kind = TALUS_TABLE_POSES,
                              .table = poses[0],
                              .rows = 3,
                              .is_smooth = true,
                              .is_through = true,
                              .through = {0.1, 0, 0.1},
                              .from_time = 0.01};
  def.motion.next = &table;
  CHECK_OK(talus_world_add_body(r->world, &def, &r->paddle));
}

HELPER void add_balls(rich *r) {
  talus_body spare = {0, 0};
  for (int i = 0; i < 60; ++i) {
    talus_body_def def =
        place(TALUS_FREE, r->ball, i % 3 ? r->rock : r->steel, -0.35 + 0.14 * (i % 6),
              -0.35 + 0.14 * (i / 6 % 5), 0.25 + 0.15 * (i / 30) + 0.003 * i);
    def.scale = 0.8 + 0.01 * (i % 7);
    def.group = i % 4 == 1 ? r->hard : i % 4 == 2 ? r->soft : 0;
    def.velocity = (talus_vec3){0, (talus_real)(0.1 * (i % 3)), -1};
    def.spin = (talus_vec3){(talus_real)i, 0, 1};
    talus_body body;
    CHECK_OK(talus_world_add_body(r->world, &def, &body));
    if (i % 10 == 4)
      CHECK_OK(talus_world_remove_body(r->world, body));
    if (i == 7)
      spare = body;
  }
  CHECK_OK(talus_world_remove_body(r->world, spare));
}

HELPER void add_odd_ones(rich *r) {
  talus_body_def def = place(TALUS_FREE, r->brick, r->rock, 0.1, 0.1, 0.12);
  def.name = "brick \"one\"";
  def.rotation = (talus_quat){1, (talus_real)0.1, (talus_real)0.2, (talus_real)0.3};
  def.spin = (talus_vec3){1, 2, 3};
  CHECK_OK(talus_world_add_body(r->world, &def, NULL));
  def = place(TALUS_FREE, r->ball, r->rock, 0.4, 0.4, 0.2);
  def.force = (talus_vec3){(talus_real)-0.5, 0, 0},
  def.torque = (talus_vec3){0, 0, (talus_real)0.01};
  CHECK_OK(talus_world_add_body(r->world, &def, &r->pushed));
  def = place(TALUS_FREE, r->ball, r->rock, -0.42, 0.42, 0.2);
  def.lock = TALUS_LOCK_X | TALUS_LOCK_RZ, def.mass = 3;
  CHECK_OK(talus_world_add_body(r->world, &def, &r->locked));
}

HELPER void add_flow(rich *r) {
  static const double sizes[] = {0.6, 1, 0.8, 2, 1.1, 0.5};
  talus_emitter_def emitter = talus_emitter_def_default();
  emitter.name = "spout";
  emitter.body = place(TALUS_FREE, r->ball, r->rock, 0, 0, 0);
  emitter.body.velocity.z = -2, emitter.body.group = r->soft;
  emitter.from = (talus_region){.kind = TALUS_REGION_CYLINDER,
                                .at = {0, 0, 1.5},
                                .axis = {0, (talus_real)0.3, 2},
                                .radius = 0.3};
  emitter.rate = 150;
  emitter.size =
      (talus_size_def){.kind = TALUS_SIZE_TABLE, .table = sizes, .rows = 3, .by_mass = true};
  emitter.random_rotation = true, emitter.seed = 77;
  CHECK_OK(talus_world_add_emitter(r->world, &emitter));
  emitter.name = NULL, emitter.until = 0.05, emitter.seed = 5;
  emitter.from =
      (talus_region){.kind = TALUS_REGION_BOX, .box = {{-0.3, -0.3, 1.7}, {0.3, 0.3, 1.8}}};
  emitter.size = (talus_size_def){.kind = TALUS_SIZE_LOGNORMAL, .median = 0.7, .sigma = 0.1};
  CHECK_OK(talus_world_add_emitter(r->world, &emitter));
  /* One that is always blocked, by a body that never moves. */
  emitter.from = (talus_region){.kind = TALUS_REGION_SPHERE, .at = {0.4, -0.4, 1}, .radius = 0.01};
  emitter.name = "blocked";
  talus_body_def plug = place(TALUS_FIXED, r->ball, r->rock, 0.4, -0.4, 1);
  CHECK_OK(talus_world_add_body(r->world, &plug, NULL));
  CHECK_OK(talus_world_add_emitter(r->world, &emitter));
  const talus_region sink = {.kind = TALUS_REGION_SPHERE, .at = {-0.3, -0.3, 0.1}, .radius = 0.2};
  CHECK_OK(talus_world_add_sink(r->world, "drain", &sink));
  talus_probe_def probe = {
      .name = "force", .on_body = true, .body = r->paddle, .record = TALUS_RECORD_FORCE};
  CHECK_OK(talus_world_add_probe(r->world, &probe, NULL));
  probe = (talus_probe_def){.region = {.kind = TALUS_REGION_BOX, .box = {{-1, -1, 0}, {1, 1, 1}}},
                            .record = TALUS_RECORD_MASS_FLOW | TALUS_RECORD_COUNT};
  CHECK_OK(talus_world_add_probe(r->world, &probe, NULL));
}

HELPER rich make_rich(void) {
  talus_world_def def = talus_world_def_default();
  def.threads = 2, def.dt = 3e-3;
  def.gravity = (talus_vec3){(talus_real)0.1, 0, (talus_real)-9.81};
  def.solve.recovery_speed = INFINITY;
  def.domain = (talus_domain_def){.enabled = true,
                                  .box = {{-2, -2, -2}, {2, 2, 3}},
                                  .periodic = {false, true, false},
                                  .outside = TALUS_OUTSIDE_REMOVE};
  rich r;
  CHECK_OK(talus_world_create(&def, &r.world));
  add_tables(&r);
  add_statics(&r);
  add_balls(&r);
  add_odd_ones(&r);
  add_flow(&r);
  return r;
}

/* Goes on until there are contacts, emitted, removed and blocked bodies, and free handles. */
HELPER void age(rich *r) {
  CHECK_OK(talus_world_step(r->world, 120));
  CHECK_OK(talus_world_remove_body(r->world, r->locked));
  CHECK_OK(talus_world_remove_body(r->world, r->pushed));
}

#endif
