/* Kinds that touch revolved walls by triangles: no farther off than the stated error, held by tubes
 * and funnels. */
#include <talus/mesh.h>
#include <talus/talus.h>

#include "shape/facets.h"
#include "shape/revolved.h"
#include "test_collide.h"

#define MOST_POINTS 6

static tl_shape wall_of(const double *points, size_t n, talus_sides sides) {
  const talus_shape_def def = {
      .kind = TALUS_REVOLVED, .points = points, .point_count = n, .sides = sides};
  tl_shape shape;
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

static size_t random_profile(tl_random *random, double *p) {
  const size_t n = 2 + tl_random_u32(random) % (MOST_POINTS - 2);
  double z = uniform(random, -1, 0);
  for (size_t i = 0; i < n; ++i, z += uniform(random, 0.2, 0.8))
    p[2 * i] = z, p[2 * i + 1] = uniform(random, 0.4, 1.2);
  return n;
}

static double least_gap(const tl_posed *a, const tl_posed *b, talus_real margin, int *count) {
  tl_point p[TL_NARROW_MAX_POINTS];
  double least = HUGE_VAL;
  *count = tl_narrow_pair(a, b, margin, p);
  for (int i = 0; i < *count; ++i)
    least = fmin(least, (double)p[i].gap);
  return least;
}

/* A ball is a ball by every name: as far from the wall as the sphere, but for the error. */
TEST(round_bodies_touch_as_spheres_do_within_the_error) {
  const uint64_t cases = check_cases(600);
  int touching = 0, missed = 0;
  double worst = 0;
  for (uint64_t serial = 0; serial < cases; ++serial) {
    tl_random random = tl_random_start(77, 0, serial);
    double points[2 * MOST_POINTS];
    const talus_sides sides = serial % 3 == 0   ? TALUS_SIDES_IN
                              : serial % 3 == 1 ? TALUS_SIDES_OUT
                                                : TALUS_SIDES_BOTH;
    const size_t n = random_profile(&random, points);
    tl_shape wall = wall_of(points, n, sides);
    const double radius = uniform(&random, 0.1, 0.3);
    const tl_shape ball = make(TALUS_SPHERE, radius, 0, 0, 0, 0);
    const tl_shape egg = make(TALUS_ELLIPSOID, radius, radius, radius, 0, 0);
    tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &wall, 1.2);
    int exact, found;
    const talus_real margin = TL_R(0.2);
    const double gap = least_gap(&a, &b, margin, &exact);
    a.shape = &egg;
    const double other = least_gap(&a, &b, margin, &found);
    double most = 0;
    for (size_t i = 0; i < n; ++i)
      most = fmax(most, points[2 * i + 1]);
    const double error = tl_revolved_error(n) * most * (double)b.scale + 1e-9 + 10 * REAL_TOLERANCE;
    if (exact > 0 && gap > 0 && gap < (double)margin - error) {
      CHECK_MSG(found > 0 && fabs(other - gap) <= error, "case %" PRIu64 ": %g, exactly %g", serial,
                other, gap);
      worst = fmax(worst, fabs(other - gap) / error);
      touching++;
    }
    /* Pushed in by less than a tenth of its radius: some contact is about as deep. */
    if (exact > 0 && gap < 0 && gap > -0.1 * radius * (double)a.scale)
      missed += found == 0 || fabs(other - gap) > 0.1 * radius * (double)a.scale;
    if (exact == 0 && found > 0) /* nothing is touched that is not there */
      CHECK_MSG(other > (double)margin - error || sides != TALUS_SIDES_BOTH,
                "case %" PRIu64 ": %g, but there is nothing", serial, other);
    tl_shape_release(&wall);
  }
  CHECK(touching > (int)cases / 25 && worst > 0.01);
  CHECK_MSG(missed == 0, "%d that press on the wall are missed", missed);
}

static tl_shape ball_of(size_t triangles, double radius) {
  const talus_mesh_recipe recipe = {.kind = "icosphere", .triangles = triangles, .size = {radius}};
  talus_mesh mesh;
  tl_shape shape;
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  const talus_shape_def def = {.kind = TALUS_MESH,
                               .points = (const double *)mesh.vertex,
                               .point_count = mesh.vertices,
                               .triangles = (const uint32_t *)mesh.triangle,
                               .triangle_count = mesh.triangles};
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  talus_mesh_free(&mesh);
  return shape;
}

/* Meshes that were pressed into a wall as far as nearly to their centres are pushed back, by one
 * side and by the other. */
TEST(meshes_deep_in_a_wall_are_pushed_back) {
  const double tube[] = {-2, 1, 2, 1};
  for (int side = 0; side < 2; ++side) {
    tl_shape wall = wall_of(tube, 2, side == 0 ? TALUS_SIDES_IN : TALUS_SIDES_OUT);
    tl_shape ball = ball_of(side == 0 ? 20 : 80, 0.1);
    for (uint64_t serial = 0; serial < 40; ++serial) {
      tl_random random = tl_random_start(78, (uint32_t)side, serial);
      const double front = uniform(&random, 0.005, 0.1), angle = uniform(&random, 0, 2 * TL_PI);
      const double r = side == 0 ? 1 - front : 1 + front;
      const talus_dvec3 out = tl_dvec3(cos(angle), sin(angle), 0);
      const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), random_quat(&random));
      const tl_posed b = posed(&wall, 1, tl_dscale(out, -r), tl_quat_identity());
      tl_point p[TL_NARROW_MAX_POINTS];
      const int count = tl_narrow_pair(&a, &b, TL_R(0.03), p);
      CHECK_MSG(count > 0, "%g in front of it: no contact", front);
      for (int i = 0; i < count; ++i) {
        const double to_wall = (double)p[i].normal.x * out.x + (double)p[i].normal.y * out.y;
        CHECK_MSG((side == 0 ? to_wall : -to_wall) > 0.5, "%g in front of it: %g", front, to_wall);
      }
    }
    tl_shape_release(&ball);
    tl_shape_release(&wall);
  }
}

/* The polygon is as far outside of the circle as inside, and no more than it says. */
TEST(triangles_are_as_near_as_they_say) {
  const double nozzle[] = {1, 10, 5, 10, 25, 8.1, 30, 8.1, 50, 10, 64.4, 10};
  tl_shape wall = wall_of(nozzle, 6, TALUS_SIDES_IN);
  const tl_facets *f = wall.facets;
  const uint32_t sides = tl_revolved_sides(6);
  CHECK_EQ_U64(f->triangles, 2 * 5 * sides);
  CHECK_EQ_U64(f->facets, 5 * sides);
  CHECK(tl_revolved_error(6) < 1.6e-4 && tl_revolved_error(4096) < 5e-3);
  for (uint32_t i = 0; i < f->facets; ++i) { /* normals look at the axis */
    const talus_dvec3 n = tl_facets_normal(f, i);
    CHECK(f->plane[4 * (size_t)i + 3] < 0 || fabs(n.z) > 0.05);
  }
  for (uint32_t i = 0; i < f->vertices; ++i) {
    const talus_dvec3 p = tl_facets_point(f, i);
    double r = 0;
    for (int k = 0; k < 6; ++k)
      r = nozzle[2 * k] == p.z ? nozzle[2 * k + 1] : r;
    CHECK_NEAR(hypot(p.x, p.y) / r - 1, tl_revolved_error(6), 1e-12);
  }
  tl_shape_release(&wall);
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static talus_material material;

static talus_world *new_world(double dt) {
  talus_world *world;
  talus_world_def def = talus_world_def_default();
  def.dt = dt, def.threads = 1;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def matter = talus_material_def_default();
  matter.friction = 0.3, matter.restitution = 0;
  CHECK_OK(talus_world_add_material(world, &matter, &material));
  return world;
}

static talus_body add_body(talus_world *world, const talus_shape_def *shape, talus_body_kind kind,
                           talus_dvec3 at, talus_quat turn) {
  talus_body_def def = talus_body_def_default();
  talus_body body;
  CHECK_OK(talus_world_add_shape(world, shape, &def.shape));
  def.kind = kind, def.material = material, def.position = at, def.rotation = turn;
  CHECK_OK(talus_world_add_body(world, &def, &body));
  return body;
}

static const double cube[] = {-0.1, -0.1, -0.1, 0.1, -0.1, -0.1, 0.1, 0.1, -0.1, -0.1, 0.1, -0.1,
                              -0.1, -0.1, 0.1,  0.1, -0.1, 0.1,  0.1, 0.1, 0.1,  -0.1, 0.1, 0.1};
static const uint32_t sides_of_cube[] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                         1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

static talus_shape_def kind_of(int i) {
  static const talus_shape_def list[] = {
      {.kind = TALUS_ELLIPSOID, .size = {0.15, 0.1, 0.1}},
      {.kind = TALUS_CYLINDER, .size = {0.1, 0.3}},
      {.kind = TALUS_CONE, .size = {0.1, 0.2}},
      {.kind = TALUS_SUPERELLIPSOID, .size = {0.12, 0.1, 0.1, 4, 4}},
      {.kind = TALUS_MESH,
       .points = cube,
       .point_count = 8,
       .triangles = sides_of_cube,
       .triangle_count = 12}};
  return list[i];
}

#define KINDS 5

/* In a lying tube nobody falls through, and what is 0.1 high at the lowest place of the tube stays
 * that near to it; a log that lies along it rests. */
TEST(bodies_stay_in_a_lying_tube) {
  const talus_shape_def tube = {.kind = TALUS_REVOLVED, .size = {1, 1, 4}};
  const talus_quat lying = {TL_R(0.7071067811865476), 0, TL_R(0.7071067811865476), 0};
  for (int i = 0; i < KINDS; ++i) {
    const talus_shape_def shape = kind_of(i);
    talus_world *world = new_world(0.005);
    add_body(world, &tube, TALUS_FIXED, (talus_dvec3){0}, lying);
    const talus_quat turn = shape.kind == TALUS_CYLINDER ? lying : tl_quat_identity();
    talus_body grain = add_body(world, &shape, TALUS_FREE, (talus_dvec3){0, 0.01, -0.89}, turn);
    talus_body_info state;
    for (int step = 0; step < 200; ++step) {
      CHECK_OK(talus_world_step(world, 1));
      CHECK_OK(talus_world_get_body(world, grain, &state));
      const double far = hypot(state.position.y, state.position.z);
      CHECK_MSG(far > 0.85 && far < (shape.kind == TALUS_CONE ? 0.96 : 0.902),
                "step %d: %s is at %g", step, talus_shape_kind_name(shape.kind), far);
    }
    if (shape.kind == TALUS_CYLINDER)
      CHECK_MSG(fabs(hypot(state.position.y, state.position.z) - 0.9) < 5e-4 &&
                    fabs(state.position.x) < 1e-3,
                "the log is at %g %g %g", state.position.x, state.position.y, state.position.z);
    talus_world_destroy(world);
  }
}

/* A funnel holds all kinds together, with every solver; its throat lets nobody through. */
TEST(funnel_holds_all_kinds) {
  const double funnel[] = {-0.3, 0.04, 0, 0.06, 0.6, 0.7, 1.2, 0.7};
  static const talus_solve_kind solvers[] = {TALUS_SOLVE_CCP, TALUS_SOLVE_IMPULSE,
                                             TALUS_SOLVE_PENALTY};
  const talus_shape_def wall = {.kind = TALUS_REVOLVED, .points = funnel, .point_count = 4};
  for (int s = 0; s < 3; ++s) {
    talus_world *world;
    talus_world_def def = talus_world_def_default();
    talus_material_def matter = talus_material_def_default();
    talus_body bodies[2 * KINDS];
    def.threads = 1, def.dt = solvers[s] == TALUS_SOLVE_PENALTY ? 2e-4 : 2e-3,
    def.solve.kind = solvers[s];
    CHECK_OK(talus_world_create(&def, &world));
    matter.friction = 0.3, matter.restitution = 0, matter.young = 1e6;
    CHECK_OK(talus_world_add_material(world, &matter, &material));
    add_body(world, &wall, TALUS_FIXED, (talus_dvec3){0}, tl_quat_identity());
    for (int i = 0; i < 2 * KINDS; ++i) {
      const talus_shape_def shape = kind_of(i % KINDS);
      const double angle = 2 * TL_PI * i / KINDS;
      bodies[i] =
          add_body(world, &shape, TALUS_FREE,
                   (talus_dvec3){0.35 * cos(angle), 0.35 * sin(angle), 0.7 + 0.4 * (i / KINDS)},
                   tl_quat_identity());
    }
    const talus_status status = talus_world_step(world, check_is_short()                    ? 300
                                                        : solvers[s] == TALUS_SOLVE_PENALTY ? 5000
                                                                                            : 1000);
    CHECK_MSG(status == TALUS_OK, "%s", talus_last_error());
    for (int i = 0; i < 2 * KINDS; ++i) {
      talus_body_info state;
      CHECK_OK(talus_world_get_body(world, bodies[i], &state));
      CHECK_MSG(hypot(state.position.x, state.position.y) < 0.66 && state.position.z > 0.05,
                "solver %d: %s is at %g %g %g", s, talus_shape_kind_name(kind_of(i % KINDS).kind),
                state.position.x, state.position.y, state.position.z);
    }
    talus_world_destroy(world);
  }
}

TEST_MAIN()
