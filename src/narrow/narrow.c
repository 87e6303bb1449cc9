/* Contacts of all pairs, in the order of the pairs, with bounded scratch.
 *
 * Pairs are taken in batches, a batch in blocks. Each block writes its contacts one behind the
 * other into room of its own, sized by what its kinds could give at most; then the blocks are
 * appended to the set in order. What comes out depends on the pairs alone, not on which thread
 * worked on which block, and the set never holds room for pairs that do not touch. */
#include "narrow/narrow.h"
#include "kernels/collide_sphere.h"
#include "shape/shape.h"

#define PAIRS_PER_BLOCK  ((size_t)256)
#define BLOCKS_PER_BATCH ((size_t)64) /* the contacts of a batch of spheres fit into a cache */
#define GRAIN            ((size_t)4)  /* blocks worth waking a thread for */

typedef struct pair_block {
  size_t room;             /* contacts it can have at most */
  size_t begin;            /* of its room within the scratch */
  size_t count;            /* contacts found */
  size_t target;           /* of its contacts within the set */
  const tl_pair *no_entry; /* first pair without an entry in the table, or NULL */
} pair_block;

typedef struct batch {
  const tl_model *model;
  const tl_scope *scope;
  const talus_real *margins; /* by slot */
  const tl_pair *pairs;
  size_t pair_count;
  pair_block *blocks;
  size_t block_count;
  tl_contact *scratch;
  tl_contact *contacts; /* of the whole set */
} batch;

static const tl_pair *block_pairs(const batch *work, size_t index, size_t *count) {
  const size_t begin = index * PAIRS_PER_BLOCK, left = work->pair_count - begin;
  *count = left < PAIRS_PER_BLOCK ? left : PAIRS_PER_BLOCK;
  return work->pairs + begin;
}

static void measure_blocks(void *context, size_t begin, size_t end) {
  const batch *work = context;
  for (size_t i = begin; i < end; ++i) {
    pair_block *block = &work->blocks[i];
    size_t count;
    const tl_pair *pairs = block_pairs(work, i, &count);
    block->room = 0;
    block->no_entry = NULL;
    for (size_t k = 0; k < count; ++k) {
      const int room = tl_narrow_capacity(tl_body_shape(work->model, pairs[k].a)->kind,
                                          tl_body_shape(work->model, pairs[k].b)->kind);
      if (room == 0 && !block->no_entry)
        block->no_entry = &pairs[k];
      block->room += (size_t)room;
    }
  }
}

/* ---- one pair ------------------------------------------------------------------------------- */

static void write_contact(const tl_pair *pair, talus_dvec3 origin, const tl_point *point,
                          tl_contact *contact) {
  contact->a = pair->a;
  contact->b = pair->b;
  contact->feature_a = point->feature_a;
  contact->feature_b = point->feature_b;
  contact->point = tl_dadd(origin, point->point);
  contact->normal = point->normal;
  contact->gap = point->gap;
  contact->impulse = tl_vec3(0, 0, 0);
}

static tl_posed pose(const batch *work, uint32_t slot, talus_dvec3 position) {
  return (tl_posed){.shape = tl_body_shape(work->model, slot),
                    .scale = work->model->property.scale[slot],
                    .position = position,
                    .rotation = work->scope->in->rotation[slot]};
}

/* The body of the lower kind goes first: for it the points are near the origin, and a sphere on a
 * far plane gets an arm without rounding. */
static size_t find_by_table(const batch *work, const tl_pair *pair, talus_real margin,
                            tl_contact *out) {
  const talus_dvec3 *position = work->scope->in->position;
  const talus_shape_kind kind_a = tl_body_shape(work->model, pair->a)->kind;
  const talus_shape_kind kind_b = tl_body_shape(work->model, pair->b)->kind;
  const talus_dvec3 direct = tl_dsub(position[pair->b], position[pair->a]);
  const bool endless = kind_a == TALUS_PLANE || kind_b == TALUS_PLANE; /* no nearest image */
  const talus_dvec3 to_b =
      endless ? direct : tl_model_offset(work->model, position[pair->a], position[pair->b]);
  const bool swapped = kind_a > kind_b;

  tl_posed first, second;
  talus_dvec3 origin = position[pair->a];
  if (swapped) {
    first = pose(work, pair->b, tl_dvec3(0, 0, 0));
    second = pose(work, pair->a, tl_dscale(to_b, -1));
    /* The image of b next to a; exactly b itself where no boundary lies between. */
    origin = tl_dadd(position[pair->b], tl_dsub(to_b, direct));
  } else {
    first = pose(work, pair->a, tl_dvec3(0, 0, 0));
    second = pose(work, pair->b, to_b);
  }
  tl_point points[TL_NARROW_MAX_POINTS];
  const int count =
      tl_narrow_table[first.shape->kind][second.shape->kind](&first, &second, margin, points);
  if (swapped)
    tl_narrow_swap(points, count);
  for (int i = 0; i < count; ++i)
    write_contact(pair, origin, &points[i], &out[i]);
  return (size_t)count;
}

static size_t find_in_pair(const batch *work, const tl_pair *pair, tl_contact *out) {
  const tl_model *model = work->model;
  const tl_shape *shape_a = tl_body_shape(model, pair->a), *shape_b = tl_body_shape(model, pair->b);
  const talus_real margin = work->margins[pair->a] + work->margins[pair->b];
  if (shape_a->kind != TALUS_SPHERE || shape_b->kind != TALUS_SPHERE)
    return find_by_table(work, pair, margin, out);
  /* The overwhelming majority, without the table. */
  const talus_dvec3 *position = work->scope->in->position;
  const talus_dvec3 to_b = tl_model_offset(model, position[pair->a], position[pair->b]);
  const double radius_a = shape_a->size[0] * (double)model->property.scale[pair->a];
  const double radius_b = shape_b->size[0] * (double)model->property.scale[pair->b];
  tl_point point;
  if (tl_collide_sphere_sphere(radius_a, radius_b, to_b, (double)margin, &point) == 0)
    return 0;
  write_contact(pair, position[pair->a], &point, out);
  return 1;
}

/* ---- all pairs ------------------------------------------------------------------------------ */

static void find_in_blocks(void *context, size_t begin, size_t end) {
  const batch *work = context;
  for (size_t i = begin; i < end; ++i) {
    pair_block *block = &work->blocks[i];
    size_t count, found = 0;
    const tl_pair *pairs = block_pairs(work, i, &count);
    for (size_t k = 0; k < count; ++k)
      found += find_in_pair(work, &pairs[k], work->scratch + block->begin + found);
    TL_ASSERT(found <= block->room);
    block->count = found;
  }
}

static void append_blocks(void *context, size_t begin, size_t end) {
  const batch *work = context;
  for (size_t i = begin; i < end; ++i) {
    const pair_block *block = &work->blocks[i];
    memcpy(work->contacts + block->target, work->scratch + block->begin,
           block->count * sizeof *work->contacts);
  }
}

static talus_status refuse(const tl_model *model, const tl_pair *pair) {
  const char *a = tl_shape_kind_name(tl_body_shape(model, pair->a)->kind);
  const char *b = tl_shape_kind_name(tl_body_shape(model, pair->b)->kind);
  return tl_fail(TALUS_ERROR_UNSUPPORTED,
                 "%s-%s contacts are not in this version: bodies %llu and %llu came near each "
                 "other; keep them apart, or put them in groups that ignore each other",
                 a, b, (unsigned long long)model->property.uid[pair->a],
                 (unsigned long long)model->property.uid[pair->b]);
}

static talus_status find_in_batch(batch *work, tl_contacts *contacts) {
  const tl_par *par = &work->model->par;
  tl_arena *arena = work->scope->arena;
  work->block_count = (work->pair_count - 1) / PAIRS_PER_BLOCK + 1;
  tl_for(par, work->block_count, GRAIN, measure_blocks, work);
  size_t room = 0;
  for (size_t i = 0; i < work->block_count; ++i) {
    if (work->blocks[i].no_entry)
      return refuse(work->model, work->blocks[i].no_entry);
    work->blocks[i].begin = room;
    room += work->blocks[i].room;
  }
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, room, &work->scratch);
  tl_for(par, work->block_count, GRAIN, find_in_blocks, work);
  size_t total = contacts->count;
  for (size_t i = 0; i < work->block_count; ++i) {
    work->blocks[i].target = total;
    total += work->blocks[i].count;
  }
  TL_TRY(tl_array_reserve(contacts, total));
  work->contacts = contacts->data;
  tl_for(par, work->block_count, GRAIN, append_blocks, work);
  contacts->count = total;
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

talus_status tl_narrow_find_contacts(const tl_model *model, const tl_scope *scope,
                                     const tl_pairs *pairs, const talus_real *margins,
                                     tl_contacts *contacts) {
  contacts->count = 0;
  pair_block blocks[BLOCKS_PER_BATCH];
  batch work = {.model = model, .scope = scope, .margins = margins, .blocks = blocks};
  for (size_t done = 0; done < pairs->count; done += work.pair_count) {
    const size_t left = pairs->count - done, most = PAIRS_PER_BLOCK * BLOCKS_PER_BATCH;
    work.pairs = pairs->data + done;
    work.pair_count = left < most ? left : most;
    TL_TRY(find_in_batch(&work, contacts));
  }
  return TALUS_OK;
}
