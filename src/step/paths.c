#include "step/paths.h"

#include "base/cancel.h"
#include "crowd/free.h"
#include "joint/joint.h"

#include <float.h>
#include <math.h>

#define DEPTHS 64 /* times at which an overlap is measured */
/* Of a halo: overlap that motions may add up to which are too little to be followed; and that of
 * pairs that are looked at for this. In single precision both are roundings of gaps. */
#define CREEP 0.005
#define DEEP  0.01

/* ---- paths ----------------------------------------------------------------------------------- */

/* Vector from x to the image of y that is nearest to x + d. */
static talus_dvec3 way_to(const tl_model *model, talus_dvec3 x, talus_dvec3 y, talus_dvec3 d) {
  const talus_domain_def *domain = &model->domain;
  talus_dvec3 w = tl_dsub(y, x);
  if (!domain->enabled)
    return w;
  const talus_dvec3 length = tl_dsub(domain->box.hi, domain->box.lo);
  if (domain->periodic[0])
    w.x += length.x * floor((d.x - w.x) / length.x + 0.5);
  if (domain->periodic[1])
    w.y += length.y * floor((d.y - w.y) / length.y + 0.5);
  if (domain->periodic[2])
    w.z += length.z * floor((d.z - w.z) / length.z + 0.5);
  return w;
}

static bool is_same(talus_quat a, talus_quat b) {
  return a.w == b.w && a.x == b.x && a.y == b.y && a.z == b.z;
}

talus_dvec3 tl_step_gain(const tl_crowd *crowd, uint32_t slot) {
  return tl_dsub(tl_widen(tl_free_of(crowd, slot).velocity), tl_widen(crowd->in->velocity[slot]));
}

tl_path tl_step_path(const tl_crowd *crowd, uint32_t slot, bool flies) {
  const tl_model *model = crowd->model;
  const tl_state *in = crowd->in, *out = crowd->out;
  const uint32_t flags = model->property.flags[slot];
  tl_path path = {.position = in->position[slot], .rotation = tl_dquat_widen(in->rotation[slot])};
  if (flags & TL_FLAG_FIXED)
    return path;
  const talus_dvec3 v = tl_widen(out->velocity[slot]);
  const talus_dvec3 way =
      way_to(model, in->position[slot], out->position[slot], tl_dscale(v, crowd->dt));
  path.velocity = tl_dscale(way, 1 / crowd->dt);
  if (flies)
    tl_path_fly(&path, tl_step_gain(crowd, slot), crowd->dt);
  if (tl_body_shape(model, slot)->kind != TALUS_SPHERE &&
      !is_same(in->rotation[slot], out->rotation[slot]))
    path.spin = tl_path_spin(path.rotation, tl_dquat_widen(out->rotation[slot]),
                             tl_widen(out->spin[slot]), crowd->dt);
  return path;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

typedef struct work {
  const tl_crowd *crowd;
  const tl_paths_rule *rule;
  tl_path *paths; /* by member */
  talus_box *boxes;
  const tl_pairs *pairs;
  tl_advanced *results; /* by pair: result of the advancement */
  uint8_t *near;        /* by pair: it began with a gap below rule->near */
} work;

/* Half of the floor that a pair of the body can have, at most. */
static double half_floor(const work *job, uint32_t slot) {
  const tl_model *model = job->crowd->model;
  const tl_distance d = job->rule->floor;
  const double size =
      (double)tl_body_shape(model, slot)->radius * (double)model->property.scale[slot];
  const double halo = job->rule->halos ? (double)job->rule->halos[slot] : 0;
  return fmax(0.5 * d.metres, 0) + fmax(d.sizes, 0) * size + fmax(d.halos, 0) * halo;
}

static talus_box box_of(const work *job, uint32_t slot, const tl_path *path) {
  const tl_model *model = job->crowd->model;
  const tl_shape *shape = tl_body_shape(model, slot);
  const double scale = (double)model->property.scale[slot];
  talus_box box = tl_shape_bounds(shape, scale, path->position, job->crowd->in->rotation[slot]);
  if (!shape->bounded)
    return box;
  if (tl_ddot(path->spin, path->spin) > 0) { /* the ball in which the body turns */
    const double r = (double)shape->radius * scale * (1 + 4 * (double)TL_REAL_EPS);
    const talus_dvec3 reach = tl_dvec3(r, r, r);
    box.lo = tl_dsub(path->position, reach), box.hi = tl_dadd(path->position, reach);
  }
  if (job->rule->is_instant)
    return box;
  const talus_dvec3 moved = tl_dsub(tl_path_position(path, job->crowd->dt), path->position);
  const talus_box after = {tl_dadd(box.lo, moved), tl_dadd(box.hi, moved)};
  const double bulge = tl_path_bulge(path, 0, job->crowd->dt);
  return tl_box_grow(tl_box_union(box, after), half_floor(job, slot) + bulge);
}

static void make_boxes(void *context, size_t begin, size_t end) {
  const work *job = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    job->paths[i] = tl_step_path(job->crowd, slot, job->rule->flies && job->rule->flies[slot]);
    job->boxes[i] = box_of(job, slot, &job->paths[i]);
  }
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static double size_of(const tl_model *model, uint32_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  return shape->bounded ? (double)shape->radius * (double)model->property.scale[slot] : DBL_MAX;
}

static double distance_of(const work *job, tl_distance d, uint32_t a, uint32_t b) {
  const tl_model *model = job->crowd->model;
  const talus_real *halos = job->rule->halos;
  const double halo = halos ? (double)halos[a] + (double)halos[b] : 0;
  return d.metres + d.sizes * fmin(size_of(model, a), size_of(model, b)) + d.halos * halo;
}

static tl_mover mover_of(const work *job, uint32_t slot, const tl_path *path, talus_dvec3 at) {
  const tl_model *model = job->crowd->model;
  tl_mover m = {tl_body_shape(model, slot), model->property.scale[slot], *path};
  m.path.position = at;
  return m;
}

/* Uses the periodic image that is nearest at the begin, like the narrow phase. */
static tl_advance advance_of(const work *job, tl_pair pair) {
  const tl_crowd *crowd = job->crowd;
  const size_t ia = tl_crowd_find(crowd, pair.a), ib = tl_crowd_find(crowd, pair.b);
  const tl_path *a = &job->paths[ia], *b = &job->paths[ib];
  const bool is_plane = !tl_body_shape(crowd->model, pair.a)->bounded ||
                        !tl_body_shape(crowd->model, pair.b)->bounded;
  const talus_dvec3 apart = is_plane ? tl_dsub(b->position, a->position)
                                     : tl_model_offset(crowd->model, a->position, b->position);
  return (tl_advance){.a = mover_of(job, pair.a, a, tl_dvec3(0, 0, 0)),
                      .b = mover_of(job, pair.b, b, apart),
                      .h = crowd->dt,
                      .floor = distance_of(job, job->rule->floor, pair.a, pair.b),
                      .fine = distance_of(job, job->rule->fine, pair.a, pair.b),
                      .goes_on = job->rule->goes_on};
}

/* Lowers the floor of a pair that is near at the begin, with that gap. */
static bool lower_floor(const work *job, tl_pair pair, tl_advance *advance, double *begin) {
  const double near = distance_of(job, job->rule->near, pair.a, pair.b);
  if (!(near > 0))
    return false;
  const double gap = *begin = tl_advance_gap(advance, 0, near);
  if (!(gap <= near))
    return false;
  advance->floor = fmin(distance_of(job, job->rule->near_floor, pair.a, pair.b),
                        gap > 0 ? 0.5 * gap : gap - advance->fine);
  return true;
}

/* A pair that overlaps by a rounding may not sink further. Its floor lies `fine` below the gap that
 * it begins with, so it could do so in every step. */
static void stop_creep(const work *job, tl_pair pair, const tl_advance *advance, double begin,
                       tl_advanced *r) {
  const double halo = distance_of(job, (tl_distance){.halos = 1}, pair.a, pair.b);
  if (TALUS_SINGLE || begin > 0 || begin < -DEEP * halo)
    return;
  const double gap = tl_advance_gap(advance, advance->h, 0);
  if (gap < fmin(begin, -CREEP * halo) - 1e-3 * advance->fine)
    r->is_clear = false, r->time = 0, r->gap = gap;
}

static tl_advanced look_once(const tl_advance *advance) {
  const double gap = tl_advance_gap(advance, 0, fmax(advance->floor, 0));
  return (tl_advanced){.is_clear = !(gap < advance->floor), .least = gap, .gap = gap, .looks = 1};
}

static void measure_depth(const tl_advance *advance, double length, tl_advanced *r) {
  for (int i = 1; i <= DEPTHS; ++i) {
    const double t = r->time + length * i / DEPTHS, gap = tl_advance_gap(advance, t, 0);
    if (gap < r->least)
      r->least = gap, r->least_at = t;
  }
}

/* Finds how deep a pair gets in the rest of the step, for the message: at times close together
 * until the smaller body has moved by about twice its size, and at further times over the whole
 * rest. */
static void find_depth(const tl_advance *advance, double size, tl_advanced *r) {
  const double left = advance->h - r->time, motion = tl_advance_motion(advance, advance->h);
  const double passing = motion > 0 ? 4 * size / motion * advance->h : left;
  measure_depth(advance, fmin(passing, left), r);
  if (passing < left)
    measure_depth(advance, left, r);
}

static void check_pairs(void *context, size_t begin, size_t end) {
  const work *job = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_pair pair = job->pairs->data[i];
    tl_advance advance = advance_of(job, pair);
    double gap = DBL_MAX;
    job->near[i] = lower_floor(job, pair, &advance, &gap);
    job->results[i] = job->rule->is_instant ? look_once(&advance) : tl_advance_pair(&advance);
    if (job->near[i] && job->results[i].is_clear)
      stop_creep(job, pair, &advance, gap, &job->results[i]);
    if (job->rule->finds_depth && !job->rule->is_instant && !job->results[i].is_clear)
      find_depth(&advance, distance_of(job, (tl_distance){.sizes = 1}, pair.a, pair.b),
                 &job->results[i]);
  }
}

/* Sums in the order of pairs, so that ties do not depend on threads. */
static void sum_up(const work *job, tl_paths_report *report) {
  *report = (tl_paths_report){.pairs = job->pairs->count, .time = DBL_MAX, .least = DBL_MAX};
  for (size_t i = 0; i < job->pairs->count; ++i) {
    const tl_advanced *r = &job->results[i];
    report->looks += (uint64_t)r->looks;
    report->swept += r->looks > 1;
    report->lost += r->is_lost;
    report->short_count += !r->is_clear;
    if (!r->is_clear && r->time < report->time)
      report->time = r->time, report->first = job->pairs->data[i], report->first_gap = r->gap,
      report->first_is_near = job->near[i];
    if (r->least < report->least)
      report->least = r->least, report->least_at = r->least_at,
      report->nearest = job->pairs->data[i];
  }
}

talus_status tl_step_check_paths(const tl_backend *backend, const tl_crowd *crowd,
                                 const tl_paths_rule *rule, tl_paths_report *report) {
  const tl_model *model = crowd->model;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_crowd alone = *crowd;
  alone.broad_cache = NULL; /* the cache is for other boxes */
  tl_pairs pairs = {0};
  work job = {.crowd = crowd, .rule = rule, .pairs = &pairs};
  TL_TAKE(crowd->arena, crowd->count, &job.paths);
  TL_TAKE(crowd->arena, crowd->count, &job.boxes);
  tl_for(&model->par, crowd->count, 256, make_boxes, &job);
  const char *reason;
  const talus_broad_kind broad =
      model->broad == TALUS_BROAD_AUTO ? tl_broad_choose(&alone, job.boxes, &reason) : model->broad;
  TL_TRY(backend->find_pairs(broad, &alone, job.boxes, &pairs));
  if (crowd->joints)
    tl_joints_keep_apart(crowd->joints, &pairs);
  TL_GO_ON(crowd->cancel);
  TL_TAKE(crowd->arena, pairs.count, &job.results);
  TL_TAKE(crowd->arena, pairs.count, &job.near);
  tl_for(&model->par, pairs.count, 16, check_pairs, &job);
  sum_up(&job, report);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
