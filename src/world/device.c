/* Steps on a device: which worlds, and what is told of it. */
#include "backend/device.h"
#include "step/device/device_step.h"
#include "world/world.h"

static tl_open_device *opener_of(talus_backend backend) {
  return backend == TALUS_BACKEND_CUDA ? tl_device_open_cuda : tl_device_open_check;
}

/* A device is opened, and closed again: that it works is told at once, not in the first step. */
static talus_status try_device(talus_backend backend) {
  tl_device *device;
  TL_TRY(opener_of(backend)(&device));
  device->calls->close(device);
  return TALUS_OK;
}

talus_status talus_world_set_backend(talus_world *world, talus_backend backend, bool no_fallback) {
  TL_MAY_CHANGE(world);
  if (!talus_backend_name(backend))
    return tl_fail(TALUS_ERROR_INVALID, "backend is %d; expected a TALUS_BACKEND_...",
                   (int)backend);
  TL_TRY(tl_world_not_mapped(world, "set_backend"));
  TL_TRY(tl_world_finish_step(world));
  if (backend != TALUS_BACKEND_CPU && backend != world->steps_on)
    TL_TRY(try_device(backend));
  if (backend != world->steps_on) {
    TL_TRY(tl_let_go(&world->where));
    tl_residency_free(&world->where);
    world->device_use = (talus_device_use){0};
  }
  world->steps_on = backend;
  world->no_fallback = no_fallback;
  world->fallback = NULL;
  return TALUS_OK;
}

static const char *find_obstacle(const talus_world *world) {
  if (world->watch)
    return "audits";
  if (tl_world_has_acting_zones(world))
    return "zones that push or reflect";
  return tl_device_step_obstacle(&world->model, world->joints.all.count > 0);
}

void talus_world_device_use(const talus_world *world, talus_device_use *use) {
  if (!world || !use)
    return;
  const tl_device *device = tl_device_of(&world->where);
  *use = world->device_use;
  use->fallback = world->fallback;
  if (world->steps_on != TALUS_BACKEND_CPU && !use->fallback && use->steps == 0)
    use->fallback = find_obstacle(world); /* nobody has asked yet */
  if (!device)
    return;
  use->device = device->title;
  use->moved_bytes = device->count.uploaded + device->count.downloaded;
  use->device_bytes = device->count.peak;
}

talus_status tl_world_find_place(talus_world *world, bool *on_device) {
  *on_device = false;
  if (world->steps_on == TALUS_BACKEND_CPU)
    return TALUS_OK;
  const char *obstacle = find_obstacle(world);
  const bool is_news = obstacle && obstacle != world->fallback;
  world->fallback = obstacle;
  *on_device = !obstacle;
  if (obstacle && world->no_fallback)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "the backend %s does not know %s, and to fall back on the CPU was not allowed",
                   talus_backend_name(world->steps_on), obstacle);
  if (is_news)
    tl_log_write(
        &world->model.log, TL_LOG_WARN,
        "backend: %s does not know %s in this version; the CPU takes the steps (told once)",
        talus_backend_name(world->steps_on), obstacle);
  return TALUS_OK;
}

talus_status tl_world_step_on_device(talus_world *world, const tl_crowd *crowd) {
  talus_device_use *use = &world->device_use;
  TL_TRY(tl_device_step(opener_of(world->steps_on), crowd, &world->contacts, &world->last));
  use->steps++;
  use->sent += world->last.sent_bytes > 0;
  if (world->last.moved_bytes > use->step_bytes)
    use->step_bytes = world->last.moved_bytes;
  return TALUS_OK;
}
