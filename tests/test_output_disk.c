/* Disks that are full, read-only or not there: a message, no partial file, the old file intact. */
#define _GNU_SOURCE /* unshare */

#include "output_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/file.h"

static void check_fails(talus_status status, const char *why) {
  CHECK(status == TALUS_ERROR_IO);
  CHECK_MSG(strstr(talus_last_error(), why) != NULL, "expected '%s' in: %s", why,
            talus_last_error());
}

static void check_content(const char *path, const char *text) {
  bytes file = read_bytes(path);
  CHECK(file.size == strlen(text) && memcmp(file.data, text, file.size) == 0);
  free(file.data);
}

/* ---- files ----------------------------------------------------------------------------------- */

TEST(a_file_is_written_and_replaced) {
  CHECK_OK(tl_file_write(tl_file_given(), "plain.txt", "first", 5));
  check_content("plain.txt", "first");
  CHECK_OK(tl_file_write(tl_file_given(), "./plain.txt", "second one", 10));
  check_content("plain.txt", "second one");
  CHECK_OK(tl_file_write(tl_file_given(), "plain.txt", NULL, 0));
  check_content("plain.txt", "");
  CHECK(!exists("plain.txt.part"));
}

TEST(what_a_killed_process_left_is_overwritten) {
  write_bytes("left.txt.part", (const unsigned char *)"half of some", 12);
  CHECK_OK(tl_file_write(tl_file_given(), "left.txt", "new", 3));
  check_content("left.txt", "new");
  CHECK(!exists("left.txt.part"));
}

TEST(places_where_no_file_can_be_are_named) {
  CHECK(tl_file_write(tl_file_given(), "", "x", 1) == TALUS_ERROR_INVALID);
  CHECK(tl_file_write(tl_file_given(), NULL, "x", 1) == TALUS_ERROR_INVALID);
  check_fails(tl_file_write(tl_file_given(), "nowhere/file.txt", "x", 1),
              "no folder 'nowhere'; make it first");
  check_fails(tl_file_write(tl_file_given(), "/nowhere-at-all/a/file.txt", "x", 1),
              "'/nowhere-at-all/a'");
  mkdir("folder.hdf", 0777);
  check_fails(tl_file_write(tl_file_given(), "folder.hdf", "x", 1), "it is a folder");
  write_bytes("plain.hdf", (const unsigned char *)"x", 1);
  check_fails(tl_file_write(tl_file_given(), "plain.hdf/file.txt", "x", 1), "not a folder");
  char name[600];
  memset(name, 'n', sizeof name);
  name[sizeof name - 1] = '\0';
  check_fails(tl_file_write(tl_file_given(), name, "x", 1), "too long");
}

/* ---- what is no plain file ------------------------------------------------------------------- */

/* As if this were a result folder; stays open. */
static tl_file own(void) {
  static int folder = -1;
  if (folder < 0)
    folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  CHECK(folder >= 0);
  return tl_file_own(folder, 0);
}

/* A child that copies what it reads from a FIFO into a file. */
static pid_t copy_from(const char *pipe, const char *to) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    FILE *in = fopen(pipe, "rb"), *out = fopen(to, "wb");
    for (int c; in && out && (c = fgetc(in)) != EOF;)
      fputc(c, out);
    _exit(in && out && fclose(out) == 0 ? 0 : 1);
  }
  return child;
}

TEST(a_fifo_is_written_through_and_stays) {
  int status;
  struct stat info;
  remove("pipe.hdf");
  CHECK(mkfifo("pipe.hdf", 0666) == 0);
  const pid_t child = copy_from("pipe.hdf", "piped.txt");
  CHECK_OK(tl_file_write(tl_file_given(), "pipe.hdf", "as it comes", 11));
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  check_content("piped.txt", "as it comes");
  CHECK(stat("pipe.hdf", &info) == 0 && S_ISFIFO(info.st_mode));
  CHECK(!exists("pipe.hdf.part"));
  check_fails(tl_file_write(own(), "pipe.hdf", "x", 1), "not a plain file");
}

TEST(a_device_is_written_through_and_a_disk_is_refused) {
  struct stat info;
  remove("null"), remove("disk.hdf");
  if (mknod("null", S_IFCHR | 0666, makedev(1, 3)) != 0 ||
      mknod("disk.hdf", S_IFBLK | 0666, makedev(7, 200)) != 0)
    SKIP("only root makes devices");
  CHECK_OK(tl_file_write(tl_file_given(), "null", "gone", 4));
  CHECK(stat("null", &info) == 0 && S_ISCHR(info.st_mode) && !exists("null.part"));
  remove("to-null");
  CHECK(symlink("null", "to-null") == 0);
  CHECK_OK(tl_file_write(tl_file_given(), "to-null", "gone", 4));
  CHECK(lstat("to-null", &info) == 0 && S_ISLNK(info.st_mode));
  CHECK(stat("null", &info) == 0 && S_ISCHR(info.st_mode));
  check_fails(tl_file_write(own(), "null", "x", 1), "not a plain file");
  check_fails(tl_file_write(tl_file_given(), "disk.hdf", "x", 1), "a disk");
}

TEST(a_link_at_the_name_aside_is_neither_followed_nor_removed) {
  write_bytes("thesis.txt", (const unsigned char *)"mine", 4);
  remove("trap.txt.part"), remove("trap.txt");
  CHECK(symlink("thesis.txt", "trap.txt.part") == 0);
  check_fails(tl_file_write(tl_file_given(), "trap.txt", "new", 3), "trap.txt.part");
  check_content("thesis.txt", "mine");
  struct stat info;
  CHECK(lstat("trap.txt.part", &info) == 0 && S_ISLNK(info.st_mode) && !exists("trap.txt"));
}

TEST(a_link_that_somebody_gave_stays_and_its_file_is_replaced_with_its_rights) {
  struct stat info;
  mkdir("elsewhere", 0777);
  remove("elsewhere/real.txt"), remove("link.txt");
  write_bytes("elsewhere/real.txt", (const unsigned char *)"old", 3);
  CHECK(chmod("elsewhere/real.txt", 0600) == 0);
  CHECK(symlink("elsewhere/real.txt", "link.txt") == 0);
  CHECK_OK(tl_file_write(tl_file_given(), "link.txt", "new", 3));
  CHECK(lstat("link.txt", &info) == 0 && S_ISLNK(info.st_mode));
  CHECK(stat("elsewhere/real.txt", &info) == 0 && (info.st_mode & 0777) == 0600);
  check_content("elsewhere/real.txt", "new");
  /* In a folder of our own it is replaced, and what it points at stays. */
  CHECK_OK(tl_file_write(own(), "link.txt", "ours", 4));
  CHECK(lstat("link.txt", &info) == 0 && S_ISREG(info.st_mode));
  check_content("elsewhere/real.txt", "new");
  remove("nowhere.txt");
  CHECK(symlink("no-such-file", "nowhere.txt") == 0);
  check_fails(tl_file_write(tl_file_given(), "nowhere.txt", "x", 1), "a link to what is not there");
}

TEST(two_writers_of_one_file_do_not_mix) {
  tl_file first = tl_file_given();
  CHECK_OK(tl_file_begin(&first, "shared.txt"));
  CHECK_OK(tl_file_put(&first, "fir", 3));
  check_fails(tl_file_write(tl_file_given(), "shared.txt", "second", 6), "another process");
  CHECK_OK(tl_file_put(&first, "st", 2));
  CHECK_OK(tl_file_end(&first, TALUS_OK));
  check_content("shared.txt", "first");
}

TEST(a_folder_without_write_permission_is_named) {
  if (geteuid() == 0)
    SKIP("root may write everywhere");
  mkdir("locked", 0555);
  check_fails(tl_file_write(tl_file_given(), "locked/file.txt", "x", 1), "permission denied");
}

/* The process may not write files beyond a size: write(2) fails half-way, as on a full disk. */
TEST(a_write_that_fails_half_way_leaves_the_old_file) {
  static char large[1 << 16];
  CHECK_OK(tl_file_write(tl_file_given(), "limit.txt", "old", 3));
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, tight;
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  tight = (struct rlimit){4096, before.rlim_max};
  CHECK(setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const talus_status status = tl_file_write(tl_file_given(), "limit.txt", large, sizeof large);
  setrlimit(RLIMIT_FSIZE, &before);
  check_fails(status, "larger than");
  check_content("limit.txt", "old");
  CHECK(!exists("limit.txt.part"));
}

/* ---- a full disk ----------------------------------------------------------------------------- */

#if TALUS_HAVE_HDF5

/* In a child with mounts of its own, so that nothing is left behind. */
static bool mount_small_disk(const char *folder) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0)
    return false;
  if (user != 0) {
    char map[64];
    FILE *file;
    if ((file = fopen("/proc/self/setgroups", "w")))
      fputs("deny", file), fclose(file);
    snprintf(map, sizeof map, "0 %u 1", (unsigned)group);
    if ((file = fopen("/proc/self/gid_map", "w")))
      fputs(map, file), fclose(file);
    snprintf(map, sizeof map, "0 %u 1", (unsigned)user);
    if ((file = fopen("/proc/self/uid_map", "w")))
      fputs(map, file), fclose(file);
  }
  return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("tmpfs", folder, "tmpfs", 0, "size=40k") == 0;
}

static int count_files(const char *folder) {
  DIR *dir = opendir(folder);
  int n = 0;
  for (const struct dirent *entry; dir && (entry = readdir(dir));)
    n += entry->d_name[0] != '.';
  closedir(dir);
  return n;
}

/* 0, or the number of the check that failed. */
static int use_small_disk(talus_world *world) {
  if (talus_world_write_frame(world, "disk/000000.hdf") != TALUS_OK)
    return 1;
  if (talus_world_save(world, "disk/checkpoint.hdf") != TALUS_ERROR_IO)
    return 2;
  if (!strstr(talus_last_error(), "disk/checkpoint.hdf: could not be written: the disk is full"))
    return 3;
  if (count_files("disk") != 1)
    return 4;
  if (talus_world_write_frame(world, "disk/000001.hdf") != TALUS_OK)
    return 5; /* there is room again for what fits */
  bytes first = read_bytes("disk/000000.hdf"), second = read_bytes("disk/000001.hdf");
  if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0)
    return 6;
  free(first.data), free(second.data);
  if (mount("tmpfs", "disk", "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) != 0)
    return 7;
  if (talus_world_write_contacts(world, "disk/contacts.hdf") != TALUS_ERROR_IO ||
      !strstr(talus_last_error(), "read-only"))
    return 8;
  return count_files("disk") == 2 ? 0 : 9;
}

TEST(a_full_disk_is_reported_and_leaves_earlier_files) {
  rich r = make_rich();
  mkdir("disk", 0777);
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    if (!mount_small_disk("disk"))
      _exit(77);
    const int failed = use_small_disk(r.world);
    if (failed)
      printf("  check %d: %s\n", failed, talus_last_error()), fflush(stdout);
    _exit(failed);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  talus_world_destroy(r.world);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    SKIP("this system lets nobody mount a small disk");
  CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

TEST(a_frame_that_cannot_be_written_leaves_nothing_and_the_process_goes_on) {
  rich r = make_rich();
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before;
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const struct rlimit tight = {4096, before.rlim_max};
  for (int i = 0; i < 20; ++i) {
    CHECK(setrlimit(RLIMIT_FSIZE, &tight) == 0);
    const talus_status frame = talus_world_write_frame(r.world, "cut.hdf");
    const talus_status save = talus_world_save(r.world, "cut-too.hdf");
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(frame == TALUS_ERROR_IO && save == TALUS_ERROR_IO);
    CHECK(!exists("cut.hdf") && !exists("cut.hdf.part"));
    CHECK(!exists("cut-too.hdf") && !exists("cut-too.hdf.part"));
  }
  CHECK_OK(talus_world_write_frame(r.world, "whole.hdf"));
  CHECK_OK(talus_world_save(r.world, "whole-too.hdf"));
  talus_world_destroy(r.world);
}

#else

TEST(without_hdf5_the_calls_say_what_to_install) {
  const talus_world_def def = talus_world_def_default();
  talus_world *world, *loaded;
  CHECK_OK(talus_world_create(&def, &world));
  CHECK(talus_world_save(world, "x.hdf") == TALUS_ERROR_UNSUPPORTED);
  CHECK(strstr(talus_last_error(), "libhdf5-dev"));
  CHECK(talus_world_load("x.hdf", &loaded) == TALUS_ERROR_UNSUPPORTED && loaded == NULL);
  CHECK(talus_world_write_frame(world, "x.hdf") == TALUS_ERROR_UNSUPPORTED);
  CHECK(talus_world_write_contacts(world, "x.hdf") == TALUS_ERROR_UNSUPPORTED);
  talus_world_destroy(world);
}

#endif

TEST_MAIN()
