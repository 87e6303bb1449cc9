/* Finds which contacts close within the step, and when; and what impacts leave for the rows. */
#include "solve/impact/impact.h"

#include "joint/joint.h"

#define GRAIN 1024
/* hits of one step for which memory is taken at the begin; more is taken when needed */
#define FEW_HITS ((size_t)1024)

bool tl_impact_is_possible(const tl_model *model) {
  for (size_t i = 0; i < model->laws.count; ++i)
    if (model->laws.data[i].restitution > 0)
      return true;
  return false;
}

/* ---- meetings -------------------------------------------------------------------------------- */

/* Radius of a sphere, m; negative for another shape. */
static talus_real radius_of(const tl_model *model, uint32_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  return shape->kind == TALUS_SPHERE ? shape->radius * model->property.scale[slot] : -1;
}

/* The speed below which impacts do not bounce. By default a body that would be back within two
 * steps does not bounce either: otherwise a heap of little restitution would rattle in every step.
 * A contact without restitution never bounces. */
static talus_real slowest(const tl_impact *job, talus_real restitution) {
  return job->is_relative && restitution > 0
             ? tl_max(job->bounce_speed, job->bounce_speed / (2 * restitution))
             : job->bounce_speed;
}

/* Without gravity a chain of impacts with e < 1 never ends: impacts that are slow compared with the
 * first of the chain do not bounce either. */
static talus_real least_speed(const tl_impact *job, uint32_t a, uint32_t b,
                              talus_real restitution) {
  const talus_real least = slowest(job, restitution);
  return job->is_relative ? tl_max(least, TL_R(1e-4) * tl_max(job->fastest[a], job->fastest[b]))
                          : least;
}

/* Position of b relative to a at time `when`, minus the same at t0. */
static talus_vec3 way_until(const tl_impact *job, uint32_t a, uint32_t b, talus_real when) {
  const tl_system *system = job->system;
  const talus_vec3 shift = tl_sub(system->shifts[b].v, system->shifts[a].v);
  return tl_madd(tl_scale(shift, job->h), when, tl_sub(system->bodies[b].v, system->bodies[a].v));
}

/* Distance of two surfaces at which they meet, m: adaptive steps measure gaps from half a halo (as
 * step/fixed.c does). */
static talus_real spare_of(const tl_model *model, const tl_contact *c) {
  return model->step == TALUS_STEP_ADAPTIVE
             ? TL_R(0.5) * (tl_halo_of(model, c->a) + tl_halo_of(model, c->b))
             : 0;
}

/* Contact of two spheres at the time they meet: their normal is that of the moment, not that of
 * t0. */
static bool meet_spheres(const tl_impact *job, uint32_t a, uint32_t b, talus_real radius_a,
                         talus_real radius_b, talus_real spare, talus_real from, talus_real least,
                         tl_impact_meeting *m) {
  const tl_system *system = job->system;
  const talus_vec3 at = tl_sub(m->arm_a, m->arm_b);
  const talus_vec3 d = tl_add(at, way_until(job, a, b, 0));
  const talus_vec3 u = tl_sub(system->bodies[b].v, system->bodies[a].v);
  return tl_impact_meet_spheres(d, u, radius_a, radius_b, spare, from, least, m);
}

/* Contacts of other shapes keep their normal of t0. Both bodies are hit at one point, because
 * angular momentum would change otherwise. Along the normal, the point is in the middle; along the
 * surface, it follows the sphere, or else the body that moves. */
static void move_arms(const tl_impact *job, uint32_t a, uint32_t b, talus_real with_b,
                      tl_impact_meeting *m) {
  const talus_vec3 way = way_until(job, a, b, m->when);
  const talus_vec3 along = tl_scale(m->normal, tl_dot(way, m->normal)), aside = tl_sub(way, along);
  m->arm_a = tl_madd(tl_madd(m->arm_a, TL_R(0.5), along), with_b, aside);
  m->arm_b = tl_madd(tl_madd(m->arm_b, TL_R(-0.5), along), with_b - 1, aside);
}

static bool meet_planes(const tl_impact *job, uint32_t a, uint32_t b, talus_real gap,
                        talus_real from, tl_impact_meeting *m) {
  const tl_system *system = job->system;
  const talus_vec3 u = tl_sub(tl_ccp_point_velocity(&system->bodies[b], m->arm_b),
                              tl_ccp_point_velocity(&system->bodies[a], m->arm_a));
  const talus_vec3 shift = tl_sub(tl_ccp_point_velocity(&system->shifts[b], m->arm_b),
                                  tl_ccp_point_velocity(&system->shifts[a], m->arm_a));
  m->speed = tl_dot(u, m->normal);
  return tl_impact_close(gap + job->h * tl_dot(shift, m->normal), m->speed, from, &m->when);
}

/* True if the contact closes within the step at a speed of at least `least`. */
static bool meet(const tl_impact *job, size_t contact, talus_real least, tl_impact_meeting *m) {
  const tl_system *system = job->system;
  const tl_contact *c = &system->contacts->data[contact];
  const uint32_t a = tl_system_body(system, c->a), b = tl_system_body(system, c->b);
  const talus_real from = tl_max(job->clock[a], job->clock[b]);
  const talus_real radius_a = radius_of(system->model, c->a),
                   radius_b = radius_of(system->model, c->b);
  tl_system_arms(system, c, &m->arm_a, &m->arm_b);
  m->normal = c->normal;
  if (radius_a >= 0 && radius_b >= 0)
    return meet_spheres(job, a, b, radius_a, radius_b, spare_of(system->model, c), from, least,
                        m) &&
           m->when <= job->h && m->speed < -least;
  if (!meet_planes(job, a, b, c->gap, from, m) || !(m->when <= job->h) || !(m->speed < -least))
    return false;
  if (radius_b >= 0 || !(system->bodies[a].inv_mass > 0))
    move_arms(job, a, b, 1, m);
  else
    move_arms(job, a, b, radius_a >= 0 || !(system->bodies[b].inv_mass > 0) ? 0 : TL_R(0.5), m);
  return true;
}

bool tl_impact_look(const tl_impact *job, size_t contact, tl_impact_meeting *m) {
  const tl_system *system = job->system;
  const tl_contact *c = &system->contacts->data[contact];
  const uint32_t a = tl_system_body(system, c->a), b = tl_system_body(system, c->b);
  if (!(system->bodies[a].inv_mass > 0 || system->bodies[b].inv_mass > 0))
    return false;
  const talus_real e = tl_model_law(system->model, c->a, c->b)->restitution;
  return meet(job, contact, least_speed(job, a, b, e), m);
}

/* ---- the first search ------------------------------------------------------------------------ */

/* Speed at which a contact closes along its normal of t0. */
static talus_real speed_of(const tl_system *system, const tl_contact *c) {
  const tl_ccp_body *a = &system->bodies[tl_system_body(system, c->a)];
  const tl_ccp_body *b = &system->bodies[tl_system_body(system, c->b)];
  if (!system->summary.arms) /* arms are along the normal */
    return tl_dot(tl_sub(b->v, a->v), c->normal);
  talus_vec3 arm_a, arm_b;
  tl_system_arms(system, c, &arm_a, &arm_b);
  return tl_dot(tl_sub(tl_ccp_point_velocity(b, arm_b), tl_ccp_point_velocity(a, arm_a)),
                c->normal);
}

/* True if the contact closes along its normal of t0, and fast enough. A contact that does not close
 * so cannot bounce; one of spheres that pass each other does close so, but is no impact. */
static bool comes(const tl_impact *job, size_t i, talus_real restitution) {
  const tl_contact *c = &job->system->contacts->data[i];
  const talus_real speed = speed_of(job->system, c);
  return speed < -slowest(job, restitution) && c->gap + job->h * speed < 0;
}

static talus_real restitution_of(const tl_system *system, size_t i) {
  const tl_contact *c = &system->contacts->data[i];
  return tl_model_law(system->model, c->a, c->b)->restitution;
}

static bool wants(const tl_impact *job, size_t i) {
  const talus_real e = restitution_of(job->system, i);
  return e > 0 && comes(job, i, e);
}
static bool is_wanted(void *context, size_t i) { return wants(context, i); }

static void look_at_range(void *context, size_t begin, size_t end) {
  const tl_impact *job = context;
  for (size_t i = begin; i < end; ++i) {
    tl_impact_meeting m;
    job->place[i] = TL_NONE;
    job->hits[i] = 0;
    job->given[i] = tl_vec3(0, 0, 0);
    job->time[i] = comes(job, i, restitution_of(job->system, i)) && tl_impact_look(job, i, &m)
                       ? m.when
                       : TL_REAL_MAX;
  }
}

/* ---- contacts of bodies ---------------------------------------------------------------------- */

static void list_contacts(tl_impact *job) {
  const tl_system *system = job->system;
  const size_t n = system->contacts->count, bodies = system->crowd->count;
  memset(job->start, 0, (bodies + 2) * sizeof *job->start);
  /* first pass counts, second writes; starts end one place further */
  for (int turn = 0; turn < 2; ++turn) {
    for (size_t i = 0; i < n; ++i) {
      const tl_contact *c = &system->contacts->data[i];
      const uint32_t each[2] = {tl_system_body(system, c->a), tl_system_body(system, c->b)};
      for (int k = 0; k < 2; ++k)
        if (system->bodies[each[k]].inv_mass > 0) {
          if (turn == 0)
            job->start[each[k] + 2]++;
          else
            job->entry[job->start[each[k] + 1]++] = (uint32_t)i;
        }
    }
    for (size_t i = 2; turn == 0 && i < bodies + 2; ++i)
      job->start[i] += job->start[i - 1];
  }
}

static void reach(tl_impact *job, uint32_t body, uint32_t *list, size_t *count) {
  if (!(job->system->bodies[body].inv_mass > 0) || job->owner[body] != TL_NONE)
    return;
  job->owner[body] = 0;
  list[(*count)++] = body;
}

/* Lists the contacts that wait for an impact. A contact without restitution takes part only if
 * closing contacts connect it to one with restitution; otherwise the solver stops it. */
static void gather_waiting(tl_impact *job, uint32_t *list) {
  const tl_system *system = job->system;
  size_t count = 0;
  for (size_t i = 0; i < system->contacts->count; ++i) {
    const tl_contact *c = &system->contacts->data[i];
    if (job->time[i] < TL_REAL_MAX && restitution_of(system, i) > 0) {
      reach(job, tl_system_body(system, c->a), list, &count);
      reach(job, tl_system_body(system, c->b), list, &count);
    }
  }
  for (size_t k = 0; k < count; ++k)
    for (uint32_t e = job->start[list[k]]; e < job->start[list[k] + 1]; ++e) {
      const uint32_t i = job->entry[e];
      if (!(job->time[i] < TL_REAL_MAX) || job->place[i] != TL_NONE)
        continue;
      tl_impact_wait(job, i, job->time[i]);
      reach(job, tl_system_body(system, system->contacts->data[i].a), list, &count);
      reach(job, tl_system_body(system, system->contacts->data[i].b), list, &count);
    }
  for (size_t k = 0; k < count; ++k)
    job->owner[list[k]] = TL_NONE;
}

/* ---- gaps for the rows ----------------------------------------------------------------------- */

/* The gap of a contact's row after impacts. Rows use the normal at t0, and gaps are corrected for
 * the shifts of impacts. Spheres that pass each other, or separate after they were hit, get a gap
 * that demands nothing of their present velocities. A corrected gap never makes a row push: a
 * negative gap without overlap becomes 0. */
static talus_real gap_left(const tl_impact *job, size_t i) {
  const tl_system *system = job->system;
  const tl_contact *c = &system->contacts->data[i];
  const uint32_t a = tl_system_body(system, c->a), b = tl_system_body(system, c->b);
  const bool is_hit = job->fastest[a] > 0 || job->fastest[b] > 0;
  if (!is_hit && !wants(job, i))
    return c->gap;
  talus_vec3 arm_a, arm_b;
  tl_system_arms(system, c, &arm_a, &arm_b);
  const talus_vec3 shift = tl_sub(tl_ccp_point_velocity(&system->shifts[b], arm_b),
                                  tl_ccp_point_velocity(&system->shifts[a], arm_a));
  const talus_real gap = tl_max(c->gap + job->h * tl_dot(shift, c->normal), tl_min(c->gap, 0));
  tl_impact_meeting m;
  if (radius_of(system->model, c->a) < 0 || radius_of(system->model, c->b) < 0 ||
      meet(job, i, 0, &m))
    return gap;
  return tl_max(gap, -job->h * speed_of(system, c));
}

static void leave_gaps(void *context, size_t begin, size_t end) {
  const tl_impact *job = context;
  for (size_t i = begin; i < end; ++i)
    job->system->gaps[i] = gap_left(job, i);
}

/* ---- sequence -------------------------------------------------------------------------------- */

static talus_status take_room(tl_impact *job) {
  tl_arena *arena = job->system->crowd->arena;
  const size_t bodies = job->system->crowd->count + 1, contacts = job->system->contacts->count;
  TL_TAKE(arena, bodies, &job->clock);
  TL_TAKE(arena, bodies, &job->fastest);
  TL_TAKE(arena, bodies, &job->owner);
  TL_TAKE(arena, bodies + 1, &job->start);
  TL_TAKE(arena, 2 * contacts, &job->entry);
  TL_TAKE(arena, contacts, &job->heap);
  TL_TAKE(arena, contacts, &job->place);
  TL_TAKE(arena, contacts, &job->time);
  TL_TAKE(arena, contacts, &job->hits);
  TL_TAKE(arena, contacts, &job->given);
  return TALUS_OK;
}

static talus_status find_held(tl_impact *job) {
  const tl_system *system = job->system;
  const tl_joints *joints = system->crowd->joints;
  if (!joints)
    return TALUS_OK;
  TL_TAKE(system->crowd->arena, system->crowd->count + 1, &job->held);
  memset(job->held, 0, system->crowd->count + 1);
  for (size_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (!tl_joint_acts_within(joint, system->crowd))
      continue;
    if (joint->a != TL_NONE)
      job->held[tl_system_body(system, joint->a)] = 1;
    if (joint->b != TL_NONE)
      job->held[tl_system_body(system, joint->b)] = 1;
  }
  return TALUS_OK;
}

/* Marks all bodies as not hit. */
static void begin_bodies(void *context, size_t begin, size_t end) {
  const tl_impact *job = context;
  const tl_ccp_body nobody = {.inv_mass = 0};
  for (size_t i = begin; i < end; ++i) {
    job->system->shifts[i] = nobody;
    job->system->kicks[i] = (tl_twist){{0, 0, 0}, {0, 0, 0}};
    job->clock[i] = job->fastest[i] = 0;
    job->owner[i] = TL_NONE;
  }
}

/* Writes the impacts of the step to the contacts. */
static talus_status list_hits(const tl_impact *job) {
  tl_contacts *contacts = job->system->contacts;
  size_t count = 0;
  contacts->hits.count = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    count += job->hits[i] > 0;
  if (contacts->hits.capacity < count)
    TL_TRY(tl_array_reserve(&contacts->hits, count + count / 4));
  for (size_t i = 0; i < contacts->count; ++i)
    if (job->hits[i] > 0)
      contacts->hits.data[contacts->hits.count++] = (tl_hit){(uint32_t)i, job->given[i]};
  return TALUS_OK;
}

static talus_status run(tl_impact *job) {
  tl_system *system = job->system;
  uint32_t *list;
  TL_TRY(take_room(job));
  tl_for(&system->model->par, system->crowd->count + 1, GRAIN, begin_bodies, job);
  tl_for(&system->model->par, system->contacts->count, GRAIN, look_at_range, job);
  list_contacts(job);
  TL_TRY(find_held(job));
  TL_TAKE(system->crowd->arena, system->crowd->count, &list);
  gather_waiting(job, list);
  while (job->waiting > 0) {
    TL_GO_ON(system->crowd->cancel);
    TL_TRY(tl_impact_round(job));
  }
  tl_for(&system->model->par, system->contacts->count, GRAIN, leave_gaps, job);
  return list_hits(job);
}

/* Speeds below this (m/s) are rounding errors of others and do not bounce. */
static talus_real rounding_of(const tl_system *system) {
  const tl_summary *s = &system->summary;
  const talus_real fastest = tl_max(tl_length(s->slowest), tl_length(s->fastest));
  return 1000 * TL_REAL_EPS * tl_min(fastest, TL_R(1e30));
}

talus_status tl_impact_find(tl_system *system, tl_ccp_body *shifts) {
  const size_t n = system->contacts->count;
  tl_arena *arena = system->crowd->arena;
  tl_impact job = {.system = system,
                   .h = (talus_real)system->crowd->dt,
                   .bounce_speed = tl_max(system->bounce_speed, rounding_of(system)),
                   .is_relative = system->settings->bounce_speed < 0};
  if (!shifts || n == 0)
    return TALUS_OK;
  talus_real *gaps;
  tl_twist *kicks;
  /* Memory for gaps is taken in every step, so that the arena keeps its size. */
  TL_TAKE(arena, n, &gaps);
  TL_TAKE(arena, system->crowd->count + 1, &kicks);
  TL_TRY(tl_array_reserve(&system->contacts->hits,
                          n < FEW_HITS ? system->contacts->capacity : FEW_HITS));
  if (tl_find_first(&system->model->par, n, is_wanted, &job) == SIZE_MAX)
    return TALUS_OK;
  system->shifts = shifts;
  system->gaps = gaps;
  system->kicks = kicks;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TRY(run(&job));
  tl_arena_release(arena, mark);
  return TALUS_OK;
}
