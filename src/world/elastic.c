/* Hard spheres in a world: what goes with them and what does not, by name. */
#include "world/world.h"

#include <math.h>

#define MOST_MISSED 1e-3 /* share of collisions that the hard shell may miss */

talus_status tl_elastic_check(const talus_world_def *def) {
  if ((unsigned)def->step > TALUS_STEP_LOCAL || (unsigned)def->solve.shell > TALUS_SHELL_HARD ||
      (unsigned)def->solve.response > TALUS_RESPONSE_PUBLISHED)
    return tl_fail(TALUS_ERROR_INVALID,
                   "step is %d, solve.shell %d and solve.response %d; expected a TALUS_STEP_..., a "
                   "TALUS_SHELL_... and a TALUS_RESPONSE_...",
                   (int)def->step, (int)def->solve.shell, (int)def->solve.response);
  const bool is_elastic = def->solve.kind == TALUS_SOLVE_ELASTIC;
  if (def->step == TALUS_STEP_EVENT && !is_elastic)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "step: event works only with solve: elastic; use step: fixed, or solve: elastic");
  if (!is_elastic)
    return TALUS_OK;
  if (def->sleep.speed > 0)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "sleep does not work with elastic, where no body comes to rest; leave `sleep` out");
  if (def->step == TALUS_STEP_EVENT && def->solve.shell == TALUS_SHELL_HARD)
    return tl_fail(TALUS_ERROR_INVALID, "shell: hard works only with step: fixed; events happen "
                                        "when bodies touch, which is shell: soft");
  if (def->solve.response == TALUS_RESPONSE_PUBLISHED && def->solve.shell != TALUS_SHELL_HARD)
    return tl_fail(TALUS_ERROR_INVALID,
                   "response: published works only with shell: hard, because it needs overlaps; "
                   "use shell: hard, or response: symmetric");
  return TALUS_OK;
}

/* What is wrong with the body for hard spheres, or NULL. */
static const char *find_fault(const tl_model *model, uint32_t slot) {
  const uint32_t flags = model->property.flags[slot];
  const talus_shape_kind kind = tl_body_shape(model, slot)->kind;
  const bool is_hard = model->solve.shell == TALUS_SHELL_HARD;
  if (!tl_body_is_static(model, slot)) {
    if (kind != TALUS_SPHERE)
      return "and what moves freely must be a sphere";
    if (flags & TL_FLAG_LOCKS)
      return "and has a `lock`, which collisions would break";
    if (model->step == TALUS_STEP_EVENT && model->property.force &&
        tl_length2(model->property.force[slot]) > 0)
      return "and has a force; events support only gravity";
    return NULL;
  }
  if (is_hard)
    return NULL;
  if (kind != TALUS_SPHERE && kind != TALUS_BOX && !tl_kind_is_wall(kind))
    return "and walls may be planes, containers, spheres, boxes or revolved (others with shell: "
           "hard)";
  if ((flags & TL_FLAG_KINEMATIC) && kind != TALUS_SPHERE && tl_body_turns(model, slot))
    return "and turns; walls may move along a line or stand still (shell: hard lets them turn)";
  return NULL;
}

static bool has_fault(void *context, size_t i) {
  const talus_world *world = context;
  return find_fault(&world->model, (uint32_t)i) != NULL;
}

typedef struct speed_job {
  const talus_world *world;
  _Atomic double smallest; /* m */
  _Atomic size_t count;
} speed_job;

static void add_speeds(void *context, size_t begin, size_t end, tl_tally *squares) {
  speed_job *job = context;
  const tl_model *model = &job->world->model;
  double smallest = INFINITY;
  size_t count = 0;
  for (size_t i = begin; i < end; ++i) {
    if (tl_body_is_static(model, i))
      continue;
    const double radius = (double)(tl_body_shape(model, i)->radius * model->property.scale[i]);
    smallest = fmin(smallest, radius);
    tl_tally_add(squares, (double)tl_length2(job->world->state.velocity[i]));
    count++;
  }
  tl_atomic_min(&job->smallest, smallest);
  atomic_fetch_add(&job->count, count);
}

/* The share of collisions that the hard shell misses at the RMS speed v, when two meet with
 * u = sqrt(2) v, and s is the smallest diameter: (u dt / 2 s)^2 / 3 have no step within their
 * overlap. Symmetric responses also need one while the two still come nearer, in half the time:
 * four times as many. *largest: the dt at which it is MOST_MISSED. */
static double missed_share(const talus_world *world, double *largest) {
  const tl_model *model = &world->model;
  speed_job job = {.world = world};
  tl_tally squares;
  atomic_init(&job.smallest, INFINITY);
  atomic_init(&job.count, 0);
  tl_for_tally(&model->par, model->bodies, TL_BLOCK, add_speeds, &job, 1, &squares);
  const size_t count = atomic_load(&job.count);
  if (count == 0)
    return 0;
  const double u = sqrt(2 * tl_tally_value(&squares) / (double)count);
  const double span = (model->solve.response == TALUS_RESPONSE_PUBLISHED ? 4 : 2) *
                      atomic_load(&job.smallest); /* m: seen along it */
  const double way = u * model->dt / span;
  *largest = span * sqrt(3 * MOST_MISSED) / u;
  return way * way / 3;
}

static talus_status check_hard(talus_world *world) {
  double largest;
  const double share = missed_share(world, &largest);
  if (!(share > MOST_MISSED))
    return TALUS_OK;
  if (world->steps == 0)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "solve: shell: hard would miss %.2g of the collisions at this dt and the bodies' "
        "RMS speed; take dt <= %.3g s, or shell: soft",
        share, largest);
  if (world->hasty++ == 0)
    tl_log_write(
        &world->model.log, TL_LOG_WARN,
        "solve: shell: hard misses %.2g of the collisions at t = %g s, because bodies have "
        "become faster; dt <= %.3g s would do, or shell: soft (told once; the report "
        "counts such steps)",
        share, world->time, largest);
  return TALUS_OK;
}

talus_status tl_world_check_elastic(talus_world *world) {
  const tl_model *model = &world->model;
  if (model->solve.kind != TALUS_SOLVE_ELASTIC)
    return TALUS_OK;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES, TL_READ));
  if (world->joints.all.count > 0)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "there are %zu joints, which do not work with solve: elastic; use solve: ccp",
                   world->joints.all.count);
  const size_t faulty = tl_find_first(&model->par, model->bodies, has_fault, world);
  if (faulty != SIZE_MAX)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "solve: elastic: %s is a %s, %s",
                   tl_world_describe(world, (uint32_t)faulty),
                   talus_shape_kind_name(tl_body_shape(model, faulty)->kind),
                   find_fault(model, (uint32_t)faulty));
  return model->solve.shell == TALUS_SHELL_HARD ? check_hard(world) : TALUS_OK;
}

void tl_world_note_elastic(talus_world *world) {
  world->collisions += world->last.solve.collisions;
  world->virial += world->last.solve.virial;
}
