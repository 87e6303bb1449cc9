/* Kernels: spheres and boxes against a container.
 *
 * A container is a tank of thin walls: up to six rectangles, the faces of a box of half edges
 * `half`; wall k is the side of bit k of `open` (TALUS_SIDE_...), which says that it is missing.
 * One rule for every body decides what it touches:
 *
 *  - Sides. Seen from a wall, a body is INSIDE until its centre is behind the wall by more than
 *    half its own half-thickness across the wall (half the radius of a sphere), and OUTSIDE from
 *    there on. Inside it is pushed back in, however deep it sank (that is, up to one and a half
 *    radii). Outside it touches the outer side of the wall. A limit further out would catch
 *    spheres that roll over the rim, whose centres are near one radius behind the wall when they
 *    pass its height, and drag them in.
 *  - Corners. Where two walls meet, each goes on behind the other for a body that is inside the
 *    other. So a body pressed into one wall still stands squarely on the next. A body that is
 *    outside one wall does not touch the next one beyond it.
 *  - Rims. Where the neighbouring side is open the wall ends. A sphere beyond touches the rim, the
 *    nearest place on the rectangle, so it can rest on it, roll over it and fall off; nothing
 *    invisible goes on above an open top, inside or outside.
 *
 * Limit: a box touches with its vertices alone, so it does not feel a rim, nor the outer edges
 * where two walls meet.
 *
 * The feature on the container is the number of the wall. */
#ifndef TL_KERNELS_COLLIDE_CONTAINER_H
#define TL_KERNELS_COLLIDE_CONTAINER_H

#include "kernels/collide_box.h"
#include "kernels/collide_sphere.h"

#define TL_CONTAINER_WALLS 6

/* A body as the walls see it. */
typedef struct tl_contained {
  double centre[3]; /* of the body, in the container's axes */
  double half[3];   /* edges of the container */
  double behind[3]; /* along each axis: how far behind a wall the centre still counts as inside */
  uint32_t open;
} tl_contained;

TL_FN tl_contained tl_contained_make(talus_dvec3 centre, talus_dvec3 half, uint32_t open,
                                     talus_dvec3 extent) {
  tl_contained c;
  c.centre[0] = centre.x, c.centre[1] = centre.y, c.centre[2] = centre.z;
  c.half[0] = half.x, c.half[1] = half.y, c.half[2] = half.z;
  c.behind[0] = 0.5 * extent.x, c.behind[1] = 0.5 * extent.y, c.behind[2] = 0.5 * extent.z;
  c.open = open;
  return c;
}

TL_FN bool tl_wall_is_open(const tl_contained *c, int wall) { return (c->open >> wall & 1u) != 0; }

/* Which of the two ends of its axis a wall stands at. */
TL_FN double tl_wall_side(int wall) { return wall & 1 ? 1.0 : -1.0; }

/* Distance of the centre from the plane of a wall, positive on the inner side. */
TL_FN double tl_wall_depth(const tl_contained *c, int wall) {
  return c->half[wall >> 1] - tl_wall_side(wall) * c->centre[wall >> 1];
}

TL_FN bool tl_wall_has_inside(const tl_contained *c, int wall) {
  return tl_wall_depth(c, wall) > -c->behind[wall >> 1];
}

/* The side of a wall that the body touches: its unit normal `away` from the wall (world axes; frame
 * of the container), and the distance s of the body's centre along it. */
TL_FN void tl_wall_touched_side(const tl_contained *c, const tl_frame *frame, int wall,
                                talus_dvec3 *away, double *s) {
  const bool inside = tl_wall_has_inside(c, wall);
  const double depth = tl_wall_depth(c, wall), side = tl_wall_side(wall);
  *away = tl_dscale(tl_frame_axis(frame, wall >> 1), inside ? -side : side);
  *s = inside ? depth : -depth;
}

/* The vector from the nearest place on a wall to the centre of a sphere, by the rule at the top.
 * Returns false where another wall stands between. *beyond: the nearest place is on a rim or an
 * outer edge, so that the vector is not at right angles to the wall. */
TL_FN bool tl_wall_to_centre(const tl_contained *c, int wall, double to_centre[3], bool *beyond) {
  const int axis = wall >> 1;
  to_centre[axis] = c->centre[axis] - tl_wall_side(wall) * c->half[axis];
  *beyond = false;
  for (int turn = 1; turn < 3; ++turn) {
    const int j = (axis + turn) % 3;
    const double excess = fabs(c->centre[j]) - c->half[j];
    const int neighbour = 2 * j + (c->centre[j] > 0);
    to_centre[j] = 0;
    if (!(excess > 0))
      continue;
    if (!tl_wall_is_open(c, neighbour)) {
      if (tl_wall_has_inside(c, neighbour))
        continue;
      /* The centre is outside the neighbour. If it is outside both, their common edge is nearest,
       * and belongs to the first wall. */
      if (tl_wall_has_inside(c, wall) || neighbour < wall)
        return false;
    }
    to_centre[j] = c->centre[j] > 0 ? excess : -excess;
    *beyond = true;
  }
  return true;
}

/* How far the centre of a sphere is above a wall that is there, and the unit vector from the wall
 * to it, in the container's axes. False where another wall stands between. */
TL_FN bool tl_wall_above(const tl_contained *c, int wall, double *distance, double v[3]) {
  bool beyond;
  if (!tl_wall_to_centre(c, wall, v, &beyond))
    return false;
  const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  if (beyond && square > DBL_MIN) {
    const double s = sqrt(square);
    v[0] /= s, v[1] /= s, v[2] /= s;
    *distance = s;
  } else {
    const bool inside = tl_wall_has_inside(c, wall);
    *distance = inside ? tl_wall_depth(c, wall) : -tl_wall_depth(c, wall);
    v[0] = v[1] = v[2] = 0;
    v[wall >> 1] = inside ? -tl_wall_side(wall) : tl_wall_side(wall);
  }
  return true;
}

/* `position` and `frame` of the container; the sphere's centre is the origin. At most one point per
 * wall, ascending. */
TL_FN int tl_collide_sphere_container(double radius, talus_dvec3 position, const tl_frame *frame,
                                      talus_dvec3 half, uint32_t open, double margin,
                                      tl_point out[TL_CONTAINER_WALLS]) {
  const tl_contained c = tl_contained_make(tl_frame_to_local(frame, tl_dscale(position, -1)), half,
                                           open, tl_dvec3(radius, radius, radius));
  /* Most spheres of a full container are far from every wall. */
  const double reach = radius + margin;
  if (fabs(c.centre[0]) < half.x - reach && fabs(c.centre[1]) < half.y - reach &&
      fabs(c.centre[2]) < half.z - reach)
    return 0;
  int count = 0;
  for (int wall = 0; wall < TL_CONTAINER_WALLS; ++wall) {
    double s, v[3];
    if (tl_wall_is_open(&c, wall) || !tl_wall_above(&c, wall, &s, v) || !(s - radius <= margin))
      continue;
    out[count++] = tl_sphere_point(radius, s, tl_frame_to_world(frame, tl_dvec3(v[0], v[1], v[2])),
                                   (uint32_t)wall);
  }
  return count;
}

/* Mask of the vertices of a box that lie over a wall and not past its end. vertex[k]: in the
 * container's axes, from the container's centre. */
TL_FN unsigned tl_wall_vertices(const tl_contained *c, int wall, double vertex[8][3]) {
  unsigned over = 0xffu;
  for (int k = 0; k < 8; ++k)
    for (int turn = 1; turn < 3; ++turn) {
      const int j = ((wall >> 1) + turn) % 3;
      if (!(fabs(vertex[k][j]) > c->half[j]))
        continue;
      const int neighbour = 2 * j + (vertex[k][j] > 0);
      if (tl_wall_is_open(c, neighbour) || !tl_wall_has_inside(c, neighbour))
        over &= ~(1u << k);
    }
  return over;
}

/* The box is the first body; `position` and `frame` are the container's. At most four points per
 * wall, ascending by wall, then vertex. */
TL_FN int tl_collide_box_container(const tl_frame *box_frame, talus_dvec3 box_half,
                                   talus_dvec3 position, const tl_frame *frame, talus_dvec3 half,
                                   uint32_t open, double margin,
                                   tl_point out[TL_CONTAINER_WALLS * TL_BOX_MAX_POINTS]) {
  const talus_dvec3 centre = tl_frame_to_local(frame, tl_dscale(position, -1));
  double vertex[8][3], extent[3] = {0, 0, 0};
  for (int k = 0; k < 8; ++k) {
    const talus_dvec3 arm =
        tl_frame_to_local(frame, tl_frame_to_world(box_frame, tl_box_vertex(box_half, k)));
    const double a[3] = {arm.x, arm.y, arm.z}, x[3] = {centre.x, centre.y, centre.z};
    for (int i = 0; i < 3; ++i) {
      vertex[k][i] = x[i] + a[i];
      extent[i] = fabs(a[i]) > extent[i] ? fabs(a[i]) : extent[i];
    }
  }
  const tl_contained c =
      tl_contained_make(centre, half, open, tl_dvec3(extent[0], extent[1], extent[2]));
  int count = 0;
  for (int wall = 0; wall < TL_CONTAINER_WALLS; ++wall) {
    if (tl_wall_is_open(&c, wall))
      continue;
    talus_dvec3 away;
    double s;
    tl_wall_touched_side(&c, frame, wall, &away, &s);
    count +=
        tl_collide_box_half_space(box_frame, box_half, away, s, tl_wall_vertices(&c, wall, vertex),
                                  margin, (uint32_t)wall, out + count);
  }
  return count;
}

#endif
