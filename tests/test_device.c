/* Contacts found by a device are those of the CPU, byte for byte. The device is `check` (the same
 * code on the host), or what TALUS_TEST_BACKEND names: on a machine with a GPU, cuda. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/device.h"
#include "backend/spheres.h"
#include "backend/thread/tasks.h"
#include "base/random.h"
#include "check.h"
#include "device_compare.h"
#include <talus/detect.h>

#define MOST 6000

static struct {
  size_t n;
  double record[MOST][4]; /* x, y, z, r */
} scene;

static talus_detect_bodies bodies_of_scene(void) {
  return (talus_detect_bodies){.count = scene.n,
                               .position = &scene.record[0][0],
                               .position_stride = 4,
                               .radius = &scene.record[0][3],
                               .radius_stride = 4};
}

/* n spheres in a cube of that edge; radii from low to high. */
static void scatter(size_t n, double edge, double low, double high, uint64_t seed) {
  scene.n = n;
  for (size_t i = 0; i < n; ++i) {
    tl_random r = tl_random_start(seed, 98, i);
    for (int k = 0; k < 3; ++k)
      scene.record[i][k] = edge * (tl_random_unit(&r) - 0.5);
    scene.record[i][3] = low * pow(high / low, tl_random_unit(&r));
  }
}

static size_t compare_scene(double margin) {
  talus_detect_def def = talus_detect_def_default();
  const talus_detect_bodies bodies = bodies_of_scene();
  def.margin = margin;
  return compare(def, &bodies);
}

TEST(backends_have_names_that_lead_back_to_them) {
  talus_backend found;
  for (int k = 0; talus_backend_name((talus_backend)k); ++k) {
    CHECK_OK(talus_backend_by_name(talus_backend_name((talus_backend)k), &found));
    CHECK_EQ_U64(found, k);
  }
  CHECK(talus_backend_by_name("gpu", &found) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "'gpu' is not a backend: these are cpu, check, cuda"));
  CHECK(strncmp(talus_backends(), "cpu check", 9) == 0);
  CHECK(strstr(talus_last_error(), "'gpu' is not a backend")); /* with or without a GPU */
}

/* What copies do, tasks do too: the device looks after both. */
TEST(what_is_written_beside_a_block_is_found) {
  static const unsigned char row[1 << 17];
  static const size_t sizes[] = {1, 60, 100, 4097, 100000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int side = 0; side < 2; ++side) {
      tl_device *device;
      tl_device_block blocks[3] = {{0}};
      CHECK_OK(tl_device_open_check(&device));
      for (int k = 0; k < 3; ++k)
        CHECK_OK(device->calls->resize(device, &blocks[k], sizes[i]));
      unsigned char *to = blocks[1].data;
      CHECK_OK(device->calls->upload(device, to, row, sizes[i]));
      const talus_status written =
          device->calls->upload(device, to - (side == 0), row, sizes[i] + (side == 1));
      CHECK(written == TALUS_ERROR_DEVICE || device->calls->finish(device) == TALUS_ERROR_DEVICE);
      CHECK(strstr(talus_last_error(), "beside its block"));
      for (int k = 0; k < 3; ++k)
        CHECK_OK(device->calls->resize(device, &blocks[k], 0));
      device->calls->close(device);
    }
}

#if defined(__linux__)
static int read_beyond(int side) {
  static unsigned char row[16];
  tl_device *device;
  tl_device_block block = {0}, other = {0};
  if (tl_device_open_check(&device) != TALUS_OK ||
      device->calls->resize(device, &block, 4096) != TALUS_OK ||
      device->calls->resize(device, &other, 4096) != TALUS_OK)
    return 1;
  const unsigned char *from = side == 0 ? other.data : block.data;
  (void)device->calls->download(device, row, side == 0 ? from - 1 : from + 4096, 1);
  return 0;
}

/* Also what is only read: as a task would. */
TEST(what_is_read_beyond_a_block_ends_the_program) {
  for (int side = 0; side < 2; ++side) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGBUS, SIG_DFL); /* sanitizers catch it */
      _exit(read_beyond(side));
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
  }
}
#endif

TEST(none_one_and_two_agree) {
  for (size_t n = 0; n <= 2; ++n) {
    scatter(n, 1, 0.6, 0.6, 1);
    compare_scene(0);
    compare_scene(3);
  }
}

TEST(equal_spheres_agree) {
  scatter(5000, 14, 0.5, 0.5, 2);
  CHECK(compare_scene(0) > 5000);
  compare_scene(0.2);
}

TEST(sizes_of_one_to_ten_thousand_agree) {
  scatter(3000, 10, 1e-4, 1, 3);
  CHECK(compare_scene(0) > 1000);
  scatter(3000, 4, 1e-3, 0.5, 4);
  compare_scene(1e-2);
}

TEST(points_and_spheres_in_one_place_agree) {
  scatter(900, 1, 1, 1, 5);
  for (size_t i = 0; i < scene.n; ++i) {
    scene.record[i][3] = i % 3 ? 0 : 1e-3;
    if (i % 5 == 1)
      memcpy(scene.record[i], scene.record[i - 1], sizeof scene.record[i]);
  }
  CHECK(compare_scene(0) > 0);
  compare_scene(0.1);
  for (size_t i = 0; i < scene.n; ++i)
    memset(scene.record[i], 0, sizeof scene.record[i]);
  scene.n = 700; /* all in one cell, each with more contacts than one thread sorts */
  CHECK_EQ_U64(compare_scene(0), 700 * 699 / 2);
}

/* A run of thousands. */
TEST(one_that_touches_all_agrees_wherever_it_stands) {
  for (size_t at = 0; at < 3; ++at) {
    scatter(3000, 10, 0.01, 0.012, 6);
    const size_t giant = at * (scene.n - 1) / 2;
    const double all[4] = {0, 0, 0, 30};
    memcpy(scene.record[giant], all, sizeof all);
    CHECK(compare_scene(0) >= scene.n - 1);
  }
}

TEST(lattice_of_touching_spheres_agrees) {
  const size_t m = 12;
  const double edges[] = {0.1, 1.0 / 3.0, 1e-3};
  for (size_t e = 0; e < 3; ++e) {
    scene.n = m * m * m;
    for (size_t i = 0; i < scene.n; ++i) {
      const double x = (double)(i % m), y = (double)(i / m % m), z = (double)(i / m / m);
      const double place[4] = {x * edges[e] + 3, y * edges[e], z * edges[e] - 7, 0.5 * edges[e]};
      memcpy(scene.record[i], place, sizeof place);
    }
    CHECK(compare_scene(0) > 0);
    CHECK_EQ_U64(compare_scene(1e-6 * edges[e]), 3 * m * m * (m - 1));
  }
}

/* Far from the origin; and two crowds so far apart that no table of cells would hold what is
 * between them. */
TEST(far_and_scattered_spheres_agree) {
  scatter(2000, 10, 0.5, 0.6, 7);
  for (size_t i = 0; i < scene.n; ++i)
    scene.record[i][0] += 1e6;
  CHECK(compare_scene(0) > 1000);
  for (size_t i = 0; i < scene.n; i += 2)
    for (int k = 0; k < 3; ++k)
      scene.record[i][k] -= 3e6;
  CHECK(compare_scene(0) > 500);
  scene.record[0][0] = 1e15;
  compare_scene(0.1);
}

/* A point wants the most levels, and a box of 6e6 m the most cells of each. */
TEST(a_point_among_far_spheres_of_two_sizes_agrees) {
  scatter(1200, 6e6, 1e-3, 1e-3, 15);
  for (size_t i = 0; i < scene.n; ++i) {
    scene.record[i][3] = i % 2 ? 1 : 1e-3;
    for (int k = 0; i % 2 && k < 3; ++k)
      scene.record[i][k] = scene.record[i - 1][k];
  }
  scene.record[0][3] = 0;
  CHECK_EQ_U64(compare_scene(0), 600);
}

/* More long runs than are sorted by all threads together. */
TEST(very_many_that_all_touch_each_other_agree) {
  SKIP_IF_SHORT();
  scatter(1400, 0.1, 1, 1, 16);
  CHECK_EQ_U64(compare_scene(0), 1400 * 1399 / 2);
}

TEST(periodic_axes_agree) {
  const double periods[][3] = {{5, 0, 5.5}, {2.1, 2.05, 2.2}, {0, 31, 0}, {3.3, 3.3, 3.3}};
  for (size_t p = 0; p < 4; ++p) {
    talus_detect_def def = talus_detect_def_default();
    scatter(p == 1 ? 60 : 1500, 9, 0.1, 0.5, 8 + p);
    def.domain.enabled = true;
    def.domain.box = (talus_box){{-2, -1, -2.5}, {-2 + 1, -1 + 1, -2.5 + 1}};
    double *high[3] = {&def.domain.box.hi.x, &def.domain.box.hi.y, &def.domain.box.hi.z};
    const double low[3] = {-2, -1, -2.5};
    for (int k = 0; k < 3; ++k) {
      def.domain.periodic[k] = periods[p][k] > 0;
      *high[k] = low[k] + (periods[p][k] > 0 ? periods[p][k] : 1);
    }
    const talus_detect_bodies bodies = bodies_of_scene();
    CHECK(compare(def, &bodies) > 50);
  }
}

TEST(fixed_spheres_touch_free_ones_alone) {
  static uint8_t fixed[MOST];
  scatter(2000, 9, 0.2, 0.6, 12);
  for (size_t i = 0; i < scene.n; ++i)
    fixed[i] = i % 3 == 0;
  talus_detect_bodies bodies = bodies_of_scene();
  const size_t all = compare(talus_detect_def_default(), &bodies);
  bodies.fixed = fixed;
  CHECK(compare(talus_detect_def_default(), &bodies) < all);
}

TEST(random_clouds_agree) {
  for (uint64_t seed = 0; seed < (getenv("TALUS_SOAK") ? 2000u
                                  : check_is_short()   ? 5u
                                                       : 20u);
       ++seed) {
    tl_random r = tl_random_start(seed, 97, 0);
    const double small = 0.01 * pow(100, tl_random_unit(&r));
    const double ratio = pow(1000, tl_random_unit(&r));
    scatter((size_t)(600 * tl_random_unit(&r)), 2 + 8 * tl_random_unit(&r), small,
            small * ratio < 2 ? small * ratio : 2, 1000 + seed);
    compare_scene(seed % 3 == 0 ? 0.1 * tl_random_unit(&r) : 0);
  }
}

/* ---- pairs of boxes -------------------------------------------------------------------------- */

TEST(pairs_of_spheres_agree) {
  talus_detect_def def = talus_detect_def_default();
  static uint8_t fixed[MOST];
  for (uint64_t seed = 0; seed < (check_is_short() ? 2u : 6u); ++seed) {
    scatter(1500, 9, 0.02, seed % 2 ? 0.5 : 1, 20 + seed);
    for (size_t i = 0; i < scene.n; ++i)
      fixed[i] = i % 3 == 0;
    talus_detect_bodies bodies = bodies_of_scene();
    bodies.fixed = seed % 3 ? fixed : NULL;
    def.margin = seed < 3 ? 0 : 0.2;
    CHECK(compare_body_pairs(def, &bodies) > 100);
  }
}

/* Flat, long, empty and touching ones; across periods, and as long as two of them. */
TEST(pairs_of_boxes_agree) {
  static talus_box boxes[1200];
  const size_t n = check_is_short() ? 300 : 1200;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    talus_detect_def def = talus_detect_def_default();
    talus_pairs cpu, device;
    for (size_t i = 0; i < n; ++i) {
      tl_random r = tl_random_start(seed, 94, i);
      double low[3], size[3];
      for (int k = 0; k < 3; ++k) {
        low[k] = seed % 2 ? floor(12 * tl_random_unit(&r)) : 12 * tl_random_unit(&r);
        size[k] = seed % 2 ? floor(3 * tl_random_unit(&r)) : pow(2000, tl_random_unit(&r)) / 400;
      }
      boxes[i] = (talus_box){{low[0], low[1], low[2]},
                             {low[0] + size[0], low[1] + size[1], low[2] + size[2]}};
    }
    if (seed >= 2)
      def.domain = (talus_domain_def){.enabled = true,
                                      .periodic = {true, seed < 4, seed == 5},
                                      .box = {{1, 2, 3}, {seed == 4 ? 3.5 : 12, 13, 15.5}}};
    def.margin = seed == 3 ? 0.25 : 0;
    CHECK_OK(talus_find_box_pairs(&def, boxes, n, &cpu, NULL));
    def.backend = backend_of_test();
    def.no_fallback = true;
    def.broad = seed % 2 ? TALUS_BROAD_CELLS : TALUS_BROAD_BINS;
    CHECK_OK(talus_find_box_pairs(&def, boxes, n, &device, NULL));
    CHECK(compare_pairs(&cpu, &device) > (check_is_short() ? 20 : n / 2));
  }
}

/* ---- in pieces --------------------------------------------------------------------------------
 */

TEST(contacts_in_pieces_are_those_of_one) {
  talus_detect_def def = talus_detect_def_default();
  scatter(2500, 9, 0.3, 0.6, 40);
  talus_detect_bodies bodies = bodies_of_scene();
  for (int k = 0; k < 4; ++k) {
    def.pieces = (int[]){1, 7, 64, 999999}[k];
    CHECK(compare(def, &bodies) > 1000);
  }
  scatter(2, 1, 1e-3, 1e-3, 41);
  bodies = bodies_of_scene();
  CHECK_EQ_U64(compare(def, &bodies), 0);
  def.pieces = -1;
  talus_detector *detector;
  CHECK(talus_detector_create(&def, &detector) == TALUS_ERROR_INVALID);
  def.pieces = 2;
  def.backend = backend_of_test();
  def.memory = TALUS_ON_DEVICE;
  CHECK(talus_detector_create(&def, &detector) == TALUS_ERROR_INVALID);
}

/* 1,000 spheres in one place have 499,500 contacts: 36 MB (28 in single), beside lists of 8 MB. */
TEST(a_device_without_room_says_how_many_pieces_would_do) {
  talus_detect_def def = talus_detect_def_default();
  talus_contacts found;
  if (backend_of_test() != TALUS_BACKEND_CHECK)
    SKIP("its memory has no limit");
  scatter(1000, 1e-3, 1, 1, 42);
  const talus_detect_bodies bodies = bodies_of_scene();
  def.backend = TALUS_BACKEND_CHECK;
  tl_device_limit_check(30000000);
  CHECK(talus_find_contacts(&def, &bodies, &found, NULL) == TALUS_ERROR_MEMORY);
  CHECK_MSG(strstr(talus_last_error(), "for 499500 contacts"), "%s", talus_last_error());
  const char *pieces = strstr(talus_last_error(), "contacts ");
  def.pieces = pieces ? atoi(pieces + strlen("contacts ")) : 0;
  CHECK_MSG(def.pieces > 1 && def.pieces < 5, "%s", talus_last_error());
  CHECK_EQ_U64(compare(def, &bodies), 499500);
  def.pieces = 1; /* and says nothing of pieces where there can be none */
  def.memory = TALUS_ON_DEVICE;
  talus_detector *detector;
  CHECK_OK(talus_detector_create(&def, &detector));
  const talus_detect_bodies lent = lend_bodies(detector, &bodies, true);
  CHECK(talus_detector_find_contacts(detector, &lent, &found, NULL) == TALUS_ERROR_MEMORY);
  CHECK_MSG(!strstr(talus_last_error(), "pieces"), "%s", talus_last_error());
  talus_detector_destroy(detector);
  tl_device_limit_check(SIZE_MAX);
}

/* ---- arrays on the device -------------------------------------------------------------------- */

TEST(spheres_in_arrays_on_the_device_stay_there) {
  static uint8_t fixed[MOST];
  talus_detect_def def = talus_detect_def_default();
  scatter(3000, 10, 0.3, 0.6, 30);
  for (size_t i = 0; i < scene.n; ++i)
    fixed[i] = i % 4 == 0;
  talus_detect_bodies bodies = bodies_of_scene();
  CHECK(compare_lent(def, &bodies, true) <= 80);
  CHECK(compare_lent(def, &bodies, false) <= 80);
  bodies.fixed = fixed;
  def.margin = 0.1;
  def.domain = (talus_domain_def){
      .enabled = true, .periodic = {true, false, true}, .box = {{-4, -4, -4}, {4, 4, 5}}};
  CHECK(compare_lent(def, &bodies, true) <= 80);
  def = talus_detect_def_default();
  scatter(3000, 5, 0.3, 0.6, 35); /* more contacts than there is room for at first */
  bodies = bodies_of_scene();
  for (int k = 0; k < 3; ++k) {
    def.broad = k == 1 ? TALUS_BROAD_CELLS : TALUS_BROAD_BINS;
    def.published = k == 2;
    CHECK(compare_lent(def, &bodies, true) <= 80);
  }
  scatter(5, 1e30, 1e-3, 1e20, 31); /* extents that no float holds, and none */
  bodies = bodies_of_scene();
  def = talus_detect_def_default();
  scene.record[1][0] = -3e45;
  CHECK(compare_lent(def, &bodies, true) <= 80);
  bodies.count = 1;
  CHECK(compare_lent(def, &bodies, false) <= 80);
  bodies.count = 0;
  CHECK_EQ_U64(compare_lent(def, &bodies, true), 0);
}

/* Bodies go to the host for pairs of boxes; what comes out is on the device again. */
TEST(pairs_of_arrays_on_the_device_are_those_of_the_host) {
  talus_detect_def def = talus_detect_def_default();
  talus_pairs cpu, found;
  talus_detector *detector;
  static talus_box boxes[500];
  scatter(500, 5, 0.2, 0.6, 32);
  const talus_detect_bodies bodies = bodies_of_scene();
  for (size_t i = 0; i < scene.n; ++i) {
    const double *x = scene.record[i];
    boxes[i] = (talus_box){{x[0], x[1], x[2]}, {x[0] + x[3], x[1] + 0.5, x[2] + x[3]}};
  }
  def.backend = backend_of_test();
  def.memory = TALUS_ON_DEVICE;
  CHECK_OK(talus_detector_create(&def, &detector));
  const talus_detect_bodies lent = lend_bodies(detector, &bodies, true);
  CHECK_OK(talus_find_pairs(NULL, &bodies, &cpu, NULL));
  CHECK_OK(talus_detector_find_pairs(detector, &lent, &found, NULL));
  CHECK(cpu.count > 100 && found.count == cpu.count);
  compare_rows(detector, cpu.data, found.data, cpu.count * sizeof *cpu.data);
  talus_pairs_free(&cpu);
  CHECK_OK(talus_find_box_pairs(NULL, boxes, 500, &cpu, NULL));
  CHECK_OK(talus_detector_find_box_pairs(detector, lend(detector, boxes, sizeof boxes), 500, &found,
                                         NULL));
  CHECK(cpu.count > 100 && found.count == cpu.count);
  compare_rows(detector, cpu.data, found.data, cpu.count * sizeof *cpu.data);
  talus_pairs_free(&cpu);
  talus_detector_release(detector, (void *)(uintptr_t)lent.position);
  talus_detector_release(detector, NULL);
  talus_detector_destroy(detector);
}

/* With the messages of the host. */
TEST(wrong_rows_on_the_device_are_told_as_on_the_host) {
  const struct {
    size_t row, column;
    double value;
    const char *message;
  } wrong[] = {{7, 1, NAN, "row 7: its position"},
               {3, 3, -1, "row 3: its radius is -1"},
               {0, 3, INFINITY, "row 0: its radius is inf"},
               {9, 3, 1e308, "row 9: its box reaches beyond"},
               {5, 3, 2.1, "row 5: with the margin it is longer than half the period"}};
  talus_detect_def def = talus_detect_def_default();
  talus_detector *detector;
  talus_contacts found;
  def.backend = backend_of_test();
  def.memory = TALUS_ON_DEVICE;
  def.domain = (talus_domain_def){
      .enabled = true, .periodic = {false, false, true}, .box = {{-4, -4, -4}, {4, 4, 4}}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    scatter(10, 1, 0.3, 0.6, 33);
    scene.record[wrong[i].row][wrong[i].column] = wrong[i].value;
    const talus_detect_bodies bodies = bodies_of_scene();
    CHECK_OK(talus_detector_create(&def, &detector));
    const talus_detect_bodies lent = lend_bodies(detector, &bodies, i % 2 == 0);
    CHECK(talus_detector_find_contacts(detector, &lent, &found, NULL) == TALUS_ERROR_INVALID);
    CHECK(found.count == 0);
    CHECK_MSG(strstr(talus_last_error(), wrong[i].message), "%s", talus_last_error());
    talus_detector_destroy(detector);
  }
}

TEST(memory_on_a_device_needs_a_detector_that_has_one) {
  talus_detect_def def = talus_detect_def_default();
  talus_detector *detector;
  talus_contacts found;
  void *block = &def;
  scatter(3, 1, 0.3, 0.6, 34);
  const talus_detect_bodies bodies = bodies_of_scene();
  CHECK_OK(talus_detector_create(&def, &detector));
  CHECK(talus_detector_allocate(detector, 8, &block) == TALUS_ERROR_INVALID && !block);
  CHECK(strstr(talus_last_error(), "the backend cpu has no device"));
  talus_detector_destroy(detector);
  def.backend = TALUS_BACKEND_CHECK;
  CHECK_OK(talus_detector_create(&def, &detector));
  CHECK(talus_detector_allocate(detector, SIZE_MAX, &block) == TALUS_ERROR_MEMORY && !block);
  CHECK(talus_detector_allocate(detector, SIZE_MAX - 4096, &block) == TALUS_ERROR_MEMORY);
  CHECK_OK(talus_detector_allocate(detector, 8, &block));
  CHECK_OK(talus_detector_upload(detector, block, &def, 8));
  talus_detector_destroy(detector);
  def = talus_detect_def_default();
  def.memory = TALUS_ON_DEVICE;
  CHECK(talus_detector_create(&def, &detector) == TALUS_ERROR_INVALID && !detector);
  def.backend = backend_of_test();
  CHECK(talus_find_contacts(&def, &bodies, &found, NULL) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "make a detector"));
}

/* ---- the device itself ----------------------------------------------------------------------- */

TEST(warm_calls_allocate_nothing_and_copy_only_what_they_must) {
  tl_device *device;
  tl_device_spheres blocks = {0};
  tl_spheres_times times;
  size_t count;
  static tl_thread_ball rows[MOST];
  if (backend_of_test() == TALUS_BACKEND_CUDA)
    CHECK_OK(tl_device_open_cuda(&device));
  else
    CHECK_OK(tl_device_open_check(&device));
  scatter(4000, 12, 0.5, 0.5, 13);
  for (size_t i = 0; i < scene.n; ++i)
    memcpy(&rows[i], scene.record[i], sizeof rows[i]);
  const tl_spheres_asked asked = {.rows = rows, .count = scene.n};
  CHECK_OK(tl_device_find_contacts(device, &blocks, &asked, &count, &times));
  const tl_device_counters before = device->count;
  CHECK_OK(tl_device_find_contacts(device, &blocks, &asked, &count, &times));
  CHECK(count > 1000 && times.levels == 1);
  CHECK_EQ_U64(device->count.allocations, before.allocations);
  CHECK_EQ_U64(device->count.uploaded - before.uploaded, scene.n * sizeof *rows);
  CHECK(device->count.downloaded - before.downloaded < 512 * 1024);
  tl_device_spheres_free(device, &blocks);
  if (backend_of_test() == TALUS_BACKEND_CHECK) /* cuda keeps the scratch of its sorts */
    CHECK_EQ_U64(device->count.held, 0);
  device->calls->close(device);
}

TEST(what_a_device_cannot_do_is_done_by_the_cpu_or_refused) {
  const talus_shape_def shapes[] = {{.kind = TALUS_SPHERE, .size = {0.5}},
                                    {.kind = TALUS_REVOLVED, .size = {1, 1, 3}}};
  const double x[6] = {0.6, 0, 0, 0, 0, 0};
  const uint32_t rows[2] = {0, 1};
  const uint8_t fixed[2] = {0, 1};
  const talus_detect_bodies bodies = {
      .count = 2, .position = x, .shapes = shapes, .shape_count = 2, .shape = rows, .fixed = fixed};
  talus_detect_def def = talus_detect_def_default();
  talus_contacts found;
  talus_detect_stats stats;
  def.backend = TALUS_BACKEND_CHECK;
  CHECK_OK(talus_find_contacts(&def, &bodies, &found, &stats));
  CHECK(found.count > 0 && stats.backend == TALUS_BACKEND_CPU && stats.fallback);
  talus_contacts_free(&found);
  const talus_box far[2] = {{{0, 0, 0}, {1e160, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}};
  talus_pairs pairs;
  CHECK_OK(talus_find_box_pairs(&def, far, 2, &pairs, &stats));
  CHECK(pairs.count == 1 && stats.fallback && stats.backend == TALUS_BACKEND_CPU);
  talus_pairs_free(&pairs);
  def.no_fallback = true;
  def.broad = TALUS_BROAD_KDTREE;
  CHECK(talus_find_box_pairs(&def, far + 1, 1, &pairs, &stats) == TALUS_ERROR_UNSUPPORTED);
  CHECK(strstr(talus_last_error(), "by no other broad phase"));
  def.broad = TALUS_BROAD_AUTO;
  CHECK(talus_find_contacts(&def, &bodies, &found, &stats) == TALUS_ERROR_UNSUPPORTED);
  CHECK(strstr(talus_last_error(), "no contacts of meshes"));
  CHECK(talus_find_box_pairs(&def, far, 2, &pairs, &stats) == TALUS_ERROR_UNSUPPORTED);
  CHECK(strstr(talus_last_error(), "beyond 1e150 m"));
}

TEST(a_build_or_machine_without_a_gpu_says_so) {
  talus_detect_def def = talus_detect_def_default();
  talus_contacts found;
  scatter(10, 1, 0.1, 0.1, 14);
  const talus_detect_bodies bodies = bodies_of_scene();
  def.backend = TALUS_BACKEND_CUDA;
  const talus_status status = talus_find_contacts(&def, &bodies, &found, NULL);
  if (status == TALUS_OK) {
    talus_contacts_free(&found);
    SKIP("there is a GPU");
  }
  CHECK(status == (tl_device_has_cuda() ? TALUS_ERROR_DEVICE : TALUS_ERROR_UNSUPPORTED));
  CHECK_MSG(strlen(talus_last_error()) > 20 && found.count == 0, "%s", talus_last_error());
}

#if defined(__linux__)
/* In a process of its own: a fault stays until the process ends. */
static void break_gpu(void) {
  tl_device *device, *again = NULL;
  CHECK_OK(tl_device_open_cuda(&device));
  const tl_join_task nowhere = {0};
  (void)device->calls->launch(device, TL_TASK_join, &nowhere, 1);
  CHECK(device->calls->finish(device) == TALUS_ERROR_DEVICE);
  CHECK(tl_device_open_cuda(&again) == TALUS_ERROR_DEVICE && !again);
  CHECK_MSG(strstr(talus_last_error(), "start the program again"), "%s", talus_last_error());
  device->calls->close(device);
}

TEST(after_a_fault_the_gpu_is_not_said_to_be_another_chip) {
  if (backend_of_test() != TALUS_BACKEND_CUDA)
    SKIP("only a GPU breaks");
  if (getenv("TALUS_TEST_BREAK")) {
    break_gpu();
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    setenv("TALUS_TEST_BREAK", "1", 1);
    execl("/proc/self/exe", "test_device", "after_a_fault", (char *)NULL);
    _exit(99);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

TEST_MAIN()
