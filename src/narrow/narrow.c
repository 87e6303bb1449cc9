/* Contacts of all pairs, in the order of the pairs, with bounded scratch.
 *
 * Pairs are processed in blocks. Each block writes its contacts into room of its own, whose size
 * follows from the kinds of its pairs; then the blocks are appended to the set in order. A batch is
 * as many blocks as fit into the scratch. The result depends on the pairs only, not on which thread
 * processed which block, and the set never holds room for pairs that do not touch. */
#include "narrow/narrow.h"
#include "contact/history.h"
#include "contact/reach.h"
#include "base/cancel.h"
#include "kernels/collide_sphere.h"
#include "kernels/patch.h"
#include "narrow/clump.h"
#include "narrow/ellipsoid.h"
#include "narrow/parts.h"
#include "narrow/spheres.h"
#include "narrow/swept.h"
#include "shape/shape.h"

#define PAIRS_PER_BLOCK ((size_t)256)
#define ROOM_OF_BATCH   ((size_t)4096) /* contacts; more would save few forks and cost memory */
#define GRAIN           ((size_t)4)    /* blocks for which a thread is woken */

typedef struct pair_block {
  size_t room;                         /* upper bound of its contacts */
  size_t begin;                        /* offset of its room in the scratch */
  size_t count;                        /* contacts found */
  size_t target;                       /* offset of its contacts in the set */
  const tl_pair *no_entry;             /* first pair without an entry in the table, or NULL */
  uint64_t look[PAIRS_PER_BLOCK / 64]; /* pairs that may meet */
  uint64_t far[PAIRS_PER_BLOCK / 64];  /* pairs of spheres that only spins may bring together */
  size_t strikes;                      /* pairs of spheres that will certainly strike */
  size_t searched;                     /* pairs that keep an axis if they have no contact */
  size_t kept_begin, kept_count;       /* its axes, in the scratch */
  size_t kept_target;                  /* offset of its axes in the list */
  /* all pairs are of spheres and have a contact: `room` of them */
  bool spheres;
  bool starts; /* first block of a batch */
} pair_block;

typedef struct work {
  const tl_model *model;
  const tl_crowd *crowd;
  const tl_pairs *pairs;
  const talus_real *margins; /* by slot */
  pair_block *blocks;        /* of all pairs */
  size_t block_count;
  size_t first;         /* first block of the batch */
  tl_contact *scratch;  /* of the batch */
  tl_contact *contacts; /* the whole set */
  tl_ell_finder ellipsoids;
  tl_sphere_row *spheres;    /* by slot, or NULL */
  const tl_contacts *before; /* their normals are guesses; or NULL */
  bool searches;             /* some pairs may have a guess or an axis */
  tl_kept_axes *kept;        /* or NULL */
  tl_kept_axis *kept_scratch;
  const tl_sphere_loops *loops;
  tl_swept swept;
  tl_sphere_way way;
  tl_sphere_reach reach;
  tl_narrow_scope scope;
  tl_parts parts; /* contacts of clumps and meshes, found first */
} work;

static const tl_pair *block_pairs(const work *job, size_t block, size_t *count) {
  const size_t begin = block * PAIRS_PER_BLOCK, left = job->pairs->count - begin;
  *count = left < PAIRS_PER_BLOCK ? left : PAIRS_PER_BLOCK;
  return job->pairs->data + begin;
}

/* ---- one pair ------------------------------------------------------------------------------- */

static size_t write_points(const tl_pair *pair, const tl_ordered *p, tl_point *points, int count,
                           tl_contact *out) {
  if (p->swapped)
    tl_narrow_swap(points, count);
  for (int i = 0; i < count; ++i)
    tl_order_write(pair, p->origin, &points[i], &out[i]);
  return (size_t)count;
}

/* Searches a pair that keeps axes. last: its contact of the last step, whose normal is a guess, or
 * NULL. */
static size_t search_pair(const work *job, const tl_pair *pair, const tl_contact *guess,
                          tl_contact *out, talus_dvec3 *parting) {
  const tl_ordered p = tl_order_pair(&job->scope, pair);
  const double sign = p.swapped ? -1 : 1;
  tl_point points[TL_NARROW_MAX_POINTS];
  talus_dvec3 normal;
  if (guess) { /* a unit vector in float has length 1 to about 1e-7 */
    const talus_vec3 n = guess->normal;
    normal = tl_dunit(tl_dvec3(sign * (double)n.x, sign * (double)n.y, sign * (double)n.z));
  }
  const int count =
      tl_narrow_search(&p.first, &p.second, guess ? &normal : NULL, p.margin, points, parting);
  *parting = tl_dscale(*parting, sign);
  return write_points(pair, &p, points, count, out);
}

static size_t find_by_table(const work *job, const tl_pair *pair, tl_contact *out) {
  const tl_ordered p = tl_order_pair(&job->scope, pair);
  tl_point points[TL_NARROW_MAX_POINTS];
  tl_narrow_fn *const find = tl_narrow_table[p.first.shape->kind][p.second.shape->kind];
  return write_points(pair, &p, points, find(&p.first, &p.second, p.margin, points), out);
}
/* Part of a bounding radius by which places of its body may be farther out, by rounding. */
#define BEYOND (4 * (double)TL_REAL_EPS + 1e-9)

/* Radius of a ball about the body's position that holds it, m. */
static double reach_of(const work *job, uint32_t slot) {
  const tl_shape *shape = tl_body_shape(job->model, slot);
  const double scale = (double)job->model->property.scale[slot];
  return shape->kind == TALUS_SPHERE ? shape->size[0] * scale
                                     : (double)shape->radius * scale * (1 + BEYOND);
}

/* True if a body is far from every wall of a container; most are, and need no further test. */
static bool is_well_inside(const work *job, uint32_t body, uint32_t container, talus_real margin) {
  const tl_shape *walls = tl_body_shape(job->model, container);
  const talus_quat q = job->crowd->in->rotation[container];
  const double half = 0.5 * (double)job->model->property.scale[container];
  const double need = reach_of(job, body) + (double)margin;
  talus_dvec3 x = tl_model_offset(job->model, job->crowd->in->position[container],
                                  job->crowd->in->position[body]);
  if (q.x != 0 || q.y != 0 || q.z != 0) {
    const tl_frame frame = tl_frame_from_quat(q);
    x = tl_frame_to_local(&frame, x);
  }
  return fabs(x.x) + need < half * walls->size[0] && fabs(x.y) + need < half * walls->size[1] &&
         fabs(x.z) + need < half * walls->size[2];
}

/* True if one of the pair is a container whose walls are all far away from the other. */
static bool is_within_walls(const work *job, const tl_pair *pair) {
  const tl_shape *a = tl_body_shape(job->model, pair->a), *b = tl_body_shape(job->model, pair->b);
  const talus_real margin = job->margins[pair->a] + job->margins[pair->b];
  if (b->kind == TALUS_CONTAINER)
    return a->radius > 0 && is_well_inside(job, pair->a, pair->b, margin);
  if (a->kind == TALUS_CONTAINER)
    return b->radius > 0 && is_well_inside(job, pair->b, pair->a, margin);
  return false;
}

static size_t find_in_pair(const work *job, const tl_pair *pair, tl_contact *out) {
  const tl_model *model = job->model;
  const tl_shape *shape_a = tl_body_shape(model, pair->a), *shape_b = tl_body_shape(model, pair->b);
  const tl_parts_pair *known = job->parts.count > 0 ? tl_parts_of(&job->parts, pair) : NULL;
  if (known) {
    memcpy(out, known->found, known->count * sizeof *out);
    return known->count;
  }
  if (shape_a->kind != TALUS_SPHERE || shape_b->kind != TALUS_SPHERE)
    return find_by_table(job, pair, out);
  /* Most pairs of most scenes: tested without the table. */
  const talus_real margin = job->margins[pair->a] + job->margins[pair->b];
  const talus_dvec3 *position = job->crowd->in->position;
  const talus_dvec3 to_b = tl_model_offset(model, position[pair->a], position[pair->b]);
  const double radius_a = shape_a->size[0] * (double)model->property.scale[pair->a];
  const double radius_b = shape_b->size[0] * (double)model->property.scale[pair->b];
  tl_point point;
  if (tl_collide_sphere_sphere(radius_a, radius_b, to_b, (double)margin, &point) == 0)
    return 0;
  tl_order_write(pair, position[pair->a], &point, out);
  return 1;
}

/* ---- all pairs ------------------------------------------------------------------------------ */

/* Upper bound of the contacts of a pair. */
static size_t room_of(const work *job, pair_block *block, const tl_pair *pair) {
  const talus_shape_kind a = tl_body_shape(job->model, pair->a)->kind;
  const talus_shape_kind b = tl_body_shape(job->model, pair->b)->kind;
  if (a == TALUS_SPHERE && b == TALUS_SPHERE)
    return 1;
  const tl_parts_pair *known = job->parts.count > 0 ? tl_parts_of(&job->parts, pair) : NULL;
  if (known)
    return known->count;
  const int room = tl_narrow_capacity(a, b);
  block->searched += job->kept && tl_narrow_keeps_axis(a, b);
  if (room == 0 && !block->no_entry)
    block->no_entry = pair;
  return (size_t)room;
}

/* Marks which of up to 64 pairs may have contacts: pairs of spheres that do, and other pairs except
 * bodies far from a container's walls. Returns the room that they need. */
static size_t measure_word(const work *job, pair_block *block, const tl_pair *pairs, size_t count,
                           uint64_t *look, uint64_t *far) {
  tl_sphere_word word = {.others = count < 64 ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0)};
  if (job->spheres)
    job->loops->meet(job->spheres, pairs, count, &job->reach, &word);
  *look = word.meets;
  *far = word.far;
  block->strikes += word.strikes;
  size_t room = (size_t)__builtin_popcountll(*look);
  for (uint64_t left = word.others; left; left &= left - 1) {
    const int i = __builtin_ctzll(left);
    if (is_within_walls(job, &pairs[i]))
      continue;
    *look |= UINT64_C(1) << i;
    block->spheres = false;
    room += room_of(job, block, &pairs[i]);
  }
  return room;
}

static void measure_blocks(void *context, size_t begin, size_t end) {
  const work *job = context;
  for (size_t i = begin; i < end; ++i) {
    pair_block *block = &job->blocks[i];
    size_t count;
    const tl_pair *pairs = block_pairs(job, i, &count);
    block->room = block->searched = block->strikes = 0;
    block->no_entry = NULL;
    block->spheres = job->spheres != NULL;
    for (size_t k = 0; k < count && !tl_cancel_look(job->crowd->cancel); k += 64)
      block->room += measure_word(job, block, pairs + k, count - k < 64 ? count - k : 64,
                                  &block->look[k / 64], &block->far[k / 64]);
  }
}

/* Removes pairs whose contacts would be removed later (contact/reach.h). */
static void drop_far_pairs(void *context, size_t begin, size_t end) {
  const work *job = context;
  for (size_t i = begin; i < end; ++i) {
    pair_block *block = &job->blocks[i];
    size_t count;
    const tl_pair *pairs = block_pairs(job, i, &count);
    for (size_t k = 0; k < count; k += 64)
      for (uint64_t left = block->far[k / 64]; left; left &= left - 1) {
        const size_t bit = (size_t)__builtin_ctzll(left);
        if (!tl_spheres_are_apart(job->crowd, job->spheres, &job->reach, pairs[k + bit]))
          continue;
        block->look[k / 64] &= ~(UINT64_C(1) << bit);
        block->room--;
      }
  }
}

/* In a crowd of bodies that strike each other most contacts ahead are found in vain. If pairs of
 * spheres alone show that it is such a crowd, those contacts are not written. */
static void drop_far(work *job, size_t contacts) {
  size_t strikes = 0;
  for (size_t i = 0; i < job->block_count; ++i) {
    strikes += job->blocks[i].strikes;
    contacts += job->blocks[i].room;
  }
  if (tl_reach_is_crowd(strikes, contacts))
    tl_for_uneven(&job->model->par, job->block_count, GRAIN, drop_far_pairs, job);
}

/* Lists the pairs of a block that may have contacts, in order; returns their number. */
static size_t list_looks(const work *job, size_t block, tl_pair list[PAIRS_PER_BLOCK]) {
  size_t count, n = 0;
  const tl_pair *pairs = block_pairs(job, block, &count);
  for (size_t k = 0; k < count; k += 64)
    for (uint64_t left = job->blocks[block].look[k / 64]; left; left &= left - 1)
      list[n++] = pairs[k + (size_t)__builtin_ctzll(left)];
  return n;
}

/* Cursors of a block in the data of the last step, in the order of its pairs. */
typedef struct recall {
  size_t contact, axis; /* cursors */
  tl_kept_axis *kept;   /* axes of this step */
  size_t count;
} recall;

static recall recall_from(const work *job, const pair_block *block, tl_pair first) {
  recall r = {0};
  if (job->before)
    r.contact = tl_history_find(job->before, first);
  if (job->kept) {
    r.axis = tl_kept_find(&job->kept->before, first);
    r.kept = job->kept_scratch + block->kept_begin;
  }
  return r;
}

/* All contacts of a pair have one normal, so the first is the guess. A pair without a contact may
 * have an axis instead; one that has no contact now keeps an axis. */
static size_t search_with_memory(const work *job, const tl_pair *pair, recall *r, tl_contact *out) {
  const tl_contact *guess = job->before ? tl_history_next(job->before, *pair, &r->contact) : NULL;
  const tl_kept_axis *last =
      job->kept && !guess ? tl_kept_next(&job->kept->before, *pair, &r->axis) : NULL;
  if (last) {
    r->kept[r->count] = *last;
    if (tl_kept_parts(job->crowd, job->margins[pair->a] + job->margins[pair->b],
                      &r->kept[r->count])) {
      r->count++;
      return 0;
    }
  }
  talus_dvec3 parting;
  const size_t count = search_pair(job, pair, guess, out, &parting);
  if (count == 0 && job->kept)
    r->kept[r->count++] = tl_kept_make(*pair, parting);
  return count;
}

/* Contacts of a pair, changed if it moves sideways within the step (swept.h). */
static size_t find_on_way(const work *job, const tl_pair *pair, recall *r, tl_contact *out) {
  const bool searched =
      job->searches && tl_narrow_keeps_axis(tl_body_shape(job->model, pair->a)->kind,
                                            tl_body_shape(job->model, pair->b)->kind);
  const size_t count =
      searched ? search_with_memory(job, pair, r, out) : find_in_pair(job, pair, out);
  return tl_swept_pair(&job->swept, out, count);
}

/* Pairs of ellipsoids go through lanes together; contacts are written in the order of the pairs. */
static size_t find_in_run(const work *job, const tl_pair *pairs, size_t count, recall *r,
                          tl_contact *out) {
  uint8_t hits[TL_ELL_BATCH];
  tl_point points[TL_ELL_BATCH];
  size_t found = 0;
  tl_ell_find(&job->ellipsoids, pairs, count, hits, points);
  for (size_t k = 0; k < count; ++k) {
    if (hits[k] == TL_ELL_OTHER)
      found += find_on_way(job, &pairs[k], r, out + found);
    if (hits[k] == TL_ELL_OTHER || !hits[k])
      continue;
    tl_order_write(&pairs[k], job->crowd->in->position[pairs[k].a], &points[k], &out[found]);
    found += tl_swept_pair(&job->swept, &out[found], 1);
  }
  return found;
}

static void find_in_blocks(void *context, size_t begin, size_t end) {
  const work *job = context;
  tl_pair pairs[PAIRS_PER_BLOCK];
  for (size_t i = job->first + begin; i < job->first + end; ++i) {
    pair_block *block = &job->blocks[i];
    if (tl_cancel_look(job->crowd->cancel))
      return;
    block->count = block->room;
    block->kept_count = 0;
    if (block->spheres)
      continue; /* written in place */
    const size_t count = list_looks(job, i, pairs);
    size_t found = 0;
    tl_contact *out = job->scratch + block->begin;
    recall r = {0};
    if (count > 0)
      r = recall_from(job, block, pairs[0]);
    if (job->ellipsoids.rows) {
      for (size_t k = 0; k < count; k += TL_ELL_BATCH) {
        const size_t left = count - k;
        found +=
            find_in_run(job, pairs + k, left < TL_ELL_BATCH ? left : TL_ELL_BATCH, &r, out + found);
      }
    } else {
      for (size_t k = 0; k < count; ++k)
        found += find_on_way(job, &pairs[k], &r, out + found);
    }
    TL_ASSERT(found <= block->room && r.count <= block->searched);
    block->count = found;
    block->kept_count = r.count;
  }
}

static void write_spheres(const work *job, const tl_pair *pairs, size_t count, tl_contact *out) {
  uint64_t doubts[PAIRS_PER_BLOCK / 64] = {0};
  job->loops->write(job->spheres, pairs, count, &job->way, out, doubts);
  for (size_t word = 0; word < PAIRS_PER_BLOCK / 64; ++word)
    for (uint64_t left = doubts[word]; left; left &= left - 1)
      tl_swept_pair(&job->swept, &out[64 * word + (size_t)__builtin_ctzll(left)], 1);
}

static void append_blocks(void *context, size_t begin, size_t end) {
  const work *job = context;
  tl_pair pairs[PAIRS_PER_BLOCK];
  for (size_t i = job->first + begin; i < job->first + end; ++i) {
    const pair_block *block = &job->blocks[i];
    if (block->kept_count > 0)
      memcpy(job->kept->after.data + block->kept_target, job->kept_scratch + block->kept_begin,
             block->kept_count * sizeof *job->kept_scratch);
    if (block->count == 0)
      continue;
    if (block->spheres)
      write_spheres(job, pairs, list_looks(job, i, pairs), job->contacts + block->target);
    else
      memcpy(job->contacts + block->target, job->scratch + block->begin,
             block->count * sizeof *job->contacts);
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

/* Assigns room to blocks; *most and *most_kept are the sizes of the largest batch. */
static talus_status plan_batches(const work *job, size_t *most, size_t *most_kept) {
  size_t used = 0, kept = 0;
  *most = *most_kept = 0;
  for (size_t i = 0; i < job->block_count; ++i) {
    pair_block *block = &job->blocks[i];
    if (block->no_entry)
      return refuse(job->model, block->no_entry);
    const size_t room = block->spheres ? 0 : block->room;
    block->starts = i == 0 || used + room > ROOM_OF_BATCH;
    if (block->starts)
      used = kept = 0;
    block->begin = used;
    block->kept_begin = kept;
    used += room;
    kept += block->searched;
    *most = used > *most ? used : *most;
    *most_kept = kept > *most_kept ? kept : *most_kept;
  }
  return TALUS_OK;
}

/* Takes room for the axes of a batch behind those that are kept already. */
static talus_status lay_kept(const work *job, size_t blocks) {
  if (!job->kept)
    return TALUS_OK;
  size_t total = job->kept->after.count;
  for (size_t i = job->first; i < job->first + blocks; ++i) {
    job->blocks[i].kept_target = total;
    total += job->blocks[i].kept_count;
  }
  return tl_array_resize(&job->kept->after, total);
}

/* Runs the blocks from job->first on that share the scratch. */
static talus_status run_batch(work *job, size_t blocks, tl_contacts *contacts) {
  const tl_par *par = &job->model->par;
  tl_for_uneven(par, blocks, GRAIN, find_in_blocks, job);
  TL_GO_ON(job->crowd->cancel); /* otherwise blocks are not counted */
  size_t total = contacts->count;
  for (size_t i = job->first; i < job->first + blocks; ++i) {
    job->blocks[i].target = total;
    total += job->blocks[i].count;
  }
  TL_TRY(tl_array_reserve(contacts, total));
  TL_TRY(lay_kept(job, blocks));
  job->contacts = contacts->data;
  tl_for_uneven(par, blocks, GRAIN, append_blocks, job);
  contacts->count = total;
  return TALUS_OK;
}

static talus_status run_batches(work *job, tl_contacts *contacts) {
  tl_arena *arena = job->crowd->arena;
  job->block_count = (job->pairs->count - 1) / PAIRS_PER_BLOCK + 1;
  TL_TAKE(arena, job->block_count, &job->blocks);
  TL_TRY(tl_spheres_take(job->crowd, job->pairs->count, job->margins, &job->spheres));
  TL_TRY(tl_parts_find(&job->scope, job->pairs, &job->parts));
  TL_GO_ON(job->crowd->cancel);
  tl_for_uneven(&job->model->par, job->block_count, GRAIN, measure_blocks, job);
  TL_GO_ON(job->crowd->cancel); /* otherwise blocks are not measured */
  drop_far(job, contacts->count);
  size_t most, most_kept;
  TL_TRY(plan_batches(job, &most, &most_kept));
  TL_TRY(tl_ell_prepare(&job->ellipsoids));
  TL_TAKE(arena, most, &job->scratch);
  TL_TAKE(arena, most_kept, &job->kept_scratch);
  while (job->first < job->block_count) {
    size_t end = job->first + 1;
    while (end < job->block_count && !job->blocks[end].starts)
      ++end;
    TL_GO_ON(job->crowd->cancel);
    TL_TRY(run_batch(job, end - job->first, contacts));
    job->first = end;
  }
  return TALUS_OK;
}

bool tl_narrow_meets(const tl_crowd *crowd, const tl_pair *pair, const talus_real *margins) {
  const tl_model *model = crowd->model;
  const tl_narrow_scope scope = {.model = model, .crowd = crowd, .margins = margins};
  const work job = {.model = model, .crowd = crowd, .margins = margins, .scope = scope};
  const talus_shape_kind a = tl_body_shape(model, pair->a)->kind;
  const talus_shape_kind b = tl_body_shape(model, pair->b)->kind;
  tl_contact found[TL_NARROW_MAX_POINTS];
  if (tl_narrow_capacity(a, b) == 0)
    return false;
  if (!tl_has_clump(a, b))
    return find_in_pair(&job, pair, found) > 0;
  const tl_ordered p = tl_order_pair(&scope, pair);
  return tl_clump_meets(&p.first, &p.second, p.margin);
}

talus_status tl_narrow_find_contacts(const tl_crowd *crowd, const tl_pairs *pairs,
                                     const talus_real *margins, tl_contacts *contacts) {
  contacts->count = 0;
  return tl_narrow_add_contacts(crowd, pairs, margins, contacts);
}

talus_status tl_narrow_add_contacts(const tl_crowd *crowd, const tl_pairs *pairs,
                                    const talus_real *margins, tl_contacts *contacts) {
  const tl_model *model = crowd->model;
  if (pairs->count == 0)
    return TALUS_OK;
  const bool searches = tl_narrow_uses_axes(model);
  tl_kept_axes *kept = searches ? crowd->kept_axes : NULL;
  work job = {
      .model = model,
      .crowd = crowd,
      .pairs = pairs,
      .margins = margins,
      .before = tl_narrow_uses_guesses(model) ? crowd->contacts_before : NULL,
      .searches = searches,
      .kept = kept,
      .loops = tl_spheres_loops(),
      .swept = {.model = model, .crowd = crowd, .margins = margins},
      .reach = tl_spheres_reach(crowd),
      .way = {.h = tl_swept_is_on(model, crowd) ? crowd->dt : 0, .takes_slow = model->margin >= 0},
      .scope = {.model = model, .crowd = crowd, .margins = margins},
      .ellipsoids = {.model = model, .crowd = crowd, .margins = margins}};
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  if (kept)
    kept->after.count = 0;
  const talus_status status = run_batches(&job, contacts);
  if (kept && status == TALUS_OK) {
    const tl_kept_list before = kept->before;
    kept->before = kept->after, kept->after = before;
  }
  tl_arena_release(crowd->arena, mark);
  return status;
}
