/* Checkpoints that are damaged, foreign or hostile are refused with the path and the fault. */
#include "output_fixture.h"

#if TALUS_HAVE_HDF5

#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/random.h"
#include "crowd/asleep.h"
#include "output/checkpoint.h"

#define SAVED  "good.hdf"
#define BROKEN "broken.hdf"

/* A good checkpoint, in a file and in memory. */
static bytes make_good(uint64_t *hash) {
  rich r = make_rich();
  unsigned char run[] = "of the run";
  const tl_blob blob = {run, sizeof run};
  age(&r);
  CHECK_OK(tl_output_save(r.world, SAVED, NULL, &blob));
  if (hash)
    *hash = talus_world_hash(r.world);
  talus_world_destroy(r.world);
  return read_bytes(SAVED);
}

static void check_refused(const char *path, talus_status status, const char *why) {
  talus_world *world = (talus_world *)1;
  tl_blob blob;
  const talus_status got = tl_output_load(path, &world, &blob);
  CHECK_MSG(got == status, "expected '%s', got status %d (%s)", why, (int)got,
            got ? talus_last_error() : "loaded");
  CHECK(world == NULL && blob.data == NULL);
  CHECK_MSG(strncmp(talus_last_error(), path, strlen(path)) == 0, "%s", talus_last_error());
  CHECK_MSG(strstr(talus_last_error(), why) != NULL, "expected '%s' in: %s", why,
            talus_last_error());
}

/* ---- accidents ------------------------------------------------------------------------------- */

TEST(a_file_that_is_cut_off_is_refused) {
  bytes good = make_good(NULL);
  for (size_t i = 0; i < 160; ++i) {
    const size_t length = i < 80 ? i * 8 : (size_t)((double)good.size * (double)(i - 79) / 81);
    CHECK(length < good.size);
    write_bytes(BROKEN, good.data, length);
    check_refused(BROKEN, TALUS_ERROR_FORMAT, length < 20 ? "not a talus checkpoint" : "damaged");
  }
  free(good.data);
}

TEST(a_file_with_more_than_it_should_have_is_refused) {
  bytes good = make_good(NULL);
  good.data[good.size] = 0;
  write_bytes(BROKEN, good.data, good.size + 1);
  check_refused(BROKEN, TALUS_ERROR_FORMAT, "damaged");
  free(good.data);
}

/* One bit anywhere: refused, or (the checksum in capital letters) the same world. */
TEST(a_flipped_bit_is_noticed) {
  uint64_t hash;
  bytes good = make_good(&hash);
  int refused = 0, loaded = 0;
  for (size_t i = 0; i < 760; ++i) {
    const size_t at = i < 560 ? i : 560 + (good.size - 561) * (i - 560) / 199;
    const unsigned char bit = (unsigned char)(1u << (i * 5 % 8));
    good.data[at] ^= bit;
    write_bytes(BROKEN, good.data, good.size);
    good.data[at] ^= bit;
    talus_world *world;
    const talus_status status = talus_world_load(BROKEN, &world);
    refused += status != TALUS_OK;
    if (status != TALUS_OK) {
      CHECK_MSG(status == TALUS_ERROR_FORMAT || status == TALUS_ERROR_UNSUPPORTED, "byte %zu: %s",
                at, talus_last_error());
      CHECK(strncmp(talus_last_error(), BROKEN, strlen(BROKEN)) == 0);
      continue;
    }
    loaded++;
    CHECK_MSG(at < TL_CHECKPOINT_BLOCK, "byte %zu was not noticed", at);
    CHECK_EQ_U64(talus_world_hash(world), hash);
    talus_world_destroy(world);
  }
  CHECK_MSG(loaded < 16 && refused > 700, "%d loaded, %d refused", loaded, refused);
  free(good.data);
}

TEST(what_is_no_checkpoint_is_refused) {
  free(make_good(NULL).data);
  check_refused("nowhere.hdf", TALUS_ERROR_IO, "does not exist");
  check_refused("nowhere/file.hdf", TALUS_ERROR_IO, "does not exist");
  mkdir("folder", 0777);
  check_refused("folder", TALUS_ERROR_FORMAT, "not a plain file");
  check_refused("/dev/zero", TALUS_ERROR_FORMAT, "not a plain file");
  write_bytes(BROKEN, (const unsigned char *)"talus: 1\n", 9);
  check_refused(BROKEN, TALUS_ERROR_FORMAT, "is not a talus checkpoint");
  write_bytes(BROKEN, (const unsigned char *)"", 0);
  check_refused(BROKEN, TALUS_ERROR_FORMAT, "is not a talus checkpoint");
  talus_world *world;
  CHECK_OK(talus_world_load(SAVED, &world));
  CHECK_OK(talus_world_write_frame(world, "frame.hdf"));
  talus_world_destroy(world);
  check_refused("frame.hdf", TALUS_ERROR_FORMAT, "is not a talus checkpoint");
}

/* ---- another talus --------------------------------------------------------------------------- */

/* The first lines replaced, with the checksum that belongs to them. */
static void write_with_block(bytes file, const char *lines) {
  char text[TL_CHECKPOINT_BLOCK] = {0};
  snprintf(text, sizeof text, "%s\nbytes %zu\nxxh64 ", lines, file.size);
  const size_t length = strlen(text), piece = (size_t)1 << 20;
  uint64_t hash = tl_xxh64(text, length, 0);
  for (size_t at = sizeof text; at < file.size; at += piece)
    hash = tl_xxh64(file.data + at, file.size - at < piece ? file.size - at : piece, hash);
  snprintf(text + length, sizeof text - length, "%016" PRIx64 "\n", hash);
  memcpy(file.data, text, sizeof text);
  write_bytes(BROKEN, file.data, file.size);
}

TEST(a_checkpoint_of_the_other_precision_is_refused) {
  bytes good = make_good(NULL);
  char lines[128];
  const char *form = "talus checkpoint\nformat %d\nversion 0.1.0\nprecision %s";
  snprintf(lines, sizeof lines, form, TL_CHECKPOINT_FORMAT, TALUS_SINGLE ? "single" : "double");
  write_with_block(good, lines);
  talus_world *world;
  CHECK_OK(talus_world_load(BROKEN, &world)); /* the specification of the checksum, written twice */
  talus_world_destroy(world);
  snprintf(lines, sizeof lines, form, TL_CHECKPOINT_FORMAT, TALUS_SINGLE ? "double" : "single");
  write_with_block(good, lines);
  check_refused(BROKEN, TALUS_ERROR_UNSUPPORTED,
                TALUS_SINGLE ? "is of the double-precision" : "is of the single-precision");
  free(good.data);
}

TEST(a_checkpoint_of_another_format_is_refused_with_both_numbers) {
  bytes good = make_good(NULL);
  char why[64];
  write_with_block(good, "talus checkpoint\nformat 900\nversion 7.0\nprecision quad");
  check_refused(BROKEN, TALUS_ERROR_UNSUPPORTED, "use a newer talus");
  write_with_block(good, "talus checkpoint\nformat 1\nversion 0.1.0\nprecision double");
  check_refused(BROKEN, TALUS_ERROR_UNSUPPORTED, "the older talus that wrote it");
  check_refused(BROKEN, TALUS_ERROR_UNSUPPORTED, "has checkpoint format 1,");
  snprintf(why, sizeof why, "reads formats %d to %d;", TL_CHECKPOINT_OLDEST_FORMAT,
           TL_CHECKPOINT_FORMAT);
  check_refused(BROKEN, TALUS_ERROR_UNSUPPORTED, why);
  free(good.data);
}

/* Takes out what that format had not yet. */
static void delete_late_columns(hid_t file, unsigned format) {
#define TABLE_OF(name) &tl_table_##name,
  static const tl_table *const tables[] = {TL_CHECKPOINT_TABLES(TABLE_OF)};
#undef TABLE_OF
  for (size_t t = 0; t < sizeof tables / sizeof *tables; ++t)
    for (int i = 0; i < tables[t]->count; ++i) {
      char name[TL_CHECKPOINT_NAME_BYTES];
      tl_checkpoint_name(name, tables[t]->name, tables[t]->columns[i].name, "");
      if (tables[t]->columns[i].rule == TL_RULE_LATE && tables[t]->columns[i].limit > format)
        CHECK_MSG(H5Ldelete(file, name, H5P_DEFAULT) >= 0, "%s", name);
    }
}

/* Format 6 counts in state/rest the steps for which a body has been slow. */
static void count_slow_steps(hid_t file, const talus_world *world) {
  if (!world->state.sleep_flags)
    return;
  uint32_t sleep_flags[64];
  CHECK(world->model.bodies <= 64);
  for (size_t i = 0; i < world->model.bodies; ++i)
    sleep_flags[i] =
        world->state.sleep_flags[i] == TL_SLEEP_SLOW
            ? (uint32_t)lround((world->time - world->state.slow_since[i]) / world->model.dt)
            : world->state.sleep_flags[i];
  const hid_t rows = H5Dopen2(file, "state/rest", H5P_DEFAULT);
  CHECK(H5Dwrite(rows, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, sleep_flags) >= 0);
  CHECK(H5Dclose(rows) >= 0 && H5Ldelete(file, "state/slow_since", H5P_DEFAULT) >= 0);
}

/* The file of a world as a talus before this one wrote it. */
static void write_format(unsigned format, bytes good, const talus_world *world) {
  char block[120];
  write_bytes(BROKEN, good.data, good.size);
  const hid_t file = H5Fopen(BROKEN, H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(file >= 0);
  delete_late_columns(file, format);
  if (format == 6)
    count_slow_steps(file, world);
  CHECK(H5Fclose(file) >= 0);
  bytes old = read_bytes(BROKEN);
  snprintf(block, sizeof block, "talus checkpoint\nformat %u\nversion 0.1.0\nprecision %s", format,
           TALUS_SINGLE ? "single" : "double");
  write_with_block(old, block);
  free(old.data);
}

static void check_format(unsigned format) {
  bytes good = make_good(NULL);
  talus_world *world, *old;
  CHECK_OK(talus_world_load(SAVED, &world));
  write_format(format, good, world);
  CHECK_OK(talus_world_load(BROKEN, &old));
  CHECK(talus_world_time(world) > 0 && talus_world_time(old) == talus_world_time(world));
  CHECK_OK(talus_world_step(world, 20));
  CHECK_OK(talus_world_step(old, 20));
  CHECK_EQ_U64(talus_world_hash(old), talus_world_hash(world));
  talus_world_destroy(world);
  talus_world_destroy(old);
  free(good.data);
}

TEST(a_checkpoint_of_a_format_before_goes_on_bit_for_bit) {
  for (unsigned format = TL_CHECKPOINT_OLDEST_FORMAT; format < TL_CHECKPOINT_FORMAT; ++format)
    check_format(format);
}

TEST(bodies_of_the_format_before_fall_asleep_in_the_same_step) {
  talus_world_def def = talus_world_def_default();
  def.sleep = (talus_sleep_def){.speed = 0.05, .time = 100 * def.dt};
  talus_world *world, *old;
  CHECK_OK(talus_world_create(&def, &world));
  const talus_shape ball = add_shape(world, "ball", TALUS_SPHERE, 0.1, 0, 0, 0, 0);
  const talus_shape floor = add_shape(world, "floor", TALUS_PLANE, 0, 0, 1, 0, 0);
  const talus_material rock = add_material(world, "rock", 0.5, 0);
  talus_body_def body = place(TALUS_FIXED, floor, rock, 0, 0, 0);
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body = place(TALUS_FREE, ball, rock, 0, 0, 0.1);
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK_OK(talus_world_step(world, 37));
  CHECK(world->state.sleep_flags[1] == TL_SLEEP_SLOW);
  CHECK_OK(talus_world_save(world, SAVED));
  bytes good = read_bytes(SAVED);
  write_format(6, good, world);
  CHECK_OK(talus_world_load(BROKEN, &old));
  CHECK(old->state.slow_since[1] == world->state.slow_since[1]);
  for (int i = 0; i < 80; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    CHECK_OK(talus_world_step(old, 1));
    CHECK_EQ_U64(old->state.sleep_flags[1], world->state.sleep_flags[1]);
  }
  CHECK_EQ_U64(world->state.sleep_flags[1], TL_SLEEP_ASLEEP);
  talus_world_destroy(world);
  talus_world_destroy(old);
  free(good.data);
}

/* ---- hostile files: the checksum is right, the content is not -------------------------------- */

static void seal_broken(void) {
  bytes file = read_bytes(BROKEN);
  tl_checkpoint_seal(file.data, file.size);
  write_bytes(BROKEN, file.data, file.size);
  free(file.data);
}

static hid_t open_broken(bytes good) {
  write_bytes(BROKEN, good.data, good.size);
  const hid_t file = H5Fopen(BROKEN, H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(file >= 0);
  return file;
}

/* Writes a new first row into a dataset of a copy, seals it, and expects a refusal. */
static void check_value_refused(bytes good, const char *name, hid_t type, const void *values,
                                const char *why) {
  const hid_t file = open_broken(good), set = H5Dopen2(file, name, H5P_DEFAULT);
  CHECK_MSG(set >= 0, "%s", name);
  const hid_t space = H5Dget_space(set);
  hsize_t size[2] = {0, 1};
  const int rank = H5Sget_simple_extent_dims(space, size, NULL);
  CHECK_MSG(size[0] > 0, "%s is empty", name);
  const hsize_t start[2] = {0, 0}, count[2] = {1, size[1]};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  const hid_t row = H5Screate_simple(rank, count, NULL);
  CHECK(H5Dwrite(set, type, row, space, H5P_DEFAULT, values) >= 0);
  H5Sclose(row), H5Sclose(space), H5Dclose(set), H5Fclose(file);
  seal_broken();
  check_refused(BROKEN, TALUS_ERROR_FORMAT, why);
}

TEST(wrong_values_are_refused) {
  bytes good = make_good(NULL);
  const double nan[6] = {NAN, NAN, NAN, NAN, NAN, NAN}, zero[6] = {0}, minus[6] = {-1, -1, -1};
  const double two[6] = {2, 2, 2, 2, 2, 2};
  static const char *const names[] = {
      "state/position",     "state/rotation",         "state/velocity",
      "state/spin",         "property/mass",          "property/force",
      "contacts/impulse",   "contacts/normal",        "contacts/point",
      "shapes/gyration",    "shapes/centre",          "materials/density",
      "laws/friction",      "motion_terms/frequency", "probes/weight",
      "emitters/body_mass", "world/gravity",          "world/dt"};
  const hid_t real = H5T_NATIVE_DOUBLE, u32 = H5T_NATIVE_UINT32, u64 = H5T_NATIVE_UINT64;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    check_value_refused(good, names[i], real, nan, "not finite");
  check_value_refused(good, "state/rotation", real, two, "unit quaternion");
  check_value_refused(good, "property/scale", real, zero, "out of range");
  check_value_refused(good, "property/mass", real, minus, "mass is out of range");
  check_value_refused(good, "shapes/size", real, minus, "radius");
  check_value_refused(good, "shapes/radius", real, zero, "derived");
  check_value_refused(good, "materials/density", real, zero, "out of range");
  check_value_refused(good, "laws/restitution", real, two, "out of range");
  check_value_refused(good, "overrides/friction", real, minus, "out of range");
  check_value_refused(good, "emitters/rate", real, minus, "rate");
  check_value_refused(good, "emitters/until", real, nan, "end");
  check_value_refused(good, "emitters/size_table", real, minus, "table of sizes");
  check_value_refused(good, "sinks/region_radius", real, nan, "radius");
  check_value_refused(good, "motion_values/value", real, two, "do not rise");
  check_value_refused(good, "motion_terms/until", real, zero, "out of range");
  check_value_refused(good, "world/dt", real, zero, "dt");
  check_value_refused(good, "world/domain_box", real, zero, "domain");
  check_value_refused(good, "world/lambda", real, minus, "lambda");

  const uint32_t big[4] = {1000000, 1000000, 1000000, 1000000}, one[4] = {1, 1, 1, 1},
                 late[4] = {90};
  const uint32_t none[4] = {TL_NONE, TL_NONE, TL_NONE, TL_NONE};
  static const char *const indices[] = {"property/shape",
                                        "property/material",
                                        "property/group",
                                        "property/flags",
                                        "property/motion",
                                        "motions/first",
                                        "motions/count",
                                        "motion_terms/rows",
                                        "motion_terms/table_kind",
                                        "property/handle",
                                        "shapes/kind",
                                        "shapes/open",
                                        "overrides/b",
                                        "ignored/b",
                                        "handles/slot",
                                        "free_handles/handle",
                                        "contacts/a",
                                        "contacts/b",
                                        "emitters/body_shape",
                                        "emitters/body_material",
                                        "emitters/body_group",
                                        "emitters/body_lock",
                                        "emitters/from_kind",
                                        "emitters/size_kind",
                                        "sinks/region_kind",
                                        "probes/record",
                                        "world/broad",
                                        "world/friction",
                                        "world/broad_told"};
  for (size_t i = 0; i < sizeof indices / sizeof *indices; ++i)
    check_value_refused(good, indices[i], u32, big, "");
  check_value_refused(good, "property/motion", u32, one, "not kinematic");
  check_value_refused(good, "handles/slot", u32, one, "handle");
  check_value_refused(good, "handles/slot", u32, none, "handle");
  check_value_refused(good, "free_handles/handle", u32, one, "free handles");
  check_value_refused(good, "contacts/b", u32, late, "order");

  const uint64_t far[1] = {UINT64_MAX}, nought[1] = {0};
  static const char *const counts[] = {"property/uid", "names/uid", "world/bodies", "probes/uid",
                                       "emitters/size_rows"};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
    check_value_refused(good, counts[i], u64, far, "");
  check_value_refused(good, "world/next_uid", u64, nought, "never given out");
  check_value_refused(good, "world/bodies", u64, nought, "bodies");
  check_value_refused(good, "names/name_length", u32, none, "length");
  check_value_refused(good, "names/name_length", u32, big, "length");
  check_value_refused(good, "names/name_length", u32, one, "more text than rows");
  check_value_refused(good, "names/name_text", H5T_NATIVE_DOUBLE, zero, "zero byte");
  check_value_refused(good, "world/domain_periodic", H5T_NATIVE_DOUBLE, two, "not below 2");
  free(good.data);
}

/* How a dataset is put back after it was deleted from a copy. */
typedef struct disguise {
  hsize_t rows, columns;
  hid_t type;
  bool chunked, external, never_written;
  const char *soft, *elsewhere;
  bool group;
} disguise;

static void put_back(hid_t file, const char *name, const disguise *how) {
  if (how->soft)
    CHECK(H5Lcreate_soft(how->soft, file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
  if (how->elsewhere)
    CHECK(H5Lcreate_external(SAVED, how->elsewhere, file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
  if (how->group)
    CHECK(H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
  if (!how->type)
    return;
  const hsize_t size[2] = {how->rows, how->columns}, chunk[2] = {1, how->columns};
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  const int rank = how->columns == 1 ? 1 : 2;
  if (how->chunked)
    CHECK(H5Pset_chunk(list, rank, chunk) >= 0);
  if (how->external)
    CHECK(H5Pset_external(list, SAVED, 0, H5F_UNLIMITED) >= 0);
  const hid_t space = H5Screate_simple(rank, size, NULL);
  const hid_t set = H5Dcreate2(file, name, how->type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  CHECK(set >= 0);
  if (!how->never_written && !how->external) {
    void *zeros = calloc((size_t)(how->rows * how->columns), 8);
    CHECK(H5Dwrite(set, how->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0);
    free(zeros);
  }
  H5Dclose(set), H5Sclose(space), H5Pclose(list);
}

static void check_disguise_refused(bytes good, const char *name, disguise how, const char *why) {
  const hid_t file = open_broken(good);
  CHECK(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  put_back(file, name, &how);
  CHECK(H5Fclose(file) >= 0);
  seal_broken();
  check_refused(BROKEN, TALUS_ERROR_FORMAT, why);
}

TEST(datasets_that_are_not_what_they_should_be_are_refused) {
  bytes good = make_good(NULL);
  const hid_t u32 = H5T_STD_U32LE, f64 = H5T_IEEE_F64LE;
  const hsize_t huge = (hsize_t)1 << 40;
#define REFUSED(name, why, ...) check_disguise_refused(good, name, (disguise){__VA_ARGS__}, why)
  static const char *const needed[] = {"world",
                                       "world/steps",
                                       "state",
                                       "state/position",
                                       "state/spin",
                                       "property/uid",
                                       "shapes/kind",
                                       "materials",
                                       "laws/friction",
                                       "contacts/gap",
                                       "handles/slot",
                                       "free_handles",
                                       "groups/name_text",
                                       "names/name_length",
                                       "motion_terms/phase",
                                       "emitters/seed",
                                       "emitters/size_table",
                                       "sinks/removed",
                                       "probes/force",
                                       "ignored/a",
                                       "overrides/a"};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; ++i)
    REFUSED(needed[i], "is missing", .rows = 0);
  REFUSED("shapes/kind", "another type", .rows = 4, .columns = 1, .type = f64);
  REFUSED("shapes/kind", "another type", .rows = 4, .columns = 1, .type = H5T_STD_U32BE);
  REFUSED("shapes/kind", "another type", .rows = 4, .columns = 1, .type = H5T_STD_I32LE);
  REFUSED("shapes/kind", "another shape", .rows = 4, .columns = 2, .type = u32);
  REFUSED("shapes/kind", "rows", .rows = 3, .columns = 1, .type = u32);
  REFUSED("shapes/kind", "rows", .rows = 5, .columns = 1, .type = u32);
  REFUSED("shapes/name_length", "rows", .rows = 5, .columns = 1, .type = u32);
  REFUSED("state/position", "rows", .rows = 1, .columns = 3, .type = f64);
  REFUSED("state/velocity", "rows", .rows = 1, .columns = 3,
          .type = TALUS_SINGLE ? H5T_IEEE_F32LE : f64);
  REFUSED("state/position", "larger than the file", .rows = huge, .columns = 3, .type = f64,
          .never_written = true);
  REFUSED("state/position", "not all in the file", .rows = 100, .columns = 3, .type = f64,
          .never_written = true);
  REFUSED("shapes/kind", "not stored in one piece", .rows = 4, .columns = 1, .type = u32,
          .chunked = true);
  REFUSED("shapes/kind", "in another file", .rows = 4, .columns = 1, .type = u32, .external = true);
  REFUSED("shapes/kind", "is missing", .soft = "/materials/density");
  REFUSED("shapes", "is missing", .soft = "/nowhere");
  REFUSED("shapes", "is missing", .elsewhere = "shapes");
  REFUSED("shapes/kind", "is missing", .elsewhere = "shapes/kind");
  REFUSED("shapes/kind", "cannot be opened", .group = true);
  REFUSED("run", "cannot be opened", .group = true);
  REFUSED("run", "larger than the file", .rows = huge, .columns = 1, .type = H5T_STD_U8LE,
          .never_written = true);
#undef REFUSED
  free(good.data);
}

/* Random bytes of the stored numbers, sealed again: refused, or a world that can be stepped and
 * saved. Only numbers are touched: HDF5 1.10 itself can be crashed through its own structures. */
TEST(random_numbers_are_refused_or_make_a_world) {
  bytes good = make_good(NULL);
  static const char *const names[] = {
      "property/flags",      "property/shape",   "property/handle",    "property/uid",
      "contacts/a",          "contacts/b",       "handles/slot",       "handles/generation",
      "free_handles/handle", "names/uid",        "shapes/kind",        "shapes/size",
      "world/domain_box",    "world/iterations", "emitters/from_at",   "emitters/size_table",
      "probes/record",       "motions/position", "motion_terms/table", "motion_values/value",
      "state/rotation",      "names/name_text"};
  const size_t count = sizeof names / sizeof *names;
  size_t at[sizeof names / sizeof *names], size[sizeof names / sizeof *names];
  const hid_t file = H5Fopen(SAVED, H5F_ACC_RDONLY, H5P_DEFAULT);
  for (size_t i = 0; i < count; ++i) {
    const hid_t set = H5Dopen2(file, names[i], H5P_DEFAULT);
    CHECK_MSG(set >= 0, "%s", names[i]);
    at[i] = (size_t)H5Dget_offset(set), size[i] = (size_t)H5Dget_storage_size(set);
    CHECK(size[i] > 0);
    H5Dclose(set);
  }
  H5Fclose(file);
  int refused = 0;
  for (uint64_t trial = 0; trial < 200; ++trial) {
    tl_random random = tl_random_start(2024, 1, trial);
    bytes copy = {malloc(good.size), good.size};
    memcpy(copy.data, good.data, good.size);
    const size_t set = (size_t)trial % count;
    const size_t from = at[set] + tl_random_u32(&random) % size[set];
    copy.data[from] ^= (unsigned char)(1u << tl_random_u32(&random) % 8);
    tl_checkpoint_seal(copy.data, copy.size);
    write_bytes(BROKEN, copy.data, copy.size);
    free(copy.data);
    talus_world *world;
    const talus_status status = talus_world_load(BROKEN, &world);
    if (status != TALUS_OK) {
      CHECK_MSG(status == TALUS_ERROR_FORMAT, "trial %d: %s", (int)trial, talus_last_error());
      refused++;
      continue;
    }
    world->model.par.threads = 1;
    (void)talus_world_step(world, 2); /* it may well diverge, and says so */
    if (trial % 8 == 0)
      (void)talus_world_save(world, "again.hdf");
    talus_world_destroy(world);
  }
  CHECK_MSG(refused > 25 && refused < 200, "%d of 200 were refused", refused);
  free(good.data);
}

#endif

OUTPUT_TEST_MAIN()
