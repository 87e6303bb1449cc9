/* Finds which bodies are pushed within the step, and bounds how fast and in which direction
 * (reach.h). */
#include "contact/reach.h"

#include "joint/joint.h"

#define PASSES  100             /* most passes over the contacts; a heap needs a few */
#define GROWTH  TL_R(1.0003)    /* growth of a push that is worth another pass */
#define FAINT   TL_R(1e-3)      /* part of the fastest push: slower ones are not passed on */
#define WALL    TL_R(1e3)       /* mass ratio from which a body counts as a wall */
#define IN_LINE TL_R(0.9)       /* cosine above which a push continues in line */
#define LEAST   ((size_t)8192)  /* visits of contacts that a step may always make, */
#define MOST    ((size_t)65536) /* and the most: one thread makes about 10 million a second */
#define CROWD   ((size_t)256)   /* contacts that strike, in addition to a part of all */
#define NEVER   TL_REAL_MAX

/* ---- a push ---------------------------------------------------------------------------------- */

static const tl_push nobody = {.lo = {NEVER, NEVER, NEVER}, .hi = {-NEVER, -NEVER, -NEVER}};

static const tl_push *push_of(const tl_reach *reach, uint32_t slot) {
  return reach->is_pushed && reach->is_pushed[slot] ? &reach->pushes[reach->row[slot]] : &nobody;
}

static talus_real along_axis(const talus_real *out, int axis, talus_real n) {
  return n > 0 ? n * out[axis] : -n * out[axis + 3];
}

static talus_real straight(const talus_real *out, talus_vec3 n) {
  return along_axis(out, 0, n.x) + along_axis(out, 1, n.y) + along_axis(out, 2, n.z);
}

/* Fastest push in any direction. */
static talus_real fastest_of(const tl_sway *sway) {
  const talus_real *out = sway->out;
  return sway->round +
         tl_length(tl_vec3(tl_max(out[0], out[3]), tl_max(out[1], out[4]), tl_max(out[2], out[5])));
}

/* Push of a point of response k along n; at most `most`. */
static talus_real along(const tl_sway *sway, talus_real k, talus_vec3 n, talus_real most) {
  const talus_real speed = tl_min(straight(sway->out, n) + sway->round, most);
  return tl_min(speed, tl_sqrt(2 * sway->energy * k));
}

/* How much faster along n the pushing bodies are than a point of this body. */
static talus_real excess_speed(const tl_push *push, talus_vec3 velocity, talus_vec3 n) {
  const talus_vec3 v = tl_vec3(n.x > 0 ? push->hi.x : push->lo.x, n.y > 0 ? push->hi.y : push->lo.y,
                               n.z > 0 ? push->hi.z : push->lo.z);
  return tl_max(tl_dot(tl_sub(v, velocity), n), 0);
}

static talus_real along_all(const tl_push *push, talus_real k, talus_vec3 velocity, talus_vec3 n) {
  const talus_real stopped = tl_min(push->source, excess_speed(push, velocity, n));
  return along(&push->all, k, n, tl_max(stopped, push->bounce));
}

talus_real tl_push_most(const tl_push *push) {
  return tl_min(tl_max(push->source, push->bounce), fastest_of(&push->all));
}

/* Raises *value; true if by enough to pass it on. */
static bool raise(talus_real *value, talus_real to) {
  const bool is_news = to > GROWTH * *value;
  *value = tl_max(*value, to);
  return is_news;
}

/* Enlarges a box to hold a vector; true if by enough to pass it on. */
static bool raise_box(talus_real *out, talus_vec3 v) {
  const talus_real part[3] = {v.x, v.y, v.z};
  bool is_news = false;
  for (int i = 0; i < 3; ++i)
    is_news |= raise(&out[part[i] > 0 ? i : i + 3], tl_abs(part[i]));
  return is_news;
}

/* Adds a velocity to the bounding box of pushing velocities; there are few, so any change
 * counts. */
static bool widen(tl_push *push, talus_vec3 lo, talus_vec3 hi) {
  const talus_vec3 l = push->lo, h = push->hi;
  push->lo = tl_vec3(tl_min(l.x, lo.x), tl_min(l.y, lo.y), tl_min(l.z, lo.z));
  push->hi = tl_vec3(tl_max(h.x, hi.x), tl_max(h.y, hi.y), tl_max(h.z, hi.z));
  return lo.x < l.x || lo.y < l.y || lo.z < l.z || hi.x > h.x || hi.y > h.y || hi.z > h.z;
}

static tl_push *take_push(tl_reach *reach, uint32_t slot) {
  if (!reach->is_pushed[slot]) {
    reach->is_pushed[slot] = TL_PUSH_QUIET;
    TL_ASSERT(reach->push_count < reach->push_room);
    reach->row[slot] = (uint32_t)reach->push_count;
    reach->slots[reach->push_count] = slot;
    reach->pushes[reach->push_count++] = nobody;
  }
  return &reach->pushes[reach->row[slot]];
}

/* ---- a contact ------------------------------------------------------------------------------- */

/* Effect of a unit impulse along the normal on a body at its arm. */
typedef struct response {
  talus_real point;  /* 1/kg: velocity of its point along the normal; 0: it cannot be moved */
  talus_real centre; /* 1/kg: velocity of its centre */
  talus_real turn;   /* 1/kg: velocity of its farthest point by rotation, in any direction */
} response;

static response respond(const tl_reach *reach, uint32_t slot, talus_vec3 arm, talus_vec3 n) {
  const tl_model *model = reach->model;
  const uint32_t lock = model->property.flags[slot] & TL_FLAG_LOCKS;
  const tl_shape *shape = tl_body_shape(model, slot);
  if (tl_body_is_static(model, slot))
    return (response){0, 0, 0};
  const talus_real inv_mass = 1 / model->property.mass[slot];
  if (shape->kind == TALUS_SPHERE && !lock)
    return (response){inv_mass, inv_mass, 0};
  const tl_sym3 turning =
      tl_free_inverse_inertia(reach->crowd->in->rotation[slot], tl_body_inertia(model, slot),
                              lock & TALUS_LOCK_RX, lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
  const talus_vec3 free = tl_vec3(lock & TALUS_LOCK_X ? 0 : n.x, lock & TALUS_LOCK_Y ? 0 : n.y,
                                  lock & TALUS_LOCK_Z ? 0 : n.z);
  const talus_vec3 lever = tl_cross(arm, n), spin = tl_sym3_mul_vec(turning, lever);
  const talus_real size = shape->radius * model->property.scale[slot];
  const talus_real centre = inv_mass * tl_length2(free);
  return (response){centre + tl_dot(lever, spin), centre,
                    shape->kind == TALUS_SPHERE ? 0 : size * tl_length(spin)};
}

talus_real tl_push_along(const tl_reach *reach, uint32_t slot, talus_vec3 arm, talus_vec3 velocity,
                         talus_vec3 n) {
  const tl_push *push = push_of(reach, slot);
  return push == &nobody ? 0 : along_all(push, respond(reach, slot, arm, n).point, velocity, n);
}

/* A body of a contact. */
typedef struct side {
  uint32_t slot;
  const tl_push *push;
  response k;
  talus_vec3 velocity;   /* m/s: velocity of its point with loads alone */
  talus_vec3 towards;    /* unit vector, away from the other body */
  talus_real all, plain; /* m/s: speed with which it is pushed towards the other body */
  talus_real mass;       /* kg: of the bodies that move with it, at least its own effective mass */
} side;

typedef struct clash {
  talus_real parting;    /* m/s: rate of the gap with loads alone */
  talus_real gap, aside; /* m; m/s: bound of the speed of sliding */
  const tl_pair_law *law;
} clash;

static side side_of(const tl_reach *reach, uint32_t slot, talus_vec3 arm, talus_vec3 velocity,
                    talus_vec3 towards) {
  const talus_vec3 at_other = tl_neg(towards);
  side s = {.slot = slot,
            .push = push_of(reach, slot),
            .k = respond(reach, slot, arm, towards),
            .velocity = velocity,
            .towards = towards};
  const tl_push *push = s.push;
  const talus_real k = s.k.point;
  s.mass = k > 0 ? 1 / k : NEVER;
  if (tl_dot(push->line, at_other) > IN_LINE)
    s.mass = tl_max(s.mass, push->mass);
  if (tl_dot(push->held, at_other) > IN_LINE)
    s.mass = NEVER;
  s.all = along_all(push, k, velocity, at_other);
  s.plain = along(&push->plain, k, at_other,
                  tl_min(push->source, excess_speed(push, velocity, at_other)));
  return s;
}

/* Applies a blow of this speed to the struck point; true if it must be passed on. */
static bool sway_by(tl_sway *sway, const side *s, talus_real speed, talus_real drag) {
  const talus_real k = s->k.point;
  if (!(speed > 0))
    return false;
  bool is_news = raise_box(sway->out, tl_scale(s->towards, speed * s->k.centre / k));
  is_news |= raise(&sway->round, speed * s->k.turn / k + drag);
  return raise(&sway->energy, (speed * speed + drag * drag) / (2 * k)) || is_news;
}

/* Speed beyond that of stopping: the body's own approach does not count before it is thrown back
 * further than it came. */
static talus_real bounce_of(const clash *at, const side *self, const side *by) {
  const talus_real e = at->law->restitution;
  const talus_real factor = (1 + e) * self->k.point / (self->k.point + by->k.point);
  const talus_real own = tl_min(self->all, self->all + by->all - at->parting);
  return e > 0 ? tl_max(factor - 1, 0) * own + factor * tl_max(by->all - at->parting, 0) : 0;
}

/* Applies the effect of `by` on `self`; true if it must be passed on. */
static bool strike(tl_reach *reach, const clash *at, const side *self, const side *by) {
  const talus_real k = self->k.point, mu = at->law->friction, lost = at->gap / reach->h;
  if (!(k > 0))
    return false;
  const talus_real excess = self->plain + by->plain - at->parting - lost;
  const talus_real coming = tl_max(by->plain - at->parting, 0);
  const talus_real share = k * by->mass < WALL ? k * by->mass / (1 + k * by->mass) : 1;
  const talus_real stop = excess > 0 ? tl_min(coming, excess) * share : 0;
  const talus_real bounce = bounce_of(at, self, by), hit = tl_max(stop, bounce);
  /* Pushed towards `by`, which is then behind it. */
  const bool is_held =
      self->plain > reach->slow && tl_dot(self->push->line, self->towards) < -IN_LINE;
  if (!(hit > 0) && !is_held)
    return false;
  tl_push *push = take_push(reach, self->slot);
  bool is_news = widen(push, by->push->lo, by->push->hi);
  is_news |= widen(push, by->velocity, by->velocity);
  const talus_real most = excess_speed(push, self->velocity, self->towards);
  is_news |= sway_by(&push->plain, self, stop, tl_min(mu * stop, at->aside));
  is_news |= sway_by(&push->all, self, hit, tl_min(mu * hit, at->aside));
  if (bounce > 0)
    is_news |= raise(&push->bounce, tl_max(by->push->bounce, (1 + at->law->restitution) * most));
  if (stop > 0) {
    is_news |= raise(&push->source, tl_min(by->push->source - at->parting - lost, most));
    if (stop > GROWTH * push->speed) {
      push->speed = stop;
      push->line = self->towards;
      push->mass = by->mass < NEVER ? by->mass + 1 / k : NEVER;
    }
  }
  if (is_held && !(tl_dot(push->held, self->towards) > IN_LINE)) {
    push->held = self->towards;
    is_news = true;
  }
  return is_news;
}

/* Contacts to visit: those of bodies whose push changed in this pass or the one before. */
typedef struct turns {
  const tl_contact *contacts;
  size_t count, words;
  uint32_t *first;      /* by slot: the first contact with it as a; these are consecutive */
  uint32_t *last;       /* by slot: the last contact with it as b */
  uint32_t *before;     /* by contact: the one before with the same b; TL_NONE: none */
  uint64_t *now, *next; /* a bit for each contact: visit in this pass; in the next */
} turns;

static void mark(uint64_t *bits, size_t i) { bits[i / 64] |= (uint64_t)1 << (i % 64); }

/* Marks the contacts of a body whose push changed: in this pass if they are not past, and in the
 * next. */
static void tell(turns *t, uint32_t slot) {
  for (size_t k = t->first[slot]; k < t->count && t->contacts[k].a == slot; ++k) {
    mark(t->now, k);
    mark(t->next, k);
  }
  for (uint32_t k = t->last[slot]; k != TL_NONE; k = t->before[k]) {
    mark(t->now, k);
    mark(t->next, k);
  }
}

/* Passes pushes through a contact; true if some push changed. */
static bool pass_on(tl_reach *reach, turns *t, const tl_contact *c) {
  const talus_vec3 n = c->normal, back = tl_neg(n);
  const tl_sway *push_a = &push_of(reach, c->a)->all, *push_b = &push_of(reach, c->b)->all;
  const tl_meeting m = tl_reach_meet(reach, c);
  const talus_real gap = tl_max(c->gap, 0);
  const talus_real most = straight(push_a->out, n) + push_a->round + straight(push_b->out, back) +
                          push_b->round - m.speed;
  if (!(most > reach->slow) || !(reach->h * most > gap))
    return false;
  reach->visits--;
  const side a = side_of(reach, c->a, m.arm_a, m.at_a, back);
  const side b = side_of(reach, c->b, m.arm_b, m.at_b, n);
  const talus_real closing = a.all + b.all - m.speed;
  if (!(closing > reach->slow) || !(reach->h * closing > gap))
    return false;
  const clash at = {.parting = m.speed,
                    .gap = gap,
                    .aside = tl_length(tl_madd(m.velocity, -m.speed, n)) + fastest_of(push_a) +
                             fastest_of(push_b),
                    .law = tl_model_law(reach->model, c->a, c->b)};
  const bool news_a = strike(reach, &at, &a, &b), news_b = strike(reach, &at, &b, &a);
  if (news_a)
    tell(t, c->a);
  if (news_b)
    tell(t, c->b);
  return news_a || news_b;
}

/* ---- joints ---------------------------------------------------------------------------------- */

static bool sway_along(tl_sway *to, const tl_sway *from, talus_real mass_ratio) {
  bool is_news = false;
  for (int i = 0; i < 6; ++i)
    is_news |= raise(&to->out[i], from->out[i]);
  is_news |= raise(&to->round, from->round);
  return raise(&to->energy, from->energy * tl_max(1, mass_ratio)) || is_news;
}

/* The body at the other end of a joint moves with its partner, and may be turned. */
static bool pull_along(tl_reach *reach, uint32_t from, uint32_t to) {
  if (from == TL_NONE || to == TL_NONE || !reach->is_pushed[from] ||
      tl_body_is_static(reach->model, to))
    return false;
  tl_push *target = take_push(reach, to);
  const tl_push *push = &reach->pushes[reach->row[from]];
  const talus_real ratio = reach->model->property.mass[to] / reach->model->property.mass[from];
  bool is_news = widen(target, push->lo, push->hi);
  is_news |= raise(&target->bounce, push->bounce);
  is_news |= raise(&target->source, push->source);
  is_news |= sway_along(&target->all, &push->all, ratio);
  return sway_along(&target->plain, &push->plain, ratio) || is_news;
}

static bool pass_joints(tl_reach *reach, turns *t) {
  const tl_joints *joints = reach->is_jointed ? reach->crowd->joints : NULL;
  bool is_news = false;
  for (size_t i = 0; joints && i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (!tl_joint_acts_within(joint, reach->crowd))
      continue;
    if (pull_along(reach, joint->a, joint->b))
      tell(t, joint->b), is_news = true;
    if (pull_along(reach, joint->b, joint->a))
      tell(t, joint->a), is_news = true;
  }
  return is_news;
}

/* ---- all contacts ---------------------------------------------------------------------------- */

static talus_status take_turns(const tl_reach *reach, const tl_contacts *contacts, turns *t) {
  tl_arena *arena = reach->crowd->arena;
  const size_t bodies = reach->model->bodies, n = contacts->count;
  *t = (turns){.contacts = contacts->data, .count = n, .words = n / 64 + 1};
  TL_TAKE(arena, bodies, &t->first);
  TL_TAKE(arena, bodies, &t->last);
  TL_TAKE(arena, n, &t->before);
  TL_TAKE(arena, t->words, &t->now);
  TL_TAKE(arena, t->words, &t->next);
  memset(t->first, 0xff, bodies * sizeof *t->first); /* TL_NONE */
  memset(t->last, 0xff, bodies * sizeof *t->last);
  memset(t->now, 0, t->words * sizeof *t->now);
  memset(t->next, 0, t->words * sizeof *t->next);
  uint32_t a = TL_NONE;
  for (size_t i = 0; i < n; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (c->a != a) {
      a = c->a;
      t->first[a] = (uint32_t)i;
    }
    t->before[i] = t->last[c->b];
    t->last[c->b] = (uint32_t)i;
  }
  return TALUS_OK;
}

/* The contact to visit next in a pass; `count` if there is none. Passes alternate in direction, so
 * that a row of bodies in any order needs few passes. */
static size_t next_up(turns *t, size_t at) {
  size_t word = at / 64;
  uint64_t bits = word < t->words ? t->now[word] & (~(uint64_t)0 << (at % 64)) : 0;
  while (!bits && ++word < t->words)
    bits = t->now[word];
  return bits ? word * 64 + (size_t)__builtin_ctzll(bits) : t->count;
}

static size_t next_down(turns *t, size_t at) {
  size_t word = at / 64;
  uint64_t bits = t->now[word] & (~(uint64_t)0 >> (63 - at % 64));
  while (!bits && word > 0)
    bits = t->now[--word];
  return bits ? word * 64 + 63 - (size_t)__builtin_clzll(bits) : t->count;
}

/* False: the visits are used up. */
static bool look(tl_reach *reach, turns *t, size_t i, bool *is_news) {
  reach->is_spent = reach->visits == 0;
  if (!reach->is_spent)
    *is_news |= pass_on(reach, t, &t->contacts[i]);
  return !reach->is_spent;
}

static bool pass_all(tl_reach *reach, turns *t, bool is_up) {
  const size_t n = t->count;
  bool is_news = false;
  if (is_up) {
    for (size_t i = next_up(t, 0); i < n; i = next_up(t, i + 1))
      if (!look(reach, t, i, &is_news))
        return false;
  } else {
    for (size_t i = next_down(t, n - 1); i<n; i = i> 0 ? next_down(t, i - 1) : n)
      if (!look(reach, t, i, &is_news))
        return false;
  }
  is_news |= pass_joints(reach, t);
  uint64_t *done = t->now;
  t->now = t->next;
  t->next = done;
  memset(done, 0, t->words * sizeof *done);
  return is_news;
}

static talus_real find_fastest(const tl_reach *reach, const tl_contacts *contacts) {
  talus_real fastest = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    if (reach->verdicts[i] == TL_REACH_STRIKES)
      fastest = tl_max(fastest, -tl_reach_meet(reach, &contacts->data[i]).speed);
  return fastest;
}

bool tl_reach_is_crowd(size_t strikes, size_t contacts) { return strikes > CROWD + contacts / 512; }

static bool is_crowd(const tl_reach *reach, const tl_contacts *contacts) {
  size_t strikes = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    strikes += reach->verdicts[i] == TL_REACH_STRIKES;
  return tl_reach_is_crowd(strikes, contacts->count);
}

/* Bound of the number of pushed bodies: a visit pushes two at most, and joints may pull others
 * along. */
static size_t most_pushes(const tl_reach *reach) {
  const size_t joints = reach->crowd->joints ? reach->crowd->joints->all.count : 0;
  const size_t most = 2 * (reach->visits + joints), bodies = reach->model->bodies;
  return most < bodies ? most : bodies;
}

talus_status tl_push_spread(tl_reach *reach, const tl_contacts *contacts) {
  tl_arena *arena = reach->crowd->arena;
  const size_t bodies = reach->model->bodies;
  const bool is_first = !reach->is_pushed;
  if (is_first) {
    TL_TAKE(arena, bodies, &reach->is_pushed);
    memset(reach->is_pushed, 0, bodies);
    reach->is_spent = is_crowd(reach, contacts);
    if (reach->is_spent)
      return TALUS_OK;
    reach->slow = tl_max(reach->slow, FAINT * find_fastest(reach, contacts));
    reach->visits = contacts->count / 16 + LEAST;
    reach->visits = reach->visits < MOST ? reach->visits : MOST;
    reach->push_room = most_pushes(reach);
    TL_TAKE(arena, bodies, &reach->row);
    TL_TAKE(arena, reach->push_room, &reach->pushes);
    TL_TAKE(arena, reach->push_room, &reach->slots);
  }
  const tl_arena_mark before = tl_arena_get_mark(arena);
  turns t;
  TL_TRY(take_turns(reach, contacts, &t));
  for (size_t i = 0; is_first && i < contacts->count; ++i)
    if (reach->verdicts[i] == TL_REACH_STRIKES)
      mark(t.now, i);
  for (size_t i = 0; i < reach->push_count; ++i)
    if (reach->is_pushed[reach->slots[i]] == TL_PUSH_NEWS) {
      tell(&t, reach->slots[i]);
      reach->is_pushed[reach->slots[i]] = TL_PUSH_QUIET;
    }
  memset(t.next, 0, t.words * sizeof *t.next);
  for (int pass = 0; pass < PASSES && !reach->is_spent; ++pass)
    if (!pass_all(reach, &t, pass % 2 == 0))
      break;
  tl_arena_release(arena, before);
  return TALUS_OK;
}
