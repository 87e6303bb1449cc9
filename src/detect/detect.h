/* Detection without a world: between detect.c (the calls) and detect/bodies.c (arrays to a model).
 */
#ifndef TL_DETECT_H
#define TL_DETECT_H

#include <talus/detect.h>

#include "backend/boxes.h"
#include "backend/shapes.h"
#include "contact/contact.h"
#include "crowd/crowd.h"
#include "narrow/narrow.h"

/* What a shape was made of: whatever hashes to the same is not made again. */
typedef struct tl_detect_print {
  uint64_t half[2];
} tl_detect_print;

/* What stages need of a world, made anew from the caller's arrays by each call, but for shapes that
 * have not changed; all but the shapes and the results is in the arena. */
struct talus_detector {
  talus_detect_def def;
  tl_arena arena;
  tl_model model;
  tl_state state; /* positions and rotations, only for contacts */
  tl_contacts found;
  tl_narrow_counts counts; /* of the call in progress */
  TL_ARRAY(talus_row_contact) contacts;
  TL_ARRAY(tl_detect_print) prints; /* of the shapes */
  tl_device *device;                /* NULL: none was needed yet */
  tl_device_spheres blocks;
  tl_device_shapes shape_blocks;
  tl_device_boxes box_blocks;
  TL_ARRAY(tl_device_block) rooms; /* of the caller */
  tl_device_counters before;       /* what the device had counted before the call in progress */
};

/* Rows have 32-bit numbers; the broad phases use one bit of them. */
#define TL_DETECT_MOST_ROWS ((size_t)1 << 31)

/* The shape with an arbitrary mass if computing its own takes long. */
talus_shape_def tl_detect_massless(const talus_shape_def *def);

/* Checks the arrays and makes the tables of the model: shapes, and what excludes pairs; with
 * `poses` also the data for the narrow phase. */
talus_status tl_detect_load(talus_detector *detector, const talus_detect_bodies *bodies,
                            bool poses);

/* The box of a row, grown by half the margin. */
talus_box tl_detect_box(const talus_detector *detector, const talus_detect_bodies *bodies,
                        size_t row);

/* Boxes of all rows. With `room` they are enlarged by the rounding errors of the narrow phase, so
 * that no contact exactly at the margin is missed. */
talus_status tl_detect_find_boxes(const talus_detector *detector, const talus_detect_bodies *bodies,
                                  bool room, talus_box *boxes);

/* Finds contacts on a device and fills its part of *stats. *done is false if the CPU must do it:
 * stats->fallback says why. */
talus_status tl_detect_on_device(talus_detector *detector, const talus_detect_bodies *bodies,
                                 talus_detect_stats *stats, bool *done);

/* Finds pairs of boxes (one for each row of the model) on a device, in order, in the arena, and
 * fills its part of *stats; *done is false on the CPU. */
talus_status tl_detect_pairs_on_device(talus_detector *detector, const talus_box *boxes,
                                       tl_pairs *pairs, talus_detect_stats *stats, bool *done);
talus_status tl_detect_open_device(talus_detector *detector); /* unless it is open */
void tl_detect_close_device(talus_detector *detector);

static inline bool tl_detect_is_lent(const talus_detector *detector) {
  return detector->def.memory == TALUS_ON_DEVICE;
}

/* Contacts of spheres in arrays on the device, which stay there; *done is false if the host must
 * look at them first. */
talus_status tl_detect_lent_contacts(talus_detector *detector, const talus_detect_bodies *bodies,
                                     talus_detect_stats *stats, bool *done);

/* Copies arrays from the device into the arena, or `rows` of the host to a block of the device. */
talus_status tl_detect_bring_bodies(talus_detector *detector, const talus_detect_bodies *bodies,
                                    talus_detect_bodies *home);
talus_status tl_detect_bring(talus_detector *detector, const void *from, size_t bytes, void **to);
talus_status tl_detect_send(talus_detector *detector, const void *rows, size_t bytes,
                            tl_device_block *block);

/* Copies of this call so far. */
void tl_detect_count_moves(const talus_detector *detector, talus_detect_stats *stats);

/* Fails if a row is longer than half a period, which the narrow phase does not support. */
talus_status tl_detect_check_period(const talus_detector *detector, const talus_box *boxes);

#endif
