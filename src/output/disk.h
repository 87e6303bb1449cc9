/* What POSIX 2008 lacks: locks that belong to an open file instead of a process, and one flush for
 * a whole file system. */
#ifndef TL_OUTPUT_DISK_H
#define TL_OUTPUT_DISK_H

#include <stdbool.h>

/* Locks an open file until it is closed, against other processes and against other open files of
 * this process. 0: locked, or this file system has no locks; EAGAIN: another one has the lock. */
int tl_disk_lock_file(int fd); /* must be open for writing */
int tl_disk_lock_folder(int fd);

/* The process that holds the lock of a folder; 0 if unknown. */
long tl_disk_folder_holder(int fd);

/* Whether tl_disk_sync_all is as good as a flush of each file: on local file systems of Linux 5.8
 * and later, which tell of errors too. */
bool tl_disk_syncs_all(int fd);

/* Flushes all that was written to the file system that fd is on. 0 or errno; ENOSYS: there is no
 * such call here. */
int tl_disk_sync_all(int fd);

#endif
