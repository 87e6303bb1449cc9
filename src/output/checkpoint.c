#include "output/checkpoint.h"

#if TALUS_HAVE_HDF5

#include <stddef.h>
#include <stdio.h>

/* ---- columns --------------------------------------------------------------------------------- */

#define MEMBER(row, member) sizeof(((row *)NULL)->member)
#define COLUMN(row, name, member, scalar, type, rule, limit)                                       \
  { #name, offsetof(row, member), MEMBER(row, member) / (sizeof(scalar)), type, rule, limit }

#define U32(row, name, member)    COLUMN(row, name, member, uint32_t, TL_H5_U32, TL_RULE_ANY, 0)
#define U64(row, name, member)    COLUMN(row, name, member, uint64_t, TL_H5_U64, TL_RULE_ANY, 0)
#define I32(row, name, member)    COLUMN(row, name, member, int32_t, TL_H5_I32, TL_RULE_ANY, 0)
#define BOOL(row, name, member)   COLUMN(row, name, member, bool, TL_H5_U8, TL_RULE_BELOW, 2)
#define REAL(row, name, member)   COLUMN(row, name, member, talus_real, TL_H5_REAL, TL_RULE_FINITE, 0)
#define DOUBLE(row, name, member) COLUMN(row, name, member, double, TL_H5_F64, TL_RULE_FINITE, 0)
#define LATE_DOUBLE(row, name, member, since)                                                      \
  COLUMN(row, name, member, double, TL_H5_F64, TL_RULE_LATE, since)
#define LATE_REAL(row, name, member, since)                                                        \
  COLUMN(row, name, member, talus_real, TL_H5_REAL, TL_RULE_LATE, since)
#define LATE_U32(row, name, member, since)                                                         \
  COLUMN(row, name, member, uint32_t, TL_H5_U32, TL_RULE_LATE, since)
#define LATE_I32(row, name, member, since)                                                         \
  COLUMN(row, name, member, int32_t, TL_H5_I32, TL_RULE_LATE, since)
#define LATE_U64(row, name, member, since)                                                         \
  COLUMN(row, name, member, uint64_t, TL_H5_U64, TL_RULE_LATE, since)
#define ANY_REAL(row, name, member)                                                                \
  COLUMN(row, name, member, talus_real, TL_H5_REAL, TL_RULE_ANY, 0)
#define ANY_DOUBLE(row, name, member) COLUMN(row, name, member, double, TL_H5_F64, TL_RULE_ANY, 0)
#define KIND(row, name, member, limit)                                                             \
  COLUMN(row, name, member, uint32_t, TL_H5_U32, TL_RULE_BELOW, limit)
#define TEXT(row, name, member) COLUMN(row, name, member, char *, TL_H5_U8, TL_RULE_TEXT, 0)
#define TEXT_NEVER_NULL(row, name, member)                                                         \
  COLUMN(row, name, member, char *, TL_H5_U8, TL_RULE_TEXT_NEVER_NULL, 0)

/* The stored widths above are those of the C types. */
_Static_assert(sizeof(bool) == 1 && sizeof(int) == 4 && sizeof(size_t) == 8, "column widths");
_Static_assert(sizeof(talus_shape_kind) == 4 && sizeof(talus_broad_kind) == 4, "kinds are 32 bits");

/* A region as given: members that its kind does not use may hold anything. */
#define REGION(row, name, member)                                                                  \
  U32(row, name##_kind, member.kind), ANY_DOUBLE(row, name##_box, member.box),                     \
      ANY_DOUBLE(row, name##_at, member.at), ANY_REAL(row, name##_axis, member.axis),              \
      ANY_DOUBLE(row, name##_radius, member.radius), ANY_DOUBLE(row, name##_length, member.length)

/* The members of a tl_pair_law, which `member` (with its point) leads to. */
#define LAW(row, member)                                                                           \
  REAL(row, friction, member friction), REAL(row, restitution, member restitution),                \
      REAL(row, static_friction, member static_friction), REAL(row, rolling, member rolling),      \
      REAL(row, spinning, member spinning), REAL(row, cohesion, member cohesion),                  \
      REAL(row, stiffness, member stiffness),                                                      \
      LATE_REAL(row, rolling_coefficient, member rolling_coefficient, 8),                          \
      LATE_REAL(row, surface_energy, member surface_energy, 8)

#define TABLE(row, table)                                                                          \
  const tl_table tl_table_##table = {#table, sizeof(row), table##_columns,                         \
                                     (int)(sizeof table##_columns / sizeof *table##_columns)}

/* HDF5 type of a field of fields.h. */
#define H5_TYPE(scalar)                                                                            \
  ((scalar) == TALUS_FLOAT32  ? TL_H5_F32                                                          \
   : (scalar) == TALUS_UINT32 ? TL_H5_U32                                                          \
   : (scalar) == TALUS_UINT64 ? TL_H5_U64                                                          \
   : (scalar) == TL_BOOL      ? TL_H5_U8                                                           \
                              : TL_H5_F64)

/* ---- tables ---------------------------------------------------------------------------------- */

/* Settings are checked by talus_world_create, and reports hold what the step found. */
static const tl_column world_columns[] = {
    REAL(struct talus_world, gravity, model.gravity),
    DOUBLE(struct talus_world, dt, model.dt),
    LATE_U32(struct talus_world, substeps, model.substeps, 8),
    U32(struct talus_world, broad, model.broad),
    ANY_DOUBLE(struct talus_world, skin, model.skin),
    U32(struct talus_world, narrow_ellipsoid, model.narrow.ellipsoid),
    LATE_U32(struct talus_world, narrow_tree, model.narrow.tree, 8),
    LATE_U32(struct talus_world, narrow_triangle, model.narrow.triangle, 10),
    LATE_U32(struct talus_world, narrow_fusion, model.narrow.fusion, 10),
    U32(struct talus_world, solve, model.solve.kind),
    U32(struct talus_world, spring_law, model.solve.law),
    ANY_DOUBLE(struct talus_world, reach, model.solve.reach),
    ANY_DOUBLE(struct talus_world, tangential, model.solve.tangential),
    U32(struct talus_world, friction, model.solve.friction),
    I32(struct talus_world, iterations, model.solve.iterations),
    I32(struct talus_world, iterations_max, model.solve.iterations_max),
    ANY_DOUBLE(struct talus_world, tolerance, model.solve.tolerance),
    BOOL(struct talus_world, warm_start, model.solve.warm_start),
    ANY_DOUBLE(struct talus_world, recovery, model.solve.recovery),
    ANY_DOUBLE(struct talus_world, recovery_speed, model.solve.recovery_speed),
    ANY_DOUBLE(struct talus_world, bounce_speed, model.solve.bounce_speed),
    U32(struct talus_world, method, model.solve.method),
    ANY_DOUBLE(struct talus_world, omega, model.solve.omega),
    ANY_DOUBLE(struct talus_world, lambda, model.solve.lambda),
    U32(struct talus_world, reduction, model.solve.reduction),
    BOOL(struct talus_world, islands, model.solve.islands),
    ANY_DOUBLE(struct talus_world, slop, model.solve.slop),
    ANY_DOUBLE(struct talus_world, correction, model.solve.correction),
    ANY_DOUBLE(struct talus_world, margin, model.margin),
    ANY_DOUBLE(struct talus_world, sleep_speed, model.sleep.speed),
    ANY_DOUBLE(struct talus_world, sleep_time, model.sleep.time),
    BOOL(struct talus_world, domain_enabled, model.domain.enabled),
    ANY_DOUBLE(struct talus_world, domain_box, model.domain.box),
    BOOL(struct talus_world, domain_periodic, model.domain.periodic),
    U32(struct talus_world, domain_outside, model.domain.outside),
    U32(struct talus_world, strict, strict),
    U64(struct talus_world, sunk, sunk),
    U64(struct talus_world, sunk_first, sunk_first),
    U64(struct talus_world, next_uid, next_uid),
    U64(struct talus_world, steps, steps),
    LATE_DOUBLE(struct talus_world, time, time, 7),
    LATE_DOUBLE(struct talus_world, contacts_dt, contacts.dt, 7),
    LATE_DOUBLE(struct talus_world, joints_dt, joints.dt, 7),
    U64(struct talus_world, bodies, model.bodies),
    LATE_U64(struct talus_world, wall_pairs, walls.asked, 8),
    LATE_U64(struct talus_world, wall_tests, walls.tested, 8),
    U64(struct talus_world, emitted, emitted),
    U64(struct talus_world, removed, removed),
    KIND(struct talus_world, broad_told, broad_told, TALUS_BROAD_BVH + 1),
    KIND(struct talus_world, last_broad, last.broad, TALUS_BROAD_BVH + 1),
    U64(struct talus_world, last_pairs, last.pairs),
    U64(struct talus_world, last_pushed, last.pushed),
    U64(struct talus_world, last_relayed, last.relayed),
    ANY_DOUBLE(struct talus_world, last_residual_max, last.solve.residual_max),
    ANY_DOUBLE(struct talus_world, last_residual_rms, last.solve.residual_rms),
    I32(struct talus_world, last_iterations, last.solve.iterations),
    ANY_DOUBLE(struct talus_world, last_objective, last.solve.objective),
    ANY_DOUBLE(struct talus_world, last_contact_work, last.solve.contact_work),
    ANY_DOUBLE(struct talus_world, last_load_work, last.solve.load_work),
    ANY_DOUBLE(struct talus_world, last_overlap, last.depths.most),
    ANY_DOUBLE(struct talus_world, last_overlap_share, last.depths.share),
    ANY_DOUBLE(struct talus_world, last_rise, last.solve.rise),
    I32(struct talus_world, last_restarts, last.solve.restarts),
    ANY_DOUBLE(struct talus_world, last_made_energy, last.solve.made_energy),
    I32(struct talus_world, last_corrected, last.solve.corrected),
    I32(struct talus_world, last_unconverged, last.solve.unconverged),
    ANY_DOUBLE(struct talus_world, last_worst_residual, last.solve.worst_residual),
    U32(struct talus_world, last_worst, last.solve.worst),
    ANY_DOUBLE(struct talus_world, contact_work, contact_work),
    ANY_DOUBLE(struct talus_world, made_energy, made_energy),
    U64(struct talus_world, energy_corrections, energy_corrections),
    U64(struct talus_world, unconverged, unconverged),
    ANY_DOUBLE(struct talus_world, worst_residual, worst_residual),
    ANY_DOUBLE(struct talus_world, worst_time, worst_time),
    U64(struct talus_world, worst_body, worst_body),
    ANY_DOUBLE(struct talus_world, load_work, load_work),
    ANY_DOUBLE(struct talus_world, flow_energy, flow_energy),
    ANY_DOUBLE(struct talus_world, last_wall_broad, last.wall_broad),
    ANY_DOUBLE(struct talus_world, last_wall_narrow, last.wall_narrow),
    ANY_DOUBLE(struct talus_world, last_wall_solve, last.wall_solve),
    ANY_DOUBLE(struct talus_world, last_wall_step, last.wall_step),
    DOUBLE(struct talus_world, wall, wall),
    U32(struct talus_world, joints, model.solve.joints),
    U64(struct talus_world, next_joint, joints.next_uid),
    BOOL(struct talus_world, must_assemble, joints.must_assemble),
    BOOL(struct talus_world, is_pushed, penalty.is_pushed),
    ANY_DOUBLE(struct talus_world, spring_stored, penalty.stored),
    ANY_DOUBLE(struct talus_world, spring_damping, penalty.damping),
    ANY_DOUBLE(struct talus_world, spring_friction, penalty.friction),
    DOUBLE(struct talus_world, auto_stiffness, penalty.auto_stiffness),
    BOOL(struct talus_world, step_told, penalty.told),
    ANY_DOUBLE(struct talus_world, critical, penalty.critical),
    ANY_DOUBLE(struct talus_world, last_elastic, last.solve.elastic),
    ANY_DOUBLE(struct talus_world, last_damping_work, last.solve.damping_work),
    ANY_DOUBLE(struct talus_world, last_friction_work, last.solve.friction_work),
    ANY_DOUBLE(struct talus_world, damping_work, damping_work),
    ANY_DOUBLE(struct talus_world, friction_work, friction_work),
    ANY_DOUBLE(struct talus_world, last_joint_work, last.solve.joint_work),
    ANY_DOUBLE(struct talus_world, joint_work, joint_work),
    LATE_U32(struct talus_world, step, model.step, 8),
    LATE_U32(struct talus_world, shell, model.solve.shell, 8),
    LATE_U32(struct talus_world, response, model.solve.response, 8),
    LATE_U64(struct talus_world, collisions, collisions, 8),
    LATE_DOUBLE(struct talus_world, virial, virial, 8),
    LATE_U64(struct talus_world, hasty, hasty, 8),
    LATE_U64(struct talus_world, last_collisions, last.solve.collisions, 8),
    LATE_DOUBLE(struct talus_world, last_virial, last.solve.virial, 8),
    LATE_U64(struct talus_world, last_outside, last.solve.outside, 8),
    LATE_DOUBLE(struct talus_world, zone_energy, zone_energy, 9),
    LATE_DOUBLE(struct talus_world, zone_work, zone_work, 9),
    LATE_U32(struct talus_world, unswept, model.unswept, 10),
    LATE_DOUBLE(struct talus_world, dt_min, model.dt_min, 10),
    LATE_U32(struct talus_world, allows_overlap, model.allows_overlap, 10),
    LATE_DOUBLE(struct talus_world, halo, model.halo, 10),
    LATE_DOUBLE(struct talus_world, adaptive_longest, adaptive.longest, 10),
    LATE_DOUBLE(struct talus_world, adaptive_least, adaptive.least, 10),
    LATE_U64(struct talus_world, last_swept, last.swept, 10),
    LATE_U32(struct talus_world, last_cut_by, last.cut_by, 10),
    LATE_U32(struct talus_world, last_partner, last.partner, 10),
    LATE_U64(struct talus_world, adaptive_swept, adaptive.swept, 10),
    LATE_U64(struct talus_world, adaptive_cut, adaptive.cut, 10),
    LATE_U64(struct talus_world, adaptive_cut_by, adaptive.cut_by, 10),
    LATE_DOUBLE(struct talus_world, growth, model.growth, 11),
    LATE_U64(struct talus_world, local_body_steps, local.counts.body_steps, 11),
    LATE_U64(struct talus_world, local_body_steps_global, local.counts.body_steps_global, 11),
    LATE_U64(struct talus_world, local_clusters, local.counts.clusters, 11),
    LATE_U64(struct talus_world, local_rounds, local.counts.rounds, 11),
    LATE_U64(struct talus_world, local_rendezvous, local.counts.rendezvous, 11),
    LATE_U64(struct talus_world, local_rollbacks, local.counts.rollbacks, 11),
    LATE_U64(struct talus_world, local_histogram, local.counts.histogram, 11),
    LATE_DOUBLE(struct talus_world, local_depth, local.counts.depth, 11),
    LATE_DOUBLE(struct talus_world, local_window, local.counts.window, 11),
    LATE_U32(struct talus_world, implicit_method, model.implicit.method, 11),
    LATE_I32(struct talus_world, implicit_iterations, model.implicit.iterations, 11),
    LATE_DOUBLE(struct talus_world, implicit_tolerance, model.implicit.tolerance, 11),
    LATE_DOUBLE(struct talus_world, implicit_damping, model.implicit.damping, 11),
    LATE_I32(struct talus_world, last_inner, last.solve.inner, 11),
    LATE_DOUBLE(struct talus_world, last_force_change, last.solve.force_change, 11),
    LATE_DOUBLE(struct talus_world, last_step_loss, last.solve.step_loss, 11),
    LATE_DOUBLE(struct talus_world, step_loss, step_loss, 11),
    LATE_DOUBLE(struct talus_world, spring_pressed, penalty.pressed, 11),
    LATE_U64(struct talus_world, local_steps, local.counts.steps, 12),
    LATE_U64(struct talus_world, local_dropped, local.counts.dropped, 12),
    LATE_U64(struct talus_world, adaptive_steps, adaptive.steps, 12),
    LATE_U64(struct talus_world, adaptive_body_steps, adaptive.body_steps, 12),
    LATE_U64(struct talus_world, comparisons, comparisons, 12),
    LATE_U64(struct talus_world, fallbacks, fallbacks, 12),
};
TABLE(struct talus_world, world);

/* Derived numbers are saved too: another version may derive them with another last bit. The lists
 * of hulls and clumps are saved apart, one after the other (save_lists). */
static const tl_column shapes_columns[] = {
    TEXT(tl_shape, name, name),           KIND(tl_shape, kind, kind, TALUS_SHAPE_KINDS),
    ANY_DOUBLE(tl_shape, size, size),     U32(tl_shape, open, open),
    DOUBLE(tl_shape, volume, volume),     REAL(tl_shape, gyration, gyration),
    REAL(tl_shape, radius, radius),       BOOL(tl_shape, bounded, bounded),
    BOOL(tl_shape, isotropic, isotropic), DOUBLE(tl_shape, centre, centre),
    REAL(tl_shape, axes, axes),           DOUBLE(tl_shape, error, error),
    U32(tl_shape, points, point_count),   U32(tl_shape, faces, face_count),
    U32(tl_shape, edges, edge_count),
};
TABLE(tl_shape, shapes);

static const tl_column materials_columns[] = {
    TEXT(tl_material, name, name),   REAL(tl_material, density, density), LAW(tl_material, law.),
    REAL(tl_material, young, young), REAL(tl_material, poisson, poisson),
};
TABLE(tl_material, materials);

static const tl_column laws_columns[] = {
    LAW(tl_pair_law, ),
};
TABLE(tl_pair_law, laws);

static const tl_column overrides_columns[] = {
    U32(tl_pair_override, a, a),
    U32(tl_pair_override, b, b),
    LAW(tl_pair_override, law.),
};
TABLE(tl_pair_override, overrides);

/* Motions are rows of terms, and terms may have tables: all numbers of all tables, in a row. */
typedef struct motion_value {
  double value;
} motion_value;

static const tl_column motions_columns[] = {
    DOUBLE(tl_motion, position, position), REAL(tl_motion, rotation, rotation),
    DOUBLE(tl_motion, clock, clock),       U32(tl_motion, first, first),
    U32(tl_motion, count, count),
};
TABLE(tl_motion, motions);

static const tl_column motion_terms_columns[] = {
    REAL(tl_motion_term, velocity, velocity),
    REAL(tl_motion_term, spin, spin),
    REAL(tl_motion_term, amplitude, amplitude),
    REAL(tl_motion_term, swing, swing),
    DOUBLE(tl_motion_term, frequency, frequency),
    DOUBLE(tl_motion_term, phase, phase),
    DOUBLE(tl_motion_term, through, through),
    DOUBLE(tl_motion_term, axis, axis),
    DOUBLE(tl_motion_term, from, from),
    ANY_DOUBLE(tl_motion_term, until, until),
    U64(tl_motion_term, table, table),
    U32(tl_motion_term, rows, rows),
    KIND(tl_motion_term, table_kind, table_kind, TALUS_TABLE_POSES + 1),
    KIND(tl_motion_term, is_through, is_through, TL_MOTION_SURFACE + 1),
    KIND(tl_motion_term, is_smooth, is_smooth, 2),
};
TABLE(tl_motion_term, motion_terms);

static const tl_column motion_values_columns[] = {
    COLUMN(motion_value, value, value, double, TL_H5_F64, TL_RULE_FINITE, 0),
};
TABLE(motion_value, motion_values);

/* Since format 13: bodies whose steps of local time go on beyond the time of the file. */
static const tl_column ahead_columns[] = {
    U64(tl_ahead, uid, uid),
    DOUBLE(tl_ahead, until, c),
    DOUBLE(tl_ahead, begun, begun),
    DOUBLE(tl_ahead, position, position),
    REAL(tl_ahead, rotation, rotation),
    REAL(tl_ahead, velocity, velocity),
    REAL(tl_ahead, spin, spin),
    DOUBLE(tl_ahead, path, law),
    BOOL(tl_ahead, flies, flies),
};
TABLE(tl_ahead, ahead);

/* Courses have rows of numbers, all of them one after the other. */
static const tl_column courses_columns[] = {
    LATE_U64(tl_course, uid, uid, 8),
    LATE_U32(tl_course, kind, kind, 8),
    LATE_U32(tl_course, rows, rows, 8),
    LATE_U64(tl_course, first, first, 8),
    LATE_DOUBLE(tl_course, clock, clock, 8),
    LATE_DOUBLE(tl_course, axis, axis, 8),
    LATE_DOUBLE(tl_course, max_speed, max_speed, 8),
};
TABLE(tl_course, courses);

static const tl_column course_values_columns[] = {LATE_DOUBLE(motion_value, value, value, 8)};
TABLE(motion_value, course_values);

static const tl_column ignored_columns[] = {
    U32(tl_group_pair, a, a),
    U32(tl_group_pair, b, b),
};
TABLE(tl_group_pair, ignored);

typedef struct group_row {
  char *name;
} group_row;
static const tl_column groups_columns[] = {TEXT_NEVER_NULL(group_row, name, name)};
TABLE(group_row, groups);

static const tl_column names_columns[] = {
    TEXT_NEVER_NULL(tl_body_name, name, name),
    U64(tl_body_name, uid, uid),
};
TABLE(tl_body_name, names);

static const tl_column handles_columns[] = {
    U32(tl_handle, slot, slot),
    U32(tl_handle, generation, generation),
};
TABLE(tl_handle, handles);

typedef struct free_handle_row {
  uint32_t handle;
} free_handle_row;
static const tl_column free_handles_columns[] = {U32(free_handle_row, handle, handle)};
TABLE(free_handle_row, free_handles);

/* What contacts and joints have is in the lists of fields.h. */
#define FIELD(row, name, columns, scalar, flags)                                                   \
  {                                                                                                \
#name, offsetof(row, name), columns, H5_TYPE(scalar),                                          \
        !((flags)&TL_SAVED) ? TL_RULE_UNSAVED : (scalar) == TL_BOOL                                \
        ? TL_RULE_BELOW : TL_RULE_FINITE,                                                          \
        (scalar) == TL_BOOL ? 2 : 0                                                                \
  }
#define CONTACT_FIELD(name, type, columns, scalar, flags)                                          \
  FIELD(tl_contact, name, columns, scalar, flags),
#define LAW_STATE_FIELD(name, type, columns, scalar, flags)                                        \
  FIELD(tl_law_state, name, columns, scalar, flags),
#define SPRING_FIELD(name, type, columns, scalar, flags)                                           \
  FIELD(tl_spring, name, columns, scalar, flags),
#define AND_JOINT_FIELD(name, type, columns, scalar, flags)                                        \
  , FIELD(tl_joint, name, columns, scalar, flags)

static const tl_column contacts_columns[] = {TL_CONTACT_FIELDS(CONTACT_FIELD)};
TABLE(tl_contact, contacts);

static const tl_column law_states_columns[] = {TL_LAW_STATE_FIELDS(LAW_STATE_FIELD)};
/* Files call them as the first format did. */
const tl_table tl_table_law_states = {
    "touches", sizeof(tl_law_state), law_states_columns,
    (int)(sizeof law_states_columns / sizeof *law_states_columns)};

typedef struct hit_row {
  talus_vec3 impulse;
} hit_row;
static const tl_column hits_columns[] = {REAL(hit_row, impulse, impulse)};
TABLE(hit_row, hits);

static const tl_column springs_columns[] = {TL_SPRING_FIELDS(SPRING_FIELD)};
TABLE(tl_spring, springs);

#define LAZY_TABLE(array, type, FIELDS) &tl_table_##array,
const tl_table *const tl_tables_of_contacts[TL_CONTACT_RECORD_COUNT] = {
    &tl_table_contacts, TL_CONTACT_RECORDS(LAZY_TABLE)};

/* Infinities mean "no limit"; tl_joint_check checks the numbers. */
static const tl_column joints_columns[] = {
    TEXT(tl_joint, name, name),
    U64(tl_joint, uid, uid),
    KIND(tl_joint, kind, kind, TALUS_JOINT_KINDS),
    U32(tl_joint, a, a),
    U32(tl_joint, b, b),
    DOUBLE(tl_joint, anchor_a, anchor_a),
    DOUBLE(tl_joint, anchor_b, anchor_b),
    REAL(tl_joint, frame_a, frame_a),
    REAL(tl_joint, frame_b, frame_b),
    DOUBLE(tl_joint, start_b, start_b),
    REAL(tl_joint, start_frame_a, start_frame_a),
    REAL(tl_joint, start_frame_b, start_frame_b),
    DOUBLE(tl_joint, length, length),
    DOUBLE(tl_joint, ratio, ratio),
    ANY_DOUBLE(tl_joint, low, low),
    ANY_DOUBLE(tl_joint, high, high),
    DOUBLE(tl_joint, restitution, restitution),
    DOUBLE(tl_joint, stiffness, stiffness),
    DOUBLE(tl_joint, damping, damping),
    DOUBLE(tl_joint, rest, rest),
    KIND(tl_joint, motor, motor, TALUS_MOTOR_FORCE + 1),
    DOUBLE(tl_joint, motor_target, motor_target),
    ANY_DOUBLE(tl_joint, motor_max, motor_max),
    DOUBLE(tl_joint, motor_stiffness, motor_stiffness),
    DOUBLE(tl_joint, motor_damping, motor_damping),
    ANY_DOUBLE(tl_joint, break_force, break_force),
    ANY_DOUBLE(tl_joint, break_torque, break_torque),
    BOOL(tl_joint, rope, rope),
    BOOL(tl_joint, about, about),
    BOOL(tl_joint, collide, collide),
    BOOL(tl_joint, assemble, assemble) TL_JOINT_FIELDS(AND_JOINT_FIELD),
};
TABLE(tl_joint, joints);

/* The whole definition is checked as if the joint were added anew. */
static const tl_column emitters_columns[] = {
    TEXT(tl_emitter, name, def.name),
    U32(tl_emitter, body_kind, def.body.kind),
    U32(tl_emitter, body_shape, def.body.shape.index),
    U32(tl_emitter, body_material, def.body.material.index),
    ANY_DOUBLE(tl_emitter, body_position, def.body.position),
    ANY_REAL(tl_emitter, body_rotation, def.body.rotation),
    REAL(tl_emitter, body_velocity, def.body.velocity),
    REAL(tl_emitter, body_spin, def.body.spin),
    ANY_DOUBLE(tl_emitter, body_scale, def.body.scale),
    DOUBLE(tl_emitter, body_mass, def.body.mass),
    U32(tl_emitter, body_lock, def.body.lock),
    U32(tl_emitter, body_group, def.body.group),
    REAL(tl_emitter, body_force, def.body.force),
    REAL(tl_emitter, body_torque, def.body.torque),
    REGION(tl_emitter, from, def.from),
    DOUBLE(tl_emitter, rate, def.rate),
    DOUBLE(tl_emitter, from_time, def.from_time),
    ANY_DOUBLE(tl_emitter, until, def.until),
    U32(tl_emitter, size_kind, def.size.kind),
    ANY_DOUBLE(tl_emitter, size_low, def.size.low),
    ANY_DOUBLE(tl_emitter, size_high, def.size.high),
    ANY_DOUBLE(tl_emitter, size_median, def.size.median),
    ANY_DOUBLE(tl_emitter, size_sigma, def.size.sigma),
    U64(tl_emitter, size_rows, def.size.rows),
    BOOL(tl_emitter, size_by_mass, def.size.by_mass),
    BOOL(tl_emitter, random_rotation, def.random_rotation),
    U64(tl_emitter, seed, def.seed),
    U64(tl_emitter, serial, serial),
    U64(tl_emitter, attempt, attempt),
    U64(tl_emitter, blocked, blocked),
    LATE_DOUBLE(tl_emitter, thermal, def.thermal, 8),
    LATE_U32(tl_emitter, inflow, def.inflow, 8),
    LATE_U32(tl_emitter, arrival, def.arrival, 8),
    LATE_U64(tl_emitter, burst, def.burst, 8),
    LATE_U64(tl_emitter, owed, owed, 8),
    LATE_U64(tl_emitter, returned, returned, 8),
    LATE_DOUBLE(tl_emitter, next, next, 8),
    LATE_DOUBLE(tl_emitter, points, def.points, 9),
    LATE_U32(tl_emitter, point_count, def.point_count, 9),
};
TABLE(tl_emitter, emitters);

static const tl_column sinks_columns[] = {
    TEXT(tl_sink, name, name),
    REGION(tl_sink, region, region),
    U64(tl_sink, removed, removed),
    LATE_U32(tl_sink, recycle, recycle, 8),
};
TABLE(tl_sink, sinks);

static const tl_column probes_columns[] = {
    TEXT(tl_probe, name, name),
    BOOL(tl_probe, on_body, on_body),
    BOOL(tl_probe, on_joint, on_joint),
    U64(tl_probe, uid, uid),
    REGION(tl_probe, region, region),
    U32(tl_probe, record, record),
    DOUBLE(tl_probe, from, from),
    DOUBLE(tl_probe, weight, weight),
    DOUBLE(tl_probe, force, force),
    DOUBLE(tl_probe, torque, torque),
    DOUBLE(tl_probe, mass_flow, mass_flow),
    DOUBLE(tl_probe, count, count),
    DOUBLE(tl_probe, energy, energy),
    LATE_DOUBLE(tl_probe, velocity, velocity, 8),
    LATE_DOUBLE(tl_probe, spin, spin, 8),
    LATE_DOUBLE(tl_probe, stress, stress, 8),
    LATE_DOUBLE(tl_probe, kinetic_stress, kinetic_stress, 8),
    LATE_DOUBLE(tl_probe, solid, solid, 8),
    LATE_DOUBLE(tl_probe, heads, heads, 8),
    LATE_DOUBLE(tl_probe, bonds, bonds, 8),
    LATE_DOUBLE(tl_probe, counts, counts, 8),
    LATE_DOUBLE(tl_probe, position, position, 8),
    LATE_DOUBLE(tl_probe, rotation, rotation, 8),
    LATE_DOUBLE(tl_probe, sizes, sizes, 8),
    LATE_U32(tl_probe, size_count, size_count, 8),
    LATE_DOUBLE(tl_probe, every, every, 12),
};
TABLE(tl_probe, probes);

/* Since format 9, as all of it; sums of all averages, one after the other. */
static const tl_column averages_columns[] = {
    TEXT(tl_average, name, name),        KIND(tl_average, grid, grid, TALUS_GRID_BOX + 1),
    KIND(tl_average, across, across, 3), U32(tl_average, record, record),
    U32(tl_average, cells, cells),       DOUBLE(tl_average, box, box),
    DOUBLE(tl_average, axis, axis),      U64(tl_average, wall, wall),
    U32(tl_average, segments, segments), BOOL(tl_average, by_flights, by_flights),
    DOUBLE(tl_average, from, from),      DOUBLE(tl_average, weight, weight),
};
TABLE(tl_average, averages);

static const tl_column average_sums_columns[] = {DOUBLE(motion_value, value, value)};
TABLE(motion_value, average_sums);

static const tl_column zones_columns[] = {
    TEXT(tl_zone, name, name),
    KIND(tl_zone, of, of, TALUS_ZONE_GROUP + 1),
    KIND(tl_zone, shell, shell, TALUS_ZONE_SOFT + 1),
    U32(tl_zone, group, group),
    U32(tl_zone, with, with),
    U64(tl_zone, uid, uid),
    DOUBLE(tl_zone, at, at),
    DOUBLE(tl_zone, radius, radius),
    DOUBLE(tl_zone, strength, strength),
    DOUBLE(tl_zone, power, power),
    BOOL(tl_zone, boundary, boundary),
    BOOL(tl_zone, trigger, trigger),
    DOUBLE(tl_zone, from, from),
    DOUBLE(tl_zone, weight, weight),
    DOUBLE(tl_zone, inside, inside),
    DOUBLE(tl_zone, neighbours, neighbours),
    DOUBLE(tl_zone, energy, energy),
    U64(tl_zone, entered, entered),
    U64(tl_zone, left, left),
    DOUBLE(tl_zone, mass, mass),
    DOUBLE(tl_zone, kinetic, kinetic),
    DOUBLE(tl_zone, dwell, dwell),
};
TABLE(tl_zone, zones);

static const tl_column zone_members_columns[] = {
    U32(tl_zone_member, zone, zone),
    U64(tl_zone_member, centre, centre),
    U64(tl_zone_member, body, body),
    DOUBLE(tl_zone_member, since, since),
};
TABLE(tl_zone_member, zone_members);

/* ---- rules ----------------------------------------------------------------------------------- */

static bool is_finite_at(tl_h5_type type, const void *data, size_t i) {
  return type == TL_H5_F64   ? tl_is_finite_d(((const double *)data)[i])
         : type == TL_H5_F32 ? tl_is_finite_d((double)((const float *)data)[i])
                             : true;
}

static bool is_below_at(tl_h5_type type, const void *data, size_t i, uint32_t limit) {
  return type == TL_H5_U8 ? ((const uint8_t *)data)[i] < limit
                          : ((const uint32_t *)data)[i] < limit;
}

talus_status tl_checkpoint_check_values(const char *name, tl_h5_type type, tl_column_rule rule,
                                        uint32_t limit, const void *data, size_t rows,
                                        size_t columns) {
  const bool is_finite = rule == TL_RULE_FINITE || rule == TL_RULE_LATE;
  if (!is_finite && rule != TL_RULE_BELOW)
    return TALUS_OK;
  for (size_t i = 0; i < rows * columns; ++i) {
    if (is_finite && !is_finite_at(type, data, i))
      return tl_fail(TALUS_ERROR_INVALID, "'%s', row %zu: a number is not finite", name,
                     i / columns);
    if (rule == TL_RULE_BELOW && !is_below_at(type, data, i, limit))
      return tl_fail(TALUS_ERROR_INVALID, "'%s', row %zu: a value is not below %u", name,
                     i / columns, limit);
  }
  return TALUS_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

tl_h5_type tl_checkpoint_type(int scalar) { return H5_TYPE(scalar); }

const char *tl_checkpoint_field_name(const tl_field *field) {
  static const char *const saved[][2] = {
      {"sleep_flags", "rest"}, {"spring_force", "push"}, {"spring_torque", "twist"}};
  for (size_t i = 0; i < sizeof saved / sizeof *saved; ++i)
    if (strcmp(field->name, saved[i][0]) == 0)
      return saved[i][1];
  return field->name;
}

const char *tl_checkpoint_name(char text[TL_CHECKPOINT_NAME_BYTES], const char *table,
                               const char *column, const char *suffix) {
  snprintf(text, TL_CHECKPOINT_NAME_BYTES, "%s/%s%s", table, column, suffix);
  return text;
}

#endif
