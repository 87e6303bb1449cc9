/* Flat maps of a frame: discs without shading, in parallel projection along an axis. */
#ifndef CLI_RENDER_FLAT_H
#define CLI_RENDER_FLAT_H

#include "render.h"

/* Where the picture is: metres at the left and lower edge of the canvas, pixels per metre. */
typedef struct flat_view {
  double left, bottom, scale;
  double range[2]; /* of the values that colours represent */
} flat_view;

/* Fits the view to frames first ... last, and finds the range of the values. */
int render_flat_fit(const render_options *options, const render_folder *folder, size_t first,
                    size_t last, flat_view *view);
int render_flat_draw(const render_options *options, const render_folder *folder,
                     const flat_view *view, const render_data *data, canvas *to);

/* kT/m around each body, m2/s2: a third of the mean square of velocities relative to their mean, in
 * cells of about eight bodies. False if memory is missing. */
bool render_flat_temperatures(const frame *bodies, float *value);

#endif
