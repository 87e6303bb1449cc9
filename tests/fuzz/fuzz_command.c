/* Any lines as the words of a command line: an exit code of 0, 1 or 2, and no file but those that
 * are named. Benchmarks are left out. */
#include "fuzz_cli.h"

int talus_main(int argc, char **argv);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool is_ready;
  if (!is_ready) {
    setenv("OMP_WAIT_POLICY", "passive", 1); /* or the command would start itself anew */
    write_text("tiny.yaml", tiny_scene, sizeof tiny_scene - 1);
    write_text("table.csv", "x,y,z,r\n0,0,0,1\n1,0,0,1\n", 24);
    PROMISE(run_tiny("tiny.out", false, -1) == TALUS_OK, "%s", talus_last_error());
    is_ready = true;
  }
  static char program[] = "talus";
  char *argv[MOST_WORDS + 1] = {program};
  int argc = 1;
  char *text = copy_text(data, size);
  /* Times are cut: a run may be of any length, and so may be repetitions. */
  if (add_words(text, &argc, argv) && !strstr((char *)argv[argc > 1 ? 1 : 0], "bench")) {
    bool is_long = false;
    for (int i = 1; i < argc; ++i)
      is_long |= strncmp(argv[i], "--until", 7) == 0 || strncmp(argv[i], "--repeat", 8) == 0 ||
                 strncmp(argv[i], "--set", 5) == 0;
    if (!is_long)
      promise_code(talus_main(argc, argv));
  }
  free(text);
  return 0;
}
