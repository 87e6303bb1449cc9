/* Which bodies of a world a talus_selection means. */
#ifndef TL_WORLD_SELECT_H
#define TL_WORLD_SELECT_H

#include <talus/scene.h>

#include "world/world.h"

/* TALUS_ERROR_INVALID if a name, group or material does not exist (the message suggests a similar
 * one), or if the region is invalid. */
talus_status tl_selection_check(const talus_world *world, const talus_selection *selection);

/* The caller has asked for the rows of bodies. */
bool tl_selection_has(const talus_world *world, const talus_selection *selection, uint32_t slot);

#endif
