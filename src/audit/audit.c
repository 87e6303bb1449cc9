#include "audit/audit.h"

#include "base/clock.h"
#include "base/input.h"
#include "scene/scene.h"

#include <stdio.h>
#include <string.h>

talus_audit_def talus_audit_def_default(void) { return (talus_audit_def){.tolerance = -1}; }

#if TALUS_HAVE_HDF5

#define TELL_EVERY 0.2 /* s */

static void tell_progress(tl_audit *audit, bool is_last) {
  const talus_audit_def *def = audit->def;
  const talus_world *world = audit->world;
  const double now = tl_clock();
  if (!def->progress || (!is_last && now - audit->told < TELL_EVERY))
    return;
  audit->told = now;
  const double wall = now - audit->began;
  const talus_progress progress = {
      .time = world->time,
      .until = (double)audit->lines.data[audit->lines.count - 1].steps * world->model.dt,
      .wall = wall,
      .step_rate = wall > 0 ? (double)world->steps / wall : 0,
      .steps = world->steps,
      .frames = audit->result->frames,
      .bodies = world->model.bodies,
      .contacts = world->contacts.count};
  def->progress(def->context, &progress);
}

/* The message if a step or a state differs: the reason is unknown, possible ones are named. */
static talus_status tell_other(const tl_audit *audit, const tl_audit_line *line) {
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s: after %llu steps history.csv has the state %016llx, and the repetition "
                 "%016llx: the folder was made by another version of talus or in another "
                 "precision, or scene.yaml, history.csv or a file that the scene names has "
                 "changed since",
                 audit->def->folder, (unsigned long long)line->steps,
                 (unsigned long long)line->hash,
                 (unsigned long long)talus_world_hash(audit->world));
}

/* Continues to a line of history.csv, whose number is that of the frame. */
static talus_status go_to(tl_audit *audit, size_t number, char *path, size_t room) {
  const tl_audit_line *line = &audit->lines.data[number];
  talus_world *world = audit->world;
  while (world->steps < line->steps) {
    TL_TRY(talus_world_step(world, 1));
    audit->result->time = world->time;
    tell_progress(audit, false);
  }
  if (talus_world_hash(world) != line->hash)
    return tell_other(audit, line);
  audit->result->hashes++;
  snprintf(path, room, "%s/frames/%06zu.hdf", audit->def->folder, number);
  return tl_audit_compare_frame(audit, path, number);
}

static talus_status repeat(tl_audit *audit) {
  const size_t room = strlen(audit->def->folder) + 64;
  void *path = NULL;
  TL_TRY(tl_resize(&path, 0, room));
  talus_status status = TALUS_OK;
  for (size_t i = 0; i < audit->lines.count && status == TALUS_OK; ++i) {
    status = go_to(audit, i, path, room);
    /* Paths begin at every state but the last. */
    if (status == TALUS_OK)
      status = tl_audit_judge_moment(audit, !audit->def->frames && i + 1 < audit->lines.count);
  }
  (void)tl_resize(&path, room, 0); /* freeing cannot fail */
  if (status == TALUS_OK)
    tell_progress(audit, true);
  return status;
}

static talus_status refuse_solver(const talus_world *world) {
  if (world->model.solve.kind == TALUS_SOLVE_PENALTY)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "an audit does not know springs (solve: penalty), whose bodies overlap by "
                   "design: history.csv has `overlap_max`");
  if (world->model.solve.kind == TALUS_SOLVE_ELASTIC)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "an audit does not know hard spheres (solve: elastic), whose paths within a "
                   "step have corners");
  return TALUS_OK;
}

/* A scene may come through a pipe, but not that of a result folder: nobody would write to it. */
static talus_status expect_plain_file(const char *path) {
  char why[4400];
  FILE *file = tl_input_file(path, why, sizeof why);
  if (!file)
    return tl_fail(TALUS_ERROR_IO, "%s", why);
  fclose(file);
  return TALUS_OK;
}

static talus_status load(tl_audit *audit, talus_scene **scene) {
  const size_t room = strlen(audit->def->folder) + 64;
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, room));
  char *path = block;
  snprintf(path, room, "%s/history.csv", audit->def->folder);
  talus_status status = tl_audit_read_history(path, &audit->lines);
  snprintf(path, room, "%s/scene.yaml", audit->def->folder);
  if (status == TALUS_OK)
    status = expect_plain_file(path);
  if (status == TALUS_OK)
    status = talus_scene_load(path, NULL, 0, scene, NULL);
  (void)tl_resize(&block, room, 0);
  return status;
}

static talus_status audit_scene(tl_audit *audit, const talus_scene *scene) {
  const talus_audit_def *def = audit->def;
  TL_TRY(talus_scene_build(scene, def->threads, def->log, def->context, &audit->world));
  TL_TRY(refuse_solver(audit->world));
  audit->world->strict = 0; /* the run continued beyond unconverged or sinking steps */
  audit->world->interrupt = def->interrupt;
  audit->world->watch = tl_audit_judge_step;
  audit->world->watch_context = audit;
  return repeat(audit);
}

talus_status talus_audit(const talus_audit_def *def, talus_audit_result *result) {
  TL_NEED(def);
  TL_NEED(result);
  *result = (talus_audit_result){0};
  if (!def->folder || !*def->folder)
    return tl_fail(TALUS_ERROR_INVALID, "an audit needs the folder of a run");
  if (def->threads < 0 || def->threads > TL_PAR_MOST)
    return tl_fail(TALUS_ERROR_INVALID, "threads is %d; expected 0 (all cores) to %d", def->threads,
                   TL_PAR_MOST);
  if (!(def->tolerance < 1e30)) /* catches NaN, too */
    return tl_fail(TALUS_ERROR_INVALID, "the tolerance is %g m; expected a length", def->tolerance);
  tl_audit audit = {.def = def, .result = result, .began = tl_clock()};
  talus_scene *scene = NULL;
  talus_status status = load(&audit, &scene);
  if (status == TALUS_OK)
    status = audit_scene(&audit, scene);
  talus_world_destroy(audit.world);
  talus_scene_free(scene);
  tl_array_free(&audit.lines);
  return status;
}

#else

talus_status talus_audit(const talus_audit_def *def, talus_audit_result *result) {
  TL_NEED(def);
  TL_NEED(result);
  *result = (talus_audit_result){0};
  return tl_fail(TALUS_ERROR_UNSUPPORTED,
                 "this build has no scenes and results: an audit needs HDF5");
}

#endif
