#include "output/h5_format.h"

#if TALUS_HAVE_HDF5

#include <string.h>

size_t tl_h5_size(tl_h5_type type) {
  static const size_t size[] = {[TL_H5_U8] = 1,  [TL_H5_I32] = 4, [TL_H5_U32] = 4, [TL_H5_I64] = 8,
                                [TL_H5_U64] = 8, [TL_H5_F32] = 4, [TL_H5_F64] = 8};
  return size[type];
}

/* The first byte is the version of the message (1) and the class: 0 for integers, 1 for floats. */
size_t tl_h5_encode_type(unsigned char to[TL_H5_DATATYPE_MOST], tl_h5_type type) {
  const unsigned bits = 8 * (unsigned)tl_h5_size(type);
  const bool is_float = type == TL_H5_F32 || type == TL_H5_F64;
  const bool is_signed = type == TL_H5_I32 || type == TL_H5_I64;
  memset(to, 0, TL_H5_DATATYPE_MOST);
  to[0] = is_float ? 0x11 : 0x10;
  to[1] = is_float ? 0x20 : is_signed ? 0x08 : 0; /* 0x20: the first bit of a mantissa is implied */
  to[2] = is_float ? (unsigned char)(bits - 1) : 0; /* where the sign is */
  tl_h5_put(to + 4, bits / 8, 4);
  tl_h5_put(to + 10, bits, 2); /* of precision, from bit 0 on */
  if (!is_float)
    return 12;
  const bool is_double = type == TL_H5_F64;
  to[12] = is_double ? 52 : 23; /* where the exponent is, and its bits */
  to[13] = is_double ? 11 : 8;
  to[15] = is_double ? 52 : 23; /* bits of the mantissa, from bit 0 on */
  tl_h5_put(to + 16, is_double ? 1023 : 127, 4);
  return 20;
}

#endif
