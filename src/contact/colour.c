/* Graph colouring of contacts, so that Gauss-Seidel can run in parallel and give the same bits for
 * any number of threads.
 *
 * All contacts of one body pair are a bundle (Noble 2022, 4.6.4) and get one colour: greedy, in
 * canonical order, the first colour that neither body has yet. Bodies that contacts cannot move do
 * not conflict, so a floor under a thousand grains does not serialise anything. A movable body
 * with more than 63 neighbours fills its mask; what is left over goes into one last colour that is
 * swept by one thread in canonical order. */
#include "contact/contact.h"

#define SERIAL_COLOUR 63

static int first_free(uint64_t used) { return ~used == 0 ? SERIAL_COLOUR : __builtin_ctzll(~used); }

/* Colour of each contact, and how many contacts each colour has. */
static void assign(const tl_model *model, const tl_contacts *contacts, uint64_t *used,
                   uint8_t *colour, uint32_t counts[64]) {
  /* The last colour takes any number of bundles of one body, so it is never marked as used. */
  const uint64_t markable = ~(UINT64_C(1) << SERIAL_COLOUR);
  for (size_t i = 0; i < contacts->count;) {
    const tl_contact *c = &contacts->data[i];
    const bool static_a = tl_body_is_static(model, c->a);
    const bool static_b = tl_body_is_static(model, c->b);
    const uint64_t taken = (static_a ? 0 : used[c->a]) | (static_b ? 0 : used[c->b]);
    const int k = first_free(taken);
    const uint64_t bit = (UINT64_C(1) << k) & markable;
    if (!static_a)
      used[c->a] |= bit;
    if (!static_b)
      used[c->b] |= bit;
    size_t end = i;
    for (; end < contacts->count && contacts->data[end].a == c->a && contacts->data[end].b == c->b;
         ++end)
      colour[end] = (uint8_t)k;
    counts[k] += (uint32_t)(end - i);
    i = end;
  }
}

talus_status tl_contact_colour(const tl_model *model, const tl_scope *scope,
                               const tl_contacts *contacts, tl_colours *colours) {
  const size_t n = contacts->count;
  TL_TAKE(scope->arena, n, &colours->order);
  TL_TAKE(scope->arena, 65, &colours->start);
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  uint64_t *used;
  uint8_t *colour;
  TL_TAKE(scope->arena, model->bodies, &used);
  TL_TAKE(scope->arena, n, &colour);
  memset(used, 0, model->bodies * sizeof *used);

  uint32_t counts[64] = {0};
  assign(model, contacts, used, colour, counts);

  /* Colours that hold nothing are closed up; `next` becomes where each colour writes. */
  uint32_t next[64], total = 0;
  colours->count = 0;
  for (int k = 0; k < 64; ++k) {
    next[k] = total;
    if (counts[k] == 0)
      continue;
    colours->start[colours->count++] = total;
    total += counts[k];
  }
  colours->start[colours->count] = total;
  colours->last_is_serial = counts[SERIAL_COLOUR] > 0;
  for (size_t i = 0; i < n; ++i)
    colours->order[next[colour[i]]++] = (uint32_t)i;
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}
