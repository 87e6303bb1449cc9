/* Any bytes as a table of bodies: CSV, or binary records where the first byte is odd. What is read
 * is also looked at for contacts. Frames are left out: they are HDF5's, and read in a child
 * process. */
#include "bodies_read.h"
#include "fuzz.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size >= 8 && memcmp(data, "\x89HDF\r\n\x1a\n", 8) == 0)
    return 0;
  char path[64], why[8192] = "";
  snprintf(path, sizeof path, "fuzz_bodies.%ld.%s", (long)getpid(),
           size > 0 && (data[0] & 1) ? "bin" : "csv");
  FILE *file = fopen(path, "wb");
  if (!file)
    return 0;
  const bool written = fwrite(data, 1, size, file) == size;
  if (fclose(file) != 0 || !written)
    return 0;
  body_table table;
  if (bodies_read(path, &table, why, sizeof why)) {
    PROMISE(why[0] == '\0', "read, and yet: %s", why);
    bodies_free(&table);
  } else {
    promise_message(why, path);
  }
  remove(path);
  return 0;
}
