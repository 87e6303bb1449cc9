/* A run: steps the world of a scene from one output to the next, until it ends, comes to rest,
 * fails or is stopped. run.h explains what is written, and why a killed run can continue. */
#include "run/run.h"
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

talus_run_def talus_run_def_default(void) {
  return (talus_run_def){.until = -1, .checkpoint_every = 60};
}

#if !TALUS_HAVE_HDF5

talus_status talus_run(const talus_scene *scene, const talus_run_def *def,
                       talus_run_result *result) {
  (void)scene, (void)def, (void)result;
  return tl_fail(TALUS_ERROR_UNSUPPORTED,
                 "this build of talus writes no result folders; it needs HDF5 "
                 "(features here: %s)",
                 talus_features());
}

#else

#define PROGRESS_EVERY 0.2  /* s of wall clock */
#define STEPS_MOST     9e15 /* times are exact multiples of dt up to 2^53 steps */

/* ---- outputs --------------------------------------------------------------------------------- */

static bool has_frame_of_step(const tl_run *run) {
  return run->frames.count > 0 &&
         run->frames.data[run->frames.count - 1].step == talus_world_steps(run->world);
}

/* Adaptive steps also end between those of the grid: the frame of this one may be older. */
static bool has_frame_here(const tl_run *run) {
  return has_frame_of_step(run) &&
         run->frames.data[run->frames.count - 1].time == talus_world_time(run->world);
}

/* Steps check velocities; this checks poses before they are written. */
static talus_status check_state(const tl_run *run) {
  const talus_status status = tl_world_validate(run->world);
  if (status != TALUS_ERROR_FORMAT && status != TALUS_ERROR_INVALID)
    return status;
  char why[1024];
  snprintf(why, sizeof why, "%s", tl_last_message());
  return tl_fail(TALUS_ERROR_DIVERGED, "at t = %g s: %s; try a smaller step or smaller loads",
                 talus_world_time(run->world), why);
}

/* Writes a frame, its line of history and the new series, in this order: if the process is killed
 * in between, a frame exists that is not listed yet, but never the reverse. Lines reach the disk
 * with the next checkpoint and at the end. */
static talus_status write_output(tl_run *run) {
  const double begin = tl_clock();
  TL_TRY(tl_run_folder_check(run));
  TL_TRY(check_state(run));
  TL_TRY(tl_run_frames_write(run, run->fields));
  TL_TRY(tl_run_history_add(run));
  TL_TRY(tl_run_joints_add(run));
  TL_TRY(tl_run_frames_list(run));
  run->fastest.interval = run->fastest.since;
  run->fastest.since = 0;
  run->wall_output += tl_clock() - begin;
  return TALUS_OK;
}

/* ---- at rest --------------------------------------------------------------------------------- */

/* m/s; of centres, and of points on the surface relative to them. */
static double fastest_free_body(const talus_world *world) {
  const tl_model *model = &world->model;
  double most = 0; /* squared */
  for (size_t i = 0; i < model->bodies; ++i) {
    if (tl_body_is_static(model, i))
      continue;
    const talus_dvec3 v = tl_widen(world->state.velocity[i]), w = tl_widen(world->state.spin[i]);
    const double r = (double)tl_body_shape(model, i)->radius * (double)model->property.scale[i];
    most = fmax(most, fmax(tl_ddot(v, v), r * r * tl_ddot(w, w)));
  }
  return sqrt(most);
}

static talus_status note_fastest(tl_run *run) {
  if (!(run->at_rest > 0)) {
    run->fastest.since = INFINITY;
    return TALUS_OK;
  }
  TL_TRY(tl_need(&run->world->where, TL_THE_MOTION | TL_THE_PROPERTY, TL_READ));
  run->fastest.since = fmax(run->fastest.since, fastest_free_body(run->world));
  return TALUS_OK;
}

/* At rest: since the last output time no free body was faster at any step, and no body is still to
 * be emitted. One moment alone does not tell: a ball at the top of its flight has no velocity. */
static bool is_at_rest(const tl_run *run) {
  if (!(run->at_rest > 0) || !has_frame_here(run) || !(run->fastest.interval < run->at_rest))
    return false;
  const tl_flow *flow = &run->world->flow;
  for (size_t i = 0; i < flow->emitters.count; ++i) {
    /* Bodies that are still to be emitted, or wait because the emitter is blocked. */
    const tl_emitter *emitter = &flow->emitters.data[i];
    if (emitter->owed > 0 || tl_emitter_due(emitter) < emitter->def.until)
      return false;
  }
  return true;
}

/* ---- the loop -------------------------------------------------------------------------------- */

typedef struct run_pace {
  double at;      /* when progress was last told */
  uint64_t steps; /* then */
  double rate;    /* steps per second, smoothed */
} run_pace;

static void tell_progress(const tl_run *run, run_pace *pace, bool now) {
  const double clock = tl_clock(), passed = clock - pace->at;
  if (!run->def->progress || (!now && passed < PROGRESS_EVERY))
    return;
  const talus_world *world = run->world;
  if (passed >= PROGRESS_EVERY / 4) {
    const double rate = (double)(world->steps - pace->steps) / passed;
    pace->rate = pace->rate > 0 ? 0.7 * pace->rate + 0.3 * rate : rate;
    pace->at = clock;
    pace->steps = world->steps;
  }
  talus_progress progress = {.time = talus_world_time(world),
                             .until = (double)run->end * run->dt,
                             .wall = clock - run->began,
                             .step_rate = pace->rate,
                             .steps = world->steps,
                             .frames = run->no_frames ? 0 : run->frames.count,
                             .bodies = world->model.bodies,
                             .overlap_max = run->worst.overlap_max,
                             .overlap_share = run->worst.overlap_share};
  const bool is_there = tl_need(&world->where, TL_THE_CONTACTS, TL_READ) == TALUS_OK;
  for (size_t i = 0; is_there && i < world->contacts.count; ++i)
    progress.contacts += world->contacts.data[i].gap <= 0;
  run->def->progress(run->def->context, &progress);
}

static talus_status save(tl_run *run) {
  if (run->saved == talus_world_steps(run->world) &&
      run->saved_time == talus_world_time(run->world))
    return TALUS_OK;
  TL_TRY(tl_run_folder_check(run));
  TL_TRY(check_state(run));
  return tl_run_checkpoint_save(run);
}

static talus_status sync_lines(tl_run *run) {
  TL_TRY(tl_lines_sync(&run->history));
  TL_TRY(tl_run_joints_sync(run));
  TL_TRY(tl_run_sinks_sync(run));
  TL_TRY(tl_run_zones_sync(run));
  return tl_run_probes_sync(run);
}

/* The checkpoint is written before the files that only an end has (run.h). */
static talus_status finish(tl_run *run) {
  TL_TRY(save(run));
  TL_TRY(tl_run_probes_add(run, true));
  TL_TRY(tl_run_zones_add(run, true));
  TL_TRY(tl_run_fields_add(run, true));
  TL_TRY(tl_run_fields_list(run));
  if (!has_frame_here(run))
    TL_TRY(write_output(run));
  TL_TRY(sync_lines(run));
  TL_TRY(tl_run_steps_write(run));
  return tl_run_series_finish(run);
}

static talus_status stop(tl_run *run) {
  TL_TRY(save(run));
  TL_TRY(tl_run_steps_write(run));
  TL_TRY(tl_run_fields_list(run));
  TL_TRY(tl_run_series_finish(run));
  return tl_fail(TALUS_INTERRUPTED, "stopped on request at t = %g s; the state is saved",
                 talus_world_time(run->world));
}

/* The step is complete: its state is written and saved as at an end. */
static talus_status end_strictly(tl_run *run, const char *why) {
  TL_TRY(finish(run));
  if (run->no_frames)
    return tl_fail(TALUS_ERROR_STRICT, "%s; the state then is the checkpoint", why);
  return tl_fail(TALUS_ERROR_STRICT, "%s; the state then is %s", why,
                 tl_run_path(run, "frames/%06zu.hdf", run->frames.count - 1));
}

static talus_status advance(tl_run *run, run_pace *pace) {
  const talus_run_def *def = run->def;
  for (;;) {
    const uint64_t step = talus_world_steps(run->world);
    if (!has_frame_of_step(run) && tl_run_is_due(run->every, run->dt, step))
      TL_TRY(write_output(run));
    if (step >= run->end || is_at_rest(run))
      return finish(run);
    if (def->interrupt && *def->interrupt)
      return stop(run);
    if (tl_clock() - run->saved_at >= def->checkpoint_every)
      TL_TRY(save(run));
    tell_progress(run, pace, step == 0);
    const talus_status status = talus_world_step(run->world, 1);
    if (status == TALUS_INTERRUPTED) { /* within the step; of adaptive ones a part was taken */
      TL_TRY(tl_run_sinks_add(run));
      return stop(run);
    }
    if (status != TALUS_ERROR_STRICT)
      TL_TRY(status);
    TL_TRY(tl_run_history_note(run));
    TL_TRY(note_fastest(run));
    TL_TRY(tl_run_sinks_add(run));
    TL_TRY(tl_run_probes_add(run, false));
    const bool is_on_grid = talus_world_steps(run->world) > step;
    if (is_on_grid) { /* not at the time of a probe between two steps */
      TL_TRY(tl_run_zones_add(run, false));
      TL_TRY(tl_run_fields_add(run, false));
    }
    if (status != TALUS_OK)
      return end_strictly(run, run->world->offence);
  }
}

/* ---- when it fails --------------------------------------------------------------------------- */

/* The step failed, so the state is that before it: the last good one, which is written. The
 * contacts belong to the failed step, so neither they nor a checkpoint are written. */
static void write_last_state(tl_run *run, char *message, size_t size) {
  if (run->no_frames)
    return;
  if (!has_frame_here(run) &&
      (check_state(run) != TALUS_OK ||
       tl_run_frames_write(run, run->fields & ~(uint32_t)TL_FRAME_CONTACTS) != TALUS_OK ||
       tl_run_frames_list(run) != TALUS_OK))
    return;
  if (tl_run_series_finish(run) != TALUS_OK)
    return;
  const size_t used = strlen(message);
  snprintf(message + used, size - used, "; the state just before is %s",
           tl_run_path(run, "frames/%06zu.hdf", run->frames.count - 1));
}

static talus_status fail(tl_run *run, talus_status status) {
  char message[8192]; /* as long as messages get */
  snprintf(message, sizeof message, "%s", tl_last_message());
  struct stat there;
  if (status == TALUS_ERROR_IO && stat(tl_run_folder(run), &there) != 0 && errno == ENOENT)
    snprintf(message, sizeof message, "%s: the folder was removed while the run was writing to it",
             tl_run_folder(run));
  if (status == TALUS_ERROR_DIVERGED || status == TALUS_ERROR_DOMAIN ||
      status == TALUS_ERROR_UNSUPPORTED)
    write_last_state(run, message, sizeof message);
  tl_run_log_line(&run->log, status == TALUS_INTERRUPTED ? TL_LOG_INFO : TL_LOG_ERROR, message);
  tl_run_log_sync(&run->log);
  return tl_fail(status, "%s", message);
}

/* ---- beginning and ending -------------------------------------------------------------------- */

static talus_status check(tl_run *run) {
  const talus_run_def *def = run->def;
  if (!def->folder || !*def->folder)
    return tl_fail(TALUS_ERROR_INVALID, "a run needs a folder for its results");
  if (def->resume && def->force)
    return tl_fail(TALUS_ERROR_INVALID,
                   "resume goes on with a run, force begins it anew; choose one of the two");
  if (def->threads < 0 || def->threads > 4096)
    return tl_fail(TALUS_ERROR_INVALID, "threads is %d; expected 0 (all cores) to 4096",
                   def->threads);
  if (!(def->checkpoint_every >= 0))
    return tl_fail(TALUS_ERROR_INVALID, "checkpoint_every is %g; expected seconds, 0 or more",
                   def->checkpoint_every);
  if (isnan(run->until) || !(run->until > 0) || !(run->until / run->dt < STEPS_MOST))
    return tl_fail(TALUS_ERROR_INVALID, "until is %g s; expected a positive time, at most %g steps",
                   run->until, STEPS_MOST);
  if (tl_grid_steps(run->until, run->dt) == 0)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "until is %g s, less than half a step of %g s: there would be nothing to do; give "
        "a later end or a shorter step",
        run->until, run->dt);
  return TALUS_OK;
}

/* Room for the longest name in the folder: a probe's, and file names have 255 bytes at most. */
static talus_status keep_folder(tl_run *run) {
  size_t bytes = strlen(run->def->folder);
  while (bytes > 1 && run->def->folder[bytes - 1] == '/')
    bytes--;
  void *block = NULL;
  run->path_bytes = bytes + 512;
  TL_TRY(tl_resize(&block, 0, run->path_bytes));
  run->path = block;
  memcpy(run->path, run->def->folder, bytes);
  run->path[bytes] = '\0';
  run->folder_bytes = bytes;
  return TALUS_OK;
}

static void tell_started(const tl_run *run) {
  if (run->def->started)
    run->def->started(run->def->context);
}

static talus_status open_log(tl_run *run) {
  bool in_use;
  TL_TRY(tl_run_log_open(&run->log, tl_run_path(run, "log.txt"), &in_use));
  return in_use ? tl_run_is_in_use(run, 0) : TALUS_OK;
}

/* Creates a missing folder, locks it and checks it again: another run may have started and ended in
 * it meanwhile. */
static talus_status make_folder(tl_run *run) {
  bool is_there, is_empty;
  TL_TRY(tl_run_folder_make(run));
  TL_TRY(tl_run_folder_lock(run, &is_there));
  if (!is_there)
    return tl_fail(TALUS_ERROR_IO, "%s: the folder was removed as soon as it was made",
                   tl_run_folder(run));
  TL_TRY(tl_run_folder_is_empty(run, &is_empty));
  return is_empty ? TALUS_OK
                  : tl_fail(TALUS_ERROR_INVALID,
                            "%s was made and filled by somebody else while the scene was being "
                            "built; give the results another folder, or run again with --resume "
                            "or --force",
                            tl_run_folder(run));
}

talus_status tl_run_choose_backend(tl_run *run) {
  bool on_device;
  TL_TRY(talus_world_set_backend(run->world, run->def->backend, run->def->no_fallback));
  return run->def->no_fallback ? tl_world_find_place(run->world, &on_device) : TALUS_OK;
}

static talus_status start_anew(tl_run *run) {
  /* If the scene cannot be built, old results must stay. */
  TL_TRY(talus_scene_build(run->scene, run->def->threads, tl_run_log_line, &run->log, &run->world));
  TL_TRY(tl_run_choose_backend(run));
  TL_TRY(tl_run_files_look(run, true));
  tell_started(run);
  TL_TRY(run->folder < 0 ? make_folder(run) : tl_run_folder_check(run));
  TL_TRY(open_log(run));
  tl_run_log_clear(&run->log);
  TL_TRY(tl_run_own_clear(run));
  TL_TRY(tl_run_frames_open(run));
  TL_TRY(tl_run_history_open(run, 0));
  TL_TRY(tl_run_joints_open(run));
  TL_TRY(tl_run_probes_open(run, NULL));
  TL_TRY(tl_run_zones_open(run));
  TL_TRY(tl_run_fields_open(run));
  TL_TRY(tl_run_sinks_open(run, NULL));
  /* Names of all these files, and the text that shows that they are ours. */
  TL_TRY(sync_lines(run));
  return tl_run_folder_write_scene(run);
}

static talus_status go_on(tl_run *run) {
  tell_started(run);
  TL_TRY(open_log(run));
  TL_TRY(tl_run_files_look(run, false));
  TL_TRY(tl_run_checkpoint_resume(run));
  return tl_run_folder_write_scene(run);
}

static talus_status prepare(tl_run *run) {
  bool is_there, has_checkpoint = false;
  TL_TRY(tl_run_probes_plan(run));
  TL_TRY(tl_run_zones_plan(run));
  TL_TRY(tl_run_fields_plan(run));
  TL_TRY(tl_run_sinks_plan(run));
  TL_TRY(tl_run_folder_lock(run, &is_there));
  if (is_there)
    TL_TRY(tl_run_folder_look(run, &has_checkpoint));
  const bool resumes = run->def->resume && has_checkpoint;
  TL_TRY(resumes ? go_on(run) : start_anew(run));
  run->world->strict = run->scene->strict; /* it may change when a run goes on */
  run->world->interrupt = run->def->interrupt;
  run->world->adaptive.stops = true;
  run->saved_at = tl_clock();
  tl_run_log_add(&run->log, TL_LOG_INFO, "talus %s (%s), %d thread%s: %s", talus_version(),
                 talus_features(), run->world->model.par.threads,
                 run->world->model.par.threads == 1 ? "" : "s",
                 run->scene->title && *run->scene->title ? run->scene->title : "untitled");
  if (resumes)
    tl_run_log_add(&run->log, TL_LOG_INFO, "goes on at step %llu, t = %g s",
                   (unsigned long long)run->world->steps, talus_world_time(run->world));
  else if (run->def->resume)
    tl_run_log_add(&run->log, TL_LOG_INFO, "there is no checkpoint to go on from: begins at 0");
  tl_run_log_add(&run->log, TL_LOG_INFO, "%zu bodies, to step %llu of %g s, until t = %g s",
                 run->world->model.bodies, (unsigned long long)run->end, run->dt,
                 (double)run->end * run->dt);
  tl_run_log_sync(&run->log);
  return TALUS_OK;
}

static void release(tl_run *run) {
  talus_world_destroy(run->world);
  tl_run_frames_close(run);
  tl_run_series_close(run);
  tl_lines_close(&run->history);
  tl_lines_close(&run->joints);
  for (size_t i = 0; i < run->probes.count; ++i)
    tl_lines_close(&run->probes.data[i].lines);
  tl_array_free(&run->probes);
  tl_array_free(&run->averages);
  tl_run_zones_close(run);
  tl_run_sinks_close(run);
  tl_array_free(&run->frames);
  tl_run_files_free(run);
  tl_run_log_close(&run->log);
  tl_run_folder_unlock(run);
  void *path = run->path;
  if (path)
    (void)tl_resize(&path, run->path_bytes, 0); /* freeing cannot fail */
}

static void report(const tl_run *run, talus_run_result *result) {
  if (result)
    *result = (talus_run_result){.hash = talus_world_hash(run->world),
                                 .steps = talus_world_steps(run->world),
                                 .frames = run->no_frames ? 0 : run->frames.count,
                                 .time = talus_world_time(run->world),
                                 .wall = tl_clock() - run->began,
                                 .bodies = talus_world_body_count(run->world),
                                 .sunk = run->world->sunk,
                                 .sunk_first = run->world->sunk_first,
                                 .unconverged = run->world->unconverged};
}

static void tell_sunk(tl_run *run) {
  const talus_world *world = run->world;
  const char *name = tl_world_name_of(world, world->sunk_first);
  if (world->sunk > 0 && !(world->strict & TALUS_STRICT_SINKING))
    tl_run_log_add(&run->log, TL_LOG_WARN,
                   "%llu bod%s passed through a wall or sank deeper than half %s size, the first: "
                   "body %llu%s%s%s",
                   (unsigned long long)world->sunk, world->sunk == 1 ? "y" : "ies",
                   world->sunk == 1 ? "its" : "their", (unsigned long long)world->sunk_first,
                   name ? " '" : "", name ? name : "", name ? "'" : "");
}

static void tell_unconverged(tl_run *run) {
  const talus_world *world = run->world;
  const char *name = tl_world_name_of(world, world->worst_body);
  if (world->unconverged == 0 || (world->strict & TALUS_STRICT_UNCONVERGED))
    return;
  if (world->model.step == TALUS_STEP_IMPLICIT)
    tl_run_log_add(&run->log, TL_LOG_WARN,
                   "%llu of %llu implicit steps did not converge as they were, and were taken in "
                   "shorter ones",
                   (unsigned long long)world->unconverged, (unsigned long long)world->steps);
  else
    tl_run_log_add(
        &run->log, TL_LOG_WARN,
        "%llu of %llu steps did not converge; the worst at t = %g s, with an RMS residual "
        "of %.3g m/s around body %llu%s%s%s",
        (unsigned long long)world->unconverged, (unsigned long long)world->steps, world->worst_time,
        world->worst_residual, (unsigned long long)world->worst_body, name ? " '" : "",
        name ? name : "", name ? "'" : "");
}

static void tell_walls(tl_run *run) {
  const tl_wall_share *walls = &run->world->walls;
  if (walls->asked > 0)
    tl_run_log_add(&run->log, TL_LOG_INFO,
                   "revolved walls: %.3g %% of the bodies in their boxes were near enough to be "
                   "tested",
                   100 * (double)walls->tested / (double)walls->asked);
}

static void tell_device(tl_run *run) {
  talus_device_use use;
  talus_world_device_use(run->world, &use);
  if (use.steps > 0)
    tl_run_log_add(&run->log, TL_LOG_INFO,
                   "backend %s (%s): %llu steps there, each with at most %llu bytes to and fro; "
                   "%.3g GB moved in all, %.3g GB held",
                   talus_backend_name(run->def->backend), use.device, (unsigned long long)use.steps,
                   (unsigned long long)use.step_bytes, 1e-9 * (double)use.moved_bytes,
                   1e-9 * (double)use.device_bytes);
}

static talus_status run_in_folder(tl_run *run, talus_run_result *result) {
  TL_TRY(prepare(run));
  run_pace pace = {.at = tl_clock(), .steps = run->world->steps};
  talus_status status = advance(run, &pace);
  if (status != TALUS_OK)
    status = fail(run, status);
  tell_progress(run, &pace, true);
  report(run, result);
  tell_sunk(run);
  tell_unconverged(run);
  tell_walls(run);
  tell_device(run);
  if (status == TALUS_OK)
    tl_run_log_add(&run->log, TL_LOG_INFO, "done at step %llu, t = %g s%s: state %016llx",
                   (unsigned long long)run->world->steps, talus_world_time(run->world),
                   run->world->steps < run->end ? ", at rest" : "",
                   (unsigned long long)talus_world_hash(run->world));
  tl_run_log_sync(&run->log);
  return status;
}

talus_status talus_run(const talus_scene *scene, const talus_run_def *def,
                       talus_run_result *result) {
  TL_NEED(scene);
  TL_NEED(def);
  talus_scene_info info;
  talus_scene_get_info(scene, &info);
  tl_run run = {.scene = scene,
                .def = def,
                .dt = info.dt,
                .until = def->until < 0 ? info.until : def->until,
                .every = info.output_every,
                .at_rest = info.at_rest,
                .fields = tl_scene_fields(scene),
                .no_frames = !tl_scene_has_frames(scene),
                .folder = -1,
                .within = {-1, -1, -1},
                .series = {{.fd = -1}, {.fd = -1}},
                .log = {.fd = -1, .also = def->log, .context = def->context},
                .history = {.fd = -1},
                .joints = {.fd = -1},
                .fastest = {INFINITY, INFINITY},
                .saved = UINT64_MAX,
                .began = tl_clock()};
  if (result)
    *result = (talus_run_result){0};
  TL_TRY(check(&run));
  run.end = tl_grid_steps(run.until, run.dt);
  tl_c_locale locale;
  TL_TRY(tl_c_locale_enter(&locale));
  talus_status status = keep_folder(&run);
  if (status == TALUS_OK)
    status = run_in_folder(&run, result);
  release(&run);
  tl_c_locale_leave(&locale);
  return status;
}

#endif
