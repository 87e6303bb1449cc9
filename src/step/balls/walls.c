/* Velocity Verlet for balls: contacts with bodies that are neither balls nor flat. */
#include "step/balls/balls.h"

#include "contact/history.h"
#include "contact/passing.h"
#include "narrow/narrow.h"

static void write_mid(const tl_ball_step *job, uint32_t slot) {
  const uint32_t rank = job->list->rank.data[slot];
  const tl_ball_place *place = &job->list->place.data[rank];
  const tl_twist mid = tl_balls_mid(job, rank);
  job->mid.position[slot] = tl_dvec3(place->x, place->y, place->z);
  job->mid.velocity[slot] = mid.velocity;
  job->mid.spin[slot] = mid.spin;
  tl_ball_kick(&job->forces, &job->list->ball.data[rank], &job->velocity_kick[slot],
               &job->spin_kick[slot]);
}

static void write_mids(void *context, size_t begin, size_t end) {
  const tl_ball_step *job = context;
  for (size_t i = begin; i < end; ++i)
    write_mid(job, job->list->wall_balls.data[i]);
}

static talus_status find_walls(const tl_ball_step *job, const tl_crowd *at_end,
                               const talus_real *margins) {
  tl_contacts *walls = &job->list->wall_contacts;
  const tl_pairs pairs = {job->list->walls.data, job->list->walls.count};
  const tl_contacts *before = &job->list->wall_before;
  TL_TRY(tl_history_begin(before, job->crowd->dt, walls));
  TL_TRY(tl_narrow_find_contacts(at_end, &pairs, margins, walls));
  return tl_history_lay(job->model, before, walls);
}

/* Measures depths. Balls are at the end of the step, with the velocities that brought them
 * there. */
static talus_status measure_walls(tl_ball_step *job) {
  const tl_passage passage = {.position = job->mid.position,
                              .rotation = job->mid.rotation,
                              .velocity = job->mid.velocity,
                              .spin = job->mid.spin,
                              .dt = job->begins ? 0 : job->crowd->dt};
  if (!job->crowd->widths)
    return TALUS_OK;
  return tl_contact_measure(job->model, job->crowd->widths, &passage, &job->list->wall_contacts,
                            job->crowd->arena, &job->wall_depths);
}

/* Computes forces; the contacts of the last step are in wall_before. */
static talus_status push_walls(tl_ball_step *job, const tl_crowd *at_end,
                               const talus_real *margins) {
  TL_TRY(find_walls(job, at_end, margins));
  TL_TRY(measure_walls(job));
  const tl_penalty_motion motion = {.velocity = job->mid.velocity,
                                    .spin = job->mid.spin,
                                    .velocity_kick = job->velocity_kick,
                                    .spin_kick = job->spin_kick,
                                    .h = job->begins ? 0 : job->crowd->dt};
  return tl_penalty_find_forces(at_end, &motion, &job->list->wall_contacts, job->spring_force,
                                job->spring_torque, &job->list->wall_sums, NULL);
}

talus_status tl_balls_push_walls(tl_ball_step *job) {
  const tl_crowd *crowd = job->crowd;
  tl_ball_list *list = job->list;
  const size_t n = job->model->bodies;
  TL_TAKE(crowd->arena, n, &job->spring_force);
  TL_TAKE(crowd->arena, n, &job->spring_torque);
  job->wall_depths = (tl_depths){0};
  if (list->walls.count == 0) {
    list->wall_contacts.count = list->wall_contacts.springs.count = 0;
    list->wall_sums = (tl_penalty_sums){0};
    return TALUS_OK;
  }
  talus_real *margins;
  TL_TAKE(crowd->arena, n, &margins);
  TL_TAKE(crowd->arena, n, &job->mid.position);
  TL_TAKE(crowd->arena, n, &job->mid.velocity);
  TL_TAKE(crowd->arena, n, &job->mid.spin);
  TL_TAKE(crowd->arena, n, &job->velocity_kick);
  TL_TAKE(crowd->arena, n, &job->spin_kick);
  /* walls do not turn, and the rotation of a ball does not matter */
  job->mid.rotation = crowd->in->rotation;
  memset(margins, 0, n * sizeof *margins);
  tl_for(&job->model->par, list->wall_balls.count, 256, write_mids, job);
  uint32_t last = TL_NONE;
  /* few, and consecutive ones often share a wall */
  for (size_t i = 0; i < list->walls.count; ++i) {
    const tl_pair pair = list->walls.data[i];
    const bool first = tl_body_shape(job->model, pair.a)->kind == TALUS_SPHERE;
    const uint32_t wall = first ? pair.b : pair.a;
    if (wall != last)
      write_mid(job, wall);
    last = wall;
  }
  tl_crowd at_end = *crowd;
  at_end.in = &job->mid;
  at_end.members = list->wall_balls.data; /* bodies whose forces are summed */
  at_end.count = list->wall_balls.count;
  tl_contacts_swap(&list->wall_contacts, &list->wall_before);
  const talus_status status = push_walls(job, &at_end, margins);
  if (status != TALUS_OK) /* contacts of the last step, with their springs, stay */
    tl_contacts_swap(&list->wall_contacts, &list->wall_before);
  return status;
}

talus_status tl_balls_find_passings(const tl_ball_step *job) {
  const tl_crowd *crowd = job->crowd;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_passing_walls walls = {0};
  if (!crowd->passings || !crowd->widths || job->begins || job->list->leapers.count == 0)
    return TALUS_OK;
  TL_TRY(tl_passing_lay_walls(crowd, crowd->widths->statics, &walls));
  for (size_t i = 0; walls.count > 0 && i < job->list->leapers.count; ++i) {
    const uint32_t slot = job->list->leapers.data[i], rank = job->list->rank.data[slot];
    const tl_ball_place *place = &job->list->place.data[rank];
    const talus_dvec3 way = tl_dscale(tl_widen(tl_balls_mid(job, rank).velocity), crowd->dt);
    const talus_dvec3 to = {place->x, place->y, place->z};
    uint32_t through;
    if (tl_dlength(way) < (double)(TL_BALL_LEAP * tl_penalty_radius(job->model, slot)) ||
        tl_passing_is_exempt(job->model, slot))
      continue;
    (void)tl_passing_follow(job->model, &walls, slot, tl_dsub(to, way), to, &through);
    if (through != TL_NONE)
      TL_TRY(tl_passing_add(crowd, slot, through, crowd->passings));
  }
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
