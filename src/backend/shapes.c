/* Contacts of bodies of any shape on a device: the host's part, one launch after the other. */
#include "backend/shapes.h"

#include "backend/thread/tasks.h"
#include "shape/shape.h"

#define ALIGNED   ((size_t)16) /* bytes: alignment of lists */
#define MOST_POOL ((size_t)UINT32_MAX)

void tl_device_shapes_free(tl_device *device, tl_device_shapes *blocks) {
  tl_device_block *all = (tl_device_block *)(void *)blocks;
  for (size_t i = 0; i < sizeof *blocks / sizeof *all; ++i)
    (void)device->calls->resize(device, &all[i], 0);
}

bool tl_device_knows(talus_shape_kind kind) { return kind != TALUS_MESH && kind != TALUS_REVOLVED; }

/* ---- shapes ---------------------------------------------------------------------------------- */

static size_t list_bytes(const tl_shape_list *list) {
  return (list->scalars * list->scalar_bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static size_t bytes_of_lists(const tl_shapes_asked *asked) {
  size_t bytes = 0;
  for (size_t i = 0; i < asked->shape_count; ++i) {
    tl_shape_list lists[TL_SHAPE_LISTS];
    tl_shape_lists(&asked->shapes[i], lists);
    for (int k = 0; k < TL_SHAPE_LISTS; ++k)
      bytes += list_bytes(&lists[k]);
  }
  return bytes;
}

/* Sends rows of shapes; their lists are in one block of the device. */
static talus_status send_shapes(tl_device *device, tl_device_shapes *blocks,
                                const tl_shapes_asked *asked) {
  const size_t bytes = bytes_of_lists(asked);
  tl_shape *rows;
  unsigned char *copy;
  TL_TAKE(asked->arena, asked->shape_count, &rows);
  TL_TAKE(asked->arena, bytes, &copy);
  TL_DEVICE_RESERVE(blocks->shapes, asked->shape_count, tl_shape);
  TL_DEVICE_RESERVE(blocks->lists, bytes, unsigned char);
  size_t at = 0;
  for (size_t i = 0; i < asked->shape_count; ++i) {
    tl_shape_list lists[TL_SHAPE_LISTS];
    rows[i] = asked->shapes[i];
    tl_shape_lists(&rows[i], lists);
    for (int k = 0; k < TL_SHAPE_LISTS; ++k) {
      if (lists[k].scalars > 0)
        memcpy(copy + at, lists[k].data, lists[k].scalars * lists[k].scalar_bytes);
      tl_shape_point_list(&rows[i], k, (unsigned char *)blocks->lists.data + at);
      at += list_bytes(&lists[k]);
    }
  }
  TL_TRY(
      device->calls->upload(device, blocks->shapes.data, rows, asked->shape_count * sizeof *rows));
  return bytes > 0 ? device->calls->upload(device, blocks->lists.data, copy, bytes) : TALUS_OK;
}

static talus_status send_bodies(tl_device *device, tl_device_shapes *blocks,
                                const tl_shapes_asked *asked, size_t count) {
  const tl_device_calls *calls = device->calls;
  TL_DEVICE_RESERVE(blocks->shape, count, uint32_t);
  TL_DEVICE_RESERVE(blocks->scale, count, talus_real);
  TL_DEVICE_RESERVE(blocks->rotation, count, talus_quat);
  TL_TRY(calls->upload(device, blocks->shape.data, asked->shape, count * sizeof *asked->shape));
  TL_TRY(calls->upload(device, blocks->scale.data, asked->scale, count * sizeof *asked->scale));
  return calls->upload(device, blocks->rotation.data, asked->rotation,
                       count * sizeof *asked->rotation);
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Sorts pairs by class; ends[c]: end of class c. */
static talus_status sort_pairs(tl_device *device, tl_device_shapes *blocks,
                               const tl_pair_task *task, size_t pairs,
                               uint32_t ends[TL_PAIR_CLASSES], const uint32_t **sorted) {
  for (int k = 0; k < 2; ++k) {
    TL_DEVICE_RESERVE(blocks->classes[k], pairs, uint32_t);
    TL_DEVICE_RESERVE(blocks->pairs[k], pairs, uint32_t);
  }
  TL_DEVICE_RESERVE(blocks->ends, TL_PAIR_CLASSES, uint32_t);
  const tl_class_task class = {.bodies = task->bodies,
                               .owners = task->owners,
                               .others = task->others,
                               .classes = blocks->classes[0].data,
                               .pairs = blocks->pairs[0].data};
  TL_DEVICE_LAUNCH(class, class, pairs);
  const tl_device_sort sort = {{blocks->classes[0].data, blocks->classes[1].data},
                               {blocks->pairs[0].data, blocks->pairs[1].data},
                               false};
  bool in_room;
  TL_TRY(device->calls->sort(device, pairs, 3, &sort, &in_room));
  const tl_bound_task bound = {
      .classes = blocks->classes[in_room].data, .count = pairs, .ends = blocks->ends.data};
  TL_TRY(device->calls->clear(device, bound.ends, TL_PAIR_CLASSES * sizeof *ends));
  TL_DEVICE_LAUNCH(bound, bound, pairs);
  TL_TRY(device->calls->download(device, ends, bound.ends, TL_PAIR_CLASSES * sizeof *ends));
  for (int c = 1; c < TL_PAIR_CLASSES; ++c)
    ends[c] = ends[c] > ends[c - 1] ? ends[c] : ends[c - 1];
  *sorted = blocks->pairs[in_room].data;
  return TALUS_OK;
}
_Static_assert(TL_PAIR_CLASSES <= 8, "they are sorted by three bits");

/* Makes one launch for each class. */
static talus_status meet(tl_device *device, tl_pair_task task, const uint32_t *sorted,
                         const uint32_t ends[TL_PAIR_CLASSES]) {
  static const int kinds[TL_PAIR_CLASSES] = {[TL_PAIRS_ROUND] = TL_TASK_round,
                                             [TL_PAIRS_ELLIPSOID] = TL_TASK_ellipsoid,
                                             [TL_PAIRS_BOX] = TL_TASK_box,
                                             [TL_PAIRS_CONVEX] = TL_TASK_convex,
                                             [TL_PAIRS_CLUMP] = TL_TASK_clump};
  uint32_t begin = 0;
  for (int c = 0; c < TL_PAIR_CLASSES; begin = ends[c], ++c) {
    task.pairs = sorted + begin;
    if (ends[c] > begin)
      TL_TRY(device->calls->launch(device, kinds[c], &task, ends[c] - begin));
  }
  return TALUS_OK;
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Finds the points of all pairs; repeats with a larger pool if it was too small. */
static talus_status find_points(tl_device *device, tl_device_shapes *blocks, tl_pair_task *task,
                                size_t pairs) {
  const uint32_t *sorted;
  uint32_t ends[TL_PAIR_CLASSES], used;
  TL_TRY(sort_pairs(device, blocks, task, pairs, ends, &sorted));
  for (;;) {
    const size_t room = blocks->pool.bytes / sizeof *task->pool;
    task->pool = blocks->pool.data;
    task->room = (uint32_t)(room < MOST_POOL ? room : MOST_POOL);
    TL_TRY(device->calls->clear(device, task->used, sizeof *task->used));
    TL_TRY(meet(device, *task, sorted, ends));
    TL_TRY(device->calls->download(device, &used, task->used, sizeof used));
    if (used <= task->room)
      return TALUS_OK;
    TL_DEVICE_RESERVE(blocks->pool, used, tl_point);
  }
}

static talus_status place_points(tl_device *device, tl_device_spheres *near,
                                 tl_device_shapes *blocks, const tl_pair_task *task, size_t pairs,
                                 const tl_spheres_asked *spheres, size_t *count) {
  uint64_t total;
  TL_DEVICE_RESERVE(blocks->targets, pairs + 1, uint64_t);
  TL_TRY(device->calls->sum(device, pairs, task->counts, blocks->targets.data));
  TL_TRY(device->calls->download(device, &total, (uint64_t *)blocks->targets.data + pairs,
                                 sizeof total));
  TL_TRY(tl_device_reserve_contacts(device, near, spheres, (size_t)total));
  const tl_place_task place = {.owners = task->owners,
                               .others = task->others,
                               .counts = task->counts,
                               .points = task->points,
                               .pool = task->pool,
                               .starts = task->starts,
                               .targets = blocks->targets.data,
                               .contacts = near->contacts.data};
  TL_DEVICE_LAUNCH(place, place, pairs);
  *count = (size_t)total;
  return TALUS_OK;
}

/* Those of pairs first, first + 1, ... */
static talus_status find_contacts(tl_device *device, tl_device_spheres *near,
                                  tl_device_shapes *blocks, const tl_thread_bodies *bodies,
                                  const tl_spheres_asked *spheres, size_t first, size_t pairs,
                                  size_t *count) {
  TL_DEVICE_RESERVE(blocks->counts, pairs, uint32_t);
  TL_DEVICE_RESERVE(blocks->points, pairs, tl_point);
  TL_DEVICE_RESERVE(blocks->starts, pairs, uint32_t);
  TL_DEVICE_RESERVE(blocks->used, 1, uint32_t);
  TL_DEVICE_RESERVE(blocks->pool, 1, tl_point);
  tl_pair_task task = {.bodies = *bodies,
                       .owners = (const uint32_t *)near->owners.data + first,
                       .others = (const uint32_t *)near->others.data + first,
                       .counts = blocks->counts.data,
                       .points = blocks->points.data,
                       .used = blocks->used.data,
                       .starts = blocks->starts.data};
  TL_TRY(find_points(device, blocks, &task, pairs));
  return place_points(device, near, blocks, &task, pairs, spheres, count);
}

static talus_status find_in_pieces(tl_device *device, tl_device_spheres *near,
                                   tl_device_shapes *blocks, const tl_spheres_asked *spheres,
                                   const tl_thread_bodies *bodies, size_t pairs, size_t *count) {
  const size_t pieces = spheres->pieces > 1 ? spheres->pieces : 1;
  const size_t each = (pairs + pieces - 1) / pieces;
  for (size_t first = 0; first < pairs; first += each) {
    const size_t n = pairs - first < each ? pairs - first : each;
    size_t found;
    TL_TRY(find_contacts(device, near, blocks, bodies, spheres, first, n, &found));
    *count += found;
    if (pieces > 1 && found > 0)
      TL_TRY(spheres->take(spheres->context, near->contacts.data, found));
  }
  return TALUS_OK;
}

talus_status tl_device_find_sent(tl_device *device, tl_device_spheres *near,
                                 tl_device_shapes *blocks, const tl_spheres_asked *spheres,
                                 const tl_thread_bodies *sent, size_t *pairs, size_t *count,
                                 tl_spheres_times *times) {
  tl_thread_search search;
  tl_thread_bodies bodies = *sent;
  *count = *pairs = 0;
  *times = (tl_spheres_times){0};
  if (spheres->count == spheres->plane_count)
    return TALUS_OK;
  TL_TRY(tl_device_find_near(device, near, spheres, &search, pairs, times));
  bodies.rows = near->rows.data;
  bodies.space = search.grid.space;
  if (*pairs >= UINT32_MAX)
    return tl_fail(TALUS_ERROR_MEMORY,
                   "%zu pairs are more than a device counts (4e9); use fewer bodies at a time",
                   *pairs);
  TL_TRY(find_in_pieces(device, near, blocks, spheres, &bodies, *pairs, count));
  return tl_device_tell(device, times);
}

talus_status tl_device_send_shapes(tl_device *device, tl_device_shapes *blocks,
                                   const tl_shapes_asked *asked, size_t bodies) {
  TL_TRY(send_shapes(device, blocks, asked));
  return send_bodies(device, blocks, asked, bodies);
}

talus_status tl_device_find_shapes(tl_device *device, tl_device_spheres *near,
                                   tl_device_shapes *blocks, const tl_spheres_asked *spheres,
                                   const tl_shapes_asked *asked, size_t *pairs, size_t *count,
                                   tl_spheres_times *times) {
  if (spheres->count > spheres->plane_count)
    TL_TRY(tl_device_send_shapes(device, blocks, asked, spheres->count));
  const tl_thread_bodies bodies = {.shapes = blocks->shapes.data,
                                   .shape = blocks->shape.data,
                                   .scale = blocks->scale.data,
                                   .rotation = blocks->rotation.data,
                                   .margin = TL_R(spheres->margin),
                                   .method = asked->method};
  return tl_device_find_sent(device, near, blocks, spheres, &bodies, pairs, count, times);
}
