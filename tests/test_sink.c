/* Overlaps are measured, and a body that went where it cannot have got by touching is told of once,
 * whatever the solver. */
#include "penalty_heap.h"

#include "shape/shape.h"

#include <talus/mesh.h>

#define LINES 32

typedef struct told {
  char lines[LINES][512];
  size_t count;
} told;

static void listen(void *context, int level, const char *line) {
  told *heard = context;
  if (level == 1 && heard->count < LINES)
    snprintf(heard->lines[heard->count++], sizeof heard->lines[0], "%s", line);
}

/* ---- a ball and a wall ----------------------------------------------------------------------- */

typedef struct meeting {
  talus_solve_kind kind;
  talus_shape_def wall, thing;
  talus_dvec3 at;
  talus_vec3 velocity;
  double stiffness, dt;
  uint32_t strict;
} meeting;

static meeting meet(talus_solve_kind kind, talus_shape_kind wall, double x, double y, double z) {
  meeting m = {.kind = kind,
               .wall = talus_shape_def_default(),
               .thing = talus_shape_def_default(),
               .stiffness = 1,
               .dt = 1e-3};
  m.wall.kind = wall, m.wall.size[0] = x, m.wall.size[1] = y, m.wall.size[2] = z;
  m.wall.size[3] = 0;
  m.thing.size[0] = 0.1;
  return m;
}

static talus_world *world_of(const meeting *m, told *heard) {
  talus_world_def def = talus_world_def_default();
  def.solve.recovery_speed = 0.6; /* so slow that it is seen */
  talus_world *world;
  talus_material_def material = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  def.gravity = (talus_vec3){0, 0, 0};
  def.solve.kind = m->kind;
  def.dt = m->dt;
  def.threads = 1;
  def.strict = m->strict;
  def.log = listen;
  def.log_context = heard;
  heard->count = 0;
  material.stiffness = m->stiffness;
  CHECK_OK(talus_world_create(&def, &world));
  CHECK_OK(talus_world_add_material(world, &material, &body.material));
  CHECK_OK(talus_world_add_shape(world, &m->wall, &body.shape));
  body.kind = TALUS_FIXED, body.name = "wall";
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK_OK(talus_world_add_shape(world, &m->thing, &body.shape));
  body.kind = TALUS_FREE, body.name = "thing";
  body.position = m->at, body.velocity = m->velocity;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  return world;
}

static const talus_solve_kind kinds[] = {TALUS_SOLVE_CCP, TALUS_SOLVE_IMPULSE, TALUS_SOLVE_PENALTY};

TEST(a_body_deeper_than_half_its_size_is_named_once_with_every_solver) {
  static told heard;
  for (int k = 0; k < 6; ++k) {
    meeting m = meet(kinds[k % 3], TALUS_PLANE, 0, 0, 1);
    if (k >= 3)
      m.thing.kind = TALUS_BOX, m.thing.size[0] = m.thing.size[1] = m.thing.size[2] = 0.2;
    m.at.z = -0.02;
    talus_world *world = world_of(&m, &heard);
    CHECK_OK(talus_world_step(world, 5));
    CHECK_EQ_U64(heard.count, 1);
    CHECK(strstr(heard.lines[0], "body 2 'thing' sank 0.12 m into body 1 'wall' at t = 0.001 s"));
    const talus_report r = report_of(world);
    CHECK_EQ_U64(r.sunk, 1);
    CHECK_EQ_U64(r.sunk_first, 2);
    CHECK(r.overlap_max > 0.1 && r.overlap_max < 0.13);
    CHECK_NEAR(r.overlap_share, r.overlap_max / (k < 3 ? 0.1 : 0.1 * sqrt(3)), 1e-6);
    talus_world_destroy(world);
  }
}

TEST(a_body_that_touches_is_not_said_to_sink) {
  static told heard;
  for (int k = 0; k < 3; ++k) {
    meeting m = meet(kinds[k], TALUS_PLANE, 0, 0, 1);
    m.at.z = 0.03;
    talus_world *world = world_of(&m, &heard);
    CHECK_OK(talus_world_step(world, 5));
    CHECK_EQ_U64(heard.count, 0);
    CHECK_EQ_U64(report_of(world).sunk, 0);
    CHECK(report_of(world).overlap_max > 0.06);
    talus_world_destroy(world);
  }
}

/* From 0.08 m on one side to 0.07 m on the other within a step, springs being too soft to notice:
 * at no time is the centre within the wall. */
TEST(a_ball_that_leaps_through_a_thin_wall_is_named) {
  static told heard;
  for (int k = 0; k < 4; ++k) {
    meeting m = meet(TALUS_SOLVE_PENALTY, k & 1 ? TALUS_CONTAINER : TALUS_BOX, 4, 4, 0.002);
    if (k & 1) { /* the bottom of a tank, with its centre at the origin */
      m.wall.size[2] = 4;
      m.at.z = -2;
    }
    m.at.z += k & 2 ? -0.08 : 0.08;
    m.velocity.z = (talus_real)(k & 2 ? 150 : -150);
    talus_world *world = world_of(&m, &heard);
    CHECK_OK(talus_world_step(world, 3));
    CHECK_EQ_U64(heard.count, 1);
    CHECK(strstr(heard.lines[0], "body 2 'thing' passed through body 1 'wall' at t = 0.001 s"));
    CHECK_EQ_U64(report_of(world).sunk, 1);
    talus_world_destroy(world);
  }
}

/* The same through walls of every other kind: thin plates, a thread, a small thing, a sheet. */
static const double plate[] = {-2, -2, -0.001, 2, -2, -0.001, 2, 2, -0.001, -2, 2, -0.001,
                               -2, -2, 0.001,  2, -2, 0.001,  2, 2, 0.001,  -2, 2, 0.001};
static const uint32_t skin[] = {4, 5, 6, 4, 6, 7, 0, 2, 1, 0, 3, 2, 0, 1, 5, 0, 5, 4,
                                1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
static const double beads[] = {0, 0, 0, 0.01, 0.02, 0, 0, 0.01};
static const double disc[] = {0, 0, 0, 2};

static meeting meet_thin(talus_shape_kind kind, bool is_open) {
  meeting m = meet(TALUS_SOLVE_PENALTY, kind, 2, 2, 0.001);
  const bool is_round = kind == TALUS_CYLINDER || kind == TALUS_CONE;
  if (kind == TALUS_SPHERE || kind == TALUS_CAPSULE || is_round)
    m.wall.size[0] = is_round ? 2 : 0.01, m.wall.size[1] = 0.002;
  if (kind == TALUS_SUPERELLIPSOID)
    m.wall.size[3] = m.wall.size[4] = 4;
  if (kind == TALUS_HULL || kind == TALUS_MESH)
    m.wall.points = plate, m.wall.point_count = 8;
  if (kind == TALUS_MESH)
    m.wall.triangles = skin, m.wall.triangle_count = is_open ? 2 : 12;
  if (kind == TALUS_CLUMP)
    m.wall.points = beads, m.wall.point_count = 2;
  if (kind == TALUS_REVOLVED)
    m.wall.points = disc, m.wall.point_count = 2, m.wall.sides = TALUS_SIDES_BOTH;
  m.at = (talus_dvec3){1e-3, 2e-3, 0.08};
  m.velocity.z = -150;
  return m;
}

TEST(a_ball_that_leaps_through_any_kind_of_wall_is_named) {
  static told heard;
  for (int k = 0; k <= TALUS_SHAPE_KINDS; ++k) {
    if (k == TALUS_PLANE || k == TALUS_BOX || k == TALUS_CONTAINER)
      continue; /* a plane has no other side; the others are above */
    const bool is_open = k == TALUS_SHAPE_KINDS;
    const meeting m = meet_thin(is_open ? TALUS_MESH : (talus_shape_kind)k, is_open);
    talus_world *world = world_of(&m, &heard);
    CHECK_OK(talus_world_step(world, 3));
    CHECK_EQ_U64(heard.count, 1);
    CHECK(strstr(heard.lines[0], "body 2 'thing' passed through body 1 'wall' at t = 0.001 s"));
    CHECK_EQ_U64(report_of(world).sunk, 1);
    talus_world_destroy(world);
  }
}

/* ---- without a contact ------------------------------------------------------------------------
 */

/* TALUS_BACKEND_CPU: or a device, which shall take all steps. */
static talus_backend place = TALUS_BACKEND_CPU;

/* From 0.25 m in front of the wall to 0.25 m behind it within a step, with contacts up to 1 mm:
 * at neither end is there one. */
static void check_leap(meeting m, bool is_implicit) {
  static told heard;
  talus_world *world = world_of(&m, &heard);
  world->model.margin = 1e-3;
  world->model.unswept = 1;
  if (is_implicit)
    world->model.step = TALUS_STEP_IMPLICIT;
  CHECK_OK(talus_world_set_backend(world, place, true));
  CHECK_OK(talus_world_step(world, 3));
  CHECK_MSG(heard.count == 1, "wall of kind %d, thing %d, solver %d: %zu lines", (int)m.wall.kind,
            (int)m.thing.kind, (int)m.kind, heard.count);
  CHECK(strstr(heard.lines[0], "body 2 'thing' passed through body 1 'wall' at t = 0.001 s"));
  CHECK_EQ_U64(report_of(world).sunk, 1);
  talus_world_destroy(world);
}

TEST(a_body_that_leaps_over_a_wall_without_touching_it_is_named_with_every_solver) {
  for (int k = 0; k <= TALUS_SHAPE_KINDS; ++k) {
    if (k == TALUS_PLANE)
      continue;
    const bool is_open = k == TALUS_SHAPE_KINDS;
    meeting m = meet_thin(is_open ? TALUS_MESH : (talus_shape_kind)k, is_open);
    if (k == TALUS_CONTAINER)
      m.wall.size[2] = 2; /* through its bottom and its top, or out */
    for (int i = 0; i < 8; ++i) {
      m.kind = kinds[i % 4 == 3 ? 2 : i % 4];
      m.thing.kind = i < 4 ? TALUS_SPHERE : TALUS_BOX;
      m.thing.size[1] = m.thing.size[2] = m.thing.size[0] = i < 4 ? 0.1 : 0.2;
      m.at.z = k == TALUS_CONTAINER ? -0.75 : 0.25;
      m.velocity.z = -500;
      check_leap(m, i % 4 == 3);
    }
  }
}

/* Rows come home at once, and go out again with the mark that it was told of. */
TEST(a_body_is_named_once_by_a_device_and_by_the_host) {
  static told heard;
  for (int k = 0; k < 2; ++k) {
    meeting m = meet(TALUS_SOLVE_CCP, TALUS_PLANE, 0, 0, 1);
    if (k == 1)
      m.thing.kind = TALUS_BOX, m.thing.size[0] = m.thing.size[1] = m.thing.size[2] = 0.2;
    m.at.z = -0.02;
    talus_world *world = world_of(&m, &heard);
    CHECK_OK(talus_world_set_backend(world, TALUS_BACKEND_CHECK, true));
    CHECK_OK(talus_world_step(world, 5));
    CHECK_EQ_U64(heard.count, 1);
    CHECK(strstr(heard.lines[0], "body 2 'thing' sank 0.12 m into body 1 'wall' at t = 0.001 s"));
    CHECK_EQ_U64(report_of(world).sunk, 1);
    talus_world_destroy(world);
  }
}

TEST(a_box_that_leaps_out_of_a_tube_is_named) {
  static const double tube[] = {-1, 0.3, 1, 0.3};
  for (int i = 0; i < 6; ++i) {
    meeting m = meet(kinds[i % 3], TALUS_REVOLVED, 0, 0, 0);
    m.wall.points = tube, m.wall.point_count = 2;
    m.wall.sides = i < 3 ? TALUS_SIDES_BOTH : TALUS_SIDES_OUT;
    m.thing.kind = TALUS_BOX, m.thing.size[0] = m.thing.size[1] = m.thing.size[2] = 0.1;
    m.at = (talus_dvec3){0, 0.01, 0};
    m.velocity = (talus_vec3){0, 600, 0};
    check_leap(m, false);
  }
}

/* Its rows are elsewhere, and it has looked before they come home. */
TEST(a_body_that_leaps_over_a_wall_on_a_device_is_named) {
  place = TALUS_BACKEND_CHECK;
  for (int k = 0; k < TALUS_SHAPE_KINDS; ++k) {
    if (k == TALUS_PLANE || k == TALUS_MESH || k == TALUS_REVOLVED)
      continue;
    meeting m = meet_thin((talus_shape_kind)k, false);
    m.kind = TALUS_SOLVE_CCP;
    if (k == TALUS_CONTAINER)
      m.wall.size[2] = 2;
    m.at.z = k == TALUS_CONTAINER ? -0.75 : 0.25;
    m.velocity.z = -500;
    check_leap(m, false);
  }
  place = TALUS_BACKEND_CPU;
}

/* A plate that moves past a body at rest. */
TEST(a_body_that_a_moving_wall_leaps_over_is_named) {
  static told heard;
  for (int k = 0; k < 8; ++k) {
    const bool by_device = k >= 6, turns = k < 6 ? k >= 3 : k == 7;
    talus_world_def def = talus_world_def_default();
    talus_world *world;
    talus_material_def material = talus_material_def_default();
    talus_shape_def shape = talus_shape_def_default();
    talus_body_def body = talus_body_def_default();
    def.gravity = (talus_vec3){0, 0, 0};
    def.solve.kind = by_device ? TALUS_SOLVE_CCP : kinds[k % 3];
    def.backend = by_device ? TALUS_BACKEND_CHECK : TALUS_BACKEND_CPU, def.no_fallback = true;
    def.dt = 1e-3, def.margin = 1e-3, def.sweep = false;
    def.threads = 1, def.log = listen, def.log_context = &heard;
    heard.count = 0;
    material.stiffness = 1;
    CHECK_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_add_material(world, &material, &body.material));
    shape.kind = TALUS_SPHERE, shape.size[0] = 0.1;
    CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
    body.position = (talus_dvec3){1, 0, 0}, body.name = "thing";
    CHECK_OK(talus_world_add_body(world, &body, NULL));
    shape.kind = TALUS_BOX, shape.size[0] = 4, shape.size[1] = 4, shape.size[2] = 0.002;
    CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
    body.kind = TALUS_KINEMATIC, body.name = "wall";
    body.position = (talus_dvec3){0, 0, turns ? 0 : 0.25};
    if (!turns)
      body.motion.velocity = (talus_vec3){0, 0, -500};
    else
      body.motion.spin = (talus_vec3){0, -300, 0},
      body.rotation = (talus_quat){0.9950042F, 0, 0.0998334F, 0};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
    CHECK_OK(talus_world_step(world, 3));
    CHECK_EQ_U64(heard.count, 1);
    CHECK(strstr(heard.lines[0], "body 1 'thing' passed through body 2 'wall'"));
    talus_world_destroy(world);
  }
}

/* Who is told not to meet the wall may go through it. */
TEST(a_body_that_ignores_a_wall_is_not_named) {
  static told heard;
  for (int k = 0; k < 3; ++k) {
    meeting m = meet(kinds[k], TALUS_BOX, 4, 4, 0.002);
    uint32_t groups[2];
    m.at.z = 0.25, m.velocity.z = -500;
    talus_world *world = world_of(&m, &heard);
    CHECK_OK(talus_world_group(world, "a", &groups[0]));
    CHECK_OK(talus_world_group(world, "b", &groups[1]));
    world->model.property.group[0] = groups[0], world->model.property.group[1] = groups[1];
    CHECK_OK(talus_world_ignore_groups(world, groups[0], groups[1]));
    CHECK_OK(talus_world_step(world, 3));
    CHECK_EQ_U64(heard.count, 0);
    talus_world_destroy(world);
  }
}

/* What bodies may go without being looked at: no way that is shorter goes through a wall. */
TEST(no_way_shorter_than_the_clearance_goes_through_a_shape) {
  rng random = {5};
  int crossed = 0;
  for (int k = 0; k <= TALUS_SHAPE_KINDS; ++k) {
    if (k == TALUS_PLANE)
      continue;
    const bool is_open = k == TALUS_SHAPE_KINDS;
    meeting m = meet_thin(is_open ? TALUS_MESH : (talus_shape_kind)k, is_open);
    tl_shape shape;
    if (k == TALUS_CONTAINER)
      m.wall.size[2] = 2, m.wall.open = TALUS_SIDE_TOP;
    CHECK_OK(tl_shape_make(&m.wall, &shape));
    for (int i = 0; i < 2000; ++i) {
      double x[6];
      for (int j = 0; j < 6; ++j)
        x[j] = 4 * next(&random) - 2;
      const double near = i % 2 ? 1 : 0.02;
      const talus_dvec3 from = {near * x[0], near * x[1], near * x[2]};
      talus_dvec3 way = {x[3], x[4], x[5]};
      const double clear = tl_shape_clearance(&shape, from, 10);
      way = tl_dscale(way, 0.9999 * fmax(clear, 0) / tl_dlength(way));
      CHECK_MSG(clear <= 0 || !tl_shape_is_crossed(&shape, from, tl_dadd(from, way)),
                "kind %d: clear by %g m at (%g, %g, %g)", k, clear, from.x, from.y, from.z);
      crossed += tl_shape_is_crossed(&shape, from, tl_dscale(from, -1));
      CHECK(!tl_shape_is_crossed(&shape, from, tl_dscale(from, -1)) ||
            clear <= 2 * tl_dlength(from));
    }
    tl_shape_release(&shape);
  }
  CHECK(crossed > 1000);
}

/* A ring round a post: its centre is inside the post. */
TEST(a_ring_that_slides_down_a_post_is_not_named) {
  static told heard;
  talus_mesh_recipe recipe = talus_mesh_recipe_default();
  talus_mesh ring;
  recipe.kind = "torus", recipe.size[0] = 0.1, recipe.size[1] = 0.03;
  CHECK_OK(talus_mesh_make(&recipe, &ring));
  for (int k = 0; k < 2; ++k) {
    meeting m = meet(kinds[k], TALUS_CYLINDER, 0.06, 1, 0);
    m.thing.kind = TALUS_MESH;
    m.thing.points = ring.vertex[0], m.thing.point_count = ring.vertices;
    m.thing.triangles = ring.triangle[0], m.thing.triangle_count = ring.triangles;
    m.at = (talus_dvec3){0.009, 0, 0.3};
    m.velocity = (talus_vec3){0.5F, 0, -3}; /* and rubs on its side */
    talus_world *world = world_of(&m, &heard);
    size_t contacts = 0;
    for (int i = 0; i < 20; ++i) {
      CHECK_OK(talus_world_step(world, 1));
      contacts += world->contacts.count;
    }
    CHECK(contacts > 0);
    CHECK_EQ_U64(heard.count, 0);
    CHECK_EQ_U64(report_of(world).sunk, 0);
    talus_world_destroy(world);
  }
  talus_mesh_free(&ring);
}

/* Past the edge of a box, and over the rim of a tank, half a radius a step. */
TEST(a_ball_that_flies_past_an_edge_is_not_named) {
  static told heard;
  for (int k = 0; k < 6; ++k) {
    meeting m = meet(kinds[k % 3], k < 3 ? TALUS_BOX : TALUS_CONTAINER, 4, 4, 4);
    m.wall.open = k < 3 ? 0 : TALUS_SIDE_TOP;
    m.at = (talus_dvec3){k < 3 ? 2.11 : 1.5, 0, k < 3 ? 2.3 : 2.11};
    m.velocity.x = k < 3 ? 0 : 50;
    m.velocity.z = k < 3 ? -50 : 0;
    talus_world *world = world_of(&m, &heard);
    CHECK_OK(talus_world_step(world, 30));
    CHECK_EQ_U64(heard.count, 0);
    CHECK_EQ_U64(report_of(world).sunk, 0);
    talus_world_destroy(world);
  }
}

/* A thin V that opens to the ball on its right. The nearest image of its centre is that on the
 * left, whose ends are 0.41 m away; the tip of the one on the right is nearer. */
TEST(the_way_to_a_wall_is_no_longer_than_to_its_image_beyond_the_period) {
  static const double corners[] = {-0.14, 0,    0,    0.14, 0.2,  0,     0.14, 0.19,
                                   0,     0.14, -0.2, 0,    0.14, -0.19, 0};
  static const uint32_t arms[] = {0, 1, 2, 0, 3, 4};
  static told heard;
  meeting m = meet(TALUS_SOLVE_CCP, TALUS_MESH, 0, 0, 0);
  m.wall.points = corners, m.wall.point_count = 5;
  m.wall.triangles = arms, m.wall.triangle_count = 2;
  m.at.x = 0.499, m.velocity.x = 0.01F;
  talus_world *world = world_of(&m, &heard);
  world->model.domain.enabled = true, world->model.domain.periodic[0] = true;
  world->model.domain.box.lo = (talus_dvec3){-0.5, -5, -5};
  world->model.domain.box.hi = (talus_dvec3){0.5, 5, 5};
  CHECK_OK(talus_world_step(world, 1));
  const double room = (double)world->model.property.room[1];
  CHECK_MSG(room > 0.25 && room < 0.361, "it may go %g m", room);
  talus_world_destroy(world);
}

/* Flags at both ends of a wall that is 3.5 periods long: those beside the ball are of images whose
 * centres are two periods away. */
TEST(flags_of_a_wall_of_several_periods_are_seen_and_nobody_leaps_over_them_unseen) {
  static const double corners[] = {-1.75, 0, -0.1, -1.75, 0.1, 0.1, -1.75, -0.1, 0.1,
                                   1.75,  0, -0.1, 1.75,  0.1, 0.1, 1.75,  -0.1, 0.1};
  static const uint32_t flags[] = {0, 1, 2, 3, 4, 5};
  static told heard;
  meeting m = meet(TALUS_SOLVE_CCP, TALUS_MESH, 0, 0, 0);
  m.wall.points = corners, m.wall.point_count = 6;
  m.wall.triangles = flags, m.wall.triangle_count = 2;
  m.at.z = 0, m.velocity = (talus_vec3){0, 0, 0};
  for (int fast = 0; fast < 2; ++fast) {
    m.at.x = fast ? 0 : 0.2, m.velocity.x = TL_R(fast ? 400 : 0.01);
    talus_world *world = world_of(&m, &heard);
    world->model.domain.enabled = true, world->model.domain.periodic[0] = true;
    world->model.domain.box.lo = (talus_dvec3){-0.5, -5, -5};
    world->model.domain.box.hi = (talus_dvec3){0.5, 5, 5};
    world->model.unswept = 1, world->model.margin = TL_R(1e-3);
    CHECK_OK(talus_world_step(world, 1));
    const double room = (double)world->model.property.room[1];
    CHECK_MSG(fast || room < 0.06, "it may go %g m", room);
    CHECK_EQ_U64(heard.count, (uint64_t)fast);
    talus_world_destroy(world);
  }
}

/* One pass over all bodies for each wall would make a bed of 100,000 fixed grains take a second. */
TEST(walls_that_are_added_between_two_steps_end_what_bodies_know_of_walls_once) {
  static told heard;
  meeting m = meet(TALUS_SOLVE_CCP, TALUS_BOX, 1, 1, 1);
  m.at = (talus_dvec3){10, 0, 0};
  m.velocity.x = 1;
  talus_world *world = world_of(&m, &heard);
  const size_t ball = world->model.bodies - 1;
  CHECK_OK(talus_world_step(world, 2));
  CHECK(world->model.property.room[ball] > 1); /* it has found that the wall is far */
  talus_body_def def = talus_body_def_default();
  def.kind = TALUS_FIXED;
  def.position = (talus_dvec3){0, 10, 0};
  CHECK_OK(talus_world_add_body(world, &def, NULL));
  CHECK(world->model.property.room[ball] == 0);
  world->model.property.room[ball] = 1; /* a mark */
  def.position.y = 20;
  CHECK_OK(talus_world_add_body(world, &def, NULL));
  CHECK(world->model.property.room[ball] == 1);
  CHECK_OK(talus_world_step(world, 1));
  world->model.property.room[ball] = 1;
  def.position.y = 30;
  CHECK_OK(talus_world_add_body(world, &def, NULL));
  CHECK(world->model.property.room[ball] == 0);
  talus_world_destroy(world);
}

/* Steps of a device, and of a list of balls, do not count for the host how far bodies go. */
TEST(a_body_that_came_near_a_wall_elsewhere_and_leaps_over_it_is_named) {
  static told heard;
  for (int k = 0; k < 2; ++k) {
    const bool by_device = k == 0;
    meeting m = meet(by_device ? TALUS_SOLVE_CCP : TALUS_SOLVE_PENALTY, TALUS_BOX, 4, 4, 0.002);
    talus_body_def def = talus_body_def_default();
    talus_shape_def block = talus_shape_def_default();
    talus_body thing, other;
    m.at.z = 2.25, m.velocity.z = -20;
    talus_world *world = world_of(&m, &heard);
    world->model.margin = 1e-3;
    world->model.unswept = 1;
    CHECK_OK(talus_world_body_at(world, 1, &thing));
    block.kind = TALUS_BOX, block.size[0] = block.size[1] = block.size[2] = 0.2;
    CHECK_OK(talus_world_add_shape(world, &block, &def.shape));
    def.position.x = 50;
    CHECK_OK(talus_world_add_body(world, &def, &other));
    CHECK_OK(talus_world_step(world, 2));
    CHECK(world->model.property.room[1] > 1);
    if (by_device)
      CHECK_OK(talus_world_set_backend(world, TALUS_BACKEND_CHECK, true));
    else
      CHECK_OK(talus_world_remove_body(world, other));
    CHECK_OK(talus_world_step(world, 98));
    CHECK(world->last.is_elsewhere);
    if (by_device)
      CHECK_OK(talus_world_set_backend(world, TALUS_BACKEND_CPU, false));
    else
      CHECK_OK(talus_world_add_body(world, &def, &other));
    CHECK_OK(talus_body_set_velocity(world, thing, (talus_vec3){0, 0, -500}, (talus_vec3){0}));
    CHECK_OK(talus_world_step(world, 1));
    CHECK(!world->last.is_elsewhere);
    CHECK_MSG(heard.count == 1, "case %d: %zu lines", k, heard.count);
    CHECK(strstr(heard.lines[0], "body 2 'thing' passed through body 1 'wall' at t = 0.101 s"));
    talus_world_destroy(world);
  }
}

TEST(strict_sinking_ends_the_step_that_was_taken) {
  static told heard;
  for (int k = 0; k < 3; ++k) {
    meeting m = meet(kinds[k], TALUS_PLANE, 0, 0, 1);
    m.at.z = -0.02;
    m.strict = TALUS_STRICT_SINKING;
    talus_world *world = world_of(&m, &heard);
    CHECK(talus_world_step(world, 5) == TALUS_ERROR_STRICT);
    CHECK(strstr(talus_last_error(), "body 2 'thing' sank 0.12 m into body 1 'wall'"));
    CHECK_EQ_U64(talus_world_steps(world), 1);
    CHECK_EQ_U64(heard.count, 0);
    CHECK_OK(talus_world_step(world, 4)); /* it was told */
    talus_world_destroy(world);
  }
}

TEST(strict_has_no_other_bits) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.strict = 4;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
}

/* ---- heaps ----------------------------------------------------------------------------------- */

/* The list of balls, in lanes or not, for any number of threads, and the general way measure the
 * same; a heap on springs that are stiff enough loses nobody. */
TEST(the_overlap_of_balls_does_not_depend_on_how_it_is_found) {
  double most[5], share[5];
  for (int k = 0; k < 5; ++k) {
    const talus_world_def def = springs(TALUS_LINEAR, 1e-4, k == 1 ? 3 : 1);
    talus_world *world = heap(&def, 300, false);
    world->penalty.is_general = k == 3;
    tl_ball_use_scalar(k == 2);
    most[k] = share[k] = 0;
    for (int i = 0; i < 600; ++i) {
      CHECK_OK(talus_world_step(world, 1));
      if (k == 4)
        bring_home(world);
      most[k] = fmax(most[k], world->last.depths.most);
      share[k] = fmax(share[k], world->last.depths.share);
    }
    tl_ball_use_scalar(false);
    CHECK(world->penalty.are_balls == (k != 3));
    CHECK_EQ_U64(world->sunk, 0);
    CHECK(share[k] > 0.001 && share[k] < 0.2);
    CHECK_NEAR(most[k], most[0], k == 3 ? 1e-6 * most[0] + (TALUS_SINGLE ? 1e-7 : 0) : 0);
    CHECK_NEAR(share[k], share[0], k == 3 ? 1e-6 * share[0] + (TALUS_SINGLE ? 1e-5 : 0) : 0);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
