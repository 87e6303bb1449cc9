/* From the caller's arrays to a model, a state and boxes. */
#include "detect/detect.h"

#include <math.h>

#include "base/hash.h"
#include "kernels/collide.h"
#include "shape/shape.h"

#define GRAIN ((size_t)4096) /* rows for which a thread is woken */

/* Bound of the narrow phase's rounding errors, in roundings of the largest number involved. */
#define ROUNDINGS 8

/* ---- one row ------------------------------------------------------------------------------- */

static talus_dvec3 position_of(const talus_detect_bodies *bodies, size_t row) {
  const size_t stride = bodies->position_stride ? bodies->position_stride : 3;
  const double *x = bodies->position + row * stride;
  return tl_dvec3(x[0], x[1], x[2]);
}

/* A sphere is the unit sphere, scaled by its radius. */
static double scale_of(const talus_detect_bodies *bodies, size_t row) {
  if (!bodies->shapes)
    return bodies->radius[row * (bodies->radius_stride ? bodies->radius_stride : 1)];
  return bodies->scale ? bodies->scale[row] : 1;
}

static double rotation_length(const talus_detect_bodies *bodies, size_t row) {
  const double *q = bodies->rotation + 4 * row;
  return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

static talus_quat rotation_of(const talus_detect_bodies *bodies, size_t row) {
  if (!bodies->shapes || !bodies->rotation)
    return tl_quat_identity();
  const double *q = bodies->rotation + 4 * row, length = rotation_length(bodies, row);
  return tl_quat(TL_R(q[0] / length), TL_R(q[1] / length), TL_R(q[2] / length),
                 TL_R(q[3] / length));
}

static uint32_t shape_of(const talus_detect_bodies *bodies, size_t row) {
  return bodies->shapes ? bodies->shape[row] : 0;
}

/* Centre of mass and principal frame: the pose as stages use it. */
static talus_dvec3 pose_of(const tl_shape *shape, const talus_detect_bodies *bodies, size_t row,
                           talus_quat *rotation) {
  *rotation = tl_quat_identity();
  if (shape->kind == TALUS_SPHERE)
    return position_of(bodies, row);
  const talus_quat own = rotation_of(bodies, row);
  const talus_dvec3 centre = tl_dscale(shape->centre, scale_of(bodies, row));
  const tl_frame frame = tl_frame_from_quat(own);
  *rotation = tl_quat_mul(own, shape->axes);
  return tl_dadd(position_of(bodies, row), tl_frame_to_world(&frame, centre));
}

/* ---- checks -------------------------------------------------------------------------------- */

static bool is_place(talus_dvec3 x) {
  return tl_is_finite_d(x.x) && tl_is_finite_d(x.y) && tl_is_finite_d(x.z);
}

static bool is_length(double x) { return tl_is_finite_d(x) && x >= 0; }

static bool is_bad(void *context, size_t row) {
  const talus_detect_bodies *bodies = context;
  if (!is_place(position_of(bodies, row)) || !is_length(scale_of(bodies, row)))
    return true;
  if (!bodies->shapes)
    return false;
  if (bodies->shape[row] >= bodies->shape_count)
    return true;
  const double length = bodies->rotation ? rotation_length(bodies, row) : 1;
  return !(tl_is_finite_d(length) && length > 0);
}

static talus_status refuse_row(const talus_detect_bodies *bodies, size_t row) {
  const talus_dvec3 x = position_of(bodies, row);
  if (!is_place(x))
    return tl_fail(TALUS_ERROR_INVALID,
                   "row %zu: its position (%g, %g, %g) is not three finite numbers", row, x.x, x.y,
                   x.z);
  const double scale = scale_of(bodies, row);
  if (!is_length(scale))
    return tl_fail(TALUS_ERROR_INVALID, "row %zu: its %s is %g; it must be finite and 0 or more",
                   row, bodies->shapes ? "scale" : "radius", scale);
  if (bodies->shape[row] >= bodies->shape_count)
    return tl_fail(TALUS_ERROR_INVALID, "row %zu: its shape is %u, but there are %zu shapes", row,
                   (unsigned)bodies->shape[row], bodies->shape_count);
  const double *q = bodies->rotation + 4 * row;
  return tl_fail(TALUS_ERROR_INVALID, "row %zu: its rotation (%g %g %g %g) is not a quaternion",
                 row, q[0], q[1], q[2], q[3]);
}

static talus_status check_arrays(const talus_detector *detector,
                                 const talus_detect_bodies *bodies) {
  if (bodies->count >= TL_DETECT_MOST_ROWS)
    return tl_fail(TALUS_ERROR_INVALID, "%zu rows are more than 2^31 - 1", bodies->count);
  if (bodies->count == 0)
    return TALUS_OK;
  if (!bodies->position)
    return tl_fail(TALUS_ERROR_INVALID, "bodies.position is NULL");
  if (bodies->position_stride != 0 && bodies->position_stride < 3)
    return tl_fail(TALUS_ERROR_INVALID, "bodies.position_stride is %zu; a row has three numbers",
                   bodies->position_stride);
  if (!bodies->shapes && !bodies->radius)
    return tl_fail(TALUS_ERROR_INVALID, "bodies.radius is NULL and so is bodies.shapes");
  if (bodies->shapes && !bodies->shape)
    return tl_fail(TALUS_ERROR_INVALID,
                   "bodies.shape is NULL: say for each row which of bodies.shapes it is");
  talus_detect_bodies copy = *bodies;
  const size_t bad = tl_find_first(&detector->model.par, bodies->count, is_bad, &copy);
  return bad == SIZE_MAX ? TALUS_OK : refuse_row(bodies, bad);
}

/* Contacts do not need the mass of a clump: with any given mass the integral is saved. */
talus_shape_def tl_detect_massless(const talus_shape_def *def) {
  talus_shape_def made = *def;
  if (def->kind == TALUS_CLUMP && !(def->volume > 0)) {
    made.volume = 1;
    made.inertia[0] = made.inertia[1] = made.inertia[2] = 1;
  }
  return made;
}

/* ---- tables -------------------------------------------------------------------------------- */

static size_t numbers_of_point(talus_shape_kind kind) {
  return kind == TALUS_CLUMP                        ? 4
         : kind == TALUS_REVOLVED                   ? 2
         : kind == TALUS_HULL || kind == TALUS_MESH ? 3
                                                    : 0;
}

/* Everything that a shape is made of, its name apart. */
static uint64_t hash_shape(const talus_shape_def *def, uint64_t seed) {
  const double numbers[] = {def->size[0],    def->size[1],    def->size[2],    def->size[3],
                            def->size[4],    def->thickness,  def->rounding,   def->volume,
                            def->centre.x,   def->centre.y,   def->centre.z,   def->inertia[0],
                            def->inertia[1], def->inertia[2], def->inertia[3], def->inertia[4],
                            def->inertia[5]};
  const uint64_t counts[] = {(uint64_t)def->kind, def->open, (uint64_t)def->sides,
                             def->points ? def->point_count * numbers_of_point(def->kind) : 0,
                             def->kind == TALUS_MESH && def->triangles ? def->triangle_count : 0};
  uint64_t hash = tl_xxh64(numbers, sizeof numbers, seed);
  hash = tl_xxh64(counts, sizeof counts, hash);
  if (counts[3] > 0)
    hash = tl_xxh64(def->points, counts[3] * sizeof(double), hash);
  return counts[4] > 0 ? tl_xxh64(def->triangles, 3 * counts[4] * sizeof(uint32_t), hash) : hash;
}

static bool is_same_print(const tl_detect_print *a, const tl_detect_print *b) {
  return a->half[0] == b->half[0] && a->half[1] == b->half[1];
}

/* Those from row n on. */
static void drop_shapes(talus_detector *detector, size_t n) {
  tl_model *model = &detector->model;
  while (model->shapes.count > n)
    tl_shape_release(&model->shapes.data[--model->shapes.count]);
}

/* A row whose shape is the same as in the last call keeps it; rows after the first that is not are
 * made anew. */
static talus_status make_shapes(talus_detector *detector, const talus_detect_bodies *bodies) {
  static const talus_shape_def unit_sphere = {.kind = TALUS_SPHERE, .size = {1}};
  const size_t n = bodies->shapes ? bodies->shape_count : 1;
  tl_model *model = &detector->model;
  drop_shapes(detector, n);
  TL_TRY(tl_array_reserve(&model->shapes, n));
  TL_TRY(tl_array_reserve(&detector->prints, n));
  for (size_t i = 0; i < n; ++i) {
    const talus_shape_def def =
        tl_detect_massless(bodies->shapes ? &bodies->shapes[i] : &unit_sphere);
    const tl_detect_print print = {{hash_shape(&def, 0), hash_shape(&def, 1)}};
    if (i >= model->shapes.count || !is_same_print(&print, &detector->prints.data[i])) {
      drop_shapes(detector, i);
      const talus_status status = tl_shape_make(&def, &model->shapes.data[i]);
      if (status != TALUS_OK)
        return tl_fail_in(status, "shape %zu", i);
      detector->prints.data[i] = print;
      model->shapes.count++;
    }
    if (model->narrow.tree == TALUS_TREE_SURROGATE)
      TL_TRY(tl_shape_need_surrogate(&model->shapes.data[i]));
  }
  return TALUS_OK;
}

typedef struct load_work {
  const talus_detector *detector;
  const talus_detect_bodies *bodies;
  tl_properties to;
  tl_state state;
} load_work;

static void load_rows(void *context, size_t begin, size_t end) {
  const load_work *work = context;
  const talus_detect_bodies *bodies = work->bodies;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t row = shape_of(bodies, i);
    const tl_shape *shape = &work->detector->model.shapes.data[row];
    const bool fixed = !(shape->volume > 0) || (bodies->fixed && bodies->fixed[i]);
    work->to.flags[i] = fixed ? TL_FLAG_FIXED : 0;
    work->to.shape[i] = row;
    if (work->to.uid)
      work->to.uid[i] = i;
    if (!work->to.scale)
      continue;
    talus_quat rotation;
    work->to.scale[i] = TL_R(scale_of(bodies, i));
    work->state.position[i] = pose_of(shape, bodies, i, &rotation);
    if (work->state.rotation)
      work->state.rotation[i] = rotation;
  }
}

talus_status tl_detect_load(talus_detector *detector, const talus_detect_bodies *bodies,
                            bool poses) {
  tl_arena *arena = &detector->arena;
  const size_t n = bodies->count;
  TL_TRY(check_arrays(detector, bodies));
  TL_TRY(make_shapes(detector, bodies));
  load_work work = {.detector = detector, .bodies = bodies};
  TL_TAKE(arena, n, &work.to.flags);
  TL_TAKE(arena, n, &work.to.shape);
  if (poses) {
    TL_TAKE(arena, n, &work.to.scale);
    TL_TAKE(arena, n, &work.state.position);
  }
  if (poses && bodies->shapes) { /* spheres need neither, and there may be very many */
    TL_TAKE(arena, n, &work.state.rotation);
    TL_TAKE(arena, n, &work.to.uid);
  }
  tl_for(&detector->model.par, n, GRAIN, load_rows, &work);
  detector->model.property = work.to;
  detector->model.bodies = n;
  detector->state = work.state;
  return TALUS_OK;
}

/* ---- boxes --------------------------------------------------------------------------------- */

talus_box tl_detect_box(const talus_detector *detector, const talus_detect_bodies *bodies,
                        size_t row) {
  const tl_shape *shape = &detector->model.shapes.data[shape_of(bodies, row)];
  talus_quat rotation;
  const talus_dvec3 position = pose_of(shape, bodies, row, &rotation);
  return tl_box_grow(tl_shape_bounds(shape, scale_of(bodies, row), position, rotation),
                     0.5 * detector->def.margin);
}

typedef struct box_work {
  const talus_detector *detector;
  const talus_detect_bodies *bodies;
  bool room;
  talus_box *boxes;
} box_work;

static double largest_of(const talus_box *box) {
  const double x = fmax(fabs(box->lo.x), fabs(box->hi.x));
  const double y = fmax(fabs(box->lo.y), fabs(box->hi.y));
  return fmax(fmax(x, y), fmax(fabs(box->lo.z), fabs(box->hi.z)));
}

static void find_boxes(void *context, size_t begin, size_t end) {
  const box_work *work = context;
  for (size_t i = begin; i < end; ++i) {
    talus_box box = tl_detect_box(work->detector, work->bodies, i);
    if (work->room && tl_box_is_finite(box))
      box = tl_box_grow(box, ROUNDINGS * (DBL_EPSILON * largest_of(&box) +
                                          (double)TL_REAL_EPS * tl_box_extent(box)));
    work->boxes[i] = box;
  }
}

static bool is_beyond(void *context, size_t row) {
  const box_work *work = context;
  const tl_shape *shape = &work->detector->model.shapes.data[shape_of(work->bodies, row)];
  return shape->bounded && !tl_box_is_finite(work->boxes[row]);
}

talus_status tl_detect_find_boxes(const talus_detector *detector, const talus_detect_bodies *bodies,
                                  bool room, talus_box *boxes) {
  box_work work = {detector, bodies, room, boxes};
  tl_for(&detector->model.par, bodies->count, GRAIN, find_boxes, &work);
  const size_t bad = tl_find_first(&detector->model.par, bodies->count, is_beyond, &work);
  if (bad == SIZE_MAX)
    return TALUS_OK;
  return tl_fail(
      TALUS_ERROR_INVALID,
      "row %zu: its box reaches beyond the largest number there is; it is too far out or "
      "too large",
      bad);
}

/* ---- periods ------------------------------------------------------------------------------- */

typedef struct period_work {
  const talus_detector *detector;
  const talus_box *boxes;
} period_work;

/* The axis along which the row is too long, or -1. A fixed body that spans the whole period is
 * allowed. */
static int long_axis(const period_work *work, size_t row) {
  const talus_domain_def *domain = &work->detector->model.domain;
  const talus_dvec3 period = tl_dsub(domain->box.hi, domain->box.lo);
  const talus_dvec3 size = tl_dsub(work->boxes[row].hi, work->boxes[row].lo);
  const double periods[3] = {period.x, period.y, period.z}, sizes[3] = {size.x, size.y, size.z};
  const bool fixed = tl_body_is_static(&work->detector->model, row);
  for (int k = 0; k < 3; ++k)
    if (domain->enabled && domain->periodic[k] &&
        sizes[k] > 0.5 * periods[k] * (1 + ROUNDINGS * (double)TL_REAL_EPS) &&
        !(fixed && sizes[k] >= periods[k]))
      return k;
  return -1;
}

static bool is_long(void *context, size_t row) {
  return long_axis((const period_work *)context, row) >= 0;
}

talus_status tl_detect_check_period(const talus_detector *detector, const talus_box *boxes) {
  period_work work = {detector, boxes};
  if (!detector->model.domain.enabled)
    return TALUS_OK;
  const size_t bad = tl_find_first(&detector->model.par, detector->model.bodies, is_long, &work);
  if (bad == SIZE_MAX)
    return TALUS_OK;
  return tl_fail(TALUS_ERROR_INVALID,
                 "row %zu: with the margin it is longer than half the period along %c, so that it "
                 "may touch two images of a body; make the domain larger",
                 bad, "xyz"[long_axis(&work, bad)]);
}
