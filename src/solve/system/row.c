/* Makes the row of one contact from its point, normal and law. */
#include "kernels/bias.h"
#include "solve/system/system.h"

static tl_sym3 response_of(const tl_system *system, uint32_t body, talus_vec3 arm) {
  const tl_ccp_body *b = &system->bodies[body];
  if (b->inv_inertia < 0)
    return tl_point_response(system->tensors[body].inv_mass, system->tensors[body].inv_inertia,
                             arm);
  const tl_sym3 w = tl_sym3_diagonal(tl_vec3(b->inv_inertia, b->inv_inertia, b->inv_inertia));
  return tl_point_response(tl_vec3(b->inv_mass, b->inv_mass, b->inv_mass), w, arm);
}

/* Steps of a row (kernels/cone.h). For an isotropic body the response is (1/m + |r|^2/I) 1 - r
 * r^T/I, whose largest eigenvalue on the tangent plane is the first term where the arm is along the
 * normal, as it is for spheres, and less elsewhere. */
static void find_steps(const tl_system *system, uint32_t a, uint32_t b, tl_ccp_row *row) {
  const tl_ccp_body *x = &system->bodies[a], *y = &system->bodies[b];
  if (x->inv_inertia < 0 || y->inv_inertia < 0) {
    const tl_sym3 response =
        tl_sym3_add(response_of(system, a, row->arm_a), response_of(system, b, row->arm_b));
    tl_step_metric(response, row->normal, &row->en, &row->et);
    if (!(row->et > 0))
      row->et = row->en; /* nothing can move along tangents, so any step will do */
    return;
  }
  const talus_real along_a = tl_dot(row->arm_a, row->normal),
                   along_b = tl_dot(row->arm_b, row->normal);
  const talus_real all = x->inv_mass + y->inv_mass + x->inv_inertia * tl_length2(row->arm_a) +
                         y->inv_inertia * tl_length2(row->arm_b);
  const talus_real normal =
      all - x->inv_inertia * along_a * along_a - y->inv_inertia * along_b * along_b;
  row->en = normal > 0 ? 1 / normal : 0;
  row->et = all > 0 ? 1 / all : 0;
}

/* Velocity of the body's material point at t0, before gravity and impulses. */
static talus_vec3 velocity_before(const tl_system *system, uint32_t slot, uint32_t body,
                                  talus_vec3 arm) {
  if (tl_body_is_static(system->model, slot))
    return tl_ccp_point_velocity(&system->bodies[body], arm);
  const tl_state *in = system->crowd->in;
  return tl_add(in->velocity[slot], tl_cross(in->spin[slot], arm));
}

/* From body a to the image of body b that it touches; planes have no images. */
static talus_dvec3 way_between(const tl_model *model, const tl_state *in, const tl_contact *c) {
  if (model->domain.enabled && tl_body_shape(model, c->a)->bounded &&
      tl_body_shape(model, c->b)->bounded)
    return tl_model_offset(model, in->position[c->a], in->position[c->b]);
  return tl_dsub(in->position[c->b], in->position[c->a]);
}

void tl_system_arms(const tl_system *system, const tl_contact *c, talus_vec3 *a, talus_vec3 *b) {
  const tl_state *in = system->crowd->in;
  *a = tl_between(in->position[c->a], c->point);
  *b = tl_narrow(tl_dsub(tl_dsub(c->point, in->position[c->a]), way_between(system->model, in, c)));
}

talus_vec3 tl_system_velocity_before(const tl_system *system, const tl_contact *c, talus_vec3 arm_a,
                                     talus_vec3 arm_b) {
  return tl_sub(velocity_before(system, c->b, tl_system_body(system, c->b), arm_b),
                velocity_before(system, c->a, tl_system_body(system, c->a), arm_a));
}

tl_ccp_row tl_system_make_row(const tl_system *system, const tl_contact *c, uint32_t a,
                              uint32_t b) {
  const tl_model *model = system->model;
  tl_ccp_row row;
  row.normal = c->normal;
  tl_system_arms(system, c, &row.arm_a, &row.arm_b);
  find_steps(system, a, b, &row);
  const tl_pair_law *law = tl_model_law(model, c->a, c->b);
  const bool is_static = law->static_friction > law->friction;
  row.friction = law->friction;
  if (is_static)
    row.friction = tl_system_friction(system, c, law,
                                      tl_system_velocity_before(system, c, row.arm_a, row.arm_b));
  row.friction = tl_system_limit_friction(system, row.friction);
  row.bias = tl_contact_bias(tl_system_gap_to_close(system, c), (talus_real)system->crowd->dt,
                             system->recovery_speed);
  row.impulse = tl_vec3(0, 0, 0);
  if (system->settings->warm_start && row.en > 0) {
    row.impulse = c->impulse;
    if (system->pulls)
      row.impulse = tl_madd(row.impulse, system->pulls[c - system->contacts->data], c->normal);
    row.impulse = tl_cone_project(row.impulse, c->normal, row.friction);
  }
  return row;
}
