/* A field from averages of a run, whose grid it keeps. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "field.h"

#define PATH_BYTES 4096

static bool has_file(const char *folder, const char *name, long i) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/fields/%s/%06ld.hdf", folder, name, i);
  return access(path, F_OK) == 0; /* what it is will be seen when it is read */
}

static long count_files(const char *folder, const char *name) {
  long n = 0;
  while (has_file(folder, name, n))
    n++;
  return n;
}

static bool read_at(const char *folder, const char *name, long i, frame_average *found) {
  char path[PATH_BYTES], why[PATH_BYTES + 256];
  snprintf(path, sizeof path, "%s/fields/%s/%06ld.hdf", folder, name, i);
  if (frame_average_read(path, found, why, sizeof why))
    return true;
  cli_error("%s", why);
  return false;
}

/* The interval whose end is nearest to a time; -1 after a message. */
static long nearest(const char *folder, const char *name, long n, double time) {
  double least = INFINITY;
  long best = -1;
  for (long i = 0; i < n; ++i) {
    frame_average one;
    if (!read_at(folder, name, i, &one))
      return -1;
    if (fabs(one.time - time) < least)
      least = fabs(one.time - time), best = i;
    frame_average_free(&one);
  }
  return best;
}

/* Which axes lie in the grid; false: it is a box. */
static bool set_plane(const frame_average *from, field *made) {
  flat_plane *plane = &made->plane;
  made->is_rz = strcmp(from->grid, "rz") == 0;
  if (made->is_rz) {
    plane->right = 2, plane->up = 0, plane->across = 1, plane->toward = 1;
    return true;
  }
  return strcmp(from->grid, "plane") == 0 && flat_read_plane(from->plane, plane);
}

static void copy_cells(const frame_average *from, field *made) {
  const size_t stride[3] = {1, from->n[0], from->n[0] * from->n[1]};
  for (size_t r = 0; r < made->rows; ++r)
    for (size_t c = 0; c < made->columns; ++c) {
      const size_t at = r * stride[made->plane.up] + c * stride[made->plane.right];
      const size_t to = r * made->columns + c;
      made->count[to] = from->count[at];
      made->right[to] = from->velocity[3 * at + (size_t)made->plane.right];
      made->up[to] = from->velocity[3 * at + (size_t)made->plane.up];
      made->across[to] = from->velocity[3 * at + (size_t)made->plane.across];
      if (from->temperature)
        made->temperature[to] = from->temperature[at];
    }
}

static int fill(const char *name, const frame_average *from, field *made) {
  if (!from->velocity || !set_plane(from, made)) {
    cli_error(from->velocity ? "field: the average '%s' is of a box; give one of rz or of a plane"
                             : "field: the average '%s' has no velocity; add it to its `record`",
              name);
    return CLI_INPUT;
  }
  const int axes[2] = {made->plane.right, made->plane.up};
  for (int k = 0; k < 2; ++k)
    made->origin[k] = from->origin[axes[k]], made->cell[k] = from->spacing[axes[k]];
  const int across = made->plane.across;
  made->plane.has_slab = true; /* as thick as the plane of the average */
  made->plane.slab[0] = from->origin[across] - 0.5 * from->spacing[across];
  made->plane.slab[1] = from->origin[across] + 0.5 * from->spacing[across];
  made->columns = from->n[axes[0]], made->rows = from->n[axes[1]];
  if (!field_make(made, false))
    return field_refuse(made);
  copy_cells(from, made);
  if (!from->temperature) {
    free(made->temperature);
    made->temperature = NULL;
  }
  return CLI_DONE;
}

int field_of_average(const char *folder, const char *name, const char *number, double time,
                     field *made) {
  frame_average from;
  const long n = strchr(name, '/') ? 0 : count_files(folder, name);
  char *end = NULL;
  long chosen = number ? strtol(number, &end, 10) : n - 1;
  if (number && (end == number || *end)) {
    cli_error("field: option '--frame': '%s' is not a whole number; -1 is the last", number);
    return CLI_INPUT;
  }
  if (number && chosen < 0)
    chosen += n;
  else if (!number && !isnan(time))
    chosen = n > 0 ? nearest(folder, name, n, time) : -1;
  if (chosen < 0 || chosen >= n) {
    cli_error(n > 0 ? "%s: the average '%s' has no such interval; it has 0 to %ld"
                    : "%s has no average '%s'; scenes have them under `averages`",
              folder, name, n - 1);
    return CLI_INPUT;
  }
  if (!read_at(folder, name, chosen, &from))
    return CLI_INPUT;
  const int code = fill(name, &from, made);
  frame_average_free(&from);
  return code;
}
