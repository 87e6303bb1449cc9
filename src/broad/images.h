/* The periodic images (kernels/images.h) of a model. */
#ifndef TL_BROAD_IMAGES_H
#define TL_BROAD_IMAGES_H

#include "crowd/model.h"
#include "kernels/images.h"

static inline tl_images tl_images_of(const tl_model *model) {
  const talus_domain_def *domain = &model->domain;
  const double lo[3] = {domain->box.lo.x, domain->box.lo.y, domain->box.lo.z};
  const double hi[3] = {domain->box.hi.x, domain->box.hi.y, domain->box.hi.z};
  tl_images images = {0};
  for (int k = 0; k < 3; ++k) {
    images.periodic[k] = domain->enabled && domain->periodic[k];
    images.any |= images.periodic[k];
    images.low[k] = lo[k];
    images.length[k] = hi[k] - lo[k];
  }
  return images;
}

#endif
