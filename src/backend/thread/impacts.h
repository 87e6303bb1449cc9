/* Impacts within a step on a device: bounces, from relative motion (solve/impact/impact.h has the
 * rules). What one thread does in each task:
 *
 *   stand   a body has not been hit
 *   meet    when a contact closes, if it does so fast enough to bounce
 *   reach, part   contacts without restitution take part where closing contacts connect them to one
 *           that bounces
 *   calm, queue, due, unite, line, strike, again   a round; rounds go on until no contact waits
 *   leave   gaps for the rows
 *
 * The CPU takes contacts in the order of time, one moment after the other. Here a round takes every
 * contact that is the first of both its bodies, so that many moments far from each other are
 * solved at once; contacts that share a movable body and meet at one moment are a cluster, which
 * one thread solves like solve/impact/round.c. What a round does depends on the set alone, not on
 * the order of threads: clusters share no movable body, their root is their lowest contact, and
 * their contacts are visited in ascending order. */
#ifndef TL_THREAD_IMPACTS_H
#define TL_THREAD_IMPACTS_H

#include "backend/thread/rows.h"
#include "kernels/impact.h"

#define TL_STRIKE_TIE   TL_R(1e-6) /* part of the step: meetings closer in time are one moment */
#define TL_STRIKE_HITS  250        /* impacts of one contact in a step; the solver stops the rest */
#define TL_STRIKE_TURNS 20000      /* visits of one cluster in one round, about */

typedef struct tl_thread_impacts {
  tl_thread_crowd crowd;
  const talus_row_contact *contacts;
  size_t count;
  tl_ccp_body *bodies, *shifts;
  const tl_ccp_tensor *tensors;
  const talus_real *friction, *restitution; /* by pair of materials */
  uint32_t materials;
  tl_grid_space space;
  talus_real h, bounce_speed;
  bool is_relative; /* bounce_speed: auto */
  double *swift;    /* m/s: speed of the fastest body */
  /* By body. */
  tl_thread_struck *struck;
  uint64_t *first;  /* ~bits of the time of its first contact; 0: none waits */
  uint32_t *owner;  /* count less its first due contact; 0: none. Before: whether a contact that
                       bounces reaches it */
  uint32_t *is_hit; /* in this round */
  /* By contact. */
  talus_real *time, *slack; /* s: when it meets (TL_REAL_MAX: it does not wait); of rounding */
  uint32_t *hits, *parent, *next, *head;
  talus_vec3 *given; /* N s on b: sum of its impacts */
  tl_impact_row *rows;
  talus_real *gaps;
  uint32_t *left; /* contacts that wait, or that reached another one; cleared before */
} tl_thread_impacts;

typedef tl_thread_impacts tl_stand_task, tl_meet_task, tl_reach_task, tl_part_task, tl_calm_task,
    tl_queue_task, tl_due_task, tl_unite_task, tl_line_task, tl_strike_task, tl_again_task,
    tl_leave_task;

#define TL_STRIKE_NONE UINT32_MAX

/* ---- meetings -------------------------------------------------------------------------------- */

TL_FN void tl_strike_arms(const tl_thread_impacts *task, const talus_row_contact *c, talus_vec3 *a,
                          talus_vec3 *b) {
  const talus_dvec3 to_point = tl_dsub(c->point, task->crowd.in.position[c->a]);
  *a = tl_narrow(to_point);
  *b = tl_narrow(tl_dsub(to_point, tl_thread_way(&task->crowd, &task->space, c->a, c->b)));
}

TL_FN talus_real tl_strike_restitution(const tl_thread_impacts *task, const talus_row_contact *c) {
  return task
      ->restitution[task->crowd.material[c->a] * task->materials + task->crowd.material[c->b]];
}

TL_FN bool tl_strike_moves(const tl_thread_impacts *task, uint32_t body) {
  return task->bodies[body].inv_mass > 0;
}

/* Radius of a sphere, m; negative for another shape. */
TL_FN talus_real tl_strike_radius(const tl_thread_impacts *task, uint32_t body) {
  const tl_shape *shape = tl_thread_shape(&task->crowd, body);
  return shape->kind == TALUS_SPHERE ? shape->radius * task->crowd.scale[body] : TL_R(-1);
}

TL_FN talus_real tl_strike_slowest(const tl_thread_impacts *task, talus_real restitution) {
  const talus_real rounding = 1000 * TL_REAL_EPS * (talus_real)fmin(*task->swift, 1e30);
  const talus_real speed = tl_max(task->bounce_speed, rounding);
  return task->is_relative && restitution > 0 ? tl_max(speed, speed / (2 * restitution)) : speed;
}

TL_FN talus_real tl_strike_least(const tl_thread_impacts *task, const talus_row_contact *c) {
  const talus_real least = tl_strike_slowest(task, tl_strike_restitution(task, c));
  const talus_real chain =
      TL_R(1e-4) * tl_max(task->struck[c->a].fastest, task->struck[c->b].fastest);
  return task->is_relative ? tl_max(least, chain) : least;
}

/* Position of b relative to a at time `when`, minus the same at t0. */
TL_FN talus_vec3 tl_strike_way(const tl_thread_impacts *task, const talus_row_contact *c,
                               talus_real when) {
  const talus_vec3 shift = tl_sub(task->shifts[c->b].v, task->shifts[c->a].v);
  return tl_madd(tl_scale(shift, task->h), when,
                 tl_sub(task->bodies[c->b].v, task->bodies[c->a].v));
}

TL_FN bool tl_strike_spheres(const tl_thread_impacts *task, const talus_row_contact *c,
                             talus_real radius_a, talus_real radius_b, talus_real from,
                             talus_real least, tl_impact_meeting *m) {
  const talus_vec3 d = tl_add(tl_sub(m->arm_a, m->arm_b), tl_strike_way(task, c, 0));
  const talus_vec3 u = tl_sub(task->bodies[c->b].v, task->bodies[c->a].v);
  return tl_impact_meet_spheres(d, u, radius_a, radius_b, 0, from, least, m);
}

TL_FN talus_vec3 tl_strike_between(const tl_ccp_body *bodies, const talus_row_contact *c,
                                   const tl_impact_meeting *m) {
  return tl_sub(tl_ccp_point_velocity(&bodies[c->b], m->arm_b),
                tl_ccp_point_velocity(&bodies[c->a], m->arm_a));
}

/* Contacts of other shapes keep their normal of t0 (solve/impact/impact.c says where the point
 * is). */
TL_FN bool tl_strike_planes(const tl_thread_impacts *task, const talus_row_contact *c,
                            bool is_ball_a, bool is_ball_b, talus_real from, talus_real least,
                            tl_impact_meeting *m) {
  const talus_vec3 shift = tl_strike_between(task->shifts, c, m);
  m->speed = tl_dot(tl_strike_between(task->bodies, c, m), m->normal);
  if (!tl_impact_close(c->gap + task->h * tl_dot(shift, m->normal), m->speed, from, &m->when) ||
      !(m->when <= task->h) || !(m->speed < -least))
    return false;
  const talus_real with_b = is_ball_b || !tl_strike_moves(task, c->a)   ? TL_R(1)
                            : is_ball_a || !tl_strike_moves(task, c->b) ? TL_R(0)
                                                                        : TL_R(0.5);
  const talus_vec3 way = tl_strike_way(task, c, m->when);
  const talus_vec3 along = tl_scale(m->normal, tl_dot(way, m->normal)), aside = tl_sub(way, along);
  m->arm_a = tl_madd(tl_madd(m->arm_a, TL_R(0.5), along), with_b, aside);
  m->arm_b = tl_madd(tl_madd(m->arm_b, TL_R(-0.5), along), with_b - 1, aside);
  return true;
}

/* True if the contact closes within the step at a speed of at least `least`. */
TL_FN bool tl_strike_meet(const tl_thread_impacts *task, const talus_row_contact *c,
                          talus_real least, tl_impact_meeting *m) {
  const talus_real radius_a = tl_strike_radius(task, c->a), radius_b = tl_strike_radius(task, c->b),
                   from = tl_max(task->struck[c->a].clock, task->struck[c->b].clock);
  if (!tl_strike_moves(task, c->a) && !tl_strike_moves(task, c->b))
    return false;
  tl_strike_arms(task, c, &m->arm_a, &m->arm_b);
  m->normal = c->normal;
  if (radius_a >= 0 && radius_b >= 0)
    return tl_strike_spheres(task, c, radius_a, radius_b, from, least, m) && m->when <= task->h &&
           m->speed < -least;
  return tl_strike_planes(task, c, radius_a >= 0, radius_b >= 0, from, least, m);
}

/* Speed at which a contact closes along its normal of t0. */
TL_FN talus_real tl_strike_speed(const tl_thread_impacts *task, const talus_row_contact *c) {
  tl_impact_meeting m;
  tl_strike_arms(task, c, &m.arm_a, &m.arm_b);
  return tl_dot(tl_strike_between(task->bodies, c, &m), c->normal);
}

TL_FN bool tl_strike_comes(const tl_thread_impacts *task, const talus_row_contact *c) {
  const talus_real speed = tl_strike_speed(task, c);
  return speed < -tl_strike_slowest(task, tl_strike_restitution(task, c)) &&
         c->gap + task->h * speed < 0;
}

/* ---- before the first round ------------------------------------------------------------------ */

TL_FN void tl_stand_at(const tl_stand_task *task, size_t i) {
  tl_thread_struck none;
  none.kick_v = none.kick_w = none.before_v = none.before_w = tl_vec3(0, 0, 0);
  none.clock = none.fastest = 0;
  task->struck[i] = none;
  task->shifts[i] = tl_thread_nobody();
  task->owner[i] = 0;
  tl_thread_raise_real(task->swift, (double)tl_length(task->bodies[i].v));
}

/* Notes when a contact meets, or that it does not. */
TL_FN bool tl_strike_note(const tl_thread_impacts *task, size_t i) {
  const talus_row_contact c = task->contacts[i];
  tl_impact_meeting m;
  task->time[i] = TL_REAL_MAX;
  if (!tl_strike_meet(task, &c, tl_strike_least(task, &c), &m))
    return false;
  task->time[i] = m.when;
  task->slack[i] = TL_STRIKE_TIE * task->h +
                   8 * TL_REAL_EPS * (tl_length(m.arm_a) + tl_length(m.arm_b)) / -m.speed;
  return true;
}

/* left: whether any contact with restitution comes. */
TL_FN void tl_meet_at(const tl_meet_task *task, size_t i) {
  const talus_row_contact c = task->contacts[i];
  task->hits[i] = 0;
  task->given[i] = tl_vec3(0, 0, 0);
  task->time[i] = TL_REAL_MAX;
  if (!tl_strike_comes(task, &c))
    return;
  const bool bounces = tl_strike_restitution(task, &c) > 0;
  if (bounces)
    tl_thread_set(task->left, 1);
  if (tl_strike_note(task, i) && bounces) {
    tl_thread_set(&task->owner[c.a], 1);
    tl_thread_set(&task->owner[c.b], 1);
  }
}

/* left: whether another body was reached. */
TL_FN void tl_reach_at(const tl_reach_task *task, size_t i) {
  const talus_row_contact c = task->contacts[i];
  if (!(task->time[i] < TL_REAL_MAX))
    return;
  const bool at_a = tl_strike_moves(task, c.a) && task->owner[c.a],
             at_b = tl_strike_moves(task, c.b) && task->owner[c.b];
  if (at_a == at_b)
    return;
  const uint32_t other = at_a ? c.b : c.a;
  if (!tl_strike_moves(task, other))
    return;
  tl_thread_set(&task->owner[other], 1);
  tl_thread_set(task->left, 1);
}

TL_FN void tl_part_at(const tl_part_task *task, size_t i) {
  const talus_row_contact c = task->contacts[i];
  if (!(tl_strike_moves(task, c.a) && task->owner[c.a]) &&
      !(tl_strike_moves(task, c.b) && task->owner[c.b]))
    task->time[i] = TL_REAL_MAX;
}

/* ---- a round: who is due --------------------------------------------------------------------- */

TL_FN void tl_calm_at(const tl_calm_task *task, size_t i) {
  task->first[i] = 0;
  task->owner[i] = task->is_hit[i] = 0;
}

/* Earlier times are greater; never 0. */
TL_FN uint64_t tl_strike_urgency(talus_real time) {
  union {
    double number;
    uint64_t bits;
  } as;
  as.number = time > 0 ? (double)time : 0;
  return ~as.bits;
}

TL_FN void tl_queue_at(const tl_queue_task *task, size_t i) {
  const talus_row_contact *c = &task->contacts[i];
  if (!(task->time[i] < TL_REAL_MAX))
    return;
  const uint64_t urgency = tl_strike_urgency(task->time[i]);
  if (tl_strike_moves(task, c->a))
    tl_thread_raise_wide(&task->first[c->a], urgency);
  if (tl_strike_moves(task, c->b))
    tl_thread_raise_wide(&task->first[c->b], urgency);
}

TL_FN bool tl_strike_is_first(const tl_thread_impacts *task, uint32_t body, talus_real time) {
  return !tl_strike_moves(task, body) || tl_strike_urgency(time) >= task->first[body];
}

TL_FN void tl_due_at(const tl_due_task *task, size_t i) {
  const talus_row_contact *c = &task->contacts[i];
  const talus_real time = task->time[i];
  task->parent[i] = task->next[i] = task->head[i] = TL_STRIKE_NONE;
  if (!(time < TL_REAL_MAX))
    return;
  const talus_real early = tl_max(time - task->slack[i], 0);
  if (!tl_strike_is_first(task, c->a, early) || !tl_strike_is_first(task, c->b, early))
    return;
  task->parent[i] = (uint32_t)i;
  if (tl_strike_moves(task, c->a))
    tl_thread_raise(&task->owner[c->a], (uint32_t)(task->count - i));
  if (tl_strike_moves(task, c->b))
    tl_thread_raise(&task->owner[c->b], (uint32_t)(task->count - i));
}

/* ---- a round: clusters ----------------------------------------------------------------------- */

TL_FN uint32_t tl_strike_root(const tl_thread_impacts *task, uint32_t i) {
  uint32_t above = tl_thread_load(&task->parent[i]);
  while (above != i) {
    i = above;
    above = tl_thread_load(&task->parent[i]);
  }
  return i;
}

/* A root only ever hangs below a lower one, so that the lowest contact ends as the root. */
TL_FN void tl_strike_join(const tl_thread_impacts *task, uint32_t i, uint32_t body) {
  if (!tl_strike_moves(task, body))
    return;
  uint32_t other = (uint32_t)(task->count - task->owner[body]);
  for (;;) {
    const uint32_t x = tl_strike_root(task, i), y = tl_strike_root(task, other);
    if (x == y)
      return;
    const uint32_t high = x > y ? x : y;
    if (tl_thread_replace(&task->parent[high], high, x > y ? y : x))
      return;
    i = x;
    other = y;
  }
}

TL_FN void tl_unite_at(const tl_unite_task *task, size_t i) {
  if (task->parent[i] == TL_STRIKE_NONE)
    return;
  tl_strike_join(task, (uint32_t)i, task->contacts[i].a);
  tl_strike_join(task, (uint32_t)i, task->contacts[i].b);
}

TL_FN void tl_line_at(const tl_line_task *task, size_t i) {
  if (task->parent[i] != TL_STRIKE_NONE)
    task->next[i] = tl_thread_swap(&task->head[tl_strike_root(task, (uint32_t)i)], (uint32_t)i);
}

/* Sorts the list of a cluster, ascending: merges runs of 1, 2, 4, ... contacts. */
TL_FN uint32_t tl_strike_sort(const tl_thread_impacts *task, uint32_t list, uint32_t *count) {
  uint32_t *next = task->next;
  *count = 0;
  for (uint32_t i = list; i != TL_STRIKE_NONE; i = next[i])
    ++*count;
  for (uint32_t width = 1; width < *count; width *= 2) {
    uint32_t from = list, last = TL_STRIKE_NONE;
    list = TL_STRIKE_NONE;
    while (from != TL_STRIKE_NONE) {
      uint32_t x = from, y = from, nx = 0, ny = width;
      while (nx < width && y != TL_STRIKE_NONE) {
        y = next[y];
        nx++;
      }
      while (nx > 0 || (ny > 0 && y != TL_STRIKE_NONE)) {
        const bool is_x = nx > 0 && (ny == 0 || y == TL_STRIKE_NONE || x < y);
        const uint32_t least = is_x ? x : y;
        if (is_x)
          nx--, x = next[x];
        else
          ny--, y = next[y];
        if (last == TL_STRIKE_NONE)
          list = least;
        else
          next[last] = least;
        last = least;
      }
      from = y;
    }
    next[last] = TL_STRIKE_NONE;
  }
  return list;
}

/* ---- a round: one cluster -------------------------------------------------------------------- */

TL_FN tl_impact_pair tl_strike_pair(const tl_thread_impacts *task, uint32_t i) {
  const talus_row_contact *c = &task->contacts[i];
  tl_impact_pair pair;
  pair.a = &task->bodies[c->a];
  pair.b = &task->bodies[c->b];
  pair.tensor_a = task->tensors ? &task->tensors[c->a] : 0;
  pair.tensor_b = task->tensors ? &task->tensors[c->b] : 0;
  return pair;
}

/* The change of a body's velocity by loads from the middle of the step to the impact
 * (solve/impact/round.c). */
TL_FN talus_vec3 tl_strike_load(const tl_thread_impacts *task, uint32_t body, talus_vec3 arm,
                                talus_real when) {
  const tl_thread_crowd *crowd = &task->crowd;
  const tl_ccp_body *b = &task->bodies[body];
  const uint32_t lock = crowd->flags[body] & TL_THREAD_LOCKS;
  const talus_real time = when - task->h / 2;
  if (!(b->inv_mass > 0))
    return tl_vec3(0, 0, 0);
  talus_vec3 v = crowd->gravity, w = tl_vec3(0, 0, 0);
  if (crowd->force)
    v = tl_madd(v, b->inv_mass, crowd->force[body]);
  v = tl_thread_unlocked(v, lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
  if (crowd->torque)
    w = b->inv_inertia < 0 ? tl_sym3_mul_vec(task->tensors[body].inv_inertia, crowd->torque[body])
                           : tl_scale(crowd->torque[body], b->inv_inertia);
  return tl_scale(tl_add(v, tl_cross(w, arm)), time);
}

TL_FN bool tl_strike_is_ball(const tl_thread_impacts *task, uint32_t body) {
  const tl_ccp_body *b = &task->bodies[body];
  return !(b->inv_mass > 0) || (b->inv_inertia >= 0 && tl_strike_radius(task, body) >= 0);
}

TL_FN void tl_strike_row(const tl_thread_impacts *task, uint32_t i, const tl_impact_meeting *m,
                         talus_real when) {
  const talus_row_contact *c = &task->contacts[i];
  tl_impact_row row;
  row.normal = m->normal;
  row.arm_a = m->arm_a;
  row.arm_b = m->arm_b;
  row.friction =
      task->friction[task->crowd.material[c->a] * task->materials + task->crowd.material[c->b]];
  row.restitution = tl_strike_restitution(task, c);
  row.is_radial = tl_strike_is_ball(task, c->a) && tl_strike_is_ball(task, c->b);
  row.load_change = tl_sub(tl_strike_load(task, c->b, m->arm_b, when),
                           tl_strike_load(task, c->a, m->arm_a, when));
  row.soft = row.soft_after = tl_vec3(0, 0, 0);
  const tl_impact_pair pair = tl_strike_pair(task, i);
  tl_impact_begin(&pair, &row);
  task->rows[i] = row;
}

TL_FN void tl_strike_remember(const tl_thread_impacts *task, uint32_t body) {
  if (!tl_strike_moves(task, body) || task->is_hit[body])
    return;
  task->is_hit[body] = 1;
  task->struck[body].before_v = task->bodies[body].v;
  task->struck[body].before_w = task->bodies[body].w;
}

/* Rows of the contacts that still meet; others leave the list. Returns its first. */
TL_FN uint32_t tl_strike_load_rows(const tl_thread_impacts *task, uint32_t first, talus_real when,
                                   talus_real *scale) {
  uint32_t list = TL_STRIKE_NONE, last = TL_STRIKE_NONE;
  *scale = 0;
  for (uint32_t i = first, after; i != TL_STRIKE_NONE; i = after) {
    const talus_row_contact *c = &task->contacts[i];
    tl_impact_meeting m;
    after = task->next[i];
    if (!tl_strike_meet(task, c, tl_strike_least(task, c), &m)) {
      task->time[i] = TL_REAL_MAX;
      continue;
    }
    tl_strike_remember(task, c->a);
    tl_strike_remember(task, c->b);
    tl_strike_row(task, i, &m, when);
    *scale = tl_max(*scale, tl_length(task->rows[i].before));
    if (last == TL_STRIKE_NONE)
      list = i;
    else
      task->next[last] = i;
    last = i;
    task->next[i] = TL_STRIKE_NONE;
  }
  return list;
}

/* Visits the contacts until velocities settle. rub: friction only, with normal impulses kept. */
TL_FN void tl_strike_settle(const tl_thread_impacts *task, uint32_t first, uint32_t count,
                            talus_real scale, bool rub) {
  const uint32_t few = TL_STRIKE_TURNS / count;
  const uint32_t turns = count > 1                     ? (few > 500  ? 500
                                                          : few < 20 ? 20
                                                                     : few)
                         : task->rows[first].is_radial ? 1
                                                       : 100;
  talus_real most = TL_REAL_MAX;
  for (uint32_t turn = 0; turn < turns && most > 16 * TL_REAL_EPS * scale; ++turn) {
    most = 0;
    for (uint32_t i = first; i != TL_STRIKE_NONE; i = task->next[i]) {
      const tl_impact_pair pair = tl_strike_pair(task, i);
      const talus_real change =
          rub ? tl_impact_rub(&pair, &task->rows[i]) : tl_impact_stop(&pair, &task->rows[i]);
      most = tl_max(most, change);
    }
  }
}

TL_FN void tl_strike_weigh(const tl_thread_impacts *task, uint32_t first) {
  tl_impact_work work = {0, 0, 0, 0, 0};
  talus_real share, keep;
  for (uint32_t i = first; i != TL_STRIKE_NONE; i = task->next[i]) {
    const tl_impact_pair pair = tl_strike_pair(task, i);
    tl_impact_weigh(&pair, &task->rows[i], &work);
  }
  tl_impact_allow(&work, &share, &keep);
  if (share == 1 && keep == 1)
    return;
  for (uint32_t i = first; i != TL_STRIKE_NONE; i = task->next[i]) {
    const tl_impact_pair pair = tl_strike_pair(task, i);
    tl_impact_draw_back(&pair, &task->rows[i], share, keep);
  }
}

TL_FN void tl_strike_solve(const tl_thread_impacts *task, uint32_t first, uint32_t count,
                           talus_real scale) {
  bool is_thrown = false;
  tl_strike_settle(task, first, count, scale, false);
  for (uint32_t i = first; i != TL_STRIKE_NONE; i = task->next[i]) {
    const tl_impact_pair pair = tl_strike_pair(task, i);
    tl_impact_keep(&pair, &task->rows[i]);
  }
  for (uint32_t i = first; i != TL_STRIKE_NONE; i = task->next[i]) {
    const tl_impact_pair pair = tl_strike_pair(task, i);
    tl_impact_throw(&pair, &task->rows[i]);
    is_thrown = is_thrown || task->rows[i].restitution > 0;
  }
  if (is_thrown)
    tl_strike_settle(task, first, count, scale, true);
  tl_strike_weigh(task, first);
}

/* The body has moved with its old velocity until now, so it is shifted (solve/impact/round.c). */
TL_FN void tl_strike_shift(const tl_thread_impacts *task, uint32_t body, talus_real when,
                           talus_real fastest) {
  tl_thread_struck *struck = &task->struck[body];
  if (task->is_hit[body] != 1)
    return;
  const tl_ccp_body *now = &task->bodies[body];
  const talus_vec3 v = tl_sub(now->v, struck->before_v), w = tl_sub(now->w, struck->before_w);
  const talus_real share = when / task->h;
  task->is_hit[body] = 2;
  task->shifts[body].v = tl_madd(task->shifts[body].v, -share, v);
  if (now->inv_inertia >= 0)
    task->shifts[body].w = tl_madd(task->shifts[body].w, -share, w);
  struck->kick_v = tl_add(struck->kick_v, v);
  struck->kick_w = tl_add(struck->kick_w, w);
  struck->clock = when;
  struck->fastest = fastest;
}

TL_FN void tl_strike_keep(const tl_thread_impacts *task, uint32_t first, uint32_t count,
                          talus_real when) {
  const uint32_t few = count < TL_STRIKE_HITS ? count : TL_STRIKE_HITS;
  const uint32_t more = 1 + few * (few - 1) / 2,
                 hits = more < TL_STRIKE_HITS ? more : TL_STRIKE_HITS;
  talus_real fastest = 0;
  for (uint32_t i = first; i != TL_STRIKE_NONE; i = task->next[i]) {
    const talus_row_contact *c = &task->contacts[i];
    task->given[i] = tl_add(task->given[i], task->rows[i].impulse);
    task->hits[i] += hits;
    fastest = tl_max(fastest, -tl_dot(task->rows[i].before, task->rows[i].normal));
    fastest = tl_max(fastest, tl_max(task->struck[c->a].fastest, task->struck[c->b].fastest));
  }
  for (uint32_t i = first; i != TL_STRIKE_NONE; i = task->next[i]) {
    tl_strike_shift(task, task->contacts[i].a, when, fastest);
    tl_strike_shift(task, task->contacts[i].b, when, fastest);
  }
}

/* The root of a cluster solves it. */
TL_FN void tl_strike_at(const tl_strike_task *task, size_t i) {
  uint32_t count = 0;
  talus_real when = TL_REAL_MAX, scale;
  if (task->parent[i] != i)
    return;
  uint32_t first = tl_strike_sort(task, task->head[i], &count);
  for (uint32_t k = first; k != TL_STRIKE_NONE; k = task->next[k])
    when = tl_min(when, task->time[k]);
  first = tl_strike_load_rows(task, first, when, &scale);
  count = 0;
  for (uint32_t k = first; k != TL_STRIKE_NONE; k = task->next[k])
    count++;
  if (count == 0)
    return;
  tl_strike_solve(task, first, count, scale);
  tl_strike_keep(task, first, count, when);
}

/* left: contacts that wait. */
TL_FN void tl_again_at(const tl_again_task *task, size_t i) {
  const talus_row_contact *c = &task->contacts[i];
  const bool is_hit = (tl_strike_moves(task, c->a) && task->is_hit[c->a]) ||
                      (tl_strike_moves(task, c->b) && task->is_hit[c->b]);
  if (is_hit && task->hits[i] < TL_STRIKE_HITS)
    (void)tl_strike_note(task, i);
  else if (is_hit)
    task->time[i] = TL_REAL_MAX;
  if (task->time[i] < TL_REAL_MAX)
    tl_thread_set(task->left, 1);
}

/* ---- after the last round -------------------------------------------------------------------- */

/* The gap of a contact's row after impacts (solve/impact/impact.c). */
TL_FN talus_real tl_strike_gap(const tl_thread_impacts *task, const talus_row_contact *c) {
  const bool is_hit = task->struck[c->a].fastest > 0 || task->struck[c->b].fastest > 0;
  if (!is_hit && !(tl_strike_restitution(task, c) > 0 && tl_strike_comes(task, c)))
    return c->gap;
  tl_impact_meeting m;
  tl_strike_arms(task, c, &m.arm_a, &m.arm_b);
  const talus_vec3 shift = tl_strike_between(task->shifts, c, &m);
  const talus_real gap = tl_max(c->gap + task->h * tl_dot(shift, c->normal), tl_min(c->gap, 0));
  if (tl_strike_radius(task, c->a) < 0 || tl_strike_radius(task, c->b) < 0 ||
      tl_strike_meet(task, c, 0, &m))
    return gap;
  return tl_max(gap, -task->h * tl_strike_speed(task, c));
}

TL_FN void tl_leave_at(const tl_leave_task *task, size_t i) {
  task->gaps[i] = tl_strike_gap(task, &task->contacts[i]);
}

/* Adds the shifts of impacts to those of position correction. */
typedef struct tl_merge_task {
  const tl_ccp_body *from;
  tl_ccp_body *to;
} tl_merge_task;

TL_FN void tl_merge_at(const tl_merge_task *task, size_t i) {
  task->to[i].v = tl_add(task->to[i].v, task->from[i].v);
  task->to[i].w = tl_add(task->to[i].w, task->from[i].w);
}

#endif
