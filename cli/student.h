/* Intervals of means by Student's distribution. */
#ifndef CLI_STUDENT_H
#define CLI_STUDENT_H

#include <stddef.h>

/* The 97.5 % point for 1, 2, ... degrees of freedom; INFINITY for none. */
double student_point(size_t freedom);

/* The mean of n values and half of its 95 % interval; the mean is NAN for n = 0, the interval for n
 * < 2. */
typedef struct student_mean {
  double mean, half;
  size_t n;
} student_mean;

student_mean student_of(const double *values, size_t n);

#endif
