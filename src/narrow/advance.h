/* Conservative advancement of a pair along the paths of a step: finds the time until which two
 * bodies are proven to keep a distance (docs/theory/time.md). The narrow phase gives the gap at one
 * time; bounds on the motion (kernels/advance.h) say for how long it suffices; then the gap is
 * found again. */
#ifndef TL_NARROW_ADVANCE_H
#define TL_NARROW_ADVANCE_H

#include "kernels/path.h"
#include "narrow/narrow.h"

typedef struct tl_mover {
  const tl_shape *shape;
  talus_real scale;
  tl_path path; /* of the centre of mass and principal axes, relative to where body a begins */
} tl_mover;

typedef struct tl_advance {
  tl_mover a, b;
  double h;     /* s: length of the paths */
  double floor; /* m: gap to be kept; negative: allowed overlap */
  /* m: smaller motion is not resolved: at the end of the paths the gap may be below the floor by
   * twice this */
  double fine;
  /* if the gap reaches the floor, go on until it is below: the proven gap is then the floor minus
   * `fine`. Otherwise stop there */
  bool goes_on;
} tl_advance;

typedef struct tl_advanced {
  double time;     /* s: the gap is at least the floor until then (minus `fine` with goes_on) */
  bool is_clear;   /* until the end of the paths */
  bool is_lost;    /* gave up before either was proven */
  double least;    /* m: smallest gap seen; DBL_MAX: the bodies were not near */
  double least_at; /* s */
  double gap;      /* m: at `time`, if not is_clear */
  int looks;       /* number of times at which the gap was found */
} tl_advanced;

/* Most such times of a pair before giving up. */
#define TL_ADVANCE_MOST 20000

/* Pairs of kinds that have no contacts are clear. */
tl_advanced tl_advance_pair(const tl_advance *pair);

/* The gap at a time, m, if it is at most `margin`, else DBL_MAX. */
double tl_advance_gap(const tl_advance *pair, double t, double margin);

/* Points of the pair at a time with gaps up to `margin`; by features the nearest `most` of them;
 * relative to body a's position then. */
int tl_advance_points(const tl_advance *pair, double t, double margin, tl_point *out, int most);

/* Bound (m) of how far surfaces can approach within t from the begin, in any direction. */
double tl_advance_motion(const tl_advance *pair, double t);

#endif
