/* Union-find over slots. The lower root always wins, so that parents never lie above their
 * children: labels follow in one ascending pass, and do not depend on the order of joining. */
#include "contact/island.h"

#include "rest.h"

static uint32_t find_root(uint32_t *parent, uint32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]]; /* path halving */
    i = parent[i];
  }
  return i;
}

static void join(const tl_model *model, uint32_t *parent, uint32_t a, uint32_t b) {
  if (tl_body_is_static(model, a) || tl_body_is_static(model, b))
    return;
  const uint32_t x = find_root(parent, a), y = find_root(parent, b);
  if (x < y)
    parent[y] = x;
  else
    parent[x] = y;
}

void tl_island_label(const tl_model *model, const tl_contacts *contacts, const tl_pairs *links,
                     uint32_t *label) {
  for (size_t i = 0; i < model->bodies; ++i)
    label[i] = (uint32_t)i;
  for (size_t i = 0; i < contacts->count; ++i)
    join(model, label, contacts->data[i].a, contacts->data[i].b);
  for (size_t i = 0; links && i < links->count; ++i)
    join(model, label, links->data[i].a, links->data[i].b);
  for (size_t i = 0; i < model->bodies; ++i)
    label[i] = label[label[i]];
}

/* Of a contact that has work to do: that of its free body. */
static uint32_t label_of(const tl_model *model, const uint32_t *label, const tl_contact *c) {
  return label[tl_body_is_static(model, c->a) ? c->b : c->a];
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

/* Offsets of the islands, small ones first; counts by root become where each root writes. */
static uint32_t lay_out(const tl_model *model, uint32_t small, uint32_t *next, uint32_t total,
                        bool is_small, tl_islands *islands) {
  for (size_t root = 0; root < model->bodies; ++root) {
    /* What was laid out in the first round is marked, since offsets look like counts. */
    const uint32_t rows = next[root];
    if (rows == 0 || (rows & 0x80000000u) || (rows < small) != is_small)
      continue;
    islands->start[islands->count++] = total;
    next[root] = total | 0x80000000u;
    total += rows;
  }
  return total;
}

static void group(const tl_model *model, const tl_state *state, const tl_contacts *contacts,
                  uint32_t small, const uint32_t *label, uint32_t *next, tl_islands *islands) {
  memset(next, 0, model->bodies * sizeof *next);
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (!tl_rest_is_dormant(model, state, c->a, c->b))
      next[label_of(model, label, c)]++;
  }
  uint32_t total = lay_out(model, small, next, 0, true, islands);
  islands->small_count = islands->count;
  total = lay_out(model, small, next, total, false, islands);
  islands->start[islands->count] = total;
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (!tl_rest_is_dormant(model, state, c->a, c->b))
      islands->order[next[label_of(model, label, c)]++ & 0x7fffffffu] = (uint32_t)i;
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
  if (n >= 0x80000000u)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%zu contacts are too many for islands; set "
                   "solve.islands to false",
                   n);
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  uint32_t *label, *next;
  TL_TAKE(scope->arena, model->bodies, &label);
  TL_TAKE(scope->arena, model->bodies, &next);
  tl_island_label(model, contacts, links, label);
  group(model, scope->in, contacts, small, label, next, islands);
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}
