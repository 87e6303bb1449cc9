#include "shape/surrogate_fit.h"

#include <math.h>

#include "base/trig.h"
#include "kernels/nearest.h"

double tl_surrogate_farthest(const tl_surrogate_set *set, const tl_triangle_corners *t,
                             size_t *which) {
  const tl_triangle_face_d f = tl_triangle_face(t);
  const tl_triangle_vec_d none = tl_triangle_put(tl_dvec3(0, 0, 0));
  double most = 0;
  *which = 0;
  for (size_t i = 0; i < set->count; ++i) { /* as tl_point_triangle does */
    const tl_triangle_vec_d x = tl_triangle_put(set->place[i]);
    tl_triangle_near_d best = tl_triangle_nothing();
    for (int k = 0; k < 3; ++k)
      tl_triangle_keep_sides_d(&best, x, none, 0, f.corner[k], f.side[k], f.per[k], k);
    tl_triangle_keep_face_d(&best, &f, x, tl_triangle_height_d(&f, x), 1, 3);
    if (best.square > most)
      most = best.square, *which = i;
  }
  return sqrt(most);
}

/* ---- quick: any triangle is valid, so a good one will do ----------------------------------------
 */

#define DIRECTIONS 48 /* whose extreme places stand for a large set */
#define GROWTH     24 /* steps */
#define SHRINKS    6

/* The places that matter: those of a small set, the extreme ones of a large one. */
static size_t extreme_places(const tl_surrogate_set *set, talus_dvec3 out[2 * DIRECTIONS]) {
  if (set->count <= 2 * (size_t)DIRECTIONS) {
    memcpy(out, set->place, set->count * sizeof *out);
    return set->count;
  }
  for (int d = 0; d < DIRECTIONS; ++d) { /* spread evenly over half a sphere */
    const double z = (d + 0.5) / DIRECTIONS, r = sqrt(1 - z * z);
    const double turn = 2.399963229728653 * d; /* the golden angle */
    const double s = tl_sin_d(turn), c = tl_cos_d(turn);
    const talus_dvec3 n = tl_dvec3(r * c, r * s, z);
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < set->count; ++i) {
      const double h = tl_ddot(n, set->place[i]);
      if (h < low)
        low = h, out[2 * d] = set->place[i];
      if (h > high)
        high = h, out[2 * d + 1] = set->place[i];
    }
  }
  return 2 * (size_t)DIRECTIONS;
}

/* Volume of all that is within eps of the triangle: what it can be mistaken for. */
static double swept_volume(const tl_triangle_corners *t, double eps) {
  const talus_dvec3 u = tl_dsub(t->p[1], t->p[0]), v = tl_dsub(t->p[2], t->p[1]),
                    w = tl_dsub(t->p[0], t->p[2]);
  const double pi = 3.14159265358979323846;
  return eps *
         (tl_dlength(tl_dcross(u, v)) +
          eps * (0.5 * pi * (tl_dlength(u) + tl_dlength(v) + tl_dlength(w)) + eps * 4 * pi / 3));
}

/* The farthest place of the set and what of the triangle is nearest to it. */
static double farthest_quick(const talus_dvec3 *place, size_t count, const tl_triangle_corners *t,
                             talus_dvec3 *far, talus_dvec3 *near) {
  double most = -1;
  for (size_t i = 0; i < count; ++i) {
    int part;
    const talus_dvec3 q = tl_nearest_on_triangle(place[i], t->p, &part);
    const talus_dvec3 d = tl_dsub(place[i], q);
    const double square = tl_ddot(d, d);
    if (square > most)
      most = square, *far = place[i], *near = q;
  }
  return sqrt(fmax(most, 0));
}

/* Barycentric numbers of a place of the triangle: by areas, or along its longest side. */
static void weights_of(const tl_triangle_corners *t, talus_dvec3 q, double w[3]) {
  const talus_dvec3 u = tl_dsub(t->p[1], t->p[0]), v = tl_dsub(t->p[2], t->p[0]);
  const talus_dvec3 n = tl_dcross(u, v), r = tl_dsub(q, t->p[0]);
  const double square = tl_ddot(n, n), uu = tl_ddot(u, u), vv = tl_ddot(v, v);
  w[0] = 1, w[1] = w[2] = 0;
  if (square > 1e-20 * uu * vv) {
    w[1] = fmin(fmax(tl_ddot(tl_dcross(r, v), n) / square, 0), 1);
    w[2] = fmin(fmax(tl_ddot(tl_dcross(u, r), n) / square, 0), 1);
    w[0] = fmax(1 - w[1] - w[2], 0);
    return;
  }
  double least = HUGE_VAL; /* the nearest corner */
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 d = tl_dsub(q, t->p[k]);
    if (tl_ddot(d, d) < least) {
      least = tl_ddot(d, d);
      for (int i = 0; i < 3; ++i)
        w[i] = i == k;
    }
  }
}

/* Again and again a step, each shorter, towards the farthest place, as balls are made that hold a
 * set (Badoiu and Clarkson 2003): a triangle may tilt and stretch as well. Keeps the best. */
static double grow(const talus_dvec3 *place, size_t count, tl_triangle_corners t,
                   tl_triangle_corners *best, double least) {
  for (int i = 0; i < GROWTH; ++i) {
    talus_dvec3 far = place[0], near = place[0];
    const double eps = farthest_quick(place, count, &t, &far, &near);
    const double volume = swept_volume(&t, eps);
    if (volume < least)
      least = volume, *best = t;
    double w[3];
    weights_of(&t, near, w);
    const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    const talus_dvec3 step = tl_dscale(tl_dsub(far, near), 1 / (i + 2.0));
    for (int k = 0; k < 3; ++k)
      t.p[k] = tl_dalong(t.p[k], w[k] / square, step);
  }
  return least;
}

/* Corner by corner, and all at once, towards the middle, while what is within the halo shrinks:
 * growth never takes back what it went too far. */
static double shrink(const talus_dvec3 *place, size_t count, tl_triangle_corners *best,
                     double least) {
  for (int turn = 0; turn < SHRINKS; ++turn) {
    const double before = least;
    for (int which = 0; which < 4; ++which) { /* a corner, or all three */
      const talus_dvec3 middle =
          tl_dscale(tl_dadd(tl_dadd(best->p[0], best->p[1]), best->p[2]), 1.0 / 3);
      tl_triangle_corners t = *best;
      talus_dvec3 far, near;
      for (int k = 0; k < 3; ++k)
        if (which == 3 || which == k)
          t.p[k] = tl_dalong(middle, 0.7, tl_dsub(t.p[k], middle));
      const double volume = swept_volume(&t, farthest_quick(place, count, &t, &far, &near));
      if (volume < least)
        least = volume, *best = t;
    }
    if (!(least < before))
      break;
  }
  return least;
}

static talus_dvec3 mean_of(const talus_dvec3 *place, size_t count) {
  talus_dvec3 sum = tl_dvec3(0, 0, 0);
  for (size_t i = 0; i < count; ++i)
    sum = tl_dadd(sum, place[i]);
  return tl_dscale(sum, 1 / (double)count);
}

/* The places that span the most: the farthest from the middle, the farthest from that, the farthest
 * from the line through both. */
static tl_triangle_corners spanning(const talus_dvec3 *place, size_t count, talus_dvec3 middle) {
  tl_triangle_corners t = {{middle, middle, middle}};
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 along = tl_dsub(t.p[1], t.p[0]);
    double most = -1;
    talus_dvec3 found = middle;
    for (size_t i = 0; i < count; ++i) {
      const talus_dvec3 d = tl_dsub(place[i], k == 0 ? middle : t.p[0]);
      const talus_dvec3 off = k < 2 ? d : tl_dcross(along, d);
      if (tl_ddot(off, off) > most)
        most = tl_ddot(off, off), found = place[i];
    }
    t.p[k] = found;
  }
  return t;
}

tl_triangle_corners tl_surrogate_fit_quick(const tl_surrogate_set *set) {
  talus_dvec3 place[2 * DIRECTIONS];
  const size_t count = extreme_places(set, place);
  const talus_dvec3 middle = mean_of(place, count);
  const tl_triangle_corners wide = spanning(place, count, middle);
  const talus_dvec3 about = mean_of(wide.p, 3);
  tl_triangle_corners best = {{middle, middle, middle}};
  double least = HUGE_VAL;
  for (int k = 0; k < 3; ++k) { /* a point, and two sizes of what the places span */
    tl_triangle_corners t = {{middle, middle, middle}}, grown;
    for (int i = 0; i < 3 && k > 0; ++i)
      t.p[i] = tl_dalong(about, k == 1 ? 0.4 : 0.8, tl_dsub(wide.p[i], about));
    grown = t;
    double volume = grow(place, count, t, &grown, HUGE_VAL);
    volume = shrink(place, count, &grown, volume);
    if (volume < least)
      least = volume, best = grown;
  }
  return best;
}

/* ---- the functional -------------------------------------------------------------------------- */

#define BETA_SIZE    8 /* "an integer that we usually pick very high" */
#define ALPHA_AREA   1e-6
#define ALPHA_INSIDE 1.0
#define DESCENT      60 /* steps */

/* Lengths are in units of the set's radius, sums are means: so that no number depends on the size
 * of the mesh or the count of its triangles. */
typedef struct functional {
  const tl_surrogate_set *set;
  talus_dvec3 middle;
  double radius;
} functional;

static double power8(double square) {
  square *= square;
  return square * square;
}

/* (5.5): corners near all triangles; not without area; not beyond the triangles. */
static double functional_of(const functional *f, const talus_dvec3 x[3]) {
  const size_t triangles = f->set->count / 3;
  const talus_dvec3 n = tl_dcross(tl_dsub(x[1], x[0]), tl_dsub(x[2], x[0]));
  const double area = tl_ddot(n, n), per = area > 0 ? 1 / sqrt(area) : 0;
  double size = 0, inside = 0;
  for (size_t t = 0; t < triangles; ++t) {
    const talus_dvec3 *v = f->set->place + 3 * t;
    const talus_dvec3 centre = mean_of(v, 3);
    for (int k = 0; k < 3; ++k) {
      int part;
      const talus_dvec3 world = tl_dalong(f->middle, f->radius, x[k]);
      const talus_dvec3 d = tl_dsub(world, tl_nearest_on_triangle(world, v, &part));
      size += power8(tl_ddot(d, d) / (f->radius * f->radius));
      const double beyond = tl_ddot(tl_dsub(world, centre), n) * per / f->radius;
      inside += beyond > 0 ? beyond * beyond : 0;
    }
  }
  return (size / BETA_SIZE + ALPHA_INSIDE / 2 * inside) / (double)triangles +
         (area > 0 ? ALPHA_AREA / 2 / area : HUGE_VAL);
}

/* Downhill by differences, as far as it falls. */
static bool descend(const functional *f, talus_dvec3 x[3], double *value, double *step) {
  double slope[9], square = 0;
  double *at[9];
  for (int k = 0; k < 3; ++k)
    at[3 * k] = &x[k].x, at[3 * k + 1] = &x[k].y, at[3 * k + 2] = &x[k].z;
  for (int k = 0; k < 9; ++k) {
    const double old = *at[k];
    *at[k] = old + 1e-5;
    slope[k] = (functional_of(f, x) - *value) / 1e-5;
    *at[k] = old;
    square += slope[k] * slope[k];
  }
  if (!(square > 0) || !(square < HUGE_VAL))
    return false;
  for (int turn = 0; turn < 20; ++turn, *step *= 0.5) {
    const talus_dvec3 before[3] = {x[0], x[1], x[2]};
    for (int k = 0; k < 9; ++k)
      *at[k] -= *step * slope[k] / sqrt(square);
    const double now = functional_of(f, x);
    if (now < *value) {
      *value = now, *step *= 2;
      return true;
    }
    x[0] = before[0], x[1] = before[1], x[2] = before[2];
  }
  return false;
}

/* From a triangle of the set, as the thesis does: the largest, about the middle. */
tl_triangle_corners tl_surrogate_fit_functional(const tl_surrogate_set *set) {
  functional f = {.set = set, .middle = mean_of(set->place, set->count)};
  double most = -1, step = 0.1;
  talus_dvec3 x[3] = {{0, 0, 0}};
  for (size_t i = 0; i < set->count; ++i)
    f.radius = fmax(f.radius, tl_dlength(tl_dsub(set->place[i], f.middle)));
  if (!(f.radius > 0))
    return (tl_triangle_corners){{f.middle, f.middle, f.middle}};
  for (size_t t = 0; t < set->count; t += 3) {
    const talus_dvec3 *v = set->place + t;
    const talus_dvec3 n = tl_dcross(tl_dsub(v[1], v[0]), tl_dsub(v[2], v[0]));
    if (tl_ddot(n, n) > most)
      for (int k = 0; k < 3; ++k)
        most = tl_ddot(n, n), x[k] = tl_dscale(tl_dsub(v[k], f.middle), 1 / f.radius);
  }
  double value = functional_of(&f, x);
  for (int i = 0; i < DESCENT && descend(&f, x, &value, &step); ++i)
    continue;
  tl_triangle_corners t;
  for (int k = 0; k < 3; ++k)
    t.p[k] = tl_dalong(f.middle, f.radius, x[k]);
  return t;
}
