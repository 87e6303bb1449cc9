/* talus bench triangles: the comparisons of Noble's thesis again (Figure 5.3, Tables 6.2 to 6.4):
 * two meshes near contact, every triangle against every other and through a tree, by comparison one
 * by one and over lanes, and certified. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "narrow/triangles.h"
#include "shape/mesh_make.h"
#include "shape/tree.h"
#include "tools.h"
#include "triangles.h"

#define RANDOM_PAIRS 4096
#define CHUNK        65536 /* pairs that are made at a time */

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double uniform(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (double)(*state >> 11) * 0x1p-53;
}

/* ---- methods --------------------------------------------------------------------------------- */

typedef enum method { SCALAR, LANES, CERTIFIED, METHODS } method;
static const char *const method_name[METHODS] = {"comparison", "lanes", "certified"};

typedef struct work {
  const tl_triangle_corners *a, *b;
  tl_triangle_near *found;
  uint32_t *which;
  double reach;
  uint64_t pairs, near, asked; /* pairs decided in double: of lanes; by comparison: of certified */
} work;

static void do_pairs(work *w, method how, const tl_triangle_pair *pairs, size_t n) {
  uint64_t decided = n;
  if (how == LANES) {
    w->near += tl_triangles_find(w->a, w->b, pairs, n, w->reach, w->found, w->which, &decided);
    w->asked += n - decided;
  }
  for (size_t i = 0; how == SCALAR && i < n; ++i)
    w->near +=
        tl_triangle_triangle(&w->a[pairs[i].a], &w->b[pairs[i].b]).square <= w->reach * w->reach;
  for (size_t i = 0; how == CERTIFIED && i < n; ++i)
    w->near += tl_triangle_certified(&w->a[pairs[i].a], &w->b[pairs[i].b], w->reach,
                                     1e-3 * w->reach, w->found, &w->asked);
  w->pairs += n;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

typedef struct body {
  tl_triangle_corners *corners;
  size_t count;
  double *points; /* three for each triangle */
  uint32_t *corner;
  tl_tree tree;
} body;

static void body_free(body *b) {
  free(b->corners);
  free(b->points);
  free(b->corner);
  tl_tree_release(&b->tree);
}

/* Moved along z; triangles in the order of its tree. */
static bool body_make(tl_mesh *mesh, double z, body *b) {
  const size_t n = mesh->triangles;
  *b = (body){.count = n,
              .corners = malloc(n * sizeof *b->corners),
              .points = malloc(9 * n * sizeof *b->points),
              .corner = malloc(3 * n * sizeof *b->corner)};
  bool good = b->corners && b->points && b->corner;
  for (size_t i = 0; i < 3 * n && good; ++i) {
    memcpy(b->points + 3 * i, mesh->vertex[mesh->triangle[i / 3][i % 3]], 3 * sizeof(double));
    b->points[3 * i + 2] += z;
    b->corner[i] = (uint32_t)i;
  }
  good = good && tl_tree_build(b->points, b->corner, (uint32_t)n, &b->tree) == TALUS_OK;
  for (size_t i = 0; i < 3 * n && good; ++i) {
    const double *p = b->points + 3 * (size_t)b->corner[i];
    b->corners[i / 3].p[i % 3] = tl_dvec3(p[0], p[1], p[2]);
  }
  tl_mesh_release(mesh);
  return good;
}

static void all_pairs(work *w, method how, const body *a, const body *b, tl_triangle_pair *pairs) {
  size_t n = 0;
  for (uint32_t i = 0; i < a->count; ++i)
    for (uint32_t j = 0; j < b->count; ++j) {
      pairs[n++] = (tl_triangle_pair){i, j};
      if (n == CHUNK)
        do_pairs(w, how, pairs, n), n = 0;
    }
  do_pairs(w, how, pairs, n);
}

static tl_tree_box box_of(const tl_triangle_corners *t, double reach) {
  tl_tree_box box;
  for (int k = 0; k < 3; ++k) {
    const double x[3] = {k == 0   ? t->p[0].x
                         : k == 1 ? t->p[0].y
                                  : t->p[0].z,
                         k == 0   ? t->p[1].x
                         : k == 1 ? t->p[1].y
                                  : t->p[1].z,
                         k == 0   ? t->p[2].x
                         : k == 1 ? t->p[2].y
                                  : t->p[2].z};
    box.lo[k] = fmin(x[0], fmin(x[1], x[2])) - reach;
    box.hi[k] = fmax(x[0], fmax(x[1], x[2])) + reach;
  }
  return box;
}

/* Searches the tree of b for each triangle of a. */
static void tree_pairs(work *w, method how, const body *a, const body *b, tl_triangle_pair *pairs) {
  size_t n = 0;
  for (uint32_t i = 0; i < a->count; ++i) {
    const tl_tree_box box = box_of(&a->corners[i], w->reach);
    tl_tree_walk walk = tl_tree_begin(&b->tree, false);
    uint32_t first, count;
    while (tl_tree_next(&walk, &box, &first, &count))
      for (uint32_t j = first; j < first + count; ++j) {
        pairs[n++] = (tl_triangle_pair){i, j};
        if (n == CHUNK)
          do_pairs(w, how, pairs, n), n = 0;
      }
  }
  do_pairs(w, how, pairs, n);
}

typedef struct room {
  tl_triangle_pair *pairs;
  tl_triangle_near *found;
  uint32_t *which;
} room;

/* The minimum of the repeats. */
static void measure(const triangles_bench *bench, const char *what, size_t triangles, bool by_tree,
                    method how, const body *a, const body *b, const room *r) {
  double best = INFINITY;
  work w = {0};
  for (int k = 0; k < bench->repeat; ++k) {
    const double begun = cpu_now();
    w = (work){
        .a = a->corners, .b = b->corners, .found = r->found, .which = r->which, .reach = 0.01};
    (by_tree ? tree_pairs : all_pairs)(&w, how, a, b, r->pairs);
    best = fmin(best, cpu_now() - begun);
  }
  printf("  %-9s %6zu  %-6s %-11s %10llu %7llu %9.4f %12.1f %9.1f\n", what, triangles,
         by_tree ? "tree" : "N to N", method_name[how], (unsigned long long)w.pairs,
         (unsigned long long)w.near, (double)w.asked / (double)w.pairs, 1e6 * best,
         1e9 * best / (double)w.pairs);
  if (bench->csv)
    fprintf(bench->csv, "%s,%zu,%s,%s,%llu,%llu,%llu,%.6g\n", what, triangles,
            by_tree ? "tree" : "all", method_name[how], (unsigned long long)w.pairs,
            (unsigned long long)w.near, (unsigned long long)w.asked, 1e6 * best);
}

/* Spheres of diameter 1 with a gap of 0.005; a plane of 512 triangles. Where the thesis has 1,224
 * triangles, there are 1,280. */
static bool bench_bodies(const triangles_bench *bench, size_t triangles, bool on_plane,
                         const room *r) {
  tl_mesh mesh = {0};
  body a = {0}, b = {0};
  bool good = tl_mesh_make_icosphere(triangles, 0.5, &mesh) == TALUS_OK && body_make(&mesh, 0, &a);
  if (on_plane)
    good = good && tl_mesh_make_plate(4, 4, 512, &mesh) == TALUS_OK && body_make(&mesh, -0.505, &b);
  else
    good = good && tl_mesh_make_icosphere(triangles, 0.5, &mesh) == TALUS_OK &&
           body_make(&mesh, 1.005, &b);
  for (int by_tree = 0; by_tree < 2 && good; ++by_tree)
    for (int how = 0; how < METHODS; ++how)
      if (by_tree || triangles <= 1280)
        measure(bench, on_plane ? "on plane" : "two", triangles, by_tree, (method)how, &a, &b, r);
  body_free(&a);
  body_free(&b);
  return good;
}

static int bench_meshes(const triangles_bench *bench) {
  const room r = {malloc(CHUNK * sizeof *r.pairs), malloc(CHUNK * sizeof *r.found),
                  malloc(CHUNK * sizeof *r.which)};
  bool good = r.pairs && r.found && r.which;
  printf(
      "\nspheres near contact, reach 0.01 of the diameter; `again`: share done in double (lanes) "
      "or by comparison (certified)\n\n  %-9s %6s  %-6s %-11s %10s %7s %9s %12s %9s\n",
      "scene", "tri.", "pairs", "method", "compared", "near", "again", "us", "ns/pair");
  for (size_t n = 80; n <= bench->most && good; n *= 4)
    good = bench_bodies(bench, n, false, &r) && bench_bodies(bench, n, true, &r);
  free(r.pairs);
  free(r.found);
  free(r.which);
  if (!good)
    cli_error("bench triangles: out of memory");
  return good ? CLI_DONE : CLI_FAILED;
}

/* ---- pairs alone ----------------------------------------------------------------------------- */

typedef struct pair_set {
  tl_triangle_corners a[RANDOM_PAIRS], b[RANDOM_PAIRS];
  tl_triangle_pair pairs[RANDOM_PAIRS];
  tl_triangle_near found[RANDOM_PAIRS];
  uint32_t which[RANDOM_PAIRS];
  tl_triangle_block block_a[RANDOM_PAIRS / TL_TRIANGLE_BLOCK];
  tl_triangle_block block_b[RANDOM_PAIRS / TL_TRIANGLE_BLOCK];
  tl_triangle_wide wide_a[RANDOM_PAIRS / TL_TRIANGLE_WIDE];
  tl_triangle_wide wide_b[RANDOM_PAIRS / TL_TRIANGLE_WIDE];
} pair_set;

/* Unit triangles whose distances are about their size. */
static void fill_set(pair_set *set) {
  uint64_t state = 88172645463325252u;
  for (uint32_t i = 0; i < RANDOM_PAIRS; ++i) {
    for (int k = 0; k < 6; ++k) {
      const double x = uniform(&state), y = uniform(&state), z = uniform(&state);
      (k < 3 ? set->a : set->b)[i].p[k % 3] = tl_dvec3(x + (k < 3 ? 0 : 0.8), y, z);
    }
    set->pairs[i] = (tl_triangle_pair){i, i};
    const uint32_t block = i / TL_TRIANGLE_BLOCK, wide = i / TL_TRIANGLE_WIDE;
    const talus_dvec3 origin = set->a[i].p[0];
    tl_triangle_block_put(&set->block_a[block], (int)(i % TL_TRIANGLE_BLOCK), &set->a[i], origin,
                          0.5);
    tl_triangle_block_put(&set->block_b[block], (int)(i % TL_TRIANGLE_BLOCK), &set->b[i], origin,
                          0.5);
    for (int k = 0; k < 9; ++k) {
      const talus_dvec3 p = set->a[i].p[k / 3], q = set->b[i].p[k / 3];
      set->wide_a[wide].corner[k / 3][k % 3][i % TL_TRIANGLE_WIDE] = k % 3 == 0   ? p.x
                                                                     : k % 3 == 1 ? p.y
                                                                                  : p.z;
      set->wide_b[wide].corner[k / 3][k % 3][i % TL_TRIANGLE_WIDE] = k % 3 == 0   ? q.x
                                                                     : k % 3 == 1 ? q.y
                                                                                  : q.z;
    }
  }
}

typedef enum single { ONE_BY_ONE, PROVEN, BOTH_PASSES, IN_DOUBLE, IN_FLOAT, SINGLES } single;
static const char *const single_name[SINGLES] = {
    "comparison, one by one", "certified, one by one", "lanes: float, then double",
    "lanes: double, packed before", "lanes: float, packed before"};

static double run_single(pair_set *set, single how, double reach) {
  const tl_triangle_loops *loops = tl_triangle_loops_now();
  double sum = 0;
  uint64_t asked = 0;
  if (how == BOTH_PASSES)
    return (double)tl_triangles_find(set->a, set->b, set->pairs, RANDOM_PAIRS, reach, set->found,
                                     set->which, NULL);
  for (uint32_t i = 0; how == ONE_BY_ONE && i < RANDOM_PAIRS; ++i)
    sum += tl_triangle_triangle(&set->a[i], &set->b[i]).square <= reach * reach;
  for (uint32_t i = 0; how == PROVEN && i < RANDOM_PAIRS; ++i)
    sum += tl_triangle_certified(&set->a[i], &set->b[i], reach, 1e-3 * reach, set->found, &asked);
  for (uint32_t i = 0; how == IN_DOUBLE && i < RANDOM_PAIRS / TL_TRIANGLE_WIDE; ++i) {
    tl_triangle_wide_near near;
    loops->compare(&set->wide_a[i], &set->wide_b[i], &near);
    for (int k = 0; k < TL_TRIANGLE_WIDE; ++k)
      sum += near.square[k] <= reach * reach;
  }
  for (uint32_t i = 0; how == IN_FLOAT && i < RANDOM_PAIRS / TL_TRIANGLE_BLOCK; ++i) {
    float most[TL_TRIANGLE_BLOCK], square[TL_TRIANGLE_BLOCK];
    for (int k = 0; k < TL_TRIANGLE_BLOCK; ++k)
      most[k] = tl_triangle_block_most(0.5 * reach);
    sum += __builtin_popcount(loops->screen(&set->block_a[i], &set->block_b[i], most, square));
  }
  return sum;
}

static int bench_singles(const triangles_bench *bench) {
  pair_set *set = malloc(sizeof *set);
  if (!set) {
    cli_error("bench triangles: out of memory");
    return CLI_FAILED;
  }
  const double reach = 0.05;
  fill_set(set);
  printf("\n%d random pairs of unit triangles, reach %g\n\n  %-30s %9s %9s\n", RANDOM_PAIRS, reach,
         "method", "near", "ns/pair");
  for (int how = 0; how < SINGLES; ++how) {
    double best = INFINITY, near = 0;
    for (int k = 0; k < 5 * bench->repeat; ++k) {
      const double begun = cpu_now();
      near = run_single(set, (single)how, reach);
      best = fmin(best, cpu_now() - begun);
    }
    printf("  %-30s %9.0f %9.1f\n", single_name[how], near, 1e9 * best / RANDOM_PAIRS);
    if (bench->csv)
      fprintf(bench->csv, "pairs,1,%d,\"%s\",%d,%.0f,,%.6g\n", RANDOM_PAIRS, single_name[how],
              RANDOM_PAIRS, near, 1e6 * best);
  }
  free(set);
  return CLI_DONE;
}

int bench_triangles(int argc, char **argv) {
  int repeat = 5, most = 5120, scenes = 20000;
  const char *table = NULL;
  const char *output = NULL;
  const cli_option list[] = {
      {"max", 0, CLI_COUNT, "N", "triangles of a sphere, at most (default 5120)", &most},
      {"repeat", 0, CLI_COUNT, "N", "the best of so many (default 5)", &repeat},
      {"bodies", 0, CLI_COUNT, "N", "spheres in a tank, and ten times the stones (default 20000)",
       &scenes},
      {"table", 0, CLI_TEXT, "NAME", "pairs, meshes, contacts or scenes alone", &table},
      {"output", 'o', CLI_TEXT, "FOLDER", "the table as FOLDER/triangles.csv", &output},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench triangles [options]",
      .about =
          "Distances of triangles: pairs alone, two spheres near contact and a sphere on a\n"
          "plane of 512 triangles (Noble's Figure 5.3 and Table 6.4), each triangle against\n"
          "all others and through a tree; one by one, in SIMD lanes, certified; contacts of two\n"
          "spheres beside FCL and Bullet's GImpact (built with -DTALUS_PEERS=ON); spheres in a\n"
          "tank of 12 to 120,000 triangles beside the container; stones as meshes, hulls and\n"
          "clumps in a hopper of triangles; memory.",
      .options = list,
      .more = "CPU time of one thread. Every triangle against every other up to 1280.\n",
      .most = 0};
  const int parsed = bench_parse(&usage, "bench triangles", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  static const char *const tables[] = {"pairs", "meshes", "contacts", "scenes"};
  if (!bench_has_table("triangles", table, tables, sizeof tables / sizeof *tables))
    return 2;
  triangles_bench bench = {
      .repeat = repeat > 0 ? repeat : 1, .most = (size_t)most, .bodies = scenes};
  bench_peer_folder(bench.folder, sizeof bench.folder);
  if (!bench_csv_open(output, "triangles", "scene,triangles,pairs,method,compared,near,again,us",
                      &bench.csv))
    return CLI_FAILED;
  int (*const parts[])(const triangles_bench *) = {bench_singles, bench_meshes, triangles_contacts,
                                                   triangles_scenes};
  int code = CLI_DONE;
  for (size_t i = 0; i < sizeof parts / sizeof *parts && code == CLI_DONE; ++i)
    if (!table || strcmp(table, tables[i]) == 0)
      code = parts[i](&bench);
  return bench_csv_close(bench.csv) ? code : CLI_FAILED;
}
