/* What the command has elsewhere, for the targets that call it: no benchmarks, and a renderer that
 * is said to be there (render_scene.c without Embree opens none). */
#include "cli.h"
#include "render_scene.h"

int cli_bench(int argc, char **argv) {
  (void)argc, (void)argv;
  return CLI_INPUT;
}

bool render_is_available(void) { return true; }
