#include "file_write.h"

#include <errno.h>

#include "cli.h"
#include "output/file.h"

static talus_status print_all(tl_file *file, cli_print_fn *print, const void *what) {
  FILE *to;
  TL_TRY(tl_file_stream(file, &to));
  errno = 0;
  const bool good = print(to, what) && fflush(to) == 0 && !ferror(to);
  const int error = errno;
  if (fclose(to) != 0 && good)
    return tl_file_fail(errno, file->name, "written");
  return good ? TALUS_OK : tl_file_fail(error != 0 ? error : EIO, file->name, "written");
}

int cli_write_file(const char *path, cli_print_fn *print, const void *what) {
  tl_file file = tl_file_given();
  talus_status status = tl_file_begin(&file, path);
  if (status == TALUS_OK)
    status = tl_file_end(&file, print_all(&file, print, what));
  if (status == TALUS_OK)
    return CLI_DONE;
  cli_error("%s", talus_last_error());
  return CLI_FAILED;
}
