/* Shared by the peers of `talus bench triangles`, which read a mesh and the poses of two bodies and
 * print one line per method:
 *
 *   METHOD triangles N found K us T gap G
 *
 * FILE: little-endian uint64 vertices and triangles, three doubles for each vertex, three uint32
 * for each triangle, then quaternion (w first) and position of the second body; the first is at the
 * origin. K: contacts, or 1 for a distance; T: CPU time of one query, the least of all repeats; G:
 * the distance, or the deepest contact as a negative gap. */
#ifndef BENCH_MESHES_H
#define BENCH_MESHES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PEER_REPEATS 200

typedef struct peer_meshes {
  uint64_t vertices, triangles;
  double *vertex;
  uint32_t *triangle;
  double rotation[4], position[3];
} peer_meshes;

static inline double peer_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline peer_meshes peer_read_meshes(int argc, char **argv) {
  peer_meshes m = {};
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  int good = file && fread(&m.vertices, sizeof m.vertices, 1, file) == 1 &&
             fread(&m.triangles, sizeof m.triangles, 1, file) == 1 && m.vertices < 100000000 &&
             m.triangles < 100000000;
  if (good) {
    m.vertex = (double *)malloc(3 * m.vertices * sizeof(double));
    m.triangle = (uint32_t *)malloc(3 * m.triangles * sizeof(uint32_t));
    good = m.vertex && m.triangle &&
           fread(m.vertex, 3 * sizeof(double), m.vertices, file) == m.vertices &&
           fread(m.triangle, 3 * sizeof(uint32_t), m.triangles, file) == m.triangles &&
           fread(m.rotation, sizeof(double), 4, file) == 4 &&
           fread(m.position, sizeof(double), 3, file) == 3;
  }
  if (file)
    fclose(file);
  if (!good) {
    fprintf(stderr, "usage: %s FILE (as bench/peers/meshes.h says)\n", argv[0]);
    exit(2);
  }
  return m;
}

static inline void peer_print_meshes(const char *method, const peer_meshes *m, unsigned long found,
                                     double seconds, double gap) {
  printf("%s triangles %llu found %lu us %.3f gap %.9g\n", method, (unsigned long long)m->triangles,
         found, 1e6 * seconds, gap);
  fflush(stdout);
}

#endif
