#include "output/checkpoint.h"

#if TALUS_HAVE_HDF5

#include <string.h>

#include "shape/shape.h"

/* A file under way, with room to gather one column at a time. */
typedef struct save_job {
  tl_h5_out out;
  TL_ARRAY(unsigned char) scratch;
} save_job;

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *text_of(const void *rows, const tl_table *table, const tl_column *column,
                           size_t i) {
  const char *text;
  memcpy(&text, (const unsigned char *)rows + i * table->row_bytes + column->offset, sizeof text);
  return text;
}

/* Texts as two datasets: COLUMN_length (TL_NONE for NULL) and COLUMN_text, all bytes in a row. */
static talus_status save_texts(save_job *job, const tl_table *table, const tl_column *column,
                               const void *rows, size_t n) {
  char name[TL_CHECKPOINT_NAME_BYTES];
  TL_TRY(tl_array_resize(&job->scratch, n * sizeof(uint32_t)));
  uint32_t *lengths = (uint32_t *)(void *)job->scratch.data;
  size_t total = 0;
  for (size_t i = 0; i < n; ++i) {
    const char *text = text_of(rows, table, column, i);
    const size_t length = text ? strlen(text) : 0;
    if (length >= TL_NONE)
      return tl_fail(TALUS_ERROR_INVALID, "%s: a name is too long to be saved", table->name);
    lengths[i] = text ? (uint32_t)length : TL_NONE;
    total += length;
  }
  tl_checkpoint_name(name, table->name, column->name, "_length");
  TL_TRY(tl_h5_write(&job->out, name, TL_H5_U32, n, 1, lengths));
  TL_TRY(tl_array_resize(&job->scratch, total));
  size_t at = 0;
  for (size_t i = 0; i < n; ++i) {
    const char *text = text_of(rows, table, column, i);
    const size_t length = text ? strlen(text) : 0;
    if (length > 0)
      memcpy(job->scratch.data + at, text, length);
    at += length;
  }
  tl_checkpoint_name(name, table->name, column->name, "_text");
  return tl_h5_write(&job->out, name, TL_H5_U8, total, 1, job->scratch.data);
}

static talus_status save_column(save_job *job, const tl_table *table, const tl_column *column,
                                const void *rows, size_t n) {
  char name[TL_CHECKPOINT_NAME_BYTES];
  if (column->rule == TL_RULE_TEXT || column->rule == TL_RULE_TEXT_NEVER_NULL)
    return save_texts(job, table, column, rows, n);
  const size_t bytes = column->columns * tl_h5_size(column->type);
  TL_TRY(tl_array_resize(&job->scratch, n * bytes));
  const unsigned char *from = rows; /* NULL for an empty table: no arithmetic on it */
  for (size_t i = 0; i < n; ++i)
    memcpy(job->scratch.data + i * bytes, from + i * table->row_bytes + column->offset, bytes);
  tl_checkpoint_name(name, table->name, column->name, "");
  TL_TRY(tl_checkpoint_check_values(name, column->type, column->rule, column->limit,
                                    job->scratch.data, n, column->columns));
  return tl_h5_write(&job->out, name, column->type, n, column->columns, job->scratch.data);
}

static talus_status save_table(save_job *job, const tl_table *table, const void *rows, size_t n) {
  TL_TRY(tl_h5_group(&job->out, table->name));
  for (int i = 0; i < table->count; ++i)
    if (table->columns[i].rule != TL_RULE_UNSAVED)
      TL_TRY(save_column(job, table, &table->columns[i], rows, n));
  return TALUS_OK;
}

#define SAVE(job, table, array)                                                                    \
  TL_TRY(save_table((job), &tl_table_##table, (array)->data, (array)->count))

/* ---- the parts of a world -------------------------------------------------------------------- */

/* Arrays of fields.h. A lazy one that is not in use is left out: it is all zero. */
static talus_status save_fields(save_job *job, const char *group, const void *arrays,
                                const tl_field *fields, int n, size_t bodies) {
  char name[TL_CHECKPOINT_NAME_BYTES];
  TL_TRY(tl_h5_group(&job->out, group));
  for (int i = 0; i < n; ++i) {
    const tl_field *field = &fields[i];
    const unsigned char *data = tl_field_rows(arrays, field);
    if (!(field->flags & TL_SAVED) || ((field->flags & TL_LAZY) && (!data || bodies == 0)))
      continue;
    const tl_h5_type type = tl_checkpoint_type(field->scalar);
    const size_t columns = (size_t)field->columns;
    tl_checkpoint_name(name, group, tl_checkpoint_field_name(field), "");
    TL_TRY(tl_checkpoint_check_values(name, type, TL_RULE_FINITE, 0, data, bodies, columns));
    TL_TRY(tl_h5_write(&job->out, name, type, bodies, columns, data));
  }
  return TALUS_OK;
}

/* A row for each contact, or none where none was hit. */
static talus_status save_hits(save_job *job, const tl_contacts *contacts) {
  const size_t n = contacts->hits.count > 0 ? contacts->count : 0;
  void *rows = NULL;
  TL_TRY(tl_resize(&rows, 0, n * sizeof(talus_vec3)));
  talus_vec3 *impulse = rows;
  for (size_t i = 0; i < n; ++i)
    impulse[i] = tl_vec3(0, 0, 0);
  for (size_t i = 0; i < contacts->hits.count; ++i)
    impulse[contacts->hits.data[i].contact] = contacts->hits.data[i].impulse;
  const talus_status status = save_table(job, &tl_table_hits, rows, n);
  (void)tl_resize(&rows, n * sizeof(talus_vec3), 0); /* freeing cannot fail */
  return status;
}

/* The tables of sizes of all emitters, one after the other. */
static talus_status save_sizes(save_job *job, const tl_flow *flow) {
  size_t total = 0, at = 0;
  for (size_t i = 0; i < flow->emitters.count; ++i)
    total += flow->emitters.data[i].def.size.rows;
  const size_t row = 2 * sizeof(double);
  TL_TRY(tl_array_resize(&job->scratch, total * row));
  for (size_t i = 0; i < flow->emitters.count; ++i) {
    const talus_size_def *size = &flow->emitters.data[i].def.size;
    if (size->rows > 0)
      memcpy(job->scratch.data + at * row, size->table, size->rows * row);
    at += size->rows;
  }
  return tl_h5_write(&job->out, "emitters/size_table", TL_H5_F64, total, 2, job->scratch.data);
}

/* Sums of all averages, one after the other. */
static talus_status save_averages(save_job *job, const tl_flow *flow) {
  SAVE(job, averages, &flow->averages);
  TL_ARRAY(double) sums = {0};
  talus_status status = TALUS_OK;
  for (size_t i = 0; i < flow->averages.count && status == TALUS_OK; ++i) {
    const tl_average *average = &flow->averages.data[i];
    const size_t at = sums.count;
    status = tl_array_resize(&sums, at + average->sums.count);
    if (status == TALUS_OK)
      memcpy(sums.data + at, average->sums.data, average->sums.count * sizeof(double));
  }
  if (status == TALUS_OK)
    status = save_table(job, &tl_table_average_sums, sums.data, sums.count);
  tl_array_free(&sums);
  return status;
}

/* Vertices, faces and edges of hulls, spheres of clumps: shape after shape in one dataset each. */
static talus_status save_lists(save_job *job, const tl_model *model) {
  for (int k = 0; k < TL_SHAPE_LISTS; ++k) {
    char name[TL_CHECKPOINT_NAME_BYTES];
    tl_shape_list lists[TL_SHAPE_LISTS] = {{0}};
    size_t total = 0;
    job->scratch.count = 0;
    for (size_t i = 0; i < model->shapes.count; ++i) {
      tl_shape_lists(&model->shapes.data[i], lists);
      const size_t at = job->scratch.count, bytes = lists[k].scalars * lists[k].scalar_bytes;
      TL_TRY(tl_array_resize(&job->scratch, at + bytes));
      if (bytes > 0)
        memcpy(job->scratch.data + at, lists[k].data, bytes);
      total += lists[k].scalars;
    }
    const tl_shape none = {0};
    tl_shape_lists(&none, lists);
    tl_checkpoint_name(name, "shapes", "list_", lists[k].name);
    TL_TRY(tl_h5_write(&job->out, name, lists[k].scalar_bytes == 8 ? TL_H5_F64 : TL_H5_U32, total,
                       1, job->scratch.data));
  }
  return TALUS_OK;
}

static talus_status save_world(save_job *job, const talus_world *world, const tl_blob *blob) {
  const tl_model *model = &world->model;
  const size_t bodies = model->bodies;
  const uint32_t format = TL_CHECKPOINT_FORMAT;
  TL_TRY(tl_h5_attribute(&job->out, "/", "talus_checkpoint", TL_H5_U32, 1, &format));
  TL_TRY(tl_h5_attribute_text(&job->out, "/", "talus_version", TALUS_VERSION));
  TL_TRY(save_table(job, &tl_table_world, world, 1));
  TL_TRY(save_fields(job, "state", &world->state, tl_state_fields, TL_STATE_FIELD_COUNT, bodies));
  TL_TRY(save_fields(job, "property", &model->property, tl_property_fields, TL_PROPERTY_FIELD_COUNT,
                     bodies));
  SAVE(job, shapes, &model->shapes);
  TL_TRY(save_lists(job, model));
  SAVE(job, materials, &model->materials);
  SAVE(job, laws, &model->laws);
  SAVE(job, overrides, &world->overrides);
  SAVE(job, motions, &model->motions);
  SAVE(job, motion_terms, &model->motion_terms);
  SAVE(job, motion_values, &model->motion_values);
  SAVE(job, ignored, &model->ignored);
  SAVE(job, groups, &world->groups);
  SAVE(job, names, &world->names);
  SAVE(job, handles, &world->handles);
  SAVE(job, free_handles, &world->free_handles);
  for (int i = 0; i < TL_CONTACT_RECORD_COUNT; ++i) {
    const tl_any_array array = tl_contacts_array(&world->contacts, &tl_contact_records[i]);
    TL_TRY(save_table(job, tl_tables_of_contacts[i], array.data, array.count));
  }
  TL_TRY(save_hits(job, &world->contacts));
  SAVE(job, joints, &world->joints.all);
  SAVE(job, ahead, &world->local.ahead);
  SAVE(job, courses, &world->courses);
  SAVE(job, course_values, &world->course_values);
  SAVE(job, emitters, &world->flow.emitters);
  TL_TRY(save_sizes(job, &world->flow));
  SAVE(job, sinks, &world->flow.sinks);
  SAVE(job, probes, &world->flow.probes);
  TL_TRY(save_averages(job, &world->flow));
  SAVE(job, zones, &world->flow.zones);
  SAVE(job, zone_members, &world->flow.members);
  if (blob)
    TL_TRY(tl_h5_write(&job->out, "run", TL_H5_U8, blob->size, 1, blob->data));
  return TALUS_OK;
}

static size_t expected_bytes(const talus_world *world, const tl_blob *blob) {
  size_t bytes = (size_t)1 << 17;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    bytes += world->model.bodies * tl_state_fields[i].bytes;
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i)
    bytes += world->model.bodies * tl_property_fields[i].bytes;
  for (int i = 0; i < TL_CONTACT_RECORD_COUNT; ++i)
    bytes += tl_contacts_array(&world->contacts, &tl_contact_records[i]).count *
             tl_contact_records[i].bytes;
  bytes += world->handles.count * sizeof(tl_handle);
  return bytes + (blob ? blob->size : 0);
}

static talus_status cannot_save(talus_status status, const char *path) {
  return tl_fail_in(status == TALUS_ERROR_FORMAT ? TALUS_ERROR_INVALID : status,
                    "%s: the world cannot be saved", path);
}

talus_status tl_output_save(struct talus_world *world, const char *path, tl_file *keep,
                            const tl_blob *blob) {
  save_job job = {.scratch = {0}};
  /* Saves nothing if contacts are lost, if there is no memory to bring them home, or if the file
   * could not be loaded again. */
  talus_status status = tl_world_finish_step(world);
  if (status == TALUS_OK)
    status = tl_need(&world->where, TL_THE_WHOLE, TL_READ);
  if (status == TALUS_OK)
    status = tl_checkpoint_check(world);
  if (status != TALUS_OK)
    return cannot_save(status, path);
  TL_TRY(tl_h5_create(&job.out, expected_bytes(world, blob), TL_CHECKPOINT_BLOCK));
  status = save_world(&job, world, blob);
  if (status != TALUS_OK)
    status = cannot_save(status, path);
  tl_array_free(&job.scratch);
  return tl_h5_finish(&job.out, status, path, keep, tl_checkpoint_seal);
}

#endif
