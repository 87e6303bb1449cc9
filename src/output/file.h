/* Whole files, written so that a reader never sees half of one: the one writer of the library and
 * of every command.
 *
 * A plain file is written aside as PATH.part, flushed to the disk and renamed, and its folder is
 * flushed. PATH.part is always made new (O_EXCL, O_NOFOLLOW) and locked while it is written; what
 * a killed process left there is removed first, a link or anything else that is no plain file is
 * not. A device or a FIFO is written through, as it comes: a rename would replace it. A disk (block
 * device) is refused. */
#ifndef TL_OUTPUT_FILE_H
#define TL_OUTPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

typedef struct tl_file {
  int fd;     /* what is to be in the file goes here; -1: none */
  int folder; /* where the path begins: an open folder of our own, or AT_FDCWD */
  size_t skip;
  char *name; /* as the caller calls it, for messages */
  char *path; /* where it will be: the name without its first `skip` bytes, links resolved */
  char *part; /* where it is until then; NULL: written through */
  size_t bytes;
} tl_file;

/* Whose name the path is. A user's name may be a device, a FIFO or a link; the target of a link is
 * written, as by a shell's >. Our own folders contain none of these: a link is replaced and not
 * followed, and anything else that is no plain file is refused. Paths of own files are relative to
 * the open folder, so they stay in it even if it is renamed; `skip` is the length of its name and
 * the slash. */
tl_file tl_file_given(void);
tl_file tl_file_own(int folder, size_t skip);

/* Begins a file of one of the two kinds above. Every file ends with tl_file_end, tl_file_place or
 * tl_file_drop; after a failure there is nothing to end. */
talus_status tl_file_begin(tl_file *file, const char *name);
talus_status tl_file_put(tl_file *file, const void *data, size_t bytes);
/* A stream of its own, for fprintf; fclose it (and look what it says) before the end. */
talus_status tl_file_stream(tl_file *file, FILE **stream);
/* If `status` is TALUS_OK, flushes, renames and flushes the folder; otherwise PATH stays as it was.
 * PATH.part is removed in any case. */
talus_status tl_file_end(tl_file *file, talus_status status);

/* The same in separate steps, for many files that share their flushes: first the bytes, then the
 * name. A file that is not placed is dropped. The caller flushes the folder. */
talus_status tl_file_sync(tl_file *file);
talus_status tl_file_place(tl_file *file);
void tl_file_drop(tl_file *file);

/* All of it in one call. */
talus_status tl_file_write(tl_file file, const char *path, const void *data, size_t bytes);

/* Flushes the folder that `path` is in, so that the name survives a power cut. */
talus_status tl_file_sync_name(const char *path);
/* Flushes an open folder, so that its names survive a power cut; `name` is for the message. */
talus_status tl_folder_sync(int folder, const char *name);

/* TALUS_ERROR_IO with errno in words: "PATH: could not be DONE: why, and what helps". */
talus_status tl_file_fail(int error, const char *path, const char *done);

#endif
