/* Impacts that are passed on, shared, or narrowly missed, with default settings. */
#include "validation_cases.h"

#define RADIUS 0.1
#define BALLS  5
#define DT     1e-3 /* s */

static void empty_world(val_run *run) {
  talus_world_def def = val_default_def(run, DT);
  def.gravity = val_vec(0, 0, 0);
  val_world_from(run, &def);
}

/* ---- Newton's cradle ------------------------------------------------------------------------- */

/* The first `thrown` balls come at 1 m/s, and all drift along. The same number must leave at the
 * other end: impacts go from ball to ball, as if there were gaps. Returns the largest difference of
 * a velocity from that. */
static double cradle_error(val_run *run, double gap, int thrown, double drift, double *energy) {
  talus_body ball[BALLS];
  empty_world(run);
  const talus_material m = val_material(run, 0, 1);
  const talus_shape sphere = val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0);
  for (int i = 0; i < BALLS; ++i) {
    const double back = i < thrown ? 0.02 : 0; /* thrown balls start far away */
    ball[i] = val_body(run, TALUS_FREE, sphere, m, (2 * RADIUS + gap) * i - back, 0, 0);
    val_set_velocity(run, ball[i], drift + (i < thrown), 0, 0);
  }
  const double before = val_report(run).kinetic_energy;
  val_step(run, val_steps(run, 0.2));
  double worst = 0;
  for (int i = 0; i < BALLS; ++i) {
    const double v = (double)val_info(run, ball[i]).velocity.x - drift;
    worst = fmax(worst, fabs(v - (i >= BALLS - thrown)));
  }
  *energy = val_report(run).kinetic_energy / before;
  return worst;
}

void val_impact_cradle(val_run *run) {
  char quantity[56];
  double energy, worst = 0;
  for (int thrown = 1; thrown <= 2; ++thrown)
    for (int k = 0; k < 3; ++k) {
      const double gap = (const double[]){5e-3, 2e-4, 0}[k];
      const double error = cradle_error(run, gap, thrown, 0, &energy);
      worst = fmax(worst, fabs(energy - 1));
      snprintf(quantity, sizeof quantity, "%d of 5 thrown, gaps of %g mm: worst velocity", thrown,
               1e3 * gap);
      val_near(run, quantity, "m/s", error, 0, 0.01);
    }
  val_near(run, "energy: largest change of these / had", "", worst, 0, 1e-3);
  val_near(run, "1 of 5, gaps of 0 mm, all 3 m/s faster: worst", "m/s",
           cradle_error(run, 0, 1, 3, &energy), 0, 0.01);
}

/* ---- a wedge between two balls --------------------------------------------------------------- */

/* A wedge of mass M and half angle a comes down at V between two balls of mass m that move along x
 * only. Its faces press along n = (cos a, -sin a): with k = 2 (m/M) tan(a)^2 momentum along z and
 * Newton's law of impact give V' = V (1 - e k) / (1 + k), and (V' + e V) tan(a) for the balls. */
static void drive_wedge(val_run *run, double angle, double ratio, double e, double *wedge_speed,
                        double *ball_speed) {
  empty_world(run);
  const talus_material m = val_material(run, 0, e);
  const double high = 0.5, half = high * tan(angle), wide = 0.2, x = 0.5 * half;
  const double points[] = {0,    -wide, 0,    0,     wide,  0,    half,  -wide, high,
                           half, wide,  high, -half, -wide, high, -half, wide,  high};
  talus_shape_def hull = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  hull.kind = TALUS_HULL;
  hull.points = points, hull.point_count = 6;
  if (!run->failed && talus_world_add_shape(run->world, &hull, &body.shape) != TALUS_OK)
    val_fail(run, talus_last_error());
  body.material = m;
  body.mass = 1;
  body.velocity = val_vec(0, 0, -1);
  const talus_body wedge = val_add(run, &body);
  body.shape = val_shape(run, TALUS_SPHERE, RADIUS, 0, 0, 0);
  body.mass = ratio;
  body.velocity = val_vec(0, 0, 0);
  body.lock = TALUS_LOCK_Y | TALUS_LOCK_Z | TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
  talus_body ball[2];
  for (int i = 0; i < 2; ++i) { /* half-way up the face, 1.5 mm from it */
    const double side = i ? 1 : -1, away = RADIUS + 1.5e-3;
    body.position =
        (talus_dvec3){side * (x + away * cos(angle)), 0, 0.5 * high - away * sin(angle)};
    ball[i] = val_add(run, &body);
  }
  val_step(run, 20);
  *wedge_speed = -(double)val_info(run, wedge).velocity.z;
  *ball_speed =
      0.5 * (double)(val_info(run, ball[1]).velocity.x - val_info(run, ball[0]).velocity.x);
}

void val_impact_wedge(val_run *run) {
  char quantity[56];
  for (int k = 0; k < 4; ++k) {
    const double degrees = (const double[]){15, 30, 30, 60}[k];
    const double ratio = (const double[]){1, 1, 100, 0.01}[k], a = degrees * VAL_PI / 180;
    const double share = 2 * ratio * tan(a) * tan(a);
    for (int elastic = 0; elastic < 2; ++elastic) {
      double wedge, ball;
      drive_wedge(run, a, ratio, elastic, &wedge, &ball);
      const double expected = (1 - elastic * share) / (1 + share);
      const double aside = (expected + elastic) * tan(a);
      snprintf(quantity, sizeof quantity, "%g deg, m/M = %g, e = %d: wedge", degrees, ratio,
               elastic);
      val_near(run, quantity, "m/s", wedge, expected, 0.01);
      snprintf(quantity, sizeof quantity, "%g deg, m/M = %g, e = %d: balls", degrees, ratio,
               elastic);
      val_near(run, quantity, "m/s", ball, aside, 0.01 * fmax(1, aside));
    }
  }
}

/* ---- a card on a plate ----------------------------------------------------------------------- */

/* A card of 2 mm over a plate of 4 mm, struck by a ball at 8 m/s within a step in which it would
 * fly four times as far as the card is thick. */
typedef struct card_end {
  double low, high;          /* m: of the card's centre over where it would lie, lowest and last */
  bool is_above, is_beneath; /* the card above the plate; the ball above the card */
} card_end;

static card_end strike_card(val_run *run, double gap, double aside) {
  const double thick = 2e-3, plate = 4e-3, radius = 0.05;
  const talus_world_def def = val_default_def(run, DT);
  val_world_from(run, &def);
  const talus_material m = val_material(run, 0.3, 0);
  val_body(run, TALUS_FIXED, val_shape(run, TALUS_BOX, 1, 1, plate, 0), m, 0, 0, -0.5 * plate);
  const talus_body card = val_body(run, TALUS_FREE, val_shape(run, TALUS_BOX, 0.2, 0.2, thick, 0),
                                   m, 0, 0, 0.5 * thick + gap);
  const talus_body ball = val_body(run, TALUS_FREE, val_shape(run, TALUS_SPHERE, radius, 0, 0, 0),
                                   m, aside, 0, thick + radius + gap + 0.0011);
  val_set_velocity(run, ball, 0, 0, -8);
  card_end end = {.low = INFINITY};
  for (int n = 0; n < 100 && !run->failed; ++n) {
    val_step(run, 1);
    end.high = val_info(run, card).position.z - 0.5 * thick;
    end.low = fmin(end.low, end.high);
  }
  end.is_above = end.high > -0.5 * thick;
  end.is_beneath = val_info(run, ball).position.z > 0.9 * radius;
  return end;
}

void val_impact_card(val_run *run) {
  static const struct {
    const char *name;
    double gap, aside;
  } cards[] = {{"lies", 0, 0},
               {"hovers 0.5 mm", 5e-4, 0},
               {"hovers 3 mm", 3e-3, 0},
               {"lies, struck aside", 0, 0.07},
               {"hovers 3 mm, struck aside", 3e-3, 0.07}};
  char quantity[56];
  for (size_t i = 0; i < sizeof cards / sizeof *cards; ++i) {
    const card_end end = strike_card(run, cards[i].gap, cards[i].aside);
    snprintf(quantity, sizeof quantity, "%s: ends above the plate", cards[i].name);
    val_is(run, quantity, end.is_above && end.is_beneath, true);
    snprintf(quantity, sizeof quantity, "%s: deepest / thickness", cards[i].name);
    val_within(run, quantity, "", -end.low / 2e-3, -10, 0.01);
  }
}

/* ---- past an edge ---------------------------------------------------------------------------- */

/* A ball moves by half a radius a step past the corner at the origin, where an edge, a rim or a
 * surface stays a tenth of the ball's radius away. Returns the largest deflection, degrees, over
 * several directions and phases of the steps. */
static double turned_by(val_run *run, talus_shape_kind kind, double corner, double e) {
  const double r = 0.05, speed = 0.5 * r / DT, spare = 1.1 * r, size = 0.5;
  double worst = 0;
  for (int n = 0; n < 8 * 9; ++n) {
    const double fall = (n / 8) * VAL_PI / 16, c = cos(fall), s = sin(fall); /* below x */
    empty_world(run);
    const talus_material m = val_material(run, 0.5, e);
    talus_body_def body = talus_body_def_default();
    body.kind = TALUS_FIXED;
    body.material = m;
    body.shape = val_shape(run, kind, size, size, size, 0);
    body.rotation = val_turn(0, 0, 1, corner);
    if (kind == TALUS_SPHERE)
      body.position = (talus_dvec3){-s * size, 0, -c * size};
    else
      body.position = (talus_dvec3){-(kind == TALUS_CYLINDER ? 1
                                      : corner != 0          ? sqrt(0.5)
                                                             : 0.5) *
                                        size,
                                    0, -0.5 * size};
    val_add(run, &body);
    const double start = -(6 + n % 8 / 8.0) * 0.5 * r;
    const talus_body ball = val_body(run, TALUS_FREE, val_shape(run, TALUS_SPHERE, r, 0, 0, 0), m,
                                     s * spare + c * start, 0, c * spare - s * start);
    val_set_velocity(run, ball, c * speed, 0, -s * speed);
    val_step(run, 14);
    const talus_vec3 v = val_info(run, ball).velocity;
    const double along = c * (double)v.x - s * (double)v.z;
    const double across = hypot(s * (double)v.x + c * (double)v.z, (double)v.y);
    worst = fmax(worst, atan2(across, along) * 180 / VAL_PI);
  }
  return worst;
}

void val_impact_edge(val_run *run) {
  static const struct {
    const char *name;
    talus_shape_kind kind;
    double corner;
  } edges[] = {{"a box's edge", TALUS_BOX, 0},
               {"a box's corner", TALUS_BOX, VAL_PI / 4},
               {"a cylinder's rim", TALUS_CYLINDER, 0},
               {"a ball", TALUS_SPHERE, 0}};
  char quantity[56];
  for (size_t i = 0; i < sizeof edges / sizeof *edges; ++i)
    for (int e = 0; e < 2; ++e) {
      snprintf(quantity, sizeof quantity, "%s, e = %d: turned by", edges[i].name, e);
      val_near(run, quantity, "deg", turned_by(run, edges[i].kind, edges[i].corner, e), 0,
               VAL_BY_PRECISION(1e-9, 1e-3));
    }
}
