/* talus shape on mesh files: info, make, repair, clump. */
#ifndef CLI_MESH_H
#define CLI_MESH_H

#include <talus/mesh.h>

typedef struct mesh_options {
  bool json, close_holes;
  double scale, noise, seed, weld, error; /* weld < 0, error 0: not given */
  int triangles;
  const char *size, *output;
} mesh_options;

/* True if the name has an ending of a triangle file. */
bool cli_is_mesh(const char *path);

/* Each returns the exit code; errors have been reported. */
int cli_mesh_info(const char *path, const mesh_options *options);
int cli_mesh_make(const char *kind, const mesh_options *options);
int cli_mesh_repair(const char *path, const mesh_options *options);
int cli_mesh_clump(const char *path, const mesh_options *options);

/* Reports an error of the library; a missing file is bad input here. */
int cli_mesh_fail(talus_status status);

#endif
