/* Every built-in scene runs on a device, or there is one line that says why not. */
#include "check.h"
#include <talus/scene.h>

#if TALUS_HAVE_YAML

/* docs/gpu.md lists those without a reason. */
static const struct {
  const char *name, *why;
} scenes[] = {{"billiards", NULL},
              {"blowdown", "steps other than fixed ones"},
              {"bounce", NULL},
              {"bullet", "steps other than fixed ones"},
              {"burst", "steps other than fixed ones"},
              {"cards", "meshes and revolved walls"},
              {"chain", "joints"},
              {"clock", "joints"},
              {"column-collapse", NULL},
              {"crank", "joints"},
              {"domino-spiral", "substeps"},
              {"dominoes", "steps other than fixed ones"},
              {"effusion", "steps other than fixed ones"},
              {"floating-ball", NULL},
              {"funnel", "meshes and revolved walls"},
              {"gas", "steps other than fixed ones"},
              {"hop", "steps other than fixed ones"},
              {"hopper", NULL},
              {"incline", NULL},
              {"maraca", "meshes and revolved walls"},
              {"mixer", NULL},
              {"nozzle", "solvers other than ccp"},
              {"nozzle-simple", "solvers other than ccp"},
              {"nut", "meshes and revolved walls"},
              {"packing", NULL},
              {"particle-pairs", "steps other than fixed ones"},
              {"pendulum", "joints"},
              {"periodic-shear", NULL},
              {"pour", NULL},
              {"pyramid", "substeps"},
              {"rain", NULL},
              {"rings", "meshes and revolved walls"},
              {"rocks", "meshes and revolved walls"},
              {"rubble", "substeps"},
              {"screw", "meshes and revolved walls"},
              {"shaker", NULL},
              {"shapes", NULL},
              {"sheet", "steps other than fixed ones"},
              {"silo", NULL},
              {"stack", NULL},
              {"stacks", "steps other than fixed ones"},
              {"staircase", "steps other than fixed ones"},
              {"stones-hopper", "steps other than fixed ones"},
              {"tank", NULL},
              {"tower", "steps other than fixed ones"},
              {"trebuchet", "joints"},
              {"vehicle", "joints"},
              {"wall", NULL},
              {NULL, NULL}};

static const char *why_not(const char *name, const char *text) {
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  talus_device_use use;
  CHECK_OK(talus_scene_parse(text, strlen(text), name, NULL, NULL, 0, &scene, NULL));
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  CHECK_OK(talus_world_set_backend(world, TALUS_BACKEND_CHECK, false));
  talus_world_device_use(world, &use);
  talus_world_destroy(world);
  talus_scene_free(scene);
  return use.fallback;
}

static size_t row_of(const char *name) {
  size_t k = 0;
  while (scenes[k].name && strcmp(scenes[k].name, name) != 0)
    k++;
  return k;
}

TEST(every_built_in_scene_runs_on_a_device_or_says_why_not) {
  SKIP_IF_SHORT();
  int wrong = 0;
  for (size_t i = 0; i < talus_builtin_count(); ++i) {
    const char *name, *about, *text;
    talus_builtin_get(i, &name, &about, &text);
    const char *found = why_not(name, text);
    const size_t k = row_of(name);
    const bool is_said =
        scenes[k].name &&
        (found ? scenes[k].why && strcmp(found, scenes[k].why) == 0 : !scenes[k].why);
    if (!is_said)
      printf("    {\"%s\", %s%s%s},\n", name, found ? "\"" : "", found ? found : "NULL",
             found ? "\"" : "");
    wrong += !is_said;
  }
  CHECK(wrong == 0);
}

#else

TEST(every_built_in_scene_runs_on_a_device_or_says_why_not) { SKIP("this build reads no scenes"); }

#endif

TEST_MAIN()
