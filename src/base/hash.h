/* XXH64 (Collet; the published specification), written here so that the core has no dependency. */
#ifndef TL_BASE_HASH_H
#define TL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t tl_xxh64(const void *data, size_t bytes, uint64_t seed);

#endif
