/* The part of a ball that lies in a box, a ball or a cylinder.
 *
 * One flat face cuts off a cap, two balls share a lens: formulas. At the edges of a box and in a
 * cylinder the ball is cut into slices across an axis; the area that a slice has within the region
 * is a formula, and slices are summed by Gauss's rule between the heights at which its form
 * changes. */
#include "base/trig.h"
#include "flow/place.h"
#include "flow/share.h"

#define BREAKS 20 /* heights at which the form of a slice changes, at most 19 */
#define NODES  12

/* Half of the abscissae and weights of Gauss and Legendre for 12 nodes on [-1, 1]. */
static const double node[NODES / 2] = {0.1252334085114689155, 0.3678314989981801937,
                                       0.5873179542866174473, 0.7699026741943046870,
                                       0.9041172563704748567, 0.9815606342467192507};
static const double weight[NODES / 2] = {0.2491470458134027850, 0.2334925365383548087,
                                         0.2031674267230659217, 0.1600783285433462263,
                                         0.1069393259953184309, 0.0471753363865118271};

/* Lengths are in radii of the ball, whose centre is the origin. */
typedef struct slicer {
  double lo[2], hi[2];   /* of a rectangle, in every slice */
  double distance, wide; /* or a disc: of its middle from the ball's, and its radius */
  bool is_disc;
} slicer;

/* The part of a ball before a plane whose distance from its centre is d (negative: the centre is
 * beyond): 1 less a cap of height h = 1 - d, whose volume is pi h^2 (3 - h)/3. */
static double share_before(double d) {
  if (d >= 1)
    return 1;
  return d <= -1 ? 0 : 0.25 * (1 + d) * (1 + d) * (2 - d);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static double clamp(double x, double limit) { return fmin(fmax(x, -limit), limit); }

/* The integral of sqrt(r^2 - x^2) from 0 to x. */
static double half_area(double x, double r) {
  return 0.5 * (x * sqrt(fmax(0, r * r - x * x)) + r * r * tl_asin_d(clamp(x / r, 1)));
}

/* Area of a disc of radius r where x < a and y < b. */
static double quadrant(double a, double b, double r) {
  a = clamp(a, r), b = clamp(b, r);
  const double wide = sqrt(fmax(0, r * r - b * b)), m = clamp(a, wide);
  double area = b * (m + wide) + half_area(m, r) - half_area(-wide, r);
  if (b < 0)
    return area;
  area += 2 * (half_area(fmin(a, -wide), r) - half_area(-r, r)); /* where y < b everywhere */
  return a > wide ? area + 2 * (half_area(a, r) - half_area(wide, r)) : area;
}

static double rectangle_area(const slicer *s, double r) {
  return quadrant(s->hi[0], s->hi[1], r) - quadrant(s->lo[0], s->hi[1], r) -
         quadrant(s->hi[0], s->lo[1], r) + quadrant(s->lo[0], s->lo[1], r);
}

/* Area that two discs of radii r and R share, whose middles are d apart. */
static double lens_area(double r, double R, double d) {
  if (d >= r + R)
    return 0;
  if (d <= fabs(r - R))
    return TL_PI * fmin(r, R) * fmin(r, R);
  const double x = (d * d + r * r - R * R) / (2 * d); /* of the line through both crossings */
  return TL_PI / 2 * (r * r + R * R) - 2 * half_area(x, r) - 2 * half_area(d - x, R);
}

static double slice_area(const slicer *s, double r) {
  if (!(r > 0))
    return 0;
  return s->is_disc ? lens_area(r, s->wide, s->distance) : rectangle_area(s, r);
}

/* ---- the sum of slices ----------------------------------------------------------------------- */

/* Heights are sines, z = sin(t): what a slice is near the poles is smooth in t. */
static size_t find_breaks(const slicer *s, double from, double to, double breaks[BREAKS]) {
  double radius[8];
  size_t n = 0, count = 0;
  if (s->is_disc) {
    radius[n++] = fabs(s->wide - s->distance), radius[n++] = s->wide + s->distance;
  } else {
    const double x[2] = {s->lo[0], s->hi[0]}, y[2] = {s->lo[1], s->hi[1]};
    for (int i = 0; i < 2; ++i) {
      radius[n++] = fabs(x[i]), radius[n++] = fabs(y[i]);
      for (int k = 0; k < 2; ++k)
        radius[n++] = sqrt(x[i] * x[i] + y[k] * y[k]);
    }
  }
  breaks[count++] = from;
  if (from < 0 && to > 0) /* a slice as wide as the ball may just reach something */
    breaks[count++] = 0;
  for (size_t i = 0; i < n; ++i) {
    const double t = radius[i] < 1 ? tl_acos_d(radius[i]) : 0;
    for (int sign = -1; sign <= 1 && t > 0; sign += 2)
      if (sign * t > from && sign * t < to)
        breaks[count++] = sign * t;
  }
  breaks[count++] = to;
  for (size_t i = 1; i < count; ++i) /* few: by insertion */
    for (size_t k = i; k > 0 && breaks[k] < breaks[k - 1]; --k) {
      const double swap = breaks[k];
      breaks[k] = breaks[k - 1], breaks[k - 1] = swap;
    }
  return count;
}

/* Volume between the heights z0 and z1. Where a form begins its area goes with a power 3/2 of what
 * is beyond the break; t = a + (b - a)(3 u^2 - 2 u^3) makes that smooth at both ends. */
static double sum_slices(const slicer *s, double z0, double z1) {
  double breaks[BREAKS], sum = 0;
  const size_t n = find_breaks(s, tl_asin_d(clamp(z0, 1)), tl_asin_d(clamp(z1, 1)), breaks);
  for (size_t i = 0; i + 1 < n; ++i) {
    const double a = breaks[i], width = breaks[i + 1] - breaks[i];
    for (int k = 0; k < NODES; ++k) {
      const double u = 0.5 * (1 + (k % 2 ? -1 : 1) * node[k / 2]);
      const double t = a + width * u * u * (3 - 2 * u), r = tl_cos_d(t);
      sum += 0.5 * weight[k / 2] * width * 6 * u * (1 - u) * r * slice_area(s, r);
    }
  }
  return sum;
}

/* ---- regions --------------------------------------------------------------------------------- */

static double share_in_box(const talus_box *box, talus_dvec3 x, double r) {
  const double lo[3] = {(box->lo.x - x.x) / r, (box->lo.y - x.y) / r, (box->lo.z - x.z) / r};
  const double hi[3] = {(box->hi.x - x.x) / r, (box->hi.y - x.y) / r, (box->hi.z - x.z) / r};
  int cut = 0, axis = 0;
  for (int k = 0; k < 3; ++k) {
    if (lo[k] >= 1 || hi[k] <= -1)
      return 0;
    if (lo[k] > -1 || hi[k] < 1)
      cut++, axis = k;
  }
  if (cut == 0)
    return 1;
  if (cut == 1)
    return share_before(hi[axis]) + share_before(-lo[axis]) - 1;
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const slicer s = {.lo = {lo[u], lo[v]}, .hi = {hi[u], hi[v]}};
  return sum_slices(&s, lo[axis], hi[axis]) * 3 / (4 * TL_PI);
}

/* Two balls, of radii 1 and R, d apart: pi (R + 1 - d)^2 (d^2 + 2 d (R + 1) - 3 (R - 1)^2)/(12 d).
 */
static double share_in_ball(double R, double d) {
  if (d >= 1 + R)
    return 0;
  if (d <= fabs(R - 1))
    return R < 1 ? R * R * R : 1;
  const double a = R + 1 - d;
  return a * a * (d * d + 2 * d * (R + 1) - 3 * (R - 1) * (R - 1)) / (16 * d);
}

static double share_in_cylinder(const talus_region *region, talus_dvec3 d, double r) {
  const talus_dvec3 axis = tl_region_axis(region);
  const double along = tl_ddot(d, axis) / r, half = 0.5 * region->length / r;
  const slicer s = {.distance = tl_dlength(tl_dsub(d, tl_dscale(axis, along * r))) / r,
                    .wide = region->radius / r,
                    .is_disc = true};
  if (s.distance >= 1 + s.wide || fabs(along) >= 1 + half)
    return 0;
  if (s.distance + 1 <= s.wide)
    return share_before(half - along) + share_before(half + along) - 1;
  return sum_slices(&s, -half - along, half - along) * 3 / (4 * TL_PI);
}

double tl_share_ball(const talus_region *region, talus_dvec3 centre, double radius) {
  double share;
  if (!(radius > 0))
    return tl_region_contains(region, centre) ? 1 : 0;
  if (region->kind == TALUS_REGION_BOX) {
    share = share_in_box(&region->box, centre, radius);
  } else {
    const talus_dvec3 d = tl_dsub(centre, region->at);
    share = region->kind == TALUS_REGION_SPHERE
                ? share_in_ball(region->radius / radius, tl_dlength(d) / radius)
                : share_in_cylinder(region, d, radius);
  }
  return fmin(fmax(share, 0), 1);
}
