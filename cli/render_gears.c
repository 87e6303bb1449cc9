#include "render_gears.h"

#include <math.h>
#include <stdlib.h>

#define TEETH_LEAST 12 /* of the smallest wheel */
#define TEETH_MOST  200
#define PI          3.14159265358979323846

/* A wheel from the checkpoint. */
typedef struct wheel {
  uint64_t uid;
  double radius, length; /* m; radius 0: not a cylinder */
  double at[3], axes[3][3];
  bool is_set; /* its phase is known */
} wheel;

typedef struct mesh {
  size_t a, b; /* rows of wheels */
} mesh;

typedef struct train {
  wheel wheels[RENDER_GEARS];
  mesh meshes[RENDER_GEARS];
  size_t wheel_count, mesh_count;
} train;

static size_t row_of(train *of, uint64_t uid) {
  size_t i = 0;
  while (i < of->wheel_count && of->wheels[i].uid != uid)
    i++;
  if (i == of->wheel_count && i < RENDER_GEARS)
    of->wheels[of->wheel_count++] = (wheel){.uid = uid};
  return i;
}

static void read_joints(const talus_world *world, train *of) {
  const size_t n = talus_world_joint_count(world);
  for (size_t i = 0; i < n && of->mesh_count < RENDER_GEARS; ++i) {
    talus_joint joint;
    talus_joint_info info;
    if (talus_world_joint_at(world, i, &joint) != TALUS_OK ||
        talus_world_get_joint(world, joint, &info) != TALUS_OK || info.kind != TALUS_JOINT_GEAR ||
        info.body_a == 0 || info.body_b == 0)
      continue;
    const mesh found = {row_of(of, info.body_a), row_of(of, info.body_b)};
    if (found.a < RENDER_GEARS && found.b < RENDER_GEARS)
      of->meshes[of->mesh_count++] = found;
  }
}

/* Columns of the rotation: the directions of the body's own axes. */
static void set_axes(const talus_quat *q, double axes[3][3]) {
  const double w = (double)q->w, x = (double)q->x, y = (double)q->y, z = (double)q->z;
  const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                             {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                             {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
  for (int k = 0; k < 9; ++k)
    axes[k / 3][k % 3] = rows[k / 3][k % 3];
}

static void read_wheel(const talus_world *world, const talus_body_info *info, wheel *to) {
  talus_shape_info shape;
  if (talus_world_get_shape(world, info->shape.index, &shape) != TALUS_OK ||
      shape.kind != TALUS_CYLINDER)
    return;
  to->radius = shape.bounds.hi.x * (double)info->scale;
  to->length = 2 * shape.bounds.hi.z * (double)info->scale;
  to->at[0] = info->position.x, to->at[1] = info->position.y, to->at[2] = info->position.z;
  set_axes(&info->rotation, to->axes);
}

static void read_wheels(const talus_world *world, train *of) {
  const size_t n = of->wheel_count > 0 ? talus_world_body_count(world) : 0;
  for (size_t i = 0; i < n; ++i) {
    talus_body body;
    talus_body_info info;
    if (talus_world_body_at(world, i, &body) != TALUS_OK ||
        talus_world_get_body(world, body, &info) != TALUS_OK)
      continue;
    for (size_t k = 0; k < of->wheel_count; ++k)
      if (of->wheels[k].uid == info.uid)
        read_wheel(world, &info, &of->wheels[k]);
  }
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* True if the wheels are side by side on parallel axes with touching rims. */
static bool touch(const wheel *a, const wheel *b, double apart[3]) {
  for (int k = 0; k < 3; ++k)
    apart[k] = b->at[k] - a->at[k];
  const double along = dot(apart, a->axes[2]), sum = a->radius + b->radius;
  const double across = sqrt(fmax(dot(apart, apart) - along * along, 0));
  return dot(a->axes[2], b->axes[2]) > 0.99 && fabs(along) < 0.5 * (a->length + b->length) &&
         fabs(across - sum) < 0.05 * sum;
}

/* The angle of a direction about a wheel's own z, in its own frame. */
static double angle_of(const wheel *of, const double direction[3], double sign) {
  return atan2(sign * dot(direction, of->axes[1]), sign * dot(direction, of->axes[0]));
}

/* Where the rims touch, a tooth of one wheel is in a gap of the other: as parts of a pitch from the
 * tooth before, ua + ub = 1/2; both change equally while the wheels turn. */
static void set_phase(const wheel *a, const render_gear *known, const wheel *b, render_gear *to,
                      const double apart[3]) {
  const double pitch_a = 2 * PI / known->teeth, pitch_b = 2 * PI / to->teeth;
  const double ua = (angle_of(a, apart, 1) - known->phase) / pitch_a;
  to->phase = angle_of(b, apart, -1) - pitch_b * (0.5 - ua);
}

size_t render_gears_find(const talus_world *world, render_gear *gears) {
  train *of = calloc(1, sizeof *of);
  double least = INFINITY;
  if (!of)
    return 0; /* plain discs */
  read_joints(world, of);
  read_wheels(world, of);
  for (size_t i = 0; i < of->wheel_count; ++i)
    if (of->wheels[i].radius > 0)
      least = fmin(least, of->wheels[i].radius);
  for (size_t i = 0; i < of->wheel_count; ++i) {
    const double teeth = floor(TEETH_LEAST * of->wheels[i].radius / least + 0.5);
    gears[i] = (render_gear){of->wheels[i].uid, teeth <= TEETH_MOST ? (int)teeth : 0, 0};
  }
  for (size_t i = 0; i < of->mesh_count; ++i) {
    wheel *a = &of->wheels[of->meshes[i].a], *b = &of->wheels[of->meshes[i].b];
    double apart[3];
    render_gear *of_a = &gears[of->meshes[i].a], *of_b = &gears[of->meshes[i].b];
    if (of_a->teeth > 0 && of_b->teeth > 0 && !b->is_set && touch(a, b, apart))
      set_phase(a, of_a, b, of_b, apart);
    a->is_set = b->is_set = true;
  }
  const size_t n = of->wheel_count;
  free(of);
  return n;
}

const render_gear *render_gears_of(const render_gear *gears, size_t n, uint64_t uid) {
  for (size_t i = 0; i < n; ++i)
    if (gears[i].uid == uid)
      return gears[i].teeth > 0 ? &gears[i] : NULL;
  return NULL;
}
