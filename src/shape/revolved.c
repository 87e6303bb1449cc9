#include "shape/revolved.h"

#include <math.h>

#include "shape/shape.h"

#define WRONG(...) return tl_fail(TALUS_ERROR_INVALID, __VA_ARGS__)

/* ---- checks ---------------------------------------------------------------------------------- */

static talus_status check_points(const char *who, const double *p, size_t n) {
  if (n < 2)
    WRONG("%s: the profile has %zu point%s, but must have at least two [z, radius]", who, n,
          n == 1 ? "" : "s");
  if (n > TL_REVOLVED_MOST_POINTS)
    WRONG("%s: the profile has %zu points, more than %d", who, n, TL_REVOLVED_MOST_POINTS);
  for (size_t i = 0; i < n; ++i, p += 2) {
    if (!tl_is_finite_d(p[0]) || !tl_is_finite_d(p[1]))
      WRONG("%s: point %zu of the profile is [%g, %g], but must be finite", who, i, p[0], p[1]);
    if (p[1] < 0)
      WRONG("%s: point %zu of the profile has the radius %g, but must have 0 or more", who, i,
            p[1]);
    if (i == 0)
      continue;
    if (p[0] == p[-2] && p[1] == p[-1])
      WRONG("%s: point %zu of the profile is the one before it, [%g, %g], again; leave it out", who,
            i, p[0], p[1]);
    if (p[1] == 0 && p[-1] == 0)
      WRONG("%s: points %zu and %zu of the profile are both on the axis, where there is no wall; "
            "leave one out",
            who, i - 1, i);
  }
  return TALUS_OK;
}

/* Twice the area of the triangle a, b, c in the meridian plane; its sign says on which side of a, b
 * the point c is. */
static double side_of(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool is_within(const double *a, const double *b, const double *c) {
  return fmin(a[0], b[0]) <= c[0] && c[0] <= fmax(a[0], b[0]) && fmin(a[1], b[1]) <= c[1] &&
         c[1] <= fmax(a[1], b[1]);
}

/* Whether the segments a, b and c, d have a place in common. */
static bool segments_meet(const double *a, const double *b, const double *c, const double *d) {
  const double ac = side_of(a, b, c), ad = side_of(a, b, d);
  const double ca = side_of(c, d, a), cb = side_of(c, d, b);
  if (((ac > 0 && ad < 0) || (ac < 0 && ad > 0)) && ((ca > 0 && cb < 0) || (ca < 0 && cb > 0)))
    return true;
  return (ac == 0 && is_within(a, b, c)) || (ad == 0 && is_within(a, b, d)) ||
         (ca == 0 && is_within(c, d, a)) || (cb == 0 && is_within(c, d, b));
}

/* Segments a, b and b, c lie on each other. */
static bool folds_back(const double *a, const double *b, const double *c) {
  return side_of(a, b, c) == 0 && (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) < 0;
}

static talus_status check_crossing(const char *who, const double *p, size_t n) {
  const bool closed = p[0] == p[2 * n - 2] && p[1] == p[2 * n - 1];
  for (size_t i = 0; i + 1 < n; ++i) {
    const size_t next = i + 2 < n ? i + 2 : closed ? 1 : i + 1;
    if (next != i + 1 && folds_back(p + 2 * i, p + 2 * i + 2, p + 2 * next))
      WRONG("%s: the profile folds back on itself at point %zu, [%g, %g]", who, i + 1, p[2 * i + 2],
            p[2 * i + 3]);
    for (size_t j = i + 2; j + 1 < n; ++j)
      if (!(closed && i == 0 && j + 2 == n) &&
          segments_meet(p + 2 * i, p + 2 * i + 2, p + 2 * j, p + 2 * j + 2))
        WRONG("%s: the profile crosses or touches itself: segments %zu to %zu and %zu to %zu", who,
              i, i + 1, j, j + 1);
  }
  return TALUS_OK;
}

talus_status tl_revolved_check(const char *who, const double *profile, size_t n) {
  TL_TRY(check_points(who, profile, n));
  return check_crossing(who, profile, n);
}

/* ---- shape ----------------------------------------------------------------------------------- */

/* The area between profile and axis, positive if the profile goes up, so that the axis is on its
 * left; for a ring it is the area within. */
static double area_of(const double *p, size_t n) {
  double area = 0;
  for (size_t i = 0; i + 1 < n; ++i, p += 2)
    area += 0.5 * (p[1] + p[3]) * (p[2] - p[0]);
  return area;
}

double tl_revolved_throat(const double *profile, size_t n) {
  double least = HUGE_VAL;
  for (size_t i = 0; i < n; ++i)
    if (profile[2 * i + 1] > 0)
      least = fmin(least, profile[2 * i + 1]);
  return least;
}

/* A tube or funnel: {radius at the bottom, at the top, length}. */
static talus_status check_funnel(const char *who, const double *size) {
  for (int i = 0; i < 2; ++i)
    if (!tl_is_finite_d(size[i]) || size[i] < 0 || !(size[0] > 0 || size[1] > 0))
      WRONG("%s: the radius at the %s is %g, but must be finite, and one of them > 0", who,
            i == 0 ? "bottom" : "top", size[i]);
  if (!tl_is_finite_d(size[2]) || !(size[2] > 0))
    WRONG("%s: the length is %g, but must be a finite length > 0 in metres", who, size[2]);
  return TALUS_OK;
}

talus_status tl_revolved_make(const char *who, const talus_shape_def *def, tl_shape *shape) {
  const double *size = def->size;
  const double funnel[4] = {-0.5 * size[2], size[0], 0.5 * size[2], size[1]};
  const bool has_points = def->points && def->point_count > 0;
  const double *profile = has_points ? def->points : funnel;
  const size_t n = has_points ? def->point_count : 2;
  if (!has_points && def->point_count == 0 && !def->points)
    TL_TRY(check_funnel(who, size));
  TL_TRY(tl_revolved_check(who, profile, n));
  const double area = area_of(profile, n);
  if (area == 0 && def->sides != TALUS_SIDES_BOTH)
    WRONG("%s: a flat plate has no inside; its sides must be both", who);
  shape->size[0] = area > 0 ? 1 : area < 0 ? -1 : 0;
  shape->open = def->sides == TALUS_SIDES_OUT    ? TL_REVOLVED_OUT
                : def->sides == TALUS_SIDES_BOTH ? TL_REVOLVED_BOTH
                                                 : TL_REVOLVED_IN;
  shape->point_count = (uint32_t)n;
  TL_TRY(tl_shape_allocate(shape));
  memcpy(shape->points, profile, 2 * n * sizeof *profile);
  double most = 0;
  for (size_t i = 0; i < n; ++i)
    most =
        fmax(most, sqrt(profile[2 * i] * profile[2 * i] + profile[2 * i + 1] * profile[2 * i + 1]));
  shape->radius = TL_R(most * (1 + 2 * (double)TL_REAL_EPS));
  return tl_revolved_facets(shape);
}
