/* Every function of src/kernels on the host and on a device, compared. Compiling this file alone
 * shows that the headers stay in the common subset of C17 and CUDA C++17; it needs a device only to
 * run, and says so where there is none.
 *
 *   nvcc -std=c++17 -arch=sm_90 -fmad=false -Iinclude -Isrc -I<build>/include tests/cuda/kernels.cu
 *
 * With -fmad=false both sides round alike but for sin, cos and acos, whose last bits are the
 * library's own. */
#include "kernels/aabb.h"
#include "kernels/bias.h"
#include "kernels/cone.h"
#include "kernels/impact.h"
#include "kernels/morton.h"
#include "kernels/rotation.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kValues = 200, kProbes = 4096;

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

/* A repeatable number in (-1, 1) (a linear congruence is random enough here). One draw to a
 * statement: host and device compilers evaluate arguments in different orders. */
TL_FN talus_real draw(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return TL_R((double)(*state >> 11) * 0x1p-52 - 1);
}
TL_FN talus_vec3 draw3(uint64_t *state) {
  const talus_real x = draw(state), y = draw(state);
  return tl_vec3(x, y, draw(state));
}

TL_FN void probe_linear(uint64_t *r, tape *t) {
  const talus_vec3 a = draw3(r), b = draw3(r), n = tl_normalize(draw3(r));
  const talus_real s = draw(r);
  put3(t, tl_add(a, b)), put3(t, tl_sub(a, tl_neg(b))), put3(t, tl_mul(a, b));
  put3(t, tl_madd(a, s, tl_cross(a, b))), put(t, tl_length(a)), put(t, tl_hypot(a.x, s));
  put3(t, n), put3(t, tl_any_orthogonal(n)), put(t, tl_clamp(tl_floor(4 * s), -2, 2));
  put(t, tl_is_finite3(a) + 2 * tl_is_finite_d(HUGE_VAL));
  const talus_dvec3 x = tl_dscale(tl_widen(a), 1e6), y = tl_moved(x, b);
  put3(t, tl_between(x, y)), put_d(t, tl_dmadd(y, 1e-3, a)), put(t, tl_dlength(x));
  put3(t, tl_narrow(tl_dadd(x, y)));

  const talus_quat q = tl_quat_from_axis_angle(n, 3 * s), p = tl_quat_from_rotation_vector(a);
  put_q(t, q), put_q(t, p);
  put_q(t, tl_quat_normalize(tl_quat_mul(q, tl_quat_conj(p))));
  put(t, tl_quat_dot(q, p)), put3(t, tl_quat_rotate(q, a)), put3(t, tl_quat_unrotate(q, a));
  put_q(t, tl_quat_mul(tl_quat_identity(), tl_quat(s, a.x, a.y, a.z)));

  const tl_mat3 m = tl_mat3_mul(tl_mat3_from_quat(q), tl_mat3_transpose(tl_mat3_from_quat(p)));
  put3(t, tl_mat3_mul_vec(m, a)), put3(t, tl_mat3_tmul_vec(m, b));
  const tl_sym3 k = tl_sym3_rotated(q, a);
  tl_sym3 inverse = tl_sym3_diagonal(b);
  put(t, tl_sym3_inverse(k, &inverse)), put_s(t, tl_sym3_scale(inverse, tl_sym3_norm_inf(k)));
  put(t, tl_sym3_eigenvalue_max(k)), put(t, tl_sym3_trace(k)), put3(t, tl_sym3_mul_vec(k, b));
  talus_vec3 values;
  talus_quat axes;
  tl_sym3_eigen(k, &values, &axes);
  put_s(t, tl_sym3_add(tl_sym3_rotated(axes, values), k));

  talus_box box = tl_box_empty();
  box.lo = x, box.hi = y;
  const talus_box whole = tl_box_union(tl_box_empty(), tl_box_grow(box, 2));
  put_box(t, whole), put(t, tl_box_extent(whole));
  put(t, tl_box_overlap(whole, box) + 2 * tl_box_contains(whole, x) + 4 * tl_box_is_finite(box));

  uint32_t i, j, l;
  const uint64_t code = tl_morton3((uint32_t)*r, (uint32_t)(*r >> 20), (uint32_t)(*r >> 40));
  tl_morton_decode3(code, &i, &j, &l), put(t, (double)(code >> 20)), put(t, (double)i + j + l);
  const uint32_t small = tl_morton3_u32(i, j, l);
  tl_morton_decode3_u32(small, &i, &j, &l), put(t, small), put(t, (double)i + j + l);
}

TL_FN void probe_contact(uint64_t *r, tape *t) {
  const talus_vec3 n = tl_normalize(draw3(r)), g = draw3(r), arm = draw3(r), u = draw3(r);
  const talus_real mu = 1 + draw(r), h = TL_R(0.01);
  const talus_real least = 2 + draw(r), most = 3 + draw(r);
  const talus_vec3 moments = tl_vec3(least, TL_R(2.5), most);
  talus_quat q = tl_quat_from_rotation_vector(arm);
  talus_vec3 spin = tl_scale(u, 20);
  tl_free_rotation(&q, &spin, moments, h), put_q(t, q), put3(t, spin);
  tl_free_rotation(&q, &spin, tl_vec3(1, 1, moments.x), h), put_q(t, q), put3(t, spin);
  tl_free_rotation(&q, &spin, tl_vec3(1, 1, 1), h), put_q(t, q), put3(t, spin);

  const tl_sym3 w = tl_sym3_rotated(q, moments);
  const tl_sym3 response = tl_point_response(tl_vec3(1, 2, 3), w, arm);
  talus_real en, et;
  tl_step_metric(response, n, &en, &et);
  const talus_real eta = tl_step_eta(response);
  put_s(t, response), put(t, en), put(t, et), put(t, eta);
  put3(t, tl_cone_project(g, n, mu)), put3(t, tl_cone_project_scaled(g, n, mu, en, et));
  put3(t, tl_cone_project_with(g, n, tl_cone_make(mu, en, et)));
  put(t, tl_contact_residual(tl_cone_project(g, n, mu), u, n, mu, eta));
  put(t, tl_limit_bias(h * g.x, h, 5 * u.x, TL_R(0.5), TL_R(0.6), TL_R(0.1)));
}

TL_FN void probe_impact(uint64_t *r, tape *t) {
  tl_ccp_body a = {draw3(r), draw3(r), TL_R(0.5), TL_R(2)}, b = {draw3(r), draw3(r), 1, 3};
  const talus_vec3 n = tl_normalize(draw3(r)), d = tl_scale(n, TL_R(1.5));
  const tl_impact_pair pair = {&a, &b, nullptr, nullptr};
  talus_real when = 0, share, keep;
  put(t, tl_impact_meet(d, tl_sub(b.v, a.v), 1, 0, &when)), put(t, when);
  put(t, tl_impact_close(TL_R(0.1), draw(r), 0, &when)), put(t, when);
  tl_impact_row row = {n, tl_scale(n, TL_R(0.5)), tl_scale(n, TL_R(-0.5))};
  row.friction = TL_R(0.3), row.restitution = TL_R(0.8), row.lead = tl_scale(draw3(r), TL_R(0.1));
  tl_impact_begin(&pair, &row), put3(t, row.before);
  put(t, tl_impact_stop(&pair, &row)), tl_impact_keep(&pair, &row), put3(t, row.soft_after);
  tl_impact_throw(&pair, &row), put(t, tl_impact_rub(&pair, &row)), put3(t, row.impulse);
  tl_impact_work work = {0, 0, 0, 0, 0};
  tl_impact_weigh(&pair, &row, &work), put(t, work.whole);
  work.whole = 1, work.soft = -1, work.bend = TL_R(0.5);
  tl_impact_allow(&work, &share, &keep), put(t, share), put(t, keep);
  tl_impact_draw_back(&pair, &row, share, keep), put3(t, a.v), put3(t, b.w);
}

TL_FN tape probe(int index) {
  tape t;
  for (int i = 0; i < kValues; ++i)
    t.value[i] = 0;
  t.count = 0;
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)index + 1);
  probe_linear(&state, &t);
  probe_contact(&state, &t);
  probe_impact(&state, &t);
  return t;
}

__global__ void probe_all(tape *out) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kProbes)
    out[i] = probe(i);
}

} // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no device\n");
    return 0;
  }
  std::vector<tape> got(kProbes);
  tape *out = nullptr;
  if (cudaMalloc(&out, kProbes * sizeof(tape)) != cudaSuccess)
    return std::printf("failed: no device memory\n"), 1;
  probe_all<<<kProbes / 128, 128>>>(out);
  const cudaError_t error =
      cudaMemcpy(got.data(), out, kProbes * sizeof(tape), cudaMemcpyDeviceToHost);
  cudaFree(out);
  if (error != cudaSuccess)
    return std::printf("failed: %s\n", cudaGetErrorString(error)), 1;

  double worst = 0;
  long different = 0, failed = 0;
  for (int i = 0; i < kProbes; ++i) {
    const tape want = probe(i);
    if (want.count > kValues || want.count != got[i].count)
      return std::printf("failed: probe %d has %d values\n", i, want.count), 1;
    for (int k = 0; k < want.count; ++k) {
      const double a = want.value[k], b = got[i].value[k];
      const double off = std::fabs(a - b) / (1 + std::fabs(a));
      different += !(a == b);
      worst = off > worst ? off : worst;
      if (!(off <= 1e5 * TL_REAL_EPS) && failed++ < 10)
        std::printf("probe %d, value %d: host %.17g, device %.17g\n", i, k, a, b);
    }
  }
  std::printf("%d probes of %d values: %ld differ, largest relative difference %g; %ld failed\n",
              kProbes, got[0].count, different, worst, failed);
  return failed > 0;
}
