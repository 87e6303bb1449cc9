/* Any lines as options of `talus render`, over a folder of its own: refused, or taken as far as to
 * the renderer, which is none here. */
#include "fuzz_cli.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool is_ready;
  if (!is_ready)
    PROMISE(run_tiny("tiny.out", false, -1) == TALUS_OK, "%s", talus_last_error());
  is_ready = true;
  static char program[] = "render", folder[] = "tiny.out", option[] = "-o", picture[] = "x.png";
  char *argv[MOST_WORDS + 1] = {program, folder, option, picture};
  int argc = 4;
  char *text = copy_text(data, size);
  if (add_words(text, &argc, argv))
    promise_code(cli_render(argc, argv));
  free(text);
  return 0;
}
