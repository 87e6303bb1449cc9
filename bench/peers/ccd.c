/* libccd: ellipsoids by their support map, penetration by MPR and by GJK with EPA. */
#include <ccd/ccd.h>
#include <ccd/quat.h>

#include "pairs.h"

typedef struct body {
  ccd_vec3_t half, position;
  ccd_quat_t turn, back;
} body;

static void support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *point) {
  const body *b = (const body *)object;
  ccd_vec3_t u;
  ccdVec3Copy(&u, direction);
  ccdQuatRotVec(&u, &b->back);
  const double x = u.v[0] * b->half.v[0], y = u.v[1] * b->half.v[1], z = u.v[2] * b->half.v[2];
  const double length = sqrt(x * x + y * y + z * z);
  ccdVec3Set(point, b->half.v[0] * x / length, b->half.v[1] * y / length,
             b->half.v[2] * z / length);
  ccdQuatRotVec(point, &b->turn);
  ccdVec3Add(point, &b->position);
}

static void centre(const void *object, ccd_vec3_t *point) {
  ccdVec3Copy(point, &((const body *)object)->position);
}

static body make(const double half[3], const double q[4], const double at[3]) {
  body b;
  ccdVec3Set(&b.half, half[0], half[1], half[2]);
  ccdVec3Set(&b.position, at[0], at[1], at[2]);
  ccdQuatSet(&b.turn, q[1], q[2], q[3], q[0]);
  ccdQuatInvert2(&b.back, &b.turn);
  return b;
}

static void run(const char *name, int mpr, const peer_pair *pairs, size_t n, double *gap,
                double *angle) {
  static const double origin[3] = {0, 0, 0};
  size_t touching = 0;
  double seconds = 0;
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = support;
  ccd.center1 = ccd.center2 = centre;
  ccd.max_iterations = 500;
  ccd.mpr_tolerance = ccd.epa_tolerance = 1e-6;
  for (size_t i = 0; i < n; ++i) {
    const body a = make(pairs[i].half_a, pairs[i].q_a, origin);
    const body b = make(pairs[i].half_b, pairs[i].q_b, pairs[i].d);
    ccd_real_t depth = 0;
    ccd_vec3_t direction, point;
    const double begun = peer_cpu();
    const int missed = mpr ? ccdMPRPenetration(&a, &b, &ccd, &depth, &direction, &point)
                           : ccdGJKPenetration(&a, &b, &ccd, &depth, &direction, &point);
    seconds += peer_cpu() - begun;
    if (missed)
      continue;
    peer_judge(&pairs[i], depth, direction.v, &gap[touching], &angle[touching]);
    touching++;
  }
  peer_print_pairs(name, n, touching, seconds, gap, angle);
}

int main(int argc, char **argv) {
  size_t n;
  peer_pair *pairs = peer_read_pairs(argc, argv, &n);
  double *gap = malloc((n + 1) * sizeof *gap), *angle = malloc((n + 1) * sizeof *angle);
  if (!gap || !angle)
    return 1;
  run("libccd-mpr", 1, pairs, n, gap, angle);
  run("libccd-gjk-epa", 0, pairs, n, gap, angle);
  free(gap);
  free(angle);
  free(pairs);
  return 0;
}
