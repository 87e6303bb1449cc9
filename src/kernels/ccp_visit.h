/* The arithmetic of one visit, for a NUMBER that is a real or a vector of reals (ccp.h says why).
 *
 * No include guard: it is included once for each NUMBER. What must be defined:
 *   NUMBER              the type; + - * / and comparisons work lane by lane
 *   TRUTH               what a comparison gives; & | work on it
 *   NUMBER_SQRT(x)      the root of each lane, correctly rounded
 *   SELECT(test, a, b)  a where the test holds, b elsewhere
 *   VISIT(name)         the name with the variant's own prefix
 */
#ifndef NUMBER
/* Looked at alone (an editor, the compile check): the variant with a real. */
#include "kernels/ccp.h"
#else

typedef struct VISIT(vec) {
  NUMBER x, y, z;
} VISIT(vec);

TL_FN NUMBER VISIT(dot)(VISIT(vec) a, VISIT(vec) b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* a + s b. */
TL_FN VISIT(vec) VISIT(madd)(VISIT(vec) a, NUMBER s, VISIT(vec) b) {
  VISIT(vec) r;
  r.x = a.x + s * b.x;
  r.y = a.y + s * b.y;
  r.z = a.z + s * b.z;
  return r;
}

/* The relative velocity's tangential part, and the normal part of u + b. */
TL_FN VISIT(vec)
    VISIT(split)(VISIT(vec) u, VISIT(vec) n, NUMBER bias, NUMBER mu, NUMBER ncp, NUMBER *normal) {
  const NUMBER un = VISIT(dot)(u, n);
  const VISIT(vec) ut = VISIT(madd)(u, -un, n);
  *normal = un + bias + ncp * mu * NUMBER_SQRT(VISIT(dot)(ut, ut));
  return ut;
}

/* Projection of g_n n + g_t on the cone in the metric (en, et); see cone.h for the three cases. */
TL_FN VISIT(vec)
    VISIT(project)(NUMBER gn, VISIT(vec) gt, VISIT(vec) n, NUMBER mu, NUMBER en, NUMBER et) {
  const NUMBER zero = {0};
  const NUMBER square = VISIT(dot)(gt, gt), t = NUMBER_SQRT(square), limit = mu * gn;
  const TRUTH inside = (gn >= zero) & (square <= limit * limit);
  const NUMBER lean = mu * en;
  const NUMBER top = et * gn + lean * t;
  const NUMBER share = top / ((et + mu * lean) * t); /* p_n / |g_t|; only used where |g_t| > 0 */
  const TRUTH outside = top > zero;
  const NUMBER pn = SELECT(inside, gn, SELECT(outside, share * t, zero));
  const NUMBER keep = SELECT(inside, zero + 1, SELECT(outside, mu * share, zero));
  VISIT(vec) r;
  r.x = n.x * pn + keep * gt.x;
  r.y = n.y * pn + keep * gt.y;
  r.z = n.z * pn + keep * gt.z;
  return r;
}

/* The impulse after one projected step, from impulse p and relative velocity u. `ncp` is 1 or 0. */
TL_FN VISIT(vec) VISIT(step)(VISIT(vec) p, VISIT(vec) u, VISIT(vec) n, NUMBER bias, NUMBER mu,
                             NUMBER en, NUMBER et, NUMBER ncp) {
  NUMBER dn;
  const VISIT(vec) ut = VISIT(split)(u, n, bias, mu, ncp, &dn);
  const NUMBER pn = VISIT(dot)(p, n);
  const VISIT(vec) gt = VISIT(madd)(VISIT(madd)(p, -pn, n), -et, ut);
  VISIT(vec) r = VISIT(project)(pn - en * dn, gt, n, mu, en, et);
  const NUMBER zero = {0};
  const TRUTH alive = en > zero;
  r.x = SELECT(alive, r.x, zero);
  r.y = SELECT(alive, r.y, zero);
  r.z = SELECT(alive, r.z, zero);
  return r;
}

/* The natural-map residual |p - Pi(p - eta (u + b))| / eta, m/s, with the Euclidean projector and
 * the scalar eta = min(3/trace, 1/lambda_max) of the response seen as diag(1/en, 1/et, 1/et)
 * (SOURCES C2). 0 where nothing can move. */
TL_FN NUMBER VISIT(residual)(VISIT(vec) p, VISIT(vec) u, VISIT(vec) n, NUMBER bias, NUMBER mu,
                             NUMBER en, NUMBER et, NUMBER ncp) {
  NUMBER dn;
  const VISIT(vec) ut = VISIT(split)(u, n, bias, mu, ncp, &dn);
  const NUMBER zero = {0}, one = zero + 1;
  const NUMBER mean = 3 * en * et / (et + 2 * en);
  const NUMBER least = SELECT(en < et, en, et), eta = SELECT(mean < least, mean, least);
  const NUMBER pn = VISIT(dot)(p, n);
  const VISIT(vec) gt = VISIT(madd)(VISIT(madd)(p, -pn, n), -eta, ut);
  const VISIT(vec) moved = VISIT(project)(pn - eta * dn, gt, n, mu, one, one);
  const VISIT(vec) change = VISIT(madd)(p, -one, moved);
  const NUMBER r = NUMBER_SQRT(VISIT(dot)(change, change)) / eta;
  return SELECT(eta > zero, r, zero);
}

#endif
