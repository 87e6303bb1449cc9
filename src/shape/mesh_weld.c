/* Vertices that nearly are one. */
#include "base/hash.h"
#include "kernels/vec3.h"
#include "shape/mesh_tools.h"

/* A table of open addresses: the last vertex that was put into each cell of a grid; `before` chains
 * those of one cell. */
typedef struct welding {
  const tl_mesh *mesh;
  double distance;
  size_t size; /* of the table */
  uint32_t *table, *before, *row_of;
} welding;

/* Counted from the first vertex; what is too far away shares the last cell. */
static void cell_of(const welding *w, uint32_t v, int64_t cell[3]) {
  for (int k = 0; k < 3; ++k) {
    const double at = (w->mesh->vertex[v][k] - w->mesh->vertex[0][k]) / w->distance;
    cell[k] = (int64_t)floor(fmin(fmax(at, -0x1p60), 0x1p60));
  }
}

/* Where the cell is in the table, or would be. */
static size_t find_cell(const welding *w, const int64_t cell[3]) {
  size_t at = tl_xxh64(cell, 3 * sizeof *cell, 0) & (w->size - 1);
  for (; w->table[at] != TL_MESH_NONE; at = (at + 1) & (w->size - 1)) {
    int64_t other[3];
    cell_of(w, w->table[at], other);
    if (memcmp(other, cell, sizeof other) == 0)
      break;
  }
  return at;
}

static bool is_near(const welding *w, uint32_t a, uint32_t b) {
  double square = 0;
  for (int k = 0; k < 3; ++k) {
    const double d = w->mesh->vertex[a][k] - w->mesh->vertex[b][k];
    square += d * d;
  }
  return square <= w->distance * w->distance;
}

static uint32_t root_of(uint32_t *parent, uint32_t i) {
  while (parent[i] != i)
    i = parent[i] = parent[parent[i]];
  return i;
}

/* Joins v to those before it in the 27 cells around. */
static void join(welding *w, uint32_t v) {
  int64_t cell[3];
  cell_of(w, v, cell);
  for (int i = 0; i < 27; ++i) {
    const int64_t at[3] = {cell[0] + i % 3 - 1, cell[1] + i / 3 % 3 - 1, cell[2] + i / 9 - 1};
    for (uint32_t u = w->table[find_cell(w, at)]; u != TL_MESH_NONE; u = w->before[u])
      if (is_near(w, u, v)) {
        const uint32_t a = root_of(w->row_of, u), b = root_of(w->row_of, v);
        w->row_of[a > b ? a : b] = a < b ? a : b;
      }
  }
  const size_t home = find_cell(w, cell);
  w->before[v] = w->table[home];
  w->table[home] = v;
}

talus_status tl_mesh_weld_near(const tl_mesh *mesh, double distance, uint32_t *row_of,
                               size_t *kept) {
  welding w = {.mesh = mesh, .distance = distance, .size = 16, .row_of = row_of};
  while (w.size < 2 * mesh->vertices)
    w.size *= 2;
  TL_ARRAY(uint32_t) rows = {0};
  TL_TRY(tl_array_resize(&rows, w.size + mesh->vertices));
  memset(rows.data, 0xff, w.size * sizeof *rows.data);
  w.table = rows.data;
  w.before = rows.data + w.size;
  for (uint32_t v = 0; v < mesh->vertices; ++v) {
    row_of[v] = v;
    if (distance > 0)
      join(&w, v);
  }
  *kept = 0;
  for (uint32_t v = 0; v < mesh->vertices; ++v)
    row_of[v] = root_of(row_of, v); /* the root is the first of its set */
  for (uint32_t v = 0; v < mesh->vertices; ++v)
    w.before[v] = row_of[v] == v ? (uint32_t)(*kept)++ : w.before[row_of[v]];
  memcpy(row_of, w.before, mesh->vertices * sizeof *row_of);
  tl_array_free(&rows);
  return TALUS_OK;
}
