/* Is the step short enough? A body that moves more than its own radius in one step meets things by
 * leaps: contacts are not lost (they are found ahead of time), but where and how hard it hits is
 * coarse. The speed is the one a body has at the start, or after falling as deep as it can. */
#include "base/power.h"
#include "scene/shapes.h"
#include "scene/warn.h"

#include <math.h>
#include <stdio.h>

#define PI 3.14159265358979323846

#define RADII_MOST   1.0  /* of a body, that it may move in a step */
#define RADII_ADVICE 0.5  /* that it moves by the step which is suggested */
#define FLATTEST     0.05 /* cosine: steeper planes stop no fall */
#define PLANES       64   /* that are looked at */

typedef struct finder {
  tl_checker *checker;
  double gravity, up[3]; /* m/s2 and the direction against it; gravity 0: nothing falls */
  tl_mover_fn *tell;
  void *context;
  double least;  /* radius of the smallest body that is free */
  double lowest; /* end of the bounded bodies that are not free, along `up` */
  const tl_scene_body *plane[PLANES];
  size_t planes;
} finder;

/* ---- vectors --------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length(const double v[3]) { return sqrt(dot(v, v)); }

/* A direction of the world in a body's own frame: q* v q. */
static void to_body(const double q[4], const double v[3], double out[3]) {
  const double size = tl_hypot_d(tl_hypot_d(q[0], q[1]), tl_hypot_d(q[2], q[3]));
  const double w = q[0] / size, x = -q[1] / size, y = -q[2] / size, z = -q[3] / size;
  const double tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]),
               tz = 2 * (x * v[1] - y * v[0]);
  out[0] = v[0] + w * tx + y * tz - z * ty;
  out[1] = v[1] + w * ty + z * tx - x * tz;
  out[2] = v[2] + w * tz + x * ty - y * tx;
}

/* ---- how far a body can fall ----------------------------------------------------------------- */

/* What a fall can end on, looked at once: falls are asked for by every body there is. */
static void find_floors(finder *f) {
  const talus_scene *scene = f->checker->scene;
  const tl_scene_body *bodies = scene->bodies.data;
  f->lowest = INFINITY;
  for (size_t i = 0; i < scene->bodies.count && f->gravity > 0; ++i) {
    const tl_scene_body *body = &bodies[i];
    if (!tl_scene_is_one(body) || (!body->fixed && body->motion.count == 0))
      continue;
    const tl_scene_shape *shape = tl_check_shape(f->checker, &body->shape);
    const int kind = tl_scene_shape_kind(shape);
    double up[3], half = shape->sphere;
    to_body(body->rotation.quaternion, f->up, up);
    if (kind == TALUS_PLANE) {
      if (f->planes < PLANES)
        f->plane[f->planes++] = body;
      continue;
    }
    tl_scene_size_of size;
    if (kind != TALUS_SPHERE && tl_scene_shape_size(shape, &size))
      half = fabs(up[0]) * size.half[0] + fabs(up[1]) * size.half[1] + fabs(up[2]) * size.half[2];
    f->lowest = fmin(f->lowest, dot(body->at, f->up) - half * body->scale);
  }
}

/* Height of a point above a plane, along gravity; negative where it is below. */
static double height_above(const finder *f, const double at[3], const tl_scene_body *body) {
  const double *plane = tl_check_shape(f->checker, &body->shape)->plane;
  const double d[3] = {at[0] - body->at[0], at[1] - body->at[1], at[2] - body->at[2]};
  double up[3], own[3];
  to_body(body->rotation.quaternion, f->up, up);
  to_body(body->rotation.quaternion, d, own);
  const double size = length(plane), slope = dot(plane, up) / size;
  if (slope < FLATTEST)
    return -1;
  return (dot(plane, own) - plane[3] * body->scale) / (size * slope);
}

/* To the lowest end of what stands below, 0 where nothing does: a body that hits nothing may be as
 * fast as it likes. The end of the domain ends the fall as well. */
static double deepest_fall(const finder *f, const double at[3]) {
  const talus_scene *scene = f->checker->scene;
  double fall = fmax(0, dot(at, f->up) - f->lowest);
  for (size_t i = 0; i < f->planes; ++i)
    fall = fmax(fall, height_above(f, at, f->plane[i]));
  if (!tl_object_has(&tl_schema_scene, scene, "domain"))
    return fall;
  for (int k = 0; k < 3; ++k)
    if (f->up[k] != 0 && !(scene->domain.periodic & (1u << k))) {
      const double end = scene->domain.box[f->up[k] > 0 ? k : k + 3];
      fall = fmin(fall, fmax(0, (at[k] - end) / f->up[k]));
    }
  return fall;
}

/* ---- who is fastest for its size ------------------------------------------------------------- */

double tl_warn_radius(const tl_checker *checker, const tl_scene_shape_use *use, double scale) {
  const tl_scene_shape *shape = tl_check_shape(checker, use);
  tl_scene_size_of size;
  if (tl_scene_shape_kind(shape) == TALUS_SPHERE)
    return scale * shape->sphere;
  /* Flat ones are refused later on, by the world; no step would be short enough for them. */
  return tl_scene_shape_size(shape, &size) && size.inner > 0 ? scale * size.inner : INFINITY;
}

static void note_free(finder *f, const double at[3], const double velocity[3], tl_mover who) {
  const double begin = length(velocity), time = f->checker->scene->until.time;
  who.fall = deepest_fall(f, at);
  const double drop = fmax(0, who.fall - who.radius); /* until it touches */
  const double after = sqrt(begin * begin + 2 * f->gravity * who.fall);
  who.impact = sqrt(begin * begin + 2 * f->gravity * drop);
  who.speed = fmin(after, begin + f->gravity * time);
  f->least = fmin(f->least, who.radius);
  f->tell(f->context, &who);
}

/* Masses of bodies of sizes from least to most; 0 where nobody knows. */
static void weigh(const finder *f, const tl_scene_shape_use *use, const char *material,
                  double least, double most, tl_mover *who) {
  const tl_checker *checker = f->checker;
  const tl_scene_material *materials = checker->scene->materials.data;
  const tl_scene_shape *shape = tl_check_shape(checker, use);
  tl_scene_size_of size;
  who->material = 0;
  who->is_sphere = tl_scene_shape_kind(shape) == TALUS_SPHERE;
  if (material && !tl_names_find(&checker->materials, material, &who->material))
    return;
  if (who->material >= checker->scene->materials.count || !tl_scene_shape_size(shape, &size))
    return;
  const double mass = materials[who->material].density * size.volume;
  who->lightest = mass * least * least * least;
  who->heaviest = mass * most * most * most;
}

/* The point of a region that is farthest up. */
static void region_top(const finder *f, const tl_scene_region *region, const tl_map *map,
                       double at[3]) {
  for (int k = 0; k < 3 && tl_object_has(map, region, "box"); ++k)
    at[k] = region->box[f->up[k] > 0 ? k + 3 : k];
  if (tl_object_has(map, region, "box"))
    return;
  const tl_scene_round *round = tl_object_has(map, region, "sphere")     ? &region->sphere
                                : tl_object_has(map, region, "cylinder") ? &region->cylinder
                                                                         : &region->disc;
  const double reach = tl_hypot_d(round->radius, round->length / 2);
  for (int k = 0; k < 3; ++k)
    at[k] = round->at[k] + reach * f->up[k];
}

static void note_fill(finder *f, const tl_scene_fill *fill, tl_mover who) {
  const bool has_size = tl_object_has(&tl_schema_fill, fill, "size");
  double at[3];
  region_top(f, &fill->in, &tl_schema_region, at);
  const double least = tl_warn_least_size(&fill->size, has_size);
  who.radius = tl_warn_radius(f->checker, &fill->shape, least);
  weigh(f, &fill->shape, fill->material, least, tl_warn_most_size(&fill->size, has_size), &who);
  who.count = fill->fraction > 0 ? INFINITY : (double)fill->count;
  note_free(f, at, fill->velocity, who);
}

/* N: the most of a load, as far as the scene tells. */
static double most_force(const tl_scene_course *course) {
  const double *rows = course->ramp.data;
  double most = length(course->value);
  for (size_t i = 0; i < course->ramp.count; ++i)
    most = fmax(most, length(rows + 4 * i + 1));
  return most;
}

static void note_body(finder *f, const tl_scene_body *body, tl_mover who) {
  who.radius = tl_warn_radius(f->checker, &body->shape, body->scale);
  who.count = tl_repeat_count(body);
  who.force = most_force(&body->force);
  weigh(f, &body->shape, body->material, body->scale, body->scale, &who);
  if (body->mass > 0)
    who.lightest = who.heaviest = body->mass;
  note_free(f, body->at, body->velocity, who);
}

static void note_bodies(finder *f) {
  const tl_checker *checker = f->checker;
  const tl_scene_body *bodies = checker->scene->bodies.data;
  tl_node_id node = tl_check_first(checker, "bodies");
  for (size_t i = 0; i < checker->scene->bodies.count;
       ++i, node = tl_node_at(checker->document, node)->next) {
    const tl_scene_body *body = &bodies[i];
    tl_mover who = {.mark = tl_node_mark(checker->document, node)};
    snprintf(who.who, sizeof who.who, body->name ? "bodies.%zu (`%s`)" : "bodies.%zu%s", i,
             body->name   ? body->name
             : body->fill ? ".fill"
                          : "");
    if (body->fill && !body->fill->fixed)
      note_fill(f, body->fill, who);
    else if (tl_scene_is_one(body) && !body->fixed && body->motion.count == 0)
      note_body(f, body, who);
  }
}

static void note_emitters(finder *f) {
  const tl_checker *checker = f->checker;
  const tl_scene_emitter *emitters = checker->scene->emit.data;
  tl_node_id node = tl_check_first(checker, "emit");
  for (size_t i = 0; i < checker->scene->emit.count;
       ++i, node = tl_node_at(checker->document, node)->next) {
    const tl_scene_emitter *emitter = &emitters[i];
    const bool has_size = tl_object_has(&tl_schema_emitter, emitter, "size");
    tl_mover who = {.mark = tl_node_mark(checker->document, node)};
    double at[3];
    snprintf(who.who, sizeof who.who, "emit.%zu", i);
    region_top(f, &emitter->from, &tl_schema_source, at);
    const double least = tl_warn_least_size(&emitter->size, has_size);
    who.radius = tl_warn_radius(f->checker, &emitter->shape, least);
    who.count = INFINITY;
    weigh(f, &emitter->shape, emitter->material, least, tl_warn_most_size(&emitter->size, has_size),
          &who);
    note_free(f, at, emitter->velocity, who);
  }
}

/* The fastest that a place of the body gets, tables aside; `reach` is how far from its centre. */
static double scripted_speed(const tl_scene_body *body, double reach) {
  const tl_scene_motion *motions = body->motion.data;
  double speed = 0;
  for (size_t i = 0; i < body->motion.count; ++i) {
    const tl_scene_motion *m = &motions[i];
    double arm = reach;
    if (tl_object_has(&tl_schema_motion, m, "through")) {
      const double d[3] = {body->at[0] - m->through[0], body->at[1] - m->through[1],
                           body->at[2] - m->through[2]};
      arm += length(d);
    }
    const double rate = 2 * PI * m->frequency;
    speed += length(m->velocity) + length(m->spin) * arm + rate * length(m->amplitude) +
             rate * length(m->swing) * arm;
  }
  return speed;
}

/* Scripted bodies hit others: their speed counts against the smallest of those. */
static void note_scripted(finder *f) {
  const tl_checker *checker = f->checker;
  const tl_scene_body *bodies = checker->scene->bodies.data;
  tl_node_id node = tl_check_first(checker, "bodies");
  for (size_t i = 0; i < checker->scene->bodies.count;
       ++i, node = tl_node_at(checker->document, node)->next) {
    if (bodies[i].motion.count == 0 || !(f->least < INFINITY))
      continue;
    const tl_scene_shape *shape = tl_check_shape(checker, &bodies[i].shape);
    const int kind = tl_scene_shape_kind(shape);
    tl_scene_size_of size = {0};
    /* A sphere and a plane turn along themselves. */
    const bool reaches = kind != TALUS_SPHERE && kind != TALUS_PLANE;
    const double reach = reaches && tl_scene_shape_size(shape, &size) ? size.radius : 0;
    tl_mover who = {.mark = tl_node_mark(checker->document, node), .radius = f->least};
    snprintf(who.who, sizeof who.who, "bodies.%zu%s%s%s", i, bodies[i].name ? " (`" : "",
             bodies[i].name ? bodies[i].name : "", bodies[i].name ? "`)" : "");
    who.is_scripted = true;
    who.speed = who.impact = scripted_speed(&bodies[i], reach * bodies[i].scale);
    f->tell(f->context, &who);
  }
}

/* ---- what to do ------------------------------------------------------------------------------ */

/* The next round number below: 1, 2 or 5 times a power of ten. */
double tl_warn_round_down(double value) {
  double power = tl_pow_d(10, floor(tl_log_d(value) / tl_log_d(10)));
  if (10 * power <= value) /* the quotient was just below a whole number */
    power *= 10;
  const double digit = value / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

void tl_warn_movers(tl_checker *checker, tl_mover_fn *tell, void *context) {
  const talus_scene *scene = checker->scene;
  finder f = {.checker = checker, .least = INFINITY, .tell = tell, .context = context};
  f.gravity = length(scene->gravity);
  for (int k = 0; k < 3 && f.gravity > 0; ++k)
    f.up[k] = -scene->gravity[k] / f.gravity;
  find_floors(&f);
  note_bodies(&f);
  note_emitters(&f);
  note_scripted(&f);
}

/* What moves furthest, measured in radii. */
static void keep_worst(void *context, const tl_mover *who) {
  tl_mover *worst = context;
  if (who->speed * worst->radius > worst->speed * who->radius)
    *worst = *who;
}

void tl_warn_step(tl_warner *warner) {
  tl_checker *checker = warner->checker;
  const talus_scene *scene = checker->scene;
  /* What happens within a step happens in time. */
  if ((scene->solve.kind == TALUS_SOLVE_ELASTIC && scene->solve.shell == TALUS_SHELL_SOFT) ||
      scene->step.kind == TALUS_STEP_ADAPTIVE || scene->step.kind == TALUS_STEP_LOCAL)
    return;
  tl_mover worst = {.radius = 1};
  const tl_mover *who = &worst;
  tl_warn_movers(checker, keep_worst, &worst);
  const double radii = who->speed * scene->step.dt / who->radius;
  if (!(radii > RADII_MOST))
    return;
  const tl_node_id step = tl_check_value(checker, checker->root, "step");
  const bool is_given = step != 0 && tl_check_value(checker, step, "dt") != 0;
  char after[48] = "";
  if (who->fall > 0)
    snprintf(after, sizeof after, " after a fall of %.2g m", who->fall);
  tl_warn(
      warner, TL_WARN_LARGE_STEP, is_given ? tl_check_mark(checker, step, "dt") : who->mark,
      "step.dt is %g s, in which %s, at %.2g m/s%s, moves %.2g times the radius %.2g m; expected "
      "its radius at most: a dt of %g would do",
      scene->step.dt, who->who, who->speed, after, radii, who->radius,
      tl_warn_round_down(RADII_ADVICE * who->radius / who->speed));
}
