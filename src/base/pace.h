/* All threads or one: whichever was faster recently.
 *
 * If a step is short, threads that wait for each other cost more time than they save, and far more
 * if other programs use the same cores: a thread that is not running delays all others at each of
 * some hundred barriers. This is not known in advance, so both ways are tried and the faster is
 * kept; trying the other way again takes at most a hundredth of the time. What a trial has shown
 * is forgotten once steps have a quarter more or less work, or cost so much more or less for a unit
 * of it: barriers cost the same however much there is to do, and time for work is seldom constant.
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
  int hopeless;      /* steps of it in a row that were hopelessly slow */
  double work;       /* of a step, averaged over the last ones */
  double known_work; /* that average at the end of the last trial; 0: there was none */
  double known_cost; /* that of the way in use, as the last trial knew it; 0: likewise */
  int steps;         /* of the way in use since it was chosen, up to a few */
  bool is_trial;     /* one is under way */
  bool is_alone;     /* the way in use, trials aside */
} tl_pace;

/* Whether the next step is for one thread. */
bool tl_pace_is_alone(const tl_pace *pace);

/* That step took `seconds` for so much work (in any unit to which the time of similar steps is
 * about proportional). */
void tl_pace_tell(tl_pace *pace, double work, double seconds);

/* False where TALUS_PACE=off: always all threads, for tests and for comparisons. */
bool tl_pace_is_on(void);

#endif
