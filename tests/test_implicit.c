/* Implicit steps: what backward Euler does to a bounce, when Picard converges, that Newton always
 * does, rest, momentum, the ledger, and the same bits however a run is cut. */
#include "world_fixture.h"

#include "world/world.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

typedef struct settings {
  double gravity, dt, stiffness, restitution, friction, tolerance, damping;
  talus_implicit_method method;
  int iterations, threads;
  talus_spring_law law;
  double reach, young;
} settings;

static const settings usual = {.gravity = 9.81,
                               .dt = 1e-3,
                               .stiffness = 1e5,
                               .restitution = 1,
                               .tolerance = TALUS_SINGLE ? 1e-4 : 1e-10,
                               .damping = TALUS_DAMPING_AUTO,
                               .iterations = 200,
                               .threads = 2,
                               .law = TALUS_LINEAR,
                               .reach = 1e-3,
                               .young = 1e7};

static talus_world *make(const settings *s) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.gravity = (talus_vec3){0, 0, TL_R(-s->gravity)};
  def.dt = s->dt;
  def.step = TALUS_STEP_IMPLICIT;
  def.solve.kind = TALUS_SOLVE_PENALTY;
  def.solve.law = s->law;
  def.solve.reach = s->reach;
  def.implicit = (talus_implicit_def){s->method, s->iterations, s->tolerance, s->damping};
  def.threads = s->threads;
  CHECK_OK(talus_world_create(&def, &world));
  return world;
}

static talus_material material(talus_world *world, const settings *s) {
  talus_material_def def = talus_material_def_default();
  talus_material m;
  def.density = 1000, def.friction = s->friction, def.restitution = s->restitution;
  def.stiffness = s->stiffness, def.young = s->young, def.poisson = 0.3;
  CHECK_OK(talus_world_add_material(world, &def, &m));
  return m;
}

static talus_body body(talus_world *world, talus_shape s, talus_material m, talus_dvec3 at,
                       talus_vec3 v, double mass) {
  talus_body_def def = talus_body_def_default();
  talus_body made;
  def.shape = s, def.material = m, def.position = at, def.velocity = v;
  def.mass = mass;
  def.kind = mass > 0 ? TALUS_FREE : TALUS_FIXED;
  CHECK_OK(talus_world_add_body(world, &def, &made));
  return made;
}

static talus_report report_of(talus_world *world) {
  talus_report r;
  CHECK_OK(talus_world_report(world, &r));
  return r;
}

static void add_floor(talus_world *world, talus_material m) {
  body(world, shape(world, TALUS_PLANE, 0, 0, 1), m, (talus_dvec3){0, 0, 0}, (talus_vec3){0, 0, 0},
       0);
}

/* A ball of radius 0.1 m and mass 1 kg above a floor. */
static talus_body drop(talus_world *world, const settings *s, double height, double speed) {
  const talus_material m = material(world, s);
  add_floor(world, m);
  return body(world, shape(world, TALUS_SPHERE, 0.1, 0, 0), m, (talus_dvec3){0, 0, 0.1 + height},
              (talus_vec3){0, 0, TL_R(-speed)}, 1);
}

/* ---- bounces --------------------------------------------------------------------------------- */

/* Noble (3.1): K 10, reach 1 m, 2 m/s: the ball stops 0.368 m above a plane that does not move,
 * after 0.497 s. Times and places are those of m x'' = K (1 - x). */
TEST(nobles_ball_turns_where_it_should) {
  double error[2];
  for (int i = 0; i < 2; ++i) {
    settings s = usual;
    s.gravity = 0, s.law = TALUS_NOBLE, s.reach = 1, s.stiffness = 10, s.dt = i ? 5e-4 : 1e-3;
    talus_world *world = make(&s);
    const talus_body ball = drop(world, &s, 1, 2);
    double least = 1, when = 0;
    for (double t = s.dt; t < 0.7; t += s.dt) {
      CHECK_OK(talus_world_step(world, 1));
      const double gap = info(world, ball).position.z - 0.1;
      if (gap < least)
        least = gap, when = t;
    }
    error[i] = fabs(least - (1 - 2 / sqrt(10)));
    CHECK(error[i] < 5e-3 && fabs(when - 0.5 * PI / sqrt(10)) < 5e-3);
    talus_world_destroy(world);
  }
  CHECK(error[1] < 0.6 * error[0]); /* first order */
}

/* Speed after a bounce at 1 m/s, averaged over where the steps fall. */
static double bounce(talus_implicit_method method, double x) {
  double sum = 0;
  const int starts = 10;
  for (int k = 0; k < starts; ++k) {
    settings s = usual;
    s.gravity = 0, s.stiffness = 1e4, s.dt = x / 100, s.method = method;
    s.iterations = 2000;
    talus_world *world = make(&s);
    const talus_body ball = drop(world, &s, s.dt * (k + 0.5) / starts, 1);
    CHECK_OK(talus_world_step(world, (uint64_t)(8 / x) + 40));
    const talus_report r = report_of(world);
    const double v = (double)info(world, ball).velocity.z;
    CHECK(v > 0 && r.elastic_energy == 0);
    CHECK_NEAR(r.kinetic_energy + r.step_loss, 0.5, TALUS_SINGLE ? 1e-4 : 1e-9);
    sum += v;
    talus_world_destroy(world);
  }
  return sum / starts;
}

TEST(a_bounce_loses_what_backward_euler_takes) {
  const double x[] = {0.05, 0.1, 0.2, 0.5, 1};
  const double e[] = {0.924, 0.855, 0.732, 0.470, 0.250};
  for (int i = 0; i < 5; ++i) {
    const double formula = pow(1 + x[i] * x[i], -PI / (2 * atan(x[i])));
    CHECK_NEAR(formula, e[i], 1e-3);
    CHECK_NEAR(bounce(TALUS_IMPLICIT_NEWTON, x[i]), formula, 0.02);
  }
  CHECK_NEAR(bounce(TALUS_IMPLICIT_PICARD, 0.5), 0.470, 0.02);
}

/* ---- convergence ----------------------------------------------------------------------------- */

/* A ball that comes to touch in the step: h^2 S/m. Returns the iterations, -1 where it fails. */
static int iterations_for(talus_implicit_method method, double square, double damping,
                          double tolerance) {
  settings s = usual;
  s.method = method, s.damping = damping, s.tolerance = tolerance;
  s.dt = 1e-3, s.stiffness = square / (s.dt * s.dt), s.iterations = 500;
  talus_world *world = make(&s);
  drop(world, &s, 0, 1);
  const talus_status status = talus_world_step(world, 1);
  int inner = -1;
  if (status == TALUS_OK)
    inner = report_of(world).inner;
  else
    CHECK(status == TALUS_ERROR_DIVERGED && strstr(talus_last_error(), "h omega") &&
          strstr(talus_last_error(), "say step: {"));
  talus_world_destroy(world);
  return inner;
}

TEST(picard_converges_where_it_contracts) {
  CHECK(iterations_for(TALUS_IMPLICIT_PICARD, 0.9, 1, 0.01) > 0);
  CHECK(iterations_for(TALUS_IMPLICIT_PICARD, 1.1, 1, 0.01) == -1);
  CHECK(iterations_for(TALUS_IMPLICIT_PICARD, 10, 1, 0.01) == -1);
  CHECK(iterations_for(TALUS_IMPLICIT_PICARD, 10, 0.18, 0.01) > 0);
  CHECK(iterations_for(TALUS_IMPLICIT_PICARD, 10, 0.19, 0.01) == -1);
  CHECK(iterations_for(TALUS_IMPLICIT_PICARD, 10, TALUS_DAMPING_AUTO, 0.01) > 0);
  const int aitken = iterations_for(TALUS_IMPLICIT_PICARD, 10, TALUS_DAMPING_AITKEN, 0.01);
  CHECK(aitken > 0 && aitken < 10);
}

TEST(newton_converges_at_any_stiffness) {
  for (double square = 0.01; square < 2e4; square *= 10) {
    const int n = iterations_for(TALUS_IMPLICIT_NEWTON, square, 1, TALUS_SINGLE ? 1e-3 : 1e-8);
    CHECK(n > 0 && n <= 8);
  }
}

static double sum_of(const talus_report *r);
static talus_world *heap(const settings *s);

/* Where no end fits a long step it is taken in shorter ones, which is counted; nothing of the try
 * is left in state or ledger. */
TEST(hard_impacts_with_friction_end) {
  settings s = usual;
  s.dt = 2e-3, s.stiffness = 2e10, s.friction = 0.4, s.restitution = 0.3; /* h omega is 100 */
  s.tolerance = 0.01, s.iterations = 50;
  if (TALUS_SINGLE)
    SKIP("forces of stiff springs need more digits");
  talus_world *one = heap(&s);
  s.threads = 1;
  talus_world *other = heap(&s);
  const talus_report start = report_of(one);
  CHECK_OK(talus_world_step(one, 70));
  CHECK_OK(talus_world_step(other, 70));
  const talus_report r = report_of(one);
  CHECK(r.inner <= 50 && r.force_change <= 0.01);
  CHECK(r.unconverged > 0 && r.unconverged == report_of(other).unconverged);
  CHECK(talus_world_hash(one) == talus_world_hash(other));
  CHECK(r.step_loss > 1);
  CHECK_NEAR(sum_of(&r), sum_of(&start), 0.02 * sum_of(&start));
  talus_world_destroy(one);
  talus_world_destroy(other);
}

/* A bar that can only turn, without weight: nothing is there to compare the first torques with. */
TEST(a_ball_turns_a_bar_that_rests_without_weight) {
  settings s = usual;
  s.gravity = 0, s.stiffness = 1e6, s.friction = 0.4, s.restitution = 0.8, s.tolerance = 0.01;
  talus_world *world = make(&s);
  const talus_material m = material(world, &s);
  talus_body_def def = talus_body_def_default();
  talus_body bar;
  def.shape = shape(world, TALUS_BOX, 0.4, 0.05, 0.05), def.material = m;
  def.lock = TALUS_LOCK_X | TALUS_LOCK_Y | TALUS_LOCK_Z;
  CHECK_OK(talus_world_add_body(world, &def, &bar));
  const talus_body ball = body(world, shape(world, TALUS_SPHERE, 0.03, 0, 0), m,
                               (talus_dvec3){0.15, 0.1, 0}, (talus_vec3){0, -2, 0}, 0.1);
  CHECK_OK(talus_world_step(world, 100));
  CHECK((double)info(world, bar).spin.z < -0.1);
  CHECK((double)info(world, ball).velocity.y > -2);
  talus_world_destroy(world);
}

/* The gap comes to less than a place has digits for: springs push by one of them or not at all. */
TEST(a_ball_at_rest_without_weight_may_be_touched_by_a_hair) {
  if (TALUS_SINGLE)
    SKIP("the step after which they touch by a hair is another one");
  settings s = usual;
  s.gravity = 0, s.stiffness = 1e6, s.restitution = 0.8, s.tolerance = 0.01;
  talus_world *world = make(&s);
  const talus_material m = material(world, &s);
  const talus_shape of = shape(world, TALUS_SPHERE, 0.03, 0, 0);
  body(world, of, m, (talus_dvec3){0, 0, 0}, (talus_vec3){0, 0, 0}, 0.1);
  body(world, of, m, (talus_dvec3){0, 0.1, 0}, (talus_vec3){0, -2, 0}, 0.1);
  CHECK_OK(talus_world_step(world, 100));
  talus_world_destroy(world);
}

/* What pushed it where it was does not push it where it is put. */
TEST(a_body_put_elsewhere_leaves_its_contacts_behind) {
  for (int friction = 0; friction < 2; ++friction) {
    settings s = usual;
    s.friction = 0.5 * friction, s.restitution = 0.2;
    talus_world *world = make(&s);
    const talus_body ball = drop(world, &s, 0, 0);
    CHECK_OK(talus_world_step(world, 500));
    const talus_quat upright = {1, 0, 0, 0};
    CHECK_OK(talus_body_set_pose(world, ball, (talus_dvec3){1e6, 0, 1}, upright));
    CHECK_OK(talus_body_set_velocity(world, ball, (talus_vec3){0, 0, 0}, (talus_vec3){0, 0, 0}));
    CHECK_OK(talus_world_step(world, 1));
    const talus_report r = report_of(world);
    CHECK_NEAR((double)info(world, ball).velocity.z, -9.81 * s.dt, 1e-6);
    CHECK(tl_length(info(world, ball).spin) == 0 && r.inner == 0);
    talus_world_destroy(world);
  }
}

/* Balls, boxes and a tilted box that fall onto each other. */
static talus_world *heap(const settings *s) {
  talus_world *world = make(s);
  const talus_material m = material(world, s);
  add_floor(world, m);
  const talus_shape ball = shape(world, TALUS_SPHERE, 0.1, 0, 0),
                    box = shape(world, TALUS_BOX, 0.2, 0.2, 0.2),
                    stone = shape(world, TALUS_ELLIPSOID, 0.12, 0.1, 0.08);
  for (int i = 0; i < 12; ++i) {
    talus_body_def def = talus_body_def_default();
    talus_body made;
    def.shape = i % 3 == 0 ? ball : i % 3 == 1 ? box : stone;
    def.material = m;
    def.position = (talus_dvec3){0.31 * (i % 2), 0.02 * (i / 2 % 2), 0.18 + 0.3 * (i / 2)};
    def.rotation = tl_quat_from_rotation_vector(tl_vec3(TL_R(0.3 * i), TL_R(0.2), 0));
    def.velocity = (talus_vec3){TL_R(i % 2 ? -0.5 : 0.5), 0, TL_R(-1 - 0.2 * (i / 2))};
    CHECK_OK(talus_world_add_body(world, &def, &made));
  }
  return world;
}

static double farthest(const talus_world *a, const talus_world *b) {
  double most = 0;
  for (size_t i = 0; i < a->model.bodies; ++i)
    most = fmax(most, tl_dlength(tl_dsub(a->state.position[i], b->state.position[i])));
  return most;
}

TEST(newton_and_picard_agree) {
  settings s = usual;
  s.dt = 2e-4, s.stiffness = 2e5, s.friction = 0.3, s.restitution = 0.5;
  s.tolerance = TALUS_SINGLE ? 1e-5 : 1e-12, s.iterations = 5000;
  for (int law = TALUS_LINEAR; law <= TALUS_HERTZ; ++law) {
    s.law = (talus_spring_law)law;
    s.method = TALUS_IMPLICIT_NEWTON;
    talus_world *one = heap(&s);
    s.method = TALUS_IMPLICIT_PICARD, s.damping = TALUS_DAMPING_AITKEN;
    talus_world *other = heap(&s);
    CHECK_OK(talus_world_step(one, 800));
    CHECK_OK(talus_world_step(other, 800));
    CHECK(report_of(one).step_loss > 1);
    const double apart = farthest(one, other);
    CHECK(apart < (TALUS_SINGLE ? 1e-4 : 1e-10));
    talus_world_destroy(one);
    talus_world_destroy(other);
  }
}

/* ---- rest ------------------------------------------------------------------------------------ */

/* A cube of 0.2 m with n x n squares of two triangles on each face. */
static talus_shape mesh_box(talus_world *world, int n) {
  static const int corner[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
  const size_t count = (size_t)(12 * n * n);
  double *v = malloc(9 * count * sizeof *v);
  uint32_t *t = malloc(3 * count * sizeof *t);
  size_t at = 0, points = 0;
  for (int face = 0; face < 6; ++face)
    for (int k = 0; k < 2 * n * n; ++k)
      for (int c = 0; c < 3; ++c) {
        const int axis = face / 2, i = k / 2 % n, j = k / 2 / n, turned = face % 2 ? c : 2 - c;
        double x[3];
        x[axis] = face % 2 ? 0.1 : -0.1;
        x[(axis + 1) % 3] = 0.2 * (i + corner[k % 2][turned][0]) / n - 0.1;
        x[(axis + 2) % 3] = 0.2 * (j + corner[k % 2][turned][1]) / n - 0.1;
        size_t same = 0;
        while (same < points && memcmp(&v[3 * same], x, sizeof x) != 0)
          ++same;
        points += same == points;
        memcpy(&v[3 * same], x, sizeof x), t[at++] = (uint32_t)same;
      }
  talus_shape_def def = talus_shape_def_default();
  talus_shape s;
  def.kind = TALUS_MESH;
  def.points = v, def.point_count = points, def.triangles = t, def.triangle_count = count;
  CHECK_OK(talus_world_add_shape(world, &def, &s));
  free(v), free(t);
  return s;
}

/* However many points it touches by: m g/S. */
TEST(a_resting_body_is_pressed_in_by_its_weight) {
  static const int squares[] = {0, 0, 1, 5, 16}; /* a ball, a box, 12, 300, 3,072 triangles */
  for (int kind = 0; kind < 5; ++kind)
    for (int law = TALUS_LINEAR; law <= TALUS_HERTZ; ++law) {
      settings s = usual;
      s.stiffness = 1e6, s.restitution = 0.1, s.dt = 5e-3, s.friction = 0.5;
      s.law = (talus_spring_law)law;
      talus_world *world = make(&s);
      const talus_material m = material(world, &s);
      add_floor(world, m);
      const talus_shape of = kind == 0   ? shape(world, TALUS_SPHERE, 0.1, 0, 0)
                             : kind == 1 ? shape(world, TALUS_BOX, 0.2, 0.2, 0.2)
                                         : mesh_box(world, squares[kind]);
      const talus_body b =
          body(world, of, m, (talus_dvec3){0, 0, 0.1001}, (talus_vec3){0, 0, 0}, 1);
      CHECK_OK(talus_world_step(world, 400));
      const double radius = kind == 0 ? 0.1 : cbrt(0.75 * 0.008 / PI), /* of its volume */
          modulus = 4.0 / 3.0 * s.young / (2 * (1 - 0.09));
      const double depth = law == TALUS_LINEAR ? 9.81 / s.stiffness
                                               : pow(9.81 / (modulus * sqrt(radius)), 2.0 / 3.0);
      CHECK_NEAR(0.1 - info(world, b).position.z, depth, TALUS_SINGLE ? 1e-7 : 1e-9);
      CHECK((double)tl_length(info(world, b).velocity) < 1e-6);
      talus_world_destroy(world);
    }
}

/* Points that come to touch have their share already, and what sharing gives one body it takes
 * from another: a box that rocks from face to edge and back makes no energy. */
TEST(sharing_makes_no_energy) {
  if (TALUS_SINGLE)
    SKIP("steps of 20 us are lost in rounding");
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.dt = 2e-5, def.solve.kind = TALUS_SOLVE_PENALTY;
  CHECK_OK(talus_world_create(&def, &world));
  settings s = usual;
  s.stiffness = 2e4;
  const talus_material m = material(world, &s);
  add_floor(world, m);
  talus_body_def box = talus_body_def_default();
  talus_body made;
  box.shape = shape(world, TALUS_BOX, 0.2, 0.2, 0.1), box.material = m, box.mass = 1;
  box.position = (talus_dvec3){0, 0, 0.06};
  box.spin = (talus_vec3){TL_R(0.4), TL_R(0.3), 0};
  CHECK_OK(talus_world_add_body(world, &box, &made));
  double before = 0, most = 0;
  int edges = 0;
  for (int k = 0; k < 400; ++k) {
    CHECK_OK(talus_world_step(world, 100));
    const talus_report r = report_of(world);
    const double sum = r.kinetic_energy + r.potential_energy + r.elastic_energy;
    if (k == 0)
      before = sum;
    most = fmax(most, fabs(sum - before));
    edges += r.contacts > 0 && r.contacts < 4;
  }
  CHECK(edges > 20);
  CHECK_MSG(most < 1e-5 * before, "%g of %g J", most, before);
  talus_world_destroy(world);
}

TEST(a_column_comes_to_rest_at_twenty_critical_steps) {
  settings s = usual;
  const double mass = 1, critical = 2 / sqrt(2 * 1e7 / mass);
  s.stiffness = 1e7, s.dt = 20 * critical, s.restitution = 0.5, s.friction = 0.5;
  s.tolerance = 1e-4;
  if (TALUS_SINGLE)
    SKIP("forces of stiff springs need more digits");
  talus_world *world = make(&s);
  const talus_material m = material(world, &s);
  add_floor(world, m);
  const talus_shape ball = shape(world, TALUS_SPHERE, 0.1, 0, 0);
  for (int i = 0; i < 100; ++i)
    body(world, ball, m, (talus_dvec3){0, 0, 0.1 + 0.2 * i}, (talus_vec3){0, 0, 0}, mass);
  CHECK_OK(talus_world_step(world, (uint64_t)(2 / s.dt)));
  double fastest = 0;
  for (size_t i = 0; i < world->model.bodies; ++i)
    fastest = fmax(fastest, (double)tl_length(world->state.velocity[i]));
  CHECK(fastest < 1e-6);
  const double bottom = world->contacts.data[0].gap;
  CHECK_NEAR(-bottom * s.stiffness, 100 * 9.81 * mass, 10);
  talus_world_destroy(world);
}

/* ---- friction -------------------------------------------------------------------------------- */

/* A box of 0.2 m on a plane tilted by `degrees`, for a second; the way it went. */
static double slide(double degrees, double friction, bool by_ccp) {
  settings s = usual;
  s.stiffness = 1e6, s.friction = friction, s.restitution = 0.2;
  s.tolerance = TALUS_SINGLE ? 1e-3 : 1e-4;
  s.dt = 20 * 2 / sqrt(s.stiffness); /* h omega is 40 */
  talus_world_def ccp = talus_world_def_default();
  ccp.gravity = (talus_vec3){0, 0, TL_R(-s.gravity)}, ccp.dt = s.dt;
  talus_world *world;
  if (by_ccp)
    CHECK_OK(talus_world_create(&ccp, &world));
  else
    world = make(&s);
  const talus_material m = material(world, &s);
  const double angle = degrees * PI / 180;
  body(world, shape(world, TALUS_PLANE, sin(angle), 0, cos(angle)), m, (talus_dvec3){0, 0, 0},
       (talus_vec3){0, 0, 0}, 0);
  talus_body_def def = talus_body_def_default();
  talus_body box;
  def.shape = shape(world, TALUS_BOX, 0.2, 0.2, 0.1), def.material = m, def.mass = 1;
  def.position = (talus_dvec3){0.05 * sin(angle), 0, 0.05 * cos(angle)};
  def.rotation = tl_quat_from_rotation_vector(tl_vec3(0, (talus_real)angle, 0));
  CHECK_OK(talus_world_add_body(world, &def, &box));
  CHECK_OK(talus_world_step(world, (uint64_t)(1 / s.dt + 0.5)));
  const talus_dvec3 x = info(world, box).position;
  talus_world_destroy(world);
  return tl_dlength(tl_dsub(x, def.position));
}

TEST(a_box_on_an_incline_sticks_and_slips_as_with_ccp) {
  CHECK(slide(20, 0.4, false) < 1e-3 && slide(20, 0.4, true) < 1e-3);
  const double angle = 30 * PI / 180, a = 9.81 * (sin(angle) - 0.4 * cos(angle));
  const double way = slide(30, 0.4, false), hard = slide(30, 0.4, true);
  CHECK_NEAR(way, 0.5 * a, 0.06 * a);
  CHECK_NEAR(way, hard, 0.01 * hard);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

TEST(momentum_is_kept_to_rounding) {
  for (int method = TALUS_IMPLICIT_NEWTON; method <= TALUS_IMPLICIT_PICARD; ++method) {
    settings s = usual;
    s.gravity = 0, s.method = (talus_implicit_method)method, s.dt = 1e-3, s.stiffness = 1e5;
    s.friction = 0.4, s.restitution = 0.6, s.tolerance = 0.3; /* it ends early */
    talus_world *world = make(&s);
    const talus_material m = material(world, &s);
    const talus_shape ball = shape(world, TALUS_SPHERE, 0.1, 0, 0),
                      box = shape(world, TALUS_BOX, 0.2, 0.15, 0.1);
    for (int i = 0; i < 27; ++i) {
      talus_body_def def = talus_body_def_default();
      talus_body made;
      def.shape = i % 2 ? ball : box, def.material = m;
      def.position = (talus_dvec3){0.21 * (i % 3), 0.21 * (i / 3 % 3), 0.21 * (i / 9)};
      def.velocity = (talus_vec3){TL_R(1 - i % 3), TL_R(1 - i / 3 % 3), TL_R(0.1 * (i % 5))};
      def.spin = (talus_vec3){TL_R(i % 4), TL_R(i % 3), TL_R(1)};
      CHECK_OK(talus_world_add_body(world, &def, &made));
    }
    const talus_report before = report_of(world);
    CHECK_OK(talus_world_step(world, 100));
    const talus_report after = report_of(world);
    CHECK(after.step_loss != 0);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(after.momentum[k], before.momentum[k], TALUS_SINGLE ? 1e-3 : 1e-11);
      CHECK_NEAR(after.angular_momentum[k], before.angular_momentum[k],
                 TALUS_SINGLE ? 1e-3 : 1e-11);
    }
    talus_world_destroy(world);
  }
}

static double sum_of(const talus_report *r) {
  return r->kinetic_energy + r->potential_energy + r->elastic_energy + r->damping_work +
         r->friction_work + r->step_loss - r->load_work;
}

TEST(the_ledger_closes) {
  settings s = usual;
  s.dt = 1e-3, s.stiffness = 1e6, s.friction = 0.4, s.restitution = 0.4;
  s.tolerance = TALUS_SINGLE ? 1e-3 : 1e-9, s.iterations = 2000;
  talus_world *world = heap(&s);
  const talus_report start = report_of(world);
  CHECK_OK(talus_world_step(world, 300));
  const talus_report end = report_of(world);
  CHECK(end.step_loss > 0.01 * start.kinetic_energy);
  CHECK_NEAR(sum_of(&end), sum_of(&start), (TALUS_SINGLE ? 1e-2 : 1e-6) * sum_of(&start));
  talus_world_destroy(world);
}

/* ---- the same bits --------------------------------------------------------------------------- */

TEST(threads_and_restarts_change_no_bit) {
  for (int method = TALUS_IMPLICIT_NEWTON; method <= TALUS_IMPLICIT_EULER; ++method) {
    settings s = usual;
    s.method = (talus_implicit_method)method, s.dt = 1e-4, s.friction = 0.3, s.restitution = 0.5;
    s.tolerance = 0.01, s.threads = 1;
    talus_world *one = heap(&s);
    s.threads = 4;
    talus_world *other = heap(&s);
    CHECK_OK(talus_world_step(one, 600));
    CHECK_OK(talus_world_step(other, 300));
#if TALUS_HAVE_HDF5
    CHECK_OK(talus_world_save(other, "implicit.hdf"));
    talus_world_destroy(other);
    CHECK_OK(talus_world_load("implicit.hdf", &other));
    remove("implicit.hdf");
#endif
    CHECK_OK(talus_world_step(other, 300));
    const talus_report a = report_of(one), b = report_of(other);
    CHECK(talus_world_hash(one) == talus_world_hash(other));
    CHECK(a.step_loss == b.step_loss && a.elastic_energy == b.elastic_energy);
    CHECK(a.friction_work != 0);
    talus_world_destroy(one);
    talus_world_destroy(other);
  }
}

/* ---- trees of surrogates --------------------------------------------------------------------- */

/* A dented ball of radius 0.1 m, about, of 2 n (n - 1) triangles. */
static talus_shape stone(talus_world *world, int n, double dent) {
  double v[3 * 258];
  uint32_t t[3 * 512];
  size_t points = 0, at = 0;
  CHECK(n <= 16);
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double u = PI * i / n, w = 2 * PI * j / n;
      const double r = 0.1 * (1 + dent * sin(3 * w) * sin(2 * u));
      const double x[3] = {r * sin(u) * cos(w), r * sin(u) * sin(w), r * cos(u)};
      memcpy(&v[3 * points++], x, sizeof x);
    }
  const double poles[2][3] = {{0, 0, 0.1}, {0, 0, -0.1}};
  memcpy(&v[3 * points], poles, sizeof poles);
  const uint32_t top = (uint32_t)points, bottom = top + 1;
  points += 2;
  for (uint32_t j = 0; j < (uint32_t)n; ++j) {
    const uint32_t k = (j + 1) % (uint32_t)n, last = (uint32_t)(n * (n - 2));
    t[at++] = top, t[at++] = j, t[at++] = k;
    t[at++] = bottom, t[at++] = last + k, t[at++] = last + j;
    for (uint32_t i = 0; i + 2 < (uint32_t)n; ++i) {
      const uint32_t row = i * (uint32_t)n, next = row + (uint32_t)n;
      t[at++] = row + j, t[at++] = next + j, t[at++] = next + k;
      t[at++] = row + j, t[at++] = next + k, t[at++] = row + k;
    }
  }
  talus_shape_def def = talus_shape_def_default();
  talus_shape s;
  def.kind = TALUS_MESH, def.points = v, def.point_count = points;
  def.triangles = t, def.triangle_count = at / 3;
  CHECK_OK(talus_world_add_shape(world, &def, &s));
  return s;
}

/* Stones that meet in pairs. */
static talus_world *stones(const settings *s) {
  talus_world *world = make(s);
  const talus_material m = material(world, s);
  const talus_shape of = stone(world, 8, 0.2);
  for (int i = 0; i < 4; ++i) {
    talus_body_def def = talus_body_def_default();
    talus_body made;
    def.shape = of, def.material = m, def.mass = 1;
    def.position = (talus_dvec3){0.215 * (i % 2) - 0.005 * (i / 2), 0.02 * (i % 3), 0.3 * (i / 2)};
    def.rotation = tl_quat_from_rotation_vector(tl_vec3(TL_R(0.7 * i), TL_R(0.2), TL_R(0.1 * i)));
    def.velocity = (talus_vec3){TL_R(i % 2 ? -1 : 1), 0, TL_R(0.1)};
    def.spin = (talus_vec3){0, TL_R(i), TL_R(2)};
    CHECK_OK(talus_world_add_body(world, &def, &made));
  }
  return world;
}

/* Distances of triangles that a method looked at; iterations of all steps. */
typedef struct run_of_stones {
  talus_world *world;
  uint64_t comparisons;
  int inner;
  double work; /* J that the step itself took */
} run_of_stones;

static run_of_stones run_stones(settings s, talus_implicit_method method, bool flat) {
  run_of_stones r = {0};
  s.method = method;
  r.world = stones(&s);
  if (flat)
    r.world->model.narrow.tree = TALUS_TREE_FLAT;
  for (int i = 0; i < 40; ++i) {
    CHECK_OK(talus_world_step(r.world, 1));
    r.inner += report_of(r.world).inner;
  }
  r.comparisons = report_of(r.world).comparisons;
  r.work = report_of(r.world).step_loss;
  return r;
}

/* Noble's Corollary 3, and Lemma 5: with springs that have a reach surrogates push, too. */
TEST(picard_finds_the_same_by_surrogates) {
  SKIP_IF_SHORT();
  for (int law = 0; law < 2; ++law) {
    settings s = usual;
    s.gravity = 0, s.dt = 5e-4, s.friction = 0.3, s.iterations = 1000, s.threads = 1;
    s.tolerance = TALUS_SINGLE ? 1e-4 : 1e-10;
    s.law = law ? TALUS_NOBLE : TALUS_LINEAR, s.reach = 4e-3, s.stiffness = law ? 400 : 2e5;
    const run_of_stones flat = run_stones(s, TALUS_IMPLICIT_PICARD, true),
                        picard = run_stones(s, TALUS_IMPLICIT_PICARD, false),
                        tree = run_stones(s, TALUS_IMPLICIT_SURROGATE_PICARD, false),
                        down = run_stones(s, TALUS_IMPLICIT_MULTIRES_PICARD, false);
    CHECK(picard.work > 1e-3);
    CHECK(talus_world_hash(flat.world) == talus_world_hash(picard.world));
    CHECK(talus_world_hash(tree.world) == talus_world_hash(picard.world));
    CHECK(tree.inner == picard.inner && flat.inner == picard.inner);
    CHECK(down.inner >= picard.inner);
    const double apart = farthest(down.world, picard.world);
    CHECK_MSG(apart < (TALUS_SINGLE ? 1e-4 : 1e-9), "%g m", apart);
    const uint64_t all = 2 * 112 * 112 * (uint64_t)picard.inner; /* of flat, at least */
    printf("  of %g: surrogate %g, multires %g (printed %g); iterations %d, %d\n", (double)all,
           (double)tree.comparisons, (double)down.comparisons, (double)down.world->multires.product,
           picard.inner, down.inner);
    const uint64_t less = TALUS_SINGLE ? 2 : 5; /* the fewer iterations, the more levels weigh */
    CHECK(less * tree.comparisons < all && less * down.comparisons < all);
    CHECK(down.world->multires.product > down.comparisons);
    talus_world_destroy(flat.world), talus_world_destroy(picard.world);
    talus_world_destroy(tree.world), talus_world_destroy(down.world);
  }
}

TEST(surrogates_change_no_bit_with_threads_and_restarts) {
  for (int method = TALUS_IMPLICIT_SURROGATE_PICARD; method <= TALUS_IMPLICIT_MULTIRES_PICARD;
       ++method) {
    settings s = usual;
    s.gravity = 0, s.dt = 5e-4, s.friction = 0.3, s.iterations = 1000, s.tolerance = 0.01;
    s.law = TALUS_NOBLE, s.reach = 4e-3, s.stiffness = 400;
    s.method = (talus_implicit_method)method, s.threads = 1;
    talus_world *one = stones(&s);
    s.threads = 4;
    talus_world *other = stones(&s);
    CHECK_OK(talus_world_step(one, 50));
    CHECK_OK(talus_world_step(other, 25));
#if TALUS_HAVE_HDF5
    CHECK_OK(talus_world_save(other, "implicit_stones.hdf"));
    talus_world_destroy(other);
    CHECK_OK(talus_world_load("implicit_stones.hdf", &other));
    remove("implicit_stones.hdf");
#endif
    CHECK_OK(talus_world_step(other, 25));
    CHECK(talus_world_hash(one) == talus_world_hash(other));
    CHECK(report_of(one).step_loss > 0);
    talus_world_destroy(one);
    talus_world_destroy(other);
  }
}

/* ---- backends -------------------------------------------------------------------------------- */

static talus_status find_no_forces(const tl_crowd *crowd, const tl_penalty_motion *motion,
                                   tl_contacts *contacts, talus_vec3 *force, talus_vec3 *torque,
                                   tl_penalty_sums *sums, tl_penalty_tangents *tangents) {
  TL_TRY(tl_penalty_find_forces(crowd, motion, contacts, force, torque, sums, tangents));
  memset(force, 0, crowd->model->bodies * sizeof *force);
  memset(torque, 0, crowd->model->bodies * sizeof *torque);
  *sums = (tl_penalty_sums){0};
  return TALUS_OK;
}

TEST(forces_of_springs_come_from_the_backend) {
  tl_backend without = tl_backend_cpu;
  without.find_forces = find_no_forces;
  for (int method = -1; method <= TALUS_IMPLICIT_EULER; ++method) {
    settings s = usual;
    s.method = method < 0 ? TALUS_IMPLICIT_NEWTON : (talus_implicit_method)method;
    talus_world_def def = talus_world_def_default();
    talus_world *world = make(&s);
    if (method < 0) { /* velocity Verlet */
      talus_world_destroy(world);
      def.dt = s.dt, def.solve.kind = TALUS_SOLVE_PENALTY;
      CHECK_OK(talus_world_create(&def, &world));
      world->penalty.is_general = true;
    }
    world->backend = &without;
    const talus_body ball = drop(world, &s, 1e-3, 0);
    talus_body_info info;
    CHECK_OK(talus_world_step(world, 100));
    CHECK_OK(talus_world_get_body(world, ball, &info));
    /* Newton, whose tangents are still those of springs, stops at its tolerance on the way there. */
    CHECK_NEAR(info.velocity.z, -0.1 * 9.81, TALUS_SINGLE ? 0.02 : 1e-4);
    talus_world_destroy(world);
  }
}

static int searches, pushes;

static talus_status count_search(const tl_crowd *crowd, const tl_pairs *pairs,
                                 const talus_real *margins, tl_contacts *contacts) {
  searches++;
  return tl_backend_cpu.find_contacts(crowd, pairs, margins, contacts);
}

static talus_status count_push(const tl_crowd *crowd, const tl_penalty_motion *motion,
                               tl_contacts *contacts, talus_vec3 *force, talus_vec3 *torque,
                               tl_penalty_sums *sums, tl_penalty_tangents *tangents) {
  pushes++;
  return tl_penalty_find_forces(crowd, motion, contacts, force, torque, sums, tangents);
}

/* Limits of friction change forces, not places: contacts need not be found again for them. */
TEST(renewed_limits_of_friction_search_no_contacts) {
  settings s = usual;
  tl_backend counted = tl_backend_cpu;
  counted.find_contacts = count_search, counted.find_forces = count_push;
  s.friction = 0.3, s.tolerance = 0.01;
  talus_world *world = make(&s);
  drop(world, &s, 1e-4, 0.1);
  CHECK_OK(talus_world_step(world, 5));
  world->backend = &counted;
  searches = pushes = 0;
  int inner = 0;
  for (int i = 0; i < 20; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    inner += report_of(world).inner;
  }
  printf("  %d iterations: %d searches, %d sums of forces\n", inner, searches, pushes);
  CHECK(inner >= 5 && pushes > searches && searches <= inner + 20 + inner / 2);
  talus_world_destroy(world);
}

/* ---- bad input ------------------------------------------------------------------------------- */

TEST(bad_settings_are_refused) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.step = TALUS_STEP_IMPLICIT;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "implicit in their impulses already"));
  def.solve.kind = TALUS_SOLVE_IMPULSE;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  def.solve.kind = TALUS_SOLVE_PENALTY;
  talus_world_def bad = def;
  bad.implicit.tolerance = 0;
  CHECK(talus_world_create(&bad, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "tolerance"));
  bad = def, bad.implicit.iterations = 0;
  CHECK(talus_world_create(&bad, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "iterations"));
  bad = def, bad.implicit.damping = 0;
  CHECK(talus_world_create(&bad, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "damping"));
  CHECK_OK(talus_world_create(&def, &world));
  talus_world_destroy(world);
}

TEST_MAIN()
