/* talus field: velocities on a grid in a plane, from a frame, from averages or from a picture. */
#ifndef CLI_FIELD_H
#define CLI_FIELD_H

#include "flat.h"

#define FIELD_CELLS_MOST 4000000

/* Rows from the bottom; NAN in cells without bodies. For a picture lengths are pixels, unless it
 * has bounds, and vectors are directions of length 1. */
typedef struct field {
  flat_plane plane;
  size_t columns, rows;
  double origin[2], cell[2]; /* middle of the first cell; edges; to the right, upwards */
  double *count;             /* bodies, or pixels, by cell */
  double *right, *up;        /* m/s: mean velocity in the plane */
  double *across;            /* perpendicular to the plane; NULL: not known */
  double *temperature;       /* kT/m, m2/s2, or in the unit of the averages; NULL: not known */
  bool is_picture;
  bool is_rz; /* to the right is z, upwards is the distance from the axis */
} field;

/* "z", "y", or "r". */
const char *field_axis_name(const field *of, int axis);

#define FIELD_RANGES 16

/* The vectors of a field that are kept. */
typedef struct field_filter {
  /* degrees: from the first to the second, across 360 if necessary */
  double angle[FIELD_RANGES][2];
  size_t ranges; /* 0: all */
  int component; /* axis of the component that vectors keep; -1: all components */
} field_filter;

/* False if memory is missing, or the grid has more than FIELD_CELLS_MOST cells. */
bool field_make(field *made, bool is_picture);

/* Reports why field_make failed, and returns the exit code. */
int field_refuse(const field *made);
void field_free(field *made);

bool field_angle_is_kept(const field_filter *filter, double degrees);
void field_apply(field *made, const field_filter *filter);

/* field_frame.c, field_image.c, field_average.c: exit codes, after a message unless CLI_DONE. cell:
 * m. pixels: edge of a cell. */
int field_of_frame(const char *folder, const char *number, double time, double cell, field *made);
int field_of_image(const char *path, int pixels, field *made);
int field_of_average(const char *folder, const char *name, const char *number, double time,
                     field *made);

/* field_write.c, field_svg.c */
int field_write_csv(const char *path, const field *from);
int field_write_hdf(const char *path, const field *from);
int field_write_svg(const char *path, const field *from);

/* field_wheel.c: what colours mean. angles: degrees, "30,330". */
int field_write_wheels(const char *path, const char *angles);

#endif
