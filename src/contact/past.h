/* One body and one wall: whether the body's centre passed through the wall within a step, and how
 * far it may go before it can reach it; on the host and on a device.
 *
 * Who includes this says how shapes are asked: PAST_CLEARANCE(shape, place, most) and
 * PAST_CROSSED(shape, from, to), as in shape/shape.h. */
#ifndef TL_CONTACT_PAST_H
#define TL_CONTACT_PAST_H

#include <float.h>
#include <math.h>

#include "crowd/shape_row.h"
#include "kernels/collide.h"

/* What sums of many small ways, in float, may lose of a room in each step. */
#define TL_PAST_ROUNDING 1.25e-7F
/* A room is given less than was found, for the rounding of positions and radii. */
#define TL_PAST_SAFE 0.999
/* Shapes are searched up to this many bounding radii of a body, or ways of its step. */
#define TL_PAST_SEARCHED 8
/* Images of a wall on either side of the nearest one: no mesh is longer (TL_PARTS_PERIODS). */
#define TL_PAST_IMAGES 8

/* A wall at both ends of a step. */
typedef struct tl_passing_wall {
  uint32_t slot;
  const tl_shape *shape;
  double scale;
  double reach; /* m: bounding radius */
  double moved; /* m: way of its fastest place within the step, at most */
  talus_dvec3 before, after;
  tl_frame turned_before, turned_after;
} tl_passing_wall;

typedef struct tl_past {
  double period[3];  /* m: of the domain's axes; 0: not periodic */
  talus_dvec3 moved; /* from the begin of the step to its end */
  double way;        /* m: length of that */
  double searched;   /* m: rooms of meshes are not larger */
  double room;       /* m, so far */
  uint32_t through;  /* slot of a wall, or TL_NONE */
} tl_past;

/* Without its images, in both precisions: to - from by the nearest one. */
TL_FN talus_dvec3 tl_past_offset(const double period[3], talus_dvec3 from, talus_dvec3 to) {
  talus_dvec3 d = tl_dsub(to, from);
  if (period[0] > 0)
    d.x -= period[0] * floor(d.x / period[0] + 0.5);
  if (period[1] > 0)
    d.y -= period[1] * floor(d.y / period[1] + 0.5);
  if (period[2] > 0)
    d.z -= period[2] * floor(d.z / period[2] + 0.5);
  return d;
}

/* An upper bound of the angle between two rotations, rad: the chord of a quarter of it is half of
 * the distance of the quaternions, and no arc up to a quarter of a turn is 1.12 times its chord. */
TL_FN double tl_past_angle(talus_quat p, talus_quat q) {
  const double w = (double)(p.w - q.w), x = (double)(p.x - q.x), y = (double)(p.y - q.y),
               z = (double)(p.z - q.z);
  const double v = (double)(p.w + q.w), r = (double)(p.x + q.x), s = (double)(p.y + q.y),
               t = (double)(p.z + q.z);
  const double apart = w * w + x * x + y * y + z * z, opposite = v * v + r * r + s * s + t * t;
  return 2.3 * sqrt(fmin(apart, opposite));
}

/* A body that starts to walk by `moved`, whose bounding radius is `radius`; walls move by no more
 * than `drift`. */
TL_FN tl_past tl_past_begin(const double period[3], talus_dvec3 moved, double drift,
                            double radius) {
  tl_past w;
  for (int k = 0; k < 3; ++k)
    w.period[k] = period[k];
  w.moved = moved;
  w.way = tl_dlength(moved);
  w.searched = TL_PAST_SEARCHED * fmax(w.way + drift, radius);
  w.room = FLT_MAX;
  w.through = UINT32_MAX;
  return w;
}

/* Follows the body past one image of a wall; `to`: from the wall's centre at the end of the step.
 */
TL_FN void tl_past_image(tl_past *w, const tl_passing_wall *wall, talus_dvec3 to) {
  const double ways = w->way + wall->moved, apart = tl_dlength(to) - wall->reach;
  if (apart > fmax(ways, fmin(w->room, w->searched))) {
    w->room = fmin(w->room, apart);
    return;
  }
  const talus_dvec3 end = tl_dscale(tl_frame_to_local(&wall->turned_after, to), 1 / wall->scale);
  const double most = fmax(w->searched, ways);
  const double clear = wall->scale * PAST_CLEARANCE(wall->shape, end, most / wall->scale);
  w->room = fmin(w->room, clear);
  if (TL_PAST_SAFE * clear > ways || w->through != UINT32_MAX)
    return;
  const talus_dvec3 shift = tl_past_offset(w->period, wall->before, wall->after);
  const talus_dvec3 from = tl_dadd(tl_dsub(to, w->moved), shift);
  const talus_dvec3 begin =
      tl_dscale(tl_frame_to_local(&wall->turned_before, from), 1 / wall->scale);
  if (PAST_CROSSED(wall->shape, begin, end))
    w->through = wall->slot;
}

/* How far images of a wall beside the nearest one are looked for along an axis: the farthest that
 * can be as near as what is asked for, or 0. A wall of several periods reaches several of them. */
TL_FN int tl_past_images(tl_past *w, const tl_passing_wall *wall, double length, double to) {
  if (!(length > 0))
    return 0;
  for (int n = 0; n < TL_PAST_IMAGES; ++n) {
    const double apart = (n + 1) * length - fabs(to) - wall->reach;
    if (!(apart > fmax(w->way + wall->moved, fmin(w->room, w->searched))))
      continue;
    w->room = fmin(w->room, apart);
    return n;
  }
  return TL_PAST_IMAGES;
}

/* `to`: the body's centre at the end of the step. */
TL_FN void tl_past_wall(tl_past *w, const tl_passing_wall *wall, talus_dvec3 at) {
  const talus_dvec3 to = tl_past_offset(w->period, wall->after, at);
  const int x = tl_past_images(w, wall, w->period[0], to.x);
  const int y = tl_past_images(w, wall, w->period[1], to.y);
  const int z = tl_past_images(w, wall, w->period[2], to.z);
  for (int i = -x; i <= x; ++i)
    for (int j = -y; j <= y; ++j)
      for (int k = -z; k <= z; ++k)
        tl_past_image(w, wall,
                      tl_dadd(to, tl_dvec3(i * w->period[0], j * w->period[1], k * w->period[2])));
}

/* ---- by a contact ---------------------------------------------------------------------------- */

/* The plane through the surface of the wall where the two are nearest has all of a convex wall, or
 * of a side of a container, behind it: a centre that was and is in front of it has gone through
 * nothing. From the wall's centre: `point` of the contact, `offset` of the body; n: away from the
 * wall; `moved`: by the centre relative to the wall, within the step. */
TL_FN bool tl_past_stays_in_front(talus_dvec3 n, talus_dvec3 point, double gap, talus_dvec3 offset,
                                  talus_dvec3 moved) {
  const double above = tl_ddot(tl_dsub(offset, point), n) + 0.5 * gap;
  return above > 0 && above - tl_ddot(moved, n) > 0;
}

/* Whether a centre that ends at `offset` went through the wall. */
TL_FN bool tl_past_went_through(const tl_shape *wall, double scale, talus_quat rotation,
                                talus_dvec3 offset, talus_dvec3 moved) {
  const tl_frame frame = tl_frame_from_quat(rotation);
  const double shrink = 1 / scale;
  const talus_dvec3 from = tl_dscale(tl_frame_to_local(&frame, tl_dsub(offset, moved)), shrink);
  const talus_dvec3 to = tl_dscale(tl_frame_to_local(&frame, offset), shrink);
  return PAST_CROSSED(wall, from, to);
}

#endif
