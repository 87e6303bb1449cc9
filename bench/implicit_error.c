/* talus bench implicit --table error: seconds simulated per second of processor time, and error,
 * for increasing stiffness: velocity Verlet at its largest step, implicit steps, and ccp. */
#include <math.h>

#include "implicit.h"

#define RADIUS  0.1
#define STACKED 5
#define DT      5e-3 /* of implicit steps and ccp */

typedef enum scene_kind { BOUNCE, STACK, SCENES } scene_kind;
typedef enum method { VERLET, PICARD, NEWTON, CCP, METHODS } method;

static const char *const scene_names[SCENES] = {"bounce", "stack"};
static const char *const method_names[METHODS] = {"verlet", "picard", "newton", "ccp"};

typedef struct measured {
  double error, seconds; /* m or m/s; s of processor time per s simulated */
  double dt;
  bool failed; /* a step did not converge */
} measured;

/* Half of the step (s) that velocity Verlet allows for bodies of 1 kg; above it warns. Boxes rock,
 * and dashpots count (docs/theory/penalty.md). */
static double largest_step(scene_kind scene, double stiffness) {
  return (scene == BOUNCE ? 1 : 0.06) / sqrt(stiffness);
}

static bool make(scene_kind scene, method how, double stiffness, double dt, talus_world **world,
                 talus_body *last) {
  talus_world_def def = talus_world_def_default();
  talus_material_def m = talus_material_def_default();
  talus_shape_def box = talus_shape_def_default(), plane = box;
  talus_body_def body = talus_body_def_default(), floor = body;
  def.dt = dt, def.threads = 1;
  def.gravity = (talus_vec3){0, 0, scene == STACK ? TL_R(-9.81) : 0};
  if (how != CCP)
    def.solve.kind = TALUS_SOLVE_PENALTY;
  if (how == PICARD || how == NEWTON) {
    def.step = TALUS_STEP_IMPLICIT, def.implicit.iterations = 2000;
    def.implicit.method = how == PICARD ? TALUS_IMPLICIT_PICARD : TALUS_IMPLICIT_NEWTON;
  }
  m.stiffness = stiffness, m.restitution = scene == BOUNCE ? 1 : 0.2, m.friction = 0.5;
  plane.kind = TALUS_PLANE;
  for (int k = 0; k < 4; ++k)
    plane.size[k] = k == 2;
  box.kind = scene == STACK ? TALUS_BOX : TALUS_SPHERE;
  for (int k = 0; k < 4; ++k)
    box.size[k] = k == 3 ? 0 : scene == STACK ? 2 * RADIUS : k == 0 ? RADIUS : 0;
  floor.kind = TALUS_FIXED, body.mass = 1;
  talus_material material;
  if (talus_world_create(&def, world) != TALUS_OK)
    return implicit_fail("a world");
  bool good = talus_world_add_material(*world, &m, &material) == TALUS_OK &&
              talus_world_add_shape(*world, &plane, &floor.shape) == TALUS_OK &&
              talus_world_add_shape(*world, &box, &body.shape) == TALUS_OK;
  floor.material = body.material = material;
  good = good && talus_world_add_body(*world, &floor, NULL) == TALUS_OK;
  for (int i = 0; i < (scene == STACK ? STACKED : 1) && good; ++i) {
    body.position.z = RADIUS * (1 + 2 * i) + (scene == BOUNCE ? 0.05 : 0);
    body.velocity.z = scene == BOUNCE ? -1 : 0;
    good = talus_world_add_body(*world, &body, last) == TALUS_OK;
  }
  return good || implicit_fail("a scene");
}

/* Bounce: the speed after it (1 m/s). Stack: height of the top at rest, for springs of the given
 * stiffness (ccp: hard). */
static bool measure(scene_kind scene, method how, double stiffness, measured *r) {
  talus_world *world;
  talus_body last;
  talus_body_info info;
  const double time = scene == BOUNCE ? 0.2 : 1;
  r->dt = how == VERLET ? largest_step(scene, stiffness) : DT;
  r->failed = false;
  if (!make(scene, how, stiffness, r->dt, &world, &last))
    return false;
  const double begun = implicit_cpu();
  const talus_status status = talus_world_step(world, (uint64_t)(time / r->dt + 0.5));
  r->seconds = (implicit_cpu() - begun) / time;
  r->failed = status == TALUS_ERROR_DIVERGED;
  const bool good =
      (r->failed || status == TALUS_OK) && talus_world_get_body(world, last, &info) == TALUS_OK;
  talus_world_destroy(world);
  if (!good)
    return implicit_fail("a run");
  double sunk = 0;
  for (int i = 0; i < STACKED; ++i)
    sunk += (STACKED - i) * 9.81 / stiffness;
  r->error = scene == BOUNCE ? fabs(1 - (double)info.velocity.z)
                             : fabs(info.position.z - RADIUS * (2 * STACKED - 1) + sunk);
  return true;
}

bool implicit_errors(const implicit_bench *bench) {
  const int rows = bench->quick ? 2 : 4;
  printf("  steps of %g s; verlet: the largest that is stable with room for neighbours. s: "
         "processor time for a\n  second; error: bounce: speed after it at 1 m/s; stack: where the "
         "top of %d boxes is after 1 s, m\n  (ccp: of springs it has none; its error is what they "
         "sink). -: a step did not converge\n\n  %-7s %9s %8s",
         DT, STACKED, "scene", "N/m", "h omega");
  for (int i = 0; i < METHODS; ++i)
    printf("  %8s s    error", method_names[i]);
  printf("\n");
  for (int scene = 0; scene < SCENES; ++scene)
    for (int k = 0; k < (scene == STACK && rows > 3 ? 3 : rows); ++k) {
      const double stiffness = 1e4 * pow(100, k);
      char row[64];
      printf("  %-7s %9.0e %8.3g", scene_names[scene], stiffness, DT * sqrt(stiffness));
      for (int i = 0; i < METHODS; ++i) {
        measured r = {.failed = true};
        if ((i != PICARD || k < 2) && !measure((scene_kind)scene, (method)i, stiffness, &r))
          return false;
        if (r.failed)
          printf("  %10s %8s", "-", "-");
        else
          printf("  %10.2e %8.1e", r.seconds, r.error);
        snprintf(row, sizeof row, "%s, %g N/m, %s", scene_names[scene], stiffness, method_names[i]);
        implicit_put(bench, "error", row, "s per s", NAN, r.failed ? NAN : r.seconds);
        implicit_put(bench, "error", row, "error", NAN, r.failed ? NAN : r.error);
      }
      printf("\n");
      fflush(stdout);
    }
  return true;
}
