/* Flow through the public header: a world that is filled, poured into, emptied and measured. */
#include "check.h"
#include <talus/talus.h>

typedef struct hall {
  talus_world *world;
  talus_shape grain;
  talus_body tank;
} hall;

/* A tank of 1 m with its top open. */
static hall hall_make(int threads) {
  hall h;
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  def.dt = 2e-3;
  CHECK_OK(talus_world_create(&def, &h.world));
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_SPHERE, shape.size[0] = 0.05;
  CHECK_OK(talus_world_add_shape(h.world, &shape, &h.grain));
  talus_shape tank;
  shape = talus_shape_def_default();
  shape.kind = TALUS_CONTAINER, shape.open = TALUS_SIDE_TOP;
  shape.size[0] = shape.size[1] = shape.size[2] = 1;
  CHECK_OK(talus_world_add_shape(h.world, &shape, &tank));
  const talus_material_def rock = talus_material_def_default();
  talus_material material;
  CHECK_OK(talus_world_add_material(h.world, &rock, &material));
  talus_body_def body = talus_body_def_default();
  body.kind = TALUS_FIXED, body.shape = tank, body.position.z = 0.5;
  CHECK_OK(talus_world_add_body(h.world, &body, &h.tank));
  return h;
}

static talus_report report_of(const hall *h) {
  talus_report report;
  CHECK_OK(talus_world_report(h->world, &report));
  return report;
}

static talus_fill_def fill_def(const hall *h, uint64_t count) {
  talus_fill_def def = talus_fill_def_default();
  def.body.shape = h->grain;
  def.in.kind = TALUS_REGION_BOX;
  def.in.box = (talus_box){{-0.5, -0.5, 0}, {0.5, 0.5, 1}};
  def.count = count;
  def.size = (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 0.6, .high = 1};
  def.random_rotation = true;
  return def;
}

static talus_emitter_def emitter_def(const hall *h, double rate) {
  talus_emitter_def def = talus_emitter_def_default();
  def.body.shape = h->grain;
  def.body.velocity.z = -1;
  def.from.kind = TALUS_REGION_CYLINDER;
  def.from.at = (talus_dvec3){0.5, 0, 1.3};
  def.from.axis.z = 1;
  def.from.radius = 0.4;
  def.rate = rate;
  return def;
}

TEST(a_filled_world_starts_without_a_touch) {
  const hall h = hall_make(1);
  talus_fill_def def = fill_def(&h, 300);
  uint64_t placed = 0;
  CHECK_OK(talus_world_fill(h.world, &def, &placed));
  CHECK_EQ_U64(placed, 300);
  def.seed = 1; /* a second fill among the first */
  def.count = 200;
  CHECK_OK(talus_world_fill(h.world, &def, &placed));
  CHECK_EQ_U64(talus_world_body_count(h.world), 501);
  CHECK_OK(talus_world_step(h.world, 1));
  CHECK_EQ_U64(report_of(&h).contacts, 0);
  talus_world_destroy(h.world);
}

TEST(a_fill_that_does_not_fit_changes_nothing) {
  const hall h = hall_make(1);
  talus_fill_def def = fill_def(&h, 1200); /* 0.63 of the volume, and walls all round */
  def.size.kind = TALUS_SIZE_ONE;
  CHECK(talus_world_fill(h.world, &def, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "1200") != NULL, "%s", talus_last_error());
  CHECK_EQ_U64(talus_world_body_count(h.world), 1);
  def.allow_fewer = true;
  uint64_t placed = 0;
  CHECK_OK(talus_world_fill(h.world, &def, &placed));
  CHECK(placed > 600 && placed < 1200);
  CHECK_EQ_U64(talus_world_body_count(h.world), 1 + placed);
  talus_world_destroy(h.world);
}

/* Pours over the rim of the tank for most of a second; what falls beside it is taken away. */
static uint64_t pour(int threads, talus_report *report, size_t *bodies) {
  const hall h = hall_make(threads);
  talus_fill_def fill = fill_def(&h, 50);
  CHECK_OK(talus_world_fill(h.world, &fill, NULL));
  talus_emitter_def emitter = emitter_def(&h, 400);
  emitter.size = (talus_size_def){.kind = TALUS_SIZE_LOGNORMAL, .median = 0.9, .sigma = 0.1};
  CHECK_OK(talus_world_add_emitter(h.world, &emitter));
  const talus_region below = {.kind = TALUS_REGION_BOX, .box = {{-9, -9, -9}, {9, 9, -0.2}}};
  CHECK_OK(talus_world_add_sink(h.world, "below", &below));
  CHECK_OK(talus_world_step(h.world, 400));
  *report = report_of(&h);
  *bodies = talus_world_body_count(h.world);
  const uint64_t hash = talus_world_hash(h.world);
  talus_world_destroy(h.world);
  return hash;
}

TEST(bodies_come_and_go_and_the_books_balance) {
  talus_report one, two;
  size_t bodies[2];
  const uint64_t hash = pour(1, &one, &bodies[0]);
  CHECK(hash == pour(2, &two, &bodies[1]));
  CHECK_EQ_U64(bodies[0], 1 + 50 + one.emitted - one.removed);
  CHECK(one.emitted > 200 && one.removed > 20);
  CHECK(one.emitted == two.emitted && one.removed == two.removed && one.blocked == two.blocked);
}

TEST(the_tank_carries_the_weight_of_what_is_in_it) {
  const hall h = hall_make(1);
  const talus_fill_def fill = fill_def(&h, 150);
  CHECK_OK(talus_world_fill(h.world, &fill, NULL));
  talus_probe_def def = {
      .name = "tank", .on_body = true, .body = h.tank, .record = TALUS_RECORD_FORCE};
  uint32_t force, inside;
  CHECK_OK(talus_world_add_probe(h.world, &def, &force));
  def = (talus_probe_def){.name = "inside", .region = fill.in, .record = TALUS_RECORD_COUNT};
  CHECK_OK(talus_world_add_probe(h.world, &def, &inside));
  CHECK_OK(talus_world_step(h.world, 1000)); /* settles */
  double weight = 0;
  for (size_t slot = 0; slot < talus_world_body_count(h.world); ++slot) {
    talus_body body;
    talus_body_info info;
    CHECK_OK(talus_world_body_at(h.world, slot, &body));
    CHECK_OK(talus_world_get_body(h.world, body, &info));
    weight += info.kind == TALUS_FREE ? 9.81 * (double)info.mass : 0;
  }
  talus_probe_values values;
  CHECK_OK(talus_probe_read(h.world, force, &values));
  CHECK_OK(talus_world_step(h.world, 500));
  CHECK_OK(talus_probe_read(h.world, force, &values));
  CHECK_NEAR(values.from, 2.0, 1e-9);
  CHECK_NEAR(values.to, 3.0, 1e-9);
  CHECK_NEAR(values.force[2], -weight, 0.01 * weight);
  CHECK_NEAR(values.force[0], 0, 0.01 * weight);
  CHECK_OK(talus_probe_read(h.world, inside, &values));
  CHECK_NEAR(values.count, 150, 1e-6);
  talus_world_destroy(h.world);
}

TEST_MAIN()
