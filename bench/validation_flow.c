/* Streams of hard spheres through a tube and a hole. Masses are 1, and so is the thermal speed of
 * initial and entering balls; areas and volumes are those accessible to centres. */
#include "validation_cases.h"
#include "validation_stream.h"

/* ---- a tube ---------------------------------------------------------------------------------- */

/* Balls that ignore each other. A straight tube reflects no ball back. */
void val_flow_tube(val_run *run) {
  static const double profile[2][2] = {{0, 1}, {4, 1}};
  talus_body_def ball;
  stream_world(run, 0.05, profile[0], 2, 0.05, &ball);
  if (!run->failed)
    stream_did(run, talus_world_group(run->world, "gas", &ball.group));
  if (!run->failed)
    stream_did(run, talus_world_ignore_groups(run->world, ball.group, ball.group));
  stream_inlet(run, &ball, 0.1, 0.9, 200, 10, 1);
  stream_sink(run, "outlet", 4, 99, false);
  stream_sink(run, "back", -99, 0.05, false);
  bool is_balanced = true;
  for (int i = 0; i < 2000 && !run->failed; ++i) {
    val_step(run, 1);
    const talus_report now = val_report(run);
    is_balanced = is_balanced && now.emitted == now.removed + now.bodies - 1 && now.outside == 0;
  }
  const talus_report end = val_report(run);
  double energy = 0;
  (void)stream_take_left(run, &energy);
  val_is(run, "in = out + inside, every step", is_balanced, true);
  val_near(run, "share that is through after 100 s", "", (double)end.removed / (double)end.emitted,
           1, 2e-3); /* 1 in 1000 is slower than 0.045 */
  val_near(run, "mean energy of those / kT", "", energy / (double)end.removed, 2,
           5 * 0.707 * 2 / sqrt(2000));
}

/* ---- a nozzle, without collisions ------------------------------------------------------------ */

/* Beyond the wide end there is a gas at rest of density n0, of which the inlet lets in what crosses
 * that end; what comes back there has left for good. Walls reflect like mirrors, and in a part that
 * narrows only forwards none is sent back that was beyond its throat: all velocities with which a
 * ball can cross the throat forwards come straight from the gas. So the throat passes the flux of a
 * hole of its area, half of the gas's velocities are there, and none comes back from what widens.
 */
void val_flow_molecular(val_run *run) {
  const double a = 0.01, wide = 0.99, throat = 0.49, rate = 300;
  const double lasts = run->quick ? 10 : 100;
  const double profile[6][2] = {{0, wide + a},   {1, wide + a}, {2.5, throat + a},
                                {3, throat + a}, {5, 0.62},     {5.5, 0.62}};
  const int looks = run->quick ? 100 : 1000;
  talus_body_def ball;
  stream_world(run, 0.05, profile[0], 6, a, &ball);
  if (!run->failed)
    stream_did(run, talus_world_group(run->world, "gas", &ball.group));
  if (!run->failed)
    stream_did(run, talus_world_ignore_groups(run->world, ball.group, ball.group));
  stream_inlet(run, &ball, 0.1, 0.999 * wide, rate, lasts, 1);
  stream_sink(run, "outlet", 5.5, 99, false);
  stream_sink(run, "back", -99, 0.05, false);
  stream_gauge g = {.radius = throat, .low = 2.5, .high = 3};
  double energy = 0;
  size_t through = 0;
  for (int i = 0; i < looks && !run->failed; ++i) { /* until slow balls are out as well */
    val_step(run, val_steps(run, 5 * lasts / looks));
    stream_look(run, &g, 1);
    through += stream_take_through(run, 0, &energy);
  }
  const talus_report end = val_report(run);
  const double n0 = rate / (sqrt(0.5 / VAL_PI) * VAL_PI * wide * wide);
  const double flux = rate * (double)through / (double)end.emitted;
  const double near = run->quick ? 0.5 : 0.04, less = run->quick ? 0.5 : 0.06;
  g.looks /= 5; /* as if looks were taken only while balls entered */
  val_is(run, "none is outside a wall", end.outside == 0, true);
  val_near(run, "flux / n0 sqrt(kT/m) A*", "", flux / (n0 * VAL_PI * throat * throat),
           sqrt(0.5 / VAL_PI), near * sqrt(0.5 / VAL_PI));
  val_near(run, "throat: n*/n0", "", gauge_density(&g) / n0, 0.5, less * 0.5);
  val_near(run, "throat: speed / sqrt(kT/m)", "", gauge_speed(&g), sqrt(2 / VAL_PI),
           less * sqrt(2 / VAL_PI));
  val_near(run, "mean energy of what passes / kT", "", energy / (double)through, 2, near * 2);
}

/* ---- a hole ---------------------------------------------------------------------------------- */

void val_flow_effusion(val_run *run) {
  static const double profile[4][2] = {{0, 0}, {0, 1}, {2, 1}, {2, 0.108}};
  const double a = 0.008, hole = 0.1, lasts = run->quick ? 100 : 6000;
  const uint64_t count = 2000;
  talus_body_def ball;
  stream_world(run, 0.25, profile[0], 4, a, &ball);
  stream_fill(run, &ball, 0.99, 0.01, 1.99, count, 1);
  stream_inlet(run, &ball, 0.02, 0.9, 0, INFINITY, 1);
  stream_sink(run, "hole", 2.01, 99, true);
  val_step(run, val_steps(run, 0.05 * lasts));
  double energy = 0, heat = 0, inside = 0;
  (void)stream_take_left(run, &energy);
  energy = 0;
  size_t left = 0;
  for (int i = 0; i < 200 && !run->failed; ++i) {
    stream_gauge all = {.radius = 1, .low = 0, .high = 2};
    val_step(run, val_steps(run, lasts / 200));
    left += stream_take_left(run, &energy);
    stream_look(run, &all, 1);
    heat += gauge_heat(&all) / 200, inside += all.count / 200;
  }
  const double n = inside / (VAL_PI * (1 - a) * (1 - a) * (2 - 2 * a));
  const double flux = (double)left / (200 * (double)val_steps(run, lasts / 200) * run->dt);
  const double sigma = 2 * a, path = 1 / (sqrt(2) * VAL_PI * n * sigma * sigma);
  val_within(run, "mean free path / width of the hole", "", path / (2 * hole), 10, 1000);
  /* 24,000 pass: 0.65 % and, of energies, 0.46 %. */
  val_near(run, "flux / (n A sqrt(kT / 2 pi m))", "",
           flux / (n * VAL_PI * hole * hole * sqrt(heat / (2 * VAL_PI))), 1,
           run->quick ? 0.5 : 0.02);
  val_near(run, "mean energy of what leaves / kT", "", energy / (double)left / heat, 2,
           run->quick ? 1 : 0.04);
}
