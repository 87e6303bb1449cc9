/* Names of bodies: a table ascending by uid, and a hash table of uids over it (open addressing, at
 * most half full), because a scene may name a hundred thousand. */
#include "base/hash.h"
#include "world/world.h"

const char *tl_world_name_of(const talus_world *world, uint64_t uid) {
  size_t lo = 0, hi = world->names.count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (world->names.data[mid].uid < uid)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < world->names.count && world->names.data[lo].uid == uid ? world->names.data[lo].name
                                                                     : NULL;
}

/* Rows are in uid order. */
uint32_t tl_world_slot_of(const talus_world *world, uint64_t uid) {
  if (tl_need(&world->where, TL_THE(uid), TL_READ) != TALUS_OK)
    return TL_NONE;
  const uint64_t *uids = world->model.property.uid;
  size_t lo = 0, hi = world->model.bodies;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (uids[mid] < uid)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < world->model.bodies && uids[lo] == uid ? (uint32_t)lo : TL_NONE;
}

static void put(talus_world *world, const tl_body_name *row) {
  const size_t mask = world->name_index.count - 1;
  size_t at = (size_t)tl_xxh64(row->name, strlen(row->name), 0) & mask;
  while (world->name_index.data[at] != 0)
    at = (at + 1) & mask;
  world->name_index.data[at] = row->uid;
}

static talus_status rebuild(talus_world *world, size_t names) {
  size_t size = 16;
  while (size < 2 * names)
    size *= 2;
  TL_TRY(tl_array_resize(&world->name_index, size));
  memset(world->name_index.data, 0, size * sizeof world->name_index.data[0]);
  for (size_t i = 0; i < world->names.count; ++i)
    put(world, &world->names.data[i]);
  return TALUS_OK;
}

uint64_t tl_world_uid_of(const talus_world *world, const char *name) {
  if (world->name_index.count == 0)
    return 0;
  const size_t mask = world->name_index.count - 1;
  size_t at = (size_t)tl_xxh64(name, strlen(name), 0) & mask;
  for (; world->name_index.data[at] != 0; at = (at + 1) & mask) {
    const uint64_t uid = world->name_index.data[at];
    if (strcmp(tl_world_name_of(world, uid), name) == 0)
      return uid;
  }
  return 0;
}

talus_status tl_world_add_name(talus_world *world, uint64_t uid, char *name) {
  const tl_body_name row = {uid, name};
  TL_TRY(tl_array_reserve(&world->names, world->names.count + 1));
  if (2 * (world->names.count + 1) > world->name_index.count)
    TL_TRY(rebuild(world, 2 * (world->names.count + 1)));
  world->names.data[world->names.count++] = row;
  put(world, &row);
  return TALUS_OK;
}

talus_status tl_world_index_names(talus_world *world) {
  size_t kept = 0;
  for (size_t i = 0; i < world->names.count; ++i) {
    if (tl_world_slot_of(world, world->names.data[i].uid) != TL_NONE) {
      world->names.data[kept++] = world->names.data[i];
      continue;
    }
    void *name = world->names.data[i].name;
    (void)tl_resize(&name, strlen(name) + 1, 0);
  }
  world->names.count = kept;
  return rebuild(world, kept);
}
