/* Granular temperature around each body. */
#include <stdlib.h>
#include <string.h>

#include "render_flat.h"

#define EACH        8    /* bodies in a cell, about */
#define CELLS_ALONG 1000 /* an axis */

/* Nearly cubic cells that cover all bodies which are not walls. */
typedef struct grid {
  double low[3], per_edge[3]; /* m, 1/m */
  size_t n[3];
} grid;

typedef struct cell {
  double count, v[3], square;
} cell;

static const flat_plane everywhere = {.right = 0, .up = 1, .across = 2, .toward = 1};

/* Edge of the cells: about EACH bodies per cell, and at most CELLS_ALONG along an axis. Axes
 * thinner than a cell do not count: a layer of bodies has cells in its plane. */
static double find_edge(const double size[3], double count) {
  const double widest = fmax(fmax(size[0], size[1]), size[2]);
  bool counts[3] = {true, true, true};
  for (int axes = 3; axes > 0 && widest > 0;) {
    double volume = 1; /* in units of the largest extent */
    for (int k = 0; k < 3; ++k)
      volume *= counts[k] ? size[k] / widest : 1;
    const double edge = widest * pow(volume * EACH / count, 1.0 / axes);
    const int before = axes;
    for (int k = 0; k < 3; ++k)
      if (counts[k] && size[k] <= edge)
        counts[k] = false, axes--;
    if (axes == before)
      return fmax(edge, widest / CELLS_ALONG);
  }
  return widest > 0 ? 2 * widest : 1; /* few bodies: one cell */
}

static grid make_grid(const frame *bodies) {
  grid g = {{INFINITY, INFINITY, INFINITY}, {0, 0, 0}, {1, 1, 1}};
  double high[3] = {-INFINITY, -INFINITY, -INFINITY}, size[3], count = 0;
  for (size_t i = 0; i < bodies->bodies; ++i) {
    if (!flat_is_body(&everywhere, bodies, i))
      continue;
    count++;
    for (size_t k = 0; k < 3; ++k) {
      g.low[k] = fmin(g.low[k], bodies->position[3 * i + k]);
      high[k] = fmax(high[k], bodies->position[3 * i + k]);
    }
  }
  if (count == 0)
    return g;
  for (int k = 0; k < 3; ++k)
    size[k] = high[k] - g.low[k];
  const double edge = find_edge(size, count);
  for (int k = 0; k < 3;
       ++k) { /* whole cells only: a partial cell at the end would have too few bodies */
    g.n[k] = (size_t)fmin(fmax(1, round(size[k] / edge)), CELLS_ALONG);
    g.per_edge[k] = g.n[k] > 1 ? (double)g.n[k] / size[k] : 0;
  }
  return g;
}

static size_t cell_of(const grid *g, const double *x) {
  size_t at = 0;
  for (int k = 2; k >= 0; --k) {
    const double place = fmax(0, floor((x[k] - g->low[k]) * g->per_edge[k]));
    at = at * g->n[k] + (size_t)fmin(place, (double)g->n[k] - 1);
  }
  return at;
}

bool render_flat_temperatures(const frame *bodies, float *value) {
  const grid g = make_grid(bodies);
  cell *cells = calloc(g.n[0] * g.n[1] * g.n[2], sizeof *cells);
  if (!cells)
    return false;
  for (size_t i = 0; i < bodies->bodies; ++i) {
    if (!flat_is_body(&everywhere, bodies, i))
      continue;
    cell *c = &cells[cell_of(&g, bodies->position + 3 * i)];
    c->count++;
    for (size_t k = 0; k < 3; ++k) {
      const double v = (double)bodies->velocity[3 * i + k];
      c->v[k] += v, c->square += v * v;
    }
  }
  for (size_t i = 0; i < bodies->bodies; ++i) {
    value[i] = 0;
    if (!flat_is_body(&everywhere, bodies, i))
      continue;
    const cell *c = &cells[cell_of(&g, bodies->position + 3 * i)];
    const double mean = (c->v[0] * c->v[0] + c->v[1] * c->v[1] + c->v[2] * c->v[2]) / c->count;
    value[i] = (float)fmax(0, (c->square - mean) / (3 * c->count));
  }
  free(cells);
  return true;
}
