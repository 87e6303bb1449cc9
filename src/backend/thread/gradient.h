/* Gradient methods in a step on a device: the work of one thread in each task. Rows are in the
 * order of contacts; solve/ccp/product.c has the same for the host, with the same bits.
 *
 *   entry, edge     which rows touch which body, in their order
 *   spread          velocities of a body from the impulses of its rows
 *   apart           mass norm of the difference of two velocities of a body
 *   advance         a projected step of a row
 *   slope, rest     p.(u + b) of a row; its residual
 *   start, end, blend, blend_body   impulses from rows and back; a + s (b - a)
 *   cut             tallies (base/tally.h): sums that no order changes */
#ifndef TL_THREAD_GRADIENT_H
#define TL_THREAD_GRADIENT_H

#include "backend/thread/rows.h"

/* Rows by body: those whose entries are first ... last - 1; an entry is 2 row + side. */
typedef struct tl_thread_gather {
  const uint32_t *entry, *first, *last;
} tl_thread_gather;

typedef struct tl_entry_task {
  tl_thread_rows rows;
  uint32_t nobody; /* instead of bodies that contacts do not move; after all others */
  uint32_t *body, *entry;
} tl_entry_task;

TL_FN void tl_entry_at(const tl_entry_task *task, size_t k) {
  const uint32_t a = task->rows.a[k], b = task->rows.b[k];
  task->body[2 * k] = task->rows.bodies[a].inv_mass > 0 ? a : task->nobody;
  task->body[2 * k + 1] = task->rows.bodies[b].inv_mass > 0 ? b : task->nobody;
  task->entry[2 * k] = (uint32_t)(2 * k);
  task->entry[2 * k + 1] = (uint32_t)(2 * k + 1);
}

typedef struct tl_edge_task {
  const uint32_t *body; /* sorted */
  size_t count;
  uint32_t *first, *last; /* by body, with nobody; cleared before */
} tl_edge_task;

TL_FN void tl_edge_at(const tl_edge_task *task, size_t i) {
  const uint32_t body = task->body[i];
  if (i == 0 || task->body[i - 1] != body)
    task->first[body] = (uint32_t)i;
  if (i + 1 == task->count || task->body[i + 1] != body)
    task->last[body] = (uint32_t)(i + 1);
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct tl_spread_task {
  tl_thread_rows rows;
  tl_thread_gather gather;
  const tl_ccp_body *free_bodies;
  const talus_vec3 *p;
  tl_ccp_body *out;
} tl_spread_task;

TL_FN void tl_spread_at(const tl_spread_task *task, size_t i) {
  const tl_thread_rows *rows = &task->rows;
  tl_ccp_body body = tl_thread_fetch(&task->free_bodies[i]);
  const uint32_t first = task->gather.first[i], last = task->gather.last[i];
  if (body.inv_mass > 0 && first < last) {
    talus_vec3 impulse = tl_vec3(0, 0, 0), moment = impulse;
    for (uint32_t e = first; e < last; ++e) {
      const uint32_t row = task->gather.entry[e] >> 1;
      const bool is_b = task->gather.entry[e] & 1;
      const talus_vec3 each = is_b ? task->p[row] : tl_neg(task->p[row]);
      impulse = tl_add(impulse, each);
      moment =
          tl_add(moment, tl_cross(tl_row_arm(rows, is_b ? TL_ROW_ARM_B : TL_ROW_ARM_A, row), each));
    }
    tl_ccp_turn(&body, rows->tensors ? &rows->tensors[i] : 0, impulse, moment);
  }
  tl_thread_put(&task->out[i], &body);
}

/* ---- numbers to be tallied ------------------------------------------------------------------- */

/* The numbers of each kind one after the other, and the largest of each kind, cleared before. */
typedef struct tl_thread_numbers {
  double *of;
  size_t count;
  double *peak;
} tl_thread_numbers;

TL_FN void tl_number_put(const tl_thread_numbers *numbers, int kind, size_t i, double x) {
  numbers->of[(size_t)kind * numbers->count + i] = x;
  tl_thread_raise_bits(&numbers->peak[kind], x);
}

typedef struct tl_apart_task {
  tl_thread_rows rows;
  const tl_ccp_body *from, *to;
  tl_thread_numbers numbers;
} tl_apart_task;

TL_FN void tl_apart_at(const tl_apart_task *task, size_t i) {
  const tl_ccp_body to = task->to[i], from = task->from[i];
  double energy = 0;
  if (to.inv_mass > 0)
    energy = tl_ccp_energy(&to, task->rows.tensors ? &task->rows.tensors[i] : 0,
                           tl_sub(to.v, from.v), tl_sub(to.w, from.w));
  tl_number_put(&task->numbers, 0, i, energy);
}

typedef struct tl_advance_task {
  tl_thread_rows rows; /* with the bodies of `from` */
  talus_real scale;
  bool is_scalar; /* one step length for all directions; no sums */
  int is_ncp;
  const talus_vec3 *from, *mark; /* mark: NULL: none */
  talus_vec3 *to;
  tl_thread_numbers numbers; /* squared length, slope, restart (TL_CCP_SUMS) */
} tl_advance_task;

TL_FN talus_real tl_advance_short(talus_real en, talus_real et) {
  return en > 0 ? tl_min(3 * en * et / (et + 2 * en), tl_min(en, et)) : 0;
}

TL_FN void tl_advance_at(const tl_advance_task *task, size_t k) {
  const tl_thread_rows *rows = &task->rows;
  const talus_vec3 n = tl_row_vec(rows, TL_ROW_NORMAL, k), p = task->from[k];
  const talus_vec3 u = tl_row_velocity(rows, rows->bodies, k);
  const talus_real bias = *tl_row_field(rows, TL_ROW_BIAS, k);
  const talus_real mu = *tl_row_field(rows, TL_ROW_FRICTION, k);
  const talus_real row_en = *tl_row_field(rows, TL_ROW_EN, k),
                   row_et = *tl_row_field(rows, TL_ROW_ET, k);
  const talus_real eta = tl_advance_short(row_en, row_et);
  const talus_real en = task->scale * (task->is_scalar ? eta : row_en);
  const talus_real et = task->scale * (task->is_scalar ? eta : row_et);
  const tl_ccp_vec r = tl_ccp_step(tl_row_plain(p), tl_row_plain(u), tl_row_plain(n), bias, mu, en,
                                   et, task->is_ncp);
  const talus_vec3 to = tl_vec3(r.x, r.y, r.z), change = tl_sub(to, p);
  task->to[k] = to;
  if (task->is_scalar)
    return;
  /* De Saxce's lift, as in solve/ccp/product.c */
  const talus_real lean =
      (talus_real)(task->is_ncp ? 1 : 0) * tl_min(mu, 1) * tl_length(tl_madd(u, -tl_dot(u, n), n));
  const talus_vec3 d = tl_madd(u, bias + lean, n);
  const talus_real normal = tl_dot(change, n);
  const talus_real tangent2 = tl_max(tl_length2(change) - normal * normal, 0);
  const bool moves = row_en > 0;
  tl_number_put(&task->numbers, 0, k,
                moves ? (double)(normal * normal / row_en + tangent2 / row_et) : 0.0);
  tl_number_put(&task->numbers, 1, k, moves ? (double)tl_dot(d, change) : 0.0);
  tl_number_put(&task->numbers, 2, k,
                moves && task->mark ? (double)tl_dot(d, tl_sub(to, task->mark[k])) : 0.0);
}

typedef struct tl_slope_task {
  tl_thread_rows rows; /* with bodies */
  const talus_vec3 *p;
  tl_thread_numbers numbers;
} tl_slope_task;

TL_FN void tl_slope_at(const tl_slope_task *task, size_t k) {
  const tl_thread_rows *rows = &task->rows;
  const tl_ccp_vec u = tl_row_plain(tl_row_velocity(rows, rows->bodies, k));
  tl_number_put(&task->numbers, 0, k,
                (double)tl_ccp_work(tl_row_plain(task->p[k]), u, u,
                                    tl_row_plain(tl_row_vec(rows, TL_ROW_NORMAL, k)),
                                    *tl_row_field(rows, TL_ROW_BIAS, k)));
}

typedef struct tl_rest_task {
  tl_thread_rows rows; /* with bodies */
  const talus_vec3 *p;
  int is_ncp;
  tl_thread_numbers numbers;
  double *most; /* cleared before */
} tl_rest_task;

TL_FN void tl_rest_at(const tl_rest_task *task, size_t k) {
  const tl_thread_rows *rows = &task->rows;
  const talus_real r = tl_ccp_residual(
      tl_row_plain(task->p[k]), tl_row_plain(tl_row_velocity(rows, rows->bodies, k)),
      tl_row_plain(tl_row_vec(rows, TL_ROW_NORMAL, k)), *tl_row_field(rows, TL_ROW_BIAS, k),
      *tl_row_field(rows, TL_ROW_FRICTION, k), *tl_row_field(rows, TL_ROW_EN, k),
      *tl_row_field(rows, TL_ROW_ET, k), task->is_ncp);
  tl_number_put(&task->numbers, 0, k, (double)(r * r));
  tl_thread_raise_bits(task->most, (double)r);
}

/* ---- starts and mixes ------------------------------------------------------------------------ */

/* now = best = the row's impulse. */
typedef struct tl_start_task {
  tl_thread_rows rows;
  talus_vec3 *now, *best;
} tl_start_task;

TL_FN void tl_start_at(const tl_start_task *task, size_t k) {
  task->now[k] = task->best[k] = tl_row_vec(&task->rows, TL_ROW_IMPULSE, k);
}

/* The row's impulse = best. */
typedef tl_start_task tl_end_task;

TL_FN void tl_end_at(const tl_end_task *task, size_t k) {
  tl_row_put(&task->rows, TL_ROW_IMPULSE, k, task->best[k]);
}

typedef struct tl_blend_task {
  const talus_vec3 *a, *b;
  talus_vec3 *out;
  talus_real s;
} tl_blend_task;

TL_FN void tl_blend_at(const tl_blend_task *task, size_t k) {
  const talus_vec3 a = task->a[k], b = task->b[k];
  task->out[k] = tl_vec3(a.x + task->s * (b.x - a.x), a.y + task->s * (b.y - a.y),
                         a.z + task->s * (b.z - a.z));
}

typedef struct tl_blend_body_task {
  const tl_ccp_body *a, *b;
  tl_ccp_body *out;
  talus_real s;
} tl_blend_body_task;

TL_FN void tl_blend_body_at(const tl_blend_body_task *task, size_t i) {
  const tl_ccp_body a = tl_thread_fetch(&task->a[i]), b = tl_thread_fetch(&task->b[i]);
  tl_ccp_body out = a;
  out.v = tl_madd(a.v, task->s, tl_sub(b.v, a.v));
  out.w = tl_madd(a.w, task->s, tl_sub(b.w, a.w));
  tl_thread_put(&task->out[i], &out);
}

/* ---- tallies --------------------------------------------------------------------------------- */

#define TL_CUT_PARTS 4 /* of base/tally.h, as are the next two */
#define TL_CUT_BITS  40
#define TL_CUT_LEVEL 24
/* Of each kind: sums and carries of all parts, and the level. */
#define TL_CUT_WORDS 9

/* Thread t adds numbers t, t + threads, ... */
typedef struct tl_cut_task {
  tl_thread_numbers numbers;
  int kinds;
  size_t threads;
  uint64_t *words; /* TL_CUT_WORDS of each kind; cleared before */
} tl_cut_task;

/* The level that the largest number needs; TL_CUT_LEVEL + 1: none is enough. */
TL_FN int tl_cut_level(double peak) {
  union {
    double number;
    uint64_t bits;
  } as;
  as.number = peak;
  const int biased = (int)(as.bits >> 52 & 0x7ff);
  const int over = biased - 1022 - (TL_CUT_BITS - 1), low = -TL_CUT_LEVEL * TL_CUT_BITS;
  if (biased == 0x7ff)
    return TL_CUT_LEVEL + 1;
  const int level =
      -TL_CUT_LEVEL + (over <= low ? 0 : (over - low + TL_CUT_BITS - 1) / TL_CUT_BITS);
  return level <= TL_CUT_LEVEL ? level : TL_CUT_LEVEL + 1;
}

/* 2^(-40 level). */
TL_FN double tl_cut_unit(int level) {
  union {
    double number;
    uint64_t bits;
  } as;
  as.bits = (uint64_t)(1023 - TL_CUT_BITS * level) << 52;
  return as.number;
}

/* To the nearest integer, for |x| < 2^51. */
TL_FN double tl_cut_round(double x) {
  const double large = 6755399441055744.0; /* 1.5 x 2^52 */
  return (x + large) - large;
}

TL_FN void tl_cut_add(double rest, int64_t part[TL_CUT_PARTS]) {
  const double finer = 1099511627776.0; /* 2^40 */
  for (int k = TL_CUT_PARTS - 1; k > 0; --k) {
    const double whole = tl_cut_round(rest);
    part[k] += (int64_t)whole;
    rest = (rest - whole) * finer;
  }
  part[0] += (int64_t)tl_cut_round(rest);
}

/* Moves what a sum has of the next coarser part into its carry. */
TL_FN void tl_cut_carry(int64_t *sum, int64_t *carry) {
  const int64_t whole = (int64_t)1 << TL_CUT_BITS;
  int64_t over = *sum / whole;
  *sum -= over * whole;
  if (*sum < 0) {
    *sum += whole;
    over--;
  }
  *carry += over;
}

/* Integers: any order, any threads. */
TL_FN void tl_cut_at(const tl_cut_task *task, size_t thread) {
  for (int kind = 0; kind < task->kinds; ++kind) {
    uint64_t *words = task->words + (size_t)kind * TL_CUT_WORDS;
    const double *x = task->numbers.of + (size_t)kind * task->numbers.count;
    const int level = tl_cut_level(task->numbers.peak[kind]);
    const double unit = level <= TL_CUT_LEVEL ? tl_cut_unit(level) : 0;
    int64_t part[TL_CUT_PARTS] = {0};
    for (size_t i = thread; i < task->numbers.count && unit > 0; i += task->threads)
      tl_cut_add(x[i] * unit, part);
    for (int k = 0; k < TL_CUT_PARTS; ++k) {
      int64_t carry = 0;
      tl_cut_carry(&part[k], &carry);
      tl_thread_add_together(&words[k], (uint64_t)part[k]);
      tl_thread_add_together(&words[TL_CUT_PARTS + k], (uint64_t)carry);
    }
    if (thread == 0)
      words[TL_CUT_WORDS - 1] = (uint64_t)(int64_t)level;
  }
}

#endif
