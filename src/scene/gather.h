/* Mistakes that only the world can see (a flat hull, a mesh that is not there, a fill that does not
 * fit): put down one by one while a scene is built, told together. */
#ifndef TL_SCENE_GATHER_H
#define TL_SCENE_GATHER_H

#include "scene/text.h"

typedef struct tl_gather {
  tl_text text;
  size_t count, shown;
  talus_status status; /* of the first */
} tl_gather;

/* Puts down the last message where `status` is a failure, so that the next entry has its turn:
 * TALUS_OK, or TALUS_ERROR_MEMORY, with which nothing goes on. */
talus_status tl_gather_add(tl_gather *gather, talus_status status);

/* TALUS_OK where nothing was put down; else the first one's status with all as the message, one
 * below the other. Frees what is held, in every case: `status` is handed through if it is a
 * failure. A file that cannot be read is a mistake of the scene that names it: TALUS_ERROR_FORMAT.
 */
talus_status tl_gather_end(tl_gather *gather, talus_status status);

#endif
