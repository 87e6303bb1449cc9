#include "base/trig.h"
#include "narrow/swept.h"

#include "crowd/free.h"
#include "narrow/advance.h"
#include "narrow/narrow.h"
#include "shape/shape.h"

#include <math.h>

#define ROUNDS   12   /* planes that are tried; each is valid, so the last is as good as any */
#define TOUCHING 1e-3 /* part of the size: bodies nearer than this seem to touch */
/* Rounds that follow a pair which seems to touch until it does: each halves the distance to the
 * nearest point at least. */
#define FINE_ROUNDS   40
#define FINE_TOUCHING (TALUS_SINGLE ? 1e-5 : 1e-9) /* part of the size */
/* rad: least angle between the normals at the touch and at the start for the former to be used. A
 * wall takes any impulse. Two free bodies get the impulse at one point, as angular momentum
 * requires; but they will be elsewhere at the touch, so the arms are off by the displacement. */
#define TURNED_AT_WALL 0.02
#define TURNED_FREE    0.25

typedef struct mover {
  tl_posed posed; /* at t0 */
  talus_dvec3 v, w;
  talus_dvec3 turning; /* like w; 0 for a sphere, whose orientation does not matter */
  bool movable;
} mover;

/* The motion of a pair. Positions relative to body a at that time. */
typedef struct way {
  mover a, b;
  talus_dvec3 u; /* m/s: of b's centre relative to a's */
  double h, size;
  talus_real margin;
} way;

/* The points of a pair at time t from t0. */
typedef struct view {
  double t;
  int count;
  tl_point points[TL_NARROW_MAX_POINTS];
} view;

/* The planes of a view, each moving with the free motion. */
typedef struct outlook {
  double gap;   /* m: smallest gap of all points now */
  double least; /* m: smallest gap at t1 */
  double spare; /* m: smallest gap at t0 and at t1 */
  double touch; /* s from now until the first closes */
} outlook;

static talus_dvec3 wide(talus_vec3 v) { return tl_dvec3((double)v.x, (double)v.y, (double)v.z); }

static mover start(const tl_swept *swept, uint32_t slot, talus_dvec3 position) {
  const tl_model *model = swept->model;
  const tl_free f = tl_free_of(swept->crowd, slot);
  mover m = {.posed = {.shape = tl_body_shape(model, slot),
                       .scale = model->property.scale[slot],
                       .position = position,
                       .rotation = swept->crowd->in->rotation[slot]},
             .v = wide(f.velocity),
             .w = wide(f.spin),
             .movable = f.movable};
  if (m.posed.shape->kind != TALUS_SPHERE)
    m.turning = m.w;
  return m;
}

static tl_posed pose_at(const mover *m, double t, talus_dvec3 position) {
  tl_posed p = m->posed;
  p.position = position;
  if (m->turning.x != 0 || m->turning.y != 0 || m->turning.z != 0)
    p.rotation = tl_quat_renormalize(
        tl_quat_mul(tl_quat_from_rotation_vector(tl_narrow(tl_dscale(m->turning, t))), p.rotation));
  return p;
}

static talus_dvec3 b_at(const way *w, double t) {
  return tl_dadd(w->b.posed.position, tl_dscale(w->u, t));
}

static void look(const way *w, double t, view *v) {
  const tl_posed a = pose_at(&w->a, t, tl_dvec3(0, 0, 0)), b = pose_at(&w->b, t, b_at(w, t));
  v->t = t;
  v->count = tl_narrow_pair(&a, &b, w->margin, v->points);
}

/* Velocity of b relative to a at a point with given arms. */
static talus_dvec3 velocity_at(const way *w, talus_dvec3 spin_a, talus_dvec3 arm_a,
                               talus_dvec3 spin_b, talus_dvec3 arm_b) {
  return tl_dadd(w->u, tl_dsub(tl_dcross(spin_b, arm_b), tl_dcross(spin_a, arm_a)));
}

/* Rate at which a point's gap grows. */
static double opening(const way *w, double t, const tl_point *p) {
  const talus_dvec3 arm_b = tl_dsub(p->point, b_at(w, t));
  return tl_ddot(velocity_at(w, w->a.turning, p->point, w->b.turning, arm_b), wide(p->normal));
}

static outlook look_ahead(const way *w, const view *v) {
  outlook o = {.gap = DBL_MAX, .least = DBL_MAX, .spare = DBL_MAX, .touch = DBL_MAX};
  for (int i = 0; i < v->count; ++i) {
    const double gap = (double)v->points[i].gap, speed = opening(w, v->t, &v->points[i]);
    o.gap = fmin(o.gap, gap);
    o.least = fmin(o.least, gap + (w->h - v->t) * speed);
    o.spare = fmin(o.spare, fmin(gap - v->t * speed, gap + (w->h - v->t) * speed));
    if (speed < 0)
      o.touch = fmin(o.touch, gap / -speed);
  }
  return o;
}

/* Of the planes that the motion does not cross, finds one with more room: where the bodies are
 * nearest. For a convex function that is at the end, or near the intersection of the tangents from
 * both sides. */
static void find_nearest(const way *w, view *best) {
  view v;
  look(w, w->h, &v);
  if (v.count <= 0)
    return;
  const outlook first = look_ahead(w, best), last = look_ahead(w, &v);
  const double slope_0 = -first.gap / first.touch, slope_1 = (last.gap - last.spare) / w->h;
  if (last.gap > 0 && last.spare > first.spare)
    *best = v;
  if (!(slope_0 < 0 && slope_1 > 0) || !(last.gap > 0))
    return;
  const double t = best->t;
  const double meet = t + (first.gap - last.gap + slope_1 * (w->h - t)) / (slope_1 - slope_0);
  if (!(meet > t && meet < w->h))
    return;
  look(w, meet, &v);
  if (v.count > 0 && look_ahead(w, &v).gap > 0 &&
      look_ahead(w, &v).spare > look_ahead(w, best).spare)
    *best = v;
}

/* The view at the next time that the visible planes allow; false: they touch then. */
static bool look_further(const way *w, const outlook *o, view *v) {
  view next;
  look(w, v->t + o->touch, &next);
  if (next.count <= 0 || !(look_ahead(w, &next).gap > 0))
    return false;
  *v = next;
  return true;
}

/* Continues from a view in which a pair seems to touch: true if it misses after all; *v is that
 * view. */
static bool passes_by(const way *w, view *v) {
  view now = *v;
  for (int round = 0; round < FINE_ROUNDS; ++round) {
    const outlook o = look_ahead(w, &now);
    if (o.least >= 0) {
      find_nearest(w, &now);
      *v = now;
      return true;
    }
    if (o.gap <= FINE_TOUCHING * w->size || !look_further(w, &o, &now))
      return false;
  }
  return false;
}

/* Advances as far as the visible planes allow; with a convex distance that never passes the touch.
 * True if the pair misses. *v is the last view in which it does not seem to touch or, if it misses,
 * a view whose plane it does not cross. */
static bool advance(const way *w, view *v) {
  for (int round = 0; round < ROUNDS; ++round) {
    const outlook o = look_ahead(w, v);
    if (o.least >= 0) {
      find_nearest(w, v);
      return true;
    }
    if (o.gap <= TOUCHING * w->size)
      break;
    if (!look_further(w, &o, v))
      return false;
  }
  return passes_by(w, v);
}

/* ---- back to t0 ------------------------------------------------------------------------------ */

/* Share of the displacement by which a point goes back with b rather than a: the arm of a wall,
 * which nothing turns, does not matter, and the arm of a sphere is along the normal. */
static double share_of_b(const way *w) {
  const bool ball_a = w->a.posed.shape->kind == TALUS_SPHERE;
  const bool ball_b = w->b.posed.shape->kind == TALUS_SPHERE;
  if (w->a.movable != w->b.movable)
    return w->a.movable ? 0 : 1;
  return ball_a == ball_b ? 0.5 : ball_a ? 0 : 1;
}

/* Makes a contact at t0 that leaves the free motion as much room as the point does. If the bodies
 * hit, it is set to hit at once: otherwise a body would come as near as it may, keep the rest of
 * its speed, and be past the point when the next step could act. */
static void write_point(const way *w, double t, const tl_point *p, talus_dvec3 origin,
                        tl_contact *c) {
  const talus_dvec3 n = wide(p->normal);
  const talus_dvec3 arm_a = tl_dsub(p->point, tl_dscale(w->u, share_of_b(w) * t));
  const talus_dvec3 arm_b = tl_dsub(arm_a, w->b.posed.position);
  const double left = (double)p->gap + (w->h - t) * opening(w, t, p);
  const double speed = tl_ddot(velocity_at(w, w->a.w, arm_a, w->b.w, arm_b), n);
  c->feature_a = p->feature_a, c->feature_b = p->feature_b;
  c->point = tl_dadd(origin, arm_a);
  c->normal = p->normal;
  c->gap = TL_R(left < 0 ? 0 : fmax(left - w->h * speed, 0.0));
  c->impulse = tl_vec3(0, 0, 0);
}

/* ---- which pairs ----------------------------------------------------------------------------- */

static bool is_single_body(const tl_shape *shape) {
  return !tl_kind_is_wall(shape->kind) && shape->kind != TALUS_CLUMP && shape->kind != TALUS_MESH;
}

static double size_of(const tl_model *model, uint32_t slot) {
  return (double)(tl_body_shape(model, slot)->radius * model->property.scale[slot]);
}

/* Checks that need no velocities. */
static bool is_candidate(const tl_swept *swept, const tl_contact *c, size_t count, double *size) {
  const tl_model *model = swept->model;
  if (!tl_swept_is_on(model, swept->crowd))
    return false;
  for (size_t i = 0; i < count; ++i)
    if (!(c[i].gap > 0))
      return false;
  if (!is_single_body(tl_body_shape(model, c->a)) || !is_single_body(tl_body_shape(model, c->b)))
    return false;
  *size = fmin(size_of(model, c->a), size_of(model, c->b));
  /* A margin derived from speeds is at least the displacement. */
  return model->margin >= 0 ||
         (double)(swept->margins[c->a] + swept->margins[c->b]) > TL_SWEPT_FAR * *size;
}

/* Speed of a body with loads alone; false if its velocity does not determine that. */
static bool read_speed(const tl_swept *swept, uint32_t slot, talus_vec3 *v, double *turning) {
  const tl_model *model = swept->model;
  const tl_properties *property = &model->property;
  const tl_state *in = swept->crowd->in;
  const uint32_t flags = property->flags[slot];
  *v = tl_vec3(0, 0, 0);
  *turning = 0;
  if (property->force || property->torque || (flags & (TL_FLAG_KINEMATIC | TL_FLAG_LOCKS)))
    return false;
  if ((flags & TL_FLAG_STATIC) || tl_is_asleep(in, slot))
    return true;
  *v = tl_madd(in->velocity[slot], TL_R(swept->crowd->dt), model->gravity);
  if (tl_body_shape(model, slot)->kind != TALUS_SPHERE)
    *turning =
        (double)tl_length(in->spin[slot]) * (size_of(model, slot) + (double)(swept->margins[slot]));
  return true;
}

/* True if velocities show that the contact needs no change, because no point closes or none moves
 * far sideways; with a margin for rounding. */
static bool is_harmless(const tl_swept *swept, const tl_contact *c, size_t count, double size) {
  const double h = swept->crowd->dt;
  talus_vec3 va, vb;
  double wa, wb;
  if (!read_speed(swept, c->a, &va, &wa) || !read_speed(swept, c->b, &vb, &wb))
    return false;
  const talus_vec3 u = tl_sub(vb, va);
  const double turning = wa + wb, all2 = (double)tl_length2(u);
  bool opens = true, is_straight = true;
  for (size_t i = 0; i < count; ++i) {
    const double along = (double)tl_dot(u, c[i].normal);
    const double across = sqrt(fmax(all2 - along * along, 0) + 1e-6 * all2);
    opens &= (double)c[i].gap + h * (along - turning) > 1e-6 * size;
    is_straight &= h * (across + turning) <= 0.999 * TL_SWEPT_FAR * size;
  }
  return opens || is_straight;
}

static bool goes_sideways(const way *w, const view *v) {
  for (int i = 0; i < v->count; ++i) {
    const tl_point *p = &v->points[i];
    const talus_dvec3 n = wide(p->normal), arm_b = tl_dsub(p->point, b_at(w, 0));
    const talus_dvec3 u = velocity_at(w, w->a.turning, p->point, w->b.turning, arm_b);
    const double across = tl_dlength(tl_dsub(u, tl_dscale(n, tl_ddot(u, n))));
    if (w->h * across > TL_SWEPT_FAR * w->size)
      return true;
  }
  return false;
}

static void view_found(const tl_contact *found, size_t count, talus_dvec3 origin, view *v) {
  v->t = 0, v->count = (int)count;
  for (size_t i = 0; i < count; ++i)
    v->points[i] = (tl_point){.point = tl_dsub(found[i].point, origin),
                              .normal = found[i].normal,
                              .gap = found[i].gap,
                              .feature_a = found[i].feature_a,
                              .feature_b = found[i].feature_b};
}

/* True if the contacts found at t0 suffice: the bodies touch as they predicted. */
static bool was_foreseen(const way *w, const view *v, const tl_contact *found) {
  const double limit = w->a.movable && w->b.movable ? TURNED_FREE : TURNED_AT_WALL;
  return v->t == 0 || tl_ddot(wide(v->points[0].normal), wide(found->normal)) > tl_cos_d(limit);
}

static void count_pair(const tl_swept *swept) {
  if (swept->crowd->swept)
    __atomic_fetch_add(swept->crowd->swept, 1, __ATOMIC_RELAXED);
}

size_t tl_swept_pair(const tl_swept *swept, tl_contact *found, size_t count) {
  double size;
  if (count == 0 || !is_candidate(swept, found, count, &size) ||
      is_harmless(swept, found, count, size))
    return count;
  const uint32_t a = found->a, b = found->b;
  const talus_dvec3 *position = swept->crowd->in->position, origin = position[a];
  const talus_dvec3 to_b = tl_model_offset(swept->model, position[a], position[b]);
  way w = {.a = start(swept, a, tl_dvec3(0, 0, 0)),
           .b = start(swept, b, to_b),
           .h = swept->crowd->dt,
           .size = size,
           .margin = swept->margins[a] + swept->margins[b]};
  w.u = tl_dsub(w.b.v, w.a.v);
  view v;
  view_found(found, count, origin, &v);
  if (look_ahead(&w, &v).least >= 0 || !goes_sideways(&w, &v))
    return count;
  count_pair(swept);
  const bool misses = advance(&w, &v);
  if (!misses && was_foreseen(&w, &v, found))
    return count;
  for (int i = 0; i < v.count; ++i) {
    found[i].a = a, found[i].b = b;
    write_point(&w, v.t, &v.points[i], origin, &found[i]);
  }
  return (size_t)v.count;
}

/* ---- bodies made of parts -------------------------------------------------------------------- */

#define NEAR_IMPACT 0.02 /* part of the size: range of points that count when a pair meets */
#define FINE        1e-6 /* part of the size */

static bool has_parts(const tl_shape *shape) {
  return shape->kind == TALUS_CLUMP || shape->kind == TALUS_MESH;
}

/* Displacement of a pair with this body up to which contacts at the start suffice; at least a tenth
 * of its size, because a thin shell is not always fast. */
static double limit_of(const tl_model *model, uint32_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  return fmax(tl_shape_inner_radius(shape), 0.1 * (double)shape->radius) *
         (double)model->property.scale[slot];
}

static double pair_limit(const tl_model *model, const tl_pair *pair) {
  return fmin(limit_of(model, pair->a), limit_of(model, pair->b));
}

bool tl_swept_is_fast(const tl_swept *swept, const tl_pair *pair) {
  const tl_model *model = swept->model;
  const tl_shape *a = tl_body_shape(model, pair->a), *b = tl_body_shape(model, pair->b);
  if (!tl_swept_is_on(model, swept->crowd) || tl_kind_is_wall(a->kind) ||
      tl_kind_is_wall(b->kind) || (!has_parts(a) && !has_parts(b)))
    return false;
  const double limit = pair_limit(model, pair);
  if (!((double)(swept->margins[pair->a] + swept->margins[pair->b]) > limit))
    return false;
  const mover ma = start(swept, pair->a, tl_dvec3(0, 0, 0)),
              mb = start(swept, pair->b, tl_dvec3(0, 0, 0));
  const double speed = tl_dlength(tl_dsub(mb.v, ma.v)) +
                       tl_dlength(ma.turning) * size_of(model, pair->a) +
                       tl_dlength(mb.turning) * size_of(model, pair->b);
  return swept->crowd->dt * speed > limit;
}

static tl_mover mover_of(const mover *m) {
  return (tl_mover){m->posed.shape,
                    m->posed.scale,
                    {.position = m->posed.position,
                     .velocity = m->v,
                     .rotation = tl_dquat_widen(m->posed.rotation),
                     .spin = m->turning}};
}

/* Makes a contact at t0 for one at time t. If the pair hits it is set to hit at once (write_point);
 * if it misses, it may come as near as its path does. */
static void write_impact(const way *w, const view *v, bool is_hit, const tl_point *p,
                         talus_dvec3 origin, tl_contact *c) {
  write_point(w, v->t, p, origin, c);
  const talus_dvec3 n = wide(p->normal);
  const talus_dvec3 arm_a = tl_dsub(c->point, origin), arm_b = tl_dsub(arm_a, w->b.posed.position);
  const talus_dvec3 u = velocity_at(w, w->a.w, arm_a, w->b.w, arm_b);
  const double speed = tl_ddot(u, n);
  const double across = tl_dlength(tl_dsub(u, tl_dscale(n, speed)));
  if (!is_hit)
    c->gap = TL_R(fmax((double)c->gap, fmax(-w->h * speed, 0.0)));
  else if (w->h * across <= TL_SWEPT_FAR * w->size)
    c->gap = TL_R(fmax(-v->t * speed, 0.0));
}

bool tl_swept_find(const tl_swept *swept, const tl_pair *pair, tl_contact *out, size_t *count) {
  const tl_model *model = swept->model;
  const talus_dvec3 *position = swept->crowd->in->position, origin = position[pair->a];
  const talus_dvec3 to_b = tl_model_offset(model, origin, position[pair->b]);
  way w = {.a = start(swept, pair->a, tl_dvec3(0, 0, 0)),
           .b = start(swept, pair->b, to_b),
           .h = swept->crowd->dt,
           .size = fmin(size_of(model, pair->a), size_of(model, pair->b))};
  w.u = tl_dsub(w.b.v, w.a.v);
  const tl_advance advance = {
      .a = mover_of(&w.a), .b = mover_of(&w.b), .h = w.h, .fine = FINE * w.size};
  const tl_advanced r = tl_advance_pair(&advance);
  if (r.is_lost || (!r.is_clear && !(r.time > 0)))
    return false;
  count_pair(swept);
  view v = {.t = r.is_clear ? 0 : r.time};
  v.count =
      tl_advance_points(&advance, v.t, r.is_clear ? pair_limit(model, pair) : NEAR_IMPACT * w.size,
                        v.points, TL_NARROW_MAX_POINTS);
  if (!r.is_clear && v.count == 0)
    return false;
  *count = 0;
  for (int i = 0; i < v.count; ++i) {
    if (r.is_clear && !(v.points[i].gap > 0))
      return false;
    out[i].a = pair->a, out[i].b = pair->b;
    write_impact(&w, &v, !r.is_clear, &v.points[i], origin, &out[i]);
  }
  *count = (size_t)v.count;
  return true;
}
