/* A device: memory separate from the host's, and threads that run there.
 *
 * Host code takes blocks, copies into and out of them, sorts, sums and launches tasks. The work of
 * one thread is written once (backend/thread), in the common subset of C and CUDA: `check` runs it
 * on the host with blocks that host code cannot access, `cuda` on a GPU. Both give the same bytes.
 *
 * A launch may still be running when the call returns; copies to the host wait for it. */
#ifndef TL_BACKEND_DEVICE_H
#define TL_BACKEND_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <talus/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_device tl_device;

/* A block of device memory that grows and is kept: later calls allocate nothing. */
typedef struct tl_device_block {
  void *data; /* an address of the device */
  size_t bytes;
} tl_device_block;

/* Bytes moved and held; totals since the device was opened. */
typedef struct tl_device_counters {
  uint64_t uploaded, downloaded; /* bytes */
  uint64_t allocations;
  size_t held, peak; /* bytes */
  double upload_ms, download_ms;
} tl_device_counters;

#define TL_DEVICE_MARKS 16

/* A stable sort, ascending by the lowest `bits` bits of the keys. keys[1] and values[1] are
 * scratch; *in_room says that the result is there. */
typedef struct tl_device_sort {
  void *keys[2];
  uint32_t *values[2];
  bool wide; /* keys have 64 bits, otherwise 32 */
} tl_device_sort;

/* A launch of a task, for `repeat`. */
typedef struct tl_device_launch {
  int kind;
  const void *task; /* the struct of its arguments */
  size_t n;         /* threads */
} tl_device_launch;

typedef struct tl_device_calls {
  const char *name; /* "check", "cuda" */
  void (*close)(tl_device *);
  /* Makes *block `bytes` long, with undefined content; 0 frees it. */
  talus_status (*resize)(tl_device *, tl_device_block *block, size_t bytes);
  size_t (*left)(tl_device *); /* bytes that are free */
  talus_status (*upload)(tl_device *, void *to, const void *from, size_t bytes);
  talus_status (*download)(tl_device *, void *to, const void *from, size_t bytes);
  talus_status (*clear)(tl_device *, void *block, size_t bytes); /* to zeros */
  talus_status (*copy)(tl_device *, void *to, const void *from, size_t bytes);
  talus_status (*sort)(tl_device *, size_t n, int bits, const tl_device_sort *, bool *in_room);
  /* Prefix sums: starts[i] = counts[0] + ... + counts[i - 1] for i = 0 ... n. */
  talus_status (*sum)(tl_device *, size_t n, const uint32_t *counts, uint64_t *starts);
  /* Runs thread i of the task for i = 0 ... n - 1; `task` is the struct of its arguments. */
  talus_status (*launch)(tl_device *, int kind, const void *task, size_t n);
  /* Runs all these launches in turn, and repeats that. */
  talus_status (*repeat)(tl_device *, const tl_device_launch *launches, size_t count, int times);
  talus_status (*finish)(tl_device *); /* waits; returns errors of launches */
  /* First: records the time when the device reaches this point. Second: ms between two such marks,
   * when the device has finished. Marks are 0 ... TL_DEVICE_MARKS - 1. */
  talus_status (*mark)(tl_device *, int mark);
  double (*elapsed)(tl_device *, int from, int to);
} tl_device_calls;

struct tl_device {
  const tl_device_calls *calls;
  tl_device_counters count;
  char title[128]; /* of the machine: "NVIDIA H200, 139 GiB, sm_90" */
};

/* TALUS_ERROR_UNSUPPORTED if this build has no such device, TALUS_ERROR_DEVICE if the machine has
 * none that works; the message says what was found, what is needed, and the remedy. */
talus_status tl_device_open_check(tl_device **device);
void tl_device_limit_check(size_t bytes); /* that check devices hold; for tests */
talus_status tl_device_open_cuda(tl_device **device);

/* True if this build has CUDA; and the description of the machine's GPU, "NVIDIA H200 ...", or ""
 * if there is none. */
bool tl_device_has_cuda(void);
void tl_device_describe_cuda(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
