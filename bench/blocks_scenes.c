/* talus bench blocks: the scenes. */
#include "blocks.h"

#include <math.h>
#include <string.h>

#include <talus/scene.h>

static const talus_quat NONE = {1, 0, 0, 0};

static int count_of(const blocks_bench *bench, int count, int quick) {
  return bench->options.bodies > 0 ? bench->options.bodies : bench->options.quick ? quick : count;
}

/* ---- pyramid --------------------------------------------------------------------------------- */

static bool stack_pyramid(blocks_rig *rig, int count) {
  const int layers = (int)floor(sqrt(2.0 * count + 0.25) - 0.5 + 1e-9);
  bool good = true;
  for (int row = 0; row < layers; ++row)
    for (int i = 0; i < layers - row && good; ++i) {
      const talus_dvec3 at = {1.05 * (i + 0.5 * row - 0.5 * layers), 0, 0.5 + row};
      good = blocks_add_body(rig, TALUS_FREE, rig->box, at, NONE, NULL);
    }
  return good;
}

typedef bool build_fn(blocks_rig *rig, int count);

static bool run_scenes(const blocks_bench *bench, const char *name, build_fn *build,
                       const int *counts, int n, int quick, int steps) {
  FILE *csv;
  bool good = blocks_begin(bench, name, &csv);
  const int rows = bench->options.bodies > 0 || bench->options.quick ? 1 : n;
  for (int i = 0; i < rows && good; ++i) {
    blocks_rig rig;
    good = blocks_rig_make(&bench->options, true, &rig) &&
           build(&rig, count_of(bench, counts[i], quick)) &&
           blocks_measure(bench, name, rig.world, steps, csv);
    talus_world_destroy(rig.world);
  }
  return bench_csv_close(csv) && good;
}

bool blocks_pyramid(const blocks_bench *bench) {
  const int counts[] = {1275, 5050, 20100};
  return run_scenes(bench, "pyramid", stack_pyramid, counts, 3, 55, 200);
}

/* ---- hulls and rubble ------------------------------------------------------------------------ */

/* Bodies in layers above the floor of a container that holds about six layers of them. */
static bool pour(blocks_rig *rig, int count, const talus_shape *shapes, int kinds) {
  const int side = (int)ceil(sqrt(count / 6.0)) + 1;
  talus_shape tank;
  bool good =
      blocks_add_shape(rig, TALUS_CONTAINER, 1.15 * side + 0.4, 1.15 * side + 0.4, 1e4, &tank) &&
      blocks_add_body(rig, TALUS_FIXED, tank, (talus_dvec3){0, 0, 5e3}, NONE, NULL);
  for (int i = 0; i < count && good; ++i) {
    const int layer = i / (side * side), cell = i % (side * side);
    const talus_dvec3 at = {1.15 * (cell % side - 0.5 * (side - 1)),
                            1.15 * (cell / side - 0.5 * (side - 1)), 0.7 + 1.15 * layer};
    good =
        blocks_add_body(rig, TALUS_FREE, shapes[i % kinds], at, blocks_rotation((uint64_t)i), NULL);
  }
  return good;
}

static bool pour_hulls(blocks_rig *rig, int count) { return pour(rig, count, &rig->hull, 1); }

bool blocks_hulls(const blocks_bench *bench) {
  const int counts[] = {2000, 10000};
  return run_scenes(bench, "hulls", pour_hulls, counts, 2, 40, 300);
}

static bool pour_rubble(blocks_rig *rig, int count) {
  talus_shape shapes[5] = {rig->hull};
  return blocks_add_shape(rig, TALUS_BOX, 0.7, 0.6, 0.5, &shapes[1]) &&
         blocks_add_shape(rig, TALUS_CYLINDER, 0.35, 0.6, 0, &shapes[2]) &&
         blocks_add_shape(rig, TALUS_CAPSULE, 0.25, 0.5, 0, &shapes[3]) &&
         blocks_add_shape(rig, TALUS_CONE, 0.4, 0.7, 0, &shapes[4]) && pour(rig, count, shapes, 5);
}

bool blocks_rubble(const blocks_bench *bench) {
  const int counts[] = {2000};
  return run_scenes(bench, "rubble", pour_rubble, counts, 1, 40, 300);
}

/* ---- wall ------------------------------------------------------------------------------------ */

static bool build_wall(blocks_rig *rig, int count) {
  const int columns = (int)ceil(sqrt(count / 0.6));
  talus_shape brick, ball;
  bool good = blocks_add_shape(rig, TALUS_BOX, 1, 0.5, 0.4, &brick) &&
              blocks_add_shape(rig, TALUS_SPHERE, 1, 0, 0, &ball);
  for (int i = 0; i < count && good; ++i) {
    const int row = i / columns;
    const talus_dvec3 at = {1.01 * (i % columns + 0.5 * (row % 2) - 0.5 * columns), 0,
                            0.2 + 0.4 * row};
    good = blocks_add_body(rig, TALUS_FREE, brick, at, NONE, NULL);
  }
  talus_body hammer;
  return good &&
         blocks_add_body(rig, TALUS_FREE, ball, (talus_dvec3){0, -8, 0.2 * count / columns + 1},
                         NONE, &hammer) &&
         (talus_body_set_velocity(rig->world, hammer, (talus_vec3){0, 20, 0},
                                  (talus_vec3){0, 0, 0}) == TALUS_OK ||
          blocks_fail("the ball"));
}

bool blocks_wall(const blocks_bench *bench) {
  const int counts[] = {1000};
  return run_scenes(bench, "wall", build_wall, counts, 1, 40, 200);
}

/* ---- a sheet of joints ----------------------------------------------------------------------- */

static bool join(blocks_rig *rig, talus_body a, talus_body b, talus_dvec3 at) {
  talus_joint_def def = talus_joint_def_default();
  def.kind = TALUS_JOINT_SPHERICAL;
  def.a = a, def.b = b;
  def.at = def.to = at;
  return talus_world_add_joint(rig->world, &def, NULL) == TALUS_OK || blocks_fail("a joint");
}

/* A sheet held along one edge, which swings down from horizontal. */
static bool hang_sheet(blocks_rig *rig, int count) {
  enum { SIDE_MOST = 512 };
  static talus_body last[SIDE_MOST];
  const int side = (int)fmin(floor(sqrt(count) + 1e-9), SIDE_MOST);
  const double z = 2.0 * side;
  talus_shape link;
  bool good = blocks_add_shape(rig, TALUS_BOX, 0.8, 0.8, 0.2, &link);
  for (int i = 0; i < side * side && good; ++i) {
    const int x = i % side, y = i / side;
    talus_body body;
    good = blocks_add_body(rig, TALUS_FREE, link, (talus_dvec3){x, y, z}, NONE, &body);
    if (good && x > 0)
      good = join(rig, last[x - 1], body, (talus_dvec3){x - 0.5, y, z});
    if (good)
      good = join(rig, y > 0 ? last[x] : (talus_body){0}, body, (talus_dvec3){x, y - 0.5, z});
    last[x] = body;
  }
  return good;
}

bool blocks_jointed(const blocks_bench *bench) {
  const int counts[] = {2500};
  return run_scenes(bench, "jointed", hang_sheet, counts, 1, 25, 60);
}

/* ---- vehicle --------------------------------------------------------------------------------- */

bool blocks_vehicle(const blocks_bench *bench) {
  char count[64];
  const char *const settings[] = {count};
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  FILE *csv;
  if (!TALUS_HAVE_YAML) {
    printf("skipped: scenes need libyaml, which this build does not have\n");
    return true;
  }
  snprintf(count, sizeof count, "bodies.1.fill.count=%d", count_of(bench, 10000, 50));
  bool good = talus_scene_load("vehicle", settings, 1, &scene, NULL) == TALUS_OK &&
              talus_scene_build(scene, bench->options.threads, NULL, NULL, &world) == TALUS_OK;
  talus_scene_free(scene);
  if (!good)
    return blocks_fail("the scene vehicle");
  printf("The scene has its own step and solver.\n");
  good = blocks_begin(bench, "vehicle", &csv) &&
         blocks_measure(bench, "vehicle", world, 200, csv) && bench_csv_close(csv);
  talus_world_destroy(world);
  return good;
}
