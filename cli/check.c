/* talus check: reads a scene, builds its world, and reports its content and the cost of a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "base/clock.h"

typedef struct contents {
  size_t kinds[3]; /* free, fixed, kinematic */
  double mass;     /* kg, of free bodies */
  double low[3], high[3];
} contents;

static void on_log(void *context, int level, const char *line) {
  (void)context;
  if (level == 1)
    cli_warning("%s", line);
}

static talus_status count(const talus_world *world, contents *found) {
  *found =
      (contents){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
  const size_t n = talus_world_body_count(world);
  for (size_t i = 0; i < n; ++i) {
    talus_body body;
    talus_body_info info;
    talus_status status = talus_world_body_at(world, i, &body);
    if (status == TALUS_OK)
      status = talus_world_get_body(world, body, &info);
    if (status != TALUS_OK)
      return status;
    found->kinds[info.kind]++;
    if (info.kind != TALUS_FREE)
      continue;
    const double at[3] = {info.position.x, info.position.y, info.position.z};
    found->mass += (double)info.mass;
    for (int k = 0; k < 3; ++k) {
      found->low[k] = fmin(found->low[k], at[k]);
      found->high[k] = fmax(found->high[k], at[k]);
    }
  }
  return TALUS_OK;
}

static void show_scene(const char *path, const talus_scene_info *info) {
  printf("%s: a valid scene%s%s\n\n", cli_shown(path), info->title && *info->title ? ": " : "",
         cli_shown(info->title ? info->title : ""));
  printf("  %-12s shapes %zu, materials %zu, emitters %zu, sinks %zu, probes %zu\n", "tables",
         info->shapes, info->materials, info->emitters, info->sinks, info->probes);
  printf("  %-12s %llu steps of %g s, until %g s", "time", (unsigned long long)info->steps,
         info->dt, info->until);
  if (info->substeps > 1)
    printf(", each in %llu substeps of %g s", (unsigned long long)info->substeps,
           info->dt / (double)info->substeps);
  if (info->at_rest > 0)
    printf(" or at rest (%g m/s)", info->at_rest);
  printf("\n  %-12s %llu frames, one every %g s\n", "output", (unsigned long long)info->frames,
         info->output_every);
}

static void show_contents(const contents *found, size_t n, const talus_scene_info *info) {
  printf("  %-12s %zu: %zu free, %zu fixed, %zu moved by script", "bodies", n,
         found->kinds[TALUS_FREE], found->kinds[TALUS_FIXED], found->kinds[TALUS_KINEMATIC]);
  if (info->emitters)
    printf("; emitters add up to %.0f", info->emitted);
  printf("\n");
  if (found->kinds[TALUS_FREE] > 0)
    printf("  %-12s %g kg; centres from (%g, %g, %g) to (%g, %g, %g) m\n", "free bodies",
           found->mass, found->low[0], found->low[1], found->low[2], found->high[0], found->high[1],
           found->high[2]);
}

static const char *name_of(const talus_world *world, uint64_t uid, char *text, size_t size) {
  const size_t n = talus_world_body_count(world);
  snprintf(text, size, "body %llu", (unsigned long long)uid);
  for (size_t i = 0; i < n; ++i) {
    talus_body body;
    talus_body_info info;
    if (talus_world_body_at(world, i, &body) == TALUS_OK &&
        talus_world_get_body(world, body, &info) == TALUS_OK && info.uid == uid) {
      if (info.name)
        snprintf(text, size, "'%s'", cli_shown(info.name));
      break;
    }
  }
  return text;
}

/* The contacts of the first step are found at time 0: their gaps are those of the scene as
 * written. */
static int show_overlaps(const talus_world *world) {
  size_t n = 0, overlaps = 0;
  const talus_contact *deepest = NULL;
  talus_status status = talus_world_contacts(world, NULL, 0, &n);
  talus_contact *contacts = calloc(n + 1, sizeof *contacts);
  if (status == TALUS_OK && contacts)
    status = talus_world_contacts(world, contacts, n, &n);
  if (status != TALUS_OK || !contacts) {
    cli_error("%s", contacts ? talus_last_error() : "out of memory");
    free(contacts);
    return CLI_FAILED;
  }
  for (size_t i = 0; i < n; ++i) {
    if (!(contacts[i].gap < 0))
      continue;
    overlaps++;
    if (!deepest || contacts[i].gap < deepest->gap)
      deepest = &contacts[i];
  }
  if (!deepest)
    printf("  %-12s none at the start\n", "overlaps");
  else {
    char a[128], b[128];
    printf("  %-12s %zu at the start, the deepest %g m: %s and %s\n", "overlaps", overlaps,
           -(double)deepest->gap, name_of(world, deepest->body_a, a, sizeof a),
           name_of(world, deepest->body_b, b, sizeof b));
  }
  free(contacts);
  return CLI_DONE;
}

#define JOINTS_SHOWN 12

static const char *end_of(const talus_world *world, uint64_t uid, char *text, size_t size) {
  if (uid != 0)
    return name_of(world, uid, text, size);
  snprintf(text, size, "ground");
  return text;
}

/* Shows which bodies are joined to which. */
static void show_joints(const talus_world *world) {
  const size_t n = talus_world_joint_count(world);
  for (size_t i = 0; i < n && i < JOINTS_SHOWN; ++i) {
    talus_joint joint;
    talus_joint_info info;
    char a[128], b[128];
    if (talus_world_joint_at(world, i, &joint) != TALUS_OK ||
        talus_world_get_joint(world, joint, &info) != TALUS_OK)
      return;
    printf("  %-12s %s --(%s%s%s)-- %s\n", i == 0 ? "joints" : "",
           end_of(world, info.body_a, a, sizeof a), info.name ? info.name : "",
           info.name ? ", " : "", talus_joint_kind_name(info.kind),
           end_of(world, info.body_b, b, sizeof b));
  }
  if (n > JOINTS_SHOWN)
    printf("  %-12s ... and %zu more\n", "", n - JOINTS_SHOWN);
}

static void show_cost(const talus_scene_info *info, double step, size_t bodies) {
  size_t now, peak;
  char memory[CLI_DURATION_BYTES], one[CLI_DURATION_BYTES], all[CLI_DURATION_BYTES];
  talus_memory(&now, &peak);
  printf("  %-12s %s now, for %zu %s%s\n", "memory", cli_bytes((double)now, memory), bodies,
         bodies == 1 ? "body" : "bodies", info->emitters ? "; emitters will add to it" : "");
  if (info->substeps > 1)
    printf("  %-12s a step finds pairs and contacts once and is solved %llu times\n", "substeps",
           (unsigned long long)info->substeps);
  printf("  %-12s %s for an early step; ", "wall clock", cli_duration(step, one));
  if (info->emitters)
    printf("%llu steps take more, as emitters add bodies\n", (unsigned long long)info->steps);
  else
    printf("%llu like it take %s, up to ten times as much once bodies touch\n",
           (unsigned long long)info->steps, cli_duration(step * (double)info->steps, all));
}

/* Shows how much backward Euler damps a bounce on a linear spring, whatever the restitution. */
static void show_loss(talus_world *world) {
  talus_report report;
  if (talus_world_report(world, &report) != TALUS_OK || !(report.h_omega > 0))
    return;
  const double x = report.h_omega;
  printf("  %-12s h omega is up to %.3g: the implicit step returns at most %.3g of the speed of a "
         "bounce\n",
         "bounce", x, pow(1 + x * x, -1.5707963267948966 / atan(x)));
}

/* Who takes the steps, and what a device holds for them. */
static void show_backend(const talus_world *world, talus_backend backend) {
  talus_device_use use;
  char held[CLI_DURATION_BYTES];
  talus_world_device_use(world, &use);
  const size_t bodies = talus_world_body_count(world);
  if (use.fallback)
    printf("  %-12s %s does not know %s in this version: the CPU takes the steps\n", "backend",
           talus_backend_name(backend), use.fallback);
  else if (use.steps > 0)
    printf("  %-12s %s takes the steps, and holds %s: %.0f bytes for each of %zu bod%s, with its "
           "contacts\n",
           "backend", talus_backend_name(backend), cli_bytes((double)use.device_bytes, held),
           (double)use.device_bytes / (double)(bodies > 0 ? bodies : 1), bodies,
           bodies == 1 ? "y" : "ies");
}

#define WARM_STEPS   5
#define WARM_SECONDS 0.5

static int check_world(talus_world *world, const talus_scene_info *info, talus_backend backend) {
  contents found;
  const size_t bodies = talus_world_body_count(world);
  talus_status status = count(world, &found);
  if (status == TALUS_OK)
    show_contents(&found, bodies, info);
  if (status == TALUS_OK)
    show_joints(world);
  fflush(stdout);
  const double begin = tl_clock();
  if (status == TALUS_OK)
    status = talus_world_step(world, 1);
  if (status != TALUS_OK) {
    cli_error("the first step fails: %s", talus_last_error());
    return CLI_INPUT;
  }
  double step = tl_clock() - begin;
  const int code = show_overlaps(world);
  for (int i = 0; i < WARM_STEPS && code == CLI_DONE && tl_clock() - begin < WARM_SECONDS; ++i) {
    const double next = tl_clock(); /* the first step also takes memory from the system */
    if (talus_world_step(world, 1) != TALUS_OK)
      break;
    step = fmin(step, tl_clock() - next);
  }
  if (code == CLI_DONE) {
    show_backend(world, backend);
    show_loss(world);
    show_cost(info, step, bodies);
  }
  return code;
}

/* Before the first step. A file of another kind is not replaced. */
static int save_start(const talus_scene *scene, talus_world *world, const char *path) {
  struct stat there;
  if (stat(path, &there) == 0) {
    talus_scene *old = NULL;
    if (!S_ISREG(there.st_mode) || talus_scene_load(path, NULL, 0, &old, NULL) != TALUS_OK ||
        !talus_scene_is_start(old)) {
      talus_scene_free(old);
      cli_error("%s: is there, and is no start file; --save replaces only those", cli_shown(path));
      return CLI_INPUT;
    }
    talus_scene_free(old);
  }
  if (talus_scene_save(scene, world, path) != TALUS_OK) {
    cli_error("%s", talus_last_error());
    return CLI_FAILED;
  }
  if (stat(path, &there) == 0) {
    char bytes[CLI_DURATION_BYTES];
    printf("  %-12s %s, %s: `talus run %s` begins from it\n", "saved", cli_shown(path),
           cli_bytes((double)there.st_size, bytes), cli_shown(path));
  }
  return CLI_DONE;
}

static int check_scene(const char *path, const cli_texts *settings, int threads, const char *save,
                       const char *on) {
  talus_backend backend;
  if (talus_backend_by_name(on, &backend) != TALUS_OK) {
    cli_error("check: option '--backend': %s", talus_last_error());
    return CLI_INPUT;
  }
  talus_scene *scene;
  int code = cli_load_scene(path, settings, &scene);
  if (code != CLI_DONE)
    return code;
  talus_scene_info info;
  talus_scene_get_info(scene, &info);
  talus_world *world = NULL;
  talus_status status = talus_scene_build(scene, threads, on_log, NULL, &world);
  if (status == TALUS_OK)
    status = talus_world_set_backend(world, backend, false);
  if (status == TALUS_OK) {
    show_scene(path, &info);
    code = save ? save_start(scene, world, save) : CLI_DONE;
    if (code == CLI_DONE)
      code = check_world(world, &info, backend);
  } else {
    cli_error("%s", talus_last_error());
    code = status == TALUS_ERROR_MEMORY || status == TALUS_ERROR_DEVICE ? CLI_FAILED : CLI_INPUT;
  }
  talus_world_destroy(world);
  talus_scene_free(scene);
  return code;
}

int cli_check(int argc, char **argv) {
  int threads = 0;
  const char *save = NULL, *backend = "cpu";
  cli_texts settings = {calloc((size_t)argc, sizeof *settings.data), 0};
  if (!settings.data) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  const cli_option options[] = {
      {"set", 0, CLI_TEXTS, "KEY=VALUE", "change the scene: --set step.dt=5e-4; may be repeated",
       &settings},
      {"threads", 0, CLI_COUNT, "N", "0: all cores (default)", &threads},
      {"backend", 0, CLI_TEXT, "NAME", "who takes the steps: cpu (default), check or cuda",
       &backend},
      {"save", 0, CLI_TEXT, "FILE", "write a start file: `talus run FILE` runs it anywhere", &save},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus check SCENE [options]",
      .about = "Validates a scene, a YAML file or the name of a built-in one. Every mistake is\n"
               "shown with its line and a caret, and the exit code is then 2. Otherwise builds\n"
               "the world at time 0, takes one step, and says what the scene holds, which\n"
               "bodies overlap at the start, and what a run costs.\n"
               "--save writes the world as built, with the scene, to a start file, which `talus\n"
               "run` takes in place of a scene: on another machine, too, where neither the\n"
               "scene's files nor libyaml are.\n"
               "--backend says whether a device takes the steps, or why not, and its memory.",
      .options = options,
      .least = 1,
      .most = 1,
      .wants = "a scene"};
  const char *path = NULL;
  const int parsed = cli_parse(&usage, argc, argv, &path);
  const int code =
      parsed < 0 ? cli_parse_exit(parsed) : check_scene(path, &settings, threads, save, backend);
  free(settings.data);
  return code;
}
