/* Any lines as the words of a command line: an exit code of 0, 1 or 2, and no file but those that
 * are named. Benchmarks are left out, and studies only say what they would run. */
#include "fuzz_cli.h"

int talus_main(int argc, char **argv);

static const char cube[] =
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
    "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/* Whether a word asks for something that may take any time. */
static bool is_lasting(const char *word) {
  static const char *const words[] = {"--until", "--repeat", "--set", "--triangles", "clump"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    if (strncmp(word, words[i], strlen(words[i])) == 0)
      return true;
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool is_ready;
  if (!is_ready) {
    setenv("OMP_WAIT_POLICY", "passive", 1); /* or the command would start itself anew */
    write_text("tiny.yaml", tiny_scene, sizeof tiny_scene - 1);
    write_text("cube.obj", cube, sizeof cube - 1);
    write_text("table.csv", "x,y,z,r\n0,0,0,1\n1,0,0,1\n", 24);
    PROMISE(run_tiny("tiny.out", false, -1) == TALUS_OK, "%s", talus_last_error());
    is_ready = true;
  }
  static char program[] = "talus", dry_run[] = "--dry-run";
  char *argv[MOST_WORDS + 2] = {program};
  int argc = 1;
  char *text = copy_text(data, size);
  /* Times are cut: a run may be of any length, and so may be repetitions. */
  if (add_words(text, &argc, argv) && !strstr((char *)argv[argc > 1 ? 1 : 0], "bench")) {
    bool is_long = false;
    for (int i = 1; i < argc; ++i)
      is_long |= is_lasting(argv[i]);
    if (argc > 1 && strcmp(argv[1], "sweep") == 0) { /* its runs would be this program */
      memmove(argv + 3, argv + 2, (size_t)(argc - 1) * sizeof *argv);
      argv[2] = dry_run, argc++;
    }
    if (!is_long)
      promise_code(talus_main(argc, argv));
  }
  free(text);
  return 0;
}
