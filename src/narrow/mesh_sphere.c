#include "kernels/collide_sphere.h"
#include "narrow/mesh.h"

int tl_mesh_sphere(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_mesh_posed m = tl_mesh_pose(b);
  const double radius = a->shape->size[0] * (double)a->scale + m.f->rounding * m.scale;
  const double own = a->shape->size[0] * (double)a->scale;
  tl_near near[TL_NEAR_MOST];
  const int found = tl_mesh_near(&m, tl_mesh_to_local(&m, tl_dvec3(0, 0, 0)),
                                 (radius + fmax((double)margin, 0)) / m.scale, near);
  int count = 0;
  for (int i = 0; i < found; ++i) {
    const double distance = near[i].distance * m.scale, s = near[i].inside ? -distance : distance;
    if (!(s - radius <= (double)margin))
      continue;
    const talus_dvec3 away = tl_frame_to_world(&m.frame, near[i].normal);
    out[count++] = tl_sphere_point(own, s - (radius - own), away, near[i].feature);
  }
  return count;
}
