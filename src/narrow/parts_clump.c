/* Clumps: makes one list of near spheres for all pairs of bodies; then finds the contacts of each
 * element once, by the function of its kinds. */
#include "base/cancel.h"
#include "base/sort.h"
#include "narrow/clump.h"
#include "narrow/parts.h"

#define TESTS ((size_t)4096) /* pairs of spheres that a piece tests, about */
#define GRAIN ((size_t)64)   /* elements of the list that a thread takes */

/* A pair of bodies; its rows in the list begin at first[i]. */
typedef struct clumps_pair {
  tl_clump_pair_job job;
  tl_ordered ordered;
  size_t capacity; /* most contacts of two parts */
  size_t first;    /* of its rows in the list */
  size_t rows;
  tl_contact *room;
} clumps_pair;

/* Some spheres of the first body against all of the second. */
typedef struct piece {
  uint32_t pair, begin, end;
} piece;

typedef struct part_pair {
  uint32_t pair, a, b;
} part_pair;

typedef struct clumps {
  const tl_narrow_scope *scope;
  clumps_pair *pairs;
  tl_parts_pair **out;
  piece *pieces;
  uint64_t *offset; /* by piece: begin of its rows */
  part_pair *list;
  uint8_t *found; /* by row: number of contacts */
} clumps;

/* ---- the list -------------------------------------------------------------------------------- */

/* Lists the near parts of a piece; list NULL: only counts them. */
static size_t list_piece(const clumps *c, const piece *p, part_pair *list) {
  const tl_clump_pair_job *job = &c->pairs[p->pair].job;
  tl_clump_part a = {0}, b = {0};
  size_t count = 0;
  for (uint32_t i = p->begin; i < p->end; ++i) {
    tl_clump_part_make(&job->a, i, &a);
    if (tl_clump_is_far(&a.posed, &job->b.whole, job->margin))
      continue;
    for (uint32_t j = 0; j < job->b.parts; ++j) {
      tl_clump_part_make(&job->b, j, &b);
      if (tl_clump_is_far(&a.posed, &b.posed, job->margin))
        continue;
      if (list)
        list[count] = (part_pair){p->pair, i, j};
      ++count;
    }
  }
  return count;
}

static void count_pieces(void *context, size_t begin, size_t end) {
  const clumps *c = context;
  for (size_t i = begin; i < end && !tl_cancel_look(c->scope->crowd->cancel); ++i)
    c->offset[i] = list_piece(c, &c->pieces[i], NULL);
}

static void write_pieces(void *context, size_t begin, size_t end) {
  const clumps *c = context;
  for (size_t i = begin; i < end; ++i)
    list_piece(c, &c->pieces[i], c->list + c->offset[i]);
}

/* ---- contacts -------------------------------------------------------------------------------- */

static void search_rows(void *context, size_t begin, size_t end) {
  const clumps *c = context;
  for (size_t i = begin; i < end && !tl_cancel_look(c->scope->crowd->cancel); ++i) {
    const part_pair *row = &c->list[i];
    const clumps_pair *pair = &c->pairs[row->pair];
    tl_contact *out = pair->room + (i - pair->first) * pair->capacity;
    tl_point points[TL_NARROW_MAX_POINTS];
    const int count = tl_clump_find(&pair->job, row->a, row->b, points);
    if (pair->ordered.swapped)
      tl_narrow_swap(points, count);
    for (int k = 0; k < count; ++k)
      tl_order_write(&c->out[row->pair]->pair, pair->ordered.origin, &points[k], &out[k]);
    c->found[i] = (uint8_t)count;
  }
}

/* Puts the rows of a pair together, ascending by features. */
static void join_pairs(void *context, size_t begin, size_t end) {
  const clumps *c = context;
  for (size_t i = begin; i < end; ++i) {
    const clumps_pair *pair = &c->pairs[i];
    size_t count = 0;
    for (size_t k = 0; k < pair->rows; ++k) {
      const size_t n = c->found[pair->first + k];
      memmove(pair->room + count, pair->room + k * pair->capacity, n * sizeof *pair->room);
      count += n;
    }
    tl_order_sort(pair->room, count);
    c->out[i]->found = pair->room, c->out[i]->count = count;
  }
}

/* ---- the whole search ------------------------------------------------------------------------ */

static size_t rows_of_piece(const tl_clump_pair_job *job) {
  return job->b.parts < TESTS ? TESTS / job->b.parts : 1;
}

static talus_status make_pieces(clumps *c, size_t count, size_t *pieces) {
  tl_arena *arena = c->scope->crowd->arena;
  *pieces = 0;
  for (size_t i = 0; i < count; ++i) {
    clumps_pair *pair = &c->pairs[i];
    pair->ordered = tl_order_pair(c->scope, &c->out[i]->pair);
    tl_clump_pair_begin(&pair->ordered.first, &pair->ordered.second, pair->ordered.margin,
                        &pair->job);
    pair->capacity = (size_t)tl_narrow_capacity(pair->ordered.first.shape->kind,
                                                pair->ordered.second.shape->kind);
    *pieces += (pair->job.a.parts - 1) / rows_of_piece(&pair->job) + 1;
  }
  TL_TAKE(arena, *pieces, &c->pieces);
  TL_TAKE(arena, *pieces, &c->offset);
  for (size_t i = 0, k = 0; i < count; ++i) {
    const size_t parts = c->pairs[i].job.a.parts, rows = rows_of_piece(&c->pairs[i].job);
    for (size_t at = 0; at < parts; at += rows)
      c->pieces[k++] =
          (piece){(uint32_t)i, (uint32_t)at, (uint32_t)(parts - at < rows ? parts : at + rows)};
  }
  return TALUS_OK;
}

/* Finds the rows of each pair, and takes memory for their contacts. */
static talus_status make_room(clumps *c, size_t count, size_t pieces, size_t total) {
  tl_arena *arena = c->scope->crowd->arena;
  tl_contact *room;
  size_t contacts = 0;
  for (size_t i = count, end = total, k = pieces; i-- > 0;) {
    while (k > 0 && c->pieces[k - 1].pair == i)
      --k;
    c->pairs[i].first = c->offset[k];
    c->pairs[i].rows = end - c->offset[k];
    end = c->offset[k];
    contacts += c->pairs[i].rows * c->pairs[i].capacity;
  }
  TL_TAKE(arena, contacts, &room);
  for (size_t i = 0; i < count; ++i) {
    c->pairs[i].room = room;
    room += c->pairs[i].rows * c->pairs[i].capacity;
  }
  return TALUS_OK;
}

talus_status tl_parts_clumps(const tl_narrow_scope *scope, tl_parts_pair **pairs, size_t count) {
  clumps c = {.scope = scope, .out = pairs};
  tl_arena *arena = scope->crowd->arena;
  const tl_par *par = &scope->model->par;
  size_t pieces;
  uint64_t total;
  TL_TAKE(arena, count, &c.pairs);
  TL_TRY(make_pieces(&c, count, &pieces));
  tl_for(par, pieces, 8, count_pieces, &c);
  TL_GO_ON(scope->crowd->cancel);
  TL_TRY(tl_scan_u64(par, arena, c.offset, pieces, &total));
  TL_TAKE(arena, total, &c.list);
  TL_TAKE(arena, total, &c.found);
  TL_TRY(make_room(&c, count, pieces, total));
  tl_for(par, pieces, 8, write_pieces, &c);
  tl_for(par, total, GRAIN, search_rows, &c);
  TL_GO_ON(scope->crowd->cancel);
  tl_for(par, count, 8, join_pairs, &c);
  return TALUS_OK;
}
