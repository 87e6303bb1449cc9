#include "kernels/collide_box_box.h"
#include "kernels/collide_convex.h"
#include "narrow/clump.h"
#include "narrow/ellipsoid.h"
#include "narrow/revolved.h"
#include "narrow/mesh.h"
#include "narrow/mesh_points.h"

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

tl_convex tl_posed_convex(const tl_posed *p) {
  const tl_shape *shape = p->shape;
  const double *size = shape->size, scale = (double)p->scale;
  tl_convex c = {.core = TL_CORE_POINT,
                 .reach = (double)shape->radius * scale,
                 .position = p->position,
                 .frame = tl_frame_from_quat(p->rotation),
                 .scale = scale};
  for (int i = 0; i < 3; ++i)
    c.size[i] = size[i] * scale;
  switch (shape->kind) {
  case TALUS_BOX:
    c.core = TL_CORE_BOX;
    for (int i = 0; i < 3; ++i)
      c.size[i] *= 0.5;
    break;
  case TALUS_ELLIPSOID:
    c.core = TL_CORE_ELLIPSOID;
    break;
  case TALUS_CAPSULE:
    c.core = TL_CORE_SEGMENT;
    c.rounding = c.size[0], c.size[0] = 0.5 * c.size[1];
    break;
  case TALUS_CYLINDER:
    c.core = TL_CORE_CYLINDER, c.size[1] *= 0.5;
    break;
  case TALUS_CONE:
    c.core = TL_CORE_CONE;
    break;
  case TALUS_SUPERELLIPSOID:
    c.core = TL_CORE_SUPERELLIPSOID;
    c.size[3] = size[3], c.size[4] = size[4];
    break;
  case TALUS_HULL:
    c.core = TL_CORE_HULL;
    c.points = shape->points, c.point_count = shape->point_count;
    c.face_plane = shape->face_plane, c.face_start = shape->face_start;
    c.face_vertex = shape->face_vertex;
    c.vertex_start = shape->vertex_start, c.neighbour = shape->neighbour;
    c.vertex_face = shape->vertex_face;
    break;
  default:
    c.rounding = c.size[0];
    break; /* sphere */
  }
  /* The bounding radius is narrowed in the single build; one too small would lose contacts. */
  c.reach *= 1 + 4 * (double)TL_REAL_EPS;
  return c;
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

static tl_box posed_box(const tl_posed *p) {
  const talus_dvec3 half = half_edges(p);
  return (tl_box){p->position, tl_frame_from_quat(p->rotation), {half.x, half.y, half.z}};
}

int tl_narrow_convex(const tl_posed *a, const tl_posed *b, const talus_dvec3 *guess,
                     talus_real margin, tl_point *out) {
  const tl_convex body_a = tl_posed_convex(a), body_b = tl_posed_convex(b);
  return tl_collide_convex(&body_a, &body_b, guess, (double)margin, out);
}

static int convex_convex(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  return tl_narrow_convex(a, b, NULL, margin, out);
}

static int box_box(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_box box_a = posed_box(a), box_b = posed_box(b);
  bool exact;
  const int count = tl_collide_box_box(&box_a, &box_b, (double)margin, out, &exact);
  return exact ? count : convex_convex(a, b, margin, out);
}

static int convex_plane(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  double distance;
  const talus_dvec3 n = plane_normal(b, &distance);
  const tl_convex body = tl_posed_convex(a);
  return tl_collide_convex_half_space(&body, n, distance, (double)margin, NULL, 0, out);
}

static int convex_container(const tl_posed *a, const tl_posed *b, talus_real margin,
                            tl_point *out) {
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  const tl_convex body = tl_posed_convex(a);
  const int count = tl_collide_convex_container(&body, b->position, &frame, half_edges(b),
                                                b->shape->open, (double)margin, out);
  tl_sort_by_features(out, count);
  return count;
}

static int box_container(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_frame frame_a = tl_frame_from_quat(a->rotation);
  const tl_frame frame_b = tl_frame_from_quat(b->rotation);
  const int count = tl_collide_box_container(&frame_a, half_edges(a), b->position, &frame_b,
                                             half_edges(b), b->shape->open, (double)margin, out);
  tl_sort_by_features(out, count);
  return count;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* The lower kind is the row, but planes, containers and revolved walls are always the column. They
 * never meet each other, because none is ever free. A clump is its spheres (narrow/clump.h). */
/* clang-format off */
tl_narrow_fn *const tl_narrow_table[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS] = {
    [TALUS_SPHERE] = {
        [TALUS_SPHERE] = sphere_sphere, [TALUS_BOX] = sphere_box,
        [TALUS_ELLIPSOID] = tl_narrow_ellipsoids, [TALUS_CAPSULE] = convex_convex,
        [TALUS_CYLINDER] = convex_convex, [TALUS_CONE] = convex_convex,
        [TALUS_SUPERELLIPSOID] = convex_convex, [TALUS_HULL] = convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_sphere,
        [TALUS_PLANE] = sphere_plane, [TALUS_CONTAINER] = sphere_container,
        [TALUS_REVOLVED] = tl_revolved_sphere},
    [TALUS_BOX] = {
        [TALUS_BOX] = box_box,
        [TALUS_ELLIPSOID] = convex_convex, [TALUS_CAPSULE] = convex_convex,
        [TALUS_CYLINDER] = convex_convex, [TALUS_CONE] = convex_convex,
        [TALUS_SUPERELLIPSOID] = convex_convex, [TALUS_HULL] = convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = box_plane, [TALUS_CONTAINER] = box_container,
        [TALUS_REVOLVED] = tl_revolved_box},
    [TALUS_ELLIPSOID] = {
        [TALUS_ELLIPSOID] = tl_narrow_ellipsoids,
        [TALUS_CAPSULE] = convex_convex, [TALUS_CYLINDER] = convex_convex,
        [TALUS_CONE] = convex_convex, [TALUS_SUPERELLIPSOID] = convex_convex,
        [TALUS_HULL] = convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = convex_plane, [TALUS_CONTAINER] = convex_container},
    [TALUS_CAPSULE] = {
        [TALUS_CAPSULE] = convex_convex, [TALUS_CYLINDER] = convex_convex,
        [TALUS_CONE] = convex_convex, [TALUS_SUPERELLIPSOID] = convex_convex,
        [TALUS_HULL] = convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = convex_plane, [TALUS_CONTAINER] = convex_container,
        [TALUS_REVOLVED] = tl_revolved_capsule},
    [TALUS_CYLINDER] = {
        [TALUS_CYLINDER] = convex_convex,
        [TALUS_CONE] = convex_convex, [TALUS_SUPERELLIPSOID] = convex_convex,
        [TALUS_HULL] = convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = convex_plane, [TALUS_CONTAINER] = convex_container},
    [TALUS_CONE] = {
        [TALUS_CONE] = convex_convex, [TALUS_SUPERELLIPSOID] = convex_convex,
        [TALUS_HULL] = convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = convex_plane, [TALUS_CONTAINER] = convex_container},
    [TALUS_SUPERELLIPSOID] = {
        [TALUS_SUPERELLIPSOID] = convex_convex, [TALUS_HULL] = convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = convex_plane, [TALUS_CONTAINER] = convex_container},
    [TALUS_HULL] = {
        [TALUS_HULL] = convex_convex,
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_mesh_convex,
        [TALUS_PLANE] = convex_plane, [TALUS_CONTAINER] = convex_container,
        [TALUS_REVOLVED] = tl_revolved_hull},
    [TALUS_CLUMP] = {
        [TALUS_CLUMP] = tl_clump_pair, [TALUS_MESH] = tl_clump_pair,
        [TALUS_PLANE] = tl_clump_pair, [TALUS_CONTAINER] = tl_clump_pair,
        [TALUS_REVOLVED] = tl_clump_pair},
    [TALUS_MESH] = {
        [TALUS_MESH] = tl_mesh_mesh,
        [TALUS_PLANE] = tl_mesh_plane, [TALUS_CONTAINER] = tl_mesh_container},
};
/* clang-format on */
_Static_assert(TL_NARROW_MAX_POINTS >= TL_CONTAINER_WALLS * TL_BOX_MAX_POINTS &&
                   TL_NARROW_MAX_POINTS >= TL_MESH_MOST && TL_MESH_MOST >= TL_NEAR_MOST &&
                   TL_BOX_MAX_POINTS == TL_MANIFOLD_MAX,
               "every vertex on every wall must fit");
_Static_assert(TL_REVOLVED_MAX <= TL_NARROW_MAX_POINTS, "all of a revolved wall must fit");

bool tl_narrow_swapped(talus_shape_kind a, talus_shape_kind b) {
  const bool wall_a = tl_kind_is_wall(a), wall_b = tl_kind_is_wall(b);
  return wall_a != wall_b ? wall_a : a > b;
}

bool tl_narrow_takes_guess(talus_shape_kind a, talus_shape_kind b) {
  const bool swapped = tl_narrow_swapped(a, b);
  return tl_narrow_table[swapped ? b : a][swapped ? a : b] == convex_convex;
}

bool tl_narrow_uses_guesses(const tl_model *model) {
  bool present[TALUS_SHAPE_KINDS] = {false};
  for (size_t i = 0; i < model->shapes.count; ++i)
    present[model->shapes.data[i].kind] = true;
  for (int a = 0; a < TALUS_SHAPE_KINDS; ++a)
    for (int b = a; b < TALUS_SHAPE_KINDS; ++b)
      if (present[a] && present[b] &&
          tl_narrow_takes_guess((talus_shape_kind)a, (talus_shape_kind)b))
        return true;
  return false;
}

/* Round bodies touch a convex body, and a wall, in one point. */
static bool is_smooth(talus_shape_kind kind) {
  return kind == TALUS_SPHERE || kind == TALUS_ELLIPSOID;
}

int tl_narrow_capacity(talus_shape_kind a, talus_shape_kind b) {
  const bool swapped = tl_narrow_swapped(a, b);
  const talus_shape_kind first = swapped ? b : a, second = swapped ? a : b;
  if (!tl_narrow_table[first][second])
    return 0;
  if (first == TALUS_CLUMP || second == TALUS_CLUMP) /* of each of its spheres */
    return second == TALUS_CONTAINER  ? TL_CONTAINER_WALLS
           : second == TALUS_REVOLVED ? TL_REVOLVED_MAX
           : second == TALUS_MESH     ? TL_NEAR_MOST
                                      : 1;
  if (second == TALUS_REVOLVED)
    return TL_REVOLVED_MAX;
  if (first == TALUS_MESH || second == TALUS_MESH)
    return TL_NARROW_MAX_POINTS;
  const int each = is_smooth(a) || is_smooth(b) ? 1 : TL_MANIFOLD_MAX;
  return second == TALUS_CONTAINER ? each * TL_CONTAINER_WALLS : each;
}

void tl_narrow_swap(tl_point *points, int count) {
  for (int i = 0; i < count; ++i) {
    const uint32_t feature = points[i].feature_a;
    points[i].feature_a = points[i].feature_b;
    points[i].feature_b = feature;
    points[i].normal = tl_neg(points[i].normal);
  }
  tl_sort_by_features(points, count);
}

int tl_narrow_pair(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const talus_shape_kind kind_a = a->shape->kind, kind_b = b->shape->kind;
  if (!tl_narrow_swapped(kind_a, kind_b)) {
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

bool tl_narrow_touches(const tl_posed *a, const tl_posed *b) {
  const talus_shape_kind kind_a = a->shape->kind, kind_b = b->shape->kind;
  if ((kind_a == TALUS_REVOLVED && tl_revolved_holds(a, tl_dsub(b->position, a->position))) ||
      (kind_b == TALUS_REVOLVED && tl_revolved_holds(b, tl_dsub(a->position, b->position))))
    return true;
  if (tl_has_clump(kind_a, kind_b)) {
    const bool swapped = tl_narrow_swapped(kind_a, kind_b);
    return tl_clump_meets(swapped ? b : a, swapped ? a : b, 0) || tl_narrow_buried(a, b) > 0;
  }
  tl_point points[TL_NARROW_MAX_POINTS];
  return tl_narrow_pair(a, b, 0, points) > 0 || tl_narrow_buried(a, b) > 0 ||
         tl_narrow_crosses(a, b);
}
