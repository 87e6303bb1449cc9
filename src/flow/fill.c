/* Fill: random places for many bodies at once, without overlap. */
#include "base/power.h"
#include "flow/fill.h"

#include "base/sort.h"
#include "kernels/morton.h"

#include <inttypes.h>

#define DENSEST      0.74 /* part of space that equal spheres can fill (Kepler) */
#define RANDOM_LIMIT 0.34 /* part that bounding spheres reach at random places */

/* ---- sizes ----------------------------------------------------------------------------------- */

static talus_status check_def(const tl_model *model, const talus_fill_def *def, bool spans[3]) {
  TL_TRY(tl_trial_check(model, &def->body, "fill"));
  if (def->body.name)
    return tl_fail(TALUS_ERROR_INVALID, "fill: the bodies of a fill cannot share the name '%s'",
                   def->body.name);
  TL_TRY(tl_region_check(&def->in, "fill"));
  TL_TRY(tl_size_check(&def->size, "fill"));
  if (!(tl_region_volume(&def->in) > 0) || !tl_is_finite_d(tl_region_volume(&def->in)))
    return tl_fail(TALUS_ERROR_INVALID, "fill: the region has no volume (%g m3)",
                   tl_region_volume(&def->in));
  if (def->count == 0 && !(def->fraction > 0 && def->fraction < DENSEST))
    return tl_fail(TALUS_ERROR_INVALID,
                   "fill: the fraction is %g; give a count, or a fraction between 0 and %g",
                   def->fraction, DENSEST);
  return tl_region_check_domain(model, &def->in, "fill", spans);
}

static talus_status does_not_fit(const tl_fill *fill, uint64_t n, double bodies, double region) {
  if (n == fill->def->count)
    return tl_fail(TALUS_ERROR_INVALID,
                   "fill: %" PRIu64 " bodies have a volume of %.4g m3; the region has %.4g m3, of "
                   "which at most %g can be filled; give fewer bodies or a larger region",
                   n, bodies, region, DENSEST);
  return tl_fail(TALUS_ERROR_INVALID,
                 "fill: the first %" PRIu64 " of %" PRIu64 " bodies have a volume of %.4g m3; the "
                 "region has %.4g m3, of which at most %g can be filled; give fewer bodies or a "
                 "larger region",
                 n, fill->def->count, bodies, region, DENSEST);
}

static talus_status not_even_one(const tl_fill *fill, double unit, double region) {
  const talus_fill_def *def = fill->def;
  const double scale = tl_size_draw(&def->size, def->seed, TL_STREAM_FILL_SIZE, 0);
  const double body = unit * scale * scale * scale;
  if (def->count > 0)
    return tl_fail(TALUS_ERROR_INVALID,
                   "fill: not one body fits: it has %.4g m3, the region %.4g m3", body, region);
  return tl_fail(TALUS_ERROR_INVALID,
                 "fill: the fraction %g of the region is %.4g m3, less than half a body (%.4g m3)",
                 def->fraction, def->fraction * region, body);
}

/* Draws sizes until the count or the fraction is reached. With allow_fewer, a count beyond the
 * volume is reduced to a full region; that number then counts as wanted. */
static talus_status draw_sizes(tl_fill *fill) {
  const talus_fill_def *def = fill->def;
  const double unit = fill->model->shapes.data[def->body.shape.index].volume;
  const double region = tl_region_volume(&def->in);
  const uint64_t most = UINT64_C(0xfffffffe) - fill->model->bodies;
  double total = 0;
  if (def->count > 0 && def->size.kind == TALUS_SIZE_ONE && !def->allow_fewer) {
    total = (double)def->count * unit;
    if (total > DENSEST * region)
      return does_not_fit(fill, def->count, total, region);
    TL_TRY(tl_array_reserve(&fill->scales, (size_t)def->count));
    total = 0;
  }
  for (uint64_t serial = 0; def->count == 0 || serial < def->count; ++serial) {
    const double scale = tl_size_draw(&def->size, def->seed, TL_STREAM_FILL_SIZE, serial);
    const double volume = unit * scale * scale * scale;
    /* The last body of a fraction is the one that brings the total nearest to it. */
    if (def->count == 0 && total + 0.5 * volume > def->fraction * region)
      break;
    total += volume;
    if (total > DENSEST * region) {
      if (def->allow_fewer)
        break;
      return does_not_fit(fill, serial + 1, total, region);
    }
    if (serial >= most)
      return tl_fail(TALUS_ERROR_INVALID, "fill: more than %" PRIu64 " bodies", most);
    TL_TRY(tl_array_push(&fill->scales, scale));
  }
  return fill->scales.count > 0 ? TALUS_OK : not_even_one(fill, unit, region);
}

/* Sorts the largest first: small bodies find room between large ones, not vice versa. Positive
 * doubles are ordered like their bits. */
static talus_status sort_sizes(tl_fill *fill) {
  const size_t n = fill->scales.count;
  TL_TRY(tl_array_resize(&fill->order, n));
  for (size_t i = 0; i < n; ++i)
    fill->order.data[i] = (uint32_t)i;
  if (fill->def->size.kind == TALUS_SIZE_ONE)
    return TALUS_OK;
  uint64_t *keys;
  const tl_arena_mark mark = tl_arena_get_mark(&fill->arena);
  TL_TAKE(&fill->arena, n, &keys);
  for (size_t i = 0; i < n; ++i) {
    memcpy(&keys[i], &fill->scales.data[i], sizeof *keys);
    keys[i] = ~keys[i];
  }
  TL_TRY(tl_sort_u64(&fill->model->par, &fill->arena, keys, fill->order.data, n, 64));
  tl_arena_release(&fill->arena, mark);
  return TALUS_OK;
}

/* ---- obstacles ------------------------------------------------------------------------------- */

static double body_radius(const tl_model *model, uint32_t slot) {
  return (double)model->property.scale[slot] * (double)tl_body_shape(model, slot)->radius;
}

/* True if the bounding sphere of a body overlaps the bounds of the region. */
static bool is_near(const tl_fill *fill, talus_box bounds, uint32_t slot) {
  const talus_dvec3 middle = tl_dscale(tl_dadd(bounds.lo, bounds.hi), 0.5);
  const talus_dvec3 half = tl_dscale(tl_dsub(bounds.hi, bounds.lo), 0.5);
  const talus_dvec3 d = tl_model_offset(fill->model, middle, fill->state->position[slot]);
  const double r = body_radius(fill->model, slot) * (1 + TL_PLACE_SLACK);
  return fabs(d.x) <= half.x + r && fabs(d.y) <= half.y + r && fabs(d.z) <= half.z + r;
}

static talus_status find_obstacles(tl_fill *fill, double largest) {
  const tl_model *model = fill->model;
  const talus_box bounds = tl_region_bounds(&fill->def->in);
  double top = largest;
  for (uint32_t slot = 0; slot < model->bodies; ++slot) {
    if (!tl_body_shape(model, slot)->bounded) {
      TL_TRY(tl_array_push(&fill->unbounded, slot));
    } else if (is_near(fill, bounds, slot)) {
      top = fmax(top, body_radius(model, slot));
      fill->obstacles++;
    }
  }
  TL_TRY(tl_grid_start(&fill->grid, model, bounds.lo, top, fill->obstacles + fill->scales.count));
  for (uint32_t slot = 0; slot < model->bodies; ++slot)
    if (tl_body_shape(model, slot)->bounded && is_near(fill, bounds, slot))
      tl_grid_add(&fill->grid, fill->state->position[slot], body_radius(model, slot), largest,
                  slot);
  return TALUS_OK;
}

/* ---- one body -------------------------------------------------------------------------------- */

tl_trial tl_fill_trial(const tl_fill *fill, uint32_t serial, talus_quat *rotation) {
  const talus_fill_def *def = fill->def;
  *rotation = def->random_rotation ? tl_place_rotation(def->seed, TL_STREAM_FILL_ROTATION, serial)
                                   : tl_quat_normalize(def->body.rotation);
  return tl_trial_make(fill->model, &def->body, fill->scales.data[serial], *rotation);
}

bool tl_fill_is_free(const tl_fill *fill, const tl_trial *trial) {
  if (tl_grid_blocks(&fill->grid, fill->state, trial))
    return false;
  for (size_t i = 0; i < fill->unbounded.count; ++i)
    if (tl_trial_hits_body(fill->model, fill->state, trial, fill->unbounded.data[i]))
      return false;
  return true;
}

void tl_fill_accept(tl_fill *fill, const tl_trial *trial, talus_quat rotation,
                    tl_placements *placements) {
  TL_ASSERT(placements->count < placements->capacity);
  tl_grid_add(&fill->grid, trial->centre, trial->radius, 0, TL_NONE);
  tl_trial home = *trial;
  home.centre = tl_place_wrap(fill->model, trial->centre);
  placements->data[placements->count++] =
      (tl_placement){tl_trial_frame(&home, rotation), rotation, trial->scale};
}

uint64_t tl_fill_most_sites(const tl_fill *fill) {
  const uint64_t least = UINT64_C(1) << 18, most = UINT64_C(1) << 26;
  const uint64_t wanted = 1024 * (uint64_t)fill->scales.count;
  return wanted < least ? least : wanted > most ? most : wanted;
}

/* ---- all bodies ------------------------------------------------------------------------------ */

/* Part of the region's volume that the bounding spheres fill. */
static double crowding(const tl_fill *fill) {
  const double r = (double)fill->model->shapes.data[fill->def->body.shape.index].radius;
  double cubes = 0;
  for (size_t i = 0; i < fill->scales.count; ++i)
    cubes += tl_pow_d(fill->scales.data[i] * r, 3);
  return 4.0 / 3.0 * TL_PI * cubes / tl_region_volume(&fill->def->in);
}

/* Uses the method that places more bodies; random if both place the same number. */
static talus_status place(tl_fill *fill, tl_placements *random, tl_placements *placements) {
  const size_t n = fill->scales.count;
  const bool crowded = crowding(fill) > RANDOM_LIMIT;
  if (crowded)
    TL_TRY(tl_fill_lattice(fill, placements));
  if (placements->count < n) {
    tl_grid_cut(&fill->grid, fill->obstacles);
    TL_TRY(tl_fill_random(fill, random));
  }
  if (!crowded && random->count < n) {
    tl_grid_cut(&fill->grid, fill->obstacles);
    TL_TRY(tl_fill_lattice(fill, placements));
  }
  if (random->count >= placements->count) {
    const tl_placements swap = *random;
    *random = *placements;
    *placements = swap;
    return TALUS_OK;
  }
  tl_log_write(&fill->model->log, TL_LOG_INFO,
               "fill: %zu bodies are too many for random places; they are on a shaken lattice",
               placements->count);
  return TALUS_OK;
}

static uint32_t morton_cell(double distance, double extent) {
  return (uint32_t)fmin(fmax(distance / extent * 0x1p21, 0), 0x1p21 - 1);
}

static talus_status order_along_curve(tl_fill *fill, tl_placements *placements) {
  const size_t n = placements->count;
  const talus_box bounds = tl_region_bounds(&fill->def->in);
  const double extent = tl_box_extent(bounds);
  uint64_t *keys;
  uint32_t *from;
  tl_placement *copy;
  TL_TAKE(&fill->arena, n, &keys);
  TL_TAKE(&fill->arena, n, &from);
  TL_TAKE(&fill->arena, n, &copy);
  for (size_t i = 0; i < n; ++i) {
    const talus_dvec3 d = tl_dsub(placements->data[i].position, bounds.lo);
    keys[i] =
        tl_morton3(morton_cell(d.x, extent), morton_cell(d.y, extent), morton_cell(d.z, extent));
    from[i] = (uint32_t)i;
    copy[i] = placements->data[i];
  }
  TL_TRY(tl_sort_u64(&fill->model->par, &fill->arena, keys, from, n, 63));
  for (size_t i = 0; i < n; ++i)
    placements->data[i] = copy[from[i]];
  return TALUS_OK;
}

static talus_status plan(tl_fill *fill, tl_placements *random, tl_placements *placements) {
  const talus_fill_def *def = fill->def;
  TL_TRY(check_def(fill->model, def, fill->spans));
  TL_TRY(draw_sizes(fill));
  TL_TRY(sort_sizes(fill));
  talus_quat rotation;
  const tl_trial largest = tl_fill_trial(fill, fill->order.data[0], &rotation);
  TL_TRY(tl_trial_check_period(fill->model, &largest, "fill"));
  talus_region room;
  if (!tl_region_inset(&def->in, largest.radius, fill->spans, &room))
    return tl_fail(TALUS_ERROR_INVALID,
                   "fill: a body with a bounding radius of %g m (scale %g) does not fit into the "
                   "region; make the region larger or the body smaller",
                   largest.radius, largest.scale);
  TL_TRY(find_obstacles(fill, largest.radius));
  TL_TRY(place(fill, random, placements));
  return order_along_curve(fill, placements);
}

talus_status tl_fill_plan(const tl_model *model, const tl_state *state, const talus_fill_def *def,
                          tl_placements *placements, uint64_t *wanted) {
  tl_fill fill = {.model = model, .state = state, .def = def};
  tl_placements random = {0};
  placements->count = 0;
  const talus_status status = plan(&fill, &random, placements);
  *wanted = def->count > 0 ? def->count : fill.scales.count;
  if (status != TALUS_OK)
    placements->count = 0;
  tl_array_free(&random);
  tl_array_free(&fill.scales);
  tl_array_free(&fill.order);
  tl_array_free(&fill.unbounded);
  tl_grid_free(&fill.grid);
  tl_arena_free(&fill.arena);
  return status;
}
