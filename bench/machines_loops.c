/* Closed loops: a ladder of four-bar linkages, each cell of which closes a loop, falls under its
 * weight. Joint by joint, more iterations are needed for longer ladders; all at once they are not.
 * The error after equal time counts. */
#include <math.h>

#include "ccp.h"
#include "machines.h"

/* Rails above and below, beginning at the ground, and a rung after each cell. */
static bool ladder_make(const machines_solve *solve, int cells, machines_rig *rig,
                        talus_body *tip) {
  const talus_joint_kind hinge = TALUS_JOINT_REVOLUTE;
  bool good = machines_rig_make(solve, 1.0, rig);
  /* bodies to which the next rails are attached: the ground, then rungs */
  talus_body before[2] = {{0}, {0}};
  for (int i = 0; i < cells && good; ++i) {
    talus_body rung;
    good = machines_add_bar(rig, rig->upright, i + 1, 0, &rung);
    for (int k = 0; k < 2 && good; ++k) {
      const double z = k == 0 ? 0.5 : -0.5;
      talus_body rail;
      good = machines_add_bar(rig, rig->bar, i + 0.5, z, &rail) &&
             machines_add_joint(rig, hinge, before[k], rail, i, z) &&
             machines_add_joint(rig, hinge, rail, rung, i + 1, z);
    }
    before[0] = before[1] = *tip = rung;
  }
  return good;
}

typedef struct outcome {
  double seconds; /* CPU, of all steps */
  double drift;   /* m: largest in any step */
  double x, z;    /* m: final position of the last rung */
  double gain;    /* J: change of kinetic and potential energy */
} outcome;

static bool fall(const machines_solve *solve, int cells, int steps, outcome *out) {
  machines_rig rig;
  talus_body tip = {0};
  talus_body_info info = {0};
  talus_report start = {0}, report = {0};
  *out = (outcome){0};
  bool good = ladder_make(solve, cells, &rig, &tip) &&
              (talus_world_report(rig.world, &start) == TALUS_OK || machines_fail("a report"));
  for (int i = 0; i < steps && good; ++i) {
    const double begun = machines_cpu();
    good = talus_world_step(rig.world, 1) == TALUS_OK || machines_fail("a step");
    out->seconds += machines_cpu() - begun;
    if (good && talus_world_report(rig.world, &report) == TALUS_OK)
      out->drift = fmax(out->drift, report.joint_drift);
  }
  if (good && talus_world_get_body(rig.world, tip, &info) != TALUS_OK)
    good = machines_fail("the last rung");
  out->gain = report.kinetic_energy + report.potential_energy - start.kinetic_energy -
              start.potential_energy;
  out->x = info.position.x;
  out->z = info.position.z;
  machines_rig_free(&rig);
  return good;
}

typedef struct table {
  int cells, steps;
  outcome truth;
  FILE *csv;
} table;

static void print(const table *t, const char *name, int iterations, const outcome *out,
                  double direct) {
  const double error = hypot(out->x - t->truth.x, out->z - t->truth.z);
  printf("%6d %7d  %-10s %6d %10.4f %8.2f %10.2e %10.2e %10.2g\n", t->cells, 4 * t->cells, name,
         iterations, 1e3 * out->seconds / t->steps, out->seconds / direct, out->drift, error,
         out->gain);
  fflush(stdout);
  if (t->csv)
    fprintf(t->csv, "%d,%d,%s,%d,%g,%g,%g,%g,%g\n", t->cells, 4 * t->cells, name, iterations,
            1e3 * out->seconds / t->steps, out->seconds / direct, out->drift, error, out->gain);
}

static void add_point(ccp_curve *curve, const table *t, const outcome *out) {
  curve->x[curve->points] = 1e3 * out->seconds / t->steps;
  curve->y[curve->points++] = fmax(out->drift, 1e-16);
}

/* Iterative with increasing sweeps; and its error, interpolated, at the time of the direct
 * method. */
static bool one_ladder(table *t, ccp_curve curves[2]) {
  static const int sweeps[] = {5, 10, 20, 50, 100, 200, 500};
  const machines_solve exact = {TALUS_JOINTS_DIRECT, 500, sizeof(talus_real) == 8 ? 1e-13 : 1e-6,
                                1};
  const machines_solve direct = {TALUS_JOINTS_DIRECT, 50, 1e-6, 1};
  outcome once;
  if (!fall(&exact, t->cells, t->steps, &t->truth) || !fall(&direct, t->cells, t->steps, &once))
    return false;
  print(t, "direct", direct.iterations, &once, once.seconds);
  add_point(&curves[0], t, &once);
  double drift = NAN;
  outcome last = {0};
  for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; ++i) {
    const machines_solve solve = {TALUS_JOINTS_ITERATIVE, sweeps[i], 0, 1};
    outcome out;
    if (!fall(&solve, t->cells, t->steps, &out))
      return false;
    print(t, "iterative", sweeps[i], &out, once.seconds);
    add_point(&curves[1], t, &out);
    if (last.seconds < once.seconds && out.seconds >= once.seconds) {
      const double share =
          last.seconds > 0 ? (once.seconds - last.seconds) / (out.seconds - last.seconds) : 1;
      drift =
          last.seconds > 0 ? exp(log(last.drift) + share * log(out.drift / last.drift)) : out.drift;
    }
    last = out;
  }
  printf("%6d cells: after equal time joints are apart by %.1e m direct, %.1e m iterative\n",
         t->cells, once.drift, drift);
  return true;
}

bool machines_loops(machines_bench *bench) {
  const machines_options *options = &bench->options;
  const int sizes[] = {4, 16, 64};
  table t = {.steps = options->steps > 0 ? options->steps : options->quick ? 5 : 200};
  if (!bench_csv_open(bench->folder, "loops",
                      "cells,joints,solver,iterations,ms_per_step,times_direct,joint_drift_m,"
                      "tip_error_m,energy_gain_J",
                      &t.csv))
    return false;
  printf(
      "A ladder of four-bar cells, held at one end, falls for %d steps of 1 ms; one thread. x: "
      "time\n"
      "over that of direct; drift: the most that a joint came apart; tip: how far the last rung\n"
      "ends up from where a converged solution has it; gain: of energy, which should be kept.\n",
      t.steps);
  printf("%6s %7s  %-10s %6s %10s %8s %10s %10s %10s\n", "cells", "joints", "solver", "iter",
         "ms/step", "x", "drift m", "tip m", "gain J");
  ccp_curve curves[6];
  int count = 0;
  bool good = true;
  for (int i = 0; i < (options->quick ? 1 : 3) && good; ++i) {
    t.cells = sizes[i];
    for (int k = 0; k < 2; ++k) {
      curves[count + k] = (ccp_curve){.colour = i, .dashed = k == 0};
      snprintf(curves[count + k].name, sizeof curves[0].name, "%s, %d cells",
               k == 0 ? "direct" : "iterative", t.cells);
    }
    good = one_ladder(&t, curves + count);
    count += 2;
  }
  if (good && bench->folder) {
    char path[600];
    snprintf(path, sizeof path, "%s/loops.svg", bench->folder);
    good = ccp_plot(path, "Ladders of closed loops: error over time", "ms per step", "drift [m]",
                    curves, count) ||
           machines_fail("writing the plot");
  }
  return bench_csv_close(t.csv) && good;
}
