/* Which islands have not converged: those whose RMS residual is above |gravity| dt (the speed of
 * free fall in a step), above the tolerance (which counts without gravity), and above a hundredth
 * of the island's fastest approach. */
#include "contact/ride.h"
#include "solve/ccp/ccp.h"

#include <math.h>

#define STRIDE 31   /* rows between two samples */
#define FAR    0.01 /* of the fastest approach */

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

/* Relative normal velocity at a contact, of velocities at the end of the step or without contacts.
 */
static double closing_of(const tl_system *system, const tl_contact *c, bool is_free) {
  tl_ccp_body body[2];
  talus_vec3 arm[2];
  const uint32_t slot[2] = {c->a, c->b};
  tl_system_arms(system, c, &arm[0], &arm[1]);
  for (int k = 0; k < 2; ++k) {
    body[k] = system->bodies[tl_system_body(system, slot[k])];
    if (is_free && tl_system_takes_part(system, slot[k]) && !system->crowd->members) {
      const tl_twist twist = tl_system_free_twist(system, slot[k]);
      body[k].v = twist.velocity, body[k].w = twist.spin;
    }
  }
  return -dot_d(c->normal, tl_sub(tl_ccp_point_velocity(&body[1], arm[1]),
                                  tl_ccp_point_velocity(&body[0], arm[0])));
}

/* The rows of an island and its residual. */
typedef struct approach {
  const tl_ccp *ccp;
  uint32_t first;
  double rms;
} approach;

static bool is_fast(void *context, size_t i) {
  const approach *a = context;
  const tl_system *system = a->ccp->system;
  const uint32_t contact = a->ccp->rows.contact[a->first + i];
  return !(a->rms > FAR * closing_of(system, &system->contacts->data[contact], true));
}

/* True if some row approaches so fast that the residual is small in comparison. In an impact a few
 * sampled rows show it; otherwise all rows are checked. */
static bool comes_fast(const approach *a, size_t rows) {
  approach all = *a;
  for (size_t i = 0; i < rows; i += STRIDE)
    if (is_fast(&all, i))
      return true;
  return tl_find_first(&a->ccp->system->model->par, rows, is_fast, &all) != SIZE_MAX;
}

/* Reports rows [first, end), an island with this RMS residual, if they are far from their
 * solution. */
static void note_residual(const tl_ccp *job, uint32_t first, uint32_t end, double rms) {
  const tl_system *system = job->system;
  tl_solve_report *report = system->report;
  const double h = system->crowd->dt, fall = (double)tl_length(system->model->gravity) * h;
  if (!(rms > fmax(fall, (double)system->settings->tolerance)) || first == end)
    return;
  tl_ride_settle(system->crowd->ride);
  const approach found = {job, first, rms};
  if (comes_fast(&found, end - first))
    return;
  double left = -INFINITY;
  uint32_t worst = 0;
  for (uint32_t row = first; row < end; ++row) {
    const tl_contact *c = &system->contacts->data[job->rows.contact[row]];
    const double speed = closing_of(system, c, false) - fmax((double)c->gap, 0) / h;
    if (speed > left) {
      left = speed;
      worst = tl_system_takes_part(system, c->a) ? c->a : c->b;
    }
  }
  report->unconverged++;
  if (rms <= report->worst_residual)
    return;
  report->worst_residual = rms;
  report->worst = worst;
}

/* Rows of small islands come first, rows of parts after them. */
void tl_ccp_note_islands(const tl_ccp *job) {
  uint32_t row = job->small_start ? job->small_start[job->small_count] : 0;
  for (size_t i = 0; i < job->part_count; ++i) {
    const uint32_t end = row + (uint32_t)job->parts[i].rows.count;
    note_residual(job, row, end, job->parts[i].report->residual_rms);
    row = end;
  }
  for (size_t i = 0; i < job->small_count; ++i)
    if (job->small_rms[i] > 0)
      note_residual(job, job->small_start[i], job->small_start[i + 1], (double)job->small_rms[i]);
}
