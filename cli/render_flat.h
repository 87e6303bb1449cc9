/* Flat maps of a frame: discs without shading, in parallel projection along an axis. */
#ifndef CLI_RENDER_FLAT_H
#define CLI_RENDER_FLAT_H

#include "render.h"

/* Where the picture is: metres at the left and lower edge of the canvas, pixels per metre. */
typedef struct flat_view {
  double left, bottom, scale;
  render_colours colours;
} flat_view;

/* Fits the view to frames first ... last, and finds the range of the values. */
int render_flat_fit(const render_options *options, const render_folder *folder, size_t first,
                    size_t last, flat_view *view);
int render_flat_draw(const render_options *options, const render_folder *folder,
                     const flat_view *view, const render_data *data, canvas *to);

/* Bodies that a flat map shows by their outlines: containers, revolved walls, and what is fixed or
 * moved unless it is a ball. */
bool render_flat_is_wall(const render_folder *folder, const frame *bodies, size_t i);
typedef void flat_line_fn(void *context, double ends[2][2]);
void render_flat_walls(const render_options *options, const render_folder *folder,
                       const frame *bodies, flat_line_fn *fn, void *context);

/* kT/m around each body, m2/s2: a third of the mean square of velocities relative to their mean, in
 * cells of about eight bodies. False if memory is missing. */
bool render_flat_temperatures(const frame *bodies, float *value);

#endif
