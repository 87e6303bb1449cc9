/* Finds candidates with a grid whose cells are as wide as the diameter of the largest ball and the
 * skin. Balls are sorted by cell, so the half of the 27 neighbour cells that is searched from a
 * cell is five runs of rows. */
#include "base/cancel.h"
#include "base/sort.h"
#include "step/hard/near.h"

#include <math.h>
#include <stdatomic.h>

#define FEWEST   ((size_t)256) /* least number of balls for which a list is kept */
#define SPREAD   4.0           /* largest over smallest radius, at most */
#define THICK    0.5           /* usual skin, in diameters */
#define THIN     0.02          /* skin if a thick one would not last because bodies come and go */
#define TRY      16u           /* renewals after which a thick skin is tried again */
#define SHORT    2u            /* steps that a skin must last */
#define PER_BALL 6             /* initial room for candidates per ball */
#define FULL     ((size_t)256) /* candidates that are added to the list together */
#define GRAIN    ((size_t)512) /* balls that one thread takes */

typedef struct row {
  double x, y, z, radius;
} row;

typedef struct renew_job {
  const tl_crowd *crowd;
  tl_near *near;
  size_t count;             /* of balls */
  double largest, smallest; /* m: of radii */
  double low[3], width;     /* of cells */
  int n[3];                 /* number of cells along each axis */
  size_t cells;
  uint32_t *cell, *slot; /* by rank: cell and slot of a ball */
  uint32_t *start;       /* by cell: rank of its first ball, and one more */
  row *rows;             /* by rank */
  size_t room;           /* capacity of the list */
  _Atomic size_t *found;
  tl_near_side *sides;
} renew_job;

/* ---- bodies and walls ------------------------------------------------------------------------ */

/* Finds balls and walls; *can becomes false if balls are too few or walls too many. */
static talus_status take_stock(renew_job *job, bool *can) {
  const tl_crowd *crowd = job->crowd;
  const tl_model *model = crowd->model;
  job->near->walls.count = 0;
  job->smallest = INFINITY;
  *can = false;
  for (uint32_t slot = 0; slot < crowd->count; ++slot) {
    if (!tl_body_is_static(model, slot)) {
      const double radius = tl_near_radius(model, slot);
      if (tl_body_shape(model, slot)->kind != TALUS_SPHERE)
        return TALUS_OK;
      job->slot[job->count++] = slot;
      job->smallest = fmin(job->smallest, radius);
      job->largest = fmax(job->largest, radius);
      continue;
    }
    if ((model->property.flags[slot] & TL_FLAG_KINEMATIC) ||
        job->near->walls.count == TL_NEAR_WALLS)
      return TALUS_OK;
    const tl_near_wall wall = {slot, crowd->in->position[slot], crowd->in->rotation[slot]};
    TL_TRY(tl_array_push(&job->near->walls, wall));
  }
  *can = job->count >= FEWEST && job->largest <= SPREAD * job->smallest;
  return TALUS_OK;
}

static double choose_skin(const tl_near *near, double largest) {
  const bool is_short = near->finds > 0 && near->kept < SHORT && near->finds % TRY != 0;
  return 2 * largest * (is_short ? THIN : THICK);
}

/* Chooses cells: at most four per ball. False if a position is not finite, or so large that its
 * rounding matters beside the skin. */
static bool cut(renew_job *job) {
  const tl_near *near = job->near;
  double high[3] = {-INFINITY, -INFINITY, -INFINITY}, far = 0;
  for (int k = 0; k < 3; ++k)
    job->low[k] = INFINITY;
  for (size_t i = 0; i < job->count; ++i) {
    const talus_dvec3 place = job->crowd->in->position[job->slot[i]];
    const double x[3] = {place.x, place.y, place.z};
    for (int k = 0; k < 3; ++k) {
      job->low[k] = x[k] < job->low[k] ? x[k] : job->low[k];
      high[k] = x[k] > high[k] ? x[k] : high[k];
      far = fabs(x[k]) <= far ? far : fabs(x[k]); /* keeps a value that is not a number */
    }
  }
  job->near->slack = 1e-6 * near->skin + 0x1p-44 * far;
  if (!(job->near->slack < 0.01 * near->skin))
    return false;
  job->width = (2 * job->largest + near->skin) * (1 + 1e-9) + near->slack;
  double cells;
  do {
    cells = 1;
    for (int k = 0; k < 3; ++k) {
      const double n = floor((high[k] - job->low[k]) / job->width) + 1;
      job->n[k] = n < 1e6 ? (int)n : 1000000;
      cells *= n;
    }
    job->width *= 1.25;
  } while (cells > 4 * (double)job->count + 64);
  job->width /= 1.25;
  job->cells = (size_t)cells;
  return true;
}

static int place_of(const renew_job *job, int axis, double x) {
  const int at = (int)((x - job->low[axis]) / job->width);
  return at < job->n[axis] ? at : job->n[axis] - 1;
}

static void find_cells(void *context, size_t begin, size_t end) {
  const renew_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const talus_dvec3 x = job->crowd->in->position[job->slot[i]];
    const size_t at[3] = {(size_t)place_of(job, 0, x.x), (size_t)place_of(job, 1, x.y),
                          (size_t)place_of(job, 2, x.z)};
    job->cell[i] = (uint32_t)((at[2] * (size_t)job->n[1] + at[1]) * (size_t)job->n[0] + at[0]);
  }
}

/* Writes rows, and the starts of all cells up to that of each ball. */
static void lay_rows(void *context, size_t begin, size_t end) {
  const renew_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const talus_dvec3 x = job->crowd->in->position[job->slot[i]];
    job->rows[i] = (row){x.x, x.y, x.z, tl_near_radius(job->crowd->model, job->slot[i])};
    const size_t from = i > 0 ? (size_t)job->cell[i - 1] + 1 : 0;
    for (size_t c = from; c <= job->cell[i]; ++c)
      job->start[c] = (uint32_t)i;
  }
}

/* ---- candidates ------------------------------------------------------------------------------ */

typedef struct found_list {
  tl_pair pairs[FULL];
  float gaps[FULL];
  size_t count;
} found_list;

/* Adds found pairs in any order: pairs that touch are sorted later. What does not fit is only
 * counted. */
static void put(const renew_job *job, found_list *list) {
  const size_t at = atomic_fetch_add_explicit(job->found, list->count, memory_order_relaxed);
  if (at + list->count <= job->room) {
    memcpy(job->near->pairs.data + at, list->pairs, list->count * sizeof *list->pairs);
    memcpy(job->near->gaps.data + at, list->gaps, list->count * sizeof *list->gaps);
  }
  list->count = 0;
}

static void look(const renew_job *job, size_t rank, size_t begin, size_t end, found_list *list) {
  const row a = job->rows[rank];
  const tl_model *model = job->crowd->model;
  for (size_t i = begin; i < end; ++i) {
    const row *b = &job->rows[i];
    const double x = b->x - a.x, y = b->y - a.y, z = b->z - a.z;
    const double square = x * x + y * y + z * z;
    const double sum = a.radius + b->radius, reach = sum + job->near->skin + job->near->slack;
    if (!(square < reach * reach))
      continue;
    const uint32_t one = job->slot[rank], other = job->slot[i];
    if (model->ignored.count > 0 && !tl_broad_allows(model, one, other))
      continue;
    list->pairs[list->count] = one < other ? (tl_pair){one, other} : (tl_pair){other, one};
    list->gaps[list->count++] = (float)(sqrt(square) - sum - job->near->slack);
    if (list->count == FULL)
      put(job, list);
  }
}

/* Searches the three cells around (x, y, z) along x, as far as they exist. */
static void look_along(const renew_job *job, size_t rank, int x, int y, int z, found_list *list) {
  if (y < 0 || y >= job->n[1] || z >= job->n[2])
    return;
  const size_t line = ((size_t)z * (size_t)job->n[1] + (size_t)y) * (size_t)job->n[0];
  const size_t first = line + (size_t)(x > 0 ? x - 1 : 0);
  const size_t last = line + (size_t)(x + 1 < job->n[0] ? x + 1 : x);
  look(job, rank, job->start[first], job->start[last + 1], list);
}

static void search(void *context, size_t begin, size_t end) {
  const renew_job *job = context;
  found_list list;
  list.count = 0;
  for (size_t i = begin; i < end; ++i) {
    if (i % GRAIN == 0 && tl_cancel_look(job->crowd->cancel))
      return;
    const uint32_t cell = job->cell[i];
    const int x = (int)(cell % (uint32_t)job->n[0]);
    const int y = (int)(cell / (uint32_t)job->n[0] % (uint32_t)job->n[1]);
    const int z = (int)(cell / (uint32_t)job->n[0] / (uint32_t)job->n[1]);
    look(job, i, i + 1, job->start[cell + (x + 1 < job->n[0] ? 2 : 1)], &list);
    look_along(job, i, x, y + 1, z, &list);
    for (int side = -1; side <= 1; ++side)
      look_along(job, i, x, y + side, z + 1, &list);
  }
  put(job, &list);
}

/* Repeats the search if the list was too short. */
static talus_status search_all(renew_job *job) {
  tl_near *near = job->near;
  _Atomic size_t found;
  job->found = &found;
  job->room = PER_BALL * job->count;
  if (job->room < near->pairs.capacity && near->pairs.capacity == near->gaps.capacity)
    job->room = near->pairs.capacity;
  for (;;) {
    atomic_init(&found, 0);
    TL_TRY(tl_array_reserve(&near->pairs, job->room));
    TL_TRY(tl_array_reserve(&near->gaps, job->room));
    tl_for(&job->crowd->model->par, job->count, GRAIN, search, job);
    TL_GO_ON(job->crowd->cancel); /* a cancelled search is incomplete */
    const size_t count = atomic_load(&found);
    if (count <= job->room) {
      near->pairs.count = near->gaps.count = count;
      return TALUS_OK;
    }
    job->room = count + count / 4;
  }
}

/* ---- walls ----------------------------------------------------------------------------------- */

/* Distance of a ball to the nearest wall, minus the distance at which the narrow phase decides. */
static double find_room(const renew_job *job, uint32_t slot) {
  const talus_dvec3 x = job->crowd->in->position[slot];
  const double radius = tl_near_radius(job->crowd->model, slot);
  double least = 1e30;
  for (size_t w = 0; w < job->near->walls.count; ++w) {
    const tl_near_side *side = &job->sides[w];
    least = fmin(least, tl_near_gap(side, x, radius) - 2 * tl_near_tolerance(side, x, radius));
  }
  return least - 1e-6 * fabs(least) - job->near->slack;
}

static void find_rooms(void *context, size_t begin, size_t end) {
  const renew_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const bool is_ball = !tl_body_is_static(job->crowd->model, i);
    job->near->from.data[i] = job->crowd->in->position[i];
    job->near->room.data[i] = is_ball ? (float)find_room(job, (uint32_t)i) : 1e30f;
  }
}

static talus_status renew(renew_job *job, bool *can) {
  const tl_crowd *crowd = job->crowd;
  const tl_par *par = &crowd->model->par;
  tl_near *near = job->near;
  tl_near_side sides[TL_NEAR_WALLS];
  TL_TAKE(crowd->arena, crowd->count, &job->slot);
  TL_TRY(take_stock(job, can));
  if (!*can)
    return TALUS_OK;
  near->skin = choose_skin(near, job->largest);
  *can = cut(job);
  if (!*can)
    return TALUS_OK;
  TL_TAKE(crowd->arena, job->count, &job->cell);
  TL_TAKE(crowd->arena, job->count, &job->rows);
  TL_TAKE(crowd->arena, job->cells + 1, &job->start);
  tl_for(par, job->count, GRAIN, find_cells, job);
  TL_TRY(tl_sort_u32(par, crowd->arena, job->cell, job->slot, job->count, tl_bits_u64(job->cells)));
  tl_for(par, job->count, GRAIN, lay_rows, job);
  for (size_t c = (size_t)job->cell[job->count - 1] + 1; c <= job->cells; ++c)
    job->start[c] = (uint32_t)job->count;
  TL_GO_ON(crowd->cancel);
  TL_TRY(search_all(job));
  TL_TRY(tl_array_resize(&near->from, crowd->count));
  TL_TRY(tl_array_resize(&near->room, crowd->count));
  tl_near_sides(crowd, near, sides);
  job->sides = sides;
  tl_for(par, crowd->count, GRAIN, find_rooms, job);
  return TALUS_OK;
}

talus_status tl_near_renew(const tl_crowd *crowd, tl_near *near, bool *can) {
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  renew_job job = {.crowd = crowd, .near = near};
  near->valid = false;
  TL_TRY(renew(&job, can));
  tl_arena_release(crowd->arena, mark);
  if (!*can)
    return TALUS_OK;
  near->ignored = crowd->model->ignored.count;
  near->kept = 0;
  near->finds++;
  near->valid = true;
  return TALUS_OK;
}
