/* The run, as calls: when things are due, what a definition may say, and what a program is told. */
#include "check.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5 && TALUS_HAVE_YAML

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <unistd.h>

#define HISTORY_TWICE "out-twice/history.csv"

static const char scene_text[] = "talus: 1\n"
                                 "until: 0.05\n"
                                 "materials: {stone: {density: 2600}}\n"
                                 "shapes: {ground: {plane: [0, 0, 1, 0]}, ball: {sphere: 0.1}}\n"
                                 "bodies:\n"
                                 "  - {shape: ground, material: stone, fixed: true}\n"
                                 "  - {name: ball, shape: ball, material: stone, at: [0, 0, 0.5]}\n"
                                 "output: {every: 0.01}\n";

static talus_scene *parse(void) {
  talus_scene *scene = NULL;
  const talus_status status = talus_scene_parse(scene_text, sizeof scene_text - 1, "test.yaml",
                                                NULL, NULL, 0, &scene, NULL);
  CHECK_MSG(status == TALUS_OK, "%s", talus_last_error());
  return scene;
}

static talus_status run(const talus_scene *scene, talus_run_def def, talus_run_result *result) {
  def.threads = 1;
  return talus_run(scene, &def, result);
}

/* Balls on springs keep their state in a list from step to step; the run stores it where it is
 * looked at. `extra` are lines that look at every step, and change nothing. */
static uint64_t run_springs(const char *extra, uint64_t *steps, const char *until) {
  char text[1024];
  snprintf(text, sizeof text,
           "talus: 1\n%s\n"
           "step: {dt: 1e-4}\n"
           "solve: {kind: penalty, law: linear}\n"
           "materials: {stone: {density: 2600, stiffness: 1e5, restitution: 0.5}}\n"
           "shapes: {ground: {plane: [0, 0, 1, 0]}, ball: {sphere: 0.1}}\n"
           "bodies:\n"
           "  - {shape: ground, material: stone, fixed: true}\n"
           "  - {shape: ball, material: stone, at: [0, 0, 0.11]}\n"
           "  - {shape: ball, material: stone, at: [0.05, 0, 0.3]}\n"
           "output: {every: 0.01}\n%s",
           until, extra);
  talus_scene *scene = NULL;
  CHECK_MSG(talus_scene_parse(text, strlen(text), "test.yaml", NULL, NULL, 0, &scene, NULL) ==
                TALUS_OK,
            "%s", talus_last_error());
  talus_run_def def = talus_run_def_default();
  talus_run_result result;
  def.folder = "out-springs", def.force = true;
  CHECK_MSG(run(scene, def, &result) == TALUS_OK, "%s", talus_last_error());
  talus_world *world;
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  CHECK_OK(talus_world_step(world, result.steps));
  CHECK_EQ_U64(talus_world_hash(world), result.hash);
  talus_world_destroy(world);
  talus_scene_free(scene);
  *steps = result.steps;
  return result.hash;
}

TEST(run_of_balls_on_springs_is_that_of_its_steps) {
  uint64_t steps, seen;
  const uint64_t hash = run_springs("", &steps, "until: 0.0537");
  CHECK_EQ_U64(steps, 537);
  CHECK_EQ_U64(
      run_springs("sinks: [{in: {box: [[9, 9, 9], [10, 10, 10]]}}]\n", &seen, "until: 0.0537"),
      hash);
  /* Slower at the first output time, and faster behind it. */
  CHECK_EQ_U64(run_springs("", &seen, "until: {time: 0.0537, at_rest: 0.05}"), hash);
  CHECK_EQ_U64(seen, steps);
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* Event k is due at the step nearest k * every, and nowhere else. */
static void check_grid(double every, double dt, uint64_t steps) {
  uint64_t k = 0;
  for (uint64_t step = 0; step <= steps; ++step) {
    const bool expected = (uint64_t)llround((double)k * every / dt) == step;
    CHECK_MSG(tl_run_is_due(every, dt, step) == expected, "every %g, dt %g, step %llu", every, dt,
              (unsigned long long)step);
    if (expected)
      k++;
  }
}

TEST(events_are_due_at_the_nearest_step_and_nowhere_else) {
  check_grid(0.01, 1e-3, 5000);
  check_grid(0.013, 1e-3, 5000);
  check_grid(0.001, 1e-3, 5000);
  check_grid(0.0101, 3e-3, 5000);
  check_grid(1.0 / 3, 1e-2, 5000);
  check_grid(100, 1e-3, 5000);
}

TEST(every_step_is_due_when_the_interval_is_shorter_than_a_step) {
  for (uint64_t step = 0; step < 100; ++step)
    CHECK(tl_run_is_due(3e-4, 1e-3, step));
}

/* ---- definitions ----------------------------------------------------------------------------- */

TEST(default_definition_runs_as_the_scene_says) {
  const talus_run_def def = talus_run_def_default();
  CHECK(def.until < 0 && def.threads == 0 && def.checkpoint_every == 60);
  CHECK(!def.resume && !def.force && !def.folder && !def.interrupt);
}

TEST(impossible_definitions_are_refused) {
  talus_scene *scene = parse();
  talus_run_result result;
  talus_run_def def = talus_run_def_default();
  CHECK(run(scene, def, &result) == TALUS_ERROR_INVALID); /* no folder */
  def.folder = "out-refused";
  def.until = NAN;
  CHECK(run(scene, def, &result) == TALUS_ERROR_INVALID);
  def.until = 0;
  CHECK(run(scene, def, &result) == TALUS_ERROR_INVALID);
  def.until = 1e300;
  CHECK(run(scene, def, &result) == TALUS_ERROR_INVALID);
  def.until = -1;
  def.checkpoint_every = NAN;
  CHECK(run(scene, def, &result) == TALUS_ERROR_INVALID);
  def.checkpoint_every = 60;
  def.resume = def.force = true;
  CHECK(run(scene, def, &result) == TALUS_ERROR_INVALID);
  CHECK(access("out-refused", F_OK) != 0);
  talus_scene_free(scene);
}

/* ---- what a program is told ------------------------------------------------------------------ */

typedef struct run_told {
  uint64_t calls, steps;
  size_t lines;
} run_told;

static void on_progress(void *context, const talus_progress *now) {
  run_told *told = context;
  CHECK(now->steps >= told->steps && now->time <= now->until && now->bodies == 2);
  told->steps = now->steps;
  told->calls++;
}

static void on_log(void *context, int level, const char *line) {
  ((run_told *)context)->lines++;
  CHECK(level >= 0 && level <= 3 && *line && !strchr(line, '\n'));
}

TEST(run_tells_its_progress_and_its_result) {
  talus_scene *scene = parse();
  run_told told = {0};
  talus_run_def def = talus_run_def_default();
  def.folder = "out-told";
  def.force = true;
  def.progress = on_progress;
  def.log = on_log;
  def.context = &told;
  talus_run_result result;
  const talus_status status = run(scene, def, &result);
  CHECK_MSG(status == TALUS_OK, "%s", talus_last_error());
  CHECK(result.steps == 50 && result.frames == 6 && result.bodies == 2);
  CHECK_NEAR(result.time, 0.05, 1e-15);
  CHECK(result.hash != 0 && result.wall > 0);
  CHECK(told.calls >= 2 && told.steps == 50 && told.lines > 0);
  talus_scene_free(scene);
}

#define SERIES  "out-started/frames.hdf.series"
#define HISTORY "out-started/history.csv"

/* The series was taken away, so that it shows what is written; the history, what is removed. */
static void note_start(void *context) {
  ++*(int *)context;
  CHECK(access(SERIES, F_OK) != 0 && access(HISTORY, F_OK) == 0);
}

TEST(run_tells_that_it_started_before_it_writes_or_removes) {
  talus_scene *scene = parse();
  int starts = 0;
  talus_run_def def = talus_run_def_default();
  def.folder = "out-started", def.force = true, def.context = &starts;
  CHECK_OK(run(scene, def, NULL));
  def.started = note_start;
  for (int i = 1; i <= 2; ++i) {
    CHECK(unlink(SERIES) == 0);
    CHECK_OK(run(scene, def, NULL));
    CHECK(starts == i && access(SERIES, F_OK) == 0);
    def.force = false, def.resume = true;
  }
  talus_scene_free(scene);
}

TEST(interrupted_run_goes_on_to_the_same_hash) {
  talus_scene *scene = parse();
  const volatile int interrupt = 1;
  talus_run_result whole, half;
  talus_run_def def = talus_run_def_default();
  def.force = true;
  def.folder = "out-whole";
  CHECK(run(scene, def, &whole) == TALUS_OK);
  def.folder = "out-half";
  def.interrupt = &interrupt;
  CHECK(run(scene, def, &half) == TALUS_INTERRUPTED);
  CHECK(half.steps == 0 && strstr(talus_last_error(), "saved"));
  def.interrupt = NULL;
  def.force = false;
  def.resume = true;
  CHECK(run(scene, def, &half) == TALUS_OK);
  CHECK_EQ_U64(half.hash, whole.hash);
  CHECK_EQ_U64(half.frames, whole.frames);
  talus_scene_free(scene);
}

/* ---- one folder, one run --------------------------------------------------------------------- */

typedef struct second_run {
  const talus_scene *scene;
  talus_run_def def;
  int calls;
  char message[512];
} second_run;

/* The first run is in the middle of its steps. */
static void run_again(void *context, const talus_progress *now) {
  second_run *second = context;
  (void)now;
  if (second->calls++ > 0)
    return;
  CHECK(run(second->scene, second->def, NULL) == TALUS_ERROR_INVALID);
  snprintf(second->message, sizeof second->message, "%s", talus_last_error());
}

static void check_second_run(bool force, bool resume, bool without_log) {
  talus_scene *scene = parse();
  talus_run_def def = talus_run_def_default();
  def.folder = "out-twice", def.force = true;
  CHECK_OK(run(scene, def, NULL));
  if (without_log)
    CHECK(unlink("out-twice/log.txt") == 0);
  second_run second = {.scene = scene, .def = def};
  second.def.force = force, second.def.resume = resume;
  talus_run_result result;
  def.progress = run_again, def.context = &second;
  CHECK_OK(run(scene, def, &result));
  CHECK(result.frames == 6 && second.calls > 0);
  CHECK_MSG(strstr(second.message, "another run of this process") != NULL, "%s", second.message);
  FILE *file = fopen(HISTORY_TWICE, "r");
  int lines = 0;
  for (int c; file && (c = fgetc(file)) != EOF;)
    lines += c == '\n';
  CHECK(file && fclose(file) == 0);
  CHECK(lines == 1 + 6);
  /* The lock went with the run. */
  def.progress = NULL;
  CHECK_OK(run(scene, def, NULL));
  talus_scene_free(scene);
}

TEST(second_run_of_one_process_into_one_folder_is_refused) {
  check_second_run(true, false, false);
  check_second_run(false, true, false);
  check_second_run(false, false, true);
}

/* A program's own decimal comma must not get into the files. */
TEST(files_do_not_depend_on_the_locale) {
  const char *before = setlocale(LC_ALL, NULL);
  char *kept = NULL;
  CHECK(tl_copy_text(before, &kept) == TALUS_OK);
  if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8")) {
    talus_scene *scene = parse();
    talus_run_result result;
    talus_run_def def = talus_run_def_default();
    def.folder = "out-locale";
    def.force = true;
    CHECK(run(scene, def, &result) == TALUS_OK);
    FILE *file = fopen("out-locale/frames.hdf.series", "r");
    char text[512] = "";
    CHECK(file && fread(text, 1, sizeof text - 1, file) > 0);
    CHECK(strstr(text, "\"time\": 0.01}"));
    fclose(file);
    talus_scene_free(scene);
  }
  setlocale(LC_ALL, kept);
  void *block = kept;
  CHECK(tl_resize(&block, strlen(kept) + 1, 0) == TALUS_OK);
}

/* ---- lines ----------------------------------------------------------------------------------- */

TEST(lines_are_cut_back_to_whole_ones) {
  FILE *file = fopen("lines.txt", "w");
  CHECK(file && fputs("one\ntwo\nthree\ntor", file) >= 0 && fclose(file) == 0);
  tl_lines lines;
  char last[16];
  CHECK(tl_lines_open(&lines, AT_FDCWD, 0, "lines.txt", 3) == TALUS_OK);
  CHECK(tl_lines_last(&lines, last, sizeof last) == TALUS_OK);
  CHECK_STR(last, "three");
  tl_lines_close(&lines);
  CHECK(tl_lines_open(&lines, AT_FDCWD, 0, "lines.txt", 4) == TALUS_ERROR_FORMAT);
  tl_lines_close(&lines);
  CHECK(tl_lines_open(&lines, AT_FDCWD, 0, "lines.txt", 2) == TALUS_OK);
  CHECK(tl_lines_add(&lines, "four\n", 5) == TALUS_OK && lines.count == 3);
  CHECK(tl_lines_last(&lines, last, sizeof last) == TALUS_OK);
  CHECK_STR(last, "four");
  CHECK(lines.bytes == 13);
  tl_lines_close(&lines);
  CHECK(tl_lines_open(&lines, AT_FDCWD, 0, "no-such-lines.txt", 1) == TALUS_ERROR_FORMAT);
  tl_lines_close(&lines);
  CHECK(access("no-such-lines.txt", F_OK) != 0);
}

#elif !TALUS_HAVE_HDF5

TEST(build_without_hdf5_says_so) {
  const talus_run_def def = talus_run_def_default();
  CHECK(talus_run(NULL, &def, NULL) == TALUS_ERROR_UNSUPPORTED);
}

#else /* runs from start files need no libyaml: tests/test_plain.c, cli/test_start.py */

TEST(scenes_of_these_tests_need_libyaml) { SKIP("built without libyaml-dev"); }

#endif

TEST_MAIN()
