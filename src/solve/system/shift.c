/* Shifts: displacements of bodies in a step in addition to their velocity, which they do not
 * change. Impacts and position correction make them. */
#include "solve/system/system.h"

#include <stddef.h>

#define LINE ((size_t)64)

void tl_system_lend_shifts(tl_system *system, tl_ccp_body *shifts) {
  system->room = (unsigned char *)shifts;
  system->room_bytes = shifts ? (system->crowd->count + 1) * sizeof *shifts / LINE * LINE : 0;
}

talus_status tl_system_take(tl_system *system, size_t n, size_t size, void **out) {
  if (!system->room || system->shifts || n > system->room_bytes / size)
    return tl_arena_take(system->crowd->arena, n, size, out);
  const size_t bytes = (n * size + LINE - 1) / LINE * LINE;
  *out = system->room;
  system->room += bytes;
  system->room_bytes -= bytes;
  return TALUS_OK;
}

typedef struct still_job {
  const tl_ccp_body *from;
  tl_ccp_body *to;
} still_job;

static void copy_still(void *context, size_t begin, size_t end) {
  const still_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    job->to[i] = job->from[i];
    job->to[i].v = job->to[i].w = tl_vec3(0, 0, 0);
  }
}

talus_status tl_system_take_shifts(const tl_system *system, tl_ccp_body *shifts,
                                   tl_ccp_body **room) {
  *room = shifts;
  if (system->shifts) /* by impacts, in the same place */
    TL_TAKE(system->crowd->arena, system->crowd->count + 1, room);
  still_job still = {system->bodies, *room};
  tl_for(&system->model->par, system->crowd->count + 1, 1024, copy_still, &still);
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
  for (size_t i = 0; room != shifts && i <= system->crowd->count; ++i) {
    shifts[i].v = tl_add(shifts[i].v, room[i].v);
    shifts[i].w = tl_add(shifts[i].w, room[i].w);
  }
}

_Static_assert(offsetof(tl_ccp_body, v) == 0, "a solver body starts with its velocity");

tl_twists tl_system_twists(const tl_system *system, const tl_ccp_body *shifts) {
  return (tl_twists){.first = system->bodies,
                     .stride = sizeof *system->bodies,
                     .spin = offsetof(tl_ccp_body, w),
                     .row = system->rank,
                     .shift = shifts};
}
