/* How hot the neighbourhood of a body is. */
#include <stdlib.h>
#include <string.h>

#include "render_flat.h"

#define EACH 8 /* bodies in a cell, about */

/* Cells of equal edges over the box about all bodies that are matter of their own. */
typedef struct grid {
  double low[3], edge;
  size_t n[3];
} grid;

typedef struct cell {
  double count, v[3], square;
} cell;

static const flat_plane everywhere = {.right = 0, .up = 1, .across = 2, .toward = 1};

static grid make_grid(const frame *bodies) {
  grid g = {{INFINITY, INFINITY, INFINITY}, 1, {1, 1, 1}};
  double high[3] = {-INFINITY, -INFINITY, -INFINITY}, volume = 1, count = 0;
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
    volume *= fmax(high[k] - g.low[k], 1e-9);
  g.edge = cbrt(volume * EACH / count);
  for (int k = 0; k < 3; ++k)
    g.n[k] = (size_t)fmin(floor((high[k] - g.low[k]) / g.edge), 1000) + 1;
  return g;
}

static size_t cell_of(const grid *g, const double *x) {
  size_t at = 0;
  for (int k = 2; k >= 0; --k) {
    const double place = fmax(0, floor((x[k] - g->low[k]) / g->edge));
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
