/* How far a run is, on stderr: a bar on a terminal, plain lines otherwise, nothing when quiet. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli.h"

typedef enum progress_style { PROGRESS_NONE, PROGRESS_LINES, PROGRESS_BAR } progress_style;

typedef struct progress_bar {
  progress_style style;
  bool is_shown;  /* a bar is on the screen */
  double last;    /* wall time of the last plain line */
  int last_tenth; /* of the way, then */
} progress_bar;

progress_bar progress_begin(bool quiet);
void progress_show(progress_bar *bar, const talus_progress *now);
/* Takes the bar away, so that other text can be printed. */
void progress_clear(progress_bar *bar);

#endif
