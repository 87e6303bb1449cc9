#include "contact/history.h"

/* ---- one record ------------------------------------------------------------------------------ */

/* Fields of contact geometry belong to this step and are not overwritten. */
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
    (void)ratio; /* records without impulses do not use it */                                      \
  }
TL_CONTACT_RECORDS(CARRIER)
#undef CARRIER
#undef CARRY

/* ---- the join -------------------------------------------------------------------------------- */

typedef struct join_job {
  const tl_model *model;
  const tl_contacts *before;
  tl_contacts *after;
  size_t first;     /* first contact of `after` */
  talus_real ratio; /* length of this step over that of the last */
  /* a contact may take over from another key at its place */
  bool by_place;
  bool has_meshes; /* some shape is a mesh, or touches like one */
  /* whether records that every contact has are carried */
  bool contacts;
#define LAYS(array, type, FIELDS) bool array; /* whether these are carried */
  TL_CONTACT_RECORDS(LAYS)
#undef LAYS
} join_job;

static int compare(const tl_contact *x, const tl_contact *y) {
  return tl_contact_compare(x->a, x->b, x->feature_a, x->feature_b, y);
}

/* ---- contacts with new keys on meshes -------------------------------------------------------- */

/* On a mesh a body slides from feature to feature: the contact of the next one takes over. */
#define TURN 0.98480775301220806 /* cosine of 10 degrees */

/* True if a body of this kind touches a revolved wall by its triangles (narrow/table.c). */
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

/* First contact of c's pair; c is number i of the set. */
static size_t pair_of(const tl_contact *set, size_t count, size_t i, size_t *end) {
  size_t first = i;
  while (first > 0 && set[first - 1].a == set[i].a && set[first - 1].b == set[i].b)
    --first;
  for (*end = i + 1; *end < count && set[*end].a == set[i].a && set[*end].b == set[i].b;)
    ++*end;
  return first;
}

/* True if one of the contacts has the key of c. */
static bool has_key(const tl_contact *set, size_t first, size_t end, const tl_contact *c) {
  for (size_t i = first; i < end; ++i)
    if (set[i].feature_a == c->feature_a && set[i].feature_b == c->feature_b)
      return true;
  return false;
}

/* The contact nearest to c whose key the other set does not have and whose normal is similar;
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

/* For contact i of the new set, whose key is new: the nearest old contact of its pair, if i is also
 * the nearest to that one, so that nothing is taken over twice. at: index in the old set near the
 * pair. */
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

/* from: index of the contact to take over from; SIZE_MAX: none. */
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
#define NEAR  TL_R(0.05) /* part of the smaller bounding radius */
#define ALONG TL_R(0.9)  /* cosine between the two normals */

/* The contacts of a pair in one set. */
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

/* Bit i: the key of contact i of g does not occur in the other group. */
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

/* Which of the unmatched old contacts (`left`) is nearest to c; -1: none is near. */
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

/* Finds for each contact of `now` with a new key (`fresh`), in order, the nearest of the remaining
 * old contacts. Returns the old ones that remain. */
static uint32_t hand_on(const group *old, const group *now, uint32_t fresh, uint32_t left,
                        talus_real reach, int from[GROUP]) {
  for (size_t k = 0; k < now->count; ++k) {
    from[k] = fresh >> k & 1u ? nearest(old, left, &now->data[now->first + k], reach) : -1;
    if (from[k] >= 0)
      left &= ~(UINT32_C(1) << from[k]);
  }
  return left;
}

/* Pairs up the rest, however far apart, the two nearest first. */
static void hand_rest_on(const group *old, const group *now, uint32_t fresh, uint32_t left,
                         int from[GROUP]) {
  while (left) {
    talus_real least = TL_REAL_MAX;
    int best = -1;
    size_t to = 0;
    for (size_t k = 0; k < now->count; ++k) {
      if (!(fresh >> k & 1u) || from[k] >= 0)
        continue;
      const tl_contact *c = &now->data[now->first + k];
      const int near = nearest(old, left, c, TL_REAL_MAX);
      if (near < 0)
        continue;
      const talus_real away =
          tl_length2(tl_between(old->data[old->first + (size_t)near].point, c->point));
      if (away < least)
        least = away, best = near, to = k;
    }
    if (best < 0)
      return;
    from[to] = best;
    left &= ~(UINT32_C(1) << best);
  }
}

/* The old contact whose place contact i has taken, if the key of i is new; at: index in the old set
 * where its key would be. Depends only on the two groups. With substeps, whose sweeps are few, all
 * impulses that the pair can still carry are kept: if edges cross at a small angle, their crossing
 * moves between the corners of the patch. */
static size_t find_by_place(const join_job *job, size_t i, size_t at) {
  const tl_contact *c = &job->after->data[i];
  const group old = group_of(job->before, at, c);
  if (old.count == 0 || old.count > GROUP)
    return SIZE_MAX;
  const group now = group_of(job->after, i, c);
  if (now.count > GROUP)
    return SIZE_MAX;
  const uint32_t fresh = unmatched(&now, &old);
  int from[GROUP];
  const uint32_t left =
      hand_on(&old, &now, fresh, unmatched(&old, &now), reach_of(job->model, c), from);
  if (job->model->substeps > 1)
    hand_rest_on(&old, &now, fresh, left, from);
  const int of = from[i - now.first];
  return of < 0 ? SIZE_MAX : old.first + (size_t)of;
}

/* The old contact that contact i, whose key is new, takes over from; SIZE_MAX: none. */
static size_t heir_of(const join_job *job, size_t i, size_t at) {
  if (job->has_meshes && has_mesh(job->model, &job->after->data[i]))
    return find_on_mesh(job->before, job->after, i, at);
  return job->by_place ? find_by_place(job, i, at) : SIZE_MAX;
}

/* Finds the begin of the range by binary search, then walks through both sets together. */
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

/* True if any point of the contact's pair was bonded. *at: first contact not before the pair. A
 * ball that rolls over an edge has new keys from step to step, but one bond. */
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
  /* Takes as much memory as the other set has: then a step with as many contacts as ever before
   * allocates nothing. */
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
  if (i == before->count) /* may be an empty set without memory */
    return NULL;
  const tl_contact *c = &before->data[i];
  return c->a == pair.a && c->b == pair.b ? c : NULL;
}
