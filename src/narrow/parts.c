#include "narrow/parts.h"

#include "base/cancel.h"
#include "narrow/clump.h"
#include "narrow/swept.h"
#include "shape/facets.h"

/* Size of a batch: this number of pairs, or a single pair whose bodies have this number of
 * spheres. */
#define BATCH   ((size_t)256)
#define SPHERES ((size_t)32768)

typedef enum way { WHOLE, MESHES, CLUMPS, FAST, WAYS } way;

static bool is_periodic(const tl_model *model) {
  const talus_domain_def *d = &model->domain;
  return d->enabled && (d->periodic[0] || d->periodic[1] || d->periodic[2]);
}

typedef struct batch {
  const tl_narrow_scope *scope;
  tl_parts_pair **list[WAYS];
  size_t count[WAYS];
  tl_contact *room; /* of pairs searched by the table: TL_PARTS_MAX_POINTS each */
  tl_contact *fast; /* of pairs that are followed: TL_NARROW_MAX_POINTS each */
} batch;

static bool has_parts(const tl_model *model) {
  for (size_t i = 0; i < model->shapes.count; ++i)
    if (model->shapes.data[i].kind == TALUS_MESH || model->shapes.data[i].kind == TALUS_CLUMP)
      return true;
  return false;
}

static way way_of(const tl_narrow_scope *scope, const tl_pair *pair) {
  const tl_model *model = scope->model;
  const talus_shape_kind a = tl_body_shape(model, pair->a)->kind;
  const talus_shape_kind b = tl_body_shape(model, pair->b)->kind;
  if (tl_has_clump(a, b))
    return CLUMPS;
  const bool is_a = a == TALUS_MESH || a == TALUS_REVOLVED;
  const bool is_b = b == TALUS_MESH || b == TALUS_REVOLVED;
  if (!is_a || !is_b || model->narrow.tree == TALUS_TREE_FLAT)
    return WHOLE;
  if (is_periodic(model)) {
    const tl_ordered o = tl_order_pair(scope, pair);
    return tl_parts_has_images(model, &o) ? WHOLE : MESHES;
  }
  return MESHES;
}

static bool is_of_parts(const tl_model *model, const tl_pair *pair) {
  const talus_shape_kind a = tl_body_shape(model, pair->a)->kind;
  const talus_shape_kind b = tl_body_shape(model, pair->b)->kind;
  return (a == TALUS_MESH || b == TALUS_MESH || tl_has_clump(a, b)) && tl_narrow_capacity(a, b) > 0;
}

static size_t spheres_of(const tl_model *model, const tl_pair *pair) {
  const tl_shape *a = tl_body_shape(model, pair->a), *b = tl_body_shape(model, pair->b);
  return (a->kind == TALUS_CLUMP ? a->point_count : 0) +
         (b->kind == TALUS_CLUMP ? b->point_count : 0);
}

/* ---- by the table ---------------------------------------------------------------------------- */

static void find_whole(void *context, size_t begin, size_t end) {
  const batch *job = context;
  for (size_t i = begin; i < end; ++i) {
    tl_parts_pair *p = job->list[WHOLE][i];
    tl_point points[TL_PARTS_MAX_POINTS];
    p->found = job->room + i * TL_PARTS_MAX_POINTS;
    p->count = 0;
    if (tl_cancel_look(job->scope->crowd->cancel))
      continue;
    const tl_ordered o = tl_parts_order(job->scope, &p->pair);
    if (o.first.flat && o.first.shape->facets && o.second.shape->facets)
      tl_narrow_count(
          job->scope->crowd->counts,
          (uint64_t)o.first.shape->facets->triangles * o.second.shape->facets->triangles, 0);
    const int count = tl_parts_has_images(job->scope->model, &o)
                          ? tl_parts_images(job->scope->model, &o, points)
                          : tl_narrow_table[o.first.shape->kind][o.second.shape->kind](
                                &o.first, &o.second, o.margin, points);
    if (o.swapped)
      tl_narrow_swap(points, count);
    for (int k = 0; k < count; ++k)
      tl_order_write(&p->pair, o.origin, &points[k], &p->found[k]);
    p->count = (size_t)count;
  }
}

/* ---- fast pairs ------------------------------------------------------------------------------ */

static tl_swept swept_of(const tl_narrow_scope *scope) {
  return (tl_swept){scope->model, scope->crowd, scope->margins};
}

static void follow(void *context, size_t begin, size_t end) {
  const batch *job = context;
  const tl_swept swept = swept_of(job->scope);
  for (size_t i = begin; i < end; ++i) {
    tl_parts_pair *p = job->list[FAST][i];
    p->found = job->fast + i * TL_NARROW_MAX_POINTS;
    p->count = 0;
    p->is_found = !tl_cancel_look(job->scope->crowd->cancel) &&
                  tl_swept_find(&swept, &p->pair, p->found, &p->count);
  }
}

/* True if a pair meets in more than one image. Such a pair is not followed: contacts at the begin,
 * with margins as wide as its motion, include all images. */
static bool meets_images(const tl_narrow_scope *scope, const tl_pair *pair) {
  const tl_model *model = scope->model;
  if (!is_periodic(model) ||
      tl_has_clump(tl_body_shape(model, pair->a)->kind, tl_body_shape(model, pair->b)->kind))
    return false;
  const tl_ordered o = tl_order_pair(scope, pair);
  return tl_parts_has_images(model, &o);
}

/* Follows fast pairs. Those that touch already are searched like others. */
static talus_status follow_fast(batch *job, tl_parts_pair *pairs, size_t n) {
  const tl_swept swept = swept_of(job->scope);
  for (size_t i = 0; i < n; ++i)
    if (tl_swept_is_fast(&swept, &pairs[i].pair) && !meets_images(job->scope, &pairs[i].pair))
      job->list[FAST][job->count[FAST]++] = &pairs[i];
  TL_TAKE(job->scope->crowd->arena, job->count[FAST] * TL_NARROW_MAX_POINTS, &job->fast);
  tl_deal(&job->scope->model->par, job->count[FAST], follow, job);
  return TALUS_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Copies the results of a batch to memory of their own, and releases all other memory. */
static talus_status keep(tl_arena *arena, tl_arena_mark mark, tl_parts_pair *pairs, size_t n) {
  size_t total = 0;
  tl_contact *kept;
  for (size_t i = 0; i < n; ++i)
    total += pairs[i].count;
  TL_TAKE(arena, total, &kept);
  for (size_t i = 0, at = 0; i < n; at += pairs[i++].count)
    memcpy(kept + at, pairs[i].found, pairs[i].count * sizeof *kept);
  void *block = kept;
  tl_arena_sink(arena, mark, &block, total * sizeof *kept);
  kept = block;
  for (size_t i = 0; i < n; kept += pairs[i++].count)
    pairs[i].found = kept;
  return TALUS_OK;
}

static talus_status search(const tl_narrow_scope *scope, tl_parts_pair *pairs, size_t n) {
  tl_arena *arena = scope->crowd->arena;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  batch job = {.scope = scope};
  for (int k = 0; k < WAYS; ++k)
    TL_TAKE(arena, n, &job.list[k]);
  for (size_t i = 0; i < n; ++i)
    pairs[i].is_found = false;
  TL_TRY(follow_fast(&job, pairs, n));
  for (size_t i = 0; i < n; ++i) {
    const way w = way_of(scope, &pairs[i].pair);
    if (!pairs[i].is_found)
      job.list[w][job.count[w]++] = &pairs[i];
  }
  TL_GO_ON(scope->crowd->cancel);
  TL_TAKE(arena, job.count[WHOLE] * TL_PARTS_MAX_POINTS, &job.room);
  tl_deal(&scope->model->par, job.count[WHOLE], find_whole, &job);
  if (job.count[MESHES] > 0)
    TL_TRY(tl_parts_meshes(scope, job.list[MESHES], job.count[MESHES]));
  if (job.count[CLUMPS] > 0)
    TL_TRY(tl_parts_clumps(scope, job.list[CLUMPS], job.count[CLUMPS]));
  TL_GO_ON(scope->crowd->cancel);
  return keep(arena, mark, pairs, n);
}

talus_status tl_parts_find(const tl_narrow_scope *scope, const tl_pairs *pairs, tl_parts *parts) {
  const tl_model *model = scope->model;
  *parts = (tl_parts){0};
  if (!has_parts(model))
    return TALUS_OK;
  size_t count = 0;
  for (size_t i = 0; i < pairs->count; ++i)
    count += is_of_parts(model, &pairs->data[i]);
  TL_TAKE(scope->crowd->arena, count, &parts->data);
  for (size_t i = 0; i < pairs->count; ++i)
    if (is_of_parts(model, &pairs->data[i]))
      parts->data[parts->count++].pair = pairs->data[i];
  for (size_t begin = 0, end; begin < count; begin = end) {
    size_t spheres = spheres_of(model, &parts->data[begin].pair);
    for (end = begin + 1; end < count && end - begin < BATCH; ++end) {
      spheres += spheres_of(model, &parts->data[end].pair);
      if (spheres > SPHERES)
        break;
    }
    TL_TRY(search(scope, parts->data + begin, end - begin));
  }
  return TALUS_OK;
}

const tl_parts_pair *tl_parts_of(const tl_parts *parts, const tl_pair *pair) {
  size_t at = 0, above = parts->count;
  while (at < above) {
    const size_t middle = at + (above - at) / 2;
    const tl_pair *p = &parts->data[middle].pair;
    if (p->a != pair->a ? p->a < pair->a : p->b < pair->b)
      at = middle + 1;
    else
      above = middle;
  }
  const tl_parts_pair *found = &parts->data[at];
  return at < parts->count && found->pair.a == pair->a && found->pair.b == pair->b ? found : NULL;
}
