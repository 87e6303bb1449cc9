/* Output: worlds to files and back (HDF5). Layouts are specified in docs/formats.md. Every file is
 * written whole (file.h): it is complete or absent, never half.
 *
 * `keep` is NULL where somebody gave the path: the file is written to its end. Otherwise it is of
 * tl_file_own and gets the bytes; the caller ends it. */
#ifndef TL_OUTPUT_OUTPUT_H
#define TL_OUTPUT_OUTPUT_H

#include "output/file.h"

struct talus_world;

/* What a frame holds beside position and id. */
enum {
  TL_FRAME_QUATERNION = 1,
  TL_FRAME_VELOCITY = 2,
  TL_FRAME_SPIN = 4,
  TL_FRAME_CONTACTS = 8,  /* contacts/NNNNNN.hdf beside the frame */
  TL_FRAME_SURFACES = 16, /* surfaces/NNNNNN.hdf beside the frame */
  TL_FRAME_SHAPES = 32    /* meshes are in shapes.hdf, not in the frame */
};

/* Points and triangles of all shapes, for frames that leave meshes out. */
talus_status tl_output_write_shapes(struct talus_world *world, const char *path, tl_file *keep);

talus_status tl_output_write_frame(struct talus_world *world, const char *path, tl_file *keep,
                                   unsigned fields);
talus_status tl_output_write_contacts(struct talus_world *world, const char *path, tl_file *keep);
talus_status tl_output_write_surfaces(struct talus_world *world, const char *path, tl_file *keep);

/* Ends the interval of an average and writes its means. */
talus_status tl_output_write_average(struct talus_world *world, uint32_t average, const char *path,
                                     tl_file *keep);

/* Bytes that belong to the run and not to the world (run.c): stored in the checkpoint as they are.
 */
typedef struct tl_blob {
  unsigned char *data;
  size_t size;
} tl_blob;

/* blob may be NULL. Loading allocates *world and blob->data (free with tl_resize). */
talus_status tl_output_save(struct talus_world *world, const char *path, tl_file *keep,
                            const tl_blob *blob);
talus_status tl_output_load(const char *path, struct talus_world **world, tl_blob *blob);
/* Only the bytes; empty where the file has none. */
talus_status tl_output_load_blob(const char *path, tl_blob *blob);

#endif
