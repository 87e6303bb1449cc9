/* Springs: the step that is chosen where none is given keeps overlaps small, one that is too long
 * is refused with the one that would do, and a stiffness that is given is warned of. */
#include "check.h"
#include "scene/scene.h"
#include "world/world.h"

#include <math.h>

#define HEAD                                                                                       \
  "talus: 1\nuntil: 0.4\nsolve: penalty\n"                                                         \
  "shapes: {ball: {sphere: 0.01}, floor: {plane: [0, 0, 1, 0]}}\n"
#define ONE                                                                                        \
  "bodies:\n  - {shape: floor, fixed: true}\n"                                                     \
  "  - {name: ball, shape: ball, at: [0, 0, 0.06]}\n"
#define MANY                                                                                       \
  "bodies:\n  - {shape: {container: [0.1, 0.1, 1]}, fixed: true, at: [0, 0, 0.5]}\n"               \
  "  - {shape: floor, fixed: true}\n"                                                              \
  "  - fill: {shape: ball, count: 40, in: {box: [[-0.05, -0.05, 0], [0.05, 0.05, 0.2]]},\n"        \
  "      size: {uniform: [0.5, 1]}, seed: 3}\n"

typedef struct told {
  char line[2048];
  size_t count;
} told;

static void listen(void *context, int level, const char *line) {
  told *heard = context;
  if (level == 1 && heard->count++ == 0)
    snprintf(heard->line, sizeof heard->line, "%s", line);
}

static talus_scene *parse(const char *text, const char *setting) {
  talus_scene *scene = NULL;
  const size_t n = setting ? 1 : 0;
  if (talus_scene_parse(text, strlen(text), "test.yaml", NULL, &setting, n, &scene, NULL) !=
      TALUS_OK)
    return NULL;
  return scene;
}

/* Deepest overlap of any step until 0.2 s, over 1 cm. */
static double sink(const talus_scene *scene, told *heard) {
  talus_world *world;
  double most = 0;
  heard->count = 0;
  CHECK_OK(talus_scene_build(scene, 1, listen, heard, &world));
  while (talus_world_time(world) < 0.2) {
    CHECK_OK(talus_world_step(world, 1));
    most = fmax(most, world->last.depths.most);
  }
  CHECK_EQ_U64(world->sunk, 0);
  talus_world_destroy(world);
  return most / 0.01;
}

TEST(a_step_that_is_not_given_keeps_overlaps_below_a_hundredth) {
  static const char *const scenes[] = {
      HEAD "materials: {glass: {density: 2500, restitution: 0.3}}\n" ONE,
      HEAD "materials: {glass: {density: 2500, restitution: 0.9}}\n" MANY,
      HEAD "materials: {a: {density: 2500}, b: {density: 1000, restitution: 0.5}}\n"
           "bodies:\n  - {shape: floor, material: a, fixed: true}\n"
           "  - {shape: ball, material: a, at: [0, 0, 0.06]}\n"
           "  - {shape: {box: [0.02, 0.02, 0.02]}, material: b, at: [0.1, 0, 0.04]}\n"};
  static const double smallest[] = {1, 0.5, 1};
  static told heard;
  for (int i = 0; i < 3; ++i) {
    talus_scene *scene = parse(scenes[i], NULL);
    CHECK(scene);
    CHECK(scene->step.dt < 1e-4 && scene->step.dt > 1e-7);
    const double share = sink(scene, &heard) / smallest[i];
    CHECK_MSG(share < 0.01 && share > 0.0005, "scene %d: %g at a dt of %g", i, share,
              scene->step.dt);
    CHECK_MSG(heard.count == 0, "scene %d: %s", i, heard.line);
    talus_scene_free(scene);
  }
}

TEST(a_step_that_is_too_long_is_refused_with_the_one_that_would_do) {
  static const char text[] = HEAD "step: {dt: 1e-3}\nmaterials: {glass: {density: 2500}}\n" ONE;
  talus_scene *scene = parse(text, NULL);
  CHECK(!scene);
  const char *message = talus_last_error();
  CHECK_MSG(
      strstr(message, "test.yaml:5:12: step.dt is 0.001 s, for which `stiffness: auto` is ") &&
          strstr(message, "bodies.1 (`ball`), at 0.99 m/s after a fall of 0.06 m") &&
          strstr(message, "expected 0.0001 m at most"),
      "%s", message);
  const char *at = strstr(message, "a dt of ");
  CHECK(at);
  char setting[64];
  snprintf(setting, sizeof setting, "step.dt=%g", strtod(at + strlen("a dt of "), NULL));
  scene = parse(text, setting);
  CHECK(scene);
  static told heard;
  CHECK(sink(scene, &heard) < 0.01);
  talus_scene_free(scene);
}

TEST(the_hopper_with_springs_says_which_step_it_needs) {
  const char *const setting = "solve=penalty";
  talus_scene *scene = NULL;
  CHECK(talus_scene_load("hopper", &setting, 1, &scene, NULL) == TALUS_ERROR_FORMAT);
  CHECK_MSG(strstr(talus_last_error(), "step.dt is 0.001 s") &&
                strstr(talus_last_error(), "a dt of 5e-07 would do"),
            "%s", talus_last_error());
}

/* Otherwise a run could not go on to a later end. */
TEST(the_step_that_is_chosen_is_written_down_and_does_not_depend_on_the_end) {
  static const char text[] = HEAD "materials: {glass: {density: 2500}}\n" MANY;
  talus_scene *scene = parse(text, NULL), *longer = parse(text, "until=0.05"), *again;
  uint64_t hash[3];
  char *written;
  CHECK(scene && longer);
  CHECK_OK(talus_scene_write(scene, &written));
  again = parse(written, NULL);
  CHECK_MSG(again, "%s", talus_last_error());
  CHECK(scene->step.dt == longer->step.dt && scene->step.dt == again->step.dt);
  CHECK_OK(tl_scene_identity(scene, &hash[0]));
  CHECK_OK(tl_scene_identity(longer, &hash[1]));
  CHECK_OK(tl_scene_identity(again, &hash[2]));
  CHECK(hash[0] == hash[1] && hash[0] == hash[2]);
  talus_text_free(written);
  talus_scene_free(scene);
  talus_scene_free(longer);
  talus_scene_free(again);
}

TEST(walls_that_move_and_bodies_that_are_thrown_count) {
  static const char *const parts[] = {
      "bodies: [{shape: ball}]\n", "bodies: [{shape: ball, velocity: [3, 0, 0]}]\n",
      "bodies: [{shape: ball}, {shape: floor, motion: {velocity: [0, 0, 3]}}]\n"};
  double dt[3];
  for (int i = 0; i < 3; ++i) {
    char text[1024];
    snprintf(text, sizeof text, HEAD "gravity: [0, 0, 0]\nmaterials: {m: {}}\n%s", parts[i]);
    talus_scene *scene = parse(text, NULL);
    CHECK(scene);
    dt[i] = scene->step.dt;
    talus_scene_free(scene);
  }
  CHECK(dt[0] == 1e-3 && dt[1] < 2e-5 && dt[2] < 2e-5);
}

TEST(a_stiffness_that_is_given_is_warned_of_and_meant) {
  static const char *const laws[] = {"solve={kind: penalty, law: linear}",
                                     "solve={kind: penalty, law: hertz}"};
  static told heard;
  for (int i = 0; i < 4; ++i) {
    char text[1024];
    talus_world *world;
    snprintf(text, sizeof text,
             HEAD "step: {dt: 1e-5}\nquiet: [%s]\n"
                  "materials: {soft: {density: 2500, stiffness: 100, young: 1e5}}\n" ONE,
             i < 2 ? "" : "soft-springs");
    talus_scene *scene = parse(text, laws[i % 2]);
    CHECK_MSG(scene, "%s", talus_last_error());
    heard.count = 0;
    CHECK_OK(talus_scene_build(scene, 1, listen, &heard, &world));
    CHECK_EQ_U64(heard.count, i < 2 ? 1 : 0);
    CHECK_MSG(i >= 2 || (strstr(heard.line, "bodies.1 (`ball`), at 0.99 m/s") &&
                         strstr(heard.line, "of material `soft` is ") &&
                         strstr(heard.line, "quiet: [soft-springs]")),
              "%s", heard.line);
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
