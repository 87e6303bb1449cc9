/* What springs remember (tl_spring), from one set of contacts to the next: as touch.c does. */
#include "contact/contact.h"

talus_status tl_contact_take_springs(const tl_scope *scope, const tl_contacts *contacts,
                                     tl_springs *springs) {
  *springs = (tl_springs){0};
  if (!tl_contacts_have_springs(contacts))
    return TALUS_OK;
  size_t count = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    count += contacts->springs.data[i].stiffness != 0;
  TL_TAKE(scope->arena, count, &springs->data);
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (contacts->springs.data[i].stiffness != 0)
      springs->data[springs->count++] =
          (tl_sprung){c->a, c->b, c->feature_a, c->feature_b, contacts->springs.data[i]};
  }
  return TALUS_OK;
}

typedef struct lay_job {
  const tl_springs *springs;
  tl_contacts *contacts;
} lay_job;

static int compare_key(const tl_sprung *k, const tl_contact *c) {
  return tl_contact_compare(k->a, k->b, k->feature_a, k->feature_b, c);
}

/* Binary search for where the range starts, then both lists are walked together. */
static void lay_range(void *context, size_t begin, size_t end) {
  const lay_job *job = context;
  const tl_springs *springs = job->springs;
  size_t at = 0, end_at = springs->count;
  while (at < end_at) {
    const size_t middle = at + (end_at - at) / 2;
    if (compare_key(&springs->data[middle], &job->contacts->data[begin]) < 0)
      at = middle + 1;
    else
      end_at = middle;
  }
  for (size_t i = begin; i < end; ++i) {
    const tl_contact *c = &job->contacts->data[i];
    while (at < springs->count && compare_key(&springs->data[at], c) < 0)
      at++;
    const bool found = at < springs->count && compare_key(&springs->data[at], c) == 0;
    job->contacts->springs.data[i] = found ? springs->data[at].spring : (tl_spring){0};
  }
}

talus_status tl_contact_lay_springs(const tl_model *model, const tl_springs *springs,
                                    tl_contacts *contacts) {
  const bool penalty = model->solve.kind == TALUS_SOLVE_PENALTY;
  TL_TRY(tl_array_resize(&contacts->springs, penalty ? contacts->count : 0));
  lay_job job = {springs, contacts};
  tl_for(&model->par, contacts->springs.count, 1024, lay_range, &job);
  return TALUS_OK;
}
