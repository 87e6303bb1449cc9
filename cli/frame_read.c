#include "frame_read.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <talus/config.h>

#if defined(__GNUC__)
#define WHY_PRINTF __attribute__((format(printf, 2, 3)))
#else
#define WHY_PRINTF
#endif

typedef struct reason {
  char *text;
  size_t size;
} reason;

static WHY_PRINTF bool refuse(reason why, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(why.text, why.size, fmt, args);
  va_end(args);
  return false;
}

#if TALUS_HAVE_HDF5

#include <hdf5.h>

/* HDF5's own checks do not catch every damaged file: some crash it. Therefore frame_guard.c calls
 * this in a separate process. */

/* ---- one file -------------------------------------------------------------------------------- */

typedef struct source {
  const char *path;
  hid_t file;
  uint64_t bytes; /* size of the file: nothing in it can be larger */
  reason why;
} source;

/* Every HDF5 file that talus writes begins with these bytes. */
static bool has_signature(const char *path) {
  static const char signature[] = "\211HDF\r\n\032\n";
  char begin[sizeof signature - 1];
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const bool has = fd >= 0 && pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
                   memcmp(begin, signature, sizeof begin) == 0;
  if (fd >= 0)
    close(fd);
  return has;
}

static bool open_source(source *in, const char *path, reason why) {
  struct stat stats;
  *in = (source){.path = path, .file = H5I_INVALID_HID, .why = why};
  if (stat(path, &stats) != 0)
    return refuse(why, "%s: %s", path, strerror(errno));
  if (!S_ISREG(stats.st_mode))
    return refuse(why, "%s is not a file", path);
  in->bytes = (uint64_t)stats.st_size;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* this command reports errors in one line itself */
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0) {
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
    /* Locks fail on some network file systems, and a complete file does not need them. */
    H5Pset_file_locking(access, 0, 1);
#endif
    in->file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
  }
  if (in->file < 0 && has_signature(path))
    return refuse(why, "%s cannot be read: the file is damaged, or memory ran out", path);
  if (in->file < 0)
    return refuse(why, "%s is not a readable HDF5 file: it is damaged, or not a frame of talus",
                  path);
  return true;
}

static void close_source(source *in) {
  if (in->file >= 0)
    H5Fclose(in->file);
  in->file = H5I_INVALID_HID;
}

/* Every part of the path must be a hard link: others may lead to other files. */
static bool has(const source *in, const char *name) {
  char part[128];
  const size_t length = strlen(name);
  for (size_t i = 1; i <= length && length < sizeof part; ++i) {
    if (name[i] != '/' && name[i] != '\0')
      continue;
    memcpy(part, name, i);
    part[i] = '\0';
    H5L_info_t info;
    if (H5Lexists(in->file, part, H5P_DEFAULT) <= 0 ||
        H5Lget_info(in->file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
      return false;
  }
  return length < sizeof part;
}

/* True if the data are in one piece, unfiltered, inside the file, so that they cannot be larger
 * than the file. */
static bool is_plain(const source *in, hid_t set, uint64_t bytes) {
  const hid_t list = H5Dget_create_plist(set);
  if (list < 0)
    return false;
  const bool plain = H5Pget_layout(list) == H5D_CONTIGUOUS && H5Pget_nfilters(list) == 0 &&
                     H5Pget_external_count(list) == 0;
  H5Pclose(list);
  if (!plain || bytes > in->bytes)
    return false;
  const haddr_t at = bytes > 0 ? H5Dget_offset(set) : 0;
  return bytes == 0 ||
         (at != HADDR_UNDEF && at <= in->bytes - bytes && H5Dget_storage_size(set) == bytes);
}

typedef struct column {
  hid_t set;
  size_t rows, width; /* width: bytes of one stored scalar */
  H5T_class_t class;
} column;

/* Opens a table with that number of columns; on success the caller closes col->set. */
static bool open_column(const source *in, const char *name, size_t columns, column *col) {
  *col = (column){.set = H5I_INVALID_HID};
  if (!has(in, name))
    return refuse(in->why, "%s has no '%s': not a frame of talus, or damaged", in->path, name);
  col->set = H5Dopen2(in->file, name, H5P_DEFAULT);
  const hid_t space = col->set < 0 ? H5I_INVALID_HID : H5Dget_space(col->set);
  const hid_t type = col->set < 0 ? H5I_INVALID_HID : H5Dget_type(col->set);
  bool good = false;
  if (space >= 0 && type >= 0) {
    hsize_t size[2] = {0, 1};
    const int rank = H5Sget_simple_extent_ndims(space);
    col->class = H5Tget_class(type);
    col->width = H5Tget_size(type);
    good = H5Sget_simple_extent_type(space) == H5S_SIMPLE && rank == (columns == 1 ? 1 : 2) &&
           H5Sget_simple_extent_dims(space, size, NULL) == rank && size[1] == columns &&
           col->width > 0 && col->width <= 4096 && size[0] <= in->bytes / (columns * col->width) &&
           (col->class == H5T_INTEGER || col->class == H5T_FLOAT || col->class == H5T_STRING) &&
           (col->class != H5T_STRING || H5Tis_variable_str(type) == 0) &&
           is_plain(in, col->set, size[0] * columns * col->width);
    col->rows = (size_t)size[0];
  }
  if (space >= 0)
    H5Sclose(space);
  if (type >= 0)
    H5Tclose(type);
  if (!good) {
    if (col->set >= 0)
      H5Dclose(col->set);
    return refuse(in->why, "%s: '%s' is not what a frame holds; the file is damaged", in->path,
                  name);
  }
  return true;
}

static size_t memory_width(hid_t type) { return H5Tget_size(type); }

/* Reads `rows` rows of numbers as `type` (SIZE_MAX: all rows, their number goes to *found). */
static void *read_numbers(const source *in, const char *name, size_t columns, hid_t type,
                          size_t rows, size_t *found) {
  column col;
  if (!open_column(in, name, columns, &col))
    return NULL;
  void *data = NULL;
  if (col.class == H5T_STRING || col.width > 8)
    refuse(in->why, "%s: '%s' does not hold numbers; the file is damaged", in->path, name);
  else if (rows != SIZE_MAX && col.rows != rows)
    refuse(in->why, "%s: '%s' has %zu rows, expected %zu; the file is damaged", in->path, name,
           col.rows, rows);
  else {
    data = malloc(col.rows * columns * memory_width(type) + 1);
    if (!data)
      refuse(in->why, "%s: out of memory for %zu rows of '%s'", in->path, col.rows, name);
    else if (col.rows > 0 && H5Dread(col.set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
      free(data);
      data = NULL;
      refuse(in->why, "%s: '%s' cannot be read; the file is damaged", in->path, name);
    }
  }
  H5Dclose(col.set);
  if (found)
    *found = col.rows;
  return data;
}

/* Names are used in messages and pictures: replaces invalid UTF-8 and control characters by '?'. */
static void make_printable(char *text) {
  for (unsigned char *at = (unsigned char *)text; *at;) {
    const int more = *at < 0x80   ? 0
                     : *at < 0xc2 ? -1
                     : *at < 0xe0 ? 1
                     : *at < 0xf0 ? 2
                     : *at < 0xf5 ? 3
                                  : -1;
    bool good = more >= 0 && *at >= 32 && *at != 127;
    for (int i = 1; good && i <= more; ++i)
      good = (at[i] & 0xc0) == 0x80;
    if (!good)
      *at = '?';
    at += good ? 1 + more : 1;
  }
}

/* Reads names, each cut to FRAME_NAME_BYTES - 1, into places `stride` bytes apart from `to` on. */
static bool read_names(const source *in, const char *name, size_t rows, char *to, size_t stride) {
  column col;
  if (!open_column(in, name, 1, &col))
    return false;
  char *data = NULL;
  const hid_t type = H5Dget_type(col.set);
  bool good = type >= 0 && col.class == H5T_STRING && col.rows == rows &&
              (data = malloc(rows * col.width + 1)) != NULL &&
              (rows == 0 || H5Dread(col.set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  for (size_t i = 0; good && i < rows; ++i) {
    size_t length = strnlen(data + i * col.width, col.width);
    length = length < FRAME_NAME_BYTES ? length : FRAME_NAME_BYTES - 1;
    memcpy(to + i * stride, data + i * col.width, length);
    to[i * stride + length] = '\0';
    make_printable(to + i * stride);
  }
  if (!good)
    refuse(in->why, "%s: '%s' is not a list of %zu names; the file is damaged", in->path, name,
           rows);
  free(data);
  if (type >= 0)
    H5Tclose(type);
  H5Dclose(col.set);
  return good;
}

static bool read_attribute(const source *in, const char *name, double *value) {
  const hid_t group = has(in, "talus") ? H5Gopen2(in->file, "talus", H5P_DEFAULT) : -1;
  const hid_t attribute =
      group >= 0 && H5Aexists(group, name) > 0 ? H5Aopen(group, name, H5P_DEFAULT) : -1;
  bool good = false;
  if (attribute >= 0) {
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    good = space >= 0 && type >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
           H5Tget_class(type) == H5T_FLOAT && H5Aread(attribute, H5T_NATIVE_DOUBLE, value) >= 0;
    if (space >= 0)
      H5Sclose(space);
    if (type >= 0)
      H5Tclose(type);
    H5Aclose(attribute);
  }
  if (group >= 0)
    H5Gclose(group);
  if (!good || !isfinite(*value))
    return refuse(in->why, "%s has no %s: not a frame of talus, or damaged", in->path, name);
  return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static frame_kind kind_of(const char *name) {
  static const char *const names[] = {"sphere",  "box",      "plane", "container",      "ellipsoid",
                                      "capsule", "cylinder", "cone",  "superellipsoid", "hull",
                                      "clump",   "revolved", "mesh"};
  for (int i = 0; i < FRAME_OTHER; ++i)
    if (strcmp(name, names[i]) == 0)
      return (frame_kind)i;
  return FRAME_OTHER;
}

/* Reads the starts of each shape's rows of points or triangles: one more than shapes, ascending. */
static bool read_starts(const source *in, const char *name, const frame *out, size_t rows,
                        bool of_points) {
  uint32_t *start = read_numbers(in, name, 1, H5T_NATIVE_UINT32, out->shapes + 1, NULL);
  if (!start)
    return false;
  bool good = start[0] == 0 && start[out->shapes] == rows;
  for (size_t i = 0; good && i < out->shapes; ++i) {
    frame_shape *shape = &out->shape_table[i];
    good = start[i] <= start[i + 1];
    *(of_points ? &shape->point : &shape->triangle) = start[i];
    *(of_points ? &shape->points : &shape->triangles) = start[i + 1] - start[i];
  }
  free(start);
  return good || refuse(in->why, "%s: '%s' is not ascending; the file is damaged", in->path, name);
}

static bool read_lists(const source *in, frame *out) {
  out->point =
      read_numbers(in, "talus/shapes/points", 4, H5T_NATIVE_DOUBLE, SIZE_MAX, &out->points);
  out->triangle = out->point ? read_numbers(in, "talus/shapes/triangles", 3, H5T_NATIVE_UINT32,
                                            SIZE_MAX, &out->triangles)
                             : NULL;
  return out->triangle && read_starts(in, "talus/shapes/point_start", out, out->points, true) &&
         read_starts(in, "talus/shapes/triangle_start", out, out->triangles, false);
}

/* Frames of a run do not contain meshes: these are in shapes.hdf beside the folder of frames, with
 * the lists of all other shapes. */
static bool read_meshes(const source *in, frame *out) {
  static const char name[] = "../shapes.hdf";
  bool missing = false;
  for (size_t i = 0; i < out->shapes; ++i)
    missing =
        missing || (out->shape_table[i].kind == FRAME_MESH && out->shape_table[i].triangles == 0);
  if (!missing)
    return true;
  const char *slash = strrchr(in->path, '/');
  const size_t folder = slash ? (size_t)(slash + 1 - in->path) : 0;
  char *path = malloc(folder + sizeof name);
  source beside;
  if (!path)
    return refuse(in->why, "out of memory");
  memcpy(path, in->path, folder);
  memcpy(path + folder, name, sizeof name);
  bool good = open_source(&beside, path, in->why);
  if (!good)
    refuse(in->why,
           "%s needs the triangles of its meshes from %s, which cannot be read; keep frames in "
           "their run's folder",
           in->path, path);
  free(out->point);
  free(out->triangle);
  out->point = NULL, out->triangle = NULL;
  good = good && read_lists(&beside, out);
  close_source(&beside);
  free(path);
  return good;
}

static bool read_shapes(const source *in, frame *out) {
  double *size =
      read_numbers(in, "talus/shapes/size", 5, H5T_NATIVE_DOUBLE, SIZE_MAX, &out->shapes);
  uint32_t *open =
      size ? read_numbers(in, "talus/shapes/open", 1, H5T_NATIVE_UINT32, out->shapes, NULL) : NULL;
  double *centre =
      open ? read_numbers(in, "talus/shapes/centre", 3, H5T_NATIVE_DOUBLE, out->shapes, NULL)
           : NULL;
  bool good = centre != NULL;
  if (good) {
    out->shape_table = calloc(out->shapes + 1, sizeof *out->shape_table);
    good = out->shape_table ? read_names(in, "talus/shapes/kind", out->shapes,
                                         out->shape_table[0].kind_name, sizeof *out->shape_table)
                            : refuse(in->why, "out of memory");
  }
  for (size_t i = 0; good && i < out->shapes; ++i) {
    frame_shape *shape = &out->shape_table[i];
    shape->kind = kind_of(shape->kind_name);
    memcpy(shape->size, size + 5 * i, sizeof shape->size);
    shape->open = open[i];
    memcpy(shape->centre, centre + 3 * i, sizeof shape->centre);
  }
  free(size);
  free(open);
  free(centre);
  return good && read_lists(in, out) && read_meshes(in, out);
}

static bool read_materials(const source *in, frame *out) {
  float *density =
      read_numbers(in, "talus/materials/density", 1, H5T_NATIVE_FLOAT, SIZE_MAX, &out->materials);
  if (!density)
    return false;
  free(density); /* only its number of rows was needed */
  out->material_table = calloc(out->materials + 1, sizeof *out->material_table);
  if (!out->material_table)
    return refuse(in->why, "out of memory");
  return read_names(in, "talus/materials/name", out->materials, out->material_table[0].name,
                    sizeof *out->material_table);
}

static bool read_bodies(const source *in, frame *out) {
  out->position = read_numbers(in, "VTKHDF/Points", 3, H5T_NATIVE_DOUBLE, SIZE_MAX, &out->bodies);
  if (!out->position)
    return false;
  const size_t n = out->bodies;
#define COLUMN(member, name, columns, type)                                                        \
  if ((out->member = read_numbers(in, name, columns, type, n, NULL)) == NULL)                      \
  return false
  COLUMN(id, "VTKHDF/PointData/id", 1, H5T_NATIVE_UINT64);
  COLUMN(radius, "VTKHDF/PointData/radius", 1, H5T_NATIVE_FLOAT);
  COLUMN(shape, "VTKHDF/PointData/shape", 1, H5T_NATIVE_UINT32);
  COLUMN(material, "VTKHDF/PointData/material", 1, H5T_NATIVE_UINT32);
  COLUMN(scale, "talus/bodies/scale", 1, H5T_NATIVE_FLOAT);
  if (has(in, "VTKHDF/PointData/quaternion"))
    COLUMN(quaternion, "VTKHDF/PointData/quaternion", 4, H5T_NATIVE_FLOAT);
  if (has(in, "VTKHDF/PointData/velocity"))
    COLUMN(velocity, "VTKHDF/PointData/velocity", 3, H5T_NATIVE_FLOAT);
  if (has(in, "VTKHDF/PointData/pace"))
    COLUMN(pace, "VTKHDF/PointData/pace", 1, H5T_NATIVE_DOUBLE);
#undef COLUMN
  return true;
}

bool frame_parse(const char *path, frame *found, char *why, size_t size) {
  source in;
  *found = (frame){0};
  bool good = open_source(&in, path, (reason){why, size}) &&
              read_attribute(&in, "time", &found->time) && read_attribute(&in, "dt", &found->dt) &&
              read_shapes(&in, found) && read_materials(&in, found) && read_bodies(&in, found);
  close_source(&in);
  return good;
}

bool frame_parse_time(const char *path, double *time, char *why, size_t size) {
  source in;
  const bool good =
      open_source(&in, path, (reason){why, size}) && read_attribute(&in, "time", time);
  close_source(&in);
  return good;
}

/* ---- contacts -------------------------------------------------------------------------------- */

bool frame_parse_contacts(const char *path, frame_contacts *found, char *why, size_t size) {
  source in;
  *found = (frame_contacts){0};
  bool good =
      open_source(&in, path, (reason){why, size}) && read_attribute(&in, "dt", &found->dt) &&
      (found->point = read_numbers(&in, "contacts/point", 3, H5T_NATIVE_DOUBLE, SIZE_MAX,
                                   &found->count)) != NULL &&
      (found->body_a = read_numbers(&in, "contacts/body_a", 1, H5T_NATIVE_UINT64, found->count,
                                    NULL)) != NULL &&
      (found->body_b = read_numbers(&in, "contacts/body_b", 1, H5T_NATIVE_UINT64, found->count,
                                    NULL)) != NULL &&
      (found->impulse =
           read_numbers(&in, "contacts/impulse", 3, H5T_NATIVE_FLOAT, found->count, NULL)) != NULL;
  close_source(&in);
  return good;
}

#else

static bool refuse_all(char *why, size_t size) {
  return refuse((reason){why, size}, "this talus was built without HDF5 and reads no frames; "
                                     "install libhdf5-dev and build it again");
}

bool frame_parse(const char *path, frame *found, char *why, size_t size) {
  (void)path;
  *found = (frame){0};
  return refuse_all(why, size);
}

bool frame_parse_time(const char *path, double *time, char *why, size_t size) {
  (void)path;
  *time = 0;
  return refuse_all(why, size);
}

bool frame_parse_contacts(const char *path, frame_contacts *found, char *why, size_t size) {
  (void)path;
  *found = (frame_contacts){0};
  return refuse_all(why, size);
}

#endif
