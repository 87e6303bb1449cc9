/* Any bytes as a file of points: STL, OBJ or rows, by the first byte.
 * What is read is finite, each place once, and makes a hull or a reason why not. */
#include "fuzz.h"
#include "shape/mesh_file.h"
#include <talus/talus.h>

#include <math.h>

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
    promise_message(talus_last_error(), name);
  }
  tl_array_free(&points);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"a.stl", "a.obj", "a.csv", "a.xyz"};
  if (size == 0)
    return 0;
  /* Letters, so that a corpus can be read: S, O, P (points), X. */
  static const char letters[] = "SOPX";
  const char *letter = memchr(letters, data[0], 4);
  read_points(names[letter ? letter - letters : data[0] % 4], (const char *)data + 1, size - 1);
  return 0;
}
