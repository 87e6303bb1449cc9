/* Shared by the peers. Each is a separate program, so that none of their code is linked into
 * talus:
 *
 *   talus-peer-NAME FILE [repeat [threads]]
 *
 * FILE: little-endian uint64 N, then N records of 4 doubles x y z r. For each of its methods a peer
 * prints one line
 *
 *   METHOD pairs N time_ms T peak_mb M
 *
 * T is the median over the repeats, from axis-aligned boxes in memory to unique pairs in memory, in
 * whatever order; N counts pairs whose boxes overlap as doubles, touching included. M is the most
 * the process ever had resident. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct peer_scene {
  size_t count;
  double *record; /* 4: x, y, z, r */
  int repeat, threads;
} peer_scene;

static inline double peer_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static inline void peer_read(int argc, char **argv, peer_scene *scene) {
  uint64_t n = 0;
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file || fread(&n, sizeof n, 1, file) != 1) {
    fprintf(stderr, "usage: %s FILE [repeat [threads]]\n", argv[0]);
    exit(2);
  }
  scene->count = (size_t)n;
  scene->record = (double *)malloc(((size_t)n + 1) * 4 * sizeof(double));
  if (!scene->record || fread(scene->record, 4 * sizeof(double), (size_t)n, file) != n) {
    fprintf(stderr, "%s: %s does not hold %llu records\n", argv[0], argv[1], (unsigned long long)n);
    exit(2);
  }
  fclose(file);
  scene->repeat = argc > 2 ? atoi(argv[2]) : 1;
  scene->threads = argc > 3 ? atoi(argv[3]) : 1;
  if (scene->repeat < 1 || scene->repeat > 1000)
    scene->repeat = 1;
}

static inline double peer_low(const peer_scene *scene, size_t i, int k) {
  return scene->record[4 * i + (size_t)k] - scene->record[4 * i + 3];
}
static inline double peer_high(const peer_scene *scene, size_t i, int k) {
  return scene->record[4 * i + (size_t)k] + scene->record[4 * i + 3];
}

/* Peers that use floats get boxes rounded outwards; this test decides finally. */
static inline int peer_overlap(const peer_scene *scene, size_t a, size_t b) {
  for (int k = 0; k < 3; ++k)
    if (peer_low(scene, a, k) > peer_high(scene, b, k) ||
        peer_low(scene, b, k) > peer_high(scene, a, k))
      return 0;
  return 1;
}

static inline float peer_float_below(double x) {
  const float f = (float)x;
  return (double)f > x ? nextafterf(f, -INFINITY) : f;
}
static inline float peer_float_above(double x) {
  const float f = (float)x;
  return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static inline int peer_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* getrusage would include the resident memory of the parent at the fork. */
static inline double peer_peak_mb(void) {
  char line[256];
  double kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %lf", &kib) == 1)
      break;
  if (file)
    fclose(file);
  return kib / 1024;
}

static inline void peer_print(const char *method, const char *what, size_t count, double *times,
                              int n) {
  qsort(times, (size_t)n, sizeof *times, peer_compare);
  printf("%s %s %zu time_ms %.3f peak_mb %.1f\n", method, what, count,
         0.5 * (times[(n - 1) / 2] + times[n / 2]), peer_peak_mb());
  fflush(stdout);
}

#endif
