/* Pictures by libpng, films by the program ffmpeg, which gets the pictures through a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_write.h"
#include "output/file.h"
#include "render.h"

static int out_of_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

/* ---- pictures -------------------------------------------------------------------------------- */

#if TALUS_HAVE_PNG

#include <png.h>

static bool print_png(FILE *to, const void *what) {
  const canvas *from = what;
  png_image head = {.version = PNG_IMAGE_VERSION,
                    .width = (png_uint_32)from->width,
                    .height = (png_uint_32)from->height,
                    .format = PNG_FORMAT_RGB};
  return png_image_write_to_stdio(&head, to, 0, from->rgb, 0, NULL) != 0;
}

int render_write_png(const char *path, const canvas *from) {
  return cli_write_file(path, print_png, from);
}

#else

int render_write_png(const char *path, const canvas *from) {
  (void)from;
  cli_error("%s: this talus was built without libpng; install libpng-dev and build it again", path);
  return CLI_INPUT;
}

#endif

/* ---- films ----------------------------------------------------------------------------------- */

/* ffmpeg writes to a file opened by us and does not know its name. It seeks in the file, so output
 * for a FIFO or a device goes to an unnamed file first. */
struct render_film {
  tl_file file;
  FILE *spool; /* NULL: not needed */
  pid_t encoder;
  int pipe;
};

extern char **environ;

/* ---- stopping -------------------------------------------------------------------------------- */

/* The film in progress, for the signal handler; NULL: none. Whatever is in progress, also a write
 * to an ffmpeg that takes no data or a wait for one that does not end: the handler ends it at once,
 * and no files remain. It calls only functions allowed in handlers. */
static render_film *volatile under_way;

static void on_signal(int number) {
  static const char line[] = "talus: stopped; no film was written\n";
  const render_film *film = under_way;
  (void)number;
  if (film && film->encoder > 0)
    kill(film->encoder, SIGKILL);
  if (film && film->file.part && film->file.fd >= 0)
    unlinkat(film->file.folder, film->file.part, 0);
  const ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
  (void)written; /* a closed terminal shows nothing */
  _exit(CLI_INTERRUPTED);
}

/* ---- ffmpeg ---------------------------------------------------------------------------------- */

#define OUTPUT_FD 9 /* file descriptor of ffmpeg's output */
#define OUTPUT    "/dev/fd/9"

/* Starts ffmpeg in its own process group, so that Ctrl-C reaches only this process, which ends
 * ffmpeg in order. */
static int start(render_film *film, char *size, char *rate) {
  char *const argv[] = {"ffmpeg",    "-loglevel",  "error",  "-nostdin", "-y",       "-f",
                        "rawvideo",  "-pix_fmt",   "rgb24",  "-s",       size,       "-r",
                        rate,        "-i",         "pipe:0", "-an",      "-c:v",     "libx264",
                        "-preset",   "fast",       "-crf",   "19",       "-pix_fmt", "yuv420p",
                        "-movflags", "+faststart", "-f",     "mp4",      OUTPUT,     NULL};
  int ends[2];
  if (pipe(ends) != 0) {
    cli_error("no pipe to ffmpeg: %s", strerror(errno));
    return CLI_FAILED;
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  posix_spawn_file_actions_adddup2(&actions, film->spool ? fileno(film->spool) : film->file.fd,
                                   OUTPUT_FD);
  /* Messages of ffmpeg go to stderr, like ours; stdout is for data. */
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int failed = posix_spawnp(&film->encoder, "ffmpeg", &actions, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[0]);
  film->pipe = ends[1];
  if (failed == 0)
    return CLI_DONE;
  close(ends[1]);
  if (failed == ENOENT)
    cli_error("films are made by the program ffmpeg, which is not installed; install the package "
              "ffmpeg, or write a picture: -o x.png");
  else
    cli_error("ffmpeg does not start: %s", strerror(failed));
  return CLI_INPUT;
}

/* Opens the file for ffmpeg's output. */
static int open_film(render_film *film, const char *path) {
  film->file = tl_file_given();
  if (tl_file_begin(&film->file, path) != TALUS_OK) {
    cli_error("%s", talus_last_error());
    return CLI_FAILED;
  }
  if (film->file.part || (film->spool = tmpfile()) != NULL)
    return CLI_DONE;
  cli_error("%s: no temporary file: %s", path, strerror(errno));
  tl_file_drop(&film->file);
  return CLI_FAILED;
}

static void free_film(render_film *film) {
  under_way = NULL;
  if (film->spool)
    fclose(film->spool);
  free(film);
}

int render_film_begin(const char *path, int width, int height, double fps, render_film **to) {
  char size[32], rate[32];
  render_film *film = calloc(1, sizeof *film);
  *to = NULL;
  if (!film)
    return out_of_memory();
  snprintf(size, sizeof size, "%dx%d", width, height);
  snprintf(rate, sizeof rate, "%.6f", fps);
  signal(SIGPIPE, SIG_IGN); /* if ffmpeg dies, a write returns an error */
  under_way = film;
  cli_catch_stops(on_signal, false); /* before any file exists */
  int code = open_film(film, path);
  if (code == CLI_DONE) {
    code = start(film, size, rate);
    if (code != CLI_DONE)
      tl_file_drop(&film->file);
  }
  if (code != CLI_DONE)
    free_film(film);
  else
    *to = film;
  return code;
}

int render_film_add(render_film *film, const canvas *from) {
  const unsigned char *at = from->rgb;
  size_t left = 3 * (size_t)from->width * (size_t)from->height;
  while (left > 0) {
    const ssize_t n = write(film->pipe, at, left);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      cli_error("%s: ffmpeg stopped taking pictures: %s", film->file.name, strerror(errno));
      return CLI_FAILED;
    }
    at += n;
    left -= (size_t)n;
  }
  return CLI_DONE;
}

/* Copies the unnamed file to its destination. */
static talus_status copy_spool(render_film *film) {
  static char block[1 << 16];
  rewind(film->spool);
  for (size_t n; (n = fread(block, 1, sizeof block, film->spool)) > 0;)
    TL_TRY(tl_file_put(&film->file, block, n));
  return ferror(film->spool) ? tl_file_fail(errno, film->file.name, "written") : TALUS_OK;
}

static int finish(render_film *film) {
  talus_status status = film->spool ? copy_spool(film) : TALUS_OK;
  status = tl_file_end(&film->file, status);
  if (status == TALUS_OK)
    return CLI_DONE;
  cli_error("%s", talus_last_error());
  return CLI_FAILED;
}

int render_film_end(render_film *film, bool keep) {
  int status = 0, code = CLI_FAILED;
  close(film->pipe);
  if (!keep)
    kill(film->encoder, SIGTERM);
  while (waitpid(film->encoder, &status, 0) < 0 && errno == EINTR)
    ;
  if (keep && WIFEXITED(status) && WEXITSTATUS(status) == 0)
    code = finish(film);
  else {
    if (keep)
      cli_error("%s: ffmpeg failed; what it said is above", film->file.name);
    tl_file_drop(&film->file);
  }
  free_film(film);
  return code;
}
