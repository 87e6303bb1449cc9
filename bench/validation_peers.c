/* The same scenes in LAMMPS and LIGGGHTS, where they are installed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ccp_peers.h"
#include "validation_grains.h"

/* A folder of their own for scripts and what they write. */
static bool make_folder(val_run *run, peer_heap *heap) {
  snprintf(heap->folder, sizeof heap->folder, "/tmp/talus-validation-XXXXXX");
  if (mkdtemp(heap->folder))
    return true;
  val_fail(run, "no folder in /tmp for the peers");
  return false;
}

static void remove_folder(const peer_heap *heap) {
  static const char *const names[] = {"in.peer",    "heap.data",  "out.txt",     "final.txt",
                                      "height.txt", "log.lammps", "log.liggghts"};
  char path[600];
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    snprintf(path, sizeof path, "%s/%s", heap->folder, names[i]);
    unlink(path);
  }
  rmdir(heap->folder);
}

static FILE *open_in(const peer_heap *heap, const char *name, const char *mode) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", heap->folder, name);
  return fopen(path, mode);
}

static bool execute(const peer_heap *heap, const char *program) {
  static char in[] = "-in", script[] = "in.peer", mpirun[] = "mpirun", np[] = "-np";
  char name[32], ranks[16];
  snprintf(name, sizeof name, "%s", program);
  snprintf(ranks, sizeof ranks, "%d", heap->threads);
  char *alone[] = {name, in, script, NULL},
       *several[] = {mpirun, np, ranks, name, in, script, NULL};
  return peer_execute(heap, heap->threads > 1 ? several : alone, 1800);
}

/* ---- bounce ---------------------------------------------------------------------------------- */

enum { ROWS = 201 }; /* every 10 ms */
#define BALL_RADIUS  0.1
#define BALL_DENSITY 1000.0
#define DROP         1.0
#define BOUNCE       0.8

static bool write_ball(const peer_heap *heap) {
  FILE *file = open_in(heap, "heap.data", "w");
  if (!file)
    return false;
  fprintf(file,
          "one ball\n\n1 atoms\n1 atom types\n\n-1 1 xlo xhi\n-1 1 ylo yhi\n0 3 zlo zhi\n\n"
          "Atoms\n\n1 1 %.17g %.17g 0 0 %.17g\n",
          2 * BALL_RADIUS, BALL_DENSITY, BALL_RADIUS + DROP);
  return fclose(file) == 0;
}

/* A spring so stiff that a bounce takes 2 ms, and the dashpot that gives e. */
static void write_lammps_ball(FILE *file) {
  const double mass = 4.18879020478639 * BALL_DENSITY * pow(BALL_RADIUS, 3), lasts = 2e-3;
  const double damping = -2 * log(BOUNCE) / lasts;
  const double kn = mass * (VAL_PI * VAL_PI / (lasts * lasts) + 0.25 * damping * damping);
  fprintf(file,
          "units si\natom_style sphere\nboundary f f f\nnewton off\ncomm_modify vel yes\n"
          "read_data heap.data\npair_style gran/hooke %.17g NULL %.17g NULL 0.3 0\n"
          "pair_coeff * *\n"
          "fix floor all wall/gran hooke %.17g NULL %.17g NULL 0.3 0 zplane 0 NULL\n",
          kn, damping, kn, damping);
}

static void write_liggghts_ball(FILE *file) {
  fprintf(file,
          "atom_style granular\natom_modify map array\nboundary f f f\nnewton off\n"
          "communicate single vel yes\nunits si\nread_data heap.data\nneighbor 0.02 bin\n"
          "fix m1 all property/global youngsModulus peratomtype 1e9\n"
          "fix m2 all property/global poissonsRatio peratomtype 0.3\n"
          "fix m3 all property/global coefficientRestitution peratomtypepair 1 %g\n"
          "fix m4 all property/global coefficientFriction peratomtypepair 1 0.3\n"
          "pair_style gran model hertz tangential off\npair_coeff * *\n"
          "fix floor all wall/gran model hertz tangential off primitive type 1 zplane 0\n",
          BOUNCE);
}

/* Height over time of the lowest point of the ball. */
static bool run_ball(const peer_heap *heap, const char *program, bool is_lammps, double *height) {
  const double dt = 2e-5;
  FILE *file = write_ball(heap) ? open_in(heap, "in.peer", "w") : NULL;
  if (!file)
    return false;
  if (is_lammps)
    write_lammps_ball(file);
  else
    write_liggghts_ball(file);
  fprintf(file,
          "timestep %g\nfix move all nve/sphere\nfix weight all gravity %g vector 0 0 -1\n"
          "variable height equal xcm(all,z)\nvariable n equal step\n"
          "fix out all print 500 \"${n} ${height}\" file height.txt screen no\nthermo 1000000\n"
          "run %d\n",
          dt, VAL_G, (ROWS - 1) * 500);
  if (fclose(file) != 0 || !execute(heap, program))
    return false;
  char line[256];
  file = open_in(heap, "height.txt", "r");
  height[0] = DROP;
  for (int i = 1; i < ROWS; ++i)
    height[i] = NAN;
  while (file && fgets(line, sizeof line, file)) {
    long step;
    double z;
    if (sscanf(line, "%ld %lf", &step, &z) == 2 && step > 0 && step / 500 < ROWS)
      height[step / 500] = z - BALL_RADIUS;
  }
  if (file)
    fclose(file);
  return isfinite(height[ROWS - 2]);
}

static double largest_difference(const double *a, const double *b) {
  double most = 0;
  for (int i = 0; i < ROWS - 1; ++i) /* the last may be beyond what a peer wrote */
    if (isfinite(a[i]))
      most = fmax(most, fabs(a[i] - b[i]));
    else
      return NAN;
  return most;
}

void val_peers_bounce(val_run *run) {
  static const struct {
    const char *program, *name;
    bool is_lammps;
  } peers[] = {{"lmp", "LAMMPS", true}, {"liggghts", "LIGGGHTS", false}};
  const char *title = "A ball bounces, e = 0.8: talus and peers";
  double t[ROWS], exact[ROWS], got[ROWS];
  peer_heap heap = {.threads = 1, .count = 1};
  val_world(run, val_dt(run, 1e-4));
  const talus_material m = val_material(run, 0.3, BOUNCE);
  val_floor(run, m);
  const talus_body ball =
      val_body(run, TALUS_FREE, val_shape(run, TALUS_SPHERE, BALL_RADIUS, 0, 0, 0), m, 0, 0,
               BALL_RADIUS + DROP);
  for (int i = 0; i < ROWS; ++i) {
    t[i] = 0.01 * i;
    exact[i] = val_train_height(t[i], DROP, BOUNCE);
    got[i] = val_info(run, ball).position.z - BALL_RADIUS;
    val_step(run, val_steps(run, 0.01));
  }
  val_curve(run, "peers-bounce", title, "time [s]", "height [m]", "exact", t, exact, ROWS);
  val_curve(run, "peers-bounce", title, "", "", val_model_name(run->model), t, got, ROWS);
  val_near(run, "talus: largest difference from exact", "m", largest_difference(got, exact), 0,
           0.02);
  if (!make_folder(run, &heap))
    return;
  for (size_t i = 0; i < 2; ++i) {
    char quantity[56];
    if (!peer_has_program(peers[i].program))
      continue;
    if (!run_ball(&heap, peers[i].program, peers[i].is_lammps, got)) {
      snprintf(quantity, sizeof quantity, "%s did not run", peers[i].name);
      val_fail(run, quantity);
      break;
    }
    snprintf(quantity, sizeof quantity, "%s: largest difference from exact", peers[i].name);
    /* each of three impacts takes 2 ms at up to 4.4 m/s */
    val_near(run, quantity, "m", largest_difference(got, exact), 0, 0.04);
    val_curve(run, "peers-bounce", title, "", "", peers[i].name, t, got, ROWS);
  }
  remove_folder(&heap);
}

/* ---- angle of repose ------------------------------------------------------------------------- */

/* Type 1 moves, type 2 is glued. */
static bool write_slot(const peer_heap *heap, const val_grains *bodies, size_t glued) {
  FILE *file = open_in(heap, "heap.data", "w");
  if (!file)
    return false;
  fprintf(file,
          "slot\n\n%zu atoms\n2 atom types\n\n-0.1 1 xlo xhi\n%.17g %.17g ylo yhi\n"
          "-0.5 1 zlo zhi\n\nAtoms\n\n",
          bodies->count, -0.5 * SLOT_DEPTH, 0.5 * SLOT_DEPTH);
  for (size_t i = 0; i < bodies->count; ++i)
    fprintf(file, "%zu %d %.17g %.17g %.17g %.17g %.17g\n", i + 1, i < glued ? 2 : 1,
            2 * bodies->radius[i], GRAIN_DENSITY, bodies->x[3 * i], bodies->x[3 * i + 1],
            bodies->x[3 * i + 2]);
  return fclose(file) == 0;
}

/* 25 steps to a collision; restitution 0.1 as the grains of talus have. */
static double slot_in_lammps(const peer_heap *heap, const val_grains *bodies, size_t glued,
                             double mu, double seconds) {
  const double dt = 1e-4, lasts = 25 * dt, reduced = 0.5 * GRAIN_VOLUME * GRAIN_DENSITY;
  const double damping = -2 * log(0.1) / lasts;
  const double kn = reduced * (VAL_PI * VAL_PI / (lasts * lasts) + 0.25 * damping * damping);
  FILE *file = write_slot(heap, bodies, glued) ? open_in(heap, "in.peer", "w") : NULL;
  if (!file)
    return NAN;
  fprintf(file,
          "units si\natom_style sphere\nboundary f p f\nnewton off\ncomm_modify vel yes\n"
          "read_data heap.data\nneighbor %g bin\nneigh_modify delay 0 every 1 check yes\n"
          "group glued type 2\ngroup grains type 1\nneigh_modify exclude group glued glued\n"
          "pair_style gran/hooke/history %.17g NULL %.17g NULL %g 1\npair_coeff * *\n"
          "fix wall grains wall/gran hooke/history %.17g NULL %.17g NULL %g 1 xplane 0 NULL\n"
          "timestep %g\nfix move grains nve/sphere\nfix weight grains gravity %g vector 0 0 -1\n"
          "fix hold glued freeze\nthermo 100000\nthermo_modify lost ignore\nrun %ld\n"
          "write_dump grains custom final.txt x y z\n",
          0.2 * GRAIN, kn, damping, mu, kn, damping, mu, dt, VAL_G, lround(seconds / dt));
  if (fclose(file) != 0 || !execute(heap, "lmp"))
    return NAN;
  double *x = malloc(3 * bodies->count * sizeof *x);
  double angle = NAN;
  if (x) {
    val_grains left = {.count = peer_read_centres(heap, x), .x = x};
    angle = val_slot_angle(&left);
  }
  free(x);
  return angle;
}

void val_peers_repose(val_run *run) {
  enum { POINTS = 3 };
  const double mu[POINTS] = {0.1, 0.3, 0.8}, seconds = 1.6; /* the slope is at rest after 1 */
  double ours[POINTS], theirs[POINTS];
  peer_heap heap = {.threads = run->threads == 1 ? 1 : 2};
  if (!peer_has_program("lmp")) {
    val_skip(run, "lmp (LAMMPS) is not installed");
    return;
  }
  if (!make_folder(run, &heap))
    return;
  for (int i = 0; i < POINTS; ++i) {
    const val_slot slot = val_slot_settle(run, mu[i]);
    val_grains bodies = val_grains_read(run, slot.walls);
    heap.count = bodies.count;
    ours[i] = val_slot_release(run, &slot, seconds);
    theirs[i] = slot_in_lammps(&heap, &bodies, slot.glued, mu[i], val_seconds(run, seconds));
    val_grains_free(&bodies);
    char quantity[56];
    snprintf(quantity, sizeof quantity, "talus less LAMMPS at mu = %g", mu[i]);
    val_near(run, quantity, "deg", ours[i] - theirs[i], 0, 3);
  }
  remove_folder(&heap);
  const char *title = "Angle of repose of spheres: talus and LAMMPS";
  val_curve(run, "peers-repose", title, "friction", "angle [degrees]", val_model_name(run->model),
            mu, ours, POINTS);
  val_curve(run, "peers-repose", title, "", "", "LAMMPS", mu, theirs, POINTS);
}
