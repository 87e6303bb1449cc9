#include "output/h5_format.h"

#if TALUS_HAVE_HDF5

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MOST_CHUNKS 256 /* of one header: a file with more has a cycle */
#define MOST_BYTES  ((size_t)1 << 24)

/* ---- bytes ----------------------------------------------------------------------------------- */

/* `bytes` bytes from `at`, an offset within the file, on. */
static talus_status read_at(const tl_h5_in *in, uint64_t at, void *data, size_t bytes) {
  unsigned char *to = data;
  while (bytes > 0) {
    const ssize_t n = pread(in->fd, to, bytes, (off_t)at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl_file_fail(errno, in->path, "read");
    if (n == 0)
      return tl_fail(TALUS_ERROR_FORMAT, "%s: is damaged: it became shorter while it was read",
                     in->path);
    to += n;
    at += (uint64_t)n;
    bytes -= (size_t)n;
  }
  return TALUS_OK;
}

/* Whether the file has `bytes` at this address. */
static bool is_inside(const tl_h5_in *in, uint64_t address, uint64_t bytes) {
  const uint64_t room = in->bytes - in->base;
  return address <= room && bytes <= room - address;
}

static talus_status damaged(const tl_h5_in *in, const char *what) {
  return tl_fail(TALUS_ERROR_FORMAT, "%s: is not a readable HDF5 file (%s)", in->path, what);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The superblock stands at 0, 512, 1024 and so on. */
static talus_status read_superblock(tl_h5_in *in) {
  unsigned char head[TL_H5_SUPERBLOCK_BYTES];
  in->base = 0;
  for (;; in->base = in->base == 0 ? 512 : 2 * in->base) {
    if (in->base > in->bytes || in->bytes - in->base < sizeof head)
      return damaged(in, "it has no signature");
    TL_TRY(read_at(in, in->base, head, sizeof head));
    if (memcmp(head, TL_H5_SIGNATURE, TL_H5_SIGNATURE_BYTES) == 0)
      break;
  }
  if ((head[8] != 2 && head[8] != 3) || head[9] != 8 || head[10] != 8)
    return damaged(in, "its superblock is of another version");
  in->root = tl_h5_get(head + 36, 8);
  return TALUS_OK;
}

talus_status tl_h5_open(tl_h5_in *in, const char *path, uint64_t bytes) {
  *in = (tl_h5_in){.path = path, .bytes = bytes};
  in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (in->fd < 0)
    return tl_file_fail(errno, path, "read");
  const talus_status status = read_superblock(in);
  if (status != TALUS_OK)
    tl_h5_close(in);
  return status;
}

void tl_h5_close(tl_h5_in *in) {
  close(in->fd);
  tl_array_free(&in->headers);
  tl_array_free(&in->messages);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* A part of a header, in the file. */
typedef struct chunk {
  uint64_t at, bytes; /* of the messages alone */
} chunk;

typedef struct header {
  unsigned version;
  size_t before; /* bytes in front of each message */
  chunk chunks[MOST_CHUNKS];
  size_t count;
} header;

static talus_status bad_header(const tl_h5_in *in) { return damaged(in, "a header is damaged"); }

/* IV.A.1: where the messages of the object at `address` begin. */
static talus_status read_prefix(const tl_h5_in *in, uint64_t address, header *to) {
  unsigned char head[40] = {0};
  uint64_t bytes;
  if (!is_inside(in, address, 16))
    return bad_header(in);
  const uint64_t room = in->bytes - in->base - address;
  TL_TRY(read_at(in, in->base + address, head, room < sizeof head ? (size_t)room : sizeof head));
  size_t at;
  if (memcmp(head, "OHDR", 4) == 0 && head[4] == 2) {
    const unsigned flags = head[5], wide = 1u << (flags & 3);
    at = 6u + (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u);
    bytes = tl_h5_get(head + at, (int)wide);
    at += wide;
    to->before = flags & 0x04 ? 6 : 4;
    to->version = 2;
  } else if (head[0] == 1) {
    bytes = tl_h5_get(head + 8, 4);
    at = 16;
    to->before = 8;
    to->version = 1;
  } else
    return bad_header(in);
  to->chunks[0] = (chunk){address + at, bytes};
  to->count = 1;
  return TALUS_OK;
}

/* Another part of the header, which a message of `size` bytes tells of. */
static talus_status add_chunk(const tl_h5_in *in, header *to, const unsigned char *body,
                              size_t size) {
  if (size < 16 || to->count == MOST_CHUNKS)
    return bad_header(in);
  chunk more = {tl_h5_get(body, 8), tl_h5_get(body + 8, 8)};
  if (to->version == 2) { /* a signature in front, a checksum behind */
    if (more.bytes < 8 || more.at > UINT64_MAX - 4)
      return bad_header(in);
    more.at += 4, more.bytes -= 8;
  }
  to->chunks[to->count++] = more;
  return TALUS_OK;
}

/* The messages of one part, at `begin` in in->headers. */
static talus_status read_messages(tl_h5_in *in, header *to, size_t begin) {
  const size_t end = in->headers.count;
  size_t at = begin;
  while (end - at >= to->before) {
    const unsigned char *head = in->headers.data + at;
    const bool is_old = to->version == 1;
    const tl_h5_message message = {.type = (unsigned)tl_h5_get(head, is_old ? 2 : 1),
                                   .flags = head[is_old ? 4 : 3],
                                   .at = at + to->before,
                                   .size = (size_t)tl_h5_get(head + (is_old ? 2 : 1), 2)};
    if (message.size > end - message.at)
      return bad_header(in);
    at = message.at + message.size;
    if (message.type == TL_H5_CONTINUATION)
      TL_TRY(add_chunk(in, to, in->headers.data + message.at, message.size));
    else
      TL_TRY(tl_array_push(&in->messages, message));
  }
  return TALUS_OK;
}

/* All messages of the object at `address`. */
static talus_status read_header(tl_h5_in *in, uint64_t address) {
  header found;
  found.count = found.version = 0;
  found.before = 0;
  in->headers.count = 0;
  in->messages.count = 0;
  TL_TRY(read_prefix(in, address, &found));
  for (size_t i = 0; i < found.count; ++i) {
    const chunk *part = &found.chunks[i];
    const size_t begin = in->headers.count;
    if (!is_inside(in, part->at, part->bytes) || part->bytes > MOST_BYTES - begin)
      return bad_header(in);
    TL_TRY(tl_array_resize(&in->headers, begin + (size_t)part->bytes));
    TL_TRY(read_at(in, in->base + part->at, in->headers.data + begin, (size_t)part->bytes));
    TL_TRY(read_messages(in, &found, begin));
  }
  return TALUS_OK;
}

static const tl_h5_message *find_message(const tl_h5_in *in, unsigned type) {
  for (size_t i = 0; i < in->messages.count; ++i)
    if (in->messages.data[i].type == type)
      return &in->messages.data[i];
  return NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* IV.A.2.g: the address, where it is a hard link of that name; soft and external ones lead
 * elsewhere. */
static bool is_link_to(const unsigned char *body, size_t size, const char *name, size_t length,
                       uint64_t *address) {
  if (size < 2 || body[0] != 1)
    return false;
  const unsigned flags = body[1], wide = 1u << (flags & 3);
  size_t at = 2;
  unsigned kind = 0;
  if (flags & 0x08)
    kind = size > at ? body[at++] : 1;
  at += (flags & 0x04 ? 8u : 0u) + (flags & 0x10 ? 1u : 0u);
  if (kind != 0 || size < at + wide || tl_h5_get(body + at, (int)wide) != length)
    return false;
  at += wide;
  if (size - at != length + 8 || memcmp(body + at, name, length) != 0)
    return false;
  *address = tl_h5_get(body + at + length, 8);
  return true;
}

/* *address of the object with that name; TL_H5_NOWHERE if there is none. */
static talus_status find(tl_h5_in *in, const char *path, uint64_t *address) {
  *address = in->root;
  while (*path != '\0' && *address != TL_H5_NOWHERE) {
    const char *slash = strchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : strlen(path);
    TL_TRY(read_header(in, *address));
    *address = TL_H5_NOWHERE;
    for (size_t i = 0; i < in->messages.count && *address == TL_H5_NOWHERE; ++i) {
      const tl_h5_message *message = &in->messages.data[i];
      if (message->type == TL_H5_LINK)
        (void)is_link_to(in->headers.data + message->at, message->size, path, length, address);
    }
    path += length + (slash != NULL);
  }
  return TALUS_OK;
}

talus_status tl_h5_has(tl_h5_in *in, const char *name, bool *is_there) {
  uint64_t address;
  *is_there = false;
  TL_TRY(find(in, name, &address));
  *is_there = address != TL_H5_NOWHERE;
  return TALUS_OK;
}

/* ---- datasets -------------------------------------------------------------------------------- */

typedef struct dataset {
  uint64_t rows, at;
} dataset;

static bool has_type(const tl_h5_in *in, const tl_h5_message *message, tl_h5_type type) {
  unsigned char expected[TL_H5_DATATYPE_MOST];
  const size_t size = tl_h5_encode_type(expected, type);
  const unsigned char *stored = in->headers.data + message->at;
  /* A shared message is stored elsewhere; later versions say the same with other numbers. */
  return !(message->flags & 2) && message->size >= size && stored[0] >> 4 >= 1 &&
         stored[0] >> 4 <= 3 && (stored[0] & 15) == (expected[0] & 15) &&
         memcmp(stored + 1, expected + 1, size - 1) == 0;
}

/* IV.A.2.b: *rows, or false where it is not a table of that many columns. */
static bool get_rows(const tl_h5_in *in, const tl_h5_message *message, size_t columns,
                     uint64_t *rows) {
  const unsigned char *body = in->headers.data + message->at;
  const unsigned rank = columns == 1 ? 1 : 2;
  if (message->size < 4 || body[1] != rank)
    return false;
  const size_t at = body[0] == 1 ? 8 : 4;
  if ((body[0] != 1 && body[0] != 2) || (body[0] == 2 && body[3] != 1) ||
      message->size < at + 8 * rank)
    return false;
  *rows = tl_h5_get(body + at, 8);
  return rank == 1 || tl_h5_get(body + at + 8, 8) == columns;
}

/* IV.A.2.i: NULL, or what is wrong with the way it is stored. *at and *bytes: where. */
static const char *storage_problem(const tl_h5_in *in, const tl_h5_message *message, uint64_t *at,
                                   uint64_t *bytes) {
  const unsigned char *body = in->headers.data + message->at;
  if (message->size < 18 || (body[0] != 3 && body[0] != 4) || body[1] != 1)
    return "is not stored in one piece";
  if (find_message(in, TL_H5_FILTERS))
    return "is stored through a filter";
  if (find_message(in, TL_H5_EXTERNAL))
    return "is stored in another file";
  *at = tl_h5_get(body + 2, 8);
  *bytes = tl_h5_get(body + 10, 8);
  return NULL;
}

/* NULL, or what is wrong with the object whose header was read. */
static const char *dataset_problem(const tl_h5_in *in, tl_h5_type type, size_t columns,
                                   dataset *found) {
  const tl_h5_message *space = find_message(in, TL_H5_SPACE),
                      *stored = find_message(in, TL_H5_DATATYPE),
                      *layout = find_message(in, TL_H5_LAYOUT);
  uint64_t bytes;
  if (!space || !stored || !layout)
    return "cannot be opened: it is no dataset";
  const char *problem = storage_problem(in, layout, &found->at, &bytes);
  if (problem)
    return problem;
  if (!has_type(in, stored, type))
    return "has another type of number than expected";
  if (!get_rows(in, space, columns, &found->rows))
    return "has another shape than expected";
  const uint64_t row_bytes = columns * tl_h5_size(type);
  if (found->rows > in->bytes / row_bytes)
    return "says it is larger than the file";
  if (found->rows > 0 &&
      (bytes != found->rows * row_bytes || !is_inside(in, found->at, found->rows * row_bytes)))
    return "is not all in the file";
  return NULL;
}

static talus_status read_failed(const tl_h5_in *in, const char *name, const char *problem) {
  return tl_fail(TALUS_ERROR_FORMAT, "%s: dataset '%s' %s", in->path, name, problem);
}

static talus_status find_dataset(tl_h5_in *in, const char *name, tl_h5_type type, size_t columns,
                                 dataset *found) {
  uint64_t address;
  TL_TRY(find(in, name, &address));
  if (address == TL_H5_NOWHERE)
    return read_failed(in, name, "is missing");
  TL_TRY(read_header(in, address));
  const char *problem = dataset_problem(in, type, columns, found);
  return problem ? read_failed(in, name, problem) : TALUS_OK;
}

talus_status tl_h5_count(tl_h5_in *in, const char *name, tl_h5_type type, size_t columns,
                         size_t *rows) {
  dataset found;
  TL_TRY(find_dataset(in, name, type, columns, &found));
  *rows = (size_t)found.rows;
  return TALUS_OK;
}

talus_status tl_h5_read(tl_h5_in *in, const char *name, tl_h5_type type, size_t rows,
                        size_t columns, void *data) {
  dataset found;
  TL_TRY(find_dataset(in, name, type, columns, &found));
  if (found.rows != rows)
    return tl_fail(TALUS_ERROR_FORMAT, "%s: dataset '%s' has %zu rows, expected %zu", in->path,
                   name, (size_t)found.rows, rows);
  return rows > 0 ? read_at(in, in->base + found.at, data, rows * columns * tl_h5_size(type))
                  : TALUS_OK;
}

#endif
