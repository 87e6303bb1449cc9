/* Spheres in a hashed grid with one level per octave of size. */
#include "flow/place.h"

/* The level of a radius, and the largest radius that a level holds. */
static int level_of(const tl_grid *grid, double radius) {
  int level = 0;
  for (double limit = 0.5 * grid->top; radius <= limit && level < TL_GRID_LEVELS - 1; limit *= 0.5)
    level++;
  return level;
}

static double level_radius(const tl_grid *grid, int level) { return ldexp(grid->top, -level); }

static void lay_out_axis(tl_grid *grid, int axis, bool periodic, double period) {
  for (int level = 0; level < TL_GRID_LEVELS; ++level) {
    double width = 2 * level_radius(grid, level);
    grid->around[level][axis] = 0;
    if (periodic) {
      const double cells = fmax(1, floor(period / width));
      grid->around[level][axis] = (int64_t)cells;
      width = period / cells;
    }
    grid->width[level][axis] = width;
  }
}

talus_status tl_grid_start(tl_grid *grid, const tl_model *model, talus_dvec3 origin, double top,
                           size_t n) {
  const tl_grid kept = *grid;
  *grid = (tl_grid){.model = model, .origin = origin, .top = top};
  grid->spheres.data = kept.spheres.data, grid->spheres.capacity = kept.spheres.capacity;
  grid->heads.data = kept.heads.data, grid->heads.capacity = kept.heads.capacity;
  size_t heads = 64;
  while (heads < 2 * n)
    heads *= 2;
  TL_TRY(tl_array_reserve(&grid->spheres, n));
  TL_TRY(tl_array_resize(&grid->heads, heads));
  memset(grid->heads.data, 0xff, heads * sizeof *grid->heads.data); /* TL_NONE */
  const talus_domain_def *domain = &model->domain;
  const talus_dvec3 period = tl_dsub(domain->box.hi, domain->box.lo);
  lay_out_axis(grid, 0, domain->enabled && domain->periodic[0], period.x);
  lay_out_axis(grid, 1, domain->enabled && domain->periodic[1], period.y);
  lay_out_axis(grid, 2, domain->enabled && domain->periodic[2], period.z);
  return TALUS_OK;
}

void tl_grid_free(tl_grid *grid) {
  tl_array_free(&grid->spheres);
  tl_array_free(&grid->heads);
}

static size_t bucket(const tl_grid *grid, int level, int64_t x, int64_t y, int64_t z) {
  uint64_t h = (uint64_t)x * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)level;
  h = (h ^ (h >> 29)) * UINT64_C(0xBF58476D1CE4E5B9) + (uint64_t)y;
  h = (h ^ (h >> 31)) * UINT64_C(0x94D049BB133111EB) + (uint64_t)z;
  h = (h ^ (h >> 30)) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(h >> 32) & (grid->heads.count - 1);
}

/* Cell numbers outside of the range of the integer are clamped. */
static int64_t cell(double distance, double width) {
  const double i = floor(distance / width);
  return fabs(i) < 4e18 ? (int64_t)i : INT64_C(4000000000000000000);
}

/* Number of the cell in the first image; `around` is 0 without images. */
static int64_t fold(int64_t i, int64_t around) {
  if (around == 0)
    return i;
  const int64_t rest = i % around;
  return rest < 0 ? rest + around : rest;
}

static void file_sphere(tl_grid *grid, uint32_t index) {
  tl_grid_sphere *sphere = &grid->spheres.data[index];
  const int level = sphere->level;
  const talus_dvec3 d = tl_dsub(sphere->centre, grid->origin);
  const double *width = grid->width[level];
  const int64_t *around = grid->around[level];
  const size_t home =
      bucket(grid, level, fold(cell(d.x, width[0]), around[0]),
             fold(cell(d.y, width[1]), around[1]), fold(cell(d.z, width[2]), around[2]));
  sphere->next = grid->heads.data[home];
  grid->heads.data[home] = index;
  grid->in_use |= UINT32_C(1) << level;
}

void tl_grid_add(tl_grid *grid, talus_dvec3 centre, double radius, double least, uint32_t slot) {
  TL_ASSERT(grid->spheres.count < grid->spheres.capacity);
  const uint32_t index = (uint32_t)grid->spheres.count++;
  grid->spheres.data[index] =
      (tl_grid_sphere){centre, radius, slot, TL_NONE, level_of(grid, fmax(radius, least))};
  file_sphere(grid, index);
}

void tl_grid_cut(tl_grid *grid, size_t n) {
  memset(grid->heads.data, 0xff, grid->heads.count * sizeof *grid->heads.data);
  grid->in_use = 0;
  grid->spheres.count = n;
  for (uint32_t i = 0; i < n; ++i)
    file_sphere(grid, i);
}

/* True if the trial touches a body of the world, or a new one. */
static bool hits(const tl_grid *grid, const tl_state *state, const tl_trial *trial, uint32_t slot) {
  if (!grid->fresh)
    return tl_trial_hits_body(grid->model, state, trial, slot);
  const talus_body_def *body = &grid->fresh->data[slot];
  tl_trial other = tl_trial_make(grid->model, body, body->scale, body->rotation);
  other.centre = tl_trial_centre(&other, body->position, body->rotation);
  return tl_trial_hits_trial(grid->model, trial, &other);
}

static bool list_blocks(const tl_grid *grid, const tl_state *state, const tl_trial *trial,
                        uint32_t index) {
  for (; index != TL_NONE; index = grid->spheres.data[index].next) {
    const tl_grid_sphere *sphere = &grid->spheres.data[index];
    const talus_dvec3 d = tl_model_offset(grid->model, sphere->centre, trial->centre);
    const double slack = grid->is_exact ? 0 : TL_PLACE_SLACK;
    const double reach = (sphere->radius + trial->radius) * (1 + slack);
    if (tl_ddot(d, d) > reach * reach || (!grid->is_exact && tl_ddot(d, d) == reach * reach))
      continue;
    if (sphere->slot == TL_NONE || hits(grid, state, trial, sphere->slot))
      return true;
  }
  return false;
}

/* Cells within reach along one axis, nearest first: the own cell is most likely occupied. */
typedef struct walk {
  int64_t first, last, home, around;
} walk;

static walk walk_make(double d, double range, double width, int64_t around) {
  walk w = {cell(d - range, width), cell(d + range, width), cell(d, width), around};
  if (around > 0 && w.last - w.first >= around) {
    w.first = w.home - (around - 1) / 2;
    w.last = w.first + around - 1;
  }
  return w;
}

/* Step k of the walk: 0, -1, +1, -2, +2, ... of home; false for cells out of reach. */
static bool walk_cell(const walk *w, int64_t k, int64_t *out) {
  const int64_t i = w->home + ((k & 1) != 0 ? -((k + 1) / 2) : k / 2);
  *out = fold(i, w->around);
  return i >= w->first && i <= w->last;
}

/* Number of steps that reach both ends. */
static int64_t walk_steps(const walk *w) {
  const int64_t below = w->home - w->first, above = w->last - w->home;
  return 1 + 2 * (below > above ? below : above);
}

static bool level_blocks(const tl_grid *grid, const tl_state *state, const tl_trial *trial,
                         int level) {
  const double range = (level_radius(grid, level) + trial->radius) * (1 + TL_PLACE_SLACK);
  const talus_dvec3 d = tl_dsub(trial->centre, grid->origin);
  const double *width = grid->width[level];
  const int64_t *around = grid->around[level];
  const walk along_x = walk_make(d.x, range, width[0], around[0]);
  const walk along_y = walk_make(d.y, range, width[1], around[1]);
  const walk along_z = walk_make(d.z, range, width[2], around[2]);
  const int64_t nx = walk_steps(&along_x), ny = walk_steps(&along_y), nz = walk_steps(&along_z);
  int64_t x, y, z;
  for (int64_t i = 0; i < nx; ++i) {
    if (!walk_cell(&along_x, i, &x))
      continue;
    for (int64_t j = 0; j < ny; ++j) {
      if (!walk_cell(&along_y, j, &y))
        continue;
      for (int64_t k = 0; k < nz; ++k)
        if (walk_cell(&along_z, k, &z) &&
            list_blocks(grid, state, trial, grid->heads.data[bucket(grid, level, x, y, z)]))
          return true;
    }
  }
  return false;
}

bool tl_grid_blocks(const tl_grid *grid, const tl_state *state, const tl_trial *trial) {
  for (int level = 0; level < TL_GRID_LEVELS && grid->in_use >> level != 0; ++level)
    if ((grid->in_use >> level & 1) != 0 && level_blocks(grid, state, trial, level))
      return true;
  return false;
}
