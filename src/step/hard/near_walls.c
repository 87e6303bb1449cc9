/* Lower bounds of the distances between balls and walls. */
#include "shape/shape.h"
#include "step/hard/near.h"

#include <math.h>

void tl_near_sides(const tl_crowd *crowd, const tl_near *near, tl_near_side *sides) {
  const tl_model *model = crowd->model;
  for (size_t i = 0; i < near->walls.count; ++i) {
    const uint32_t slot = near->walls.data[i].slot;
    const tl_shape *shape = tl_body_shape(model, slot);
    const double scale = (double)model->property.scale[slot];
    tl_near_side *side = &sides[i];
    *side = (tl_near_side){.slot = slot, .kind = shape->kind};
    side->position = crowd->in->position[slot];
    side->frame = tl_frame_from_quat(crowd->in->rotation[slot]);
    for (int k = 0; k < 3; ++k)
      side->half[k] = 0.5 * scale * shape->size[k];
    if (shape->kind == TALUS_PLANE) {
      const talus_dvec3 normal = {shape->size[0], shape->size[1], shape->size[2]};
      side->normal = tl_frame_to_world(&side->frame, normal);
      side->normal = tl_dscale(side->normal, 1 / tl_dlength(side->normal));
      side->position = tl_dadd(side->position, tl_dscale(side->normal, shape->size[3] * scale));
    } else if (shape->kind == TALUS_REVOLVED) {
      side->turned = tl_shape_revolved(shape, scale);
    } else if (shape->kind != TALUS_CONTAINER) {
      side->box =
          tl_shape_bounds(shape, scale, crowd->in->position[slot], crowd->in->rotation[slot]);
    }
  }
}

/* Distance to the nearest side from inside; negative for a centre outside. */
static double from_container(const tl_near_side *side, talus_dvec3 x) {
  const talus_dvec3 d = tl_frame_to_local(&side->frame, tl_dsub(x, side->position));
  return fmin(side->half[0] - fabs(d.x),
              fmin(side->half[1] - fabs(d.y), side->half[2] - fabs(d.z)));
}

static double from_revolved(const tl_near_side *side, talus_dvec3 x) {
  const talus_dvec3 d = tl_frame_to_local(&side->frame, tl_dsub(x, side->position));
  const tl_meridian c = tl_meridian_of(sqrt(d.x * d.x + d.y * d.y), d.z);
  double least = HUGE_VAL;
  for (uint32_t k = 0; k + 1 < side->turned.count; ++k) {
    const tl_meridian p = tl_revolved_point(&side->turned, k);
    const tl_meridian q = tl_revolved_point(&side->turned, k + 1);
    const double ur = q.r - p.r, uz = q.z - p.z, dr = c.r - p.r, dz = c.z - p.z;
    const double share = fmin(1, fmax(0, (dr * ur + dz * uz) / (ur * ur + uz * uz)));
    const double er = dr - share * ur, ez = dz - share * uz;
    least = fmin(least, er * er + ez * ez);
  }
  return sqrt(least);
}

static double from_box(const talus_box *box, talus_dvec3 x) {
  const talus_dvec3 d = {fmax(0, fmax(box->lo.x - x.x, x.x - box->hi.x)),
                         fmax(0, fmax(box->lo.y - x.y, x.y - box->hi.y)),
                         fmax(0, fmax(box->lo.z - x.z, x.z - box->hi.z))};
  return tl_dlength(d);
}

double tl_near_gap(const tl_near_side *side, talus_dvec3 x, double radius) {
  if (side->kind == TALUS_PLANE)
    return tl_ddot(tl_dsub(x, side->position), side->normal) - radius;
  if (side->kind == TALUS_CONTAINER)
    return from_container(side, x) - radius;
  if (side->kind == TALUS_REVOLVED)
    return from_revolved(side, x) - radius;
  return from_box(&side->box, x) - radius;
}

double tl_near_tolerance(const tl_near_side *side, talus_dvec3 x, double radius) {
  return 1e-6 * radius +
         64 * (double)TL_REAL_EPS * (tl_dlength(tl_dsub(x, side->position)) + tl_dlength(x));
}
