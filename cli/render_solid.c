#include "render_solid.h"

#include <math.h>
#include <string.h>

/* The part of a ray inside a convex solid. */
typedef struct span {
  double in, out;
} span;

static const span all = {-INFINITY, INFINITY}, none = {INFINITY, -INFINITY};

static span both(span a, span b) { return (span){fmax(a.in, b.in), fmin(a.out, b.out)}; }

/* The part with low <= from + t along <= high. */
static span slab(double from, double along, double low, double high) {
  if (along == 0)
    return from >= low && from <= high ? all : none;
  const double a = (low - from) / along, b = (high - from) / along;
  return (span){fmin(a, b), fmax(a, b)};
}

/* The part with a t^2 + 2 b t + c <= 0, a >= 0. */
static span quadratic(double a, double b, double c) {
  if (!(a > 0))
    return c <= 0 ? all : none;
  const double square = b * b - a * c;
  if (square < 0)
    return none;
  const double root = sqrt(square), q = b >= 0 ? -b - root : -b + root;
  const double s = q / a, t = q != 0 ? c / q : s;
  return (span){fmin(s, t), fmax(s, t)};
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static span in_ellipsoid(const double *size, const solid_ray *r) {
  double o[3], d[3];
  for (int k = 0; k < 3; ++k)
    o[k] = r->from[k] / size[k], d[k] = r->along[k] / size[k];
  return quadratic(dot(d, d), dot(o, d), dot(o, o) - 1);
}

static span in_tube(double radius, const solid_ray *r) {
  const double *o = r->from, *d = r->along;
  return quadratic(d[0] * d[0] + d[1] * d[1], o[0] * d[0] + o[1] * d[1],
                   o[0] * o[0] + o[1] * o[1] - radius * radius);
}

static span in_cylinder(const double *size, const solid_ray *r) {
  return both(in_tube(size[0], r), slab(r->from[2], r->along[2], -size[1] / 2, size[1] / 2));
}

/* The union of its parts is convex, so everything between the ends of its parts is inside. */
static span in_capsule(const double *size, const solid_ray *r) {
  span found = in_cylinder(size, r);
  if (found.in > found.out)
    found = none;
  for (int side = -1; side <= 1; side += 2) {
    const double o[3] = {r->from[0], r->from[1], r->from[2] - side * size[1] / 2};
    const span cap =
        quadratic(dot(r->along, r->along), dot(o, r->along), dot(o, o) - size[0] * size[0]);
    if (cap.in <= cap.out)
      found.in = fmin(found.in, cap.in), found.out = fmax(found.out, cap.out);
  }
  return found;
}

/* x^2 + y^2 <= k^2 w^2 with w = height below the apex >= 0. A steep ray meets the double cone
 * twice; the half with w > 0 counts. */
static span in_cone(const double *size, const solid_ray *r) {
  const double k = size[0] / size[1], w = size[1] / 2 - r->from[2], dw = -r->along[2];
  const double *o = r->from, *d = r->along;
  const span between = slab(r->from[2], r->along[2], -size[1] / 2, size[1] / 2);
  const double a = d[0] * d[0] + d[1] * d[1] - k * k * dw * dw;
  const double b = o[0] * d[0] + o[1] * d[1] - k * k * w * dw;
  const double c = o[0] * o[0] + o[1] * o[1] - k * k * w * w;
  if (a >= 0)
    return both(quadratic(a, b, c), between);
  const span outside = quadratic(-a, -b, -c);
  if (outside.in > outside.out)
    return between;
  return both(dw > 0 ? (span){outside.out, INFINITY} : (span){-INFINITY, outside.in}, between);
}

static double superellipsoid_value(const double *s, const double p[3]) {
  const double flat = pow(fabs(p[0] / s[0]), s[4]) + pow(fabs(p[1] / s[1]), s[4]);
  return pow(flat, s[3] / s[4]) + pow(fabs(p[2] / s[2]), s[3]) - 1;
}

static double value_at(const double *size, const solid_ray *r, double t) {
  const double p[3] = {r->from[0] + t * r->along[0], r->from[1] + t * r->along[1],
                       r->from[2] + t * r->along[2]};
  return superellipsoid_value(size, p);
}

static double bisect(const double *size, const solid_ray *r, double within, double without) {
  for (int i = 0; i < 40; ++i) {
    const double t = (within + without) / 2;
    if (value_at(size, r, t) <= 0)
      within = t;
    else
      without = t;
  }
  return (within + without) / 2;
}

/* The left side is convex along the ray: ternary search finds its minimum, bisection the ends. */
static span in_superellipsoid(const double *size, const solid_ray *r) {
  span box = all;
  for (int k = 0; k < 3; ++k)
    box = both(box, slab(r->from[k], r->along[k], -size[k], size[k]));
  if (!(box.in < box.out))
    return none;
  double lo = box.in, hi = box.out, least = (lo + hi) / 2;
  for (int i = 0; i < 60 && value_at(size, r, least) > 0; ++i) {
    const double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
    if (value_at(size, r, a) < value_at(size, r, b))
      hi = b;
    else
      lo = a;
    least = (lo + hi) / 2;
  }
  if (value_at(size, r, least) > 0)
    return none;
  return (span){bisect(size, r, least, box.in), bisect(size, r, least, box.out)};
}

static span in_hull(const solid_shape *shape, const solid_ray *r) {
  span found = all;
  for (unsigned i = 0; i < shape->plane_count; ++i) {
    const double *n = shape->planes + 4 * i;
    const double speed = dot(n, r->along), room = n[3] - dot(n, r->from);
    if (speed > 0)
      found.out = fmin(found.out, room / speed);
    else if (speed < 0)
      found.in = fmax(found.in, room / speed);
    else if (room < 0)
      return none;
  }
  return found;
}

/* ---- normals --------------------------------------------------------------------------------- */

static void normal_of_turned(const solid_shape *shape, const double p[3], double n[3]) {
  const double r = shape->size[0], l = shape->size[1], flat = sqrt(p[0] * p[0] + p[1] * p[1]);
  n[0] = p[0], n[1] = p[1], n[2] = 0;
  if (shape->kind == FRAME_CAPSULE) {
    n[2] = p[2] - fmax(-l / 2, fmin(l / 2, p[2]));
    return;
  }
  /* The surface whose depth is smallest is the one that the point is on. */
  const double side = shape->kind == FRAME_CONE
                          ? fabs(flat - r * (0.5 - p[2] / l)) * l / hypot(r, l)
                          : fabs(r - flat);
  const double bottom = fabs(p[2] + l / 2);
  const double top = shape->kind == FRAME_CONE ? INFINITY : fabs(p[2] - l / 2);
  if (side > fmin(bottom, top)) {
    n[0] = n[1] = 0;
    n[2] = bottom < top ? -1 : 1;
  } else if (shape->kind == FRAME_CONE) {
    const double unit = flat > 0 ? 1 / flat : 0;
    n[0] *= unit, n[1] *= unit, n[2] = r / l;
  }
}

static void normal_at(const solid_shape *shape, const double p[3], double n[3]) {
  const double *s = shape->size;
  double best = -INFINITY;
  switch (shape->kind) {
  case FRAME_ELLIPSOID:
    for (int k = 0; k < 3; ++k)
      n[k] = p[k] / (s[k] * s[k]);
    break;
  case FRAME_SUPERELLIPSOID: {
    const double x = fabs(p[0] / s[0]), y = fabs(p[1] / s[1]), z = fabs(p[2] / s[2]);
    const double flat = pow(x, s[4]) + pow(y, s[4]);
    const double outer = flat > 0 ? pow(flat, s[3] / s[4] - 1) : 0;
    n[0] = copysign(outer * pow(x, s[4] - 1) / s[0], p[0]);
    n[1] = copysign(outer * pow(y, s[4] - 1) / s[1], p[1]);
    n[2] = copysign(pow(z, s[3] - 1) / s[2], p[2]);
    break;
  }
  case FRAME_HULL:
    for (unsigned i = 0; i < shape->plane_count; ++i) {
      const double *plane = shape->planes + 4 * i, height = dot(plane, p) - plane[3];
      if (height > best) {
        best = height;
        memcpy(n, plane, 3 * sizeof *n);
      }
    }
    break;
  default:
    normal_of_turned(shape, p, n);
  }
}

/* ---- the whole solid ------------------------------------------------------------------------- */

bool solid_hit(const solid_shape *shape, const solid_ray *ray, double near, double far,
               double *distance, double normal[3]) {
  span found = none;
  switch (shape->kind) {
  case FRAME_ELLIPSOID:
    found = in_ellipsoid(shape->size, ray);
    break;
  case FRAME_CAPSULE:
    found = in_capsule(shape->size, ray);
    break;
  case FRAME_CYLINDER:
    found = in_cylinder(shape->size, ray);
    break;
  case FRAME_CONE:
    found = in_cone(shape->size, ray);
    break;
  case FRAME_SUPERELLIPSOID:
    found = in_superellipsoid(shape->size, ray);
    break;
  case FRAME_HULL:
    found = in_hull(shape, ray);
    break;
  default:
    break;
  }
  if (!(found.in <= found.out))
    return false;
  *distance = found.in >= near ? found.in : found.out;
  if (!(*distance >= near && *distance <= far))
    return false;
  const double p[3] = {ray->from[0] + *distance * ray->along[0],
                       ray->from[1] + *distance * ray->along[1],
                       ray->from[2] + *distance * ray->along[2]};
  normal_at(shape, p, normal);
  return true;
}
