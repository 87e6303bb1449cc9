/* A number for a list of contacts, whatever the order in which threads add: for lists that are too
 * long to be copied home and compared. */
#ifndef TL_THREAD_DIGEST_H
#define TL_THREAD_DIGEST_H

#include <string.h>

#include <talus/detect.h>

#include "backend/thread/atomic.h"

/* The finish of splitmix64. */
TL_FN uint64_t tl_digest_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Of all bytes of a contact, and of its place. */
TL_FN uint64_t tl_digest_row(const talus_row_contact *row, uint64_t place) {
  uint64_t words[sizeof *row / sizeof(uint64_t)], sum = tl_digest_mix(place + 1);
  memcpy(words, row, sizeof words);
  for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
    sum = tl_digest_mix(sum ^ words[k]);
  return sum;
}

/* Thread i adds rows i, i + threads, ... */
typedef struct tl_digest_task {
  const talus_row_contact *rows;
  size_t count, threads;
  uint64_t before; /* contacts in earlier pieces */
  uint64_t *sum;   /* cleared before the first piece */
} tl_digest_task;

TL_FN void tl_digest_at(const tl_digest_task *task, size_t i) {
  uint64_t sum = 0;
  for (size_t k = i; k < task->count; k += task->threads)
    sum += tl_digest_row(&task->rows[k], task->before + k);
  (void)tl_thread_add_wide(task->sum, sum);
}

#endif
