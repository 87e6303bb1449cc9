// FCL: its own ellipsoid, penetration by its default narrow-phase solver.
#include <fcl/narrowphase/collision.h>
#include <memory>
#include <vector>

#include "pairs.h"

static fcl::Transform3d pose(const double q[4], const double at[3]) {
  fcl::Transform3d t = fcl::Transform3d::Identity();
  t.linear() = fcl::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
  t.translation() = fcl::Vector3d(at[0], at[1], at[2]);
  return t;
}

static void run(const char *name, const peer_pair *pairs, size_t n) {
  static const double origin[3] = {0, 0, 0};
  std::vector<double> gap, angle;
  double seconds = 0;
  for (size_t i = 0; i < n; ++i) {
    const peer_pair &p = pairs[i];
    fcl::Ellipsoidd a(p.half_a[0], p.half_a[1], p.half_a[2]);
    fcl::Ellipsoidd b(p.half_b[0], p.half_b[1], p.half_b[2]);
    const fcl::Transform3d ta = pose(p.q_a, origin), tb = pose(p.q_b, p.d);
    fcl::CollisionRequestd request(1, true);
    request.gjk_tolerance = 1e-6;
    fcl::CollisionResultd result;
    const double begun = peer_cpu();
    fcl::collide(&a, ta, &b, tb, request, result);
    seconds += peer_cpu() - begun;
    if (!result.isCollision() || result.numContacts() == 0)
      continue;
    const fcl::Contactd &c = result.getContact(0);
    double g, e;
    peer_judge(&p, c.penetration_depth, c.normal.data(), &g, &e);
    gap.push_back(g);
    angle.push_back(e);
  }
  peer_print_pairs(name, n, gap.size(), seconds, gap.data(), angle.data());
}

int main(int argc, char **argv) {
  size_t n;
  peer_pair *pairs = peer_read_pairs(argc, argv, &n);
  run("fcl", pairs, n);
  free(pairs);
  return 0;
}
