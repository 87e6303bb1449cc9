/* Reads frames and contact files of a result folder. docs/formats.md has the layout.
 *
 * Files are not trusted: whatever they contain, the arrays are consistent, or an error is
 * returned. */
#ifndef CLI_FRAME_READ_H
#define CLI_FRAME_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum frame_kind {
  FRAME_SPHERE,
  FRAME_BOX,
  FRAME_PLANE,
  FRAME_CONTAINER,
  FRAME_ELLIPSOID,
  FRAME_CAPSULE,
  FRAME_CYLINDER,
  FRAME_CONE,
  FRAME_SUPERELLIPSOID,
  FRAME_HULL,
  FRAME_CLUMP,
  FRAME_REVOLVED,
  FRAME_MESH,
  FRAME_OTHER /* a kind that this command does not know */
} frame_kind;

#define FRAME_NAME_BYTES 64

typedef struct frame_shape {
  frame_kind kind;
  char kind_name[FRAME_NAME_BYTES];
  double size[5];               /* as in talus_shape_def */
  uint32_t open;                /* container: TALUS_SIDE_...; revolved: talus_sides */
  double centre[3];             /* of mass, in the shape's own frame, at scale 1 */
  uint32_t point, points;       /* first row of frame.point, and number: hull, clump, revolved */
  uint32_t triangle, triangles; /* likewise of frame.triangle: hull */
} frame_shape;

typedef struct frame_material {
  char name[FRAME_NAME_BYTES];
} frame_material;

typedef struct frame {
  double time, dt; /* s */
  size_t bodies, shapes, materials;
  /* One row per body. */
  double *position;   /* 3: centre of mass, m */
  uint64_t *id;       /* uid */
  float *radius;      /* bounding, m; 0 if unbounded */
  float *scale;       /* multiplies every length of the shape */
  uint32_t *shape;    /* row of shape_table */
  uint32_t *material; /* row of material_table */
  float *quaternion;  /* 4: rotation of the shape's own frame, w first; NULL: not in the file */
  float *velocity;    /* 3: m/s; NULL: not in the file */
  double *pace;       /* s: longest next step of each body; NULL: not in the file */
  /* Vertices of hulls and spheres of clumps, triangles of hulls. */
  size_t points, triangles;
  double *point;      /* 4: x, y, z in the shape's own frame, radius (0 for a vertex) */
  uint32_t *triangle; /* 3: rows of the shape's own points, counter-clockwise from outside */
  frame_shape *shape_table;
  frame_material *material_table;
} frame;

/* If it fails it returns false with a message in `why`, which names the file; then there is nothing
 * to free. */
bool frame_read(const char *path, frame *found, char *why, size_t size);
void frame_free(frame *found);

/* Reads only the time of a frame, s. */
bool frame_read_time(const char *path, double *time, char *why, size_t size);

typedef struct frame_contacts {
  double dt; /* s */
  size_t count;
  uint64_t *body_a, *body_b; /* uids */
  double *point;             /* 3: m */
  float *impulse;            /* 3: N s of the last step */
} frame_contacts;

bool frame_contacts_read(const char *path, frame_contacts *found, char *why, size_t size);
void frame_contacts_free(frame_contacts *found);

/* One file of averaged fields (out/fields/NAME/NNNNNN.hdf). */
typedef struct frame_average {
  double time;                  /* s: end of its interval */
  double origin[3], spacing[3]; /* m: middle of the first cell, edges */
  size_t n[3], cells;           /* cells: their product */
  char grid[FRAME_NAME_BYTES];  /* rz, plane or box */
  char plane[FRAME_NAME_BYTES]; /* of a plane: yz, xz or xy; it has one cell across */
  double *count;
  double *velocity;    /* 3: m/s; NULL: not recorded */
  double *temperature; /* J; NULL: not recorded */
} frame_average;

bool frame_average_read(const char *path, frame_average *found, char *why, size_t size);
void frame_average_free(frame_average *found);

/* ---- between frame_guard.c and frame_read.c, where HDF5 is ----------------------------------- */

/* The same in this process: after a failure they may leak memory. */
bool frame_parse(const char *path, frame *found, char *why, size_t size);
bool frame_parse_time(const char *path, double *time, char *why, size_t size);
bool frame_parse_average(const char *path, frame_average *found, char *why, size_t size);
bool frame_parse_contacts(const char *path, frame_contacts *found, char *why, size_t size);

#endif
