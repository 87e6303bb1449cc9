/* Points inside shapes: the sequence k (1/g, 1/g^2, 1/g^3) mod 1 with g^4 = g + 1 (Roberts 2018; a
 * Kronecker sequence in three dimensions), scaled to the bounding box of the shape; points outside
 * of the shape are omitted. The part of the points that a plane cuts off is then close to the part
 * of the volume. */
#include "base/power.h"
#include "flow/share.h"
#include "kernels/collide.h"
#include "shape/facets.h"
#include "shape/shape.h"

#define PLACES 1024
#define TRIES  32768 /* 1,024 of these are inside, except for very slender shapes */

static const double stride[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};

static double fraction(double x) { return x - floor(x); }

/* ---- inside or outside ----------------------------------------------------------------------- */

static double power(double x, double n) { return x > 0 ? tl_pow_d(x, n) : 0; }

/* x: in the shape's own frame. */
static bool is_in_simple(const tl_shape *shape, talus_dvec3 x) {
  const double *s = shape->size;
  const double flat = sqrt(x.x * x.x + x.y * x.y);
  switch (shape->kind) {
  case TALUS_BOX:
    return fabs(x.x) <= s[0] / 2 && fabs(x.y) <= s[1] / 2 && fabs(x.z) <= s[2] / 2;
  case TALUS_ELLIPSOID: {
    const double a = x.x / s[0], b = x.y / s[1], c = x.z / s[2];
    return a * a + b * b + c * c <= 1;
  }
  case TALUS_CAPSULE: {
    const double beyond = fmax(0, fabs(x.z) - s[1] / 2);
    return flat * flat + beyond * beyond <= s[0] * s[0];
  }
  case TALUS_CYLINDER:
    return flat <= s[0] && fabs(x.z) <= s[1] / 2;
  case TALUS_CONE:
    return fabs(x.z) <= s[1] / 2 && flat <= s[0] * (0.5 - x.z / s[1]);
  case TALUS_SUPERELLIPSOID:
    return power(power(fabs(x.x / s[0]), s[4]) + power(fabs(x.y / s[1]), s[4]), s[3] / s[4]) +
               power(fabs(x.z / s[2]), s[3]) <=
           1;
  default:
    return true;
  }
}

/* x: in the principal frame. */
static bool is_in(const tl_shape *shape, talus_dvec3 x) {
  if (shape->kind == TALUS_HULL) {
    for (size_t f = 0; f < shape->face_count; ++f) {
      const double *p = shape->face_plane + 4 * f;
      if (p[0] * x.x + p[1] * x.y + p[2] * x.z > p[3])
        return false;
    }
    return true;
  }
  if (shape->kind == TALUS_CLUMP) {
    for (size_t i = 0; i < shape->point_count; ++i) {
      const double *p = shape->points + 4 * i;
      const talus_dvec3 d = tl_dsub(x, tl_dvec3(p[0], p[1], p[2]));
      if (tl_ddot(d, d) <= p[3] * p[3])
        return true;
    }
    return false;
  }
  const tl_frame axes = tl_frame_from_quat(shape->axes);
  return is_in_simple(shape, tl_dadd(shape->centre, tl_frame_to_world(&axes, x)));
}

/* Twice the area of a, b, p, seen along z. */
static double turn(talus_dvec3 a, talus_dvec3 b, talus_dvec3 p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/* Whether the triangle is above the place, along z. */
static bool is_below(const talus_dvec3 v[3], talus_dvec3 p) {
  double w[3];
  int left = 0, right = 0;
  for (int k = 0; k < 3; ++k) {
    w[k] = turn(v[(k + 1) % 3], v[(k + 2) % 3], p);
    left += w[k] >= 0, right += w[k] < 0;
  }
  if (left != 3 && right != 3)
    return false;
  const double sum = w[0] + w[1] + w[2];
  return sum != 0 && (w[0] * v[0].z + w[1] * v[1].z + w[2] * v[2].z) / sum > p.z;
}

static void take_triangle(const tl_shape *shape, size_t t, talus_dvec3 v[3]) {
  for (int k = 0; k < 3; ++k) {
    const double *q = shape->points + 3 * (size_t)shape->face_vertex[3 * t + (size_t)k];
    v[k] = tl_dvec3(q[0], q[1], q[2]);
  }
}

/* A place is within a closed surface that is above it an odd number of times. Of a large mesh the
 * tree has the few triangles above. */
static bool is_in_mesh(const tl_shape *shape, talus_dvec3 p) {
  const tl_tree_box above = {{p.x, p.y, p.z}, {p.x, p.y, INFINITY}};
  tl_tree_walk walk = tl_tree_begin(&shape->facets->tree, false);
  uint32_t first, count;
  bool odd = false;
  while (tl_tree_next(&walk, &above, &first, &count))
    for (uint32_t t = first; t < first + count; ++t) {
      talus_dvec3 v[3];
      take_triangle(shape, t, v);
      odd ^= is_below(v, p);
    }
  return odd;
}

/* A shell: places on its triangles, as many on equal areas. */
static uint32_t sample_shell(const tl_shape *shape, double *places) {
  talus_dvec3 v[3];
  double area = 0, before = 0;
  uint32_t found = 0;
  for (size_t t = 0; t < shape->face_count; ++t) {
    take_triangle(shape, t, v);
    area += tl_dlength(tl_dcross(tl_dsub(v[1], v[0]), tl_dsub(v[2], v[0])));
  }
  for (size_t t = 0; t < shape->face_count; ++t) {
    take_triangle(shape, t, v);
    const talus_dvec3 u = tl_dsub(v[1], v[0]), w = tl_dsub(v[2], v[0]);
    before += tl_dlength(tl_dcross(u, w));
    for (; found < PLACES && (found + 0.5) * area <= before * PLACES; ++found) {
      double a = fraction(0.5 + found * stride[0]), b = fraction(0.5 + found * stride[1]);
      if (a + b > 1)
        a = 1 - a, b = 1 - b;
      const talus_dvec3 x = tl_dadd(v[0], tl_dadd(tl_dscale(u, a), tl_dscale(w, b)));
      places[3 * found] = x.x, places[3 * found + 1] = x.y, places[3 * found + 2] = x.z;
    }
  }
  return found;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Those that are stretched: of size 1 about the centre of mass. */
typedef struct unit {
  talus_shape_kind kind;
  double centre; /* of mass, along z in its own frame */
  talus_box box; /* about the centre of mass */
} unit;

enum { UNITS = 4 };
static const unit units[UNITS] = {
    {TALUS_ELLIPSOID, 0, {{-1, -1, -1}, {1, 1, 1}}},
    {TALUS_BOX, 0, {{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}}},
    {TALUS_CYLINDER, 0, {{-1, -1, -0.5}, {1, 1, 0.5}}},
    {TALUS_CONE, -0.25, {{-1, -1, -0.25}, {1, 1, 0.75}}},
};

/* UNITS: it is none. */
static uint32_t unit_of(talus_shape_kind kind) {
  uint32_t i = 0;
  while (i < UNITS && units[i].kind != kind)
    i++;
  return i;
}

/* of_unit: one of the units; NULL: the shape as it is. */
static uint32_t sample(const tl_shape *shape, const unit *of_unit, double *places) {
  const tl_shape plain = {.kind = shape->kind, .size = {1, 1, 1}};
  const talus_box box =
      of_unit ? of_unit->box
              : tl_shape_bounds(shape, 1, tl_dvec3(0, 0, 0), (talus_quat){TL_R(1), 0, 0, 0});
  const talus_dvec3 edge = tl_dsub(box.hi, box.lo);
  uint32_t found = 0;
  if (shape->kind == TALUS_MESH && shape->size[0] > 0)
    return sample_shell(shape, places);
  for (int k = 1; k <= TRIES && found < PLACES; ++k) {
    const talus_dvec3 x = tl_dvec3(box.lo.x + edge.x * fraction(0.5 + k * stride[0]),
                                   box.lo.y + edge.y * fraction(0.5 + k * stride[1]),
                                   box.lo.z + edge.z * fraction(0.5 + k * stride[2]));
    const bool is_within = of_unit ? is_in_simple(&plain, tl_dvec3(x.x, x.y, x.z + of_unit->centre))
                           : shape->kind == TALUS_MESH ? is_in_mesh(shape, x)
                                                       : is_in(shape, x);
    if (!is_within)
      continue;
    double *place = places + 3 * (size_t)found++;
    place[0] = x.x, place[1] = x.y, place[2] = x.z;
  }
  return found;
}

/* Whether its places are its own: it is no ball, no wall and none of the units. */
static bool has_own_row(talus_shape_kind kind) {
  return kind != TALUS_SPHERE && !tl_kind_is_wall(kind) && unit_of(kind) == UNITS;
}

talus_status tl_samples_reserve(tl_samples *samples, const tl_model *model) {
  const size_t known = samples->row.count, all = model->shapes.count;
  if (known >= all)
    return TALUS_OK;
  const size_t before = samples->count.count;
  size_t next = before > UNITS ? before : UNITS, rows = next;
  for (size_t i = known; i < all; ++i)
    rows += has_own_row(model->shapes.data[i].kind);
  /* No shape is known before there is room for its places: who finds no memory asks again. */
  TL_TRY(tl_array_reserve(&samples->row, all));
  TL_TRY(tl_array_resize(&samples->places, rows * PLACES * 3));
  TL_TRY(tl_array_resize(&samples->count, rows));
  for (size_t i = before; i < rows; ++i)
    samples->count.data[i] = TL_NONE;
  for (size_t i = known; i < all; ++i) {
    const talus_shape_kind kind = model->shapes.data[i].kind;
    const uint32_t of_unit = unit_of(kind);
    samples->row.data[samples->row.count++] = of_unit < UNITS     ? of_unit
                                              : has_own_row(kind) ? (uint32_t)next++
                                                                  : TL_NONE;
  }
  return TALUS_OK;
}

const double *tl_samples_of(tl_samples *samples, const tl_model *model, uint32_t shape,
                            size_t *count, double stretch[3]) {
  const tl_shape *of = &model->shapes.data[shape];
  const uint32_t row = samples->row.data[shape], of_unit = unit_of(of->kind);
  double *places = samples->places.data + 3 * PLACES * (size_t)row;
  const bool is_round = of->kind == TALUS_CYLINDER || of->kind == TALUS_CONE;
  TL_ASSERT(row < samples->count.count);
  if (samples->count.data[row] == TL_NONE)
    samples->count.data[row] = sample(of, of_unit < UNITS ? &units[of_unit] : NULL, places);
  *count = samples->count.data[row];
  for (int k = 0; k < 3; ++k)
    stretch[k] = of_unit == UNITS ? 1 : of->size[!is_round ? k : k == 2];
  return places;
}

void tl_samples_free(tl_samples *samples) {
  tl_array_free(&samples->places);
  tl_array_free(&samples->count);
  tl_array_free(&samples->row);
}
