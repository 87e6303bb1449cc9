/* Texts on a picture: title, time, and the meaning of colours. */
#include <math.h>
#include <stdio.h>

#include "hue.h"
#include "render.h"
#include "ticks.h"

static const unsigned char ink[3] = {38, 42, 48}, paper[3] = {255, 255, 255};

typedef struct pen {
  canvas *to;
  float unit;     /* pixels: a thousandth of the height of a picture of common proportions */
  float size;     /* of text */
  bool may_cover; /* bodies may be behind the texts */
} pen;

static void write_at(const pen *with, float x, float y, float size, const char *text) {
  const text_style style = {size, {ink[0], ink[1], ink[2]}, {paper[0], paper[1], paper[2]}};
  text_draw(with->to, x, y, &style, text);
}

static void set_bytes(rgb colour, unsigned char bytes[3]) {
  bytes[0] = colour_byte(colour.r);
  bytes[1] = colour_byte(colour.g);
  bytes[2] = colour_byte(colour.b);
}

static void fill(const pen *with, float x, float y, float width, float height, rgb colour) {
  unsigned char bytes[3];
  set_bytes(colour, bytes);
  for (int j = (int)y; j < (int)(y + height); ++j)
    for (int i = (int)x; i < (int)(x + width); ++i)
      canvas_blend(with->to, i, j, bytes, 1);
}

static void lay_box(const pen *with, float left, float right, float top, float bottom) {
  if (!with->may_cover)
    return;
  for (int j = (int)top; j < (int)bottom; ++j)
    for (int i = (int)left; i < (int)right; ++i)
      canvas_blend(with->to, i, j, paper, 0.85f);
}

/* Paper below what follows, from there to the right edge and 12 units around. */
static void lay_paper(const pen *with, float x, float top, float bottom) {
  const float edge = 12 * with->unit;
  lay_box(with, x - edge, (float)with->to->width - edge, top - edge, bottom + edge);
}

/* A line of words on paper; y is where it stands. */
static void write_on_paper(const pen *with, float x, float y, float size, const char *text) {
  const float edge = 12 * with->unit;
  lay_box(with, x - edge, x + text_width(text, size) + edge, y - size - 0.5f * edge,
          y + 0.3f * size + 0.5f * edge);
  write_at(with, x, y, size, text);
}

static void frame_around(const pen *with, float x, float y, float width, float height) {
  const float corner[5][2] = {
      {x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}, {x, y}};
  for (int i = 0; i < 4; ++i)
    text_line(with->to, corner[i], corner[i + 1], 1.4f * with->unit, ink);
}

/* ---- the meaning of colours ------------------------------------------------------------------ */

static const char *label_of(const render_options *options) {
  if (options->with_contacts)
    return "contact force [N]";
  switch (options->colour) {
  case BY_SPEED:
    return "speed [m/s]";
  case BY_SIZE:
    return "diameter [m]";
  case BY_FORCE:
    return "force on body [N]";
  case BY_TIME:
    return "log10 of the step [s]";
  case BY_TEMPERATURE:
    return "kT/m [m2/s2]";
  default:
    return "";
  }
}

/* A pointed end of the bar: some values are beyond its range. */
static void draw_tip(const pen *with, float x, float y, float width, rgb colour) {
  const float height = 0.7f * width;
  for (float j = 0; j < height; ++j) {
    const float inset = 0.5f * width * (j + 0.5f) / height;
    fill(with, x + inset, y - 1 - j, width - 2 * inset, 1, colour);
  }
  const float corner[3][2] = {{x, y}, {x + 0.5f * width, y - height}, {x + width, y}};
  for (int i = 0; i < 2; ++i)
    text_line(with->to, corner[i], corner[i + 1], 1.4f * with->unit, ink);
}

static void draw_bar(const pen *with, const render_options *options, const render_view *view) {
  const float u = with->unit, width = 22 * u;
  const float height = fminf(420 * u, (float)with->to->height - 170 * u);
  const float x = (float)with->to->width - 120 * u;
  const float y = 0.5f * ((float)with->to->height - height);
  const colour_map map =
      options->with_contacts || options->colour == BY_FORCE ? COLOUR_WARM : COLOUR_COOL;
  const char *label = label_of(options);
  const float length = text_width(label, with->size), right = (float)with->to->width - 24 * u;
  const float begin = fminf(x + 0.5f * width - 0.5f * length, right - length);
  lay_paper(with, begin, y - 30 * u - with->size, y + height);
  for (int j = 0; j < (int)height; ++j)
    fill(with, x, y + (float)j, width, 1, colour_of(map, 1 - ((float)j + 0.5f) / height));
  frame_around(with, x, y, width, height);
  if (view->colours.is_cut)
    draw_tip(with, x, y, width, colour_of(map, 1));
  const ticks marks = ticks_of(view->colours.range[0], view->colours.range[1], 5);
  for (int i = 0; i < marks.count; ++i) {
    char text[48];
    const double share = (ticks_at(&marks, i) - view->colours.range[0]) /
                         (view->colours.range[1] - view->colours.range[0]);
    const float at = y + height * (float)(1 - share);
    const float from[2] = {x + width, at}, end[2] = {x + width + 6 * u, at};
    text_line(with->to, from, end, 1.4f * u, ink);
    write_at(with, x + width + 12 * u, at + 0.42f * with->size, 0.84f * with->size,
             ticks_text(&marks, i, text, sizeof text));
  }
  write_at(with, begin, y - 30 * u, with->size, label);
}

/* A wheel of hues by direction on the picture, paler for slow bodies. */
static void draw_wheel(const pen *with, const render_view *view) {
  const float u = with->unit, radius = 62 * u;
  const float x = (float)with->to->width - 104 * u, y = 0.5f * (float)with->to->height;
  lay_paper(with, x - radius, y - radius - 16 * u - with->size, y + radius + 16 * u + with->size);
  for (int j = (int)(y - radius) - 1; j <= (int)(y + radius) + 1; ++j)
    for (int i = (int)(x - radius) - 1; i <= (int)(x + radius) + 1; ++i) {
      const float dx = (float)i + 0.5f - x, dy = y - (float)j - 0.5f;
      const float r = sqrtf(dx * dx + dy * dy), cover = radius + 0.5f - r;
      unsigned char bytes[3];
      set_bytes(colour_of_angle(atan2f(dy, dx), 0.1f + 0.9f * sqrtf(r / radius)), bytes);
      canvas_blend(with->to, i, j, bytes, cover < 1 ? cover : 1);
    }
  char text[64];
  const char *label = "direction";
  snprintf(text, sizeof text, "rim: %.3g m/s", view->colours.range[1]);
  write_at(with, x - 0.5f * text_width(label, with->size), y - radius - 16 * u, with->size, label);
  const float small = 0.84f * with->size;
  write_at(with, x - 0.5f * text_width(text, small), y + radius + 16 * u + small, small, text);
}

/* The hues of a flat map, slightly darker than those of bodies, so that `talus field --image` does
 * not mistake them for bodies. */
static void draw_hues(const pen *with, const render_options *options) {
  const bool is_sphere = options->colour == BY_DIRECTION;
  const float u = with->unit, radius = 62 * u, hole = is_sphere ? 0 : 0.45f * radius;
  const float x = (float)with->to->width - 104 * u, y = 0.5f * (float)with->to->height;
  for (int j = (int)(y - radius) - 1; j <= (int)(y + radius) + 1; ++j)
    for (int i = (int)(x - radius) - 1; i <= (int)(x + radius) + 1; ++i) {
      const float dx = (float)i + 0.5f - x, dy = y - (float)j - 0.5f;
      const float r = sqrtf(dx * dx + dy * dy);
      unsigned char bytes[3];
      if (r > radius || r < hole)
        continue;
      hue_bytes(atan2((double)dy, (double)dx), is_sphere ? (double)(r / radius) : 1, bytes);
      for (int k = 0; k < 3; ++k)
        bytes[k] = (unsigned char)(bytes[k] * 15 / 16);
      canvas_blend(with->to, i, j, bytes, 1);
    }
  char text[64];
  const char *label = "direction";
  snprintf(text, sizeof text, "%c right, %c up", "xyz"[options->plane.right],
           "xyz"[options->plane.up]);
  write_at(with, x - 0.5f * text_width(label, with->size), y - radius - 16 * u, with->size, label);
  const float small = 0.84f * with->size;
  write_at(with, x - 0.5f * text_width(text, small), y + radius + 16 * u + small, small, text);
  if (is_sphere)
    write_at(with, x - 0.5f * text_width("rim: away", small), y + radius + 20 * u + 2.2f * small,
             small, "rim: away");
}

#define ROWS_MOST 16

/* Drawn without a colour of its own. */
static bool is_glass(const frame *bodies, size_t i) {
  const frame_kind kind = bodies->shape_table[bodies->shape[i]].kind;
  return kind == FRAME_PLANE || kind == FRAME_CONTAINER || kind == FRAME_REVOLVED;
}

static void draw_materials(const pen *with, const frame *bodies) {
  const float u = with->unit, line = 34 * u;
  bool is_used[ROWS_MOST] = {false};
  float widest = 0;
  int rows = 0;
  for (size_t i = 0; i < bodies->bodies; ++i)
    if (bodies->material[i] < ROWS_MOST && !is_glass(bodies, i))
      is_used[bodies->material[i]] = true;
  for (unsigned m = 0; m < ROWS_MOST; ++m)
    if (is_used[m]) {
      widest = fmaxf(widest, text_width(bodies->material_table[m].name, with->size));
      rows++;
    }
  const float x = (float)with->to->width - 24 * u - widest - 32 * u;
  float y = 0.5f * ((float)with->to->height - line * (float)rows);
  if (rows > 0)
    lay_paper(with, x, y, y + line * (float)(rows - 1) + with->size);
  for (unsigned m = 0; m < ROWS_MOST; ++m) {
    if (!is_used[m])
      continue;
    fill(with, x, y, with->size, with->size, colour_of_row(m));
    frame_around(with, x, y, with->size, with->size);
    write_at(with, x + 32 * u, y + with->size, with->size, bodies->material_table[m].name);
    y += line;
  }
}

/* ---- the whole legend ------------------------------------------------------------------------ */

static void draw_time(const pen *with, const frame *bodies) {
  char text[64];
  /* Enough digits to distinguish steps. */
  const double digits = bodies->dt > 0 ? ceil(-log10(bodies->dt) - 1e-9) : 3;
  snprintf(text, sizeof text, "t = %.*f s", (int)fmin(fmax(digits, 0), 6), bodies->time);
  write_on_paper(with, 28 * with->unit, (float)with->to->height - 28 * with->unit,
                 1.1f * with->size, text);
}

void render_legend_draw(const render_options *options, const render_folder *folder,
                        const render_view *view, const render_data *data, canvas *to) {
  const float unit = render_unit(to->width, to->height);
  const pen with = {to, unit, 21 * unit,
                    (options->has_camera || view->has_strays) && !options->is_flat};
  draw_time(&with, &data->bodies);
  if (!view->colours.has_values && (options->with_contacts || data->value))
    ; /* nothing has a colour that a bar could explain */
  else if (options->with_contacts || options->colour == BY_SPEED || options->colour == BY_SIZE ||
           options->colour == BY_FORCE || options->colour == BY_TEMPERATURE ||
           options->colour == BY_TIME)
    draw_bar(&with, options, view);
  else if (options->is_flat && (options->colour == BY_ANGLE || options->colour == BY_DIRECTION))
    draw_hues(&with, options);
  else if (options->colour == BY_ANGLE)
    draw_wheel(&with, view);
  else if (options->colour == BY_MATERIAL)
    draw_materials(&with, &data->bodies);
  if (folder->title && *folder->title) {
    const float room = (float)to->width - 56 * unit, size = 1.25f * with.size;
    const float length = text_width(folder->title, size);
    write_on_paper(&with, 28 * unit, 28 * unit + size, length > room ? size * room / length : size,
                   folder->title);
  }
}
