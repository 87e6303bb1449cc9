// Bullet: contacts of two meshes by GImpact, the shape it has for meshes that move.
#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <algorithm>
#include <btBulletCollisionCommon.h>
#include <vector>

#include "meshes.h"

int main(int argc, char **argv) {
  const peer_meshes m = peer_read_meshes(argc, argv);
  std::vector<btScalar> points(3 * m.vertices);
  std::vector<int> corners(3 * m.triangles);
  for (size_t i = 0; i < points.size(); ++i)
    points[i] = static_cast<btScalar>(m.vertex[i]);
  for (size_t i = 0; i < corners.size(); ++i)
    corners[i] = static_cast<int>(m.triangle[i]);
  btTriangleIndexVertexArray lists(static_cast<int>(m.triangles), corners.data(),
                                   3 * static_cast<int>(sizeof(int)), static_cast<int>(m.vertices),
                                   points.data(), 3 * static_cast<int>(sizeof(btScalar)));
  btGImpactMeshShape shape_a(&lists), shape_b(&lists);
  for (btGImpactMeshShape *shape : {&shape_a, &shape_b}) {
    shape->setMargin(static_cast<btScalar>(5e-4));
    shape->updateBound();
  }
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
  btDbvtBroadphase broad;
  btCollisionWorld world(&dispatcher, &broad, &configuration);
  btCollisionObject a, b;
  a.setCollisionShape(&shape_a);
  b.setCollisionShape(&shape_b);
  btTransform at;
  at.setIdentity();
  a.setWorldTransform(at);
  at.setRotation(
      btQuaternion(static_cast<btScalar>(m.rotation[1]), static_cast<btScalar>(m.rotation[2]),
                   static_cast<btScalar>(m.rotation[3]), static_cast<btScalar>(m.rotation[0]))
          .normalized());
  at.setOrigin(btVector3(static_cast<btScalar>(m.position[0]), static_cast<btScalar>(m.position[1]),
                         static_cast<btScalar>(m.position[2])));
  b.setWorldTransform(at);
  world.addCollisionObject(&a);
  world.addCollisionObject(&b);
  double best = HUGE_VAL, gap = 0;
  unsigned long found = 0;
  for (int i = 0; i < PEER_REPEATS; ++i) {
    const double begun = peer_cpu();
    world.performDiscreteCollisionDetection();
    best = std::min(best, peer_cpu() - begun);
    found = 0;
    gap = 0;
    for (int k = 0; k < dispatcher.getNumManifolds(); ++k)
      for (int c = 0; c < dispatcher.getManifoldByIndexInternal(k)->getNumContacts(); ++c, ++found)
        gap = std::min(
            gap, static_cast<double>(
                     dispatcher.getManifoldByIndexInternal(k)->getContactPoint(c).getDistance()));
  }
  peer_print_meshes("gimpact-contacts", &m, found, best, gap);
  world.removeCollisionObject(&a);
  world.removeCollisionObject(&b);
  return 0;
}
