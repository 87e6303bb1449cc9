/* Worlds made from scenes. */
#include <sys/stat.h>

#include "check.h"
#include "scene/scene.h"
#include <talus/scene.h>

static talus_scene *parse(const char *text) {
  talus_scene *scene = NULL;
  char *problems = NULL;
  const talus_status status =
      talus_scene_parse(text, strlen(text), "test.yaml", NULL, NULL, 0, &scene, &problems);
  if (status != TALUS_OK)
    printf("%s", problems ? problems : "");
  talus_text_free(problems);
  CHECK_OK(status);
  return scene;
}

static talus_world *build(const char *text) {
  talus_scene *scene = parse(text);
  talus_world *world = NULL;
  const talus_status status = talus_scene_build(scene, 1, NULL, NULL, &world);
  talus_scene_free(scene);
  CHECK_OK(status);
  return world;
}

/* The message of a scene that reads well but makes no world. */
static const char *build_error(const char *text) {
  talus_scene *scene = parse(text);
  talus_world *world = NULL;
  const talus_status status = talus_scene_build(scene, 1, NULL, NULL, &world);
  talus_scene_free(scene);
  CHECK(status != TALUS_OK && world == NULL);
  return talus_last_error();
}

static talus_body_info body_of(const talus_world *world, const char *name) {
  talus_body body;
  talus_body_info info;
  CHECK_OK(talus_world_find_body(world, name, &body));
  CHECK_OK(talus_world_get_body(world, body, &info));
  return info;
}

#define HEAD                                                                                       \
  "talus: 1\nuntil: 1\nmaterials: {rock: {density: 1000}, steel: {}}\n"                            \
  "shapes: {ball: {sphere: 0.1}, floor: {plane: [0, 0, 1, 0]}}\n"

static uint64_t hash_of(const char *text) {
  talus_world *world = build(text);
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(seed_of_the_scene_moves_every_fill) {
#define BALLS                                                                                      \
  "bodies: [{fill: {shape: ball, material: rock, count: 9, in: {box: [[-1, -1, 0], [1, 1, "        \
  "2]]}}}]\n"
  const uint64_t plain = hash_of(HEAD BALLS), none = hash_of(HEAD "seed: 0\n" BALLS);
  const uint64_t one = hash_of(HEAD "seed: 1\n" BALLS), two = hash_of(HEAD "seed: 2\n" BALLS);
  CHECK(plain == none);
  CHECK(one != plain && two != plain && one != two);
#undef BALLS
}

TEST(what_meets_its_tolerance_is_converged_without_gravity) {
  talus_world *world =
      build(HEAD "gravity: [0, 0, 0]\nsolve: {iterations: 4, tolerance: 1e-2}\nbodies:\n"
                 "  - {shape: ball, material: rock, at: [0, 0, 1], force: [5, 0, 0]}\n"
                 "  - {shape: ball, material: rock, at: [0.2, 0, 1]}\n"
                 "  - {shape: ball, material: rock, at: [0.4, 0.01, 1]}\n"
                 "  - {shape: ball, material: rock, at: [0.6, 0, 1]}\n"
                 "  - {shape: ball, material: rock, at: [0.8, 0, 1], force: [-5, 0, 0]}\n");
  talus_report report;
  CHECK_OK(talus_world_step(world, 50));
  CHECK_OK(talus_world_report(world, &report));
  CHECK(report.residual_rms > 0 && report.residual_rms < 1e-2);
  CHECK_EQ_U64(report.unconverged, 0);
  talus_world_destroy(world);
}

TEST(bodies_come_in_the_order_of_the_file) {
  talus_world *world = build(HEAD "bodies:\n"
                                  "  - {name: floor, shape: floor, material: steel, fixed: true}\n"
                                  "  - fill: {shape: ball, material: rock, count: 20, in: {box: "
                                  "[[-1, -1, 0.1], [1, 1, 2]]}}\n"
                                  "  - {name: last, shape: ball, material: rock, at: [5, 0, 1]}\n");
  CHECK_EQ_U64(talus_world_body_count(world), 22);
  talus_body first, last;
  talus_body_info info;
  CHECK_OK(talus_world_body_at(world, 0, &first));
  CHECK_OK(talus_world_get_body(world, first, &info));
  CHECK_STR(info.name, "floor");
  CHECK_OK(talus_world_body_at(world, 21, &last));
  CHECK_OK(talus_world_get_body(world, last, &info));
  CHECK_STR(info.name, "last");
  CHECK_OK(talus_world_step(world, 10));
  talus_world_destroy(world);
}

TEST(body_keys_reach_the_body) {
  talus_world *world = build(
      HEAD
      "bodies:\n"
      "  - {name: a, shape: ball, material: rock, at: [1, 2, 3], velocity: [4, 5, 6],\n"
      "     spin: [7, 8, 9], scale: 2, rotation: [0, 3, 0, 0]}\n"
      "  - {name: b, shape: {box: [1, 2, 3]}, material: steel, at: [9, 0, 0], mass: 6,\n"
      "     lock: [z]}\n"
      "  - {name: c, shape: ball, material: rock, at: [0, 9, 0], motion: {velocity: [1, 0, 0]}}\n"
      "  - {name: d, shape: ball, material: rock, at: [0, 0, 9], fixed: true}\n");
  const talus_body_info a = body_of(world, "a"), b = body_of(world, "b"), c = body_of(world, "c"),
                        d = body_of(world, "d");
  CHECK(a.position.x == 1 && a.position.y == 2 && a.position.z == 3);
  CHECK(a.velocity.y == 5 && a.spin.z == 9 && a.scale == 2 && a.rotation.x == 1);
  CHECK_NEAR(a.mass, 1000 * 4 / 3.0 * 3.14159265358979 * 0.008, 1e-4);
  CHECK(b.mass == 6 && a.kind == TALUS_FREE && c.kind == TALUS_KINEMATIC && d.kind == TALUS_FIXED);
  CHECK_OK(talus_world_step(world, 100));
  CHECK(body_of(world, "b").position.z == 0); /* locked */
  CHECK_NEAR(body_of(world, "c").position.x, 0.1, 1e-6);
  CHECK(body_of(world, "a").position.z < 3 + 0.6);
  talus_world_destroy(world);
}

TEST(groups_that_are_ignored_pass_through_each_other) {
  const char *text =
      HEAD "gravity: [0, 0, 0]\nbodies:\n"
           "  - {name: a, shape: ball, material: rock, group: one, velocity: [1, 0, 0]}\n"
           "  - {name: b, shape: ball, material: rock, group: two, at: [0.5, 0, 0]}\n";
  talus_world *world = build(text);
  CHECK_OK(talus_world_step(world, 1000));
  CHECK(body_of(world, "b").velocity.x > 0);
  talus_world_destroy(world);
  char longer[2000];
  snprintf(longer, sizeof longer, "%signore: [[two, one]]\n", text);
  world = build(longer);
  CHECK_OK(talus_world_step(world, 1000));
  CHECK(body_of(world, "b").velocity.x == 0);
  CHECK_NEAR(body_of(world, "a").position.x, 1, 1e-5);
  talus_world_destroy(world);
}

TEST(fill_may_go_where_an_ignored_group_is) {
  const char *text =
      HEAD "bodies:\n"
           "  - {shape: {box: [4, 4, 4]}, material: rock, fixed: true, group: ghost}\n"
           "  - fill: {shape: ball, material: rock, count: 20, group: grains,\n"
           "           in: {box: [[-1, -1, -1], [1, 1, 1]]}}\n";
  char longer[2000];
  snprintf(longer, sizeof longer, "%signore: [[ghost, grains]]\n", text);
  talus_world *world = build(longer);
  CHECK_EQ_U64(talus_world_body_count(world), 21);
  talus_world_destroy(world);
  /* Without `ignore` the box is in the way. */
  snprintf(longer, sizeof longer, "%signore: [[ghost, ghost], [grains, grains]]\n", text);
  CHECK(strstr(build_error(longer), "only 0 of 20 bodies fit"));
}

/* Restitution 1 of the pair, though both materials have 0. */
TEST(pairs_override_their_materials) {
  talus_world *world = build(
      HEAD "gravity: [0, 0, 0]\npairs: [{materials: [rock, steel], restitution: 1}]\nbodies:\n"
           "  - {name: a, shape: ball, material: rock, velocity: [1, 0, 0]}\n"
           "  - {name: b, shape: ball, material: steel, at: [0.5, 0, 0], mass: 4.1887902}\n");
  CHECK_OK(talus_world_step(world, 1000));
  CHECK_NEAR(body_of(world, "b").velocity.x, 1, 1e-3);
  talus_world_destroy(world);
}

TEST(emitters_sinks_and_probes_are_in_the_world) {
  talus_world *world = build(
      HEAD "bodies: [{name: floor, shape: floor, material: steel, fixed: true}]\n"
           "emit:\n"
           "  - {shape: ball, material: rock, rate: 100, velocity: [0, 0, -5], until: 0.5,\n"
           "     from: {disc: {at: [0, 0, 2], radius: 1}}}\n"
           "sinks: [{in: {box: [[-5, -5, 0], [5, 5, 1]]}}]\n"
           "probes:\n"
           "  - {name: fall, region: {box: [[-5, -5, 1], [5, 5, 3]]}, record: [mass-flow, count]}\n"
           "  - {name: floor, body: floor, record: [force]}\n");
  talus_report report;
  talus_probe_values values;
  CHECK_OK(talus_world_step(world, 800));
  CHECK_OK(talus_world_report(world, &report));
  CHECK(report.emitted >= 49 && report.emitted <= 51 && report.removed == report.emitted);
  CHECK_OK(talus_probe_read(world, 0, &values));
  CHECK(values.mass_flow[2] < 0 && values.count > 0);
  CHECK_OK(talus_probe_read(world, 1, &values));
  CHECK(values.force[2] == 0);
  talus_world_destroy(world);
}

TEST(fill_that_does_not_fit_names_its_entry) {
  const char *message =
      build_error(HEAD "bodies:\n  - {shape: floor, material: rock, fixed: true}\n"
                       "  - fill: {shape: ball, material: rock, count: 1000, in: "
                       "{box: [[0, 0, 1], [1, 1, 2]]}}\n");
  CHECK_MSG(strncmp(message, "test.yaml:7:5: bodies.1: fill: 1000", 35) == 0, "%s", message);
}

TEST(scene_that_the_world_refuses_names_its_entry) {
  const char *message =
      build_error(HEAD "domain: {box: [[0, 0, 0], [1, 1, 1]], periodic: [x]}\n"
                       "bodies:\n  - {name: big, shape: {sphere: 2}, material: rock}\n");
  CHECK_MSG(strncmp(message, "test.yaml:7:5: bodies.0: ", 25) == 0, "%s", message);
}

/* Both were called body 1: whoever is refused takes no number. */
TEST(bodies_that_are_refused_are_called_by_their_entries) {
  const char *message = build_error("talus: 1\nuntil: 1\nmaterials: {rock: {}}\n"
                                    "domain: {box: [[0, 0, 0], [1, 1, 1]], periodic: [x]}\n"
                                    "bodies:\n"
                                    "  - {shape: {box: [0.8, 0.1, 0.1]}, at: [0.5, 0.2, 0.5]}\n"
                                    "  - {shape: {box: [0.9, 0.1, 0.1]}, at: [0.5, 0.7, 0.5]}\n");
  CHECK_MSG(strncmp(message, "test.yaml:6:5: bodies.0: a new body: it is 0.812", 48) == 0 &&
                strstr(message, "\ntest.yaml:7:5: bodies.1: a new body: it is 0.911") &&
                !strstr(message, "body 1"),
            "%s", message);
}

TEST(copy_that_is_refused_is_named) {
  const char *message =
      build_error("talus: 1\nuntil: 1\nmaterials: {rock: {}}\n"
                  "domain: {box: [[-1, -1, -1], [1, 1, 1]]}\nbodies:\n"
                  "  - {shape: {sphere: 0.1}, repeat: {count: 9, shift: [0, 0, 0.3]}}\n");
  CHECK_MSG(strncmp(message, "test.yaml:6:5: bodies.0: copy 4: its centre is at z = 1.2 m", 59) ==
                0,
            "%s", message);
}

TEST(mistakes_that_only_the_world_sees_come_together) {
  const char *message =
      build_error("talus: 1\nuntil: 1\nmaterials: {rock: {density: 1000}}\nshapes:\n"
                  "  flat: {hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}\n"
                  "  lost: {hull: not-there.stl}\n"
                  "  ball: {sphere: 0.1}\n"
                  "domain: {box: [[-1, -1, -1], [1, 1, 1]]}\n"
                  "bodies:\n"
                  "  - {shape: flat}\n" /* the shape is told, once */
                  "  - fill: {shape: ball, count: 1000, in: {box: [[0, 0, 0], [1, 1, 1]]}}\n"
                  "  - {name: far, shape: ball, at: [0, 0, 5]}\n"
                  "  - from: nowhere/\n"
                  "joints: [{kind: spherical, bodies: [far, ground], at: [0, 0, 5]}]\n"
                  "probes: [{name: p, body: far, record: [force]}]\n");
  const char *const starts[] = {"test.yaml:5:9: shape 'flat': ", "test.yaml:6:9: shape 'lost': ",
                                "test.yaml:11:5: bodies.1: fill: ", "test.yaml:12:5: bodies.2: ",
                                "test.yaml:13:5: bodies.3.from: "};
  const char *line = message;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; ++i) {
    CHECK_MSG(line && strncmp(line, starts[i], strlen(starts[i])) == 0, "%s", message);
    line = strchr(line, '\n');
    line = line ? line + 1 : NULL;
  }
  CHECK_MSG(!line, "%s", message);
  CHECK_MSG(strstr(message, "not-there.stl: cannot be opened") &&
                strstr(message, "paths in a scene begin at the scene's folder"),
            "%s", message);
  CHECK_MSG(strstr(message, "its centre is at z = 5 m, outside the domain, which goes from -1 to "
                            "1 m; move it"),
            "%s", message);
  CHECK_MSG(strstr(message, "nowhere/checkpoint.hdf"), "%s", message);
}

TEST(many_mistakes_of_the_world_are_counted) {
  char text[4096];
  size_t n = (size_t)snprintf(text, sizeof text, HEAD "bodies:\n");
  for (int i = 0; i < 25; ++i)
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "  - {shape: {hull: not-there-%d.stl}, material: rock}\n", i);
  const char *message = build_error(text);
  const char *last = strrchr(message, '\n');
  CHECK_MSG(strstr(message, "not-there-9.stl") && !strstr(message, "not-there-10.stl"), "%s",
            message);
  CHECK_MSG(last && strcmp(last, "\n... and 15 more") == 0, "%s", message);
}

TEST(file_that_is_not_there_is_a_mistake_of_the_scene) {
  talus_scene *scene = parse(HEAD "bodies: [{shape: {hull: not-there.stl}, material: rock}]\n");
  talus_world *world = NULL;
  CHECK(talus_scene_build(scene, 1, NULL, NULL, &world) == TALUS_ERROR_FORMAT);
  CHECK(talus_scene_build_shapes(scene, &world) == TALUS_ERROR_FORMAT && !world);
  talus_scene_free(scene);
}

static void ignore_line(void *context, int level, const char *line) {
  (void)level;
  snprintf(context, 200, "%s", line);
}

TEST(fill_with_fewer_says_so) {
  talus_scene *scene = parse(
      HEAD "bodies:\n  - fill: {shape: ball, material: rock, count: 1000, allow_fewer: true,\n"
           "           in: {box: [[0, 0, 1], [1, 1, 2]]}}\n");
  talus_world *world = NULL;
  char line[200] = "";
  CHECK_OK(talus_scene_build(scene, 1, ignore_line, line, &world));
  CHECK(talus_world_body_count(world) > 50 && talus_world_body_count(world) < 240);
  CHECK_MSG(strstr(line, "of 1000"), "%s", line);
  talus_world_destroy(world);
  talus_scene_free(scene);
}

/* Ends of their own, that of the run, a start after it, and rates that fit neither. */
TEST(info_counts_the_bodies_that_emitters_add) {
  talus_scene *scene = parse(
      "talus: 1\nuntil: 1\nstep: {dt: 0.01}\nmaterials: {m: {}}\nshapes: {s: {sphere: 0.01}}\n"
      "bodies: []\nemit:\n"
      "  - {shape: s, rate: 10, from: {box: [[0, 0, 0], [9, 9, 9]]}}\n"
      "  - {shape: s, rate: 1.2, from: {box: [[10, 0, 0], [19, 9, 9]]}}\n"
      "  - {shape: s, rate: 10, from: {box: [[20, 0, 0], [29, 9, 9]]}, until: 0.5}\n"
      "  - {shape: s, rate: 7, from: {box: [[30, 0, 0], [39, 9, 9]]}, from_time: 2}\n");
  talus_world *world = NULL;
  talus_scene_info info;
  talus_report report;
  talus_scene_get_info(scene, &info);
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  CHECK_OK(talus_world_step(world, info.steps));
  CHECK_OK(talus_world_report(world, &report));
  CHECK_EQ_U64(report.blocked, 0);
  CHECK_NEAR(info.emitted, (double)report.emitted, 0);
  CHECK_EQ_U64(report.emitted, 11 + 2 + 5);
  talus_world_destroy(world);
  talus_scene_free(scene);
}

static talus_body_info body_at(const talus_world *world, size_t row) {
  talus_body body;
  talus_body_info info;
  CHECK_OK(talus_world_body_at(world, row, &body));
  CHECK_OK(talus_world_get_body(world, body, &info));
  return info;
}

TEST(copies_of_a_body_are_turned_and_shifted) {
  talus_world *world =
      build("talus: 1\nuntil: 1\nmaterials: {m: {}}\nshapes: {s: {box: [1, 2, 3]}}\nbodies:\n"
            "  - {shape: s, at: [3, 1, 0.5], velocity: [0, 2, 0], spin: [1, 0, 4], repeat: [\n"
            "     {count: 5, turn: {axis: [0, 0, 1], degrees: 72}, through: [1, 1, 0]},\n"
            "     {count: 3, shift: [0, 0, 2], turn: {axis: [0, 0, 1], degrees: 10}}]}\n");
  CHECK_EQ_U64(talus_world_body_count(world), 15);
  for (int layer = 0; layer < 3; ++layer)
    for (int i = 0; i < 5; ++i) {
      const talus_body_info body = body_at(world, (size_t)(5 * layer + i));
      const double rad = acos(-1) / 180, near = TALUS_SINGLE ? 1e-6 : 1e-14;
      const double angle = (72 * i + 10 * layer) * rad, own = 72 * i * rad,
                   turned = 10 * layer * rad;
      const double x = 1 + 2 * cos(own), y = 1 + 2 * sin(own);
      CHECK_NEAR(body.position.x, x * cos(turned) - y * sin(turned), 1e-14);
      CHECK_NEAR(body.position.y, x * sin(turned) + y * cos(turned), 1e-14);
      CHECK_NEAR(body.position.z, 0.5 + 2 * layer, 1e-14);
      CHECK_NEAR(body.velocity.x, -2 * sin(angle), near);
      CHECK_NEAR(body.velocity.y, 2 * cos(angle), near);
      CHECK_NEAR(body.spin.x, cos(angle), near);
      CHECK_NEAR(body.spin.z, 4, near);
      CHECK_NEAR(body.rotation.w, cos(angle / 2), near);
      CHECK_NEAR(body.rotation.z, sin(angle / 2), near);
    }
  talus_world_destroy(world);
}

/* Of a thousand numbers: within the half width, on both sides, with the variance w^2 / 3. */
TEST(copies_differ_by_random_numbers) {
#define CLOUD                                                                                      \
  "talus: 1\nuntil: 1\nmaterials: {m: {}}\nshapes: {s: {sphere: 0.01}}\nbodies:\n"                 \
  "  - {shape: s, repeat: {count: 1000, shift: [1, 0, 0]}, spread: {velocity: [0.5, 0, 2], "       \
  "seed: "
  talus_world *world = build(CLOUD "4}}\n");
  double sum = 0, square = 0;
  for (size_t i = 0; i < 1000; ++i) {
    const talus_body_info body = body_at(world, i);
    const double v = (double)body.velocity.z;
    CHECK(body.position.x == (double)i && body.velocity.y == 0 && fabs(v) <= 2);
    CHECK(fabs((double)body.velocity.x) <= 0.5);
    sum += v, square += v * v;
  }
  CHECK_NEAR(sum / 1000, 0, 0.15); /* four deviations */
  CHECK_NEAR(square / 1000, 4.0 / 3, 0.16);
  talus_world_destroy(world);
  CHECK(hash_of(CLOUD "4}}\n") != hash_of(CLOUD "5}}\n"));
  CHECK(hash_of(CLOUD "4}}\n") != hash_of(CLOUD "4}}\nseed: 1\n"));
}

TEST(equal_shapes_in_place_make_equal_worlds) {
  talus_world *one = build("talus: 1\nuntil: 1\nmaterials: {m: {}}\nshapes: {s: {sphere: 0.1}}\n"
                           "bodies: [{shape: s}, {shape: s, at: [1, 0, 0]}]\n");
  talus_world *two =
      build("talus: 1\nuntil: 1\nmaterials: {m: {}}\n"
            "bodies: [{shape: {sphere: 0.1}}, {shape: {sphere: 0.1}, at: [1, 0, 0]}]\n");
  talus_body body;
  talus_body_info first, second;
  CHECK_OK(talus_world_body_at(two, 0, &body));
  CHECK_OK(talus_world_get_body(two, body, &first));
  CHECK_OK(talus_world_body_at(two, 1, &body));
  CHECK_OK(talus_world_get_body(two, body, &second));
  CHECK_EQ_U64(first.shape.index, second.shape.index);
  CHECK_OK(talus_world_step(one, 10));
  CHECK_OK(talus_world_step(two, 10));
  CHECK_EQ_U64(talus_world_hash(one), talus_world_hash(two));
  talus_world_destroy(one);
  talus_world_destroy(two);
}

/* ---- bodies of another run ------------------------------------------------------------------- */

#define OLD                                                                                        \
  "talus: 1\nuntil: 1\nmaterials: {ice: {friction: 0.01, density: 900}}\nbodies:\n"                \
  "  - {name: floor, shape: {plane: [0, 0, 1, 0]}, fixed: true, group: walls}\n"                   \
  "  - {name: shaker, shape: {sphere: 0.2}, at: [5, 0, 1], motion: {amplitude: [0, 0, 0.1],\n"     \
  "     frequency: 0.7, phase: 0.3, velocity: [0.1, 0, 0], spin: [0, 0, 1]}}\n"                    \
  "  - {name: box, shape: {box: [0.1, 0.2, 0.3]}, at: [1, 0, 1], spin: [1, 2, 3], scale: 1.5,\n"   \
  "     lock: [y], force: [0, 0, 1], velocity: [0.5, 0, 0]}\n"                                     \
  "  - fill: {shape: {sphere: 0.1}, count: 10, in: {box: [[-1, -1, 0.2], [0, 1, 1]]}}\n"

/* 300 steps, saved as a run would leave them in a folder. */
static talus_world *make_old(const char *folder) {
  char path[200];
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/checkpoint.hdf", folder);
  talus_world *old = build(OLD);
  CHECK_OK(talus_world_step(old, 300));
  CHECK_OK(talus_world_save(old, path));
  return old;
}

TEST(from_takes_the_bodies_of_another_run_to_the_last_bit) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  talus_world *old = make_old("from_bits");
  talus_world *world = build("talus: 1\nuntil: 1\nbodies: [{from: from_bits/}]\n");
  CHECK_EQ_U64(talus_world_body_count(world), 13);
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(old));
  const talus_body_info a = body_of(old, "box"), b = body_of(world, "box");
  CHECK(a.mass == b.mass && a.scale == b.scale && a.kind == b.kind);
  /* And they go on as they would have: only time and contact history start anew. */
  CHECK_OK(talus_world_step(old, 100));
  CHECK_OK(talus_world_step(world, 100));
  const char *const names[] = {"shaker", "box"};
  for (int i = 0; i < 2; ++i) {
    const talus_body_info was = body_of(old, names[i]), is = body_of(world, names[i]);
    CHECK_NEAR(is.position.x, was.position.x, 1e-6);
    CHECK_NEAR(is.position.y, was.position.y, 1e-6);
    CHECK_NEAR(is.position.z, was.position.z, 1e-6);
    CHECK_NEAR(is.rotation.w, was.rotation.w, 1e-5);
    CHECK_NEAR(is.rotation.z, was.rotation.z, 1e-5);
  }
  talus_world_destroy(world);
  talus_world_destroy(old);
}

TEST(from_goes_together_with_bodies_probes_and_groups_of_the_scene) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  talus_world_destroy(make_old("from_more"));
  talus_world *world = build("talus: 1\nuntil: 1\nmaterials: {ice: {density: 1000}}\nbodies:\n"
                             "  - {name: new, shape: {sphere: 0.1}, at: [8, 8, 8], group: fresh}\n"
                             "  - from: from_more\n"
                             "ignore: [[fresh, walls]]\n"
                             "probes: [{name: floor, body: floor, record: [force]}]\n");
  CHECK_EQ_U64(talus_world_body_count(world), 14);
  CHECK_EQ_U64(body_of(world, "new").material.index, body_of(world, "box").material.index);
  CHECK_OK(talus_world_step(world, 5));
  talus_world_destroy(world);
}

TEST(from_refuses_names_that_clash_and_folders_without_a_checkpoint) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  talus_world_destroy(make_old("from_clash"));
  const char *message = build_error("talus: 1\nuntil: 1\nmaterials: {m: {}}\nbodies:\n"
                                    "  - {name: box, shape: {sphere: 0.1}, at: [9, 9, 9]}\n"
                                    "  - from: from_clash/\n");
  CHECK_MSG(strncmp(message, "test.yaml:6:5: bodies.1.from: ", 30) == 0 && strstr(message, "box"),
            "%s", message);
  message = build_error("talus: 1\nuntil: 1\nbodies: [{from: no_such_folder/}]\n");
  CHECK_MSG(strstr(message, "no_such_folder/"), "%s", message);
}

/* It kept the old friction without a word. */
TEST(from_refuses_a_material_that_nobody_has_with_the_one_that_may_be_meant) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  talus_world_destroy(make_old("from_misspelt"));
  const char *message = build_error("talus: 1\nuntil: 1\nmaterials:\n"
                                    "  icy: {density: 1000, friction: 0.05}\n"
                                    "bodies: [{from: from_misspelt/}]\n");
  CHECK_MSG(strncmp(message, "test.yaml:4:", 12) == 0 &&
                strstr(message, ": materials.icy: no body has this material") &&
                strstr(message, "did you mean `ice`?"),
            "%s", message);
  talus_world *world = build("talus: 1\nuntil: 1\nquiet: [unused-material]\nmaterials: {icy: {}}\n"
                             "bodies: [{from: from_misspelt/}]\n");
  talus_world_destroy(world);
  world = build("talus: 1\nuntil: 1\nmaterials: {ice: {}, snow: {}}\nbodies:\n"
                "  - from: from_misspelt/\n"
                "  - {shape: {sphere: 0.1}, material: snow, at: [9, 9, 9]}\n");
  talus_world_destroy(world);
}

#define MECHANISM                                                                                  \
  "talus: 1\nuntil: 1\nmaterials: {steel: {}}\nbodies:\n"                                          \
  "  - {name: arm, shape: {box: [0.4, 0.1, 0.1]}, at: [0.2, 0, 1]}\n"                              \
  "  - {name: leg, shape: {box: [0.4, 0.1, 0.1]}, at: [0.6, 0, 1]}\n"                              \
  "  - {name: wheel, shape: {cylinder: {radius: 0.1, length: 0.1}}, at: [3, 0, 1]}\n"              \
  "joints:\n"                                                                                      \
  "  - {name: hip, kind: revolute, bodies: [ground, arm], at: [0, 0, 1], axis: [0, 1, 0],\n"       \
  "     limits: {low: -1, high: 1}}\n"                                                             \
  "  - {name: knee, kind: spherical, bodies: [arm, leg], at: [0.4, 0, 1]}\n"                       \
  "  - {name: axle, kind: revolute, bodies: [ground, wheel], at: [3, 0, 1], axis: [0, 0, 1],\n"    \
  "     motor: {speed: 50}}\n"                                                                     \
  "  - {name: glue, kind: fixed, bodies: [ground, leg], at: [0.8, 0, 1], break: {force: 1e-3}}\n"

TEST(from_takes_joints_along_and_they_go_on_to_the_last_bit) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  mkdir("from_joints", 0777);
  talus_world *old = build(MECHANISM);
  CHECK_OK(talus_world_step(old, 300));
  CHECK_OK(talus_world_save(old, "from_joints/checkpoint.hdf"));
  talus_world *world = build("talus: 1\nuntil: 1\nbodies: [{from: from_joints/}]\n"
                             "probes: [{name: hip, joint: hip, record: [force]}]\n");
  CHECK_EQ_U64(talus_world_joint_count(world), 4);
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(old));
  CHECK_OK(talus_world_step(old, 200));
  CHECK_OK(talus_world_step(world, 200));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(old));
  const char *const names[] = {"hip", "knee", "axle", "glue"};
  for (int i = 0; i < 4; ++i) {
    talus_joint a, b;
    talus_joint_info was, is;
    CHECK_OK(talus_world_find_joint(old, names[i], &a));
    CHECK_OK(talus_world_find_joint(world, names[i], &b));
    CHECK_OK(talus_world_get_joint(old, a, &was));
    CHECK_OK(talus_world_get_joint(world, b, &is));
    CHECK(was.value == is.value && was.broken == is.broken && was.force.z == is.force.z);
    CHECK(is.broken == (i == 3)); /* and turns are counted on: 50 rad/s for 0.5 s */
    CHECK(i != 2 || is.value > 24);
  }
  talus_world_destroy(world);
  talus_world_destroy(old);
  const char *message =
      build_error("talus: 1\nuntil: 1\nbodies: [{from: from_joints/}]\njoints:\n"
                  "  - {name: knee, kind: fixed, bodies: [wheel, ground], at: [3, 0, 1]}\n");
  CHECK_MSG(strstr(message, "joints.0") && strstr(message, "two joints named 'knee'"), "%s",
            message);
}

/* ---- built-in scenes ------------------------------------------------------------------------- */

TEST(every_built_in_scene_is_valid_and_steps) {
  const char *last = "";
  CHECK(talus_builtin_count() >= 6);
  for (size_t i = 0; i < talus_builtin_count(); ++i) {
    const char *name, *about, *text;
    char *problems = NULL, *once = NULL;
    talus_scene *scene = NULL;
    talus_world *world = NULL;
    talus_builtin_get(i, &name, &about, &text);
    CHECK_MSG(strcmp(last, name) < 0, "%s after %s", name, last);
    CHECK_MSG(strlen(about) > 20 && strlen(about) <= 110 && text[0] == '#', "%s: %s", name, about);
    last = name;
    const talus_status status = talus_scene_load(name, NULL, 0, &scene, &problems);
    CHECK_MSG(status == TALUS_OK, "%s", problems ? problems : talus_last_error());
    CHECK_OK(talus_scene_write(scene, &once));
    talus_text_free(once);
    CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
    CHECK_OK(talus_world_step(world, check_is_short() ? 2 : 20));
    talus_world_destroy(world);
    talus_scene_free(scene);
  }
}

int main(int argc, char **argv) {
  if (!TALUS_HAVE_YAML) {
    puts("skipped: built without libyaml-dev");
    return 77;
  }
  return check_main(argc, argv);
}
