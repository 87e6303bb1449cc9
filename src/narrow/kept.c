#include "narrow/kept.h"

#include "kernels/convex.h"
#include "shape/shape.h"

/* Part of the sum of bounding radii that a search may be wrong by: the tolerance of GJK (1e-6 of
 * the smaller size), errors of quaternion and axis in float, and rounding. */
#define SURE 4e-6

void tl_kept_free(tl_kept_axes *axes) {
  tl_array_free(&axes->before);
  tl_array_free(&axes->after);
}

static bool is_before(const tl_kept_axis *kept, tl_pair pair) {
  return kept->pair.a != pair.a ? kept->pair.a < pair.a : kept->pair.b < pair.b;
}

size_t tl_kept_find(const tl_kept_list *list, tl_pair pair) {
  size_t at = 0, above = list->count;
  while (at < above) {
    const size_t middle = at + (above - at) / 2;
    if (is_before(&list->data[middle], pair))
      at = middle + 1;
    else
      above = middle;
  }
  return at;
}

const tl_kept_axis *tl_kept_next(const tl_kept_list *list, tl_pair pair, size_t *cursor) {
  size_t i = *cursor;
  while (i < list->count && is_before(&list->data[i], pair))
    ++i;
  *cursor = i;
  if (i == list->count)
    return NULL;
  const tl_kept_axis *kept = &list->data[i];
  return kept->pair.a == pair.a && kept->pair.b == pair.b ? kept : NULL;
}

tl_kept_axis tl_kept_make(tl_pair pair, talus_dvec3 axis) {
  const talus_dvec3 c = tl_dunit(axis);
  return (tl_kept_axis){.pair = pair, .axis = {(float)c.x, (float)c.y, (float)c.z}};
}

/* From world to body axes, in double. */
static talus_dvec3 unrotate(talus_quat q, talus_dvec3 v) {
  const talus_dvec3 u = tl_dvec3(-(double)q.x, -(double)q.y, -(double)q.z);
  const talus_dvec3 t = tl_dscale(tl_dcross(u, v), 2);
  return tl_dadd(tl_dalong(v, (double)q.w, t), tl_dcross(u, t));
}

static double hull_height(const tl_shape *shape, talus_dvec3 d, uint16_t *vertex) {
  const uint32_t from = *vertex < shape->point_count ? *vertex : 0;
  const uint32_t top = tl_hull_climb(shape->points, shape->vertex_start, shape->neighbour, d, from);
  *vertex = (uint16_t)(top <= UINT16_MAX ? top : 0);
  return tl_hull_along(shape->points, top, d);
}

/* Support of a shape of scale 1 along d, in its own axes. */
static double height(const tl_shape *shape, talus_dvec3 d, uint16_t *vertex) {
  const double *s = shape->size, flat = sqrt(d.x * d.x + d.y * d.y);
  switch (shape->kind) {
  case TALUS_SPHERE:
    return s[0];
  case TALUS_BOX:
    return 0.5 * (fabs(d.x) * s[0] + fabs(d.y) * s[1] + fabs(d.z) * s[2]);
  case TALUS_ELLIPSOID:
    return tl_dlength(tl_dvec3(s[0] * d.x, s[1] * d.y, s[2] * d.z));
  case TALUS_CAPSULE:
    return s[0] + 0.5 * s[1] * fabs(d.z);
  case TALUS_CYLINDER:
    return s[0] * flat + 0.5 * s[1] * fabs(d.z);
  case TALUS_CONE:
    return fmax(0.75 * s[1] * d.z, s[0] * flat - 0.25 * s[1] * d.z);
  case TALUS_SUPERELLIPSOID:
    return tl_ddot(tl_superellipsoid_support(s, d), d);
  case TALUS_HULL:
    return hull_height(shape, d, vertex);
  default:
    return DBL_MAX; /* not a convex body: never separated */
  }
}

bool tl_kept_parts(const tl_crowd *crowd, talus_real margin, tl_kept_axis *kept) {
  const tl_model *model = crowd->model;
  const tl_state *in = crowd->in;
  const uint32_t a = kept->pair.a, b = kept->pair.b;
  const tl_shape *shape_a = tl_body_shape(model, a), *shape_b = tl_body_shape(model, b);
  const double scale_a = (double)model->property.scale[a],
               scale_b = (double)model->property.scale[b];
  const talus_dvec3 c =
      tl_dvec3((double)kept->axis[0], (double)kept->axis[1], (double)kept->axis[2]);
  const double between = tl_ddot(tl_model_offset(model, in->position[a], in->position[b]), c);
  const double reach = (double)shape_a->radius * scale_a + (double)shape_b->radius * scale_b;
  const double enough = (double)margin * (1 + SURE) + SURE * reach;
  if (between - reach > enough)
    return true;
  if (!(between > enough))
    return false;
  const talus_dvec3 in_a = unrotate(in->rotation[a], c);
  const talus_dvec3 in_b = unrotate(in->rotation[b], tl_dscale(c, -1));
  const double top = scale_a * height(shape_a, in_a, &kept->vertex[0]);
  const double bottom = scale_b * height(shape_b, in_b, &kept->vertex[1]);
  return between - top - bottom > enough;
}
