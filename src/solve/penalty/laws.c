/* Spring laws of pairs of materials, and the longest stable step. */
#include "base/power.h"
#include "solve/penalty/penalty.h"

#include <math.h>

/* Part of the critical step above which a warning is given: a collision must be resolved, too. */
#define SAFE_FRACTION 0.5
/* `auto` chooses the stiffness for which dt is this part of 2/omega of a pair; less if dashpots or
 * neighbours need it: then AUTO_MARGIN of the critical step. */
#define AUTO_FRACTION 0.1
#define AUTO_MARGIN   0.4
/* Most neighbours that push on a ball: 12 of its own size. Each direction gets a third of their
 * stiffness. */
#define NEIGHBOURS 12
/* Overlap over radius at which the stiffness of Hertz's law is taken for the critical step. The
 * stiffness grows with the overlap; deeper contacts are not those of rigid bodies. */
#define DEEP 0.05

void tl_penalty_free(tl_penalty *penalty) {
  tl_array_free(&penalty->laws);
  tl_array_free(&penalty->lightest);
  tl_array_free(&penalty->coming);
  tl_array_free(&penalty->limits);
  tl_contacts_release(&penalty->start);
  for (int i = 0; i < TL_PENALTY_HALVES; ++i)
    tl_contacts_release(&penalty->between[i]);
}

talus_real tl_penalty_radius(const tl_model *model, size_t slot) {
  return tl_body_curvature(model, slot);
}

void tl_penalty_weigh(tl_lightest *row, const tl_lightest *body) {
  if (!(body->mass > 0))
    return;
  row->is_uneven = row->is_uneven || body->is_uneven;
  if (row->mass == 0 || body->mass < row->mass)
    row->mass = body->mass, row->radius = body->radius;
}

talus_status tl_penalty_find_lightest(const tl_crowd *crowd, tl_penalty *p) {
  const tl_model *model = crowd->model;
  TL_TRY(tl_array_resize(&p->lightest, model->materials.count));
  for (size_t m = 0; m < p->lightest.count; ++m)
    p->lightest.data[m] = (tl_lightest){0};
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    if (tl_body_is_static(model, slot))
      continue;
    const tl_lightest body = {(double)model->property.mass[slot],
                              (double)tl_penalty_radius(model, slot),
                              tl_body_shape(model, slot)->kind != TALUS_SPHERE};
    tl_penalty_weigh(&p->lightest.data[model->property.material[slot]], &body);
  }
  return TALUS_OK;
}

static double reduced(double a, double b) { return a > 0 && b > 0 ? a * b / (a + b) : a + b; }

/* Johnson (1985), Contact Mechanics, 4.2 and 7.3: 1/E* and 1/G* of both bodies add up. */
static void press_hertz(const tl_material *a, const tl_material *b, tl_spring_law *law) {
  const double ea = (double)a->young, eb = (double)b->young;
  const double na = (double)a->poisson, nb = (double)b->poisson;
  const double e = 1 / ((1 - na * na) / ea + (1 - nb * nb) / eb);
  const double g = 1 / (2 * (2 - na) * (1 + na) / ea + 2 * (2 - nb) * (1 + nb) / eb);
  law->normal = (talus_real)(4.0 / 3.0 * e);
  law->tangent = (talus_real)(8 * g);
}

static talus_status make_law(const tl_model *model, const tl_penalty *p, size_t a, size_t b,
                             tl_spring_law *law) {
  const tl_material *one = &model->materials.data[a], *other = &model->materials.data[b];
  const tl_pair_law *pair = &model->laws.data[a * model->materials.count + b];
  const talus_spring_law kind = model->solve.law;
  *law = (tl_spring_law){.friction = pair->friction,
                         .static_friction = pair->static_friction,
                         .rolling = pair->rolling,
                         .spinning = pair->spinning,
                         .cohesion = pair->cohesion};
  const bool used = p->lightest.data[a].mass > 0 || p->lightest.data[b].mass > 0;
  if (kind == TALUS_HERTZ) {
    if (used && (!(one->young > 0) || !(other->young > 0)))
      return tl_fail(TALUS_ERROR_INVALID, "material '%s' has no young, which solve.law hertz needs",
                     one->young > 0 ? other->name ? other->name : ""
                     : one->name    ? one->name
                                    : "");
    press_hertz(one, other, law);
  } else {
    law->normal = pair->stiffness;
    if (kind == TALUS_NOBLE && used && !(law->normal > 0))
      return tl_fail(TALUS_ERROR_INVALID,
                     "materials '%s' and '%s' have no stiffness, which solve.law noble needs, in "
                     "N/sqrt(kg)",
                     one->name ? one->name : "", other->name ? other->name : "");
    if (!(law->normal > 0))
      law->normal = (talus_real)p->auto_stiffness;
    if (kind == TALUS_NOBLE)
      law->normal /= (talus_real)model->solve.reach;
    law->tangent = law->normal * (talus_real)model->solve.tangential;
  }
  if (kind != TALUS_NOBLE)
    law->damping = (talus_real)tl_spring_damping((double)pair->restitution, kind == TALUS_HERTZ);
  const double felt = (kind == TALUS_HERTZ ? 1.5 : 1.0) * (double)law->normal;
  if (felt > 0)
    law->tangent_damping = (talus_real)((double)law->damping * sqrt((double)law->tangent / felt));
  return TALUS_OK;
}

/* Verlet with a spring and a dashpot, K = k/m (1/s^2) and C = c/m (1/s), where the dashpot takes
 * the velocity v + h/2 a(t0) (step/verlet.c): the amplification matrix has an eigenvalue -1 where
 * K h^2/4 + C h = 1. Without a dashpot that is h = 2/omega. */
static double stable_step(double k, double c) { return 2 / (c + sqrt(c * c + k)); }

/* Critical step (s) of the lightest bodies of two materials; INFINITY if there are none.
 *
 * A pair has K = k/m* along the normal; across it the spring also turns both bodies, so for spheres
 * K = 7/2 k_t/m*. Within a heap a ball has up to 12 neighbours, and modes in which all of them move
 * against it have K = 12/3 k/m* (Gershgorin); dashpots likewise. Tangential forces beyond those of
 * a pair are not counted there: friction bounds them. */
static double critical_of(const tl_model *model, const tl_penalty *p, size_t bodies, size_t a,
                          size_t b, double *omega) {
  const tl_lightest *x = &p->lightest.data[a], *y = &p->lightest.data[b];
  const tl_spring_law *law = &p->laws.data[a * model->materials.count + b];
  *omega = 0;
  if (x->mass == 0 && y->mass == 0)
    return INFINITY;
  const double mass = reduced(x->mass, y->mass);
  double normal = (double)law->normal, tangent = (double)law->tangent;
  if (model->solve.law == TALUS_HERTZ) {
    /* This covers a wall too: its radius is 0 here, so the body's own radius counts. */
    const double radius = reduced(x->radius, y->radius);
    const double a0 = radius * sqrt(DEEP);
    normal *= 1.5 * a0, tangent *= a0;
  } else if (model->solve.law == TALUS_NOBLE) {
    normal *= sqrt(mass), tangent *= sqrt(mass);
  }
  *omega = sqrt(normal / mass);
  const double root = *omega, many = fmin(NEIGHBOURS, (double)bodies - 1);
  /* A cube stands on four springs and rocks on them; that mode has K = 6 k/m. */
  const bool is_uneven = x->is_uneven || y->is_uneven;
  const double turn = is_uneven ? 6 : 3.5, heap = fmax(is_uneven ? 6 : 1, many / 3),
               along = (double)law->damping * root, across = (double)law->tangent_damping * root;
  return fmin(stable_step(heap * normal / mass, heap * along),
              stable_step(turn * tangent / mass, turn * across));
}

static void choose_stiffness(const tl_model *model, double dt, tl_penalty *p) {
  double least = 0;
  for (size_t m = 0; m < p->lightest.count; ++m)
    if (p->lightest.data[m].mass > 0 && (least == 0 || p->lightest.data[m].mass < least))
      least = p->lightest.data[m].mass;
  const double omega = 2 * AUTO_FRACTION / dt;
  p->auto_stiffness = 0.5 * least * omega * omega / fmax(1, 3.5 * model->solve.tangential);
}

static talus_status make_laws(const tl_model *model, tl_penalty *p) {
  const size_t n = model->materials.count;
  TL_TRY(tl_array_resize(&p->laws, n * n));
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b < n; ++b)
      TL_TRY(make_law(model, p, a, b, &p->laws.data[a * n + b]));
  return TALUS_OK;
}

/* Makes stiffnesses that `auto` chose softer if dashpots or neighbours need a shorter step.
 * Critical steps go with 1/sqrt(k). */
static talus_status soften(const tl_model *model, double dt, size_t bodies, tl_penalty *p) {
  const size_t n = model->materials.count;
  double critical = INFINITY, omega;
  TL_TRY(make_laws(model, p));
  for (size_t a = 0; a < n; ++a)
    for (size_t b = a; b < n; ++b)
      if (!(model->laws.data[a * n + b].stiffness > 0))
        critical = fmin(critical, critical_of(model, p, bodies, a, b, &omega));
  const double share = AUTO_MARGIN * critical / dt;
  if (share < 1)
    p->auto_stiffness *= share * share;
  return TALUS_OK;
}

static bool takes_auto(const tl_model *model) {
  if (model->solve.law != TALUS_LINEAR)
    return false;
  for (size_t i = 0; i < model->laws.count; ++i)
    if (!(model->laws.data[i].stiffness > 0))
      return true;
  return false;
}

talus_status tl_penalty_choose(const tl_model *model, double dt, size_t bodies, tl_penalty *p) {
  if (!takes_auto(model))
    return TALUS_OK;
  choose_stiffness(model, dt, p);
  return p->auto_stiffness > 0 ? soften(model, dt, bodies, p) : TALUS_OK;
}

static talus_status check_step(const tl_crowd *crowd, tl_penalty *p) {
  const tl_model *model = crowd->model;
  const size_t n = model->materials.count;
  size_t stiff_a = 0, stiff_b = 0;
  double omega;
  p->critical = INFINITY;
  p->omega = 0;
  for (size_t a = 0; a < n; ++a)
    for (size_t b = a; b < n; ++b) {
      const double critical = critical_of(model, p, crowd->count, a, b, &omega);
      p->omega = fmax(p->omega, omega);
      if (critical < p->critical)
        p->critical = critical, stiff_a = a, stiff_b = b;
    }
  if (!(p->critical < INFINITY) || tl_model_is_implicit(model))
    return TALUS_OK;
  const char *one = model->materials.data[stiff_a].name,
             *other = model->materials.data[stiff_b].name;
  if (crowd->dt > p->critical)
    return tl_fail(TALUS_ERROR_INVALID,
                   "dt is %g s, above the critical step of %g s of the stiffest pair ('%s' and "
                   "'%s', its lightest bodies); say step: {dt: %.2g}, or make the materials softer",
                   crowd->dt, p->critical, one ? one : "", other ? other : "",
                   0.5 * SAFE_FRACTION * p->critical);
  if (crowd->dt > SAFE_FRACTION * p->critical && !p->told) {
    p->told = true;
    tl_log_write(&model->log, TL_LOG_WARN,
                 "penalty: dt is %g s, %.0f %% of the critical step of %g s of the stiffest pair "
                 "('%s' and '%s'); say step: {dt: %.2g}",
                 crowd->dt, 100 * crowd->dt / p->critical, p->critical, one ? one : "",
                 other ? other : "", 0.5 * SAFE_FRACTION * p->critical);
  }
  return TALUS_OK;
}

/* Chooses stiffnesses once, for the whole run. Bodies that emitters will add count as if they were
 * there already, in a heap. */
static talus_status choose_once(const tl_crowd *crowd, tl_penalty *p) {
  const tl_model *model = crowd->model;
  const bool more = p->coming.count == p->lightest.count;
  for (size_t m = 0; more && m < p->lightest.count; ++m)
    tl_penalty_weigh(&p->lightest.data[m], &p->coming.data[m]);
  TL_TRY(tl_penalty_choose(model, crowd->dt, crowd->count + (more ? NEIGHBOURS : 0), p));
  if (p->auto_stiffness > 0)
    tl_log_write(&model->log, TL_LOG_INFO,
                 "penalty: stiffness auto is %g N/m, for which dt = %g s is well below the "
                 "critical step",
                 p->auto_stiffness, crowd->dt);
  return more ? tl_penalty_find_lightest(crowd, p) : TALUS_OK;
}

talus_status tl_penalty_prepare(const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  tl_penalty *p = crowd->penalty;
  if (p->is_known && p->bodies == crowd->count)
    return TALUS_OK;
  TL_TRY(tl_penalty_find_lightest(crowd, p));
  if (!(p->auto_stiffness > 0))
    TL_TRY(choose_once(crowd, p));
  TL_TRY(make_laws(model, p));
  TL_TRY(check_step(crowd, p));
  p->bodies = crowd->count;
  p->is_known = true;
  return TALUS_OK;
}
