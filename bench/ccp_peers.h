/* The same heap in other programs: what the files of the table `peers` share.
 *
 * A trial runs the heap in one program with one step for a while to come to rest, and for a while
 * that is measured: every program begins without contact forces, so that the weight comes upon the
 * heap all at once and it swings (a wave passes a heap of 20,000 some ten times in a second), and
 * the mean force is what is left when that has died down, not a part of a swing. It passes if no
 * two spheres (and no sphere and wall) overlap by more than 1 % of the diameter in the end and the
 * mean force on the box is the weight to 1 %. The common measure is simulated seconds per wall
 * second. */
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
  double overlap;    /* of the diameter */
  double base_error; /* of the weight */
  double residual;   /* RMS, m/s; NAN where unknown */
  long steps;
} peer_trial;

#define PEER_OVERLAP_MOST 0.01
#define PEER_FORCE_MOST   0.01

bool peer_passes(const peer_trial *trial);

/* False where the program failed, which is a trial that does not pass. dt and setting are set. */
typedef bool peer_run_fn(const ccp_bench *bench, const peer_heap *heap, peer_trial *trial);
peer_run_fn peer_run_talus, peer_run_lammps_hooke, peer_run_lammps_hertz, peer_run_liggghts,
    peer_run_bullet;

/* A folder for a heap's files, and its end. */
bool peer_make_folder(peer_heap *heap);
void peer_remove_folder(const peer_heap *heap);

/* Whether the program is there. */
bool peer_has_program(const char *name);
bool peer_has_bullet(const ccp_bench *bench);

/* The deepest overlap of two spheres or of a sphere and a wall, over the diameter. */
bool peer_overlap(const peer_heap *heap, const double *x, double *deepest);

/* Starts a program in the heap's folder, its output into `out.txt` there, and waits; false where it
 * failed or took longer than `patience` seconds. arguments end with NULL. */
bool peer_execute(const peer_heap *heap, char *const *arguments, double patience);

/* Centres of final.txt, in whatever order, heap->count at most; how many there were. */
size_t peer_read_centres(const peer_heap *heap, double *x);

/* What programs leave behind: out.txt with lines `talus_vcm V` before and after the measured run,
 * and `Loop time of S`; final.txt with a line beginning `ITEM: ATOMS` and then x y z. */
bool peer_read_result(const peer_heap *heap, peer_trial *trial);

#endif
