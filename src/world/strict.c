/* Events that end a run if the world is strict about them, and cause a warning otherwise. */
#include "world/world.h"

#include <stdarg.h>
#include <stdio.h>

talus_status tl_strict_check(uint32_t strict) {
  if (strict & ~(uint32_t)(TALUS_STRICT_SINKING | TALUS_STRICT_UNCONVERGED))
    return tl_fail(TALUS_ERROR_INVALID, "strict is 0x%x; expected a sum of TALUS_STRICT_...",
                   strict);
  return TALUS_OK;
}

talus_status talus_world_set_strict(talus_world *world, uint32_t strict) {
  TL_MAY_CHANGE(world);
  TL_TRY(tl_strict_check(strict));
  world->strict = strict;
  return TALUS_OK;
}

void tl_world_offend(talus_world *world, uint32_t kind, const char *fmt, ...) {
  char text[sizeof world->offence];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (!(world->strict & kind))
    tl_log_write(&world->model.log, TL_LOG_WARN, "%s", text);
  else if (!world->offence[0])
    memcpy(world->offence, text, sizeof text);
}

talus_status tl_world_end_strictly(talus_world *world) {
  return world->offence[0] ? tl_fail(TALUS_ERROR_STRICT, "%s", world->offence) : TALUS_OK;
}
