/* The CUDA device: one stream of one GPU. Each task of backend/thread/tasks.h is launched as it is;
 * sorts and sums are CUB's. */
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/device.h"
#include "backend/thread/tasks.h"
extern "C" {
#include "base/clock.h"
#include "base/status.h"
}

#define THREADS 256  /* of a block */
#define FEW     4096 /* bytes that are copied to the host without a second wait */

struct cuda_device {
  tl_device base;
  cudaStream_t stream;
  cudaEvent_t marks[TL_DEVICE_MARKS];
  tl_device_block scratch; /* of sorts and sums */
  void *few;               /* pinned memory of the host, through which small copies go */
  bool has_clusters;       /* of blocks: chips from sm_90 on */
};

static cuda_device *own(tl_device *device) { return reinterpret_cast<cuda_device *>(device); }

/* A fault of an earlier launch comes out here too. */
static talus_status test(cudaError_t error, const char *doing) {
  if (error == cudaSuccess)
    return TALUS_OK;
  return tl_fail(TALUS_ERROR_DEVICE, "%s: CUDA says '%s'", doing, cudaGetErrorString(error));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static talus_status refuse_memory(size_t bytes) {
  size_t left = 0, all = 0;
  (void)cudaMemGetInfo(&left, &all);
  return tl_fail(TALUS_ERROR_MEMORY,
                 "the device has no %.3g GB at one piece: %.3g of its %.3g GB are free",
                 1e-9 * static_cast<double>(bytes), 1e-9 * static_cast<double>(left),
                 1e-9 * static_cast<double>(all));
}

static talus_status resize(tl_device *device, tl_device_block *block, size_t bytes) {
  if (block->data) {
    device->count.held -= block->bytes;
    const cudaError_t error = cudaFree(block->data);
    block->data = nullptr;
    block->bytes = 0;
    if (bytes > 0)
      TL_TRY(test(error, "freeing memory of the device"));
  }
  if (bytes == 0)
    return TALUS_OK;
  void *data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return refuse_memory(bytes);
  }
  TL_TRY(test(error, "asking for memory of the device"));
  block->data = data;
  block->bytes = bytes;
  device->count.allocations++;
  device->count.held += bytes;
  if (device->count.held > device->count.peak)
    device->count.peak = device->count.held;
  return TALUS_OK;
}

static size_t left(tl_device *) {
  size_t free = 0, all = 0;
  return cudaMemGetInfo(&free, &all) == cudaSuccess ? free : 0;
}

static talus_status upload(tl_device *device, void *to, const void *from, size_t bytes) {
  TL_TRY(test(cudaStreamSynchronize(own(device)->stream), "waiting for the device"));
  const double begun = tl_clock();
  TL_TRY(test(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device"));
  device->count.uploaded += bytes;
  device->count.upload_ms += 1e3 * (tl_clock() - begun);
  return TALUS_OK;
}

static talus_status copy_home(tl_device *device, void *to, const void *from, size_t bytes) {
  cuda_device *self = own(device);
  if (bytes > FEW)
    return test(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying from the device");
  TL_TRY(test(cudaMemcpyAsync(self->few, from, bytes, cudaMemcpyDeviceToHost, self->stream),
              "copying from the device"));
  TL_TRY(test(cudaStreamSynchronize(self->stream), "waiting for the device"));
  memcpy(to, self->few, bytes);
  return TALUS_OK;
}

static talus_status download(tl_device *device, void *to, const void *from, size_t bytes) {
  if (bytes > FEW)
    TL_TRY(test(cudaStreamSynchronize(own(device)->stream), "waiting for the device"));
  const double begun = tl_clock();
  TL_TRY(copy_home(device, to, from, bytes));
  device->count.downloaded += bytes;
  if (bytes > FEW) /* the time of the others is that of the work before */
    device->count.download_ms += 1e3 * (tl_clock() - begun);
  return TALUS_OK;
}

static talus_status clear(tl_device *device, void *block, size_t bytes) {
  return test(cudaMemsetAsync(block, 0, bytes, own(device)->stream), "clearing memory");
}

static talus_status copy(tl_device *device, void *to, const void *from, size_t bytes) {
  return test(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, own(device)->stream),
              "copying within the device");
}

static talus_status take_scratch(tl_device *device, size_t bytes) {
  cuda_device *self = own(device);
  return bytes <= self->scratch.bytes ? TALUS_OK
                                      : resize(device, &self->scratch, bytes + bytes / 8);
}

/* ---- sorts and sums -------------------------------------------------------------------------- */

template <typename key_type>
static talus_status sort_keys(tl_device *device, size_t n, int bits, const tl_device_sort *sort,
                              bool *in_room) {
  cuda_device *self = own(device);
  cub::DoubleBuffer<key_type> key(static_cast<key_type *>(sort->keys[0]),
                                  static_cast<key_type *>(sort->keys[1]));
  cub::DoubleBuffer<uint32_t> value(sort->values[0], sort->values[1]);
  size_t bytes = 0;
  TL_TRY(test(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, value, n, 0, bits, self->stream),
              "sorting"));
  TL_TRY(take_scratch(device, bytes));
  TL_TRY(test(cub::DeviceRadixSort::SortPairs(self->scratch.data, bytes, key, value, n, 0, bits,
                                              self->stream),
              "sorting"));
  *in_room = key.Current() == sort->keys[1];
  if ((value.Current() == sort->values[1]) != *in_room)
    return tl_fail(TALUS_ERROR_DEVICE, "keys and values were sorted into different places");
  return TALUS_OK;
}

static talus_status sort(tl_device *device, size_t n, int bits, const tl_device_sort *sort,
                         bool *in_room) {
  *in_room = false;
  if (n == 0 || bits == 0)
    return TALUS_OK;
  return sort->wide ? sort_keys<uint64_t>(device, n, bits, sort, in_room)
                    : sort_keys<uint32_t>(device, n, bits, sort, in_room);
}

/* Adds 32-bit counts up in 64 bits. */
struct add_wide {
  __host__ __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

static talus_status sum(tl_device *device, size_t n, const uint32_t *counts, uint64_t *starts) {
  cuda_device *self = own(device);
  size_t bytes = 0;
  TL_TRY(test(cudaMemsetAsync(starts, 0, sizeof *starts, self->stream), "summing"));
  if (n == 0)
    return TALUS_OK;
  TL_TRY(test(cub::DeviceScan::InclusiveScanInit(nullptr, bytes, counts, starts + 1, add_wide(),
                                                 uint64_t{0}, n, self->stream),
              "summing"));
  TL_TRY(take_scratch(device, bytes));
  return test(cub::DeviceScan::InclusiveScanInit(self->scratch.data, bytes, counts, starts + 1,
                                                 add_wide(), uint64_t{0}, n, self->stream),
              "summing");
}

/* ---- tasks ----------------------------------------------------------------------------------- */

#define CUDA_KERNEL(name)                                                                          \
  static __global__ void __launch_bounds__(THREADS)                                                \
      run_##name(const __grid_constant__ tl_##name##_task task, size_t n) {                        \
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;                   \
    if (i < n)                                                                                     \
      tl_##name##_at(&task, i);                                                                    \
  }
TL_TASKS(CUDA_KERNEL)
#undef CUDA_KERNEL

/* Contacts of a block leave through its shared memory, so that neighbouring threads write
 * neighbouring words: rows of 72 bytes written one by one cost four times as much. */
static __global__ void write_contacts(const tl_contact_task task, size_t n) {
  __shared__ talus_row_contact rows[THREADS];
  const size_t first = static_cast<size_t>(blockIdx.x) * THREADS, i = first + threadIdx.x;
  if (i < n)
    rows[threadIdx.x] = tl_contact_made(&task, i);
  __syncthreads();
  const size_t words =
      sizeof *rows / sizeof(uint32_t) * (n - first < THREADS ? n - first : THREADS);
  const uint32_t *from = reinterpret_cast<const uint32_t *>(rows);
  uint32_t *to = reinterpret_cast<uint32_t *>(task.contacts + first);
  for (size_t k = threadIdx.x; k < words; k += THREADS)
    to[k] = from[k];
}

/* What the threads of a block have measured, joined. */
static __device__ tl_thread_extent join_block(const tl_thread_extent *mine) {
  __shared__ tl_thread_extent parts[THREADS];
  parts[threadIdx.x] = *mine;
  for (unsigned half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      tl_thread_extent_join(&parts[threadIdx.x], &parts[threadIdx.x + half]);
  }
  __syncthreads();
  return parts[0];
}

/* A block does what one thread of the task does. */
static __global__ void __launch_bounds__(THREADS) measure_in_blocks(const tl_measure_task task) {
  const tl_thread_extent mine = tl_thread_extent_of(
      task.rows, task.count, static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x,
      static_cast<size_t>(gridDim.x) * THREADS);
  const tl_thread_extent all = join_block(&mine);
  if (threadIdx.x == 0)
    task.parts[blockIdx.x] = all;
}

static __global__ void __launch_bounds__(THREADS) join_in_block(const tl_join_task task) {
  const tl_thread_extent mine =
      tl_thread_extent_joined(task.parts, task.count, threadIdx.x, THREADS);
  const tl_thread_extent all = join_block(&mine);
  if (threadIdx.x == 0)
    *task.joined = tl_extent_packed(&all, task.odd);
}

/* The contacts of a block get one place in the list: one atomic addition instead of hundreds to the
 * same number. By rounded cells, or by bins. */
template <bool by_cells>
static __global__ void __launch_bounds__(THREADS)
    list_touches(const __grid_constant__ tl_touch_task task, size_t n) {
  using block_scan = cub::BlockScan<uint32_t, THREADS>;
  __shared__ typename block_scan::TempStorage scratch;
  __shared__ uint64_t first;
  const size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
  tl_thread_visit visit;
  visit.found = 0;
  if (i < n && by_cells)
    tl_corner_begin(&task.search, i, &visit);
  else if (i < n)
    tl_touch_begin(&task.search, i, &visit);
  uint32_t before, all;
  block_scan(scratch).ExclusiveSum(visit.found, before, all);
  if (threadIdx.x == 0)
    first = all > 0 ? tl_thread_add_wide(task.used, all) : 0;
  __syncthreads();
  if (visit.found > 0 && by_cells)
    tl_corner_end(&visit, &task.list, first + before);
  else if (visit.found > 0)
    tl_touch_end(&visit, &task.list, first + before);
}

static talus_status launch(tl_device *device, int kind, const void *task, size_t n) {
  const cudaStream_t stream = own(device)->stream;
  if (n == 0)
    return TALUS_OK;
  const unsigned blocks = static_cast<unsigned>((n + THREADS - 1) / THREADS);
  switch (kind) { /* those with versions of their own */
  case TL_TASK_measure:
    measure_in_blocks<<<static_cast<unsigned>(n), THREADS, 0, stream>>>(
        *static_cast<const tl_measure_task *>(task));
    return test(cudaGetLastError(), "launching a task");
  case TL_TASK_join:
    join_in_block<<<1, THREADS, 0, stream>>>(*static_cast<const tl_join_task *>(task));
    return test(cudaGetLastError(), "launching a task");
  case TL_TASK_touch:
    list_touches<false>
        <<<blocks, THREADS, 0, stream>>>(*static_cast<const tl_touch_task *>(task), n);
    return test(cudaGetLastError(), "launching a task");
  case TL_TASK_corner:
    list_touches<true>
        <<<blocks, THREADS, 0, stream>>>(*static_cast<const tl_touch_task *>(task), n);
    return test(cudaGetLastError(), "launching a task");
  case TL_TASK_contact:
    write_contacts<<<blocks, THREADS, 0, stream>>>(*static_cast<const tl_contact_task *>(task), n);
    return test(cudaGetLastError(), "launching a task");
  default:
    break;
  }
  switch (kind) {
#define CUDA_LAUNCH(name)                                                                          \
  case TL_TASK_##name:                                                                             \
    run_##name<<<blocks, THREADS, 0, stream>>>(*static_cast<const tl_##name##_task *>(task), n);   \
    break;
    TL_TASKS(CUDA_LAUNCH)
#undef CUDA_LAUNCH
  }
  return test(cudaGetLastError(), "launching a task");
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* Few rows are swept by one cluster of blocks in one launch: from colour to colour its barrier
 * takes a fraction of the microseconds that the next launch would. */
#define CLUSTER_BLOCKS  16 /* more than every chip must have: it is asked */
#define CLUSTER_THREADS 256
#define CLUSTER_ROWS    12288 /* of a colour: with more of them, launches have more threads */

struct sweep_plan {
  tl_thread_rows rows;
  talus_real share;
  int is_ncp, is_lift, times;
  unsigned colours, tail; /* tail: rows behind the last colour, in turn */
  unsigned first[TL_COLOURS_MOST + 2];
};

static __device__ void visit_or_lift(const sweep_plan *plan, const tl_thread_row *row, size_t k) {
  if (plan->is_lift)
    tl_lift_taken(&plan->rows, row, k);
  else
    tl_visit_taken(&plan->rows, row, k, plan->share, plan->is_ncp);
}

static __device__ void visit_or_lift_at(const sweep_plan *plan, size_t k) {
  const tl_thread_row row = tl_row_take(&plan->rows, k);
  visit_or_lift(plan, &row, k);
}

/* The first row of the thread in the next colour is read before the visits of this one, so that
 * only bodies are waited for behind the barrier. */
static __global__ void __launch_bounds__(CLUSTER_THREADS)
    sweep_in_cluster(const __grid_constant__ sweep_plan plan) {
#if __CUDA_ARCH__ >= 900
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const unsigned thread = blockIdx.x * CLUSTER_THREADS + threadIdx.x;
  tl_thread_row ahead = {};
  if (plan.colours > 0 && plan.first[0] + thread < plan.first[1])
    ahead = tl_row_take(&plan.rows, plan.first[0] + thread);
  for (int turn = 0; turn < plan.times; ++turn) {
    for (unsigned c = 0; c < plan.colours; ++c) {
      const unsigned next = c + 1 < plan.colours ? c + 1 : 0;
      const unsigned mine = plan.first[c] + thread, then = plan.first[next] + thread;
      const tl_thread_row row = ahead;
      if (plan.colours > 1 && then < plan.first[next + 1])
        ahead = tl_row_take(&plan.rows, then);
      if (mine < plan.first[c + 1])
        visit_or_lift(&plan, &row, mine);
      for (unsigned k = mine + CLUSTER_BLOCKS * CLUSTER_THREADS; k < plan.first[c + 1];
           k += CLUSTER_BLOCKS * CLUSTER_THREADS)
        visit_or_lift_at(&plan, k);
      if (plan.colours == 1 && mine < plan.first[1])
        ahead = tl_row_take(&plan.rows, mine);
      cluster.sync();
    }
    if (plan.tail == 0)
      continue;
    for (unsigned k = 0; k < plan.tail && thread == 0; ++k)
      visit_or_lift_at(&plan, plan.first[plan.colours] + k);
    cluster.sync();
  }
#endif
}

/* Whether these are the colours of a sweep, and few rows; then as a plan. */
static bool plan_sweep(const tl_device_launch *launches, size_t count, int times,
                       sweep_plan *plan) {
  const int kind = count > 0 ? launches[0].kind : -1;
  if ((kind != TL_TASK_visit && kind != TL_TASK_lift) || count > TL_COLOURS_MOST + 1)
    return false;
  const tl_visit_task *first = static_cast<const tl_visit_task *>(launches[0].task);
  plan->rows = first->rows;
  plan->share = first->share;
  plan->is_ncp = first->is_ncp;
  plan->is_lift = kind == TL_TASK_lift;
  plan->times = times;
  plan->colours = plan->tail = 0;
  for (size_t i = 0; i < count; ++i) {
    const tl_visit_task *task = static_cast<const tl_visit_task *>(launches[i].task);
    if (launches[i].kind != kind || launches[i].n > CLUSTER_ROWS)
      return false;
    plan->first[plan->colours] = static_cast<unsigned>(task->first);
    plan->tail = static_cast<unsigned>(task->tail);
    if (task->tail == 0)
      plan->first[++plan->colours] = static_cast<unsigned>(task->first + launches[i].n);
  }
  return true;
}

struct cluster_config {
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t launch;
};

static void configure(cluster_config *config, cudaStream_t stream) {
  *config = {};
  config->attribute.id = cudaLaunchAttributeClusterDimension;
  config->attribute.val.clusterDim.x = CLUSTER_BLOCKS;
  config->attribute.val.clusterDim.y = config->attribute.val.clusterDim.z = 1;
  config->launch.gridDim = dim3(CLUSTER_BLOCKS);
  config->launch.blockDim = dim3(CLUSTER_THREADS);
  config->launch.stream = stream;
  config->launch.attrs = &config->attribute;
  config->launch.numAttrs = 1;
}

/* Whether the chip (from sm_90 on) has room for one. */
static bool find_clusters() {
  int major = 0, clusters = 0;
  cluster_config config;
  (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  if (major < 9)
    return false;
  configure(&config, nullptr);
  const bool fits =
      cudaFuncSetAttribute(sweep_in_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) ==
          cudaSuccess &&
      cudaOccupancyMaxActiveClusters(&clusters, sweep_in_cluster, &config.launch) == cudaSuccess;
  (void)cudaGetLastError();
  return fits && clusters > 0;
}

static talus_status sweep(tl_device *device, const sweep_plan *plan) {
  cluster_config config;
  configure(&config, own(device)->stream);
  return test(cudaLaunchKernelEx(&config.launch, sweep_in_cluster, *plan), "launching sweeps");
}

static talus_status repeat(tl_device *device, const tl_device_launch *launches, size_t count,
                           int times) {
  sweep_plan plan;
  if (own(device)->has_clusters && plan_sweep(launches, count, times, &plan))
    return sweep(device, &plan);
  for (int k = 0; k < times; ++k)
    for (size_t i = 0; i < count; ++i)
      TL_TRY(launch(device, launches[i].kind, launches[i].task, launches[i].n));
  return TALUS_OK;
}

static talus_status finish(tl_device *device) {
  return test(cudaStreamSynchronize(own(device)->stream), "working on the device");
}

static talus_status mark(tl_device *device, int mark) {
  return test(cudaEventRecord(own(device)->marks[mark], own(device)->stream), "taking the time");
}

static double elapsed(tl_device *device, int from, int to) {
  float ms = 0;
  return cudaEventElapsedTime(&ms, own(device)->marks[from], own(device)->marks[to]) == cudaSuccess
             ? static_cast<double>(ms)
             : 0;
}

/* ---- open and close -------------------------------------------------------------------------- */

static void close_device(tl_device *device) {
  cuda_device *self = own(device);
  (void)resize(device, &self->scratch, 0);
  for (cudaEvent_t event : self->marks)
    if (event)
      (void)cudaEventDestroy(event);
  if (self->stream)
    (void)cudaStreamDestroy(self->stream);
  if (self->few)
    (void)cudaFreeHost(self->few);
  free(self);
}

static const tl_device_calls calls = {"cuda",   close_device, resize, left, upload,
                                      download, clear,        copy,   sort, sum,
                                      launch,   repeat,       finish, mark, elapsed};

/* Whether this build's code runs on the GPU. After a fault of a task every call fails, this one
 * too, until the process ends. */
static talus_status find_code(const cudaDeviceProp *prop) {
  cudaFuncAttributes attributes;
  const cudaError_t found = cudaFuncGetAttributes(&attributes, run_key);
  (void)cudaGetLastError();
  switch (found) {
  case cudaSuccess:
    return TALUS_OK;
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorInvalidDeviceFunction:
  case cudaErrorInvalidKernelImage:
  case cudaErrorUnsupportedPtxVersion:
    return tl_fail(
        TALUS_ERROR_DEVICE,
        "this build has code for %s, the GPU is %s; build with -DTALUS_CUDA_ARCH=sm_%d%d",
        TALUS_CUDA_ARCH, prop->name, prop->major, prop->minor);
  default:
    return tl_fail(TALUS_ERROR_DEVICE,
                   "the GPU %s does not work (CUDA says '%s'): after a fault on it, start the "
                   "program again; otherwise use the backend cpu",
                   prop->name, cudaGetErrorString(found));
  }
}

/* What there is, in words. */
static talus_status describe(char *text, size_t size) {
  int count = 0, driver = 0, runtime = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  (void)cudaGetLastError();
  if (driver == 0)
    return tl_fail(TALUS_ERROR_DEVICE, "this machine has no NVIDIA driver; install one, or use "
                                       "the backend cpu");
  if (found == cudaErrorInsufficientDriver)
    return tl_fail(TALUS_ERROR_DEVICE,
                   "the driver is for CUDA %d.%d, this build needs %d.%d; install a newer driver",
                   driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  if (found != cudaSuccess || count == 0)
    return tl_fail(TALUS_ERROR_DEVICE, "no GPU that works was found (%s); use the backend cpu",
                   cudaGetErrorString(found == cudaSuccess ? cudaErrorNoDevice : found));
  cudaDeviceProp prop;
  TL_TRY(test(cudaGetDeviceProperties(&prop, 0), "looking at the GPU"));
  (void)snprintf(text, size, "%.64s, %.0f GiB, driver for CUDA %d.%d, sm_%d%d", prop.name,
                 static_cast<double>(prop.totalGlobalMem) / (1 << 30), driver / 1000,
                 driver % 1000 / 10, prop.major, prop.minor);
  return find_code(&prop);
}

extern "C" bool tl_device_has_cuda(void) { return true; }

extern "C" void tl_device_describe_cuda(char *text, size_t size) {
  char found[128] = "";
  const bool works = describe(found, sizeof found) == TALUS_OK;
  (void)snprintf(text, size, "%s", works ? found : "");
}

extern "C" talus_status tl_device_open_cuda(tl_device **device) {
  char title[128];
  *device = nullptr;
  TL_TRY(describe(title, sizeof title));
  cuda_device *self = static_cast<cuda_device *>(calloc(1, sizeof *self));
  if (!self)
    return tl_fail(TALUS_ERROR_MEMORY, "no memory for the device");
  self->base.calls = &calls;
  (void)snprintf(self->base.title, sizeof self->base.title, "%s", title);
  self->has_clusters = find_clusters();
  talus_status status = test(cudaStreamCreate(&self->stream), "opening the GPU");
  if (status == TALUS_OK)
    status = test(cudaMallocHost(&self->few, FEW), "opening the GPU");
  for (cudaEvent_t &event : self->marks)
    if (status == TALUS_OK)
      status = test(cudaEventCreate(&event), "opening the GPU");
  if (status != TALUS_OK) {
    close_device(&self->base);
    return status;
  }
  *device = &self->base;
  return TALUS_OK;
}
