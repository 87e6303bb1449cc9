/* The cases of talus bench validation, by file; validation_cases.c has the table. */
#ifndef BENCH_VALIDATION_CASES_H
#define BENCH_VALIDATION_CASES_H

#include "validation.h"

/* validation_impact.c */
val_case_fn val_bounce, val_bounce_train, val_oblique, val_cradle;
/* Height at time t of a ball dropped from `drop` that bounces with e for ever, but never later than
 * (1 + e) / (1 - e) sqrt(2 drop / g). */
double val_train_height(double t, double drop, double e);
/* validation_friction.c */
val_case_fn val_incline, val_rolling, val_stopping, val_ccp_gap;
/* validation_stack.c */
val_case_fn val_stack, val_mass_ratio, val_cards, val_arch;
/* validation_motion.c */
val_case_fn val_dzhanibekov, val_heavy_top, val_pendulum, val_momentum, val_energy;

/* validation_silo.c */
val_case_fn val_janssen, val_beverloo;
/* validation_heap.c */
val_case_fn val_repose, val_column, val_drum, val_penetration;
/* validation_packing.c */
val_case_fn val_packing, val_ellipsoid_packing;
/* validation_peers.c */
val_case_fn val_peers_bounce, val_peers_repose;

/* ---- what the models differ by --------------------------------------------------------------- */

/* The step of a model where complementarity takes dt: springs need a shorter one. */
double val_dt(const val_run *run, double dt);
/* Relative error of a rebound, of forces and accelerations, and a length, that come with springs
 * and are not there without. */
double val_bounce_error(const val_run *run);
double val_spring_error(const val_run *run);
double val_spring_length(const val_run *run);
/* What a model needs to know of a material besides friction and restitution. */
void val_stiffen(const val_run *run, talus_material_def *material);
/* Where the centre of a body rests whose contact is `above` the centre's distance from it. */
double val_resting(const val_run *run, double above);

#endif
