/* A plot as text. With colours and UTF-8, curves are drawn with Braille dots, two by four in a
 * character; otherwise each series has its own mark. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "plot.h"
#include "ticks.h"

enum { ROWS = 17, COLUMNS_MOST = 140, LABEL = 10 };

static const char marks[] = "*+ox#@%&";
static const int colours[] = {34, 33, 32, 31, 35, 36, 90, 94}; /* ANSI, in the SVG's order */

typedef struct grid {
  int columns; /* width in characters, without labels */
  bool is_fine, is_coloured;
  unsigned char dots[ROWS][COLUMNS_MOST];  /* Braille bits */
  unsigned char owner[ROWS][COLUMNS_MOST]; /* series + 1; 0: none */
} grid;

static bool has_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < 3; ++i) {
    const char *value = getenv(names[i]);
    if (value && *value) /* the first variable that is set decides */
      return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8") ||
             strstr(value, "utf-8");
  }
  return false;
}

static grid grid_of(FILE *to) {
  struct winsize size;
  const bool terminal = isatty(fileno(to));
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM"), *wide = getenv("COLUMNS");
  int width = wide ? atoi(wide) : 0;
  if (terminal && ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    width = size.ws_col;
  width = (width > 0 ? width : 80) - LABEL - 3;
  grid g = {.columns = width < 20 ? 20 : width > COLUMNS_MOST ? COLUMNS_MOST : width};
  g.is_coloured = terminal && !(no && *no) && term && strcmp(term, "dumb") != 0;
  g.is_fine = has_utf8();
  return g;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* Sets a dot at fine coordinates, two columns and four rows in each character, from the top. */
static void set_dot(grid *g, int x, int y, size_t series) {
  static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  if (x < 0 || y < 0 || x >= 2 * g->columns || y >= 4 * ROWS)
    return;
  g->dots[y / 4][x / 2] |= bits[y % 4][x % 2];
  g->owner[y / 4][x / 2] = (unsigned char)(series + 1);
}

static void draw_line(grid *g, int x0, int y0, int x1, int y1, size_t series) {
  const int n = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);
  for (int i = 0; i <= n; ++i) {
    const double t = n > 0 ? (double)i / n : 0;
    set_dot(g, x0 + (int)lround(t * (x1 - x0)), y0 + (int)lround(t * (y1 - y0)), series);
  }
}

static void draw_series(grid *g, const plot *drawn, size_t k, plot_range across, plot_range down) {
  int last_x = -1, last_y = 0;
  for (size_t i = 0; i < drawn->rows; ++i) {
    const double share = plot_y_share(drawn, down, drawn->series[k].y[i]);
    if (isnan(share) || !isfinite(drawn->x[i])) {
      last_x = -1;
      continue;
    }
    const double along = (drawn->x[i] - across.low) / (across.high - across.low);
    const int x = (int)lround(along * (2 * g->columns - 1));
    const int y = (int)lround((1 - share) * (4 * ROWS - 1));
    draw_line(g, last_x < 0 ? x : last_x, last_x < 0 ? y : last_y, x, y, k);
    last_x = x;
    last_y = y;
  }
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_cell(const grid *g, FILE *to, int row, int column) {
  const unsigned owner = g->owner[row][column];
  if (owner == 0) {
    fputc(' ', to);
    return;
  }
  if (g->is_coloured)
    fprintf(to, "\033[%dm", colours[owner - 1]);
  /* Without colours, dots do not distinguish series. */
  if (g->is_fine && g->is_coloured) {
    const unsigned code = 0x2800u + g->dots[row][column];
    fprintf(to, "%c%c%c", (int)(0xe0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3f)),
            (int)(0x80 | (code & 0x3f)));
  } else
    fputc(marks[owner - 1], to);
  if (g->is_coloured)
    fputs("\033[0m", to);
}

/* Label of a row of characters: that of a tick in it, or "". */
static const char *row_label(const plot *drawn, plot_range range, int row, char *text,
                             size_t size) {
  const double span = range.high - range.low;
  const double high = range.high - span * (row - 0.5) / (ROWS - 1);
  const double low = range.high - span * (row + 0.5) / (ROWS - 1);
  ticks at = ticks_of(range.low, range.high, 5);
  if (drawn->is_log)
    at = (ticks){ceil(range.low), span > 6 ? 2 : 1, (int)(span / (span > 6 ? 2 : 1)) + 1, 0};
  for (int i = 0; i < at.count; ++i) {
    const double value = ticks_at(&at, i);
    if (!(value > low) || !(value <= high))
      continue;
    if (drawn->is_log)
      snprintf(text, size, "1e%+.0f", value);
    else
      ticks_text(&at, i, text, size);
    return text;
  }
  return "";
}

static void put_x_axis(const grid *g, const plot *drawn, plot_range range, FILE *to) {
  char line[COLUMNS_MOST + 1], text[48];
  const ticks at = ticks_of(range.low, range.high, 5);
  fprintf(to, "%*s %s", LABEL, "", g->is_fine ? "└" : "+");
  for (int i = 0; i < g->columns; ++i)
    fputs(g->is_fine ? "─" : "-", to);
  fputc('\n', to);
  memset(line, ' ', (size_t)g->columns);
  line[g->columns] = '\0';
  for (int i = 0; i < at.count; ++i) {
    const int length = (int)strlen(ticks_text(&at, i, text, sizeof text));
    const double share = (ticks_at(&at, i) - range.low) / (range.high - range.low);
    int start = (int)lround(share * (g->columns - 1)) - length / 2;
    start = start < 0 ? 0 : start + length > g->columns ? g->columns - length : start;
    if (start >= 0)
      memcpy(line + start, text, (size_t)length);
  }
  fprintf(to, "%*s  %s\n", LABEL, "", line);
  fprintf(to, "%*s  %*s\n", LABEL, "", (g->columns + (int)strlen(drawn->x_label)) / 2,
          drawn->x_label);
}

static void put_legend(const grid *g, const plot *drawn, FILE *to) {
  fprintf(to, "%*s", LABEL - 1, "");
  for (size_t k = 0; k < drawn->count; ++k) {
    fputs("   ", to);
    if (g->is_coloured)
      fprintf(to, "\033[%dm", colours[k]);
    if (g->is_fine && g->is_coloured)
      fputs("━━", to);
    else
      fputc(marks[k], to);
    fprintf(to, "%s %s", g->is_coloured ? "\033[0m" : "", drawn->series[k].name);
  }
  fputc('\n', to);
}

void plot_terminal(const plot *drawn, FILE *to) {
  const plot_range across = plot_x_range(drawn), down = plot_y_range(drawn);
  grid g = grid_of(to);
  for (size_t k = drawn->count; k-- > 0;) /* draws the first one on top */
    draw_series(&g, drawn, k, across, down);
  fprintf(to, "%*s  %s: %s\n", LABEL, "", drawn->title, drawn->y_label);
  put_legend(&g, drawn, to);
  for (int row = 0; row < ROWS; ++row) {
    char text[48];
    fprintf(to, "%*s %s", LABEL, row_label(drawn, down, row, text, sizeof text),
            g.is_fine ? "│" : "|");
    int end = g.columns;
    while (end > 0 && g.owner[row][end - 1] == 0)
      end--;
    for (int column = 0; column < end; ++column)
      put_cell(&g, to, row, column);
    fputc('\n', to);
  }
  put_x_axis(&g, drawn, across, to);
}
