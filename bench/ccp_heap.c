/* Worlds of talus bench ccp: spheres in a box, with or without a hole in its floor; and restoring a
 * state, so that every method begins with the same one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ccp.h"
#include "world/world.h"

double ccp_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double ccp_median(double *values, int n) {
  if (n == 0)
    return NAN;
  qsort(values, (size_t)n, sizeof *values, compare);
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct triad {
  double *a;
  const double *b, *c;
} triad;

static void add_scaled(void *context, size_t begin, size_t end) {
  const triad *work = context;
  for (size_t i = begin; i < end; ++i)
    work->a[i] = work->b[i] + 0.5 * work->c[i];
}

double ccp_triad(int threads, bool quick) {
  const size_t n = (size_t)1 << (quick ? 20 : 23);
  const tl_par par = {.threads = threads};
  double *memory = calloc(3 * n, sizeof *memory), times[9];
  if (!memory)
    return NAN;
  for (int i = 0; i < 10; ++i) { /* the first pass maps the pages */
    triad work = {memory + (size_t)(i % 3) * n, memory + (size_t)((i + 1) % 3) * n,
                  memory + (size_t)((i + 2) % 3) * n};
    const double begun = ccp_now();
    tl_for(&par, n, 65536, add_scaled, &work);
    if (i > 0)
      times[i - 1] = ccp_now() - begun;
  }
  free(memory);
  return 3 * (double)n * sizeof(double) / ccp_median(times, 9);
}

/* ---- making a heap --------------------------------------------------------------------------- */

static talus_status add_fixed(ccp_heap *heap, const talus_shape_def *shape, talus_dvec3 at,
                              talus_material material, talus_body *made) {
  talus_body_def body = talus_body_def_default();
  body.kind = TALUS_FIXED;
  body.material = material;
  body.position = at;
  talus_status status = talus_world_add_shape(heap->world, shape, &body.shape);
  return status == TALUS_OK ? talus_world_add_body(heap->world, &body, made) : status;
}

/* Four boards around a square hole, with their upper sides at z = 0, and a body that closes it. */
static talus_status add_floor(ccp_heap *heap, const ccp_recipe *recipe, talus_material material) {
  const double w = recipe->hole, wide = 0.5 * (heap->side - w), off = 0.5 * (w + wide);
  const double thick = 2 * CCP_RADIUS;
  talus_status status = TALUS_OK;
  for (int i = 0; i < 4 && status == TALUS_OK; ++i) {
    talus_shape_def board = talus_shape_def_default();
    const double sign = i % 2 ? 1 : -1;
    board.kind = TALUS_BOX;
    board.size[0] = i < 2 ? wide : w;
    board.size[1] = i < 2 ? heap->side : wide;
    board.size[2] = thick;
    const talus_dvec3 at = {i < 2 ? sign * off : 0, i < 2 ? 0 : sign * off, -thick / 2};
    status = add_fixed(heap, &board, at, material, NULL);
  }
  if (status == TALUS_OK && recipe->plugged) {
    talus_shape_def plug = talus_shape_def_default();
    plug.kind = TALUS_BOX;
    plug.size[0] = plug.size[1] = w;
    plug.size[2] = thick;
    status = add_fixed(heap, &plug, (talus_dvec3){0, 0, -thick / 2}, material, &heap->plug);
  }
  return status;
}

static talus_status add_box(ccp_heap *heap, const ccp_recipe *recipe, talus_material material) {
  talus_shape_def box = talus_shape_def_default();
  const double volume = (double)recipe->bodies * 8 * CCP_RADIUS * CCP_RADIUS * CCP_RADIUS;
  box.kind = TALUS_CONTAINER;
  box.size[0] = box.size[1] = heap->side;
  box.size[2] = 2 * volume / (heap->side * heap->side) + 10 * CCP_RADIUS;
  box.open = TALUS_SIDE_TOP | (recipe->hole > 0 ? TALUS_SIDE_BOTTOM : 0);
  talus_body made;
  talus_status status =
      add_fixed(heap, &box, (talus_dvec3){0, 0, 0.5 * box.size[2]}, material, &made);
  if (status == TALUS_OK && recipe->hole > 0)
    return add_floor(heap, recipe, material);
  const talus_probe_def probe = {
      .name = "box", .on_body = true, .body = made, .record = TALUS_RECORD_FORCE};
  return status == TALUS_OK ? talus_world_add_probe(heap->world, &probe, &heap->probe) : status;
}

/* Rows of a cubic lattice with a small jitter, which depends only on the number, and a push, so
 * that they collapse into a random heap. */
static talus_status add_spheres(ccp_heap *heap, talus_body_def ball) {
  const double pitch = 2.06 * CCP_RADIUS, side = heap->side;
  const long across = (long)((side - 2 * CCP_RADIUS) / pitch) + 1;
  talus_status status = TALUS_OK;
  for (long i = 0; status == TALUS_OK && i < (long)heap->bodies; ++i) {
    const long x = i % across, y = i / across % across, z = i / across / across;
    const double jitter = 0.02 * CCP_RADIUS * (double)((i * 7919L) % 13 - 6) / 6;
    ball.position.x = -side / 2 + CCP_RADIUS + pitch * (double)x + (x == 0 ? 0 : jitter);
    ball.position.y = -side / 2 + CCP_RADIUS + pitch * (double)y + (y == 0 ? 0 : -jitter);
    ball.position.z = CCP_RADIUS + pitch * (double)z;
    ball.velocity.x = (talus_real)(0.05 * (double)((i * 104729L) % 11 - 5));
    ball.velocity.y = (talus_real)(0.05 * (double)((i * 1299709L) % 11 - 5));
    status = talus_world_add_body(heap->world, &ball, NULL);
  }
  return status;
}

static talus_status fill_heap(ccp_heap *heap, const ccp_recipe *recipe) {
  talus_material_def grain = talus_material_def_default();
  talus_shape_def sphere = talus_shape_def_default();
  talus_body_def ball = talus_body_def_default();
  sphere.size[0] = CCP_RADIUS;
  talus_status status = talus_world_add_material(heap->world, &grain, &ball.material);
  if (status == TALUS_OK)
    status = talus_world_add_shape(heap->world, &sphere, &ball.shape);
  if (status == TALUS_OK)
    status = add_box(heap, recipe, ball.material);
  if (status == TALUS_OK && recipe->hole > 0) {
    /* Removes bodies that have left. */
    talus_region below = {.kind = TALUS_REGION_BOX};
    below.box = (talus_box){{-1e3, -1e3, -1e3}, {1e3, 1e3, -20 * CCP_RADIUS}};
    status = talus_world_add_sink(heap->world, "below", &below);
  }
  return status == TALUS_OK ? add_spheres(heap, ball) : status;
}

bool ccp_heap_make(const ccp_recipe *recipe, ccp_heap *heap) {
  talus_world_def def = talus_world_def_default();
  def.threads = recipe->threads;
  def.dt = recipe->dt;
  def.solve.iterations = recipe->iterations;
  if (!recipe->stops)
    def.solve.tolerance = 0;
  /* same pairs, but candidates are found anew only after enough motion */
  def.skin = 0.1 * CCP_RADIUS;
  *heap = (ccp_heap){.bodies = recipe->bodies, .side = recipe->side};
  if (!(heap->side > 0))
    heap->side = 2 * CCP_RADIUS * cbrt((double)recipe->bodies);
  talus_status status = talus_world_create(&def, &heap->world);
  if (status == TALUS_OK)
    status = fill_heap(heap, recipe);
  if (status == TALUS_OK)
    return true;
  ccp_heap_free(heap);
  return ccp_fail("making a heap");
}

bool ccp_heap_unplug(ccp_heap *heap) {
  return talus_world_remove_body(heap->world, heap->plug) == TALUS_OK ||
         ccp_fail("opening the hole");
}

void ccp_heap_free(ccp_heap *heap) {
  talus_world_destroy(heap->world);
  heap->world = NULL;
}

/* Only a benchmark of stages may do this: settings of a world are constant otherwise. */
void ccp_heap_solve_with(ccp_heap *heap, int method, int iterations, bool warm) {
  talus_solve_def *solve = &heap->world->model.solve;
  solve->method = (talus_ccp_method)method;
  solve->iterations = iterations;
  solve->warm_start = warm;
  solve->tolerance = 0;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

_Static_assert(TL_STATE_FIELD_COUNT <= 10, "a snapshot has room for every array of a state");

void ccp_snapshot_free(ccp_snapshot *snapshot) {
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    free(snapshot->state[i]);
  free(snapshot->contacts);
  *snapshot = (ccp_snapshot){.bodies = 0};
}

bool ccp_snapshot_take(const ccp_heap *heap, ccp_snapshot *to) {
  const talus_world *world = heap->world;
  *to = (ccp_snapshot){.bodies = world->model.bodies, .count = world->contacts.count};
  const size_t bytes = to->count * sizeof *world->contacts.data;
  to->contacts = malloc(bytes + 1);
  bool good = to->contacts != NULL;
  for (int i = 0; i < TL_STATE_FIELD_COUNT && good; ++i) {
    const void *rows = tl_field_rows(&world->state, &tl_state_fields[i]);
    /* lazy field that is not in use */
    const size_t size = rows ? to->bodies * tl_state_fields[i].bytes : 0;
    to->state[i] = malloc(size + 1);
    good = to->state[i] != NULL;
    if (good && rows)
      memcpy(to->state[i], rows, size);
  }
  if (good && bytes > 0)
    memcpy(to->contacts, world->contacts.data, bytes);
  if (!good) {
    ccp_snapshot_free(to);
    fprintf(stderr, "talus bench ccp: out of memory\n");
  }
  return good;
}

bool ccp_snapshot_restore(ccp_heap *heap, const ccp_snapshot *from) {
  talus_world *world = heap->world;
  if (world->model.bodies != from->bodies ||
      tl_array_reserve(&world->contacts, from->count) != TALUS_OK) {
    fprintf(stderr, "talus bench ccp: the heap lost bodies while it was measured\n");
    return false;
  }
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i) {
    void *rows = tl_field_rows(&world->state, &tl_state_fields[i]);
    if (rows)
      memcpy(rows, from->state[i], from->bodies * tl_state_fields[i].bytes);
  }
  world->contacts.count = from->count;
  if (from->count > 0)
    memcpy(world->contacts.data, from->contacts, from->count * sizeof *world->contacts.data);
  return true;
}

/* ---- measuring ------------------------------------------------------------------------------- */

bool ccp_measure(ccp_heap *heap, long steps, ccp_times *times) {
  talus_report before, after;
  *times = (ccp_times){0};
  if (talus_world_report(heap->world, &before) != TALUS_OK)
    return ccp_fail("reporting");
  double total = 0;
  for (long i = 0; i < steps; ++i) {
    const double begun = ccp_now();
    if (talus_world_step(heap->world, 1) != TALUS_OK)
      return ccp_fail("stepping");
    total += ccp_now() - begun;
    if (talus_world_report(heap->world, &after) != TALUS_OK)
      return ccp_fail("reporting");
    times->contacts += (double)after.contacts_near / (double)steps;
    times->residual_rms = fmax(times->residual_rms, after.residual_rms);
    times->residual_max = fmax(times->residual_max, after.residual_max);
    times->iterations = after.iterations > times->iterations ? after.iterations : times->iterations;
  }
  const double n = (double)steps;
  times->total = total / n;
  times->broad = (after.wall_broad - before.wall_broad) / n;
  times->narrow = (after.wall_narrow - before.wall_narrow) / n;
  times->solve = (after.wall_solve - before.wall_solve) / n;
  times->collision = times->broad + times->narrow;
  times->bodies = after.bodies;
  return true;
}
