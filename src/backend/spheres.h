/* Contacts of spheres on a device. */
#ifndef TL_BACKEND_SPHERES_H
#define TL_BACKEND_SPHERES_H

#include <talus/detect.h>

#include "backend/device.h"
#include "base/memory.h"
#include "backend/thread/spheres.h"

/* The blocks of one caller, kept from call to call. */
typedef struct tl_device_spheres {
  tl_device_block rows, sorted, looks, fixed, parts, keys[2], slots[2], ends, found, counts, kept,
      starts, heads, owners, others, runs, contacts;
} tl_device_spheres;

/* What is asked. Arrays of the host. */
typedef struct tl_spheres_asked {
  const tl_thread_ball *rows;
  const uint8_t *fixed; /* NULL: none is */
  size_t count;
  double period[3], low[3]; /* m; 0: not periodic */
  double margin;            /* m: of a pair */
} tl_spheres_asked;

typedef struct tl_spheres_times {
  double sort_ms, search_ms, write_ms; /* by cell; who touches whom; contacts in order */
  uint32_t levels;
  uint64_t cells;
} tl_spheres_times;

void tl_device_spheres_free(tl_device *device, tl_device_spheres *blocks);

/* Finds them; they stay on the device (blocks->contacts). */
talus_status tl_device_find_contacts(tl_device *device, tl_device_spheres *blocks,
                                     const tl_spheres_asked *asked, size_t *count,
                                     tl_spheres_times *times);

#endif
