/* talus bench implicit, Table 6.4: number of triangle distances computed for one search of a pair,
 * averaged over a scene: all of them, by trees of surrogates, by trees of boxes. */
#include <math.h>

#include "implicit.h"
#include "narrow/surrogate.h"

typedef struct way {
  const char *name;
  bool surrogates;
  talus_triangle_method method;
  double two[2], plane[2]; /* of the thesis: comparisons, fallbacks; NAN: none */
} way;

static const way ways[] = {
    {"surrogates, comparison", true, TALUS_TRIANGLE_COMPARISON, {8.20e3, 0}, {5.27e3, 0}},
    {"surrogates, hybrid", true, TALUS_TRIANGLE_HYBRID, {7.64e3, 1.44e2}, {5.03e3, 4.96e2}},
    {"boxes, comparison", false, TALUS_TRIANGLE_COMPARISON, {NAN, NAN}, {NAN, NAN}},
    {"boxes, hybrid", false, TALUS_TRIANGLE_HYBRID, {NAN, NAN}, {NAN, NAN}},
};

typedef struct cost {
  double comparisons, fallbacks, near, seconds; /* means over searches */
} cost;

static bool look(const implicit_bench *bench, const way *w, const tl_shape *a, const tl_shape *b,
                 implicit_pose (*pose)(int, int), cost *out) {
  const tl_par par = {.threads = 1};
  tl_arena arena = {0};
  tl_narrow_counts counts = {0};
  bool good = true;
  *out = (cost){.seconds = INFINITY};
  for (int repeat = 0; repeat < bench->repeat && good; ++repeat) {
    const double begun = implicit_cpu();
    counts = (tl_narrow_counts){0};
    out->near = 0;
    for (int step = 0; step < bench->steps && good; ++step) {
      const implicit_pose at = pose(step, bench->steps);
      const tl_posed first = {.shape = a, .scale = 1, .rotation = {1, 0, 0, 0}};
      const tl_posed second = {
          .shape = b, .scale = 1, .position = at.position, .rotation = at.rotation};
      const tl_mesh_pair pair =
          tl_mesh_pair_make(&first, &second, (talus_real)IMPLICIT_REACH, true);
      const tl_fronts fronts = {.par = &par,
                                .arena = &arena,
                                .pairs = &pair,
                                .count = 1,
                                .method = w->method,
                                .surrogates = w->surrogates,
                                .counts = &counts};
      tl_front_list list;
      good = tl_fronts_find(&fronts, &list) == TALUS_OK;
      if (good)
        out->near += (double)list.start[1] / bench->steps;
      tl_arena_reset(&arena);
    }
    out->seconds = fmin(out->seconds, (implicit_cpu() - begun) / bench->steps);
  }
  tl_arena_free(&arena);
  out->comparisons = (double)counts.comparisons / bench->steps;
  out->fallbacks = (double)counts.fallbacks / bench->steps;
  return good || implicit_fail("a search");
}

static void print_row(const implicit_bench *bench, const char *scene, const char *name,
                      const double thesis[2], const cost *c, double flat) {
  char row[96];
  printf("  %-8s %-24s ", scene, name);
  if (isnan(thesis[0]))
    printf("%9s %9s", "", "");
  else
    printf("%9.2e %9.3g", thesis[0], thesis[1]);
  printf("   %9.2e %9.3g %8.1f   %7.1f", c->comparisons, c->fallbacks, c->near,
         flat / c->comparisons);
  if (c->seconds < INFINITY)
    printf(" %9.1f", 1e6 * c->seconds);
  printf("\n");
  snprintf(row, sizeof row, "%s, %s", scene, name);
  implicit_put(bench, "6.4", row, "comparisons", thesis[0], c->comparisons);
  implicit_put(bench, "6.4", row, "fallbacks", thesis[1], c->fallbacks);
  implicit_put(bench, "6.4", row, "near pairs", NAN, c->near);
  implicit_put(bench, "6.4", row, "times fewer than flat", NAN, flat / c->comparisons);
  if (c->seconds < INFINITY)
    implicit_put(bench, "6.4", row, "us", NAN, 1e6 * c->seconds);
}

static bool look_at(const implicit_bench *bench, bool on_plane) {
  const size_t triangles = bench->quick ? 140 : 1224;
  const char *scene = on_plane ? "plane" : "two";
  tl_shape a, b;
  if (!implicit_make_sphere(triangles, &b))
    return false;
  if (!(on_plane ? implicit_make_plate(&a) : implicit_make_sphere(triangles, &a))) {
    tl_shape_release(&b);
    return false;
  }
  const double flat = (double)a.face_count * (double)b.face_count;
  const double thesis[2] = {on_plane ? 6.27e5 : 1.50e6, 0};
  const cost all = {.comparisons = flat, .seconds = INFINITY};
  print_row(bench, scene, "flat", thesis, &all, flat);
  bool good = true;
  for (size_t i = 0; i < sizeof ways / sizeof *ways && good; ++i) {
    cost c;
    good = look(bench, &ways[i], &a, &b, on_plane ? implicit_pose_plane : implicit_pose_two, &c);
    if (good)
      print_row(bench, scene, ways[i].name, on_plane ? ways[i].plane : ways[i].two, &c, flat);
  }
  tl_shape_release(&a);
  tl_shape_release(&b);
  return good;
}

bool implicit_trees(const implicit_bench *bench) {
  printf("  distances of triangles in one look at a pair, surrogates among them; fallbacks: those "
         "that comparison\n  had to decide; times fewer: than flat; one thread\n\n"
         "  %-8s %-24s %-19s   %-28s   %7s %9s\n"
         "  %-8s %-24s %9s %9s   %9s %9s %8s   %7s %9s\n",
         "", "", "thesis", "ours", "times", "", "scene", "way", "compar.", "fallbacks", "compar.",
         "fallbacks", "near", "fewer", "us");
  return look_at(bench, false) && look_at(bench, true);
}
