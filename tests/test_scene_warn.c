/* Likely mistakes in scenes: each is told once, with its place, and can be silenced. */
#include "check.h"
#include "scene/schema.h"
#include "world/world.h"
#include <talus/scene.h>

#define LINES 16
#define BYTES 1024

/* What the log got at level 1, less what a fill says that may place fewer. */
typedef struct told {
  char lines[LINES][BYTES];
  size_t count;
} told;

static void listen(void *context, int level, const char *line) {
  told *heard = context;
  if (level != 1 || strncmp(line, "fill: ", 6) == 0)
    return;
  CHECK(heard->count < LINES);
  snprintf(heard->lines[heard->count++], BYTES, "%s", line);
}

static told warnings_with(const char *text, const char *const *settings, size_t n) {
  static told heard;
  talus_scene *scene = NULL;
  char *problems = NULL;
  talus_world *world = NULL;
  heard.count = 0;
  const talus_status status =
      talus_scene_parse(text, strlen(text), "test.yaml", NULL, settings, n, &scene, &problems);
  if (status != TALUS_OK)
    printf("%s", problems ? problems : talus_last_error());
  talus_text_free(problems);
  CHECK_OK(status);
  CHECK_OK(talus_scene_build(scene, 1, listen, &heard, &world));
  talus_world_destroy(world);
  talus_scene_free(scene);
  return heard;
}

static told warnings_of(const char *text) { return warnings_with(text, NULL, 0); }

/* A scene without fault, to which each test adds one. */
#define GOOD_MATERIALS "materials: {rock: {density: 2600, friction: 0.5}}\n"
#define GOOD_BODIES                                                                                \
  "bodies:\n"                                                                                      \
  "  - {name: floor, shape: {plane: [0, 0, 1, 0]}, fixed: true}\n"                                 \
  "  - {name: ball, shape: {sphere: 0.1}, at: [0, 0, 0.1]}\n"
#define GOOD "talus: 1\nuntil: 1\n" GOOD_MATERIALS GOOD_BODIES

/* Exactly one warning, with these words in it, that names the key which then silences it. */
static void check_warning(const char *text, const char *kind, const char *place,
                          const char *words) {
  char quiet[64], way_out[80];
  snprintf(quiet, sizeof quiet, "quiet=[%s]", kind);
  snprintf(way_out, sizeof way_out, "if that is meant, add `quiet: [%s]`", kind);
  const told loud = warnings_of(text);
  CHECK_EQ_U64(loud.count, 1);
  const char *line = loud.lines[0];
  CHECK_MSG(strncmp(line, place, strlen(place)) == 0, "%s does not begin with %s", line, place);
  CHECK_MSG(strstr(line, words), "%s does not say: %s", line, words);
  CHECK_MSG(strstr(line, way_out), "%s does not say how to silence it", line);
  CHECK_MSG(line[strlen(line) - 1] != '\n', "%s ends with a newline", line);
  const char *const settings[] = {quiet};
  CHECK_EQ_U64(warnings_with(text, settings, 1).count, 0);
}

TEST(a_good_scene_has_no_warnings) { CHECK_EQ_U64(warnings_of(GOOD).count, 0); }

TEST(density_in_grams_per_cubic_centimetre) {
  check_warning("talus: 1\nuntil: 1\nmaterials:\n  rock: {density: 2.6}\n" GOOD_BODIES,
                "light-density", "test.yaml:4:19: ", "a density of 2.6 g/cm3 is 2600");
}

TEST(the_warning_quotes_its_line_with_a_caret) {
  const told heard =
      warnings_of("talus: 1\nuntil: 1\nmaterials:\n  rock: {density: 2.6}\n" GOOD_BODIES);
  CHECK(strstr(heard.lines[0], "\n    rock: {density: 2.6}\n                    ^"));
}

TEST(a_mistake_made_again_is_told_once) {
  const told heard =
      warnings_of("talus: 1\nuntil: 1\nmaterials: {a: {density: 1}, b: {density: 2}, "
                  "c: {density: 3000}}\nbodies:\n"
                  "  - {shape: {sphere: 1}, material: a}\n"
                  "  - {shape: {sphere: 1}, material: b, at: [9, 0, 0]}\n"
                  "  - {shape: {sphere: 1}, material: c, at: [0, 9, 0]}\n");
  CHECK_EQ_U64(heard.count, 1);
  CHECK(strstr(heard.lines[0], "materials.a.density is 1 kg/m3"));
  CHECK(strstr(heard.lines[0], "(and 1 more like it)"));
}

TEST(friction_as_an_angle) {
  check_warning("talus: 1\nuntil: 1\nmaterials: {rock: {friction: 30}}\n" GOOD_BODIES,
                "high-friction", "test.yaml:3:30: ", "30 degrees are 0.577");
  check_warning(GOOD "pairs: [{materials: [rock, rock], friction: 45}]\n", "high-friction",
                "test.yaml:7:45: ", "pairs.0.friction is 45");
}

TEST(rolling_as_a_coefficient) {
  check_warning("talus: 1\nuntil: 1\nmaterials: {rock: {rolling: 1.5}}\n" GOOD_BODIES,
                "large-rolling", "test.yaml:3:29: ", "it is a length, and a coefficient of 1.5 is");
  check_warning("talus: 1\nuntil: 1\nmaterials: {rock: {spinning: 1.5}}\n" GOOD_BODIES,
                "large-rolling", "test.yaml:3:30: ", "materials.rock.spinning is 1.5 m");
  CHECK_EQ_U64(
      warnings_of("talus: 1\nuntil: 1\nmaterials: {rock: {rolling: 0.05}}\n" GOOD_BODIES).count, 0);
}

TEST(gravity_upwards_or_in_centimetres) {
  check_warning(GOOD "gravity: [0, 0, 9.81]\n", "odd-gravity",
                "test.yaml:7:10: ", "down is [0, 0, -9.81]");
  check_warning(GOOD "gravity: [0, 0, -981]\nstep: {dt: 1e-5}\n", "odd-gravity",
                "test.yaml:7:10: ", "a hundred times that of the Earth");
  check_warning(GOOD "gravity: [0, 0, -9810]\nstep: {dt: 1e-6}\n", "odd-gravity",
                "test.yaml:7:10: ", "as in mm/s2");
  CHECK_EQ_U64(warnings_of(GOOD "gravity: [0, -9.81, 0]\n").count, 0);
  CHECK_EQ_U64(warnings_of(GOOD "gravity: [0, 0, 0]\n").count, 0);
  CHECK_EQ_U64(warnings_of(GOOD "gravity: [9.81, 0, 1e-9]\n").count, 0);
}

TEST(sizes_in_millimetres) {
  const char *begin = "talus: 1\nuntil: 1\nmaterials: {rock: {}}\nbodies:\n";
  char text[512];
  snprintf(text, sizeof text, "%s  - {name: grain, shape: {sphere: 10}}\n", begin);
  check_warning(text, "heavy-body", "test.yaml:5:5: ",
                "bodies.0 (`grain`) has 1.1e+07 kg, as much as a ball 20 m across; sizes are in "
                "metres: a body of 20 mm is 0.02");
  snprintf(text, sizeof text,
           "%s  - fill: {shape: {sphere: 5}, count: 3, in: {box: [[0, 0, 0], [90, 90, 90]]}}\n",
           begin);
  check_warning(text, "heavy-body", "test.yaml:5:5: ", "bodies.0.fill has 1.4e+06 kg");
  snprintf(text, sizeof text, "%s  - {shape: {sphere: 10}, fixed: true}\n", begin);
  CHECK_EQ_U64(warnings_of(text).count, 0);
}

TEST(balls_wider_than_a_throat) {
  const char *const nozzle =
      "talus: 1\nuntil: 1\ngravity: [0, 0, 0]\nmaterials: {steel: {}}\n"
      "shapes: {ball: {sphere: 0.2}, wall: {revolved: [[0, 1], [1, %s], [2, 1]]}}\n"
      "bodies:\n  - {name: nozzle, shape: wall, material: steel, fixed: true}\n"
      "  - {shape: ball, material: steel, at: [0, 0, 0.5]}\n";
  char text[512];
  snprintf(text, sizeof text, nozzle, "0.21");
  CHECK_EQ_U64(warnings_of(text).count, 0);
  snprintf(text, sizeof text, nozzle, "0.19");
  const told heard = warnings_of(text);
  CHECK_EQ_U64(heard.count, 1);
  CHECK_MSG(
      strstr(heard.lines[0], "radius 0.2 m, wider than the throat of bodies.0, which is 0.19"),
      "%s", heard.lines[0]);
}

TEST(a_run_of_a_few_steps) {
  check_warning("talus: 1\nuntil: 0.005\n" GOOD_MATERIALS GOOD_BODIES, "short-run",
                "test.yaml:2:8: ", "which is 5 steps of 0.001 s");
  CHECK_EQ_U64(warnings_of("talus: 1\nuntil: 0.01\n" GOOD_MATERIALS GOOD_BODIES).count, 0);
}

TEST(names_that_no_body_uses) {
  check_warning("talus: 1\nuntil: 1\nmaterials: {rock: {}, ice: {}, mud: {}}\nbodies:\n"
                "  - {shape: {sphere: 1}, material: rock}\n",
                "unused-material", "test.yaml:3:23: ", "no body is of the materials `ice`, `mud`");
  check_warning(GOOD "shapes: {grain: {sphere: 1}}\n", "unused-shape",
                "test.yaml:7:10: ", "no body is of the shape `grain`");
}

TEST(fills_and_emitters_use_names_too) {
  const told heard = warnings_of(
      "talus: 1\nuntil: 1\nmaterials: {rock: {}, ice: {}}\n"
      "shapes: {grain: {sphere: 0.1}, drop: {sphere: 0.1}}\nbodies:\n"
      "  - fill: {shape: grain, material: rock, count: 3, in: {box: [[0, 0, 0], [1, 1, 1]]}}\n"
      "emit:\n  - {shape: drop, material: ice, rate: 1, from: {disc: {at: [0, 0, 5], radius: "
      "1}}}\n");
  CHECK_EQ_U64(heard.count, 0);
}

#define FILL(what)                                                                                 \
  "talus: 1\nuntil: 1\nmaterials: {rock: {}}\nbodies:\n"                                           \
  "  - fill: {shape: {sphere: 0.05}, " what ", in: {box: [[0, 0, 0], [1, 1, 1]]}}\n"

TEST(a_fill_like_a_heap) {
  check_warning(FILL("fraction: 0.62, allow_fewer: true"), "dense-fill", "test.yaml:5:45: ",
                "bodies.0.fill wants the spheres around its bodies to take 0.62 times");
  CHECK_EQ_U64(warnings_of(FILL("count: 300")).count, 0);
}

/* 1000 bodies of half to one and a half times 0.05 m: E[s^3] = 1.25, so 0.65 of the cube. Of table
 * shares by mass the numbers count: half of each mass makes 27 small ones for each large one. */
TEST(crowding_counts_the_sizes) {
  const char *const quiet[] = {"quiet=[]"};
  told heard =
      warnings_with(FILL("count: 1000, size: {uniform: [0.5, 1.5]}, allow_fewer: true"), quiet, 1);
  CHECK(heard.count >= 1 && strstr(heard.lines[0], "take 0.65 times"));
  heard = warnings_with(
      FILL("count: 1000, size: {table: [[0.5, 1], [1.5, 1]], by: mass}, allow_fewer: true"), quiet,
      1);
  CHECK_EQ_U64(heard.count, 0);
  heard = warnings_with(FILL("count: 1000, size: {table: [[0.5, 1], [1.5, 1]]}, allow_fewer: true"),
                        quiet, 1);
  CHECK(heard.count >= 1 && strstr(heard.lines[0], "take 0.92 times"));
}

TEST(a_fast_body_and_a_long_step) {
  check_warning(GOOD
                "  - {name: shot, shape: {sphere: 0.01}, at: [0, 0, 3], velocity: [40, 0, 0]}\n"
                "step: {dt: 1e-3}\n",
                "large-step", "test.yaml:8:12: ", "a dt of 0.0001 would do");
}

TEST(a_fall_makes_a_body_fast) {
  /* 9.8 m/s after almost five metres, in one second: 9.8 mm in a step. */
  const told heard = warnings_of(GOOD "  - {shape: {sphere: 0.009}, at: [0, 0, 5]}\n");
  CHECK_EQ_U64(heard.count, 1);
  CHECK(strstr(heard.lines[0], "test.yaml:7:5: step.dt is 0.001 s, in which bodies.2, at 9.8 m/s "
                               "after a fall of 5 m, moves 1.1 times the radius 0.009 m"));
  CHECK_EQ_U64(warnings_of(GOOD "  - {shape: {sphere: 0.011}, at: [0, 0, 5]}\n").count, 0);
}

TEST(what_falls_on_nothing_may_be_fast) {
  CHECK_EQ_U64(warnings_of("talus: 1\nuntil: 100\nmaterials: {rock: {}}\nbodies:\n"
                           "  - {shape: {sphere: 0.01}}\n")
                   .count,
               0);
}

TEST(a_slope_is_as_far_below_as_it_is_at_that_place) {
  /* Descends towards +x at 45 degrees: five metres below a body at x = 5 on the level of its top.
   */
  const char *slope = "talus: 1\nuntil: 2\nmaterials: {rock: {}}\nbodies:\n"
                      "  - {shape: {plane: [0, 0, 1, 0]}, fixed: true, rotation: {axis: [0, 1, 0], "
                      "degrees: 45}}\n  - {shape: {sphere: 0.009}, at: [5, 0, 0]}\n";
  const told heard = warnings_of(slope);
  CHECK_EQ_U64(heard.count, 1);
  CHECK(strstr(heard.lines[0], "at 9.9 m/s after a fall of 5 m"));
  const char *const nearer[] = {"bodies.1.at=[1, 0, 0]"};
  CHECK_EQ_U64(warnings_with(slope, nearer, 1).count, 0);
}

TEST(fills_emitters_and_scripts_can_be_too_fast) {
  told heard = warnings_of("talus: 1\nuntil: 1\nmaterials: {rock: {}}\nbodies:\n"
                           "  - fill: {shape: {sphere: 0.1}, count: 2, size: {uniform: [0.1, 1]}, "
                           "velocity: [0, 20, 0], in: {box: [[0, 0, 0], [1, 1, 1]]}}\n");
  CHECK_EQ_U64(heard.count, 1);
  CHECK(strstr(heard.lines[0], "bodies.0.fill, at 20 m/s, moves 2 times the radius 0.01 m"));
  heard = warnings_of(
      "talus: 1\nuntil: 1\nmaterials: {rock: {}}\nemit:\n  - {shape: {box: [1, 1, "
      "0.02]}, rate: 1, velocity: [0, 0, -30], from: {disc: {at: [0, 0, 5], radius: 1}}}\n");
  CHECK_EQ_U64(heard.count, 1);
  CHECK(strstr(heard.lines[0], "emit.0, at 30 m/s, moves 3 times the radius 0.01 m"));
  heard = warnings_of(
      GOOD "  - {name: fan, shape: {box: [6, 0.1, 8]}, at: [0, 0, 9], motion: {spin: [0, 30, "
           "0]}}\n");
  CHECK_EQ_U64(heard.count, 1);
  CHECK(
      strstr(heard.lines[0], "bodies.2 (`fan`), at 1.5e+02 m/s, moves 1.5 times the radius 0.1 m"));
}

TEST(bodies_that_begin_within_each_other) {
  check_warning(
      GOOD "  - {name: high, shape: {sphere: 0.05}, at: [0, 0, 0.24]}\n", "overlap",
      "test.yaml:7:5: ",
      "bodies.2 (`high`) and bodies.1 (`ball`) overlap by 0.01 m at the start, 0.2 of the "
      "smaller one's radius 0.05 m");
}

TEST(many_overlaps_are_told_once) {
  const told heard = warnings_of(GOOD "  - {shape: {sphere: 0.1}, at: [0.1, 0, 0.1]}\n"
                                      "  - {shape: {box: [0.2, 0.2, 0.2]}, at: [3, 0, 0.05]}\n");
  CHECK_EQ_U64(heard.count, 1);
  CHECK(strstr(heard.lines[0], "bodies.2 and bodies.1 (`ball`) overlap by 0.1 m"));
  CHECK(strstr(heard.lines[0], "(and 1 more pair overlaps)"));
}

TEST(touching_is_no_overlap) {
  CHECK_EQ_U64(warnings_of(GOOD "  - {shape: {sphere: 0.1}, at: [0.1999, 0, 0.1]}\n").count, 0);
}

TEST(overlaps_of_ignored_groups_are_none) {
  CHECK_EQ_U64(warnings_of("talus: 1\nuntil: 1\nmaterials: {rock: {}}\nignore: [[g, g]]\nbodies:\n"
                           "  - {shape: {sphere: 1}, group: g}\n"
                           "  - {shape: {sphere: 1}, group: g}\n")
                   .count,
               0);
}

TEST(looking_for_overlaps_changes_nothing) {
  const char *text = GOOD "  - {shape: {sphere: 0.1}, at: [0.15, 0, 0.1], velocity: [1, 2, 3]}\n";
  uint64_t hashes[2];
  static told heard;
  for (int loud = 0; loud < 2; ++loud) {
    talus_scene *scene = NULL;
    talus_world *world = NULL;
    CHECK_OK(talus_scene_parse(text, strlen(text), NULL, NULL, NULL, 0, &scene, NULL));
    CHECK_OK(talus_scene_build(scene, 1, loud ? listen : NULL, &heard, &world));
    CHECK_OK(talus_world_step(world, 20));
    hashes[loud] = talus_world_hash(world);
    talus_world_destroy(world);
    talus_scene_free(scene);
  }
  CHECK_EQ_U64(heard.count, 1);
  CHECK_EQ_U64(hashes[0], hashes[1]);
}

TEST(quiet_is_not_part_of_what_a_run_is) {
  const char *const quiet[] = {"quiet=[overlap, large-step]"};
  uint64_t hashes[2];
  for (size_t i = 0; i < 2; ++i) {
    talus_scene *scene = NULL;
    CHECK_OK(talus_scene_parse(GOOD, strlen(GOOD), NULL, NULL, quiet, i, &scene, NULL));
    CHECK_OK(tl_scene_identity(scene, &hashes[i]));
    talus_scene_free(scene);
  }
  CHECK_EQ_U64(hashes[0], hashes[1]);
}

TEST(strict_is_not_part_of_what_a_run_is_and_reaches_the_world) {
  const char *const strict[] = {"strict=[sinking, unconverged]"};
  uint64_t hashes[2];
  for (size_t i = 0; i < 2; ++i) {
    talus_scene *scene = NULL;
    talus_world *world = NULL;
    CHECK_OK(talus_scene_parse(GOOD, strlen(GOOD), NULL, NULL, strict, i, &scene, NULL));
    CHECK_OK(tl_scene_identity(scene, &hashes[i]));
    CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
    CHECK_EQ_U64(world->strict, i * (TALUS_STRICT_SINKING | TALUS_STRICT_UNCONVERGED));
    talus_world_destroy(world);
    talus_scene_free(scene);
  }
  CHECK_EQ_U64(hashes[0], hashes[1]);
}

TEST(a_misspelt_word_of_strict_is_refused_with_the_right_one) {
  const char *const strict[] = {"strict=[sinkin]"};
  talus_scene *scene = NULL;
  CHECK(talus_scene_parse(GOOD, strlen(GOOD), NULL, NULL, strict, 1, &scene, NULL) ==
        TALUS_ERROR_FORMAT);
  CHECK(strstr(talus_last_error(), "did you mean `sinking`"));
}

/* ---- keys that do nothing -------------------------------------------------------------------- */

#define SPRINGS                                                                                    \
  "talus: 1\nuntil: 1\nmaterials: {rock: {stiffness: 1e6, young: 1e8, poisson: "                   \
  "0.3}}\n" GOOD_BODIES

/* Every way to choose, with the bit that stands for it below. */
static const struct choice {
  unsigned bit;
  const char *settings[2];
} choices[] = {{1, {"solve.kind=ccp", "solve.method=gauss-seidel"}},
               {2, {"solve.kind=ccp", "solve.method=apgd"}},
               {4, {"solve.kind=ccp", "solve.method=bb"}},
               {8, {"solve.kind=ccp", "solve.method=jacobi"}},
               {16, {"solve.kind=impulse"}},
               {32, {"solve.kind=penalty", "solve.law=linear"}},
               {64, {"solve.kind=penalty", "solve.law=hertz"}},
               {128, {"solve.kind=penalty", "solve.law=noble"}},
               {256, {"solve.kind=elastic", "solve.shell=soft"}},
               {512, {"solve.kind=elastic", "solve.shell=hard"}}};

enum { CCP = 15, IMPULSE = 16, PENALTY = 224, ELASTIC = 768 };

/* Whose each key is, said once more and apart from the schema. */
static const struct owned {
  const char *key, *setting;
  unsigned owners;
} owned[] = {{"law", "solve.law=linear", PENALTY},
             {"reach", "solve.reach=1e-4", 128},
             {"tangential", "solve.tangential=0.3", 32 | 128},
             {"method", "solve.method=gauss-seidel", CCP},
             {"friction", "solve.friction=ncp", CCP | IMPULSE},
             {"iterations", "solve.iterations=10", CCP | IMPULSE},
             {"iterations_max", "solve.iterations_max=auto", CCP | IMPULSE},
             {"tolerance", "solve.tolerance=1e-4", CCP | IMPULSE},
             {"warm_start", "solve.warm_start=true", CCP | IMPULSE},
             {"recovery", "solve.recovery=1", CCP},
             {"recovery_speed", "solve.recovery_speed=0.5", CCP | IMPULSE},
             {"bounce_speed", "solve.bounce_speed=auto", CCP | IMPULSE | ELASTIC},
             {"joints", "solve.joints=auto", CCP | IMPULSE},
             {"omega", "solve.omega=0.3", 8},
             {"lambda", "solve.lambda=1", 8},
             {"reduction", "solve.reduction=auto", 2 | 4 | 8},
             {"islands", "solve.islands=true", CCP},
             {"slop", "solve.slop=auto", CCP | IMPULSE},
             {"correction", "solve.correction=0.2", IMPULSE},
             {"shell", "solve.shell=soft", ELASTIC},
             {"response", "solve.response=symmetric", 512}};

TEST(keys_of_solve_warn_where_they_do_nothing_and_only_there) {
  const size_t keys = sizeof owned / sizeof *owned;
  size_t in_schema = 0;
  for (const tl_key *key = tl_schema_solve.keys; key->name; ++key)
    in_schema++;
  CHECK_EQ_U64(keys, in_schema - 1); /* all but `kind` */
  for (size_t k = 0; k < keys; ++k)
    for (size_t c = 0; c < sizeof choices / sizeof *choices; ++c) {
      const char *settings[3] = {choices[c].settings[0], owned[k].setting, NULL};
      /* A key that is itself one of the choices comes alone. */
      const bool chooses = strcmp(owned[k].key, "law") == 0 ||
                           strcmp(owned[k].key, "method") == 0 ||
                           strcmp(owned[k].key, "shell") == 0;
      size_t n = 2;
      if (choices[c].settings[1] && !chooses)
        settings[n++] = choices[c].settings[1];
      const bool is_idle = !(owned[k].owners & choices[c].bit);
      const told heard = warnings_with(SPRINGS, settings, n);
      CHECK_MSG(heard.count == is_idle, "%s with %s %s: %zu warnings: %s", owned[k].setting,
                settings[0], settings[2] ? settings[2] : "", heard.count,
                heard.count > 0 ? heard.lines[0] : "");
      char words[64];
      snprintf(words, sizeof words, "--set %s: solve.%s does nothing", owned[k].setting,
               owned[k].key);
      CHECK_MSG(!is_idle || strncmp(heard.lines[0], words, strlen(words)) == 0, "%s: expected %s",
                heard.lines[0], words);
    }
}

TEST(warning_of_an_idle_key_says_whose_it_is_and_what_is_chosen) {
  check_warning(
      GOOD "solve: {law: hertz}\n", "idle-key", "test.yaml:7:14: ",
      "solve.law does nothing here: it is for kind penalty, and solve.kind is ccp, by default");
  check_warning(
      GOOD "solve: {kind: ccp, omega: 0.2}\n", "idle-key", "test.yaml:7:27: ",
      "it is for kind ccp with method jacobi, and solve.method is gauss-seidel, by default");
  check_warning(GOOD "solve: {method: bb, omega: 0.2}\n", "idle-key", "test.yaml:7:28: ",
                "it is for kind ccp with method jacobi, and solve.method is bb;");
  check_warning(GOOD "solve: {kind: impulse, islands: false}\n", "idle-key",
                "test.yaml:7:33: ", "it is for kind ccp, and solve.kind is impulse;");
}

TEST(surrogates_without_a_mesh_are_picard) {
  const char *steps = "step: {kind: implicit, method: multires-picard, dt: 2e-4}\n"
                      "solve: {kind: penalty}\ntalus: 1\nuntil: 1\n" GOOD_MATERIALS;
  char text[1024];
  snprintf(text, sizeof text, "%s" GOOD_BODIES, steps);
  check_warning(text, "idle-key", "test.yaml:1", "there is no mesh: it is picard");
  snprintf(text, sizeof text,
           "%sbodies:\n  - {shape: {mesh: {make: plate, size: [2, 2]}}, fixed: true}\n"
           "  - {shape: {mesh: {make: icosphere, size: [0.1]}}, at: [0, 0, 0.1]}\n",
           steps);
  CHECK_EQ_U64(warnings_of(text).count, 0);
}

TEST(friction_of_hard_spheres_is_warned_of_once) {
  check_warning(
      "talus: 1\nuntil: 1\nsolve: elastic\nmaterials: {rock: {friction: 0.3}}\n" GOOD_BODIES,
      "idle-key", "test.yaml:4:30: ", "solve: {kind: elastic} has no friction");
}

TEST(a_kind_of_the_command_line_makes_keys_of_the_file_idle) {
  const char *const springs[] = {"solve.kind=penalty"};
  const told heard = warnings_with(GOOD "solve: {iterations: 30, tolerance: 1e-4}\n", springs, 1);
  CHECK_EQ_U64(heard.count, 2);
  CHECK(strstr(heard.lines[0], "test.yaml:7:21: solve.iterations does nothing") != NULL);
  CHECK(strstr(heard.lines[1], "test.yaml:7:36: solve.tolerance does nothing") != NULL);
  CHECK_EQ_U64(warnings_with(GOOD "solve: ccp\n", springs, 1).count, 0);
}

/* The scene of a run folder has all defaults in it, and nobody has given those. */
TEST(a_scene_that_talus_wrote_has_no_idle_defaults) {
  const char *const kinds[] = {"solve.kind=ccp", "solve.kind=impulse", "solve.kind=penalty"};
  for (size_t i = 0; i < 3; ++i) {
    talus_scene *scene = NULL, *again = NULL;
    char *text = NULL;
    uint64_t before, after;
    CHECK_OK(talus_scene_parse(GOOD, strlen(GOOD), NULL, NULL, &kinds[i], 1, &scene, NULL));
    CHECK_OK(talus_scene_write(scene, &text));
    CHECK_EQ_U64(warnings_of(text).count, 0);
    CHECK_OK(talus_scene_parse(text, strlen(text), NULL, NULL, NULL, 0, &again, NULL));
    CHECK_OK(tl_scene_identity(scene, &before));
    CHECK_OK(tl_scene_identity(again, &after));
    CHECK_EQ_U64(before, after);
    talus_text_free(text);
    talus_scene_free(scene);
    talus_scene_free(again);
  }
}

TEST(built_in_scenes_have_no_warnings) {
  for (size_t i = 0; i < talus_builtin_count(); ++i) {
    const char *name, *about, *text;
    talus_builtin_get(i, &name, &about, &text);
    const told heard = warnings_of(text);
    CHECK_MSG(heard.count == 0, "%s: %s", name, heard.lines[0]);
  }
}

int main(int argc, char **argv) {
  if (!TALUS_HAVE_YAML) {
    puts("skipped: built without libyaml");
    return 77;
  }
  return check_main(argc, argv);
}
