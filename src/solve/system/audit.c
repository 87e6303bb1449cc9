/* The energy ledger, checked after the solve, island by island.
 *
 * With p the impulses of contacts, u_f their relative velocities with loads alone and u_1 those of
 * the solution, contacts do the work sum p.(u_f + u_1)/2 on the bodies, in the frame of the walls.
 * It must not be positive. Sweeps with `friction: ccp` ensure this (solve/ccp/seidel.c), but
 * nothing proves it for Coulomb's law, momentum and gradient methods. So the work is measured, and
 * impulses that would create energy are scaled by the factor s that removes the most: with
 * A = sum p.u_f and B = p.N p the work is s A + s^2 B/2. In terms of bodies, without a product,
 * A + B/2 = (v_f + v_1)/2 . M (v_1 - v_f), less the work of moving walls. Islands with joints are
 * left out, because motors and springs may add energy. */
#include "contact/ride.h"
#include "crowd/asleep.h"
#include "solve/system/links.h"

/* part of B that is rounding, not energy */
#define ROUNDING (sizeof(talus_real) == 4 ? 1e-4 : 1e-9)

typedef struct audit {
  tl_system *system;
  const tl_links *links;
  tl_ledger_entry *entries; /* by slot; after add_up: at labels, by island */
  uint8_t *driven;          /* by slot: its island has joints */
} audit;

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

static uint32_t label_of(const tl_system *system, uint32_t slot) {
  return system->label ? system->label[slot] : 0;
}

static uint32_t label_of_contact(const tl_system *system, const tl_contact *c) {
  return label_of(system, tl_body_is_static(system->model, c->a) ? c->b : c->a);
}

/* Sums by island. A label is the lowest slot of its island, so each entry is read before it is
 * overwritten. */
static void add_up(const audit *a) {
  const tl_system *system = a->system;
  for (size_t i = 0; i < system->crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(system->crowd, i), label = label_of(system, slot);
    if (label == slot || !tl_system_takes_part(system, slot))
      continue;
    tl_ledger_entry *to = &a->entries[label], *from = &a->entries[slot];
    to->work += from->work;
    to->norm += from->norm;
    to->had += from->had;
  }
}

/* The impulse of a contact without its cohesion, which is a load. */
static talus_vec3 push_of(const tl_system *system, size_t i) {
  const tl_contact *c = &system->contacts->data[i];
  return system->pulls ? tl_madd(c->impulse, system->pulls[i], c->normal) : c->impulse;
}

static double wall_work(const tl_system *system, size_t i, uint32_t wall, talus_vec3 arm,
                        double sign) {
  const tl_ccp_body *body = &system->bodies[tl_system_body(system, wall)];
  double work = dot_d(push_of(system, i), tl_ccp_point_velocity(body, arm));
  if (tl_contacts_have_law_states(system->contacts))
    work += dot_d(system->contacts->law_states.data[i].torque, body->w);
  return sign * work;
}

/* Subtracts the work of moving walls: p on b, -p on a. */
static void take_walls(const audit *a) {
  const tl_system *system = a->system;
  const tl_model *model = system->model;
  if (!system->summary.moving_walls)
    return;
  tl_ride_settle(system->crowd->ride);
  for (size_t i = 0; i < system->contacts->count; ++i) {
    const tl_contact *c = &system->contacts->data[i];
    const bool of_a = (model->property.flags[c->a] & TL_FLAG_KINEMATIC) != 0;
    const bool of_b = (model->property.flags[c->b] & TL_FLAG_KINEMATIC) != 0;
    if (of_a == of_b || !tl_system_takes_part(system, of_a ? c->b : c->a))
      continue;
    talus_vec3 arm_a, arm_b;
    tl_system_arms(system, c, &arm_a, &arm_b);
    a->entries[label_of_contact(system, c)].work -=
        of_a ? wall_work(system, i, c->a, arm_a, 1) : wall_work(system, i, c->b, arm_b, -1);
  }
}

static void mark_driven(const audit *a) {
  const tl_system *system = a->system;
  for (size_t i = 0; i < a->links->count; ++i) {
    const tl_joint *joint = &system->crowd->joints->all.data[a->links->data[i].joint];
    const bool of_a = joint->a != TL_NONE && tl_system_takes_part(system, joint->a);
    a->driven[label_of(system, of_a ? joint->a : joint->b)] = 1;
  }
}

static bool makes_energy(const audit *a, uint32_t label) {
  const tl_ledger_entry *e = &a->entries[label];
  const double rounding = ROUNDING * e->norm + 100 * (double)TL_REAL_EPS * e->had;
  return !a->driven[label] && e->work > rounding;
}

static talus_real share_of(const audit *a, uint32_t label) {
  const double b = a->entries[label].norm, slope = a->entries[label].work - 0.5 * b;
  return slope < 0 ? (talus_real)(-slope / b) : 0;
}

/* Reduces the impulses of islands that make energy, and their effect on bodies. */
static void cut(const audit *a) {
  tl_system *system = a->system;
  for (size_t i = 0; i < system->crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(system->crowd, i), label = label_of(system, slot);
    if (!tl_system_takes_part(system, slot) || !makes_energy(a, label))
      continue;
    const talus_real s = share_of(a, label);
    tl_ccp_body *body = &system->bodies[tl_system_member(system, i)];
    const tl_twist from = tl_system_start_twist(system, i);
    body->v = tl_madd(from.velocity, s, tl_sub(body->v, from.velocity));
    body->w = tl_madd(from.spin, s, tl_sub(body->w, from.spin));
  }
  for (size_t i = 0; i < system->contacts->count; ++i) {
    tl_contact *c = &system->contacts->data[i];
    const uint32_t label = label_of_contact(system, c);
    if (!makes_energy(a, label) || tl_pair_is_dormant(system->model, system->crowd->in, c->a, c->b))
      continue;
    const talus_real s = share_of(a, label);
    c->impulse = tl_scale(push_of(system, i), s);
    if (system->pulls)
      c->impulse = tl_madd(c->impulse, -system->pulls[i], c->normal);
    if (tl_contacts_have_law_states(system->contacts))
      system->contacts->law_states.data[i].torque =
          tl_scale(system->contacts->law_states.data[i].torque, s);
  }
}

static void weigh(audit *a, tl_tally *objective) {
  tl_system_find_energy(a->system, a->links, a->entries, objective);
  add_up(a);
  take_walls(a);
}

/* Number of islands that make energy, and the energy. */
static int count_makers(const audit *a, double *made) {
  const tl_system *system = a->system;
  int makers = 0;
  tl_tally sum;
  tl_tally_clear(&sum);
  for (size_t i = 0; i < system->crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(system->crowd, i);
    if (label_of(system, slot) != slot || !makes_energy(a, slot))
      continue;
    tl_tally_add(&sum, a->entries[slot].work);
    makers++;
  }
  *made = tl_tally_value(&sum);
  return makers;
}

/* ---- the whole audit ------------------------------------------------------------------------- */

static void look(audit *a, tl_tally *objective) {
  tl_solve_report *report = a->system->report;
  double made;
  mark_driven(a);
  weigh(a, objective);
  report->corrected = count_makers(a, &made);
  if (report->corrected == 0)
    return;
  cut(a);
  weigh(a, objective);
  (void)count_makers(a, &report->made_energy);
}

talus_status tl_system_audit(tl_system *system, const tl_links *links, tl_tally *objective) {
  audit a = {.system = system, .links = links};
  const size_t bodies = system->model->bodies;
  const tl_arena_mark mark = tl_arena_get_mark(system->crowd->arena);
  TL_TRY(tl_system_take(system, bodies, sizeof *a.entries, (void **)&a.entries));
  TL_TAKE(system->crowd->arena, bodies, &a.driven);
  memset(a.driven, 0, bodies);
  look(&a, objective);
  tl_arena_release(system->crowd->arena, mark);
  return TALUS_OK;
}
