/* Where steps look whether to go on: at every such place a step can be given up and has then not
 * happened, and there are enough of them for crowds of a million bodies. */
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <talus/mesh.h>
#include "base/clock.h"
#include "physics/rig.h"
#include "world/world.h"

/* ---- worlds ---------------------------------------------------------------------------------- */

typedef struct way {
  const char *name;
  talus_solve_kind solve;
  talus_ccp_method method;
  talus_broad_kind broad;
  talus_step_kind step;
  double skin;
  int substeps;
  bool has_meshes, has_blocks, is_bouncy;
  bool has_joints; /* whose bodies have to be brought together first */
} way;

static const way ways[] = {
    {.name = "ccp", .broad = TALUS_BROAD_BINS},
    {.name = "ccp, brute", .broad = TALUS_BROAD_BRUTE},
    {.name = "ccp, kdtree", .broad = TALUS_BROAD_KDTREE, .has_blocks = true},
    {.name = "ccp, cells", .broad = TALUS_BROAD_CELLS, .is_bouncy = true},
    {.name = "ccp, sweep", .broad = TALUS_BROAD_SWEEP},
    {.name = "ccp, bvh", .broad = TALUS_BROAD_BVH},
    {.name = "ccp, a skin", .broad = TALUS_BROAD_BINS, .skin = 0.01},
    {.name = "bb, islands", .method = TALUS_BB},
    {.name = "substeps", .substeps = 3},
    {.name = "joints", .has_joints = true},
    {.name = "meshes", .has_meshes = true},
    {.name = "impulse", .solve = TALUS_SOLVE_IMPULSE, .is_bouncy = true},
    {.name = "springs of balls", .solve = TALUS_SOLVE_PENALTY},
    {.name = "springs of balls in a mesh", .solve = TALUS_SOLVE_PENALTY, .has_meshes = true},
    {.name = "springs of blocks", .solve = TALUS_SOLVE_PENALTY, .has_blocks = true},
    {.name = "springs, brute", .solve = TALUS_SOLVE_PENALTY, .broad = TALUS_BROAD_BRUTE},
    {.name = "events", .solve = TALUS_SOLVE_ELASTIC, .step = TALUS_STEP_EVENT},
    {.name = "events, a step", .solve = TALUS_SOLVE_ELASTIC, .is_bouncy = true},
};
#define WAYS (sizeof ways / sizeof *ways)

static talus_world_def def_of(const way *w, int threads) {
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  def.solve.kind = w->solve, def.solve.method = w->method;
  def.solve.iterations = def.solve.iterations_max = 4, def.solve.tolerance = 0;
  def.broad = w->broad, def.skin = w->skin, def.step = w->step;
  def.substeps = w->substeps > 0 ? w->substeps : 1;
  def.dt = w->solve == TALUS_SOLVE_PENALTY ? 1e-5 : 1e-3;
  return def;
}

/* A bumpy ball, about 1 m large. */
static talus_shape add_mesh(talus_world *world) {
  const talus_mesh_recipe recipe = {.kind = "noisy-sphere", .triangles = 320, .noise = 1.5};
  talus_mesh mesh;
  talus_shape_def def = talus_shape_def_default();
  talus_shape shape;
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  def.kind = TALUS_MESH;
  def.points = (const double *)mesh.vertex, def.point_count = mesh.vertices;
  def.triangles = (const uint32_t *)mesh.triangle, def.triangle_count = mesh.triangles;
  CHECK_OK(talus_world_add_shape(world, &def, &shape));
  talus_mesh_free(&mesh);
  return shape;
}

/* A ball and socket between two neighbours that do not meet there yet. */
static void join(talus_world *world, talus_body a, talus_body b) {
  talus_joint_def def = talus_joint_def_default();
  def.a = a, def.b = b;
  def.at = rig_info(world, a).position, def.to = rig_info(world, b).position;
  def.at.x += 0.052, def.to.x -= 0.049, def.to.z += 0.01;
  def.assemble = true;
  CHECK_OK(talus_world_add_joint(world, &def, NULL));
}

/* Balls (and blocks) in layers of side x side, that nearly touch and fall on each other. */
static talus_world *make_heap(const way *w, int threads, int n, int side) {
  const talus_world_def def = def_of(w, threads);
  const bool is_gas = w->solve == TALUS_SOLVE_ELASTIC;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, is_gas ? 0 : 0.5, w->is_bouncy ? 0.5 : 0);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0);
  const talus_shape block = rig_shape(world, TALUS_BOX, 0.08, 0.08, 0.08, 0);
  if (w->has_meshes)
    rig_body(world, TALUS_FIXED, add_mesh(world), m, 0.3, 0.3, -0.9);
  else
    rig_floor(world, m);
  const double apart = is_gas ? 0.11 : 0.0999;
  talus_body last = {0, 0};
  for (int i = 0; i < n; ++i) {
    const int x = i % side, y = i / side % side, z = i / side / side;
    const talus_body body = rig_body(world, TALUS_FREE, w->has_blocks && i % 5 == 0 ? block : ball,
                                     m, apart * x, apart * y, 0.0501 + apart * z);
    CHECK_OK(talus_body_set_velocity(world, body, rig_vec(0.3 * (i % 3 - 1), 0.2 * (i % 5 - 2), -1),
                                     rig_vec(0, 0, 0)));
    if (w->has_joints && i % 4 == 1)
      join(world, last, body);
    last = body;
  }
  return world;
}

/* ---- look by look ---------------------------------------------------------------------------- */

/* Gives the next step up at its first, its second ... look, until it looks no more and is taken; of
 * the later ones, unless TALUS_SOAK is in the environment, at fewer and fewer. Returns how often.
 */
static int step_at_last(talus_world *world, const way *w) {
  const uint64_t steps = talus_world_steps(world);
  uint64_t hash = talus_world_hash(world);
  const bool all = getenv("TALUS_SOAK") != NULL;
  int given_up = 0;
  long k = 1;
  for (;; k += all ? 1 : 1 + k / 8, ++given_up) {
    const bool was_apart = world->joints.must_assemble;
    atomic_store(&world->cancel.looks_of_tests, k);
    const talus_status status = talus_world_step(world, 1);
    if (status == TALUS_OK)
      break;
    CHECK_MSG(status == TALUS_INTERRUPTED, "%s: look %ld: %s", w->name, k, talus_last_error());
    if (was_apart && !world->joints.must_assemble) /* which comes before the step, once */
      hash = talus_world_hash(world);
    CHECK_MSG(talus_world_hash(world) == hash && talus_world_steps(world) == steps,
              "%s: look %ld has changed the state", w->name, k);
  }
  CHECK_MSG(atomic_exchange(&world->cancel.looks_of_tests, 0) > 0, "%s: look %ld did not stop it",
            w->name, k);
  return given_up;
}

static void compare(talus_world *world, talus_world *calm, const way *w) {
  const talus_report a = rig_report(world), b = rig_report(calm);
  CHECK_MSG(talus_world_hash(world) == talus_world_hash(calm), "%s: other bits", w->name);
  CHECK_MSG(a.contacts == b.contacts && a.contact_work == b.contact_work &&
                a.damping_work == b.damping_work && a.friction_work == b.friction_work &&
                a.elastic_energy == b.elastic_energy,
            "%s: other sums", w->name);
}

TEST(step_given_up_at_any_look_has_not_happened) {
  for (size_t i = 0; i < WAYS; ++i) {
    const way *w = &ways[i];
    volatile int flag = 0;
    const int n = check_is_short() ? 40 : 120;
    talus_world *world = make_heap(w, 2, n, 5), *calm = make_heap(w, 2, n, 5);
    CHECK_OK(talus_world_set_interrupt(world, &flag));
    int looks = 0;
    for (int s = 0; s < (check_is_short() ? 2 : 3); ++s) {
      looks += step_at_last(world, w);
      CHECK_OK(talus_world_step(calm, 1));
      compare(world, calm, w);
    }
    CHECK_MSG(looks > 1, "%s was given up %d times", w->name, looks);
    talus_world_destroy(world);
    talus_world_destroy(calm);
  }
}

/* ---- how soon -------------------------------------------------------------------------------- */

/* Seconds that the process has worked, without what the system does for it: clearing the pages of
 * a first step takes seconds on a machine that others load, and 0.1 s on one that is quiet. */
static double worked_s(void) {
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

typedef struct alarm_clock {
  volatile int *flag;
  double after, rang, busy; /* s; by then the process had worked for that long */
} alarm_clock;

static void *ring(void *context) {
  alarm_clock *a = context;
  const struct timespec t = {(time_t)a->after, (long)(1e9 * (a->after - (double)(time_t)a->after))};
  nanosleep(&t, NULL);
  a->rang = tl_clock(), a->busy = worked_s();
  __atomic_store_n(a->flag, 1, __ATOMIC_RELAXED);
  return NULL;
}

/* Steps until an alarm rings; how much longer it worked, s: on a busy machine that is less than it
 * took. */
static double stop_after(talus_world *world, double after) {
  volatile int flag = 0;
  alarm_clock a = {.flag = &flag, .after = after};
  pthread_t thread;
  CHECK_OK(talus_world_set_interrupt(world, &flag));
  CHECK(pthread_create(&thread, NULL, ring, &a) == 0);
  const talus_status status = talus_world_step(world, 1000000);
  const double stopped = tl_clock(), busy = worked_s();
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_MSG(status == TALUS_INTERRUPTED, "%s", talus_last_error());
  return fmin(stopped - a.rang, busy - a.busy);
}

/* Every box against every other, which takes an hour for a million of them. With TALUS_SOAK all
 * ways are tried with so many, at several moments. */
TEST(steps_of_large_crowds_stop_within_a_second) {
  const bool all = getenv("TALUS_SOAK") != NULL;
  const int n = all ? 1000000 : check_is_short() ? 20000 : 200000;
  for (size_t i = 0; i < WAYS; ++i) {
    const way *w = &ways[i];
    if (!all && w->broad != TALUS_BROAD_BRUTE)
      continue;
    talus_world *world = make_heap(w, 2, n, 100);
    double most = 0;
    for (int k = 0; k < (all ? 3 : 1); ++k) {
      const double took = stop_after(world, 0.05 + 0.9 * k);
      most = took > most ? took : most;
    }
    if (all)
      printf("  %s: within %.2f s\n", w->name, most), fflush(stdout);
    CHECK_MSG(most < 1, "%s took %g s to stop", w->name, most);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
