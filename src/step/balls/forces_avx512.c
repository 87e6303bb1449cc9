/* Visits of packs of contacts between balls, with AVX-512: the arithmetic of
 * kernels/penalty_visit.h with a vector of eight as the number. Balls are loaded row by row and
 * transposed in registers. No operation is fused or reordered, so the bits are those of the scalar
 * code. This file alone is compiled for AVX-512; it runs only where the processor has it. */
#include "step/balls/forces.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include "step/balls/lanes.h"

#undef TL_FN
#define TL_FN              INLINE
#define NUMBER             lanes
#define TRUTH              lane_mask
#define NUMBER_SQRT(x)     lanes_sqrt(x)
#define SELECT(test, a, b) lanes_select(test, a, b)
#define VISIT(name)        lanes_##name
#include "kernels/penalty_visit.h"

_Static_assert(sizeof(tl_ball) == 2 * sizeof(lanes), "a ball is two vectors");
_Static_assert(sizeof(tl_ball_effect) == sizeof(lanes), "an effect is a vector");

INLINE lanes_ball load_balls(const tl_ball_job *job, const uint32_t *index) {
  const tl_ball *balls = job->list->ball.data;
  const lanes zero = {0};
  lanes m[W], n[W];
  for (int i = 0; i < W; ++i) {
    m[i] = load(balls[index[i]].v);
    n[i] = load(balls[index[i]].spring_force);
  }
  transpose(m);
  transpose(n);
  const lane_mask moves = m[7] > zero; /* tl_ball_kick */
  const lanes half = lanes_select(moves, zero + job->half, zero), turn = half * n[7];
  const lanes_vec velocity_kick = {half * (job->gravity.x + m[7] * n[0]),
                                   half * (job->gravity.y + m[7] * n[1]),
                                   half * (job->gravity.z + m[7] * n[2])};
  const lanes_vec spin_kick = {turn * n[3], turn * n[4], turn * n[5]};
  const lanes_ball r = {{m[0] + velocity_kick.x, m[1] + velocity_kick.y, m[2] + velocity_kick.z},
                        {m[3] + spin_kick.x, m[4] + spin_kick.y, m[5] + spin_kick.z},
                        m[6],
                        m[7],
                        velocity_kick,
                        spin_kick,
                        n[6]};
  return r;
}

/* What the pair's materials give; the same for all where there is one material. */
INLINE void load_law(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from,
                     lanes_contact *t) {
  const lanes zero = {0};
  t->normal = zero + job->laws->normal, t->tangent = zero + job->laws->tangent;
  t->damping = zero + job->laws->damping, t->friction = zero + job->laws->friction;
  t->cohesion = zero + job->laws->cohesion;
  t->tangent_damping = zero + job->laws->tangent_damping;
  if (job->materials == 1)
    return;
  const uint32_t *material = job->list->material.data;
  for (int i = 0; i < W; ++i) {
    const tl_spring_law *law = &job->laws[material[pack->a[from + (uint32_t)i]] * job->materials +
                                          material[pack->b[from + (uint32_t)i]]];
    t->normal[i] = law->normal, t->tangent[i] = law->tangent, t->damping[i] = law->damping;
    t->friction[i] = law->friction, t->cohesion[i] = law->cohesion;
    t->tangent_damping[i] = law->tangent_damping;
  }
}

#if TALUS_SINGLE
typedef __m128 half_row;
INLINE half_row low_half(lanes x) { return _mm256_castps256_ps128((__m256)x); }
INLINE half_row high_half(lanes x) { return _mm256_extractf128_ps((__m256)x, 1); }
#else
typedef __m256d half_row;
INLINE half_row low_half(lanes x) { return _mm512_castpd512_pd256((__m512d)x); }
INLINE half_row high_half(lanes x) { return _mm512_extractf64x4_pd((__m512d)x, 1); }
#endif

INLINE half_row load_half(const void *from) {
  half_row r;
  memcpy(&r, from, sizeof r);
  return r;
}

/* Eight rows of four numbers to four vectors: rows 0 to 3 beside rows 4 to 7, and then squares of
 * four are transposed. */
INLINE void transpose_halves(const half_row row[W], lanes to[4]) {
  lanes two[4];
  for (int i = 0; i < 4; ++i)
#if TALUS_SINGLE
    two[i] = (lanes)_mm256_insertf128_ps(_mm256_castps128_ps256(row[i]), row[i + 4], 1);
#else
    two[i] = (lanes)_mm512_insertf64x4(_mm512_castpd256_pd512(row[i]), row[i + 4], 1);
#endif
  const lanes a = SHUFFLE(two[0], two[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes b = SHUFFLE(two[0], two[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes c = SHUFFLE(two[2], two[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes d = SHUFFLE(two[2], two[3], 1, 9, 3, 11, 5, 13, 7, 15);
  to[0] = SHUFFLE(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  to[1] = SHUFFLE(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  to[2] = SHUFFLE(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  to[3] = SHUFFLE(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* Four vectors to eight rows: transposed squares of four have rows 0 to 3 beside rows 4 to 7. */
INLINE void transpose_back(const lanes from[4], half_row row[W]) {
  const lanes a = SHUFFLE(from[0], from[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes b = SHUFFLE(from[0], from[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes c = SHUFFLE(from[2], from[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes d = SHUFFLE(from[2], from[3], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes two[4] = {
      SHUFFLE(a, c, 0, 1, 8, 9, 4, 5, 12, 13), SHUFFLE(b, d, 0, 1, 8, 9, 4, 5, 12, 13),
      SHUFFLE(a, c, 2, 3, 10, 11, 6, 7, 14, 15), SHUFFLE(b, d, 2, 3, 10, 11, 6, 7, 14, 15)};
  for (int i = 0; i < 4; ++i)
    row[i] = low_half(two[i]), row[i + 4] = high_half(two[i]);
}

/* Energies of eight contacts, or of the first `count`. */
INLINE void add_energies(tl_ball_sums *sums, const lanes_pushed *r, uint32_t count) {
  const lanes zero = {0}, first = {0, 1, 2, 3, 4, 5, 6, 7};
  const lane_mask counts = first < zero + (talus_real)count;
  add_to_tally(&sums->of[TL_BALL_ELASTIC], lanes_select(counts, r->elastic, zero));
  add_to_tally(&sums->of[TL_BALL_STORED], lanes_select(counts, r->stored, zero));
  add_to_tally(&sums->of[TL_BALL_DAMPING], lanes_select(counts, r->damping, zero));
  add_to_tally(&sums->of[TL_BALL_FRICTION], lanes_select(counts, r->friction, zero));
}

INLINE void put_contact(tl_ball_list *list, uint32_t candidate, uint32_t at, half_row spring,
                        lanes e) {
  memcpy(&list->spring.data[candidate], &spring, sizeof spring);
  store(list->effect.data[at].force, e);
}

/* How eight pairs of balls meet: what lanes_balls finds, in memory. A contact is done in two
 * halves, each for a few eights one after another: the springs that the second half needs come from
 * memory meanwhile, and chains of roots and quotients are shorter (5 % of a step; nothing where all
 * is in the cache). */
#define FEW 4
typedef struct meeting {
  lanes_vec n, velocity, drift;
  lanes overlap, mass, radius, twirl;
  lanes smaller; /* radius of the two, m */
} meeting;

INLINE void meet(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from, meeting *to) {
  const lanes_ball a = load_balls(job, pack->a + from);
  const lanes_ball b = load_balls(job, pack->b + from);
  const lanes_vec d = {load(pack->dx + from), load(pack->dy + from), load(pack->dz + from)};
  lanes_contact t;
  lanes_balls(&a, &b, d, &t);
  for (uint32_t i = 0; i < W; ++i)
    __builtin_prefetch(&job->list->spring.data[pack->candidate[from + i]]);
  to->n = t.n, to->velocity = t.velocity, to->drift = t.drift;
  to->overlap = t.overlap, to->mass = t.mass, to->radius = t.radius, to->twirl = t.twirl;
  to->smaller = lanes_select(a.radius < b.radius, a.radius, b.radius);
}

/* Records are few: one in a million contacts or so. Lanes beyond the count repeat others. */
static __attribute__((noinline)) void note_overlaps(tl_ball_sums *sums, const meeting *met) {
  for (int i = 0; i < W; ++i)
    tl_ball_note_overlap(sums, met->overlap[i], met->smaller[i]);
}

INLINE void look_for_records(tl_ball_sums *sums, const meeting *met) {
  const lanes zero = {0}, nearly = zero + TL_BALL_NEARLY * (talus_real)sums->share;
  const lane_mask record =
      (met->overlap > zero + sums->deepest) | (met->overlap > nearly * met->smaller);
  if (__builtin_expect(lanes_mask(record) != 0, 0))
    note_overlaps(sums, met);
}

/* Forces of eight contacts of the pack, or of its last `count`. */
INLINE void press(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from, uint32_t count,
                  const meeting *met, tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  const lanes zero = {0}, one = zero + 1, half = zero + TL_R(0.5);
  const uint32_t *candidate = pack->candidate + from;
  lanes_contact t; /* member by member: not all of it, which goes through memory */
  load_law(job, pack, from, &t);
  t.n = met->n, t.velocity = met->velocity, t.drift = met->drift;
  t.overlap = met->overlap, t.mass = met->mass, t.radius = met->radius, t.twirl = met->twirl;

  half_row rows[W];
  for (int i = 0; i < W; ++i)
    rows[i] = load_half(&list->spring.data[candidate[i]]);
  lanes m[4];
  transpose_halves(rows, m);
  const lane_mask is_old = load(pack->is_old + from) > zero;
  lanes_vec slip = {lanes_select(is_old, m[0], zero), lanes_select(is_old, m[1], zero),
                    lanes_select(is_old, m[2], zero)};
  const lanes old = lanes_select(is_old, m[3], zero);
  const lanes_pushed r = job->is_hertz ? lanes_push(&t, 1, zero + job->h, old, &slip)
                                       : lanes_push(&t, 0, zero + job->h, old, &slip);
  const lanes_vec turn = lanes_cross(t.n, r.force);

  const lanes s[4] = {slip.x, slip.y, slip.z, r.tangent_stiffness};
  lanes e[W] = {r.force.x, r.force.y, r.force.z,        turn.x,
                turn.y,    turn.z,    half * t.overlap, lanes_select(r.slides, one, zero)};
  transpose_back(s, rows);
  transpose(e);
  const uint32_t at = pack->effect + from;
  if (count >= W)
    for (uint32_t i = 0; i < W; ++i)
      put_contact(list, candidate[i], at + i, rows[i], e[i]);
  else
    for (uint32_t i = 0; i < W; ++i)
      if (i < count)
        put_contact(list, candidate[i], at + i, rows[i], e[i]);
  add_energies(sums, &r, count);
  look_for_records(sums, met);
}

/* Contacts of the pack from `from` to `end`, where a whole eight begins at each step. */
static void visit(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from, uint32_t end,
                  tl_ball_sums *sums) {
  meeting met[FEW];
  const uint32_t eights = (end - from + W - 1) / W;
  for (uint32_t i = 0; i < eights; ++i)
    meet(job, pack, from + i * W, &met[i]);
  for (uint32_t i = 0; i < eights; ++i) {
    const uint32_t first = from + i * W;
    press(job, pack, first, end - first < W ? end - first : W, &met[i], sums);
  }
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* From a to b, and the sum of radii, of eight pairs: rows are subtracted and then transposed. */
INLINE void load_ways(const tl_ball_place *places, const uint32_t *a, const uint32_t *b,
                      wide way[4]) {
  const __m256d signs = _mm256_set_pd(0, -0.0, -0.0, -0.0);
  __m256d row[W];
  for (int i = 0; i < W; ++i)
    row[i] = _mm256_add_pd(_mm256_loadu_pd(&places[b[i]].x),
                           _mm256_xor_pd(signs, _mm256_loadu_pd(&places[a[i]].x)));
  __m512d two[4];
  for (int i = 0; i < 4; ++i)
    two[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(row[i]), row[i + 4], 1);
  const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  const __m512d xz = _mm512_unpacklo_pd(two[0], two[1]), yr = _mm512_unpackhi_pd(two[0], two[1]);
  const __m512d xz2 = _mm512_unpacklo_pd(two[2], two[3]), yr2 = _mm512_unpackhi_pd(two[2], two[3]);
  way[0] = (wide)_mm512_permutex2var_pd(xz, low, xz2);
  way[1] = (wide)_mm512_permutex2var_pd(yr, low, yr2);
  way[2] = (wide)_mm512_permutex2var_pd(xz, high, xz2);
  way[3] = (wide)_mm512_permutex2var_pd(yr, high, yr2);
}

INLINE void squeeze(talus_real *to, __mmask8 which, __m512d x) {
#if TALUS_SINGLE
  _mm256_storeu_ps(to, _mm256_maskz_compress_ps(which, _mm512_cvtpd_ps(x)));
#else
  _mm512_storeu_pd(to, _mm512_maskz_compress_pd(which, x));
#endif
}

INLINE void squeeze_u32(uint32_t *to, __mmask8 which, __m256i x) {
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_maskz_compress_epi32(which, x));
}

/* Contacts of the pack from `from` on that are in one place. */
static void part(const tl_ball_list *list, tl_ball_pack *pack, uint32_t from) {
  for (uint32_t i = from; i < pack->count; ++i) {
    const tl_ball_place *a = &list->place.data[pack->a[i]], *b = &list->place.data[pack->b[i]];
    const double dx = b->x - a->x, dy = b->y - a->y, dz = b->z - a->z;
    if (!(dx * dx + dy * dy + dz * dz < TL_BALL_SAME_PLACE))
      continue;
    pack->dx[i] = pack->dy[i] = 0;
    pack->dz[i] = tl_ball_tiny_way(list, pack->a[i], pack->b[i]);
  }
}

/* Candidates c to c + 7 (those in `valid`) that overlap go into the pack. The other lanes take the
 * first owner, a ball of this block: another may be moving in the hands of another thread. */
INLINE void look(tl_ball_list *list, uint32_t c, __mmask8 valid, tl_ball_pack *pack) {
  const __m256i first = _mm256_set1_epi32((int32_t)list->owner.data[c]);
  const __m256i a = _mm256_mask_loadu_epi32(first, valid, list->owner.data + c);
  const __m256i b = _mm256_mask_loadu_epi32(first, valid, list->other.data + c);
  const __m256i old = _mm256_maskz_loadu_epi32(valid, list->at.data + c);
  uint32_t rows_a[W], rows_b[W];
  memcpy(rows_a, &a, sizeof rows_a);
  memcpy(rows_b, &b, sizeof rows_b);
  for (int i = 0; i < W; ++i) {
    __builtin_prefetch(list->ball.data[rows_b[i]].v);
    __builtin_prefetch(list->ball.data[rows_b[i]].spring_force);
  }
  wide d[4];
  load_ways(list->place.data, rows_a, rows_b, d);
  const wide square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], most = d[3] * d[3];
  const __mmask8 touch = _mm512_mask_cmp_pd_mask(valid, (__m512d)square, (__m512d)most, _CMP_LT_OQ);
  const __m256i count_up = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const uint32_t n = pack->count;
  const __m256i effects =
      _mm256_add_epi32(_mm256_set1_epi32((int32_t)(pack->effect + n)), count_up);
  _mm256_mask_storeu_epi32(list->at.data + c, valid, _mm256_maskz_expand_epi32(touch, effects));
  squeeze_u32(pack->a + n, touch, a);
  squeeze_u32(pack->b + n, touch, b);
  squeeze_u32(pack->candidate + n, touch,
              _mm256_add_epi32(_mm256_set1_epi32((int32_t)c), count_up));
  squeeze(pack->dx + n, touch, (__m512d)d[0]);
  squeeze(pack->dy + n, touch, (__m512d)d[1]);
  squeeze(pack->dz + n, touch, (__m512d)d[2]);
  const __mmask8 is_old = _mm256_test_epi32_mask(old, old);
  squeeze(pack->is_old + n, touch, _mm512_maskz_mov_pd(is_old, _mm512_set1_pd(1)));
  pack->count += (uint32_t)__builtin_popcount(touch);
  const __mmask8 same = _mm512_mask_cmp_pd_mask(touch, (__m512d)square,
                                                _mm512_set1_pd(TL_BALL_SAME_PLACE), _CMP_LT_OQ);
  if (__builtin_expect(same != 0, 0))
    part(list, pack, n);
}

/* Whole eights of the pack; what is left comes to the front. */
static void visit_eights(const tl_ball_job *job, tl_ball_pack *pack, tl_ball_sums *sums) {
  const uint32_t whole = pack->count / W * W;
  if (whole == 0)
    return;
  for (uint32_t from = 0; from < whole; from += FEW * W)
    visit(job, pack, from, from + FEW * W < whole ? from + FEW * W : whole, sums);
  memcpy(pack->a, pack->a + whole, W * sizeof *pack->a);
  memcpy(pack->b, pack->b + whole, W * sizeof *pack->b);
  memcpy(pack->candidate, pack->candidate + whole, W * sizeof *pack->candidate);
  store(pack->dx, load(pack->dx + whole));
  store(pack->dy, load(pack->dy + whole));
  store(pack->dz, load(pack->dz + whole));
  store(pack->is_old, load(pack->is_old + whole));
  pack->effect += whole;
  pack->count -= whole;
}

static void visit_remaining(const tl_ball_job *job, tl_ball_pack *pack, tl_ball_sums *sums) {
  for (uint32_t i = pack->count; i < W; ++i) {
    pack->a[i] = pack->a[0], pack->b[i] = pack->b[0];
    pack->candidate[i] = pack->candidate[0];
    pack->dx[i] = pack->dx[0], pack->dy[i] = pack->dy[0], pack->dz[i] = pack->dz[0];
    pack->is_old[i] = pack->is_old[0];
  }
  visit(job, pack, 0, pack->count, sums);
}

/* Candidates from which on places are asked for. */
#define AHEAD 16

void tl_ball_push_block_avx512(const tl_ball_job *job, size_t block, tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  const size_t first = block * TL_BALL_BLOCK;
  const size_t last = first + TL_BALL_BLOCK < list->count ? first + TL_BALL_BLOCK : list->count;
  const uint32_t end = list->start.data[last];
  tl_ball_pack pack;
  pack.effect = list->block_start.data[block];
  pack.count = 0;
  for (uint32_t c = list->start.data[first]; c < end; c += W) {
    const uint32_t left = end - c;
    if (left >= AHEAD + W)
      for (uint32_t i = 0; i < W; ++i)
        __builtin_prefetch(&list->place.data[list->other.data[c + AHEAD + i]]);
    look(list, c, (__mmask8)(left < W ? (1u << left) - 1 : 0xffu), &pack);
    if (pack.count > TL_BALL_PACK - 2 * W)
      visit_eights(job, &pack, sums);
  }
  visit_eights(job, &pack, sums);
  if (pack.count > 0)
    visit_remaining(job, &pack, sums);
  sums->contacts += pack.effect + pack.count - list->block_start.data[block];
}

#else

void tl_ball_push_block_avx512(const tl_ball_job *job, size_t block, tl_ball_sums *sums) {
  (void)job, (void)block, (void)sums;
}

#endif
