/* Convex bodies in long double, written from their definitions and not from src/kernels: support,
 * membership, and the largest separation over directions by brute force. */
#ifndef TESTS_CONVEX_REFERENCE_H
#define TESTS_CONVEX_REFERENCE_H

#include "kernels/convex_solve.h"
#include "test_collide.h"

static inline ld l_sign(ld x) { return x < 0 ? -1 : 1; }

/* Farthest point of a posed shape along d, from the shape's centre of mass, own axes and scale 1.
 */
static inline lvec ref_support(const tl_shape *s, lvec d) {
  const double *z = s->size;
  const ld flat = sqrtl(d.x * d.x + d.y * d.y), length = l_length(d);
  switch (s->kind) {
  case TALUS_SPHERE:
    return l_scale(d, (ld)z[0] / length);
  case TALUS_BOX:
    return lv(0.5L * (ld)z[0] * l_sign(d.x), 0.5L * (ld)z[1] * l_sign(d.y),
              0.5L * (ld)z[2] * l_sign(d.z));
  case TALUS_ELLIPSOID: {
    const lvec m =
        lv(d.x * (ld)z[0] * (ld)z[0], d.y * (ld)z[1] * (ld)z[1], d.z * (ld)z[2] * (ld)z[2]);
    return l_scale(m, 1 / sqrtl(l_dot(d, m)));
  }
  case TALUS_CAPSULE:
    return l_madd(lv(0, 0, 0.5L * (ld)z[1] * l_sign(d.z)), (ld)z[0] / length, d);
  case TALUS_CYLINDER:
    return lv(flat > 0 ? (ld)z[0] * d.x / flat : 0, flat > 0 ? (ld)z[0] * d.y / flat : 0,
              0.5L * (ld)z[1] * l_sign(d.z));
  case TALUS_CONE: {
    const lvec apex = lv(0, 0, 0.75L * (ld)z[1]);
    const lvec rim = lv(flat > 0 ? (ld)z[0] * d.x / flat : 0, flat > 0 ? (ld)z[0] * d.y / flat : 0,
                        -0.25L * (ld)z[1]);
    return l_dot(apex, d) > l_dot(rim, d) ? apex : rim;
  }
  case TALUS_SUPERELLIPSOID: {
    /* The point of the surface whose outward normal is along d, by its parametrisation. */
    const ld n1 = (ld)z[3], n2 = (ld)z[4];
    const ld x = powl(fabsl(d.x * (ld)z[0]), 1 / (n2 - 1)),
             y = powl(fabsl(d.y * (ld)z[1]), 1 / (n2 - 1));
    const ld ring = powl(powl(x, n2) + powl(y, n2), 1 / n2);
    const ld cx = ring > 0 ? x / ring : 0, cy = ring > 0 ? y / ring : 0;
    const ld q = fabsl(d.x) * (ld)z[0] * cx + fabsl(d.y) * (ld)z[1] * cy;
    const ld r = powl(q, 1 / (n1 - 1)), h = powl(fabsl(d.z * (ld)z[2]), 1 / (n1 - 1));
    const ld norm = powl(powl(r, n1) + powl(h, n1), 1 / n1);
    return lv((ld)z[0] * cx * r / norm * l_sign(d.x), (ld)z[1] * cy * r / norm * l_sign(d.y),
              (ld)z[2] * h / norm * l_sign(d.z));
  }
  case TALUS_HULL: {
    lvec best = {0};
    ld most = -HUGE_VALL;
    for (uint32_t i = 0; i < s->point_count; ++i) {
      const lvec p = lv(s->points[3 * i], s->points[3 * i + 1], s->points[3 * i + 2]);
      if (l_dot(p, d) > most)
        most = l_dot(p, d), best = p;
    }
    return best;
  }
  default:
    return lv(0, 0, 0);
  }
}

static inline ld ref_reach(const tl_posed *p, lvec n) {
  const lvec local = l_rotate(tl_quat_conj(p->rotation), n);
  return l_dot(n, l_of(p->position)) + (ld)p->scale * l_dot(local, ref_support(p->shape, local));
}

/* How far b is beyond a along the unit vector n. */
static inline ld ref_separation(const tl_posed *a, const tl_posed *b, lvec n) {
  return -ref_reach(b, l_scale(n, -1)) - ref_reach(a, n);
}

/* How far a place is outside the shape, roughly: at most 0 inside. */
static inline ld ref_outside(const tl_posed *p, lvec place) {
  const tl_shape *s = p->shape;
  const double *z = s->size;
  const lvec x = l_scale(l_rotate(tl_quat_conj(p->rotation), l_sub(place, l_of(p->position))),
                         1 / (ld)p->scale);
  const ld flat = sqrtl(x.x * x.x + x.y * x.y);
  switch (s->kind) {
  case TALUS_SPHERE:
    return l_length(x) - (ld)z[0];
  case TALUS_BOX:
    return fmaxl(fabsl(x.x) - 0.5L * (ld)z[0],
                 fmaxl(fabsl(x.y) - 0.5L * (ld)z[1], fabsl(x.z) - 0.5L * (ld)z[2]));
  case TALUS_ELLIPSOID: {
    const ld r = l_length(lv(x.x / (ld)z[0], x.y / (ld)z[1], x.z / (ld)z[2]));
    return (r - 1) * fminl((ld)z[0], fminl((ld)z[1], (ld)z[2]));
  }
  case TALUS_CAPSULE: {
    const ld h = fminl(fmaxl(x.z, -0.5L * (ld)z[1]), 0.5L * (ld)z[1]);
    return l_length(lv(x.x, x.y, x.z - h)) - (ld)z[0];
  }
  case TALUS_CYLINDER:
    return fmaxl(flat - (ld)z[0], fabsl(x.z) - 0.5L * (ld)z[1]);
  case TALUS_CONE: {
    const ld slant = sqrtl((ld)z[0] * (ld)z[0] + (ld)z[1] * (ld)z[1]);
    return fmaxl(-0.25L * (ld)z[1] - x.z,
                 (flat * (ld)z[1] + (x.z - 0.75L * (ld)z[1]) * (ld)z[0]) / slant);
  }
  case TALUS_SUPERELLIPSOID: {
    const ld n1 = (ld)z[3], n2 = (ld)z[4];
    const ld ring = powl(powl(fabsl(x.x / (ld)z[0]), n2) + powl(fabsl(x.y / (ld)z[1]), n2), 1 / n2);
    const ld r = powl(powl(ring, n1) + powl(fabsl(x.z / (ld)z[2]), n1), 1 / n1);
    return (r - 1) * fminl((ld)z[0], fminl((ld)z[1], (ld)z[2]));
  }
  case TALUS_HULL: {
    ld most = -HUGE_VALL;
    for (uint32_t f = 0; f < s->face_count; ++f) {
      const double *n = s->face_plane + 4 * f;
      most = fmaxl(most, l_dot(x, lv(n[0], n[1], n[2])) - (ld)n[3]);
    }
    return most;
  }
  default:
    return 0;
  }
}

static inline lvec l_unit(lvec v) { return l_scale(v, 1 / l_length(v)); }

/* Directions spread over the sphere, the best of them walked uphill with shrinking steps. A lower
 * bound of the largest separation, and near it but where ridges stop the walk. */
static inline ld ref_largest_separation(const tl_posed *a, const tl_posed *b, int directions) {
  enum { WALKS = 4 };
  ld best[WALKS] = {-HUGE_VALL, -HUGE_VALL, -HUGE_VALL, -HUGE_VALL};
  lvec at[WALKS] = {{0}};
  for (int k = 0; k < directions; ++k) {
    const ld z = 1 - (2 * k + 1) / (ld)directions, angle = 2.39996322972865332L * k;
    const ld r = sqrtl(1 - z * z);
    const lvec n = lv(r * cosl(angle), r * sinl(angle), z);
    const ld g = ref_separation(a, b, n);
    for (int w = 0; w < WALKS; ++w)
      if (g > best[w]) {
        for (int i = WALKS - 1; i > w; --i)
          best[i] = best[i - 1], at[i] = at[i - 1];
        best[w] = g, at[w] = n;
        break;
      }
  }
  ld most = -HUGE_VALL;
  for (int w = 0; w < WALKS; ++w) {
    for (ld step = 0.1L; step > 1e-10L; step *= 0.6L)
      for (int turn = 0; turn < 8; ++turn) {
        const lvec u =
            l_unit(fabsl(at[w].z) < 0.9L ? lv(at[w].y, -at[w].x, 0) : lv(0, at[w].z, -at[w].y));
        const lvec v = lv(at[w].y * u.z - at[w].z * u.y, at[w].z * u.x - at[w].x * u.z,
                          at[w].x * u.y - at[w].y * u.x);
        const ld angle = 0.785398163397448L * turn;
        const lvec n = l_unit(l_madd(l_madd(at[w], step * cosl(angle), u), step * sinl(angle), v));
        const ld g = ref_separation(a, b, n);
        if (g > best[w])
          best[w] = g, at[w] = n;
      }
    most = fmaxl(most, best[w]);
  }
  return most;
}

/* A shape of any bounded convex kind, of sizes near 1. */
static inline tl_shape random_convex(tl_random *random, talus_shape_kind kind) {
  talus_shape_def def = {.kind = kind};
  double points[3 * 24];
  for (int i = 0; i < 3; ++i)
    def.size[i] = uniform(random, 0.3, 1.2);
  if (kind == TALUS_SUPERELLIPSOID)
    def.size[3] = uniform(random, 1.6, 6), def.size[4] = uniform(random, 1.6, 6);
  if (kind == TALUS_HULL) {
    def.points = points, def.point_count = 8 + tl_random_u32(random) % 16;
    for (size_t i = 0; i < 3 * def.point_count; ++i)
      points[i] = uniform(random, -0.7, 0.7);
  }
  tl_shape shape;
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

#endif
