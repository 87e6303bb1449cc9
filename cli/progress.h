/* Shows the progress of a run on stderr: a bar on a terminal, otherwise plain lines; nothing with
 * --quiet. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli.h"

typedef enum progress_style { PROGRESS_NONE, PROGRESS_LINES, PROGRESS_BAR } progress_style;

typedef struct progress_bar {
  progress_style style;
  bool is_shown;  /* a bar is on the screen */
  double last;    /* wall time of the last plain line */
  int last_tenth; /* tenth of the run at that time */
} progress_bar;

progress_bar progress_begin(bool quiet);
void progress_show(progress_bar *bar, const talus_progress *now);
/* Removes the bar, so that other text can be printed. */
void progress_clear(progress_bar *bar);

#endif
