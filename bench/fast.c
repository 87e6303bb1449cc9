/* talus bench fast: fast bodies. Times of impact by conservative advancement (`toi`), cost of
 * sweeps in fixed steps (`sweep`), adaptive against fixed steps (`steps`). */
#include "bench.h"
#include "fast.h"
#include "tools.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <talus/talus.h>

int bench_fast(int argc, char **argv) {
  static const char *const tables[] = {"toi", "sweep", "steps"};
  static int (*const runs[])(const fast_bench *) = {fast_toi, fast_sweep, fast_steps};
  int repeat = 3;
  bool is_quick = false, no_peers = false;
  const char *output = NULL, *table = NULL;
  const cli_option list[] = {
      {"table", 0, CLI_TEXT, "NAME", "toi, sweep or steps (default: all)", &table},
      {"repeat", 0, CLI_COUNT, "N", "the best of so many (default 3)", &repeat},
      {"quick", 0, CLI_FLAG, NULL, "small scenes, to see that it runs", &is_quick},
      {"no-peers", 0, CLI_FLAG, NULL, "without FCL", &no_peers},
      {"output", 'o', CLI_TEXT, "FOLDER", "the tables as FOLDER/fast.csv", &output},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench fast [options]",
      .about =
          "Fast bodies: times of impact by conservative advancement, by pairs of kinds, beside\n"
          "FCL's of meshes; what sweeps cost in fixed steps; adaptive against fixed steps.",
      .options = list,
      .more = "CPU time of one thread.\n",
      .most = 0};
  const int parsed = bench_parse(&usage, "bench fast", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if (!bench_has_table("fast", table, tables, 3))
    return CLI_INPUT;
  fast_bench bench = {
      .repeat = repeat > 0 ? repeat : 1, .is_quick = is_quick, .has_peers = !no_peers};
  bench_peer_folder(bench.folder, sizeof bench.folder);
  if (!bench_csv_open(output, "fast", "table,what,method,value,count,error,more", &bench.csv))
    return CLI_FAILED;
  printf("talus %s (%s), one thread\n", talus_version(), talus_features());
  int code = CLI_DONE;
  for (int i = 0; i < 3 && code == CLI_DONE; ++i)
    if (!table || strcmp(table, tables[i]) == 0)
      code = runs[i](&bench);
  return bench_csv_close(bench.csv) ? code : CLI_FAILED;
}
