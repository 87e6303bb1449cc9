#include "kernels/collide_container.h"
#include "narrow/ellipsoid.h"
#include "narrow/narrow.h"

/* ---- lengths of a posed shape, m ------------------------------------------------------------ */

static double sphere_radius(const tl_posed *p) { return p->shape->size[0] * (double)p->scale; }

static talus_dvec3 half_edges(const tl_posed *p) {
  const double half = 0.5 * (double)p->scale;
  return tl_dvec3(half * p->shape->size[0], half * p->shape->size[1], half * p->shape->size[2]);
}

/* Normal of a plane in the world, and the signed distance of the first body's centre from it. */
static talus_dvec3 plane_normal(const tl_posed *p, double *distance) {
  const double *size = p->shape->size;
  const tl_frame frame = tl_frame_from_quat(p->rotation);
  const talus_dvec3 n = tl_frame_to_world(&frame, tl_dvec3(size[0], size[1], size[2]));
  *distance = -tl_ddot(n, p->position) - size[3] * (double)p->scale;
  return n;
}

/* ---- pairs of kinds: shapes to numbers, the rest is in kernels/ ----------------------------- */

static int sphere_sphere(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  return tl_collide_sphere_sphere(sphere_radius(a), sphere_radius(b), b->position, (double)margin,
                                  out);
}

static int sphere_box(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  return tl_collide_sphere_box(sphere_radius(a), b->position, &frame, half_edges(b), (double)margin,
                               out);
}

static int sphere_plane(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  double distance;
  const talus_dvec3 n = plane_normal(b, &distance);
  return tl_collide_sphere_half_space(sphere_radius(a), n, distance, (double)margin, out);
}

static int sphere_container(const tl_posed *a, const tl_posed *b, talus_real margin,
                            tl_point *out) {
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  return tl_collide_sphere_container(sphere_radius(a), b->position, &frame, half_edges(b),
                                     b->shape->open, (double)margin, out);
}

static int box_plane(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  double distance;
  const talus_dvec3 n = plane_normal(b, &distance);
  const tl_frame frame = tl_frame_from_quat(a->rotation);
  return tl_collide_box_half_space(&frame, half_edges(a), n, distance, 0xffu, (double)margin, 0,
                                   out);
}

static void sort_by_features(tl_point *points, int count) {
  for (int i = 1; i < count; ++i) {
    const tl_point p = points[i];
    int j = i;
    for (; j > 0 &&
           (points[j - 1].feature_a > p.feature_a ||
            (points[j - 1].feature_a == p.feature_a && points[j - 1].feature_b > p.feature_b));
         --j)
      points[j] = points[j - 1];
    points[j] = p;
  }
}

static int box_container(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_frame frame_a = tl_frame_from_quat(a->rotation);
  const tl_frame frame_b = tl_frame_from_quat(b->rotation);
  const int count = tl_collide_box_container(&frame_a, half_edges(a), b->position, &frame_b,
                                             half_edges(b), b->shape->open, (double)margin, out);
  sort_by_features(out, count);
  return count;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Planes and containers never meet each other, because neither is ever free. */
/* clang-format off */
tl_narrow_fn *const tl_narrow_table[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS] = {
    /*                   sphere         box         plane         container        */
    [TALUS_SPHERE]    = {sphere_sphere, sphere_box, sphere_plane, sphere_container},
    [TALUS_BOX]       = {NULL,          NULL,       box_plane,    box_container   },
    [TALUS_PLANE]     = {NULL,          NULL,       NULL,         NULL            },
    [TALUS_CONTAINER] = {NULL,          NULL,       NULL,         NULL            },
    [TALUS_ELLIPSOID] = {[TALUS_ELLIPSOID] = tl_narrow_ellipsoids},
};

/* The most points each can have; 0 where there is no entry. */
static const int capacity[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS] = {
    /*                   sphere box plane              container           */
    [TALUS_SPHERE]    = {1,     1,  1,                 TL_CONTAINER_WALLS  },
    [TALUS_BOX]       = {0,     0,  TL_BOX_MAX_POINTS, TL_NARROW_MAX_POINTS},
    [TALUS_PLANE]     = {0,     0,  0,                 0                   },
    [TALUS_CONTAINER] = {0,     0,  0,                 0                   },
    [TALUS_ELLIPSOID] = {[TALUS_ELLIPSOID] = 1},
};
/* clang-format on */
_Static_assert(TL_NARROW_MAX_POINTS == TL_CONTAINER_WALLS * TL_BOX_MAX_POINTS,
               "every vertex on every wall must fit");

int tl_narrow_capacity(talus_shape_kind a, talus_shape_kind b) {
  return a <= b ? capacity[a][b] : capacity[b][a];
}

void tl_narrow_swap(tl_point *points, int count) {
  for (int i = 0; i < count; ++i) {
    const uint32_t feature = points[i].feature_a;
    points[i].feature_a = points[i].feature_b;
    points[i].feature_b = feature;
    points[i].normal = tl_neg(points[i].normal);
  }
  sort_by_features(points, count);
}

int tl_narrow_pair(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const talus_shape_kind kind_a = a->shape->kind, kind_b = b->shape->kind;
  if (kind_a <= kind_b) {
    tl_narrow_fn *const find = tl_narrow_table[kind_a][kind_b];
    return find ? find(a, b, margin, out) : -1;
  }
  tl_narrow_fn *const find = tl_narrow_table[kind_b][kind_a];
  if (!find)
    return -1;
  tl_posed first = *b, second = *a;
  first.position = tl_dvec3(0, 0, 0);
  second.position = tl_dscale(b->position, -1);
  const int count = find(&first, &second, margin, out);
  for (int i = 0; i < count; ++i)
    out[i].point = tl_dadd(out[i].point, b->position);
  tl_narrow_swap(out, count);
  return count;
}
