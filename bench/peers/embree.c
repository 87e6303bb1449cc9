/* Embree: a BVH of boxes as user geometry, collided with itself (rtcCollide). */
#include <embree3/rtcore.h>
#include <stdatomic.h>

#include "peer.h"

typedef struct pair {
  uint32_t a, b;
} pair;

typedef struct job {
  const peer_scene *scene;
  float *bounds; /* 6: low and high corner, rounded outwards */
  pair *out;
  size_t room;
  atomic_size_t count;
} job;

static void give_bounds(const struct RTCBoundsFunctionArguments *wanted) {
  const float *box = ((const job *)wanted->geometryUserPtr)->bounds + 6 * (size_t)wanted->primID;
  struct RTCBounds *to = wanted->bounds_o;
  to->lower_x = box[0], to->lower_y = box[1], to->lower_z = box[2];
  to->upper_x = box[3], to->upper_y = box[4], to->upper_z = box[5];
}

/* Called from several threads with many pairs at a time, each in both orders. */
static void take(void *context, struct RTCCollision *found, unsigned n) {
  job *work = context;
  size_t kept = 0;
  for (unsigned i = 0; i < n; ++i) {
    const unsigned a = found[i].primID0, b = found[i].primID1;
    if (a < b && peer_overlap(work->scene, a, b))
      found[kept++] = found[i];
  }
  const size_t at = atomic_fetch_add(&work->count, kept);
  for (size_t i = 0; i < kept && at + i < work->room; ++i)
    work->out[at + i] = (pair){found[i].primID0, found[i].primID1};
}

static double run(RTCDevice device, job *work, enum RTCBuildQuality quality) {
  const double begun = peer_now_ms();
  RTCScene scene = rtcNewScene(device);
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
  rtcSetGeometryUserPrimitiveCount(geometry, (unsigned)work->scene->count);
  rtcSetGeometryUserData(geometry, work);
  rtcSetGeometryBoundsFunction(geometry, (RTCBoundsFunction)give_bounds, NULL);
  rtcSetGeometryBuildQuality(geometry, quality);
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(scene, geometry);
  rtcReleaseGeometry(geometry);
  rtcSetSceneBuildQuality(scene, quality);
  rtcCommitScene(scene);
  atomic_store(&work->count, 0);
  rtcCollide(scene, scene, take, work);
  const double took = peer_now_ms() - begun;
  rtcReleaseScene(scene);
  return took;
}

static void measure(RTCDevice device, job *work, enum RTCBuildQuality quality, const char *name) {
  double *times = malloc((size_t)work->scene->repeat * sizeof *times);
  for (int i = 0; times && i < work->scene->repeat; ++i) {
    times[i] = run(device, work, quality);
    if (atomic_load(&work->count) > work->room) { /* more than the capacity: repeat */
      work->room = atomic_load(&work->count) + 1024;
      free(work->out);
      work->out = malloc(work->room * sizeof *work->out);
      if (!work->out)
        exit(1);
      --i;
    }
  }
  if (times)
    peer_print(name, "pairs", atomic_load(&work->count), times, work->scene->repeat);
  free(times);
}

int main(int argc, char **argv) {
  peer_scene scene;
  peer_read(argc, argv, &scene);
  job work = {.scene = &scene, .room = 4 * scene.count + 1024};
  work.bounds = malloc((6 * scene.count + 1) * sizeof *work.bounds);
  work.out = malloc(work.room * sizeof *work.out);
  if (!work.bounds || !work.out)
    return 1;
  for (size_t i = 0; i < scene.count; ++i)
    for (int k = 0; k < 3; ++k) {
      work.bounds[6 * i + (size_t)k] = peer_float_below(peer_low(&scene, i, k));
      work.bounds[6 * i + 3 + (size_t)k] = peer_float_above(peer_high(&scene, i, k));
    }
  memset(work.out, 0, work.room * sizeof *work.out);
  char config[64];
  snprintf(config, sizeof config, "threads=%d", scene.threads);
  RTCDevice device = rtcNewDevice(config);
  if (!device)
    return 1;
  measure(device, &work, RTC_BUILD_QUALITY_LOW, "embree-low");
  measure(device, &work, RTC_BUILD_QUALITY_MEDIUM, "embree-medium");
  rtcReleaseDevice(device);
  free(work.bounds);
  free(work.out);
  free(scene.record);
  return 0;
}
