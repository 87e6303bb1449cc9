#include "output/output.h"

#include "output/checkpoint.h"
#include "output/vtk.h"

#if TALUS_HAVE_HDF5

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* Whether a field goes under its own name: points have a place of their own in VTKHDF. */
static bool is_written(const tl_contacts *contacts, const tl_record *record,
                       const tl_field *field) {
  const size_t rows = tl_contacts_array(contacts, record).count;
  return (field->flags & TL_VISIBLE) && strcmp(field->name, "point") != 0 &&
         (record == tl_contact_records || (rows > 0 && rows == contacts->count));
}

static talus_status write_field(tl_h5_out *out, const tl_contacts *contacts,
                                const tl_record *record, const tl_field *field,
                                unsigned char *column) {
  const size_t n = contacts->count;
  const unsigned char *rows = tl_contacts_array(contacts, record).data;
  char name[96];
  for (size_t i = 0; i < n; ++i)
    memcpy(column + i * field->bytes, rows + i * record->bytes + field->offset, field->bytes);
  /* The impulse of a contact includes parts that its solver did not compute, such as impacts. */
  if (record == tl_contact_records && field->offset == offsetof(tl_contact, impulse))
    for (size_t i = 0; i < n; ++i)
      ((talus_vec3 *)(void *)column)[i] = tl_contacts_impulse(contacts, i);
  snprintf(name, sizeof name, "VTKHDF/PointData/%s", field->name);
  return tl_h5_write(out, name, tl_checkpoint_type(field->scalar), n, (size_t)field->columns,
                     column);
}

static talus_status write_fields(tl_h5_out *out, const tl_contacts *contacts, void *column) {
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    for (int f = 0; f < tl_contact_records[r].count; ++f)
      if (is_written(contacts, &tl_contact_records[r], &tl_contact_records[r].fields[f]))
        TL_TRY(write_field(out, contacts, &tl_contact_records[r], &tl_contact_records[r].fields[f],
                           column));
  return TALUS_OK;
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
static talus_status write_link(tl_h5_out *out, const char *name) {
  char link[96], target[96];
  snprintf(link, sizeof link, "contacts/%s", name);
  snprintf(target, sizeof target, "VTKHDF/PointData/%s", name);
  return tl_h5_link(out, link, target);
}

static talus_status write_links(tl_h5_out *out, const tl_contacts *contacts) {
  TL_TRY(tl_h5_group(out, "contacts"));
  TL_TRY(tl_h5_link(out, "contacts/point", "VTKHDF/Points"));
  TL_TRY(write_link(out, "body_a"));
  TL_TRY(write_link(out, "body_b"));
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    for (int f = 0; f < tl_contact_records[r].count; ++f)
      if (is_written(contacts, &tl_contact_records[r], &tl_contact_records[r].fields[f]))
        TL_TRY(write_link(out, tl_contact_records[r].fields[f].name));
  return write_link(out, "features");
}

static talus_status write_contacts(tl_h5_out *out, const talus_world *world, void *scratch) {
  TL_TRY(write_points(out, world, scratch));
  TL_TRY(write_bodies(out, world, scratch));
  TL_TRY(write_fields(out, &world->contacts, scratch));
  TL_TRY(write_features(out, world, scratch));
  return write_links(out, &world->contacts);
}

/* Bytes of the widest column, and of all, of one contact. */
static size_t widest(size_t *all) {
  size_t most = sizeof(talus_dvec3);
  *all = TL_VTK_POINT_BYTES + 24;
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    for (int f = 0; f < tl_contact_records[r].count; ++f) {
      const tl_field *field = &tl_contact_records[r].fields[f];
      *all += (field->flags & TL_VISIBLE) ? field->bytes : 0;
      most = field->bytes > most ? field->bytes : most;
    }
  return most;
}

talus_status tl_output_write_contacts(struct talus_world *world, const char *path, tl_file *keep) {
  talus_status status = tl_world_finish_step(world);
  if (status == TALUS_OK)
    status = tl_need(&world->where, TL_THE_CONTACTS | TL_THE(uid), TL_READ);
  if (status != TALUS_OK)
    return tl_fail_in(status, "%s: contacts cannot be written", path);
  const size_t n = world->contacts.count;
  size_t row;
  const size_t bytes = (n + 1) * widest(&row);
  void *scratch = NULL;
  TL_TRY(tl_resize(&scratch, 0, bytes));
  tl_h5_out out;
  status = tl_h5_create(&out, n * row + 65536, 0);
  if (status == TALUS_OK)
    status = tl_h5_finish(&out, write_contacts(&out, world, scratch), path, keep, NULL);
  (void)tl_resize(&scratch, bytes, 0); /* freeing cannot fail */
  return status;
}

#endif
