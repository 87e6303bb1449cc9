/* Union-find over slots. The lower root always wins, so that parents never lie above their
 * children: labels follow in one ascending pass, and do not depend on the order of joining. */
#include "contact/island.h"

#include "rest.h"

#define LAID_OUT 0x80000000u

static uint32_t find_root(uint32_t *parent, uint32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]]; /* path halving */
    i = parent[i];
  }
  return i;
}

/* a, b: two bodies that touch, TL_NONE for one that joins nothing. */
static void join(uint32_t *parent, uint32_t a, uint32_t b) {
  if (a == TL_NONE || b == TL_NONE || parent[a] == parent[b])
    return;
  const uint32_t x = find_root(parent, a), y = find_root(parent, b);
  if (x < y)
    parent[y] = x;
  else
    parent[x] = y;
}

static void start_labels(const tl_model *model, uint32_t *label) {
  for (size_t i = 0; i < model->bodies; ++i)
    label[i] = (uint32_t)i;
}

static uint32_t if_free(const tl_model *model, uint32_t slot) {
  return tl_body_is_static(model, slot) ? TL_NONE : slot;
}

static void finish_labels(const tl_model *model, const tl_pairs *links, uint32_t *label) {
  for (size_t i = 0; links && i < links->count; ++i)
    join(label, if_free(model, links->data[i].a), if_free(model, links->data[i].b));
  for (size_t i = 0; i < model->bodies; ++i)
    label[i] = label[label[i]];
}

void tl_island_label(const tl_model *model, const tl_contacts *contacts, const tl_pairs *links,
                     uint32_t *label) {
  start_labels(model, label);
  for (size_t i = 0; i < contacts->count; ++i)
    join(label, if_free(model, contacts->data[i].a), if_free(model, contacts->data[i].b));
  finish_labels(model, links, label);
}

static void take_all(const tl_model *model, const tl_state *state, const tl_contacts *contacts,
                     tl_islands *islands) {
  uint32_t n = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    if (!tl_rest_is_dormant(model, state, contacts->data[i].a, contacts->data[i].b))
      islands->order[n++] = (uint32_t)i;
  islands->start[0] = 0;
  islands->start[1] = n;
  islands->count = n > 0;
}

/* The free bodies of each contact, TL_NONE for others; none at all where the contact has no work to
 * do. Contacts are long: this is the only time that they are read. */
typedef struct ends_job {
  const tl_model *model;
  const tl_state *state;
  const tl_contact *contacts;
  tl_pair *ends;
} ends_job;

static void find_ends(void *context, size_t begin, size_t end) {
  const ends_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_contact *c = &job->contacts[i];
    const bool dormant = tl_rest_is_dormant(job->model, job->state, c->a, c->b);
    job->ends[i].a = dormant ? TL_NONE : if_free(job->model, c->a);
    job->ends[i].b = dormant ? TL_NONE : if_free(job->model, c->b);
  }
}

/* The label of a contact's island, TL_NONE where it has no work to do. */
static uint32_t label_of(const uint32_t *label, tl_pair ends) {
  const uint32_t slot = ends.a != TL_NONE ? ends.a : ends.b;
  return slot != TL_NONE ? label[slot] : TL_NONE;
}

/* Offsets of the islands, small ones first; counts by root become where each root writes. */
static uint32_t lay_out(const tl_model *model, uint32_t small, uint32_t *next, uint32_t total,
                        bool is_small, tl_islands *islands) {
  for (size_t root = 0; root < model->bodies; ++root) {
    /* What was laid out in the first round is marked, since offsets look like counts. */
    const uint32_t rows = next[root];
    if (rows == 0 || (rows & LAID_OUT) || (rows < small) != is_small)
      continue;
    islands->start[islands->count++] = total;
    next[root] = total | LAID_OUT;
    total += rows;
  }
  return total;
}

static void group(const tl_model *model, const tl_pair *ends, size_t n, uint32_t small,
                  const uint32_t *label, uint32_t *next, tl_islands *islands) {
  memset(next, 0, model->bodies * sizeof *next);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t of = label_of(label, ends[i]);
    if (of != TL_NONE)
      next[of]++;
  }
  uint32_t total = lay_out(model, small, next, 0, true, islands);
  islands->small_count = islands->count;
  total = lay_out(model, small, next, total, false, islands);
  islands->start[islands->count] = total;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t of = label_of(label, ends[i]);
    if (of != TL_NONE)
      islands->order[next[of]++ & ~LAID_OUT] = (uint32_t)i;
  }
}

talus_status tl_contact_find_islands(const tl_model *model, const tl_scope *scope,
                                     const tl_contacts *contacts, const tl_pairs *links, bool apart,
                                     uint32_t small, tl_islands *islands) {
  const size_t n = contacts->count;
  const size_t most = n < model->bodies ? n : model->bodies;
  *islands = (tl_islands){0};
  TL_TAKE(scope->arena, n, &islands->order);
  TL_TAKE(scope->arena, (apart ? most : 1) + 1, &islands->start);
  if (!apart) {
    take_all(model, scope->in, contacts, islands);
    return TALUS_OK;
  }
  if (n >= LAID_OUT)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%zu contacts are too many for islands; set "
                   "solve.islands to false",
                   n);
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  uint32_t *label, *next;
  ends_job work = {model, scope->in, contacts->data, NULL};
  TL_TAKE(scope->arena, model->bodies, &label);
  TL_TAKE(scope->arena, model->bodies, &next);
  TL_TAKE(scope->arena, n, &work.ends);
  tl_for(&model->par, n, 4096, find_ends, &work);
  start_labels(model, label);
  for (size_t i = 0; i < n; ++i)
    join(label, work.ends[i].a, work.ends[i].b);
  finish_labels(model, links, label);
  group(model, work.ends, n, small, label, next, islands);
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}
