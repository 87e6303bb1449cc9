/* Bodies that all lie at one place: n of them have n^2/2 contacts, which takes too much time and
 * memory, and no solver can part them. They are refused by name before pairs are searched. */
#include "base/hash.h"
#include "base/sort.h"
#include "world/world.h"

#include <math.h>

/* Bodies whose centres lie in one cell of a sixteenth to an eighth of their least half width: each
 * overlaps all others nearly wholly. 125,000 contacts are a third of a second. */
#define MOST 500

typedef struct crowd_job {
  const talus_world *world;
  uint64_t *key;
  uint32_t *slot;
} crowd_job;

static double half_width(const talus_world *world, size_t slot) {
  return (double)(world->widths.data[world->model.property.shape[slot]] *
                  world->model.property.scale[slot]);
}

/* Bodies that collide with nobody get keys of their own. */
static void find_keys(void *context, size_t begin, size_t end) {
  const crowd_job *job = context;
  const tl_model *model = &job->world->model;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t group = model->property.group[i];
    const double width = half_width(job->world, i);
    const int level = width > 0 && tl_is_finite_d(width) ? ilogb(width) - 3 : INT32_MIN;
    const talus_dvec3 x = job->world->state.position[i];
    double cell[4] = {level, (double)i, 0, 0};
    if (!tl_body_is_static(model, i) && level != INT32_MIN &&
        !(group != 0 && tl_model_ignores(model, group, group))) {
      cell[1] = floor(ldexp(x.x, -level)) + 0.0; /* not -0 */
      cell[2] = floor(ldexp(x.y, -level)) + 0.0;
      cell[3] = floor(ldexp(x.z, -level)) + 0.0;
    }
    job->key[i] = tl_xxh64(cell, sizeof cell, 0);
    job->slot[i] = (uint32_t)i;
  }
}

static talus_status refuse(const talus_world *world, uint32_t slot, size_t count) {
  const talus_dvec3 x = world->state.position[slot];
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s and %zu others lie at one place, (%g, %g, %g), and each would touch all "
                 "others; put them side by side (`fill` does), or in a group that ignores itself",
                 tl_world_describe(world, slot), count - 1, x.x, x.y, x.z);
}

talus_status tl_world_check_crowding(talus_world *world) {
  const size_t n = world->model.bodies;
  if (!world->is_rearranged || n <= MOST) {
    world->is_rearranged = false;
    return TALUS_OK;
  }
  TL_TRY(tl_need(&world->where, TL_THE(position) | TL_THE_PROPERTY, TL_READ));
  const tl_arena_mark mark = tl_arena_get_mark(&world->arena);
  crowd_job job = {.world = world};
  TL_TAKE(&world->arena, n, &job.key);
  TL_TAKE(&world->arena, n, &job.slot);
  TL_TRY(tl_widths_update(&world->model, &world->widths));
  tl_for(&world->model.par, n, 2048, find_keys, &job);
  TL_TRY(tl_sort_u64(&world->model.par, &world->arena, job.key, job.slot, n, 64));
  for (size_t i = 0, begin = 0; i < n; ++i) {
    begin = job.key[i] == job.key[begin] ? begin : i;
    if (i - begin < MOST)
      continue;
    while (i + 1 < n && job.key[i + 1] == job.key[begin])
      ++i;
    return refuse(world, job.slot[begin], i + 1 - begin);
  }
  tl_arena_release(&world->arena, mark);
  world->is_rearranged = false;
  return TALUS_OK;
}
