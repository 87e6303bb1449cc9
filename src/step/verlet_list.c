/* The list of neighbours: making it, and handing its contacts over. */
#include "step/verlet_list.h"

#include "base/sort.h"
#include "kernels/morton.h"
#include "kernels/quat.h"

/* The skin where the scene has none: as far as the fastest ball comes in so many steps, but not
 * less nor more than these shares of the smallest ball's radius. More means more candidates in
 * every step, less means more renewals. */
#define SKIN_STEPS 30
#define SKIN_LEAST 0.3
#define SKIN_MOST  0.6
#define CELL_BITS  10

bool tl_balls_are_all(const tl_model *model, const tl_scope *scope) {
  if (model->solve.law == TALUS_NOBLE || scope->members || scope->count == 0 ||
      (model->law_kinds & (TL_LAW_STATIC | TL_LAW_ROLLING)) ||
      (model->domain.enabled &&
       (model->domain.periodic[0] || model->domain.periodic[1] || model->domain.periodic[2])))
    return false;
  for (size_t i = 0; i < scope->count; ++i) {
    const uint32_t flags = model->property.flags[i];
    if (flags & TL_FLAG_FIXED)
      continue;
    if ((flags & (TL_FLAG_KINEMATIC | TL_FLAG_LOCKS)) ||
        tl_body_shape(model, i)->kind != TALUS_SPHERE)
      return false;
  }
  return true;
}

static bool is_ball(const tl_model *model, uint32_t slot) {
  return tl_body_shape(model, slot)->kind == TALUS_SPHERE;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Ranks along a Morton curve over the box of all centres (planes count by theirs, wherever). */
static talus_status rank_bodies(const tl_model *model, const tl_scope *scope, tl_ball_list *list) {
  const size_t n = scope->count;
  const talus_dvec3 *x = scope->in->position;
  talus_box box = {x[0], x[0]};
  for (size_t i = 1; i < n; ++i) {
    box.lo = tl_dvec3(fmin(box.lo.x, x[i].x), fmin(box.lo.y, x[i].y), fmin(box.lo.z, x[i].z));
    box.hi = tl_dvec3(fmax(box.hi.x, x[i].x), fmax(box.hi.y, x[i].y), fmax(box.hi.z, x[i].z));
  }
  const talus_dvec3 size = tl_dsub(box.hi, box.lo);
  const double longest = fmax(size.x, fmax(size.y, size.z));
  const double scale = longest > 0 ? ((1 << CELL_BITS) - 1) / longest : 0;
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  uint32_t *keys;
  TL_TAKE(scope->arena, n, &keys);
  TL_TRY(tl_array_resize(&list->slot, n));
  TL_TRY(tl_array_resize(&list->rank, n));
  for (size_t i = 0; i < n; ++i) {
    const talus_dvec3 d = tl_dscale(tl_dsub(x[i], box.lo), scale);
    keys[i] = tl_morton3_u32((uint32_t)d.x, (uint32_t)d.y, (uint32_t)d.z);
    list->slot.data[i] = (uint32_t)i;
  }
  TL_TRY(tl_sort_u32(&model->par, scope->arena, keys, list->slot.data, n, 3 * CELL_BITS));
  for (size_t i = 0; i < n; ++i)
    list->rank.data[list->slot.data[i]] = (uint32_t)i;
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}

static void spread(talus_real to[3][TL_BALL_LANES], size_t lane, talus_vec3 v) {
  to[0][lane] = v.x, to[1][lane] = v.y, to[2][lane] = v.z;
}

static talus_vec3 collect(const talus_real from[3][TL_BALL_LANES], size_t lane) {
  return tl_vec3(from[0][lane], from[1][lane], from[2][lane]);
}

static void take_row(const tl_state *in, uint32_t slot, tl_ball_rows *rows, size_t lane) {
  const talus_dvec3 x = in->position[slot];
  const talus_quat q = in->rotation[slot];
  rows->x[0][lane] = x.x, rows->x[1][lane] = x.y, rows->x[2][lane] = x.z;
  rows->q[0][lane] = q.w, rows->q[1][lane] = q.x, rows->q[2][lane] = q.y, rows->q[3][lane] = q.z;
  spread(rows->v, lane, in->velocity[slot]);
  spread(rows->w, lane, in->spin[slot]);
  spread(rows->push, lane, in->push[slot]);
  spread(rows->twist, lane, in->twist[slot]);
}

/* What of a ball does not change from step to step, and its state. */
static talus_status lay_balls(const tl_model *model, const tl_scope *scope, tl_ball_list *list) {
  const size_t n = scope->count;
  TL_TRY(tl_array_resize(&list->place, n));
  TL_TRY(tl_array_resize(&list->ball, n));
  const size_t eights = (n + TL_BALL_LANES - 1) / TL_BALL_LANES;
  TL_TRY(tl_array_resize(&list->kept, eights));
  TL_TRY(tl_array_resize(&list->now, eights));
  TL_TRY(tl_array_resize(&list->next, eights));
  if (eights > 0) { /* the last may have lanes that are nobody's */
    list->kept.data[eights - 1] = (tl_ball_kept){0};
    list->now.data[eights - 1] = (tl_ball_rows){0};
  }
  for (size_t i = 0; i < n; ++i) {
    const uint32_t slot = list->slot.data[i];
    const talus_dvec3 x = scope->in->position[slot];
    tl_ball *ball = &list->ball.data[i];
    tl_ball_kept *kept = &list->kept.data[i / TL_BALL_LANES];
    const size_t lane = i % TL_BALL_LANES;
    *ball = (tl_ball){.material = (talus_real)model->property.material[slot]};
    kept->from[0][lane] = x.x, kept->from[1][lane] = x.y, kept->from[2][lane] = x.z;
    kept->radius[lane] = kept->inv_mass[lane] = kept->inv_inertia[lane] = 0;
    take_row(scope->in, slot, &list->now.data[i / TL_BALL_LANES], lane);
    list->place.data[i] = (tl_ball_place){x.x, x.y, x.z, 0};
    if (!is_ball(model, slot))
      continue;
    ball->radius = kept->radius[lane] = tl_penalty_radius(model, slot);
    list->place.data[i].radius = (double)ball->radius;
    if (tl_body_is_static(model, slot))
      continue;
    ball->inv_mass = kept->inv_mass[lane] = 1 / model->property.mass[slot];
    ball->inv_inertia = kept->inv_inertia[lane] = 1 / tl_body_inertia(model, slot).x;
  }
  return TALUS_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Pairs of balls are kept in *pairs, in their order; those with a wall go to the list. */
static talus_status sort_out(const tl_model *model, const tl_scope *scope, tl_ball_list *list,
                             tl_pairs *pairs) {
  talus_real *margins;
  TL_TAKE(scope->arena, model->bodies, &margins);
  for (size_t i = 0; i < model->bodies; ++i)
    margins[i] = (talus_real)(0.5 * list->skin);
  list->walls.count = 0;
  size_t kept = 0;
  for (size_t i = 0; i < pairs->count; ++i) {
    const tl_pair pair = pairs->data[i];
    if (!is_ball(model, pair.a) || !is_ball(model, pair.b)) {
      if (tl_narrow_meets(model, scope, &pair, margins))
        TL_TRY(tl_array_push(&list->walls, pair));
      continue;
    }
    const talus_dvec3 d = tl_dsub(scope->in->position[pair.b], scope->in->position[pair.a]);
    const double reach = list->place.data[list->rank.data[pair.a]].radius +
                         list->place.data[list->rank.data[pair.b]].radius + list->skin;
    pairs->data[kept] = pair;
    kept += tl_ddot(d, d) <= reach * reach;
  }
  pairs->count = kept;
  return TALUS_OK;
}

/* Which balls are near walls. */
static talus_status list_wall_balls(const tl_model *model, tl_ball_list *list) {
  const size_t n = list->rank.count;
  TL_TRY(tl_array_resize(&list->has_wall, n));
  memset(list->has_wall.data, 0, n);
  for (size_t i = 0; i < list->walls.count; ++i) {
    const tl_pair pair = list->walls.data[i];
    list->has_wall.data[list->rank.data[is_ball(model, pair.a) ? pair.a : pair.b]] = 1;
  }
  TL_TRY(tl_array_reserve(&list->wall_balls, n));
  list->wall_balls.count = 0;
  for (uint32_t slot = 0; slot < n; ++slot)
    if (list->has_wall.data[list->rank.data[slot]])
      list->wall_balls.data[list->wall_balls.count++] = slot;
  return TALUS_OK;
}

/* Counting sort of the pairs by rank of a (candidates) and by rank of b (what comes in). Both are
 * stable, so partners stand by slot. */
static talus_status lay_candidates(tl_ball_list *list, const tl_pairs *pairs) {
  const size_t n = list->rank.count, m = pairs->count;
  const uint32_t *rank = list->rank.data;
  TL_TRY(tl_array_resize(&list->start, n + 1));
  TL_TRY(tl_array_resize(&list->in_start, n + 1));
  const size_t room = m + m / 4; /* so that the next lists fit as well */
  TL_TRY(tl_array_reserve(&list->owner, room));
  TL_TRY(tl_array_reserve(&list->other, room));
  TL_TRY(tl_array_reserve(&list->at, room));
  TL_TRY(tl_array_reserve(&list->spring, room));
  TL_TRY(tl_array_reserve(&list->in, room));
  TL_TRY(tl_array_reserve(&list->canonical, room));
  TL_TRY(tl_array_resize(&list->owner, m));
  TL_TRY(tl_array_resize(&list->other, m));
  TL_TRY(tl_array_resize(&list->at, m));
  TL_TRY(tl_array_resize(&list->spring, m));
  TL_TRY(tl_array_resize(&list->in, m));
  TL_TRY(tl_array_resize(&list->canonical, m));
  uint32_t *start = list->start.data, *in_start = list->in_start.data;
  memset(start, 0, (n + 1) * sizeof *start);
  memset(in_start, 0, (n + 1) * sizeof *in_start);
  for (size_t k = 0; k < m; ++k) {
    start[rank[pairs->data[k].a]]++;
    in_start[rank[pairs->data[k].b]]++;
  }
  uint32_t out_sum = 0, in_sum = 0;
  for (size_t i = 0; i <= n; ++i) {
    const uint32_t out_count = start[i], in_count = in_start[i];
    start[i] = out_sum, in_start[i] = in_sum;
    out_sum += i < n ? out_count : 0;
    in_sum += i < n ? in_count : 0;
  }
  for (size_t k = 0; k < m; ++k) {
    const uint32_t a = rank[pairs->data[k].a], b = rank[pairs->data[k].b];
    const uint32_t at = start[a]++;
    list->owner.data[at] = a;
    list->other.data[at] = b;
    list->canonical.data[k] = at;
    list->in.data[in_start[b]++] = at;
  }
  for (size_t i = n; i > 0; --i) /* starts were moved to their ends */
    start[i] = start[i - 1], in_start[i] = in_start[i - 1];
  start[0] = in_start[0] = 0;
  return TALUS_OK;
}

static talus_status lay_effects(tl_ball_list *list) {
  list->count = list->rank.count;
  list->blocks = (list->count + TL_BALL_BLOCK - 1) / TL_BALL_BLOCK;
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
  TL_TRY(tl_array_reserve(&list->effect, total + total / 4));
  TL_TRY(tl_array_resize(&list->effect, total));
  TL_TRY(tl_array_reserve(&list->energy, total + total / 4));
  TL_TRY(tl_array_resize(&list->energy, total));
  list->effect.data[0] = (tl_ball_effect){0};
  list->energy.data[0] = (tl_ball_energy){0};
  return TALUS_OK;
}

/* ---- springs, from list to list or from the contacts ------------------------------------------
 */

static talus_status take_from_list(const tl_scope *scope, const tl_ball_list *list,
                                   tl_springs *springs) {
  TL_TAKE(scope->arena, list->canonical.count, &springs->data);
  springs->count = 0;
  for (size_t k = 0; k < list->canonical.count; ++k) {
    const uint32_t c = list->canonical.data[k];
    if (list->at.data[c] == 0)
      continue;
    const tl_ball_spring *s = &list->spring.data[c];
    springs->data[springs->count++] =
        (tl_sprung){list->slot.data[list->owner.data[c]],
                    list->slot.data[list->other.data[c]],
                    0,
                    0,
                    {tl_vec3(s->slip[0], s->slip[1], s->slip[2]), s->stiffness, {0, 0, 0}, 0}};
  }
  return TALUS_OK;
}

static talus_status take_walls(const tl_model *model, const tl_contacts *contacts,
                               tl_ball_list *list) {
  tl_contacts *walls = &list->wall_contacts;
  walls->count = 0;
  walls->springs.count = 0;
  const bool springs = tl_contacts_have_springs(contacts);
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (is_ball(model, c->a) && is_ball(model, c->b))
      continue;
    TL_TRY(tl_array_push(walls, *c));
    const tl_spring none = {0};
    TL_TRY(tl_array_push(&walls->springs, springs ? contacts->springs.data[i] : none));
  }
  return TALUS_OK;
}

static void lay_springs(tl_ball_list *list, const tl_pairs *pairs, const tl_springs *springs) {
  size_t at = 0;
  for (size_t k = 0; k < pairs->count; ++k) {
    const tl_pair p = pairs->data[k];
    const uint32_t c = list->canonical.data[k];
    while (at < springs->count &&
           (springs->data[at].a < p.a || (springs->data[at].a == p.a && springs->data[at].b < p.b)))
      at++;
    const bool found =
        at < springs->count && springs->data[at].a == p.a && springs->data[at].b == p.b;
    const tl_spring *s = found ? &springs->data[at].spring : NULL;
    list->at.data[c] = found ? 1 : 0; /* some effect, until there is one */
    list->spring.data[c] =
        found ? (tl_ball_spring){{s->slip.x, s->slip.y, s->slip.z}, tl_abs(s->stiffness)}
              : (tl_ball_spring){{0, 0, 0}, 0};
  }
}

/* ---- making and handing over ----------------------------------------------------------------- */

static double smallest_ball(const tl_model *model, const tl_scope *scope) {
  double least = INFINITY;
  for (size_t i = 0; i < scope->count; ++i)
    if (!tl_body_is_static(model, i))
      least = fmin(least, (double)tl_penalty_radius(model, i));
  return least < INFINITY ? least : 0;
}

talus_status tl_balls_renew(const tl_backend *backend, const tl_model *model, const tl_scope *scope,
                            const tl_contacts *contacts, double reach) {
  tl_ball_list *list = &scope->penalty->list;
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  tl_balls_commit(model, list, scope->out);
  tl_springs springs = {0};
  if (list->is_valid)
    TL_TRY(take_from_list(scope, list, &springs));
  else {
    TL_TRY(tl_contact_take_springs(scope, contacts, &springs));
    TL_TRY(take_walls(model, contacts, list));
  }
  list->is_valid = false;
  const double radius = smallest_ball(model, scope);
  const double wanted = fmin(fmax(SKIN_STEPS * reach, SKIN_LEAST * radius), SKIN_MOST * radius);
  /* One ball that leaks or flies must not make neighbours of all the others. */
  list->skin = fmax(model->skin > 0 ? model->skin : wanted, fmin(4 * reach, SKIN_MOST * radius));
  talus_box *boxes;
  talus_real *margins;
  tl_pairs pairs = {0};
  TL_TAKE(scope->arena, scope->count, &boxes);
  TL_TAKE(scope->arena, model->bodies, &margins);
  TL_TRY(backend->find_bounds(model, scope, boxes, margins));
  for (size_t i = 0; i < scope->count; ++i)
    boxes[i] = tl_box_grow(boxes[i], 0.5 * list->skin);
  list->broad = model->broad;
  if (model->broad == TALUS_BROAD_AUTO)
    list->broad = tl_broad_choose(model, scope, boxes, &list->broad_reason);
  TL_TRY(tl_broad_find_anew(list->broad, model, scope, boxes, &pairs));
  TL_TRY(rank_bodies(model, scope, list));
  TL_TRY(lay_balls(model, scope, list));
  TL_TRY(tl_array_reserve(&list->walls, scope->count));
  TL_TRY(sort_out(model, scope, list, &pairs));
  TL_TRY(list_wall_balls(model, list));
  if (pairs.count >= UINT32_MAX)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "%zu neighbours are more than a list can hold",
                   pairs.count);
  TL_TRY(lay_candidates(list, &pairs));
  TL_TRY(lay_effects(list));
  lay_springs(list, &pairs, &springs);
  tl_arena_release(scope->arena, mark);
  list->is_valid = true;
  list->is_stored = true; /* until a step is taken: there are no effects yet */
  list->renewals++;
  return TALUS_OK;
}

typedef struct commit_job {
  const tl_ball_list *list;
  tl_state *state;
} commit_job;

static void commit_range(void *context, size_t begin, size_t end) {
  const commit_job *job = context;
  tl_state *out = job->state;
  for (size_t i = begin; i < end; ++i) {
    const tl_ball_rows *rows = &job->list->now.data[i / TL_BALL_LANES];
    const size_t lane = i % TL_BALL_LANES;
    const uint32_t slot = job->list->slot.data[i];
    if (!(job->list->ball.data[i].inv_mass > 0))
      continue;
    out->position[slot] = tl_dvec3(rows->x[0][lane], rows->x[1][lane], rows->x[2][lane]);
    out->rotation[slot] =
        tl_quat(rows->q[0][lane], rows->q[1][lane], rows->q[2][lane], rows->q[3][lane]);
    out->velocity[slot] = collect(rows->v, lane);
    out->spin[slot] = collect(rows->w, lane);
    out->push[slot] = collect(rows->push, lane);
    out->twist[slot] = collect(rows->twist, lane);
  }
}

void tl_balls_commit(const tl_model *model, tl_ball_list *list, tl_state *state) {
  if (!list->is_ahead)
    return;
  commit_job job = {list, state};
  tl_for(&model->par, list->count, 512, commit_range, &job);
  list->is_ahead = false;
}

static tl_contact contact_of(const tl_ball_list *list, uint32_t rank_a, uint32_t c, double dt) {
  const uint32_t rank_b = list->other.data[c];
  const tl_ball_place *a = &list->place.data[rank_a], *b = &list->place.data[rank_b];
  const tl_ball_effect *e = &list->effect.data[list->at.data[c]];
  const talus_dvec3 d = {b->x - a->x, b->y - a->y, b->z - a->z};
  const double distance = tl_dlength(d);
  const talus_dvec3 n = distance > 0 ? tl_dscale(d, 1 / distance) : tl_dvec3(0, 0, 1);
  const double arm = a->radius - 0.5 * (a->radius + b->radius - distance);
  tl_contact contact = {.a = list->slot.data[rank_a], .b = list->slot.data[rank_b]};
  contact.point = tl_dvec3(a->x + arm * n.x, a->y + arm * n.y, a->z + arm * n.z);
  contact.normal = tl_narrow(n);
  contact.gap = (talus_real)(distance - a->radius - b->radius);
  contact.impulse = tl_scale(tl_vec3(e->force[0], e->force[1], e->force[2]), (talus_real)dt);
  return contact;
}

talus_status tl_balls_store(const tl_model *model, tl_penalty *penalty, tl_contacts *contacts) {
  tl_ball_list *list = &penalty->list;
  if (!list->is_valid || list->is_stored)
    return TALUS_OK;
  const tl_contacts *walls = &list->wall_contacts;
  size_t touching = 0;
  for (size_t c = 0; c < list->at.count; ++c)
    touching += list->at.data[c] != 0;
  contacts->touches.count = 0;
  TL_TRY(tl_array_resize(contacts, touching + walls->count));
  TL_TRY(tl_array_resize(&contacts->springs, touching + walls->count));
  size_t n = 0, w = 0;
  for (size_t k = 0; k <= list->canonical.count; ++k) {
    const bool ends = k == list->canonical.count;
    const uint32_t c = ends ? 0 : list->canonical.data[k];
    if (!ends && list->at.data[c] == 0)
      continue;
    const tl_contact next =
        ends ? (tl_contact){0} : contact_of(list, list->owner.data[c], c, model->dt);
    for (; w < walls->count &&
           (ends || tl_contact_compare(next.a, next.b, 0, 0, &walls->data[w]) > 0);
         ++w, ++n) {
      contacts->data[n] = walls->data[w];
      contacts->springs.data[n] = walls->springs.data[w];
    }
    if (ends)
      break;
    const tl_ball_spring *s = &list->spring.data[c];
    const bool slides = list->effect.data[list->at.data[c]].slides > 0;
    contacts->data[n] = next;
    contacts->springs.data[n++] = (tl_spring){tl_vec3(s->slip[0], s->slip[1], s->slip[2]),
                                              slides ? -s->stiffness : s->stiffness,
                                              {0, 0, 0},
                                              0};
  }
  list->is_stored = true;
  return TALUS_OK;
}
