/* Pairs of boxes on a device. */
#ifndef TL_BACKEND_BOXES_H
#define TL_BACKEND_BOXES_H

#include "backend/spheres.h"
#include "backend/thread/boxes.h"

/* The blocks of one caller, kept from call to call. */
typedef struct tl_device_boxes {
  tl_device_block boxes, overlaps, targets, pairs;
} tl_device_boxes;

/* Arguments besides the bounding spheres, which are planes where boxes are infinite: a plane of
 * which all space is matter. Arrays of the host. */
typedef struct tl_boxes_asked {
  const talus_box *boxes; /* by slot */
  tl_images images;
} tl_boxes_asked;

void tl_device_boxes_free(tl_device *device, tl_device_boxes *blocks);

/* Finds pairs whose boxes overlap; they stay on the device (blocks->pairs). */
talus_status tl_device_find_box_pairs(tl_device *device, tl_device_spheres *near,
                                      tl_device_boxes *blocks, const tl_spheres_asked *spheres,
                                      const tl_boxes_asked *asked, size_t *count,
                                      tl_spheres_times *times);

#endif
