/* Kernels: periodic images of boxes.
 *
 * Axes are independent: some image of a overlaps b when on each axis some shift by whole periods
 * makes their intervals overlap. If every box is first moved so that its low corner is in the
 * domain, only shifts by one period remain. The lower interval is always the one that is moved up,
 * so that a result does not depend on which box is called a, not even in the last bit. */
#ifndef TL_KERNELS_IMAGES_H
#define TL_KERNELS_IMAGES_H

#include "kernels/aabb.h"

/* A box as arrays, so that loops can run over its axes. */
typedef struct tl_span3 {
  double lo[3], hi[3];
} tl_span3;

typedef struct tl_images {
  bool any;
  bool periodic[3];
  double low[3], length[3]; /* of the domain, on periodic axes */
} tl_images;

/* The box, moved by whole periods so that its low corner is in the domain. Infinite sides stay. */
TL_FN tl_span3 tl_images_home(const tl_images *images, const talus_box *box) {
  tl_span3 home;
  home.lo[0] = box->lo.x, home.lo[1] = box->lo.y, home.lo[2] = box->lo.z;
  home.hi[0] = box->hi.x, home.hi[1] = box->hi.y, home.hi[2] = box->hi.z;
  if (!images->any)
    return home;
  for (int k = 0; k < 3; ++k) {
    if (!images->periodic[k] || !tl_is_finite_d(home.lo[k]) || !tl_is_finite_d(home.hi[k]))
      continue;
    const double shift =
        images->length[k] * floor((home.lo[k] - images->low[k]) / images->length[k]);
    home.lo[k] -= shift;
    home.hi[k] -= shift;
  }
  return home;
}

/* Touching counts. Written without branches: callers test many boxes with unpredictable results. */
TL_FN bool tl_span3_overlap(const tl_span3 *a, const tl_span3 *b) {
  return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) &
         (b->lo[1] <= a->hi[1]) & (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
}

/* True if any image of a overlaps b; both must be moved into the domain. */
TL_FN bool tl_images_overlap(const tl_images *images, const tl_span3 *a, const tl_span3 *b) {
  for (int k = 0; k < 3; ++k) {
    const double length = images->length[k];
    bool overlap = a->lo[k] <= b->hi[k] && b->lo[k] <= a->hi[k];
    if (!overlap && images->periodic[k])
      overlap = (a->lo[k] + length <= b->hi[k] && b->lo[k] <= a->hi[k] + length) ||
                (b->lo[k] + length <= a->hi[k] && a->lo[k] <= b->hi[k] + length);
    if (!overlap)
      return false;
  }
  return true;
}

#endif
