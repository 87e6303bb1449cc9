/* The arithmetic of one visit, for a NUMBER that is a real or a vector of reals (ccp.h says why).
 *
 * No include guard: it is included once for each NUMBER. What must be defined:
 *   NUMBER              the type; + - * / and comparisons work lane by lane
 *   TRUTH               what a comparison gives; & | work on it
 *   NUMBER_SQRT(x)      the root of each lane, correctly rounded
 *   SELECT(test, a, b)  a where the test holds, b elsewhere
 *   ANY(test)           whether it holds in any lane
 *   VISIT(name)         the name with the variant's own prefix
 */
#ifndef NUMBER
/* If an editor or the compile check opens this file alone: the variant with a real. */
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

/* along n + keep across. */
TL_FN VISIT(vec) VISIT(join)(NUMBER along, VISIT(vec) n, NUMBER keep, VISIT(vec) across) {
  VISIT(vec) r;
  r.x = n.x * along + keep * across.x;
  r.y = n.y * along + keep * across.y;
  r.z = n.z * along + keep * across.z;
  return r;
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
  return VISIT(join)(pn, n, keep, gt);
}

/* The share of a vector of this squared length that the limit allows. */
TL_FN NUMBER VISIT(keep)(NUMBER square, NUMBER limit) {
  const NUMBER most = limit * limit, zero = {0}, one = zero + 1;
  const TRUTH fits = square <= most, some = limit > zero;
  NUMBER keep = SELECT(fits, one, zero);
  /* A root and a division, which most contacts of a heap do not need; nor does one without load. */
  if (ANY((square > most) & some))
    keep = SELECT(fits, one, SELECT(some, limit / NUMBER_SQRT(square), zero));
  return keep;
}

/* Coulomb's law for one contact whose response is diag(1/en, 1/et, 1/et), solved exactly: the
 * normal impulse that stops the approach, then the tangential one that stops the slip, cut to the
 * disk of radius mu times that normal impulse. g_n and g_t are what would stop them.
 *
 * Its fixed points are those of the projection with De Saxce's lift mu |u_t| in the bias
 * (docs/sources.md C3), which is Coulomb's law as well; but there the lift lowers the normal
 * impulse while there is slip, the lower impulse lets slip, and the share mu^2 en/(et + mu^2 en) of
 * an error is left: 0.97 for a sphere at mu = 3, 0.997 at mu = 10, where bodies sink before the
 * sweeps are over. */
TL_FN VISIT(vec) VISIT(coulomb)(NUMBER gn, VISIT(vec) gt, VISIT(vec) n, NUMBER mu) {
  const NUMBER zero = {0};
  const NUMBER pn = SELECT(gn < zero, zero, gn), keep = VISIT(keep)(VISIT(dot)(gt, gt), mu * pn);
  return VISIT(join)(pn, n, keep, gt);
}

/* The impulse after one visit, from impulse p and relative velocity u: Coulomb's law, or the
 * projection on the cone. */
TL_FN VISIT(vec) VISIT(step)(VISIT(vec) p, VISIT(vec) u, VISIT(vec) n, NUMBER bias, NUMBER mu,
                             NUMBER en, NUMBER et, const int is_ncp) {
  const NUMBER un = VISIT(dot)(u, n), pn = VISIT(dot)(p, n);
  const VISIT(vec) ut = VISIT(madd)(u, -un, n);
  const VISIT(vec) gt = VISIT(madd)(VISIT(madd)(p, -pn, n), -et, ut);
  const NUMBER gn = pn - en * (un + bias);
  VISIT(vec) r = is_ncp ? VISIT(coulomb)(gn, gt, n, mu) : VISIT(project)(gn, gt, n, mu, en, et);
  const NUMBER zero = {0};
  const TRUTH alive = en > zero;
  r.x = SELECT(alive, r.x, zero);
  r.y = SELECT(alive, r.y, zero);
  r.z = SELECT(alive, r.z, zero);
  return r;
}

/* The change of the objective p.N p/2 + p.(u + b n) by an impulse p that takes the relative
 * velocity from `before` to `after`. The sum over all impulses, in any order, is the objective
 * itself. */
TL_FN NUMBER VISIT(work)(VISIT(vec) p, VISIT(vec) before, VISIT(vec) after, VISIT(vec) n,
                         NUMBER bias) {
  const NUMBER both = VISIT(dot)(p, before) + VISIT(dot)(p, after), zero = {0};
  const NUMBER half = both * (zero + TL_R(0.5));
  return half + bias * VISIT(dot)(p, n);
}

/* The natural-map residual |p - P(p - eta (u + b))| / eta, m/s, with the scalar eta = min(3/trace,
 * 1/lambda_max) of the response seen as diag(1/en, 1/et, 1/et) (docs/sources.md C2); P is the
 * Euclidean projection on the cone, or Coulomb's law. 0 where nothing can move. */
TL_FN NUMBER VISIT(residual)(VISIT(vec) p, VISIT(vec) u, VISIT(vec) n, NUMBER bias, NUMBER mu,
                             NUMBER en, NUMBER et, const int is_ncp) {
  const NUMBER un = VISIT(dot)(u, n), pn = VISIT(dot)(p, n);
  const VISIT(vec) ut = VISIT(madd)(u, -un, n);
  const NUMBER zero = {0}, one = zero + 1;
  const NUMBER mean = 3 * en * et / (et + 2 * en);
  const NUMBER least = SELECT(en < et, en, et), eta = SELECT(mean < least, mean, least);
  const VISIT(vec) gt = VISIT(madd)(VISIT(madd)(p, -pn, n), -eta, ut);
  const NUMBER gn = pn - eta * (un + bias);
  const VISIT(vec) moved =
      is_ncp ? VISIT(coulomb)(gn, gt, n, mu) : VISIT(project)(gn, gt, n, mu, one, one);
  const VISIT(vec) change = VISIT(madd)(p, -one, moved);
  const NUMBER r = NUMBER_SQRT(VISIT(dot)(change, change)) / eta;
  return SELECT(eta > zero, r, zero);
}

#endif
