#include "narrow/guess.h"

#include "narrow/narrow.h"

static bool is_before(const tl_guess *guess, tl_pair pair) {
  return guess->a != pair.a ? guess->a < pair.a : guess->b < pair.b;
}

static bool are_useful(const tl_model *model) {
  bool present[TALUS_SHAPE_KINDS] = {false};
  for (size_t i = 0; i < model->shapes.count; ++i)
    present[model->shapes.data[i].kind] = true;
  for (int a = 0; a < TALUS_SHAPE_KINDS; ++a)
    for (int b = a; b < TALUS_SHAPE_KINDS; ++b)
      if (present[a] && present[b] &&
          tl_narrow_takes_guess((talus_shape_kind)a, (talus_shape_kind)b))
        return true;
  return false;
}

/* The first of a pair's contacts stands for all: one normal is theirs. */
static bool is_guess(const tl_model *model, const tl_contacts *contacts, size_t i) {
  const tl_contact *c = &contacts->data[i];
  if (i > 0 && c[-1].a == c->a && c[-1].b == c->b)
    return false;
  return tl_narrow_takes_guess(tl_body_shape(model, c->a)->kind, tl_body_shape(model, c->b)->kind);
}

talus_status tl_narrow_take_guesses(const tl_model *model, const tl_scope *scope,
                                    const tl_contacts *contacts, tl_guesses *guesses) {
  *guesses = (tl_guesses){0};
  if (!are_useful(model))
    return TALUS_OK;
  size_t count = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    count += is_guess(model, contacts, i);
  TL_TAKE(scope->arena, count, &guesses->data);
  for (size_t i = 0; i < contacts->count; ++i)
    if (is_guess(model, contacts, i)) {
      const tl_contact *c = &contacts->data[i];
      guesses->data[guesses->count++] = (tl_guess){c->a, c->b, c->normal};
    }
  return TALUS_OK;
}

size_t tl_guess_find(const tl_guesses *guesses, tl_pair pair) {
  size_t lo = 0, hi = guesses->count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (is_before(&guesses->data[mid], pair))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

const tl_guess *tl_guess_next(const tl_guesses *guesses, tl_pair pair, size_t *cursor) {
  size_t i = *cursor;
  while (i < guesses->count && is_before(&guesses->data[i], pair))
    ++i;
  *cursor = i;
  const bool found =
      i < guesses->count && guesses->data[i].a == pair.a && guesses->data[i].b == pair.b;
  return found ? &guesses->data[i] : NULL;
}
