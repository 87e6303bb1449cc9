/* Going back: what a step changes before it is sure to be taken, so that one that is given up in
 * the middle leaves no trace and the next one has the same bits as if nothing had happened.
 *
 * Poses and velocities are written last (step/fixed.c), and need no copy. */
#include "world/world.h"

/* Contacts are as large as all the rest: many threads copy. */
typedef struct copy_job {
  char *to;
  const char *from;
  size_t bytes;
} copy_job;

#define PIECE ((size_t)1 << 16) /* bytes */

static void copy_pieces(void *context, size_t begin, size_t end) {
  const copy_job *job = context;
  const size_t from = begin * PIECE, to = end * PIECE < job->bytes ? end * PIECE : job->bytes;
  memcpy(job->to + from, job->from + from, to - from);
}

#define COPY(par, to_array, from_array)                                                            \
  do {                                                                                             \
    TL_TRY(tl_array_resize((to_array), (from_array)->count));                                      \
    copy_job job = {(char *)(to_array)->data, (const char *)(from_array)->data,                    \
                    (from_array)->count * sizeof *(from_array)->data};                             \
    tl_for((par), job.bytes / PIECE + (job.bytes % PIECE > 0), 4, copy_pieces, &job);              \
  } while (0)

talus_status tl_undo_keep(talus_world *world) {
  tl_undo *undo = &world->undo;
  const tl_par *par = &world->model.par;
  COPY(par, &undo->contacts, &world->contacts);
  COPY(par, &undo->contacts.touches, &world->contacts.touches);
  COPY(par, &undo->contacts.springs, &world->contacts.springs);
  COPY(par, &undo->contacts.hits, &world->contacts.hits);
  undo->contacts.recent = world->contacts.recent;
  undo->contacts.steps = world->contacts.steps;
  COPY(par, &undo->joints, &world->joints.all);
  undo->rest.count = 0;
  if (world->state.rest) {
    TL_TRY(tl_array_resize(&undo->rest, world->model.bodies));
    memcpy(undo->rest.data, world->state.rest, world->model.bodies * sizeof *undo->rest.data);
  }
  undo->last = world->last;
  return TALUS_OK;
}

void tl_undo_go_back(talus_world *world) {
  tl_undo *undo = &world->undo;
  const tl_contacts given_up = world->contacts;
  world->contacts = undo->contacts;
  undo->contacts = given_up;
  if (undo->joints.count > 0)
    memcpy(world->joints.all.data, undo->joints.data,
           undo->joints.count * sizeof *undo->joints.data);
  if (undo->rest.count > 0)
    memcpy(world->state.rest, undo->rest.data, undo->rest.count * sizeof *undo->rest.data);
  world->last = undo->last;
}

void tl_undo_free(tl_undo *undo) {
  tl_contacts_release(&undo->contacts);
  tl_array_free(&undo->joints);
  tl_array_free(&undo->rest);
}

talus_status talus_world_set_interrupt(talus_world *world, const volatile int *interrupt) {
  TL_MAY_CHANGE(world);
  world->interrupt = interrupt;
  if (!interrupt)
    tl_undo_free(&world->undo);
  return TALUS_OK;
}
