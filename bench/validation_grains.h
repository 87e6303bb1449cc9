/* Crowds of grains: what the statistical cases share. */
#ifndef BENCH_VALIDATION_GRAINS_H
#define BENCH_VALIDATION_GRAINS_H

#include "validation_cases.h"

#define GRAIN_RADIUS   0.005 /* m */
#define GRAIN          (2 * GRAIN_RADIUS)
#define GRAIN_DENSITY  2500.0
#define GRAIN_VOLUME   (4.18879020478639 * GRAIN_RADIUS * GRAIN_RADIUS * GRAIN_RADIUS)
#define GRAINS_LOOSELY 0.3 /* share of space that fills can reach quickly */

/* A copy of where bodies are; the first ones, which are no grains, left out. */
typedef struct val_grains {
  size_t count;
  double *x;      /* 3 for each: centres */
  double *radius; /* of spheres */
} val_grains;

val_grains val_grains_read(val_run *run, size_t skip);
void val_grains_free(val_grains *grains);
/* The same grains again, at rest, in another world. */
void val_grains_add(val_run *run, const val_grains *grains, const talus_body_def *like);

/* N/m, of springs of the world as it is: 1,200 at 0.1 ms, 0.8 (with rolling resistance 0.9) of the
 * critical step of the lightest grain with twelve neighbours and their dashpots. What `auto` takes
 * keeps to 0.4 of it, which makes 80 N/m at 0.2 ms: far too soft for a silo, which then lost 40 %
 * more grains than rigid ones. */
double val_crowd_stiffness(const val_run *run);

/* Spheres of GRAIN_RADIUS, 0.9 to 1.1 times as large, of a material of that friction. */
talus_body_def val_grain(val_run *run, double friction);
/* So many of them at random in a box, by the run's seed; fewer (a tenth) in a quick run. */
void val_fill(val_run *run, const talus_body_def *like, double count, talus_box box);
void val_fill_region(val_run *run, const talus_body_def *like, double count,
                     const talus_region *in);
/* Fewer in a quick run. */
double val_share(const val_run *run, double count);
double val_seconds(const val_run *run, double seconds);

/* A board: a fixed box of those edges with its centre there. */
talus_body val_board(val_run *run, talus_material material, double lx, double ly, double lz,
                     double x, double y, double z);
/* A tube open at both ends, as wide as a grain-tight ring of `staves` boards of inner radius r
 * around the z axis (y where `lies`), with that motion; of the given length, centred at z. */
void val_ring(val_run *run, talus_material material, int staves, double r, double length, double z,
              bool lies, const talus_motion *motion);
void val_sink_below(val_run *run, double z);
void val_remove(val_run *run, talus_body body);

/* Slope of the free surface, degrees, of grains with x from `from` to `to`: a line through the
 * highest grain of each strip. */
double val_slope(const val_grains *grains, double from, double to, double strip);

/* ---- the slot of the cases about the angle of repose ----------------------------------------- */

#define SLOT_LENGTH 0.32 /* m */
#define SLOT_DEPTH  0.06 /* m, periodic */

typedef struct val_slot {
  talus_body door;
  size_t walls, glued; /* bodies before the grains: two walls, the second is the door */
} val_slot;

val_slot val_slot_settle(val_run *run, double mu);
/* The door goes; degrees so many seconds later. */
double val_slot_release(val_run *run, const val_slot *slot, double seconds);
double val_slot_angle(const val_grains *grains);

/* ---- the silo of the cases about flow -------------------------------------------------------- */

#define SILO      0.16        /* m, side of the square silo */
#define SILO_HOLE (6 * GRAIN) /* side of its square hole, in boards of a grain */
#define SILO_SINK (-0.05)     /* below this height a grain is out */

/* Grains at rest in the silo, half as many as in `beverloo`, its hole of six grains plugged. */
val_grains val_silo_settle(val_run *run, double dt);
/* The plug is gone, nothing has moved; the report's `removed` counts. */
void val_silo_open(val_run *run, double dt, const val_grains *settled);
/* The plug goes: mass flow of those grains, kg/s, once it is steady. */
double val_silo_flow(val_run *run, double dt, const val_grains *settled);

#endif
