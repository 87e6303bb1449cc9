/* Finds intersections of rays with exact spheres, boxes, rods, convex solids and triangles. Only
 * this module uses Embree's API. */
#ifndef CLI_RENDER_SCENE_H
#define CLI_RENDER_SCENE_H

#include <stdbool.h>
#include <stddef.h>

#include "frame_read.h"

typedef struct vec {
  float x, y, z;
} vec;

typedef struct scene_sphere {
  float x, y, z, radius;
} scene_sphere;

typedef struct scene_box {
  vec centre, half[3]; /* half: the three half edges as vectors */
} scene_box;

typedef struct scene_rod {
  vec from, to;
  float radius;
} scene_rod;

/* A triangle of a mesh. */
typedef struct scene_triangle {
  vec corner[3];
  unsigned item; /* index of the mesh */
  bool is_solid; /* the mesh encloses matter, which a cut shows */
} scene_triangle;

/* A solid of render_solid.h with a pose. */
typedef struct scene_solid {
  vec origin;    /* of the shape's own frame */
  float turn[4]; /* unit quaternion of that frame, w first */
  float scale;   /* multiplies every length */
  vec centre;    /* of its bounding ball */
  float radius;
  frame_kind kind;
  double size[5];              /* at scale 1 */
  unsigned plane, plane_count; /* hull: first row of the planes, and how many */
} scene_solid;

/* All things of a scene. */
typedef struct scene_items {
  const scene_sphere *spheres;
  size_t sphere_count;
  const scene_box *boxes;
  size_t box_count;
  const scene_rod *rods;
  size_t rod_count;
  const scene_solid *solids;
  size_t solid_count;
  const scene_triangle *triangles;
  size_t triangle_count;
  const double *planes; /* 4: of hulls, in their own frame at scale 1 */
  size_t plane_count;
} scene_items;

typedef enum scene_kind {
  SCENE_SPHERE,
  SCENE_BOX,
  SCENE_ROD,
  SCENE_SOLID,
  SCENE_TRIANGLE,
  SCENE_KINDS
} scene_kind;

typedef struct scene_hit {
  float distance;
  vec normal; /* unit, against the ray */
  scene_kind kind;
  unsigned item;   /* row of the list of that kind */
  float u, v;      /* box: position on the side, -1 ... 1 */
  bool is_flat;    /* solid: it has only flat faces */
  bool is_leaving; /* the ray leaves the body there */
} scene_hit;

typedef struct render_scene render_scene;
typedef struct render_device render_device;

/* True if this command was built with Embree; otherwise the functions below do nothing. */
bool render_is_available(void);

/* NULL if not available. threads: for building; 0: all cores. */
render_device *render_device_open(int threads);
void render_device_close(render_device *device);

/* Copies the data that it needs. NULL if memory is missing. */
render_scene *render_scene_build(render_device *device, const scene_items *items);
void render_scene_free(render_scene *scene);

/* The nearest intersection between near and far along a unit direction. May be called from several
 * threads. */
bool render_scene_hit(const render_scene *scene, vec origin, vec direction, float near, float far,
                      scene_hit *hit);
/* True if there is any intersection. */
bool render_scene_blocked(const render_scene *scene, vec origin, vec direction, float near,
                          float far);

#endif
