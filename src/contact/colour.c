/* Graph colouring of contacts, so that Gauss-Seidel can run in parallel and give the same bits for
 * any number of threads.
 *
 * All contacts of one body pair are a bundle (Noble 2022, 4.6.4) and get one colour: greedy, in
 * canonical order, the first colour that neither body has yet. Bodies that contacts cannot move do
 * not conflict, so a floor under a thousand grains does not serialise anything. Within a colour the
 * bundles' first contacts come first, then their second ones and so on: each such layer is
 * independent, and is what the solver sees as a colour.
 *
 * A movable body with more than COLOURS neighbours fills its mask, and a bundle can have more than
 * LAYERS contacts; what is left over goes into one last colour, swept one by one in canonical
 * order. */
#include "contact/contact.h"

#define COLOURS 63
#define LAYERS  32
#define SERIAL  (COLOURS * LAYERS) /* key of the leftovers */

/* Key colour * LAYERS + layer of each contact, and how many contacts each key has. */
static void assign(const tl_model *model, const tl_contacts *contacts, uint64_t *used,
                   uint16_t *keys, uint32_t *counts) {
  const uint64_t full = (UINT64_C(1) << COLOURS) - 1;
  for (size_t i = 0; i < contacts->count;) {
    const tl_contact *c = &contacts->data[i];
    const bool static_a = tl_body_is_static(model, c->a);
    const bool static_b = tl_body_is_static(model, c->b);
    const uint64_t taken = (static_a ? 0 : used[c->a]) | (static_b ? 0 : used[c->b]);
    const bool found = taken != full;
    const int colour = found ? __builtin_ctzll(~taken) : 0;
    const uint64_t bit = found ? UINT64_C(1) << colour : 0;
    if (!static_a)
      used[c->a] |= bit;
    if (!static_b)
      used[c->b] |= bit;
    int layer = 0;
    for (; i < contacts->count && contacts->data[i].a == c->a && contacts->data[i].b == c->b;
         ++i, ++layer) {
      keys[i] = (uint16_t)(found && layer < LAYERS ? colour * LAYERS + layer : SERIAL);
      counts[keys[i]]++;
    }
  }
}

talus_status tl_contact_colour(const tl_model *model, const tl_scope *scope,
                               const tl_contacts *contacts, tl_colours *colours) {
  const size_t n = contacts->count;
  TL_TAKE(scope->arena, n, &colours->order);
  TL_TAKE(scope->arena, SERIAL + 2, &colours->start);
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  uint64_t *used;
  uint16_t *keys;
  uint32_t *next;
  TL_TAKE(scope->arena, model->bodies, &used);
  TL_TAKE(scope->arena, n, &keys);
  TL_TAKE(scope->arena, SERIAL + 1, &next);
  memset(used, 0, model->bodies * sizeof *used);
  memset(next, 0, (SERIAL + 1) * sizeof *next);
  assign(model, contacts, used, keys, next);

  /* Keys that nothing has are closed up; counts become where each key writes. */
  colours->last_is_serial = next[SERIAL] > 0;
  colours->count = 0;
  uint32_t total = 0;
  for (int key = 0; key <= SERIAL; ++key) {
    const uint32_t count = next[key];
    next[key] = total;
    if (count == 0)
      continue;
    colours->start[colours->count++] = total;
    total += count;
  }
  colours->start[colours->count] = total;
  for (size_t i = 0; i < n; ++i)
    colours->order[next[keys[i]]++] = (uint32_t)i;
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}
