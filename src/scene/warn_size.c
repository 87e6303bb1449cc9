/* Sizes that look like millimetres: a grain of 5 mm that is written as 5 has a thousand tonnes. */
#include "base/power.h"
#include "scene/warn.h"

#include <math.h>

#define PI 3.14159265358979323846

#define HEAVIEST                                                                                   \
  1e6 /* kg: above, hardly anything that moves in one piece, but ships and asteroids */

static void keep_heaviest(void *context, const tl_mover *who) {
  tl_mover *most = context;
  if (who->heaviest > most->heaviest)
    *most = *who;
}

void tl_warn_size(tl_warner *warner) {
  tl_mover most = {.heaviest = HEAVIEST};
  tl_warn_movers(warner->checker, keep_heaviest, &most);
  if (!(most.heaviest > HEAVIEST))
    return;
  const tl_scene_material *materials = warner->checker->scene->materials.data;
  const double volume = most.heaviest / materials[most.material].density;
  tl_warn(warner, TL_WARN_HEAVY_BODY, most.mark,
          "%s has %.2g kg, as much as a ball %.2g m across; sizes are in metres: a body of %.2g mm "
          "is %.2g",
          most.who, most.heaviest, tl_cbrt_d(6 * volume / PI), tl_cbrt_d(6 * volume / PI),
          tl_cbrt_d(6 * volume / PI) / 1000);
}
