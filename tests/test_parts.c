/* The midphase of shapes that are made of parts: lists of near triangles and spheres give what the
 * table of kinds gives, bit for bit, however many threads make them. */
#include <talus/mesh.h>

#include "base/cancel.h"
#include "base/random.h"
#include "check.h"
#include "narrow/narrow.h"
#include "narrow/order.h"
#include "shape/shape.h"

enum { MOST = 36, POINTS = 4096 };

typedef struct stage {
  tl_model model;
  tl_crowd crowd;
  tl_state state;
  tl_arena arena;
  tl_shape shapes[8];
  talus_dvec3 position[MOST];
  talus_quat rotation[MOST];
  talus_real scale[MOST], margins[MOST];
  uint32_t shape[MOST], flags[MOST];
  uint64_t uid[MOST];
  tl_pair pair[MOST * (MOST - 1) / 2];
  tl_pairs pairs;
  tl_contacts contacts;
} stage;

static stage s; /* too large for the stack */

static void clear_stage(void) {
  s = (stage){0};
  s.model.par.threads = 1;
  s.model.shapes.data = s.shapes;
  s.model.property.scale = s.scale, s.model.property.shape = s.shape;
  s.model.property.flags = s.flags, s.model.property.uid = s.uid;
  s.state.position = s.position, s.state.rotation = s.rotation;
  s.crowd.model = &s.model;
  s.crowd.in = &s.state, s.crowd.arena = &s.arena;
  s.pairs.data = s.pair;
}

static void free_stage(void) {
  for (size_t i = 0; i < s.model.shapes.count; ++i)
    tl_shape_release(&s.shapes[i]);
  tl_array_free(&s.contacts);
  tl_arena_free(&s.arena);
}

static void add_shape(const talus_shape_def *def) {
  CHECK_MSG(tl_shape_make(def, &s.shapes[s.model.shapes.count]) == TALUS_OK, "%s",
            tl_last_message());
  s.model.shapes.count++;
}

static void add_mesh(const char *kind, size_t triangles, double noise) {
  const talus_mesh_recipe recipe = {
      .kind = kind, .triangles = triangles, .noise = noise, .seed = 5, .size = {0.5, 0.2, 0.3}};
  talus_mesh mesh;
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  const talus_shape_def def = {.kind = TALUS_MESH,
                               .points = (const double *)mesh.vertex,
                               .point_count = mesh.vertices,
                               .triangles = (const uint32_t *)mesh.triangle,
                               .triangle_count = mesh.triangles};
  add_shape(&def);
  talus_mesh_free(&mesh);
}

/* Bodies of all shapes in a heap, every pair a candidate. */
static void fill_stage(uint64_t seed) {
  tl_random random = tl_random_start(seed, 1, 0);
  s.model.bodies = MOST;
  for (size_t i = 0; i < MOST; ++i) {
    s.shape[i] = (uint32_t)(i % s.model.shapes.count);
    s.position[i] = tl_dvec3(2 * tl_random_unit(&random), 2 * tl_random_unit(&random),
                             2 * tl_random_unit(&random));
    const talus_dvec3 v = tl_dvec3(tl_random_unit(&random) - 0.5, tl_random_unit(&random) - 0.5,
                                   tl_random_unit(&random) - 0.5);
    const double w = tl_random_unit(&random), per = 1 / sqrt(tl_ddot(v, v) + w * w);
    s.rotation[i] = (talus_quat){TL_R(w * per), TL_R(v.x * per), TL_R(v.y * per), TL_R(v.z * per)};
    s.scale[i] = TL_R(0.5 + tl_random_unit(&random));
    s.margins[i] = TL_R(0.01);
    s.uid[i] = i + 1;
  }
  s.pairs.count = 0;
  for (uint32_t a = 0; a < MOST; ++a)
    for (uint32_t b = a + 1; b < MOST; ++b)
      s.pair[s.pairs.count++] = (tl_pair){a, b};
}

/* Every pair by the table, one after the other. */
static size_t count_by_table(tl_contact *out) {
  static tl_point points[POINTS];
  const tl_narrow_scope scope = {.model = &s.model, .crowd = &s.crowd, .margins = s.margins};
  size_t found = 0;
  for (size_t i = 0; i < s.pairs.count; ++i) {
    const tl_ordered o = tl_order_pair(&scope, &s.pair[i]);
    const int count = tl_narrow_table[o.first.shape->kind][o.second.shape->kind](
        &o.first, &o.second, o.margin, points);
    CHECK(count >= 0 && count <= POINTS);
    if (o.swapped)
      tl_narrow_swap(points, count);
    for (int k = 0; k < count; ++k)
      tl_order_write(&s.pair[i], o.origin, &points[k], &out[found++]);
  }
  return found;
}

static bool is_same(const tl_contact *a, const tl_contact *b) {
  return a->a == b->a && a->b == b->b && a->feature_a == b->feature_a &&
         a->feature_b == b->feature_b && memcmp(&a->point, &b->point, sizeof a->point) == 0 &&
         memcmp(&a->normal, &b->normal, sizeof a->normal) == 0 && a->gap == b->gap;
}

/* The contacts that the stage found are those. */
static void check_same(const tl_contact *expected, size_t count) {
  CHECK_OK(tl_narrow_find_contacts(&s.crowd, &s.pairs, s.margins, &s.contacts));
  CHECK_EQ_U64(s.contacts.count, count);
  for (size_t i = 0; i < count; ++i) {
    const tl_contact *found = &s.contacts.data[i];
    CHECK_MSG(is_same(found, &expected[i]), "contact %zu of bodies %u and %u", i, found->a,
              found->b);
  }
}

static void compare_all_ways(void) {
  static tl_contact expected[200000];
  const talus_triangle_method methods[] = {TALUS_TRIANGLE_COMPARISON, TALUS_TRIANGLE_CERTIFIED,
                                           TALUS_TRIANGLE_HYBRID};
  for (size_t i = 0; i < s.model.shapes.count; ++i)
    if (s.model.shapes.data[i].kind == TALUS_MESH)
      CHECK_OK(tl_shape_need_surrogate(&s.model.shapes.data[i]));
  for (uint64_t seed = 1; seed <= (uint64_t)check_cases(8); ++seed) {
    fill_stage(seed);
    for (int fusion = TALUS_FUSION_LOCAL; fusion <= TALUS_FUSION_THESIS; ++fusion) {
      s.model.narrow = (talus_narrow_def){.fusion = (talus_fusion)fusion};
      const size_t count = count_by_table(expected);
      CHECK(count > 50 && count < 200000);
      for (int k = 0; k < (fusion == TALUS_FUSION_LOCAL && seed % 2 ? 6 : 3); ++k) {
        s.model.narrow.triangle = methods[k % 3];
        s.model.narrow.tree = k < 3 ? TALUS_TREE_BVH : TALUS_TREE_SURROGATE;
        s.model.par.threads = 1 + k % 3;
        check_same(expected, count);
      }
    }
  }
  s.model.narrow = (talus_narrow_def){0};
  s.model.par.threads = 1;
}

TEST(lists_of_near_triangles_give_the_contacts_of_trees) {
  clear_stage();
  add_mesh("noisy-sphere", 320, 1.4);
  if (!check_is_short())
    add_mesh("torus", 1152, 1);
  add_mesh("box", 12, 1);
  compare_all_ways();
  free_stage();
}

/* ---- directions ------------------------------------------------------------------------------ */

/* Two bodies, shapes 0 (so large) and 1, the first at the origin. */
static void pose_two(double scale, talus_dvec3 at, talus_quat first, talus_quat second,
                     double margin) {
  s.model.bodies = 2;
  s.rotation[0] = first, s.rotation[1] = second;
  s.position[0] = tl_dvec3(0, 0, 0), s.position[1] = at;
  for (uint32_t i = 0; i < 2; ++i)
    s.shape[i] = i, s.scale[i] = 1, s.margins[i] = TL_R(margin), s.uid[i] = i + 1;
  s.scale[0] = TL_R(scale);
  s.pair[0] = (tl_pair){0, 1}, s.pairs.count = 1;
  CHECK_OK(tl_narrow_find_contacts(&s.crowd, &s.pairs, s.margins, &s.contacts));
}

static talus_quat random_turn(tl_random *random) {
  double q[4], sum = 0;
  for (int k = 0; k < 4; ++k)
    q[k] = tl_random_unit(random) - 0.5, sum += q[k] * q[k];
  const double per = 1 / sqrt(sum);
  return (talus_quat){TL_R(q[0] * per), TL_R(q[1] * per), TL_R(q[2] * per), TL_R(q[3] * per)};
}

static double lowest_of(const tl_shape *shape, talus_quat turn) {
  const tl_frame frame = tl_frame_from_quat(turn);
  double low = HUGE_VAL;
  for (uint32_t i = 0; i < shape->point_count; ++i) {
    const double *p = shape->points + 3 * (size_t)i;
    low = fmin(low, tl_frame_to_world(&frame, tl_dvec3(p[0], p[1], p[2])).z);
  }
  return low;
}

/* The bottoms of dents are near the sheet, too, and look away from where the body is: they did not
 * come through from the other side. */
TEST(stone_with_dents_is_on_its_side_of_a_sheet) {
  clear_stage();
  add_mesh("plate", 200, 1);
  add_mesh("noisy-sphere", 320, 1.5);
  size_t found = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)check_cases(300); ++seed) {
    tl_random random = tl_random_start(seed, 2, 0);
    const talus_quat turn = random_turn(&random);
    const double gap = 0.01 * tl_random_unit(&random), low = lowest_of(&s.shapes[1], turn);
    pose_two(10, tl_dvec3(0, 0, gap - low), tl_quat_identity(), turn, 0.05);
    CHECK_MSG(s.contacts.count > 0, "seed %d", (int)seed);
    for (size_t i = 0; i < s.contacts.count; ++i) {
      const tl_contact *c = &s.contacts.data[i];
      CHECK_MSG(c->gap >= TL_R(gap - 1e-6) && c->normal.z > 0, "seed %d: gap %g for %g, %g up",
                (int)seed, (double)c->gap, gap, (double)c->normal.z);
    }
    found += s.contacts.count;
  }
  CHECK(found > check_cases(300));
  free_stage();
}

/* Edges that are nearly flat face both ways by the slant that is allowed to them. */
TEST(fine_spheres_push_each_other_apart) {
  clear_stage();
  add_mesh("icosphere", 20480, 1);
  add_mesh("icosphere", 20480, 1);
  for (uint64_t seed = 1; seed <= (uint64_t)check_cases(60); ++seed) {
    tl_random random = tl_random_start(seed, 3, 0);
    const talus_quat first = random_turn(&random), second = random_turn(&random);
    pose_two(1, tl_dvec3(0, 0, 1 - 2e-3 * tl_random_unit(&random)), first, second, 1e-3);
    CHECK_MSG(s.contacts.count > 0, "seed %d", (int)seed);
    for (size_t i = 0; i < s.contacts.count; ++i)
      CHECK_MSG(s.contacts.data[i].normal.z > TL_R(0.8), "seed %d: normal %g, gap %g", (int)seed,
                (double)s.contacts.data[i].normal.z, (double)s.contacts.data[i].gap);
  }
  free_stage();
}

/* A thin plate that is wholly behind the surface of a block, or of the tank that it is in: nothing
 * goes through anything, and it must come out all the same. Both searches, the same bits. */
static void check_buried(const talus_shape_def *block, double surface, double depth) {
  static tl_contact expected[64];
  clear_stage();
  add_shape(block);
  const double thick = 0.002, half = 0.5 * thick;
  const double card[8][3] = {{-0.3, -0.2, -half}, {0.3, -0.2, -half}, {0.3, 0.2, -half},
                             {-0.3, 0.2, -half},  {-0.3, -0.2, half}, {0.3, -0.2, half},
                             {0.3, 0.2, half},    {-0.3, 0.2, half}};
  static const uint32_t sides[12][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7},
                                        {0, 1, 5}, {0, 5, 4}, {1, 2, 6}, {1, 6, 5},
                                        {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
  const talus_shape_def plate = {.kind = TALUS_MESH,
                                 .points = card[0],
                                 .point_count = 8,
                                 .triangles = sides[0],
                                 .triangle_count = 12};
  add_shape(&plate);
  pose_two(1, tl_dvec3(0.05, 0.03, surface - depth - half), tl_quat_identity(), tl_quat_identity(),
           1e-3);
  double deepest = 0;
  for (size_t i = 0; i < s.contacts.count; ++i) {
    const tl_contact *c = &s.contacts.data[i];
    CHECK_MSG((double)c->normal.z > 0.99, "depth %g: normal %g", depth, (double)c->normal.z);
    deepest = fmin(deepest, (double)c->gap);
  }
  CHECK_MSG(deepest < -depth + 1e-5 && deepest > -depth - thick - 1e-5,
            "depth %g: %zu contacts, the deepest %g", depth, s.contacts.count, deepest);
  const size_t count = count_by_table(expected);
  check_same(expected, count);
  free_stage();
}

TEST(plate_that_is_wholly_behind_a_surface_comes_out) {
  static const double depths[] = {1e-4, 5e-4, 1e-3, 1.2e-3, 2e-3, 5e-3, 0.009, 0.012, 0.03, 0.1};
  talus_mesh mesh;
  const talus_mesh_recipe recipe = {.kind = "box", .size = {2, 2, 1}};
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  talus_shape_def block = {.kind = TALUS_MESH,
                           .points = (const double *)mesh.vertex,
                           .point_count = mesh.vertices,
                           .triangles = (const uint32_t *)mesh.triangle,
                           .triangle_count = mesh.triangles};
  for (size_t i = 0; i < sizeof depths / sizeof *depths; ++i) {
    block.sides = TALUS_SIDES_AUTO;
    check_buried(&block, 0.5, depths[i]);
    block.sides = TALUS_SIDES_IN;
    check_buried(&block, -0.5, depths[i]);
  }
  talus_mesh_free(&mesh);
}

/* Cubes on each other whose sides are parallel: where their edges cross is on sides of both, and
 * rounding must not decide. They are so deep, over the rim of each other by so much. */
TEST(cubes_with_parallel_sides_have_four_contacts) {
  static const double shifts[][2] = {{0.1, 0.07}, {-0.2, 0.13}, {0.31, -0.05}, {-0.02, -0.3}};
  static const double depths[] = {1e-9, 1e-6, 3e-4, 1e-3, 4e-3};
  static const double turns[] = {0, 1, 2, 3};
  clear_stage();
  add_mesh("box", 12, 1);
  add_mesh("box", 12, 1);
  for (size_t i = 0; i < sizeof shifts / sizeof *shifts; ++i)
    for (size_t k = TALUS_SINGLE ? 2 : 0; k < sizeof depths / sizeof *depths; ++k)
      for (size_t turn = 0; turn < 4; ++turn) {
        const double depth = depths[k];
        const double half = 0.25 * acos(-1) * turns[turn];
        const talus_quat about_z = {TL_R(cos(half)), 0, 0, TL_R(sin(half))};
        double deepest = 0, least = -1;
        pose_two(1, tl_dvec3(0.3 * shifts[i][0], 0.3 * shifts[i][1], 0.3 - depth),
                 tl_quat_identity(), about_z, 1e-3);
        for (size_t n = 0; n < s.contacts.count; ++n) {
          const tl_contact *c = &s.contacts.data[n];
          CHECK(c->normal.z > TL_R(0.999));
          deepest = fmin(deepest, (double)c->gap), least = fmax(least, (double)c->gap);
        }
        CHECK_MSG(s.contacts.count == 4, "shift %zu, depth %g, turn %zu: %zu contacts", i, depth,
                  turn, s.contacts.count);
        CHECK_NEAR(deepest, -depth, TALUS_SINGLE ? 1e-7 : 1e-12);
        CHECK_NEAR(least, -depth, TALUS_SINGLE ? 1e-7 : 1e-12);
      }
  free_stage();
}

/* Area of the convex polygon that two rectangles about (0, 0) and `at` have in common, the second
 * turned: by cutting the second with the sides of the first. */
static double common_area(double x, double y, double turn) {
  double p[16][2], q[16][2], area = 0;
  int n = 4;
  for (int i = 0; i < 4; ++i) {
    const double u = (i == 1 || i == 2 ? 0.25 : -0.25), v = i > 1 ? 0.1 : -0.1;
    p[i][0] = x + cos(turn) * u - sin(turn) * v, p[i][1] = y + sin(turn) * u + cos(turn) * v;
  }
  for (int side = 0; side < 4; ++side) {
    const int axis = side / 2, sign = side % 2 ? 1 : -1, count = n;
    const double most = axis ? 0.1 : 0.25;
    n = 0;
    for (int i = 0; i < count; ++i) {
      const double *a = p[i], *b = p[(i + 1) % count];
      const double h = most - sign * a[axis], k = most - sign * b[axis];
      if (h >= 0)
        memcpy(q[n++], a, sizeof q[0]);
      if ((h < 0) != (k < 0)) {
        const double t = h / (h - k);
        q[n][0] = a[0] + t * (b[0] - a[0]), q[n][1] = a[1] + t * (b[1] - a[1]), ++n;
      }
    }
    memcpy(p, q, sizeof p);
  }
  for (int i = 0; i < n; ++i)
    area += 0.5 * (p[i][0] * p[(i + 1) % n][1] - p[i][1] * p[(i + 1) % n][0]);
  return area;
}

/* Area between the contacts, seen along z of the frame: the largest of any four. */
static double area_of_contacts(const tl_frame *frame) {
  talus_dvec3 p[64];
  double most = 0;
  const size_t n = s.contacts.count;
  CHECK(n <= 64);
  for (size_t i = 0; i < n; ++i)
    p[i] = tl_frame_to_local(frame, s.contacts.data[i].point);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k)
        for (size_t l = 0; l < n; ++l)
          most = fmax(most, 0.5 * ((p[k].x - p[i].x) * (p[l].y - p[j].y) -
                                   (p[k].y - p[i].y) * (p[l].x - p[j].x)));
  return most;
}

/* Two blocks of mesh on each other, the upper one shifted, turned about the axis that joins them,
 * and so deep, both leaning: the contacts hold as much of what the faces share as four can, all are
 * as deep as that and lead along the axis. */
static void check_stack(double x, double y, double turn, double depth, talus_quat leaning) {
  const double area = common_area(x, y, turn), tiny = TALUS_SINGLE ? 1e-6 : 1e-12;
  const tl_frame frame = tl_frame_from_quat(leaning);
  const talus_quat about = {TL_R(cos(0.5 * turn)), 0, 0, TL_R(sin(0.5 * turn))};
  if (area < 5e-3) /* as narrow as what is searched: the way out may be aside */
    return;
  pose_two(1, tl_frame_to_world(&frame, tl_dvec3(x, y, 0.3 - depth)), leaning,
           tl_quat_mul(leaning, about), 1e-3);
  const double held = area_of_contacts(&frame);
  CHECK_MSG(held > 0.5 * area - 1e-5 && held < area + 1e-5,
            "%zu contacts hold %g of %g m2 (x %.17g y %.17g turn %.17g depth %g)", s.contacts.count,
            held, area, x, y, turn, depth);
  for (size_t i = 0; i < s.contacts.count; ++i) {
    const talus_vec3 n = s.contacts.data[i].normal;
    const talus_dvec3 z = tl_frame_axis(&frame, 2);
    CHECK_NEAR(s.contacts.data[i].gap, -depth, tiny);
    CHECK_NEAR(n.x * TL_R(z.x) + n.y * TL_R(z.y) + n.z * TL_R(z.z), 1, TALUS_SINGLE ? 1e-5 : 1e-9);
  }
}

/* Of an octagon four corners have at least half of the area. Where a block lies exactly on another
 * one, corners are on sides, and edges in edges; where it is shifted by less than it is deep, a
 * side is nearer to a corner than the face. */
TEST(blocks_on_each_other_lack_no_corner_of_what_they_share) {
  static const double turns[] = {0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.02, 0.3, 1, 2};
  static const double depths[] = {0, 1e-9, 1e-6, 3e-4, 1e-3, 4e-3};
  static const double shifts[] = {0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 0.02, 0.3};
  clear_stage();
  add_mesh("box", 12, 1);
  add_mesh("box", 12, 1);
  for (uint64_t seed = 1; seed <= (uint64_t)check_cases(20000); ++seed) {
    tl_random random = tl_random_start(seed, 4, 0);
    double shift[2];
    for (int k = 0; k < 2; ++k)
      shift[k] = shifts[(int)(10 * tl_random_unit(&random))] * (2 * tl_random_unit(&random) - 1);
    const double turn = turns[(int)(11 * tl_random_unit(&random))] +
                        0.5 * acos(-1) * (double)(int)(4 * tl_random_unit(&random));
    const int most = TALUS_SINGLE ? 3 : 6;
    const double depth = depths[6 - most + (int)(most * tl_random_unit(&random))];
    check_stack(shift[0], shift[1], turn, depth,
                seed % 2 ? random_turn(&random) : tl_quat_identity());
  }
  free_stage();
}

/* ---- threads --------------------------------------------------------------------------------- */

static void add_thread(const char *kind, size_t triangles, const double size[5]) {
  talus_mesh_recipe recipe = {.kind = kind, .triangles = triangles};
  talus_mesh mesh;
  memcpy(recipe.size, size, 5 * sizeof *size);
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  const talus_shape_def def = {.kind = TALUS_MESH,
                               .points = (const double *)mesh.vertex,
                               .point_count = mesh.vertices,
                               .triangles = (const uint32_t *)mesh.triangle,
                               .triangle_count = mesh.triangles};
  add_shape(&def);
  talus_mesh_free(&mesh);
}

/* A step of the scene `nut` in which the flanks are 4 um within each other, on many turns: the line
 * in which they meet goes round the bolt, and its height is no depth. */
TEST(nut_on_a_bolt_is_no_deeper_than_its_threads) {
  const double bolt[5] = {0.01, 0.0015, 0.012}, nut[5] = {0.01, 0.0015, 0.003, 0.016, 5e-5};
  static const double margins[] = {0, 2e-6, 3.85e-5, 4.15e-5, 5.35e-5, 5.5e-5, 1e-4};
  const double low[3] = {-2.5271029068028963e-08, -3.4664716697825984e-10, 0.0060000084880434349};
  const double high[3] = {6.7030371309079607e-06, 2.4653747588029014e-05, 0.0087704856027428415};
  const talus_quat first = {TL_R(0.99996558166367699), TL_R(0.0076780047850856306),
                            TL_R(-2.1983870677104033e-05), TL_R(0.0031437632312072638)};
  const talus_quat second = {TL_R(0.85319933257758362), TL_R(-0.00070244012721207077),
                             TL_R(-0.001031524783103275), TL_R(-0.52158349420170058)};
  clear_stage();
  add_thread("bolt", 12000, bolt);
  add_thread("nut", 3400, nut);
  for (size_t k = 0; k < sizeof margins / sizeof *margins; ++k) {
    pose_two(1, tl_dvec3(high[0] - low[0], high[1] - low[1], high[2] - low[2]), first, second,
             0.5 * margins[k]);
    CHECK_MSG(s.contacts.count > 4, "margin %g: %zu contacts", margins[k], s.contacts.count);
    for (size_t i = 0; i < s.contacts.count; ++i)
      CHECK_MSG((double)s.contacts.data[i].gap > -1e-5, "margin %g: contact %zu is %g m deep",
                margins[k], i, -(double)s.contacts.data[i].gap);
  }
  free_stage();
}

/* The nut on the bolt, turned and moved along its thread by so much, and up: pressed into the
 * flanks of the bolt. Of its depth along the axis the way out of a flank of 60 degrees is 0.866. */
static void turn_nut(double angle, double up) {
  const talus_quat turn = {TL_R(cos(0.5 * angle)), 0, 0, TL_R(sin(0.5 * angle))};
  const tl_frame frame = tl_frame_from_quat(turn);
  const talus_dvec3 nut = tl_frame_to_world(&frame, s.shapes[1].centre), bolt = s.shapes[0].centre;
  pose_two(1,
           tl_dvec3(nut.x - bolt.x, nut.y - bolt.y,
                    nut.z - bolt.z + up + 0.0015 * angle / (2 * acos(-1))),
           s.shapes[0].axes, tl_quat_mul(turn, s.shapes[1].axes), 1e-5);
}

/* Aligned, edges touch edges and triangles lie in each other; turned, nothing does. */
TEST(pressed_threads_are_as_deep_as_they_were_pressed) {
  SKIP_IF_SHORT();
  const double bolt[5] = {0.01, 0.0015, 0.012}, nut[5] = {0.01, 0.0015, 0.003, 0.016, 5e-5};
  static const double depths[] = {2e-5, 1e-4, 1.3e-4, 1.6e-4, 3e-4}, turns[] = {0, 0.1, 0.33};
  static tl_contact expected[64];
  const double play = 5e-5 * tan(acos(-1) / 6); /* of flanks whose radii are so far apart */
  clear_stage();
  add_thread("bolt", 12000, bolt);
  add_thread("nut", 3400, nut);
  for (size_t k = 0; k < sizeof depths / sizeof *depths; ++k)
    for (size_t turn = 0; turn < sizeof turns / sizeof *turns; ++turn) {
      double deepest = 0;
      turn_nut(turns[turn], 0.0045 + play + depths[k]);
      for (size_t i = 0; i < s.contacts.count; ++i)
        deepest = fmax(deepest, -(double)s.contacts.data[i].gap);
      CHECK_MSG(deepest > 0.8 * depths[k] && deepest < 1.1 * depths[k] + 1e-5,
                "pressed by %g, turned by %g: %g deep", depths[k], turns[turn], deepest);
      if (turn == k % 3) {
        const size_t count = count_by_table(expected);
        check_same(expected, count);
      }
    }
  free_stage();
}

/* The way out of a rod in a plate is found facet by facet, each with all vertices: a request to
 * stop is looked for at every facet. */
TEST(way_out_of_a_rod_in_a_plate_can_be_given_up) {
  const double rod[5] = {0.05, 1.5};
  static tl_cancel cancel;
  clear_stage();
  add_thread("cylinder", 256, rod);
  add_mesh("box", 12, 1);
  atomic_store(&cancel.looks_of_tests, 1000000);
  s.crowd.cancel = &cancel;
  pose_two(1, tl_dvec3(0.02, 0.01, 0), tl_quat_identity(), tl_quat_identity(), 1e-3);
  CHECK(s.contacts.count > 0);
  const long looks = 1000000 - atomic_load(&cancel.looks_of_tests);
  CHECK_MSG(looks > 3 * 256, "%ld looks", looks); /* 424 without those at facets */
  atomic_store(&cancel.looks_of_tests, looks / 2);
  CHECK(tl_narrow_find_contacts(&s.crowd, &s.pairs, s.margins, &s.contacts) == TALUS_INTERRUPTED);
  free_stage();
}

TEST(lists_of_spheres_give_the_contacts_of_clumps) {
  static const double spheres[] = {0, 0,   0,   0.3,  0.3, 0, 0,   0.2,
                                   0, 0.3, 0.1, 0.25, 0,   0, 0.4, 0.15};
  const talus_shape_def clump = {.kind = TALUS_CLUMP, .points = spheres, .point_count = 4};
  const talus_shape_def box = {.kind = TALUS_BOX, .size = {0.5, 0.4, 0.3}};
  const talus_shape_def ball = {.kind = TALUS_SPHERE, .size = {0.3}};
  clear_stage();
  add_shape(&box); /* before the clump in the table, but after it in the list */
  add_shape(&clump);
  add_mesh("noisy-sphere", 80, 1.4);
  add_shape(&ball);
  compare_all_ways();
  free_stage();
}

TEST(clump_of_many_spheres_is_sorted_by_its_spheres) {
  enum { SPHERES = 3000 };
  static double spheres[4 * SPHERES];
  for (int i = 0; i < SPHERES; ++i) { /* a plate, from right to left */
    spheres[4 * i] = 0.01 * ((SPHERES - i) % 60), spheres[4 * i + 1] = 0.01 * (i / 60);
    spheres[4 * i + 2] = 0, spheres[4 * i + 3] = 0.01;
  }
  const talus_shape_def clump = {.kind = TALUS_CLUMP,
                                 .points = spheres,
                                 .point_count = SPHERES,
                                 .volume = 1,
                                 .inertia = {1, 1, 1}};
  const talus_shape_def box = {.kind = TALUS_BOX, .size = {2, 2, 0.1}};
  clear_stage();
  add_shape(&box);
  add_shape(&clump);
  s.model.bodies = 2;
  s.shape[0] = 1, s.shape[1] = 0;
  for (int i = 0; i < 2; ++i)
    s.scale[i] = 1, s.rotation[i] = tl_quat_identity(), s.margins[i] = TL_R(1e-3);
  s.position[1] = tl_dvec3(0, 0, -0.06);
  s.pair[0] = (tl_pair){0, 1}, s.pairs.count = 1;
  CHECK_OK(tl_narrow_find_contacts(&s.crowd, &s.pairs, s.margins, &s.contacts));
  CHECK_EQ_U64(s.contacts.count, SPHERES);
  for (size_t i = 0; i < s.contacts.count; ++i)
    CHECK_EQ_U64(s.contacts.data[i].feature_a, i);
  free_stage();
}

TEST_MAIN()
