/* Bodies of another world (scene/from.h has the call): what its parts share. */
#ifndef TL_WORLD_BORROW_H
#define TL_WORLD_BORROW_H

#include "world/world.h"

typedef struct tl_taken {
  TL_ARRAY(uint32_t) slots; /* of the new world, by slot of the old one; TL_NONE: not taken */
  bool is_all;              /* all of the old world, and the new one had nobody */
  bool is_changed;          /* somebody is other than before */
} tl_taken;

/* Takes over the contacts between taken bodies, with impulses and springs, and who sleeps; and the
 * forces of springs if nothing else changed. */
talus_status tl_world_borrow_contacts(talus_world *world, const talus_world *old,
                                      const tl_taken *taken);

#endif
