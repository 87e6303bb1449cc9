// FCL: continuous collision of two copies of a mesh, the second of which moves.
//
//   talus-peer-fcl-continuous FILE advancement | naive
//
// advancement: conservative advancement (FCL 0.7 has a time error of its own, 1e-5). naive: a
// collision test at 10,001 moments, until one finds a contact.
//
// FILE: little-endian uint64 vertices, triangles, then three doubles of each vertex and three uint32
// of each triangle; uint64 motions, then 14 doubles of each: position and quaternion (w first) at
// the begin and at the end. Prints "toi T" for each (1: they do not meet) and "seconds S", CPU time.
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/math/motion/interp_motion.h>
#include <fcl/narrowphase/continuous_collision.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

typedef fcl::BVHModel<fcl::OBBRSSd> model;

static double cpu() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static fcl::Transform3d pose(const double v[7]) {
  fcl::Transform3d t = fcl::Transform3d::Identity();
  t.linear() = fcl::Quaterniond(v[3], v[4], v[5], v[6]).normalized().toRotationMatrix();
  t.translation() = fcl::Vector3d(v[0], v[1], v[2]);
  return t;
}

static std::shared_ptr<model> read_mesh(FILE *file) {
  uint64_t counts[2];
  if (fread(counts, sizeof *counts, 2, file) != 2)
    return nullptr;
  std::vector<double> x(3 * counts[0]);
  std::vector<uint32_t> v(3 * counts[1]);
  if (fread(x.data(), sizeof(double), x.size(), file) != x.size() ||
      fread(v.data(), sizeof(uint32_t), v.size(), file) != v.size())
    return nullptr;
  std::vector<fcl::Vector3d> points;
  std::vector<fcl::Triangle> triangles;
  for (size_t i = 0; i < counts[0]; ++i)
    points.emplace_back(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
  for (size_t i = 0; i < counts[1]; ++i)
    triangles.emplace_back(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
  auto m = std::make_shared<model>();
  m->beginModel();
  m->addSubModel(points, triangles);
  m->endModel();
  return m;
}

int main(int argc, char **argv) {
  FILE *file = argc > 2 ? fopen(argv[1], "rb") : nullptr;
  if (!file) {
    fprintf(stderr, "usage: %s FILE advancement | naive\n", argv[0]);
    return 2;
  }
  auto a = read_mesh(file);
  uint64_t count = 0;
  if (!a || fread(&count, sizeof count, 1, file) != 1)
    return 2;
  model b(*a);
  fcl::ContinuousCollisionRequestd request;
  const bool is_naive = strcmp(argv[2], "naive") == 0;
  request.num_max_iterations = 10001;
  request.toc_err = 0.99e-4; // so that the number of moments decides
  request.ccd_motion_type = fcl::CCDM_LINEAR;
  request.gjk_solver_type = fcl::GST_LIBCCD;
  request.ccd_solver_type =
      is_naive ? fcl::CCDC_NAIVE : fcl::CCDC_CONSERVATIVE_ADVANCEMENT;
  double seconds = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double v[14];
    if (fread(v, sizeof *v, 14, file) != 14)
      return 2;
    const fcl::Transform3d still = fcl::Transform3d::Identity();
    const fcl::Transform3d from = pose(v), to = pose(v + 7);
    fcl::ContinuousCollisionResultd result;
    const double begun = cpu();
    fcl::continuousCollide<double>(a.get(), still, still, &b, from, to, request, result);
    seconds += cpu() - begun;
    printf("toi %.17g\n", result.is_collide ? result.time_of_contact : 1.0);
  }
  printf("seconds %.9g\n", seconds);
  fclose(file);
  return 0;
}
