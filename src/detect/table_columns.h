/* Columns of a table of bodies, from its first lines. */
#ifndef TL_DETECT_TABLE_COLUMNS_H
#define TL_DETECT_TABLE_COLUMNS_H

#include "base/input.h"

/* Possible columns, and their place in a row after reading. Those before SHAPE are numbers. */
enum {
  TL_COLUMN_NONE = -1, /* of a dump: ignored */
  TL_COLUMN_X,
  TL_COLUMN_Y,
  TL_COLUMN_Z,
  TL_COLUMN_R,
  TL_COLUMN_VX,
  TL_COLUMN_VY,
  TL_COLUMN_VZ,
  TL_COLUMN_WX,
  TL_COLUMN_WY,
  TL_COLUMN_WZ,
  TL_COLUMN_LX,
  TL_COLUMN_LY,
  TL_COLUMN_LZ,
  TL_COLUMN_QW,
  TL_COLUMN_QX,
  TL_COLUMN_QY,
  TL_COLUMN_QZ,
  TL_COLUMN_A,
  TL_COLUMN_B,
  TL_COLUMN_C,
  TL_COLUMN_N1,
  TL_COLUMN_N2,
  TL_COLUMN_SHAPE,
  TL_COLUMN_FILE,
  TL_COLUMN_NAME,
  TL_COLUMN_COUNT
};
extern const char *const tl_column_names[TL_COLUMN_COUNT];

#define TL_COLUMNS_MOST 100 /* fields of a line */

typedef struct tl_columns {
  int column[TL_COLUMNS_MOST];    /* by field of a line */
  double factor[TL_COLUMNS_MOST]; /* on its number: one half for diameters */
  int fields;
  bool has[TL_COLUMN_COUNT];
  bool has_header; /* if not, the first line is a body */
  bool has_blanks; /* fields are separated by blanks, not commas */
  bool is_dump;    /* of LAMMPS or LIGGGHTS */
  size_t rows;     /* of a dump: number of rows that it announces */
} tl_columns;

/* Reads the header, or finds that there is none, from the current line on; of a dump everything
 * before its bodies. False after errors: rows cannot be read then. */
bool tl_columns_read(tl_input *in, tl_columns *to);

bool tl_columns_at_dump(const tl_input *in); /* does a dump, or its next time step, begin here? */
int tl_columns_count(const tl_input *in, const tl_columns *columns); /* fields of this line */
tl_span tl_columns_cell(tl_input *in, const tl_columns *columns);    /* the next of them */

#endif
