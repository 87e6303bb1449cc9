/* A gathered crowd: some bodies with the contacts and joints among them, as if there were nothing
 * else (crowd/crowd.h), in memory of its own.
 *
 * A gathered crowd is self-contained. Rows are 0 ... count-1 in the order of uids, and contacts and
 * joints refer to rows; those with a body that was not gathered are left out. So stages need not
 * know the world, and their cost depends on the crowd alone. Shapes, materials and settings are
 * those of the world, which must outlive the crowd; nothing of the world is written until the crowd
 * is scattered.
 *
 * A step goes from `before` to `after`: `before` is only read, so that a step can be taken twice,
 * or its result discarded. tl_gathered_swap makes `after` the start of the next one. Each crowd has
 * its own arena and one thread: several may step at once, in several threads. Bodies fall asleep
 * and wake only in the world's own step; a sleeping body stays asleep in a gathered crowd. */
#ifndef TL_STEP_GATHERED_H
#define TL_STEP_GATHERED_H

#include "joint/joint.h"
#include "solve/penalty/penalty.h"
#include "step/step.h"

/* What a crowd is gathered from. */
typedef struct tl_gathered_source {
  const tl_model *model;
  const tl_state *state;
  const tl_contacts *contacts;
  const tl_joints *joints;   /* may be NULL */
  const tl_penalty *penalty; /* with springs; else NULL */
} tl_gathered_source;

/* State of spring steps in addition to contacts and forces (solve/penalty/penalty.h). */
typedef struct tl_gathered_springs {
  bool is_pushed;
  double stored, damping, friction;
} tl_gathered_springs;

typedef struct tl_gathered {
  tl_model model; /* its properties are the crowd's own; all else belongs to the source */
  tl_state before, after;
  tl_contacts contacts_before, contacts_after;
  tl_joints joints;   /* before the step; the step writes its results there, too */
  tl_penalty penalty; /* before */
  tl_gathered_springs springs_after;
  size_t count, capacity;   /* rows */
  TL_ARRAY(uint32_t) slots; /* by row: in the source */
  TL_ARRAY(uint32_t) looks; /* scratch: rows of joints of the source that were examined */
  tl_arena arena;
  double dt; /* s: length of the step that led to `after` */
} tl_gathered;

/* slots: ascending. `gathered` must be {0}, or a crowd gathered earlier, whose memory is then
 * reused. */
talus_status tl_gather(tl_gathered *gathered, const tl_gathered_source *from, const uint32_t *slots,
                       size_t count);

/* A step of length dt from t0 to t1, with any solver. If it fails, only `after` has changed;
 * report->culprit is a row. */
talus_status tl_gathered_step(tl_gathered *gathered, const tl_backend *backend, double t0,
                              double t1, double dt, tl_step_report *report);

void tl_gathered_swap(tl_gathered *gathered);

/* Writes `after` to the rows of the source from which the bodies came; not those of bodies that do
 * not move by themselves, because walls may be in many crowds. Also writes what the step changed of
 * joints. */
void tl_gathered_scatter(const tl_gathered *gathered, tl_state *state, tl_joints *joints);

void tl_gathered_free(tl_gathered *gathered);

#endif
