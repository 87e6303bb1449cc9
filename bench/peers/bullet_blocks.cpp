// Bullet: the pyramid of boxes and the pile of hulls of `talus bench blocks`.
//
//   talus bench blocks --table pyramid --against talus-peer-bullet-blocks
//
// calls it with the arguments of that command; it understands those that it needs and prints the
// same columns, without times by stage. One thread, sequential impulses, no sleep, the hull's
// margin within its points, `substeps` steps of dt/substeps.
#include <algorithm>
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "peer.h"

namespace {

struct Options {
  std::string table;
  int bodies = 0, steps = 0, substeps = 4, iterations = 10;
  bool quick = false;
};

btScalar real(double x) { return static_cast<btScalar>(x); }

struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broad, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  std::vector<btVector3> from;

  btCollisionShape *keep(btCollisionShape *shape) {
    shapes.emplace_back(shape);
    return shape;
  }

  void add(btCollisionShape *shape, double mass, const btTransform &at) {
    btVector3 inertia(0, 0, 0);
    if (mass > 0)
      shape->calculateLocalInertia(real(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(real(mass), nullptr, shape, inertia);
    info.m_startWorldTransform = at;
    info.m_friction = real(std::sqrt(0.6)); // a pair's is the product: 0.6
    bodies.push_back(std::make_unique<btRigidBody>(info));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
    from.push_back(at.getOrigin());
  }

  void add_plane(double x, double y, double z, double offset) {
    add(keep(new btStaticPlaneShape(btVector3(real(x), real(y), real(z)), real(offset))), 0,
        btTransform::getIdentity());
  }

  ~World() {
    for (auto &body : bodies)
      world.removeRigidBody(body.get());
  }
};

btTransform place(double x, double y, double z, const btQuaternion &q = btQuaternion(0, 0, 0, 1)) {
  return btTransform(q, btVector3(real(x), real(y), real(z)));
}

// The scenes are those of bench/blocks_scenes.c.
void stack_pyramid(World &to, int count) {
  const int layers = static_cast<int>(std::floor(std::sqrt(2.0 * count + 0.25) - 0.5 + 1e-9));
  btCollisionShape *box = to.keep(new btBoxShape(btVector3(0.5, 0.5, 0.5)));
  to.add_plane(0, 0, 1, 0);
  for (int row = 0; row < layers; ++row)
    for (int i = 0; i < layers - row; ++i)
      to.add(box, 1000, place(1.05 * (i + 0.5 * row - 0.5 * layers), 0, 0.5 + row));
}

btQuaternion rotation(unsigned i) {
  double q[4], square = 0;
  for (unsigned k = 0; k < 4; ++k) {
    q[k] = std::sin(12.9898 * (4.0 * i + k + 1)) * 43758.5453;
    q[k] = 2 * (q[k] - std::floor(q[k])) - 1;
    square += q[k] * q[k];
  }
  const double s = 1 / std::sqrt(square);
  return btQuaternion(real(s * q[1]), real(s * q[2]), real(s * q[3]), real(s * q[0]));
}

void pour_hulls(World &to, int count) {
  constexpr int vertices = 32;
  const int side = static_cast<int>(std::ceil(std::sqrt(count / 6.0))) + 1;
  const double half = 0.5 * (1.15 * side + 0.4);
  auto *hull = new btConvexHullShape();
  for (int i = 0; i < vertices; ++i) {
    const double z = 1 - (2 * i + 1.0) / vertices, r = std::sqrt(1 - z * z);
    const double angle = 2.399963229728653 * i;
    hull->addPoint(
        btVector3(real(0.5 * r * std::cos(angle)), real(0.5 * r * std::sin(angle)), real(0.5 * z)));
  }
  to.keep(hull);
  to.add_plane(0, 0, 1, 0);
  to.add_plane(1, 0, 0, -half);
  to.add_plane(-1, 0, 0, -half);
  to.add_plane(0, 1, 0, -half);
  to.add_plane(0, -1, 0, -half);
  for (int i = 0; i < count; ++i) {
    const int layer = i / (side * side), cell = i % (side * side);
    to.add(hull, 450,
           place(1.15 * (cell % side - 0.5 * (side - 1)), 1.15 * (cell / side - 0.5 * (side - 1)),
                 0.7 + 1.15 * layer, rotation(static_cast<unsigned>(i))));
  }
}

void run(World &to, const Options &options, int steps) {
  for (int i = 0; i < steps * options.substeps; ++i)
    to.world.stepSimulation(real(1.0 / 60 / options.substeps), 0);
}

void measure(const Options &options, int count, int steps) {
  World world;
  world.world.setGravity(btVector3(0, 0, real(-9.81)));
  world.world.getSolverInfo().m_numIterations = options.iterations;
  if (options.table == "pyramid")
    stack_pyramid(world, count);
  else
    pour_hulls(world, count);
  const int settled = steps >= 4 ? steps / 4 : 1;
  const double begun = peer_now_ms();
  run(world, options, steps - settled);
  const double middle = peer_now_ms();
  run(world, options, settled);
  const double ended = peer_now_ms();
  int contacts = 0;
  for (int i = 0; i < world.dispatcher.getNumManifolds(); ++i)
    contacts += world.dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
  double creep = 0, creep_most = 0, sag = 0, sag_most = 0, n = 0;
  for (size_t i = 0; i < world.bodies.size(); ++i) {
    if (world.bodies[i]->isStaticObject())
      continue;
    const btVector3 way = world.bodies[i]->getWorldTransform().getOrigin() - world.from[i];
    const double aside = std::hypot(static_cast<double>(way.x()), static_cast<double>(way.y()));
    const double down = -static_cast<double>(way.z());
    creep += aside, sag += down, n += 1;
    creep_most = std::max(creep_most, aside);
    sag_most = std::max(sag_most, down);
  }
  printf("%-10s %7zu %6d %9d %8.2f %8.2f %8s %8s %8s %8s %8.3f %8.3f %8.3f %8.3f\n",
         options.table.c_str(), world.bodies.size(), steps, contacts, (ended - begun) / steps,
         (ended - middle) / settled, "-", "-", "-", "-", creep / n, creep_most, sag / n, sag_most);
  fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const bool has_value = i + 1 < argc;
    if (name == "--table" && has_value)
      options.table = argv[++i];
    else if (name == "--bodies" && has_value)
      options.bodies = atoi(argv[++i]);
    else if (name == "--steps" && has_value)
      options.steps = atoi(argv[++i]);
    else if (name == "--substeps" && has_value)
      options.substeps = std::max(1, atoi(argv[++i]));
    else if (name == "--iterations" && has_value)
      options.iterations = atoi(argv[++i]);
    else if (name == "--quick")
      options.quick = true;
  }
  if (options.table != "pyramid" && options.table != "hulls") {
    fprintf(stderr, "%s: tables pyramid and hulls only\n", argv[0]);
    return 2;
  }
  const bool is_pyramid = options.table == "pyramid";
  std::vector<int> counts =
      is_pyramid ? std::vector<int>{1275, 5050, 20100} : std::vector<int>{2000, 10000};
  if (options.quick)
    counts = {is_pyramid ? 55 : 40};
  if (options.bodies > 0)
    counts = {options.bodies};
  printf("Bullet, one thread, %d steps of 1/%d s, %d sweeps; ms per 1/60 s.\n", options.substeps,
         60 * options.substeps, options.iterations);
  for (const int count : counts)
    measure(options, count,
            options.steps > 0 ? options.steps
            : options.quick   ? 4
            : is_pyramid      ? 200
                              : 300);
  return 0;
}
