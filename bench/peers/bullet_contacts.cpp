// Bullet: contacts of spheres at distance <= 0, by a collision world of its own.
//
//   talus-peer-bullet-contacts FILE OUT
//
// FILE as in peer.h. OUT gets a little-endian uint64 N and N pairs of uint32, the lower first: the
// pairs that touch. Prints one line as peer.h says, with `contacts` for `pairs`; the time is that
// of one detection, broad phase included, once the world is made.
#include <btBulletCollisionCommon.h>
#include <memory>
#include <vector>

#include "peer.h"

struct touching {
  uint32_t a, b;
};

static void add_spheres(const peer_scene &scene, btCollisionWorld &world,
                        std::vector<std::unique_ptr<btSphereShape>> &shapes,
                        std::vector<std::unique_ptr<btCollisionObject>> &objects) {
  for (size_t i = 0; i < scene.count; ++i) {
    const double *r = scene.record + 4 * i;
    shapes.emplace_back(new btSphereShape(static_cast<btScalar>(r[3])));
    objects.emplace_back(new btCollisionObject());
    objects[i]->setCollisionShape(shapes[i].get());
    objects[i]->setUserIndex(static_cast<int>(i));
    btTransform at;
    at.setIdentity();
    at.setOrigin(btVector3(static_cast<btScalar>(r[0]), static_cast<btScalar>(r[1]),
                           static_cast<btScalar>(r[2])));
    objects[i]->setWorldTransform(at);
    world.addCollisionObject(objects[i].get());
  }
}

static std::vector<touching> touching_pairs(btDispatcher &dispatcher) {
  std::vector<touching> found;
  for (int i = 0; i < dispatcher.getNumManifolds(); ++i) {
    const btPersistentManifold *m = dispatcher.getManifoldByIndexInternal(i);
    bool touches = false;
    for (int k = 0; k < m->getNumContacts(); ++k)
      touches = touches || m->getContactPoint(k).getDistance() <= 0;
    const uint32_t a = static_cast<uint32_t>(m->getBody0()->getUserIndex());
    const uint32_t b = static_cast<uint32_t>(m->getBody1()->getUserIndex());
    if (touches)
      found.push_back(a < b ? touching{a, b} : touching{b, a});
  }
  return found;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s FILE OUT\n", argv[0]);
    return 2;
  }
  peer_scene scene;
  peer_read(2, argv, &scene);
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  std::vector<std::unique_ptr<btSphereShape>> shapes;
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  double took = 0;
  std::vector<touching> found;
  {
    btCollisionWorld world(&dispatcher, &broad, &configuration);
    add_spheres(scene, world, shapes, objects);
    const double begun = peer_now_ms();
    world.performDiscreteCollisionDetection();
    took = peer_now_ms() - begun;
    found = touching_pairs(dispatcher);
    for (const auto &object : objects)
      world.removeCollisionObject(object.get());
  }
  FILE *out = fopen(argv[2], "wb");
  const uint64_t n = found.size();
  bool good = out && fwrite(&n, sizeof n, 1, out) == 1 &&
              fwrite(found.data(), sizeof(touching), found.size(), out) == found.size();
  good = out && fclose(out) == 0 && good;
  if (!good) {
    fprintf(stderr, "%s: cannot write %s\n", argv[0], argv[2]);
    return 1;
  }
  peer_print("bullet-contacts", "contacts", found.size(), &took, 1);
  free(scene.record);
  return 0;
}
