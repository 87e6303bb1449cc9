/* All methods on packings with every law at once: against each other, against an independent
 * reference in long double, over threads and over restarts; and the projector against numbers. */
#include "base/random.h"
#include "base/isa.h"
#include "physics/rig.h"
#include "solve/ccp/gradient.h"
#include "solve/ccp/visits.h"
#include "world/world.h"

#include <stdio.h>

static const talus_ccp_method methods[4] = {TALUS_GAUSS_SEIDEL, TALUS_JACOBI, TALUS_APGD, TALUS_BB};
static const char *const names[4] = {"gauss-seidel", "jacobi", "apgd", "bb"};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COARSE 1e3 /* long iterations would take too long */
#else
#define COARSE 1.0
#endif

/* ---- the projector --------------------------------------------------------------------------- */

static double draw(tl_random *random, double low, double high) {
  return low + (high - low) * tl_random_unit(random);
}

static talus_vec3 draw_vec(tl_random *random, double size) {
  const double x = draw(random, -size, size), y = draw(random, -size, size);
  return rig_vec(x, y, draw(random, -size, size));
}

/* Squared distance in the metric of a law's steps, with the best point for the normal part p. */
static double distance_at(double p, const double y[4], const tl_roll_law *law) {
  const double limit[3] = {law->friction, law->rolling, law->spinning};
  const double step[3] = {law->et, law->er, law->es};
  double sum = (p - y[0]) * (p - y[0]) / (double)law->en;
  for (int k = 0; k < 3; ++k) {
    const double over = fmax(0, y[k + 1] - limit[k] * p);
    sum += over * over / step[k];
  }
  return sum;
}

TEST(projection_is_the_least_of_a_numeric_search) {
  tl_random random = tl_random_start(11, 1, 0);
  for (int trial = 0; trial < 2000; ++trial) {
    const talus_vec3 n = tl_normalize(draw_vec(&random, 1));
    const tl_wrench y = {draw_vec(&random, 2), draw_vec(&random, 2)};
    const tl_roll_law law = {(talus_real)(trial % 7 == 0 ? 0 : draw(&random, 0, 1)),
                             (talus_real)(trial % 5 == 0 ? 0 : draw(&random, 0, 1)),
                             (talus_real)(trial % 3 == 0 ? 0 : draw(&random, 0, 1)),
                             (talus_real)draw(&random, 0.1, 2),
                             (talus_real)draw(&random, 0.1, 2),
                             (talus_real)draw(&random, 0.1, 2),
                             (talus_real)draw(&random, 0.1, 2)};
    const tl_wrench p = tl_roll_project(y, n, &law);
    const double pn = (double)tl_dot(p.impulse, n), tn = (double)tl_dot(p.torque, n);
    const double eps = BY_PRECISION(1e-12, 1e-5);
    CHECK((double)tl_length(tl_madd(p.impulse, (talus_real)-pn, n)) <=
          (double)law.friction * pn + eps);
    CHECK((double)tl_length(tl_madd(p.torque, (talus_real)-tn, n)) <=
          (double)law.rolling * pn + eps);
    CHECK(fabs(tn) <= (double)law.spinning * pn + eps);
    const talus_real yn = tl_dot(y.impulse, n), ys = tl_dot(y.torque, n);
    const double parts[4] = {(double)yn, (double)tl_length(tl_madd(y.impulse, -yn, n)),
                             (double)tl_length(tl_madd(y.torque, -ys, n)), fabs((double)ys)};
    double lo = 0, hi = 20; /* convex in p: ternary search */
    for (int k = 0; k < 200; ++k) {
      const double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
      if (distance_at(a, parts, &law) < distance_at(b, parts, &law))
        hi = b;
      else
        lo = a;
    }
    CHECK_NEAR(pn, lo, BY_PRECISION(1e-6, 1e-3));
    CHECK(distance_at(pn, parts, &law) <= distance_at(lo, parts, &law) + BY_PRECISION(1e-10, 1e-4));
    const tl_wrench again = tl_roll_project(p, n, &law);
    CHECK((double)tl_length(tl_sub(again.impulse, p.impulse)) < eps &&
          (double)tl_length(tl_sub(again.torque, p.torque)) < eps);
  }
}

/* ---- packings -------------------------------------------------------------------------------- */

typedef struct packing {
  int bodies;
  uint64_t seed;
  bool laws;
  talus_friction_model friction;
  talus_ccp_method method;
} packing;

static talus_material packing_material(talus_world *world, bool laws) {
  talus_material_def def = talus_material_def_default();
  talus_material material;
  def.density = 1000;
  if (laws)
    def.static_friction = 0.7, def.rolling = 0.004, def.spinning = 0.003, def.cohesion = 2;
  CHECK_OK(talus_world_add_material(world, &def, &material));
  return material;
}

/* Bodies of random sizes that have fallen into a narrow box for `steps`. */
static talus_world *make_packing(packing p, int steps, double tolerance) {
  talus_world_def def = rig_def(2e-3);
  def.solve.friction = p.friction;
  def.solve.method = p.method;
  def.solve.iterations = 20000;
  def.solve.tolerance = tolerance;
  talus_world *world = rig_world(&def);
  const talus_material m = packing_material(world, p.laws);
  /* Nothing overlaps at the start: what is wedged in too deep has no solution with ccp friction. */
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 0.86, 0.86, 6, 0), m, 0.28, 0.28,
           3);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  for (int i = 0; i < p.bodies; ++i) {
    tl_random random = tl_random_start(p.seed, 1, (uint64_t)i);
    talus_body_def body = talus_body_def_default();
    body.shape = ball, body.material = m;
    body.scale = 0.7 + 0.6 * tl_random_unit(&random);
    body.position = (talus_dvec3){0.27 * (i % 3) + 0.01 * tl_random_unit(&random),
                                  0.27 * (i / 3 % 3) + 0.01 * tl_random_unit(&random),
                                  0.15 + 0.28 * (double)(i / 9)};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  CHECK_OK(talus_world_step(world, (uint64_t)steps));
  return world;
}

/* Each method's next step from the same state. Impulses are not compared: they are not unique. */
static void check_methods(packing p) {
  p.method = TALUS_GAUSS_SEIDEL;
  double objective = 0;
  talus_world *first = make_packing(p, 300, 1e-5);
  for (int k = 0; k < 4; ++k) {
    talus_world *world = make_packing(p, 300, 1e-5);
    world->model.solve.method = methods[k];
    world->model.solve.iterations = 20000;
    world->model.solve.tolerance = COARSE * BY_PRECISION(1e-10, 1e-6);
    CHECK_OK(talus_world_step(world, 1));
    const talus_report report = rig_report(world);
    CHECK_MSG(report.contacts_near > 0, "%zu contacts", report.contacts_near);
    CHECK_MSG(report.residual_rms <= COARSE * BY_PRECISION(1e-9, 3e-5),
              "%s, %d bodies: residual %g after %d iterations", names[k], p.bodies,
              report.residual_rms, report.iterations);
    if (p.friction == TALUS_FRICTION_CCP) /* with ncp no function falls */
      CHECK_MSG(world->last.solve.rise <= BY_PRECISION(1e-12, 1e-6), "%s: objective rose by %g",
                names[k], world->last.solve.rise);
    if (k == 0) {
      first->model.solve.iterations = 20000;
      first->model.solve.tolerance = COARSE * BY_PRECISION(1e-11, 1e-6);
      CHECK_OK(talus_world_step(first, 1));
      objective = report.objective;
    }
    const double gh = G * world->model.dt;
    const double tolerance = COARSE * BY_PRECISION(1e-6, 2e-2) * gh;
    for (size_t i = 0; i < world->model.bodies; ++i) {
      const talus_vec3 v = tl_sub(world->state.velocity[i], first->state.velocity[i]);
      const talus_vec3 w = tl_sub(world->state.spin[i], first->state.spin[i]);
      CHECK_MSG((double)tl_length(v) < tolerance && 0.1 * (double)tl_length(w) < tolerance,
                "%s, %d bodies, seed %d: body %zu is off by %g, %g", names[k], p.bodies,
                (int)p.seed, i, (double)tl_length(v), (double)tl_length(w));
    }
    if (p.friction == TALUS_FRICTION_CCP) /* the velocity is unique, and with it the objective */
      CHECK_NEAR(report.objective, objective, COARSE * BY_PRECISION(1e-6, 1e-3) * gh);
    talus_world_destroy(world);
  }
  talus_world_destroy(first);
}

TEST(all_methods_agree_on_packings_of_up_to_30_bodies_with_ccp) {
  static const int sizes[] = {1, 2, 5, 12, 30};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    check_methods((packing){.bodies = sizes[i], .seed = 20 + i, .friction = TALUS_FRICTION_CCP});
}

TEST(all_methods_agree_on_packings_with_every_law_with_ccp) {
  static const int sizes[] = {1, 3, 12, 30};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    check_methods((packing){
        .bodies = sizes[i], .seed = 30 + i, .laws = true, .friction = TALUS_FRICTION_CCP});
}

TEST(all_methods_agree_on_packings_with_every_law_with_ncp) {
  check_methods((packing){.bodies = 12, .seed = 3, .laws = true, .friction = TALUS_FRICTION_NCP});
}

/* ---- the reference --------------------------------------------------------------------------- */

enum { ROWS = 120, MOST = 40 };
typedef long double real;

/* The dense problem: six unknowns per contact (impulse, and torque in units of LENGTH), N = J M^-1
 * J^T written out, b = J v_free + bias. Projected Gauss-Seidel over blocks of six with one short
 * step for all directions: another layout, another metric, another precision. */
#define LENGTH 0.1L
typedef struct dense {
  int rows, bodies;
  real jacobian[6 * ROWS][12]; /* of body a, of body b */
  int a[ROWS], b[ROWS];
  real normal[ROWS][3], bias[ROWS], limit[ROWS][3], x[6 * ROWS];
  real inverse[MOST][2], v[MOST][6];
} dense;

static void fill_jacobian(dense *d, int i, const real ra[3], const real rb[3]) {
  for (int k = 0; k < 3; ++k) {
    real *linear = d->jacobian[6 * i + k], *angular = d->jacobian[6 * i + 3 + k];
    real axis[3] = {0, 0, 0};
    axis[k] = 1;
    linear[k] = -1;
    linear[6 + k] = 1;
    for (int c = 0; c < 3; ++c) { /* e_k . (w x r) = w . (r x e_k) */
      const int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      linear[3 + c] = -(ra[c1] * axis[c2] - ra[c2] * axis[c1]);
      linear[9 + c] = rb[c1] * axis[c2] - rb[c2] * axis[c1];
    }
    angular[3 + k] = -LENGTH;
    angular[9 + k] = LENGTH;
  }
}

/* `state` before the step, contacts after it; every pair has the packing's laws. */
static void load_dense(dense *d, const talus_world *world, const tl_state *before,
                       const uint32_t *bonded) {
  memset(d, 0, sizeof *d);
  const tl_model *model = &world->model;
  const tl_contacts *contacts = &world->contacts;
  const real h = (real)model->dt;
  d->bodies = (int)model->bodies, d->rows = (int)contacts->count;
  CHECK(d->bodies <= MOST && d->rows <= ROWS && d->rows > 5);
  for (int i = 0; i < d->bodies; ++i) {
    if (tl_body_is_static(model, (size_t)i))
      continue;
    d->inverse[i][0] = 1 / (real)model->property.mass[i];
    d->inverse[i][1] = 1 / (real)tl_body_inertia(model, (size_t)i).x;
    const talus_vec3 v = before->velocity[i], w = before->spin[i];
    const real all[6] = {v.x, v.y, v.z + h * (real)model->gravity.z, w.x, w.y, w.z};
    memcpy(d->v[i], all, sizeof all);
  }
  for (int i = 0; i < d->rows; ++i) {
    const tl_contact *c = &contacts->data[i];
    const tl_pair_law *law = &model->laws.data[0];
    const talus_dvec3 xa = before->position[c->a], xb = before->position[c->b];
    const real ra[3] = {c->point.x - xa.x, c->point.y - xa.y, c->point.z - xa.z};
    const real rb[3] = {c->point.x - xb.x, c->point.y - xb.y, c->point.z - xb.z};
    d->a[i] = (int)c->a, d->b[i] = (int)c->b;
    fill_jacobian(d, i, ra, rb);
    d->normal[i][0] = c->normal.x, d->normal[i][1] = c->normal.y, d->normal[i][2] = c->normal.z;
    d->bias[i] = fmaxl((real)c->gap, 0) / h;
    d->limit[i][0] = (real)law->friction;
    d->limit[i][1] = (real)law->rolling / LENGTH;
    d->limit[i][2] = (real)law->spinning / LENGTH;
    if (c->gap <= 0 || bonded[i]) /* one point per pair: spheres */
      for (int k = 0; k < 3; ++k) {
        d->v[c->a][k] += d->inverse[c->a][0] * h * (real)law->cohesion * d->normal[i][k];
        d->v[c->b][k] -= d->inverse[c->b][0] * h * (real)law->cohesion * d->normal[i][k];
      }
  }
}

static real part_length(const real *x, const real *n, real *along) {
  *along = x[0] * n[0] + x[1] * n[1] + x[2] * n[2];
  real sum = 0;
  for (int k = 0; k < 3; ++k)
    sum += (x[k] - *along * n[k]) * (x[k] - *along * n[k]);
  return sqrtl(sum);
}

/* Euclidean projection: the normal part by bisection of the derivative. */
static void project_l(real x[6], const real n[3], const real limit[3]) {
  real gn, ts;
  const real t = part_length(x, n, &gn), r = part_length(x + 3, n, &ts), s = fabsl(ts);
  const real part[3] = {t, r, s};
  real lo = 0, hi = fabsl(gn) + t + r + s + 1e-30L;
  for (int i = 0; i < 70; ++i) {
    const real p = (lo + hi) / 2;
    real slope = p - gn;
    for (int k = 0; k < 3; ++k)
      slope -= limit[k] * fmaxl(0, part[k] - limit[k] * p);
    if (slope > 0)
      hi = p;
    else
      lo = p;
  }
  const real p = lo;
  const real keep_t = t > limit[0] * p ? limit[0] * p / t : 1;
  const real keep_r = r > limit[1] * p ? limit[1] * p / r : 1;
  const real spin = fminl(fmaxl(ts, -limit[2] * p), limit[2] * p);
  for (int k = 0; k < 3; ++k) {
    x[k] = p * n[k] + keep_t * (x[k] - gn * n[k]);
    x[3 + k] = spin * n[k] + keep_r * (x[3 + k] - ts * n[k]);
  }
}

static void solve_dense(dense *d, int sweeps) {
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (int i = 0; i < d->rows; ++i) {
      real *va = d->v[d->a[i]], *vb = d->v[d->b[i]], x[6], trace = 0;
      const real *ia = d->inverse[d->a[i]], *ib = d->inverse[d->b[i]];
      for (int k = 0; k < 6; ++k)
        for (int c = 0; c < 6; ++c) {
          const real *j = d->jacobian[6 * i + k];
          trace += j[c] * j[c] * ia[c / 3] + j[6 + c] * j[6 + c] * ib[c / 3];
        }
      for (int k = 0; k < 6; ++k) {
        const real *j = d->jacobian[6 * i + k];
        real u = k < 3 ? d->bias[i] * d->normal[i][k] : 0;
        for (int c = 0; c < 6; ++c)
          u += j[c] * va[c] + j[6 + c] * vb[c];
        x[k] = d->x[6 * i + k] - u / trace;
      }
      project_l(x, d->normal[i], d->limit[i]);
      for (int k = 0; k < 6; ++k) {
        const real *j = d->jacobian[6 * i + k], change = x[k] - d->x[6 * i + k];
        d->x[6 * i + k] = x[k];
        for (int c = 0; c < 6; ++c) {
          va[c] += ia[c / 3] * j[c] * change;
          vb[c] += ib[c / 3] * j[6 + c] * change;
        }
      }
    }
}

TEST(packing_with_cones_of_torque_has_the_velocities_of_a_dense_reference) {
  packing p = {.bodies = 16, .seed = 4, .laws = true, .friction = TALUS_FRICTION_CCP};
  talus_world *world = make_packing(p, 300, 1e-5);
  /* One coefficient for all, so that the reference need not know who sticks. */
  talus_material_law law;
  CHECK_OK(talus_world_get_material_law(world, (talus_material){0}, (talus_material){0}, &law));
  law.static_friction = law.friction;
  CHECK_OK(talus_world_set_material_law(world, (talus_material){0}, (talus_material){0}, &law));
  world->model.solve.tolerance = BY_PRECISION(1e-11, 1e-6);
  static talus_dvec3 position[MOST];
  static talus_vec3 velocity[MOST], spin[MOST];
  static uint32_t bonded[ROWS];
  memcpy(position, world->state.position, world->model.bodies * sizeof position[0]);
  memcpy(velocity, world->state.velocity, world->model.bodies * sizeof velocity[0]);
  memcpy(spin, world->state.spin, world->model.bodies * sizeof spin[0]);
  TL_ARRAY(tl_contact) old = {0};
  CHECK(tl_array_resize(&old, world->contacts.count) == TALUS_OK);
  TL_ARRAY(tl_law_state) old_states = {0};
  CHECK(tl_array_resize(&old_states, world->contacts.count) == TALUS_OK);
  memcpy(old.data, world->contacts.data, old.count * sizeof *old.data);
  memcpy(old_states.data, world->contacts.law_states.data, old.count * sizeof *old_states.data);
  CHECK_OK(talus_world_step(world, 1));
  for (size_t i = 0; i < world->contacts.count && i < ROWS; ++i) {
    bonded[i] = 0;
    for (size_t k = 0; k < old.count; ++k)
      if (old.data[k].a == world->contacts.data[i].a &&
          old.data[k].b == world->contacts.data[i].b &&
          old.data[k].feature_a == world->contacts.data[i].feature_a &&
          old.data[k].feature_b == world->contacts.data[i].feature_b)
        bonded[i] = (old_states.data[k].state & TL_CONTACT_BONDED) != 0 &&
                    world->contacts.data[i].gap <=
                        tl_bond_reach(&world->model, old.data[k].a, old.data[k].b);
  }
  static dense d;
  const tl_state before = {.position = position, .velocity = velocity, .spin = spin};
  load_dense(&d, world, &before, bonded);
  solve_dense(&d, COARSE > 1 ? 3000 : 30000);
  const double tolerance = COARSE * BY_PRECISION(1e-6, 5e-3) * G * world->model.dt;
  double turning = 0;
  for (int i = 0; i < d.bodies; ++i) {
    const talus_vec3 v = world->state.velocity[i], w = world->state.spin[i];
    const double off[6] = {(double)v.x - (double)d.v[i][0], (double)v.y - (double)d.v[i][1],
                           (double)v.z - (double)d.v[i][2], (double)w.x - (double)d.v[i][3],
                           (double)w.y - (double)d.v[i][4], (double)w.z - (double)d.v[i][5]};
    for (int k = 0; k < 6; ++k)
      CHECK_MSG(fabs(off[k]) * (k < 3 ? 1 : 0.1) < tolerance, "body %d, component %d: off by %g", i,
                k, off[k]);
  }
  for (size_t i = 0; i < world->contacts.count; ++i)
    turning += (double)tl_length(world->contacts.law_states.data[i].torque);
  CHECK(turning > 1e-6);
  tl_array_free(&old);
  tl_array_free(&old_states);
  talus_world_destroy(world);
}

/* ---- steps, threads, restarts ---------------------------------------------------------------- */

TEST(steps_without_contacts_and_with_one_are_exact_with_every_method) {
  for (int k = 0; k < 4; ++k)
    for (int laws = 0; laws < 2; ++laws) {
      packing p = {.bodies = 0, .laws = laws == 1, .method = methods[k]};
      talus_world *world = make_packing(p, 3, BY_PRECISION(1e-12, 1e-6));
      CHECK_EQ_U64(rig_report(world).contacts_near, 0);
      CHECK(rig_report(world).residual_max == 0 && rig_report(world).iterations == 0);
      const talus_body ball =
          rig_body(world, TALUS_FREE, (talus_shape){1}, (talus_material){0}, 0.2, 0.2, 0.1);
      CHECK_OK(talus_world_step(world, 1));
      CHECK_EQ_U64(rig_report(world).contacts_near, 1);
      CHECK_NEAR((double)rig_info(world, ball).velocity.z, 0, BY_PRECISION(1e-10, 1e-5));
      talus_world_destroy(world);
    }
}

/* Jacobi is left out: at a safe step it would take some ten thousand iterations. */
TEST(stack_of_mass_ratio_1000_stands) {
  for (int k = 0; k < 4; k += k == 0 ? 2 : 1) {
    talus_world_def def = rig_def(1e-3);
    def.solve.method = methods[k];
    def.solve.iterations = 2000;
    def.solve.tolerance = 1e-5;
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.5, 0);
    rig_floor(world, m);
    const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
    talus_body body[3];
    for (int i = 0; i < 3; ++i) {
      talus_body_def each = talus_body_def_default();
      each.shape = ball, each.material = m, each.lock = TALUS_LOCK_X | TALUS_LOCK_Y;
      each.position = (talus_dvec3){0, 0, 0.1 + 0.2 * i};
      each.mass = i == 2 ? 1000 : 1;
      CHECK_OK(talus_world_add_body(world, &each, &body[i]));
    }
    CHECK_OK(talus_world_step(world, 1000));
    for (int i = 0; i < 3; ++i)
      CHECK_MSG(fabs(rig_info(world, body[i]).position.z - (0.1 + 0.2 * i)) < 1e-3,
                "%s: ball %d sinks to %g", names[k], i, rig_info(world, body[i]).position.z);
    CHECK_MSG(fabs(rig_impulse_z(world, body[2]) - 1000 * G * 1e-3) < BY_PRECISION(0.02, 0.5) * G,
              "%s: bears %g", names[k], rig_impulse_z(world, body[2]));
    talus_world_destroy(world);
  }
}

static uint64_t hash_after(talus_ccp_method method, int threads, bool laws, bool restart) {
  talus_world *world = make_packing((packing){.bodies = 45, .seed = 8, .laws = laws}, 250, 1e-4);
  world->model.solve.method = method;
  world->model.solve.iterations = 12;
  world->model.solve.tolerance = 0;
  world->model.par = (tl_par){.threads = threads};
  CHECK_OK(talus_world_step(world, 20));
  if (restart) {
    CHECK_OK(talus_world_save(world, "laws.hdf"));
    talus_world_destroy(world);
    CHECK_OK(talus_world_load("laws.hdf", &world));
    remove("laws.hdf");
  }
  CHECK_OK(talus_world_step(world, 20));
  CHECK_MSG(rig_report(world).contacts_near > 15, "%zu contacts", rig_report(world).contacts_near);
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(hashes_are_equal_for_1_2_and_4_threads_and_over_restarts_with_every_method) {
  for (int k = 0; k < 4; ++k)
    for (int laws = 0; laws < 2; ++laws) {
      const uint64_t hash = hash_after(methods[k], 1, laws == 1, false);
      for (int threads = 2; threads <= 4; threads *= 2)
        CHECK_MSG(hash_after(methods[k], threads, laws == 1, false) == hash, "%s, %d threads",
                  names[k], threads);
#if TALUS_HAVE_HDF5
      CHECK_MSG(hash_after(methods[k], 2, laws == 1, true) == hash, "%s, restarted", names[k]);
#endif
    }
}

/* Scenes without the laws have none of their memory. */
TEST(without_laws_contacts_remember_impulses_only) {
  packing p = {.bodies = 9, .seed = 4};
  talus_world *world = make_packing(p, 50, 1e-6);
  CHECK(world->model.law_kinds == 0 && world->contacts.law_states.capacity == 0);
  talus_world_destroy(world);
}

/* ---- products -------------------------------------------------------------------------------- */

TEST(every_reduction_has_the_same_answer) {
  for (int laws = 0; laws < 2; ++laws)
    for (int k = 1; k < 4; ++k) {
      packing p = {.bodies = 45, .seed = 8, .laws = laws == 1, .method = methods[k]};
      talus_world *world[3];
      for (int r = 0; r < 3; ++r) {
        world[r] = make_packing((packing){.bodies = 45, .seed = 8, .laws = laws == 1}, 260, 1e-4);
        world[r]->model.solve.method = p.method;
        world[r]->model.solve.iterations = 15;
        world[r]->model.solve.tolerance = 0;
        world[r]->model.solve.reduction = (talus_reduction)(TALUS_REDUCTION_GATHER + r);
        CHECK_OK(talus_world_step(world[r], 1));
      }
      CHECK(rig_report(world[0]).contacts_near > 15);
      for (int r = 1; r < 3; ++r)
        for (size_t i = 0; i < world[0]->model.bodies; ++i)
          CHECK_MSG(
              (double)tl_length(tl_sub(world[r]->state.velocity[i], world[0]->state.velocity[i])) <
                  BY_PRECISION(1e-9, 1e-3),
              "%s, reduction %d: body %zu", names[k], r, i);
      for (int r = 0; r < 3; ++r)
        talus_world_destroy(world[r]);
    }
}

/* A body with more entries than a block of the scan. */
TEST(scan_adds_up_a_body_with_thousands_of_contacts) {
  uint64_t hash[2];
  double force[3];
  for (int r = 0; r < 3; ++r) {
    talus_world_def def = rig_def(1e-3);
    def.solve.method = TALUS_JACOBI;
    def.solve.iterations = 20;
    def.solve.reduction = r == 0 ? TALUS_REDUCTION_GATHER : TALUS_REDUCTION_SCAN;
    def.threads = r == 2 ? 3 : 1;
    talus_world *world = rig_world(&def);
    const talus_material m = rig_material(world, 0.5, 0);
    talus_body_def plate = talus_body_def_default();
    talus_body body;
    plate.shape = rig_shape(world, TALUS_BOX, 10, 10, 1, 0), plate.material = m;
    plate.position.z = 0.5, plate.mass = 1e4;
    CHECK_OK(talus_world_add_body(world, &plate, &body));
    rig_floor(world, m);
    const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0);
    for (int i = 0; i < 2500; ++i)
      rig_body(world, TALUS_FREE, ball, m, 0.15 * (i % 50) - 3.6, 0.15 * (i / 50) - 3.6, 1.05);
    CHECK_OK(talus_world_step(world, 3));
    CHECK(rig_report(world).contacts_near >= 2500);
    force[r] = (double)rig_info(world, body).velocity.z;
    if (r > 0)
      hash[r - 1] = talus_world_hash(world);
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_NEAR(force[1], force[0], BY_PRECISION(1e-12, 1e-5));
}

#define PACKS 24

/* A row that resists rolling, spinning, both or neither; packs of none, of some and of all. Row 5
 * is empty. */
static void draw_roll(tl_random *random, tl_ccp_roll *roll, uint32_t pack, uint32_t lane) {
  const uint32_t kind = pack % 4 == 0 ? 0 : pack % 4 == 1 ? 3 : (pack + lane) % 4;
  const bool rolls = (kind & 1) && lane != 5, spins = (kind & 2) && lane != 5;
  roll->rolling[lane] = (talus_real)(rolls ? draw(random, 0, 0.1) : 0);
  roll->spinning[lane] = (talus_real)(spins ? draw(random, 0, 0.1) : 0);
  roll->er[lane] = (talus_real)(rolls ? draw(random, 0.01, 0.1) : 0);
  roll->es[lane] = (talus_real)(spins ? draw(random, 0.01, 0.1) : 0);
  roll->lanes = (lane == 0 ? 0 : roll->lanes) | (uint32_t)(rolls || spins) << lane;
}

static void compare_steps(const tl_ccp_visits *lanes) {
  static tl_ccp_body bodies[2 * TL_CCP_LANES * PACKS + 1];
  static tl_ccp_pack packs[PACKS + 16];
  static tl_ccp_arms arms[PACKS];
  static tl_ccp_numbers frictions[PACKS];
  static tl_ccp_roll rolls[PACKS + 16];
  static tl_ccp_field from[2 * PACKS], mark[2 * PACKS], to[2][2 * PACKS];
  for (uint64_t seed = 1; seed <= 48; ++seed) {
    const bool has_rolls = seed > 24;
    tl_random random = tl_random_start(seed, 3, 0);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i)
      bodies[i] = (tl_ccp_body){.v = draw_vec(&random, 1),
                                .w = draw_vec(&random, 5),
                                .inv_mass = (talus_real)(i % 9 == 0 ? 0 : draw(&random, 0.5, 3)),
                                .inv_inertia = (talus_real)(i % 9 == 0 ? 0 : draw(&random, 5, 50))};
    for (uint32_t k = 0; k < PACKS; ++k)
      for (uint32_t i = 0; i < TL_CCP_LANES; ++i) {
        tl_ccp_pack *pack = &packs[k];
        pack->a[i] = 2 * (k * TL_CCP_LANES + i), pack->b[i] = pack->a[i] + 1;
        tl_ccp_put_lane(&pack->normal, i, tl_normalize(draw_vec(&random, 1)));
        tl_ccp_put_lane(&arms[k].a, i, draw_vec(&random, 0.3));
        tl_ccp_put_lane(&arms[k].b, i, draw_vec(&random, 0.3));
        tl_ccp_put_lane(&from[k], i, draw_vec(&random, 0.2));
        tl_ccp_put_lane(&mark[k], i, draw_vec(&random, 0.2));
        pack->reach_a[i] = (talus_real)draw(&random, 0, 0.3);
        pack->reach_b[i] = (talus_real)draw(&random, -0.3, 0);
        pack->bias[i] = (talus_real)draw(&random, -1, 1);
        frictions[k].of[i] = (talus_real)(i == 3 ? 0 : draw(&random, 0, 1));
        pack->en[i] = (talus_real)(i == 5 ? 0 : draw(&random, 0.1, 1));
        pack->et[i] = (talus_real)draw(&random, 0.05, 0.5);
        draw_roll(&random, &rolls[k], k, i);
        const bool passes = rolls[k].lanes >> i & 1;
        tl_ccp_put_lane(&from[PACKS + k], i, passes ? draw_vec(&random, 0.1) : tl_vec3(0, 0, 0));
        tl_ccp_put_lane(&mark[PACKS + k], i, passes ? draw_vec(&random, 0.1) : tl_vec3(0, 0, 0));
      }
    const tl_ccp_rows rows = {.bodies = bodies,
                              .packs = packs,
                              .frictions = frictions,
                              .rolls = has_rolls ? rolls : NULL,
                              .pack_count = PACKS,
                              .ncp = seed % 2 == 0,
                              .arms = seed % 3 == 0 ? arms : NULL};
    tl_tally sums[2][TL_CCP_SUMS];
    for (int way = 0; way < 2; ++way) {
      for (int k = 0; k < TL_CCP_SUMS; ++k)
        tl_tally_clear(&sums[way][k]);
      const tl_ccp_step_def def = {
          bodies, TL_R(0.7), seed % 5 == 0, from, seed % 4 == 0 ? mark : NULL, to[way]};
      if (way == 0)
        tl_ccp_step_packs_scalar(&rows, &def, 0, PACKS, sums[way]);
      else
        lanes->step(&rows, &def, 0, PACKS, sums[way]);
    }
#if !TALUS_FAST
    for (int k = 0; k < TL_CCP_SUMS; ++k)
      CHECK(tl_tally_value(&sums[0][k]) == tl_tally_value(&sums[1][k]));
    for (int k = 0; k < (has_rolls ? 2 : 1) * PACKS; ++k)
      for (int i = 0; i < TL_CCP_LANES; ++i)
        CHECK(to[0][k].x[i] == to[1][k].x[i] && to[0][k].y[i] == to[1][k].y[i] &&
              to[0][k].z[i] == to[1][k].z[i]);
#endif
  }
}

TEST(simd_and_scalar_steps_give_the_same_bits) {
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    if (tl_isa_has(isa))
      compare_steps(tl_ccp_visits_of(isa));
}

/* ---- the guard ------------------------------------------------------------------------------- */

static char told[512];
static void keep_warning(void *context, int level, const char *line) {
  (void)context;
  if (level == 1)
    snprintf(told, sizeof told, "%s", line);
}

TEST(jacobi_at_omega_1_on_a_packing_is_caught_by_the_guard) {
  SKIP_IF_SHORT();
  talus_world_def def = talus_world_def_default();
  def.dt = 2e-3;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 1, 1, 8, 0), m, 0, 0, 4);
  talus_fill_def fill = talus_fill_def_default();
  fill.body.shape = rig_shape(world, TALUS_SPHERE, 0.07, 0, 0, 0);
  fill.body.material = m;
  fill.in.box = (talus_box){{-0.5, -0.5, 0}, {0.5, 0.5, 2}};
  fill.count = 400;
  CHECK_OK(talus_world_fill(world, &fill, NULL));
  CHECK_OK(talus_world_step(world, 400));
  world->model.solve.method = TALUS_JACOBI;
  world->model.solve.friction = TALUS_FRICTION_CCP;
  world->model.solve.omega = 1;
  world->model.solve.iterations = 300;
  world->model.solve.tolerance = 0;
  world->model.solve.warm_start = false;
  world->log = keep_warning;
  told[0] = '\0';
  CHECK_OK(talus_world_step(world, 1));
  CHECK_MSG(strstr(told, "halved its step") && strstr(told, "omega"), "log: %s", told);
  CHECK_MSG(rig_report(world).residual_rms < 5e-3, "residual %g", rig_report(world).residual_rms);
  talus_world_destroy(world);
}

TEST_MAIN()
