/* Visits of rows, one lane after the other: the reference, and the version for rows of a pack that
 * share bodies. */
#include "solve/ccp/visits.h"

#include <math.h>

#define W TL_CCP_LANES

static tl_ccp_vec lane_vec(const tl_ccp_lanes *from, uint32_t i) {
  const tl_ccp_vec r = {from->x[i], from->y[i], from->z[i]};
  return r;
}

static void push_radial(const tl_ccp_rows *rows, size_t k, uint32_t i, talus_vec3 p) {
  const tl_ccp_pack *pack = &rows->packs[k];
  tl_ccp_body *a = &rows->bodies[pack->a[i]], *b = &rows->bodies[pack->b[i]];
  const talus_vec3 turn = tl_cross(tl_ccp_lane(&pack->normal, i), p);
  if (a->inv_mass > 0) {
    a->v = tl_madd(a->v, -a->inv_mass, p);
    a->w = tl_madd(a->w, -a->inv_inertia * pack->reach_a[i], turn);
  }
  if (b->inv_mass > 0) {
    b->v = tl_madd(b->v, b->inv_mass, p);
    b->w = tl_madd(b->w, b->inv_inertia * pack->reach_b[i], turn);
  }
}

void tl_ccp_push_lane(const tl_ccp_rows *rows, size_t k, uint32_t i, talus_vec3 p) {
  const tl_ccp_pack *pack = &rows->packs[k];
  tl_ccp_body *a = &rows->bodies[pack->a[i]], *b = &rows->bodies[pack->b[i]];
  const tl_ccp_tensor *tensors = rows->tensors;
  if (tl_ccp_is_radial(rows)) {
    push_radial(rows, k, i, p);
    return;
  }
  if (a->inv_mass > 0)
    tl_ccp_push(a, tensors ? &tensors[pack->a[i]] : NULL, tl_ccp_arm_a(rows, k, i), tl_neg(p));
  if (b->inv_mass > 0)
    tl_ccp_push(b, tensors ? &tensors[pack->b[i]] : NULL, tl_ccp_arm_b(rows, k, i), p);
}

static talus_vec3 radial_velocity(const tl_ccp_rows *rows, const tl_ccp_pack *pack, uint32_t i) {
  const tl_ccp_body *a = &rows->bodies[pack->a[i]], *b = &rows->bodies[pack->b[i]];
  const talus_vec3 s = tl_sub(tl_scale(b->w, pack->reach_b[i]), tl_scale(a->w, pack->reach_a[i]));
  return tl_add(tl_sub(b->v, a->v), tl_cross(s, tl_ccp_lane(&pack->normal, i)));
}

tl_ccp_vec tl_ccp_lane_velocity(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const talus_vec3 u =
      tl_ccp_is_radial(rows)
          ? radial_velocity(rows, pack, i)
          : tl_sub(tl_ccp_point_velocity(&rows->bodies[pack->b[i]], tl_ccp_arm_b(rows, k, i)),
                   tl_ccp_point_velocity(&rows->bodies[pack->a[i]], tl_ccp_arm_a(rows, k, i)));
  const tl_ccp_vec r = {u.x, u.y, u.z};
  return r;
}

/* 1/(en et). */
static talus_real unit_of(const tl_ccp_pack *pack, uint32_t i) {
  return 1 / (pack->en[i] * pack->et[i]);
}

/* tl_ccp_pull_of with one division. */
static talus_real pull_of(const tl_ccp_pack *pack, uint32_t i, const tl_ccp_course *course) {
  const talus_vec3 now = tl_ccp_lane(&pack->impulse, i), n = tl_ccp_lane(&pack->normal, i);
  const talus_vec3 back = tl_sub(course->from, now), way = tl_sub(now, course->last);
  const talus_real along = tl_dot(back, n) * tl_dot(way, n);
  return (along * pack->et[i] + (tl_dot(back, way) - along) * pack->en[i]) * unit_of(pack, i);
}

/* A visit that starts with the impulse p. */
static double sweep_from(const tl_ccp_rows *rows, size_t k, uint32_t i, talus_vec3 from) {
  tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_vec start = {from.x, from.y, from.z};
  const tl_ccp_vec p = tl_ccp_step(
      start, tl_ccp_lane_velocity(rows, k, i), lane_vec(&pack->normal, i), pack->bias[i],
      tl_ccp_friction(rows, k, i), pack->en[i], pack->et[i], rows->ncp > 0);
  const talus_vec3 change = tl_sub(tl_vec3(p.x, p.y, p.z), from);
  pack->impulse.x[i] = p.x;
  pack->impulse.y[i] = p.y;
  pack->impulse.z[i] = p.z;
  tl_ccp_push_lane(rows, k, i, change);
  return pack->en[i] > 0 ? (double)(tl_length2(change) * unit_of(pack, i)) : 0;
}

double tl_ccp_sweep_lane(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  if (tl_ccp_lane_rolls(rows, k, i))
    return tl_ccp_roll_lane(rows, k, i);
  return sweep_from(rows, k, i, tl_ccp_lane(&rows->packs[k].impulse, i));
}

/* A visit after extrapolation by momentum (tl_ccp_sweep_on_scalar). */
static double sweep_lane_on(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta, size_t k,
                            uint32_t i, talus_real *pull) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const talus_vec3 now = tl_ccp_lane(&pack->impulse, i);
  const talus_vec3 way = beta < 0 ? tl_vec3(0, 0, 0) : tl_sub(now, tl_ccp_lane(&last[k], i));
  const tl_ccp_course course = {tl_madd(now, tl_max(beta, 0), way), now};
  tl_ccp_put_lane(&last[k], i, now);
  const double change = sweep_from(rows, k, i, course.from);
  *pull = 0;
  if (pack->en[i] > 0 && pack->et[i] > 0)
    *pull = pull_of(pack, i, &course);
  return change;
}

bool tl_ccp_needs_tensor(const tl_ccp_rows *rows, const tl_ccp_pack *pack) {
  if (!rows->tensors)
    return false;
  for (uint32_t i = 0; i < W; ++i)
    if (rows->bodies[pack->a[i]].inv_inertia < 0 || rows->bodies[pack->b[i]].inv_inertia < 0)
      return true;
  return false;
}

double tl_ccp_warm_lane(const tl_ccp_rows *rows, size_t k, uint32_t i, talus_real share) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_vec p = lane_vec(&pack->impulse, i), n = lane_vec(&pack->normal, i);
  const tl_ccp_vec before = tl_ccp_lane_velocity(rows, k, i);
  if (tl_ccp_lane_rolls(rows, k, i)) {
    const tl_wrench all = tl_ccp_wrench_of(rows, k, i);
    const tl_wrench some = {tl_scale(all.impulse, share), tl_scale(all.torque, share)};
    const talus_vec3 turned = tl_ccp_twist_of(rows, k, i).torque;
    tl_ccp_push_wrench(rows, k, i, some);
    const talus_vec3 turns = tl_ccp_twist_of(rows, k, i).torque;
    const talus_real both = tl_dot(all.torque, turned) + tl_dot(all.torque, turns);
    return (double)(tl_ccp_work(p, before, tl_ccp_lane_velocity(rows, k, i), n, pack->bias[i]) +
                    both * TL_R(0.5));
  }
  tl_ccp_push_lane(rows, k, i, tl_scale(tl_ccp_lane(&pack->impulse, i), share));
  return (double)tl_ccp_work(p, before, tl_ccp_lane_velocity(rows, k, i), n, pack->bias[i]);
}

talus_real tl_ccp_residual_lane(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  const tl_ccp_pack *pack = &rows->packs[k];
  if (tl_ccp_lane_rolls(rows, k, i))
    return (talus_real)tl_ccp_roll_residual(rows, k, i);
  return tl_ccp_residual(lane_vec(&pack->impulse, i), tl_ccp_lane_velocity(rows, k, i),
                         lane_vec(&pack->normal, i), pack->bias[i], tl_ccp_friction(rows, k, i),
                         pack->en[i], pack->et[i], rows->ncp > 0);
}

void tl_ccp_scale_lane(const tl_ccp_rows *rows, size_t k, uint32_t i, talus_real s) {
  tl_ccp_lanes *p = &rows->packs[k].impulse;
  tl_ccp_put_lane(p, i, tl_scale(tl_ccp_lane(p, i), s));
  if (rows->rolls)
    tl_ccp_put_lane(&rows->rolls[k].torque, i, tl_scale(tl_ccp_lane(&rows->rolls[k].torque, i), s));
}

static void scale_lanes(tl_ccp_lanes *lanes, talus_real s) {
  for (int i = 0; i < TL_CCP_LANES; ++i) {
    lanes->x[i] *= s;
    lanes->y[i] *= s;
    lanes->z[i] *= s;
  }
}

void tl_ccp_scale_pack(const tl_ccp_rows *rows, size_t k, talus_real s) {
  scale_lanes(&rows->packs[k].impulse, s);
  if (rows->rolls)
    scale_lanes(&rows->rolls[k].torque, s);
}

static double sum_lanes(const talus_real each[W]) {
  double sum = 0;
  for (uint32_t i = 0; i < W; ++i)
    sum += (double)each[i];
  return sum;
}

/* Sums run pack by pack, and lane by lane within each, like those of a vector. */
double tl_ccp_warm_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end,
                                talus_real share) {
  double sum = 0;
  for (size_t k = begin; k < end; ++k) {
    talus_real work[W];
    for (uint32_t i = 0; i < W; ++i)
      work[i] = (talus_real)tl_ccp_warm_lane(rows, k, i, share);
    sum += sum_lanes(work);
  }
  return sum;
}

/* Sums run lane by lane and then over the lanes, like those of a vector. last: NULL without
 * momentum. */
static double sweep_packs(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta,
                          size_t begin, size_t end, double *pull) {
  talus_real moved[W] = {0}, pulls[W] = {0};
  for (size_t k = begin; k < end; ++k)
    for (uint32_t i = 0; i < W; ++i) {
      talus_real back = 0;
      moved[i] += (talus_real)(last ? sweep_lane_on(rows, last, beta, k, i, &back)
                                    : tl_ccp_sweep_lane(rows, k, i));
      pulls[i] += back;
    }
  *pull = sum_lanes(pulls);
  return sum_lanes(moved);
}

double tl_ccp_sweep_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end) {
  double pull;
  return sweep_packs(rows, NULL, 0, begin, end, &pull);
}

double tl_ccp_sweep_on_scalar(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta,
                              size_t begin, size_t end, double *pull) {
  return sweep_packs(rows, last, beta, begin, end, pull);
}

double tl_ccp_residual_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end,
                                    double *most) {
  double sum = 0;
  *most = 0;
  for (size_t k = begin; k < end; ++k) {
    double lanes = 0;
    for (uint32_t i = 0; i < W; ++i) {
      const talus_real r = tl_ccp_residual_lane(rows, k, i);
      lanes += (double)(r * r);
      *most = fmax(*most, (double)r);
    }
    sum += lanes;
  }
  return sum;
}

/* ---- the version in use ---------------------------------------------------------------------- */

double tl_ccp_warm_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial,
                         talus_real share) {
  return serial ? tl_ccp_warm_packs_scalar(rows, begin, end, share)
                : tl_ccp_visits_now()->warm(rows, begin, end, share);
}

double tl_ccp_sweep_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial) {
  return serial ? tl_ccp_sweep_packs_scalar(rows, begin, end)
                : tl_ccp_visits_now()->sweep(rows, begin, end);
}

double tl_ccp_sweep_on(const tl_ccp_rows *rows, tl_ccp_lanes *last, talus_real beta, size_t begin,
                       size_t end, bool serial, double *pull) {
  return serial ? tl_ccp_sweep_on_scalar(rows, last, beta, begin, end, pull)
                : tl_ccp_visits_now()->sweep_on(rows, last, beta, begin, end, pull);
}

double tl_ccp_residual_packs(const tl_ccp_rows *rows, size_t begin, size_t end, double *most) {
  return tl_ccp_visits_now()->residual(rows, begin, end, most);
}

void tl_ccp_tally_residuals(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum,
                            double *most) {
  *most = 0;
  tl_ccp_visits_now()->tally_residuals(rows, begin, end, sum, most);
}

void tl_ccp_tally_work(const tl_ccp_rows *rows, size_t begin, size_t end, tl_tally *sum) {
  tl_ccp_visits_now()->tally_work(rows, begin, end, sum);
}

void tl_ccp_tally_numbers(const double *numbers, size_t eights, tl_tally *sum) {
  tl_ccp_visits_now()->tally_numbers(numbers, eights, sum);
}
