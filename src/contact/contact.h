/* The contact set: what the narrow phase finds, the solver fills with impulses, and the next step
 * starts from. In canonical order: by uid of a, uid of b, feature of a, feature of b. */
#ifndef TL_CONTACT_CONTACT_H
#define TL_CONTACT_CONTACT_H

#include "crowd/scope.h"

typedef struct tl_contact {
  uint32_t a, b; /* slots; uid[a] < uid[b] */
  uint32_t feature_a, feature_b;
  talus_dvec3 point;  /* midway between the surfaces, in the periodic image of body a */
  talus_vec3 normal;  /* unit, from a to b */
  talus_real gap;     /* m, negative when penetrating */
  talus_vec3 impulse; /* N s on b, as the solver found it: tl_contacts_impulse has all */
} tl_contact;

/* What a contact remembers from step to step where materials have more laws than friction and
 * restitution (tl_model.law_kinds). */
enum {
  TL_TOUCH_STUCK = 1,  /* pressed together, and friction held it */
  TL_TOUCH_SLID = 2,   /* pressed together, and friction could not hold it */
  TL_TOUCH_BONDED = 4, /* cohesion pulled, or they touched; that of one point is that of its pair */
  TL_TOUCH_STATES = 8
};

typedef struct tl_touch {
  talus_vec3 torque; /* N m s on b, against rolling and spinning */
  uint32_t state;    /* TL_TOUCH_... */
} tl_touch;

/* What a spring remembers (penalty; kernels/penalty.h). */
typedef struct tl_spring {
  talus_vec3 slip;      /* m, tangential: how far b was pushed along a while it stuck */
  talus_real stiffness; /* N/m, tangential, of the last step; negative where it slid; 0: none yet */
  talus_vec3 turn;      /* rad, tangential: how far b was rolled against a */
  talus_real spin;      /* rad: the same about the normal */
} tl_spring;

typedef struct tl_contacts {
  tl_contact *data;
  size_t count, capacity;
  size_t recent; /* most of the counts of the last `steps` steps */
  int steps;
  TL_ARRAY(tl_touch) touches;  /* of contact i; counts only where there are as many as contacts */
  TL_ARRAY(tl_spring) springs; /* likewise, with penalty alone */
  TL_ARRAY(talus_vec3)
  hits; /* likewise, N s on b: of impacts (solve/impact/impact.h), which the next step
           does not start from; not saved */
} tl_contacts;

static inline bool tl_contacts_have_springs(const tl_contacts *contacts) {
  return contacts->count > 0 && contacts->springs.count == contacts->count;
}

static inline bool tl_contacts_have_touches(const tl_contacts *contacts) {
  return contacts->count > 0 && contacts->touches.count == contacts->count;
}

/* All that contact i gave to b in the last step, N s. */
static inline talus_vec3 tl_contacts_impulse(const tl_contacts *contacts, size_t i) {
  const talus_vec3 p = contacts->data[i].impulse;
  return contacts->hits.count == contacts->count ? tl_add(p, contacts->hits.data[i]) : p;
}

/* Nothing touches, and nothing is remembered. */
static inline void tl_contacts_clear(tl_contacts *contacts) {
  contacts->count = contacts->touches.count = contacts->springs.count = 0;
  contacts->hits.count = 0;
}

static inline void tl_contacts_release(tl_contacts *contacts) {
  tl_array_free(contacts);
  tl_array_free(&contacts->touches);
  tl_array_free(&contacts->springs);
  tl_array_free(&contacts->hits);
}

/* Before a set is found anew: gives back room that TL_ARENA_MEMORY steps did not need, as the arena
 * does: an impact has a quarter more contacts than the heap that comes of it. */
talus_status tl_contacts_trim(tl_contacts *contacts);

/* Where the key (slots a, b and their features) stands to that of a contact in canonical order:
 * negative before it, zero the same, positive behind it. */
static inline int tl_contact_compare(uint32_t a, uint32_t b, uint32_t feature_a, uint32_t feature_b,
                                     const tl_contact *c) {
  if (a != c->a)
    return a < c->a ? -1 : 1;
  if (b != c->b)
    return b < c->b ? -1 : 1;
  if (feature_a != c->feature_a)
    return feature_a < c->feature_a ? -1 : 1;
  if (feature_b != c->feature_b)
    return feature_b < c->feature_b ? -1 : 1;
  return 0;
}

/* What of a contact set the next step needs: keys and impulses, in canonical order. */
typedef struct tl_carried {
  uint32_t a, b, feature_a, feature_b;
  talus_vec3 impulse;
} tl_carried;

typedef struct tl_carry {
  tl_carried *data; /* in the arena */
  size_t count;
} tl_carry;

/* Copies keys and impulses of the set into the arena, so that the set can be overwritten. */
talus_status tl_contact_take_carry(const tl_model *model, const tl_scope *scope,
                                   const tl_contacts *contacts, tl_carry *carry);

/* Sets impulse of each contact to that of the same key in the carry, 0 where there is none. */
void tl_contact_carry_over(const tl_model *model, const tl_carry *carry, tl_contacts *contacts);

/* Touches with their keys, in canonical order; likewise in the arena. */
typedef struct tl_touched {
  uint32_t a, b, feature_a, feature_b;
  tl_touch touch;
} tl_touched;

typedef struct tl_touches {
  tl_touched *data;
  size_t count;
} tl_touches;

/* Copies what the contacts remember, and gives it to those of the same keys in the next set; there
 * is nothing to do where the model has no such laws. */
talus_status tl_contact_take_touches(const tl_scope *scope, const tl_contacts *contacts,
                                     tl_touches *touches);
talus_status tl_contact_lay_touches(const tl_model *model, const tl_touches *touches,
                                    tl_contacts *contacts);

/* Springs with their keys, likewise (penalty; nothing to do with another contact model). */
typedef struct tl_sprung {
  uint32_t a, b, feature_a, feature_b;
  tl_spring spring;
} tl_sprung;

typedef struct tl_springs {
  tl_sprung *data;
  size_t count;
} tl_springs;

talus_status tl_contact_take_springs(const tl_scope *scope, const tl_contacts *contacts,
                                     tl_springs *springs);
talus_status tl_contact_lay_springs(const tl_model *model, const tl_springs *springs,
                                    tl_contacts *contacts);

/* After bodies were removed: renumbers slots, dropping contacts whose new_slot[slot] is TL_NONE. */
void tl_contact_renumber(tl_contacts *contacts, const uint32_t *new_slot);

/* Tiles: bodies cut into groups that lie close together, so that the bodies of one fit a core's own
 * cache while it sweeps over all their contacts. */
typedef struct tl_tiles {
  const uint32_t *of; /* by slot: the tile of a movable body, TL_NONE for one that contacts cannot
                         move; NULL: no tiles, and flags say what is movable */
  size_t count;
} tl_tiles;

/* Colours: sets of contacts of which no two share a body that contacts can move, so that a colour
 * can be worked on by any number of threads and SIMD lanes. A pure function of the ordered set and
 * the tiles: bundles (runs of contacts of one body pair) are coloured greedily, first free colour;
 * the k-th contacts of a colour's bundles then make a colour of their own.
 *
 * Every tile has colours of its own, for the contacts that touch no movable body of another tile:
 * tiles can be worked on at the same time, each by one thread. Behind them come the colours of
 * contacts between tiles. A `serial` colour holds what did not find room, and must be worked on one
 * contact after the other. */
typedef struct tl_colours {
  uint32_t *order; /* contact indices, by colour and within it in canonical order (arena) */
  uint32_t *start; /* count + 1 offsets into order (arena) */
  uint8_t *serial; /* of each colour */
  uint32_t *tile;  /* first colour of each tile, and of those between tiles */
  size_t tiles, count;
} tl_colours;

/* The bodies of a contact in 8 bytes, instead of the line of memory or two that a contact takes:
 * slots, with TL_END_FIXED where contacts cannot move the body. Both TL_NONE: there is no work to
 * do. */
#define TL_END_FIXED 0x80000000u

talus_status tl_contact_colour(const tl_model *model, const tl_scope *scope,
                               const tl_contacts *contacts, tl_tiles tiles, tl_colours *colours);

/* The same for n contacts of the set: `list` has their indices in canonical order, and becomes the
 * order of the colours. ends: of all contacts of the set, where they are known; or NULL. */
talus_status tl_contact_colour_some(const tl_model *model, const tl_scope *scope,
                                    const tl_contacts *contacts, const tl_pair *ends,
                                    uint32_t *list, size_t n, tl_tiles tiles, tl_colours *colours);

#endif
