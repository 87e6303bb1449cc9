/* Regions: boxes, balls and cylinders (a disc is a cylinder of length 0). */
#include "base/power.h"
#include "base/trig.h"
#include "flow/place.h"

static const char axis_name[3] = {'x', 'y', 'z'};

typedef struct triple {
  double at[3];
} triple;

static triple spread(talus_dvec3 v) { return (triple){{v.x, v.y, v.z}}; }
static talus_dvec3 gather(triple t) { return tl_dvec3(t.at[0], t.at[1], t.at[2]); }

static bool is_finite3(talus_dvec3 v) {
  return tl_is_finite_d(v.x) && tl_is_finite_d(v.y) && tl_is_finite_d(v.z);
}

/* The axis of a cylinder, in double so that the length of float components cannot overflow. */
talus_dvec3 tl_region_axis(const talus_region *region) {
  const talus_dvec3 axis = tl_widen(region->axis);
  const double longest = fmax(fmax(fabs(axis.x), fabs(axis.y)), fabs(axis.z));
  const talus_dvec3 safe = tl_dscale(axis, 1 / longest);
  return tl_dscale(safe, 1 / tl_dlength(safe));
}

static talus_status check_box(const talus_region *region, const char *what) {
  if (!is_finite3(region->box.lo) || !is_finite3(region->box.hi))
    return tl_fail(TALUS_ERROR_INVALID, "%s: a corner of the box is not finite", what);
  const triple lo = spread(region->box.lo), hi = spread(region->box.hi);
  for (int k = 0; k < 3; ++k) {
    if (lo.at[k] > hi.at[k])
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: the box is inside out along %c: it goes from %g to %g; swap the corners",
                     what, axis_name[k], lo.at[k], hi.at[k]);
    if (!tl_is_finite_d(hi.at[k] - lo.at[k]))
      return tl_fail(TALUS_ERROR_INVALID, "%s: the box is too long along %c", what, axis_name[k]);
  }
  return TALUS_OK;
}

talus_status tl_region_check(const talus_region *region, const char *what) {
  if (region->kind == TALUS_REGION_BOX)
    return check_box(region, what);
  if (region->kind != TALUS_REGION_SPHERE && region->kind != TALUS_REGION_CYLINDER)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: unknown kind of region %d; use box, sphere or cylinder", what,
                   (int)region->kind);
  if (!is_finite3(region->at))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the middle of the region is not finite", what);
  if (!(region->radius > 0) || !tl_is_finite_d(region->radius))
    return tl_fail(TALUS_ERROR_INVALID, "%s: the radius of the region is %g; it must be positive",
                   what, region->radius);
  if (region->kind == TALUS_REGION_SPHERE)
    return TALUS_OK;
  if (!(region->length >= 0) || !tl_is_finite_d(region->length))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the length of the cylinder is %g; it must be positive, or 0 for a disc",
                   what, region->length);
  if (!tl_is_finite3(region->axis) ||
      (region->axis.x == 0 && region->axis.y == 0 && region->axis.z == 0))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the axis of the cylinder is (%g, %g, %g); it must be finite and not zero",
                   what, (double)region->axis.x, (double)region->axis.y, (double)region->axis.z);
  return TALUS_OK;
}

bool tl_region_contains(const talus_region *region, talus_dvec3 x) {
  if (region->kind == TALUS_REGION_BOX)
    return tl_box_contains(region->box, x);
  const talus_dvec3 d = tl_dsub(x, region->at);
  const double square = region->radius * region->radius;
  if (region->kind == TALUS_REGION_SPHERE)
    return tl_ddot(d, d) <= square;
  const talus_dvec3 axis = tl_region_axis(region);
  const double along = tl_ddot(d, axis);
  const talus_dvec3 across = tl_dsub(d, tl_dscale(axis, along));
  return fabs(along) <= 0.5 * region->length && tl_ddot(across, across) <= square;
}

double tl_region_volume(const talus_region *region) {
  const double r = region->radius;
  switch (region->kind) {
  case TALUS_REGION_BOX: {
    const talus_dvec3 edge = tl_dsub(region->box.hi, region->box.lo);
    return edge.x * edge.y * edge.z;
  }
  case TALUS_REGION_SPHERE:
    return 4.0 / 3.0 * TL_PI * r * r * r;
  case TALUS_REGION_CYLINDER:
    return TL_PI * r * r * region->length;
  }
  return 0;
}

talus_box tl_region_bounds(const talus_region *region) {
  if (region->kind == TALUS_REGION_BOX)
    return region->box;
  triple half = {{region->radius, region->radius, region->radius}};
  if (region->kind == TALUS_REGION_CYLINDER) {
    /* Extent along axis k: r sin(angle between the axes) for the caps, plus half the length times
     * the cosine for the sides. */
    const triple u = spread(tl_region_axis(region));
    for (int k = 0; k < 3; ++k)
      half.at[k] = 0.5 * region->length * fabs(u.at[k]) +
                   region->radius * sqrt(fmax(0, 1 - u.at[k] * u.at[k]));
  }
  return (talus_box){tl_dsub(region->at, gather(half)), tl_dadd(region->at, gather(half))};
}

/* The image nearest to the middle of the region; axes that are not periodic keep their bits. */
talus_dvec3 tl_region_nearest(const tl_model *model, const talus_region *region, talus_dvec3 x) {
  const talus_domain_def *domain = &model->domain;
  if (!domain->enabled || !(domain->periodic[0] || domain->periodic[1] || domain->periodic[2]))
    return x;
  const talus_box bounds = tl_region_bounds(region);
  const talus_dvec3 middle = tl_dscale(tl_dadd(bounds.lo, bounds.hi), 0.5);
  const talus_dvec3 image = tl_dadd(middle, tl_model_offset(model, middle, x));
  x.x = domain->periodic[0] ? image.x : x.x;
  x.y = domain->periodic[1] ? image.y : x.y;
  x.z = domain->periodic[2] ? image.z : x.z;
  return x;
}

/* A region that spans a period contains the other side of a ball at its other end. */
static bool is_endless(const tl_model *model, const talus_region *region, int k) {
  const talus_domain_def *domain = &model->domain;
  const triple lo = spread(domain->box.lo), hi = spread(domain->box.hi);
  const talus_box bounds = tl_region_bounds(region);
  const double period = hi.at[k] - lo.at[k];
  return domain->enabled && domain->periodic[k] &&
         spread(bounds.hi).at[k] - spread(bounds.lo).at[k] >= period * (1 - 1e-9);
}

talus_region tl_region_widen(const tl_model *model, const talus_region *region, double by) {
  talus_region wide = *region;
  if (region->kind == TALUS_REGION_BOX) {
    triple lo = spread(region->box.lo), hi = spread(region->box.hi);
    for (int k = 0; k < 3; ++k)
      if (is_endless(model, region, k))
        lo.at[k] -= by, hi.at[k] += by;
    wide.box = (talus_box){gather(lo), gather(hi)};
  }
  return wide;
}

bool tl_region_holds(const tl_model *model, const talus_region *region, talus_dvec3 x) {
  return tl_region_contains(region, x) ||
         tl_region_contains(region, tl_region_nearest(model, region, x));
}

/* ---- points inside --------------------------------------------------------------------------- */

/* The rest of `length` after `taken`; negative if it is not enough, except by rounding. */
static double left_over(double length, double taken) {
  const double left = length - taken;
  return left < 0 && left > -TL_PLACE_SLACK * taken ? 0 : left;
}

bool tl_region_inset(const talus_region *region, double radius, const bool spans[3],
                     talus_region *inset) {
  *inset = *region;
  if (region->kind == TALUS_REGION_BOX) {
    triple lo = spread(region->box.lo), hi = spread(region->box.hi);
    for (int k = 0; k < 3; ++k) {
      if (spans[k])
        continue;
      const double left = left_over(hi.at[k] - lo.at[k], 2 * radius);
      if (left < 0)
        return false;
      const double middle = 0.5 * (lo.at[k] + hi.at[k]);
      lo.at[k] = middle - 0.5 * left;
      hi.at[k] = middle + 0.5 * left;
    }
    inset->box = (talus_box){gather(lo), gather(hi)};
    return true;
  }
  inset->radius = left_over(region->radius, radius);
  if (region->kind == TALUS_REGION_CYLINDER)
    inset->length = left_over(region->length, 2 * radius);
  return inset->radius >= 0 && (region->kind == TALUS_REGION_SPHERE || inset->length >= 0);
}

/* A point uniform in the unit ball: the direction is uniform on the sphere (its height is uniform,
 * Archimedes), and the radius has density 3 r^2. */
static talus_dvec3 point_in_ball(tl_random *random) {
  const double height = 2 * tl_random_unit(random) - 1;
  const double turn = 2 * TL_PI * tl_random_unit(random);
  const double radius = tl_cbrt_d(tl_random_unit(random));
  const double side = sqrt(fmax(0, 1 - height * height));
  return tl_dscale(tl_dvec3(side * tl_cos_d(turn), side * tl_sin_d(turn), height), radius);
}

talus_dvec3 tl_region_point(const talus_region *region, tl_random *random) {
  if (region->kind == TALUS_REGION_SPHERE)
    return tl_dadd(region->at, tl_dscale(point_in_ball(random), region->radius));
  const double a = tl_random_unit(random), b = tl_random_unit(random), c = tl_random_unit(random);
  if (region->kind == TALUS_REGION_BOX) {
    const talus_dvec3 lo = region->box.lo, edge = tl_dsub(region->box.hi, region->box.lo);
    return tl_dvec3(lo.x + a * edge.x, lo.y + b * edge.y, lo.z + c * edge.z);
  }
  /* Any two directions perpendicular to the axis; computed in double, so that a disc stays flat in
   * the single build. */
  const talus_dvec3 axis = tl_region_axis(region);
  const double sign = axis.z >= 0 ? 1 : -1, f = -1 / (sign + axis.z); /* Duff et al. 2017 */
  const talus_dvec3 side =
      tl_dvec3(1 + sign * axis.x * axis.x * f, sign * axis.x * axis.y * f, -sign * axis.x);
  const talus_dvec3 other = tl_dvec3(axis.x * axis.y * f, sign + axis.y * axis.y * f, -axis.y);
  const double r = region->radius * sqrt(a), turn = 2 * TL_PI * b;
  talus_dvec3 x = tl_dadd(region->at, tl_dscale(side, r * tl_cos_d(turn)));
  x = tl_dadd(x, tl_dscale(other, r * tl_sin_d(turn)));
  return tl_dadd(x, tl_dscale(axis, (c - 0.5) * region->length));
}

/* ---- the domain ------------------------------------------------------------------------------ */

talus_status tl_region_check_domain(const tl_model *model, const talus_region *region,
                                    const char *what, bool spans[3]) {
  spans[0] = spans[1] = spans[2] = false;
  const talus_domain_def *domain = &model->domain;
  if (!domain->enabled)
    return TALUS_OK;
  const talus_box bounds = tl_region_bounds(region);
  const triple lo = spread(bounds.lo), hi = spread(bounds.hi);
  const triple from = spread(domain->box.lo), to = spread(domain->box.hi);
  for (int k = 0; k < 3; ++k) {
    const double period = to.at[k] - from.at[k], slack = TL_PLACE_SLACK * period;
    const double length = hi.at[k] - lo.at[k];
    if (domain->periodic[k]) {
      if (length > period + slack)
        return tl_fail(TALUS_ERROR_INVALID,
                       "%s: the region is %g m long along %c, more than the period of the domain "
                       "(%g m)",
                       what, length, axis_name[k], period);
      spans[k] = region->kind == TALUS_REGION_BOX && length >= period - slack;
    } else if (lo.at[k] < from.at[k] - slack || hi.at[k] > to.at[k] + slack) {
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: the region (%g to %g along %c) reaches out of the domain (%g to %g)",
                     what, lo.at[k], hi.at[k], axis_name[k], from.at[k], to.at[k]);
    }
  }
  return TALUS_OK;
}

static double wrap(double x, double lo, double hi) {
  if (x >= lo && x < hi)
    return x;
  const double image = x - (hi - lo) * floor((x - lo) / (hi - lo));
  return image >= lo && image < hi ? image : lo; /* rounding can give hi itself */
}

talus_dvec3 tl_place_wrap(const tl_model *model, talus_dvec3 x) {
  const talus_domain_def *domain = &model->domain;
  if (domain->enabled) {
    const talus_dvec3 lo = domain->box.lo, hi = domain->box.hi;
    x.x = domain->periodic[0] ? wrap(x.x, lo.x, hi.x) : x.x;
    x.y = domain->periodic[1] ? wrap(x.y, lo.y, hi.y) : x.y;
    x.z = domain->periodic[2] ? wrap(x.z, lo.z, hi.z) : x.z;
  }
  return x;
}
