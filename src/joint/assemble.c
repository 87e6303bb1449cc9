/* Assembly: free bodies are moved until the frames of all joints meet.
 *
 * Gauss-Newton, each step the least motion in the mass norm that closes the rows as they are seen
 * from here: K y = -Psi, motion = M^-1 J^T y. A little of Levenberg's damping (a thousandth of a
 * thousandth of K) keeps redundant and contradictory rows finite: where frames cannot all meet,
 * what comes out is a least-squares compromise, and the caller says so. */
#include "joint/link.h"

#include <math.h>

#define STEPS     200
#define DAMPING   1e-6
#define MOST_TURN 0.3 /* rad in one step, and as much of the bodies' size */

typedef struct assembly {
  const tl_model *model;
  const tl_joints *joints;
  tl_state *state;
  tl_ccp_body *bodies; /* by slot, and one more for the ground; v and w: motion of one step */
  tl_ccp_tensor *tensors;
  tl_link *links;
  tl_link_row *rows; /* room for those of all links */
  size_t count;
} assembly;

/* A body with a locked rotation about any axis is not turned at all by assembly. */
static void load_body(assembly *job, size_t slot) {
  const tl_model *model = job->model;
  tl_ccp_body *body = &job->bodies[slot];
  memset(body, 0, sizeof *body);
  memset(&job->tensors[slot], 0, sizeof job->tensors[slot]);
  if (tl_body_is_static(model, slot))
    return;
  const uint32_t lock = model->property.flags[slot] & TL_FLAG_LOCKS;
  body->inv_mass = 1 / model->property.mass[slot];
  body->inv_inertia = -1;
  job->tensors[slot].inv_mass =
      tl_vec3(lock & TALUS_LOCK_X ? 0 : body->inv_mass, lock & TALUS_LOCK_Y ? 0 : body->inv_mass,
              lock & TALUS_LOCK_Z ? 0 : body->inv_mass);
  if ((lock & (TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ)) == 0)
    (void)tl_sym3_inverse(tl_sym3_rotated(job->state->rotation[slot], tl_body_inertia(model, slot)),
                          &job->tensors[slot].inv_inertia);
}

static double load_links(assembly *job, size_t *worst) {
  double most = -1;
  tl_link_row *row = job->rows;
  job->count = 0;
  for (size_t i = 0; i < job->joints->all.count; ++i) {
    const tl_joint *joint = &job->joints->all.data[i];
    if (!tl_joint_acts(joint))
      continue;
    tl_link *link = &job->links[job->count++];
    *link = (tl_link){.row = row};
    const tl_joint_body a = tl_joint_body_at(job->model, job->state, joint->a);
    const tl_joint_body b = tl_joint_body_at(job->model, job->state, joint->b);
    const tl_joint_place place = tl_joint_find_place(job->model, joint, &a, &b);
    link->a = joint->a == TL_NONE ? (uint32_t)job->model->bodies : joint->a;
    link->b = joint->b == TL_NONE ? (uint32_t)job->model->bodies : joint->b;
    tl_joint_rows rows = {.length = tl_joint_length_of(job->model, joint)};
    rows.hard = tl_joint_hold(joint, &place, rows.row);
    for (int r = 0; r < rows.hard; ++r)
      rows.bias[r] = rows.row[r].psi;
    tl_link_load(link, &rows);
    row += rows.hard;
    const double gap = tl_joint_drift_of(joint, &place, rows.length);
    if (gap > most) {
      most = gap;
      *worst = i;
    }
    tl_link_factor(link, job->bodies, job->tensors);
    for (int r = 0; r < link->hard; ++r)
      link->row[r].soft *= fmax(DAMPING / TL_LINK_SOFT, 1);
  }
  return most;
}

/* Applies v and w as a motion, shortened so that nothing turns too far at once. */
static void move(assembly *job) {
  double most = 0;
  for (size_t i = 0; i < job->model->bodies; ++i) {
    const double size = fmax(
        (double)(tl_body_shape(job->model, i)->radius * job->model->property.scale[i]), 1e-300);
    if (job->bodies[i].inv_mass > 0)
      most = fmax(most, fmax((double)tl_length(job->bodies[i].w),
                             (double)tl_length(job->bodies[i].v) / (10 * size)));
  }
  const double share = most > MOST_TURN ? MOST_TURN / most : 1;
  for (size_t i = 0; i < job->model->bodies; ++i) {
    if (!(job->bodies[i].inv_mass > 0))
      continue;
    job->state->position[i] = tl_dmadd(job->state->position[i], share, job->bodies[i].v);
    const talus_quat turn =
        tl_quat_from_rotation_vector(tl_scale(job->bodies[i].w, (talus_real)share));
    job->state->rotation[i] = tl_quat_normalize(tl_quat_mul(turn, job->state->rotation[i]));
  }
}

static talus_status step(assembly *job, tl_arena *arena) {
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  tl_link_system system;
  tl_link_graph graph;
  bool fits;
  TL_TRY(tl_link_graph_make(&graph, job->links, job->count, job->model->bodies + 1, arena));
  TL_TRY(tl_link_system_make(&system, job->links, &graph, 0, job->count, job->bodies, job->tensors,
                             SIZE_MAX, arena, &fits));
  for (size_t i = 0; i < job->count; ++i)
    for (int r = 0; r < job->links[i].hard; ++r)
      system.x[system.place[job->links[i].first + (uint32_t)r]] =
          -(double)job->links[i].row[r].bias;
  tl_link_system_solve(&system);
  for (size_t i = 0; i < job->count; ++i) {
    double p[TL_JOINT_ROWS] = {0};
    for (int r = 0; r < job->links[i].hard; ++r)
      p[r] = system.x[system.place[job->links[i].first + (uint32_t)r]];
    tl_link_push(&job->links[i], job->bodies, job->tensors, p);
  }
  move(job);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

/* Steps until the frames meet. */
static talus_status iterate(assembly *job, tl_arena *arena, tl_cancel *cancel, size_t *worst,
                            double *apart) {
  const tl_model *model = job->model;
  for (int i = 0; i <= STEPS; ++i) {
    TL_GO_ON(cancel);
    for (size_t slot = 0; slot < model->bodies; ++slot)
      load_body(job, slot);
    memset(&job->bodies[model->bodies], 0, sizeof *job->bodies);
    memset(&job->tensors[model->bodies], 0, sizeof *job->tensors);
    *apart = load_links(job, worst);
    const double length =
        job->count > 0 ? (double)tl_joint_length_of(model, &job->joints->all.data[*worst]) : 1;
    if (i == STEPS || job->count == 0 || *apart < (sizeof(talus_real) == 4 ? 1e-6 : 1e-12) * length)
      break;
    TL_TRY(step(job, arena));
  }
  return TALUS_OK;
}

talus_status tl_joints_assemble(const tl_model *model, tl_joints *joints, tl_state *state,
                                tl_arena *arena, tl_cancel *cancel, size_t *worst, double *apart) {
  assembly job = {.model = model, .joints = joints, .state = state};
  const size_t n = model->bodies;
  talus_dvec3 *position;
  talus_quat *rotation;
  *worst = 0;
  *apart = 0;
  TL_TAKE(arena, n + 1, &position);
  TL_TAKE(arena, n + 1, &rotation);
  TL_TAKE(arena, n + 1, &job.bodies);
  TL_TAKE(arena, n + 1, &job.tensors);
  TL_TAKE(arena, joints->all.count, &job.links);
  TL_TAKE(arena, TL_JOINT_HARD * joints->all.count, &job.rows);
  for (size_t i = 0; i < n; ++i)
    position[i] = state->position[i], rotation[i] = state->rotation[i];
  const talus_status status = iterate(&job, arena, cancel, worst, apart);
  for (size_t i = 0; status != TALUS_OK && i < n; ++i) /* all the way, or not at all */
    state->position[i] = position[i], state->rotation[i] = rotation[i];
  for (size_t i = 0; status == TALUS_OK && i < joints->all.count; ++i)
    tl_joint_settle(model, state, &joints->all.data[i]);
  return status;
}
