/* Round numbers along an axis, for plots and colour bars. */
#ifndef CLI_TICKS_H
#define CLI_TICKS_H

#include <stddef.h>

typedef struct ticks {
  double first, step; /* first: the smallest multiple of the step in the range */
  int count;
  int decimals; /* after the point, enough to distinguish them; < 0: minus the digits of %g */
} ticks;

/* Multiples of 1, 2 or 5 times a power of ten within low ... high, about `wanted` of them. */
ticks ticks_of(double low, double high, int wanted);
double ticks_at(const ticks *marks, int i);
/* The number of tick i as text. */
const char *ticks_text(const ticks *marks, int i, char *text, size_t size);

#endif
