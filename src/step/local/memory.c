/* Contacts that clusters keep from step to step.
 *
 * The owner of a contact is its movable body, or the lower slot of two. The contact is stored with
 * the last step of its owner. Impulses are stored as those of a step of the longest length, so that
 * steps of different lengths can be combined (tl_step_ratio). */
#include "step/local/local.h"

#include <stdlib.h>

talus_status tl_local_index_contacts(tl_local *local) {
  const tl_contacts *all = local->crowd->contacts_before;
  const size_t bodies = local->bodies.count;
  TL_TRY(tl_array_resize(&local->owners, bodies + 2));
  TL_TRY(tl_array_resize(&local->owned, all->count));
  uint32_t *begin = local->owners.data;
  memset(begin, 0, (bodies + 2) * sizeof *begin);
  for (size_t i = 0; i < all->count; ++i)
    begin[tl_local_owner_of(local, &all->data[i]) + 2]++;
  for (size_t i = 2; i < bodies + 2; ++i)
    begin[i] += begin[i - 1];
  for (size_t i = 0; i < all->count; ++i)
    local->owned.data[begin[tl_local_owner_of(local, &all->data[i]) + 1]++] = (uint32_t)i;
  return TALUS_OK;
}

void tl_local_scale_impulses(tl_contacts *set, size_t i, talus_real ratio) {
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    const tl_any_array array = tl_contacts_array(set, record);
    if (i >= array.count)
      continue;
    unsigned char *at = (unsigned char *)array.data + i * record->bytes;
    for (int f = 0; f < record->count; ++f)
      if (record->fields[f].flags & TL_IMPULSE)
        tl_scale_reals(at + record->fields[f].offset, record->fields[f].columns, ratio);
  }
}

static void scale_all(tl_contacts *set, talus_real ratio) {
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    const tl_any_array array = tl_contacts_array(set, record);
    for (int f = 0; f < record->count && array.count > 0; ++f) {
      unsigned char *at = (unsigned char *)array.data + record->fields[f].offset;
      for (size_t i = 0; record->fields[f].flags & TL_IMPULSE && i < array.count; ++i)
        tl_scale_reals(at + i * record->bytes, record->fields[f].columns, ratio);
    }
  }
}

static int compare(const tl_contact *x, const tl_contact *y) {
  return tl_contact_compare(x->a, x->b, x->feature_a, x->feature_b, y);
}

typedef struct keyed {
  tl_contact contact;
  uint32_t at;
} keyed;

static int compare_keys(const void *x, const void *y) {
  const keyed *a = x, *b = y;
  const int order = compare(&a->contact, &b->contact);
  return order != 0 ? order : a->at < b->at ? -1 : a->at > b->at;
}

/* Sets are small or nearly sorted. */
talus_status tl_local_sort(tl_contacts *set, tl_centres *centres) {
  bool is_sorted = true;
  for (size_t i = 1; i < set->count && is_sorted; ++i)
    is_sorted = compare(&set->data[i - 1], &set->data[i]) < 0;
  if (is_sorted)
    return TALUS_OK;
  TL_ARRAY(keyed) keys = {0};
  TL_TRY(tl_array_resize(&keys, set->count));
  for (size_t i = 0; i < set->count; ++i)
    keys.data[i] = (keyed){set->data[i], (uint32_t)i};
  qsort(keys.data, keys.count, sizeof *keys.data, compare_keys);
  TL_ARRAY(uint32_t) place = {0};
  TL_ARRAY(tl_law_state) states = {0};
  TL_ARRAY(tl_centres) moved = {0};
  talus_status status = tl_array_resize(&place, set->count);
  const bool has_states = tl_contacts_have_law_states(set);
  if (status == TALUS_OK && has_states)
    status = tl_array_resize(&states, set->count);
  if (status == TALUS_OK && centres)
    status = tl_array_resize(&moved, set->count);
  if (status == TALUS_OK) {
    for (size_t i = 0; i < set->count; ++i) {
      set->data[i] = keys.data[i].contact;
      place.data[keys.data[i].at] = (uint32_t)i;
      if (has_states)
        states.data[i] = set->law_states.data[keys.data[i].at];
      if (centres)
        moved.data[i] = centres[keys.data[i].at];
    }
    if (centres)
      memcpy(centres, moved.data, set->count * sizeof *centres);
    if (has_states)
      memcpy(set->law_states.data, states.data, set->count * sizeof *states.data);
    for (size_t i = 0; i < set->hits.count; ++i)
      set->hits.data[i].contact = place.data[set->hits.data[i].contact];
    for (size_t i = 1; i < set->hits.count; ++i) /* few */
      for (size_t j = i; j > 0 && set->hits.data[j].contact < set->hits.data[j - 1].contact; --j) {
        const tl_hit swap = set->hits.data[j];
        set->hits.data[j] = set->hits.data[j - 1], set->hits.data[j - 1] = swap;
      }
  }
  tl_array_free(&keys);
  tl_array_free(&place);
  tl_array_free(&states);
  tl_array_free(&moved);
  return status;
}

/* ---- from clusters to crews, and back -------------------------------------------------------- */

static uint32_t row_of(const tl_cluster *cluster, uint32_t slot) {
  size_t lo = 0, hi = cluster->rows.count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (cluster->rows.data[middle] < slot)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < cluster->rows.count && cluster->rows.data[lo] == slot ? (uint32_t)lo : TL_NONE;
}

/* rows: the pair of the last contact, in slots: points of a pair follow each other. */
typedef struct known_pair {
  tl_pair slots, rows;
} known_pair;

static talus_status recall_one(const tl_cluster *cluster, const tl_contacts *from, size_t i,
                               tl_contacts *to, known_pair *known) {
  const tl_pair slots = {from->data[i].a, from->data[i].b};
  if (slots.a != known->slots.a)
    known->slots.a = slots.a, known->rows.a = row_of(cluster, slots.a);
  if (slots.b != known->slots.b)
    known->slots.b = slots.b, known->rows.b = row_of(cluster, slots.b);
  const uint32_t a = known->rows.a, b = known->rows.b;
  if (a == TL_NONE || b == TL_NONE)
    return TALUS_OK;
  TL_TRY(tl_contacts_append(to, from, i));
  to->data[to->count - 1].a = a;
  to->data[to->count - 1].b = b;
  return TALUS_OK;
}

/* The same for all contacts of a crowd whose bodies are all rows of the cluster: slots are rows. */
static talus_status recall_whole(const tl_contacts *from, tl_contacts *to) {
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    const tl_any_array all = tl_contacts_array(from, record);
    tl_any_array array = tl_contacts_array(to, record);
    if (all.count == 0 || all.count != from->count)
      continue;
    TL_TRY(tl_array_grow(&array.data, &array.capacity, all.count, record->bytes));
    memcpy(array.data, all.data, all.count * record->bytes);
    array.count = all.count;
    tl_contacts_set_array(to, record, array);
  }
  return TALUS_OK;
}

/* True if at least half of all bodies are rows of the cluster, and the crowd still has the contacts
 * of all its members. */
static bool has_most(const tl_local *local, const tl_cluster *cluster) {
  if (2 * cluster->rows.count < local->bodies.count)
    return false;
  for (size_t i = 0; i < cluster->members.count; ++i)
    if (local->bodies.data[cluster->members.data[i]].past != TL_NONE)
      return false;
  return true;
}

talus_status tl_local_recall(const tl_local *local, const tl_cluster *cluster, tl_gathered *crew) {
  const tl_contacts *all = local->crowd->contacts_before;
  tl_contacts *to = &crew->contacts_before;
  uint32_t last = TL_NONE;
  known_pair known = {{TL_NONE, TL_NONE}, {TL_NONE, TL_NONE}};
  tl_contacts_clear(to);
  tl_contacts_clear(&crew->contacts_after);
  to->dt = tl_model_substep(local->crowd->model, local->unit);
  const bool has_them = has_most(local, cluster);
  if (has_them && cluster->rows.count == local->bodies.count)
    return recall_whole(all, to);
  if (has_them) { /* in their order, which need not be sorted */
    for (size_t i = 0; i < all->count; ++i)
      TL_TRY(recall_one(cluster, all, i, to, &known));
    return TALUS_OK;
  }
  for (size_t m = 0; m < cluster->members.count; ++m) {
    const uint32_t slot = cluster->members.data[m], past = local->bodies.data[slot].past;
    if (past == TL_NONE) {
      for (size_t i = local->owners.data[slot]; i < local->owners.data[slot + 1]; ++i)
        TL_TRY(recall_one(cluster, all, local->owned.data[i], to, &known));
      continue;
    }
    const tl_contacts *from = &local->clusters.data[past].contacts;
    if (past == last)
      continue;
    bool was_there = false; /* an earlier member had the same last step */
    for (size_t n = 0; n < m && !was_there; ++n)
      was_there = local->bodies.data[cluster->members.data[n]].past == past;
    last = past;
    for (size_t i = 0; !was_there && i < from->count; ++i)
      if (local->bodies.data[tl_local_owner_of(local, &from->data[i])].past == past)
        TL_TRY(recall_one(cluster, from, i, to, &known));
  }
  return tl_local_sort(to, NULL);
}

/* The sets are swapped, because the crew does not need the contacts any more. */
talus_status tl_local_keep(const tl_local *local, tl_gathered *crew, tl_cluster *cluster) {
  const tl_model *model = local->crowd->model;
  tl_contacts *set = &cluster->contacts;
  const talus_real ratio = tl_step_ratio(cluster->dt, local->unit);
  tl_contacts_swap(set, &crew->contacts_after);
  for (size_t i = 0; i < set->count; ++i) {
    set->data[i].a = cluster->rows.data[set->data[i].a];
    set->data[i].b = cluster->rows.data[set->data[i].b];
  }
  if (ratio != 1)
    scale_all(set, ratio);
  TL_TRY(tl_array_resize(&cluster->joints, crew->joints.all.count));
  for (size_t i = 0; i < crew->joints.all.count; ++i) {
    tl_local_joint *joint = &cluster->joints.data[i];
    joint->row = (uint32_t)tl_joints_row(&local->joints, crew->joints.all.data[i].uid);
    joint->after = crew->joints.after.data[i];
    const talus_real change =
        tl_step_ratio(tl_model_substep(model, cluster->dt), tl_model_substep(model, local->unit));
    if (change != 1)
      tl_scale_reals(joint->after.impulse, TL_JOINT_ROWS, change);
  }
  return TALUS_OK;
}

/* Contacts of bodies that took no step within the interval, because they were ahead of it. */
static talus_status collect_rest(const tl_local *local, tl_contacts *contacts) {
  const tl_contacts *before = local->crowd->contacts_before;
  for (size_t i = 0; i < before->count; ++i)
    if (local->bodies.data[tl_local_owner_of(local, &before->data[i])].past == TL_NONE)
      TL_TRY(tl_contacts_append(contacts, before, i));
  return TALUS_OK;
}

/* If all bodies have the same last step, its contacts are the whole set. Returns true then. */
static bool collect_one(tl_local *local, tl_contacts *contacts) {
  tl_cluster *only = NULL;
  for (size_t i = 0; i < local->bodies.count; ++i)
    if (local->bodies.data[i].is_movable && local->bodies.data[i].past == TL_NONE)
      return false;
  for (size_t k = 0; k < local->clusters.count; ++k) {
    tl_cluster *cluster = &local->clusters.data[k];
    if (cluster->refers > 0 && only)
      return false;
    only = cluster->refers > 0 ? cluster : only;
  }
  if (!only)
    return false;
  const tl_contacts before = *contacts;
  tl_contacts_swap(&only->contacts, contacts);
  contacts->dt = before.dt, contacts->recent = before.recent, contacts->steps = before.steps;
  return true;
}

talus_status tl_local_collect(tl_local *local, tl_contacts *contacts) {
  tl_contacts_clear(contacts);
  contacts->dt = tl_model_substep(local->crowd->model, local->unit);
  const bool is_one = collect_one(local, contacts);
  for (size_t k = 0; k < local->clusters.count && !is_one; ++k) {
    const tl_cluster *cluster = &local->clusters.data[k];
    if (cluster->refers == 0)
      continue;
    size_t hit = 0;
    for (size_t i = 0; i < cluster->contacts.count; ++i) {
      const tl_contact *c = &cluster->contacts.data[i];
      while (hit < cluster->contacts.hits.count && cluster->contacts.hits.data[hit].contact < i)
        hit++;
      if (local->bodies.data[tl_local_owner_of(local, c)].past != k)
        continue;
      TL_TRY(tl_contacts_append(contacts, &cluster->contacts, i));
      if (hit < cluster->contacts.hits.count && cluster->contacts.hits.data[hit].contact == i) {
        const tl_hit given = {(uint32_t)contacts->count - 1,
                              cluster->contacts.hits.data[hit].impulse};
        TL_TRY(tl_array_push(&contacts->hits, given));
      }
    }
  }
  if (!is_one)
    TL_TRY(collect_rest(local, contacts));
  return tl_local_sort(contacts, NULL);
}
