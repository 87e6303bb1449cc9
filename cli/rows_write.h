/* Pairs and contacts as lines of a table, with the fewest digits that read back the same
 * numbers. */
#ifndef CLI_ROWS_WRITE_H
#define CLI_ROWS_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include <talus/detect.h>

/* False if writing failed, with errno set. */
bool rows_write_pairs(const talus_pairs *pairs, FILE *to);
/* surfaces: also the points on the surfaces of a and b. */
bool rows_write_contacts(const talus_contacts *contacts, bool surfaces, FILE *to);

#endif
