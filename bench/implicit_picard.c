/* talus bench implicit, Tables 6.5, 6.6, 6.8, 6.9: iterations of implicit steps, and the number of
 * triangle distances computed. */
#include <math.h>

#include "implicit.h"
#include "shape/facets.h"

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
      return true; /* take_steps counts it */
    if (status != TALUS_OK || talus_world_report(world, &r) != TALUS_OK)
      return implicit_fail("a step");
  }
  return true;
}

/* Two spheres on a collision course, or one that falls on a tilted plane and continues sliding; k
 * determines their rotations. */
static bool collide(const way *w, const tl_shape *first, const tl_shape *second, double scale,
                    bool on_plane, int k, int steps, spent *sum) {
  const double angle = 0.3 * (k + 1); /* not pole to pole, where all triangles are equally near */
  const talus_quat turned = {(talus_real)cos(angle), (talus_real)(0.6 * sin(angle)),
                             (talus_real)(0.8 * sin(angle)), 0};
  const talus_quat tilted = {(talus_real)cos(0.05), 0, (talus_real)sin(0.05), 0};
  const double apart = on_plane ? 0.5 + IMPLICIT_REACH : 0.5 * (1 + scale) + IMPLICIT_REACH;
  const placed one = {.rotation = on_plane ? tilted : turned, .scale = scale, .fixed = on_plane};
  const placed other = {.at = {on_plane ? 0.01 * k : 0, 0, apart},
                        .rotation = turned,
                        .velocity = {on_plane ? TL_R(0.5) : 0, 0, -1},
                        .scale = 1};
  talus_world *world;
  talus_material m;
  talus_shape a, b;
  if (!make_world(w, on_plane || scale > 1 ? 1 : 0.5, on_plane ? 9.81 : 0, &world, &m))
    return false;
  bool good =
      (add_mesh(world, first, &a) && add_mesh(world, second, &b)) || implicit_fail("a mesh");
  good = good && add_body(world, a, m, &one) && add_body(world, b, m, &other) && approach(world) &&
         take_steps(world, steps, sum);
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

/* ---- 6.8 ------------------------------------------------------------------------------------- */

bool implicit_scales(const implicit_bench *bench) {
  static const double thesis[4] = {13, 13, 18, 14};
  tl_shape sphere;
  bool good = true;
  printf("  one of two spheres of 140 triangles (thesis: 80) is larger; multires-picard\n\n"
         "  %5s %12s   %6s %14s %9s\n",
         "scale", "thesis iter.", "iter.", "compar./step", "us/step");
  if (!implicit_make_sphere(140, &sphere))
    return false;
  for (int i = 0; i < 4 && good; ++i) {
    spent sum = {0};
    char row[32];
    const int collisions = bench->steps / IMPACT > 0 ? bench->steps / IMPACT : 1;
    for (int k = 0; k < collisions && good; ++k)
      good = collide(&ways[MULTIRES], &sphere, &sphere, 1 << i, false, k, IMPACT, &sum);
    printf("  %5d %12g   %6.1f %14.3g %9.1f\n", 1 << i, thesis[i], sum.iterations / sum.steps,
           sum.comparisons / sum.steps, 1e6 * sum.seconds / sum.steps);
    snprintf(row, sizeof row, "scale %d", 1 << i);
    implicit_put(bench, "6.8", row, "iterations", thesis[i], sum.iterations / sum.steps);
    implicit_put(bench, "6.8", row, "comparisons per step", NAN, sum.comparisons / sum.steps);
  }
  tl_shape_release(&sphere);
  return good;
}

/* ---- 6.9 ------------------------------------------------------------------------------------- */

static bool rest(const way *w, const tl_shape *sphere, int wide, int steps, spent *sum) {
  talus_world *world;
  talus_material m;
  talus_shape shape;
  if (!make_world(w, 0.5, 0, &world, &m))
    return false;
  bool good = add_mesh(world, sphere, &shape) || implicit_fail("a mesh");
  for (int i = 0; i < wide * wide && good; ++i) {
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
  const int wide = bench->quick ? 3 : 6, steps = 2;
  const double pairs = 2.0 * wide * (wide - 1);
  tl_shape sphere;
  bool good = true;
  printf("  a sheet of %d x %d spheres of %d triangles with %g pairs (thesis: 24,576 with 47,600), "
         "nearly at rest;\n  per pair and step; one thread\n\n"
         "  %-18s %10s   %6s %10s %10s\n",
         wide, wide, bench->quick ? 140 : 1224, pairs, "method", "thesis ms", "iter.", "compar.",
         "us");
  if (!implicit_make_sphere(bench->quick ? 140 : 1224, &sphere))
    return false;
  for (int i = BOXES; i < WAYS && good; ++i) {
    spent sum = {0};
    good = rest(&ways[i], &sphere, wide, steps, &sum);
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
