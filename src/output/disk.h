/* What POSIX of 2008 has no word for: locks that belong to an open file and not to a process, and
 * one flush for all of a file system. */
#ifndef TL_OUTPUT_DISK_H
#define TL_OUTPUT_DISK_H

#include <stdbool.h>

/* Locks of an open file, held until it is closed, against other processes and against others of
 * this one. 0: locked, or this file system knows no locks; EAGAIN: somebody else has it. */
int tl_disk_lock_file(int fd); /* must be open for writing */
int tl_disk_lock_folder(int fd);

/* The process that holds the lock of a folder; 0: cannot be told. */
long tl_disk_folder_holder(int fd);

/* Whether tl_disk_sync_all is as good as a flush of each file: on local file systems of Linux 5.8
 * and later, which tell of errors too. */
bool tl_disk_syncs_all(int fd);

/* Flushes all that was written to the file system that fd is on. 0 or errno; ENOSYS: there is no
 * such call here. */
int tl_disk_sync_all(int fd);

#endif
