/* The block of text in front of a checkpoint: what it is, and the checksum of all of it. */
#include "output/checkpoint.h"

#if TALUS_HAVE_HDF5

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "output/file.h"

#if TALUS_SINGLE
#define PRECISION "single"
#else
#define PRECISION "double"
#endif

#define MAGIC  "talus checkpoint\n"
#define DIGITS 16 /* of the checksum */

/* The checksum runs over pieces of this size, each seeded by the one before, so that a file need
 * not be in memory as a whole. The first piece is the text up to the checksum. */
#define PIECE ((size_t)1 << 20)

void tl_checkpoint_seal(unsigned char *image, size_t bytes) {
  char text[TL_CHECKPOINT_BLOCK] = {0};
  const int length =
      snprintf(text, sizeof text, MAGIC "format %u\nversion %s\nprecision %s\nbytes %zu\nxxh64 ",
               TL_CHECKPOINT_FORMAT, TALUS_VERSION, PRECISION, bytes);
  uint64_t hash = tl_xxh64(text, (size_t)length, 0);
  for (size_t at = TL_CHECKPOINT_BLOCK; at < bytes; at += PIECE)
    hash = tl_xxh64(image + at, bytes - at < PIECE ? bytes - at : PIECE, hash);
  snprintf(text + length, sizeof text - (size_t)length, "%016" PRIx64 "\n", hash);
  memcpy(image, text, sizeof text);
}

/* ---- reading it back ------------------------------------------------------------------------- */

typedef struct block_parts {
  unsigned format;
  char version[32], precision[16];
  uint64_t bytes, hash;
  size_t hashed; /* bytes of the text that the checksum covers */
} block_parts;

/* Reads until `bytes` are there or the file ends; *got is how many. 0 or errno. */
static int read_all(int fd, unsigned char *data, size_t bytes, size_t *got) {
  *got = 0;
  while (*got < bytes) {
    const ssize_t n = read(fd, data + *got, bytes - *got);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno;
    if (n == 0)
      break;
    *got += (size_t)n;
  }
  return 0;
}

/* Splits the text of the block into its parts; false if it is no such text. */
static bool parse_block(const char text[TL_CHECKPOINT_BLOCK + 1], block_parts *out) {
  int hashed = 0, end = 0;
  if (sscanf(text,
             MAGIC "format %9u\nversion %31s\nprecision %15s\nbytes %19" SCNu64
                   "\nxxh64 %n%16" SCNx64 "%n",
             &out->format, out->version, out->precision, &out->bytes, &hashed, &out->hash,
             &end) != 5)
    return false;
  if (end - hashed != DIGITS || text[end] != '\n')
    return false;
  for (size_t i = (size_t)end + 1; i < TL_CHECKPOINT_BLOCK; ++i)
    if (text[i] != '\0')
      return false;
  out->hashed = (size_t)hashed;
  return true;
}

static talus_status check_block(const char *path, const char text[TL_CHECKPOINT_BLOCK + 1],
                                uint64_t size, block_parts *out) {
  if (memcmp(text, MAGIC, sizeof MAGIC - 1) != 0)
    return tl_fail(TALUS_ERROR_FORMAT, "%s: is not a talus checkpoint", path);
  /* The format's number comes first, because a later format may write the rest differently. */
  unsigned format = 0;
  const bool numbered = sscanf(text, MAGIC "format %9u", &format) == 1 && format > 0;
  if (numbered && (format > TL_CHECKPOINT_FORMAT || format < TL_CHECKPOINT_OLDEST_FORMAT))
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%s: has checkpoint format %u, and this talus (%s) reads formats %d to %d; %s",
                   path, format, TALUS_VERSION, TL_CHECKPOINT_OLDEST_FORMAT, TL_CHECKPOINT_FORMAT,
                   format > TL_CHECKPOINT_FORMAT
                       ? "use a newer talus"
                       : "go on with the older talus that wrote it, or begin anew (--force)");
  if (!parse_block(text, out) || out->format == 0)
    return tl_fail(TALUS_ERROR_FORMAT, "%s: is damaged: its first lines cannot be read", path);
  if (out->bytes != size)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: is damaged: it has %" PRIu64 " bytes and should have %" PRIu64, path, size,
                   out->bytes);
  return TALUS_OK;
}

/* The rest of the file in pieces, hashed on from `hash`. */
static talus_status hash_remainder(int fd, const char *path, unsigned char *piece, uint64_t *hash) {
  for (;;) {
    size_t got;
    const int error = read_all(fd, piece, PIECE, &got);
    if (error != 0)
      return tl_file_fail(error, path, "read");
    if (got == 0)
      return TALUS_OK;
    *hash = tl_xxh64(piece, got, *hash);
  }
}

static talus_status verify_open(int fd, const char *path, unsigned char *piece, uint64_t *bytes,
                                unsigned *format) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return tl_file_fail(errno, path, "read");
  if (!S_ISREG(info.st_mode))
    return tl_fail(TALUS_ERROR_FORMAT, "%s: is not a talus checkpoint: it is not a plain file",
                   path);
  char text[TL_CHECKPOINT_BLOCK + 1] = {0};
  size_t got;
  const int error = read_all(fd, (unsigned char *)text, TL_CHECKPOINT_BLOCK, &got);
  if (error != 0)
    return tl_file_fail(error, path, "read");
  block_parts block;
  *bytes = (uint64_t)info.st_size;
  TL_TRY(check_block(path, text, *bytes, &block));
  *format = block.format;
  uint64_t hash = tl_xxh64(text, block.hashed, 0);
  TL_TRY(hash_remainder(fd, path, piece, &hash));
  if (hash != block.hash)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: is damaged: its checksum is %016" PRIx64 " and should be %016" PRIx64, path,
                   hash, block.hash);
  if (strcmp(block.precision, PRECISION) != 0)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%s: is of the %s-precision talus, and this is the %s-precision one; go on "
                   "with the one it was made with",
                   path, block.precision, PRECISION);
  return TALUS_OK;
}

talus_status tl_checkpoint_verify(const char *path, uint64_t *bytes, unsigned *format) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return tl_file_fail(errno, path, "read");
  void *piece = NULL;
  talus_status status = tl_resize(&piece, 0, PIECE);
  if (status == TALUS_OK) {
    status = verify_open(fd, path, piece, bytes, format);
    (void)tl_resize(&piece, PIECE, 0); /* freeing cannot fail */
  }
  close(fd);
  return status;
}

#endif
