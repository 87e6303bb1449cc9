/* talus bench penalty: balls with Hertz springs in a box, settled and poured, and the same settled
 * heap in LAMMPS (pair_style gran/hertz/history) where it is installed.
 *
 * The heap is settled by cone complementarity, as for the peers of `bench ccp`; both programs go on
 * from there with springs of the same stiffness, step, friction and restitution. */
#include "bench.h"
#include "tools.h"
#include "ccp_peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define DT 1e-4
/* steps per collision, which determine the stiffness; 10 make dashpots of a dense flow unstable */
#define LASTS 40

static double cpu_now(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
         1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int fail(const char *doing) {
  fprintf(stderr, "talus bench penalty: %s: %s\n", doing, talus_last_error());
  return 1;
}

/* Young's modulus for which a collision lasts LASTS steps at an overlap of 1 % of the diameter, as
 * for the peers of `bench ccp`. */
static double young_of(void) {
  const talus_material_def grain = talus_material_def_default();
  const double mass = grain.density * 4.18879020478639 * pow(CCP_RADIUS, 3), lasts = LASTS * DT;
  const double damping = -2 * log(0.2) / lasts;
  const double kn = 0.5 * mass * (9.8696044 / (lasts * lasts) + 0.25 * damping * damping);
  const double root = sqrt(0.5 * CCP_RADIUS * PEER_OVERLAP_MOST * 2 * CCP_RADIUS);
  return kn / (1.5 * root) * 1.5 * (1 - 0.09);
}

static bool settle(size_t bodies, long steps, int threads, peer_heap *to) {
  const ccp_recipe recipe = {.bodies = bodies, .dt = 1e-3, .iterations = 50, .threads = threads};
  ccp_heap heap;
  talus_view view;
  *to = (peer_heap){.count = bodies, .threads = threads, .settling = 0.02, .measured = 0.1};
  if (!ccp_heap_make(&recipe, &heap))
    return false;
  to->side = heap.side;
  to->x = malloc(3 * bodies * sizeof *to->x);
  bool good = to->x && talus_world_step(heap.world, (uint64_t)steps) == TALUS_OK &&
              talus_view_map(heap.world, TALUS_FIELD_POSITION, TALUS_READ, &view) == TALUS_OK;
  if (good) { /* the box is the first body */
    memcpy(to->x, (const double *)view.data + 3, 3 * bodies * sizeof *to->x);
    good = talus_view_unmap(heap.world, &view) == TALUS_OK;
  }
  ccp_heap_free(&heap);
  return good;
}

/* The heap with springs; poured: expanded upwards, and falling. */
static talus_status make_world(const peer_heap *heap, bool poured, talus_world **world) {
  talus_world_def def = talus_world_def_default();
  def.solve.kind = TALUS_SOLVE_PENALTY;
  def.solve.law = TALUS_HERTZ;
  def.dt = DT;
  def.threads = heap->threads;
  talus_material_def grain = talus_material_def_default();
  grain.restitution = 0.2, grain.young = young_of();
  talus_shape_def ball = talus_shape_def_default(), box = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  ball.size[0] = CCP_RADIUS;
  box.kind = TALUS_CONTAINER, box.open = TALUS_SIDE_TOP;
  box.size[0] = box.size[1] = heap->side, box.size[2] = 20 * heap->side;
  talus_status status = talus_world_create(&def, world);
  if (status == TALUS_OK)
    status = talus_world_add_material(*world, &grain, &body.material);
  if (status == TALUS_OK)
    status = talus_world_add_shape(*world, &box, &body.shape);
  body.kind = TALUS_FIXED, body.position.z = 10 * heap->side;
  if (status == TALUS_OK)
    status = talus_world_add_body(*world, &body, NULL);
  if (status == TALUS_OK)
    status = talus_world_add_shape(*world, &ball, &body.shape);
  body.kind = TALUS_FREE;
  for (size_t i = 0; status == TALUS_OK && i < heap->count; ++i) {
    const double *x = heap->x + 3 * i;
    body.position = (talus_dvec3){x[0], x[1], poured ? 1.5 * x[2] : x[2]};
    body.velocity.z = (talus_real)(poured ? -1 : 0);
    status = talus_world_add_body(*world, &body, NULL);
  }
  return status;
}

static talus_status measure(const peer_heap *heap, bool poured, long rest, long steps,
                            double *speed) {
  talus_world *world = NULL;
  talus_report report;
  size_t before, bytes;
  talus_memory(&before, NULL);
  talus_status status = make_world(heap, poured, &world);
  if (status == TALUS_OK)
    status = talus_world_step(world, (uint64_t)rest);
  const double begun = bench_now(), cpu = cpu_now();
  if (status == TALUS_OK)
    status = talus_world_step(world, (uint64_t)steps);
  const double wall = bench_now() - begun, used = cpu_now() - cpu;
  if (status == TALUS_OK)
    status = talus_world_report(world, &report);
  if (status == TALUS_OK) {
    const double n = (double)heap->count * (double)steps;
    talus_memory(&bytes, NULL);
    *speed = 1e-6 * n / wall;
    printf("%-14s %8zu %8d %9.2f %9.0f %9.2f %9.0f\n", poured ? "talus poured" : "talus settled",
           heap->count, heap->threads, *speed, 1e9 * used / n,
           (double)report.contacts / (double)heap->count,
           (double)(bytes - before) / fmax(1, (double)report.contacts));
    fflush(stdout);
  }
  talus_world_destroy(world);
  return status;
}

static void measure_lammps(peer_heap *heap, double talus) {
  if (!peer_has_program("lmp") || !peer_has_program("mpirun")) {
    printf("LAMMPS (lmp, mpirun) is not installed\n");
    return;
  }
  peer_trial trial = {.dt = DT, .setting = LASTS};
  if (!peer_make_folder(heap))
    return;
  if (peer_run_lammps_hertz(NULL, heap, &trial) && trial.simulated > 0) {
    const double speed = 1e-6 * trial.simulated / DT * (double)heap->count;
    printf("%-14s %8zu %8d %9.2f %9s %9s %9s   talus settled: %.2f times\n", "lammps settled",
           heap->count, heap->threads, speed, "", "", "", talus / speed);
  } else {
    printf("LAMMPS failed\n");
  }
  peer_remove_folder(heap);
}

static int usage(void) {
  fputs("usage: talus bench penalty [--bodies N] [--threads N] [--settle STEPS] [--steps STEPS]\n"
        "  Balls with Hertz springs in a box, settled and poured: million particle-steps per wall "
        "second,\n"
        "  nanoseconds of processor time per particle and step, contacts per ball, bytes per "
        "contact (all\n"
        "  memory of the world); and LAMMPS gran/hertz/history on the settled heap.\n"
        "  Defaults: --bodies 20000 --threads 2 --settle 500 --steps 1000\n",
        stderr);
  return 2;
}

int bench_penalty(int argc, char **argv) {
  long bodies = 20000, threads = 2, rest = 500, steps = 1000;
  for (int i = 1; i < argc; i += 2) {
    char *end = NULL;
    const long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
    if (value <= 0 || *end)
      return usage();
    if (strcmp(argv[i], "--bodies") == 0)
      bodies = value;
    else if (strcmp(argv[i], "--threads") == 0)
      threads = value;
    else if (strcmp(argv[i], "--settle") == 0)
      rest = value;
    else if (strcmp(argv[i], "--steps") == 0)
      steps = value;
    else
      return usage();
  }
  peer_heap heap = {0};
  if (!settle((size_t)bodies, rest, (int)threads, &heap))
    return fail("settling");
  printf("%-14s %8s %8s %9s %9s %9s %9s\n", "", "bodies", "threads", "Mps/s", "ns CPU", "contacts",
         "bytes");
  double poured = 0, settled = 0;
  talus_status status = measure(&heap, true, 200, steps, &poured);
  if (status == TALUS_OK)
    status = measure(&heap, false, 200, steps, &settled);
  if (status == TALUS_OK)
    measure_lammps(&heap, settled);
  free(heap.x);
  return status == TALUS_OK ? 0 : fail("stepping");
}
