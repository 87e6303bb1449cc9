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

#include "render.h"

/* A name beside the file, of the same kind: "x.part.png" for "x.png". */
static char *aside(const char *path) {
  const char *dot = strrchr(path, '.');
  const size_t size = strlen(path) + sizeof ".part";
  char *text = malloc(size);
  if (text)
    snprintf(text, size, "%.*s.part%s", (int)(dot - path), path, dot);
  return text;
}

static int move(const char *from, const char *to) {
  if (rename(from, to) == 0)
    return CLI_DONE;
  cli_error("%s: %s", to, strerror(errno));
  unlink(from);
  return CLI_FAILED;
}

static int out_of_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

/* ---- pictures -------------------------------------------------------------------------------- */

#if TALUS_HAVE_PNG

#include <png.h>

int render_write_png(const char *path, const canvas *from) {
  char *part = aside(path);
  if (!part)
    return out_of_memory();
  FILE *file = fopen(part, "wb");
  int code = CLI_FAILED;
  if (!file)
    cli_error("%s: %s", path, strerror(errno));
  else {
    png_image head = {.version = PNG_IMAGE_VERSION,
                      .width = (png_uint_32)from->width,
                      .height = (png_uint_32)from->height,
                      .format = PNG_FORMAT_RGB};
    const bool written = png_image_write_to_stdio(&head, file, 0, from->rgb, 0, NULL) != 0;
    const bool flushed = fflush(file) == 0;
    const int why = errno;
    const bool closed = fclose(file) == 0;
    if (written && flushed && closed)
      code = move(part, path);
    else {
      cli_error("%s: could not be written: %s", path, written ? strerror(why) : head.message);
      unlink(part);
    }
  }
  free(part);
  return code;
}

#else

int render_write_png(const char *path, const canvas *from) {
  (void)from;
  cli_error("%s: this talus was built without libpng; install libpng-dev and build it again", path);
  return CLI_INPUT;
}

#endif

/* ---- films ----------------------------------------------------------------------------------- */

struct render_film {
  char *path, *part;
  pid_t encoder;
  int pipe;
};

extern char **environ;

/* ffmpeg in a group of its own, so that Ctrl-C reaches us alone and we end it in order. */
static int start(render_film *film, char *size, char *rate) {
  char *const argv[] = {"ffmpeg",    "-loglevel",  "error",  "-nostdin", "-y",       "-f",
                        "rawvideo",  "-pix_fmt",   "rgb24",  "-s",       size,       "-r",
                        rate,        "-i",         "pipe:0", "-an",      "-c:v",     "libx264",
                        "-preset",   "fast",       "-crf",   "19",       "-pix_fmt", "yuv420p",
                        "-movflags", "+faststart", "-f",     "mp4",      film->part, NULL};
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
  /* What ffmpeg has to say goes to stderr with our own words; stdout is for data. */
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

static void free_film(render_film *film) {
  free(film->path);
  free(film->part);
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
  film->part = aside(path);
  film->path = malloc(strlen(path) + 1);
  if (!film->part || !film->path) {
    free_film(film);
    return out_of_memory();
  }
  strcpy(film->path, path);
  signal(SIGPIPE, SIG_IGN); /* an encoder that dies is an error of a write */
  const int code = start(film, size, rate);
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
      cli_error("%s: ffmpeg stopped taking pictures: %s", film->path, strerror(errno));
      return CLI_FAILED;
    }
    at += n;
    left -= (size_t)n;
  }
  return CLI_DONE;
}

int render_film_end(render_film *film, bool keep) {
  int status = 0, code = CLI_FAILED;
  close(film->pipe);
  if (!keep)
    kill(film->encoder, SIGTERM);
  while (waitpid(film->encoder, &status, 0) < 0 && errno == EINTR)
    ;
  if (keep && WIFEXITED(status) && WEXITSTATUS(status) == 0)
    code = move(film->part, film->path);
  else {
    unlink(film->part);
    if (keep)
      cli_error("%s: ffmpeg failed; what it said is above", film->path);
  }
  free_film(film);
  return code;
}
