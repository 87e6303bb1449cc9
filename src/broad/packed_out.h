/* Output of the search through packed bins (private to src/broad). */
#ifndef TL_BROAD_PACKED_OUT_H
#define TL_BROAD_PACKED_OUT_H

#include "broad/lanes.h"
#include "broad/packed.h"

#if defined(__GNUC__)
#define TL_LANES_INLINE static inline __attribute__((always_inline))
#else
#define TL_LANES_INLINE static inline
#endif

#define TL_PACKED_BUFFER 512 /* pairs */

/* Buffer for the pairs of a block. */
typedef struct tl_packed_out {
  const tl_packed *packed;
  tl_catch *to;
  bool plain; /* no groups are ignored, and members are slots */
  size_t count;
  tl_pair pair[TL_PACKED_BUFFER];
} tl_packed_out;

static inline void tl_packed_flush(tl_packed_out *out) {
  tl_catch *to = out->to;
  const uint64_t left = to->count < to->room ? to->room - to->count : 0;
  const size_t n = left < out->count ? (size_t)left : out->count;
  if (n > 0)
    memcpy(to->out + to->count, out->pair, n * sizeof *out->pair);
  to->count += out->count;
  out->count = 0;
}

/* From members to slots; false: their groups ignore each other. */
static inline bool tl_packed_find_slots(const tl_packed *packed, uint32_t *a, uint32_t *b) {
  const tl_model *model = packed->bins->model;
  *a = tl_crowd_slot(packed->bins->crowd, *a);
  *b = tl_crowd_slot(packed->bins->crowd, *b);
  return model->ignored.count == 0 ||
         !tl_model_ignores(model, model->property.group[*a], model->property.group[*b]);
}

TL_LANES_INLINE void tl_packed_put(tl_packed_out *out, uint32_t who_a, uint32_t who_b) {
  uint32_t a = who_a & ~TL_BINS_STATIC, b = who_b & ~TL_BINS_STATIC;
  if ((who_a & who_b & TL_BINS_STATIC) != 0)
    return;
  if (!out->plain && !tl_packed_find_slots(out->packed, &a, &b))
    return;
  out->pair[out->count].a = a < b ? a : b;
  out->pair[out->count].b = a < b ? b : a;
  out->count++;
}

/* Compares the boxes themselves. */
static inline bool tl_packed_overlap(const tl_packed *packed, uint32_t who_a, uint32_t who_b) {
  const talus_box *a = &packed->bins->boxes[who_a & ~TL_BINS_STATIC];
  const talus_box *b = &packed->bins->boxes[who_b & ~TL_BINS_STATIC];
  const tl_span3 p = {{a->lo.x, a->lo.y, a->lo.z}, {a->hi.x, a->hi.y, a->hi.z}};
  const tl_span3 q = {{b->lo.x, b->lo.y, b->lo.z}, {b->hi.x, b->hi.y, b->hi.z}};
  return tl_span3_overlap(&p, &q);
}

static inline void tl_packed_put_touching(tl_packed_out *out, uint32_t p, uint32_t q,
                                          unsigned touch) {
  const uint32_t *who = out->packed->who;
  for (; touch != 0; touch &= touch - 1) {
    const uint32_t other = who[q + (uint32_t)tl_lowest_bit(touch)];
    if (tl_packed_overlap(out->packed, who[p], other))
      tl_packed_put(out, who[p], other);
  }
}

#endif
