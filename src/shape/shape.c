#include "shape/shape.h"

#include "kernels/collide.h"

#include <stdio.h>

static const char *const kind_names[TALUS_SHAPE_KINDS] = {
    [TALUS_SPHERE] = "sphere",
    [TALUS_BOX] = "box",
    [TALUS_PLANE] = "plane",
    [TALUS_CONTAINER] = "container",
};

enum { ALL_SIDES = 0x3f };

const char *tl_shape_kind_name(talus_shape_kind kind) {
  return (unsigned)kind < TALUS_SHAPE_KINDS ? kind_names[kind] : "unknown";
}

/* ---- checks --------------------------------------------------------------------------------- */

/* "shape 'grain'" or "shape", for messages. A long name is cut: it is not the message. */
static void describe(const talus_shape_def *def, char *text, size_t bytes) {
  if (def->name)
    snprintf(text, bytes, "shape '%.80s'", def->name);
  else
    snprintf(text, bytes, "shape without a name");
}

static talus_status check_length(const char *who, const char *what, double value) {
  if (!tl_is_finite_d(value) || !(value > 0))
    return tl_fail(TALUS_ERROR_INVALID, "%s: %s is %g, but must be a finite length > 0 in metres",
                   who, what, value);
  return TALUS_OK;
}

static talus_status check_plane(const char *who, const double size[4]) {
  for (int i = 0; i < 4; ++i)
    if (!tl_is_finite_d(size[i]))
      return tl_fail(TALUS_ERROR_INVALID, "%s: plane [%g, %g, %g, %g] must be finite numbers", who,
                     size[0], size[1], size[2], size[3]);
  if (size[0] == 0 && size[1] == 0 && size[2] == 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the normal of the plane is [0, 0, 0], but must point out of its matter, "
                   "e.g. [0, 0, 1, 0] for a floor",
                   who);
  return TALUS_OK;
}

static talus_status check_open(const char *who, const talus_shape_def *def) {
  if (def->kind != TALUS_CONTAINER) {
    if (def->open != 0)
      return tl_fail(TALUS_ERROR_INVALID,
                     "%s: a %s has no sides to leave open, only a container has", who,
                     kind_names[def->kind]);
    return TALUS_OK;
  }
  if (def->open & ~(uint32_t)ALL_SIDES)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: open is 0x%x, which has bits beyond the six TALUS_SIDE_... ones", who,
                   (unsigned)def->open);
  if (def->open == ALL_SIDES)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: every side of the container is open, so nothing is left", who);
  return TALUS_OK;
}

static talus_status check(const char *who, const talus_shape_def *def) {
  static const char *const edges[3] = {"length along x", "length along y", "length along z"};
  if ((unsigned)def->kind >= TALUS_SHAPE_KINDS)
    return tl_fail(TALUS_ERROR_INVALID, "%s: kind %d does not exist, kinds are 0 to %d", who,
                   (int)def->kind, TALUS_SHAPE_KINDS - 1);
  switch (def->kind) {
  case TALUS_SPHERE:
    TL_TRY(check_length(who, "radius", def->size[0]));
    break;
  case TALUS_PLANE:
    TL_TRY(check_plane(who, def->size));
    break;
  default:
    for (int i = 0; i < 3; ++i)
      TL_TRY(check_length(who, edges[i], def->size[i]));
  }
  return check_open(who, def);
}

/* Sizes whose volume or inertia leaves the range of numbers would later give 0/0 and infinities far
 * from their cause. */
static talus_status check_range(const char *who, const tl_shape *shape) {
  const double volume = shape->volume;
  const talus_vec3 g = shape->gyration;
  const bool hollow = !shape->bounded || shape->kind == TALUS_CONTAINER;
  const bool fits = tl_is_finite(shape->radius) && tl_is_finite3(g) && tl_is_finite_d(volume);
  const bool there = hollow || (shape->radius >= TL_REAL_MIN && volume >= DBL_MIN &&
                                g.x >= TL_REAL_MIN && g.y >= TL_REAL_MIN && g.z >= TL_REAL_MIN);
  if (!fits || !there)
    return tl_fail(TALUS_ERROR_INVALID, "%s: this %s is too %s for its volume and inertia to be %s",
                   who, kind_names[shape->kind], fits ? "small" : "large",
                   TALUS_SINGLE ? "float numbers" : "double numbers");
  return TALUS_OK;
}

/* ---- mass properties ------------------------------------------------------------------------ */

static void measure_sphere(tl_shape *shape) {
  const double r = shape->size[0];
  const talus_real square = TL_R(0.4 * r * r);
  shape->volume = 4.0 / 3.0 * TL_PI * r * r * r;
  shape->gyration = tl_vec3(square, square, square);
  shape->radius = TL_R(r);
}

/* A solid: mass m, moment m (y^2 + z^2)/12 about x, and so on. */
static void measure_box(tl_shape *shape) {
  const double x = shape->size[0], y = shape->size[1], z = shape->size[2];
  shape->volume = x * y * z;
  shape->gyration =
      tl_vec3(TL_R((y * y + z * z) / 12), TL_R((z * z + x * x) / 12), TL_R((x * x + y * y) / 12));
  shape->radius = TL_R(0.5 * tl_dlength(tl_dvec3(x, y, z)));
}

/* Walls without thickness: no volume, no mass. */
static void measure_container(tl_shape *shape) {
  measure_box(shape);
  shape->volume = 0;
  shape->gyration = tl_vec3(0, 0, 0);
}

/* n.x < d is n.x/|n| < d/|n|. Scaled first, so that the squares neither overflow nor vanish. */
static void normalise_plane(tl_shape *shape) {
  double *n = shape->size;
  const double big = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
  const talus_dvec3 v = tl_dvec3(n[0] / big, n[1] / big, n[2] / big);
  const double length = tl_dlength(v);
  n[0] = v.x / length, n[1] = v.y / length, n[2] = v.z / length;
  n[3] = n[3] / big / length;
}

talus_status tl_shape_make(const talus_shape_def *def, tl_shape *shape) {
  char who[128];
  describe(def, who, sizeof who);
  TL_TRY(check(who, def));

  tl_shape made = {.kind = def->kind, .open = def->open, .bounded = def->kind != TALUS_PLANE};
  made.axes = tl_quat_identity();
  memcpy(made.size, def->size, sizeof made.size);
  switch (def->kind) {
  case TALUS_SPHERE:
    measure_sphere(&made);
    break;
  case TALUS_BOX:
    measure_box(&made);
    break;
  case TALUS_CONTAINER:
    measure_container(&made);
    break;
  default:
    normalise_plane(&made);
    if (!tl_is_finite_d(made.size[3]))
      return tl_fail(TALUS_ERROR_INVALID, "%s: d/|n| = %g/|n| of the plane is not finite", who,
                     def->size[3]);
  }
  TL_TRY(check_range(who, &made));
  made.isotropic = made.gyration.x == made.gyration.y && made.gyration.y == made.gyration.z;
  if (def->name) {
    const size_t bytes = strlen(def->name) + 1;
    void *copy = NULL;
    TL_TRY(tl_resize(&copy, 0, bytes));
    made.name = memcpy(copy, def->name, bytes);
  }
  *shape = made;
  return TALUS_OK;
}

void tl_shape_release(tl_shape *shape) {
  if (shape->name) {
    void *name = shape->name;
    (void)tl_resize(&name, strlen(shape->name) + 1, 0); /* freeing cannot fail */
  }
  shape->name = NULL;
}

/* ---- bounds --------------------------------------------------------------------------------- */

talus_box tl_shape_bounds(const tl_shape *shape, double scale, talus_dvec3 position,
                          talus_quat rotation) {
  talus_dvec3 extent;
  if (!shape->bounded) {
    talus_box box;
    box.lo = tl_dvec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
    box.hi = tl_dvec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    return box;
  }
  if (shape->kind == TALUS_SPHERE) {
    const double r = shape->size[0] * scale;
    extent = tl_dvec3(r, r, r);
  } else {
    const tl_frame frame = tl_frame_from_quat(rotation);
    const talus_dvec3 edges = tl_dvec3(shape->size[0], shape->size[1], shape->size[2]);
    extent = tl_frame_extent(&frame, tl_dscale(edges, 0.5 * scale));
  }
  talus_box box;
  box.lo = tl_dsub(position, extent);
  box.hi = tl_dadd(position, extent);
  return box;
}
