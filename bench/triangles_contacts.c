/* talus bench triangles: contacts of two meshes, beside FCL and GImpact. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <talus/detect.h>
#include <talus/mesh.h>

#include "peer_pipe.h"
#include "tools.h"
#include "triangles.h"

#define REPEATS 200
#define TURNS   20 /* iterations to find a distance */

/* Spheres of diameter 1, the second rotated: the gap of their triangles, and the distance of their
 * centres that gives it. */
typedef struct near_case {
  const char *name;
  double gap, distance;
} near_case;

#define APART 0.0005
#define DEEP  0.0002
static const near_case cases[] = {{"near", APART, 1}, {"touching", -DEEP, 1}};
#define CASES (sizeof cases / sizeof *cases)

static const double turn[4] = {0.9, 0.2, 0.3, 0.1};

static void place(const near_case *c, double out[3]) {
  const double x = 0.02, y = 0.01;
  out[0] = x, out[1] = y, out[2] = sqrt(c->distance * c->distance - x * x - y * y);
}

static void print_row(const triangles_bench *bench, const char *scene, const char *method,
                      size_t triangles, size_t found, double us) {
  printf("  %-9s %6zu  %-18s %7zu %12.1f\n", scene, triangles, method, found, us);
  if (bench->csv)
    fprintf(bench->csv, "contacts %s,%zu,1,%s,,%zu,,%.6g\n", scene, triangles, method, found, us);
}

/* ---- talus ----------------------------------------------------------------------------------- */

typedef struct pair_of_meshes {
  talus_shape_def shape;
  double position[6], rotation[8];
  uint32_t rows[2];
} pair_of_meshes;

static talus_detect_bodies make_pair(const talus_mesh *mesh, const near_case *c,
                                     pair_of_meshes *pair) {
  *pair = (pair_of_meshes){.shape = {.kind = TALUS_MESH,
                                     .points = (const double *)mesh->vertex,
                                     .point_count = mesh->vertices,
                                     .triangles = (const uint32_t *)mesh->triangle,
                                     .triangle_count = mesh->triangles},
                           .rotation = {1, 0, 0, 0, turn[0], turn[1], turn[2], turn[3]}};
  place(c, pair->position + 3);
  return (talus_detect_bodies){.count = 2,
                               .position = pair->position,
                               .rotation = pair->rotation,
                               .shapes = &pair->shape,
                               .shape_count = 1,
                               .shape = pair->rows};
}

static bool tell_error(void) {
  cli_error("bench triangles: %s", talus_last_error());
  return false;
}

/* Moves the second sphere until the gap is that of the case. */
static bool find_distance(talus_detector *wide, const talus_mesh *mesh, near_case *c) {
  for (int turn_of = 0; turn_of < TURNS; ++turn_of) {
    pair_of_meshes pair;
    const talus_detect_bodies bodies = make_pair(mesh, c, &pair);
    talus_contacts contacts = {0};
    talus_detect_stats stats;
    if (talus_detector_find_contacts(wide, &bodies, &contacts, &stats) != TALUS_OK)
      return tell_error();
    double least = INFINITY;
    for (size_t i = 0; i < contacts.count; ++i)
      least = fmin(least, (double)contacts.data[i].gap);
    if (contacts.count == 0) {
      c->distance -= 0.01;
      continue;
    }
    if (fabs(least - c->gap) < 1e-6)
      return true;
    c->distance += c->gap - least;
  }
  cli_error("bench triangles: found no distance at which spheres of %zu triangles have a gap of %g",
            mesh->triangles, c->gap);
  return false;
}

static bool measure(const triangles_bench *bench, talus_detector *detector, const near_case *c,
                    const talus_mesh *mesh) {
  pair_of_meshes pair;
  const talus_detect_bodies bodies = make_pair(mesh, c, &pair);
  talus_contacts contacts = {0};
  double best = INFINITY;
  const int repeats = mesh->triangles > 6000 ? REPEATS / 5 : REPEATS;
  for (int k = 0; k < repeats; ++k) {
    talus_detect_stats stats;
    if (talus_detector_find_contacts(detector, &bodies, &contacts, &stats) != TALUS_OK)
      return tell_error();
    best = fmin(best, 1e3 * stats.narrow_ms);
  }
  print_row(bench, c->name, "talus", mesh->triangles, contacts.count, best);
  return true;
}

/* ---- peers ----------------------------------------------------------------------------------- */

static bool write_meshes(const talus_mesh *mesh, const near_case *c, FILE *to) {
  const uint64_t counts[2] = {mesh->vertices, mesh->triangles};
  double position[3];
  place(c, position);
  return fwrite(counts, sizeof *counts, 2, to) == 2 &&
         fwrite(mesh->vertex, sizeof *mesh->vertex, mesh->vertices, to) == mesh->vertices &&
         fwrite(mesh->triangle, sizeof *mesh->triangle, mesh->triangles, to) == mesh->triangles &&
         fwrite(turn, sizeof *turn, 4, to) == 4 && fwrite(position, sizeof *position, 3, to) == 3;
}

static void run_peer(const triangles_bench *bench, const char *program, char *file,
                     const near_case *c) {
  char path[640], line[256];
  peer_pipe peer;
  snprintf(path, sizeof path, "%s/%s", bench->folder, program);
  char *const argv[] = {path, file, NULL};
  if (access(path, X_OK) != 0 || !peer_pipe_open(&peer, argv))
    return;
  while (fgets(line, sizeof line, peer.from)) {
    char method[32];
    unsigned long long triangles, found;
    double us, gap;
    if (sscanf(line, "%31s triangles %llu found %llu us %lf gap %lf", method, &triangles, &found,
               &us, &gap) == 5)
      print_row(bench, c->name, method, (size_t)triangles, (size_t)found, us);
  }
  if (!peer_pipe_close(&peer))
    cli_error("bench triangles: %s failed", path);
}

static void run_peers(const triangles_bench *bench, const talus_mesh *mesh, const near_case *c) {
  const char *folder = getenv("TMPDIR");
  char path[512];
  snprintf(path, sizeof path, "%s/talus-meshes-XXXXXX", folder && *folder ? folder : "/tmp");
  const int handle = mkstemp(path);
  FILE *to = handle >= 0 ? fdopen(handle, "wb") : NULL;
  if (to) {
    bool good = write_meshes(mesh, c, to);
    good = fclose(to) == 0 && good;
    if (good) {
      run_peer(bench, "talus-peer-fcl-meshes", path, c);
      run_peer(bench, "talus-peer-bullet-meshes", path, c);
    }
  }
  if (handle >= 0)
    unlink(path);
}

int triangles_contacts(const triangles_bench *bench) {
  talus_detect_def def = talus_detect_def_default();
  talus_detector *detector = NULL, *wide = NULL;
  def.threads = 1, def.margin = 0.001;
  bool good = talus_detector_create(&def, &detector) == TALUS_OK;
  def.margin = 0.05;
  good = good && talus_detector_create(&def, &wide) == TALUS_OK;
  if (!good)
    tell_error();
  printf(
      "\ntwo spheres of diameter 1 whose surfaces are %g apart (near) or %g deep (touching); one "
      "thread; a distance of FCL counts as 1\n\n  %-9s %6s  %-18s %7s %12s\n",
      APART, DEEP, "scene", "tri.", "method", "points", "us");
  for (size_t n = 80; n <= bench->most && good; n *= 4) {
    const talus_mesh_recipe recipe = {.kind = "icosphere", .triangles = n, .size = {0.5}};
    talus_mesh mesh = {0};
    good = talus_mesh_make(&recipe, &mesh) == TALUS_OK || tell_error();
    for (size_t i = 0; i < CASES && good; ++i) {
      near_case c = cases[i];
      good = find_distance(wide, &mesh, &c) && measure(bench, detector, &c, &mesh);
      if (good)
        run_peers(bench, &mesh, &c);
    }
    talus_mesh_free(&mesh);
  }
  talus_detector_destroy(detector);
  talus_detector_destroy(wide);
  return good ? CLI_DONE : CLI_FAILED;
}
