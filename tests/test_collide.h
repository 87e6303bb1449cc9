/* Shared by the tests of contact geometry: references in long double, which know places, rectangles
 * and vertices and nothing of the kernels' formulas; random shapes and poses; tolerances.
 *
 * Points are double in both builds: 1e-12 of the size of things. Normals and gaps are talus_real:
 * the same in double, their rounding (2e-7) in float. */
#ifndef TESTS_TEST_COLLIDE_H
#define TESTS_TEST_COLLIDE_H

#include "base/random.h"
#include "check.h"
#include "kernels/collide_container.h"
#include "narrow/narrow.h"
#include "shape/shape.h"

#define POINT_TOLERANCE 1e-12
#define REAL_TOLERANCE  (TALUS_SINGLE ? 2e-7 : 1e-12)

/* ---- long double vectors -------------------------------------------------------------------- */

typedef long double ld;
typedef struct lvec {
  ld x, y, z;
} lvec;

static inline lvec lv(ld x, ld y, ld z) { return (lvec){x, y, z}; }
static inline lvec l_add(lvec a, lvec b) { return lv(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline lvec l_madd(lvec a, ld s, lvec b) {
  return lv(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline lvec l_sub(lvec a, lvec b) { return l_madd(a, -1, b); }
static inline lvec l_scale(lvec a, ld s) { return lv(a.x * s, a.y * s, a.z * s); }
static inline ld l_dot(lvec a, lvec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline ld l_length(lvec a) { return sqrtl(l_dot(a, a)); }
static inline lvec l_of(talus_dvec3 v) { return lv(v.x, v.y, v.z); }
static inline lvec l_of3(talus_vec3 v) { return lv(v.x, v.y, v.z); }
static inline double l_distance(lvec a, lvec b) { return (double)l_length(l_sub(a, b)); }

/* q v q^-1, by Hamilton's product. */
static inline lvec l_rotate(talus_quat q, lvec v) {
  const ld w = q.w, x = q.x, y = q.y, z = q.z, square = w * w + x * x + y * y + z * z;
  const ld a = -x * v.x - y * v.y - z * v.z, b = w * v.x + y * v.z - z * v.y;
  const ld c = w * v.y - x * v.z + z * v.x, d = w * v.z + x * v.y - y * v.x;
  return l_scale(lv(-a * x + b * w - c * z + d * y, -a * y + b * z + c * w - d * x,
                    -a * z - b * y + c * x + d * w),
                 1 / square);
}

/* ---- random shapes and poses ---------------------------------------------------------------- */

static inline double uniform(tl_random *random, double lo, double hi) {
  return lo + (hi - lo) * tl_random_unit(random);
}

static inline talus_dvec3 anywhere(tl_random *random, double reach) {
  const double x = uniform(random, -reach, reach), y = uniform(random, -reach, reach);
  return tl_dvec3(x, y, uniform(random, -reach, reach));
}

static inline talus_quat random_quat(tl_random *random) {
  const talus_real w = TL_R(tl_random_normal(random)), x = TL_R(tl_random_normal(random));
  const talus_real y = TL_R(tl_random_normal(random)), z = TL_R(tl_random_normal(random));
  return tl_quat_normalize(tl_quat(w, x, y, z));
}

static inline tl_shape make(talus_shape_kind kind, double x, double y, double z, double d,
                            uint32_t open) {
  const talus_shape_def def = {.kind = kind, .size = {x, y, z, d}, .open = open};
  tl_shape shape;
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

static inline tl_shape random_shape(tl_random *random, talus_shape_kind kind) {
  const double x = uniform(random, 0.3, 2), y = uniform(random, 0.3, 2);
  const double z = uniform(random, 0.3, 2), d = uniform(random, -1, 1);
  if (kind == TALUS_PLANE)
    return make(kind, x - 1, y - 1, z - 1, d, 0);
  if (kind == TALUS_CONTAINER) /* some sides open, but never all */
    return make(kind, 2 * x, 2 * y, 2 * z, 0, tl_random_u32(random) % 63 & tl_random_u32(random));
  return make(kind, x, y, z, 0, 0);
}

static inline tl_posed posed(const tl_shape *shape, double scale, talus_dvec3 at, talus_quat q) {
  return (tl_posed){.shape = shape, .scale = TL_R(scale), .position = at, .rotation = q};
}

static inline tl_posed random_pose(tl_random *random, const tl_shape *shape, double reach) {
  const double scale = uniform(random, 0.5, 1.5);
  const talus_dvec3 at = anywhere(random, reach);
  return posed(shape, scale, at, random_quat(random));
}

static inline void check_point(const tl_point *got, lvec point, lvec normal, ld gap,
                               uint64_t serial) {
  CHECK_MSG(l_distance(l_of(got->point), point) <= 4 * POINT_TOLERANCE,
            "case %" PRIu64 ": off by %g", serial, l_distance(l_of(got->point), point));
  CHECK_MSG(l_distance(l_of3(got->normal), normal) <= REAL_TOLERANCE,
            "case %" PRIu64 ": normal off by %g", serial, l_distance(l_of3(got->normal), normal));
  CHECK_NEAR(got->gap, gap, REAL_TOLERANCE * (1 + fabs((double)gap)));
}

/* A sphere at the origin and the place where the other surface is nearest; `away` is the unit
 * vector from there to the sphere's centre, or its opposite if the centre is inside. */
static inline void check_sphere_point(const tl_point *got, ld radius, ld distance, lvec away,
                                      uint64_t serial) {
  const lvec on_sphere = l_scale(away, -radius), on_other = l_scale(away, -distance);
  check_point(got, l_scale(l_add(on_sphere, on_other), 0.5L), l_scale(away, -1), distance - radius,
              serial);
}

/* ---- rectangles and vertices of a box -------------------------------------------------------- */

/* Rectangle number k (0 ... 5) of a box: the nearest place to the origin. */
static inline lvec nearest_on_face(const tl_posed *box, int face, bool *inner_side) {
  const int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
  lvec axes[3] = {l_rotate(box->rotation, lv(1, 0, 0)), l_rotate(box->rotation, lv(0, 1, 0)),
                  l_rotate(box->rotation, lv(0, 0, 1))};
  ld half[3];
  for (int i = 0; i < 3; ++i)
    half[i] = 0.5L * (ld)box->shape->size[i] * (ld)box->scale;
  const lvec normal = l_scale(axes[axis], face % 2 ? 1 : -1);
  const lvec middle = l_madd(l_of(box->position), half[axis], normal);
  const lvec to_origin = l_scale(middle, -1);
  const ld along_u = fminl(fmaxl(l_dot(to_origin, axes[u]), -half[u]), half[u]);
  const ld along_v = fminl(fmaxl(l_dot(to_origin, axes[v]), -half[v]), half[v]);
  *inner_side = l_dot(to_origin, normal) < 0;
  return l_madd(l_madd(middle, along_u, axes[u]), along_v, axes[v]);
}

static inline lvec box_vertex(const tl_posed *box, int k) {
  ld half[3];
  for (int i = 0; i < 3; ++i)
    half[i] = 0.5L * (ld)box->shape->size[i] * (ld)box->scale * ((k >> i) & 1 ? 1 : -1);
  return l_rotate(box->rotation, lv(half[0], half[1], half[2]));
}

#endif
