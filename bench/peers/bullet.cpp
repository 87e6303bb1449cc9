// Bullet: two dynamic bounding volume trees (btDbvtBroadphase), filled and asked once; with pairs
// found at insertion, and with pairs found afterwards ("deferred").
#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>
#include <vector>

#include "peer.h"

static double run(const peer_scene &scene, const std::vector<btVector3> &low,
                  const std::vector<btVector3> &high, bool deferred, size_t &count) {
  const double begun = peer_now_ms();
  btDbvtBroadphase *broad = new btDbvtBroadphase();
  broad->m_deferedcollide = deferred;
  for (size_t i = 0; i < scene.count; ++i)
    broad->createProxy(low[i], high[i], 0, reinterpret_cast<void *>(i), 1, 1, nullptr);
  broad->calculateOverlappingPairs(nullptr);
  const double took = peer_now_ms() - begun;
  const btBroadphasePairArray &pairs = broad->getOverlappingPairCache()->getOverlappingPairArray();
  count = 0;
  for (int i = 0; i < pairs.size(); ++i)
    count += static_cast<size_t>(
        peer_overlap(&scene, reinterpret_cast<size_t>(pairs[i].m_pProxy0->m_clientObject),
                     reinterpret_cast<size_t>(pairs[i].m_pProxy1->m_clientObject)));
  delete broad;
  return took;
}

int main(int argc, char **argv) {
  peer_scene scene;
  peer_read(argc, argv, &scene);
  std::vector<btVector3> low(scene.count), high(scene.count);
  for (size_t i = 0; i < scene.count; ++i) {
    low[i].setValue(peer_float_below(peer_low(&scene, i, 0)),
                    peer_float_below(peer_low(&scene, i, 1)),
                    peer_float_below(peer_low(&scene, i, 2)));
    high[i].setValue(peer_float_above(peer_high(&scene, i, 0)),
                     peer_float_above(peer_high(&scene, i, 1)),
                     peer_float_above(peer_high(&scene, i, 2)));
  }
  for (int deferred = 0; deferred < 2; ++deferred) {
    std::vector<double> times;
    size_t count = 0;
    for (int i = 0; i < scene.repeat; ++i)
      times.push_back(run(scene, low, high, deferred != 0, count));
    peer_print(deferred ? "bullet-deferred" : "bullet-dbvt", "pairs", count, times.data(),
               scene.repeat);
  }
  free(scene.record);
  return 0;
}
