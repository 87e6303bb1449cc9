/* Times of impact: conservative advancement by pairs of kinds, and two spheres of triangles beside
 * FCL's, which reads the same motions from a file (bench/peers/fcl_continuous.cpp). */
#include "fast.h"

#include "cli.h"
#include "narrow/advance.h"
#include "narrow/advance_linear.h"
#include "peer_pipe.h"
#include "shape/mesh.h"
#include "shape/shape.h"
#include "tools.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOTIONS 200
#define ERROR   1e-4 /* part of the length of the paths: accuracy of times */
#define NUMBERS 14   /* of a motion: position and quaternion of both ends, of the second body */

static double range(uint64_t *state, double lo, double hi) {
  return lo + (hi - lo) * bench_random(state);
}

static talus_dvec3 direction(uint64_t *state) {
  const double z = range(state, -1, 1), turn = range(state, 0, 6.283185307179586);
  const double flat = sqrt(1 - z * z);
  return tl_dvec3(flat * cos(turn), flat * sin(turn), z);
}

/* Two bodies of radius about 1, mostly on their way to each other, turning by up to a radian. */
static tl_advance motion_of(const tl_shape *a, const tl_shape *b, uint64_t *state) {
  const talus_dvec3 away = direction(state), aside = direction(state);
  tl_advance pair = {.h = 1};
  pair.a = (tl_mover){a, 1, {.rotation = {1, 0, 0, 0}}};
  pair.b = (tl_mover){b,
                      1,
                      {.position = tl_dscale(away, range(state, 2.3, 3)),
                       .rotation = tl_dquat_turn(direction(state), range(state, 0, 3)),
                       .spin = tl_dscale(direction(state), range(state, 0, 1))}};
  pair.b.path.velocity = tl_dadd(tl_dscale(away, -range(state, 1, 4)), tl_dscale(aside, 0.7));
  pair.fine = ERROR * tl_advance_motion(&pair, 1);
  return pair;
}

/* ---- the peer -------------------------------------------------------------------------------- */

static bool write_mesh(const tl_mesh *mesh, FILE *to) {
  const uint64_t counts[2] = {mesh->vertices, mesh->triangles};
  return fwrite(counts, sizeof *counts, 2, to) == 2 &&
         fwrite(mesh->vertex, sizeof *mesh->vertex, mesh->vertices, to) == mesh->vertices &&
         fwrite(mesh->triangle, sizeof *mesh->triangle, mesh->triangles, to) == mesh->triangles;
}

static bool write_motions(const tl_advance *motions, FILE *to) {
  const uint64_t count = MOTIONS;
  bool good = fwrite(&count, sizeof count, 1, to) == 1;
  for (int i = 0; i < MOTIONS && good; ++i) {
    double v[NUMBERS];
    for (int end = 0; end < 2; ++end) {
      const talus_dvec3 x = tl_path_position(&motions[i].b.path, end);
      const tl_dquat q = tl_path_rotation(&motions[i].b.path, end);
      const double row[7] = {x.x, x.y, x.z, q.w, q.x, q.y, q.z};
      memcpy(v + 7 * end, row, sizeof row);
    }
    good = fwrite(v, sizeof *v, NUMBERS, to) == NUMBERS;
  }
  return good;
}

static void print_row(const fast_bench *bench, const char *what, const char *how, double us,
                      int hits, double worst, double looks) {
  printf("  %-30s %-22s %10.2f %9.0f %6d %11.1e %8.0f\n", what, how, us, 1e6 / us, hits, worst,
         looks);
  if (bench->csv)
    fprintf(bench->csv, "toi,%s,%s,%.6g,%d,%.3g,%.6g\n", what, how, us, hits, worst, looks);
}

/* The peer prints the time of impact of each motion (1: none), and then its CPU time. */
static void run_peer(const fast_bench *bench, const char *file, const char *method,
                     const char *what, const double *times) {
  char path[640], name[512], line[128];
  peer_pipe peer;
  snprintf(path, sizeof path, "%s/talus-peer-fcl-continuous", bench->folder);
  snprintf(name, sizeof name, "%s", file);
  char word[32], how[64];
  snprintf(word, sizeof word, "%s", method);
  snprintf(how, sizeof how, "FCL, %s", method);
  char *const argv[] = {path, name, word, NULL};
  if (access(path, X_OK) != 0 || !peer_pipe_open(&peer, argv)) {
    printf("  %-30s %-22s %10s\n", what, how, "not here");
    return;
  }
  double worst = 0, seconds = 0, t;
  int row = 0, hits = 0;
  while (fgets(line, sizeof line, peer.from)) {
    if (sscanf(line, "toi %lf", &t) == 1 && row < MOTIONS) {
      hits += t < 1;
      worst = fmax(worst, fabs(t - times[row++]));
    }
    (void)sscanf(line, "seconds %lf", &seconds);
  }
  if (!peer_pipe_close(&peer) || row != MOTIONS)
    fprintf(stderr, "talus bench fast: %s failed\n", path);
  else
    print_row(bench, what, how, 1e6 * seconds / MOTIONS, hits, worst, 0);
}

static void ask_peer(const fast_bench *bench, const tl_mesh *mesh, const tl_advance *motions,
                     const char *what, const double *times) {
  const char *folder = getenv("TMPDIR");
  char path[512];
  snprintf(path, sizeof path, "%s/talus-toi-XXXXXX", folder && *folder ? folder : "/tmp");
  const int handle = mkstemp(path);
  FILE *to = handle >= 0 ? fdopen(handle, "wb") : NULL;
  if (to) {
    const bool good = write_mesh(mesh, to) && write_motions(motions, to);
    if (fclose(to) == 0 && good)
      run_peer(bench, path, "advancement", what, times),
          run_peer(bench, path, "naive", what, times);
  }
  if (handle >= 0)
    unlink(path);
}

/* ---- ours ------------------------------------------------------------------------------------ */

static void measure(const fast_bench *bench, const char *what, const tl_advance *motions,
                    double *times) {
  double best = DBL_MAX, looks = 0;
  int hits = 0;
  for (int k = 0; k < bench->repeat; ++k) {
    const double begun = bench_cpu();
    hits = 0, looks = 0;
    for (int i = 0; i < MOTIONS; ++i) {
      const tl_advanced r = tl_advance_pair(&motions[i]);
      times[i] = r.is_clear ? 1 : r.time;
      hits += !r.is_clear, looks += r.looks;
    }
    best = fmin(best, bench_cpu() - begun);
  }
  print_row(bench, what, "advancement", 1e6 * best / MOTIONS, hits, 0, looks / MOTIONS);
}

/* The thesis gives an estimate: measures its error relative to the proven times. */
static void measure_linear(const fast_bench *bench, const char *what, const tl_advance *motions,
                           const double *times) {
  double worst = 0;
  int hits = 0;
  const int count = bench->is_quick ? MOTIONS / 20 : MOTIONS;
  const double begun = bench_cpu();
  for (int i = 0; i < count; ++i) {
    const double t = tl_advance_linear(&motions[i]);
    hits += t < 1;
    worst = fmax(worst, fabs(fmin(t, 1) - times[i]));
  }
  print_row(bench, what, "linear (the thesis)", 1e6 * (bench_cpu() - begun) / count, hits, worst,
            0);
}

static void measure_pair(const fast_bench *bench, const char *what, const tl_shape *a,
                         const tl_shape *b, const tl_mesh *mesh) {
  static tl_advance motions[MOTIONS];
  static double times[MOTIONS];
  uint64_t state = 7;
  for (int i = 0; i < MOTIONS; ++i)
    motions[i] = motion_of(a, b, &state);
  measure(bench, what, motions, times);
  if (!mesh)
    return;
  if (mesh->triangles <= 320)
    measure_linear(bench, what, motions, times);
  if (bench->has_peers)
    ask_peer(bench, mesh, motions, what, times);
}

static talus_status make_sphere_mesh(size_t triangles, tl_mesh *mesh, tl_shape *shape) {
  talus_shape_def def = talus_shape_def_default();
  talus_status status = tl_mesh_make_noisy_sphere(triangles, 1, 1, mesh);
  def.kind = TALUS_MESH;
  if (status != TALUS_OK)
    return status;
  def.points = mesh->vertex[0], def.point_count = mesh->vertices;
  def.triangles = mesh->triangle[0], def.triangle_count = mesh->triangles;
  return tl_shape_make(&def, shape);
}

static int measure_meshes(const fast_bench *bench, const tl_shape *ball, const tl_shape *box) {
  static const size_t sizes[] = {320, 1280, 5120};
  for (int i = 0; i < (bench->is_quick ? 1 : 3); ++i) {
    tl_mesh mesh = {0};
    tl_shape shape = {0};
    char what[64];
    const talus_status status = make_sphere_mesh(sizes[i], &mesh, &shape);
    if (status == TALUS_OK) {
      snprintf(what, sizeof what, "two spheres of %zu triangles", sizes[i]);
      measure_pair(bench, what, &shape, &shape, &mesh);
    }
    if (status == TALUS_OK && i == 0) {
      measure_pair(bench, "ball and 320 triangles", ball, &shape, NULL);
      measure_pair(bench, "box and 320 triangles", box, &shape, NULL);
    }
    tl_shape_release(&shape);
    tl_mesh_release(&mesh);
    if (status != TALUS_OK) {
      cli_error("bench fast: %s", talus_last_error());
      return CLI_FAILED;
    }
  }
  return CLI_DONE;
}

int fast_toi(const fast_bench *bench) {
  static const struct {
    const char *name;
    talus_shape_kind kind;
    double size[5];
  } made[] = {{"two balls", TALUS_SPHERE, {1}},
              {"two boxes", TALUS_BOX, {1.2, 1.2, 1.2}},
              {"two capsules", TALUS_CAPSULE, {0.4, 1.2}},
              {"two ellipsoids", TALUS_ELLIPSOID, {1, 0.7, 0.5}},
              {"two cylinders", TALUS_CYLINDER, {0.7, 1.4}}};
  tl_shape shapes[5];
  printf("\n%d motions of a second body (up to 4 lengths and a radian); times to %g of the path\n\n"
         "  %-30s %-22s %10s %9s %6s %11s %8s\n",
         MOTIONS, ERROR, "pair", "method", "us/query", "1/s", "hits", "off by", "looks");
  for (int i = 0; i < 5; ++i) {
    talus_shape_def def = talus_shape_def_default();
    def.kind = made[i].kind;
    memcpy(def.size, made[i].size, sizeof def.size);
    if (tl_shape_make(&def, &shapes[i]) != TALUS_OK) {
      cli_error("bench fast: %s", talus_last_error());
      return CLI_FAILED;
    }
    measure_pair(bench, made[i].name, &shapes[i], &shapes[i], NULL);
  }
  const int code = measure_meshes(bench, &shapes[0], &shapes[1]);
  for (int i = 0; i < 5; ++i)
    tl_shape_release(&shapes[i]);
  return code;
}
