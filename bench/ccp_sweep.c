/* The time of an iteration. The same step is solved with few iterations and with many: the
 * difference is that of iterations alone, without loading and colouring rows and measuring the
 * end. */
#include <math.h>

#include "ccp.h"
#include "solve/ccp/gradient.h"
#include "world/world.h"

enum { FEW = 10, MANY = 50 };

/* Bytes per contact that a product must move if every pass over memory moves each cache line once:
 * projected step: rows, and the impulses from, mark and to; gather: normals of rows, impulses of
 * both iterates, entries; mixing of iterates; and the share of a contact in the bodies read and
 * written. */
static double product_bytes(int method, double contacts_per_body) {
  const double row = sizeof(tl_ccp_pack) / (double)TL_CCP_LANES;
  const double field = sizeof(tl_ccp_field) / (double)TL_CCP_LANES;
  const double body = sizeof(tl_ccp_body) / contacts_per_body;
  double bytes = row + 2 * field;                  /* step: rows, from, to */
  bytes += row + 2 * field + 2 * sizeof(uint32_t); /* gather: rows, p, q, entries */
  bytes += 3 * body; /* velocities read by rows; free ones, new ones */
  if (method == TALUS_APGD)
    bytes += field + 3 * field + 3 * body; /* mark; extrapolated = mix of now and next */
  return bytes;
}

/* Gauss-Seidel: rows are read and impulses written; bodies of a contact may be in the cache. */
static double sweep_bytes(double contacts_per_body) {
  const double row = sizeof(tl_ccp_pack) / (double)TL_CCP_LANES;
  const double field = sizeof(tl_ccp_field) / (double)TL_CCP_LANES;
  return row + field + 2 * sizeof(tl_ccp_body) / contacts_per_body;
}

/* Median time of the solver in a step from the snapshot, s. */
static bool time_solve(ccp_heap *heap, const ccp_snapshot *start, int method, int count, int repeat,
                       double *seconds, ccp_times *times) {
  double all[9];
  for (int i = 0; i < repeat; ++i) {
    if (!ccp_snapshot_restore(heap, start))
      return false;
    ccp_heap_solve_with(heap, method, count, true);
    if (!ccp_measure(heap, 1, times))
      return false;
    all[i] = times->solve;
  }
  *seconds = ccp_median(all, repeat);
  return true;
}

/* Median time of sorting the contacts of the last step for the solver: bodies in spatial order and
 * tiles, islands, colours, s. */
static bool time_ordering(ccp_heap *heap, int repeat, double *seconds, size_t *colours) {
  talus_world *world = heap->world;
  double all[9];
  for (int i = 0; i < repeat; ++i) {
    const tl_crowd crowd = {.model = &world->model,
                            .count = world->model.bodies,
                            .in = &world->state,
                            .arena = &world->arena};
    tl_system system = {.model = &world->model,
                        .crowd = &crowd,
                        .settings = &world->model.solve,
                        .contacts = &world->contacts};
    tl_ccp job = {.system = &system};
    const tl_arena_mark mark = tl_arena_get_mark(&world->arena);
    const double begun = ccp_now();
    if (tl_system_order(&system) != TALUS_OK || tl_ccp_plan_parts(&job, NULL, NULL, 0) != TALUS_OK)
      return ccp_fail("ordering");
    all[i] = ccp_now() - begun;
    *colours = 0;
    for (size_t k = 0; k < job.part_count; ++k)
      *colours += job.parts[k].colours.count;
    tl_arena_release(&world->arena, mark);
  }
  *seconds = ccp_median(all, repeat);
  return true;
}

typedef struct machine {
  int threads;
  double triad; /* bytes/s */
  FILE *csv;
} machine;

static bool one_method(ccp_heap *heap, const ccp_snapshot *start, int method, int repeat,
                       const machine *on) {
  double few, many;
  ccp_times times;
  if (!time_solve(heap, start, method, FEW, repeat, &few, &times) ||
      !time_solve(heap, start, method, MANY, repeat, &many, &times))
    return false;
  const double each = (many - few) / (MANY - FEW), ns = 1e9 * each / times.contacts;
  const double per_body = times.contacts / (double)heap->bodies;
  const double bytes =
      method == TALUS_GAUSS_SEIDEL ? sweep_bytes(per_body) : product_bytes(method, per_body);
  const double share = bytes * times.contacts / each / on->triad;
  printf("%8zu %7d  %-12s %9.0f %10.2f %10.2f %8.0f %8.2f %8.2f %9.2e\n", heap->bodies, on->threads,
         ccp_method_name(method), times.contacts, ns, ns * on->threads, bytes, bytes / ns, share,
         times.residual_rms);
  fflush(stdout);
  if (on->csv)
    fprintf(on->csv, "%zu,%d,%s,%g,%g,%g,%g,%g,%g\n", heap->bodies, on->threads,
            ccp_method_name(method), times.contacts, ns, ns * on->threads, bytes, share,
            times.residual_rms);
  return true;
}

/* Usual steps of 20 sweeps, and the part of a solve that is not sweeps. */
static bool steps_and_order(ccp_heap *heap, const ccp_snapshot *start, long steps, int repeat,
                            const machine *on) {
  double twenty, none, ordering = NAN;
  size_t colours = 0;
  ccp_times times, moving;
  if (!time_solve(heap, start, TALUS_GAUSS_SEIDEL, 20, repeat, &twenty, &times) ||
      !time_solve(heap, start, TALUS_GAUSS_SEIDEL, 0, repeat, &none, &times) ||
      !time_ordering(heap, repeat, &ordering, &colours) || !ccp_snapshot_restore(heap, start))
    return false;
  ccp_heap_solve_with(heap, TALUS_GAUSS_SEIDEL, 20, true);
  if (!ccp_measure(heap, steps, &moving))
    return false;
  printf("%8zu %7d  20 sweeps: %.3f M body-steps/s (%.2f ms: broad %.2f, narrow %.2f, solve %.2f), "
         "RMS residual %.2e m/s;\n%18s ordering, islands and colours %.2f ms = %.1f %% of the "
         "solve (%zu "
         "colours), all but sweeps %.1f %%\n",
         heap->bodies, on->threads, 1e-6 * (double)heap->bodies / moving.total, 1e3 * moving.total,
         1e3 * moving.broad, 1e3 * moving.narrow, 1e3 * moving.solve, moving.residual_rms, "",
         1e3 * ordering, 100 * ordering / twenty, colours, 100 * none / twenty);
  fflush(stdout);
  if (on->csv)
    fprintf(on->csv, "%zu,%d,%s,%g,%g,%g,%g,%g,%g\n", heap->bodies, on->threads, "body-steps/s",
            times.contacts, (double)heap->bodies / moving.total, 100 * ordering / twenty,
            100 * none / twenty, NAN, moving.residual_rms);
  return true;
}

static bool run_heap(ccp_bench *bench, size_t bodies, machine *on) {
  const ccp_options *options = &bench->options;
  const ccp_recipe recipe = {
      .bodies = bodies, .dt = 1e-3, .iterations = 20, .threads = on->threads};
  const long settle = options->settle > 0 ? options->settle : options->quick ? 40 : 400;
  const long steps = options->steps > 0 ? options->steps : options->quick ? 3 : 50;
  const int repeat = options->quick ? 1 : 5;
  ccp_heap heap;
  ccp_snapshot start;
  if (!ccp_heap_make(&recipe, &heap))
    return false;
  bool good = talus_world_step(heap.world, (uint64_t)settle) == TALUS_OK || ccp_fail("settling");
  if (good && ccp_snapshot_take(&heap, &start)) {
    for (int method = 0; method < CCP_METHODS && good; ++method)
      if (options->method[method])
        good = one_method(&heap, &start, method, repeat, on);
    good = good && steps_and_order(&heap, &start, steps, repeat, on);
    ccp_snapshot_free(&start);
  } else {
    good = false;
  }
  ccp_heap_free(&heap);
  return good;
}

bool ccp_sweeps(ccp_bench *bench) {
  const ccp_options *options = &bench->options;
  const size_t sizes[] = {20000, 100000};
  machine on;
  if (!bench_csv_open(bench->folder, "sweep",
                      "bodies,threads,method,contacts,ns_per_contact,ns_per_contact_and_core,bytes_"
                      "per_contact,share_of_triad,residual_rms",
                      &on.csv))
    return false;
  printf(
      "Settled spheres: wall time of an iteration per contact, and times threads (goal of\n"
      "gauss-seidel: 15 ns per core); bytes: what must pass if nothing stays in a cache, also as\n"
      "GB/s and as a share of the triad's, measured here.\n");
  bool good = true;
  for (on.threads = 1; good && on.threads <= options->threads; on.threads *= 2) {
    on.triad = ccp_triad(on.threads, options->quick);
    printf("triad on %d thread%s: %.1f GB/s\n", on.threads, on.threads == 1 ? "" : "s",
           1e-9 * on.triad);
    printf("%8s %7s  %-12s %9s %10s %10s %8s %8s %8s %9s\n", "bodies", "threads", "method",
           "contacts", "ns", "ns x core", "bytes", "GB/s", "of triad", "res rms");
    for (int i = 0; i < 2 && good; ++i)
      if (sizes[i] <= options->max || i == 0)
        good = run_heap(bench, sizes[i] < options->max ? sizes[i] : options->max, &on);
  }
  return bench_csv_close(on.csv) && good;
}
