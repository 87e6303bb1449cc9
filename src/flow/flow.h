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
  double every; /* s: 0, or adaptive steps end on its multiples */
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

/* A grid with sums since `from`, cell by cell: of free bodies, weighted by the steps' length, and
 * of contacts (flow/average.h). */
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
  TL_ARRAY(double) sums;  /* of the cells, then of the segments */
  TL_ARRAY(double) means; /* room for what is read; not saved */
} tl_average;

/* A body within a zone, since when; in the order of zones and of the uids of centre and body. */
typedef struct tl_zone_member {
  uint32_t zone;
  uint64_t centre, body; /* uids; 0: a place */
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
  double mass[2], kinetic[2]; /* kg, J: in, out */
  double dwell;               /* s, of those that left */
} tl_zone;

struct tl_obstacles;
struct tl_samples;

typedef struct tl_flow {
  TL_ARRAY(tl_emitter) emitters;
  TL_ARRAY(tl_sink) sinks;
  TL_ARRAY(tl_probe) probes;
  TL_ARRAY(tl_average) averages;
  TL_ARRAY(tl_zone) zones;
  TL_ARRAY(tl_zone_member) members;      /* of zones that trigger */
  TL_ARRAY(tl_zone_member) next_members; /* room for those of the step under way; not saved */
  TL_ARRAY(talus_zone_event) events;     /* of the last step; not saved */
  struct tl_obstacles *obstacles;        /* memory for emitters; NULL: not needed yet */
  struct tl_samples *samples;            /* places within shapes, for solid fractions; likewise */
} tl_flow;

/* Deep copies of a definition with checks; on failure nothing is added. */
talus_status tl_flow_add_emitter(tl_flow *flow, const tl_model *model,
                                 const talus_emitter_def *def);
/* Where the bodies of an emitter may come: its region must not lie in the matter of a wall. */
talus_status tl_emitter_check_inlet(const tl_model *model, const tl_state *state,
                                    const talus_emitter_def *def, const char *what);
/* When its next body comes by the clock, s; INFINITY at a rate of 0. */
double tl_emitter_due(const tl_emitter *emitter);
/* From now on the emitter emits what the sink removes. Both by name. */
talus_status tl_flow_recycle(tl_flow *flow, const char *sink, const char *emitter);
talus_status tl_flow_add_sink(tl_flow *flow, const char *name, const talus_region *region);
/* uid: of the body where def->on_body (its handle is the world's business). *probe is the row. */
talus_status tl_flow_add_probe(tl_flow *flow, const talus_probe_def *def, uint64_t uid, double now,
                               uint32_t *probe);
/* Whether what is to be recorded can be recorded there; `what` opens the message. */
talus_status tl_probe_check(const talus_probe_def *def, const char *what);
/* uid: of the wall, 0 where none is recorded; shape: its shape. *average is the row. */
talus_status tl_flow_add_average(tl_flow *flow, const talus_average_def *def, uint64_t uid,
                                 const tl_shape *shape, double now, uint32_t *average);
/* Whether the grid makes sense; `what` opens the message. */
talus_status tl_average_check(const talus_average_def *def, const char *what);
/* Of such a grid: numbers in `sums`. */
size_t tl_average_sum_count(const tl_average *average);
/* Room for what is read, where sums came from a file. */
talus_status tl_average_reserve(tl_average *average);
talus_status tl_flow_add_zone(tl_flow *flow, const talus_zone_def *def, uint64_t uid, double now,
                              uint32_t *zone);
/* Whether the zone makes sense; `what` opens the message. */
talus_status tl_zone_check(const talus_zone_def *def, const char *what);
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

/* Adds one step to every average, by all threads: what is in a cell is added in the order of slots,
 * then of contacts, whoever does it. Where memory is missing nothing was added. */
talus_status tl_flow_average(tl_flow *flow, const tl_crowd *crowd, const tl_contacts *contacts);
/* Whether one of them goes by flights. */
bool tl_flow_wants_flights(const tl_flow *flow);

/* Means of an average over [from, now], then starts it anew. */
void tl_average_finish(tl_average *average, const tl_model *model, double now,
                       talus_average_values *values);

/* What zones do at the end of a step. */
typedef struct tl_zone_report {
  double energy;  /* J: potential of all forces at the places where bodies are now */
  double work;    /* J: what forces, and shells that are moved, gave to bodies in the step */
  bool has_moved; /* somebody was put elsewhere, by a shell or a boundary */
} tl_zone_report;

/* One zone, which changes velocities and places of crowd->out. Where memory is missing nothing was
 * changed. Zones are asked one after the other, the first with an empty list of events. */
talus_status tl_flow_zone(tl_flow *flow, const tl_crowd *crowd, size_t row, tl_zone_report *report);

/* Whether a zone changes velocities or places. */
bool tl_zone_acts(const tl_zone *zone);
/* Beside sleep: the pairs of bodies of which one feels a force of a zone about the other, in the
 * arena; and whether these two are such a pair, or would be if they were near. */
talus_status tl_flow_find_bonds(const tl_flow *flow, const tl_crowd *crowd, tl_pairs *bonds);
bool tl_flow_is_bound(const tl_flow *flow, const tl_model *model, const tl_state *state, uint32_t a,
                      uint32_t b, bool anywhere);

/* Means of a zone over [from, now], then starts it anew. */
void tl_zone_finish(tl_zone *zone, double now, talus_zone_values *values);

/* Means of a probe over [from, now], then starts it anew. */
void tl_probe_finish(tl_probe *probe, double now, talus_probe_values *values);

#endif
