/* Backends: the table of stage entries that a device may provide.
 *
 * The stepper calls stages through this table. A device fills in the entries that it has; for a
 * missing one (NULL) the CPU's stage is used, with the data moved to where it is needed. The CPU's
 * own table is complete. */
#ifndef TL_BACKEND_BACKEND_H
#define TL_BACKEND_BACKEND_H

#include "broad/broad.h"
#include "narrow/narrow.h"
#include "shape/shape.h"
#include "solve/penalty/penalty.h"
#include "solve/solve.h"

typedef struct tl_backend {
  const char *name;
  talus_status (*find_bounds)(const tl_crowd *, talus_box *boxes, talus_real *margins);
  talus_status (*find_pairs)(talus_broad_kind, const tl_crowd *, const talus_box *boxes,
                             tl_pairs *);
  /* Appends to the contacts that the set holds already (those of sleeping bodies). */
  talus_status (*find_contacts)(const tl_crowd *, const tl_pairs *, const talus_real *margins,
                                tl_contacts *);
  talus_status (*solve)(const tl_crowd *, tl_contacts *, tl_twists *, tl_solve_report *);
  /* Of springs (penalty), at the poses of the crowd (tl_penalty_find_forces). */
  talus_status (*find_forces)(const tl_crowd *, const tl_penalty_motion *, tl_contacts *,
                              talus_vec3 *force, talus_vec3 *torque, tl_penalty_sums *,
                              tl_penalty_tangents *);
} tl_backend;

extern const tl_backend tl_backend_cpu;

#endif
