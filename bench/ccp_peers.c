/* The table `peers`: talus and other programs on the same settled heap, each with its largest step
 * that passes. */
#include "ccp_peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct choice {
  double dt;
  int setting;
} choice;
#define MOST_CHOICES 32 /* of a program */

/* Fastest first; the first one that passes counts. Solvers: step and sweeps; 0 ends the list. The
 * rest of a step costs about as much as 25 sweeps. */
static const choice for_solvers[] = {
    {1e-2, 20}, {1e-2, 50},  {5e-3, 20},   {4e-3, 20},  {1e-2, 100}, {3e-3, 20},
    {5e-3, 50}, {4e-3, 35},  {2.5e-3, 20}, {3e-3, 30},  {4e-3, 50},  {2e-3, 20},
    {3e-3, 50}, {5e-3, 100}, {2e-3, 30},   {2e-3, 50},  {1e-3, 20},  {2e-3, 100},
    {1e-3, 50}, {1e-3, 100}, {5e-4, 50},   {5e-4, 100}, {0, 0}};
/* Bullet: the rest of a step costs about as much as 100 sweeps. */
static const choice for_bullet[] = {{2e-3, 20},  {2e-3, 50},   {2e-3, 100}, {1e-3, 20}, {1e-3, 50},
                                    {2e-3, 200}, {1e-3, 100},  {5e-4, 20},  {5e-4, 30}, {5e-4, 50},
                                    {1e-3, 200}, {2.5e-4, 50}, {1e-4, 100}, {0, 0}};
/* Penalty methods: step, and steps per collision, which determine the stiffness: fewer are
 * stiffer. */
static const choice for_springs[] = {{3e-4, 6}, {2e-4, 6},  {1.5e-4, 6}, {1.2e-4, 6},
                                     {1e-4, 6}, {1e-4, 10}, {7e-5, 6},   {7e-5, 10},
                                     {5e-5, 6}, {5e-5, 10}, {3e-5, 10},  {0, 0}};

static const struct {
  const char *name, *program;
  const choice *choices;
  peer_run_fn *run;
} peers[] = {
    {"talus", NULL, for_solvers, peer_run_talus},
    {"lammps-hooke", "lmp", for_springs, peer_run_lammps_hooke},
    {"lammps-hertz", "lmp", for_springs, peer_run_lammps_hertz},
    {"liggghts", "liggghts", for_springs, peer_run_liggghts},
    {"bullet", NULL, for_bullet, peer_run_bullet},
};
#define PEERS (sizeof peers / sizeof *peers)

const char *ccp_peer_name(size_t i) { return i < PEERS ? peers[i].name : NULL; }

bool peer_passes(const peer_trial *trial) {
  return trial->simulated > 0 && trial->overlap <= PEER_OVERLAP_MOST &&
         fabs(trial->base_error) <= PEER_FORCE_MOST;
}

/* ---- the heap -------------------------------------------------------------------------------- */

/* Settled by talus; every program continues from there. */
static bool make_heap(const ccp_bench *bench, size_t bodies, peer_heap *to) {
  const ccp_options *options = &bench->options;
  const long settle = options->settle > 0 ? options->settle : options->quick ? 100 : 500;
  const ccp_recipe recipe = {
      .bodies = bodies, .dt = 1e-3, .iterations = 50, .threads = options->threads};
  ccp_heap heap;
  *to = (peer_heap){.count = bodies,
                    .threads = options->threads,
                    .settling = options->quick ? 0.02 : 0.5,
                    .measured = options->quick ? 0.02 : 0.3};
  if (!ccp_heap_make(&recipe, &heap))
    return false;
  to->side = heap.side;
  to->x = malloc(3 * bodies * sizeof *to->x);
  talus_view view;
  bool good = to->x != NULL;
  if (!good)
    fprintf(stderr, "talus bench ccp: out of memory\n");
  good =
      good && (talus_world_step(heap.world, (uint64_t)settle) == TALUS_OK || ccp_fail("settling"));
  if (good && talus_view_map(heap.world, TALUS_FIELD_POSITION, TALUS_READ, &view) == TALUS_OK) {
    /* The box is the first body. */
    memcpy(to->x, (const double *)view.data + 3, 3 * bodies * sizeof *to->x);
    good = talus_view_unmap(heap.world, &view) == TALUS_OK;
  }
  ccp_heap_free(&heap);
  return good;
}

bool peer_make_folder(peer_heap *heap) {
  const char *where = getenv("TMPDIR");
  snprintf(heap->folder, sizeof heap->folder, "%s/talus-bench-XXXXXX",
           where && *where ? where : "/tmp");
  if (mkdtemp(heap->folder))
    return true;
  fprintf(stderr, "talus bench ccp: %s cannot be made\n", heap->folder);
  return false;
}

void peer_remove_folder(const peer_heap *heap) {
  static const char *const names[] = {"in.heap",   "heap.data",  "heap.bin",    "out.txt",
                                      "final.txt", "log.lammps", "log.liggghts"};
  char path[600];
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    snprintf(path, sizeof path, "%s/%s", heap->folder, names[i]);
    unlink(path);
  }
  rmdir(heap->folder);
}

/* ---- trials ---------------------------------------------------------------------------------- */

static bool is_here(const ccp_bench *bench, size_t bodies, size_t which) {
  const char *wanted = bench->options.peer;
  if (which > 0 && wanted && strcmp(wanted, peers[which].name) != 0)
    return false;
  if (peers[which].run == peer_run_bullet) /* a trial with more bodies takes minutes */
    return peer_has_bullet(bench) && (bodies <= 20000 || wanted);
  return !peers[which].program ||
         (peer_has_program(peers[which].program) && peer_has_program("mpirun"));
}

static void print_trial(size_t bodies, const char *name, const peer_trial *trial, double talus,
                        FILE *csv) {
  const bool passes = peer_passes(trial);
  printf("%8zu  %-13s %9.2e %8d %9ld %9.3f %9.3f %10.2e %11.5f %9.2f %s", bodies, name, trial->dt,
         trial->setting, trial->steps, 100 * trial->overlap, 100 * trial->base_error,
         trial->residual, trial->simulated, 1e-6 * trial->simulated / trial->dt * (double)bodies,
         passes ? "yes" : "no ");
  if (passes && talus > 0)
    printf(" %7.1f", talus / trial->simulated);
  putchar('\n');
  fflush(stdout);
  if (csv)
    fprintf(csv, "%zu,%s,%g,%d,%ld,%g,%g,%g,%g,%d\n", bodies, name, trial->dt, trial->setting,
            trial->steps, trial->overlap, trial->base_error, trial->residual, trial->simulated,
            passes);
}

/* True if a choice will fail because another one failed with too large an overlap: a trial takes
 * minutes. The overlap of springs grows with the duration of a collision, squared for linear ones,
 * to the power 5/3 for Hertz's; 2.5 is on the safe side. For Bullet it grew with the step and fell
 * with the sweeps to powers of 1 to 1.7; here squares are assumed for effects that reduce the
 * overlap, and none for those that increase it. A heap that came apart says nothing. */
static bool is_hopeless(const choice *choices, const choice *c, const peer_trial *failed) {
  const double dt = c->dt / failed->dt, setting = (double)c->setting / failed->setting;
  double factor = 0;
  if (!(failed->overlap > PEER_OVERLAP_MOST && failed->overlap < 0.2))
    return false;
  if (choices == for_springs)
    factor = pow(fmin(dt * setting, 1), 2.5);
  else if (choices == for_bullet)
    factor = pow(fmin(dt, 1) / fmax(setting, 1), 2);
  return failed->overlap * factor > 1.1 * PEER_OVERLAP_MOST;
}

/* Finds the first choice from `first` on that passes, and shows all that were tried. `first` is set
 * to it: a choice too coarse for a heap, or one where balls flew off, is so for a larger heap,
 * which is deeper. */
static void find_step(const ccp_bench *bench, const peer_heap *heap, size_t which, int *first,
                      double *best, FILE *csv) {
  const choice *const choices = peers[which].choices;
  const int most = bench->options.quick ? 3 : MOST_CHOICES;
  peer_trial failed[MOST_CHOICES];
  for (int i = *first, tried = 0; choices[i].dt > 0 && tried < most; ++i) {
    bool hopeless = false;
    for (int k = 0; k < tried && !hopeless; ++k)
      hopeless = is_hopeless(choices, &choices[i], &failed[k]);
    if (hopeless)
      continue;
    peer_trial trial = {.dt = choices[i].dt, .setting = choices[i].setting, .residual = NAN};
    if (!peers[which].run(bench, heap, &trial))
      trial.simulated = 0;
    print_trial(heap->count, peers[which].name, &trial, which ? best[0] : 0, csv);
    if (peer_passes(&trial)) {
      best[which] = trial.simulated;
      *first = i;
      return;
    }
    failed[tried++] = trial;
  }
}

static bool run_heap(const ccp_bench *bench, size_t bodies, int *first, double *best, FILE *csv) {
  peer_heap heap;
  bool good = make_heap(bench, bodies, &heap) && peer_make_folder(&heap);
  for (size_t i = 0; i < PEERS && good; ++i) {
    best[i] = NAN;
    if (is_here(bench, bodies, i))
      find_step(bench, &heap, i, &first[i], best, csv);
  }
  if (*heap.folder)
    peer_remove_folder(&heap);
  free(heap.x);
  return good;
}

static bool draw(const ccp_bench *bench, const size_t *sizes, double best[][PEERS], int count) {
  ccp_curve curves[PEERS];
  for (size_t k = 0; k < PEERS; ++k) {
    curves[k] = (ccp_curve){.colour = (int)k, .dashed = k > 0};
    snprintf(curves[k].name, sizeof curves[k].name, "%s", peers[k].name);
    for (int i = 0; i < count; ++i) {
      curves[k].x[curves[k].points] = (double)sizes[i];
      curves[k].y[curves[k].points++] = best[i][k];
    }
  }
  char path[600];
  snprintf(path, sizeof path, "%s/peers.svg", bench->folder);
  if (ccp_plot(path, "A settled heap: simulated seconds per wall second", "spheres", "s/s", curves,
               (int)PEERS))
    return true;
  fprintf(stderr, "talus bench ccp: %s could not be written\n", path);
  return false;
}

bool ccp_peers(ccp_bench *bench) {
  const size_t sizes[] = {bench->options.max < 20000 ? bench->options.max : 20000, 100000};
  const int count = bench->options.max >= 100000 ? 2 : 1;
  double best[2][PEERS];
  int first[PEERS] = {0};
  FILE *csv;
  if (!bench_csv_open(
          bench->folder, "peers",
          "bodies,program,dt,setting,steps,overlap,base_error,residual_rms,simulated_per_"
          "wall,passes",
          &csv))
    return false;
  printf("A settled heap in every program, %d threads or ranks: the first step that passes, i.e.\n"
         "overlap at most 1 %% of the diameter, mean force on the box within 1 %% of the weight.\n"
         "setting: sweeps, or steps per collision (penalty); s/s: simulated per wall second.\n"
         "%8s  %-13s %9s %8s %9s %9s %9s %10s %11s %9s %s %7s\n",
         bench->options.threads, "bodies", "program", "dt [s]", "setting", "steps", "overlap %",
         "force %", "res rms", "s/s", "M steps/s", "pass", "talus x");
  bool good = true;
  for (int i = 0; i < count && good; ++i)
    good = run_heap(bench, sizes[i], first, best[i], csv);
  good = bench_csv_close(csv) && good;
  return good && (!bench->folder || draw(bench, sizes, best, count));
}
