/* Pairs of ellipsoids in a narrow phase: chooses the solver of each pair.
 *
 * A sphere against an ellipsoid counts as an ellipsoid. Two ellipsoids that are spheres are left to
 * the sphere code, so that their contacts have the same bits. Concentric pairs and bodies thinner
 * than TL_ELL_THIN go directly to the careful solver; all others go through lanes, and those left
 * undecided then to the careful solver. */
#include "narrow/ellipsoid.h"

#define GRAIN ((size_t)1024) /* bodies for which a thread is woken */

static void fill_rows(void *context, size_t begin, size_t end) {
  const tl_ell_finder *finder = context;
  const tl_model *model = finder->model;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(finder->crowd, i);
    const tl_shape *shape = tl_body_shape(model, slot);
    if (shape->kind != TALUS_ELLIPSOID && shape->kind != TALUS_SPHERE) {
      finder->rows[slot].kind = -1;
      continue;
    }
    const tl_ellipsoid e =
        tl_ellipsoid_of(shape, model->property.scale[slot], finder->crowd->in->rotation[slot]);
    finder->rows[slot] = tl_ellipsoid_row(&e);
  }
}

talus_status tl_ell_prepare(tl_ell_finder *finder) {
  const tl_model *model = finder->model;
  bool any = false;
  for (size_t i = 0; i < model->shapes.count; ++i)
    any |= model->shapes.data[i].kind == TALUS_ELLIPSOID;
  finder->rows = NULL;
  if (!any)
    return TALUS_OK;
  TL_TAKE(finder->crowd->arena, model->bodies, &finder->rows);
  tl_for(&model->par, finder->crowd->count, GRAIN, fill_rows, finder);
  return TALUS_OK;
}

static bool is_sphere(const tl_model *model, uint32_t slot) {
  return tl_body_shape(model, slot)->kind == TALUS_SPHERE;
}

/* Solves one pair without lanes. */
static bool find_alone(const tl_ell_finder *finder, const tl_pair *pair, talus_dvec3 d,
                       double margin, tl_point *out) {
  const tl_model *model = finder->model;
  const talus_quat *rotation = finder->crowd->in->rotation;
  const tl_ellipsoid a = tl_ellipsoid_of(tl_body_shape(model, pair->a),
                                         model->property.scale[pair->a], rotation[pair->a]);
  const tl_ellipsoid b = tl_ellipsoid_of(tl_body_shape(model, pair->b),
                                         model->property.scale[pair->b], rotation[pair->b]);
  const bool both = tl_body_shape(model, pair->a)->kind == TALUS_ELLIPSOID &&
                    tl_body_shape(model, pair->b)->kind == TALUS_ELLIPSOID;
  switch (both ? model->narrow.ellipsoid : TALUS_ELLIPSOID_NEWTON) {
  case TALUS_ELLIPSOID_OPM:
    return tl_collide_ellipsoids_opm(&a, &b, d, margin, false, out) > 0;
  case TALUS_ELLIPSOID_CHM_OPM:
    return tl_collide_ellipsoids_opm(&a, &b, d, margin, true, out) > 0;
  default:
    return tl_collide_ellipsoids_newton(&a, &b, d, margin, out) > 0;
  }
}

/* Takes the result of lanes; `careful` solves a pair that they left undecided. */
static bool take_result(const tl_ell_finder *finder, const tl_ell_batch *batch, size_t i,
                        const tl_pair *pair, tl_point *out) {
  if (batch->outcome[i] == TL_ELL_FAR)
    return false;
  const tl_ell_contact found = tl_ell_batch_contact(batch, i);
  const talus_dvec3 d =
      tl_dvec3(batch->in[TL_ELL_D][i], batch->in[TL_ELL_D + 1][i], batch->in[TL_ELL_D + 2][i]);
  if (batch->outcome[i] == TL_ELL_UNSURE || found.w >= 2 * fmin(found.h1, found.h2))
    return find_alone(finder, pair, d, batch->in[TL_ELL_MARGIN][i],
                      out); /* or one is inside the other */
  tl_ellipsoids_midpoint(d, &found, out);
  return true;
}

/* Rows of bodies are far apart in memory: number of pairs between prefetching and using them. */
#define AHEAD 8

void tl_ell_find(const tl_ell_finder *finder, const tl_pair *pairs, size_t count, uint8_t *hits,
                 tl_point *points) {
  const tl_model *model = finder->model;
  const talus_dvec3 *position = finder->crowd->in->position;
  const bool newton = model->narrow.ellipsoid == TALUS_ELLIPSOID_NEWTON;
  tl_ell_batch batch;
  uint8_t which[TL_ELL_BATCH];
  batch.count = 0;
  for (size_t k = 0; k < count; ++k) {
    if (k + AHEAD < count)
      __builtin_prefetch(&finder->rows[pairs[k + AHEAD].b]);
    const tl_ell_row *a = &finder->rows[pairs[k].a], *b = &finder->rows[pairs[k].b];
    hits[k] = TL_ELL_OTHER;
    if (a->kind < 0 || b->kind < 0 ||
        (is_sphere(model, pairs[k].a) && is_sphere(model, pairs[k].b)))
      continue;
    const talus_dvec3 d = tl_model_offset(model, position[pairs[k].a], position[pairs[k].b]);
    const double margin = (double)(finder->margins[pairs[k].a] + finder->margins[pairs[k].b]);
    const bool spheres = a->kind == TL_ELL_SPHERE && b->kind == TL_ELL_SPHERE;
    const bool thin = a->kind == TL_ELL_NEEDS_CARE || b->kind == TL_ELL_NEEDS_CARE;
    if (!newton || spheres || thin || tl_ellipsoids_concentric(fmin(a->least, b->least), d)) {
      hits[k] = find_alone(finder, &pairs[k], d, margin, &points[k]);
      continue;
    }
    which[batch.count] = (uint8_t)k;
    tl_ell_batch_set(&batch, batch.count++, a, b, d, margin);
  }
  if (batch.count == 0)
    return;
  tl_ell_batch_run(&batch);
  for (size_t i = 0; i < batch.count; ++i) {
    const size_t k = which[i];
    hits[k] = take_result(finder, &batch, i, &pairs[k], &points[k]);
  }
}
