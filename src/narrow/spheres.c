/* Pairs of spheres: rows of bodies, and the plain loops, which are the reference of the loops over
 * lanes. */
#include "narrow/spheres.h"
#include "base/isa.h"
#include "contact/reach.h"
#include "narrow/swept.h"

#include "crowd/asleep.h"
#include "kernels/collide_sphere.h"

#include <math.h>

bool tl_spheres_plain_of_tests = false;

typedef struct row_work {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_real *margins;
  tl_sphere_row *rows;
} row_work;

/* Velocity of a body including gravity, if nothing else acts on it. */
static talus_vec3 velocity_of(const tl_crowd *crowd, size_t slot) {
  const tl_properties *property = &crowd->model->property;
  const uint32_t flags = property->flags[slot];
  if (!tl_swept_is_on(crowd->model, crowd)) /* not used in this step */
    return tl_vec3(0, 0, 0);
  if (property->force || property->torque || (flags & (TL_FLAG_KINEMATIC | TL_FLAG_LOCKS)))
    return tl_vec3((talus_real)NAN, 0, 0);
  if ((flags & TL_FLAG_STATIC) || tl_is_asleep(crowd->in, slot))
    return tl_vec3(0, 0, 0);
  return tl_madd(crowd->in->velocity[slot], TL_R(crowd->dt), crowd->model->gravity);
}

static void fill_rows(void *context, size_t begin, size_t end) {
  const row_work *work = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_shape *shape = tl_body_shape(work->model, i);
    const talus_dvec3 x = work->crowd->in->position[i], v = tl_widen(velocity_of(work->crowd, i));
    const double radius = shape->size[0] * (double)work->model->property.scale[i];
    work->rows[i] = (tl_sphere_row){.x = x.x,
                                    .y = x.y,
                                    .z = x.z,
                                    .radius = shape->kind == TALUS_SPHERE ? radius : (double)NAN,
                                    .margin = (double)work->margins[i],
                                    .vx = v.x,
                                    .vy = v.y,
                                    .vz = v.z};
  }
}

talus_status tl_spheres_take(const tl_crowd *crowd, size_t pairs, const talus_real *margins,
                             tl_sphere_row **rows) {
  const tl_model *model = crowd->model;
  const talus_domain_def *domain = &model->domain;
  *rows = NULL;
  if (pairs < model->bodies || crowd->members || /* only members have margins */
      (domain->enabled && (domain->periodic[0] || domain->periodic[1] || domain->periodic[2])))
    return TALUS_OK;
  TL_TAKE(crowd->arena, model->bodies, rows);
  row_work work = {model, crowd, margins, *rows};
  tl_for(&model->par, model->bodies, 2048, fill_rows, &work);
  return TALUS_OK;
}

/* ---- far apart ------------------------------------------------------------------------------- */

tl_sphere_reach tl_spheres_reach(const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  if (!tl_reach_is_on(model) || !(crowd->dt > 0) || model->law_kinds != 0 || crowd->joints ||
      crowd->in->sleep_flags || model->solve.friction == TALUS_FRICTION_CCP)
    return (tl_sphere_reach){0};
  return (tl_sphere_reach){.h = crowd->dt,
                           .slow = (double)tl_reach_slow(model, crowd->dt),
                           .slack = (double)tl_reach_slack(model, crowd->dt)};
}

/* An upper bound of tl_reach_holds if no body is pushed and no visits are left. */
bool tl_spheres_are_apart(const tl_crowd *crowd, const tl_sphere_row *rows,
                          const tl_sphere_reach *reach, tl_pair pair) {
  const tl_sphere_row *a = &rows[pair.a], *b = &rows[pair.b];
  const talus_dvec3 d = tl_dvec3(b->x - a->x, b->y - a->y, b->z - a->z);
  const talus_dvec3 u = tl_dvec3(b->vx - a->vx, b->vy - a->vy, b->vz - a->vz);
  const double distance = tl_dlength(d), gap = distance - (a->radius + b->radius);
  const double turning = a->radius * (double)tl_length(crowd->in->spin[pair.a]) +
                         b->radius * (double)tl_length(crowd->in->spin[pair.b]);
  const double closing = fmax(-tl_ddot(u, d) / distance, 0);
  return gap > 1.0001 * (reach->slack + reach->h * (closing + tl_dlength(u) + turning));
}

/* ---- plain loops ----------------------------------------------------------------------------- */

static int collide(const tl_sphere_row *a, const tl_sphere_row *b, tl_point *point) {
  /* Margins are added as talus_real, which rounds in the single build. */
  const double margin = (double)(talus_real)((talus_real)a->margin + (talus_real)b->margin);
  return tl_collide_sphere_sphere(a->radius, b->radius,
                                  tl_dvec3(b->x - a->x, b->y - a->y, b->z - a->z), margin, point);
}

static void meet(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                 const tl_sphere_reach *reach, tl_sphere_word *word) {
  uint64_t bits = 0, strange = 0;
  (void)reach;
  for (size_t i = 0; i < count; ++i) {
    const tl_sphere_row *a = &rows[pairs[i].a], *b = &rows[pairs[i].b];
    tl_point point;
    if (isnan(a->radius) || isnan(b->radius))
      strange |= UINT64_C(1) << i;
    else
      bits |= (uint64_t)collide(a, b, &point) << i;
  }
  *word = (tl_sphere_word){.meets = bits, .others = strange};
}

static void write(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                  const tl_sphere_way *way, tl_contact *out, uint64_t *doubts) {
  for (size_t i = 0; i < count; ++i) {
    const tl_sphere_row *a = &rows[pairs[i].a], *b = &rows[pairs[i].b];
    tl_point point = {0};
    (void)collide(a, b, &point);
    out[i] = (tl_contact){.a = pairs[i].a,
                          .b = pairs[i].b,
                          .point = tl_dadd(tl_dvec3(a->x, a->y, a->z), point.point),
                          .normal = point.normal,
                          .gap = point.gap};
    doubts[i / 64] &= i % 64 == 0 ? 0 : ~UINT64_C(0);
    doubts[i / 64] |= (uint64_t)(way->h > 0 && point.gap > 0) << i % 64;
  }
}

const tl_sphere_loops tl_spheres_plain = {meet, write};

const tl_sphere_loops *tl_spheres_loops(void) {
  static const tl_sphere_loops *const all[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = &tl_spheres_generic,
                                                           [TL_ISA_AVX2] = &tl_spheres_avx2,
                                                           [TL_ISA_AVX512] = &tl_spheres_avx512};
  return tl_spheres_plain_of_tests ? &tl_spheres_plain : all[tl_isa_now()];
}
