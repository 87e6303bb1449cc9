/* Draws a picture of a static scene: camera, light, surfaces, several threads. */
#ifndef CLI_RENDER_IMAGE_H
#define CLI_RENDER_IMAGE_H

#include "render_colour.h"
#include "render_noise.h"
#include "render_scene.h"
#include "render_text.h"

#include <math.h>

static inline vec vec_add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec vec_sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec vec_scale(vec a, float s) { return (vec){s * a.x, s * a.y, s * a.z}; }
static inline float vec_dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec vec_cross(vec a, vec b) {
  return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline vec vec_unit(vec a) {
  const float length = sqrtf(vec_dot(a, a));
  return length > 0 ? vec_scale(a, 1 / length) : (vec){0, 0, 1};
}

typedef struct image_camera {
  vec at, right, up, forward; /* unit vectors */
  float tangent;              /* of half the vertical field of view */
} image_camera;

/* An unbounded plane, visible only from its front; it fades out far from the scene. */
typedef struct image_plane {
  vec normal, u, v; /* u, v: in the plane, directions of its grid */
  float offset;     /* normal . x = offset */
  vec origin;       /* of the grid */
  float cell;       /* m between lines of the grid; 0: none */
} image_plane;

/* A rectangle of clear glass: centre, half edges and unit normal. */
typedef struct image_pane {
  vec centre, u, v, normal;
} image_pane;

/* The side of a cone of clear glass: from a circle about `low` to one `length` further along the
 * unit axis. Length 0: a ring. */
typedef struct image_cone {
  vec low, axis;
  float length, radius[2];
} image_cone;

/* Appearance of a translucent thing. */
typedef struct image_paint {
  rgb colour;
  float alpha; /* 0: clear, 1: solid */
} image_paint;

/* Lengths in metres, relative to an origin near the bodies. */
typedef struct image {
  const noise *random;
  int samples; /* per pixel */
  int threads; /* 0: all cores */
  image_camera camera;
  vec middle;    /* of the bodies */
  float extent;  /* m: its radius */
  float outline; /* 0 ... 1: how dark the line is where one solid or mesh ends before another */

  const render_scene *solid;
  const rgb *sphere_colours, *box_colours, *rod_colours, *solid_colours; /* of `solid` */
  const rgb *triangle_colours;
  bool has_cut;   /* everything beyond a plane is omitted; bodies that cross it are cut open */
  vec cut_normal; /* unit: towards the omitted side */
  float cut_offset;

  const render_scene *veils; /* translucent things; NULL: none */
  const image_paint *veil_spheres, *veil_boxes, *veil_solids, *veil_triangles;

  /* Rods that neither get nor cast shadows. In the scene they are thicker than here: a line that
   * covers a part of a pixel takes that part of its colour. */
  const render_scene *lines;
  const scene_rod *line_rods;
  const render_scene *ghosts; /* drawn almost transparent; NULL: none */

  const image_plane *planes;
  size_t plane_count;
  const image_pane *panes;
  size_t pane_count;
  const image_cone *cones;
  size_t cone_count;
} image;

/* Fills the canvas; false if memory is missing. The result does not depend on the number of
 * threads. */
bool image_draw(const image *what, canvas *to);

#endif
