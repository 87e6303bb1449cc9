/* Flow: bodies that are added and removed at the end of steps, and probes.
 *
 * This stage decides; the world, which owns the bodies, adds and removes them. Random numbers are a
 * function of (seed, stream, serial), so that the only state is a few counters per emitter, which
 * are saved. */
#ifndef TL_FLOW_FLOW_H
#define TL_FLOW_FLOW_H

#include "contact/contact.h"
#include <talus/average.h>
#include <talus/zone.h>

/* ---- regions --------------------------------------------------------------------------------- */

talus_status tl_region_check(const talus_region *region,
                             const char *what);                     /* finite, not inverted */
bool tl_region_contains(const talus_region *region, talus_dvec3 x); /* including its border */
double tl_region_volume(const talus_region *region);
talus_box tl_region_bounds(const talus_region *region);

/* ---- sizes ----------------------------------------------------------------------------------- */

talus_status tl_size_check(const talus_size_def *size, const char *what);
/* The largest size, and one larger than most; a lognormal distribution is unbounded, but the
 * generator's numbers are not. */
double tl_size_largest(const talus_size_def *size);
double tl_size_usual(const talus_size_def *size);
/* For a lognormal distribution: two deviations below the median; one in forty is smaller. */
double tl_size_least(const talus_size_def *size);
/* The scale of object `serial`: a function of (seed, stream, serial) alone. */
double tl_size_draw(const talus_size_def *size, uint64_t seed, uint32_t stream, uint64_t serial);
/* Deep copy of the table, and its release. */
talus_status tl_size_copy(talus_size_def *to, const talus_size_def *from);
void tl_size_release(talus_size_def *size);

/* ---- fill ------------------------------------------------------------------------------------ */

typedef struct tl_placement {
  talus_dvec3 position; /* m: of the shape's own frame */
  talus_quat rotation;
  double scale;
} tl_placement;

typedef TL_ARRAY(tl_placement) tl_placements;

/* Finds random places without overlap among new bodies (tests bounding spheres) and with existing
 * ones (narrow phase; ignored groups do not count). Bodies lie inside the region as a whole; a
 * periodic axis that the region spans has no ends. Larger bodies are placed first, by trials with a
 * grid. If the fill is too dense for that, bodies are placed on a lattice with random
 * displacements, and the log says so. Finally bodies are sorted along a Morton curve, so that
 * neighbours in space are neighbours in memory. *wanted: number of bodies asked for;
 * placements->count: number placed. */
talus_status tl_fill_plan(const tl_model *model, const tl_state *state, const talus_fill_def *def,
                          tl_placements *placements, uint64_t *wanted);

/* Velocity of body `serial` of a fill: a function of (seed, serial). */
talus_vec3 tl_fill_velocity(const talus_fill_def *def, uint64_t serial);
talus_status tl_thermal_check(double thermal, const char *what);

/* ---- emitters, sinks, probes ----------------------------------------------------------------- */

typedef struct tl_emitter {
  talus_emitter_def def; /* owns name and size.table; def.body.name is NULL */
  uint64_t serial;       /* bodies emitted so far */
  uint64_t attempt;      /* blocked trials for the next body */
  uint64_t blocked;      /* blocked trials so far */
  uint64_t owed;         /* bodies that sinks removed and that are still to be emitted */
  uint64_t returned;     /* bodies of this kind that were emitted */
  double next;           /* s: time of the next burst; arrival: poisson */
} tl_emitter;

typedef struct tl_sink {
  char *name;
  talus_region region;
  uint64_t removed;
  uint32_t recycle; /* 1 + row of the emitter; 0: none */
} tl_sink;

/* Sums since `from`, weighted with the length of steps. */
typedef struct tl_probe {
  char *name;
  bool on_body, on_joint;
  uint64_t uid; /* of the body, or of the joint */
  talus_region region;
  uint32_t record;
  double every; /* s: 0, or adaptive steps end at its multiples */
  double from, weight;
  double force[3], torque[3], mass_flow[3], count, energy;
  double velocity[3], spin[3];         /* m, rad */
  double stress[6], kinetic_stress[6]; /* J s */
  double solid, heads, bonds;          /* m3 s; s: number of bodies; s: number of partners */
  double counts[TALUS_PROBE_SIZES + 1];
  double position[3], rotation[4]; /* the latest */
  double sizes[TALUS_PROBE_SIZES];
  uint32_t size_count;
  /* m: centre of mass of the body at the begin of the step; invalid between steps */
  talus_dvec3 centre;
} tl_probe;

/* A grid with sums since `from`, by cell: of free bodies, weighted with the length of steps, and of
 * contacts (flow/average.h). */
typedef struct tl_average {
  char *name;
  uint32_t grid, across, record; /* talus_grid_kind, 0 to 2, TALUS_AVERAGE_... */
  uint32_t cells[3];
  talus_box box;
  double axis[2];
  uint64_t wall;     /* uid of the body; 0: none */
  uint32_t segments; /* of the wall */
  bool by_flights;
  double from, weight;
  TL_ARRAY(double) sums;  /* of cells, then of segments */
  TL_ARRAY(double) means; /* memory for results; not saved */
} tl_average;

/* A body inside a zone, and since when; sorted by zone, uid of the centre, uid of the body. */
typedef struct tl_zone_member {
  uint32_t zone;
  uint64_t centre, body; /* uids; centre 0: a fixed place */
  double since;          /* s */
} tl_zone_member;

/* Sums since `from`. */
typedef struct tl_zone {
  char *name;
  uint32_t of, shell;   /* talus_zone_of, talus_zone_shell */
  uint32_t group, with; /* groups */
  uint64_t uid;         /* of the body */
  talus_dvec3 at;
  double radius, strength, power;
  bool boundary, trigger;
  double from, weight;
  double inside, neighbours, energy; /* s, s, J s */
  uint64_t entered, left;
  double mass[2], kinetic[2]; /* kg, J: of bodies that entered and left */
  double dwell;               /* s: of bodies that left */
} tl_zone;

struct tl_obstacles;
struct tl_samples;

typedef struct tl_flow {
  TL_ARRAY(tl_emitter) emitters;
  TL_ARRAY(tl_sink) sinks;
  TL_ARRAY(tl_probe) probes;
  TL_ARRAY(tl_average) averages;
  TL_ARRAY(tl_zone) zones;
  TL_ARRAY(tl_zone_member) members;      /* of zones with `trigger` */
  TL_ARRAY(tl_zone_member) next_members; /* scratch for those of the present step; not saved */
  TL_ARRAY(talus_zone_event) events;     /* of the last step; not saved */
  struct tl_obstacles *obstacles;        /* memory of emitters; NULL: not needed so far */
  struct tl_samples *samples;            /* points inside shapes, for solid fractions; likewise */
} tl_flow;

/* Add checked deep copies of a definition; if they fail, nothing is added. */
talus_status tl_flow_add_emitter(tl_flow *flow, const tl_model *model,
                                 const talus_emitter_def *def);
/* Checks the region of an emitter, which must not be inside the matter of a wall. */
talus_status tl_emitter_check_inlet(const tl_model *model, const tl_state *state,
                                    const talus_emitter_def *def, const char *what);
/* Time (s) of its next body by the clock; INFINITY at rate 0. */
double tl_emitter_due(const tl_emitter *emitter);
/* Makes the emitter emit what the sink removes. Both are given by name. */
talus_status tl_flow_recycle(tl_flow *flow, const char *sink, const char *emitter);
talus_status tl_flow_add_sink(tl_flow *flow, const char *name, const talus_region *region);
/* uid: of the body if def->on_body (the world knows handles). *probe: row of the new probe. */
talus_status tl_flow_add_probe(tl_flow *flow, const talus_probe_def *def, uint64_t uid, double now,
                               uint32_t *probe);
/* Checks whether the quantities can be recorded there; `what` begins the message. */
talus_status tl_probe_check(const talus_probe_def *def, const char *what);
/* uid: of the wall, 0 if none is recorded; shape: its shape. *average: row of the new average. */
talus_status tl_flow_add_average(tl_flow *flow, const talus_average_def *def, uint64_t uid,
                                 const tl_shape *shape, double now, uint32_t *average);
/* Checks the grid; `what` begins the message. */
talus_status tl_average_check(const talus_average_def *def, const char *what);
/* Number of elements of `sums` for such a grid. */
size_t tl_average_sum_count(const tl_average *average);
/* Takes memory for results, after sums were read from a file. */
talus_status tl_average_reserve(tl_average *average);
talus_status tl_flow_add_zone(tl_flow *flow, const talus_zone_def *def, uint64_t uid, double now,
                              uint32_t *zone);
/* Checks the zone; `what` begins the message. */
talus_status tl_zone_check(const talus_zone_def *def, const char *what);
/* Removes the last emitter. */
void tl_flow_drop_emitter(tl_flow *flow);
void tl_flow_release(tl_flow *flow);

typedef TL_ARRAY(talus_body_def) tl_new_bodies;

/* Appends to *fresh the bodies that are due by t1 and fit, ready to be added; the state is that of
 * t1. Body k = 0, 1, ... of an emitter is due at from_time + k/rate, if that is before `until`; or
 * in bursts, or at the times of a Poisson process, as its definition says. Bodies that sinks sent
 * back are due at once. A blocked emitter tries a few places per step, then waits for the next step
 * and counts the trial; it also waits after TL_EMIT_MOST bodies (flow/place.h). Overdue bodies are
 * emitted as soon as there is room, also after `until`, so that none is lost. Bodies in *fresh also
 * block each other. Allocates memory only when *fresh grows. */
talus_status tl_flow_emit(tl_flow *flow, const tl_model *model, const tl_state *state, double t1,
                          tl_new_bodies *fresh);

/* Sets remove[slot] to 1 for free bodies whose centre is in a sink; returns the number of newly set
 * elements. */
size_t tl_flow_sink(tl_flow *flow, const tl_model *model, const tl_state *state, uint8_t *remove);

/* The first sink that contains a centre, or UINT32_MAX. */
uint32_t tl_flow_sink_of(const tl_flow *flow, const tl_model *model, talus_dvec3 x);

/* Radius of a ball with the volume of the body in a slot, m. */
double tl_flow_ball_radius(const tl_model *model, uint32_t slot);

/* Vector from the centre of a hard sphere to its contact, whose point is where the impact was, at
 * some time within the step. */
talus_vec3 tl_flow_hard_arm(const tl_model *model, const tl_contact *contact, uint32_t slot);

/* Call before a step, which may work in place: stores the places of probed bodies, and takes memory
 * for probes. */
talus_status tl_flow_begin_step(tl_flow *flow, const tl_model *model, const tl_state *state);

/* Adds one step's contact forces and region contents to every probe. Runs serially and in canonical
 * order, so that sums do not depend on threads. */
void tl_flow_probe(tl_flow *flow, const tl_crowd *crowd, const tl_contacts *contacts);

/* Adds one step to every average, with all threads: bodies of a cell are added in the order of
 * slots, then contacts. Without memory nothing is added. */
talus_status tl_flow_average(tl_flow *flow, const tl_crowd *crowd, const tl_contacts *contacts);
/* True if some average needs flights. */
bool tl_flow_wants_flights(const tl_flow *flow);

/* Means of an average over [from, now]; then restarts it. */
void tl_average_finish(tl_average *average, const tl_model *model, double now,
                       talus_average_values *values);

/* Effects of zones at the end of a step. */
typedef struct tl_zone_report {
  double energy;  /* J: potential of all forces at the present places of bodies */
  double work;    /* J: work on bodies by forces, and by shells that are moved */
  bool has_moved; /* some body was displaced, by a shell or a boundary */
} tl_zone_report;

/* Applies one zone, which changes velocities and places of crowd->out. Without memory nothing is
 * changed. Call for one zone after the other; the list of events must be empty for the first. */
talus_status tl_flow_zone(tl_flow *flow, const tl_crowd *crowd, size_t row, tl_zone_report *report);

/* Whether a zone changes velocities or places. */
bool tl_zone_acts(const tl_zone *zone);
/* Beside sleep: the pairs of bodies of which one feels a force of a zone about the other, in the
 * arena; and whether these two are such a pair, or would be if they were near. */
talus_status tl_flow_find_bonds(const tl_flow *flow, const tl_crowd *crowd, tl_pairs *bonds);
bool tl_flow_is_bound(const tl_flow *flow, const tl_model *model, const tl_state *state, uint32_t a,
                      uint32_t b, bool anywhere);

/* Whether a body can be one of such a pair, and by what: as a member of its group, like all others
 * of it, or because a zone is about this body. */
typedef enum tl_flow_bond { TL_BOND_NONE, TL_BOND_OF_GROUP, TL_BOND_OF_BODY } tl_flow_bond;
tl_flow_bond tl_flow_bond_of(const tl_flow *flow, const tl_model *model, uint32_t slot);

/* Means of a zone over [from, now]; then restarts it. */
void tl_zone_finish(tl_zone *zone, double now, talus_zone_values *values);

/* Means of a probe over [from, now]; then restarts it. */
void tl_probe_finish(tl_probe *probe, double now, talus_probe_values *values);

#endif
