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
  return slot == TL_NONE || tl_body_is_static(model, slot) ? TL_NONE : slot;
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
                     size_t links, tl_islands *islands) {
  uint32_t n = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    if (!tl_rest_is_dormant(model, state, contacts->data[i].a, contacts->data[i].b))
      islands->order[n++] = (uint32_t)i;
  islands->start[0] = 0;
  islands->start[1] = n;
  for (size_t i = 0; i < links; ++i)
    islands->link_order[i] = (uint32_t)i;
  islands->link_start[0] = 0;
  islands->link_start[1] = (uint32_t)links;
  islands->count = n > 0 || links > 0;
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

/* By root: how many contacts and links there are, then where the next one goes. */
typedef struct places {
  uint32_t *contact, *link; /* link may be NULL: no links at all */
  uint32_t contacts, links; /* laid out so far */
} places;

/* Offsets of the islands, small ones first; counts by root become where each root writes. */
static void lay_out(const tl_model *model, uint32_t small, places *next, bool is_small,
                    tl_islands *islands) {
  for (size_t root = 0; root < model->bodies; ++root) {
    /* What was laid out in the first round is marked, since offsets look like counts. */
    const uint32_t rows = next->contact[root], links = next->link ? next->link[root] : 0;
    if ((rows == 0 && links == 0) || (rows & LAID_OUT) || (rows < small && links == 0) != is_small)
      continue;
    islands->start[islands->count] = next->contacts;
    islands->link_start[islands->count++] = next->links;
    next->contact[root] = next->contacts | LAID_OUT;
    next->contacts += rows;
    if (links > 0)
      next->link[root] = next->links;
    next->links += links;
  }
}

static uint32_t label_of_link(const tl_model *model, const uint32_t *label, tl_pair link) {
  const uint32_t a = if_free(model, link.a);
  return label[a != TL_NONE ? a : link.b];
}

static void group(const tl_model *model, const tl_pair *ends, size_t n, const tl_pairs *links,
                  uint32_t small, const uint32_t *label, places *next, tl_islands *islands) {
  memset(next->contact, 0, model->bodies * sizeof *next->contact);
  if (next->link)
    memset(next->link, 0, model->bodies * sizeof *next->link);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t of = label_of(label, ends[i]);
    if (of != TL_NONE)
      next->contact[of]++;
  }
  for (size_t i = 0; next->link && i < links->count; ++i)
    next->link[label_of_link(model, label, links->data[i])]++;
  lay_out(model, small, next, true, islands);
  islands->small_count = islands->count;
  lay_out(model, small, next, false, islands);
  islands->start[islands->count] = next->contacts;
  islands->link_start[islands->count] = next->links;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t of = label_of(label, ends[i]);
    if (of != TL_NONE)
      islands->order[next->contact[of]++ & ~LAID_OUT] = (uint32_t)i;
  }
  for (size_t i = 0; next->link && i < links->count; ++i)
    islands->link_order[next->link[label_of_link(model, label, links->data[i])]++] = (uint32_t)i;
}

talus_status tl_contact_find_islands(const tl_model *model, const tl_scope *scope,
                                     const tl_contacts *contacts, const tl_pairs *links, bool apart,
                                     uint32_t small, tl_islands *islands) {
  const size_t n = contacts->count, held = links ? links->count : 0;
  const size_t most = n + held < model->bodies ? n + held : model->bodies;
  *islands = (tl_islands){0};
  TL_TAKE(scope->arena, n, &islands->order);
  TL_TAKE(scope->arena, (apart ? most : 1) + 1, &islands->start);
  TL_TAKE(scope->arena, held, &islands->link_order);
  TL_TAKE(scope->arena, (apart ? most : 1) + 1, &islands->link_start);
  if (!apart) {
    take_all(model, scope->in, contacts, held, islands);
    return TALUS_OK;
  }
  if (n >= LAID_OUT)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%zu contacts are too many for islands; set "
                   "solve.islands to false",
                   n);
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  uint32_t *label;
  places next = {0};
  ends_job work = {model, scope->in, contacts->data, NULL};
  TL_TAKE(scope->arena, model->bodies, &label);
  TL_TAKE(scope->arena, model->bodies, &next.contact);
  if (held > 0)
    TL_TAKE(scope->arena, model->bodies, &next.link);
  TL_TAKE(scope->arena, n, &work.ends);
  tl_for(&model->par, n, 4096, find_ends, &work);
  start_labels(model, label);
  for (size_t i = 0; i < n; ++i)
    join(label, work.ends[i].a, work.ends[i].b);
  finish_labels(model, links, label);
  group(model, work.ends, n, links, small, label, &next, islands);
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}
