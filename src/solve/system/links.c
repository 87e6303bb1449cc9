/* Joints of a system: from the table to links, and back.
 *
 * All methods treat a joint as one block, stepped exactly (joint/link.h). Gauss-Seidel visits
 * joints after contacts in every sweep (link_sweep.c). Gradient methods step them with everything
 * else, in the metric of the blocks (solve/ccp/link_step.c). With `joints: direct` the hard rows of
 * all joints are one block, and its step is a sparse solve; rows that follow a law (limits, capped
 * motors) are iterated like contacts. */
#include "solve/system/links.h"

/* Most entries per row of the factor for which `auto` chooses `direct`: a row then costs as much
 * per sweep as about ten visits of a link, and a chain needs thousands of visits. */
#define AUTO_ENTRIES 200

static uint32_t body_of(const tl_system *system, uint32_t slot) {
  return slot == TL_NONE ? (uint32_t)system->crowd->count : tl_system_body(system, slot);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Makes the rows for a guess of the velocities at the end of the step: those of `bodies`. */
static void make_rows(const tl_system *system, const tl_link *link, const tl_ccp_body *bodies,
                      tl_joint_rows *rows) {
  const tl_joint *joint = &system->crowd->joints->all.data[link->joint];
  const tl_state *in = system->crowd->in;
  const tl_joint_step step = {.h = system->crowd->dt,
                              .recovery_speed = system->recovery_speed,
                              .bounce_speed = system->bounce_speed,
                              .answer = link->answer};
  tl_joint_body old_a = tl_joint_body_at(system->model, in, joint->a);
  tl_joint_body old_b = tl_joint_body_at(system->model, in, joint->b);
  tl_joint_body a = old_a, b = old_b;
  a.v = bodies[link->a].v, a.w = bodies[link->a].w;
  b.v = bodies[link->b].v, b.w = bodies[link->b].w;
  tl_joint_make_rows(system->model, joint, &step, &a, &b, &old_a, &old_b, rows);
}

talus_status tl_links_list(tl_links *links, const tl_system *system, tl_pairs *pairs) {
  const tl_joints *joints = system->crowd->joints;
  *links = (tl_links){.system = system, .bodies = system->bodies, .tensors = system->tensors};
  TL_TAKE(system->crowd->arena, joints->all.count, &links->joint);
  TL_TAKE(system->crowd->arena, joints->all.count, &pairs->data);
  for (size_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (!tl_joint_acts_within(joint, system->crowd))
      continue;
    if (!(system->bodies[body_of(system, joint->a)].inv_mass > 0) &&
        !(system->bodies[body_of(system, joint->b)].inv_mass > 0))
      continue; /* asleep */
    links->joint[pairs->count] = (uint32_t)i;
    pairs->data[pairs->count++] = (tl_pair){joint->a, joint->b};
  }
  links->count = pairs->count;
  return TALUS_OK;
}

static void load_link(void *context, size_t begin, size_t end) {
  const tl_links *links = context;
  const tl_system *system = links->system;
  for (size_t i = begin; i < end; ++i) {
    tl_link *link = &links->data[i];
    const tl_joint *joint = &system->crowd->joints->all.data[links->joint[i]];
    tl_joint_rows rows;
    link->a = body_of(system, joint->a);
    link->b = body_of(system, joint->b);
    link->joint = links->joint[i];
    link->answer = 0;
    make_rows(system, link, links->bodies, &rows);
    tl_link_load(link, &rows);
    if (tl_joint_has_spring(joint)) { /* its stiffness depends on the masses that it moves */
      tl_link_factor(link, links->bodies, links->tensors);
      link->answer = tl_link_free_answer(link);
      make_rows(system, link, links->bodies, &rows);
      tl_link_load(link, &rows);
    }
    for (int r = 0; system->settings->warm_start && r < tl_link_rows(link); ++r)
      link->row[r].impulse = system->crowd->joints_after[link->joint].impulse[r];
    tl_link_factor(link, links->bodies, links->tensors);
  }
}

/* Takes memory for the rows of all links, in the order of visits. */
static talus_status make_room(tl_links *links) {
  const tl_crowd *crowd = links->system->crowd;
  const tl_joint *joints = crowd->joints->all.data;
  tl_link_row *rows;
  size_t count = 0;
  TL_TAKE(crowd->arena, links->count, &links->data);
  for (size_t i = 0; i < links->count; ++i)
    count += (size_t)tl_joint_row_room(&joints[links->joint[i]]);
  TL_TAKE(crowd->arena, count, &rows);
  for (size_t i = 0; i < links->count; ++i) {
    links->data[i] = (tl_link){.row = rows};
    rows += tl_joint_row_room(&joints[links->joint[i]]);
  }
  return TALUS_OK;
}

talus_status tl_links_load(tl_links *links) {
  TL_TRY(make_room(links));
  tl_for(&links->system->model->par, links->count, 64, load_link, links);
  return TALUS_OK;
}

tl_links tl_links_cut(const tl_links *all, size_t first, size_t count) {
  tl_links part = *all;
  part.joint = all->joint + first;
  part.data = all->data + first;
  part.first = first;
  part.count = count;
  part.rows = 0;
  return part;
}

/* ---- the direct block ------------------------------------------------------------------------ */

bool tl_links_are_direct(const tl_links *all) {
  return all->count > 0 && all->system->settings->joints != TALUS_JOINTS_ITERATIVE;
}

talus_status tl_links_make_graph(const tl_links *all, tl_link_graph *graph) {
  const tl_crowd *crowd = all->system->crowd;
  return tl_link_graph_make(graph, all->data, all->count, crowd->count + 1, crowd->arena);
}

talus_status tl_links_factor(const tl_links *all, const tl_link_graph *graph, tl_links *part) {
  const tl_system *system = all->system;
  const size_t most = system->settings->joints == TALUS_JOINTS_DIRECT ? SIZE_MAX : AUTO_ENTRIES;
  bool fits;
  TL_TAKE(system->crowd->arena, 1, &part->direct);
  TL_TRY(tl_link_system_make(part->direct, all->data, graph, part->first, part->count, all->bodies,
                             all->tensors, most, system->crowd->arena, &fits));
  if (!fits)
    part->direct = NULL;
  return TALUS_OK;
}

/* ---- aiming ---------------------------------------------------------------------------------- */

void tl_links_aim_one(const tl_links *links, size_t link, const tl_ccp_body *bodies) {
  tl_joint_rows rows;
  make_rows(links->system, &links->data[link], bodies, &rows);
  tl_link_aim(&links->data[link], &rows);
}

typedef struct aim_job {
  const tl_links *links;
  const tl_ccp_body *bodies;
} aim_job;

static void aim_some(void *context, size_t begin, size_t end) {
  const aim_job *aim = context;
  for (size_t i = begin; i < end; ++i)
    tl_links_aim_one(aim->links, i, aim->bodies);
}

void tl_links_aim(const tl_links *links, const tl_par *par, const tl_ccp_body *bodies) {
  aim_job aim = {links, bodies};
  tl_for(par, links->count, 64, aim_some, &aim);
}

/* ---- position correction --------------------------------------------------------------------- */

/* Range that correction may use of a joint's free direction: velocities have used up part of the
 * way to its limits, and beyond them the joint must not move out further. Springs and motors do not
 * act. */
static void leave_room(const tl_ccp_body *bodies, const tl_link *had, tl_link *link) {
  double u[TL_JOINT_ROWS];
  tl_link_speeds(had, bodies, u);
  const talus_real speed = (talus_real)u[had->hard];
  link->law = (tl_joint_law){.cap = TL_REAL_MAX,
                             .low = tl_min(0, had->law.low - speed),
                             .high = tl_max(0, had->law.high - speed)};
}

talus_status tl_links_hold_still(const tl_links *from, tl_ccp_body *bodies, tl_links *to) {
  tl_link_row *row;
  size_t rows = 0;
  *to = *from;
  to->bodies = bodies;
  if (from->count == 0)
    return TALUS_OK;
  tl_arena *arena = from->system->crowd->arena;
  for (size_t i = 0; i < from->count; ++i)
    rows += (size_t)tl_link_rows(&from->data[i]);
  TL_TAKE(arena, from->count, &to->data);
  TL_TAKE(arena, rows, &row);
  to->recovering = NULL;
  for (size_t i = 0; i < from->count; ++i) {
    tl_link *link = &to->data[i];
    *link = from->data[i];
    link->row = row;
    for (int r = 0; r < tl_link_rows(link); ++r) {
      *row = from->data[i].row[r];
      row->bias = row->impulse = 0;
      row++;
    }
    if (link->has_law)
      leave_room(from->bodies, &from->data[i], link);
  }
  return TALUS_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

/* (v0 + v1)/2 . (l, a) of a body that joints can move; 0 for other bodies, whose energy is not
 * reported. */
static double mean_speed(const tl_system *system, uint32_t slot, uint32_t body, talus_vec3 l,
                         talus_vec3 a) {
  const tl_ccp_body *now = &system->bodies[body];
  if (slot == TL_NONE || !(now->inv_mass > 0))
    return 0;
  const tl_state *in = system->crowd->in;
  return 0.5 *
         (dot_d(tl_add(in->velocity[slot], now->v), l) + dot_d(tl_add(in->spin[slot], now->w), a));
}

static void add_work(void *context, size_t begin, size_t end, tl_tally *sum) {
  const tl_links *links = context;
  const tl_system *system = links->system;
  for (size_t i = begin; i < end; ++i) {
    const tl_link *link = &links->data[i];
    const tl_joint *joint = &system->crowd->joints->all.data[link->joint];
    for (int r = 0; r < tl_link_rows(link); ++r) {
      const tl_link_row *row = &link->row[r];
      tl_tally_add(sum, (double)row->impulse *
                            (mean_speed(system, joint->a, link->a, row->la, row->aa) +
                             mean_speed(system, joint->b, link->b, row->lb, row->ab)));
    }
  }
}

double tl_links_work(const tl_links *links) {
  tl_links all = *links;
  tl_tally work;
  tl_for_tally(&links->system->model->par, links->count, TL_BLOCK, add_work, &all, 1, &work);
  return tl_tally_value(&work);
}

void tl_links_objective(const tl_links *links, tl_tally *sum) {
  for (size_t i = 0; i < links->count; ++i)
    tl_tally_add(sum, tl_link_objective(&links->data[i], links->bodies));
}

static void store_some(void *context, size_t begin, size_t end) {
  const tl_links *links = context;
  const tl_crowd *crowd = links->system->crowd;
  for (size_t i = begin; i < end; ++i)
    tl_link_store(&links->data[i], crowd->dt, &crowd->joints_after[links->data[i].joint]);
}

void tl_links_store(const tl_links *links) {
  tl_links all = *links;
  tl_for(&links->system->model->par, links->count, 256, store_some, &all);
}
