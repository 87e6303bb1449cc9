/* Pairs of spheres, the overwhelming majority of most scenes: which of many meet, and their
 * contacts (private to src/narrow). One of each for an instruction set, and a plain loop that
 * gives the same bits. */
#ifndef TL_NARROW_SPHERES_H
#define TL_NARROW_SPHERES_H

#include "contact/contact.h"

/* What a pair needs of a body, side by side: a line of the cache instead of a look at as many
 * arrays. */
typedef struct tl_sphere_row {
  double x, y, z, radius; /* m; the radius is NaN where the body is not a sphere */
  double margin;
  double vx, vy, vz; /* m/s: loads alone; NaN where more than velocity and gravity moves the body */
} tl_sphere_row;

/* Which contacts are to be followed along their way (swept.h). */
typedef struct tl_sphere_way {
  double h;        /* s; 0: none */
  bool takes_slow; /* those of slow bodies too: margins do not tell how far these move */
} tl_sphere_way;

typedef struct tl_sphere_loops {
  /* Of up to 64 pairs: bit i says that pair i is of two spheres that meet; *others: that it is not
   * of two spheres. */
  uint64_t (*meet)(const tl_sphere_row *rows, const tl_pair *pairs, size_t count, uint64_t *others);
  /* Contacts of pairs of spheres that meet; impulses 0. Bit k of `doubts`, which has a word for 64
   * contacts: tl_swept_pair may change contact k. The plain loop doubts every one with a gap, lanes
   * only those whose velocities do not show that it will not. */
  void (*write)(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                const tl_sphere_way *way, tl_contact *out, uint64_t *doubts);
} tl_sphere_loops;

extern const tl_sphere_loops tl_spheres_plain, tl_spheres_generic, tl_spheres_avx2,
    tl_spheres_avx512;

/* For tests: the plain loops wherever it runs. */
extern bool tl_spheres_plain_of_tests;

const tl_sphere_loops *tl_spheres_loops(void);

/* Rows by slot, of all bodies (arena). NULL where pairs are too few beside the bodies to pay for
 * it, or are looked at in periodic images. */
talus_status tl_spheres_take(const tl_crowd *crowd, size_t pairs, const talus_real *margins,
                             tl_sphere_row **rows);

#endif
