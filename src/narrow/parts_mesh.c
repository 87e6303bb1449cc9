/* Two meshes, or a mesh and a revolved wall, by their near triangles (narrow/front.h): a run
 * belongs to one triangle, threads take blocks of runs, and the results of blocks are combined. */
#include "narrow/front.h"
#include "narrow/mesh_contour.h"
#include "narrow/multires_pair.h"
#include "narrow/parts.h"
#include "narrow/revolved.h"

/* Triangles of one block of one body, and what is near them; or, where something is deep, all
 * triangles of the block. */
typedef struct piece {
  uint32_t pair;
  bool is_a;
  tl_mesh_depth depth;
  size_t begin, end; /* of the keys; of the triangles where it looks deep */
  int count;
  bool is_deep;
  tl_mesh_way way[TL_MESH_LOOPS]; /* along the directions of contours */
  tl_point *points;               /* room of the job */
} piece;

/* State of a pair after its near triangles are known. */
typedef struct pair_state {
  tl_mesh_depth depth;
  tl_mesh_contours contours;
  tl_mesh_points points;
} pair_state;

typedef struct meshes {
  const tl_narrow_scope *scope;
  bool is_first; /* first search; pairs for which it is not sufficient remain */
  tl_parts_pair **pairs;
  size_t count;
  tl_ordered *ordered;
  tl_mesh_pair *meshes;
  tl_multires *fronts; /* fronts that go down one level with each look; or NULL */
  tl_front_list near;
  piece *pieces;
  size_t piece_count;
  piece *deep;
  size_t deep_count;
  pair_state *state;
  size_t *first; /* by pair: its first piece, and one more */
  size_t *first_deep;
  size_t most;      /* points of a piece, and of a pair */
  tl_contact *room; /* `most` for each pair */
} meshes;

/* ---- pieces ---------------------------------------------------------------------------------- */

static void meet_run(const tl_mesh_pair *pair, piece *p, const tl_mesh_run *run,
                     tl_mesh_points *points) {
  if (!pair->thesis) {
    p->is_deep = tl_mesh_pair_meet(pair, run, points) || p->is_deep;
    return;
  }
  for (size_t i = 0; i < run->count; ++i)
    tl_mesh_pair_meet_near(pair, run->triangle, tl_mesh_key_other(run->keys[i]), points);
}

static void search_near(const meshes *job, piece *p, tl_mesh_points *points) {
  const tl_mesh_key *keys = p->is_a ? job->near.of_a : job->near.of_b;
  for (size_t i = p->begin; i < p->end;) {
    tl_mesh_run run = {.is_a = p->is_a, .triangle = tl_mesh_key_own(keys[i]), .keys = keys + i};
    while (i < p->end && tl_mesh_key_own(keys[i]) == run.triangle)
      ++i, ++run.count;
    meet_run(&job->meshes[p->pair], p, &run, points);
  }
}

static void search_piece(const meshes *job, piece *p) {
  const tl_mesh_pair *pair = &job->meshes[p->pair];
  const tl_mesh_contours *contours = &job->state[p->pair].contours;
  tl_mesh_points points;
  tl_mesh_points_start(&points, pair);
  if (p->depth == TL_MESH_SHALLOW)
    search_near(job, p, &points);
  if (p->depth == TL_MESH_BY_CONTOURS)
    tl_mesh_contours_begin(contours, p->way);
  for (size_t i = p->begin; i < p->end && p->depth == TL_MESH_BY_CONTOURS; ++i)
    tl_mesh_contours_reach(pair, contours, p->is_a, (uint32_t)i, p->way);
  for (size_t i = p->begin; i < p->end && p->depth == TL_MESH_BY_VERTICES; ++i)
    tl_mesh_pair_meet_deep(pair, p->is_a, (uint32_t)i, &points);
  tl_mesh_points_close(&points);
  memcpy(p->points, points.list, (size_t)points.count * sizeof *p->points);
  p->count = points.count;
}

static void search_pieces(void *context, size_t begin, size_t end) {
  const meshes *job = context;
  for (size_t i = begin; i < end; ++i)
    if (!tl_cancel_look(job->scope->crowd->cancel))
      search_piece(job, &job->pieces[i]);
}

static void search_deep(void *context, size_t begin, size_t end) {
  const meshes *job = context;
  for (size_t i = begin; i < end; ++i)
    if (!tl_cancel_look(job->scope->crowd->cancel))
      search_piece(job, &job->deep[i]);
}

/* Cuts the keys of a body into blocks of triangles; out NULL: only counts them. */
static size_t cut_keys(const tl_mesh_key *keys, size_t begin, size_t end, piece model, piece *out) {
  size_t count = 0;
  for (size_t i = begin; i < end; ++count) {
    const uint32_t block = tl_mesh_key_own(keys[i]) / TL_MESH_BLOCK;
    size_t last = i;
    while (last < end && tl_mesh_key_own(keys[last]) / TL_MESH_BLOCK == block)
      ++last;
    if (out) {
      out[count] = model;
      out[count].begin = i, out[count].end = last;
    }
    i = last;
  }
  return count;
}

static size_t cut_pair(const meshes *job, size_t i, piece *out) {
  const size_t begin = job->near.start[i], end = job->near.start[i + 1];
  piece model = {.pair = (uint32_t)i, .is_a = true};
  const size_t of_a = cut_keys(job->near.of_a, begin, end, model, out);
  model.is_a = false;
  if (job->meshes[i].thesis)
    return of_a;
  return of_a + cut_keys(job->near.of_b, begin, end, model, out ? out + of_a : NULL);
}

static size_t cut_deep(const meshes *job, size_t i, piece *out) {
  size_t count = 0;
  const bool looks =
      job->state[i].depth == TL_MESH_BY_CONTOURS || job->state[i].depth == TL_MESH_BY_VERTICES;
  for (int side = 0; side < 2 && looks; ++side) {
    const size_t triangles =
        side == 0 ? job->meshes[i].a.f->triangles : job->meshes[i].b.f->triangles;
    for (size_t t = 0; t < triangles; t += TL_MESH_BLOCK, ++count)
      if (out)
        out[count] = (piece){.pair = (uint32_t)i,
                             .is_a = side == 0,
                             .depth = job->state[i].depth,
                             .begin = t,
                             .end = triangles - t < TL_MESH_BLOCK ? triangles : t + TL_MESH_BLOCK};
  }
  return count;
}

typedef size_t cut_fn(const meshes *job, size_t i, piece *out);

static talus_status make_pieces(const meshes *job, cut_fn *cut, piece **pieces, size_t *total,
                                size_t **first) {
  tl_arena *arena = job->scope->crowd->arena;
  tl_point *points;
  *total = 0;
  TL_TAKE(arena, job->count + 1, first);
  for (size_t i = 0; i < job->count; ++i) {
    (*first)[i] = *total;
    *total += cut(job, i, NULL);
  }
  (*first)[job->count] = *total;
  TL_TAKE(arena, *total, pieces);
  TL_TAKE(arena, *total * job->most, &points);
  for (size_t i = 0; i < job->count; ++i)
    cut(job, i, *pieces + (*first)[i]);
  for (size_t i = 0; i < *total; ++i)
    (*pieces)[i].points = points + i * job->most;
  return TALUS_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void add_pieces(const piece *pieces, size_t begin, size_t end, tl_mesh_points *points) {
  for (size_t k = begin; k < end; ++k)
    for (int i = 0; i < pieces[k].count; ++i)
      tl_mesh_points_add(points, &pieces[k].points[i]);
}

static tl_mesh_crossings crossings_of(const meshes *job, size_t i) {
  const size_t begin = job->near.start[i];
  /* No key is no tree to ask: the list is known. */
  static const tl_mesh_key none;
  return (tl_mesh_crossings){.pair = &job->meshes[i],
                             .keys = job->near.of_a ? job->near.of_a + begin : &none,
                             .count = job->near.start[i + 1] - begin,
                             .cancel = job->scope->crowd->cancel};
}

static void judge_depth(const meshes *job, size_t i, bool is_deep) {
  pair_state *state = &job->state[i];
  const tl_mesh_crossings crossings = crossings_of(job, i);
  state->depth =
      tl_mesh_contours_judge(&crossings, job->is_first, is_deep, &state->points, &state->contours);
}

/* Adds contacts of surrogates if the front of the pair has not reached triangles; the depth is then
 * found later. */
static bool add_coarse(const meshes *job, size_t i) {
  const tl_pair *bodies = &job->pairs[i]->pair;
  const tl_multires_pair *front =
      job->fronts ? tl_multires_of(job->fronts, bodies->a, bodies->b) : NULL;
  if (!front || front->widened == 0)
    return false;
  for (size_t k = 0; k < front->coarse.count; ++k)
    tl_mesh_points_add(&job->state[i].points, &front->coarse.data[k]);
  return true;
}

static void join_pieces(void *context, size_t begin, size_t end) {
  const meshes *job = context;
  for (size_t i = begin; i < end; ++i) {
    pair_state *state = &job->state[i];
    bool is_deep = false;
    state->depth = TL_MESH_SHALLOW;
    state->contours.count = 0, state->contours.is_pierced = false;
    tl_mesh_points_start(&state->points, &job->meshes[i]);
    add_pieces(job->pieces, job->first[i], job->first[i + 1], &state->points);
    for (size_t k = job->first[i]; k < job->first[i + 1]; ++k)
      is_deep = is_deep || job->pieces[k].is_deep;
    if (!add_coarse(job, i))
      judge_depth(job, i, is_deep);
  }
}

static void finish_deep(const meshes *job, size_t i) {
  pair_state *state = &job->state[i];
  for (size_t k = job->first_deep[i]; k < job->first_deep[i + 1]; ++k)
    tl_mesh_contours_join(&state->contours, job->deep[k].way);
  tl_mesh_contours_finish(&job->meshes[i], &state->contours, &state->points);
}

static void finish_pairs(void *context, size_t begin, size_t end) {
  const meshes *job = context;
  for (size_t i = begin; i < end; ++i) {
    pair_state *state = &job->state[i];
    tl_point out[TL_PARTS_MAX_POINTS];
    tl_parts_pair *pair = job->pairs[i];
    if (state->depth == TL_MESH_AGAIN)
      continue;
    if (state->depth == TL_MESH_BY_CONTOURS)
      finish_deep(job, i);
    else
      add_pieces(job->deep, job->first_deep[i], job->first_deep[i + 1], &state->points);
    const tl_mesh_crossings crossings = crossings_of(job, i);
    tl_mesh_contours_part(&crossings, &state->contours, &state->points);
    int count = tl_mesh_points_take(&state->points, out);
    if (job->ordered[i].second.shape->kind == TALUS_REVOLVED)
      count = tl_revolved_keep(&job->ordered[i].first, &job->ordered[i].second, out, count);
    if (job->ordered[i].swapped)
      tl_narrow_swap(out, count);
    pair->count = (size_t)count;
    pair->found = job->room + i * job->most;
    for (size_t k = 0; k < pair->count; ++k)
      tl_order_write(&pair->pair, job->ordered[i].origin, &out[k], &pair->found[k]);
  }
}

static talus_status prepare(meshes *job) {
  tl_arena *arena = job->scope->crowd->arena;
  TL_TAKE(arena, job->count * job->most, &job->room);
  TL_TAKE(arena, job->count, &job->ordered);
  TL_TAKE(arena, job->count, &job->meshes);
  TL_TAKE(arena, job->count, &job->state);
  for (size_t i = 0; i < job->count; ++i) {
    job->ordered[i] = tl_parts_order(job->scope, &job->pairs[i]->pair);
    job->meshes[i] = tl_mesh_pair_make(&job->ordered[i].first, &job->ordered[i].second,
                                       job->ordered[i].margin, job->is_first);
  }
  return TALUS_OK;
}

static talus_status find_by_fronts(meshes *job, const tl_fronts *fronts) {
  tl_pair *bodies;
  TL_TAKE(job->scope->crowd->arena, job->count, &bodies);
  for (size_t i = 0; i < job->count; ++i)
    bodies[i] = job->pairs[i]->pair;
  return tl_multires_find(job->fronts, fronts, bodies, &job->near);
}

/* Moves pairs that must be searched again to the front of the list: *left. */
static talus_status look(const tl_narrow_scope *scope, bool first, tl_parts_pair **pairs,
                         size_t count, size_t *left) {
  meshes job = {.scope = scope,
                .is_first = first,
                .pairs = pairs,
                .count = count,
                .most =
                    scope->model->solve.kind == TALUS_SOLVE_PENALTY ? TL_MESH_WHOLE : TL_MESH_MOST,
                .fronts = first ? scope->crowd->multires : NULL};
  const tl_par *par = &scope->model->par;
  struct tl_cancel *cancel = scope->crowd->cancel;
  TL_TRY(prepare(&job));
  const tl_fronts fronts = {.par = par,
                            .arena = scope->crowd->arena,
                            .cancel = cancel,
                            .pairs = job.meshes,
                            .count = count,
                            .method = scope->model->narrow.triangle,
                            .surrogates = scope->model->narrow.tree == TALUS_TREE_SURROGATE,
                            .counts = scope->crowd->counts};
  if (job.fronts)
    TL_TRY(find_by_fronts(&job, &fronts));
  else
    TL_TRY(tl_fronts_find(&fronts, &job.near));
  TL_TRY(make_pieces(&job, cut_pair, &job.pieces, &job.piece_count, &job.first));
  tl_deal(par, job.piece_count, search_pieces, &job);
  TL_GO_ON(cancel);
  tl_deal(par, count, join_pieces, &job);
  TL_TRY(make_pieces(&job, cut_deep, &job.deep, &job.deep_count, &job.first_deep));
  tl_deal(par, job.deep_count, search_deep, &job);
  TL_GO_ON(cancel);
  tl_for(par, count, 8, finish_pairs, &job);
  TL_GO_ON(cancel);
  *left = 0;
  for (size_t i = 0; i < count; ++i)
    if (job.state[i].depth == TL_MESH_AGAIN)
      pairs[(*left)++] = pairs[i];
  return TALUS_OK;
}

talus_status tl_parts_meshes(const tl_narrow_scope *scope, tl_parts_pair **pairs, size_t count) {
  size_t left;
  TL_TRY(look(scope, true, pairs, count, &left));
  return left > 0 ? look(scope, false, pairs, left, &left) : TALUS_OK;
}
