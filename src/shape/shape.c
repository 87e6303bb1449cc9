#include "shape/shape.h"

#include "shape/clump.h"
#include "shape/facets.h"
#include "shape/hull.h"
#include "shape/revolved.h"
#include "shape/solid.h"

#include <stdio.h>

static const char *const kind_names[TALUS_SHAPE_KINDS] = {
    [TALUS_SPHERE] = "sphere",
    [TALUS_BOX] = "box",
    [TALUS_PLANE] = "plane",
    [TALUS_CONTAINER] = "container",
    [TALUS_ELLIPSOID] = "ellipsoid",
    [TALUS_CAPSULE] = "capsule",
    [TALUS_CYLINDER] = "cylinder",
    [TALUS_CONE] = "cone",
    [TALUS_SUPERELLIPSOID] = "superellipsoid",
    [TALUS_HULL] = "hull",
    [TALUS_CLUMP] = "clump",
    [TALUS_REVOLVED] = "revolved",
    [TALUS_MESH] = "mesh",
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

/* Below 1 a superellipsoid is not convex, and near 1 and beyond 100 its edges are so sharp that
 * curvature leaves what double numbers can tell. */
static talus_status check_exponent(const char *who, const char *what, double n) {
  if (!(n >= TL_EXPONENT_LEAST && n <= TL_EXPONENT_MOST))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: exponent %s is %g, but must be from %g to %g (2 is an ellipsoid, more is "
                   "blocky)",
                   who, what, n, TL_EXPONENT_LEAST, TL_EXPONENT_MOST);
  return TALUS_OK;
}

static talus_status check(const char *who, const talus_shape_def *def) {
  static const char *const edges[3] = {"length along x", "length along y", "length along z"};
  static const char *const halves[3] = {"half axis a", "half axis b", "half axis c"};
  if ((unsigned)def->kind >= TALUS_SHAPE_KINDS)
    return tl_fail(TALUS_ERROR_INVALID, "%s: kind %d does not exist, kinds are 0 to %d", who,
                   (int)def->kind, TALUS_SHAPE_KINDS - 1);
  const double *size = def->size;
  switch (def->kind) {
  case TALUS_SPHERE:
    TL_TRY(check_length(who, "radius", size[0]));
    break;
  case TALUS_PLANE:
    TL_TRY(check_plane(who, size));
    break;
  case TALUS_CAPSULE:
  case TALUS_CYLINDER:
  case TALUS_CONE:
    TL_TRY(check_length(who, "radius", size[0]));
    TL_TRY(check_length(who, "length", size[1]));
    break;
  case TALUS_ELLIPSOID:
  case TALUS_SUPERELLIPSOID:
    for (int i = 0; i < 3; ++i)
      TL_TRY(check_length(who, halves[i], size[i]));
    if (def->kind == TALUS_SUPERELLIPSOID) {
      TL_TRY(check_exponent(who, "n1", size[3]));
      TL_TRY(check_exponent(who, "n2", size[4]));
    }
    break;
  case TALUS_HULL:
  case TALUS_CLUMP:
  case TALUS_REVOLVED:
  case TALUS_MESH:
    break; /* checked where they are made */
  default:
    for (int i = 0; i < 3; ++i)
      TL_TRY(check_length(who, edges[i], size[i]));
  }
  if ((unsigned)def->sides > TALUS_SIDES_BOTH ||
      (def->sides != TALUS_SIDES_AUTO && def->kind != TALUS_REVOLVED && def->kind != TALUS_MESH))
    return tl_fail(TALUS_ERROR_INVALID, "%s: sides %d are of a revolved wall or a mesh, 0 to %d",
                   who, (int)def->sides, TALUS_SIDES_BOTH);
  return check_open(who, def);
}

/* Sizes whose volume or inertia leaves the range of numbers would later give 0/0 and infinities far
 * from their cause. */
static talus_status check_range(const char *who, const tl_shape *shape) {
  const double volume = shape->volume;
  const talus_vec3 g = shape->gyration;
  const bool hollow =
      tl_kind_is_wall(shape->kind) || (shape->kind == TALUS_MESH && shape->volume == 0);
  const bool fits = tl_is_finite(shape->radius) && tl_is_finite3(g) && tl_is_finite_d(volume);
  const bool there = hollow || (shape->radius >= TL_REAL_MIN && volume >= DBL_MIN &&
                                g.x >= TL_REAL_MIN && g.y >= TL_REAL_MIN && g.z >= TL_REAL_MIN);
  if (!fits || !there)
    return tl_fail(TALUS_ERROR_INVALID, "%s: this %s is too %s for its volume and inertia to be %s",
                   who, kind_names[shape->kind], fits ? "small" : "large",
                   TALUS_SINGLE ? "float numbers" : "double numbers");
  return TALUS_OK;
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

/* Everything but the name. */
static talus_status measure(const char *who, const talus_shape_def *def, tl_shape *shape) {
  switch (def->kind) {
  case TALUS_PLANE:
    normalise_plane(shape);
    if (!tl_is_finite_d(shape->size[3]))
      return tl_fail(TALUS_ERROR_INVALID, "%s: d/|n| = %g/|n| of the plane is not finite", who,
                     def->size[3]);
    break;
  case TALUS_HULL:
    TL_TRY(tl_hull_make(who, def->points, def->points ? def->point_count : 0, shape));
    break;
  case TALUS_CLUMP:
    TL_TRY(tl_clump_make(who, def, shape));
    break;
  case TALUS_REVOLVED:
    TL_TRY(tl_revolved_make(who, def, shape));
    break;
  case TALUS_MESH:
    TL_TRY(tl_solid_make(who, def, shape));
    break;
  default:
    tl_measure_analytic(shape);
  }
  return check_range(who, shape);
}

talus_status tl_shape_make(const talus_shape_def *def, tl_shape *shape) {
  char who[128];
  describe(def, who, sizeof who);
  TL_TRY(check(who, def));

  tl_shape made = {.kind = def->kind, .open = def->open, .bounded = def->kind != TALUS_PLANE};
  made.axes = tl_quat_identity();
  if (def->kind != TALUS_HULL && def->kind != TALUS_CLUMP && def->kind != TALUS_REVOLVED &&
      def->kind != TALUS_MESH)
    memcpy(made.size, def->size, sizeof made.size);
  talus_status status = measure(who, def, &made);
  made.isotropic = made.gyration.x == made.gyration.y && made.gyration.y == made.gyration.z;
  if (status == TALUS_OK && def->name) {
    const size_t bytes = strlen(def->name) + 1;
    void *copy = NULL;
    status = tl_resize(&copy, 0, bytes);
    if (status == TALUS_OK)
      made.name = memcpy(copy, def->name, bytes);
  }
  if (status == TALUS_OK)
    *shape = made;
  else
    tl_shape_release_lists(&made);
  return status;
}

void tl_shape_release(tl_shape *shape) {
  if (shape->name) {
    void *name = shape->name;
    (void)tl_resize(&name, strlen(shape->name) + 1, 0); /* freeing cannot fail */
  }
  shape->name = NULL;
  tl_shape_release_lists(shape);
}
