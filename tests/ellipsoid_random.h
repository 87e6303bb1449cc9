/* Random ellipsoids and pairs of them, for tests. */
#ifndef TESTS_ELLIPSOID_RANDOM_H
#define TESTS_ELLIPSOID_RANDOM_H

#include "kernels/collide_ellipsoid.h"

static uint64_t random_state = 88172645463325252u;

static inline double uniform(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (double)(random_state >> 11) * 0x1p-53;
}

static inline talus_dvec3 random_direction(void) {
  for (;;) {
    const talus_dvec3 v = tl_dvec3(2 * uniform() - 1, 2 * uniform() - 1, 2 * uniform() - 1);
    const double square = tl_ddot(v, v);
    if (square > 1e-4 && square <= 1)
      return tl_dscale(v, 1 / sqrt(square));
  }
}

static inline tl_frame random_frame(void) {
  const talus_quat q = {(talus_real)(2 * uniform() - 1), (talus_real)(2 * uniform() - 1),
                        (talus_real)(2 * uniform() - 1), (talus_real)(2 * uniform() + 0.1)};
  return tl_frame_from_quat(q);
}

/* Half axes log-uniform within a factor `aspect`, the longest about `size`. */
static inline tl_ellipsoid random_ellipsoid(double aspect, double size) {
  tl_ellipsoid e;
  for (int k = 0; k < 3; ++k)
    e.half[k] = size * pow(aspect, uniform() - 1);
  e.frame = random_frame();
  return e;
}

/* The longest half axis of the smaller body: what gaps are measured by. */
static inline double pair_size(const tl_ellipsoid *a, const tl_ellipsoid *b) {
  return fmin(tl_ellipsoid_most(a), tl_ellipsoid_most(b));
}

/* The place of b at which its gap from a along the common normal c is `gap`. */
static inline talus_dvec3 place_at_gap(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 c,
                                       double gap) {
  const tl_ell_share sa = tl_ellipsoid_share(a, c), sb = tl_ellipsoid_share(b, c);
  return tl_dadd(tl_dadd(sa.point, sb.point), tl_dscale(c, gap));
}

/* A place of b at which the boxes of the two overlap. */
static inline talus_dvec3 place_in_box(const tl_ellipsoid *a, const tl_ellipsoid *b) {
  const tl_ell_sym m = tl_ellipsoid_matrix(a), n = tl_ellipsoid_matrix(b);
  return tl_dvec3((2 * uniform() - 1) * (sqrt(m.xx) + sqrt(n.xx)),
                  (2 * uniform() - 1) * (sqrt(m.yy) + sqrt(n.yy)),
                  (2 * uniform() - 1) * (sqrt(m.zz) + sqrt(n.zz)));
}

#endif
