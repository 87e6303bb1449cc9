#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_EVERY 10.0 /* s between plain lines */
#define LINE_LEAST 1.0  /* s, even after another tenth of the run */
#define BAR_MOST   40   /* characters */
#define BAR_LEAST  4    /* a shorter bar shows nothing */
#define WIDE       100  /* characters of a terminal with room for everything */

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

/* Seconds to go; negative if not known yet. */
static double remaining(const talus_progress *now) {
  if (!(now->step_rate > 0) || now->steps == 0 || !(now->time > 0))
    return -1;
  const double dt = now->time / (double)now->steps;
  return (now->until - now->time) / dt / now->step_rate;
}

/* "840", "1.23k", "45.6M". */
static const char *short_number(double value, char text[16]) {
  static const char units[] = " kMGT";
  int unit = 0;
  for (; value >= 999.5 && unit < 4; ++unit)
    value /= 1000;
  if (unit == 0)
    snprintf(text, 16, "%.0f", value);
  else
    snprintf(text, 16, "%.3g%c", value, units[unit]);
  return text;
}

/* "1:23", "2:05:10". */
static const char *short_duration(double seconds, char text[32]) {
  const unsigned long long s = seconds < 1e12 ? (unsigned long long)(seconds + 0.5) : 0;
  if (!(seconds >= 0 && seconds < 1e12))
    snprintf(text, 32, "?");
  else if (s < 3600)
    snprintf(text, 32, "%llu:%02llu", s / 60, s % 60);
  else
    snprintf(text, 32, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
  return text;
}

/* Shows the largest overlap since the last line of history.csv, as a part of a radius, if the line
 * is wide enough for that and a bar. */
static void describe(const talus_progress *now, double done, bool is_wide, char *text,
                     size_t size) {
  char rate[16], bodies[16], contacts[16], left[32], overlap[32] = "";
  if (is_wide)
    snprintf(overlap, sizeof overlap, " overlap %.2g%%", 100 * now->overlap_share);
  snprintf(text, size, "%3.0f%% t %.3g/%.3g s %s steps/s %s bodies %s contacts%s ETA %s",
           100 * done, now->time, now->until, short_number(now->step_rate, rate),
           short_number((double)now->bodies, bodies), short_number((double)now->contacts, contacts),
           overlap, short_duration(remaining(now), left));
}

static void draw(progress_bar *bar, const char *text, double done) {
  char marks[BAR_MOST + 1];
  const int width = terminal_width() - 1;   /* a full line would wrap on some terminals */
  int room = width - (int)strlen(text) - 3; /* "[", "]", blank */
  room = room > BAR_MOST ? BAR_MOST : room;
  if (room < BAR_LEAST) {
    fprintf(stderr, "\r%.*s\033[K", width > 0 ? width : 0, text);
  } else {
    memset(marks, '-', (size_t)room);
    memset(marks, '#', (size_t)(done * room + 0.5));
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
  describe(now, done, bar->style == PROGRESS_LINES || terminal_width() >= WIDE, text, sizeof text);
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
