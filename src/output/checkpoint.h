/* The checkpoint: everything that can change a last bit, in one HDF5 file (docs/formats.md).
 *
 * What is saved is said once, in the tables of checkpoint.c, and read by both the saver and the
 * loader. A table is an array of structs; each of its columns becomes a dataset /TABLE/COLUMN.
 * What bodies, contacts and joints have comes from the lists of fields.h. To save a new member, add
 * a line there.
 *
 * In front of the HDF5 part stands a block of text with the checksum of the whole file, which is
 * verified before anything else is looked at. */
#ifndef TL_OUTPUT_CHECKPOINT_H
#define TL_OUTPUT_CHECKPOINT_H

#include "output/h5.h"

#if TALUS_HAVE_HDF5

#include "output/output.h"
#include "world/world.h"

/* ---- tables ---------------------------------------------------------------------------------- */

/* What a column may hold: checked on loading, and on saving, so that what is saved can be loaded.
 */
typedef enum tl_column_rule {
  TL_RULE_ANY,    /* any bits; checked together with the row it belongs to, if used */
  TL_RULE_FINITE, /* finite numbers */
  TL_RULE_LATE,   /* the same, of a column that files have since the format `limit` */
  TL_RULE_BELOW,  /* integers below `limit`: kinds and booleans */
  TL_RULE_TEXT,   /* a char pointer, owned; NULL is kept apart from "" */
  TL_RULE_TEXT_NEVER_NULL,
  TL_RULE_UNSAVED /* a member that is not in the file */
} tl_column_rule;

typedef struct tl_column {
  const char *name;
  size_t offset;  /* within the row */
  size_t columns; /* scalars of one row; 1 for a text */
  tl_h5_type type;
  tl_column_rule rule;
  uint32_t limit;
} tl_column;

typedef struct tl_table {
  const char *name; /* of the group */
  size_t row_bytes;
  const tl_column *columns;
  int count;
} tl_table;

/* Every table; members of the world itself are a table of one row. Tables outside this list are not
 * declared, so that every saved table is covered by the tests, which go through the list. */
#define TL_CHECKPOINT_TABLES(X)                                                                    \
  X(world)                                                                                         \
  X(shapes)                                                                                        \
  X(materials)                                                                                     \
  X(laws)                                                                                          \
  X(overrides)                                                                                     \
  X(motions)                                                                                       \
  X(motion_terms)                                                                                  \
  X(motion_values)                                                                                 \
  X(ignored)                                                                                       \
  X(groups)                                                                                        \
  X(names)                                                                                         \
  X(handles)                                                                                       \
  X(free_handles)                                                                                  \
  X(contacts)                                                                                      \
  X(law_states)                                                                                    \
  X(hits)                                                                                          \
  X(springs)                                                                                       \
  X(joints)                                                                                        \
  X(ahead)                                                                                         \
  X(courses)                                                                                       \
  X(course_values)                                                                                 \
  X(emitters)                                                                                      \
  X(sinks)                                                                                         \
  X(probes)                                                                                        \
  X(averages)                                                                                      \
  X(average_sums)                                                                                  \
  X(zones)                                                                                         \
  X(zone_members)

#define TL_DECLARE_TABLE(name) extern const tl_table tl_table_##name;
TL_CHECKPOINT_TABLES(TL_DECLARE_TABLE)
#undef TL_DECLARE_TABLE

/* Those of the arrays of contacts, as tl_contact_records has them. */
extern const tl_table *const tl_tables_of_contacts[TL_CONTACT_RECORD_COUNT];

/* TALUS_ERROR_INVALID naming the row where values break their rule. */
talus_status tl_checkpoint_check_values(const char *name, tl_h5_type type, tl_column_rule rule,
                                        uint32_t limit, const void *data, size_t rows,
                                        size_t columns);

/* HDF5 type of a field of fields.h. */
tl_h5_type tl_checkpoint_type(int scalar);

/* What files call a field of a body: three have had a better name since the first format. */
const char *tl_checkpoint_field_name(const tl_field *field);

/* "table/column" in `text`. */
#define TL_CHECKPOINT_NAME_BYTES 96
const char *tl_checkpoint_name(char text[TL_CHECKPOINT_NAME_BYTES], const char *table,
                               const char *column, const char *suffix);

/* ---- the block of text in front -------------------------------------------------------------- */

/* Raise this with every change of a table, of a column or of a body's field: a file has all of them
 * or is refused. tests/test_output.c fails if that was forgotten. Files of older formats are read
 * too; what they lack follows from the rest (checkpoint_load.c). */
#define TL_CHECKPOINT_FORMAT        13
#define TL_CHECKPOINT_OLDEST_FORMAT 6
#define TL_CHECKPOINT_BLOCK         512

/* Fills in the first TL_CHECKPOINT_BLOCK bytes of a whole file. */
void tl_checkpoint_seal(unsigned char *image, size_t bytes);

/* Reads all of the file once: what it is, which version and precision, and whether it is intact.
 * *bytes is its size, *format its format. */
talus_status tl_checkpoint_verify(const char *path, uint64_t *bytes, unsigned *format);

/* ---- checks ---------------------------------------------------------------------------------- */

/* Checks that tables that were loaded one at a time fit together: tl_world_validate, and the tables
 * that bodies and flow refer to. */
talus_status tl_checkpoint_check(const talus_world *world);

#endif
#endif
