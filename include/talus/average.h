/* talus: fields averaged over the cells of a grid and over time.
 *
 *   talus_average_def def = talus_average_def_default();
 *   def.grid = TALUS_GRID_RZ, def.box.hi = (talus_dvec3){10, 0, 64};
 *   def.cells[0] = 20, def.cells[2] = 128;
 *   def.record = TALUS_AVERAGE_DENSITY | TALUS_AVERAGE_VELOCITY;
 *   uint32_t average;
 *   if (talus_world_add_average(world, &def, &average) != TALUS_OK) puts(talus_last_error());
 *   talus_world_step(world, 1000);
 *   talus_average_values values;
 *   talus_average_read(world, average, &values);
 *
 * Every step adds the free bodies whose centre is in a cell, weighted with the length of the step,
 * and what contacts gave them. docs/theory/fields.md has the formulas. */
#ifndef TALUS_AVERAGE_H
#define TALUS_AVERAGE_H

#include <talus/talus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- averages ------------------------------------------------------------------------------ */

typedef enum talus_grid_kind {
  TALUS_GRID_RZ,    /* rings about an axis parallel to z */
  TALUS_GRID_PLANE, /* one layer of cells, as thick as the box */
  TALUS_GRID_BOX
} talus_grid_kind;

/* What is recorded: bits. */
enum {
  TALUS_AVERAGE_DENSITY = 1,     /* kg/m3, and bodies per m3 */
  TALUS_AVERAGE_VELOCITY = 2,    /* m/s, of the mass */
  TALUS_AVERAGE_ANGLE = 4,       /* rad, of that velocity */
  TALUS_AVERAGE_TEMPERATURE = 8, /* J: k_B T of the motion of centres about that velocity */
  TALUS_AVERAGE_PRESSURE = 16,   /* Pa: of motion, of contacts, and both */
  TALUS_AVERAGE_CURL = 32,       /* 1/s, of the velocity */
  TALUS_AVERAGE_DIVERGENCE = 64, /* 1/s, likewise */
  TALUS_AVERAGE_WALL = 128       /* Pa, N: on each segment of a revolved wall */
};

typedef struct talus_average_def {
  const char *name; /* NULL: none; otherwise unique among averages */
  talus_grid_kind grid;
  talus_box box;     /* m; RZ: x is the distance from the axis, from 0 on, and y is not used */
  double axis[2];    /* RZ: x and y of the axis */
  uint32_t across;   /* PLANE: 0, 1 or 2: x, y or z is the axis that has one cell */
  uint32_t cells[3]; /* along x (RZ: r), y and z; 1 along y (RZ) and across the plane */
  uint32_t record;   /* TALUS_AVERAGE_... */
  talus_body wall;   /* WALL: a body whose shape is revolved */
  /* Hard spheres by events (or with the soft shell): every flight from impact to impact counts with
   * its length, in the cell of its middle, instead of every body at the end of each step. A
   * flight also ends where a zone pushes or reflects the body. */
  bool by_flights;
} talus_average_def;

/* A box of one cell, 1 m long, that records nothing. */
TALUS_API talus_average_def talus_average_def_default(void);

/* Means over [from, to]. Arrays have a number (or as many as told) for each cell, x first, then y,
 * then z; NULL where they are not recorded. Velocity and curl are along x, y, z; on rings along r,
 * azimuth, z. What no body in the cell tells is not a number. */
typedef struct talus_average_values {
  double from, to; /* s */
  uint32_t cells[3];
  const double *count; /* mean number of bodies: always there */
  const double *density, *number_density;
  const double *velocity; /* three for each cell */
  /* In a plane from the axis that maps show to the right to the one upwards, 0 to 2 pi: from x to y
   * (xy), x to z (xz), z to y (yz); on rings from z to r; of a box two for each cell: from x to y,
   * and from z, 0 to pi. */
  const double *angle;
  const double *temperature;
  const double *pressure, *kinetic_pressure, *contact_pressure;
  const double *curl; /* three for each cell; in a plane only the one across it is not 0 */
  const double *divergence;
  size_t segments;             /* of the wall */
  const double *wall_pressure; /* one for each segment */
  const double *wall_force;    /* N, normal, all around */
  const double *wall_profile;  /* four for each segment: z, radius at its begin and at its end, m */
} talus_average_values;

/* *average (may be NULL) is its number, from 0 in the order they are added. Measures from now on.
 * TALUS_ERROR_INVALID where the grid is empty or has more than 2^24 cells, nothing is recorded, or
 * the wall is not revolved, or flights are asked for and there are none; TALUS_ERROR_STALE where it
 * is not there. */
TALUS_API talus_status talus_world_add_average(talus_world *world, const talus_average_def *def,
                                               uint32_t *average);

/* Means since the last call (or since it was added), which end with it. What the pointers lead to
 * stays until the next call for the same average, or until an average is added. */
TALUS_API talus_status talus_average_read(talus_world *world, uint32_t average,
                                          talus_average_values *values);

/* The same to a file for ParaView and for `talus field` (docs/formats.md), where HDF5 is built in.
 * The interval ends also where the file cannot be written. */
TALUS_API talus_status talus_average_write(talus_world *world, uint32_t average, const char *path);

#ifdef __cplusplus
}
#endif

#endif
