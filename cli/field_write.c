/* Writes fields as tables and as VTK images. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <talus/config.h>

#include "cli.h"
#include "field.h"
#include "file_write.h"

#define DEGREES (180 / 3.14159265358979323846)

/* ---- tables ---------------------------------------------------------------------------------- */

static void print_head(FILE *to, const field *f) {
  const char *right = field_axis_name(f, f->plane.right), *up = field_axis_name(f, f->plane.up);
  fprintf(to, "%s,%s,count,v%s,v%s,angle", right, up, right, up);
  if (f->across)
    fprintf(to, ",v%s,speed", field_axis_name(f, f->plane.across));
  if (f->temperature)
    fputs(",temperature", to);
  fputc('\n', to);
}

/* Prints the cells that have bodies, row by row from the bottom. */
static bool print_csv(FILE *to, const void *what) {
  const field *f = what;
  print_head(to, f);
  for (size_t r = 0; r < f->rows; ++r)
    for (size_t c = 0; c < f->columns; ++c) {
      const size_t i = r * f->columns + c;
      if (!(f->count[i] > 0))
        continue;
      fprintf(to, "%.9g,%.9g,%.9g,%.9g,%.9g,%.6f", f->origin[0] + (double)c * f->cell[0],
              f->origin[1] + (double)r * f->cell[1], f->count[i], f->right[i], f->up[i],
              flat_angle(f->right[i], f->up[i]) * DEGREES);
      if (f->across)
        fprintf(
            to, ",%.9g,%.9g", f->across[i],
            sqrt(f->right[i] * f->right[i] + f->up[i] * f->up[i] + f->across[i] * f->across[i]));
      if (f->temperature)
        fprintf(to, ",%.9g", f->temperature[i]);
      fputc('\n', to);
    }
  return ferror(to) == 0;
}

int field_write_csv(const char *path, const field *from) {
  return cli_write_file(path, print_csv, from);
}

/* ---- images ---------------------------------------------------------------------------------- */

#if TALUS_HAVE_HDF5

#include <hdf5.h>

static bool add_attribute(hid_t group, const char *name, hid_t type, hsize_t count,
                          const void *data) {
  const hid_t space = count > 0 ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool good = attribute >= 0 && H5Awrite(attribute, type, data) >= 0;
  if (attribute >= 0)
    H5Aclose(attribute);
  H5Sclose(space);
  return good;
}

/* Points along x, y, z. VTK's reader mishandles images that are one point thin (9.1 crashes), so a
 * thin axis has two equal layers, at the faces of its cells. */
static void find_points(const field *f, size_t points[3]) {
  points[f->plane.across] = 2;
  points[f->plane.right] = f->columns > 1 ? f->columns : 2;
  points[f->plane.up] = f->rows > 1 ? f->rows : 2;
}

static bool add_grid(hid_t group, const field *f) {
  static const int64_t version[2] = {1, 0};
  static const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  int64_t extent[6] = {0};
  double origin[3] = {0}, spacing[3] = {1, 1, 1};
  const int axes[2] = {f->plane.right, f->plane.up}, across = f->plane.across;
  const size_t n[2] = {f->columns, f->rows};
  size_t points[3];
  find_points(f, points);
  for (int k = 0; k < 3; ++k)
    extent[2 * k + 1] = (int64_t)points[k] - 1;
  for (int k = 0; k < 2; ++k) {
    origin[axes[k]] = f->origin[k] - (n[k] > 1 ? 0 : 0.5 * f->cell[k]);
    spacing[axes[k]] = f->cell[k];
  }
  if (f->plane.has_slab)
    origin[across] = f->plane.slab[0], spacing[across] = f->plane.slab[1] - f->plane.slab[0];
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, strlen("ImageData"));
  H5Tset_strpad(text, H5T_STR_NULLPAD);
  const bool good = add_attribute(group, "Version", H5T_NATIVE_INT64, 2, version) &&
                    add_attribute(group, "Type", text, 0, "ImageData") &&
                    add_attribute(group, "WholeExtent", H5T_NATIVE_INT64, 6, extent) &&
                    add_attribute(group, "Origin", H5T_NATIVE_DOUBLE, 3, origin) &&
                    add_attribute(group, "Spacing", H5T_NATIVE_DOUBLE, 3, spacing) &&
                    add_attribute(group, "Direction", H5T_NATIVE_DOUBLE, 9, direction);
  H5Tclose(text);
  return good;
}

/* The cell of a point; x runs fastest. */
static size_t cell_of(const field *f, const size_t points[3], size_t i) {
  const size_t at[3] = {i % points[0], i / points[0] % points[1], i / points[0] / points[1]};
  const size_t c = f->columns > 1 ? at[f->plane.right] : 0;
  return (f->rows > 1 ? at[f->plane.up] : 0) * f->columns + c;
}

static bool add_values(hid_t group, const field *f, const char *name, const double *const *from,
                       hsize_t width) {
  size_t points[3];
  find_points(f, points);
  const size_t n = points[0] * points[1] * points[2];
  const hsize_t size[4] = {points[2], points[1], points[0], width};
  double *values = malloc((n * width + 1) * sizeof *values);
  if (!values)
    return false;
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < width; ++k)
      values[i * width + k] = from[k] ? from[k][cell_of(f, points, i)] : NAN;
  const hid_t space = H5Screate_simple(width > 1 ? 4 : 3, size, NULL);
  const hid_t set =
      H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const bool good =
      set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (set >= 0)
    H5Dclose(set);
  H5Sclose(space);
  free(values);
  return good;
}

static bool add_arrays(hid_t file, const field *f) {
  const hid_t group = H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t data = H5Gcreate2(group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const double *count[1] = {f->count}, *heat[1] = {f->temperature}, *velocity[3] = {NULL};
  velocity[f->plane.right] = f->right;
  velocity[f->plane.up] = f->up;
  velocity[f->plane.across] = f->across;
  const bool good = group >= 0 && data >= 0 && add_grid(group, f) &&
                    add_values(data, f, "count", count, 1) &&
                    add_values(data, f, "velocity", velocity, 3) &&
                    (!f->temperature || add_values(data, f, "temperature", heat, 1));
  H5Gclose(data);
  H5Gclose(group);
  return good;
}

typedef struct file_image {
  void *data;
  size_t bytes;
} file_image;

static bool print_image(FILE *to, const void *what) {
  const file_image *from = what;
  return fwrite(from->data, 1, from->bytes, to) == from->bytes;
}

/* The file is made in memory, so that all files are written by the same code. */
static int write_hdf(const char *path, const field *from) {
  file_image image = {0};
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 20, 0);
  const hid_t file = H5Fcreate("field", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  bool good = file >= 0 && add_arrays(file, from) && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  const ssize_t bytes = good ? H5Fget_file_image(file, NULL, 0) : 0;
  image.bytes = bytes > 0 ? (size_t)bytes : 0;
  image.data = image.bytes > 0 ? malloc(image.bytes) : NULL;
  good = image.data && H5Fget_file_image(file, image.data, image.bytes) == bytes;
  if (file >= 0)
    H5Fclose(file);
  int code = CLI_FAILED;
  if (good)
    code = cli_write_file(path, print_image, &image);
  else
    cli_error("%s: out of memory", path);
  free(image.data);
  return code;
}

/* Runs in a separate process: HDF5's library may end it if memory is missing. */
int field_write_hdf(const char *path, const field *from) {
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0)
    _exit(write_hdf(path, from));
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  const int code = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == CLI_DONE || code == CLI_FAILED || code == CLI_INPUT)
    return code;
  cli_error("%s: could not be made: HDF5's library has ended, for want of memory perhaps", path);
  return CLI_FAILED;
}

#else

int field_write_hdf(const char *path, const field *from) {
  (void)from;
  cli_error("%s: this talus was built without HDF5; -o x.csv needs none", path);
  return CLI_INPUT;
}

#endif
