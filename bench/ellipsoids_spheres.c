/* Equal radii: our contacts beside Bullet's on the same spheres (the paper's Table 2, with
 * reproducible counts), and the pairs that only one of the two reports. */
#include "ellipsoids.h"
#include "peer_pipe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <talus/detect.h>

#define SHOWN 8 /* borderline pairs, the widest gaps first */

typedef struct touching {
  uint32_t a, b;
} touching;

typedef struct border {
  touching pair;
  double gap; /* in double */
  bool ours;
} border;

static int by_bodies(const void *p, const void *q) {
  const touching *a = p, *b = q;
  return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

static int by_gap(const void *p, const void *q) {
  const double a = fabs(((const border *)p)->gap), b = fabs(((const border *)q)->gap);
  return (a < b) - (a > b);
}

/* x, y, z, r of each sphere: density and radii as in the paper, including radius 0. */
static double *make_spheres(size_t n) {
  uint64_t state = 777 + n;
  const double side = cbrt((double)n / 1.25e-7);
  double *record = malloc(4 * n * sizeof *record);
  for (size_t i = 0; record && i < 4 * n; ++i)
    record[i] = (i % 4 == 3 ? 101 : side) * ell_uniform(&state);
  return record;
}

static double gap_of(const double *record, touching p) {
  const double *a = record + 4 * (size_t)p.a, *b = record + 4 * (size_t)p.b;
  const double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
  return sqrt(x * x + y * y + z * z) - a[3] - b[3];
}

/* Runs a program whose output is ignored; true if it succeeded. */
static bool runs_well(char *const argv[]) {
  peer_pipe peer;
  char line[256];
  if (!peer_pipe_open(&peer, argv))
    return false;
  while (fgets(line, sizeof line, peer.from))
    ;
  return peer_pipe_close(&peer);
}

/* The peer's pairs, sorted; NULL if it is not built or failed. */
static touching *ask_peer(const ell_bench *bench, const double *record, size_t n, size_t *count) {
  char program[640], scene[512], answer[520];
  const char *folder = getenv("TMPDIR");
  snprintf(program, sizeof program, "%s/talus-peer-bullet-contacts", bench->folder);
  if (!bench->options.peers || access(program, X_OK) != 0)
    return NULL;
  snprintf(scene, sizeof scene, "%s/talus-spheres-XXXXXX", folder && *folder ? folder : "/tmp");
  const int handle = mkstemp(scene);
  FILE *to = handle >= 0 ? fdopen(handle, "wb") : NULL;
  if (!to)
    return NULL;
  const uint64_t rows = n;
  bool good = fwrite(&rows, sizeof rows, 1, to) == 1 && fwrite(record, 32, n, to) == n;
  good = fclose(to) == 0 && good;
  snprintf(answer, sizeof answer, "%s.out", scene);
  char *const argv[] = {program, scene, answer, NULL};
  touching *found = NULL;
  uint64_t total = 0;
  FILE *from = good && runs_well(argv) ? fopen(answer, "rb") : NULL;
  if (from && fread(&total, sizeof total, 1, from) == 1 && total < (uint64_t)n * 1000)
    found = malloc(((size_t)total + 1) * sizeof *found);
  if (found && fread(found, sizeof *found, (size_t)total, from) != total) {
    free(found);
    found = NULL;
  }
  if (from)
    fclose(from);
  unlink(scene);
  unlink(answer);
  if (found)
    qsort(found, (size_t)total, sizeof *found, by_bodies);
  *count = (size_t)total;
  return found;
}

/* Pairs that are in one list but not in the other. */
static size_t compare(const double *record, const talus_contacts *ours, const touching *theirs,
                      size_t count, border *out) {
  size_t i = 0, j = 0, found = 0;
  while (i < ours->count || j < count) {
    const touching p = i < ours->count ? (touching){ours->data[i].a, ours->data[i].b}
                                       : (touching){UINT32_MAX, UINT32_MAX};
    const touching q = j < count ? theirs[j] : (touching){UINT32_MAX, UINT32_MAX};
    const int order = by_bodies(&p, &q);
    if (order < 0)
      out[found++] = (border){p, gap_of(record, p), true};
    else if (order > 0)
      out[found++] = (border){q, gap_of(record, q), false};
    i += order <= 0, j += order >= 0;
  }
  qsort(out, found, sizeof *out, by_gap);
  return found;
}

static void print_borders(const border *list, size_t count) {
  size_t ours = 0;
  for (size_t i = 0; i < count; ++i)
    ours += list[i].ours;
  printf("            only ours %zu, only Bullet's %zu\n", ours, count - ours);
  for (size_t i = 0; i < count && i < SHOWN; ++i)
    printf("            %-8s %9u %9u  gap %+.3e\n", list[i].ours ? "ours" : "Bullet",
           list[i].pair.a, list[i].pair.b, list[i].gap);
  if (count > SHOWN)
    printf("            and %zu with smaller gaps\n", count - SHOWN);
}

static int measure(const ell_bench *bench, size_t n) {
  double *record = make_spheres(n);
  if (!record)
    return 1;
  const talus_detect_bodies bodies = {.count = n,
                                      .position = record,
                                      .position_stride = 4,
                                      .radius = record + 3,
                                      .radius_stride = 4};
  talus_contacts ours;
  if (talus_find_contacts(NULL, &bodies, &ours, NULL) != TALUS_OK) {
    fprintf(stderr, "talus bench ellipsoids: %s\n", talus_last_error());
    free(record);
    return 1;
  }
  size_t count = 0;
  touching *theirs = ask_peer(bench, record, n, &count);
  border *list = theirs ? malloc((ours.count + count + 1) * sizeof *list) : NULL;
  char text[32] = "-";
  if (list)
    snprintf(text, sizeof text, "%zu", count);
  printf("  %9zu %10zu %10s\n", n, ours.count, text);
  size_t differ = 0;
  if (list) {
    differ = compare(record, &ours, theirs, count, list);
    print_borders(list, differ);
  }
  if (bench->csv) {
    fprintf(bench->csv, "spheres,ours,%zu,,,%zu,,,,\n", n, ours.count);
    if (list)
      fprintf(bench->csv, "spheres,bullet,%zu,,,%zu,,,,%.3g\n", n, count,
              differ > 0 ? fabs(list[0].gap) : 0.0);
  }
  free(list);
  free(theirs);
  talus_contacts_free(&ours);
  free(record);
  return 0;
}

int ell_bench_spheres(ell_bench *bench) {
  static const size_t counts[] = {1024, 32768, 262144};
  printf("\nspheres, radii uniform in [0, 101], 1.25e-7 per unit volume: contacts, and pairs that "
         "only one reports\n  %9s %10s %10s\n",
         "bodies", "talus", "Bullet");
  for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i] <= bench->options.max; ++i)
    if (measure(bench, counts[i]) != 0)
      return 1;
  return 0;
}
