/* Visits of rows, eight at a time, with AVX-512.
 *
 * A solver body is eight reals, so eight bodies make an 8 x 8 matrix whose rows are bodies and
 * whose columns are what the arithmetic wants: all v.x, all v.y, ... The matrix is loaded row by
 * row and transposed in registers; the arithmetic is that of kernels/ccp_visit.h with a vector of
 * eight as the number; then the matrix is transposed back and stored. Vectors are the compiler's
 * own (gcc, clang). No operation is fused or reordered, so the bits are those of the scalar code.
 *
 * Inertia tensors of the bodies that need one are loaded in the same way. This file alone is
 * compiled for AVX-512 (CMakeLists.txt); it runs only where the processor has it. */
#include "solve/ccp.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include "solve/ccp_lanes.h"

#include <math.h>
#include <stddef.h>

/* The columns of eight bodies. */
typedef struct body_lanes {
  lanes_vec v, w;
  lanes inv_mass, inv_inertia;
} body_lanes;

_Static_assert(sizeof(tl_ccp_body) == sizeof(lanes), "a solver body is a vector");

INLINE body_lanes load_bodies(const tl_ccp_body *bodies, const uint32_t *index) {
  lanes m[W];
  for (int i = 0; i < W; ++i)
    memcpy(&m[i], &bodies[index[i]], sizeof m[i]);
  transpose(m);
  const body_lanes r = {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, m[6], m[7]};
  return r;
}

/* Bodies that do not move are not written: other threads read them. Packs of movable bodies only
 * are by far the most. */
INLINE void store_bodies(tl_ccp_body *bodies, const uint32_t *index, const body_lanes *from) {
  lanes m[W] = {from->v.x, from->v.y, from->v.z,      from->w.x,
                from->w.y, from->w.z, from->inv_mass, from->inv_inertia};
  const lanes zero = {0};
  const unsigned movable = lanes_mask(from->inv_mass > zero);
  transpose(m);
  if (movable == 0xff) {
    for (int i = 0; i < W; ++i)
      memcpy(&bodies[index[i]], &m[i], sizeof m[i]);
    return;
  }
  for (int i = 0; i < W; ++i)
    if (movable >> i & 1)
      memcpy(&bodies[index[i]], &m[i], sizeof m[i]);
}

/* v + w x arm of b, less that of a. */
INLINE lanes_vec relative_velocity(const body_lanes *a, const body_lanes *b, lanes_vec arm_a,
                                   lanes_vec arm_b) {
  const lanes_vec ca = cross(a->w, arm_a), cb = cross(b->w, arm_b);
  const lanes_vec r = {(b->v.x + cb.x) - (a->v.x + ca.x), (b->v.y + cb.y) - (a->v.y + ca.y),
                       (b->v.z + cb.z) - (a->v.z + ca.z)};
  return r;
}

/* The same where arms are reach_a n and reach_b n. */
INLINE lanes_vec radial_velocity(const body_lanes *a, const body_lanes *b, lanes reach_a,
                                 lanes reach_b, lanes_vec n) {
  const lanes_vec s = {b->w.x * reach_b - a->w.x * reach_a, b->w.y * reach_b - a->w.y * reach_a,
                       b->w.z * reach_b - a->w.z * reach_a};
  const lanes_vec c = cross(s, n);
  const lanes_vec r = {(b->v.x - a->v.x) + c.x, (b->v.y - a->v.y) + c.y, (b->v.z - a->v.z) + c.z};
  return r;
}

INLINE void push(body_lanes *body, lanes_vec arm, lanes_vec p) {
  body->v = lanes_madd(body->v, body->inv_mass, p);
  body->w = lanes_madd(body->w, body->inv_inertia, cross(arm, p));
}

/* The columns of eight tensors. */
typedef struct tensor_lanes {
  lanes_vec inv_mass;
  lanes xx, yy, zz, xy, xz, yz;
} tensor_lanes;

_Static_assert(offsetof(tl_ccp_tensor, inv_inertia.yz) == sizeof(lanes), "and one real more");

INLINE tensor_lanes load_tensors(const tl_ccp_tensor *tensors, const uint32_t *index) {
  lanes m[W];
  talus_real yz[W];
  for (int i = 0; i < W; ++i) {
    memcpy(&m[i], &tensors[index[i]], sizeof m[i]);
    yz[i] = tensors[index[i]].inv_inertia.yz;
  }
  transpose(m);
  const tensor_lanes r = {{m[0], m[1], m[2]}, m[3], m[4], m[5], m[6], m[7], load(yz)};
  return r;
}

/* tl_ccp_push: by the tensor where inv_inertia is negative. */
INLINE void push_tensor(body_lanes *body, const tensor_lanes *t, lanes_vec arm, lanes_vec p) {
  const lanes zero = {0};
  const lane_mask same = body->inv_inertia >= zero;
  const lanes_vec m = cross(arm, p);
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

/* p on b and its opposite on a, with arms along the normal. */
INLINE void push_radial(body_lanes *a, body_lanes *b, lanes reach_a, lanes reach_b, lanes_vec n,
                        lanes_vec p) {
  const lanes_vec turn = cross(n, p);
  a->v = lanes_madd(a->v, -a->inv_mass, p);
  b->v = lanes_madd(b->v, b->inv_mass, p);
  a->w = lanes_madd(a->w, -a->inv_inertia * reach_a, turn);
  b->w = lanes_madd(b->w, b->inv_inertia * reach_b, turn);
}

INLINE double add_lanes(lanes x) {
  double sum = 0;
  for (int i = 0; i < W; ++i)
    sum += (double)x[i];
  return sum;
}

/* ---- packs
 * ------------------------------------------------------------------------------------------- */

/* Arms of a pack, from their table or along the normal. */
INLINE lanes_vec arm_of(const tl_ccp_lanes *table, const talus_real *reach, lanes_vec n) {
  if (table)
    return load_vec(table);
  const lanes r = load(reach);
  const lanes_vec arm = {n.x * r, n.y * r, n.z * r};
  return arm;
}

/* What a visit changes: impulses of the pack, and how far they moved in velocity units. */
INLINE lanes take_step(const tl_ccp *job, tl_ccp_pack *pack, lanes_vec u, lanes_vec n,
                       lanes_vec *change) {
  const lanes_vec p = load_vec(&pack->impulse);
  const lanes en = load(pack->en), et = load(pack->et), zero = {0};
  const lanes_vec fresh =
      lanes_step(p, u, n, load(pack->bias), load(pack->friction), en, et, job->ncp > 0);
  memcpy(pack->impulse.x, &fresh.x, sizeof fresh.x);
  memcpy(pack->impulse.y, &fresh.y, sizeof fresh.y);
  memcpy(pack->impulse.z, &fresh.z, sizeof fresh.z);
  change->x = fresh.x - p.x;
  change->y = fresh.y - p.y;
  change->z = fresh.z - p.z;
  return lanes_select(en > zero, lanes_dot(*change, *change) / (en * et), zero);
}

/* p on b and its opposite on a, with any arms, and tensors where `by_tensor`. */
INLINE void push_pack(const tl_ccp *job, const tl_ccp_pack *pack, body_lanes *a, body_lanes *b,
                      lanes_vec arm_a, lanes_vec arm_b, lanes_vec p, const bool by_tensor) {
  const lanes_vec back = {-p.x, -p.y, -p.z};
  if (by_tensor) {
    const tensor_lanes of_a = load_tensors(job->tensors, pack->a);
    push_tensor(a, &of_a, arm_a, back);
    const tensor_lanes of_b = load_tensors(job->tensors, pack->b);
    push_tensor(b, &of_b, arm_b, p);
  } else {
    push(a, arm_a, back);
    push(b, arm_b, p);
  }
  store_bodies(job->bodies, pack->a, a);
  store_bodies(job->bodies, pack->b, b);
}

INLINE lanes sweep_pack(const tl_ccp *job, size_t k, const bool by_tensor) {
  tl_ccp_pack *pack = &job->packs[k];
  const tl_ccp_arms *arms = job->arms ? &job->arms[k] : NULL;
  body_lanes a = load_bodies(job->bodies, pack->a), b = load_bodies(job->bodies, pack->b);
  const lanes_vec n = load_vec(&pack->normal);
  const lanes_vec arm_a = arm_of(arms ? &arms->a : NULL, pack->reach_a, n);
  const lanes_vec arm_b = arm_of(arms ? &arms->b : NULL, pack->reach_b, n);
  lanes_vec change;
  const lanes moved = take_step(job, pack, relative_velocity(&a, &b, arm_a, arm_b), n, &change);
  push_pack(job, pack, &a, &b, arm_a, arm_b, change, by_tensor);
  return moved;
}

INLINE void warm_pack(const tl_ccp *job, size_t k, const bool by_tensor) {
  const tl_ccp_pack *pack = &job->packs[k];
  const tl_ccp_arms *arms = job->arms ? &job->arms[k] : NULL;
  body_lanes a = load_bodies(job->bodies, pack->a), b = load_bodies(job->bodies, pack->b);
  const lanes_vec n = load_vec(&pack->normal);
  push_pack(job, pack, &a, &b, arm_of(arms ? &arms->a : NULL, pack->reach_a, n),
            arm_of(arms ? &arms->b : NULL, pack->reach_b, n), load_vec(&pack->impulse), by_tensor);
}

/* Arms along the normal (tl_ccp_is_radial): one cross product does for both bodies. */
INLINE lanes sweep_radial(const tl_ccp *job, size_t k) {
  tl_ccp_pack *pack = &job->packs[k];
  body_lanes a = load_bodies(job->bodies, pack->a), b = load_bodies(job->bodies, pack->b);
  const lanes_vec n = load_vec(&pack->normal);
  const lanes reach_a = load(pack->reach_a), reach_b = load(pack->reach_b);
  lanes_vec change;
  const lanes moved =
      take_step(job, pack, radial_velocity(&a, &b, reach_a, reach_b, n), n, &change);
  push_radial(&a, &b, reach_a, reach_b, n, change);
  store_bodies(job->bodies, pack->a, &a);
  store_bodies(job->bodies, pack->b, &b);
  return moved;
}

INLINE void warm_radial(const tl_ccp *job, size_t k) {
  const tl_ccp_pack *pack = &job->packs[k];
  body_lanes a = load_bodies(job->bodies, pack->a), b = load_bodies(job->bodies, pack->b);
  push_radial(&a, &b, load(pack->reach_a), load(pack->reach_b), load_vec(&pack->normal),
              load_vec(&pack->impulse));
  store_bodies(job->bodies, pack->a, &a);
  store_bodies(job->bodies, pack->b, &b);
}

INLINE lanes residual_pack(const tl_ccp *job, size_t k) {
  const tl_ccp_pack *pack = &job->packs[k];
  const tl_ccp_arms *arms = job->arms ? &job->arms[k] : NULL;
  const lanes_vec n = load_vec(&pack->normal);
  const body_lanes a = load_bodies(job->bodies, pack->a), b = load_bodies(job->bodies, pack->b);
  const lanes_vec u =
      tl_ccp_is_radial(job)
          ? radial_velocity(&a, &b, load(pack->reach_a), load(pack->reach_b), n)
          : relative_velocity(&a, &b, arm_of(arms ? &arms->a : NULL, pack->reach_a, n),
                              arm_of(arms ? &arms->b : NULL, pack->reach_b, n));
  return lanes_residual(load_vec(&pack->impulse), u, n, load(pack->bias), load(pack->friction),
                        load(pack->en), load(pack->et), job->ncp > 0);
}

/* Packs stream through once a sweep, and the bodies of one are far apart: both are asked for early,
 * packs long before their bodies, whose numbers are in them. */
INLINE void prefetch_ahead(const tl_ccp *job, size_t k) {
  const char *pack = (const char *)&job->packs[k + 8];
  for (size_t line = 0; line < sizeof(tl_ccp_pack); line += 64)
    __builtin_prefetch(pack + line, 1);
  if (k + 3 >= job->pack_count)
    return;
  const tl_ccp_pack *near = &job->packs[k + 3];
  for (int i = 0; i < W; ++i) {
    __builtin_prefetch(&job->bodies[near->a[i]], 1);
    __builtin_prefetch(&job->bodies[near->b[i]], 1);
  }
}

double tl_ccp_sweep_packs_avx512(const tl_ccp *job, size_t begin, size_t end) {
  const bool radial = tl_ccp_is_radial(job);
  double sum = 0;
  lanes moved = {0};
  for (size_t k = begin; k < end; ++k) {
    tl_ccp_pack *pack = &job->packs[k];
    prefetch_ahead(job, k);
    if (radial) {
      moved += sweep_radial(job, k);
    } else if (tl_ccp_needs_tensor(job, pack)) {
      const lanes change = sweep_pack(job, k, true);
      for (int i = 0; i < W; ++i)
        sum += (double)change[i];
    } else {
      moved += sweep_pack(job, k, false);
    }
  }
  return sum + add_lanes(moved);
}

void tl_ccp_warm_packs_avx512(const tl_ccp *job, size_t begin, size_t end) {
  const bool radial = tl_ccp_is_radial(job);
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(job, k);
    if (radial)
      warm_radial(job, k);
    else if (tl_ccp_needs_tensor(job, &job->packs[k]))
      warm_pack(job, k, true);
    else
      warm_pack(job, k, false);
  }
}

double tl_ccp_residual_packs_avx512(const tl_ccp *job, size_t begin, size_t end, double *most) {
  double sum = 0;
  *most = 0;
  for (size_t k = begin; k < end; ++k) {
    const lanes r = residual_pack(job, k);
    sum += add_lanes(r * r);
    for (int i = 0; i < W; ++i)
      *most = fmax(*most, (double)r[i]);
  }
  return sum;
}

/* ---- a step of all rows from the same velocities (ccp_product.c)
 * ------------------------------------------------------------------------------------------- */

typedef double wide __attribute__((vector_size(W * sizeof(double))));

INLINE void add_to(double *sums, lanes x) {
  wide sum;
  memcpy(&sum, sums, sizeof sum);
  sum += __builtin_convertvector(x, wide);
  memcpy(sums, &sum, sizeof sum);
}

INLINE void step_pack(const tl_ccp *job, const tl_ccp_step_def *def, size_t k,
                      tl_ccp_lane_sums *sums) {
  const tl_ccp_pack *pack = &job->packs[k];
  const tl_ccp_arms *arms = job->arms ? &job->arms[k] : NULL;
  const lanes_vec n = load_vec(&pack->normal), p = load_vec(&def->from[k]);
  const body_lanes a = load_bodies(job->bodies, pack->a), b = load_bodies(job->bodies, pack->b);
  const lanes zero = {0}, en = load(pack->en), et = load(pack->et);
  const lanes_vec u =
      tl_ccp_is_radial(job)
          ? radial_velocity(&a, &b, load(pack->reach_a), load(pack->reach_b), n)
          : relative_velocity(&a, &b, arm_of(arms ? &arms->a : NULL, pack->reach_a, n),
                              arm_of(arms ? &arms->b : NULL, pack->reach_b, n));
  const lanes bias = load(pack->bias);
  lanes step_n = en, step_t = et;
  if (def->scalar) {
    const lanes mean = 3 * en * et / (et + 2 * en);
    const lanes least = lanes_select(en < et, en, et);
    step_n = step_t = lanes_select(en > zero, lanes_select(mean < least, mean, least), zero);
  }
  const lanes_vec to = lanes_step(p, u, n, bias, load(pack->friction), def->scale * step_n,
                                  def->scale * step_t, job->ncp > 0);
  memcpy(def->to[k].x, &to.x, sizeof to.x);
  memcpy(def->to[k].y, &to.y, sizeof to.y);
  memcpy(def->to[k].z, &to.z, sizeof to.z);
  const lane_mask alive = en > zero;
  const lanes_vec change = {to.x - p.x, to.y - p.y, to.z - p.z};
  const lanes_vec slip = lanes_madd(u, -lanes_dot(u, n), n);
  const lanes mu = load(pack->friction), most = lanes_select(mu < 1, mu, zero + 1);
  const lanes lean = job->ncp * most * lanes_sqrt(lanes_dot(slip, slip));
  const lanes_vec d = lanes_madd(u, bias + lean, n);
  const lanes normal = lanes_dot(change, n), rest = lanes_dot(change, change) - normal * normal;
  const lanes tangent2 = lanes_select(rest > zero, rest, zero);
  add_to(sums->length2, lanes_select(alive, normal * normal / en + tangent2 / et, zero));
  add_to(sums->slope, lanes_select(alive, lanes_dot(d, change), zero));
  if (def->mark) {
    const lanes_vec mark = load_vec(&def->mark[k]);
    const lanes_vec way = {to.x - mark.x, to.y - mark.y, to.z - mark.z};
    add_to(sums->lead, lanes_select(alive, lanes_dot(d, way), zero));
  }
}

void tl_ccp_step_packs_avx512(const tl_ccp *job, const tl_ccp_step_def *def, size_t begin,
                              size_t end, tl_ccp_lane_sums *sums) {
  for (size_t k = begin; k < end; ++k) {
    prefetch_ahead(job, k);
    step_pack(job, def, k, sums);
  }
}

bool tl_ccp_has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

#else

bool tl_ccp_has_avx512(void) { return false; }

void tl_ccp_step_packs_avx512(const tl_ccp *job, const tl_ccp_step_def *def, size_t begin,
                              size_t end, tl_ccp_lane_sums *sums) {
  tl_ccp_step_packs_scalar(job, def, begin, end, sums);
}

double tl_ccp_sweep_packs_avx512(const tl_ccp *job, size_t begin, size_t end) {
  return tl_ccp_sweep_packs_scalar(job, begin, end);
}

void tl_ccp_warm_packs_avx512(const tl_ccp *job, size_t begin, size_t end) {
  tl_ccp_warm_packs_scalar(job, begin, end);
}

double tl_ccp_residual_packs_avx512(const tl_ccp *job, size_t begin, size_t end, double *most) {
  return tl_ccp_residual_packs_scalar(job, begin, end, most);
}

#endif
