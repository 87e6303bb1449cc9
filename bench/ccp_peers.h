/* The same heap in other programs: shared by the files of the table `peers`.
 *
 * A trial runs the heap in one program with one step: first until it is at rest, then for the
 * measurement. Every program begins without contact forces, so the weight acts on the heap at once
 * and the heap oscillates (a wave passes a heap of 20,000 about ten times in a second); the mean
 * force is measured after that has died down. The trial passes if finally no two spheres (and no
 * sphere and wall) overlap by more than 1 % of the diameter, and the mean force on the box is the
 * weight within 1 %. The common measure is simulated seconds per wall second. */
#ifndef BENCH_CCP_PEERS_H
#define BENCH_CCP_PEERS_H

#include "ccp.h"

/* Centres of spheres, in a box of [-side/2, side/2]^2 with its floor at 0. */
typedef struct peer_heap {
  size_t count;
  double side;
  double *x; /* 3 each */
  char folder[512];
  int threads;               /* or ranks */
  double settling, measured; /* s */
} peer_heap;

typedef struct peer_trial {
  double dt;
  int setting;       /* sweeps of a step; of penalty methods: steps per collision */
  double simulated;  /* s per wall second; 0: did not run */
  double overlap;    /* over the diameter */
  double base_error; /* relative to the weight */
  double residual;   /* RMS, m/s; NAN where unknown */
  long steps;
} peer_trial;

#define PEER_OVERLAP_MOST 0.01
#define PEER_FORCE_MOST   0.01

bool peer_passes(const peer_trial *trial);

/* False if the program failed, which is a trial that does not pass. dt and setting are given. */
typedef bool peer_run_fn(const ccp_bench *bench, const peer_heap *heap, peer_trial *trial);
peer_run_fn peer_run_talus, peer_run_lammps_hooke, peer_run_lammps_hertz, peer_run_liggghts,
    peer_run_bullet;

/* Makes a folder for a heap's files; removes it. */
bool peer_make_folder(peer_heap *heap);
void peer_remove_folder(const peer_heap *heap);

/* True if the program is installed. */
bool peer_has_program(const char *name);
bool peer_has_bullet(const ccp_bench *bench);

/* The deepest overlap of two spheres or of a sphere and a wall, over the diameter. */
bool peer_overlap(const peer_heap *heap, const double *x, double *deepest);

/* Starts a program in the heap's folder with its output in `out.txt`, and waits; false if it failed
 * or took longer than `patience` seconds. arguments end with NULL. */
bool peer_execute(const peer_heap *heap, char *const *arguments, double patience);

/* Reads the centres of final.txt in any order, at most heap->count; returns their number in the
 * file. */
size_t peer_read_centres(const peer_heap *heap, double *x);

/* Reads the output of a program: out.txt with lines `talus_vcm V` before and after the measured
 * run, and `Loop time of S`; final.txt with a line that begins with `ITEM: ATOMS`, then x y z. */
bool peer_read_result(const peer_heap *heap, peer_trial *trial);

#endif
