/* Trials: talus in this process, others as separate programs, with scripts written here. */
#include "ccp_peers.h"
#include "peer_pipe.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <talus/detect.h>

#define DIAMETER (2 * CCP_RADIUS)
#define GRAVITY  9.81

static long steps_of(double seconds, double dt) { return (long)ceil(seconds / dt - 1e-9); }

/* ---- overlaps -------------------------------------------------------------------------------- */

static double wall_overlap(const peer_heap *heap, const double *x) {
  double deepest = -INFINITY;
  for (size_t i = 0; i < heap->count; ++i) {
    const double aside = fmax(fabs(x[3 * i]), fabs(x[3 * i + 1])) - 0.5 * heap->side;
    deepest = fmax(deepest, CCP_RADIUS + fmax(aside, -x[3 * i + 2]));
  }
  return deepest;
}

bool peer_overlap(const peer_heap *heap, const double *x, double *deepest) {
  const talus_detect_def def = talus_detect_def_default();
  talus_detector *detector = NULL;
  talus_box *boxes = malloc(heap->count * sizeof *boxes);
  talus_pairs pairs;
  talus_detect_stats stats;
  bool good = boxes && talus_detector_create(&def, &detector) == TALUS_OK;
  for (size_t i = 0; good && i < heap->count; ++i) {
    const double *at = x + 3 * i, r = CCP_RADIUS;
    boxes[i] = (talus_box){{at[0] - r, at[1] - r, at[2] - r}, {at[0] + r, at[1] + r, at[2] + r}};
    good = isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
  }
  good = good &&
         talus_detector_find_box_pairs(detector, boxes, heap->count, &pairs, &stats) == TALUS_OK;
  if (good) {
    *deepest = wall_overlap(heap, x);
    for (size_t i = 0; i < pairs.count; ++i) {
      const double *a = x + 3 * (size_t)pairs.data[i].a, *b = x + 3 * (size_t)pairs.data[i].b;
      const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
      *deepest = fmax(*deepest, DIAMETER - sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    *deepest = fmax(*deepest, 0) / DIAMETER;
  }
  talus_detector_destroy(detector);
  free(boxes);
  return good;
}

/* ---- talus ----------------------------------------------------------------------------------- */

static talus_status place(talus_world *world, const peer_heap *heap) {
  talus_view view;
  talus_status status = talus_view_map(world, TALUS_FIELD_POSITION, TALUS_WRITE, &view);
  if (status != TALUS_OK)
    return status;
  memcpy((double *)view.data + 3, heap->x, 3 * heap->count * sizeof *heap->x);
  status = talus_view_unmap(world, &view);
  if (status == TALUS_OK)
    status = talus_view_map(world, TALUS_FIELD_VELOCITY, TALUS_WRITE, &view);
  if (status != TALUS_OK)
    return status;
  memset(view.data, 0, view.rows * 3 * sizeof(talus_real));
  return talus_view_unmap(world, &view);
}

static double weight_of(const peer_heap *heap) {
  const talus_material_def grain = talus_material_def_default();
  return GRAVITY * (double)heap->count * grain.density * 4.18879020478639 * CCP_RADIUS *
         CCP_RADIUS * CCP_RADIUS;
}

bool peer_run_talus(const ccp_bench *bench, const peer_heap *heap, peer_trial *trial) {
  (void)bench;
  const ccp_recipe recipe = {.bodies = heap->count,
                             .side = heap->side,
                             .dt = trial->dt,
                             .iterations = trial->setting,
                             .threads = heap->threads,
                             .stops = true};
  ccp_heap made;
  talus_probe_values before, force;
  ccp_times times;
  talus_view view;
  trial->steps = steps_of(heap->measured, trial->dt);
  if (!ccp_heap_make(&recipe, &made))
    return false;
  bool good =
      place(made.world, heap) == TALUS_OK &&
      talus_world_step(made.world, (uint64_t)steps_of(heap->settling, trial->dt)) == TALUS_OK &&
      talus_probe_read(made.world, made.probe, &before) == TALUS_OK &&
      ccp_measure(&made, trial->steps, &times) &&
      talus_probe_read(made.world, made.probe, &force) == TALUS_OK &&
      talus_view_map(made.world, TALUS_FIELD_POSITION, TALUS_READ, &view) == TALUS_OK;
  if (good) {
    good = peer_overlap(heap, (const double *)view.data + 3, &trial->overlap) &&
           talus_view_unmap(made.world, &view) == TALUS_OK;
    trial->base_error = -force.force[2] / weight_of(heap) - 1;
    trial->simulated = trial->dt / times.total;
    trial->residual = times.residual_rms;
  }
  ccp_heap_free(&made);
  return good;
}

/* ---- other programs -------------------------------------------------------------------------- */

bool peer_has_program(const char *name) {
  const char *path = getenv("PATH");
  char list[4096], file[4500];
  snprintf(list, sizeof list, "%s", path ? path : "");
  char *rest = NULL;
  for (char *folder = strtok_r(list, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
    snprintf(file, sizeof file, "%s/%s", folder, name);
    if (access(file, X_OK) == 0)
      return true;
  }
  return false;
}

static void become(const peer_heap *heap, char *const *arguments, pid_t parent) {
  setpgid(0, 0);                /* so that its own children can be ended with it */
  peer_die_with_parent(parent); /* Ctrl-C reaches only the parent */
  if (chdir(heap->folder) != 0)
    _exit(127);
  const int out = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out >= 0) {
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
  }
  setenv("OMP_NUM_THREADS", "1", 1);
  if (geteuid() == 0) { /* Open MPI does not run as root without these variables */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  execvp(arguments[0], arguments);
  _exit(127);
}

bool peer_execute(const peer_heap *heap, char *const *arguments, double patience) {
  fflush(NULL);
  const pid_t own = getpid(), child = fork();
  if (child < 0)
    return false;
  if (child == 0)
    become(heap, arguments, own);
  const double begun = ccp_now();
  const struct timespec nap = {0, 20 * 1000 * 1000};
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (ccp_now() - begun > patience) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    nanosleep(&nap, NULL);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static FILE *open_in(const peer_heap *heap, const char *name, const char *mode) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", heap->folder, name);
  FILE *file = fopen(path, mode);
  if (!file)
    fprintf(stderr, "talus bench ccp: %s cannot be opened\n", path);
  return file;
}

size_t peer_read_centres(const peer_heap *heap, double *x) {
  char line[512];
  FILE *file = open_in(heap, "final.txt", "r");
  bool found = false;
  size_t n = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (found && n < heap->count &&
        sscanf(line, "%lf %lf %lf", &x[3 * n], &x[3 * n + 1], &x[3 * n + 2]) == 3)
      n++;
    found = found || strncmp(line, "ITEM: ATOMS", 11) == 0;
  }
  if (file)
    fclose(file);
  return n;
}

bool peer_read_result(const peer_heap *heap, peer_trial *trial) {
  char line[512];
  double vcm[2] = {NAN, NAN}, loop = NAN;
  FILE *file = open_in(heap, "out.txt", "r");
  while (file && fgets(line, sizeof line, file)) {
    double value;
    if (sscanf(line, "talus_vcm %lf", &value) == 1) {
      vcm[0] = vcm[1];
      vcm[1] = value;
    } else if (sscanf(line, "Loop time of %lf", &value) == 1) {
      loop = value;
    }
  }
  if (file)
    fclose(file);
  const double seconds = (double)trial->steps * trial->dt;
  double *x = malloc(3 * heap->count * sizeof *x);
  const bool good = x && loop > 0 && isfinite(vcm[0]) &&
                    peer_read_centres(heap, x) == heap->count &&
                    peer_overlap(heap, x, &trial->overlap);
  free(x);
  /* The force on the box is the weight plus the change of momentum. */
  trial->base_error = (vcm[1] - vcm[0]) / (GRAVITY * seconds);
  trial->simulated = good ? seconds / loop : 0;
  return good;
}

/* ---- LAMMPS and LIGGGHTS --------------------------------------------------------------------- */

/* Stiffness for a collision of that number of steps, damping for a restitution of 0.2. */
typedef struct spring {
  double kn, gn;          /* linear: N/m, 1/s */
  double hertz, hertz_gn; /* Hertz: Pa, 1/(m s), the same at the largest overlap allowed */
  double young;           /* Pa, poisson 0.3 */
} spring;

static spring spring_for(const peer_heap *heap, const peer_trial *trial) {
  const double mass = weight_of(heap) / (GRAVITY * (double)heap->count);
  const double lasts = trial->setting * trial->dt, reduced = 0.5 * mass;
  const double damping = -2 * log(0.2) / lasts;
  const double deep = PEER_OVERLAP_MOST * DIAMETER, root = sqrt(0.5 * CCP_RADIUS * deep);
  spring s;
  /* half a period of m'' + gn' + kn: pi / sqrt(kn/m - gn^2/4) */
  s.kn = reduced * (9.8696044 / (lasts * lasts) + 0.25 * damping * damping);
  s.gn = damping;
  s.hertz = s.kn / (1.5 * root);
  s.hertz_gn = damping / root;
  s.young = s.hertz * 1.5 * (1 - 0.09);
  return s;
}

static bool write_data(const peer_heap *heap) {
  const talus_material_def grain = talus_material_def_default();
  const double half = 0.5 * heap->side;
  FILE *file = open_in(heap, "heap.data", "w");
  double high = 0;
  if (!file)
    return false;
  for (size_t i = 0; i < heap->count; ++i)
    high = fmax(high, heap->x[3 * i + 2]);
  fprintf(file,
          "heap of talus bench ccp\n\n%zu atoms\n1 atom types\n\n%.17g %.17g xlo xhi\n"
          "%.17g %.17g ylo yhi\n0 %.17g zlo zhi\n\nAtoms\n\n",
          heap->count, -half, half, -half, half, high + 10 * DIAMETER);
  for (size_t i = 0; i < heap->count; ++i)
    fprintf(file, "%zu 1 %.17g %.17g %.17g %.17g %.17g\n", i + 1, DIAMETER, grain.density,
            heap->x[3 * i], heap->x[3 * i + 1], heap->x[3 * i + 2]);
  return fclose(file) == 0;
}

static void write_runs(FILE *file, const peer_heap *heap, const peer_trial *trial) {
  fprintf(file,
          "timestep %.17g\n"
          "fix move all nve/sphere\n"
          "fix weight all gravity %.17g vector 0 0 -1\n"
          "variable down equal vcm(all,z)\n"
          "thermo 1000000\n"
          "run %ld\n"
          "print \"talus_vcm ${down}\"\n"
          "run %ld\n"
          "print \"talus_vcm ${down}\"\n"
          "write_dump all custom final.txt x y z\n",
          trial->dt, GRAVITY, steps_of(heap->settling, trial->dt), trial->steps);
}

static bool run_script(const peer_heap *heap, const char *program, peer_trial *trial) {
  char ranks[16], name[32];
  static char mpirun[] = "mpirun", np[] = "-np", in[] = "-in", script[] = "in.heap";
  snprintf(ranks, sizeof ranks, "%d", heap->threads);
  snprintf(name, sizeof name, "%s", program);
  char *arguments[] = {mpirun, np, ranks, name, in, script, NULL};
  char old[600];
  snprintf(old, sizeof old, "%s/final.txt", heap->folder);
  unlink(old);
  return peer_execute(heap, arguments, 1800) && peer_read_result(heap, trial);
}

static bool run_lammps(const peer_heap *heap, peer_trial *trial, bool hertz) {
  const spring s = spring_for(heap, trial);
  const double kn = hertz ? s.hertz : s.kn, gn = hertz ? s.hertz_gn : s.gn;
  const double half = 0.5 * heap->side;
  const char *law = hertz ? "hertz/history" : "hooke/history";
  trial->steps = steps_of(heap->measured, trial->dt);
  if (!write_data(heap))
    return false;
  FILE *file = open_in(heap, "in.heap", "w");
  if (!file)
    return false;
  fprintf(file,
          "units si\natom_style sphere\nboundary f f f\nnewton off\ncomm_modify vel yes\n"
          "read_data heap.data\nneighbor %.17g bin\nneigh_modify delay 0 every 1 check yes\n"
          "pair_style gran/%s %.17g NULL %.17g NULL 0.5 1\npair_coeff * *\n",
          0.15 * DIAMETER, law, kn, gn);
  for (int i = 0; i < 5; ++i)
    fprintf(file, "fix wall%d all wall/gran %s %.17g NULL %.17g NULL 0.5 1 %cplane %s %.17g %s\n",
            i, law, kn, gn, "xxyyz"[i], i % 2 ? "NULL" : "",
            i == 4  ? 0
            : i % 2 ? half
                    : -half,
            i % 2 ? "" : "NULL");
  write_runs(file, heap, trial);
  return fclose(file) == 0 && run_script(heap, "lmp", trial);
}

bool peer_run_lammps_hooke(const ccp_bench *bench, const peer_heap *heap, peer_trial *trial) {
  (void)bench;
  return run_lammps(heap, trial, false);
}

bool peer_run_lammps_hertz(const ccp_bench *bench, const peer_heap *heap, peer_trial *trial) {
  (void)bench;
  return run_lammps(heap, trial, true);
}

bool peer_run_liggghts(const ccp_bench *bench, const peer_heap *heap, peer_trial *trial) {
  (void)bench;
  const spring s = spring_for(heap, trial);
  const double half = 0.5 * heap->side;
  trial->steps = steps_of(heap->measured, trial->dt);
  FILE *file = write_data(heap) ? open_in(heap, "in.heap", "w") : NULL;
  if (!file)
    return false;
  fprintf(file,
          "atom_style granular\natom_modify map array\nboundary f f f\nnewton off\n"
          "communicate single vel yes\nunits si\nread_data heap.data\nneighbor %.17g bin\n"
          "neigh_modify delay 0\n"
          "fix m1 all property/global youngsModulus peratomtype %.17g\n"
          "fix m2 all property/global poissonsRatio peratomtype 0.3\n"
          "fix m3 all property/global coefficientRestitution peratomtypepair 1 0.2\n"
          "fix m4 all property/global coefficientFriction peratomtypepair 1 0.5\n"
          "pair_style gran model hertz tangential history\npair_coeff * *\n",
          0.15 * DIAMETER, s.young);
  for (int i = 0; i < 5; ++i)
    fprintf(file,
            "fix wall%d all wall/gran model hertz tangential history primitive type 1 %cplane "
            "%.17g\n",
            i, "xxyyz"[i],
            i == 4  ? 0
            : i % 2 ? half
                    : -half);
  write_runs(file, heap, trial);
  return fclose(file) == 0 && run_script(heap, "liggghts", trial);
}

/* ---- Bullet ---------------------------------------------------------------------------------- */

static void bullet_path(const ccp_bench *bench, char *path, size_t size) {
  snprintf(path, size, "%s/talus-peer-bullet-heap", bench->peer_folder);
}

bool peer_has_bullet(const ccp_bench *bench) {
  char path[600];
  bullet_path(bench, path, sizeof path);
  return *bench->peer_folder && access(path, X_OK) == 0;
}

static bool write_records(const peer_heap *heap) {
  const uint64_t n = heap->count;
  FILE *file = open_in(heap, "heap.bin", "wb");
  if (!file)
    return false;
  bool good = fwrite(&n, sizeof n, 1, file) == 1;
  for (size_t i = 0; i < heap->count && good; ++i) {
    const double record[4] = {heap->x[3 * i], heap->x[3 * i + 1], heap->x[3 * i + 2], CCP_RADIUS};
    good = fwrite(record, sizeof record, 1, file) == 1;
  }
  return fclose(file) == 0 && good;
}

bool peer_run_bullet(const ccp_bench *bench, const peer_heap *heap, peer_trial *trial) {
  char path[600], numbers[5][32];
  static char file[] = "heap.bin";
  bullet_path(bench, path, sizeof path);
  trial->steps = steps_of(heap->measured, trial->dt);
  snprintf(numbers[0], sizeof numbers[0], "%.17g", heap->side);
  snprintf(numbers[1], sizeof numbers[1], "%.17g", trial->dt);
  snprintf(numbers[2], sizeof numbers[2], "%d", trial->setting);
  snprintf(numbers[3], sizeof numbers[3], "%ld", steps_of(heap->settling, trial->dt));
  snprintf(numbers[4], sizeof numbers[4], "%ld", trial->steps);
  char *arguments[] = {path,       file,       numbers[0], numbers[1],
                       numbers[2], numbers[3], numbers[4], NULL};
  return write_records(heap) && peer_execute(heap, arguments, 1800) &&
         peer_read_result(heap, trial);
}
