/* Mass properties of a union of spheres.
 *
 * A layer of constant z cuts the union in a union of discs, whose area and moments are exact: by
 * Green's theorem they are integrals along those arcs of the circles that no other disc covers.
 * Over z the layers are added up by Gauss's rule between the heights where the picture changes:
 * tops and bottoms of spheres, and of the circles in which two of them meet. Halving an interval
 * until both answers agree leaves an error that is known. */
#include "base/power.h"
#include "base/trig.h"
#include "shape/clump.h"

#include <stdlib.h>

#include "kernels/collide.h"
#include "shape/shape.h"

#define TOLERANCE 1e-11 /* of the whole, per interval */
#define DEPTH     10    /* halvings of an interval, at most */

typedef struct disc {
  double x, y, r;
  uint32_t sphere;
} disc;

typedef struct cover {
  double from, to; /* angles, from in [-pi, pi), to >= from */
} cover;

typedef struct clump {
  const double *sphere; /* x, y, z, r about a place within */
  uint32_t n;
  TL_ARRAY(disc) discs;
  TL_ARRAY(cover) covers;
  TL_ARRAY(double) heights;
  double scale[10]; /* of the moments: what an error is compared with */
} clump;

/* volume, x, y, z, xx, yy, zz, xy, xz, yz */
typedef struct sum {
  double m[10];
} sum;

/* ---- one layer ------------------------------------------------------------------------------- */

/* Primitives of the products of sine and cosine that the boundary integrals need, at t. */
typedef struct primitives {
  double t, c, s, cc, ss, ccc, sss, cccc, ssss, cs, ccs, cccs;
} primitives;

static primitives primitives_at(double t) {
  const double c = tl_cos_d(t), s = tl_sin_d(t), twice = 2 * s * c,
               four = 2 * twice * (1 - 2 * s * s);
  return (primitives){.t = t,
                      .c = s,
                      .s = -c,
                      .cc = (t + s * c) / 2,
                      .ss = (t - s * c) / 2,
                      .ccc = s - s * s * s / 3,
                      .sss = c * c * c / 3 - c,
                      .cccc = 3 * t / 8 + twice / 4 + four / 32,
                      .ssss = 3 * t / 8 - twice / 4 + four / 32,
                      .cs = s * s / 2,
                      .ccs = -c * c * c / 3,
                      .cccs = -c * c * c * c / 4};
}

/* Adds what the arc from angle t0 to t1 of a circle bounds: 1/2 of x dy - y dx, 1/2 x^2 dy,
 * -1/2 y^2 dx, 1/3 x^3 dy, -1/3 y^3 dx and 1/2 x^2 y dy, with x = a + r cos t, y = b + r sin t. */
static void add_arc(double out[6], const disc *d, double t0, double t1) {
  const primitives p = primitives_at(t0), q = primitives_at(t1);
  const double a = d->x, b = d->y, r = d->r;
#define D(member) (q.member - p.member)
  out[0] += 0.5 * r * (r * D(t) + a * D(c) + b * D(s));
  out[1] += 0.5 * r * (a * a * D(c) + 2 * a * r * D(cc) + r * r * D(ccc));
  out[2] += 0.5 * r * (b * b * D(s) + 2 * b * r * D(ss) + r * r * D(sss));
  out[3] +=
      r / 3 *
      (a * a * a * D(c) + 3 * a * a * r * D(cc) + 3 * a * r * r * D(ccc) + r * r * r * D(cccc));
  out[4] +=
      r / 3 *
      (b * b * b * D(s) + 3 * b * b * r * D(ss) + 3 * b * r * r * D(sss) + r * r * r * D(ssss));
  out[5] += 0.5 * r *
            (b * (a * a * D(c) + 2 * a * r * D(cc) + r * r * D(ccc)) +
             r * (a * a * D(cs) + 2 * a * r * D(ccs) + r * r * D(cccs)));
#undef D
}

static int by_start(const void *a, const void *b) {
  const cover *p = a, *q = b;
  return p->from < q->from ? -1 : p->from > q->from;
}

static talus_status push_cover(clump *c, double middle, double half) {
  double from = middle - half, to = middle + half;
  if (from < -TL_PI)
    from += 2 * TL_PI, to += 2 * TL_PI;
  if (to <= TL_PI)
    return tl_array_push(&c->covers, ((cover){from, to}));
  TL_TRY(tl_array_push(&c->covers, ((cover){from, TL_PI})));
  return tl_array_push(&c->covers, ((cover){-TL_PI, to - 2 * TL_PI}));
}

/* Finds the angles of disc i's circle that other discs cover. *all: the whole circle is covered. Of
 * equal discs the first counts. */
static talus_status find_covers(clump *c, size_t i, bool *all) {
  const disc *d = &c->discs.data[i];
  c->covers.count = 0;
  *all = false;
  for (size_t j = 0; j < c->discs.count; ++j) {
    const disc *e = &c->discs.data[j];
    const double dx = e->x - d->x, dy = e->y - d->y, square = dx * dx + dy * dy;
    const double reach = d->r + e->r, less = e->r - d->r;
    if (j == i || square >= reach * reach)
      continue;
    if (square <= less * less) {
      if (less > 0 || (less == 0 && j < i)) {
        *all = true;
        return TALUS_OK;
      }
      continue;
    }
    const double distance = sqrt(square);
    const double cosine = (square - less * reach) / (2 * distance * d->r);
    TL_TRY(push_cover(c, tl_atan2_d(dy, dx), tl_acos_d(fmax(-1, fmin(1, cosine)))));
  }
  if (c->covers.count > 1)
    qsort(c->covers.data, c->covers.count, sizeof *c->covers.data, by_start);
  return TALUS_OK;
}

static talus_status add_layer(clump *c, double z, double weight, sum *out) {
  double area[6] = {0};
  c->discs.count = 0;
  for (uint32_t i = 0; i < c->n; ++i) {
    const double *s = &c->sphere[4 * i], square = (s[3] - (z - s[2])) * (s[3] + (z - s[2]));
    if (square > 0)
      TL_TRY(tl_array_push(&c->discs, ((disc){s[0], s[1], sqrt(square), i})));
  }
  for (size_t i = 0; i < c->discs.count; ++i) {
    bool all;
    TL_TRY(find_covers(c, i, &all));
    double at = -TL_PI;
    for (size_t k = 0; k < c->covers.count && !all; ++k) {
      if (c->covers.data[k].from > at)
        add_arc(area, &c->discs.data[i], at, c->covers.data[k].from);
      at = fmax(at, c->covers.data[k].to);
    }
    if (at < TL_PI && !all)
      add_arc(area, &c->discs.data[i], at, TL_PI);
  }
  const double layer[10] = {area[0], area[1],         area[2], z * area[0], area[3],
                            area[4], z * z * area[0], area[5], z * area[1], z * area[2]};
  for (int k = 0; k < 10; ++k)
    out->m[k] += weight * layer[k];
  return TALUS_OK;
}

/* ---- all layers ------------------------------------------------------------------------------ */

/* Gauss's rule of eight points on [lo, hi] in u with z = middle + half (3u - u^3)/2, whose slope is
 * 0 at the ends: there areas begin like a power 3/2, which no polynomial follows. */
static talus_status add_interval(clump *c, double lo, double hi, sum *out) {
  static const double at[4] = {0.18343464249564980, 0.52553240991632899, 0.79666647741362674,
                               0.96028985649753623};
  static const double weight[4] = {0.36268378337836198, 0.31370664587788729, 0.22238103445337447,
                                   0.10122853629037626};
  const double middle = (lo + hi) / 2, half = (hi - lo) / 2;
  *out = (sum){{0}};
  for (int k = 0; k < 4; ++k)
    for (int side = -1; side <= 1; side += 2) {
      const double u = side * at[k];
      TL_TRY(add_layer(c, middle + half * u * (3 - u * u) / 2, weight[k] * half * 1.5 * (1 - u * u),
                       out));
    }
  return TALUS_OK;
}

static double difference(const clump *c, const sum *whole, const sum *left, const sum *right) {
  double worst = 0;
  for (int k = 0; k < 10; ++k)
    worst = fmax(worst, fabs(whole->m[k] - left->m[k] - right->m[k]) / c->scale[k]);
  return worst;
}

static talus_status add_adaptive(clump *c, double lo, double hi, const sum *whole, int depth,
                                 sum *total, double *error) {
  const double middle = (lo + hi) / 2;
  sum left, right;
  TL_TRY(add_interval(c, lo, middle, &left));
  TL_TRY(add_interval(c, middle, hi, &right));
  const double off = difference(c, whole, &left, &right);
  if (off > TOLERANCE && depth < DEPTH) {
    TL_TRY(add_adaptive(c, lo, middle, &left, depth + 1, total, error));
    return add_adaptive(c, middle, hi, &right, depth + 1, total, error);
  }
  *error += off;
  for (int k = 0; k < 10; ++k)
    total->m[k] += left.m[k] + right.m[k];
  return TALUS_OK;
}

static int by_value(const void *a, const void *b) {
  const double p = *(const double *)a, q = *(const double *)b;
  return p < q ? -1 : p > q;
}

/* Lowest and highest places of the circle in which spheres i and j meet. */
static talus_status add_meeting(clump *c, uint32_t i, uint32_t j) {
  const double *a = &c->sphere[4 * i], *b = &c->sphere[4 * j];
  const talus_dvec3 d = tl_dvec3(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
  const double length = tl_dlength(d);
  if (!(length < a[3] + b[3]) || !(length > fabs(a[3] - b[3])))
    return TALUS_OK;
  const double along = (length * length + (a[3] - b[3]) * (a[3] + b[3])) / (2 * length);
  const double radius = sqrt(fmax(0, a[3] * a[3] - along * along));
  const double tilt = tl_hypot_d(d.x, d.y) / length, z = a[2] + d.z / length * along;
  TL_TRY(tl_array_push(&c->heights, z - radius * tilt));
  return tl_array_push(&c->heights, z + radius * tilt);
}

static talus_status find_heights(clump *c) {
  for (uint32_t i = 0; i < c->n; ++i) {
    TL_TRY(tl_array_push(&c->heights, c->sphere[4 * i + 2] - c->sphere[4 * i + 3]));
    TL_TRY(tl_array_push(&c->heights, c->sphere[4 * i + 2] + c->sphere[4 * i + 3]));
    for (uint32_t j = 0; j < i; ++j)
      TL_TRY(add_meeting(c, i, j));
  }
  qsort(c->heights.data, c->heights.count, sizeof *c->heights.data, by_value);
  return TALUS_OK;
}

/* The largest sphere says what a moment is to be compared with. */
static void find_scale(clump *c) {
  double most = 0, far = 0;
  for (uint32_t i = 0; i < c->n; ++i) {
    const double *s = &c->sphere[4 * i];
    most = fmax(most, s[3]);
    far = fmax(far, sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) + s[3]);
  }
  const double volume = 4 * most * most * most;
  for (int k = 0; k < 10; ++k)
    c->scale[k] = k == 0 ? volume : k < 4 ? volume * far : volume * most * most;
}

static talus_status integrate(clump *c, tl_moments *moments, double *error) {
  sum total = {{0}};
  double off = 0;
  TL_TRY(find_heights(c));
  find_scale(c);
  const double *z = c->heights.data;
  const double least = 1e-14 * (z[c->heights.count - 1] - z[0]);
  double from = z[0];
  for (size_t i = 1; i < c->heights.count; ++i) {
    if (z[i] - from <= least)
      continue;
    sum whole;
    TL_TRY(add_interval(c, from, z[i], &whole));
    TL_TRY(add_adaptive(c, from, z[i], &whole, 0, &total, &off));
    from = z[i];
  }
  *moments = (tl_moments){.volume = total.m[0]};
  memcpy(moments->first, &total.m[1], sizeof moments->first);
  memcpy(moments->second, &total.m[4], sizeof moments->second);
  *error = off + 1e-15;
  return TALUS_OK;
}

talus_status tl_clump_moments(const double *spheres, size_t n, tl_moments *moments, double *error) {
  clump c = {.sphere = spheres, .n = (uint32_t)n};
  const talus_status status = integrate(&c, moments, error);
  tl_array_free(&c.discs);
  tl_array_free(&c.covers);
  tl_array_free(&c.heights);
  return status;
}

/* ---- the shape ------------------------------------------------------------------------------- */

static talus_status check_spheres(const char *who, const talus_shape_def *def) {
  if (def->point_count < 1 || !def->points)
    return tl_fail(TALUS_ERROR_INVALID, "%s: a clump needs one sphere at least", who);
  if (def->point_count > 100000)
    return tl_fail(TALUS_ERROR_INVALID, "%s: a clump of %zu spheres is too large, 100000 at most",
                   who, def->point_count);
  for (size_t i = 0; i < def->point_count; ++i) {
    const double *s = &def->points[4 * i];
    for (int k = 0; k < 4; ++k)
      if (!tl_is_finite_d(s[k]) || !(fabs(s[k]) < 1e50))
        return tl_fail(
            TALUS_ERROR_INVALID,
            "%s: sphere %zu of the clump is [%g, %g, %g, %g], but must be finite numbers", who, i,
            s[0], s[1], s[2], s[3]);
    if (!(s[3] > 0))
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: sphere %zu of the clump has the radius %g, but must have one > 0", who, i,
                     s[3]);
  }
  return TALUS_OK;
}

static talus_status check_given(const char *who, const talus_shape_def *def) {
  const double *t = def->inertia;
  const double centre[3] = {def->centre.x, def->centre.y, def->centre.z};
  bool good = tl_is_finite_d(def->volume) && def->volume > 0;
  for (int k = 0; k < 3; ++k)
    good = good && tl_is_finite_d(centre[k]);
  for (int k = 0; k < 6; ++k)
    good = good && tl_is_finite_d(t[k]);
  if (!good)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: volume, centre and inertia of a clump must be finite numbers, the volume "
                   "above 0",
                   who);
  return TALUS_OK;
}

/* Principal moments of real matter are positive, and none is larger than the sum of the others. */
static talus_status check_moments(const char *who, talus_vec3 g) {
  const double x = (double)g.x, y = (double)g.y, z = (double)g.z, room = 1e-6 * (x + y + z);
  if (x > 0 && y > 0 && z > 0 && x <= y + z + room && y <= z + x + room && z <= x + y + room)
    return TALUS_OK;
  return tl_fail(
      TALUS_ERROR_INVALID,
      "%s: no body has the principal moments %g, %g, %g m2 per kilogram that the inertia "
      "has; each must be above 0 and at most the sum of the other two",
      who, x, y, z);
}

static talus_status measure(const char *who, const talus_shape_def *def, tl_shape *shape) {
  if (def->volume != 0) {
    TL_TRY(check_given(who, def));
    shape->volume = def->volume, shape->centre = def->centre;
    tl_measure_inertia(shape, def->inertia);
    return check_moments(who, shape->gyration);
  }
  /* Relative to the first sphere, so that a clump far from its origin is as exact as a near one. */
  TL_ARRAY(double) near = {0};
  TL_TRY(tl_array_resize(&near, 4 * def->point_count));
  for (size_t i = 0; i < 4 * def->point_count; ++i)
    near.data[i] = def->points[i] - (i % 4 < 3 ? def->points[i % 4] : 0);
  tl_moments moments;
  const talus_status status =
      tl_clump_moments(near.data, def->point_count, &moments, &shape->error);
  tl_array_free(&near);
  TL_TRY(status);
  tl_measure_moments(shape, &moments);
  shape->centre = tl_dadd(shape->centre, tl_dvec3(def->points[0], def->points[1], def->points[2]));
  return TALUS_OK;
}

talus_status tl_clump_make(const char *who, const talus_shape_def *def, tl_shape *shape) {
  TL_TRY(check_spheres(who, def));
  TL_TRY(measure(who, def, shape));
  shape->point_count = (uint32_t)def->point_count;
  TL_TRY(tl_shape_allocate(shape));
  const tl_frame frame = tl_frame_from_quat(shape->axes);
  double far = 0;
  for (uint32_t i = 0; i < shape->point_count; ++i) {
    const double *s = &def->points[4 * i];
    double *to = &shape->points[4 * i];
    const talus_dvec3 at =
        tl_frame_to_local(&frame, tl_dsub(tl_dvec3(s[0], s[1], s[2]), shape->centre));
    to[0] = at.x, to[1] = at.y, to[2] = at.z, to[3] = s[3];
    far = fmax(far, tl_dlength(at) + s[3]);
  }
  shape->radius = TL_R(far * (1 + 2 * (double)TL_REAL_EPS));
  return TALUS_OK;
}
