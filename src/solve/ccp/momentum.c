/* Momentum of Gauss-Seidel sweeps (Nesterov 1983; restarts as O'Donoghue and Candes 2015).
 *
 * A sweep passes information on by one body, so that a stack of n bodies needs about n^2 sweeps,
 * and a body that carries q times its own mass needs about q. So after each sweep the impulses are
 * extrapolated, with a growing factor: y = p + beta (p - last), and the next sweep starts from y.
 * Then n and sqrt(q) sweeps suffice. Velocities are linear in the impulses and are extrapolated
 * likewise, so no product is needed. y may be outside of the cones; the result is always the state
 * after a sweep.
 *
 * The extrapolation restarts (beta = 0) if the last sweep moved against the direction of the
 * extrapolation, which shows that it went too far, and if a sweep changes more than the one before.
 * The second test is for Coulomb's law, which is not the gradient of a function: at friction above
 * 1 momentum alone would diverge.
 *
 * Islands in which many pairs of bodies have several contacts use momentum from the first sweep on.
 * Other islands that are not large use it if the first sweeps were not enough: chains of spheres
 * are mostly short, and momentum needs more memory traffic, which limits sweeps. Islands with
 * joints never use it, because rows of joints change during sweeps. Torques of rolling resistance
 * are extrapolated with the impulses. */
#include "solve/ccp/ccp.h"

#include <math.h>

#define W TL_CCP_LANES

/* An island with one contact per pair and more rows than this never tries momentum. */
#define MOST 16384
#define LATE 12 /* sweeps before momentum is tried where pairs have one contact each */

/* Momentum of the rows of a pack, some of which pass on torque: the impulse (or torque) at the
 * begin of its last visit, and at the end of the sweep before. Other rows are extrapolated when
 * they are visited (tl_ccp_sweep_on). */
typedef struct trail {
  tl_ccp_lanes from, last;
} trail;

struct tl_ccp_momentum {
  int patience; /* sweeps before momentum begins */
  /* by pack: impulses after the sweep before; NULL if rows pass on torque */
  tl_ccp_lanes *last_impulse;
  /* by pack, for impulses and for torques; NULL if no row passes on torque */
  trail *course, *turning;
  uint32_t *body; /* solver bodies that the part moves */
  tl_twist *last; /* their velocities after the sweep before */
  size_t bodies;
  double *pulls; /* by block: tl_ccp_pull_of summed over the last sweep */
};

/* ---- one row, one body ----------------------------------------------------------------------- */

double tl_ccp_pull_of(talus_vec3 now, talus_vec3 n, talus_real en, talus_real et,
                      const tl_ccp_course *course) {
  const talus_vec3 back = tl_sub(course->from, now), way = tl_sub(now, course->last);
  const talus_real along = tl_dot(back, n) * tl_dot(way, n);
  return (double)((en > 0 ? along / en : 0) + (et > 0 ? (tl_dot(back, way) - along) / et : 0));
}

static double pull_back(const tl_ccp_rows *rows, size_t k, uint32_t i, const tl_ccp_course *course,
                        const tl_ccp_course *turning) {
  const tl_ccp_pack *pack = &rows->packs[k];
  if (!(pack->en[i] > 0) || !(pack->et[i] > 0))
    return 0;
  const talus_vec3 n = tl_ccp_lane(&pack->normal, i);
  double sum = tl_ccp_pull_of(tl_ccp_lane(&pack->impulse, i), n, pack->en[i], pack->et[i], course);
  if (tl_ccp_lane_rolls(rows, k, i))
    sum += tl_ccp_pull_of(tl_ccp_lane(&rows->rolls[k].torque, i), n, rows->rolls[k].es[i],
                          rows->rolls[k].er[i], turning);
  return sum;
}

static void move_lane(tl_ccp_lanes *lanes, uint32_t i, talus_real beta, tl_ccp_course *course) {
  const talus_vec3 now = tl_ccp_lane(lanes, i);
  course->from = tl_madd(now, beta, tl_sub(now, course->last));
  course->last = now;
  tl_ccp_put_lane(lanes, i, course->from);
}

static void move_row(const tl_ccp_rows *rows, size_t k, uint32_t i, talus_real beta,
                     tl_ccp_course *course, tl_ccp_course *turning) {
  move_lane(&rows->packs[k].impulse, i, beta, course);
  if (tl_ccp_lane_rolls(rows, k, i))
    move_lane(&rows->rolls[k].torque, i, beta, turning);
}

static void move_body(tl_ccp_body *body, talus_real beta, tl_twist *last) {
  const tl_twist now = {body->v, body->w};
  body->v = tl_madd(now.velocity, beta, tl_sub(now.velocity, last->velocity));
  body->w = tl_madd(now.spin, beta, tl_sub(now.spin, last->spin));
  *last = now;
}

/* Nesterov's beta for the next sweep; 0 restarts. */
static talus_real next_beta(tl_ccp_pace *pace, double change, double back) {
  const double theta = pace->theta;
  const bool grew = pace->change >= 0 && change > pace->change;
  pace->change = change;
  if (grew || back > 0) {
    pace->theta = 1;
    return 0;
  }
  pace->theta = 0.5 * (-theta * theta + theta * sqrt(theta * theta + 4));
  return (talus_real)(theta * (1 - theta) / (theta * theta + pace->theta));
}

static tl_ccp_course course_at(const tl_ccp_lanes *lanes, uint32_t i) {
  const talus_vec3 p = tl_ccp_lane(lanes, i);
  const tl_ccp_course course = {p, p};
  return course;
}

static tl_twist twist_at(const tl_ccp_rows *rows, uint32_t body) {
  const tl_twist twist = {rows->bodies[body].v, rows->bodies[body].w};
  return twist;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool is_same_pair(const tl_contact *c, const tl_contact *d) {
  return c->a == d->a && c->b == d->b;
}

/* True if enough rows are second contacts of their pair to pay for the memory traffic of momentum:
 * one box among a million spheres is not enough. Contacts of a pair are neighbours in canonical
 * order. */
bool tl_ccp_has_bundles(const tl_ccp_part *part) {
  const tl_contact *data = part->system->contacts->data;
  const size_t enough = part->rows.count / 8 + 1;
  size_t count = 0;
  for (size_t row = 0; row < part->rows.count && count < enough; ++row) {
    const uint32_t i = part->rows.contact[row];
    count += i > 0 && is_same_pair(&data[i - 1], &data[i]);
  }
  return count >= enough;
}

static void list_body(const tl_ccp_part *part, struct tl_ccp_momentum *m, uint32_t body) {
  if (part->seen[body] || !(part->rows.bodies[body].inv_mass > 0))
    return;
  part->seen[body] = 1;
  m->body[m->bodies++] = body;
}

static talus_status list_bodies(const tl_ccp_part *part, struct tl_ccp_momentum *m) {
  TL_TAKE(part->system->crowd->arena, 2 * part->rows.count, &m->body);
  m->bodies = 0;
  for (size_t k = 0; k < part->rows.pack_count; ++k)
    for (uint32_t i = 0; i < W; ++i) {
      list_body(part, m, part->rows.packs[k].a[i]);
      list_body(part, m, part->rows.packs[k].b[i]);
    }
  for (size_t i = 0; i < m->bodies; ++i) /* correction lists the bodies once more */
    part->seen[m->body[i]] = 0;
  return TALUS_OK;
}

talus_status tl_ccp_take_momentum(tl_ccp_part *part) {
  tl_arena *arena = part->system->crowd->arena;
  struct tl_ccp_momentum *m;
  part->momentum = NULL;
  if (part->links.count > 0 || part->lifting)
    return TALUS_OK;
  const bool bundles = part->system->summary.nonspheres &&
                       (part->moved ? part->has_bundles : tl_ccp_has_bundles(part));
  if (!bundles && part->rows.count > MOST)
    return TALUS_OK;
  TL_TAKE(arena, 1, &m);
  m->patience = bundles ? 0 : LATE;
  if (!bundles && part->rows.count > TL_FEW_ROWS && part->system->settings->iterations > LATE)
    m->patience = part->system->settings->iterations;
  m->last_impulse = NULL;
  m->course = m->turning = NULL;
  if (part->rows.rolls) {
    TL_TAKE(arena, part->rows.pack_count, &m->course);
    TL_TAKE(arena, part->rows.pack_count, &m->turning);
  } else {
    TL_TAKE(arena, part->rows.pack_count, &m->last_impulse);
  }
  m->body = part->moved;
  m->bodies = part->moved_count;
  if (!part->moved)
    TL_TRY(list_bodies(part, m));
  TL_TAKE(arena, m->bodies, &m->last);
  TL_TAKE(arena, part->block_count, &m->pulls);
  part->momentum = m;
  return TALUS_OK;
}

int tl_ccp_patience(const tl_ccp_part *part) {
  return part->momentum ? part->momentum->patience : 0;
}

void tl_ccp_set_off(const tl_ccp_part *part, tl_team *team, int worker, int workers,
                    tl_ccp_pace *pace) {
  struct tl_ccp_momentum *m = part->momentum;
  *pace = TL_CCP_AT_REST;
  if (!m)
    return;
  const size_t last = tl_share(part->rows.pack_count, worker + 1, workers);
  for (size_t k = tl_share(part->rows.pack_count, worker, workers); m->course && k < last; ++k) {
    const tl_ccp_lanes *p = &part->rows.packs[k].impulse;
    m->course[k] = (trail){*p, *p};
    m->turning[k] = (trail){part->rows.rolls[k].torque, part->rows.rolls[k].torque};
  }
  for (size_t i = tl_share(m->bodies, worker, workers);
       i < tl_share(m->bodies, worker + 1, workers); ++i)
    m->last[i] = twist_at(&part->rows, m->body[i]);
  tl_team_barrier(team);
}

static tl_ccp_course course_of(const trail *of, uint32_t i) {
  const tl_ccp_course course = {tl_ccp_lane(&of->from, i), tl_ccp_lane(&of->last, i)};
  return course;
}

static void put_course(trail *to, uint32_t i, const tl_ccp_course *course) {
  tl_ccp_put_lane(&to->from, i, course->from);
  tl_ccp_put_lane(&to->last, i, course->last);
}

static double pull_back_packs(const tl_ccp_part *part, size_t begin, size_t end) {
  const struct tl_ccp_momentum *m = part->momentum;
  double sum = 0;
  for (size_t k = begin; k < end; ++k)
    for (uint32_t i = 0; i < W; ++i) {
      const tl_ccp_course course = course_of(&m->course[k], i);
      const tl_ccp_course turn = course_of(&m->turning[k], i);
      sum += pull_back(&part->rows, k, i, &course, &turn);
    }
  return sum;
}

static void move_packs(const tl_ccp_part *part, size_t begin, size_t end, talus_real beta) {
  const struct tl_ccp_momentum *m = part->momentum;
  for (size_t k = begin; k < end; ++k)
    for (uint32_t i = 0; i < W; ++i) {
      tl_ccp_course course = course_of(&m->course[k], i);
      tl_ccp_course turn = course_of(&m->turning[k], i);
      move_row(&part->rows, k, i, beta, &course, &turn);
      put_course(&m->course[k], i, &course);
      put_course(&m->turning[k], i, &turn);
    }
}

double tl_ccp_sweep_block(const tl_ccp_part *part, size_t block, bool serial, talus_real beta) {
  const struct tl_ccp_momentum *m = part->momentum;
  const size_t begin = part->block_pack[block], end = part->block_pack[block + 1];
  if (m->last_impulse)
    return tl_ccp_sweep_on(&part->rows, m->last_impulse, beta, begin, end, serial,
                           &m->pulls[block]);
  const double sum = tl_ccp_sweep_packs(&part->rows, begin, end, serial);
  m->pulls[block] = pull_back_packs(part, begin, end);
  return sum;
}

void tl_ccp_move_on(const tl_ccp_part *part, tl_team *team, int worker, int workers, double change,
                    tl_ccp_pace *pace) {
  struct tl_ccp_momentum *m = part->momentum;
  if (!m)
    return;
  const double back = tl_tally_sum(m->pulls, part->block_count);
  pace->beta = next_beta(pace, change, back);
  if (m->course)
    move_packs(part, tl_share(part->rows.pack_count, worker, workers),
               tl_share(part->rows.pack_count, worker + 1, workers), pace->beta);
  for (size_t i = tl_share(m->bodies, worker, workers);
       i < tl_share(m->bodies, worker + 1, workers); ++i)
    move_body(&part->rows.bodies[m->body[i]], pace->beta, &m->last[i]);
  tl_team_barrier(team);
}

/* ---- small islands --------------------------------------------------------------------------- */

static void list_small(const tl_ccp_rows *rows, tl_ccp_small_momentum *m, uint32_t body) {
  if (!(rows->bodies[body].inv_mass > 0))
    return;
  for (uint32_t i = 0; i < m->bodies; ++i)
    if (m->body[i] == body)
      return;
  m->last[m->bodies] = twist_at(rows, body);
  m->body[m->bodies++] = body;
}

int tl_ccp_set_off_small(const tl_ccp *job, uint32_t begin, uint32_t end,
                         tl_ccp_small_momentum *m) {
  bool bundles = false;
  m->pace = TL_CCP_AT_REST;
  m->bodies = 0;
  for (uint32_t row = begin + 1; row < end && !bundles; ++row)
    bundles = is_same_pair(&job->system->contacts->data[job->rows.contact[row - 1]],
                           &job->system->contacts->data[job->rows.contact[row]]);
  for (uint32_t row = begin; row < end; ++row) {
    const tl_ccp_pack *pack = &job->rows.packs[row / W];
    m->course[row - begin] = course_at(&pack->impulse, row % W);
    if (job->rows.rolls)
      m->turning[row - begin] = course_at(&job->rows.rolls[row / W].torque, row % W);
    list_small(&job->rows, m, pack->a[row % W]);
    list_small(&job->rows, m, pack->b[row % W]);
  }
  return bundles ? 0 : LATE;
}

void tl_ccp_move_on_small(const tl_ccp *job, uint32_t begin, uint32_t end, double change,
                          tl_ccp_small_momentum *m) {
  if (m->bodies == 0)
    return;
  double back = 0;
  for (uint32_t row = begin; row < end; ++row)
    back +=
        pull_back(&job->rows, row / W, row % W, &m->course[row - begin], &m->turning[row - begin]);
  const talus_real beta = next_beta(&m->pace, change, back);
  for (uint32_t row = begin; row < end; ++row)
    move_row(&job->rows, row / W, row % W, beta, &m->course[row - begin], &m->turning[row - begin]);
  for (uint32_t i = 0; i < m->bodies; ++i)
    move_body(&job->rows.bodies[m->body[i]], beta, &m->last[i]);
}
