#include "render_scene.h"

#if TALUS_HAVE_EMBREE

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <embree3/rtcore.h>

#include "render_solid.h"

#define SIDES   6
#define CORNERS 8

struct render_device {
  RTCDevice device;
};

struct render_scene {
  RTCScene scene;
  unsigned geometry[SCENE_KINDS]; /* Embree's id of each */
  scene_solid *solids;
  double *planes;
  scene_triangle *triangles;
};

bool render_is_available(void) { return true; }

render_device *render_device_open(int threads) {
  char settings[64] = "";
  if (threads > 0)
    snprintf(settings, sizeof settings, "threads=%d", threads);
  render_device *device = malloc(sizeof *device);
  if (!device)
    return NULL;
  device->device = rtcNewDevice(settings);
  if (!device->device) {
    free(device);
    return NULL;
  }
  return device;
}

void render_device_close(render_device *device) {
  if (device)
    rtcReleaseDevice(device->device);
  free(device);
}

/* ---- geometry -------------------------------------------------------------------------------- */

/* Uses buffers allocated by Embree, which pads them for its loads. */
static void *new_buffer(RTCGeometry geometry, enum RTCBufferType type, enum RTCFormat format,
                        size_t stride, size_t rows) {
  return rtcSetNewGeometryBuffer(geometry, type, 0, format, stride, rows);
}

static bool fill_spheres(RTCGeometry geometry, const scene_sphere *spheres, size_t n) {
  float *to = new_buffer(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, 4 * sizeof *to, n);
  if (to)
    memcpy(to, spheres, n * sizeof *spheres);
  return to != NULL;
}

static bool fill_boxes(RTCGeometry geometry, const scene_box *boxes, size_t n) {
  /* Corner i lies at the signs of its bits; a side's corners go around it counter-clockwise as
   * seen from outside. */
  static const unsigned sides[SIDES][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                           {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  float *corner = new_buffer(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3,
                             3 * sizeof *corner, CORNERS * n);
  unsigned *side =
      new_buffer(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT4, 4 * sizeof *side, SIDES * n);
  if (!corner || !side)
    return false;
  for (size_t i = 0; i < n; ++i) {
    const scene_box *box = &boxes[i];
    for (unsigned c = 0; c < CORNERS; ++c) {
      const float x = c & 1 ? 1.0f : -1.0f, y = c & 2 ? 1.0f : -1.0f, z = c & 4 ? 1.0f : -1.0f;
      const vec *h = box->half;
      float *to = corner + 3 * (CORNERS * i + c);
      to[0] = box->centre.x + x * h[0].x + y * h[1].x + z * h[2].x;
      to[1] = box->centre.y + x * h[0].y + y * h[1].y + z * h[2].y;
      to[2] = box->centre.z + x * h[0].z + y * h[1].z + z * h[2].z;
    }
    for (unsigned s = 0; s < SIDES; ++s)
      for (unsigned c = 0; c < 4; ++c)
        side[4 * (SIDES * i + s) + c] = (unsigned)(CORNERS * i) + sides[s][c];
  }
  return true;
}

static bool fill_rods(RTCGeometry geometry, const scene_rod *rods, size_t n) {
  float *end =
      new_buffer(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, 4 * sizeof *end, 2 * n);
  unsigned *first = new_buffer(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT, sizeof *first, n);
  if (!end || !first)
    return false;
  for (size_t i = 0; i < n; ++i) {
    const vec ends[2] = {rods[i].from, rods[i].to};
    for (size_t e = 0; e < 2; ++e) {
      float *to = end + 4 * (2 * i + e);
      to[0] = ends[e].x, to[1] = ends[e].y, to[2] = ends[e].z, to[3] = rods[i].radius;
    }
    first[i] = (unsigned)(2 * i);
  }
  return true;
}

static bool fill_triangles(RTCGeometry geometry, const scene_triangle *triangles, size_t n) {
  float *corner =
      new_buffer(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, 3 * sizeof *corner, 3 * n);
  unsigned *row = new_buffer(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, 3 * sizeof *row, n);
  if (!corner || !row)
    return false;
  for (size_t i = 0; i < n; ++i)
    memcpy(corner + 9 * i, triangles[i].corner, sizeof triangles[i].corner);
  for (size_t i = 0; i < 3 * n; ++i)
    row[i] = (unsigned)i;
  return true;
}

/* ---- solids: callbacks of Embree ------------------------------------------------------------- */

static void solid_bounds(const struct RTCBoundsFunctionArguments *asked) {
  const scene_solid *solid = &((const render_scene *)asked->geometryUserPtr)->solids[asked->primID];
  const float r = solid->radius * 1.0001f;
  *asked->bounds_o = (struct RTCBounds){.lower_x = solid->centre.x - r,
                                        .lower_y = solid->centre.y - r,
                                        .lower_z = solid->centre.z - r,
                                        .upper_x = solid->centre.x + r,
                                        .upper_y = solid->centre.y + r,
                                        .upper_z = solid->centre.z + r};
}

/* v turned by the quaternion q (w, x, y, z), or back for sign -1. */
static void turn(const float q[4], double sign, const double v[3], double out[3]) {
  const double w = (double)q[0];
  const double u[3] = {sign * (double)q[1], sign * (double)q[2], sign * (double)q[3]};
  const double t[3] = {2 * (u[1] * v[2] - u[2] * v[1]), 2 * (u[2] * v[0] - u[0] * v[2]),
                       2 * (u[0] * v[1] - u[1] * v[0])};
  out[0] = v[0] + w * t[0] + u[1] * t[2] - u[2] * t[1];
  out[1] = v[1] + w * t[1] + u[2] * t[0] - u[0] * t[2];
  out[2] = v[2] + w * t[2] + u[0] * t[1] - u[1] * t[0];
}

/* The direction is scaled like the position, so distances are those of the original ray. */
static bool meet_solid(const render_scene *scene, unsigned row, const struct RTCRay *ray,
                       double *distance, double normal[3]) {
  const scene_solid *solid = &scene->solids[row];
  const double k = (double)solid->scale;
  const double o[3] = {(double)(ray->org_x - solid->origin.x) / k,
                       (double)(ray->org_y - solid->origin.y) / k,
                       (double)(ray->org_z - solid->origin.z) / k};
  const double d[3] = {(double)ray->dir_x / k, (double)ray->dir_y / k, (double)ray->dir_z / k};
  const solid_shape shape = {.kind = solid->kind,
                             .size = solid->size,
                             .planes = scene->planes + 4 * (size_t)solid->plane,
                             .plane_count = solid->plane_count};
  solid_ray own;
  double local[3];
  turn(solid->turn, -1, o, own.from);
  turn(solid->turn, -1, d, own.along);
  if (!solid_hit(&shape, &own, (double)ray->tnear, (double)ray->tfar, distance, local))
    return false;
  turn(solid->turn, 1, local, normal);
  return true;
}

static void solid_intersect(const struct RTCIntersectFunctionNArguments *asked) {
  /* rays are traced one by one */
  struct RTCRayHit *ray = (struct RTCRayHit *)(void *)asked->rayhit;
  double distance, n[3];
  if (!asked->valid[0] ||
      !meet_solid(asked->geometryUserPtr, asked->primID, &ray->ray, &distance, n))
    return;
  ray->ray.tfar = (float)distance;
  ray->hit = (struct RTCHit){.Ng_x = (float)n[0],
                             .Ng_y = (float)n[1],
                             .Ng_z = (float)n[2],
                             .primID = asked->primID,
                             .geomID = asked->geomID,
                             .instID = {asked->context->instID[0]}};
}

static void solid_occluded(const struct RTCOccludedFunctionNArguments *asked) {
  struct RTCRay *ray = (struct RTCRay *)(void *)asked->ray;
  double distance, n[3];
  if (asked->valid[0] && meet_solid(asked->geometryUserPtr, asked->primID, ray, &distance, n))
    ray->tfar = -INFINITY;
}

static bool copy_solids(render_scene *scene, const scene_items *items) {
  scene->solids = malloc((items->solid_count + 1) * sizeof *scene->solids);
  scene->planes = malloc((4 * items->plane_count + 1) * sizeof *scene->planes);
  scene->triangles = malloc((items->triangle_count + 1) * sizeof *scene->triangles);
  if (!scene->solids || !scene->planes || !scene->triangles)
    return false;
  if (items->triangle_count > 0)
    memcpy(scene->triangles, items->triangles, items->triangle_count * sizeof *scene->triangles);
  if (items->solid_count > 0)
    memcpy(scene->solids, items->solids, items->solid_count * sizeof *scene->solids);
  if (items->plane_count > 0)
    memcpy(scene->planes, items->planes, 4 * items->plane_count * sizeof *scene->planes);
  return true;
}

static bool fill_solids(RTCGeometry geometry, render_scene *scene, size_t n) {
  rtcSetGeometryUserPrimitiveCount(geometry, (unsigned)n);
  rtcSetGeometryUserData(geometry, scene);
  rtcSetGeometryBoundsFunction(geometry, solid_bounds, NULL);
  rtcSetGeometryIntersectFunction(geometry, solid_intersect);
  rtcSetGeometryOccludedFunction(geometry, solid_occluded);
  return true;
}

/* ---- the whole scene ------------------------------------------------------------------------- */

static bool attach(render_device *device, render_scene *scene, scene_kind kind, const void *items,
                   size_t n) {
  static const enum RTCGeometryType types[] = {[SCENE_SPHERE] = RTC_GEOMETRY_TYPE_SPHERE_POINT,
                                               [SCENE_BOX] = RTC_GEOMETRY_TYPE_QUAD,
                                               [SCENE_ROD] = RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE,
                                               [SCENE_SOLID] = RTC_GEOMETRY_TYPE_USER,
                                               [SCENE_TRIANGLE] = RTC_GEOMETRY_TYPE_TRIANGLE};
  scene->geometry[kind] = RTC_INVALID_GEOMETRY_ID;
  if (n == 0)
    return true;
  RTCGeometry geometry = rtcNewGeometry(device->device, types[kind]);
  if (!geometry)
    return false;
  const bool filled = kind == SCENE_SPHERE     ? fill_spheres(geometry, items, n)
                      : kind == SCENE_BOX      ? fill_boxes(geometry, items, n)
                      : kind == SCENE_SOLID    ? fill_solids(geometry, scene, n)
                      : kind == SCENE_TRIANGLE ? fill_triangles(geometry, items, n)
                                               : fill_rods(geometry, items, n);
  if (filled) {
    rtcCommitGeometry(geometry);
    scene->geometry[kind] = rtcAttachGeometry(scene->scene, geometry);
  }
  rtcReleaseGeometry(geometry);
  return filled;
}

render_scene *render_scene_build(render_device *device, const scene_items *items) {
  render_scene *scene = calloc(1, sizeof *scene);
  if (!scene)
    return NULL;
  scene->scene = rtcNewScene(device->device);
  bool good = scene->scene && copy_solids(scene, items) &&
              attach(device, scene, SCENE_SPHERE, items->spheres, items->sphere_count) &&
              attach(device, scene, SCENE_BOX, items->boxes, items->box_count) &&
              attach(device, scene, SCENE_ROD, items->rods, items->rod_count) &&
              attach(device, scene, SCENE_SOLID, items->solids, items->solid_count) &&
              attach(device, scene, SCENE_TRIANGLE, items->triangles, items->triangle_count);
  if (good) {
    rtcCommitScene(scene->scene);
    good = rtcGetDeviceError(device->device) == RTC_ERROR_NONE;
  }
  if (!good) {
    render_scene_free(scene);
    return NULL;
  }
  return scene;
}

void render_scene_free(render_scene *scene) {
  if (scene && scene->scene)
    rtcReleaseScene(scene->scene);
  if (scene) {
    free(scene->solids);
    free(scene->planes);
    free(scene->triangles);
  }
  free(scene);
}

/* ---- rays ------------------------------------------------------------------------------------ */

static struct RTCRay ray_of(vec origin, vec direction, float near, float far) {
  return (struct RTCRay){.org_x = origin.x,
                         .org_y = origin.y,
                         .org_z = origin.z,
                         .tnear = near,
                         .dir_x = direction.x,
                         .dir_y = direction.y,
                         .dir_z = direction.z,
                         .tfar = far,
                         .mask = ~0u};
}

/* Embree ends the process for rays that are not finite, or too large to be squared. */
#define RAY_MOST 1e18f

static bool is_good(const struct RTCRay *ray) {
  return fabsf(ray->org_x) < RAY_MOST && fabsf(ray->org_y) < RAY_MOST &&
         fabsf(ray->org_z) < RAY_MOST && fabsf(ray->dir_x) < RAY_MOST &&
         fabsf(ray->dir_y) < RAY_MOST && fabsf(ray->dir_z) < RAY_MOST && ray->tnear >= 0 &&
         ray->tfar >= ray->tnear;
}

bool render_scene_hit(const render_scene *scene, vec origin, vec direction, float near, float far,
                      scene_hit *hit) {
  struct RTCIntersectContext context;
  struct RTCRayHit ray = {.ray = ray_of(origin, direction, near, far)};
  rtcInitIntersectContext(&context);
  ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  if (!is_good(&ray.ray))
    return false;
  rtcIntersect1(scene->scene, &context, &ray);
  if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID)
    return false;
  hit->distance = ray.ray.tfar;
  hit->kind = SCENE_SPHERE;
  while (hit->kind + 1 < SCENE_KINDS && ray.hit.geomID != scene->geometry[hit->kind])
    hit->kind++;
  const scene_triangle *triangle =
      hit->kind == SCENE_TRIANGLE ? &scene->triangles[ray.hit.primID] : NULL;
  hit->item = hit->kind == SCENE_BOX ? ray.hit.primID / SIDES
              : triangle             ? triangle->item
                                     : ray.hit.primID;
  hit->u = 2 * ray.hit.u - 1;
  hit->v = 2 * ray.hit.v - 1;
  const vec n = {ray.hit.Ng_x, ray.hit.Ng_y, ray.hit.Ng_z};
  const float square = n.x * n.x + n.y * n.y + n.z * n.z;
  const float along = n.x * direction.x + n.y * direction.y + n.z * direction.z;
  const float s = (along > 0 ? -1.0f : 1.0f) / (square > 0 ? sqrtf(square) : 1);
  hit->normal = (vec){s * n.x, s * n.y, s * n.z};
  hit->is_leaving = (along > 0) && (!triangle || triangle->is_solid);
  hit->is_flat = hit->kind == SCENE_SOLID && scene->solids[hit->item].kind == FRAME_HULL;
  return true;
}

bool render_scene_blocked(const render_scene *scene, vec origin, vec direction, float near,
                          float far) {
  struct RTCIntersectContext context;
  struct RTCRay ray = ray_of(origin, direction, near, far);
  rtcInitIntersectContext(&context);
  if (!is_good(&ray))
    return false;
  rtcOccluded1(scene->scene, &context, &ray);
  return ray.tfar < 0; /* Embree sets tfar to minus infinity for a hit */
}

#else

bool render_is_available(void) { return false; }

render_device *render_device_open(int threads) {
  (void)threads;
  return NULL;
}

void render_device_close(render_device *device) { (void)device; }

render_scene *render_scene_build(render_device *device, const scene_items *items) {
  (void)device, (void)items;
  return NULL;
}

void render_scene_free(render_scene *scene) { (void)scene; }

bool render_scene_hit(const render_scene *scene, vec origin, vec direction, float near, float far,
                      scene_hit *hit) {
  (void)scene, (void)origin, (void)direction, (void)near, (void)far, (void)hit;
  return false;
}

bool render_scene_blocked(const render_scene *scene, vec origin, vec direction, float near,
                          float far) {
  (void)scene, (void)origin, (void)direction, (void)near, (void)far;
  return false;
}

#endif
