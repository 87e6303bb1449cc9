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

void tl_link_load(tl_link *link, const tl_joint_rows *rows) {
  const int n = rows->hard + (rows->has_law ? 1 : 0);
  link->hard = rows->hard;
  link->arm_b = rows->arm_b;
  link->length = rows->length;
  for (int i = 0; i < n; ++i) {
    const tl_joint_row *row = &rows->row[i];
    link->row[i] = (tl_link_row){.la = row->la,
                                 .aa = row->aa,
                                 .lb = row->lb,
                                 .ab = row->ab,
                                 .drift = i < rows->hard ? rows->drift[i] : 0,
                                 .unit = row->turning ? rows->length : 1,
                                 .soft = (double)rows->soft[i]};
  }
  tl_link_aim(link, rows);
}

void tl_link_aim(tl_link *link, const tl_joint_rows *rows) {
  TL_ASSERT(link->hard == rows->hard);
  link->has_law = rows->has_law;
  link->law = rows->law;
  for (int i = 0; i < tl_link_rows(link); ++i)
    link->row[i].bias = rows->bias[i];
}

/* L D L^T of the hard block. A pivot that is only rounding belongs to a redundant row: its inverse
 * is 0, and the row gets no impulse. */
static void factor_block(tl_link *link, double k[TL_JOINT_ROWS][TL_JOINT_ROWS]) {
  tl_link_row *row = link->row;
  double d[TL_JOINT_HARD];
  for (int i = 0; i < link->hard; ++i) {
    for (int j = 0; j < i; ++j) {
      double sum = k[i][j];
      for (int m = 0; m < j; ++m)
        sum -= row[i].l[m] * d[m] * row[j].l[m];
      row[i].l[j] = sum * row[j].l[j];
    }
    d[i] = k[i][i];
    for (int m = 0; m < i; ++m)
      d[i] -= row[i].l[m] * row[i].l[m] * d[m];
    row[i].l[i] = d[i] > 1e-14 * k[i][i] ? 1 / d[i] : 0;
  }
}

static void solve_block(const tl_link *link, double x[TL_JOINT_HARD]) { TL_LINK_SOLVE(link, x); }

/* The least response of a body without locks to a row's push l and turn a: no moment of inertia
 * exceeds mass times the square of the bounding radius. A body whose response is far smaller is
 * locked, and its own response, which is only rounding, says nothing about how firmly the row may
 * be held. */
static double least_answer(const tl_ccp_body *body, talus_vec3 l, talus_vec3 a, double r2) {
  return (double)body->inv_mass * ((double)tl_length2(l) + (double)tl_length2(a) / r2);
}

/* Column j of K. *locked: neither body responds as one without locks would; `own`: that response.
 */
static void find_column(const tl_link *link, const tl_ccp_body *bodies,
                        const tl_ccp_tensor *tensors, int j, double k[TL_JOINT_ROWS][TL_JOINT_ROWS],
                        bool *locked, double *own) {
  const double r2 = (double)(link->length * link->length);
  const tl_link_row *row = &link->row[j];
  const tl_ccp_body a =
      tl_link_answer(&bodies[link->a], tensor_of(tensors, link->a), row->la, row->aa);
  const tl_ccp_body b =
      tl_link_answer(&bodies[link->b], tensor_of(tensors, link->b), row->lb, row->ab);
  for (int i = 0; i < tl_link_rows(link); ++i) {
    const tl_link_row *other = &link->row[i];
    k[i][j] = (double)(tl_dot(other->la, a.v) + tl_dot(other->aa, a.w)) +
              (double)(tl_dot(other->lb, b.v) + tl_dot(other->ab, b.w));
  }
  /* Each body is judged by itself: a light, locked body says nothing about a heavy one. */
  const double of_a = (double)(tl_dot(row->la, a.v) + tl_dot(row->aa, a.w));
  const double of_b = (double)(tl_dot(row->lb, b.v) + tl_dot(row->ab, b.w));
  const double least_a = least_answer(&bodies[link->a], row->la, row->aa, r2);
  const double least_b = least_answer(&bodies[link->b], row->lb, row->ab, r2);
  *locked = of_a <= 1e-3 * least_a && of_b <= 1e-3 * least_b;
  *own = least_a + least_b;
}

void tl_link_factor(tl_link *link, const tl_ccp_body *bodies, const tl_ccp_tensor *tensors) {
  const int n = tl_link_rows(link), hard = link->hard;
  double k[TL_JOINT_ROWS][TL_JOINT_ROWS];
  bool is_locked[TL_JOINT_ROWS];
  double own[TL_JOINT_ROWS];
  for (int j = 0; j < n; ++j)
    find_column(link, bodies, tensors, j, k, &is_locked[j], &own[j]);
  for (int i = 0; i < n; ++i) {
    if (is_locked[i] && i == hard) /* a law to which nothing can respond has no effect */
      k[i][i] = 0;
    link->row[i].soft += TL_LINK_SOFT * (is_locked[i] ? own[i] : k[i][i]);
    if (i < hard)
      k[i][i] += link->row[i].soft;
  }
  factor_block(link, k);
  link->s = 0;
  if (!link->has_law)
    return;
  double *g = link->row[hard].l;
  for (int i = 0; i < hard; ++i)
    g[i] = k[i][hard];
  solve_block(link, g);
  memcpy(link->k, k[hard], sizeof link->k);
  link->s = k[hard][hard];
  for (int i = 0; i < hard; ++i)
    link->s -= g[i] * k[i][hard];
  /* Rounding must not make it vanish: the row would then take any impulse. */
  link->s = fmax(link->s, 1e-9 * k[hard][hard]);
}

/* The last pivot is that response plus the row's compliance. */
double tl_link_free_answer(const tl_link *link) {
  if (link->has_law)
    return link->s;
  const tl_link_row *row = &link->row[link->hard - 1];
  const double inverse = row->l[link->hard - 1];
  return inverse > 0 ? fmax(1 / inverse - row->soft, 0) : 0;
}

/* J v of a row. */
static talus_real row_speed(const tl_link_row *row, const tl_ccp_body *a, const tl_ccp_body *b) {
  return tl_dot(row->la, a->v) + tl_dot(row->aa, a->w) + tl_dot(row->lb, b->v) +
         tl_dot(row->ab, b->w);
}

void tl_link_speeds(const tl_link *link, const tl_ccp_body *bodies, double u[TL_JOINT_ROWS]) {
  const tl_ccp_body *a = &bodies[link->a], *b = &bodies[link->b];
  const int n = tl_link_rows(link);
  for (int i = 0; i < n; ++i)
    u[i] = (double)(row_speed(&link->row[i], a, b) + link->row[i].bias);
}

/* The impulse and torque impulse that the rows' impulses give each of the two bodies. */
typedef struct wrench {
  talus_vec3 la, aa, lb, ab;
} wrench;

static wrench gather(const tl_link *link, int rows, const double p[TL_JOINT_ROWS]) {
  wrench w = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int i = 0; i < rows; ++i) {
    const tl_link_row *row = &link->row[i];
    const talus_real each = (talus_real)p[i];
    w.la = tl_madd(w.la, each, row->la);
    w.aa = tl_madd(w.aa, each, row->aa);
    w.lb = tl_madd(w.lb, each, row->lb);
    w.ab = tl_madd(w.ab, each, row->ab);
  }
  return w;
}

static void push_rows(const tl_link *link, int rows, tl_ccp_body *bodies,
                      const tl_ccp_tensor *tensors, const double p[TL_JOINT_ROWS]) {
  const wrench w = gather(link, rows, p);
  tl_ccp_body *a = &bodies[link->a], *b = &bodies[link->b];
  if (a->inv_mass > 0)
    tl_ccp_turn(a, tensor_of(tensors, link->a), w.la, w.aa);
  if (b->inv_mass > 0)
    tl_ccp_turn(b, tensor_of(tensors, link->b), w.lb, w.ab);
}

void tl_link_push(const tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors,
                  const double p[TL_JOINT_ROWS]) {
  push_rows(link, tl_link_rows(link), bodies, tensors, p);
}

void tl_link_push_own(const tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors) {
  double p[TL_JOINT_ROWS];
  for (int i = 0; i < tl_link_rows(link); ++i)
    p[i] = (double)link->row[i].impulse;
  tl_link_push(link, bodies, tensors, p);
}

/* The step from the residuals r of the hard rows and u of the law, at impulse p of the law. */
static void step_from(const tl_link *link, const double u[TL_JOINT_ROWS], talus_real p,
                      double scale, double dp[TL_JOINT_ROWS]) {
  const int hard = link->hard;
  double law = 0;
  for (int i = 0; i < hard; ++i)
    dp[i] = u[i];
  solve_block(link, dp);
  if (!link->has_law) {
    for (int i = 0; i < hard; ++i)
      dp[i] *= -scale;
    return;
  }
  const double *g = link->row[hard].l;
  double left = u[hard];
  for (int i = 0; i < hard; ++i)
    left -= g[i] * u[i];
  if (link->s > 0)
    law = (double)(tl_joint_law_impulse(&link->law, (talus_real)left, p,
                                        (talus_real)(link->s / scale)) -
                   p);
  dp[hard] = law;
  for (int i = 0; i < hard; ++i)
    dp[i] = -scale * dp[i] - g[i] * law;
}

void tl_link_step(const tl_link *link, const tl_ccp_body *bodies, const talus_real p[TL_JOINT_ROWS],
                  double scale, double dp[TL_JOINT_ROWS]) {
  double u[TL_JOINT_ROWS] = {0};
  tl_link_speeds(link, bodies, u);
  for (int i = 0; i < link->hard; ++i)
    u[i] += link->row[i].soft * (double)p[i];
  step_from(link, u, link->has_law ? p[link->hard] : 0, scale, dp);
}

/* Adds dp to the impulses; then dp becomes the difference after rounding, which is what the bodies
 * receive. */
static void remember(tl_link *link, int rows, double dp[TL_JOINT_ROWS]) {
  for (int i = 0; i < rows; ++i) {
    const talus_real before = link->row[i].impulse;
    link->row[i].impulse = (talus_real)((double)before + dp[i]);
    dp[i] = (double)(link->row[i].impulse - before);
  }
}

/* K dp of a step of length 1 equals what it removed: -r for hard rows, and s dp_x - g.r for the
 * law. So K itself need not be loaded. Rows that get no impulse change nothing. */
double tl_link_visit(tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors) {
  const int hard = link->hard;
  double u[TL_JOINT_ROWS] = {0}, dp[TL_JOINT_ROWS], sum = 0;
  tl_link_speeds(link, bodies, u);
  for (int i = 0; i < hard; ++i)
    u[i] += link->row[i].soft * (double)link->row[i].impulse;
  step_from(link, u, link->has_law ? link->row[hard].impulse : 0, 1, dp);
  remember(link, tl_link_rows(link), dp);
  tl_link_push(link, bodies, tensors, dp);
  for (int i = 0; i < hard; ++i) {
    const double r = link->row[i].l[i] > 0 ? u[i] * (double)link->row[i].unit : 0;
    sum += r * r;
  }
  if (link->has_law) {
    double r = link->s * dp[hard];
    for (int i = 0; i < hard; ++i)
      r -= link->row[hard].l[i] * u[i];
    r *= (double)link->row[hard].unit;
    sum += r * r;
  }
  return sum;
}

double tl_link_add(tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors,
                   const double dp[TL_JOINT_HARD]) {
  tl_ccp_body *a = &bodies[link->a], *b = &bodies[link->b];
  double given[TL_JOINT_ROWS], sum = 0;
  memcpy(given, dp, (size_t)link->hard * sizeof *dp);
  remember(link, link->hard, given);
  const wrench w = gather(link, link->hard, given);
  const tl_ccp_body to_a = tl_link_answer(a, tensor_of(tensors, link->a), w.la, w.aa);
  const tl_ccp_body to_b = tl_link_answer(b, tensor_of(tensors, link->b), w.lb, w.ab);
  for (int i = 0; i < link->hard; ++i) {
    const tl_link_row *row = &link->row[i];
    const double change = (double)row_speed(row, &to_a, &to_b) + row->soft * given[i];
    sum += change * change * (double)(row->unit * row->unit);
  }
  if (a->inv_mass > 0)
    a->v = tl_add(a->v, to_a.v), a->w = tl_add(a->w, to_a.w);
  if (b->inv_mass > 0)
    b->v = tl_add(b->v, to_b.v), b->w = tl_add(b->w, to_b.w);
  return sum;
}

double tl_link_recover(tl_link *link, tl_ccp_body *bodies, const tl_ccp_tensor *tensors) {
  const tl_ccp_body *a = &bodies[link->a], *b = &bodies[link->b];
  const int hard = link->hard;
  double dp[TL_JOINT_ROWS], sum = 0;
  for (int i = 0; i < hard; ++i) {
    const tl_link_row *row = &link->row[i];
    dp[i] = (double)(row_speed(row, a, b) + row->drift) + row->soft * row->recovery;
    const double r = dp[i] * (double)row->unit;
    sum += r * r;
  }
  solve_block(link, dp);
  for (int i = 0; i < hard; ++i) {
    dp[i] = -dp[i];
    link->row[i].recovery += dp[i];
  }
  push_rows(link, hard, bodies, tensors, dp);
  return sum;
}

double tl_link_law_step(const tl_link *link, const tl_ccp_body *bodies, talus_real p,
                        double scale) {
  const int hard = link->hard;
  if (!link->has_law || !(link->k[hard] > 0))
    return 0;
  const tl_link_row *row = &link->row[hard];
  const talus_real u = row_speed(row, &bodies[link->a], &bodies[link->b]) + row->bias;
  return (double)(tl_joint_law_impulse(&link->law, u, p, (talus_real)(link->k[hard] / scale)) - p);
}

double tl_link_residual(const tl_link *link, const tl_ccp_body *bodies, const talus_real *p,
                        double *most) {
  const int n = tl_link_rows(link), hard = link->hard;
  double u[TL_JOINT_ROWS], sum = 0;
  tl_link_speeds(link, bodies, u);
  for (int i = 0; i < n; ++i) {
    const tl_link_row *row = &link->row[i];
    const talus_real impulse = p ? p[i] : row->impulse;
    const double r = (i < hard ? u[i] + row->soft * (double)impulse
                               : tl_link_law_step(link, bodies, impulse, 1) * link->k[hard]) *
                     (double)row->unit;
    sum += r * r;
    *most = fmax(*most, fabs(r));
  }
  return sum;
}

/* The convex function whose derivative is -u, for a law with impulse p at speed u. Its impulse is
 * the sum of spring, motor, push and limits, each with its own function. */
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
  /* The rest belongs to the limits, and u is then the limit; or it is rounding, and u is small,
   * unlike the limit, which as a speed may be large. */
  return sum - u * left;
}

double tl_link_objective(const tl_link *link, const tl_ccp_body *bodies) {
  const int n = tl_link_rows(link), hard = link->hard;
  double u[TL_JOINT_ROWS], sum = 0;
  tl_link_speeds(link, bodies, u);
  for (int i = 0; i < n; ++i) {
    const double p = (double)link->row[i].impulse;
    sum += (double)link->row[i].bias * p;
    sum += i < hard ? 0.5 * link->row[i].soft * p * p : law_energy(&link->law, u[i], p);
  }
  return sum;
}

void tl_link_store(const tl_link *link, double h, tl_joint_state *joint) {
  talus_vec3 push = {0, 0, 0}, turn = {0, 0, 0};
  memset(joint->impulse, 0, sizeof joint->impulse);
  for (int i = 0; i < tl_link_rows(link); ++i) {
    const tl_link_row *row = &link->row[i];
    push = tl_madd(push, row->impulse, row->lb);
    turn = tl_madd(turn, row->impulse, row->ab);
    joint->impulse[i] =
        i < link->hard ? (talus_real)((double)row->impulse - row->recovery) : row->impulse;
  }
  turn = tl_sub(turn, tl_cross(link->arm_b, push)); /* from the centre of mass to the anchor */
  joint->force = tl_scale(push, (talus_real)(1 / h));
  joint->torque = tl_scale(turn, (talus_real)(1 / h));
}
