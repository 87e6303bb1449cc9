/* Conservative advancement of a pair along the paths of a step: until when two bodies are proven to
 * keep a distance (docs/theory/time.md). The narrow phase gives the gap at a moment; bounds on the
 * motion (kernels/advance.h) say how long it lasts; then it is looked at again. */
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
  double floor; /* m: gap that they are to keep; negative: overlap that is allowed */
  double fine;  /* m: motion below which nothing is told apart: at the end of the paths the gap may
                   be below the floor by twice this */
  bool goes_on; /* where the gap is at the floor, until it is below: what is proven is then the
                   floor less `fine`. Otherwise it stops there */
} tl_advance;

typedef struct tl_advanced {
  double time;     /* s: so long the gap is at least the floor (less `fine`, if it goes on) */
  bool is_clear;   /* to the end of the paths */
  bool is_lost;    /* gave up before it was proven either way */
  double least;    /* m: smallest gap that was seen; DBL_MAX: none was near */
  double least_at; /* s */
  double gap;      /* m: at `time`, where it is not clear */
  int looks;       /* at a moment */
} tl_advanced;

/* Looks at one pair after which it is given up. */
#define TL_ADVANCE_MOST 20000

/* Pairs of kinds that do not meet are clear. */
tl_advanced tl_advance_pair(const tl_advance *pair);

/* The gap at a moment, m, where it is at most `margin`; DBL_MAX: it is not. */
double tl_advance_gap(const tl_advance *pair, double t, double margin);

/* Points of the pair at a moment with gaps up to `margin`, the nearest `most` of them by features,
 * from where body a is then. */
int tl_advance_points(const tl_advance *pair, double t, double margin, tl_point *out, int most);

/* How far surfaces can come closer within t from the begin, whatever their directions, m. */
double tl_advance_motion(const tl_advance *pair, double t);

#endif
