/* Pairs of spheres: rows of bodies, and the plain loops, the reference of those over lanes. */
#include "narrow/spheres.h"
#include "base/isa.h"

#include "kernels/collide_sphere.h"

#include <math.h>

bool tl_spheres_plain_of_tests = false;

typedef struct row_work {
  const tl_model *model;
  const tl_state *state;
  const talus_real *margins;
  tl_sphere_row *rows;
} row_work;

static void fill_rows(void *context, size_t begin, size_t end) {
  const row_work *work = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_shape *shape = tl_body_shape(work->model, i);
    const talus_dvec3 x = work->state->position[i];
    const double radius = shape->size[0] * (double)work->model->property.scale[i];
    work->rows[i] =
        (tl_sphere_row){x.x, x.y, x.z, shape->kind == TALUS_SPHERE ? radius : (double)NAN,
                        (double)work->margins[i]};
  }
}

talus_status tl_spheres_take(const tl_crowd *crowd, size_t pairs, const talus_real *margins,
                             tl_sphere_row **rows) {
  const tl_model *model = crowd->model;
  const talus_domain_def *domain = &model->domain;
  *rows = NULL;
  if (pairs < model->bodies || crowd->members || /* margins are known of members alone */
      (domain->enabled && (domain->periodic[0] || domain->periodic[1] || domain->periodic[2])))
    return TALUS_OK;
  TL_TAKE(crowd->arena, model->bodies, rows);
  row_work work = {model, crowd->in, margins, *rows};
  tl_for(&model->par, model->bodies, 2048, fill_rows, &work);
  return TALUS_OK;
}

/* ---- plain loops ----------------------------------------------------------------------------- */

static int collide(const tl_sphere_row *a, const tl_sphere_row *b, tl_point *point) {
  /* Margins are added as reals, which in the single build rounds. */
  const double margin = (double)(talus_real)((talus_real)a->margin + (talus_real)b->margin);
  return tl_collide_sphere_sphere(a->radius, b->radius,
                                  tl_dvec3(b->x - a->x, b->y - a->y, b->z - a->z), margin, point);
}

static uint64_t meet(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                     uint64_t *others) {
  uint64_t bits = 0, strange = 0;
  for (size_t i = 0; i < count; ++i) {
    const tl_sphere_row *a = &rows[pairs[i].a], *b = &rows[pairs[i].b];
    tl_point point;
    if (isnan(a->radius) || isnan(b->radius))
      strange |= UINT64_C(1) << i;
    else
      bits |= (uint64_t)collide(a, b, &point) << i;
  }
  *others = strange;
  return bits;
}

static void write(const tl_sphere_row *rows, const tl_pair *pairs, size_t count, tl_contact *out) {
  for (size_t i = 0; i < count; ++i) {
    const tl_sphere_row *a = &rows[pairs[i].a], *b = &rows[pairs[i].b];
    tl_point point = {0};
    (void)collide(a, b, &point);
    out[i] = (tl_contact){.a = pairs[i].a,
                          .b = pairs[i].b,
                          .point = tl_dadd(tl_dvec3(a->x, a->y, a->z), point.point),
                          .normal = point.normal,
                          .gap = point.gap};
  }
}

const tl_sphere_loops tl_spheres_plain = {meet, write};

const tl_sphere_loops *tl_spheres_loops(void) {
  static const tl_sphere_loops *const all[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = &tl_spheres_generic,
                                                           [TL_ISA_AVX2] = &tl_spheres_avx2,
                                                           [TL_ISA_AVX512] = &tl_spheres_avx512};
  return tl_spheres_plain_of_tests ? &tl_spheres_plain : all[tl_isa_now()];
}
