/* How deep will springs let bodies sink? Where `stiffness: auto` is as stiff as the step allows,
 * the step decides: it is chosen so that overlaps stay below a hundredth of the smallest radius, or
 * refused. A stiffness that is given is meant, and only warned of (docs/theory/penalty.md).
 *
 * A body of mass m that comes with v against a spring k, under a load W, is stopped within
 * W/k + v sqrt(m/k) or less. The load is its weight and that of the column on it, which is no
 * higher than bodies can fall; the speed is that after the deepest fall. */
#include "base/power.h"
#include "scene/build.h"
#include "scene/warn.h"

#include <math.h>
#include <stdio.h>

#define SHARE_MOST 0.01 /* of a radius, that bodies may overlap by */
#define DT_MOST    1e-3 /* s: what a step is where nothing asks for less */
#define MANY       1000 /* bodies, of which a body has as many neighbours as of more */

typedef struct soft_find {
  tl_checker *checker;
  tl_soft_body *of;    /* by material */
  double gravity;      /* m/s2 */
  double smallest;     /* m: radius of all that is free */
  double heaviest;     /* kg: of a body of a material that is looked at */
  double count, mass;  /* of all: bodies, kg */
  bool is_auto;        /* materials without a stiffness are looked at, or those with one */
  double per_step;     /* N s2/m: stiffness auto times dt^2 */
  double dt;           /* s: of the step; least: the one that would do */
  double least, worst; /* s; overlap over what is allowed */
  tl_mover who;        /* that wants it */
} soft_find;

/* ---- materials ------------------------------------------------------------------------------- */

/* N/m between bodies of one material; 0: auto. */
static double stiffness_of(const talus_scene *scene, uint32_t row) {
  const tl_scene_material *material = (const tl_scene_material *)scene->materials.data + row;
  const tl_scene_pair *pairs = scene->pairs.data;
  for (size_t i = 0; i < scene->pairs.count; ++i)
    if (strcmp(pairs[i].materials[0], material->name) == 0 &&
        strcmp(pairs[i].materials[1], material->name) == 0)
      return fmax(pairs[i].stiffness, 0);
  return fmax(material->stiffness, 0);
}

static bool is_looked_at(const soft_find *f, uint32_t row) {
  const talus_scene *scene = f->checker->scene;
  return scene->solve.law == TALUS_HERTZ || (stiffness_of(scene, row) == 0) == f->is_auto;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void note_body(void *context, const tl_mover *who) {
  soft_find *f = context;
  if (who->is_scripted || !(who->lightest > 0) || !(who->radius < INFINITY))
    return;
  tl_soft_body *of = &f->of[who->material];
  if (of->mass == 0 || who->lightest < of->mass)
    of->mass = who->lightest, of->radius = who->radius;
  of->is_uneven = of->is_uneven || !who->is_sphere;
  f->smallest = fmin(f->smallest, who->radius);
  f->count += who->count;
  f->mass += who->count * who->heaviest;
  if (is_looked_at(f, who->material))
    f->heaviest = fmax(f->heaviest, who->heaviest);
}

/* N on the heaviest of these bodies at most: its own weight, the column on it, what pushes it. */
static double load_on(const soft_find *f, const tl_mover *who) {
  if (who->is_scripted)
    return f->heaviest * f->gravity;
  const double weight = who->heaviest * f->gravity;
  const double radius = who->radius * tl_cbrt_d(who->heaviest / who->lightest);
  return fmin(weight * (1 + tl_soft_layers(who->fall, radius)), f->mass * f->gravity) + who->force;
}

static bool counts(const soft_find *f, const tl_mover *who) {
  if (who->is_scripted)
    return f->heaviest > 0;
  return who->lightest > 0 && who->radius < INFINITY && is_looked_at(f, who->material);
}

static void note_worst(soft_find *f, const tl_mover *who, double share) {
  if (share > f->worst) {
    f->worst = share;
    f->who = *who;
  }
}

/* ---- the step -------------------------------------------------------------------------------- */

/* The step for which the overlap is just what is allowed: of W dt^2/K + v sqrt(m/K) dt = L. */
static void note_step(void *context, const tl_mover *who) {
  soft_find *f = context;
  if (!counts(f, who))
    return;
  const double mass = who->is_scripted ? f->heaviest : who->heaviest,
               most = SHARE_MOST * f->smallest;
  const double load = load_on(f, who), push = who->impact * sqrt(mass);
  const double a = load / f->per_step, b = push / sqrt(f->per_step);
  f->least = fmin(f->least, tl_soft_step_for(load, push, f->per_step, most));
  note_worst(f, who, (a * f->dt + b) * f->dt / most);
}

static talus_status find_steps(soft_find *f) {
  const talus_scene *scene = f->checker->scene;
  talus_world *world;
  const double all = f->count + (double)scene->bodies.count;
  const size_t bodies = f->checker->takes_from || !(all < MANY) ? MANY : (size_t)all;
  TL_TRY(tl_scene_build_materials(scene, &world));
  const talus_status status = tl_world_find_stiffness(world, f->of, bodies, 1, &f->per_step);
  talus_world_destroy(world);
  TL_TRY(status);
  if (f->per_step > 0)
    tl_warn_movers(f->checker, note_step, f);
  return TALUS_OK;
}

static const char *after_fall(double fall, char text[48]) {
  text[0] = '\0';
  if (fall > 0)
    snprintf(text, 48, " after a fall of %.2g m", fall);
  return text;
}

static void refuse(tl_checker *checker, const char *who, const tl_soft_step *found) {
  char after[48];
  const double dt = checker->scene->step.dt;
  tl_problem_add(
      checker->problems,
      tl_check_mark(checker, tl_check_value(checker, checker->root, "step"), "dt"),
      "step.dt is %g s, for which `stiffness: auto` is %.2g N/m, and %s, at %.2g m/s%s, would "
      "sink by %.2g m; expected %.2g m at most, a hundredth of the smallest radius: a dt of %g "
      "would do, or give materials a stiffness",
      dt, found->per_step / (dt * dt), who, found->impact, after_fall(found->fall, after),
      found->depth, found->allowed, tl_warn_round_down(found->least));
}

/* The step that is not given becomes one for which overlaps are small; one that is given stays, or
 * is refused. */
static void settle(tl_checker *checker, const char *who, const tl_soft_step *found) {
  talus_scene *scene = checker->scene;
  const bool is_given = scene->step.object.given >> tl_map_find(&tl_schema_step, "dt") & 1u;
  if (!(found->least < scene->step.dt * (1 - 1e-9)))
    return;
  if (is_given)
    refuse(checker, who, found);
  else
    scene->step.dt = fmin(tl_warn_round_down(found->least), DT_MOST);
}

static bool begin(soft_find *f, tl_checker *checker, bool is_auto) {
  const talus_scene *scene = checker->scene;
  const double *g = scene->gravity;
  void *block = NULL;
  const size_t n = scene->materials.count;
  *f = (soft_find){.checker = checker, .is_auto = is_auto};
  if (scene->solve.kind != TALUS_SOLVE_PENALTY || n == 0)
    return false;
  if (checker->status == TALUS_OK)
    checker->status = tl_resize(&block, 0, n * sizeof *f->of);
  if (checker->status != TALUS_OK)
    return false;
  f->of = memset(block, 0, n * sizeof *f->of);
  f->gravity = tl_hypot_d(tl_hypot_d(g[0], g[1]), g[2]);
  f->smallest = f->least = INFINITY;
  f->dt = scene->step.dt;
  tl_warn_movers(checker, note_body, f);
  return true;
}

static void end(soft_find *f) {
  void *block = f->of;
  (void)tl_resize(&block, f->checker->scene->materials.count * sizeof *f->of, 0);
}

static tl_soft_step found_of(const soft_find *f) {
  const double allowed = SHARE_MOST * f->smallest;
  return (tl_soft_step){.least = f->least,
                        .per_step = f->per_step,
                        .depth = f->worst * allowed,
                        .allowed = allowed,
                        .impact = f->who.impact,
                        .fall = f->who.fall};
}

/* Bodies of tables and of other runs are not known before they are read: the world is built to see
 * them. What cannot be built is told later, by who builds it to be run. */
static void check_read_bodies(tl_checker *checker) {
  talus_scene *scene = checker->scene;
  const tl_scene_body *bodies = scene->bodies.data;
  tl_soft_step found;
  talus_world *world;
  bool reads = false;
  for (size_t i = 0; i < scene->bodies.count; ++i)
    reads = reads || bodies[i].from || (bodies[i].table && !bodies[i].table->fixed);
  if (!reads || talus_scene_build(scene, 1, NULL, NULL, &world) != TALUS_OK)
    return;
  const talus_status status = tl_world_find_soft_step(world, SHARE_MOST, &found);
  if (status == TALUS_ERROR_MEMORY)
    checker->status = status;
  char who[64];
  snprintf(who, sizeof who, "body %llu", (unsigned long long)found.uid);
  if (status == TALUS_OK)
    settle(checker, who, &found);
  talus_world_destroy(world);
}

void tl_check_overlaps(tl_checker *checker) {
  const talus_scene *scene = checker->scene;
  soft_find f;
  if (scene->solve.kind != TALUS_SOLVE_PENALTY || scene->solve.law != TALUS_LINEAR)
    return;
  if (begin(&f, checker, true)) {
    if (f.heaviest > 0)
      checker->status = find_steps(&f);
    if (checker->status == TALUS_OK) {
      const tl_soft_step found = found_of(&f);
      settle(checker, f.who.who, &found);
    }
    end(&f);
  }
  if (checker->status == TALUS_OK && checker->problems->count == 0)
    check_read_bodies(checker);
}

/* ---- springs that are given ------------------------------------------------------------------ */

/* Overlap with a wall of the same material: by Hertz m v^2/2 = 8/15 E* sqrt(R) d^2.5, and a load
 * W = 4/3 E* sqrt(R) d^1.5. */
static double hertz_overlap(const tl_scene_material *of, const tl_mover *who, double mass,
                            double load) {
  const double modulus = of->young / (2 * (1 - of->poisson * of->poisson));
  const double stiff = modulus * sqrt(who->radius);
  return tl_pow_d(15.0 / 16 * mass * who->impact * who->impact / stiff, 0.4) +
         tl_pow_d(0.75 * load / stiff, 2.0 / 3);
}

static void note_soft(void *context, const tl_mover *who) {
  soft_find *f = context;
  const talus_scene *scene = f->checker->scene;
  if (who->is_scripted || !counts(f, who))
    return;
  const tl_scene_material *of = (const tl_scene_material *)scene->materials.data + who->material;
  const double load = load_on(f, who), k = stiffness_of(scene, who->material);
  const double depth = scene->solve.law == TALUS_HERTZ
                           ? hertz_overlap(of, who, who->heaviest, load)
                           : load / k + who->impact * sqrt(who->heaviest / k);
  note_worst(f, who, depth / (SHARE_MOST * who->radius));
}

/* What would do instead: N/m or Pa. */
static double advice(const soft_find *f, double value, bool is_hertz) {
  const double most = SHARE_MOST * f->who.radius, load = load_on(f, &f->who);
  const double push = f->who.impact * sqrt(f->who.heaviest);
  const double root = (push + sqrt(push * push + 4 * most * load)) / (2 * most);
  return is_hertz ? value * tl_pow_d(f->worst, 2.5) : root * root;
}

void tl_warn_soft(tl_warner *warner) {
  tl_checker *checker = warner->checker;
  const talus_scene *scene = checker->scene;
  const tl_scene_material *materials = scene->materials.data;
  const bool is_hertz = scene->solve.law == TALUS_HERTZ;
  soft_find f;
  if (scene->solve.law == TALUS_NOBLE || !begin(&f, checker, false))
    return;
  tl_warn_movers(checker, note_soft, &f);
  if (f.worst > 1) {
    const tl_mover *who = &f.who;
    const double value =
        is_hertz ? materials[who->material].young : stiffness_of(scene, who->material);
    char after[48];
    tl_warn(warner, TL_WARN_SOFT_SPRINGS, who->mark,
            "%s, at %.2g m/s%s, sinks by %.2g m, %.2g of the radius %.2g m: the %s of material "
            "`%.60s` is %g %s; expected a hundredth at most, for which %.1g %s would do",
            who->who, who->impact, after_fall(who->fall, after), f.worst * SHARE_MOST * who->radius,
            f.worst * SHARE_MOST, who->radius, is_hertz ? "young" : "stiffness",
            materials[who->material].name, value, is_hertz ? "Pa" : "N/m",
            advice(&f, value, is_hertz), is_hertz ? "Pa" : "N/m");
  }
  end(&f);
}
