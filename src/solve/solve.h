/* Solve: contacts -> impulses. */
#ifndef TL_SOLVE_SOLVE_H
#define TL_SOLVE_SOLVE_H

#include "contact/contact.h"

typedef struct tl_solve_report {
  double residual_max, residual_rms; /* m/s, of the velocities handed over */
  int iterations;
} tl_solve_report;

/* Velocities at t1 for every free member of the scope, from those at t0, loads, gravity and
 * contacts, by cone complementarity (docs/theory/ccp.md). Reads contacts' impulses as the start and
 * leaves the solution in them. Writes velocity[slot] and spin[slot] of free members only, and
 * nothing of scope->out: the stepper looks at them before it lets them count. */
talus_status tl_ccp_solve(const tl_model *model, const tl_scope *scope, tl_contacts *contacts,
                          talus_vec3 *velocity, talus_vec3 *spin, tl_solve_report *report);

#endif
