/* talus bench blocks: time of a pair in the narrow phase, by its two kinds.
 *
 * Pairs are isolated: one body fixed, one free, no gravity, nothing moves. The stage is measured as
 * in a step (contacts, history, reach) on one thread. The fastest step after the first counts,
 * because others waited for the processor. */
#include "blocks.h"

#include <math.h>
#include <string.h>

#include "narrow/narrow.h"
#include "world/world.h"

enum { FLAT, TOUCH, MISS, WAYS };
static const char *const ways[WAYS] = {"flat", "touch", "miss"};

#define DEEP  1e-3 /* m: overlap of pairs that touch */
#define CLEAR 0.1  /* m: gap of pairs without contact whose boxes overlap */
#define APART 8.0  /* m: from pair to pair */

static const talus_shape_kind kinds[] = {TALUS_BOX,  TALUS_HULL,    TALUS_CYLINDER,
                                         TALUS_CONE, TALUS_CAPSULE, TALUS_SPHERE};
#define KINDS (sizeof kinds / sizeof *kinds)

static bool add_kind(blocks_rig *rig, talus_shape_kind kind, talus_shape *shape) {
  switch (kind) {
  case TALUS_BOX:
    *shape = rig->box;
    return true;
  case TALUS_HULL:
    *shape = rig->hull;
    return true;
  case TALUS_CAPSULE:
    return blocks_add_shape(rig, kind, 0.3, 0.6, 0, shape);
  default:
    return blocks_add_shape(rig, kind, 0.5, 1, 0, shape);
  }
}

/* A body with the frame of its shape at this pose. */
static tl_posed posed(const blocks_rig *rig, talus_shape handle, talus_dvec3 at, talus_quat q) {
  const tl_shape *shape = &rig->world->model.shapes.data[handle.index];
  const talus_vec3 centre = tl_quat_rotate(q, tl_narrow(shape->centre));
  return (tl_posed){.shape = shape,
                    .scale = 1,
                    .position = tl_moved(at, centre),
                    .rotation = tl_quat_mul(q, shape->axes)};
}

/* Distance of b from a in this direction when they just touch, by bisection. */
static double touching_distance(tl_posed a, tl_posed b, talus_dvec3 direction) {
  const talus_dvec3 from = b.position;
  tl_posed at_origin = a;
  double in = 0, out = 4;
  at_origin.position = tl_dvec3(0, 0, 0);
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (in + out);
    b.position = tl_dsub(tl_dadd(from, tl_dscale(direction, middle)), a.position);
    if (tl_narrow_touches(&at_origin, &b))
      in = middle;
    else
      out = middle;
  }
  return in;
}

static bool add_pair(blocks_rig *rig, talus_shape a, talus_shape b, int way, int i) {
  const double third = sqrt(1.0 / 3);
  const talus_quat none = {1, 0, 0, 0};
  const talus_quat qa = way == FLAT ? none : blocks_rotation((uint64_t)i);
  const talus_quat qb = way == FLAT ? none : blocks_rotation(1000000 + (uint64_t)i);
  const talus_dvec3 up = {0, 0, 1}, diagonal = {third, third, third};
  const talus_dvec3 direction = way == FLAT ? up : diagonal, zero = {0, 0, 0};
  const double touch =
      touching_distance(posed(rig, a, zero, qa), posed(rig, b, zero, qb), direction);
  const talus_dvec3 at = {APART * (i % 32), APART * (i / 32), 100};
  const talus_dvec3 off = tl_dscale(direction, way == MISS ? touch + CLEAR : touch - DEEP);
  return blocks_add_body(rig, TALUS_FIXED, a, at, qa, NULL) &&
         blocks_add_body(rig, TALUS_FREE, b, tl_dadd(at, off), qb, NULL);
}

/* Time of the narrow phase in the fastest of some steps, s. */
static bool time_steps(talus_world *world, int steps, double *least, size_t *contacts) {
  talus_report report;
  bool good =
      talus_world_step(world, 3) == TALUS_OK && talus_world_report(world, &report) == TALUS_OK;
  *least = HUGE_VAL;
  for (int i = 0; i < steps && good; ++i) {
    const double before = report.wall_narrow;
    good = talus_world_step(world, 1) == TALUS_OK && talus_world_report(world, &report) == TALUS_OK;
    *least = fmin(*least, report.wall_narrow - before);
  }
  *contacts = good ? report.contacts_near : 0;
  return good || blocks_fail("a step");
}

static bool measure(const blocks_bench *bench, talus_shape_kind a, talus_shape_kind b, int way,
                    double *ns, double *contacts) {
  blocks_options options = bench->options;
  blocks_rig rig;
  talus_shape shape_a, shape_b;
  double least = 0;
  size_t near = 0;
  const int pairs = options.quick ? 8 : 500, steps = options.quick ? 2 : 20;
  options.threads = 1, options.substeps = 1, options.iterations = 0;
  bool good = blocks_rig_make(&options, false, &rig) && add_kind(&rig, a, &shape_a) &&
              add_kind(&rig, b, &shape_b);
  for (int i = 0; i < pairs && good; ++i)
    good = add_pair(&rig, shape_a, shape_b, way, i);
  if (good) {
    rig.world->model.solve.recovery = 0;
    good = (talus_world_set_gravity(rig.world, (talus_vec3){0, 0, 0}) == TALUS_OK ||
            blocks_fail("gravity")) &&
           time_steps(rig.world, steps, &least, &near);
  }
  *ns = 1e9 * least / pairs;
  *contacts = (double)near / pairs;
  talus_world_destroy(rig.world);
  return good;
}

bool blocks_pairs(const blocks_bench *bench) {
  FILE *csv;
  bool good = bench_csv_open(bench->folder, "pairs", "a,b,way,ns,contacts", &csv);
  printf("ns per pair (contacts): flat on each other, touching anyhow, missing by %g m\n", CLEAR);
  printf("%-10s %-10s", "a", "b");
  for (int way = 0; way < WAYS; ++way)
    printf(" %16s", ways[way]);
  printf("\n");
  for (size_t i = 0; i < KINDS && good; ++i)
    for (size_t j = i; j < KINDS && good; ++j) {
      const char *a = tl_shape_kind_name(kinds[i]), *b = tl_shape_kind_name(kinds[j]);
      printf("%-10s %-10s", a, b);
      for (int way = 0; way < WAYS && good; ++way) {
        double ns = 0, contacts = 0;
        good = measure(bench, kinds[i], kinds[j], way, &ns, &contacts);
        printf(" %10.0f (%.1f)", ns, contacts);
        if (csv && good)
          fprintf(csv, "%s,%s,%s,%g,%g\n", a, b, ways[way], ns, contacts);
      }
      printf("\n");
      fflush(stdout);
    }
  return bench_csv_close(csv) && good;
}
