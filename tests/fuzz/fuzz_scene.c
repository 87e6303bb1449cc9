/* Any bytes as a scene file: refused with clean messages, or a scene that can be written and read
 * again and, where it is small, built and stepped. */
#include "fuzz_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  promise_scene((const char *)data, size, NULL, 0);
  return 0;
}
