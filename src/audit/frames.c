/* Compares a frame with the state of the run. */
#include "audit/audit.h"

#include "output/h5.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#if TALUS_HAVE_HDF5

typedef struct frame {
  size_t count;
  uint64_t *uids;
  talus_dvec3 *places;
  talus_quat *turns; /* NULL: the frame has none */
} frame;

static talus_status read_frame(tl_h5_in *in, tl_arena *arena, frame *f) {
  bool has_turns;
  TL_TRY(tl_h5_count(in, "VTKHDF/PointData/id", TL_H5_U64, 1, &f->count));
  TL_TAKE(arena, f->count, &f->uids);
  TL_TAKE(arena, f->count, &f->places);
  TL_TRY(tl_h5_read(in, "VTKHDF/PointData/id", TL_H5_U64, f->count, 1, f->uids));
  TL_TRY(tl_h5_read(in, "VTKHDF/Points", TL_H5_F64, f->count, 3, f->places));
  TL_TRY(tl_h5_has(in, "VTKHDF/PointData/quaternion", &has_turns));
  if (!has_turns)
    return TALUS_OK;
  TL_TAKE(arena, f->count, &f->turns);
  return tl_h5_read(in, "VTKHDF/PointData/quaternion", TL_H5_REAL, f->count, 4, f->turns);
}

static bool is_same_turn(talus_quat a, talus_quat b) {
  return a.w == b.w && a.x == b.x && a.y == b.y && a.z == b.z;
}

static void note_moved(tl_audit *audit, uint64_t number, const char *who, double by) {
  talus_audit_result *result = audit->result;
  if (result->moved++ > 0)
    return;
  result->moved_by = by;
  result->moved_frame = number;
  snprintf(result->moved_body, sizeof result->moved_body, "%s", who);
}

/* Rows of a frame are in the order of the slots. */
static void compare(tl_audit *audit, const frame *f, uint64_t number) {
  const talus_world *world = audit->world;
  const tl_model *model = &world->model;
  const size_t least = f->count < model->bodies ? f->count : model->bodies;
  for (size_t i = 0; i < least; ++i) {
    const talus_dvec3 d = tl_dsub(f->places[i], world->state.position[i]);
    const talus_quat axes = tl_body_shape(model, i)->axes;
    const talus_quat turn = tl_quat_mul(world->state.rotation[i], tl_quat_conj(axes));
    const bool is_there = f->uids[i] == model->property.uid[i];
    const bool is_turned = f->turns && !is_same_turn(f->turns[i], turn);
    if (!is_there || !(tl_dlength(d) == 0) || is_turned)
      note_moved(audit, number, tl_world_describe(world, (uint32_t)i),
                 is_there && !(tl_dlength(d) == 0) ? tl_dlength(d) : -1);
  }
  if (f->count < model->bodies)
    note_moved(audit, number, tl_world_describe(world, (uint32_t)least), -1);
  else if (f->count > model->bodies)
    note_moved(audit, number, "a body that the run did not have", -1);
}

talus_status tl_audit_compare_frame(tl_audit *audit, const char *path, uint64_t number) {
  talus_world *world = audit->world;
  struct stat there;
  if (stat(path, &there) != 0 || !S_ISREG(there.st_mode))
    return TALUS_OK;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  TL_TRY(tl_arena_reset(&world->arena));
  tl_h5_in in;
  frame f = {0};
  TL_TRY(tl_h5_open(&in, path, (uint64_t)there.st_size));
  const talus_status status = read_frame(&in, &world->arena, &f);
  tl_h5_close(&in);
  TL_TRY(status);
  compare(audit, &f, number);
  audit->result->frames++;
  return TALUS_OK;
}

#endif
