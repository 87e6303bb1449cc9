/* Everything a body, a contact or a joint has, declared once.
 *
 * The lists below make the structs, allocation, growth, removal, checkpoint, state hash, views and
 * (later) device mirrors and rank packing. To add a field, add a line.
 *
 *   STATE     changes in time. Can be instantiated several times: implicit steps keep guesses,
 *             local stepping keeps three states per body.
 *   PROPERTY  belongs to the body and does not change in time.
 *   CONTACT   what a contact is and stores (contacts.h): parallel arrays of small records.
 *   JOINT     what a joint keeps from step to step (joint/joint.h has the rest of it).
 *   SCRATCH   belongs to a stage and lives in the step's arena; it has no list, because nothing
 *             that outlives a step may depend on it.
 *
 * The record of every contact is full (twelve numbers, which loops over lanes write as a whole):
 * further fields of contacts go into the records behind it.
 *
 * F(name, type, columns, scalar, flags): `type` is the C type of one row, made of `columns` scalars
 * of the kind `scalar` (talus_scalar, TL_REAL for the build's real). Flags:
 *   HASHED   enters the state hash
 *   SAVED    is in the checkpoint
 *   CARRIED  goes to the contact of the same key in the next step (contact/history.h), or is what
 *            the next step of a joint starts from
 *   GHOST    travels with a ghost copy of the body to another rank
 *   VISIBLE  can be mapped as a view; of a contact: is in contact files
 *   DEVICE   is mirrored where stages run on a device
 *   LAZY     allocated at first use; NULL means all zero
 *   STEPPED  every step writes it anew, into the second of two arrays that are then swapped; other
 *            fields of the state stay in one array
 *   IMPULSE  is a force times the length of a step: a step of another length carries it scaled
 *            by the ratio of the two
 */
#ifndef TL_FIELDS_H
#define TL_FIELDS_H

#include "base/memory.h"
#include <talus/talus.h>

enum {
  TL_HASHED = 1,
  TL_SAVED = 2,
  TL_GHOST = 4,
  TL_VISIBLE = 8,
  TL_LAZY = 16,
  TL_CARRIED = 32,
  TL_DEVICE = 64,
  TL_STEPPED = 128,
  TL_IMPULSE = 256
};

/* Beside the kinds of talus_scalar, for what no view shows. */
#define TL_BOOL 100

#if TALUS_SINGLE
#define TL_REAL TALUS_FLOAT32
#else
#define TL_REAL TALUS_FLOAT64
#endif

/* Fields of a second build of the library, which only tests/test_extra_fields.c uses: it shows that
 * one line is all that a new field takes. */
#if TALUS_EXTRA_FIELDS
#define TL_EXTRA_STATE_FIELDS(F)                                                                   \
  F(extra_mark, uint32_t, 1, TALUS_UINT32, TL_HASHED | TL_SAVED | TL_GHOST)                        \
  F(extra_lazy, talus_vec3, 3, TL_REAL, TL_HASHED | TL_SAVED | TL_LAZY)                            \
  F(extra_passing, double, 1, TALUS_FLOAT64, 0)
#define TL_EXTRA_PROPERTY_FIELDS(F)                                                                \
  F(extra_code, uint64_t, 1, TALUS_UINT64, TL_SAVED | TL_GHOST)                                    \
  F(extra_unsaved, double, 1, TALUS_FLOAT64, TL_GHOST)
#define TL_EXTRA_LAW_STATE_FIELDS(F)                                                               \
  F(extra_age, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_VISIBLE | TL_CARRIED)                      \
  F(extra_push, talus_vec3, 3, TL_REAL, TL_SAVED | TL_CARRIED | TL_IMPULSE)                        \
  F(extra_guess, double, 1, TALUS_FLOAT64, 0)
#define TL_EXTRA_JOINT_FIELDS(F) F(extra_wear, double, 1, TALUS_FLOAT64, TL_SAVED | TL_CARRIED)
#else
#define TL_EXTRA_STATE_FIELDS(F)
#define TL_EXTRA_PROPERTY_FIELDS(F)
#define TL_EXTRA_LAW_STATE_FIELDS(F)
#define TL_EXTRA_JOINT_FIELDS(F)
#endif

/* position: centre of mass; rotation: principal frame; spin: angular velocity in WORLD axes;
 * sleep_flags: whether it is slow, or sleeps (asleep.h); slow_since: s, where it is slow, the time
 * since when. pace: s, with local time: its next step is no longer; 0: not known. None is hashed:
 * the hash is of the mechanical state, and a body that was put to sleep differs from one that lies
 * still in nothing but time. spring_force, spring_torque: of all springs of the body at the end of
 * the last step, N and N m (penalty), with which the next one begins; not hashed, because they
 * follow from the other fields. */
#define TL_MOTION (TL_HASHED | TL_SAVED | TL_GHOST | TL_VISIBLE | TL_STEPPED | TL_DEVICE)
#define TL_STATE_FIELDS(F)                                                                         \
  F(position, talus_dvec3, 3, TALUS_FLOAT64, TL_MOTION)                                            \
  F(rotation, talus_quat, 4, TL_REAL, TL_MOTION)                                                   \
  F(velocity, talus_vec3, 3, TL_REAL, TL_MOTION)                                                   \
  F(spin, talus_vec3, 3, TL_REAL, TL_MOTION)                                                       \
  F(sleep_flags, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_LAZY | TL_STEPPED)            \
  F(slow_since, double, 1, TALUS_FLOAT64, TL_SAVED | TL_GHOST | TL_LAZY | TL_STEPPED)              \
  F(pace, double, 1, TALUS_FLOAT64, TL_SAVED | TL_GHOST | TL_LAZY | TL_STEPPED)                    \
  F(spring_force, talus_vec3, 3, TL_REAL, TL_SAVED | TL_GHOST | TL_LAZY | TL_STEPPED | TL_DEVICE)  \
  F(spring_torque, talus_vec3, 3, TL_REAL, TL_SAVED | TL_GHOST | TL_LAZY | TL_STEPPED | TL_DEVICE) \
  TL_EXTRA_STATE_FIELDS(F)

/* Inertia is not stored: it is mass * scale^2 * the shape's squared radii of gyration.
 * motion: row of the motion table, TL_NONE for none. handle: row of the handle table. room: m, how
 * far the centre may go before it can reach a wall (contact/passing.h); 0: not known. */
#define TL_PROPERTY_FIELDS(F)                                                                      \
  F(uid, uint64_t, 1, TALUS_UINT64, TL_SAVED | TL_GHOST | TL_VISIBLE)                              \
  F(mass, talus_real, 1, TL_REAL, TL_SAVED | TL_GHOST | TL_VISIBLE | TL_DEVICE)                    \
  F(scale, talus_real, 1, TL_REAL, TL_SAVED | TL_GHOST | TL_VISIBLE | TL_DEVICE)                   \
  F(shape, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_VISIBLE | TL_DEVICE)                \
  F(material, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_VISIBLE | TL_DEVICE)             \
  F(group, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_VISIBLE | TL_DEVICE)                \
  F(flags, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_DEVICE)                             \
  F(motion, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_DEVICE)                            \
  F(handle, uint32_t, 1, TALUS_UINT32, TL_SAVED)                                                   \
  F(room, float, 1, TALUS_FLOAT32, 0)                                                              \
  F(force, talus_vec3, 3, TL_REAL, TL_SAVED | TL_GHOST | TL_VISIBLE | TL_LAZY | TL_DEVICE)         \
  F(torque, talus_vec3, 3, TL_REAL, TL_SAVED | TL_GHOST | TL_VISIBLE | TL_LAZY | TL_DEVICE)        \
  TL_EXTRA_PROPERTY_FIELDS(F)

/* The record of every contact: slots a and b (uid[a] < uid[b]) and features, which are its key;
 * point: midway between the surfaces, in the periodic image of body a; normal: unit, from a to b;
 * gap: m, negative when penetrating; impulse: N s on b, as the solver found it
 * (tl_contacts_impulse adds that of impacts). One record, because the solver takes contacts in
 * another order and then needs all of it. */
#define TL_CONTACT_FIELDS(F)                                                                       \
  F(a, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_DEVICE)                                 \
  F(b, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_DEVICE)                                 \
  F(feature_a, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_DEVICE)                         \
  F(feature_b, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_GHOST | TL_DEVICE)                         \
  F(point, talus_dvec3, 3, TALUS_FLOAT64, TL_SAVED | TL_VISIBLE | TL_DEVICE)                       \
  F(normal, talus_vec3, 3, TL_REAL, TL_SAVED | TL_VISIBLE | TL_GHOST | TL_DEVICE)                  \
  F(gap, talus_real, 1, TL_REAL, TL_SAVED | TL_VISIBLE | TL_DEVICE)                                \
  F(impulse, talus_vec3, 3, TL_REAL,                                                               \
    TL_SAVED | TL_VISIBLE | TL_CARRIED | TL_GHOST | TL_DEVICE | TL_IMPULSE)

/* Where materials have more laws than friction and restitution (tl_model.law_kinds). torque: N m s
 * on b, against rolling and spinning; state: TL_CONTACT_... */
#define TL_LAW_STATE_FIELDS(F)                                                                     \
  F(torque, talus_vec3, 3, TL_REAL, TL_SAVED | TL_CARRIED | TL_GHOST | TL_DEVICE | TL_IMPULSE)     \
  F(state, uint32_t, 1, TALUS_UINT32, TL_SAVED | TL_CARRIED | TL_GHOST | TL_DEVICE)                \
  TL_EXTRA_LAW_STATE_FIELDS(F)

/* What a spring stores (penalty; kernels/penalty.h). slip: m, tangential displacement of b relative
 * to a while the contact stuck; stiffness: N/m, tangential, of the last step, negative if it slid,
 * 0 for a new contact, whose other values are then 0 too; turn: rad, tangential: rolling of b
 * relative to a; spin: rad, the same about the normal. */
#define TL_SPRING_FIELDS(F)                                                                        \
  F(slip, talus_vec3, 3, TL_REAL, TL_SAVED | TL_CARRIED | TL_GHOST | TL_DEVICE)                    \
  F(stiffness, talus_real, 1, TL_REAL, TL_SAVED | TL_CARRIED | TL_GHOST | TL_DEVICE)               \
  F(turn, talus_vec3, 3, TL_REAL, TL_SAVED | TL_CARRIED | TL_GHOST | TL_DEVICE)                    \
  F(spin, talus_real, 1, TL_REAL, TL_SAVED | TL_CARRIED | TL_GHOST | TL_DEVICE)

/* What a joint keeps from step to step. broken: its load was too large, and it no longer acts;
 * turn_a, turn_b: angles with whole turns counted, rad; impulse: of each row; drift: largest error
 * of the rows that always hold, m; value: of the free direction; force, torque: what it carried in
 * the last step, N and N m. */
#define TL_JOINT_FIELDS(F)                                                                         \
  F(broken, bool, 1, TL_BOOL, TL_SAVED | TL_CARRIED)                                               \
  F(turn_a, double, 1, TALUS_FLOAT64, TL_SAVED | TL_CARRIED)                                       \
  F(turn_b, double, 1, TALUS_FLOAT64, TL_SAVED | TL_CARRIED)                                       \
  F(impulse, tl_joint_impulses, TL_JOINT_ROWS, TL_REAL, TL_SAVED | TL_CARRIED | TL_IMPULSE)        \
  F(drift, double, 1, TALUS_FLOAT64, TL_SAVED | TL_CARRIED)                                        \
  F(value, double, 1, TALUS_FLOAT64, TL_SAVED | TL_CARRIED)                                        \
  F(force, talus_vec3, 3, TL_REAL, TL_SAVED | TL_CARRIED)                                          \
  F(torque, talus_vec3, 3, TL_REAL, TL_SAVED | TL_CARRIED)                                         \
  TL_EXTRA_JOINT_FIELDS(F)

/* R(array, type of a record, its fields): what contacts have in addition to TL_CONTACT_FIELDS. All
 * are lazy: an array is in use only if it is as long as the set. */
#define TL_CONTACT_RECORDS(R)                                                                      \
  R(law_states, tl_law_state, TL_LAW_STATE_FIELDS)                                                 \
  R(springs, tl_spring, TL_SPRING_FIELDS)

#define TL_NONE UINT32_MAX

/* The `flags` property: lock bits as in talus.h (six lowest), then the kind. */
enum {
  TL_FLAG_LOCKS = 0x3f,
  TL_FLAG_FIXED = 0x40,
  TL_FLAG_KINEMATIC = 0x80,
  TL_FLAG_STATIC = TL_FLAG_FIXED | TL_FLAG_KINEMATIC, /* not moved by contacts */
  TL_FLAG_SUNK = 0x100 /* it went through a wall or deep into another body, and that was told */
};

#define TL_FIELD_MEMBER(name, type, columns, scalar, flags) type *name;
typedef struct tl_state {
  TL_STATE_FIELDS(TL_FIELD_MEMBER)
} tl_state;
typedef struct tl_properties {
  TL_PROPERTY_FIELDS(TL_FIELD_MEMBER)
} tl_properties;
#undef TL_FIELD_MEMBER

/* A row of a list as data, for code that loops over fields: checkpoint, views, removal. */
typedef struct tl_field {
  const char *name;
  size_t bytes; /* of one row */
  int columns;
  int scalar; /* talus_scalar or TL_BOOL */
  unsigned flags;
  size_t offset; /* of the pointer within tl_state or tl_properties; in a record: of the member */
} tl_field;

#define TL_FIELD_ONE(name, type, columns, scalar, flags) +1
enum { TL_STATE_FIELD_COUNT = 0 TL_STATE_FIELDS(TL_FIELD_ONE) };
enum { TL_PROPERTY_FIELD_COUNT = 0 TL_PROPERTY_FIELDS(TL_FIELD_ONE) };
#undef TL_FIELD_ONE

extern const tl_field tl_state_fields[TL_STATE_FIELD_COUNT];
extern const tl_field tl_property_fields[TL_PROPERTY_FIELD_COUNT];

/* The array of a field in a tl_state or tl_properties, as bytes (NULL for a lazy field not in use),
 * and its replacement. By memcpy, because the member is a pointer of another type. */
static inline unsigned char *tl_field_rows(const void *arrays, const tl_field *field) {
  unsigned char *rows;
  memcpy(&rows, (const unsigned char *)arrays + field->offset, sizeof rows);
  return rows;
}
static inline void tl_field_set_rows(void *arrays, const tl_field *field, void *rows) {
  memcpy((unsigned char *)arrays + field->offset, &rows, sizeof rows);
}

/* The factor for impulses if the next step has another length than the last. Exactly 1 if both are
 * equally long, or if the length of the last one is not known (0). */
static inline talus_real tl_step_ratio(double before, double dt) {
  return before > 0 && before != dt ? (talus_real)(dt / before) : 1;
}

/* Multiplies so many reals, which may be members of anything. */
static inline void tl_scale_reals(void *reals, int n, talus_real factor) {
  for (int i = 0; i < n; ++i) {
    unsigned char *at = (unsigned char *)reals + (size_t)i * sizeof(talus_real);
    talus_real x;
    memcpy(&x, at, sizeof x);
    x *= factor;
    memcpy(at, &x, sizeof x);
  }
}

/* Grows (or shrinks) every array of a list from `old_capacity` to `capacity` rows. */
talus_status tl_fields_resize(void *arrays, const tl_field *fields, int n, size_t old_capacity,
                              size_t capacity);

/* Allocates a lazy field, zeroed, with `capacity` rows; nothing if it is there. */
talus_status tl_field_wake(void *arrays, const tl_field *field, size_t capacity);

/* Moves row `from` to row `to` in every array of a list. */
void tl_fields_move(void *arrays, const tl_field *fields, int n, size_t to, size_t from);

/* Sets a row to 0 in every array of a list. */
void tl_fields_clear(void *arrays, const tl_field *fields, int n, size_t row);

#endif
