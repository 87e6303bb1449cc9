/* Shared by the peers of `talus bench ellipsoids`, which read a file of pairs and print one line
 * per method:
 *
 *   METHOD pairs N touching K ns T gap G angle A
 *
 * FILE: little-endian uint64 N, then N records of 21 doubles: half axes (3) and quaternion (w
 * first) of each body, the vector between the centres (3), the reference's gap and normal. T is per
 * pair; G and A are medians of the error of the gap, over the shortest half axis, and of the normal
 * in rad. */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct peer_pair {
  double half_a[3], q_a[4], half_b[3], q_b[4], d[3], gap, normal[3];
} peer_pair;

static inline double peer_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline peer_pair *peer_read_pairs(int argc, char **argv, size_t *count) {
  uint64_t n = 0;
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file || fread(&n, sizeof n, 1, file) != 1) {
    fprintf(stderr, "usage: %s FILE\n", argv[0]);
    exit(2);
  }
  peer_pair *pairs = (peer_pair *)malloc(((size_t)n + 1) * sizeof *pairs);
  if (!pairs || fread(pairs, sizeof *pairs, (size_t)n, file) != n) {
    fprintf(stderr, "%s: %s is cut short\n", argv[0], argv[1]);
    exit(2);
  }
  fclose(file);
  *count = (size_t)n;
  return pairs;
}

static inline int peer_ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Adds the error of one result; the normal's sign does not matter. */
static inline void peer_judge(const peer_pair *p, double depth, const double normal[3], double *gap,
                              double *angle) {
  double least = HUGE_VAL, along = 0, length = 0;
  for (int k = 0; k < 3; ++k) {
    least = fmin(least, fmin(p->half_a[k], p->half_b[k]));
    along += p->normal[k] * normal[k];
    length += normal[k] * normal[k];
  }
  *gap = fabs(depth + p->gap) / least;
  *angle = acos(fmin(1, fabs(along) / sqrt(length)));
}

static inline void peer_print_pairs(const char *method, size_t pairs, size_t touching,
                                    double seconds, double *gap, double *angle) {
  qsort(gap, touching, sizeof *gap, peer_ascending);
  qsort(angle, touching, sizeof *angle, peer_ascending);
  printf("%s pairs %zu touching %zu ns %.1f gap %.3e angle %.3e\n", method, pairs, touching,
         1e9 * seconds / (double)(pairs ? pairs : 1), touching ? gap[touching / 2] : 0,
         touching ? angle[touching / 2] : 0);
  fflush(stdout);
}

#endif
