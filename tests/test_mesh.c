/* Meshes: what is read, made, checked and weighed. Messages of files: tests/cli/test_mesh.py. */
#include "base/random.h"
#include "check.h"
#include <talus/mesh.h>
#include "kernels/triangle.h"
#include "shape/mesh_make.h"
#include "shape/mesh_tools.h"

static tl_mesh parse(const char *path, const char *text) {
  tl_mesh mesh = {0};
  CHECK_OK(tl_mesh_parse(path, text, strlen(text), 1, &mesh));
  return mesh;
}

static tl_mesh_report check(const tl_mesh *mesh) {
  tl_mesh_report report;
  CHECK_OK(tl_mesh_check(mesh, &report));
  return report;
}

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 9 9 9\n"
                                  "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/* ---- files ----------------------------------------------------------------------------------- */

TEST(unused_vertices_are_left_out) {
  tl_mesh mesh = parse("a.obj", tetrahedron);
  CHECK_EQ_U64(mesh.vertices, 4);
  CHECK_EQ_U64(mesh.triangles, 4);
  CHECK(check(&mesh).closed);
  tl_mesh_release(&mesh);
}

TEST(vertices_of_equal_place_are_one) {
  tl_mesh mesh = parse("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 0 -0.0\nv 1 1 0\nv 0 1 0\n"
                                "f 1 2 3\nf 4 5 6\n");
  CHECK_EQ_U64(mesh.vertices, 4);
  CHECK_EQ_U64(check(&mesh).open_edges, 4);
  tl_mesh_release(&mesh);
}

/* An arrow head: a fan from its first corner would turn over. */
TEST(concave_faces_become_triangles_that_all_turn_one_way) {
  tl_mesh mesh = parse("a.obj", "v 4 0 0\nv 0 3 0\nv 1 0 0\nv 0 -3 0\nf 1 2 3 4\n");
  tl_mesh other = parse("b.obj", "v 4 0 0\nv 0 3 0\nv 1 0 0\nv 0 -3 0\nf 2 3 4 1\n");
  CHECK_NEAR(check(&mesh).area, 9, 1e-14);
  CHECK_NEAR(check(&other).area, 9, 1e-14);
  CHECK_EQ_U64(check(&other).facets, 1);
  tl_mesh_release(&mesh);
  tl_mesh_release(&other);
}

TEST(what_is_written_is_read_again) {
  static const char *const names[] = {"mesh.ply", "mesh.obj", "mesh.stl"};
  const talus_mesh_recipe recipe = {.kind = "noisy-sphere", .triangles = 320, .noise = 1.5};
  talus_mesh made, found;
  CHECK_OK(talus_mesh_make(&recipe, &made));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(talus_mesh_write(&made, names[i]));
    CHECK_OK(talus_mesh_read(names[i], 1, &found));
    CHECK_EQ_U64(found.vertices, made.vertices);
    CHECK_EQ_U64(found.triangles, made.triangles);
    if (i < 2) { /* STL has single precision and another order */
      CHECK(memcmp(found.vertex, made.vertex, made.vertices * sizeof *made.vertex) == 0);
      CHECK(memcmp(found.triangle, made.triangle, made.triangles * sizeof *made.triangle) == 0);
    }
    talus_mesh_free(&found);
    remove(names[i]);
  }
  CHECK(talus_mesh_write(&made, "mesh.step") == TALUS_ERROR_INVALID);
  talus_mesh_free(&made);
}

TEST(damaged_meshes_are_refused_or_whole) {
  static const char ply[] = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\n"
                            "property float y\nproperty float z\nelement face 2\n"
                            "property list uchar int vertex_index\nend_header\n"
                            "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n4 0 1 2 3\n";
  static const char *const names[] = {"a.obj", "a.ply"};
  const char *const samples[] = {tetrahedron, ply};
  const size_t before = tl_memory_count().bytes;
  int taken = 0;
  const uint64_t cases = check_cases(12000);
  for (uint64_t serial = 0; serial < cases; ++serial) {
    tl_random random = tl_random_start(20, 0, serial);
    char bytes[512];
    size_t n = strlen(samples[serial % 2]);
    memcpy(bytes, samples[serial % 2], n);
    for (uint32_t k = tl_random_u32(&random) % 4; k > 0; --k) {
      static const char likely[] = "0123456789.-eE \n,/vf\0\xff";
      bytes[tl_random_u32(&random) % n] = likely[tl_random_u32(&random) % (sizeof likely - 1)];
    }
    if (tl_random_u32(&random) % 4 == 0)
      n = tl_random_u32(&random) % n;
    tl_mesh mesh = {0};
    if (tl_mesh_parse(names[serial % 2], bytes, n, 1, &mesh) == TALUS_OK) {
      for (size_t i = 0; i < 3 * mesh.triangles; ++i)
        CHECK(mesh.triangle[i / 3][i % 3] < mesh.vertices);
      (void)check(&mesh);
      taken++;
    }
    tl_mesh_release(&mesh);
  }
  CHECK_MSG(taken > 20, "%d", taken);
  CHECK_EQ_U64(tl_memory_count().bytes, before);
}

/* ---- what it is ------------------------------------------------------------------------------ */

TEST(an_open_a_flipped_and_a_crowded_edge_are_told) {
  tl_mesh mesh = parse("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
  tl_mesh_report report = check(&mesh);
  CHECK(!report.closed && report.manifold && report.oriented && report.shells == 1);
  CHECK_EQ_U64(report.open_edges, 3);
  CHECK_EQ_U64(report.first_open[0], 2); /* of triangle 0, from its second corner */
  CHECK_EQ_U64(report.first_open[1], 1);
  CHECK(report.volume == 0);
  tl_mesh_release(&mesh);
  mesh = parse("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 3 4\nf 2 3 4\n");
  report = check(&mesh);
  CHECK(report.closed && !report.oriented);
  CHECK_EQ_U64(report.flipped_edges, 3);
  tl_mesh_release(&mesh);
  mesh = parse("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -1 0\n"
                        "f 1 2 3\nf 1 2 4\nf 2 1 5\nf 3 2 1\nf 1 1 2\n");
  report = check(&mesh);
  CHECK(!report.manifold && report.crowded_edges == 1 && report.duplicates == 1);
  CHECK_EQ_U64(report.degenerate, 1);
  tl_mesh_release(&mesh);
}

TEST(facets_are_what_a_surface_is_made_of_however_it_is_cut) {
  static const size_t counts[] = {2, 200, 20000};
  tl_mesh mesh = {0};
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(tl_mesh_make_plate(4, 3, counts[i], &mesh));
    CHECK_EQ_U64(check(&mesh).facets, 1);
  }
  CHECK_OK(tl_mesh_make_box((const double[]){1, 2, 3}, &mesh));
  CHECK_EQ_U64(check(&mesh).facets, 6);
  CHECK_OK(tl_mesh_make_icosphere(5120, 1, &mesh));
  CHECK_EQ_U64(check(&mesh).facets, 5120);
  tl_mesh_release(&mesh);
}

/* ---- mass ------------------------------------------------------------------------------------ */

static void check_moments(const tl_moments *m, const double wanted[10]) {
  CHECK_NEAR(m->volume, wanted[0], 1e-13 * wanted[0]);
  for (int k = 0; k < 3; ++k)
    CHECK_NEAR(m->first[k], wanted[1 + k], 1e-13);
  for (int k = 0; k < 6; ++k)
    CHECK_NEAR(m->second[k], wanted[4 + k], 1e-13);
}

TEST(cube_weighs_what_a_cube_weighs) {
  tl_mesh mesh = {0};
  tl_moments m;
  CHECK_OK(tl_mesh_make_box((const double[]){1, 1, 1}, &mesh));
  CHECK_OK(tl_mesh_moments(&mesh, &m));
  check_moments(&m, (const double[]){1, 0, 0, 0, 1. / 12, 1. / 12, 1. / 12, 0, 0, 0});
  /* The skin: faces at 1/2 have 1/4 each, those along an axis 1/12. */
  CHECK_OK(tl_mesh_shell_moments(&mesh, &m));
  const double skin = 2 * 0.25 + 4. / 12;
  check_moments(&m, (const double[]){6, 0, 0, 0, skin, skin, skin, 0, 0, 0});
  tl_mesh_release(&mesh);
}

/* Three unit cubes: at the origin, beside it along x, and above it along z. */
TEST(l_block_weighs_what_its_three_cubes_weigh) {
  tl_mesh mesh =
      parse("l.obj", "v 0 0 0\nv 2 0 0\nv 2 0 1\nv 1 0 1\nv 1 0 2\nv 0 0 2\n"
                     "v 0 1 0\nv 2 1 0\nv 2 1 1\nv 1 1 1\nv 1 1 2\nv 0 1 2\n"
                     "f 1 2 3 4 5 6\nf 12 11 10 9 8 7\nf 1 7 8 2\nf 2 8 9 3\nf 3 9 10 4\n"
                     "f 4 10 11 5\nf 5 11 12 6\nf 6 12 7 1\n");
  const tl_mesh_report report = check(&mesh);
  CHECK(report.closed && report.oriented && report.manifold);
  CHECK_EQ_U64(report.facets, 8);
  const double cube[3][3] = {{0.5, 0.5, 0.5}, {1.5, 0.5, 0.5}, {0.5, 0.5, 1.5}};
  static const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  double wanted[10] = {3};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k)
      wanted[1 + k] += cube[i][k];
    for (int k = 0; k < 6; ++k)
      wanted[4 + k] += cube[i][axes[k][0]] * cube[i][axes[k][1]] + (k < 3 ? 1. / 12 : 0);
  }
  tl_moments m;
  CHECK_OK(tl_mesh_moments(&mesh, &m));
  check_moments(&m, wanted);
  tl_mesh_release(&mesh);
}

/* Summed from vertices it would be 0.746 (docs/sources.md D8). */
TEST(plate_weighs_what_a_lamina_weighs) {
  tl_mesh mesh = {0};
  tl_moments m;
  static const size_t counts[] = {2, 5000};
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(tl_mesh_make_plate(2, 3, counts[i], &mesh));
    CHECK_OK(tl_mesh_shell_moments(&mesh, &m));
    check_moments(&m, (const double[]){6, 0, 0, 0, 6 * 4. / 12, 6 * 9. / 12, 0, 0, 0, 0});
  }
  tl_mesh_release(&mesh);
}

TEST(inside_out_is_no_solid) {
  tl_mesh mesh = parse("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
  tl_moments m;
  CHECK(tl_mesh_moments(&mesh, &m) == TALUS_ERROR_INVALID);
  CHECK_NEAR(check(&mesh).volume, -1. / 6, 1e-16);
  tl_mesh_release(&mesh);
}

/* ---- made ------------------------------------------------------------------------------------ */

TEST(everything_made_is_closed_oriented_and_right_side_out) {
  for (size_t i = 0; talus_mesh_recipe_name(i); ++i) {
    talus_mesh_recipe recipe = talus_mesh_recipe_default();
    recipe.kind = talus_mesh_recipe_name(i);
    talus_mesh mesh;
    talus_mesh_info info;
    CHECK_OK(talus_mesh_make(&recipe, &mesh));
    CHECK_OK(talus_mesh_measure(&mesh, &info));
    CHECK_MSG(info.oriented && info.manifold && info.shells == 1 && info.degenerate == 0 &&
                  info.duplicates == 0,
              "%s", recipe.kind);
    const bool is_open = strcmp(recipe.kind, "plate") == 0 || strcmp(recipe.kind, "funnel") == 0 ||
                         strcmp(recipe.kind, "screw") == 0;
    CHECK_MSG(info.closed != is_open && (is_open || info.volume > 0), "%s", recipe.kind);
    talus_mesh_free(&mesh);
  }
  CHECK(talus_mesh_recipe_name(99) == NULL);
}

/* Lengths alone must not decide how many there are: 2,000,000 were made where 80 were asked for. */
TEST(a_narrow_strip_has_about_as_many_triangles_as_were_asked_for) {
  static const double sizes[][2] = {{1e18, 0.3}, {1, 1e-90}, {1e-90, 0.3}, {1, 50}, {2, 1}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    talus_mesh_recipe recipe = talus_mesh_recipe_default();
    recipe.kind = "plate";
    recipe.size[0] = sizes[i][0], recipe.size[1] = sizes[i][1];
    recipe.triangles = 80;
    talus_mesh mesh;
    CHECK_OK(talus_mesh_make(&recipe, &mesh));
    CHECK_MSG(mesh.triangles >= 60 && mesh.triangles <= 100, "%zu", mesh.triangles);
    talus_mesh_free(&mesh);
  }
}

/* By Pappus and Guldin: the profile's moment about the axis, which a polygon of 48 sides has less
 * of by the share sinc(2 pi / 48). Ends lose what NEAR_END leaves out. */
TEST(threads_have_their_volume_and_their_helices) {
  const double pitch = 0.0015, outer = 0.005, depth = pitch * 5 / 16 * sqrt(3.0);
  const double inner = outer - depth;
  const double flank = (outer * outer + outer * inner + inner * inner) / 3; /* mean of r^2 */
  const double mean = outer * outer / 8 + inner * inner / 4 + flank * 5 / 8;
  const tl_mesh_thread thread = {.diameter = 2 * outer,
                                 .pitch = pitch,
                                 .length = 20 * pitch,
                                 .width = 0.016,
                                 .clearance = 5e-5,
                                 .sides = 48};
  tl_mesh mesh = {0};
  CHECK_OK(tl_mesh_make_bolt(&thread, &mesh));
  const double turn = 6.283185307179586, side = turn / 48;
  const double wanted = turn / 2 * (sin(side) / side) * mean * thread.length;
  CHECK_NEAR(check(&mesh).volume, wanted, 2e-3 * wanted);
  CHECK(mesh.triangles < 10000);
  CHECK_OK(tl_mesh_make_nut(&thread, &mesh));
  CHECK(check(&mesh).closed && mesh.triangles < 10000);
  tl_mesh_release(&mesh);
}

/* Area of a cone's wall, and of a helicoid: the integral of sqrt(r^2 + c^2) over r and the angle.
 */
TEST(funnels_and_screws_have_their_areas) {
  const double turn = 6.283185307179586;
  talus_mesh_recipe recipe = {.kind = "funnel", .triangles = 1856, .size = {0.5, 0.12, 0.4}};
  talus_mesh mesh;
  talus_mesh_info info;
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  CHECK_OK(talus_mesh_measure(&mesh, &info));
  CHECK_NEAR(info.area, turn / 2 * 0.62 * hypot(0.38, 0.4), 5e-3);
  talus_mesh_free(&mesh);
  recipe = (talus_mesh_recipe){.kind = "screw", .triangles = 5000, .size = {0.1, 0.08, 0.4, 0.02}};
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  CHECK_OK(talus_mesh_measure(&mesh, &info));
  double area = 0, c = 0.08 / turn;
  for (int i = 0; i < 1000; ++i) {
    const double r = 0.02 + 0.08 * (i + 0.5) / 1000;
    area += 0.08 / 1000 * hypot(r, c) * turn * 5;
  }
  CHECK_NEAR(info.area, area, 5e-3 * area);
  talus_mesh_free(&mesh);
}

TEST(icospheres_approach_the_sphere) {
  double before = 0;
  for (size_t n = 80; n <= 5120; n *= 4) {
    tl_mesh mesh = {0};
    CHECK_OK(tl_mesh_make_icosphere(n, 1, &mesh));
    CHECK_EQ_U64(mesh.vertices, n / 2 + 2);
    const double error = 4.18879020478639098 - check(&mesh).volume;
    if (before > 0)
      CHECK_NEAR(before / error, 4, 0.4);
    before = error;
    tl_mesh_release(&mesh);
  }
  tl_mesh mesh = {0};
  CHECK(tl_mesh_make_icosphere(100, 1, &mesh) == TALUS_ERROR_INVALID);
}

TEST(noisy_spheres_keep_within_their_radii_and_follow_their_seed) {
  tl_mesh a = {0}, b = {0}, c = {0};
  CHECK_OK(tl_mesh_make_noisy_sphere(5120, 1.4, 3, &a));
  CHECK_OK(tl_mesh_make_noisy_sphere(5120, 1.4, 3, &b));
  CHECK_OK(tl_mesh_make_noisy_sphere(5120, 1.4, 4, &c));
  CHECK(memcmp(a.vertex, b.vertex, a.vertices * sizeof *a.vertex) == 0);
  CHECK(memcmp(a.vertex, c.vertex, a.vertices * sizeof *a.vertex) != 0);
  double least = 9, most = 0;
  for (size_t i = 0; i < a.vertices; ++i) {
    const double *p = a.vertex[i], r = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    least = fmin(least, r);
    most = fmax(most, r);
  }
  CHECK_MSG(least >= 1 - 1e-15 && least < 1.15 && most <= 1.4 + 1e-15 && most > 1.25, "%g to %g",
            least, most);
  CHECK_OK(tl_mesh_make_noisy_sphere(5120, 1, 4, &c));
  CHECK_NEAR(c.vertex[77][0] * c.vertex[77][0] + c.vertex[77][1] * c.vertex[77][1] +
                 c.vertex[77][2] * c.vertex[77][2],
             1, 1e-15);
  CHECK(tl_mesh_make_noisy_sphere(5120, 0.5, 4, &c) == TALUS_ERROR_INVALID);
  tl_mesh_release(&a);
  tl_mesh_release(&b);
  tl_mesh_release(&c);
}

/* ---- tools ----------------------------------------------------------------------------------- */

TEST(crossings_are_those_of_every_pair) {
  tl_mesh mesh = {0};
  CHECK_OK(tl_mesh_make_noisy_sphere(320, 1.3, 5, &mesh));
  size_t count;
  uint32_t first[2];
  CHECK_OK(tl_mesh_find_crossings(&mesh, &count, first));
  CHECK(count == 0 && first[0] == TL_MESH_NONE);
  for (size_t i = 0; i < mesh.vertices; i += 7) /* spikes to the other side */
    for (int k = 0; k < 3; ++k)
      mesh.vertex[i][k] *= -1.5;
  CHECK_OK(tl_mesh_find_crossings(&mesh, &count, first));
  size_t wanted = 0;
  for (uint32_t a = 0; a < mesh.triangles; ++a)
    for (uint32_t b = a + 1; b < mesh.triangles; ++b) {
      tl_triangle_corners s, t;
      int same = 0;
      for (int i = 0; i < 9; ++i)
        same += mesh.triangle[a][i / 3] == mesh.triangle[b][i % 3];
      if (same > 0)
        continue;
      for (int k = 0; k < 3; ++k) {
        memcpy(&s.p[k], mesh.vertex[mesh.triangle[a][k]], sizeof s.p[k]);
        memcpy(&t.p[k], mesh.vertex[mesh.triangle[b][k]], sizeof t.p[k]);
      }
      const bool crosses = tl_triangle_triangle(&s, &t).feature >= TL_TRIANGLE_CROSSES;
      wanted += crosses;
      if (crosses)
        CHECK(a > first[0] || (a == first[0] && b >= first[1]));
    }
  CHECK(wanted > 100 && count >= wanted); /* and those that share a vertex */
  tl_mesh_release(&mesh);
}

TEST(vertices_that_are_nearly_one_are_welded_and_no_others) {
  tl_mesh mesh = {0}, loose = {0};
  CHECK_OK(tl_mesh_make_icosphere(1280, 1, &mesh));
  CHECK_OK(tl_mesh_reserve(3 * mesh.triangles, mesh.triangles, &loose));
  tl_random random = tl_random_start(1, 0, 0);
  for (uint32_t i = 0; i < loose.vertices; ++i) {
    loose.triangle[i / 3][i % 3] = i;
    for (int k = 0; k < 3; ++k)
      loose.vertex[i][k] =
          mesh.vertex[mesh.triangle[i / 3][i % 3]][k] + 1e-4 * tl_random_unit(&random);
  }
  const talus_mesh_repair_def def = {.weld = 3e-4};
  talus_mesh_repairs done;
  CHECK_OK(tl_mesh_repair(&loose, &def, &done));
  CHECK_EQ_U64(loose.vertices, mesh.vertices);
  CHECK_EQ_U64(done.welded, 3 * mesh.triangles - mesh.vertices);
  CHECK(check(&loose).closed && check(&loose).volume > 4);
  tl_mesh_release(&mesh);
  tl_mesh_release(&loose);
}

TEST(holes_of_any_size_are_closed) {
  tl_mesh mesh = {0};
  const talus_mesh_repair_def def = {.weld = -1, .close_holes = true};
  talus_mesh_repairs done;
  CHECK_OK(tl_mesh_make_cylinder(1, 2, 8000, &mesh)); /* 2000 sides: no ears for that */
  tl_mesh wall = {0};
  CHECK_OK(tl_mesh_reserve(mesh.vertices, 4000, &wall));
  memcpy(wall.vertex, mesh.vertex, mesh.vertices * sizeof *mesh.vertex);
  memcpy(wall.triangle, mesh.triangle, 4000 * sizeof *mesh.triangle);
  const double volume = check(&mesh).volume;
  CHECK_OK(tl_mesh_repair(&wall, &def, &done));
  CHECK_EQ_U64(done.holes, 2);
  CHECK(check(&wall).closed && check(&wall).oriented);
  CHECK_NEAR(check(&wall).volume, volume, 1e-12);
  tl_mesh_release(&mesh);
  tl_mesh_release(&wall);
}

TEST(clumps_keep_to_their_error) {
  SKIP_IF_SHORT();
  static const double errors[] = {0.2, 0.05, 0.02};
  tl_mesh mesh = {0};
  CHECK_OK(tl_mesh_make_box((const double[]){1, 2, 3}, &mesh));
  size_t before = 0;
  for (int i = 0; i < 3; ++i) {
    tl_spheres spheres = {0};
    double measured;
    CHECK_OK(tl_mesh_to_clump(&mesh, errors[i], 4000, &spheres, &measured));
    CHECK_MSG(measured <= errors[i] * (1 + 1e-9), "%g of %g", measured, errors[i]);
    CHECK(spheres.count > before);
    before = spheres.count;
    tl_array_free(&spheres);
  }
  tl_mesh_release(&mesh);
}

TEST(a_mesh_of_somebody_else_is_looked_at_first) {
  double place[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  uint32_t row[1][3] = {{0, 1, 3}};
  const talus_mesh mesh = {3, 1, place, row};
  talus_mesh_info info;
  CHECK(talus_mesh_measure(&mesh, &info) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "triangle 0 of the mesh has vertex 3, but there are 3"));
  row[0][2] = 2;
  place[1][2] = NAN;
  CHECK(talus_mesh_measure(&mesh, &info) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "vertex 1 of the mesh is nan"));
  CHECK(talus_mesh_write(&mesh, "x.stl") == TALUS_ERROR_INVALID);
}

/* Pairs that cross, every one looked at: as tl_mesh_find_crossings has them. */
static size_t count_crossings(const tl_mesh *mesh) {
  size_t count = 0;
  for (size_t a = 0; a < mesh->triangles; ++a)
    for (size_t b = a + 1; b < mesh->triangles; ++b) {
      tl_triangle_corners s, t;
      int same = 0, of_a = 0, of_b = 0;
      for (int i = 0; i < 9; ++i)
        if (mesh->triangle[a][i / 3] == mesh->triangle[b][i % 3])
          ++same, of_a = i / 3, of_b = i % 3;
      for (int k = 0; k < 3; ++k) {
        memcpy(&s.p[k], mesh->vertex[mesh->triangle[a][k]], sizeof s.p[k]);
        memcpy(&t.p[k], mesh->vertex[mesh->triangle[b][k]], sizeof t.p[k]);
      }
      if (same == 0)
        count += tl_triangle_triangle(&s, &t).feature >= TL_TRIANGLE_CROSSES;
      else if (same == 1)
        count += tl_segment_triangle(s.p[(of_a + 1) % 3], s.p[(of_a + 2) % 3], &t).feature ==
                     TL_TRIANGLE_CROSSES ||
                 tl_segment_triangle(t.p[(of_b + 1) % 3], t.p[(of_b + 2) % 3], &s).feature ==
                     TL_TRIANGLE_CROSSES;
    }
  return count;
}

/* A cone of so many triangles, all at vertex 0, whose rim goes up and down at random. */
static tl_mesh make_fan(size_t triangles, double jitter) {
  tl_random random = tl_random_start(7, 1, 0);
  tl_mesh mesh = {0};
  CHECK_OK(tl_mesh_reserve(triangles + 1, triangles, &mesh));
  memset(mesh.vertex[0], 0, sizeof mesh.vertex[0]);
  for (size_t i = 0; i < triangles; ++i) {
    const double turn =
        2 * acos(-1) * ((double)i + jitter * tl_random_unit(&random)) / (double)triangles;
    mesh.vertex[i + 1][0] = cos(turn), mesh.vertex[i + 1][1] = sin(turn);
    mesh.vertex[i + 1][2] = 1 + jitter * tl_random_unit(&random);
    mesh.triangle[i][0] = 0, mesh.triangle[i][1] = (uint32_t)i + 1;
    mesh.triangle[i][2] = (uint32_t)((i + 1) % triangles) + 1;
  }
  return mesh;
}

TEST(crossings_of_fans_are_all_found_and_large_fans_are_no_trouble) {
  size_t count;
  uint32_t first[2];
  tl_mesh small = make_fan(300, 30), large = make_fan(check_cases(200000), 0);
  CHECK_OK(tl_mesh_find_crossings(&small, &count, first));
  CHECK(count > 10);
  CHECK_EQ_U64(count, count_crossings(&small));
  CHECK_OK(tl_mesh_find_crossings(&large, &count, first));
  CHECK_EQ_U64(count, 0);
  tl_mesh_release(&small);
  tl_mesh_release(&large);
}

/* A solid of two fans with the same rim: the tips are at 0 and at so much of the height. */
static tl_mesh make_spindle(size_t sides, double jitter, double height) {
  tl_mesh mesh = {0}, fan = make_fan(sides, jitter);
  CHECK_OK(tl_mesh_reserve(sides + 2, 2 * sides, &mesh));
  memcpy(mesh.vertex, fan.vertex, (sides + 1) * sizeof *fan.vertex);
  memcpy(mesh.triangle, fan.triangle, sides * sizeof *fan.triangle);
  mesh.vertex[sides + 1][0] = mesh.vertex[sides + 1][1] = 0, mesh.vertex[sides + 1][2] = height;
  for (size_t i = 0; i < sides; ++i) {
    mesh.triangle[sides + i][0] = (uint32_t)sides + 1;
    mesh.triangle[sides + i][1] = fan.triangle[i][2],
                          mesh.triangle[sides + i][2] = fan.triangle[i][1];
  }
  tl_mesh_release(&fan);
  return mesh;
}

/* Each triangle of one fan is in the box of most of the other. */
TEST(crossings_of_two_fans_are_all_found_and_large_ones_are_no_trouble) {
  static const double heights[] = {0.5, 1, 2};
  size_t count;
  uint32_t first[2];
  for (size_t i = 0; i < 3; ++i) {
    tl_mesh small = make_spindle(150, 20, heights[i]);
    CHECK_OK(tl_mesh_find_crossings(&small, &count, first));
    CHECK(count > 10);
    CHECK_EQ_U64(count, count_crossings(&small));
    tl_mesh_release(&small);
  }
  for (size_t i = 1; i < 3; ++i) {
    tl_mesh large = make_spindle(check_cases(60000), 0, heights[i]);
    CHECK_OK(tl_mesh_find_crossings(&large, &count, first));
    CHECK_EQ_U64(count, 0);
    tl_mesh_release(&large);
  }
}

TEST_MAIN()
