#include "ticks.h"

#include <math.h>
#include <stdio.h>

ticks ticks_of(double low, double high, int wanted) {
  ticks marks = {low, 1, 1, 0};
  const double span = high - low;
  if (!isfinite(span) || !(span > 0) || wanted < 1)
    return marks;
  const double power = pow(10, floor(log10(span / wanted))), digit = span / wanted / power;
  marks.step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  const double slack = 1e-9 * span;
  marks.first = ceil((low - slack) / marks.step) * marks.step;
  marks.count = (int)floor((high + slack - marks.first) / marks.step) + 1;
  marks.decimals = marks.step < 1 ? (int)ceil(-log10(marks.step) - 1e-9) : 0;
  const double most = fmax(fabs(low), fabs(high));
  if (most >= 1e6 || marks.decimals > 4)
    marks.decimals = -(int)fmax(1, fmin(15, ceil(log10(most / marks.step)) + 1));
  return marks;
}

double ticks_at(const ticks *marks, int i) {
  const double value = marks->first + i * marks->step;
  return fabs(value) < 1e-6 * marks->step ? 0 : value;
}

const char *ticks_text(const ticks *marks, int i, char *text, size_t size) {
  if (marks->decimals >= 0)
    snprintf(text, size, "%.*f", marks->decimals, ticks_at(marks, i));
  else
    snprintf(text, size, "%.*g", -marks->decimals, ticks_at(marks, i));
  return text;
}
