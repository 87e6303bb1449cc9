/* Rows of a pack and their bodies as vectors, and the arithmetic of a visit.
 *
 * A solver body is eight reals, so W bodies make a matrix whose rows are bodies and whose columns
 * are the operands of the arithmetic: all v.x, all v.y, ... The matrix is loaded row by row and
 * transposed in registers; afterwards it is transposed back and stored. Inertia tensors of the
 * bodies that need one are loaded in the same way.
 *
 * A pack is eight rows, whatever W is: a vector begins at row `o`. Rows of a pack share no body
 * that they could move, so taking W of them after the other changes no bit. */
#ifndef TL_SOLVE_CCP_LANES_H
#define TL_SOLVE_CCP_LANES_H

#include "base/simd.h"
#include "solve/ccp/rows.h"

#include <stddef.h>

_Static_assert(TL_SIMD_GROUP == TL_CCP_LANES, "a pack is a group");

#undef TL_FN
#define TL_FN              INLINE
#define NUMBER             lanes
#define TRUTH              lane_mask
#define NUMBER_SQRT(x)     lanes_sqrt(x)
#define SELECT(test, a, b) lanes_select(test, a, b)
#define ANY(test)          (lanes_mask(test) != 0)
#define VISIT(name)        lanes_##name
#include "kernels/ccp_visit.h"
#include "kernels/rolling_visit.h"

/* Loads W rows of a pack, beginning at row `o`. */
INLINE lanes_vec load_vec(const tl_ccp_lanes *from, size_t o) {
  const lanes_vec r = {load(from->x + o), load(from->y + o), load(from->z + o)};
  return r;
}

/* tl_ccp_friction for W rows. */
INLINE lanes friction_of(const tl_ccp_rows *rows, size_t k, size_t o) {
  const lanes zero = {0};
  return rows->frictions ? load(rows->frictions[k].of + o) : zero + rows->friction;
}

/* 1/(en et), where impulses are measured: one division serves the change and the pull. */
INLINE lanes unit_of(const tl_ccp_pack *pack, size_t o) {
  const lanes zero = {0}, one = zero + 1, both = load(pack->en + o) * load(pack->et + o);
  return one / both;
}

INLINE lanes_vec cross(lanes_vec a, lanes_vec b) {
  const lanes_vec r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  return r;
}

INLINE void store_vec(tl_ccp_lanes *to, size_t o, lanes_vec from) {
  store(to->x + o, from.x);
  store(to->y + o, from.y);
  store(to->z + o, from.z);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The columns of W bodies. */
typedef struct body_lanes {
  lanes_vec v, w;
  lanes inv_mass, inv_inertia;
} body_lanes;

_Static_assert(sizeof(tl_ccp_body) == TL_SIMD_GROUP * sizeof(talus_real), "a body is a row");

INLINE body_lanes load_bodies(const tl_ccp_body *bodies, const uint32_t *index) {
  lanes m[TL_SIMD_GROUP];
  load_rows(bodies, TL_SIMD_GROUP, index, m);
  const body_lanes r = {{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, m[3], m[7]};
  return r;
}

/* Bodies that do not move are not written, because other threads read them. */
INLINE void store_bodies(tl_ccp_body *bodies, const uint32_t *index, const body_lanes *from) {
  lanes m[TL_SIMD_GROUP] = {from->v.x, from->v.y, from->v.z, from->inv_mass,
                            from->w.x, from->w.y, from->w.z, from->inv_inertia};
  const lanes zero = {0};
  store_rows(bodies, TL_SIMD_GROUP, index, m, lanes_mask(from->inv_mass > zero));
}

/* Loads only the first four numbers of each body: velocity and inverse mass. */
INLINE body_lanes load_centres(const tl_ccp_body *bodies, const uint32_t *index) {
  lanes m[4];
  load_fours(bodies, TL_SIMD_GROUP, index, m);
  const body_lanes r = {.v = {m[0], m[1], m[2]}, .inv_mass = m[3]};
  return r;
}

INLINE void store_centres(tl_ccp_body *bodies, const uint32_t *index, const body_lanes *from) {
  lanes m[4] = {from->v.x, from->v.y, from->v.z, from->inv_mass};
  const lanes zero = {0};
  store_fours(bodies, TL_SIMD_GROUP, index, m, lanes_mask(from->inv_mass > zero));
}

/* Relative velocity of the contact points: v + w x arm of b, minus that of a. */
INLINE lanes_vec relative_velocity(const body_lanes *a, const body_lanes *b, lanes_vec arm_a,
                                   lanes_vec arm_b) {
  const lanes_vec ca = cross(a->w, arm_a), cb = cross(b->w, arm_b);
  const lanes_vec r = {(b->v.x + cb.x) - (a->v.x + ca.x), (b->v.y + cb.y) - (a->v.y + ca.y),
                       (b->v.z + cb.z) - (a->v.z + ca.z)};
  return r;
}

/* The same for arms reach_a n and reach_b n. */
INLINE lanes_vec radial_velocity(const body_lanes *a, const body_lanes *b, lanes reach_a,
                                 lanes reach_b, lanes_vec n) {
  const lanes_vec s = {b->w.x * reach_b - a->w.x * reach_a, b->w.y * reach_b - a->w.y * reach_a,
                       b->w.z * reach_b - a->w.z * reach_a};
  const lanes_vec c = cross(s, n);
  const lanes_vec r = {(b->v.x - a->v.x) + c.x, (b->v.y - a->v.y) + c.y, (b->v.z - a->v.z) + c.z};
  return r;
}

/* Applies an impulse and a moment about the centre of mass. */
INLINE void push(body_lanes *body, lanes_vec p, lanes_vec moment) {
  body->v = lanes_madd(body->v, body->inv_mass, p);
  body->w = lanes_madd(body->w, body->inv_inertia, moment);
}

/* The columns of W tensors. */
typedef struct tensor_lanes {
  lanes_vec inv_mass;
  lanes xx, yy, zz, xy, xz, yz;
} tensor_lanes;

_Static_assert(offsetof(tl_ccp_tensor, inv_inertia.yz) == TL_SIMD_GROUP * sizeof(talus_real),
               "a tensor is a row and one real more");

INLINE tensor_lanes load_tensors(const tl_ccp_tensor *tensors, const uint32_t *index) {
  lanes m[TL_SIMD_GROUP];
  talus_real yz[W];
  for (int i = 0; i < W; ++i)
    yz[i] = tensors[index[i]].inv_inertia.yz;
  load_rows(tensors, sizeof *tensors / sizeof(talus_real), index, m);
  const tensor_lanes r = {{m[0], m[1], m[2]}, m[3], m[4], m[5], m[6], m[7], load(yz)};
  return r;
}

/* tl_ccp_turn: bodies with a negative inv_inertia use their tensor. */
INLINE void push_tensor(body_lanes *body, const tensor_lanes *t, lanes_vec p, lanes_vec m) {
  const lanes zero = {0};
  const lane_mask same = body->inv_inertia >= zero;
  const lanes_vec turn = {t->xx * m.x + t->xy * m.y + t->xz * m.z,
                          t->xy * m.x + t->yy * m.y + t->yz * m.z,
                          t->xz * m.x + t->yz * m.y + t->zz * m.z};
  body->v.x += lanes_select(same, body->inv_mass, t->inv_mass.x) * p.x;
  body->v.y += lanes_select(same, body->inv_mass, t->inv_mass.y) * p.y;
  body->v.z += lanes_select(same, body->inv_mass, t->inv_mass.z) * p.z;
  body->w.x += lanes_select(same, body->inv_inertia * m.x, turn.x);
  body->w.y += lanes_select(same, body->inv_inertia * m.y, turn.y);
  body->w.z += lanes_select(same, body->inv_inertia * m.z, turn.z);
}

/* Applies p to b and -p to a; arms are along the normal. */
INLINE void push_radial(body_lanes *a, body_lanes *b, lanes reach_a, lanes reach_b, lanes_vec n,
                        lanes_vec p) {
  const lanes_vec turn = cross(n, p);
  a->v = lanes_madd(a->v, -a->inv_mass, p);
  b->v = lanes_madd(b->v, b->inv_mass, p);
  a->w = lanes_madd(a->w, -a->inv_inertia * reach_a, turn);
  b->w = lanes_madd(b->w, b->inv_inertia * reach_b, turn);
}

/* Arms of a pack: from the table, or reach times the normal. */
INLINE lanes_vec arm_of(const tl_ccp_lanes *table, const talus_real *reach, size_t o, lanes_vec n) {
  if (table)
    return load_vec(table, o);
  const lanes r = load(reach + o);
  const lanes_vec arm = {n.x * r, n.y * r, n.z * r};
  return arm;
}

/* arm x -p, the moment on body a. */
INLINE lanes_vec cross_back(lanes_vec arm, lanes_vec p) {
  const lanes_vec back = {-p.x, -p.y, -p.z};
  return cross(arm, back);
}

/* Applies p to b and -p to a, each with its moment; uses tensors if `by_tensor`. Stores the
 * bodies. */
INLINE void push_pack(const tl_ccp_rows *rows, const tl_ccp_pack *pack, size_t o, body_lanes *a,
                      body_lanes *b, lanes_vec p, lanes_vec moment_a, lanes_vec moment_b,
                      const bool by_tensor) {
  const lanes_vec back = {-p.x, -p.y, -p.z};
  if (by_tensor) {
    const tensor_lanes of_a = load_tensors(rows->tensors, pack->a + o);
    push_tensor(a, &of_a, back, moment_a);
    const tensor_lanes of_b = load_tensors(rows->tensors, pack->b + o);
    push_tensor(b, &of_b, p, moment_b);
  } else {
    push(a, back, moment_a);
    push(b, p, moment_b);
  }
  store_bodies(rows->bodies, pack->a + o, a);
  store_bodies(rows->bodies, pack->b + o, b);
}

#endif
