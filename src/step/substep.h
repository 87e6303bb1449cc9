/* Substeps: pairs and contacts once in a step, everything else several times in it.
 *
 * The step of length dt is cut into n of dt/n. Candidate pairs, contacts and who sleeps are found
 * once, with margins that cover all of dt. In each substep contacts ride on their bodies
 * (contact/ride.h), then solver and joints work as in a step of dt/n, and bodies move. What is
 * handed over is that of the whole step: contacts where they were found, with the impulses of all
 * substeps; loads of joints as their mean; work and corrections added up, residuals the worst. */
#ifndef TL_STEP_SUBSTEP_H
#define TL_STEP_SUBSTEP_H

#include "joint/joint.h"
#include "step/step.h"

/* Moves the crowd from crowd->in to crowd->out, whose contacts of this step are found. */
talus_status tl_substeps_run(const tl_backend *backend, const tl_crowd *crowd,
                             tl_step_report *report);

#endif
