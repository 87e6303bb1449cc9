/* Keys that are given and do nothing, because the kind or the method they belong to was not chosen:
 * `only` of the schema says whose they are. */
#include "scene/warn.h"

/* "kind is ccp, by default" */
static void add_choice(tl_text *text, const tl_map *map, const tl_only *only,
                       const tl_object *object) {
  const int i = tl_map_find(map, only->key);
  const tl_key *key = &map->keys[i];
  const bool is_given = (object->given & UINT32_C(1) << i) != 0;
  tl_text_add(text, "%s is %s%s", key->name,
              tl_word_of(key->words, *(const int *)tl_member(key, object)),
              is_given ? "" : ", by default");
}

static void warn_idle(tl_warner *w, const tl_key *part, const tl_key *key, const tl_only *only,
                      const tl_object *object) {
  tl_text belongs = {0}, choice = {0};
  tl_expect_only(&belongs, key, true);
  add_choice(&choice, part->map, only, object);
  const tl_node_id node = tl_check_value(w->checker, w->checker->root, part->name);
  if (belongs.status == TALUS_OK && choice.status == TALUS_OK)
    tl_warn(w, TL_WARN_IDLE_KEY, tl_check_mark(w->checker, node, key->name),
            "%s.%s does nothing here: it is for %s, and %s.%s", part->name, key->name, belongs.data,
            part->name, choice.data);
  tl_text_drop(&belongs);
  tl_text_drop(&choice);
}

/* Methods that go by surrogate triangles, where nothing has any. */
static void warn_of_surrogates(tl_warner *w) {
  const talus_scene *scene = w->checker->scene;
  if (scene->step.kind != TALUS_STEP_IMPLICIT ||
      (scene->step.method != TALUS_IMPLICIT_SURROGATE_PICARD &&
       scene->step.method != TALUS_IMPLICIT_MULTIRES_PICARD))
    return;
  const tl_scene_shape *shapes = scene->shapes.data;
  for (size_t i = 0; i < scene->shapes.count; ++i)
    if (tl_scene_shape_kind(&shapes[i]) == TALUS_MESH)
      return;
  const tl_scene_emitter *emitters = scene->emit.data;
  for (size_t i = 0; i < scene->emit.count; ++i) {
    const tl_scene_shape *shape = tl_check_shape(w->checker, &emitters[i].shape);
    if (shape && tl_scene_shape_kind(shape) == TALUS_MESH)
      return;
  }
  const tl_scene_body *bodies = scene->bodies.data;
  for (size_t i = 0; i < scene->bodies.count; ++i) {
    if (bodies[i].from) /* its meshes are in the other run */
      return;
    const tl_scene_fill *fill = bodies[i].fill;
    const tl_scene_shape *shape =
        tl_check_shape(w->checker, fill ? &fill->shape : &bodies[i].shape);
    if (shape && tl_scene_shape_kind(shape) == TALUS_MESH)
      return;
  }
  const tl_node_id step = tl_check_value(w->checker, w->checker->root, "step");
  tl_warn(w, TL_WARN_IDLE_KEY, tl_check_mark(w->checker, step, "method"),
          "step.method goes by surrogate triangles of meshes, and there is no mesh: it is picard");
}

void tl_warn_keys(tl_warner *warner) {
  for (const tl_key *part = tl_schema_scene.keys; part->name; ++part) {
    if (part->type != TL_TYPE_MAP)
      continue;
    const tl_object *object = tl_member(part, warner->checker->scene);
    for (int i = 0; part->map->keys[i].name; ++i) {
      const tl_key *key = &part->map->keys[i];
      const tl_only *only = tl_object_idle(part->map, key, object);
      if (only && (object->given & UINT32_C(1) << i))
        warn_idle(warner, part, key, only, object);
    }
  }
  warn_of_surrogates(warner);
}
