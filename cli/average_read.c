/* Reads files of averaged fields: VTK images with the cells' values at points (docs/formats.md).
 * Called in a separate process (frame_guard.c). */
#include "frame_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <talus/config.h>

#if TALUS_HAVE_HDF5

#include <hdf5.h>

#define CELLS_MOST 100000000

/* Reads `count` numbers of an attribute. */
static bool read_attribute(hid_t file, const char *group, const char *name, hid_t type,
                           size_t count, void *to) {
  const hid_t attribute = H5Aopen_by_name(file, group, name, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0)
    return false;
  const hid_t space = H5Aget_space(attribute);
  const bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                    H5Aread(attribute, type, to) >= 0;
  if (space >= 0)
    H5Sclose(space);
  H5Aclose(attribute);
  return good;
}

/* Reads one text, shorter than FRAME_NAME_BYTES. */
static bool read_word(hid_t file, const char *group, const char *name, char *to) {
  const hid_t attribute = H5Aopen_by_name(file, group, name, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t stored = attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute);
  const hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
  bool good = stored >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
              H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) == 0 &&
              H5Tget_size(stored) < FRAME_NAME_BYTES;
  memset(to, 0, FRAME_NAME_BYTES);
  good = good && H5Aread(attribute, stored, to) >= 0;
  if (space >= 0)
    H5Sclose(space);
  if (stored >= 0)
    H5Tclose(stored);
  if (attribute >= 0)
    H5Aclose(attribute);
  return good;
}

/* Keeps the first of the two layers of a thin axis; points: along x, y, z. */
static void keep_cells(const frame_average *found, const size_t points[3], size_t width,
                       double *values) {
  double *to = values;
  for (size_t z = 0; z < found->n[2]; ++z)
    for (size_t y = 0; y < found->n[1]; ++y) {
      const size_t bytes = found->n[0] * width * sizeof *values;
      memmove(to, values + (z * points[1] + y) * points[0] * width, bytes);
      to += found->n[0] * width;
    }
}

/* NULL: missing, or of a wrong type or size. */
static double *read_values(hid_t file, const char *name, const frame_average *found,
                           const size_t points[3], size_t width) {
  char path[128];
  const size_t count = points[0] * points[1] * points[2] * width;
  snprintf(path, sizeof path, "VTKHDF/PointData/%s", name);
  if (H5Lexists(file, path, H5P_DEFAULT) <= 0)
    return NULL;
  const hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
  const hid_t space = set < 0 ? H5I_INVALID_HID : H5Dget_space(set);
  double *values = NULL;
  if (space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count)
    values = malloc(count * sizeof *values);
  if (values && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    free(values);
    values = NULL;
  }
  if (values)
    keep_cells(found, points, width, values);
  if (space >= 0)
    H5Sclose(space);
  if (set >= 0)
    H5Dclose(set);
  return values;
}

/* Number of cells along an axis, from its points: a thin axis has two layers, at the faces of its
 * cell. Older files have one layer, and no `cells`. */
static bool set_cells(frame_average *found, int k, size_t points, int64_t cells) {
  const bool is_thin = cells == 1 && points == 2;
  if (!is_thin && cells != (int64_t)points)
    return false;
  found->n[k] = (size_t)cells;
  if (is_thin)
    found->origin[k] += 0.5 * found->spacing[k];
  return true;
}

static bool read_grid(hid_t file, frame_average *found, size_t points[3]) {
  int64_t extent[6], cells[3];
  size_t total = 1;
  if (!read_attribute(file, "VTKHDF", "WholeExtent", H5T_NATIVE_INT64, 6, extent) ||
      !read_attribute(file, "VTKHDF", "Origin", H5T_NATIVE_DOUBLE, 3, found->origin) ||
      !read_attribute(file, "VTKHDF", "Spacing", H5T_NATIVE_DOUBLE, 3, found->spacing) ||
      !read_attribute(file, "talus", "time", H5T_NATIVE_DOUBLE, 1, &found->time) ||
      !read_word(file, "talus", "grid", found->grid) ||
      (strcmp(found->grid, "plane") == 0 && !read_word(file, "talus", "plane", found->plane)))
    return false;
  const bool has_cells = read_attribute(file, "talus", "cells", H5T_NATIVE_INT64, 3, cells);
  found->cells = 1;
  for (int k = 0; k < 3; ++k) {
    if (extent[2 * k] != 0 || extent[2 * k + 1] < 0 || extent[2 * k + 1] >= CELLS_MOST)
      return false;
    points[k] = (size_t)extent[2 * k + 1] + 1;
    total *= points[k];
    if (total > CELLS_MOST ||
        !set_cells(found, k, points[k], has_cells ? cells[k] : (int64_t)points[k]))
      return false;
    found->cells *= found->n[k];
  }
  return true;
}

bool frame_parse_average(const char *path, frame_average *found, char *why, size_t size) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  *found = (frame_average){0};
  struct stat there;
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) { /* a FIFO would wait for a writer */
    snprintf(why, size, "%s is not a file", path);
    return false;
  }
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) {
    snprintf(why, size, "%s is not there, or not a readable HDF5 file", path);
    return false;
  }
  size_t points[3];
  bool good = read_grid(file, found, points);
  if (good) {
    found->count = read_values(file, "count", found, points, 1);
    found->velocity = read_values(file, "velocity", found, points, 3);
    found->temperature = read_values(file, "temperature", found, points, 1);
  }
  good = good && found->count;
  if (!good)
    snprintf(why, size, "%s is not a file of averaged fields, or damaged", path);
  H5Fclose(file);
  return good;
}

#else

bool frame_parse_average(const char *path, frame_average *found, char *why, size_t size) {
  (void)found;
  snprintf(why, size,
           "%s: this talus was built without HDF5; install libhdf5-dev and build it again", path);
  return false;
}

#endif
