/* Meshes that begin within each other: they part along their contacts, within three times the least
 * time, and never faster than they may. */
#include <talus/mesh.h>

#include "base/random.h"
#include "narrow/narrow.h"
#include "physics/rig.h"
#include "world/world.h"

enum { LIST = 64 };

typedef struct deep_pair {
  talus_world *world;
  talus_mesh mesh[2];
  talus_body body[2];
} deep_pair;

static double between(tl_random *random, double least, double most) {
  return least + (most - least) * tl_random_unit(random);
}

static talus_mesh random_mesh(tl_random *random, bool thin) {
  const double size = between(random, 0.05, 0.1);
  const talus_mesh_recipe rod = {
      .kind = "box",
      .size = {size * between(random, 0.1, 0.2), size * between(random, 0.1, 0.2), 2 * size}};
  const talus_mesh_recipe slab = {
      .kind = "box",
      .size = {size, size * between(random, 0.5, 1.5), size * between(random, 0.05, 0.15)}};
  const talus_mesh_recipe kinds[] = {
      rod,
      slab,
      {.kind = "box", .size = {size, size * between(random, 0.5, 1.5), size}},
      {.kind = "cylinder", .triangles = 128, .size = {0.5 * size, between(random, 0.01, 0.2)}},
      {.kind = "cylinder", .triangles = 48, .size = {0.08 * size, between(random, 0.01, 0.2)}},
      {.kind = "icosphere", .triangles = 320, .size = {0.5 * size}},
      {.kind = "noisy-sphere", .triangles = 320, .noise = 1.4, .seed = 3, .size = {0.5 * size}},
      {.kind = "torus", .triangles = 288, .size = {size, size * between(random, 0.15, 0.45)}}};
  const double count = thin ? 2 : sizeof kinds / sizeof *kinds;
  talus_mesh mesh;
  CHECK_OK(talus_mesh_make(&kinds[(int)between(random, 0, count)], &mesh));
  return mesh;
}

static talus_quat random_turn(tl_random *random) {
  double q[4], sum = 0;
  for (int k = 0; k < 4; ++k)
    q[k] = between(random, -0.5, 0.5), sum += q[k] * q[k];
  const double per = 1 / sqrt(sum);
  return (talus_quat){(talus_real)(q[0] * per), (talus_real)(q[1] * per), (talus_real)(q[2] * per),
                      (talus_real)(q[3] * per)};
}

static void measure(const talus_mesh *mesh, talus_quat turn, talus_dvec3 along, double range[2]) {
  const tl_frame frame = tl_frame_from_quat(turn);
  range[0] = HUGE_VAL, range[1] = -HUGE_VAL;
  for (size_t i = 0; i < mesh->vertices; ++i) {
    const double *p = mesh->vertex[i];
    const double at = tl_ddot(along, tl_frame_to_world(&frame, tl_dvec3(p[0], p[1], p[2])));
    range[0] = fmin(range[0], at), range[1] = fmax(range[1], at);
  }
}

static talus_body add_body(talus_world *world, const talus_mesh *mesh, talus_material m,
                           talus_dvec3 place, talus_quat turn) {
  talus_shape_def shape = talus_shape_def_default();
  talus_body_def def = talus_body_def_default();
  talus_body body;
  shape.kind = TALUS_MESH;
  shape.points = (const double *)mesh->vertex, shape.point_count = mesh->vertices;
  shape.triangles = (const uint32_t *)mesh->triangle, shape.triangle_count = mesh->triangles;
  CHECK_OK(talus_world_add_shape(world, &shape, &def.shape));
  def.material = m, def.position = place, def.rotation = turn;
  CHECK_OK(talus_world_add_body(world, &def, &body));
  return body;
}

/* Two random meshes that reach into each other along some direction, by up to `share` of the
 * smaller width along it. Returns how far. */
static double make_pair(deep_pair *p, uint64_t seed, bool thin, double share) {
  tl_random random = tl_random_start(seed, 11, 0);
  talus_world_def def = rig_def(2e-3);
  double range[2][2];
  def.gravity = rig_vec(0, 0, 0);
  def.solve.recovery_speed = 0.2;
  def.solve.iterations = 500, def.solve.tolerance = BY_PRECISION(1e-8, 1e-5);
  p->world = rig_world(&def);
  const talus_material m = rig_material(p->world, 0, 0);
  const talus_dvec3 along =
      tl_dunit(tl_dvec3(between(&random, -1, 1), between(&random, -1, 1), between(&random, -1, 1)));
  const talus_dvec3 other = tl_dunit(tl_dcross(along, tl_dvec3(0.3, 0.5, 0.8)));
  talus_quat turn[2];
  for (int i = 0; i < 2; ++i) {
    p->mesh[i] = random_mesh(&random, thin);
    turn[i] = random_turn(&random);
    measure(&p->mesh[i], turn[i], along, range[i]);
  }
  const double depth =
      between(&random, 0.01, share) * fmin(range[0][1] - range[0][0], range[1][1] - range[1][0]);
  const talus_dvec3 aside = tl_dscale(other, between(&random, 0, 0.01));
  p->body[0] = add_body(p->world, &p->mesh[0], m, tl_dvec3(0, 0, 0), turn[0]);
  p->body[1] = add_body(p->world, &p->mesh[1], m,
                        tl_dalong(aside, range[0][1] - range[1][0] - depth, along), turn[1]);
  return depth;
}

/* Of the second from the first. */
static talus_dvec3 apart(const deep_pair *p) {
  return tl_dsub(rig_info(p->world, p->body[1]).position, rig_info(p->world, p->body[0]).position);
}

static double deepest_of(const talus_world *world) {
  talus_contact contact[LIST];
  size_t count;
  double deepest = 0;
  CHECK_OK(talus_world_contacts(world, contact, LIST, &count));
  for (size_t i = 0; i < count && i < LIST; ++i)
    deepest = fmax(deepest, -(double)contact[i].gap);
  return deepest;
}

static bool touch(const talus_world *world) {
  tl_posed posed[2];
  for (uint32_t i = 0; i < 2; ++i)
    posed[i] = (tl_posed){.shape = tl_body_shape(&world->model, i),
                          .scale = 1,
                          .position = world->state.position[i],
                          .rotation = world->state.rotation[i]};
  return tl_narrow_touches(&posed[0], &posed[1]);
}

/* Whether they were within each other. */
static bool part(uint64_t seed, bool thin, double share) {
  const double speed = 0.2, dt = 2e-3, enough = 1e-4;
  deep_pair p;
  bool met = false;
  const double depth = make_pair(&p, seed, thin, share);
  if (touch(p.world)) {
    double deepest = 1, time = 0, fastest = 0;
    met = true;
    for (; deepest > enough && time < 3 * depth / speed + 2 * dt; time += dt) {
      const talus_dvec3 before = apart(&p);
      CHECK_OK(talus_world_step(p.world, 1));
      fastest = fmax(fastest, tl_dlength(tl_dsub(apart(&p), before)) / dt);
      deepest = deepest_of(p.world);
      CHECK_MSG(time > 0 || deepest < 1.5 * depth + enough, "seed %d: %g deep, not %g", (int)seed,
                deepest, depth);
    }
    CHECK_MSG(deepest <= enough, "seed %d: still %g deep", (int)seed, deepest);
    CHECK_MSG(deepest > 0 || !touch(p.world), "seed %d: in each other, without contacts",
              (int)seed);
    CHECK_MSG(fastest < 1.1 * speed, "seed %d: %g m/s", (int)seed, fastest);
  }
  talus_world_destroy(p.world);
  for (int i = 0; i < 2; ++i)
    talus_mesh_free(&p.mesh[i]);
  return met;
}

static void part_many(uint64_t seeds, bool thin, double share) {
  uint64_t met = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    met += part(seed, thin, share);
  CHECK_MSG(20 * met > seeds, "%d of %d", (int)met, (int)seeds);
}

TEST(random_meshes_up_to_a_fifth_deep_part_at_the_recovery_speed) {
  part_many(check_cases(2000), false, 0.2);
}

/* A rod that goes into a slab and out of it has no side from which it came. */
TEST(rods_through_slabs_come_out) { part_many(check_cases(4000), true, 0.3); }

TEST_MAIN()
