/* The cases of talus bench validation, by file; validation_cases.c has the table. */
#ifndef BENCH_VALIDATION_CASES_H
#define BENCH_VALIDATION_CASES_H

#include "validation.h"

/* validation_impact.c */
val_case_fn val_bounce, val_bounce_train, val_oblique, val_cradle;
/* Height at time t of a ball dropped from `drop` that bounces with e for ever, but never later than
 * (1 + e) / (1 - e) sqrt(2 drop / g). */
double val_train_height(double t, double drop, double e);
/* validation_springs.c */
val_case_fn val_hertz, val_dashpot, val_agreement, val_agreement_silo;
/* validation_friction.c */
val_case_fn val_incline, val_rolling, val_stopping, val_ccp_gap;
/* validation_stack.c */
val_case_fn val_stack, val_mass_ratio, val_cards, val_arch;
/* validation_motion.c */
val_case_fn val_dzhanibekov, val_heavy_top, val_pendulum, val_momentum, val_energy;

/* validation_impact_falls.c */
val_case_fn val_impact_sizes, val_impact_columns, val_impact_beds;
/* validation_impact_chains.c */
val_case_fn val_impact_cradle, val_impact_wedge, val_impact_card, val_impact_edge;
/* validation_gas.c */
val_case_fn val_gas_short, val_gas_energy, val_gas_pressure, val_gas_haff;
/* validation_hard.c */
val_case_fn val_hard_gas, val_hard_relax, val_hard_shells;
/* validation_flow.c, validation_nozzle.c */
val_case_fn val_flow_tube, val_flow_molecular, val_flow_effusion, val_flow_choked_5,
    val_flow_choked_10, val_flow_blowdown;
/* validation_invariance.c */
val_case_fn val_invariance_galilean, val_invariance_turned, val_invariance_scale,
    val_invariance_order;
/* validation_bond.c */
val_case_fn val_bond_pull, val_bond_shear, val_bond_spin, val_bond_roll;
/* validation_joint_spring.c */
val_case_fn val_spring_amplitude, val_spring_period, val_spring_long;

/* validation_silo.c */
val_case_fn val_janssen, val_beverloo;
/* validation_heap.c */
val_case_fn val_repose, val_column, val_drum, val_penetration;
/* validation_packing.c */
val_case_fn val_packing, val_ellipsoid_packing, val_strong_friction;
/* validation_peers.c */
val_case_fn val_peers_bounce, val_peers_repose, val_peers_silo;

/* ---- what the models differ by --------------------------------------------------------------- */

/* The step of a model if complementarity takes dt; implicit steps take the same. Springs of
 * stiffness k take 1/100 of the critical step of the lightest body of these cases, 4 kg: damping is
 * explicit, and a box that lands on four corners has sixteen times the damping of a ball. With
 * automatic stiffness: dt / 10. */
double val_dt(const val_run *run, double dt);
/* Sets the stiffness of springs, N/m; 0: auto. No effect on other models. */
void val_springs(val_run *run, double stiffness);
/* Relative error of a rebound, of forces and accelerations, that springs cause. */
double val_bounce_error(const val_run *run, double e);
double val_spring_error(const val_run *run);
/* Depth (m) to which a mass presses the spring shared by the points of its contact; 0 without
 * springs. */
double val_sag(const val_run *run, double mass);

#endif
