#include "mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "file_write.h"
#include "json.h"

bool cli_is_mesh(const char *path) {
  const size_t n = strlen(path);
  static const char *const endings[] = {".stl", ".obj", ".ply"};
  for (size_t i = 0; i < 3; ++i)
    if (n > 4 && strcasecmp(path + n - 4, endings[i]) == 0)
      return true;
  return false;
}

int cli_mesh_fail(talus_status status) {
  cli_error("%s", talus_last_error());
  return status == TALUS_ERROR_IO ? cli_exit_code_of(talus_last_error()) : cli_exit_code(status);
}

/* ---- info ------------------------------------------------------------------------------------ */

typedef struct mesh_facts {
  talus_mesh_info mesh;
  size_t crossings;
  uint32_t crossing[2];
  double open[2][3]; /* ends of the first open edge */
} mesh_facts;

static int find_facts(const char *path, double scale, mesh_facts *facts) {
  talus_mesh mesh;
  talus_status status = talus_mesh_read(path, scale, &mesh);
  if (status == TALUS_OK)
    status = talus_mesh_measure(&mesh, &facts->mesh);
  if (status == TALUS_OK)
    status = talus_mesh_find_crossings(&mesh, &facts->crossings, facts->crossing);
  for (int k = 0; status == TALUS_OK && facts->mesh.open_edges > 0 && k < 2; ++k)
    memcpy(facts->open[k], mesh.vertex[facts->mesh.first_open[k]], sizeof facts->open[k]);
  talus_mesh_free(&mesh);
  return status == TALUS_OK ? CLI_DONE : cli_mesh_fail(status);
}

static void show_faults(const mesh_facts *facts) {
  const talus_mesh_info *m = &facts->mesh;
  if (m->open_edges > 0)
    printf("  open      %zu edges; the first from %.9g, %.9g, %.9g to %.9g, %.9g, %.9g m\n",
           m->open_edges, facts->open[0][0], facts->open[0][1], facts->open[0][2],
           facts->open[1][0], facts->open[1][1], facts->open[1][2]);
  if (m->flipped_edges > 0)
    printf("  flipped   %zu edges, whose triangles do not face the same way\n", m->flipped_edges);
  if (m->crowded_edges > 0)
    printf("  crowded   %zu edges of more than two triangles\n", m->crowded_edges);
  if (m->degenerate > 0)
    printf("  no area   %zu triangles\n", m->degenerate);
  if (m->duplicates > 0)
    printf("  twice     %zu triangles\n", m->duplicates);
  if (facts->crossings > 0)
    printf("  crossing  %zu pairs of triangles; the first is %u and %u, counted from 0\n",
           facts->crossings, facts->crossing[0], facts->crossing[1]);
  if (m->closed && m->volume < 0)
    printf("  inside    out: triangles must run counter-clockwise seen from outside\n");
}

static void show_facts(const char *path, const mesh_facts *facts) {
  const talus_mesh_info *m = &facts->mesh;
  const bool is_solid = m->closed && m->volume > 0;
  printf("%s: mesh\n", cli_shown(path));
  printf("  surface   %zu vertices, %zu triangles, %zu facet%s, %zu shell%s\n", m->vertices,
         m->triangles, m->facets, m->facets == 1 ? "" : "s", m->shells, m->shells == 1 ? "" : "s");
  printf("  it is     %s, %s, %s\n", m->closed ? "closed" : "open",
         m->manifold ? "manifold" : "not manifold", m->oriented ? "oriented" : "not oriented");
  show_faults(facts);
  printf("  area      %.9g m2\n", m->area);
  if (m->closed)
    printf("  volume    %.9g m3\n", m->volume);
  printf("  centre    %.9g, %.9g, %.9g m%s\n", m->centre.x, m->centre.y, m->centre.z,
         is_solid ? "" : ", of the surface");
  printf("  inertia   %.9g, %.9g, %.9g m2 per kilogram, principal%s\n", m->inertia.x, m->inertia.y,
         m->inertia.z, is_solid ? "" : ", of the surface");
  printf("  axes      %.9g, %.9g, %.9g, %.9g: quaternion (w, x, y, z) of the principal axes\n",
         (double)m->axes.w, (double)m->axes.x, (double)m->axes.y, (double)m->axes.z);
  printf("  bounds    %.9g, %.9g, %.9g to %.9g, %.9g, %.9g m\n", m->bounds.lo.x, m->bounds.lo.y,
         m->bounds.lo.z, m->bounds.hi.x, m->bounds.hi.y, m->bounds.hi.z);
}

static void write_list(json *out, const char *name, const double *value, int n) {
  json_open(out, name, '[');
  for (int i = 0; i < n; ++i)
    json_number(out, NULL, value[i]);
  json_close(out, ']');
}

static void write_vector(json *out, const char *name, talus_dvec3 v) {
  write_list(out, name, (const double[]){v.x, v.y, v.z}, 3);
}

static void write_counts(json *out, const mesh_facts *facts) {
  const talus_mesh_info *m = &facts->mesh;
  const struct {
    const char *name;
    size_t count;
  } counts[] = {{"vertices", m->vertices},
                {"triangles", m->triangles},
                {"facets", m->facets},
                {"shells", m->shells},
                {"open_edges", m->open_edges},
                {"flipped_edges", m->flipped_edges},
                {"crowded_edges", m->crowded_edges},
                {"degenerate", m->degenerate},
                {"duplicates", m->duplicates},
                {"crossings", facts->crossings}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
    json_number(out, counts[i].name, (double)counts[i].count);
}

static void write_facts(const char *path, const mesh_facts *facts) {
  const talus_mesh_info *m = &facts->mesh;
  const talus_quat q = m->axes;
  json out = json_begin(stdout);
  json_open(&out, NULL, '[');
  json_open(&out, NULL, '{');
  json_text(&out, "name", path);
  json_text(&out, "kind", "mesh");
  json_flag(&out, "closed", m->closed);
  json_flag(&out, "manifold", m->manifold);
  json_flag(&out, "oriented", m->oriented);
  write_counts(&out, facts);
  if (facts->crossings > 0)
    write_list(&out, "first_crossing", (const double[]){facts->crossing[0], facts->crossing[1]}, 2);
  if (m->open_edges > 0) {
    json_open(&out, "first_open", '[');
    write_list(&out, NULL, facts->open[0], 3);
    write_list(&out, NULL, facts->open[1], 3);
    json_close(&out, ']');
  }
  json_number(&out, "area", m->area);
  json_number(&out, "volume", m->volume);
  write_vector(&out, "centre", m->centre);
  write_vector(&out, "inertia", m->inertia);
  write_list(&out, "axes", (const double[]){(double)q.w, (double)q.x, (double)q.y, (double)q.z}, 4);
  json_open(&out, "bounds", '[');
  write_vector(&out, NULL, m->bounds.lo);
  write_vector(&out, NULL, m->bounds.hi);
  json_close(&out, ']');
  json_close(&out, '}');
  json_close(&out, ']');
  json_end(&out);
}

int cli_mesh_info(const char *path, const mesh_options *options) {
  mesh_facts facts = {0};
  const int code = find_facts(path, options->scale, &facts);
  if (code != CLI_DONE)
    return code;
  if (options->json)
    write_facts(path, &facts);
  else
    show_facts(path, &facts);
  return CLI_DONE;
}

/* ---- make and repair ------------------------------------------------------------------------- */

static int need_output(const char *verb, const mesh_options *options) {
  if (options->output)
    return CLI_DONE;
  cli_error("shape %s: there is no file to write; say -o FILE", verb);
  return CLI_INPUT;
}

/* Reads "0.01,0.0015": up to five numbers. */
static int read_sizes(const char *text, double size[5]) {
  const char *at = text;
  for (int i = 0; at && i < 5; ++i) {
    char *end;
    size[i] = strtod(at, &end);
    if (end == at || (*end != ',' && *end != '\0') || !(size[i] > 0)) {
      cli_error("shape make: --size %s: expected lengths above 0 in metres, as in 0.01,0.0015",
                cli_shown(text));
      return CLI_INPUT;
    }
    if (*end == '\0')
      return CLI_DONE;
    at = end + 1;
  }
  if (!at)
    return CLI_DONE;
  cli_error("shape make: --size has more than five lengths");
  return CLI_INPUT;
}

static int write_mesh(talus_mesh *mesh, const char *path) {
  const talus_status status = talus_mesh_write(mesh, path);
  const size_t triangles = mesh->triangles, vertices = mesh->vertices;
  talus_mesh_free(mesh);
  if (status == TALUS_ERROR_INVALID) {
    cli_error("%s", talus_last_error());
    return CLI_INPUT;
  }
  if (status != TALUS_OK) {
    cli_error("%s", talus_last_error());
    return CLI_FAILED;
  }
  printf("%s: %zu triangles, %zu vertices\n", cli_shown(path), triangles, vertices);
  return CLI_DONE;
}

int cli_mesh_make(const char *kind, const mesh_options *options) {
  talus_mesh_recipe recipe = talus_mesh_recipe_default();
  recipe.kind = kind;
  recipe.triangles = (size_t)options->triangles;
  recipe.noise = options->noise;
  recipe.seed = options->seed > 0 && options->seed < 0x1p53 ? (uint64_t)options->seed : 0;
  int code = need_output("make", options);
  if (code == CLI_DONE)
    code = read_sizes(options->size, recipe.size);
  if (code != CLI_DONE)
    return code;
  talus_mesh mesh;
  const talus_status status = talus_mesh_make(&recipe, &mesh);
  return status == TALUS_OK ? write_mesh(&mesh, options->output) : cli_mesh_fail(status);
}

static void say(size_t n, const char *what) {
  if (n > 0)
    printf("  %zu %s\n", n, what);
}

static void show_repairs(const char *path, const talus_mesh_repairs *done,
                         const talus_mesh_info *info) {
  printf("%s:\n", cli_shown(path));
  if (memcmp(done, &(talus_mesh_repairs){0}, sizeof *done) == 0)
    printf("  nothing to repair\n");
  say(done->welded, "vertices welded to others");
  say(done->dropped_degenerate, "triangles with a vertex twice dropped");
  say(done->dropped_duplicates, "triangles that were there twice dropped");
  say(done->flipped, "triangles turned over to face as their neighbours do");
  say(done->turned, "shells turned over to face outwards");
  say(done->holes, "holes closed");
  say(done->added, "triangles added for that");
  say(info->open_edges, "edges are open; --close-holes puts triangles over them");
  say(info->flipped_edges, "edges stay flipped: the surface has one side only, or crosses itself");
  say(info->crowded_edges, "edges have more than two triangles, and stay so");
  say(info->degenerate, "triangles without area stay: their neighbours hang on them");
}

int cli_mesh_repair(const char *path, const mesh_options *options) {
  const int code = need_output("repair", options);
  if (code != CLI_DONE)
    return code;
  talus_mesh mesh;
  talus_mesh_info info;
  talus_mesh_repairs done;
  const talus_mesh_repair_def def = {.weld = options->weld, .close_holes = options->close_holes};
  talus_status status = talus_mesh_read(path, options->scale, &mesh);
  if (status == TALUS_OK)
    status = talus_mesh_repair(&mesh, &def, &done);
  if (status == TALUS_OK)
    status = talus_mesh_measure(&mesh, &info);
  if (status != TALUS_OK) {
    talus_mesh_free(&mesh);
    return cli_mesh_fail(status);
  }
  show_repairs(path, &done, &info);
  return write_mesh(&mesh, options->output);
}

/* ---- clump ----------------------------------------------------------------------------------- */

typedef struct clump_text {
  const char *path;
  talus_mesh_clump clump;
  talus_mesh_info info;
  double inertia[6]; /* per kilogram, own axes: xx, yy, zz, xy, xz, yz */
} clump_text;

/* A R A^T from the principal moments and axes. */
static void turn_inertia(const talus_mesh_info *info, double out[6]) {
  const double w = (double)info->axes.w, x = (double)info->axes.x, y = (double)info->axes.y,
               z = (double)info->axes.z;
  const double a[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                          {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                          {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  const double m[3] = {info->inertia.x, info->inertia.y, info->inertia.z};
  static const int of[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (int k = 0; k < 6; ++k) {
    out[k] = 0;
    for (int i = 0; i < 3; ++i)
      out[k] += a[of[k][0]][i] * m[i] * a[of[k][1]][i];
  }
}

/* Prints a scene that has only this shape. */
static bool print_clump(FILE *to, const void *what) {
  const clump_text *c = what;
  const talus_dvec3 o = c->info.centre;
  fprintf(to,
          "# %zu spheres within %.3g m of the surface of a mesh, whose mass they have\n"
          "talus: 1\nuntil: 1\nshapes:\n  stone:\n    volume: %.17g\n"
          "    centre: [%.17g, %.17g, %.17g]\n    inertia: [",
          c->clump.count, c->clump.error, c->info.volume, o.x, o.y, o.z);
  for (int k = 0; k < 6; ++k)
    fprintf(to, "%s%.17g", k ? ", " : "", c->inertia[k]);
  fprintf(to, "]\n    clump:\n");
  for (size_t i = 0; i < c->clump.count; ++i) {
    const double *s = c->clump.spheres + 4 * i;
    fprintf(to, "      - [%.9g, %.9g, %.9g, %.9g]\n", s[0], s[1], s[2], s[3]);
  }
  return !ferror(to);
}

int cli_mesh_clump(const char *path, const mesh_options *options) {
  int code = need_output("clump", options);
  if (code != CLI_DONE)
    return code;
  if (!(options->error > 0)) {
    cli_error("shape clump: how far may the spheres be from the surface? say --error E, in metres");
    return CLI_INPUT;
  }
  talus_mesh mesh;
  clump_text text = {.path = path};
  talus_status status = talus_mesh_read(path, options->scale, &mesh);
  if (status == TALUS_OK)
    status = talus_mesh_measure(&mesh, &text.info);
  if (status == TALUS_OK)
    status = talus_mesh_to_clump(&mesh, options->error, &text.clump);
  talus_mesh_free(&mesh);
  if (status != TALUS_OK)
    return cli_mesh_fail(status);
  turn_inertia(&text.info, text.inertia);
  code = cli_write_file(options->output, print_clump, &text);
  if (code == CLI_DONE)
    printf("%s: %zu spheres, within %.3g m of the surface\n", cli_shown(options->output),
           text.clump.count, text.clump.error);
  talus_mesh_clump_free(&text.clump);
  return code;
}
