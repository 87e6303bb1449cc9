/* Cost of sweeps in fixed steps: crowds of one kind that move by more than their size in a step,
 * and pouring, where no body is fast. */
#include "fast.h"

#include "cli.h"
#include "shape/mesh.h"
#include "tools.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <talus/talus.h>

#define SIDE 2.0 /* m: of the room */

typedef struct kind {
  const char *name;
  talus_shape_kind kind;
  double size[5];
} kind;

static talus_status add_shape(talus_world *world, const kind *k, talus_shape *shape) {
  static const double pair[] = {-0.03, 0, 0, 0.03, 0.03, 0, 0, 0.03};
  talus_shape_def def = talus_shape_def_default();
  tl_mesh mesh = {0};
  talus_status status = TALUS_OK;
  def.kind = k->kind;
  memcpy(def.size, k->size, sizeof def.size);
  if (k->kind == TALUS_CLUMP)
    def.points = pair, def.point_count = 2;
  if (k->kind == TALUS_MESH) {
    status = tl_mesh_make_noisy_sphere(80, 1, 1, &mesh);
    for (size_t i = 0; status == TALUS_OK && i < mesh.vertices; ++i)
      for (int j = 0; j < 3; ++j)
        mesh.vertex[i][j] *= 0.05;
    def.points = mesh.vertices > 0 ? mesh.vertex[0] : NULL, def.point_count = mesh.vertices;
    def.triangles = mesh.triangles > 0 ? mesh.triangle[0] : NULL;
    def.triangle_count = mesh.triangles;
  }
  if (status == TALUS_OK)
    status = talus_world_add_shape(world, &def, shape);
  tl_mesh_release(&mesh);
  return status;
}

/* A lattice of bodies in a room; speed: of each, in a random direction. */
static talus_status make(const kind *k, int across, double speed, double gravity, bool sweep,
                         talus_world **world) {
  static const kind room = {"room", TALUS_CONTAINER, {SIDE, SIDE, SIDE}};
  talus_world_def def = talus_world_def_default();
  talus_material_def matter = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  uint64_t seed = 3;
  def.gravity = (talus_vec3){0, 0, (talus_real)-gravity};
  def.dt = 1e-3;
  def.threads = 1;
  def.sweep = sweep;
  matter.restitution = 0.5;
  talus_status status = talus_world_create(&def, world);
  if (status == TALUS_OK)
    status = talus_world_add_material(*world, &matter, &body.material);
  if (status == TALUS_OK)
    status = add_shape(*world, &room, &body.shape);
  body.kind = TALUS_FIXED;
  if (status == TALUS_OK)
    status = talus_world_add_body(*world, &body, NULL);
  if (status == TALUS_OK)
    status = add_shape(*world, k, &body.shape);
  body.kind = TALUS_FREE;
  const double pitch = SIDE / across;
  for (int i = 0; status == TALUS_OK && i < across * across * across; ++i) {
    body.position = (talus_dvec3){-SIDE / 2 + pitch * (0.5 + i % across),
                                  -SIDE / 2 + pitch * (0.5 + i / across % across),
                                  -SIDE / 2 + pitch * (0.5 + i / across / across)};
    const double z = 2 * bench_random(&seed) - 1, turn = 6.283185307179586 * bench_random(&seed);
    const double flat = sqrt(1 - z * z);
    body.velocity = (talus_vec3){(talus_real)(speed * flat * cos(turn)),
                                 (talus_real)(speed * flat * sin(turn)), (talus_real)(speed * z)};
    body.spin = (talus_vec3){(talus_real)(0.1 * speed), 0, 0};
    status = talus_world_add_body(*world, &body, NULL);
  }
  return status;
}

typedef struct spent {
  double seconds;
  double pairs;
  uint64_t swept;
  size_t bodies;
} spent;

static talus_status run(const kind *k, int across, double speed, double gravity, uint64_t warm,
                        uint64_t steps, bool sweep, spent *out) {
  talus_world *world = NULL;
  talus_report report = {0};
  talus_status status = make(k, across, speed, gravity, sweep, &world);
  if (status == TALUS_OK)
    status = talus_world_step(world, warm);
  *out = (spent){0};
  for (uint64_t i = 0; status == TALUS_OK && i < steps; ++i) {
    const double begun = bench_cpu();
    status = talus_world_step(world, 1);
    out->seconds += bench_cpu() - begun;
    if (status == TALUS_OK)
      status = talus_world_report(world, &report);
    out->pairs += (double)report.pairs;
  }
  out->swept = report.swept, out->bodies = report.bodies;
  talus_world_destroy(world);
  return status;
}

/* With and without sweeps in turn; the minimum of each. */
static talus_status compare(const fast_bench *bench, const kind *k, int across, double speed,
                            double gravity, uint64_t warm, uint64_t steps) {
  spent best[2] = {{.seconds = DBL_MAX}, {.seconds = DBL_MAX}};
  for (int i = 0; i < 2 * bench->repeat; ++i) {
    spent now;
    const talus_status status = run(k, across, speed, gravity, warm, steps, i % 2 == 1, &now);
    if (status != TALUS_OK)
      return status;
    if (now.seconds < best[i % 2].seconds)
      best[i % 2] = now;
  }
  const double ratio = best[1].seconds / best[0].seconds;
  printf("  %-26s %7zu %8g %10.3f %10.3f %7.3f %9.0f %9llu\n", k->name, best[1].bodies, speed,
         1e3 * best[0].seconds / (double)steps, 1e3 * best[1].seconds / (double)steps, ratio,
         best[1].pairs / (double)steps, (unsigned long long)best[1].swept);
  if (bench->csv)
    fprintf(bench->csv, "sweep,%s,%g m/s,%.6g,%llu,,%.6g\n", k->name, speed,
            1e9 * (best[1].seconds - best[0].seconds) / fmax(best[1].pairs, 1),
            (unsigned long long)best[1].swept, ratio);
  return TALUS_OK;
}

int fast_sweep(const fast_bench *bench) {
  static const kind kinds[] = {{"balls", TALUS_SPHERE, {0.05}},
                               {"boxes", TALUS_BOX, {0.06, 0.06, 0.06}},
                               {"capsules", TALUS_CAPSULE, {0.025, 0.05}},
                               {"ellipsoids", TALUS_ELLIPSOID, {0.05, 0.035, 0.025}},
                               {"clumps of two", TALUS_CLUMP, {0}},
                               {"meshes of 80 triangles", TALUS_MESH, {0}}};
  const int across = bench->is_quick ? 4 : 8;
  const uint64_t steps = bench->is_quick ? 4 : 20;
  printf(
      "\nfixed steps of 1 ms, without and with sweeps\n\n  %-26s %7s %8s %10s %10s %7s %9s %9s\n",
      "crowd", "bodies", "m/s", "ms without", "ms with", "ratio", "pairs", "swept");
  talus_status status = TALUS_OK;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == TALUS_OK; ++i)
    status = compare(bench, &kinds[i], across, 100, 0, 0, steps);
  if (status == TALUS_OK) {
    static const kind pour = {"balls that are poured", TALUS_SPHERE, {0.035}};
    status = compare(bench, &pour, bench->is_quick ? 6 : 20, 1, 9.81, bench->is_quick ? 20 : 100,
                     bench->is_quick ? 20 : 150);
  }
  if (status != TALUS_OK)
    cli_error("bench fast: %s", talus_last_error());
  return status == TALUS_OK ? CLI_DONE : CLI_FAILED;
}
