/* Would residual-driven sweeps pay in clusters whose bodies all press on each other? Every system
 * of contacts that local steps solve is solved four times more, from the same start and to the
 * same residual: as the solver does it (sweeps with momentum), by plain sweeps, and by sweeps that
 * leave out rows (or packs of eight rows) whose bodies have hardly moved since their last visit. */
#include "local.h"

#include "solve/ccp/ccp.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

#define W      TL_CCP_LANES
#define MOST   20000 /* sweeps */
#define FEWEST 16    /* contacts of a system that is measured */

typedef enum way { OWN, PLAIN, BY_ROW, BY_PACK, WAYS } way;

static struct {
  double tolerance; /* part of the automatic one */
  uint64_t systems, missed, rows, idle;
  uint64_t visits[WAYS]; /* of rows */
  double seconds[WAYS];  /* BY_ROW: unused, because it is not in lanes */
} sums;

/* ---- one system ------------------------------------------------------------------------------ */

typedef struct system_job {
  tl_system system;
  talus_solve_def settings;
  tl_ccp ccp;
  tl_ccp_body *bodies;          /* as the solve begins; */
  tl_ccp_pack *packs;           /* likewise */
  uint64_t *moved, *seen;       /* by body: its last motion; by pack and lane: its last visit */
  uint64_t clock;               /* of visits */
  double tolerance, threshold2; /* m/s; (m/s)^2: a smaller change wakes nobody */
} system_job;

static talus_status make_rows(system_job *job, const tl_crowd *crowd, tl_contacts *contacts,
                              tl_solve_report *report) {
  tl_arena *arena = crowd->arena;
  uint8_t *seen;
  TL_TRY(tl_system_begin(&job->system, crowd, contacts, report));
  job->tolerance = sums.tolerance * tl_effort_of(&job->system, contacts->count, false).enough;
  job->settings = crowd->model->solve;
  job->settings.islands = false;
  job->settings.iterations = 0, job->settings.tolerance = 0;
  job->system.settings = &job->settings;
  TL_TAKE(arena, crowd->count + 1, &seen);
  memset(seen, 0, crowd->count + 1);
  TL_TRY(tl_system_order(&job->system));
  job->ccp = (tl_ccp){.system = &job->system};
  TL_TRY(tl_ccp_plan_parts(&job->ccp, NULL, NULL, 0));
  TL_TRY(tl_system_load_bodies(&job->system));
  TL_TRY(tl_ccp_load_rows(&job->ccp));
  job->ccp.parts[0].seen = seen;
  return tl_ccp_take_sums(&job->ccp.parts[0]);
}

/* Applies the impulses to start from, as the solver does, and keeps what is there then. */
static talus_status begin(system_job *job, const tl_crowd *crowd) {
  const tl_ccp_rows *rows = &job->ccp.parts[0].rows;
  TL_TAKE(crowd->arena, crowd->count + 1, &job->bodies);
  TL_TAKE(crowd->arena, crowd->count + 1, &job->moved);
  TL_TAKE(crowd->arena, rows->pack_count, &job->packs);
  TL_TAKE(crowd->arena, rows->pack_count * W, &job->seen);
  tl_ccp_gauss_seidel(&job->ccp.parts[0]);
  memcpy(job->bodies, rows->bodies, (crowd->count + 1) * sizeof *job->bodies);
  memcpy(job->packs, rows->packs, rows->pack_count * sizeof *job->packs);
  job->settings.warm_start = false;
  job->settings.tolerance = (talus_real)job->tolerance;
  return TALUS_OK;
}

static void begin_again(system_job *job) {
  tl_ccp_rows *rows = &job->ccp.parts[0].rows;
  const size_t bodies = job->system.crowd->count + 1;
  memcpy(rows->bodies, job->bodies, bodies * sizeof *job->bodies);
  memcpy(rows->packs, job->packs, rows->pack_count * sizeof *job->packs);
  rows->is_unmeasured = false;
  memset(job->moved, 0, bodies * sizeof *job->moved);
  memset(job->seen, 0, rows->pack_count * W * sizeof *job->seen);
  job->clock = 1;
  for (size_t i = 0; i < bodies; ++i)
    job->moved[i] = 1; /* all are due */
  job->threshold2 = 0.25 * job->tolerance * job->tolerance;
}

static double residual_of(const system_job *job) {
  const tl_ccp_rows *rows = &job->ccp.parts[0].rows;
  double most;
  return sqrt(tl_ccp_residual_packs(rows, 0, rows->pack_count, &most) / (double)rows->count);
}

static uint32_t lanes_of(const tl_ccp_pack *pack) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < W; ++i)
    n += pack->en[i] > 0;
  return n;
}

static bool is_due(const system_job *job, size_t k, uint32_t i) {
  const tl_ccp_pack *pack = &job->ccp.parts[0].rows.packs[k];
  return job->moved[pack->a[i]] > job->seen[k * W + i] ||
         job->moved[pack->b[i]] > job->seen[k * W + i];
}

static bool is_pack_due(const system_job *job, size_t k) {
  const tl_ccp_pack *pack = &job->ccp.parts[0].rows.packs[k];
  const uint64_t seen = job->seen[k * W];
  uint64_t moved = 0;
  for (uint32_t i = 0; i < W; ++i) {
    const uint64_t a = job->moved[pack->a[i]], b = job->moved[pack->b[i]];
    moved = a > moved ? a : moved;
    moved = b > moved ? b : moved;
  }
  return moved > seen;
}

/* A row that changed little moves nobody who would have to be told of it. */
static void note(system_job *job, size_t k, uint32_t i, double change2) {
  const tl_ccp_rows *rows = &job->ccp.parts[0].rows;
  const tl_ccp_pack *pack = &rows->packs[k];
  if (change2 > job->threshold2) {
    if (rows->bodies[pack->a[i]].inv_mass > 0)
      job->moved[pack->a[i]] = job->clock;
    if (rows->bodies[pack->b[i]].inv_mass > 0)
      job->moved[pack->b[i]] = job->clock;
  }
}

static double visit_rows(system_job *job, size_t k, way how) {
  const tl_ccp_rows *rows = &job->ccp.parts[0].rows;
  double sum = 0;
  for (uint32_t i = 0; i < W; ++i) {
    if (!(rows->packs[k].en[i] > 0) || (how == BY_ROW && !is_due(job, k, i)))
      continue;
    const double change2 = tl_ccp_sweep_lane(rows, k, i);
    job->clock++;
    note(job, k, i, change2);
    job->seen[k * W + i] = job->clock;
    sums.visits[how]++;
    sums.idle += how == PLAIN && change2 < 0.01 * job->tolerance * job->tolerance;
    sum += change2;
  }
  return sum;
}

static double visit_pack(system_job *job, size_t k, bool serial) {
  const tl_ccp_rows *rows = &job->ccp.parts[0].rows;
  if (!is_pack_due(job, k))
    return 0;
  const double change2 = tl_ccp_sweep_packs(rows, k, k + 1, serial);
  job->clock++;
  for (uint32_t i = 0; i < W; ++i)
    note(job, k, i, change2);
  job->seen[k * W] = job->clock;
  sums.visits[BY_PACK] += lanes_of(&rows->packs[k]);
  return change2;
}

/* A sweep over all colours; returns the sum of squared changes. in_lanes: eight rows at a time. */
static double sweep(system_job *job, way how, bool in_lanes) {
  const tl_ccp_part *part = &job->ccp.parts[0];
  double sum = 0;
  for (size_t colour = 0; colour < part->colours.count; ++colour) {
    const bool serial = part->colours.serial[colour];
    const size_t first = part->block_pack[part->colour_block[colour]];
    const size_t last = part->block_pack[part->colour_block[colour + 1]];
    if (how == PLAIN && in_lanes) {
      sum += tl_ccp_sweep_packs(&part->rows, first, last, serial);
      continue;
    }
    for (size_t k = first; k < last; ++k)
      sum += how == BY_PACK ? visit_pack(job, k, serial) : visit_rows(job, k, how);
  }
  return sum;
}

/* Looks at the residual as the solver does. Where nobody is due any more, smaller changes count
 * from then on. False: the tolerance was not reached. */
static bool solve(system_job *job, way how, bool in_lanes) {
  const double rows = (double)job->ccp.parts[0].rows.count;
  begin_again(job);
  const double begun = bench_cpu();
  bool is_done = false;
  for (int i = 1; i <= MOST && !is_done; ++i) {
    const double change = sqrt(sweep(job, how, in_lanes) / rows);
    if (change < job->tolerance || i % 8 == 0)
      is_done = residual_of(job) < job->tolerance;
    if (!is_done && change < 0.5 * job->tolerance && how >= BY_ROW) {
      job->threshold2 *= 0.0625;
      for (size_t k = 0; k <= job->system.crowd->count; ++k)
        job->moved[k] = job->clock + 1;
      job->clock += 2;
    }
  }
  if (in_lanes)
    sums.seconds[how] += bench_cpu() - begun;
  return is_done;
}

static bool solve_own(system_job *job) {
  tl_ccp_part *part = &job->ccp.parts[0];
  begin_again(job);
  job->settings.iterations = 1, job->settings.iterations_max = MOST;
  const double begun = bench_cpu();
  tl_ccp_gauss_seidel(part);
  sums.seconds[OWN] += bench_cpu() - begun;
  sums.visits[OWN] += (uint64_t)part->report->iterations * part->rows.count;
  return part->report->residual_rms < job->tolerance;
}

static talus_status measure(const tl_crowd *crowd, tl_contacts *contacts) {
  system_job job = {.clock = 0};
  tl_solve_report report;
  TL_TRY(make_rows(&job, crowd, contacts, &report));
  if (job.ccp.part_count != 1)
    return TALUS_OK;
  TL_TRY(begin(&job, crowd));
  if (residual_of(&job) < job.tolerance) /* nothing to do, for any of them */
    return TALUS_OK;
  sums.systems++;
  sums.rows += contacts->count;
  const bool good[] = {solve_own(&job), solve(&job, PLAIN, false), solve(&job, PLAIN, true),
                       solve(&job, BY_ROW, false), solve(&job, BY_PACK, true)};
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i)
    sums.missed += !good[i];
  return TALUS_OK;
}

/* The solver of the world under test: measures, and then solves. */
static talus_status measure_and_solve(const tl_crowd *crowd, tl_contacts *contacts,
                                      tl_twists *twists, tl_solve_report *report) {
  if (contacts->count >= FEWEST) {
    const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
    tl_contacts copy = {.count = contacts->count, .dt = contacts->dt};
    TL_TAKE(crowd->arena, copy.count, &copy.data);
    memcpy(copy.data, contacts->data, copy.count * sizeof *copy.data);
    const talus_status status = measure(crowd, &copy);
    free(copy.hits.data);
    tl_arena_release(crowd->arena, mark);
    TL_TRY(status);
  }
  return tl_backend_cpu.solve(crowd, contacts, twists, report);
}

/* ---- scenes ---------------------------------------------------------------------------------- */

/* A pyramid of balls on a square of `side` by `side`, in a frame. */
static bool fill_balls(talus_world *world, talus_material m, int side) {
  const double r = 0.1, lift = 2 * r * sqrt(0.5) + 1e-6;
  talus_shape_def box = talus_shape_def_default(), ball = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  const double width = 2 * r * side + 2e-6 * side;
  box.kind = TALUS_CONTAINER, box.size[0] = box.size[1] = width, box.size[2] = 10;
  ball.kind = TALUS_SPHERE, ball.size[0] = r;
  body.material = m, body.kind = TALUS_FIXED, body.position = (talus_dvec3){0, 0, 5};
  bool good = talus_world_add_shape(world, &box, &body.shape) == TALUS_OK &&
              talus_world_add_body(world, &body, NULL) == TALUS_OK &&
              talus_world_add_shape(world, &ball, &body.shape) == TALUS_OK;
  body.kind = TALUS_FREE;
  for (int layer = 0; good && layer < side; ++layer)
    for (int i = 0; good && i < (side - layer) * (side - layer); ++i) {
      const double step = width / side, off = -0.5 * step * (side - layer - 1);
      body.position = (talus_dvec3){off + step * (i % (side - layer)),
                                    off + step * (i / (side - layer)), r + 1e-6 + lift * layer};
      good = talus_world_add_body(world, &body, NULL) == TALUS_OK;
    }
  return good;
}

static bool throw_ball(talus_world *world, talus_material m, talus_dvec3 at, talus_vec3 v) {
  talus_shape_def ball = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  ball.kind = TALUS_SPHERE, ball.size[0] = 0.1;
  body.material = m, body.position = at, body.velocity = v;
  return talus_world_add_shape(world, &ball, &body.shape) == TALUS_OK &&
         talus_world_add_body(world, &body, NULL) == TALUS_OK;
}

static bool measure_scene(const char *name, bool are_balls, bool is_hit, int size, double until,
                          double tolerance) {
  talus_world_def def = talus_world_def_default();
  talus_material_def stuff = talus_material_def_default();
  tl_backend backend = tl_backend_cpu;
  talus_material m;
  talus_world *world;
  def.dt = 0.01, def.step = TALUS_STEP_LOCAL, def.threads = 1;
  stuff.density = 1000, stuff.friction = 0.4, stuff.restitution = 0; /* no impacts to be solved */
  if (talus_world_create(&def, &world) != TALUS_OK)
    return false;
  memset(&sums, 0, sizeof sums);
  sums.tolerance = tolerance;
  backend.solve = measure_and_solve;
  world->backend = &backend;
  const talus_dvec3 at = {are_balls ? 0.07 : 1.4, 0.03, are_balls ? 0.15 * size + 0.3 : 0.3};
  const talus_vec3 v = {TL_R(are_balls ? 0 : -3), 0, TL_R(are_balls ? -3 : 1)};
  const bool good = talus_world_add_material(world, &stuff, &m) == TALUS_OK &&
                    (are_balls ? fill_balls(world, m, size) : local_fill_tower(world, m, size)) &&
                    (!is_hit || throw_ball(world, m, at, v)) &&
                    talus_world_step(world, (uint64_t)(until / def.dt + 0.5)) == TALUS_OK;
  const double all = fmax((double)sums.rows, 1), each = fmax((double)sums.systems, 1);
  if (!good)
    cli_error("bench local: %s: %s", name, talus_last_error());
  else
    printf("%-20s %5g %7llu %7.0f %8.1f %8.1f %8.1f %8.1f %7.1f %9.3f %9.3f %9.3f %7llu\n", name,
           tolerance, (unsigned long long)sums.systems, all / each, (double)sums.visits[OWN] / all,
           (double)sums.visits[PLAIN] / all, (double)sums.visits[BY_ROW] / all,
           (double)sums.visits[BY_PACK] / all,
           100 * (double)sums.idle / fmax((double)sums.visits[PLAIN], 1),
           1e3 * sums.seconds[OWN] / each, 1e3 * sums.seconds[PLAIN] / each,
           1e3 * sums.seconds[BY_PACK] / each, (unsigned long long)sums.missed);
  fflush(stdout);
  talus_world_destroy(world);
  return good;
}

bool bench_local_sweeps(bool quick) {
  printf("%-20s %5s %7s %7s %8s %8s %8s %8s %7s %9s %9s %9s %7s\n", "visits of a row in", "to",
         "solves", "rows", "own", "plain", "by row", "by pack", "idle", "own", "plain", "by pack",
         "missed");
  printf("%-20s %5s %7s %7s %8s %8s %8s %8s %7s %9s %9s %9s\n", "", "", "", "", "", "", "", "", "%",
         "ms", "ms", "ms");
  bool good = true;
  for (double to = 1; good && to > 1e-3; to *= 0.01)
    good =
        measure_scene("tower at rest", false, false, quick ? 32 : 160, quick ? 0.05 : 0.3, to) &&
        measure_scene("tower that is hit", false, true, quick ? 32 : 160, quick ? 0.2 : 0.5, to) &&
        measure_scene("balls at rest", true, false, quick ? 3 : 10, quick ? 0.05 : 0.3, to) &&
        measure_scene("balls that are hit", true, true, quick ? 3 : 10, quick ? 0.3 : 0.5, to);
  return good;
}
