/* Mistakes that show only when the world is built (a flat hull, a missing mesh, a fill that does
 * not fit). They are collected one by one and reported together. */
#ifndef TL_SCENE_GATHER_H
#define TL_SCENE_GATHER_H

#include "scene/text.h"

typedef struct tl_gather {
  tl_text text;
  size_t count, shown;
  talus_status status; /* of the first */
} tl_gather;

/* Keeps the last message if `status` is a failure, so that building continues with the next entry.
 * Returns TALUS_OK, or TALUS_ERROR_MEMORY, after which nothing continues. */
talus_status tl_gather_add(tl_gather *gather, talus_status status);

/* TALUS_OK if nothing was kept; otherwise the status of the first mistake, with all of them as the
 * message, one per line. Always frees what is held; returns `status` itself if that is a failure. A
 * file that cannot be read is a mistake of the scene that names it: TALUS_ERROR_FORMAT. */
talus_status tl_gather_end(tl_gather *gather, talus_status status);

#endif
