/* Benchmarks: each is a file of bench/, one for each published table, linked into the command. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

/* argv[0] is the benchmark's name, the rest its options. Returns an exit code.
 *
 * Weak symbols: a command built without bench/ links, and says so if asked for one. */
#if defined(__GNUC__)
#define BENCH_ENTRY __attribute__((weak))
#else
#define BENCH_ENTRY
#endif

BENCH_ENTRY int bench_blocks(int argc, char **argv);
BENCH_ENTRY int bench_broad(int argc, char **argv);
BENCH_ENTRY int bench_ccp(int argc, char **argv);
BENCH_ENTRY int bench_ellipsoids(int argc, char **argv);
BENCH_ENTRY int bench_gpu_detect(int argc, char **argv);
BENCH_ENTRY int bench_gpu_step(int argc, char **argv);
BENCH_ENTRY int bench_events(int argc, char **argv);
BENCH_ENTRY int bench_fast(int argc, char **argv);
BENCH_ENTRY int bench_implicit(int argc, char **argv);
BENCH_ENTRY int bench_local(int argc, char **argv);
BENCH_ENTRY int bench_machines(int argc, char **argv);
BENCH_ENTRY int bench_nozzle(int argc, char **argv);
BENCH_ENTRY int bench_penalty(int argc, char **argv);
BENCH_ENTRY int bench_pour(int argc, char **argv);
BENCH_ENTRY int bench_triangles(int argc, char **argv);
BENCH_ENTRY int bench_validation(int argc, char **argv);

#endif
