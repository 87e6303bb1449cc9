/* Forces of a set of contacts, and their sums at the bodies.
 *
 * Any thread computes the force of a contact, once; then each body adds its own forces in the order
 * of contacts. So sums do not depend on the number of threads, and nothing is locked. */
#include "solve/penalty/penalty.h"

#include "base/cancel.h"

/* The effect of a contact on its two bodies. */
enum { ELASTIC, STORED, DAMPING, FRICTION, PRESSING, SUMS }; /* indices of tl_penalty_sums */

typedef struct effect {
  talus_vec3 force;        /* on b, at the point */
  talus_vec3 torque;       /* on b, in addition to that of the force */
  talus_vec3 arm_a, arm_b; /* from the centres of mass to the point */
} effect;

typedef struct push_job {
  const tl_model *model;
  const tl_crowd *crowd;
  const tl_penalty *penalty;
  const tl_penalty_motion *motion;
  tl_contacts *contacts;
  tl_penalty_share *shares;
  effect *effects;
  tl_penalty_tangent *tangents; /* NULL: not wanted */
  const uint32_t *start;        /* by body: its first entry, and one more */
  uint32_t *entry;              /* 2 contact + 1 if the body is b, + 0 if it is a */
  talus_vec3 *spring_force, *spring_torque;
} push_job;

/* ---- one contact ----------------------------------------------------------------------------- */

static talus_real inverse_mass(const tl_model *model, uint32_t slot) {
  return tl_body_is_static(model, slot) ? 0 : 1 / model->property.mass[slot];
}

static const tl_spring_law *law_of(const tl_crowd *crowd, uint32_t a, uint32_t b) {
  const tl_model *model = crowd->model;
  const uint32_t *material = model->property.material;
  return &crowd->penalty->laws.data[material[a] * model->materials.count + material[b]];
}

static talus_real reduced_mass(const tl_model *model, uint32_t a, uint32_t b) {
  return 1 / (inverse_mass(model, a) + inverse_mass(model, b));
}

talus_real tl_penalty_stiffness(const tl_crowd *crowd, uint32_t a, uint32_t b) {
  const talus_real normal = law_of(crowd, a, b)->normal;
  return crowd->model->solve.law == TALUS_NOBLE ? normal * tl_sqrt(reduced_mass(crowd->model, a, b))
                                                : normal;
}

/* Number of points of the pair that touch; they share its cohesion. */
static talus_real count_bonds(const push_job *job, size_t i, talus_real reach) {
  const tl_contact *rows = job->contacts->data, *c = &rows[i];
  size_t first = i, end = i + 1;
  while (first > 0 && rows[first - 1].a == c->a && rows[first - 1].b == c->b)
    first--;
  while (end < job->contacts->count && rows[end].a == c->a && rows[end].b == c->b)
    end++;
  size_t bonds = 0;
  for (; first < end; ++first)
    bonds += rows[first].gap < reach;
  return (talus_real)(bonds > 0 ? bonds : 1);
}

static talus_vec3 at_point(const talus_vec3 *v, const talus_vec3 *w, const tl_contact *c,
                           talus_vec3 arm_a, talus_vec3 arm_b) {
  return tl_sub(tl_add(v[c->b], tl_cross(w[c->b], arm_b)),
                tl_add(v[c->a], tl_cross(w[c->a], arm_a)));
}

/* Input of the spring law, except for what its spring remembers. */
static tl_spring_contact touch_of(const push_job *job, size_t i, const effect *e) {
  const tl_contact *c = &job->contacts->data[i];
  const tl_model *model = job->model;
  const tl_penalty_motion *m = job->motion;
  const tl_spring_law *law = law_of(job->crowd, c->a, c->b);
  const talus_real mass = reduced_mass(model, c->a, c->b), share = job->shares[i].weight;
  const talus_real reach = tl_penalty_reach(model);
  const talus_real weight = model->solve.law == TALUS_NOBLE ? tl_sqrt(mass) : 1;
  const talus_vec3 drift = at_point(m->velocity, m->spin, c, e->arm_a, e->arm_b);
  talus_vec3 velocity = drift;
  if (m->velocity_kick)
    velocity = tl_add(drift, at_point(m->velocity_kick, m->spin_kick, c, e->arm_a, e->arm_b));
  const bool slid = job->contacts->springs.data[i].stiffness < 0;
  /* Dashpots are proportional to sqrt(S m*): sharing both S and m* shares the dashpot. */
  tl_spring_contact t = {.normal = law->normal * weight * share,
                         .tangent = law->tangent * weight * share,
                         .damping = law->damping,
                         .tangent_damping = law->tangent_damping,
                         .friction = slid ? law->friction : law->static_friction,
                         .mass = mass * share,
                         .radius = tl_model_reduced_radius(model, c->a, c->b),
                         .overlap = reach - c->gap,
                         .n = tl_spring_vec_of(c->normal),
                         .velocity = tl_spring_vec_of(velocity),
                         .drift = tl_spring_vec_of(drift)};
  t.twirl = TL_R(0.5) * tl_dot(c->normal, tl_add(m->spin[c->a], m->spin[c->b]));
  const talus_real cohesion = tl_law_cohesion(model, tl_model_law(model, c->a, c->b), c->a, c->b);
  t.cohesion = cohesion > 0 ? cohesion / count_bonds(job, i, reach) : 0;
  return t;
}

/* Normal force that limits friction: that of the contact, or the one of penalty->limits. It fades
 * out when the contact opens, so that both end together. */
#define LETTING_GO TL_R(4)
static talus_real limit_of(const push_job *job, const tl_contact *c, talus_real press) {
  const tl_penalty *p = job->penalty;
  if (!job->motion->is_limited)
    return tl_max(press, 0);
  size_t lo = 0, hi = p->limits.count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    const tl_penalty_limit *at = &p->limits.data[middle];
    if (tl_contact_compare(at->a, at->b, at->feature_a, at->feature_b, c) < 0)
      lo = middle + 1;
    else
      hi = middle;
  }
  if (lo == p->limits.count)
    return 0;
  const tl_penalty_limit *at = &p->limits.data[lo];
  return tl_contact_compare(at->a, at->b, at->feature_a, at->feature_b, c) == 0
             ? tl_min(at->press, LETTING_GO * tl_max(press, 0))
             : 0;
}

/* Rolling and spinning resistance: springs as stiff as the tangential one at the reduced radius. */
static void resist_turning(const push_job *job, size_t i, const tl_spring_contact *t,
                           const tl_spring_pushed *pushed, talus_real old_stiffness, effect *e,
                           tl_tally total[SUMS]) {
  const tl_contact *c = &job->contacts->data[i];
  const tl_penalty_motion *m = job->motion;
  const tl_pair_law *law = tl_model_law(job->model, c->a, c->b);
  const talus_real rolling = tl_law_rolling(job->model, law, c->a, c->b);
  if (!(rolling > 0) && !(law->spinning > 0))
    return;
  tl_spring *spring = &job->contacts->springs.data[i];
  const talus_real h = (talus_real)m->h, square = t->radius * t->radius;
  const talus_real k = pushed->tangent_stiffness * square, drag = pushed->tangent_drag * square;
  const talus_real press = limit_of(job, c, pushed->press);
  const talus_vec3 n = c->normal, drift = tl_sub(m->spin[c->b], m->spin[c->a]);
  const talus_vec3 spin =
      m->spin_kick ? tl_add(drift, tl_sub(m->spin_kick[c->b], m->spin_kick[c->a])) : drift;
  const talus_real drift_n = tl_dot(drift, n), spin_n = tl_dot(spin, n);
  spring->turn = tl_spring_carried(spring->turn, n, h * t->twirl);
  const tl_spring_turned roll =
      tl_spring_turn(k, drag, rolling * press, old_stiffness * square, h, tl_madd(spin, -spin_n, n),
                     tl_madd(drift, -drift_n, n), &spring->turn);
  talus_vec3 about = tl_scale(n, spring->spin);
  const tl_spring_turned twirl =
      tl_spring_turn(k, drag, law->spinning * press, old_stiffness * square, h, tl_scale(n, spin_n),
                     tl_scale(n, drift_n), &about);
  spring->spin = tl_dot(about, n);
  e->torque = tl_add(roll.torque, twirl.torque);
  if (job->tangents) /* a sliding contact has a smaller tangent */
    job->tangents[i].turn = tl_length(roll.torque) < TL_R(0.999) * rolling * press ||
                                    tl_length(twirl.torque) < TL_R(0.999) * law->spinning * press
                                ? h * k + drag
                                : 0;
  tl_tally_add(&total[STORED], (double)(roll.stored + twirl.stored));
  tl_tally_add(&total[FRICTION], (double)(roll.friction + twirl.friction));
}

static void find_arms(const push_job *job, const tl_contact *c, effect *e) {
  const talus_dvec3 *x = job->crowd->in->position;
  e->arm_a = tl_between(x[c->a], c->point);
  e->arm_b = tl_body_shape(job->model, c->a)->bounded && tl_body_shape(job->model, c->b)->bounded
                 ? tl_narrow(tl_model_offset(job->model, x[c->b], c->point))
                 : tl_between(x[c->b], c->point); /* an unbounded body has no image */
}

/* Arms for a whole step. The two forces act at one point relative to the bodies' places at the
 * begin: with velocities va and vb of the centres it is p - h (ma vb + mb va)/(ma + mb). If
 * contacts cannot move one of the bodies, the arm of the other stays as it is. */
static void shift_arms(const push_job *job, const tl_contact *c, effect *e) {
  const talus_real wa = inverse_mass(job->model, c->a), wb = inverse_mass(job->model, c->b);
  const talus_vec3 way = tl_scale(tl_sub(job->motion->velocity[c->a], job->motion->velocity[c->b]),
                                  (talus_real)job->motion->h / (wa + wb));
  if (wa > 0)
    e->arm_a = tl_madd(e->arm_a, wb, way);
  if (wb > 0)
    e->arm_b = tl_madd(e->arm_b, -wa, way);
}

/* Limits dashpots in a whole step to the overlap: a body that comes to touch has not been pressed
 * in by more. Otherwise the force would begin with a jump, and a force that fits the end of the
 * step need not exist. */
static void begin_gently(const push_job *job, tl_spring_contact *t) {
  const talus_real h = (talus_real)job->motion->h, un = tl_spring_dot(t->velocity, t->n);
  if (-un * h > t->overlap)
    t->velocity = tl_spring_madd(t->velocity, -(t->overlap / h + un), t->n);
}

static void note_tangent(const push_job *job, size_t i, const tl_spring_pushed *p,
                         const effect *seen, const effect *e) {
  const talus_real h = (talus_real)job->motion->h;
  const talus_vec3 slip = job->contacts->springs.data[i].slip;
  const talus_real length = tl_length(slip);
  tl_penalty_tangent *t = &job->tangents[i];
  t->arm_a = seen->arm_a, t->arm_b = seen->arm_b;
  t->lever_a = e->arm_a, t->lever_b = e->arm_b;
  t->normal = job->contacts->data[i].normal;
  t->along = length > 0 ? tl_scale(slip, 1 / length) : tl_vec3(0, 0, 0);
  t->press = h * p->normal_stiffness + p->normal_drag;
  /* A dashpot also acts in a contact that slides, when the direction of sliding reverses. */
  t->hold = (p->slides ? p->cut : 1) * h * p->tangent_stiffness + p->tangent_drag;
  t->slide = p->slides ? 0 : t->hold;
  t->pushed = tl_max(p->press, 0);
  t->force = tl_length(e->force);
  t->torque = t->force * tl_max(tl_length(e->arm_a), tl_length(e->arm_b)) + tl_length(e->torque);
}

/* A point that does not touch: it holds nothing, but cohesion may pull it. */
static void let_go(const push_job *job, size_t i, effect *e, tl_tally total[SUMS]) {
  tl_contact *c = &job->contacts->data[i];
  job->contacts->springs.data[i] = (tl_spring){0};
  c->impulse = tl_vec3(0, 0, 0);
  if (tl_contacts_have_law_states(job->contacts))
    job->contacts->law_states.data[i].torque = tl_vec3(0, 0, 0);
  if (job->shares[i].pull == 0)
    return;
  find_arms(job, c, e);
  if (job->motion->is_whole)
    shift_arms(job, c, e);
  e->force = tl_scale(c->normal, -job->shares[i].pull);
  c->impulse = tl_scale(e->force, (talus_real)job->crowd->dt);
  if (!job->tangents)
    return;
  const talus_vec3 u = at_point(job->motion->velocity, job->motion->spin, c, e->arm_a, e->arm_b);
  tl_tally_add(&total[PRESSING], -(double)tl_dot(e->force, u));
  job->tangents[i].arm_a = job->tangents[i].lever_a = e->arm_a;
  job->tangents[i].arm_b = job->tangents[i].lever_b = e->arm_b;
  job->tangents[i].force = job->shares[i].pull;
}

static void push_contact(const push_job *job, size_t i, tl_tally total[SUMS]) {
  tl_contact *c = &job->contacts->data[i];
  tl_spring *spring = &job->contacts->springs.data[i];
  effect *e = &job->effects[i];
  *e = (effect){0};
  if (job->tangents)
    job->tangents[i] = (tl_penalty_tangent){0};
  if (!(c->gap < tl_penalty_reach(job->model))) {
    let_go(job, i, e, total);
    return;
  }
  find_arms(job, c, e);
  tl_spring_contact t = touch_of(job, i, e);
  const effect seen = *e;
  if (job->motion->is_whole) {
    shift_arms(job, c, e);
    begin_gently(job, &t);
  }
  const talus_real old = tl_abs(spring->stiffness);
  const bool is_hertz = job->model->solve.law == TALUS_HERTZ;
  const talus_real h = (talus_real)job->motion->h;
  tl_spring_vec slip = tl_spring_vec_of(spring->slip);
  tl_spring_pushed p = tl_spring_push(&t, is_hertz, h, old, &slip);
  if (job->motion->is_limited && t.friction > 0 && p.press > 0) {
    t.friction *= limit_of(job, c, p.press) / p.press;
    slip = tl_spring_vec_of(spring->slip);
    p = tl_spring_push(&t, is_hertz, h, old, &slip);
  }
  spring->slip = tl_spring_vec3(slip);
  spring->stiffness = p.slides ? -p.tangent_stiffness : p.tangent_stiffness;
  e->force = tl_spring_vec3(p.force);
  tl_tally_add(&total[ELASTIC], (double)p.elastic);
  tl_tally_add(&total[STORED], (double)p.stored);
  tl_tally_add(&total[DAMPING], (double)p.damping);
  tl_tally_add(&total[FRICTION], (double)p.friction);
  if (job->tangents) {
    const talus_vec3 u = at_point(job->motion->velocity, job->motion->spin, c, e->arm_a, e->arm_b);
    const double given = (double)tl_dot(tl_spring_vec3(p.force), u);
    tl_tally_add(&total[PRESSING], -(given + (double)(p.damping + p.friction)));
  }
  if (job->model->law_kinds & TL_LAW_ROLLING)
    resist_turning(job, i, &t, &p, old, e, total);
  if (job->tangents)
    note_tangent(job, i, &p, &seen, e);
  c->impulse = tl_scale(e->force, (talus_real)job->crowd->dt);
  if (tl_contacts_have_law_states(job->contacts))
    job->contacts->law_states.data[i].torque = tl_scale(e->torque, (talus_real)job->crowd->dt);
}

static void push_contacts(void *context, size_t begin, size_t end, tl_tally *total) {
  for (size_t i = begin; i < end; ++i)
    push_contact(context, i, total);
}

/* ---- sums at bodies -------------------------------------------------------------------------- */

static talus_status list_entries(push_job *job) {
  const size_t bodies = job->model->bodies, n = job->contacts->count;
  uint32_t *start;
  TL_TAKE(job->crowd->arena, bodies + 1, &start);
  TL_TAKE(job->crowd->arena, 2 * n, &job->entry);
  memset(start, 0, (bodies + 1) * sizeof *start);
  for (size_t i = 0; i < n; ++i) {
    start[job->contacts->data[i].a]++;
    start[job->contacts->data[i].b]++;
  }
  uint32_t at = 0;
  for (size_t i = 0; i <= bodies; ++i) {
    const uint32_t count = i < bodies ? start[i] : 0;
    at += count;
    start[i] = at; /* its end; decremented to its begin while entries are written, last first */
  }
  for (size_t i = n; i-- > 0;) {
    job->entry[--start[job->contacts->data[i].b]] = (uint32_t)(2 * i + 1);
    job->entry[--start[job->contacts->data[i].a]] = (uint32_t)(2 * i);
  }
  job->start = start;
  return TALUS_OK;
}

static void gather(void *context, size_t begin, size_t end) {
  const push_job *job = context;
  for (size_t member = begin; member < end; ++member) {
    const uint32_t slot = tl_crowd_slot(job->crowd, member);
    talus_vec3 spring_force = tl_vec3(0, 0, 0), spring_torque = tl_vec3(0, 0, 0);
    if (!tl_body_is_static(job->model, slot))
      for (uint32_t k = job->start[slot]; k < job->start[slot + 1]; ++k) {
        const effect *e = &job->effects[job->entry[k] >> 1];
        const bool is_b = job->entry[k] & 1u;
        const talus_real sign = is_b ? TL_R(1) : TL_R(-1);
        const talus_vec3 turn = tl_cross(is_b ? e->arm_b : e->arm_a, e->force);
        spring_force = tl_madd(spring_force, sign, e->force);
        spring_torque = tl_madd(spring_torque, sign, tl_add(turn, e->torque));
      }
    job->spring_force[slot] = spring_force;
    job->spring_torque[slot] = spring_torque;
  }
}

/* Work against friction first stretches springs: what springs lose when they slip is friction's. */
void tl_penalty_keep_ledger(const tl_crowd *crowd, bool moved, const tl_penalty_sums *now,
                            tl_solve_report *report) {
  tl_penalty *p = crowd->penalty;
  report->elastic = now->elastic + now->stored;
  if (moved) {
    report->damping_work += 0.5 * crowd->dt * (p->damping + now->damping);
    report->friction_work +=
        0.5 * crowd->dt * (p->friction + now->friction) + p->stored - now->stored;
  }
  p->stored = now->stored;
  p->damping = now->damping;
  p->friction = now->friction;
}

/* Computes everything; lists of entries stay in the arena. */
static talus_status add_up(push_job *job, tl_penalty_sums *sums) {
  const tl_model *model = job->model;
  const size_t n = job->contacts->count;
  if (n > UINT32_MAX / 2)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "%zu contacts are more than penalty can hold", n);
  TL_TAKE(job->crowd->arena, n, &job->effects);
  TL_TAKE(job->crowd->arena, n, &job->shares);
  tl_penalty_share_out(job->crowd, job->contacts, job->shares);
  tl_tally total[SUMS];
  tl_for_tally(&model->par, n, TL_BLOCK, push_contacts, job, SUMS, total);
  *sums = (tl_penalty_sums){.elastic = tl_tally_value(&total[ELASTIC]),
                            .stored = tl_tally_value(&total[STORED]),
                            .damping = tl_tally_value(&total[DAMPING]),
                            .friction = tl_tally_value(&total[FRICTION]),
                            .pressing = tl_tally_value(&total[PRESSING])};
  TL_GO_ON(job->crowd->cancel);
  TL_TRY(list_entries(job));
  tl_for(&model->par, job->crowd->count, 512, gather, job);
  return TALUS_OK;
}

talus_status tl_penalty_find_forces(const tl_crowd *crowd, const tl_penalty_motion *motion,
                                    tl_contacts *contacts, talus_vec3 *spring_force,
                                    talus_vec3 *spring_torque, tl_penalty_sums *sums,
                                    tl_penalty_tangents *tangents) {
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  push_job job = {.model = crowd->model,
                  .crowd = crowd,
                  .penalty = crowd->penalty,
                  .motion = motion,
                  .contacts = contacts,
                  .spring_force = spring_force,
                  .spring_torque = spring_torque};
  if (tangents)
    TL_TAKE(crowd->arena, contacts->count, &job.tangents);
  TL_TRY(add_up(&job, sums));
  if (tangents)
    *tangents = (tl_penalty_tangents){job.tangents, job.start, job.entry};
  else
    tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
