/* A model and a state put together by hand, for tests of src/flow that need no world. */
#ifndef TESTS_FLOW_FIXTURE_H
#define TESTS_FLOW_FIXTURE_H

#include "check.h"
#include "flow/flow.h"
#include "shape/shape.h"

typedef struct fixture {
  tl_model model;
  tl_state state;
  size_t capacity;
} fixture;

static inline fixture fixture_make(size_t capacity) {
  fixture f = {.capacity = capacity};
  f.model.par.threads = 1;
  f.model.dt = 1e-3;
  CHECK_OK(tl_fields_resize(&f.state, tl_state_fields, TL_STATE_FIELD_COUNT, 0, capacity));
  CHECK_OK(tl_fields_resize(&f.model.property, tl_property_fields, TL_PROPERTY_FIELD_COUNT, 0,
                            capacity));
  const tl_material rock = {.density = 1000, .friction = TL_R(0.5)};
  CHECK_OK(tl_array_push(&f.model.materials, rock));
  return f;
}

static inline void fixture_free(fixture *f) {
  (void)tl_fields_resize(&f->state, tl_state_fields, TL_STATE_FIELD_COUNT, f->capacity, 0);
  (void)tl_fields_resize(&f->model.property, tl_property_fields, TL_PROPERTY_FIELD_COUNT,
                         f->capacity, 0);
  for (size_t i = 0; i < f->model.shapes.count; ++i)
    tl_shape_release(&f->model.shapes.data[i]);
  tl_array_free(&f->model.shapes);
  tl_array_free(&f->model.materials);
  tl_array_free(&f->model.ignored);
}

static inline talus_shape fixture_shape(fixture *f, talus_shape_kind kind, double a, double b,
                                        double c, double d) {
  const talus_shape_def def = {.kind = kind, .size = {a, b, c, d}};
  tl_shape shape;
  CHECK_OK(tl_shape_make(&def, &shape));
  CHECK_OK(tl_array_push(&f->model.shapes, shape));
  return (talus_shape){(uint32_t)f->model.shapes.count - 1};
}

static inline talus_shape fixture_sphere(fixture *f, double radius) {
  return fixture_shape(f, TALUS_SPHERE, radius, 0, 0, 0);
}

/* A body at rest; returns its slot. uids are 10, 20, 30, ... */
static inline uint32_t fixture_body(fixture *f, talus_shape shape, double x, double y, double z,
                                    uint32_t flags) {
  const uint32_t slot = (uint32_t)f->model.bodies++;
  CHECK(slot < f->capacity);
  const tl_shape *kind = &f->model.shapes.data[shape.index];
  f->state.position[slot] = tl_dvec3(x, y, z);
  f->state.rotation[slot] = tl_quat_identity();
  f->state.velocity[slot] = f->state.spin[slot] = tl_vec3(0, 0, 0);
  f->model.property.uid[slot] = 10 * ((uint64_t)slot + 1);
  f->model.property.mass[slot] = TL_R(1000 * kind->volume);
  f->model.property.scale[slot] = 1;
  f->model.property.shape[slot] = shape.index;
  f->model.property.material[slot] = 0;
  f->model.property.group[slot] = 0;
  f->model.property.flags[slot] = flags;
  f->model.property.motion[slot] = TL_NONE;
  return slot;
}

static inline talus_body_def fixture_body_def(talus_shape shape) {
  return (talus_body_def){.shape = shape, .rotation = {1, 0, 0, 0}, .scale = 1};
}

static inline talus_region fixture_box(double x0, double y0, double z0, double x1, double y1,
                                       double z1) {
  return (talus_region){.kind = TALUS_REGION_BOX, .box = {{x0, y0, z0}, {x1, y1, z1}}};
}

static inline void fixture_periodic(fixture *f, double length, bool x, bool y, bool z) {
  f->model.domain = (talus_domain_def){
      .enabled = true, .box = {{0, 0, 0}, {length, length, length}}, .periodic = {x, y, z}};
}

/* The message of a call that must fail. */
#define CHECK_FAILS(call, text)                                                                    \
  do {                                                                                             \
    CHECK((call) == TALUS_ERROR_INVALID);                                                          \
    CHECK_MSG(strstr(talus_last_error(), (text)) != NULL, "the message is \"%s\"",                 \
              talus_last_error());                                                                 \
  } while (0)

#endif
