/* Numbers of the HDF5 file format that both the writer and the reader need. Sections are those of
 * the "HDF5 File Format Specification Version 3.0". */
#ifndef TL_OUTPUT_H5_FORMAT_H
#define TL_OUTPUT_H5_FORMAT_H

#include "output/h5.h"

#if TALUS_HAVE_HDF5

#define TL_H5_SIGNATURE        "\x89HDF\r\n\x1a\n"
#define TL_H5_SIGNATURE_BYTES  8
#define TL_H5_SUPERBLOCK_BYTES 48         /* II.A, version 2 */
#define TL_H5_NOWHERE          UINT64_MAX /* "undefined address" */

/* Header messages, IV.A.2. */
enum {
  TL_H5_SPACE = 0x01,
  TL_H5_LINK_INFO = 0x02,
  TL_H5_DATATYPE = 0x03,
  TL_H5_FILL = 0x05,
  TL_H5_LINK = 0x06,
  TL_H5_EXTERNAL = 0x07,
  TL_H5_LAYOUT = 0x08,
  TL_H5_GROUP_INFO = 0x0a,
  TL_H5_FILTERS = 0x0b,
  TL_H5_ATTRIBUTE = 0x0c,
  TL_H5_CONTINUATION = 0x10,
  TL_H5_ATTRIBUTE_INFO = 0x15,
  TL_H5_REFERENCES = 0x16
};

/* The message of a datatype (IV.A.2.d) in `to`: its bytes. */
#define TL_H5_DATATYPE_MOST 20
size_t tl_h5_encode_type(unsigned char to[TL_H5_DATATYPE_MOST], tl_h5_type type);

/* Little-endian numbers of `bytes` bytes. */
static inline void tl_h5_put(unsigned char *to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t tl_h5_get(const unsigned char *from, int bytes) {
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | from[i];
  return value;
}

#endif
#endif
