/* Obstacles: bodies near the new bodies of one emitter, in grids. One pass over all bodies finds
 * those near its region, and each trial tests its neighbours only. In a small world each trial
 * tests all bodies, without preparation; the results are the same. */
#include "flow/place.h"

static double body_radius(const tl_model *model, uint32_t slot) {
  return (double)model->property.scale[slot] * (double)tl_body_shape(model, slot)->radius;
}

/* True if the bounding sphere of a body reaches a new one of radius `reach` in the bounds. */
static bool is_near(const tl_model *model, const tl_state *state, talus_box bounds, double reach,
                    uint32_t slot) {
  const talus_dvec3 middle = tl_dscale(tl_dadd(bounds.lo, bounds.hi), 0.5);
  const talus_dvec3 half = tl_dscale(tl_dsub(bounds.hi, bounds.lo), 0.5);
  const talus_dvec3 d = tl_model_offset(model, middle, state->position[slot]);
  const double r = (body_radius(model, slot) + reach) * (1 + TL_PLACE_SLACK);
  return fabs(d.x) <= half.x + r && fabs(d.y) <= half.y + r && fabs(d.z) <= half.z + r;
}

talus_status tl_obstacles_find(tl_obstacles *o, const tl_model *model, const tl_state *state,
                               const talus_region *from, double largest, double usual, size_t n) {
  const talus_box bounds = tl_region_bounds(from);
  double top = largest;
  o->unbounded.count = o->near.count = 0;
  for (uint32_t slot = 0; slot < model->bodies; ++slot) {
    if (!tl_body_shape(model, slot)->bounded) {
      TL_TRY(tl_array_push(&o->unbounded, slot));
    } else if (is_near(model, state, bounds, largest, slot)) {
      top = fmax(top, body_radius(model, slot));
      TL_TRY(tl_array_push(&o->near, slot));
    }
  }
  TL_TRY(tl_grid_start(&o->old, model, bounds.lo, top, o->near.count));
  o->old.is_exact = true;
  for (size_t i = 0; i < o->near.count; ++i)
    tl_grid_add(&o->old, state->position[o->near.data[i]], body_radius(model, o->near.data[i]),
                usual, o->near.data[i]);
  TL_TRY(tl_grid_start(&o->fresh, model, bounds.lo, largest, n));
  o->usual = usual;
  return TALUS_OK;
}

void tl_obstacles_add(tl_obstacles *o, const tl_trial *trial, uint32_t row) {
  tl_grid_add(&o->fresh, trial->centre, trial->radius, o->usual, row);
}

bool tl_obstacles_block(tl_obstacles *o, const tl_model *model, const tl_state *state,
                        const tl_new_bodies *fresh, const tl_trial *trial) {
  o->fresh.fresh = fresh;
  if (tl_grid_blocks(&o->fresh, state, trial) || tl_grid_blocks(&o->old, state, trial))
    return true;
  for (size_t i = 0; i < o->unbounded.count; ++i)
    if (tl_trial_hits_body(model, state, trial, o->unbounded.data[i]))
      return true;
  return false;
}

void tl_obstacles_free(tl_obstacles *o) {
  tl_grid_free(&o->old);
  tl_grid_free(&o->fresh);
  tl_array_free(&o->unbounded);
  tl_array_free(&o->near);
}
