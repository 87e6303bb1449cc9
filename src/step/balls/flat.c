/* Flat walls in the list of balls: what a ball rests on is its own mirror image.
 *
 * The mirror stands behind the side that it belongs to, as large as the ball, without mass that
 * could move and without curvature. Then the overlap, the normal and the arm of the ball are those
 * of the wall, and lanes need not know the difference. Where a ball sank so deep that the mirror
 * would be in the same place, the mirror is larger. All this depends on the place of the ball
 * alone, not on the list. */
#include "kernels/collide_container.h"
#include "step/balls/forces.h"

bool tl_ball_is_flat(const tl_model *model, uint32_t ball, uint32_t wall) {
  const talus_shape_kind kind = tl_body_shape(model, wall)->kind;
  return kind == TALUS_PLANE ||
         (kind == TALUS_CONTAINER && !(tl_model_law(model, ball, wall)->cohesion > 0));
}

tl_flat_body tl_flat_body_make(const tl_model *model, const tl_state *state, uint32_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  const double scale = (double)model->property.scale[slot], *size = shape->size;
  tl_flat_body flat_body = {.is_plane = shape->kind == TALUS_PLANE,
                            .slot = slot,
                            .open = shape->open,
                            .frame = tl_frame_from_quat(state->rotation[slot]),
                            .position = state->position[slot]};
  if (flat_body.is_plane) {
    flat_body.normal = tl_frame_to_world(&flat_body.frame, tl_dvec3(size[0], size[1], size[2]));
    flat_body.offset = size[3] * scale;
  } else {
    flat_body.half = tl_dscale(tl_dvec3(size[0], size[1], size[2]), 0.5 * scale);
  }
  return flat_body;
}

uint32_t tl_ball_sides(const tl_flat_body *flat_body) {
  return flat_body->is_plane ? 1 : TL_CONTAINER_WALLS;
}

/* The distance from a side is never less than that from its plane. */
bool tl_ball_may_touch(const tl_flat_body *flat_body, uint32_t side, double r, talus_dvec3 x,
                       double way) {
  const talus_dvec3 to = tl_dsub(x, flat_body->position);
  if (flat_body->is_plane)
    return tl_ddot(flat_body->normal, to) - flat_body->offset <= r + way;
  const tl_contained c = tl_contained_make(tl_frame_to_local(&flat_body->frame, to),
                                           flat_body->half, flat_body->open, tl_dvec3(r, r, r));
  return !tl_wall_is_open(&c, (int)side) && fabs(tl_wall_depth(&c, (int)side)) <= r + way;
}

bool tl_ball_above_side(const tl_flat_body *flat_body, uint32_t side, double r, talus_dvec3 x,
                        double *distance, talus_dvec3 *away) {
  const talus_dvec3 to = tl_dsub(x, flat_body->position);
  if (flat_body->is_plane) {
    *away = flat_body->normal;
    *distance = tl_ddot(flat_body->normal, to) - flat_body->offset;
    return true;
  }
  const tl_contained c = tl_contained_make(tl_frame_to_local(&flat_body->frame, to),
                                           flat_body->half, flat_body->open, tl_dvec3(r, r, r));
  double v[3];
  if (tl_wall_is_open(&c, (int)side) || !tl_wall_above(&c, (int)side, distance, v))
    return false;
  *away = tl_frame_to_world(&flat_body->frame, tl_dvec3(v[0], v[1], v[2]));
  return true;
}

/* Whether a ball that touches a side was on the other side of it before the step. */
static bool has_crossed(const tl_ball_list *list, const tl_ball_wall *wall, talus_dvec3 x) {
  const tl_flat_body *flat_body = &list->flat_bodies.data[wall->flat_body];
  const tl_ball_rows *rows = &list->rows.data[wall->ball / TL_BALL_LANES];
  const size_t lane = wall->ball % TL_BALL_LANES;
  if (flat_body->is_plane)
    return false;
  const talus_dvec3 before = {rows->x[0][lane], rows->x[1][lane], rows->x[2][lane]};
  const talus_dvec3 none = {0, 0, 0};
  const tl_contained from =
      tl_contained_make(tl_frame_to_local(&flat_body->frame, tl_dsub(before, flat_body->position)),
                        flat_body->half, flat_body->open, none);
  const tl_contained to =
      tl_contained_make(tl_frame_to_local(&flat_body->frame, tl_dsub(x, flat_body->position)),
                        flat_body->half, flat_body->open, none);
  return (tl_wall_depth(&from, (int)wall->side) > 0) != (tl_wall_depth(&to, (int)wall->side) > 0);
}

void tl_ball_mirror_block(tl_ball_list *list, size_t block, tl_ball_sums *sums) {
  for (size_t k = list->block_flats.data[block]; k < list->block_flats.data[block + 1]; ++k) {
    const tl_ball_wall *wall = &list->flats.data[k];
    const tl_ball_place *of = &list->place.data[wall->ball];
    const talus_dvec3 x = tl_dvec3(of->x, of->y, of->z);
    const double r = of->radius;
    double s;
    talus_dvec3 away;
    if (!tl_ball_above_side(&list->flat_bodies.data[wall->flat_body], wall->side, r, x, &s, &away))
      s = 4 * r, away = tl_dvec3(0, 0, 1);
    else if (s < r && has_crossed(list, wall, x))
      sums->has_crossed = true;
    const double mirror = s < -0.5 * r ? r - 2 * s : r;
    const talus_dvec3 at = tl_dsub(x, tl_dscale(away, s + mirror));
    list->place.data[list->count + k] = (tl_ball_place){at.x, at.y, at.z, mirror};
    list->ball.data[list->count + k].radius = (talus_real)mirror;
  }
}
