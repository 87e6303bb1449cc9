/* The cone complementarity solver: its solution against a slow reference in long double, its
 * residual against the definition. That of lanes is in test_ccp_lanes.c. */
#include "base/random.h"
#include "base/isa.h"
#include "physics/rig.h"
#include "solve/ccp/ccp.h"
#include "solve/ccp/visits.h"
#include "world/world.h"

static talus_real draw(tl_random *random, double low, double high) {
  return (talus_real)(low + (high - low) * tl_random_unit(random));
}

static talus_vec3 draw_vec(tl_random *random, double size) {
  const talus_real x = draw(random, -size, size), y = draw(random, -size, size);
  return tl_vec3(x, y, draw(random, -size, size));
}

/* ---- the solution ---------------------------------------------------------------------------- */

/* A heap of spheres in a box, after a while; its next step is what is solved. */
static talus_world *make_heap_in(double width, talus_friction_model friction, int sweeps,
                                 double tolerance) {
  talus_world_def def = rig_def(2e-3);
  def.solve.friction = friction;
  def.solve.iterations = sweeps;
  def.solve.tolerance = tolerance;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, width, width, 4, 0), m, 0.2, 0.2,
           2);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  for (int i = 0; i < 12; ++i) {
    tl_random random = tl_random_start(2, 1, (uint64_t)i);
    talus_body_def body = talus_body_def_default();
    body.shape = ball, body.material = m;
    body.scale = 0.7 + 0.6 * tl_random_unit(&random);
    body.position = (talus_dvec3){0.19 * (i % 3) + 0.02 * tl_random_unit(&random),
                                  0.19 * (i / 3 % 3) + 0.02 * tl_random_unit(&random),
                                  0.15 + 0.28 * (double)(i / 9)};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  CHECK_OK(talus_world_step(world, 800));
  return world;
}

/* So wide that nothing jams between the walls, which needs impulses that the reference is slow to
 * find. */
static talus_world *make_heap(talus_friction_model friction, int sweeps, double tolerance) {
  return make_heap_in(0.8, friction, sweeps, tolerance);
}

typedef struct reference {
  int rows, bodies;
  long double n[200][3], ra[200][3], rb[200][3], p[200][3], mu[200], bias[200];
  int a[200], b[200];
  long double v[32][6], inv_mass[32], inv_inertia[32];
} reference;

static void cross_l(const long double a[3], const long double b[3], long double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static void push_l(reference *r, int body, const long double arm[3], const long double p[3],
                   long double sign) {
  long double moment[3];
  cross_l(arm, p, moment);
  for (int k = 0; k < 3; ++k) {
    r->v[body][k] += sign * r->inv_mass[body] * p[k];
    r->v[body][3 + k] += sign * r->inv_inertia[body] * moment[k];
  }
}

/* Plain projected Gauss-Seidel with a short scalar step and the Euclidean projector, in long
 * double: another step, another metric, another precision, the same problem. */
static void solve_reference(reference *r, int sweeps, bool ncp) {
  for (int s = 0; s < sweeps; ++s)
    for (int i = 0; i < r->rows; ++i) {
      const int a = r->a[i], b = r->b[i];
      long double ca[3], cb[3], g[3], u[3], un = 0, gn = 0, t = 0, ut = 0;
      const long double eta = 0.25L / (r->inv_mass[a] + r->inv_mass[b]);
      cross_l(&r->v[a][3], r->ra[i], ca);
      cross_l(&r->v[b][3], r->rb[i], cb);
      for (int k = 0; k < 3; ++k) {
        u[k] = r->v[b][k] + cb[k] - r->v[a][k] - ca[k];
        un += u[k] * r->n[i][k];
      }
      for (int k = 0; k < 3; ++k)
        ut += (u[k] - un * r->n[i][k]) * (u[k] - un * r->n[i][k]);
      const long double lift = r->bias[i] + (ncp ? r->mu[i] * sqrtl(ut) : 0);
      for (int k = 0; k < 3; ++k) {
        g[k] = r->p[i][k] - eta * (u[k] + lift * r->n[i][k]);
        gn += g[k] * r->n[i][k];
      }
      for (int k = 0; k < 3; ++k)
        t += (g[k] - gn * r->n[i][k]) * (g[k] - gn * r->n[i][k]);
      t = sqrtl(t);
      long double pn = gn, keep = 1;
      if (t > r->mu[i] * gn) {
        pn = (gn + r->mu[i] * t) / (1 + r->mu[i] * r->mu[i]);
        pn = pn > 0 ? pn : 0;
        keep = t > 0 ? r->mu[i] * pn / t : 0;
      }
      long double change[3];
      for (int k = 0; k < 3; ++k) {
        const long double fresh = pn * r->n[i][k] + keep * (g[k] - gn * r->n[i][k]);
        change[k] = fresh - r->p[i][k];
        r->p[i][k] = fresh;
      }
      push_l(r, a, r->ra[i], change, -1);
      push_l(r, b, r->rb[i], change, 1);
    }
}

/* The problem that the world's next step solves, read from the state before it and the contacts
 * after. */
static void load_reference(reference *r, const talus_world *world, const tl_state *before,
                           const tl_contacts *contacts) {
  memset(r, 0, sizeof *r);
  r->bodies = (int)world->model.bodies;
  r->rows = (int)contacts->count;
  CHECK_MSG(r->bodies <= 32 && r->rows <= 200 && r->rows > 15, "%d rows", r->rows);
  const long double h = (long double)world->model.dt;
  for (int i = 0; i < r->bodies; ++i) {
    if (tl_body_is_static(&world->model, (size_t)i))
      continue;
    r->inv_mass[i] = 1 / (long double)world->model.property.mass[i];
    r->inv_inertia[i] = 1 / (long double)tl_body_inertia(&world->model, (size_t)i).x;
    const talus_vec3 v = before->velocity[i], w = before->spin[i], g = world->model.gravity;
    const long double all[6] = {v.x + h * (long double)g.x,
                                v.y + h * (long double)g.y,
                                v.z + h * (long double)g.z,
                                w.x,
                                w.y,
                                w.z};
    memcpy(r->v[i], all, sizeof all);
  }
  for (int i = 0; i < r->rows; ++i) {
    const tl_contact *c = &contacts->data[i];
    r->a[i] = (int)c->a, r->b[i] = (int)c->b;
    r->mu[i] = (long double)0.5;
    r->bias[i] = fmaxl((long double)c->gap, 0) / h;
    const talus_dvec3 xa = before->position[c->a], xb = before->position[c->b];
    const long double p[3] = {c->point.x, c->point.y, c->point.z}, a[3] = {xa.x, xa.y, xa.z},
                      b[3] = {xb.x, xb.y, xb.z};
    const long double n[3] = {c->normal.x, c->normal.y, c->normal.z};
    for (int k = 0; k < 3; ++k)
      r->n[i][k] = n[k], r->ra[i][k] = p[k] - a[k], r->rb[i][k] = p[k] - b[k];
  }
}

static void check_against_reference(talus_friction_model friction) {
  talus_world *world = make_heap(friction, 20000, BY_PRECISION(1e-11, 3e-7));
  static talus_dvec3 position[32];
  static talus_vec3 velocity[32], spin[32];
  memcpy(position, world->state.position, world->model.bodies * sizeof position[0]);
  memcpy(velocity, world->state.velocity, world->model.bodies * sizeof velocity[0]);
  memcpy(spin, world->state.spin, world->model.bodies * sizeof spin[0]);
  tl_state before = {.position = position, .velocity = velocity, .spin = spin};
  CHECK_OK(talus_world_step(world, 1));
  CHECK_MSG(rig_report(world).residual_rms <= BY_PRECISION(1e-11, 1e-6), "residual %g",
            rig_report(world).residual_rms);
  static reference r;
  load_reference(&r, world, &before, &world->contacts);
  solve_reference(&r, 60000, friction == TALUS_FRICTION_NCP);
  const double tolerance = BY_PRECISION(1e-6, 2e-4) * G * world->model.dt;
  for (int i = 0; i < r.bodies; ++i) {
    const talus_vec3 v = world->state.velocity[i], w = world->state.spin[i];
    CHECK_NEAR(v.x, (double)r.v[i][0], tolerance);
    CHECK_NEAR(v.y, (double)r.v[i][1], tolerance);
    CHECK_NEAR(v.z, (double)r.v[i][2], tolerance);
    CHECK_NEAR(0.1 * (double)w.x, 0.1 * (double)r.v[i][3], tolerance);
    CHECK_NEAR(0.1 * (double)w.y, 0.1 * (double)r.v[i][4], tolerance);
    CHECK_NEAR(0.1 * (double)w.z, 0.1 * (double)r.v[i][5], tolerance);
  }
  talus_world_destroy(world);
}

TEST(heap_has_the_velocities_of_a_long_double_reference_with_ccp) {
  check_against_reference(TALUS_FRICTION_CCP);
}

TEST(heap_has_the_velocities_of_a_long_double_reference_with_ncp) {
  check_against_reference(TALUS_FRICTION_NCP);
}

/* Sanitizers make long iterations longer: there a coarser agreement must do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COARSE 1e3
#else
#define COARSE 1.0
#endif

/* Every method from the same state to the same velocities; impulses need not agree, they are not
 * unique. */
static void check_methods(talus_friction_model friction) {
  static const talus_ccp_method methods[3] = {TALUS_JACOBI, TALUS_APGD, TALUS_BB};
  static const char *const names[3] = {"jacobi", "apgd", "bb"};
  talus_world *seidel = make_heap(friction, 20000, BY_PRECISION(1e-11, 3e-7));
  CHECK_OK(talus_world_step(seidel, 1));
  for (int k = 0; k < 3; ++k) {
    talus_world *world = make_heap(friction, 20000, BY_PRECISION(1e-11, 3e-7));
    world->model.solve.method = methods[k];
    world->model.solve.iterations = 50000;
    world->model.solve.tolerance = COARSE * BY_PRECISION(3e-10, 1e-6);
    CHECK_OK(talus_world_step(world, 1));
    const talus_report report = rig_report(world);
    CHECK_MSG(report.residual_rms <= COARSE * BY_PRECISION(3e-9, 3e-5),
              "%s: residual %g after %d iterations", names[k], report.residual_rms,
              report.iterations);
    const double tolerance = COARSE * BY_PRECISION(1e-6, 2e-2) * G * world->model.dt;
    for (size_t i = 0; i < world->model.bodies; ++i) {
      const talus_vec3 v = world->state.velocity[i], w = world->state.spin[i];
      CHECK_MSG((double)tl_length(tl_sub(v, seidel->state.velocity[i])) < tolerance, "%s: body %zu",
                names[k], i);
      CHECK_MSG(0.1 * (double)tl_length(tl_sub(w, seidel->state.spin[i])) < tolerance,
                "%s: body %zu", names[k], i);
    }
    talus_world_destroy(world);
  }
  talus_world_destroy(seidel);
}

TEST(all_methods_find_the_same_velocities_with_ccp) {
  SKIP_IF_SHORT();
  check_methods(TALUS_FRICTION_CCP);
}

TEST(all_methods_find_the_same_velocities_with_ncp) { check_methods(TALUS_FRICTION_NCP); }

static int count_warnings;
static void count_warning(void *context, int level, const char *line) {
  (void)context;
  count_warnings += level == 1 && strstr(line, "diverged") != NULL;
}

TEST(jacobi_with_a_long_step_is_caught_by_its_guard) {
  talus_world *world = make_heap(TALUS_FRICTION_CCP, 20000, BY_PRECISION(1e-9, 1e-6));
  world->model.solve.method = TALUS_JACOBI;
  world->model.solve.omega = 4;
  world->model.solve.iterations = 400;
  world->model.solve.tolerance = 0;
  world->model.solve.warm_start = false;
  world->log = count_warning;
  count_warnings = 0;
  CHECK_OK(talus_world_step(world, 1));
  CHECK_EQ_U64(count_warnings, 1);
  CHECK_OK(talus_world_step(world, 1));
  CHECK_EQ_U64(count_warnings, 1);
  CHECK_MSG(rig_report(world).residual_rms < 0.05, "residual %g", rig_report(world).residual_rms);
  talus_world_destroy(world);
}

/* A box of bodies that have just been poured in. */
static talus_world *make_pour(talus_ccp_method method, int threads, uint64_t bodies) {
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  def.solve.method = method;
  def.solve.iterations = 15;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.1);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 1, 1, 8, 0), m, 0, 0, 4);
  talus_fill_def fill = talus_fill_def_default();
  fill.body.shape = rig_shape(world, TALUS_SPHERE, 0.035, 0, 0, 0);
  fill.body.material = m;
  fill.body.velocity = rig_vec(0, 0, -5);
  fill.in.box = (talus_box){{-0.5, -0.5, 0}, {0.5, 0.5, (double)bodies / 1500}};
  fill.count = bodies;
  CHECK_OK(talus_world_fill(world, &fill, NULL));
  return world;
}

TEST(gradient_methods_do_not_depend_on_threads) {
  SKIP_IF_SHORT_UNLESS_RACES_COUNT();
  for (int method = TALUS_JACOBI; method <= TALUS_BB; ++method) {
    uint64_t hash[2];
    for (int k = 0; k < 2; ++k) {
      talus_world *world = make_pour((talus_ccp_method)method, 1 + 2 * k, 1800);
      CHECK_OK(talus_world_step(world, check_is_short() ? 70 : 120));
      CHECK(rig_report(world).contacts_near > 1000);
      hash[k] = talus_world_hash(world);
      talus_world_destroy(world);
    }
    CHECK_EQ_U64(hash[1], hash[0]);
  }
}

/* ---- Coulomb's law and momentum -------------------------------------------------------------- */

/* Of a response diag(1/en, 1/et, 1/et) a visit finds the impulse that Coulomb's law asks for. */
TEST(visit_solves_coulombs_law_of_a_diagonal_response) {
  int stuck = 0, slid = 0, open = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    tl_random random = tl_random_start(seed, 1, 0);
    const talus_vec3 axis = tl_normalize(draw_vec(&random, 1));
    const talus_real mu = seed % 4 == 0 ? 10 : draw(&random, 0, 1), bias = draw(&random, -0.3, 0.3);
    const talus_real en = draw(&random, 0.1, 2), et = draw(&random, 0.1, 2);
    const talus_vec3 p0 = draw_vec(&random, 1), u0 = draw_vec(&random, 1);
    const tl_ccp_vec n = {axis.x, axis.y, axis.z}, p = {p0.x, p0.y, p0.z}, u = {u0.x, u0.y, u0.z};
    const tl_ccp_vec q = tl_ccp_step(p, u, n, bias, mu, en, et, 1);
    const talus_vec3 to = tl_vec3(q.x, q.y, q.z), d = tl_sub(to, p0);
    const talus_real pn = tl_dot(to, axis), dn = tl_dot(d, axis);
    const talus_vec3 pt = tl_madd(to, -pn, axis);
    const talus_real un = tl_dot(u0, axis) + dn / en;
    const talus_vec3 ut =
        tl_add(tl_madd(u0, -tl_dot(u0, axis), axis), tl_scale(tl_madd(d, -dn, axis), 1 / et));
    const double tiny = BY_PRECISION(1e-12, 1e-4);
    CHECK((double)pn >= -tiny && (double)(un + bias) >= -tiny);
    CHECK((double)(pn * (un + bias)) < tiny);
    CHECK((double)(tl_length(pt) - mu * pn) < tiny);
    if ((double)pn < tiny) {
      open++;
    } else if ((double)tl_length(ut) < tiny) {
      stuck++;
    } else { /* at the limit, against the slip */
      slid++;
      CHECK_NEAR((double)tl_length(pt), (double)(mu * pn), tiny);
      CHECK_NEAR((double)tl_dot(pt, ut), -(double)(tl_length(pt) * tl_length(ut)), 10 * tiny);
    }
  }
  CHECK(stuck > 100 && slid > 100 && open > 100);
}

/* A wall of bricks, which sweeps go through with momentum. */
static talus_world *make_wall(int columns, int rows, int threads) {
  talus_world_def def = talus_world_def_default();
  def.dt = 2e-3;
  def.threads = threads;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_floor(world, m);
  const talus_shape brick = rig_shape(world, TALUS_BOX, 0.2, 0.1, 0.1, 0);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns - row % 2; ++column)
      rig_body(world, TALUS_FREE, brick, m, 0.2001 * (column + 0.5 * (row % 2)), 0,
               0.1 * (row + 0.5));
  return world;
}

/* Large enough for a team of threads. */
TEST(sweeps_with_momentum_do_not_depend_on_threads) {
  uint64_t hash[3];
  for (int k = 0; k < 3; ++k) {
    talus_world *world = make_wall(30, 20, 1 << k);
    CHECK_OK(talus_world_step(world, 4));
    CHECK(rig_report(world).contacts_near > TL_CCP_TEAM_ROWS);
    hash[k] = talus_world_hash(world);
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_EQ_U64(hash[2], hash[0]);
}

/* Where friction is convex the velocity is one: sweeps with momentum find that of apgd. A pair is a
 * small island, the wall is a part. */
TEST(sweeps_with_momentum_find_the_velocities_of_apgd) {
  for (int wall = 0; wall < 2; ++wall) {
    talus_world *worlds[2];
    for (int k = 0; k < 2; ++k) {
      talus_world *world = worlds[k] = wall ? make_wall(2, 3, 1) : make_wall(1, 1, 1);
      CHECK_OK(talus_world_step(world, 20));
      for (size_t i = 1; i < world->model.bodies; ++i)
        world->state.velocity[i].x += (talus_real)(0.05 * (double)(i % 3));
      world->model.solve.friction = TALUS_FRICTION_CCP;
      world->model.solve.method = k == 0 ? TALUS_GAUSS_SEIDEL : TALUS_APGD;
      world->model.solve.iterations = 20000;
      world->model.solve.tolerance = COARSE * BY_PRECISION(1e-10, 1e-6);
      CHECK_OK(talus_world_step(world, 1));
    }
    const double tolerance = COARSE * BY_PRECISION(5e-5, 2e-2) * G * worlds[0]->model.dt;
    for (size_t i = 0; i < worlds[0]->model.bodies; ++i)
      CHECK_MSG((double)tl_length(
                    tl_sub(worlds[0]->state.velocity[i], worlds[1]->state.velocity[i])) < tolerance,
                "body %zu of %s", i, wall ? "the wall" : "the pair");
    talus_world_destroy(worlds[0]);
    talus_world_destroy(worlds[1]);
  }
}

/* Enough bodies for tiles: the same bits for any number of threads, and the same problem solved. */
TEST(tiles_change_neither_bits_nor_the_solution) {
  uint64_t hash[3];
  for (int k = 0; k < 3; ++k) {
    talus_world *world = make_pour(TALUS_GAUSS_SEIDEL, 1 << k, 5000);
    CHECK_OK(talus_world_step(world, 60));
    CHECK_MSG(rig_report(world).contacts_near > 2500, "%zu contacts",
              rig_report(world).contacts_near);
    hash[k] = talus_world_hash(world);
    if (k == 2) {
      world->model.solve.iterations = 1500;
      world->model.solve.tolerance = 5e-4;
      CHECK_OK(talus_world_step(world, 1));
      CHECK_MSG(rig_report(world).residual_rms <= 5e-4, "residual %g",
                rig_report(world).residual_rms);
    }
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_EQ_U64(hash[2], hash[0]);
}

TEST(more_sweeps_leave_a_smaller_residual) {
  double last = 1e9;
  for (int sweeps = 1; sweeps <= 1000; sweeps *= 10) {
    talus_world *world = make_heap(TALUS_FRICTION_NCP, 200, 1e-9);
    world->model.solve.iterations = sweeps;
    world->model.solve.tolerance = 0;
    world->model.solve.warm_start = false;
    CHECK_OK(talus_world_step(world, 1));
    const talus_report report = rig_report(world);
    CHECK(report.iterations == sweeps && report.residual_max >= report.residual_rms);
    CHECK_MSG(report.residual_rms < last + BY_PRECISION(0, 1e-7),
              "%d sweeps leave %g, fewer left %g", sweeps, report.residual_rms, last);
    last = report.residual_rms;
    talus_world_destroy(world);
  }
  CHECK_MSG(last < BY_PRECISION(1e-4, 1e-4), "residual %g after 1000 sweeps", last);
}

TEST(warm_start_begins_closer) {
  double residual[2];
  for (int warm = 0; warm < 2; ++warm) {
    talus_world *world = make_heap_in(0.7, TALUS_FRICTION_NCP, 500, 1e-9);
    CHECK_OK(talus_world_step(world, 100)); /* until nothing hits anything any more */
    world->model.solve.iterations = 1;
    world->model.solve.tolerance = 0;
    world->model.solve.warm_start = warm == 1;
    CHECK_OK(talus_world_step(world, 1));
    residual[warm] = rig_report(world).residual_rms;
    talus_world_destroy(world);
  }
  CHECK_MSG(residual[1] < 0.2 * residual[0], "warm %g, cold %g", residual[1], residual[0]);
}

TEST_MAIN()
