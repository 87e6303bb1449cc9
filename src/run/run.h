/* The run: turns a scene into a result folder (docs/formats.md).
 *
 * A run may be killed at any moment, because:
 *  - frames, contact files, scene.yaml and the checkpoint are each written aside, flushed and
 *    renamed, so that each is complete or absent;
 *  - the series grows in place and is valid JSON at any moment (run/series.c);
 *  - history.csv, joints.csv, probes and the log only grow, line by line;
 *  - the checkpoint stores how many frames and lines the folder had when it was written. A resumed
 *    run first cuts the folder back to these, and then repeats what was cut, bit for bit.
 *
 * The folder must end up the same however often the run was stopped. So the checkpoint contains
 * nothing that depends on the wall clock: wall times continue from the last line of history.csv. If
 * a run ends between two output times, the frame and the lines of the end are written after the
 * last checkpoint, so that a run that is continued to a later end removes them. */
#ifndef TL_RUN_H
#define TL_RUN_H

#include <stdio.h>
#include <sys/types.h>

#include "base/memory.h"
#include "output/output.h"
#include "scene/scene.h"
#include "world/world.h"

/* ---- a text file that only grows ------------------------------------------------------------- */

typedef struct tl_lines {
  int fd; /* -1: not open */
  char *path;
  uint64_t count; /* lines */
  off_t bytes;
} tl_lines;

/* Opens or creates a file and cuts it back to its first `keep` lines, which must exist. The path
 * without its first `skip` bytes is relative to an open folder. */
talus_status tl_lines_open(tl_lines *lines, int folder, size_t skip, const char *path,
                           uint64_t keep);
/* Appends whole lines with their newlines; appends nothing if that fails. */
talus_status tl_lines_add(tl_lines *lines, const char *text, size_t bytes);
talus_status tl_lines_sync(tl_lines *lines);
/* Copies the first line, cut to `size`, into `line`. */
talus_status tl_lines_first(const tl_lines *lines, char *line, size_t size);
/* Copies the last line, cut to `size`, into `line`. */
talus_status tl_lines_last(const tl_lines *lines, char *line, size_t size);
void tl_lines_close(tl_lines *lines);

/* ---- log.txt --------------------------------------------------------------------------------- */

typedef struct tl_run_log {
  int fd;          /* -1: not open yet; lines wait in `pending` */
  tl_text pending; /* what was said before the folder was ready */
  talus_log_fn *also;
  void *context;
  bool has_failed; /* and was told of */
} tl_run_log;

/* Opens the log and locks it. On file systems that cannot lock folders, this lock keeps two runs
 * apart. *in_use: another run holds it. */
talus_status tl_run_log_open(tl_run_log *log, const char *path, bool *in_use);
/* Cuts the log to nothing, or to the line that reports the checkpoint of that step. */
void tl_run_log_clear(tl_run_log *log);
void tl_run_log_cut(tl_run_log *log, uint64_t step);
/* A talus_log_fn whose context is the tl_run_log. A log that cannot be written does not stop the
 * run. */
void tl_run_log_line(void *log, int level, const char *line);
void tl_run_log_add(tl_run_log *log, int level, const char *fmt, ...) TL_PRINTF(3, 4);
void tl_run_log_sync(tl_run_log *log);
void tl_run_log_close(tl_run_log *log);

/* ---- the run --------------------------------------------------------------------------------- */

typedef struct tl_run_frame {
  uint64_t step;
  double time;  /* s: between steps where an end of adaptive ones is */
  bool is_gone; /* somebody deleted the file: left out of the series */
  bool has_surface;
} tl_run_frame;

typedef enum tl_run_list { TL_SERIES_FRAMES, TL_SERIES_SURFACES, TL_SERIES } tl_run_list;

/* frames.hdf.series or surfaces.hdf.series, open to grow. */
typedef struct tl_run_series {
  int fd;         /* -1: there is none yet */
  size_t count;   /* entries */
  size_t at, end; /* bytes from its begin: where its room is */
  bool has_room;  /* or had, before it was used up */
} tl_run_series;

#define TL_RUN_FOLDERS 3 /* frames, contacts, surfaces */

typedef struct tl_run_probe {
  tl_scene_probe_plan plan;
  uint64_t definition;     /* hash: what is measured, and where */
  uint64_t old_definition; /* and how often: in files of runs up to version 7 */
  tl_lines lines;
} tl_run_probe;

typedef struct tl_run_zone {
  const char *name; /* the scene's */
  double every;     /* s */
  uint64_t keep;    /* lines of its file, when a run goes on */
  tl_lines lines;
} tl_run_zone;

/* fields/NAME */
typedef struct tl_run_average {
  const char *name; /* the scene's */
  double every;     /* s */
  uint64_t count;   /* files */
  uint64_t listed;  /* of them in the series */
  double last;      /* s: when the last of them ended; < 0: on the grid of outputs */
} tl_run_average;

/* Largest of each step since the last line of history.csv. */
typedef struct tl_run_worst {
  double residual_max, residual_rms; /* m/s */
  int iterations;
  int inner; /* of implicit steps, and how far they came */
  double force_change;
  double joint_force, joint_torque; /* N, N m: of the joint that carried most */
  double overlap_max, overlap_share;
} tl_run_worst;

/* Speed of the fastest free body, m/s; infinite where nobody asks (until: {at_rest}). */
typedef struct tl_run_fastest {
  double since;    /* most since the last output time */
  double interval; /* most between the last two output times */
} tl_run_fastest;

enum { TL_WALL_TOTAL, TL_WALL_BROAD, TL_WALL_NARROW, TL_WALL_SOLVE, TL_WALL_STEP, TL_WALL_OUTPUT };
#define TL_WALLS 6

typedef struct tl_run_file {
  char *path;
  bool is_table; /* of bodies */
  uint64_t hash; /* of its bytes, and those of the files that a table names; 0: it cannot be read */
} tl_run_file;

typedef struct tl_run {
  const talus_scene *scene;
  const talus_run_def *def;
  double dt, until, every, at_rest;
  uint32_t fields; /* TL_FRAME_... */
  bool no_frames;  /* no frames are written; `frames` still lists the output times, as removed */
  uint64_t end;    /* the last step */

  char *path; /* the folder, and room to build names in */
  size_t folder_bytes, path_bytes;
  int folder;                 /* open and locked; -1: not yet */
  int within[TL_RUN_FOLDERS]; /* open; -1: not needed */
  bool syncs_all;             /* one flush for many files (disk.h) */
  bool has_meshes;            /* shapes.hdf has their triangles, frames do not */
  tl_run_series series[TL_SERIES];
  tl_run_log log;
  tl_lines history;
  int history_columns;           /* 0: all; fewer where an older talus began the file */
  tl_lines joints;               /* joints.csv, where there are joints */
  bool joints_all;               /* it records those without a name too: by their numbers */
  uint64_t joint_marks;          /* and so many # before each */
  TL_ARRAY(tl_run_frame) frames; /* number i is frames/i.hdf */
  TL_ARRAY(tl_run_probe) probes;
  TL_ARRAY(tl_run_average) averages;
  TL_ARRAY(tl_run_zone) zones;
  TL_ARRAY(tl_lines) sinks; /* sinks/NAME.csv, the last of the domain where that removes bodies */
  size_t sink_count;        /* of them that are sinks */
  TL_ARRAY(tl_run_file) files; /* that the scene names, as the world was made of them */
  tl_run_worst worst;
  tl_run_fastest fastest;

  talus_world *world;
  uint64_t saved;         /* step of the newest checkpoint; UINT64_MAX: none */
  double saved_time;      /* s: its time, which may lie between two steps */
  double began, saved_at; /* s of tl_clock */
  double wall[TL_WALLS];  /* s, of earlier calls (from history.csv) */
  double wall_output;     /* s, of this call */
} tl_run;

/* ---- run/lock.c ------------------------------------------------------------------------------ */

/* Locks the folder; fails if another run, in any process, has locked it. *is_there: the folder
 * exists. A caller locks the folder before it looks at what is in it. */
talus_status tl_run_folder_lock(tl_run *run, bool *is_there);
void tl_run_folder_unlock(tl_run *run);
/* Fails if the folder of that name is no longer the one that is locked. */
talus_status tl_run_folder_check(tl_run *run);
/* The message; holder is a process, or 0. */
talus_status tl_run_is_in_use(tl_run *run, long holder);

/* ---- run/folder.c ---------------------------------------------------------------------------- */

/* A path within the folder, and the folder's own; valid until the next call of either. */
const char *tl_run_path(tl_run *run, const char *fmt, ...) TL_PRINTF(2, 3);
const char *tl_run_folder(tl_run *run);
/* For tl_file_begin with such a path. */
tl_file tl_run_own_file(const tl_run *run);

talus_status tl_run_folder_is_empty(tl_run *run, bool *is_empty);
/* Refuses a folder that is not empty, unless resume or force is set. Changes nothing.
 * *has_checkpoint: there is a checkpoint to continue from. */
talus_status tl_run_folder_look(tl_run *run, bool *has_checkpoint);
/* Makes the folder and those above it. */
talus_status tl_run_folder_make(tl_run *run);
talus_status tl_run_folder_write_scene(tl_run *run);
/* Names the keys in which the scene differs from the folder's scene.yaml; "" where it does not. */
void tl_run_folder_compare(tl_run *run, char *text, size_t size);

/* How scene.yaml of a result folder begins. */
#define TL_SCENE_HEAD "# The scene of this folder as talus "

/* ---- run/own.c ------------------------------------------------------------------------------- */

/* Fails if a file that would be removed is not talus's own, or if a folder among them is a link;
 * changes nothing. Considers frames and the files that belong to them from number `from` on; 0: all
 * files. */
talus_status tl_run_own_prove(tl_run *run, uint64_t from);
/* Removes what talus wrote, and nothing else; the log stays. */
talus_status tl_run_own_clear(tl_run *run);
/* Removes frames, contacts and surfaces from number `from` on, and what a killed run left half
 * written. */
talus_status tl_run_own_cut(tl_run *run, uint64_t from);
/* The same in one folder of such files. */
talus_status tl_run_own_cut_folder(tl_run *run, const char *folder, uint64_t from);
/* Opens a folder within the folder, which must be no link; *fd is -1 where there is none. */
talus_status tl_run_subfolder(tl_run *run, const char *name, int *fd);

/* ---- run/run.c ------------------------------------------------------------------------------- */

/* Gives the world its backend: there is such a device, and it does what is not allowed to fall
 * back. Called before anything is written or removed. */
talus_status tl_run_choose_backend(tl_run *run);

/* ---- run/files.c ----------------------------------------------------------------------------- */

/* Hashes the files that the scene names as they are now; `all`: each must exist. */
talus_status tl_run_files_look(tl_run *run, bool all);
/* Warns of each file that has changed since the run began; `stored` has the hashes of that time. */
void tl_run_files_compare(tl_run *run, const uint64_t *stored);
void tl_run_files_free(tl_run *run);

/* ---- run/frames.c ---------------------------------------------------------------------------- */

/* Whether an event that recurs with that interval is at this step. */
bool tl_run_is_due(double every, double dt, uint64_t step);
/* Makes and opens the folders that are needed. */
talus_status tl_run_frames_open(tl_run *run);
void tl_run_frames_close(tl_run *run);
talus_status tl_run_make_folder(tl_run *run, const char *name, int *fd);
/* Writes the present state as frame number frames.count. The frame is on the disk when it returns.
 */
talus_status tl_run_frames_write(tl_run *run, uint32_t fields);
/* Has the series list that frame. */
talus_status tl_run_frames_list(tl_run *run);
/* Looks which frames are still there, and lists those. */
talus_status tl_run_frames_go_on(tl_run *run, size_t *gone);

/* ---- run/series.c ---------------------------------------------------------------------------- */

/* Lists the last frame. */
talus_status tl_run_series_add(tl_run *run, tl_run_list list);
/* Whether the next entry may not find room. */
bool tl_run_series_is_full(const tl_run *run, tl_run_list list);
/* Writes the list of all frames to a new file, which the caller flushes and places before it is
 * adopted. */
talus_status tl_run_series_stage(tl_run *run, tl_run_list list, bool with_room, tl_file *file,
                                 tl_run_series *made);
talus_status tl_run_series_adopt(tl_run *run, tl_run_list list, const tl_run_series *made);
/* Both in one, flushed. */
talus_status tl_run_series_write(tl_run *run, tl_run_list list, bool with_room);
talus_status tl_run_series_sync(tl_run *run);
/* Writes the series without room for more, as a run that has ended leaves it. */
talus_status tl_run_series_finish(tl_run *run);
void tl_run_series_close(tl_run *run);

/* ---- run/history.c --------------------------------------------------------------------------- */

talus_status tl_run_history_open(tl_run *run, uint64_t lines);
talus_status tl_run_history_add(tl_run *run);
/* How many steps had which length, where steps differ in it: at an end (steps.c). */
talus_status tl_run_steps_write(tl_run *run);
/* After each step. */
talus_status tl_run_history_note(tl_run *run);

/* ---- run/joints.c ---------------------------------------------------------------------------- */

/* Up to so many joints are all recorded. */
#define TL_RUN_JOINTS_ALL 64

/* Begins joints.csv where the world has joints. */
talus_status tl_run_joints_open(tl_run *run);
/* Keeps so many of its lines; 0: there is no such file. */
talus_status tl_run_joints_go_on(tl_run *run, uint64_t keep);
/* A line for each joint that is recorded. */
talus_status tl_run_joints_add(tl_run *run);
talus_status tl_run_joints_sync(tl_run *run);

/* ---- run/probes.c ---------------------------------------------------------------------------- */

/* Fills in run->probes from the scene; no file is touched. */
talus_status tl_run_probes_plan(tl_run *run);
/* Adds the first two columns, from and to, to a line of a probe or a zone. */
void tl_run_probe_edges(tl_text *text, double from, double to);
/* keep[i] lines of probe i are kept; 0 starts its file anew. */
talus_status tl_run_probes_open(tl_run *run, const uint64_t *keep);
/* Gives the scene's probes to a loaded world: old[i] is the world's probe that probe i continues,
 * or SIZE_MAX for one that begins now. */
talus_status tl_run_probes_adopt(tl_run *run, const size_t *old);
/* Lines of the probes whose interval ends at this step, or of all that have measured anything. */
talus_status tl_run_probes_add(tl_run *run, bool all);
talus_status tl_run_probes_sync(tl_run *run);

/* ---- run/zones.c ----------------------------------------------------------------------------- */

/* Fills in run->zones from the scene; no file is touched. */
talus_status tl_run_zones_plan(tl_run *run);
/* `keep` lines of each file are kept; 0 starts it anew. */
talus_status tl_run_zones_open(tl_run *run);
/* Lines of the zones whose interval ends at this step, or of all that have measured anything. */
talus_status tl_run_zones_add(tl_run *run, bool all);
talus_status tl_run_zones_sync(tl_run *run);
void tl_run_zones_close(tl_run *run);

/* ---- run/fields.c ---------------------------------------------------------------------------- */

/* Fills in run->averages from the scene; no file is touched. */
talus_status tl_run_fields_plan(tl_run *run);
/* Makes the folders. */
talus_status tl_run_fields_open(tl_run *run);
/* Keeps as many files of each as `count` says. */
talus_status tl_run_fields_go_on(tl_run *run);
/* Files of the averages whose interval ends at this step, or of all that have measured anything. */
talus_status tl_run_fields_add(tl_run *run, bool all);
/* Has each series list all files. */
talus_status tl_run_fields_list(tl_run *run);

/* ---- run/sinks.c ----------------------------------------------------------------------------- */

#define TL_SINKS_HEAD "time,uid,"

talus_status tl_run_sinks_plan(tl_run *run);
/* Name of file i, without its ending, in `text`. */
const char *tl_run_sink_name(const tl_run *run, size_t i, char *text, size_t size);
/* keep[i] lines of sink i are kept; 0, or NULL, starts its file anew. */
talus_status tl_run_sinks_open(tl_run *run, const uint64_t *keep);
/* Writes a line for each body that has left since the last call. */
talus_status tl_run_sinks_add(tl_run *run);
talus_status tl_run_sinks_sync(tl_run *run);
void tl_run_sinks_close(tl_run *run);

/* ---- run/checkpoint.c ------------------------------------------------------------------------ */

talus_status tl_run_checkpoint_save(tl_run *run);
/* Loads the world and the data of the run, then cuts the folder back to the checkpoint. What can be
 * refused is refused before anything is cut. */
talus_status tl_run_checkpoint_resume(tl_run *run);

#endif
