/* Finds which bodies may meet within the interval.
 *
 * Each body gets a box that it leaves only if it becomes faster than at the begin of the interval.
 * Candidates are pairs of overlapping boxes, found once by the broad phase. A body that leaves its
 * box gets a larger one, and a tree of all boxes is searched for its new candidates. */
#include "step/local/local.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define LEAF 4 /* bodies */

bool tl_local_is_inside(talus_box box, talus_box of) {
  return box.lo.x >= of.lo.x && box.lo.y >= of.lo.y && box.lo.z >= of.lo.z && box.hi.x <= of.hi.x &&
         box.hi.y <= of.hi.y && box.hi.z <= of.hi.z;
}

static bool is_everywhere(const tl_model *model, uint32_t slot) {
  return (model->property.flags[slot] & TL_FLAG_KINEMATIC) || !tl_body_shape(model, slot)->bounded;
}

/* A box around all places that a body can reach at its present speeds before the end of the last
 * step that begins within the interval. */
static talus_box first_box(const tl_local *local, uint32_t slot) {
  const tl_crowd *crowd = local->crowd;
  const tl_model *model = crowd->model;
  const tl_local_body *body = &local->bodies.data[slot];
  const tl_shape *shape = tl_body_shape(model, slot);
  const double scale = (double)model->property.scale[slot], halo = (double)tl_halo_of(model, slot);
  if (!body->is_movable)
    return tl_box_grow(
        tl_shape_bounds(shape, scale, crowd->in->position[slot], crowd->in->rotation[slot]), halo);
  const talus_box box =
      tl_shape_bounds(shape, scale, body->current.position, body->current.rotation);
  const tl_path path = tl_local_guess(local, slot);
  const double longest = body->pace > 0 ? fmin(body->pace, local->unit) : local->unit,
               h = local->end - body->c + (local->holds ? 0 : longest);
  const double r = (double)shape->radius * scale, w = tl_dlength(path.spin);
  const double way =
      h * (tl_dlength(path.velocity) + h * tl_dlength(path.acceleration)) + fmin(h * w, 2) * r;
  const talus_box after = tl_box_grow(box, 1.25 * way + 2 * halo);
  return body->c > body->o
             ? tl_box_union(after, tl_local_box(model, slot, &body->law, body->c - body->o))
             : after;
}

static talus_status add_meeting(tl_local *local, uint32_t a, uint32_t b) {
  tl_local_body *x = &local->bodies.data[a], *y = &local->bodies.data[b];
  const uint32_t at = (uint32_t)local->meetings.count;
  const tl_meeting meeting = {.a = a,
                              .b = b,
                              .next_a = x->first,
                              .next_b = y->first,
                              .is_wall = !x->is_movable || !y->is_movable};
  TL_TRY(tl_array_push(&local->meetings, meeting));
  x->first = y->first = at;
  return TALUS_OK;
}

talus_status tl_local_find_near(tl_local *local) {
  const tl_crowd *crowd = local->crowd;
  const tl_model *model = crowd->model;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_crowd alone = *crowd;
  alone.broad_cache = NULL; /* it belongs to other boxes */
  talus_box *boxes;
  tl_pairs pairs = {0};
  TL_TAKE(crowd->arena, crowd->count, &boxes);
  local->meetings.count = local->everywhere.count = local->strayed.count = 0;
  local->has_tree = false;
  for (uint32_t i = 0; i < crowd->count; ++i) {
    tl_local_body *body = &local->bodies.data[i];
    body->first = TL_NONE;
    body->box = boxes[i] = first_box(local, i);
    if (!body->is_movable && is_everywhere(model, i))
      TL_TRY(tl_array_push(&local->everywhere, i));
  }
  const char *reason;
  const talus_broad_kind broad =
      model->broad == TALUS_BROAD_AUTO ? tl_broad_choose(&alone, boxes, &reason) : model->broad;
  TL_TRY(local->backend->find_pairs(broad, &alone, boxes, &pairs));
  if (crowd->joints)
    tl_joints_keep_apart(crowd->joints, &pairs);
  for (size_t i = 0; i < pairs.count; ++i) {
    const tl_pair pair = pairs.data[i];
    const bool a_moves = local->bodies.data[pair.a].is_movable,
               b_moves = local->bodies.data[pair.b].is_movable;
    if ((!a_moves && is_everywhere(model, pair.a)) || (!b_moves && is_everywhere(model, pair.b)))
      continue;
    TL_TRY(add_meeting(local, pair.a, pair.b));
  }
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Sets the box of a node with n bodies from `first` on. Node i has the children 2 i + 1 and
 * 2 i + 2. */
static void fill_node(tl_local *local, size_t node, size_t first, size_t n) {
  talus_box box = tl_box_empty();
  for (size_t i = 0; i < n; ++i)
    box = tl_box_union(box, local->bodies.data[local->order.data[first + i]].box);
  local->nodes.data[node].box = box;
}

static double centre(const talus_box *box, int axis) {
  return axis == 0   ? box->lo.x + box->hi.x
         : axis == 1 ? box->lo.y + box->hi.y
                     : box->lo.z + box->hi.z;
}

static int longest_axis(const talus_box *box) {
  const double x = box->hi.x - box->lo.x, y = box->hi.y - box->lo.y, z = box->hi.z - box->lo.z;
  return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

/* Reorders n bodies so that the k-th by centre along the axis is at k, smaller ones before it and
 * larger ones behind (Hoare's selection). */
static void select_middle(const tl_local *local, uint32_t *order, size_t n, size_t k, int axis) {
  size_t lo = 0, hi = n;
  while (hi - lo > 1) {
    const double pivot = centre(&local->bodies.data[order[lo + (hi - lo) / 2]].box, axis);
    size_t i = lo, j = hi - 1;
    for (;;) {
      while (centre(&local->bodies.data[order[i]].box, axis) < pivot)
        i++;
      while (centre(&local->bodies.data[order[j]].box, axis) > pivot)
        j--;
      if (i >= j)
        break;
      const uint32_t swap = order[i];
      order[i++] = order[j], order[j--] = swap;
    }
    const size_t cut = j + 1;
    if (k < cut && cut < hi)
      hi = cut;
    else if (k >= cut && cut > lo)
      lo = cut;
    else
      return; /* all the rest have the same centre */
  }
}

static void build(tl_local *local, size_t node, size_t first, size_t n) {
  fill_node(local, node, first, n);
  if (n <= LEAF)
    return;
  const talus_box box = local->nodes.data[node].box;
  select_middle(local, local->order.data + first, n, n / 2, longest_axis(&box));
  build(local, 2 * node + 1, first, n / 2);
  build(local, 2 * node + 2, first + n / 2, n - n / 2);
}

static talus_status make_tree(tl_local *local) {
  local->has_tree = true;
  local->order.count = 0;
  for (uint32_t i = 0; i < local->bodies.count; ++i)
    if (local->bodies.data[i].is_movable || !is_everywhere(local->crowd->model, i))
      TL_TRY(tl_array_push(&local->order, i));
  size_t nodes = 1;
  for (size_t n = local->order.count; n > LEAF; n = n - n / 2)
    nodes = 2 * nodes + 1;
  TL_TRY(tl_array_resize(&local->nodes, 2 * nodes + 1));
  build(local, 0, 0, local->order.count);
  return TALUS_OK;
}

/* ---- leaving a box --------------------------------------------------------------------------- */

static bool overlaps(const tl_model *model, talus_box a, talus_box b) {
  if (!model->domain.enabled)
    return tl_box_overlap(a, b);
  const talus_dvec3 ca = tl_dscale(tl_dadd(a.lo, a.hi), 0.5),
                    cb = tl_dscale(tl_dadd(b.lo, b.hi), 0.5);
  const talus_dvec3 shift = tl_dsub(tl_model_offset(model, ca, cb), tl_dsub(cb, ca));
  return tl_box_overlap(a, (talus_box){tl_dadd(b.lo, shift), tl_dadd(b.hi, shift)});
}

static bool has_met(const tl_local *local, uint32_t a, uint32_t b) {
  for (uint32_t i = local->bodies.data[a].first; i != TL_NONE;) {
    const tl_meeting *m = &local->meetings.data[i];
    if (tl_meeting_other(m, a) == b)
      return true;
    i = tl_meeting_next(m, a);
  }
  return false;
}

/* True if a joint between the two still acts, and they have no contacts because of it. */
static bool are_held(const tl_local *local, uint32_t a, uint32_t b) {
  size_t ends = 0;
  const tl_joint_end *end =
      local->joints.all.count > 0 ? tl_joints_at(&local->joints, a, &ends) : NULL;
  for (size_t i = 0; i < ends; ++i) {
    const tl_joint *joint = &local->joints.all.data[end[i].row];
    if (tl_joint_acts(joint) && !joint->collide && (joint->a == a ? joint->b : joint->a) == b)
      return true;
  }
  return false;
}

static talus_status meet(tl_local *local, uint32_t slot, uint32_t other, bool *has_walls) {
  const tl_model *model = local->crowd->model;
  tl_local_body *x = &local->bodies.data[slot], *y = &local->bodies.data[other];
  local->counts.visits++;
  if (slot == other || !overlaps(model, x->box, y->box) || !tl_broad_allows(model, slot, other) ||
      has_met(local, slot, other) || are_held(local, slot, other))
    return TALUS_OK;
  *has_walls |= !y->is_movable;
  return add_meeting(local, slot < other ? slot : other, slot < other ? other : slot);
}

talus_status tl_local_let_meet(tl_local *local, uint32_t a, uint32_t b) {
  const tl_model *model = local->crowd->model;
  bool has_walls = false; /* not needed: the next step of the other body has them */
  if (a == TL_NONE || b == TL_NONE)
    return TALUS_OK;
  const bool a_moves = local->bodies.data[a].is_movable, b_moves = local->bodies.data[b].is_movable;
  if ((!a_moves && is_everywhere(model, a)) || (!b_moves && is_everywhere(model, b)))
    return TALUS_OK;
  const size_t before = local->meetings.count;
  TL_TRY(meet(local, a, b, &has_walls));
  if (local->meetings.count > before)
    local->meetings.data[before].is_late = true;
  return TALUS_OK;
}

static talus_status search(tl_local *local, uint32_t slot, size_t node, size_t first, size_t n,
                           bool *has_walls) {
  local->counts.visits++;
  if (!tl_box_overlap(local->nodes.data[node].box, local->bodies.data[slot].box))
    return TALUS_OK;
  if (n <= LEAF) {
    for (size_t i = 0; i < n; ++i)
      TL_TRY(meet(local, slot, local->order.data[first + i], has_walls));
    return TALUS_OK;
  }
  TL_TRY(search(local, slot, 2 * node + 1, first, n / 2, has_walls));
  return search(local, slot, 2 * node + 2, first + n / 2, n - n / 2, has_walls);
}

talus_status tl_local_stray(tl_local *local, uint32_t slot, talus_box needed, bool *has_walls) {
  const tl_model *model = local->crowd->model;
  tl_local_body *body = &local->bodies.data[slot];
  if (!local->has_tree) /* of the present boxes; later ones contain them */
    TL_TRY(make_tree(local));
  const double spare = 0.5 * tl_box_extent(needed);
  body->box = tl_box_union(body->box, tl_box_grow(needed, spare));
  if (!body->has_strayed)
    TL_TRY(tl_array_push(&local->strayed, slot));
  body->has_strayed = true;
  if (model->domain.enabled) { /* periodic images: no tree */
    for (size_t i = 0; i < local->order.count; ++i)
      TL_TRY(meet(local, slot, local->order.data[i], has_walls));
    return TALUS_OK;
  }
  TL_TRY(search(local, slot, 0, 0, local->order.count, has_walls));
  for (size_t i = 0; i < local->strayed.count; ++i)
    TL_TRY(meet(local, slot, local->strayed.data[i], has_walls));
  return TALUS_OK;
}
