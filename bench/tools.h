/* What benchmarks share: their options, a clock, random numbers, and tables as files. */
#ifndef BENCH_TOOLS_H
#define BENCH_TOOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli.h"

/* cli_parse for a benchmark, whose argv[0] is its own name: messages call it `name`, such as
 * "bench ccp". */
int bench_parse(const cli_usage *usage, const char *name, int argc, char **argv);

/* s, of a clock that only goes forward. */
double bench_now(void);
/* s: of processors, by all threads of this process. */
double bench_cpu(void);

/* A number in [0, 1), and the state after it: the same on every machine. */
double bench_random(uint64_t *state);

/* Up to `most` numbers above 0 with commas between them: how many; 0: it is no such list. */
int bench_list(const char *text, double *out, int most);

/* Tables and drawings go through the one writer of files (output/file.h): whole, or as they were. A
 * failure has been told; NULL, or false. As many as MOST_FILES (tools.c) may be open at a time. */
FILE *bench_open(const char *path);

/* Whether a benchmark has the table (NULL: all); otherwise says so, with the name that may be
 * meant. */
bool bench_has_table(const char *bench, const char *table, const char *const *names, size_t n);
bool bench_close(FILE *file);

/* The folder of this program, in which its peers lie; TALUS_PEERS names another. */
void bench_peer_folder(char *folder, size_t bytes);

/* FOLDER/NAME.csv with its heading; *file is NULL, and all is well, where there is no folder. */
bool bench_csv_open(const char *folder, const char *name, const char *header, FILE **file);
bool bench_csv_close(FILE *file);

#endif
