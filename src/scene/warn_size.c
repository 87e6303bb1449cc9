/* Sizes that look like millimetres: a grain of 5 mm that is written as 5 has a thousand tonnes. One
 * body may be heavy; of many a few tonnes are enough to ask. */
#include "base/power.h"
#include "scene/warn.h"

#include <math.h>

#define PI 3.14159265358979323846

static void keep_heaviest(void *context, const tl_mover *who) {
  tl_mover *most = context;
  if (who->heaviest > tl_warn_heaviest(who->count) && who->heaviest > most->heaviest)
    *most = *who;
}

void tl_warn_size(tl_warner *warner) {
  tl_mover most = {.heaviest = 0};
  tl_warn_movers(warner->checker, keep_heaviest, &most);
  if (!(most.heaviest > 0))
    return;
  const tl_scene_material *materials = warner->checker->scene->materials.data;
  const double volume = most.heaviest / materials[most.material].density;
  tl_warn(warner, TL_WARN_HEAVY_BODY, most.mark,
          "%s has %.2g kg, as much as a ball %.2g m across; sizes are in metres: a body of %.2g mm "
          "is %.2g",
          most.who, most.heaviest, tl_cbrt_d(6 * volume / PI), tl_cbrt_d(6 * volume / PI),
          tl_cbrt_d(6 * volume / PI) / 1000);
}

/* ---- throats --------------------------------------------------------------------------------- */

/* The wall with the narrowest throat, and whoever is widest. */
typedef struct throat {
  double radius; /* m */
  size_t body;   /* row */
  tl_mover widest;
} throat;

static void keep_widest(void *context, const tl_mover *who) {
  throat *t = context;
  if (who->is_sphere && !who->is_scripted && isfinite(who->radius) &&
      who->radius > t->widest.radius)
    t->widest = *who;
}

/* An end on the axis is closed, which is no throat. */
static double throat_of(const tl_scene_shape *shape) {
  const double *rows = shape->revolved.rows.data;
  double least = INFINITY;
  if (tl_object_has(&tl_schema_shape, shape, "tube"))
    return shape->tube.radius;
  if (tl_object_has(&tl_schema_shape, shape, "funnel")) {
    const double low = fmin(shape->funnel.top, shape->funnel.bottom);
    return low > 0 ? low : INFINITY;
  }
  for (size_t i = 0; i < shape->revolved.rows.count; ++i)
    if (rows[2 * i + 1] > 0)
      least = fmin(least, rows[2 * i + 1]);
  return least;
}

void tl_warn_throat(tl_warner *warner) {
  const tl_checker *checker = warner->checker;
  const tl_scene_body *bodies = checker->scene->bodies.data;
  throat t = {.radius = INFINITY};
  for (size_t i = 0; i < checker->scene->bodies.count; ++i) {
    const tl_scene_shape *shape =
        tl_scene_is_one(&bodies[i]) ? tl_check_shape(checker, &bodies[i].shape) : NULL;
    if (!shape || tl_scene_shape_kind(shape) != TALUS_REVOLVED ||
        (tl_object_has(&tl_schema_shape, shape, "sides") && shape->sides != TALUS_SIDES_IN) ||
        !(throat_of(shape) * bodies[i].scale < t.radius))
      continue;
    t.radius = throat_of(shape) * bodies[i].scale, t.body = i;
  }
  if (!isfinite(t.radius))
    return;
  tl_warn_movers(warner->checker, keep_widest, &t);
  if (t.widest.radius > t.radius)
    tl_warn(warner, TL_WARN_NARROW_THROAT, t.widest.mark,
            "%s has balls of radius %g m, wider than the throat of bodies.%zu, which is %g m: they "
            "cannot pass",
            t.widest.who, t.widest.radius, t.body, t.radius);
}
