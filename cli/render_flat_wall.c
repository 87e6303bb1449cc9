/* Lines of walls on flat maps: containers, revolved walls, and bodies that are fixed or follow a
 * motion, which as discs would cover what they hold. */
#include <string.h>

#include "render_flat.h"

/* part of the largest extent below which another is none: rotations are single precision */
#define THIN   1e-5
#define AROUND 72 /* corners of a round outline */

typedef struct drawn {
  const flat_plane *plane;
  const frame *bodies;
  const frame_shape *shape;
  const double *middle; /* m: of the body */
  const float *turn;
  double scale;
  flat_line_fn *fn;
  void *context;
} drawn;

static double cross(const double a[2], const double b[2]) { return a[0] * b[1] - a[1] * b[0]; }

/* A vector of the body's own frame on the plane: right, up. */
static void on_plane(const drawn *d, const double v[3], double to[2]) {
  const vec turned = render_turn(d->turn, (vec){(float)v[0], (float)v[1], (float)v[2]});
  const float along[3] = {turned.x, turned.y, turned.z};
  to[0] = (double)along[d->plane->right];
  to[1] = (double)along[d->plane->up];
}

/* A point of the shape's own frame on the plane. */
static void place(const drawn *d, const double p[3], double to[2]) {
  const double *c = d->shape->centre, s = d->scale;
  const double from[3] = {s * (p[0] - c[0]), s * (p[1] - c[1]), s * (p[2] - c[2])};
  on_plane(d, from, to);
  to[0] += d->middle[d->plane->right];
  to[1] += d->middle[d->plane->up];
}

static void line(const drawn *d, const double a[2], const double b[2]) {
  double ends[2][2] = {{a[0], a[1]}, {b[0], b[1]}};
  d->fn(d->context, ends);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static void circle(const drawn *d, const double centre[2], double radius) {
  double last[2] = {centre[0] + radius, centre[1]};
  for (int k = 1; k <= AROUND; ++k) {
    const double angle = 6.283185307179586 * k / AROUND;
    const double next[2] = {centre[0] + radius * cos(angle), centre[1] + radius * sin(angle)};
    line(d, last, next);
    memcpy(last, next, sizeof last);
  }
}

/* The lines of a revolved wall on both sides of its axis, or its circles if one looks along it;
 * none from elsewhere. */
static void each_profile(const drawn *d) {
  const double up[3] = {0, 0, 1}, middle[2] = {d->middle[d->plane->right], d->middle[d->plane->up]};
  double axis[2];
  on_plane(d, up, axis);
  const double length = hypot(axis[0], axis[1]);
  for (uint32_t k = 0; length < 0.01 && k < d->shape->points; ++k)
    circle(d, middle, d->bodies->point[4 * ((size_t)d->shape->point + k) + 3] * d->scale);
  if (length < 0.999)
    return;
  for (uint32_t k = 0; k + 1 < d->shape->points; ++k)
    for (double side = -1; side < 2; side += 2) {
      double ends[2][2];
      for (int e = 0; e < 2; ++e) {
        const double *p = d->bodies->point + 4 * ((size_t)d->shape->point + k + (uint32_t)e);
        const double z = p[2] * d->scale, r = side * p[3] * d->scale;
        ends[e][0] = d->middle[d->plane->right] + (axis[0] * z - axis[1] * r) / length;
        ends[e][1] = d->middle[d->plane->up] + (axis[1] * z + axis[0] * r) / length;
      }
      d->fn(d->context, ends);
    }
}

/* The edges of a box that bound its projection: of the four along each of its axes the farthest
 * from the middle. */
static void each_edge(const drawn *d) {
  double half[3][2], widest = 0;
  for (int k = 0; k < 3; ++k) {
    const double length = 0.5 * d->shape->size[k] * d->scale;
    const double edge[3] = {k == 0 ? length : 0, k == 1 ? length : 0, k == 2 ? length : 0};
    on_plane(d, edge, half[k]);
    widest = fmax(widest, hypot(half[k][0], half[k][1]));
  }
  const double x = d->middle[d->plane->right], y = d->middle[d->plane->up];
  for (int k = 0; k < 3; ++k) {
    const double *a = half[k], *b = half[(k + 1) % 3], *c = half[(k + 2) % 3];
    const double far = fabs(cross(a, b)) + fabs(cross(a, c));
    for (int corner = 0; corner < 4 && hypot(a[0], a[1]) > THIN * widest; ++corner) {
      const double s = corner & 1 ? -1 : 1, t = corner & 2 ? -1 : 1;
      const bool is_again = (s < 0 && hypot(b[0], b[1]) <= THIN * widest) ||
                            (t < 0 && hypot(c[0], c[1]) <= THIN * widest);
      if (is_again || fabs(s * cross(a, b) + t * cross(a, c)) < far * (1 - THIN))
        continue;
      double ends[2][2];
      for (int e = 0; e < 2; ++e) {
        const double r = e == 0 ? -1 : 1;
        ends[e][0] = x + r * a[0] + s * b[0] + t * c[0];
        ends[e][1] = y + r * a[1] + s * b[1] + t * c[1];
      }
      d->fn(d->context, ends);
    }
  }
}

/* The farthest point of an ellipsoid, capsule, cylinder or cone along v, both in its own frame. */
static void find_farthest(const drawn *d, const double v[3], double p[3]) {
  const double *size = d->shape->size, flat = hypot(v[0], v[1]);
  const double x = flat > THIN ? v[0] / flat : 0, y = flat > THIN ? v[1] / flat : 0;
  const double end = v[2] < 0 ? -size[1] / 2 : size[1] / 2;
  if (d->shape->kind == FRAME_ELLIPSOID) {
    const double a[3] = {size[0] * v[0], size[1] * v[1], size[2] * v[2]};
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int k = 0; k < 3; ++k)
      p[k] = size[k] * a[k] / length;
    return;
  }
  if (d->shape->kind == FRAME_CAPSULE) {
    p[0] = size[0] * v[0], p[1] = size[0] * v[1], p[2] = size[0] * v[2] + end;
    return;
  }
  const bool is_apex =
      d->shape->kind == FRAME_CONE && v[2] * size[1] / 2 > flat * size[0] - v[2] * size[1] / 2;
  p[0] = is_apex ? 0 : size[0] * x;
  p[1] = is_apex ? 0 : size[0] * y;
  p[2] = is_apex ? size[1] / 2 : d->shape->kind == FRAME_CONE ? -size[1] / 2 : end;
}

/* The outline of a round convex body: its farthest points all around. */
static void each_farthest(const drawn *d) {
  const float back[4] = {d->turn[0], -d->turn[1], -d->turn[2], -d->turn[3]};
  double first[2] = {0}, last[2] = {0}, next[2];
  for (int k = 0; k <= AROUND; ++k) {
    const double angle = 6.283185307179586 * (k + 0.5) / AROUND;
    float way[3] = {0};
    way[d->plane->right] = (float)cos(angle), way[d->plane->up] = (float)sin(angle);
    const vec own = render_turn(back, (vec){way[0], way[1], way[2]});
    const double v[3] = {(double)own.x, (double)own.y, (double)own.z};
    double p[3];
    find_farthest(d, v, p);
    place(d, p, next);
    if (k == 0)
      memcpy(first, next, sizeof first);
    else
      line(d, last, k == AROUND ? first : next);
    memcpy(last, next, sizeof last);
  }
}

static void each_ball(const drawn *d) {
  for (size_t k = 0; k < d->shape->points; ++k) {
    const double *p = d->bodies->point + 4 * (d->shape->point + k);
    double at[2];
    place(d, p, at);
    circle(d, at, p[3] * d->scale);
  }
}

static void each_triangle(const drawn *d) {
  for (size_t t = 0; t < d->shape->triangles; ++t) {
    const uint32_t *v = d->bodies->triangle + 3 * (d->shape->triangle + t);
    double at[3][2];
    for (int k = 0; k < 3; ++k)
      place(d, d->bodies->point + 4 * (d->shape->point + v[k]), at[k]);
    for (int k = 0; k < 3; ++k)
      line(d, at[k], at[(k + 1) % 3]);
  }
}

/* ---- which ----------------------------------------------------------------------------------- */

bool render_flat_is_wall(const render_folder *folder, const frame *bodies, size_t i) {
  const frame_kind kind = bodies->shape_table[bodies->shape[i]].kind;
  return kind == FRAME_CONTAINER || kind == FRAME_REVOLVED ||
         (kind != FRAME_SPHERE && kind != FRAME_PLANE && kind != FRAME_SUPERELLIPSOID &&
          kind != FRAME_OTHER && render_folder_is_fixed(folder, bodies->id[i]));
}

/* A body that crosses the slab. Containers and revolved walls are always meant. */
static bool is_in_slab(const flat_plane *plane, const frame *bodies, size_t i) {
  const frame_kind kind = bodies->shape_table[bodies->shape[i]].kind;
  const double at = bodies->position[3 * i + (size_t)plane->across], r = (double)bodies->radius[i];
  return kind == FRAME_CONTAINER || kind == FRAME_REVOLVED || !plane->has_slab ||
         (at + r >= plane->slab[0] && at - r <= plane->slab[1]);
}

static void each_line_of(const drawn *d) {
  switch (d->shape->kind) {
  case FRAME_REVOLVED:
    each_profile(d);
    break;
  case FRAME_CONTAINER:
  case FRAME_BOX:
    each_edge(d);
    break;
  case FRAME_CLUMP:
    each_ball(d);
    break;
  case FRAME_HULL:
  case FRAME_MESH:
    each_triangle(d);
    break;
  default:
    each_farthest(d);
  }
}

void render_flat_walls(const render_options *options, const render_folder *folder,
                       const frame *bodies, flat_line_fn *fn, void *context) {
  static const float still[4] = {1, 0, 0, 0};
  for (size_t i = 0; i < bodies->bodies; ++i)
    if (render_flat_is_wall(folder, bodies, i) && is_in_slab(&options->plane, bodies, i) &&
        render_choice_shows(&options->choice, bodies, i)) {
      const drawn d = {&options->plane,
                       bodies,
                       &bodies->shape_table[bodies->shape[i]],
                       bodies->position + 3 * i,
                       bodies->quaternion ? bodies->quaternion + 4 * i : still,
                       (double)bodies->scale[i],
                       fn,
                       context};
      each_line_of(&d);
    }
}
