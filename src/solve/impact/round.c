/* One moment of impacts: solves the contacts that meet together, cluster by cluster. */
#include "solve/impact/impact.h"

#define TIE        TL_R(1e-6) /* part of the step: meetings closer in time are one moment */
#define LOOK_EVERY 1024       /* contacts of a moment between two looks at cancellation */

/* A contact of the round. Clusters are lists of them. */
typedef struct hit {
  tl_impact_row row;
  uint32_t contact, a, b; /* solver bodies */
  uint32_t parent;        /* of the forest that finds clusters */
  uint32_t next, first;   /* next contact of its cluster, or TL_NONE; for a root: the first one */
} hit;

/* A body that the cluster can move, and its velocity before. */
typedef struct moved {
  uint32_t body;
  tl_twist before;
} moved;

typedef struct moment {
  tl_impact *job;
  hit *hits;
  moved *moved;
  size_t count, moved_count;
  talus_real when;
} moment;

/* ---- rows ------------------------------------------------------------------------------------ */

/* The change of a body's velocity by loads from the middle of the step to the impact; locked
 * directions have none.
 *
 * The velocity includes the loads of the whole step; on the body's true path it is the velocity at
 * the middle of the step. With this change the bounce conserves the energy of symplectic steps;
 * without it every bounce would change the energy by up to m g h v. A body that is not shifted,
 * because a joint holds it, bounces with its velocity at the begin of the step. */
static tl_twist load_change_of_body(const tl_impact *job, uint32_t slot, uint32_t body,
                                    talus_real when) {
  const tl_system *system = job->system;
  const tl_properties *property = &system->model->property;
  const tl_ccp_body *b = &system->bodies[body];
  const uint32_t lock = property->flags[slot] & TL_FLAG_LOCKS;
  const talus_real time = (job->held && job->held[body] ? 0 : when) - job->h / 2;
  tl_twist t = {{0, 0, 0}, {0, 0, 0}};
  if (!(b->inv_mass > 0))
    return t;
  t.velocity = system->model->gravity;
  if (property->force)
    t.velocity = tl_madd(t.velocity, b->inv_mass, property->force[slot]);
  t.velocity = tl_scale(tl_vec3(lock & TALUS_LOCK_X ? 0 : t.velocity.x,
                                lock & TALUS_LOCK_Y ? 0 : t.velocity.y,
                                lock & TALUS_LOCK_Z ? 0 : t.velocity.z),
                        time);
  if (property->torque)
    t.spin = tl_scale(b->inv_inertia < 0 ? tl_sym3_mul_vec(system->tensors[body].inv_inertia,
                                                           property->torque[slot])
                                         : tl_scale(property->torque[slot], b->inv_inertia),
                      time);
  return t;
}

static talus_vec3 load_change_of(const tl_impact *job, const tl_contact *c, const hit *h,
                                 talus_real when) {
  const tl_twist a = load_change_of_body(job, c->a, h->a, when),
                 b = load_change_of_body(job, c->b, h->b, when);
  return tl_sub(tl_add(b.velocity, tl_cross(b.spin, h->row.arm_b)),
                tl_add(a.velocity, tl_cross(a.spin, h->row.arm_a)));
}

/* True if the body responds like a ball (isotropic), or cannot move. */
static bool is_ball(const tl_impact *job, uint32_t slot, uint32_t body) {
  const tl_ccp_body *b = &job->system->bodies[body];
  return !(b->inv_mass > 0) ||
         (b->inv_inertia >= 0 && tl_body_shape(job->system->model, slot)->kind == TALUS_SPHERE);
}

static void make_row(const tl_impact *job, const tl_impact_meeting *m, talus_real when, hit *h) {
  const tl_contact *c = &job->system->contacts->data[h->contact];
  const tl_pair_law *law = tl_model_law(job->system->model, c->a, c->b);
  h->row = (tl_impact_row){.normal = m->normal,
                           .arm_a = m->arm_a,
                           .arm_b = m->arm_b,
                           .friction = law->friction,
                           .restitution = law->restitution,
                           .is_radial = is_ball(job, c->a, h->a) && is_ball(job, c->b, h->b)};
  h->row.load_change = load_change_of(job, c, h, when);
}

/* ---- clusters -------------------------------------------------------------------------------- */

static uint32_t root_of(hit *hits, uint32_t i) {
  while (hits[i].parent != i) {
    hits[i].parent = hits[hits[i].parent].parent;
    i = hits[i].parent;
  }
  return i;
}

static void join(moment *r, uint32_t i, uint32_t body) {
  uint32_t *owner = &r->job->owner[body];
  if (!(r->job->system->bodies[body].inv_mass > 0))
    return;
  if (*owner == TL_NONE) {
    *owner = i;
    return;
  }
  const uint32_t x = root_of(r->hits, *owner), y = root_of(r->hits, i);
  r->hits[x > y ? x : y].parent = x > y ? y : x;
}

/* Lists the contacts of each cluster, i.e. contacts connected by movable bodies, in the order in
 * which they came. */
static void find_clusters(moment *r) {
  for (uint32_t i = 0; i < r->count; ++i) {
    join(r, i, r->hits[i].a);
    join(r, i, r->hits[i].b);
  }
  for (uint32_t i = (uint32_t)r->count; i-- > 0;) {
    const uint32_t root = root_of(r->hits, i);
    r->hits[i].next = r->hits[root].first;
    r->hits[root].first = i;
  }
  for (uint32_t i = 0; i < r->count; ++i)
    r->job->owner[r->hits[i].a] = r->job->owner[r->hits[i].b] = TL_NONE;
}

/* ---- one cluster ----------------------------------------------------------------------------- */

/* Visits the contacts until velocities settle. rub: friction only, with normal impulses kept. */
static void settle(const moment *r, uint32_t first, talus_real scale, bool rub) {
  const tl_system *system = r->job->system;
  const bool alone = r->hits[first].next == TL_NONE;
  const int turns = !alone ? 500 : r->hits[first].row.is_radial ? 1 : 100;
  talus_real most = TL_REAL_MAX;
  for (int turn = 0; turn < turns && most > 16 * TL_REAL_EPS * scale; ++turn) {
    if (!alone && tl_cancel_look(system->crowd->cancel)) /* a cluster may be the whole crowd */
      return;
    most = 0;
    for (uint32_t i = first; i != TL_NONE; i = r->hits[i].next) {
      hit *h = &r->hits[i];
      const tl_impact_pair pair = tl_impact_pair_of(system, h->a, h->b);
      const talus_real change =
          rub ? tl_impact_rub(&pair, &h->row) : tl_impact_stop(&pair, &h->row);
      most = tl_max(most, change);
    }
  }
}

static void weigh(const moment *r, uint32_t first) {
  const tl_system *system = r->job->system;
  tl_impact_work work = {0, 0, 0, 0, 0};
  talus_real share, keep;
  for (uint32_t i = first; i != TL_NONE; i = r->hits[i].next) {
    const tl_impact_pair pair = tl_impact_pair_of(system, r->hits[i].a, r->hits[i].b);
    tl_impact_weigh(&pair, &r->hits[i].row, &work);
  }
  tl_impact_allow(&work, &share, &keep);
  if (share == 1 && keep == 1)
    return;
  for (uint32_t i = first; i != TL_NONE; i = r->hits[i].next) {
    const tl_impact_pair pair = tl_impact_pair_of(system, r->hits[i].a, r->hits[i].b);
    tl_impact_draw_back(&pair, &r->hits[i].row, share, keep);
  }
}

static void remember(moment *r, uint32_t body) {
  const tl_ccp_body *b = &r->job->system->bodies[body];
  if (!(b->inv_mass > 0) || r->job->owner[body] != TL_NONE)
    return;
  r->job->owner[body] = 0;
  r->moved[r->moved_count++] = (moved){body, {b->v, b->w}};
}

static void solve(moment *r, uint32_t first) {
  const tl_system *system = r->job->system;
  talus_real scale = 0;
  bool is_thrown = false;
  r->moved_count = 0;
  for (uint32_t i = first; i != TL_NONE; i = r->hits[i].next) {
    hit *h = &r->hits[i];
    const tl_impact_pair pair = tl_impact_pair_of(system, h->a, h->b);
    remember(r, h->a);
    remember(r, h->b);
    tl_impact_begin(&pair, &h->row);
    scale = tl_max(scale, tl_length(h->row.before));
  }
  settle(r, first, scale, false);
  for (uint32_t i = first; i != TL_NONE; i = r->hits[i].next) {
    const tl_impact_pair pair = tl_impact_pair_of(system, r->hits[i].a, r->hits[i].b);
    tl_impact_keep(&pair, &r->hits[i].row);
  }
  for (uint32_t i = first; i != TL_NONE; i = r->hits[i].next) {
    const tl_impact_pair pair = tl_impact_pair_of(system, r->hits[i].a, r->hits[i].b);
    tl_impact_throw(&pair, &r->hits[i].row);
    is_thrown = is_thrown || r->hits[i].row.restitution > 0;
  }
  if (is_thrown)
    settle(r, first, scale, true);
  weigh(r, first);
}

/* ---- results of a cluster -------------------------------------------------------------------- */

static void look_again(tl_impact *job, uint32_t contact) {
  tl_impact_meeting m;
  if (job->hits[contact] < TL_IMPACT_HITS && tl_impact_look(job, contact, &m))
    tl_impact_wait(job, contact, m.when);
  else
    tl_impact_forget(job, contact);
}

/* An impact of many contacts is expensive and counts as several hits: a heap of blocks that rattles
 * would otherwise spend seconds on a step. The number follows from the number of contacts, which
 * does not depend on rounding, as the number of turns does. */
static uint16_t hits_of(const moment *r, uint32_t first) {
  uint32_t count = 0;
  for (uint32_t i = first; i != TL_NONE && count < TL_IMPACT_HITS; i = r->hits[i].next)
    count++;
  const uint32_t hits = 1 + count * (count - 1) / 2;
  return (uint16_t)(hits < TL_IMPACT_HITS ? hits : TL_IMPACT_HITS);
}

static void keep_impulses(const moment *r, uint32_t first) {
  const uint16_t hits = hits_of(r, first);
  tl_impact *job = r->job;
  talus_real fastest = 0;
  for (uint32_t i = first; i != TL_NONE; i = r->hits[i].next) {
    const hit *h = &r->hits[i];
    talus_vec3 *sum = &job->given[h->contact];
    *sum = tl_add(*sum, h->row.impulse);
    job->hits[h->contact] = (uint16_t)(job->hits[h->contact] + hits);
    fastest = tl_max(fastest, -tl_dot(h->row.before, h->row.normal));
    fastest = tl_max(fastest, tl_max(job->fastest[h->a], job->fastest[h->b]));
  }
  for (size_t k = 0; k < r->moved_count; ++k)
    job->fastest[r->moved[k].body] = fastest;
}

/* Bodies have moved with their old velocity until now, so they are shifted. Turning a body back
 * would change its angular momentum if it is not isotropic: such a body turns with its new spin
 * throughout the step. Bodies that joints hold are not shifted, because joints are solved later and
 * would be pulled apart. */
static void shift_bodies(const moment *r) {
  tl_system *system = r->job->system;
  const talus_real share = r->when / r->job->h;
  for (size_t k = 0; k < r->moved_count; ++k) {
    const moved *m = &r->moved[k];
    const talus_vec3 v = tl_sub(system->bodies[m->body].v, m->before.velocity);
    const talus_vec3 w = tl_sub(system->bodies[m->body].w, m->before.spin);
    tl_ccp_body *shift = &system->shifts[m->body];
    tl_twist *kick = &system->kicks[m->body];
    const bool is_held = r->job->held && r->job->held[m->body];
    if (!is_held)
      shift->v = tl_madd(shift->v, -share, v);
    if (!is_held && system->bodies[m->body].inv_inertia >= 0)
      shift->w = tl_madd(shift->w, -share, w);
    kick->velocity = tl_add(kick->velocity, v);
    kick->spin = tl_add(kick->spin, w);
    r->job->clock[m->body] = r->when;
    r->job->owner[m->body] = TL_NONE;
  }
}

static void pass_on(const moment *r) {
  tl_impact *job = r->job;
  for (size_t k = 0; k < r->moved_count; ++k) {
    const uint32_t body = r->moved[k].body;
    for (uint32_t e = job->start[body]; e < job->start[body + 1]; ++e)
      look_again(job, job->entry[e]);
  }
}

/* Takes the earliest contact from the queue, and all that meet at the same moment; stores them in
 * the heap's array behind those that wait. Returns their number. */
static size_t take_first(tl_impact *job) {
  tl_impact_meeting m;
  const uint32_t first = job->heap[0];
  talus_real last = job->time[first] + TIE * job->h;
  if (tl_impact_look(job, first, &m)) /* also those that rounding cannot tell apart */
    last += 8 * TL_REAL_EPS * (tl_length(m.arm_a) + tl_length(m.arm_b)) / -m.speed;
  size_t count = 0;
  while (job->waiting > 0 && (count == 0 || job->time[job->heap[0]] <= last)) {
    const uint32_t contact = tl_impact_next(job);
    job->heap[job->waiting] = contact;
    count++;
  }
  return count;
}

talus_status tl_impact_round(tl_impact *job) {
  const tl_system *system = job->system;
  const tl_arena_mark mark = tl_arena_get_mark(system->crowd->arena);
  moment now = {.job = job, .when = job->time[job->heap[0]]};
  const size_t taken = take_first(job);
  TL_TAKE(system->crowd->arena, taken, &now.hits);
  TL_TAKE(system->crowd->arena, 2 * taken, &now.moved);
  for (size_t k = taken; k-- > 0;) {
    const uint32_t i = job->heap[job->waiting + k];
    const tl_contact *c = &system->contacts->data[i];
    const uint32_t at = (uint32_t)now.count;
    tl_impact_meeting m;
    hit *h = &now.hits[at];
    if (k % LOOK_EVERY == 0)
      TL_GO_ON(system->crowd->cancel);
    if (!tl_impact_look(job, i, &m))
      continue;
    *h = (hit){.contact = i,
               .a = tl_system_body(system, c->a),
               .b = tl_system_body(system, c->b),
               .parent = at,
               .next = TL_NONE,
               .first = TL_NONE};
    make_row(job, &m, now.when, h);
    now.count++;
  }
  find_clusters(&now);
  for (uint32_t i = 0; i < now.count; ++i)
    if (now.hits[i].parent == i) {
      if (i % LOOK_EVERY == 0)
        TL_GO_ON(system->crowd->cancel);
      solve(&now, now.hits[i].first);
      keep_impulses(&now, now.hits[i].first);
      shift_bodies(&now);
      pass_on(&now);
    }
  tl_arena_release(system->crowd->arena, mark);
  return TALUS_OK;
}
