/* Four boxes are three times eight numbers. This file alone is compiled for AVX-512. */
#include "broad/skin.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)

#include <immintrin.h>

_Static_assert(sizeof(talus_box) == 6 * sizeof(double), "a box is six numbers");

/* Sides that are low ones, of the three eights. */
static const __mmask8 low[3] = {0xc7, 0x71, 0x1c};

/* Lanes that are not between. On a low side g <= x <= g + skin, on a high one g - skin <= x <= g.
 */
static inline __mmask8 find_moved(const double *boxes, const double *grown, __m512d skin,
                                  __mmask8 is_low) {
  const __m512d x = _mm512_loadu_pd(boxes), g = _mm512_loadu_pd(grown);
  const __m512d inner = _mm512_mask_add_pd(_mm512_sub_pd(g, skin), is_low, g, skin);
  const __m512d least = _mm512_mask_blend_pd(is_low, inner, g);
  const __m512d most = _mm512_mask_blend_pd(is_low, g, inner);
  return (__mmask8) ~(_mm512_cmp_pd_mask(least, x, _CMP_LE_OQ) &
                      _mm512_cmp_pd_mask(x, most, _CMP_LE_OQ));
}

size_t tl_skin_count_steady(const talus_box *boxes, const talus_box *grown, size_t count,
                            double skin) {
  const __m512d s = _mm512_set1_pd(skin);
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const double *x = &boxes[i].lo.x, *g = &grown[i].lo.x;
    const unsigned moved = find_moved(x, g, s, low[0]) | find_moved(x + 8, g + 8, s, low[1]) |
                           find_moved(x + 16, g + 16, s, low[2]);
    if (moved)
      break;
  }
  return i;
}

bool tl_skin_has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

#else

size_t tl_skin_count_steady(const talus_box *boxes, const talus_box *grown, size_t count,
                            double skin) {
  (void)boxes, (void)grown, (void)count, (void)skin;
  return 0;
}

bool tl_skin_has_avx512(void) { return false; }

#endif
