/* Whole files, written so that a reader never sees half of one. */
#ifndef TL_OUTPUT_FILE_H
#define TL_OUTPUT_FILE_H

#include <stddef.h>

#include "base/status.h"

/* Writes `bytes` bytes to `path`: aside as PATH.part, flushed to the disk, renamed, and the folder
 * flushed. After a failure PATH is what it was before, PATH.part is gone, and the message says why.
 * A PATH.part left by a killed process is overwritten by the next write of the same file. */
talus_status tl_file_write(const char *path, const void *data, size_t bytes);

/* TALUS_ERROR_IO with errno in words: "PATH: could not be DONE: why, and what helps". */
talus_status tl_file_fail(int error, const char *path, const char *done);

#endif
