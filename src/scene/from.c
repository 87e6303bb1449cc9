#include "scene/from.h"

talus_status tl_from_add_bodies(talus_world *world, const char *folder, const tl_names *materials) {
  tl_text path = {0};
  tl_text_add(&path, "%s/checkpoint.hdf", folder);
  TL_TRY(path.status);
  talus_world *old = NULL;
  talus_status status = talus_world_load(path.data, &old);
  tl_text_drop(&path);
  TL_TRY(status);
  status = tl_world_borrow(world, old, materials);
  talus_world_destroy(old);
  return status;
}
