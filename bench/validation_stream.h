/* Streams of hard spheres, event by event: what their cases share. Masses are 1. */
#ifndef BENCH_VALIDATION_STREAM_H
#define BENCH_VALIDATION_STREAM_H

#include "validation.h"

/* False, and the run has failed, where the call did. */
bool stream_did(val_run *run, talus_status status);

/* An empty world with a wall; *ball is what fills and emitters are to copy. */
void stream_world(val_run *run, double dt, const double *profile, size_t points, double radius,
                  talus_body_def *ball);
/* So many within a cylinder about z. thermal: sqrt(kT/m), m/s. */
void stream_fill(val_run *run, const talus_body_def *ball, double radius, double low, double high,
                 uint64_t count, double thermal);
/* Maxwell's flux through a disc; rate 0: what sinks send back. */
void stream_inlet(val_run *run, const talus_body_def *ball, double z, double radius, double rate,
                  double until, double thermal);
/* What sinks send back, anywhere within a cylinder about z. */
void stream_source(val_run *run, const talus_body_def *ball, double radius, double low, double high,
                   double thermal);
void stream_sink(val_run *run, const char *name, double low, double high, bool recycle);
/* Those that left since the last call: how many; the sum of their energies is added to *energy. */
size_t stream_take_left(val_run *run, double *energy);

/* Sums over bodies with rho < radius and z in (low, high), over several looks. */
typedef struct stream_gauge {
  double radius, low, high;
  double looks, count, speed, square; /* speed: along z */
} stream_gauge;

void stream_look(val_run *run, stream_gauge *gauges, int n);
double gauge_density(const stream_gauge *g);
double gauge_speed(const stream_gauge *g);
double gauge_heat(const stream_gauge *g); /* kT/m, m2/s2 */

#endif
