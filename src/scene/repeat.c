/* Copies of a body: `repeat` and `spread`. */
#include "base/power.h"
#include "base/random.h"
#include "base/trig.h"
#include "scene/build.h"
#include "scene/builder.h"

typedef struct turn {
  double w, v[3]; /* a unit quaternion */
} turn;

static turn turn_of(const tl_scene_rotation *rotation) {
  const double *q = rotation->quaternion;
  const double length = tl_hypot_d(tl_hypot_d(q[0], q[1]), tl_hypot_d(q[2], q[3]));
  return (turn){q[0] / length, {q[1] / length, q[2] / length, q[3] / length}};
}

static turn turn_times(turn by, double times) {
  const double sine = tl_hypot_d(tl_hypot_d(by.v[0], by.v[1]), by.v[2]);
  if (!(sine > 0) || times == 0)
    return (turn){.w = 1};
  const double half = times * tl_atan2_d(sine, by.w), scale = tl_sin_d(half) / sine;
  return (turn){tl_cos_d(half), {scale * by.v[0], scale * by.v[1], scale * by.v[2]}};
}

static turn turn_after(turn a, turn b) {
  const double *u = a.v, *v = b.v;
  return (turn){a.w * b.w - (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]),
                {a.w * v[0] + b.w * u[0] + (u[1] * v[2] - u[2] * v[1]),
                 a.w * v[1] + b.w * u[1] + (u[2] * v[0] - u[0] * v[2]),
                 a.w * v[2] + b.w * u[2] + (u[0] * v[1] - u[1] * v[0])}};
}

static void turn_vector(turn by, double x[3]) {
  const double *u = by.v;
  const double t[3] = {2 * (u[1] * x[2] - u[2] * x[1]), 2 * (u[2] * x[0] - u[0] * x[2]),
                       2 * (u[0] * x[1] - u[1] * x[0])};
  const double across[3] = {u[1] * t[2] - u[2] * t[1], u[2] * t[0] - u[0] * t[2],
                            u[0] * t[1] - u[1] * t[0]};
  for (int k = 0; k < 3; ++k)
    x[k] += by.w * t[k] + across[k];
}

double tl_repeat_count(const tl_scene_body *body) {
  const tl_scene_repeat *repeats = body->repeat.data;
  double count = 1;
  for (size_t i = 0; i < body->repeat.count; ++i)
    count *= (double)repeats[i].count;
  return count;
}

/* Every copy has random numbers of its own, whatever the number of copies along the other ways. */
static void spread(const talus_scene *scene, const tl_scene_spread *by, uint64_t serial,
                   double at[3], double velocity[3], double spin[3]) {
  tl_random random = tl_random_start(tl_scene_seed_of(scene, by->seed), 0, serial);
  double *const values[3] = {at, velocity, spin};
  const double *const most[3] = {by->at, by->velocity, by->spin};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      values[i][k] += most[i][k] * (2 * tl_random_unit(&random) - 1);
}

void tl_repeat_place(const talus_scene *scene, const tl_scene_body *body, uint64_t copy,
                     talus_body_def *def) {
  const tl_scene_repeat *repeats = body->repeat.data;
  double at[3], velocity[3], spin[3];
  for (int k = 0; k < 3; ++k)
    at[k] = body->at[k], velocity[k] = body->velocity[k], spin[k] = body->spin[k];
  turn q = turn_of(&body->rotation);
  uint64_t rest = copy;
  for (size_t i = 0; i < body->repeat.count; ++i) {
    const double times = (double)(rest % repeats[i].count);
    rest /= repeats[i].count;
    const turn by = turn_times(turn_of(&repeats[i].turn), times);
    for (int k = 0; k < 3; ++k)
      at[k] -= repeats[i].through[k];
    turn_vector(by, at);
    turn_vector(by, velocity);
    turn_vector(by, spin);
    for (int k = 0; k < 3; ++k)
      at[k] += repeats[i].through[k] + times * repeats[i].shift[k];
    q = turn_after(by, q);
  }
  if (body->spread)
    spread(scene, body->spread, copy, at, velocity, spin);
  def->position = tl_scene_dvec3(at);
  def->velocity = tl_scene_vec3(velocity);
  def->spin = tl_scene_vec3(spin);
  def->rotation =
      (talus_quat){(talus_real)q.w, (talus_real)q.v[0], (talus_real)q.v[1], (talus_real)q.v[2]};
}
