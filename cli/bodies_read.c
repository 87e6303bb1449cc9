#include "bodies_read.h"

#include "base/input.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "frame_read.h"

typedef struct bodies_source {
  const char *path;
  char *text; /* the whole file and a final 0 */
  size_t length;
  char *why;
  size_t why_size;
} bodies_source;

/* Always false. */
static bool refuse(const bodies_source *in, const char *fmt, ...) CLI_PRINTF(2, 3);
static bool refuse(const bodies_source *in, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(in->why, in->why_size, fmt, args);
  va_end(args);
  return false;
}

void bodies_free(body_table *table) {
  talus_body_table_free(&table->csv);
  free(table->record);
  free(table->shapes);
  free(table->shape);
  free(table->scale);
  free(table->rotation);
  free(table->points);
  free(table->triangles);
  *table = (body_table){0};
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool refuse_file(bodies_source *in, FILE *file) {
  const int error = errno;
  if (file)
    fclose(file);
  free(in->text);
  in->text = NULL;
  return refuse(in, "%s: %s", in->path, strerror(error));
}

/* Largest size of a table. It is read as a whole, and its bodies need as much memory again: a
 * larger one would use up memory before an error could be reported. */
static size_t most_bytes(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 2 : (size_t)1 << 32;
}

static bool refuse_large(bodies_source *in, FILE *file) {
  fclose(file);
  free(in->text);
  in->text = NULL;
  return refuse(in, "%s: larger than %zu MiB, half of this machine's memory; give it in parts",
                in->path, most_bytes() >> 20);
}

/* Reads the whole file, even if it grows meanwhile. */
static bool read_whole(bodies_source *in) {
  const size_t most = most_bytes();
  struct stat stats;
  FILE *file = tl_input_file(in->path, in->why, in->why_size);
  if (!file)
    return false;
  if (fstat(fileno(file), &stats) != 0)
    return refuse_file(in, file);
  if ((uint64_t)stats.st_size > most)
    return refuse_large(in, file);
  size_t capacity = (size_t)stats.st_size + 2;
  in->text = malloc(capacity);
  for (size_t got = 1; in->text && got > 0;) {
    got = fread(in->text + in->length, 1, capacity - 1 - in->length, file);
    in->length += got;
    if (in->length < capacity - 1)
      continue;
    if (in->length > most)
      return refuse_large(in, file);
    capacity += capacity / 2;
    char *grown = realloc(in->text, capacity);
    if (!grown)
      free(in->text);
    in->text = grown;
  }
  if (!in->text || ferror(file)) {
    errno = in->text ? errno : ENOMEM;
    return refuse_file(in, file);
  }
  fclose(file);
  in->text[in->length] = '\0';
  return true;
}

static bool ends_in(const char *path, const char *suffix) {
  const size_t length = strlen(path), end = strlen(suffix);
  return length >= end && strcmp(path + length - end, suffix) == 0;
}

/* ---- binary ---------------------------------------------------------------------------------- */

#define RECORD ((size_t)32)

static uint64_t little_endian(const char *at) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = value << 8 | (unsigned char)at[i];
  return value;
}

/* True if the file has exactly as many records as its first number says. */
static bool is_binary(const bodies_source *in) {
  return in->length >= 8 && (in->length - 8) % RECORD == 0 &&
         little_endian(in->text) == (in->length - 8) / RECORD;
}

/* Converts the text to records. */
static bool parse_binary(bodies_source *in, body_table *table) {
  if (in->length < 8)
    return refuse(in, "%s: %zu bytes are no bodies: 8 for their number come first", in->path,
                  in->length);
  const uint64_t n = little_endian(in->text);
  if (!is_binary(in))
    return refuse(in, "%s: it says %llu bodies, 32 bytes each, but %zu bytes follow: it is %s",
                  in->path, (unsigned long long)n, in->length - 8,
                  (in->length - 8) / RECORD < n ? "cut off, or no file of bodies"
                                                : "longer than it should be");
  double *record = (double *)(void *)in->text;
  for (size_t i = 0; i < 4 * (size_t)n; ++i) {
    const uint64_t bits = little_endian(in->text + 8 + 8 * i);
    memcpy(&record[i], &bits, sizeof bits); /* always behind the part that is read next */
  }
  table->record = record;
  table->bodies.count = (size_t)n;
  in->text = NULL;
  return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

_Static_assert((int)FRAME_MESH == (int)TALUS_MESH && (int)FRAME_OTHER == (int)TALUS_SHAPE_KINDS,
               "kinds of frames are those of talus.h");

/* Hull: x, y, z of each point; clump: the radius too; revolved: z and radius. Contacts do not need
 * the mass of a clump: with any given mass the integral is saved. */
static void convert_points(const frame *from, const frame_shape *shape, double *to,
                           uint32_t *corners, talus_shape_def *def) {
  const bool is_wall = shape->kind == FRAME_REVOLVED;
  const size_t width = shape->kind == FRAME_CLUMP ? 4 : is_wall ? 2 : 3;
  for (size_t i = 0; i < shape->points; ++i)
    memcpy(to + width * i, from->point + 4 * (shape->point + i) + (is_wall ? 2 : 0),
           width * sizeof *to);
  def->points = to;
  def->point_count = shape->points;
  if (shape->kind == FRAME_MESH) {
    memcpy(corners, from->triangle + 3 * (size_t)shape->triangle,
           3 * (size_t)shape->triangles * sizeof *corners);
    def->triangles = corners;
    def->triangle_count = shape->triangles;
    def->sides = (talus_sides)shape->open;
    def->thickness = shape->size[0], def->rounding = shape->size[1];
    def->open = 0;
  }
  if (shape->kind != FRAME_CLUMP)
    return;
  def->volume = 1;
  def->centre = (talus_dvec3){shape->centre[0], shape->centre[1], shape->centre[2]};
  def->inertia[0] = def->inertia[1] = def->inertia[2] = 1;
}

static bool convert_shapes(const bodies_source *in, const frame *from, body_table *table) {
  table->bodies.shape_count = from->shapes;
  table->points = malloc((4 * from->points + 1) * sizeof *table->points);
  table->triangles = malloc((3 * from->triangles + 1) * sizeof *table->triangles);
  if (!table->points || !table->triangles)
    return refuse(in, "%s: out of memory for shapes", in->path);
  for (size_t i = 0; i < from->shapes; ++i) {
    const frame_shape *shape = &from->shape_table[i];
    if (shape->kind == FRAME_OTHER)
      return refuse(in, "%s: contacts of the shape '%s' are not in this version", in->path,
                    shape->kind_name);
    table->shapes[i] = talus_shape_def_default();
    table->shapes[i].kind = (talus_shape_kind)shape->kind; /* both enums have the same order */
    memcpy(table->shapes[i].size, shape->size, sizeof shape->size);
    if (shape->kind == FRAME_REVOLVED)
      table->shapes[i].sides = shape->open == 1   ? TALUS_SIDES_OUT
                               : shape->open == 2 ? TALUS_SIDES_BOTH
                                                  : TALUS_SIDES_IN; /* docs/formats.md */
    else
      table->shapes[i].open = shape->open;
    convert_points(from, shape, table->points + 4 * (size_t)shape->point,
                   table->triangles + 3 * (size_t)shape->triangle, &table->shapes[i]);
  }
  return true;
}

/* A frame has the centre of mass; the table needs the origin of the shape's own frame. */
static void place_origin(const double centre[3], double scale, const double q[4], double x[3]) {
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  length = length > 0 ? length : 1;
  const double w = q[0] / length, u[3] = {q[1] / length, q[2] / length, q[3] / length};
  const double c[3] = {scale * centre[0], scale * centre[1], scale * centre[2]};
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double dot = u[0] * c[0] + u[1] * c[1] + u[2] * c[2];
    const double cross = u[i] * c[j] - u[j] * c[i];
    const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    x[k] -= 2 * dot * u[k] + (w * w - square) * c[k] + 2 * w * cross;
  }
}

static bool convert_bodies(const bodies_source *in, const frame *from, body_table *table) {
  bool turned = false;
  for (size_t i = 0; i < from->bodies; ++i) {
    const uint32_t row = from->shape[i];
    if (row >= from->shapes)
      return refuse(in, "%s: body %zu has no shape; the file is damaged", in->path, i);
    double *x = table->record + 4 * i, *q = table->rotation + 4 * i;
    for (int k = 0; k < 4; ++k)
      q[k] = from->quaternion ? (double)from->quaternion[4 * i + (size_t)k] : k == 0;
    memcpy(x, from->position + 3 * i, 3 * sizeof *x);
    x[3] = 0;
    table->scale[i] = (double)from->scale[i];
    table->shape[i] = row;
    place_origin(from->shape_table[row].centre, table->scale[i], q, x);
    turned = turned || from->shape_table[row].kind != FRAME_SPHERE;
  }
  if (turned && !from->quaternion)
    return refuse(in,
                  "%s: it does not say how its bodies are turned; run the scene with "
                  "output: {fields: [quaternion]}",
                  in->path);
  return true;
}

static bool parse_frame(bodies_source *in, body_table *table) {
  frame found;
  if (!frame_read(in->path, &found, in->why, in->why_size))
    return false;
  const size_t n = found.bodies;
  table->bodies.count = n;
  table->record = malloc((n + 1) * 4 * sizeof *table->record);
  table->shapes = malloc((found.shapes + 1) * sizeof *table->shapes);
  table->shape = malloc((n + 1) * sizeof *table->shape);
  table->scale = malloc((n + 1) * sizeof *table->scale);
  table->rotation = malloc((n + 1) * 4 * sizeof *table->rotation);
  bool good = table->record && table->shapes && table->shape && table->scale && table->rotation;
  if (!good)
    refuse(in, "%s: out of memory for %zu bodies", in->path, n);
  good = good && convert_shapes(in, &found, table) && convert_bodies(in, &found, table);
  frame_free(&found);
  return good;
}

/* ---- which of them --------------------------------------------------------------------------- */

/* The signature may be at 0, 512, 1024, 2048 ... (after a block of the user's). */
static bool is_hdf5(const char *path) {
  static const char signature[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  char start[sizeof signature];
  char why[64];
  FILE *file = tl_input_file(path, why, sizeof why);
  const bool found = file && fread(start, sizeof start, 1, file) == 1 &&
                     memcmp(start, signature, sizeof signature) == 0;
  if (file)
    fclose(file);
  return found;
}

static bool parse(bodies_source *in, body_table *table) {
  struct stat stats;
  if (stat(in->path, &stats) != 0)
    return refuse(in, "%s: %s", in->path, strerror(errno));
  if (S_ISDIR(stats.st_mode))
    return refuse(in, "%s is a folder; give one of its frames: %s/frames/000000.hdf", in->path,
                  in->path);
  if (S_ISREG(stats.st_mode) && (is_hdf5(in->path) || ends_in(in->path, ".hdf")))
    return parse_frame(in, table);
  if (!read_whole(in))
    return false;
  if (is_binary(in) || ends_in(in->path, ".bin"))
    return parse_binary(in, table);
  if (memchr(in->text, '\0', in->length))
    return refuse(in,
                  "%s: neither a table (it holds zero bytes) nor binary records: the number "
                  "in front is not that of the 32-byte records that follow",
                  in->path);
  if (talus_body_table_parse(in->text, in->length, in->path, &table->csv) != TALUS_OK)
    return refuse(in, "%s", talus_last_error());
  return true;
}

bool bodies_read(const char *path, body_table *table, char *why, size_t size) {
  bodies_source in = {.path = path, .why = why, .why_size = size};
  *table = (body_table){0};
  const bool good = parse(&in, table);
  free(in.text);
  if (!good) {
    bodies_free(table);
    return false;
  }
  talus_detect_bodies *bodies = &table->bodies;
  if (table->csv.own) {
    *bodies = table->csv.bodies;
    return true;
  }
  bodies->position = table->record;
  bodies->position_stride = bodies->radius_stride = 4;
  bodies->radius = table->record ? table->record + 3 : NULL;
  bodies->shapes = table->shapes;
  bodies->shape = table->shape;
  bodies->scale = table->scale;
  bodies->rotation = table->rotation;
  return true;
}
