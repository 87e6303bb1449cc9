#include "render_flat.h"

#include <stdlib.h>
#include <string.h>

#include "hue.h"

/* part of the largest extent below which another is none: rotations are single precision */
#define THIN 1e-5

static const unsigned char grey[3] = {128, 128, 128};

static int out_of_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

static bool is_drawn(const render_options *options, const frame *bodies, size_t i) {
  return flat_is_body(&options->plane, bodies, i) &&
         render_choice_shows(&options->choice, bodies, i);
}

/* ---- walls ----------------------------------------------------------------------------------- */

/* Ends, in the plane, of the line from point k to point k + 1 of a revolved wall, on one side of
 * its axis; false if its axis is not in the plane. */
static bool find_line(const flat_plane *plane, const frame *bodies, size_t i, uint32_t k,
                      double side, double ends[2][2]) {
  const frame_shape *shape = &bodies->shape_table[bodies->shape[i]];
  const float still[4] = {1, 0, 0, 0}, *q = bodies->quaternion ? bodies->quaternion + 4 * i : still;
  const vec axis = render_turn(q, (vec){0, 0, 1});
  const float along[3] = {axis.x, axis.y, axis.z};
  const double *middle = bodies->position + 3 * i;
  const double a = (double)along[plane->right], b = (double)along[plane->up];
  const double length = sqrt(a * a + b * b);
  if (length < 0.999)
    return false;
  for (int e = 0; e < 2; ++e) {
    const double *p = bodies->point + 4 * ((size_t)shape->point + k + (uint32_t)e);
    const double z = p[2] * (double)bodies->scale[i], r = side * p[3] * (double)bodies->scale[i];
    ends[e][0] = middle[plane->right] + (a * z - b * r) / length;
    ends[e][1] = middle[plane->up] + (b * z + a * r) / length;
  }
  return true;
}

typedef void line_fn(void *context, double ends[2][2]);

/* Half edges of a container in the plane: right, up. */
static void find_halves(const flat_plane *plane, const frame *bodies, size_t i, double half[3][2]) {
  const frame_shape *shape = &bodies->shape_table[bodies->shape[i]];
  const float still[4] = {1, 0, 0, 0}, *q = bodies->quaternion ? bodies->quaternion + 4 * i : still;
  for (int k = 0; k < 3; ++k) {
    const vec axis = render_turn(q, (vec){k == 0, k == 1, k == 2});
    const float along[3] = {axis.x, axis.y, axis.z};
    const double length = 0.5 * shape->size[k] * (double)bodies->scale[i];
    half[k][0] = length * (double)along[plane->right];
    half[k][1] = length * (double)along[plane->up];
  }
}

static double cross(const double a[2], const double b[2]) { return a[0] * b[1] - a[1] * b[0]; }

/* Calls fn for the edges of a container that bound its projection on the plane: of the four along
 * each of its axes the farthest from the middle. */
static void each_edge(const flat_plane *plane, const frame *bodies, size_t i, line_fn *fn,
                      void *context) {
  const double *x = bodies->position + 3 * i;
  double half[3][2], ends[2][2];
  find_halves(plane, bodies, i, half);
  const double widest = fmax(hypot(half[0][0], half[0][1]),
                             fmax(hypot(half[1][0], half[1][1]), hypot(half[2][0], half[2][1])));
  for (int k = 0; k < 3; ++k) {
    const double *a = half[k], *b = half[(k + 1) % 3], *c = half[(k + 2) % 3];
    const double far = fabs(cross(a, b)) + fabs(cross(a, c));
    for (int corner = 0; corner < 4 && hypot(a[0], a[1]) > THIN * widest; ++corner) {
      const double s = corner & 1 ? -1 : 1, t = corner & 2 ? -1 : 1;
      const bool is_again = (s < 0 && hypot(b[0], b[1]) <= THIN * widest) ||
                            (t < 0 && hypot(c[0], c[1]) <= THIN * widest);
      if (is_again || fabs(s * cross(a, b) + t * cross(a, c)) < far * (1 - THIN))
        continue;
      for (int e = 0; e < 2; ++e) {
        const double r = e == 0 ? -1 : 1;
        ends[e][0] = x[plane->right] + r * a[0] + s * b[0] + t * c[0];
        ends[e][1] = x[plane->up] + r * a[1] + s * b[1] + t * c[1];
      }
      fn(context, ends);
    }
  }
}

/* Calls fn for every line of walls that the plane shows. */

static void each_line(const render_options *options, const frame *bodies, line_fn *fn,
                      void *context) {
  for (size_t i = 0; i < bodies->bodies; ++i) {
    const frame_shape *shape = &bodies->shape_table[bodies->shape[i]];
    double ends[2][2];
    if (!render_choice_shows(&options->choice, bodies, i))
      continue;
    for (uint32_t k = 0; shape->kind == FRAME_REVOLVED && k + 1 < shape->points; ++k)
      for (double side = -1; side < 2; side += 2)
        if (find_line(&options->plane, bodies, i, k, side, ends))
          fn(context, ends);
    if (shape->kind == FRAME_CONTAINER)
      each_edge(&options->plane, bodies, i, fn, context);
  }
}

/* ---- the view -------------------------------------------------------------------------------- */

typedef struct extent {
  double low[2], high[2], value[2];
} extent;

static void reach(extent *all, double x, double y, double r) {
  all->low[0] = fmin(all->low[0], x - r), all->high[0] = fmax(all->high[0], x + r);
  all->low[1] = fmin(all->low[1], y - r), all->high[1] = fmax(all->high[1], y + r);
}

static void reach_line(void *context, double ends[2][2]) {
  for (int e = 0; e < 2; ++e)
    reach(context, ends[e][0], ends[e][1], 0);
}

static int add_frame(const render_options *options, const render_frame *from, extent *all) {
  render_data data;
  const int code = render_data_read(options, from, &data);
  if (code != CLI_DONE)
    return code;
  const frame *bodies = &data.bodies;
  for (size_t i = 0; i < bodies->bodies; ++i) {
    const double *x = bodies->position + 3 * i;
    if (!is_drawn(options, bodies, i))
      continue;
    reach(all, x[options->plane.right], x[options->plane.up], (double)bodies->radius[i]);
    if (data.value) {
      all->value[0] = fmin(all->value[0], (double)data.value[i]);
      all->value[1] = fmax(all->value[1], (double)data.value[i]);
    }
  }
  each_line(options, bodies, reach_line, all);
  render_data_free(&data);
  return CLI_DONE;
}

/* The plane's rectangle in the middle of the room that labels leave, at one scale. */
static void place(const render_options *options, const extent *all, flat_view *view) {
  const double unit = (double)render_unit(options->width, options->height);
  const double beside = options->is_bare ? 0 : RENDER_LEGEND * unit;
  const double above = options->is_bare ? 0 : RENDER_WORDS * unit;
  const double room[2] = {options->width - beside, options->height - 2 * above};
  const double slack = options->plane.has_bounds ? 1 : 1.04;
  const double wide = fmax(all->high[0] - all->low[0], 1e-12) * slack;
  const double high = fmax(all->high[1] - all->low[1], 1e-12) * slack;
  view->scale = fmin(room[0] / wide, room[1] / high);
  view->left = 0.5 * (all->low[0] + all->high[0]) - 0.5 * room[0] / view->scale;
  view->bottom = 0.5 * (all->low[1] + all->high[1]) - (0.5 * room[1] + above) / view->scale;
}

int render_flat_fit(const render_options *options, const render_folder *folder, size_t first,
                    size_t last, flat_view *view) {
  extent all = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
  for (size_t i = first; i <= last; ++i) {
    const int code = add_frame(options, &folder->frames[i], &all);
    if (code != CLI_DONE)
      return code;
  }
  const double *b = options->plane.bounds;
  if (options->plane.has_bounds)
    all.low[0] = b[0], all.high[0] = b[1], all.low[1] = b[2], all.high[1] = b[3];
  if (!(all.low[0] <= all.high[0])) {
    cli_error("%s: nothing is in the plane; give it another --slab, or --bounds", options->folder);
    return CLI_INPUT;
  }
  place(options, &all, view);
  for (int k = 0; k < 2; ++k)
    view->range[k] = options->has_range ? options->range[k] : all.value[k];
  if (!(view->range[0] < view->range[1])) /* no bodies, or all values equal */
    view->range[0] = 0, view->range[1] = all.value[1] > 0 ? all.value[1] : 1;
  return CLI_DONE;
}

/* ---- drawing --------------------------------------------------------------------------------- */

typedef struct drawing {
  const render_options *options;
  const flat_view *view;
  canvas *to;
} drawing;

static void draw_line(void *context, double ends[2][2]) {
  const drawing *d = context;
  float at[2][2];
  for (int e = 0; e < 2; ++e) {
    at[e][0] = (float)((ends[e][0] - d->view->left) * d->view->scale);
    at[e][1] = (float)(d->to->height - (ends[e][1] - d->view->bottom) * d->view->scale);
  }
  text_line(d->to, at[0], at[1], 2, grey);
}

static void paint(const render_options *options, const flat_view *view, const render_data *data,
                  size_t i, unsigned char bytes[3]) {
  const flat_plane *plane = &options->plane;
  const float *v = data->bodies.velocity ? data->bodies.velocity + 3 * i : NULL;
  if (options->colour == BY_ANGLE || options->colour == BY_DIRECTION) {
    const double right = (double)v[plane->right], up = (double)v[plane->up];
    const double out = plane->toward * (double)v[plane->across];
    const double polar = atan2(sqrt(right * right + up * up), out) / 3.14159265358979;
    hue_bytes(atan2(up, right), options->colour == BY_ANGLE ? 1 : polar, bytes);
    return;
  }
  const double span = view->range[1] - view->range[0];
  rgb c = colour_of_row(data->bodies.material[i]);
  if (data->value)
    c = colour_of(COLOUR_COOL, (float)(((double)data->value[i] - view->range[0]) / span));
  else if (options->colour == BY_ID)
    c = colour_of_number(data->bodies.id[i]);
  bytes[0] = colour_byte(c.r), bytes[1] = colour_byte(c.g), bytes[2] = colour_byte(c.b);
}

/* Colours the pixels whose middle is in the disc, and the one of its centre: colours are never
 * mixed. */
static void draw_disc(const drawing *d, const render_data *data, size_t i) {
  const flat_plane *plane = &d->options->plane;
  const double *p = data->bodies.position + 3 * i;
  const double r = (double)data->bodies.radius[i] * d->view->scale;
  const double x = (p[plane->right] - d->view->left) * d->view->scale;
  const double y = d->to->height - (p[plane->up] - d->view->bottom) * d->view->scale;
  const double w = d->to->width, h = d->to->height;
  if (!(x + r > 0 && y + r > 0 && x - r < w && y - r < h))
    return;
  unsigned char bytes[3];
  paint(d->options, d->view, data, i, bytes);
  const int top = (int)fmax(0, floor(y - r)), bottom = (int)fmin(h - 1, floor(y + r));
  const int left = (int)fmax(0, floor(x - r)), right = (int)fmin(w - 1, floor(x + r));
  for (int j = top; j <= bottom; ++j)
    for (int k = left; k <= right; ++k) {
      const double dx = k + 0.5 - x, dy = j + 0.5 - y;
      if (dx * dx + dy * dy <= r * r || (k == (int)floor(x) && j == (int)floor(y)))
        memcpy(d->to->rgb + 3 * ((size_t)j * (size_t)d->to->width + (size_t)k), bytes, 3);
    }
}

typedef struct layer {
  double depth;
  size_t body;
} layer;

static int by_depth(const void *a, const void *b) {
  const layer *x = a, *y = b;
  if (x->depth != y->depth)
    return x->depth < y->depth ? -1 : 1;
  return (x->body > y->body) - (x->body < y->body);
}

int render_flat_draw(const render_options *options, const render_folder *folder,
                     const flat_view *view, const render_data *data, canvas *to) {
  const frame *bodies = &data->bodies;
  const drawing d = {options, view, to};
  layer *layers = malloc((bodies->bodies + 1) * sizeof *layers);
  size_t count = 0;
  if (!layers)
    return out_of_memory();
  memset(to->rgb, 255, 3 * (size_t)to->width * (size_t)to->height);
  for (size_t i = 0; i < bodies->bodies; ++i)
    if (is_drawn(options, bodies, i))
      layers[count++] = (layer){
          options->plane.toward * bodies->position[3 * i + (size_t)options->plane.across], i};
  qsort(layers, count, sizeof *layers, by_depth);
  for (size_t i = 0; i < count; ++i)
    draw_disc(&d, data, layers[i].body);
  free(layers);
  drawing lines = d;
  each_line(options, bodies, draw_line, &lines);
  if (!options->is_bare) {
    render_view labels = {.range = {view->range[0], view->range[1]}};
    render_legend_draw(options, folder, &labels, data, to);
  }
  return CLI_DONE;
}
