/* Ellipsoids against ellipsoids, many pairs at a time (private to src/narrow).
 *
 * A batch is a table whose columns are numbers of pairs: the two matrices M, the vector between the
 * centres, the margin. Its pairs go through tl_ellipsoids_contact_quick, as many at a time as a
 * register holds, with the same bits as one by one. The caller gives pairs that the quick solver
 * leaves undecided to the careful one. */
#ifndef TL_NARROW_ELLIPSOID_H
#define TL_NARROW_ELLIPSOID_H

#include "kernels/collide_ellipsoid.h"
#include "narrow/narrow.h"
#include "narrow/posed_pairs.h"

#define TL_ELL_BATCH 128 /* pairs: two tables in use almost fit into the first-level cache */
#define TL_ELL_LANES 8
#define TL_ELL_ROOM  (TL_ELL_BATCH + TL_ELL_LANES) /* vectors may reach beyond the last pair */

/* Columns of a batch. */
enum {
  TL_ELL_M1 = 0,
  TL_ELL_M2 = 6,
  TL_ELL_D = 12,
  TL_ELL_MARGIN = 15, /* m */
  TL_ELL_COLUMNS
};

/* Columns of the results. */
enum {
  TL_ELL_NORMAL = 0,
  TL_ELL_P1 = 3,
  TL_ELL_P2 = 6,
  TL_ELL_W = 9,
  TL_ELL_H1,
  TL_ELL_H2,
  TL_ELL_RESULTS
};

typedef struct tl_ell_batch {
  size_t count; /* at most TL_ELL_BATCH */
  _Alignas(64) double in[TL_ELL_COLUMNS][TL_ELL_ROOM];
  _Alignas(64) double out[TL_ELL_RESULTS][TL_ELL_ROOM];
  uint8_t outcome[TL_ELL_ROOM]; /* a tl_ell_outcome */
} tl_ell_batch;

/* Data of a body for pairs: one cache line. */
typedef struct tl_ell_row {
  double m[6];
  double least; /* shortest half axis, m */
  double kind;  /* a tl_ell_class; < 0: neither ellipsoid nor sphere */
} tl_ell_row;

tl_ell_row tl_ellipsoid_row(const tl_ellipsoid *e);

/* Stores this pair in row i of the batch. */
void tl_ell_batch_set(tl_ell_batch *batch, size_t i, const tl_ell_row *a, const tl_ell_row *b,
                      talus_dvec3 d, double margin);
tl_ell_contact tl_ell_batch_contact(const tl_ell_batch *batch, size_t i);

/* Data that are the same for all pairs of a narrow phase. */
typedef struct tl_ell_finder {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_real *margins; /* by slot */
  tl_ell_row *rows;          /* by slot; NULL if there is no ellipsoid */
} tl_ell_finder;

/* If a shape of the model is an ellipsoid, takes a row per body from the crowd's arena and fills
 * those of the crowd's members. */
talus_status tl_ell_prepare(tl_ell_finder *finder);

/* Tests `count` pairs, at most TL_ELL_BATCH. hits[i]: whether pair i touches; its contact is then
 * points[i]. TL_ELL_OTHER: not a pair of two ellipsoids, or of one and a sphere. */
#define TL_ELL_OTHER 2
void tl_ell_find(const tl_ell_finder *finder, const tl_pair *pairs, size_t count, uint8_t *hits,
                 tl_point *points);

/* Finds the contacts of all pairs of the batch. */
void tl_ell_batch_run(tl_ell_batch *batch);

/* Overlap tests only, for `count` pairs in columns of `stride` numbers each (M1, M2, D as above,
 * with room for a whole vector at the end): touches[i] is 1 or 0. Touching counts as overlap. */
void tl_ell_overlap(const double *columns, size_t stride, size_t count, uint8_t *touches);
void tl_ell_overlap_float(const float *columns, size_t stride, size_t count, uint8_t *touches);

/* These functions for an instruction set, with the same bits; and one pair at a time. */
typedef struct tl_ell_loops {
  void (*run)(tl_ell_batch *batch);
  void (*overlap)(const double *columns, size_t stride, size_t count, uint8_t *touches);
  void (*overlap_float)(const float *columns, size_t stride, size_t count, uint8_t *touches);
} tl_ell_loops;

extern const tl_ell_loops tl_ell_scalar, tl_ell_generic, tl_ell_avx2, tl_ell_avx512;

#endif
