/* Rows in position correction if arms are along normals (tl_ccp_is_radial). An impulse without
 * friction then turns no body, so a visit has one unknown: the length of the impulse along the
 * normal, stored in impulse.x of the pack. It reads half of a pack and needs a quarter of the
 * arithmetic. */
#include "solve/ccp/visits.h"

#include <math.h>

#define W TL_CCP_LANES

static talus_real closing_of(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const talus_vec3 u = tl_sub(rows->bodies[pack->b[i]].v, rows->bodies[pack->a[i]].v);
  return tl_dot(u, tl_ccp_lane(&pack->normal, i)) + pack->bias[i];
}

/* Length of the impulse after a visit. */
static talus_real lifted(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  const tl_ccp_pack *pack = &rows->packs[k];
  const talus_real p = pack->impulse.x[i] - pack->en[i] * closing_of(rows, k, i);
  return pack->en[i] > 0 && p > 0 ? p : 0;
}

static double lift_lane(const tl_ccp_rows *rows, size_t k, uint32_t i) {
  tl_ccp_pack *pack = &rows->packs[k];
  tl_ccp_body *a = &rows->bodies[pack->a[i]], *b = &rows->bodies[pack->b[i]];
  const talus_vec3 n = tl_ccp_lane(&pack->normal, i);
  const talus_real p = lifted(rows, k, i), change = p - pack->impulse.x[i];
  pack->impulse.x[i] = p;
  if (a->inv_mass > 0)
    a->v = tl_madd(a->v, -a->inv_mass * change, n);
  if (b->inv_mass > 0)
    b->v = tl_madd(b->v, b->inv_mass * change, n);
  const talus_real speed = change / pack->en[i];
  return pack->en[i] > 0 ? (double)(speed * speed) : 0;
}

double tl_ccp_lift_packs_scalar(const tl_ccp_rows *rows, size_t begin, size_t end) {
  double sum = 0;
  talus_real moved[W] = {0};
  for (size_t k = begin; k < end; ++k)
    for (uint32_t i = 0; i < W; ++i)
      moved[i] += (talus_real)lift_lane(rows, k, i);
  for (uint32_t i = 0; i < W; ++i)
    sum += (double)moved[i];
  return sum;
}

double tl_ccp_lift_residual_scalar(const tl_ccp_rows *rows, size_t begin, size_t end) {
  double sum = 0;
  talus_real each[W] = {0};
  for (size_t k = begin; k < end; ++k)
    for (uint32_t i = 0; i < W; ++i) {
      const tl_ccp_pack *pack = &rows->packs[k];
      const talus_real r = (lifted(rows, k, i) - pack->impulse.x[i]) / pack->en[i];
      each[i] += pack->en[i] > 0 ? r * r : 0;
    }
  for (uint32_t i = 0; i < W; ++i)
    sum += (double)each[i];
  return sum;
}

double tl_ccp_lift_packs(const tl_ccp_rows *rows, size_t begin, size_t end, bool serial) {
  return serial ? tl_ccp_lift_packs_scalar(rows, begin, end)
                : tl_ccp_visits_now()->lift(rows, begin, end);
}

double tl_ccp_lift_residual(const tl_ccp_rows *rows, size_t begin, size_t end) {
  return tl_ccp_visits_now()->lift_residual(rows, begin, end);
}
