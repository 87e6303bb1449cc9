#include "output/checkpoint.h"

#if TALUS_HAVE_HDF5

#include <string.h>

#include "crowd/asleep.h"
#include "shape/shape.h"

/* A file under way, with room for one column at a time. */
typedef struct load_job {
  tl_h5_in in;
  unsigned format;
  TL_ARRAY(unsigned char) scratch;
} load_job;

/* ---- tables ---------------------------------------------------------------------------------- */

static bool is_text(const tl_column *column) {
  return column->rule == TL_RULE_TEXT || column->rule == TL_RULE_TEXT_NEVER_NULL;
}

static unsigned char *cell(void *rows, const tl_table *table, const tl_column *column, size_t i) {
  return (unsigned char *)rows + i * table->row_bytes + column->offset;
}

/* Frees what a table that could not be loaded to its end has got so far. */
static void free_texts(const tl_table *table, void *rows, size_t n) {
  for (int k = 0; k < table->count; ++k) {
    const tl_column *column = &table->columns[k];
    for (size_t i = 0; is_text(column) && i < n; ++i) {
      char *text;
      memcpy(&text, cell(rows, table, column, i), sizeof text);
      void *block = text;
      if (text)
        (void)tl_resize(&block, strlen(text) + 1, 0);
    }
  }
}

static talus_status make_text(const unsigned char *bytes, size_t length, char **text) {
  if (memchr(bytes, '\0', length))
    return tl_fail(TALUS_ERROR_FORMAT, "a name holds a zero byte");
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, length + 1));
  memcpy(block, bytes, length);
  *text = block;
  (*text)[length] = '\0';
  return TALUS_OK;
}

/* `lengths` and then the bytes of all texts are in the scratch. */
static talus_status spread_texts(const tl_table *table, const tl_column *column, void *rows,
                                 size_t n, const uint32_t *lengths, const unsigned char *bytes,
                                 size_t total) {
  size_t at = 0;
  for (size_t i = 0; i < n; ++i) {
    if (lengths[i] == TL_NONE && column->rule == TL_RULE_TEXT)
      continue;
    if (lengths[i] == TL_NONE || lengths[i] > total - at)
      return tl_fail(TALUS_ERROR_FORMAT, "'%s/%s', row %zu: the length of the text is wrong",
                     table->name, column->name, i);
    char *text = NULL;
    const talus_status status = make_text(bytes + at, lengths[i], &text);
    if (status != TALUS_OK)
      return tl_fail_in(status, "'%s/%s', row %zu", table->name, column->name, i);
    memcpy(cell(rows, table, column, i), &text, sizeof text);
    at += lengths[i];
  }
  return at == total ? TALUS_OK
                     : tl_fail(TALUS_ERROR_FORMAT, "'%s/%s': there is more text than rows",
                               table->name, column->name);
}

static talus_status load_texts(load_job *job, const tl_table *table, const tl_column *column,
                               void *rows, size_t n) {
  char name[TL_CHECKPOINT_NAME_BYTES];
  size_t total;
  tl_checkpoint_name(name, table->name, column->name, "_text");
  TL_TRY(tl_h5_count(&job->in, name, TL_H5_U8, 1, &total));
  const size_t ahead = n * sizeof(uint32_t);
  TL_TRY(tl_array_resize(&job->scratch, ahead + total + 1));
  uint32_t *lengths = (uint32_t *)(void *)job->scratch.data;
  unsigned char *bytes = job->scratch.data + ahead;
  TL_TRY(tl_h5_read(&job->in, name, TL_H5_U8, total, 1, bytes));
  tl_checkpoint_name(name, table->name, column->name, "_length");
  TL_TRY(tl_h5_read(&job->in, name, TL_H5_U32, n, 1, lengths));
  return spread_texts(table, column, rows, n, lengths, bytes, total);
}

static talus_status load_column(load_job *job, const tl_table *table, const tl_column *column,
                                void *rows, size_t n) {
  char name[TL_CHECKPOINT_NAME_BYTES];
  if (is_text(column))
    return load_texts(job, table, column, rows, n);
  const size_t bytes = column->columns * tl_h5_size(column->type);
  tl_checkpoint_name(name, table->name, column->name, "");
  TL_TRY(tl_array_resize(&job->scratch, n * bytes));
  TL_TRY(tl_h5_read(&job->in, name, column->type, n, column->columns, job->scratch.data));
  TL_TRY(tl_checkpoint_check_values(name, column->type, column->rule, column->limit,
                                    job->scratch.data, n, column->columns));
  for (size_t i = 0; i < n; ++i)
    memcpy(cell(rows, table, column, i), job->scratch.data + i * bytes, bytes);
  return TALUS_OK;
}

/* Whether the file has the column at all. */
static bool is_saved(const load_job *job, const tl_column *column) {
  return column->rule != TL_RULE_UNSAVED &&
         (column->rule != TL_RULE_LATE || job->format >= column->limit);
}

static talus_status load_columns(load_job *job, const tl_table *table, void *rows, size_t n) {
  for (int i = 0; i < table->count; ++i)
    if (is_saved(job, &table->columns[i]))
      TL_TRY(load_column(job, table, &table->columns[i], rows, n));
  return TALUS_OK;
}

/* Loads the rows of a table. Memory is reserved only after every column was found in the file, with
 * the same length. */
static talus_status count_rows(load_job *job, const tl_table *table, size_t *n) {
  char name[TL_CHECKPOINT_NAME_BYTES];
  for (int i = 0; i < table->count; ++i) {
    const tl_column *column = &table->columns[i];
    size_t rows;
    if (!is_saved(job, column))
      continue;
    tl_checkpoint_name(name, table->name, column->name, is_text(column) ? "_length" : "");
    TL_TRY(tl_h5_count(&job->in, name, is_text(column) ? TL_H5_U32 : column->type, column->columns,
                       &rows));
    if (i > 0 && rows != *n)
      return tl_fail(TALUS_ERROR_FORMAT, "'%s' has %zu rows, and '%s/%s' has %zu", name, rows,
                     table->name, table->columns[0].name, *n);
    *n = rows;
  }
  return TALUS_OK;
}

/* Loads into a growing array, which holds whole rows or none, so that the world can be destroyed at
 * any time. */
static talus_status load_table(load_job *job, const tl_table *table, void *array) {
  size_t n = 0;
  TL_TRY(count_rows(job, table, &n));
  tl_any_array rows;
  memcpy(&rows, array, sizeof rows);
  talus_status status = tl_array_grow(&rows.data, &rows.capacity, n, table->row_bytes);
  if (status == TALUS_OK && n > 0) {
    memset(rows.data, 0, n * table->row_bytes);
    status = load_columns(job, table, rows.data, n);
    if (status == TALUS_OK)
      rows.count = n;
    else
      free_texts(table, rows.data, n);
  }
  memcpy(array, &rows, sizeof rows);
  return status;
}

#define LOAD(job, table, array) TL_TRY(load_table((job), &tl_table_##table, (array)))

/* ---- the parts of a world -------------------------------------------------------------------- */

/* Settings must be acceptable to talus_world_create, which checks them. */
static talus_status check_settings(const talus_world *world) {
  const tl_model *model = &world->model;
  const talus_world_def def = {.gravity = model->gravity,
                               .dt = model->dt,
                               .substeps = model->substeps,
                               .step = model->step,
                               .broad = model->broad,
                               .skin = model->skin,
                               .narrow = model->narrow,
                               .solve = model->solve,
                               .margin = model->margin,
                               .sweep = model->unswept == 0,
                               .dt_min = model->dt_min,
                               .growth = model->growth > 0 ? model->growth : 2,
                               .implicit = model->implicit,
                               .halo = model->halo,
                               .allow_overlap = model->allows_overlap != 0,
                               .sleep = model->sleep,
                               .domain = model->domain,
                               .strict = world->strict};
  talus_world *scratch;
  TL_TRY(talus_world_create(&def, &scratch));
  talus_world_destroy(scratch);
  return TALUS_OK;
}

static talus_status load_fields(load_job *job, const char *group, void *arrays,
                                const tl_field *fields, int n, size_t bodies, size_t capacity) {
  char name[TL_CHECKPOINT_NAME_BYTES];
  for (int i = 0; i < n; ++i) {
    const tl_field *field = &fields[i];
    if (!(field->flags & TL_SAVED))
      continue;
    tl_checkpoint_name(name, group, tl_checkpoint_field_name(field), "");
    if (field->flags & TL_LAZY) {
      bool is_there = false;
      if (bodies > 0)
        TL_TRY(tl_h5_has(&job->in, name, &is_there));
      if (!is_there)
        continue;
      TL_TRY(tl_field_wake(arrays, field, capacity));
    }
    const tl_h5_type type = tl_checkpoint_type(field->scalar);
    const size_t columns = (size_t)field->columns;
    unsigned char *data = tl_field_rows(arrays, field);
    TL_TRY(tl_h5_read(&job->in, name, type, bodies, columns, data));
    TL_TRY(tl_checkpoint_check_values(name, type, TL_RULE_FINITE, 0, data, bodies, columns));
  }
  return TALUS_OK;
}

static talus_status load_bodies(load_job *job, talus_world *world, size_t bodies) {
  size_t there;
  /* Known to be in the file before room is made for it. */
  TL_TRY(tl_h5_count(&job->in, "state/position", TL_H5_F64, 3, &there));
  if (there != bodies)
    return tl_fail(TALUS_ERROR_FORMAT, "'state/position' has %zu rows, and there are %zu bodies",
                   there, bodies);
  TL_TRY(tl_world_reserve(world, bodies));
  TL_TRY(load_fields(job, "state", &world->state, tl_state_fields, TL_STATE_FIELD_COUNT, bodies,
                     world->capacity));
  TL_TRY(load_fields(job, "property", &world->model.property, tl_property_fields,
                     TL_PROPERTY_FIELD_COUNT, bodies, world->capacity));
  world->model.bodies = bodies;
  return TALUS_OK;
}

/* Those of a row for each contact that are not zero. */
static talus_status list_hits(tl_contacts *contacts, const talus_vec3 *impulse, size_t n) {
  if (n > 0 && n != contacts->count)
    return tl_fail(TALUS_ERROR_FORMAT, "'hits/impulse' has %zu rows, and there are %zu contacts", n,
                   contacts->count);
  for (size_t i = 0; i < n; ++i) {
    const tl_hit hit = {(uint32_t)i, impulse[i]};
    if (tl_length2(hit.impulse) > 0)
      TL_TRY(tl_array_push(&contacts->hits, hit));
  }
  return TALUS_OK;
}

static talus_status load_hits(load_job *job, tl_contacts *contacts) {
  TL_ARRAY(talus_vec3) rows = {0};
  talus_status status = load_table(job, &tl_table_hits, &rows);
  if (status == TALUS_OK)
    status = list_hits(contacts, rows.data, rows.count);
  tl_array_free(&rows);
  return status;
}

/* Hands each emitter its part of emitters/size_table. Until then an emitter has no table. */
static talus_status load_sizes(load_job *job, tl_flow *flow, uint64_t *rows) {
  size_t total, at = 0;
  TL_TRY(tl_h5_count(&job->in, "emitters/size_table", TL_H5_F64, 2, &total));
  TL_TRY(tl_array_resize(&job->scratch, total * 2 * sizeof(double)));
  const double *table = (const double *)(const void *)job->scratch.data;
  TL_TRY(tl_h5_read(&job->in, "emitters/size_table", TL_H5_F64, total, 2, job->scratch.data));
  for (size_t i = 0; i < flow->emitters.count; ++i) {
    talus_size_def size = flow->emitters.data[i].def.size;
    if (rows[i] > total - at || (rows[i] > 0 && size.kind != TALUS_SIZE_TABLE))
      return tl_fail(TALUS_ERROR_FORMAT, "'emitters/size_rows', row %zu: is wrong", i);
    size.table = rows[i] > 0 ? table + 2 * at : NULL;
    size.rows = (size_t)rows[i];
    TL_TRY(tl_size_copy(&flow->emitters.data[i].def.size, &size));
    at += (size_t)rows[i];
  }
  return at == total ? TALUS_OK
                     : tl_fail(TALUS_ERROR_FORMAT, "'emitters/size_table' has rows of no emitter");
}

/* Hands each average its part of the sums. What a grid may be is looked at before there is room. */
static talus_status hand_out_sums(tl_flow *flow, const double *sums, size_t total) {
  size_t at = 0;
  for (size_t i = 0; i < flow->averages.count; ++i) {
    tl_average *average = &flow->averages.data[i];
    const talus_average_def def = {
        .grid = (talus_grid_kind)average->grid,
        .box = average->box,
        .axis = {average->axis[0], average->axis[1]},
        .across = average->across,
        .cells = {average->cells[0], average->cells[1], average->cells[2]},
        .record = average->record};
    TL_TRY(tl_average_check(&def, "average"));
    const size_t n = tl_average_sum_count(average);
    if (n > total - at)
      return tl_fail(TALUS_ERROR_FORMAT, "'average_sums' is too short for average %zu", i);
    TL_TRY(tl_array_resize(&average->sums, n));
    memcpy(average->sums.data, sums + at, n * sizeof *sums);
    TL_TRY(tl_average_reserve(average));
    at += n;
  }
  return at == total ? TALUS_OK
                     : tl_fail(TALUS_ERROR_FORMAT, "'average_sums' has rows of no average");
}

static talus_status load_averages(load_job *job, tl_flow *flow) {
  if (job->format < 9)
    return TALUS_OK;
  TL_ARRAY(double) sums = {0};
  LOAD(job, averages, &flow->averages);
  talus_status status = load_table(job, &tl_table_average_sums, &sums);
  if (status == TALUS_OK)
    status = hand_out_sums(flow, sums.data, sums.count);
  tl_array_free(&sums);
  TL_TRY(status);
  LOAD(job, zones, &flow->zones);
  LOAD(job, zone_members, &flow->members);
  return TALUS_OK;
}

static talus_status load_flow(load_job *job, talus_world *world) {
  tl_flow *flow = &world->flow;
  LOAD(job, emitters, &flow->emitters);
  void *rows = NULL;
  const size_t bytes = flow->emitters.count * sizeof(uint64_t);
  /* The function that frees the flow must not see a row count without its table. */
  talus_status status = tl_resize(&rows, 0, bytes);
  for (size_t i = 0; i < flow->emitters.count; ++i) {
    if (status == TALUS_OK)
      ((uint64_t *)rows)[i] = flow->emitters.data[i].def.size.rows;
    flow->emitters.data[i].def.size.rows = 0;
  }
  if (status == TALUS_OK)
    status = load_sizes(job, flow, rows);
  if (rows)
    (void)tl_resize(&rows, bytes, 0); /* freeing cannot fail */
  TL_TRY(status);
  LOAD(job, sinks, &flow->sinks);
  LOAD(job, probes, &flow->probes);
  return load_averages(job, flow);
}

/* One list has the parts of all shapes; `counts` tells which shape owns how many. */
static talus_status load_list(load_job *job, tl_model *model, int k) {
  char name[TL_CHECKPOINT_NAME_BYTES];
  tl_shape_list lists[TL_SHAPE_LISTS];
  const tl_shape none = {0};
  size_t total, at = 0;
  tl_shape_lists(&none, lists);
  const size_t width = lists[k].scalar_bytes;
  const tl_h5_type type = width == 8 ? TL_H5_F64 : TL_H5_U32;
  tl_checkpoint_name(name, "shapes", "list_", lists[k].name);
  TL_TRY(tl_h5_count(&job->in, name, type, 1, &total));
  TL_TRY(tl_array_resize(&job->scratch, total * width));
  TL_TRY(tl_h5_read(&job->in, name, type, total, 1, job->scratch.data));
  for (size_t i = 0; i < model->shapes.count; ++i) {
    tl_shape_lists(&model->shapes.data[i], lists);
    if (lists[k].scalars > total - at)
      return tl_fail(TALUS_ERROR_FORMAT, "'%s' is too short for shape %zu", name, i);
    TL_TRY(tl_shape_set_list(&model->shapes.data[i], k, job->scratch.data + at * width));
    at += lists[k].scalars;
  }
  return at == total ? TALUS_OK : tl_fail(TALUS_ERROR_FORMAT, "'%s' has rows of no shape", name);
}

static talus_status load_lists(load_job *job, tl_model *model) {
  for (int k = 0; k < TL_SHAPE_LISTS; ++k)
    TL_TRY(load_list(job, model, k));
  return TALUS_OK;
}

#define STEPS_OF_FORMAT_6 0x0fffffffu

/* Format 6 stores in `state/rest` for how many steps a body has been slow. */
static talus_status complete_sleep(talus_world *world) {
  if (!world->state.sleep_flags)
    return TALUS_OK;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (tl_state_fields[i].offset == offsetof(tl_state, slow_since))
      TL_TRY(tl_field_wake(&world->state, &tl_state_fields[i], world->capacity));
  for (size_t i = 0; i < world->model.bodies; ++i) {
    uint32_t *sleep_flags = &world->state.sleep_flags[i];
    const uint32_t steps = *sleep_flags & STEPS_OF_FORMAT_6;
    *sleep_flags = (*sleep_flags & ~STEPS_OF_FORMAT_6) | (steps > 0 ? TL_SLEEP_SLOW : 0);
    if (steps > 0)
      world->state.slow_since[i] = ((double)world->steps - steps) * world->model.dt;
  }
  return TALUS_OK;
}

/* What format 6 did not have. */
static talus_status complete(talus_world *world) {
  world->time = (double)world->steps * world->model.dt;
  world->contacts.dt = world->joints.dt = world->steps > 0 ? world->model.dt : 0;
  return complete_sleep(world);
}

static talus_status load_world(load_job *job, talus_world *world) {
  tl_model *model = &world->model;
  model->substeps = 1; /* before format 8 */
  const talus_status status = load_columns(job, &tl_table_world, world, 1);
  const size_t bodies = model->bodies;
  model->bodies = 0;
  TL_TRY(status);
  TL_TRY(check_settings(world));
  TL_TRY(load_bodies(job, world, bodies));
  LOAD(job, shapes, &model->shapes);
  TL_TRY(load_lists(job, model));
  LOAD(job, materials, &model->materials);
  LOAD(job, laws, &model->laws);
  LOAD(job, overrides, &world->overrides);
  LOAD(job, motions, &model->motions);
  LOAD(job, motion_terms, &model->motion_terms);
  LOAD(job, motion_values, &model->motion_values);
  LOAD(job, ignored, &model->ignored);
  LOAD(job, groups, &world->groups);
  LOAD(job, names, &world->names);
  LOAD(job, handles, &world->handles);
  LOAD(job, free_handles, &world->free_handles);
  for (int i = 0; i < TL_CONTACT_RECORD_COUNT; ++i)
    TL_TRY(load_table(job, tl_tables_of_contacts[i],
                      (unsigned char *)&world->contacts + tl_contact_records[i].offset));
  TL_TRY(load_hits(job, &world->contacts));
  LOAD(job, joints, &world->joints.all);
  if (job->format >= 13)
    LOAD(job, ahead, &world->local.ahead);
  LOAD(job, courses, &world->courses);
  LOAD(job, course_values, &world->course_values);
  TL_TRY(load_flow(job, world));
  /* Removing a body must not fail: there is room for every handle to become free. */
  TL_TRY(tl_array_reserve(&world->free_handles, world->handles.count + 1));
  if (job->format < 7)
    TL_TRY(complete(world));
  TL_TRY(tl_checkpoint_check(world));
  for (size_t i = 0; i < model->shapes.count; ++i) {
    TL_TRY(tl_shape_derive(&model->shapes.data[i]));
    if (model->narrow.tree == TALUS_TREE_SURROGATE)
      TL_TRY(tl_shape_need_surrogate(&model->shapes.data[i]));
  }
  tl_world_find_law_kinds(world);
  world->joints.apart_stale = true;
  return tl_world_index_names(world);
}

static talus_status load_blob(load_job *job, tl_blob *blob) {
  bool is_there = false;
  size_t bytes;
  if (blob)
    TL_TRY(tl_h5_has(&job->in, "run", &is_there));
  if (!is_there)
    return TALUS_OK;
  TL_TRY(tl_h5_count(&job->in, "run", TL_H5_U8, 1, &bytes));
  void *data = NULL;
  TL_TRY(tl_resize(&data, 0, bytes));
  blob->data = data;
  blob->size = bytes;
  return tl_h5_read(&job->in, "run", TL_H5_U8, bytes, 1, data);
}

static void free_blob(tl_blob *blob) {
  void *data = blob->data;
  if (data)
    (void)tl_resize(&data, blob->size, 0);
  *blob = (tl_blob){0};
}

/* Adds the name of the file, and reports invalid content as a fault of the file. */
static talus_status blame(talus_status status, const char *path) {
  if (status == TALUS_OK)
    return status;
  const char *message = tl_last_message();
  if (status == TALUS_ERROR_INVALID || status == TALUS_ERROR_DIVERGED ||
      status == TALUS_ERROR_DOMAIN || status == TALUS_ERROR_STALE)
    status = TALUS_ERROR_FORMAT;
  return strncmp(message, path, strlen(path)) == 0 ? status : tl_fail_in(status, "%s", path);
}

talus_status tl_output_load(const char *path, struct talus_world **world, tl_blob *blob) {
  *world = NULL;
  if (blob)
    *blob = (tl_blob){0};
  load_job job = {.scratch = {0}};
  uint64_t bytes;
  TL_TRY(tl_checkpoint_verify(path, &bytes, &job.format));
  talus_world *made;
  TL_TRY(tl_world_new(&made));
  talus_status status = tl_h5_open(&job.in, path, bytes);
  if (status == TALUS_OK) {
    status = load_world(&job, made);
    if (status == TALUS_OK)
      status = load_blob(&job, blob);
    tl_h5_close(&job.in);
  }
  tl_array_free(&job.scratch);
  if (status == TALUS_OK) {
    *world = made;
    return TALUS_OK;
  }
  if (blob)
    free_blob(blob);
  talus_world_destroy(made);
  return blame(status, path);
}

talus_status tl_output_load_blob(const char *path, tl_blob *blob) {
  *blob = (tl_blob){0};
  load_job job = {.scratch = {0}};
  uint64_t bytes;
  TL_TRY(tl_checkpoint_verify(path, &bytes, &job.format));
  talus_status status = tl_h5_open(&job.in, path, bytes);
  if (status == TALUS_OK) {
    status = load_blob(&job, blob);
    tl_h5_close(&job.in);
  }
  if (status != TALUS_OK)
    free_blob(blob);
  return blame(status, path);
}

#endif
