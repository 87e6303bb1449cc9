/* A model and a state put together by hand, for tests of src/flow that need no world. */
#ifndef TESTS_FLOW_FIXTURE_H
#define TESTS_FLOW_FIXTURE_H

#include "check.h"
#include "flow/flow.h"
#include "shape/shape.h"

/* Counts log lines. */
static inline void fixture_count_line(void *context, tl_log_level level, const char *line) {
  (void)level, (void)line;
  ++*(int *)context;
}

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
  const tl_material rock = {.density = 1000,
                            .law = {.friction = TL_R(0.5), .static_friction = TL_R(0.5)}};
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

/* Whether two boxes are apart, by the separating axis theorem (Gottschalk, Lin, Manocha 1996): a
 * reference that shares nothing with the library. offset: from a to b. */
static inline bool boxes_are_apart(talus_dvec3 offset, talus_quat qa, talus_dvec3 half_a,
                                   talus_quat qb, talus_dvec3 half_b) {
  const tl_mat3 ra = tl_mat3_from_quat(qa), rb = tl_mat3_from_quat(qb);
  const double d[3] = {offset.x, offset.y, offset.z};
  const double ha[3] = {half_a.x, half_a.y, half_a.z}, hb[3] = {half_b.x, half_b.y, half_b.z};
  for (int test = 0; test < 15; ++test) {
    double axis[3], reach = 0, distance = 0;
    for (int k = 0; k < 3; ++k) {
      const int k1 = (k + 1) % 3, k2 = (k + 2) % 3, i = (test - 6) / 3, j = (test - 6) % 3;
      if (test < 6)
        axis[k] = (double)(test < 3 ? ra.m[k][test] : rb.m[k][test - 3]);
      else
        axis[k] = (double)(ra.m[k1][i] * rb.m[k2][j] - ra.m[k2][i] * rb.m[k1][j]);
    }
    for (int k = 0; k < 3; ++k) {
      double along_a = 0, along_b = 0;
      for (int l = 0; l < 3; ++l) {
        along_a += axis[l] * (double)ra.m[l][k];
        along_b += axis[l] * (double)rb.m[l][k];
      }
      distance += axis[k] * d[k];
      reach += ha[k] * fabs(along_a) + hb[k] * fabs(along_b);
    }
    if (fabs(distance) > reach)
      return true;
  }
  return false;
}

/* The message of a call that must fail. */
#define CHECK_FAILS(call, text)                                                                    \
  do {                                                                                             \
    CHECK((call) == TALUS_ERROR_INVALID);                                                          \
    CHECK_MSG(strstr(talus_last_error(), (text)) != NULL, "the message is \"%s\"",                 \
              talus_last_error());                                                                 \
  } while (0)

#endif
