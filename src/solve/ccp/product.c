/* The building blocks of gradient methods: a projected step of all rows, and the product N p, which
 * is a sum per body (without atomics, in an order that does not depend on threads) followed by the
 * velocities at the rows.
 *
 * The sum is made in one of three ways. `colours` adds impulses to bodies as a sweep does, eight
 * rows at a time: the fastest, because rows are read in order and bodies are few. `gather` walks
 * over the rows of each body, in the order of contacts, as devices do. `scan` is the published one
 * (solve/ccp/scan.c). */
#include "base/sort.h"
#include "solve/ccp/gradient.h"
#include "solve/ccp/visits.h"

#include <math.h>

#define W TL_CCP_LANES

/* ---- which rows touch which body ------------------------------------------------------------- */

/* Rows of the part in the order of their contacts; an entry is 8 pack + lane. Rows fill packs in
 * the order of rows->contact; bodies of unused lanes are nobody. */
static talus_status order_rows(const tl_ccp_part *part, uint32_t *entry) {
  const tl_ccp_rows *rows = &part->rows;
  const tl_system *system = part->system;
  const uint32_t nobody = (uint32_t)rows->body_count;
  tl_arena *arena = system->crowd->arena;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  uint32_t *contact;
  size_t count = 0;
  TL_TAKE(arena, rows->count, &contact);
  for (uint32_t k = 0; k < rows->pack_count; ++k)
    for (uint32_t i = 0; i < W; ++i)
      if (rows->packs[k].a[i] != nobody) {
        contact[count] = rows->contact[count];
        entry[count++] = W * k + i;
      }
  TL_ASSERT(count == rows->count);
  TL_TRY(
      tl_sort_u32(&part->par, arena, contact, entry, count, tl_bits_u64(system->contacts->count)));
  for (uint32_t k = 0; k < rows->pack_count; ++k) /* the others, which carry nothing */
    for (uint32_t i = 0; i < W; ++i)
      if (rows->packs[k].a[i] == nobody)
        entry[count++] = W * k + i;
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

talus_status tl_ccp_make_gather(const tl_ccp_part *part, tl_ccp_gather *gather) {
  const size_t bodies = part->rows.body_count + 1, rows = W * part->rows.pack_count;
  tl_arena *arena = part->system->crowd->arena;
  uint32_t *ordered;
  TL_TAKE(arena, bodies + 1, &gather->start);
  TL_TAKE(arena, 2 * rows, &gather->entry);
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, rows, &ordered);
  TL_TRY(order_rows(part, ordered));
  memset(gather->start, 0, (bodies + 1) * sizeof *gather->start);
  for (size_t k = 0; k < rows; ++k) {
    gather->start[part->rows.packs[k / W].a[k % W] + 1]++;
    gather->start[part->rows.packs[k / W].b[k % W] + 1]++;
  }
  for (size_t i = 0; i < bodies; ++i)
    gather->start[i + 1] += gather->start[i];
  /* Filling moved each start to its end, which is the start of the next body: shift the starts
   * back. */
  for (size_t k = 0; k < rows; ++k) {
    const tl_ccp_pack *pack = &part->rows.packs[ordered[k] / W];
    const uint32_t lane = ordered[k] % W;
    gather->entry[gather->start[pack->a[lane]]++] = 2 * ordered[k];
    gather->entry[gather->start[pack->b[lane]]++] = 2 * ordered[k] + 1;
  }
  memmove(gather->start + 1, gather->start, bodies * sizeof *gather->start);
  gather->start[0] = 0;
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

/* ---- velocities of impulses ------------------------------------------------------------------ */

talus_status tl_ccp_make_reduction(const tl_ccp_part *part, tl_ccp_reduction *reduction) {
  reduction->kind = part->system->settings->reduction;
  if (reduction->kind == TALUS_REDUCTION_AUTO)
    reduction->kind = part->system->settings->method == TALUS_JACOBI ? TALUS_REDUCTION_GATHER
                                                                     : TALUS_REDUCTION_COLOURS;
  if (reduction->kind != TALUS_REDUCTION_COLOURS)
    TL_TRY(tl_ccp_make_gather(part, &reduction->gather));
  if (reduction->kind == TALUS_REDUCTION_SCAN)
    TL_TRY(tl_ccp_make_scan(part, &reduction->gather, &reduction->scan));
  return TALUS_OK;
}

typedef struct spread_job {
  const tl_ccp_rows *rows;
  const tl_ccp_reduction *reduction;
  const tl_ccp_body *free_bodies, *from;
  const tl_ccp_field *p;
  tl_ccp_body *out;
} spread_job;

static talus_vec3 lane_of(const tl_ccp_lanes *lanes, uint32_t i) { return tl_ccp_lane(lanes, i); }

/* Sums impulse and moment of one body over its rows. */
static tl_wrench add_up(const spread_job *job, size_t body) {
  const tl_ccp_gather *gather = &job->reduction->gather;
  tl_wrench sum = {{0, 0, 0}, {0, 0, 0}};
  for (uint32_t e = gather->start[body]; e < gather->start[body + 1]; ++e) {
    const uint32_t row = gather->entry[e] >> 1, lane = row % W;
    const bool is_b = gather->entry[e] & 1;
    talus_vec3 each = lane_of(&job->p[row / W], lane);
    if (!is_b)
      each = tl_neg(each);
    sum.impulse = tl_add(sum.impulse, each);
    sum.torque = tl_add(sum.torque, tl_cross(is_b ? tl_ccp_arm_b(job->rows, row / W, lane)
                                                  : tl_ccp_arm_a(job->rows, row / W, lane),
                                             each));
    if (job->rows->rolls) {
      const talus_vec3 torque = lane_of(&job->p[job->rows->pack_count + row / W], lane);
      sum.torque = is_b ? tl_add(sum.torque, torque) : tl_sub(sum.torque, torque);
    }
  }
  return sum;
}

static void gather_bodies(void *context, size_t begin, size_t end) {
  const spread_job *job = context;
  const tl_ccp_gather *gather = &job->reduction->gather;
  for (size_t i = begin; i < end; ++i) {
    job->out[i] = job->free_bodies[i];
    if (!(job->out[i].inv_mass > 0) || gather->start[i] == gather->start[i + 1])
      continue;
    const tl_wrench sum =
        job->reduction->kind == TALUS_REDUCTION_SCAN
            ? tl_ccp_scanned(&job->reduction->scan, gather->start[i], gather->start[i + 1])
            : add_up(job, i);
    tl_ccp_turn(&job->out[i], job->rows->tensors ? &job->rows->tensors[i] : NULL, sum.impulse,
                sum.torque);
  }
}

static void lay_in(void *context, size_t begin, size_t end) {
  const spread_job *job = context;
  for (size_t k = begin; k < end; ++k) {
    job->rows->packs[k].impulse = job->p[k];
    if (job->rows->rolls)
      job->rows->rolls[k].torque = job->p[job->rows->pack_count + k];
  }
}

/* bodies; adding to one tally again and again would wait for each addition */
#define TOGETHER ((size_t)64)

/* Mass norm of the difference of two sets of velocities, body by body. */
static void compare(void *context, size_t begin, size_t end, tl_tally *norm) {
  const spread_job *job = context;
  const tl_ccp_rows *rows = job->rows;
  for (size_t first = begin; first < end; first += TOGETHER) {
    const size_t count = end - first < TOGETHER ? end - first : TOGETHER;
    double each[TOGETHER] = {0};
    for (size_t k = 0; k < count; ++k) {
      const size_t i = first + k;
      if (job->out[i].inv_mass > 0)
        each[k] = tl_ccp_energy(&job->out[i], rows->tensors ? &rows->tensors[i] : NULL,
                                tl_sub(job->out[i].v, job->from[i].v),
                                tl_sub(job->out[i].w, job->from[i].w));
    }
    tl_ccp_tally_numbers(each, (count + W - 1) / W, norm);
  }
}

void tl_ccp_spread(const tl_ccp_part *part, const tl_ccp_reduction *reduction,
                   const tl_ccp_body *free_bodies, const tl_ccp_field *p, const tl_ccp_body *from,
                   tl_ccp_body *out, tl_tally *norm) {
  spread_job work = {&part->rows, reduction, free_bodies, from, p, out};
  if (reduction->kind == TALUS_REDUCTION_COLOURS) {
    tl_ccp_part pushed = *part;
    pushed.rows.bodies = out;
    memcpy(out, free_bodies, (part->rows.body_count + 1) * sizeof *out);
    tl_for(&part->par, part->rows.pack_count, 128, lay_in, &work);
    tl_ccp_push_all(&pushed);
  } else {
    if (reduction->kind == TALUS_REDUCTION_SCAN)
      tl_ccp_run_scan(part, &reduction->scan, p);
    tl_for(&part->par, part->rows.body_count, TL_BLOCK, gather_bodies, &work);
    out[part->rows.body_count] = free_bodies[part->rows.body_count];
  }
  if (from)
    tl_for_tally(&part->par, part->rows.body_count, TL_BLOCK, compare, &work, 1, norm);
}

/* ---- a step of all rows ---------------------------------------------------------------------- */

typedef struct step_job {
  const tl_ccp_rows *rows; /* with the bodies of the definition */
  const tl_ccp_step_def *def;
} step_job;

/* Contributions of the rows of a pack to the sums. */
typedef double lane_sums[TL_CCP_SUMS][W];

static tl_ccp_vec vec_of(talus_vec3 v) {
  const tl_ccp_vec r = {v.x, v.y, v.z};
  return r;
}

static talus_real short_eta(talus_real en, talus_real et) {
  return en > 0 ? tl_min(3 * en * et / (et + 2 * en), tl_min(en, et)) : 0;
}

/* A sliding contact gets the normal gradient with De Saxce's lift mu |u_t| (docs/sources.md C3):
 * only with it is a solution of Coulomb's law stationary, which restarts and searches need. Beyond
 * mu = 1 the lift would overcorrect. */
static talus_real lean_of(const tl_ccp_rows *rows, talus_real mu, talus_vec3 u, talus_vec3 n) {
  return rows->ncp * tl_min(mu, 1) * tl_length(tl_madd(u, -tl_dot(u, n), n));
}

/* A row that passes on torque. In a field, torques are stored behind all impulses. */
static void roll_lane(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t k, uint32_t i,
                      lane_sums sums) {
  const size_t behind = rows->pack_count + k;
  const talus_vec3 n = lane_of(&rows->packs[k].normal, i);
  const tl_wrench p = {lane_of(&def->from[k], i), lane_of(&def->from[behind], i)};
  const tl_wrench u = tl_ccp_twist_of(rows, k, i);
  const talus_real bias = rows->packs[k].bias[i];
  const tl_roll_law metric = tl_ccp_roll_law(rows, k, i, 1);
  tl_roll_law law = tl_ccp_roll_law(rows, k, i, def->scale);
  if (def->scalar)
    law.en = law.et = def->scale * short_eta(metric.en, metric.et);
  const tl_wrench to = tl_roll_step(p, u, n, bias, &law, rows->ncp > 0);
  tl_ccp_put_lane(&def->to[k], i, to.impulse);
  tl_ccp_put_lane(&def->to[behind], i, to.torque);
  const tl_wrench change = {tl_sub(to.impulse, p.impulse), tl_sub(to.torque, p.torque)};
  const talus_vec3 d = tl_madd(u.impulse, bias + lean_of(rows, law.friction, u.impulse, n), n);
  const talus_real normal = tl_dot(change.impulse, n), spin = tl_dot(change.torque, n);
  const talus_real tangent2 = tl_max(tl_length2(change.impulse) - normal * normal, 0);
  const talus_real roll2 = tl_max(tl_length2(change.torque) - spin * spin, 0);
  sums[TL_CCP_LENGTH2][i] = (double)(normal * normal / metric.en + tangent2 / metric.et);
  sums[TL_CCP_LENGTH2][i] += (double)((metric.er > 0 ? roll2 / metric.er : 0) +
                                      (metric.es > 0 ? spin * spin / metric.es : 0));
  sums[TL_CCP_SLOPE][i] = (double)(tl_dot(d, change.impulse) + tl_dot(u.torque, change.torque));
  if (def->mark)
    sums[TL_CCP_RESTART][i] =
        (double)(tl_dot(d, tl_sub(to.impulse, lane_of(&def->mark[k], i))) +
                 tl_dot(u.torque, tl_sub(to.torque, lane_of(&def->mark[behind], i))));
}

static void step_lane(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t k, uint32_t i,
                      lane_sums sums) {
  const tl_ccp_pack *pack = &rows->packs[k];
  if (tl_ccp_lane_rolls(rows, k, i)) {
    roll_lane(rows, def, k, i, sums);
    return;
  }
  const talus_vec3 n = lane_of(&pack->normal, i), p = lane_of(&def->from[k], i);
  const tl_ccp_vec seen = tl_ccp_lane_velocity(rows, k, i);
  const talus_vec3 u = tl_vec3(seen.x, seen.y, seen.z);
  const talus_real bias = pack->bias[i];
  const talus_real eta = short_eta(pack->en[i], pack->et[i]);
  const talus_real en = def->scale * (def->scalar ? eta : pack->en[i]);
  const talus_real et = def->scale * (def->scalar ? eta : pack->et[i]);
  const tl_ccp_vec r = tl_ccp_step(vec_of(p), seen, vec_of(n), bias, tl_ccp_friction(rows, k, i),
                                   en, et, rows->ncp > 0);
  const talus_vec3 to = tl_vec3(r.x, r.y, r.z), change = tl_sub(to, p);
  const talus_vec3 d = tl_madd(u, bias + lean_of(rows, tl_ccp_friction(rows, k, i), u, n), n);
  tl_ccp_put_lane(&def->to[k], i, to);
  if (rows->rolls)
    tl_ccp_put_lane(&def->to[rows->pack_count + k], i, tl_vec3(0, 0, 0));
  if (!(pack->en[i] > 0))
    return;
  const talus_real normal = tl_dot(change, n);
  const talus_real tangent2 = tl_max(tl_length2(change) - normal * normal, 0);
  sums[TL_CCP_LENGTH2][i] = (double)(normal * normal / pack->en[i] + tangent2 / pack->et[i]);
  sums[TL_CCP_SLOPE][i] = (double)tl_dot(d, change);
  if (def->mark)
    sums[TL_CCP_RESTART][i] = (double)tl_dot(d, tl_sub(to, lane_of(&def->mark[k], i)));
}

void tl_ccp_step_packs_scalar(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t begin,
                              size_t end, tl_tally sums[TL_CCP_SUMS]) {
  for (size_t k = begin; k < end; ++k) {
    lane_sums each = {{0}, {0}, {0}};
    for (uint32_t i = 0; i < W; ++i)
      step_lane(rows, def, k, i, each);
    for (int s = 0; s < TL_CCP_SUMS && !def->scalar; ++s)
      tl_tally_add_lanes(&sums[s], each[s]);
  }
}

static void step_packs(void *context, size_t begin, size_t end, tl_tally *sums) {
  const step_job *job = context;
  tl_ccp_visits_now()->step(job->rows, job->def, begin, end, sums);
}

void tl_ccp_step_all(const tl_ccp_part *part, const tl_ccp_step_def *def,
                     tl_tally sums[TL_CCP_SUMS]) {
  tl_ccp_rows seen = part->rows;
  seen.bodies = def->bodies;
  step_job work = {&seen, def};
  tl_for_tally(&part->par, part->rows.pack_count, TL_CCP_BLOCK_PACKS, step_packs, &work,
               TL_CCP_SUMS, sums);
}

/* ---- residual -------------------------------------------------------------------------------- */

typedef struct measure_job {
  const tl_ccp_part *part; /* with the bodies to look at */
  const tl_ccp_field *p;
} measure_job;

static void measure_blocks(void *context, size_t begin, size_t end, tl_tally *sum) {
  const measure_job *job = context;
  const tl_ccp_part *part = job->part;
  const tl_ccp_rows *rows = &part->rows;
  for (size_t block = begin; block < end; ++block) {
    const size_t first = part->block_pack[block], last = part->block_pack[block + 1];
    for (size_t k = first; k < last; ++k) {
      rows->packs[k].impulse = job->p[k];
      if (rows->rolls)
        rows->rolls[k].torque = job->p[rows->pack_count + k];
    }
    tl_ccp_tally_residuals(rows, first, last, sum, &part->block_max[block]);
  }
}

void tl_ccp_measure(const tl_ccp_part *part, const tl_ccp_body *bodies, const tl_ccp_field *p,
                    tl_tally *sum, double *most) {
  measure_job work = {part, p};
  memcpy(part->rows.bodies, bodies, (part->rows.body_count + 1) * sizeof *bodies);
  tl_for_tally(&part->par, part->block_count, 1, measure_blocks, &work, 1, sum);
  *most = 0;
  for (size_t i = 0; i < part->block_count; ++i)
    *most = fmax(*most, part->block_max[i]);
}
