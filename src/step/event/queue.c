/* The queue of events: a calendar of one step (Brown 1988) whose current page is a heap, so that
 * many events at one time (a lattice that starts to move) cost no more than others. Of events at
 * the same time, that of the flyer with the lower number comes first. */
#include "step/event/event.h"

#define NOWHERE TL_NONE
#define BUCKETS 4 /* for each flyer: that many events has it in a step, more or less */

static bool is_before(const tl_event_queue *q, uint32_t a, uint32_t b) {
  return q->plans[a].node.when < q->plans[b].node.when ||
         (q->plans[a].node.when == q->plans[b].node.when && a < b);
}

static void put(tl_event_queue *q, uint32_t place, uint32_t i) {
  q->heap[place] = i;
  q->plans[i].node.prev = place;
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
  const uint32_t bucket = q->plans[i].node.bucket;
  if (bucket == q->current) {
    const uint32_t place = q->plans[i].node.prev, last = q->heap[--q->waiting];
    if (last != i) {
      sink(q, place, last);
      rise(q, q->plans[last].node.prev, last);
    }
    return;
  }
  if (q->plans[i].node.prev == TL_NONE)
    q->head[bucket] = q->plans[i].node.next;
  else
    q->plans[q->plans[i].node.prev].node.next = q->plans[i].node.next;
  if (q->plans[i].node.next != TL_NONE)
    q->plans[q->plans[i].node.next].node.prev = q->plans[i].node.prev;
}

static void join_list(tl_event_queue *q, uint32_t i, uint32_t bucket) {
  q->plans[i].node.prev = TL_NONE;
  q->plans[i].node.next = q->head[bucket];
  if (q->head[bucket] != TL_NONE)
    q->plans[q->head[bucket]].node.prev = i;
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
  const uint32_t bucket = bucket_of(q, when), was = q->plans[i].node.bucket;
  if (was == q->current && bucket == was) {
    const bool is_sooner = when < q->plans[i].node.when;
    q->plans[i].node.when = when;
    if (is_sooner)
      rise(q, q->plans[i].node.prev, i);
    else
      sink(q, q->plans[i].node.prev, i);
    return;
  }
  if (was != NOWHERE)
    leave(q, i);
  q->plans[i].node.when = when;
  q->plans[i].node.bucket = bucket;
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
      const uint32_t next = q->plans[i].node.next;
      rise(q, q->waiting++, i);
      i = next;
    }
  }
  return q->heap[0];
}

talus_status tl_event_queue_make(tl_event_queue *q, tl_arena *arena, tl_plan *plans, size_t count,
                                 double most) {
  q->buckets = count > 0 ? BUCKETS * (uint32_t)count : 1;
  q->most = most;
  q->scale = (double)q->buckets / most;
  q->current = q->waiting = 0;
  q->plans = plans;
  TL_TAKE(arena, q->buckets, &q->head);
  TL_TAKE(arena, count, &q->heap);
  for (size_t i = 0; i < count; ++i)
    q->plans[i].node.bucket = NOWHERE;
  memset(q->head, 0xff, q->buckets * sizeof *q->head);
  return TALUS_OK;
}
