/* Substeps: pairs and contacts once in a step, everything else several times in it.
 *
 * The step of length dt is divided into n of dt/n. Candidate pairs, contacts and sleeping bodies
 * are found once, with margins that cover all of dt. In each substep contact points move with their
 * bodies (contact/ride.h), then solver and joints work as in a step of dt/n, and bodies move. The
 * results are those of the whole step: contacts where they were found, with the impulses of all
 * substeps; mean loads of joints; sums of work and corrections; the worst residuals. */
#ifndef TL_STEP_SUBSTEP_H
#define TL_STEP_SUBSTEP_H

#include "joint/joint.h"
#include "step/step.h"

/* Moves the crowd from crowd->in to crowd->out; contacts of this step must be found. */
talus_status tl_substeps_run(const tl_backend *backend, const tl_crowd *crowd,
                             tl_step_report *report);

#endif
