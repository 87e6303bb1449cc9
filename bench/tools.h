/* Shared by all benchmarks: options, a clock, random numbers, and tables as files. */
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
/* s: CPU time of all threads of this process */
double bench_cpu(void);

/* A number in [0, 1), and the state after it: the same on every machine. */
double bench_random(uint64_t *state);

/* Reads up to `most` numbers above 0, separated by commas; returns their number, 0 if the text is
 * no such list. */
int bench_list(const char *text, double *out, int most);

/* Opens a table or drawing; it is written like all files (output/file.h): as a whole or not at all.
 * Errors have been reported; NULL, or false. At most MOST_FILES (tools.c) may be open at a time. */
FILE *bench_open(const char *path);

/* True if a benchmark has the table (NULL: all); otherwise prints an error that suggests a similar
 * name. */
bool bench_has_table(const char *bench, const char *table, const char *const *names, size_t n);
bool bench_close(FILE *file);

/* The folder of this program, which contains its peers; TALUS_PEERS replaces it. */
void bench_peer_folder(char *folder, size_t bytes);

/* Opens FOLDER/NAME.csv and writes its heading; without a folder *file is NULL, which is no
 * error. */
bool bench_csv_open(const char *folder, const char *name, const char *header, FILE **file);
bool bench_csv_close(FILE *file);

#endif
