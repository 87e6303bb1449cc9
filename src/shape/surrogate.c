#include "shape/surrogate.h"

#include <math.h>

#include "shape/surrogate_fit.h"

#define ROUNDS 8    /* of k-means */
#define SAMPLE 4096 /* triangles that place the centres, at most about */

typedef struct builder {
  const double *points;
  const uint32_t *triangle;
  tl_surrogate *s;
  tl_surrogate_fit fit;
  talus_dvec3 *place;  /* room for the corners of a set */
  talus_dvec3 *middle; /* of each triangle */
  uint32_t *moved;     /* room for a list of triangles */
  uint8_t *cluster;    /* of each row of leaf */
  double extent;
} builder;

static talus_dvec3 corner_of(const builder *b, uint32_t t, size_t k) {
  const double *p = b->points + 3 * (size_t)b->triangle[3 * (size_t)t + k];
  return tl_dvec3(p[0], p[1], p[2]);
}

/* ---- a node ---------------------------------------------------------------------------------- */

static void fit_node(builder *b, uint32_t number, size_t begin, size_t end) {
  tl_surrogate_node *node = &b->s->node[number];
  const tl_surrogate_set set = {b->place, 3 * (end - begin)};
  size_t which;
  for (size_t i = begin; i < end; ++i)
    for (size_t k = 0; k < 3; ++k)
      b->place[3 * (i - begin) + k] = corner_of(b, b->s->leaf[i], k);
  const tl_triangle_corners t =
      b->fit == TL_FIT_QUICK ? tl_surrogate_fit_quick(&set) : tl_surrogate_fit_functional(&set);
  for (int k = 0; k < 3; ++k) {
    node->corner[k][0] = (float)t.p[k].x;
    node->corner[k][1] = (float)t.p[k].y;
    node->corner[k][2] = (float)t.p[k].z;
  }
  /* Of the triangle as it is kept; up by more than a distance may be off, and four last digits. */
  const tl_triangle_corners kept = tl_surrogate_corners(node);
  const double eps = tl_surrogate_farthest(&set, &kept, &which) + 16 * DBL_EPSILON * b->extent;
  node->eps = (float)(eps * (1 + 4 * (double)FLT_EPSILON));
  node->eps = nextafterf(node->eps, HUGE_VALF);
}

/* ---- k-means --------------------------------------------------------------------------------- */

typedef struct means {
  talus_dvec3 centre[TL_SURROGATE_WIDE];
  size_t count[TL_SURROGATE_WIDE];
} means;

/* Into how many: eight, or as many as make sets of eight. */
static uint32_t parts_of(size_t count) {
  const size_t sets = (count + TL_SURROGATE_WIDE - 1) / TL_SURROGATE_WIDE;
  return sets < TL_SURROGATE_WIDE ? (uint32_t)sets : TL_SURROGATE_WIDE;
}

static uint8_t nearest_centre(const means *m, talus_dvec3 p) {
  double least = HUGE_VAL;
  uint8_t best = 0;
  for (uint8_t k = 0; k < TL_SURROGATE_WIDE; ++k) {
    const talus_dvec3 d = tl_dsub(p, m->centre[k]);
    const double square = tl_ddot(d, d);
    if (m->count[k] > 0 && square < least)
      least = square, best = k;
  }
  return best;
}

/* Means of the clusters as they are, of every `step`th row. */
static void move_centres(const builder *b, size_t begin, size_t end, size_t step, means *m) {
  talus_dvec3 sum[TL_SURROGATE_WIDE] = {{0, 0, 0}};
  memset(m->count, 0, sizeof m->count);
  for (size_t i = begin; i < end; i += step) {
    const uint8_t k = b->cluster[i];
    sum[k] = tl_dadd(sum[k], b->middle[b->s->leaf[i]]);
    m->count[k]++;
  }
  for (int k = 0; k < TL_SURROGATE_WIDE; ++k)
    if (m->count[k] > 0)
      m->centre[k] = tl_dscale(sum[k], 1 / (double)m->count[k]);
}

/* Equal runs of the order that the triangles have, which is that of the tree of boxes: near ones
 * stand together. */
static void cut_runs(builder *b, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    b->cluster[i] = (uint8_t)((i - begin) * parts_of(end - begin) / (end - begin));
}

/* Clusters of near triangles, none with more than two thirds of them: so the tree has few levels.
 */
static void find_clusters(builder *b, size_t begin, size_t end) {
  const size_t step = (end - begin) / SAMPLE + 1;
  means m = {.count = {0}};
  size_t size[TL_SURROGATE_WIDE] = {0}, most = 0;
  cut_runs(b, begin, end);
  for (int round = 0; round < ROUNDS; ++round) {
    bool same = true;
    move_centres(b, begin, end, step, &m);
    for (size_t i = begin; i < end; i += step) {
      const uint8_t k = nearest_centre(&m, b->middle[b->s->leaf[i]]);
      same = same && k == b->cluster[i];
      b->cluster[i] = k;
    }
    if (same)
      break;
  }
  move_centres(b, begin, end, step, &m);
  for (size_t i = begin; i < end; ++i) {
    b->cluster[i] = nearest_centre(&m, b->middle[b->s->leaf[i]]);
    size[b->cluster[i]]++;
  }
  for (int k = 0; k < TL_SURROGATE_WIDE; ++k)
    most = size[k] > most ? size[k] : most;
  if (most > (end - begin) * 2 / 3)
    cut_runs(b, begin, end);
}

/* Rows [begin, end) of the list by cluster, each in the order they had; cut[k]: where cluster k
 * begins. Returns how many there are; empty ones are left out. */
static uint32_t split(builder *b, size_t begin, size_t end, size_t cut[TL_SURROGATE_WIDE + 1]) {
  size_t size[TL_SURROGATE_WIDE] = {0}, at[TL_SURROGATE_WIDE];
  uint32_t parts = 0;
  find_clusters(b, begin, end);
  for (size_t i = begin; i < end; ++i)
    size[b->cluster[i]]++;
  for (size_t k = 0, from = begin; k < TL_SURROGATE_WIDE; from += size[k++]) {
    at[k] = from;
    if (size[k] > 0)
      cut[parts++] = from;
  }
  cut[parts] = end;
  for (size_t i = begin; i < end; ++i)
    b->moved[at[b->cluster[i]]++] = b->s->leaf[i];
  memcpy(b->s->leaf + begin, b->moved + begin, (end - begin) * sizeof *b->moved);
  return parts;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static talus_status add_nodes(tl_surrogate *s, uint32_t count, uint32_t *first) {
  if (s->nodes + count > s->capacity) {
    const uint32_t room = s->nodes + count + s->capacity / 2;
    void *data = s->node;
    TL_TRY(tl_resize(&data, s->capacity * sizeof *s->node, room * sizeof *s->node));
    s->node = data, s->capacity = room;
  }
  *first = s->nodes;
  s->nodes += count;
  memset(s->node + *first, 0, count * sizeof *s->node); /* padding, too: files have none of it */
  return TALUS_OK;
}

/* Triangles [begin, end) of the list are below the node. */
static talus_status build(builder *b, uint32_t number, size_t begin, size_t end) {
  tl_surrogate *s = b->s;
  size_t cut[TL_SURROGATE_WIDE + 1];
  fit_node(b, number, begin, end);
  const uint8_t level = s->node[number].level;
  if (level + 1 > s->levels)
    s->levels = level + 1;
  if (end - begin <= TL_SURROGATE_WIDE) {
    s->node[number].holds = 1;
    s->node[number].first = (uint32_t)begin, s->node[number].count = (uint8_t)(end - begin);
    for (size_t i = begin; i < end; ++i)
      s->holder[s->leaf[i]] = number;
    return TALUS_OK;
  }
  const uint32_t parts = split(b, begin, end, cut);
  uint32_t first;
  TL_TRY(add_nodes(s, parts, &first));
  s->node[number].first = first, s->node[number].count = (uint8_t)parts;
  for (uint32_t k = 0; k < parts; ++k)
    s->node[first + k].parent = number, s->node[first + k].level = (uint8_t)(level + 1);
  for (uint32_t k = 0; k < parts; ++k)
    TL_TRY(build(b, first + k, cut[k], cut[k + 1]));
  return TALUS_OK;
}

/* What is only needed while it is built, in one block. */
static size_t scratch_bytes(uint32_t triangles) {
  return (size_t)triangles * (4 * sizeof(talus_dvec3) + sizeof(uint32_t) + sizeof(uint8_t));
}

static talus_status fill(builder *b, void *scratch) {
  tl_surrogate *s = b->s;
  const size_t n = s->triangles;
  uint32_t root;
  double lo[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, hi[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  b->place = scratch;
  b->middle = b->place + 3 * n;
  b->moved = (uint32_t *)(b->middle + n);
  b->cluster = (uint8_t *)(b->moved + n);
  for (uint32_t t = 0; t < n; ++t) {
    const talus_dvec3 p = corner_of(b, t, 0), q = corner_of(b, t, 1), r = corner_of(b, t, 2);
    b->middle[t] = tl_dscale(tl_dadd(tl_dadd(p, q), r), 1.0 / 3);
    s->leaf[t] = t;
    for (size_t k = 0; k < 9; ++k) {
      const double x = b->points[3 * (size_t)b->triangle[3 * (size_t)t + k / 3] + k % 3];
      lo[k % 3] = fmin(lo[k % 3], x), hi[k % 3] = fmax(hi[k % 3], x);
    }
  }
  for (int i = 0; i < 3; ++i)
    b->extent = fmax(b->extent, fmax(hi[i] - lo[i], fmax(fabs(lo[i]), fabs(hi[i]))));
  TL_TRY(add_nodes(s, 1, &root));
  return build(b, root, 0, n);
}

talus_status tl_surrogate_build(const double *points, const uint32_t *triangle, uint32_t triangles,
                                tl_surrogate_fit fit, tl_surrogate *s) {
  *s = (tl_surrogate){.triangles = triangles};
  builder b = {.points = points, .triangle = triangle, .s = s, .fit = fit};
  void *leaf = NULL, *holder = NULL, *scratch = NULL;
  const size_t bytes = triangles * sizeof(uint32_t), room = scratch_bytes(triangles);
  talus_status status = tl_resize(&leaf, 0, bytes);
  if (status == TALUS_OK)
    status = tl_resize(&holder, 0, bytes);
  if (status == TALUS_OK)
    status = tl_resize(&scratch, 0, room);
  s->leaf = leaf, s->holder = holder;
  if (status == TALUS_OK)
    status = fill(&b, scratch);
  if (scratch)
    (void)tl_resize(&scratch, room, 0); /* freeing cannot fail */
  if (status == TALUS_OK && s->capacity > s->nodes) {
    void *data = s->node;
    (void)tl_resize(&data, s->capacity * sizeof *s->node, s->nodes * sizeof *s->node);
    s->node = data, s->capacity = s->nodes;
  }
  if (status != TALUS_OK)
    tl_surrogate_release(s);
  return status;
}

void tl_surrogate_release(tl_surrogate *s) {
  void *lists[3] = {s->node, s->leaf, s->holder};
  const size_t bytes = s->triangles * sizeof(uint32_t);
  for (int i = 0; i < 3; ++i)
    if (lists[i])
      (void)tl_resize(&lists[i], i == 0 ? s->capacity * sizeof *s->node : bytes, 0);
  *s = (tl_surrogate){0};
}

size_t tl_surrogate_bytes(const tl_surrogate *s) {
  return s->capacity * sizeof *s->node + 2 * s->triangles * sizeof(uint32_t);
}
