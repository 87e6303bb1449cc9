/* Worlds in tests: a shape in one line, and what a body does. */
#ifndef TESTS_WORLD_FIXTURE_H
#define TESTS_WORLD_FIXTURE_H

#include "check.h"

#include <talus/talus.h>

static inline talus_shape shape(talus_world *world, talus_shape_kind kind, double a, double b,
                                double c) {
  talus_shape_def def = talus_shape_def_default();
  talus_shape s;
  def.kind = kind, def.size[0] = a, def.size[1] = b, def.size[2] = c, def.size[3] = 0;
  CHECK_OK(talus_world_add_shape(world, &def, &s));
  return s;
}

static inline talus_body_info info(const talus_world *world, talus_body b) {
  talus_body_info i;
  CHECK_OK(talus_world_get_body(world, b, &i));
  return i;
}

#endif
