/* Pairs and contacts as lines of a table, numbers in as few digits as read back the same. */
#ifndef CLI_ROWS_WRITE_H
#define CLI_ROWS_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include <talus/detect.h>

/* False where writing failed; errno says why. */
bool rows_write_pairs(const talus_pairs *pairs, FILE *to);
/* With `surfaces`: also the points on the surfaces of a and b. */
bool rows_write_contacts(const talus_contacts *contacts, bool surfaces, FILE *to);

#endif
