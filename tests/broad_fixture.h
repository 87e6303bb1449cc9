/* Scenes of boxes for the tests of the broad phases, and the naive reference: test_broad*.c include
 * it. */
#ifndef TESTS_BROAD_FIXTURE_H
#define TESTS_BROAD_FIXTURE_H

#include "check.h"

#include "base/random.h"
#include "broad/broad.h"

/* ---- scenes --------------------------------------------------------------------------------- */

enum { BOUNDED, UNBOUNDED };

typedef struct scene {
  tl_model model;
  tl_shape shapes[2];
  tl_arena arena;
  talus_box *boxes;  /* one per member */
  uint32_t *members; /* NULL: all */
  size_t count;      /* of members */
} scene;

static inline void *zeros(size_t n, size_t size) {
  void *block = calloc(n + 1, size);
  if (!block)
    abort();
  return block;
}

/* n bodies with empty boxes at the origin, uids from 1000 on in steps of 3. */
static inline scene *new_scene(size_t n) {
  scene *s = zeros(1, sizeof *s);
  tl_properties *p = &s->model.property;
  s->shapes[BOUNDED].bounded = true;
  s->model.shapes.data = s->shapes;
  s->model.shapes.count = 2;
  s->model.bodies = n;
  s->model.par.threads = 1;
  p->uid = zeros(n, sizeof *p->uid);
  p->shape = zeros(n, sizeof *p->shape);
  p->flags = zeros(n, sizeof *p->flags);
  p->group = zeros(n, sizeof *p->group);
  for (size_t i = 0; i < n; ++i)
    p->uid[i] = 1000 + 3 * i;
  s->boxes = zeros(n, sizeof *s->boxes);
  s->count = n;
  return s;
}

static inline void free_scene(scene *s) {
  tl_properties *p = &s->model.property;
  free(p->uid);
  free(p->shape);
  free(p->flags);
  free(p->group);
  free(s->model.ignored.data);
  free(s->boxes);
  free(s->members);
  tl_arena_free(&s->arena);
  free(s);
}

static inline tl_crowd crowd_of(scene *s) {
  return (tl_crowd){
      .model = &s->model, .members = s->members, .count = s->count, .arena = &s->arena};
}

static inline uint32_t slot_of(const scene *s, size_t i) {
  return s->members ? s->members[i] : (uint32_t)i;
}

static inline talus_box box_at(double x, double y, double z, double dx, double dy, double dz) {
  return (talus_box){{x, y, z}, {x + dx, y + dy, z + dz}};
}

static inline talus_box everywhere(void) {
  return (talus_box){{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
}

static inline void make_plane(scene *s, size_t i) {
  const uint32_t slot = slot_of(s, i);
  s->boxes[i] = everywhere();
  s->model.property.shape[slot] = UNBOUNDED;
  s->model.property.flags[slot] = TL_FLAG_FIXED;
}

/* a <= b; in ascending order of calls. */
static inline void ignore(scene *s, uint32_t a, uint32_t b) {
  const size_t n = s->model.ignored.count;
  s->model.ignored.data = realloc(s->model.ignored.data, (n + 1) * sizeof *s->model.ignored.data);
  if (!s->model.ignored.data)
    abort();
  s->model.ignored.data[n] = (tl_group_pair){a, b};
  s->model.ignored.count = s->model.ignored.capacity = n + 1;
}

static inline void make_periodic(scene *s, bool x, bool y, bool z, talus_dvec3 lo, talus_dvec3 hi) {
  s->model.domain = (talus_domain_def){.enabled = true, .box = {lo, hi}, .periodic = {x, y, z}};
}

/* ---- the reference -------------------------------------------------------------------------- */

/* Any shift by whole periods, written as plainly as possible. */
static inline bool naive_axis(double alo, double ahi, double blo, double bhi, bool periodic,
                              double length) {
  const int most = periodic ? 16 : 0;
  for (int k = -most; k <= most; ++k)
    if (alo + k * (periodic ? length : 0) <= bhi && blo <= ahi + k * (periodic ? length : 0))
      return true;
  return false;
}

static inline bool naive_overlap(const scene *s, talus_box a, talus_box b) {
  const talus_domain_def *d = &s->model.domain;
  return naive_axis(a.lo.x, a.hi.x, b.lo.x, b.hi.x, d->periodic[0], d->box.hi.x - d->box.lo.x) &&
         naive_axis(a.lo.y, a.hi.y, b.lo.y, b.hi.y, d->periodic[1], d->box.hi.y - d->box.lo.y) &&
         naive_axis(a.lo.z, a.hi.z, b.lo.z, b.hi.z, d->periodic[2], d->box.hi.z - d->box.lo.z);
}

static inline bool naive_allows(const scene *s, uint32_t a, uint32_t b) {
  const tl_properties *p = &s->model.property;
  if ((p->flags[a] & (TL_FLAG_FIXED | TL_FLAG_KINEMATIC)) &&
      (p->flags[b] & (TL_FLAG_FIXED | TL_FLAG_KINEMATIC)))
    return false;
  for (size_t i = 0; i < s->model.ignored.count; ++i) {
    const tl_group_pair g = s->model.ignored.data[i];
    if ((g.a == p->group[a] && g.b == p->group[b]) || (g.a == p->group[b] && g.b == p->group[a]))
      return false;
  }
  return true;
}

typedef struct pair_list {
  tl_pair *data;
  size_t count, capacity;
} pair_list;

static inline pair_list naive_pairs(const scene *s) {
  pair_list list = {0};
  for (size_t i = 0; i < s->count; ++i)
    for (size_t j = i + 1; j < s->count; ++j) {
      const uint32_t a = slot_of(s, i), b = slot_of(s, j);
      if (!naive_overlap(s, s->boxes[i], s->boxes[j]) || !naive_allows(s, a, b))
        continue;
      if (list.count == list.capacity) {
        list.capacity = 2 * list.capacity + 64;
        list.data = realloc(list.data, list.capacity * sizeof *list.data);
        if (!list.data)
          abort();
      }
      list.data[list.count++] = (tl_pair){a, b};
    }
  return list;
}

/* ---- comparison ----------------------------------------------------------------------------- */

static inline bool same_pairs(const tl_pairs *got, const pair_list *want) {
  return got->count == want->count &&
         (want->count == 0 || memcmp(got->data, want->data, want->count * sizeof *want->data) == 0);
}

static const talus_broad_kind all_kinds[] = {TALUS_BROAD_BRUTE,  TALUS_BROAD_BINS,
                                             TALUS_BROAD_KDTREE, TALUS_BROAD_CELLS,
                                             TALUS_BROAD_SWEEP,  TALUS_BROAD_BVH};
enum { ALL_KINDS = sizeof all_kinds / sizeof all_kinds[0] };

/* NULL, or what is wrong. Every algorithm, 1 to 4 threads: byte for byte the naive pairs. */
static inline const char *disagreement(scene *s, size_t *pairs) {
  static char text[256];
  const tl_crowd crowd = crowd_of(s);
  pair_list want = naive_pairs(s);
  const char *problem = NULL;
  for (int run = 0; run < 4 * ALL_KINDS && !problem; ++run) {
    const talus_broad_kind kind = all_kinds[run / 4];
    tl_pairs got;
    s->model.par.threads = run % 4 + 1;
    if (s->count < 48 && run % 4 > 1) /* too few for a third thread to get any */
      continue;
    if (tl_broad_find_pairs(kind, &crowd, s->boxes, &got) != TALUS_OK) {
      problem = talus_last_error();
    } else if (!same_pairs(&got, &want)) {
      snprintf(text, sizeof text, "%s with %d threads: %zu pairs, naive %zu", tl_broad_name(kind),
               s->model.par.threads, got.count, want.count);
      problem = text;
    }
    tl_arena_reset(&s->arena);
  }
  if (pairs)
    *pairs = want.count;
  free(want.data);
  return problem;
}

/* Frees the scene; the number of pairs. */
static inline size_t check_scene(scene *s) {
  size_t pairs;
  const char *problem = disagreement(s, &pairs);
  free_scene(s);
  CHECK_MSG(problem == NULL, "%s", problem);
  return pairs;
}

/* ---- random numbers ------------------------------------------------------------------------- */

static inline double uniform(tl_random *r, double lo, double hi) {
  return lo + (hi - lo) * tl_random_unit(r);
}

static inline size_t below(tl_random *r, size_t n) {
  return (size_t)(tl_random_unit(r) * (double)n);
}

static inline tl_random random_for(uint64_t seed) { return tl_random_start(seed, 77, 0); }

static inline void fill_uniform(scene *s, tl_random *r, double lo, double hi, double edge) {
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] =
        box_at(uniform(r, lo, hi), uniform(r, lo, hi), uniform(r, lo, hi), edge, edge, edge);
}

/* ---- members ------------------------------------------------------------------------------- */

/* Keeps the members i for which keep[i] is set; boxes are by member then. */
static inline void restrict_to(scene *s, const bool *keep) {
  s->members = zeros(s->count, sizeof *s->members);
  size_t n = 0;
  for (size_t i = 0; i < s->count; ++i)
    if (keep[i]) {
      s->members[n] = (uint32_t)i;
      s->boxes[n++] = s->boxes[i];
    }
  s->count = n;
}

/* ---- random scenes of every kind ------------------------------------------------------------ */

typedef struct recipe {
  size_t n;
  int places, sizes;
  double width, edge, offset, snap; /* snap: everything is a multiple of it; 0: not snapped */
} recipe;

static inline double snapped(double x, double snap) {
  return snap > 0 ? snap * floor(x / snap) : x;
}

static inline double random_edge(tl_random *r, const recipe *c) {
  switch (c->sizes) {
  case 0:
    return c->edge;
  case 1:
    return 0;
  case 2:
    return uniform(r, 0, 2 * c->edge);
  case 3:
    return c->edge * pow(10, uniform(r, -3, 1));
  case 4:
    return below(r, 40) ? c->edge : 20 * c->edge;
  default:
    return below(r, 3) ? 0.01 * c->edge : 4 * c->edge; /* each axis: flat ones and needles */
  }
}

static inline double random_place(tl_random *r, const recipe *c, size_t i, int axis) {
  switch (c->places) {
  case 0:
    return uniform(r, 0, c->width);
  case 1:
    return 0.3 * c->width * (double)(i % 4) + 0.02 * c->width * tl_random_normal(r);
  case 2:
    return axis == 2 ? 0 : uniform(r, 0, c->width);
  case 3:
    return axis == 0 ? uniform(r, -c->width, c->width) * 10 : 0;
  case 4:
    return c->edge * (double)below(r, 8);
  default:
    return 0.5 * c->width;
  }
}

static inline recipe random_recipe(tl_random *r) {
  const size_t most = below(r, 8) == 0 ? 700 : 200;
  recipe c = {.n = below(r, most), .places = (int)below(r, 6), .sizes = (int)below(r, 6)};
  c.edge = below(r, 2) ? 1.0 : pow(10, uniform(r, -4, 3));
  c.width = c.edge * pow((double)(c.n + 1), 1.0 / 3.0) * uniform(r, 0.3, 3);
  if (below(r, 2)) { /* dyadic: every sum below is exact, so that touching is exact too */
    c.edge = 1.0;
    c.snap = 0.125;
    c.offset = below(r, 2) ? 0 : below(r, 2) ? -1073741824.0 : 1e6;
    c.width = ceil(c.width);
  } else if (below(r, 3) == 0) {
    c.offset = uniform(r, -100, 100) * c.edge;
  }
  return c;
}

static inline void place_random(scene *s, tl_random *r, const recipe *c) {
  for (size_t i = 0; i < s->count; ++i) {
    double at[3], edge[3], one = random_edge(r, c);
    for (int k = 0; k < 3; ++k) {
      at[k] = snapped(c->offset + random_place(r, c, i, k), c->snap);
      edge[k] = snapped(c->sizes == 5 ? random_edge(r, c) : one, c->snap);
    }
    s->boxes[i] = box_at(at[0], at[1], at[2], edge[0], edge[1], edge[2]);
  }
}

static inline void add_oddities(scene *s, tl_random *r, const recipe *c) {
  tl_properties *p = &s->model.property;
  const bool groups = below(r, 3) == 0;
  for (size_t i = 0; i < s->count; ++i) {
    p->flags[i] = below(r, 6) == 0 ? TL_FLAG_FIXED : 0;
    p->group[i] = groups ? (uint32_t)below(r, 4) : 0;
    if (below(r, 150) == 0)
      make_plane(s, i);
    if (below(r, 150) == 0)
      s->boxes[i] = box_at(1e6 * c->edge, -1e7 * c->edge, 0, c->edge, c->edge, c->edge);
    if (below(r, 150) == 0)
      s->boxes[i] = box_at(snapped(c->offset - c->width, c->snap), c->offset, c->offset,
                           16 * c->width, 16 * c->width, c->edge);
  }
  if (groups) {
    ignore(s, 0, 1);
    ignore(s, 2, 2);
  }
  if (below(r, 2)) {
    const double length = snapped(c->width * uniform(r, 0.2, 1.2), c->snap) + c->edge;
    const talus_dvec3 lo = {c->offset, c->offset, c->offset};
    const talus_dvec3 hi = {c->offset + length, c->offset + 2 * length, c->offset + length};
    make_periodic(s, below(r, 2), below(r, 2), below(r, 2), lo, hi);
  }
}

/* The reference above tries sixteen periods to either side. */
static inline void keep_near(scene *s) {
  const talus_domain_def *d = &s->model.domain;
  const double length[3] = {d->box.hi.x - d->box.lo.x, d->box.hi.y - d->box.lo.y,
                            d->box.hi.z - d->box.lo.z};
  for (size_t i = 0; i < s->count; ++i) {
    double *lo[3] = {&s->boxes[i].lo.x, &s->boxes[i].lo.y, &s->boxes[i].lo.z};
    double *hi[3] = {&s->boxes[i].hi.x, &s->boxes[i].hi.y, &s->boxes[i].hi.z};
    const double low[3] = {d->box.lo.x, d->box.lo.y, d->box.lo.z};
    for (int k = 0; k < 3; ++k) {
      if (!d->periodic[k] || !isfinite(*lo[k]))
        continue;
      while (*lo[k] < low[k] - length[k])
        *lo[k] += length[k] * ceil((low[k] - *lo[k]) / length[k]),
            *hi[k] = *lo[k] + 0.5 * length[k];
      while (*lo[k] > low[k] + 2 * length[k])
        *lo[k] -= length[k] * floor((*lo[k] - low[k]) / length[k]),
            *hi[k] = *lo[k] + 0.5 * length[k];
      if (*hi[k] > *lo[k] + 2 * length[k])
        *hi[k] = *lo[k] + 2 * length[k];
    }
  }
}

/* The random scene of a seed. */
static inline scene *random_scene(uint64_t seed) {
  tl_random r = random_for(seed);
  const recipe c = random_recipe(&r);
  scene *s = new_scene(c.n);
  place_random(s, &r, &c);
  if (below(&r, 2)) {
    add_oddities(s, &r, &c);
    keep_near(s);
  }
  if (below(&r, 4) == 0) {
    bool keep[1024];
    for (size_t i = 0; i < s->count; ++i)
      keep[i] = below(&r, 3) > 0;
    restrict_to(s, keep);
  }
  return s;
}

/* ---- boxes that move, and what is kept meanwhile --------------------------------------------- */

/* NULL, or what is wrong: pairs with the cache, against the naive ones. Resets the arena. */
static inline const char *cached_disagreement(scene *s, talus_broad_kind kind,
                                              tl_broad_cache *cache) {
  static char text[160];
  tl_crowd crowd = crowd_of(s);
  tl_pairs got;
  crowd.broad_cache = cache;
  pair_list want = naive_pairs(s);
  const char *problem = NULL;
  if (tl_broad_find_pairs(kind, &crowd, s->boxes, &got) != TALUS_OK) {
    problem = talus_last_error();
  } else if (!same_pairs(&got, &want)) {
    snprintf(text, sizeof text, "%s: %zu pairs, naive %zu", tl_broad_name(kind), got.count,
             want.count);
    problem = text;
  }
  free(want.data);
  tl_arena_reset(&s->arena);
  return problem;
}

static inline void move_box(talus_box *box, double x, double y, double z) {
  *box = (talus_box){{box->lo.x + x, box->lo.y + y, box->lo.z + z},
                     {box->hi.x + x, box->hi.y + y, box->hi.z + z}};
}

static inline void move_all(scene *s, tl_random *r, double most) {
  for (size_t i = 0; i < s->count; ++i)
    if (tl_box_is_finite(s->boxes[i]))
      move_box(&s->boxes[i], uniform(r, -most, most), uniform(r, -most, most),
               uniform(r, -most, most));
}

#endif
