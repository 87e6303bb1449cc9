#include "narrow/surrogate.h"

#include "narrow/iterative.h"

/* ---- rows ------------------------------------------------------------------------------------ */

static const tl_surrogate *tree_of_a(const tl_surrogates *s, const tl_row *row) {
  return &s->pairs[row->pair].a.f->surrogate;
}
static const tl_surrogate *tree_of_b(const tl_surrogates *s, const tl_row *row) {
  return &s->pairs[row->pair].b.f->surrogate;
}

static uint32_t children_of(const tl_surrogate *s, uint32_t ref) {
  return tl_surrogate_is_leaf(ref) ? 1 : s->node[ref].count;
}

static uint32_t child_of(const tl_surrogate *s, uint32_t ref, uint32_t k) {
  return tl_surrogate_is_leaf(ref) ? ref : tl_surrogate_child(s, ref, k);
}

size_t tl_surrogates_child_count(const tl_surrogates *s, const tl_row *row) {
  return tl_surrogates_is_leaf(row) ? 0
                                    : (size_t)children_of(tree_of_a(s, row), row->a) *
                                          children_of(tree_of_b(s, row), row->b);
}

size_t tl_surrogates_children(const tl_surrogates *s, const tl_row *row,
                              tl_row out[TL_ROW_CHILDREN]) {
  const tl_surrogate *a = tree_of_a(s, row), *b = tree_of_b(s, row);
  size_t count = 0;
  if (tl_surrogates_is_leaf(row))
    return 0;
  const uint32_t of_a = children_of(a, row->a), of_b = children_of(b, row->b);
  for (uint32_t i = 0; i < of_a; ++i)
    for (uint32_t j = 0; j < of_b; ++j)
      out[count++] = (tl_row){row->pair, child_of(a, row->a, i), child_of(b, row->b, j)};
  return count;
}

/* Both sides of a row are at its level, or are triangles above it. */
tl_row tl_surrogates_above(const tl_surrogates *s, const tl_row *row) {
  const tl_surrogate *a = tree_of_a(s, row), *b = tree_of_b(s, row);
  const int of_a = tl_surrogate_level(a, row->a), of_b = tl_surrogate_level(b, row->b);
  return (tl_row){row->pair, of_a >= of_b ? tl_surrogate_above(a, row->a) : row->a,
                  of_b >= of_a ? tl_surrogate_above(b, row->b) : row->b};
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* The triangle of a reference in the frame of b, and its halo there. */
static tl_triangle_corners corners_of_a(const tl_mesh_pair *pair, uint32_t ref, double *eps) {
  const tl_surrogate *s = &pair->a.f->surrogate;
  *eps = 0;
  if (tl_surrogate_is_leaf(ref))
    return tl_mesh_pair_first(pair, ref & ~TL_SURROGATE_LEAF);
  tl_triangle_corners t = tl_surrogate_corners(&s->node[ref]);
  for (int k = 0; k < 3; ++k)
    t.p[k] =
        tl_dvec3(tl_mesh_moved(&pair->a_to_b, 0, t.p[k]), tl_mesh_moved(&pair->a_to_b, 1, t.p[k]),
                 tl_mesh_moved(&pair->a_to_b, 2, t.p[k]));
  *eps = (double)s->node[ref].eps * pair->a.scale / pair->b.scale;
  return t;
}

static tl_triangle_corners corners_of_b(const tl_mesh_pair *pair, uint32_t ref, double *eps) {
  const tl_surrogate *s = &pair->b.f->surrogate;
  *eps = 0;
  if (tl_surrogate_is_leaf(ref))
    return tl_mesh_pair_second(pair, ref & ~TL_SURROGATE_LEAF);
  *eps = (double)s->node[ref].eps;
  return tl_surrogate_corners(&s->node[ref]);
}

/* Up to sixteen rows. */
typedef struct some_rows {
  tl_triangle_corners a[TL_TRIANGLE_BLOCK], b[TL_TRIANGLE_BLOCK];
  double reach[TL_TRIANGLE_BLOCK]; /* with halos, in the frame of b */
  tl_triangle_batch batch;
} some_rows;

static void load_rows(const tl_surrogates *s, const tl_row *rows, int n, some_rows *out) {
  out->batch.count = 0;
  for (int i = 0; i < n; ++i) {
    const tl_mesh_pair *pair = &s->pairs[rows[i].pair];
    double eps_a, eps_b;
    out->a[i] = corners_of_a(pair, rows[i].a, &eps_a);
    out->b[i] = corners_of_b(pair, rows[i].b, &eps_b);
    /* Corners of a surrogate and of the triangles that it covers are rounded separately. */
    const double far = pair->a.f->far * pair->a.scale / pair->b.scale + pair->b.f->far;
    out->reach[i] = tl_mesh_pair_reach(pair) + (eps_a + eps_b) * (1 + 1e-9) + 1e-14 * far;
    tl_triangle_batch_add(&out->batch, &out->a[i], &out->b[i]);
  }
  tl_triangle_batch_close(&out->batch);
}

/* Bit i: row i may be near, as surrogates; excluded rows are proven to be apart. */
static unsigned screen_rows(const some_rows *some) {
  float most[TL_TRIANGLE_BLOCK], square[TL_TRIANGLE_BLOCK];
  for (int i = 0; i < TL_TRIANGLE_BLOCK; ++i)
    most[i] =
        i < some->batch.count ? tl_triangle_block_most(some->reach[i] / some->batch.unit[i]) : 0;
  return tl_triangle_loops_now()->screen(&some->batch.a, &some->batch.b, most, square) &
         ((1u << some->batch.count) - 1);
}

/* Rows that the iteration does not decide count as near: their children decide (Noble, Algorithm
 * 7). */
static unsigned iterate_rows(const some_rows *some) {
  tl_guesses guesses;
  unsigned bits = 0;
  tl_iterative_loops_now()->iterate(&some->batch.a, &some->batch.b, &guesses);
  for (int i = 0; i < some->batch.count; ++i)
    bits |= (unsigned)(tl_guess_prove(&some->batch, &guesses, i, some->reach[i]) != TL_GUESS_APART)
            << i;
  return bits;
}

/* Tests rows of two triangles, by the method of the narrow phase. */
static void test_leaves(const tl_surrogates *s, const tl_row *rows, const some_rows *some,
                        unsigned leaves, uint8_t *out) {
  const tl_fronts fronts = {.method = s->method};
  while (leaves) { /* leaves of one pair, with one reach */
    const uint32_t pair = rows[__builtin_ctz(leaves)].pair;
    tl_triangle_pair pairs[TL_TRIANGLE_BLOCK];
    tl_triangle_near found[TL_TRIANGLE_BLOCK];
    uint32_t which[TL_TRIANGLE_BLOCK];
    size_t n = 0;
    for (unsigned left = leaves; left; left &= left - 1) {
      const uint32_t i = (uint32_t)__builtin_ctz(left);
      if (rows[i].pair == pair)
        pairs[n++] = (tl_triangle_pair){i, i}, leaves &= ~(1u << i);
    }
    const tl_fronts counted = {.method = fronts.method, .counts = s->counts};
    const size_t count = tl_front_triangles(&counted, some->a, some->b, pairs, n,
                                            tl_mesh_pair_reach(&s->pairs[pair]), found, which);
    for (size_t i = 0; i < count; ++i)
      out[pairs[which[i]].a] =
          (uint8_t)(TL_ROW_NEAR | (found[i].feature >= TL_TRIANGLE_CROSSES ? TL_ROW_CROSSES : 0));
  }
}

static void test_some(const tl_surrogates *s, const tl_row *rows, int n, some_rows *some,
                      uint8_t *out) {
  const bool iterates = s->method == TALUS_TRIANGLE_ITERATIVE || s->method == TALUS_TRIANGLE_HYBRID;
  unsigned leaves = 0;
  load_rows(s, rows, n, some);
  for (int i = 0; i < n; ++i)
    leaves |= (unsigned)tl_surrogates_is_leaf(&rows[i]) << i;
  const unsigned nodes = ((1u << n) - 1) & ~leaves;
  const unsigned near = nodes == 0 ? 0 : iterates ? iterate_rows(some) : screen_rows(some);
  for (int i = 0; i < n; ++i)
    out[i] = near >> i & ~leaves >> i & 1 ? TL_ROW_NEAR : 0;
  tl_narrow_count(s->counts, (uint64_t)__builtin_popcount(nodes), 0);
  test_leaves(s, rows, some, leaves, out);
}

void tl_surrogates_test(const tl_surrogates *s, const tl_row *rows, size_t n, uint8_t *out) {
  some_rows some;
  for (size_t begin = 0; begin < n; begin += TL_TRIANGLE_BLOCK) {
    const size_t left = n - begin;
    test_some(s, rows + begin, left < TL_TRIANGLE_BLOCK ? (int)left : TL_TRIANGLE_BLOCK, &some,
              out + begin);
  }
}

void tl_surrogates_screen(const tl_surrogates *s, const tl_row *rows, size_t n, double more,
                          bool *out) {
  some_rows some;
  for (size_t begin = 0; begin < n; begin += TL_TRIANGLE_BLOCK) {
    const size_t left = n - begin;
    const int count = left < TL_TRIANGLE_BLOCK ? (int)left : TL_TRIANGLE_BLOCK;
    load_rows(s, rows + begin, count, &some);
    for (int i = 0; i < count; ++i)
      some.reach[i] += more;
    const unsigned near = screen_rows(&some);
    for (int i = 0; i < count; ++i)
      out[begin + (size_t)i] = near >> i & 1;
    tl_narrow_count(s->counts, (uint64_t)count, 0);
  }
}

static void find_places(const tl_mesh_pair *pair, const tl_triangle_corners *a,
                        const tl_triangle_corners *b, tl_row_near *out) {
  const tl_triangle_near near = tl_triangle_triangle(a, b);
  out->distance = sqrt(near.square) * pair->b.scale;
  out->on_a = tl_mesh_to_world(&pair->b, near.on_a);
  out->on_b = tl_mesh_to_world(&pair->b, near.on_b);
}

void tl_surrogates_compare(const tl_surrogates *s, const tl_row *rows, size_t n, tl_row_near *out) {
  some_rows some;
  uint8_t verdict[TL_TRIANGLE_BLOCK];
  for (size_t begin = 0; begin < n; begin += TL_TRIANGLE_BLOCK) {
    const size_t left = n - begin;
    const int count = left < TL_TRIANGLE_BLOCK ? (int)left : TL_TRIANGLE_BLOCK;
    test_some(s, rows + begin, count, &some, verdict);
    for (int i = 0; i < count; ++i) {
      const tl_row *row = &rows[begin + (size_t)i];
      const tl_mesh_pair *pair = &s->pairs[row->pair];
      tl_row_near *near = &out[begin + (size_t)i];
      *near =
          (tl_row_near){.is_near = verdict[i] & TL_ROW_NEAR,
                        .crosses = (verdict[i] & TL_ROW_CROSSES) != 0,
                        .eps_a = tl_surrogate_eps(&pair->a.f->surrogate, row->a) * pair->a.scale,
                        .eps_b = tl_surrogate_eps(&pair->b.f->surrogate, row->b) * pair->b.scale};
      if (near->is_near)
        find_places(pair, &some.a[i], &some.b[i], near);
    }
  }
}
