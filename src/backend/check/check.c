#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */

/* The check device: threads of tasks run on the host, one after the other, in an order that no
 * result may depend on. Its blocks cannot be touched while host code runs, so that a stage which
 * reads the device's memory, or leaves out a copy, fails at once and on every machine. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/device.h"
#include "backend/thread/tasks.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"

typedef struct check_device {
  tl_device base;
  TL_ARRAY(tl_device_block) blocks; /* as mapped: whole pages */
  double marks[TL_DEVICE_MARKS];    /* ms */
} check_device;

static check_device *own(tl_device *device) { return (check_device *)(void *)device; }

static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/* For the time of a task or a copy. */
static void protect(check_device *device, int how) {
  for (size_t i = 0; i < device->blocks.count; ++i)
    if (mprotect(device->blocks.data[i].data, device->blocks.data[i].bytes, how) != 0)
      abort(); /* whole pages of our own */
}

static void begin(tl_device *device) { protect(own(device), PROT_READ | PROT_WRITE); }
static void end(tl_device *device) { protect(own(device), PROT_NONE); }

/* ---- memory ---------------------------------------------------------------------------------- */

static void forget(check_device *device, const void *data) {
  for (size_t i = 0; i < device->blocks.count; ++i)
    if (device->blocks.data[i].data == data)
      device->blocks.data[i--] = device->blocks.data[--device->blocks.count];
}

static talus_status resize(tl_device *device, tl_device_block *block, size_t bytes) {
  check_device *self = own(device);
  if (block->data) {
    forget(self, block->data);
    (void)munmap(block->data, whole_pages(block->bytes));
    device->count.held -= block->bytes;
    *block = (tl_device_block){0};
  }
  if (bytes == 0)
    return TALUS_OK;
  TL_TRY(tl_array_reserve(&self->blocks, self->blocks.count + 1));
  void *data =
      mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return tl_fail(TALUS_ERROR_MEMORY, "no %zu bytes for the check device", bytes);
  memset(data, 0xFF, bytes); /* NaN: what is there is not to be used */
  (void)mprotect(data, whole_pages(bytes), PROT_NONE);
  self->blocks.data[self->blocks.count++] = (tl_device_block){data, whole_pages(bytes)};
  *block = (tl_device_block){data, bytes};
  device->count.allocations++;
  device->count.held += bytes;
  if (device->count.held > device->count.peak)
    device->count.peak = device->count.held;
  return TALUS_OK;
}

static talus_status upload(tl_device *device, void *to, const void *from, size_t bytes) {
  begin(device);
  memcpy(to, from, bytes);
  end(device);
  device->count.uploaded += bytes;
  return TALUS_OK;
}

static talus_status download(tl_device *device, void *to, const void *from, size_t bytes) {
  begin(device);
  memcpy(to, from, bytes);
  end(device);
  device->count.downloaded += bytes;
  return TALUS_OK;
}

static talus_status clear(tl_device *device, void *block, size_t bytes) {
  begin(device);
  memset(block, 0, bytes);
  end(device);
  return TALUS_OK;
}

static talus_status copy(tl_device *device, void *to, const void *from, size_t bytes) {
  begin(device);
  memcpy(to, from, bytes);
  end(device);
  return TALUS_OK;
}

/* ---- sorts and sums -------------------------------------------------------------------------- */

#define DIGIT 8

static uint64_t key_at(const tl_device_sort *sort, int side, size_t i) {
  return sort->wide ? ((const uint64_t *)sort->keys[side])[i]
                    : ((const uint32_t *)sort->keys[side])[i];
}

static void put(const tl_device_sort *sort, int from, size_t i, size_t to) {
  if (sort->wide)
    ((uint64_t *)sort->keys[!from])[to] = key_at(sort, from, i);
  else
    ((uint32_t *)sort->keys[!from])[to] = (uint32_t)key_at(sort, from, i);
  sort->values[!from][to] = sort->values[from][i];
}

static talus_status sort_keys(tl_device *device, size_t n, int bits, const tl_device_sort *sort,
                              bool *in_room) {
  *in_room = false;
  begin(device);
  for (int shift = 0; shift < bits; shift += DIGIT, *in_room = !*in_room) {
    const int width = bits - shift < DIGIT ? bits - shift : DIGIT;
    const uint64_t digit = ((uint64_t)1 << width) - 1;
    size_t starts[(1 << DIGIT) + 1] = {0};
    for (size_t i = 0; i < n; ++i)
      starts[(key_at(sort, *in_room, i) >> shift & digit) + 1]++;
    for (int d = 0; d < 1 << DIGIT; ++d)
      starts[d + 1] += starts[d];
    for (size_t i = 0; i < n; ++i)
      put(sort, *in_room, i, starts[key_at(sort, *in_room, i) >> shift & digit]++);
  }
  end(device);
  return TALUS_OK;
}

static talus_status sum(tl_device *device, size_t n, const uint32_t *counts, uint64_t *starts) {
  uint64_t total = 0;
  begin(device);
  for (size_t i = 0; i < n; ++i) {
    starts[i] = total;
    total += counts[i];
  }
  starts[n] = total;
  end(device);
  return TALUS_OK;
}

static talus_status climb(tl_device *device, size_t n, uint32_t *values) {
  begin(device);
  for (size_t i = 1; i < n; ++i)
    if (values[i] < values[i - 1])
      values[i] = values[i - 1];
  end(device);
  return TALUS_OK;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

#define CHECK_RUN(name)                                                                            \
  static void run_##name(const void *task, size_t i) { tl_##name##_at(task, i); }
TL_TASKS(CHECK_RUN)
#undef CHECK_RUN

static void (*const run_of[])(const void *, size_t) = {
#define CHECK_ENTRY(name) run_##name,
    TL_TASKS(CHECK_ENTRY)
#undef CHECK_ENTRY
};

static size_t greatest_divisor(size_t a, size_t b) {
  while (b > 0) {
    const size_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* A stride without a common divisor with n visits every thread once, far from its neighbours. */
static talus_status launch(tl_device *device, int kind, const void *task, size_t n) {
  size_t stride = n / 2 + n / 9 + 1;
  while (n > 1 && greatest_divisor(stride, n) != 1)
    stride++;
  begin(device);
  for (size_t i = 0, at = n / 3; i < n; ++i, at = (at + stride) % n)
    run_of[kind](task, at);
  end(device);
  return TALUS_OK;
}

static talus_status finish(tl_device *device) {
  (void)device;
  return TALUS_OK;
}

static talus_status mark(tl_device *device, int mark) {
  own(device)->marks[mark] = 1e3 * tl_clock();
  return TALUS_OK;
}

static double elapsed(tl_device *device, int from, int to) {
  return own(device)->marks[to] - own(device)->marks[from];
}

/* ---- open and close -------------------------------------------------------------------------- */

static void close_device(tl_device *device) {
  check_device *self = own(device);
  void *block = self;
  for (size_t i = 0; i < self->blocks.count; ++i)
    (void)munmap(self->blocks.data[i].data, self->blocks.data[i].bytes);
  tl_array_free(&self->blocks);
  (void)tl_resize(&block, sizeof *self, 0);
}

static const tl_device_calls calls = {.name = "check",
                                      .close = close_device,
                                      .resize = resize,
                                      .upload = upload,
                                      .download = download,
                                      .clear = clear,
                                      .copy = copy,
                                      .sort = sort_keys,
                                      .sum = sum,
                                      .climb = climb,
                                      .launch = launch,
                                      .finish = finish,
                                      .mark = mark,
                                      .elapsed = elapsed};

talus_status tl_device_open_check(tl_device **device) {
  void *block = NULL;
  *device = NULL;
  TL_TRY(tl_resize(&block, 0, sizeof(check_device)));
  check_device *self = block;
  *self = (check_device){.base = {.calls = &calls}};
  (void)snprintf(self->base.title, sizeof self->base.title, "the host, in place of a device");
  *device = &self->base;
  return TALUS_OK;
}
