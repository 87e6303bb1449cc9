/* A pair of bodies as the table of kinds wants it (private to src/narrow). */
#ifndef TL_NARROW_ORDER_H
#define TL_NARROW_ORDER_H

#include "narrow/narrow.h"

/* Where pairs are: margins by slot. */
typedef struct tl_narrow_scope {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_real *margins;
} tl_narrow_scope;

typedef struct tl_ordered {
  tl_posed first, second;
  talus_dvec3 origin; /* of the points, in the world */
  talus_real margin;
  bool swapped;
} tl_ordered;

tl_ordered tl_order_pair(const tl_narrow_scope *scope, const tl_pair *pair);

void tl_order_write(const tl_pair *pair, talus_dvec3 origin, const tl_point *point,
                    tl_contact *contact);

/* Ascending by features; those of a pair, each key once. */
void tl_order_sort(tl_contact *contacts, size_t count);

#endif
