/* Writes files of a command: a file is replaced as a whole or not at all; devices and FIFOs are
 * written directly. */
#ifndef CLI_FILE_WRITE_H
#define CLI_FILE_WRITE_H

#include <stdbool.h>
#include <stdio.h>

/* Prints to the stream; false if that failed, with errno set. */
typedef bool cli_print_fn(FILE *to, const void *what);

/* Returns the exit code; errors have been reported. */
int cli_write_file(const char *path, cli_print_fn *print, const void *what);

#endif
