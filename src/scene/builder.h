/* What the files that build a world from a scene share (build*.c). */
#ifndef TL_SCENE_BUILDER_H
#define TL_SCENE_BUILDER_H

#include "scene/build.h"
#include "scene/from.h"
#include "scene/gather.h"

typedef struct tl_builder {
  const talus_scene *scene;
  talus_world *world;
  talus_log_fn *log;
  void *log_context;
  tl_names materials, shapes; /* name to row of the world */
  /* Shapes written in place. Equal ones share one shape of the world. */
  tl_names own_shapes;
  TL_ARRAY(char *) own_keys;
  TL_ARRAY(size_t) first; /* of each entry of `bodies`: how many bodies there were before it */
  tl_from_names borrowed; /* materials of other runs */
  tl_from_names left;     /* emitters and sinks of those */
  tl_gather mistakes;     /* of entries; the next one has its turn all the same */
} tl_builder;

/* Puts the place of an entry in front of the message. */
talus_status tl_build_fail_at(const tl_builder *b, talus_status status, const tl_object *at,
                              const char *entry);
/* The same for an entry of a list; the message is kept, and the next entry has its turn. */
talus_status tl_build_gather(tl_builder *b, talus_status status, const tl_object *at,
                             const char *list, size_t row, const char *part);

/* Named shapes; a shape that the world refuses is told and left out. */
talus_status tl_build_shapes(tl_builder *b);
/* Named shapes, then those that bodies and emitters have written in place. */
talus_status tl_build_shapes_only(tl_builder *b);
/* False of a shape that the world refused, which has been told. */
bool tl_build_has_shape(const tl_builder *b, const tl_scene_shape_use *use);
talus_status tl_build_use_shape(tl_builder *b, const tl_scene_shape_use *use, talus_shape *shape);
/* Shape, material and group: what bodies, fills and emitters have in common. */
talus_status tl_build_use_names(tl_builder *b, const tl_scene_shape_use *shape,
                                const char *material, const char *group, talus_body_def *def);

/* Groups that ignore each other. Before any body: a fill looks at who ignores whom. */
talus_status tl_build_ignore(tl_builder *b);
talus_status tl_build_bodies(tl_builder *b);

/* Emitters, sinks, probes, zones and averages. all_there: no body or joint was refused, so that a
 * probe finds the one it is on. */
talus_status tl_build_flow(tl_builder *b, bool all_there);

/* Logs what looks like a mistake once all bodies are there, unless `quiet` names it. */
void tl_build_warn(const tl_builder *b);
/* Logs the step that was chosen where the scene gives none. */
void tl_build_tell_step(const tl_builder *b);

talus_size_def tl_scene_sizes(const tl_scene_size *size);
/* Normalised in double, before it is narrowed. */
talus_quat tl_scene_quat(const tl_scene_rotation *rotation);
/* The seed of a fill or emitter, moved by that of the scene. */
uint64_t tl_scene_seed_of(const talus_scene *scene, uint64_t own);

/* The pose and motion of one of them; the first entry of `repeat` counts fastest. */
void tl_repeat_place(const talus_scene *scene, const tl_scene_body *body, uint64_t copy,
                     talus_body_def *def);

#endif
