// CGAL: box_self_intersection_d (Zomorodian, Edelsbrunner 2002).
#include <CGAL/box_intersection_d.h>
#include <vector>

#include "peer.h"

typedef CGAL::Box_intersection_d::Box_with_handle_d<double, 3, const double *> box;

int main(int argc, char **argv) {
  peer_scene scene;
  peer_read(argc, argv, &scene);
  std::vector<double> times;
  size_t count = 0;
  for (int i = 0; i < scene.repeat; ++i) {
    std::vector<box> boxes;
    boxes.reserve(scene.count);
    for (size_t k = 0; k < scene.count; ++k) {
      double lo[3] = {peer_low(&scene, k, 0), peer_low(&scene, k, 1), peer_low(&scene, k, 2)};
      double hi[3] = {peer_high(&scene, k, 0), peer_high(&scene, k, 1), peer_high(&scene, k, 2)};
      boxes.push_back(box(lo, hi, scene.record + 4 * k));
    }
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    const double begun = peer_now_ms();
    CGAL::box_self_intersection_d(
        boxes.begin(), boxes.end(),
        [&](const box &a, const box &b) {
          const uint32_t x = static_cast<uint32_t>((a.handle() - scene.record) / 4);
          const uint32_t y = static_cast<uint32_t>((b.handle() - scene.record) / 4);
          pairs.emplace_back(x < y ? x : y, x < y ? y : x);
        },
        std::ptrdiff_t(10), CGAL::Box_intersection_d::CLOSED);
    times.push_back(peer_now_ms() - begun);
    count = pairs.size();
  }
  peer_print("cgal-boxes", "pairs", count, times.data(), scene.repeat);
  free(scene.record);
  return 0;
}
