/* Which bodies of a world a talus_selection means. */
#ifndef TL_WORLD_SELECT_H
#define TL_WORLD_SELECT_H

#include <talus/scene.h>

#include "world/world.h"

/* TALUS_ERROR_INVALID where a name, group or material is that of nobody, with the one that may be
 * meant, or where the region makes no sense. */
talus_status tl_selection_check(const talus_world *world, const talus_selection *selection);

/* Who calls has asked for the rows of bodies. */
bool tl_selection_has(const talus_world *world, const talus_selection *selection, uint32_t slot);

#endif
