/* Streams of hard spheres through a tube and a hole. Masses are 1, and so is the thermal speed of
 * initial and entering balls; areas and volumes are those accessible to centres. */
#include "validation_cases.h"
#include "validation_stream.h"

/* ---- a tube ---------------------------------------------------------------------------------- */

/* Balls that ignore each other: a straight tube reflects nobody back. */
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
