/* Exact signs, and flat bodies that share a place. */
#include "audit/flat.h"
#include "base/exact.h"
#include "base/random.h"
#include "free_fixture.h"
#include "narrow/advance.h"
#include "shape/shape.h"
#include "shape/facets.h"

#include <float.h>
#include <math.h>

static tl_random dice;

static double draw(double low, double high) { return low + (high - low) * tl_random_unit(&dice); }

/* ---- signs ----------------------------------------------------------------------------------- */

#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 wide;

static void take(tl_way way, wide d[3]) {
  d[0] = (wide)(int64_t)way.to.x - (wide)(int64_t)way.from.x;
  d[1] = (wide)(int64_t)way.to.y - (wide)(int64_t)way.from.y;
  d[2] = (wide)(int64_t)way.to.z - (wide)(int64_t)way.from.z;
}

/* The places are whole numbers below 2^38. */
static int turn_of_wholes(tl_way u, tl_way v, tl_way w) {
  wide a[3], b[3], c[3];
  take(u, a), take(v, b), take(w, c);
  const wide turn = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                    a[2] * (b[0] * c[1] - b[1] * c[0]);
  return turn > 0 ? 1 : turn < 0 ? -1 : 0;
}

static talus_dvec3 wholes(double low, double high) {
  return (talus_dvec3){floor(draw(low, high)), floor(draw(low, high)), floor(draw(low, high))};
}

/* Ways in a plane, or a step of one beside it, in places far from the origin. */
TEST(signs_are_those_of_whole_numbers) {
  dice = tl_random_start(22, 5, 1);
  int zeros = 0;
  for (int n = 0; n < (check_is_short() ? 20000 : 200000); ++n) {
    const double size = floor(pow(2, draw(1, 30))), i = floor(draw(-9, 9)), j = floor(draw(-9, 9));
    const talus_dvec3 at = wholes(0, 0x1p36), x = wholes(-size, size), y = wholes(-size, size);
    talus_dvec3 z = tl_dadd(tl_dscale(x, i), tl_dscale(y, j));
    if (n % 3 > 0)
      *(n % 7 % 3 == 0 ? &z.x : n % 7 % 3 == 1 ? &z.y : &z.z) += n % 3 == 1 ? 1 : -1;
    const tl_way u = {at, tl_dadd(at, x)}, v = {at, tl_dadd(at, y)}, w = {at, tl_dadd(at, z)};
    const int want = turn_of_wholes(u, v, w), got = tl_exact_turn(u, v, w);
    CHECK_MSG(got == want, "case %d: %d is %d", n, want, got);
    CHECK(tl_exact_turn(v, u, w) == -want && tl_exact_turn(w, u, v) == want);
    zeros += want == 0;
  }
  CHECK(zeros > 1000);
}
#endif

/* Differences that no double holds: the third way leaves the plane x = y by less than any of them
 * is rounded by. */
TEST(differences_are_not_rounded) {
  const double big = 0x1p60, least = 0x1p-40;
  const tl_way u = {{least, least, 0}, {big + 4096, big + 4096, 0}},
               v = {{0, 0, least}, {0, 0, big}};
  for (int i = -1; i <= 1; ++i) {
    const tl_way w = {{least + i * 0x1p-90, least, least}, {-big, -big, big}};
    CHECK(tl_exact_turn(u, v, w) == -i);
    CHECK(tl_exact_turn(v, u, w) == i);
  }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

typedef struct piece {
  tl_shape shape;
  tl_surface surface;
} piece;

static piece make_piece(talus_shape_kind kind, double x, double y, double z) {
  talus_shape_def def = talus_shape_def_default();
  tl_mesh mesh = {0};
  piece p = {.surface = {.points = {0}}};
  double points[10][3];
  def.kind = kind, def.size[0] = x, def.size[1] = y, def.size[2] = z;
  if (kind == TALUS_MESH) {
    CHECK_OK(tl_mesh_make_noisy_sphere(80, 1.5, 5, &mesh));
    for (size_t i = 0; i < mesh.vertices; ++i)
      for (int k = 0; k < 3; ++k)
        mesh.vertex[i][k] *= x;
    def.points = mesh.vertex[0], def.point_count = mesh.vertices;
    def.triangles = mesh.triangle[0], def.triangle_count = mesh.triangles;
  } else if (kind == TALUS_HULL) {
    for (int i = 0; i < 10; ++i)
      for (int k = 0; k < 3; ++k)
        points[i][k] = draw(-x, x);
    def.points = points[0], def.point_count = 10;
  }
  CHECK_OK(tl_shape_make(&def, &p.shape));
  CHECK_OK(tl_surface_make(&p.shape, &p.surface));
  tl_mesh_release(&mesh);
  return p;
}

static void release(piece *p) {
  tl_surface_release(&p->surface);
  tl_shape_release(&p->shape);
}

static bool share(const piece *a, talus_dvec3 at, talus_quat turned, const piece *b,
                  talus_dvec3 there, talus_quat q) {
  tl_flat x = {0}, y = {0};
  CHECK_OK(tl_flat_place(&x, &a->shape, &a->surface, 1, at, turned));
  CHECK_OK(tl_flat_place(&y, &b->shape, &b->surface, 1, there, q));
  const bool is_shared = tl_flats_share(&x, &y, NULL);
  CHECK(tl_flats_share(&y, &x, NULL) == is_shared);
  tl_flat_release(&x);
  tl_flat_release(&y);
  return is_shared;
}

static const talus_quat unturned = {1, 0, 0, 0};

TEST(boxes_that_touch_share_no_place_and_share_one_a_rounding_later) {
  piece box = make_piece(TALUS_BOX, 1, 1, 1);
  const talus_dvec3 origin = {0, 0, 0};
  const struct {
    talus_dvec3 to, by;
  } ways[] = {{{1, 0, 0}, {-1, 0, 0}},
              {{0, -1, 0.25}, {0, 1, 0}},
              {{1, 1, 0.5}, {-1, -1, 0}},
              {{-1, 1, 1}, {1, -1, -1}}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const talus_dvec3 to = ways[i].to;
    CHECK(!share(&box, origin, unturned, &box, to, unturned));
    CHECK(share(&box, origin, unturned, &box, tl_dmadd(to, 0x1p-50, tl_narrow(ways[i].by)),
                unturned));
    CHECK(!share(&box, origin, unturned, &box, tl_dmadd(to, -0x1p-50, tl_narrow(ways[i].by)),
                 unturned));
  }
  CHECK(share(&box, origin, unturned, &box, origin, unturned)); /* one and the same */
  release(&box);
}

TEST(a_body_within_another_shares_its_place_and_in_a_tank_it_does_not) {
  piece large = make_piece(TALUS_BOX, 1, 1, 1), small = make_piece(TALUS_BOX, 0.1, 0.1, 0.1),
        stone = make_piece(TALUS_MESH, 0.5, 0, 0), pebble = make_piece(TALUS_MESH, 0.05, 0, 0),
        tank = make_piece(TALUS_CONTAINER, 1, 1, 1);
  const talus_dvec3 origin = {0, 0, 0}, aside = {0.2, 0.1, 0}, through = {0.5, 0.1, 0};
  CHECK(share(&large, origin, unturned, &small, aside, unturned));
  CHECK(share(&large, origin, unturned, &pebble, aside, unturned));
  CHECK(share(&stone, origin, unturned, &pebble, aside, unturned));
  CHECK(share(&stone, origin, unturned, &small, aside, unturned));
  CHECK(!share(&tank, origin, unturned, &small, aside, unturned));
  CHECK(!share(&tank, origin, unturned, &pebble, aside, unturned));
  CHECK(share(&tank, origin, unturned, &small, through, unturned));
  CHECK(share(&tank, origin, unturned, &pebble, through, unturned));
  release(&large), release(&small), release(&stone), release(&pebble), release(&tank);
}

/* The gap of the narrow phase, which knows nothing of the signs. */
static double gap_of(const piece *a, const piece *b, talus_dvec3 there, talus_quat p,
                     talus_quat q) {
  const tl_advance pair = {.a = {&a->shape, 1, {.rotation = tl_dquat_widen(p)}},
                           .b = {&b->shape, 1, {.position = there, .rotation = tl_dquat_widen(q)}},
                           .h = 1};
  return tl_advance_gap(&pair, 0, 1);
}

static talus_quat turn_somehow(void) {
  talus_quat q = {TL_R(draw(-1, 1)), TL_R(draw(-1, 1)), TL_R(draw(-1, 1)), TL_R(draw(-1, 1))};
  return tl_quat_normalize(q);
}

static bool is_in(const piece *p, talus_dvec3 place) {
  if (p->shape.kind == TALUS_MESH)
    return tl_facets_winding(p->shape.facets, place) > 0;
  const double *x = p->surface.points.data;
  for (size_t i = 0; i < p->surface.corners.count; i += 3) {
    const uint32_t *v = &p->surface.corners.data[i];
    talus_dvec3 t[3];
    for (int k = 0; k < 3; ++k)
      t[k] = tl_dvec3(x[3 * v[k]], x[3 * v[k] + 1], x[3 * v[k] + 2]);
    if (tl_ddot(tl_dcross(tl_dsub(t[1], t[0]), tl_dsub(t[2], t[0])), tl_dsub(place, t[0])) > 0)
      return false;
  }
  return true;
}

/* Random places about the first body: how many are in both. */
static int count_shared(const piece *a, const piece *b, talus_dvec3 there, talus_quat p,
                        talus_quat q) {
  int count = 0;
  const tl_dquat back_p = tl_dquat_widen(tl_quat_conj(p)), back_q = tl_dquat_widen(tl_quat_conj(q));
  for (int i = 0; i < 400; ++i) {
    const talus_dvec3 x = {draw(-0.4, 0.4), draw(-0.4, 0.4), draw(-0.4, 0.4)};
    count += is_in(a, tl_dquat_rotate(back_p, x)) &&
             is_in(b, tl_dquat_rotate(back_q, tl_dsub(x, there)));
  }
  return count;
}

/* The narrow phase has no contact of a mesh that is half within a convex body: places tell. */
TEST(random_flat_bodies_share_a_place_where_their_gap_is_below_zero_or_places_are_in_both) {
  dice = tl_random_start(22, 6, 1);
  piece pieces[] = {make_piece(TALUS_BOX, 0.6, 0.4, 0.5), make_piece(TALUS_HULL, 0.3, 0, 0),
                    make_piece(TALUS_MESH, 0.25, 0, 0)};
  const double rounding = TALUS_SINGLE ? 1e-5 : 1e-9;
  int shared = 0, parted = 0;
  for (int n = 0; n < (check_is_short() ? 150 : 1500); ++n) {
    const piece *a = &pieces[n % 3], *b = &pieces[n / 3 % 3];
    const talus_quat p = turn_somehow(), q = turn_somehow();
    const talus_dvec3 there = {draw(-0.5, 0.5), draw(-0.5, 0.5), draw(-0.5, 0.5)};
    const double gap = gap_of(a, b, there, p, q);
    if (fabs(gap) < rounding)
      continue;
    const bool is_shared = share(a, (talus_dvec3){0, 0, 0}, p, b, there, q);
    const int places = count_shared(a, b, there, p, q);
    CHECK_MSG(is_shared ? gap < 0 || places > 0 : gap > 0 && places == 0,
              "case %d: kinds %d and %d, gap %g, %d places", n, (int)a->shape.kind,
              (int)b->shape.kind, gap, places);
    shared += is_shared, parted += !is_shared;
  }
  CHECK_MSG(shared > 50 && parted > 30, "%d and %d", shared, parted);
  for (size_t i = 0; i < 3; ++i)
    release(&pieces[i]);
}

TEST_MAIN()
