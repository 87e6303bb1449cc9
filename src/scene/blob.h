/* Numbers to the bytes of a blob (output/output.h) and back: 64 bits each, the lowest byte first.
 */
#ifndef TL_SCENE_BLOB_H
#define TL_SCENE_BLOB_H

#include "output/output.h"
#include "scene/text.h"

static inline void tl_blob_put(tl_text *text, uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i)
    bytes[i] = (char)(unsigned char)(value >> (8 * i));
  tl_text_add_bytes(text, bytes, sizeof bytes);
}

typedef struct tl_blob_reader {
  const tl_blob *blob;
  size_t at;
  bool is_short; /* asked for more than there is */
} tl_blob_reader;

static inline uint64_t tl_blob_get(tl_blob_reader *reader) {
  uint64_t value = 0;
  if (reader->blob->size - reader->at < 8) {
    reader->is_short = true;
    return 0;
  }
  for (int i = 0; i < 8; ++i)
    value |= (uint64_t)reader->blob->data[reader->at++] << (8 * i);
  return value;
}

#endif
