#include "base/pace.h"

#include <stdlib.h>
#include <string.h>

#define WARM     6 /* steps before the first trial; they wait for memory, so the fastest counts */
#define LEAD     0.02 /* s of a trial that do not count: idle threads of OpenMP spin for so long */
#define COUNTED  0.01 /* s that count, and */
#define STEPS    3    /* steps, at least */
#define HOPELESS 4    /* times the usual cost: a trial ends at once */
#define ROW      2    /* so many such steps in a row, that is: one may be another program's fault */
#define STALE                                                                                      \
  1.25 /* times more or less work, or cost, than at the last trial: it says nothing any more */
#define RENEWING 0.03 /* of the time, for trials of the slower way because of that */
#define GLIMPSE  1e-3 /* s: a shorter step may be slow because threads had to be woken */
#define FADE     0.1  /* weight of the last step */
#define BETTER   0.95 /* of the cost: what a change of ways must bring */
#define WASTE    0.01 /* of the time, for trials of the slower way */
#define TRYING   0.1  /* of the time, for trials of a way that may be as good */

bool tl_pace_is_alone(const tl_pace *pace) { return pace->is_alone != pace->is_trial; }

static double *cost_in_use(tl_pace *pace) { return &pace->cost[pace->is_alone]; }
static double *cost_of_other(tl_pace *pace) { return &pace->cost[!pace->is_alone]; }

static void end_trial(tl_pace *pace, double cost) {
  *cost_of_other(pace) = cost;
  pace->is_trial = false;
  pace->since = 0;
  pace->known_work = pace->work;
  if (cost < BETTER * *cost_in_use(pace)) {
    pace->is_alone = !pace->is_alone;
    pace->steps = 0;
  }
  pace->known_cost = *cost_in_use(pace);
}

static void go_on_with_trial(tl_pace *pace, double work, double seconds) {
  const double usual = *cost_in_use(pace), cost = seconds / work;
  pace->wasted += cost > usual ? seconds - usual * work : 0;
  pace->hopeless = cost > HOPELESS * usual && seconds > GLIMPSE ? pace->hopeless + 1 : 0;
  if (pace->hopeless == ROW) {
    end_trial(pace, cost);
    return;
  }
  if (pace->trial_time >= LEAD) {
    pace->trial_cost += cost;
    pace->trial_steps++;
  }
  pace->trial_time += seconds;
  if (pace->trial_steps >= STEPS && pace->trial_time >= LEAD + COUNTED)
    end_trial(pace, pace->trial_cost / pace->trial_steps);
}

static bool is_time_for_trial(tl_pace *pace, double work) {
  const double usual = *cost_in_use(pace), most = 2 * HOPELESS * usual;
  const double other = *cost_of_other(pace) < most ? *cost_of_other(pace) : most;
  if (pace->steps < WARM || other == 0)
    return pace->steps == WARM;
  const double counted = STEPS * other * work;
  const double time = LEAD + other * work + (counted > COUNTED ? counted : COUNTED);
  const double more = other > usual ? time * (1 - usual / other) : 0;
  return pace->wasted + more <= WASTE * pace->spent && time <= TRYING * pace->since;
}

static bool has_moved(double now, double known) {
  return known > 0 && (now > STALE * known || STALE * now < known);
}

static bool is_stale(const tl_pace *pace) {
  return pace->wasted <= RENEWING * pace->spent &&
         (has_moved(pace->work, pace->known_work) ||
          has_moved(pace->cost[pace->is_alone], pace->known_cost));
}

void tl_pace_tell(tl_pace *pace, double work, double seconds) {
  if (!(work > 0) || !(seconds > 0))
    return;
  const double cost = seconds / work;
  pace->spent += seconds;
  pace->work = pace->work > 0 ? pace->work + FADE * (work - pace->work) : work;
  if (pace->is_trial) {
    go_on_with_trial(pace, work, seconds);
    return;
  }
  double *usual = cost_in_use(pace);
  if (pace->steps < WARM)
    *usual = pace->steps > 0 && *usual < cost ? *usual : cost;
  else
    *usual += FADE * (cost - *usual);
  pace->since += seconds;
  pace->steps += pace->steps < WARM;
  if (is_stale(pace)) {
    *cost_of_other(pace) = pace->known_work = pace->known_cost = 0;
    pace->steps = WARM;
  }
  if (is_time_for_trial(pace, work)) {
    pace->is_trial = true;
    pace->trial_time = pace->trial_cost = 0;
    pace->trial_steps = pace->hopeless = 0;
  }
}

bool tl_pace_is_on(void) {
  const char *word = getenv("TALUS_PACE");
  return !word || strcmp(word, "off") != 0;
}
