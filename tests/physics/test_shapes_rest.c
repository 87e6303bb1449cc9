/* Every shape in a stable pose, on a plane, on a fixed box and on the floor of a container: it
 * stays where it is for ten seconds, presses with its weight, and neither creeps nor spins. */
#include "rig.h"

#define HALF_TURN 1.5707963267948966

/* A pose in which a shape rests: height of the centre of mass above the floor. */
typedef struct pose {
  const char *what;
  talus_shape_def shape;
  talus_quat rotation;
  double height; /* of the shape's own origin */
} pose;

static const double octahedron[] = {0.2, 0,    0, -0.2, 0, 0,   0, 0.2, 0,
                                    0,   -0.2, 0, 0,    0, 0.2, 0, 0,   -0.2};
static const double prism[] = {-0.2, -0.1, 0,   0.2, -0.1, 0,   0, 0.2, 0,
                               -0.2, -0.1, 0.1, 0.2, -0.1, 0.1, 0, 0.2, 0.1};
static const double tripod[] = {0.2,  0,     0, 0.05, -0.1, 0.17, 0,   0.05,
                                -0.1, -0.17, 0, 0.05, 0,    0,    0.1, 0.1};

static talus_quat about_x(double angle) {
  return (talus_quat){(talus_real)cos(angle / 2), (talus_real)sin(angle / 2), 0, 0};
}

static talus_quat about_y(double angle) {
  return (talus_quat){(talus_real)cos(angle / 2), 0, (talus_real)sin(angle / 2), 0};
}

static int all_poses(pose *p) {
  const talus_quat up = {1, 0, 0, 0};
  const double slant = atan2(0.1, 0.3); /* of a cone, from its axis */
  int n = 0;
  p[n++] = (pose){"box", {.kind = TALUS_BOX, .size = {0.3, 0.2, 0.1}}, up, 0.05};
  p[n++] = (pose){"ellipsoid", {.kind = TALUS_ELLIPSOID, .size = {0.2, 0.15, 0.1}}, up, 0.1};
  p[n++] =
      (pose){"capsule lying", {.kind = TALUS_CAPSULE, .size = {0.1, 0.3}}, about_x(HALF_TURN), 0.1};
  p[n++] = (pose){"cylinder on its end", {.kind = TALUS_CYLINDER, .size = {0.1, 0.2}}, up, 0.1};
  p[n++] = (pose){
      "cylinder lying", {.kind = TALUS_CYLINDER, .size = {0.1, 0.3}}, about_y(HALF_TURN), 0.1};
  p[n++] = (pose){"cone on its base", {.kind = TALUS_CONE, .size = {0.1, 0.3}}, up, 0.15};
  /* Lying: the side level; the middle of the axis is 0.15 from the apex along it. */
  p[n++] = (pose){"cone lying",
                  {.kind = TALUS_CONE, .size = {0.1, 0.3}},
                  about_y(HALF_TURN + slant),
                  0.15 * sin(slant)};
  p[n++] = (pose){
      "superellipsoid", {.kind = TALUS_SUPERELLIPSOID, .size = {0.2, 0.15, 0.1, 4, 3}}, up, 0.1};
  p[n++] = (pose){"hull on a face", {.kind = TALUS_HULL, .points = prism, .point_count = 6}, up, 0};
  p[n++] = (pose){"hull, an octahedron on a face",
                  {.kind = TALUS_HULL, .points = octahedron, .point_count = 6},
                  {1, 0, 0, 0},
                  0.2 / sqrt(3)};
  /* Turns (1, 1, 1) to -z: half a turn about the bisector of it and -z. */
  const double x = 1 / sqrt(3), z = 1 / sqrt(3) - 1, length = sqrt(2 * x * x + z * z);
  p[n - 1].rotation =
      (talus_quat){0, (talus_real)(x / length), (talus_real)(x / length), (talus_real)(z / length)};
  p[n++] =
      (pose){"clump of four", {.kind = TALUS_CLUMP, .points = tripod, .point_count = 4}, up, 0.05};
  return n;
}

enum { ON_PLANE, ON_BOX, IN_CONTAINER, FLOORS };

static void add_ground(talus_world *world, talus_material m, int floor) {
  if (floor == ON_PLANE)
    rig_floor(world, m);
  if (floor == ON_BOX)
    rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_BOX, 100, 4, 1, 0), m, 0, 0, -0.5);
  if (floor == IN_CONTAINER)
    rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 100, 4, 4, 0), m, 0, 0, 2);
}

/* All of them at once, far from each other: one world, one solve. */
static void check_all_rest(int floor) {
  const double dt = 5e-3;
  talus_world_def def = rig_def(dt);
  def.solve.iterations = 400;
  def.solve.tolerance = BY_PRECISION(1e-12, 1e-7);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  add_ground(world, m, floor);
  pose poses[16];
  const int count = all_poses(poses);
  talus_body body[16];
  talus_body_info start[16];
  for (int i = 0; i < count; ++i) {
    talus_body_def b = talus_body_def_default();
    CHECK_OK(talus_world_add_shape(world, &poses[i].shape, &b.shape));
    b.kind = TALUS_FREE, b.material = m;
    b.position = (talus_dvec3){2.0 * i - 10, 0.3, poses[i].height};
    b.rotation = poses[i].rotation;
    CHECK_OK(talus_world_add_body(world, &b, &body[i]));
    start[i] = rig_info(world, body[i]);
  }
  CHECK_OK(talus_world_step(world, (uint64_t)(10 / dt)));
  for (int i = 0; i < count; ++i) {
    const talus_body_info now = rig_info(world, body[i]);
    const double moved = fabs(now.position.x - start[i].position.x) +
                         fabs(now.position.y - start[i].position.y) +
                         fabs(now.position.z - start[i].position.z);
    const talus_quat p = start[i].rotation, q = now.rotation;
    const double dot = fabs((double)(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z));
    const double turned = 2 * acos(fmin(1, dot));
    CHECK_MSG(moved < BY_PRECISION(1e-7, 2e-3), "%s, floor %d: moved by %g m", poses[i].what, floor,
              moved);
    CHECK_MSG(turned < BY_PRECISION(1e-6, 3e-2), "%s, floor %d: turned by %g", poses[i].what, floor,
              turned);
    const double weight = (double)now.mass * G * dt;
    CHECK_MSG(fabs(rig_impulse_z(world, body[i]) - weight) < weight * BY_PRECISION(1e-6, 1e-2),
              "%s, floor %d: presses with %g of its weight", poses[i].what, floor,
              rig_impulse_z(world, body[i]) / weight);
  }
  talus_world_destroy(world);
}

TEST(every_shape_rests_on_a_plane) { check_all_rest(ON_PLANE); }
TEST(every_shape_rests_on_a_box) { check_all_rest(ON_BOX); }
TEST(every_shape_rests_in_a_container) { check_all_rest(IN_CONTAINER); }

TEST_MAIN()
