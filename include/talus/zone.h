/* talus: zones, the regions of interest about a place, a body or every body of a group.
 *
 *   talus_zone_def def = talus_zone_def_default();
 *   def.of = TALUS_ZONE_GROUP, def.group = gas, def.radius = 1;
 *   def.strength = -2, def.power = 2;
 *   uint32_t zone;
 *   if (talus_world_add_zone(world, &def, &zone) != TALUS_OK) puts(talus_last_error());
 *
 * A zone is a ball of that radius about each of its centres. It acts at the end of every step, on
 * free bodies whose centre of mass is in it, whatever the solver; what happened is a list after the
 * step. docs/theory/zones.md has the formulas. */
#ifndef TALUS_ZONE_H
#define TALUS_ZONE_H

#include <talus/talus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- zones --------------------------------------------------------------------------------- */

typedef enum talus_zone_of {
  TALUS_ZONE_PLACE,
  TALUS_ZONE_BODY, /* until it is gone */
  TALUS_ZONE_GROUP /* every free body of the group */
} talus_zone_of;

typedef enum talus_zone_shell {
  TALUS_ZONE_OPEN,
  TALUS_ZONE_HARD, /* who is within at the end of a step and comes nearer is reflected */
  TALUS_ZONE_SOFT  /* the same, from the moment within the step at which it came in */
} talus_zone_shell;

typedef struct talus_zone_def {
  const char *name; /* NULL: none; otherwise unique among zones */
  talus_zone_of of;
  talus_dvec3 at;  /* PLACE */
  talus_body body; /* BODY */
  uint32_t group;  /* GROUP */
  uint32_t with;   /* the group that it acts on; 0: GROUP the same one, otherwise every free body */
  double radius;   /* m: the cut-off of the force, too; up to half a period */
  /* N: strength (1 - r/radius)^power on the other, and the opposite on the centre; positive pushes
   * away. 0: no force. */
  double strength, power;
  talus_zone_shell shell;
  bool boundary; /* PLACE, BODY: who is within stays within */
  bool trigger;  /* who enters and leaves is listed, counted and timed */
} talus_zone_def;

/* Of a place, 1 m wide, that does nothing but count. */
TALUS_API talus_zone_def talus_zone_def_default(void);

typedef struct talus_zone_values {
  double from, to;              /* s */
  double inside;                /* mean number of bodies within, over all centres */
  double neighbours;            /* the same for each centre */
  uint64_t entered, left;       /* trigger */
  double mass_in, mass_out;     /* kg, likewise */
  double energy_in, energy_out; /* J, kinetic, likewise */
  double dwell;                 /* s: mean time within of those that left; 0 where nobody did */
  double energy;                /* J, potential, mean */
} talus_zone_values;

/* A body entered a zone or left it. */
typedef struct talus_zone_event {
  uint32_t zone;
  bool enters;
  uint64_t centre; /* uid; 0: a place */
  uint64_t body;   /* uid */
  double time;     /* s: the end of the step */
  double dwell;    /* s: how long it was within; 0 where it enters */
} talus_zone_event;

/* *zone (may be NULL) is its number, from 0 in the order they are added. TALUS_ERROR_INVALID where
 * it has no radius or one of more than half a period, a force of a power below 0, a boundary about
 * a group; TALUS_ERROR_STALE where the body is not there. */
TALUS_API talus_status talus_world_add_zone(talus_world *world, const talus_zone_def *def,
                                            uint32_t *zone);

/* Means and counts since the last call (or since it was added), which end with it. */
TALUS_API talus_status talus_zone_read(talus_world *world, uint32_t zone,
                                       talus_zone_values *values);

/* Copies at most `capacity` of what happened in the last step: by zone, then by the uids of centre
 * and body; *count is how many there are. events may be NULL. Not saved with the world. */
TALUS_API talus_status talus_world_zone_events(talus_world *world, talus_zone_event *events,
                                               size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
