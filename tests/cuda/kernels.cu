/* Every header of src/kernels, and sin, pow and their like, on the host and on a device: the same
 * bits, or the program says where not and ends with 1. Compiling this file alone shows that the
 * headers stay in the common subset of C17 and CUDA C++17; it needs a device only to run, and says
 * so where there is none.
 *
 *   nvcc -std=c++17 -arch=sm_90 -fmad=false -Xcompiler=-ffp-contract=off -Iinclude -Isrc \
 *        -I<build>/include tests/cuda/kernels.cu
 *
 * With -fmad=false both sides round alike: what IEEE 754 leaves open is ours (base/trig.h). */
#include "kernels/aabb.h"
#include "kernels/advance.h"
#include "kernels/bias.h"
#include "kernels/ccp.h"
#include "kernels/collide_box.h"
#include "kernels/collide_box_box.h"
#include "kernels/collide_container.h"
#include "kernels/collide_convex.h"
#include "kernels/collide_ellipsoid.h"
#include "kernels/collide_sphere.h"
#include "kernels/cone.h"
#include "kernels/convex_prove.h"
#include "kernels/elastic.h"
#include "kernels/images.h"
#include "kernels/impact.h"
#include "kernels/impulse.h"
#include "kernels/joint.h"
#include "kernels/morton.h"
#include "kernels/motion.h"
#include "kernels/nearest.h"
#include "kernels/path.h"
#include "kernels/penalty.h"
#include "kernels/revolved_edge.h"
#include "kernels/rolling.h"
#include "kernels/rotation.h"
#include "kernels/triangle.h"
#include "kernels/triangle_iterative.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int kValues = 256, kProbes = 2048;

/* ---- what a probe writes down, and what it draws --------------------------------------------- */

/* Values of one probe, in the order in which they were computed. */
struct tape {
  double value[kValues];
  int count;
};

TL_FN void put(tape *t, double x) {
  if (t->count < kValues)
    t->value[t->count] = x;
  t->count++;
}
TL_FN void put3(tape *t, talus_vec3 v) { put(t, v.x), put(t, v.y), put(t, v.z); }
TL_FN void put_d(tape *t, talus_dvec3 v) { put(t, v.x), put(t, v.y), put(t, v.z); }
TL_FN void put_q(tape *t, talus_quat q) { put(t, q.w), put3(t, tl_vec3(q.x, q.y, q.z)); }
TL_FN void put_s(tape *t, tl_sym3 s) {
  put3(t, tl_vec3(s.xx, s.yy, s.zz)), put3(t, tl_vec3(s.xy, s.xz, s.yz));
}
TL_FN void put_box(tape *t, talus_box b) { put_d(t, b.lo), put_d(t, b.hi); }
TL_FN void put_points(tape *t, const tl_point *points, int count) {
  put(t, count);
  for (int i = 0; i < count; ++i) {
    put_d(t, points[i].point), put3(t, points[i].normal), put(t, points[i].gap);
    put(t, points[i].feature_a), put(t, points[i].feature_b);
  }
}
TL_FN void put_patch(tape *t, const tl_patch *p) {
  put(t, p->count), put(t, p->number), put(t, p->round), put(t, p->tube + 2 * p->ball);
  for (int i = 0; i < p->count; ++i)
    put_d(t, p->vertex[i]);
}

/* A repeatable number in (-1, 1) (a linear congruence is random enough here). One draw to a
 * statement: host and device compilers evaluate arguments in different orders. */
TL_FN double draw(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) * 0x1p-52 - 1;
}
TL_FN double draw_in(uint64_t *r, double low, double high) {
  return low + 0.5 * (high - low) * (1 + draw(r));
}
TL_FN talus_dvec3 draw_d(uint64_t *r) {
  const double x = draw(r), y = draw(r), z = draw(r);
  return tl_dvec3(x, y, z);
}
TL_FN talus_vec3 draw3(uint64_t *r) { return tl_narrow(draw_d(r)); }
TL_FN talus_vec3 draw_unit(uint64_t *r) { return tl_normalize(draw3(r)); }
TL_FN talus_quat draw_q(uint64_t *r) {
  const talus_vec3 v = draw3(r);
  return tl_quat_normalize(tl_quat(TL_R(draw(r)), v.x, v.y, v.z));
}
TL_FN tl_frame draw_frame(uint64_t *r) { return tl_frame_from_quat(draw_q(r)); }
TL_FN int draw_below(uint64_t *r, int n) { return (int)(0.5 * n * (1 + draw(r))) % n; }
TL_FN tl_ccp_body draw_body(uint64_t *r) {
  tl_ccp_body b;
  b.v = draw3(r), b.w = draw3(r);
  b.inv_mass = TL_R(draw_in(r, 0.2, 3)), b.inv_inertia = TL_R(draw_in(r, -3, 9));
  return b;
}
TL_FN tl_ccp_tensor draw_tensor(uint64_t *r) {
  tl_ccp_tensor t;
  const talus_quat q = draw_q(r);
  t.inv_mass = tl_vec3(1, TL_R(0.5), TL_R(2));
  t.inv_inertia = tl_sym3_rotated(q, tl_vec3(3, 4, 5));
  return t;
}

/* A convex body of every kind, of a size near 1. The hull is an octahedron. */
TL_FN tl_convex draw_convex(uint64_t *r, talus_dvec3 at) {
  static const double points[] = {1, 0, 0, -1, 0, 0, 0, 1.2, 0, 0, -1.2, 0, 0, 0, 0.8, 0, 0, -0.8};
  static const uint32_t face_start[] = {0, 3, 6, 9, 12, 15, 18, 21, 24};
  static const uint32_t face_vertex[] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                         2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
  static const double face_plane[] = {
      0.55, 0.46, 0.69, 0.55, -0.55, 0.46, 0.69, 0.55, -0.55, -0.46, 0.69, 0.55, 0.55, -0.46, 0.69,
      0.55, 0.55, 0.46, -0.69, 0.55, -0.55, 0.46, -0.69, 0.55, -0.55, -0.46, -0.69, 0.55, 0.55,
      -0.46, -0.69, 0.55};
  static const uint32_t vertex_start[] = {0, 4, 8, 12, 16, 20, 24};
  static const uint32_t neighbour[] = {2, 4, 3, 5, 4, 2, 5, 3, 0, 5, 1, 4,
                                       0, 4, 1, 5, 0, 2, 1, 3, 0, 3, 1, 2};
  static const uint32_t vertex_face[] = {0, 3, 7, 4, 1, 5, 6, 2, 4, 5, 1, 0,
                                         3, 2, 6, 7, 0, 1, 2, 3, 7, 6, 5, 4};
  tl_convex c;
  memset(&c, 0, sizeof c);
  c.core = (tl_core)draw_below(r, TL_CORE_HULL + 1);
  for (int i = 0; i < 3; ++i)
    c.size[i] = draw_in(r, 0.4, 1);
  c.size[3] = draw_in(r, 2, 8), c.size[4] = draw_in(r, 2, 8);
  c.rounding = c.core == TL_CORE_POINT || c.core == TL_CORE_SEGMENT ? 0.5 : 0;
  c.reach = 2.5;
  c.position = at;
  c.frame = draw_frame(r);
  c.scale = draw_in(r, 0.5, 1);
  c.points = points, c.face_plane = face_plane, c.face_start = face_start;
  c.face_vertex = face_vertex, c.vertex_start = vertex_start, c.neighbour = neighbour;
  c.vertex_face = vertex_face, c.point_count = 6;
  return c;
}
TL_FN tl_ellipsoid draw_ellipsoid(uint64_t *r) {
  tl_ellipsoid e;
  for (int i = 0; i < 3; ++i)
    e.half[i] = draw_in(r, 0.3, 1);
  e.frame = draw_frame(r);
  return e;
}

/* ---- numbers, vectors, matrices -------------------------------------------------------------- */

TL_FN void probe_trig(uint64_t *r, tape *t) {
  const double x = draw_in(r, -10, 10), far = tl_scaled(x, (int)draw_in(r, -30, 900)), y = draw(r);
  put(t, tl_sin_d(x)), put(t, tl_cos_d(x)), put(t, tl_tan_d(x));
  put(t, tl_sin_d(far)), put(t, tl_cos_d(far)), put(t, tl_tan_d(far));
  put(t, tl_asin_d(y)), put(t, tl_acos_d(y)), put(t, tl_atan_d(far)), put(t, tl_atan2_d(x, y));
  put(t, tl_atan2_d(far, x)), put(t, tl_asin_d(2 * y)), put(t, tl_acos_d(1 - 1e-9 * y * y));
}

TL_FN void probe_power(uint64_t *r, tape *t) {
  const double x = draw_in(r, -10, 10), y = draw_in(r, -30, 30), u = draw_in(r, 0, 2);
  const double far = tl_scaled(u, (int)draw_in(r, -1060, 1000));
  put(t, tl_exp_d(x)), put(t, tl_exp_d(25 * y)), put(t, tl_expm1_d(0.1 * x)), put(t, tl_log_d(u));
  put(t, tl_expm1_d(x)), put(t, tl_log_d(far)), put(t, tl_pow_d(u, y)), put(t, tl_pow_d(far, u));
  put(t, tl_pow_d(-3, floor(y))), put(t, tl_cbrt_d(x)), put(t, tl_cbrt_d(far));
  put(t, tl_hypot_d(x, y)), put(t, tl_hypot_d(far, far)), put(t, tl_gamma_d(10 * u + 0.01));
  put(t, tl_asinh_d(x)), put(t, tl_asinh_d(far)), put(t, tl_pow_d(1 + 1e-3 * x, 1000 * y));
}

TL_FN void probe_real(uint64_t *r, tape *t) {
  const talus_real x = TL_R(draw_in(r, -3, 3)), y = TL_R(draw(r)), u = TL_R(draw_in(r, 0.01, 4));
  put(t, tl_sqrt(u)), put(t, tl_abs(x)), put(t, tl_floor(4 * x)), put(t, tl_sin(x));
  put(t, tl_cos(x)), put(t, tl_tan(x)), put(t, tl_asin(y)), put(t, tl_acos(y)), put(t, tl_atan(x));
  put(t, tl_atan2(x, y)), put(t, tl_exp(x)), put(t, tl_ln(u)), put(t, tl_pow(u, x));
  put(t, tl_cbrt(x)), put(t, tl_hypot(x, y)), put(t, tl_hypot_quick(x, y)), put(t, tl_min(x, y));
  put(t, tl_max(x, y)), put(t, tl_clamp(x, -1, 1)), put(t, tl_is_finite(x) + tl_is_finite_d(1e300));
}

TL_FN void probe_vec3(uint64_t *r, tape *t) {
  const talus_vec3 a = draw3(r), b = draw3(r), n = draw_unit(r);
  const talus_real s = TL_R(draw(r));
  put3(t, tl_add(a, b)), put3(t, tl_sub(a, tl_neg(b))), put3(t, tl_mul(a, b));
  put3(t, tl_madd(a, s, tl_cross(a, b))), put(t, tl_length(a)), put(t, tl_length2(a));
  put3(t, n), put3(t, tl_any_orthogonal(n)), put(t, tl_dot(a, b)), put3(t, tl_scale(a, s));
  const talus_dvec3 x = tl_dscale(tl_widen(a), 1e6), y = tl_moved(x, b);
  put3(t, tl_between(x, y)), put_d(t, tl_dmadd(y, 1e-3, a)), put(t, tl_dlength(x));
  put3(t, tl_narrow(tl_dadd(x, y))), put_d(t, tl_dcross(x, y)), put(t, tl_ddot(x, y));
  put(t, tl_is_finite3(a));
}

TL_FN void probe_quat(uint64_t *r, tape *t) {
  const talus_vec3 a = draw3(r), n = draw_unit(r);
  const talus_real angle = TL_R(draw_in(r, -4, 4));
  const talus_quat q = tl_quat_from_axis_angle(n, angle), p = tl_quat_from_rotation_vector(a);
  put_q(t, q), put_q(t, p), put_q(t, tl_quat_normalize(tl_quat_mul(q, tl_quat_conj(p))));
  put(t, tl_quat_dot(q, p)), put3(t, tl_quat_rotate(q, a)), put3(t, tl_quat_unrotate(q, a));
  put_q(t, tl_quat_mul(tl_quat_identity(), tl_quat_renormalize(p)));
  talus_real c, s;
  tl_half_angle(angle * angle, &c, &s), put(t, c), put(t, s);
  tl_half_angle(TL_R(1e-6) * angle * angle, &c, &s), put(t, c), put(t, s);
}

TL_FN void probe_mat3(uint64_t *r, tape *t) {
  const talus_vec3 a = draw3(r), b = draw3(r), n = draw_unit(r);
  const talus_quat q = draw_q(r), p = draw_q(r);
  const tl_mat3 m = tl_mat3_mul(tl_mat3_from_quat(q), tl_mat3_transpose(tl_mat3_from_quat(p)));
  put3(t, tl_mat3_mul_vec(m, a)), put3(t, tl_mat3_tmul_vec(m, b));
  const tl_sym3 k = tl_sym3_rotated(q, a);
  tl_sym3 inverse = tl_sym3_diagonal(b);
  put(t, tl_sym3_inverse(k, &inverse)), put_s(t, tl_sym3_scale(inverse, tl_sym3_norm_inf(k)));
  put(t, tl_sym3_eigenvalue_max(k)), put(t, tl_sym3_trace(k)), put3(t, tl_sym3_mul_vec(k, b));
  put(t, tl_sym3_plane_eigenvalue_max(k, n)), put3(t, tl_sym3_null_vector(k));
  talus_vec3 values;
  talus_quat axes;
  tl_sym3_eigen(k, &values, &axes);
  put_s(t, tl_sym3_add(tl_sym3_rotated(axes, values), k));
  put_s(t, tl_free_inverse_inertia(q, tl_vec3(1, 2, 3), a.x > 0, a.y > 0, a.z > 0));
}

TL_FN void probe_aabb(uint64_t *r, tape *t) {
  const talus_dvec3 x = draw_d(r), y = draw_d(r);
  talus_box box = tl_box_empty();
  box.lo = x, box.hi = y;
  const talus_box whole = tl_box_union(tl_box_empty(), tl_box_grow(box, 2));
  put_box(t, whole), put(t, tl_box_extent(whole));
  put(t, tl_box_overlap(whole, box) + 2 * tl_box_contains(whole, x) + 4 * tl_box_is_finite(box));
}

TL_FN void probe_images(uint64_t *r, tape *t) {
  tl_images images;
  images.any = true;
  images.periodic[0] = images.periodic[2] = true, images.periodic[1] = false;
  images.low[0] = -1, images.low[1] = 0, images.low[2] = draw_in(r, -2, 0);
  images.length[0] = 2, images.length[1] = 0, images.length[2] = draw_in(r, 1, 3);
  tl_span3 home[2];
  for (int k = 0; k < 2; ++k) {
    const talus_dvec3 x = tl_dscale(draw_d(r), 4), y = draw_d(r);
    talus_box box = tl_box_empty();
    box.lo = x, box.hi = tl_dadd(x, tl_dvec3(y.x * y.x, y.y * y.y, y.z * y.z));
    home[k] = tl_images_home(&images, &box);
    for (int i = 0; i < 3; ++i)
      put(t, home[k].lo[i]), put(t, home[k].hi[i]);
  }
  put(t, tl_images_overlap(&images, &home[0], &home[1]) +
             2 * tl_images_overlap(&images, &home[1], &home[0]) +
             4 * tl_span3_overlap(&home[0], &home[1]));
}

TL_FN void probe_morton(uint64_t *r, tape *t) {
  uint32_t i, j, l;
  draw(r);
  const uint64_t code = tl_morton3((uint32_t)*r, (uint32_t)(*r >> 20), (uint32_t)(*r >> 40));
  tl_morton_decode3(code, &i, &j, &l), put(t, (double)(code >> 20)), put(t, (double)i + j + l);
  const uint32_t small = tl_morton3_u32(i, j, l);
  tl_morton_decode3_u32(small, &i, &j, &l), put(t, small), put(t, (double)i + j + l);
}

TL_FN void probe_rotation(uint64_t *r, tape *t) {
  talus_quat q = draw_q(r);
  talus_vec3 spin = tl_scale(draw3(r), 20);
  const talus_real least = TL_R(draw_in(r, 1, 3)), most = TL_R(draw_in(r, 2, 4));
  const talus_vec3 moments = tl_vec3(least, TL_R(2.5), most);
  const talus_real h = TL_R(0.01);
  tl_free_rotation(&q, &spin, moments, h), put_q(t, q), put3(t, spin);
  tl_free_rotation(&q, &spin, tl_vec3(1, 1, moments.x), h), put_q(t, q), put3(t, spin);
  tl_free_rotation(&q, &spin, tl_vec3(1, 1, 1), h), put_q(t, q), put3(t, spin);
}

TL_FN void probe_motion(uint64_t *r, tape *t) {
  static const double values[] = {0, 0, 0.5, 1, 1, -1, 2, 0.5};
  tl_motion_term term;
  memset(&term, 0, sizeof term);
  term.velocity = draw3(r), term.spin = draw3(r), term.amplitude = draw3(r), term.swing = draw3(r);
  term.frequency = draw_in(r, 0, 20), term.phase = draw(r), term.through = draw_d(r);
  term.axis = tl_widen(draw_unit(r)), term.until = 1.5, term.rows = 4;
  const int kind = draw_below(r, 3);
  term.table_kind = kind == 0 ? TALUS_TABLE_NONE : kind == 1 ? TALUS_TABLE_ALONG : TALUS_TABLE_ABOUT;
  term.is_through = draw(r) > 0, term.is_smooth = draw(r) > 0;
  const talus_dvec3 x = draw_d(r);
  const talus_quat q = draw_q(r);
  const double time = draw_in(r, 0, 2);
  const tl_moving m = tl_motion_at(x, q, &term, 1, values, time);
  put_d(t, m.position), put_d(t, m.velocity), put_d(t, m.spin), put_q(t, tl_dquat_narrow(m.rotation));
  talus_vec3 velocity, spin;
  tl_motion_way(x, q, &term, 1, values, time, time + 0.01, 0.01, &velocity, &spin);
  put3(t, velocity), put3(t, spin);
}

TL_FN void probe_path(uint64_t *r, tape *t) {
  tl_path path;
  path.position = draw_d(r), path.velocity = draw_d(r), path.acceleration = draw_d(r);
  path.rotation = tl_dquat_widen(draw_q(r)), path.spin = tl_dscale(draw_d(r), 20);
  const double h = draw_in(r, 0.01, 1);
  const tl_dquat after = tl_path_rotation(&path, h);
  put_d(t, tl_path_position(&path, h)), put_q(t, tl_dquat_narrow(after));
  put_d(t, tl_path_spin(path.rotation, after, path.spin, h));
  put(t, tl_path_bulge(&path, 0.5, h));
  tl_path_fly(&path, draw_d(r), h), put_d(t, tl_path_position(&path, h));
}

TL_FN void probe_advance(uint64_t *r, tape *t) {
  const double room = draw_in(r, 0, 1), after = draw(r), rate = draw(r), bend = draw_in(r, 0, 9);
  put(t, tl_advance_from_one(room, rate, bend));
  put(t, tl_advance_from_two(room, after, bend, 0.5));
}

/* ---- contacts -------------------------------------------------------------------------------- */

TL_FN void probe_bias(uint64_t *r, tape *t) {
  const talus_real gap = TL_R(0.01 * draw(r)), speed = TL_R(5 * draw(r)), h = TL_R(0.01);
  put(t, tl_contact_bias(gap, h, TL_R(0.3)));
  put(t, tl_limit_bias(gap, h, speed, TL_R(0.5), TL_R(0.6), TL_R(0.1)));
}

TL_FN void probe_cone(uint64_t *r, tape *t) {
  const talus_vec3 n = draw_unit(r), g = draw3(r), arm = draw3(r), u = draw3(r);
  const talus_real mu = TL_R(draw_in(r, 0, 2));
  const tl_sym3 w = tl_sym3_rotated(draw_q(r), tl_vec3(1, 2, 3));
  const tl_sym3 response = tl_point_response(tl_vec3(1, 2, 3), w, arm);
  talus_real en, et;
  tl_step_metric(response, n, &en, &et);
  const talus_real eta = tl_step_eta(response);
  put_s(t, response), put(t, en), put(t, et), put(t, eta);
  put3(t, tl_cone_project(g, n, mu)), put3(t, tl_cone_project_scaled(g, n, mu, en, et));
  put3(t, tl_cone_project_with(g, n, tl_cone_make(mu, en, et)));
  put(t, tl_contact_residual(tl_cone_project(g, n, mu), u, n, mu, eta));
}

TL_FN void probe_ccp(uint64_t *r, tape *t) {
  tl_ccp_body b = draw_body(r);
  const tl_ccp_tensor tensor = draw_tensor(r);
  const talus_vec3 arm = draw3(r), p = draw3(r);
  put3(t, tl_ccp_point_velocity(&b, arm)), tl_ccp_push(&b, &tensor, arm, p);
  put3(t, b.v), put3(t, b.w), tl_ccp_turn(&b, &tensor, p, arm), put3(t, b.v), put3(t, b.w);
}

TL_FN tl_ccp_vec as_vec(talus_vec3 v) {
  tl_ccp_vec r;
  r.x = v.x, r.y = v.y, r.z = v.z;
  return r;
}
TL_FN void put_v(tape *t, tl_ccp_vec v) { put(t, v.x), put(t, v.y), put(t, v.z); }

TL_FN void probe_ccp_visit(uint64_t *r, tape *t) {
  const tl_ccp_vec p = as_vec(draw3(r)), u = as_vec(draw3(r)), n = as_vec(draw_unit(r));
  const tl_ccp_vec after = as_vec(draw3(r));
  const talus_real bias = TL_R(draw(r)), mu = TL_R(draw_in(r, 0, 2));
  const talus_real en = TL_R(draw_in(r, 0.1, 1)), et = TL_R(draw_in(r, 0.1, 1));
  for (int is_ncp = 0; is_ncp < 2; ++is_ncp) {
    put_v(t, tl_ccp_step(p, u, n, bias, mu, en, et, is_ncp));
    put(t, tl_ccp_residual(p, u, n, bias, mu, en, et, is_ncp));
  }
  put(t, tl_ccp_work(p, u, after, n, bias)), put_v(t, tl_ccp_coulomb(bias, p, n, mu));
  put_v(t, tl_ccp_project(bias, p, n, mu, en, et));
}

TL_FN tl_roll_law draw_law(uint64_t *r) {
  tl_roll_law law;
  memset(&law, 0, sizeof law);
  law.friction = TL_R(draw_in(r, 0, 1)), law.rolling = TL_R(draw_in(r, 0, 0.1));
  law.spinning = TL_R(draw_in(r, 0, 0.1)), law.en = TL_R(draw_in(r, 0.1, 1));
  law.et = TL_R(draw_in(r, 0.1, 1)), law.er = TL_R(draw_in(r, 0.1, 1));
  law.es = TL_R(draw_in(r, 0.1, 1));
  return law;
}
TL_FN tl_wrench draw_wrench(uint64_t *r) {
  tl_wrench w;
  w.impulse = draw3(r), w.torque = tl_scale(draw3(r), TL_R(0.1));
  return w;
}
TL_FN void put_w(tape *t, tl_wrench w) { put3(t, w.impulse), put3(t, w.torque); }

TL_FN void probe_rolling(uint64_t *r, tape *t) {
  const tl_wrench p = draw_wrench(r);
  const tl_roll_law law = draw_law(r);
  const talus_vec3 n = draw_unit(r);
  put_w(t, tl_roll_project(p, n, &law)), put(t, tl_roll_length2(p, n, &law));
  put3(t, tl_roll_cut(p.impulse, tl_length(p.impulse), TL_R(0.5)));
}

TL_FN void probe_rolling_visit(uint64_t *r, tape *t) {
  const tl_wrench p = draw_wrench(r), u = draw_wrench(r);
  const tl_roll_law law = draw_law(r);
  const talus_vec3 n = draw_unit(r);
  const talus_real bias = TL_R(draw(r));
  for (int is_ncp = 0; is_ncp < 2; ++is_ncp) {
    put_w(t, tl_roll_step(p, u, n, bias, &law, is_ncp));
    put(t, tl_roll_residual(p, u, n, bias, &law, is_ncp));
  }
}

TL_FN void probe_impact(uint64_t *r, tape *t) {
  tl_ccp_body a = draw_body(r), b = draw_body(r);
  const tl_ccp_tensor ta = draw_tensor(r), tb = draw_tensor(r);
  const talus_vec3 n = draw_unit(r), d = tl_scale(n, TL_R(1.5));
  const tl_impact_pair pair = {&a, &b, &ta, &tb};
  talus_real when = 0, share, keep;
  put(t, tl_impact_meet(d, tl_sub(b.v, a.v), 1, 0, &when)), put(t, when);
  put(t, tl_impact_close(TL_R(0.1), TL_R(draw(r)), 0, &when)), put(t, when);
  tl_impact_row row;
  memset(&row, 0, sizeof row);
  row.normal = n, row.arm_a = tl_scale(n, TL_R(0.5)), row.arm_b = draw3(r);
  row.friction = TL_R(0.3), row.restitution = TL_R(0.8), row.load_change = tl_scale(draw3(r), TL_R(0.1));
  tl_impact_begin(&pair, &row), put3(t, row.before);
  put(t, tl_impact_stop(&pair, &row)), tl_impact_keep(&pair, &row), put3(t, row.soft_after);
  tl_impact_throw(&pair, &row), put(t, tl_impact_rub(&pair, &row)), put3(t, row.impulse);
  tl_impact_work work = {0, 0, 0, 0, 0};
  tl_impact_weigh(&pair, &row, &work), put(t, work.whole);
  work.whole = 1, work.soft = -1, work.bend = TL_R(0.5);
  tl_impact_allow(&work, &share, &keep), put(t, share), put(t, keep);
  tl_impact_draw_back(&pair, &row, share, keep), put3(t, a.v), put3(t, b.w);
}

TL_FN void probe_impulse(uint64_t *r, tape *t) {
  tl_ccp_body a = draw_body(r), b = draw_body(r);
  const tl_ccp_tensor ta = draw_tensor(r), tb = draw_tensor(r);
  const tl_impulse_pair pair = {&a, &b, &ta, &tb};
  tl_impulse_row rows[3];
  tl_impulse_roll rolls[3];
  memset(rows, 0, sizeof rows), memset(rolls, 0, sizeof rolls);
  const talus_vec3 n = draw_unit(r);
  for (int i = 0; i < 3; ++i) {
    rows[i].normal = n, rows[i].arm_a = draw3(r), rows[i].arm_b = draw3(r);
    rows[i].impulse = tl_scale(n, TL_R(draw_in(r, 0, 1))), rows[i].bias = TL_R(draw(r));
    rows[i].friction = TL_R(0.4), rows[i].en = TL_R(0.3), rows[i].et = TL_R(0.2);
    rows[i].weight = 1 / (rows[i].en * rows[i].et);
    rolls[i].rolling = TL_R(0.01), rolls[i].spinning = TL_R(0.02);
    rolls[i].er = TL_R(0.2), rolls[i].es = TL_R(0.1);
  }
  put(t, tl_impulse_residual(&pair, &rows[0], NULL));
  put(t, tl_impulse_residual(&pair, &rows[1], &rolls[1]));
  put(t, tl_impulse_single(&pair, &rows[0])), put(t, tl_impulse_press(&pair, rows, 3));
  put(t, tl_impulse_rub(&pair, rows, 3)), put(t, tl_impulse_turn(&pair, rows, rolls, 3));
  put3(t, tl_impulse_velocity(&pair, &rows[2]));
  put(t, tl_impulse_target(rows[0].bias, TL_R(0.01), TL_R(1e-3), TL_R(0.2), TL_R(1)));
  for (int i = 0; i < 3; ++i)
    put3(t, rows[i].impulse), put3(t, rolls[i].torque);
  put3(t, a.v), put3(t, a.w), put3(t, b.v), put3(t, b.w);
}

TL_FN void probe_elastic(uint64_t *r, tape *t) {
  const talus_dvec3 d = draw_d(r), u = draw_d(r), still = tl_dvec3(0, 0, 0);
  const double reach = draw_in(r, 0, 1), gap = draw(r), speed = draw(r), pull = draw(r);
  put(t, tl_elastic_meet(d, u, reach)), put(t, tl_elastic_meet(d, tl_dscale(d, -1), reach));
  put(t, tl_elastic_meet(d, still, reach)), put(t, tl_elastic_meet(still, u, 0));
  put(t, tl_elastic_meet(tl_dvec3(1, reach, 0), tl_dvec3(-1, 0, 0), reach)); /* it grazes */
  put(t, tl_elastic_meet(tl_dvec3(reach, 0, 0), u, reach));                  /* it touches */
  for (int zero = 0; zero < 8; ++zero) {
    const double g = zero & 1 ? 0 : gap, v = zero & 2 ? 0 : speed, a = zero & 4 ? 0 : pull;
    put(t, tl_elastic_fall(g, v, a, 1e-3));
  }
  put(t, tl_elastic_fall(1e-9 * gap, speed, pull, 1e-3));
  const double restitution = draw_in(r, 0, 1.2), approach = draw_in(r, 0, 1);
  put(t, tl_elastic_rebound(approach, restitution, 0.3)), put(t, tl_elastic_rebound(0, 0.5, 0.3));
}

TL_FN void probe_joint(uint64_t *r, tape *t) {
  tl_joint_place p;
  memset(&p, 0, sizeof p);
  const tl_mat3 a = tl_mat3_from_quat(draw_q(r)), b = tl_mat3_from_quat(draw_q(r));
  p.arm_a = draw3(r), p.arm_b = draw3(r), p.d = draw3(r), p.rail = draw_unit(r);
  p.ax = tl_mat3_mul_vec(a, tl_vec3(1, 0, 0)), p.ay = tl_mat3_mul_vec(a, tl_vec3(0, 1, 0));
  p.az = tl_mat3_mul_vec(a, tl_vec3(0, 0, 1)), p.bx = tl_mat3_mul_vec(b, tl_vec3(1, 0, 0));
  p.by = tl_mat3_mul_vec(b, tl_vec3(0, 1, 0)), p.bz = tl_mat3_mul_vec(b, tl_vec3(0, 0, 1));
  p.turn_a = draw(r), p.turn_b = draw(r), p.way_b = TL_R(draw(r));
  const int kind = draw_below(r, TL_JOINT_KINDS);
  tl_joint_row rows[TL_JOINT_HARD], row;
  const int n = tl_joint_hard_rows(kind, &p, 2, rows);
  for (int i = 0; i < n; ++i)
    put3(t, rows[i].la), put3(t, rows[i].aa), put3(t, rows[i].ab), put(t, rows[i].psi);
  if (tl_joint_free_row(kind, draw(r) > 0, &p, &row))
    put3(t, row.la), put3(t, row.ab), put(t, row.psi);
  const double stiffness = draw_in(r, 0, 9), damping = draw_in(r, 0, 3);
  const tl_spring_weights w = tl_find_spring_weights(stiffness, damping);
  put(t, w.ahead), put(t, w.behind), put(t, w.damping);
  tl_joint_law law;
  memset(&law, 0, sizeof law);
  law.slope = TL_R(draw_in(r, 0, 2)), law.offset = TL_R(draw(r)), law.cap = TL_R(0.5);
  law.motor_slope = TL_R(draw_in(r, 0, 2)), law.motor_offset = TL_R(draw(r));
  law.motor_rigid = draw(r) > 0, law.low = TL_R(-0.2), law.high = TL_R(0.2);
  const talus_real u = TL_R(draw(r));
  put(t, tl_joint_law_impulse(&law, u, TL_R(0.1), TL_R(1.5)));
}

TL_FN void probe_penalty(uint64_t *r, tape *t) {
  const talus_vec3 n = draw_unit(r), spin = draw3(r), drift = draw3(r);
  talus_vec3 turn = tl_scale(draw3(r), TL_R(0.01));
  const double restitution = draw_in(r, 0, 1);
  put(t, tl_spring_damping(restitution, draw(r) > 0));
  put3(t, tl_spring_carried(turn, n, TL_R(0.01)));
  const tl_spring_turned s = tl_spring_turn(100, 1, TL_R(0.5), TL_R(draw_in(r, 50, 150)),
                                            TL_R(1e-3), spin, drift, &turn);
  put3(t, s.torque), put3(t, turn), put(t, s.stored), put(t, s.friction);
}

TL_FN void probe_penalty_visit(uint64_t *r, tape *t) {
  tl_spring_ball a, b;
  memset(&a, 0, sizeof a), memset(&b, 0, sizeof b);
  a.v = tl_spring_vec_of(draw3(r)), b.v = tl_spring_vec_of(draw3(r));
  a.w = tl_spring_vec_of(draw3(r)), b.w = tl_spring_vec_of(draw3(r));
  a.velocity_kick = tl_spring_vec_of(tl_scale(draw3(r), TL_R(0.01)));
  a.radius = b.radius = TL_R(0.5), a.inv_mass = b.inv_mass = 1, a.curvature = b.curvature = 2;
  tl_spring_contact touch;
  memset(&touch, 0, sizeof touch);
  touch.normal = 1000, touch.tangent = 800, touch.damping = TL_R(0.3), touch.friction = TL_R(0.4);
  touch.tangent_damping = TL_R(0.2), touch.cohesion = TL_R(0.1);
  tl_spring_balls(&a, &b, tl_spring_vec_of(tl_scale(draw_unit(r), TL_R(0.98))), &touch);
  for (int is_hertz = 0; is_hertz < 2; ++is_hertz) {
    tl_spring_vec slip = tl_spring_vec_of(tl_scale(draw3(r), TL_R(0.01)));
    const tl_spring_pushed p = tl_spring_push(&touch, is_hertz, TL_R(1e-3), 700, &slip);
    put3(t, tl_spring_vec3(p.force)), put3(t, tl_spring_vec3(slip)), put(t, p.press);
    put(t, p.elastic), put(t, p.stored), put(t, p.damping), put(t, p.friction), put(t, p.slides);
  }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

TL_FN void probe_collide(uint64_t *r, tape *t) {
  const tl_frame f = draw_frame(r);
  const talus_dvec3 v = draw_d(r), half = tl_dvec3(0.3, 0.4, 0.5);
  put_d(t, tl_frame_to_world(&f, v)), put_d(t, tl_frame_to_local(&f, v));
  put_d(t, tl_frame_axis(&f, 1)), put_d(t, tl_frame_extent(&f, half));
  const tl_point p = tl_point_at(v, tl_frame_axis(&f, 0), draw(r), 3, 4);
  put_points(t, &p, 1);
}

TL_FN void probe_collide_sphere(uint64_t *r, tape *t) {
  tl_point p;
  const tl_frame f = draw_frame(r);
  const talus_dvec3 d = draw_d(r), away = tl_dunit(draw_d(r));
  put_points(t, &p, tl_collide_sphere_sphere(0.5, 0.6, d, 0.1, &p));
  put_points(t, &p, tl_collide_sphere_half_space(0.5, away, draw(r), 0.1, &p));
  put_points(t, &p, tl_collide_sphere_box(0.5, d, &f, tl_dvec3(0.3, 0.4, 0.5), 0.1, &p));
}

TL_FN void probe_collide_box(uint64_t *r, tape *t) {
  tl_point p[TL_BOX_MAX_POINTS];
  const tl_frame f = draw_frame(r);
  const talus_dvec3 away = tl_dunit(draw_d(r));
  const double s = draw_in(r, 0, 1);
  put_points(t, p, tl_collide_box_half_space(&f, tl_dvec3(0.3, 0.4, 0.5), away, s, 0xff, 0.2, 7, p));
}

TL_FN void probe_collide_container(uint64_t *r, tape *t) {
  tl_point p[TL_CONTAINER_WALLS * TL_BOX_MAX_POINTS];
  const tl_frame f = draw_frame(r), g = draw_frame(r);
  const talus_dvec3 at = draw_d(r), half = tl_dvec3(1, 1.1, 1.2);
  const uint32_t open = (uint32_t)draw_below(r, 64);
  put_points(t, p, tl_collide_sphere_container(0.3, at, &f, half, open, 0.1, p));
  put_points(t, p, tl_collide_box_container(&g, tl_dvec3(0.3, 0.4, 0.5), at, &f, half, open, 0.1, p));
}

TL_FN void probe_collide_box_box(uint64_t *r, tape *t) {
  tl_point p[TL_MANIFOLD_MAX];
  tl_box a, b;
  a.position = tl_dvec3(0, 0, 0), b.position = draw_d(r);
  a.frame = draw_frame(r), b.frame = draw(r) > 0 ? draw_frame(r) : a.frame;
  for (int i = 0; i < 3; ++i)
    a.half[i] = 0.5, b.half[i] = 0.3 + 0.1 * i;
  bool exact;
  talus_dvec3 parting;
  put_points(t, p, tl_collide_box_box(&a, &b, 0.1, p, &exact, &parting)), put(t, exact);
  put_d(t, parting);
}

TL_FN tl_tube draw_tube(uint64_t *r) {
  tl_tube tube;
  tube.at = draw_d(r), tube.axis = tl_dunit(draw_d(r));
  tube.length = draw_in(r, 0.5, 2), tube.radius = draw_in(r, 0, 0.5), tube.ball = draw(r) > 0;
  return tube;
}
TL_FN void probe_tube(uint64_t *r, tape *t) {
  const tl_tube a = draw_tube(r), b = draw_tube(r);
  const talus_dvec3 on = draw_d(r), m = tl_dunit(draw_d(r));
  put(t, tl_tube_end_to_plane(&a, on, m)), put(t, tl_tube_end_to_side(&a, &b));
  put(t, tl_tube_side_to_side(&a, &b)), put(t, tl_circle_least(on, a.at, b.at));
}

TL_FN void probe_patch(uint64_t *r, tape *t) {
  const double half[3] = {0.5, 0.6, 0.7};
  tl_patch a = tl_patch_of_point(tl_dvec3(0, 0, 0), 0), b = a;
  tl_box_face_patch(half, draw_d(r), &a);
  const tl_frame f = draw_frame(r);
  b = a;
  for (int i = 0; i < b.count; ++i)
    b.vertex[i] = tl_dalong(tl_frame_to_world(&f, b.vertex[i]), 0.1, tl_dvec3(1, 1, 1));
  tl_facing facing;
  facing.normal = tl_dunit(draw_d(r)), facing.middle = draw_d(r), facing.gap = 0.01, facing.size = 1;
  tl_point p[TL_MANIFOLD_MAX];
  bool deep;
  put_patch(t, &a), put_points(t, p, tl_patch_points(&a, &b, &facing, 0.5, p, &deep)), put(t, deep);
  put_d(t, tl_dorthogonal(facing.normal));
}

TL_FN void probe_superellipsoid(uint64_t *r, tape *t) {
  double size[5];
  for (int i = 0; i < 5; ++i)
    size[i] = i < 3 ? draw_in(r, 0.2, 1) : draw_in(r, 2, 9);
  const talus_dvec3 d = draw_d(r), flat = tl_dvec3(d.x, 0.01 * d.y, 0.01 * d.z);
  const talus_dvec3 pole = tl_dvec3(0.01 * d.x, 0.01 * d.y, d.z);
  put_d(t, tl_superellipsoid_support(size, d)), put_d(t, tl_superellipsoid_support(size, flat));
  tl_patch patch = tl_patch_of_point(d, 0);
  tl_superellipsoid_patch(size, tl_dunit(flat), &patch), put_patch(t, &patch);
  patch = tl_patch_of_point(d, 0);
  tl_superellipsoid_patch(size, tl_dunit(pole), &patch), put_patch(t, &patch);
}

TL_FN void probe_convex(uint64_t *r, tape *t) {
  const tl_convex c = draw_convex(r, draw_d(r));
  const talus_dvec3 d = tl_dunit(draw_d(r)), axis = tl_frame_axis(&c.frame, draw_below(r, 3));
  put(t, c.core), put_d(t, tl_convex_support(&c, d)), put_d(t, tl_core_support(&c, d));
  tl_patch p, q;
  tl_convex_patch(&c, axis, &p), tl_convex_patch(&c, d, &q);
  put_patch(t, &p), put_patch(t, &q);
  const tl_kinks k = tl_convex_kinks(&c, axis, 1e-3);
  put(t, k.circles), put(t, k.has_face);
}

TL_FN void probe_gjk(uint64_t *r, tape *t) {
  const tl_convex a = draw_convex(r, tl_dvec3(0, 0, 0));
  const talus_dvec3 d = tl_dscale(draw_d(r), 3);
  const tl_convex b = draw_convex(r, d);
  tl_gjk g;
  memset(&g, 0, sizeof g);
  tl_gjk_distance(&a, &b, d, 9, 1e-9, 1e-9, &g);
  put(t, g.lower), put(t, g.upper), put(t, g.overlap), put_d(t, g.direction), put(t, g.rounds);
}

TL_FN void probe_epa(uint64_t *r, tape *t) {
  const tl_convex a = draw_convex(r, tl_dvec3(0, 0, 0));
  const talus_dvec3 d = tl_dscale(draw_d(r), 0.3);
  const tl_convex b = draw_convex(r, d);
  tl_epa e;
  memset(&e, 0, sizeof e);
  tl_epa_depth(&a, &b, d, 1e-9, &e);
  put(t, e.lower), put(t, e.upper), put_d(t, e.direction), put(t, e.vertices), put(t, e.faces);
}

TL_FN void probe_convex_solve(uint64_t *r, tape *t) {
  const tl_convex a = draw_convex(r, tl_dvec3(0, 0, 0));
  const talus_dvec3 d = tl_dscale(draw_d(r), 1.2), guess = tl_dunit(d);
  const tl_convex b = draw_convex(r, d);
  tl_point p[TL_MANIFOLD_MAX];
  talus_dvec3 parting;
  put_points(t, p, tl_collide_convex(&a, &b, NULL, 0.2, p, &parting)), put_d(t, parting);
  put_points(t, p, tl_collide_convex(&a, &b, &guess, 0.2, p, &parting)), put_d(t, parting);
  tl_convex aimed = a;
  tl_convex_aim(&aimed, guess);
  put(t, aimed.aim), put_points(t, p, tl_collide_convex(&aimed, &b, &guess, 0.2, p, &parting));
}

TL_FN void probe_convex_prove(uint64_t *r, tape *t) {
  const tl_convex a = draw_convex(r, tl_dvec3(0, 0, 0));
  const talus_dvec3 d = tl_dscale(draw_d(r), 1.2), n = tl_dunit(d);
  const tl_convex b = draw_convex(r, d);
  tl_patch pa, pb;
  tl_convex_patch(&a, n, &pa), tl_convex_patch(&b, tl_dscale(n, -1), &pb);
  const double gap = tl_look(&a, &b, n).g;
  put(t, gap), put(t, tl_convex_prove(&a, &b, &pa, &pb, n, gap, tl_dscale(d, 0.5), 1));
  const talus_dvec3 u = tl_dorthogonal(n), v = tl_dcross(n, u);
  const tl_facet f = tl_facet_of(&a, &pa, n, u, v, 1e-9);
  put(t, f.count), put(t, tl_facet_depth(&f, 0.1, 0.2)), put(t, tl_facet_ball(&a, &f, 0.1, 0.2));
}

TL_FN void probe_collide_convex(uint64_t *r, tape *t) {
  const tl_convex c = draw_convex(r, tl_dvec3(0, 0, 0));
  const tl_frame f = draw_frame(r);
  const talus_dvec3 away = tl_dunit(draw_d(r)), at = tl_dscale(draw_d(r), 0.5);
  const double s = draw_in(r, 0, 1);
  tl_point p[TL_CONTAINER_WALLS * TL_MANIFOLD_MAX];
  put_points(t, p, tl_collide_convex_half_space(&c, away, s, 0.2, NULL, 0, p));
  put_points(t, p, tl_collide_convex_container(&c, at, &f, tl_dvec3(1, 1.1, 1.2), 0, 0.1, p));
}

/* ---- ellipsoids ------------------------------------------------------------------------------ */

TL_FN tl_ell_pair draw_pair(uint64_t *r) {
  const tl_ellipsoid a = draw_ellipsoid(r), b = draw_ellipsoid(r);
  return tl_ellipsoid_pair(&a, &b, draw_d(r));
}
TL_FN void put_e(tape *t, tl_ell_vec v) { put(t, v.x), put(t, v.y), put(t, v.z); }
TL_FN void put_contact(tape *t, const tl_ell_contact *c) {
  put_e(t, c->normal), put_e(t, c->p1), put_e(t, c->p2), put(t, c->w), put(t, c->h1);
}

TL_FN void probe_ellipsoid(uint64_t *r, tape *t) {
  const tl_ell_pair p = draw_pair(r);
  const tl_ellf_pair single = tl_ell_pair_to_float(&p, 0.5);
  double xi;
  tl_ell_vec y;
  put(t, tl_ellipsoids_ask(&p, TL_ELL_SETTLE, &xi, &y)), put(t, xi), put_e(t, y);
  put(t, tl_ellipsoids_overlap(&p)), put(t, tl_ellipsoids_overlap_float(&single));
  tl_ell_contact found;
  if (tl_ellipsoids_find_contact(&p, tl_ell_times(y, 1 / sqrt(tl_ell_dot(y, y))), 9, &found) == TL_ELL_FOUND)
    put_contact(t, &found);
}

TL_FN void probe_ellipsoid_lanes(uint64_t *r, tape *t) {
  const tl_ell_pair p = draw_pair(r);
  const tl_ell_look look = tl_ell_look_at(p, tl_ell_start(p));
  put_e(t, look.y), put(t, look.excess), put(t, look.q1), put(t, look.width), put(t, look.next);
  const tl_ell_newton touch = tl_ell_newton_at(p, tl_ell_times(p.d, 1 / sqrt(tl_ell_dot(p.d, p.d))));
  put_e(t, touch.p1), put_e(t, touch.p2), put_e(t, touch.next), put(t, touch.w), put(t, touch.step);
}

TL_FN void probe_ellipsoid_chm(uint64_t *r, tape *t) {
  const tl_ell_pair p = draw_pair(r);
  double b[5], root = 0;
  const double a2 = draw(r), a1 = draw(r), a0 = draw(r);
  tl_chm_coefficients(&p, b), put(t, tl_ellipsoids_overlap_chm(&p));
  put(t, tl_chm_largest_root(a2, a1, a0, &root)), put(t, root);
  for (int i = 0; i < 5; ++i)
    put(t, b[i]);
}

TL_FN void probe_ellipsoid_opm(uint64_t *r, tape *t) {
  const tl_ell_pair p = draw_pair(r);
  tl_ell_contact found;
  memset(&found, 0, sizeof found);
  tl_ellipsoids_opm(&p, tl_dunit(draw_d(r)), &found), put_contact(t, &found);
}

TL_FN void probe_ellipsoid_careful(uint64_t *r, tape *t) {
  tl_ellipsoid a = draw_ellipsoid(r), b = draw_ellipsoid(r);
  a.half[0] = 40;
  tl_ell_contact found;
  memset(&found, 0, sizeof found);
  put(t, tl_ellipsoids_contact_careful(&a, &b, draw_d(r), 9, &found)), put_contact(t, &found);
}

TL_FN void probe_collide_ellipsoid(uint64_t *r, tape *t) {
  const tl_ellipsoid a = draw_ellipsoid(r), b = draw_ellipsoid(r);
  const talus_dvec3 d = draw_d(r);
  tl_point p;
  put_points(t, &p, tl_collide_ellipsoids_newton(&a, &b, d, 0.3, &p));
  put_points(t, &p, tl_collide_ellipsoids_opm(&a, &b, d, 0.3, true, &p));
}

TL_FN tl_triangle_corners draw_corners(uint64_t *r) {
  tl_triangle_corners c;
  for (int k = 0; k < 3; ++k)
    c.p[k] = draw_d(r);
  return c;
}
TL_FN void put_near(tape *t, tl_triangle_near near) {
  put_d(t, near.on_a), put_d(t, near.on_b), put(t, near.square), put(t, near.feature);
}

TL_FN void probe_triangle(uint64_t *r, tape *t) {
  const tl_triangle_corners a = draw_corners(r), b = draw_corners(r);
  const double reach = draw_in(r, 0, 0.2);
  uint64_t asked = 0;
  tl_triangle_near found;
  put_near(t, tl_triangle_triangle(&a, &b));
  put_near(t, tl_point_triangle(a.p[0], &b));
  put_near(t, tl_segment_triangle(a.p[0], a.p[1], &b));
  const bool is_near = tl_triangle_certified(&a, &b, reach, 1e-9, &found, &asked);
  put(t, is_near), put(t, (double)asked), put_near(t, found);
}

TL_FN void probe_triangle_lanes(uint64_t *r, tape *t) {
  const tl_triangle_corners a = draw_corners(r), b = draw_corners(r);
  const tl_triangle_face_d f = tl_triangle_face(&a), g = tl_triangle_face(&b);
  const tl_triangle_near_d best = tl_triangle_compare_d(&f, &g);
  put(t, f.per_normal), put(t, g.normal.x), put(t, best.square), put(t, best.feature);
}

TL_FN void probe_triangle_iterative(uint64_t *r, tape *t) {
  const tl_triangle_corners a = draw_corners(r), b = draw_corners(r);
  tl_triangle_vec_d p[3], q[3];
  for (int k = 0; k < 3; ++k)
    p[k] = tl_triangle_put(a.p[k]), q[k] = tl_triangle_put(b.p[k]);
  const tl_triangle_guess_d g = tl_triangle_iterate_d(p, q, 1 + draw_below(r, 8));
  put(t, g.square), put(t, g.moved), put(t, g.gap), put(t, g.on_a.x), put(t, g.on_b.z);
}

TL_FN void put_nearest(tape *t, talus_dvec3 p, const talus_dvec3 v[3]) {
  int part = -1;
  put_d(t, tl_nearest_on_triangle(p, v, &part)), put(t, part);
}

TL_FN void probe_nearest(uint64_t *r, tape *t) {
  tl_triangle_corners c = draw_corners(r);
  const talus_dvec3 p = draw_d(r), flat = tl_dvec3(p.x, p.y, 0);
  const int k = draw_below(r, 3);
  put_nearest(t, p, c.p), put_nearest(t, tl_dscale(p, 5), c.p);
  put_nearest(t, c.p[k], c.p), put_nearest(t, tl_dalong(c.p[k], 0.5, tl_dsub(c.p[0], c.p[k])), c.p);
  c.p[2] = tl_dalong(c.p[0], draw(r), tl_dsub(c.p[1], c.p[0])); /* a line, and a point */
  put_nearest(t, p, c.p), put_nearest(t, flat, c.p);
  c.p[1] = c.p[2] = c.p[0];
  put_nearest(t, p, c.p), put_nearest(t, c.p[0], c.p);
}

/* ---- walls of revolution --------------------------------------------------------------------- */

constexpr int kProfile = 6;

/* Any wall, a ring, or a tube with a plate under it, which begins on the axis. */
TL_FN tl_revolved draw_wall(uint64_t *r, double profile[2 * kProfile]) {
  const int kind = draw_below(r, 3);
  for (int i = 0; i < kProfile; ++i)
    profile[2 * i] = draw(r), profile[2 * i + 1] = draw_in(r, 0.05, 1);
  if (kind == 1)
    profile[2 * kProfile - 2] = profile[0], profile[2 * kProfile - 1] = profile[1];
  if (kind == 2) {
    profile[0] = profile[2], profile[1] = 0;
    profile[4] = profile[2] + 0.5, profile[5] = profile[3];
  }
  tl_revolved wall;
  wall.profile = profile, wall.count = kProfile;
  wall.scale = draw_in(r, 0.5, 2), wall.side = draw_below(r, 3) - 1;
  return wall;
}
/* A place near a wall: anywhere, on the axis, on a circle, or on a segment. */
TL_FN talus_dvec3 draw_by_wall(uint64_t *r, const tl_revolved *wall) {
  const talus_dvec3 x = tl_dscale(draw_d(r), wall->scale);
  const int kind = draw_below(r, 6);
  const uint32_t k = (uint32_t)draw_below(r, kProfile - 1);
  const tl_meridian p = tl_revolved_point(wall, k), q = tl_revolved_point(wall, k + 1);
  if (kind == 0)
    return tl_dvec3(0, 0, x.z);
  if (kind == 1)
    return tl_dvec3(p.r, 0, p.z);
  if (kind == 2)
    return tl_dvec3(0, 0.5 * (p.r + q.r), 0.5 * (p.z + q.z));
  return x;
}
TL_FN void put_m(tape *t, tl_meridian m) { put(t, m.r), put(t, m.z); }

TL_FN void probe_revolved(uint64_t *r, tape *t) {
  double profile[2 * kProfile];
  const tl_revolved wall = draw_wall(r, profile);
  const talus_dvec3 x = draw_by_wall(r, &wall), y = draw_by_wall(r, &wall);
  const double reach = draw_in(r, 0, 1.5), behind = draw_in(r, 0, 0.5);
  const uint32_t k = (uint32_t)draw_below(r, kProfile - 1);
  tl_wall_places list;
  tl_revolved_places(&wall, x, reach, behind, &list), put(t, list.count);
  for (int i = 0; i < list.count; ++i) {
    put(t, list.place[i].distance), put_d(t, list.place[i].away);
    put(t, list.place[i].feature);
  }
  put(t, tl_revolved_crossing(&wall, x, y)), put(t, tl_wall_crossing(&wall, k, y, x));
  const tl_wall_view v = tl_wall_view_of(y, reach);
  const tl_wall_segment g = tl_wall_segment_at(&wall, k, v.c);
  put_m(t, v.c), put(t, v.cs), put(t, v.sn), put_m(t, g.from), put_m(t, g.along);
  put_m(t, g.normal), put(t, g.left), put(t, g.length), put(t, g.s), put(t, g.d), put(t, g.near2);
  put(t, tl_wall_sticks_out(&wall, k, g.left, v.c) + 2 * tl_revolved_is_closed(&wall));
  put(t, tl_wall_goes_on(&wall, &g, k, v.c, behind > 0.2));
  put(t, tl_wall_touches_segment(&wall, &g, k, v.c, reach, behind));
  double near2;
  bool is_behind;
  put(t, tl_wall_nearest(&wall, v.c, &near2, &is_behind)), put(t, near2), put(t, is_behind);
  list.count = 0; /* more than there is room for, and some as far as others */
  for (uint32_t i = 0; i < TL_REVOLVED_MAX + 9; ++i)
    tl_wall_add(&list, floor(30 * draw(r)), x, i);
  for (int i = 0; i < list.count; ++i)
    put(t, list.place[i].distance), put(t, list.place[i].feature);
}

TL_FN void put_edge(tape *t, const tl_wall_edge *e, tl_meridian n, tl_meridian circle) {
  double u[2];
  const int count = tl_wall_edge_past_circle(e, circle, u);
  put(t, e->a), put(t, e->b), put(t, e->c), put(t, tl_wall_edge_over_cone(e, n)), put(t, count);
  for (int i = 0; i < count; ++i) {
    put(t, u[i]), put_d(t, tl_wall_edge_at(e, u[i])), put(t, tl_wall_edge_rho(e, u[i]));
    put(t, tl_wall_edge_slope(e, circle, u[i]));
  }
}

TL_FN void probe_revolved_edge(uint64_t *r, tape *t) {
  double profile[2 * kProfile];
  const tl_revolved wall = draw_wall(r, profile);
  const talus_dvec3 x = draw_by_wall(r, &wall), y = draw_by_wall(r, &wall);
  const double angle = draw_in(r, -1.5, 1.5);
  const tl_meridian n = tl_meridian_of(tl_cos_d(angle), tl_sin_d(angle));
  const uint32_t j = (uint32_t)draw_below(r, kProfile);
  const tl_meridian circle = tl_revolved_point(&wall, j);
  tl_wall_edge e = tl_wall_edge_of(x, y);
  put_edge(t, &e, n, circle);
  e = tl_wall_edge_of(x, tl_dvec3(x.x, x.y, y.z)); /* along the axis */
  put_edge(t, &e, n, circle);
  e = tl_wall_edge_of(x, tl_dvec3(-2 * x.x, -2 * x.y, y.z)); /* through it */
  put_edge(t, &e, n, circle);
  e = tl_wall_edge_of(x, x); /* no edge at all */
  put_edge(t, &e, n, circle);
  put(t, tl_wall_corner_shows(&wall, j, n));
  put(t, tl_wall_corner_shows(&wall, j, tl_meridian_of(-n.r, n.z)));
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* One line for each header of src/kernels; tests/scripts/test_kernels_cu.py looks for them. */
#define PROBES(X)                                                                                  \
  X(trig) X(power) X(real) X(vec3) X(quat) X(mat3) X(aabb) X(images) X(morton) X(rotation) X(motion) \
  X(bias) X(cone) X(ccp) X(ccp_visit) X(rolling) X(rolling_visit) X(impact) X(impulse) X(joint) X(penalty) \
  X(penalty_visit) X(collide) X(collide_sphere) X(collide_box) X(collide_container)                \
  X(collide_box_box) X(tube) X(patch) X(superellipsoid) X(convex) X(gjk) X(epa) X(convex_solve)    \
  X(convex_prove) X(collide_convex) X(ellipsoid) X(ellipsoid_lanes) X(ellipsoid_chm)               \
  X(ellipsoid_opm) X(ellipsoid_careful) X(collide_ellipsoid) X(triangle) X(triangle_lanes)         \
  X(triangle_iterative)                                                                            \
  X(elastic) X(nearest) X(revolved) X(revolved_edge) X(path) X(advance)

#define NAME(name) #name,
const char *const names[] = {PROBES(NAME)};
constexpr int kHeaders = sizeof names / sizeof *names;

/* A kernel for each, so that none is compiled into another. */
#define KERNEL(name)                                                                               \
  __global__ void run_##name(tape *out) {                                                          \
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                    \
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)i + 1);                             \
    if (i >= kProbes)                                                                              \
      return;                                                                                      \
    out[i].count = 0;                                                                              \
    probe_##name(&state, &out[i]);                                                                 \
  }
PROBES(KERNEL)

void run_on_device(int which, tape *out) {
  int at = 0;
#define LAUNCH(name)                                                                               \
  if (which == at++)                                                                               \
    run_##name<<<kProbes / 64, 64>>>(out);
  PROBES(LAUNCH)
}

void run_on_host(int which, int i, tape *out) {
  int at = 0;
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)i + 1);
  out->count = 0;
#define CALL(name)                                                                                 \
  if (which == at++)                                                                               \
    probe_##name(&state, out);
  PROBES(CALL)
}

bool same(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); /* no number is like another */
}

struct verdict {
  long compared, different;
};

verdict compare(int which, const std::vector<tape> &got) {
  verdict v = {0, 0};
  tape want;
  for (int i = 0; i < kProbes; ++i) {
    run_on_host(which, i, &want);
    if (want.count > kValues || want.count != got[i].count) {
      std::printf("  %s, probe %d: %d values here, %d there, room for %d\n", names[which], i,
                  want.count, got[i].count, kValues);
      v.different++;
      continue;
    }
    v.compared += want.count;
    for (int k = 0; k < want.count; ++k)
      if (!same(want.value[k], got[i].value[k]) && v.different++ < 3)
        std::printf("  %s, probe %d, value %d: host %.17g, device %.17g\n", names[which], i, k,
                    want.value[k], got[i].value[k]);
  }
  return v;
}

/* Without a device: at least that the probes have room for their values. */
int count_on_host() {
  tape t;
  long full = 0;
  for (int which = 0; which < kHeaders; ++which) {
    int most = 0;
    for (int i = 0; i < kProbes; ++i) {
      run_on_host(which, i, &t);
      most = t.count > most ? t.count : most;
    }
    if (most > kValues)
      std::printf("%s: %d values, room for %d\n", names[which], most, kValues), full++;
  }
  std::printf("skipped: no device; %d headers computed on the host\n", kHeaders);
  return full > 0;
}

} // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    return count_on_host();
  std::vector<tape> got(kProbes);
  tape *out = nullptr;
  cudaDeviceSetLimit(cudaLimitStackSize, 128 * 1024); /* EPA keeps its polytope there */
  if (cudaMalloc(&out, kProbes * sizeof(tape)) != cudaSuccess)
    return std::printf("failed: no device memory\n"), 1;
  long compared = 0, different = 0;
  for (int which = 0; which < kHeaders; ++which) {
    run_on_device(which, out);
    const cudaError_t error =
        cudaMemcpy(got.data(), out, kProbes * sizeof(tape), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
      return std::printf("failed: %s: %s\n", names[which], cudaGetErrorString(error)), 1;
    const verdict v = compare(which, got);
    std::printf("%-20s %8ld compared, %ld differ\n", names[which], v.compared, v.different);
    compared += v.compared, different += v.different;
  }
  cudaFree(out);
  std::printf("%d headers, %ld values compared, %ld differ\n", kHeaders, compared, different);
  return different > 0;
}
