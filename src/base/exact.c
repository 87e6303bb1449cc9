#include "base/exact.h"

#include <math.h>

/* Of the determinant of three rounded differences, relative to the sum of the sizes of its
 * products: Shewchuk has 7 for one common place; rounding of the bound itself is in it, too. */
#define BOUND (16 * 0x1p-53)

/* Numbers whose sum is meant, of growing size, none of which overlap. */
typedef struct expansion {
  double part[200]; /* 48 products of three have four each */
  int count;
} expansion;

static void two_sum(double a, double b, double *sum, double *rest) {
  *sum = a + b;
  const double from_b = *sum - a, from_a = *sum - from_b;
  *rest = (a - from_a) + (b - from_b);
}

static void two_product(double a, double b, double *product, double *rest) {
  *product = a * b;
  *rest = fma(a, b, -*product);
}

static void add(expansion *e, double x) {
  int kept = 0;
  for (int i = 0; i < e->count; ++i) {
    double rest;
    two_sum(x, e->part[i], &x, &rest);
    if (rest != 0)
      e->part[kept++] = rest;
  }
  if (x != 0)
    e->part[kept++] = x;
  e->count = kept;
}

static void add_product(expansion *e, double a, double b, double c) {
  double ab, rest_ab, high, low;
  two_product(a, b, &ab, &rest_ab);
  two_product(ab, c, &high, &low);
  add(e, low), add(e, high);
  two_product(rest_ab, c, &high, &low);
  add(e, low), add(e, high);
}

/* d[0] + d[1] is the difference, exactly. */
static void differ(tl_way way, double d[3][2]) {
  two_sum(way.to.x, -way.from.x, &d[0][0], &d[0][1]);
  two_sum(way.to.y, -way.from.y, &d[1][0], &d[1][1]);
  two_sum(way.to.z, -way.from.z, &d[2][0], &d[2][1]);
}

static int turn_exactly(tl_way u, tl_way v, tl_way w) {
  static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  double a[3][2], b[3][2], c[3][2];
  expansion sum = {.count = 0};
  differ(u, a), differ(v, b), differ(w, c);
  for (int i = 0; i < 6; ++i)
    for (int bits = 0; bits < 8; ++bits) {
      const double x = a[order[i][0]][bits & 1];
      add_product(&sum, i < 3 ? x : -x, b[order[i][1]][bits >> 1 & 1], c[order[i][2]][bits >> 2]);
    }
  const double last = sum.count > 0 ? sum.part[sum.count - 1] : 0;
  return last > 0 ? 1 : last < 0 ? -1 : 0;
}

static talus_dvec3 difference(tl_way way) {
  return (talus_dvec3){way.to.x - way.from.x, way.to.y - way.from.y, way.to.z - way.from.z};
}

int tl_exact_turn(tl_way u, tl_way v, tl_way w) {
  const talus_dvec3 a = difference(u), b = difference(v), c = difference(w);
  const double yz = b.y * c.z, zy = b.z * c.y, zx = b.z * c.x, xz = b.x * c.z, xy = b.x * c.y,
               yx = b.y * c.x;
  const double turn = a.x * (yz - zy) + a.y * (zx - xz) + a.z * (xy - yx);
  const double size = fabs(a.x) * (fabs(yz) + fabs(zy)) + fabs(a.y) * (fabs(zx) + fabs(xz)) +
                      fabs(a.z) * (fabs(xy) + fabs(yx));
  if (fabs(turn) > BOUND * size)
    return turn > 0 ? 1 : -1;
  return turn_exactly(u, v, w);
}
