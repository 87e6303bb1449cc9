/* Checkpoints: what is loaded is what was saved, and goes on bit for bit. */
#include "output_fixture.h"

#if TALUS_HAVE_HDF5

#include <hdf5.h>
#include <pthread.h>
#include <time.h>

#include "base/hash.h"
#include "output/checkpoint.h"

/* Of the names of all columns and of TL_CHECKPOINT_FORMAT. */
#define LAYOUT UINT64_C(0x9dd81a2f829829dd)

/* ---- equality -------------------------------------------------------------------------------- */

static void check_same_state(talus_world *x, talus_world *y) {
  CHECK_EQ_U64(talus_world_body_count(x), talus_world_body_count(y));
  CHECK_EQ_U64(talus_world_hash(x), talus_world_hash(y));
  CHECK_EQ_U64(x->contacts.count, y->contacts.count);
  for (size_t i = 0; i < x->contacts.count; ++i) {
    const tl_contact *a = &x->contacts.data[i], *b = &y->contacts.data[i];
    CHECK_MSG(a->a == b->a && a->b == b->b && a->feature_a == b->feature_a &&
                  a->feature_b == b->feature_b && a->gap == b->gap &&
                  memcmp(&a->point, &b->point, sizeof a->point) == 0 &&
                  memcmp(&a->impulse, &b->impulse, sizeof a->impulse) == 0,
              "contact %zu differs", i);
  }
  talus_report p, q;
  CHECK_OK(talus_world_report(x, &p));
  CHECK_OK(talus_world_report(y, &q));
  CHECK(p.steps == q.steps && p.time == q.time && p.kinetic_energy == q.kinetic_energy);
  CHECK(p.residual_rms == q.residual_rms && p.iterations == q.iterations && p.pairs == q.pairs);
  CHECK(p.emitted == q.emitted && p.removed == q.removed && p.blocked == q.blocked);
}

static void check_same_probes(talus_world *x, talus_world *y) {
  for (uint32_t k = 0; k < 2; ++k) {
    talus_probe_values p, q;
    CHECK_OK(talus_probe_read(x, k, &p));
    CHECK_OK(talus_probe_read(y, k, &q));
    CHECK_MSG(memcmp(&p, &q, sizeof p) == 0, "probe %u", k);
  }
}

static void check_same_files(const char *first, const char *second) {
  bytes x = read_bytes(first), y = read_bytes(second);
  const bool same = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
  free(x.data);
  free(y.data);
  CHECK_MSG(same, "%s and %s differ", first, second);
}

static talus_world *reload(talus_world *world) {
  talus_world *loaded;
  CHECK_OK(talus_world_save(world, "reload.hdf"));
  CHECK_OK(talus_world_load("reload.hdf", &loaded));
  return loaded;
}

/* ---- round trips ----------------------------------------------------------------------------- */

TEST(the_fixture_has_contacts_emitted_and_removed_bodies) {
  rich r = make_rich();
  age(&r);
  talus_report report;
  CHECK_OK(talus_world_report(r.world, &report));
  CHECK(report.contacts_near > 10);
  CHECK(report.emitted > 5 && report.removed > 0 && report.blocked > 0);
  CHECK(r.world->free_handles.count > 0);
  talus_world_destroy(r.world);
}

TEST(saving_what_was_loaded_gives_the_same_file) {
  rich r = make_rich();
  age(&r);
  for (int i = 0; i < 3; ++i) {
    talus_world *loaded;
    CHECK_OK(talus_world_save(r.world, "first.hdf"));
    CHECK_OK(talus_world_load("first.hdf", &loaded));
    CHECK_OK(talus_world_save(loaded, "second.hdf"));
    check_same_files("first.hdf", "second.hdf");
    talus_world_destroy(loaded);
    CHECK_OK(talus_world_step(r.world, 50));
  }
  talus_world_destroy(r.world);
}

TEST(stepping_after_a_load_equals_stepping_on) {
  rich r = make_rich();
  for (int part = 0; part < 4; ++part) {
    CHECK_OK(talus_world_step(r.world, 37));
    talus_world *loaded = reload(r.world);
    check_same_state(r.world, loaded);
    CHECK_OK(talus_world_step(loaded, 40));
    CHECK_OK(talus_world_step(r.world, 40));
    check_same_state(r.world, loaded);
    check_same_probes(r.world, loaded);
    talus_world_destroy(r.world);
    r.world = loaded;
  }
  talus_world_destroy(r.world);
}

/* Fixed steps stay on their grid; whatever else moves the clock is saved with it. */
TEST(time_is_steps_times_dt_to_the_bit_and_comes_back) {
  talus_world_def def = talus_world_def_default();
  def.dt = 0.1;
  talus_world *world, *loaded;
  CHECK_OK(talus_world_create(&def, &world));
  for (int i = 1; i <= 100; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    CHECK(talus_world_time(world) == i * 0.1);
  }
  world->time += 0.25; /* as a step of another length would leave it */
  CHECK_OK(talus_world_save(world, "time.hdf"));
  CHECK_OK(talus_world_load("time.hdf", &loaded));
  CHECK(talus_world_time(loaded) == world->time && talus_world_steps(loaded) == 100);
  talus_world_destroy(world);
  talus_world_destroy(loaded);
}

TEST(a_loaded_world_can_be_changed_like_the_first) {
  rich r = make_rich();
  CHECK_OK(talus_world_step(r.world, 30));
  talus_world *pair[2] = {r.world, reload(r.world)};
  for (int k = 0; k < 2; ++k) {
    talus_world *world = pair[k];
    talus_body found;
    CHECK_OK(talus_world_find_body(world, "paddle", &found));
    CHECK(found.index == r.paddle.index && found.generation == r.paddle.generation);
    CHECK_OK(talus_world_remove_body(world, r.locked));
    CHECK_OK(talus_world_remove_body(world, r.pushed));
    talus_body_def def = place(TALUS_FREE, r.ball, r.rock, 0.3, -0.4, 1.2);
    def.name = "late", def.force.x = 1;
    talus_body late;
    CHECK_OK(talus_world_add_body(world, &def, &late));
    CHECK_EQ_U64(late.index, r.pushed.index);
    CHECK_EQ_U64(late.generation, r.pushed.generation + 1);
    uint32_t group;
    CHECK_OK(talus_world_group(world, "soft", &group));
    CHECK_EQ_U64(group, r.soft);
    CHECK_OK(talus_world_step(world, 25));
  }
  check_same_state(pair[0], pair[1]);
  talus_world_destroy(pair[0]);
  talus_world_destroy(pair[1]);
}

TEST(every_body_of_a_loaded_world_can_be_removed) {
  rich r = make_rich();
  talus_world *loaded = reload(r.world);
  while (talus_world_body_count(loaded) > 0) {
    talus_body body;
    CHECK_OK(talus_world_body_at(loaded, 0, &body));
    CHECK_OK(talus_world_remove_body(loaded, body));
  }
  CHECK_EQ_U64(loaded->free_handles.count, loaded->handles.count);
  talus_world *again = reload(loaded);
  CHECK_OK(talus_world_save(again, "first.hdf"));
  check_same_files("first.hdf", "reload.hdf");
  talus_world_destroy(again);
  talus_world_destroy(loaded);
  talus_world_destroy(r.world);
}

TEST(an_empty_world_is_saved_and_loaded) {
  const talus_world_def def = talus_world_def_default();
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_world *loaded = reload(world);
  CHECK_EQ_U64(talus_world_body_count(loaded), 0);
  CHECK(loaded->model.gravity.z == world->model.gravity.z && loaded->next_uid == 1);
  CHECK_OK(talus_world_step(loaded, 3));
  talus_world_destroy(world);
  talus_world_destroy(loaded);
}

TEST(lazy_arrays_are_saved_only_where_they_are_in_use) {
  rich r = make_rich();
  talus_world *loaded = reload(r.world);
  CHECK(loaded->model.property.force && loaded->model.property.torque);
  talus_world_destroy(loaded);
  const talus_world_def def = talus_world_def_default();
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_shape ball = add_shape(world, NULL, TALUS_SPHERE, 1, 0, 0, 0, 0);
  talus_body_def body = place(TALUS_FREE, ball, add_material(world, NULL, 0.5, 0), 0, 0, 0);
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  loaded = reload(world);
  CHECK(!loaded->model.property.force && !loaded->model.property.torque);
  talus_world_destroy(loaded);
  talus_world_destroy(world);
  talus_world_destroy(r.world);
}

TEST(the_run_s_own_bytes_come_back) {
  rich r = make_rich();
  unsigned char text[] = "frame 17\0 and more";
  const tl_blob given = {text, sizeof text};
  tl_blob back;
  talus_world *loaded;
  CHECK_OK(tl_output_save(r.world, "blob.hdf", NULL, &given));
  CHECK_OK(tl_output_load("blob.hdf", &loaded, &back));
  CHECK_EQ_U64(back.size, sizeof text);
  CHECK(memcmp(back.data, text, sizeof text) == 0);
  void *data = back.data;
  CHECK_OK(tl_resize(&data, back.size, 0));
  talus_world_destroy(loaded);
  CHECK_OK(tl_output_load("blob.hdf", &loaded, NULL));
  talus_world_destroy(loaded);
  CHECK_OK(talus_world_save(r.world, "blob.hdf"));
  CHECK_OK(tl_output_load("blob.hdf", &loaded, &back));
  CHECK(back.data == NULL && back.size == 0);
  talus_world_destroy(loaded);
  talus_world_destroy(r.world);
}

/* ---- the file itself ------------------------------------------------------------------------- */

TEST(files_do_not_depend_on_the_time_of_day) {
  rich r = make_rich();
  CHECK_OK(talus_world_step(r.world, 20));
  CHECK_OK(talus_world_save(r.world, "early.hdf"));
  CHECK_OK(talus_world_write_frame(r.world, "early-frame.hdf"));
  CHECK_OK(talus_world_write_contacts(r.world, "early-contacts.hdf"));
  nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 200000000}, NULL);
  CHECK_OK(talus_world_save(r.world, "late.hdf"));
  CHECK_OK(talus_world_write_frame(r.world, "late-frame.hdf"));
  CHECK_OK(talus_world_write_contacts(r.world, "late-contacts.hdf"));
  check_same_files("early.hdf", "late.hdf");
  check_same_files("early-frame.hdf", "late-frame.hdf");
  check_same_files("early-contacts.hdf", "late-contacts.hdf");
  talus_world_destroy(r.world);
}

TEST(the_first_lines_say_what_the_file_is) {
  rich r = make_rich();
  CHECK_OK(talus_world_save(r.world, "block.hdf"));
  bytes file = read_bytes("block.hdf");
  char size[64];
  snprintf(size, sizeof size, "\nbytes %zu\n", file.size);
  file.data[file.size] = '\0';
  char first[64];
  snprintf(first, sizeof first, "talus checkpoint\nformat %d\nversion ", TL_CHECKPOINT_FORMAT);
  CHECK(strncmp((char *)file.data, first, strlen(first)) == 0);
  CHECK(strstr((char *)file.data, TALUS_SINGLE ? "\nprecision single\n" : "\nprecision double\n"));
  CHECK(strstr((char *)file.data, size) && strstr((char *)file.data, "\nxxh64 "));
  CHECK(memcmp(file.data + TL_CHECKPOINT_BLOCK, "\x89HDF\r\n\x1a\n", 8) == 0);
  free(file.data);
  talus_world_destroy(r.world);
}

#define ADDRESS(name) &tl_table_##name,
static const tl_table *const tables[] = {TL_CHECKPOINT_TABLES(ADDRESS)};
#define TABLES (sizeof tables / sizeof *tables)

static void mark_columns(const tl_table *table, unsigned char *seen) {
  for (int i = 0; i < table->count; ++i) {
    const tl_column *column = &table->columns[i];
    const bool text = column->rule == TL_RULE_TEXT || column->rule == TL_RULE_TEXT_NEVER_NULL;
    const size_t width = text ? sizeof(char *) : column->columns * tl_h5_size(column->type);
    memset(seen + column->offset, 1, width);
  }
}

/* A member that was added and not saved leaves a hole as wide as itself; padding is narrower. */
static void check_covered(const tl_table *table, const unsigned char *seen, size_t from,
                          size_t to) {
  for (size_t i = from, hole = 0; i < to; ++i) {
    hole = seen[i] ? 0 : hole + 1;
    CHECK_MSG(hole < 8, "table %s: nothing saves byte %zu", table->name, i);
  }
}

TEST(tables_cover_every_member) {
  for (size_t t = 0; t < TABLES; ++t) {
    unsigned char seen[4096] = {0};
    if (tables[t] == &tl_table_world) /* has a test of its own */
      continue;
    CHECK(tables[t]->row_bytes <= sizeof seen);
    mark_columns(tables[t], seen);
    if (tables[t] == &tl_table_emitters) { /* size_table is saved apart; a name is never there */
      memset(seen + offsetof(tl_emitter, def.size.table), 1, sizeof(double *));
      memset(seen + offsetof(tl_emitter, def.body.name), 1, sizeof(char *));
      memset(seen + offsetof(tl_emitter, def.body.motion), 1, sizeof(talus_motion)); /* none */
    }
    if (tables[t] == &tl_table_shapes) { /* lists are saved apart */
      static const size_t lists[] = {
          offsetof(tl_shape, points),     offsetof(tl_shape, face_plane),
          offsetof(tl_shape, face_start), offsetof(tl_shape, face_vertex),
          offsetof(tl_shape, edge),       offsetof(tl_shape, vertex_start),
          offsetof(tl_shape, neighbour),  offsetof(tl_shape, vertex_face),
          offsetof(tl_shape, facets)}; /* derived when it is loaded */
      for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k)
        memset(seen + lists[k], 1, sizeof(void *));
    }
    if (tables[t] == &tl_table_probes) /* found anew by every step */
      memset(seen + offsetof(tl_probe, centre), 1, sizeof(talus_dvec3));
    if (tables[t] == &tl_table_averages) /* sums are saved apart, means are what was read last */
      memset(seen + offsetof(tl_average, sums), 1, sizeof(tl_any_array) * 2);
    check_covered(tables[t], seen, 0, tables[t]->row_bytes);
  }
}

TEST(the_world_s_plain_members_are_all_saved) {
  typedef struct talus_world world;
  unsigned char seen[sizeof(world)] = {0};
  mark_columns(&tl_table_world, seen);
  /* Words for the log and the body of a failure: set by every step, and used before the next. */
  memset(seen + offsetof(world, last.broad_reason), 1, sizeof(char *));
  memset(seen + offsetof(world, last.culprit), 1, sizeof(uint32_t));
  memset(seen + offsetof(world, last.depths.is_suspect), 1, sizeof(bool));
  memset(seen + offsetof(world, last.has_depths), 1, sizeof(bool));
  memset(seen + offsetof(world, last.walls), 1, sizeof(tl_wall_share));
  memset(seen + offsetof(world, last.is_elsewhere), 1, sizeof(bool));
  memset(seen + offsetof(world, last.sent_bytes), 1, 2 * sizeof(uint64_t) + sizeof(size_t));
  memset(seen + offsetof(world, adaptive.stops), 1, sizeof(bool)); /* of the one who steps */
  check_covered(&tl_table_world, seen, offsetof(world, model.gravity),
                offsetof(world, model.shapes));
  check_covered(&tl_table_world, seen, offsetof(world, next_uid), offsetof(world, handles));
  check_covered(&tl_table_world, seen, offsetof(world, last), offsetof(world, mapped));
  check_covered(&tl_table_world, seen, offsetof(world, local.counts),
                offsetof(world, local.counts.least));
}

static uint64_t hash_name(uint64_t hash, const char *table, const char *column, size_t columns) {
  char text[200];
  snprintf(text, sizeof text, "%s/%s:%zu", table, column, columns);
  return tl_xxh64(text, strlen(text), hash);
}

static uint64_t hash_fields(uint64_t hash, const char *group, const tl_field *fields, int n) {
  for (int i = 0; i < n; ++i)
    if (fields[i].flags & TL_SAVED)
      hash =
          hash_name(hash, group, tl_checkpoint_field_name(&fields[i]), (size_t)fields[i].columns);
  return hash;
}

/* Without this a file of before is called damaged, not old. */
TEST(the_format_was_raised_with_the_last_change_of_the_columns) {
  uint64_t hash = TL_CHECKPOINT_FORMAT;
  for (size_t t = 0; t < TABLES; ++t)
    for (int i = 0; i < tables[t]->count; ++i)
      hash = hash_name(hash, tables[t]->name, tables[t]->columns[i].name,
                       tables[t]->columns[i].columns);
  hash = hash_fields(hash, "state", tl_state_fields, TL_STATE_FIELD_COUNT);
  hash = hash_fields(hash, "property", tl_property_fields, TL_PROPERTY_FIELD_COUNT);
  CHECK_MSG(hash == LAYOUT,
            "the columns of checkpoints changed: raise TL_CHECKPOINT_FORMAT (src/output/"
            "checkpoint.h), docs/formats.md, and then LAYOUT in this file to 0x%016" PRIx64,
            hash);
}

/* ---- beside other users of HDF5 -------------------------------------------------------------- */

static int reports;
static herr_t count_report(hid_t stack, void *context) {
  (void)stack, (void)context;
  return reports++;
}

TEST(the_error_printing_of_the_program_is_silenced_and_restored) {
  rich r = make_rich();
  H5E_auto2_t before, after;
  void *context, *after_context;
  CHECK(H5Eget_auto2(H5E_DEFAULT, &before, &context) >= 0);
  H5Eset_auto2(H5E_DEFAULT, count_report, &reports);
  CHECK_OK(talus_world_save(r.world, "quiet.hdf"));
  const hid_t file = H5Fopen("quiet.hdf", H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(file >= 0 && H5Ldelete(file, "state/spin", H5P_DEFAULT) >= 0 && H5Fclose(file) >= 0);
  bytes image = read_bytes("quiet.hdf");
  tl_checkpoint_seal(image.data, image.size);
  write_bytes("quiet.hdf", image.data, image.size);
  memset(image.data + TL_CHECKPOINT_BLOCK, 7, 64); /* no HDF5 at all */
  tl_checkpoint_seal(image.data, image.size);
  write_bytes("loud.hdf", image.data, image.size);
  free(image.data);
  talus_world *loaded;
  CHECK(talus_world_load("quiet.hdf", &loaded) == TALUS_ERROR_FORMAT);
  CHECK(talus_world_load("loud.hdf", &loaded) == TALUS_ERROR_FORMAT);
  CHECK_EQ_U64(reports, 0);
  CHECK(H5Eget_auto2(H5E_DEFAULT, &after, &after_context) >= 0);
  CHECK(after == count_report && after_context == &reports);
  H5Eset_auto2(H5E_DEFAULT, before, context);
  CHECK(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
  talus_world_destroy(r.world);
}

static void *save_often(void *path) {
  rich r = make_rich();
  talus_status status = talus_world_step(r.world, 30);
  for (int i = 0; i < 20 && status == TALUS_OK; ++i) {
    talus_world *loaded = NULL;
    status = talus_world_save(r.world, path);
    if (status == TALUS_OK)
      status = talus_world_load(path, &loaded);
    if (status == TALUS_OK && talus_world_hash(loaded) != talus_world_hash(r.world))
      status = TALUS_ERROR_FORMAT;
    talus_world_destroy(loaded);
  }
  talus_world_destroy(r.world);
  return status == TALUS_OK ? path : NULL;
}

TEST(worlds_are_saved_from_several_threads) {
  char paths[3][16] = {"thread-0.hdf", "thread-1.hdf", "thread-2.hdf"};
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    CHECK(pthread_create(&threads[i], NULL, save_often, paths[i]) == 0);
  int good = 0;
  for (int i = 0; i < 3; ++i) {
    void *result;
    CHECK(pthread_join(threads[i], &result) == 0);
    good += result != NULL;
  }
  CHECK_EQ_U64(good, 3);
}

TEST(a_missing_name_is_refused) {
  talus_world *loaded;
  CHECK(talus_world_load(NULL, &loaded) == TALUS_ERROR_INVALID && !loaded);
  CHECK(talus_world_load("", &loaded) == TALUS_ERROR_INVALID);
  rich r = make_rich();
  CHECK(talus_world_save(r.world, NULL) == TALUS_ERROR_INVALID);
  CHECK(talus_world_write_frame(r.world, "") == TALUS_ERROR_INVALID);
  CHECK(talus_world_write_contacts(r.world, NULL) == TALUS_ERROR_INVALID);
  talus_world_destroy(r.world);
}

/* What could not be loaded again is not saved, and says so now rather than after the run. */
TEST(a_world_that_is_not_finite_is_not_saved) {
  rich r = make_rich();
  CHECK_OK(talus_world_step(r.world, 20));
  r.world->state.velocity[5].x = (talus_real)NAN;
  CHECK(talus_world_save(r.world, "nan.hdf") == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "nan.hdf: the world cannot be saved: body "), "%s",
            talus_last_error());
  r.world->state.velocity[5].x = 0;
  r.world->flow.probes.data[0].force[1] = INFINITY;
  CHECK(talus_world_save(r.world, "nan.hdf") == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "probes/force"));
  CHECK(!exists("nan.hdf") && !exists("nan.hdf.part"));
  talus_world_destroy(r.world);
}

TEST(saving_does_not_keep_memory) {
  rich r = make_rich();
  CHECK_OK(talus_world_save(r.world, "memory.hdf"));
  const size_t before = tl_memory_count().bytes;
  talus_world *loaded;
  CHECK_OK(talus_world_save(r.world, "memory.hdf"));
  CHECK_OK(talus_world_write_frame(r.world, "memory-frame.hdf"));
  CHECK_OK(talus_world_write_contacts(r.world, "memory-contacts.hdf"));
  CHECK_OK(talus_world_load("memory.hdf", &loaded));
  talus_world_destroy(loaded);
  CHECK_EQ_U64(tl_memory_count().bytes, before);
  talus_world_destroy(r.world);
}

#endif

OUTPUT_TEST_MAIN()
