/* Files of HDF5's format, written and read without its library.
 *
 * What talus needs of that format is little: groups, datasets in one piece, attributes of groups,
 * second names. It is laid down in the "HDF5 File Format Specification Version 3.0" (superblock 2,
 * object headers 2, links in the headers of their groups), which HDF5 1.8 and later read. The
 * library itself is not used, for it kills the process where memory runs out, and where a file was
 * made to do so; here every allocation is tl_resize, and every number of a file is looked at before
 * it is used. Equal content makes equal files.
 *
 * Files are made in memory and then written whole (file.h). */
#ifndef TL_OUTPUT_H5_H
#define TL_OUTPUT_H5_H

#include "output/file.h"

#if TALUS_HAVE_HDF5

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* Scalars of a dataset; little-endian in the file. */
typedef enum tl_h5_type {
  TL_H5_U8,
  TL_H5_I32,
  TL_H5_U32,
  TL_H5_I64,
  TL_H5_U64,
  TL_H5_F32,
  TL_H5_F64
} tl_h5_type;

#if TALUS_SINGLE
#define TL_H5_REAL TL_H5_F32
#else
#define TL_H5_REAL TL_H5_F64
#endif

size_t tl_h5_size(tl_h5_type type);

/* ---- writing --------------------------------------------------------------------------------- */

/* A group, a dataset, or a second name of a dataset (h5_write.c). */
typedef struct tl_h5_node tl_h5_node;

/* An attribute of a group: its message, in `messages` of the file. */
typedef struct tl_h5_attribute_place {
  size_t group, at, bytes;
} tl_h5_attribute_place;

typedef struct tl_h5_out {
  TL_ARRAY(unsigned char) image;
  TL_ARRAY(tl_h5_node) nodes; /* the root first, groups before what is in them */
  TL_ARRAY(char) names;
  TL_ARRAY(unsigned char) messages;
  TL_ARRAY(tl_h5_attribute_place) attributes;
  size_t user_block;
} tl_h5_out;

/* An empty file in memory. `expected` bytes is a guess that saves copying; the first `user_block`
 * bytes (0, or a power of 2 from 512 on) are left to the caller. Ends with tl_h5_finish. */
talus_status tl_h5_create(tl_h5_out *out, size_t expected, size_t user_block);

/* May fill in the user block: `image` is the whole file. */
typedef void tl_h5_seal_fn(unsigned char *image, size_t bytes);

/* Where `status` is TALUS_OK writes the file to `path`, or hands it to `keep` (output.h); releases
 * everything else in any case. */
talus_status tl_h5_finish(tl_h5_out *out, talus_status status, const char *path, tl_file *keep,
                          tl_h5_seal_fn *seal);

talus_status tl_h5_group(tl_h5_out *out, const char *name);

/* A dataset of rows x columns (rank 1 where columns is 1); its group must be there. */
talus_status tl_h5_write(tl_h5_out *out, const char *name, tl_h5_type type, size_t rows,
                         size_t columns, const void *data);

/* The same of `rank` dimensions, 1 to TL_H5_RANK, the last of them fastest. */
#define TL_H5_RANK 4
talus_status tl_h5_write_shape(tl_h5_out *out, const char *name, tl_h5_type type, int rank,
                               const size_t *shape, const void *data);

/* A dataset of texts of one width, each ended by a zero; NULL is written as "". `text` is called
 * for each row. */
typedef const char *tl_h5_text_fn(const void *context, size_t row);
talus_status tl_h5_write_texts(tl_h5_out *out, const char *name, size_t rows, tl_h5_text_fn *text,
                               const void *context);

/* A second name for a dataset that is there. */
talus_status tl_h5_link(tl_h5_out *out, const char *name, const char *target);

/* Attributes of a group: n = 1 is a scalar. */
talus_status tl_h5_attribute(tl_h5_out *out, const char *group, const char *name, tl_h5_type type,
                             size_t n, const void *data);
talus_status tl_h5_attribute_text(tl_h5_out *out, const char *group, const char *name,
                                  const char *text);

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct tl_h5_message {
  unsigned type, flags;
  size_t at, size; /* of its body in `headers` */
} tl_h5_message;

/* Trusts nothing: links to elsewhere, filters, external or missing storage and sizes beyond the
 * file's are refused, so that what a dataset says it holds is at most what the file holds. Reads
 * what is written above, and what HDF5's library makes of it when it changes such a file a little;
 * not the older groups with symbol tables. */
typedef struct tl_h5_in {
  int fd;
  const char *path; /* for messages */
  uint64_t bytes;   /* of the file */
  uint64_t base;    /* where its addresses begin: behind the user block */
  uint64_t root;
  TL_ARRAY(unsigned char) headers; /* of the object last looked at */
  TL_ARRAY(tl_h5_message) messages;
} tl_h5_in;

/* `bytes` is the size of the file. Ends with tl_h5_close. */
talus_status tl_h5_open(tl_h5_in *in, const char *path, uint64_t bytes);
void tl_h5_close(tl_h5_in *in);

/* *is_there: whether there is something of that name. */
talus_status tl_h5_has(tl_h5_in *in, const char *name, bool *is_there);

/* *rows of the dataset `name`, which must have that type and number of columns. */
talus_status tl_h5_count(tl_h5_in *in, const char *name, tl_h5_type type, size_t columns,
                         size_t *rows);

/* The same, which must have `rows` rows, into `data`. */
talus_status tl_h5_read(tl_h5_in *in, const char *name, tl_h5_type type, size_t rows,
                        size_t columns, void *data);

#endif
#endif
