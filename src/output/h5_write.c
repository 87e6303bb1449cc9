/* The file is a superblock and a word that says whose it is, then data, then headers: the header of
 * a dataset, which says where its data are, and of a group, which holds its attributes and the
 * links to what is in it, are written when all is known; the superblock in front gets the address
 * of the root and the size. */
#include "output/h5_format.h"

#if TALUS_HAVE_HDF5

#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "data are written as they lie in memory, which must be little-endian"
#endif

#define WORD        "talus\0\0" /* 8 bytes that nothing refers to */
#define ROOT        ((size_t)0)
#define NONE        SIZE_MAX
#define ALIGNMENT   ((size_t)8)
#define NAME_MOST   255 /* a link has one byte for the length */
#define TEXT_HEADER 8   /* bytes of the datatype of a text */

typedef enum node_kind { GROUP, DATASET, SECOND_NAME } node_kind;

struct tl_h5_node {
  node_kind kind;
  size_t parent, name, length; /* its name in `names` */
  unsigned char type[TL_H5_DATATYPE_MOST];
  size_t type_bytes;
  int rank;
  size_t shape[TL_H5_RANK];
  uint64_t data, data_bytes;
  uint64_t header;
  uint32_t links;
  size_t target; /* of a second name */
};

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Grows by half, so that a file of many parts is not copied for each part. */
static talus_status make_room(tl_h5_out *out, size_t more) {
  const size_t need = out->image.count + more;
  if (need < more)
    return tl_fail(TALUS_ERROR_MEMORY, "out of memory: a file of more than %zu bytes", SIZE_MAX);
  if (need <= out->image.capacity)
    return TALUS_OK;
  const size_t wanted = out->image.capacity + out->image.capacity / 2;
  return tl_array_reserve(&out->image, wanted > need ? wanted : need);
}

/* Follows a make_room for all of these bytes. */
static void put(tl_h5_out *out, uint64_t value, int bytes) {
  tl_h5_put(out->image.data + out->image.count, value, bytes);
  out->image.count += (size_t)bytes;
}

static void put_bytes(tl_h5_out *out, const void *data, size_t bytes) {
  if (bytes > 0)
    memcpy(out->image.data + out->image.count, data, bytes);
  out->image.count += bytes;
}

/* Bob Jenkins' lookup3 (hashlittle, 2006; public domain), which the format asks for. */
static uint32_t rotate(uint32_t x, int k) { return x << k | x >> (32 - k); }

static uint32_t lookup3(const unsigned char *key, size_t length) {
  uint32_t a = 0xdeadbeefu + (uint32_t)length, b = a, c = a;
  for (; length > 12; length -= 12, key += 12) {
    a += (uint32_t)tl_h5_get(key, 4);
    b += (uint32_t)tl_h5_get(key + 4, 4);
    c += (uint32_t)tl_h5_get(key + 8, 4);
    a -= c, a ^= rotate(c, 4), c += b;
    b -= a, b ^= rotate(a, 6), a += c;
    c -= b, c ^= rotate(b, 8), b += a;
    a -= c, a ^= rotate(c, 16), c += b;
    b -= a, b ^= rotate(a, 19), a += c;
    c -= b, c ^= rotate(b, 4), b += a;
  }
  if (length == 0)
    return c;
  unsigned char last[12] = {0};
  memcpy(last, key, length);
  a += (uint32_t)tl_h5_get(last, 4);
  b += (uint32_t)tl_h5_get(last + 4, 4);
  c += (uint32_t)tl_h5_get(last + 8, 4);
  c ^= b, c -= rotate(b, 14);
  a ^= c, a -= rotate(c, 11);
  b ^= a, b -= rotate(a, 25);
  c ^= b, c -= rotate(b, 16);
  a ^= c, a -= rotate(c, 4);
  b ^= a, b -= rotate(a, 14);
  c ^= b, c -= rotate(b, 24);
  return c;
}

/* ---- names ----------------------------------------------------------------------------------- */

static size_t find_in(const tl_h5_out *out, size_t group, const char *name, size_t length) {
  for (size_t i = ROOT + 1; i < out->nodes.count; ++i) {
    const tl_h5_node *node = &out->nodes.data[i];
    if (node->parent == group && node->length == length &&
        memcmp(out->names.data + node->name, name, length) == 0)
      return i;
  }
  return NONE;
}

/* The group that a path leads to, and what is left of the path: the last name. */
static size_t find_group(const tl_h5_out *out, const char **path) {
  size_t at = ROOT;
  for (const char *slash; at != NONE && (slash = strchr(*path, '/')) != NULL; *path = slash + 1)
    if (slash > *path)
      at = find_in(out, at, *path, (size_t)(slash - *path));
  return at;
}

static size_t find(const tl_h5_out *out, const char *path) {
  const size_t group = find_group(out, &path);
  return group == NONE || *path == '\0' ? group : find_in(out, group, path, strlen(path));
}

/* Adds a node at `path`, whose group must exist; *made is its number. Fails if memory is missing; a
 * name that is refused is a mistake in our own code. */
static talus_status add_node(tl_h5_out *out, node_kind kind, const char *path, size_t *made) {
  const char *name = path;
  const size_t group = find_group(out, &name), length = strlen(name), at = out->names.count;
  TL_ASSERT(group != NONE && length > 0 && find_in(out, group, name, length) == NONE);
  if (group == NONE || length > NAME_MOST)
    return tl_fail(TALUS_ERROR_INVALID, "'%s' cannot be the name of a dataset", path);
  TL_TRY(tl_array_reserve(&out->nodes, out->nodes.count + 1));
  TL_TRY(tl_array_resize(&out->names, at + length));
  memcpy(out->names.data + at, name, length);
  *made = out->nodes.count++;
  out->nodes.data[*made] = (tl_h5_node){.kind = kind,
                                        .parent = group,
                                        .name = at,
                                        .length = length,
                                        .data = TL_H5_NOWHERE,
                                        .links = 1,
                                        .target = NONE};
  return TALUS_OK;
}

talus_status tl_h5_group(tl_h5_out *out, const char *name) {
  size_t made;
  return add_node(out, GROUP, name, &made);
}

talus_status tl_h5_link(tl_h5_out *out, const char *name, const char *target) {
  const size_t there = find(out, target);
  TL_ASSERT(there != NONE && out->nodes.data[there].kind == DATASET);
  size_t made;
  TL_TRY(add_node(out, SECOND_NAME, name, &made));
  out->nodes.data[made].target = there;
  out->nodes.data[there].links++;
  return TALUS_OK;
}

/* ---- datasets -------------------------------------------------------------------------------- */

/* Room for the data of a node, where the image ends; an empty one has none. */
static talus_status place_data(tl_h5_out *out, tl_h5_node *node, size_t bytes) {
  node->data_bytes = bytes;
  if (bytes == 0)
    return TALUS_OK;
  TL_TRY(make_room(out, bytes < SIZE_MAX - ALIGNMENT ? bytes + ALIGNMENT : SIZE_MAX));
  while (out->image.count % ALIGNMENT != 0)
    put(out, 0, 1);
  node->data = out->image.count - out->user_block;
  return TALUS_OK;
}

static talus_status too_large(const char *name, size_t rows, size_t bytes) {
  return tl_fail(TALUS_ERROR_MEMORY, "out of memory: '%s' has %zu rows of %zu bytes", name, rows,
                 bytes);
}

talus_status tl_h5_write_shape(tl_h5_out *out, const char *name, tl_h5_type type, int rank,
                               const size_t *shape, const void *data) {
  size_t bytes = tl_h5_size(type);
  TL_ASSERT(rank >= 1 && rank <= TL_H5_RANK);
  for (int i = rank - 1; i >= 0; --i) {
    if (shape[i] > SIZE_MAX / (bytes > 0 ? bytes : 1))
      return too_large(name, shape[i], bytes);
    bytes *= shape[i];
  }
  size_t made;
  TL_TRY(add_node(out, DATASET, name, &made));
  tl_h5_node *node = &out->nodes.data[made];
  node->type_bytes = tl_h5_encode_type(node->type, type);
  node->rank = rank;
  memcpy(node->shape, shape, (size_t)rank * sizeof *shape);
  TL_TRY(place_data(out, node, bytes));
  put_bytes(out, data, bytes);
  return TALUS_OK;
}

talus_status tl_h5_write(tl_h5_out *out, const char *name, tl_h5_type type, size_t rows,
                         size_t columns, const void *data) {
  return tl_h5_write_shape(out, name, type, columns == 1 ? 1 : 2, (const size_t[]){rows, columns},
                           data);
}

/* IV.A.2.d, class 3. `end`: 0 for texts that a zero ends, 1 for such as zeros pad. */
static size_t encode_text(unsigned char *to, size_t width, unsigned end, bool is_utf8) {
  memset(to, 0, TEXT_HEADER);
  to[0] = 0x13;
  to[1] = (unsigned char)(end | (is_utf8 ? 0x10 : 0));
  tl_h5_put(to + 4, width, 4);
  return TEXT_HEADER;
}

talus_status tl_h5_write_texts(tl_h5_out *out, const char *name, size_t rows, tl_h5_text_fn *text,
                               const void *context) {
  size_t width = 1;
  for (size_t i = 0; i < rows; ++i) {
    const char *row = text(context, i);
    const size_t length = row ? strlen(row) : 0;
    width = length + 1 > width ? length + 1 : width; /* with the zero that ends it */
  }
  if (rows > SIZE_MAX / width || width > UINT32_MAX)
    return too_large(name, rows, width);
  size_t made;
  TL_TRY(add_node(out, DATASET, name, &made));
  tl_h5_node *node = &out->nodes.data[made];
  node->type_bytes = encode_text(node->type, width, 0, true);
  node->rank = 1;
  node->shape[0] = rows;
  TL_TRY(place_data(out, node, rows * width));
  for (size_t i = 0; i < rows; ++i) {
    const char *row = text(context, i);
    const size_t length = row ? strlen(row) : 0;
    put_bytes(out, row, length);
    memset(out->image.data + out->image.count, 0, width - length);
    out->image.count += width - length;
  }
  return TALUS_OK;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* IV.A.2.m, version 3: sizes, the name, the datatype, the dataspace (a scalar, or n numbers), and
 * the value. */
static talus_status add_attribute(tl_h5_out *out, const char *group, const char *name,
                                  const unsigned char *type, size_t type_bytes, size_t n,
                                  const void *data, size_t bytes) {
  const size_t in = find(out, group), length = strlen(name) + 1, space = n == 1 ? 4 : 12;
  TL_ASSERT(in != NONE && out->nodes.data[in].kind == GROUP);
  const size_t all = 9 + length + type_bytes + space + bytes, at = out->messages.count;
  if (all > UINT16_MAX)
    return tl_fail(TALUS_ERROR_INVALID, "attribute '%s' is too long", name);
  TL_TRY(tl_array_resize(&out->messages, at + all));
  unsigned char *to = out->messages.data + at;
  to[0] = 3;
  to[1] = 0;
  tl_h5_put(to + 2, length, 2);
  tl_h5_put(to + 4, type_bytes, 2);
  tl_h5_put(to + 6, space, 2);
  to[8] = 0; /* the name is ASCII */
  memcpy(to + 9, name, length);
  to += 9 + length;
  memcpy(to, type, type_bytes);
  to += type_bytes;
  tl_h5_put(to, n == 1 ? 0x00000002u : 0x01000102u, 4); /* version 2, rank, no flags, kind */
  if (n != 1)
    tl_h5_put(to + 4, n, 8);
  memcpy(to + space, data, bytes);
  return tl_array_push(&out->attributes, ((tl_h5_attribute_place){in, at, all}));
}

talus_status tl_h5_attribute(tl_h5_out *out, const char *group, const char *name, tl_h5_type type,
                             size_t n, const void *data) {
  unsigned char encoded[TL_H5_DATATYPE_MOST];
  const size_t bytes = tl_h5_encode_type(encoded, type);
  return add_attribute(out, group, name, encoded, bytes, n, data, n * tl_h5_size(type));
}

talus_status tl_h5_attribute_text(tl_h5_out *out, const char *group, const char *name,
                                  const char *text) {
  unsigned char encoded[TEXT_HEADER];
  const size_t length = strlen(text), width = length > 0 ? length : 1; /* a type is never empty */
  const size_t bytes = encode_text(encoded, width, 1, false);
  return add_attribute(out, group, name, encoded, bytes, 1, text, width);
}

/* ---- headers --------------------------------------------------------------------------------- */

#define PREFIX_BYTES   10 /* of an object header with four bytes for its size */
#define MESSAGE_BYTES  4  /* in front of each message */
#define CHECKSUM_BYTES 4

static void begin_message(tl_h5_out *out, unsigned type, size_t bytes) {
  put(out, type, 1);
  put(out, bytes, 2);
  put(out, 0, 1);
}

static void begin_header(tl_h5_out *out) {
  put_bytes(out, "OHDR", 4);
  put(out, 2, 1);    /* version */
  put(out, 0x02, 1); /* no times; four bytes for the size, which end_header knows */
  put(out, 0, 4);
}

static void end_header(tl_h5_out *out, size_t begin) {
  tl_h5_put(out->image.data + begin + 6, out->image.count - begin - PREFIX_BYTES, 4);
  put(out, lookup3(out->image.data + begin, out->image.count - begin), 4);
}

static talus_status write_dataset_header(tl_h5_out *out, tl_h5_node *node) {
  const size_t begin = out->image.count;
  const int rank = node->rank;
  TL_TRY(make_room(out, 160 + TL_H5_DATATYPE_MOST));
  node->header = begin - out->user_block;
  begin_header(out);
  begin_message(out, TL_H5_SPACE, 4 + 8 * (size_t)rank);
  put(out, 2, 1);
  put(out, (uint64_t)rank, 1);
  put(out, 0, 1); /* it cannot grow */
  put(out, 1, 1);
  for (int i = 0; i < rank; ++i)
    put(out, node->shape[i], 8);
  begin_message(out, TL_H5_DATATYPE, node->type_bytes);
  put_bytes(out, node->type, node->type_bytes);
  begin_message(out, TL_H5_FILL, 2);
  put(out, 3, 1);
  put(out, 0x0a, 1); /* HDF5's own default: space is taken late, and filled where one says so */
  begin_message(out, TL_H5_LAYOUT, 18);
  put(out, 3, 1);
  put(out, 1, 1); /* in one piece */
  put(out, node->data, 8);
  put(out, node->data_bytes, 8);
  if (node->links > 1) {
    begin_message(out, TL_H5_REFERENCES, 5);
    put(out, 0, 1);
    put(out, node->links, 4);
  }
  end_header(out, begin);
  return TALUS_OK;
}

/* Both have no heap and no tree: links and attributes are in the header. A group with any number of
 * links stays so where HDF5 changes it. */
static void put_group_info(tl_h5_out *out, bool has_attributes) {
  begin_message(out, TL_H5_LINK_INFO, 18);
  put(out, 0, 2);
  put(out, TL_H5_NOWHERE, 8);
  put(out, TL_H5_NOWHERE, 8);
  begin_message(out, TL_H5_GROUP_INFO, 6);
  put(out, 0, 1);
  put(out, 1, 1); /* what follows: links in the header at most, and in a tree at least */
  put(out, UINT16_MAX, 2);
  put(out, UINT16_MAX - 1, 2);
  if (!has_attributes)
    return;
  begin_message(out, TL_H5_ATTRIBUTE_INFO, 18);
  put(out, 0, 2);
  put(out, TL_H5_NOWHERE, 8);
  put(out, TL_H5_NOWHERE, 8);
}

static size_t group_bytes(const tl_h5_out *out, size_t group, bool *has_attributes) {
  size_t bytes = 128;
  *has_attributes = false;
  for (size_t i = 0; i < out->attributes.count; ++i)
    if (out->attributes.data[i].group == group) {
      *has_attributes = true;
      bytes += MESSAGE_BYTES + out->attributes.data[i].bytes;
    }
  for (size_t i = ROOT + 1; i < out->nodes.count; ++i)
    if (out->nodes.data[i].parent == group)
      bytes += MESSAGE_BYTES + 11 + out->nodes.data[i].length;
  return bytes;
}

static uint64_t header_of(const tl_h5_out *out, const tl_h5_node *node) {
  return node->kind == SECOND_NAME ? out->nodes.data[node->target].header : node->header;
}

static talus_status write_group_header(tl_h5_out *out, size_t group) {
  const size_t begin = out->image.count;
  bool has_attributes;
  TL_TRY(make_room(out, group_bytes(out, group, &has_attributes)));
  out->nodes.data[group].header = begin - out->user_block;
  begin_header(out);
  put_group_info(out, has_attributes);
  for (size_t i = 0; i < out->attributes.count; ++i) {
    const tl_h5_attribute_place *one = &out->attributes.data[i];
    if (one->group != group)
      continue;
    begin_message(out, TL_H5_ATTRIBUTE, one->bytes);
    put_bytes(out, out->messages.data + one->at, one->bytes);
  }
  for (size_t i = ROOT + 1; i < out->nodes.count; ++i) {
    const tl_h5_node *node = &out->nodes.data[i];
    if (node->parent != group)
      continue;
    begin_message(out, TL_H5_LINK, 11 + node->length);
    put(out, 1, 1); /* version; no flags: a hard link, one byte for the length */
    put(out, 0, 1);
    put(out, node->length, 1);
    put_bytes(out, out->names.data + node->name, node->length);
    put(out, header_of(out, node), 8);
  }
  end_header(out, begin);
  return TALUS_OK;
}

/* Datasets, then groups from the last to the first: what is linked to has its address by then. */
static talus_status write_headers(tl_h5_out *out) {
  for (size_t i = 0; i < out->nodes.count; ++i)
    if (out->nodes.data[i].kind == DATASET)
      TL_TRY(write_dataset_header(out, &out->nodes.data[i]));
  for (size_t i = out->nodes.count; i-- > 0;)
    if (out->nodes.data[i].kind == GROUP)
      TL_TRY(write_group_header(out, i));
  return TALUS_OK;
}

static void fill_superblock(tl_h5_out *out) {
  unsigned char *to = out->image.data + out->user_block;
  memcpy(to, TL_H5_SIGNATURE, TL_H5_SIGNATURE_BYTES);
  to[8] = 2; /* version */
  to[9] = 8; /* bytes of an address, and of a length */
  to[10] = 8;
  to[11] = 0;
  tl_h5_put(to + 12, out->user_block, 8);
  tl_h5_put(to + 20, TL_H5_NOWHERE, 8);
  tl_h5_put(to + 28, out->image.count, 8);
  tl_h5_put(to + 36, out->nodes.data[ROOT].header, 8);
  tl_h5_put(to + 44, lookup3(to, 44), 4);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void release(tl_h5_out *out) {
  tl_array_free(&out->image);
  tl_array_free(&out->nodes);
  tl_array_free(&out->names);
  tl_array_free(&out->messages);
  tl_array_free(&out->attributes);
}

talus_status tl_h5_create(tl_h5_out *out, size_t expected, size_t user_block) {
  const size_t head = user_block + TL_H5_SUPERBLOCK_BYTES + sizeof WORD;
  *out = (tl_h5_out){.user_block = user_block};
  talus_status status = tl_array_reserve(&out->image, expected > head ? expected : head);
  if (status == TALUS_OK)
    status = tl_array_push(&out->nodes, ((tl_h5_node){.kind = GROUP, .parent = NONE}));
  if (status != TALUS_OK) {
    release(out);
    return status;
  }
  memset(out->image.data, 0, head);
  memcpy(out->image.data + head - sizeof WORD, WORD, sizeof WORD);
  out->image.count = head;
  return TALUS_OK;
}

static talus_status write_image(const tl_h5_out *out, const char *path, tl_file *keep) {
  if (keep == NULL)
    return tl_file_write(tl_file_given(), path, out->image.data, out->image.count);
  TL_TRY(tl_file_begin(keep, path));
  const talus_status status = tl_file_put(keep, out->image.data, out->image.count);
  if (status != TALUS_OK)
    tl_file_drop(keep);
  return status;
}

talus_status tl_h5_finish(tl_h5_out *out, talus_status status, const char *path, tl_file *keep,
                          tl_h5_seal_fn *seal) {
  if (status == TALUS_OK)
    status = write_headers(out);
  if (status == TALUS_OK) {
    fill_superblock(out);
    if (seal)
      seal(out->image.data, out->image.count);
    status = write_image(out, path, keep);
  }
  release(out);
  return status;
}

#endif
