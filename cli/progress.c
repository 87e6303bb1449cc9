#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_EVERY 10.0 /* s between plain lines */
#define LINE_LEAST 1.0  /* s, even where another tenth is done */
#define WIDTH_MOST 400

static int terminal_width(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  const char *columns = getenv("COLUMNS");
  const int width = columns ? atoi(columns) : 0;
  return width > 0 ? width : 80;
}

progress_bar progress_begin(bool quiet) {
  const char *term = getenv("TERM");
  const bool terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
  return (progress_bar){.style = quiet ? PROGRESS_NONE : terminal ? PROGRESS_BAR : PROGRESS_LINES};
}

/* Seconds to go, or a negative number where nobody can know yet. */
static double remaining(const talus_progress *now) {
  if (!(now->step_rate > 0) || now->steps == 0 || !(now->time > 0))
    return -1;
  const double dt = now->time / (double)now->steps;
  return (now->until - now->time) / dt / now->step_rate;
}

static int describe(const talus_progress *now, double done, char *text, size_t size) {
  char left[CLI_DURATION_BYTES] = "?";
  if (remaining(now) >= 0)
    cli_duration(remaining(now), left);
  return snprintf(
      text, size, "%3.0f%%  t %.4g/%.4g s  %.3g steps/s  %zu bodies  %zu contacts  %s left",
      100 * done, now->time, now->until, now->step_rate, now->bodies, now->contacts, left);
}

static void draw(progress_bar *bar, const char *text, double done) {
  char marks[WIDTH_MOST + 1];
  int width = terminal_width() - 1; /* a full line would wrap on some terminals */
  width = width > WIDTH_MOST ? WIDTH_MOST : width;
  const int length = (int)strlen(text);
  int room = width - length - 3; /* "[", "]", blank */
  room = room > 40 ? 40 : room;
  if (room < 5) {
    fprintf(stderr, "\r%.*s\033[K", width > 0 ? width : 0, text);
  } else {
    const int full = (int)(done * room + 0.5);
    memset(marks, '-', (size_t)room);
    memset(marks, '#', (size_t)full);
    marks[room] = '\0';
    fprintf(stderr, "\r[%s] %s\033[K", marks, text);
  }
  fflush(stderr);
  bar->is_shown = true;
}

void progress_show(progress_bar *bar, const talus_progress *now) {
  double done = now->until > 0 ? now->time / now->until : 1;
  done = done < 0 ? 0 : done > 1 ? 1 : done;
  char text[256];
  if (bar->style == PROGRESS_NONE)
    return;
  describe(now, done, text, sizeof text);
  if (bar->style == PROGRESS_BAR) {
    draw(bar, text, done);
    return;
  }
  const int tenth = (int)(10 * done);
  const double passed = now->wall - bar->last;
  if (passed >= LINE_EVERY || (tenth > bar->last_tenth && passed >= LINE_LEAST)) {
    fprintf(stderr, "%s\n", text);
    bar->last = now->wall;
    bar->last_tenth = tenth;
  }
}

void progress_clear(progress_bar *bar) {
  if (bar->is_shown) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
  bar->is_shown = false;
}
