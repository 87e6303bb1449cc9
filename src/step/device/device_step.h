/* Steps on a device: the world's rows stay there from step to step (crowd/residency.h), and come
 * home on request.
 *
 * hold.c   the rows that the device holds: copies to it, and home
 * step.c   the order of a step
 * solve.c  rows, colours, sweeps, position correction
 *
 * The work of one thread is in backend/thread/bodies.h and rows.h. A step exchanges only a few
 * numbers, by which the host decides what comes next. */
#ifndef TL_STEP_DEVICE_STEP_H
#define TL_STEP_DEVICE_STEP_H

#include "backend/backend.h"
#include "crowd/residency.h"
#include "step/step.h"

/* Function that opens the device. */
typedef talus_status tl_open_device(struct tl_device **device);

/* Name of a feature of the model that a device cannot step, or NULL. */
const char *tl_device_step_obstacle(const tl_model *model, bool has_joints);

/* One fixed step on the device, which is opened at the first call. The rows are then with the
 * holder: report->is_elsewhere; on request contacts come home to *contacts, all else to
 * crowd->out. */
talus_status tl_device_step(tl_open_device *open, const tl_crowd *crowd, tl_contacts *contacts,
                            tl_step_report *report);

/* The device that holds the rows, or NULL. */
struct tl_device *tl_device_of(const tl_residency *where);

#endif
