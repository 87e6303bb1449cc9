#include "render_text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "render_font.h"

#define CAPITAL 21.0f         /* units of a capital's height */
#define STROKE  2.3f          /* units of a stroke's width */
#define HALO    5.0f          /* units that the halo is wider than the stroke */
#define DEGREE  0.0174532925f /* rad */

/* ---- pixels ---------------------------------------------------------------------------------- */

void canvas_blend(canvas *to, int x, int y, const unsigned char ink[3], float alpha) {
  if (x < 0 || y < 0 || x >= to->width || y >= to->height || !(alpha > 0))
    return;
  unsigned char *pixel = to->rgb + 3 * ((size_t)y * (size_t)to->width + (size_t)x);
  alpha = alpha < 1 ? alpha : 1;
  for (int k = 0; k < 3; ++k)
    pixel[k] = (unsigned char)((float)pixel[k] + alpha * ((float)ink[k] - (float)pixel[k]) + 0.5f);
}

/* A layer of coverage: strokes are combined in it before blending, so that overlaps do not become
 * darker. */
typedef struct layer {
  int x, y, width, height;
  float *cover;
  float half; /* half width of a stroke, pixels */
} layer;

static bool begin_layer(layer *on, const canvas *to, const float lo[2], const float hi[2],
                        float stroke) {
  *on = (layer){.half = 0.5f * (stroke > 1.0f ? stroke : 1.0f)};
  const float grow = on->half + 2;
  const float x0 = fmaxf(floorf(lo[0] - grow), 0), y0 = fmaxf(floorf(lo[1] - grow), 0);
  const float x1 = fminf(ceilf(hi[0] + grow), (float)to->width);
  const float y1 = fminf(ceilf(hi[1] + grow), (float)to->height);
  if (!(x1 > x0) || !(y1 > y0))
    return false;
  on->x = (int)x0;
  on->y = (int)y0;
  on->width = (int)(x1 - x0);
  on->height = (int)(y1 - y0);
  on->cover = calloc((size_t)on->width * (size_t)on->height, sizeof *on->cover);
  return on->cover != NULL;
}

static void end_layer(layer *on, canvas *to, const unsigned char ink[3], float alpha) {
  for (int j = 0; j < on->height; ++j)
    for (int i = 0; i < on->width; ++i)
      canvas_blend(to, on->x + i, on->y + j, ink,
                   alpha * on->cover[(size_t)j * (size_t)on->width + (size_t)i]);
  free(on->cover);
}

static int clamp_to(float x, int most) { return x < 0 ? 0 : x > (float)most ? most : (int)x; }

/* Adds the coverage of a segment with round ends, with a ramp one pixel wide at its border. */
static void add_segment(layer *on, const float a[2], const float b[2]) {
  const float grow = on->half + 1;
  const int i0 = clamp_to(floorf(fminf(a[0], b[0]) - grow) - (float)on->x, on->width);
  const int i1 = clamp_to(ceilf(fmaxf(a[0], b[0]) + grow) - (float)on->x, on->width);
  const int j0 = clamp_to(floorf(fminf(a[1], b[1]) - grow) - (float)on->y, on->height);
  const int j1 = clamp_to(ceilf(fmaxf(a[1], b[1]) + grow) - (float)on->y, on->height);
  const float dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
  for (int j = j0; j < j1; ++j)
    for (int i = i0; i < i1; ++i) {
      const float px = (float)(on->x + i) + 0.5f - a[0], py = (float)(on->y + j) + 0.5f - a[1];
      float s = square > 0 ? (px * dx + py * dy) / square : 0;
      s = s < 0 ? 0 : s > 1 ? 1 : s;
      const float ex = px - s * dx, ey = py - s * dy;
      const float cover = on->half + 0.5f - sqrtf(ex * ex + ey * ey);
      float *at = &on->cover[(size_t)j * (size_t)on->width + (size_t)i];
      if (cover > *at)
        *at = cover < 1 ? cover : 1;
    }
}

void text_line(canvas *to, const float from[2], const float end[2], float width,
               const unsigned char ink[3]) {
  const float lo[2] = {fminf(from[0], end[0]), fminf(from[1], end[1])};
  const float hi[2] = {fmaxf(from[0], end[0]), fmaxf(from[1], end[1])};
  layer on;
  if (!begin_layer(&on, to, lo, hi, width))
    return;
  add_segment(&on, from, end);
  end_layer(&on, to, ink, 1);
}

/* ---- glyphs ---------------------------------------------------------------------------------- */

/* Position of a glyph: from units to pixels. */
typedef struct place {
  layer *on;
  float x, y, scale;
  bool has_last;
  float last[2];
} place;

static void line_to(place *at, float x, float y) {
  const float next[2] = {at->x + x * at->scale, at->y - y * at->scale};
  if (at->has_last)
    add_segment(at->on, at->last, next);
  at->last[0] = next[0];
  at->last[1] = next[1];
  at->has_last = true;
}

static void arc_to(place *at, const float v[6]) {
  const int n = 2 + (int)(fabsf(v[5] - v[4]) / 12);
  for (int i = 0; i <= n; ++i) {
    const float angle = DEGREE * (v[4] + (v[5] - v[4]) * (float)i / (float)n);
    line_to(at, v[0] + v[2] * cosf(angle), v[1] + v[3] * sinf(angle));
  }
}

/* Reads n numbers of a glyph from our own table, which has them. */
static const char *numbers(const char *text, float *to, int n) {
  for (int i = 0; i < n; ++i) {
    char *end;
    to[i] = strtof(text, &end);
    text = end;
  }
  return text;
}

static void draw_strokes(place at, const char *strokes) {
  for (const char *s = strokes; *s;) {
    float v[6];
    if (*s == ' ') {
      s++;
    } else if (*s == '|') {
      at.has_last = false;
      s++;
    } else if (*s == '@') {
      s = numbers(s + 1, v, 6);
      arc_to(&at, v);
    } else {
      s = numbers(s, v, 2);
      line_to(&at, v[0], v[1]);
    }
  }
}

static const font_glyph *find_glyph(unsigned code) {
  for (size_t i = 0; i < sizeof font_glyphs / sizeof *font_glyphs; ++i)
    if (font_glyphs[i].code == code)
      return &font_glyphs[i];
  return NULL;
}

/* The parts of a character: a glyph and perhaps a mark. */
typedef struct letter {
  const font_glyph *glyph;
  const char *mark; /* strokes or NULL */
  bool is_capital;
} letter;

static letter find_letter(unsigned code) {
  static const font_glyph unknown = {0, 15, "2 0 2 18 12 18 12 0 2 0"};
  letter found = {find_glyph(code), NULL, false};
  if (found.glyph)
    return found;
  found.glyph = &unknown;
  if (code < 0xc0 || code > 0xff || font_marked[2 * (code - 0xc0)] == ' ')
    return found;
  const char *pair = font_marked + 2 * (code - 0xc0);
  found.glyph = find_glyph((unsigned)pair[0]);
  found.is_capital = pair[0] >= 'A' && pair[0] <= 'Z';
  for (size_t i = 0; i < sizeof font_marks / sizeof *font_marks; ++i)
    if (font_marks[i].kind == pair[1])
      found.mark = font_marks[i].strokes;
  return found;
}

/* The next character of UTF-8; an invalid one counts as one unknown byte. */
static const char *next_code(const char *text, unsigned *code) {
  const unsigned char *s = (const unsigned char *)text;
  const int more = s[0] < 0x80 ? 0 : s[0] < 0xc0 ? 9 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
  *code = more == 0 ? s[0] : more == 9 ? 0xfffd : s[0] & (0x3fu >> more);
  if (more == 9)
    return text + 1;
  for (int i = 1; i <= more; ++i) {
    if ((s[i] & 0xc0) != 0x80) {
      *code = 0xfffd;
      return text + 1;
    }
    *code = *code << 6 | (s[i] & 0x3f);
  }
  return text + 1 + more;
}

float text_width(const char *text, float size) {
  float width = 0;
  for (unsigned code; *text;) {
    text = next_code(text, &code);
    width += find_letter(code).glyph->advance;
  }
  return width * size / CAPITAL;
}

static void draw_letters(layer *on, float x, float y, float scale, const char *text) {
  for (unsigned code; *text;) {
    text = next_code(text, &code);
    const letter found = find_letter(code);
    const place at = {.on = on, .x = x, .y = y, .scale = scale};
    draw_strokes(at, found.glyph->strokes);
    if (found.mark) {
      place above = at;
      above.x += 0.5f * (found.glyph->advance - 1) * scale;
      /* A cedilla hangs below, at the same height for all letters. */
      above.y -= found.is_capital && found.mark[0] != '0' ? 7 * scale : 0;
      draw_strokes(above, found.mark);
    }
    x += found.glyph->advance * scale;
  }
}

void text_draw(canvas *to, float x, float y, const text_style *style, const char *text) {
  const float scale = style->size / CAPITAL;
  const float lo[2] = {x, y - 29 * scale},
              hi[2] = {x + text_width(text, style->size), y + 7 * scale};
  layer on;
  if (begin_layer(&on, to, lo, hi, (STROKE + HALO) * scale)) {
    draw_letters(&on, x, y, scale, text);
    end_layer(&on, to, style->paper, 0.55f);
  }
  if (begin_layer(&on, to, lo, hi, STROKE * scale)) {
    draw_letters(&on, x, y, scale, text);
    end_layer(&on, to, style->ink, 1);
  }
}
