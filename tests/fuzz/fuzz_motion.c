/* Any bytes as the table of a motion: rows that can be followed, or mistakes. */
#include "fuzz.h"
#include "world/motion_file.h"

static void read_table(const char *name, const char *bytes, size_t size) {
  tl_motion_values values = {0};
  talus_motion_table kind = TALUS_TABLE_NONE;
  if (tl_motion_parse(name, bytes, size, &values, &kind) == TALUS_OK) {
    const size_t columns = kind == TALUS_TABLE_POSES ? 8 : kind == TALUS_TABLE_PLACES ? 4 : 2;
    PROMISE(values.count > 0 && values.count % columns == 0, "%zu numbers", values.count);
    for (size_t i = columns; i < values.count; i += columns)
      PROMISE(values.data[i] > values.data[i - columns], "times do not rise");
  } else {
    PROMISE(values.count == 0, "refused, and yet there are values");
    promise_message(talus_last_error(), name);
  }
  tl_array_free(&values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read_table("motion.csv", size > 0 ? (const char *)data : "", size);
  return 0;
}
