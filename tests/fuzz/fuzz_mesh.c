/* Any bytes as a file of points: STL, OBJ or rows, by the first byte, or as a table of a motion.
 * What is read is finite, each place once, and makes a hull or a reason why not. */
#include "fuzz.h"
#include "motion_file.h"
#include "shape/mesh_file.h"

#include <math.h>
#include <string.h>

static void check_message(const char *name) {
  const char *why = talus_last_error();
  PROMISE(strncmp(why, name, strlen(name)) == 0, "the message does not name the file: %s", why);
  for (const unsigned char *c = (const unsigned char *)why; *c; ++c)
    PROMISE(*c >= ' ' || *c == '\n' || *c == '\t', "not for a terminal: byte %u", *c);
}

/* A hull of a few points: quickhull is not what is looked for here, and it has its own tests. */
static void try_hull(const tl_coordinates *points) {
  talus_shape_def def = talus_shape_def_default();
  talus_shape_info info;
  def.kind = TALUS_HULL;
  def.points = points->data;
  def.point_count = points->count / 3 < 64 ? points->count / 3 : 64;
  if (talus_shape_measure(&def, &info) == TALUS_OK)
    PROMISE(info.volume > 0 && info.radius > 0, "a hull of volume %g", info.volume);
  else
    PROMISE(talus_last_error()[0] != '\0', "refused without a word");
}

static void read_points(const char *name, const char *bytes, size_t size) {
  tl_coordinates points = {0};
  if (tl_mesh_parse_points(name, bytes, size, 1.5, &points) == TALUS_OK) {
    PROMISE(points.count > 0 && points.count % 3 == 0, "%zu numbers", points.count);
    for (size_t i = 0; i < points.count; ++i)
      PROMISE(!isnan(points.data[i]), "number %zu is none", i);
    try_hull(&points);
  } else {
    PROMISE(points.count == 0, "refused, and yet there are points");
    check_message(name);
  }
  tl_array_free(&points);
}

static void read_table(const char *name, const char *bytes, size_t size) {
  tl_motion_values values = {0};
  talus_motion_table kind = TALUS_TABLE_NONE;
  if (tl_motion_parse(name, bytes, size, &values, &kind) == TALUS_OK) {
    const size_t columns = kind == TALUS_TABLE_POSES ? 8 : kind == TALUS_TABLE_PLACES ? 4 : 2;
    PROMISE(values.count > 0 && values.count % columns == 0, "%zu numbers", values.count);
    for (size_t i = columns; i < values.count; i += columns)
      PROMISE(values.data[i] > values.data[i - columns], "times do not rise");
  } else {
    PROMISE(values.count == 0, "refused, and yet there are values");
    check_message(name);
  }
  tl_array_free(&values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"a.stl", "a.obj", "a.csv", "a.xyz"};
  if (size == 0)
    return 0;
  /* Letters, so that a corpus can be read: S, O, P (points), X, and M (motion). */
  const char *bytes = (const char *)data + 1;
  const char *letters = "SOPX", *letter = memchr(letters, data[0], 4);
  if (letter)
    read_points(names[letter - letters], bytes, size - 1);
  else
    read_table("motion.csv", bytes, size - 1);
  return 0;
}
