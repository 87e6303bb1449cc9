/* From scope and contacts to solver bodies and rows. */
#include "kernels/bias.h"
#include "crowd/rest.h"
#include "solve/ccp/ccp.h"

/* ---- bodies ---------------------------------------------------------------------------------- */

static talus_vec3 locked_out(talus_vec3 v, uint32_t x, uint32_t y, uint32_t z) {
  return tl_vec3(x ? 0 : v.x, y ? 0 : v.y, z ? 0 : v.z);
}

/* The velocity with which a kinematic body covers exactly the way its motion goes in this step. */
static void load_kinematic(const tl_ccp *job, uint32_t slot, tl_ccp_body *body) {
  const tl_scope *scope = job->scope;
  tl_body_way(job->model, slot, scope->t0, scope->t1, scope->dt, &body->v, &body->w);
}

/* kept: where the tensor goes; or NULL. */
static void load_free(const tl_ccp *job, uint32_t slot, tl_ccp_body *body, tl_ccp_tensor *kept) {
  const tl_model *model = job->model;
  const tl_properties *property = &model->property;
  const uint32_t lock = property->flags[slot] & TL_FLAG_LOCKS;
  const talus_real h = (talus_real)job->scope->dt;
  const talus_vec3 inertia = tl_body_inertia(model, slot);
  tl_ccp_tensor tensor;
  body->inv_mass = 1 / property->mass[slot];
  tensor.inv_mass = tl_vec3(body->inv_mass, body->inv_mass, body->inv_mass);
  if (lock == 0 && tl_body_shape(model, slot)->isotropic) {
    body->inv_inertia = 1 / inertia.x;
    tensor.inv_inertia =
        tl_sym3_diagonal(tl_vec3(body->inv_inertia, body->inv_inertia, body->inv_inertia));
  } else {
    body->inv_inertia = -1;
    tensor.inv_inertia =
        tl_free_inverse_inertia(job->scope->in->rotation[slot], inertia, lock & TALUS_LOCK_RX,
                                lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
    tensor.inv_mass =
        locked_out(tensor.inv_mass, lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
  }
  if (kept)
    *kept = tensor;
  body->v = tl_madd(job->scope->in->velocity[slot], h, model->gravity);
  body->w = job->scope->in->spin[slot];
  if (property->force)
    body->v = tl_madd(body->v, h, tl_mul(tensor.inv_mass, property->force[slot]));
  if (property->torque)
    body->w = tl_madd(body->w, h, tl_sym3_mul_vec(tensor.inv_inertia, property->torque[slot]));
  if (lock) {
    body->v = locked_out(body->v, lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
    body->w = locked_out(body->w, lock & TALUS_LOCK_RX, lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
  }
}

void tl_ccp_load_free(const tl_ccp *job, size_t member, tl_ccp_body *body) {
  load_free(job, tl_scope_slot(job->scope, member), body, NULL);
}

static void load_range(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_scope_slot(job->scope, i);
    const uint32_t flags = job->model->property.flags[slot];
    const uint32_t rank = job->rank ? job->rank[i] : (uint32_t)i;
    tl_ccp_body *body = &job->bodies[rank];
    if ((flags & TL_FLAG_STATIC) || tl_rest_is_asleep(job->scope->in, slot)) {
      memset(body, 0, sizeof *body);
      if (job->tensors)
        memset(&job->tensors[rank], 0, sizeof *job->tensors);
      if (flags & TL_FLAG_KINEMATIC)
        load_kinematic(job, slot, body);
    } else {
      load_free(job, slot, body, job->tensors ? &job->tensors[rank] : NULL);
    }
  }
}

talus_status tl_ccp_load_bodies(tl_ccp *job) {
  const tl_scope *scope = job->scope;
  if (job->survey.tensors)
    TL_TAKE(scope->arena, scope->count + 1, &job->tensors);
  if (job->tensors) /* sweeps load eight at a time, whether they need them or not */
    memset(&job->tensors[scope->count], 0, sizeof *job->tensors);
  memset(&job->bodies[scope->count], 0, sizeof job->bodies[0]);
  tl_for(&job->model->par, scope->count, 1024, load_range, job);
  return TALUS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

uint32_t tl_ccp_solver_body(const tl_ccp *job, uint32_t slot) {
  return job->index_of ? job->index_of[slot] : slot;
}

static tl_sym3 response_of(const tl_ccp *job, uint32_t body, talus_vec3 arm) {
  const tl_ccp_body *b = &job->bodies[body];
  if (b->inv_inertia < 0)
    return tl_point_response(job->tensors[body].inv_mass, job->tensors[body].inv_inertia, arm);
  const tl_sym3 w = tl_sym3_diagonal(tl_vec3(b->inv_inertia, b->inv_inertia, b->inv_inertia));
  return tl_point_response(tl_vec3(b->inv_mass, b->inv_mass, b->inv_mass), w, arm);
}

/* Steps of a row (kernels/cone.h). For a body that answers the same in every direction the response
 * is (1/m + |r|^2/I) 1 - r r^T/I, whose largest eigenvalue on the tangent plane is the first term
 * where the arm is along the normal, as it is for spheres, and less elsewhere. */
static void find_steps(const tl_ccp *job, uint32_t a, uint32_t b, tl_ccp_row *row) {
  const tl_ccp_body *x = &job->bodies[a], *y = &job->bodies[b];
  if (x->inv_inertia < 0 || y->inv_inertia < 0) {
    const tl_sym3 response =
        tl_sym3_add(response_of(job, a, row->arm_a), response_of(job, b, row->arm_b));
    tl_step_metric(response, row->normal, &row->en, &row->et);
    if (!(row->et > 0))
      row->et = row->en; /* tangents that nothing can move along: any step will do */
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
static talus_vec3 velocity_before(const tl_ccp *job, uint32_t slot, uint32_t body, talus_vec3 arm) {
  if (tl_body_is_static(job->model, slot))
    return tl_ccp_point_velocity(&job->bodies[body], arm);
  const tl_state *in = job->scope->in;
  return tl_add(in->velocity[slot], tl_cross(in->spin[slot], arm));
}

/* From body a to the image of body b that it touches; planes have no images. */
static talus_dvec3 way_between(const tl_model *model, const tl_state *in, const tl_contact *c) {
  if (model->domain.enabled && tl_body_shape(model, c->a)->bounded &&
      tl_body_shape(model, c->b)->bounded)
    return tl_model_offset(model, in->position[c->a], in->position[c->b]);
  return tl_dsub(in->position[c->b], in->position[c->a]);
}

static inline void find_arms(const tl_ccp *job, const tl_contact *c, talus_vec3 *a, talus_vec3 *b) {
  const tl_state *in = job->scope->in;
  *a = tl_between(in->position[c->a], c->point);
  *b = tl_narrow(tl_dsub(tl_dsub(c->point, in->position[c->a]), way_between(job->model, in, c)));
}

void tl_ccp_contact_arms(const tl_ccp *job, const tl_contact *c, talus_vec3 *a, talus_vec3 *b) {
  find_arms(job, c, a, b);
}

talus_vec3 tl_ccp_velocity_before(const tl_ccp *job, const tl_contact *c, talus_vec3 arm_a,
                                  talus_vec3 arm_b) {
  return tl_sub(velocity_before(job, c->b, tl_ccp_solver_body(job, c->b), arm_b),
                velocity_before(job, c->a, tl_ccp_solver_body(job, c->a), arm_a));
}

/* Friction as the projection sees it has a limit, beyond which its square is no number and friction
 * would hold nothing. Coulomb's law has no square. */
static talus_real limit_friction(const tl_ccp *job, talus_real friction) {
  return job->ncp > 0 ? friction : tl_min(friction, TL_R(1e6));
}

/* The gap that velocities may close: as impacts left it, where there were any. Overlap is no matter
 * of velocities: what would push bodies apart would stay with them (solve/ccp/correct.c). */
static talus_real gap_to_close(const tl_ccp *job, const tl_contact *c) {
  return tl_max(tl_ccp_gap_of(job, c), 0);
}

tl_ccp_row tl_ccp_make_row(const tl_ccp *job, const tl_contact *c, uint32_t a, uint32_t b) {
  const tl_model *model = job->model;
  tl_ccp_row row;
  row.normal = c->normal;
  find_arms(job, c, &row.arm_a, &row.arm_b);
  find_steps(job, a, b, &row);
  const tl_pair_law *law = tl_model_law(model, c->a, c->b);
  const bool is_static = law->static_friction > law->friction;
  row.friction = law->friction;
  if (is_static)
    row.friction =
        tl_ccp_friction(job, c, law, tl_ccp_velocity_before(job, c, row.arm_a, row.arm_b));
  row.friction = limit_friction(job, row.friction);
  row.bias = tl_contact_bias(gap_to_close(job, c), (talus_real)job->scope->dt, job->recovery_speed);
  row.impulse = tl_vec3(0, 0, 0);
  if (job->settings->warm_start && row.en > 0) {
    row.impulse = c->impulse;
    if (job->pulls)
      row.impulse = tl_madd(row.impulse, job->pulls[c - job->contacts->data], c->normal);
    row.impulse = tl_cone_project(row.impulse, c->normal, row.friction);
  }
  return row;
}

static void put_vector(tl_ccp_lanes *lanes, int lane, talus_vec3 v) {
  lanes->x[lane] = v.x;
  lanes->y[lane] = v.y;
  lanes->z[lane] = v.z;
}

static void put_row(tl_ccp_pack *pack, int lane, const tl_ccp_row *row) {
  put_vector(&pack->normal, lane, row->normal);
  pack->reach_a[lane] = tl_dot(row->arm_a, row->normal);
  pack->reach_b[lane] = tl_dot(row->arm_b, row->normal);
  put_vector(&pack->impulse, lane, row->impulse);
  pack->bias[lane] = row->bias;
  pack->friction[lane] = row->friction;
  pack->en[lane] = row->en;
  pack->et[lane] = row->et;
}

/* Contacts of a pack are far apart in memory, and so are their bodies: both are asked for early. */
static void prefetch_contacts(const tl_ccp *job, size_t pack) {
  if (pack >= job->pack_count)
    return;
  for (uint32_t row = job->pack_row[pack]; row < job->pack_row[pack + 1]; ++row) {
    const tl_contact *c = &job->contacts->data[job->colours.order[row]];
    __builtin_prefetch(c);
    __builtin_prefetch(&c->impulse.z);
  }
}

static void prefetch_bodies(const tl_ccp *job, size_t pack) {
  if (pack >= job->pack_count)
    return;
  for (uint32_t row = job->pack_row[pack]; row < job->pack_row[pack + 1]; ++row) {
    const tl_contact *c = &job->contacts->data[job->colours.order[row]];
    __builtin_prefetch(&job->scope->in->position[c->a]);
    __builtin_prefetch(&job->scope->in->position[c->b]);
    __builtin_prefetch(&job->bodies[tl_ccp_solver_body(job, c->a)].inv_mass);
    __builtin_prefetch(&job->bodies[tl_ccp_solver_body(job, c->b)].inv_mass);
  }
}

void tl_ccp_fill_packs(const tl_ccp *job, size_t begin, size_t end) {
  const uint32_t nobody = (uint32_t)job->scope->count;
  for (size_t i = begin; i < end; ++i) {
    tl_ccp_pack *pack = &job->packs[i];
    const uint32_t first = job->pack_row[i], count = job->pack_row[i + 1] - first;
    prefetch_contacts(job, i + 2);
    prefetch_bodies(job, i + 1);
    memset(pack, 0, sizeof *pack);
    if (job->arms)
      memset(&job->arms[i], 0, sizeof job->arms[i]);
    for (uint32_t lane = 0; lane < TL_CCP_LANES; ++lane) {
      pack->a[lane] = pack->b[lane] = nobody;
      job->row_gaps[i * TL_CCP_LANES + lane] = 0;
      if (lane >= count)
        continue;
      const tl_contact *c = &job->contacts->data[job->colours.order[first + lane]];
      pack->a[lane] = tl_ccp_solver_body(job, c->a);
      pack->b[lane] = tl_ccp_solver_body(job, c->b);
      const tl_ccp_row row = tl_ccp_make_row(job, c, pack->a[lane], pack->b[lane]);
      job->row_gaps[i * TL_CCP_LANES + lane] = tl_ccp_gap_of(job, c);
      put_row(pack, (int)lane, &row);
      if (job->arms) {
        put_vector(&job->arms[i].a, (int)lane, row.arm_a);
        put_vector(&job->arms[i].b, (int)lane, row.arm_b);
      }
    }
  }
}

/* ---- eight rows at a time -------------------------------------------------------------------- */

/* Packs that are gathered before any is finished: so that what was written lane by lane has reached
 * the cache when it is read as vectors. */
#define TOGETHER 4

static void gather_lane(const tl_ccp *job, const tl_contact *c, tl_ccp_pack *pack, uint32_t i,
                        tl_ccp_raw *raw) {
  const talus_dvec3 *position = job->scope->in->position;
  const uint32_t a = tl_ccp_solver_body(job, c->a), b = tl_ccp_solver_body(job, c->b);
  const talus_dvec3 to_point = tl_dsub(c->point, position[c->a]);
  const talus_vec3 arm_a = tl_narrow(to_point);
  const talus_vec3 arm_b = tl_narrow(tl_dsub(to_point, tl_dsub(position[c->b], position[c->a])));
  const tl_pair_law *law = tl_model_law(job->model, c->a, c->b);
  pack->a[i] = a;
  pack->b[i] = b;
  put_vector(&pack->normal, (int)i, c->normal);
  put_vector(&pack->impulse, (int)i, c->impulse);
  pack->friction[i] = limit_friction(job, law->friction);
  put_vector(&raw->arm_a, (int)i, arm_a);
  put_vector(&raw->arm_b, (int)i, arm_b);
  raw->inv_mass_a[i] = job->bodies[a].inv_mass;
  raw->inv_mass_b[i] = job->bodies[b].inv_mass;
  raw->inv_inertia_a[i] = job->bodies[a].inv_inertia;
  raw->inv_inertia_b[i] = job->bodies[b].inv_inertia;
  raw->gap[i] = gap_to_close(job, c);
  if (law->static_friction > law->friction) {
    const talus_vec3 before = tl_ccp_velocity_before(job, c, arm_a, arm_b);
    pack->friction[i] = limit_friction(job, tl_ccp_friction(job, c, law, before));
  }
}

static void gather_pack(const tl_ccp *job, size_t k, tl_ccp_raw *raw) {
  tl_ccp_pack *pack = &job->packs[k];
  const uint32_t nobody = (uint32_t)job->scope->count;
  const uint32_t first = job->pack_row[k], count = job->pack_row[k + 1] - first;
  prefetch_contacts(job, k + 8);
  prefetch_bodies(job, k + 4);
  if (count < TL_CCP_LANES) {
    memset(pack, 0, sizeof *pack);
    memset(raw, 0, sizeof *raw);
    for (uint32_t lane = count; lane < TL_CCP_LANES; ++lane) {
      pack->a[lane] = pack->b[lane] = nobody;
      job->row_gaps[k * TL_CCP_LANES + lane] = 0;
    }
  }
  for (uint32_t lane = 0; lane < count; ++lane) {
    const tl_contact *c = &job->contacts->data[job->colours.order[first + lane]];
    gather_lane(job, c, pack, lane, raw);
    job->row_gaps[k * TL_CCP_LANES + lane] = tl_ccp_gap_of(job, c);
  }
  if (job->arms)
    job->arms[k] = (tl_ccp_arms){raw->arm_a, raw->arm_b};
}

void tl_ccp_fill_packs_fast(const tl_ccp *job, size_t begin, size_t end) {
  tl_ccp_raw raws[TOGETHER];
  for (size_t k = begin; k < end; k += TOGETHER) {
    const size_t count = end - k < TOGETHER ? end - k : TOGETHER;
    for (size_t i = 0; i < count; ++i)
      gather_pack(job, k + i, &raws[i]);
    tl_ccp_finish_packs_avx512(job, raws, &job->packs[k], count);
  }
}

static void make_packs(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  if (!job->tensors && !job->pulls && !job->model->domain.enabled && tl_ccp_has_avx512())
    tl_ccp_fill_packs_fast(job, begin, end);
  else
    tl_ccp_fill_packs(job, begin, end);
}

talus_status tl_ccp_load_rows(tl_ccp *job) {
  if (job->model->law_kinds & TL_LAW_COHESION)
    TL_TRY(tl_ccp_load_pulls(job));
  TL_TAKE(job->scope->arena, job->pack_count, &job->packs);
  TL_TAKE(job->scope->arena, job->pack_count * TL_CCP_LANES, &job->row_gaps);
  if (job->survey.arms)
    TL_TAKE(job->scope->arena, job->pack_count, &job->arms);
  if (job->model->law_kinds & TL_LAW_ROLLING)
    TL_TAKE(job->scope->arena, job->pack_count, &job->rolls);
  for (size_t i = 0; i < job->part_count; ++i) {
    tl_ccp *part = &job->parts[i];
    part->tensors = job->tensors; /* bodies may have been loaded after the plan */
    part->packs = job->packs + part->first_pack;
    part->arms = job->arms ? job->arms + part->first_pack : NULL;
    part->rolls = job->rolls ? job->rolls + part->first_pack : NULL;
  }
  tl_for(&job->model->par, job->pack_count, 64, make_packs, job);
  if (job->rolls)
    tl_ccp_load_rolls(job);
  return TALUS_OK;
}
