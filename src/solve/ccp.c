/* Cone complementarity by projected Gauss-Seidel (Tasora and Anitescu 2011; SOURCES C1-C3).
 *
 *   bodies   velocities at t0 plus gravity and loads over the step: the "free" velocity
 *   rows     one per contact, in the order they are solved: by colour, then canonical
 *   sweeps   each row is visited in turn; bodies carry the effect of every impulse so far
 *   residual after the last sweep, of the velocities that are handed over, honest and in m/s
 *
 * Rows of one colour share no movable body, so threads may take any of them: the bits are the same
 * for any number of threads. Sums run over fixed blocks of rows, added in block order. */
#include "kernels/ccp.h"
#include "kernels/bias.h"
#include "kernels/motion.h"
#include "solve/solve.h"

#define BLOCK_ROWS 256

/* Fewer rows than this are not worth the barriers between colours. */
#define TEAM_ROWS 4096

typedef struct ccp {
  const tl_model *model;
  const tl_scope *scope;
  const talus_solve_def *settings;
  tl_contacts *contacts;
  const uint32_t *index_of; /* slot -> solver body; NULL: the same number */
  tl_ccp_body *bodies;
  tl_ccp_tensor *tensors; /* NULL: every body is isotropic */
  tl_ccp_row *rows;
  size_t row_count;
  tl_colours colours;
  uint32_t *block_start;         /* rows of block k: block_start[k] ... block_start[k + 1] */
  uint32_t colour_block[66];     /* first block of each colour */
  double *block_sum, *block_max; /* two halves: the sweep in progress and the one before */
  talus_real bounce_speed;
  int ncp;
  talus_vec3 *velocity, *spin;
  tl_solve_report *report;
} ccp;

static uint32_t solver_body(const ccp *job, uint32_t slot) {
  return job->index_of ? job->index_of[slot] : slot;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* World-frame inverse inertia restricted to the rotations that are not locked: with E the free
 * axes, W = E (E^T J E)^-1 E^T. Locked rows and columns become those of the identity, then zero. */
static tl_sym3 free_inverse_inertia(talus_quat q, talus_vec3 inertia, uint32_t lock) {
  tl_sym3 j = tl_sym3_rotated(q, inertia), w = {0, 0, 0, 0, 0, 0};
  const bool lx = lock & TALUS_LOCK_RX, ly = lock & TALUS_LOCK_RY, lz = lock & TALUS_LOCK_RZ;
  if (lx)
    j.xx = 1, j.xy = 0, j.xz = 0;
  if (ly)
    j.yy = 1, j.xy = 0, j.yz = 0;
  if (lz)
    j.zz = 1, j.xz = 0, j.yz = 0;
  if (!tl_sym3_inverse(j, &w))
    return w;
  if (lx)
    w.xx = 0;
  if (ly)
    w.yy = 0;
  if (lz)
    w.zz = 0;
  return w;
}

static talus_vec3 locked_out(talus_vec3 v, uint32_t x, uint32_t y, uint32_t z) {
  return tl_vec3(x ? 0 : v.x, y ? 0 : v.y, z ? 0 : v.z);
}

/* The velocity with which a kinematic body covers exactly the way its motion goes in this step. */
static void load_kinematic(const ccp *job, uint32_t slot, tl_ccp_body *body) {
  const tl_motion *m = &job->model->motions.data[job->model->property.motion[slot]];
  const tl_scope *scope = job->scope;
  const talus_dvec3 from = tl_motion_position(m->position, &m->motion, scope->t0);
  const talus_dvec3 to = tl_motion_position(m->position, &m->motion, scope->t1);
  body->v = tl_scale(tl_between(from, to), (talus_real)(1 / scope->dt));
  body->w = m->motion.spin;
}

static void load_free(const ccp *job, size_t i, uint32_t slot, tl_ccp_body *body) {
  const tl_model *model = job->model;
  const tl_properties *property = &model->property;
  const tl_shape *shape = tl_body_shape(model, slot);
  const uint32_t lock = property->flags[slot] & TL_FLAG_LOCKS;
  const talus_real h = (talus_real)job->scope->dt;
  const talus_vec3 inertia = tl_body_inertia(model, slot);
  tl_ccp_tensor tensor;
  body->inv_mass = 1 / property->mass[slot];
  if (lock == 0 && shape->isotropic) {
    body->inv_inertia = 1 / inertia.x;
    tensor.inv_inertia =
        (tl_sym3){body->inv_inertia, body->inv_inertia, body->inv_inertia, 0, 0, 0};
    tensor.inv_mass = tl_vec3(body->inv_mass, body->inv_mass, body->inv_mass);
  } else {
    body->inv_inertia = -1;
    tensor.inv_inertia = free_inverse_inertia(job->scope->in->rotation[slot], inertia, lock);
    tensor.inv_mass = locked_out(tl_vec3(body->inv_mass, body->inv_mass, body->inv_mass),
                                 lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
    job->tensors[i] = tensor;
  }
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

static void load_bodies(void *context, size_t begin, size_t end) {
  const ccp *job = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_scope_slot(job->scope, i);
    const uint32_t flags = job->model->property.flags[slot];
    tl_ccp_body *body = &job->bodies[i];
    if (flags & TL_FLAG_STATIC) {
      memset(body, 0, sizeof *body);
      if (flags & TL_FLAG_KINEMATIC)
        load_kinematic(job, slot, body);
    } else {
      load_free(job, i, slot, body);
    }
  }
}

static bool needs_tensors(const tl_model *model, const tl_scope *scope) {
  for (size_t i = 0; i < scope->count; ++i) {
    const uint32_t slot = tl_scope_slot(scope, i), flags = model->property.flags[slot];
    if (!(flags & TL_FLAG_STATIC) &&
        ((flags & TL_FLAG_LOCKS) || !tl_body_shape(model, slot)->isotropic))
      return true;
  }
  return false;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static tl_sym3 response_of(const ccp *job, uint32_t body, talus_vec3 arm) {
  const tl_ccp_body *b = &job->bodies[body];
  if (b->inv_inertia < 0)
    return tl_point_response(job->tensors[body].inv_mass, job->tensors[body].inv_inertia, arm);
  const tl_sym3 w = {b->inv_inertia, b->inv_inertia, b->inv_inertia, 0, 0, 0};
  return tl_point_response(tl_vec3(b->inv_mass, b->inv_mass, b->inv_mass), w, arm);
}

/* Velocity of the body's material point at t0, before gravity and impulses: what restitution sees.
 */
static talus_vec3 velocity_before(const ccp *job, uint32_t slot, uint32_t body, talus_vec3 arm) {
  if (tl_body_is_static(job->model, slot))
    return tl_ccp_point_velocity(&job->bodies[body], arm);
  const tl_state *in = job->scope->in;
  return tl_add(in->velocity[slot], tl_cross(in->spin[slot], arm));
}

static void make_row(const ccp *job, const tl_contact *c, tl_ccp_row *row) {
  const tl_model *model = job->model;
  const tl_state *in = job->scope->in;
  row->a = solver_body(job, c->a);
  row->b = solver_body(job, c->b);
  row->normal = c->normal;
  row->arm_a = tl_between(in->position[c->a], c->point);
  row->arm_b = tl_narrow(tl_model_offset(model, in->position[c->b], c->point));

  const tl_sym3 response =
      tl_sym3_add(response_of(job, row->a, row->arm_a), response_of(job, row->b, row->arm_b));
  tl_step_metric(response, row->normal, &row->en, &row->et);

  const size_t materials = model->materials.count;
  const tl_pair_law *law =
      &model->laws
           .data[model->property.material[c->a] * materials + model->property.material[c->b]];
  row->friction = law->friction;
  const talus_vec3 before = tl_sub(velocity_before(job, c->b, row->b, row->arm_b),
                                   velocity_before(job, c->a, row->a, row->arm_a));
  row->bias = tl_contact_bias(c->gap, (talus_real)job->scope->dt, tl_dot(before, c->normal),
                              law->restitution, (talus_real)job->settings->recovery_speed,
                              job->bounce_speed);
  row->impulse = tl_vec3(0, 0, 0);
  if (job->settings->warm_start && row->en > 0)
    row->impulse = tl_cone_project(c->impulse, c->normal, row->friction);
}

static void make_rows(void *context, size_t begin, size_t end) {
  const ccp *job = context;
  for (size_t i = begin; i < end; ++i)
    make_row(job, &job->contacts->data[job->colours.order[i]], &job->rows[i]);
}

/* Cuts each colour into blocks of about BLOCK_ROWS rows that do not cut a bundle. A serial colour
 * is one block. */
static talus_status cut_blocks(ccp *job, size_t *blocks) {
  size_t most = (size_t)job->colours.count;
  most += job->row_count / BLOCK_ROWS;
  TL_TAKE(job->scope->arena, most + 1, &job->block_start);
  size_t n = 0;
  for (int k = 0; k < job->colours.count; ++k) {
    job->colour_block[k] = (uint32_t)n;
    const uint32_t end = job->colours.start[k + 1];
    const bool serial = job->colours.last_is_serial && k == job->colours.count - 1;
    uint32_t at = job->colours.start[k];
    while (at < end) {
      job->block_start[n++] = at;
      uint32_t next = serial || end - at <= BLOCK_ROWS ? end : at + BLOCK_ROWS;
      while (next < end && job->rows[next].a == job->rows[next - 1].a &&
             job->rows[next].b == job->rows[next - 1].b)
        next++;
      at = next;
    }
  }
  job->colour_block[job->colours.count] = (uint32_t)n;
  job->block_start[n] = (uint32_t)job->row_count;
  TL_ASSERT(n <= most);
  *blocks = n;
  return TALUS_OK;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static void push_both(const ccp *job, const tl_ccp_row *row, talus_vec3 p) {
  tl_ccp_body *a = &job->bodies[row->a], *b = &job->bodies[row->b];
  const tl_ccp_tensor *tensors = job->tensors;
  if (a->inv_mass > 0)
    tl_ccp_push(a, tensors ? &tensors[row->a] : NULL, row->arm_a, tl_neg(p));
  if (b->inv_mass > 0)
    tl_ccp_push(b, tensors ? &tensors[row->b] : NULL, row->arm_b, p);
}

static void warm_block(const ccp *job, uint32_t block) {
  for (uint32_t i = job->block_start[block]; i < job->block_start[block + 1]; ++i)
    push_both(job, &job->rows[i], job->rows[i].impulse);
}

/* One visit of every row of a block; returns the sum of squared changes in velocity units. */
static double sweep_block(const ccp *job, uint32_t block) {
  double sum = 0;
  for (uint32_t i = job->block_start[block]; i < job->block_start[block + 1]; ++i) {
    tl_ccp_row *row = &job->rows[i];
    const talus_vec3 d = tl_ccp_gradient(row, &job->bodies[row->a], &job->bodies[row->b], job->ncp);
    const talus_vec3 p = tl_ccp_project(row, row->impulse, d);
    const talus_vec3 change = tl_sub(p, row->impulse);
    const talus_real size = tl_length2(change);
    if (size == 0)
      continue;
    row->impulse = p;
    push_both(job, row, change);
    sum += (double)(size / (row->en * (row->et > 0 ? row->et : row->en)));
  }
  return sum;
}

static void residual_block(const ccp *job, uint32_t block) {
  double sum = 0, most = 0;
  for (uint32_t i = job->block_start[block]; i < job->block_start[block + 1]; ++i) {
    const tl_ccp_row *row = &job->rows[i];
    const talus_vec3 d = tl_ccp_gradient(row, &job->bodies[row->a], &job->bodies[row->b], job->ncp);
    const double r = (double)tl_ccp_residual(row, d);
    sum += r * r;
    most = r > most ? r : most;
  }
  job->block_sum[block] = sum;
  job->block_max[block] = most;
}

typedef enum visit { WARM, SWEEP } visit;

/* All colours in order; each worker takes its share of the blocks of a colour. */
static void visit_colours(const ccp *job, tl_team *team, int worker, int workers, visit what,
                          double *sums) {
  for (int k = 0; k < job->colours.count; ++k) {
    const size_t first = job->colour_block[k], n = job->colour_block[k + 1] - first;
    const size_t begin = first + n * (size_t)worker / (size_t)workers;
    const size_t end = first + n * (size_t)(worker + 1) / (size_t)workers;
    for (size_t block = begin; block < end; ++block) {
      if (what == WARM)
        warm_block(job, (uint32_t)block);
      else
        sums[block] = sweep_block(job, (uint32_t)block);
    }
    tl_team_barrier(team);
  }
}

static double add_blocks(const double *values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum += values[i];
  return sum;
}

/* The residual of the velocities as they stand; every worker gets the same RMS. */
static double measure(const ccp *job, tl_team *team, int worker, int workers) {
  const size_t blocks = job->colour_block[job->colours.count];
  for (size_t block = blocks * (size_t)worker / (size_t)workers;
       block < blocks * (size_t)(worker + 1) / (size_t)workers; ++block)
    residual_block(job, (uint32_t)block);
  tl_team_barrier(team);
  const double rms = sqrt(add_blocks(job->block_sum, blocks) / (double)job->row_count);
  tl_team_barrier(team);
  return rms;
}

/* Runs on every worker at once. All workers take the same decisions, because they add the same
 * block sums in the same order; two sets of sums alternate, so that none is overwritten while it is
 * read. */
static void iterate(void *context, tl_team *team, int worker, int workers) {
  const ccp *job = context;
  const size_t blocks = job->colour_block[job->colours.count];
  const double tolerance = job->settings->tolerance;
  double *sums[2] = {job->block_sum + blocks, job->block_sum + 2 * blocks};
  if (job->settings->warm_start)
    visit_colours(job, team, worker, workers, WARM, NULL);
  int done = 0;
  double rms = -1;
  while (done < job->settings->iterations) {
    visit_colours(job, team, worker, workers, SWEEP, sums[done & 1]);
    rms = -1;
    const double change = sqrt(add_blocks(sums[done & 1], blocks) / (double)job->row_count);
    done++;
    if (tolerance > 0 && change < tolerance) {
      rms = measure(job, team, worker, workers);
      if (rms < tolerance)
        break;
    }
  }
  if (rms < 0)
    rms = measure(job, team, worker, workers);
  if (worker == 0) {
    job->report->iterations = done;
    job->report->residual_rms = rms;
    for (size_t i = 0; i < blocks; ++i)
      if (job->block_max[i] > job->report->residual_max)
        job->report->residual_max = job->block_max[i];
  }
}

/* ---- results --------------------------------------------------------------------------------- */

static void store_impulses(void *context, size_t begin, size_t end) {
  const ccp *job = context;
  for (size_t i = begin; i < end; ++i)
    job->contacts->data[job->colours.order[i]].impulse = job->rows[i].impulse;
}

static void store_velocities(void *context, size_t begin, size_t end) {
  const ccp *job = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_scope_slot(job->scope, i);
    if (tl_body_is_static(job->model, slot))
      continue;
    job->velocity[slot] = job->bodies[i].v;
    job->spin[slot] = job->bodies[i].w;
  }
}

static talus_status number_bodies(ccp *job) {
  if (!job->scope->members)
    return TALUS_OK;
  uint32_t *index_of;
  TL_TAKE(job->scope->arena, job->model->bodies, &index_of);
  for (size_t i = 0; i < job->scope->count; ++i)
    index_of[job->scope->members[i]] = (uint32_t)i;
  job->index_of = index_of;
  return TALUS_OK;
}

static talus_status solve_rows(ccp *job) {
  tl_arena *arena = job->scope->arena;
  job->row_count = job->contacts->count;
  TL_TRY(tl_contact_colour(job->model, job->scope, job->contacts, &job->colours));
  TL_TAKE(arena, job->row_count, &job->rows);
  tl_for(&job->model->par, job->row_count, 512, make_rows, job);
  size_t blocks;
  TL_TRY(cut_blocks(job, &blocks));
  TL_TAKE(arena, 3 * blocks, &job->block_sum);
  TL_TAKE(arena, blocks, &job->block_max);
  const tl_par alone = {1};
  tl_team_run(job->row_count >= TEAM_ROWS ? &job->model->par : &alone, iterate, job);
  tl_for(&job->model->par, job->row_count, 1024, store_impulses, job);
  return TALUS_OK;
}

talus_status tl_ccp_solve(const tl_model *model, const tl_scope *scope, tl_contacts *contacts,
                          talus_vec3 *velocity, talus_vec3 *spin, tl_solve_report *report) {
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  *report = (tl_solve_report){0};
  ccp job = {.model = model,
             .scope = scope,
             .settings = &model->solve,
             .contacts = contacts,
             .ncp = model->solve.friction == TALUS_FRICTION_NCP,
             .velocity = velocity,
             .spin = spin,
             .report = report};
  job.bounce_speed = (talus_real)model->solve.bounce_speed;
  if (model->solve.bounce_speed < 0)
    job.bounce_speed = 2 * tl_length(model->gravity) * (talus_real)scope->dt;
  TL_TRY(number_bodies(&job));
  TL_TAKE(scope->arena, scope->count, &job.bodies);
  if (needs_tensors(model, scope))
    TL_TAKE(scope->arena, scope->count, &job.tensors);
  tl_for(&model->par, scope->count, 1024, load_bodies, &job);
  if (contacts->count > 0)
    TL_TRY(solve_rows(&job));
  tl_for(&model->par, scope->count, 1024, store_velocities, &job);
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}
