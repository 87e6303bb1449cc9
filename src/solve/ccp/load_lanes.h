/* Makes rows from gathered data of contacts and bodies, W at a time. The arithmetic is that of
 * tl_system_make_row (solve/system/row.c), operation by operation, so that the bits are the
 * same. */
#ifndef TL_SOLVE_CCP_LOAD_LANES_H
#define TL_SOLVE_CCP_LOAD_LANES_H

#include "solve/ccp/ccp.h"
#include "solve/ccp/lanes.h"

/* ---- from gathered data ---------------------------------------------------------------------- */

/* The data of a body that a row needs. */
typedef struct end_lanes {
  lanes_vec arm;
  lanes inv_mass, inv_inertia;
} end_lanes;

/* Steps of a row between bodies that answer the same in every direction (find_steps of
 * solve/system/row.c). */
INLINE void find_steps(const end_lanes *a, const end_lanes *b, size_t o, lanes_vec n,
                       tl_ccp_pack *pack, lanes *en) {
  const lanes zero = {0}, one = zero + 1;
  const lanes along_a = lanes_dot(a->arm, n), along_b = lanes_dot(b->arm, n);
  const lanes all = a->inv_mass + b->inv_mass + a->inv_inertia * lanes_dot(a->arm, a->arm) +
                    b->inv_inertia * lanes_dot(b->arm, b->arm);
  const lanes normal =
      all - a->inv_inertia * along_a * along_a - b->inv_inertia * along_b * along_b;
  *en = lanes_select(normal > zero, one / normal, zero);
  store(pack->en + o, *en);
  store(pack->et + o, lanes_select(all > zero, one / all, zero));
  store(pack->reach_a + o, along_a);
  store(pack->reach_b + o, along_b);
}

INLINE lanes_vec by_matrix(const tensor_lanes *m, lanes_vec v) {
  const lanes_vec r = {m->xx * v.x + m->xy * v.y + m->xz * v.z,
                       m->xy * v.x + m->yy * v.y + m->yz * v.z,
                       m->xz * v.x + m->yz * v.y + m->zz * v.z};
  return r;
}

/* Adds tl_point_response (kernels/cone.h) of a body to a matrix, whose inv_mass is not used. */
INLINE void add_response(const end_lanes *end, const tensor_lanes *tensor, tensor_lanes *to) {
  const lanes zero = {0}, x = end->arm.x, y = end->arm.y, z = end->arm.z, i = end->inv_inertia;
  const lane_mask same = i >= zero;
  const lanes m = end->inv_mass;
  const tensor_lanes w = {.xx = lanes_select(same, i, tensor->xx),
                          .yy = lanes_select(same, i, tensor->yy),
                          .zz = lanes_select(same, i, tensor->zz),
                          .xy = lanes_select(same, zero, tensor->xy),
                          .xz = lanes_select(same, zero, tensor->xz),
                          .yz = lanes_select(same, zero, tensor->yz)};
  const lanes_vec w0 = {y * w.xz - z * w.xy, y * w.yz - z * w.yy, y * w.zz - z * w.yz};
  const lanes_vec w1 = {z * w.xx - x * w.xz, z * w.xy - x * w.yz, z * w.xz - x * w.zz};
  const lanes_vec w2 = {x * w.xy - y * w.xx, x * w.yy - y * w.xy, x * w.yz - y * w.xz};
  to->xx += lanes_select(same, m, tensor->inv_mass.x) + (y * w0.z - z * w0.y);
  to->yy += lanes_select(same, m, tensor->inv_mass.y) + (z * w1.x - x * w1.z);
  to->zz += lanes_select(same, m, tensor->inv_mass.z) + (x * w2.y - y * w2.x);
  to->xy += z * w0.x - x * w0.z;
  to->xz += x * w0.y - y * w0.x;
  to->yz += x * w1.y - y * w1.x;
}

INLINE lanes size_of(lanes x) {
  const lanes zero = {0};
  return lanes_select(x < zero, -x, x);
}

/* tl_hypot_quick for W numbers. */
INLINE lanes hypot_of(lanes a, lanes b) {
  const lanes zero = {0}, one = zero + 1, x = size_of(a), y = size_of(b);
  const lanes big = lanes_select(x > y, x, y), small = lanes_select(x > y, y, x);
  const lanes ratio = small / big;
  return lanes_select(big > zero, big * lanes_sqrt(one + ratio * ratio), x + y);
}

/* tl_sym3_plane_eigenvalue_max for W matrices. */
INLINE lanes find_largest_across(const tensor_lanes *m, lanes_vec n) {
  const lanes zero = {0}, one = zero + 1, half = zero + TL_R(0.5);
  const lanes sign = lanes_select(n.z >= zero, one, -one), a = -one / (sign + n.z);
  const lanes_vec t = {one + sign * n.x * n.x * a, sign * n.x * n.y * a, -sign * n.x};
  const lanes_vec s = cross(n, t), at = by_matrix(m, t), as = by_matrix(m, s);
  const lanes tt = lanes_dot(t, at), ss = lanes_dot(s, as), ts = lanes_dot(t, as);
  return half * (tt + ss) + hypot_of(half * (tt - ss), ts);
}

/* find_steps where some bodies answer by their tensor; rows without such a body are left as they
 * are. */
INLINE void find_steps_by_tensor(const end_lanes *a, const end_lanes *b, const tensor_lanes *of_a,
                                 const tensor_lanes *of_b, size_t o, lanes_vec n, tl_ccp_pack *pack,
                                 lanes *en) {
  const lanes zero = {0}, one = zero + 1;
  const lane_mask by_tensor = (a->inv_inertia < zero) | (b->inv_inertia < zero);
  tensor_lanes response = {.xx = zero, .yy = zero, .zz = zero, .xy = zero, .xz = zero, .yz = zero};
  add_response(a, of_a, &response);
  add_response(b, of_b, &response);
  const lanes normal = lanes_dot(n, by_matrix(&response, n));
  const lanes tangent = find_largest_across(&response, n);
  const lanes along = lanes_select(normal > zero, one / normal, zero);
  const lanes across = lanes_select(tangent > zero, one / tangent, zero);
  *en = lanes_select(by_tensor, along, *en);
  store(pack->en + o, *en);
  store(pack->et + o,
        lanes_select(by_tensor, lanes_select(across > zero, across, along), load(pack->et + o)));
}

/* tl_contact_bias for W rows. */
INLINE lanes find_bias(const tl_system *system, lanes gap) {
  const lanes zero = {0};
  const talus_real h = (talus_real)system->crowd->dt;
  const lanes closing = gap / h, least = zero - system->recovery_speed;
  return lanes_select(gap >= zero, closing, lanes_select(closing > least, closing, least));
}

/* tl_cone_project for W rows: the starting impulse, projected into its cone. */
INLINE lanes_vec find_start(lanes_vec g, lanes_vec n, lanes mu, lanes en) {
  const lanes zero = {0};
  const lanes gn = lanes_dot(g, n);
  const lanes_vec gt = lanes_madd(g, -gn, n);
  const lanes square = lanes_dot(gt, gt), limit = mu * gn, t = lanes_sqrt(square);
  const lane_mask inside = (gn >= zero) & (square <= limit * limit);
  const lanes weight = zero + 1 + mu * mu, top = gn + mu * t;
  const lanes f = top / (weight * t); /* only used where t > 0 */
  const lanes along = f * t, aside = mu * f;
  const lane_mask alive = en > zero, polar = top <= zero;
  const lanes_vec side = {n.x * along, n.y * along, n.z * along};
  const lanes_vec p = lanes_madd(side, aside, gt);
  lanes_vec r;
  r.x = lanes_select(alive, lanes_select(inside, g.x, lanes_select(polar, zero, p.x)), zero);
  r.y = lanes_select(alive, lanes_select(inside, g.y, lanes_select(polar, zero, p.y)), zero);
  r.z = lanes_select(alive, lanes_select(inside, g.z, lanes_select(polar, zero, p.z)), zero);
  return r;
}

static void finish_packs(const tl_system *system, const tl_ccp_raw *raws, tl_ccp_pack *packs,
                         size_t count) {
  const lanes_vec none = {{0}, {0}, {0}};
  for (size_t k = 0; k < count; ++k)
    for (size_t o = 0; o < TL_CCP_LANES; o += W) {
      tl_ccp_pack *pack = &packs[k];
      const lanes_vec n = load_vec(&pack->normal, o);
      lanes en;
      const end_lanes a = {load_vec(&raws[k].arm_a, o), load(raws[k].inv_mass_a + o),
                           load(raws[k].inv_inertia_a + o)};
      const end_lanes b = {load_vec(&raws[k].arm_b, o), load(raws[k].inv_mass_b + o),
                           load(raws[k].inv_inertia_b + o)};
      find_steps(&a, &b, o, n, pack, &en);
      store(pack->bias + o, find_bias(system, load(raws[k].gap + o)));
      store_vec(&pack->impulse, o,
                system->settings->warm_start
                    ? find_start(load_vec(&pack->impulse, o), n, load(raws[k].friction + o), en)
                    : none);
    }
}

/* ---- directly from contacts and bodies (double precision only) ------------------------------- */

#if TALUS_SINGLE

#define fill_packs NULL /* in single precision places are doubles and the rest is not */

#else

/* The contacts of a pack and their bodies are far apart in memory, so both are prefetched. */
INLINE void ask_for_contacts(const tl_ccp *job, size_t k) {
  if (k >= job->rows.pack_count)
    return;
  for (uint32_t row = job->rows.pack_row[k]; row < job->rows.pack_row[k + 1]; ++row) {
    const tl_contact *c = &job->system->contacts->data[job->rows.contact[row]];
    __builtin_prefetch(c);
    __builtin_prefetch(&c->impulse.z);
  }
}

INLINE void ask_for_bodies(const tl_ccp *job, size_t k) {
  if (k >= job->rows.pack_count)
    return;
  const tl_system *system = job->system;
  for (uint32_t row = job->rows.pack_row[k]; row < job->rows.pack_row[k + 1]; ++row) {
    const tl_contact *c = &system->contacts->data[job->rows.contact[row]];
    __builtin_prefetch(&system->crowd->in->position[c->a]);
    __builtin_prefetch(&system->crowd->in->position[c->b]);
    __builtin_prefetch(&system->bodies[tl_system_body(system, c->a)]);
    __builtin_prefetch(&system->bodies[tl_system_body(system, c->b)]);
  }
}

/* Numbers at the begin of a contact that are loaded: the first two are its key, the last eight all
 * but key, point.x and point.y. */
#define CONTACT_NUMBERS (sizeof(tl_contact) / sizeof(double))
_Static_assert(offsetof(tl_contact, point) == 2 * sizeof(double), "two numbers of keys");
_Static_assert(offsetof(tl_contact, normal) == 5 * sizeof(double), "then the point");
_Static_assert(offsetof(tl_contact, gap) == 8 * sizeof(double), "then the normal");
_Static_assert(offsetof(tl_contact, impulse) == 9 * sizeof(double), "then the gap");
_Static_assert(sizeof(tl_contact) == 12 * sizeof(double), "and the impulse");

INLINE lanes_vec minus_vec(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.x - b.x, a.y - b.y, a.z - b.z};
  return r;
}

INLINE lanes_vec load_places(const talus_dvec3 *place, const uint32_t *slot) {
  lanes m[3];
  load_threes(place, slot, m);
  const lanes_vec r = {m[0], m[1], m[2]};
  return r;
}

/* Fills W rows of a pack; all W lanes must have a contact. */
INLINE void fill_rows(const tl_ccp *job, size_t k, size_t o, const uint32_t *contact) {
  const tl_system *system = job->system;
  const tl_contact *data = system->contacts->data;
  tl_ccp_pack *pack = &job->rows.packs[k];
  uint32_t slot_a[W], slot_b[W];
  for (size_t i = 0; i < W; ++i) {
    slot_a[i] = data[contact[i]].a, slot_b[i] = data[contact[i]].b;
    pack->a[o + i] = tl_system_body(system, slot_a[i]);
    pack->b[o + i] = tl_system_body(system, slot_b[i]);
  }
  lanes first[4], rest[TL_SIMD_GROUP];
  load_fours(data, CONTACT_NUMBERS, contact, first);
  load_rows((const double *)(const void *)data + 4, CONTACT_NUMBERS, contact, rest);
  const lanes_vec point = {first[2], first[3], rest[0]}, n = {rest[1], rest[2], rest[3]};
  const lanes_vec impulse = {rest[5], rest[6], rest[7]}, none = {{0}, {0}, {0}};
  const lanes zero = {0}, gap = rest[4];
  const lanes_vec at_a = load_places(system->crowd->in->position, slot_a);
  const lanes_vec at_b = load_places(system->crowd->in->position, slot_b);
  const body_lanes body_a = load_bodies(system->bodies, pack->a + o);
  const body_lanes body_b = load_bodies(system->bodies, pack->b + o);
  const lanes_vec to_point = minus_vec(point, at_a);
  const end_lanes a = {to_point, body_a.inv_mass, body_a.inv_inertia};
  const end_lanes b = {minus_vec(to_point, minus_vec(at_b, at_a)), body_b.inv_mass,
                       body_b.inv_inertia};
  lanes en;
  store_vec(&pack->normal, o, n);
  find_steps(&a, &b, o, n, pack, &en);
  store(pack->bias + o, find_bias(system, lanes_select(gap > zero, gap, zero)));
  store_vec(&pack->impulse, o,
            system->settings->warm_start ? find_start(impulse, n, zero + job->rows.friction, en)
                                         : none);
  store(job->rows.gaps + k * TL_CCP_LANES + o, gap);
  if (job->rows.arms) {
    store_vec(&job->rows.arms[k].a, o, a.arm);
    store_vec(&job->rows.arms[k].b, o, b.arm);
  }
}

static void fill_packs(const tl_ccp *job, size_t begin, size_t end) {
  for (size_t k = begin; k < end; ++k) {
    const uint32_t first = job->rows.pack_row[k];
    ask_for_contacts(job, k + 8);
    ask_for_bodies(job, k + 4);
    if (job->rows.pack_row[k + 1] - first < TL_CCP_LANES) {
      tl_ccp_fill_packs(job, k, k + 1);
      continue;
    }
    for (size_t o = 0; o < TL_CCP_LANES; o += W)
      fill_rows(job, k, o, job->rows.contact + first + o);
  }
}

#endif

#endif
