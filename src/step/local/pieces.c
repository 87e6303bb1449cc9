/* For audits: checks that the final paths of an interval stay apart. It uses nothing but the paths:
 * every pair of bodies whose paths come near is followed from piece to piece. */
#include "step/local/local.h"
#include "step/paths.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define DEPTHS 64 /* moments at which an overlap is measured */

typedef struct work {
  const tl_local *local;
  const tl_crowd *crowd;
  const tl_paths_rule *rule;
  tl_piece *pieces; /* by body, then by time */
  uint32_t *first;  /* by body: its first piece; and one more */
  const tl_pairs *pairs;
  tl_advanced *results; /* by pair; times are from the begin of the interval */
} work;

static int compare_pieces(const void *x, const void *y) {
  const tl_piece *a = x, *b = y;
  if (a->slot != b->slot)
    return a->slot < b->slot ? -1 : 1;
  return a->from < b->from ? -1 : a->from > b->from;
}

static talus_status sort_pieces(work *job) {
  const tl_local *local = job->local;
  const size_t n = local->pieces.count, bodies = job->crowd->count;
  TL_TAKE(job->crowd->arena, n, &job->pieces);
  TL_TAKE(job->crowd->arena, bodies + 1, &job->first);
  if (n > 0)
    memcpy(job->pieces, local->pieces.data, n * sizeof *job->pieces);
  if (n > 1)
    qsort(job->pieces, n, sizeof *job->pieces, compare_pieces);
  for (size_t i = 0, at = 0; i <= bodies; ++i) {
    while (at < n && job->pieces[at].slot < i)
      at++;
    job->first[i] = (uint32_t)at;
  }
  return TALUS_OK;
}

/* The path of a wall: straight between its positions at both times. */
static tl_path wall_path(const tl_model *model, uint32_t slot, const tl_state *in, double from,
                         double to) {
  if (!(model->property.flags[slot] & TL_FLAG_KINEMATIC))
    return (tl_path){.position = in->position[slot],
                     .rotation = tl_dquat_widen(in->rotation[slot])};
  const tl_moving m = tl_body_moving(model, slot, from), n = tl_body_moving(model, slot, to);
  const double h = to - from;
  return (tl_path){.position = m.position,
                   .velocity = tl_dscale(tl_dsub(n.position, m.position), 1 / h),
                   .rotation = m.rotation,
                   .spin = tl_path_spin(m.rotation, n.rotation, n.spin, h)};
}

static talus_box box_of(const work *job, uint32_t slot) {
  const tl_model *model = job->crowd->model;
  const tl_shape *shape = tl_body_shape(model, slot);
  if (!job->local->bodies.data[slot].is_movable) {
    const tl_path path = wall_path(model, slot, job->crowd->in, job->crowd->t0, job->crowd->t1);
    if (!shape->bounded || !(model->property.flags[slot] & TL_FLAG_KINEMATIC))
      return tl_shape_bounds(shape, (double)model->property.scale[slot], path.position,
                             tl_dquat_narrow(path.rotation));
    /* A generous box, because its pairs are tested exactly afterwards. */
    return tl_box_grow(tl_local_box(model, slot, &path, job->crowd->dt),
                       2 * (double)shape->radius * (double)model->property.scale[slot]);
  }
  talus_box box = tl_box_empty();
  for (uint32_t i = job->first[slot]; i < job->first[slot + 1]; ++i) {
    const tl_piece *piece = &job->pieces[i];
    box = tl_box_union(box, tl_local_box(model, slot, &piece->path, piece->to - piece->from));
  }
  return box;
}

static double size_of(const tl_model *model, uint32_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  return shape->bounded ? (double)shape->radius * (double)model->property.scale[slot] : DBL_MAX;
}

static double distance_of(const work *job, tl_distance d, tl_pair pair) {
  const tl_model *model = job->crowd->model;
  const double halo = (double)tl_halo_of(model, pair.a) + (double)tl_halo_of(model, pair.b);
  return d.metres + d.sizes * fmin(size_of(model, pair.a), size_of(model, pair.b)) + d.halos * halo;
}

static void find_depth(const tl_advance *advance, tl_advanced *r) {
  const double left = advance->h - r->time;
  for (int i = 1; i <= DEPTHS; ++i) {
    const double t = r->time + left * i / DEPTHS, gap = tl_advance_gap(advance, t, 0);
    if (gap < r->least)
      r->least = gap, r->least_at = t;
  }
}

/* Follows two bodies along their paths from t on for h, and adds the result to *sum. */
static void follow(const work *job, tl_pair pair, tl_path a, tl_path b, double t, double h,
                   tl_advanced *sum) {
  const tl_model *model = job->crowd->model;
  const bool is_plane =
      !tl_body_shape(model, pair.a)->bounded || !tl_body_shape(model, pair.b)->bounded;
  const talus_dvec3 apart =
      is_plane ? tl_dsub(b.position, a.position) : tl_model_offset(model, a.position, b.position);
  a.position = tl_dvec3(0, 0, 0), b.position = apart;
  const tl_advance advance = {.a = {tl_body_shape(model, pair.a), model->property.scale[pair.a], a},
                              .b = {tl_body_shape(model, pair.b), model->property.scale[pair.b], b},
                              .h = h,
                              .floor = distance_of(job, job->rule->floor, pair),
                              .fine = distance_of(job, job->rule->fine, pair),
                              .goes_on = true};
  tl_advanced r = tl_advance_pair(&advance);
  if (!r.is_clear)
    find_depth(&advance, &r);
  const double since = t - job->crowd->t0;
  sum->looks += r.looks;
  sum->is_lost |= r.is_lost;
  if (sum->is_clear && !r.is_clear)
    sum->is_clear = false, sum->time = since + r.time, sum->gap = r.gap;
  if (r.least < sum->least)
    sum->least = r.least, sum->least_at = since + r.least_at;
}

static void check_pair(const work *job, tl_pair pair, tl_advanced *sum) {
  const tl_local *local = job->local;
  const tl_model *model = job->crowd->model;
  const bool a_moves = local->bodies.data[pair.a].is_movable,
             b_moves = local->bodies.data[pair.b].is_movable;
  *sum = (tl_advanced){.is_clear = true, .least = DBL_MAX};
  if (!a_moves || !b_moves) {
    const uint32_t body = a_moves ? pair.a : pair.b, wall = a_moves ? pair.b : pair.a;
    for (uint32_t i = job->first[body]; i < job->first[body + 1]; ++i) {
      const tl_piece *p = &job->pieces[i];
      const tl_path all = wall_path(model, wall, job->crowd->in, p->begun, p->until),
                    w = tl_path_later(&all, p->from - p->begun);
      follow(job, pair, a_moves ? p->path : w, a_moves ? w : p->path, p->from, p->to - p->from,
             sum);
    }
    return;
  }
  uint32_t i = job->first[pair.a], j = job->first[pair.b];
  for (double t = job->crowd->t0; i < job->first[pair.a + 1] && j < job->first[pair.b + 1];) {
    const tl_piece *p = &job->pieces[i], *q = &job->pieces[j];
    const double end = fmin(p->to, q->to);
    if (end > t)
      follow(job, pair, tl_path_later(&p->path, t - p->from), tl_path_later(&q->path, t - q->from),
             t, end - t, sum);
    i += p->to <= end, j += q->to <= end;
    t = end;
  }
}

static void check_range(void *context, size_t begin, size_t end) {
  const work *job = context;
  for (size_t i = begin; i < end; ++i)
    check_pair(job, job->pairs->data[i], &job->results[i]);
}

static void sum_up(const work *job, tl_paths_report *report) {
  *report = (tl_paths_report){.pairs = job->pairs->count, .time = DBL_MAX, .least = DBL_MAX};
  for (size_t i = 0; i < job->pairs->count; ++i) {
    const tl_advanced *r = &job->results[i];
    report->looks += (uint64_t)r->looks;
    report->swept += r->looks > 1;
    report->lost += r->is_lost;
    report->short_count += !r->is_clear;
    if (!r->is_clear && r->time < report->time)
      report->time = r->time, report->first = job->pairs->data[i], report->first_gap = r->gap;
    if (r->least < report->least)
      report->least = r->least, report->least_at = r->least_at,
      report->nearest = job->pairs->data[i];
  }
}

/* True if the pieces of a body cover the interval without a gap. */
static bool is_complete(const work *job, uint32_t slot) {
  double t = job->crowd->t0;
  for (uint32_t i = job->first[slot]; i < job->first[slot + 1]; ++i) {
    if (job->pieces[i].from != t)
      return false;
    t = job->pieces[i].to;
  }
  return t == job->crowd->t1;
}

talus_status tl_local_check_pieces(const tl_local *local, const tl_paths_rule *rule,
                                   tl_paths_report *report) {
  const tl_crowd *crowd = local->crowd;
  const tl_model *model = crowd->model;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_crowd alone = *crowd;
  alone.broad_cache = NULL;
  tl_pairs pairs = {0};
  talus_box *boxes;
  work job = {.local = local, .crowd = crowd, .rule = rule, .pairs = &pairs};
  TL_TRY(sort_pieces(&job));
  TL_TAKE(crowd->arena, crowd->count, &boxes);
  for (uint32_t i = 0; i < crowd->count; ++i) {
    if (local->bodies.data[i].is_movable && !is_complete(&job, i))
      return tl_fail(TALUS_ERROR_DIVERGED, "the final paths of a body have a hole");
    boxes[i] = box_of(&job, i);
  }
  const char *reason;
  const talus_broad_kind broad =
      model->broad == TALUS_BROAD_AUTO ? tl_broad_choose(&alone, boxes, &reason) : model->broad;
  TL_TRY(local->backend->find_pairs(broad, &alone, boxes, &pairs));
  if (crowd->joints)
    tl_joints_keep_apart(crowd->joints, &pairs);
  TL_TAKE(crowd->arena, pairs.count, &job.results);
  tl_for(&model->par, pairs.count, 16, check_range, &job);
  sum_up(&job, report);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
