/* Convex bodies beside open sheets, against a slow reference: a separating direction of the body
 * and each triangle, in long double. Who is proven to be apart has no contact that is deeper. */
#include "check.h"
#include "convex_reference.h"
#include "narrow/narrow.h"
#include "narrow/parts.h"
#include "shape/mesh.h"

#define MARGIN 0.05

static tl_shape make_sheet(const double *points, size_t point_count, const uint32_t *triangles,
                           size_t triangle_count) {
  talus_shape_def def = talus_shape_def_default();
  tl_shape shape;
  def.kind = TALUS_MESH;
  def.points = points, def.point_count = point_count;
  def.triangles = triangles, def.triangle_count = triangle_count;
  def.sides = TALUS_SIDES_BOTH;
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

/* Two wings, with the fold down. */
static tl_shape make_wings(void) {
  static const double points[] = {0,   -0.5, 0,   0,    0.5,  0,   0.6,  -0.5, 0.3,
                                  0.6, 0.5,  0.3, -0.6, -0.5, 0.3, -0.6, 0.5,  0.3};
  static const uint32_t triangles[] = {0, 2, 3, 0, 3, 1, 0, 1, 5, 0, 5, 4};
  return make_sheet(points, 6, triangles, 4);
}

/* Three wings on one edge. */
static tl_shape make_star(void) {
  static const double points[] = {0,   0, -0.5, 0,    0,   0.5, 0.6,  0,    -0.5,
                                  0.6, 0, 0.5,  -0.3, 0.5, 0,   -0.3, -0.5, 0};
  static const uint32_t triangles[] = {0, 1, 2, 2, 1, 3, 0, 1, 4, 0, 1, 5};
  return make_sheet(points, 6, triangles, 4);
}

/* What is above a height of a ball with bumps: a bowl. */
static tl_shape make_bowl(void) {
  tl_mesh mesh = {0};
  CHECK_OK(tl_mesh_make_noisy_sphere(80, 1.3, 3, &mesh));
  size_t kept = 0;
  for (size_t t = 0; t < mesh.triangles; ++t) {
    const uint32_t *v = mesh.triangle[t];
    if (mesh.vertex[v[0]][2] + mesh.vertex[v[1]][2] + mesh.vertex[v[2]][2] > 0)
      memmove(mesh.triangle[kept++], v, sizeof mesh.triangle[0]);
  }
  const tl_shape shape = make_sheet(mesh.vertex[0], mesh.vertices, mesh.triangle[0], kept);
  tl_mesh_release(&mesh);
  return shape;
}

/* One triangle of an unturned mesh, as the reference takes bodies. */
static ld separation(const tl_posed *body, const tl_posed *mesh, uint32_t triangle,
                     int directions) {
  double points[9];
  for (int k = 0; k < 3; ++k) {
    const uint32_t vertex = mesh->shape->face_vertex[3 * (size_t)triangle + (size_t)k];
    memcpy(points + 3 * k, mesh->shape->points + 3 * (size_t)vertex, 3 * sizeof *points);
  }
  /* Most are far: along the way to the middle. A lower bound is all that is asked for of them. */
  const lvec middle = lv((ld)(points[0] + points[3] + points[6]) / 3 + (ld)mesh->position.x,
                         (ld)(points[1] + points[4] + points[7]) / 3 + (ld)mesh->position.y,
                         (ld)(points[2] + points[5] + points[8]) / 3 + (ld)mesh->position.z);
  const tl_shape alone = {.kind = TALUS_HULL, .points = points, .point_count = 3};
  tl_posed posed = *mesh;
  posed.shape = &alone;
  const ld quick = ref_separation(body, &posed, l_unit(middle));
  return quick > MARGIN ? quick : ref_largest_separation(body, &posed, directions);
}

static const talus_shape_kind kinds[] = {TALUS_BOX,           TALUS_CYLINDER, TALUS_CONE,
                                         TALUS_HULL,          TALUS_CAPSULE,  TALUS_ELLIPSOID,
                                         TALUS_SUPERELLIPSOID};
#define KINDS (sizeof kinds / sizeof *kinds)

typedef struct sums {
  size_t apart, touching;
} sums;

static void compare(const tl_shape *sheet, talus_shape_kind kind, uint64_t seed, sums *tally) {
  static tl_point points[4096];
  tl_random random = tl_random_start(seed, 7, (uint32_t)kind);
  tl_shape shape = random_convex(&random, kind);
  const tl_posed mesh = {.shape = sheet, .scale = 1, .rotation = tl_quat_identity()};
  tl_posed body = {
      .shape = &shape, .scale = TL_R(uniform(&random, 0.2, 1)), .rotation = random_quat(&random)};
  tl_posed wall = mesh;
  wall.position =
      tl_dvec3(uniform(&random, -1, 1), uniform(&random, -1, 1), uniform(&random, -1, 1));
  const int count = tl_narrow_pair(&body, &wall, TL_R(MARGIN), points);
  double deepest = HUGE_VAL;
  for (int i = 0; i < count; ++i)
    deepest = fmin(deepest, (double)points[i].gap);
  ld least = HUGE_VALL;
  for (uint32_t t = 0; t < sheet->face_count; ++t)
    least = fminl(least, separation(&body, &wall, t, 200));
  tl_shape_release(&shape);
  const double noise = TALUS_SINGLE ? 1e-5 : 1e-7, apart = (double)least;
  tally->apart += apart > 0, tally->touching += apart <= 0;
  CHECK_MSG(apart <= 0 || deepest > apart - noise, "kind %d, seed %d: %g m apart, a gap of %g",
            (int)kind, (int)seed, apart, deepest);
  /* Walks of the reference end at ridges: it is a lower bound. */
  CHECK_MSG(apart <= 0 || apart > MARGIN - noise || (count > 0 && deepest < 1.5 * apart + 1e-3),
            "kind %d, seed %d: %g m apart, %d contacts, the nearest %g", (int)kind, (int)seed,
            apart, count, deepest);
  CHECK_MSG(apart > -noise || deepest < 0, "kind %d, seed %d: overlap of %g, %d contacts, %g",
            (int)kind, (int)seed, -apart, count, deepest);
}

static void compare_all(tl_shape sheet) {
  sums tally = {0};
  for (uint64_t seed = 1; seed <= check_cases(160); ++seed)
    for (size_t k = 0; k < KINDS; ++k)
      compare(&sheet, kinds[k], seed, &tally);
  tl_shape_release(&sheet);
  CHECK(tally.apart > 0 && tally.touching > 0);
}

/* ---- periodic -------------------------------------------------------------------------------- */

/* A sheet that is long beside the periods: what any of its images goes through has a way out, and
 * what is apart from all of them has none. */
static void compare_images(const tl_shape *sheet, talus_shape_kind kind, uint64_t seed,
                           sums *tally) {
  static tl_point points[4096];
  const double period[3] = {1.3, 1.1, 0.9};
  tl_random random = tl_random_start(seed, 8, (uint32_t)kind);
  tl_shape shape = random_convex(&random, kind);
  tl_model model = {.domain = {.enabled = true, .periodic = {true, true, true}}};
  model.domain.box.hi = tl_dvec3(period[0], period[1], period[2]);
  tl_ordered o = {.margin = TL_R(MARGIN)};
  o.first = (tl_posed){
      .shape = &shape, .scale = TL_R(uniform(&random, 0.1, 0.4)), .rotation = random_quat(&random)};
  o.second = (tl_posed){.shape = sheet, .scale = 1, .rotation = tl_quat_identity()};
  o.second.position = tl_dvec3(uniform(&random, -0.65, 0.65), uniform(&random, -0.55, 0.55),
                               uniform(&random, -0.45, 0.45));
  CHECK(tl_parts_has_images(&model, &o));
  const int count = tl_parts_images(&model, &o, points);
  double deepest = HUGE_VAL;
  for (int i = 0; i < count; ++i)
    deepest = fmin(deepest, (double)points[i].gap);
  ld least = HUGE_VALL;
  for (int i = 0; i < 125; ++i) {
    tl_posed wall = o.second;
    wall.position =
        tl_dadd(wall.position, tl_dvec3((i % 5 - 2) * period[0], (i / 5 % 5 - 2) * period[1],
                                        (i / 25 - 2) * period[2]));
    for (uint32_t t = 0; t < sheet->face_count; ++t)
      least = fminl(least, separation(&o.first, &wall, t, 200));
  }
  tl_shape_release(&shape);
  const double noise = TALUS_SINGLE ? 1e-5 : 1e-7, apart = (double)least;
  tally->apart += apart > 0, tally->touching += apart <= 0;
  CHECK_MSG(apart <= 0 || deepest > apart - noise, "kind %d, seed %d: %g m apart, a gap of %g",
            (int)kind, (int)seed, apart, deepest);
  CHECK_MSG(apart > -noise || deepest < 0, "kind %d, seed %d: overlap of %g, %d contacts, %g",
            (int)kind, (int)seed, -apart, count, deepest);
}

TEST(bodies_about_images_of_sheets) {
  tl_shape sheets[] = {make_wings(), make_star(), make_bowl()};
  sums tally = {0};
  for (uint64_t seed = 1; seed <= check_cases(60); ++seed)
    for (size_t k = 0; k < KINDS; ++k)
      compare_images(&sheets[seed % 3], kinds[k], seed, &tally);
  for (int i = 0; i < 3; ++i)
    tl_shape_release(&sheets[i]);
  CHECK(tally.apart > 0 && tally.touching > 0);
}

TEST(bodies_about_the_ends_of_two_wings) { compare_all(make_wings()); }
TEST(bodies_about_three_wings_on_one_edge) { compare_all(make_star()); }
TEST(bodies_about_the_rim_of_a_bowl) { compare_all(make_bowl()); }

TEST_MAIN()
