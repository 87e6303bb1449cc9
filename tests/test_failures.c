/* Memory runs out at the k-th block that is asked for, for every k: each call says so, takes back
 * all it took, and leaves the world as it was, or as the call would have made it. */
#define _XOPEN_SOURCE  700 /* mkdtemp */
#define REFUSES_MALLOC 1
#include "check.h"
#include <talus/detect.h>
#include <talus/scene.h>

#if TALUS_HAVE_HDF5 && TALUS_HAVE_YAML

#include "failures_fixture.h"

static const char scene_text[] =
    "talus: 1\n"
    "until: 0.02\n"
    "step: {dt: 2e-3}\n"
    "materials: {rock: {density: 2600, rolling: 1e-3}, steel: {density: 7800}}\n"
    "pairs: [{materials: [rock, steel], friction: 0.2}]\n"
    "shapes:\n"
    "  ball: {sphere: 0.05}\n"
    "  brick: {box: [0.3, 0.2, 0.1]}\n"
    "  tank: {container: [1, 1, 2], open: [top]}\n"
    "  egg: {ellipsoid: [0.06, 0.05, 0.04]}\n"
    "  pill: {capsule: {radius: 0.03, length: 0.1}}\n"
    "  stone: {hull: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0.08, 0.08, 0.08]]}\n"
    "  nut: {clump: [[0, 0, 0, 0.04], [0.05, 0, 0, 0.03]]}\n"
    "domain: {box: [[-2, -2, -2], [2, 2, 3]], periodic: [y], outside: remove}\n"
    "bodies:\n"
    "  - {name: tank, shape: tank, material: steel, at: [0, 0, 1], fixed: true}\n"
    "  - {name: paddle, shape: ball, material: steel, at: [0, 0, 0.3], group: soft,\n"
    "     motion: {amplitude: [0.1, 0, 0], frequency: 2, spin: [0, 1, 0]}}\n"
    "  - {name: brick, shape: brick, material: rock, at: [0.1, 0.1, 0.05], force: [1, 0, 0]}\n"
    "  - {name: ball, shape: ball, material: rock, at: [-0.3, 0, 0.049], lock: [x], group: hard}\n"
    "  - {name: egg, shape: egg, material: rock, at: [0.4, -0.3, 0.04]}\n"
    "  - {name: pill, shape: pill, material: rock, at: [0.4, -0.1, 0.08]}\n"
    "  - {name: stone, shape: stone, material: rock, at: [0.3, 0.2, 0]}\n"
    "  - {name: nut, shape: nut, material: steel, at: [0.4, 0.39, 0.04]}\n"
    "  - {name: arm, shape: brick, material: steel, at: [-0.2, -0.3, 0.8]}\n"
    "  - {name: bob, shape: ball, material: steel, at: [-0.2, -0.3, 0.5]}\n"
    "  - fill: {shape: ball, material: rock, count: 20, seed: 3, size: {uniform: [0.5, 1]},\n"
    "           in: {box: [[-0.4, -0.4, 0.9], [0.4, 0.4, 1.5]]}, velocity: [0, 0, -1]}\n"
    "ignore: [[soft, hard]]\n"
    "joints:\n"
    "  - {name: hinge, kind: revolute, bodies: [arm, ground], at: [-0.2, -0.3, 0.8],\n"
    "     axis: [0, 1, 0], motor: {speed: 1, max: 2}}\n"
    "  - {name: rope, kind: distance, bodies: [arm, bob], at: [-0.2, -0.3, 0.75],\n"
    "     to: [-0.2, -0.3, 0.5], rope: true}\n"
    "emit:\n"
    "  - {name: tap, shape: ball, material: rock, rate: 400, velocity: [0, 0, -2],\n"
    "     size: {table: [[0.5, 1], [1, 2]]}, from: {disc: {at: [0, 0, 1.8], radius: 0.3}}}\n"
    "sinks: [{name: drain, in: {box: [[-0.5, -0.5, 0], [-0.4, -0.4, 0.1]]}}]\n"
    "probes:\n"
    "  - {name: push, body: paddle, record: [force], every: 0.004}\n"
    "  - {name: load, joint: hinge, record: [torque]}\n"
    "output: {every: 0.01, fields: [quaternion, velocity, contacts, surfaces]}\n";

static talus_scene *parse(const char *settings) {
  talus_scene *scene = NULL;
  const char *const list[] = {settings};
  CHECK_OK(talus_scene_parse(scene_text, sizeof scene_text - 1, "test.yaml", NULL, list,
                             settings != NULL, &scene, NULL));
  return scene;
}

static talus_world *build(const char *settings) {
  talus_scene *scene = parse(settings);
  talus_world *world = NULL;
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  talus_scene_free(scene);
  return world;
}

/* ---- scenes and worlds ----------------------------------------------------------------------- */

static talus_status parse_scene(long at) {
  talus_scene *scene = NULL;
  char *problems = NULL;
  begin(at);
  const talus_status status = talus_scene_parse(scene_text, sizeof scene_text - 1, "test.yaml",
                                                NULL, NULL, 0, &scene, &problems);
  end();
  CHECK((status == TALUS_OK) == (scene != NULL));
  if (scene) { /* all of it, where it could do without that block */
    talus_scene *other = parse(NULL);
    char *text = NULL, *expected = NULL;
    CHECK_OK(talus_scene_write(scene, &text));
    CHECK_OK(talus_scene_write(other, &expected));
    CHECK_STR(text, expected);
    talus_text_free(text);
    talus_text_free(expected);
    talus_scene_free(other);
  }
  talus_scene_free(scene);
  talus_text_free(problems);
  return status;
}

static talus_status write_scene(long at) {
  talus_scene *scene = parse(NULL);
  char *text = NULL;
  begin(at);
  const talus_status status = talus_scene_write(scene, &text);
  end();
  talus_text_free(text);
  talus_scene_free(scene);
  return status;
}

static talus_status build_world(long at) {
  talus_scene *scene = parse(NULL);
  talus_world *world = NULL;
  begin(at);
  const talus_status status = talus_scene_build(scene, 1, NULL, NULL, &world);
  end();
  CHECK((status == TALUS_OK) == (world != NULL));
  talus_world_destroy(world);
  talus_scene_free(scene);
  return status;
}

TEST(scene_is_read_written_and_built_or_memory_is_missing) {
  if (!REFUSES_MEMORY)
    SKIP("this build cannot refuse memory");
  fail_each(parse_scene, 150, "parse");
  fail_each(write_scene, 40, "write");
  fail_each(build_world, 150, "build");
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const char *solver;

/* The first step of a world asks for all that later ones need. One that fails leaves the state as
 * it was, or, where the bodies have moved, goes on with the next call: no body is missed or emitted
 * twice. */
static talus_status step_world(long at) {
  talus_world *world = build(solver), *other = build(solver);
  const uint64_t hash = talus_world_hash(world);
  begin(at);
  const talus_status status = talus_world_step(world, 1);
  end();
  if (status != TALUS_OK && talus_world_steps(world) == 0)
    CHECK_EQ_U64(talus_world_hash(world), hash);
  CHECK_OK(talus_world_step(world, 6 - talus_world_steps(world)));
  CHECK_OK(talus_world_step(other, 6));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
  talus_world_destroy(world);
  talus_world_destroy(other);
  return status;
}

TEST(step_is_taken_or_not_where_memory_is_missing) {
  static const char *const solvers[] = {"solve={kind: ccp, iterations: 5}",
                                        "solve={kind: impulse, iterations: 5}",
                                        "solve={kind: ccp, method: apgd, iterations: 5}"};
  if (!REFUSES_MEMORY)
    SKIP("this build cannot refuse memory");
  for (size_t i = 0; i < sizeof solvers / sizeof *solvers; ++i) {
    solver = solvers[i];
    fail_each(step_world, 60, solver);
  }
}

/* Clusters of local time come and go within a step: pairs of balls that meet at different times,
 * and a joint that breaks. */
static const char local_text[] =
    "talus: 1\n"
    "until: 0.1\n"
    "step: {kind: local, max: 0.02, min: 1e-8}\n"
    "materials: {rock: {density: 2600, friction: 0.3, restitution: 0.5}}\n"
    "shapes: {ball: {sphere: 0.05}, floor: {plane: [0, 0, 1, 0]}}\n"
    "bodies:\n"
    "  - {shape: floor, material: rock, fixed: true}\n"
    "  - {shape: ball, material: rock, at: [0, 0, 0.06], velocity: [1, 0, 0]}\n"
    "  - {shape: ball, material: rock, at: [0.11, 0, 0.06], velocity: [-1, 0, 0]}\n"
    "  - {shape: ball, material: rock, at: [0, 1, 0.5], velocity: [1, 0, 0]}\n"
    "  - {shape: ball, material: rock, at: [0.13, 1, 0.5], velocity: [-1, 0, 0]}\n"
    "  - {name: one, shape: ball, material: rock, at: [0, 2, 0.5], velocity: [3, 0, 0]}\n"
    "  - {name: two, shape: ball, material: rock, at: [0.12, 2, 0.5], velocity: [-3, 0, 0]}\n"
    "joints:\n"
    "  - {kind: fixed, bodies: [one, two], at: [0.06, 2, 0.5], break: {force: 1}}\n"
    "probes: [{name: all, region: {box: [[-1, -1, 0], [1, 3, 1]]}, record: [stress]}]\n";

static talus_world *build_local(void) {
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  CHECK_OK(talus_scene_parse(local_text, sizeof local_text - 1, "local.yaml", NULL, NULL, 0, &scene,
                             NULL));
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  talus_scene_free(scene);
  return world;
}

static talus_status step_locally(long at) {
  talus_world *world = build_local(), *other = build_local();
  const uint64_t hash = talus_world_hash(world);
  begin(at);
  const talus_status status = talus_world_step(world, 1);
  end();
  if (status != TALUS_OK && talus_world_steps(world) == 0)
    CHECK_EQ_U64(talus_world_hash(world), hash);
  CHECK_OK(talus_world_step(world, 4 - talus_world_steps(world)));
  CHECK_OK(talus_world_step(other, 4));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
  CHECK(world->local.counts.body_steps == other->local.counts.body_steps);
  talus_world_destroy(world);
  talus_world_destroy(other);
  return status;
}

TEST(local_step_is_taken_or_not_where_memory_is_missing) {
  if (!REFUSES_MEMORY)
    SKIP("this build cannot refuse memory");
  fail_each(step_locally, 200, "local");
}

/* ---- files ----------------------------------------------------------------------------------- */

static talus_world *aged(void) {
  talus_world *world = build(NULL);
  CHECK_OK(talus_world_step(world, 10));
  return world;
}

typedef talus_status write_fn(talus_world *world, const char *path);

static write_fn *writer;

/* The file is whole or not there; the world is as it was. */
static talus_status write_file(long at) {
  talus_world *world = aged();
  const uint64_t hash = talus_world_hash(world);
  remove("failures.hdf");
  begin(at);
  const talus_status status = writer(world, "failures.hdf");
  end();
  CHECK((access("failures.hdf", F_OK) == 0) == (status == TALUS_OK));
  CHECK(access("failures.hdf.part", F_OK) != 0);
  CHECK_EQ_U64(talus_world_hash(world), hash);
  talus_world_destroy(world);
  return status;
}

TEST(file_is_whole_or_not_there_where_memory_is_missing) {
  if (!REFUSES_MEMORY)
    SKIP("this build cannot refuse memory");
  static const struct {
    write_fn *write;
    const char *name;
  } all[] = {{talus_world_write_frame, "frame"},
             {talus_world_write_contacts, "contacts"},
             {talus_world_write_surfaces, "surfaces"},
             {talus_world_save, "save"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    writer = all[i].write;
    fail_each(write_file, 60, all[i].name);
  }
}

static uint64_t saved_hash;

static talus_status load_world(long at) {
  talus_world *world = NULL;
  begin(at);
  const talus_status status = talus_world_load("saved.hdf", &world);
  end();
  CHECK((status == TALUS_OK) == (world != NULL));
  if (world)
    CHECK_EQ_U64(talus_world_hash(world), saved_hash);
  talus_world_destroy(world);
  return status;
}

TEST(world_is_loaded_or_memory_is_missing) {
  if (!REFUSES_MEMORY)
    SKIP("this build cannot refuse memory");
  enter();
  talus_world *world = aged();
  saved_hash = talus_world_hash(world);
  CHECK_OK(talus_world_save(world, "saved.hdf"));
  talus_world_destroy(world);
  fail_each(load_world, 300, "load");
}

/* ---- detection and runs ---------------------------------------------------------------------- */

static talus_status detect(long at) {
  static const char table[] = "shape,x,y,z,qw,qx,qy,qz,a,b,c\n"
                              "sphere,0,0,0,1,0,0,0,1,,\n"
                              "box,1.2,0,0,1,0,0,0,1,1,1\n"
                              "ellipsoid,0,1.2,0,1,0,0,0,1,0.5,0.5\n";
  talus_detect_def def = talus_detect_def_default();
  talus_body_table bodies = {0};
  talus_contacts contacts = {0};
  def.threads = 1;
  begin(at);
  talus_status status = talus_body_table_parse(table, sizeof table - 1, "table.csv", &bodies);
  if (status == TALUS_OK)
    status = talus_find_contacts(&def, &bodies.bodies, &contacts, NULL);
  end();
  CHECK((status == TALUS_OK) == (contacts.count > 0));
  talus_contacts_free(&contacts);
  talus_body_table_free(&bodies);
  return status;
}

TEST(contacts_are_found_or_memory_is_missing) {
  if (REFUSES_MEMORY)
    fail_each(detect, 60, "detect");
}

static uint64_t whole_hash;

/* A run that memory ends goes on later, to the same end. */
static talus_status run_scene(long at) {
  talus_scene *scene = parse(NULL);
  talus_run_def def = talus_run_def_default();
  talus_run_result result = {0};
  def.folder = "failures-out", def.force = true, def.threads = 1;
  begin(at);
  const talus_status status = talus_run(scene, &def, &result);
  end();
  if (status != TALUS_OK) {
    def.force = false, def.resume = true;
    CHECK_OK(talus_run(scene, &def, &result));
  }
  if (whole_hash == 0)
    whole_hash = result.hash;
  CHECK_EQ_U64(result.hash, whole_hash);
  CHECK_EQ_U64(result.frames, 3);
  talus_scene_free(scene);
  return status;
}

TEST(run_ends_whole_or_goes_on_where_memory_was_missing) {
  if (REFUSES_MEMORY)
    fail_each(run_scene, 40, "run");
}

#else
TEST(needs_yaml_and_hdf5) {}
#endif

TEST_MAIN()
