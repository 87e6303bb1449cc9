/* Steps on a device: the world's rows stay there from step to step (crowd/residency.h), and come
 * home when somebody asks.
 *
 *   hold.c   what the device holds: to it, and home
 *   step.c   the order of a step
 *   solve.c  rows, colours, sweeps, position correction
 *
 * The work of one thread is in backend/thread/bodies.h and rows.h. What a step moves is a few
 * numbers, by which the host decides what comes next. */
#ifndef TL_STEP_DEVICE_STEP_H
#define TL_STEP_DEVICE_STEP_H

#include "backend/backend.h"
#include "crowd/residency.h"
#include "step/step.h"

/* Which device steps run on. */
typedef talus_status tl_open_device(struct tl_device **device);

/* What of a model a device cannot step, or NULL. */
const char *tl_device_step_obstacle(const tl_model *model, bool has_joints);

/* One fixed step on the device, which is opened at first. Its rows are then with the holder:
 * report->is_elsewhere; contacts come home to *contacts, the rest to crowd->out. */
talus_status tl_device_step(tl_open_device *open, const tl_crowd *crowd, tl_contacts *contacts,
                            tl_step_report *report);

/* The device that holds the rows; NULL: none does. */
struct tl_device *tl_device_of(const tl_residency *where);

#endif
