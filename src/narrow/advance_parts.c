#include "narrow/advance_parts.h"

#include "kernels/advance.h"
#include "kernels/gjk.h"
#include "kernels/triangle.h"
#include "narrow/posed_pairs.h"
#include "shape/facets.h"

#include <float.h>
#include <math.h>

#define TRIES       8    /* lengths of an interval that are tried before the next look */
#define TURN        0.35 /* rad: by which bodies turn at most in a piece of the paths */
#define MOST_PIECES 10000
#define AIMS        4 /* directions that are remembered */

/* Where a body is at a moment. */
typedef struct stance {
  talus_dvec3 at;
  tl_frame frame;
} stance;

typedef struct side {
  const tl_mover *m;
  const tl_facets *f;    /* of a mesh */
  const double *spheres; /* of a clump: x, y, z, radius at scale 1 */
  uint32_t sphere_count;
  tl_convex whole; /* of other kinds, where it is at `begin` */
  double scale;
  double rounding;   /* m, of all parts; of a sphere of a clump: its own */
  double rate, bend; /* rad/s: of its turning, and the square of that */
  stance begin, end; /* of the piece of its path */
} side;

typedef enum form {
  BRANCH, /* of a tree */
  LEAF,   /* of a tree: triangles */
  LIST,   /* of spheres */
  BALL,   /* a sphere */
  WHOLE   /* a convex body */
} form;

/* Parts of a body that are looked at together, in its own axes, m. */
typedef struct node {
  form form;
  talus_dvec3 middle, half; /* of the box about them, less the rounding */
  double radius;            /* of the ball about them */
  double arm;               /* of their farthest place from the centre of mass */
  uint32_t first, count;    /* triangles, spheres, or the branch */
} node;

/* One triangle, sphere or convex body. */
typedef struct part {
  const side *side;
  form form;        /* LEAF: a triangle */
  double corner[9]; /* in the body's axes, m; of a sphere its centre */
  double rounding;  /* m */
  double arm;
} part;

/* A direction that has parted two parts, and what it says about the whole piece. */
typedef struct aim {
  talus_dvec3 n;          /* unit, from a to b */
  talus_dvec3 a[2], b[2]; /* n in the axes of a, -n in those of b: at the begin, at the end */
  double apart[2];        /* m: of the centres, along n */
  double whole_a[2], whole_b[2]; /* m: of convex bodies, farthest along n, and against it */
  double bend;                   /* m/s2: of the acceleration */
} aim;

typedef struct search {
  const tl_advance *pair;
  side a, b;
  double floor;       /* m: of surfaces, that must be kept */
  double proof;       /* m: that is proven: less than the floor where the search goes on */
  double from, until; /* s: the piece; `until` shrinks to the earliest meeting */
  bool is_hit;
  aim aims[AIMS];
  int aim_count, last_aim;
  tl_parts_advanced r;
} search;

/* ---- bodies and their parts ------------------------------------------------------------------ */

static bool is_made_of_parts(const tl_shape *shape) {
  return shape->kind == TALUS_MESH || shape->kind == TALUS_CLUMP;
}

bool tl_advance_has_parts(const tl_advance *pair) {
  const tl_shape *a = pair->a.shape, *b = pair->b.shape;
  if (tl_kind_is_wall(a->kind) || tl_kind_is_wall(b->kind))
    return false;
  if (a->kind == TALUS_MESH || b->kind == TALUS_MESH)
    return true;
  const bool balls_a = a->kind == TALUS_CLUMP || a->kind == TALUS_SPHERE;
  const bool balls_b = b->kind == TALUS_CLUMP || b->kind == TALUS_SPHERE;
  return (is_made_of_parts(a) || is_made_of_parts(b)) && !(balls_a && balls_b);
}

static tl_frame frame_of(tl_dquat q) {
  const double s = 2 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  const double xx = s * q.x * q.x, yy = s * q.y * q.y, zz = s * q.z * q.z;
  const double xy = s * q.x * q.y, xz = s * q.x * q.z, yz = s * q.y * q.z;
  const double wx = s * q.w * q.x, wy = s * q.w * q.y, wz = s * q.w * q.z;
  return (tl_frame){{{1 - (yy + zz), xy - wz, xz + wy},
                     {xy + wz, 1 - (xx + zz), yz - wx},
                     {xz - wy, yz + wx, 1 - (xx + yy)}}};
}

static stance stance_at(const side *s, double t) {
  return (stance){tl_path_position(&s->m->path, t), frame_of(tl_path_rotation(&s->m->path, t))};
}

static side side_of(const tl_mover *m) {
  side s = {.m = m, .scale = (double)m->scale};
  const tl_shape *shape = m->shape;
  s.bend = shape->kind == TALUS_SPHERE ? 0 : tl_ddot(m->path.spin, m->path.spin);
  s.rate = sqrt(s.bend);
  if (shape->kind == TALUS_MESH) {
    s.f = shape->facets;
    s.rounding = s.f->rounding * s.scale;
  } else if (shape->kind == TALUS_CLUMP) {
    s.spheres = shape->points, s.sphere_count = shape->point_count;
  } else {
    const tl_posed posed = {.shape = shape, .scale = m->scale, .rotation = {1, 0, 0, 0}};
    tl_posed_convex(&posed, &s.whole);
    s.rounding = s.whole.rounding;
  }
  return s;
}

static node root_of(const side *s) {
  const double radius = (double)s->m->shape->radius * s->scale * (1 + 4 * (double)TL_REAL_EPS);
  node n = {.form = s->f         ? BRANCH
                    : s->spheres ? LIST
                                 : WHOLE,
            .half = {radius, radius, radius},
            .radius = radius,
            .arm = radius,
            .count = s->sphere_count};
  return n;
}

static double farthest_corner(talus_dvec3 middle, talus_dvec3 half) {
  return tl_dlength(
      tl_dvec3(fabs(middle.x) + half.x, fabs(middle.y) + half.y, fabs(middle.z) + half.z));
}

/* Child k of a branch: false where there is none. */
static bool child_of(const side *s, const node *n, uint32_t k, node *child) {
  const tl_tree_node *t = &s->f->tree.node[n->first];
  if (t->lo[0][k] > t->hi[0][k])
    return false;
  const double half = 0.5 * s->scale;
  child->form = t->count[k] > 0 ? LEAF : BRANCH;
  child->first = t->first[k], child->count = t->count[k];
  child->middle = tl_dvec3(half * ((double)t->lo[0][k] + (double)t->hi[0][k]),
                           half * ((double)t->lo[1][k] + (double)t->hi[1][k]),
                           half * ((double)t->lo[2][k] + (double)t->hi[2][k]));
  child->half = tl_dvec3(half * ((double)t->hi[0][k] - (double)t->lo[0][k]),
                         half * ((double)t->hi[1][k] - (double)t->lo[1][k]),
                         half * ((double)t->hi[2][k] - (double)t->lo[2][k]));
  child->radius = tl_dlength(child->half) + s->rounding;
  child->arm = farthest_corner(child->middle, child->half) + s->rounding;
  return true;
}

static node sphere_of(const side *s, uint32_t k) {
  const double *p = s->spheres + 4 * (size_t)k;
  node n = {.form = BALL, .first = k, .count = 1, .radius = s->scale * p[3]};
  n.middle = tl_dscale(tl_dvec3(p[0], p[1], p[2]), s->scale);
  n.arm = tl_dlength(n.middle); /* how it turns about its own centre does not matter */
  return n;
}

static part part_of(const side *s, const node *n, uint32_t k) {
  part p = {.side = s, .form = n->form, .rounding = s->rounding};
  if (n->form == WHOLE) {
    p.arm = s->bend > 0 ? n->arm : 0;
  } else if (n->form == BALL) {
    p.corner[0] = n->middle.x, p.corner[1] = n->middle.y, p.corner[2] = n->middle.z;
    p.rounding = n->radius, p.arm = n->arm;
  } else {
    const uint32_t *v = s->f->triangle + 3 * (size_t)(n->first + k);
    double most = 0;
    for (size_t i = 0; i < 3; ++i) {
      const talus_dvec3 x = tl_dscale(tl_facets_point(s->f, v[i]), s->scale);
      p.corner[3 * i] = x.x, p.corner[3 * i + 1] = x.y, p.corner[3 * i + 2] = x.z;
      most = fmax(most, tl_ddot(x, x));
    }
    p.arm = sqrt(most) + s->rounding;
  }
  return p;
}

/* ---- how far apart two parts are ------------------------------------------------------------- */

static talus_dvec3 corner_at(const part *p, const stance *s, int k) {
  const double *x = p->corner + 3 * k;
  return tl_dadd(s->at, tl_frame_to_world(&s->frame, tl_dvec3(x[0], x[1], x[2])));
}

static tl_triangle_corners corners_at(const part *p, const stance *s) {
  return (tl_triangle_corners){{corner_at(p, s, 0), corner_at(p, s, 1), corner_at(p, s, 2)}};
}

static tl_convex convex_at(const part *p, const stance *s) {
  if (p->form == WHOLE) {
    tl_convex c = p->side->whole;
    c.position = s->at, c.frame = s->frame;
    return c;
  }
  if (p->form == BALL)
    return (tl_convex){.core = TL_CORE_POINT, .position = corner_at(p, s, 0), .frame = s->frame};
  return (tl_convex){.core = TL_CORE_HULL,
                     .position = s->at,
                     .frame = s->frame,
                     .scale = 1,
                     .points = p->corner,
                     .point_count = 3};
}

static bool is_point(const part *p) {
  return p->form == BALL || (p->form == WHOLE && p->side->m->shape->kind == TALUS_SPHERE);
}

static talus_dvec3 point_at(const part *p, const stance *s) {
  return p->form == BALL ? corner_at(p, s, 0) : s->at;
}

/* The distance of two parts, no more than it is, and less than 0 where they have a place in common;
 * *n: unit, from a to b, any direction there. */
static double distance(const part *a, const stance *at_a, const part *b, const stance *at_b,
                       double tolerance, talus_dvec3 *n) {
  const double rounding = a->rounding + b->rounding;
  talus_dvec3 way;
  if (is_point(a) && is_point(b)) {
    way = tl_dsub(point_at(b, at_b), point_at(a, at_a));
  } else if (a->form == LEAF && b->form == LEAF) {
    const tl_triangle_corners ta = corners_at(a, at_a), tb = corners_at(b, at_b);
    const tl_triangle_near near = tl_triangle_triangle(&ta, &tb);
    way = tl_dsub(near.on_b, near.on_a);
  } else if (is_point(a) && b->form == LEAF) {
    const tl_triangle_corners t = corners_at(b, at_b);
    const tl_triangle_near near = tl_point_triangle(point_at(a, at_a), &t);
    way = tl_dsub(near.on_b, near.on_a);
  } else if (a->form == LEAF && is_point(b)) {
    const tl_triangle_corners t = corners_at(a, at_a);
    const tl_triangle_near near = tl_point_triangle(point_at(b, at_b), &t);
    way = tl_dsub(near.on_a, near.on_b);
  } else {
    const tl_convex ca = convex_at(a, at_a), cb = convex_at(b, at_b);
    tl_gjk g;
    tl_gjk_distance(&ca, &cb, tl_dsub(cb.position, ca.position), DBL_MAX, 0, tolerance, &g);
    *n = g.direction;
    return g.overlap ? -rounding - DBL_MIN : fmax(g.lower, 0) - rounding;
  }
  const double length = tl_dlength(way);
  *n = length > 0 ? tl_dscale(way, 1 / length) : tl_dvec3(0, 0, 1);
  return length > 0 ? length - rounding : -rounding - DBL_MIN;
}

/* The farthest place of a part along n, m. */
static double farthest(const part *p, const stance *s, talus_dvec3 n) {
  if (p->form == WHOLE) {
    const tl_convex c = convex_at(p, s);
    return tl_ddot(n, tl_convex_support(&c, n)) + p->rounding;
  }
  const talus_dvec3 local = tl_frame_to_local(&s->frame, n);
  double most = -DBL_MAX;
  for (int k = 0; k < (p->form == BALL ? 1 : 3); ++k) {
    const double *x = p->corner + 3 * k;
    most = fmax(most, local.x * x[0] + local.y * x[1] + local.z * x[2]);
  }
  return tl_ddot(n, s->at) + most + p->rounding;
}

/* ---- motion ---------------------------------------------------------------------------------- */

static talus_dvec3 pull_of(const search *w) {
  return tl_dsub(w->b.m->path.acceleration, w->a.m->path.acceleration);
}

static talus_dvec3 closing_at(const search *w, double t) {
  const tl_path *a = &w->a.m->path, *b = &w->b.m->path;
  return tl_dadd(tl_dsub(b->velocity, a->velocity), tl_dscale(pull_of(w), t));
}

/* How far two places with these arms can come closer within `length` from t, m. */
static double motion(const search *w, double arm_a, double arm_b, double t, double length) {
  const double speed = tl_dlength(closing_at(w, t)) + w->a.rate * arm_a + w->b.rate * arm_b;
  return length * (speed + 0.5 * length * tl_dlength(pull_of(w)));
}

/* m/s2: how much the rate of a separation along n can change. */
static double bend_of(const search *w, double arm_a, double arm_b, talus_dvec3 n) {
  return w->a.bend * arm_a + w->b.bend * arm_b + fmax(tl_ddot(n, pull_of(w)), 0);
}

/* How long the balls about two nodes stay apart from the begin of the piece. */
static double ball_time(const search *w, const node *a, const node *b) {
  const talus_dvec3 ra = tl_frame_to_world(&w->a.begin.frame, a->middle);
  const talus_dvec3 rb = tl_frame_to_world(&w->b.begin.frame, b->middle);
  const talus_dvec3 way = tl_dadd(tl_dsub(w->b.begin.at, w->a.begin.at), tl_dsub(rb, ra));
  const double length = tl_dlength(way), room = length - a->radius - b->radius - w->proof;
  if (!(room > 0))
    return 0;
  const talus_dvec3 n = tl_dscale(way, 1 / length);
  const talus_dvec3 turning =
      tl_dsub(tl_dcross(w->b.m->path.spin, rb), tl_dcross(w->a.m->path.spin, ra));
  const double rate = -tl_ddot(n, tl_dadd(closing_at(w, w->from), turning));
  const double bend =
      w->a.bend * tl_dlength(ra) + w->b.bend * tl_dlength(rb) + fmax(-tl_ddot(n, pull_of(w)), 0);
  return tl_advance_from_one(room, rate, bend);
}

/* ---- directions that have parted others ------------------------------------------------------ */

static double whole_along(const side *s, const stance *at, talus_dvec3 n) {
  if (s->f || s->spheres)
    return 0;
  tl_convex c = s->whole;
  c.position = tl_dvec3(0, 0, 0), c.frame = at->frame;
  return tl_ddot(n, tl_convex_support(&c, n)) + s->rounding;
}

static void aim_at_end(const search *w, aim *x, int end) {
  const stance *a = end ? &w->a.end : &w->a.begin, *b = end ? &w->b.end : &w->b.begin;
  const talus_dvec3 back = tl_dscale(x->n, -1);
  x->a[end] = tl_frame_to_local(&a->frame, x->n), x->b[end] = tl_frame_to_local(&b->frame, back);
  x->apart[end] = tl_ddot(x->n, tl_dsub(b->at, a->at));
  x->whole_a[end] = whole_along(&w->a, a, x->n), x->whole_b[end] = whole_along(&w->b, b, back);
}

static void remember(search *w, talus_dvec3 n) {
  w->last_aim = (w->last_aim + 1) % AIMS;
  if (w->aim_count < AIMS)
    w->aim_count++;
  aim *x = &w->aims[w->last_aim];
  x->n = n, x->bend = fmax(tl_ddot(n, pull_of(w)), 0);
  aim_at_end(w, x, 0), aim_at_end(w, x, 1);
}

static double node_along(const side *s, const node *n, talus_dvec3 d, double whole) {
  if (n->form == WHOLE)
    return whole;
  if (n->form == LIST)
    return n->radius;
  const double middle = tl_ddot(n->middle, d);
  return n->form == BALL ? middle + n->radius
                         : middle + fabs(d.x) * n->half.x + fabs(d.y) * n->half.y +
                               fabs(d.z) * n->half.z + s->rounding;
}

static double part_along(const part *p, talus_dvec3 d, double whole) {
  if (p->form == WHOLE)
    return whole;
  const double *x = p->corner;
  double most = d.x * x[0] + d.y * x[1] + d.z * x[2];
  for (int k = 3; k < 9 && p->form == LEAF; k += 3)
    most = fmax(most, d.x * x[k] + d.y * x[k + 1] + d.z * x[k + 2]);
  return most + p->rounding;
}

static bool proves(const search *w, const aim *x, const double along_a[2], const double along_b[2],
                   double bend) {
  const double s0 = x->apart[0] - along_a[0] - along_b[0] - w->proof;
  const double s1 = x->apart[1] - along_a[1] - along_b[1] - w->proof;
  const double length = w->until - w->from;
  return s0 > 0 && s1 > 0 && tl_advance_from_two(s0, s1, bend + x->bend, length) >= length;
}

static bool nodes_are_apart(const search *w, const node *a, const node *b) {
  const double bend = w->a.bend * a->arm + w->b.bend * b->arm;
  for (int i = 0; i < w->aim_count; ++i) {
    const aim *x = &w->aims[(w->last_aim + AIMS - i) % AIMS];
    double along_a[2], along_b[2];
    for (int end = 0; end < 2; ++end) {
      along_a[end] = node_along(&w->a, a, x->a[end], x->whole_a[end]);
      along_b[end] = node_along(&w->b, b, x->b[end], x->whole_b[end]);
    }
    if (proves(w, x, along_a, along_b, bend))
      return true;
  }
  return false;
}

static bool parts_are_apart(const search *w, const part *a, const part *b) {
  const double bend = w->a.bend * a->arm + w->b.bend * b->arm;
  for (int i = 0; i < w->aim_count; ++i) {
    const aim *x = &w->aims[(w->last_aim + AIMS - i) % AIMS];
    double along_a[2], along_b[2];
    for (int end = 0; end < 2; ++end) {
      along_a[end] = part_along(a, x->a[end], x->whole_a[end]);
      along_b[end] = part_along(b, x->b[end], x->whole_b[end]);
    }
    if (proves(w, x, along_a, along_b, bend))
      return true;
  }
  return false;
}

static void set_until(search *w, double t) {
  w->until = t;
  w->a.end = stance_at(&w->a, t), w->b.end = stance_at(&w->b, t);
  for (int i = 0; i < w->aim_count; ++i)
    aim_at_end(w, &w->aims[i], 1);
}

/* ---- two parts ------------------------------------------------------------------------------- */

typedef struct chase {
  const part *a, *b;
  double t; /* s: where they are */
  stance at_a, at_b;
  talus_dvec3 n;
  const side *with; /* that the plane between them turns with; NULL: none */
} chase;

/* Along the normal of the chase, at the time t, less what is proven. */
static double room_at(const search *w, const chase *c, double t) {
  const bool is_end = t == w->until, is_now = t == c->t;
  const stance a = is_now ? c->at_a : is_end ? w->a.end : stance_at(&w->a, t);
  const stance b = is_now ? c->at_b : is_end ? w->b.end : stance_at(&w->b, t);
  const talus_dvec3 n = c->with && !is_now
                            ? tl_dquat_rotate(tl_dquat_turn(c->with->m->path.spin, t - c->t), c->n)
                            : c->n;
  return -farthest(c->b, &b, tl_dscale(n, -1)) - farthest(c->a, &a, n) - w->proof;
}

static double bend_within(const search *w, const chase *c, double length) {
  if (!c->with)
    return bend_of(w, c->a->arm, c->b->arm, c->n);
  const double pull = tl_dlength(pull_of(w));
  const double rate = tl_dlength(closing_at(w, c->t)) + length * pull;
  const talus_dvec3 u = tl_dsub(c->at_b.at, c->at_a.at), a = w->a.m->path.spin,
                    b = w->b.m->path.spin;
  return c->with == &w->a ? tl_advance_bend_with(a, b, c->b->arm, u, rate, pull, length)
                          : tl_advance_bend_with(b, a, c->a->arm, u, rate, pull, length);
}

/* How long the plane between the parts is proven to part them; at most until the end. */
static double plane_time(const search *w, const chase *c) {
  const double left = w->until - c->t, room = room_at(w, c, c->t);
  double best = 0, length = left;
  for (int i = 0; i < TRIES && best < length && room >= 0; ++i) {
    const double end = length == left ? w->until : c->t + length;
    const double t =
        tl_advance_from_two(room, room_at(w, c, end), bend_within(w, c, length), length);
    best = fmax(best, t);
    if (t >= 0.25 * length)
      break;
    length = fmax(2 * best, length / 16);
  }
  return best;
}

/* The same by the best of three planes: one that stays as it is, and those that turn. */
static double parting_time(const search *w, chase *c) {
  const side *holders[] = {NULL, &w->a, &w->b};
  const double left = w->until - c->t;
  double best = 0;
  for (int i = 0; i < 3 && best < left; ++i) {
    c->with = holders[i];
    if (!c->with || c->with->bend > 0)
      best = fmax(best, plane_time(w, c));
  }
  return best;
}

static void meet_at(search *w, double t) {
  w->is_hit = true;
  set_until(w, t);
}

/* Follows two parts to the end of the piece, or until they come to the floor. */
static void follow(search *w, const part *a, const part *b) {
  const tl_advance *pair = w->pair;
  chase c = {.a = a, .b = b, .t = w->from, .at_a = w->a.begin, .at_b = w->b.begin};
  while (c.t < w->until) {
    const double d = distance(a, &c.at_a, b, &c.at_b, 1e-3 * pair->fine, &c.n);
    if (d < w->r.least)
      w->r.least = d, w->r.least_at = c.t;
    if (w->r.looks++ >= TL_ADVANCE_MOST)
      w->r.is_lost = true;
    if (d < w->floor || w->r.is_lost) {
      meet_at(w, c.t);
      return;
    }
    const double left = w->until - c.t;
    const double speed = motion(w, a->arm, b->arm, c.t, 1), pull = tl_dlength(pull_of(w));
    const double by_speed = tl_advance_from_one(d - w->proof, speed, pull);
    const double length = by_speed >= left ? left : fmax(parting_time(w, &c), by_speed);
    if (length >= left) {
      remember(w, c.n);
      return;
    }
    if (!pair->goes_on && motion(w, a->arm, b->arm, c.t, length) < pair->fine) {
      if (motion(w, a->arm, b->arm, c.t, pair->h - c.t) >= 2 * pair->fine)
        meet_at(w, c.t);
      return;
    }
    c.t = fmin(fmax(c.t + length, nextafter(c.t, DBL_MAX)), w->until);
    c.at_a = stance_at(&w->a, c.t), c.at_b = stance_at(&w->b, c.t);
  }
}

static uint32_t parts_in(const node *n) { return n->form == LEAF ? n->count : 1; }

static void follow_all(search *w, const node *a, const node *b) {
  part pb[TL_TREE_LEAF];
  for (uint32_t k = 0; k < parts_in(b); ++k)
    pb[k] = part_of(&w->b, b, k);
  for (uint32_t i = 0; i < parts_in(a); ++i) {
    const part pa = part_of(&w->a, a, i);
    for (uint32_t k = 0; k < parts_in(b); ++k)
      if (!parts_are_apart(w, &pa, &pb[k]))
        follow(w, &pa, &pb[k]);
  }
}

/* ---- trees ----------------------------------------------------------------------------------- */

static bool is_open(const node *n) { return n->form == BRANCH || n->form == LIST; }

/* Which of two nodes is cut: the larger one of those that can be. */
static bool cuts_first(const node *a, const node *b) {
  return is_open(a) && (!is_open(b) || a->radius >= b->radius);
}

/* Up to TL_TREE_WIDE children from number k on; *k: where to go on. */
static int children_of(const side *s, const node *n, uint32_t *k, node out[TL_TREE_WIDE]) {
  const uint32_t end = n->form == LIST ? n->count : TL_TREE_WIDE;
  int count = 0;
  for (; *k < end && count < TL_TREE_WIDE; ++*k) {
    if (n->form == LIST)
      out[count++] = sphere_of(s, *k);
    else
      count += child_of(s, n, *k, &out[count]);
  }
  return count;
}

static void visit(search *w, const node *a, const node *b);

/* Those first that may meet first. */
static void visit_children(search *w, const node *cut, const node *other, bool is_a) {
  node children[TL_TREE_WIDE];
  double time[TL_TREE_WIDE];
  int order[TL_TREE_WIDE], count;
  uint32_t k = 0;
  while ((count = children_of(is_a ? &w->a : &w->b, cut, &k, children)) > 0) {
    for (int i = 0; i < count; ++i) {
      int at = i;
      time[i] = is_a ? ball_time(w, &children[i], other) : ball_time(w, other, &children[i]);
      for (; at > 0 && time[order[at - 1]] > time[i]; --at)
        order[at] = order[at - 1];
      order[at] = i;
    }
    for (int i = 0; i < count && time[order[i]] < w->until - w->from; ++i)
      visit(w, is_a ? &children[order[i]] : other, is_a ? other : &children[order[i]]);
  }
}

/* Nodes whose balls may meet. */
static void visit(search *w, const node *a, const node *b) {
  if (nodes_are_apart(w, a, b))
    return;
  if (!is_open(a) && !is_open(b)) {
    follow_all(w, a, b);
    return;
  }
  const bool is_a = cuts_first(a, b);
  visit_children(w, is_a ? a : b, is_a ? b : a, is_a);
}

static search search_of(const tl_advance *pair) {
  search w = {.pair = pair, .floor = fmax(pair->floor, 0)};
  w.a = side_of(&pair->a), w.b = side_of(&pair->b);
  w.proof = pair->goes_on ? w.floor - pair->fine : w.floor;
  w.r.least = DBL_MAX;
  return w;
}

static void begin_at(search *w, double t) {
  w->from = t;
  w->a.begin = stance_at(&w->a, t), w->b.begin = stance_at(&w->b, t);
}

tl_parts_advanced tl_advance_parts(const tl_advance *pair, double from) {
  search w = search_of(pair);
  const node a = root_of(&w.a), b = root_of(&w.b);
  const double rate = fmax(w.a.rate, w.b.rate);
  for (int pieces = 0; from < pair->h && !w.is_hit; ++pieces) {
    if (pieces == MOST_PIECES) {
      w.r.is_lost = true;
      meet_at(&w, from);
      break;
    }
    begin_at(&w, from);
    const double alone = ball_time(&w, &a, &b);
    if (alone >= pair->h - from)
      break;
    if (alone > 0)
      begin_at(&w, from = fmin(from + alone, pair->h));
    const double left = pair->h - from, piece = rate * left > TURN ? TURN / rate : left;
    w.aim_count = 0;
    set_until(&w, piece < left ? from + piece : pair->h);
    visit(&w, &a, &b);
    from = w.until;
  }
  w.r.is_clear = !w.is_hit;
  w.r.time = w.is_hit ? w.until : pair->h;
  return w.r;
}

/* ---- a moment -------------------------------------------------------------------------------- */

typedef struct moment {
  search *w;
  double best;
  bool is_found;
} moment;

static double ball_gap(const search *w, const node *a, const node *b) {
  const talus_dvec3 ra = tl_frame_to_world(&w->a.begin.frame, a->middle);
  const talus_dvec3 rb = tl_frame_to_world(&w->b.begin.frame, b->middle);
  const talus_dvec3 way = tl_dadd(tl_dsub(w->b.begin.at, w->a.begin.at), tl_dsub(rb, ra));
  return tl_dlength(way) - a->radius - b->radius;
}

/* Whether a direction that has parted others parts two nodes by more than the nearest so far. */
static bool nodes_are_far(const moment *m, const node *a, const node *b) {
  const search *w = m->w;
  for (int i = 0; i < w->aim_count; ++i) {
    const aim *x = &w->aims[i];
    if (x->apart[0] - node_along(&w->a, a, x->a[0], x->whole_a[0]) -
            node_along(&w->b, b, x->b[0], x->whole_b[0]) >
        m->best)
      return true;
  }
  return false;
}

static bool parts_are_far(const moment *m, const part *a, const part *b) {
  const search *w = m->w;
  for (int i = 0; i < w->aim_count; ++i) {
    const aim *x = &w->aims[i];
    if (x->apart[0] - part_along(a, x->a[0], x->whole_a[0]) -
            part_along(b, x->b[0], x->whole_b[0]) >
        m->best)
      return true;
  }
  return false;
}

static void measure_all(moment *m, const node *a, const node *b) {
  search *w = m->w;
  part pb[TL_TREE_LEAF];
  for (uint32_t k = 0; k < parts_in(b); ++k)
    pb[k] = part_of(&w->b, b, k);
  for (uint32_t i = 0; i < parts_in(a); ++i) {
    const part pa = part_of(&w->a, a, i);
    for (uint32_t k = 0; k < parts_in(b); ++k) {
      talus_dvec3 n;
      if (parts_are_far(m, &pa, &pb[k]))
        continue;
      const double d =
          distance(&pa, &w->a.begin, &pb[k], &w->b.begin, 1e-12 * (a->radius + b->radius), &n);
      if (d > 0)
        remember(w, n);
      if (d > m->best || (m->is_found && d == m->best))
        continue;
      m->best = fmax(d, 0), m->is_found = true;
    }
  }
}

static void measure(moment *m, const node *a, const node *b) {
  search *w = m->w;
  if (nodes_are_far(m, a, b))
    return;
  if (!is_open(a) && !is_open(b)) {
    measure_all(m, a, b);
    return;
  }
  const bool is_a = cuts_first(a, b);
  const node *cut = is_a ? a : b, *other = is_a ? b : a;
  node children[TL_TREE_WIDE];
  double gap[TL_TREE_WIDE];
  int order[TL_TREE_WIDE], count;
  uint32_t k = 0;
  while ((count = children_of(is_a ? &w->a : &w->b, cut, &k, children)) > 0) {
    for (int i = 0; i < count; ++i) {
      int at = i;
      gap[i] = is_a ? ball_gap(w, &children[i], other) : ball_gap(w, other, &children[i]);
      for (; at > 0 && gap[order[at - 1]] > gap[i]; --at)
        order[at] = order[at - 1];
      order[at] = i;
    }
    for (int i = 0; i < count && gap[order[i]] <= m->best; ++i)
      measure(m, is_a ? &children[order[i]] : other, is_a ? other : &children[order[i]]);
  }
}

double tl_advance_parts_gap(const tl_advance *pair, double t, double margin) {
  search w = search_of(pair);
  moment m = {.w = &w, .best = margin};
  begin_at(&w, t);
  w.a.end = w.a.begin, w.b.end = w.b.begin;
  const node a = root_of(&w.a), b = root_of(&w.b);
  if (ball_gap(&w, &a, &b) <= margin)
    measure(&m, &a, &b);
  return m.is_found ? m.best : DBL_MAX;
}
