// FCL: distance and contacts of two meshes by trees of OBBRSS.
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>
#include <algorithm>
#include <memory>
#include <vector>

#include "meshes.h"

using model = fcl::BVHModel<fcl::OBBRSSd>;

static std::shared_ptr<model> make(const peer_meshes &m) {
  std::vector<fcl::Vector3d> points;
  std::vector<fcl::Triangle> triangles;
  for (size_t i = 0; i < m.vertices; ++i)
    points.emplace_back(m.vertex[3 * i], m.vertex[3 * i + 1], m.vertex[3 * i + 2]);
  for (size_t i = 0; i < m.triangles; ++i)
    triangles.emplace_back(m.triangle[3 * i], m.triangle[3 * i + 1], m.triangle[3 * i + 2]);
  auto made = std::make_shared<model>();
  made->beginModel();
  made->addSubModel(points, triangles);
  made->endModel();
  return made;
}

int main(int argc, char **argv) {
  const peer_meshes m = peer_read_meshes(argc, argv);
  const auto mesh = make(m);
  fcl::CollisionObjectd a(mesh), b(mesh);
  b.setTransform(
      fcl::Quaterniond(m.rotation[0], m.rotation[1], m.rotation[2], m.rotation[3]).normalized(),
      fcl::Vector3d(m.position[0], m.position[1], m.position[2]));
  double best = HUGE_VAL, gap = 0;
  for (int i = 0; i < PEER_REPEATS; ++i) {
    fcl::DistanceRequestd request(true);
    fcl::DistanceResultd result;
    const double begun = peer_cpu();
    fcl::distance(&a, &b, request, result);
    best = std::min(best, peer_cpu() - begun);
    gap = result.min_distance;
  }
  peer_print_meshes("fcl-distance", &m, 1, best, gap);
  size_t found = 0;
  best = HUGE_VAL, gap = 0;
  for (int i = 0; i < PEER_REPEATS; ++i) {
    fcl::CollisionRequestd request(10000, true);
    fcl::CollisionResultd result;
    const double begun = peer_cpu();
    fcl::collide(&a, &b, request, result);
    best = std::min(best, peer_cpu() - begun);
    found = result.numContacts();
    gap = 0;
    for (size_t k = 0; k < found; ++k)
      gap = std::min(gap, -result.getContact(k).penetration_depth);
  }
  peer_print_meshes("fcl-contacts", &m, found, best, gap);
  return 0;
}
