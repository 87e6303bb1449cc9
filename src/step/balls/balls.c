/* Velocity Verlet for balls: the pass over the list, and the kick and drift of a step that the last
 * one did not start. step/balls/step.c calls these.
 *
 * A pass does everything for a block of balls while they are in the cache: forces, then sums, the
 * last kick, and the first kick and drift of the next step. Only balls that are in candidates of
 * another thread's blocks wait until all threads have done these. */
#include "step/balls/balls.h"

#include "base/isa.h"
#include "kernels/quat.h"

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

static void put(talus_real *to, talus_vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }
static talus_vec3 get(const talus_real *from) { return tl_vec3(from[0], from[1], from[2]); }

/* Work of half a step's kick: force times mean velocity, exactly. v and w are twice the mean. */
static double find_work(const tl_ball_step *job, talus_vec3 v, talus_vec3 w,
                        talus_vec3 spring_force, talus_vec3 spring_torque) {
  return 0.25 * job->crowd->dt * (dot_d(spring_force, v) + dot_d(spring_torque, w));
}

static double find_load_work(const tl_ball_step *job, uint32_t slot, talus_vec3 v, talus_vec3 w) {
  const tl_properties *property = &job->model->property;
  double work = 0;
  if (property->force)
    work += 0.25 * job->crowd->dt * dot_d(property->force[slot], v);
  if (property->torque)
    work += 0.25 * job->crowd->dt * dot_d(property->torque[slot], w);
  return work;
}

/* Sets the force that a ball is kicked with: contact forces plus constant loads. */
static void put_push(const tl_ball_step *job, size_t rank, talus_vec3 spring_force,
                     talus_vec3 spring_torque) {
  const tl_properties *property = &job->model->property;
  const uint32_t slot = job->list->slot.data[rank];
  tl_ball *ball = &job->list->ball.data[rank];
  if (job->list->has_loads) {
    put(job->list->pure.data[rank].spring_force, spring_force);
    put(job->list->pure.data[rank].spring_torque, spring_torque);
  }
  put(ball->spring_force,
      property->force ? tl_add(spring_force, property->force[slot]) : spring_force);
  put(ball->spring_torque,
      property->torque ? tl_add(spring_torque, property->torque[slot]) : spring_torque);
}

/* The force of contacts alone. */
static void get_push(const tl_ball_list *list, size_t rank, talus_vec3 *spring_force,
                     talus_vec3 *spring_torque) {
  const tl_ball *ball = &list->ball.data[rank];
  *spring_force = get(list->has_loads ? list->pure.data[rank].spring_force : ball->spring_force);
  *spring_torque = get(list->has_loads ? list->pure.data[rank].spring_torque : ball->spring_torque);
}

/* ---- kick and drift -------------------------------------------------------------------------- */

static bool is_outside(const talus_domain_def *domain, talus_dvec3 x) {
  return x.x < domain->box.lo.x || x.x > domain->box.hi.x || x.y < domain->box.lo.y ||
         x.y > domain->box.hi.y || x.z < domain->box.lo.z || x.z > domain->box.hi.z;
}

/* Kicks and drifts one ball. Returns true if the ball stays within its skin and its allowed region,
 * and its spin is not absurd. */
static bool start_ball(const tl_ball_step *job, size_t rank, tl_ball_sums *sums) {
  const size_t lane = rank % TL_BALL_LANES;
  const tl_ball_rows *rows = &job->list->rows.data[rank / TL_BALL_LANES];
  const tl_ball_kept *kept = &job->list->kept.data[rank / TL_BALL_LANES];
  const tl_ball *ball = &job->list->ball.data[rank];
  tl_ball_place *place = &job->list->place.data[rank];
  const talus_domain_def *domain = &job->model->domain;
  if (!(ball->inv_mass > 0))
    return true;
  talus_dvec3 x = {rows->x[0][lane], rows->x[1][lane], rows->x[2][lane]};
  bool is_sane = true;
  if (!job->begins) {
    talus_vec3 spring_force, spring_torque;
    get_push(job->list, rank, &spring_force, &spring_torque);
    if (job->list->has_loads)
      put_push(job, rank, spring_force, spring_torque); /* loads may have been changed */
    const tl_twist mid = tl_balls_mid(job, rank);
    tl_tally_add(&sums->of[TL_BALL_FIRST_WORK],
                 find_work(job, tl_add(get(ball->v), mid.velocity), tl_add(get(ball->w), mid.spin),
                           spring_force, spring_torque));
    x = tl_dmadd(x, job->crowd->dt, mid.velocity);
    is_sane = tl_length2(mid.spin) <= job->most_spin2;
  }
  place->x = x.x, place->y = x.y, place->z = x.z;
  const talus_dvec3 from = {kept->from[0][lane], kept->from[1][lane], kept->from[2][lane]};
  const talus_dvec3 way = tl_dsub(x, from);
  return is_sane && tl_ddot(way, way) <= kept->limit[lane] &&
         !(domain->enabled && domain->outside == TALUS_OUTSIDE_STOP && is_outside(domain, x));
}

/* True if the version in lanes covers everything that this step does. */
static bool lanes_can_start(const tl_ball_step *job) {
  const talus_domain_def *domain = &job->model->domain;
  return tl_ball_uses_lanes() && !job->begins && !job->list->has_loads &&
         !(domain->enabled && domain->outside == TALUS_OUTSIDE_STOP);
}

static bool lanes_can_finish(const tl_ball_step *job) {
  return tl_ball_uses_lanes() && !job->begins && !job->list->has_loads &&
         (!job->goes_on || lanes_can_start(job));
}

static const tl_ball_kicks *kicks_now(void) {
  static const tl_ball_kicks *const all[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = &tl_ball_kicks_generic,
                                                         [TL_ISA_AVX2] = &tl_ball_kicks_avx2,
                                                         [TL_ISA_AVX512] = &tl_ball_kicks_avx512};
  return all[tl_isa_now()];
}

static void start_worker(void *context, tl_team *team, int worker, int workers) {
  const tl_ball_step *job = context;
  (void)team;
  const tl_ball_kicks *lanes = lanes_can_start(job) ? kicks_now() : NULL;
  const size_t eights = job->list->kept.count;
  tl_ball_sums *sums = &job->sums[worker];
  bool stays = true;
  for (size_t eight = tl_share(eights, worker, workers);
       eight < tl_share(eights, worker + 1, workers); ++eight) {
    const size_t first = eight * TL_BALL_LANES, last = first + TL_BALL_LANES;
    if (lanes && last <= job->list->count)
      stays &= lanes->start(job, eight, sums);
    else
      for (size_t rank = first; rank < last && rank < job->list->count; ++rank)
        stays &= start_ball(job, rank, sums);
  }
  if (!stays)
    atomic_store_explicit(job->left, true, memory_order_relaxed);
}

/* Limits the number of threads to what the work is worth; small worlds get one. */
static tl_par crew_of(const tl_ball_step *job) {
  return tl_par_if(&job->model->par, job->list->blocks > 1);
}

tl_tally tl_balls_collect(const tl_ball_step *job, int kind) {
  const tl_par crew = crew_of(job);
  tl_tally all = job->sums[0].of[kind];
  for (int worker = 1; worker < crew.threads; ++worker)
    tl_tally_merge(&all, &job->sums[worker].of[kind]);
  return all;
}

tl_depths tl_balls_depths(const tl_ball_step *job) {
  const tl_par crew = crew_of(job);
  tl_depths all = {0};
  for (int worker = 0; worker < crew.threads; ++worker) {
    const tl_ball_sums *sums = &job->sums[worker];
    const tl_depths depths = {(double)sums->deepest, sums->share,
                              sums->share > 1 || sums->has_crossed};
    tl_depths_merge(&all, &depths);
  }
  return all;
}

size_t tl_balls_count_contacts(const tl_ball_step *job) {
  size_t all = job->list->wall_contacts.count;
  for (int worker = 0; worker < crew_of(job).threads; ++worker)
    all += job->sums[worker].contacts;
  return all;
}

static void clear_sums(const tl_ball_step *job) {
  const tl_par crew = crew_of(job);
  for (int worker = 0; worker < crew.threads; ++worker) {
    job->sums[worker].deepest = 0;
    job->sums[worker].share = 0;
    job->sums[worker].contacts = 0;
    job->sums[worker].has_crossed = false;
    for (int kind = 0; kind < TL_BALL_SUMS; ++kind)
      tl_tally_clear(&job->sums[worker].of[kind]);
  }
}

/* Called when a constant load appears: from now on contact forces are also kept without loads. */
static talus_status keep_pure(const tl_ball_step *job) {
  tl_ball_list *list = job->list;
  if (list->has_loads || !tl_balls_have_loads(job->model))
    return TALUS_OK;
  TL_TRY(tl_array_resize(&list->pure, list->count));
  for (size_t i = 0; i < list->count; ++i) {
    memcpy(list->pure.data[i].spring_force, list->ball.data[i].spring_force,
           sizeof list->pure.data[i].spring_force);
    memcpy(list->pure.data[i].spring_torque, list->ball.data[i].spring_torque,
           sizeof list->pure.data[i].spring_torque);
  }
  list->has_loads = true;
  return TALUS_OK;
}

void tl_balls_set_forces(tl_ball_step *job) {
  const double dt = job->begins ? 0 : job->crowd->dt;
  job->forces = (tl_ball_job){.list = job->list,
                              .laws = job->crowd->penalty->laws.data,
                              .materials = job->model->materials.count,
                              .is_hertz = job->model->solve.law == TALUS_HERTZ,
                              .h = (talus_real)dt,
                              .half = (talus_real)(0.5 * dt),
                              .gravity = job->model->gravity};
}

talus_status tl_balls_start(tl_ball_step *job, bool *stays) {
  _Atomic bool left;
  atomic_init(&left, false);
  job->left = &left;
  tl_balls_set_forces(job);
  TL_TRY(keep_pure(job));
  clear_sums(job);
  const tl_par crew = crew_of(job);
  tl_team_run(&crew, start_worker, job);
  job->list->first_work = tl_balls_collect(job, TL_BALL_FIRST_WORK);
  *stays = !atomic_load(&left);
  return TALUS_OK;
}

/* ---- sums and the last kick ------------------------------------------------------------------ */

static void add_effect(const tl_ball_list *list, uint32_t entry, talus_real radius,
                       talus_vec3 *force, talus_vec3 *turn) {
  const tl_ball_effect *e = &list->effect.data[list->at.data[entry / 2]];
  *force = entry % 2 ? tl_add(*force, get(e->force)) : tl_sub(*force, get(e->force));
  *turn = tl_madd(*turn, radius - e->half_overlap, get(e->turn));
}

/* Sums forces of contacts on a ball in canonical order. */
static void add_contacts(const tl_ball_step *job, size_t rank, talus_vec3 *spring_force,
                         talus_vec3 *spring_torque) {
  const tl_ball_list *list = job->list;
  const uint32_t slot = list->slot.data[rank];
  const talus_real radius = list->ball.data[rank].radius;
  talus_vec3 force = tl_vec3(0, 0, 0), turn = tl_vec3(0, 0, 0);
  for (uint32_t k = list->entry_start.data[rank]; k < list->entry_start.data[rank + 1]; ++k)
    add_effect(list, list->entry.data[k], radius, &force, &turn);
  const bool wall = list->has_wall.data[rank];
  *spring_force = wall ? tl_add(force, job->spring_force[slot]) : force;
  *spring_torque = tl_sub(wall ? job->spring_torque[slot] : tl_vec3(0, 0, 0), turn);
}

unsigned tl_balls_find_fate(const tl_ball_step *job, const tl_ball *ball) {
  const talus_real most = TL_BALL_FASTEST_SQUARE;
  const talus_real v2 = tl_length2(get(ball->v)), w2 = tl_length2(get(ball->w));
  talus_vec3 velocity_kick, spin_kick;
  tl_ball_kick(&job->forces, ball, &velocity_kick, &spin_kick);
  if (v2 < most && w2 < most && tl_length2(velocity_kick) < most && tl_length2(spin_kick) < most)
    return 0;
  return tl_is_finite(v2) && tl_is_finite(w2) ? TL_BALL_TOO_FAST : TL_BALL_BROKEN;
}

static unsigned finish_ball(const tl_ball_step *job, size_t rank, tl_ball_sums *sums) {
  const tl_ball_list *list = job->list;
  const size_t lane = rank % TL_BALL_LANES;
  const uint32_t slot = list->slot.data[rank];
  tl_ball_rows *rows = &list->rows.data[rank / TL_BALL_LANES];
  tl_ball *ball = &list->ball.data[rank];
  const talus_vec3 v0 = get(ball->v), w0 = get(ball->w);
  const tl_twist mid = tl_balls_mid(job, rank);
  talus_vec3 spring_force, spring_torque, velocity_kick, spin_kick;
  add_contacts(job, rank, &spring_force, &spring_torque);
  put_push(job, rank, spring_force, spring_torque);
  if (!(ball->inv_mass > 0) || job->begins)
    return 0;
  const tl_ball_place *place = &list->place.data[rank];
  rows->x[0][lane] = place->x, rows->x[1][lane] = place->y, rows->x[2][lane] = place->z;
  const talus_quat now = {rows->q[0][lane], rows->q[1][lane], rows->q[2][lane], rows->q[3][lane]};
  const talus_quat turn =
      tl_quat_from_rotation_vector(tl_scale(mid.spin, (talus_real)job->crowd->dt));
  const talus_quat q = tl_quat_renormalize(tl_quat_mul(turn, now));
  rows->q[0][lane] = q.w, rows->q[1][lane] = q.x, rows->q[2][lane] = q.y, rows->q[3][lane] = q.z;
  tl_ball_kick(&job->forces, ball, &velocity_kick, &spin_kick);
  const talus_vec3 v = tl_add(mid.velocity, velocity_kick), w = tl_add(mid.spin, spin_kick);
  put(ball->v, v), put(ball->w, w);
  const talus_vec3 v1 = tl_add(mid.velocity, v), w1 = tl_add(mid.spin, w);
  tl_tally_add(&sums->of[TL_BALL_CONTACT_WORK],
               find_work(job, v1, w1, spring_force, spring_torque));
  if (list->has_loads)
    tl_tally_add(&sums->of[TL_BALL_LOAD_WORK],
                 find_load_work(job, slot, tl_add(v0, mid.velocity), tl_add(w0, mid.spin)) +
                     find_load_work(job, slot, v1, w1));
  return tl_balls_find_fate(job, ball);
}

static unsigned finish_eight(const tl_ball_step *job, size_t eight, const tl_ball_kicks *lanes,
                             tl_ball_sums *sums) {
  const tl_ball_list *list = job->list;
  const size_t first = eight * TL_BALL_LANES, last = first + TL_BALL_LANES;
  if (lanes && last <= list->count)
    return lanes->finish(job, eight, sums);
  unsigned fate = 0;
  for (size_t rank = first; rank < last && rank < list->count; ++rank) {
    fate |= finish_ball(job, rank, sums);
    if (job->goes_on && !start_ball(job, rank, sums))
      fate |= TL_BALL_LEFT;
  }
  return fate;
}

static size_t eights_before(const tl_ball_list *list, size_t block) {
  const size_t eights = block * (TL_BALL_BLOCK / TL_BALL_LANES);
  return eights < list->kept.count ? eights : list->kept.count;
}

/* Processes a block of balls: forces, then everything after that for balls which no block before
 * `begin` needs or has forces on. The same worker must have done blocks `begin` to this one. */
static unsigned pass_block(const tl_ball_step *job, size_t block, size_t begin,
                           const tl_ball_kicks *lanes, tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  tl_ball_mirror_block(list, block, sums);
  tl_ball_push_block(&job->forces, block, sums);
  const size_t first = eights_before(list, block), last = eights_before(list, block + 1);
  uint8_t *waits = list->waits.data;
  unsigned fate = 0;
  for (size_t eight = first; eight < last; ++eight)
    waits[eight] = list->first_owner.data[eight] < begin * TL_BALL_BLOCK;
  for (size_t eight = first; eight < last; ++eight)
    if (!waits[eight])
      fate |= finish_eight(job, eight, lanes, sums);
  return fate;
}

static unsigned finish_waiting(const tl_ball_step *job, size_t block, const tl_ball_kicks *lanes,
                               tl_ball_sums *sums) {
  const size_t first = eights_before(job->list, block), last = eights_before(job->list, block + 1);
  unsigned fate = 0;
  for (size_t eight = first; eight < last; ++eight)
    if (job->list->waits.data[eight])
      fate |= finish_eight(job, eight, lanes, sums);
  return fate;
}

/* The blocks that remain of a worker's share: the first in the upper half of the word, the end in
 * the lower half. */
typedef struct share {
  _Alignas(64) _Atomic uint64_t blocks;
} share;

typedef struct pass_job {
  const tl_ball_step *step;
  share *shares; /* by worker */
  int count;
  _Atomic size_t next; /* next block whose balls waited */
} pass_job;

static uint64_t pack_share(uint64_t begin, uint64_t end) { return begin << 32 | end; }

static bool take_block(share *mine, size_t *block) {
  uint64_t old = atomic_load_explicit(&mine->blocks, memory_order_relaxed);
  do {
    if (old >> 32 >= (uint32_t)old)
      return false;
    *block = (size_t)(old >> 32);
  } while (!atomic_compare_exchange_weak_explicit(&mine->blocks, &old, old + ((uint64_t)1 << 32),
                                                  memory_order_relaxed, memory_order_relaxed));
  return true;
}

/* Takes the second half of what remains of the largest share; false if nothing remains. So a core
 * that is busy with other programs delays the others by one block at most. */
static bool take_over(pass_job *job, share *mine, size_t *begin) {
  for (;;) {
    share *from = NULL;
    uint64_t old = 0, most = 0;
    for (int i = 0; i < job->count; ++i) {
      const uint64_t has = atomic_load_explicit(&job->shares[i].blocks, memory_order_relaxed);
      const uint64_t left = (uint32_t)has > has >> 32 ? (uint32_t)has - (has >> 32) : 0;
      if (left > most)
        from = &job->shares[i], most = left, old = has;
    }
    if (!from)
      return false;
    const uint64_t end = (uint32_t)old, middle = end - (most + 1) / 2;
    if (!atomic_compare_exchange_strong_explicit(&from->blocks, &old, pack_share(old >> 32, middle),
                                                 memory_order_relaxed, memory_order_relaxed))
      continue;
    atomic_store_explicit(&mine->blocks, pack_share(middle, end), memory_order_relaxed);
    *begin = (size_t)middle;
    return true;
  }
}

static void tell_fate(const tl_ball_step *job, unsigned fate) {
  if (fate & TL_BALL_BROKEN)
    atomic_store_explicit(job->broken, true, memory_order_relaxed);
  if (fate & TL_BALL_LEFT)
    atomic_store_explicit(job->left, true, memory_order_relaxed);
  if (fate & TL_BALL_TOO_FAST)
    atomic_store_explicit(job->too_fast, true, memory_order_relaxed);
}

static void pass_worker(void *context, tl_team *team, int worker, int workers) {
  pass_job *job = context;
  const tl_ball_step *step = job->step;
  tl_ball_sums *sums = &step->sums[worker];
  share *mine = &job->shares[worker];
  const tl_ball_kicks *lanes = lanes_can_finish(step) ? kicks_now() : NULL;
  size_t block, begin = tl_share(step->list->blocks, worker, job->count);
  unsigned fate = 0;
  (void)workers; /* may be fewer than shares: the other shares are taken over */
  do {
    while (take_block(mine, &block))
      fate |= pass_block(step, block, begin, lanes, sums);
  } while (take_over(job, mine, &begin));
  tl_team_barrier(team);
  while ((block = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) <
         step->list->blocks)
    fate |= finish_waiting(step, block, lanes, sums);
  tell_fate(step, fate);
}

talus_status tl_balls_pass(tl_ball_step *step) {
  const tl_par crew = crew_of(step);
  pass_job job = {.step = step, .count = crew.threads};
  TL_TAKE(step->crowd->arena, (size_t)crew.threads, &job.shares);
  for (int i = 0; i < job.count; ++i)
    atomic_init(&job.shares[i].blocks, pack_share(tl_share(step->list->blocks, i, job.count),
                                                  tl_share(step->list->blocks, i + 1, job.count)));
  atomic_init(&job.next, 0);
  clear_sums(step);
  tl_team_run(&crew, pass_worker, &job);
  return TALUS_OK;
}
