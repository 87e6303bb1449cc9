/* Rows that pass on torque (kernels/rolling.h has the mathematics).
 *
 * Their steps must be such that no visit increases the objective: d.N d <= 2 d.E^-1 d for every
 * change d of the row (cone.h has the argument). With every part of d bounded by its own block of
 * N, k coupled parts need steps 2/k of the blocks' inverses. For spheres the arm is along the
 * normal, so that only the tangent and rolling are coupled: k = 2. Otherwise k = 4. (With `ncp`
 * there is no objective; the same steps are used.)
 *
 * A larger normal impulse allows more torque, which moves other contacts, and so on: the larger a
 * coefficient, the more sweeps are needed. A coefficient of 0.3 m (someone meant 0.3 without a
 * unit) leaves four times the residual in a heap of balls of 0.1 m. So coefficients are limited to
 * MOST_RADII radii of gyration, sqrt(er/en): 1.9 radii of a sphere, where a contact resists any
 * spin that a force could cause. */
#include "solve/ccp/ccp.h"

#define MOST_RADII TL_R(3)
#define AHEAD      4 /* packs between prefetching torques and using them */

/* Limit of the friction coefficient in the projection (`ncp` has no projection): at this value the
 * cone is almost a half space. tl_ccp_wrench_height adds 1 to the square of the coefficient and
 * compares the result with a nearly equal number: beyond 1/epsilon that comparison is wrong, and if
 * the square overflows the contact would hold nothing. */
#define MOST_FRICTION (TALUS_SINGLE ? TL_R(1e3) : TL_R(1e6))

static talus_real cut_off(talus_real coefficient, talus_real turning, talus_real en) {
  if (coefficient * coefficient * en <= MOST_RADII * MOST_RADII * turning)
    return coefficient;
  return MOST_RADII * tl_sqrt(turning / en);
}

/* Steps of a row against spinning and rolling. */
static void turning_steps(const tl_system *system, uint32_t a, uint32_t b, talus_vec3 n,
                          talus_real *es, talus_real *er) {
  const talus_real of_a = system->bodies[a].inv_inertia, of_b = system->bodies[b].inv_inertia;
  if (of_a < 0 || of_b < 0) {
    tl_step_metric(tl_sym3_add(tl_system_turning(system, a), tl_system_turning(system, b)), n, es,
                   er);
    return;
  }
  *es = *er = of_a + of_b > 0 ? 1 / (of_a + of_b) : 0; /* isotropic: the same in every direction */
}

/* The torque that a row starts with: that of the last step, cut to its limits. The impulse is in
 * its cone already. */
static talus_vec3 start_torque(const tl_ccp_pack *pack, const tl_ccp_roll *roll, uint32_t lane,
                               talus_vec3 n, talus_vec3 last) {
  const talus_real pn = tl_dot(tl_ccp_lane(&pack->impulse, lane), n), tn = tl_dot(last, n);
  const talus_real roll_most = roll->rolling[lane] * pn, spin_most = roll->spinning[lane] * pn;
  talus_vec3 tt = tl_madd(last, -tn, n);
  if (tl_length2(tt) > roll_most * roll_most)
    tt = tl_roll_cut(tt, tl_length(tt), roll_most);
  return tl_madd(tt, tl_max(-spin_most, tl_min(spin_most, tn)), n);
}

static void load_lane(const tl_ccp *job, size_t k, uint32_t lane, uint32_t contact) {
  tl_ccp_pack *pack = &job->rows.packs[k];
  tl_ccp_roll *roll = &job->rows.rolls[k];
  const tl_contact *c = &job->system->contacts->data[contact];
  const tl_pair_law *law = tl_model_law(job->system->model, c->a, c->b);
  const talus_real rolling = tl_law_rolling(job->system->model, law, c->a, c->b);
  if (!(rolling > 0 || law->spinning > 0) || !(pack->en[lane] > 0))
    return;
  const talus_vec3 n = tl_ccp_lane(&pack->normal, lane);
  talus_real er, es;
  turning_steps(job->system, pack->a[lane], pack->b[lane], n, &es, &er);
  roll->rolling[lane] = cut_off(rolling, er, pack->en[lane]);
  roll->spinning[lane] = cut_off(law->spinning, es, pack->en[lane]);
  /* A direction without resistance gets step 0: every visit would cut its torque to 0. */
  roll->er[lane] = roll->rolling[lane] > 0 ? er : 0;
  roll->es[lane] = roll->spinning[lane] > 0 ? es : 0;
  if (!(roll->er[lane] > 0 || roll->es[lane] > 0))
    return;
  roll->lanes |= 1u << lane;
  if (!tl_ccp_is_radial(&job->rows)) {
    pack->en[lane] *= TL_R(0.5);
    pack->et[lane] *= TL_R(0.5);
    roll->er[lane] *= TL_R(0.5);
    roll->es[lane] *= TL_R(0.5);
  }
  if (job->rows.ncp == 0 && pack->et[lane] > 0)
    job->rows.frictions[k].of[lane] = tl_min(
        job->rows.frictions[k].of[lane], MOST_FRICTION * tl_sqrt(pack->et[lane] / pack->en[lane]));
  if (job->system->settings->warm_start)
    tl_ccp_put_lane(
        &roll->torque, lane,
        start_torque(pack, roll, lane, n, job->system->contacts->law_states.data[contact].torque));
}

static void load_packs(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  for (size_t k = begin; k < end; ++k) {
    memset(&job->rows.rolls[k], 0, sizeof job->rows.rolls[k]);
    if (k + AHEAD < job->rows.pack_count)
      for (uint32_t row = job->rows.pack_row[k + AHEAD]; row < job->rows.pack_row[k + AHEAD + 1];
           ++row)
        __builtin_prefetch(&job->system->contacts->law_states.data[job->rows.contact[row]]);
    for (uint32_t row = job->rows.pack_row[k]; row < job->rows.pack_row[k + 1]; ++row)
      load_lane(job, k, row - job->rows.pack_row[k], job->rows.contact[row]);
  }
}

void tl_ccp_load_rolls(tl_ccp *job) {
  tl_for(&job->system->model->par, job->rows.pack_count, 64, load_packs, job);
}

tl_roll_law tl_ccp_roll_law(const tl_ccp_rows *rows, size_t k, uint32_t i, talus_real scale) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const tl_ccp_roll *roll = &rows->rolls[k];
  const tl_roll_law law = {tl_ccp_friction(rows, k, i), roll->rolling[i],    roll->spinning[i],
                           scale * pack->en[i],         scale * pack->et[i], scale * roll->er[i],
                           scale * roll->es[i]};
  return law;
}

tl_wrench tl_ccp_twist_of(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  const tl_ccp_body *a = &rows->bodies[rows->packs[k].a[i]],
                    *b = &rows->bodies[rows->packs[k].b[i]];
  const tl_ccp_vec u = tl_ccp_lane_velocity(rows, k, i);
  const tl_wrench r = {tl_vec3(u.x, u.y, u.z), tl_sub(b->w, a->w)};
  return r;
}

void tl_ccp_push_wrench(const tl_ccp_rows *rows, size_t k, uint32_t i, tl_wrench p) {
  const tl_ccp_pack *pack = &rows->packs[k];
  tl_ccp_body *a = &rows->bodies[pack->a[i]], *b = &rows->bodies[pack->b[i]];
  const tl_ccp_tensor *tensors = rows->tensors;
  const talus_vec3 back = tl_neg(p.impulse);
  if (tl_ccp_is_radial(rows)) {
    tl_ccp_push_lane(rows, k, i, p.impulse);
    if (a->inv_mass > 0)
      a->w = tl_madd(a->w, -a->inv_inertia, p.torque);
    if (b->inv_mass > 0)
      b->w = tl_madd(b->w, b->inv_inertia, p.torque);
    return;
  }
  if (a->inv_mass > 0)
    tl_ccp_turn(a, tensors ? &tensors[pack->a[i]] : NULL, back,
                tl_sub(tl_cross(tl_ccp_arm_a(rows, k, i), back), p.torque));
  if (b->inv_mass > 0)
    tl_ccp_turn(b, tensors ? &tensors[pack->b[i]] : NULL, p.impulse,
                tl_add(tl_cross(tl_ccp_arm_b(rows, k, i), p.impulse), p.torque));
}

tl_wrench tl_ccp_wrench_of(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  const tl_wrench p = {tl_ccp_lane(&rows->packs[k].impulse, i),
                       tl_ccp_lane(&rows->rolls[k].torque, i)};
  return p;
}

double tl_ccp_roll_lane(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  tl_ccp_pack *pack = &rows->packs[k];
  const tl_roll_law law = tl_ccp_roll_law(rows, k, i, 1);
  const talus_vec3 n = tl_ccp_lane(&pack->normal, i);
  const tl_wrench p = tl_ccp_wrench_of(rows, k, i), u = tl_ccp_twist_of(rows, k, i);
  const tl_wrench fresh = tl_roll_step(p, u, n, pack->bias[i], &law, rows->ncp > 0);
  const tl_wrench change = {tl_sub(fresh.impulse, p.impulse), tl_sub(fresh.torque, p.torque)};
  tl_ccp_put_lane(&pack->impulse, i, fresh.impulse);
  tl_ccp_put_lane(&rows->rolls[k].torque, i, fresh.torque);
  tl_ccp_push_wrench(rows, k, i, change);
  return (double)tl_roll_length2(change, n, &law);
}

double tl_ccp_roll_residual(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  const tl_roll_law law = tl_ccp_roll_law(rows, k, i, 1);
  const talus_vec3 n = tl_ccp_lane(&rows->packs[k].normal, i);
  const tl_wrench u = tl_ccp_twist_of(rows, k, i);
  return (double)tl_roll_residual(tl_ccp_wrench_of(rows, k, i), u, n, rows->packs[k].bias[i], &law,
                                  rows->ncp > 0);
}
