// CGAL: Delaunay triangulation of the centres, whose edges are the candidates, as in Poirrier (2009)
// (after Ferrez 2001). What it prints are edges: for spheres that overlap much they are no superset
// of the pairs.
#include <CGAL/Delaunay_triangulation_3.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Triangulation_vertex_base_with_info_3.h>
#include <vector>

#include "peer.h"

typedef CGAL::Exact_predicates_inexact_constructions_kernel kernel;
typedef CGAL::Triangulation_vertex_base_with_info_3<uint32_t, kernel> vertex;
typedef CGAL::Delaunay_triangulation_cell_base_3<kernel> cell;
typedef CGAL::Triangulation_data_structure_3<vertex, cell> structure;
typedef CGAL::Delaunay_triangulation_3<kernel, structure> triangulation;

int main(int argc, char **argv) {
  peer_scene scene;
  peer_read(argc, argv, &scene);
  std::vector<std::pair<kernel::Point_3, uint32_t>> points;
  points.reserve(scene.count);
  for (size_t i = 0; i < scene.count; ++i)
    points.emplace_back(
        kernel::Point_3(scene.record[4 * i], scene.record[4 * i + 1], scene.record[4 * i + 2]),
        static_cast<uint32_t>(i));
  std::vector<double> times;
  size_t count = 0;
  for (int i = 0; i < scene.repeat; ++i) {
    const double begun = peer_now_ms();
    triangulation tetrahedra(points.begin(), points.end());
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (auto e = tetrahedra.finite_edges_begin(); e != tetrahedra.finite_edges_end(); ++e)
      edges.emplace_back(e->first->vertex(e->second)->info(), e->first->vertex(e->third)->info());
    times.push_back(peer_now_ms() - begun);
    count = edges.size();
  }
  peer_print("cgal-delaunay", "edges", count, times.data(), scene.repeat);
  free(scene.record);
  return 0;
}
