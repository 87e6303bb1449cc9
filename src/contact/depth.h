/* How deep bodies overlap, and which of them sank into or passed through another one. This only
 * reads contact sets. */
#ifndef TL_CONTACT_DEPTH_H
#define TL_CONTACT_DEPTH_H

#include "contact/contact.h"

/* Half the smallest width of each shape at scale 1, m: the depth at which a body counts as sunk.
 * And bounds over all bodies so far, with which most bodies need not be checked one by one. */
typedef struct tl_widths {
  talus_real *data;
  size_t count, capacity;
  uint64_t seen;         /* uids below this were looked at */
  uint32_t statics;      /* slots from here on are of free bodies */
  talus_real least;      /* m: least half width of a free body */
  talus_real least_ball; /* m: least radius of a bounding sphere */
} tl_widths;

/* Takes in shapes and bodies that were added since the last call. */
talus_status tl_widths_update(const tl_model *model, tl_widths *widths);

/* Where bodies are at the end of a step, and how they came there; rows are slots. */
typedef struct tl_passage {
  const talus_dvec3 *position;
  const talus_quat *rotation;
  const talus_vec3 *velocity, *spin;
  double dt;
} tl_passage;

typedef enum tl_sinking { TL_SINKS_NOT, TL_SINKS_DEEP, TL_SINKS_THROUGH } tl_sinking;

/* What became of the free body of a contact, which goes to *who: it is deeper in the other than
 * half its own least width, or its centre went through a wall (any body that contacts do not move)
 * within the step. */
tl_sinking tl_contact_find_sinking(const tl_model *model, const tl_widths *widths,
                                   const tl_passage *passage, const tl_contact *c, uint32_t *who);

typedef struct tl_depths {
  double most;     /* m: of the deepest overlap; 0 where there is none */
  double share;    /* the largest share of the smaller bounding radius of the two */
  bool is_suspect; /* some contact has a body that sinks */
} tl_depths;

static inline void tl_depths_merge(tl_depths *all, const tl_depths *more) {
  all->most = more->most > all->most ? more->most : all->most;
  all->share = more->share > all->share ? more->share : all->share;
  all->is_suspect = all->is_suspect || more->is_suspect;
}

/* Of a whole set; the same in any order, so for any number of threads. */
talus_status tl_contact_measure(const tl_model *model, const tl_widths *widths,
                                const tl_passage *passage, const tl_contacts *contacts,
                                tl_arena *arena, tl_depths *depths);

#endif
