/* Where data is: rows may be in another memory for a while (in the list of balls of step/balls/, on
 * a device), and code that uses them asks first.
 *
 *   tl_need(where, fields, TL_READ)            before rows are read
 *   tl_need(where, fields, TL_READ | TL_WRITE) before rows are written, too
 *
 * One call asks once, not once per body, and this costs a comparison if all rows are at home (in
 * the world's arrays). It may fail, for example for lack of memory to bring contacts home; then
 * nothing has changed.
 *
 * A field is valid at home, elsewhere, or in both places. A field that is valid nowhere is lost,
 * and asking for it fails until a step has computed it again. There is one holder at a time. It
 * registers (tl_hold), reports what it has made or copied (tl_made_away, tl_copied), and provides
 * callbacks:
 *
 *   bring     write these fields home; *fields is what was requested, and then what was brought:
 *             all of it, more, or as much as there was memory for
 *   written   these fields are about to be written at home: returns the fields of the holder that
 *             become invalid (all of them, if its data are only valid as a whole)
 *   let_go    nothing that it holds is valid any more; it may keep its memory for the next time
 *   end       the world ends: free the memory
 *
 * Arrays at home always exist with all their rows; rows that are valid elsewhere are only old. */
#ifndef TL_RESIDENCY_H
#define TL_RESIDENCY_H

#include "crowd/fields.h"

/* One bit for each array of rows, by the lists of fields.h: fields of bodies; records of contacts;
 * joints. Tables are the parts of the model other than bodies (materials, gravity, settings). They
 * are always at home, but code that changes them asks too, so that copies of them become invalid.
 */
#define TL_FIELD_BIT(name, type, columns, scalar, flags) TL_BIT_##name,
#define TL_RECORD_BIT(name, type, FIELDS)                TL_BIT_##name,
enum {
  TL_STATE_FIELDS(TL_FIELD_BIT) TL_PROPERTY_FIELDS(TL_FIELD_BIT) TL_BIT_contacts,
  TL_CONTACT_RECORDS(TL_RECORD_BIT) TL_BIT_hits,
  TL_BIT_joints,
  TL_BIT_tables,
  TL_BITS
};
#undef TL_FIELD_BIT
#undef TL_RECORD_BIT
_Static_assert(TL_BITS < 64, "a set of fields is one number");

typedef uint64_t tl_field_set;

#define TL_THE(name)    ((tl_field_set)1 << TL_BIT_##name)
#define TL_BEFORE(name) (TL_THE(name) - 1)
#define TL_THE_STATE    TL_BEFORE(uid)
#define TL_THE_PROPERTY (TL_BEFORE(contacts) & ~TL_THE_STATE)
#define TL_THE_CONTACTS (TL_BEFORE(joints) & ~TL_BEFORE(contacts))
#define TL_THE_POSE     (TL_THE(position) | TL_THE(rotation))
#define TL_THE_MOTION   (TL_THE(velocity) | TL_THE(spin))
#define TL_THE_BODIES   (TL_THE_STATE | TL_THE_PROPERTY)
#define TL_THE_WHOLE    (((tl_field_set)1 << TL_BITS) - 1)
_Static_assert(TL_BIT_uid == (int)TL_STATE_FIELD_COUNT, "state comes first");
_Static_assert(TL_BIT_contacts == (int)TL_STATE_FIELD_COUNT + (int)TL_PROPERTY_FIELD_COUNT,
               "then properties");

/* Fields of bodies and records of contacts with one of these flags (TL_DEVICE, ...). */
tl_field_set tl_fields_with(unsigned flags);
/* The bit of a row of tl_state_fields or tl_property_fields. */
tl_field_set tl_field_bit(const tl_field *field);

enum {
  TL_READ = 1,
  TL_WRITE = 2,
  TL_OR_NONE = 4 /* what is lost is as good as none: it is about to begin anew */
};

typedef struct tl_holder {
  const char *name;
  talus_status (*bring)(void *context, tl_field_set *fields);
  tl_field_set (*written)(void *context, tl_field_set fields);
  void (*let_go)(void *context);
  void (*end)(void *context);
} tl_holder;

/* All zero: everything is at home. */
typedef struct tl_residency {
  const tl_holder *holder; /* NULL: nobody has anything */
  void *context;           /* of the holder */
  tl_field_set stale;      /* rows at home are old */
  tl_field_set away;       /* rows of the holder are fresh */
  tl_field_set soon;       /* will be asked for as soon as the step is over: who holds them sees to
                              it before anything moves that there is memory to bring them home */
  /* For tests: told that fields have been made, at home or (then they are old at home) away. */
  void (*told)(void *watcher, tl_field_set fields, bool at_home);
  void *watcher;
} tl_residency;

talus_status tl_need_from(const tl_residency *where, tl_field_set fields, unsigned access);

/* Makes rows at home valid and, for writing, all other copies invalid. `where` is const, because
 * the place of its rows is not part of what a crowd is. */
static inline talus_status tl_need(const tl_residency *where, tl_field_set fields,
                                   unsigned access) {
  const bool is_here = !(where->stale & fields) && !((access & TL_WRITE) && where->away);
  return is_here ? TALUS_OK : tl_need_from(where, fields, access);
}

static inline bool tl_is_home(const tl_residency *where, tl_field_set fields) {
  return !(where->stale & fields);
}

/* Fields that are fresh nowhere. */
static inline tl_field_set tl_lost(const tl_residency *where) {
  return where->stale & ~where->away;
}

/* ---- for those who make or hold rows --------------------------------------------------------- */

/* From now on this one may hold rows. There is no other, or it holds nothing, and ends. */
void tl_hold(tl_residency *where, const tl_holder *holder, void *context);

/* Rows of these fields were made, at home or by the holder: others are old. */
void tl_made_home(tl_residency *where, tl_field_set fields);
void tl_made_away(tl_residency *where, tl_field_set fields);
/* The holder has a copy of these, as fresh as that at home. */
void tl_copied(tl_residency *where, tl_field_set fields);
/* The holder no longer has these: what is old at home is lost. */
void tl_lose(tl_residency *where, tl_field_set fields);

/* Everything comes home, and the holder holds nothing. */
talus_status tl_let_go(tl_residency *where);

/* Ends the holder: the crowd ends, and nobody asks any more. */
void tl_residency_free(tl_residency *where);

#endif
