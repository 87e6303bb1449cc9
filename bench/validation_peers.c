/* The same scenes in LAMMPS, LIGGGHTS and YADE, where they are installed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ccp_peers.h"
#include "validation_grains.h"

/* Makes a folder for the scripts of the peers and for what the peers write. */
static bool make_folder(val_run *run, peer_heap *heap) {
  snprintf(heap->folder, sizeof heap->folder, "/tmp/talus-validation-XXXXXX");
  if (mkdtemp(heap->folder))
    return true;
  val_fail(run, "no folder in /tmp for the peers");
  return false;
}

static void remove_folder(const peer_heap *heap) {
  static const char *const names[] = {"in.peer",    "heap.data",  "out.txt",  "final.txt",
                                      "height.txt", "log.lammps", "flow.txt", "log.liggghts",
                                      "scene.py",   "bodies.txt"};
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
  static char in[] = "-in", script[] = "in.peer";
  char name[32];
  snprintf(name, sizeof name, "%s", program);
  char *const arguments[] = {name, in, script, NULL};
  return peer_execute(heap, arguments, 1800);
}

static bool execute_yade(const peer_heap *heap) {
  static char program[] = "yade", no_gui[] = "-n", then_exit[] = "-x", threads[] = "-j1",
              script[] = "scene.py";
  char *const arguments[] = {program, no_gui, then_exit, threads, script, NULL};
  return peer_execute(heap, arguments, 1800);
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

/* Spring and dashpot of an impact that takes 2 ms and has restitution e. */
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

/* YADE's dashpot does not pull: the ball leaves when the force is 0. A dashpot that would give
 * restitution exp(-pi x) if it pulled then gives exp(-x (pi - atan(2 x / (1 - x^2)))) (Schwager and
 * Poeschel 2007). YADE also takes half of the ball's mass for an impact with a wall. So for an
 * impact of duration t with restitution e, YADE needs the spring and dashpot of t' and e':
 *   pi^2 / t'^2 = 2 (pi^2 - ln(e)^2) / t^2,   ln(e') / t' = 2 ln(e) / t. */
static bool write_yade_ball(const peer_heap *heap, double dt, int every, int rows) {
  double x = 0;
  for (int i = 0; i < 30; ++i)
    x = -log(BOUNCE) / (VAL_PI - atan2(2 * x, 1 - x * x));
  const double lasts = 2e-3, l = -VAL_PI * x;
  const double there = lasts * VAL_PI / sqrt(2 * (VAL_PI * VAL_PI - l * l));
  FILE *file = open_in(heap, "scene.py", "w");
  if (!file)
    return false;
  fprintf(file,
          "from yade import *\nfrom yade import utils\n"
          "m = O.materials.append(ViscElMat(density=%g, tc=%.17g, en=%.17g, et=1,"
          " frictionAngle=0.29))\n"
          "O.bodies.append(utils.wall((0, 0, 0), axis=2, sense=1, material=m))\n"
          "O.bodies.append(utils.sphere((0, 0, %.17g), %.17g, material=m))\n"
          "O.dt = %.17g\n",
          BALL_DENSITY, there, exp(2 * l * there / lasts), BALL_RADIUS + DROP, BALL_RADIUS, dt);
  fprintf(file,
          "O.engines = [ForceResetter(),\n"
          "  InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Wall_Aabb()]),\n"
          "  InteractionLoop([Ig2_Sphere_Sphere_ScGeom(), Ig2_Wall_Sphere_ScGeom()],\n"
          "    [Ip2_ViscElMat_ViscElMat_ViscElPhys()], [Law2_ScGeom_ViscElPhys_Basic()]),\n"
          "  NewtonIntegrator(damping=0, gravity=(0, 0, -%g))]\n"
          "with open('height.txt', 'w') as out:\n"
          "  for i in range(%d):\n"
          "    O.run(%d, True)\n"
          "    out.write('%%d %%.17g\\n' %% (O.iter, O.bodies[1].state.pos[2]))\n",
          VAL_G, rows - 1, every);
  return fclose(file) == 0;
}

static bool read_heights(const peer_heap *heap, int every, double *height) {
  char line[256];
  FILE *file = open_in(heap, "height.txt", "r");
  height[0] = DROP;
  for (int i = 1; i < ROWS; ++i)
    height[i] = NAN;
  while (file && fgets(line, sizeof line, file)) {
    long step;
    double z;
    if (sscanf(line, "%ld %lf", &step, &z) == 2 && step > 0 && step / every < ROWS)
      height[step / every] = z - BALL_RADIUS;
  }
  if (file)
    fclose(file);
  return isfinite(height[ROWS - 2]);
}

typedef enum ball_peer { IN_LAMMPS, IN_LIGGGHTS, IN_YADE, BALL_PEERS } ball_peer;

/* Plots the height of the lowest point of the ball over time. */
static bool run_ball(const peer_heap *heap, ball_peer peer, double *height) {
  const double dt = 2e-5;
  const int every = 500;
  if (peer == IN_YADE)
    return write_yade_ball(heap, dt, every, ROWS) && execute_yade(heap) &&
           read_heights(heap, every, height);
  FILE *file = write_ball(heap) ? open_in(heap, "in.peer", "w") : NULL;
  if (!file)
    return false;
  if (peer == IN_LAMMPS)
    write_lammps_ball(file);
  else
    write_liggghts_ball(file);
  fprintf(file,
          "timestep %g\nfix move all nve/sphere\nfix weight all gravity %g vector 0 0 -1\n"
          "variable height equal xcm(all,z)\nvariable n equal step\n"
          "fix out all print %d \"${n} ${height}\" file height.txt screen no\nthermo 1000000\n"
          "run %d\n",
          dt, VAL_G, every, (ROWS - 1) * every);
  return fclose(file) == 0 && execute(heap, peer == IN_LAMMPS ? "lmp" : "liggghts") &&
         read_heights(heap, every, height);
}

static double largest_difference(const double *a, const double *b) {
  double most = 0;
  for (int i = 0; i < ROWS - 1; ++i) /* a peer may have written fewer times */
    if (isfinite(a[i]))
      most = fmax(most, fabs(a[i] - b[i]));
    else
      return NAN;
  return most;
}

/* The curves coincide, so a second plot shows their differences. */
static void draw_ball(val_run *run, const char *name, const double *t, const double *height,
                      const double *exact) {
  double off[ROWS];
  for (int i = 0; i < ROWS; ++i)
    off[i] = 1e3 * (height[i] - exact[i]);
  val_curve(run, "peers-bounce", "A ball bounces, e = 0.8: talus and peers", "time [s]",
            "height [m]", name, t, height, ROWS);
  if (height != exact)
    val_curve(run, "peers-bounce.off", "A ball bounces: what is off", "time [s]",
              "height less the exact one [mm]", name, t, off, ROWS);
}

void val_peers_bounce(val_run *run) {
  static const struct {
    const char *program, *name;
  } peers[BALL_PEERS] = {{"lmp", "LAMMPS"}, {"liggghts", "LIGGGHTS"}, {"yade", "YADE"}};
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
  draw_ball(run, "exact", t, exact, exact);
  draw_ball(run, val_model_name(run->model), t, got, exact);
  val_near(run, "talus: largest difference from exact", "m", largest_difference(got, exact), 0,
           0.02);
  if (!make_folder(run, &heap))
    return;
  for (int i = 0; i < BALL_PEERS; ++i) {
    char quantity[56];
    if (!peer_has_program(peers[i].program))
      continue;
    if (!run_ball(&heap, (ball_peer)i, got)) {
      snprintf(quantity, sizeof quantity, "%s did not run", peers[i].name);
      val_fail(run, quantity);
      break;
    }
    snprintf(quantity, sizeof quantity, "%s: largest difference from exact", peers[i].name);
    /* m: each of three impacts takes 2 ms, at up to 4.4 m/s */
    val_near(run, quantity, "m", largest_difference(got, exact), 0, 0.03);
    draw_ball(run, peers[i].name, t, got, exact);
  }
  remove_folder(&heap);
}

/* ---- angle of repose ------------------------------------------------------------------------- */

/* Grains of type 1 move, those of type 2 are glued to the floor. */
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

/* A collision takes 25 steps; restitution is 0.1, as in talus. */
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
  const double mu[POINTS] = {0.1, 0.3, 0.8}, seconds = 1.2; /* the slope is at rest after 1 */
  double ours[POINTS], theirs[POINTS];
  peer_heap heap = {.threads = 1};
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
    val_near(run, quantity, "deg", ours[i] - theirs[i], 0, 4);
  }
  remove_folder(&heap);
  const char *title = "Angle of repose of spheres: talus and LAMMPS";
  val_curve(run, "peers-repose", title, "friction", "angle [degrees]", val_model_name(run->model),
            mu, ours, POINTS);
  val_curve(run, "peers-repose", title, "", "", "LAMMPS", mu, theirs, POINTS);
}

/* ---- silo ------------------------------------------------------------------------------------ */

enum { FLOWS = 81 }; /* every 10 ms */

/* Walls, floor boards around the hole, and grains where they settled. Restitution is 0.1, and a
 * collision takes 25 steps. */
static bool write_yade_silo(const peer_heap *heap, const val_grains *settled, double dt) {
  FILE *file = open_in(heap, "bodies.txt", "w");
  for (size_t i = 0; file && i < settled->count; ++i)
    fprintf(file, "%.17g %.17g %.17g %.17g\n", settled->x[3 * i], settled->x[3 * i + 1],
            settled->x[3 * i + 2], settled->radius[i]);
  if (!file || fclose(file) != 0 || !(file = open_in(heap, "scene.py", "w")))
    return false;
  const double half = 0.25 * (SILO - SILO_HOLE), at = 0.25 * (SILO + SILO_HOLE);
  fprintf(file,
          "from yade import *\nfrom yade import utils\n"
          "m = O.materials.append(ViscElMat(density=%g, tc=%.17g, en=0.1, et=0.1,"
          " frictionAngle=%.17g))\n"
          "for axis in (0, 1):\n  for side in (-1, 1):\n"
          "    at = [0, 0, 0]\n    at[axis] = side * %.17g\n"
          "    O.bodies.append(utils.wall(at, axis=axis, sense=-side, material=m))\n"
          "for x, y, a, b in ((-%.17g, 0, %.17g, %.17g), (%.17g, 0, %.17g, %.17g),\n"
          "                   (0, -%.17g, %.17g, %.17g), (0, %.17g, %.17g, %.17g)):\n"
          "  O.bodies.append(utils.box((x, y, -0.005), (a, b, 0.005), fixed=True, material=m))\n",
          GRAIN_DENSITY, 25 * dt, atan(0.5), 0.5 * SILO, at, half, 0.5 * SILO, at, half, 0.5 * SILO,
          at, 0.5 * SILO_HOLE, half, at, 0.5 * SILO_HOLE, half);
  fprintf(file,
          "grains = []\nfor line in open('bodies.txt'):\n"
          "  x, y, z, r = map(float, line.split())\n"
          "  grains.append(O.bodies.append(utils.sphere((x, y, z), r, material=m)))\n"
          "O.dt = %.17g\n"
          "O.engines = [ForceResetter(),\n"
          "  InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Wall_Aabb(), Bo1_Box_Aabb()],"
          " verletDist=0.001),\n"
          "  InteractionLoop([Ig2_Sphere_Sphere_ScGeom(), Ig2_Wall_Sphere_ScGeom(),"
          " Ig2_Box_Sphere_ScGeom()],\n"
          "    [Ip2_ViscElMat_ViscElMat_ViscElPhys()], [Law2_ScGeom_ViscElPhys_Basic()]),\n"
          "  NewtonIntegrator(damping=0, gravity=(0, 0, -%g))]\n"
          "with open('flow.txt', 'w') as out:\n  for i in range(%d):\n"
          "    n = sum(O.bodies[k].state.pos[2] < %g for k in grains)\n"
          "    out.write('%%d\\n' %% n)\n    O.run(%d, True)\n",
          dt, VAL_G, FLOWS, SILO_SINK, (int)lround(0.01 / dt));
  return fclose(file) == 0;
}

static bool silo_in_yade(const peer_heap *heap, const val_grains *settled, double *out) {
  if (!write_yade_silo(heap, settled, 1e-4) || !execute_yade(heap))
    return false;
  FILE *file = open_in(heap, "flow.txt", "r");
  int n = 0;
  while (file && n < FLOWS && fscanf(file, "%lf", &out[n]) == 1)
    ++n;
  if (file)
    fclose(file);
  return n == FLOWS;
}

void val_peers_silo(val_run *run) {
  const double kilograms = 1.01 * GRAIN_VOLUME * GRAIN_DENSITY; /* mean of the cube of the scale */
  double t[FLOWS], ours[FLOWS], theirs[FLOWS];
  peer_heap heap = {.threads = 1};
  if (!peer_has_program("yade")) {
    val_skip(run, "yade is not installed");
    return;
  }
  if (!make_folder(run, &heap))
    return;
  val_grains settled = val_silo_settle(run, 1e-3);
  val_silo_open(run, 1e-3, &settled);
  for (int i = 0; i < FLOWS; ++i) {
    t[i] = 0.01 * i;
    ours[i] = (double)val_report(run).removed * kilograms;
    val_step(run, val_steps(run, 0.01));
  }
  if (!run->failed && !silo_in_yade(&heap, &settled, theirs))
    val_fail(run, "YADE did not run");
  val_grains_free(&settled);
  remove_folder(&heap);
  if (run->failed)
    return;
  for (int i = 0; i < FLOWS; ++i)
    theirs[i] *= kilograms;
  const int from = (FLOWS - 1) / 4; /* the flow is steady after 0.2 s */
  const double seconds = t[FLOWS - 1] - t[from];
  const double ratio = (theirs[FLOWS - 1] - theirs[from]) / (ours[FLOWS - 1] - ours[from]);
  val_within(run, "talus: flow", "kg/s", (ours[FLOWS - 1] - ours[from]) / seconds, 0.5, 3);
  /* 600 grains in 0.6 s: each flow has 4 % of noise */
  val_near(run, "YADE: flow / that of talus", "", ratio, 1, 0.12);
  const char *title = "Grains that left a silo: talus and YADE";
  val_curve(run, "peers-silo", title, "time [s]", "mass [kg]", val_model_name(run->model), t, ours,
            FLOWS);
  val_curve(run, "peers-silo", title, "", "", "YADE", t, theirs, FLOWS);
}
