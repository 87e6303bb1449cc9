/* The checkpoint of a run: the world (output/checkpoint.c) and a blob that records how many frames
 * and lines the folder had. */
#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "output/file.h"
#include "run/run.h"
#include "scene/blob.h"

#if TALUS_HAVE_HDF5

/* The blob, in numbers of 64 bits, least byte first:
 *   "talusrun", version, identity of the scene, step,
 *   residual_max, residual_rms, iterations, joint_force, joint_torque, overlap_max, overlap_share,
 *   fastest.since, fastest.interval,
 *   number of frames, step of each,
 *   lines of joints.csv, whether it records joints without a name and how (run.h),
 *   number of probes, of each: definition (of old runs with its interval, up to version 7), lines
 *     of its file,
 *   number of files that the scene names, of each: XXH64 when the run began,
 *   number of files of sinks, of each: its lines (from version 5 on),
 *   number of averages, of each: its files (from version 6 on),
 *   number of zones, of each: lines of its file (likewise),
 *   inner, force_change (from version 7 on) */
#define MAGIC   0x6e757273756c6174u
#define VERSION 8u
#define OLDEST  4u

/* ---- numbers to bytes and back --------------------------------------------------------------- */

static void put_double(tl_text *text, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  tl_blob_put(text, bits);
}

static double get_double(tl_blob_reader *reader) {
  const uint64_t bits = tl_blob_get(reader);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static talus_status pack(const tl_run *run, tl_text *text) {
  uint64_t identity;
  TL_TRY(tl_scene_identity(run->scene, &identity));
  tl_blob_put(text, MAGIC);
  tl_blob_put(text, VERSION);
  tl_blob_put(text, identity);
  tl_blob_put(text, talus_world_steps(run->world));
  put_double(text, run->worst.residual_max);
  put_double(text, run->worst.residual_rms);
  tl_blob_put(text, (uint64_t)run->worst.iterations);
  put_double(text, run->worst.joint_force);
  put_double(text, run->worst.joint_torque);
  put_double(text, run->worst.overlap_max);
  put_double(text, run->worst.overlap_share);
  put_double(text, run->fastest.since);
  put_double(text, run->fastest.interval);
  tl_blob_put(text, run->frames.count);
  for (size_t i = 0; i < run->frames.count; ++i)
    tl_blob_put(text, run->frames.data[i].step);
  tl_blob_put(text, run->joints.count);
  tl_blob_put(text, run->joints_all ? 1 + run->joint_marks : 0);
  tl_blob_put(text, run->probes.count);
  for (size_t i = 0; i < run->probes.count; ++i) {
    tl_blob_put(text, run->probes.data[i].definition);
    tl_blob_put(text, run->probes.data[i].lines.count);
  }
  tl_blob_put(text, run->files.count);
  for (size_t i = 0; i < run->files.count; ++i)
    tl_blob_put(text, run->files.data[i].hash);
  tl_blob_put(text, run->sinks.count);
  for (size_t i = 0; i < run->sinks.count; ++i)
    tl_blob_put(text, run->sinks.data[i].count);
  tl_blob_put(text, run->averages.count);
  for (size_t i = 0; i < run->averages.count; ++i)
    tl_blob_put(text, run->averages.data[i].count);
  tl_blob_put(text, run->zones.count);
  for (size_t i = 0; i < run->zones.count; ++i)
    tl_blob_put(text, run->zones.data[i].lines.count);
  tl_blob_put(text, (uint64_t)run->worst.inner);
  put_double(text, run->worst.force_change);
  return text->status;
}

/* Without wall times, so that equal states make equal files. */
static talus_status save_world(talus_world *world, const char *path, tl_file file,
                               const tl_blob *blob) {
  const tl_step_report last = world->last;
  double wall[4];
  memcpy(wall, world->wall, sizeof wall);
  memset(world->wall, 0, sizeof wall);
  world->last.wall_broad = world->last.wall_narrow = 0;
  world->last.wall_solve = world->last.wall_step = 0;
  talus_status status = tl_output_save(world, path, &file, blob);
  if (status == TALUS_OK)
    status = tl_file_end(&file, TALUS_OK);
  world->last = last;
  memcpy(world->wall, wall, sizeof wall);
  return status;
}

talus_status tl_run_checkpoint_save(tl_run *run) {
  const double begin = tl_clock();
  /* The frames and lines that a checkpoint counts are flushed to the disk before it is written. */
  TL_TRY(tl_lines_sync(&run->history));
  TL_TRY(tl_run_joints_sync(run));
  TL_TRY(tl_run_probes_sync(run));
  TL_TRY(tl_run_zones_sync(run));
  TL_TRY(tl_run_sinks_sync(run));
  TL_TRY(tl_run_series_sync(run));
  tl_text text = {0};
  talus_status status = pack(run, &text);
  const tl_blob blob = {(unsigned char *)text.data, text.count};
  if (status == TALUS_OK)
    status =
        save_world(run->world, tl_run_path(run, "checkpoint.hdf"), tl_run_own_file(run), &blob);
  tl_text_drop(&text);
  TL_TRY(status);
  run->saved = talus_world_steps(run->world);
  run->saved_time = talus_world_time(run->world);
  run->saved_at = tl_clock();
  run->wall_output += run->saved_at - begin;
  tl_run_log_add(&run->log, TL_LOG_INFO, "checkpoint: step %llu, t = %g s",
                 (unsigned long long)run->saved, talus_world_time(run->world));
  tl_run_log_sync(&run->log);
  return TALUS_OK;
}

/* ---- going on -------------------------------------------------------------------------------- */

static talus_status refuse(tl_run *run) {
  char changed[200];
  const char *folder = run->def->folder;
  tl_run_folder_compare(run, changed, sizeof changed);
  return tl_fail(
      TALUS_ERROR_INVALID,
      "%s: the scene is not the one of this folder%s%s; only until, output and probes "
      "may change when a run goes on (another folder, or --force, begins anew; a scene with "
      "`bodies: [{from: %s/}]`, run in another folder, goes on from here with changes)",
      tl_run_folder(run), changed[0] ? ": it differs in " : "", changed, folder);
}

/* The world still has the probes of the part before. */
static talus_status refuse_name(tl_run *run, size_t row, const tl_run_probe *probe) {
  const tl_flow *flow = &run->world->flow;
  const char *name = row < flow->probes.count ? flow->probes.data[row].name : NULL;
  if (!name || strcmp(name, probe->plan.name) != 0)
    return TALUS_OK;
  return tl_fail(TALUS_ERROR_INVALID,
                 "%s: the probe `%s` is not the one whose values are in probes/%s.csv, which would "
                 "be lost; give it another name",
                 tl_run_folder(run), name, name);
}

/* keep and old: how many lines of each probe's file stay, and which old probe it continues. */
static talus_status unpack_probes(tl_run *run, tl_blob_reader *reader, bool is_old, uint64_t *keep,
                                  size_t *old) {
  for (size_t i = 0; i < run->probes.count; ++i) {
    keep[i] = 0;
    old[i] = SIZE_MAX;
  }
  const uint64_t n = tl_blob_get(reader);
  for (uint64_t k = 0; k < n && !reader->is_short; ++k) {
    const uint64_t definition = tl_blob_get(reader), lines = tl_blob_get(reader);
    for (size_t i = 0; i < run->probes.count && !reader->is_short; ++i)
      if (definition ==
          (is_old ? run->probes.data[i].old_definition : run->probes.data[i].definition)) {
        keep[i] = lines;
        old[i] = (size_t)k;
      } else if (lines > 1) /* its rows would be lost */
        TL_TRY(refuse_name(run, (size_t)k, &run->probes.data[i]));
  }
  return TALUS_OK;
}

typedef TL_ARRAY(uint64_t) hashes;

/* The scene is the same, so it names as many. */
static talus_status unpack_files(const tl_run *run, tl_blob_reader *reader, hashes *stored) {
  const uint64_t n = tl_blob_get(reader);
  reader->is_short = reader->is_short || n != run->files.count;
  for (uint64_t i = 0; i < n && !reader->is_short; ++i)
    TL_TRY(tl_array_push(stored, tl_blob_get(reader)));
  return TALUS_OK;
}

/* What is kept of each is in its `count` until cut_back opens it. */
static void unpack_sinks(tl_run *run, tl_blob_reader *reader) {
  const uint64_t n = tl_blob_get(reader);
  reader->is_short = reader->is_short || n != run->sinks.count;
  for (uint64_t i = 0; i < n && !reader->is_short; ++i)
    run->sinks.data[i].count = tl_blob_get(reader);
}

static void unpack_fields(tl_run *run, tl_blob_reader *reader) {
  const uint64_t n = tl_blob_get(reader);
  reader->is_short =
      reader->is_short || n != run->averages.count || n != run->world->flow.averages.count;
  for (uint64_t i = 0; i < n && !reader->is_short; ++i)
    run->averages.data[i].count = tl_blob_get(reader);
  const uint64_t zones = tl_blob_get(reader);
  reader->is_short = reader->is_short || zones != run->zones.count;
  for (uint64_t i = 0; i < zones && !reader->is_short; ++i)
    run->zones.data[i].keep = tl_blob_get(reader);
}

static talus_status unpack(tl_run *run, const tl_blob *blob, uint64_t *keep, size_t *old,
                           hashes *stored) {
  tl_blob_reader reader = {.blob = blob};
  uint64_t identity;
  TL_TRY(tl_scene_identity(run->scene, &identity));
  const uint64_t magic = tl_blob_get(&reader), version = tl_blob_get(&reader);
  if (magic != MAGIC)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s holds a world but no run that could be resumed; --force begins anew",
                   tl_run_path(run, "checkpoint.hdf"));
  if (version < OLDEST || version > VERSION)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%s is of another version of talus (%llu, and this one reads %u to %u); --force "
                   "begins anew",
                   tl_run_path(run, "checkpoint.hdf"), (unsigned long long)version, OLDEST,
                   VERSION);
  if (tl_blob_get(&reader) != identity)
    return refuse(run);
  const uint64_t step = tl_blob_get(&reader);
  run->worst.residual_max = get_double(&reader);
  run->worst.residual_rms = get_double(&reader);
  run->worst.iterations = (int)tl_blob_get(&reader);
  run->worst.joint_force = get_double(&reader);
  run->worst.joint_torque = get_double(&reader);
  run->worst.overlap_max = get_double(&reader);
  run->worst.overlap_share = get_double(&reader);
  run->fastest.since = get_double(&reader);
  run->fastest.interval = get_double(&reader);
  const uint64_t frames = tl_blob_get(&reader);
  for (uint64_t i = 0; i < frames && !reader.is_short; ++i) {
    const uint64_t at = tl_blob_get(&reader); /* none between two steps: those are of ends */
    const tl_run_frame frame = {.step = at, .time = (double)at * run->dt};
    TL_TRY(tl_array_push(&run->frames, frame));
  }
  run->joints.count = tl_blob_get(&reader);      /* until cut_back opens it */
  const uint64_t unnamed = tl_blob_get(&reader); /* 0, or 1 and the marks */
  run->joints_all = unnamed > 0;
  run->joint_marks = unnamed > 0 ? unnamed - 1 : 0;
  reader.is_short = reader.is_short || run->joint_marks > TL_RUN_JOINTS_ALL;
  TL_TRY(unpack_probes(run, &reader, version < 8, keep, old));
  TL_TRY(unpack_files(run, &reader, stored));
  if (version >= 5)
    unpack_sinks(run, &reader);
  if (version >= 6)
    unpack_fields(run, &reader);
  if (version >= 7) {
    run->worst.inner = (int)tl_blob_get(&reader);
    run->worst.force_change = get_double(&reader);
  }
  if (reader.is_short || reader.at != blob->size || step != talus_world_steps(run->world))
    return tl_fail(TALUS_ERROR_FORMAT, "%s does not fit together; --force begins anew",
                   tl_run_path(run, "checkpoint.hdf"));
  return TALUS_OK;
}

/* Checks that can fail come first. The series is cut before the frames, so that it never lists a
 * frame that has been removed. */
static talus_status open_sinks(tl_run *run) {
  TL_ARRAY(uint64_t) keep = {0};
  talus_status status = TALUS_OK;
  for (size_t i = 0; i < run->sinks.count && status == TALUS_OK; ++i)
    status = tl_array_push(&keep, run->sinks.data[i].count);
  if (status == TALUS_OK)
    status = tl_run_sinks_open(run, keep.data);
  tl_array_free(&keep);
  return status;
}

static talus_status cut_back(tl_run *run, const uint64_t *keep) {
  TL_TRY(tl_run_own_prove(run, run->frames.count));
  TL_TRY(tl_run_history_open(run, run->frames.count + 1));
  TL_TRY(tl_run_joints_go_on(run, run->joints.count));
  TL_TRY(tl_run_probes_open(run, keep));
  TL_TRY(open_sinks(run));
  TL_TRY(tl_run_zones_open(run));
  TL_TRY(tl_run_fields_go_on(run));
  TL_TRY(tl_run_frames_open(run));
  size_t gone;
  TL_TRY(tl_run_frames_go_on(run, &gone));
  TL_TRY(tl_run_own_cut(run, run->frames.count));
  tl_run_log_cut(&run->log, run->saved);
  if (gone > 0)
    tl_run_log_add(&run->log, TL_LOG_WARN,
                   "%zu of %zu earlier frames are not there; the series leaves them out", gone,
                   run->frames.count);
  return TALUS_OK;
}

static talus_status resume(tl_run *run, const tl_blob *blob, uint64_t *keep, size_t *old,
                           hashes *stored) {
  TL_TRY(unpack(run, blob, keep, old, stored));
  run->saved = talus_world_steps(run->world);
  run->saved_time = talus_world_time(run->world);
  if (run->world->model.dt != run->dt)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "%s: its steps end on a grid of %g s, and with this output.every on one of %g s; "
        "with step: adaptive go on with an interval that gives the same grid",
        tl_run_folder(run), run->world->model.dt, run->dt);
  if (run->saved > run->end)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the run is at t = %g s already, past the end at %g s; give a later end "
                   "(--until)",
                   tl_run_folder(run), talus_world_time(run->world), run->until);
  const size_t before = run->world->flow.probes.count;
  TL_TRY(tl_run_probes_adopt(run, old));
  bool same = before == run->probes.count;
  for (size_t i = 0; i < run->probes.count; ++i)
    same = same && old[i] == i;
  TL_TRY(tl_run_choose_backend(run));
  TL_TRY(cut_back(run, keep));
  tl_run_files_compare(run, stored->data);
  if (!same) {
    /* The old checkpoint does not describe the present probes. */
    tl_run_log_add(&run->log, TL_LOG_INFO,
                   "the probes changed: new ones measure from t = %g s on, files of others stay "
                   "as they are",
                   talus_world_time(run->world));
    run->saved = UINT64_MAX;
  }
  return TALUS_OK;
}

talus_status tl_run_checkpoint_resume(tl_run *run) {
  tl_blob blob = {0};
  void *block = NULL;
  const size_t n = run->probes.count, bytes = n * (sizeof(uint64_t) + sizeof(size_t));
  TL_TRY(tl_resize(&block, 0, bytes));
  uint64_t *keep = block;
  size_t *old = n > 0 ? (size_t *)(void *)(keep + n) : NULL;
  talus_status status = tl_output_load(tl_run_path(run, "checkpoint.hdf"), &run->world, &blob);
  if (status == TALUS_OK) {
    run->world->log = tl_run_log_line;
    run->world->log_context = &run->log;
    if (run->def->threads > 0)
      run->world->model.par.threads = run->def->threads;
    hashes stored = {0};
    status = resume(run, &blob, keep, old, &stored);
    tl_array_free(&stored);
  }
  void *data = blob.data;
  (void)tl_resize(&data, blob.size, 0); /* freeing cannot fail */
  (void)tl_resize(&block, bytes, 0);
  return status;
}

#endif
