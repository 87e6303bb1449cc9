/* Contacts of spheres on a device. */
#ifndef TL_BACKEND_SPHERES_H
#define TL_BACKEND_SPHERES_H

#include <talus/detect.h>

#include "backend/device.h"
#include "base/memory.h"
#include "backend/thread/corners.h"
#include "backend/thread/lent.h"
#include "backend/thread/spheres.h"

/* The blocks of one caller, kept from call to call. */
typedef struct tl_device_spheres {
  tl_device_block levels, planes, rows, odd, looks, fixed, parts, measured, keys[2], slots[2], ends,
      used, longer, runs, owners, others, spare[2], contacts, corners, starts, lists[2], places[2],
      list_ends, loads[2], bins[2];
} tl_device_spheres;

/* Gets `count` contacts, which are on the device. */
typedef talus_status tl_take_contacts(void *context, const talus_row_contact *contacts,
                                      size_t count);

/* Arguments. Arrays of the host. */
typedef struct tl_spheres_asked {
  const tl_thread_ball *rows;
  const uint8_t *fixed; /* NULL: no body is fixed */
  size_t count;
  double period[3], low[3]; /* m; 0: not periodic */
  double margin;            /* m: of a pair */
  bool by_cells;            /* by rounded cells, not by bins; count is less than TL_CORNER_ROWS */
  bool as_published;        /* by the published bins: the same bound, and no planes */
  /* Rows with a negative radius are these planes, in the same order. */
  const tl_thread_plane *planes;
  size_t plane_count;
  bool is_there;  /* rows, fixed and planes are already in the blocks of the device; */
  bool has_fixed; /* then: some bodies are fixed */
  /* Instead of rows and fixed: arrays of the caller on the device. No planes. */
  const tl_lent_spheres *lent;
  /* More than 1: contacts are written in so many turns, each into the same block, and handed to
   * `take`, in canonical order. take: NULL: all at once. */
  size_t pieces;
  tl_take_contacts *take;
  void *context;
} tl_spheres_asked;

#define TL_PUBLISHED_STAGES 10

typedef struct tl_spheres_times {
  /* sorting by cell; searching pairs; writing contacts in order */
  double sort_ms, search_ms, write_ms;
  uint32_t levels;
  uint64_t cells;
  bool has_stages; /* those of the published bins: */
  double stage_ms[TL_PUBLISHED_STAGES];
  bool is_odd; /* lent rows have numbers that the host must look at: nothing was searched */
} tl_spheres_times;

void tl_device_spheres_free(tl_device *device, tl_device_spheres *blocks);

/* Marks of time. */
enum { TL_MARK_BEGUN, TL_MARK_SORTED, TL_MARK_FOUND, TL_MARK_WRITTEN, TL_MARK_STAGES };

/* Finds pairs that touch, in canonical order: blocks->owners and others; planes with the bodies
 * that may reach them. Times are read with tl_device_tell. */
talus_status tl_device_find_near(tl_device *device, tl_device_spheres *blocks,
                                 const tl_spheres_asked *asked, tl_thread_search *search,
                                 size_t *pairs, tl_spheres_times *times);

/* Lists each body in every cell that it reaches, sorted by cell: search->lists. is_timed: marks the
 * first four stages of the published bins. */
talus_status tl_device_list_bodies(tl_device *device, tl_device_spheres *blocks, uint64_t cells,
                                   bool is_timed, tl_thread_search *search);

/* The list of pairs, in any order, by the published bins (published.c). */
talus_status tl_device_list_published(tl_device *device, tl_device_spheres *blocks, uint64_t cells,
                                      tl_thread_search *search, size_t *pairs);

/* Waits for the device; returns times. */
talus_status tl_device_tell(tl_device *device, tl_spheres_times *times);

/* Makes room for n elements; the old content is lost. */
talus_status tl_device_reserve(tl_device *device, tl_device_block *block, size_t n, size_t size);

/* The same for contacts, of which each turn has n. If there is no memory, and somebody takes
 * pieces, the message says how many would do. */
talus_status tl_device_reserve_contacts(tl_device *device, tl_device_spheres *blocks,
                                        const tl_spheres_asked *asked, size_t n);

#define TL_DEVICE_RESERVE(block, n, type)                                                          \
  TL_TRY(tl_device_reserve(device, &(block), (n), sizeof(type)))
#define TL_DEVICE_LAUNCH(name, task, n)                                                            \
  TL_TRY(device->calls->launch(device, TL_TASK_##name, &(task), (n)))

/* Finds the contacts; they stay on the device (blocks->contacts), unless they are taken in pieces.
 * No planes. */
talus_status tl_device_find_contacts(tl_device *device, tl_device_spheres *blocks,
                                     const tl_spheres_asked *asked, size_t *count,
                                     tl_spheres_times *times);

#endif
