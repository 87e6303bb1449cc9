/* Guards: steps that are too long for a joint are refused or reported, never taken silently. */
#ifndef TL_JOINT_GUARD_H
#define TL_JOINT_GUARD_H

#include "joint/joint.h"
#include "solve/solve.h"

/* Checks rods before a step is solved, which could otherwise end in NaN. */
talus_status tl_joints_guard_start(const tl_crowd *crowd);

/* Checks the velocities of a step before bodies move. TALUS_ERROR_DIVERGED, with the joint and a dt
 * that would do, for: a rotation by half a turn or more, a held axis that turns, a rod whose ends
 * move farther than its length, frames that jump apart. */
talus_status tl_joints_guard(const tl_crowd *crowd, tl_twists twists);

/* After steps of crowds without a log: one line for each rod that they found coarse and that the
 * log does not have yet, in the order of the table. */
void tl_joints_tell_coarse(const tl_model *model, const tl_joints *joints,
                           const tl_joint_state *after, double time);

/* After a step: a line in the log for each of the first joints that drift, once. */
void tl_joints_tell_drift(const tl_model *model, tl_joints *joints, double time);

/* A motor that nothing but its speed limits must not turn by more than 1 rad in a step. */
talus_status tl_joint_check_motor_speed(const tl_joint *joint, double dt);

#endif
