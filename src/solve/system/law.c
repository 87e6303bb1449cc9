/* Laws that change the start of a row but not its visits: static friction and cohesion; and the
 * state that contacts keep for them.
 *
 * Static friction. A contact is pressed (its impulse has a normal part) or not; a pressed one has
 * stuck or slid in the last step. One that stuck has the static coefficient, one that slid the
 * dynamic one. A contact without such a past has the static one if it slides at t0 no faster than
 * |gravity| dt, what one step of free fall would give. It has slid where friction at its limit did
 * not hold it: its points move by more than a hundredth of that speed (of the many points of one
 * body some are at their limit while others hold it). The exception: if it is slower than
 * |gravity| dt and slowed down or reversed in the step, it comes to rest. Without this rule it
 * would depend on the timing of steps whether a block thrown up a slope stops there.
 *
 * Cohesion. A constant pull c along the normal while two bodies touch, so that the normal impulse
 * may be as low as -h c: the cone, shifted. In g' = g + h c n it is the old cone, and the shift is
 * a load on the two bodies: the rows see nothing of it. Friction and the resistances are limited by
 * g'_n, because cohesion presses the surfaces together. Points of one pair of bodies share c, so
 * that it is the force between two bodies however many points they touch in.
 *
 * A bond forms when two bodies touch and ends when all their points are further apart than its
 * reach (tl_bond_reach). A single step in which the pull is overcome does not end it, because the
 * first steps of a rotating pair need up to 1.5 times the force that keeps it rotating. A point is
 * pulled while it touches, or while its bodies are bonded and it is within the reach; breaking a
 * bond takes the work c times the reach. */
#include "crowd/asleep.h"
#include "solve/system/system.h"

#define AT_REST TL_R(0.01) /* part of the slow speed that a solver may leave in bodies at rest */

/* ---- static friction ------------------------------------------------------------------------- */

static talus_real slow_speed(const tl_system *system) {
  return tl_length(system->model->gravity) * (talus_real)system->crowd->dt;
}

static talus_vec3 tangent_of(talus_vec3 v, talus_vec3 n) { return tl_madd(v, -tl_dot(v, n), n); }

talus_real tl_system_friction(const tl_system *system, const tl_contact *c, const tl_pair_law *law,
                              talus_vec3 before) {
  const uint32_t state = system->contacts->law_states.data[c - system->contacts->data].state;
  if (state & TL_CONTACT_STUCK)
    return law->static_friction;
  if (state & TL_CONTACT_SLID)
    return law->friction;
  const talus_real slow = slow_speed(system);
  return tl_length2(tangent_of(before, c->normal)) <= slow * slow ? law->static_friction
                                                                  : law->friction;
}

/* ---- cohesion -------------------------------------------------------------------------------- */

static bool is_bonded(const tl_system *system, size_t i) {
  const tl_contact *c = &system->contacts->data[i];
  return (c->gap <= 0 || ((system->contacts->law_states.data[i].state & TL_CONTACT_BONDED) != 0 &&
                          c->gap <= tl_bond_reach(system->model, c->a, c->b))) &&
         !tl_pair_is_dormant(system->model, system->crowd->in, c->a, c->b);
}

static void pull(const tl_system *system, const tl_contact *c, talus_real impulse) {
  talus_vec3 arm_a, arm_b;
  tl_system_arms(system, c, &arm_a, &arm_b);
  const uint32_t a = tl_system_body(system, c->a), b = tl_system_body(system, c->b);
  const tl_ccp_tensor *tensors = system->tensors;
  const talus_vec3 p = tl_scale(c->normal, impulse);
  if (system->bodies[a].inv_mass > 0)
    tl_ccp_push(&system->bodies[a], tensors ? &tensors[a] : NULL, arm_a, p);
  if (system->bodies[b].inv_mass > 0)
    tl_ccp_push(&system->bodies[b], tensors ? &tensors[b] : NULL, arm_b, tl_neg(p));
}

/* Runs serially and in canonical order, because bodies sum the pulls on them. */
talus_status tl_system_load_pulls(tl_system *system) {
  const tl_contacts *contacts = system->contacts;
  TL_TAKE(system->crowd->arena, contacts->count, &system->pulls);
  for (size_t i = 0, end; i < contacts->count; i = end) {
    const tl_contact *first = &contacts->data[i];
    const talus_real cohesion = tl_law_cohesion(
        system->model, tl_model_law(system->model, first->a, first->b), first->a, first->b);
    int bonds = 0;
    for (end = i; end < contacts->count && contacts->data[end].a == first->a &&
                  contacts->data[end].b == first->b;
         ++end)
      bonds += is_bonded(system, end);
    for (size_t k = i; k < end; ++k) {
      system->pulls[k] = 0;
      if (!(cohesion > 0) || !is_bonded(system, k))
        continue;
      system->pulls[k] = cohesion * (talus_real)system->crowd->dt / (talus_real)bonds;
      pull(system, &contacts->data[k], system->pulls[k]);
    }
  }
  TL_TAKE(system->crowd->arena, system->crowd->count, &system->pulled);
  for (size_t i = 0; i < system->crowd->count; ++i)
    system->pulled[i] = (tl_twist){system->bodies[i].v, system->bodies[i].w};
  return TALUS_OK;
}

/* ---- states of contacts ---------------------------------------------------------------------- */

/* Whether a pressed row stuck or slid, from the solution. */
static uint32_t slip_of(const tl_system *system, const tl_contact *c, talus_real friction,
                        talus_vec3 p, talus_vec3 arm_a, talus_vec3 arm_b) {
  const talus_real pn = tl_dot(p, c->normal);
  const talus_real limit = friction * pn * (1 - TL_R(1e-6));
  if (tl_length2(tl_madd(p, -pn, c->normal)) < limit * limit)
    return TL_CONTACT_STUCK;
  const talus_vec3 before =
      tangent_of(tl_system_velocity_before(system, c, arm_a, arm_b), c->normal);
  /* Uses the system's numbers of bodies, not those in the pack: gradient methods renumber. */
  const tl_ccp_body *a = &system->bodies[tl_system_body(system, c->a)];
  const tl_ccp_body *b = &system->bodies[tl_system_body(system, c->b)];
  const talus_vec3 after = tangent_of(
      tl_sub(tl_ccp_point_velocity(b, arm_b), tl_ccp_point_velocity(a, arm_a)), c->normal);
  const talus_real speed2 = tl_length2(after), slow = slow_speed(system);
  const bool rests = speed2 <= (AT_REST * slow) * (AT_REST * slow);
  const bool stops =
      speed2 <= slow * slow && (tl_dot(before, after) < 0 || speed2 < tl_length2(before));
  return rests || stops ? TL_CONTACT_STUCK : TL_CONTACT_SLID;
}

uint32_t tl_system_contact_state(const tl_system *system, const tl_contact *c, talus_real friction,
                                 talus_vec3 p, talus_vec3 arm_a, talus_vec3 arm_b) {
  uint32_t state = 0;
  const bool is_pressed = tl_dot(p, c->normal) > 0;
  const bool is_pulled = system->pulls && system->pulls[c - system->contacts->data] > 0;
  const tl_pair_law *law = tl_model_law(system->model, c->a, c->b);
  if (is_pressed && law->static_friction > law->friction)
    state |= slip_of(system, c, friction, p, arm_a, arm_b);
  if ((law->cohesion > 0 || law->surface_energy > 0) && (is_pressed || is_pulled))
    state |= TL_CONTACT_BONDED;
  return state;
}
