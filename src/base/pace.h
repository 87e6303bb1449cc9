/* All threads or one: whichever was faster lately.
 *
 * Threads that wait for each other cost more than they bring where a step is short, and far more
 * where other programs want the same cores: a worker that is not running holds up all the others,
 * at every one of some hundred barriers. Neither is known beforehand, so both ways are tried, and
 * the faster is kept; the other is tried again as often as a hundredth of the time pays for.
 *
 * Results have the same bits either way (base/parallel.h), so that clocks may decide. */
#ifndef TL_BASE_PACE_H
#define TL_BASE_PACE_H

#include "base/status.h"

typedef struct tl_pace {
  double cost[2];    /* s for a unit of work: by all threads, by one; 0: not known */
  double spent;      /* s, so far */
  double wasted;     /* s of those, by trials of the slower way */
  double since;      /* s, since the last trial */
  double trial_time; /* s, of the trial under way */
  double trial_cost; /* s for a unit of work, summed over the steps of it that count */
  int trial_steps;   /* so many */
  int steps;         /* of the way in use since it was chosen, up to a few */
  bool is_trial;     /* one is under way */
  bool is_alone;     /* the way in use, trials aside */
} tl_pace;

/* Whether the next step is for one thread. */
bool tl_pace_is_alone(const tl_pace *pace);

/* That step took `seconds` for so much work (any unit; what steps of the same kind have about twice
 * as much of when they take twice as long). */
void tl_pace_tell(tl_pace *pace, double work, double seconds);

/* False where TALUS_PACE=off: always all threads, for tests and for comparisons. */
bool tl_pace_is_on(void);

#endif
