#include "base/random.h"
#include "check.h"
#include "narrow/mesh.h"
#include "shape/shape.h"

#include <talus/mesh.h>

static tl_shape make(const talus_mesh *mesh, talus_sides sides) {
  const talus_shape_def def = {.kind = TALUS_MESH,
                               .points = (const double *)mesh->vertex,
                               .point_count = mesh->vertices,
                               .triangles = (const uint32_t *)mesh->triangle,
                               .triangle_count = mesh->triangles,
                               .sides = sides};
  tl_shape shape;
  CHECK_OK(tl_shape_make(&def, &shape));
  return shape;
}

static tl_shape make_recipe(const char *kind, size_t triangles, uint64_t seed) {
  const talus_mesh_recipe recipe = {
      .kind = kind, .triangles = triangles, .noise = 1.4, .seed = seed};
  talus_mesh mesh;
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  const tl_shape shape = make(&mesh, TALUS_SIDES_AUTO);
  talus_mesh_free(&mesh);
  return shape;
}

/* Triangles without order: the tree cannot count on any. */
static tl_shape make_soup(tl_random *random, uint32_t triangles) {
  talus_mesh mesh = {.vertices = 3 * (size_t)triangles, .triangles = triangles};
  mesh.vertex = malloc(mesh.vertices * sizeof *mesh.vertex);
  mesh.triangle = malloc(mesh.triangles * sizeof *mesh.triangle);
  for (size_t i = 0; i < mesh.vertices; ++i)
    for (int k = 0; k < 3; ++k) /* many of them in the same place */
      mesh.vertex[i][k] = (double)(tl_random_u32(random) % 64) / 7;
  for (size_t i = 0; i < mesh.triangles; ++i)
    for (uint32_t k = 0; k < 3; ++k)
      mesh.triangle[i][k] = 3 * (uint32_t)i + k;
  const tl_shape shape = make(&mesh, TALUS_SIDES_BOTH);
  free(mesh.vertex);
  free(mesh.triangle);
  return shape;
}

/* What is in a child lies within its slab. */
static void check_slab(const tl_facets *f, const tl_tree_node *n, uint32_t k, uint32_t begin,
                       uint32_t end) {
  double axis[3], square = 0, length = 0, middle[3];
  for (int i = 0; i < 3; ++i) {
    const double half = 0.5 * ((double)n->hi[i][k] - (double)n->lo[i][k]);
    middle[i] = 0.5 * ((double)n->hi[i][k] + (double)n->lo[i][k]);
    axis[i] = n->axis[i][k], length += axis[i] * axis[i], square += half * half;
  }
  CHECK(length > 0 && n->low[k] <= n->high[k]);
  const double share = sqrt(square) / TL_TREE_SHARE, noise = 1e-6 * sqrt(square);
  for (uint32_t c = 3 * begin; c < 3 * end; ++c) {
    double at = 0;
    for (uint32_t i = 0; i < 3; ++i)
      at += axis[i] / sqrt(length) * (f->points[3 * f->triangle[c] + i] - middle[i]);
    CHECK(at >= share * n->low[k] - noise && at <= share * n->high[k] + noise);
  }
}

/* Marks what is below a node, each triangle once, and checks that its box holds it. */
static void check_node(const tl_facets *f, uint32_t node, uint32_t *seen) {
  const tl_tree_node *n = &f->tree.node[node];
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    const bool is_empty = n->lo[0][k] > n->hi[0][k];
    if (n->count[k] == 0 && !is_empty) {
      const uint32_t before = *seen;
      check_node(f, n->first[k], seen);
      check_slab(f, n, k, before, *seen);
      for (uint32_t t = before; t < *seen; ++t)
        for (int c = 0; c < 3; ++c)
          for (int i = 0; i < 3; ++i) {
            const double x = f->points[3 * f->triangle[3 * t + (uint32_t)c] + (uint32_t)i];
            CHECK(x >= (double)n->lo[i][k] && x <= (double)n->hi[i][k]);
          }
    }
    for (uint32_t t = n->first[k]; t < n->first[k] + n->count[k]; ++t)
      CHECK_EQ_U64(t, (*seen)++);
    check_slab(f, n, k, *seen - n->count[k], *seen);
  }
}

TEST(every_node_covers_its_leaves_and_a_tree_built_again_is_the_same) {
  tl_random random = tl_random_start(20, 1, 0);
  for (int serial = 0; serial < 100; ++serial) {
    tl_shape shape = make_soup(&random, 1 + tl_random_u32(&random) % 300), copy;
    uint32_t seen = 0;
    check_node(shape.facets, 0, &seen);
    CHECK_EQ_U64(seen, shape.face_count);
    CHECK_OK(tl_shape_copy(&copy, &shape));
    CHECK(memcmp(copy.face_vertex, shape.face_vertex, 12 * (size_t)shape.face_count) == 0);
    CHECK(copy.facets->tree.nodes == shape.facets->tree.nodes);
    tl_shape_release(&copy);
    tl_shape_release(&shape);
  }
}

TEST(bounds_by_the_tree_are_those_of_all_vertices) {
  tl_random random = tl_random_start(20, 2, 0);
  tl_shape shape = make_recipe("noisy-sphere", 320, 3);
  for (int serial = 0; serial < 200; ++serial) {
    double m[3], range[2], lo = HUGE_VAL, hi = -HUGE_VAL, length = 0;
    for (int i = 0; i < 3; ++i)
      m[i] = tl_random_normal(&random), length += m[i] * m[i];
    for (int i = 0; i < 3; ++i)
      m[i] /= sqrt(length);
    tl_facets_range(shape.facets, m, range);
    for (uint32_t v = 0; v < shape.point_count; ++v) {
      const double *p = shape.points + 3 * v;
      const double at = m[0] * p[0] + m[1] * p[1] + m[2] * p[2];
      lo = fmin(lo, at), hi = fmax(hi, at);
    }
    CHECK(range[0] == lo && range[1] == hi);
  }
  tl_shape_release(&shape);
}

TEST(surface_is_made_of_facets_lines_and_sharp_vertices) {
  tl_shape plate = make_recipe("plate", 200, 0), box = make_recipe("box", 12, 0);
  CHECK_EQ_U64(plate.facets->facets, 1);
  uint32_t lines = 0, sharp = 0;
  for (uint32_t e = 0; e < plate.facets->edges; ++e)
    lines += plate.facets->edge_line[e] == e;
  for (uint32_t v = 0; v < plate.point_count; ++v)
    sharp += plate.facets->vertex_kind[v] == TL_VERTEX_SHARP;
  CHECK_EQ_U64(lines, 4);
  CHECK_EQ_U64(sharp, 4);
  CHECK(box.facets->facets == 6 && box.facets->edges == 12 && box.facets->vertices == 8);
  CHECK(tl_facets_open_edge(box.facets) == TL_NONE && tl_facets_open_edge(plate.facets) == 0);
  tl_shape_release(&plate);
  tl_shape_release(&box);
}

TEST(places_find_the_same_with_and_without_the_tree) {
  tl_random random = tl_random_start(20, 3, 0);
  tl_shape shape = make_recipe("noisy-sphere", 1280, 5);
  tl_mesh_posed tree = {.f = shape.facets, .scale = 1}, flat = tree;
  flat.flat = true;
  int found = 0;
  for (int serial = 0; serial < 500; ++serial) {
    tl_near a[TL_NEAR_MOST], b[TL_NEAR_MOST];
    const talus_dvec3 p =
        tl_dvec3(tl_random_normal(&random), tl_random_normal(&random), tl_random_normal(&random));
    const double reach = tl_random_unit(&random);
    const int count = tl_mesh_near(&tree, p, reach, a);
    CHECK(tl_mesh_near(&flat, p, reach, b) == count);
    for (int i = 0; i < count; ++i) {
      CHECK(a[i].feature == b[i].feature && a[i].inside == b[i].inside);
      CHECK(a[i].distance == b[i].distance);
      CHECK(memcmp(&a[i].at, &b[i].at, sizeof a[i].at) == 0);
      CHECK(memcmp(&a[i].normal, &b[i].normal, sizeof a[i].normal) == 0);
    }
    found += count > 0;
  }
  CHECK(found > 100);
  tl_shape_release(&shape);
}

/* By rays, and by the sum of solid angles, which knows nothing of rays; also in line with vertices,
 * where a ray says nothing. */
TEST(winding_numbers_are_those_of_solid_angles) {
  tl_shape shape = make_recipe("noisy-sphere", 1280, 5);
  const tl_facets *f = shape.facets;
  tl_random random = tl_random_start(3, 1, 0);
  for (int i = 0; i < 2000; ++i) {
    double p[3];
    for (int k = 0; k < 3; ++k)
      p[k] = 3.4 * tl_random_unit(&random) - 1.7;
    if (i % 4 == 0) /* in line with a vertex */
      p[i / 4 % 3] = f->points[3 * (size_t)(i % (int)f->vertices) + (size_t)(i / 4 % 3)];
    const talus_dvec3 place = tl_dvec3(p[0], p[1], p[2]);
    double sum = 0;
    for (uint32_t t = 0; t < f->triangles; ++t) {
      talus_dvec3 v[3];
      for (size_t k = 0; k < 3; ++k)
        v[k] = tl_dsub(tl_facets_point(f, f->triangle[3 * (size_t)t + k]), place);
      const double a = tl_dlength(v[0]), b = tl_dlength(v[1]), c = tl_dlength(v[2]);
      sum += 2 * atan2(tl_ddot(v[0], tl_dcross(v[1], v[2])), a * b * c + tl_ddot(v[0], v[1]) * c +
                                                                 tl_ddot(v[1], v[2]) * a +
                                                                 tl_ddot(v[2], v[0]) * b);
    }
    CHECK(tl_facets_winding(f, place) == (int)lround(sum / (4 * 3.14159265358979323846)));
  }
  const talus_dvec3 middle = tl_dvec3(0, 0, 0), vertex = tl_facets_point(f, 7);
  CHECK(tl_facets_winding(f, middle) == 1);
  CHECK(tl_facets_winding(f, tl_dscale(vertex, 0.999)) == 1);
  CHECK(tl_facets_winding(f, tl_dscale(vertex, 1.001)) == 0);
  tl_shape_release(&shape);
}

TEST_MAIN()
