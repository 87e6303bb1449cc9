/* Memory runs out at the k-th block, as in test_failures.c: meshes and what is done with them,
 * revolved walls, springs, events, streams, substeps. */
#define _XOPEN_SOURCE  700 /* mkdtemp */
#define REFUSES_MALLOC 1
#include "check.h"
#include <talus/mesh.h>
#include <talus/scene.h>

#if TALUS_HAVE_HDF5 && TALUS_HAVE_YAML

#include "failures_fixture.h"

/* ---- scenes ---------------------------------------------------------------------------------- */

#define WALLS                                                                                      \
  "materials: {rock: {density: 2600, friction: 0.3, stiffness: 1e5}}\n"                            \
  "shapes:\n"                                                                                      \
  "  ball: {sphere: 0.03}\n"                                                                       \
  "  stone: {mesh: {make: noisy-sphere, triangles: 80, size: [0.05, 0, 0, 0, 0], noise: 1.3, "     \
  "seed: 8}}\n"                                                                                    \
  "  ground: {mesh: {make: plate, size: [2, 2, 0, 0, 0], triangles: 50}}\n"                        \
  "  pipe: {tube: {radius: 0.3, length: 1}}\n"                                                     \
  "bodies:\n"                                                                                      \
  "  - {name: ground, shape: ground, material: rock, fixed: true}\n"                               \
  "  - {name: pipe, shape: pipe, material: rock, at: [0.6, 0, 0.5], fixed: true}\n"

#define STREAM                                                                                     \
  "emit:\n"                                                                                        \
  "  - {name: tap, shape: ball, material: rock, rate: 400, velocity: [0, 0, -2],\n"                \
  "     arrival: poisson, from: {disc: {at: [0.6, 0, 0.9], radius: 0.1}}}\n"                       \
  "sinks: [{name: drain, in: {box: [[-1, -1, -1], [1, 1, 0.02]]}, recycle: tap}]\n"

#define MESHES                                                                                     \
  "talus: 1\nuntil: 0.01\nstep: {dt: 2e-3, substeps: 2}\nsolve: {iterations: 5}\n" WALLS           \
  "  - {name: stone, shape: stone, material: rock, at: [0, 0, 0.06], velocity: [0, 0, -1]}\n"      \
  "  - {name: pebble, shape: stone, material: rock, at: [0.02, 0, 0.15], velocity: [0, 0, -1]}\n"  \
  "  - {shape: ball, material: rock, at: [0.868, 0, 0.3], velocity: [1, 0, -1]}\n"
static const char meshes[] = MESHES STREAM;
static const char surrogates[] = MESHES "narrow: {tree: surrogate, triangle: hybrid}\n";

static const char springs[] =
    "talus: 1\nuntil: 5e-4\nstep: {dt: 1e-4}\nsolve: {kind: penalty}\n" WALLS
    "  - {shape: ball, material: rock, at: [0.02, 0, 0.029], velocity: [0, 0, -1]}\n"
    "  - {shape: ball, material: rock, at: [0.02, 0.01, 0.088], velocity: [0, 0, -1]}\n"
    "  - {shape: ball, material: rock, at: [0.871, 0, 0.3], velocity: [1, 0, -1]}\n" STREAM;

static const char gas[] =
    "talus: 1\nuntil: 0.01\nstep: {kind: event, dt: 2e-3}\nsolve: {kind: elastic}\n"
    "materials: {gas: {density: 1000, friction: 0, restitution: 1}}\n"
    "shapes: {ball: {sphere: 0.03}, box: {container: [1, 1, 1]}}\n"
    "bodies:\n"
    "  - {name: box, shape: box, material: gas, fixed: true}\n"
    "  - fill: {shape: ball, material: gas, count: 60, seed: 2, velocity: [20, 10, 5],\n"
    "           in: {box: [[-0.4, -0.4, -0.4], [0.4, 0.4, 0.4]]}}\n"
    "gravity: [0, 0, 0]\n";

/* Steps of other lengths, and springs at their end: balls that strike a floor and each other at
 * different times, a box on its edge, a rope that holds. */
#define LANDING(settings, joint)                                                                   \
  "talus: 1\nuntil: 0.05\n" settings                                                               \
  "materials: {rock: {density: 2500, friction: 0.3, stiffness: 1e5}}\n"                            \
  "shapes: {ball: {sphere: 0.05}, brick: {box: [0.1, 0.1, 0.1]}, floor: {plane: [0, 0, 1, 0]}}\n"  \
  "bodies:\n"                                                                                      \
  "  - {name: floor, shape: floor, material: rock, fixed: true}\n"                                 \
  "  - {name: one, shape: ball, material: rock, at: [0, 0, 0.06], velocity: [0, 0, -2]}\n"         \
  "  - {name: two, shape: ball, material: rock, at: [0.01, 0, 0.2], velocity: [0, 0, -3]}\n"       \
  "  - {name: brick, shape: brick, material: rock, at: [1, 0, 0.1], velocity: [0, 0, -1],\n"       \
  "     rotation: {axis: [1, 0, 0], degrees: 40}}\n"                                               \
  "  - {name: bob, shape: ball, material: rock, at: [2, 0, 0.5], velocity: [0, 0, -4]}\n" joint

#define ROPE                                                                                       \
  "joints: [{kind: distance, bodies: [bob, ground], at: [2, 0, 0.5], to: [2, 0, 0.55], rope: "     \
  "true}]\n"
static const char adaptive[] = LANDING("step: {kind: adaptive, max: 0.01}\n", ROPE);
static const char local[] = LANDING("step: {kind: local, max: 0.01}\n", ROPE);
static const char implicit[] =
    LANDING("step: {kind: implicit, dt: 0.002}\nsolve: {kind: penalty}\n", "");

static const char *text;

static talus_status parse(talus_scene **scene) {
  return talus_scene_parse(text, strlen(text), "test.yaml", NULL, NULL, 0, scene, NULL);
}

static talus_world *build(void) {
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  CHECK_OK(parse(&scene));
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  talus_scene_free(scene);
  return world;
}

static talus_status build_world(long at) {
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  begin(at);
  talus_status status = parse(&scene);
  if (status == TALUS_OK)
    status = talus_scene_build(scene, 1, NULL, NULL, &world);
  end();
  CHECK((status == TALUS_OK) == (world != NULL));
  talus_world_destroy(world);
  talus_scene_free(scene);
  return status;
}

/* As in test_failures.c, from the first step and from a later one. */
static talus_status step_world(long at) {
  enum { STEPS = 5 };
  talus_world *world = build(), *other = build();
  const uint64_t hash = talus_world_hash(world);
  begin(at);
  talus_status status = talus_world_step(world, 1);
  end();
  if (status != TALUS_OK && talus_world_time(world) == 0) /* adaptive: not even a part of a step */
    CHECK_EQ_U64(talus_world_hash(world), hash);
  CHECK_OK(talus_world_step(world, STEPS - talus_world_steps(world)));
  CHECK_OK(talus_world_step(other, STEPS));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
  talus_world_destroy(world);
  talus_world_destroy(other);
  return status;
}

static talus_status save_and_load(long at) {
  talus_world *world = build(), *other = NULL;
  CHECK_OK(talus_world_step(world, 3));
  const uint64_t hash = talus_world_hash(world);
  remove("saved.hdf");
  begin(at);
  talus_status status = talus_world_save(world, "saved.hdf");
  if (status == TALUS_OK)
    status = talus_world_load("saved.hdf", &other);
  end();
  CHECK((status == TALUS_OK) == (other != NULL));
  CHECK_EQ_U64(talus_world_hash(world), hash);
  if (other)
    CHECK_EQ_U64(talus_world_hash(other), hash);
  talus_world_destroy(world);
  talus_world_destroy(other);
  return status;
}

TEST(meshes_springs_events_and_other_steps_are_built_stepped_and_saved_or_memory_is_missing) {
  static const struct {
    const char *text, *build, *step, *save;
  } all[] = {{meshes, "build meshes", "step meshes", "save meshes"},
             {surrogates, "build surrogates", "step surrogates", "save surrogates"},
             {springs, "build springs", "step springs", "save springs"},
             {gas, "build gas", "step gas", "save gas"},
             {adaptive, "build adaptive", "step adaptive", "save adaptive"},
             {local, "build local", "step local", "save local"},
             {implicit, "build implicit", "step implicit", "save implicit"}};
  if (!REFUSES_MEMORY)
    SKIP("this build cannot refuse memory");
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    text = all[i].text;
    fail_each(build_world, i < 4 && i != 1 ? 500 : 40, all[i].build);
    fail_each(step_world, ALL, all[i].step);
    fail_each(save_and_load, 60, all[i].save);
  }
}

/* ---- meshes by themselves -------------------------------------------------------------------- */

static const char *name;

static talus_status make_and_write(long at) {
  const talus_mesh_recipe recipe = {.kind = "noisy-sphere", .triangles = 80, .noise = 1.3};
  talus_mesh mesh = {0};
  remove(name);
  begin(at);
  talus_status status = talus_mesh_make(&recipe, &mesh);
  if (status == TALUS_OK)
    status = talus_mesh_write(&mesh, name);
  end();
  CHECK((access(name, F_OK) == 0) == (status == TALUS_OK));
  talus_mesh_free(&mesh);
  return status;
}

static talus_status read_and_mend(long at) {
  const talus_mesh_repair_def def = {.weld = -1, .close_holes = true};
  talus_mesh mesh = {0};
  talus_mesh_info info;
  size_t count;
  uint32_t first[2];
  begin(at);
  talus_status status = talus_mesh_read(name, 1, &mesh);
  if (status == TALUS_OK)
    status = talus_mesh_repair(&mesh, &def, NULL);
  if (status == TALUS_OK)
    status = talus_mesh_measure(&mesh, &info);
  if (status == TALUS_OK)
    status = talus_mesh_find_crossings(&mesh, &count, first);
  end();
  CHECK(status != TALUS_OK || (info.closed && count == 0 && mesh.triangles == 80));
  talus_mesh_free(&mesh);
  return status;
}

static talus_status make_clump(long at) {
  const talus_mesh_recipe recipe = {.kind = "box"};
  talus_mesh mesh = {0};
  talus_mesh_clump clump = {0};
  CHECK_OK(talus_mesh_make(&recipe, &mesh));
  begin(at);
  const talus_status status = talus_mesh_to_clump(&mesh, 0.2, &clump);
  end();
  CHECK((status == TALUS_OK) == (clump.count > 0));
  talus_mesh_clump_free(&clump);
  talus_mesh_free(&mesh);
  return status;
}

TEST(meshes_are_made_read_mended_and_written_or_memory_is_missing) {
  static const char *const names[][3] = {{"a.stl", "write stl", "read stl"},
                                         {"a.obj", "write obj", "read obj"},
                                         {"a.ply", "write ply", "read ply"}};
  if (!REFUSES_MEMORY)
    SKIP("this build cannot refuse memory");
  for (size_t i = 0; i < 3; ++i) {
    name = names[i][0];
    fail_each(make_and_write, ALL, names[i][1]);
    CHECK_OK(make_and_write(-1));
    fail_each(read_and_mend, 80, names[i][2]);
  }
  fail_each(make_clump, 80, "clump");
}

#else
TEST(needs_yaml_and_hdf5) {}
#endif

TEST_MAIN()
