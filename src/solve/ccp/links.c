/* Joints within the cone complementarity problem: rows of their own beside those of contacts.
 *
 * All methods treat a joint as one block, stepped exactly (joint/link.h). Gauss-Seidel visits
 * joints after contacts in every sweep (solve/ccp/link_sweep.c). Gradient methods step them with
 * everything else, in the metric of the blocks. With `joints: direct` the hard rows of all joints
 * are one block, and its step is a sparse solve; rows that follow a law (limits, capped motors) are
 * iterated like contacts. */
#include "solve/ccp/ccp.h"

#include <math.h>

/* Entries of a row of the factor up to which `auto` is direct: a row then costs in a sweep about
 * what ten visits of a link do, and a chain needs thousands of those. */
#define AUTO_ENTRIES 200

static uint32_t body_of(const tl_ccp *job, uint32_t slot) {
  if (slot == TL_NONE)
    return (uint32_t)job->scope->count;
  return job->index_of ? job->index_of[slot] : slot;
}

/* ---- loading -----------------------------------------------------------------------------------
 */

/* The rows for a guess of the velocities at the end of the step: those of `bodies`. */
static void make_rows(const tl_ccp *job, const tl_link *link, const tl_ccp_body *bodies,
                      tl_joint_rows *rows) {
  const tl_joint *joint = &job->scope->joints->all.data[link->joint];
  const tl_state *in = job->scope->in;
  const tl_joint_step step = {.h = job->scope->dt,
                              .recovery_speed = job->recovery_speed,
                              .bounce_speed = job->bounce_speed,
                              .answer = link->answer};
  tl_joint_body old_a = tl_joint_body_at(job->model, in, joint->a);
  tl_joint_body old_b = tl_joint_body_at(job->model, in, joint->b);
  tl_joint_body a = old_a, b = old_b;
  a.v = bodies[link->a].v, a.w = bodies[link->a].w;
  b.v = bodies[link->b].v, b.w = bodies[link->b].w;
  tl_joint_make_rows(job->model, joint, &step, &a, &b, &old_a, &old_b, rows);
}

talus_status tl_ccp_list_links(tl_ccp *job, tl_pairs *pairs) {
  const tl_joints *joints = job->scope->joints;
  TL_TAKE(job->scope->arena, joints->all.count, &job->link_joint);
  TL_TAKE(job->scope->arena, joints->all.count, &pairs->data);
  for (size_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (!tl_joint_acts_within(joint, job->scope))
      continue;
    if (!(job->bodies[body_of(job, joint->a)].inv_mass > 0) &&
        !(job->bodies[body_of(job, joint->b)].inv_mass > 0))
      continue; /* asleep */
    job->link_joint[pairs->count] = (uint32_t)i;
    pairs->data[pairs->count++] = (tl_pair){joint->a, joint->b};
  }
  job->link_count = pairs->count;
  return TALUS_OK;
}

static void load_link(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  for (size_t i = begin; i < end; ++i) {
    tl_link *link = &job->links[i];
    const tl_joint *joint = &job->scope->joints->all.data[job->link_joint[i]];
    tl_joint_rows rows;
    link->a = body_of(job, joint->a);
    link->b = body_of(job, joint->b);
    link->joint = job->link_joint[i];
    link->answer = 0;
    make_rows(job, link, job->bodies, &rows);
    tl_link_load(link, &rows);
    if (tl_joint_has_spring(joint)) { /* how stiff it is depends on what it moves */
      tl_link_factor(link, job->bodies, job->tensors);
      link->answer = tl_link_free_answer(link);
      make_rows(job, link, job->bodies, &rows);
      tl_link_load(link, &rows);
    }
    for (int r = 0; job->settings->warm_start && r < tl_link_rows(link); ++r)
      link->row[r].impulse = joint->impulse[r];
    tl_link_factor(link, job->bodies, job->tensors);
  }
}

/* The direct block of a part. */
static talus_status factor_part(tl_ccp *job, const tl_link_graph *graph, tl_ccp *part) {
  const size_t most = job->settings->joints == TALUS_JOINTS_DIRECT ? SIZE_MAX : AUTO_ENTRIES;
  bool fits;
  TL_TAKE(job->scope->arena, 1, &part->system);
  TL_TRY(tl_link_system_make(part->system, job->links, graph, part->first_link, part->link_count,
                             job->bodies, job->tensors, most, job->scope->arena, &fits));
  if (!fits)
    part->system = NULL;
  return TALUS_OK;
}

/* Rows of all links stand one behind the other, in the order of visits. */
static talus_status make_room(tl_ccp *job) {
  const tl_joint *joints = job->scope->joints->all.data;
  tl_link_row *rows;
  size_t count = 0;
  TL_TAKE(job->scope->arena, job->link_count, &job->links);
  for (size_t i = 0; i < job->link_count; ++i)
    count += (size_t)tl_joint_row_room(&joints[job->link_joint[i]]);
  TL_TAKE(job->scope->arena, count, &rows);
  for (size_t i = 0; i < job->link_count; ++i) {
    job->links[i] = (tl_link){.row = rows};
    rows += tl_joint_row_room(&joints[job->link_joint[i]]);
  }
  return TALUS_OK;
}

static talus_status plan_parts(tl_ccp *job) {
  uint32_t *owner;
  TL_TAKE(job->scope->arena, job->body_count + 1, &owner);
  for (size_t i = 0; i < job->part_count; ++i) {
    tl_ccp *part = &job->parts[i];
    if (part->link_count == 0)
      continue;
    TL_TRY(tl_ccp_plan_links(part, owner));
    for (size_t k = 0; k < part->link_count; ++k) {
      part->link_rows += (size_t)tl_link_rows(&part->links[k]);
      part->link_plan->has_laws |= part->links[k].has_law;
    }
    job->link_rows += part->link_rows;
  }
  return TALUS_OK;
}

talus_status tl_ccp_load_links(tl_ccp *job) {
  if (job->link_count == 0)
    return TALUS_OK;
  TL_TRY(make_room(job));
  tl_for(&job->model->par, job->link_count, 64, load_link, job);
  for (size_t i = 0; i < job->part_count; ++i)
    job->parts[i].links = job->links + job->parts[i].first_link;
  TL_TRY(plan_parts(job));
  if (job->settings->warm_start)
    TL_TRY(tl_ccp_start_links(job));
  if (job->settings->joints == TALUS_JOINTS_ITERATIVE)
    return TALUS_OK;
  tl_link_graph graph;
  TL_TRY(tl_link_graph_make(&graph, job->links, job->link_count, job->body_count + 1,
                            job->scope->arena));
  for (size_t i = 0; i < job->part_count; ++i)
    if (job->parts[i].link_count > 0)
      TL_TRY(factor_part(job, &graph, &job->parts[i]));
  return TALUS_OK;
}

void tl_ccp_push_links(const tl_ccp *job, const talus_real *p, tl_ccp_body *bodies) {
  for (size_t i = 0; i < job->link_count; ++i) {
    double each[TL_JOINT_ROWS];
    for (int r = 0; r < TL_JOINT_ROWS; ++r)
      each[r] = (double)p[i * TL_JOINT_ROWS + (size_t)r];
    tl_link_push(&job->links[i], bodies, job->tensors, each);
  }
}

void tl_ccp_aim_link(const tl_ccp *job, size_t link, const tl_ccp_body *bodies) {
  tl_joint_rows rows;
  make_rows(job, &job->links[link], bodies, &rows);
  tl_link_aim(&job->links[link], &rows);
}

typedef struct aim_job {
  const tl_ccp *job;
  const tl_ccp_body *bodies;
} aim_job;

static void aim_some(void *context, size_t begin, size_t end) {
  const aim_job *aim = context;
  for (size_t i = begin; i < end; ++i)
    tl_ccp_aim_link(aim->job, i, aim->bodies);
}

void tl_ccp_aim_links(const tl_ccp *job, const tl_ccp_body *bodies) {
  aim_job aim = {job, bodies};
  tl_for(&job->model->par, job->link_count, 64, aim_some, &aim);
}

void tl_ccp_residual_links(const tl_ccp *job, const tl_ccp_body *bodies, const talus_real *p,
                           tl_tally *sum, double *most) {
  for (size_t i = 0; i < job->link_count; ++i)
    tl_tally_add(sum, tl_link_residual(&job->links[i], bodies, p + i * TL_JOINT_ROWS, most));
}

/* ---- gradient methods --------------------------------------------------------------------------
 */

/* r of all hard rows into the system's right-hand side, then dp of them. */
static void solve_all(const tl_ccp *job, const tl_ccp_body *bodies, const talus_real *p) {
  const tl_link_system *system = job->system;
  for (size_t i = 0; i < job->link_count; ++i) {
    const tl_link *link = &job->links[i];
    double u[TL_JOINT_ROWS];
    tl_link_speeds(link, bodies, u);
    for (int r = 0; r < link->hard; ++r)
      system->x[system->place[link->first + (uint32_t)r]] =
          -(u[r] + link->row[r].soft * (double)p[i * TL_JOINT_ROWS + (size_t)r]);
  }
  tl_link_system_solve(system);
}

/* dp of one link; the metric is its own block, or the direct block with laws apart. */
static void find_step(const tl_ccp *job, size_t i, const tl_ccp_body *bodies, const talus_real *p,
                      double scale, double dp[TL_JOINT_ROWS]) {
  const tl_link *link = &job->links[i];
  if (!job->system) {
    tl_link_step(link, bodies, p, scale, dp);
    return;
  }
  for (int r = 0; r < link->hard; ++r)
    dp[r] = scale * job->system->x[job->system->place[link->first + (uint32_t)r]];
  if (link->has_law)
    dp[link->hard] = tl_link_law_step(link, bodies, p[link->hard], scale);
}

/* -K dp / scale: the gradient that belongs to the step, that of the law included. */
static void find_gradient(const tl_ccp *job, size_t i, const tl_ccp_body *bodies,
                          const talus_real *p, double scale, const double dp[TL_JOINT_ROWS],
                          double d[TL_JOINT_ROWS]) {
  const tl_link *link = &job->links[i];
  const int n = tl_link_rows(link), hard = link->hard;
  double u[TL_JOINT_ROWS];
  tl_link_speeds(link, bodies, u);
  for (int r = 0; r < n; ++r) {
    d[r] = u[r] + link->row[r].soft * (double)p[r];
    if (r < hard)
      continue;
    d[r] = 0;
    for (int j = job->system ? hard : 0; j < n; ++j)
      d[r] -= link->k[j] * dp[j] / scale;
  }
}

void tl_ccp_step_links(const tl_ccp *job, const tl_ccp_body *bodies, double scale,
                       const talus_real *from, const talus_real *mark, talus_real *to,
                       tl_tally *sums) {
  if (job->system)
    solve_all(job, bodies, from);
  for (size_t i = 0; i < job->link_count; ++i) {
    const talus_real *p = from + i * TL_JOINT_ROWS;
    talus_real *q = to + i * TL_JOINT_ROWS;
    const talus_real *m = mark ? mark + i * TL_JOINT_ROWS : NULL;
    double dp[TL_JOINT_ROWS] = {0}, d[TL_JOINT_ROWS] = {0};
    find_step(job, i, bodies, p, scale, dp);
    find_gradient(job, i, bodies, p, scale, dp, d);
    for (int r = 0; r < TL_JOINT_ROWS; ++r) {
      q[r] = (talus_real)((double)p[r] + dp[r]);
      /* dp.K dp = -scale d.dp */
      tl_tally_add(&sums[TL_CCP_LENGTH2], -scale * d[r] * dp[r]);
      tl_tally_add(&sums[TL_CCP_SLOPE], d[r] * dp[r]);
      if (m)
        tl_tally_add(&sums[TL_CCP_LEAD], d[r] * (double)(q[r] - m[r]));
    }
  }
}

void tl_ccp_soften_links(const tl_ccp *job, const talus_real *p, const talus_real *q,
                         tl_tally *sum) {
  for (size_t i = 0; i < job->link_count; ++i)
    for (int r = 0; r < job->links[i].hard; ++r) {
      const size_t at = i * TL_JOINT_ROWS + (size_t)r;
      const double change = (double)(p[at] - q[at]);
      tl_tally_add(sum, job->links[i].row[r].soft * change * change);
    }
}

/* ---- afterwards --------------------------------------------------------------------------------
 */

static void store_some(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  for (size_t i = begin; i < end; ++i)
    tl_link_store(&job->links[i], job->scope->dt,
                  &job->scope->joints->all.data[job->links[i].joint]);
}

void tl_ccp_store_links(const tl_ccp *job) {
  tl_ccp copy = *job;
  tl_for(&job->model->par, job->link_count, 256, store_some, &copy);
}
