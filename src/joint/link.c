#include "joint/link.h"

#include <math.h>

tl_ccp_body tl_link_answer(const tl_ccp_body *body, const tl_ccp_tensor *tensor, talus_vec3 linear,
                           talus_vec3 angular) {
  tl_ccp_body answer = *body;
  answer.v = answer.w = tl_vec3(0, 0, 0);
  if (body->inv_mass > 0)
    tl_ccp_turn(&answer, tensor, linear, angular);
  return answer;
}

static const tl_ccp_tensor *tensor_of(const tl_ccp_tensor *tensors, uint32_t body) {
  return tensors ? &tensors[body] : NULL;
}

/* L D L^T of the hard block. A pivot that is all rounding belongs to a row that says nothing new:
 * its inverse is 0, and it gets no impulse. */
static void factor_block(tl_link *link) {
  const int n = link->rows.hard;
  double d[TL_JOINT_HARD];
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      double sum = link->k[i][j];
      for (int m = 0; m < j; ++m)
        sum -= link->l[i][m] * d[m] * link->l[j][m];
      link->l[i][j] = sum * link->l[j][j];
    }
    d[i] = link->k[i][i];
    for (int m = 0; m < i; ++m)
      d[i] -= link->l[i][m] * link->l[i][m] * d[m];
    link->l[i][i] = d[i] > 1e-14 * link->k[i][i] ? 1 / d[i] : 0;
  }
}

static void solve_block(const tl_link *link, double x[TL_JOINT_HARD]) {
  const int n = link->rows.hard;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      x[i] -= link->l[i][j] * x[j];
  for (int i = 0; i < n; ++i)
    x[i] *= link->l[i][i];
  for (int i = n - 1; i >= 0; --i)
    for (int j = i + 1; j < n; ++j)
      x[i] -= link->l[j][i] * x[j];
}

/* The least that a body without locks answers to a row's push l and turn a: no moment of inertia is
 * more than mass times the square of the bounding radius. What answers far less is locked, and its
 * own answer, which is all rounding, no measure of how firmly the row may be held. */
static double least_answer(const tl_ccp_body *body, talus_vec3 l, talus_vec3 a, double r2) {
  return (double)body->inv_mass * ((double)tl_length2(l) + (double)tl_length2(a) / r2);
}

void tl_link_factor(tl_link *link, const tl_ccp_body *bodies, const tl_ccp_tensor *tensors) {
  const int n = tl_link_rows(link), hard = link->rows.hard;
  const double r2 = (double)(link->rows.length * link->rows.length);
  bool is_locked[TL_JOINT_ROWS];
  double own[TL_JOINT_ROWS];
  for (int j = 0; j < n; ++j) {
    const tl_joint_row *row = &link->rows.row[j];
    const tl_ccp_body a =
        tl_link_answer(&bodies[link->a], tensor_of(tensors, link->a), row->la, row->aa);
    const tl_ccp_body b =
        tl_link_answer(&bodies[link->b], tensor_of(tensors, link->b), row->lb, row->ab);
    for (int i = 0; i < n; ++i) {
      const tl_joint_row *other = &link->rows.row[i];
      link->k[i][j] = (double)(tl_dot(other->la, a.v) + tl_dot(other->aa, a.w)) +
                      (double)(tl_dot(other->lb, b.v) + tl_dot(other->ab, b.w));
    }
    /* Each body for itself: a light one that is locked says nothing about a heavy one. */
    const double of_a = (double)(tl_dot(row->la, a.v) + tl_dot(row->aa, a.w));
    const double of_b = (double)(tl_dot(row->lb, b.v) + tl_dot(row->ab, b.w));
    const double least_a = least_answer(&bodies[link->a], row->la, row->aa, r2);
    const double least_b = least_answer(&bodies[link->b], row->lb, row->ab, r2);
    is_locked[j] = of_a <= 1e-3 * least_a && of_b <= 1e-3 * least_b;
    own[j] = least_a + least_b;
  }
  for (int i = 0; i < n; ++i) {
    if (is_locked[i] && i == hard) /* a law that nothing can follow does nothing */
      link->k[i][i] = 0;
    link->soft[i] =
        (double)link->rows.soft[i] + TL_LINK_SOFT * (is_locked[i] ? own[i] : link->k[i][i]);
    if (i < hard)
      link->k[i][i] += link->soft[i];
  }
  factor_block(link);
  link->s = 0;
  if (!link->rows.has_law)
    return;
  for (int i = 0; i < hard; ++i)
    link->g[i] = link->k[i][hard];
  solve_block(link, link->g);
  link->s = link->k[hard][hard];
  for (int i = 0; i < hard; ++i)
    link->s -= link->g[i] * link->k[i][hard];
  /* Rounding must not make it vanish: that row would then take any impulse. */
  link->s = fmax(link->s, 1e-9 * link->k[hard][hard]);
}

/* J v of a row. */
static talus_real row_speed(const tl_link *link, const tl_ccp_body *bodies, int i) {
  const tl_joint_row *row = &link->rows.row[i];
  const tl_ccp_body *a = &bodies[link->a], *b = &bodies[link->b];
  return tl_dot(row->la, a->v) + tl_dot(row->aa, a->w) + tl_dot(row->lb, b->v) +
         tl_dot(row->ab, b->w);
}

void tl_link_speeds(const tl_link *link, const tl_ccp_body *bodies, double u[TL_JOINT_ROWS]) {
  const int n = tl_link_rows(link);
  for (int i = 0; i < n; ++i)
    u[i] = (double)(row_speed(link, bodies, i) + link->rows.bias[i]);
}

void tl_link_push(const tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors,
                  const double p[TL_JOINT_ROWS]) {
  talus_vec3 la = {0, 0, 0}, aa = {0, 0, 0}, lb = {0, 0, 0}, ab = {0, 0, 0};
  const int n = tl_link_rows(link);
  for (int i = 0; i < n; ++i) {
    const tl_joint_row *row = &link->rows.row[i];
    const talus_real each = (talus_real)p[i];
    la = tl_madd(la, each, row->la);
    aa = tl_madd(aa, each, row->aa);
    lb = tl_madd(lb, each, row->lb);
    ab = tl_madd(ab, each, row->ab);
  }
  tl_ccp_body *a = &bodies[link->a], *b = &bodies[link->b];
  if (a->inv_mass > 0)
    tl_ccp_turn(a, tensor_of(tensors, link->a), la, aa);
  if (b->inv_mass > 0)
    tl_ccp_turn(b, tensor_of(tensors, link->b), lb, ab);
}

void tl_link_step(const tl_link *link, const tl_ccp_body *bodies, const talus_real p[TL_JOINT_ROWS],
                  double scale, double dp[TL_JOINT_ROWS]) {
  const int hard = link->rows.hard;
  double u[TL_JOINT_ROWS] = {0};
  tl_link_speeds(link, bodies, u);
  for (int i = 0; i < hard; ++i)
    u[i] += link->soft[i] * (double)p[i];
  double law = 0;
  if (link->rows.has_law) {
    double left = u[hard];
    for (int i = 0; i < hard; ++i)
      left -= link->g[i] * u[i];
    if (link->s > 0)
      law = (double)(tl_joint_law_impulse(&link->rows.law, (talus_real)left, p[hard],
                                          (talus_real)(link->s / scale)) -
                     p[hard]);
    dp[hard] = law;
  }
  for (int i = 0; i < hard; ++i)
    dp[i] = u[i];
  solve_block(link, dp);
  for (int i = 0; i < hard; ++i)
    dp[i] = -scale * dp[i] - link->g[i] * law;
}

double tl_link_recover(tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors) {
  const int hard = link->rows.hard;
  double r[TL_JOINT_ROWS], dp[TL_JOINT_ROWS] = {0}, sum = 0;
  for (int i = 0; i < hard; ++i)
    dp[i] = r[i] = (double)(row_speed(link, bodies, i) + link->rows.drift[i]) +
                   link->soft[i] * link->recovery[i];
  solve_block(link, dp);
  for (int i = 0; i < hard; ++i) {
    dp[i] = -dp[i];
    link->recovery[i] += dp[i];
    if (link->rows.row[i].turning)
      r[i] *= (double)link->rows.length;
    sum += r[i] * r[i];
  }
  tl_link_push(link, bodies, tensors, dp);
  return sum;
}

double tl_link_law_step(const tl_link *link, const tl_ccp_body *bodies,
                        const talus_real p[TL_JOINT_ROWS], double scale) {
  const int hard = link->rows.hard;
  if (!link->rows.has_law || !(link->k[hard][hard] > 0))
    return 0;
  double u[TL_JOINT_ROWS];
  tl_link_speeds(link, bodies, u);
  return (double)(tl_joint_law_impulse(&link->rows.law, (talus_real)u[hard], p[hard],
                                       (talus_real)(link->k[hard][hard] / scale)) -
                  p[hard]);
}

double tl_link_residual(const tl_link *link, const tl_ccp_body *bodies,
                        const talus_real p[TL_JOINT_ROWS], double *most) {
  const int n = tl_link_rows(link), hard = link->rows.hard;
  double u[TL_JOINT_ROWS], sum = 0;
  tl_link_speeds(link, bodies, u);
  for (int i = 0; i < n; ++i) {
    double r = i < hard ? u[i] + link->soft[i] * (double)p[i]
                        : tl_link_law_step(link, bodies, p, 1) * link->k[i][i];
    if (link->rows.row[i].turning)
      r *= (double)link->rows.length;
    sum += r * r;
    *most = fmax(*most, fabs(r));
  }
  return sum;
}

/* Of a law with impulse p at speed u: the convex function of which -u is the slope. Its impulse is
 * the sum of spring, motor, push and limits, each of which has its own. */
static double law_energy(const tl_joint_law *law, double u, double p) {
  double sum = 0, left = p - (double)law->push;
  if (law->slope > 0) {
    const double spring = -(double)law->slope * (u + (double)law->offset);
    sum += 0.5 * spring * spring / (double)law->slope + (double)law->offset * spring;
    left -= spring;
  }
  const double cap = (double)law->cap;
  double motor = 0;
  if (law->motor_rigid)
    motor = fmax(-cap, fmin(cap, left));
  else if (law->motor_slope > 0) {
    motor = fmax(-cap, fmin(cap, -(double)law->motor_slope * (u + (double)law->motor_offset)));
    sum += 0.5 * motor * motor / (double)law->motor_slope;
  }
  sum += (double)law->motor_offset * motor;
  left -= motor;
  /* What is left is of the limits, and u is then the limit; or it is rounding, and u is harmless,
   * which the limit, as a speed, need not be. */
  return sum - u * left;
}

double tl_link_objective(const tl_link *link, const tl_ccp_body *bodies) {
  const int n = tl_link_rows(link), hard = link->rows.hard;
  double u[TL_JOINT_ROWS], sum = 0;
  tl_link_speeds(link, bodies, u);
  for (int i = 0; i < n; ++i) {
    const double p = (double)link->impulse[i];
    sum += (double)link->rows.bias[i] * p;
    sum += i < hard ? 0.5 * link->soft[i] * p * p : law_energy(&link->rows.law, u[i], p);
  }
  return sum;
}
