/* How much of a body lies in a region: formulas, sums to one, and counting on a fine grid. */
#include "base/random.h"
#include "flow/share.h"
#include "kernels/collide.h"
#include "shape/shape.h"

#include <talus/mesh.h>

#include "check.h"
#include "refuse.h"

#define PI 3.14159265358979323846

static talus_region box_region(double x0, double y0, double z0, double x1, double y1, double z1) {
  return (talus_region){.kind = TALUS_REGION_BOX, .box = {{x0, y0, z0}, {x1, y1, z1}}};
}

static talus_region cylinder_region(double length, double radius) {
  return (talus_region){.kind = TALUS_REGION_CYLINDER,
                        .axis = {TL_R(0), TL_R(0), TL_R(3)},
                        .radius = radius,
                        .length = length};
}

/* ---- balls ----------------------------------------------------------------------------------- */

TEST(a_ball_at_faces_edges_and_corners_of_a_box_counts_with_its_part_within) {
  const talus_region box = box_region(0, 0, 0, 4, 4, 4);
  CHECK_NEAR(tl_share_ball(&box, tl_dvec3(2, 2, 2), 1), 1, 0);
  CHECK_NEAR(tl_share_ball(&box, tl_dvec3(2, 2, 4), 1), 0.5, 1e-15);
  CHECK_NEAR(tl_share_ball(&box, tl_dvec3(2, 2, 4.5), 1), 5.0 / 32, 1e-15);
  CHECK_NEAR(tl_share_ball(&box, tl_dvec3(0, 4, 2), 1), 0.25, 1e-7);
  CHECK_NEAR(tl_share_ball(&box, tl_dvec3(0, 4, 4), 1), 0.125, 1e-7);
  CHECK_NEAR(tl_share_ball(&box, tl_dvec3(2, 2, 2), 100), 64 / (4.0 / 3 * PI * 1e6), 1e-12);
  CHECK(tl_share_ball(&box, tl_dvec3(2, 2, 5.1), 1) == 0);
}

TEST(shares_of_eight_boxes_about_a_place_add_up_to_the_ball) {
  tl_random random = tl_random_start(5, 1, 0);
  for (int i = 0; i < 200; ++i) {
    double at[3], sum = 0, slab = 0;
    for (int k = 0; k < 3; ++k)
      at[k] = 2.2 * tl_random_unit(&random) - 1.1;
    for (int n = 0; n < 8; ++n) {
      const talus_region part =
          box_region(n & 1 ? at[0] : -9, n & 2 ? at[1] : -9, n & 4 ? at[2] : -9, n & 1 ? 9 : at[0],
                     n & 2 ? 9 : at[1], n & 4 ? 9 : at[2]);
      const double share = tl_share_ball(&part, tl_dvec3(0, 0, 0), 1);
      sum += share;
      slab += n & 1 ? share : 0;
    }
    const talus_region beyond = box_region(at[0], -9, -9, 9, 9, 9);
    CHECK_NEAR(sum, 1, 1e-6);
    CHECK_NEAR(slab, tl_share_ball(&beyond, tl_dvec3(0, 0, 0), 1), 1e-6);
  }
}

/* Counted on a grid of 120 places along each axis. */
static double counted(const talus_region *region, talus_dvec3 centre, double radius) {
  enum { N = 120 };
  size_t in = 0, all = 0;
  for (size_t i = 0; i < (size_t)N * N * N; ++i) {
    const talus_dvec3 d =
        tl_dvec3(2 * ((double)(i % N) + 0.5) / N - 1, 2 * ((double)(i / N % N) + 0.5) / N - 1,
                 2 * ((double)(i / N / N) + 0.5) / N - 1);
    if (tl_ddot(d, d) > 1)
      continue;
    all++;
    in += tl_region_contains(region, tl_dadd(centre, tl_dscale(d, radius)));
  }
  return (double)in / (double)all;
}

TEST(a_ball_in_a_box_ball_or_cylinder_is_what_counting_gives) {
  const talus_region all[] = {box_region(-0.3, -0.4, -2, 0.5, 0.9, 0.2),
                              box_region(-0.1, -0.2, -0.7, 0.4, 0.3, 2),
                              cylinder_region(0.8, 0.6),
                              cylinder_region(9, 0.25),
                              {.kind = TALUS_REGION_SPHERE, .at = {0.1, 0.2, 0.3}, .radius = 0.45}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    for (int k = 0; k < 3; ++k) {
      const talus_dvec3 x = tl_dvec3(0.15 * k, 0.3 - 0.2 * k, 0.11 * k);
      CHECK_NEAR(tl_share_ball(&all[i], x, 0.7), counted(&all[i], x, 0.7), 6e-3);
    }
}

/* Two balls a radius apart share 5/16; Viviani's cylinder takes (2/3)(pi - 4/3) of r^3. */
TEST(lenses_and_vivianis_body_have_their_volume) {
  const talus_region ball = {.kind = TALUS_REGION_SPHERE, .radius = 1};
  CHECK_NEAR(tl_share_ball(&ball, tl_dvec3(0, 0, 1), 1), 5.0 / 16, 1e-15);
  const talus_region narrow = cylinder_region(9, 0.5);
  CHECK_NEAR(tl_share_ball(&narrow, tl_dvec3(0.5, 0, 0), 1),
             2.0 / 3 * (PI - 4.0 / 3) / (4.0 / 3 * PI), 1e-6);
  const talus_region wide = cylinder_region(1, 50);
  CHECK_NEAR(tl_share_ball(&wide, tl_dvec3(0, 0, 0.5), 0.4), 0.5, 1e-15);
}

/* ---- other bodies ---------------------------------------------------------------------------- */

typedef struct rig {
  tl_model model;
  tl_shape shape;
  tl_samples samples;
  talus_real scale;
  uint32_t of;
} rig;

static void rig_make(rig *r, const talus_shape_def *def, double scale) {
  memset(r, 0, sizeof *r);
  CHECK_OK(tl_shape_make(def, &r->shape));
  r->scale = (talus_real)scale;
  r->model.shapes.data = &r->shape;
  r->model.shapes.count = 1;
  r->model.property.scale = &r->scale;
  r->model.property.shape = &r->of;
  CHECK_OK(tl_samples_reserve(&r->samples, &r->model));
}

static void rig_free(rig *r) {
  tl_samples_free(&r->samples);
  tl_shape_release(&r->shape);
}

static const talus_quat upright = {TL_R(1), TL_R(0), TL_R(0), TL_R(0)};

static double share_of(rig *r, talus_region region, talus_quat q) {
  return tl_share_body(&r->samples, &r->model, &region, 0, tl_dvec3(0, 0, 0), q);
}

TEST(a_plate_is_clipped_as_the_box_it_is) {
  rig r;
  const double exact = TALUS_SINGLE ? 1e-5 : 1e-12;
  rig_make(&r, &(talus_shape_def){.kind = TALUS_BOX, .size = {2, 2, 0.2}}, 1);
  CHECK_NEAR(share_of(&r, box_region(-1, -1, -0.1, 1, 1, 0.1), upright), 1, exact);
  CHECK_NEAR(share_of(&r, box_region(-1, -1, 0.1, 1, 1, 3), upright), 0, exact);
  CHECK_NEAR(share_of(&r, box_region(-0.5, -0.5, 0.05, 0.5, 0.5, 1), upright), 0.25 / 4, exact);
  const talus_quat eighth = {TL_R(0.92387953251128674), TL_R(0), TL_R(0),
                             TL_R(0.38268343236508978)};
  const double corner = 1 - 0.5 * (2 - sqrt(2)) * (2 - sqrt(2));
  CHECK_NEAR(share_of(&r, box_region(0, 0, 0, 1, 1, 1), eighth), corner / 8, exact);
  rig_free(&r);
}

TEST(a_hull_is_clipped_at_its_faces) {
  const double points[] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};
  rig r;
  rig_make(&r, &(talus_shape_def){.kind = TALUS_HULL, .points = points, .point_count = 6}, 2);
  const talus_quat q = r.shape.axes; /* back to the frame of the points */
  const talus_quat back = {q.w, -q.x, -q.y, -q.z};
  const double exact = TALUS_SINGLE ? 1e-5 : 1e-12;
  CHECK_NEAR(share_of(&r, box_region(0.6, -9, -9, 9, 9, 9), back), 0.5 * 0.7 * 0.7 * 0.7, exact);
  CHECK_NEAR(share_of(&r, box_region(0, 0, 0, 9, 9, 9), back), 0.125, exact);
  rig_free(&r);
}

/* Twenty cuts each by a plane through the middle: half. By samples, to 2 %. */
TEST(other_shapes_are_counted_by_places_within_them) {
  const double clump[] = {0, 0, 0.5, 0.5, 0, 0, -0.5, 0.5};
  talus_mesh_recipe recipe = talus_mesh_recipe_default();
  talus_mesh mesh;
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  const talus_shape_def defs[] = {{.kind = TALUS_ELLIPSOID, .size = {1, 0.5, 0.3}},
                                  {.kind = TALUS_CAPSULE, .size = {0.3, 1}},
                                  {.kind = TALUS_CYLINDER, .size = {0.5, 0.1}},
                                  {.kind = TALUS_SUPERELLIPSOID, .size = {1, 0.7, 0.5, 4, 3}},
                                  {.kind = TALUS_CLUMP, .points = clump, .point_count = 2},
                                  {.kind = TALUS_MESH,
                                   .points = mesh.vertex[0],
                                   .point_count = mesh.vertices,
                                   .triangles = mesh.triangle[0],
                                   .triangle_count = mesh.triangles}};
  tl_random random = tl_random_start(5, 2, 0);
  for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
    rig r;
    rig_make(&r, &defs[i], 0.5);
    for (int k = 0; k < 20; ++k) {
      double q[4], length = 0;
      for (int j = 0; j < 4; ++j)
        q[j] = tl_random_unit(&random) - 0.5, length += q[j] * q[j];
      length = sqrt(length);
      const talus_quat turn = {(talus_real)(q[0] / length), (talus_real)(q[1] / length),
                               (talus_real)(q[2] / length), (talus_real)(q[3] / length)};
      CHECK_NEAR(share_of(&r, box_region(0, -9, -9, 9, 9, 9), turn), 0.5, 0.02);
      CHECK_NEAR(share_of(&r, cylinder_region(9, 9), turn), 1, 0);
    }
    rig_free(&r);
  }
  talus_mesh_free(&mesh);
}

/* A ring of many triangles: within its middle circle lies 1/2 - 2 r/(3 pi R) (Pappus). Of 160,000
 * the tree finds those above a place in 0.1 s for all places; one after the other took 5 s. */
TEST(places_are_within_a_ring_of_many_triangles) {
  talus_mesh_recipe recipe = {.kind = "torus", .triangles = check_cases(160000), .size = {1, 0.4}};
  talus_mesh mesh;
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  rig r;
  rig_make(&r,
           &(talus_shape_def){.kind = TALUS_MESH,
                              .points = mesh.vertex[0],
                              .point_count = mesh.vertices,
                              .triangles = mesh.triangle[0],
                              .triangle_count = mesh.triangles},
           1);
  CHECK_NEAR(share_of(&r, box_region(0, -9, -9, 9, 9, 9), upright), 0.5, 0.02);
  CHECK_NEAR(share_of(&r, cylinder_region(9, 0.59), upright), 0, 0);
  CHECK_NEAR(share_of(&r, cylinder_region(9, 1), upright), 0.5 - 2 * 0.4 / (3 * PI), 0.02);
  rig_free(&r);
  talus_mesh_free(&mesh);
}

TEST(a_shell_is_counted_on_its_surface) {
  const double corners[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
  const uint32_t triangles[] = {0, 1, 2, 0, 2, 3};
  rig r;
  rig_make(&r,
           &(talus_shape_def){.kind = TALUS_MESH,
                              .points = corners,
                              .point_count = 4,
                              .triangles = triangles,
                              .triangle_count = 2,
                              .thickness = 0.01},
           2);
  CHECK_NEAR(share_of(&r, box_region(-9, -9, -9, 0, 9, 9), upright), 0.5, 0.02);
  CHECK_NEAR(share_of(&r, box_region(-9, 0.5, -9, 9, 9, 9), upright), 0.25, 0.02);
  rig_free(&r);
}

/* The part above 3/4 of the height of a cone, whose centre of mass is at 1/4: (1/4)^3. */
TEST(a_cone_is_cut_about_its_centre_of_mass) {
  rig r;
  rig_make(&r, &(talus_shape_def){.kind = TALUS_CONE, .size = {1, 4}}, 1);
  CHECK_NEAR(share_of(&r, box_region(-9, -9, 0, 9, 9, 9), upright), 27.0 / 64, 0.01);
  CHECK_NEAR(share_of(&r, box_region(-9, -9, 2, 9, 9, 9), upright), 1.0 / 64, 0.005);
  rig_free(&r);
}

/* A box that stands on its corner in a round region has no formula. */
TEST(a_box_in_a_round_region_is_counted_as_well) {
  rig r;
  rig_make(&r, &(talus_shape_def){.kind = TALUS_BOX, .size = {2, 1, 4}}, 0.5);
  const talus_region ball = {.kind = TALUS_REGION_SPHERE, .radius = 0.2};
  CHECK_NEAR(share_of(&r, ball, upright), 4.0 / 3 * PI * 0.008, 0.01);
  CHECK_NEAR(share_of(&r, cylinder_region(1, 9), upright), 0.5, 0.01);
  rig_free(&r);
}

/* A step that found no memory is asked again, and must not take shapes without room for known. */
TEST(shapes_that_found_no_memory_are_counted_later) {
#if REFUSES_MEMORY
  rig r;
  rig_make(&r, &(talus_shape_def){.kind = TALUS_CAPSULE, .size = {0.3, 1}}, 0.5);
  for (long at = 1; at <= 3; ++at) {
    tl_samples_free(&r.samples);
    refuse_at = at;
    CHECK(tl_samples_reserve(&r.samples, &r.model) == TALUS_ERROR_MEMORY);
    refuse_at = -1;
    CHECK_OK(tl_samples_reserve(&r.samples, &r.model));
    CHECK_EQ_U64(r.samples.row.count, 1);
    CHECK(r.samples.row.data[0] < r.samples.count.count);
    CHECK_NEAR(share_of(&r, box_region(0, -9, -9, 9, 9, 9), upright), 0.5, 0.02);
  }
  rig_free(&r);
#else
  SKIP("the allocator is the sanitizer's");
#endif
}

TEST(a_region_that_spans_a_period_has_no_ends) {
  rig r;
  rig_make(&r, &(talus_shape_def){.kind = TALUS_SPHERE, .size = {1}}, 1);
  r.model.domain = (talus_domain_def){
      .enabled = true, .box = {{0, 0, 0}, {4, 4, 8}}, .periodic = {true, true, true}};
  const talus_region box = box_region(0, 0, 0, 4, 4, 4);
  CHECK_NEAR(tl_share_body(&r.samples, &r.model, &box, 0, tl_dvec3(4, 0, 2), upright), 1, 1e-15);
  CHECK_NEAR(tl_share_body(&r.samples, &r.model, &box, 0, tl_dvec3(2, 2, 8), upright), 0.5, 1e-15);
  rig_free(&r);
}

TEST_MAIN()
