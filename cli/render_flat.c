#include "render_flat.h"

#include <stdlib.h>
#include <string.h>

#include "hue.h"

static const unsigned char grey[3] = {128, 128, 128};

static int out_of_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

static bool is_drawn(const render_options *options, const render_folder *folder,
                     const frame *bodies, size_t i) {
  return flat_is_body(&options->plane, bodies, i) && !render_flat_is_wall(folder, bodies, i) &&
         render_choice_shows(&options->choice, bodies, i);
}

/* ---- the view -------------------------------------------------------------------------------- */

typedef struct extent {
  double low[2], high[2];
  render_span values;
} extent;

static void reach(extent *all, double x, double y, double r) {
  all->low[0] = fmin(all->low[0], x - r), all->high[0] = fmax(all->high[0], x + r);
  all->low[1] = fmin(all->low[1], y - r), all->high[1] = fmax(all->high[1], y + r);
}

static void reach_line(void *context, double ends[2][2]) {
  for (int e = 0; e < 2; ++e)
    reach(context, ends[e][0], ends[e][1], 0);
}

static int add_frame(const render_options *options, const render_folder *folder,
                     const render_frame *from, extent *all) {
  render_data data;
  const int read = render_data_read(options, from, &data);
  if (read != CLI_DONE)
    return read;
  const frame *bodies = &data.bodies;
  float *values = malloc((bodies->bodies + 1) * sizeof *values);
  size_t count = 0;
  for (size_t i = 0; values && i < bodies->bodies; ++i) {
    const double *x = bodies->position + 3 * i;
    if (!is_drawn(options, folder, bodies, i))
      continue;
    reach(all, x[options->plane.right], x[options->plane.up], (double)bodies->radius[i]);
    if (data.value && !render_folder_is_fixed(folder, bodies->id[i]))
      values[count++] = data.value[i];
  }
  render_span_add(&all->values, values, count);
  render_flat_walls(options, folder, bodies, reach_line, all);
  render_data_free(&data);
  const int code = values ? CLI_DONE : out_of_memory();
  free(values);
  return code;
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
  extent all = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}, render_span_none};
  for (size_t i = first; i <= last; ++i) {
    const int code = add_frame(options, folder, &folder->frames[i], &all);
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
  view->colours = render_colours_of(options, &all.values);
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
  rgb c = colour_of_row(data->bodies.material[i]);
  if (data->value)
    c = colour_of(COLOUR_COOL, render_share(&view->colours, data->value[i]));
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
    if (is_drawn(options, folder, bodies, i))
      layers[count++] = (layer){
          options->plane.toward * bodies->position[3 * i + (size_t)options->plane.across], i};
  qsort(layers, count, sizeof *layers, by_depth);
  for (size_t i = 0; i < count; ++i)
    draw_disc(&d, data, layers[i].body);
  free(layers);
  drawing lines = d;
  render_flat_walls(options, folder, bodies, draw_line, &lines);
  if (!options->is_bare) {
    const render_view labels = {.colours = view->colours};
    render_legend_draw(options, folder, &labels, data, to);
  }
  return CLI_DONE;
}
