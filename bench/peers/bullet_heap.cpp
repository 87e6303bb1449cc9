// Bullet: a heap of spheres in a box, stepped by its sequential impulses.
//
//   talus-peer-bullet-heap FILE side dt iterations rest_steps steps
//
// Lengths are made a hundred times as long (and gravity as strong, so that times stay): Bullet's
// distances, such as the 2 cm at which contacts are kept, are made for bodies of about a metre.
// FILE as in peer.h. Prints what talus bench ccp reads: the mean vertical velocity before and after
// the measured steps, and their wall time; writes the centres to final.txt.
#include <btBulletDynamicsCommon.h>
#include <memory>
#include <vector>

#include "peer.h"

namespace {

constexpr double unit = 100;

struct Heap {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broad, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  size_t free_from = 0;

  void add(btCollisionShape *shape, double mass, const btVector3 &at) {
    btVector3 inertia(0, 0, 0);
    if (mass > 0)
      shape->calculateLocalInertia(static_cast<btScalar>(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, shape,
                                                  inertia);
    info.m_startWorldTransform.setOrigin(at);
    info.m_friction = static_cast<btScalar>(0.7071067811865476); // a pair's is the product: 0.5
    info.m_restitution = 0;
    bodies.push_back(std::make_unique<btRigidBody>(info));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }

  void add_wall(const btVector3 &normal, double offset) {
    shapes.push_back(std::make_unique<btStaticPlaneShape>(normal, static_cast<btScalar>(offset)));
    add(shapes.back().get(), 0, btVector3(0, 0, 0));
  }

  double mean_fall() const {
    double sum = 0;
    for (size_t i = free_from; i < bodies.size(); ++i)
      sum += static_cast<double>(bodies[i]->getLinearVelocity().z());
    return sum / static_cast<double>(bodies.size() - free_from);
  }

  ~Heap() {
    for (auto &body : bodies)
      world.removeRigidBody(body.get());
  }
};

void run(Heap &heap, double dt, long steps) {
  for (long i = 0; i < steps; ++i)
    heap.world.stepSimulation(static_cast<btScalar>(dt), 0);
}

} // namespace

int main(int argc, char **argv) {
  peer_scene scene;
  if (argc < 7) {
    fprintf(stderr, "usage: %s FILE side dt iterations rest_steps steps\n", argv[0]);
    return 2;
  }
  peer_read(2, argv, &scene);
  const double half = unit * 0.5 * atof(argv[2]), dt = atof(argv[3]);
  Heap heap;
  heap.world.setGravity(btVector3(0, 0, static_cast<btScalar>(-9.81 * unit)));
  heap.world.getSolverInfo().m_numIterations = atoi(argv[4]);
  heap.add_wall(btVector3(1, 0, 0), -half);
  heap.add_wall(btVector3(-1, 0, 0), -half);
  heap.add_wall(btVector3(0, 1, 0), -half);
  heap.add_wall(btVector3(0, -1, 0), -half);
  heap.add_wall(btVector3(0, 0, 1), 0);
  heap.free_from = heap.bodies.size();
  const double r = unit * scene.record[3];
  heap.shapes.push_back(std::make_unique<btSphereShape>(static_cast<btScalar>(r)));
  btCollisionShape *ball = heap.shapes.back().get();
  for (size_t i = 0; i < scene.count; ++i)
    heap.add(ball, 4.18879020478639 * r * r * r,
             btVector3(static_cast<btScalar>(unit * scene.record[4 * i]),
                       static_cast<btScalar>(unit * scene.record[4 * i + 1]),
                       static_cast<btScalar>(unit * scene.record[4 * i + 2])));
  run(heap, dt, atol(argv[5]));
  printf("talus_vcm %.9g\n", heap.mean_fall() / unit);
  const double begun = peer_now_ms();
  run(heap, dt, atol(argv[6]));
  printf("Loop time of %.6f\n", 1e-3 * (peer_now_ms() - begun));
  printf("talus_vcm %.9g\n", heap.mean_fall() / unit);
  FILE *file = fopen("final.txt", "w");
  if (!file)
    return 1;
  fprintf(file, "ITEM: ATOMS x y z\n");
  for (size_t i = heap.free_from; i < heap.bodies.size(); ++i) {
    const btVector3 at = heap.bodies[i]->getWorldTransform().getOrigin();
    fprintf(file, "%.9g %.9g %.9g\n", static_cast<double>(at.x()) / unit,
            static_cast<double>(at.y()) / unit, static_cast<double>(at.z()) / unit);
  }
  free(scene.record);
  return fclose(file) == 0 ? 0 : 1;
}
