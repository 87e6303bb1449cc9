#include "narrow/order.h"

#include "shape/shape.h"

void tl_order_write(const tl_pair *pair, talus_dvec3 origin, const tl_point *point,
                    tl_contact *contact) {
  contact->a = pair->a;
  contact->b = pair->b;
  contact->feature_a = point->feature_a;
  contact->feature_b = point->feature_b;
  contact->point = tl_dadd(origin, point->point);
  contact->normal = point->normal;
  contact->gap = point->gap;
  contact->impulse = tl_vec3(0, 0, 0);
}

static tl_posed pose(const tl_narrow_scope *scope, uint32_t slot, talus_dvec3 position) {
  const tl_model *model = scope->model;
  return (tl_posed){.shape = tl_body_shape(model, slot),
                    .scale = model->property.scale[slot],
                    .position = position,
                    .rotation = scope->crowd->in->rotation[slot],
                    .flat = model->narrow.tree == TALUS_TREE_FLAT,
                    .thesis = model->narrow.fusion == TALUS_FUSION_THESIS};
}

/* The body of the lower kind is first, but planes and containers are second: the points are then
 * near the origin, and a sphere on a far plane gets an arm without rounding errors. */
tl_ordered tl_order_pair(const tl_narrow_scope *scope, const tl_pair *pair) {
  const talus_dvec3 *position = scope->crowd->in->position;
  const talus_shape_kind kind_a = tl_body_shape(scope->model, pair->a)->kind;
  const talus_shape_kind kind_b = tl_body_shape(scope->model, pair->b)->kind;
  const talus_dvec3 direct = tl_dsub(position[pair->b], position[pair->a]);
  const bool endless = kind_a == TALUS_PLANE || kind_b == TALUS_PLANE; /* no nearest image */
  const talus_dvec3 to_b =
      endless ? direct : tl_model_offset(scope->model, position[pair->a], position[pair->b]);
  tl_ordered p = {.origin = position[pair->a],
                  .margin = scope->margins[pair->a] + scope->margins[pair->b],
                  .swapped = tl_narrow_swapped(kind_a, kind_b)};
  if (p.swapped) {
    p.first = pose(scope, pair->b, tl_dvec3(0, 0, 0));
    p.second = pose(scope, pair->a, tl_dscale(to_b, -1));
    /* The image of b next to a; exactly b itself if no boundary lies between. */
    p.origin = tl_dadd(position[pair->b], tl_dsub(to_b, direct));
  } else {
    p.first = pose(scope, pair->a, tl_dvec3(0, 0, 0));
    p.second = pose(scope, pair->b, to_b);
  }
  return p;
}

/* ---- by features ----------------------------------------------------------------------------- */

static bool is_before(const tl_contact *a, const tl_contact *b) {
  return a->feature_a != b->feature_a ? a->feature_a < b->feature_a : a->feature_b < b->feature_b;
}

/* Sifts row `at` down in the heap of the first `count`. */
static void sink(tl_contact *heap, size_t at, size_t count) {
  const tl_contact moved = heap[at];
  for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    child += child + 1 < count && is_before(&heap[child], &heap[child + 1]);
    if (!is_before(&moved, &heap[child]))
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

/* Most contacts are found in order. A heap sort needs no memory and never quadratic time. */
void tl_order_sort(tl_contact *contacts, size_t count) {
  size_t sorted = count > 0;
  while (sorted < count && !is_before(&contacts[sorted], &contacts[sorted - 1]))
    ++sorted;
  if (sorted == count)
    return;
  for (size_t i = count / 2; i-- > 0;)
    sink(contacts, i, count);
  for (size_t end = count; end-- > 1;) {
    const tl_contact most = contacts[0];
    contacts[0] = contacts[end];
    contacts[end] = most;
    sink(contacts, 0, end);
  }
}
