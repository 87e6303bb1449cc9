/* talus bench implicit, Tables 6.5 to 6.9, Figure 6.3: iterations of implicit steps, and the number
 * of triangle distances computed. */
#include <math.h>

#include "implicit.h"
#include "shape/facets.h"
#include "world/world.h"

#define H_OMEGA     0.6 /* of a pair: Picard then needs about as many iterations as in Table 6.5 */
#define DT          1e-3
#define IMPACT      5 /* steps in which halos overlap after a collision, rounded up */
#define FLAT_IMPACT 1 /* number of collisions for the time of flat Picard */

typedef struct way {
  const char *name;
  talus_implicit_method method;
  bool is_flat;
} way;

static const way ways[] = {
    {"picard, flat", TALUS_IMPLICIT_PICARD, true},
    {"picard, boxes", TALUS_IMPLICIT_PICARD, false},
    {"surrogate-picard", TALUS_IMPLICIT_SURROGATE_PICARD, false},
    {"multires-picard", TALUS_IMPLICIT_MULTIRES_PICARD, false},
    {"newton, boxes", TALUS_IMPLICIT_NEWTON, false},
};
enum { FLAT, BOXES, SURROGATE, MULTIRES, NEWTON, WAYS };

/* Sums over steps. */
typedef struct spent {
  int steps, collisions, failed; /* collisions that ended with a step that did not converge */
  double iterations, looks, comparisons, seconds, pairs;
} spent;

/* ---- worlds ---------------------------------------------------------------------------------- */

static bool add_mesh(talus_world *world, const tl_shape *of, talus_shape *shape) {
  talus_shape_def def = talus_shape_def_default();
  def.kind = TALUS_MESH;
  def.points = of->facets->points, def.point_count = of->facets->vertices;
  def.triangles = of->facets->triangle, def.triangle_count = of->facets->triangles;
  return talus_world_add_shape(world, &def, shape) == TALUS_OK;
}

/* Springs as published, with the halo of the thesis, and contacts of triangles. */
static bool make_world(const way *w, double mass, double gravity, talus_world **world,
                       talus_material *material) {
  talus_world_def def = talus_world_def_default();
  def.dt = DT, def.threads = 1;
  def.gravity = (talus_vec3){0, 0, (talus_real)-gravity};
  def.step = TALUS_STEP_IMPLICIT;
  def.solve.kind = TALUS_SOLVE_PENALTY, def.solve.law = TALUS_NOBLE;
  def.solve.reach = IMPLICIT_REACH;
  def.implicit.method = w->method, def.implicit.iterations = 500;
  def.narrow.fusion = TALUS_FUSION_THESIS;
  if (w->is_flat)
    def.narrow.tree = TALUS_TREE_FLAT;
  talus_material_def m = talus_material_def_default();
  /* S = K sqrt(m)/reach = m omega^2 */
  m.stiffness = sqrt(mass) * IMPLICIT_REACH * (H_OMEGA / DT) * (H_OMEGA / DT);
  m.friction = 0.3;
  if (talus_world_create(&def, world) != TALUS_OK)
    return implicit_fail("a world");
  return talus_world_add_material(*world, &m, material) == TALUS_OK || implicit_fail("a material");
}

typedef struct placed {
  talus_dvec3 at;
  talus_quat rotation;
  talus_vec3 velocity;
  double scale;
  bool fixed;
} placed;

static bool add_body(talus_world *world, talus_shape shape, talus_material m, const placed *p) {
  talus_body_def def = talus_body_def_default();
  def.shape = shape, def.material = m, def.position = p->at, def.rotation = p->rotation;
  def.velocity = p->velocity, def.scale = p->scale, def.mass = p->fixed ? 0 : 1;
  def.kind = p->fixed ? TALUS_FIXED : TALUS_FREE;
  return talus_world_add_body(world, &def, NULL) == TALUS_OK || implicit_fail("a body");
}

static bool take_steps(talus_world *world, int steps, spent *sum) {
  for (int i = 0; i < steps; ++i) {
    talus_report before, after;
    if (talus_world_report(world, &before) != TALUS_OK)
      return implicit_fail("a report");
    const double begun = implicit_cpu();
    const talus_status status = talus_world_step(world, 1);
    sum->failed += status == TALUS_ERROR_DIVERGED;
    if (status == TALUS_ERROR_DIVERGED)
      return true;
    if (status != TALUS_OK)
      return implicit_fail("a step");
    sum->seconds += implicit_cpu() - begun;
    if (talus_world_report(world, &after) != TALUS_OK)
      return implicit_fail("a report");
    sum->iterations += after.inner;
    sum->looks += after.inner + 1;
    sum->comparisons += (double)(after.comparisons - before.comparisons);
    sum->pairs += (double)after.pairs;
    sum->steps++;
  }
  return true;
}

/* Steps until a force acts; these do not count. */
static bool approach(talus_world *world) {
  talus_report r = {0};
  for (int i = 0; i < 60 && r.inner == 0; ++i) {
    const talus_status status = talus_world_step(world, 1);
    if (status == TALUS_ERROR_DIVERGED)
      return true; /* take_steps counts the step */
    if (status != TALUS_OK || talus_world_report(world, &r) != TALUS_OK)
      return implicit_fail("a step");
  }
  return true;
}

/* Two spheres on a collision course, or one that falls on a tilted plane and continues sliding, up
 * to where a force acts; k determines their rotations. */
static bool begin_collision(const way *w, const tl_shape *first, const tl_shape *second,
                            double scale, bool on_plane, int k, talus_world **world) {
  const double angle =
      0.3 * (k + 1); /* not pole to pole, because all triangles of a pole are equally near */
  const talus_quat turned = {(talus_real)cos(angle), (talus_real)(0.6 * sin(angle)),
                             (talus_real)(0.8 * sin(angle)), 0};
  const talus_quat tilted = {(talus_real)cos(0.05), 0, (talus_real)sin(0.05), 0};
  const double apart = on_plane ? 0.5 + IMPLICIT_REACH : 0.5 * (1 + scale) + IMPLICIT_REACH;
  const placed one = {.rotation = on_plane ? tilted : turned, .scale = scale, .fixed = on_plane};
  const placed other = {.at = {on_plane ? 0.01 * k : 0, 0, apart},
                        .rotation = turned,
                        .velocity = {on_plane ? TL_R(0.5) : 0, 0, -1},
                        .scale = 1};
  talus_material m;
  talus_shape a, b;
  if (!make_world(w, on_plane || scale > 1 ? 1 : 0.5, on_plane ? 9.81 : 0, world, &m))
    return false;
  if (((add_mesh(*world, first, &a) && add_mesh(*world, second, &b)) || implicit_fail("a mesh")) &&
      add_body(*world, a, m, &one) && add_body(*world, b, m, &other) && approach(*world))
    return true;
  talus_world_destroy(*world);
  return false;
}

static bool collide(const way *w, const tl_shape *first, const tl_shape *second, double scale,
                    bool on_plane, int k, int steps, spent *sum) {
  talus_world *world;
  if (!begin_collision(w, first, second, scale, on_plane, k, &world))
    return false;
  const bool good = take_steps(world, steps, sum);
  sum->collisions++;
  talus_world_destroy(world);
  return good;
}

/* ---- 6.5, 6.6 -------------------------------------------------------------------------------- */

static const double thesis_iterations[2][WAYS] = {{4.6, NAN, 4.6, 6.2, NAN},
                                                  {7.1, NAN, 7.1, 13.0, NAN}};
static const double thesis_comparisons[2][WAYS] = {{6.89e8, NAN, 3.97e6, 1.82e6, NAN},
                                                   {4.43e8, NAN, 3.59e6, 3.50e6, NAN}};

static void print_way(const implicit_bench *bench, const char *scene, int i, int plane,
                      const spent *s, double flat) {
  char row[96];
  const double to_100 = 100.0 / s->steps;
  printf("  %-6s %-18s %6.1f %9.2e   %6.1f %9.2e %8.1f %9.1f %6d\n", scene, ways[i].name,
         thesis_iterations[plane][i], thesis_comparisons[plane][i], s->iterations / s->steps,
         s->comparisons * to_100, flat / (s->comparisons * to_100), 1e6 * s->seconds / s->steps,
         s->failed);
  snprintf(row, sizeof row, "%s, %s", scene, ways[i].name);
  implicit_put(bench, "6.5", row, "iterations", thesis_iterations[plane][i],
               s->iterations / s->steps);
  implicit_put(bench, "6.6", row, "comparisons of 100 steps", thesis_comparisons[plane][i],
               s->comparisons * to_100);
  implicit_put(bench, "6.6", row, "us per step", NAN, 1e6 * s->seconds / s->steps);
}

static bool run_scene(const implicit_bench *bench, bool on_plane) {
  tl_shape sphere, plate;
  if (!implicit_make_sphere(bench->quick ? 140 : 1224, &sphere))
    return false;
  if (!implicit_make_plate(&plate)) {
    tl_shape_release(&sphere);
    return false;
  }
  const tl_shape *first = on_plane ? &plate : &sphere;
  const double all = (double)first->face_count * (double)sphere.face_count;
  const int steps = on_plane ? 2 * IMPACT : IMPACT;
  const int collisions = bench->steps / steps > 0 ? bench->steps / steps : 1;
  double flat = NAN;
  bool good = true;
  spent of[WAYS] = {{0}};
  for (int i = 0; i < WAYS && good; ++i)
    for (int k = 0; k < (i == FLAT ? FLAT_IMPACT : collisions) && good; ++k)
      good = collide(&ways[i], first, &sphere, 1, on_plane, k, steps, &of[i]);
  /* Flat needs the iterations of surrogate-picard: the bits are the same
   * (tests/test_implicit.c). */
  flat = all * of[SURROGATE].looks * 100 / of[SURROGATE].steps;
  of[FLAT].comparisons = flat * of[FLAT].steps / 100;
  of[FLAT].iterations = of[SURROGATE].iterations * of[FLAT].steps / of[SURROGATE].steps;
  for (int i = 0; i < WAYS && good; ++i)
    print_way(bench, on_plane ? "plane" : "two", i, on_plane, &of[i], flat);
  tl_shape_release(&sphere);
  tl_shape_release(&plate);
  return good;
}

bool implicit_picards(const implicit_bench *bench) {
  printf("  collisions of %d steps at h omega %g, which is not that of the thesis (unknown); sums "
         "over 100 steps;\n  flat: comparisons by the looks of surrogate-picard, time of %d "
         "collision; one thread\n\n"
         "  %-6s %-18s %-16s   %-16s %8s\n  %-6s %-18s %6s %9s   %6s %9s %8s %9s %6s\n",
         IMPACT, H_OMEGA, FLAT_IMPACT, "", "", "thesis", "ours", "times", "scene", "method",
         "iter.", "compar.", "iter.", "compar.", "fewer", "us/step", "failed");
  return run_scene(bench, false) && run_scene(bench, true);
}

/* ---- Figure 6.3 ------------------------------------------------------------------------------ */

#define LAYERS 12 /* looks that have a column of their own */

static bool print_layers(const implicit_bench *bench, talus_world *world, const char *scene,
                         int step, implicit_panel *panel) {
  const tl_multires *m = &world->multires;
  char row[64], column[32];
  double total = 0;
  for (size_t i = 0; i < m->looks.count; ++i)
    total += (double)m->looks.data[i];
  printf("  %-6s %4d %6zu %8.0f  ", scene, step, m->looks.count, total);
  for (size_t i = 0; i < m->looks.count && i < LAYERS; ++i)
    printf(" %6.0f", (double)m->looks.data[i]);
  printf("\n");
  snprintf(row, sizeof row, "%s, step %d", scene, step);
  for (size_t i = 0; i < m->looks.count && i < IMPLICIT_LAYERS; ++i)
    panel->compared[step - 1][panel->looks[step - 1]++] = (double)m->looks.data[i];
  panel->steps = step;
  for (size_t i = 0; i < m->looks.count; ++i) {
    snprintf(column, sizeof column, "look %zu", i + 1);
    implicit_put(bench, "figure-6.3", row, column, NAN, (double)m->looks.data[i]);
  }
  return true;
}

/* One collision, from before halos meet; the last look of a step is at its end. */
static bool draw_scene(const implicit_bench *bench, bool on_plane, implicit_panel *panel) {
  tl_shape sphere, plate;
  if (!implicit_make_sphere(bench->quick ? 140 : 1224, &sphere))
    return false;
  if (!implicit_make_plate(&plate)) {
    tl_shape_release(&sphere);
    return false;
  }
  const int steps = on_plane ? 4 * IMPACT : 2 * IMPACT;
  talus_world *world;
  bool good = begin_collision(&ways[MULTIRES], on_plane ? &plate : &sphere, &sphere, 1, on_plane, 0,
                              &world);
  if (good) {
    for (int i = 0; i < steps && good; ++i) {
      const talus_status status = talus_world_step(world, 1);
      if (status != TALUS_OK && status != TALUS_ERROR_DIVERGED)
        good = implicit_fail("a step");
      good = good && print_layers(bench, world, on_plane ? "plane" : "two", i + 1, panel);
      if (status == TALUS_ERROR_DIVERGED)
        break;
    }
    talus_world_destroy(world);
  }
  tl_shape_release(&sphere);
  tl_shape_release(&plate);
  return good;
}

bool implicit_layers(const implicit_bench *bench) {
  printf("  multires-picard, one collision; distances of triangles in each look of a step\n\n"
         "  %-6s %4s %6s %8s   %s\n",
         "scene", "step", "looks", "sum", "by look");
  implicit_panel panels[2] = {{.title = "two spheres"}, {.title = "a sphere on a tilted plane"}};
  char path[1024];
  if (!draw_scene(bench, false, &panels[0]) || !draw_scene(bench, true, &panels[1]))
    return false;
  snprintf(path, sizeof path, "%s/figure-6.3.svg", bench->folder ? bench->folder : ".");
  return !bench->folder || implicit_plot_layers(path, panels);
}

/* ---- 6.7, 6.8 -------------------------------------------------------------------------------- */

/* A sphere of 80 triangles meets one that is `scale` times as large, of `triangles`. */
static bool run_sizes(const implicit_bench *bench, const char *table, int scale, size_t triangles,
                      double thesis_count, double thesis_compared) {
  tl_shape small, large;
  spent sum = {0};
  char row[32];
  const int collisions = bench->steps / IMPACT > 0 ? bench->steps / IMPACT : 1;
  if (!implicit_make_icosphere(80, &small))
    return false;
  if (!implicit_make_icosphere(triangles, &large)) {
    tl_shape_release(&small);
    return false;
  }
  bool good = true;
  for (int k = 0; k < collisions && good; ++k)
    good = collide(&ways[MULTIRES], &large, &small, scale, false, k, IMPACT, &sum);
  tl_shape_release(&small);
  tl_shape_release(&large);
  if (!good)
    return false;
  printf("  %5d %9zu   %6g %9g   %6.1f %9.4g %9.1f %6d\n", scale, triangles, thesis_count,
         thesis_compared, sum.iterations / sum.steps, sum.comparisons / sum.steps,
         1e6 * sum.seconds / sum.steps, sum.failed);
  snprintf(row, sizeof row, "scale %d", scale);
  implicit_put(bench, table, row, "iterations", thesis_count, sum.iterations / sum.steps);
  implicit_put(bench, table, row, "comparisons per step", thesis_compared,
               sum.comparisons / sum.steps);
  return true;
}

static void print_sizes_head(void) {
  printf("  a sphere of 80 triangles meets a larger one; multires-picard; per step\n\n"
         "  %5s %9s   %-16s   %-16s\n  %5s %9s   %6s %9s   %6s %9s %9s %6s\n",
         "", "", "thesis", "ours", "scale", "triangles", "iter.", "compar.", "iter.", "compar.",
         "us", "failed");
}

bool implicit_sizes(const implicit_bench *bench) {
  static const double count[4] = {13, 19, 20, 17}, compared[4] = {145, 505, 588, 544};
  bool good = true;
  print_sizes_head();
  for (int i = 0; i < (bench->quick ? 3 : 4) && good; ++i)
    good = run_sizes(bench, "6.7", 1 << i, (size_t)80 << (2 * i), count[i], compared[i]);
  return good;
}

bool implicit_scales(const implicit_bench *bench) {
  static const double count[4] = {13, 13, 18, 14}, compared[4] = {145, 127, 178, 98.2};
  bool good = true;
  print_sizes_head();
  for (int i = 0; i < 4 && good; ++i)
    good = run_sizes(bench, "6.8", 1 << i, 80, count[i], compared[i]);
  return good;
}

/* ---- 6.9 ------------------------------------------------------------------------------------- */

static bool rest(const way *w, const tl_shape *sphere, int wide, int count, int steps, spent *sum) {
  talus_world *world;
  talus_material m;
  talus_shape shape;
  if (!make_world(w, 0.5, 0, &world, &m))
    return false;
  bool good = add_mesh(world, sphere, &shape) || implicit_fail("a mesh");
  for (int i = 0; i < count && good; ++i) {
    const double apart = 1 + 0.99 * IMPLICIT_REACH; /* halos overlap by a hundredth */
    const placed p = {
        .at = {apart * (i % wide), apart * (i / wide), 0}, .rotation = {1, 0, 0, 0}, .scale = 1};
    good = add_body(world, shape, m, &p);
  }
  good = good && take_steps(world, steps, sum);
  talus_world_destroy(world);
  return good;
}

bool implicit_sheet(const implicit_bench *bench) {
  static const double thesis[WAYS] = {0.967e3, NAN, 0.237, 0.116, NAN};
  const int wide = bench->full ? 16 : bench->quick ? 3 : 6, steps = 2;
  const int deep = bench->full ? 1536 : wide;
  const double pairs = (wide - 1.0) * deep + wide * (deep - 1.0);
  tl_shape sphere;
  bool good = true;
  printf("  a sheet of %d x %d spheres of %d triangles with %g pairs (thesis: 24,576 with 47,600), "
         "nearly at rest;\n  per pair and step; one thread\n\n"
         "  %-18s %10s   %6s %10s %10s\n",
         wide, deep, bench->quick ? 140 : 1224, pairs, "method", "thesis ms", "iter.", "compar.",
         "us");
  if (!implicit_make_sphere(bench->quick ? 140 : 1224, &sphere))
    return false;
  for (int i = BOXES; i < WAYS && good; ++i) {
    spent sum = {0};
    if (bench->full && i != BOXES && i != NEWTON)
      continue;
    good = rest(&ways[i], &sphere, wide, wide * deep, steps, &sum);
    const double each = pairs * sum.steps;
    printf("  %-18s %10.3g   %6.1f %10.4g %10.2f\n", ways[i].name, thesis[i],
           sum.iterations / sum.steps, sum.comparisons / each, 1e6 * sum.seconds / each);
    implicit_put(bench, "6.9", ways[i].name, "us per pair and step", 1e3 * thesis[i],
                 1e6 * sum.seconds / each);
    implicit_put(bench, "6.9", ways[i].name, "comparisons per pair and step", NAN,
                 sum.comparisons / each);
  }
  tl_shape_release(&sphere);
  return good;
}
