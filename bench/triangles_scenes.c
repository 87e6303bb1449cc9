/* talus bench triangles: whole steps. Spheres in a container of triangles beside a `container`,
 * stones as meshes, hulls and clumps in a hopper of triangles, and the memory of a mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <talus/mesh.h>

#include "tools.h"
#include "triangles.h"

#define RADIUS 0.005 /* of a sphere in the tank, m */
#define SETTLE 100   /* steps */
#define STEPS  20

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static talus_shape_def mesh_def(const talus_mesh *mesh, talus_sides sides) {
  talus_shape_def def = talus_shape_def_default();
  def.kind = TALUS_MESH;
  def.points = (const double *)mesh->vertex, def.point_count = mesh->vertices;
  def.triangles = (const uint32_t *)mesh->triangle, def.triangle_count = mesh->triangles;
  def.sides = sides;
  return def;
}

/* ---- a tank ---------------------------------------------------------------------------------- */

/* A box of 12 n^2 triangles about the origin: each point of a lattice that is on its surface,
 * once. */
static bool make_tank(size_t n, const double edge[3], talus_mesh *mesh) {
  const size_t across = n + 1, places = across * across * across;
  uint32_t *number = malloc(places * sizeof *number);
  *mesh = (talus_mesh){.triangles = 12 * n * n};
  mesh->vertex = malloc(6 * across * across * sizeof *mesh->vertex);
  mesh->triangle = malloc(mesh->triangles * sizeof *mesh->triangle);
  if (!number || !mesh->vertex || !mesh->triangle) {
    free(number);
    return false;
  }
  for (size_t i = 0; i < places; ++i) {
    const size_t at[3] = {i % across, i / across % across, i / across / across};
    const bool outside =
        at[0] % n == 0 || at[1] % n == 0 || at[2] % n == 0; /* 0 or n on some axis */
    number[i] = (uint32_t)mesh->vertices;
    for (int k = 0; k < 3 && outside; ++k)
      mesh->vertex[mesh->vertices][k] = edge[k] * ((double)at[k] / (double)n - 0.5);
    mesh->vertices += outside;
  }
  size_t t = 0;
  const size_t step[3] = {1, across, across * across};
  for (int axis = 0; axis < 3; ++axis)
    for (size_t upper = 0; upper < 2; ++upper)
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
          const size_t u = step[(axis + 1) % 3], v = step[(axis + 2) % 3];
          const size_t at = upper * n * step[axis] + i * u + j * v;
          const uint32_t q[4] = {number[at], number[upper ? at + u : at + v], number[at + u + v],
                                 number[upper ? at + v : at + u]};
          memcpy(mesh->triangle[t++], (const uint32_t[3]){q[0], q[1], q[2]}, 3 * sizeof *q);
          memcpy(mesh->triangle[t++], (const uint32_t[3]){q[0], q[2], q[3]}, 3 * sizeof *q);
        }
  free(number);
  return true;
}

static void free_tank(talus_mesh *mesh) {
  free(mesh->vertex);
  free(mesh->triangle);
}

static talus_status add_spheres(talus_world *world, int bodies, double side, talus_body_def ball) {
  const double pitch = 2.02 * RADIUS;
  const int across = (int)((side - 2.05 * RADIUS) / pitch) + 1;
  for (int i = 0; i < bodies; ++i) {
    const int x = i % across, y = i / across % across, z = i / across / across;
    const double jitter = 0.01 * RADIUS * (double)((i * 7919L) % 13 - 6) / 6;
    ball.position.x = -side / 2 + 1.02 * RADIUS + pitch * x + jitter;
    ball.position.y = -side / 2 + 1.02 * RADIUS + pitch * y - jitter;
    ball.position.z = 1.02 * RADIUS + pitch * z;
    const talus_status status = talus_world_add_body(world, &ball, NULL);
    if (status != TALUS_OK)
      return status;
  }
  return TALUS_OK;
}

/* n = 0: a `container`. CPU time of a step, s. */
static talus_status step_tank(int bodies, size_t n, double *seconds, size_t *contacts) {
  talus_world_def def = talus_world_def_default();
  talus_world *world = NULL;
  talus_material_def grain = talus_material_def_default();
  talus_shape_def sphere = talus_shape_def_default(), tank = talus_shape_def_default();
  talus_body_def wall = talus_body_def_default(), ball = talus_body_def_default();
  const double side = 2 * RADIUS * cbrt((double)bodies), edge[3] = {side, side, 4 * side};
  talus_mesh mesh = {0};
  def.threads = 1, def.solve.iterations = 20, def.solve.tolerance = 0, def.dt = 1e-3;
  if (n > 0 && !make_tank(n, edge, &mesh)) {
    free_tank(&mesh);
    return TALUS_ERROR_MEMORY;
  }
  if (n > 0)
    tank = mesh_def(&mesh, TALUS_SIDES_IN);
  else
    tank.kind = TALUS_CONTAINER, memcpy(tank.size, edge, sizeof edge);
  wall.kind = TALUS_FIXED, wall.position.z = 2 * side;
  sphere.size[0] = RADIUS;
  talus_status status = talus_world_create(&def, &world);
#define TRY(call)                                                                                  \
  if (status == TALUS_OK)                                                                          \
  status = (call)
  TRY(talus_world_add_material(world, &grain, &wall.material));
  TRY(talus_world_add_shape(world, &tank, &wall.shape));
  TRY(talus_world_add_shape(world, &sphere, &ball.shape));
  TRY(talus_world_add_body(world, &wall, NULL));
  ball.material = wall.material;
  TRY(add_spheres(world, bodies, side, ball));
  TRY(talus_world_step(world, SETTLE));
  const double begun = cpu_now();
  TRY(talus_world_step(world, STEPS));
  *seconds = (cpu_now() - begun) / STEPS;
  TRY(talus_world_contacts(world, NULL, 0, contacts));
#undef TRY
  talus_world_destroy(world);
  free_tank(&mesh);
  return status;
}

static talus_status bench_tank(const triangles_bench *bench) {
  static const size_t cuts[] = {0, 1, 10, 100};
  double container = 0;
  printf(
      "\n%d spheres in a box: the container, and tanks of triangles (sides: in); CPU time of one "
      "thread\n\n  %9s %9s %10s %7s\n",
      bench->bodies, "triangles", "contacts", "ms a step", "ratio");
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; ++i) {
    double seconds;
    size_t contacts;
    const talus_status status = step_tank(bench->bodies, cuts[i], &seconds, &contacts);
    if (status != TALUS_OK)
      return status;
    if (i == 0)
      container = seconds;
    const size_t triangles = 12 * cuts[i] * cuts[i];
    printf("  %9zu %9zu %10.2f %7.2f\n", triangles, contacts, 1e3 * seconds, seconds / container);
    if (bench->csv)
      fprintf(bench->csv, "tank,%zu,%d,step,,%zu,,%.6g\n", triangles, bench->bodies, contacts,
              1e6 * seconds);
  }
  return TALUS_OK;
}

/* ---- stones in a hopper ---------------------------------------------------------------------- */

#define DIRECTIONS 4000

/* Largest distance of the stone's surface from its hull, over evenly spread directions. */
static double dent_of(const talus_mesh *mesh) {
  double(*n)[3] = malloc(DIRECTIONS * sizeof *n), *most = malloc(DIRECTIONS * sizeof *most);
  double deepest = 0;
  for (int i = 0; i < DIRECTIONS && n && most; ++i) {
    const double z = 1 - (2 * i + 1.0) / DIRECTIONS, r = sqrt(1 - z * z), u = 2.399963229728653 * i;
    n[i][0] = r * cos(u), n[i][1] = r * sin(u), n[i][2] = z;
    most[i] = 0;
    for (size_t v = 0; v < mesh->vertices; ++v) {
      const double *p = mesh->vertex[v];
      most[i] = fmax(most[i], n[i][0] * p[0] + n[i][1] * p[1] + n[i][2] * p[2]);
    }
  }
  for (size_t v = 0; v < mesh->vertices && n && most; ++v) {
    double depth = INFINITY;
    const double *p = mesh->vertex[v];
    for (int i = 0; i < DIRECTIONS; ++i)
      depth = fmin(depth, most[i] - (n[i][0] * p[0] + n[i][1] * p[1] + n[i][2] * p[2]));
    deepest = fmax(deepest, depth);
  }
  free(n);
  free(most);
  return deepest;
}

static talus_status add_stones(talus_world *world, int stones, double apart, double width,
                               double height, talus_body_def body) {
  uint64_t state = 7;
  int placed = 0;
  for (int layer = 0; placed < stones; ++layer)
    for (double x = -width; x <= width && placed < stones; x += apart)
      for (double y = -width; y <= width && placed < stones; y += apart) {
        if (hypot(x, y) > width)
          continue;
        double q[4];
        for (int k = 0; k < 4; ++k)
          q[k] = bench_random(&state) - 0.5;
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        body.rotation = (talus_quat){(talus_real)(q[0] / length), (talus_real)(q[1] / length),
                                     (talus_real)(q[2] / length), (talus_real)(q[3] / length)};
        body.position = (talus_dvec3){x, y, height + apart * layer};
        const talus_status status = talus_world_add_body(world, &body, NULL);
        if (status != TALUS_OK)
          return status;
        ++placed;
      }
  return TALUS_OK;
}

static talus_status step_stones(int stones, const talus_shape_def *stone, double *seconds,
                                size_t *contacts) {
  talus_world_def def = talus_world_def_default();
  talus_world *world = NULL;
  talus_material_def rock = talus_material_def_default();
  talus_body_def wall = talus_body_def_default(), body = talus_body_def_default();
  /* With less room than three stones need, no site of the lattice is inside. */
  const double width = 0.06 * cbrt(fmax(stones, 3)), reach = 0.073;
  const talus_mesh_recipe recipe = {
      .kind = "funnel", .triangles = 1856, .size = {1.3 * width, 0.15, width}};
  talus_mesh funnel = {0};
  talus_status status = talus_mesh_make(&recipe, &funnel);
  const talus_shape_def hopper = mesh_def(&funnel, TALUS_SIDES_BOTH);
  def.threads = 1, def.solve.iterations = 20, def.solve.tolerance = 0, def.dt = 2e-3;
  wall.kind = TALUS_FIXED;
#define TRY(call)                                                                                  \
  if (status == TALUS_OK)                                                                          \
  status = (call)
  TRY(talus_world_create(&def, &world));
  TRY(talus_world_add_material(world, &rock, &wall.material));
  body.material = wall.material;
  TRY(talus_world_add_shape(world, &hopper, &wall.shape));
  TRY(talus_world_add_shape(world, stone, &body.shape));
  TRY(talus_world_add_body(world, &wall, NULL));
  TRY(add_stones(world, stones, 2 * reach, width, 0.5 * width + reach, body));
  TRY(talus_world_step(world, SETTLE));
  const double begun = cpu_now();
  TRY(talus_world_step(world, STEPS));
  *seconds = (cpu_now() - begun) / STEPS;
  TRY(talus_world_contacts(world, NULL, 0, contacts));
#undef TRY
  talus_world_destroy(world);
  talus_mesh_free(&funnel);
  return status;
}

static talus_status bench_stones(const triangles_bench *bench) {
  const talus_mesh_recipe recipe = {
      .kind = "noisy-sphere", .triangles = 1280, .size = {0.05}, .noise = 1.4, .seed = 3};
  const int stones = bench->bodies < 10 ? 1 : bench->bodies / 10;
  talus_mesh mesh = {0};
  talus_mesh_clump clump = {0};
  talus_mesh_info info;
  talus_status status = talus_mesh_make(&recipe, &mesh);
  const double dent = status == TALUS_OK ? dent_of(&mesh) : 0;
  if (status == TALUS_OK)
    status = talus_mesh_measure(&mesh, &info);
  if (status == TALUS_OK)
    status = talus_mesh_to_clump(&mesh, dent, &clump);
  talus_shape_def shapes[3] = {mesh_def(&mesh, TALUS_SIDES_AUTO), talus_shape_def_default(),
                               talus_shape_def_default()};
  shapes[1].kind = TALUS_HULL;
  shapes[1].points = (const double *)mesh.vertex, shapes[1].point_count = mesh.vertices;
  shapes[2].kind = TALUS_CLUMP;
  shapes[2].points = clump.spheres, shapes[2].point_count = clump.count;
  if (status == TALUS_OK)
    printf("\n%d noisy stones of 1280 triangles fall into a hopper of about 1856; as hulls they "
           "are off by %.3g of "
           "the radius, as clumps of %zu spheres by %.3g; CPU time of one thread\n\n"
           "  %-6s %9s %10s %14s %7s\n",
           stones, dent / 0.05, clump.count, clump.error / 0.05, "as", "contacts", "ms a step",
           "body-steps/s", "hulls=1");
  static const char *const names[3] = {"hull", "mesh", "clump"};
  static const int order[3] = {1, 0, 2};
  double hull = 0;
  for (int i = 0; i < 3 && status == TALUS_OK; ++i) {
    double seconds;
    size_t contacts;
    status = step_stones(stones, &shapes[order[i]], &seconds, &contacts);
    if (status != TALUS_OK)
      break;
    if (i == 0)
      hull = seconds;
    printf("  %-6s %9zu %10.2f %14.0f %7.2f\n", names[i], contacts, 1e3 * seconds, stones / seconds,
           seconds / hull);
    if (bench->csv)
      fprintf(bench->csv, "stones,1280,%d,%s,,%zu,,%.6g\n", stones, names[i], contacts,
              1e6 * seconds);
  }
  talus_mesh_clump_free(&clump);
  talus_mesh_free(&mesh);
  return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static talus_status bench_memory(const triangles_bench *bench) {
  static const char *const kinds[] = {"icosphere", "noisy-sphere", "plate"};
  printf("\nmemory of a shape of 20480 triangles\n\n  %-14s %15s\n", "mesh", "bytes/triangle");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    talus_mesh_recipe recipe = talus_mesh_recipe_default();
    recipe.kind = kinds[i], recipe.triangles = 20480;
    const talus_world_def def = talus_world_def_default();
    talus_world *world = NULL;
    talus_mesh mesh = {0};
    talus_shape shape;
    size_t before = 0, after = 0;
    talus_status status = talus_mesh_make(&recipe, &mesh);
    if (status == TALUS_OK)
      status = talus_world_create(&def, &world);
    if (status == TALUS_OK) {
      const talus_shape_def made = mesh_def(&mesh, TALUS_SIDES_AUTO);
      talus_memory(&before, NULL);
      status = talus_world_add_shape(world, &made, &shape);
      talus_memory(&after, NULL);
    }
    const double bytes = mesh.triangles ? (double)(after - before) / (double)mesh.triangles : 0;
    talus_world_destroy(world);
    talus_mesh_free(&mesh);
    if (status != TALUS_OK)
      return status;
    printf("  %-14s %15.1f\n", kinds[i], bytes);
    if (bench->csv)
      fprintf(bench->csv, "memory,20480,1,%s,,,,%.6g\n", kinds[i], bytes);
  }
  return TALUS_OK;
}

int triangles_scenes(const triangles_bench *bench) {
  talus_status status = bench_memory(bench);
  if (status == TALUS_OK && bench->bodies > 0)
    status = bench_tank(bench);
  if (status == TALUS_OK && bench->bodies > 0)
    status = bench_stones(bench);
  if (status != TALUS_OK)
    cli_error("bench triangles: %s", talus_last_error());
  return status == TALUS_OK ? CLI_DONE : CLI_FAILED;
}
