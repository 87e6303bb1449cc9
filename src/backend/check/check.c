#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, memfd_create */

/* The check device: runs the threads of a task on the host, one after the other, in an order that
 * no result may depend on. Host code cannot access its blocks, so that a stage which reads the
 * device's memory, or omits a copy, fails at once and on every machine. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/device.h"
#include "backend/thread/tasks.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"

#define ALIGNED ((size_t)64) /* bytes: alignment of the data of a block */
#define UNUSED  0xFF         /* around blocks, and in new ones: NaN */
/* bytes of a block: its room is counted in a size_t */
#define MOST_ROOM (SIZE_MAX / 2)

/* Whole pages, the last of which is the guard. The data end less than ALIGNED bytes before the
 * guard. */
typedef struct check_block {
  unsigned char *pages, *data;
  size_t room, bytes; /* of the pages; of the data */
} check_block;

/* All blocks are in one region, so that one call protects them: no other memory is between them. A
 * guard is a page of an empty file: code that touches it ends by SIGBUS, also while tasks run. */
typedef struct check_device {
  tl_device base;
  unsigned char *region;
  size_t room, used; /* bytes: of the region; up to the end of its last block */
  int guard;         /* the empty file, or -1 if this system has none */
  bool is_open;      /* accessible */
  unsigned launches;
  TL_ARRAY(check_block) blocks;  /* sorted by address */
  double marks[TL_DEVICE_MARKS]; /* ms */
} check_device;

static size_t most_bytes = SIZE_MAX;

void tl_device_limit_check(size_t bytes) { most_bytes = bytes; }

static check_device *own(tl_device *device) { return (check_device *)(void *)device; }

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* With the guard. */
static size_t room_for(size_t bytes) {
  const size_t page = page_bytes(), aligned = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  return (aligned + page - 1) / page * page + page;
}

/* Makes the region accessible during a task or a copy. */
static void protect(check_device *device, int how) {
  if (device->used > 0 && mprotect(device->region, device->used, how) != 0)
    abort(); /* cannot fail for whole pages of our own */
}

static void begin(tl_device *device) {
  if (!own(device)->is_open)
    protect(own(device), PROT_READ | PROT_WRITE);
  own(device)->is_open = true;
}

static bool is_unused(const unsigned char *from, const unsigned char *to) {
  while (from < to && *from == UNUSED)
    from++;
  return from == to;
}

/* Whether the bytes next to each block are as they were. */
static const check_block *find_overrun(const check_device *device) {
  const size_t page = page_bytes();
  for (size_t i = 0; i < device->blocks.count; ++i) {
    const check_block *block = &device->blocks.data[i];
    const size_t before = (size_t)(block->data - block->pages);
    const unsigned char *end = block->data + block->bytes;
    if (!is_unused(block->data - (before < ALIGNED ? before : ALIGNED), block->data) ||
        !is_unused(end, block->pages + block->room - page))
      return block;
  }
  return NULL;
}

static talus_status look_beside(const tl_device *device) {
  const check_block *bad = find_overrun((const check_device *)(const void *)device);
  return bad ? tl_fail(TALUS_ERROR_DEVICE,
                       "the check device: a task wrote beside its block of %zu bytes", bad->bytes)
             : TALUS_OK;
}

static void close_memory(tl_device *device) {
  protect(own(device), PROT_NONE);
  own(device)->is_open = false;
}

/* Between calls memory stays accessible seven times of eight: to protect it takes longer than a
 * small task, and code of the host that reads it in every step still meets the eighth. */
static talus_status end_call(tl_device *device) {
  const talus_status status = look_beside(device);
  if (status != TALUS_OK || ++own(device)->launches * 2654435761u >> 29 == 0)
    close_memory(device);
  return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static talus_status reserve_region(check_device *device) {
  for (size_t room = (size_t)1 << 40; room >= (size_t)1 << 28 && !device->region; room /= 2) {
    void *region = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region != MAP_FAILED)
      device->region = region, device->room = room;
  }
  return device->region ? TALUS_OK : tl_fail(TALUS_ERROR_MEMORY, "no room for the check device");
}

static void find_used(check_device *device) {
  const size_t n = device->blocks.count;
  const check_block *last = n > 0 ? &device->blocks.data[n - 1] : NULL;
  device->used = last ? (size_t)(last->pages - device->region) + last->room : 0;
}

/* Replaces the block by new, inaccessible pages. */
static void forget(check_device *device, const tl_device_block *block) {
  size_t at = 0;
  while (device->blocks.data[at].data != block->data)
    at++;
  (void)mmap(device->blocks.data[at].pages, device->blocks.data[at].room, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  device->blocks.count--;
  for (; at < device->blocks.count; ++at)
    device->blocks.data[at] = device->blocks.data[at + 1];
  find_used(device);
}

/* The first gap that is large enough; *at: index of the new block. */
static unsigned char *find_gap(const check_device *device, size_t room, size_t *at) {
  unsigned char *place = device->region;
  for (*at = 0; *at < device->blocks.count; ++*at) {
    const check_block *next = &device->blocks.data[*at];
    if ((size_t)(next->pages - place) >= room)
      return place;
    place = next->pages + next->room;
  }
  return device->room - (size_t)(place - device->region) >= room ? place : NULL;
}

/* Makes the pages of a block accessible until they are protected again. */
static bool lay_out(const check_device *device, check_block *block) {
  const size_t page = page_bytes(), inner = block->room - page;
  if (mprotect(block->pages, block->room, PROT_READ | PROT_WRITE) != 0)
    return false;
  if (device->guard >= 0 && mmap(block->pages + inner, page, PROT_NONE, MAP_PRIVATE | MAP_FIXED,
                                 device->guard, 0) == MAP_FAILED)
    return false;
  block->data = block->pages + inner - (block->bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  memset(block->pages, UNUSED, inner);
  return true;
}

static talus_status take(check_device *device, size_t bytes, void **data) {
  size_t at;
  TL_TRY(device->region ? TALUS_OK : reserve_region(device));
  TL_TRY(tl_array_reserve(&device->blocks, device->blocks.count + 1));
  check_block block = {.room = room_for(bytes), .bytes = bytes};
  block.pages = find_gap(device, block.room, &at);
  if (!block.pages || !lay_out(device, &block))
    return tl_fail(TALUS_ERROR_MEMORY, "no %zu bytes for the check device", bytes);
  (void)mprotect(block.pages, block.room, PROT_NONE);
  for (size_t i = device->blocks.count++; i > at; --i)
    device->blocks.data[i] = device->blocks.data[i - 1];
  device->blocks.data[at] = block;
  find_used(device);
  *data = block.data;
  return TALUS_OK;
}

static talus_status resize(tl_device *device, tl_device_block *block, size_t bytes) {
  check_device *self = own(device);
  if (self->is_open)
    close_memory(device);
  if (block->data) {
    forget(self, block);
    device->count.held -= block->bytes;
    *block = (tl_device_block){0};
  }
  if (bytes == 0)
    return TALUS_OK;
  void *data = NULL;
  if (bytes > MOST_ROOM || bytes > most_bytes || device->count.held > most_bytes - bytes)
    return tl_fail(TALUS_ERROR_MEMORY, "the check device may hold %zu bytes, %zu more are wanted",
                   most_bytes, bytes);
  TL_TRY(take(self, bytes, &data));
  *block = (tl_device_block){data, bytes};
  device->count.allocations++;
  device->count.held += bytes;
  if (device->count.held > device->count.peak)
    device->count.peak = device->count.held;
  return TALUS_OK;
}

static size_t left(tl_device *device) {
  return device->count.held < most_bytes ? most_bytes - device->count.held : 0;
}

static talus_status upload(tl_device *device, void *to, const void *from, size_t bytes) {
  begin(device);
  memcpy(to, from, bytes);
  device->count.uploaded += bytes;
  return end_call(device);
}

static talus_status download(tl_device *device, void *to, const void *from, size_t bytes) {
  begin(device);
  memcpy(to, from, bytes);
  device->count.downloaded += bytes;
  return end_call(device);
}

static talus_status clear(tl_device *device, void *block, size_t bytes) {
  begin(device);
  memset(block, 0, bytes);
  return end_call(device);
}

static talus_status copy(tl_device *device, void *to, const void *from, size_t bytes) {
  begin(device);
  memcpy(to, from, bytes);
  return end_call(device);
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
  return end_call(device);
}

static talus_status sum(tl_device *device, size_t n, const uint32_t *counts, uint64_t *starts) {
  uint64_t total = 0;
  begin(device);
  for (size_t i = 0; i < n; ++i) {
    starts[i] = total;
    total += counts[i];
  }
  starts[n] = total;
  return end_call(device);
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

/* A stride coprime to n visits every thread once, far from its neighbours. */
static void run(const tl_device_launch *launch) {
  const size_t n = launch->n;
  size_t stride = n / 2 + n / 9 + 1;
  while (n > 1 && greatest_divisor(stride, n) != 1)
    stride++;
  for (size_t i = 0, at = n / 3; i < n; ++i, at = (at + stride) % n)
    run_of[launch->kind](launch->task, at);
}

static talus_status repeat(tl_device *device, const tl_device_launch *launches, size_t count,
                           int times) {
  begin(device);
  for (int k = 0; k < times; ++k)
    for (size_t i = 0; i < count; ++i)
      run(&launches[i]);
  return end_call(device);
}

static talus_status launch(tl_device *device, int kind, const void *task, size_t n) {
  const tl_device_launch one = {kind, task, n};
  return repeat(device, &one, 1, 1);
}

static talus_status finish(tl_device *device) {
  if (own(device)->is_open) /* each call has looked beside the blocks */
    close_memory(device);
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
  if (self->region)
    (void)munmap(self->region, self->room);
  if (self->guard >= 0)
    (void)close(self->guard);
  tl_array_free(&self->blocks);
  (void)tl_resize(&block, sizeof *self, 0);
}

static const tl_device_calls calls = {.name = "check",
                                      .close = close_device,
                                      .resize = resize,
                                      .left = left,
                                      .upload = upload,
                                      .download = download,
                                      .clear = clear,
                                      .copy = copy,
                                      .sort = sort_keys,
                                      .sum = sum,
                                      .launch = launch,
                                      .repeat = repeat,
                                      .finish = finish,
                                      .mark = mark,
                                      .elapsed = elapsed};

static int open_guard(void) {
#if defined(__linux__)
  return memfd_create("talus-guard", MFD_CLOEXEC);
#else
  return -1; /* overruns by a page are not found there */
#endif
}

talus_status tl_device_open_check(tl_device **device) {
  void *block = NULL;
  *device = NULL;
  TL_TRY(tl_resize(&block, 0, sizeof(check_device)));
  check_device *self = block;
  *self = (check_device){.base = {.calls = &calls}, .guard = open_guard()};
  (void)snprintf(self->base.title, sizeof self->base.title, "the host, in place of a device");
  *device = &self->base;
  return TALUS_OK;
}
