/* Peers: programs next to this one (bench/peers), which read pairs from a file and print times and
 * errors. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ellipsoids.h"
#include "peer_pipe.h"

/* Half axes and quaternion of each body, position of the second, our gap and normal. */
#define NUMBERS 21

static bool write_pairs(const ell_pairs *pairs, size_t count, FILE *to) {
  const uint64_t n = count;
  bool good = fwrite(&n, sizeof n, 1, to) == 1;
  for (size_t i = 0; i < count && good; ++i) {
    const tl_ellipsoid *a = &pairs->a[i], *b = &pairs->b[i];
    tl_ell_contact found;
    if (!tl_ellipsoids_contact_careful(a, b, pairs->d[i], 1e9, &found))
      return false;
    const double v[NUMBERS] = {a->half[0],     a->half[1],     a->half[2],     pairs->qa[i].w,
                               pairs->qa[i].x, pairs->qa[i].y, pairs->qa[i].z, b->half[0],
                               b->half[1],     b->half[2],     pairs->qb[i].w, pairs->qb[i].x,
                               pairs->qb[i].y, pairs->qb[i].z, pairs->d[i].x,  pairs->d[i].y,
                               pairs->d[i].z,  -found.w,       found.normal.x, found.normal.y,
                               found.normal.z};
    good = fwrite(v, sizeof *v, NUMBERS, to) == NUMBERS;
  }
  return good;
}

static void run(const ell_bench *bench, const char *program, const char *file, double aspect) {
  char path[640], name[512], line[256];
  peer_pipe peer;
  snprintf(path, sizeof path, "%s/%s", bench->folder, program);
  snprintf(name, sizeof name, "%s", file);
  char *const argv[] = {path, name, NULL};
  if (access(path, X_OK) != 0 || !peer_pipe_open(&peer, argv))
    return;
  while (fgets(line, sizeof line, peer.from)) {
    char method[32];
    unsigned long long pairs, touching;
    double ns, gap, angle;
    if (sscanf(line, "%31s pairs %llu touching %llu ns %lf gap %lf angle %lf", method, &pairs,
               &touching, &ns, &gap, &angle) != 6) {
      fprintf(stderr, "talus bench ellipsoids: a peer said: %s", line);
      continue;
    }
    char what[64];
    snprintf(what, sizeof what, "peer: %s", method);
    printf("  %-34s %7g %9.3f %10.1f %12s  median error: gap %.1e, normal %.1e rad\n", what, aspect,
           (double)touching / (double)pairs, ns, "", gap, angle);
    if (bench->csv)
      fprintf(bench->csv, "pairs,%s,%llu,1,%g,%llu,,,%.4g,%.2e\n", method, pairs, aspect, touching,
              ns, gap);
  }
  if (!peer_pipe_close(&peer))
    fprintf(stderr, "talus bench ellipsoids: %s failed\n", path);
}

void ell_bench_peers(const ell_bench *bench, const ell_pairs *pairs, double aspect) {
  const char *folder = getenv("TMPDIR");
  char path[512];
  snprintf(path, sizeof path, "%s/talus-pairs-XXXXXX", folder && *folder ? folder : "/tmp");
  const int handle = mkstemp(path);
  FILE *to = handle >= 0 ? fdopen(handle, "wb") : NULL;
  if (to) {
    bool good = write_pairs(pairs, pairs->count < 10000 ? pairs->count : 10000, to);
    good = fclose(to) == 0 && good;
    if (good) {
      run(bench, "talus-peer-ccd", path, aspect);
      run(bench, "talus-peer-fcl", path, aspect);
    }
  }
  if (handle >= 0)
    unlink(path);
}
