#include "scene/files.h"

void tl_scene_add_path(tl_text *path, const talus_scene *scene, const char *file) {
  if (file[0] != '/')
    tl_text_add(path, "%s/", scene->folder);
  tl_text_add(path, "%s", file);
}

talus_status tl_scene_told_path(talus_status status) {
  if (status != TALUS_ERROR_IO)
    return status;
  return tl_fail(status, "%s; paths in a scene begin at the scene's folder", tl_last_message());
}

static talus_status add(const talus_scene *scene, const char *file, tl_scene_files *files) {
  tl_text text = {0};
  char *path = NULL;
  if (!file)
    return TALUS_OK;
  tl_scene_add_path(&text, scene, file);
  TL_TRY(tl_text_take(&text, &path));
  talus_status status = TALUS_OK;
  for (size_t i = 0; i < files->count; ++i)
    if (strcmp(files->data[i].path, path) == 0)
      goto known;
  status = tl_array_push(files, ((tl_scene_file){.path = path}));
  if (status == TALUS_OK)
    return TALUS_OK;
known:
  tl_string_free(&path);
  return status;
}

static talus_status add_table(const talus_scene *scene, const char *file, tl_scene_files *files) {
  const size_t before = files->count;
  TL_TRY(add(scene, file, files));
  if (files->count > before)
    files->data[before].is_table = true;
  return TALUS_OK;
}

static talus_status add_shape(const talus_scene *scene, const tl_scene_shape *shape,
                              tl_scene_files *files) {
  TL_TRY(add(scene, shape->hull.file, files));
  return add(scene, shape->mesh.file, files);
}

static talus_status add_use(const talus_scene *scene, const tl_scene_shape_use *use,
                            tl_scene_files *files) {
  return use->own ? add_shape(scene, use->own, files) : TALUS_OK;
}

static talus_status add_motions(const talus_scene *scene, const tl_items *motions,
                                tl_scene_files *files) {
  const tl_scene_motion *all = motions->data;
  for (size_t i = 0; i < motions->count; ++i)
    TL_TRY(add(scene, all[i].table, files));
  return TALUS_OK;
}

static talus_status add_changes(const talus_scene *scene, const tl_scene_from *from,
                                tl_scene_files *files) {
  const tl_scene_choice *changes = from->change.data;
  for (size_t i = 0; i < from->change.count; ++i)
    TL_TRY(add_motions(scene, &changes[i].motion, files));
  return TALUS_OK;
}

talus_status tl_scene_list_files(const talus_scene *scene, tl_scene_files *files) {
  const tl_scene_shape *shapes = scene->shapes.data;
  const tl_scene_body *bodies = scene->bodies.data;
  const tl_scene_emitter *emitters = scene->emit.data;
  for (size_t i = 0; i < scene->shapes.count; ++i)
    TL_TRY(add_shape(scene, &shapes[i], files));
  for (size_t i = 0; i < scene->bodies.count; ++i) {
    TL_TRY(add_use(scene, bodies[i].fill ? &bodies[i].fill->shape : &bodies[i].shape, files));
    if (bodies[i].table)
      TL_TRY(add_table(scene, bodies[i].table->table, files));
    if (bodies[i].from)
      TL_TRY(add_changes(scene, bodies[i].from, files));
    TL_TRY(add_motions(scene, &bodies[i].motion, files));
    TL_TRY(add(scene, bodies[i].force.table, files));
    TL_TRY(add(scene, bodies[i].torque.table, files));
    if (bodies[i].press)
      TL_TRY(add(scene, bodies[i].press->force.table, files));
    if (bodies[i].press)
      TL_TRY(add(scene, bodies[i].press->pressure.table, files));
  }
  const tl_scene_joint *joints = scene->joints.data;
  for (size_t i = 0; i < scene->joints.count; ++i) {
    const tl_scene_motor *motor = joints[i].motor;
    if (!motor)
      continue;
    TL_TRY(add(scene, motor->speed.table, files));
    TL_TRY(add(scene, motor->force.table, files));
    TL_TRY(add(scene, motor->torque.table, files));
  }
  for (size_t i = 0; i < scene->emit.count; ++i)
    TL_TRY(add_use(scene, &emitters[i].shape, files));
  return TALUS_OK;
}
