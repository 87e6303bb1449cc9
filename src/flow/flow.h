/* Flow: bodies that are added and removed at the end of steps, and probes.
 *
 * This stage decides; the world, which owns the bodies, adds and removes them. Random numbers are a
 * function of (seed, stream, serial), so that the only state is a few counters per emitter, which
 * are saved. */
#ifndef TL_FLOW_FLOW_H
#define TL_FLOW_FLOW_H

#include "contact/contact.h"

/* ---- regions --------------------------------------------------------------------------------- */

talus_status tl_region_check(const talus_region *region,
                             const char *what);                     /* finite, not inverted */
bool tl_region_contains(const talus_region *region, talus_dvec3 x); /* borders included */
double tl_region_volume(const talus_region *region);
talus_box tl_region_bounds(const talus_region *region);

/* ---- sizes ----------------------------------------------------------------------------------- */

talus_status tl_size_check(const talus_size_def *size, const char *what);
/* The largest that can come, and one that is as large as most; those of a lognormal have no end,
 * but what the generator can give has. */
double tl_size_largest(const talus_size_def *size);
double tl_size_usual(const talus_size_def *size);
/* Of a lognormal distribution: two deviations below the median, where one in forty is smaller. */
double tl_size_least(const talus_size_def *size);
/* The scale of object `serial`: a function of (seed, stream, serial) alone. */
double tl_size_draw(const talus_size_def *size, uint64_t seed, uint32_t stream, uint64_t serial);
/* Deep copy of the table and its release. */
talus_status tl_size_copy(talus_size_def *to, const talus_size_def *from);
void tl_size_release(talus_size_def *size);

/* ---- fill ------------------------------------------------------------------------------------ */

typedef struct tl_placement {
  talus_dvec3 position; /* of the shape's own frame */
  talus_quat rotation;
  double scale;
} tl_placement;

typedef TL_ARRAY(tl_placement) tl_placements;

/* Random places without overlap among themselves (by bounding spheres) and with the bodies there
 * are (by the narrow phase; bodies of ignored groups are not in the way), largest first, by trial
 * with a grid. Bodies lie wholly in the region; a periodic axis that it spans has no ends. What is
 * too dense for that is put on a lattice, each body shaken within its cell, and the log says so.
 * Then ordered along a Morton curve, so that neighbours in space are neighbours in memory. *wanted
 * is how many were asked for; placements->count how many fitted. */
talus_status tl_fill_plan(const tl_model *model, const tl_state *state, const talus_fill_def *def,
                          tl_placements *placements, uint64_t *wanted);

/* How fast body `serial` of a fill is; a function of (seed, serial). */
talus_vec3 tl_fill_velocity(const talus_fill_def *def, uint64_t serial);
talus_status tl_thermal_check(double thermal, const char *what);

/* ---- emitters, sinks, probes ----------------------------------------------------------------- */

typedef struct tl_emitter {
  talus_emitter_def def; /* owns name and size.table; def.body.name is NULL */
  uint64_t serial;       /* bodies emitted so far */
  uint64_t attempt;      /* tries for the next one that were blocked */
  uint64_t blocked;      /* blocked tries in all */
  uint64_t owed;         /* bodies that sinks sent back and that are still to come */
  uint64_t returned;     /* those that came */
  double next;           /* s: when the next burst comes; arrival: poisson */
} tl_emitter;

typedef struct tl_sink {
  char *name;
  talus_region region;
  uint64_t removed;
  uint32_t recycle; /* 0: none; otherwise one more than the row of the emitter */
} tl_sink;

/* Sums since `from`; time-weighted by the steps' length. */
typedef struct tl_probe {
  char *name;
  bool on_body, on_joint;
  uint64_t uid; /* of the body, or of the joint */
  talus_region region;
  uint32_t record;
  double from, weight;
  double force[3], torque[3], mass_flow[3], count, energy;
  double velocity[3], spin[3];         /* m, rad */
  double stress[6], kinetic_stress[6]; /* J s */
  double solid, heads, bonds;          /* m3 s; s: of bodies, and of those that they press on */
  double counts[TALUS_PROBE_SIZES + 1];
  double position[3], rotation[4]; /* the last */
  double sizes[TALUS_PROBE_SIZES];
  uint32_t size_count;
  talus_dvec3 centre; /* of mass of the body when the step began; means nothing between steps */
} tl_probe;

struct tl_obstacles;
struct tl_samples;

typedef struct tl_flow {
  TL_ARRAY(tl_emitter) emitters;
  TL_ARRAY(tl_sink) sinks;
  TL_ARRAY(tl_probe) probes;
  struct tl_obstacles *obstacles; /* memory for emitters; NULL: not needed yet */
  struct tl_samples *samples;     /* places within shapes, for solid fractions; likewise */
} tl_flow;

/* Deep copies of a definition with checks; on failure nothing is added. */
talus_status tl_flow_add_emitter(tl_flow *flow, const tl_model *model,
                                 const talus_emitter_def *def);
/* Where the bodies of an emitter may come: its region must not lie in the matter of a wall. */
talus_status tl_emitter_check_inlet(const tl_model *model, const tl_state *state,
                                    const talus_emitter_def *def, const char *what);
/* When its next body comes by the clock, s. */
double tl_emitter_due(const tl_emitter *emitter);
/* From now on the emitter emits what the sink removes. Both by name. */
talus_status tl_flow_recycle(tl_flow *flow, const char *sink, const char *emitter);
talus_status tl_flow_add_sink(tl_flow *flow, const char *name, const talus_region *region);
/* uid: of the body where def->on_body (its handle is the world's business). *probe is the row. */
talus_status tl_flow_add_probe(tl_flow *flow, const talus_probe_def *def, uint64_t uid, double now,
                               uint32_t *probe);
/* Whether what is to be recorded can be recorded there; `what` opens the message. */
talus_status tl_probe_check(const talus_probe_def *def, const char *what);
/* Takes the last emitter back. */
void tl_flow_drop_emitter(tl_flow *flow);
void tl_flow_release(tl_flow *flow);

typedef TL_ARRAY(talus_body_def) tl_new_bodies;

/* Appends to *fresh the bodies that are due by t1 and fit, ready to be added. The state is the one
 * at t1. Body k = 0, 1, ... of an emitter is due at from_time + k/rate, if that is before `until`;
 * in bursts, or at the times of a Poisson process, where the definition says so. What sinks sent
 * back is due at once. A blocked emitter tries a few places per step, then waits for the next one
 * and counts, and so it does after TL_EMIT_MOST bodies (flow/place.h); what is overdue comes out as
 * soon as there is room, after `until` too, so that no body is lost. Bodies in *fresh also block
 * one another. Allocates only when *fresh grows. */
talus_status tl_flow_emit(tl_flow *flow, const tl_model *model, const tl_state *state, double t1,
                          tl_new_bodies *fresh);

/* Sets remove[slot] to 1 for free bodies whose centre is in a sink; returns how many were newly
 * set. */
size_t tl_flow_sink(tl_flow *flow, const tl_model *model, const tl_state *state, uint8_t *remove);

/* The first sink that a centre is in, or UINT32_MAX. */
uint32_t tl_flow_sink_of(const tl_flow *flow, const tl_model *model, talus_dvec3 x);

/* Radius of the ball of the volume that the body in a slot has, m. */
double tl_flow_ball_radius(const tl_model *model, uint32_t slot);

/* From the centre of a hard sphere to its contact, whose point is where the impact was, some time
 * within the step. */
talus_vec3 tl_flow_hard_arm(const tl_model *model, const tl_contact *contact, uint32_t slot);

/* Before a step, which may work in place: remembers where the bodies are that are probed, and makes
 * room for what probes need. */
talus_status tl_flow_begin_step(tl_flow *flow, const tl_model *model, const tl_state *state);

/* Adds one step's contact forces and region contents to every probe. Serial and in canonical order,
 * so that sums do not depend on threads. */
void tl_flow_probe(tl_flow *flow, const tl_crowd *crowd, const tl_contacts *contacts);

/* Means of a probe over [from, now], then starts it anew. */
void tl_probe_finish(tl_probe *probe, double now, talus_probe_values *values);

#endif
