#include "contact/history.h"

/* ---- one record ------------------------------------------------------------------------------ */

/* Of the record of every contact geometry is this step's own: the other fields are left alone. */
static void carry_contact(tl_contact *to, const tl_contact *from, talus_real ratio) {
#define CARRY(name, type, columns, scalar, flags)                                                  \
  if ((flags)&TL_CARRIED)                                                                          \
    to->name = from ? from->name : (type){0};                                                      \
  if ((flags)&TL_IMPULSE && ratio != 1)                                                            \
    tl_scale_reals(&to->name, columns, ratio);
  TL_CONTACT_FIELDS(CARRY)
#undef CARRY
}

#define CARRY(name, type, columns, scalar, flags)                                                  \
  if ((flags)&TL_CARRIED)                                                                          \
    to->name = from->name;                                                                         \
  if ((flags)&TL_IMPULSE && ratio != 1)                                                            \
    tl_scale_reals(&to->name, columns, ratio);
#define CARRIER(array, type, FIELDS)                                                               \
  static void carry_##array(type *to, const type *from, talus_real ratio) {                        \
    *to = (type){0};                                                                               \
    if (!from)                                                                                     \
      return;                                                                                      \
    FIELDS(CARRY)                                                                                  \
    (void)ratio; /* of records without impulses */                                                 \
  }
TL_CONTACT_RECORDS(CARRIER)
#undef CARRIER
#undef CARRY

/* ---- the join -------------------------------------------------------------------------------- */

typedef struct join_job {
  const tl_model *model;
  const tl_contacts *before;
  tl_contacts *after;
  size_t first;                               /* contact of `after` */
  talus_real ratio;                           /* of the lengths of the two steps */
  bool by_place;                              /* whether a place may have another key */
  bool has_meshes;                            /* whether some shape is one, or may be seen as one */
  bool contacts;                              /* whether records of every contact are carried */
#define LAYS(array, type, FIELDS) bool array; /* whether these are */
  TL_CONTACT_RECORDS(LAYS)
#undef LAYS
} join_job;

static int compare(const tl_contact *x, const tl_contact *y) {
  return tl_contact_compare(x->a, x->b, x->feature_a, x->feature_b, y);
}

/* ---- contacts of other keys ------------------------------------------------------------------ */

/* On a mesh a body passes from feature to feature: what was at one is at the next. */
#define TURN 0.98480775301220806 /* cosine of 10 degrees */

/* Whether a body of this kind touches a revolved wall by its triangles (narrow/table.c). */
static bool meets_triangles(talus_shape_kind kind) {
  return kind == TALUS_ELLIPSOID || kind == TALUS_CYLINDER || kind == TALUS_CONE ||
         kind == TALUS_SUPERELLIPSOID;
}

static bool has_mesh(const tl_model *model, const tl_contact *c) {
  const talus_shape_kind a = tl_body_shape(model, c->a)->kind;
  const talus_shape_kind b = tl_body_shape(model, c->b)->kind;
  return a == TALUS_MESH || b == TALUS_MESH || (a == TALUS_REVOLVED && meets_triangles(b)) ||
         (b == TALUS_REVOLVED && meets_triangles(a));
}

/* The contacts of c's pair: c is number i of the set. */
static size_t pair_of(const tl_contact *set, size_t count, size_t i, size_t *end) {
  size_t first = i;
  while (first > 0 && set[first - 1].a == set[i].a && set[first - 1].b == set[i].b)
    --first;
  for (*end = i + 1; *end < count && set[*end].a == set[i].a && set[*end].b == set[i].b;)
    ++*end;
  return first;
}

/* Whether one of the contacts has the key of c. */
static bool has_key(const tl_contact *set, size_t first, size_t end, const tl_contact *c) {
  for (size_t i = first; i < end; ++i)
    if (set[i].feature_a == c->feature_a && set[i].feature_b == c->feature_b)
      return true;
  return false;
}

/* The nearest to c of those whose key the other set does not have, and that look the same way;
 * SIZE_MAX: none. */
static size_t nearest_of(const tl_contact *set, size_t first, size_t end, const tl_contact *other,
                         size_t other_first, size_t other_end, const tl_contact *c) {
  size_t best = SIZE_MAX;
  double least = DBL_MAX;
  for (size_t i = first; i < end; ++i) {
    const talus_dvec3 d = tl_dsub(set[i].point, c->point);
    if (tl_dot(set[i].normal, c->normal) > TL_R(TURN) && tl_ddot(d, d) < least &&
        !has_key(other, other_first, other_end, &set[i]))
      least = tl_ddot(d, d), best = i;
  }
  return best;
}

/* For contact i of the new set, which has a key of its own: the old one of its pair that is
 * nearest, where it is the nearest to that one, too, so that nothing is handed on twice. `at`: of
 * the old set, near the pair. */
static size_t find_on_mesh(const tl_contacts *before, const tl_contacts *after, size_t i,
                           size_t at) {
  const tl_contact *old = before->data, *new = after->data;
  const tl_contact *c = &new[i];
  if (at == before->count || old[at].a != c->a || old[at].b != c->b)
    if (at == 0 || old[--at].a != c->a || old[at].b != c->b)
      return SIZE_MAX;
  size_t old_end, new_end;
  const size_t old_first = pair_of(old, before->count, at, &old_end);
  const size_t new_first = pair_of(new, after->count, i, &new_end);
  const size_t from = nearest_of(old, old_first, old_end, new, new_first, new_end, c);
  if (from == SIZE_MAX)
    return SIZE_MAX;
  const size_t back = nearest_of(new, new_first, new_end, old, old_first, old_end, &old[from]);
  return back == i ? from : SIZE_MAX;
}

/* from: number of the contact of the same key, SIZE_MAX where there is none. */
static void join(const join_job *job, size_t i, size_t from) {
  const tl_contacts *before = job->before;
  tl_contacts *after = job->after;
  const bool found = from != SIZE_MAX;
  if (job->contacts)
    carry_contact(&after->data[i], found ? &before->data[from] : NULL, job->ratio);
#define LAY(array, type, FIELDS)                                                                   \
  if (job->array)                                                                                  \
    carry_##array(&after->array.data[i],                                                           \
                  found && before->array.count == before->count ? &before->array.data[from]        \
                                                                : NULL,                            \
                  job->ratio);
  TL_CONTACT_RECORDS(LAY)
#undef LAY
  if (job->springs && after->springs.data[i].stiffness == 0)
    after->springs.data[i] = (tl_spring){0};
}

/* ---- another name for the same place ---------------------------------------------------------
 *
 * Where edges lie on each other, as in a wall of equal bricks, a hair decides whether a corner is a
 * vertex of one body, of the other, or a crossing of edges. Its impulse would be forgotten with the
 * key, and a tall stack that forgets a few of its impulses in every step never stops sinking. So
 * what no key of the pair takes over goes to the contact of a new key at the same place: nearest
 * first come, in canonical order. */

#define GROUP TL_HISTORY_GROUP
#define NEAR  TL_R(0.05) /* of the smaller bounding radius */
#define ALONG TL_R(0.9)  /* cosine between the two normals */

/* The contacts of a pair in a set. */
typedef struct group {
  const tl_contact *data;
  size_t first, count;
} group;

static group group_of(const tl_contacts *contacts, size_t at, const tl_contact *c) {
  group g = {contacts->data, at, 0};
  while (g.first > 0 && contacts->data[g.first - 1].a == c->a &&
         contacts->data[g.first - 1].b == c->b)
    g.first--;
  while (g.first + g.count < contacts->count && contacts->data[g.first + g.count].a == c->a &&
         contacts->data[g.first + g.count].b == c->b)
    g.count++;
  return g;
}

/* Bit i: contact i of g has a key that none of the other group has. */
static uint32_t unmatched(const group *g, const group *other) {
  uint32_t bits = 0;
  for (size_t i = 0, k = 0; i < g->count; ++i) {
    int order = 1;
    while (k < other->count &&
           (order = compare(&other->data[other->first + k], &g->data[g->first + i])) < 0)
      ++k;
    if (k == other->count || order != 0)
      bits |= UINT32_C(1) << i;
  }
  return bits;
}

/* Which of the unmatched old contacts is nearest to c, -1: none is near. */
static int nearest(const group *old, uint32_t left, const tl_contact *c, talus_real reach) {
  talus_real least = reach < TL_REAL_MAX ? reach * reach : TL_REAL_MAX;
  int best = -1;
  for (size_t k = 0; k < old->count; ++k) {
    const tl_contact *d = &old->data[old->first + k];
    const talus_real away = tl_length2(tl_between(d->point, c->point));
    if ((left >> k & 1u) && away < least && tl_dot(d->normal, c->normal) > ALONG)
      least = away, best = (int)k;
  }
  return best;
}

static talus_real reach_of(const tl_model *model, const tl_contact *c) {
  const talus_real a = tl_body_shape(model, c->a)->radius * model->property.scale[c->a];
  const talus_real b = tl_body_shape(model, c->b)->radius * model->property.scale[c->b];
  return NEAR * (a > 0 && b > 0 ? tl_min(a, b) : a + b);
}

/* Contacts of `now` in order, those of a key of their own (fresh) without an heir yet: the nearest
 * of the old ones that are left, which becomes theirs. */
static uint32_t hand_on(const group *old, const group *now, uint32_t fresh, uint32_t left,
                        talus_real reach, int heir[GROUP]) {
  for (size_t k = 0; left && k < now->count; ++k)
    if ((fresh >> k & 1u) && heir[k] < 0) {
      heir[k] = nearest(old, left, &now->data[now->first + k], reach);
      if (heir[k] >= 0)
        left &= ~(UINT32_C(1) << heir[k]);
    }
  return left;
}

/* The old contact whose place contact i has taken, which has no key of the old set; `at`: where its
 * key would be there. A pure function of the two groups, whoever asks. With substeps, whose sweeps
 * are few, nothing is lost that the pair can still carry: what has no heir nearby goes to the
 * nearest one that has nothing. */
static size_t find_by_place(const join_job *job, size_t i, size_t at) {
  const tl_contact *c = &job->after->data[i];
  const group old = group_of(job->before, at, c);
  if (old.count == 0 || old.count > GROUP)
    return SIZE_MAX;
  const group now = group_of(job->after, i, c);
  if (now.count > GROUP)
    return SIZE_MAX;
  const uint32_t fresh = unmatched(&now, &old);
  int heir[GROUP];
  for (size_t k = 0; k < now.count; ++k)
    heir[k] = -1;
  const uint32_t left =
      hand_on(&old, &now, fresh, unmatched(&old, &now), reach_of(job->model, c), heir);
  if (job->model->substeps > 1)
    hand_on(&old, &now, fresh, left, TL_REAL_MAX, heir);
  const int of = heir[i - now.first];
  return of < 0 ? SIZE_MAX : old.first + (size_t)of;
}

/* The old contact that contact i, whose key is new, takes over from. SIZE_MAX: none. */
static size_t heir_of(const join_job *job, size_t i, size_t at) {
  if (job->has_meshes && has_mesh(job->model, &job->after->data[i]))
    return find_on_mesh(job->before, job->after, i, at);
  return job->by_place ? find_by_place(job, i, at) : SIZE_MAX;
}

/* Binary search for where the range starts, then both sets are walked together. */
static void join_range(void *context, size_t begin, size_t end) {
  const join_job *job = context;
  const tl_contact *old = job->before->data, *rows = job->after->data + job->first;
  const size_t count = job->before->count;
  size_t at = 0, above = count;
  while (at < above) {
    const size_t middle = at + (above - at) / 2;
    if (compare(&old[middle], &rows[begin]) < 0)
      at = middle + 1;
    else
      above = middle;
  }
  for (size_t i = begin; i < end; ++i) {
    int order = 1;
    while (at < count && (order = compare(&old[at], &rows[i])) < 0)
      at++;
    size_t from = at < count && order == 0 ? at : SIZE_MAX;
    if (from == SIZE_MAX && count > 0)
      from = heir_of(job, job->first + i, at);
    join(job, job->first + i, from);
  }
}

static void join_all(const tl_model *model, join_job *job) {
  job->model = model;
  for (size_t i = 0; i < model->shapes.count && !job->has_meshes; ++i)
    job->has_meshes =
        model->shapes.data[i].kind == TALUS_MESH || model->shapes.data[i].kind == TALUS_REVOLVED;
  job->ratio = tl_step_ratio(job->before->dt, job->after->dt);
  tl_for(&model->par, job->after->count - job->first, 1024, join_range, job);
}

void tl_history_carry(const tl_model *model, const tl_contacts *before, tl_contacts *after,
                      size_t first) {
  join_job job = {.before = before,
                  .after = after,
                  .first = first,
                  .by_place = model->solve.kind != TALUS_SOLVE_PENALTY,
                  .contacts = true};
  join_all(model, &job);
}

/* ---- bonds ----------------------------------------------------------------------------------- */

/* Whether any point of the contact's pair was bonded. *at: the first one not before the pair. A
 * ball that rolls over an edge has points of other keys from step to step, and one bond. */
static bool is_pair_bonded(const tl_contacts *before, const tl_contact *c, size_t *at) {
  tl_pair pair = {c->a, c->b};
  if (!tl_history_next(before, pair, at))
    return false;
  for (size_t k = *at; k < before->count && before->data[k].a == c->a && before->data[k].b == c->b;
       ++k)
    if (before->law_states.data[k].state & TL_CONTACT_BONDED)
      return true;
  return false;
}

static void lay_bonds(const tl_contacts *before, tl_contacts *after) {
  bool bonded = false;
  size_t at = 0;
  for (size_t i = 0; i < after->count; ++i) {
    const tl_contact *c = &after->data[i];
    if (i == 0 || c[-1].a != c->a || c[-1].b != c->b)
      bonded = is_pair_bonded(before, c, &at);
    if (bonded)
      after->law_states.data[i].state |= TL_CONTACT_BONDED;
  }
}

/* ---- sets ------------------------------------------------------------------------------------ */

void tl_history_keep(const tl_contacts *before, size_t first, size_t n, tl_contacts *after) {
  tl_contact *to = after->data + after->count;
  const talus_real ratio = tl_step_ratio(before->dt, after->dt);
  TL_ASSERT(after->count + n <= after->capacity);
  if (n > 0)
    memcpy(to, before->data + first, n * sizeof *to);
  for (size_t i = 0; ratio != 1 && i < n; ++i)
    carry_contact(&to[i], &before->data[first + i], ratio);
  after->count += n;
}

talus_status tl_history_begin(const tl_contacts *before, double dt, tl_contacts *after) {
  tl_contacts_clear(after);
  after->dt = dt;
  TL_TRY(tl_contacts_trim(after));
  /* As much as the other has: so that a step with as many contacts as ever allocates nothing. */
  return after->capacity < before->count ? tl_array_reserve(after, before->capacity) : TALUS_OK;
}

talus_status tl_history_lay(const tl_model *model, const tl_contacts *before, tl_contacts *after) {
  join_job job = {.before = before,
                  .after = after,
                  .law_states = model->law_kinds != 0,
                  .springs = model->solve.kind == TALUS_SOLVE_PENALTY};
  bool any = false;
#define MAKE(array, type, FIELDS)                                                                  \
  TL_TRY(tl_array_resize(&after->array, job.array ? after->count : 0));                            \
  any |= job.array;
  TL_CONTACT_RECORDS(MAKE)
#undef MAKE
  if (any)
    join_all(model, &job);
  if ((model->law_kinds & TL_LAW_COHESION) && tl_contacts_have_law_states(before))
    lay_bonds(before, after);
  return TALUS_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool is_before(const tl_contact *c, tl_pair pair) {
  return c->a != pair.a ? c->a < pair.a : c->b < pair.b;
}

size_t tl_history_find(const tl_contacts *before, tl_pair pair) {
  size_t at = 0, above = before->count;
  while (at < above) {
    const size_t middle = at + (above - at) / 2;
    if (is_before(&before->data[middle], pair))
      at = middle + 1;
    else
      above = middle;
  }
  return at;
}

const tl_contact *tl_history_next(const tl_contacts *before, tl_pair pair, size_t *cursor) {
  size_t i = *cursor;
  while (i < before->count && is_before(&before->data[i], pair))
    ++i;
  *cursor = i;
  if (i == before->count) /* which may have no room at all */
    return NULL;
  const tl_contact *c = &before->data[i];
  return c->a == pair.a && c->b == pair.b ? c : NULL;
}
