/* Meshes as files: STL (binary), OBJ, PLY (binary, double). */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <strings.h>

#include <talus/mesh.h>

#include "base/memory.h"
#include "output/file.h"
#include "shape/mesh_make.h"

/* The writer of the file reports errors of the stream when it is closed. */
typedef void write_fn(FILE *file, const talus_mesh *mesh);

/* ---- bytes of the low end first -------------------------------------------------------------- */

static char *put_u32(char *to, uint32_t value) {
  for (int i = 0; i < 4; ++i)
    *to++ = (char)(value >> 8 * i);
  return to;
}

static char *put_float(char *to, double value) {
  const float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return put_u32(to, bits);
}

static char *put_double(char *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return put_u32(put_u32(to, (uint32_t)bits), (uint32_t)(bits >> 32));
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* The normal is left zero, as readers then find it themselves. */
static void write_stl(FILE *file, const talus_mesh *mesh) {
  char head[84] = "triangles in metres, written by talus";
  (void)put_u32(head + 80, (uint32_t)mesh->triangles);
  (void)fwrite(head, sizeof head, 1, file);
  for (size_t t = 0; t < mesh->triangles; ++t) {
    char row[50] = {0}, *to = row + 12;
    for (int k = 0; k < 3; ++k)
      for (int axis = 0; axis < 3; ++axis)
        to = put_float(to, mesh->vertex[mesh->triangle[t][k]][axis]);
    (void)fwrite(row, sizeof row, 1, file);
  }
}

/* Numbers have "." whatever the program's locale. */
static void write_obj(FILE *file, const talus_mesh *mesh) {
  const locale_t own = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  const locale_t before = own ? uselocale(own) : (locale_t)0;
  for (size_t i = 0; i < mesh->vertices; ++i)
    fprintf(file, "v %.17g %.17g %.17g\n", mesh->vertex[i][0], mesh->vertex[i][1],
            mesh->vertex[i][2]);
  for (size_t t = 0; t < mesh->triangles; ++t)
    fprintf(file, "f %u %u %u\n", mesh->triangle[t][0] + 1, mesh->triangle[t][1] + 1,
            mesh->triangle[t][2] + 1);
  if (own) {
    (void)uselocale(before);
    freelocale(own);
  }
}

static void write_ply(FILE *file, const talus_mesh *mesh) {
  fprintf(file,
          "ply\nformat binary_little_endian 1.0\ncomment metres, written by talus\n"
          "element vertex %zu\nproperty double x\nproperty double y\nproperty double z\n"
          "element face %zu\nproperty list uchar uint vertex_indices\nend_header\n",
          mesh->vertices, mesh->triangles);
  for (size_t i = 0; i < mesh->vertices; ++i) {
    char row[24], *to = row;
    for (int axis = 0; axis < 3; ++axis)
      to = put_double(to, mesh->vertex[i][axis]);
    (void)fwrite(row, sizeof row, 1, file);
  }
  for (size_t t = 0; t < mesh->triangles; ++t) {
    char row[13] = {3}, *to = row + 1;
    for (int k = 0; k < 3; ++k)
      to = put_u32(to, mesh->triangle[t][k]);
    (void)fwrite(row, sizeof row, 1, file);
  }
}

static write_fn *writer_of(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  const char *extension = dot && (!slash || dot > slash) ? dot + 1 : "";
  return strcasecmp(extension, "stl") == 0   ? write_stl
         : strcasecmp(extension, "obj") == 0 ? write_obj
         : strcasecmp(extension, "ply") == 0 ? write_ply
                                             : NULL;
}

talus_status talus_mesh_write(const talus_mesh *mesh, const char *path) {
  TL_NEED(path);
  TL_TRY(tl_mesh_need(mesh));
  write_fn *write = writer_of(path);
  if (!write)
    return tl_fail(TALUS_ERROR_INVALID, "%s: a mesh is written as .stl, .obj or .ply", path);
  tl_file file = tl_file_given();
  TL_TRY(tl_file_begin(&file, path));
  FILE *stream;
  talus_status status = tl_file_stream(&file, &stream);
  if (status == TALUS_OK) {
    errno = 0;
    write(stream, mesh);
    const bool is_bad = ferror(stream) != 0;
    if (fclose(stream) != 0 || is_bad)
      status = tl_file_fail(errno, path, "written");
  }
  return tl_file_end(&file, status);
}
