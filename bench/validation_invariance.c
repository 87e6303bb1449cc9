/* The same scene as seen by other observers: moved, rotated, mirrored, in other units, with bodies
 * in another order. The final positions of all bodies are compared, in the observer's coordinates,
 * with default settings. */
#include "validation_cases.h"

#define BODIES 24

/* An observer's description of the scene. */
typedef struct view {
  double drift;   /* m/s, along (1, 2, -1): the observer's own motion */
  double turn[4]; /* axis and angle */
  bool mirrored;  /* x to -x */
  double length;  /* units: lengths times this, times and speeds by its root, so that g is g */
  double density; /* times this */
  bool backwards; /* bodies added in the other order */
} view;

typedef struct picture {
  double x[BODIES][3]; /* in the coordinates of the first observer */
} picture;

static const view plain = {.turn = {0, 0, 1, 0}, .length = 1, .density = 1};

static void cross(const double a[3], const double b[3], double c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Rodrigues: by `sign` times the angle. */
static void turn(const view *v, double sign, double x[3]) {
  const double *k = v->turn, c = cos(v->turn[3]), s = sign * sin(v->turn[3]);
  double kx[3];
  cross(k, x, kx);
  const double along = k[0] * x[0] + k[1] * x[1] + k[2] * x[2];
  for (int i = 0; i < 3; ++i)
    x[i] = c * x[i] + s * kx[i] + (1 - c) * along * k[i];
}

/* A vector in this observer's coordinates; `unit` is that of its length. An axial vector (spin)
 * gets the opposite sign when mirrored. */
static talus_dvec3 told(const view *v, double x, double y, double z, double unit, bool is_axial) {
  double a[3] = {x, y, z};
  if (v->mirrored)
    a[0] *= is_axial ? 1 : -1, a[1] *= is_axial ? -1 : 1, a[2] *= is_axial ? -1 : 1;
  turn(v, 1, a);
  return (talus_dvec3){unit * a[0], unit * a[1], unit * a[2]};
}

static talus_vec3 told_vec(const view *v, double x, double y, double z, double unit,
                           bool is_axial) {
  const talus_dvec3 a = told(v, x, y, z, unit, is_axial);
  return val_vec(a.x, a.y, a.z);
}

/* Balls and boxes of three sizes. In free space they fly together; otherwise they fall on a floor
 * that moves with the observer. */
static void build(val_run *run, const view *v, bool falls, bool boxes, double dt, double e,
                  talus_body body[BODIES]) {
  const double s = v->length, root = sqrt(s), c = sqrt(1.0 / 6);
  talus_world_def def = val_default_def(run, dt * root);
  def.gravity = told_vec(v, 0, 0, falls ? -VAL_G : 0, 1, false);
  val_world_from(run, &def);
  talus_material_def kind = talus_material_def_default();
  talus_body_def one = talus_body_def_default();
  kind.density = 1000 * v->density, kind.friction = 0.5, kind.restitution = e;
  if (!run->failed && talus_world_add_material(run->world, &kind, &one.material) != TALUS_OK)
    val_fail(run, talus_last_error());
  const talus_vec3 drift = told_vec(v, c * v->drift, 2 * c * v->drift, -c * v->drift, root, false);
  if (falls) {
    const talus_dvec3 n = told(v, 0, 0, 1, 1, false);
    talus_body_def floor = one;
    floor.kind = TALUS_KINEMATIC;
    floor.shape = val_shape(run, TALUS_PLANE, n.x, n.y, n.z, 0);
    floor.motion.velocity = drift;
    val_add(run, &floor);
  }
  talus_shape ball = val_shape(run, TALUS_SPHERE, 0.1 * s, 0, 0, 0);
  talus_shape box = val_shape(run, TALUS_BOX, 0.2 * s, 0.16 * s, 0.12 * s, 0);
  for (int n = 0; n < BODIES; ++n) {
    const int i = v->backwards ? BODIES - 1 - n : n, x = i % 3 - 1, y = i / 3 % 2, z = i / 6;
    /* Different gaps, so that no two impacts happen at the same time. */
    const double jx = 0.013 * ((7 * i) % 5), jy = 0.011 * ((3 * i) % 7), jz = 0.009 * ((5 * i) % 6);
    one.shape = boxes && i % 3 == 1 ? box : ball;
    one.scale = 1 + 0.2 * (i % 4);
    one.position = told(v, 0.45 * x + jx, 0.45 * y + jy, 0.3 + 0.45 * z + jz, s, false);
    const double pull = falls ? -0.2 : -0.7;
    const talus_vec3 own = told_vec(v, pull * x + jy, pull * (y - 0.5) + jz,
                                    falls ? -1 : pull * (z - 1.5) + jx, root, false);
    one.velocity =
        val_vec((double)(own.x + drift.x), (double)(own.y + drift.y), (double)(own.z + drift.z));
    one.spin = told_vec(v, (11 * i) % 5 - 2, (13 * i) % 5 - 2, (17 * i) % 5 - 2, 1 / root, true);
    one.rotation = val_turn(v->turn[0], v->turn[1], v->turn[2], v->turn[3]);
    body[i] = val_add(run, &one);
  }
}

static picture seen(val_run *run, const view *v, bool falls, bool boxes, double seconds) {
  const double dt = 1e-3, c = sqrt(1.0 / 6);
  talus_body body[BODIES];
  picture p = {0};
  build(run, v, falls, boxes, dt, 0.5, body);
  val_step(run, lround(seconds / dt));
  for (int i = 0; i < BODIES; ++i) {
    const talus_dvec3 at = val_info(run, body[i]).position;
    double x[3] = {at.x / v->length, at.y / v->length, at.z / v->length};
    turn(v, -1, x);
    if (v->mirrored)
      x[0] = -x[0];
    const double moved = c * v->drift * seconds;
    p.x[i][0] = x[0] - moved, p.x[i][1] = x[1] - 2 * moved, p.x[i][2] = x[2] + moved;
  }
  return p;
}

/* Largest distance of a body from its position for the first observer, over the smallest radius. */
static double difference(const picture *a, const picture *b) {
  double worst = 0;
  for (int i = 0; i < BODIES; ++i)
    for (int k = 0; k < 3; ++k) {
      const double d = fabs(a->x[i][k] - b->x[i][k]) / 0.1;
      worst = d <= worst ? worst : d; /* also keeps NaN */
    }
  return worst;
}

static double compare(val_run *run, const view *v, bool falls, bool boxes, double seconds) {
  const picture a = seen(run, &plain, falls, boxes, seconds),
                b = seen(run, v, falls, boxes, seconds);
  return difference(&a, &b);
}

/* Few impacts each: rounding grows with every one, and what a solver leaves over as well. */
#define FLIGHT 0.4
#define FALL   0.4

static void check_view(val_run *run, const char *name, const view *v, double allowed) {
  static const struct {
    const char *name;
    bool falls, boxes;
    double seconds;
  } scenes[] = {{"balls fly", false, false, FLIGHT},
                {"balls fall", true, false, FALL},
                {"boxes and balls fall", true, true, FALL}};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    char quantity[56];
    snprintf(quantity, sizeof quantity, "%s, %s", name, scenes[i].name);
    val_near(run, quantity, "r",
             compare(run, v, scenes[i].falls, scenes[i].boxes, scenes[i].seconds), 0, allowed);
  }
}

/* Only rounding differs; impacts magnify it. */
#define EXACT VAL_BY_PRECISION(1e-6, 1e-1)
/* The same settings in other units: nothing but rounding, but a step of an impact may be the next.
 */
#define SCALED VAL_BY_PRECISION(1e-2, 1e-1)
/* Solved in another order or direction, each to its tolerance, so that an impact may come a step
 * earlier or later: 3 mm of 0.1 m, and what it makes others do. */
#define SOLVED 0.05

void val_invariance_galilean(val_run *run) {
  view v = plain;
  for (int k = 0; k < 3; ++k) {
    char name[32];
    v.drift = (const double[]){1, 10, 1000}[k];
    snprintf(name, sizeof name, "%g m/s", v.drift);
    check_view(run, name, &v, k < 2 ? EXACT : VAL_BY_PRECISION(1e-4, 1));
  }
}

void val_invariance_turned(val_run *run) {
  view v = plain;
  const double c = sqrt(1.0 / 3);
  v.turn[0] = v.turn[1] = v.turn[2] = c;
  v.turn[3] = 2 * VAL_PI / 3;
  check_view(run, "axes exchanged", &v, SOLVED);
  v.turn[0] = 0.6, v.turn[1] = 0, v.turn[2] = 0.8, v.turn[3] = 1;
  check_view(run, "turned by 1 rad", &v, SOLVED);
  v = plain;
  v.mirrored = true;
  check_view(run, "mirrored", &v, SOLVED);
}

void val_invariance_scale(val_run *run) {
  for (int k = 0; k < 4; ++k) {
    view v = plain;
    char name[32];
    /* Squares of inertias of grains of a micrometre underflow in single precision. */
    v.length = (const double[]){VAL_BY_PRECISION(1e-6, 1e-2), VAL_BY_PRECISION(1e-3, 1e-1),
                                VAL_BY_PRECISION(1e3, 1e1), VAL_BY_PRECISION(1e6, 1e2)}[k];
    snprintf(name, sizeof name, "lengths x %g", v.length);
    check_view(run, name, &v, SCALED);
  }
  for (int k = 0; k < 2; ++k) {
    view v = plain;
    char name[32];
    v.density = k ? 1e6 : 1e-6;
    snprintf(name, sizeof name, "densities x %g", v.density);
    check_view(run, name, &v, SCALED);
  }
}

void val_invariance_order(val_run *run) {
  view v = plain;
  v.backwards = true;
  check_view(run, "backwards", &v, SOLVED);
}
