/* Bodies of another world (scene/from.h has the call): what its parts share. */
#ifndef TL_WORLD_BORROW_H
#define TL_WORLD_BORROW_H

#include "world/world.h"

typedef struct tl_taken {
  TL_ARRAY(uint32_t) slots; /* of the new world, by slot of the old one; TL_NONE: not taken */
  bool is_all;              /* all of the old world, and the new one had nobody */
  bool is_changed;          /* somebody is other than before */
} tl_taken;

/* Contacts among those that were taken, with their impulses and springs; who sleeps sleeps on; and
 * where all is as it was, the forces of springs. */
talus_status tl_world_borrow_contacts(talus_world *world, const talus_world *old,
                                      const tl_taken *taken);

#endif
