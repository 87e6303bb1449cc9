#include "narrow/advance_parts.h"

#include "kernels/advance.h"
#include "narrow/advance_part.h"

#include <float.h>
#include <math.h>

#define TRIES       8    /* lengths of an interval that are tried before the gap is found again */
#define TURN        0.35 /* rad: most rotation of a body within a piece of the paths */
#define MOST_PIECES 10000
#define AIMS        4 /* directions that are remembered */

/* A direction that separated two parts, and its data for the whole piece. */
typedef struct aim {
  talus_dvec3 n;          /* unit, from a to b */
  talus_dvec3 a[2], b[2]; /* n in the axes of a, -n in those of b; at the begin and at the end */
  double apart[2];        /* m: distance of the centres along n, at begin and end */
  double whole_a[2], whole_b[2]; /* m: of convex bodies: support along n, and against it */
  double bend;                   /* m/s2: acceleration along n */
} aim;

typedef struct search {
  const tl_advance *pair;
  tl_side a, b;
  double floor;       /* m: gap of surfaces that must be kept */
  double proof;       /* m: gap that is proven; less than the floor if the search goes on there */
  double from, until; /* s: the piece; `until` is reduced to the earliest meeting */
  bool is_hit;
  aim aims[AIMS];
  int aim_count, last_aim;
  tl_parts_advanced r;
} search;

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

/* ---- motion ---------------------------------------------------------------------------------- */

static talus_dvec3 pull_of(const search *w) {
  return tl_dsub(w->b.m->path.acceleration, w->a.m->path.acceleration);
}

static talus_dvec3 closing_at(const search *w, double t) {
  const tl_path *a = &w->a.m->path, *b = &w->b.m->path;
  return tl_dadd(tl_dsub(b->velocity, a->velocity), tl_dscale(pull_of(w), t));
}

/* Bound (m) of how far two points with these arms can approach within `length` from t. */
static double motion(const search *w, double arm_a, double arm_b, double t, double length) {
  const double speed = tl_dlength(closing_at(w, t)) + w->a.rate * arm_a + w->b.rate * arm_b;
  return length * (speed + 0.5 * length * tl_dlength(pull_of(w)));
}

/* Bound of the change of the rate of a separation along n, m/s2. */
static double bend_of(const search *w, double arm_a, double arm_b, talus_dvec3 n) {
  return w->a.bend * arm_a + w->b.bend * arm_b + fmax(tl_ddot(n, pull_of(w)), 0);
}

/* Time for which the bounding balls of two nodes stay apart from the begin of the piece. */
static double ball_time(const search *w, const tl_part_node *a, const tl_part_node *b) {
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

/* ---- directions that separated other parts --------------------------------------------------- */

static double whole_along(const tl_side *s, const tl_stance *at, talus_dvec3 n) {
  if (s->f || s->spheres)
    return 0;
  tl_convex c = s->whole;
  c.position = tl_dvec3(0, 0, 0), c.frame = at->frame;
  return tl_ddot(n, tl_convex_support(&c, n)) + s->rounding;
}

static void aim_at_end(const search *w, aim *x, int end) {
  const tl_stance *a = end ? &w->a.end : &w->a.begin, *b = end ? &w->b.end : &w->b.begin;
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

static double node_along(const tl_side *s, const tl_part_node *n, talus_dvec3 d, double whole) {
  if (n->form == TL_PART_WHOLE)
    return whole;
  if (n->form == TL_PART_LIST)
    return n->radius;
  const double middle = tl_ddot(n->middle, d);
  return n->form == TL_PART_BALL ? middle + n->radius
                                 : middle + fabs(d.x) * n->half.x + fabs(d.y) * n->half.y +
                                       fabs(d.z) * n->half.z + s->rounding;
}

static double part_along(const tl_part *p, talus_dvec3 d, double whole) {
  if (p->form == TL_PART_WHOLE)
    return whole;
  const double *x = p->corner;
  double most = d.x * x[0] + d.y * x[1] + d.z * x[2];
  for (int k = 3; k < 9 && p->form == TL_PART_LEAF; k += 3)
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

static bool nodes_are_apart(const search *w, const tl_part_node *a, const tl_part_node *b) {
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

static bool parts_are_apart(const search *w, const tl_part *a, const tl_part *b) {
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
  w->a.end = tl_stance_at(&w->a, t), w->b.end = tl_stance_at(&w->b, t);
  for (int i = 0; i < w->aim_count; ++i)
    aim_at_end(w, &w->aims[i], 1);
}

/* ---- two parts ------------------------------------------------------------------------------- */

typedef struct chase {
  const tl_part *a, *b;
  double t; /* s: time of the present poses */
  tl_stance at_a, at_b;
  talus_dvec3 n;
  const tl_side *with; /* body with which the separating plane turns; NULL: none */
} chase;

/* Separation along the chase's normal at time t, minus what is to be proven. */
static double room_at(const search *w, const chase *c, double t) {
  const bool is_end = t == w->until, is_now = t == c->t;
  const tl_stance a = is_now ? c->at_a : is_end ? w->a.end : tl_stance_at(&w->a, t);
  const tl_stance b = is_now ? c->at_b : is_end ? w->b.end : tl_stance_at(&w->b, t);
  const talus_dvec3 n = c->with && !is_now
                            ? tl_dquat_rotate(tl_dquat_turn(c->with->m->path.spin, t - c->t), c->n)
                            : c->n;
  return -tl_part_farthest(c->b, &b, tl_dscale(n, -1)) - tl_part_farthest(c->a, &a, n) - w->proof;
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

/* Time for which the plane between the parts is proven to separate them; at most until the end. */
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
  const tl_side *holders[] = {NULL, &w->a, &w->b};
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
static void follow(search *w, const tl_part *a, const tl_part *b) {
  const tl_advance *pair = w->pair;
  chase c = {.a = a, .b = b, .t = w->from, .at_a = w->a.begin, .at_b = w->b.begin};
  while (c.t < w->until) {
    const double d = tl_part_distance(a, &c.at_a, b, &c.at_b, 1e-3 * pair->fine, &c.n);
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
    c.at_a = tl_stance_at(&w->a, c.t), c.at_b = tl_stance_at(&w->b, c.t);
  }
}

static uint32_t parts_in(const tl_part_node *n) { return n->form == TL_PART_LEAF ? n->count : 1; }

static void follow_all(search *w, const tl_part_node *a, const tl_part_node *b) {
  tl_part pb[TL_TREE_LEAF];
  for (uint32_t k = 0; k < parts_in(b); ++k)
    pb[k] = tl_part_of(&w->b, b, k);
  for (uint32_t i = 0; i < parts_in(a); ++i) {
    const tl_part pa = tl_part_of(&w->a, a, i);
    for (uint32_t k = 0; k < parts_in(b); ++k)
      if (!parts_are_apart(w, &pa, &pb[k]))
        follow(w, &pa, &pb[k]);
  }
}

/* ---- trees ----------------------------------------------------------------------------------- */

static bool is_open(const tl_part_node *n) {
  return n->form == TL_PART_BRANCH || n->form == TL_PART_LIST;
}

/* Which of two nodes is split: the larger of those that can be. */
static bool cuts_first(const tl_part_node *a, const tl_part_node *b) {
  return is_open(a) && (!is_open(b) || a->radius >= b->radius);
}

/* Up to TL_TREE_WIDE children from number *k on; *k becomes the number after them. */
static int children_of(const tl_side *s, const tl_part_node *n, uint32_t *k,
                       tl_part_node out[TL_TREE_WIDE]) {
  const uint32_t end = n->form == TL_PART_LIST ? n->count : TL_TREE_WIDE;
  int count = 0;
  for (; *k < end && count < TL_TREE_WIDE; ++*k) {
    if (n->form == TL_PART_LIST)
      out[count++] = tl_part_sphere(s, *k);
    else
      count += tl_part_child(s, n, *k, &out[count]);
  }
  return count;
}

static void visit(search *w, const tl_part_node *a, const tl_part_node *b);

/* Visits first the children that may meet first. */
static void visit_children(search *w, const tl_part_node *cut, const tl_part_node *other,
                           bool is_a) {
  tl_part_node children[TL_TREE_WIDE];
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

/* Visits two nodes if their balls may meet. */
static void visit(search *w, const tl_part_node *a, const tl_part_node *b) {
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
  w.a = tl_side_of(&pair->a), w.b = tl_side_of(&pair->b);
  w.proof = pair->goes_on ? w.floor - pair->fine : w.floor;
  w.r.least = DBL_MAX;
  return w;
}

static void begin_at(search *w, double t) {
  w->from = t;
  w->a.begin = tl_stance_at(&w->a, t), w->b.begin = tl_stance_at(&w->b, t);
}

tl_parts_advanced tl_advance_parts(const tl_advance *pair, double from) {
  search w = search_of(pair);
  const tl_part_node a = tl_part_root(&w.a), b = tl_part_root(&w.b);
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

/* ---- distance at one time -------------------------------------------------------------------- */

typedef struct moment {
  search *w;
  double best;
  bool is_found;
} moment;

static double ball_gap(const search *w, const tl_part_node *a, const tl_part_node *b) {
  const talus_dvec3 ra = tl_frame_to_world(&w->a.begin.frame, a->middle);
  const talus_dvec3 rb = tl_frame_to_world(&w->b.begin.frame, b->middle);
  const talus_dvec3 way = tl_dadd(tl_dsub(w->b.begin.at, w->a.begin.at), tl_dsub(rb, ra));
  return tl_dlength(way) - a->radius - b->radius;
}

/* True if a remembered direction separates two nodes by more than the nearest distance so far. */
static bool nodes_are_far(const moment *m, const tl_part_node *a, const tl_part_node *b) {
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

static bool parts_are_far(const moment *m, const tl_part *a, const tl_part *b) {
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

static void measure_all(moment *m, const tl_part_node *a, const tl_part_node *b) {
  search *w = m->w;
  tl_part pb[TL_TREE_LEAF];
  for (uint32_t k = 0; k < parts_in(b); ++k)
    pb[k] = tl_part_of(&w->b, b, k);
  for (uint32_t i = 0; i < parts_in(a); ++i) {
    const tl_part pa = tl_part_of(&w->a, a, i);
    for (uint32_t k = 0; k < parts_in(b); ++k) {
      talus_dvec3 n;
      if (parts_are_far(m, &pa, &pb[k]))
        continue;
      const double d = tl_part_distance(&pa, &w->a.begin, &pb[k], &w->b.begin,
                                        1e-12 * (a->radius + b->radius), &n);
      if (d > 0)
        remember(w, n);
      if (d > m->best || (m->is_found && d == m->best))
        continue;
      m->best = fmax(d, 0), m->is_found = true;
    }
  }
}

static void measure(moment *m, const tl_part_node *a, const tl_part_node *b) {
  search *w = m->w;
  if (nodes_are_far(m, a, b))
    return;
  if (!is_open(a) && !is_open(b)) {
    measure_all(m, a, b);
    return;
  }
  const bool is_a = cuts_first(a, b);
  const tl_part_node *cut = is_a ? a : b, *other = is_a ? b : a;
  tl_part_node children[TL_TREE_WIDE];
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
  const tl_part_node a = tl_part_root(&w.a), b = tl_part_root(&w.b);
  if (ball_gap(&w, &a, &b) <= margin)
    measure(&m, &a, &b);
  return m.is_found ? m.best : DBL_MAX;
}
