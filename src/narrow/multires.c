#include "narrow/multires_pair.h"

#include <stdlib.h>

/* consecutive looks in which all sister rows were apart, after which they are narrowed */
#define PATIENT 2

static bool is_same(const tl_row *x, const tl_row *y) { return x->a == y->a && x->b == y->b; }

static int compare_rows(const tl_row *x, const tl_row *y) {
  if (x->a != y->a)
    return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

static int by_parent(const void *left, const void *right) {
  const tl_multires_row *x = left, *y = right;
  const int order = compare_rows(&x->parent, &y->parent);
  return order != 0 ? order : compare_rows(&x->row, &y->row);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

void tl_multires_begin(tl_multires *m, double reach) {
  m->reach = reach;
  m->count = m->widened = m->looks.count = 0;
}

talus_status tl_multires_begin_look(tl_multires *m) {
  m->widened = 0;
  return tl_array_push(&m->looks, (uint64_t)0);
}

static void release_pair(tl_multires_pair *p) {
  tl_array_free(&p->rows);
  tl_array_free(&p->next);
  tl_array_free(&p->back);
  tl_array_free(&p->near);
  tl_array_free(&p->asked);
  tl_array_free(&p->coarse);
}

void tl_multires_release(tl_multires *m) {
  for (size_t i = 0; i < m->pairs.count; ++i)
    release_pair(&m->pairs.data[i]);
  tl_array_free(&m->pairs);
  tl_array_free(&m->looks);
  m->count = 0;
}

static int compare_bodies(const tl_multires_pair *p, uint32_t a, uint32_t b) {
  if (p->a != a)
    return p->a < a ? -1 : 1;
  return p->b < b ? -1 : p->b > b;
}

static size_t place_of(const tl_multires *m, uint32_t a, uint32_t b) {
  size_t lo = 0, hi = m->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (compare_bodies(&m->pairs.data[middle], a, b) < 0)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

const tl_multires_pair *tl_multires_of(const tl_multires *m, uint32_t a, uint32_t b) {
  const size_t i = place_of(m, a, b);
  return i < m->count && compare_bodies(&m->pairs.data[i], a, b) == 0 ? &m->pairs.data[i] : NULL;
}

/* A pair that was not near before begins at its roots. */
static talus_status need_pair(tl_multires *m, uint32_t a, uint32_t b) {
  const size_t at = place_of(m, a, b);
  if (at < m->count && compare_bodies(&m->pairs.data[at], a, b) == 0)
    return TALUS_OK;
  if (m->count == m->pairs.count)
    TL_TRY(tl_array_push(&m->pairs, (tl_multires_pair){0}));
  tl_multires_pair fresh = m->pairs.data[m->count];
  memmove(&m->pairs.data[at + 1], &m->pairs.data[at], (m->count - at) * sizeof fresh);
  m->count++;
  fresh.a = a, fresh.b = b;
  fresh.rows.count = fresh.next.count = fresh.back.count = fresh.coarse.count = 0;
  fresh.leaves = fresh.widened = 0, fresh.product = 0, fresh.status = TALUS_OK;
  const tl_row root = tl_surrogates_root(0);
  const talus_status status =
      tl_array_push(&fresh.rows, ((tl_multires_row){.row = root, .parent = root}));
  m->pairs.data[at] = fresh;
  return status;
}

/* ---- one pair in one look -------------------------------------------------------------------- */

typedef struct look_job {
  tl_multires *m;
  const tl_fronts *fronts;
  const tl_pair *bodies;
  tl_front_list *list;
  tl_surrogates surrogates;
} look_job;

static talus_status keep(tl_multires_pair *p, tl_row row, tl_row parent, uint32_t misses) {
  return tl_array_push(&p->next, ((tl_multires_row){row, parent, misses}));
}

/* Adds the contact of two surrogates, which pushes with a share of the law. */
static talus_status push_coarse(const look_job *job, tl_multires_pair *p, const tl_row *row,
                                const tl_row_near *near) {
  const double reach = job->m->reach, halo = 0.5 * reach;
  if (!(reach > 0))
    return TALUS_OK;
  const double eps = fmax(near->eps_a, near->eps_b) + halo;
  const double gap = near->distance - near->eps_a - near->eps_b;
  const talus_dvec3 way = tl_dsub(near->on_a, near->on_b);
  if (!(near->distance > 1e-9 * eps)) /* they cross: no direction */
    return TALUS_OK;
  tl_point point = tl_point_at(near->on_a, tl_dscale(way, 1 / tl_dlength(way)), near->distance,
                               row->a | 0x40000000u, row->b | 0x40000000u);
  point.gap = TL_R(reach - halo / eps * (reach - gap));
  return tl_array_push(&p->coarse, point);
}

/* Handles a row of the last front by its verdict. */
static talus_status judge(const look_job *job, tl_multires_pair *p, size_t i) {
  const tl_multires_row *old = &p->rows.data[i];
  const tl_row_near *near = &p->near.data[i];
  if (!near->is_near)
    return keep(p, old->row, old->parent, old->misses + 1);
  if (tl_surrogates_is_leaf(&old->row))
    return keep(p, old->row, old->parent, 0);
  tl_row asked = p->asked.data[i], children[TL_ROW_CHILDREN];
  const size_t n = tl_surrogates_children(&job->surrogates, &asked, children);
  p->widened++;
  for (size_t k = 0; k < n; ++k)
    TL_TRY(keep(p, children[k], old->row, 0));
  return push_coarse(job, p, &old->row, near);
}

static bool is_back(const tl_multires_pair *p, const tl_row *row) {
  for (size_t i = 0; i < p->back.count; ++i)
    if (is_same(&p->back.data[i], row))
      return true;
  return false;
}

/* Replaces sister rows by the row above if all are present and have been apart for long enough.
 * This happens once for a row. */
static talus_status narrow(const look_job *job, tl_multires_pair *p, uint32_t pair) {
  size_t kept = 0;
  const size_t count = p->next.count;
  tl_multires_row *rows = p->next.data;
  for (size_t i = 0, end; i < count; i = end) {
    bool may = true;
    for (end = i; end < count && is_same(&rows[end].parent, &rows[i].parent); ++end)
      may = may && rows[end].misses >= PATIENT;
    tl_row parent = rows[i].parent;
    parent.pair = pair;
    may = may && !is_same(&rows[i].row, &rows[i].parent) &&
          end - i == tl_surrogates_child_count(&job->surrogates, &parent) && !is_back(p, &parent);
    if (may) {
      TL_TRY(tl_array_push(&p->back, parent));
      rows[kept++] = (tl_multires_row){.row = parent,
                                       .parent = tl_surrogates_above(&job->surrogates, &parent)};
      continue;
    }
    for (size_t k = i; k < end; ++k)
      rows[kept++] = rows[k];
  }
  p->next.count = kept;
  return TALUS_OK;
}

/* As printed: every active node of one body is compared with every active node of the other. */
static int by_number(const void *left, const void *right) {
  const uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
  return x < y ? -1 : x > y;
}

static uint64_t count_different(uint32_t *refs, size_t n) {
  uint64_t count = n > 0;
  qsort(refs, n, sizeof *refs, by_number);
  for (size_t i = 1; i < n; ++i)
    count += refs[i] != refs[i - 1];
  return count;
}

static talus_status find_product(tl_multires_pair *p) {
  TL_ARRAY(uint32_t) refs = {0};
  const talus_status status = tl_array_resize(&refs, p->rows.count);
  uint64_t sides[2] = {0, 0};
  for (int side = 0; side < 2 && status == TALUS_OK; ++side) {
    for (size_t i = 0; i < p->rows.count; ++i)
      refs.data[i] = side == 0 ? p->rows.data[i].row.a : p->rows.data[i].row.b;
    sides[side] = count_different(refs.data, refs.count);
  }
  tl_array_free(&refs);
  p->product = sides[0] * sides[1];
  return status;
}

static talus_status look_at(const look_job *job, tl_multires_pair *p, uint32_t pair) {
  const size_t n = p->rows.count;
  TL_TRY(tl_array_resize(&p->asked, n));
  TL_TRY(tl_array_resize(&p->near, n));
  TL_TRY(find_product(p));
  for (size_t i = 0; i < n; ++i) {
    p->asked.data[i] = p->rows.data[i].row;
    p->asked.data[i].pair = pair;
  }
  tl_surrogates_compare(&job->surrogates, p->asked.data, n, p->near.data);
  p->next.count = p->coarse.count = 0;
  p->widened = p->leaves = 0;
  for (size_t i = 0; i < n; ++i) {
    p->leaves += p->near.data[i].is_near && tl_surrogates_is_leaf(&p->rows.data[i].row);
    TL_TRY(judge(job, p, i));
  }
  return TALUS_OK;
}

static void look_at_some(void *context, size_t begin, size_t end) {
  const look_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    tl_multires_pair *p = &job->m->pairs.data[place_of(job->m, job->bodies[i].a, job->bodies[i].b)];
    if (!tl_cancel_look(job->fronts->cancel))
      p->status = look_at(job, p, (uint32_t)i);
  }
}

/* ---- the list, and the next front ------------------------------------------------------------ */

static talus_status write_pair(const look_job *job, tl_multires_pair *p, uint32_t pair) {
  size_t at = job->list->start[pair];
  for (size_t i = 0; i < p->near.count; ++i) {
    const tl_row *row = &p->rows.data[i].row;
    const tl_row_near *near = &p->near.data[i];
    if (!near->is_near || !tl_surrogates_is_leaf(row))
      continue;
    const uint32_t a = row->a & ~TL_SURROGATE_LEAF, b = row->b & ~TL_SURROGATE_LEAF;
    job->list->of_a[at] = tl_mesh_key_make(a, b, near->crosses);
    job->list->of_b[at++] = tl_mesh_key_make(b, a, near->crosses);
  }
  qsort(p->next.data, p->next.count, sizeof *p->next.data, by_parent);
  TL_TRY(narrow(job, p, pair));
  TL_TRY(tl_array_resize(&p->rows, p->next.count));
  memcpy(p->rows.data, p->next.data, p->next.count * sizeof *p->next.data);
  return TALUS_OK;
}

static void write_some(void *context, size_t begin, size_t end) {
  const look_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    tl_multires_pair *p = &job->m->pairs.data[place_of(job->m, job->bodies[i].a, job->bodies[i].b)];
    p->status = write_pair(job, p, (uint32_t)i);
  }
}

static talus_status add_up(tl_multires *m, const tl_fronts *fronts, const tl_pair *bodies,
                           uint64_t *start) {
  uint64_t total = 0;
  for (size_t i = 0; i < fronts->count; ++i) {
    const tl_multires_pair *p = &m->pairs.data[place_of(m, bodies[i].a, bodies[i].b)];
    if (p->status != TALUS_OK) /* worker threads have messages of their own */
      return tl_fail(p->status, "out of memory for the front of two meshes");
    start[i] = total;
    total += p->leaves;
    m->widened += p->widened;
    if (m->looks.count > 0)
      m->looks.data[m->looks.count - 1] += p->asked.count;
    m->product += p->product;
  }
  start[fronts->count] = total;
  return TALUS_OK;
}

talus_status tl_multires_find(tl_multires *m, const tl_fronts *fronts, const tl_pair *bodies,
                              tl_front_list *list) {
  tl_mesh_key *scratch;
  look_job job = {.m = m, .fronts = fronts, .bodies = bodies, .list = list};
  job.surrogates = (tl_surrogates){fronts->pairs, fronts->method, fronts->counts};
  for (size_t i = 0; i < fronts->count; ++i)
    TL_TRY(need_pair(m, bodies[i].a, bodies[i].b));
  tl_deal(fronts->par, fronts->count, look_at_some, &job);
  TL_GO_ON(fronts->cancel);
  TL_TAKE(fronts->arena, fronts->count + 1, &list->start);
  TL_TRY(add_up(m, fronts, bodies, list->start));
  TL_TAKE(fronts->arena, list->start[fronts->count], &list->of_a);
  TL_TAKE(fronts->arena, list->start[fronts->count], &list->of_b);
  TL_TAKE(fronts->arena, list->start[fronts->count], &scratch);
  tl_deal(fronts->par, fronts->count, write_some, &job);
  for (size_t i = 0; i < fronts->count; ++i)
    TL_TRY(m->pairs.data[place_of(m, bodies[i].a, bodies[i].b)].status);
  tl_front_sort(fronts, list, scratch);
  return TALUS_OK;
}
