/* Batches of pairs of ellipsoids; and pairs one by one: the reference of the loops over lanes. */
#include "narrow/ellipsoid.h"
#include "base/isa.h"

tl_ell_row tl_ellipsoid_row(const tl_ellipsoid *e) {
  const tl_ell_sym m = tl_ellipsoid_matrix(e);
  return (tl_ell_row){.m = {m.xx, m.yy, m.zz, m.xy, m.xz, m.yz},
                      .least = tl_ellipsoid_least(e),
                      .kind = (double)tl_ellipsoid_class(e)};
}

void tl_ell_batch_set(tl_ell_batch *batch, size_t i, const tl_ell_row *a, const tl_ell_row *b,
                      talus_dvec3 d, double margin) {
  for (int k = 0; k < 6; ++k) {
    batch->in[TL_ELL_M1 + k][i] = a->m[k];
    batch->in[TL_ELL_M2 + k][i] = b->m[k];
  }
  batch->in[TL_ELL_D][i] = d.x;
  batch->in[TL_ELL_D + 1][i] = d.y;
  batch->in[TL_ELL_D + 2][i] = d.z;
  batch->in[TL_ELL_MARGIN][i] = margin;
}

static tl_ell_sym get_sym(const double *columns, size_t stride) {
  const tl_ell_sym m = {columns[0],          columns[stride],     columns[2 * stride],
                        columns[3 * stride], columns[4 * stride], columns[5 * stride]};
  return m;
}

static tl_ell_vec get_vec(const double *columns, size_t stride) {
  const tl_ell_vec v = {columns[0], columns[stride], columns[2 * stride]};
  return v;
}

static tl_ell_pair get_pair(const double *columns, size_t stride) {
  const tl_ell_pair p = {get_sym(columns + TL_ELL_M1 * stride, stride),
                         get_sym(columns + TL_ELL_M2 * stride, stride),
                         get_vec(columns + TL_ELL_D * stride, stride)};
  return p;
}

static void put_vec(double *columns, tl_ell_vec v) {
  columns[0] = v.x;
  columns[TL_ELL_ROOM] = v.y;
  columns[2 * TL_ELL_ROOM] = v.z;
}

tl_ell_contact tl_ell_batch_contact(const tl_ell_batch *batch, size_t i) {
  const tl_ell_contact c = {.normal = get_vec(&batch->out[TL_ELL_NORMAL][i], TL_ELL_ROOM),
                            .p1 = get_vec(&batch->out[TL_ELL_P1][i], TL_ELL_ROOM),
                            .p2 = get_vec(&batch->out[TL_ELL_P2][i], TL_ELL_ROOM),
                            .w = batch->out[TL_ELL_W][i],
                            .h1 = batch->out[TL_ELL_H1][i],
                            .h2 = batch->out[TL_ELL_H2][i]};
  return c;
}

static void run(tl_ell_batch *batch) {
  for (size_t i = 0; i < batch->count; ++i) {
    const tl_ell_pair pair = get_pair(&batch->in[0][i], TL_ELL_ROOM);
    tl_ell_contact found;
    const tl_ell_outcome outcome =
        tl_ellipsoids_contact_quick(&pair, batch->in[TL_ELL_MARGIN][i], &found);
    batch->outcome[i] = (uint8_t)outcome;
    if (outcome != TL_ELL_FOUND)
      continue;
    put_vec(&batch->out[TL_ELL_NORMAL][i], found.normal);
    put_vec(&batch->out[TL_ELL_P1][i], found.p1);
    put_vec(&batch->out[TL_ELL_P2][i], found.p2);
    batch->out[TL_ELL_W][i] = found.w;
    batch->out[TL_ELL_H1][i] = found.h1;
    batch->out[TL_ELL_H2][i] = found.h2;
  }
}

/* ---- yes or no alone ------------------------------------------------------------------------- */

static void overlap(const double *columns, size_t stride, size_t count, uint8_t *touches) {
  for (size_t i = 0; i < count; ++i) {
    const tl_ell_pair pair = get_pair(columns + i, stride);
    touches[i] = tl_ellipsoids_overlap(&pair);
  }
}

static tl_ellf_sym get_symf(const float *columns, size_t stride) {
  const tl_ellf_sym m = {columns[0],          columns[stride],     columns[2 * stride],
                         columns[3 * stride], columns[4 * stride], columns[5 * stride]};
  return m;
}

static void overlap_float(const float *columns, size_t stride, size_t count, uint8_t *touches) {
  for (size_t i = 0; i < count; ++i) {
    const float *at = columns + i, *d = at + TL_ELL_D * stride;
    const tl_ellf_pair pair = {get_symf(at + TL_ELL_M1 * stride, stride),
                               get_symf(at + TL_ELL_M2 * stride, stride),
                               {d[0], d[stride], d[2 * stride]}};
    touches[i] = tl_ellipsoids_overlap_float(&pair);
  }
}

/* ---- instruction sets ------------------------------------------------------------------------ */

const tl_ell_loops tl_ell_scalar = {run, overlap, overlap_float};

static const tl_ell_loops *loops_now(void) {
  static const tl_ell_loops *const all[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = &tl_ell_generic,
                                                        [TL_ISA_AVX2] = &tl_ell_avx2,
                                                        [TL_ISA_AVX512] = &tl_ell_avx512};
  return all[tl_isa_now()];
}

void tl_ell_batch_run(tl_ell_batch *batch) { loops_now()->run(batch); }

void tl_ell_overlap(const double *columns, size_t stride, size_t count, uint8_t *touches) {
  loops_now()->overlap(columns, stride, count, touches);
}

void tl_ell_overlap_float(const float *columns, size_t stride, size_t count, uint8_t *touches) {
  loops_now()->overlap_float(columns, stride, count, touches);
}
