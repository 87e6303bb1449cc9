/* The queue of events: a calendar of one step (Brown 1988), whose current page is a heap, so that
 * many events at one moment (a lattice that starts to move) cost no more than others. Ties go to
 * the flyer of the lower number. */
#include "step/event/event.h"

#define NOWHERE TL_NONE

static bool is_before(const tl_event_queue *q, uint32_t a, uint32_t b) {
  return q->when[a] < q->when[b] || (q->when[a] == q->when[b] && a < b);
}

static void put(tl_event_queue *q, uint32_t place, uint32_t i) {
  q->heap[place] = i;
  q->prev[i] = place;
}

static void rise(tl_event_queue *q, uint32_t place, uint32_t i) {
  while (place > 0 && is_before(q, i, q->heap[(place - 1) / 2])) {
    put(q, place, q->heap[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put(q, place, i);
}

static void sink(tl_event_queue *q, uint32_t place, uint32_t i) {
  for (;;) {
    uint32_t child = 2 * place + 1;
    if (child >= q->waiting)
      break;
    if (child + 1 < q->waiting && is_before(q, q->heap[child + 1], q->heap[child]))
      child++;
    if (!is_before(q, q->heap[child], i))
      break;
    put(q, place, q->heap[child]);
    place = child;
  }
  put(q, place, i);
}

static void leave(tl_event_queue *q, uint32_t i) {
  const uint32_t bucket = q->bucket[i];
  if (bucket == q->current) {
    const uint32_t place = q->prev[i], last = q->heap[--q->waiting];
    if (last != i) {
      sink(q, place, last);
      rise(q, q->prev[last], last);
    }
    return;
  }
  if (q->prev[i] == TL_NONE)
    q->head[bucket] = q->next[i];
  else
    q->next[q->prev[i]] = q->next[i];
  if (q->next[i] != TL_NONE)
    q->prev[q->next[i]] = q->prev[i];
}

static void join_list(tl_event_queue *q, uint32_t i, uint32_t bucket) {
  q->prev[i] = TL_NONE;
  q->next[i] = q->head[bucket];
  if (q->head[bucket] != TL_NONE)
    q->prev[q->head[bucket]] = i;
  q->head[bucket] = i;
}

static uint32_t bucket_of(const tl_event_queue *q, double when) {
  if (!(when <= q->most))
    return NOWHERE;
  const double place = when * q->scale;
  const uint32_t bucket = place < (double)q->buckets ? (uint32_t)place : q->buckets - 1;
  return bucket > q->current ? bucket : q->current;
}

void tl_event_queue_set(tl_event_queue *q, uint32_t i, double when) {
  const uint32_t bucket = bucket_of(q, when), was = q->bucket[i];
  if (was == q->current && bucket == was) {
    const bool is_sooner = when < q->when[i];
    q->when[i] = when;
    if (is_sooner)
      rise(q, q->prev[i], i);
    else
      sink(q, q->prev[i], i);
    return;
  }
  if (was != NOWHERE)
    leave(q, i);
  q->when[i] = when;
  q->bucket[i] = bucket;
  if (bucket == q->current)
    rise(q, q->waiting++, i);
  else if (bucket != NOWHERE)
    join_list(q, i, bucket);
}

uint32_t tl_event_queue_first(tl_event_queue *q) {
  while (q->waiting == 0) {
    if (q->current + 1 >= q->buckets)
      return TL_NONE;
    uint32_t i = q->head[++q->current];
    while (i != TL_NONE) {
      const uint32_t next = q->next[i];
      rise(q, q->waiting++, i);
      i = next;
    }
  }
  return q->heap[0];
}

talus_status tl_event_queue_make(tl_event_queue *q, tl_arena *arena, size_t count, double most) {
  q->buckets = count > 0 ? (uint32_t)count : 1;
  q->most = most;
  q->scale = (double)q->buckets / most;
  q->current = q->waiting = 0;
  TL_TAKE(arena, count, &q->when);
  TL_TAKE(arena, count, &q->bucket);
  TL_TAKE(arena, count, &q->next);
  TL_TAKE(arena, count, &q->prev);
  TL_TAKE(arena, q->buckets, &q->head);
  TL_TAKE(arena, count, &q->heap);
  memset(q->bucket, 0xff, count * sizeof *q->bucket);
  memset(q->head, 0xff, q->buckets * sizeof *q->head);
  return TALUS_OK;
}
