/* Shifts: displacements of bodies in a step in addition to their velocity, which they do not
 * change. Impacts and position correction make them. */
#include "solve/system/system.h"

#include <stddef.h>

#define LINE ((size_t)64)

static tl_room room_of(void *at, size_t bytes) {
  const tl_room r = {at, at ? bytes / LINE * LINE : 0};
  return r;
}

bool tl_system_has_rows(const tl_system *system) {
  const tl_crowd *crowd = system->crowd;
  return crowd->lends_out && !crowd->members && crowd->out->position != crowd->in->position;
}

void tl_system_lend(tl_system *system, tl_ccp_body *shifts) {
  const tl_crowd *crowd = system->crowd;
  const tl_state *out = crowd->out;
  const size_t bodies = system->model->bodies;
  if (tl_system_has_rows(system)) {
    system->rooms[0] = room_of(out->rotation, bodies * sizeof *out->rotation);
    system->rooms[1] = room_of(out->position, bodies * sizeof *out->position);
  } else
    system->rooms[0] = room_of(shifts, (crowd->count + 1) * sizeof *shifts);
}

talus_status tl_system_take(tl_system *system, size_t n, size_t size, void **out) {
  const bool is_in_use = system->shifts && !tl_system_has_rows(system);
  for (int i = 0; i < 2 && !is_in_use; ++i) {
    tl_room *room = &system->rooms[i];
    const size_t bytes = (n * size + LINE - 1) / LINE * LINE;
    if (!room->at || n > room->bytes / size || bytes > room->bytes)
      continue;
    *out = room->at;
    *room = (tl_room){room->at + bytes, room->bytes - bytes};
    return TALUS_OK;
  }
  return tl_arena_take(system->crowd->arena, n, size, out);
}

typedef struct still_job {
  const tl_system *system;
  tl_ccp_body *to;
} still_job;

static void copy_still(void *context, size_t begin, size_t end) {
  const still_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    job->to[i] = job->system->bodies[i];
    job->to[i].v = job->to[i].w = tl_vec3(0, 0, 0);
  }
}

static void set_aside(void *context, size_t begin, size_t end) {
  const tl_system *system = context;
  const tl_state *out = system->crowd->out;
  for (size_t i = begin; i < end; ++i) {
    tl_ccp_body *body = &system->bodies[tl_system_member(system, i)];
    out->velocity[i] = body->v;
    out->spin[i] = body->w;
    body->v = body->w = tl_vec3(0, 0, 0);
  }
}

talus_status tl_system_take_shifts(tl_system *system, tl_ccp_body *shifts, tl_ccp_body **room) {
  const tl_crowd *crowd = system->crowd;
  *room = shifts ? shifts : system->bodies;
  if (!shifts) {
    tl_for(&system->model->par, crowd->count, 1024, set_aside, system);
    tl_ccp_body *nobody = &system->bodies[crowd->count];
    nobody->v = nobody->w = tl_vec3(0, 0, 0);
    return TALUS_OK;
  }
  if (system->shifts) /* from impacts, in the same place */
    TL_TAKE(crowd->arena, crowd->count + 1, room);
  still_job still = {system, *room};
  tl_for(&system->model->par, crowd->count + 1, 1024, copy_still, &still);
  return TALUS_OK;
}

typedef struct lift_job {
  const tl_system *system;
  const tl_ccp_body *shifts;
} lift_job;

static void add_lifts(void *context, size_t begin, size_t end, tl_tally *sum) {
  const lift_job *job = context;
  const tl_system *system = job->system;
  const talus_dvec3 way = tl_dscale(tl_widen(system->model->gravity), -system->crowd->dt);
  for (size_t i = begin; i < end; ++i) {
    const uint32_t row = tl_system_member(system, i);
    if (system->bodies[row].inv_mass > 0)
      tl_tally_add(sum, (double)system->model->property.mass[tl_crowd_slot(system->crowd, i)] *
                            tl_ddot(way, tl_widen(job->shifts[row].v)));
  }
}

void tl_system_add_lift(tl_system *system, const tl_ccp_body *shifts) {
  lift_job job = {system, shifts};
  tl_tally sum;
  tl_for_tally(&system->model->par, system->crowd->count, 4 * TL_BLOCK, add_lifts, &job, 1, &sum);
  system->report->contact_work += tl_tally_value(&sum);
}

void tl_system_add_shifts(tl_system *system, const tl_ccp_body *room, tl_ccp_body *shifts) {
  tl_system_add_lift(system, room);
  for (size_t i = 0; shifts && room != shifts && i <= system->crowd->count; ++i) {
    shifts[i].v = tl_add(shifts[i].v, room[i].v);
    shifts[i].w = tl_add(shifts[i].w, room[i].w);
  }
}

_Static_assert(offsetof(tl_ccp_body, v) == 0, "a solver body starts with its velocity");

tl_twists tl_system_twists(const tl_system *system, const tl_ccp_body *shifts, bool are_shifted) {
  const bool is_aside = are_shifted && !shifts;
  return (tl_twists){.first = system->bodies,
                     .stride = sizeof *system->bodies,
                     .spin = offsetof(tl_ccp_body, w),
                     .row = system->rank,
                     .shift = !are_shifted ? NULL
                              : shifts     ? shifts
                                           : system->bodies,
                     .velocities = is_aside ? system->crowd->out->velocity : NULL,
                     .spins = is_aside ? system->crowd->out->spin : NULL};
}
