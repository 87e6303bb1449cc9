/* Rows of contacts in a step on a device, and their Gauss-Seidel sweeps: the work of one thread in
 * each task.
 *
 *   carry   takes the impulse of the contact with the same key in the last step
 *   settle, forget, bid, choose, tell   colours: rows of one colour share no movable body
 *   row     makes the data for visits, in the order of colours
 *   aim     makes the biases of position correction
 *   visit   a row of the present colour: a sweep, or applying its impulse
 *   remain  residuals
 *
 * Colours are those of Jones and Plassmann (1993): each row has a number derived from its key; a
 * row whose number is the greatest among the uncoloured rows of its bodies takes the lowest colour
 * that its bodies do not have. So colours depend on the set alone, not on the order of threads. If
 * a body has more rows than colours, its other rows go to a last colour, whose rows one thread
 * visits in turn. */
#ifndef TL_THREAD_ROWS_H
#define TL_THREAD_ROWS_H

#include "backend/thread/bodies.h"
#include "backend/thread/fetch.h"
#include "kernels/bias.h"
#include "kernels/impulse.h"

/* ---- from step to step ----------------------------------------------------------------------- */

typedef struct tl_carry_task {
  const talus_row_contact *contacts, *before;
  size_t before_count;
  const talus_vec3 *impulses_before;
  talus_vec3 *impulses;
} tl_carry_task;

TL_FN bool tl_row_is_before(const talus_row_contact *x, const talus_row_contact *y) {
  if (x->a != y->a)
    return x->a < y->a;
  if (x->b != y->b)
    return x->b < y->b;
  if (x->feature_a != y->feature_a)
    return x->feature_a < y->feature_a;
  return x->feature_b < y->feature_b;
}

TL_FN void tl_carry_at(const tl_carry_task *task, size_t i) {
  const talus_row_contact *c = &task->contacts[i];
  size_t low = 0, high = task->before_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (tl_row_is_before(&task->before[middle], c))
      low = middle + 1;
    else
      high = middle;
  }
  const bool is_known = low < task->before_count && !tl_row_is_before(c, &task->before[low]);
  task->impulses[i] = is_known ? task->impulses_before[low] : tl_vec3(0, 0, 0);
}

/* ---- colours --------------------------------------------------------------------------------- */

#define TL_COLOURS_MOST 63 /* not counting the last one, whose rows are visited in turn */
#define TL_COLOUR_NONE  UINT32_MAX

typedef struct tl_thread_colours {
  const talus_row_contact *contacts;
  const tl_ccp_body *bodies;
  uint32_t *colour, *order; /* by contact: keys and values of a sort */
  uint64_t *best;           /* by body: greatest bid of this round; 0: none */
  uint64_t *taken;          /* by body: bits of its colours */
  uint32_t *left;           /* number of contacts without a colour; cleared before */
} tl_thread_colours;

typedef tl_thread_colours tl_forget_task, tl_bid_task, tl_choose_task, tl_settle_task, tl_tell_task;

/* Number of a contact; unique because its low half is the contact's index. */
TL_FN uint64_t tl_thread_bid(const talus_row_contact *c, size_t i) {
  uint32_t h = c->a * 0x9E3779B1u ^ c->b * 0x85EBCA77u ^ c->feature_a * 0xC2B2AE3Du ^
               c->feature_b * 0x27D4EB2Fu;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return (uint64_t)(h ^ h >> 15) << 32 | (uint32_t)(i + 1);
}

/* Clears a body before a round. */
TL_FN void tl_forget_at(const tl_forget_task *task, size_t body) { task->best[body] = 0; }

TL_FN void tl_bid_at(const tl_bid_task *task, size_t i) {
  if (task->colour[i] != TL_COLOUR_NONE)
    return;
  const talus_row_contact *c = &task->contacts[i];
  const uint64_t bid = tl_thread_bid(c, i);
  if (task->bodies[c->a].inv_mass > 0)
    tl_thread_raise_wide(&task->best[c->a], bid);
  if (task->bodies[c->b].inv_mass > 0)
    tl_thread_raise_wide(&task->best[c->b], bid);
}

TL_FN void tl_choose_at(const tl_choose_task *task, size_t i) {
  if (task->colour[i] != TL_COLOUR_NONE)
    return;
  const talus_row_contact *c = &task->contacts[i];
  const bool moves_a = task->bodies[c->a].inv_mass > 0, moves_b = task->bodies[c->b].inv_mass > 0;
  const uint64_t bid = tl_thread_bid(c, i);
  if ((moves_a && task->best[c->a] != bid) || (moves_b && task->best[c->b] != bid))
    return;
  const uint64_t taken = (moves_a ? task->taken[c->a] : 0) | (moves_b ? task->taken[c->b] : 0);
  uint32_t colour = 0;
  while (colour < TL_COLOURS_MOST && (taken >> colour & 1))
    colour++;
  task->colour[i] = colour;
  if (colour == TL_COLOURS_MOST)
    return;
  if (moves_a)
    task->taken[c->a] |= (uint64_t)1 << colour;
  if (moves_b)
    task->taken[c->b] |= (uint64_t)1 << colour;
}

TL_FN void tl_tell_at(const tl_tell_task *task, size_t i) {
  if (task->colour[i] == TL_COLOUR_NONE)
    tl_thread_add(task->left, 1);
}

/* Clears a contact before colouring. */
TL_FN void tl_settle_at(const tl_settle_task *task, size_t i) {
  task->colour[i] = TL_COLOUR_NONE;
  task->order[i] = (uint32_t)i;
}

/* Finds the end of each colour that occurs, among sorted contacts. */
typedef struct tl_limit_task {
  const uint32_t *colour;
  size_t count;
  uint32_t *ends; /* by colour; cleared before */
} tl_limit_task;

TL_FN void tl_limit_at(const tl_limit_task *task, size_t i) {
  const uint32_t of = task->colour[i];
  if (i + 1 == task->count || task->colour[i + 1] != of)
    task->ends[of] = (uint32_t)(i + 1);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Fields of rows; the numbers of each field are stored side by side for all rows. */
enum {
  TL_ROW_NORMAL,
  TL_ROW_ARM_A = 3,
  TL_ROW_ARM_B = 6,
  TL_ROW_IMPULSE = 9,
  TL_ROW_FRICTION = 12,
  TL_ROW_EN,
  TL_ROW_ET,
  TL_ROW_BIAS,
  TL_ROW_FIELDS
};

typedef struct tl_thread_rows {
  size_t count;
  uint32_t *a, *b;
  talus_real *of;               /* TL_ROW_FIELDS times count numbers */
  talus_real *lift, *lift_bias; /* of position correction: along the normal */
  tl_ccp_body *bodies, *shifts;
  const tl_ccp_tensor *tensors; /* NULL: every body is isotropic */
  bool is_radial;               /* for gradient methods: the first number of an arm is its reach */
} tl_thread_rows;

TL_FN talus_real *tl_row_field(const tl_thread_rows *rows, int field, size_t k) {
  return rows->of + (size_t)field * rows->count + k;
}

TL_FN talus_vec3 tl_row_vec(const tl_thread_rows *rows, int field, size_t k) {
  const talus_real *at = tl_row_field(rows, field, k);
  return tl_vec3(at[0], at[rows->count], at[2 * rows->count]);
}

TL_FN void tl_row_put(const tl_thread_rows *rows, int field, size_t k, talus_vec3 v) {
  talus_real *at = tl_row_field(rows, field, k);
  at[0] = v.x;
  at[rows->count] = v.y;
  at[2 * rows->count] = v.z;
}

typedef struct tl_row_task {
  tl_thread_crowd crowd;
  tl_thread_rows rows;
  const uint32_t *order; /* by row: its contact */
  const talus_row_contact *contacts;
  const talus_real *gaps; /* by contact, after impacts; NULL: its own */
  const talus_vec3 *impulses;
  const talus_real *friction; /* by pair of materials */
  uint32_t materials;
  tl_grid_space space;
  bool is_warm;
  talus_real most_friction;
  double *fastest; /* m/s: greatest speed of approach without contacts; cleared before */
} tl_row_task;

TL_FN tl_sym3 tl_thread_response(const tl_thread_rows *rows, uint32_t body, talus_vec3 arm) {
  const tl_ccp_body *b = &rows->bodies[body];
  if (b->inv_inertia < 0)
    return tl_point_response(rows->tensors[body].inv_mass, rows->tensors[body].inv_inertia, arm);
  const tl_sym3 w = tl_sym3_diagonal(tl_vec3(b->inv_inertia, b->inv_inertia, b->inv_inertia));
  return tl_point_response(tl_vec3(b->inv_mass, b->inv_mass, b->inv_mass), w, arm);
}

/* Steps of a row, like solve/system/row.c. */
TL_FN void tl_thread_steps(const tl_thread_rows *rows, uint32_t a, uint32_t b, tl_ccp_row *row) {
  const tl_ccp_body *x = &rows->bodies[a], *y = &rows->bodies[b];
  if (x->inv_inertia < 0 || y->inv_inertia < 0) {
    const tl_sym3 response = tl_sym3_add(tl_thread_response(rows, a, row->arm_a),
                                         tl_thread_response(rows, b, row->arm_b));
    tl_step_metric(response, row->normal, &row->en, &row->et);
    if (!(row->et > 0))
      row->et = row->en;
    return;
  }
  const talus_real along_a = tl_dot(row->arm_a, row->normal),
                   along_b = tl_dot(row->arm_b, row->normal);
  const talus_real all = x->inv_mass + y->inv_mass + x->inv_inertia * tl_length2(row->arm_a) +
                         y->inv_inertia * tl_length2(row->arm_b);
  const talus_real normal =
      all - x->inv_inertia * along_a * along_a - y->inv_inertia * along_b * along_b;
  row->en = normal > 0 ? 1 / normal : 0;
  row->et = all > 0 ? 1 / all : 0;
}

/* From body a to the image of body b that it touches; planes have no images. */
TL_FN talus_dvec3 tl_thread_way(const tl_thread_crowd *crowd, const tl_grid_space *space,
                                uint32_t a, uint32_t b) {
  const talus_dvec3 from = crowd->in.position[a], to = crowd->in.position[b];
  double d[3] = {to.x - from.x, to.y - from.y, to.z - from.z};
  const bool is_bounded = tl_thread_shape(crowd, a)->bounded && tl_thread_shape(crowd, b)->bounded;
  for (int k = 0; k < 3 && is_bounded; ++k)
    if (space->period[k] > 0)
      d[k] -= space->period[k] * floor(d[k] / space->period[k] + 0.5);
  return tl_dvec3(d[0], d[1], d[2]);
}

/* A row of spheres may have its reach in place of its arm: the arm is that times the normal, and
 * its arithmetic that of the host's rows of spheres. */
TL_FN talus_vec3 tl_row_arm(const tl_thread_rows *rows, int field, size_t k) {
  return rows->is_radial
             ? tl_scale(tl_row_vec(rows, TL_ROW_NORMAL, k), *tl_row_field(rows, field, k))
             : tl_row_vec(rows, field, k);
}

TL_FN talus_vec3 tl_row_velocity(const tl_thread_rows *rows, const tl_ccp_body *bodies, size_t k) {
  const tl_ccp_body a = tl_thread_fetch(&bodies[rows->a[k]]),
                    b = tl_thread_fetch(&bodies[rows->b[k]]);
  if (!rows->is_radial)
    return tl_sub(tl_ccp_point_velocity(&b, tl_row_vec(rows, TL_ROW_ARM_B, k)),
                  tl_ccp_point_velocity(&a, tl_row_vec(rows, TL_ROW_ARM_A, k)));
  const talus_vec3 s = tl_sub(tl_scale(b.w, *tl_row_field(rows, TL_ROW_ARM_B, k)),
                              tl_scale(a.w, *tl_row_field(rows, TL_ROW_ARM_A, k)));
  return tl_add(tl_sub(b.v, a.v), tl_cross(s, tl_row_vec(rows, TL_ROW_NORMAL, k)));
}

TL_FN void tl_row_at(const tl_row_task *task, size_t k) {
  const tl_thread_rows *rows = &task->rows;
  const uint32_t i = task->order[k];
  const talus_row_contact c = task->contacts[i];
  const talus_dvec3 to_point = tl_dsub(c.point, task->crowd.in.position[c.a]);
  tl_ccp_row row;
  row.normal = c.normal;
  row.arm_a = tl_narrow(to_point);
  row.arm_b = tl_narrow(tl_dsub(to_point, tl_thread_way(&task->crowd, &task->space, c.a, c.b)));
  tl_thread_steps(rows, c.a, c.b, &row);
  row.friction =
      task->friction[task->crowd.material[c.a] * task->materials + task->crowd.material[c.b]];
  row.friction = tl_min(row.friction, task->most_friction);
  const talus_real gap = task->gaps ? task->gaps[i] : c.gap;
  row.bias = tl_contact_bias(tl_max(gap, 0), (talus_real)task->crowd.dt, 0);
  row.impulse = tl_vec3(0, 0, 0);
  if (task->is_warm && row.en > 0)
    row.impulse = tl_cone_project(task->impulses[i], c.normal, row.friction);
  rows->a[k] = c.a;
  rows->b[k] = c.b;
  tl_row_put(rows, TL_ROW_NORMAL, k, row.normal);
  tl_row_put(rows, TL_ROW_ARM_A, k, row.arm_a);
  tl_row_put(rows, TL_ROW_ARM_B, k, row.arm_b);
  tl_row_put(rows, TL_ROW_IMPULSE, k, row.impulse);
  if (rows->is_radial) {
    *tl_row_field(rows, TL_ROW_ARM_A, k) = tl_dot(row.arm_a, row.normal);
    *tl_row_field(rows, TL_ROW_ARM_B, k) = tl_dot(row.arm_b, row.normal);
  }
  *tl_row_field(rows, TL_ROW_FRICTION, k) = row.friction;
  *tl_row_field(rows, TL_ROW_EN, k) = row.en;
  *tl_row_field(rows, TL_ROW_ET, k) = row.et;
  *tl_row_field(rows, TL_ROW_BIAS, k) = row.bias;
  tl_thread_raise_real(task->fastest,
                       -(double)tl_dot(tl_sub(tl_ccp_point_velocity(&rows->bodies[c.b], row.arm_b),
                                              tl_ccp_point_velocity(&rows->bodies[c.a], row.arm_a)),
                                       row.normal));
}

/* Writes impulses to their contacts. */
typedef struct tl_store_task {
  tl_thread_rows rows;
  const uint32_t *order;
  talus_vec3 *impulses;
} tl_store_task;

TL_FN void tl_store_at(const tl_store_task *task, size_t k) {
  task->impulses[task->order[k]] = tl_row_vec(&task->rows, TL_ROW_IMPULSE, k);
}

/* Multiplies impulses by a share, for the start. */
typedef struct tl_shrink_task {
  tl_thread_rows rows;
  talus_real share;
} tl_shrink_task;

TL_FN void tl_shrink_at(const tl_shrink_task *task, size_t k) {
  tl_row_put(&task->rows, TL_ROW_IMPULSE, k,
             tl_scale(tl_row_vec(&task->rows, TL_ROW_IMPULSE, k), task->share));
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* Rows first, first + 1, ... of one colour. tail: one thread visits so many rows in turn. */
typedef struct tl_visit_task {
  tl_thread_rows rows;
  size_t first, tail;
  talus_real share; /* of the impulse that is applied; 0: a sweep */
  int is_ncp;
} tl_visit_task;

typedef tl_visit_task tl_lift_task;

TL_FN tl_ccp_vec tl_row_plain(talus_vec3 v) {
  tl_ccp_vec r;
  r.x = v.x;
  r.y = v.y;
  r.z = v.z;
  return r;
}

/* What a visit reads of a row: nobody else changes it. */
typedef struct tl_thread_row {
  uint32_t a, b;
  talus_vec3 normal, arm_a, arm_b, impulse;
  talus_real friction, en, et, bias;
} tl_thread_row;

TL_FN tl_thread_row tl_row_take(const tl_thread_rows *rows, size_t k) {
  tl_thread_row row;
  row.a = rows->a[k];
  row.b = rows->b[k];
  row.normal = tl_row_vec(rows, TL_ROW_NORMAL, k);
  row.arm_a = tl_row_vec(rows, TL_ROW_ARM_A, k);
  row.arm_b = tl_row_vec(rows, TL_ROW_ARM_B, k);
  row.impulse = tl_row_vec(rows, TL_ROW_IMPULSE, k);
  row.friction = *tl_row_field(rows, TL_ROW_FRICTION, k);
  row.en = *tl_row_field(rows, TL_ROW_EN, k);
  row.et = *tl_row_field(rows, TL_ROW_ET, k);
  row.bias = *tl_row_field(rows, TL_ROW_BIAS, k);
  return row;
}

/* The two bodies of a row, read once and written once. */
typedef struct tl_thread_two {
  tl_ccp_body *at_a, *at_b;
  tl_ccp_body x, y;
} tl_thread_two;

TL_FN tl_thread_two tl_two_take(tl_ccp_body *at_a, tl_ccp_body *at_b) {
  tl_thread_two two;
  two.at_a = at_a;
  two.at_b = at_b;
  two.x = tl_thread_fetch(at_a);
  two.y = tl_thread_fetch(at_b);
  return two;
}

TL_FN talus_vec3 tl_two_velocity(const tl_thread_two *two, const tl_thread_row *row) {
  return tl_sub(tl_ccp_point_velocity(&two->y, row->arm_b),
                tl_ccp_point_velocity(&two->x, row->arm_a));
}

/* Applies impulse p to b and -p to a. */
TL_FN void tl_two_push(const tl_thread_rows *rows, const tl_thread_row *row, tl_thread_two *two,
                       talus_vec3 p) {
  if (two->x.inv_mass > 0) {
    tl_ccp_push(&two->x, rows->tensors ? &rows->tensors[row->a] : 0, row->arm_a, tl_neg(p));
    tl_thread_put(two->at_a, &two->x);
  }
  if (two->y.inv_mass > 0) {
    tl_ccp_push(&two->y, rows->tensors ? &rows->tensors[row->b] : 0, row->arm_b, p);
    tl_thread_put(two->at_b, &two->y);
  }
}

/* Applies a share of the row's impulse; 0: visits it. */
TL_FN void tl_visit_taken(const tl_thread_rows *rows, const tl_thread_row *row, size_t k,
                          talus_real share, int is_ncp) {
  tl_thread_two two = tl_two_take(&rows->bodies[row->a], &rows->bodies[row->b]);
  const talus_vec3 p = row->impulse;
  if (share != 0) {
    tl_two_push(rows, row, &two, tl_scale(p, share));
    return;
  }
  const tl_ccp_vec next =
      tl_ccp_step(tl_row_plain(p), tl_row_plain(tl_two_velocity(&two, row)),
                  tl_row_plain(row->normal), row->bias, row->friction, row->en, row->et, is_ncp);
  const talus_vec3 fresh = tl_vec3(next.x, next.y, next.z);
  tl_row_put(rows, TL_ROW_IMPULSE, k, fresh);
  tl_two_push(rows, row, &two, tl_sub(fresh, p));
}

TL_FN void tl_visit_row(const tl_thread_rows *rows, size_t k, talus_real share, int is_ncp) {
  const tl_thread_row row = tl_row_take(rows, k);
  tl_visit_taken(rows, &row, k, share, is_ncp);
}

/* A visit in position correction: without friction. */
TL_FN void tl_lift_taken(const tl_thread_rows *rows, const tl_thread_row *row, size_t k) {
  tl_thread_two two = tl_two_take(&rows->shifts[row->a], &rows->shifts[row->b]);
  const talus_real un = tl_dot(tl_two_velocity(&two, row), row->normal), before = rows->lift[k];
  const talus_real after = tl_max(before - row->en * (un + rows->lift_bias[k]), 0);
  if (after == before)
    return;
  rows->lift[k] = after;
  tl_two_push(rows, row, &two, tl_scale(row->normal, after - before));
}

TL_FN void tl_lift_row(const tl_thread_rows *rows, size_t k) {
  const tl_thread_row row = tl_row_take(rows, k);
  tl_lift_taken(rows, &row, k);
}

TL_FN void tl_visit_at(const tl_visit_task *task, size_t i) {
  const size_t count = task->tail > 0 ? task->tail : 1;
  for (size_t k = 0; k < count; ++k)
    tl_visit_row(&task->rows, task->first + i + k, task->share, task->is_ncp);
}

TL_FN void tl_lift_at(const tl_lift_task *task, size_t i) {
  const size_t count = task->tail > 0 ? task->tail : 1;
  for (size_t k = 0; k < count; ++k)
    tl_lift_row(&task->rows, task->first + i + k);
}

/* ---- sums over rows -------------------------------------------------------------------------- */

/* Thread t adds rows t, t + threads, ... in this order. */
enum {
  TL_REMAIN_SQUARE, /* of residuals, (m/s)^2 */
  TL_REMAIN_WORK,   /* p.(u + bias n), J: slope of the objective along the impulses */
  TL_REMAIN_BIAS,   /* bias p.n, J */
  TL_REMAINS
};

typedef struct tl_remain_task {
  tl_thread_rows rows;
  size_t threads;
  int is_ncp;
  double *sums; /* TL_REMAINS of each thread */
  /* bits of the largest residual in single precision, and row + 1; cleared before */
  uint64_t *worst;
} tl_remain_task;

TL_FN uint64_t tl_thread_name_worst(double residual, size_t k) {
  union {
    float number;
    uint32_t bits;
  } as;
  as.number = (float)residual;
  return (uint64_t)as.bits << 32 | (uint32_t)(k + 1);
}

TL_FN void tl_remain_at(const tl_remain_task *task, size_t thread) {
  const tl_thread_rows *rows = &task->rows;
  double sums[TL_REMAINS] = {0};
  uint64_t worst = 0;
  for (size_t k = thread; k < rows->count; k += task->threads) {
    const talus_vec3 p = tl_row_vec(rows, TL_ROW_IMPULSE, k),
                     n = tl_row_vec(rows, TL_ROW_NORMAL, k);
    const talus_vec3 u = tl_row_velocity(rows, rows->bodies, k);
    const talus_real bias = *tl_row_field(rows, TL_ROW_BIAS, k);
    const double residual = (double)tl_ccp_residual(
        tl_row_plain(p), tl_row_plain(u), tl_row_plain(n), bias,
        *tl_row_field(rows, TL_ROW_FRICTION, k), *tl_row_field(rows, TL_ROW_EN, k),
        *tl_row_field(rows, TL_ROW_ET, k), task->is_ncp);
    const double along = (double)bias * tl_thread_dot(p, n);
    sums[TL_REMAIN_SQUARE] += residual * residual;
    sums[TL_REMAIN_WORK] += tl_thread_dot(p, u) + along;
    sums[TL_REMAIN_BIAS] += along;
    const uint64_t name = tl_thread_name_worst(residual, k);
    worst = name > worst ? name : worst;
  }
  for (int i = 0; i < TL_REMAINS; ++i)
    task->sums[thread * TL_REMAINS + (size_t)i] = sums[i];
  tl_thread_raise_wide(task->worst, worst);
}

/* ---- position correction --------------------------------------------------------------------- */

enum { TL_AIM_DEEP = 1 }; /* some overlap is deeper than allowed */

typedef struct tl_aim_task {
  tl_thread_rows rows;
  const uint32_t *order;
  const talus_row_contact *contacts;
  const talus_real *gaps;                          /* as for rows */
  talus_real h, slop, share, recovery_speed, deep; /* s, m, of an overlap, m/s, m */
  uint32_t *found;                                 /* TL_AIM_...; cleared before */
} tl_aim_task;

TL_FN void tl_aim_at(const tl_aim_task *task, size_t k) {
  const tl_thread_rows *rows = &task->rows;
  const uint32_t i = task->order[k];
  const talus_real gap = task->gaps ? task->gaps[i] : task->contacts[i].gap;
  const talus_vec3 n = tl_row_vec(rows, TL_ROW_NORMAL, k);
  const talus_real ahead = gap + task->h * tl_dot(tl_row_velocity(rows, rows->bodies, k), n);
  const talus_real target =
      tl_impulse_target(tl_max(gap, ahead), task->h, task->slop, task->share, task->recovery_speed);
  rows->lift[k] = 0;
  rows->lift_bias[k] = (ahead - target) / task->h;
  if (gap < -task->deep)
    tl_thread_set(task->found, TL_AIM_DEEP);
}

/* Makes copies of bodies without velocities, for correction. */
typedef struct tl_still_task {
  const tl_ccp_body *bodies;
  tl_ccp_body *shifts;
} tl_still_task;

TL_FN void tl_still_at(const tl_still_task *task, size_t i) {
  tl_ccp_body body = task->bodies[i];
  body.v = body.w = tl_vec3(0, 0, 0);
  task->shifts[i] = body;
}

#endif
