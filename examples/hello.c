/* Hello, talus: drop a ball on the floor, step the world, and watch it bounce.
 *
 * Everything here comes from one header, <talus/talus.h>; scene files and result folders are not
 * needed. Built with the project as build/release/examples/hello, or against an installed library:
 *
 *   cc hello.c $(pkg-config --cflags --libs talus) -o hello
 */
#include <stdio.h>
#include <stdlib.h>

#include <talus/talus.h>

/* Every call that can fail returns a status; the message says what went wrong and how to mend it.
 */
static void check(talus_status status) {
  if (status != TALUS_OK) {
    fprintf(stderr, "hello: %s\n", talus_last_error());
    exit(1);
  }
}

int main(void) {
  /* A world: gravity points down the z axis, one step is half a millisecond. */
  talus_world_def settings = talus_world_def_default();
  settings.dt = 5e-4;
  talus_world *world;
  check(talus_world_create(&settings, &world));

  /* A material. Restitution 0.8: the ball leaves the floor with 0.8 of the speed it came with. */
  talus_material rubber;
  talus_material_def material = talus_material_def_default();
  material.density = 1100;    /* kg/m3 */
  material.restitution = 0.8; /* of a pair, the smaller of the two counts */
  check(talus_world_add_material(world, &material, &rubber));

  /* Two shapes: the half space below z = 0, and a sphere of 10 cm radius. */
  talus_shape floor_shape, ball_shape;
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_PLANE;
  shape.size[0] = 0, shape.size[1] = 0, shape.size[2] = 1, shape.size[3] = 0; /* n, d: n.x < d */
  check(talus_world_add_shape(world, &shape, &floor_shape));
  shape.kind = TALUS_SPHERE;
  shape.size[0] = 0.1;
  check(talus_world_add_shape(world, &shape, &ball_shape));

  /* Two bodies made of them. A body def that says nothing else is free, at the origin, at rest. */
  talus_body_def body = talus_body_def_default();
  body.kind = TALUS_FIXED;
  body.shape = floor_shape;
  body.material = rubber;
  check(talus_world_add_body(world, &body, NULL));

  talus_body ball;
  body = talus_body_def_default();
  body.shape = ball_shape;
  body.material = rubber;
  body.position.z = 1.1; /* its lowest point is 1 m above the floor */
  check(talus_world_add_body(world, &body, &ball));

  /* Two seconds, looking every 0.1 s: 200 steps. Height is that of the lowest point. */
  printf("  time  height\n");
  for (int i = 0; i <= 20; ++i) {
    talus_body_info info;
    check(talus_world_get_body(world, ball, &info));
    const double height = info.position.z - 0.1;
    printf("%5.1f s %6.3f m |%*s\n", talus_world_time(world), height, 1 + (int)(50 * height), "o");
    check(talus_world_step(world, 200));
  }

  talus_world_destroy(world);
  return 0;
}
