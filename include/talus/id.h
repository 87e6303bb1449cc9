/* talus: handles.
 *
 * A body has two identifiers. Its uid is a 64-bit number that is never used again, not even by a
 * run that continues this one; files and contacts use it. Programs use its handle: small, quick to
 * look up, and checked, so that a handle to a removed body is refused (TALUS_ERROR_STALE) and never
 * refers to another body. */
#ifndef TALUS_ID_H
#define TALUS_ID_H

#include <talus/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A body. The zero value is no body. */
typedef struct talus_body {
  uint32_t index;      /* 1-based row of the world's handle table */
  uint32_t generation; /* how often that row was used before */
} talus_body;

/* A joint. Its uid is never used again; the zero value is no joint. */
typedef struct talus_joint {
  uint64_t uid;
} talus_joint;

/* Shapes, materials and groups are shared tables that only grow: their handles are row numbers. */
typedef struct talus_shape {
  uint32_t index;
} talus_shape;

typedef struct talus_material {
  uint32_t index;
} talus_material;

#ifdef __cplusplus
}
#endif
#endif
