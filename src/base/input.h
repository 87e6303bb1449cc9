/* Text files that a scene refers to: meshes, tables of motions, tables of bodies.
 *
 * One reader for all of them: it tracks line and column, returns words or cells, and collects
 * mistakes, so that all mistakes of a file are reported at once, each with its line and a caret. A
 * parser calls tl_input_wrong() and goes on with the next line; tl_input_close() makes one message:
 *
 *   way.csv:3:1: time 0 s is not after 0 s, that of the row before; the times must rise
 *     0,1
 *     ^
 *   way.csv:7:3: `zero` in column `angle` is not a number
 *     1,zero
 *       ^
 */
#ifndef TL_BASE_INPUT_H
#define TL_BASE_INPUT_H

#include <stdio.h>

#include "base/memory.h"

#define TL_INPUT_SHOWN  10   /* mistakes that are told, further ones are counted */
#define TL_INPUT_REPORT 6144 /* bytes, which fit into a message with what is put in front */

typedef struct tl_input {
  const char *path;       /* for messages */
  const char *begin;      /* of the file */
  const char *at, *end;   /* what is read next, and the end of all */
  const char *line;       /* where the line under way begins */
  size_t number;          /* of that line, from 1 */
  size_t mistakes, shown; /* so far, and those in the report */
  size_t used;            /* bytes of the report */
  void *own, *before;     /* locales */
  char report[TL_INPUT_REPORT];
} tl_input;

/* A piece of a line; never zero-terminated. */
typedef struct tl_span {
  const char *text;
  size_t length;
} tl_span;

typedef TL_ARRAY(char) tl_bytes;

#define TL_INPUT_MOST ((size_t)1 << 30) /* bytes of a mesh or table */

/* Opens a plain file for reading. NULL, with the reason in why ("PATH: is a FIFO; expected a plain
 * file"), for anything else: a FIFO could block, and a device may have no end. */
FILE *tl_input_file(const char *path, char *why, size_t size);

/* Reads the whole of a plain file, which the caller frees in every case; TALUS_ERROR_IO if that is
 * impossible, TALUS_ERROR_FORMAT if it is larger than TL_INPUT_MOST. */
talus_status tl_input_load(const char *path, tl_bytes *bytes);

/* Between the two calls numbers have "." whatever the program's locale, on this thread. A byte
 * order mark is passed over. `in` is large: one per parser, on its stack. */
talus_status tl_input_open(tl_input *in, const char *path, const char *bytes, size_t n);
/* Returns `status` if it is another failure (memory); otherwise TALUS_ERROR_FORMAT with the
 * mistakes as the message, or TALUS_OK. */
talus_status tl_input_close(tl_input *in, talus_status status);

/* Records a mistake in the current line; the parser goes on. `place` is where the caret goes,
 * within that line; NULL: the line is named but not shown (for example at the end of the file). */
void tl_input_wrong(tl_input *in, const char *place, const char *fmt, ...) TL_PRINTF(3, 4);

/* To the beginning of the next line; false at the end of the file. */
bool tl_input_next_line(tl_input *in);
/* To the next line from this one on that holds anything but blanks and, where the file has them,
 * comments (#); false at the end of the file. */
bool tl_input_find_line(tl_input *in, bool comments);
const char *tl_input_line_end(const tl_input *in); /* without blanks before it */

/* The next word of the line; empty at its end. Commas separate as blanks do. A zero byte is a word
 * by itself, which no parser accepts. */
tl_span tl_input_word(tl_input *in);

/* The next cell, between commas, without blanks around it. *last: no comma follows; the line's end
 * is not passed. */
tl_span tl_input_cell(tl_input *in, bool *last);

/* ---- words ----------------------------------------------------------------------------------- */

/* How much of a word stands in a message: printf("%.*s", TL_SHOW(word)). */
#define TL_SHOW(span) (int)((span).length < 40 ? (span).length : 40), (span).text

bool tl_span_is(tl_span word, const char *text); /* capitals aside */

typedef enum tl_number_kind {
  TL_NUMBER,
  TL_NO_NUMBER,
  TL_NOT_FINITE /* nan, inf, and what is beyond the largest double */
} tl_number_kind;

/* A decimal number and nothing after it, correctly rounded. */
tl_number_kind tl_span_number(tl_span word, double *value);

#endif
