/* Pairs of spheres, which are almost all pairs of most scenes: which of many have contacts, and the
 * contacts (private to src/narrow). There is a version for each instruction set, and a plain loop
 * with the same bits. */
#ifndef TL_NARROW_SPHERES_H
#define TL_NARROW_SPHERES_H

#include "contact/contact.h"

/* Data of a body for pairs, side by side: one cache line instead of several arrays. */
typedef struct tl_sphere_row {
  double x, y, z, radius; /* m; the radius is NaN where the body is not a sphere */
  double margin;
  /* m/s: velocity with loads alone; NaN if more than velocity and gravity moves the body */
  double vx, vy, vz;
} tl_sphere_row;

/* Which contacts must be followed along their path (swept.h). */
typedef struct tl_sphere_way {
  double h;        /* s; 0: none */
  bool takes_slow; /* also those of slow bodies, whose margins do not bound their displacement */
} tl_sphere_way;

/* How the contacts of a crowd whose bodies strike each other are judged (contact/reach.h). */
typedef struct tl_sphere_reach {
  double h;           /* s; 0: they are not judged, or not by velocities alone */
  double slow, slack; /* m/s, m */
} tl_sphere_reach;

/* Results for up to 64 pairs; bit i is of pair i. */
typedef struct tl_sphere_word {
  uint64_t meets;  /* two spheres with a contact */
  uint64_t others; /* not two spheres */
  uint64_t far;    /* with a contact, but so far apart that only spins may bring them together */
  size_t strikes;  /* number of pairs that will certainly strike */
} tl_sphere_word;

typedef struct tl_sphere_loops {
  /* The plain loop marks no pair as far and counts no strikes. */
  void (*meet)(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
               const tl_sphere_reach *reach, tl_sphere_word *word);
  /* Writes the contacts of pairs of spheres that have one; impulses 0. Bit k of `doubts`, which has
   * a word for 64 contacts, is set if tl_swept_pair may change contact k. The plain loop sets it
   * for every contact with a gap; lanes only if velocities do not exclude a change. */
  void (*write)(const tl_sphere_row *rows, const tl_pair *pairs, size_t count,
                const tl_sphere_way *way, tl_contact *out, uint64_t *doubts);
} tl_sphere_loops;

extern const tl_sphere_loops tl_spheres_plain, tl_spheres_generic, tl_spheres_avx2,
    tl_spheres_avx512;

/* For tests: uses the plain loops everywhere. */
extern bool tl_spheres_plain_of_tests;

const tl_sphere_loops *tl_spheres_loops(void);

/* How contacts of the crowd are judged; h is 0 with bonds, joints, sleep or dilation. */
tl_sphere_reach tl_spheres_reach(const tl_crowd *crowd);

/* True if a contact of the pair, which is `far`, will certainly be removed when so many bodies
 * strike each other that pushes are not followed. */
bool tl_spheres_are_apart(const tl_crowd *crowd, const tl_sphere_row *rows,
                          const tl_sphere_reach *reach, tl_pair pair);

/* Rows by slot, of all bodies (arena). NULL if there are too few pairs per body to pay for them, or
 * if pairs are tested in periodic images. */
talus_status tl_spheres_take(const tl_crowd *crowd, size_t pairs, const talus_real *margins,
                             tl_sphere_row **rows);

#endif
