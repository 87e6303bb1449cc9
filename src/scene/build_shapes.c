/* The shapes of a world: named ones, and those that are written in place. */
#include "scene/builder.h"
#include "scene/shapes.h"
#include "scene/warn.h"

/* Contacts come from both of two surfaces that go through each other, which may hold a body. */
static void warn_crossings(const tl_builder *b, const tl_scene_shape *shape,
                           const tl_scene_crossings *crossings) {
  const tl_object *at = &shape->object;
  if (!b->log || crossings->count == 0)
    return;
  tl_text text = {0};
  tl_text_add(&text, "%s:", b->scene->name);
  if (at->origin == 0)
    tl_text_add(&text, "%u:%u:", at->line, at->column);
  tl_text_add(&text,
              " %s goes through itself: %zu pair%s of triangles, the first %u and %u; `talus shape "
              "info` shows what else is wrong with it",
              shape->mesh.file, crossings->count, crossings->count == 1 ? "" : "s",
              crossings->first[0], crossings->first[1]);
  tl_warn_add_way_out(&text, TL_WARN_SELF_CROSSING);
  if (text.status == TALUS_OK)
    b->log(b->log_context, 1, text.data);
  tl_text_drop(&text);
}

static talus_status add_shape(const tl_builder *b, const tl_scene_shape *shape, talus_shape *made) {
  tl_scene_crossings crossings;
  TL_TRY(tl_scene_add_shape(b->scene, shape, b->world, made, &crossings));
  warn_crossings(b, shape, &crossings);
  return TALUS_OK;
}

talus_status tl_build_shapes(tl_builder *b) {
  const tl_scene_shape *shapes = b->scene->shapes.data;
  for (size_t i = 0; i < b->scene->shapes.count; ++i) {
    talus_shape shape;
    uint32_t first;
    const talus_status status = add_shape(b, &shapes[i], &shape);
    if (status == TALUS_OK)
      TL_TRY(tl_names_add(&b->shapes, shapes[i].name, shape.index, &first));
    else
      TL_TRY(tl_gather_add(&b->mistakes, tl_build_fail_at(b, status, &shapes[i].object, "")));
  }
  return TALUS_OK;
}

bool tl_build_has_shape(const tl_builder *b, const tl_scene_shape_use *use) {
  uint32_t row;
  return !use->name || tl_names_find(&b->shapes, use->name, &row);
}

talus_status tl_build_use_shape(tl_builder *b, const tl_scene_shape_use *use, talus_shape *shape) {
  if (use->name) {
    tl_names_find(&b->shapes, use->name, &shape->index);
    return TALUS_OK;
  }
  tl_text key = {0};
  TL_TRY(tl_scene_write_shape(b->scene, use->own, &key));
  if (tl_names_find(&b->own_shapes, key.data, &shape->index)) {
    tl_text_drop(&key);
    return TALUS_OK;
  }
  talus_status status = add_shape(b, use->own, shape);
  if (status == TALUS_OK)
    status = tl_array_reserve(&b->own_keys, b->own_keys.count + 1);
  char *copy = NULL;
  uint32_t first;
  if (status == TALUS_OK)
    status = tl_string_copy(key.data, key.count, &copy);
  tl_text_drop(&key);
  TL_TRY(status);
  b->own_keys.data[b->own_keys.count++] = copy;
  return tl_names_add(&b->own_shapes, copy, shape->index, &first);
}

talus_status tl_build_use_names(tl_builder *b, const tl_scene_shape_use *shape,
                                const char *material, const char *group, talus_body_def *def) {
  TL_TRY(tl_build_use_shape(b, shape, &def->shape));
  tl_names_find(&b->materials, material, &def->material.index);
  return group ? talus_world_group(b->world, group, &def->group) : TALUS_OK;
}

talus_status tl_build_shapes_only(tl_builder *b) {
  const tl_scene_body *bodies = b->scene->bodies.data;
  const tl_scene_emitter *emitters = b->scene->emit.data;
  talus_shape unused;
  TL_TRY(tl_build_shapes(b));
  for (size_t i = 0; i < b->scene->bodies.count; ++i)
    if (!bodies[i].from && !bodies[i].table)
      TL_TRY(tl_build_gather(
          b,
          tl_build_use_shape(b, bodies[i].fill ? &bodies[i].fill->shape : &bodies[i].shape,
                             &unused),
          &bodies[i].object, "bodies", i, ""));
  for (size_t i = 0; i < b->scene->emit.count; ++i)
    TL_TRY(tl_build_gather(b, tl_build_use_shape(b, &emitters[i].shape, &unused),
                           &emitters[i].object, "emit", i, ""));
  return TALUS_OK;
}
