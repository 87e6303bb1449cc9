/* Impacts within a step: bounces, from relative motion, one after the other in time.
 *
 *   impact.c  which contacts meet, and when; what is left of gaps for the rows; results
 *   queue.c   contacts that wait for their impact, by time
 *   round.c   what happens at one moment
 *
 * Before rows are made, bodies fly with their free velocities (which include the loads of the whole
 * step). Contacts with restitution that would close faster than the bounce speed do so in the order
 * of time, as in event-driven dynamics (Alder and Wainwright 1959): contacts that close at one
 * moment are reflected together (kernels/impact.h), and contacts of the bodies that were hit are
 * checked again, until none bounces. The solver continues with the velocities after these impacts,
 * and stops all other approaches without restitution.
 *
 * A body that is hit at t has its old velocity before and the new one after. The solver moves it by
 * h v_new, so it is also shifted by -t (v_new - v_old), which gives its true position at t1.
 * docs/theory/ccp.md has the details. */
#ifndef TL_SOLVE_IMPACT_H
#define TL_SOLVE_IMPACT_H

#include "kernels/impact.h"
#include "solve/system/system.h"

#define TL_IMPACT_HITS 250 /* impacts of one contact in a step; the solver stops what is left */

typedef struct tl_impact {
  tl_system *system;
  talus_real h, bounce_speed;
  bool is_relative; /* bounce_speed: auto */

  /* By solver body. */
  talus_real *clock;   /* s: when it was last hit */
  talus_real *fastest; /* m/s: of the impacts in which it took part, or which led to these */
  uint32_t *start;     /* its contacts: entry[start[i]] ... entry[start[i + 1] - 1] */
  uint32_t *owner;     /* scratch of a round; TL_NONE between rounds */
  uint32_t *entry;
  uint8_t *held; /* a joint holds the body, so it is not shifted; NULL: no joints */

  /* Contacts that wait: a heap by (time, index). */
  uint32_t *heap, *place; /* place: of a contact in the heap; TL_NONE: not in it */
  talus_real *time;
  size_t waiting;
  uint16_t *hits;    /* by contact: number of its impacts; hard ones count several times */
  talus_vec3 *given; /* by contact: sum of its impacts on b, N s */
} tl_impact;

/* True if some pair of materials bounces. */
bool tl_impact_is_possible(const tl_model *model);

/* Call between loading bodies and making rows. Changes the velocities of bodies; fills
 * system->shifts, gaps, hits and kicks if a contact bounced. shifts: memory for them, or NULL:
 * nothing can bounce. */
talus_status tl_impact_find(tl_system *system, tl_ccp_body *shifts);

/* ---- shared by the files --------------------------------------------------------------------- */

/* True if the contact closes with its bodies' present velocities and bounces, or would with
 * restitution; writes the meeting. */
bool tl_impact_look(const tl_impact *job, size_t contact, tl_impact_meeting *meeting);

void tl_impact_wait(tl_impact *job, uint32_t contact, talus_real time);
void tl_impact_forget(tl_impact *job, uint32_t contact);
uint32_t tl_impact_next(tl_impact *job); /* removes and returns the first */

/* Solves all contacts that meet at the earliest moment. */
talus_status tl_impact_round(tl_impact *job);

static inline tl_impact_pair tl_impact_pair_of(const tl_system *system, uint32_t a, uint32_t b) {
  const tl_impact_pair pair = {&system->bodies[a], &system->bodies[b],
                               system->tensors ? &system->tensors[a] : NULL,
                               system->tensors ? &system->tensors[b] : NULL};
  return pair;
}

#endif
