/* Tables of motions from bytes: what talus_table_read does once it has the file. */
#ifndef TL_MOTION_FILE_H
#define TL_MOTION_FILE_H

#include "base/memory.h"
#include <talus/talus.h>

typedef TL_ARRAY(double) tl_motion_values;

/* `path` stands in messages. On failure there are no values. */
talus_status tl_motion_parse(const char *path, const char *bytes, size_t n,
                             tl_motion_values *values, talus_motion_table *kind);

#endif
