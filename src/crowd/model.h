/* The model: everything the stages read and a step does not change. A stage sees it in its crowd
 * (crowd.h), and no world. */
#ifndef TL_MODEL_H
#define TL_MODEL_H

#include <math.h>

#include "base/log.h"
#include "base/parallel.h"
#include "crowd/fields.h"
#include "crowd/shape_row.h"
#include "kernels/aabb.h"
#include "kernels/mat3.h"
#include "kernels/motion.h"
#include "kernels/quat.h"
#include "kernels/vec3.h"

/* ---- materials ------------------------------------------------------------------------------- */

/* What a contact of two materials uses; a table of n x n rows (symmetric), rebuilt when a material
 * or an override is added. */
typedef struct tl_pair_law {
  talus_real friction, restitution;
  talus_real static_friction;     /* >= friction */
  talus_real rolling, spinning;   /* m */
  talus_real cohesion;            /* N */
  talus_real rolling_coefficient; /* times the reduced radius: what comes on top of `rolling` */
  talus_real surface_energy;      /* J/m2: what comes on top of `cohesion` (tl_law_cohesion) */
  talus_real stiffness;           /* N/m or, by Noble's law, N/sqrt(kg); 0: as the step allows */
} tl_pair_law;

typedef struct tl_material {
  char *name;
  talus_real density;
  tl_pair_law law; /* of the material with itself */
  talus_real young, poisson;
} tl_material;

/* Which laws beyond friction and restitution some pair of materials has. Only then do contacts
 * carry a law state from step to step (contacts.h), and only for contacts with torques does the
 * solver use its slower code. */
enum {
  TL_LAW_STATIC = 1,  /* static friction larger than friction */
  TL_LAW_ROLLING = 2, /* rolling or spinning */
  TL_LAW_COHESION = 4,
  TL_LAW_CURVED = 8 /* one of these two goes with the radius of the pair */
};

typedef struct tl_motion {
  talus_dvec3 position; /* pose at time 0 of its clock */
  talus_quat rotation;
  double clock;          /* s: what it reads at time 0 of the world */
  uint32_t first, count; /* its terms */
} tl_motion;

typedef struct tl_group_pair {
  uint32_t a, b; /* a <= b */
} tl_group_pair;

#define TL_SUBSTEPS_MOST 1000

typedef struct tl_model {
  talus_vec3 gravity;
  double dt;
  int substeps; /* of a step, in which contacts are found once (step/substep.h); 0 counts as 1 */
  talus_step_kind step;
  talus_broad_kind broad;
  double skin; /* m: candidate pairs are kept while boxes move by less than about half; 0: not;
                  < 0: how much is chosen */
  talus_narrow_def narrow;
  talus_solve_def solve;
  double margin;               /* < 0: from speed and dt */
  uint32_t unswept;            /* not 0: fast bodies are not looked for along their way */
  double dt_min;               /* s: of adaptive and local steps */
  double growth;               /* of local ones over those before, at most */
  uint32_t allows_overlap;     /* not 0: bodies of adaptive steps may overlap at the start */
  talus_implicit_def implicit; /* of implicit steps */
  double halo; /* m, likewise: nearer than this is touching; < 0: by the size of bodies */
  talus_sleep_def sleep;
  talus_domain_def domain;
  TL_ARRAY(tl_shape) shapes;
  TL_ARRAY(tl_material) materials;
  TL_ARRAY(tl_pair_law) laws; /* materials.count squared */
  uint32_t law_kinds;         /* TL_LAW_...: those that some pair has; derived */
  TL_ARRAY(tl_motion) motions;
  TL_ARRAY(tl_motion_term) motion_terms; /* of all motions, one after the other */
  TL_ARRAY(double) motion_values;        /* rows of all their tables */
  TL_ARRAY(tl_group_pair) ignored;       /* sorted, unique */
  tl_properties property;                /* `bodies` rows */
  size_t bodies;
  tl_par par;
  tl_log log;
} tl_model;

/* s: what solvers and joints take for a step in one of length dt. */
static inline double tl_model_substep(const tl_model *model, double dt) {
  return model->substeps > 1 ? dt / model->substeps : dt;
}

/* Whether steps are as long as nothing meets: no body overlaps another. */
static inline bool tl_step_is_free(const tl_model *model) {
  return model->step == TALUS_STEP_ADAPTIVE || model->step == TALUS_STEP_LOCAL;
}

/* Whether a step solves for the forces at its end; `euler` does not, and is as short as others. */
static inline bool tl_model_is_implicit(const tl_model *model) {
  return model->step == TALUS_STEP_IMPLICIT && model->implicit.method != TALUS_IMPLICIT_EULER;
}

/* Whether the method of implicit steps asks for surrogate trees of meshes. */
static inline bool tl_model_has_surrogates(const tl_model *model) {
  return model->implicit.method == TALUS_IMPLICIT_SURROGATE_PICARD ||
         model->implicit.method == TALUS_IMPLICIT_MULTIRES_PICARD;
}

/* Whether its steps go down one level of them with each look. */
static inline bool tl_model_goes_down(const tl_model *model) {
  return model->step == TALUS_STEP_IMPLICIT &&
         model->implicit.method == TALUS_IMPLICIT_MULTIRES_PICARD;
}

/* Whether groups a and b were told not to collide. */
bool tl_model_ignores(const tl_model *model, uint32_t group_a, uint32_t group_b);

/* Principal moments of inertia of the body in a slot, kg m2 (0 where the mass is). */
static inline talus_vec3 tl_body_inertia(const tl_model *model, size_t slot) {
  const tl_shape *shape = &model->shapes.data[model->property.shape[slot]];
  const talus_real scale = model->property.scale[slot];
  return tl_scale(shape->gyration, model->property.mass[slot] * scale * scale);
}

static inline const tl_shape *tl_body_shape(const tl_model *model, size_t slot) {
  return &model->shapes.data[model->property.shape[slot]];
}

static inline bool tl_body_is_static(const tl_model *model, size_t slot) {
  return (model->property.flags[slot] & TL_FLAG_STATIC) != 0;
}

/* How far the surfaces of a body may part before cohesion lets go, m: a hundredth of its bounding
 * radius, so that a pair that turns by up to 1/20 rad in a step keeps its bond up to 0.95 of the
 * pull-off force (docs/theory/ccp.md). 0 for an unbounded body, whose partner decides. */
#define TL_BOND_REACH TL_R(0.01)
static inline talus_real tl_bond_reach_of(const tl_model *model, size_t slot) {
  return TL_BOND_REACH * tl_body_shape(model, slot)->radius * model->property.scale[slot];
}

/* Of a pair: that of the smaller body. */
static inline talus_real tl_bond_reach(const tl_model *model, size_t a, size_t b) {
  if (!tl_body_shape(model, a)->bounded)
    return tl_bond_reach_of(model, b);
  if (!tl_body_shape(model, b)->bounded)
    return tl_bond_reach_of(model, a);
  return tl_min(tl_bond_reach_of(model, a), tl_bond_reach_of(model, b));
}

/* Adaptive steps: a body's part of the distance at which a pair touches, m. The distance is the sum
 * of two parts. An automatic one is 0 of walls: a large one would keep small bodies far from it,
 * and who is nearer is moved away by half the distance at once, which others must have room for. */
#define TL_HALO_SIZES 1e-4
static inline talus_real tl_halo_of(const tl_model *model, size_t slot) {
  if (model->halo >= 0)
    return TL_R(0.5 * model->halo);
  if (model->property.flags[slot] & TL_FLAG_STATIC)
    return 0;
  return TL_R(0.5 * TL_HALO_SIZES) * tl_body_shape(model, slot)->radius *
         model->property.scale[slot];
}

/* Radius of curvature that contacts are given on a body, m; 0: flat. A sphere's own, that of the
 * ball of the same volume for other bounded bodies. */
talus_real tl_body_curvature(const tl_model *model, size_t slot);
/* 1/(1/Ra + 1/Rb); 0 where both are flat. */
talus_real tl_model_reduced_radius(const tl_model *model, size_t a, size_t b);

/* Springs: gaps over which a point that comes near begins to have its share of the force of a pair
 * (solve/penalty/share.c), m. 0 for what is not moved, and for what touches by one point in each
 * direction. */
static inline talus_real tl_model_band(const tl_model *model, size_t slot) {
  const tl_shape *shape = tl_body_shape(model, slot);
  if (tl_body_is_static(model, slot) || !shape->bounded || shape->kind == TALUS_SPHERE ||
      shape->kind == TALUS_ELLIPSOID || shape->kind == TALUS_SUPERELLIPSOID)
    return 0;
  return TL_R(0.02) * shape->radius * model->property.scale[slot];
}

/* Most torque against rolling over the normal force, m: a length, and a coefficient times the
 * reduced radius (Ai, Chen, Rotter and Ooi 2011). */
static inline talus_real tl_law_rolling(const tl_model *model, const tl_pair_law *law, size_t a,
                                        size_t b) {
  if (!(law->rolling_coefficient > 0))
    return law->rolling;
  return law->rolling + law->rolling_coefficient * tl_model_reduced_radius(model, a, b);
}

/* Force that it takes to pull the pair apart, N: of surfaces with an energy g each 4 pi g R
 * (Derjaguin, Muller and Toporov 1975: 2 pi w R with the work w = 2 g). */
static inline talus_real tl_law_cohesion(const tl_model *model, const tl_pair_law *law, size_t a,
                                         size_t b) {
  if (!(law->surface_energy > 0))
    return law->cohesion;
  return law->cohesion +
         TL_R(12.566370614359172) * law->surface_energy * tl_model_reduced_radius(model, a, b);
}

/* What holds between the bodies in two slots. */
static inline const tl_pair_law *tl_model_law(const tl_model *model, size_t a, size_t b) {
  if (model->materials.count == 1)
    return model->laws.data;
  return &model->laws.data[model->property.material[a] * model->materials.count +
                           model->property.material[b]];
}

/* Pose and velocity of the kinematic body in a slot. */
static inline tl_moving tl_body_moving(const tl_model *model, size_t slot, double time) {
  const tl_motion *m = &model->motions.data[model->property.motion[slot]];
  return tl_motion_at(m->position, m->rotation, model->motion_terms.data + m->first, m->count,
                      model->motion_values.data, tl_clock_at(m->clock, model->dt, time));
}

/* Whether the motion ever shifts the body. */
static inline bool tl_body_travels(const tl_model *model, size_t slot) {
  const tl_motion *m = &model->motions.data[model->property.motion[slot]];
  for (uint32_t i = 0; i < m->count; ++i) {
    const tl_motion_term *term = &model->motion_terms.data[m->first + i];
    if (!tl_motion_is_zero(term->velocity) || term->table_kind != TALUS_TABLE_NONE ||
        (!tl_motion_is_zero(term->amplitude) && term->frequency != 0))
      return true;
  }
  return false;
}

/* Whether the motion ever turns the body. */
static inline bool tl_body_turns(const tl_model *model, size_t slot) {
  const tl_motion *m = &model->motions.data[model->property.motion[slot]];
  for (uint32_t i = 0; i < m->count; ++i) {
    const tl_motion_term *term = &model->motion_terms.data[m->first + i];
    if (!tl_motion_is_zero(term->spin) || !tl_motion_is_zero(term->swing) ||
        term->table_kind == TALUS_TABLE_ABOUT || term->table_kind == TALUS_TABLE_POSES)
      return true;
  }
  return false;
}

/* Velocity and spin with which it covers exactly the way from t0 to t1 = t0 + h. */
static inline void tl_body_way(const tl_model *model, size_t slot, double t0, double t1, double h,
                               talus_vec3 *velocity, talus_vec3 *spin) {
  const tl_motion *m = &model->motions.data[model->property.motion[slot]];
  tl_motion_way(m->position, m->rotation, model->motion_terms.data + m->first, m->count,
                model->motion_values.data, tl_clock_at(m->clock, model->dt, t0),
                tl_clock_at(m->clock, model->dt, t1), h, velocity, spin);
}

/* to - from, by the nearest periodic image, taken in double and then narrowed. */
static inline talus_dvec3 tl_model_offset(const tl_model *model, talus_dvec3 from, talus_dvec3 to) {
  talus_dvec3 d = tl_dsub(to, from);
  if (model->domain.enabled) {
    const talus_domain_def *domain = &model->domain;
    if (domain->periodic[0]) {
      const double length = domain->box.hi.x - domain->box.lo.x;
      d.x -= length * floor(d.x / length + 0.5);
    }
    if (domain->periodic[1]) {
      const double length = domain->box.hi.y - domain->box.lo.y;
      d.y -= length * floor(d.y / length + 0.5);
    }
    if (domain->periodic[2]) {
      const double length = domain->box.hi.z - domain->box.lo.z;
      d.z -= length * floor(d.z / length + 0.5);
    }
  }
  return d;
}

#endif
