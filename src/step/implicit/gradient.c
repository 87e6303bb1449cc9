/* Conjugate gradients (Hestenes and Stiefel 1952) for (M + h J^T D J) W p = -residual, without a
 * matrix: p is the impulse that is sought, W p the velocities it makes, D the tangents of contacts.
 *
 * The mass is the preconditioner. So all vectors are sums of equal and opposite impulses, and
 * momentum is conserved however early the iteration ends. The part of each contact in each vector
 * is kept, so that the result can be applied with the lever arms of the forces
 * (solve/penalty/penalty.h): with those arms in the matrix, the spin of a ball would seem to press
 * it. */
#include "base/cancel.h"
#include "step/implicit/implicit.h"

#include <math.h>

#define MOST 2000 /* iterations */

typedef struct gradient {
  const tl_implicit *job;
  tl_wrench *left;                              /* residual */
  tl_wrench *direction;                         /* by slot */
  tl_twist *moved;                              /* W direction */
  tl_wrench *answer;                            /* product of the matrix with direction */
  tl_wrench *pulls;                             /* by contact: its part of `answer`, on b */
  talus_vec3 *in_left, *in_direction, *in_step; /* by contact: its part of each vector, from b */
} gradient;

/* ---- the product ----------------------------------------------------------------------------- */

/* Sliding friction does not depend on the speed, except that it jumps when the direction reverses.
 * A careful step gives it the same stiffness along the direction of sliding as across it: the
 * quadratic that a Newton step minimises is then above the potential, and does not overshoot. */
static talus_vec3 drag(const tl_penalty_tangent *t, bool is_careful, talus_vec3 u) {
  if (is_careful)
    return tl_madd(tl_scale(u, t->hold), (t->press - t->hold) * tl_dot(t->normal, u), t->normal);
  const talus_real n = tl_dot(t->normal, u), s = tl_dot(t->along, u);
  const talus_vec3 across = tl_madd(u, -n, t->normal);
  talus_vec3 r = tl_scale(t->normal, t->press * n);
  r = tl_madd(r, t->hold, across);
  return tl_madd(r, (t->slide - t->hold) * s, t->along);
}

static void move_bodies(void *context, size_t begin, size_t end) {
  const gradient *g = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(g->job->crowd, i);
    g->moved[slot] = tl_answer_to(&g->job->answers[slot], &g->direction[slot]);
  }
}

static void pull_contacts(void *context, size_t begin, size_t end) {
  const gradient *g = context;
  const talus_real h = (talus_real)g->job->crowd->dt;
  for (size_t i = begin; i < end; ++i) {
    const tl_penalty_tangent *t = &g->job->tangents.rows[i];
    const tl_contact *c = &g->job->at_end.contacts_after->data[i];
    const tl_twist *a = &g->moved[c->a], *b = &g->moved[c->b];
    const talus_vec3 u = tl_sub(tl_add(b->velocity, tl_cross(b->spin, t->arm_b)),
                                tl_add(a->velocity, tl_cross(a->spin, t->arm_a)));
    g->pulls[i].force = tl_scale(drag(t, g->job->careful[c->a] || g->job->careful[c->b], u), h);
    g->pulls[i].torque = tl_scale(tl_sub(b->spin, a->spin), h * t->turn);
  }
}

static void gather(void *context, size_t begin, size_t end) {
  const gradient *g = context;
  const tl_penalty_tangents *all = &g->job->tangents;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(g->job->crowd, i);
    tl_wrench sum = g->direction[slot];
    if (!tl_body_is_static(g->job->crowd->model, slot))
      for (uint32_t k = all->start[slot]; k < all->start[slot + 1]; ++k) {
        const uint32_t c = all->entry[k] >> 1;
        const bool is_b = all->entry[k] & 1u;
        const talus_real sign = is_b ? TL_R(1) : TL_R(-1);
        const talus_vec3 arm = is_b ? all->rows[c].arm_b : all->rows[c].arm_a;
        sum.force = tl_madd(sum.force, sign, g->pulls[c].force);
        sum.torque =
            tl_madd(sum.torque, sign, tl_add(tl_cross(arm, g->pulls[c].force), g->pulls[c].torque));
      }
    g->answer[slot] = sum;
  }
}

static void multiply(gradient *g) {
  const tl_crowd *crowd = g->job->crowd;
  const tl_par *par = &crowd->model->par;
  tl_for(par, crowd->count, 512, move_bodies, g);
  tl_for(par, g->job->at_end.contacts_after->count, 512, pull_contacts, g);
  tl_for(par, crowd->count, 512, gather, g);
}

/* ---- the iteration --------------------------------------------------------------------------- */

static talus_status begin(gradient *g) {
  const tl_implicit *job = g->job;
  const size_t n = job->crowd->model->bodies;
  tl_arena *arena = job->crowd->arena;
  TL_TAKE(arena, n, &g->left);
  TL_TAKE(arena, n, &g->direction);
  TL_TAKE(arena, n, &g->moved);
  TL_TAKE(arena, n, &g->answer);
  const size_t contacts = job->at_end.contacts_after->count;
  TL_TAKE(arena, contacts, &g->pulls);
  TL_TAKE(arena, contacts, &g->in_left);
  TL_TAKE(arena, contacts, &g->in_direction);
  TL_TAKE(arena, contacts, &g->in_step);
  for (size_t i = 0; i < contacts; ++i)
    g->in_left[i] = g->in_direction[i] = g->in_step[i] = tl_vec3(0, 0, 0);
  for (size_t i = 0; i < n; ++i) {
    g->left[i].force = tl_scale(job->residual[i].force, -1);
    g->left[i].torque = tl_scale(job->residual[i].torque, -1);
    g->direction[i] = g->left[i];
    g->moved[i] = (tl_twist){{0, 0, 0}, {0, 0, 0}};
    job->step[i] = (tl_wrench){{0, 0, 0}, {0, 0, 0}};
  }
  return TALUS_OK;
}

typedef struct add_job {
  const gradient *g;
  talus_real share;
} add_job;

static void advance(void *context, size_t first, size_t end) {
  const add_job *job = context;
  const gradient *g = job->g;
  for (size_t i = first; i < end; ++i) {
    tl_wrench *step = &g->job->step[i];
    step->force = tl_madd(step->force, job->share, g->direction[i].force);
    step->torque = tl_madd(step->torque, job->share, g->direction[i].torque);
    g->left[i].force = tl_madd(g->left[i].force, -job->share, g->answer[i].force);
    g->left[i].torque = tl_madd(g->left[i].torque, -job->share, g->answer[i].torque);
  }
}

static void advance_contacts(void *context, size_t first, size_t end) {
  const add_job *job = context;
  const gradient *g = job->g;
  for (size_t i = first; i < end; ++i) {
    const talus_vec3 answer = tl_sub(g->in_direction[i], g->pulls[i].force);
    g->in_step[i] = tl_madd(g->in_step[i], job->share, g->in_direction[i]);
    g->in_left[i] = tl_madd(g->in_left[i], -job->share, answer);
  }
}

static void turn_contacts(void *context, size_t first, size_t end) {
  const add_job *job = context;
  const gradient *g = job->g;
  for (size_t i = first; i < end; ++i)
    g->in_direction[i] = tl_madd(g->in_left[i], job->share, g->in_direction[i]);
}

static void give_levers(void *context, size_t first, size_t end) {
  const gradient *g = context;
  const tl_penalty_tangents *all = &g->job->tangents;
  for (size_t i = first; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(g->job->crowd, i);
    if (tl_body_is_static(g->job->crowd->model, slot))
      continue;
    tl_wrench *step = &g->job->step[slot];
    for (uint32_t k = all->start[slot]; k < all->start[slot + 1]; ++k) {
      const uint32_t c = all->entry[k] >> 1;
      const bool is_b = all->entry[k] & 1u;
      const tl_penalty_tangent *t = &all->rows[c];
      const talus_vec3 way = is_b ? tl_sub(t->lever_b, t->arm_b) : tl_sub(t->lever_a, t->arm_a);
      step->torque = tl_madd(step->torque, is_b ? TL_R(-1) : TL_R(1), tl_cross(way, g->in_step[c]));
    }
  }
}

static void turn(void *context, size_t first, size_t end) {
  const add_job *job = context;
  const gradient *g = job->g;
  for (size_t i = first; i < end; ++i) {
    g->direction[i].force = tl_madd(g->left[i].force, job->share, g->direction[i].force);
    g->direction[i].torque = tl_madd(g->left[i].torque, job->share, g->direction[i].torque);
  }
}

talus_status tl_implicit_solve(tl_implicit *job, double share) {
  const tl_crowd *crowd = job->crowd;
  const tl_par *par = &crowd->model->par;
  const size_t n = crowd->model->bodies;
  gradient g = {.job = job};
  TL_TRY(begin(&g));
  double size = tl_implicit_product(job, g.left, g.left);
  const double enough = share * share * size;
  for (int k = 0; size > enough && k < MOST; ++k) {
    if (k % 64 == 63)
      TL_GO_ON(crowd->cancel);
    multiply(&g);
    const double bent = tl_implicit_product(job, g.answer, g.direction);
    if (!(bent > 0))
      break;
    add_job by = {&g, (talus_real)(size / bent)};
    tl_for(par, n, 512, advance, &by);
    tl_for(par, job->at_end.contacts_after->count, 512, advance_contacts, &by);
    const double next = tl_implicit_product(job, g.left, g.left);
    by.share = (talus_real)(next / size);
    size = next;
    tl_for(par, n, 512, turn, &by);
    tl_for(par, job->at_end.contacts_after->count, 512, turn_contacts, &by);
  }
  tl_for(par, crowd->count, 512, give_levers, &g);
  return TALUS_OK;
}
