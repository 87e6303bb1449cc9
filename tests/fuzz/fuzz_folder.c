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

/* The file as the run wrote it; kept over inputs that only look. */
static char *good[NAMES];
static size_t good_bytes[NAMES];

static void path_of(char path[64], size_t which) {
  snprintf(path, 64, "tiny.out/%s", names[which]);
}

static void make_folder(void) {
  PROMISE(run_tiny("tiny.out", false, -1) == TALUS_OK, "%s", talus_last_error());
  for (size_t i = 0; i < NAMES; ++i) {
    char path[64];
    path_of(path, i);
    FILE *from = fopen(path, "rb");
    free(good[i]);
    good[i] = NULL;
    if (!from)
      continue;
    good[i] = malloc(1 << 20);
    PROMISE(good[i] != NULL, "memory");
    good_bytes[i] = fread(good[i], 1, 1 << 20, from);
    fclose(from);
  }
}

static void put_back(size_t which) {
  char path[64];
  path_of(path, which);
  if (good[which])
    write_text(path, good[which], good_bytes[which]);
  else
    remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool is_ready;
  if (size == 0)
    return 0;
  if (!is_ready)
    make_folder();
  is_ready = true;
  const size_t which = data[0] % NAMES;
  char path[64];
  path_of(path, which);
  write_text(path, data + 1, size - 1);
  call_info(NULL, NULL);
  if (size % 2)
    call_info("--json", NULL);
  else
    call_info("--plot", which == 4 ? "floor" : "energy");
  if (size % 4 == 1) { /* it takes time, so not always */
    const talus_status status = run_tiny("tiny.out", true, 0.03);
    PROMISE(status == TALUS_OK || talus_last_error()[0] != '\0', "status %d without a word",
            (int)status);
    is_ready = status != TALUS_OK;
  }
  put_back(which);
  return 0;
}
