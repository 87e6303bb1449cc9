/* A result folder of which one file holds any bytes: `talus info` shows it or says why not, and a
 * run goes on there or is refused. The first byte says which file. */
#include "fuzz_cli.h"

static const char *const names[] = {"history.csv",       "scene.yaml",       "log.txt",
                                    "frames.hdf.series", "probes/floor.csv", "checkpoint.hdf",
                                    "joints.csv"};
#define NAMES (sizeof names / sizeof *names)

static void call_info(const char *option, const char *value) {
  static char program[] = "info", folder[] = "tiny.out";
  char first[32], second[32], *argv[] = {program, folder, first, second, NULL};
  snprintf(first, sizeof first, "%s", option ? option : "");
  snprintf(second, sizeof second, "%s", value ? value : "");
  const int argc = 2 + (option != NULL) + (value != NULL);
  argv[argc] = NULL;
  promise_code(cli_info(argc, argv));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  /* Anew each time: what a run was told to do there stays in it. */
  PROMISE(run_tiny("tiny.out", false, -1) == TALUS_OK, "%s", talus_last_error());
  char path[64];
  snprintf(path, sizeof path, "tiny.out/%s", names[data[0] % NAMES]);
  write_text(path, data + 1, size - 1);
  call_info(NULL, NULL);
  call_info("--json", NULL);
  call_info("--plot", "energy");
  call_info("--plot", "floor");
  const talus_status status = run_tiny("tiny.out", true, 0.03);
  PROMISE(status == TALUS_OK || talus_last_error()[0] != '\0', "status %d without a word",
          (int)status);
  /* A scene that is not talus's own is never replaced, and stops the next input's run. */
  remove("tiny.out/scene.yaml");
  remove("tiny.out/probes/floor.csv");
  return 0;
}
