/* Reads history.csv of a result folder; columns are found by name, so additional ones do no
 * harm. */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "cli.h"

#define HISTORY_HASH_BYTES 17

typedef struct history {
  char **names;
  size_t columns, rows;
  double *values;                /* rows x columns; NAN where a text is not a number */
  char hash[HISTORY_HASH_BYTES]; /* state_hash of the last row */
} history;

/* Reads the whole lines of the file. False after a message in `why`. */
bool history_read(const char *path, history *history, char *why, size_t size);
/* The same of probes/NAME.csv. */
bool history_read_probe(const char *path, history *history, char *why, size_t size);
/* The same of steps.csv. */
bool history_read_steps(const char *path, history *history, char *why, size_t size);
void history_free(history *history);

/* Statistics of a column over time; all NAN without such a column or without rows. */
typedef struct history_span {
  double first, last, low, high;
} history_span;

history_span history_of(const history *history, const char *name);
/* The same of the sum of two columns. */
history_span history_of_sum(const history *history, const char *a, const char *b);

#endif
