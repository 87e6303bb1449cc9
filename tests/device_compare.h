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

/* Returns how many there are. */
static inline size_t compare(talus_detect_def def, const talus_detect_bodies *bodies) {
  talus_contacts cpu, device;
  talus_detect_stats stats;
  def.backend = TALUS_BACKEND_CPU;
  CHECK_OK(talus_find_contacts(&def, bodies, &cpu, NULL));
  def.backend = backend_of_test();
  def.no_fallback = true;
  CHECK_OK(talus_find_contacts(&def, bodies, &device, &stats));
  CHECK(stats.backend == def.backend && stats.fallback == NULL);
  CHECK_EQ_U64(device.count, cpu.count);
  for (size_t i = 0; i < cpu.count; ++i)
    CHECK_MSG(memcmp(&cpu.data[i], &device.data[i], sizeof cpu.data[i]) == 0,
              "contact %zu of %zu differs: bodies %u, %u and %u, %u", i, cpu.count, cpu.data[i].a,
              cpu.data[i].b, device.data[i].a, device.data[i].b);
  const size_t count = cpu.count;
  talus_contacts_free(&cpu);
  talus_contacts_free(&device);
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

#endif
