#include "output/output.h"

#include "output/vtk.h"

#if TALUS_HAVE_HDF5

/* One column of the contact set at a time, gathered into the scratch. */

static talus_status write_bodies(tl_h5_out *out, const talus_world *world, uint64_t *uids) {
  const tl_contact *contact = world->contacts.data;
  const size_t n = world->contacts.count;
  const uint64_t *uid = world->model.property.uid;
  for (size_t i = 0; i < n; ++i)
    uids[i] = uid[contact[i].a];
  TL_TRY(tl_h5_write(out, "VTKHDF/PointData/body_a", TL_H5_U64, n, 1, uids));
  for (size_t i = 0; i < n; ++i)
    uids[i] = uid[contact[i].b];
  return tl_h5_write(out, "VTKHDF/PointData/body_b", TL_H5_U64, n, 1, uids);
}

static talus_status write_vectors(tl_h5_out *out, const talus_world *world, talus_vec3 *vectors) {
  const tl_contact *contact = world->contacts.data;
  const size_t n = world->contacts.count;
  for (size_t i = 0; i < n; ++i)
    vectors[i] = contact[i].normal;
  TL_TRY(tl_h5_write(out, "VTKHDF/PointData/normal", TL_H5_REAL, n, 3, vectors));
  for (size_t i = 0; i < n; ++i)
    vectors[i] = tl_contacts_impulse(&world->contacts, i);
  return tl_h5_write(out, "VTKHDF/PointData/impulse", TL_H5_REAL, n, 3, vectors);
}

static talus_status write_gaps(tl_h5_out *out, const talus_world *world, talus_real *gaps) {
  const size_t n = world->contacts.count;
  for (size_t i = 0; i < n; ++i)
    gaps[i] = world->contacts.data[i].gap;
  return tl_h5_write(out, "VTKHDF/PointData/gap", TL_H5_REAL, n, 1, gaps);
}

static talus_status write_features(tl_h5_out *out, const talus_world *world, uint32_t *features) {
  const size_t n = world->contacts.count;
  for (size_t i = 0; i < n; ++i) {
    features[2 * i] = world->contacts.data[i].feature_a;
    features[2 * i + 1] = world->contacts.data[i].feature_b;
  }
  return tl_h5_write(out, "VTKHDF/PointData/features", TL_H5_U32, n, 2, features);
}

static talus_status write_points(tl_h5_out *out, const talus_world *world, talus_dvec3 *points) {
  const size_t n = world->contacts.count;
  for (size_t i = 0; i < n; ++i)
    points[i] = world->contacts.data[i].point;
  return tl_vtk_write_points(out, world, n, points);
}

/* The same datasets under the names a plain reader looks for; a link costs no space. */
static talus_status write_links(tl_h5_out *out) {
  static const char *const link[][2] = {
      {"contacts/point", "VTKHDF/Points"},
      {"contacts/body_a", "VTKHDF/PointData/body_a"},
      {"contacts/body_b", "VTKHDF/PointData/body_b"},
      {"contacts/normal", "VTKHDF/PointData/normal"},
      {"contacts/gap", "VTKHDF/PointData/gap"},
      {"contacts/impulse", "VTKHDF/PointData/impulse"},
      {"contacts/features", "VTKHDF/PointData/features"},
  };
  TL_TRY(tl_h5_group(out, "contacts"));
  for (size_t i = 0; i < sizeof link / sizeof *link; ++i)
    TL_TRY(tl_h5_link(out, link[i][0], link[i][1]));
  return TALUS_OK;
}

static talus_status write_contacts(tl_h5_out *out, const talus_world *world, void *scratch) {
  TL_TRY(write_points(out, world, scratch));
  TL_TRY(write_bodies(out, world, scratch));
  TL_TRY(write_vectors(out, world, scratch));
  TL_TRY(write_gaps(out, world, scratch));
  TL_TRY(write_features(out, world, scratch));
  return write_links(out);
}

talus_status tl_output_write_contacts(struct talus_world *world, const char *path, tl_file *keep) {
  const talus_status stored = tl_world_store_late(world);
  if (stored != TALUS_OK)
    return tl_fail_in(stored, "%s: contacts cannot be written", path);
  const size_t n = world->contacts.count;
  const size_t bytes = (n + 1) * sizeof(talus_dvec3); /* the widest column */
  void *scratch = NULL;
  TL_TRY(tl_resize(&scratch, 0, bytes));
  tl_h5_out out;
  const size_t row = TL_VTK_POINT_BYTES + 24 + 7 * sizeof(talus_real);
  talus_status status = tl_h5_create(&out, n * row + 65536, 0);
  if (status == TALUS_OK)
    status = tl_h5_finish(&out, write_contacts(&out, world, scratch), path, keep, NULL);
  (void)tl_resize(&scratch, bytes, 0); /* freeing cannot fail */
  return status;
}

#endif
