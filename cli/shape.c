/* talus shape: mass properties and bounds of a shape; mesh.c makes and repairs meshes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "mesh.h"

/* ---- one shape ------------------------------------------------------------------------------- */

static void show_text(const talus_shape_info *shape) {
  printf("%s%s%s\n", cli_shown(shape->name ? shape->name : ""), shape->name ? ": " : "",
         talus_shape_kind_name(shape->kind));
  if (!shape->bounded) {
    printf("  unbounded: it has no mass and no bounds\n");
    return;
  }
  const bool is_thin = shape->kind == TALUS_CONTAINER || shape->kind == TALUS_REVOLVED;
  if (shape->kind == TALUS_REVOLVED)
    printf("  profile   %zu points\n", shape->vertices);
  if (shape->kind == TALUS_HULL)
    printf("  surface   %zu vertices, %zu faces, %zu edges\n", shape->vertices, shape->faces,
           shape->edges);
  if (shape->kind == TALUS_CLUMP)
    printf("  spheres   %zu\n", shape->vertices);
  printf("  volume    %.9g m3%s\n", shape->volume, is_thin ? ": walls without thickness" : "");
  if (!is_thin) {
    const talus_quat q = shape->axes;
    printf("  centre    %.9g, %.9g, %.9g m\n", shape->centre.x, shape->centre.y, shape->centre.z);
    printf("  inertia   %.9g, %.9g, %.9g m2 per kilogram, principal\n", shape->inertia.x,
           shape->inertia.y, shape->inertia.z);
    printf("  axes      %.9g, %.9g, %.9g, %.9g: quaternion (w, x, y, z) of the principal axes\n",
           (double)q.w, (double)q.x, (double)q.y, (double)q.z);
    if (shape->error > 0)
      printf("  error     %.1g of volume and inertia, estimated\n", shape->error);
  }
  printf("  bounds    %.9g, %.9g, %.9g to %.9g, %.9g, %.9g m\n", shape->bounds.lo.x,
         shape->bounds.lo.y, shape->bounds.lo.z, shape->bounds.hi.x, shape->bounds.hi.y,
         shape->bounds.hi.z);
  printf("  radius    %.9g m about the centre of mass\n", shape->radius);
}

static void write_numbers(json *out, const char *name, const double *value, int n) {
  json_open(out, name, '[');
  for (int i = 0; i < n; ++i)
    json_number(out, NULL, value[i]);
  json_close(out, ']');
}

static void write_vector(json *out, const char *name, talus_dvec3 v) {
  write_numbers(out, name, (const double[]){v.x, v.y, v.z}, 3);
}

static void write_json(json *out, const talus_shape_info *shape) {
  const talus_quat q = shape->axes;
  json_open(out, NULL, '{');
  if (shape->name)
    json_text(out, "name", shape->name);
  json_text(out, "kind", talus_shape_kind_name(shape->kind));
  json_flag(out, "bounded", shape->bounded);
  json_number(out, "volume", shape->volume);
  write_vector(out, "centre", shape->centre);
  write_vector(out, "inertia", shape->inertia);
  write_numbers(out, "axes", (const double[]){(double)q.w, (double)q.x, (double)q.y, (double)q.z},
                4);
  json_open(out, "bounds", '[');
  write_vector(out, NULL, shape->bounds.lo);
  write_vector(out, NULL, shape->bounds.hi);
  json_close(out, ']');
  json_number(out, "radius", shape->radius);
  json_number(out, "error", shape->error);
  json_number(out, "vertices", (double)shape->vertices);
  json_number(out, "faces", (double)shape->faces);
  json_number(out, "edges", (double)shape->edges);
  json_close(out, '}');
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct showing {
  bool json;
  json out;
} showing;

/* Called after everything that can fail, so that output is either JSON or an error message. */
static void begin(showing *s) {
  if (!s->json)
    return;
  s->out = json_begin(stdout);
  json_open(&s->out, NULL, '[');
}

static void show(showing *s, const talus_shape_info *shape) {
  if (s->json)
    write_json(&s->out, shape);
  else
    show_text(shape);
}

/* True for files that contain only points. */
static bool is_points(const char *path) {
  const size_t length = strlen(path);
  return length > 4 &&
         (strcmp(path + length - 4, ".csv") == 0 || strcmp(path + length - 4, ".txt") == 0 ||
          strcmp(path + length - 4, ".xyz") == 0);
}

static int show_hull(showing *s, const char *path, double scale) {
  talus_points points;
  talus_shape_info shape;
  talus_status status = talus_points_read(path, scale, &points);
  if (status != TALUS_OK)
    return cli_mesh_fail(status);
  const talus_shape_def def = {
      .name = path, .kind = TALUS_HULL, .points = points.data, .point_count = points.count};
  status = talus_shape_measure(&def, &shape);
  talus_points_free(&points);
  if (status != TALUS_OK)
    return cli_mesh_fail(status);
  begin(s);
  show(s, &shape);
  return CLI_DONE;
}

/* Reads a shape in the syntax of scenes from the command line: {sphere: 0.1}. */
static int parse_shape(const char *text, talus_scene **scene) {
  char *problems = NULL, *whole = malloc(strlen(text) + 64);
  if (!whole) {
    cli_error("out of memory");
    return CLI_FAILED;
  }
  const int length = sprintf(whole, "talus: 1\nuntil: 1\nshapes:\n  shape: %s\n", text);
  const talus_status status =
      talus_scene_parse(whole, (size_t)length, "the shape", NULL, NULL, 0, scene, &problems);
  if (status != TALUS_OK && problems && *problems)
    cli_error("not a valid shape:\n%.*s", (int)strlen(problems) - 1, problems);
  else if (status != TALUS_OK)
    cli_error("%s", talus_last_error());
  talus_text_free(problems);
  free(whole);
  return status == TALUS_OK ? CLI_DONE : status == TALUS_ERROR_MEMORY ? CLI_FAILED : CLI_INPUT;
}

static int show_scene(showing *s, const char *path) {
  const cli_texts none = {0};
  talus_scene *scene;
  talus_world *world;
  const int code = path[0] == '{' ? parse_shape(path, &scene) : cli_load_scene(path, &none, &scene);
  if (code != CLI_DONE)
    return code;
  const talus_status status = talus_scene_build_shapes(scene, &world);
  talus_scene_free(scene);
  if (status != TALUS_OK)
    return cli_mesh_fail(status);
  const size_t n = talus_world_shape_count(world);
  begin(s);
  for (size_t i = 0; i < n; ++i) {
    talus_shape_info shape;
    if (talus_world_get_shape(world, i, &shape) == TALUS_OK)
      show(s, &shape);
  }
  if (n == 0 && !s->json)
    printf("%s has no shapes\n", path);
  talus_world_destroy(world);
  return CLI_DONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int show_info(const char *path, const char *as, const mesh_options *options) {
  const bool is_mesh = cli_is_mesh(path);
  if (as && strcmp(as, "hull") != 0 && strcmp(as, "mesh") != 0) {
    cli_error("shape info: --as %s is not known; there are mesh and hull", as);
    return CLI_INPUT;
  }
  if (is_mesh && !(as && strcmp(as, "hull") == 0)) {
    if (!as && !options->json) /* to be removed after one version */
      cli_note("a mesh file is shown as the mesh that it is; --as hull shows its convex hull");
    return cli_mesh_info(path, options);
  }
  showing s = {.json = options->json};
  const int code =
      is_mesh || is_points(path) ? show_hull(&s, path, options->scale) : show_scene(&s, path);
  if (options->json && code == CLI_DONE) {
    json_close(&s.out, ']');
    json_end(&s.out);
  }
  return code;
}

static int do_verb(const char *verb, const char *what, const char *as,
                   const mesh_options *options) {
  static const char *const verbs[] = {"info", "make", "repair", "clump"};
  if (strcmp(verb, "info") == 0)
    return show_info(what, as, options);
  if (strcmp(verb, "make") == 0)
    return cli_mesh_make(what, options);
  if (strcmp(verb, "repair") == 0)
    return cli_mesh_repair(what, options);
  if (strcmp(verb, "clump") == 0)
    return cli_mesh_clump(what, options);
  const char *meant = cli_suggest(verb, verbs, sizeof verbs / sizeof *verbs);
  cli_error("shape: '%s' is not known; there is talus shape %s FILE", verb, meant ? meant : "info");
  return CLI_INPUT;
}

int cli_shape(int argc, char **argv) {
  mesh_options o = {.scale = 1, .noise = 1.4, .weld = -1};
  const char *as = NULL;
  const cli_option list[] = {
      {"json", 0, CLI_FLAG, NULL, "info: the same as JSON: a list of shapes", &o.json},
      {"scale", 0, CLI_NUMBER, "S", "multiplies the coordinates of a file (default 1)", &o.scale},
      {"as", 0, CLI_TEXT, "KIND", "info: hull for the convex hull of a mesh; mesh", &as},
      {"output", 'o', CLI_TEXT, "FILE", "what is made: .stl, .obj or .ply; clump: .yaml",
       &o.output},
      {"triangles", 0, CLI_COUNT, "N", "make: about how many", &o.triangles},
      {"size", 0, CLI_TEXT, "A,B,...", "make: lengths in metres; they depend on the kind", &o.size},
      {"noise", 0, CLI_NUMBER, "F", "make: ratio of largest to smallest radius (1.4)", &o.noise},
      {"seed", 0, CLI_NUMBER, "N", "make: seed of the noise (0)", &o.seed},
      {"weld", 0, CLI_NUMBER, "D", "repair: vertices nearer than this are merged (m)", &o.weld},
      {"close-holes", 0, CLI_FLAG, NULL, "repair: closes holes with triangles", &o.close_holes},
      {"error", 0, CLI_NUMBER, "E", "clump: largest distance of spheres from the surface, m",
       &o.error},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus shape info|make|repair|clump FILE [options]",
      .about = "info shows volume, centre of mass, principal moments and axes, bounds. FILE is\n"
               "  a mesh       .stl, .ply (text or binary) or .obj: what it is, and its faults\n"
               "  points       .csv, .txt or .xyz: x, y, z in each line: their convex hull\n"
               "  a scene      a YAML file or a built-in one: every shape of it\n"
               "  a shape      as in a scene, in quotes: '{cylinder: {radius: 1, length: 2}}'\n"
               "make KIND writes a mesh: icosphere, noisy-sphere, box, plate, cylinder, torus,\n"
               "bolt, nut, funnel or screw. repair merges vertices, removes and flips triangles,\n"
               "and says what it did. clump writes a scene with spheres in place of a mesh\n"
               "that is closed.",
      .options = list,
      .more = "Lengths are in metres and in the shape's own frame; moments are per kilogram,\n"
              "about the centre of mass.\n",
      .least = 2,
      .most = 2,
      .wants = "`info`, `make`, `repair` or `clump`, and a file or a kind"};
  const char *words[2] = {NULL};
  const int parsed = cli_parse(&usage, argc, argv, words);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  return do_verb(words[0], words[1], as, &o);
}
