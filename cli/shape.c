/* talus shape info: what a shape weighs and where it ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

/* ---- one shape ---------------------------------------------------------------------------------
 */

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

/* ---- files -------------------------------------------------------------------------------------
 */

typedef struct showing {
  bool json;
  json out;
} showing;

/* After everything that can fail: then there is either JSON or a message. */
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

/* A file that is not there is the input's fault here: nothing was run. */
static int fail(talus_status status) {
  cli_error("%s", talus_last_error());
  return status == TALUS_ERROR_IO ? cli_exit_code_of(talus_last_error()) : cli_exit_code(status);
}

static bool is_mesh(const char *path) {
  static const char *const endings[] = {".stl", ".STL", ".obj", ".OBJ", ".csv", ".txt", ".xyz"};
  const size_t length = strlen(path);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i)
    if (length > 4 && strcmp(path + length - 4, endings[i]) == 0)
      return true;
  return false;
}

static int show_mesh(showing *s, const char *path, double scale) {
  talus_points points;
  talus_shape_info shape;
  talus_status status = talus_points_read(path, scale, &points);
  if (status != TALUS_OK)
    return fail(status);
  const talus_shape_def def = {
      .name = path, .kind = TALUS_HULL, .points = points.data, .point_count = points.count};
  status = talus_shape_measure(&def, &shape);
  talus_points_free(&points);
  if (status != TALUS_OK)
    return fail(status);
  begin(s);
  show(s, &shape);
  return CLI_DONE;
}

/* A shape as it stands in a scene, on the command line: {sphere: 0.1}. */
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
    return fail(status);
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

int cli_shape(int argc, char **argv) {
  bool as_json = false;
  double scale = 1;
  const cli_option list[] = {
      {"json", 0, CLI_FLAG, NULL, "the same as JSON: a list of shapes", &as_json},
      {"scale", 0, CLI_NUMBER, "S", "multiplies the coordinates of a mesh file (default 1)",
       &scale},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus shape info FILE|YAML [options]",
      .about = "Shows volume, centre of mass, principal moments and axes, and bounds. FILE is\n"
               "  a mesh       .stl (text or binary) or .obj: the convex hull of its vertices\n"
               "  points       .csv, .txt or .xyz: x, y, z in each line: likewise\n"
               "  a scene      a YAML file or a built-in one: every shape of it\n"
               "  a shape      as in a scene, in quotes: '{cylinder: {radius: 1, length: 2}}'",
      .options = list,
      .more = "Lengths are in metres and in the shape's own frame; moments are per kilogram,\n"
              "about the centre of mass.\n",
      .least = 2,
      .most = 2,
      .wants = "`info` and a file"};
  const char *words[2] = {NULL};
  const int parsed = cli_parse(&usage, argc, argv, words);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if (strcmp(words[0], "info") != 0) {
    cli_error("shape: '%s' is not known; there is talus shape info FILE", words[0]);
    return CLI_INPUT;
  }
  showing s = {.json = as_json};
  const int code = is_mesh(words[1]) ? show_mesh(&s, words[1], scale) : show_scene(&s, words[1]);
  if (as_json && code == CLI_DONE) {
    json_close(&s.out, ']');
    json_end(&s.out);
  }
  return code;
}
