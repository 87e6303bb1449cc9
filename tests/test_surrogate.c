/* Trees of surrogate triangles (Noble, Definitions 8 to 13), and the search over them. */
#include "base/random.h"
#include "check.h"
#include "narrow/surrogate.h"
#include "shape/shape.h"

#include <talus/mesh.h>

/* ---- trees ----------------------------------------------------------------------------------- */

typedef struct soup {
  double *points;
  uint32_t *triangle;
  uint32_t triangles;
} soup;

/* Triangles of a noisy sphere, of a plate, or without any order, many of them in the same place. */
static soup make_soup(int serial) {
  tl_random random = tl_random_start(23, 1, (uint64_t)serial);
  soup s = {.triangles = 1 + tl_random_u32(&random) % 600};
  talus_mesh mesh = {0};
  const talus_mesh_recipe recipe = {.kind = serial % 3 == 0 ? "noisy-sphere" : "plate",
                                    .triangles = serial % 3 == 0 ? 320 : 200,
                                    .noise = 1.5,
                                    .seed = (uint64_t)serial};
  if (serial % 3 < 2) {
    CHECK_OK(talus_mesh_make(&recipe, &mesh));
    s.triangles = (uint32_t)mesh.triangles;
  }
  s.points = malloc(9 * (size_t)s.triangles * sizeof *s.points);
  s.triangle = malloc(3 * (size_t)s.triangles * sizeof *s.triangle);
  for (size_t i = 0; i < 3 * (size_t)s.triangles; ++i) {
    s.triangle[i] = (uint32_t)i;
    for (size_t k = 0; k < 3; ++k)
      s.points[3 * i + k] = mesh.triangles ? mesh.vertex[mesh.triangle[i / 3][i % 3]][k]
                            : serial % 2   ? (double)(tl_random_u32(&random) % 8) / 7
                                           : 1e3 + tl_random_normal(&random);
  }
  talus_mesh_free(&mesh);
  return s;
}

static void free_soup(soup *s) {
  free(s->points);
  free(s->triangle);
}

static tl_triangle_corners triangle_of(const soup *s, uint32_t t) {
  tl_triangle_corners c;
  for (size_t k = 0; k < 3; ++k) {
    const double *p = s->points + 3 * (size_t)s->triangle[3 * (size_t)t + k];
    c.p[k] = tl_dvec3(p[0], p[1], p[2]);
  }
  return c;
}

/* Marks each triangle below a node once, and checks that the node covers it: its corners (which
 * decide, distance to a triangle being convex) and places within it. */
static void check_cover(const soup *s, const tl_surrogate *tree, uint32_t ref, uint32_t node,
                        tl_random *random) {
  if (!tl_surrogate_is_leaf(ref)) {
    for (uint32_t k = 0; k < tree->node[ref].count; ++k)
      check_cover(s, tree, tl_surrogate_child(tree, ref, k), node, random);
    return;
  }
  const tl_triangle_corners t = triangle_of(s, ref & ~TL_SURROGATE_LEAF);
  const tl_triangle_corners n = tl_surrogate_corners(&tree->node[node]);
  for (int k = 0; k < 6; ++k) {
    const double a = tl_random_unit(random), b = (1 - a) * tl_random_unit(random);
    const talus_dvec3 inside =
        tl_dalong(tl_dalong(t.p[0], a, tl_dsub(t.p[1], t.p[0])), b, tl_dsub(t.p[2], t.p[0]));
    const talus_dvec3 p = k < 3 ? t.p[k] : inside;
    CHECK(sqrt(tl_point_triangle(p, &n).square) <= (double)tree->node[node].eps);
  }
}

/* Definition 12: every triangle once; every node knows who holds it. */
static void check_shape(const tl_surrogate *tree) {
  uint8_t *seen = calloc(tree->triangles + 1, 1);
  uint32_t nodes = 1;
  CHECK(tree->node[0].parent == 0 && tree->node[0].level == 0);
  for (uint32_t i = 0; i < tree->nodes; ++i) {
    const tl_surrogate_node *n = &tree->node[i];
    CHECK(n->count >= 1 && n->count <= TL_SURROGATE_WIDE && n->level < tree->levels);
    for (uint32_t k = 0; k < n->count; ++k) {
      const uint32_t ref = tl_surrogate_child(tree, i, k);
      CHECK(tl_surrogate_above(tree, ref) == i);
      CHECK(tl_surrogate_level(tree, ref) == n->level + 1);
      CHECK(tl_surrogate_is_leaf(ref) == (n->holds != 0));
      if (tl_surrogate_is_leaf(ref))
        CHECK(seen[ref & ~TL_SURROGATE_LEAF]++ == 0);
      else
        nodes++;
    }
  }
  CHECK_EQ_U64(nodes, tree->nodes);
  for (uint32_t t = 0; t < tree->triangles; ++t)
    CHECK(seen[t] == 1);
  free(seen);
}

/* Definition 9: each level has fewer triangles than the next finer one. */
static void check_levels(const tl_surrogate *tree) {
  uint32_t count[64] = {0};
  for (uint32_t i = 0; i < tree->nodes; ++i)
    count[tree->node[i].level]++;
  CHECK(count[0] == 1);
  for (int k = 1; k < tree->levels; ++k)
    CHECK(count[k] > 0 && count[k] <= TL_SURROGATE_WIDE * count[k - 1]);
  CHECK(tree->nodes < tree->triangles + 2);
}

TEST(every_node_covers_the_triangles_below_it) {
  tl_random random = tl_random_start(23, 2, 0);
  for (int serial = 0; serial < 100; ++serial) {
    soup s = make_soup(serial);
    tl_surrogate tree, again;
    const tl_surrogate_fit fit = serial % 10 == 0 ? TL_FIT_FUNCTIONAL : TL_FIT_QUICK;
    CHECK_OK(tl_surrogate_build(s.points, s.triangle, s.triangles, fit, &tree));
    check_shape(&tree);
    check_levels(&tree);
    for (uint32_t node = 0; node < tree.nodes; ++node)
      check_cover(&s, &tree, node, node, &random);
    CHECK_OK(tl_surrogate_build(s.points, s.triangle, s.triangles, fit, &again));
    CHECK(again.nodes == tree.nodes &&
          memcmp(again.node, tree.node, tree.nodes * sizeof *tree.node) == 0 &&
          memcmp(again.leaf, tree.leaf, tree.triangles * sizeof *tree.leaf) == 0);
    tl_surrogate_release(&again);
    tl_surrogate_release(&tree);
    free_soup(&s);
  }
}

/* ---- searches -------------------------------------------------------------------------------- */

static tl_shape shape_of(const talus_mesh_recipe *recipe) {
  talus_mesh mesh;
  CHECK_OK(talus_mesh_make(recipe, &mesh));
  const talus_shape_def def = {.kind = TALUS_MESH,
                               .points = (const double *)mesh.vertex,
                               .point_count = mesh.vertices,
                               .triangles = (const uint32_t *)mesh.triangle,
                               .triangle_count = mesh.triangles};
  tl_shape shape;
  CHECK_OK(tl_shape_make(&def, &shape));
  CHECK_OK(tl_shape_need_surrogate(&shape));
  talus_mesh_free(&mesh);
  return shape;
}

static tl_shape make_shape(const char *kind, size_t triangles, uint64_t seed, double size) {
  const talus_mesh_recipe recipe = {
      .kind = kind, .triangles = triangles, .noise = 1.4, .seed = seed, .size = {size, size}};
  return shape_of(&recipe);
}

static talus_quat any_rotation(tl_random *random) {
  talus_real q[4], square = 0;
  for (int k = 0; k < 4; ++k)
    q[k] = (talus_real)tl_random_normal(random), square += q[k] * q[k];
  const talus_real per = 1 / (talus_real)sqrt((double)square);
  return (talus_quat){q[0] * per, q[1] * per, q[2] * per, q[3] * per};
}

/* Two meshes that touch, nearly touch or are apart, of different scale. */
static void pose_pair(const tl_shape *a, const tl_shape *b, int serial, tl_posed out[2]) {
  tl_random random = tl_random_start(23, 3, (uint64_t)serial);
  memset(out, 0, 2 * sizeof *out);
  out[0].shape = a, out[0].scale = 1, out[0].rotation = any_rotation(&random);
  out[1].shape = b, out[1].scale = TL_R(0.5) + (talus_real)tl_random_unit(&random);
  out[1].rotation = any_rotation(&random);
  const double apart =
      (double)(a->radius + out[1].scale * b->radius) * (0.7 + 0.35 * tl_random_unit(&random));
  out[1].position = tl_dvec3(0.6 * apart, 0.64 * apart, 0.48 * apart);
}

typedef struct room {
  tl_arena arena;
  tl_par par;
} room;

static talus_status find(room *r, const tl_mesh_pair *pairs, size_t count, bool surrogates,
                         talus_triangle_method method, tl_narrow_counts *counts,
                         tl_front_list *list) {
  const tl_fronts fronts = {.par = &r->par,
                            .arena = &r->arena,
                            .pairs = pairs,
                            .count = count,
                            .method = method,
                            .surrogates = surrogates,
                            .counts = counts};
  return tl_fronts_find(&fronts, list);
}

#define PAIRS 60

TEST(near_triangles_are_those_of_the_tree_of_boxes) {
  static const talus_triangle_method methods[] = {TALUS_TRIANGLE_COMPARISON,
                                                  TALUS_TRIANGLE_CERTIFIED, TALUS_TRIANGLE_HYBRID};
  tl_shape shapes[4] = {make_shape("noisy-sphere", 320, 3, 1), make_shape("icosphere", 80, 0, 1),
                        make_shape("box", 12, 0, 1.5), make_shape("noisy-sphere", 1280, 5, 0.7)};
  tl_mesh_pair pairs[PAIRS];
  for (int i = 0; i < PAIRS; ++i) {
    tl_posed posed[2];
    pose_pair(&shapes[i % 4], &shapes[i / 4 % 4], i, posed);
    pairs[i] = tl_mesh_pair_make(&posed[0], &posed[1], TL_R(0.01), i % 2 == 0);
  }
  for (int threads = 1; threads <= 2; ++threads)
    for (int k = 0; k < 3; ++k) {
      room r = {.par = {.threads = threads}};
      tl_narrow_counts counts = {0};
      tl_front_list boxes, surrogates;
      CHECK_OK(find(&r, pairs, PAIRS, false, TALUS_TRIANGLE_COMPARISON, NULL, &boxes));
      CHECK_OK(find(&r, pairs, PAIRS, true, methods[k], &counts, &surrogates));
      const size_t n = boxes.start[PAIRS];
      CHECK(n > 500 && surrogates.start[PAIRS] == n);
      CHECK(memcmp(boxes.start, surrogates.start, (PAIRS + 1) * sizeof *boxes.start) == 0);
      CHECK(memcmp(boxes.of_a, surrogates.of_a, n * sizeof *boxes.of_a) == 0);
      CHECK(memcmp(boxes.of_b, surrogates.of_b, n * sizeof *boxes.of_b) == 0);
      if (threads == 1)
        printf("  %zu near, %llu comparisons, %llu fallbacks\n", n,
               (unsigned long long)counts.comparisons, (unsigned long long)counts.fallbacks);
      tl_arena_free(&r.arena);
    }
  for (int i = 0; i < 4; ++i)
    tl_shape_release(&shapes[i]);
}

/* A front that is widened row by row, from the roots or from where it was left by another pose,
 * ends with all near triangles; points from it are those of the table. */
#define ROWS 200000

typedef struct front {
  tl_row *rows;
  size_t count;
} front;

/* Rows that are near and no leaves become their children until there are none. */
static void widen(const tl_surrogates *s, front *f) {
  static uint8_t near[ROWS];
  for (;;) {
    static tl_row next[ROWS];
    size_t count = 0;
    bool all_leaves = true;
    tl_surrogates_test(s, f->rows, f->count, near);
    for (size_t i = 0; i < f->count; ++i) {
      if (!(near[i] & TL_ROW_NEAR) || tl_surrogates_is_leaf(&f->rows[i])) {
        next[count++] = f->rows[i];
        continue;
      }
      const size_t made = tl_surrogates_children(s, &f->rows[i], next + count);
      CHECK(made == tl_surrogates_child_count(s, &f->rows[i]) && count + made < ROWS - 64);
      for (size_t k = 0; k < made; ++k) {
        const tl_row above = tl_surrogates_above(s, &next[count + k]);
        CHECK(memcmp(&above, &f->rows[i], sizeof above) == 0);
      }
      count += made, all_leaves = false;
    }
    memcpy(f->rows, next, count * sizeof *next);
    f->count = count;
    if (all_leaves)
      return;
  }
}

/* Returns how many points the pair has. */
static int check_points(const tl_posed posed[2], front *f, int serial) {
  static tl_mesh_key of_a[ROWS], of_b[ROWS], scratch[ROWS];
  static uint8_t near[ROWS];
  tl_point wanted[TL_NARROW_MAX_POINTS], found[TL_MESH_MOST];
  int count = -1;
  for (int first = 1; first >= 0 && count < 0; --first) {
    const tl_mesh_pair pair = tl_mesh_pair_make(&posed[0], &posed[1], TL_R(0.02), first);
    const tl_surrogates s = {.pairs = &pair};
    size_t keys = 0;
    widen(&s, f);
    tl_surrogates_test(&s, f->rows, f->count, near);
    for (size_t i = 0; i < f->count; ++i)
      if (near[i] & TL_ROW_NEAR) {
        CHECK(tl_surrogates_is_leaf(&f->rows[i]));
        of_a[keys++] =
            tl_mesh_key_make(f->rows[i].a & ~TL_SURROGATE_LEAF, f->rows[i].b & ~TL_SURROGATE_LEAF,
                             (near[i] & TL_ROW_CROSSES) != 0);
      }
    count = tl_surrogates_points(&pair, first, of_a, of_b, scratch, keys, found);
  }
  const int expected = tl_mesh_mesh(&posed[0], &posed[1], TL_R(0.02), wanted);
  CHECK_MSG(count == expected, "pair %d: %d points, %d expected", serial, count, expected);
  for (int i = 0; i < expected && i < count; ++i)
    CHECK(memcmp(&found[i].point, &wanted[i].point, sizeof wanted[i].point) == 0 &&
          found[i].gap == wanted[i].gap && found[i].feature_a == wanted[i].feature_a &&
          found[i].feature_b == wanted[i].feature_b);
  return expected;
}

static tl_row row_memory[ROWS];

TEST(kept_fronts_are_widened_to_all_contacts) {
  tl_shape shapes[2] = {make_shape("noisy-sphere", 320, 3, 1), make_shape("icosphere", 80, 0, 1)};
  front f = {row_memory, 0};
  int touching = 0;
  for (int serial = 0; serial < 40; ++serial) {
    tl_posed posed[2];
    pose_pair(&shapes[0], &shapes[1], serial, posed);
    if (serial % 8 == 0)
      f.count = 1, f.rows[0] = tl_surrogates_root(0);
    touching += check_points(posed, &f, serial) > 0;
  }
  CHECK(touching > 10);
  tl_shape_release(&shapes[0]);
  tl_shape_release(&shapes[1]);
}

/* What goes in comes out, so no contour says where to. */
TEST(a_rod_through_a_plate_has_the_point_that_the_table_has) {
  const talus_mesh_recipe recipes[] = {{.kind = "box", .size = {0.1, 0.1, 2}},
                                       {.kind = "box", .size = {1, 1.2, 0.1}}};
  tl_shape shapes[2];
  for (int k = 0; k < 2; ++k)
    shapes[k] = shape_of(&recipes[k]);
  for (int serial = 0; serial < 8; ++serial) {
    tl_posed posed[2];
    front f = {row_memory, 1};
    f.rows[0] = tl_surrogates_root(0);
    pose_pair(&shapes[0], &shapes[1], serial, posed);
    for (int k = 0; k < 2; ++k)
      posed[k].rotation = (talus_quat){1, 0, 0, 0};
    posed[1].position = (talus_dvec3){0.03 * serial, 0.01 * serial, 0.02};
    CHECK(check_points(posed, &f, serial) > 0);
  }
  tl_shape_release(&shapes[0]);
  tl_shape_release(&shapes[1]);
}

/* Rows that are near say where; a halo is never less than what it covers. */
TEST(near_rows_have_the_places_of_comparison) {
  tl_shape shape = make_shape("noisy-sphere", 320, 3, 1);
  tl_posed posed[2];
  pose_pair(&shape, &shape, 1, posed);
  const tl_mesh_pair pair = tl_mesh_pair_make(&posed[0], &posed[1], TL_R(0.05), true);
  const tl_surrogates s = {.pairs = &pair};
  tl_row rows[1 + TL_ROW_CHILDREN] = {tl_surrogates_root(0)};
  tl_row_near near[1 + TL_ROW_CHILDREN];
  const size_t n = 1 + tl_surrogates_children(&s, &rows[0], rows + 1);
  tl_surrogates_compare(&s, rows, n, near);
  CHECK(near[0].is_near);
  for (size_t i = 0; i < n; ++i) {
    if (!near[i].is_near)
      continue;
    CHECK(near[i].eps_a > 0 && near[i].eps_b > 0);
    CHECK_NEAR(tl_dlength(tl_dsub(near[i].on_a, near[i].on_b)), near[i].distance, 1e-9);
    CHECK(near[i].distance <= near[i].eps_a + near[i].eps_b + pair.reach + 1e-4);
  }
  tl_shape_release(&shape);
}

TEST_MAIN()
