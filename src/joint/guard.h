/* Guards: steps that are too long for a joint are refused or told, never made in silence. */
#ifndef TL_JOINT_GUARD_H
#define TL_JOINT_GUARD_H

#include "joint/joint.h"
#include "solve/solve.h"

/* Looks at rods before a step is solved, which may end in no numbers at all. */
talus_status tl_joints_guard_start(const tl_crowd *crowd);

/* Looks at the velocities of a step before it is made. TALUS_ERROR_DIVERGED with the joint and the
 * fix: what turns by half a turn or more, a held axis that turns, a rod shorter than the way of its
 * ends, frames that leap apart. */
talus_status tl_joints_guard(const tl_crowd *crowd, tl_twists twists);

/* After a step: a line in the log for each of the first joints that drift, once. */
void tl_joints_tell_drift(const tl_model *model, tl_joints *joints, double time);

/* A motor that nothing but its speed limits must not turn by more than 1 rad in a step. */
talus_status tl_joint_check_motor_speed(const tl_joint *joint, double dt);

#endif
