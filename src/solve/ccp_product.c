/* What gradient methods are made of: a projected step of all rows, and the product N p, which is a
 * gather per body (no atomics and no order that threads could change) followed by what rows read
 * from bodies. */
#include "solve/ccp.h"

#include <math.h>

#define W TL_CCP_LANES

/* ---- which rows touch which body ---------------------------------------------------------------
 */

talus_status tl_ccp_make_gather(const tl_ccp *job, tl_ccp_gather *gather) {
  const size_t bodies = job->scope->count + 1, packs = job->pack_count;
  TL_TAKE(job->scope->arena, bodies + 1, &gather->start);
  TL_TAKE(job->scope->arena, 2 * W * packs, &gather->entry);
  memset(gather->start, 0, (bodies + 1) * sizeof *gather->start);
  for (size_t k = 0; k < packs; ++k)
    for (int i = 0; i < W; ++i) {
      gather->start[job->packs[k].a[i] + 1]++;
      gather->start[job->packs[k].b[i] + 1]++;
    }
  for (size_t i = 0; i < bodies; ++i)
    gather->start[i + 1] += gather->start[i];
  /* Filling moves each start to its end, which is the next one's start: shift back afterwards. */
  for (size_t k = 0; k < packs; ++k)
    for (int i = 0; i < W; ++i) {
      const uint32_t row = (uint32_t)(k * W) + (uint32_t)i;
      gather->entry[gather->start[job->packs[k].a[i]]++] = 2 * row;
      gather->entry[gather->start[job->packs[k].b[i]]++] = 2 * row + 1;
    }
  memmove(gather->start + 1, gather->start, bodies * sizeof *gather->start);
  gather->start[0] = 0;
  return TALUS_OK;
}

/* ---- velocities of impulses
 * ---------------------------------------------------------------------- */

typedef struct spread_job {
  const tl_ccp *ccp;
  const tl_ccp_gather *gather;
  const tl_ccp_body *free_bodies;
  const tl_ccp_field *p, *q;
  tl_ccp_body *out;
  double *sums;
} spread_job;

static talus_vec3 lane_of(const tl_ccp_lanes *lanes, uint32_t i) {
  return tl_vec3(lanes->x[i], lanes->y[i], lanes->z[i]);
}

/* Sums impulse and moment of one body over its rows. */
static void add_up(const spread_job *job, const tl_ccp_field *p, uint32_t body, talus_vec3 *impulse,
                   talus_vec3 *moment) {
  *impulse = *moment = tl_vec3(0, 0, 0);
  for (uint32_t e = job->gather->start[body]; e < job->gather->start[body + 1]; ++e) {
    const uint32_t row = job->gather->entry[e] >> 1, lane = row % W;
    const bool is_b = job->gather->entry[e] & 1;
    talus_vec3 each = lane_of(&p[row / W], lane);
    if (!is_b)
      each = tl_neg(each);
    *impulse = tl_add(*impulse, each);
    *moment = tl_add(*moment, tl_cross(is_b ? tl_ccp_arm_b(job->ccp, row / W, lane)
                                            : tl_ccp_arm_a(job->ccp, row / W, lane),
                                       each));
    if (job->ccp->rolls) {
      const talus_vec3 torque = lane_of(&p[job->ccp->pack_count + row / W], lane);
      *moment = is_b ? tl_add(*moment, torque) : tl_sub(*moment, torque);
    }
  }
}

static void spread_blocks(void *context, size_t begin, size_t end) {
  const spread_job *job = context;
  const size_t bodies = job->ccp->scope->count;
  for (size_t block = begin; block < end; ++block) {
    double sum = 0;
    for (size_t i = block * TL_BLOCK; i < (block + 1) * TL_BLOCK && i < bodies; ++i) {
      job->out[i] = job->free_bodies[i];
      if (!(job->out[i].inv_mass > 0) || job->gather->start[i] == job->gather->start[i + 1])
        continue;
      const tl_ccp_tensor *tensor = job->ccp->tensors ? &job->ccp->tensors[i] : NULL;
      talus_vec3 impulse, moment, impulse_q = {0, 0, 0}, moment_q = {0, 0, 0};
      add_up(job, job->p, (uint32_t)i, &impulse, &moment);
      if (job->q)
        add_up(job, job->q, (uint32_t)i, &impulse_q, &moment_q);
      tl_ccp_turn(&job->out[i], tensor, impulse, moment);
      tl_ccp_body change = job->out[i];
      change.v = change.w = tl_vec3(0, 0, 0);
      impulse_q = tl_sub(impulse, impulse_q);
      moment_q = tl_sub(moment, moment_q);
      tl_ccp_turn(&change, tensor, impulse_q, moment_q);
      sum += (double)(tl_dot(impulse_q, change.v) + tl_dot(moment_q, change.w));
    }
    job->sums[block] = sum;
  }
}

double tl_ccp_spread(const tl_ccp *job, const tl_ccp_gather *gather, const tl_ccp_body *free_bodies,
                     const tl_ccp_field *p, const tl_ccp_field *q, tl_ccp_body *out) {
  const size_t blocks = (job->scope->count + TL_BLOCK - 1) / TL_BLOCK;
  spread_job work = {job, gather, free_bodies, p, q, out, job->block_max};
  tl_for(&job->model->par, blocks, 1, spread_blocks, &work);
  out[job->scope->count] = free_bodies[job->scope->count];
  double sum = 0;
  for (size_t i = 0; i < blocks; ++i)
    sum += work.sums[i];
  return sum;
}

/* ---- a step of all rows
 * ---------------------------------------------------------------------------- */

typedef struct step_job {
  const tl_ccp *ccp;
  const tl_ccp_body *bodies;
  const talus_real *lift;
  talus_real scale;
  bool scalar;
  const tl_ccp_field *from, *mark;
  tl_ccp_field *to;
  tl_ccp_sums *sums;
} step_job;

static tl_ccp_vec vec_of(talus_vec3 v) {
  const tl_ccp_vec r = {v.x, v.y, v.z};
  return r;
}

static talus_real short_eta(talus_real en, talus_real et) {
  return en > 0 ? tl_min(3 * en * et / (et + 2 * en), tl_min(en, et)) : 0;
}

/* A row that passes on torque: the field has its torque behind the impulses. */
static void roll_lane(const step_job *job, size_t k, uint32_t i, tl_ccp_sums *sums) {
  const tl_ccp *ccp = job->ccp;
  const size_t behind = ccp->pack_count + k;
  const talus_vec3 n = lane_of(&ccp->packs[k].normal, i);
  const tl_wrench p = {lane_of(&job->from[k], i), lane_of(&job->from[behind], i)};
  const tl_wrench u = tl_ccp_twist_of(ccp, job->bodies, k, i);
  const talus_real bias = ccp->packs[k].bias[i] + (job->lift ? job->lift[k * W + i] : 0);
  const tl_roll_law metric = tl_ccp_roll_law(ccp, k, i, 1);
  tl_roll_law law = tl_ccp_roll_law(ccp, k, i, job->scale);
  if (job->scalar)
    law.en = law.et = job->scale * short_eta(metric.en, metric.et);
  const tl_wrench to = tl_roll_step(p, u, n, bias, &law);
  tl_ccp_put_lane(&job->to[k], i, to.impulse);
  tl_ccp_put_lane(&job->to[behind], i, to.torque);
  const tl_wrench change = {tl_sub(to.impulse, p.impulse), tl_sub(to.torque, p.torque)};
  const talus_vec3 d = tl_madd(u.impulse, bias, n);
  const talus_real normal = tl_dot(change.impulse, n), spin = tl_dot(change.torque, n);
  const talus_real tangent2 = tl_max(tl_length2(change.impulse) - normal * normal, 0);
  const talus_real roll2 = tl_max(tl_length2(change.torque) - spin * spin, 0);
  sums->length2 += (double)(normal * normal / metric.en + tangent2 / metric.et);
  sums->length2 += (double)((metric.er > 0 ? roll2 / metric.er : 0) +
                            (metric.es > 0 ? spin * spin / metric.es : 0));
  sums->slope += (double)(tl_dot(d, change.impulse) + tl_dot(u.torque, change.torque));
  if (job->mark)
    sums->lead += (double)(tl_dot(d, tl_sub(to.impulse, lane_of(&job->mark[k], i))) +
                           tl_dot(u.torque, tl_sub(to.torque, lane_of(&job->mark[behind], i))));
}

static void step_lane(const step_job *job, size_t k, uint32_t i, tl_ccp_sums *sums) {
  if (job->ccp->rolls) {
    tl_ccp_put_lane(&job->to[job->ccp->pack_count + k], i, tl_vec3(0, 0, 0));
    if (tl_ccp_lane_rolls(job->ccp, k, i)) {
      roll_lane(job, k, i, sums);
      return;
    }
  }
  const tl_ccp_pack *pack = &job->ccp->packs[k];
  const talus_vec3 n = lane_of(&pack->normal, i), p = lane_of(&job->from[k], i);
  const talus_vec3 u =
      tl_sub(tl_ccp_point_velocity(&job->bodies[pack->b[i]], tl_ccp_arm_b(job->ccp, k, i)),
             tl_ccp_point_velocity(&job->bodies[pack->a[i]], tl_ccp_arm_a(job->ccp, k, i)));
  const talus_real bias = pack->bias[i] + (job->lift ? job->lift[k * W + i] : 0);
  const talus_real eta = short_eta(pack->en[i], pack->et[i]);
  const talus_real en = job->scale * (job->scalar ? eta : pack->en[i]);
  const talus_real et = job->scale * (job->scalar ? eta : pack->et[i]);
  const tl_ccp_vec r =
      tl_ccp_step(vec_of(p), vec_of(u), vec_of(n), bias, pack->friction[i], en, et, 0);
  const talus_vec3 to = tl_vec3(r.x, r.y, r.z), change = tl_sub(to, p), d = tl_madd(u, bias, n);
  job->to[k].x[i] = to.x;
  job->to[k].y[i] = to.y;
  job->to[k].z[i] = to.z;
  if (!(pack->en[i] > 0))
    return;
  const talus_real normal = tl_dot(change, n);
  const talus_real tangent2 = tl_max(tl_length2(change) - normal * normal, 0);
  sums->length2 += (double)(normal * normal / pack->en[i] + tangent2 / pack->et[i]);
  sums->slope += (double)tl_dot(d, change);
  if (job->mark)
    sums->lead += (double)tl_dot(d, tl_sub(to, lane_of(&job->mark[k], i)));
}

static void step_blocks(void *context, size_t begin, size_t end) {
  const step_job *job = context;
  for (size_t block = begin; block < end; ++block) {
    tl_ccp_sums sums = {0, 0, 0};
    for (size_t k = job->ccp->block_pack[block]; k < job->ccp->block_pack[block + 1]; ++k)
      for (uint32_t i = 0; i < W; ++i)
        step_lane(job, k, i, &sums);
    job->sums[block] = sums;
  }
}

tl_ccp_sums tl_ccp_step_all(const tl_ccp *job, const tl_ccp_body *bodies, const talus_real *lift,
                            talus_real scale, bool scalar, const tl_ccp_field *from,
                            const tl_ccp_field *mark, tl_ccp_field *to) {
  step_job work = {
      job, bodies, lift, scale, scalar, from, mark, to, (tl_ccp_sums *)(void *)job->block_sum};
  tl_for(&job->model->par, job->block_count, 1, step_blocks, &work);
  tl_ccp_sums total = {0, 0, 0};
  for (size_t i = 0; i < job->block_count; ++i) {
    total.length2 += work.sums[i].length2;
    total.slope += work.sums[i].slope;
    total.lead += work.sums[i].lead;
  }
  return total;
}

void tl_ccp_find_lifts(const tl_ccp *job, const tl_ccp_body *bodies, talus_real *lift) {
  for (size_t k = 0; k < job->pack_count; ++k)
    for (uint32_t i = 0; i < W; ++i) {
      const tl_ccp_pack *pack = &job->packs[k];
      const talus_vec3 n = lane_of(&pack->normal, i);
      const talus_vec3 u =
          tl_sub(tl_ccp_point_velocity(&bodies[pack->b[i]], tl_ccp_arm_b(job, k, i)),
                 tl_ccp_point_velocity(&bodies[pack->a[i]], tl_ccp_arm_a(job, k, i)));
      lift[k * W + i] = pack->friction[i] * tl_length(tl_madd(u, -tl_dot(u, n), n));
      if (tl_ccp_lane_rolls(job, k, i)) {
        const tl_roll_law law = tl_ccp_roll_law(job, k, i, 1);
        lift[k * W + i] = tl_roll_lift(tl_ccp_twist_of(job, bodies, k, i), n, &law);
      }
    }
}

/* ---- residual
 * -------------------------------------------------------------------------------------- */

typedef struct measure_job {
  tl_ccp ccp; /* with the bodies to look at */
  const tl_ccp_field *p;
} measure_job;

static void measure_blocks(void *context, size_t begin, size_t end) {
  measure_job *job = context;
  for (size_t block = begin; block < end; ++block) {
    for (size_t k = job->ccp.block_pack[block]; k < job->ccp.block_pack[block + 1]; ++k) {
      job->ccp.packs[k].impulse = job->p[k];
      if (job->ccp.rolls)
        job->ccp.rolls[k].torque = job->p[job->ccp.pack_count + k];
    }
    job->ccp.block_sum[block] =
        tl_ccp_residual_packs(&job->ccp, job->ccp.block_pack[block], job->ccp.block_pack[block + 1],
                              &job->ccp.block_max[block]);
  }
}

double tl_ccp_measure(const tl_ccp *job, const tl_ccp_body *bodies, const tl_ccp_field *p,
                      double *most) {
  measure_job work = {*job, p};
  tl_ccp_body *looked_at = job->bodies;
  work.ccp.bodies = looked_at;
  memcpy(looked_at, bodies, (job->scope->count + 1) * sizeof *bodies);
  tl_for(&job->model->par, job->block_count, 1, measure_blocks, &work);
  double sum = 0;
  *most = 0;
  for (size_t i = 0; i < job->block_count; ++i) {
    sum += job->block_sum[i];
    *most = fmax(*most, job->block_max[i]);
  }
  return sqrt(sum / (double)job->row_count);
}
