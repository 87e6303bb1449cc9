/* talus bench ellipsoids: the measurements of Pazouki, Mazhar and Negrut (2012) again: method 1
 * (OpM), method 2 (ChM, then OpM) and ours over the number of bodies; single calls; the error of
 * contact points; clumps of spheres; counts of equal radii; libccd, FCL and Bullet where they are.
 */
#include "ellipsoids.h"
#include "tools.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#include <talus/talus.h>

double ell_uniform(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (double)(*state >> 11) * 0x1p-53;
}

double ell_cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int usage(void) {
  fputs("usage: talus bench ellipsoids [--max N] [--threads N,N] [--repeat N] [--csv FILE] [--svg "
        "FILE] [--peers no] [--only SECTION]\n"
        "  Single pairs (nanoseconds, CPU time of one thread), Pazouki's methods and ours for 128 "
        "... N bodies\n"
        "  (milliseconds of wall clock), and the errors of Pazouki's contact points.\n"
        "  Sections: pairs errors scenes clumps (of spheres, of the same shape) spheres (counts "
        "beside Bullet's)\n"
        "  Defaults: --max 262144 (the paper goes to 2097152) --threads 1,2 --repeat 3\n",
        stderr);
  return 2;
}

static int parse(int argc, char **argv, ell_options *options) {
  *options = (ell_options){262144, {1, 2}, 2, 3, true, NULL, NULL, NULL};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 >= argc)
      return usage();
    const char *value = argv[i + 1];
    char *end;
    const long number = strtol(value, &end, 10);
    if (strcmp(argv[i], "--csv") == 0) {
      options->csv = value;
    } else if (strcmp(argv[i], "--svg") == 0) {
      options->svg = value;
    } else if (strcmp(argv[i], "--only") == 0) {
      options->only = value;
    } else if (strcmp(argv[i], "--peers") == 0) {
      options->peers = strcmp(value, "no") != 0;
    } else if (number < 1) {
      return usage();
    } else if (strcmp(argv[i], "--max") == 0) {
      options->max = (size_t)number;
    } else if (strcmp(argv[i], "--repeat") == 0) {
      options->repeat = (int)number;
    } else if (strcmp(argv[i], "--threads") == 0) {
      options->threads[0] = (int)number;
      options->thread_counts = 1;
      while (*end == ',' && options->thread_counts < 4)
        options->threads[options->thread_counts++] = (int)strtol(end + 1, &end, 10);
    } else {
      return usage();
    }
  }
  return 0;
}

static const struct {
  const char *name;
  int (*run)(ell_bench *bench);
} sections[] = {{"pairs", ell_bench_pairs},
                {"errors", ell_bench_errors},
                {"scenes", ell_bench_scenes},
                {"clumps", ell_bench_clumps},
                {"spheres", ell_bench_spheres}};
enum { SECTIONS = sizeof sections / sizeof *sections };

static bool has_section(const char *name) {
  for (int i = 0; name && i < SECTIONS; ++i)
    if (strcmp(name, sections[i].name) == 0)
      return true;
  return !name;
}

int bench_ellipsoids(int argc, char **argv) {
  static ell_bench bench; /* too large for a stack */
  bench = (ell_bench){0};
  if (parse(argc, argv, &bench.options) != 0)
    return 2;
  if (!has_section(bench.options.only))
    return usage();
  bench_peer_folder(bench.folder, sizeof bench.folder);
  bench.csv = bench.options.csv ? bench_open(bench.options.csv) : NULL;
  if (bench.options.csv && !bench.csv)
    return 1;
  if (bench.csv)
    fputs("section,what,bodies,threads,aspect,contacts,broad_ms,narrow_ms,ns,error\n", bench.csv);
  printf("talus %s (%s)\n", talus_version(), talus_features());
  int code = 0;
  for (int i = 0; i < SECTIONS && code == 0; ++i)
    if (!bench.options.only || strcmp(bench.options.only, sections[i].name) == 0)
      code = sections[i].run(&bench);
  if (bench.csv && !bench_close(bench.csv))
    code = 1;
  if (code == 0 && bench.options.svg && !ell_plot(&bench, bench.options.svg)) {
    fprintf(stderr, "talus bench ellipsoids: cannot write %s\n", bench.options.svg);
    code = 1;
  }
  return code;
}
