/* Ellipsoids through the whole of contact detection: the public call, every method and thread
 * count.
 *
 * TALUS_SLOW=1 adds brute force for 262,144 spheres. */
#include "check.h"

#include <talus/detect.h>

#include "ellipsoid_random.h"
#include "narrow/ellipsoid.h"

typedef struct scene {
  size_t count;
  double *position, *radius, *rotation;
  uint32_t *shape;
  talus_shape_def def;
} scene;

static scene scene_make(size_t n) {
  scene s = {.count = n,
             .position = malloc(3 * n * sizeof(double)),
             .radius = malloc(n * sizeof(double)),
             .rotation = malloc(4 * n * sizeof(double)),
             .shape = calloc(n, sizeof(uint32_t)),
             .def = talus_shape_def_default()};
  return s;
}

static void scene_free(scene *s) {
  free(s->position);
  free(s->radius);
  free(s->rotation);
  free(s->shape);
}

/* The paper's: random centres at a number density of 1.25e-7, radii uniform in [0, 101]. */
static scene paper_spheres(size_t n) {
  scene s = scene_make(n);
  const double side = cbrt((double)n / 1.25e-7);
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k)
      s.position[3 * i + (size_t)k] = side * uniform();
    s.radius[i] = 101 * (1 - uniform());
    for (int k = 0; k < 4; ++k)
      s.rotation[4 * i + (size_t)k] = uniform() + 0.1;
  }
  return s;
}

/* The same bodies as ellipsoids with three equal half axes, or with half axes a, b, c times the
 * radius. */
static talus_detect_bodies as_ellipsoids(scene *s, double a, double b, double c) {
  s->def.kind = TALUS_ELLIPSOID;
  s->def.size[0] = a, s->def.size[1] = b, s->def.size[2] = c;
  return (talus_detect_bodies){.count = s->count,
                               .position = s->position,
                               .shapes = &s->def,
                               .shape_count = 1,
                               .shape = s->shape,
                               .scale = s->radius,
                               .rotation = s->rotation};
}

static talus_detect_bodies as_spheres(const scene *s) {
  return (talus_detect_bodies){.count = s->count, .position = s->position, .radius = s->radius};
}

static talus_contacts find(const talus_detect_bodies *bodies, talus_ellipsoid_method method,
                           double margin, int threads) {
  talus_detect_def def = talus_detect_def_default();
  def.narrow.ellipsoid = method;
  def.margin = margin;
  def.threads = threads;
  talus_contacts contacts;
  CHECK_OK(talus_find_contacts(&def, bodies, &contacts, NULL));
  return contacts;
}

/* Contacts by brute force in double: every pair i < j in order. */
static void check_brute(const scene *s, const talus_contacts *contacts) {
  size_t at = 0;
  for (size_t i = 0; i < s->count; ++i)
    for (size_t j = i + 1; j < s->count; ++j) {
      const double *p = &s->position[3 * i], *q = &s->position[3 * j];
      const double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
      const double sum = s->radius[i] + s->radius[j], square = x * x + y * y + z * z;
      if (square > sum * sum * (1 + 1e-12) || sqrt(square) - sum > 0)
        continue;
      CHECK_MSG(at < contacts->count, "pair %zu %zu is missing at the end", i, j);
      const talus_row_contact *c = &contacts->data[at++];
      CHECK_MSG(c->a == i && c->b == j, "found %u %u where %zu %zu was expected", c->a, c->b, i, j);
    }
  CHECK_EQ_U64(at, contacts->count);
}

/* The general kernels, which do not know that these are spheres, on the very contacts. */
static void check_kernels(const scene *s, const talus_contacts *contacts) {
  int borderline = 0;
  for (size_t k = 0; k < contacts->count; ++k) {
    const talus_row_contact *c = &contacts->data[k];
    const double *p = &s->position[3 * c->a], *q = &s->position[3 * c->b];
    const talus_dvec3 d = tl_dvec3(q[0] - p[0], q[1] - p[1], q[2] - p[2]);
    const double ra = s->radius[c->a], rb = s->radius[c->b], least = fmin(ra, rb);
    const tl_ellipsoid a = {{ra, ra, ra}, random_frame()}, b = {{rb, rb, rb}, random_frame()};
    const tl_ell_pair pair = tl_ellipsoid_pair(&a, &b, d);
    tl_ell_contact found;
    if (fabs((double)c->gap) < 1e-9 * (ra + rb)) {
      borderline++;
      continue;
    }
    CHECK(tl_ellipsoids_overlap(&pair) && tl_ellipsoids_overlap_chm(&pair));
    tl_ell_outcome outcome = tl_ellipsoids_contact_quick(&pair, 0, &found);
    if (outcome == TL_ELL_UNSURE) /* spheres nearly concentric: the normal is nearly free */
      outcome = tl_ellipsoids_contact_careful(&a, &b, d, 0, &found) ? TL_ELL_FOUND : TL_ELL_FAR;
    CHECK(outcome == TL_ELL_FOUND);
    CHECK_NEAR(-found.w, c->gap, (TALUS_SINGLE ? 1e-4 : 1e-10));
    const talus_dvec3 m = tl_dvec3(p[0] + 0.5 * (found.p1.x - found.p2.x + d.x),
                                   p[1] + 0.5 * (found.p1.y - found.p2.y + d.y),
                                   p[2] + 0.5 * (found.p1.z - found.p2.z + d.z));
    CHECK_MSG(tl_dlength(tl_dsub(m, c->point)) <= 1e-8 * (ra + rb),
              "point of %u %u off by %g of %g", c->a, c->b, tl_dlength(tl_dsub(m, c->point)),
              least);
  }
  CHECK(borderline <= 1 + (int)(contacts->count / 10000));
}

static void check_equal_radii(size_t n, bool brute) {
  scene s = paper_spheres(n);
  const talus_detect_bodies round = as_ellipsoids(&s, 1, 1, 1), spheres = as_spheres(&s);
  talus_contacts ours = find(&round, TALUS_ELLIPSOID_NEWTON, 0, 2);
  talus_contacts theirs = find(&spheres, TALUS_ELLIPSOID_NEWTON, 0, 2);
  CHECK_EQ_U64(ours.count, theirs.count);
  for (size_t i = 0; i < ours.count; ++i) {
    const talus_row_contact *a = &ours.data[i], *b = &theirs.data[i];
    CHECK(a->a == b->a && a->b == b->b && a->gap == b->gap);
    CHECK(a->point.x == b->point.x && a->point.y == b->point.y && a->point.z == b->point.z);
    CHECK(a->normal.x == b->normal.x && a->normal.y == b->normal.y && a->normal.z == b->normal.z);
  }
  if (brute && !TALUS_SINGLE) /* scales are float there */
    check_brute(&s, &ours);
  if (!TALUS_SINGLE)
    check_kernels(&s, &ours);
  printf("  %zu spheres: %zu contacts\n", n, ours.count);
  talus_contacts_free(&ours);
  talus_contacts_free(&theirs);
  scene_free(&s);
}

TEST(equal_radii_give_the_contacts_of_the_sphere_code_and_of_brute_force) {
  const char *slow = getenv("TALUS_SLOW");
  check_equal_radii(1024, true);
  check_equal_radii(32768, true);
  check_equal_radii(262144, slow && *slow == '1');
}

TEST(both_methods_of_the_paper_count_the_contacts_of_equal_radii) {
  scene s = paper_spheres(8192);
  const talus_detect_bodies round = as_ellipsoids(&s, 1, 1, 1);
  talus_contacts newton = find(&round, TALUS_ELLIPSOID_NEWTON, 0, 1);
  for (int method = 1; method < 3; ++method) {
    talus_contacts paper = find(&round, (talus_ellipsoid_method)method, 0, 1);
    CHECK_EQ_U64(paper.count, newton.count);
    talus_contacts_free(&paper);
  }
  talus_contacts_free(&newton);
  scene_free(&s);
}

TEST(contacts_do_not_depend_on_threads) {
  scene s = paper_spheres(20000);
  const talus_detect_bodies bodies = as_ellipsoids(&s, 1, 0.6, 0.3);
  talus_contacts one = find(&bodies, TALUS_ELLIPSOID_NEWTON, 5, 1);
  CHECK(one.count > 1000);
  for (int threads = 2; threads < 8; threads += 5) {
    talus_contacts many = find(&bodies, TALUS_ELLIPSOID_NEWTON, 5, threads);
    CHECK_EQ_U64(many.count, one.count);
    CHECK(memcmp(many.data, one.data, one.count * sizeof *one.data) == 0);
    talus_contacts_free(&many);
  }
  talus_contacts_free(&one);
  scene_free(&s);
}

/* Gap of every pair by the careful solver, against the batches. */
TEST(batches_find_what_the_careful_solver_finds_pair_by_pair) {
  scene s = paper_spheres(3000);
  const talus_detect_bodies bodies = as_ellipsoids(&s, 1.2, 0.9, 0.2);
  const double margin = 4;
  talus_contacts found = find(&bodies, TALUS_ELLIPSOID_NEWTON, margin, 1);
  size_t at = 0;
  tl_shape shape = {.kind = TALUS_ELLIPSOID, .size = {1.2, 0.9, 0.2}};
  for (size_t i = 0; i < s.count; ++i)
    for (size_t j = i + 1; j < s.count; ++j) {
      const double *p = &s.position[3 * i], *q = &s.position[3 * j];
      const talus_dvec3 d = tl_dvec3(q[0] - p[0], q[1] - p[1], q[2] - p[2]);
      if (tl_dlength(d) > 1.2 * (s.radius[i] + s.radius[j]) + margin)
        continue;
      talus_quat qi, qj;
      const double *a = &s.rotation[4 * i], *b = &s.rotation[4 * j];
      const double la = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
      const double lb = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3]);
      qi = (talus_quat){TL_R(a[0] / la), TL_R(a[1] / la), TL_R(a[2] / la), TL_R(a[3] / la)};
      qj = (talus_quat){TL_R(b[0] / lb), TL_R(b[1] / lb), TL_R(b[2] / lb), TL_R(b[3] / lb)};
      const tl_ellipsoid e = tl_ellipsoid_of(&shape, TL_R(s.radius[i]), qi);
      const tl_ellipsoid f = tl_ellipsoid_of(&shape, TL_R(s.radius[j]), qj);
      tl_ell_contact c;
      if (!tl_ellipsoids_contact_careful(&e, &f, d, margin, &c))
        continue;
      CHECK(at < found.count);
      const talus_row_contact *got = &found.data[at++];
      CHECK(got->a == i && got->b == j);
      if (c.w < 0.3 * fmin(tl_ellipsoid_least(&e), tl_ellipsoid_least(&f)))
        CHECK_NEAR(got->gap, -c.w, TALUS_SINGLE ? 1e-3 : 1e-9);
    }
  CHECK_EQ_U64(at, found.count);
  talus_contacts_free(&found);
  scene_free(&s);
}

/* The paper's own methods: what they find is found by Newton too, and nearly all the other way. */
TEST(methods_of_the_paper_agree_with_newton_on_ellipsoids) {
  scene s = paper_spheres(20000);
  const talus_detect_bodies bodies = as_ellipsoids(&s, 1.2, 1, 0.7);
  talus_contacts newton = find(&bodies, TALUS_ELLIPSOID_NEWTON, 0, 1);
  talus_contacts opm = find(&bodies, TALUS_ELLIPSOID_OPM, 0, 1);
  talus_contacts both = find(&bodies, TALUS_ELLIPSOID_CHM_OPM, 0, 1);
  CHECK(newton.count > 1000);
  CHECK_NEAR((double)opm.count, (double)newton.count, 0.001 * (double)newton.count);
  CHECK_NEAR((double)both.count, (double)newton.count, 0.001 * (double)newton.count);
  talus_contacts_free(&newton);
  talus_contacts_free(&opm);
  talus_contacts_free(&both);
  scene_free(&s);
}

static uint64_t hash_of_heap(int threads) {
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  def.dt = 2e-3;
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def material = talus_material_def_default();
  talus_shape_def grain = talus_shape_def_default(), floor = talus_shape_def_default();
  talus_body_def body = talus_body_def_default(), ground = talus_body_def_default();
  grain.kind = TALUS_ELLIPSOID;
  grain.size[0] = 0.05, grain.size[1] = 0.03, grain.size[2] = 0.02;
  floor.kind = TALUS_PLANE;
  floor.size[0] = floor.size[1] = floor.size[3] = 0, floor.size[2] = 1;
  CHECK_OK(talus_world_add_material(world, &material, &body.material));
  CHECK_OK(talus_world_add_shape(world, &grain, &body.shape));
  CHECK_OK(talus_world_add_shape(world, &floor, &ground.shape));
  ground.material = body.material;
  ground.kind = TALUS_FIXED;
  CHECK_OK(talus_world_add_body(world, &ground, NULL));
  for (int i = 0; i < 400; ++i) {
    body.position =
        (talus_dvec3){0.07 * (i % 5) + 0.001 * (i % 7), 0.07 * (i / 5 % 5), 0.05 + 0.08 * (i / 25)};
    body.rotation = tl_quat_normalize(tl_quat(1, TL_R(0.1 * (i % 3)), TL_R(0.2 * (i % 5)), 0));
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  CHECK_OK(talus_world_step(world, 200));
  const uint64_t hash = talus_world_hash(world);
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  CHECK(report.contacts_near > 400);
  talus_world_destroy(world);
  return hash;
}

TEST(a_heap_of_ellipsoids_is_the_same_for_any_number_of_threads) {
  SKIP_IF_SHORT_UNLESS_RACES_COUNT();
  const uint64_t one = hash_of_heap(1);
  CHECK_EQ_U64(hash_of_heap(2), one);
  CHECK_EQ_U64(hash_of_heap(5), one);
}

TEST(names_of_methods_go_both_ways_and_wrong_ones_are_refused) {
  talus_ellipsoid_method method;
  for (int k = 0; k < 3; ++k) {
    CHECK_OK(talus_ellipsoid_method_by_name(talus_ellipsoid_method_name((talus_ellipsoid_method)k),
                                            &method));
    CHECK((int)method == k);
  }
  CHECK(talus_ellipsoid_method_name((talus_ellipsoid_method)3) == NULL);
  CHECK(talus_ellipsoid_method_by_name("gjk", &method) == TALUS_ERROR_INVALID);
  CHECK_STR(talus_last_error(),
            "'gjk' is not a method for ellipsoids: these are newton, opm, chm+opm");
  talus_detect_def def = talus_detect_def_default();
  def.narrow.ellipsoid = (talus_ellipsoid_method)7;
  talus_detector *detector;
  CHECK(talus_detector_create(&def, &detector) == TALUS_ERROR_INVALID);
  talus_world_def world_def = talus_world_def_default();
  world_def.narrow.ellipsoid = (talus_ellipsoid_method)7;
  talus_world *world;
  CHECK(talus_world_create(&world_def, &world) == TALUS_ERROR_INVALID);
}

TEST_MAIN()
