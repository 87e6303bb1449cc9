/* Runs a fuzz target on files, and on the files in folders: what was found once is not found again.
 * The main program of a target where libFuzzer is not; AFL++ can use it, too. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static size_t replayed;

static void replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  PROMISE(file != NULL, "%s cannot be opened", path);
  /* Exactly as large as the input, so that a read beyond its end is noticed. */
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  uint8_t *data = malloc(size > 0 ? size : 1);
  rewind(file);
  PROMISE(data != NULL && fread(data, 1, size, file) == size, "%s cannot be read", path);
  fclose(file);
  fprintf(stderr, "%s\n", path); /* the last line is the culprit after a crash */
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  replayed++;
}

static void replay(const char *path) {
  struct stat info;
  PROMISE(stat(path, &info) == 0, "%s is not there", path);
  if (!S_ISDIR(info.st_mode)) {
    replay_file(path);
    return;
  }
  struct dirent **entries;
  const int n = scandir(path, &entries, NULL, alphasort);
  PROMISE(n >= 0, "%s cannot be listed", path);
  for (int i = 0; i < n; ++i) {
    char inside[4096];
    snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.')
      replay(inside);
    free(entries[i]);
  }
  free(entries);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    replay(argv[i]);
  printf("%zu inputs replayed\n", replayed);
  return replayed > 0 ? 0 : 1;
}
