/* talus bench implicit --table heap: a heap of 2,000 stones on springs that get stiffer. Its stones
 * come to rest as hard grains; then springs bear them, and they sink for a twentieth of a second.
 */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "implicit.h"

#define SETTLE 3.0  /* s, with ccp */
#define TIME   0.05 /* s, with springs */
#define DT     5e-3 /* of implicit steps and ccp */
/* Of sqrt(mass/stiffness): a step that velocity Verlet bears in a heap (docs/theory/penalty.md). */
#define SAFE 0.1
/* Picard: most iterations of a step, and the share of each. */
#define PICARDS      200
#define PICARD_SHARE 0.1

typedef struct heap_pose {
  talus_dvec3 position;
  talus_quat rotation;
} heap_pose;

typedef struct heap {
  heap_pose *poses;
  talus_body *bodies;
  int count, wide; /* stones; stones in a row */
} heap;

typedef enum heap_way { VERLET, PICARD, NEWTON, CCP, WAYS } heap_way;
static const char *const way_names[WAYS] = {"verlet", "picard", "newton", "ccp"};

/* ---- worlds ---------------------------------------------------------------------------------- */

static bool add_walls(talus_world *world, const heap *h, talus_material m) {
  const double side = 0.2 * h->wide;
  const double planes[5][4] = {
      {0, 0, 1, 0}, {1, 0, 0, 0}, {-1, 0, 0, -side}, {0, 1, 0, 0}, {0, -1, 0, -side}};
  for (int k = 0; k < 5; ++k) {
    talus_shape_def shape = talus_shape_def_default();
    talus_body_def body = talus_body_def_default();
    shape.kind = TALUS_PLANE;
    for (int i = 0; i < 4; ++i)
      shape.size[i] = planes[k][i];
    body.kind = TALUS_FIXED, body.material = m;
    if (talus_world_add_shape(world, &shape, &body.shape) != TALUS_OK ||
        talus_world_add_body(world, &body, NULL) != TALUS_OK)
      return implicit_fail("a wall");
  }
  return true;
}

static bool make(heap *h, heap_way how, double stiffness, double dt, talus_world **world) {
  talus_world_def def = talus_world_def_default();
  talus_material_def m = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  talus_shape_def stone = talus_shape_def_default();
  def.dt = dt, def.threads = 1;
  if (how != CCP)
    def.solve.kind = TALUS_SOLVE_PENALTY;
  if (how == PICARD || how == NEWTON) {
    def.step = TALUS_STEP_IMPLICIT;
    def.implicit.method = how == PICARD ? TALUS_IMPLICIT_PICARD : TALUS_IMPLICIT_NEWTON;
    if (how == PICARD) /* with `auto` it would go on in halves of halves */
      def.implicit.iterations = PICARDS, def.implicit.damping = PICARD_SHARE;
  }
  stone.kind = TALUS_ELLIPSOID;
  stone.size[0] = 0.1, stone.size[1] = 0.085, stone.size[2] = 0.07;
  m.stiffness = stiffness, m.restitution = 0.2, m.friction = 0.5;
  if (talus_world_create(&def, world) != TALUS_OK)
    return implicit_fail("a world");
  bool good = talus_world_add_material(*world, &m, &body.material) == TALUS_OK ||
              implicit_fail("a material");
  good =
      good && add_walls(*world, h, body.material) &&
      (talus_world_add_shape(*world, &stone, &body.shape) == TALUS_OK || implicit_fail("a stone"));
  body.mass = 1;
  for (int i = 0; i < h->count && good; ++i) {
    body.position = h->poses[i].position, body.rotation = h->poses[i].rotation;
    good = talus_world_add_body(*world, &body, &h->bodies[i]) == TALUS_OK ||
           implicit_fail("a stone's place");
  }
  if (!good)
    talus_world_destroy(*world);
  return good;
}

static bool read_poses(const heap *h, talus_world *world, heap_pose *to) {
  for (int i = 0; i < h->count; ++i) {
    talus_body_info info;
    if (talus_world_get_body(world, h->bodies[i], &info) != TALUS_OK)
      return implicit_fail("a stone's place");
    to[i] = (heap_pose){info.position, info.rotation};
  }
  return true;
}

/* Stones in layers, each turned at random, fall a little and come to rest. */
static bool settle(heap *h) {
  talus_world *world;
  for (int i = 0; i < h->count; ++i) {
    tl_random r = tl_random_start(23, 1, (uint64_t)i);
    const int layer = i / (h->wide * h->wide), at = i % (h->wide * h->wide);
    double q[4], length = 0;
    for (int k = 0; k < 4; ++k)
      q[k] = tl_random_normal(&r), length += q[k] * q[k];
    for (int k = 0; k < 4; ++k)
      q[k] /= sqrt(length);
    h->poses[i].position =
        (talus_dvec3){0.2 * (at % h->wide + 0.5), 0.2 * (at / h->wide + 0.5), 0.1 + 0.2 * layer};
    h->poses[i].rotation =
        (talus_quat){(talus_real)q[0], (talus_real)q[1], (talus_real)q[2], (talus_real)q[3]};
  }
  if (!make(h, CCP, 1e6, DT, &world))
    return false;
  const bool good =
      talus_world_step(world, (uint64_t)(SETTLE / DT)) == TALUS_OK || implicit_fail("a step");
  const bool read = good && read_poses(h, world, h->poses);
  talus_world_destroy(world);
  return read;
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct heap_run {
  double seconds;  /* of processor time for a simulated one */
  uint64_t halved; /* steps that were taken in parts */
  bool failed;     /* a step did not converge */
} heap_run;

/* Steps from rest; *end: where the stones are at TIME. */
static bool take(heap *h, heap_way how, double stiffness, double dt, heap_run *r, heap_pose *end) {
  talus_world *world;
  talus_report report;
  if (!make(h, how, stiffness, dt, &world))
    return false;
  const double begun = implicit_cpu();
  const talus_status status = talus_world_step(world, (uint64_t)(TIME / dt + 0.5));
  r->seconds = (implicit_cpu() - begun) / TIME;
  r->failed = status == TALUS_ERROR_DIVERGED;
  bool good = r->failed || status == TALUS_OK || implicit_fail("a step");
  good = good && (talus_world_report(world, &report) == TALUS_OK || implicit_fail("a report"));
  if (good)
    r->halved = report.unconverged;
  good = good && read_poses(h, world, end);
  talus_world_destroy(world);
  return good;
}

/* Root of the mean square of the distances between the places of the stones, m. */
static double distance_of(const heap *h, const heap_pose *a, const heap_pose *b) {
  double sum = 0;
  for (int i = 0; i < h->count; ++i) {
    const talus_dvec3 p = a[i].position, q = b[i].position;
    sum += (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z);
  }
  return sqrt(sum / h->count);
}

static void print_run(const implicit_bench *bench, const heap_run *r, double stiffness,
                      heap_way how, double error) {
  char row[64];
  if (r->failed)
    printf("  %9s %8s", "-", "-");
  else
    printf("  %9.3g %8.1e", r->seconds, error);
  if (how == NEWTON)
    printf(" %6llu", (unsigned long long)r->halved);
  fflush(stdout);
  snprintf(row, sizeof row, "%g N/m, %s", stiffness, way_names[how]);
  implicit_put(bench, "heap", row, "s per s", NAN, r->failed ? NAN : r->seconds);
  implicit_put(bench, "heap", row, "error, m", NAN, r->failed ? NAN : error);
}

/* One stiffness. The reference is velocity Verlet with half of its step; its difference from the
 * whole step is Verlet's own error. */
static bool run_row(const implicit_bench *bench, heap *h, double stiffness, heap_pose *reference,
                    heap_pose *end) {
  const double dt = TIME / ceil(TIME / (SAFE / sqrt(stiffness)));
  heap_run r;
  if (!take(h, VERLET, stiffness, 0.5 * dt, &r, reference))
    return false;
  printf("  %9.0e %8.3g", stiffness, DT * sqrt(stiffness));
  for (int i = 0; i < WAYS; ++i) {
    r = (heap_run){.failed = true};
    const bool is_known_to_fail = i == PICARD && DT * sqrt(stiffness) > 1;
    if (!is_known_to_fail && !take(h, (heap_way)i, stiffness, i == VERLET ? dt : DT, &r, end))
      return false;
    print_run(bench, &r, stiffness, (heap_way)i, r.failed ? NAN : distance_of(h, reference, end));
  }
  printf("\n");
  return true;
}

bool implicit_heap(const implicit_bench *bench) {
  heap h = {.count = bench->quick ? 80 : 2000, .wide = bench->quick ? 4 : 12};
  heap_pose *reference = malloc((size_t)h.count * sizeof *reference),
            *end = malloc((size_t)h.count * sizeof *end);
  h.poses = malloc((size_t)h.count * sizeof *h.poses);
  h.bodies = malloc((size_t)h.count * sizeof *h.bodies);
  bool good = h.poses && h.bodies && reference && end;
  if (!good)
    cli_error("bench implicit: out of memory");
  printf("  %d stones (ellipsoids, 1 kg) that came to rest as hard grains sink on "
         "springs for %g s; steps of\n  %g s; verlet: the largest that is stable with room for "
         "neighbours. s: processor time for a second; error:\n  of the places, root of the mean "
         "square, against verlet with half of its step, m. -: a step did not converge,\n  or h "
         "omega is above 1 (picard)\n\n  %9s %8s",
         h.count, TIME, DT, "N/m", "h omega");
  for (int i = 0; i < WAYS; ++i)
    printf("  %7s s    error%s", way_names[i], i == NEWTON ? " halved" : "");
  printf("\n");
  good = good && settle(&h);
  for (int k = 0; k < (bench->quick ? 2 : 3) && good; ++k)
    good = run_row(bench, &h, 1e4 * pow(10, k), reference, end);
  free(reference);
  free(end);
  free(h.poses);
  free(h.bodies);
  return good;
}
