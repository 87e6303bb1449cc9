/* Billiards: five balls between walls, in a reference from collision to collision, and in steps. */
#ifndef TESTS_BILLIARDS_H
#define TESTS_BILLIARDS_H

#include "free_fixture.h"

#include "world/world.h"

#include <math.h>

#define BALLS 5
#define SIDE  2.0 /* m: from wall to wall */

typedef struct table {
  long double x[BALLS][2], v[BALLS][2], radius, reach, wall; /* reach: of two centres */
  int hits[BALLS], most;
} table;

static inline long double ball_time(const table *t, int i, int j) {
  const long double dx = t->x[j][0] - t->x[i][0], dy = t->x[j][1] - t->x[i][1];
  const long double ux = t->v[j][0] - t->v[i][0], uy = t->v[j][1] - t->v[i][1];
  const long double b = dx * ux + dy * uy, a = ux * ux + uy * uy,
                    c = dx * dx + dy * dy - t->reach * t->reach, under = b * b - a * c;
  return b >= 0 || under < 0 ? INFINITY : c / (-b + sqrtl(under));
}

static inline long double wall_time(const table *t, int i, int k) {
  const long double v = t->v[i][k], end = v > 0 ? t->wall : -t->wall;
  return v == 0 ? INFINITY : (end - t->x[i][k]) / v;
}

static inline void move_all(table *t, long double dt) {
  for (int i = 0; i < BALLS; ++i)
    t->x[i][0] += dt * t->v[i][0], t->x[i][1] += dt * t->v[i][1];
}

static inline void collide(table *t, int i, int j) {
  long double n[2] = {t->x[j][0] - t->x[i][0], t->x[j][1] - t->x[i][1]};
  const long double length = sqrtl(n[0] * n[0] + n[1] * n[1]);
  n[0] /= length, n[1] /= length;
  const long double u = (t->v[j][0] - t->v[i][0]) * n[0] + (t->v[j][1] - t->v[i][1]) * n[1];
  for (int k = 0; k < 2; ++k)
    t->v[i][k] += u * n[k], t->v[j][k] -= u * n[k];
  t->hits[i]++, t->hits[j]++;
}

/* From collision to collision until `until`; stops before a ball has its sixth. Returns the time.
 */
static inline double play(table *t, double until) {
  long double now = 0;
  for (;;) {
    long double first = INFINITY;
    int who = 0, other = -1, axis = -1;
    for (int i = 0; i < BALLS; ++i) {
      for (int k = 0; k < 2; ++k)
        if (wall_time(t, i, k) < first)
          first = wall_time(t, i, k), who = i, other = -1, axis = k;
      for (int j = i + 1; j < BALLS; ++j)
        if (ball_time(t, i, j) < first)
          first = ball_time(t, i, j), who = i, other = j;
    }
    if (now + first > until) {
      move_all(t, until - now);
      return until;
    }
    if (t->hits[who] == 5 || (other >= 0 && t->hits[other] == 5)) {
      move_all(t, 0.5L * first);
      return (double)(now + 0.5L * first);
    }
    move_all(t, first);
    now += first;
    if (other >= 0)
      collide(t, who, other);
    else
      t->v[who][axis] *= -1, t->hits[who]++;
  }
}

/* Until a ball has its sixth collision, in one interval of the grid. */
static inline void check_billiards(talus_step_kind step) {
  static const double x[BALLS][2] = {{-0.7, 0.1}, {0.2, 0.15}, {0.5, -0.5}, {-0.3, 0.6}, {0, -0.6}};
  static const double v[BALLS][2] = {{3, 0.1}, {0, 0}, {-0.5, 1}, {0.2, -1.5}, {0.7, 0.3}};
  const double halo = 5e-12, radius = 0.1; /* a miss of it grows about tenfold each time */
  table t = {.radius = radius,
             .reach = 2 * radius + 0.75L * halo,
             .wall = SIDE / 2 - radius - 0.75L * halo};
  talus_world *world = make_with(step, 0, 1, halo, 2);
  const talus_material m = material(world, 0, 1);
  const talus_shape ball = shape(world, TALUS_SPHERE, radius, 0, 0);
  body(world, shape(world, TALUS_CONTAINER, SIDE, SIDE, SIDE), m, (talus_dvec3){0, 0, 0},
       (talus_vec3){0}, (talus_vec3){0}, TALUS_FIXED);
  talus_body b[BALLS];
  for (int i = 0; i < BALLS; ++i) {
    b[i] = body(world, ball, m, (talus_dvec3){x[i][0], x[i][1], 0},
                (talus_vec3){TL_R(v[i][0]), TL_R(v[i][1]), 0}, (talus_vec3){0}, TALUS_FREE);
    for (int k = 0; k < 2; ++k)
      t.x[i][k] = x[i][k], t.v[i][k] = v[i][k];
  }
  const double end = play(&t, 1e9);
  world->model.dt = end; /* so that it ends then */
  CHECK_OK(talus_world_step(world, 1));
  int hits = 0;
  for (int i = 0; i < BALLS; ++i) {
    const talus_dvec3 got = info(world, b[i]).position;
    CHECK_NEAR(got.x, (double)t.x[i][0], 1e-9);
    CHECK_NEAR(got.y, (double)t.x[i][1], 1e-9);
    hits += t.hits[i];
  }
  CHECK(hits >= 10);
  talus_world_destroy(world);
}

#endif
