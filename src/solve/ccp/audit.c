/* What is looked at after the solve, island by island.
 *
 * Energy. With p the impulses of contacts, u_f their relative velocities with loads alone and u_1
 * those of the solution, contacts give sum p.(u_f + u_1)/2 to the bodies, in the frame of the
 * walls. It must not be positive. Sweeps see to that (solve/ccp/seidel.c), but for Coulomb's law,
 * momentum and gradient methods nothing proves it; so it is measured, and impulses that would make
 * energy are cut by the share s that takes the most: with A = sum p.u_f and B = p.N p the work is s
 * A + s^2 B/2. In terms of bodies, where no product is needed: A + B/2 = (v_f + v_1)/2 . M (v_1 -
 * v_f), less what moving walls gave. Islands with joints are left out: motors and springs may give
 * energy.
 *
 * Convergence. An island is far from its solution where the RMS of its residual is above both a
 * step of free fall, |gravity| dt, and a hundredth of its fastest approach. */
#include "crowd/rest.h"
#include "solve/ccp/ccp.h"

#include <math.h>

#define ROUNDING (sizeof(talus_real) == 4 ? 1e-4 : 1e-9) /* of B: not energy, but rounding */
#define STRIDE   31                                      /* rows from one look to the next */
#define FAR      0.01                                    /* of the fastest approach */

typedef struct audit {
  tl_ccp *ccp;
  tl_ccp_entry *entries; /* by slot; then, at labels, of islands */
  uint8_t *driven;       /* by slot: its island has joints */
} audit;

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

static uint32_t body_of(const tl_ccp *job, size_t member) {
  return job->rank ? job->rank[member] : (uint32_t)member;
}

static bool takes_part(const tl_ccp *job, uint32_t slot) {
  return !tl_body_is_static(job->model, slot) && !tl_rest_is_asleep(job->scope->in, slot);
}

static uint32_t label_of(const tl_ccp *job, uint32_t slot) {
  return job->label ? job->label[slot] : 0;
}

static uint32_t label_of_contact(const tl_ccp *job, const tl_contact *c) {
  return label_of(job, tl_body_is_static(job->model, c->a) ? c->b : c->a);
}

/* Adds up by island. A label is the lowest slot of its island, so that nothing is overwritten
 * before it is read. */
static void add_up(const audit *a) {
  const tl_ccp *job = a->ccp;
  for (size_t i = 0; i < job->scope->count; ++i) {
    const uint32_t slot = tl_scope_slot(job->scope, i), label = label_of(job, slot);
    if (label == slot || !takes_part(job, slot))
      continue;
    tl_ccp_entry *to = &a->entries[label], *from = &a->entries[slot];
    to->work += from->work;
    to->norm += from->norm;
    to->had += from->had;
  }
}

/* The impulse of a contact without what cohesion gives, which is a load. */
static talus_vec3 push_of(const tl_ccp *job, size_t i) {
  const tl_contact *c = &job->contacts->data[i];
  return job->pulls ? tl_madd(c->impulse, job->pulls[i], c->normal) : c->impulse;
}

static double wall_work(const tl_ccp *job, size_t i, uint32_t wall, talus_vec3 arm, double sign) {
  const tl_ccp_body *body = &job->bodies[tl_ccp_solver_body(job, wall)];
  double work = dot_d(push_of(job, i), tl_ccp_point_velocity(body, arm));
  if (tl_contacts_have_touches(job->contacts))
    work += dot_d(job->contacts->touches.data[i].torque, body->w);
  return sign * work;
}

/* Takes out what moving walls gave: p on b, its opposite on a. */
static void take_walls(const audit *a) {
  const tl_ccp *job = a->ccp;
  const tl_model *model = job->model;
  if (!job->survey.moving_walls)
    return;
  for (size_t i = 0; i < job->contacts->count; ++i) {
    const tl_contact *c = &job->contacts->data[i];
    const bool of_a = (model->property.flags[c->a] & TL_FLAG_KINEMATIC) != 0;
    const bool of_b = (model->property.flags[c->b] & TL_FLAG_KINEMATIC) != 0;
    if (of_a == of_b || !takes_part(job, of_a ? c->b : c->a))
      continue;
    talus_vec3 arm_a, arm_b;
    tl_ccp_contact_arms(job, c, &arm_a, &arm_b);
    a->entries[label_of_contact(job, c)].work -=
        of_a ? wall_work(job, i, c->a, arm_a, 1) : wall_work(job, i, c->b, arm_b, -1);
  }
}

static void mark_driven(const audit *a) {
  const tl_ccp *job = a->ccp;
  for (size_t i = 0; i < job->link_count; ++i) {
    const tl_joint *joint = &job->scope->joints->all.data[job->links[i].joint];
    const bool of_a = joint->a != TL_NONE && takes_part(job, joint->a);
    a->driven[label_of(job, of_a ? joint->a : joint->b)] = 1;
  }
}

static bool makes_energy(const audit *a, uint32_t label) {
  const tl_ccp_entry *e = &a->entries[label];
  const double rounding = ROUNDING * e->norm + 100 * (double)TL_REAL_EPS * e->had;
  return !a->driven[label] && e->work > rounding;
}

static talus_real share_of(const audit *a, uint32_t label) {
  const double b = a->entries[label].norm, slope = a->entries[label].work - 0.5 * b;
  return slope < 0 ? (talus_real)(-slope / b) : 0;
}

/* Cuts the impulses of the islands that make energy, and what they did. */
static void cut(const audit *a) {
  tl_ccp *job = a->ccp;
  for (size_t i = 0; i < job->scope->count; ++i) {
    const uint32_t slot = tl_scope_slot(job->scope, i), label = label_of(job, slot);
    if (!takes_part(job, slot) || !makes_energy(a, label))
      continue;
    const talus_real s = share_of(a, label);
    tl_ccp_body *body = &job->bodies[body_of(job, i)];
    const tl_twist from = tl_ccp_start_twist(job, i);
    body->v = tl_madd(from.velocity, s, tl_sub(body->v, from.velocity));
    body->w = tl_madd(from.spin, s, tl_sub(body->w, from.spin));
  }
  for (size_t i = 0; i < job->contacts->count; ++i) {
    tl_contact *c = &job->contacts->data[i];
    const uint32_t label = label_of_contact(job, c);
    if (!makes_energy(a, label) || tl_rest_is_dormant(job->model, job->scope->in, c->a, c->b))
      continue;
    const talus_real s = share_of(a, label);
    c->impulse = tl_scale(push_of(job, i), s);
    if (job->pulls)
      c->impulse = tl_madd(c->impulse, -job->pulls[i], c->normal);
    if (tl_contacts_have_touches(job->contacts))
      job->contacts->touches.data[i].torque = tl_scale(job->contacts->touches.data[i].torque, s);
  }
}

static void weigh(audit *a) {
  tl_ccp_find_energy(a->ccp, a->entries);
  add_up(a);
  take_walls(a);
}

/* Islands that make energy, and how much. */
static int count_makers(const audit *a, double *made) {
  const tl_ccp *job = a->ccp;
  int makers = 0;
  tl_tally sum;
  tl_tally_clear(&sum);
  for (size_t i = 0; i < job->scope->count; ++i) {
    const uint32_t slot = tl_scope_slot(job->scope, i);
    if (label_of(job, slot) != slot || !makes_energy(a, slot))
      continue;
    tl_tally_add(&sum, a->entries[slot].work);
    makers++;
  }
  *made = tl_tally_value(&sum);
  return makers;
}

/* ---- convergence -------------------------------------------------------------------------------
 */

/* Relative normal velocity at a contact, of velocities at the end of the step or without contacts.
 */
static double closing_of(const tl_ccp *job, const tl_contact *c, bool is_free) {
  tl_ccp_body body[2];
  talus_vec3 arm[2];
  const uint32_t slot[2] = {c->a, c->b};
  tl_ccp_contact_arms(job, c, &arm[0], &arm[1]);
  for (int k = 0; k < 2; ++k) {
    body[k] = job->bodies[tl_ccp_solver_body(job, slot[k])];
    if (is_free && takes_part(job, slot[k]) && !job->scope->members) {
      const tl_twist twist = tl_ccp_free_twist(job, slot[k]);
      body[k].v = twist.velocity, body[k].w = twist.spin;
    }
  }
  return -dot_d(c->normal, tl_sub(tl_ccp_point_velocity(&body[1], arm[1]),
                                  tl_ccp_point_velocity(&body[0], arm[0])));
}

/* Rows of an island, and its residual. */
typedef struct approach {
  const tl_ccp *ccp;
  uint32_t first;
  double rms;
} approach;

static bool is_fast(void *context, size_t i) {
  const approach *a = context;
  const uint32_t row = a->ccp->colours.order[a->first + i];
  return !(a->rms > FAR * closing_of(a->ccp, &a->ccp->contacts->data[row], true));
}

/* Whether some row comes so fast that the residual is small beside it: in an impact that is seen
 * from a few rows here and there, else it takes all of them. */
static bool comes_fast(const approach *a, size_t rows) {
  approach all = *a;
  for (size_t i = 0; i < rows; i += STRIDE)
    if (is_fast(&all, i))
      return true;
  return tl_find_first(&a->ccp->model->par, rows, is_fast, &all) != SIZE_MAX;
}

void tl_ccp_note_residual(const tl_ccp *job, uint32_t first, uint32_t end, double rms,
                          tl_solve_report *report) {
  const double h = job->scope->dt, fall = (double)tl_length(job->model->gravity) * h;
  if (!(rms > fall) || first == end)
    return;
  const approach found = {job, first, rms};
  if (comes_fast(&found, end - first))
    return;
  double left = -INFINITY;
  uint32_t worst = 0;
  for (uint32_t row = first; row < end; ++row) {
    const tl_contact *c = &job->contacts->data[job->colours.order[row]];
    const double speed = closing_of(job, c, false) - fmax((double)c->gap, 0) / h;
    if (speed > left) {
      left = speed;
      worst = takes_part(job, c->a) ? c->a : c->b;
    }
  }
  report->unconverged++;
  if (rms <= report->worst_residual)
    return;
  report->worst_residual = rms;
  report->worst = worst;
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

/* Rows of small islands come first, those of parts behind them. */
static void note_islands(tl_ccp *job) {
  uint32_t row = job->small_start ? job->small_start[job->small_count] : 0;
  for (size_t i = 0; i < job->part_count; ++i) {
    const uint32_t end = row + (uint32_t)job->parts[i].row_count;
    tl_ccp_note_residual(job, row, end, job->parts[i].report->residual_rms, job->report);
    row = end;
  }
  for (size_t i = 0; i < job->small_count; ++i)
    if (job->small_rms[i] > 0)
      tl_ccp_note_residual(job, job->small_start[i], job->small_start[i + 1],
                           (double)job->small_rms[i], job->report);
}

talus_status tl_ccp_audit(tl_ccp *job) {
  audit a = {.ccp = job};
  const size_t bodies = job->model->bodies;
  TL_TAKE(job->scope->arena, bodies, &a.entries);
  TL_TAKE(job->scope->arena, bodies, &a.driven);
  memset(a.driven, 0, bodies);
  note_islands(job);
  mark_driven(&a);
  weigh(&a);
  double made;
  job->report->corrected = count_makers(&a, &made);
  if (job->report->corrected == 0)
    return TALUS_OK;
  cut(&a);
  weigh(&a);
  (void)count_makers(&a, &job->report->made_energy);
  return TALUS_OK;
}
