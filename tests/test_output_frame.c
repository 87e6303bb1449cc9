/* Frames and contact files: the names and numbers of docs/formats.md. tests/cli/test_frames_vtk.py
 * opens what the first test leaves behind with the reader of ParaView. */
#include "output_fixture.h"

#if TALUS_HAVE_HDF5

#include "output/h5.h"

static tl_h5_in open_file(const char *path) {
  bytes file = read_bytes(path);
  free(file.data);
  tl_h5_in in;
  CHECK_OK(tl_h5_open(&in, path, file.size));
  return in;
}

/* What the Python test compares with. */
static void write_expectation(const talus_world *world) {
  FILE *file = fopen("expected.json", "w");
  CHECK(file != NULL);
  fprintf(file, "{\"bodies\": %zu, \"contacts\": %zu, \"time\": %.17g, \"real\": %zu,\n",
          world->model.bodies, world->contacts.count, talus_world_time(world), sizeof(talus_real));
  fprintf(file, "\"position\": [");
  for (size_t i = 0; i < world->model.bodies; ++i)
    fprintf(file, "%s[%.17g, %.17g, %.17g]", i ? ", " : "", world->state.position[i].x,
            world->state.position[i].y, world->state.position[i].z);
  fprintf(file, "],\n\"id\": [");
  for (size_t i = 0; i < world->model.bodies; ++i)
    fprintf(file, "%s%" PRIu64, i ? ", " : "", world->model.property.uid[i]);
  fprintf(file, "],\n\"body_b\": [");
  for (size_t i = 0; i < world->contacts.count; ++i)
    fprintf(file, "%s%" PRIu64, i ? ", " : "",
            world->model.property.uid[world->contacts.data[i].b]);
  fprintf(file, "],\n\"impulse\": [");
  for (size_t i = 0; i < world->contacts.count; ++i) {
    const talus_vec3 p = world->contacts.data[i].impulse;
    fprintf(file, "%s[%.17g, %.17g, %.17g]", i ? ", " : "", (double)p.x, (double)p.y, (double)p.z);
  }
  fprintf(file, "]}\n");
  CHECK(fclose(file) == 0);
}

TEST(frames_and_contacts_are_written) {
  rich r = make_rich();
  const talus_world_def def = talus_world_def_default();
  talus_world *empty;
  CHECK_OK(talus_world_create(&def, &empty));
  CHECK_OK(talus_world_step(r.world, 120));
  CHECK_OK(talus_world_write_frame(r.world, "frame.hdf"));
  CHECK_OK(talus_world_write_contacts(r.world, "contacts.hdf"));
  CHECK_OK(talus_world_write_frame(empty, "empty.hdf"));
  CHECK_OK(talus_world_write_contacts(empty, "empty-contacts.hdf"));
  write_expectation(r.world);
  talus_world_destroy(empty);
  talus_world_destroy(r.world);
}

TEST(a_frame_holds_the_arrays_of_the_contract) {
  rich r = make_rich();
  CHECK_OK(talus_world_step(r.world, 40));
  CHECK_OK(talus_world_write_frame(r.world, "arrays.hdf"));
  const tl_model *model = &r.world->model;
  const size_t n = model->bodies;
  tl_h5_in in = open_file("arrays.hdf");
  talus_dvec3 *points = malloc(n * sizeof *points);
  talus_vec3 *velocity = malloc(n * sizeof *velocity), *half = malloc(n * sizeof *half);
  talus_real *radius = malloc(n * sizeof *radius);
  uint64_t *id = malloc(n * sizeof *id);
  uint32_t *shape = malloc(n * sizeof *shape);
  CHECK_OK(tl_h5_read(&in, "VTKHDF/Points", TL_H5_F64, n, 3, points));
  CHECK_OK(tl_h5_read(&in, "VTKHDF/PointData/id", TL_H5_U64, n, 1, id));
  CHECK_OK(tl_h5_read(&in, "VTKHDF/PointData/velocity", TL_H5_REAL, n, 3, velocity));
  CHECK_OK(tl_h5_read(&in, "VTKHDF/PointData/spin", TL_H5_REAL, n, 3, half));
  CHECK_OK(tl_h5_read(&in, "VTKHDF/PointData/half_axes", TL_H5_REAL, n, 3, half));
  CHECK_OK(tl_h5_read(&in, "VTKHDF/PointData/radius", TL_H5_REAL, n, 1, radius));
  CHECK_OK(tl_h5_read(&in, "VTKHDF/PointData/shape", TL_H5_U32, n, 1, shape));
  CHECK_OK(tl_h5_read(&in, "VTKHDF/PointData/material", TL_H5_U32, n, 1, shape));
  tl_h5_close(&in);
  CHECK(memcmp(points, r.world->state.position, n * sizeof *points) == 0);
  CHECK(memcmp(velocity, r.world->state.velocity, n * sizeof *velocity) == 0);
  CHECK(memcmp(id, model->property.uid, n * sizeof *id) == 0);
  for (size_t i = 0; i < n; ++i) {
    const tl_shape *s = tl_body_shape(model, i);
    const double scale = (double)model->property.scale[i];
    const double edge[3] = {s->size[0], s->size[1], s->size[2]};
    const double want = s->kind == TALUS_SPHERE  ? edge[0] * scale
                        : s->kind == TALUS_PLANE ? 0
                                                 : 0.5 * edge[1] * scale;
    CHECK_NEAR(half[i].y, want, 1e-6 * want);
    CHECK_NEAR(radius[i],
               s->kind == TALUS_SPHERE ? want
               : s->kind == TALUS_PLANE
                   ? 0
                   : 0.5 * scale * sqrt(edge[0] * edge[0] + edge[1] * edge[1] + edge[2] * edge[2]),
               1e-6);
  }
  free(points), free(velocity), free(half), free(radius), free(id), free(shape);
  talus_world_destroy(r.world);
}

/* A body whose shape's own frame differs from its principal frame: the file has the own one. */
TEST(the_quaternion_is_of_the_shape_s_own_frame) {
  rich r = make_rich();
  tl_shape *brick = &r.world->model.shapes.data[r.brick.index];
  const talus_real half = tl_sqrt((talus_real)0.5);
  brick->axes = (talus_quat){half, 0, 0, half};
  talus_body_def def = place(TALUS_FREE, r.brick, r.rock, 0, 0, 5);
  const talus_quat given = tl_quat_normalize((talus_quat){1, 2, 3, 4});
  def.rotation = given;
  talus_body body;
  CHECK_OK(talus_world_add_body(r.world, &def, &body));
  talus_body_info info;
  CHECK_OK(talus_world_get_body(r.world, body, &info));
  CHECK(fabs((double)(info.rotation.w - given.w)) > 0.1);
  CHECK_OK(talus_world_write_frame(r.world, "own.hdf"));
  const size_t n = r.world->model.bodies, shapes = r.world->model.shapes.count;
  talus_quat *rotation = malloc(n * sizeof *rotation), *axes = malloc(shapes * sizeof *axes);
  tl_h5_in in = open_file("own.hdf");
  CHECK_OK(tl_h5_read(&in, "VTKHDF/PointData/quaternion", TL_H5_REAL, n, 4, rotation));
  CHECK_OK(tl_h5_read(&in, "talus/shapes/axes", TL_H5_REAL, shapes, 4, axes));
  tl_h5_close(&in);
  const talus_quat got = rotation[n - 1];
  CHECK_NEAR(got.w, given.w, 1e-6);
  CHECK_NEAR(got.x, given.x, 1e-6);
  CHECK_NEAR(got.y, given.y, 1e-6);
  CHECK_NEAR(got.z, given.z, 1e-6);
  CHECK_NEAR(axes[r.brick.index].z, half, 0);
  free(rotation), free(axes);
  talus_world_destroy(r.world);
}

static bool has(tl_h5_in *in, const char *name) {
  bool is_there;
  CHECK_OK(tl_h5_has(in, name, &is_there));
  return is_there;
}

TEST(fields_that_were_not_asked_for_are_left_out) {
  rich r = make_rich();
  CHECK_OK(tl_output_write_frame(r.world, "few.hdf", NULL, TL_FRAME_VELOCITY));
  tl_h5_in in = open_file("few.hdf");
  CHECK(has(&in, "VTKHDF/PointData/velocity"));
  CHECK(!has(&in, "VTKHDF/PointData/quaternion"));
  CHECK(!has(&in, "VTKHDF/PointData/spin"));
  CHECK(has(&in, "VTKHDF/PointData/id") && has(&in, "VTKHDF/PointData/half_axes"));
  tl_h5_close(&in);
  talus_world_destroy(r.world);
}

TEST(contacts_have_plain_names_too) {
  rich r = make_rich();
  CHECK_OK(talus_world_step(r.world, 120));
  CHECK_OK(talus_world_write_contacts(r.world, "plain.hdf"));
  const size_t n = r.world->contacts.count;
  talus_dvec3 *point = malloc(n * sizeof *point);
  talus_real *gap = malloc(n * sizeof *gap);
  uint64_t *a = malloc(n * sizeof *a);
  uint32_t *features = malloc(n * 2 * sizeof *features);
  talus_vec3 *normal = malloc(n * sizeof *normal);
  tl_h5_in in = open_file("plain.hdf");
  CHECK_OK(tl_h5_read(&in, "contacts/point", TL_H5_F64, n, 3, point));
  CHECK_OK(tl_h5_read(&in, "contacts/gap", TL_H5_REAL, n, 1, gap));
  CHECK_OK(tl_h5_read(&in, "contacts/body_a", TL_H5_U64, n, 1, a));
  CHECK_OK(tl_h5_read(&in, "contacts/normal", TL_H5_REAL, n, 3, normal));
  CHECK_OK(tl_h5_read(&in, "contacts/impulse", TL_H5_REAL, n, 3, normal));
  CHECK_OK(tl_h5_read(&in, "contacts/features", TL_H5_U32, n, 2, features));
  tl_h5_close(&in);
  for (size_t i = 0; i < n; ++i) {
    const tl_contact *c = &r.world->contacts.data[i];
    CHECK(point[i].x == c->point.x && gap[i] == c->gap && normal[i].z == c->impulse.z);
    CHECK(a[i] == r.world->model.property.uid[c->a] && features[2 * i + 1] == c->feature_b);
  }
  free(point), free(gap), free(a), free(features), free(normal);
  talus_world_destroy(r.world);
}

#endif

OUTPUT_TEST_MAIN()
