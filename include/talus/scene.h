/* talus: scene files and result folders (where libyaml and HDF5 are built in).
 *
 * A scene is the description of an experiment (docs/scene.md); a run turns it into one result
 * folder (docs/formats.md). Both are what `talus run` does, as calls. */
#ifndef TALUS_SCENE_H
#define TALUS_SCENE_H

#include <talus/talus.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_scene talus_scene;

/* Frees text that a call of this header handed out; NULL is fine. */
TALUS_API void talus_text_free(char *text);

/* Reads and validates a scene: a file's path (of a start file, too: talus_scene_save), or a
 * built-in scene's name where no such file is. `settings` are n texts "dotted.key=value" (entries
 * of lists by number from 0, or by name: "bodies.2.mass=1", "bodies.drum.mass=1"), laid over the
 * file before it is checked. On TALUS_ERROR_FORMAT *problems (may be NULL) is every error, each as
 * "file:line:column: what, and what was expected" with the line and a caret; free it with
 * talus_text_free. talus_last_error() is the first of them and their number. */
TALUS_API talus_status talus_scene_load(const char *path, const char *const *settings, size_t n,
                                        talus_scene **scene, char **problems);

/* The same from text in memory; `name` stands in messages, `folder` (NULL: the current one) is
 * where relative paths in the scene start. */
TALUS_API talus_status talus_scene_parse(const char *text, size_t length, const char *name,
                                         const char *folder, const char *const *settings, size_t n,
                                         talus_scene **scene, char **problems);
TALUS_API void talus_scene_free(talus_scene *scene);

/* The scene as resolved, all defaults filled in (but of keys that the chosen kind or method does
 * not use), as YAML that loads to the same scene. */
TALUS_API talus_status talus_scene_write(const talus_scene *scene, char **text);

/* A world holding the scene at time 0. threads: 0 for all cores. Likely mistakes of a valid scene
 * (a density in g/cm3, bodies that overlap, ...) go to the log as warnings, each kind once (keys
 * that do nothing: each of them); `quiet` in the scene silences them. Errors that show only when
 * the world is built (a flat hull, a fill that does not fit, a missing mesh) are reported together:
 * one message with a line for each, with file:line:column. */
TALUS_API talus_status talus_scene_build(const talus_scene *scene, int threads, talus_log_fn *log,
                                         void *log_context, talus_world **world);

/* Writes a start file: the world that talus_scene_build made of the scene, at time 0, and the scene
 * as resolved. talus_scene_load reads it like a scene file, also in builds without libyaml and
 * where the files that the scene names are not; talus_scene_build then loads the world, and a run
 * has the bits of a run of the scene. Of such a scene settings may change until, output, quiet and
 * strict. A file of that name is replaced as a whole. */
TALUS_API talus_status talus_scene_save(const talus_scene *scene, talus_world *world,
                                        const char *path);

/* Whether the scene was loaded from a start file. */
TALUS_API bool talus_scene_is_start(const talus_scene *scene);

/* A world with the shapes of the scene, those written in place included, and nothing else: to look
 * at with talus_world_get_shape. */
TALUS_API talus_status talus_scene_build_shapes(const talus_scene *scene, talus_world **world);

/* What a run of the scene will do; known without running it. */
typedef struct talus_scene_info {
  const char *title;
  double until, dt, output_every; /* s; until is the time limit */
  double at_rest;                 /* m/s; 0: not asked for */
  uint64_t steps, frames;
  size_t shapes, materials, emitters, sinks, probes;
  uint64_t substeps; /* of a step; 1: none */
  double emitted;    /* bodies that emitters add until then, where nothing blocks them */
} talus_scene_info;
TALUS_API void talus_scene_get_info(const talus_scene *scene, talus_scene_info *info);

/* The name of probe i, from 0 in the order of the scene; NULL where there is none. It is valid as
 * long as the scene. */
TALUS_API const char *talus_scene_probe_name(const talus_scene *scene, size_t i);

/* Built-in scenes in alphabetical order: name, the first comment line, the whole text. */
TALUS_API size_t talus_builtin_count(void);
TALUS_API void talus_builtin_get(size_t i, const char **name, const char **about,
                                 const char **text);

/* Every key of the scene format as Markdown, from the tables that the reader uses; free it with
 * talus_text_free. */
TALUS_API talus_status talus_scene_schema(char **text);

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct talus_progress {
  double time, until; /* s of the simulation */
  double wall;        /* s since this call began */
  double step_rate;   /* steps per wall second, lately */
  uint64_t steps, frames;
  size_t bodies, contacts;
  double overlap_max, overlap_share; /* since the last line of history.csv: as it has them */
} talus_progress;

typedef struct talus_run_def {
  const char *folder;
  bool resume;  /* go on from the folder's checkpoint, or start at 0 where there is none */
  bool force;   /* begin anew in a folder that is not empty; talus's own files there are removed */
  double until; /* s; < 0: as the scene says */
  int threads;  /* 0: all cores */
  talus_backend backend;   /* where steps run (talus_world_set_backend) */
  bool no_fallback;        /* what the backend cannot do is refused instead of done by the CPU */
  double checkpoint_every; /* wall-clock s; default 60 */
  void (*progress)(void *context, const talus_progress *progress); /* a few times a second */
  talus_log_fn *log;                                               /* what also goes to log.txt */
  /* Once, before anything is written or removed: the scene's world is built, or goes on. */
  void (*started)(void *context);
  void *context;                 /* of all three */
  const volatile int *interrupt; /* set to non-zero (by a signal handler) to save and stop, in the
                                    middle of a step too (talus_world_set_interrupt) */
} talus_run_def;

TALUS_API talus_run_def talus_run_def_default(void);

typedef struct talus_run_result {
  uint64_t hash, steps, frames;
  double time, wall;
  size_t bodies;
  uint64_t sunk, sunk_first; /* as talus_report has them; the log has their names */
  uint64_t unconverged;      /* steps, likewise */
} talus_run_result;

/* Steps the scene's world to its end and writes the result folder (docs/formats.md) on the way.
 *
 * The end is the step nearest `until`. With `at_rest` it may come earlier, at an output time: when
 * since the output time before no free body was faster (centre, or spin times bounding radius) at
 * any step, and no emitter is still active.
 *
 * A run that was stopped, killed or finished continues with `resume` and ends with the same folder
 * as an uninterrupted one, except for the log and wall times. Frames then come at the present
 * interval of the scene; unchanged probes continue, new ones measure from then on, and files of
 * other probes stay.
 *
 * The folder is locked while a run writes to it, against other processes and other calls of this
 * one.
 *
 * TALUS_INTERRUPTED: stopped by `interrupt`, state saved. TALUS_ERROR_INVALID: the folder is not
 * empty, is in use, or its scene differs in more than until, output and probes.
 * TALUS_ERROR_DIVERGED, TALUS_ERROR_DOMAIN: a step failed; the state before it is the last frame.
 * TALUS_ERROR_STRICT: what the scene's `strict` forbids has happened; the state after that step is
 * the last frame and the checkpoint.
 * TALUS_ERROR_IO: what was written before is intact, and a later call can resume. result (may be
 * NULL) says how far it came in every case. */
TALUS_API talus_status talus_run(const talus_scene *scene, const talus_run_def *def,
                                 talus_run_result *result);

/* ---- bodies of another world ---------------------------------------------------------------- */

/* Some bodies of a world. Of a list that is not empty one entry must fit; every list that is not
 * empty must, and so must the region. All empty: every body. */
typedef struct talus_selection {
  const char *const *names; /* of bodies */
  size_t name_count;
  const char *const *groups;
  size_t group_count;
  const char *const *materials;
  size_t material_count;
  const talus_region *region; /* that the centre of mass is in; NULL: anywhere */
} talus_selection;

/* What becomes of bodies that are taken. */
typedef struct talus_change {
  talus_selection who;
  const talus_material *material;   /* of the new world; NULL: as it was. The mass stays */
  bool sets_kind;                   /* otherwise fixed bodies stay fixed, and so on */
  talus_body_kind kind;             /* free: locks nothing that it did not lock before */
  const talus_motion *motion;       /* kinematic: from where the body is now */
  const talus_vec3 *force, *torque; /* NULL: as they were */
} talus_change;

typedef struct talus_take_def {
  const talus_selection *only; /* what one of these selects; none: all */
  size_t only_count;
  const talus_selection *except; /* but what one of these selects */
  size_t except_count;
  const talus_change *changes; /* in this order, a later one over an earlier one */
  size_t change_count;
} talus_take_def;

/* Adds bodies of another world as they are: shape, material, name, group, pose, velocity, loads,
 * motion, the joints and contacts among them, and which groups ignore each other. If the new world
 * has a material of the same name, that one counts. A joint of which no body can move any more
 * after a change is left out (and logged). Contacts keep their impulses and springs if both worlds
 * have the same contact model: with equal settings and no changes both continue with the same bits.
 * Bodies keep their uids if the new world has none as high. A name, group or material that no body
 * has is TALUS_ERROR_INVALID. On failure no body has been added; shapes and materials may have
 * been. */
TALUS_API talus_status talus_world_take(talus_world *world, const talus_world *from,
                                        const talus_take_def *def);

#ifdef __cplusplus
}
#endif
#endif
