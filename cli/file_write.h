/* Files that a command writes: whole or as they were, devices and FIFOs written through. */
#ifndef CLI_FILE_WRITE_H
#define CLI_FILE_WRITE_H

#include <stdbool.h>
#include <stdio.h>

/* Prints to the stream; false: it could not, and errno says why. */
typedef bool cli_print_fn(FILE *to, const void *what);

/* Returns the exit code; a failure has been told. */
int cli_write_file(const char *path, cli_print_fn *print, const void *what);

#endif
