/* How the points of a pair share one spring law.
 *
 * If each point were a full spring, a face with four corners would be four times as stiff as a
 * ball, and a mesh stiffer the finer it is. So the points of a patch have weights: point i has s_i
 * / sum of K_ij s_j, where K_ij is 1 between points of one direction and 0 between points of
 * different directions. s is 1 where bodies touch and fades out over a band of gaps: a point that
 * comes to touch already has its share, so no force jumps when it does.
 *
 * Springs whose weights depend on places would make energy: a body that tips from a face over an
 * edge would get back more than was put in. So forces are the gradient of sum w_i e_i(gap_i), e the
 * energy of the law. A point in the band lowers that sum by coming nearer, so it is pulled by the
 * derivative. The pull is at most overlap over band times the load. */
#include "solve/penalty/penalty.h"

#define ALIKE   TL_R(0.98) /* cosine of the normals of one patch, at least */
#define UNALIKE TL_R(0.9)  /* cosine of the normals of two patches, at most */

typedef struct share_job {
  const tl_crowd *crowd;
  const tl_contacts *contacts;
  tl_penalty_share *shares;
} share_job;

/* Width of the band of a pair, m; taken from the smaller of the bodies that can have several
 * points. */
static talus_real band_of(const tl_model *model, const tl_contact *c) {
  const talus_real a = tl_model_band(model, c->a), b = tl_model_band(model, c->b);
  return a > 0 && b > 0 ? tl_min(a, b) : tl_max(a, b);
}

/* 1 where a point touches, 0 outside the band. */
static talus_real part_of(talus_real apart, talus_real band) {
  if (!(apart > 0))
    return 1;
  const talus_real t = apart / band;
  return apart < band ? 1 - t * t * (3 - 2 * t) : 0;
}

/* Derivative of part_of, 1/m. */
static talus_real slope_of(talus_real apart, talus_real band) {
  const talus_real t = apart / band;
  return apart > 0 && apart < band ? -6 * t * (1 - t) / band : 0;
}

static talus_real likeness(const tl_contact *a, const tl_contact *b) {
  const talus_real cosine = tl_dot(a->normal, b->normal);
  return tl_min(1, tl_max(0, (cosine - UNALIKE) / (ALIKE - UNALIKE)));
}

/* Energy of a point that overlaps, with the whole law, J. */
static talus_real energy_of(const share_job *job, const tl_contact *c, talus_real overlap) {
  const tl_model *model = job->crowd->model;
  const talus_real normal = tl_penalty_stiffness(job->crowd, c->a, c->b);
  if (model->solve.law != TALUS_HERTZ)
    return TL_R(0.5) * normal * overlap * overlap;
  const talus_real radius = tl_model_reduced_radius(model, c->a, c->b);
  return TL_R(0.4) * normal * tl_sqrt(radius * overlap) * overlap * overlap;
}

static void share_pair(const share_job *job, size_t first, size_t end) {
  const tl_contact *rows = job->contacts->data;
  const talus_real reach = tl_penalty_reach(job->crowd->model),
                   band = band_of(job->crowd->model, &rows[first]);
  for (size_t i = first; i < end; ++i) {
    talus_real sum = 0;
    for (size_t j = first; j < end; ++j)
      sum += likeness(&rows[i], &rows[j]) * part_of(rows[j].gap - reach, band);
    job->shares[i] = (tl_penalty_share){.weight = rows[i].gap < reach ? 1 / sum : 0};
  }
  for (size_t i = first; i < end; ++i) {
    const talus_real slope = slope_of(rows[i].gap - reach, band);
    if (slope == 0)
      continue;
    talus_real gain = 0;
    for (size_t j = first; j < end; ++j)
      if (rows[j].gap < reach)
        gain += likeness(&rows[i], &rows[j]) * job->shares[j].weight * job->shares[j].weight *
                energy_of(job, &rows[j], reach - rows[j].gap);
    job->shares[i].pull = -slope * gain;
  }
}

static void share_some(void *context, size_t begin, size_t end) {
  const share_job *job = context;
  const tl_contact *rows = job->contacts->data;
  const size_t n = job->contacts->count;
  for (size_t i = begin; i < end; ++i) {
    if (i > 0 && rows[i - 1].a == rows[i].a && rows[i - 1].b == rows[i].b)
      continue; /* done with the first contact of its pair */
    size_t last = i + 1;
    while (last < n && rows[last].a == rows[i].a && rows[last].b == rows[i].b)
      ++last;
    if (last == i + 1)
      job->shares[i] = (tl_penalty_share){.weight = 1};
    else
      share_pair(job, i, last);
  }
}

void tl_penalty_share_out(const tl_crowd *crowd, const tl_contacts *contacts,
                          tl_penalty_share *shares) {
  share_job job = {crowd, contacts, shares};
  tl_for(&crowd->model->par, contacts->count, TL_BLOCK, share_some, &job);
}
