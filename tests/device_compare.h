/* Contacts by a device beside those of the CPU. The device is `check` (the same code on the host),
 * or what TALUS_TEST_BACKEND names. */
#ifndef TESTS_DEVICE_COMPARE_H
#define TESTS_DEVICE_COMPARE_H

#include <stdlib.h>

#include "check.h"
#include <talus/detect.h>

static inline talus_backend backend_of_test(void) {
  const char *name = getenv("TALUS_TEST_BACKEND");
  talus_backend backend = TALUS_BACKEND_CHECK;
  if (name)
    CHECK_OK(talus_backend_by_name(name, &backend));
  return backend;
}

/* Returns how many there are. AUTO: also by cells, or, for every other scene, by the published
 * bins, which leave planes to the CPU. */
static inline size_t compare(talus_detect_def def, const talus_detect_bodies *bodies) {
  talus_contacts cpu, device;
  talus_detect_stats stats;
  def.backend = TALUS_BACKEND_CPU;
  CHECK_OK(talus_find_contacts(&def, bodies, &cpu, NULL));
  def.backend = backend_of_test();
  def.no_fallback = true;
  const bool both = def.broad == TALUS_BROAD_AUTO;
  for (int turn = 0; turn < (both ? 3 : 1); ++turn) {
    if (turn == (cpu.count % 2 ? 1 : 2))
      continue;
    def.broad = turn == 1 ? TALUS_BROAD_CELLS : turn == 2 ? TALUS_BROAD_BINS : def.broad;
    def.published = turn == 2;
    def.no_fallback = turn < 2;
    CHECK_OK(talus_find_contacts(&def, bodies, &device, &stats));
    CHECK(turn == 2 || (stats.backend == def.backend && stats.fallback == NULL));
    CHECK(!stats.fallback || strstr(stats.fallback, "published bins know no planes"));
    CHECK(turn != 1 || bodies->count == 0 || stats.broad == TALUS_BROAD_CELLS);
    CHECK_EQ_U64(device.count, cpu.count);
    for (size_t i = 0; i < cpu.count; ++i)
      CHECK_MSG(memcmp(&cpu.data[i], &device.data[i], sizeof cpu.data[i]) == 0,
                "%s: contact %zu of %zu differs: bodies %u, %u and %u, %u",
                talus_broad_name(stats.broad), i, cpu.count, cpu.data[i].a, cpu.data[i].b,
                device.data[i].a, device.data[i].b);
    talus_contacts_free(&device);
  }
  const size_t count = cpu.count;
  talus_contacts_free(&cpu);
  return count;
}

static inline size_t compare_pairs(talus_pairs *cpu, talus_pairs *device) {
  const size_t count = cpu->count;
  CHECK_EQ_U64(device->count, count);
  for (size_t i = 0; i < count; ++i)
    CHECK_MSG(cpu->data[i].a == device->data[i].a && cpu->data[i].b == device->data[i].b,
              "pair %zu of %zu differs: %u, %u and %u, %u", i, count, cpu->data[i].a,
              cpu->data[i].b, device->data[i].a, device->data[i].b);
  talus_pairs_free(cpu);
  talus_pairs_free(device);
  return count;
}

/* Pairs of bodies instead of contacts. */
static inline size_t compare_body_pairs(talus_detect_def def, const talus_detect_bodies *bodies) {
  talus_pairs cpu, device;
  talus_detect_stats stats;
  def.backend = TALUS_BACKEND_CPU;
  CHECK_OK(talus_find_pairs(&def, bodies, &cpu, NULL));
  def.backend = backend_of_test();
  def.no_fallback = true;
  CHECK_OK(talus_find_pairs(&def, bodies, &device, &stats));
  CHECK(stats.backend == def.backend && stats.fallback == NULL && stats.pairs == device.count);
  return compare_pairs(&cpu, &device);
}

/* ---- arrays on the device ---------------------------------------------------------------------
 */

static inline void *lend(talus_detector *detector, const void *rows, size_t bytes) {
  void *block = NULL;
  if (!rows)
    return NULL;
  CHECK_OK(talus_detector_allocate(detector, bytes, &block));
  CHECK_OK(talus_detector_upload(detector, block, rows, bytes));
  return block;
}

/* The same bodies, with arrays on the device; `in_rows`: x, y, z, r in one array. */
static inline talus_detect_bodies lend_bodies(talus_detector *detector,
                                              const talus_detect_bodies *bodies, bool in_rows) {
  const size_t n = bodies->count, from = bodies->position_stride ? bodies->position_stride : 3;
  const size_t radii = bodies->radius_stride ? bodies->radius_stride : 1;
  double *copy = malloc((4 * n + 4) * sizeof *copy), *radius = copy + 3 * n;
  talus_detect_bodies lent = *bodies;
  lent.position_stride = in_rows ? 4 : 3;
  lent.radius_stride = in_rows ? 4 : 1;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < 3; ++k)
      copy[lent.position_stride * i + k] = bodies->position[from * i + k];
    if (bodies->radius)
      (in_rows ? copy + 4 * i + 3 : radius + i)[0] = bodies->radius[radii * i];
  }
  lent.position = lend(detector, copy, (4 * n + 4) * sizeof *copy);
  lent.radius = bodies->radius ? lent.position + (in_rows ? 3 : 3 * n) : NULL;
  lent.fixed = lend(detector, bodies->fixed, n);
  lent.shape = lend(detector, bodies->shape, n * sizeof *lent.shape);
  lent.scale = lend(detector, bodies->scale, n * sizeof *lent.scale);
  lent.rotation = lend(detector, bodies->rotation, 4 * n * sizeof *lent.rotation);
  free(copy);
  return lent;
}

/* Copies `bytes` of results home, beside those of the CPU. */
static inline void compare_rows(talus_detector *detector, const void *cpu, const void *rows,
                                size_t bytes) {
  void *home = malloc(bytes + 1);
  CHECK_OK(talus_detector_download(detector, home, rows, bytes));
  CHECK(bytes == 0 || memcmp(home, cpu, bytes) == 0);
  free(home);
}

/* Returns the most bytes that a call moves. The list of pairs grows in the first one. */
static inline uint64_t compare_lent(talus_detect_def def, const talus_detect_bodies *bodies,
                                    bool in_rows) {
  talus_contacts cpu, found;
  talus_detect_stats stats = {0};
  talus_detector *detector;
  CHECK_OK(talus_find_contacts(&def, bodies, &cpu, NULL));
  def.backend = backend_of_test();
  def.memory = TALUS_ON_DEVICE;
  CHECK_OK(talus_detector_create(&def, &detector));
  const talus_detect_bodies lent = lend_bodies(detector, bodies, in_rows);
  uint64_t most = 0;
  for (int turn = 0; turn < 2; ++turn) {
    CHECK_OK(talus_detector_find_contacts(detector, &lent, &found, &stats));
    most = stats.moved_bytes > most ? stats.moved_bytes : most;
    CHECK_EQ_U64(found.count, cpu.count);
    CHECK_EQ_U64(stats.contacts, cpu.count);
    compare_rows(detector, cpu.data, found.data, cpu.count * sizeof *cpu.data);
  }
  talus_detector_destroy(detector);
  talus_contacts_free(&cpu);
  return most;
}

#endif
