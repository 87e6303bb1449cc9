/* How deep bodies overlap, and which of them sank into or passed through another one. This only
 * reads contact sets. */
#ifndef TL_CONTACT_DEPTH_H
#define TL_CONTACT_DEPTH_H

#include "contact/contact.h"

/* Half the smallest width of each shape at scale 1, m: the depth at which a body counts as sunk.
 * With bounds over all bodies so far, so that most bodies need not be checked one by one. */
typedef struct tl_widths {
  talus_real *data;
  size_t count, capacity;
  uint64_t seen;         /* uids below this were examined */
  uint32_t statics;      /* free bodies have slots from here on */
  talus_real least;      /* m: smallest half width of a free body */
  talus_real least_ball; /* m: smallest radius of a bounding sphere */
} tl_widths;

/* Adds shapes and bodies that are new since the last call. */
talus_status tl_widths_update(const tl_model *model, tl_widths *widths);

/* Poses of bodies at the end of a step, and how they got there; rows are slots. */
typedef struct tl_passage {
  const talus_dvec3 *position;
  const talus_quat *rotation;
  const talus_vec3 *velocity, *spin;
  double dt;
} tl_passage;

typedef enum tl_sinking { TL_SINKS_NOT, TL_SINKS_DEEP, TL_SINKS_THROUGH } tl_sinking;

/* Whether the free body of a contact, returned in *who, sank: it is deeper in the other than half
 * its own smallest width, or its centre passed through a wall (any bounded body that contacts do
 * not move) within the step. */
tl_sinking tl_contact_find_sinking(const tl_model *model, const tl_widths *widths,
                                   const tl_passage *passage, const tl_contact *c, uint32_t *who);

typedef struct tl_depths {
  double most;     /* m: deepest overlap; 0 if there is none */
  double share;    /* largest overlap over the smaller bounding radius of its pair */
  bool is_suspect; /* some contact has a body that may have sunk */
} tl_depths;

static inline void tl_depths_merge(tl_depths *all, const tl_depths *more) {
  all->most = more->most > all->most ? more->most : all->most;
  all->share = more->share > all->share ? more->share : all->share;
  all->is_suspect = all->is_suspect || more->is_suspect;
}

/* Measures a whole set. The result does not depend on the order, so not on the number of
 * threads. */
talus_status tl_contact_measure(const tl_model *model, const tl_widths *widths,
                                const tl_passage *passage, const tl_contacts *contacts,
                                tl_arena *arena, tl_depths *depths);

#endif
