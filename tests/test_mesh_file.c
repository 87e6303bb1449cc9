/* Mesh files: whatever the bytes, points or a reason. Formats and messages:
 * tests/cli/test_shape.py. */
#include <locale.h>
#include <stdio.h>

#include "base/random.h"
#include "check.h"
#include <talus/talus.h>
#include "shape/hull.h"
#include "shape/mesh_file.h"
#include "shape/shape.h"

static const char text[] = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1e0 0 0\n"
                           "vertex 0 1.5 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\n"
                           "vertex 0 0 -1\nvertex 1 0 0\nvertex -0.0 0 0\nendloop\nendfacet\n"
                           "endsolid a\n";

TEST(each_place_is_there_once_in_the_order_of_the_file) {
  tl_coordinates points = {0};
  CHECK_OK(tl_mesh_parse_points("a.stl", text, sizeof text - 1, 2, &points));
  const double wanted[] = {0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, -2};
  CHECK_EQ_U64(points.count, 12);
  CHECK(memcmp(points.data, wanted, sizeof wanted) == 0);
  tl_array_free(&points);
}

TEST(numbers_have_points_in_every_locale) {
  if (!setlocale(LC_ALL, "de_DE.UTF-8"))
    SKIP("there is no German locale here");
  tl_coordinates points = {0};
  CHECK_OK(tl_mesh_parse_points("a.stl", text, sizeof text - 1, 1, &points));
  CHECK(points.data[7] == 1.5);
  tl_array_free(&points);
  setlocale(LC_ALL, "C");
}

/* What survives is made a hull of as well. */
TEST(damaged_files_never_crash_or_leak) {
  const size_t before = tl_memory_count().bytes;
  static const char *const names[] = {"a.stl", "a.obj", "a.xyz"};
  static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf -1 -2/3 4//4\n";
  static const char rows[] = "x,y,z\n0,0,0\n1,0,0\n0,1,0\n0,0,1\n0.2,0.2,0.9\n";
  const char *const samples[] = {text, obj, rows};
  int taken = 0;
  for (uint64_t serial = 0; serial < 6000; ++serial) {
    tl_random random = tl_random_start(10, 0, serial);
    const char *sample = samples[serial % 3];
    char bytes[512];
    size_t n = strlen(sample);
    memcpy(bytes, sample, n);
    for (uint32_t k = tl_random_u32(&random) % 4; k > 0; --k) {
      static const char likely[] = "0123456789.-eE \n,/vf\0\xff";
      bytes[tl_random_u32(&random) % n] = likely[tl_random_u32(&random) % (sizeof likely - 1)];
    }
    if (tl_random_u32(&random) % 4 == 0)
      n = tl_random_u32(&random) % n;
    tl_coordinates points = {0};
    const talus_status status = tl_mesh_parse_points(
        names[(serial + tl_random_u32(&random) % 2) % 3], bytes, n, 1, &points);
    CHECK(status == TALUS_OK ? points.count > 0 : points.count == 0);
    if (status == TALUS_OK) {
      const talus_shape_def def = {
          .kind = TALUS_HULL, .points = points.data, .point_count = points.count / 3};
      tl_shape shape;
      if (tl_shape_make(&def, &shape) == TALUS_OK) {
        taken++;
        CHECK_OK(tl_shape_validate(&shape));
        tl_shape_release(&shape);
      }
    }
    tl_array_free(&points);
  }
  CHECK(taken > 500);
  CHECK_EQ_U64(tl_memory_count().bytes, before);
}

/* A vertex that cannot be read is counted all the same: faces after it are not blamed. */
TEST(all_mistakes_of_a_mesh_come_at_once) {
  static const char obj[] = "v 0 0 0\nv 1 nil 0\nv 0 1\nf 1 2 3\nf 1 2 4\nf 1 2\n";
  tl_coordinates points = {0};
  CHECK(tl_mesh_parse_points("a.obj", obj, sizeof obj - 1, 1, &points) == TALUS_ERROR_FORMAT);
  CHECK_STR(talus_last_error(),
            "a.obj:2:5: a vertex: `nil` is not a number; expected x, y, z\n  v 1 nil 0\n      ^\n"
            "a.obj:3:6: a vertex has 2 numbers; expected x, y, z\n  v 0 1\n       ^\n"
            "a.obj:5:7: corner 4 of a face is not one of the 3 vertices before it\n  f 1 2 4\n"
            "        ^\n"
            "a.obj:6:6: a face has 2 corners; expected 3 at least\n  f 1 2\n       ^");
  static const char stl[] = "solid a\nfacet\nvertex 0 0 0\nfrob\nendfacet\nvertex 1 2 3\n";
  CHECK(tl_mesh_parse_points("a.stl", stl, sizeof stl - 1, 1, &points) == TALUS_ERROR_FORMAT);
  const char *const wanted[] = {
      "a.stl:4:1: `frob` is no word", "a.stl:5:1: a facet ends with 1 vertices",
      "a.stl:6:1: a vertex outside", "a.stl:7: the file ends within a solid"};
  for (int i = 0; i < 4; ++i)
    CHECK_MSG(strstr(talus_last_error(), wanted[i]), "%s", talus_last_error());
  tl_array_free(&points);
}

TEST_MAIN()
