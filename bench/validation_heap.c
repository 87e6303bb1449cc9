/* Heaps: angles of repose, collapsing columns, rotating drums, penetrating balls. */
#include <stdlib.h>

#include "validation_grains.h"

/* Slopes of glass beads, degrees: flow stops at the first, and is not steady beyond the second
 * (Jop, Forterre and Pouliquen 2006). */
#define GLASS_STOPS  20.9
#define GLASS_STEADY 32.8

/* ---- angle of repose ------------------------------------------------------------------------- */

/* A slot, periodic across, with a floor of glued grains, a wall on the left and a door on the right
 * where the floor ends. The door goes; what is left is a slope from the edge up to the wall. */
val_slot val_slot_settle(val_run *run, double mu) {
  talus_world_def def = val_crowd_def(run, val_dt(run, 1e-3), 30);
  def.domain.enabled = true;
  def.domain.box = (talus_box){{-1, -0.5 * SLOT_DEPTH, -1}, {2, 0.5 * SLOT_DEPTH, 3}};
  def.domain.periodic[1] = true;
  def.domain.outside = TALUS_OUTSIDE_REMOVE;
  val_world_from(run, &def);
  talus_body_def grain = val_grain(run, mu);
  const talus_material m = grain.material;
  val_slot slot = {.walls = 2};
  val_body(run, TALUS_FIXED, val_shape(run, TALUS_PLANE, 1, 0, 0, 0), m, 0, 0, 0);
  slot.door =
      val_body(run, TALUS_FIXED, val_shape(run, TALUS_PLANE, -1, 0, 0, -SLOT_LENGTH), m, 0, 0, 0);
  const int along = (int)(SLOT_LENGTH / GRAIN), across = (int)lround(SLOT_DEPTH / GRAIN);
  for (int i = 0; i < along; ++i)
    for (int k = 0; k < across; ++k, ++slot.glued)
      val_body(run, TALUS_FIXED, grain.shape, m, (i + 0.5) * GRAIN,
               (k + 0.5) * GRAIN - 0.5 * SLOT_DEPTH,
               -GRAIN_RADIUS * (1 + 0.5 * ((7 * i + 3 * k) % 5) / 4));
  const double high = 0.16, count = 0.58 * SLOT_LENGTH * SLOT_DEPTH * high / GRAIN_VOLUME;
  val_fill(run, &grain, count,
           (talus_box){{0, -0.5 * SLOT_DEPTH, 0}, {SLOT_LENGTH, 0.5 * SLOT_DEPTH, 2 * high}});
  val_step(run, val_steps(run, val_seconds(run, 0.6)));
  return slot;
}

double val_slot_angle(const val_grains *grains) {
  return -val_slope(grains, 0.1 * SLOT_LENGTH, 0.9 * SLOT_LENGTH, 1.5 * GRAIN);
}

double val_slot_release(val_run *run, const val_slot *slot, double seconds) {
  val_remove(run, slot->door);
  val_step(run, val_steps(run, val_seconds(run, seconds)));
  val_grains grains = val_grains_read(run, slot->walls - 1 + slot->glued);
  const double angle = val_slot_angle(&grains);
  val_grains_free(&grains);
  return angle;
}

void val_repose(val_run *run) {
  enum { POINTS = 3 };
  const double mu[POINTS] = {0.1, 0.25, 0.5};
  double angle[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    const val_slot slot = val_slot_settle(run, mu[i]);
    angle[i] = val_slot_release(run, &slot, 1.2); /* the slope is at rest after 1 */
  }
  /* Not without friction: a thick heap has an angle then, too (Peyneau and Roux 2008), but here few
   * layers are left, and thin layers stop earlier (Pouliquen 1999): no number to compare. */
  for (int i = 1; i < POINTS; ++i) {
    char quantity[56];
    snprintf(quantity, sizeof quantity, "mu = %g: more than at %g by", mu[i], mu[i - 1]);
    val_within(run, quantity, "deg", angle[i] - angle[i - 1], 0, 20);
  }
  val_near(run, "mu = 0.5", "deg", angle[POINTS - 1], GLASS_STOPS, 4);
  val_curve(run, "repose", "Angle of repose of spheres", "friction", "angle [degrees]",
            val_model_name(run->model), mu, angle, POINTS);
}

/* ---- column collapse ------------------------------------------------------------------------- */

/* Radius of a heap around the z axis: where its lowest layer, in rings one grain wide, covers no
 * longer a third of the ground; single grains roll on. Between middles of rings it is a line. */
static double front(const val_grains *grains) {
  enum { RINGS = 200 };
  double covered[RINGS] = {0}, edge = NAN;
  const double third = 1.0 / 3;
  for (size_t i = 0; i < grains->count; ++i) {
    const double r = hypot(grains->x[3 * i], grains->x[3 * i + 1]);
    const int ring = r < RINGS * GRAIN ? (int)(r / GRAIN) : RINGS - 1;
    if (grains->x[3 * i + 2] < GRAIN)
      covered[ring] += grains->radius[i] * grains->radius[i] / (GRAIN * GRAIN * (2 * ring + 1));
  }
  for (int k = 0; k + 2 < RINGS; ++k)
    if (covered[k] > third && covered[k + 1] <= third)
      edge = (k + 0.5 + (covered[k] - third) / (covered[k] - covered[k + 1])) * GRAIN;
  return edge;
}

static double lube(double a) { return a < 1.7 ? 1.24 * a : 1.6 * sqrt(a); }

/* Run-out (r_end - r0) / r0 of a round column about a times as high as its radius, so many grains;
 * over the law at the height that it had when its walls went. */
static double run_out(val_run *run, double a, double grains_wide) {
  const double r0 = grains_wide * GRAIN, high = 1.2 * a * r0;
  const double count = 0.58 * VAL_PI * r0 * r0 * a * r0 / GRAIN_VOLUME;
  const double settle = val_seconds(run, 0.35 + 0.4 * sqrt(high));
  const talus_world_def def = val_crowd_def(run, val_dt(run, 1e-3), 40);
  val_world_from(run, &def);
  talus_body_def grain = val_grain(run, 0.5);
  talus_material_def kind = talus_material_def_default();
  talus_material wall = {0}, ground = {0};
  /* Rough ground, as a bed of such grains would be: what rolls is held in a dimple of 20 degrees.
   */
  const talus_material_law rough = {
      .friction = 0.5, .static_friction = 0.5, .restitution = 0.1, .rolling = 0.4 * GRAIN_RADIUS};
  kind.stiffness = val_crowd_stiffness(run);
  bool good = !run->failed && talus_world_add_material(run->world, &kind, &ground) == TALUS_OK;
  kind.friction = 0; /* walls without friction carry no grain along */
  good = good && talus_world_add_material(run->world, &kind, &wall) == TALUS_OK &&
         talus_world_set_material_law(run->world, ground, grain.material, &rough) == TALUS_OK;
  if (!good)
    val_fail(run, talus_last_error());
  val_floor(run, ground);
  enum { STAVES = 20 };
  const talus_motion rise = {.velocity = {0, 0, 4}, .from_time = settle};
  /* twice as long as the loose column and half below the ground, where nothing is in its way */
  const double length = 6 * high + 0.2;
  val_ring(run, wall, STAVES, r0, length, 0.5 * length - 0.02, false, &rise);
  const double inner = r0 / sqrt(2.0),
               loose = count * GRAIN_VOLUME / (GRAINS_LOOSELY * 4 * inner * inner);
  val_fill(run, &grain, count, (talus_box){{-inner, -inner, 0}, {inner, inner, loose}});
  val_step(run, val_steps(run, settle));
  val_grains grains = val_grains_read(run, 1 + STAVES);
  double top = 0;
  for (size_t i = 0; i < grains.count; ++i)
    top += 2 * grains.x[3 * i + 2] / (double)grains.count; /* of an even column: twice the mean */
  val_grains_free(&grains);
  /* spreading takes about 3 sqrt(h / g) (Lube et al. 2004); then the last grains roll to rest */
  val_step(run, val_steps(run, val_seconds(run, 5 * sqrt(top / VAL_G))));
  grains = val_grains_read(run, 1 + STAVES);
  const double edge = front(&grains);
  val_grains_free(&grains);
  return (edge - r0) / r0 / lube(top / r0);
}

/* Of few grains a column runs less far: its front is a grain thick, and stops where a thinner one
 * would go on (Warnett et al. 2014 measure that r0 / d matters). What is lost is a few grains
 * whatever the size (run-out over law at a = 1: 0.58, 0.70, about 0.8 for r0 = 6, 10, 14 d): two
 * sizes, and a line in d / r0 to 0. */
void val_column(val_run *run) {
  enum { COLUMNS = 2, SIZES = 2 };
  const double wanted[COLUMNS] = {1, 2.5}, wide[SIZES] = {6, 10}; /* grains in r0 */
  double got[SIZES][COLUMNS], limit[COLUMNS], law[COLUMNS];
  for (int i = 0; i < COLUMNS; ++i) {
    char quantity[56];
    for (int k = 0; k < SIZES; ++k)
      got[k][i] = run_out(run, wanted[i], wide[k]);
    limit[i] = (wide[1] * got[1][i] - wide[0] * got[0][i]) / (wide[1] - wide[0]);
    snprintf(quantity, sizeof quantity, "run-out / law, a about %g, d / r0 to 0", wanted[i]);
    val_near(run, quantity, "", limit[i], 1, 0.2);
    law[i] = lube(wanted[i]);
    limit[i] *= law[i];
    for (int k = 0; k < SIZES; ++k)
      got[k][i] *= law[i];
  }
  const char *title = "Collapse of a round column";
  val_curve(run, "column-collapse", title, "height / radius", "run-out / radius",
            "Lube et al. 2004", wanted, law, COLUMNS);
  const double *curves[SIZES + 1] = {got[0], got[1], limit};
  for (int k = run->model == VAL_CCP ? 0 : SIZES; k <= SIZES; ++k) {
    char series[40];
    snprintf(series, sizeof series, "%s, %s", val_model_name(run->model),
             (const char *[]){"r0 = 6 d", "r0 = 10 d", "d / r0 to 0"}[k]);
    val_curve(run, "column-collapse", title, "", "", series, wanted, curves[k], COLUMNS);
  }
}

/* ---- drum ------------------------------------------------------------------------------------ */

/* Angle of the free surface in a half-full drum that turns slowly: that of its centre of mass,
 * which is on the normal through the middle of a flat surface. */
static double drum_angle(val_run *run, double mu) {
  const double r = 0.12, length = 0.08, speed = 0.6; /* Froude number w^2 r / g = 0.004 */
  const double count = 0.57 * 0.5 * VAL_PI * r * r * length / GRAIN_VOLUME;
  const double settle = val_seconds(run, 0.5);
  const talus_world_def def = val_crowd_def(run, val_dt(run, 1e-3), 30);
  val_world_from(run, &def);
  talus_body_def grain = val_grain(run, mu);
  talus_material_def kind = talus_material_def_default();
  talus_material rough = {0}, slick = {0};
  const talus_material_law grip = {.friction = 0.9, .static_friction = 0.9, .restitution = 0.1};
  kind.stiffness = val_crowd_stiffness(run);
  bool good = !run->failed && talus_world_add_material(run->world, &kind, &rough) == TALUS_OK;
  kind.friction = 0;
  good = good && talus_world_add_material(run->world, &kind, &slick) == TALUS_OK &&
         talus_world_set_material_law(run->world, rough, grain.material, &grip) == TALUS_OK;
  if (!good)
    val_fail(run, talus_last_error());
  enum { STAVES = 24 };
  const talus_motion turn = {.spin = {0, (talus_real)speed, 0},
                             .is_through = true,
                             .through = {0, 0, 0},
                             .from_time = settle};
  val_ring(run, rough, STAVES, r, length + 4 * GRAIN, 0, true, &turn);
  val_board(run, slick, 3 * r, 2 * GRAIN, 3 * r, 0, -0.5 * length - GRAIN, 0);
  val_board(run, slick, 3 * r, 2 * GRAIN, 3 * r, 0, 0.5 * length + GRAIN, 0);
  val_fill_region(
      run, &grain, count,
      &(talus_region){
          .kind = TALUS_REGION_CYLINDER, .axis = {0, 1, 0}, .radius = r, .length = length});
  val_step(run, val_steps(run, settle + val_seconds(run, 1.5)));
  double sum = 0; /* turning about +y carries the lowest grains to -x */
  const int samples = 20;
  for (int i = 0; i < samples && !run->failed; ++i) {
    val_step(run, val_steps(run, val_seconds(run, 0.1)));
    val_grains grains = val_grains_read(run, STAVES + 2);
    double x = 0, z = 0;
    for (size_t k = 0; k < grains.count; ++k)
      x += grains.x[3 * k], z += grains.x[3 * k + 2];
    sum += atan2(-x, -z) * 180 / VAL_PI / samples;
    val_grains_free(&grains);
  }
  return sum;
}

void val_drum(val_run *run) {
  enum { POINTS = 3 };
  const double mu[POINTS] = {0.05, 0.2, 0.5};
  double angle[POINTS];
  for (int i = 0; i < POINTS; ++i)
    angle[i] = drum_angle(run, mu[i]);
  val_within(run, "mu = 0.2: more than at 0.05 by", "deg", angle[1] - angle[0], 0, 20);
  val_within(run, "mu = 0.5: more than at 0.2 by", "deg", angle[2] - angle[1], 0, 20);
  val_within(run, "mu = 0.5", "deg", angle[2], GLASS_STOPS, GLASS_STEADY);
  val_curve(run, "drum", "Surface in a drum that turns slowly", "friction", "angle [degrees]",
            val_model_name(run->model), mu, angle, POINTS);
}

/* ---- a ball sinks in ------------------------------------------------------------------------- */

#define BED  0.2
#define BALL 0.02 /* m, radius */

static talus_body_def make_bed(val_run *run) {
  const talus_world_def def = val_crowd_def(run, val_dt(run, 5e-4), 40);
  val_world_from(run, &def);
  const talus_body_def grain = val_grain(run, 0.5);
  talus_shape_def shape = talus_shape_def_default();
  talus_body_def box = talus_body_def_default();
  shape.kind = TALUS_CONTAINER;
  shape.size[0] = shape.size[1] = BED, shape.size[2] = 3;
  shape.open = TALUS_SIDE_TOP;
  box.kind = TALUS_FIXED;
  box.material = grain.material;
  box.position.z = 1.5;
  if (!run->failed && talus_world_add_shape(run->world, &shape, &box.shape) != TALUS_OK)
    val_fail(run, talus_last_error());
  val_add(run, &box);
  return grain;
}

void val_penetration(val_run *run) {
  enum { DROPS = 4 };
  const double drop[DROPS] = {0.05, 0.15, 0.4, 1};
  double fallen[DROPS], depth[DROPS], x[DROPS], y[DROPS], law[DROPS];
  const double count = 0.58 * BED * BED * 0.11 / GRAIN_VOLUME;
  talus_body_def grain = make_bed(run);
  val_fill(run, &grain, count,
           (talus_box){{-0.5 * BED, -0.5 * BED, 0}, {0.5 * BED, 0.5 * BED, 0.22}});
  val_step(run, val_steps(run, val_seconds(run, 0.6)));
  val_grains settled = val_grains_read(run, 1);
  double surface = 0;
  for (size_t i = 0; i < settled.count; ++i)
    surface += 2 * settled.x[3 * i + 2] / (double)settled.count;
  for (int i = 0; i < DROPS; ++i) {
    grain = make_bed(run);
    val_grains_add(run, &settled, &grain);
    talus_body_def ball = talus_body_def_default();
    ball.material = grain.material;
    ball.shape = val_shape(run, TALUS_SPHERE, BALL, 0, 0, 0);
    /* It starts just above the grains with the speed that the fall would give it. */
    ball.position.z = surface + GRAIN + BALL;
    ball.velocity = val_vec(0, 0, -sqrt(2 * VAL_G * drop[i]));
    const talus_body made = val_add(run, &ball);
    val_step(run, val_steps(run, val_seconds(run, 0.4)));
    depth[i] = surface - (val_info(run, made).position.z - BALL);
    fallen[i] =
        drop[i] + GRAIN + depth[i]; /* it starts one grain above the others, with this speed */
    x[i] = log(fallen[i]), y[i] = log(depth[i]);
  }
  val_grains_free(&settled);
  double exponent, offset;
  val_line(x, y, DROPS, &exponent, &offset);
  double factor = 0;
  for (int i = 0; i < DROPS; ++i)
    factor += depth[i] / cbrt(fallen[i]) / DROPS;
  for (int i = 0; i < DROPS; ++i)
    law[i] = factor * cbrt(fallen[i]);
  val_near(run, "exponent of the height of the fall", "", exponent, 1.0 / 3, 0.08);
  const char *title = "A ball falls into grains";
  val_curve(run, "penetration", title, "height of the fall [m]", "depth [m]", "H^1/3, fitted",
            fallen, law, DROPS);
  val_curve(run, "penetration", title, "", "", val_model_name(run->model), fallen, depth, DROPS);
}
