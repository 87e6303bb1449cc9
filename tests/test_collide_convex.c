/* Every pair of convex kinds against long double references that know no GJK. */
#include "convex_reference.h"

static const talus_shape_kind kinds[] = {TALUS_SPHERE,        TALUS_BOX,      TALUS_ELLIPSOID,
                                         TALUS_CAPSULE,       TALUS_CYLINDER, TALUS_CONE,
                                         TALUS_SUPERELLIPSOID, TALUS_HULL};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const tl_point *deepest(const tl_point *p, int count) {
  const tl_point *best = p;
  for (int i = 1; i < count; ++i)
    if (p[i].gap < best->gap)
      best = &p[i];
  return best;
}

/* Places b so that the gap along a random direction is about `gap`. */
static void set_apart(tl_random *random, const tl_posed *a, tl_posed *b, double gap) {
  const lvec n =
      l_unit(lv(tl_random_normal(random), tl_random_normal(random), tl_random_normal(random)));
  b->position = tl_dvec3(0, 0, 0);
  const ld away = (ld)gap - ref_separation(a, b, n);
  b->position = tl_dvec3((double)(away * n.x), (double)(away * n.y), (double)(away * n.z));
}

/* Apart: the normal gives a lower bound of the distance, the two surface points an upper one. Both
 * from the definition of the shapes alone; where they meet the answer is proven. */
TEST(distance_of_every_pair_is_certified) {
  double worst = 0, worst_outside = 0;
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j)
      for (uint64_t serial = 0; serial < 60; ++serial) {
        tl_random random = tl_random_start(30, (uint32_t)(16 * i + j), serial);
        tl_shape shape_a = random_convex(&random, kinds[i]),
                 shape_b = random_convex(&random, kinds[j]);
        const tl_posed a = random_pose(&random, &shape_a, 0);
        tl_posed b = random_pose(&random, &shape_b, 1);
        set_apart(&random, &a, &b, pow(10, uniform(&random, -6, 0)));
        tl_point p[TL_NARROW_MAX_POINTS];
        const int count = tl_narrow_pair(&a, &b, 10, p);
        CHECK(count >= 1 && count <= TL_MANIFOLD_MAX);
        const tl_point *q = deepest(p, count);
        const lvec n = l_of3(q->normal);
        const double off = fabs((double)(ref_separation(&a, &b, l_unit(n)) - (ld)q->gap));
        const lvec on_a = l_madd(l_of(q->point), -0.5L * (ld)q->gap, n);
        const lvec on_b = l_madd(l_of(q->point), 0.5L * (ld)q->gap, n);
        const double outside = (double)fmaxl(ref_outside(&a, on_a), ref_outside(&b, on_b));
        worst = fmax(worst, off), worst_outside = fmax(worst_outside, outside);
        CHECK_MSG(off < (TALUS_SINGLE ? 2e-6 : 1e-10), "%s-%s case %" PRIu64 ": gap %g off by %g",
                  tl_shape_kind_name(kinds[i]), tl_shape_kind_name(kinds[j]), serial,
                  (double)q->gap, off);
        CHECK_MSG(outside < (TALUS_SINGLE ? 2e-5 : 1e-5),
                  "%s-%s case %" PRIu64 ": gap %g, point %g outside", tl_shape_kind_name(kinds[i]),
                  tl_shape_kind_name(kinds[j]), serial, (double)q->gap, outside);
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
  printf("  worst: gap %g, surface %g\n", worst, worst_outside);
}

/* Overlapping: no direction of a search parts the bodies by less. */
TEST(depth_of_every_pair_is_the_least_over_directions) {
  double worst = 0;
  int caught = 0;
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j)
      for (uint64_t serial = 0; serial < 40; ++serial) {
        tl_random random = tl_random_start(31, (uint32_t)(16 * i + j), serial);
        tl_shape shape_a = random_convex(&random, kinds[i]),
                 shape_b = random_convex(&random, kinds[j]);
        const tl_posed a = random_pose(&random, &shape_a, 0);
        tl_posed b = random_pose(&random, &shape_b, 1);
        set_apart(&random, &a, &b, -pow(10, uniform(&random, -6, -0.3)));
        const ld reference = ref_largest_separation(&a, &b, 600);
        tl_point p[TL_NARROW_MAX_POINTS];
        const int count = tl_narrow_pair(&a, &b, 10, p);
        CHECK(count >= 1 && count <= TL_MANIFOLD_MAX);
        const tl_point *q = deepest(p, count);
        const double off =
            fabs((double)(ref_separation(&a, &b, l_unit(l_of3(q->normal))) - (ld)q->gap));
        const double short_by = (double)(reference - (ld)q->gap);
        CHECK_MSG(off < (TALUS_SINGLE ? 2e-6 : 1e-10), "%s-%s case %" PRIu64 ": gap %g off by %g",
                  tl_shape_kind_name(kinds[i]), tl_shape_kind_name(kinds[j]), serial,
                  (double)q->gap, off);
        CHECK_MSG(short_by < (TALUS_SINGLE ? 1e-6 : 1e-7),
                  "%s-%s case %" PRIu64 ": gap %g, a direction has %Lg",
                  tl_shape_kind_name(kinds[i]), tl_shape_kind_name(kinds[j]), serial,
                  (double)q->gap, reference);
        worst = fmax(worst, short_by);
        caught += short_by < -1e-9;
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
  printf("  worst: %g; better than the search in %d\n", worst, caught);
}

TEST_MAIN()
