/* Velocity Verlet for balls (verlet.c has the scheme, verlet_list.h what is special here).
 *
 * The state of balls stays in the rows of the list, in their order, as long as steps follow upon
 * steps; the world's arrays are written when somebody may look (tl_balls_commit). A step goes from
 * the rows `now` to the rows `next`, which take their place when nothing can fail any more.
 *
 * A step is one pass: forces of a block of balls, then for its balls the sums, the last kick, and
 * the first kick and drift of the next step, all while they are in the cache. Only balls that are
 * in candidates of blocks that another thread has wait until all have done that. */
#include "step/verlet_balls.h"

#include "kernels/quat.h"
#include "narrow/narrow.h"

#include <time.h>

/* Balls whose rows are more than 1 MB: what a core has for itself, or less. */
#define LARGE 4096

static double wall_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

static void put(talus_real *to, talus_vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }
static talus_vec3 get(const talus_real *from) { return tl_vec3(from[0], from[1], from[2]); }

/* Work of half a step's kick, exactly: force times mean velocity. v and w are twice that. */
static double find_work(const tl_ball_step *job, talus_vec3 v, talus_vec3 w, talus_vec3 push,
                        talus_vec3 twist) {
  return 0.25 * job->scope->dt * (dot_d(push, v) + dot_d(twist, w));
}

static double find_load_work(const tl_ball_step *job, uint32_t slot, talus_vec3 v, talus_vec3 w) {
  const tl_properties *property = &job->model->property;
  const double quarter = 0.25 * job->scope->dt;
  double work = 0;
  if (property->force)
    work += quarter * dot_d(property->force[slot], v);
  if (property->torque)
    work += quarter * dot_d(property->torque[slot], w);
  return work;
}

/* What half a step changes velocity and spin by. */
static tl_twist find_kick(const tl_ball_step *job, const tl_ball_kept *kept, size_t lane,
                          uint32_t slot, talus_vec3 push, talus_vec3 twist) {
  const tl_properties *property = &job->model->property;
  const talus_real half = (talus_real)(0.5 * job->scope->dt);
  if (property->force)
    push = tl_add(push, property->force[slot]);
  if (property->torque)
    twist = tl_add(twist, property->torque[slot]);
  return (tl_twist){tl_scale(tl_madd(job->model->gravity, kept->inv_mass[lane], push), half),
                    tl_scale(twist, half * kept->inv_inertia[lane])};
}

/* The state of one of eight. */
typedef struct row {
  talus_dvec3 x;
  talus_quat q;
  talus_vec3 v, w, push, twist;
} row;

static talus_vec3 collect(const talus_real from[3][TL_BALL_LANES], size_t lane) {
  return tl_vec3(from[0][lane], from[1][lane], from[2][lane]);
}

static void spread(talus_real to[3][TL_BALL_LANES], size_t lane, talus_vec3 v) {
  to[0][lane] = v.x, to[1][lane] = v.y, to[2][lane] = v.z;
}

static row get_row(const tl_ball_rows *rows, size_t i) {
  return (row){tl_dvec3(rows->x[0][i], rows->x[1][i], rows->x[2][i]),
               tl_quat(rows->q[0][i], rows->q[1][i], rows->q[2][i], rows->q[3][i]),
               collect(rows->v, i),
               collect(rows->w, i),
               collect(rows->push, i),
               collect(rows->twist, i)};
}

static void put_row(tl_ball_rows *rows, size_t i, const row *r) {
  rows->x[0][i] = r->x.x, rows->x[1][i] = r->x.y, rows->x[2][i] = r->x.z;
  rows->q[0][i] = r->q.w, rows->q[1][i] = r->q.x, rows->q[2][i] = r->q.y, rows->q[3][i] = r->q.z;
  spread(rows->v, i, r->v), spread(rows->w, i, r->w);
  spread(rows->push, i, r->push), spread(rows->twist, i, r->twist);
}

/* ---- kick and drift -------------------------------------------------------------------------- */

static bool is_outside(const talus_domain_def *domain, talus_dvec3 x) {
  return x.x < domain->box.lo.x || x.x > domain->box.hi.x || x.y < domain->box.lo.y ||
         x.y > domain->box.hi.y || x.z < domain->box.lo.z || x.z > domain->box.hi.z;
}

/* From the rows of its eight; true where it is still in its place in the list, and where it may
 * be. */
static bool start_ball(const tl_ball_step *job, const tl_ball_rows *from_rows, size_t rank) {
  const size_t lane = rank % TL_BALL_LANES;
  const tl_ball_kept *kept = &job->list->kept.data[rank / TL_BALL_LANES];
  row now = get_row(from_rows, lane);
  tl_ball *ball = &job->list->ball.data[rank];
  tl_ball_place *place = &job->list->place.data[rank];
  const talus_domain_def *domain = &job->model->domain;
  if (!(kept->inv_mass[lane] > 0))
    return true;
  tl_twist kick = {{0, 0, 0}, {0, 0, 0}};
  if (!job->begins) {
    kick = find_kick(job, kept, lane, job->list->slot.data[rank], now.push, now.twist);
    const talus_vec3 v = tl_add(now.v, kick.velocity), w = tl_add(now.w, kick.spin);
    job->list->first_work.data[rank] =
        find_work(job, tl_add(now.v, v), tl_add(now.w, w), now.push, now.twist);
    now.v = v, now.w = w;
    now.x = tl_dmadd(now.x, job->scope->dt, now.v);
  }
  put(ball->v, now.v), put(ball->w, now.w);
  put(ball->lead, kick.velocity), put(ball->swing, kick.spin);
  place->x = now.x.x, place->y = now.x.y, place->z = now.x.z;
  const talus_dvec3 from = {kept->from[0][lane], kept->from[1][lane], kept->from[2][lane]};
  const talus_dvec3 way = tl_dsub(now.x, from);
  return tl_ddot(way, way) <= kept->limit[lane] &&
         !(domain->enabled && domain->outside == TALUS_OUTSIDE_STOP && is_outside(domain, now.x));
}

/* Whether lanes know all that a step does. */
static bool lanes_can_start(const tl_ball_step *job) {
  const talus_domain_def *domain = &job->model->domain;
  return tl_ball_uses_lanes() && !job->begins && !job->model->property.force &&
         !job->model->property.torque &&
         !(domain->enabled && domain->outside == TALUS_OUTSIDE_STOP);
}

static bool lanes_can_finish(const tl_ball_step *job) {
  return tl_ball_uses_lanes() && !job->begins && !job->model->property.force &&
         !job->model->property.torque && (!job->goes_on || lanes_can_start(job));
}

static void start_range(void *context, size_t begin, size_t end) {
  const tl_ball_step *job = context;
  const bool lanes = lanes_can_start(job);
  bool stays = true;
  for (size_t eight = begin; eight < end; ++eight) {
    const size_t first = eight * TL_BALL_LANES, last = first + TL_BALL_LANES;
    if (lanes && last <= job->list->count)
      stays &= tl_balls_start_avx512(job, eight);
    else
      for (size_t rank = first; rank < last && rank < job->list->count; ++rank)
        stays &= start_ball(job, &job->list->now.data[eight], rank);
  }
  if (!stays)
    atomic_store_explicit(job->left, true, memory_order_relaxed);
}

/* Kicks and drifts; false where some ball left its place in the list, or is nowhere at all. */
static bool start(tl_ball_step *job) {
  _Atomic bool left;
  atomic_init(&left, false);
  job->left = &left;
  tl_for(&job->model->par, job->list->kept.count, 64, start_range, job);
  return !atomic_load(&left);
}

/* ---- walls ----------------------------------------------------------------------------------- */

static void write_mid(const tl_ball_step *job, uint32_t slot) {
  const uint32_t rank = job->list->rank.data[slot];
  const tl_ball *ball = &job->list->ball.data[rank];
  const tl_ball_place *place = &job->list->place.data[rank];
  job->mid.position[slot] = tl_dvec3(place->x, place->y, place->z);
  job->mid.velocity[slot] = get(ball->v);
  job->mid.spin[slot] = get(ball->w);
  job->lead[slot] = get(ball->lead);
  job->swing[slot] = get(ball->swing);
}

static void write_mids(void *context, size_t begin, size_t end) {
  const tl_ball_step *job = context;
  for (size_t i = begin; i < end; ++i)
    write_mid(job, job->list->wall_balls.data[i]);
}

/* Contacts with walls and their forces, by the general way: they are few. */
static talus_status push_walls(tl_ball_step *job) {
  const tl_scope *scope = job->scope;
  tl_ball_list *list = job->list;
  const size_t n = job->model->bodies;
  TL_TAKE(scope->arena, n, &job->push);
  TL_TAKE(scope->arena, n, &job->twist);
  if (list->walls.count == 0) {
    list->wall_contacts.count = list->wall_contacts.springs.count = 0;
    list->wall_sums = (tl_penalty_sums){0, 0, 0, 0};
    return TALUS_OK;
  }
  talus_real *margins;
  TL_TAKE(scope->arena, n, &margins);
  TL_TAKE(scope->arena, n, &job->mid.position);
  TL_TAKE(scope->arena, n, &job->mid.velocity);
  TL_TAKE(scope->arena, n, &job->mid.spin);
  TL_TAKE(scope->arena, n, &job->lead);
  TL_TAKE(scope->arena, n, &job->swing);
  job->mid.rotation = scope->in->rotation; /* walls do not turn, and balls look all the same */
  memset(margins, 0, n * sizeof *margins);
  tl_for(&job->model->par, list->wall_balls.count, 256, write_mids, job);
  uint32_t last = TL_NONE;
  for (size_t i = 0; i < list->walls.count; ++i) { /* few, and mostly the same one after another */
    const tl_pair pair = list->walls.data[i];
    const bool first = tl_body_shape(job->model, pair.a)->kind == TALUS_SPHERE;
    const uint32_t wall = first ? pair.b : pair.a;
    if (wall != last)
      write_mid(job, wall);
    last = wall;
  }
  tl_scope at_end = *scope;
  at_end.in = &job->mid;
  at_end.members = list->wall_balls.data; /* for whom forces are added up */
  at_end.count = list->wall_balls.count;
  tl_springs springs;
  tl_pairs pairs = {list->walls.data, list->walls.count};
  TL_TRY(tl_contact_take_springs(scope, &list->wall_contacts, &springs));
  TL_TRY(tl_narrow_find_contacts(job->model, &at_end, &pairs, margins, &list->wall_contacts));
  TL_TRY(tl_contact_lay_springs(job->model, &springs, &list->wall_contacts));
  const tl_penalty_motion motion = {.velocity = job->mid.velocity,
                                    .spin = job->mid.spin,
                                    .lead = job->lead,
                                    .swing = job->swing,
                                    .h = job->begins ? 0 : scope->dt};
  return tl_penalty_add_up(job->model, &at_end, &motion, &list->wall_contacts, job->push,
                           job->twist, &list->wall_sums);
}

/* ---- sums and the last kick ------------------------------------------------------------------ */

static void add_effect(const tl_ball_list *list, uint32_t entry, talus_real radius,
                       talus_vec3 *force, talus_vec3 *turn) {
  const tl_ball_effect *e = &list->effect.data[list->at.data[entry / 2]];
  *force = entry % 2 ? tl_add(*force, get(e->force)) : tl_sub(*force, get(e->force));
  *turn = tl_madd(*turn, radius - e->half_overlap, get(e->turn));
}

/* Forces on a ball, in canonical order, and the energies of the contacts that it counts. */
static void add_contacts(const tl_ball_step *job, size_t rank, talus_vec3 *push, talus_vec3 *twist,
                         double sums[TL_BALL_SUMS]) {
  const tl_ball_list *list = job->list;
  const uint32_t slot = list->slot.data[rank];
  const talus_real radius = list->ball.data[rank].radius;
  talus_vec3 force = tl_vec3(0, 0, 0), turn = tl_vec3(0, 0, 0);
  for (uint32_t k = list->entry_start.data[rank]; k < list->entry_mid.data[rank]; ++k)
    add_effect(list, list->entry.data[k], radius, &force, &turn);
  for (uint32_t k = list->entry_mid.data[rank]; k < list->entry_start.data[rank + 1]; ++k) {
    const uint32_t entry = list->entry.data[k];
    add_effect(list, entry, radius, &force, &turn);
    for (int i = 0; i < TL_BALL_ENERGIES; ++i)
      sums[i] += (double)list->energy.data[list->at.data[entry / 2]].of[i];
  }
  const bool wall = list->has_wall.data[rank];
  *push = wall ? tl_add(force, job->push[slot]) : force;
  *twist = tl_sub(wall ? job->twist[slot] : tl_vec3(0, 0, 0), turn);
}

/* True where its velocity is finite. */
static bool finish_ball(const tl_ball_step *job, size_t rank) {
  const tl_ball_list *list = job->list;
  const size_t eight = rank / TL_BALL_LANES, lane = rank % TL_BALL_LANES;
  const uint32_t slot = list->slot.data[rank];
  const tl_ball_kept *kept = &list->kept.data[eight];
  const row now = get_row(&list->now.data[eight], lane);
  row next = now;
  double sums[TL_BALL_SUMS] = {0};
  add_contacts(job, rank, &next.push, &next.twist, sums);
  if (kept->inv_mass[lane] > 0 && !job->begins) {
    const tl_ball_place *place = &list->place.data[rank];
    const talus_vec3 v = get(list->ball.data[rank].v), w = get(list->ball.data[rank].w);
    const talus_quat turn = tl_quat_from_rotation_vector(tl_scale(w, (talus_real)job->scope->dt));
    const tl_twist last = find_kick(job, kept, lane, slot, next.push, next.twist);
    next.x = tl_dvec3(place->x, place->y, place->z);
    next.q = tl_quat_renormalize(tl_quat_mul(turn, now.q));
    next.v = tl_add(v, last.velocity), next.w = tl_add(w, last.spin);
    const talus_vec3 v0 = tl_add(now.v, v), w0 = tl_add(now.w, w);
    const talus_vec3 v1 = tl_add(v, next.v), w1 = tl_add(w, next.w);
    sums[TL_BALL_CONTACT_WORK] =
        list->first_work.data[rank] + find_work(job, v1, w1, next.push, next.twist);
    sums[TL_BALL_LOAD_WORK] = find_load_work(job, slot, v0, w0) + find_load_work(job, slot, v1, w1);
  }
  put_row(&list->next.data[eight], lane, &next);
  memcpy(job->sums[rank], sums, sizeof sums);
  return tl_is_finite(tl_length2(next.v)) && tl_is_finite(tl_length2(next.w));
}

static unsigned finish_eight(const tl_ball_step *job, size_t eight, bool lanes,
                             bool next_is_ready) {
  const tl_ball_list *list = job->list;
  const size_t first = eight * TL_BALL_LANES, last = first + TL_BALL_LANES;
  if (lanes && last <= list->count)
    return tl_balls_finish_avx512(job, eight, next_is_ready);
  unsigned fate = 0;
  for (size_t rank = first; rank < last && rank < list->count; ++rank) {
    fate |= finish_ball(job, rank) ? 0 : TL_BALL_BROKEN;
    if (job->goes_on && !start_ball(job, &list->next.data[eight], rank))
      fate |= TL_BALL_LEFT;
  }
  return fate;
}

static void tell_fate(const tl_ball_step *job, unsigned fate) {
  if (job->is_large)
    tl_balls_fence_avx512();
  if (fate & TL_BALL_BROKEN)
    atomic_store_explicit(job->broken, true, memory_order_relaxed);
  if (fate & TL_BALL_LEFT)
    atomic_store_explicit(job->left, true, memory_order_relaxed);
}

/* Blocks of balls: forces, then all that follows for those that no block before `begin` asks for or
 * has forces on. */
static void pass_blocks(void *context, size_t begin, size_t end) {
  const tl_ball_step *job = context;
  tl_ball_list *list = job->list;
  const bool lanes = lanes_can_finish(job);
  const size_t per_block = TL_BALL_BLOCK / TL_BALL_LANES;
  unsigned fate = 0;
  for (size_t block = begin; block < end; ++block) {
    tl_ball_mirror_block(list, block);
    tl_ball_push_block(&job->forces, block);
    const size_t first = block * per_block;
    const size_t last = first + per_block < list->kept.count ? first + per_block : list->kept.count;
    uint8_t *waits = list->waits.data;
    for (size_t eight = first; eight < last; ++eight)
      waits[eight] = list->first_owner.data[eight] < begin * TL_BALL_BLOCK;
    for (size_t eight = first; eight < last; ++eight)
      if (!waits[eight])
        fate |= finish_eight(job, eight, lanes, eight + 1 < last && !waits[eight + 1]);
  }
  tell_fate(job, fate);
}

static void finish_waiting(void *context, size_t begin, size_t end) {
  const tl_ball_step *job = context;
  const bool lanes = lanes_can_finish(job);
  unsigned fate = 0;
  for (size_t eight = begin; eight < end; ++eight)
    if (job->list->waits.data[eight])
      fate |= finish_eight(job, eight, lanes, eight + 1 < end);
  tell_fate(job, fate);
}

/* In the order of slots, so that the order of the list does not matter. */
static void sum_blocks(void *context, size_t begin, size_t end) {
  const tl_ball_step *job = context;
  const uint32_t *rank = job->list->rank.data;
  const size_t count = job->scope->count, ahead = 16;
  for (size_t block = begin; block < end; ++block) {
    double sums[TL_BALL_SUMS] = {0};
    for (size_t i = block * TL_BLOCK; i < (block + 1) * TL_BLOCK && i < count; ++i) {
      __builtin_prefetch(job->sums[rank[i + ahead < count ? i + ahead : i]]);
      for (int k = 0; k < TL_BALL_SUMS; ++k)
        sums[k] += job->sums[rank[i]][k];
    }
    memcpy(job->blocks[block], sums, sizeof sums);
  }
}

static void swap_rows(tl_ball_list *list) {
  tl_ball_rows *rows = list->now.data;
  const size_t capacity = list->now.capacity;
  list->now.data = list->next.data, list->now.capacity = list->next.capacity;
  list->next.data = rows, list->next.capacity = capacity;
  list->is_ahead = true;
}

/* ---- the step -------------------------------------------------------------------------------- */

/* The message for a ball that is nowhere, or outside, from the velocities it was to move with. */
static talus_status check(const tl_ball_step *job, tl_step_report *report) {
  const size_t n = job->scope->count;
  tl_twist *twists;
  tl_balls_commit(job->model, job->list, job->scope->out);
  TL_TAKE(job->scope->arena, n, &twists);
  for (size_t i = 0; i < n; ++i) {
    const tl_ball *ball = &job->list->ball.data[job->list->rank.data[i]];
    twists[i] = (tl_twist){get(ball->v), get(ball->w)};
  }
  return tl_step_check(job->model, job->scope,
                       (tl_twists){.first = twists, .stride = sizeof *twists}, &report->culprit);
}

static talus_status find_broken(const tl_ball_step *job, tl_step_report *report) {
  for (uint32_t slot = 0; slot < job->scope->count; ++slot) {
    const uint32_t rank = job->list->rank.data[slot];
    const row a = get_row(&job->list->next.data[rank / TL_BALL_LANES], rank % TL_BALL_LANES);
    if (!tl_body_is_static(job->model, slot) &&
        (!tl_is_finite(tl_length2(a.v)) || !tl_is_finite(tl_length2(a.w)))) {
      report->culprit = slot;
      break;
    }
  }
  return tl_fail(TALUS_ERROR_DIVERGED, "its velocity is not finite");
}

/* Forces at the end of the step (or of the state as it is), and everything that follows. */
static talus_status push_and_commit(tl_ball_step *job, tl_step_report *report) {
  const tl_scope *scope = job->scope;
  const double begun = wall_now();
  tl_penalty *p = scope->penalty;
  job->list->is_stored = false;
  TL_TRY(push_walls(job));
  job->forces = (tl_ball_job){.list = job->list,
                              .laws = p->laws.data,
                              .materials = job->model->materials.count,
                              .is_hertz = job->model->solve.law == TALUS_HERTZ,
                              .h = job->begins ? 0 : (talus_real)scope->dt};
  _Atomic bool broken, left;
  atomic_init(&broken, false);
  atomic_init(&left, false);
  job->broken = &broken;
  job->left = &left;
  job->goes_on = !job->begins && !job->model->property.force && !job->model->property.torque;
  job->is_large = job->list->count > LARGE;
  job->list->is_started = job->list->is_torn = false;
  tl_for(&job->model->par, job->list->blocks, 1, pass_blocks, job);
  tl_for(&job->model->par, job->list->kept.count, 64, finish_waiting, job);
  const double pushed = wall_now();
  report->wall_solve += pushed - begun;
  if (atomic_load(&broken)) {
    job->list->is_torn = true;
    return find_broken(job, report);
  }
  job->list->is_started = job->goes_on;
  job->list->has_left = atomic_load(&left);
  job->list->started_dt = scope->dt;
  job->list->started_gravity = job->model->gravity;
  swap_rows(job->list);
  const size_t blocks = (scope->count + TL_BLOCK - 1) / TL_BLOCK;
  tl_for(&job->model->par, blocks, 1, sum_blocks, job);
  double total[TL_BALL_SUMS] = {0};
  for (size_t block = 0; block < blocks; ++block)
    for (int k = 0; k < TL_BALL_SUMS; ++k)
      total[k] += job->blocks[block][k];
  if (!job->begins) {
    report->solve.contact_work += total[TL_BALL_CONTACT_WORK];
    report->solve.load_work += total[TL_BALL_LOAD_WORK];
  }
  const tl_penalty_sums walls = job->list->wall_sums;
  const tl_penalty_sums sums = {
      total[TL_BALL_ELASTIC] + walls.elastic, total[TL_BALL_STORED] + walls.stored,
      total[TL_BALL_DAMPING] + walls.damping, total[TL_BALL_FRICTION] + walls.friction};
  tl_penalty_keep_ledger(scope, !job->begins, &sums, &report->solve);
  report->wall_step += wall_now() - pushed;
  return TALUS_OK;
}

static talus_status renew(const tl_backend *backend, tl_ball_step *job, tl_contacts *contacts,
                          tl_step_report *report) {
  const double begun = wall_now();
  TL_TRY(tl_balls_renew(backend, job->model, job->scope, contacts));
  job->list->scratch = job->scope->arena->peak - job->taken;
  report->wall_broad += wall_now() - begun;
  return TALUS_OK;
}

/* Whether the last step has started this one. */
static bool is_started(const tl_ball_step *job) {
  const tl_ball_list *list = job->list;
  const talus_vec3 g = job->model->gravity, old = list->started_gravity;
  return list->is_started && list->started_dt == job->scope->dt && g.x == old.x && g.y == old.y &&
         g.z == old.z && !job->model->property.force && !job->model->property.torque;
}

/* The arena gives back what no step of the last 64 has taken, and renewals may be rarer: their room
 * is asked for in every step. Not in one that renews, which is seen to take what it needs. */
static talus_status keep_room(const tl_ball_step *job) {
  const tl_ball_list *list = job->list;
  tl_arena *arena = job->scope->arena;
  if (!list->is_valid || (is_started(job) && list->has_left))
    return TALUS_OK;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  unsigned char *room;
  TL_TAKE(arena, list->scratch, &room);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

talus_status tl_step_balls(const tl_backend *backend, const tl_model *model, const tl_scope *scope,
                           tl_contacts *contacts, tl_step_report *report) {
  tl_penalty *p = scope->penalty;
  tl_ball_list *list = &p->list;
  tl_ball_step job = {.model = model, .scope = scope, .list = list, .taken = scope->arena->in_use};
  TL_TRY(keep_room(&job));
  TL_TAKE(scope->arena, (scope->count + TL_BLOCK - 1) / TL_BLOCK, &job.blocks);
  TL_TAKE(scope->arena, scope->count, &job.sums);
  if (!list->is_valid)
    TL_TRY(renew(backend, &job, contacts, report));
  if (!p->is_pushed) {
    job.begins = true;
    (void)start(&job);
    TL_TRY(push_and_commit(&job, report));
    p->is_pushed = true;
    job.begins = false;
  }
  const double begun = wall_now();
  const bool stays = is_started(&job) ? !list->has_left : start(&job);
  report->wall_step += wall_now() - begun;
  if (!stays) {
    TL_TRY(check(&job, report));
    /* By now every velocity is finite, and the new list has room for it. */
    TL_TRY(renew(backend, &job, contacts, report));
    (void)start(&job);
  }
  report->broad = list->broad;
  report->broad_reason = list->broad_reason;
  return push_and_commit(&job, report);
}
