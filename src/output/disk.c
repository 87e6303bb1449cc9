#define _GNU_SOURCE /* F_OFD_SETLK, syncfs */
#include "output/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#endif
#include <unistd.h>

/* Network file systems may have no locks, or no locks of folders: then nothing is locked. */
static int lock_error(int error) {
  return error == EACCES || error == EAGAIN || error == EWOULDBLOCK ? EAGAIN
         : error == EIO                                             ? EIO
                                                                    : 0;
}

int tl_disk_lock_file(int fd) {
#ifdef F_OFD_SETLK
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_OFD_SETLK, &whole) == 0 ? 0 : lock_error(errno);
#else
  return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : lock_error(errno);
#endif
}

/* Record locks want a file open for writing, which a folder never is; flock(2) does not, and its
 * locks belong to the open file as well. */
int tl_disk_lock_folder(int fd) {
  int done;
  do
    done = flock(fd, LOCK_EX | LOCK_NB);
  while (done != 0 && errno == EINTR);
  return done == 0 ? 0 : lock_error(errno);
}

/* Lines of /proc/locks: "12: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF". */
long tl_disk_folder_holder(int fd) {
  long holder = 0;
#ifdef __linux__
  struct stat folder;
  FILE *locks = fopen("/proc/locks", "r");
  if (!locks)
    return 0;
  char line[256];
  if (fstat(fd, &folder) == 0)
    while (holder == 0 && fgets(line, sizeof line, locks)) {
      unsigned high, low;
      unsigned long long inode;
      long process;
      if (sscanf(line, "%*u: FLOCK %*s WRITE %ld %x:%x:%llu", &process, &high, &low, &inode) == 4 &&
          high == major(folder.st_dev) && low == minor(folder.st_dev) && inode == folder.st_ino)
        holder = process > 0 ? process : 0;
    }
  fclose(locks);
#else
  (void)fd;
#endif
  return holder;
}

bool tl_disk_syncs_all(int fd) {
#ifdef __linux__
  static const unsigned long good[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                       F2FS_SUPER_MAGIC, TMPFS_MAGIC,     OVERLAYFS_SUPER_MAGIC};
  struct utsname system;
  struct statfs disk;
  int major_number, minor_number;
  if (uname(&system) != 0 || sscanf(system.release, "%d.%d", &major_number, &minor_number) != 2 ||
      major_number < 5 || (major_number == 5 && minor_number < 8) || fstatfs(fd, &disk) != 0)
    return false;
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i)
    if ((unsigned long)disk.f_type == good[i])
      return true;
#else
  (void)fd;
#endif
  return false;
}

int tl_disk_sync_all(int fd) {
#ifdef __linux__
  return syncfs(fd) == 0 ? 0 : errno;
#else
  (void)fd;
  return ENOSYS;
#endif
}
