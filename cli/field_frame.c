/* A field from a frame: bodies by the cell that their centre is in. */
#include <math.h>
#include <stdlib.h>

#include "field.h"
#include "render.h"

static int find_frame(const char *folder, const char *number, double time, frame *found) {
  render_folder open;
  char why[4096 + 256];
  int code = render_folder_open(folder, &open);
  if (code != CLI_DONE)
    return code;
  size_t chosen = open.count - 1;
  if (number)
    chosen = render_folder_find_frame(&open, number);
  else if (!isnan(time))
    chosen = render_folder_find_time(&open, time);
  if (chosen == open.count) {
    code = CLI_INPUT;
  } else if (!frame_read(open.frames[chosen].path, found, why, sizeof why)) {
    cli_error("%s", why);
    code = CLI_INPUT;
  } else if (!found->velocity) {
    cli_error("%s holds no velocities; run with output: {fields: [velocity]}",
              open.frames[chosen].path);
    frame_free(found);
    code = CLI_INPUT;
  }
  render_folder_close(&open);
  return code;
}

/* The box about all centres, unless one was given. */
static bool find_bounds(const frame *bodies, field *made) {
  flat_plane *plane = &made->plane;
  double *b = plane->bounds;
  if (plane->has_bounds)
    return true;
  b[0] = b[2] = INFINITY, b[1] = b[3] = -INFINITY;
  for (size_t i = 0; i < bodies->bodies; ++i) {
    if (!flat_is_body(plane, bodies, i))
      continue;
    const double x = bodies->position[3 * i + (size_t)plane->right],
                 y = bodies->position[3 * i + (size_t)plane->up];
    b[0] = fmin(b[0], x), b[1] = fmax(b[1], x), b[2] = fmin(b[2], y), b[3] = fmax(b[3], y);
  }
  return b[0] <= b[1];
}

/* Cells lie at multiples of their edge; bounds that were given are where they begin. */
static bool lay_grid(field *made, double cell) {
  double *b = made->plane.bounds;
  size_t n[2];
  for (int k = 0; k < 2; ++k) {
    if (!made->plane.has_bounds)
      b[2 * k] = cell * floor(b[2 * k] / cell);
    const double wanted = ceil((b[2 * k + 1] - b[2 * k]) / cell - 1e-9);
    if (!(wanted <= FIELD_CELLS_MOST)) {
      made->columns = made->rows = FIELD_CELLS_MOST + 1;
      return false;
    }
    n[k] = wanted < 1 ? 1 : (size_t)wanted;
    made->cell[k] = cell;
    made->origin[k] = b[2 * k] + 0.5 * cell;
  }
  made->columns = n[0], made->rows = n[1];
  return field_make(made, false);
}

static void add_body(field *made, const frame *bodies, size_t i) {
  const flat_plane *plane = &made->plane;
  const double *x = bodies->position + 3 * i;
  const float *v = bodies->velocity + 3 * i;
  const double column = floor((x[plane->right] - plane->bounds[0]) / made->cell[0]);
  const double row = floor((x[plane->up] - plane->bounds[2]) / made->cell[1]);
  /* A body on the far border belongs to the last cell, unless the grid was given. */
  const double last[2] = {(double)made->columns - 1, (double)made->rows - 1};
  const double c = plane->has_bounds ? column : fmin(column, last[0]);
  const double r = plane->has_bounds ? row : fmin(row, last[1]);
  if (c < 0 || r < 0 || c > last[0] || r > last[1])
    return;
  const size_t at = (size_t)r * made->columns + (size_t)c;
  made->count[at] += 1;
  made->right[at] += (double)v[plane->right];
  made->up[at] += (double)v[plane->up];
  made->across[at] += (double)v[plane->across];
  for (int k = 0; k < 3; ++k)
    made->temperature[at] += (double)v[k] * (double)v[k];
}

int field_of_frame(const char *folder, const char *number, double time, double cell, field *made) {
  frame bodies;
  const int code = find_frame(folder, number, time, &bodies);
  if (code != CLI_DONE)
    return code;
  const bool has_bodies = find_bounds(&bodies, made);
  if (!has_bodies || !lay_grid(made, cell)) {
    frame_free(&bodies);
    if (has_bodies)
      return field_refuse(made);
    cli_error("field: nobody is in the slab");
    return CLI_INPUT;
  }
  for (size_t i = 0; i < bodies.bodies; ++i)
    if (flat_is_body(&made->plane, &bodies, i))
      add_body(made, &bodies, i);
  frame_free(&bodies);
  for (size_t i = 0; i < made->columns * made->rows; ++i) {
    const double n = made->count[i];
    const double a = made->right[i] / n, b = made->up[i] / n, c = made->across[i] / n;
    made->temperature[i] = fmax(0, (made->temperature[i] / n - a * a - b * b - c * c) / 3);
    made->right[i] = a, made->up[i] = b, made->across[i] = c;
  }
  return CLI_DONE;
}
