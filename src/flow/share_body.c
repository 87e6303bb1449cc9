/* The part of a body that lies in a region: by formulas where there are some, else by samples. */
#include "flow/place.h"
#include "flow/share.h"
#include "kernels/collide.h"
#include "shape/shape.h"

/* most corners of a face: each plane that cuts it adds at most one */
#define CORNERS (TL_SHARE_PLANES + 12)

/* ---- boxes and hulls in a box ---------------------------------------------------------------- */

typedef struct polygon {
  talus_dvec3 at[CORNERS];
  size_t count;
} polygon;

typedef double plane[4]; /* n.x <= d, n of unit length */

/* A body and the faces of the region that cut it; relative to its centre of mass, in world axes. */
typedef struct solid {
  const tl_shape *shape;
  tl_frame frame;
  double scale, reach; /* radius of its bounding ball around the centre */
  plane face[TL_SHARE_PLANES], border[6];
  size_t faces, borders;
} solid;

static talus_dvec3 normal_of(const plane p) { return tl_dvec3(p[0], p[1], p[2]); }

/* Keeps the part of the polygon before the plane (Sutherland and Hodgman 1974). */
static void cut_off(polygon *face, const plane by) {
  talus_dvec3 kept[CORNERS];
  size_t n = 0;
  for (size_t i = 0; i < face->count; ++i) {
    const talus_dvec3 a = face->at[i], b = face->at[(i + 1) % face->count];
    const double da = tl_ddot(normal_of(by), a) - by[3], db = tl_ddot(normal_of(by), b) - by[3];
    if (da <= 0 && n < CORNERS)
      kept[n++] = a;
    if (((da < 0 && db > 0) || (da > 0 && db < 0)) && n < CORNERS)
      kept[n++] = tl_dadd(a, tl_dscale(tl_dsub(b, a), da / (da - db)));
  }
  memcpy(face->at, kept, n * sizeof *kept);
  face->count = n;
}

/* A large square in a plane, around the point nearest to the origin. */
static void spread_out(const plane p, talus_dvec3 u, talus_dvec3 v, polygon *face) {
  const talus_dvec3 middle = tl_dscale(normal_of(p), p[3]);
  face->at[0] = tl_dsub(tl_dsub(middle, u), v), face->at[1] = tl_dsub(tl_dadd(middle, u), v);
  face->at[2] = tl_dadd(tl_dadd(middle, u), v), face->at[3] = tl_dadd(tl_dsub(middle, u), v);
  face->count = 4;
}

static talus_dvec3 axis_of(int k, double length) {
  return tl_dvec3(k == 0 ? length : 0, k == 1 ? length : 0, k == 2 ? length : 0);
}

/* Face i of the body; false if it has too many corners. */
static bool take_face(const solid *s, size_t i, polygon *face) {
  const tl_shape *shape = s->shape;
  if (shape->kind == TALUS_BOX) {
    const int k = (int)i / 2, j = (k + 1) % 3, l = (k + 2) % 3;
    const double half = 0.5 * s->scale;
    spread_out(s->face[i], tl_frame_to_world(&s->frame, axis_of(j, half * shape->size[j])),
               tl_frame_to_world(&s->frame, axis_of(l, half * shape->size[l])), face);
    return true;
  }
  face->count = 0;
  for (uint32_t v = shape->face_start[i]; v < shape->face_start[i + 1]; ++v) {
    const double *p = shape->points + 3 * (size_t)shape->face_vertex[v];
    if (face->count + 8 > CORNERS)
      return false;
    face->at[face->count++] =
        tl_dscale(tl_frame_to_world(&s->frame, tl_dvec3(p[0], p[1], p[2])), s->scale);
  }
  return true;
}

/* Area of the polygon, positive for both orientations. */
static double area_of(const polygon *face) {
  talus_dvec3 sum = tl_dvec3(0, 0, 0);
  for (size_t i = 2; i < face->count; ++i)
    sum = tl_dadd(
        sum, tl_dcross(tl_dsub(face->at[i - 1], face->at[0]), tl_dsub(face->at[i], face->at[0])));
  return 0.5 * tl_dlength(sum);
}

static bool are_same(const plane a, const plane b, double reach) {
  return tl_ddot(normal_of(a), normal_of(b)) > 1 - 1e-14 && fabs(a[3] - b[3]) <= 1e-12 * reach;
}

/* Area of a face of the body inside the region. */
static double face_area(const solid *s, size_t i, polygon *face) {
  for (size_t k = 0; k < s->borders && face->count > 0; ++k)
    if (!are_same(s->face[i], s->border[k], s->reach))
      cut_off(face, s->border[k]);
  return area_of(face);
}

/* Area of a face of the region inside the body. If faces of both coincide, only the body's
 * counts. */
static double border_area(const solid *s, size_t i) {
  const int k = s->border[i][0] != 0 ? 0 : s->border[i][1] != 0 ? 1 : 2;
  polygon face;
  spread_out(s->border[i], axis_of((k + 1) % 3, 2 * s->reach), axis_of((k + 2) % 3, 2 * s->reach),
             &face);
  for (size_t j = 0; j < s->borders && face.count > 0; ++j)
    if (j != i)
      cut_off(&face, s->border[j]);
  for (size_t j = 0; j < s->faces && face.count > 0; ++j) {
    if (are_same(s->face[j], s->border[i], s->reach))
      return 0;
    cut_off(&face, s->face[j]);
  }
  return area_of(&face);
}

static bool find_faces(solid *s) {
  const tl_shape *shape = s->shape;
  s->faces = shape->kind == TALUS_BOX ? 6 : shape->face_count;
  for (size_t i = 0; i < s->faces && s->faces <= TL_SHARE_PLANES; ++i) {
    plane own = {0, 0, 0, 0};
    if (shape->kind == TALUS_BOX)
      own[i / 2] = i % 2 ? -1 : 1, own[3] = 0.5 * shape->size[i / 2];
    else
      memcpy(own, shape->face_plane + 4 * i, sizeof own);
    const talus_dvec3 n = tl_frame_to_world(&s->frame, normal_of(own));
    s->face[i][0] = n.x, s->face[i][1] = n.y, s->face[i][2] = n.z;
    s->face[i][3] = own[3] * s->scale;
  }
  return s->faces <= TL_SHARE_PLANES;
}

static void find_borders(solid *s, talus_box box) {
  const double lo[3] = {box.lo.x, box.lo.y, box.lo.z}, hi[3] = {box.hi.x, box.hi.y, box.hi.z};
  for (int i = 0; i < 6; ++i) {
    const int k = i / 2;
    const double d = i % 2 ? hi[k] : -lo[k];
    if (d >= s->reach) /* cuts off nothing */
      continue;
    const talus_dvec3 n = axis_of(k, i % 2 ? 1 : -1);
    double *border = s->border[s->borders++];
    border[0] = n.x, border[1] = n.y, border[2] = n.z, border[3] = d;
  }
}

/* Volume inside, as a third of distance times area summed over all its faces, divided by the whole
 * volume; negative if the hull has too many faces. */
static double share_of_flat(solid *s, talus_box box) {
  double sum = 0;
  if (!find_faces(s))
    return -1;
  find_borders(s, box);
  for (size_t i = 0; i < s->faces; ++i) {
    polygon face;
    if (!take_face(s, i, &face))
      return -1;
    sum += face_area(s, i, &face) * s->face[i][3] / 3;
  }
  for (size_t i = 0; i < s->borders; ++i)
    sum += border_area(s, i) * s->border[i][3] / 3;
  return fmin(fmax(sum / (s->shape->volume * s->scale * s->scale * s->scale), 0), 1);
}

/* ---- all bodies ------------------------------------------------------------------------------ */

static double share_of_samples(tl_samples *samples, const tl_model *model, uint32_t shape,
                               const talus_region *region, talus_dvec3 position,
                               talus_quat rotation, double scale) {
  const tl_frame frame = tl_frame_from_quat(rotation);
  size_t count, inside = 0;
  double stretch[3];
  const double *places = tl_samples_of(samples, model, shape, &count, stretch);
  for (size_t i = 0; i < count; ++i) {
    const double *p = places + 3 * i;
    const talus_dvec3 x = tl_frame_to_world(
        &frame, tl_dvec3(stretch[0] * p[0], stretch[1] * p[1], stretch[2] * p[2]));
    inside += tl_region_contains(region, tl_dadd(position, tl_dscale(x, scale)));
  }
  return count > 0 ? (double)inside / (double)count : 0;
}

double tl_share_body(tl_samples *samples, const tl_model *model, const talus_region *region,
                     uint32_t slot, talus_dvec3 position, talus_quat rotation) {
  const tl_shape *shape = tl_body_shape(model, slot);
  const double scale = (double)model->property.scale[slot], radius = (double)shape->radius * scale;
  const talus_region wide = tl_region_widen(model, region, 2 * radius);
  const talus_dvec3 x = tl_region_nearest(model, region, position);
  /* part of the bounding ball inside the region */
  const double round = tl_share_ball(&wide, x, radius);
  if (shape->kind == TALUS_SPHERE || round == 0 || round == 1)
    return round;
  if ((shape->kind == TALUS_BOX || shape->kind == TALUS_HULL) && region->kind == TALUS_REGION_BOX) {
    solid s = {.shape = shape,
               .frame = tl_frame_from_quat(rotation),
               .scale = scale,
               .reach = radius * 1.001};
    const double share =
        share_of_flat(&s, (talus_box){tl_dsub(wide.box.lo, x), tl_dsub(wide.box.hi, x)});
    if (share >= 0)
      return share;
  }
  return share_of_samples(samples, model, model->property.shape[slot], &wide, x, rotation, scale);
}
