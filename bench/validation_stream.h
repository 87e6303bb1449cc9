/* Streams of hard spheres, event by event: shared by their cases. Masses are 1. */
#ifndef BENCH_VALIDATION_STREAM_H
#define BENCH_VALIDATION_STREAM_H

#include "validation.h"

/* False, and the run has failed, if the call failed. */
bool stream_did(val_run *run, talus_status status);

/* An empty world with a wall; *ball is what fills and emitters are to copy. */
void stream_world(val_run *run, double dt, const double *profile, size_t points, double radius,
                  talus_body_def *ball);
/* Adds that number of balls inside a cylinder about z. thermal: sqrt(kT/m), m/s. */
void stream_fill(val_run *run, const talus_body_def *ball, double radius, double low, double high,
                 uint64_t count, double thermal);
/* An inlet with Maxwell's flux through a disc; rate 0: only balls that sinks send back. */
void stream_inlet(val_run *run, const talus_body_def *ball, double z, double radius, double rate,
                  double until, double thermal);
/* Balls that sinks send back, anywhere inside a cylinder about z. */
void stream_source(val_run *run, const talus_body_def *ball, double radius, double low, double high,
                   double thermal);
void stream_sink(val_run *run, const char *name, double low, double high, bool recycle);
/* Balls that left since the last call: their number; the sum of their energies is added to
 * *energy. */
size_t stream_take_left(val_run *run, double *energy);
/* The same of one sink alone (0: the first that was added); the others are forgotten. */
#define STREAM_ANY UINT32_MAX
size_t stream_take_through(val_run *run, uint32_t sink, double *energy);

/* Sums over bodies with rho < radius and z in (low, high), over several measurements. */
typedef struct stream_gauge {
  double radius, low, high;
  double looks, count, speed, square; /* speed: along z */
} stream_gauge;

void stream_look(val_run *run, stream_gauge *gauges, int n);
double gauge_density(const stream_gauge *g);
double gauge_speed(const stream_gauge *g);
double gauge_heat(const stream_gauge *g); /* kT/m, m2/s2 */

#endif
