/* The list of neighbours: making it. */
#include "step/balls/list.h"

#include "base/sort.h"
#include "kernels/morton.h"
#include "kernels/quat.h"

/* Skin of a ball if the scene sets none: a minimum, plus its displacement in some steps, up to a
 * maximum; in radii of the smallest ball. A larger skin means more candidates in every step, a
 * smaller one more frequent renewals. Slow balls need little, and fast balls have few
 * neighbours. */
#define SKIN_LEAST 0.12
#define SKIN_STEPS 40
#define SKIN_MOST  0.5
/* Largest displacement per step, in the ball's own radii, that its skin covers. A faster ball would
 * miss contacts anyway, and must not become a candidate of all others. */
#define SKIN_FASTEST 4
#define CELL_BITS    10

bool tl_balls_are_all(const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  if (model->solve.law == TALUS_NOBLE || crowd->members || crowd->count == 0 ||
      (model->law_kinds & (TL_LAW_STATIC | TL_LAW_ROLLING | TL_LAW_CURVED)) ||
      (model->domain.enabled &&
       (model->domain.periodic[0] || model->domain.periodic[1] || model->domain.periodic[2])))
    return false;
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t flags = model->property.flags[i];
    if (flags & TL_FLAG_FIXED)
      continue;
    if ((flags & (TL_FLAG_KINEMATIC | TL_FLAG_LOCKS)) ||
        tl_body_shape(model, i)->kind != TALUS_SPHERE)
      return false;
  }
  return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct rank_job {
  const talus_dvec3 *x;
  talus_dvec3 from; /* lowest corner of the box */
  double scale;     /* cells per m */
  uint32_t *keys;
  tl_ball_list *list;
} rank_job;

static void key_range(void *context, size_t begin, size_t end) {
  const rank_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const talus_dvec3 d = tl_dscale(tl_dsub(job->x[i], job->from), job->scale);
    job->keys[i] = tl_morton3_u32((uint32_t)d.x, (uint32_t)d.y, (uint32_t)d.z);
    job->list->slot.data[i] = (uint32_t)i;
  }
}

static void rank_range(void *context, size_t begin, size_t end) {
  const rank_job *job = context;
  for (size_t i = begin; i < end; ++i)
    job->list->rank.data[job->list->slot.data[i]] = (uint32_t)i;
}

/* Ranks bodies along a Morton curve over the box of all centres; a plane counts by its position. */
static talus_status rank_bodies(const tl_crowd *crowd, tl_ball_list *list) {
  const tl_model *model = crowd->model;
  const size_t n = crowd->count;
  const talus_dvec3 *x = crowd->in->position;
  talus_box box = {x[0], x[0]};
  for (size_t i = 1; i < n; ++i) {
    box.lo = tl_dvec3(fmin(box.lo.x, x[i].x), fmin(box.lo.y, x[i].y), fmin(box.lo.z, x[i].z));
    box.hi = tl_dvec3(fmax(box.hi.x, x[i].x), fmax(box.hi.y, x[i].y), fmax(box.hi.z, x[i].z));
  }
  const talus_dvec3 size = tl_dsub(box.hi, box.lo);
  const double longest = fmax(size.x, fmax(size.y, size.z));
  const double scale = longest > 0 ? ((1 << CELL_BITS) - 1) / longest : 0;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  rank_job job = {x, box.lo, scale, NULL, list};
  TL_TAKE(crowd->arena, n, &job.keys);
  TL_TRY(tl_array_resize(&list->slot, n));
  TL_TRY(tl_array_resize(&list->rank, n));
  tl_for(&model->par, n, 1024, key_range, &job);
  TL_TRY(tl_sort_u32(&model->par, crowd->arena, job.keys, list->slot.data, n, 3 * CELL_BITS));
  tl_for(&model->par, n, 1024, rank_range, &job);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

static void put(talus_real *to, talus_vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

static void take_row(const tl_state *in, uint32_t slot, tl_ball_rows *rows, size_t lane) {
  const talus_dvec3 x = in->position[slot];
  const talus_quat q = in->rotation[slot];
  rows->x[0][lane] = x.x, rows->x[1][lane] = x.y, rows->x[2][lane] = x.z;
  rows->q[0][lane] = q.w, rows->q[1][lane] = q.x, rows->q[2][lane] = q.y, rows->q[3][lane] = q.z;
}

/* Copies the state of a ball into the list, and what does not change from step to step. */
static void lay_ball(const tl_crowd *crowd, tl_ball_list *list, size_t i) {
  const tl_model *model = crowd->model;
  const uint32_t slot = list->slot.data[i];
  const talus_dvec3 x = crowd->in->position[slot];
  tl_ball *ball = &list->ball.data[i];
  tl_ball_kept *kept = &list->kept.data[i / TL_BALL_LANES];
  const size_t lane = i % TL_BALL_LANES;
  *ball = (tl_ball){0};
  list->material.data[i] = (uint32_t)model->property.material[slot];
  kept->from[0][lane] = x.x, kept->from[1][lane] = x.y, kept->from[2][lane] = x.z;
  take_row(crowd->in, slot, &list->rows.data[i / TL_BALL_LANES], lane);
  list->place.data[i] = (tl_ball_place){x.x, x.y, x.z, 0};
  kept->limit[lane] = (double)list->skin.data[slot] * (double)list->skin.data[slot];
  if (!tl_balls_is_one(model, slot))
    return;
  ball->radius = tl_penalty_radius(model, slot);
  ball->curvature = 1 / ball->radius;
  list->place.data[i].radius = (double)ball->radius;
  if (tl_body_is_static(model, slot))
    return;
  ball->inv_mass = 1 / model->property.mass[slot];
  ball->inv_inertia = 1 / tl_body_inertia(model, slot).x;
  put(ball->v, crowd->in->velocity[slot]), put(ball->w, crowd->in->spin[slot]);
  put(ball->spring_force, crowd->in->spring_force[slot]),
      put(ball->spring_torque, crowd->in->spring_torque[slot]);
}

typedef struct lay_job {
  const tl_model *model;
  const tl_crowd *crowd;
  tl_ball_list *list;
} lay_job;

static void lay_range(void *context, size_t begin, size_t end) {
  const lay_job *job = context;
  for (size_t i = begin; i < end; ++i)
    lay_ball(job->crowd, job->list, i);
}

static talus_status lay_balls(const tl_crowd *crowd, tl_ball_list *list) {
  const tl_model *model = crowd->model;
  const size_t n = crowd->count, mirrors = list->flats.count;
  TL_BALLS_ROOM(&list->place, n + mirrors);
  TL_BALLS_ROOM(&list->ball, n + mirrors);
  TL_BALLS_ROOM(&list->material, n + mirrors);
  TL_TRY(tl_array_resize(&list->place, n + mirrors));
  TL_TRY(tl_array_resize(&list->ball, n + mirrors));
  TL_TRY(tl_array_resize(&list->material, n + mirrors));
  const size_t eights = (n + TL_BALL_LANES - 1) / TL_BALL_LANES;
  TL_TRY(tl_array_resize(&list->kept, eights));
  TL_TRY(tl_array_resize(&list->rows, eights));
  TL_TRY(tl_array_resize(&list->waits, eights));
  if (eights > 0) { /* the last group may have unused lanes */
    list->kept.data[eights - 1] = (tl_ball_kept){0};
    list->rows.data[eights - 1] = (tl_ball_rows){0};
  }
  lay_job job = {model, crowd, list};
  tl_for(&model->par, n, 512, lay_range, &job);
  for (size_t k = 0; k < mirrors; ++k) {
    const uint32_t slot = list->flat_bodies.data[list->flats.data[k].flat_body].slot;
    list->ball.data[n + k] = (tl_ball){0};
    list->material.data[n + k] = (uint32_t)model->property.material[slot];
  }
  return TALUS_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Sorts flat walls by the rank of their ball. */
static talus_status sort_flats(const tl_crowd *crowd, tl_ball_list *list) {
  const size_t n = list->rank.count, m = list->flats.count;
  uint32_t *start, *to;
  tl_ball_wall *old;
  TL_TAKE(crowd->arena, n + 1, &start);
  TL_TAKE(crowd->arena, m, &to);
  TL_TAKE(crowd->arena, m, &old);
  memset(start, 0, (n + 1) * sizeof *start);
  for (size_t k = 0; k < m; ++k)
    start[list->flats.data[k].ball + 1]++;
  for (size_t i = 0; i < n; ++i)
    start[i + 1] += start[i];
  list->blocks = (n + TL_BALL_BLOCK - 1) / TL_BALL_BLOCK;
  TL_TRY(tl_array_resize(&list->block_flats, list->blocks + 1));
  for (size_t block = 0; block <= list->blocks; ++block)
    list->block_flats.data[block] = start[block < list->blocks ? block * TL_BALL_BLOCK : n];
  for (size_t k = 0; k < m; ++k) {
    old[k] = list->flats.data[k];
    to[k] = start[old[k].ball]++;
  }
  for (size_t k = 0; k < m; ++k)
    list->flats.data[to[k]] = old[k];
  for (size_t k = 0; k < list->near.count; ++k)
    if (list->near.data[k].wall != TL_NONE)
      list->near.data[k].wall = to[list->near.data[k].wall];
  return TALUS_OK;
}

/* Lists the balls that are near walls of the general code. */
static talus_status list_wall_balls(const tl_model *model, tl_ball_list *list) {
  const size_t n = list->rank.count;
  TL_TRY(tl_array_resize(&list->has_wall, n));
  memset(list->has_wall.data, 0, n);
  for (size_t i = 0; i < list->walls.count; ++i) {
    const tl_pair pair = list->walls.data[i];
    list->has_wall.data[list->rank.data[tl_balls_is_one(model, pair.a) ? pair.a : pair.b]] = 1;
  }
  TL_TRY(tl_array_reserve(&list->wall_balls, n));
  list->wall_balls.count = 0;
  for (uint32_t slot = 0; slot < n; ++slot)
    if (list->has_wall.data[list->rank.data[slot]])
      list->wall_balls.data[list->wall_balls.count++] = slot;
  return TALUS_OK;
}

/* ---- in the order of the list ---------------------------------------------------------------- */

static talus_status reserve_candidates(tl_ball_list *list) {
  const size_t n = list->rank.count, m = list->near.count;
  TL_TRY(tl_array_resize(&list->start, n + 1));
  TL_TRY(tl_array_resize(&list->entry_start, n + 1));
  TL_TRY(tl_array_resize(&list->first_owner, list->kept.count));
  TL_BALLS_ROOM(&list->owner, m);
  TL_BALLS_ROOM(&list->other, m);
  TL_BALLS_ROOM(&list->at, m + 1);
  TL_BALLS_ROOM(&list->spring, m);
  const size_t entries = 2 * m + (TL_BALL_FOUR - 1) * n;
  TL_BALLS_ROOM(&list->entry, entries);
  TL_BALLS_ROOM(&list->canonical, m);
  TL_TRY(tl_array_resize(&list->owner, m));
  TL_TRY(tl_array_resize(&list->other, m));
  TL_TRY(tl_array_resize(&list->at, m + 1));
  TL_TRY(tl_array_resize(&list->spring, m));
  TL_TRY(tl_array_resize(&list->entry, entries));
  return tl_array_resize(&list->canonical, m);
}

static talus_status lay_effects(tl_ball_list *list) {
  list->count = list->rank.count;
  TL_TRY(tl_array_resize(&list->block_start, list->blocks + 1));
  size_t total = TL_BALL_LANES; /* effect 0 is none */
  for (size_t block = 0; block <= list->blocks; ++block) {
    list->block_start.data[block] = (uint32_t)total;
    if (block == list->blocks)
      break;
    const size_t first = block * TL_BALL_BLOCK, end = first + TL_BALL_BLOCK;
    const size_t candidates =
        list->start.data[end < list->count ? end : list->count] - list->start.data[first];
    total += (candidates + TL_BALL_LANES - 1) / TL_BALL_LANES * TL_BALL_LANES;
  }
  TL_BALLS_ROOM(&list->effect, total);
  TL_TRY(tl_array_resize(&list->effect, total));
  /* Effect 0 is no effect; effect 1 stands for springs that came from another list
   * (step/balls/springs.c). */
  memset(list->effect.data, 0, TL_BALL_LANES * sizeof *list->effect.data);
  list->at.data[list->near.count] = 0;
  return TALUS_OK;
}

/* ---- making it ------------------------------------------------------------------------------- */

/* Finds the radii of the smallest and of the largest ball and the least mass. */
static void measure_balls(const tl_crowd *crowd, tl_ball_list *list) {
  const tl_model *model = crowd->model;
  double least = INFINITY;
  list->largest = 0, list->lightest = INFINITY;
  for (size_t i = 0; i < crowd->count; ++i) {
    if (tl_body_is_static(model, i))
      continue;
    const double radius = (double)tl_penalty_radius(model, i);
    const double mass = (double)model->property.mass[i];
    least = radius < least ? radius : least;
    list->largest = radius > list->largest ? radius : list->largest;
    list->lightest = mass < list->lightest ? mass : list->lightest;
  }
  list->smallest = least < INFINITY ? least : 0;
}

typedef struct skin_job {
  const tl_model *model;
  const tl_crowd *crowd;
  double radius; /* of the smallest ball */
  talus_real *skin;
} skin_job;

/* The velocity with which a ball will move next, as far as its forces are known. */
static talus_vec3 about_to_move(const tl_crowd *crowd, size_t slot) {
  const tl_model *model = crowd->model;
  const talus_vec3 v = crowd->in->velocity[slot];
  if (!crowd->penalty->is_pushed)
    return v;
  const tl_properties *property = &model->property;
  const talus_vec3 spring_force = property->force
                                      ? tl_add(crowd->in->spring_force[slot], property->force[slot])
                                      : crowd->in->spring_force[slot];
  const talus_vec3 rate = tl_madd(model->gravity, 1 / property->mass[slot], spring_force);
  return tl_madd(v, (talus_real)(0.5 * crowd->dt), rate);
}

static void choose_range(void *context, size_t begin, size_t end) {
  const skin_job *job = context;
  const tl_model *model = job->model;
  for (size_t i = begin; i < end; ++i) {
    job->skin[i] = 0;
    if (tl_body_is_static(model, i))
      continue;
    const talus_vec3 velocity = about_to_move(job->crowd, i);
    const double radius = (double)tl_penalty_radius(model, i);
    const double way = fmin(job->crowd->dt * (double)tl_length(velocity), SKIN_FASTEST * radius);
    const double wanted =
        fmin(SKIN_LEAST * job->radius + SKIN_STEPS * way, SKIN_MOST * job->radius);
    job->skin[i] = (talus_real)fmax(model->skin > 0 ? 0.5 * model->skin : wanted, 1.25 * way);
  }
}

/* No ball moves in one step by more than twice its skin: it would leave its place in the list. */
static talus_status find_leapers(const tl_crowd *crowd, tl_ball_list *list) {
  const tl_model *model = crowd->model;
  list->leapers.count = 0;
  for (uint32_t i = 0; i < crowd->count; ++i)
    if (!tl_body_is_static(model, i) &&
        2 * list->skin.data[i] > TL_BALL_LEAP * tl_penalty_radius(model, i))
      TL_TRY(tl_array_push(&list->leapers, i));
  return TALUS_OK;
}

/* Chooses the skin of each ball: at least its displacement in the next step, up to SKIN_FASTEST. */
static talus_status choose_skins(const tl_crowd *crowd, tl_ball_list *list) {
  const tl_model *model = crowd->model;
  TL_TRY(tl_array_resize(&list->skin, model->bodies));
  measure_balls(crowd, list);
  skin_job job = {model, crowd, list->smallest, list->skin.data};
  tl_for(&model->par, crowd->count, 1024, choose_range, &job);
  return find_leapers(crowd, list);
}

/* Finds pairs of balls within their skins. */
static talus_status find_pairs(const tl_backend *backend, const tl_crowd *crowd, tl_ball_list *list,
                               tl_pairs *pairs) {
  const tl_model *model = crowd->model;
  TL_TRY(choose_skins(crowd, list));
  talus_box *boxes;
  talus_real *margins;
  TL_TAKE(crowd->arena, crowd->count, &boxes);
  TL_TAKE(crowd->arena, model->bodies, &margins);
  TL_TRY(backend->find_bounds(crowd, boxes, margins));
  for (size_t i = 0; i < crowd->count; ++i)
    boxes[i] = tl_box_grow(boxes[i], (double)list->skin.data[i]);
  list->broad = model->broad;
  if (model->broad == TALUS_BROAD_AUTO)
    list->broad = tl_broad_choose(crowd, boxes, &list->broad_reason);
  return tl_broad_find_anew(list->broad, crowd, boxes, pairs);
}

static talus_status lay_list(const tl_crowd *crowd, const tl_pairs *pairs, tl_ball_list *list) {
  const tl_model *model = crowd->model;
  TL_TRY(rank_bodies(crowd, list));
  TL_TRY(tl_array_reserve(&list->walls, crowd->count));
  TL_TRY(tl_array_reserve(&list->flats, crowd->count));
  TL_TRY(tl_balls_sift(crowd, pairs, list));
  /* There are two entries for each candidate, and up to three fillers for each ball. */
  if (list->near.count + 2 * crowd->count >= UINT32_MAX / 2)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "%zu neighbours are more than a list can hold",
                   list->near.count);
  TL_TRY(sort_flats(crowd, list));
  TL_TRY(list_wall_balls(model, list));
  TL_TRY(lay_balls(crowd, list));
  TL_TRY(reserve_candidates(list));
  TL_TRY(tl_balls_lay_candidates(model, crowd->arena, list));
  return lay_effects(list);
}

talus_status tl_balls_renew(const tl_backend *backend, const tl_crowd *crowd, tl_balls *balls) {
  const tl_model *model = balls->model;
  tl_ball_list *list = &balls->list;
  tl_residency *where = balls->where;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TRY(tl_need(where, TL_THE_STATE, TL_READ));
  tl_old_springs springs = {.list = list};
  tl_pairs pairs = {0};
  TL_TRY(tl_balls_take_springs(crowd, balls, &springs));
  TL_TRY(find_pairs(backend, crowd, list, &pairs));
  const tl_field_set only_here = where->stale & where->away;
  tl_lose(where, TL_THE_WHOLE); /* from here on the list is neither the old nor the new one */
  const talus_status status = lay_list(crowd, &pairs, list);
  if (status != TALUS_OK) {
    if (tl_lost(where) & TL_THE_CONTACTS)
      tl_contacts_clear(balls->contacts); /* those belong to an older state */
    return status;
  }
  tl_balls_lay_springs(model, &springs);
  tl_arena_release(crowd->arena, mark);
  list->is_started = list->cannot_overflow = list->has_loads = false;
  tl_made_away(where, only_here);
  tl_copied(where, TL_BALLS_HOLD & ~where->stale);
  list->renewals++;
  return TALUS_OK;
}
