/* A pair of bodies in the order and form of the table of kinds (private to src/narrow). */
#ifndef TL_NARROW_ORDER_H
#define TL_NARROW_ORDER_H

#include "narrow/narrow.h"

/* Context of pairs; margins by slot. */
typedef struct tl_narrow_scope {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_real *margins;
} tl_narrow_scope;

typedef struct tl_ordered {
  tl_posed first, second;
  talus_dvec3 origin; /* of the points, in world coordinates */
  talus_real margin;
  bool swapped;
} tl_ordered;

tl_ordered tl_order_pair(const tl_narrow_scope *scope, const tl_pair *pair);

void tl_order_write(const tl_pair *pair, talus_dvec3 origin, const tl_point *point,
                    tl_contact *contact);

/* Sorts by features; the points of a pair, whose keys differ. */
void tl_order_sort(tl_contact *contacts, size_t count);

#endif
