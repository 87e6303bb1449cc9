/* Scenes as texts: reading, writing, settings, complaints, and the tables behind them. Malformed
 * files are in test_scene_bad.c, worlds made from scenes in test_scene_build.c. */
#include <locale.h>
#include <stdarg.h>

#include "check.h"
#include "scene/read.h"
#include <talus/scene.h>

/* Every key, and every form a value can have. */
static const char everything[] =
    "%YAML 1.1\n"
    "---\n"
    "talus: 1\n"
    "title: \"Every \\\"key\\\", and \\\\ more\"\n"
    "gravity: [0.1, -0, -9.80665]\n"
    "until: {time: 2, at_rest: 1e-3}\n"
    "step: {kind: fixed, dt: 2.5e-4}\n"
    "solve: {kind: ccp, method: gauss-seidel, friction: ccp, iterations: 1e2, tolerance: 0,\n"
    "        warm_start: False, recovery_speed: .25, bounce_speed: 0.05}\n"
    "broad: bins\n"
    "contact: {margin: 0.01}\n"
    "domain: {box: [[-5, -5, -5], [5, 5, 5]], periodic: [y, x], outside: remove}\n"
    "materials:\n"
    "  rock: &rock {density: 2600, friction: 0.6, restitution: 0.1}\n"
    "  'odd: name': *rock\n"
    "  null-ish: {}\n"
    "  \"true\": {}\n"
    "  1: {density: 0.1}\n"
    "pairs:\n"
    "  - {materials: [rock, 'odd: name'], friction: 0.3333333333333333}\n"
    "  - {materials: [rock, rock], restitution: 1}\n"
    "shapes:\n"
    "  ball: {sphere: 0.1}\n"
    "  brick: {box: [0.1, 0.2, 0.3]}\n"
    "  floor: {plane: [0, 0, 2, 0]}\n"
    "  tank: {container: [9, 9, 9], open: [top, left]}\n"
    "bodies:\n"
    "  - {name: floor, shape: floor, material: rock, fixed: true, group: walls}\n"
    "  - {name: gate, shape: brick, material: rock, at: [0, 0, 1], group: walls,\n"
    "     rotation: {axis: [1, 1, 1], degrees: -400}, motion: {velocity: [1, 0, 0], frequency: 2,\n"
    "     spin: [0, 0, 1], amplitude: [0, 0, 0.1], phase: 0.5}}\n"
    "  - shape: {box: [0.1, 0.1, 0.1]}\n"
    "    material: 1\n"
    "    at: [1, 1, 1]\n"
    "    rotation: [2, 0, 0, 1]\n"
    "    velocity: [1, 2, 3]\n"
    "    spin: [0.1, 0.2, 0.3]\n"
    "    scale: 2\n"
    "    mass: 1.5\n"
    "    lock: [x, rz]\n"
    "    group: loose\n"
    "    force: [1, 0, 0]\n"
    "    torque: [0, 0, 1]\n"
    "  - fill: {shape: ball, material: rock, count: 10, in: {box: [[-2, -2, 2], [2, 2, 4]]},\n"
    "           size: {uniform: [0.5, 1]}, rotation: random, seed: 18446744073709551615,\n"
    "           velocity: [0, 0, -1], spin: [1, 0, 0], group: loose, allow_fewer: true}\n"
    "  - fill: {shape: {sphere: 0.05}, material: rock, fraction: 0.01,\n"
    "           in: {sphere: {at: [3, 3, 3], radius: 1}}, size: {lognormal: {sigma: 0.1}, by: "
    "mass}}\n"
    "  - fill: {shape: {sphere: 0.05}, material: rock, count: 3,\n"
    "           in: {cylinder: {at: [-3, -3, 3], radius: 1, length: 1}},\n"
    "           size: {table: [[1, 1], [2, 0.5]]}}\n"
    "  - from: some where/else\n"
    "    only: {names: [a, 'b, c'], groups: g, region: {box: [[0, 0, 0], [1, 1, 1]]}}\n"
    "    except: [{materials: rock}]\n"
    "    change: [{names: a, fixed: true, force: [0, 0, 1]}, {motion: {spin: [0, 0, 1]}}]\n"
    "ignore: [[walls, walls], [walls, loose]]\n"
    "emit:\n"
    "  - {name: spout, shape: ball, material: rock, rate: 10, from: {disc: {at: [0, 0, 3], radius: "
    "1}},\n"
    "     velocity: [0, 0, -1], spin: [1, 0, 0], from_time: 0.5, until: 1, seed: 3, group: loose,\n"
    "     rotation: random, size: {uniform: [1, 1]}}\n"
    "  - {shape: ball, material: rock, rate: 1, from: {box: [[0, 0, 3], [1, 1, 3]]}}\n"
    "sinks:\n"
    "  - {name: drain, in: {box: [[-5, -5, -5], [5, 5, -4]]}}\n"
    "  - {in: {cylinder: {at: [0, 0, 0], axis: [1, 0, 0], radius: 0.1, length: 0.1}}}\n"
    "probes:\n"
    "  - {name: force, body: floor, record: [torque, force, energy], every: 0.05}\n"
    "  - {name: flow, region: {box: [[0, 0, 0], [1, 1, 1]]}, record: [mass-flow, count]}\n"
    "output: {every: 0.02, fields: [id, contacts, velocity]}\n"
    "...\n";

static const char small[] =
    "talus: 1\n"
    "until: 4.0\n"
    "materials: {rock: {}}\n"
    "shapes: {ball: {sphere: 0.1}}\n"
    "bodies:\n"
    "  - {name: one, shape: ball}\n"
    "  - {name: two, shape: ball, at: [1, 0, 0]}\n"
    "  - fill: {shape: ball, count: 9, in: {box: [[2, 2, 2], [4, 4, 4]]}}\n";

static talus_scene *parse_with(const char *text, size_t n, const char *const *settings) {
  talus_scene *scene = NULL;
  char *problems = NULL;
  const talus_status status =
      talus_scene_parse(text, strlen(text), "test.yaml", NULL, settings, n, &scene, &problems);
  if (status != TALUS_OK)
    printf("%s", problems ? problems : "");
  talus_text_free(problems);
  CHECK_OK(status);
  return scene;
}

static talus_scene *parse(const char *text) { return parse_with(text, 0, NULL); }

/* What is said about a text that must be refused; the caller frees it. */
static char *complaints(const char *text, size_t n, const char *const *settings) {
  talus_scene *scene = NULL;
  char *problems = NULL;
  const talus_status status =
      talus_scene_parse(text, strlen(text), "test.yaml", NULL, settings, n, &scene, &problems);
  talus_scene_free(scene);
  CHECK_EQ_U64(status, TALUS_ERROR_FORMAT);
  CHECK(problems != NULL);
  return problems;
}

static bool has_text(const talus_scene *scene, const char *part) {
  char *text = NULL;
  CHECK_OK(talus_scene_write(scene, &text));
  const bool found = strstr(text, part) != NULL;
  if (!found)
    printf("not there: %s\n%s", part, text);
  talus_text_free(text);
  return found;
}

/* ---- reading and writing --------------------------------------------------------------------- */

TEST(written_scene_reads_back_and_writes_the_same_text) {
  const char *const texts[] = {everything, small, "talus: 1\nuntil: 1\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    talus_scene *first = parse(texts[i]);
    char *once = NULL, *twice = NULL;
    uint64_t identity = 0, again = 1;
    CHECK_OK(talus_scene_write(first, &once));
    talus_scene *second = parse(once);
    CHECK_OK(talus_scene_write(second, &twice));
    CHECK_STR(twice, once);
    CHECK_OK(tl_scene_identity(first, &identity));
    CHECK_OK(tl_scene_identity(second, &again));
    CHECK_EQ_U64(again, identity);
    talus_text_free(once);
    talus_text_free(twice);
    talus_scene_free(first);
    talus_scene_free(second);
  }
}

TEST(numbers_may_be_written_as_ratios) {
  talus_scene *scene = parse("talus: 1\nuntil: 4/2\ngravity: [0, 1/4, -981/1e2]\n"
                             "step: {kind: fixed, dt: 1/60, substeps: 8/2}\n");
  CHECK(scene->step.dt == 1.0 / 60 && scene->step.substeps == 4 && scene->until.time == 2);
  CHECK(scene->gravity[1] == 0.25 && scene->gravity[2] == -9.81);
  talus_scene_free(scene);
  const char *const bad[] = {"1/", "/2", "1/2/3", "1/0", "0/0", "1/x", "1 /2"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    char text[64];
    snprintf(text, sizeof text, "talus: 1\nuntil: %s\n", bad[i]);
    char *problems = complaints(text, 0, NULL);
    CHECK_MSG(strstr(problems, "test.yaml:2:8: until is"), "%s", problems);
    talus_text_free(problems);
  }
}

TEST(substeps_do_not_go_with_springs) {
  char *problems = complaints("talus: 1\nuntil: 1\nstep: {dt: 1e-3, substeps: 2}\n"
                              "solve: penalty\n",
                              0, NULL);
  CHECK_MSG(strstr(problems, "test.yaml:3:28: step.substeps is 2"), "%s", problems);
  talus_text_free(problems);
}

TEST(every_key_arrives_in_its_member) {
  talus_scene *scene = parse(everything);
  const tl_scene_body *bodies = scene->bodies.data;
  const tl_scene_emitter *emitters = scene->emit.data;
  CHECK_STR(scene->title, "Every \"key\", and \\ more");
  CHECK(scene->gravity[2] == -9.80665 && scene->until.at_rest == 1e-3 && scene->step.dt == 2.5e-4);
  CHECK(scene->solve.iterations == 100 && !scene->solve.warm_start);
  CHECK(scene->solve.friction == TALUS_FRICTION_CCP && scene->solve.recovery_speed == 0.25);
  CHECK(scene->broad.kind == TALUS_BROAD_BINS && scene->contact.margin == 0.01);
  CHECK(scene->domain.periodic == 3 && scene->domain.outside == TALUS_OUTSIDE_REMOVE);
  CHECK(scene->materials.count == 5 && scene->shapes.count == 4 && scene->bodies.count == 7);
  const tl_scene_material *materials = scene->materials.data;
  CHECK_STR(materials[1].name, "odd: name");
  CHECK(materials[1].friction == 0.6); /* by its alias */
  const tl_scene_pair *pairs = scene->pairs.data;
  CHECK(pairs[0].friction == 1.0 / 3 && pairs[0].restitution == 0.1);
  CHECK(pairs[1].friction == 0.6 && pairs[1].restitution == 1);
  CHECK(bodies[0].fixed && strcmp(bodies[0].group, "walls") == 0);
  CHECK(bodies[1].motion.count == 1 &&
        ((const tl_scene_motion *)bodies[1].motion.data)->frequency == 2);
  CHECK(bodies[2].lock == (TALUS_LOCK_X | TALUS_LOCK_RZ) && bodies[2].mass == 1.5);
  CHECK(bodies[2].rotation.quaternion[0] == 2 && bodies[2].shape.own->box[1] == 0.1);
  CHECK(bodies[3].fill->seed == UINT64_MAX && bodies[3].fill->rotation.is_random);
  CHECK(bodies[4].fill->size.by == 1 && bodies[4].fill->size.lognormal.median == 1);
  CHECK(bodies[5].fill->size.table.count == 2);
  CHECK_STR(bodies[6].from->from, "some where/else");
  CHECK(bodies[6].from->only.count == 1 && bodies[6].from->change.count == 2);
  CHECK(scene->ignore.count == 2 && scene->sinks.count == 2 && emitters[0].until == 1);
  CHECK(tl_scene_probe_count(scene) == 2);
  CHECK_STR(tl_scene_get_probe(scene, 0).name, "force");
  CHECK(tl_scene_get_probe(scene, 0).record ==
        (TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE | TALUS_RECORD_ENERGY));
  CHECK(tl_scene_get_probe(scene, 0).every == 0.05 && tl_scene_get_probe(scene, 1).every == 0.02);
  talus_scene_free(scene);
}

/* -400 degrees about (1, 1, 1) are -40: q = (cos 20, -sin 20 (1, 1, 1) / sqrt 3). */
TEST(axis_and_degrees_become_a_quaternion) {
  talus_scene *scene = parse(everything);
  const double *q = ((const tl_scene_body *)scene->bodies.data)[1].rotation.quaternion;
  CHECK_NEAR(q[0], 0.93969262078590838, 1e-15);
  for (int i = 1; i < 4; ++i)
    CHECK_NEAR(q[i], -0.34202014332566873 / sqrt(3.0), 1e-15);
  talus_scene_free(scene);
}

TEST(defaults_are_those_of_the_library) {
  talus_scene *scene = parse(small);
  const talus_world_def world = talus_world_def_default();
  const talus_material_def material = talus_material_def_default();
  const tl_scene_material *rock = scene->materials.data;
  CHECK(scene->step.dt == world.dt && scene->broad.kind == (int)world.broad);
  CHECK_NEAR(scene->gravity[2], world.gravity.z, 1e-6);
  CHECK(scene->solve.friction == (int)world.solve.friction);
  CHECK(scene->solve.iterations == (uint64_t)world.solve.iterations);
  CHECK(scene->solve.tolerance == world.solve.tolerance);
  CHECK(scene->solve.warm_start == world.solve.warm_start);
  CHECK(scene->solve.recovery_speed == world.solve.recovery_speed);
  CHECK(scene->solve.bounce_speed < 0 && world.solve.bounce_speed < 0);
  CHECK(scene->contact.margin < 0 && world.margin < 0);
  CHECK(rock->density == material.density && rock->friction == material.friction);
  CHECK(rock->restitution == material.restitution);
  CHECK(scene->output.every == 0.04);
  CHECK_STR(((const tl_scene_body *)scene->bodies.data)[0].material, "rock");
  talus_scene_free(scene);
}

/* As a JSON writer has it: keys and words in quotes, numbers without. */
TEST(words_that_stand_for_numbers_may_be_quoted) {
  const char *texts[] = {
      "talus: 1\nuntil: 1\nmaterials: {rock: {static_friction: auto, stiffness: auto}}\n"
      "broad: {skin: auto}\nsolve: {slop: auto, bounce_speed: auto}\ncontact: {margin: auto}\n"
      "bodies: [{shape: {sphere: 0.1}}]\n",
      "{\"talus\": 1, \"until\": 1, \"materials\": {\"rock\": {\"static_friction\": \"auto\", "
      "\"stiffness\": \"auto\"}}, \"broad\": {\"skin\": \"auto\"}, \"solve\": {\"slop\": "
      "\"auto\", \"bounce_speed\": 'auto'}, \"contact\": {\"margin\": \"auto\"}, "
      "\"bodies\": [{\"shape\": {\"sphere\": 0.1}}]}"};
  char *written[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    talus_scene *scene = NULL;
    CHECK_OK(talus_scene_parse(texts[i], strlen(texts[i]), NULL, NULL, NULL, 0, &scene, NULL));
    CHECK(scene->broad.skin == -1);
    CHECK_OK(talus_scene_write(scene, &written[i]));
    talus_scene_free(scene);
  }
  CHECK_STR(written[0], written[1]);
  for (int i = 0; i < 2; ++i)
    talus_text_free(written[i]);
}

TEST(output_interval_is_a_step_at_least) {
  talus_scene *scene = parse("talus: 1\nuntil: 0.05\n");
  CHECK(scene->output.every == 1e-3);
  talus_scene_free(scene);
}

TEST(byte_order_mark_and_crlf_are_accepted) {
  talus_scene *scene = parse("\xEF\xBB\xBFtalus: 1\r\nuntil: 1\r\n# end\r\n");
  CHECK(scene->until.time == 1);
  talus_scene_free(scene);
  char *problems = complaints("\xEF\xBB\xBFtalus: 2\r\nuntil: 1\r\n", 0, NULL);
  CHECK_STR(problems, "test.yaml:1:8: talus is 2; expected 1\n  talus: 2\n         ^\n");
  talus_text_free(problems);
}

TEST(decimal_point_does_not_follow_the_locale) {
  if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
    printf("  (no locale with a decimal comma here)\n");
  talus_scene *scene = parse(everything);
  CHECK(scene->step.dt == 2.5e-4);
  CHECK(has_text(scene, "dt: 0.00025"));
  talus_scene_free(scene);
  setlocale(LC_NUMERIC, "C");
}

TEST(identity_leaves_out_until_output_and_probes) {
  const char *const same[] = {"until=7", "output.every=0.5", "output.fields=[contacts]",
                              "probes=[{name: a, body: one, record: [force]}]"};
  const char *const other[] = {"step.dt=5e-4", "title=x", "bodies.1.at=[1, 0, 1e-9]",
                               "solve.iterations=51", "materials.rock.friction=0.51"};
  talus_scene *scene = parse(small);
  uint64_t identity, changed;
  CHECK_OK(tl_scene_identity(scene, &identity));
  talus_scene_free(scene);
  for (size_t i = 0; i < sizeof same / sizeof *same; ++i) {
    scene = parse_with(small, 1, &same[i]);
    CHECK_OK(tl_scene_identity(scene, &changed));
    CHECK_MSG(changed == identity, "%s changed it", same[i]);
    talus_scene_free(scene);
  }
  for (size_t i = 0; i < sizeof other / sizeof *other; ++i) {
    scene = parse_with(small, 1, &other[i]);
    CHECK_OK(tl_scene_identity(scene, &changed));
    CHECK_MSG(changed != identity, "%s did not change it", other[i]);
    talus_scene_free(scene);
  }
}

/* ---- settings -------------------------------------------------------------------------------- */

TEST(settings_are_laid_over_the_file) {
  const char *const settings[] = {"solve.iterations=100",
                                  "bodies.2.fill.count=500",
                                  "materials.rock.friction=0.3",
                                  "step.dt=5e-4",
                                  "until.at_rest=1e-3",
                                  "bodies.0.shape.sphere=0.2",
                                  "materials.steel={density: 7800}",
                                  "bodies.0.material=steel",
                                  "bodies.1.material=rock",
                                  "bodies.2.fill.material=rock",
                                  "bodies.1.at.2=3",
                                  "title=a=b",
                                  "gravity=[0, 0, 1]"};
  const char *text = "talus: 1\nuntil: 4.0\nstep: fixed\nmaterials: {rock: {}}\n"
                     "shapes: {ball: {sphere: 0.1}}\nbodies:\n  - {shape: {sphere: 0.1}}\n"
                     "  - {shape: ball, at: [1, 0, 0]}\n"
                     "  - fill: {shape: ball, count: 9, in: {box: [[2, 2, 2], [4, 4, 4]]}}\n";
  talus_scene *scene = parse_with(text, sizeof settings / sizeof *settings, settings);
  const tl_scene_body *bodies = scene->bodies.data;
  CHECK(scene->solve.iterations == 100 && scene->step.dt == 5e-4);
  CHECK(scene->until.time == 4 && scene->until.at_rest == 1e-3);
  CHECK(bodies[2].fill->count == 500 && bodies[1].at[2] == 3 && bodies[1].at[0] == 1);
  CHECK(bodies[0].shape.own->sphere == 0.2);
  CHECK_STR(bodies[0].material, "steel");
  CHECK(((const tl_scene_material *)scene->materials.data)[0].friction == 0.3);
  CHECK_STR(scene->title, "a=b");
  CHECK(scene->gravity[2] == 1);
  talus_scene_free(scene);
}

/* ---- complaints ------------------------------------------------------------------------------ */

TEST(first_complaint_and_their_number_are_the_last_error) {
  char *problems = complaints("talus: 1\nuntil: 0\nbroad: bin\n", 0, NULL);
  talus_text_free(problems);
  CHECK_STR(talus_last_error(), "test.yaml:2:8: until is 0; expected a number greater than 0, in s "
                                "(and 1 more error)");
  talus_scene *scene = NULL;
  CHECK(talus_scene_parse("talus: 2\nuntil: 1\n", 18, "a.yaml", NULL, NULL, 0, &scene, NULL) ==
        TALUS_ERROR_FORMAT);
  CHECK_STR(talus_last_error(), "a.yaml:1:8: talus is 2; expected 1");
}

TEST(fifty_complaints_are_shown_and_the_rest_counted) {
  tl_text text = {0};
  tl_text_add(&text, "talus: 1\nuntil: 1\nmaterials:\n");
  for (int i = 0; i < 80; ++i)
    tl_text_add(&text, "  m%d: {density: -1}\n", i);
  char *problems = complaints(text.data, 0, NULL);
  size_t lines = 0;
  for (const char *c = problems; *c; ++c)
    lines += *c == '\n';
  const bool ends_well = strstr(problems, "... and 30 more\n") != NULL;
  talus_text_free(problems);
  tl_text_drop(&text);
  CHECK_EQ_U64(lines, 3 * 50 + 1);
  CHECK(ends_well);
}

TEST(file_above_64_mebibytes_is_refused) {
  const size_t length = ((size_t)64 << 20) + 1;
  char *text = malloc(length);
  CHECK(text != NULL);
  memset(text, '\n', length);
  talus_scene *scene = NULL;
  const talus_status status =
      talus_scene_parse(text, length, "big.yaml", NULL, NULL, 0, &scene, NULL);
  free(text);
  CHECK_EQ_U64(status, TALUS_ERROR_FORMAT);
  CHECK(strstr(talus_last_error(), "big.yaml: larger than 64 MiB") != NULL);
}

TEST(slips_are_found_and_strangers_are_not) {
  const struct {
    const char *word, *candidate;
    bool is_near;
  } cases[] = {{"frction", "friction", true},
               {"firction", "friction", true},
               {"Friction", "friction", true},
               {"bal", "ball", true},
               {"x", "y", false},
               {"wibble", "gravity", false},
               {"until", "unit", false},
               {"mas", "mass", true},
               {"bodys", "bodies", true},
               {"hinge", "revolute", true},
               {"Hinge", "prismatic", false},
               {"fric", "friction", true},
               {"dens", "density", true},
               {"mu", "friction", true},
               {"fr", "friction", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tl_suggestion suggestion = {.word = cases[i].word};
    tl_suggest(&suggestion, cases[i].candidate);
    CHECK_MSG((suggestion.best != NULL) == cases[i].is_near, "%s, %s", cases[i].word,
              cases[i].candidate);
  }
  CHECK(tl_edit_distance("kitten", "sitting", 5) == 3 && tl_edit_distance("ab", "ba", 2) == 1);
}

TEST(misspelt_built_in_scene_gets_a_suggestion) {
  talus_scene *scene = NULL;
  CHECK(talus_scene_load("puor", NULL, 0, &scene, NULL) == TALUS_ERROR_IO);
  CHECK_STR(talus_last_error(),
            "puor: there is no such file and no such built-in scene; did you mean `pour`?");
  CHECK(talus_scene_load("/", NULL, 0, &scene, NULL) == TALUS_ERROR_IO);
  CHECK_STR(talus_last_error(), "/: is a folder; expected a scene file");
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* Reads {key: text} by one map's table; the complaints about anything but what is missing. */
static size_t read_one(const tl_map *map, const tl_key *key, const char *value) {
  tl_document document = {0};
  tl_problems problems = {0};
  tl_reader reader;
  tl_text text = {0};
  tl_text_add(&text, "{%s: %s}", key->name, value);
  const tl_source source = {.name = "example", .text = text.data, .length = text.count};
  tl_node_id root = 0;
  size_t wrong = 0;
  void *object = calloc(1, map->size);
  CHECK(object != NULL);
  CHECK_OK(tl_array_push(&problems.sources, source));
  CHECK_OK(tl_document_parse(&document, &problems, 0, &root));
  CHECK_OK(tl_reader_open(&reader, &document, &problems));
  if (map->is_bare)
    root = tl_node_at(&document, tl_node_at(&document, root)->first)->first;
  tl_read_map(&reader, root, map, object);
  for (size_t i = 0; i < problems.list.count; ++i)
    if (!strstr(problems.list.data[i].text, " has no `") &&
        !strstr(problems.list.data[i].text, " is incomplete")) {
      printf("  %s.%s: %s\n", map->title, key->name, problems.list.data[i].text);
      wrong++;
    }
  tl_object_release(map, object);
  free(object);
  tl_reader_close(&reader);
  tl_document_free(&document);
  tl_problems_free(&problems);
  tl_text_drop(&text);
  return wrong;
}

TEST(every_example_and_every_default_of_the_tables_is_valid) {
  size_t wrong = 0, keys = 0;
  for (size_t m = 0; tl_schema_maps[m]; ++m)
    for (const tl_key *key = tl_schema_maps[m]->keys; key->name; ++key) {
      CHECK_MSG(key->help && key->example, "%s.%s is not described", tl_schema_maps[m]->title,
                key->name);
      CHECK((size_t)(key - tl_schema_maps[m]->keys) < TL_MAP_KEYS);
      wrong += read_one(tl_schema_maps[m], key, key->example);
      if (key->fallback)
        wrong += read_one(tl_schema_maps[m], key, key->fallback);
      keys++;
    }
  CHECK_EQ_U64(wrong, 0);
  CHECK(keys > 100);
}

TEST(documentation_is_what_the_tables_say) {
  char path[1024];
  const char *source = getenv("TALUS_SOURCE_DIR");
  snprintf(path, sizeof path, "%s/docs/scene.md", source ? source : TALUS_SOURCE_DIR);
  char *text = NULL;
  CHECK_OK(talus_scene_schema(&text));
  if (getenv("TALUS_UPDATE_EXPECTED")) {
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL);
    fputs(text, out);
    fclose(out);
  }
  FILE *file = fopen(path, "rb");
  CHECK_MSG(file, "%s is missing; write it with `talus scenes --schema`", path);
  const size_t length = strlen(text);
  char *found = calloc(1, length + 2);
  const size_t n = found ? fread(found, 1, length + 1, file) : 0;
  fclose(file);
  const bool is_same = n == length && memcmp(found, text, length) == 0;
  free(found);
  talus_text_free(text);
  CHECK_MSG(is_same, "docs/scene.md is old; write it anew with `talus scenes --schema`");
}

/* ---- the time grid --------------------------------------------------------------------------- */

TEST(events_are_at_the_nearest_steps_and_the_last_at_the_end) {
  CHECK_EQ_U64(tl_grid_steps(4.0, 1e-3), 4000);
  CHECK_EQ_U64(tl_grid_steps(0.3, 0.1), 3); /* 0.3 / 0.1 is less than 3 in doubles */
  CHECK_EQ_U64(tl_grid_steps(1.04, 0.1), 10);
  CHECK_EQ_U64(tl_grid_event(3, 0.0025, 1e-3, 100), 8); /* 7.5 goes up */
  CHECK_EQ_U64(tl_grid_event(1000, 0.0025, 1e-3, 100), 100);
  CHECK_EQ_U64(tl_grid_events(0.02, 1e-3, 4000), 201);
  CHECK_EQ_U64(tl_grid_events(0.3, 0.1, 10), 5); /* steps 0, 3, 6, 9 and the end */
  CHECK_EQ_U64(tl_grid_events(1e-3, 1e-3, 7), 8);
  CHECK_EQ_U64(tl_grid_events(9.0, 1e-3, 7), 2);
  for (uint64_t steps = 1; steps < 200; ++steps)
    for (double every = 0.1; every < 1.3; every += 0.03) {
      const uint64_t events = tl_grid_events(every, 0.1, steps);
      CHECK(tl_grid_event(events - 1, every, 0.1, steps) == steps);
      CHECK(tl_grid_event(events - 2, every, 0.1, steps) < steps);
    }
}

TEST(info_says_what_a_run_will_do) {
  talus_scene *scene = parse(everything);
  talus_scene_info info;
  talus_scene_get_info(scene, &info);
  CHECK_EQ_U64(info.steps, 8000);
  CHECK_EQ_U64(info.frames, 101);
  CHECK(info.until == 2 && info.dt == 2.5e-4 && info.at_rest == 1e-3 && info.output_every == 0.02);
  CHECK(info.materials == 5 && info.shapes == 4 && info.emitters == 2 && info.sinks == 2);
  CHECK(info.probes == 2);
  talus_scene_free(scene);
}

TEST(nothing_is_kept_after_everything_is_freed) {
  const size_t before = tl_memory_count().bytes;
  talus_scene *scene = parse(everything);
  CHECK(tl_memory_count().bytes > before);
  talus_scene_free(scene);
  char *problems = complaints("talus: 1\nuntil: 0\nbodies: [{shape: x, fill: {}}]\n", 0, NULL);
  talus_text_free(problems);
  talus_text_free(NULL);
  talus_scene_free(NULL);
  CHECK_EQ_U64(tl_memory_count().bytes, before);
}

int main(int argc, char **argv) {
  if (!TALUS_HAVE_YAML) {
    puts("skipped: built without libyaml-dev");
    return 77;
  }
  return check_main(argc, argv);
}
