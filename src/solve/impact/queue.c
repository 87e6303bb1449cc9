/* Queue of contacts that wait for their impact: a binary heap that knows each contact's place in
 * it. */
#include "solve/impact/impact.h"

static bool is_before(const tl_impact *job, uint32_t x, uint32_t y) {
  return job->time[x] < job->time[y] || (job->time[x] == job->time[y] && x < y);
}

static void put(tl_impact *job, size_t place, uint32_t contact) {
  job->heap[place] = contact;
  job->place[contact] = (uint32_t)place;
}

static void rise(tl_impact *job, size_t place, uint32_t contact) {
  while (place > 0 && is_before(job, contact, job->heap[(place - 1) / 2])) {
    put(job, place, job->heap[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put(job, place, contact);
}

static void sink(tl_impact *job, size_t place, uint32_t contact) {
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= job->waiting)
      break;
    if (child + 1 < job->waiting && is_before(job, job->heap[child + 1], job->heap[child]))
      child++;
    if (!is_before(job, job->heap[child], contact))
      break;
    put(job, place, job->heap[child]);
    place = child;
  }
  put(job, place, contact);
}

void tl_impact_forget(tl_impact *job, uint32_t contact) {
  const uint32_t place = job->place[contact];
  if (place == TL_NONE)
    return;
  job->place[contact] = TL_NONE;
  const uint32_t last = job->heap[--job->waiting];
  if (last == contact)
    return;
  if (place > 0 && is_before(job, last, job->heap[(place - 1) / 2]))
    rise(job, place, last);
  else
    sink(job, place, last);
}

void tl_impact_wait(tl_impact *job, uint32_t contact, talus_real time) {
  tl_impact_forget(job, contact);
  job->time[contact] = time;
  rise(job, job->waiting++, contact);
}

uint32_t tl_impact_next(tl_impact *job) {
  const uint32_t first = job->heap[0];
  tl_impact_forget(job, first);
  return first;
}
