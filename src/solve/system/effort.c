/* How many sweeps an island gets, and what it starts from.
 *
 * Each island gets `iterations` sweeps. If it is then above the tolerance it continues while its
 * residual falls. A small island, in which a heavy body may stand on a light one or an impact may
 * run through a column, gets up to twenty times as many sweeps. A large one, whose sweeps dominate
 * the time of the step, gets up to twice as many, and only while its residual exceeds the speed of
 * free fall in a step; so do islands with joints. There is one exception: what is left of an
 * impact that runs through a whole bed comes back as a rebound of its top. So if contacts stopped
 * or flung most bodies of an island of up to ten times TL_FEW_ROWS rows, it gets as many visits as
 * an island of TL_FEW_ROWS rows, until it has reached the tolerance. Grains that fall on a heap
 * strike few of its bodies. Unused sweeps are not saved for the next step.
 *
 * With substeps, each of which has few sweeps, loads that no contact carries yet would need many of
 * them to reach the bottom of a tall stack, which would fall meanwhile: so the very first solve
 * treats every island as a small one, with at least 800 sweeps: a pyramid of 100 layers that begins
 * with 200 falls whatever is done later, if substeps have 4 sweeps each. */
#include "solve/system/system.h"

#include <limits.h>

#define LOOSE 5e-3 /* part of a small speed: the automatic tolerance */
/* part of that, for islands of few rows, whose usual sweeps mostly reach it */
#define TIGHT      0.01
#define STEADY     0.05 /* part of that, with substeps: stacks would rock by the rest */
#define LOOK_EVERY 8    /* sweeps beyond the usual ones between two looks at the residual */
#define FALLS      0.98 /* times the least residual so far: below this it has fallen */
#define STALE      6    /* looks without a fall until the sweeps of an island end */
/* STALE for small islands with joints, whose residual does not fall steadily. */
#define STALE_LINKS 30
#define MANY_TIMES  20  /* times `iterations`, for islands of few rows */
#define TWICE       2   /* times `iterations`, for others */
#define STRUCK      10  /* times a small speed: a change of velocity by an impact */
#define STRIDE      31  /* rows between two samples of bodies */
#define COLD        800 /* for the very first solve with substeps, at least */

static int most_of(const talus_solve_def *settings, double times, bool is_cold) {
  if (settings->tolerance == 0)
    return settings->iterations;
  if (settings->iterations_max >= 0)
    return settings->iterations_max > settings->iterations ? settings->iterations_max
                                                           : settings->iterations;
  double most = (double)settings->iterations * (is_cold ? MANY_TIMES : times);
  if (is_cold && most < COLD)
    most = COLD;
  return most < INT_MAX ? (int)most : INT_MAX;
}

tl_effort tl_effort_of(const tl_system *system, size_t rows, bool has_links) {
  const talus_solve_def *settings = system->settings;
  const double small = tl_system_small_speed(system);
  /* Joints have their own means of convergence, and sweeps with joints have no momentum. */
  const bool is_small = rows <= TL_FEW_ROWS, are_few = is_small && !has_links;
  const bool is_auto = settings->tolerance < 0;
  tl_effort effort = {.usual = settings->iterations,
                      .most = most_of(settings, is_small ? MANY_TIMES : TWICE, system->is_cold),
                      .patience = is_small && has_links ? STALE_LINKS : STALE,
                      .tolerance = is_auto ? LOOSE * small : settings->tolerance,
                      .best = -1};
  effort.enough = effort.tolerance;
  if (is_auto && (are_few || system->is_cold))
    effort.tolerance *= TIGHT;
  else if (is_auto && system->model->substeps > 1)
    effort.tolerance *= STEADY;
  if (is_auto && are_few && system->model->substeps > 1)
    effort.enough *= STEADY;
  if (system->is_cold) /* most rows of a tall stack feel nothing of its fall until the end */
    effort.enough = effort.tolerance;
  effort.enough_struck = effort.enough;
  effort.most_struck = effort.most;
  /* A residual above the speed of free fall is reported as not converged (ccp/converge.c). */
  const double fall = (double)tl_length(system->model->gravity) * system->crowd->dt;
  const double loose = fall > 0 && fall < small ? fall : small;
  if (!are_few && !system->is_cold && settings->iterations_max < 0 && loose > effort.enough)
    effort.enough = loose;
  const double times = (double)MANY_TIMES * TL_FEW_ROWS / (double)(rows + 1);
  if (!is_small && !has_links && times > TWICE)
    effort.most_struck = most_of(settings, times, system->is_cold);
  else
    effort.enough_struck = effort.enough;
  return effort;
}

static bool is_struck(const tl_system *system, const tl_ccp_body *bodies, uint32_t slot,
                      double speed) {
  if (!tl_system_takes_part(system, slot))
    return false;
  const talus_vec3 now = bodies[tl_system_body(system, slot)].v;
  const talus_vec3 was = tl_system_start_twist(system, slot).velocity;
  return (double)tl_length(tl_sub(now, was)) > speed;
}

void tl_effort_find_impact(tl_effort *effort, const tl_system *system, const tl_ccp_body *bodies,
                           const uint32_t *contact, size_t rows) {
  const double speed = STRUCK * tl_system_small_speed(system);
  size_t looks = 0, struck = 0;
  if (effort->enough_struck >= effort->enough)
    return;
  for (size_t row = 0; row < rows; row += STRIDE) {
    const tl_contact *c = &system->contacts->data[contact[row]];
    struck += is_struck(system, bodies, c->a, speed) || is_struck(system, bodies, c->b, speed);
    looks++;
  }
  if (2 * struck <= looks)
    return;
  effort->enough = effort->enough_struck;
  effort->most = effort->most_struck;
}

bool tl_effort_wants_look(const tl_effort *effort, int done, double change) {
  if (effort->tolerance <= 0)
    return false;
  const int beyond = done - effort->usual;
  return change < effort->tolerance || (beyond >= 0 && beyond % LOOK_EVERY == 0);
}

bool tl_effort_is_enough(tl_effort *effort, int done, double rms) {
  if (done < effort->usual)
    return rms < effort->tolerance;
  if (rms < effort->enough)
    return true;
  effort->stale++;
  if (effort->best < 0 || rms < FALLS * effort->best) {
    effort->best = rms;
    effort->stale = 0;
  }
  return effort->stale >= effort->patience;
}

/* q(s) = slope s + c s^2 with c = q - slope > 0 is lowest at s = -slope/(2 c). */
talus_real tl_warm_share(double q, double slope) {
  const double c = q - slope;
  return slope < 0 && c > 0 ? (talus_real)(-slope / (2 * c)) : 0;
}
