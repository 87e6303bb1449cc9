#include "shape/mesh_file.h"

#include <math.h>
#include <strings.h>

#include "base/hash.h"
#include "shape/mesh.h"
#include "shape/mesh_source.h"

/* ---- what parsers share ---------------------------------------------------------------------- */

talus_status tl_mesh_source_point(tl_mesh_source *s, const char *what) {
  tl_input *in = &s->in;
  double p[3] = {0};
  for (int k = 0; k < 3; ++k) {
    const tl_span word = tl_input_word(in);
    if (word.length == 0) {
      tl_input_wrong(in, word.text, "%s has %d number%s; expected x, y, z", what, k,
                     k == 1 ? "" : "s");
      break;
    }
    if (tl_span_number(word, &p[k]) != TL_NUMBER)
      tl_input_wrong(in, word.text, "%s: `%.*s` is not a number; expected x, y, z", what,
                     TL_SHOW(word));
  }
  for (int k = 0; k < 3; ++k)
    TL_TRY(tl_array_push(s->point, p[k]));
  return TALUS_OK;
}

talus_status tl_mesh_source_face(tl_mesh_source *s) {
  if (!s->wants_faces)
    return TALUS_OK;
  const size_t n = s->face.count, before = s->corner.count;
  TL_TRY(tl_array_resize(&s->corner, before + 3 * (n - 2)));
  uint32_t(*triangle)[3] = (uint32_t(*)[3])(s->corner.data + before);
  const talus_status status = tl_mesh_cut_face(s->point->data, s->face.data, n, triangle);
  return status == TALUS_ERROR_FORMAT
             ? tl_fail_in(status, "%s: triangle %zu", s->in.path, before / 3)
             : status;
}

/* ---- each place once ------------------------------------------------------------------------- */

/* A hash table with open addressing: rows of places, or TL_MESH_NONE. */
static talus_status weld(const char *path, tl_coordinates *points, double scale, uint32_t *row_of) {
  const size_t n = points->count / 3;
  size_t size = 16, kept = 0;
  while (size < 2 * n)
    size *= 2;
  TL_ARRAY(uint32_t) table = {0};
  TL_TRY(tl_array_resize(&table, size));
  memset(table.data, 0xff, size * sizeof *table.data);
  talus_status status = TALUS_OK;
  for (size_t i = 0; i < n && status == TALUS_OK; ++i) {
    double p[3];
    for (size_t k = 0; k < 3; ++k)
      p[k] = points->data[3 * i + k] * scale + 0.0; /* -0 and 0 are one place */
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
      status = tl_fail(TALUS_ERROR_FORMAT, "%s: point %zu times %g is beyond every number", path, i,
                       scale);
    size_t at = tl_xxh64(p, sizeof p, 0) & (size - 1);
    while (table.data[at] != TL_MESH_NONE &&
           memcmp(&points->data[3 * (size_t)table.data[at]], p, sizeof p) != 0)
      at = (at + 1) & (size - 1);
    if (table.data[at] == TL_MESH_NONE) {
      table.data[at] = (uint32_t)kept;
      memcpy(&points->data[3 * kept++], p, sizeof p);
    }
    if (row_of)
      row_of[i] = table.data[at];
  }
  points->count = 3 * kept;
  tl_array_free(&table);
  return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *extension_of(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  return dot && (!slash || dot > slash) ? dot + 1 : "";
}

static tl_mesh_parse_fn *parser_of(const char *path, bool wants_faces) {
  static const struct {
    const char *extension;
    tl_mesh_parse_fn *parse;
  } kinds[] = {{"stl", tl_mesh_parse_stl},  {"obj", tl_mesh_parse_obj},
               {"ply", tl_mesh_parse_ply},  {"csv", tl_mesh_parse_rows},
               {"txt", tl_mesh_parse_rows}, {"xyz", tl_mesh_parse_rows}};
  for (int i = 0; i < (wants_faces ? 3 : 6); ++i)
    if (strcasecmp(extension_of(path), kinds[i].extension) == 0)
      return kinds[i].parse;
  return NULL;
}

/* Fills the source from bytes. */
static talus_status parse(tl_mesh_source *s, const char *path, const char *bytes, size_t n,
                          double scale) {
  tl_mesh_parse_fn *fn = parser_of(path, s->wants_faces);
  if (!fn)
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: `.%s` is no kind of mesh; expected a file .stl, .obj or .ply%s", path,
                   extension_of(path),
                   s->wants_faces ? "" : ", or rows of x, y, z in .csv, .txt or .xyz");
  if (!(scale > 0) || !isfinite(scale))
    return tl_fail(TALUS_ERROR_INVALID, "%s: scale is %g, but must be above 0", path, scale);
  TL_TRY(tl_input_open(&s->in, path, bytes, n));
  TL_TRY(tl_input_close(&s->in, fn(s)));
  if (s->point->count == 0)
    return tl_fail(TALUS_ERROR_FORMAT, "%s has no points; expected x, y, z of some", path);
  if (s->wants_faces && s->corner.count == 0)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s has points, but no triangles; a hull may be made of points alone", path);
  return TALUS_OK;
}

static void release_faces(tl_mesh_source *s) {
  tl_array_free(&s->corner);
  tl_array_free(&s->face);
}

talus_status tl_mesh_parse_points(const char *path, const char *bytes, size_t n, double scale,
                                  tl_coordinates *points) {
  tl_mesh_source s = {.point = points};
  points->count = 0;
  talus_status status = parse(&s, path, bytes, n, scale);
  release_faces(&s);
  if (status == TALUS_OK)
    status = weld(path, points, scale, NULL);
  if (status != TALUS_OK)
    points->count = 0;
  return status;
}

/* Calls `parse` with the whole file, or with nothing if its name shows that it is no mesh. */
typedef talus_status read_fn(const char *path, const char *bytes, size_t n, double scale,
                             void *out);

static talus_status read_whole(const char *path, double scale, bool wants_faces, read_fn *fn,
                               void *out) {
  if (!parser_of(path, wants_faces)) /* before the file is opened */
    return fn(path, "", 0, scale, out);
  tl_bytes bytes = {0};
  talus_status status = tl_input_load(path, &bytes);
  if (status == TALUS_OK)
    status = fn(path, bytes.data ? bytes.data : "", bytes.count, scale, out);
  tl_array_free(&bytes);
  return status;
}

static talus_status parse_points_to(const char *path, const char *bytes, size_t n, double scale,
                                    void *out) {
  return tl_mesh_parse_points(path, bytes, n, scale, out);
}

talus_status tl_mesh_read_points(const char *path, double scale, tl_coordinates *points) {
  return read_whole(path, scale, false, parse_points_to, points);
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* Joins equal vertices, and drops vertices that no triangle has. */
static talus_status make_mesh(tl_mesh_source *s, const char *path, double scale, tl_mesh *mesh) {
  const size_t given = s->point->count / 3, triangles = s->corner.count / 3;
  TL_TRY(tl_array_resize(&s->face, 2 * given));
  uint32_t *row_of = s->face.data, *kept_as = row_of + given;
  TL_TRY(weld(path, s->point, scale, row_of));
  const size_t places = s->point->count / 3;
  memset(kept_as, 0xff, places * sizeof *kept_as);
  for (size_t i = 0; i < 3 * triangles; ++i)
    kept_as[row_of[s->corner.data[i]]] = 0;
  uint32_t kept = 0;
  for (size_t i = 0; i < places; ++i)
    if (kept_as[i] == 0)
      kept_as[i] = kept++;
  TL_TRY(tl_mesh_reserve(kept, triangles, mesh));
  for (size_t i = 0; i < places; ++i)
    if (kept_as[i] != TL_MESH_NONE)
      memcpy(mesh->vertex[kept_as[i]], &s->point->data[3 * i], sizeof *mesh->vertex);
  for (size_t i = 0; i < triangles; ++i)
    for (size_t k = 0; k < 3; ++k)
      mesh->triangle[i][k] = kept_as[row_of[s->corner.data[3 * i + k]]];
  return TALUS_OK;
}

talus_status tl_mesh_parse(const char *path, const char *bytes, size_t n, double scale,
                           tl_mesh *mesh) {
  tl_coordinates points = {0};
  tl_mesh_source s = {.point = &points, .wants_faces = true};
  tl_mesh_release(mesh);
  talus_status status = parse(&s, path, bytes, n, scale);
  if (status == TALUS_OK)
    status = make_mesh(&s, path, scale, mesh);
  release_faces(&s);
  tl_array_free(&points);
  return status;
}

static talus_status parse_to(const char *path, const char *bytes, size_t n, double scale,
                             void *out) {
  return tl_mesh_parse(path, bytes, n, scale, out);
}

talus_status tl_mesh_read(const char *path, double scale, tl_mesh *mesh) {
  tl_mesh_release(mesh);
  return read_whole(path, scale, true, parse_to, mesh);
}
