/* Contacts of bodies of any shape on a device. */
#ifndef TL_BACKEND_SHAPES_H
#define TL_BACKEND_SHAPES_H

#include "backend/spheres.h"
#include "backend/thread/pairs.h"
#include "base/memory.h"

/* The blocks of one caller, kept from call to call. */
typedef struct tl_device_shapes {
  tl_device_block shapes, lists, shape, scale, rotation, classes[2], pairs[2], ends, counts, points,
      pool, used, starts, targets;
} tl_device_shapes;

/* Arguments besides the bounding spheres. Arrays of the host. */
typedef struct tl_shapes_asked {
  const tl_shape *shapes;
  size_t shape_count;
  const uint32_t *shape; /* by slot */
  const talus_real *scale;
  const talus_quat *rotation;
  talus_ellipsoid_method method;
  tl_arena *arena; /* for copies that are sent */
} tl_shapes_asked;

void tl_device_shapes_free(tl_device *device, tl_device_shapes *blocks);

/* True if a device supports the kind. */
bool tl_device_knows(talus_shape_kind kind);

/* Finds the contacts; they stay on the device (near->contacts). *pairs: number of pairs tested. */
talus_status tl_device_find_shapes(tl_device *device, tl_device_spheres *near,
                                   tl_device_shapes *blocks, const tl_spheres_asked *spheres,
                                   const tl_shapes_asked *asked, size_t *pairs, size_t *count,
                                   tl_spheres_times *times);

/* The same in two calls: sends shapes and bodies; finds contacts of bodies on the device, whose
 * rows and space are filled in. */
talus_status tl_device_send_shapes(tl_device *device, tl_device_shapes *blocks,
                                   const tl_shapes_asked *asked, size_t bodies);
talus_status tl_device_find_sent(tl_device *device, tl_device_spheres *near,
                                 tl_device_shapes *blocks, const tl_spheres_asked *spheres,
                                 const tl_thread_bodies *sent, size_t *pairs, size_t *count,
                                 tl_spheres_times *times);

#endif
